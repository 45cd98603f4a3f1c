// The CUDA driver API as cuda.h declares it: one row per function, its C declaration above it.
// Handles, sizes and addresses are 64-bit integers; "buffer" is memory that the call reads or writes before it returns.

import { CU_IPC_HANDLE_SIZE } from "./constants.ts";

/** CUipcMemHandle and CUipcEventHandle: 64 bytes that C passes by value. */
const IPC_HANDLE: readonly "u8"[] = Array.from({ length: CU_IPC_HANDLE_SIZE }, () => "u8" as const);

/** The rest of the row of a function that older drivers lack. */
const OPTIONAL = { result: "i32", optional: true } as const;

/** The functions by which every program opens a device and moves arrays. */
const CORE = {
  // CUresult cuInit(unsigned int Flags)
  cuInit: { parameters: ["u32"], result: "i32" },
  // CUresult cuDriverGetVersion(int *driverVersion)
  cuDriverGetVersion: { parameters: ["buffer"], result: "i32" },
  // CUresult cuDeviceGet(CUdevice *device, int ordinal)
  cuDeviceGet: { parameters: ["buffer", "i32"], result: "i32" },
  // CUresult cuDeviceGetCount(int *count)
  cuDeviceGetCount: { parameters: ["buffer"], result: "i32" },
  // CUresult cuDeviceGetName(char *name, int len, CUdevice dev)
  cuDeviceGetName: { parameters: ["buffer", "i32", "i32"], result: "i32" },
  // CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice dev)
  cuDeviceGetUuid_v2: { parameters: ["buffer", "i32"], result: "i32" },
  // CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev)
  cuDeviceTotalMem_v2: { parameters: ["buffer", "i32"], result: "i32" },
  // CUresult cuDeviceGetAttribute(int *pi, CUdevice_attribute attrib, CUdevice dev)
  cuDeviceGetAttribute: { parameters: ["buffer", "i32", "i32"], result: "i32" },
  // CUresult cuDeviceGetPCIBusId(char *pciBusId, int len, CUdevice dev)
  cuDeviceGetPCIBusId: { parameters: ["buffer", "i32", "i32"], result: "i32" },
  // CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool_out, CUdevice dev)
  cuDeviceGetDefaultMemPool: { parameters: ["buffer", "i32"], result: "i32" },
  // CUresult cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev)
  cuDevicePrimaryCtxRetain: { parameters: ["buffer", "i32"], result: "i32" },
  // CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev)
  cuDevicePrimaryCtxRelease_v2: { parameters: ["i32"], result: "i32" },
  // CUresult cuCtxSetCurrent(CUcontext ctx)
  cuCtxSetCurrent: { parameters: ["u64"], result: "i32" },
  // CUresult cuCtxGetCurrent(CUcontext *pctx)
  cuCtxGetCurrent: { parameters: ["buffer"], result: "i32" },
  // CUresult cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream hStream)
  cuMemAllocAsync: { parameters: ["buffer", "usize", "u64"], result: "i32" },
  // CUresult cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream)
  cuMemFreeAsync: { parameters: ["u64", "u64"], result: "i32" },
  // CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount, CUstream hStream)
  cuMemcpyHtoDAsync_v2: { parameters: ["u64", "buffer", "usize", "u64"], result: "i32" },
  // CUresult cuMemcpyDtoHAsync_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream)
  cuMemcpyDtoHAsync_v2: { parameters: ["buffer", "u64", "usize", "u64"], result: "i32" },
  // CUresult cuStreamCreateWithPriority(CUstream *phStream, unsigned int flags, int priority)
  cuStreamCreateWithPriority: { parameters: ["buffer", "u32", "i32"], result: "i32" },
  // CUresult cuStreamDestroy_v2(CUstream hStream)
  cuStreamDestroy_v2: { parameters: ["u64"], result: "i32" },
  // CUresult cuStreamQuery(CUstream hStream)
  cuStreamQuery: { parameters: ["u64"], result: "i32" },
  // CUresult cuStreamSynchronize(CUstream hStream)
  cuStreamSynchronize: { parameters: ["u64"], result: "i32" },
} as const satisfies Deno.ForeignLibraryInterface;

/** Contexts, events and what waits for them, and words for a status. */
const ORDER = {
  // CUresult cuGetErrorString(CUresult error, const char **pStr)
  cuGetErrorString: { parameters: ["i32", "buffer"], result: "i32" },
  // CUresult cuCtxPushCurrent_v2(CUcontext ctx)
  cuCtxPushCurrent_v2: { parameters: ["u64"], result: "i32" },
  // CUresult cuCtxPopCurrent_v2(CUcontext *pctx)
  cuCtxPopCurrent_v2: { parameters: ["buffer"], result: "i32" },
  // CUresult cuCtxSynchronize(void)
  cuCtxSynchronize: { parameters: [], result: "i32" },
  // CUresult cuCtxGetStreamPriorityRange(int *leastPriority, int *greatestPriority)
  cuCtxGetStreamPriorityRange: { parameters: ["buffer", "buffer"], result: "i32" },
  // CUresult cuStreamWaitEvent(CUstream hStream, CUevent hEvent, unsigned int Flags)
  cuStreamWaitEvent: { parameters: ["u64", "u64", "u32"], result: "i32" },
  // CUresult cuEventCreate(CUevent *phEvent, unsigned int Flags)
  cuEventCreate: { parameters: ["buffer", "u32"], result: "i32" },
  // CUresult cuEventDestroy_v2(CUevent hEvent)
  cuEventDestroy_v2: { parameters: ["u64"], result: "i32" },
  // CUresult cuEventRecord(CUevent hEvent, CUstream hStream)
  cuEventRecord: { parameters: ["u64", "u64"], result: "i32" },
  // CUresult cuEventQuery(CUevent hEvent)
  cuEventQuery: { parameters: ["u64"], result: "i32" },
  // CUresult cuEventSynchronize(CUevent hEvent)
  cuEventSynchronize: { parameters: ["u64"], result: "i32" },
  // CUresult cuEventElapsedTime(float *pMilliseconds, CUevent hStart, CUevent hEnd)
  cuEventElapsedTime: { parameters: ["buffer", "u64", "u64"], result: "i32" },
} as const satisfies Deno.ForeignLibraryInterface;

/** Device memory and page-locked memory of their own calls, copies between them, and fills. */
const PLAIN_MEMORY = {
  // CUresult cuMemGetInfo_v2(size_t *free, size_t *total)
  cuMemGetInfo_v2: { parameters: ["buffer", "buffer"], result: "i32" },
  // CUresult cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize)
  cuMemAlloc_v2: { parameters: ["buffer", "usize"], result: "i32" },
  // CUresult cuMemFree_v2(CUdeviceptr dptr)
  cuMemFree_v2: { parameters: ["u64"], result: "i32" },
  // CUresult cuMemHostAlloc(void **pp, size_t bytesize, unsigned int Flags)
  cuMemHostAlloc: { parameters: ["buffer", "usize", "u32"], result: "i32" },
  // CUresult cuMemFreeHost(void *p)
  cuMemFreeHost: { parameters: ["u64"], result: "i32" },
  // CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream)
  cuMemcpyAsync: { parameters: ["u64", "u64", "usize", "u64"], result: "i32" },
  // CUresult cuMemsetD8Async(CUdeviceptr dstDevice, unsigned char uc, size_t N, CUstream hStream)
  cuMemsetD8Async: { parameters: ["u64", "u8", "usize", "u64"], result: "i32" },
  // CUresult cuMemsetD16Async(CUdeviceptr dstDevice, unsigned short us, size_t N, CUstream hStream)
  cuMemsetD16Async: { parameters: ["u64", "u16", "usize", "u64"], result: "i32" },
  // CUresult cuMemsetD32Async(CUdeviceptr dstDevice, unsigned int ui, size_t N, CUstream hStream)
  cuMemsetD32Async: { parameters: ["u64", "u32", "usize", "u64"], result: "i32" },
} as const satisfies Deno.ForeignLibraryInterface;

/** The waiting calls once more, run off the JavaScript thread; they need no current context. */
const WAITING = {
  // CUresult cuStreamSynchronize(CUstream hStream)
  cuStreamSynchronizeNonblocking: {
    name: "cuStreamSynchronize",
    parameters: ["u64"],
    result: "i32",
    nonblocking: true,
  },
  // CUresult cuEventSynchronize(CUevent hEvent)
  cuEventSynchronizeNonblocking: {
    name: "cuEventSynchronize",
    parameters: ["u64"],
    result: "i32",
    nonblocking: true,
  },
} as const satisfies Deno.ForeignLibraryInterface;

/** Host memory the GPU reads in place, and memory that migrates. */
const SHARED_MEMORY = {
  // CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *pdptr, void *p, unsigned int Flags)
  cuMemHostGetDevicePointer_v2: { parameters: ["buffer", "u64", "u32"], result: "i32" },
  // CUresult cuMemHostGetFlags(unsigned int *pFlags, void *p)
  cuMemHostGetFlags: { parameters: ["buffer", "u64"], result: "i32" },
  // CUresult cuMemHostRegister_v2(void *p, size_t bytesize, unsigned int Flags)
  cuMemHostRegister_v2: { parameters: ["u64", "usize", "u32"], result: "i32" },
  // CUresult cuMemHostUnregister(void *p)
  cuMemHostUnregister: { parameters: ["u64"], result: "i32" },
  // CUresult cuMemAllocManaged(CUdeviceptr *dptr, size_t bytesize, unsigned int flags)
  cuMemAllocManaged: { parameters: ["buffer", "usize", "u32"], result: "i32" },
  // CUresult cuMemAdvise(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device)
  cuMemAdvise: { parameters: ["u64", "usize", "i32", "i32"], result: "i32" },
  // CUresult cuMemPrefetchAsync(CUdeviceptr devPtr, size_t count, CUdevice dstDevice, CUstream hStream)
  cuMemPrefetchAsync: { parameters: ["u64", "usize", "i32", "u64"], result: "i32" },
  // CUresult cuMemRangeGetAttribute(void *data, size_t dataSize, CUmem_range_attribute attribute, CUdeviceptr devPtr, size_t count)
  cuMemRangeGetAttribute: { parameters: ["buffer", "usize", "i32", "u64", "usize"], result: "i32" },
  // CUresult cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count, CUmemLocation *prefetchLocs, size_t *prefetchLocIdxs, size_t numPrefetchLocs, unsigned long long flags, CUstream hStream)
  cuMemDiscardAndPrefetchBatchAsync: {
    parameters: ["buffer", "buffer", "usize", "buffer", "buffer", "usize", "u64", "u64"],
    ...OPTIONAL,
  },
  // CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr)
  cuPointerGetAttribute: { parameters: ["buffer", "i32", "u64"], result: "i32" },
  // CUresult cuMemGetAddressRange_v2(CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr)
  cuMemGetAddressRange_v2: { parameters: ["buffer", "buffer", "u64"], result: "i32" },
} as const satisfies Deno.ForeignLibraryInterface;

/** Stream-ordered memory pools. */
const POOLS = {
  // CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep)
  cuMemPoolTrimTo: { parameters: ["u64", "usize"], result: "i32" },
  // CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
  cuMemPoolSetAttribute: { parameters: ["u64", "i32", "buffer"], result: "i32" },
  // CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
  cuMemPoolGetAttribute: { parameters: ["u64", "i32", "buffer"], result: "i32" },
  // CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map, size_t count)
  cuMemPoolSetAccess: { parameters: ["u64", "buffer", "usize"], result: "i32" },
  // CUresult cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool memPool, CUmemLocation *location)
  cuMemPoolGetAccess: { parameters: ["buffer", "u64", "buffer"], result: "i32" },
  // CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *poolProps)
  cuMemPoolCreate: { parameters: ["buffer", "buffer"], result: "i32" },
  // CUresult cuMemPoolDestroy(CUmemoryPool pool)
  cuMemPoolDestroy: { parameters: ["u64"], result: "i32" },
  // CUresult cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool, CUstream hStream)
  cuMemAllocFromPoolAsync: { parameters: ["buffer", "usize", "u64", "u64"], result: "i32" },
} as const satisfies Deno.ForeignLibraryInterface;

/** Virtual memory: addresses reserved first, physical memory mapped later. */
const VIRTUAL_MEMORY = {
  // CUresult cuMemAddressReserve(CUdeviceptr *ptr, size_t size, size_t alignment, CUdeviceptr addr, unsigned long long flags)
  cuMemAddressReserve: { parameters: ["buffer", "usize", "usize", "u64", "u64"], result: "i32" },
  // CUresult cuMemAddressFree(CUdeviceptr ptr, size_t size)
  cuMemAddressFree: { parameters: ["u64", "usize"], result: "i32" },
  // CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size, const CUmemAllocationProp *prop, unsigned long long flags)
  cuMemCreate: { parameters: ["buffer", "usize", "buffer", "u64"], result: "i32" },
  // CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
  cuMemRelease: { parameters: ["u64"], result: "i32" },
  // CUresult cuMemMap(CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle, unsigned long long flags)
  cuMemMap: { parameters: ["u64", "usize", "usize", "u64", "u64"], result: "i32" },
  // CUresult cuMemUnmap(CUdeviceptr ptr, size_t size)
  cuMemUnmap: { parameters: ["u64", "usize"], result: "i32" },
  // CUresult cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc, size_t count)
  cuMemSetAccess: { parameters: ["u64", "usize", "buffer", "usize"], result: "i32" },
  // CUresult cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop, CUmemAllocationGranularity_flags option)
  cuMemGetAllocationGranularity: { parameters: ["buffer", "buffer", "i32"], result: "i32" },
} as const satisfies Deno.ForeignLibraryInterface;

/** Copies with pitches, between devices and in batches; rectangular fills; the latch on a stream. */
const SHAPED_COPIES = {
  // CUresult cuMemAllocPitch_v2(CUdeviceptr *dptr, size_t *pPitch, size_t WidthInBytes, size_t Height, unsigned int ElementSizeBytes)
  cuMemAllocPitch_v2: { parameters: ["buffer", "buffer", "usize", "usize", "u32"], result: "i32" },
  // CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *pCopy, CUstream hStream)
  cuMemcpy2DAsync_v2: { parameters: ["buffer", "u64"], result: "i32" },
  // CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *pCopy, CUstream hStream)
  cuMemcpy3DAsync_v2: { parameters: ["buffer", "u64"], result: "i32" },
  // CUresult cuMemcpyPeerAsync(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext srcContext, size_t ByteCount, CUstream hStream)
  cuMemcpyPeerAsync: { parameters: ["u64", "u64", "u64", "u64", "usize", "u64"], result: "i32" },
  // CUresult cuMemcpyBatchAsync(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count, CUmemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs, size_t *failIdx, CUstream hStream)
  cuMemcpyBatchAsync: {
    parameters: [
      "buffer",
      "buffer",
      "buffer",
      "usize",
      "buffer",
      "buffer",
      "usize",
      "buffer",
      "u64",
    ],
    ...OPTIONAL,
  },
  // CUresult cuMemsetD2D8Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width, size_t Height, CUstream hStream)
  cuMemsetD2D8Async: { parameters: ["u64", "usize", "u8", "usize", "usize", "u64"], result: "i32" },
  // CUresult cuMemsetD2D16Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t Height, CUstream hStream)
  cuMemsetD2D16Async: {
    parameters: ["u64", "usize", "u16", "usize", "usize", "u64"],
    result: "i32",
  },
  // CUresult cuMemsetD2D32Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width, size_t Height, CUstream hStream)
  cuMemsetD2D32Async: {
    parameters: ["u64", "usize", "u32", "usize", "usize", "u64"],
    result: "i32",
  },
  // CUresult cuDeviceCanAccessPeer(int *canAccessPeer, CUdevice dev, CUdevice peerDev)
  cuDeviceCanAccessPeer: { parameters: ["buffer", "i32", "i32"], result: "i32" },
  // CUresult cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attrib, CUdevice srcDevice, CUdevice dstDevice)
  cuDeviceGetP2PAttribute: { parameters: ["buffer", "u32", "i32", "i32"], result: "i32" },
  // CUresult cuCtxEnablePeerAccess(CUcontext peerContext, unsigned int Flags)
  cuCtxEnablePeerAccess: { parameters: ["u64", "u32"], result: "i32" },
  // CUresult cuCtxDisablePeerAccess(CUcontext peerContext)
  cuCtxDisablePeerAccess: { parameters: ["u64"], result: "i32" },
  // CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned int flags)
  cuStreamWaitValue32_v2: { parameters: ["u64", "u64", "u32", "u32"], ...OPTIONAL },
} as const satisfies Deno.ForeignLibraryInterface;

/** Work that is recorded once and launched as a whole, and the memory that it allocates. */
const GRAPHS = {
  // CUresult cuStreamBeginCapture_v2(CUstream hStream, CUstreamCaptureMode mode)
  cuStreamBeginCapture_v2: { parameters: ["u64", "i32"], result: "i32" },
  // CUresult cuStreamEndCapture(CUstream hStream, CUgraph *phGraph)
  cuStreamEndCapture: { parameters: ["u64", "buffer"], result: "i32" },
  // CUresult cuGraphKernelNodeGetParams(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS *nodeParams)
  cuGraphKernelNodeGetParams_v2: { parameters: ["u64", "buffer"], ...OPTIONAL },
  // CUresult cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType *type)
  cuGraphNodeGetType: { parameters: ["u64", "buffer"], result: "i32" },
  // CUresult cuGraphGetNodes(CUgraph hGraph, CUgraphNode *nodes, size_t *numNodes)
  cuGraphGetNodes: { parameters: ["u64", "buffer", "buffer"], result: "i32" },
  // CUresult cuGraphInstantiateWithFlags(CUgraphExec *phGraphExec, CUgraph hGraph, unsigned long long flags)
  cuGraphInstantiateWithFlags: { parameters: ["buffer", "u64", "u64"], result: "i32" },
  // CUresult cuGraphLaunch(CUgraphExec hGraphExec, CUstream hStream)
  cuGraphLaunch: { parameters: ["u64", "u64"], result: "i32" },
  // CUresult cuGraphDestroy(CUgraph hGraph)
  cuGraphDestroy: { parameters: ["u64"], result: "i32" },
  // CUresult cuGraphExecDestroy(CUgraphExec hGraphExec)
  cuGraphExecDestroy: { parameters: ["u64"], result: "i32" },
  // CUresult cuGraphExecUpdate(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphExecUpdateResultInfo *resultInfo)
  cuGraphExecUpdate_v2: { parameters: ["u64", "u64", "buffer"], ...OPTIONAL },
  // CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr, void *value)
  cuDeviceGetGraphMemAttribute: { parameters: ["i32", "i32", "buffer"], result: "i32" },
  // CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr, void *value)
  cuDeviceSetGraphMemAttribute: { parameters: ["i32", "i32", "buffer"], result: "i32" },
  // CUresult cuDeviceGraphMemTrim(CUdevice device)
  cuDeviceGraphMemTrim: { parameters: ["i32"], result: "i32" },
} as const satisfies Deno.ForeignLibraryInterface;

/** Modules and libraries of kernels, launches and host callbacks. */
const KERNELS = {
  // CUresult cuModuleLoadData(CUmodule *module, const void *image)
  cuModuleLoadData: { parameters: ["buffer", "buffer"], result: "i32" },
  // CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int numOptions, CUjit_option *options, void **optionValues)
  cuModuleLoadDataEx: {
    parameters: ["buffer", "buffer", "u32", "buffer", "buffer"],
    result: "i32",
  },
  // CUresult cuModuleUnload(CUmodule hmod)
  cuModuleUnload: { parameters: ["u64"], result: "i32" },
  // CUresult cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod, const char *name)
  cuModuleGetFunction: { parameters: ["buffer", "u64", "buffer"], result: "i32" },
  // CUresult cuModuleGetGlobal_v2(CUdeviceptr *dptr, size_t *bytes, CUmodule hmod, const char *name)
  cuModuleGetGlobal_v2: { parameters: ["buffer", "buffer", "u64", "buffer"], result: "i32" },
  // CUresult cuLinkCreate_v2(unsigned int numOptions, CUjit_option *options, void **optionValues, CUlinkState *stateOut)
  cuLinkCreate_v2: { parameters: ["u32", "buffer", "buffer", "buffer"], result: "i32" },
  // CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t size, const char *name, unsigned int numOptions, CUjit_option *options, void **optionValues)
  cuLinkAddData_v2: {
    parameters: ["u64", "i32", "buffer", "usize", "buffer", "u32", "buffer", "buffer"],
    result: "i32",
  },
  // CUresult cuLinkComplete(CUlinkState state, void **cubinOut, size_t *sizeOut)
  cuLinkComplete: { parameters: ["u64", "buffer", "buffer"], result: "i32" },
  // CUresult cuLinkDestroy(CUlinkState state)
  cuLinkDestroy: { parameters: ["u64"], result: "i32" },
  // CUresult cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jitOptions, void **jitOptionsValues, unsigned int numJitOptions, CUlibraryOption *libraryOptions, void** libraryOptionValues, unsigned int numLibraryOptions)
  cuLibraryLoadData: {
    parameters: ["buffer", "buffer", "buffer", "buffer", "u32", "buffer", "buffer", "u32"],
    ...OPTIONAL,
  },
  // CUresult cuLibraryUnload(CUlibrary library)
  cuLibraryUnload: { parameters: ["u64"], ...OPTIONAL },
  // CUresult cuLibraryGetKernel(CUkernel *pKernel, CUlibrary library, const char *name)
  cuLibraryGetKernel: { parameters: ["buffer", "u64", "buffer"], ...OPTIONAL },
  // CUresult cuKernelGetFunction(CUfunction *pFunc, CUkernel kernel)
  cuKernelGetFunction: { parameters: ["buffer", "u64"], ...OPTIONAL },
  // CUresult cuLibraryGetGlobal(CUdeviceptr *dptr, size_t *bytes, CUlibrary library, const char *name)
  cuLibraryGetGlobal: { parameters: ["buffer", "buffer", "u64", "buffer"], ...OPTIONAL },
  // CUresult cuFuncGetAttribute(int *pi, CUfunction_attribute attrib, CUfunction hfunc)
  cuFuncGetAttribute: { parameters: ["buffer", "i32", "u64"], result: "i32" },
  // CUresult cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value)
  cuFuncSetAttribute: { parameters: ["u64", "i32", "i32"], result: "i32" },
  // CUresult cuFuncGetParamInfo(CUfunction func, size_t paramIndex, size_t *paramOffset, size_t *paramSize)
  cuFuncGetParamInfo: { parameters: ["u64", "usize", "buffer", "buffer"], ...OPTIONAL },
  // CUresult cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream, void **kernelParams, void **extra)
  cuLaunchKernel: {
    parameters: ["u64", "u32", "u32", "u32", "u32", "u32", "u32", "u32", "u64", "buffer", "buffer"],
    result: "i32",
  },
  // CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **kernelParams, void **extra)
  cuLaunchKernelEx: { parameters: ["buffer", "u64", "buffer", "buffer"], ...OPTIONAL },
  // CUresult cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void *userData)
  cuLaunchHostFunc: { parameters: ["u64", "function", "u64"], result: "i32" },
  // CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, CUfunction func, int blockSize, size_t dynamicSMemSize)
  cuOccupancyMaxActiveBlocksPerMultiprocessor: {
    parameters: ["buffer", "u64", "i32", "usize"],
    result: "i32",
  },
  // CUresult cuOccupancyMaxPotentialBlockSize(int *minGridSize, int *blockSize, CUfunction func, CUoccupancyB2DSize blockSizeToDynamicSMemSize, size_t dynamicSMemSize, int blockSizeLimit)
  cuOccupancyMaxPotentialBlockSize: {
    parameters: ["buffer", "buffer", "u64", "function", "usize", "i32"],
    result: "i32",
  },
} as const satisfies Deno.ForeignLibraryInterface;

/** Memory and events that another process opens. */
const SHARING = {
  // CUresult cuMemPoolExportToShareableHandle(void *handle_out, CUmemoryPool pool, CUmemAllocationHandleType handleType, unsigned long long flags)
  cuMemPoolExportToShareableHandle: { parameters: ["buffer", "u64", "i32", "u64"], result: "i32" },
  // CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool *pool_out, void *handle, CUmemAllocationHandleType handleType, unsigned long long flags)
  cuMemPoolImportFromShareableHandle: {
    parameters: ["buffer", "u64", "i32", "u64"],
    result: "i32",
  },
  // CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData *shareData_out, CUdeviceptr ptr)
  cuMemPoolExportPointer: { parameters: ["buffer", "u64"], result: "i32" },
  // CUresult cuMemPoolImportPointer(CUdeviceptr *ptr_out, CUmemoryPool pool, CUmemPoolPtrExportData *shareData)
  cuMemPoolImportPointer: { parameters: ["buffer", "u64", "buffer"], result: "i32" },
  // CUresult cuMemExportToShareableHandle(void *shareableHandle, CUmemGenericAllocationHandle handle, CUmemAllocationHandleType handleType, unsigned long long flags)
  cuMemExportToShareableHandle: { parameters: ["buffer", "u64", "i32", "u64"], result: "i32" },
  // CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *osHandle, CUmemAllocationHandleType shHandleType)
  cuMemImportFromShareableHandle: { parameters: ["buffer", "u64", "i32"], result: "i32" },
  // CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *addr)
  cuMemRetainAllocationHandle: { parameters: ["buffer", "u64"], result: "i32" },
  // CUresult cuIpcGetMemHandle(CUipcMemHandle *pHandle, CUdeviceptr dptr)
  cuIpcGetMemHandle: { parameters: ["buffer", "u64"], result: "i32" },
  // CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int Flags)
  cuIpcOpenMemHandle_v2: { parameters: ["buffer", { struct: IPC_HANDLE }, "u32"], result: "i32" },
  // CUresult cuIpcCloseMemHandle(CUdeviceptr dptr)
  cuIpcCloseMemHandle: { parameters: ["u64"], result: "i32" },
  // CUresult cuIpcGetEventHandle(CUipcEventHandle *pHandle, CUevent event)
  cuIpcGetEventHandle: { parameters: ["buffer", "u64"], result: "i32" },
  // CUresult cuIpcOpenEventHandle(CUevent *phEvent, CUipcEventHandle handle)
  cuIpcOpenEventHandle: { parameters: ["buffer", { struct: IPC_HANDLE }], result: "i32" },
} as const satisfies Deno.ForeignLibraryInterface;

/** The function tables: the first is bound when the library is opened. */
export const CUDA_GROUPS = [
  CORE,
  ORDER,
  PLAIN_MEMORY,
  WAITING,
  SHARED_MEMORY,
  POOLS,
  VIRTUAL_MEMORY,
  SHAPED_COPIES,
  GRAPHS,
  KERNELS,
  SHARING,
] as const;

/** All functions in one table. */
export const CUDA = {
  ...CORE,
  ...ORDER,
  ...PLAIN_MEMORY,
  ...WAITING,
  ...SHARED_MEMORY,
  ...POOLS,
  ...VIRTUAL_MEMORY,
  ...SHAPED_COPIES,
  ...GRAPHS,
  ...KERNELS,
  ...SHARING,
} as const satisfies Deno.ForeignLibraryInterface;

/**
 * The driver API as callable functions; an optional one that this driver lacks is null.
 *
 * @internal
 */
export type DriverApi = Deno.DynamicLibrary<typeof CUDA>["symbols"];

/** Name of a driver function. */
export type DriverFunction = keyof DriverApi;

/** The driver release that brought each optional function, as CUDA's version number. */
export const CUDA_SINCE: Partial<Record<DriverFunction, string>> = {
  cuMemcpyBatchAsync: "12.8",
  cuMemDiscardAndPrefetchBatchAsync: "13.0",
  cuStreamWaitValue32_v2: "11.7",
  cuGraphKernelNodeGetParams_v2: "12.0",
  cuGraphExecUpdate_v2: "12.0",
  cuLibraryLoadData: "12.0",
  cuLibraryUnload: "12.0",
  cuLibraryGetKernel: "12.0",
  cuKernelGetFunction: "12.0",
  cuLibraryGetGlobal: "12.0",
  cuFuncGetParamInfo: "12.4",
  cuLaunchKernelEx: "11.8",
};
