// What the parameters of every driver function mean to a recording: which receive something and of
// what kind, which are structs, which names a stream, and whose life a success ends.

import { CUmemPool_attribute, CUpointer_attribute as P } from "../../../ffi/constants.ts";
import type { DriverFunction } from "../../../ffi/cuda.ts";
import type { Members, Struct } from "../../../ffi/struct.ts";
import {
  CUDA_MEMCPY2D,
  CUDA_MEMCPY3D,
  CUlaunchConfig,
  CUmemAccessDesc,
  CUmemAllocationProp,
  CUmemcpyAttributes,
  CUmemLocation,
  CUmemPoolProps,
  CUmemPoolPtrExportData,
} from "../../../ffi/structs.ts";

/** The kind of thing that a name stands for. */
export type ThingKind =
  | "context"
  | "stream"
  | "event"
  | "device"
  | "pooled"
  | "pinned"
  | "managed"
  | "array"
  | "memoryPool"
  | "reservation"
  | "physical"
  | "graph"
  | "exec"
  | "node"
  | "module"
  | "library"
  | "link"
  | "kernel"
  | "function"
  | "ipc";

/** The kind of value that a parameter receives. */
export type Output =
  /** Something new, with its size where it has one. */
  | { readonly makes: ThingKind; readonly bytes?: (words: readonly string[]) => number }
  /** A handle of something known. */
  | "handle"
  /** An address in something known. */
  | "address"
  /** A number of 64 bits. */
  | "u64"
  /** A number of 32 bits. */
  | "i32"
  /** Numbers of 32 bits, as many as the next argument has bytes for. */
  | "i32s"
  /** A value that differs between machines or runs: only whether it was written is kept. */
  | "machine";

/** Facts about one function. */
export interface FunctionFacts {
  /** The values that parameters receive, by place. */
  readonly outputs?: Readonly<
    Record<number, Output | ((words: readonly string[]) => Output | undefined)>
  >;
  /** Parameters that receive something also when the call is refused. */
  readonly always?: readonly number[];
  /** Types of structs, by place. */
  readonly structs?: Readonly<Record<number, Struct<Members>>>;
  /** Place of the stream that gets work. */
  readonly stream?: number;
  /** Place of the thing whose life a success ends. */
  readonly ends?: number;
}

const sizeAt = (place: number) => (words: readonly string[]) => Number(words[place]);

function pointerOutput(words: readonly string[]): Output {
  switch (Number(words[1])) {
    case P.CU_POINTER_ATTRIBUTE_CONTEXT:
    case P.CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return "handle";
    case P.CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case P.CU_POINTER_ATTRIBUTE_HOST_POINTER:
    case P.CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      return "address";
    case P.CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      return "u64";
    case P.CU_POINTER_ATTRIBUTE_BUFFER_ID:
      return "machine";
    default:
      return "i32";
  }
}

function poolOutput(words: readonly string[]): Output {
  return Number(words[1]) < CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD ? "i32" : "u64";
}

/** Facts about every function of the table. */
export const FUNCTIONS: Readonly<Record<DriverFunction, FunctionFacts>> = {
  cuGetErrorString: { outputs: { 1: "machine" } },
  cuInit: {},
  cuDriverGetVersion: { outputs: { 0: "machine" } },
  cuDeviceGet: { outputs: { 0: "i32" } },
  cuDeviceGetCount: { outputs: { 0: "i32" } },
  cuDeviceGetName: { outputs: { 0: "machine" } },
  cuDeviceGetUuid_v2: { outputs: { 0: "machine" } },
  cuDeviceTotalMem_v2: { outputs: { 0: "machine" } },
  cuDeviceGetAttribute: { outputs: { 0: "machine" } },
  cuDeviceGetPCIBusId: { outputs: { 0: "machine" } },
  cuDeviceGetDefaultMemPool: { outputs: { 0: "handle" } },
  cuDevicePrimaryCtxRetain: { outputs: { 0: { makes: "context" } } },
  cuDevicePrimaryCtxRelease_v2: {},
  cuCtxPushCurrent_v2: {},
  cuCtxPopCurrent_v2: { outputs: { 0: "handle" } },
  cuCtxSetCurrent: {},
  cuCtxGetCurrent: { outputs: { 0: "handle" } },
  cuCtxSynchronize: {},
  cuCtxGetStreamPriorityRange: { outputs: { 0: "i32", 1: "i32" } },
  cuMemGetInfo_v2: { outputs: { 0: "machine", 1: "machine" } },
  cuMemAlloc_v2: { outputs: { 0: { makes: "device", bytes: sizeAt(1) } } },
  cuMemFree_v2: { ends: 0 },
  cuMemHostAlloc: { outputs: { 0: { makes: "pinned", bytes: sizeAt(1) } } },
  cuMemFreeHost: { ends: 0 },
  cuMemAllocAsync: { outputs: { 0: { makes: "pooled", bytes: sizeAt(1) } }, stream: 2 },
  cuMemFreeAsync: { ends: 0, stream: 1 },
  cuMemcpyHtoDAsync_v2: { stream: 3 },
  cuMemcpyDtoHAsync_v2: { stream: 3 },
  cuMemcpyAsync: { stream: 3 },
  cuMemsetD8Async: { stream: 3 },
  cuMemsetD16Async: { stream: 3 },
  cuMemsetD32Async: { stream: 3 },
  cuStreamCreateWithPriority: { outputs: { 0: { makes: "stream" } } },
  cuStreamDestroy_v2: { ends: 0 },
  cuStreamQuery: {},
  cuStreamSynchronize: {},
  cuStreamWaitEvent: { stream: 0 },
  cuEventCreate: { outputs: { 0: { makes: "event" } } },
  cuEventDestroy_v2: { ends: 0 },
  cuEventRecord: { stream: 1 },
  cuEventQuery: {},
  cuEventSynchronize: {},
  cuEventElapsedTime: { outputs: { 0: "machine" } },
  cuStreamSynchronizeNonblocking: {},
  cuEventSynchronizeNonblocking: {},
  cuMemHostGetDevicePointer_v2: { outputs: { 0: "address" } },
  cuMemHostGetFlags: { outputs: { 0: "i32" } },
  cuMemHostRegister_v2: {},
  cuMemHostUnregister: { ends: 0 },
  cuMemAllocManaged: { outputs: { 0: { makes: "managed", bytes: sizeAt(1) } } },
  cuMemAdvise: {},
  cuMemPrefetchAsync: { stream: 3 },
  cuMemRangeGetAttribute: { outputs: { 0: "i32s" } },
  cuMemDiscardAndPrefetchBatchAsync: { structs: { 3: CUmemLocation }, stream: 7 },
  cuPointerGetAttribute: { outputs: { 0: pointerOutput } },
  cuMemGetAddressRange_v2: { outputs: { 0: "address", 1: "u64" } },
  cuMemPoolTrimTo: {},
  cuMemPoolSetAttribute: {},
  cuMemPoolGetAttribute: { outputs: { 2: poolOutput } },
  cuMemPoolSetAccess: { structs: { 1: CUmemAccessDesc } },
  cuMemPoolGetAccess: { outputs: { 0: "i32" }, structs: { 2: CUmemLocation } },
  cuMemPoolCreate: { outputs: { 0: { makes: "memoryPool" } }, structs: { 1: CUmemPoolProps } },
  cuMemPoolDestroy: { ends: 0 },
  cuMemAllocFromPoolAsync: { outputs: { 0: { makes: "pooled", bytes: sizeAt(1) } }, stream: 3 },
  cuMemAddressReserve: { outputs: { 0: { makes: "reservation", bytes: sizeAt(1) } } },
  cuMemAddressFree: { ends: 0 },
  cuMemCreate: {
    outputs: { 0: { makes: "physical", bytes: sizeAt(1) } },
    structs: { 2: CUmemAllocationProp },
  },
  cuMemRelease: { ends: 0 },
  cuMemMap: {},
  cuMemUnmap: {},
  cuMemSetAccess: { structs: { 2: CUmemAccessDesc } },
  cuMemGetAllocationGranularity: { outputs: { 0: "u64" }, structs: { 1: CUmemAllocationProp } },
  cuMemAllocPitch_v2: { outputs: { 0: { makes: "device", bytes: pitchedBytes }, 1: "u64" } },
  cuMemcpy2DAsync_v2: { structs: { 0: CUDA_MEMCPY2D }, stream: 1 },
  cuMemcpy3DAsync_v2: { structs: { 0: CUDA_MEMCPY3D }, stream: 1 },
  cuMemcpyPeerAsync: { stream: 5 },
  cuMemcpyBatchAsync: {
    outputs: { 7: "u64" },
    always: [7],
    structs: { 4: CUmemcpyAttributes },
    stream: 8,
  },
  cuMemsetD2D8Async: { stream: 5 },
  cuMemsetD2D16Async: { stream: 5 },
  cuMemsetD2D32Async: { stream: 5 },
  cuDeviceCanAccessPeer: { outputs: { 0: "i32" } },
  cuDeviceGetP2PAttribute: { outputs: { 0: "i32" } },
  cuCtxEnablePeerAccess: {},
  cuCtxDisablePeerAccess: {},
  cuStreamWaitValue32_v2: { stream: 0 },
  cuStreamBeginCapture_v2: {},
  cuStreamEndCapture: { outputs: { 1: { makes: "graph" } }, always: [1] },
  cuGraphKernelNodeGetParams_v2: { outputs: { 1: "handle" } },
  cuGraphNodeGetType: { outputs: { 1: "i32" } },
  cuGraphGetNodes: {
    outputs: { 1: ([, node]) => node === "&" ? undefined : { makes: "node" }, 2: "u64" },
  },
  cuGraphInstantiateWithFlags: { outputs: { 0: { makes: "exec" } } },
  cuGraphLaunch: { stream: 1 },
  cuGraphDestroy: { ends: 0 },
  cuGraphExecDestroy: { ends: 0 },
  cuGraphExecUpdate_v2: { outputs: { 2: "i32" }, always: [2] },
  cuDeviceGetGraphMemAttribute: { outputs: { 2: "u64" } },
  cuDeviceSetGraphMemAttribute: {},
  cuDeviceGraphMemTrim: {},
  cuModuleLoadData: { outputs: { 0: { makes: "module" } } },
  cuModuleLoadDataEx: { outputs: { 0: { makes: "module" } } },
  cuModuleUnload: { ends: 0 },
  cuModuleGetFunction: { outputs: { 0: { makes: "function" } } },
  cuModuleGetGlobal_v2: { outputs: { 0: "machine", 1: "u64" } },
  cuLinkCreate_v2: { outputs: { 3: { makes: "link" } } },
  cuLinkAddData_v2: {},
  cuLinkComplete: { outputs: { 1: "machine", 2: "machine" } },
  cuLinkDestroy: { ends: 0 },
  cuLibraryLoadData: { outputs: { 0: { makes: "library" } } },
  cuLibraryUnload: { ends: 0 },
  cuLibraryGetKernel: { outputs: { 0: { makes: "kernel" } } },
  cuKernelGetFunction: { outputs: { 0: { makes: "function" } } },
  cuLibraryGetGlobal: { outputs: { 0: "machine", 1: "u64" } },
  cuFuncGetAttribute: { outputs: { 0: "machine" } },
  cuFuncSetAttribute: {},
  cuFuncGetParamInfo: { outputs: { 2: "u64", 3: "u64" } },
  cuLaunchKernel: { stream: 8 },
  cuLaunchKernelEx: { structs: { 0: CUlaunchConfig } },
  cuLaunchHostFunc: { stream: 0 },
  cuOccupancyMaxActiveBlocksPerMultiprocessor: { outputs: { 0: "machine" } },
  cuOccupancyMaxPotentialBlockSize: { outputs: { 0: "machine", 1: "machine" } },
  cuMemExportToShareableHandle: { outputs: { 0: "machine" } },
  cuMemImportFromShareableHandle: { outputs: { 0: { makes: "physical" } } },
  cuMemRetainAllocationHandle: { outputs: { 0: { makes: "physical" } } },
  cuMemPoolExportToShareableHandle: { outputs: { 0: "machine" } },
  cuMemPoolImportFromShareableHandle: { outputs: { 0: "machine" } },
  cuMemPoolExportPointer: { outputs: { 0: "machine" } },
  cuMemPoolImportPointer: {
    outputs: { 0: "machine" },
    structs: { 2: CUmemPoolPtrExportData },
  },
  cuIpcGetMemHandle: { outputs: { 0: { makes: "ipc" } } },
  cuIpcOpenMemHandle_v2: { outputs: { 0: "machine" } },
  cuIpcCloseMemHandle: {},
  cuIpcGetEventHandle: { outputs: { 0: { makes: "ipc" } } },
  cuIpcOpenEventHandle: { outputs: { 0: "machine" } },
};

/** Rows of pitched memory are 512 bytes apart for widths up to that, on every device so far. */
function pitchedBytes(words: readonly string[]): number {
  return Math.ceil(Number(words[2]) / 512) * 512 * Number(words[3]);
}
