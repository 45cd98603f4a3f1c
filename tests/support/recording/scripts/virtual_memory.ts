// What the driver says of virtual memory: physical memory, addresses, mappings and rights.

import { readScripts, type Script } from "./script.ts";

/** The scripts. */
export const VIRTUAL_MEMORY_SCRIPTS: readonly Script[] = readScripts(`
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

# physical memory that goes by a descriptor
  cuMemCreate &a 2097152 {type:1,location.type:1,requestedHandleTypes:1} 0
  cuMemCreate &b 2097152 {type:1,location.type:1} 0
  cuMemExportToShareableHandle & a 1 0
  cuMemExportToShareableHandle & b 1 0 = 1
  cuMemExportToShareableHandle & a 1 1 = 1
  cuMemExportToShareableHandle & 0 1 0 = 1
  cuMemImportFromShareableHandle & 1000 1 = 999
  cuMemImportFromShareableHandle & 0 1 = 1
  cuMemAddressReserve &r 4194304 0 0 0
  cuMemMap r 2097152 0 a 0
  cuMemRetainAllocationHandle &c r
  cuMemRetainAllocationHandle &d r+4096
  cuMemRetainAllocationHandle & r+2097152 = 1
  cuMemRetainAllocationHandle & 0 = 1
  cuMemRelease c
  cuMemRelease d
  settle
  cuMemUnmap r 2097152
  cuMemAddressFree r 4194304
  cuMemRelease a
  cuMemRelease b

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
  cuMemUnmap r 1000
  cuMemAddressFree r 8388608

# questions about mapped memory
  cuMemAddressReserve &r 8388608 0 0 0
  cuMemCreate &p 2097152 {type:1,location.type:1} 0
  cuMemCreate &q 2097152 {type:1,location.type:1} 0
  cuMemMap r 2097152 0 p 0
  cuMemMap r+2097152 2097152 0 q 0
  cuMemHostGetFlags & r = 1
  cuMemHostGetDevicePointer_v2 & r 0 = 1
  cuPointerGetAttribute & 1 r = 0 null
  cuPointerGetAttribute & 2 r = 0 2
  cuPointerGetAttribute & 3 r = 1
  cuPointerGetAttribute & 7 r = 0 set
  cuPointerGetAttribute & 8 r = 0 0
  cuPointerGetAttribute & 9 r = 0 0
  cuPointerGetAttribute & 11 r = 0 r
  cuPointerGetAttribute & 12 r = 0 8388608
  cuPointerGetAttribute & 13 r = 0 1
  cuPointerGetAttribute & 17 r = 0 null
  cuMemSetAccess r 2097152 {location.type:1,flags:1} 1
  cuMemSetAccess r+2097152 2097152 {location.type:1,flags:3} 1
  cuMemHostGetFlags & r = 0 3
  cuMemHostGetDevicePointer_v2 & r+32 0 = 0 r
  cuPointerGetAttribute & 3 r = 0 r
  cuMemHostGetDevicePointer_v2 & r+2097184 0 = 0 r+2097152
  cuMemGetAddressRange_v2 & & r+2097184 = 0 r+2097152 2097152
  cuPointerGetAttribute & 1 r+2097184 = 0 null
  cuPointerGetAttribute & 11 r+2097184 = 0 r
  cuPointerGetAttribute & 12 r+2097184 = 0 8388608
  cuMemSetAccess r+2097152 2097152 {location.type:1,flags:0} 1
  cuMemHostGetFlags & r+2097152 = 1
  cuMemGetAddressRange_v2 & & r+2097184 = 500

# physical memory of the host
  cuMemCreate &p 2097152 {type:1,location.type:2} 0 = 0 new
  cuMemCreate &n 2097152 {type:1,location.type:2,requestedHandleTypes:1} 0 = 1
  cuMemCreate &n 4096 {type:1,location.type:2} 0 = 1
  cuMemCreate &n 2097152 {type:1,location.type:2,location.id:5} 0 = 0 new
  cuMemCreate &n 2097152 {type:1,location.type:3} 0 = 0 new
  cuMemAddressReserve &r 2097152 0 0 0
  cuMemMap r 2097152 0 p 0
  cuMemSetAccess r 2097152 {location.type:2,flags:3} 1
  cuMemSetAccess r 2097152 {location.type:2,flags:0} 1
  cuMemSetAccess r 2097152 {location.type:1,flags:3} 1
  cuMemsetD8Async r 7 4096 0
  array h 64
  cuMemcpyAsync h r 64 0
  settle
  look h 64 = 0 07*64
  cuPointerGetAttribute & 2 r = 0 1
  cuPointerGetAttribute & 9 r = 0 0
  cuMemGetAddressRange_v2 & & r = 0 null 2097152

# unmapping a range with a hole
  cuMemAddressReserve &r 8388608 0 0 0
  cuMemCreate &p 2097152 {type:1,location.type:1} 0
  cuMemCreate &q 2097152 {type:1,location.type:1} 0
  cuMemMap r 2097152 0 p 0
  cuMemMap r+4194304 2097152 0 q 0
  cuMemSetAccess r 2097152 {location.type:1,flags:3} 1
  settle
  cuMemUnmap r 6291456
  cuMemUnmap r 8388608
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

# unmapping odd ranges
  cuMemAddressReserve &r 8388608 0 0 0
  cuMemCreate &p 2097152 {type:1,location.type:1} 0
  cuMemUnmap r 0 = 1
  cuMemUnmap r+1000 1000
  cuMemUnmap r+1000 2097152
  cuMemUnmap 0 2097152 = 1
  cuMemMap r+2097152 2097152 0 p 0
  settle
  cuMemUnmap r 1000
  cuMemUnmap r+2097152 1000 = 1
  cuMemUnmap r+2097152 0 = 1
  cuMemUnmap r+4194304 1000
  cuMemUnmap r+2097152 2098152
  cuMemUnmap r 8388608

# physical memory near a part of the host
  cuMemCreate &p 2097152 {type:1,location.type:3,location.id:64} 0 = 1
  cuMemCreate &p 2097152 {type:1,location.type:3,location.id:-1} 0 = 1
  cuMemCreate &p 2097152 {type:1,location.type:3,requestedHandleTypes:1} 0 = 0 new
  cuMemCreate &p 2097152 {type:1,location.type:3,requestedHandleTypes:8} 0 = 800
  cuMemCreate &p 2097152 {type:1,location.type:2,requestedHandleTypes:8} 0 = 1
  cuMemCreate &p 2097152 {type:1,location.type:2,allocFlags.compressionType:9} 0 = 1
  cuMemCreate &p 2097152 {type:1,location.type:2,allocFlags.compressionType:1} 0 = 1
  cuMemCreate &p 2097152 {type:1,location.type:4} 0 = 1
  cuMemCreate &p 2097152 {type:1,location.type:0} 0 = 1
  cuMemCreate &p 2097152 {type:2,location.type:1} 0 = 1

# rights on physical memory of the host
  cuMemCreate &p 2097152 {type:1,location.type:2} 0
  cuMemCreate &q 2097152 {type:1,location.type:1} 0
  cuMemAddressReserve &r 4194304 0 0 0
  cuMemMap r 2097152 0 p 0
  cuMemMap r+2097152 2097152 0 q 0
  cuMemGetAddressRange_v2 & & r = 500
  cuMemHostGetFlags & r = 1
  cuMemSetAccess r 2097152 {location.type:2,flags:1} 1
  cuMemSetAccess r 2097152 {location.type:2,location.id:5,flags:3} 1
  cuMemSetAccess r 2097152 {location.type:3,flags:3} 1
  cuMemSetAccess r 2097152 {location.type:2,flags:3} 1
  cuMemGetAddressRange_v2 & & r = 500
  cuPointerGetAttribute & 3 r = 1
  cuMemSetAccess r 4194304 {location.type:2,flags:3} 1 = 801
  cuMemSetAccess r 4194304 {location.type:1,flags:3} 1
  cuMemHostGetFlags & r = 0 3
  cuMemHostGetDevicePointer_v2 & r+32 0 = 0 r
  cuPointerGetAttribute & 1 r = 0 null
  cuPointerGetAttribute & 3 r+32 = 0 r+32
  cuPointerGetAttribute & 4 r = 0 r
  cuPointerGetAttribute & 8 r = 0 0
  cuPointerGetAttribute & 11 r = 0 r
  cuPointerGetAttribute & 12 r = 0 4194304
  cuPointerGetAttribute & 13 r = 0 1
  cuPointerGetAttribute & 2 r+2097152 = 0 2
  cuMemGetAddressRange_v2 & & r+32 = 0 null 2097152
  cuMemGetAddressRange_v2 & & r+2097184 = 0 r+2097152 2097152
  array h 64
  cuMemsetD8Async r 7 4194304 0
  cuMemcpyDtoHAsync_v2 @h r 64 0
  cuMemcpyHtoDAsync_v2 r+64 @h 64 0
  settle
  look h 64 = 0 07*64

# a copy across physical memory of the host and of a device (simulated)
  cuMemCreate &p 2097152 {type:1,location.type:2} 0
  cuMemCreate &q 2097152 {type:1,location.type:1} 0
  cuMemAddressReserve &r 4194304 0 0 0
  cuMemMap r 2097152 0 p 0
  cuMemMap r+2097152 2097152 0 q 0
  cuMemSetAccess r 4194304 {location.type:1,flags:3} 1
  cuMemsetD8Async r 7 4194304 0
  array h 64
  cuMemcpyDtoHAsync_v2 @h r+2097120 64 0 = throws endsProcess

# physical memory with several things wrong
  cuMemCreate &p 2097152 {type:0,location.type:1,location.id:64} 0 = 101
  cuMemCreate &p 1000 {type:0,location.type:1,location.id:64} 0 = 1
  cuMemCreate &p 2097152 {type:1,location.type:1,location.id:64} 1 = 1
  cuMemCreate &p 2097152 {type:1,location.type:1,location.id:64,requestedHandleTypes:99} 0 = 101
  cuMemCreate &p 2097152 {type:0,location.type:1,requestedHandleTypes:8} 0 = 1
  cuMemCreate &p 2097152 {type:1,location.type:1,location.id:64,requestedHandleTypes:8} 0 = 101
  cuMemCreate &p 2097152 {type:0,location.type:2} 0 = 1
  cuMemCreate &p 35184372088832 {type:0,location.type:1} 0 = 1
  cuMemCreate &p 35184372088832 {type:1,location.type:1,requestedHandleTypes:99} 0 = 1
`);
