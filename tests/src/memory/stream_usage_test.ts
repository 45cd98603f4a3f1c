// Checks that streams which share a buffer wait for each other by themselves, and only when they must.
// The simulated driver reports a race as an error, so each of these fails without the order.

import { assert, assertEquals, assertFalse, assertGreater } from "@std/assert";
import { type PartUse, StreamUsage } from "../../../src/memory/stream_usage.ts";
import { PendingWork } from "../../../src/order/pending_work.ts";
import { type CudaStream, queueOf } from "../../../src/order/stream.ts";
import { HeldStream, testHolding } from "../../support/held_stream.ts";
import { testRandom } from "../../support/random.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

testHolding("StreamUsage.order() makes a read wait for the last write", (gpu) => {
  using writer = gpu.createStream();
  using reader = gpu.createStream();
  using shared = gpu.zeros("uint32", 256);
  using target = gpu.zeros("uint32", 256);
  {
    using held = new HeldStream(gpu, writer);
    shared.fill(1, { stream: writer });
    target.copyFrom(shared, { stream: reader });
    assertFalse(reader.isIdle);
    held.release();
  }
  assertEquals(target.downloadSync()[255], 1);
});

testHolding("StreamUsage.order() makes a write wait for all reads", (gpu) => {
  using first = gpu.createStream();
  using second = gpu.createStream();
  using writer = gpu.createStream();
  using shared = gpu.zeros("uint32", 256).fill(3);
  using a = gpu.zeros("uint32", 256);
  using b = gpu.zeros("uint32", 256);
  {
    using held = new HeldStream(gpu, [first, second]);
    a.copyFrom(shared, { stream: first });
    b.copyFrom(shared, { stream: second });
    shared.fill(4, { stream: writer });
    assertFalse(writer.isIdle);
    held.release();
  }
  assertEquals([a.downloadSync()[0], b.downloadSync()[0], shared.downloadSync()[0]], [3, 3, 4]);
});

testHolding("StreamUsage.order() makes a write wait for reads of disposed streams too", (gpu) => {
  using stack = new DisposableStack();
  const readers = Array.from({ length: 20 }, () => stack.use(gpu.createStream()));
  const targets = readers.map((stream) => stack.use(gpu.zeros("uint32", 256, { stream })));
  using writer = gpu.createStream();
  using shared = gpu.zeros("uint32", 256).fill(3);
  {
    using held = new HeldStream(gpu, readers);
    for (const [at, stream] of readers.entries()) {
      targets[at]?.copyFrom(shared, { stream });
      if (at % 2 === 0) stream.dispose();
    }
    shared.fill(4, { stream: writer });
    assertFalse(writer.isIdle);
    held.release();
  }
  assertEquals(targets.map((target) => target.downloadSync()[255]), readers.map(() => 3));
  assertEquals(shared.downloadSync()[0], 4);
});

testHolding("StreamUsage.order() makes a write wait for a write", (gpu) => {
  using first = gpu.createStream();
  using second = gpu.createStream();
  using shared = gpu.zeros("uint32", 256);
  {
    using held = new HeldStream(gpu, first);
    shared.fill(1, { stream: first });
    shared.fill(2, { stream: second });
    assertFalse(second.isIdle);
    held.release();
  }
  assertEquals(shared.downloadSync()[0], 2);
});

testHolding("StreamUsage.order() lets reads on two streams run side by side", (gpu) => {
  using first = gpu.createStream();
  using second = gpu.createStream();
  using shared = gpu.zeros("uint32", 256);
  using a = gpu.zeros("uint32", 256, { stream: first });
  using b = gpu.zeros("uint32", 256, { stream: second });
  gpu.synchronizeSync();
  using held = new HeldStream(gpu, first);
  a.copyFrom(shared, { stream: first });
  b.copyFrom(shared, { stream: second });
  second.synchronizeSync(); // would never end behind the held stream
  assert(second.isIdle);
  held.release();
});

testOnDevice("StreamUsage.order() orders a stream that reads, writes and reads again", (gpu) => {
  using other = gpu.createStream();
  using a = gpu.zeros("uint32", 256);
  using b = gpu.zeros("uint32", 256);
  for (let round = 1; round <= 20; round++) {
    a.fill(round);
    b.copyFrom(a, { stream: other });
    a.copyFrom(b);
    b.fill(0, { stream: other });
  }
  assertEquals([a.downloadSync()[0], b.downloadSync()[0]], [20, 0]);
});

testOnDevice("StreamUsage.order() makes a transfer follow another stream's write", async (gpu) => {
  using writer = gpu.createStream();
  using shared = gpu.zeros("uint32", 256);
  shared.fill(8, { stream: writer });
  assertEquals((await shared.download())[255], 8);
  await shared.upload(new Uint32Array(256).fill(9));
  using copy = gpu.zeros("uint32", 256, { stream: writer });
  copy.copyFrom(shared, { stream: writer });
  assertEquals(copy.downloadSync()[255], 9);
});

/** Counts how often a stream has to wait for another one. */
class WatchedUsage extends StreamUsage {
  waitCount = 0;

  protected override follow(): void {
    this.waitCount++;
  }
}

Deno.test("StreamUsage.isInOrder() is true where order() has nothing to wait for, and after it", () =>
  withDevice((gpu) => {
    const random = testRandom();
    using held = new DisposableStack();
    const streams = [gpu.stream, held.use(gpu.createStream()), held.use(gpu.createStream())];
    let inOrderCount = 0;
    for (let round = 0; round < 300; round++) {
      const usage = new WatchedUsage(gpu.stream);
      assert(usage.isInOrder(gpu.stream, "write") && usage.isInOrder(gpu.stream, "read"));
      for (let step = 0; step < 8; step++) {
        const stream = random.pick(streams) ?? gpu.stream;
        const access = random.below(3) === 0 ? "write" : "read";
        const before = usage.isInOrder(stream, access) ? usage.waitCount : undefined;
        usage.order(stream, access);
        if (before !== undefined) assertEquals(usage.waitCount, before);
        if (before !== undefined) inOrderCount++;
        assert(usage.isInOrder(stream, access));
        const { waitCount } = usage;
        usage.order(stream, access);
        assertEquals(usage.waitCount, waitCount);
      }
    }
    assertGreater(inOrderCount, 300);
  }));

/** A pending call of a test's. */
class TestWork extends PendingWork {
  protected override begin(): void {}
}

/** A call that is over when the test says so. */
class TestGate extends TestWork {
  constructor() {
    super();
    this.beginAfter([]);
  }

  open(): void {
    this.finish();
  }
}

/** Notes uses of bytes of a block on the default stream, and returns their calls. */
function noteUses(
  usage: StreamUsage,
  stream: CudaStream,
  uses: readonly (Partial<PartUse> & { readonly isAfterAll?: boolean })[],
): PendingWork[] {
  return uses.map((use) => {
    const work = new TestWork();
    usage.addPending(work, stream, { address: 0n, byteLength: 100, access: "write", ...use });
    return work;
  });
}

const ALL = { address: 10n, byteLength: 50, access: "write" } as const;

Deno.test("StreamUsage.pendingBefore() names the last write of all bytes for the calls before it", () =>
  withDevice((gpu) => {
    const usage = new StreamUsage(gpu.stream);
    const uses = [{}, { access: "read" }, { isAfterAll: true }, { access: "read" }] as const;
    const [, , last, reader] = noteUses(usage, gpu.stream, uses);
    assertEquals(usage.pendingBefore(gpu.stream, ALL), [reader, last]);
    assertEquals(usage.pendingBefore(gpu.stream, { ...ALL, access: "read" }), [last]);
    usage.endPending(last as PendingWork);
    assertEquals(usage.pendingBefore(gpu.stream, ALL).length, 3);
  }));

testOnDevice("StreamUsage.pendingBefore() names each call that no other comes after", (gpu) => {
  const others: (Partial<PartUse> & { readonly isAfterAll?: boolean })[] = [
    {}, // such as one of several transfers of one call
    { access: "read", isAfterAll: true },
    { address: 10n, byteLength: 49, isAfterAll: true },
    { address: 11n, byteLength: 50, isAfterAll: true },
  ];
  for (const other of others) {
    const usage = new StreamUsage(gpu.stream);
    const [first, later] = noteUses(usage, gpu.stream, [{}, other]);
    assertEquals(usage.pendingBefore(gpu.stream, ALL), [later, first]);
  }
});

Deno.test("StreamUsage.pendingBefore() names postponed calls that came after the last write", () =>
  withDevice((gpu) => {
    const usage = new StreamUsage(gpu.stream);
    const gate = new TestGate();
    const use = { ...ALL, address: 0n };
    const postpone = () => {
      const work = queueOf(gpu.stream).postpone(() => {}, [gate]);
      usage.addPending(work, gpu.stream, use);
      return work;
    };
    postpone();
    const [write] = noteUses(usage, gpu.stream, [{ isAfterAll: true }]);
    const last = postpone(); // stands for both
    assertEquals(usage.pendingBefore(gpu.stream, ALL), [last, write]);
    gate.open();
  }));
