// Checks the structs of the driver API by the bytes that a call would see.
// That sizes and offsets are those of cuda.h is checked in abi_test.ts.

import { assertEquals } from "@std/assert";
import { CUDA_MEMCPY2D, CUmemAllocationProp, CUmemPoolProps } from "../../ffi/structs.ts";

Deno.test("CUDA_MEMCPY2D keeps every member through encode() and decode()", () => {
  const fields = {
    srcXInBytes: 1n,
    srcY: 2n,
    srcMemoryType: 3,
    srcHost: 0xffff_ffff_ffff_fff4n,
    srcDevice: 5n,
    srcArray: 6n,
    srcPitch: 7n,
    dstXInBytes: 8n,
    dstY: 9n,
    dstMemoryType: 10,
    dstHost: 11n,
    dstDevice: 12n,
    dstArray: 13n,
    dstPitch: 14n,
    WidthInBytes: 15n,
    Height: 16n,
  };
  assertEquals(CUDA_MEMCPY2D.decode(CUDA_MEMCPY2D.encode(fields)), fields);
});

Deno.test("CUmemPoolProps.encode() leaves the reserved bytes zero", () => {
  const encoded = CUmemPoolProps.encode({ allocType: 1, usage: 0xffff, gpuDirectRDMACapable: 1 });
  assertEquals(encoded.subarray(CUmemPoolProps.offsets.reserved), new Uint8Array(53));
});

Deno.test("CUmemAllocationProp.decode() reads the flags inside it", () => {
  const allocFlags = { gpuDirectRDMACapable: 1, usage: 2 };
  const decoded = CUmemAllocationProp.decode(CUmemAllocationProp.encode({ type: 1, allocFlags }));
  assertEquals(decoded.allocFlags, {
    compressionType: 0,
    gpuDirectRDMACapable: 1,
    usage: 2,
    reserved: new Uint8Array(4),
  });
});
