// Calls that every kind of buffer has in common: slices, strided copies, single elements, release.

import { assertEquals, assertThrows } from "@std/assert";
import type { GpuBuffer } from "../../../src/buffers/gpu_buffer.ts";
import type { CudaDevice } from "../../../src/device/device.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

type Numbers = GpuBuffer<"uint32">;

/** Makes six elements of each kind of memory that can be allocated. */
const KINDS: Readonly<Record<string, (gpu: CudaDevice) => Numbers>> = {
  device: (gpu) => gpu.alloc("uint32", 6),
  pinned: (gpu) => gpu.pinned("uint32", 6),
  staged: (gpu) => gpu.staged("uint32", 6),
  mapped: (gpu) => gpu.mapped("uint32", 6),
  managed: (gpu) => gpu.managed("uint32", 6),
  growable: (gpu) => gpu.growable("uint32", { reserveSize: "4 MiB", shape: 6 }),
  lazy: (gpu) => gpu.lazy("uint32", 6),
};

const SIX = new Uint32Array([1, 2, 3, 4, 5, 6]);

for (const [kind, make] of Object.entries(KINDS)) {
  testOnDevice(`GpuBuffer.slice() of ${kind} memory is a copy of the same kind`, async (gpu) => {
    using buffer = make(gpu);
    await buffer.upload(SIX);
    using copy = buffer.slice(1, 4);
    buffer.fill(0);
    assertEquals([...await copy.download()], [2, 3, 4]);
    assertEquals([copy.kind, copy.constructor], [buffer.kind, buffer.constructor]);
  });

  Deno.test(`StridedView.copyTo() reads ${kind} memory by its strides, and writes it so`, () =>
    withDevice(async (gpu) => {
      using buffer = make(gpu);
      using turned = gpu.zeros("uint32", [3, 2]);
      await buffer.upload(SIX);
      const matrix = buffer.strided({ shape: [2, 3] });
      matrix.transpose().copyTo(turned);
      assertEquals([...await turned.download()], [1, 4, 2, 5, 3, 6]);
      turned.fill(7);
      matrix.transpose().copyFrom(turned).view(1).fill(8);
      assertEquals([...await buffer.download()], [7, 8, 7, 7, 8, 7]);
    }));

  testOnDevice(`GpuBuffer.at() and setAt() reach elements of ${kind} memory`, async (gpu) => {
    using buffer = make(gpu);
    await buffer.upload(SIX);
    await buffer.setAt(-1, 60);
    assertEquals([await buffer.at(4), await buffer.at(5)], [5, 60]);
  });

  testOnDevice(`CudaDevice.copyBatch() copies into ${kind} memory and out of it`, async (gpu) => {
    using buffer = make(gpu);
    using source = await gpu.upload(SIX);
    using target = gpu.zeros("uint32", 6);
    gpu.copyBatch([{ source, destination: buffer }]);
    gpu.copyBatch([{ source: buffer, destination: target }]);
    assertEquals(await target.download(), SIX);
  });
}

for (const kind of ["staged", "growable"] as const) {
  testOnDevice(`GpuBuffer.release() refuses ${kind} memory, more than an address`, (gpu) => {
    const buffer = KINDS[kind]?.(gpu);
    assertThrows(() => buffer?.release(), TypeError, "takes more than its address");
    buffer?.dispose();
  });
}

testOnDevice("GpuBuffer.release() refuses registered memory, which is the array's", (gpu) => {
  using buffer = gpu.register(new Uint32Array(6));
  assertThrows(() => buffer.release(), TypeError, "takes more than its address");
});
