// What the driver says of memory that graphs allocate, and of its counters.

import { readScripts, type Script } from "./script.ts";

/** Bytes by which the driver takes memory for graphs. */
const GRAPH_STEP_BYTES = 33554432;

/** The scripts. */
export const GRAPH_MEMORY_SCRIPTS: readonly Script[] = readScripts(`
# counters of two graphs on one stream
  cuStreamCreateWithPriority &s 1 0
  ${graph("1")}
  ${graph("2")}
  cuGraphLaunch x1 s
  ${counters(1)}
  cuGraphLaunch x2 s
  ${counters(1)}
  settle
  ${counters(1)}
  cuDeviceGraphMemTrim 0
  ${counters(0, 1)}
  cuGraphLaunch x1 s
  settle
  cuGraphExecDestroy x1
  ${counters(1)}
  cuDeviceSetGraphMemAttribute 0 1 u64:0
  cuDeviceSetGraphMemAttribute 0 3 u64:0
  ${counters(1)}

# counters of two graphs on two streams
  cuStreamCreateWithPriority &s 1 0
  cuStreamCreateWithPriority &t 1 0
  ${graph("1")}
  ${graph("2", { stream: "t" })}
  cuGraphLaunch x1 s
  cuGraphLaunch x2 t
  ${counters(2)}
  settle
  ${counters(2)}

# counters of a graph that leaves its memory
  cuStreamCreateWithPriority &s 1 0
  ${graph("", { keeps: true })}
  cuGraphLaunch x s
  settle
  ${counters(1)}
  cuDeviceGraphMemTrim 0
  ${counters(1)}
  cuMemFreeAsync a s
  ${counters(1)}
  settle
  ${counters(1)}
  cuDeviceGraphMemTrim 0
  ${counters(0, 1)}

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
  ${counters(1)}
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
  ${graph("1")}
  cuGraphLaunch x1 s
  settle
  ${counters(1)}
  cuGraphLaunch x1 t
  settle
  ${counters(1)}
  cuGraphLaunch x1 s
  settle
  ${counters(1)}
  cuDeviceGraphMemTrim 0
  ${counters(0, 1)}

# counters of two graphs on two streams, one after the other
  cuStreamCreateWithPriority &s 1 0
  cuStreamCreateWithPriority &t 1 0
  ${graph("1")}
  ${graph("2")}
  cuGraphLaunch x1 s
  settle
  cuGraphLaunch x2 t
  settle
  ${counters(1)}
  cuGraphLaunch x2 s
  settle
  ${counters(1)}

# counters of two graphs on one stream, the first of which leaves its memory
  cuStreamCreateWithPriority &s 1 0
  ${graph("1", { keeps: true })}
  ${graph("2")}
  cuGraphLaunch x1 s
  cuGraphLaunch x2 s
  settle
  ${counters(2)}
  cuGraphLaunch x2 s
  settle
  ${counters(2)}
  cuMemFreeAsync a1 s
  settle
  ${counters(2)}
  cuGraphLaunch x1 s
  settle
  ${counters(2)}
  cuDeviceGraphMemTrim 0
  ${counters(1, 2)}

# counters of two graphs on one stream, the second of which leaves its memory
  cuStreamCreateWithPriority &s 1 0
  ${graph("1")}
  ${graph("2", { keeps: true })}
  cuGraphLaunch x1 s
  cuGraphLaunch x2 s
  settle
  ${counters(1)}
  cuGraphLaunch x1 s
  settle
  ${counters(2)}
  cuDeviceGraphMemTrim 0
  ${counters(1, 2)}

# counters of a small graph and a large one on one stream
  cuStreamCreateWithPriority &s 1 0
  ${graph("1")}
  ${graph("2", { byteLength: 41943040 })}
  cuGraphLaunch x1 s
  cuGraphLaunch x2 s
  settle
  ${counters(2)}
  cuGraphLaunch x1 s
  settle
  ${counters(2)}

# counters of a large graph and a small one on one stream
  cuStreamCreateWithPriority &s 1 0
  ${graph("1", { byteLength: 41943040 })}
  ${graph("2")}
  cuGraphLaunch x1 s
  cuGraphLaunch x2 s
  settle
  ${counters(2)}

# counters of graphs that leave their memory on one stream
  cuStreamCreateWithPriority &s 1 0
  ${graph("1", { keeps: true })}
  ${graph("2", { keeps: true })}
  ${graph("3")}
  cuGraphLaunch x1 s
  cuGraphLaunch x2 s
  settle
  ${counters(2)}
  cuGraphLaunch x3 s
  settle
  ${counters(3)}
  cuMemFreeAsync a1 s
  settle
  cuGraphLaunch x3 s
  settle
  ${counters(3)}

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
  ${counters(1)}

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
  ${counters(2)}

# a graph that frees the memory of another
  cuStreamCreateWithPriority &s 1 0
  ${graph("1", { keeps: true })}
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
  ${counters(1)}

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
  ${counters(2)}

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
  ${counters(3)}

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
  ${counters(1)}
`);

/** Steps that capture a graph xN with one block aN, fill the block, and free it unless the graph keeps it. */
function graph(
  name: string,
  { stream = "s", byteLength = 4096, keeps = false }: {
    readonly stream?: string;
    readonly byteLength?: number;
    readonly keeps?: boolean;
  } = {},
): string {
  return `cuStreamBeginCapture_v2 ${stream} 2
  cuMemAllocAsync &a${name} ${byteLength} ${stream}
  cuMemsetD8Async a${name} 5 ${byteLength} ${stream}
  ${keeps ? "" : `cuMemFreeAsync a${name} ${stream}`}
  cuStreamEndCapture ${stream} &g${name} = 0 new
  cuGraphInstantiateWithFlags &x${name} g${name} 0`;
}

/** Steps that read the bytes in use and the bytes reserved, each with its peak, in steps of the driver's. */
function counters(now: number, peak = now): string {
  return [now, peak, now, peak].map((count, attribute) =>
    `cuDeviceGetGraphMemAttribute 0 ${attribute} & = 0 ${count * GRAPH_STEP_BYTES}`
  ).join("\n");
}
