// Patterns of one's own: every byte of memory of odd sizes and places, arrays that may change at once,
// buffers as patterns, the order of calls, and what is refused.

import { assert, assertEquals, assertThrows } from "@std/assert";
import type { CudaDevice } from "../../../src/device/device.ts";
import { DisposedError } from "../../../src/words/errors.ts";
import { assertHoldsOnly } from "../../support/contents.ts";
import { HeldStream, testHolding } from "../../support/held_stream.ts";
import { Random } from "../../support/random.ts";
import { LATE_BYTES, requireUnderWay } from "../../support/under_way.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

function randomBytes(random: Random, count: number): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length: count }, () => random.below(256));
}

function repeated(pattern: Uint8Array, byteLength: number): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length: byteLength }, (_, at) => pattern[at % pattern.length] ?? 0);
}

Deno.test("GpuBuffer.fillPattern() writes arrays of all lengths at all places, and nothing else", () =>
  withDevice(async (gpu) => {
    const random = new Random(3);
    using x = gpu.alloc("uint8", 70_000);
    const sizes = [1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 100, 255, 1023, 1024];
    for (const patternBytes of sizes) {
      for (let round = 0; round < 4; round++) {
        const pattern = randomBytes(random, patternBytes);
        const start = random.below(40);
        const length = [0, 1, random.below(40), random.below(2000), random.below(60_000)][
          random.below(5)
        ] ?? 0;
        x.fill(170);
        x.subarray(start, start + length).fillPattern(pattern);
        const expected = new Uint8Array(70_000).fill(170);
        expected.set(repeated(pattern, length), start);
        assert(
          Uint8Array.prototype.every.call(await x.download(), (byte, at) => byte === expected[at]),
          `${patternBytes} bytes at ${start}, ${length} long`,
        );
      }
    }
  }));

testOnDevice("GpuBuffer.fillPattern() repeats buffers of all lengths", async (gpu) => {
  const random = new Random(4);
  using x = gpu.alloc("uint8", 50_001);
  for (const patternBytes of [1, 5, 1025, 4096, 33_333, 50_001, 60_000]) {
    const bytes = randomBytes(random, patternBytes);
    using pattern = await gpu.upload(bytes);
    const start = random.below(100);
    x.fill(9);
    x.subarray(start).fillPattern(pattern);
    const expected = new Uint8Array(50_001).fill(9);
    expected.set(repeated(bytes, 50_001 - start), start);
    assertEquals(await x.download(), expected);
  }
});

testOnDevice("GpuBuffer.fillPattern() takes elements of its type, or any bytes", async (gpu) => {
  using x = gpu.alloc("float32", 5);
  x.fillPattern(new Float32Array([1.5, -2]));
  assertEquals(await x.download(), new Float32Array([1.5, -2, 1.5, -2, 1.5]));
  x.fillPattern(new Uint8Array(new Float32Array([3]).buffer).buffer);
  assertEquals(await x.download(), new Float32Array(5).fill(3));
  using half = gpu.alloc("float16", 3);
  half.fillPattern(new Float32Array([0.5, 1]));
  assertEquals([...await half.download()], [0.5, 1, 0.5]);
  using big = gpu.alloc("int64", 3);
  big.fillPattern(BigInt64Array.of(-1n, 5n));
  assertEquals(await big.download(), BigInt64Array.of(-1n, 5n, -1n));
  using host = gpu.pinned("uint8", 6);
  host.fillPattern(Uint8Array.of(1, 2));
  await gpu.synchronize();
  assertEquals([...host.array], [1, 2, 1, 2, 1, 2]);
  using late = gpu.lazy("uint8", 3);
  assertEquals(await late.fillPattern(Uint8Array.of(7)).download(), Uint8Array.of(7, 7, 7));
});

testOnDevice("GpuBuffer.fillPattern() refuses what does not fit, writes nothing", async (gpu) => {
  using x = gpu.zeros("float32", 8);
  using bytes = gpu.zeros("uint8", 8);
  using empty = gpu.alloc("float32", 0);
  const detached = new Float32Array(2);
  structuredClone(detached.buffer, { transfer: [detached.buffer] });
  const call = (pattern: unknown) => () => x.fillPattern(pattern as never);
  assertThrows(call(new Float32Array(0)), RangeError, "has no bytes");
  assertThrows(call(empty), RangeError, "has no bytes");
  assertThrows(call(new Float32Array(257)), RangeError, "upload it, and pass the buffer");
  assertThrows(call(new Float64Array(2)), TypeError, "does not hold float32");
  assertThrows(call(bytes), TypeError, "has other elements");
  assertThrows(call(detached), TypeError, "detached");
  for (const start of [0, 5]) {
    assertThrows(call(x.subarray(start, start + 2)), RangeError, "onto themselves");
  }
  assertThrows(() => x.subarray(2, 3).fillPattern(x), RangeError, "onto themselves");
  for (const wrong of [undefined, null, 5, "pattern", [1, 2], {}]) {
    assertThrows(call(wrong), TypeError, "Cannot write a pattern into");
  }
  assertThrows(
    () => x.fillPattern(new Float32Array(1), { streams: gpu.stream } as never),
    TypeError,
  );
  const gone = gpu.zeros("float32", 2);
  gone.dispose();
  assertThrows(call(gone), DisposedError);
  assertThrows(() => gone.fillPattern(new Float32Array(1)), DisposedError);
  assertEquals(await x.download(), new Float32Array(8));
});

testHolding(
  "GpuBuffer.fillPattern() does not wait, and takes the array as it is",
  async (gpu: CudaDevice) => {
    using x = gpu.zeros("uint8", 6);
    using y = gpu.zeros("uint8", 6);
    x.fillPattern(Uint8Array.of(9));
    await gpu.synchronize();
    using held = new HeldStream(gpu, gpu.stream);
    const pattern = Uint8Array.of(1, 2, 3);
    x.fillPattern(pattern);
    pattern.fill(8);
    y.copyFrom(x);
    x.fillPattern(pattern);
    held.release();
    assertEquals(await y.download(), Uint8Array.of(1, 2, 3, 1, 2, 3));
    assertEquals(await x.download(), new Uint8Array(6).fill(8));
  },
);

Deno.test("GpuBuffer.fillPattern() comes after transfers that nobody awaited, and in graphs", () =>
  withDevice(async (gpu) => {
    using x = gpu.alloc("uint8", LATE_BYTES);
    const upload = x.upload(new Uint8Array(LATE_BYTES).fill(1));
    requireUnderWay(gpu.stream);
    x.subarray(0, 4).fillPattern(Uint8Array.of(5, 6));
    assertEquals(await x.subarray(0, 5).download(), Uint8Array.of(5, 6, 5, 6, 1));
    await upload;
    using pattern = await gpu.upload(Uint8Array.of(1, 2, 3));
    using graph = gpu.capture(() => {
      x.subarray(0, 5).fillPattern(Uint8Array.of(7, 8));
      x.subarray(5, 12).fillPattern(pattern);
    });
    graph.launch();
    const expected = Uint8Array.of(7, 8, 7, 8, 7, 1, 2, 3, 1, 2, 3, 1);
    assertEquals(await x.subarray(0, 12).download(), expected);
  }));

Deno.test("GpuBuffer.fillPattern() takes an array behind what earlier calls write there", () =>
  withDevice(async (gpu) => {
    using stream = gpu.createStream();
    using x = gpu.alloc("uint8", 10);
    using ones = gpu.alloc("uint8", 3 * 2 ** 23).fill(1);
    const array = new Uint8Array(ones.length);
    const downloads = [ones.download(new Uint8Array(ones.length)), ones.download(array)];
    x.fillPattern(array.subarray(0, 3));
    assertHoldsOnly(await x.download(), 1);
    await Promise.all(downloads);
    using pinned = gpu.pinned("uint8", 3);
    pinned.array.fill(0);
    pinned.copyFrom(ones.subarray(0, 3), { stream });
    x.fill(9).fillPattern(pinned.array);
    assertHoldsOnly(await x.download(), 1);
  }));
