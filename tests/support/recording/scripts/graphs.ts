// What the driver says of captures and graphs.

import { captured, readScripts, type Script } from "./script.ts";

/** The scripts. */
export const GRAPH_SCRIPTS: readonly Script[] = readScripts(`
# graphs that do not exist
  cuStreamCreateWithPriority &s 1 0
  cuGraphGetNodes 0 null & = 1
  cuGraphInstantiateWithFlags &x 0 0 = 1
  cuGraphLaunch 0 s = 1
  cuGraphDestroy 0 = 1
  cuGraphExecDestroy 0 = 1
  cuStreamBeginCapture_v2 0 2 = 900
  cuStreamBeginCapture_v2 1 2 = 900
  cuStreamBeginCapture_v2 s 3 = 1
  cuStreamBeginCapture_v2 s -1 = 1
  cuStreamEndCapture s &g = 401 null

# a capture, its nodes and its launches
  cuStreamCreateWithPriority &s 1 0
  cuMemAlloc_v2 &a 64
  array h 64
  cuMemsetD8Async a 1 64 s
  settle
  cuStreamBeginCapture_v2 s 2
  cuMemsetD8Async a 7 32 s
  cuMemsetD8Async a+32 8 32 s
  cuMemsetD8Async a 9 0 s
  cuStreamEndCapture s &g = 0 new
  cuGraphGetNodes g null & = 0 2
  cuGraphGetNodes g & u64:2 = 0 2
  cuGraphGetNodes g & u64:5 = 0 2
  cuGraphGetNodes g & u64:1 = 0 1
  cuGraphGetNodes g & u64:0 = 1
  cuGraphGetNodes g null null = 1
  cuGraphInstantiateWithFlags &x g 0 = 0 new
  cuGraphDestroy g
  cuGraphLaunch x s
  cuGraphLaunch x s
  cuMemcpyDtoHAsync_v2 @h a 64 s
  settle
  look h 64 = 0 07*32,08*32
  cuGraphExecDestroy x

# flags for making a graph ready
  cuStreamCreateWithPriority &s 1 0
  cuMemAlloc_v2 &a 64
  ${captured("g", "cuMemsetD8Async a 7 32 s")}
  cuGraphInstantiateWithFlags &x g 0 = 0 new
  cuGraphInstantiateWithFlags &y g 1 = 0 new
  cuGraphInstantiateWithFlags &z g 2 = 1
  cuGraphInstantiateWithFlags &z g 4 = 0 new
  cuGraphInstantiateWithFlags &w g 8 = 0 new
  cuGraphInstantiateWithFlags &v g 5 = 1
  cuGraphInstantiateWithFlags &u g 9 = 0 new
  cuGraphInstantiateWithFlags &t g 12 = 0 new
  cuGraphInstantiateWithFlags &q g 16 = 1
  cuGraphInstantiateWithFlags null g 0 = 1
  cuGraphLaunch w s
  settle

# a graph made ready without a current context
  cuStreamCreateWithPriority &s 1 0
  cuMemAlloc_v2 &a 64
  ${captured("g", "cuMemsetD8Async a 7 32 s")}
  cuCtxSetCurrent 0
  cuGraphInstantiateWithFlags &x g 0 = 201
  cuGraphDestroy g

# graphs and nodes that do not exist, asked for an update and what they are
  cuStreamCreateWithPriority &s 1 0
  cuMemAlloc_v2 &a 64
  ${captured("g", "cuMemsetD8Async a 7 32 s")}
  cuGraphInstantiateWithFlags &x g 0
  cuGraphNodeGetType 0 & = 1
  cuGraphKernelNodeGetParams_v2 0 & = 1
  cuGraphExecUpdate_v2 0 g & = 1 0
  cuGraphExecUpdate_v2 x 0 & = 1 0
  cuGraphExecUpdate_v2 x g null = 0
  cuGraphExecUpdate_v2 x g & = 0 0
  cuCtxSetCurrent 0
  cuGraphExecUpdate_v2 x g & = 0 0

# the kinds of nodes, and a kernel's
  cuStreamCreateWithPriority &s 1 0
  cuMemAlloc_v2 &a 64
  ${captured("g", "cuLaunchKernel fill0 1 1 1 1 1 1 0 s (u64:a,u32:5,u32:4) null")}
  cuGraphGetNodes g &n u64:1 = 0 new 1
  cuGraphNodeGetType n & = 0 0
  cuGraphNodeGetType n null = 1
  cuGraphKernelNodeGetParams_v2 n & = 0 fill0
  cuGraphKernelNodeGetParams_v2 n null = 1
  ${captured("h", "cuMemsetD8Async a 7 32 s")}
  cuGraphGetNodes h &m u64:1 = 0 new 1
  cuGraphNodeGetType m & = 0 2
  cuGraphKernelNodeGetParams_v2 m & = 1
  ${captured("i", "cuMemcpyAsync a a+32 32 s", "cuMemAllocAsync &b 64 s", "cuMemFreeAsync b s")}
  cuGraphGetNodes i &k u64:1 = 0 new 1
  cuGraphNodeGetType k & = 0 1

# a graph that gets other addresses, sizes and values
  cuStreamCreateWithPriority &s 1 0
  cuMemAlloc_v2 &a 64
  cuMemAlloc_v2 &b 64
  cuMemHostAlloc &p 4096 0
  cuMemsetD8Async a 1 64 s
  cuMemsetD8Async b 2 64 s
  settle
  poke p 64 3
  cuStreamBeginCapture_v2 s 2
  cuMemsetD8Async a 7 32 s
  cuMemcpyAsync b a 16 s
  cuMemcpyAsync a+32 p 8 s
  cuLaunchKernel fill0 1 1 1 1 1 1 0 s (u64:a,u32:5,u32:4) null
  cuStreamEndCapture s &g
  cuStreamBeginCapture_v2 s 2
  cuMemsetD8Async a+16 8 16 s
  cuMemcpyAsync b+32 a+8 24 s
  cuMemcpyAsync a+48 p+16 16 s
  cuLaunchKernel move0 2 1 1 32 1 1 64 s (u64:b,u64:a,u32:20) null
  cuStreamEndCapture s &h
  cuGraphInstantiateWithFlags &x g 0
  cuGraphLaunch x s
  cuGraphExecUpdate_v2 x h & = 0 0
  cuGraphDestroy g
  cuGraphDestroy h
  cuGraphLaunch x s
  cuGraphLaunch x s
  cuMemcpyAsync p+128 a 64 s
  cuMemcpyAsync p+256 b 64 s
  settle
  look p+128 64
  look p+256 64
  cuGraphExecDestroy x

# graphs that do not fit, which leave the one that is ready as it was
  cuStreamCreateWithPriority &s 1 0
  cuStreamCreateWithPriority &t 1 0
  cuEventCreate &e 2
  cuEventCreate &f 2
  cuMemAlloc_v2 &a 64
  cuMemAlloc_v2 &b 64
  cuMemAllocAsync &c 64 s
  cuMemsetD8Async c 1 64 s
  array h 64
  cuMemsetD8Async a 1 64 s
  settle
  ${captured("g", "cuMemsetD8Async a 7 32 s", "cuMemcpyAsync b a 16 s")}
  cuGraphInstantiateWithFlags &x g 0
  ${captured("g1", "cuMemsetD8Async a 8 32 s")}
  cuGraphExecUpdate_v2 x g1 & = 910 2
  ${captured("g2", "cuMemcpyAsync b a 16 s", "cuMemsetD8Async a 8 32 s")}
  cuGraphExecUpdate_v2 x g2 & = 910 3
  ${captured("g3", "cuMemsetD8Async a 8 32 s", "cuMemcpyAsync b c 16 s")}
  cuGraphExecUpdate_v2 x g3 & = 910 5
  cuStreamBeginCapture_v2 s 2
  cuEventRecord e s
  cuStreamWaitEvent t e 0
  cuMemsetD8Async a 8 32 s
  cuMemcpyAsync b a+32 16 t
  cuEventRecord f t
  cuStreamWaitEvent s f 0
  cuStreamEndCapture s &g4
  cuGraphExecUpdate_v2 x g4 & = 910 2
  cuStreamBeginCapture_v2 s 2
  cuStreamEndCapture s &g5
  cuGraphExecUpdate_v2 x g5 & = 910 2
  cuGraphLaunch x s
  cuMemcpyDtoHAsync_v2 @h a 64 s
  settle
  look h 64 = 0 07*32,01*32

# rows for a run of bytes in an update
  cuStreamCreateWithPriority &s 1 0
  cuMemAlloc_v2 &a 64
  ${captured("g", "cuMemsetD8Async a 7 32 s")}
  cuGraphInstantiateWithFlags &x g 0
  ${captured("g1", "cuMemsetD2D8Async a 16 7 4 4 s")}
  cuGraphExecUpdate_v2 x g1 & = 910 5
  cuGraphInstantiateWithFlags &y g1 0
  ${captured("g2", "cuMemsetD2D8Async a+4 16 9 8 3 s")}
  cuGraphExecUpdate_v2 y g2 & = 910 5
  cuGraphExecUpdate_v2 y g & = 910 5

# a width of elements in an update of a fill
  cuStreamCreateWithPriority &s 1 0
  cuMemAlloc_v2 &a 64
  ${captured("g", "cuMemsetD8Async a 7 32 s")}
  cuGraphInstantiateWithFlags &x g 0
  ${captured("g1", "cuMemsetD32Async a 7 8 s")}
  cuGraphExecUpdate_v2 x g1 & = 0 0

# rows of copies in an update
  cuStreamCreateWithPriority &s 1 0
  cuMemAlloc_v2 &a 4096
  cuMemAlloc_v2 &b 4096
  ${captured("g", "cuMemcpyAsync b a 32 s")}
  cuGraphInstantiateWithFlags &x g 0
  cuStreamBeginCapture_v2 s 2
  cuMemcpy2DAsync_v2 {srcMemoryType:2,srcDevice:a,srcPitch:64,dstMemoryType:2,dstDevice:b,dstPitch:32,WidthInBytes:8,Height:4} s
  cuStreamEndCapture s &g1
  cuGraphExecUpdate_v2 x g1 & = 910 5
  cuGraphInstantiateWithFlags &y g1 0
  cuStreamBeginCapture_v2 s 2
  cuMemcpy2DAsync_v2 {srcMemoryType:2,srcDevice:a,srcPitch:32,dstMemoryType:2,dstDevice:b,dstPitch:64,WidthInBytes:16,Height:3} s
  cuStreamEndCapture s &g2
  cuGraphExecUpdate_v2 y g2 & = 910 5
  cuGraphExecUpdate_v2 y g & = 910 5

# memory of other kinds in an update
  cuStreamCreateWithPriority &s 1 0
  cuMemAlloc_v2 &a 4096
  cuMemAllocAsync &b 4096 s
  cuMemAllocManaged &m 4096 1
  cuMemHostAlloc &p 4096 0
  cuMemHostAlloc &q 4096 0
  settle
  ${captured("g", "cuMemcpyAsync a p 32 s")}
  cuGraphInstantiateWithFlags &x g 0
  ${captured("g1", "cuMemcpyAsync b q 32 s")}
  cuGraphExecUpdate_v2 x g1 & = 910 5
  ${captured("g2", "cuMemcpyAsync a b 32 s")}
  cuGraphExecUpdate_v2 x g2 & = 910 5
  ${captured("g3", "cuMemcpyAsync m q 32 s")}
  cuGraphExecUpdate_v2 x g3 & = 0 0
  ${captured("g4", "cuMemcpyAsync b m 32 s")}
  cuGraphExecUpdate_v2 x g4 & = 910 5
  cuGraphInstantiateWithFlags &y g2 0
  cuGraphExecUpdate_v2 y g4 & = 910 5
  cuGraphExecUpdate_v2 y g & = 910 5
  ${captured("g5", "cuMemsetD8Async a 7 32 s")}
  ${captured("g6", "cuMemsetD8Async p 7 32 s")}
  ${captured("g7", "cuMemsetD8Async m 7 32 s")}
  cuGraphInstantiateWithFlags &z g5 0
  cuGraphExecUpdate_v2 z g6 & = 0 0
  cuGraphExecUpdate_v2 z g7 & = 0 0

# pools, addresses of one's own and rows that stay in an update
  cuStreamCreateWithPriority &s 1 0
  cuMemAlloc_v2 &a 4096
  cuMemAllocAsync &b 4096 s
  cuMemAllocAsync &c 4096 s
  settle
  ${captured("g", "cuMemsetD8Async a 7 32 s")}
  cuGraphInstantiateWithFlags &x g 0
  ${captured("g1", "cuMemsetD8Async b 7 32 s")}
  cuGraphExecUpdate_v2 x g1 & = ?
  cuGraphInstantiateWithFlags &y g1 0
  ${captured("g2", "cuMemsetD8Async c 8 64 s")}
  cuGraphExecUpdate_v2 y g2 & = 0 0
  ${captured("g3", "cuMemsetD2D8Async a 16 7 4 4 s")}
  cuGraphInstantiateWithFlags &z g3 0
  ${captured("g4", "cuMemsetD2D8Async a+64 16 9 4 4 s")}
  cuGraphExecUpdate_v2 z g4 & = 0 0
  cuStreamBeginCapture_v2 s 2
  cuMemcpy2DAsync_v2 {srcMemoryType:2,srcDevice:b,srcPitch:64,dstMemoryType:2,dstDevice:c,dstPitch:32,WidthInBytes:8,Height:4} s
  cuStreamEndCapture s &g5
  cuGraphInstantiateWithFlags &w g5 0
  cuStreamBeginCapture_v2 s 2
  cuMemcpy2DAsync_v2 {srcMemoryType:2,srcDevice:c,srcPitch:64,dstMemoryType:2,dstDevice:b,dstPitch:32,WidthInBytes:8,Height:4} s
  cuStreamEndCapture s &g6
  cuGraphExecUpdate_v2 w g6 & = ?

# an update while launches are queued, which they do not see
  cuStreamCreateWithPriority &s 1 0
  cuMemAlloc_v2 &a 64
  cuMemHostAlloc &p 4096 0
  settle
  poke p 64 3
  ${captured("g", "cuMemsetD8Async a 7 32 s", "cuMemcpyAsync p+64 a 32 s")}
  cuGraphInstantiateWithFlags &x g 0
  ${captured("h", "cuMemsetD8Async a 8 32 s", "cuMemcpyAsync p+128 a 32 s")}
  !cuStreamWaitValue32_v2 s p 84215045 1
  cuGraphLaunch x s
  cuGraphExecUpdate_v2 x h & = 0 0
  cuGraphLaunch x s
  !poke p 4 5
  settle
  look p+64 32 = 0 07*32
  look p+128 32 = 0 08*32

# graphs with memory of their own in an update
  cuStreamCreateWithPriority &s 1 0
  ${captured("g", "cuMemAllocAsync &b 4096 s", "cuMemsetD8Async b 7 32 s", "cuMemFreeAsync b s")}
  cuGraphInstantiateWithFlags &x g 0
  ${captured("h", "cuMemAllocAsync &c 4096 s", "cuMemsetD8Async c 8 32 s", "cuMemFreeAsync c s")}
  cuGraphExecUpdate_v2 x h & = 910 1
  cuGraphExecUpdate_v2 x g & = 0 0

# an update from a graph over freed memory
  cuStreamCreateWithPriority &s 1 0
  cuMemAlloc_v2 &a 64
  cuMemAlloc_v2 &b 64
  ${captured("g", "cuMemsetD8Async a 7 32 s")}
  cuGraphInstantiateWithFlags &x g 0
  ${captured("h", "cuMemsetD8Async b 7 32 s")}
  cuMemFree_v2 b
  !cuGraphExecUpdate_v2 x h & = 910 1

# an end without a cell
  cuStreamCreateWithPriority &s 1 0
  cuStreamBeginCapture_v2 s 2
  cuStreamEndCapture s null
  cuStreamEndCapture s &g = 401 null

# a fill of freed memory made ready
  cuStreamCreateWithPriority &s 1 0
  cuMemAlloc_v2 &a 64
  ${captured("g", "cuMemsetD8Async a 7 32 s")}
  cuMemFree_v2 a
  !cuGraphInstantiateWithFlags &x g 0 = 1

# a copy of freed memory made ready (simulated)
  cuStreamCreateWithPriority &s 1 0
  cuMemAlloc_v2 &a 64
  cuMemHostAlloc &p 4096 0
  ${captured("g", "cuMemcpyAsync a p 32 s")}
  cuMemFree_v2 a
  !cuGraphInstantiateWithFlags &x g 0 = throws goneFromGraph

# an event for other processes recorded in a capture
  cuStreamCreateWithPriority &s 1 0
  cuEventCreate &e 6
  cuStreamBeginCapture_v2 s 2
  cuEventRecord e s = 900
  cuStreamEndCapture s &g = 0 new

# waits in a capture for events that were never recorded
  cuStreamCreateWithPriority &s 1 0
  cuEventCreate &e 2
  cuEventCreate &f 0
  cuStreamBeginCapture_v2 s 2
  cuStreamWaitEvent s e 0
  cuStreamWaitEvent s f 0
  cuStreamEndCapture s &g = 0 new

# a wait in a capture for an event for other processes
  cuStreamCreateWithPriority &s 1 0
  cuEventCreate &e 6
  cuStreamBeginCapture_v2 s 2
  cuStreamWaitEvent s e 0 = 900
  cuStreamEndCapture s &g = 901 null

# waits in captures of other modes for an event that was never recorded
  cuStreamCreateWithPriority &s 1 0
  cuStreamCreateWithPriority &t 1 0
  cuEventCreate &e 2
  cuStreamBeginCapture_v2 s 0
  cuStreamWaitEvent s e 0
  cuStreamEndCapture s &g = 0 new
  cuStreamBeginCapture_v2 t 1
  cuStreamWaitEvent t e 0
  cuStreamEndCapture t &h = 0 new

# a fill of nothing on the default stream beside a capture
  cuStreamCreateWithPriority &s 0 0
  cuMemAlloc_v2 &a 64
  cuStreamBeginCapture_v2 s 2
  cuMemsetD8Async a 1 0 0 = 906
  cuStreamEndCapture s &g = 901 null

# a copy of nothing on the default stream beside a capture
  cuStreamCreateWithPriority &s 0 0
  cuMemAlloc_v2 &a 64
  cuStreamBeginCapture_v2 s 2
  cuMemcpyAsync a a 0 0 = 906
  cuStreamEndCapture s &g = 901 null

# rows of nothing on the default stream beside a capture
  cuStreamCreateWithPriority &s 0 0
  cuMemAlloc_v2 &a 64
  cuStreamBeginCapture_v2 s 2
  cuMemsetD2D8Async a 16 1 0 2 0 = 906
  cuStreamEndCapture s &g = 901 null

# work on the default stream beside a capture that ignores it
  cuStreamCreateWithPriority &s 1 0
  cuMemAlloc_v2 &a 64
  cuStreamBeginCapture_v2 s 2
  cuMemsetD8Async a 1 0 0
  cuMemsetD8Async a 1 64 0
  cuStreamEndCapture s &g = 0 new

# streams that join a capture and come back
  cuStreamCreateWithPriority &s 1 0
  cuStreamCreateWithPriority &t 1 0
  cuMemAlloc_v2 &a 64
  cuEventCreate &e 2
  cuEventCreate &f 2
  cuStreamBeginCapture_v2 s 2
  cuMemsetD8Async a 1 32 s
  cuEventRecord e s
  cuStreamWaitEvent t e 0
  cuMemsetD8Async a 2 32 t
  cuEventRecord f t
  cuStreamWaitEvent s f 0
  cuStreamEndCapture s &g = 0 new
  cuGraphGetNodes g null & = 0 2

# a stream that does not come back
  cuStreamCreateWithPriority &s 1 0
  cuStreamCreateWithPriority &t 1 0
  cuMemAlloc_v2 &a 64
  cuEventCreate &e 2
  cuStreamBeginCapture_v2 s 2
  cuEventRecord e s
  cuStreamWaitEvent t e 0
  cuMemsetD8Async a 2 32 t
  cuStreamEndCapture t &g = 903 null
  cuStreamEndCapture s &g = 901 null
`);
