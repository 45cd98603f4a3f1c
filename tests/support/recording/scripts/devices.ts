// What the driver says of devices, contexts, streams, events and other processes.

import { readScripts, type Script } from "./script.ts";

/** The scripts. */
export const DEVICE_SCRIPTS: readonly Script[] = readScripts(`
# questions before cuInit (fresh)
  cuDeviceGetCount & = 3
  cuDriverGetVersion & = 0 set
  cuGetErrorString 2 & = 0 set
  cuMemAlloc_v2 &a 256 = 3
  cuInit 1 = 1
  cuInit 0
  cuDeviceGetCount &
  cuMemAlloc_v2 &a 256 = 201

# an error without a text
  cuGetErrorString 12345 & = 1

# devices that do not exist
  cuDeviceGet & 0 = 0 0
  cuDeviceGet & 64 = 101
  cuDeviceGet & -1 = 101
  cuDeviceGetName & 64 64 = 101
  cuDeviceGetUuid_v2 & 64 = 101
  cuDeviceTotalMem_v2 & 64 = 101
  cuDeviceGetAttribute & 1 64 = 101
  cuDeviceGetPCIBusId & 64 64 = 101
  cuDeviceGetDefaultMemPool & 64 = 101
  cuDevicePrimaryCtxRetain &c 64 = 101
  cuDeviceCanAccessPeer & 0 64 = 101
  cuDeviceGetP2PAttribute & 2 0 64 = 101
  cuDeviceGetGraphMemAttribute 64 0 & = 101
  cuDeviceGraphMemTrim 64 = 101

# attributes by number
  cuDeviceGetAttribute & 1 0 = 0 set
  cuDeviceGetAttribute & 2 0 = 0 set
  cuDeviceGetAttribute & 3 0 = 0 set
  cuDeviceGetAttribute & 4 0 = 0 set
  cuDeviceGetAttribute & 5 0 = 0 set
  cuDeviceGetAttribute & 6 0 = 0 set
  cuDeviceGetAttribute & 7 0 = 0 set
  cuDeviceGetAttribute & 8 0 = 0 set
  cuDeviceGetAttribute & 10 0 = 0 set
  cuDeviceGetAttribute & 39 0 = 0 set
  cuDeviceGetAttribute & 41 0 = 0 set
  cuDeviceGetAttribute & 0 0 = 1
  cuDeviceGetAttribute & -1 0 = 1
  cuDeviceGetAttribute & 100000 0 = 1

# a bus address in memory of every size
  cuDeviceGetPCIBusId & 64 0 = 0 set
  cuDeviceGetPCIBusId & 13 0 = 0 set
  cuDeviceGetPCIBusId & 12 0 = 1
  cuDeviceGetPCIBusId & 1 0 = 1

# a name in memory of every size
  cuDeviceGetName & 64 0 = 0 set
  cuDeviceGetName & 4 0 = 0 set
  cuDeviceGetName & 1 0 = 0 set

# a name of 0 bytes (simulated)
  cuDeviceGetName & 0 0 = throws endsProcess

# a pool's attribute without a value (simulated)
  cuMemPoolSetAttribute pool0 4 null = throws endsProcess

# the current context
  cuCtxGetCurrent & = 0 ctx0
  cuCtxPushCurrent_v2 0 = 1
  cuCtxPushCurrent_v2 ctx0
  cuCtxPopCurrent_v2 & = 0 ctx0
  cuCtxSetCurrent 0
  cuCtxGetCurrent & = 0 null
  cuCtxPopCurrent_v2 & = 201
  cuCtxSetCurrent ctx0
  cuCtxGetStreamPriorityRange & & = 0 0 -5
  cuCtxGetStreamPriorityRange null null
  cuCtxGetCurrent null = 1

# waits for a context
  cuStreamCreateWithPriority &s 1 0
  cuCtxSynchronize
  cuStreamBeginCapture_v2 s 2
  cuCtxSynchronize = 900
  cuStreamEndCapture s &g = 901 null
  cuCtxSetCurrent 0
  cuCtxSynchronize = 201

# a second retain
  cuDevicePrimaryCtxRetain &c 0 = 0 ctx0
  cuDevicePrimaryCtxRetain null 0 = 1
  cuDevicePrimaryCtxRelease_v2 0

# a context that is released and retained again (fresh)
  cuInit 0
  cuDevicePrimaryCtxRetain &c 0 = 0 new
  cuCtxSetCurrent c
  cuMemAlloc_v2 &a 256
  cuDevicePrimaryCtxRelease_v2 0
  cuCtxGetCurrent & = 0 c
  cuMemAlloc_v2 &b 256 = 709
  cuDevicePrimaryCtxRetain &d 0 = 0 c
  cuMemAlloc_v2 &b 256
  cuMemFree_v2 b
  cuStreamCreateWithPriority &s 1 0
  cuStreamSynchronize s
  cuDevicePrimaryCtxRelease_v2 0

# a context that nobody retained (fresh)
  cuInit 0
  cuDevicePrimaryCtxRelease_v2 0 = 201

# a released context made current (fresh)
  cuInit 0
  cuDevicePrimaryCtxRetain &c 0
  cuDevicePrimaryCtxRelease_v2 0
  cuCtxSetCurrent c
  cuCtxPushCurrent_v2 c
  cuMemAlloc_v2 &a 256 = 709

# questions about memory without a context
  cuMemAlloc_v2 &a 256
  cuMemHostAlloc &p 4096 0
  cuMemAllocManaged &m 65536 1
  cuMemAllocAsync &b 256 0
  settle
  cuCtxSetCurrent 0
  cuPointerGetAttribute & 1 a = 0 ctx0
  cuPointerGetAttribute & 3 a = 201
  cuPointerGetAttribute & 3 p = 201
  cuPointerGetAttribute & 3 m = 201
  cuPointerGetAttribute & 3 b = 201
  cuPointerGetAttribute & 4 p = 0 p

# access of a context to itself
  cuCtxEnablePeerAccess ctx0 0 = 217
  cuCtxDisablePeerAccess ctx0 = 705
  cuCtxEnablePeerAccess 0 0 = 201
  cuDeviceCanAccessPeer & 0 0 = 0 0
  cuDeviceGetP2PAttribute & 2 0 0 = 101

# waits of another thread for default streams
  cuStreamSynchronizeNonblocking 0 = 201
  cuStreamSynchronizeNonblocking 1 = 201
  cuStreamSynchronizeNonblocking 2 = 201
  cuStreamCreateWithPriority &s 1 0
  cuStreamSynchronizeNonblocking s
  cuEventCreate &e 0
  cuEventSynchronizeNonblocking e
  cuEventRecord e s
  cuEventSynchronizeNonblocking e
  cuEventSynchronizeNonblocking 0 = 400
  cuStreamBeginCapture_v2 s 2
  cuEventRecord e s
  cuStreamSynchronizeNonblocking s = 900
  cuEventSynchronizeNonblocking e = 1
  cuStreamEndCapture s &g = 901 null
  cuEventSynchronizeNonblocking e = 1

# streams that cannot be made or destroyed
  cuStreamCreateWithPriority null 0 0 = 1
  cuStreamCreateWithPriority &s 2 0 = 1
  cuStreamCreateWithPriority &s 1 -100 = 0 new
  cuStreamDestroy_v2 0 = 400
  cuCtxSetCurrent 0
  cuStreamCreateWithPriority &u 0 0 = 201
  cuStreamQuery 0 = 201

# events with flags
  cuEventCreate &a 0
  cuEventCreate &b 7 = 0 new
  cuEventCreate &c 6
  cuEventCreate &d 4 = 1
  cuEventCreate &f 8 = 1
  cuEventCreate null 0 = 1
  cuEventRecord 0 0 = 400
  cuEventQuery 0 = 400
  cuEventSynchronize 0 = 400
  cuEventDestroy_v2 0 = 400
  cuEventElapsedTime & a a = 400
  cuEventQuery a

# times between events
  cuStreamCreateWithPriority &s 1 0
  cuEventCreate &a 0
  cuEventCreate &b 0
  cuEventCreate &c 2
  cuEventRecord a s
  cuEventRecord b s
  cuEventRecord c s
  cuStreamSynchronize s
  cuEventElapsedTime & a b = 0 set
  cuEventElapsedTime & a c = 400
  cuEventElapsedTime null a b = 400

# waits with flags
  cuStreamCreateWithPriority &s 1 0
  cuEventCreate &e 0
  cuStreamWaitEvent s e 0
  cuStreamWaitEvent s e 1 = 401
  cuStreamWaitEvent s e 2 = 1
  cuEventRecord e 0
  cuStreamWaitEvent s e 1 = 401
  cuStreamWaitEvent s 0 0 = 400

# a wait for an event from outside, recorded with flag 1 (simulated)
  cuStreamCreateWithPriority &s 1 0
  cuEventCreate &e 2
  cuEventRecord e 0
  cuStreamBeginCapture_v2 s 2
  cuStreamWaitEvent s e 1 = 1
  cuStreamEndCapture s &g = 0 new

# handles of events for other processes
  cuEventCreate &e 6
  cuEventCreate &f 2
  cuIpcGetEventHandle &h e = 0 new
  cuIpcGetEventHandle &i f = 400
  cuIpcGetEventHandle &i 0 = 1
  cuIpcOpenEventHandle & h = 201
  cuIpcOpenEventHandle & zeros = 205

# handles of memory for other processes
  cuMemAlloc_v2 &a 4096
  cuMemAllocAsync &b 4096 0
  cuMemHostAlloc &p 4096 0
  cuIpcGetMemHandle &h a = 0 new
  cuIpcGetMemHandle &i b = 1
  cuIpcGetMemHandle &i p = 1
  cuIpcGetMemHandle &i 0 = 1
  cuIpcOpenMemHandle_v2 & h 1 = 201
  cuIpcOpenMemHandle_v2 & zeros 1 = 1
  cuIpcCloseMemHandle a = 1
  cuIpcCloseMemHandle 0 = 1

# waits for a value
  cuStreamCreateWithPriority &s 1 0
  cuMemHostAlloc &p 4096 0
  cuMemAllocManaged &m 65536 1
  poke p 4 5
  cuStreamWaitValue32_v2 s p 84215045 0
  cuStreamWaitValue32_v2 s p 84215045 1
  cuStreamWaitValue32_v2 s p 4 2
  cuStreamWaitValue32_v2 s p 0 3
  cuStreamWaitValue32_v2 s p 1 4 = 1
  cuStreamWaitValue32_v2 s p 84215045 1073741824 = 801
  cuStreamWaitValue32_v2 s p 84215045 1073741825 = 801
  cuStreamWaitValue32_v2 s p+2 84215045 1 = 1
  cuStreamWaitValue32_v2 s m 0 0 = 1
  cuStreamWaitValue32_v2 s 0 0 0 = 1
  cuStreamSynchronize s

# a function of the host on a stream
  cuStreamCreateWithPriority &s 1 0
  cuLaunchHostFunc s null 0 = 1
  cuLaunchHostFunc s getpid 7
  cuStreamSynchronize s

# addresses that kernels use without a context
  cuMemAlloc_v2 &a 256
  array h 4096
  cuMemAddressReserve &r 4194304 0 0 0
  cuMemCreate &p 2097152 {type:1,location.type:1} 0
  cuMemMap r 2097152 0 p 0
  cuMemFree_v2 a
  settle
  cuCtxSetCurrent 0
  cuPointerGetAttribute & 3 0 = 1
  cuPointerGetAttribute & 3 h = 1
  cuPointerGetAttribute & 3 ~a = 1
  cuPointerGetAttribute & 3 r = 201
  cuPointerGetAttribute & 3 r+2097152 = 1
  cuPointerGetAttribute & 99 r = 1
  cuPointerGetAttribute & 2 r = 0 2
`);
