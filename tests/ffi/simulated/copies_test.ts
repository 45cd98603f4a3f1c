// Copies and fills of the simulated driver: contents, and the mistakes that throw.
// The real driver would report none of those mistakes, or only much later.

import { assertEquals, assertThrows } from "@std/assert";
import { SimulationError } from "../../../ffi/simulated/driver.ts";
import { CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUmemcpyAttributes } from "../../../ffi/structs.ts";
import { assertHoldsOnly } from "../../support/contents.ts";
import { out, SimulatedGpu, testSimulated } from "../../support/simulated_gpu.ts";

const COUNTING = Uint8Array.from({ length: 256 }, (_, index) => index);

testSimulated("cuMemcpyHtoDAsync_v2() has read an ordinary array when it returns", (gpu) => {
  const [address, array] = [gpu.alloc(256), COUNTING.slice()];
  gpu.api.cuMemcpyHtoDAsync_v2(address, array, 256n, 0n);
  array.fill(0);
  assertEquals(gpu.read(address, 256), COUNTING);
});

testSimulated("cuMemcpyDtoHAsync_v2() has filled an ordinary array when it returns", (gpu) => {
  const address = gpu.alloc(256);
  gpu.api.cuMemcpyHtoDAsync_v2(address, COUNTING, 256n, 0n);
  const array = new Uint8Array(256);
  gpu.api.cuMemcpyDtoHAsync_v2(array, address, 256n, 0n);
  assertEquals(array, COUNTING);
});

testSimulated("cuMemcpyAsync() leaves a page-locked array alone until something waits", (gpu) => {
  const address = gpu.alloc(256);
  gpu.write(address, COUNTING);
  const { address: target, bytes } = gpu.pinned(256);
  gpu.api.cuMemcpyAsync(target, address, 256n, 0n);
  assertEquals(bytes.some((byte) => byte !== 0), false);
  gpu.api.cuStreamSynchronize(0n);
  assertEquals(bytes, COUNTING);
});

testSimulated("cuMemcpyHtoDAsync_v2() knows a page-locked array by its address", (gpu) => {
  const { bytes } = gpu.pinned(256);
  bytes.set(COUNTING);
  gpu.api.cuMemcpyHtoDAsync_v2(gpu.alloc(256), bytes, 256n, 0n);
  assertEquals(gpu.api.cuStreamQuery(0n), 0);
  gpu.api.cuMemcpyHtoDAsync_v2(gpu.alloc(256), bytes, 256n, 0n);
  bytes.fill(0);
  assertThrows(() => gpu.api.cuCtxSynchronize(), SimulationError, "host changed its source");
});

testSimulated("cuMemcpyAsync() throws when the host touches a queued copy's destination", (gpu) => {
  const address = gpu.alloc(256);
  gpu.write(address, COUNTING);
  const target = gpu.pinned(256);
  gpu.api.cuMemcpyAsync(target.address, address, 256n, 0n);
  target.bytes[17] = 1;
  assertThrows(() => gpu.api.cuCtxSynchronize(), SimulationError, "host changed its destination");
});

Deno.test("cuMemcpyAsync() allows two copies in a row into the same page-locked array", () => {
  const gpu = new SimulatedGpu();
  const [first, second, target] = [gpu.alloc(256), gpu.alloc(256), gpu.pinned(256)];
  gpu.write(first, COUNTING);
  gpu.write(second, COUNTING.toReversed());
  gpu.api.cuMemcpyAsync(target.address, first, 256n, 0n);
  gpu.api.cuMemcpyAsync(target.address, second, 256n, 0n);
  gpu.api.cuCtxSynchronize();
  assertEquals(target.bytes, COUNTING.toReversed());
});

testSimulated("cuMemcpyAsync() throws when a copy leaves its block", (gpu) => {
  const [source, target] = [gpu.alloc(1024), gpu.alloc(512)];
  assertThrows(
    () => gpu.api.cuMemcpyAsync(target, source, 1024n, 0n),
    SimulationError,
    "1024 bytes at",
  );
});

testSimulated("cuMemcpyAsync() throws on freed memory", (gpu) => {
  const [source, target] = [gpu.alloc(256), gpu.alloc(256)];
  gpu.api.cuMemFree_v2(target);
  assertThrows(() => gpu.api.cuMemcpyAsync(target, source, 256n, 0n), SimulationError, "was freed");
});

testSimulated("cuMemcpyDtoHAsync_v2() throws on bytes that nobody has written", (gpu) => {
  const address = gpu.alloc(256);
  gpu.write(address, COUNTING.subarray(0, 255));
  assertEquals(gpu.read(address, 255).byteLength, 255);
  assertThrows(() => gpu.read(address, 256), SimulationError, "nobody has written");
});

testSimulated("cuMemcpyAsync() throws when source and destination overlap", (gpu) => {
  const address = gpu.alloc(256);
  gpu.write(address, COUNTING);
  assertThrows(
    () => gpu.api.cuMemcpyAsync(address + 64n, address, 128n, 0n),
    SimulationError,
    "overlap",
  );
});

testSimulated("cuMemcpyPeerAsync() moves bytes between devices", (gpu) => {
  const [peer, source] = [gpu.retain(1), gpu.alloc(256)];
  gpu.write(source, COUNTING);
  gpu.api.cuCtxSetCurrent(peer);
  const target = gpu.alloc(256);
  assertEquals(gpu.api.cuMemcpyPeerAsync(target, peer, source, gpu.context, 256n, 0n), 0);
  assertEquals(gpu.read(target, 256), COUNTING);
});

testSimulated("cuMemsetD32Async() fills across chunks of backing memory", (gpu) => {
  const count = (1 << 18) + 64;
  const address = gpu.alloc(count * 4);
  gpu.api.cuMemsetD32Async(address, 0xdeadbeef, BigInt(count), 0n);
  const words = new Uint32Array(gpu.read(address, count * 4).buffer);
  assertHoldsOnly(words, 0xdeadbeef);
});

testSimulated("cuMemsetD8Async() of zeros over 4 GiB counts as written", (gpu) => {
  const address = gpu.alloc(4 * 2 ** 30);
  gpu.api.cuMemsetD8Async(address, 0, 4n << 30n, 0n);
  assertEquals(gpu.read(address + (3n << 30n), 4), new Uint8Array(4));
});

testSimulated("cuMemcpy2DAsync_v2() copies a rectangle out of pitched memory", (gpu) => {
  const pitch = new BigUint64Array(1);
  const address = out((cell) => gpu.api.cuMemAllocPitch_v2(cell, pitch, 16n, 16n, 4));
  gpu.api.cuMemsetD2D8Async(address, pitch[0] ?? 0n, 9, 16n, 16n, 0n);
  const target = gpu.pinned(16);
  const copy = CUDA_MEMCPY2D.encode({
    srcMemoryType: 2,
    srcDevice: address,
    srcPitch: pitch[0] ?? 0n,
    srcXInBytes: 4n,
    srcY: 2n,
    dstMemoryType: 1,
    dstHost: target.address,
    dstPitch: 4n,
    WidthInBytes: 4n,
    Height: 4n,
  });
  assertEquals(gpu.api.cuMemcpy2DAsync_v2(copy, 0n), 0);
  gpu.api.cuCtxSynchronize();
  assertEquals(target.bytes, new Uint8Array(16).fill(9));
});

testSimulated("cuMemcpy3DAsync_v2() copies a box", (gpu) => {
  const [source, target] = [gpu.alloc(256), gpu.alloc(8)];
  gpu.write(source, COUNTING);
  const copy = CUDA_MEMCPY3D.encode({
    srcMemoryType: 2,
    srcDevice: source,
    srcPitch: 8n,
    srcHeight: 4n,
    srcXInBytes: 1n,
    srcY: 1n,
    srcZ: 1n,
    dstMemoryType: 2,
    dstDevice: target,
    dstPitch: 2n,
    dstHeight: 2n,
    WidthInBytes: 2n,
    Height: 2n,
    Depth: 2n,
  });
  assertEquals(gpu.api.cuMemcpy3DAsync_v2(copy, 0n), 0);
  assertEquals([...gpu.read(target, 8)], [41, 42, 49, 50, 73, 74, 81, 82]);
});

testSimulated("cuMemcpyBatchAsync() copies each pair, and refuses the default stream", (gpu) => {
  const [a, b, target, stream] = [gpu.pinned(4), gpu.pinned(4), gpu.alloc(512), gpu.stream()];
  a.bytes.fill(1);
  b.bytes.fill(2);
  const submit = (on: bigint) =>
    gpu.api.cuMemcpyBatchAsync(
      new BigUint64Array([target, target + 4n]),
      new BigUint64Array([a.address, b.address]),
      new BigUint64Array([4n, 4n]),
      2n,
      CUmemcpyAttributes.encode({ srcAccessOrder: 1 }),
      new BigUint64Array(1),
      1n,
      null,
      on,
    );
  assertEquals(submit(0n), 1);
  assertEquals(submit(stream), 0);
  gpu.api.cuStreamSynchronize(stream);
  assertEquals([...gpu.read(target, 8)], [1, 1, 1, 1, 2, 2, 2, 2]);
});
