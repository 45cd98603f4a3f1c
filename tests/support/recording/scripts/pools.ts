// What the driver says of stream-ordered pools, on devices, on the host and managed.

import { readScripts, type Script } from "./script.ts";

/** The scripts. */
export const POOL_SCRIPTS: readonly Script[] = readScripts(`
# pools of every kind
  cuMemPoolCreate &a {allocType:1,location.type:1} = 0 new
  cuMemPoolCreate &b {allocType:0,location.type:1} = 1
  cuMemPoolCreate &d {allocType:2,location.type:1}
  cuMemPoolCreate &b {allocType:2,location.type:1,maxSize:1} = 1
  cuMemPoolCreate &b {allocType:2,location.type:1,handleTypes:1} = 1
  cuMemPoolCreate &b {allocType:2,location.type:1,location.id:64} = 1
  cuMemPoolCreate &b {allocType:9,location.type:1} = 1
  cuMemPoolCreate &c {allocType:1,handleTypes:1,location.type:1} = 0 new
  cuMemPoolCreate &b {allocType:1,handleTypes:2,location.type:1} = 1
  cuMemPoolCreate &b {allocType:1,handleTypes:4,location.type:1} = 1
  cuMemPoolCreate &b {allocType:1,handleTypes:64,location.type:1} = 1
  cuMemPoolCreate &b {allocType:1,location.type:1,gpuDirectRDMACapable:1} = 1
  cuMemPoolCreate &b {allocType:1,location.type:1,location.id:64} = 1
  cuMemPoolCreate &b {allocType:1,location.type:1,location.id:-1} = 1
  cuMemPoolCreate &b {allocType:1,location.type:0} = 1
  cuMemPoolCreate &b null = 1
  cuMemPoolDestroy a
  cuMemPoolDestroy c
  cuMemPoolDestroy pool0 = 1
  cuMemPoolDestroy 0 = 1

# a pool that other processes can open
  cuMemPoolCreate &a {allocType:1,handleTypes:1,location.type:1}
  cuMemPoolCreate &b {allocType:1,location.type:1}
  cuMemPoolExportToShareableHandle & a 1 0
  cuMemPoolExportToShareableHandle & a 1 0
  cuMemPoolExportToShareableHandle & b 1 0 = 1
  cuMemPoolExportToShareableHandle & pool0 1 0 = 1
  cuMemPoolExportToShareableHandle & a 8 0 = 1
  cuMemPoolExportToShareableHandle & a 1 1 = 1
  cuMemAllocFromPoolAsync &m 4096 a 0
  cuMemAllocFromPoolAsync &n 4096 b 0
  cuMemAlloc_v2 &d 4096
  settle
  cuMemPoolExportPointer & m
  cuMemPoolExportPointer & m
  cuMemPoolExportPointer & n = 1
  cuMemPoolExportPointer & d = 1
  cuMemPoolImportPointer & a {reserved:0} = 1
  cuMemPoolImportFromShareableHandle & 1000 1 0 = 999
  cuMemFreeAsync m 0
  settle

# a pool that other machines could open
  cuMemPoolCreate &a {allocType:1,handleTypes:8,location.type:1}

# a pool gives back what was freed in a wait for something behind the free, and in no other call
  cuMemPoolCreate &a {allocType:1,location.type:1}
  cuStreamCreateWithPriority &s 1 0
  cuStreamCreateWithPriority &t 1 0
  cuEventCreate &e 2
  cuEventCreate &f 2
  cuMemAllocFromPoolAsync &m 4096 a s
  cuEventRecord e s
  cuMemPoolGetAttribute a 7 & = 0 4096
  cuMemFreeAsync m s
  cuMemPoolGetAttribute a 7 & = 0 0
  cuEventRecord f s
  cuStreamQuery s = ?
  cuEventQuery f = ?
  cuStreamQuery s = ?
  cuEventQuery f = ?
  cuStreamQuery s = ?
  cuMemPoolGetAttribute a 5 & = 0 33554432
  cuMemPoolTrimTo a 0
  cuStreamSynchronize t
  cuEventSynchronize e
  cuMemPoolGetAttribute a 5 & = 0 33554432
  cuStreamSynchronize s
  cuMemPoolGetAttribute a 5 & = 0 0

# a wait for an event behind a free, and one for a stream that follows it
  cuMemPoolCreate &a {allocType:1,location.type:1}
  cuStreamCreateWithPriority &s 1 0
  cuStreamCreateWithPriority &t 1 0
  cuEventCreate &e 2
  cuMemAllocFromPoolAsync &m 4096 a s
  cuMemFreeAsync m s
  cuEventRecord e s
  cuEventSynchronize e
  cuMemPoolGetAttribute a 5 & = 0 0
  cuMemAllocFromPoolAsync &m 4096 a s
  cuMemFreeAsync m s
  cuEventRecord e s
  cuStreamWaitEvent t e 0
  cuStreamSynchronize t
  cuMemPoolGetAttribute a 5 & = 0 0

# the end of a stream whose work is done gives back what was freed on it
  cuMemPoolCreate &a {allocType:1,location.type:1}
  cuStreamCreateWithPriority &s 1 0
  cuEventCreate &e 2
  cuMemAllocFromPoolAsync &m 4096 a s
  cuEventRecord e s
  cuMemFreeAsync m s
  cuEventSynchronize e
  cuStreamQuery s = ?
  cuStreamQuery s = ?
  cuStreamQuery s = ?
  cuStreamDestroy_v2 s
  cuMemPoolGetAttribute a 5 & = 0 0

# memory freed on one stream is handed out on another without taking more
  cuMemPoolCreate &a {allocType:1,location.type:1}
  cuStreamCreateWithPriority &s 1 0
  cuStreamCreateWithPriority &t 1 0
  cuMemAllocFromPoolAsync &m 33554432 a s
  cuMemFreeAsync m s
  cuStreamQuery s = ?
  cuStreamQuery s = ?
  cuStreamQuery s = ?
  cuMemAllocFromPoolAsync &n 33554432 a t
  cuMemPoolGetAttribute a 5 & = 0 33554432
  cuMemFreeAsync n t

# a pool on the host
  cuMemPoolCreate &a {allocType:1,location.type:2} = 0 new
  cuMemPoolGetAttribute a 5 & = 0 0
  cuMemPoolGetAccess & a {type:1} = 0 0
  cuMemPoolDestroy a

# a pool near a part of the host
  cuMemPoolCreate &a {allocType:1,location.type:3} = 0 new
  cuMemPoolGetAttribute a 7 & = 0 0
  cuMemPoolDestroy a

# pools near other parts of the host
  cuMemPoolCreate &a {allocType:1,location.type:3,location.id:64} = 1
  cuMemPoolCreate &b {allocType:1,location.type:4} = 1

# memory of a pool on the host, let in
  cuMemPoolCreate &a {allocType:1,location.type:2}
  cuMemPoolSetAccess a {location.type:1,flags:3} 1
  cuMemPoolGetAccess & a {type:1} = 0 3
  cuStreamCreateWithPriority &s 1 0
  cuMemAllocFromPoolAsync &b 4096 a s
  cuMemsetD8Async b 7 4096 s
  array h 64
  cuMemcpyDtoHAsync_v2 @h b 64 s = 1
  cuMemFreeAsync b s

# a copy of memory of a pool on the host
  cuMemPoolCreate &a {allocType:1,location.type:2}
  cuMemPoolGetAccess & a {type:2} = 0 3
  cuMemPoolSetAccess a {location.type:2,flags:3} 1
  cuMemPoolSetAccess a {location.type:1,flags:3} 1
  cuStreamCreateWithPriority &s 1 0
  cuMemAllocFromPoolAsync &b 4096 a s
  cuMemsetD8Async b 7 4096 s
  array h 64
  cuMemcpyAsync h b 64 s
  settle
  look h 64 = 0 07*64
  cuMemcpyHtoDAsync_v2 b @h 64 s = 1
  cuPointerGetAttribute & 1 b = 0 null
  cuPointerGetAttribute & 2 b = 0 1
  cuPointerGetAttribute & 3 b = 0 b
  cuPointerGetAttribute & 4 b = 0 b
  cuPointerGetAttribute & 9 b = 0 0
  cuMemGetAddressRange_v2 & & b = 0 b 4096
  cuMemHostGetFlags & b = 1
  cuMemHostGetDevicePointer_v2 & b 0 = 1
  cuMemFreeAsync b s
  settle

# memory of a pool on the host that nobody was let in
  cuMemPoolCreate &a {allocType:1,location.type:2}
  cuStreamCreateWithPriority &s 1 0
  cuMemAllocFromPoolAsync &b 4096 a s = 0 new
  cuPointerGetAttribute & 2 b = 0 1
  cuMemGetAddressRange_v2 & & b = 500

# memory of a managed pool
  cuMemPoolCreate &a {allocType:2,location.type:1}
  cuMemPoolGetAccess & a {type:1} = 0 0
  cuMemPoolGetAccess & a {type:2} = 0 0
  cuMemPoolSetAccess a {location.type:1,flags:3} 1
  cuMemPoolGetAttribute a 5 & = 0 0
  cuStreamCreateWithPriority &s 1 0
  cuMemAllocFromPoolAsync &b 4096 a s
  cuMemsetD8Async b 7 4096 s
  cuPointerGetAttribute & 1 b = 0 null
  cuPointerGetAttribute & 2 b = 0 2
  cuPointerGetAttribute & 4 b = 0 b
  cuPointerGetAttribute & 8 b = 0 1
  cuPointerGetAttribute & 9 b = 0 0
  cuPointerGetAttribute & 17 b = 0 a
  cuMemGetAddressRange_v2 & & b = 0 b 4096
  cuMemHostGetFlags & b = 1
  cuMemAdvise b 4096 1 0 = 801
  cuMemPrefetchAsync b 4096 0 s
  cuMemFreeAsync b s
  settle

# pools of managed memory in other places
  cuMemPoolCreate &a {allocType:2,location.type:0} = 0 new
  cuMemPoolCreate &b {allocType:2,location.type:2} = 0 new
  cuMemPoolCreate &c {allocType:2,location.type:3} = 0 new
  cuMemPoolCreate &d {allocType:2,handleTypes:8,location.type:1} = 1
  cuMemPoolCreate &e {allocType:1,handleTypes:9,location.type:1} = 0 new
  cuMemPoolCreate &f {allocType:1,handleTypes:8,location.type:2} = 1

# what a pool reserves
  cuStreamCreateWithPriority &s 1 0
  cuMemPoolCreate &a {allocType:1,location.type:1}
  cuMemPoolGetAttribute a 5 & = 0 0
  cuMemAllocFromPoolAsync &b 4194304 a s
  cuMemPoolGetAttribute a 5 & = 0 33554432
  cuMemPoolGetAttribute a 7 & = 0 4194304
  cuMemAllocFromPoolAsync &c 4194304 a s
  cuMemPoolGetAttribute a 5 & = 0 33554432
  cuMemAllocFromPoolAsync &d 33554432 a s
  cuMemPoolGetAttribute a 5 & = 0 67108864
  cuMemFreeAsync b s
  cuMemFreeAsync c s
  cuMemFreeAsync d s
  settle
  cuMemPoolGetAttribute a 5 & = 0 0
  cuMemPoolGetAttribute a 7 & = 0 0
  cuMemPoolGetAttribute a 8 & = 0 41943040
  cuMemPoolTrimTo a 0
  cuMemPoolGetAttribute a 5 & = 0 0

# a pool keeps up to its threshold
  cuStreamCreateWithPriority &s 1 0
  cuMemPoolCreate &a {allocType:1,location.type:1}
  cuMemPoolSetAttribute a 4 u64:33554432
  cuMemPoolGetAttribute a 4 & = 0 33554432
  cuMemAllocFromPoolAsync &b 4194304 a s
  cuMemFreeAsync b s
  settle
  cuMemPoolGetAttribute a 5 & = 0 33554432
  cuMemPoolTrimTo a 0
  cuMemPoolGetAttribute a 5 & = 0 0
  cuMemPoolSetAttribute a 6 u64:5 = 1
  cuMemPoolSetAttribute a 6 u64:0
  cuMemPoolGetAttribute a 6 & = 0 0

# a pool with a maximum
  cuStreamCreateWithPriority &s 1 0
  cuMemPoolCreate &a {allocType:1,location.type:1,maxSize:1}
  cuMemAllocFromPoolAsync &b 4194304 a s
  cuMemAllocFromPoolAsync &c 67108864 a s = 2
  cuMemPoolGetAttribute a 5 & = 0 33554432

# attributes of pools that do not exist
  cuMemPoolGetAttribute pool0 0 & = 1
  cuMemPoolGetAttribute pool0 99 & = 1
  cuMemPoolSetAttribute pool0 99 u64:0 = 1
  cuMemPoolSetAttribute pool0 5 u64:0 = 1
  cuMemPoolSetAttribute pool0 7 u64:0 = 1
  cuMemPoolGetAttribute pool0 1 & = 0 1
  cuMemPoolSetAttribute pool0 1 i32:0
  cuMemPoolGetAttribute pool0 1 & = 0 0
  cuMemPoolSetAttribute pool0 1 i32:1
  cuMemPoolGetAttribute 0 4 & = 1
  cuMemPoolTrimTo 0 0 = 1
  cuMemAllocFromPoolAsync &a 256 0 0 = 1

# who may use a pool
  cuMemPoolGetAccess & pool0 {type:1} = 0 3
  cuMemPoolSetAccess pool0 {location.type:1,flags:3} 1
  cuMemPoolSetAccess pool0 {location.type:1,flags:0} 1 = 101
  cuMemPoolSetAccess pool0 {location.type:1,flags:1} 1 = 801
  cuMemPoolSetAccess pool0 {location.type:2,flags:3} 1 = 801
  cuMemPoolSetAccess pool0 {location.type:0,flags:3} 1 = 801
  cuMemPoolSetAccess pool0 {location.type:1,location.id:64,flags:3} 1 = 101
  cuMemPoolSetAccess pool0 {location.type:1,location.id:64,flags:1} 1 = 801
  cuMemPoolSetAccess pool0 {location.type:1,location.id:64,flags:2} 1 = 101
  cuMemPoolSetAccess pool0 {location.type:1,flags:2} 1 = 1
  cuMemPoolSetAccess pool0 {location.type:1,flags:3} 0
  cuMemPoolGetAccess & pool0 {type:1,id:64} = 1
  cuMemPoolGetAccess & pool0 {type:2} = 0 0
  cuMemPoolGetAccess & pool0 {type:3} = 0 0

# a destroyed pool whose memory is about to be freed
  cuStreamCreateWithPriority &s 1 0
  cuMemPoolCreate &a {allocType:1,location.type:1}
  cuMemAllocFromPoolAsync &b 4096 a s
  cuMemsetD8Async b 5 4096 s
  cuMemFreeAsync b s
  cuMemPoolDestroy a = throws endsProcess

# who may use a pool on the host
  cuMemPoolCreate &a {allocType:1,location.type:2}
  cuMemPoolGetAccess & a {type:2} = 0 3
  cuMemPoolGetAccess & a {type:2,id:5} = 0 3
  cuMemPoolGetAccess & a {type:3} = 0 3
  cuMemPoolGetAccess & a {type:3,id:64} = 0 3
  cuMemPoolGetAccess & a {type:4} = 1
  cuMemPoolGetAccess & a {type:0} = 1
  cuMemPoolGetAccess & a {type:1,id:64} = 1
  cuMemPoolSetAccess a {location.type:2,flags:0} 1 = 801
  cuMemPoolGetAccess & a {type:2} = 0 3
  cuMemPoolSetAccess a {location.type:2,flags:1} 1 = 801
  cuMemPoolSetAccess a {location.type:2,flags:2} 1 = 1
  cuMemPoolSetAccess a {location.type:2,location.id:5,flags:3} 1
  cuMemPoolSetAccess a {location.type:3,flags:3} 1
  cuMemPoolSetAccess a {location.type:4,flags:3} 1 = 1
  cuMemPoolSetAccess a {location.type:0,flags:3} 1 = 1
  cuMemPoolSetAccess a {location.type:1,flags:1} 1 = 801
  cuMemPoolSetAccess a {location.type:1,flags:2} 1 = 1
  cuMemPoolSetAccess a {location.type:1,flags:0} 1
  cuMemPoolGetAccess & a {type:1} = 0 0
  cuMemPoolSetAccess a {location.type:1,flags:3} 1
  cuMemPoolSetAccess a {location.type:1,flags:0} 1
  cuMemPoolGetAccess & a {type:1} = 0 0

# who may use a pool near a part of the host
  cuMemPoolCreate &a {allocType:1,location.type:3}
  cuMemPoolGetAccess & a {type:2} = 0 3
  cuMemPoolGetAccess & a {type:3} = 0 3
  cuMemPoolSetAccess a {location.type:2,flags:3} 1
  cuMemPoolSetAccess a {location.type:3,flags:3} 1
  cuMemPoolGetAccess & a {type:2} = 0 3

# places of a pool of a device
  cuMemPoolGetAccess & pool0 {type:0} = 1
  cuMemPoolGetAccess & pool0 {type:2,id:5} = 0 0
  cuMemPoolGetAccess & pool0 {type:3,id:64} = 0 0
  cuMemPoolGetAccess & pool0 {type:4} = 1
  cuMemPoolGetAccess & pool0 {type:9} = 1
  cuMemPoolSetAccess pool0 {location.type:3,flags:3} 1 = 801
  cuMemPoolSetAccess pool0 {location.type:4,flags:3} 1 = 801
  cuMemPoolSetAccess pool0 {location.type:2,flags:2} 1 = 801
  cuMemPoolSetAccess pool0 {location.type:2,flags:0} 1 = 801
  cuMemPoolSetAccess pool0 {location.type:1,location.id:64,flags:0} 1 = 101

# who may use a managed pool
  cuMemPoolCreate &a {allocType:2,location.type:1}
  cuMemPoolSetAccess a {location.type:1,flags:0} 1
  cuMemPoolSetAccess a {location.type:1,flags:1} 1 = 801
  cuMemPoolSetAccess a {location.type:1,flags:2} 1 = 1
  cuMemPoolSetAccess a {location.type:2,flags:3} 1
  cuMemPoolSetAccess a {location.type:2,flags:0} 1
  cuMemPoolSetAccess a {location.type:0,flags:3} 1 = 1
  cuMemPoolSetAccess a {location.type:1,location.id:64,flags:3} 1 = 101
  cuMemPoolGetAccess & a {type:1} = 0 0
  cuMemPoolGetAccess & a {type:0} = 1
  cuMemPoolSetAccess a {location.type:1,flags:3} 1
  cuMemPoolGetAccess & a {type:1} = 0 3
  cuMemPoolSetAccess a {location.type:1,flags:0} 1
  cuMemPoolGetAccess & a {type:1} = 0 0

# who may use a managed pool on the host
  cuMemPoolCreate &a {allocType:2,location.type:2}
  cuMemPoolGetAccess & a {type:1} = 0 0
  cuMemPoolGetAccess & a {type:2} = 0 0
  cuMemPoolSetAccess a {location.type:2,flags:3} 1
  cuMemPoolSetAccess a {location.type:1,flags:3} 1
  cuMemPoolGetAccess & a {type:1} = 0 3

# memory of a managed pool that nobody was let in
  cuMemPoolCreate &a {allocType:2,location.type:1}
  cuStreamCreateWithPriority &s 1 0
  cuMemAllocFromPoolAsync &b 4096 a s
  settle
  cuPointerGetAttribute & 2 b = 0 2
  cuPointerGetAttribute & 3 b = 0 b
  cuPointerGetAttribute & 4 b = 0 b
  cuPointerGetAttribute & 13 b = 0 1
  cuMemGetAddressRange_v2 & & b = 0 b 4096
  cuMemPoolGetAttribute a 5 & = 0 33554432
  cuMemPoolGetAttribute a 6 & = 0 33554432
  cuMemPoolGetAttribute a 7 & = 0 4096
  cuMemPoolGetAttribute a 4 & = 0 0

# hints for memory of a managed pool
  cuMemPoolCreate &a {allocType:2,location.type:1}
  cuMemPoolSetAccess a {location.type:1,flags:3} 1
  cuStreamCreateWithPriority &s 1 0
  cuMemAllocFromPoolAsync &b 65536 a s
  cuMemsetD8Async b 7 65536 s
  settle
  cuMemRangeGetAttribute & 4 1 b 65536 = 0 0
  cuMemRangeGetAttribute & 4 2 b 65536 = 0 0
  cuMemRangeGetAttribute & 4 4 b 65536 = 0 -2
  cuMemPrefetchAsync b 65536 -1 s
  cuMemRangeGetAttribute & 4 4 b 65536 = 0 -1
  cuMemPrefetchAsync b 65536 64 s = 101
  cuMemPrefetchAsync b 131072 0 s = 1
  cuMemAdvise b 65536 99 0 = 1
  cuMemAdvise b 65536 3 64 = 101
  cuMemAdvise b 131072 1 0 = 801
  cuMemDiscardAndPrefetchBatchAsync [b] [65536] 1 {type:1,id:0} [0] 1 0 s
  cuMemsetD8Async b 8 65536 s
  settle

# copies of memory of a managed pool
  cuMemPoolCreate &a {allocType:2,location.type:1}
  cuMemPoolSetAccess a {location.type:1,flags:3} 1
  cuStreamCreateWithPriority &s 1 0
  cuMemAllocFromPoolAsync &b 4096 a s
  cuMemsetD8Async b 7 4096 s
  array h 64
  cuMemcpyDtoHAsync_v2 @h b 64 s
  settle
  look h 64 = 0 07*64
  cuMemcpyHtoDAsync_v2 b+64 @h 64 s
  cuMemcpyAsync b+128 b 64 s
  settle
  cuIpcGetMemHandle &i b = 1
  cuMemHostGetDevicePointer_v2 & b 0 = 1
  cuMemFree_v2 b

# memory of a pool on the host that is freed at once
  cuMemPoolCreate &a {allocType:1,location.type:2}
  cuMemPoolSetAccess a {location.type:1,flags:3} 1
  cuMemAllocFromPoolAsync &b 4096 a 0
  settle
  cuMemPoolGetAttribute a 5 & = 0 33554432
  cuMemPoolGetAttribute a 7 & = 0 4096
  cuMemFreeHost b = 1
  cuMemFree_v2 b
  settle
  cuMemPoolGetAttribute a 5 & = 0 0
  cuMemPoolGetAttribute a 7 & = 0 4096

# memory of a pool on the host in a capture
  cuMemPoolCreate &a {allocType:1,location.type:2}
  cuMemPoolSetAccess a {location.type:1,flags:3} 1
  cuStreamCreateWithPriority &s 1 0
  cuStreamBeginCapture_v2 s 2
  cuMemAllocFromPoolAsync &b 4096 a s = 801
  cuStreamEndCapture s &g = 0 new

# memory of a pool of one's own in a capture
  cuMemPoolCreate &a {allocType:1,location.type:1}
  cuStreamCreateWithPriority &s 1 0
  cuStreamBeginCapture_v2 s 2
  cuMemAllocFromPoolAsync &b 4096 a s = 0 new
  cuMemsetD8Async b 5 4096 s
  cuStreamEndCapture s &g = 0 new
  cuGraphInstantiateWithFlags &x g 0 = 0 new
  cuGraphLaunch x s
  settle
  cuPointerGetAttribute & 17 b = 0 null
  cuMemPoolGetAttribute a 7 & = 0 0
  cuDeviceGetGraphMemAttribute 0 0 & = 0 33554432

# memory of a pool that is freed at once
  cuMemPoolCreate &a {allocType:1,location.type:1}
  cuStreamCreateWithPriority &s 1 0
  cuMemAllocFromPoolAsync &b 4096 a s
  cuMemAllocFromPoolAsync &c 4096 a s
  settle
  cuMemFree_v2 b
  cuMemPoolGetAttribute a 7 & = 0 8192
  settle
  cuMemPoolGetAttribute a 5 & = 0 33554432
  cuMemPoolGetAttribute a 7 & = 0 8192
  cuMemFree_v2 c
  settle
  cuMemPoolGetAttribute a 5 & = 0 0
  cuMemPoolGetAttribute a 7 & = 0 8192

# who may use a managed pool, asked again
  cuMemPoolCreate &a {allocType:2,location.type:1}
  cuMemPoolSetAccess a {location.type:2,flags:3} 1
  cuMemPoolGetAccess & a {type:2} = 0 3
  cuMemPoolGetAccess & a {type:3} = 0 3
  cuMemPoolGetAccess & a {type:1} = 0 0
  cuMemPoolSetAccess a {location.type:3,flags:0} 1
  cuMemPoolGetAccess & a {type:2} = 0 0
  cuMemPoolSetAccess a {location.type:0,flags:1} 1 = 801
  cuMemPoolSetAccess a {location.type:0,flags:2} 1 = 1
  cuMemPoolSetAccess a {location.type:1,location.id:64,flags:2} 1 = 101
  cuMemPoolSetAccess a {location.type:1,flags:3} 1
  cuMemPoolSetAccess a {location.type:1,flags:0} 1
  cuStreamCreateWithPriority &s 1 0
  cuMemAllocFromPoolAsync &b 4096 a s
  settle
  cuPointerGetAttribute & 3 b = 0 b
  cuMemGetAddressRange_v2 & & b = 0 b 4096
  cuMemRangeGetAttribute & 4 2 b 4096 = 0 0

# hints for memory of managed pools in other places
  cuMemPoolCreate &a {allocType:2,location.type:2}
  cuMemPoolCreate &b {allocType:2,location.type:0}
  cuMemPoolCreate &c {allocType:2,location.type:3}
  cuStreamCreateWithPriority &s 1 0
  cuMemAllocFromPoolAsync &d 4096 a s
  cuMemAllocFromPoolAsync &e 4096 b s
  cuMemAllocFromPoolAsync &f 4096 c s
  settle
  cuMemRangeGetAttribute & 4 2 d 4096 = 0 -1
  cuMemRangeGetAttribute & 4 2 e 4096 = 0 -2
  cuMemRangeGetAttribute & 4 2 f 4096 = 0 -1
  cuPointerGetAttribute & 2 d = 0 2
  cuPointerGetAttribute & 9 e = 0 0
  cuMemPoolGetAccess & b {type:1} = 0 0
  cuMemPoolGetAccess & c {type:2} = 0 0

# memory of a managed pool in a capture
  cuMemPoolCreate &a {allocType:2,location.type:1}
  cuStreamCreateWithPriority &s 1 0
  cuStreamBeginCapture_v2 s 2
  cuMemAllocFromPoolAsync &b 4096 a s = 0 new
  cuMemAllocFromPoolAsync &b 0 a s = 0 null
  cuStreamEndCapture s &g = 0 new
`);
