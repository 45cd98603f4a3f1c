// What the driver says of memory that graphs allocate, and of its counters.

import { readScripts, type Script } from "./script.ts";

/** The scripts. */
export const GRAPH_MEMORY_SCRIPTS: readonly Script[] = readScripts(`
# counters of two graphs on one stream
  cuStreamCreateWithPriority &s 1 0
  cuStreamBeginCapture_v2 s 2
  cuMemAllocAsync &a1 4096 s
  cuMemsetD8Async a1 5 4096 s
  cuMemFreeAsync a1 s
  cuStreamEndCapture s &g1 = 0 new
  cuGraphInstantiateWithFlags &x1 g1 0
  cuStreamBeginCapture_v2 s 2
  cuMemAllocAsync &a2 4096 s
  cuMemsetD8Async a2 5 4096 s
  cuMemFreeAsync a2 s
  cuStreamEndCapture s &g2 = 0 new
  cuGraphInstantiateWithFlags &x2 g2 0
  cuGraphLaunch x1 s
  cuDeviceGetGraphMemAttribute 0 0 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 1 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 2 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 3 & = 0 33554432
  cuGraphLaunch x2 s
  cuDeviceGetGraphMemAttribute 0 0 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 1 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 2 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 3 & = 0 33554432
  settle
  cuDeviceGetGraphMemAttribute 0 0 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 1 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 2 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 3 & = 0 33554432
  cuDeviceGraphMemTrim 0
  cuDeviceGetGraphMemAttribute 0 0 & = 0 0
  cuDeviceGetGraphMemAttribute 0 1 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 2 & = 0 0
  cuDeviceGetGraphMemAttribute 0 3 & = 0 33554432
  cuGraphLaunch x1 s
  settle
  cuGraphExecDestroy x1
  cuDeviceGetGraphMemAttribute 0 0 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 1 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 2 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 3 & = 0 33554432
  cuDeviceSetGraphMemAttribute 0 1 u64:0
  cuDeviceSetGraphMemAttribute 0 3 u64:0
  cuDeviceGetGraphMemAttribute 0 0 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 1 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 2 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 3 & = 0 33554432

# counters of two graphs on two streams
  cuStreamCreateWithPriority &s 1 0
  cuStreamCreateWithPriority &t 1 0
  cuStreamBeginCapture_v2 s 2
  cuMemAllocAsync &a1 4096 s
  cuMemsetD8Async a1 5 4096 s
  cuMemFreeAsync a1 s
  cuStreamEndCapture s &g1 = 0 new
  cuGraphInstantiateWithFlags &x1 g1 0
  cuStreamBeginCapture_v2 t 2
  cuMemAllocAsync &a2 4096 t
  cuMemsetD8Async a2 5 4096 t
  cuMemFreeAsync a2 t
  cuStreamEndCapture t &g2 = 0 new
  cuGraphInstantiateWithFlags &x2 g2 0
  cuGraphLaunch x1 s
  cuGraphLaunch x2 t
  cuDeviceGetGraphMemAttribute 0 0 & = 0 67108864
  cuDeviceGetGraphMemAttribute 0 1 & = 0 67108864
  cuDeviceGetGraphMemAttribute 0 2 & = 0 67108864
  cuDeviceGetGraphMemAttribute 0 3 & = 0 67108864
  settle
  cuDeviceGetGraphMemAttribute 0 0 & = 0 67108864
  cuDeviceGetGraphMemAttribute 0 1 & = 0 67108864
  cuDeviceGetGraphMemAttribute 0 2 & = 0 67108864
  cuDeviceGetGraphMemAttribute 0 3 & = 0 67108864

# counters of a graph that leaves its memory
  cuStreamCreateWithPriority &s 1 0
  cuStreamBeginCapture_v2 s 2
  cuMemAllocAsync &a 4096 s
  cuMemsetD8Async a 5 4096 s
  cuStreamEndCapture s &g = 0 new
  cuGraphInstantiateWithFlags &x g 0
  cuGraphLaunch x s
  settle
  cuDeviceGetGraphMemAttribute 0 0 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 1 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 2 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 3 & = 0 33554432
  cuDeviceGraphMemTrim 0
  cuDeviceGetGraphMemAttribute 0 0 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 1 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 2 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 3 & = 0 33554432
  cuMemFreeAsync a s
  cuDeviceGetGraphMemAttribute 0 0 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 1 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 2 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 3 & = 0 33554432
  settle
  cuDeviceGetGraphMemAttribute 0 0 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 1 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 2 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 3 & = 0 33554432
  cuDeviceGraphMemTrim 0
  cuDeviceGetGraphMemAttribute 0 0 & = 0 0
  cuDeviceGetGraphMemAttribute 0 1 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 2 & = 0 0
  cuDeviceGetGraphMemAttribute 0 3 & = 0 33554432

# questions about memory of a graph
  cuStreamCreateWithPriority &s 1 0
  cuStreamBeginCapture_v2 s 2
  cuMemAllocAsync &a 4096 s
  cuMemsetD8Async a 5 4096 s
  cuMemGetAddressRange_v2 & & a+16 = 500
  cuPointerGetAttribute & 2 a = 1
  cuStreamEndCapture s &g = 0 new
  cuMemGetAddressRange_v2 & & a+16 = 500
  cuPointerGetAttribute & 2 a = 1
  cuGraphInstantiateWithFlags &x g 0
  cuMemGetAddressRange_v2 & & a+16 = 500
  cuPointerGetAttribute & 2 a = 1
  cuGraphLaunch x s
  settle
  cuMemGetAddressRange_v2 & & a+16 = 0 a 4096
  cuPointerGetAttribute & 1 a = 0 null
  cuPointerGetAttribute & 2 a = 0 2
  cuPointerGetAttribute & 3 a+16 = 0 a+16
  cuPointerGetAttribute & 4 a = 1
  cuPointerGetAttribute & 7 a = 0 set
  cuPointerGetAttribute & 8 a = 0 0
  cuPointerGetAttribute & 9 a = 0 0
  cuPointerGetAttribute & 10 a = 0 0
  cuPointerGetAttribute & 11 a = 0 a
  cuPointerGetAttribute & 12 a = 0 4096
  cuPointerGetAttribute & 13 a = 0 1
  cuPointerGetAttribute & 17 a = 0 null
  cuMemHostGetFlags & a = 1
  cuMemHostGetDevicePointer_v2 & a 0 = 1
  cuMemFreeAsync a s
  settle
  cuMemGetAddressRange_v2 & & ~a = 500
  cuPointerGetAttribute & 2 ~a = 1

# memory of a graph
  cuStreamCreateWithPriority &s 1 0
  array h 64
  cuStreamBeginCapture_v2 s 2
  cuMemAllocAsync &a 4096 s
  cuMemsetD8Async a 5 4096 s
  cuStreamEndCapture s &g = 0 new
  cuGraphGetNodes g null & = 0 2
  cuGraphInstantiateWithFlags &x g 0
  cuGraphInstantiateWithFlags &y g 0 = 801
  cuMemFreeAsync a s = 1
  cuGraphLaunch x s
  cuMemcpyDtoHAsync_v2 @h a 64 s
  cuGraphLaunch x s = 1
  cuMemFreeAsync a s
  settle
  look h 64 = 0 05*64
  cuGraphLaunch x s
  cuMemFreeAsync ~a s
  settle

# counters of graph memory
  cuStreamCreateWithPriority &s 1 0
  cuDeviceGetGraphMemAttribute 0 0 & = 0 0
  cuStreamBeginCapture_v2 s 2
  cuMemAllocAsync &a 4096 s
  cuMemFreeAsync a s
  cuStreamEndCapture s &g = 0 new
  cuGraphInstantiateWithFlags &x g 0
  cuDeviceGetGraphMemAttribute 0 2 & = 0 0
  cuGraphLaunch x s
  settle
  cuDeviceGetGraphMemAttribute 0 0 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 1 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 2 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 3 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 4 & = 1
  cuDeviceSetGraphMemAttribute 0 1 u64:0
  cuDeviceSetGraphMemAttribute 0 0 u64:0 = 1
  cuDeviceSetGraphMemAttribute 0 1 u64:5 = 1
  cuGraphExecDestroy x
  cuDeviceGraphMemTrim 0
  cuDeviceGetGraphMemAttribute 0 2 & = 0 0

# counters of a graph on two streams
  cuStreamCreateWithPriority &s 1 0
  cuStreamCreateWithPriority &t 1 0
  cuStreamBeginCapture_v2 s 2
  cuMemAllocAsync &a1 4096 s
  cuMemsetD8Async a1 5 4096 s
  cuMemFreeAsync a1 s
  cuStreamEndCapture s &g1 = 0 new
  cuGraphInstantiateWithFlags &x1 g1 0
  cuGraphLaunch x1 s
  settle
  cuDeviceGetGraphMemAttribute 0 0 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 1 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 2 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 3 & = 0 33554432
  cuGraphLaunch x1 t
  settle
  cuDeviceGetGraphMemAttribute 0 0 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 1 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 2 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 3 & = 0 33554432
  cuGraphLaunch x1 s
  settle
  cuDeviceGetGraphMemAttribute 0 0 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 1 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 2 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 3 & = 0 33554432
  cuDeviceGraphMemTrim 0
  cuDeviceGetGraphMemAttribute 0 0 & = 0 0
  cuDeviceGetGraphMemAttribute 0 1 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 2 & = 0 0
  cuDeviceGetGraphMemAttribute 0 3 & = 0 33554432

# counters of two graphs on two streams, one after the other
  cuStreamCreateWithPriority &s 1 0
  cuStreamCreateWithPriority &t 1 0
  cuStreamBeginCapture_v2 s 2
  cuMemAllocAsync &a1 4096 s
  cuMemsetD8Async a1 5 4096 s
  cuMemFreeAsync a1 s
  cuStreamEndCapture s &g1 = 0 new
  cuGraphInstantiateWithFlags &x1 g1 0
  cuStreamBeginCapture_v2 s 2
  cuMemAllocAsync &a2 4096 s
  cuMemsetD8Async a2 5 4096 s
  cuMemFreeAsync a2 s
  cuStreamEndCapture s &g2 = 0 new
  cuGraphInstantiateWithFlags &x2 g2 0
  cuGraphLaunch x1 s
  settle
  cuGraphLaunch x2 t
  settle
  cuDeviceGetGraphMemAttribute 0 0 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 1 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 2 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 3 & = 0 33554432
  cuGraphLaunch x2 s
  settle
  cuDeviceGetGraphMemAttribute 0 0 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 1 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 2 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 3 & = 0 33554432

# counters of two graphs on one stream, the first of which leaves its memory
  cuStreamCreateWithPriority &s 1 0
  cuStreamBeginCapture_v2 s 2
  cuMemAllocAsync &a1 4096 s
  cuMemsetD8Async a1 5 4096 s
  cuStreamEndCapture s &g1 = 0 new
  cuGraphInstantiateWithFlags &x1 g1 0
  cuStreamBeginCapture_v2 s 2
  cuMemAllocAsync &a2 4096 s
  cuMemsetD8Async a2 5 4096 s
  cuMemFreeAsync a2 s
  cuStreamEndCapture s &g2 = 0 new
  cuGraphInstantiateWithFlags &x2 g2 0
  cuGraphLaunch x1 s
  cuGraphLaunch x2 s
  settle
  cuDeviceGetGraphMemAttribute 0 0 & = 0 67108864
  cuDeviceGetGraphMemAttribute 0 1 & = 0 67108864
  cuDeviceGetGraphMemAttribute 0 2 & = 0 67108864
  cuDeviceGetGraphMemAttribute 0 3 & = 0 67108864
  cuGraphLaunch x2 s
  settle
  cuDeviceGetGraphMemAttribute 0 0 & = 0 67108864
  cuDeviceGetGraphMemAttribute 0 1 & = 0 67108864
  cuDeviceGetGraphMemAttribute 0 2 & = 0 67108864
  cuDeviceGetGraphMemAttribute 0 3 & = 0 67108864
  cuMemFreeAsync a1 s
  settle
  cuDeviceGetGraphMemAttribute 0 0 & = 0 67108864
  cuDeviceGetGraphMemAttribute 0 1 & = 0 67108864
  cuDeviceGetGraphMemAttribute 0 2 & = 0 67108864
  cuDeviceGetGraphMemAttribute 0 3 & = 0 67108864
  cuGraphLaunch x1 s
  settle
  cuDeviceGetGraphMemAttribute 0 0 & = 0 67108864
  cuDeviceGetGraphMemAttribute 0 1 & = 0 67108864
  cuDeviceGetGraphMemAttribute 0 2 & = 0 67108864
  cuDeviceGetGraphMemAttribute 0 3 & = 0 67108864
  cuDeviceGraphMemTrim 0
  cuDeviceGetGraphMemAttribute 0 0 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 1 & = 0 67108864
  cuDeviceGetGraphMemAttribute 0 2 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 3 & = 0 67108864

# counters of two graphs on one stream, the second of which leaves its memory
  cuStreamCreateWithPriority &s 1 0
  cuStreamBeginCapture_v2 s 2
  cuMemAllocAsync &a1 4096 s
  cuMemsetD8Async a1 5 4096 s
  cuMemFreeAsync a1 s
  cuStreamEndCapture s &g1 = 0 new
  cuGraphInstantiateWithFlags &x1 g1 0
  cuStreamBeginCapture_v2 s 2
  cuMemAllocAsync &a2 4096 s
  cuMemsetD8Async a2 5 4096 s
  cuStreamEndCapture s &g2 = 0 new
  cuGraphInstantiateWithFlags &x2 g2 0
  cuGraphLaunch x1 s
  cuGraphLaunch x2 s
  settle
  cuDeviceGetGraphMemAttribute 0 0 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 1 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 2 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 3 & = 0 33554432
  cuGraphLaunch x1 s
  settle
  cuDeviceGetGraphMemAttribute 0 0 & = 0 67108864
  cuDeviceGetGraphMemAttribute 0 1 & = 0 67108864
  cuDeviceGetGraphMemAttribute 0 2 & = 0 67108864
  cuDeviceGetGraphMemAttribute 0 3 & = 0 67108864
  cuDeviceGraphMemTrim 0
  cuDeviceGetGraphMemAttribute 0 0 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 1 & = 0 67108864
  cuDeviceGetGraphMemAttribute 0 2 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 3 & = 0 67108864

# counters of a small graph and a large one on one stream
  cuStreamCreateWithPriority &s 1 0
  cuStreamBeginCapture_v2 s 2
  cuMemAllocAsync &a1 4096 s
  cuMemsetD8Async a1 5 4096 s
  cuMemFreeAsync a1 s
  cuStreamEndCapture s &g1 = 0 new
  cuGraphInstantiateWithFlags &x1 g1 0
  cuStreamBeginCapture_v2 s 2
  cuMemAllocAsync &a2 41943040 s
  cuMemsetD8Async a2 5 41943040 s
  cuMemFreeAsync a2 s
  cuStreamEndCapture s &g2 = 0 new
  cuGraphInstantiateWithFlags &x2 g2 0
  cuGraphLaunch x1 s
  cuGraphLaunch x2 s
  settle
  cuDeviceGetGraphMemAttribute 0 0 & = 0 67108864
  cuDeviceGetGraphMemAttribute 0 1 & = 0 67108864
  cuDeviceGetGraphMemAttribute 0 2 & = 0 67108864
  cuDeviceGetGraphMemAttribute 0 3 & = 0 67108864
  cuGraphLaunch x1 s
  settle
  cuDeviceGetGraphMemAttribute 0 0 & = 0 67108864
  cuDeviceGetGraphMemAttribute 0 1 & = 0 67108864
  cuDeviceGetGraphMemAttribute 0 2 & = 0 67108864
  cuDeviceGetGraphMemAttribute 0 3 & = 0 67108864

# counters of a large graph and a small one on one stream
  cuStreamCreateWithPriority &s 1 0
  cuStreamBeginCapture_v2 s 2
  cuMemAllocAsync &a1 41943040 s
  cuMemsetD8Async a1 5 41943040 s
  cuMemFreeAsync a1 s
  cuStreamEndCapture s &g1 = 0 new
  cuGraphInstantiateWithFlags &x1 g1 0
  cuStreamBeginCapture_v2 s 2
  cuMemAllocAsync &a2 4096 s
  cuMemsetD8Async a2 5 4096 s
  cuMemFreeAsync a2 s
  cuStreamEndCapture s &g2 = 0 new
  cuGraphInstantiateWithFlags &x2 g2 0
  cuGraphLaunch x1 s
  cuGraphLaunch x2 s
  settle
  cuDeviceGetGraphMemAttribute 0 0 & = 0 67108864
  cuDeviceGetGraphMemAttribute 0 1 & = 0 67108864
  cuDeviceGetGraphMemAttribute 0 2 & = 0 67108864
  cuDeviceGetGraphMemAttribute 0 3 & = 0 67108864

# counters of graphs that leave their memory on one stream
  cuStreamCreateWithPriority &s 1 0
  cuStreamBeginCapture_v2 s 2
  cuMemAllocAsync &a1 4096 s
  cuMemsetD8Async a1 5 4096 s
  cuStreamEndCapture s &g1 = 0 new
  cuGraphInstantiateWithFlags &x1 g1 0
  cuStreamBeginCapture_v2 s 2
  cuMemAllocAsync &a2 4096 s
  cuMemsetD8Async a2 5 4096 s
  cuStreamEndCapture s &g2 = 0 new
  cuGraphInstantiateWithFlags &x2 g2 0
  cuStreamBeginCapture_v2 s 2
  cuMemAllocAsync &a3 4096 s
  cuMemsetD8Async a3 5 4096 s
  cuMemFreeAsync a3 s
  cuStreamEndCapture s &g3 = 0 new
  cuGraphInstantiateWithFlags &x3 g3 0
  cuGraphLaunch x1 s
  cuGraphLaunch x2 s
  settle
  cuDeviceGetGraphMemAttribute 0 0 & = 0 67108864
  cuDeviceGetGraphMemAttribute 0 1 & = 0 67108864
  cuDeviceGetGraphMemAttribute 0 2 & = 0 67108864
  cuDeviceGetGraphMemAttribute 0 3 & = 0 67108864
  cuGraphLaunch x3 s
  settle
  cuDeviceGetGraphMemAttribute 0 0 & = 0 100663296
  cuDeviceGetGraphMemAttribute 0 1 & = 0 100663296
  cuDeviceGetGraphMemAttribute 0 2 & = 0 100663296
  cuDeviceGetGraphMemAttribute 0 3 & = 0 100663296
  cuMemFreeAsync a1 s
  settle
  cuGraphLaunch x3 s
  settle
  cuDeviceGetGraphMemAttribute 0 0 & = 0 100663296
  cuDeviceGetGraphMemAttribute 0 1 & = 0 100663296
  cuDeviceGetGraphMemAttribute 0 2 & = 0 100663296
  cuDeviceGetGraphMemAttribute 0 3 & = 0 100663296

# counters of a graph with blocks behind each other
  cuStreamCreateWithPriority &s 1 0
  cuStreamBeginCapture_v2 s 2
  cuMemAllocAsync &a 20971520 s
  cuMemFreeAsync a s
  cuMemAllocAsync &b 20971520 s
  cuMemFreeAsync b s
  cuStreamEndCapture s &g = 0 new
  cuGraphInstantiateWithFlags &x g 0
  cuGraphLaunch x s
  settle
  cuDeviceGetGraphMemAttribute 0 0 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 1 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 2 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 3 & = 0 33554432

# counters of a graph with blocks at once
  cuStreamCreateWithPriority &s 1 0
  cuStreamBeginCapture_v2 s 2
  cuMemAllocAsync &a 20971520 s
  cuMemAllocAsync &b 20971520 s
  cuMemFreeAsync a s
  cuMemFreeAsync b s
  cuStreamEndCapture s &g = 0 new
  cuGraphInstantiateWithFlags &x g 0
  cuGraphLaunch x s
  settle
  cuDeviceGetGraphMemAttribute 0 0 & = 0 67108864
  cuDeviceGetGraphMemAttribute 0 1 & = 0 67108864
  cuDeviceGetGraphMemAttribute 0 2 & = 0 67108864
  cuDeviceGetGraphMemAttribute 0 3 & = 0 67108864

# a graph that frees the memory of another
  cuStreamCreateWithPriority &s 1 0
  cuStreamBeginCapture_v2 s 2
  cuMemAllocAsync &a1 4096 s
  cuMemsetD8Async a1 5 4096 s
  cuStreamEndCapture s &g1 = 0 new
  cuGraphInstantiateWithFlags &x1 g1 0
  cuGraphLaunch x1 s
  settle
  cuStreamBeginCapture_v2 s 2
  cuMemsetD8Async a1 6 64 s
  cuMemFreeAsync a1 s
  cuMemGetAddressRange_v2 & & a1 = ?
  cuPointerGetAttribute & 2 a1 = ?
  cuStreamEndCapture s &g = 0 new
  cuGraphInstantiateWithFlags &x g 0 = ?
  cuGraphLaunch x s = ?
  settle
  cuDeviceGetGraphMemAttribute 0 0 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 1 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 2 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 3 & = 0 33554432

# a graph that frees what another is still to bring
  cuStreamCreateWithPriority &s 1 0
  cuStreamBeginCapture_v2 s 2
  cuMemAllocAsync &a 4096 s
  cuStreamEndCapture s &g1 = 0 new
  cuMemFreeAsync a s = 1
  cuStreamBeginCapture_v2 s 2
  cuMemFreeAsync a s = 0
  cuStreamEndCapture s &g2 = 0 new
  cuGraphGetNodes g2 null & = 0 1

# counters of a graph with blocks on branches
  cuStreamCreateWithPriority &s 1 0
  cuStreamCreateWithPriority &t 1 0
  cuEventCreate &e 2
  cuEventCreate &f 2
  cuStreamBeginCapture_v2 s 2
  cuMemAllocAsync &a 20971520 s
  cuEventRecord e s
  cuStreamWaitEvent t e 0
  cuMemFreeAsync a s
  cuMemAllocAsync &b 20971520 t
  cuMemFreeAsync b t
  cuEventRecord f t
  cuStreamWaitEvent s f 0
  cuStreamEndCapture s &g = 0 new
  cuGraphInstantiateWithFlags &x g 0
  cuGraphLaunch x s
  settle
  cuDeviceGetGraphMemAttribute 0 0 & = 0 67108864
  cuDeviceGetGraphMemAttribute 0 1 & = 0 67108864
  cuDeviceGetGraphMemAttribute 0 2 & = 0 67108864
  cuDeviceGetGraphMemAttribute 0 3 & = 0 67108864

# counters of a graph with a gap between blocks
  cuStreamCreateWithPriority &s 1 0
  cuStreamBeginCapture_v2 s 2
  cuMemAllocAsync &a 20971520 s
  cuMemAllocAsync &b 20971520 s
  cuMemFreeAsync a s
  cuMemAllocAsync &c 31457280 s
  cuMemFreeAsync b s
  cuMemFreeAsync c s
  cuStreamEndCapture s &g = 0 new
  cuGraphInstantiateWithFlags &x g 0
  cuGraphLaunch x s
  settle
  cuDeviceGetGraphMemAttribute 0 0 & = 0 100663296
  cuDeviceGetGraphMemAttribute 0 1 & = 0 100663296
  cuDeviceGetGraphMemAttribute 0 2 & = 0 100663296
  cuDeviceGetGraphMemAttribute 0 3 & = 0 100663296

# counters of graphs on streams of which one was waited for
  cuStreamCreateWithPriority &s 1 0
  cuStreamCreateWithPriority &t 1 0
  cuStreamBeginCapture_v2 s 2
  cuMemAllocAsync &a 4096 s
  cuMemFreeAsync a s
  cuStreamEndCapture s &g = 0 new
  cuGraphInstantiateWithFlags &x g 0
  cuStreamBeginCapture_v2 s 2
  cuMemAllocAsync &b 4096 s
  cuMemFreeAsync b s
  cuStreamEndCapture s &h = 0 new
  cuGraphInstantiateWithFlags &y h 0
  cuGraphLaunch x s
  cuStreamSynchronize s
  cuGraphLaunch y t
  cuDeviceGetGraphMemAttribute 0 0 & = 0 33554432
  cuEventCreate &e 2
  cuEventRecord e t
  cuStreamWaitEvent s e 0
  cuGraphLaunch x s
  cuDeviceGetGraphMemAttribute 0 0 & = 0 33554432
  settle
  cuGraphLaunch x t
  cuGraphLaunch y t
  settle
  cuDeviceGetGraphMemAttribute 0 0 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 1 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 2 & = 0 33554432
  cuDeviceGetGraphMemAttribute 0 3 & = 0 33554432
`);
