// What the driver says of stream-ordered pools, and of virtual memory.

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

# a pool that other machines could open
  cuMemPoolCreate &a {allocType:1,handleTypes:8,location.type:1}

# a pool on the host
  cuMemPoolCreate &a {allocType:1,location.type:2} = 0 new
  cuMemPoolGetAttribute a 5 & = 0 0
  cuMemPoolGetAccess & a {type:1} = ?
  cuMemPoolDestroy a

# a pool near a part of the host
  cuMemPoolCreate &a {allocType:1,location.type:3} = 0 new
  cuMemPoolGetAttribute a 7 & = 0 0
  cuMemPoolDestroy a

# pools near other parts of the host
  cuMemPoolCreate &a {allocType:1,location.type:3,location.id:64} = ?
  cuMemPoolCreate &b {allocType:1,location.type:4} = ?

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
  cuMemPoolGetAccess & a {type:2} = ?
  cuMemPoolSetAccess a {location.type:2,flags:3} 1 = ?
  cuMemPoolSetAccess a {location.type:1,flags:3} 1
  cuStreamCreateWithPriority &s 1 0
  cuMemAllocFromPoolAsync &b 4096 a s
  cuMemsetD8Async b 7 4096 s
  array h 64
  cuMemcpyAsync h b 64 s = ?
  settle
  look h 64 = ?
  cuMemcpyHtoDAsync_v2 b @h 64 s = ?
  cuPointerGetAttribute & 1 b = ?
  cuPointerGetAttribute & 2 b = ?
  cuPointerGetAttribute & 3 b = ?
  cuPointerGetAttribute & 4 b = ?
  cuPointerGetAttribute & 9 b = ?
  cuMemGetAddressRange_v2 & & b = ?
  cuMemHostGetFlags & b = ?
  cuMemHostGetDevicePointer_v2 & b 0 = ?
  cuMemFreeAsync b s
  settle

# memory of a pool on the host that nobody was let in
  cuMemPoolCreate &a {allocType:1,location.type:2}
  cuStreamCreateWithPriority &s 1 0
  cuMemAllocFromPoolAsync &b 4096 a s = ?
  cuPointerGetAttribute & 2 b = ?
  cuMemGetAddressRange_v2 & & b = ?

# memory of a managed pool
  cuMemPoolCreate &a {allocType:2,location.type:1}
  cuMemPoolGetAccess & a {type:1} = ?
  cuMemPoolGetAccess & a {type:2} = ?
  cuMemPoolSetAccess a {location.type:1,flags:3} 1 = ?
  cuMemPoolGetAttribute a 5 & = ?
  cuStreamCreateWithPriority &s 1 0
  cuMemAllocFromPoolAsync &b 4096 a s
  cuMemsetD8Async b 7 4096 s = ?
  cuPointerGetAttribute & 1 b = ?
  cuPointerGetAttribute & 2 b = ?
  cuPointerGetAttribute & 4 b = ?
  cuPointerGetAttribute & 8 b = ?
  cuPointerGetAttribute & 9 b = ?
  cuPointerGetAttribute & 17 b = ?
  cuMemGetAddressRange_v2 & & b = ?
  cuMemHostGetFlags & b = ?
  cuMemAdvise b 4096 1 0 = ?
  cuMemPrefetchAsync b 4096 0 s = ?
  cuMemFreeAsync b s = ?
  settle

# pools of managed memory in other places
  cuMemPoolCreate &a {allocType:2,location.type:0} = 0 new
  cuMemPoolCreate &b {allocType:2,location.type:2} = ?
  cuMemPoolCreate &c {allocType:2,location.type:3} = ?
  cuMemPoolCreate &d {allocType:2,handleTypes:8,location.type:1} = ?
  cuMemPoolCreate &e {allocType:1,handleTypes:9,location.type:1} = ?
  cuMemPoolCreate &f {allocType:1,handleTypes:8,location.type:2} = ?

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
  cuMemPoolGetAttribute a 5 & = ?
  cuMemFreeAsync b s
  cuMemFreeAsync c s
  cuMemFreeAsync d s
  settle
  cuMemPoolGetAttribute a 5 & = ?
  cuMemPoolGetAttribute a 7 & = 0 0
  cuMemPoolGetAttribute a 8 & = ?
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
  cuMemPoolSetAccess pool0 {location.type:1,location.id:64,flags:2} 1 = ?
  cuMemPoolSetAccess pool0 {location.type:1,flags:2} 1 = 1
  cuMemPoolSetAccess pool0 {location.type:1,flags:3} 0
  cuMemPoolGetAccess & pool0 {type:1,id:64} = 1
  cuMemPoolGetAccess & pool0 {type:2} = 0 0
  cuMemPoolGetAccess & pool0 {type:3} = ?

# a destroyed pool with memory
  cuStreamCreateWithPriority &s 1 0
  cuMemPoolCreate &a {allocType:1,location.type:1}
  cuMemAllocFromPoolAsync &b 4096 a s
  cuMemPoolDestroy a
  cuMemsetD8Async b 5 4096 s
  cuMemFreeAsync b s
  settle

# physical memory of every kind
  cuMemGetAllocationGranularity & {type:1,location.type:1} 0 = 0 2097152
  cuMemGetAllocationGranularity & {type:1,location.type:1} 1 = 0 2097152
  cuMemGetAllocationGranularity & {type:1,location.type:1} 2 = 1
  cuMemGetAllocationGranularity & {type:1,location.type:1} -1 = 1
  cuMemGetAllocationGranularity & {type:0,location.type:1} 0 = 0 2097152
  cuMemGetAllocationGranularity & {type:1,location.type:0} 0 = 0 2097152
  cuMemGetAllocationGranularity & {type:1,location.type:2} 0 = 0 2097152
  cuMemGetAllocationGranularity & {type:1,location.type:1,location.id:64} 0 = 0 2097152
  cuMemCreate &a 2097152 {type:1,location.type:1} 0 = 0 new
  cuMemCreate &b 2097152 {type:1,location.type:1,requestedHandleTypes:1} 0 = 0 new
  cuMemCreate &c 2097152 {type:1,location.type:1,requestedHandleTypes:2} 0 = 1
  cuMemCreate &c 2097152 {type:1,location.type:1,requestedHandleTypes:99} 0 = 1
  cuMemCreate &c 2097152 {type:1,location.type:1,requestedHandleTypes:8} 0 = 800
  cuMemCreate &c 2097152 {type:1,location.type:1,allocFlags.compressionType:9} 0 = 1
  cuMemCreate &c 2097152 {type:1,location.type:1,location.id:64} 0 = 101
  cuMemCreate &c 1000 {type:1,location.type:1,location.id:64} 0 = 1
  cuMemCreate &c 2097152 {type:1,location.type:1} 1 = 1
  cuMemCreate &c 1000 {type:1,location.type:1} 0 = 1
  cuMemCreate &c 0 {type:1,location.type:1} 0 = 1
  cuMemCreate &c 35184372088832 {type:1,location.type:1} 0 = 2
  cuMemRelease 0 = 1
  cuMemRelease a
  cuMemRelease b

# reserving addresses
  cuMemAddressReserve &a 2097152 0 0 0
  cuMemAddressReserve &b 2097152 4194304 0 0
  cuMemAddressReserve &c 2097152 3 0 0 = 1
  cuMemAddressReserve &c 2097152 1000 0 0 = 1
  cuMemAddressReserve &c 1000 0 0 0 = 1
  cuMemAddressReserve &c 0 0 0 0 = 1
  cuMemAddressReserve &c 2097152 0 0 1 = 1
  cuMemAddressFree a 4096 = 1
  cuMemAddressFree a 2097152
  cuMemAddressFree b 2097152
  cuMemAddressFree 0 2097152 = 1

# mapping memory
  cuMemAddressReserve &r 8388608 0 0 0
  cuMemCreate &p 4194304 {type:1,location.type:1} 0
  cuMemMap r 2097152 0 p 0 = 801
  cuMemMap r 2097152 2097152 p 0 = 801
  cuMemMap r 8388608 0 p 0 = 801
  cuMemMap r 1000 0 p 0 = 801
  cuMemMap r 4194304 1000 p 0 = 801
  cuMemMap r 4194304 0 p 1 = 1
  cuMemMap r 4194304 0 0 0 = 1
  cuMemMap r+1000 4194304 0 p 0 = 1
  cuMemMap r 4194304 0 p 0
  cuMemMap r 4194304 0 p 0 = 1
  cuMemAddressFree r 8388608 = 1
  cuMemGetAddressRange_v2 & & r = 500
  cuMemSetAccess r 4194304 {location.type:1,flags:2} 1 = 1
  cuMemSetAccess r 4194304 {location.type:1,flags:4} 1 = 1
  cuMemSetAccess r 4194304 {location.type:1,flags:9} 1 = 1
  cuMemSetAccess r 4194304 {location.type:1,flags:3} 0 = 1
  cuMemSetAccess r 4194304 {location.type:2,flags:3} 1 = 801
  cuMemSetAccess r 4194304 {location.type:1,location.id:64,flags:3} 1 = 1
  cuMemSetAccess r 8388608 {location.type:1,flags:3} 1 = 1
  cuMemSetAccess r 2097152 {location.type:1,flags:3} 1 = 1
  cuMemSetAccess r 4194304 {location.type:1,flags:3} 1
  cuMemGetAddressRange_v2 & & r+4096 = 0 r 4194304
  cuPointerGetAttribute & 12 r = 0 8388608
  settle
  cuMemUnmap r 2097152 = 1
  cuMemUnmap r 4194304
  cuMemRelease p
  cuMemAddressFree r 8388608

# mapping memory beyond a reservation
  cuMemAddressReserve &r 8388608 0 0 0
  cuMemCreate &p 4194304 {type:1,location.type:1} 0
  cuMemMap r+6291456 4194304 0 p 0 = 1

# unmapping a range beyond a reservation
  cuMemAddressReserve &r 4194304 0 0 0
  cuMemUnmap r+2097152 4194304 = 1

# unmapping a range where nothing is mapped
  cuMemAddressReserve &r 8388608 0 0 0
  cuMemUnmap r 8388608
  cuMemUnmap r+2097152 2097152
  cuMemUnmap r 1000 = 1
  cuMemAddressFree r 8388608

# questions about mapped memory
  cuMemAddressReserve &r 8388608 0 0 0
  cuMemCreate &p 2097152 {type:1,location.type:1} 0
  cuMemCreate &q 2097152 {type:1,location.type:1} 0
  cuMemMap r 2097152 0 p 0
  cuMemMap r+2097152 2097152 0 q 0
  cuMemHostGetFlags & r = ?
  cuMemHostGetDevicePointer_v2 & r 0 = ?
  cuPointerGetAttribute & 1 r = ?
  cuPointerGetAttribute & 2 r = ?
  cuPointerGetAttribute & 3 r = ?
  cuPointerGetAttribute & 7 r = ?
  cuPointerGetAttribute & 8 r = ?
  cuPointerGetAttribute & 9 r = ?
  cuPointerGetAttribute & 11 r = ?
  cuPointerGetAttribute & 12 r = ?
  cuPointerGetAttribute & 13 r = ?
  cuPointerGetAttribute & 17 r = ?
  cuMemSetAccess r 2097152 {location.type:1,flags:1} 1
  cuMemSetAccess r+2097152 2097152 {location.type:1,flags:3} 1
  cuMemHostGetFlags & r = ?
  cuMemHostGetDevicePointer_v2 & r+32 0 = ?
  cuPointerGetAttribute & 3 r = ?
  cuMemHostGetDevicePointer_v2 & r+2097184 0 = ?
  cuMemGetAddressRange_v2 & & r+2097184 = ?
  cuPointerGetAttribute & 1 r+2097184 = 0 null
  cuPointerGetAttribute & 11 r+2097184 = ?
  cuPointerGetAttribute & 12 r+2097184 = ?
  cuMemSetAccess r+2097152 2097152 {location.type:1,flags:0} 1
  cuMemHostGetFlags & r+2097152 = ?
  cuMemGetAddressRange_v2 & & r+2097184 = ?

# physical memory of the host
  cuMemCreate &p 2097152 {type:1,location.type:2} 0 = 0 new
  cuMemCreate &n 2097152 {type:1,location.type:2,requestedHandleTypes:1} 0 = 1
  cuMemCreate &n 4096 {type:1,location.type:2} 0 = ?
  cuMemCreate &n 2097152 {type:1,location.type:2,location.id:5} 0 = ?
  cuMemCreate &n 2097152 {type:1,location.type:3} 0 = ?
  cuMemAddressReserve &r 2097152 0 0 0
  cuMemMap r 2097152 0 p 0
  cuMemSetAccess r 2097152 {location.type:2,flags:3} 1 = ?
  cuMemSetAccess r 2097152 {location.type:2,flags:0} 1 = ?
  cuMemSetAccess r 2097152 {location.type:1,flags:3} 1
  cuMemsetD8Async r 7 4096 0 = ?
  array h 64
  cuMemcpyAsync h r 64 0 = ?
  settle
  look h 64 = ?
  cuPointerGetAttribute & 2 r = ?
  cuPointerGetAttribute & 9 r = ?
  cuMemGetAddressRange_v2 & & r = ?

# unmapping a range with a hole
  cuMemAddressReserve &r 8388608 0 0 0
  cuMemCreate &p 2097152 {type:1,location.type:1} 0
  cuMemCreate &q 2097152 {type:1,location.type:1} 0
  cuMemMap r 2097152 0 p 0
  cuMemMap r+4194304 2097152 0 q 0
  cuMemSetAccess r 2097152 {location.type:1,flags:3} 1
  settle
  cuMemUnmap r 6291456
  cuMemUnmap r 8388608 = ?
  cuMemRelease p
  cuMemRelease q
  cuMemAddressFree r 8388608

# bytes across two mappings
  cuMemAddressReserve &r 4194304 0 0 0
  cuMemCreate &p 2097152 {type:1,location.type:1} 0
  cuMemCreate &q 2097152 {type:1,location.type:1} 0
  cuMemMap r 2097152 0 p 0
  cuMemMap r+2097152 2097152 0 q 0
  cuMemSetAccess r 4194304 {location.type:1,flags:3} 1
  cuMemsetD8Async r+2097136 7 32 0
  array h 32
  cuMemcpyDtoHAsync_v2 @h r+2097136 32 0
  settle
  look h 32 = 0 07*32

# memory that is released before it is unmapped
  cuMemAddressReserve &r 2097152 0 0 0
  cuMemCreate &p 2097152 {type:1,location.type:1} 0
  cuMemMap r 2097152 0 p 0
  cuMemRelease p
  cuMemSetAccess r 2097152 {location.type:1,flags:3} 1
  cuMemsetD8Async r 7 4096 0
  settle
  cuMemUnmap r 2097152
  cuMemAddressFree r 2097152
`);
