// Mapped buffers: one memory seen by both sides, its flags, and the address that is given back.

import { assertEquals, assertMatch, assertNotEquals, assertThrows } from "@std/assert";
import { CU_MEMHOSTALLOC, CUdevice_attribute } from "../../../ffi/constants.ts";
import type { DriverApi } from "../../../ffi/cuda.ts";
import { CudaUnavailableError } from "../../../src/words/errors.ts";
import { patternBytes } from "../../support/contents.ts";
import { testDriver } from "../../support/driver.ts";
import { captureWarnings } from "../../support/warnings.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

testOnDevice("MappedBuffer.array and ptr are the same bytes", async (gpu) => {
  using mapped = gpu.mapped("uint32", 256);
  assertNotEquals(mapped.ptr, 0n);
  mapped.fill(7);
  await gpu.synchronize();
  assertEquals(mapped.array[255], 7);
  mapped.array[3] = 99;
  using device = gpu.alloc("uint32", 256);
  device.copyFrom(mapped);
  assertEquals(device.downloadSync()[3], 99);
});

testOnDevice("MappedBuffer.flags are what was asked for", (gpu) => {
  using plain = gpu.mapped("uint8", 16);
  assertEquals(plain.flags, { portable: true, mapped: true, writeCombined: false });
  using combined = gpu.mapped("uint8", 16, { writeCombined: true });
  assertEquals(combined.flags, { portable: true, mapped: true, writeCombined: true });
  assertEquals([plain.isWriteCombined, combined.isWriteCombined], [false, true]);
  using empty = gpu.mapped("uint8", 0);
  assertEquals(empty.flags, { portable: false, mapped: false, writeCombined: false });
});

Deno.test("allocateMappedBuffer() asks the driver for what was chosen", async () => {
  const flags: number[] = [];
  const api = testDriver();
  const driver: DriverApi = {
    ...api,
    cuMemHostAlloc(address, byteLength, given) {
      flags.push(given);
      return api.cuMemHostAlloc(address, byteLength, given);
    },
  };
  await withDevice((gpu) => {
    gpu.mapped("uint8", 16).dispose();
    gpu.mapped("uint8", 16, { portable: false, writeCombined: true }).dispose();
  }, { driver });
  const { PORTABLE, DEVICEMAP, WRITECOMBINED } = CU_MEMHOSTALLOC;
  assertEquals(flags, [PORTABLE | DEVICEMAP, DEVICEMAP | WRITECOMBINED]);
});

testOnDevice("MappedBuffer.array warns once about reading write-combined memory", (gpu) => {
  using mapped = gpu.mapped("uint8", 16, { writeCombined: true, label: "ring" });
  const warnings = captureWarnings(() => {
    void mapped.array;
    void mapped.array;
    void mapped.subarray(4).array;
  });
  assertEquals(warnings.length, 1);
  assertMatch(warnings[0] ?? "", /MappedBuffer\(ring, uint8\[16\]\) is write-combined memory/);
  using plain = gpu.mapped("uint8", 16);
  assertEquals(captureWarnings(() => void plain.array), []);
});

testOnDevice("MappedBuffer.set() writes without a warning, and download() reads", (gpu) => {
  using mapped = gpu.mapped("uint8", 16, { writeCombined: true });
  const warnings = captureWarnings(() => {
    mapped.set(patternBytes(16));
    mapped.subarray(8).set([1, 2], 2);
    assertThrows(() => mapped.set([1, 2], 15), RangeError);
  });
  assertEquals(warnings, []);
  const expected = patternBytes(16);
  expected.set([1, 2], 10);
  assertEquals(mapped.downloadSync(), expected);
});

testOnDevice("MappedBuffer.dispose() empties the array", (gpu) => {
  const mapped = gpu.mapped("float32", 16);
  const { array } = mapped;
  mapped.dispose();
  assertEquals([array.length, gpu.live().count], [0, 0]);
});

Deno.test("allocateMappedBuffer() says what to use where host memory cannot be mapped", () =>
  withDevice((gpu) => {
    assertThrows(
      () => gpu.mapped("uint8", 16),
      CudaUnavailableError,
      "use a pinned or staged buffer",
    );
  }, { driver: withoutMapping(testDriver()) }));

Deno.test("MappedBuffer.release() gives an address that its resource takes back", () =>
  withDevice((gpu) => {
    for (const writeCombined of [false, true]) {
      const mapped = gpu.mapped("uint8", 64, { writeCombined });
      const { memoryResource: resource } = mapped;
      mapped.set(patternBytes(64));
      using adopted = gpu.fromHandle(mapped.release(), 64, { resource });
      assertEquals(adopted.downloadSync(), patternBytes(64));
    }
  }, { driver: refuseLostHostMemory(testDriver()) }));

Deno.test("MappedBuffer.release() gives the device's address where the host has another", () => {
  const api = testDriver();
  const distance = 2n ** 44n;
  const driver = refuseLostHostMemory({
    ...api,
    cuMemHostGetDevicePointer_v2(cell, address) {
      if (cell instanceof BigUint64Array) cell[0] = address + distance;
      return 0;
    },
  });
  return withDevice((gpu) => {
    const mapped = gpu.mapped("uint8", 64);
    const { memoryResource: resource } = mapped;
    const address = mapped.release();
    assertEquals(resource.hostAddress(address), address - distance);
    resource.deallocate(address);
  }, { driver });
});

/** Throws when the context ends with more host blocks allocated than freed. */
function refuseLostHostMemory(api: DriverApi): DriverApi {
  let liveCount = 0;
  return {
    ...api,
    cuMemHostAlloc(...args) {
      const status = api.cuMemHostAlloc(...args);
      if (status === 0) liveCount++;
      return status;
    },
    cuMemFreeHost(address) {
      liveCount--;
      return api.cuMemFreeHost(address);
    },
    cuDevicePrimaryCtxRelease_v2(device) {
      assertEquals(liveCount, 0, "host memory is lost");
      return api.cuDevicePrimaryCtxRelease_v2(device);
    },
  };
}

function withoutMapping(api: DriverApi): DriverApi {
  const { CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY } = CUdevice_attribute;
  return {
    ...api,
    cuDeviceGetAttribute: (value, attribute, device) =>
      attribute === CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY
        ? 1
        : api.cuDeviceGetAttribute(value, attribute, device),
  };
}
