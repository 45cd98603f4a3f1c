// The log is RMM's, row for row, and a replay does to another resource what the log says.

import {
  assertEquals,
  assertLess,
  assertMatch,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import type { MemoryResource } from "../../../src/memory/memory_resource.ts";
import { parseAllocationLog, replayAllocations } from "../../../src/resources/allocation_replay.ts";
import { CachingResourceAdaptor } from "../../../src/resources/caching_resource_adaptor.ts";
import { LoggingResourceAdaptor } from "../../../src/resources/logging_resource_adaptor.ts";
import { CudaError } from "../../../src/words/errors.ts";
import { LedgerResource, shortage } from "../../support/ledger_resource.ts";
import { captureWarnings, CaughtWarnings } from "../../support/warnings.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

/** RMM's log of two streams, a failure, a block that is never freed, and a reused address. */
const RMM_LOG = `Thread,Time,Action,Pointer,Size,Stream
1979932,14:21:19.998533,allocate,0x30a000000,256,0x2
1979932,14:21:19.998600,allocate,0x30a000100,1000,0x55d0
1979932,14:21:19.998700,allocate failure,(nil),99999999999,0x2
1979932,14:21:20.000001,free,0x30a000000,256,0x2
1979932,14:21:20.000002,allocate,0x30a000000,512,0x55d0
1979932,14:21:20.000003,free,0x30a000000,512,0x55d0
`;

testOnDevice("LoggingResourceAdaptor writes RMM's columns, also for what fails", (gpu) => {
  const lines: string[] = [];
  const upstream = new LedgerResource(gpu);
  const logged = new LoggingResourceAdaptor(upstream, { write: (line) => lines.push(line) });
  const block = logged.allocate(256, gpu.stream);
  upstream.fault.allocate = shortage();
  assertThrows(() => logged.allocate(512, gpu.stream), CudaError);
  logged.deallocate(block, 256, gpu.stream);
  const time = String.raw`\d+,\d\d:\d\d:\d\d\.\d{6}`;
  assertEquals(lines[0], "Thread,Time,Action,Pointer,Size,Stream");
  assertMatch(lines[1] ?? "", new RegExp(`^${time},allocate,0x[0-9a-f]+,256,0x[0-9a-f]+$`));
  assertMatch(lines[2] ?? "", new RegExp(`^${time},allocate failure,0x0,512,0x[0-9a-f]+$`));
  assertMatch(lines[3] ?? "", new RegExp(`^${time},free,0x[0-9a-f]+,256,0x[0-9a-f]+$`));
  assertEquals(lines.length, 4);
});

testOnDevice("LoggingResourceAdaptor loses no memory when its log cannot be written", (gpu) => {
  let isFull = false;
  const write = () => {
    if (isFull) throw new Error("disk full");
  };
  const upstream = new LedgerResource(gpu);
  const logged = new LoggingResourceAdaptor(upstream, { write });
  isFull = true;
  const warnings = captureWarnings(() => {
    logged.deallocate(logged.allocate(256, gpu.stream), 256, gpu.stream);
  });
  assertEquals([warnings.length, upstream.live.size], [2, 0]);
  assertStringIncludes(warnings[0] ?? "", "disk full");
});

testOnDevice("replayAllocations() repeats what a LoggingResourceAdaptor wrote", (gpu) => {
  const lines: string[] = [];
  const first = new LedgerResource(gpu);
  const logged = new LoggingResourceAdaptor(first, { write: (line) => lines.push(line) });
  const blocks = [1, 2, 3].map((count) => logged.allocate(count * 1000, gpu.stream));
  logged.deallocate(blocks[1] ?? 0n, 2000, gpu.stream);
  const again: string[] = [];
  const second = new LedgerResource(gpu);
  const copy = new LoggingResourceAdaptor(second, { write: (line) => again.push(line) });
  const result = replayAllocations(parseAllocationLog(lines.join("\n")), copy);
  assertEquals([result.stepCount, result.peakLiveBytes], [4, 6000]);
  const whatOf = (line: string) => line.split(",").slice(2, 3).concat(line.split(",")[4] ?? "");
  assertEquals(again.slice(0, 5).map(whatOf), lines.map(whatOf));
  assertEquals(second.live.size, 0);
});

Deno.test("replayAllocations() replays RMM's own log, streams apart, and gives everything back", () =>
  withDevice((gpu) => {
    const upstream = new LedgerResource(gpu);
    using cache = new CachingResourceAdaptor(upstream);
    const result = replayAllocations(parseAllocationLog(RMM_LOG), cache);
    assertEquals([result.stepCount, result.peakLiveBytes], [5, 1512]);
    assertEquals(cache.usedBytes, 0);
  }));

testOnDevice("replayAllocations() gives a block back whose address is allocated again", (gpu) => {
  const upstream = new LedgerResource(gpu);
  const [header = ""] = RMM_LOG.split("\n");
  const rows = ["1,2,allocate,0x1,500,0x0", "1,2,allocate,0x1,700,0x0", "1,2,free,0x1,700,0x0"];
  const log = parseAllocationLog([header, ...rows].join("\n"));
  const { stepCount, peakLiveBytes } = replayAllocations(log, upstream);
  assertEquals([stepCount, peakLiveBytes, upstream.live.size], [3, 700, 0]);
});

testOnDevice("replayAllocations() gives everything back when the resource fails", (gpu) => {
  const upstream = new LedgerResource(gpu);
  upstream.capacityBytes = 1300;
  assertThrows(() => replayAllocations(parseAllocationLog(RMM_LOG), upstream), CudaError);
  assertEquals(upstream.live.size, 0);
});

Deno.test("parseAllocationLog() names the line that it cannot read", () => {
  assertThrows(() => parseAllocationLog("a,b"), SyntaxError, "line 1");
  const broken = RMM_LOG.replace("allocate,0x30a000100,1000", "allocate,0x30a000100,many");
  assertThrows(() => parseAllocationLog(broken), SyntaxError, "line 3");
  const negative = RMM_LOG.replace("allocate,0x30a000100,1000", "allocate,0x30a000100,-1000");
  assertThrows(() => parseAllocationLog(negative), SyntaxError, "line 3");
  assertThrows(() => parseAllocationLog(`${RMM_LOG}1,2,realloc,0x1,2,0x0`), SyntaxError, "line 8");
  const binary = `\u001b[2J${"x".repeat(1e6)}`;
  const error = assertThrows(() => parseAllocationLog(`${RMM_LOG}${binary}`), SyntaxError);
  assertStringIncludes(error.message, 'line 8 is "\\u001b[2Jxxx');
  assertLess(error.message.length, 200);
});

testOnDevice("replayAllocations() rejects wrong rows", ({ memoryResource }) => {
  const row = { action: "allocate", pointer: "0x1", byteLength: 1, stream: "0x0" };
  const wrong = [{ ...row, byteLength: NaN }, { ...row, byteLength: "1" }, { ...row, action: "" }];
  for (const log of [[null], ["1,2,free,0x1,2,0x0"], {}, ...wrong.map((each) => [row, each])]) {
    assertThrows(() => replayAllocations(log as never, memoryResource), TypeError, "a list");
  }
});

testOnDevice("replayAllocations() refuses a resource that returns no address", ({ context }) => {
  const resource = { context, allocate: () => Promise.resolve(256n), deallocate: () => {} };
  assertThrows(
    () => replayAllocations(parseAllocationLog(RMM_LOG), resource as never),
    TypeError,
    "Cannot allocate from Object: its allocate() returned a promise",
  );
});

testOnDevice("LoggingResourceAdaptor reports an async log that cannot be written", async (gpu) => {
  using caught = new CaughtWarnings();
  const write = async () => {
    await undefined;
    throw new Error("disk full");
  };
  const resource = new LoggingResourceAdaptor(gpu.memoryResource, { write });
  gpu.alloc("uint8", 256, { resource }).dispose();
  for (let turn = 0; turn < 4; turn++) await undefined;
  assertEquals(caught.texts.length, 3); // the header, too
  assertStringIncludes(caught.texts[0] ?? "", "could not be logged: disk full");
});

testOnDevice(
  "replayAllocations() frees behind the block's own stream, on whichever the log names",
  async (gpu) => {
    const lines: string[] = [];
    const write = (line: string) => void lines.push(line);
    const resource = new LoggingResourceAdaptor(gpu.memoryResource, { write });
    using stream = gpu.createStream();
    const buffer = gpu.zeros("uint8", 32 << 20, { resource });
    buffer.fill(1, { stream });
    buffer.close(stream);
    const { stepCount } = replayAllocations(
      parseAllocationLog(lines.join("\n")),
      gpu.memoryResource,
    );
    assertEquals(stepCount, 2);
    await gpu.synchronize();
    assertEquals(gpu.memory.liveBytes, 0);
  },
);

testOnDevice("replayAllocations() gives a block back whose free failed once", (gpu) => {
  const freed: bigint[] = [];
  let isFailing = true;
  const upstream = gpu.memoryResource;
  const resource: MemoryResource = {
    context: gpu.context,
    isDeviceAccessible: true,
    isHostAccessible: false,
    allocate: (byteLength, stream) => upstream.allocate(byteLength, stream),
    deallocate(address, byteLength, stream) {
      if (isFailing) {
        isFailing = false;
        throw new Error("not now");
      }
      freed.push(address);
      upstream.deallocate(address, byteLength, stream);
    },
  };
  const log = ["allocate", "free"].map((action) => ({
    action: action as "allocate" | "free",
    pointer: "0x1",
    byteLength: 4096,
    stream: "0x0",
  }));
  assertThrows(() => replayAllocations(log, resource), Error, "not now");
  assertEquals(freed.length, 1);
});
