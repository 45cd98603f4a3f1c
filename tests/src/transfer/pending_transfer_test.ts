// Transfers that are not over when their call returns: what comes after them, what a failure or an
// abort does to that, and that only names that end in Sync block.

import { assert, assertEquals, assertFalse, assertRejects, assertThrows } from "@std/assert";
import { setTimeout as delay } from "node:timers/promises";
import { CUresult } from "../../../ffi/constants.ts";
import {
  type SimulatedLaunch,
  simulateDriver,
  SimulationError,
} from "../../../ffi/simulated/driver.ts";
import type { DeviceBuffer } from "../../../src/buffers/device_buffer.ts";
import { CudaDevice } from "../../../src/device/device.ts";
import { adoptEngine } from "../../../src/transfer/context_engine.ts";
import { TransferEngine } from "../../../src/transfer/engine.ts";
import { CudaError, DisposedError } from "../../../src/words/errors.ts";
import { assertHoldsOnly, assertSameBytes, patternBytes } from "../../support/contents.ts";
import { faultyDriver } from "../../support/faulty_driver.ts";
import { HeldStream, testHolding, testHoldingWatched } from "../../support/held_stream.ts";
import { inTurn } from "../../support/test_unless.ts";
import { TINY_LIMITS } from "../../support/tiny_engine.ts";
import { withDevice } from "../../support/with_device.ts";

/** Transfers of more than 16 KiB take a turn of the event loop for each 16 KiB. */
const LIMITS = { ...TINY_LIMITS, maxCallBytes: 16_384, maxFreshCallBytes: 16_384 };
const LENGTH = 100_000;

/** A device whose larger transfers are under way when their call returns. */
function withSlowTransfers(
  body: (gpu: CudaDevice) => unknown,
  driver?: Parameters<typeof withDevice>[1],
): Promise<void> {
  return withDevice((gpu) => {
    adoptEngine(gpu.context, new TransferEngine(gpu.context, LIMITS));
    return body(gpu);
  }, driver);
}

function holds(buffer: DeviceBuffer<"uint8">, value: number): void {
  assertHoldsOnly(buffer.downloadSync(), value);
}

Deno.test("upload() lets what is called later see all of its bytes", () =>
  withSlowTransfers(async (gpu) => {
    using x = gpu.zeros("uint8", LENGTH);
    using y = gpu.zeros("uint8", LENGTH);
    const uploading = x.upload(patternBytes(LENGTH, 3));
    assertEquals(x.context.copiedBytes < 2 * LENGTH, true);
    y.copyFrom(x);
    x.fill(9);
    await uploading;
    assertSameBytes(await y.download(), patternBytes(LENGTH, 3));
    holds(x, 9);
  }));

Deno.test("download() gives what was there when it was called", () =>
  withSlowTransfers(async (gpu) => {
    using x = gpu.alloc("uint8", LENGTH).fill(4);
    const first = x.download();
    x.fill(5);
    const second = x.download();
    x.upload(new Uint8Array(LENGTH).fill(6));
    const third = x.download();
    const values = (await Promise.all([first, second, third])).map((array) => new Set(array));
    assertEquals(values, [new Set([4]), new Set([5]), new Set([6])]);
  }));

Deno.test("transfers of one array come one after another, also between devices", () =>
  withSlowTransfers(async (gpu) => {
    using x = gpu.alloc("uint8", LENGTH).fill(4);
    using y = gpu.zeros("uint8", LENGTH);
    using stream = gpu.createStream();
    const array = new Uint8Array(LENGTH);
    const all = [
      x.download(array),
      y.upload(array, { stream }),
      y.subarray(10, 20).download(array.subarray(0, 10)),
    ];
    x.fill(1);
    all.push(x.download(array.subarray(50_000).fill(0) && array, { stream }));
    await Promise.all(all);
    holds(y, 4);
    assertHoldsOnly(array, 1);
  }));

Deno.test("transfers that do not touch each other's bytes are under way together", () =>
  withSlowTransfers(async (gpu) => {
    using x = gpu.zeros("uint8", 2 * LENGTH);
    const seen: string[] = [];
    const note = (name: string) => () => void seen.push(name);
    await Promise.all([
      x.subarray(0, LENGTH).upload(patternBytes(LENGTH, 1), { onProgress: note("first") }),
      x.subarray(LENGTH).upload(patternBytes(LENGTH, 2), { onProgress: note("second") }),
    ]);
    assert(seen.indexOf("second") < seen.lastIndexOf("first"));
    assertSameBytes(await x.subarray(LENGTH).download(), patternBytes(LENGTH, 2));
  }));

Deno.test("an aborted transfer lets what comes after it go on", () =>
  withSlowTransfers(async (gpu) => {
    using x = gpu.zeros("uint8", LENGTH);
    using y = gpu.zeros("uint8", LENGTH);
    const abort = new AbortController();
    const first = x.upload(patternBytes(LENGTH), { signal: abort.signal });
    const second = x.upload(patternBytes(LENGTH, 2));
    y.copyFrom(x);
    abort.abort(new RangeError("stop"));
    await assertRejects(() => first, RangeError, "stop");
    await second;
    assertSameBytes(await y.download(), patternBytes(LENGTH, 2));
  }));

Deno.test("a transfer that waits for another one rejects as soon as it is aborted", () =>
  withSlowTransfers(async (gpu) => {
    using x = gpu.zeros("uint8", LENGTH);
    const abort = new AbortController();
    const first = x.upload(patternBytes(LENGTH, 1));
    let isFirstOver = false;
    first.then(() => isFirstOver = true);
    const second = x.upload(patternBytes(LENGTH, 2), { signal: abort.signal });
    const third = x.download();
    abort.abort(new RangeError("stop"));
    await assertRejects(() => second, RangeError, "stop");
    assertFalse(isFirstOver);
    assertSameBytes(await third, patternBytes(LENGTH, 1));
  }));

testHolding("a transfer behind the GPU's work rejects as soon as it is aborted", async (gpu) => {
  using x = gpu.zeros("uint8", 64);
  const abort = new AbortController();
  using held = new HeldStream(gpu, gpu.stream);
  x.fill(1);
  const upload = x.upload(new Uint8Array(64), { signal: abort.signal });
  await delay(2);
  abort.abort(new RangeError("stop"));
  await assertRejects(() => upload, RangeError, "stop");
  held.release();
  await gpu.synchronize();
});

Deno.test("a transfer that fails lets what comes after it go on", async () => {
  const { driver, setFault } = faultyDriver();
  await withSlowTransfers(async (gpu) => {
    using x = gpu.zeros("uint8", LENGTH);
    await gpu.synchronize();
    setFault({ name: "cuMemcpyHtoDAsync_v2", after: 2 });
    const first = x.upload(patternBytes(LENGTH, 1));
    const second = x.upload(patternBytes(LENGTH, 2));
    const third = x.download();
    const outcomes = await Promise.allSettled([first, second, third]);
    setFault(undefined);
    const failures = outcomes.flatMap((outcome) =>
      outcome.status === "rejected" && outcome.reason instanceof CudaError
        ? [outcome.reason.call]
        : []
    );
    assertEquals(failures, ["cuMemcpyHtoDAsync_v2", "cuMemcpyHtoDAsync_v2"]);
    await x.upload(patternBytes(LENGTH, 3));
    assertSameBytes(await x.download(), patternBytes(LENGTH, 3));
  }, { driver });
});

Deno.test("what cannot be done is refused at the call, also behind a transfer", () =>
  withSlowTransfers(async (gpu) => {
    using x = gpu.zeros("uint8", LENGTH);
    using readOnly = gpu.register(new Uint8Array(LENGTH), { readOnly: true });
    const uploading = x.upload(patternBytes(LENGTH));
    assertThrows(() => readOnly.copyFrom(x), TypeError, "read-only");
    assertThrows(
      () => x.release(),
      TypeError,
      "a transfer, a graph, another library or another process uses it",
    );
    assertThrows(() => x.subarray(0, 10).copyFrom(x.subarray(5, 15)), RangeError);
    x.dispose();
    assertThrows(() => x.fill(1), DisposedError);
    await assertRejects(() => x.download(), DisposedError);
    await uploading;
  }));

Deno.test("dispose() lets transfers, and what comes after them, finish", () =>
  withSlowTransfers(async (gpu) => {
    const x = gpu.zeros("uint8", LENGTH);
    const stream = gpu.createStream();
    using y = gpu.zeros("uint8", LENGTH);
    const uploading = x.upload(patternBytes(LENGTH, 1), { stream });
    y.copyFrom(x, { stream });
    using event = stream.record();
    x.dispose();
    stream.dispose();
    assertEquals(gpu.live().count, 2);
    assertFalse(event.isComplete);
    await event.synchronize();
    assert(event.isComplete);
    await uploading;
    assertSameBytes(await y.download(), patternBytes(LENGTH, 1));
  }));

Deno.test("calls that block finish what comes before them", () =>
  withSlowTransfers(async (gpu) => {
    using x = gpu.zeros("uint8", LENGTH);
    using y = gpu.zeros("uint8", LENGTH);
    using stream = gpu.createStream();
    const array = new Uint8Array(LENGTH);
    const first = x.upload(patternBytes(LENGTH, 1));
    const second = y.upload(patternBytes(LENGTH, 2), { stream });
    assertSameBytes(x.downloadSync(array), patternBytes(LENGTH, 1));
    stream.synchronizeSync();
    assert(stream.isIdle);
    const third = y.download(array);
    gpu.synchronizeSync();
    assertSameBytes(array, patternBytes(LENGTH, 2));
    const fourth = x.upload(patternBytes(LENGTH, 4));
    using event = gpu.stream.record();
    event.synchronizeSync();
    assertSameBytes(x.downloadSync(), patternBytes(LENGTH, 4));
    await Promise.all([first, second, third, fourth]);
  }));

Deno.test("onProgress may call anything, also what blocks for its own transfer", () =>
  withSlowTransfers(async (gpu) => {
    using x = gpu.zeros("uint8", LENGTH);
    using y = gpu.zeros("uint8", LENGTH);
    let calls = 0;
    const onProgress = () => {
      if (calls++ > 0) return;
      y.copyFrom(x);
      assertSameBytes(x.downloadSync(), patternBytes(LENGTH, 1));
    };
    await x.upload(patternBytes(LENGTH, 1), { onProgress });
    assertSameBytes(await y.download(), patternBytes(LENGTH, 1));
    assert(calls > 0);
  }));

Deno.test("a call behind a transfer that ends during a capture is made after it", () =>
  withSlowTransfers(async (gpu) => {
    using x = gpu.zeros("uint8", LENGTH);
    using y = gpu.zeros("uint8", LENGTH);
    using other = gpu.createStream();
    using third = gpu.createStream();
    using z = gpu.zeros("uint8", 64);
    const uploading = x.upload(patternBytes(LENGTH, 3), { stream: other });
    y.copyFrom(x, { stream: other });
    using graph = gpu.capture(() => {
      z.fill(1);
      assertSameBytes(x.downloadSync(undefined, { stream: third }), patternBytes(LENGTH, 3));
      const words =
        "behind a transfer, and is made when the capture of CudaStream(default) has ended";
      assertThrows(() => y.downloadSync(undefined, { stream: other }), TypeError, words);
    });
    assertEquals(graph.nodeCount, 1);
    await uploading;
    assertSameBytes(await y.download(undefined, { stream: other }), patternBytes(LENGTH, 3));
  }));

Deno.test("a strided upload that fails leaves the elements as they were", () =>
  withSlowTransfers(async (gpu) => {
    using x = gpu.alloc("uint8", 2 * LENGTH).fill(7);
    const columns = x.strided({ shape: [LENGTH], strides: [2] });
    const abort = new AbortController();
    const upload = columns.upload(patternBytes(LENGTH), { signal: abort.signal });
    const after = x.download();
    abort.abort(new RangeError("stop"));
    await assertRejects(() => upload, RangeError, "stop");
    assertHoldsOnly(await after, 7);
  }));

Deno.test(
  inTurn("10,000 calls behind one transfer run in their order"),
  () =>
    withSlowTransfers(async (gpu) => {
      using x = gpu.zeros("uint8", LENGTH);
      const uploading = x.upload(patternBytes(LENGTH));
      for (let value = 0; value < 10_000; value++) x.subarray(0, 8).fill(value % 251);
      await uploading;
      assertHoldsOnly(await x.subarray(0, 8).download(), 9999 % 251);
    }),
);

Deno.test("the simulated driver reports an array that changes before its upload is over", async () => {
  await withSlowTransfers(async (gpu) => {
    using x = gpu.zeros("uint8", LENGTH);
    const array = patternBytes(LENGTH);
    const uploading = x.upload(array);
    array.fill(1, LENGTH - 1);
    await assertRejects(() => uploading, SimulationError, "the program changed its array");
    const moved = patternBytes(LENGTH);
    const next = x.upload(moved);
    structuredClone(moved, { transfer: [moved.buffer] });
    await assertRejects(() => next, TypeError, "its array was moved away");
  }, { driver: simulateDriver() });
});

Deno.test("A transfer fails when the GPU can neither be asked nor waited for, and writes nothing", async () => {
  const api = simulateDriver();
  let status = 0;
  const cuEventQuery: typeof api.cuEventQuery = (event) => status || api.cuEventQuery(event);
  const cuEventSynchronize: typeof api.cuEventSynchronize = (event) =>
    status || api.cuEventSynchronize(event);
  using gpu = CudaDevice.open(0, { driver: { ...api, cuEventQuery, cuEventSynchronize } });
  using x = gpu.zeros("uint8", [32, 64]);
  status = CUresult.CUDA_ERROR_UNKNOWN;
  const error = await assertRejects(() => x.transpose().upload(new Uint8Array(2048)), CudaError);
  status = 0;
  assertEquals(error.call, "cuEventSynchronize");
  assertEquals(await x.download(), new Uint8Array(2048));
});

Deno.test("A transfer fails with a mistake in the work before it, whoever meets it first", async () => {
  const kernels = { astray: { run: ({ read }: SimulatedLaunch) => void read(0n, 1) } };
  await withSlowTransfers(async (gpu) => {
    using astray = await gpu.compile(`extern "C" __global__ void astray(char *x) {}`);
    using x = gpu.alloc("uint8", LENGTH);
    for (let fillCount = 0; fillCount < 6; fillCount++) {
      for (let fill = 0; fill < fillCount; fill++) x.fill(fill);
      astray.launch({ grid: 1, block: 1, args: [x] });
      await assertRejects(() => x.upload(patternBytes(LENGTH)), SimulationError, "address 0");
      await x.upload(patternBytes(LENGTH));
    }
    assertSameBytes(await x.download(), patternBytes(LENGTH));
  }, { driver: simulateDriver({ kernels }) });
});

const wordsOfLost: Record<
  string,
  { lose: (gpu: CudaDevice) => [Uint8Array, () => void]; words: string }
> = {
  "its pinned buffer was disposed": {
    lose: (gpu) => {
      const pinned = gpu.pinned("uint8", LENGTH, { label: "batch" });
      return [pinned.array.fill(1), () => pinned.dispose()];
    },
    words: "its array shows batch, which was disposed before the transfer was over",
  },
  "WebAssembly memory grew": {
    lose: () => {
      const memory = new WebAssembly.Memory({ initial: Math.ceil(LENGTH / 2 ** 16) });
      return [new Uint8Array(memory.buffer, 0, LENGTH), () => memory.grow(1)];
    },
    words: "or memory of WebAssembly that has grown) before the transfer was over",
  },
};

for (const [name, { lose, words }] of Object.entries(wordsOfLost)) {
  for (const direction of ["upload", "download"] as const) {
    Deno.test(`${direction}() says why its array lost its memory when ${name}`, () =>
      withSlowTransfers(async (gpu) => {
        using x = gpu.zeros("uint8", LENGTH);
        const [array, act] = lose(gpu);
        const moving = direction === "upload" ? x.upload(array) : x.download(array);
        act();
        await assertRejects(() => moving, TypeError, words);
        await assertRejects(
          () => x.upload(array),
          TypeError,
          "the array is detached: it was",
        );
      }));
  }
}

testHoldingWatched(
  "upload() keeps the mark that its thread waits for when a call that blocks ends it",
  async (gpu, { untilCalled }) => {
    using x = gpu.alloc("uint8", 2 ** 20);
    using source = gpu.pinned("uint8", 2 ** 20);
    source.array.fill(3);
    using held = new HeldStream(gpu, gpu.stream);
    const uploading = x.upload(source.array);
    await untilCalled("cuEventSynchronizeNonblocking");
    held.release();
    holds(x, 3);
    await uploading;
  },
);
