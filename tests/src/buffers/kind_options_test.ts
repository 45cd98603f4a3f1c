// Runs the contract of buffers over the kinds that a device makes beside plain ones.

import { assertEquals } from "@std/assert";
import { countOf, type Shape, toShape } from "../../../src/buffers/shape.ts";
import type { CudaDevice } from "../../../src/device/device.ts";
import { type DType, elementBytes } from "../../../src/dtype.ts";
import { type MakeOptions, testBuffer } from "../../support/buffer_contract.ts";
import { patternBytes } from "../../support/contents.ts";
import { testOnDevice } from "../../support/with_device.ts";

const PAGE_BYTES = 4096;

/** Memory that shares no page with another array, as large arrays do not. */
function pagesFor(dtype: DType, shape: number | Shape): Uint8Array<ArrayBuffer> {
  const byteLength = countOf(toShape(shape)) * elementBytes(dtype);
  return new Uint8Array(new ArrayBuffer(byteLength + 2 * PAGE_BYTES), PAGE_BYTES, byteLength);
}

testBuffer({
  name: "StagedBuffer",
  make: (gpu, { dtype, shape, ...rest }) => gpu.staged(dtype, shape, rest),
});
testBuffer({
  name: "MappedBuffer",
  make: (gpu, { dtype, shape, ...rest }) => gpu.mapped(dtype, shape, rest),
});
testBuffer({
  name: "ManagedBuffer",
  make: (gpu, { dtype, shape, ...rest }) => gpu.managed(dtype, shape, rest),
});
testBuffer({
  name: "RegisteredBuffer",
  make: <D extends DType>(gpu: CudaDevice, { dtype, shape, ...rest }: MakeOptions<D>) =>
    gpu.register<D>(pagesFor(dtype, shape), { dtype, shape, ...rest }),
});
testBuffer({
  name: "GrowableBuffer",
  make: (gpu, { dtype, ...rest }) => gpu.growable(dtype, { reserveSize: "16 MiB", ...rest }),
});
testBuffer({
  name: "LazyBuffer",
  make: (gpu, { dtype, shape, ...rest }) => gpu.lazy(dtype, shape, rest),
});

testOnDevice("GpuBuffer.upload() and download() work for every kind", async (gpu) => {
  using scope = new DisposableStack();
  const kinds = [
    scope.use(gpu.alloc("uint8", 5000)),
    scope.use(gpu.pinned("uint8", 5000)),
    scope.use(gpu.staged("uint8", 5000)),
    scope.use(gpu.mapped("uint8", 5000)),
    scope.use(gpu.mapped("uint8", 5000, { writeCombined: true })),
    scope.use(gpu.managed("uint8", 5000)),
    scope.use(gpu.growable("uint8", { shape: 5000 })),
    scope.use(gpu.lazy("uint8", 5000)),
    scope.use(gpu.register(pagesFor("uint8", 5000))),
  ];
  for (const [seed, buffer] of kinds.entries()) {
    await buffer.upload(patternBytes(5000, seed));
    assertEquals(await buffer.download(), patternBytes(5000, seed), String(buffer));
    buffer.uploadSync(patternBytes(5000, seed + 100));
    assertEquals(buffer.downloadSync(), patternBytes(5000, seed + 100), String(buffer));
  }
});

testOnDevice("GpuBuffer.copyFrom() works between every pair of kinds", (gpu) => {
  using scope = new DisposableStack();
  const kinds = () => [
    scope.use(gpu.alloc("uint8", 300)),
    scope.use(gpu.pinned("uint8", 300)),
    scope.use(gpu.staged("uint8", 300)),
    scope.use(gpu.mapped("uint8", 300)),
    scope.use(gpu.managed("uint8", 300)),
    scope.use(gpu.growable("uint8", { shape: 300, reserveSize: "2 MiB" })),
    scope.use(gpu.lazy("uint8", 300)),
    scope.use(gpu.register(pagesFor("uint8", 300))),
  ];
  const [sources, targets] = [kinds(), kinds()];
  let seed = 0;
  for (const source of sources) {
    for (const target of targets) {
      source.uploadSync(patternBytes(300, ++seed));
      target.subarray(100, 200).copyFrom(source.subarray(50, 150));
      const moved = target.subarray(100, 200).downloadSync();
      assertEquals(moved, patternBytes(300, seed).subarray(50, 150), `${source} to ${target}`);
    }
  }
});
