// What the driver says of device memory, page-locked, registered and managed memory, and of addresses.

import { readScripts, type Script } from "./script.ts";

/** The scripts. */
export const MEMORY_SCRIPTS: readonly Script[] = readScripts(`
# nowhere to put an address
  cuMemAlloc_v2 null 256 = 1
  cuMemAllocPitch_v2 null & 100 4 4 = 1
  cuMemAllocPitch_v2 &a null 100 4 4 = 1
  cuMemAllocAsync null 256 0 = 1
  cuMemAllocFromPoolAsync null 256 pool0 0 = 1
  cuMemAllocManaged null 4096 1 = 1
  cuMemHostAlloc null 4096 0 = 1
  cuMemCreate null 2097152 {type:1,location.type:1} 0 = 1
  cuMemAddressReserve null 2097152 0 0 0 = 1
  cuMemPoolCreate null {allocType:1,location.type:1} = 1
  cuMemGetInfo_v2 null null
  cuMemGetInfo_v2 & null = 0 set
  cuMemGetInfo_v2 null & = 0 set

# sizes of nothing, and of too much
  cuMemAlloc_v2 &a 0 = 1
  cuMemAlloc_v2 &b 35184372088832 = 2
  cuMemHostAlloc &c 0 0 = 0 null
  cuMemAllocAsync &d 0 0 = 0 null
  cuMemAllocFromPoolAsync &e 0 pool0 0 = 0 null
  cuMemAllocManaged &f 0 1 = 1
  cuMemAllocAsync &g 35184372088832 0 = 2
  cuMemAllocPitch_v2 &i & 0 4 4 = 1
  cuMemAllocPitch_v2 &i & 100 0 4 = 1
  cuMemAllocPitch_v2 &i & 100 4 3 = 1
  cuMemAllocPitch_v2 &i & 100 4 4 = 0 new 512
  cuMemFree_v2 0
  cuMemFreeAsync 0 0
  settle
  cuMemFreeHost 0

# memory without a current context
  cuMemAlloc_v2 &a 4096
  cuMemHostAlloc &p 4096 0
  cuMemAllocManaged &m 65536 1
  cuStreamCreateWithPriority &s 1 0
  array r 8192
  cuMemHostRegister_v2 r 4096 0
  cuModuleLoadData &k <kernels>
  cuCtxSetCurrent 0
  cuMemAlloc_v2 &b 256 = 201
  cuMemHostAlloc &b 256 0 = 201
  cuMemAllocManaged &b 4096 1 = 201
  cuMemGetInfo_v2 & & = 201
  cuMemGetAddressRange_v2 & & a = 201
  cuPointerGetAttribute & 2 a = 0 2
  cuModuleGetFunction &f k "fill" = 0 new
  cuModuleUnload k
  cuMemPrefetchAsync m 65536 0 s
  cuMemPrefetchAsync m 65536 0 0 = 201
  settle
  cuMemHostUnregister r
  cuMemAdvise m 65536 1 0 = 201
  cuMemHostGetFlags & p = 201
  cuMemcpyAsync a p 16 s
  cuStreamSynchronize s
  cuMemFree_v2 a

# frees that free nothing
  cuMemAlloc_v2 &a 4096
  cuMemHostAlloc &p 4096 0
  array h 4096
  cuMemFree_v2 a+256 = 1
  cuMemFree_v2 p = 1
  cuMemFree_v2 h = 1
  cuMemFreeHost a = 1
  cuMemFreeHost h = 1
  cuMemFreeHost p+16 = 1
  cuMemFree_v2 a
  cuMemFree_v2 ~a = 1
  cuMemFreeHost p
  cuMemFreeHost ~p = 1

# memory is ended by the free of its kind
  cuMemAllocManaged &m 65536 1
  cuMemAllocAsync &b 4096 0
  cuMemAlloc_v2 &a 4096
  cuMemFreeAsync m 0 = 801
  cuMemFreeAsync a 0
  cuMemFreeAsync b+16 0 = 1
  settle
  cuMemFree_v2 b
  cuMemFree_v2 m

# frees on a stream of what no stream frees
  cuMemAllocManaged &m 65536 1
  cuMemHostAlloc &p 4096 0
  array h 8192
  cuMemHostRegister_v2 h 4096 0
  cuMemFreeAsync m 0 = 801
  cuMemFreeAsync m+16 0 = 1
  cuMemFreeAsync p 0 = 1
  cuMemFreeAsync p+16 0 = 1
  cuMemFreeAsync h 0 = 1
  cuMemFreeAsync h+4096 0 = 1
  cuMemFreeAsync 0 0
  cuMemFree_v2 h = 1
  cuMemFree_v2 m+16 = 1

# registering arrays
  array h 16384
  cuMemHostRegister_v2 h 4096 0
  cuMemHostGetFlags & h = 0 2
  cuMemHostGetDevicePointer_v2 & h 0 = 0 h
  cuMemHostRegister_v2 h 4096 0 = 712
  cuMemHostRegister_v2 h 8192 0 = 712
  cuMemHostRegister_v2 h+8192 4096 4 = 1
  cuMemHostRegister_v2 h+8192 4096 12 = 1
  cuMemHostRegister_v2 h+8192 4096 16 = 1
  cuMemHostRegister_v2 h+8192 0 0 = 1
  cuMemHostRegister_v2 0 4096 0 = 1
  cuMemHostRegister_v2 h+8192 4096 3
  cuMemHostGetFlags & h+8192 = 0 3
  cuMemHostUnregister h+16 = 1
  cuMemHostUnregister h
  cuMemHostUnregister h = 713
  cuMemHostUnregister h+8192

# registering what is no array
  cuMemAlloc_v2 &a 8192
  cuMemHostAlloc &p 8192 0
  cuMemAllocManaged &m 65536 1
  cuMemHostRegister_v2 a 4096 0 = 1
  cuMemHostRegister_v2 p 4096 0 = 1
  cuMemHostRegister_v2 m 4096 0 = 1
  cuMemHostUnregister 0 = 1
  cuMemHostUnregister a = 1
  cuMemHostUnregister p = 1
  cuMemHostUnregister m = 1

# flags of page-locked memory
  cuMemHostAlloc &a 4096 0
  cuMemHostAlloc &b 4096 1
  cuMemHostAlloc &c 4096 2
  cuMemHostAlloc &d 4096 4
  cuMemHostAlloc &e 4096 8 = 1
  cuMemHostGetFlags & a = 0 2
  cuMemHostGetFlags & b = 0 3
  cuMemHostGetFlags & c = 0 2
  cuMemHostGetFlags & d = 0 6
  cuMemHostGetFlags & a+16 = 0 2
  cuMemHostGetDevicePointer_v2 & a+16 0 = 0 a+16
  cuMemHostGetDevicePointer_v2 & a 1 = 1
  array h 4096
  cuMemHostGetFlags & h = 1
  cuMemHostGetDevicePointer_v2 & h 0 = 1

# what an address is
  cuMemAlloc_v2 &a 4096
  cuPointerGetAttribute & 1 a = 0 ctx0
  cuPointerGetAttribute & 2 a+16 = 0 2
  cuPointerGetAttribute & 3 a+16 = 0 a+16
  cuPointerGetAttribute & 4 a = 1
  cuPointerGetAttribute & 7 a = 0 set
  cuPointerGetAttribute & 8 a = 0 0
  cuPointerGetAttribute & 9 a = 0 0
  cuPointerGetAttribute & 11 a+16 = 0 a
  cuPointerGetAttribute & 12 a+16 = 0 4096
  cuPointerGetAttribute & 13 a = 0 1
  cuPointerGetAttribute & 17 a = 0 null
  cuPointerGetAttribute null 2 a = 1
  cuPointerGetAttribute & 0 a = 1
  cuPointerGetAttribute & 2 0 = 1
  array h 4096
  cuPointerGetAttribute & 2 h = 1
  cuMemGetAddressRange_v2 & & a+16 = 0 a 4096
  cuMemGetAddressRange_v2 null null a
  cuMemGetAddressRange_v2 & & 0 = 500
  cuMemGetAddressRange_v2 & & h = 500
  cuMemFree_v2 a
  cuPointerGetAttribute & 2 ~a = 1
  cuMemGetAddressRange_v2 & & ~a = 500

# kinds of memory by their attributes
  cuMemHostAlloc &p 4096 0
  cuMemAllocManaged &m 65536 1
  cuMemAllocAsync &b 4096 0
  cuPointerGetAttribute & 2 p = 0 1
  cuPointerGetAttribute & 4 p+16 = 0 p+16
  cuPointerGetAttribute & 2 m = 0 2
  cuPointerGetAttribute & 8 m = 0 1
  cuPointerGetAttribute & 2 b = 0 2
  cuPointerGetAttribute & 17 b = 0 pool0
  cuPointerGetAttribute & 10 b = 0 0
  cuMemGetAddressRange_v2 & & b+16 = 0 b 4096
  cuMemGetAddressRange_v2 & & p+16 = 0 p 4096

# hints for managed memory
  cuMemAllocManaged &m 4194304 1
  cuMemAdvise m 4194304 1 0
  cuMemRangeGetAttribute & 4 1 m 4194304 = 0 1
  cuMemAdvise m 2097152 3 0
  cuMemRangeGetAttribute & 4 2 m 2097152 = 0 0
  cuMemRangeGetAttribute & 4 2 m 4194304 = 0 -2
  cuMemAdvise m 4194304 5 0
  cuMemAdvise m 4194304 5 -1
  cuMemRangeGetAttribute & 12 3 m 4194304 = 0 0,-1,-2
  cuMemAdvise m 4194304 6 -1
  cuMemRangeGetAttribute & 8 3 m 4194304 = 0 0,-2
  cuMemAdvise m 4194304 2 0
  cuMemRangeGetAttribute & 4 1 m 4194304 = 0 0
  cuMemAdvise m 4194304 7 0 = 1
  cuMemAdvise m 4194304 3 64 = 101
  cuMemAdvise m 0 1 0 = 1
  cuMemAdvise m 8388608 1 0 = 1
  cuMemRangeGetAttribute & 8 1 m 4194304 = 1
  cuMemRangeGetAttribute & 3 1 m 4194304 = 1
  cuMemRangeGetAttribute & 0 1 m 4194304 = 1
  cuMemRangeGetAttribute & 4 4 m 4194304 = 0 -2
  cuMemPrefetchAsync m 4194304 0 0
  cuMemRangeGetAttribute & 4 4 m 4194304 = 0 0
  cuMemPrefetchAsync m 4194304 -1 0
  cuMemPrefetchAsync m 4194304 64 0 = 101
  settle
  cuMemRangeGetAttribute & 4 4 m 4194304 = 0 -1

# hints for what is not managed
  cuMemAlloc_v2 &a 4096
  cuMemAdvise a 4096 1 0 = 1
  cuMemPrefetchAsync a 4096 0 0 = 1
  cuMemRangeGetAttribute & 4 1 a 4096 = 1
  cuMemAllocManaged &m 65536 3 = 1
  cuMemAllocManaged &m 65536 0 = 1
  cuMemAllocManaged &m 65536 2

# discards that are refused
  cuMemAllocManaged &m 65536 1
  cuMemAlloc_v2 &a 65536
  cuStreamCreateWithPriority &s 1 0
  cuMemDiscardAndPrefetchBatchAsync [m] [65536] 1 {type:1,id:0} [0] 1 0 0 = 1
  cuMemDiscardAndPrefetchBatchAsync [m] [65536] 1 {type:1,id:0} [0] 1 0 1 = 1
  cuMemDiscardAndPrefetchBatchAsync [m] [65536] 0 {type:1,id:0} [0] 1 0 s = 1
  cuMemDiscardAndPrefetchBatchAsync [m] [65536] 1 {type:1,id:0} [0] 1 1 s = 1
  cuMemDiscardAndPrefetchBatchAsync [m] [65536] 1 {type:1,id:0} [0] 0 0 s = 1
  cuMemDiscardAndPrefetchBatchAsync [m] [65536] 1 {type:1,id:0} [1] 1 0 s = 1
  cuMemDiscardAndPrefetchBatchAsync [m] [65536] 1 {type:1,id:64} [0] 1 0 s = 1
  cuMemDiscardAndPrefetchBatchAsync [m] [65536] 1 {type:0,id:0} [0] 1 0 s = 1
  cuMemDiscardAndPrefetchBatchAsync [a] [65536] 1 {type:1,id:0} [0] 1 0 s = 1
  cuMemDiscardAndPrefetchBatchAsync [m] [131072] 1 {type:1,id:0} [0] 1 0 s = 1

# a discard and a fill
  cuMemAllocManaged &m 65536 1
  cuStreamCreateWithPriority &s 1 0
  cuMemsetD8Async m 7 65536 s
  cuMemDiscardAndPrefetchBatchAsync [m] [65536] 1 {type:1,id:0} [0] 1 0 s
  cuMemsetD8Async m 9 65536 s
  settle
  look m 65536 = 0 09*65536
  cuMemRangeGetAttribute & 4 4 m 65536 = 0 0

# a discard and a fill of large memory
  cuMemAllocManaged &m 8388608 1
  cuStreamCreateWithPriority &s 1 0
  cuMemPrefetchAsync m 8388608 0 s
  cuMemsetD8Async m 7 8388608 s
  settle
  cuMemDiscardAndPrefetchBatchAsync [m] [8388608] 1 {type:1,id:0} [0] 1 0 s
  cuMemsetD8Async m 9 8388608 s
  settle
  look m 8388608 = 0 09*8388608

# a discard for the host and a fill
  cuMemAllocManaged &m 8388608 1
  cuStreamCreateWithPriority &s 1 0
  cuMemPrefetchAsync m 8388608 0 s
  cuMemDiscardAndPrefetchBatchAsync [m] [8388608] 1 {type:2} [0] 1 0 s
  cuMemsetD8Async m 9 8388608 s
  settle
  look m 8388608 = 0 09*8388608
  cuMemRangeGetAttribute & 4 4 m 8388608 = 0 -1

# a discard, a fill and a prefetch to the host
  cuMemAllocManaged &m 2097152 1
  cuStreamCreateWithPriority &s 1 0
  cuMemsetD8Async m 7 2097152 s
  cuMemDiscardAndPrefetchBatchAsync [m] [2097152] 1 {type:1,id:0} [0] 1 0 s
  cuMemsetD8Async m 9 2097152 s
  cuMemPrefetchAsync m 2097152 -1 s
  settle
  look m 2097152 = 0 09*2097152

# a discard and bytes of the host
  cuMemAllocManaged &m 65536 1
  cuStreamCreateWithPriority &s 1 0
  cuMemDiscardAndPrefetchBatchAsync [m] [65536] 1 {type:1,id:0} [0] 1 0 s
  settle
  poke m 65536 3
  look m 65536 = 0 03*65536

# a discard of a part that ends within pages
  cuMemAllocManaged &m 65536 1
  cuStreamCreateWithPriority &s 1 0
  cuMemsetD8Async m 7 65536 s
  cuMemDiscardAndPrefetchBatchAsync [m+1000] [50000] 1 {type:1,id:0} [0] 1 0 s
  cuMemsetD8Async m+1000 9 50000 s
  settle
  look m 65536 = 0 07*1000,09*50000,07*14536

# a discard of a part, and a fill of the rest
  cuMemAllocManaged &m 4194304 1
  cuStreamCreateWithPriority &s 1 0
  cuMemPrefetchAsync m 4194304 0 s
  cuMemsetD8Async m 7 4194304 s
  cuMemDiscardAndPrefetchBatchAsync [m] [2097152] 1 {type:1,id:0} [0] 1 0 s
  cuMemsetD8Async m+2097152 9 2097152 s
  settle
  look m+2097152 2097152 = 0 09*2097152

# a hint for a small block and its neighbour
  cuMemAllocManaged &m 4096 1
  cuMemAllocManaged &n 4096 1
  cuMemAdvise m 4096 1 0
  cuMemRangeGetAttribute & 4 1 m 4096 = 0 1
  cuMemRangeGetAttribute & 4 1 n 4096 = 0 0

# hints for parts of a managed block
  cuMemAllocManaged &m 262144 1
  cuStreamCreateWithPriority &s 1 0
  cuMemAdvise m 4096 1 0
  cuMemRangeGetAttribute & 4 1 m 4096 = ?
  cuMemRangeGetAttribute & 4 1 m 8192 = ?
  cuMemRangeGetAttribute & 4 1 m+65536 4096 = ?
  cuMemAdvise m+65536 100 3 0
  cuMemRangeGetAttribute & 4 2 m+65536 4096 = ?
  cuMemRangeGetAttribute & 4 2 m+65536 8192 = ?
  cuMemPrefetchAsync m+131072 100 -1 s
  cuMemRangeGetAttribute & 4 4 m+131072 4096 = ?
  cuMemRangeGetAttribute & 4 4 m+131072 8192 = ?
  cuMemRangeGetAttribute & 4 4 m 262144 = ?
  settle
`);
