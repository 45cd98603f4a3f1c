// Checks gpu.live() and what gives back by it: rows, filters, order, text, marks, a million blocks.

import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { simulateDriver } from "../../../ffi/simulated/driver.ts";
import type { MemoryMark } from "../../../src/accounting/ledger.ts";
import type { CudaDevice } from "../../../src/device/device.ts";
import type { LiveOrder } from "../../../src/device/live_query.ts";
import { freeResource } from "../../support/free_resource.ts";
import { share } from "../../support/random.ts";
import { takingTurns } from "../../support/test_unless.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

testOnDevice("CudaDevice.live() lists objects largest first with all that is known", (gpu) => {
  using _small = gpu.alloc("uint8", 16, { label: "small" });
  using large = gpu.alloc("float32", 1024);
  const [first, second] = gpu.live();
  assertEquals([first?.name, first?.byteLength], [`device#${large.storageId}`, 4096]);
  assertEquals([second?.name, second?.kind, second?.scope], ["small", "device", undefined]);
  assertEquals([gpu.live().count, gpu.live().byteLength], [2, 4112]);
});

testOnDevice("LiveTable.filter() keeps what fits every part of a query", (gpu) => {
  using _made = makeSome(gpu);
  const names = (query: Parameters<CudaDevice["live"]>[0]) =>
    gpu.live(query).objects.map(({ name }) => name);
  assertEquals(names({ kind: "pinned" }), ["host b"]);
  assertEquals(names({ kind: ["pinned", "stream"] }), ["host b", "queue"]);
  assertEquals(names({ label: "a" }), ["weights a"]);
  assertEquals(names({ label: /[bc]$/g }), ["weights c", "host b"]);
  assertEquals(names({ minSize: "1 KiB", maxSize: 2048 }), ["weights a"]);
  assertEquals(names({ olderThanSeconds: 1000 }), []);
  assertEquals(names({ newerThanSeconds: 1000, kind: "device" }), ["weights c", "weights a"]);
  assertEquals(gpu.live().filter(({ byteLength }) => byteLength === 0).count, 1);
});

testOnDevice("LiveTable.sort() orders by size, age, name and kind", (gpu) => {
  using _made = makeSome(gpu);
  const names = (sortBy: LiveOrder) => gpu.live({ sortBy }).objects.map(({ name }) => name);
  assertEquals(names("size"), ["weights c", "weights a", "host b", "queue"]);
  assertEquals(names("name"), ["host b", "queue", "weights a", "weights c"]);
  assertEquals(names("kind"), ["weights c", "weights a", "host b", "queue"]);
  assertThrows(
    () => gpu.live().sort("colour" as LiveOrder),
    TypeError,
    'Cannot sort by "colour": expected "size", "age", "name" or "kind"',
  );
  assertThrows(() => gpu.live().sort(["age"] as never), TypeError, "Cannot sort by a list");
});

testOnDevice("LiveTable.dispose() gives back what it lists, and nothing else", (gpu) => {
  using made = makeSome(gpu);
  const table = gpu.live({ kind: "device" });
  const none = () => Promise.resolve(false) as never;
  assertThrows(
    () => table.filter(none).dispose(),
    TypeError,
    "a function that returns a promise",
  );
  table.dispose();
  table.dispose();
  assertEquals(gpu.live().objects.map(({ name }) => name), ["host b", "queue"]);
  made.dispose();
});

testOnDevice("LiveTable.toString() prints columns, and the sum", (gpu) => {
  using _weights = gpu.alloc("float32", 1024, { label: "weights" });
  const [header = "", row = "", sum] = gpu.live().toString().split("\n");
  assertEquals(header.split(/\s{2,}/), ["name", "kind", "size", "age", "scope", "made at"]);
  assertEquals(row.startsWith("weights  device  4 KiB"), true);
  assertEquals(sum, "1 live, 4 KiB");
});

Deno.test("LiveTable.toString() prints the first rows of a long table and says how many more", () =>
  withDevice((gpu) => {
    const { resource } = freeResource(gpu);
    const mark = gpu.mark();
    for (let i = 0; i < 100; i++) gpu.alloc("uint8", 8, { resource });
    const lines = gpu.live().toString().split("\n");
    gpu.disposeSince(mark);
    assertEquals(lines.length, 44);
    assertEquals(lines.slice(-3), [
      "... and 60 more",
      "100 live, 800 B",
      '100 places not recorded: open the device with { origins: "line" } to have all',
    ]);
  }));

Deno.test("LiveTable.toString() and a report have no table without rows", () =>
  withDevice((gpu) => {
    assertEquals(gpu.live().toString(), "0 live, 0 B");
    const report = gpu.report().toString();
    assertEquals(report.split("\n\n").slice(-2), [
      "collected undisposed: 0 blocks, 0 B",
      "0 live, 0 B",
    ]);
    assertEquals(/^held/m.test(report), false);
  }, { driver: simulateDriver() }));

testOnDevice("LiveTable.toString() says nothing of origins when all are recorded", (gpu) => {
  gpu.context.ledger.origins.detail = "line";
  using _small = gpu.alloc("uint8", 8);
  assertEquals(gpu.live().toString().split("\n").at(-1), "1 live, 8 B");
  assertEquals(gpu.live().hint, "");
});

testOnDevice("CudaDevice.disposeSince() gives back what came after the mark", (gpu) => {
  using before = gpu.alloc("uint8", 8);
  const mark = gpu.mark();
  const [buffer, stream] = [gpu.alloc("uint8", 8), gpu.createStream()];
  const onStream = gpu.alloc("uint8", 8, { stream });
  gpu.disposeSince(mark);
  assertEquals([buffer, stream, onStream, before].map(({ disposed }) => disposed), [
    true,
    true,
    true,
    false,
  ]);
});

takingTurns(testOnDevice)(
  "CudaDevice.live() lists, filters and releases up to a million blocks",
  (gpu) => {
    const { resource, counts } = freeResource(gpu);
    const count = share(1_000_000);
    for (let i = 0; i < count; i++) gpu.alloc("uint8", 1 + i % 2, { resource });
    const table = gpu.live({ minSize: 2, sortBy: "age" });
    assertEquals([table.count, table.byteLength], [count / 2, count]);
    assertStringIncludes(table.toString(), `... and ${count / 2 - 40} more`);
    gpu.disposeAll();
    assertEquals([gpu.live().count, gpu.memory.liveBytes, counts.held], [0, 0, 0]);
  },
);

testOnDevice("CudaDevice.scope() with a label is the scope of what is made inside", async (gpu) => {
  const seen = await gpu.scope(async (scope) => {
    scope.use(gpu.alloc("uint8", 8, { label: "inside" }));
    await Promise.resolve();
    return gpu.live({ scope: "step" }).objects.map(({ name }) => name);
  }, { label: "step" });
  assertEquals(seen, ["inside"]);
});

function makeSome(gpu: CudaDevice): DisposableStack {
  const stack = new DisposableStack();
  stack.use(gpu.alloc("uint8", 1024, { label: "weights a" }));
  stack.use(gpu.pinned("uint8", 100, { label: "host b" }));
  stack.use(gpu.alloc("uint8", 4096, { label: "weights c" }));
  stack.use(gpu.createStream({ label: "queue" }));
  return stack;
}

const GIVING_ALL_BACK: Record<string, (gpu: CudaDevice, mark: MemoryMark) => void> = {
  "CudaDevice.disposeAll()": (gpu) => gpu.disposeAll(),
  "CudaDevice.disposeSince()": (gpu, mark) => gpu.disposeSince(mark),
  "LiveTable.dispose()": (gpu) => gpu.live().sort("name").dispose(),
};

for (const [call, giveBack] of Object.entries(GIVING_ALL_BACK)) {
  testOnDevice(`${call} frees memory after the work of a stream that goes first`, (gpu) => {
    const mark = gpu.mark();
    const source = gpu.zeros("uint8", 4096, { label: "source" });
    const target = gpu.zeros("uint8", 4096, { label: "target" });
    const stream = gpu.createStream({ label: "a queue" });
    target.copyFrom(source, { stream });
    giveBack(gpu, mark); // a free that comes too early is a warning
    assert(stream.disposed && source.disposed && target.disposed);
  });
}

testOnDevice("LiveTable.dispose() is refused in a capture, which streams would leave", (gpu) => {
  using buffer = gpu.alloc("uint8", 8);
  using stream = gpu.createStream();
  const body = () => {
    buffer.fill(1, { stream });
    gpu.live().dispose();
  };
  const words = "Cannot dispose what is live while CudaStream";
  assertThrows(() => gpu.capture(body, { stream }), TypeError, words);
  assertEquals([buffer.disposed, stream.disposed], [false, false]);
});
