// Other values where a stream, a device or a resource belongs, in programs without a compiler.

import { assertThrows } from "@std/assert";
import { CudaDevice } from "../../../src/device/device.ts";
import { CudaMemoryResource } from "../../../src/memory/cuda_memory_resource.ts";
import { testDriver } from "../../support/driver.ts";
import { testOnDevice } from "../../support/with_device.ts";

testOnDevice("A call names a stream that is not one, and refuses it", (gpu) => {
  using stream = gpu.createStream();
  using a = gpu.zeros("float32", 4);
  for (const wrong of [5, "s", gpu] as never[]) {
    const words = "expected a stream of gpu.createStream()";
    assertThrows(() => a.fill(1, { stream: wrong }), TypeError, words);
    assertThrows(() => gpu.alloc("uint8", 4, { stream: wrong }), TypeError, words);
    assertThrows(() => a.close(wrong), TypeError, words);
    assertThrows(() => stream.wait(wrong), TypeError, "expected an event or a stream");
  }
});

testOnDevice("A call names a memory resource that is not one, and refuses it", (gpu) => {
  for (const wrong of [5, CudaMemoryResource, {}, null] as never[]) {
    const words = "expected a memory resource";
    assertThrows(() => gpu.alloc("uint8", 4, { resource: wrong }), TypeError, words);
    assertThrows(() => gpu.withResource(wrong, () => 1), TypeError, words);
  }
  using managed = gpu.managed("uint8", 4);
  assertThrows(() => managed.prefetch("gpu" as never), TypeError, 'expected a device or "host"');
});

testOnDevice("A call names a device that is not one, and refuses it", (gpu) => {
  using growable = gpu.growable("uint8");
  for (const wrong of [undefined, null, 5, "gpu", {}, { context: {} }, gpu.context] as never[]) {
    assertThrows(() => new CudaMemoryResource(wrong), TypeError, "expected a device");
    assertThrows(() => growable.setAccess(wrong, "read"), TypeError, "expected a device");
  }
});

testOnDevice("GrowableBuffer.setAccess() refuses an access that there is not", (gpu) => {
  using growable = gpu.growable("uint8", { shape: 4 });
  using empty = gpu.growable("uint8");
  for (const wrong of ["readWrite", "write", null, 5, "toString"] as never[]) {
    for (const buffer of [growable, empty]) {
      const words = 'expected "none", "read" or "readwrite"';
      assertThrows(() => buffer.setAccess(gpu, wrong), TypeError, words);
    }
  }
});

Deno.test("CudaDevice.open() refuses an ordinal that is not a number before it looks for a driver", () => {
  for (const wrong of ["0", { driver: testDriver() }] as never[]) {
    assertThrows(
      () => CudaDevice.open(wrong),
      TypeError,
      "expected a number, and options after it",
    );
  }
});
