// The structs and constants of DLPack, by which libraries of one process hand arrays to each other,
// member for member as in dlpack.h.

import { i32, struct, u16, u32, u64, u8 } from "./struct.ts";

/** The version of DLPack: layouts differ only between major versions. */
export const DLPackVersion = struct({ major: u32, minor: u32 });

/** Names a device: a kind, and a number among those of its kind. */
export const DLDevice = struct({ device_type: i32, device_id: i32 });

/** Describes an element; several lanes make a vector of it. */
export const DLDataType = struct({ code: u8, bits: u8, lanes: u16 });

/** Describes an array. Strides count elements. */
export const DLTensor = struct({
  data: u64,
  device: DLDevice,
  ndim: i32,
  dtype: DLDataType,
  shape: u64,
  strides: u64,
  byte_offset: u64,
});

/** An array and its deleter, as before version 1.0. */
export const DLManagedTensor = struct({ dl_tensor: DLTensor, manager_ctx: u64, deleter: u64 });

/** An array and its deleter, since version 1.0. */
export const DLManagedTensorVersioned = struct({
  version: DLPackVersion,
  manager_ctx: u64,
  deleter: u64,
  flags: u64,
  dl_tensor: DLTensor,
});

/** The version that this program writes; it reads every one with the same major number. */
export const DLPACK_VERSION = { major: 1, minor: 2 } as const;

/** Kinds of devices. */
export const DLDeviceType = {
  kDLCPU: 1,
  kDLCUDA: 2,
  kDLCUDAHost: 3,
  kDLOpenCL: 4,
  kDLVulkan: 7,
  kDLMetal: 8,
  kDLVPI: 9,
  kDLROCM: 10,
  kDLROCMHost: 11,
  kDLExtDev: 12,
  kDLCUDAManaged: 13,
  kDLOneAPI: 14,
  kDLWebGPU: 15,
  kDLHexagon: 16,
  kDLMAIA: 17,
  kDLTrn: 18,
} as const;

/** Kinds of elements. */
export const DLDataTypeCode = {
  kDLInt: 0,
  kDLUInt: 1,
  kDLFloat: 2,
  kDLOpaqueHandle: 3,
  kDLBfloat: 4,
  kDLComplex: 5,
  kDLBool: 6,
  kDLFloat8_e3m4: 7,
  kDLFloat8_e4m3: 8,
  kDLFloat8_e4m3b11fnuz: 9,
  kDLFloat8_e4m3fn: 10,
  kDLFloat8_e4m3fnuz: 11,
  kDLFloat8_e5m2: 12,
  kDLFloat8_e5m2fnuz: 13,
  kDLFloat8_e8m0fnu: 14,
  kDLFloat6_e2m3fn: 15,
  kDLFloat6_e3m2fn: 16,
  kDLFloat4_e2m1fn: 17,
} as const;

/** Facts about an array with a version. */
export const DLPACK_FLAG_BITMASK = {
  READ_ONLY: 1,
  IS_COPIED: 2,
  IS_SUBBYTE_TYPE_PADDED: 4,
} as const;
