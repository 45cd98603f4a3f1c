// Copies and fills behind a transfer that is under way: they are made when it is over, with the bytes that
// it brought, and what is disposed meanwhile stays until then.

import { assert, assertEquals, assertFalse, assertThrows } from "@std/assert";
import type { CudaDevice, DeviceBuffer } from "../../../mod.ts";
import { blockOf } from "../../../src/buffers/gpu_buffer.ts";
import { queueOf } from "../../../src/order/stream.ts";
import { DisposedError } from "../../../src/words/errors.ts";
import { testOnTwoDevices } from "../../support/driver.ts";
import { LATE_BYTES, requireUnderWay } from "../../support/under_way.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

type Bytes = DeviceBuffer<"uint8">;

/** Calls that read the large buffer `x`, which an upload fills with sevens, or write over those. */
interface CallScene {
  readonly gpu: CudaDevice;
  readonly x: Bytes;
  readonly y: Bytes;
}

/** The calls, and what is then in the first bytes of `y`, or of `x` where they write that. */
const CALLS: Readonly<Record<string, readonly [call: (scene: CallScene) => unknown, number[]]>> = {
  "copyFrom()": [({ x, y }) => y.subarray(0, 3).copyFrom(x.subarray(0, 3)), [7, 7, 7, 0]],
  "copyBatch()": [({ gpu, x, y }) =>
    gpu.copyBatch([
      { source: x.subarray(0, 1), destination: y.subarray(1, 2) },
      { source: x.subarray(5, 6), destination: y.subarray(3, 4) },
    ]), [0, 7, 0, 7]],
  "copyBatch() of copies that depend on each other": [({ gpu, x, y }) =>
    gpu.copyBatch([
      { source: x.subarray(0, 1), destination: y.subarray(0, 1) },
      { source: y.subarray(0, 1), destination: y.subarray(2, 3) },
    ]), [7, 0, 7, 0]],
  "copyFrom() of a strided view": [({ x, y }) =>
    y.subarray(0, 4).strided().range(0, { step: 2 })
      .copyFrom(x.subarray(0, 4).strided().range(0, { step: 2 })), [7, 0, 7, 0]],
  "astype()": [({ x, y }) => {
    x.subarray(0, 1).astype("uint16", { into: y.subarray(0, 2).as("uint16") });
  }, [7, 0, 0, 0]],
  "fillPattern()": [({ x, y }) => y.subarray(1, 3).fillPattern(x.subarray(0, 1)), [0, 7, 7, 0]],
};

/** Calls that write over what the upload brings. */
const WRITES: Readonly<Record<string, readonly [call: (x: Bytes) => unknown, number[]]>> = {
  "fill()": [(x) => x.subarray(0, 2).fill(3), [3, 3, 7, 7]],
  "clear()": [(x) => x.subarray(1, 3).clear(), [7, 0, 0, 7]],
  "fill() of a strided view": [
    (x) => x.subarray(0, 4).strided().range(0, { step: 2 }).fill(3),
    [3, 7, 3, 7],
  ],
  "fill() of elements of 8 bytes": [(x) => x.subarray(0, 8).as("uint64").fill(258n), [2, 1, 0, 0]],
};

for (const [name, [call, expected]] of Object.entries(CALLS)) {
  Deno.test(`${name} reads what a transfer under way brings, also when its source is disposed`, () =>
    withDevice(async (gpu) => {
      const x = gpu.zeros("uint8", LATE_BYTES);
      using y = gpu.zeros("uint8", 64);
      await gpu.synchronize();
      const upload = x.upload(new Uint8Array(LATE_BYTES).fill(7));
      requireUnderWay(gpu.stream);
      call({ gpu, x, y });
      x.dispose();
      await upload;
      assertEquals([...await y.subarray(0, 4).download()], expected);
    }));
}

for (const [name, [call, expected]] of Object.entries(WRITES)) {
  testOnDevice(`${name} writes over what a transfer under way brings`, async (gpu) => {
    using x = gpu.zeros("uint8", LATE_BYTES);
    const upload = x.upload(new Uint8Array(LATE_BYTES).fill(7));
    requireUnderWay(gpu.stream);
    call(x);
    const { usage } = blockOf(x);
    assert(usage.hasPending);
    await upload;
    assertFalse(usage.hasPending); // later calls look for nothing
    assertEquals([...await x.subarray(0, 4).download()], expected);
  });
}

Deno.test("A call comes after postponed ones of another stream where they share bytes, and only there", () =>
  withDevice(async (gpu) => {
    using stream = gpu.createStream();
    using large = gpu.alloc("uint8", LATE_BYTES, { stream });
    using x = gpu.zeros("uint8", 64);
    using y = gpu.zeros("uint8", 64);
    await gpu.synchronize();
    const upload = large.upload(new Uint8Array(LATE_BYTES), { stream });
    large.subarray(0, 8).fill(1, { stream }); // the stream's calls come after this one
    x.subarray(8, 16).fill(5, { stream });
    y.subarray(0, 8).copyFrom(x.subarray(24, 32), { stream });
    requireUnderWay(stream);
    const { pending } = queueOf(gpu.stream);
    y.subarray(32, 40).copyFrom(x.subarray(0, 8));
    y.subarray(40, 48).copyFrom(x.subarray(32, 40));
    assertEquals(pending.size, 0);
    y.subarray(48, 56).copyFrom(x.subarray(8, 16));
    assertEquals(pending.size, 1);
    await upload;
    const expected = new Uint8Array(64).fill(5, 48, 56);
    assertEquals(await y.download(), expected);
  }));

testOnDevice("A copy that reads what a transfer reads does not wait for it", async (gpu) => {
  using stream = gpu.createStream();
  using x = gpu.alloc("uint8", LATE_BYTES).fill(7);
  using y = gpu.zeros("uint8", 8);
  const download = x.download();
  requireUnderWay(gpu.stream);
  y.copyFrom(x.subarray(0, 8), { stream });
  assertEquals(queueOf(stream).pending.size, 0);
  await download;
  assertEquals(await y.at(7), 7);
});

testOnDevice("Copies and fills behind a transfer refuse a disposed stream at once", async (gpu) => {
  using x = gpu.zeros("uint8", LATE_BYTES);
  using y = gpu.zeros("uint8", 64);
  const stream = gpu.createStream();
  stream.dispose();
  const upload = x.upload(new Uint8Array(LATE_BYTES).fill(7));
  requireUnderWay(gpu.stream);
  const part = x.subarray(0, 64);
  const calls = [
    () => y.copyFrom(part, { stream }),
    () => y.strided().copyFrom(part, { stream }),
    () => gpu.copyBatch([{ source: part, destination: y }], { stream }),
    () => part.fill(1, { stream }),
  ];
  for (const call of calls) assertThrows(call, DisposedError, "CudaStream");
  await upload;
  assertEquals(await y.at(0), 0);
});

testOnTwoDevices("copyFrom() uses a stream of the device that has the memory", (first, second) => {
  using pinned = first.pinned("uint8", 64);
  using other = second.pinned("uint8", 64);
  using from = first.zeros("uint8", 64);
  using to = second.zeros("uint8", 64);
  pinned.array.fill(1);
  const copies: readonly [copy: () => unknown, copiedBytes: number[]][] = [
    [() => to.copyFrom(from), [0, 64]],
    [() => to.copyFrom(pinned), [0, 64]],
    [() => pinned.copyFrom(to), [0, 64]],
    [() => other.copyFrom(from), [64, 0]],
  ];
  const copiedBytes = () => [first, second].map(({ context }) => context.copiedBytes);
  for (const [copy, expected] of copies) {
    const before = copiedBytes();
    copy();
    assertEquals(copiedBytes().map((bytes, at) => bytes - (before[at] ?? 0)), expected);
  }
});
