// What the driver says of captures and graphs.

import { readScripts, type Script } from "./script.ts";

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
  cuStreamBeginCapture_v2 s 2
  cuMemsetD8Async a 7 32 s
  cuStreamEndCapture s &g
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
  cuStreamBeginCapture_v2 s 2
  cuMemsetD8Async a 7 32 s
  cuStreamEndCapture s &g
  cuCtxSetCurrent 0
  cuGraphInstantiateWithFlags &x g 0 = 201
  cuGraphDestroy g

# an end without a cell
  cuStreamCreateWithPriority &s 1 0
  cuStreamBeginCapture_v2 s 2
  cuStreamEndCapture s null
  cuStreamEndCapture s &g = 401 null

# a fill of freed memory made ready
  cuStreamCreateWithPriority &s 1 0
  cuMemAlloc_v2 &a 64
  cuStreamBeginCapture_v2 s 2
  cuMemsetD8Async a 7 32 s
  cuStreamEndCapture s &g
  cuMemFree_v2 a
  !cuGraphInstantiateWithFlags &x g 0 = 1

# a copy of freed memory made ready (simulated)
  cuStreamCreateWithPriority &s 1 0
  cuMemAlloc_v2 &a 64
  cuMemHostAlloc &p 4096 0
  cuStreamBeginCapture_v2 s 2
  cuMemcpyAsync a p 32 s
  cuStreamEndCapture s &g
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
