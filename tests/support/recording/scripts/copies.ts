// What the driver says of copies and fills, in lines, rectangles, boxes and batches.

import { readScripts, type Script } from "./script.ts";

/** The scripts. */
export const COPY_SCRIPTS: readonly Script[] = readScripts(`
# copies of nothing
  cuMemAlloc_v2 &a 4096
  cuStreamCreateWithPriority &s 1 0
  cuMemcpyAsync 0 0 0 s
  cuMemcpyHtoDAsync_v2 a null 0 s
  cuMemcpyDtoHAsync_v2 null a 0 s
  cuMemsetD8Async 0 1 0 s
  cuMemsetD2D8Async 0 0 1 0 0 s
  cuMemcpyAsync a 0 16 s = 1
  cuMemcpyAsync 0 a 16 s = 1
  cuMemcpyHtoDAsync_v2 a null 16 s = 1
  cuMemsetD8Async 0 1 16 s = 1
  cuMemcpy2DAsync_v2 null s = 1
  cuMemcpy3DAsync_v2 null s = 1

# a line there and back
  array h 64
  array k 64
  cuMemAlloc_v2 &a 64
  cuStreamCreateWithPriority &s 1 0
  cuMemcpyHtoDAsync_v2 a @h 64 s
  cuMemcpyDtoHAsync_v2 @k a+16 48 s
  settle
  look k 64 = 0 88*16,89*16,8a*16,8d*16
  cuMemcpyHtoDAsync_v2 h @k 16 s = 1
  cuMemcpyDtoHAsync_v2 @h k 16 s = 1

# fills with elements of every size
  array h 64
  cuMemAlloc_v2 &a 64
  cuStreamCreateWithPriority &s 1 0
  cuMemsetD8Async a 17 64 s
  cuMemsetD16Async a+2 8738 8 s
  cuMemsetD32Async a+32 858993459 4 s
  cuMemsetD16Async a+1 0 4 s = 1
  cuMemsetD32Async a+2 0 4 s = 1
  cuMemcpyDtoHAsync_v2 @h a 64 s
  settle
  look h 64 = 0 11*2,22*16,11*14,33*16,11*16

# fills of rows
  array h 128
  cuMemAlloc_v2 &a 128
  cuStreamCreateWithPriority &s 1 0
  cuMemsetD8Async a 0 128 s
  cuMemsetD2D8Async a 32 1 8 4 s
  cuMemsetD2D16Async a+8 32 514 4 2 s
  cuMemsetD2D32Async a+16 32 50529027 2 4 s
  cuMemsetD2D8Async a 4 1 8 2 s = 1
  cuMemsetD2D32Async a 34 1 2 2 s = 1
  cuMemcpyDtoHAsync_v2 @h a 128 s
  settle
  look h 128 = 0 01*8,02*8,03*8,00*8,01*8,02*8,03*8,00*8,01*8,00*8,03*8,00*8,01*8,00*8,03*8,00*8

# fills of ordinary and of page-locked memory
  array h 4096
  cuMemHostAlloc &p 4096 0
  cuStreamCreateWithPriority &s 1 0
  cuMemsetD8Async p 5 64 s
  cuMemsetD8Async h 5 64 s = 1
  settle
  look p 64 = 0 05*64

# a rectangle to memory of a device
  array h 256
  array k 64
  cuMemAlloc_v2 &a 256
  cuStreamCreateWithPriority &s 1 0
  cuMemsetD8Async a 0 256 s
  cuMemcpy2DAsync_v2 {srcMemoryType:1,srcHost:h,srcPitch:64,dstMemoryType:2,dstDevice:a,dstPitch:32,dstXInBytes:8,dstY:1,WidthInBytes:16,Height:2} s
  cuMemcpyDtoHAsync_v2 @k a+32 64 s
  settle
  look k 64 = 0 00*8,87*16,00*16,8b*16,00*8
  look h 32 = 0 87*16,88*16

# rectangles that are refused
  array h 4096
  cuMemAlloc_v2 &a 4096
  cuStreamCreateWithPriority &s 1 0
  cuMemcpy2DAsync_v2 {srcMemoryType:2,srcDevice:h,srcPitch:16,dstMemoryType:2,dstDevice:a,dstPitch:16,WidthInBytes:16,Height:2} s = 1
  cuMemcpy2DAsync_v2 {srcMemoryType:1,srcHost:h,srcPitch:16,dstMemoryType:2,dstDevice:h,dstPitch:16,WidthInBytes:16,Height:2} s = 1
  cuMemcpy2DAsync_v2 {srcMemoryType:0,srcHost:h,srcPitch:16,dstMemoryType:2,dstDevice:a,dstPitch:16,WidthInBytes:16,Height:2} s = 1
  cuMemcpy2DAsync_v2 {srcMemoryType:5,srcHost:h,srcPitch:16,dstMemoryType:2,dstDevice:a,dstPitch:16,WidthInBytes:16,Height:2} s = 1
  cuMemcpy2DAsync_v2 {srcMemoryType:1,srcHost:h,srcPitch:8,dstMemoryType:2,dstDevice:a,dstPitch:16,WidthInBytes:16,Height:2} s = 1
  cuMemcpy2DAsync_v2 {srcMemoryType:1,srcHost:0,srcPitch:16,dstMemoryType:2,dstDevice:a,dstPitch:16,WidthInBytes:16,Height:2} s = 1
  cuMemcpy2DAsync_v2 {srcMemoryType:1,srcHost:0,srcPitch:16,srcXInBytes:4096,dstMemoryType:2,dstDevice:a,dstPitch:16,WidthInBytes:8,Height:2} s = 1
  cuMemcpy2DAsync_v2 {srcMemoryType:1,srcHost:0,srcPitch:32,srcXInBytes:8,dstMemoryType:2,dstDevice:a,dstPitch:16,WidthInBytes:8,Height:2} s = 1
  cuMemcpy2DAsync_v2 {srcMemoryType:1,srcHost:h,srcPitch:16,dstMemoryType:2,dstDevice:0,dstPitch:16,dstY:3,WidthInBytes:16,Height:2} s = 1
  cuMemcpy2DAsync_v2 {srcMemoryType:4,srcDevice:h,srcPitch:16,dstMemoryType:4,dstDevice:a,dstPitch:16,WidthInBytes:16,Height:2} s
  cuMemcpy2DAsync_v2 {srcMemoryType:1,srcHost:h,srcPitch:0,dstMemoryType:2,dstDevice:a,dstPitch:16,WidthInBytes:16,Height:1} s
  cuMemcpy2DAsync_v2 {srcMemoryType:1,srcHost:h,srcPitch:16,dstMemoryType:2,dstDevice:a,dstPitch:16,WidthInBytes:0,Height:2} s
  cuMemcpy2DAsync_v2 {srcMemoryType:1,srcHost:h,srcPitch:16,dstMemoryType:2,dstDevice:a,dstPitch:16,WidthInBytes:16,Height:0} s

# a rectangle without a pitch
  array h 4096
  cuMemAlloc_v2 &a 4096
  cuStreamCreateWithPriority &s 1 0
  cuMemcpy2DAsync_v2 {srcMemoryType:1,srcHost:h,srcPitch:0,dstMemoryType:2,dstDevice:a,dstPitch:16,WidthInBytes:16,Height:2} s = 1

# a box of two slices without a height
  array h 4096
  cuMemAlloc_v2 &a 4096
  cuStreamCreateWithPriority &s 1 0
  cuMemcpy3DAsync_v2 {srcMemoryType:1,srcHost:h,srcPitch:16,srcHeight:0,dstMemoryType:2,dstDevice:a,dstPitch:16,dstHeight:2,WidthInBytes:16,Height:2,Depth:2} s = 1

# a box with reserved members
  array h 4096
  cuMemAlloc_v2 &a 4096
  cuStreamCreateWithPriority &s 1 0
  cuMemcpy3DAsync_v2 {reserved0:1,srcMemoryType:1,srcHost:h,srcPitch:16,srcHeight:2,dstMemoryType:2,dstDevice:a,dstPitch:16,dstHeight:2,WidthInBytes:16,Height:2,Depth:2} s = 1

# boxes
  array h 256
  array k 256
  cuMemAlloc_v2 &a 256
  cuStreamCreateWithPriority &s 1 0
  cuMemsetD8Async a 0 256 s
  cuMemcpy3DAsync_v2 {srcMemoryType:1,srcHost:h,srcPitch:16,srcHeight:4,dstMemoryType:2,dstDevice:a,dstPitch:32,dstHeight:4,dstZ:1,WidthInBytes:16,Height:2,Depth:1} s
  cuMemcpy3DAsync_v2 {srcMemoryType:1,srcHost:h,srcPitch:16,srcHeight:2,dstMemoryType:2,dstDevice:a,dstPitch:16,dstHeight:4,WidthInBytes:16,Height:2,Depth:2} s
  cuMemcpyDtoHAsync_v2 @k a 256 s
  settle
  look k 256 = 0 87*16,88*16,00*32,89*16,8a*16,00*32,87*16,00*16,88*16,00*80
  cuMemcpy3DAsync_v2 {srcMemoryType:1,srcHost:h,srcPitch:16,srcHeight:1,dstMemoryType:2,dstDevice:a,dstPitch:16,dstHeight:2,WidthInBytes:16,Height:2,Depth:1} s = 1
  cuMemcpy3DAsync_v2 {srcMemoryType:1,srcHost:h,srcPitch:16,srcHeight:2,dstMemoryType:2,dstDevice:a,dstPitch:16,dstHeight:1,WidthInBytes:16,Height:2,Depth:1} s = 1
  cuMemcpy3DAsync_v2 {srcMemoryType:1,srcHost:h,srcPitch:16,srcHeight:0,dstMemoryType:2,dstDevice:a,dstPitch:16,dstHeight:0,WidthInBytes:16,Height:2,Depth:1} s
  cuMemcpy3DAsync_v2 {srcMemoryType:1,srcHost:h,srcPitch:16,srcHeight:1,dstMemoryType:2,dstDevice:a,dstPitch:16,dstHeight:2,WidthInBytes:16,Height:2,Depth:2} s = 1
  cuMemcpy3DAsync_v2 {srcLOD:1,srcMemoryType:1,srcHost:h,srcPitch:16,srcHeight:2,dstMemoryType:2,dstDevice:a,dstPitch:16,dstHeight:2,WidthInBytes:16,Height:2,Depth:1} s = ?
  cuMemcpy3DAsync_v2 {srcMemoryType:1,srcHost:0,srcY:1,srcPitch:16,srcHeight:4,dstMemoryType:2,dstDevice:a,dstPitch:16,dstHeight:2,WidthInBytes:16,Height:2,Depth:1} s = 1
  cuMemcpy3DAsync_v2 {srcMemoryType:1,srcHost:h,srcY:1,srcPitch:16,srcHeight:2,dstMemoryType:2,dstDevice:a,dstPitch:16,dstHeight:2,WidthInBytes:16,Height:2,Depth:1} s = ?

# a batch
  cuStreamCreateWithPriority &s 1 0
  cuMemHostAlloc &p 4096 0
  cuMemAlloc_v2 &a 4096
  array h 64
  cuMemcpyBatchAsync [a,a+256] [p,p+64] [64,32] 2 {srcAccessOrder:1} [0] 1 & s = 0 18446744073709551615
  cuMemcpyDtoHAsync_v2 @h a 64 s
  settle
  look h 64 = 0 8f*16,90*16,91*16,92*16
  cuMemcpyBatchAsync [a] [p] [64] 1 {srcAccessOrder:1,flags:1} [0] 1 & s = 0 18446744073709551615
  cuMemcpyBatchAsync [a] [p] [64] 1 {srcAccessOrder:1,flags:2} [0] 1 & s = 1 18446744073709551615
  cuMemcpyBatchAsync [a] [p] [64] 1 {srcAccessOrder:0} [0] 1 & s = 1 18446744073709551615
  cuMemcpyBatchAsync [a] [p] [64] 1 {srcAccessOrder:4} [0] 1 & s = 1 18446744073709551615
  cuMemcpyBatchAsync [a] [p] [64] 0 {srcAccessOrder:1} [0] 1 & s = 1 18446744073709551615
  cuMemcpyBatchAsync [a] [p] [64] 1 {srcAccessOrder:1} [1] 1 & s = 1 18446744073709551615
  cuMemcpyBatchAsync [a] [p] [64] 1 {srcAccessOrder:1} [0] 0 & s = 1 18446744073709551615
  cuMemcpyBatchAsync [a] [p] [64] 1 {srcAccessOrder:1} [0] 2 & s = 1 18446744073709551615
  cuMemcpyBatchAsync [a] [p] [64] 1 {srcAccessOrder:1} [0] 1 & 0 = 1 unset
  cuMemcpyBatchAsync [a] [p] [64] 1 {srcAccessOrder:1} [0] 1 & 1 = 1 18446744073709551615
  cuMemcpyBatchAsync [a,a+64] [p,p+64] [64,0] 2 {srcAccessOrder:1} [0] 1 & s = 1 1
  cuMemcpyBatchAsync [a] [p] [64] 1 {srcAccessOrder:1} [0] 1 null s

# a batch without a current context
  cuStreamCreateWithPriority &s 1 0
  cuMemHostAlloc &p 4096 0
  cuMemAlloc_v2 &a 4096
  cuCtxSetCurrent 0
  cuMemcpyBatchAsync [a] [p] [64] 1 {srcAccessOrder:1} [0] 1 & s = 1 18446744073709551615

# a copy between contexts
  array h 4096
  cuMemAlloc_v2 &a 4096
  cuMemAlloc_v2 &b 4096
  cuStreamCreateWithPriority &s 1 0
  cuMemsetD8Async a 3 4096 s
  cuMemcpyPeerAsync b ctx0 a ctx0 4096 s
  cuMemcpyPeerAsync b ctx0 h ctx0 64 s = 1
  cuMemcpyPeerAsync h ctx0 a ctx0 64 s = 1
  cuMemcpyPeerAsync b ctx0 a ctx0 0 s
  cuMemcpyDtoHAsync_v2 @h b 64 s
  settle
  look h 64 = 0 03*64

# a copy between contexts that names none
  cuMemAlloc_v2 &a 4096
  cuMemAlloc_v2 &b 4096
  cuStreamCreateWithPriority &s 1 0
  cuMemsetD8Async a 3 4096 s
  cuMemcpyPeerAsync b 0 a 0 64 s = 201

# an array onto itself
  array h 4096
  cuStreamCreateWithPriority &s 1 0
  cuMemcpyAsync h+16 h 64 s = throws overlap

# device memory onto itself
  cuMemAlloc_v2 &a 4096
  cuStreamCreateWithPriority &s 1 0
  cuMemsetD8Async a 1 4096 s
  cuMemcpyAsync a+16 a 64 s = throws overlap

# a batch whose copies share bytes
  cuStreamCreateWithPriority &s 1 0
  cuMemHostAlloc &p 4096 0
  cuMemAlloc_v2 &a 4096
  cuMemcpyBatchAsync [a,a+32] [p,p+64] [64,64] 2 {srcAccessOrder:1} [0] 1 & s = throws overlap

# an array that runs into a registered one
  array h 12288
  cuMemHostRegister_v2 h+4096 4096 0
  cuStreamCreateWithPriority &s 1 0
  cuMemcpyAsync h+4064 h+4096 64 s = throws overlap
`);
