// The structs of the CUDA driver API that are passed by address, member for member as in cuda.h.
// Each is a codec: encode() fills in the members given and leaves the others zero.

import { bytes, i32, struct, u16, u32, u64, u8 } from "./struct.ts";

/** Describes a rectangle to copy, for `cuMemcpy2DAsync_v2`. */
export const CUDA_MEMCPY2D = struct({
  srcXInBytes: u64,
  srcY: u64,
  srcMemoryType: i32,
  srcHost: u64,
  srcDevice: u64,
  srcArray: u64,
  srcPitch: u64,
  dstXInBytes: u64,
  dstY: u64,
  dstMemoryType: i32,
  dstHost: u64,
  dstDevice: u64,
  dstArray: u64,
  dstPitch: u64,
  WidthInBytes: u64,
  Height: u64,
});

/** Describes a box to copy, for `cuMemcpy3DAsync_v2`. */
export const CUDA_MEMCPY3D = struct({
  srcXInBytes: u64,
  srcY: u64,
  srcZ: u64,
  srcLOD: u64,
  srcMemoryType: i32,
  srcHost: u64,
  srcDevice: u64,
  srcArray: u64,
  reserved0: u64,
  srcPitch: u64,
  srcHeight: u64,
  dstXInBytes: u64,
  dstY: u64,
  dstZ: u64,
  dstLOD: u64,
  dstMemoryType: i32,
  dstHost: u64,
  dstDevice: u64,
  dstArray: u64,
  reserved1: u64,
  dstPitch: u64,
  dstHeight: u64,
  WidthInBytes: u64,
  Height: u64,
  Depth: u64,
});

/** Names a place where memory can live: a device, the host, a part of the host. */
export const CUmemLocation = struct({ type: i32, id: i32 });

/** Describes what a device may do with mapped memory or a pool. */
export const CUmemAccessDesc = struct({ location: CUmemLocation, flags: i32 });

/** Describes a memory pool, for `cuMemPoolCreate`. */
export const CUmemPoolProps = struct({
  allocType: i32,
  handleTypes: i32,
  location: CUmemLocation,
  win32SecurityAttributes: u64,
  maxSize: u64,
  usage: u16,
  gpuDirectRDMACapable: u8,
  reserved: bytes(53),
});

/** Names an allocation of a pool to another process, for `cuMemPoolImportPointer`. */
export const CUmemPoolPtrExportData = struct({ reserved: bytes(64) });

/** Describes physical memory, for `cuMemCreate`. */
export const CUmemAllocationProp = struct({
  type: i32,
  requestedHandleTypes: i32,
  location: CUmemLocation,
  win32HandleMetaData: u64,
  allocFlags: struct({
    compressionType: u8,
    gpuDirectRDMACapable: u8,
    usage: u16,
    reserved: bytes(4),
  }),
});

/** Describes where the copies of a batch come from and go to, for `cuMemcpyBatchAsync`. */
export const CUmemcpyAttributes = struct({
  srcAccessOrder: i32,
  srcLocHint: CUmemLocation,
  dstLocHint: CUmemLocation,
  flags: u32,
});

/** Describes the kernel of a graph's node, for `cuGraphKernelNodeGetParams`. */
export const CUDA_KERNEL_NODE_PARAMS_v2 = struct({
  func: u64,
  gridDimX: u32,
  gridDimY: u32,
  gridDimZ: u32,
  blockDimX: u32,
  blockDimY: u32,
  blockDimZ: u32,
  sharedMemBytes: u32,
  kernelParams: u64,
  extra: u64,
  kern: u64,
  ctx: u64,
});

/** Says why a graph was not updated, and by which node, for `cuGraphExecUpdate`. */
export const CUgraphExecUpdateResultInfo = struct({
  result: i32,
  errorNode: u64,
  errorFromNode: u64,
});

/** Describes a launch, for `cuLaunchKernelEx`. */
export const CUlaunchConfig = struct({
  gridDimX: u32,
  gridDimY: u32,
  gridDimZ: u32,
  blockDimX: u32,
  blockDimY: u32,
  blockDimZ: u32,
  sharedMemBytes: u32,
  hStream: u64,
  attrs: u64,
  numAttrs: u32,
});

/** One attribute of a launch; `value` is a union, of which numbers of 32 bits fill the start. */
export const CUlaunchAttribute = struct({ id: i32, pad: bytes(4), value: bytes(64) });
