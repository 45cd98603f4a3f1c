// What the driver says where two devices meet: peers, rights, and refusals across contexts.

import { readScripts, type Script } from "./script.ts";

/** Memory `d` of device 1, filled. */
const OTHER_MEMORY = `
  cuCtxSetCurrent ctx1
  cuMemAlloc_v2 &d 4096
  cuMemsetD8Async d 1 4096 0
  cuCtxSetCurrent ctx0
  cuStreamCreateWithPriority &s 1 0`;

/** Mapped memory `r` of device 0 beside that, and no current context. */
const MAPPED_AND_NO_CONTEXT = `${OTHER_MEMORY}
  cuMemAddressReserve &r 2097152 0 0 0
  cuMemCreate &y 2097152 {type:1,location.type:1} 0
  cuMemMap r 2097152 0 y 0
  cuMemSetAccess r 2097152 {location.type:1,flags:3} 1
  cuMemsetD8Async r 7 4096 s
  settle
  cuCtxSetCurrent 0`;

/** Memory `r` of the pool of device 0 beside that, and no current context. */
const POOLED_AND_NO_CONTEXT = `${OTHER_MEMORY}
  cuMemAllocAsync &r 4096 s
  cuMemsetD8Async r 7 4096 s
  settle
  cuCtxSetCurrent 0`;

/** The scripts. */
export const PEER_SCRIPTS: readonly Script[] = readScripts(`
# letting a peer in and out (two devices)
  cuDeviceCanAccessPeer & 0 1 = 0 1
  cuDeviceGetP2PAttribute & 2 0 1 = 0 1
  cuCtxEnablePeerAccess ctx1 0
  cuCtxEnablePeerAccess ctx1 0 = 704
  cuCtxEnablePeerAccess ctx1 1 = 1
  cuCtxDisablePeerAccess ctx1
  cuCtxDisablePeerAccess ctx1 = 705
  cuCtxEnablePeerAccess ctx1 1 = 1
  cuCtxSetCurrent 0
  cuCtxEnablePeerAccess ctx1 0 = 201

# a copy between devices (two devices)
  cuMemAlloc_v2 &a 4096
  cuStreamCreateWithPriority &s 1 0
  cuCtxSetCurrent ctx1
  cuMemAlloc_v2 &b 4096
  cuStreamCreateWithPriority &t 1 0
  cuCtxSetCurrent ctx0
  array h 64
  cuMemsetD8Async a 3 4096 s
  cuMemcpyPeerAsync b ctx1 a ctx0 4096 s
  cuMemcpyDtoHAsync_v2 @h b 64 s
  settle
  look h 64 = 0 03*64
  cuMemcpyAsync b a 64 s
  settle
  cuMemcpyAsync a b 64 t
  settle
  cuMemFree_v2 b

# a fill of another device's memory (two devices)
  cuCtxSetCurrent ctx1
  cuMemAlloc_v2 &b 4096
  cuCtxSetCurrent ctx0
  cuStreamCreateWithPriority &s 1 0
  cuCtxEnablePeerAccess ctx1 0
  cuMemsetD8Async b 3 4096 s
  cuLaunchKernel fill0 1 1 1 1 1 1 0 s (u64:b,u32:7,u32:64) null
  array h 128
  cuMemcpyDtoHAsync_v2 @h b 128 s
  settle
  look h 128 = 0 07*64,03*64

# a kernel on another device's stream (two devices)
  cuCtxSetCurrent ctx1
  cuStreamCreateWithPriority &t 1 0
  cuEventCreate &f 2
  cuCtxSetCurrent ctx0
  cuStreamCreateWithPriority &s 1 0
  cuEventCreate &e 2
  cuLaunchKernel nothing0 1 1 1 1 1 1 0 t null null = 400
  cuLaunchKernel nothing1 1 1 1 1 1 1 0 t null null
  cuEventRecord e t = 400
  cuEventRecord f t
  cuStreamWaitEvent s f 0
  cuEventRecord e s
  cuStreamWaitEvent t e 0
  cuEventElapsedTime & e f = 400
  settle

# a pool that a peer may use (two devices)
  cuStreamCreateWithPriority &s 1 0
  cuCtxSetCurrent ctx1
  cuStreamCreateWithPriority &t 1 0
  cuCtxSetCurrent ctx0
  cuMemPoolCreate &p {allocType:1,location.type:1}
  cuMemPoolGetAccess & p {type:1} = 0 3
  cuMemPoolGetAccess & p {type:1,id:1} = 0 0
  cuMemPoolSetAccess p {location.type:1,location.id:1,flags:1} 1 = 801
  cuMemPoolSetAccess p {location.type:1,location.id:1,flags:3} 1
  cuMemPoolGetAccess & p {type:1,id:1} = 0 3
  cuMemAllocFromPoolAsync &a 4096 p s
  cuMemsetD8Async a 5 4096 s
  settle
  cuLaunchKernel fill1 1 1 1 1 1 1 0 t (u64:a,u32:7,u32:64) null
  array h 128
  cuMemcpyDtoHAsync_v2 @h a 128 t
  settle
  look h 128 = 0 07*64,05*64
  cuMemPoolSetAccess p {location.type:1,location.id:1,flags:0} 1
  cuMemPoolGetAccess & p {type:1,id:1} = 0 0
  cuMemFreeAsync a s

# memory of a pool that a peer may not use (two devices)
  cuStreamCreateWithPriority &s 1 0
  cuMemAllocAsync &a 4096 s
  cuMemsetD8Async a 5 4096 s
  settle
  cuCtxSetCurrent ctx1
  cuStreamCreateWithPriority &t 1 0
  cuMemAlloc_v2 &b 4096
  cuMemcpyAsync b a 64 t = ?
  cuMemcpyPeerAsync b ctx1 a ctx0 64 t

# an allocation on a stream of the other device (two devices)
  cuCtxSetCurrent ctx1
  cuStreamCreateWithPriority &t 1 0
  cuCtxSetCurrent ctx0
  cuMemAllocAsync &a 4096 t
  cuPointerGetAttribute & 9 a = 0 1
  cuMemAllocFromPoolAsync &b 4096 pool0 t
  cuPointerGetAttribute & 9 b = 0 0
  cuMemFreeAsync a t
  cuMemFreeAsync b t
  settle

# mapped memory for two devices (two devices)
  cuMemAddressReserve &r 4194304 0 0 0
  cuMemCreate &p 2097152 {type:1,location.type:1} 0
  cuMemCreate &q 2097152 {type:1,location.type:1,location.id:1} 0
  cuMemMap r 2097152 0 p 0
  cuMemMap r+2097152 2097152 0 q 0
  cuMemSetAccess r 4194304 [{location.type:1,flags:3},{location.type:1,location.id:1,flags:3}] 2
  cuMemsetD8Async r+2097136 7 32 0
  array h 32
  cuMemcpyDtoHAsync_v2 @h r+2097136 32 0
  settle
  look h 32 = 0 07*32
  cuMemSetAccess r 2097152 {location.type:1,location.id:1,flags:1} 1
  cuMemSetAccess r 2097152 {location.type:1,location.id:1,flags:0} 1
  settle
  cuMemUnmap r 4194304
  cuMemAddressFree r 4194304

# a capture with streams of both devices (two devices)
  cuStreamCreateWithPriority &s 1 0
  cuEventCreate &e 2
  cuMemAlloc_v2 &a 64
  cuCtxSetCurrent ctx1
  cuStreamCreateWithPriority &t 1 0
  cuEventCreate &f 2
  cuMemAlloc_v2 &b 64
  cuCtxSetCurrent ctx0
  cuStreamBeginCapture_v2 s 2
  cuEventRecord e s
  cuStreamWaitEvent t e 0
  cuMemsetD8Async a 1 64 s
  cuMemsetD8Async b 2 64 t
  cuEventRecord f t
  cuStreamWaitEvent s f 0
  cuStreamEndCapture s &g = 0 new
  cuGraphInstantiateWithFlags &x g 0
  cuGraphLaunch x s
  cuGraphLaunch x t
  settle

# managed memory of two devices (two devices)
  cuMemAllocManaged &m 4194304 1
  cuMemAdvise m 4194304 3 1
  cuMemAdvise m 4194304 5 0
  cuMemAdvise m 4194304 5 1
  cuMemRangeGetAttribute & 4 2 m 4194304 = 0 1
  cuMemRangeGetAttribute & 12 3 m 4194304 = 0 0,1,-2
  cuMemPrefetchAsync m 4194304 1 0
  settle
  cuMemRangeGetAttribute & 4 4 m 4194304 = 0 1

# contexts on a stack (two devices)
  cuCtxPushCurrent_v2 ctx1
  cuCtxGetCurrent & = 0 ctx1
  cuMemAlloc_v2 &b 4096
  cuPointerGetAttribute & 9 b = 0 1
  cuCtxPopCurrent_v2 & = 0 ctx1
  cuCtxGetCurrent & = 0 ctx0
  cuPointerGetAttribute & 1 b = 0 ctx1
  cuMemFree_v2 b

# questions about memory of another device (two devices)
  cuCtxPushCurrent_v2 ctx1
  cuMemAlloc_v2 &d 4096
  cuMemHostAlloc &p 4096 0
  cuMemAllocManaged &m 65536 1
  cuStreamCreateWithPriority &s 1 0
  cuMemAllocAsync &b 4096 s
  array h 4096
  cuMemHostRegister_v2 h 4096 0
  cuMemAddressReserve &r 4194304 0 0 0
  cuMemCreate &y 2097152 {type:1,location.type:1,location.id:1} 0
  cuMemMap r 2097152 0 y 0
  cuMemSetAccess r 2097152 {location.type:1,location.id:1,flags:3} 1
  cuCtxPopCurrent_v2 &
  settle
  cuMemGetAddressRange_v2 & & d = 500
  cuMemGetAddressRange_v2 & & p = 0 p 4096
  cuMemGetAddressRange_v2 & & m = 0 m 65536
  cuMemGetAddressRange_v2 & & b = 500
  cuMemGetAddressRange_v2 & & h = 0 h 4096
  cuMemGetAddressRange_v2 & & r = 500
  cuPointerGetAttribute & 3 d = 1
  cuPointerGetAttribute & 3 p = 0 p
  cuPointerGetAttribute & 3 m = 0 m
  cuPointerGetAttribute & 3 b = 1
  cuPointerGetAttribute & 3 h = 0 h
  cuPointerGetAttribute & 3 r = 1
  cuPointerGetAttribute & 1 p = 0 ctx1
  cuPointerGetAttribute & 1 m = 0 ctx1
  cuPointerGetAttribute & 1 h = 0 ctx1
  cuPointerGetAttribute & 9 b = 0 1
  cuPointerGetAttribute & 9 r = 0 1
  cuPointerGetAttribute & 9 p = 0 1
  cuPointerGetAttribute & 9 m = 0 1
  cuMemHostGetFlags & p = 0 2
  cuMemHostGetFlags & h = 0 2
  cuMemHostGetFlags & r = 1
  cuMemHostGetDevicePointer_v2 & p 0 = 0 p
  cuMemHostGetDevicePointer_v2 & h 0 = 0 h
  cuMemHostGetDevicePointer_v2 & r 0 = 1
  cuMemSetAccess r 2097152 {location.type:1,location.id:0,flags:1} 1
  cuMemHostGetFlags & r = 0 3
  cuMemHostGetDevicePointer_v2 & r 0 = 0 r
  cuCtxEnablePeerAccess ctx1 0
  cuPointerGetAttribute & 3 d = 0 d
  cuMemGetAddressRange_v2 & & d = 0 d 4096

# peer copies that name other contexts (two devices)
  cuMemAlloc_v2 &d 4096
  cuMemsetD8Async d 1 4096 0
  cuMemAllocAsync &b 4096 0
  cuMemsetD8Async b 2 4096 0
  settle
  cuMemcpyPeerAsync d ctx1 d+64 ctx1 64 0
  cuMemcpyPeerAsync b ctx1 b+64 ctx0 64 0 = 1
  cuMemcpyPeerAsync b ctx0 b+64 ctx1 64 0 = 1
  cuMemPoolSetAccess pool0 {location.type:1,location.id:1,flags:3} 1
  cuMemcpyPeerAsync b ctx1 b+64 ctx1 64 0
  settle
  cuCtxSetCurrent ctx1
  cuStreamCreateWithPriority &s 1 0
  cuMemcpyPeerAsync b ctx0 b+64 ctx0 64 s
  settle

# fills of pool memory of the other device (two devices)
  cuCtxSetCurrent ctx1
  cuStreamCreateWithPriority &s 1 0
  cuMemAllocAsync &b 4096 s
  cuMemAlloc_v2 &d 4096
  cuCtxSetCurrent ctx0
  cuMemsetD8Async b 2 4096 s
  cuMemsetD8Async d 2 4096 s
  cuMemcpyAsync b+64 d 64 s = 1
  cuMemPoolSetAccess pool1 {location.type:1,location.id:0,flags:3} 1
  cuMemcpyAsync b+64 d 64 s
  settle

# an event for other processes on another device (simulated) (two devices)
  cuStreamCreateWithPriority &s 1 0
  cuEventCreate &e 6
  cuEventRecord e s
  cuCtxSetCurrent ctx1
  cuStreamCreateWithPriority &t 1 0
  cuStreamWaitEvent t e 0 = throws endsProcess

# an event for other processes that nobody recorded on another device (simulated) (two devices)
  cuEventCreate &e 6
  cuCtxSetCurrent ctx1
  cuStreamCreateWithPriority &t 1 0
  cuStreamWaitEvent t e 0 = throws endsProcess

# a handle of another device's event (simulated) (two devices)
  cuEventCreate &e 6
  cuCtxSetCurrent ctx1
  cuIpcGetEventHandle &h e = throws endsProcess

# a kernel before its device is let in (simulated) (two devices)
  cuStreamCreateWithPriority &s 1 0
  cuMemAllocFromPoolAsync &b 4096 pool1 s
  cuLaunchKernel fill0 1 1 1 32 1 1 0 s (u64:b,u32:1,u32:64) null
  cuMemPoolSetAccess pool1 {location.type:1,location.id:0,flags:3} 1 = throws rights

# memory that the current context may not reach (two devices)
  cuMemAllocAsync &b 4096 0
  cuMemPoolCreate &q {allocType:1,location.type:1,location.id:1}
  cuMemAllocFromPoolAsync &c 4096 q 0 = 0 new
  cuMemPoolCreate &o {allocType:1,location.type:2}
  cuMemPoolSetAccess o {location.type:1,location.id:1,flags:3} 1
  cuMemAllocFromPoolAsync &d 4096 o 0 = 0 new
  cuMemHostAlloc &p 4096 0
  settle
  cuMemGetAddressRange_v2 & & c = 500
  cuPointerGetAttribute & 3 c = 1
  cuMemGetAddressRange_v2 & & d = 500
  cuPointerGetAttribute & 3 d = 1
  cuPointerGetAttribute & 9 d = 0 0
  cuMemPoolSetAccess q {location.type:1,location.id:0,flags:3} 1
  cuMemGetAddressRange_v2 & & c = 0 c 4096
  cuPointerGetAttribute & 3 c = 0 c
  cuMemPoolSetAccess q {location.type:1,location.id:0,flags:0} 1
  cuMemGetAddressRange_v2 & & c = 500
  cuCtxSetCurrent ctx1
  cuMemGetAddressRange_v2 & & b = 500
  cuMemGetAddressRange_v2 & & c = 0 c 4096
  cuMemGetAddressRange_v2 & & d = 0 d 4096
  cuMemGetAddressRange_v2 & & p = 0 p 4096
  cuPointerGetAttribute & 3 d = 0 d
  cuPointerGetAttribute & 9 d = 0 0
  cuStreamCreateWithPriority &t 1 0
  cuMemAllocFromPoolAsync &e 4096 o t = 0 new
  cuPointerGetAttribute & 9 e = 0 0
  settle

# memory of a graph that the current context may not reach (two devices)
  cuStreamCreateWithPriority &s 1 0
  cuStreamBeginCapture_v2 s 2
  cuMemAllocAsync &a 4096 s
  cuMemsetD8Async a 5 4096 s
  cuStreamEndCapture s &g = 0 new
  cuGraphInstantiateWithFlags &x g 0
  cuGraphLaunch x s
  settle
  cuCtxSetCurrent ctx1
  cuMemGetAddressRange_v2 & & a = 500
  cuPointerGetAttribute & 3 a = 1
  cuCtxEnablePeerAccess ctx0 0
  cuMemGetAddressRange_v2 & & a = 500
  cuPointerGetAttribute & 3 a = 1
  cuCtxDisablePeerAccess ctx0

# memory of a graph from a pool that a peer may use (two devices)
  cuMemPoolCreate &q {allocType:1,location.type:1}
  cuMemPoolSetAccess q {location.type:1,location.id:1,flags:3} 1
  cuStreamCreateWithPriority &s 1 0
  cuStreamBeginCapture_v2 s 2
  cuMemAllocFromPoolAsync &a 4096 q s
  cuMemsetD8Async a 5 4096 s
  cuStreamEndCapture s &g = 0 new
  cuGraphInstantiateWithFlags &x g 0
  cuGraphLaunch x s
  settle
  cuCtxSetCurrent ctx1
  cuMemGetAddressRange_v2 & & a = 0 a 4096
  cuPointerGetAttribute & 3 a = 1
  cuCtxSetCurrent ctx0
  cuMemPoolSetAccess q {location.type:1,location.id:1,flags:0} 1
  cuCtxSetCurrent ctx1
  cuMemGetAddressRange_v2 & & a = 0 a 4096

# memory of a managed pool on the other device (two devices)
  cuMemPoolCreate &q {allocType:2,location.type:1,location.id:1}
  cuMemAllocFromPoolAsync &a 4096 q 0
  settle
  cuPointerGetAttribute & 9 a = 0 1
  cuMemRangeGetAttribute & 4 2 a 4096 = 0 1
  cuMemGetAddressRange_v2 & & a = 0 a 4096
  cuCtxSetCurrent ctx1
  cuMemGetAddressRange_v2 & & a = 0 a 4096
  cuPointerGetAttribute & 3 a = 0 a

# graphs with memory of two devices (two devices)
  cuStreamCreateWithPriority &s 1 0
  cuCtxSetCurrent ctx1
  cuStreamCreateWithPriority &t 1 0
  cuStreamBeginCapture_v2 t 2
  cuMemAllocAsync &a 4096 t
  cuMemFreeAsync a t
  cuStreamEndCapture t &g = 0 new
  cuGraphInstantiateWithFlags &x g 0
  cuGraphLaunch x s
  settle
  cuDeviceGetGraphMemAttribute 0 0 & = 0 0
  cuDeviceGetGraphMemAttribute 1 0 & = 0 33554432
  cuGraphLaunch x t
  settle
  cuDeviceGetGraphMemAttribute 1 0 & = 0 33554432

# a copy into mapped memory from another device without a context (simulated) (two devices)
${MAPPED_AND_NO_CONTEXT}
  cuMemcpyAsync r d 64 s = throws endsProcess

# a copy from mapped memory to another device without a context (two devices)
${MAPPED_AND_NO_CONTEXT}
  cuMemcpyAsync d r 64 s = ?
  settle

# a copy into memory of a pool from another device without a context (two devices)
${POOLED_AND_NO_CONTEXT}
  cuMemcpyAsync r d 64 s = ?
  settle

# a copy from memory of a pool to another device without a context (two devices)
${POOLED_AND_NO_CONTEXT}
  cuMemcpyAsync d r 64 s = ?
  settle

# a batch into mapped memory from another device without a context (two devices)
${MAPPED_AND_NO_CONTEXT}
  cuMemcpyBatchAsync [r] [d] [64] 1 {srcAccessOrder:1} [0] 1 & s = ?
  settle

# a copy between devices by their contexts without a current one (two devices)
${MAPPED_AND_NO_CONTEXT}
  cuMemcpyPeerAsync r ctx0 d ctx1 64 s = ?
  settle
`);
