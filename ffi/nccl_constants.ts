// The enumerators and macros of nccl.h, and its configuration.

import { i32, struct, u32, u64 } from "./struct.ts";

/** Statuses. */
export const ncclResult = {
  ncclSuccess: 0,
  ncclUnhandledCudaError: 1,
  ncclSystemError: 2,
  ncclInternalError: 3,
  ncclInvalidArgument: 4,
  ncclInvalidUsage: 5,
  ncclRemoteError: 6,
  ncclInProgress: 7,
} as const;

/** Element types. */
export const ncclDataType = {
  ncclInt8: 0,
  ncclUint8: 1,
  ncclInt32: 2,
  ncclUint32: 3,
  ncclInt64: 4,
  ncclUint64: 5,
  ncclFloat16: 6,
  ncclFloat32: 7,
  ncclFloat64: 8,
  ncclBfloat16: 9,
} as const;

/** Operations of reductions. */
export const ncclRedOp = {
  ncclSum: 0,
  ncclProd: 1,
  ncclMax: 2,
  ncclMin: 3,
  ncclAvg: 4,
} as const;

/** Bytes of the name under which ranks find each other. */
export const NCCL_UNIQUE_ID_BYTES = 128;

/** The word that tells a configuration from other bytes. */
export const NCCL_CONFIG_MAGIC = 0xcafebeef;

/** The start of a communicator's configuration, which all versions know; NCCL reads as much as `size` says. */
export const ncclConfig_t = struct({
  size: u64,
  magic: u32,
  version: u32,
  blocking: i32,
});
