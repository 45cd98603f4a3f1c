// Memory that goes from one Worker to another: exactly one owner at any time, whoever is posted what.

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { CudaDevice } from "../../../src/device/device.ts";
import {
  CachingResourceAdaptor,
  CudaAsyncMemoryResource,
  CudaMemoryResource,
} from "../../../src/entries/memory.ts";
import { type HandedOver, TicketError } from "../../../src/entries/sharing.ts";
import { simulateDriver } from "../../../src/entries/simulated.ts";
import { CudaError, DisposedError } from "../../../src/words/errors.ts";
import { ON_GPU, openTestDevice } from "../../support/driver.ts";
import { faultyDriver } from "../../support/faulty_driver.ts";
import { HeldStream, testHolding } from "../../support/held_stream.ts";
import { Random } from "../../support/random.ts";
import { testUnless } from "../../support/test_unless.ts";
import { freeBytes, testOnDevice, withDevice } from "../../support/with_device.ts";

const reason = ON_GPU ? undefined : "the simulated driver's memory stays in its Worker";

const BYTES = 3 * 2 ** 20 + 1;

Deno.test("handOver() moves a buffer with its type, shape and label, and takeOver() frees it", () =>
  withDevice(async (gpu) => {
    const freeBefore = freeBytes(gpu);
    using pool = new CudaAsyncMemoryResource(gpu, {});
    for (const resource of [gpu.memoryResource, new CudaMemoryResource(gpu), pool]) {
      const x = gpu.alloc("float32", [2, BYTES - 1], { label: "x", resource }).fill(3);
      const { ptr } = x;
      const handed = await x.handOver();
      assertEquals(gpu.live({ kind: "device" }).count, 0);
      assertThrows(() => x.ptr, DisposedError, "whose memory was given away");
      await assertRejects(() => x.download(), DisposedError, "whose memory was given away");
      await assertRejects(() => x.handOver(), DisposedError);
      const y = gpu.takeOver(structuredClone(handed));
      assertEquals([y.ptr, y.dtype, y.shape, y.label], [ptr, "float32", [2, BYTES - 1], "x"]);
      assertEquals([y.kind, y.isView, await y.at(-1)], ["device", false, 3]);
      y.dispose();
      await gpu.synchronize();
    }
    pool.dispose();
    assertEquals(gpu.live().count, 0);
    assertEquals(freeBytes(gpu), freeBefore);
  }));

testOnDevice("handOver() called twice at once gives the memory away once", async (gpu) => {
  const x = gpu.zeros("uint8", 64);
  const results = await Promise.allSettled([x.handOver(), x.handOver()]);
  const handed = results.flatMap((result) => result.status === "fulfilled" ? result.value : []);
  assertEquals(handed.length, 1);
  for (const one of handed) gpu.takeOver(one).dispose();
});

testHolding("handOver() comes after calls on another stream while it waits", async (gpu) => {
  using first = gpu.createStream();
  using second = gpu.createStream();
  const x = gpu.zeros("uint8", BYTES);
  await gpu.synchronize();
  using held = new HeldStream(gpu, first);
  x.fill(1, { stream: first });
  const handing = x.handOver();
  for (let turn = 0; turn < 5; turn++) await new Promise((next) => void setTimeout(next));
  x.fill(2, { stream: second });
  held.release();
  using y = gpu.takeOver(await handing);
  y.fill(3);
  await gpu.synchronize();
  assertEquals(await y.at(-1), 3);
});

testOnDevice("takeOver() has one winner among all copies of what was handed over", async (gpu) => {
  const random = new Random(19);
  for (let round = 0; round < 20; round++) {
    const handed = await gpu.zeros("uint8", 64).handOver();
    const copies = Array.from({ length: 5 }, () => structuredClone(handed));
    const winner = random.below(5);
    using taken = gpu.takeOver(copies[winner] ?? handed, { label: "mine" });
    assertEquals(taken.label, "mine");
    for (const copy of [...copies, handed]) {
      const error = assertThrows(() => gpu.takeOver(copy), TicketError);
      assertEquals(error.reason, "taken");
    }
  }
});

testOnDevice("takeOver() makes a buffer that works, and can be handed on", async (gpu) => {
  let handed = await gpu.zeros("uint8", 64).handOver();
  for (let turn = 1; turn <= 5; turn++) {
    const buffer = gpu.takeOver(handed);
    using like = buffer.allocateLike();
    like.copyFrom(buffer.fill(turn));
    assertEquals(await like.at(63), turn);
    handed = await buffer.handOver();
  }
  using last = gpu.takeOver(handed);
  assertEquals(await last.at(0), 5);
});

Deno.test("handOver() keeps the memory when the device that made it is closed", async () => {
  const driver = ON_GPU ? "cuda" : simulateDriver();
  const first = CudaDevice.open(0, { driver });
  const handed = await first.zeros("uint8", BYTES).fill(9).handOver();
  first.dispose();
  using second = CudaDevice.open(0, { driver });
  using y = second.takeOver(handed);
  assertEquals(await y.at(-1), 9);
});

Deno.test("handOver() refuses what another Worker could not free, and changes nothing", () =>
  withDevice(async (gpu) => {
    using cache = new CachingResourceAdaptor(gpu.memoryResource);
    using cached = gpu.zeros("uint8", 64, { resource: cache });
    using pinned = gpu.pinned("uint8", 64);
    using whole = gpu.zeros("uint8", 64);
    using empty = gpu.alloc("uint8", 0);
    await assertRejects(() => cached.handOver(), TypeError, "CachingResourceAdaptor");
    await assertRejects(() => pinned.handOver(), TypeError, "PinnedHostMemoryResource");
    await assertRejects(() => whole.subarray(1).handOver(), TypeError, "hand over its buffer");
    await assertRejects(() => empty.handOver(), TypeError, "it has no bytes");
    using graph = gpu.capture(() => void whole.fill(1));
    await assertRejects(() => whole.handOver(), TypeError, "a transfer, a graph");
    graph.dispose();
    assertEquals([await whole.at(0), await cached.at(0)], [0, 0]);
  }));

Deno.test("handOver() leaves the buffer where it is when the driver fails", async () => {
  const { driver, setFault } = faultyDriver();
  using gpu = CudaDevice.open(0, { driver });
  using x = gpu.zeros("uint8", 64);
  await gpu.synchronize();
  for (const name of ["cuDevicePrimaryCtxRetain", "cuDeviceGetUuid_v2"] as const) {
    setFault({ name });
    await assertRejects(() => x.handOver(), CudaError, name);
    setFault(undefined);
    assertEquals(await x.at(0), 0);
  }
});

testOnDevice("takeOver() refuses all that was not handed over", async (gpu) => {
  const handed = await gpu.zeros("uint8", 64).handOver();
  const wrong: Partial<Record<keyof HandedOver, unknown>>[] = [
    { kind: "ticket" },
    { device: 1 },
    { address: 5 },
    { address: 0n },
    { byteLength: 63 },
    { byteLength: 2 ** 60, shape: [2 ** 60] },
    { dtype: "uint9" },
    { shape: [8, 9] },
    { shape: [64, , 1] }, // a hole
    { shape: "64" },
    { label: 1 },
    { isPooled: undefined },
    { claim: new ArrayBuffer(20) },
    { claim: new SharedArrayBuffer(19) },
  ];
  for (const fields of wrong) {
    const given = { ...handed, ...fields } as HandedOver;
    const error = assertThrows(() => gpu.takeOver(given), TicketError);
    assertEquals(error.reason, "malformed");
  }
  const shape = Object.assign([64], {
    *[Symbol.iterator]() {
      yield 4096; // memory that others may have
    },
  });
  assertThrows(() => gpu.takeOver({ ...handed, shape }), TicketError, "it is an object");
  const device = "GPU-00000000-0000-0000-0000-000000000000";
  const error = assertThrows(() => gpu.takeOver({ ...handed, device }), TicketError);
  assertEquals(error.reason, "device");
  gpu.takeOver(handed).dispose(); // it is still there to be had
});

Deno.test("takeOver() refuses simulated memory of another Worker", {
  ignore: ON_GPU,
}, () =>
  withDevice(async (gpu) => {
    const handed = await gpu.zeros("uint8", 64).handOver();
    const claim = new SharedArrayBuffer(20);
    assertThrows(() => gpu.takeOver({ ...handed, claim }), TypeError, "this needs a GPU");
    gpu.takeOver(handed).dispose();
  }));

Deno.test("takeOver() refuses memory of another simulated driver, also where it has that address", async () => {
  const driver = simulateDriver();
  using one = CudaDevice.open(0, { driver });
  using other = CudaDevice.open(0, { driver: simulateDriver() });
  using same = CudaDevice.open(0, { driver: { ...driver } });
  const x = one.zeros("uint8", 64).fill(5);
  using y = other.zeros("uint8", 64).fill(7);
  assertEquals(x.ptr, y.ptr);
  const handed = await x.handOver();
  assertThrows(() => other.takeOver(handed), TypeError, "of another simulated driver");
  assertEquals([other.live().count, await y.at(0)], [1, 7]);
  using z = same.takeOver(handed); // other functions, the same machine
  assertEquals(await z.at(0), 5);
});

testUnless("handOver() to a Worker and back", reason, async () => {
  using gpu = openTestDevice();
  const worker = new Worker(new URL("../../support/sharing/taking_worker.ts", import.meta.url), {
    type: "module",
  });
  let handed = await gpu.alloc("uint8", BYTES).fill(0).handOver();
  for (let round = 0; round < 20; round++) {
    const answer = new Promise<{ handed?: HandedOver<"uint8">; error?: string }>((resolve) => {
      worker.onmessage = ({ data }) => resolve(data);
    });
    worker.postMessage(handed);
    const { handed: back, error } = await answer;
    assert(back !== undefined, error);
    handed = back;
  }
  worker.terminate();
  using last = gpu.takeOver(handed);
  assertEquals([await last.at(0), await last.at(-1)], [20, 20]);
});
