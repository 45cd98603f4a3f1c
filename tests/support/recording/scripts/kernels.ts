// What the driver says of modules and launches, and races, of kernels too.

import { IMAGES } from "../images.ts";
import { readScripts, type Script } from "./script.ts";

/** Images that are refused, with the status. */
const BAD_IMAGES = {
  empty: 200,
  words: 200,
  source: 200,
  versionless: 200,
  comment: 200,
  targetless: 218,
  future: 222,
  elf: 200,
  fatbin: 200,
  zeros: 200,
} as const;

const images = Object.entries(BAD_IMAGES).map(([name, status]) => `
# the image ${name}
  cuModuleLoadData &m <${name}> = ${status}
`);

/** Launches by grid, block and shared memory, with the status. */
const SHAPES = {
  "1 1 1 1 1 1 0": 0,
  "65535 1 1 1 1 1 0": 0,
  "1 65535 1 1 1 1 0": 0,
  "1 1 65535 1 1 1 0": 0,
  "1 1 1 1024 1 1 0": 0,
  "1 1 1 1 1024 1 0": 0,
  "1 1 1 1 1 64 0": 0,
  "1 1 1 1 1 1 49152": 0,
  "2147483648 1 1 1 1 1 0": 1,
  "1 65536 1 1 1 1 0": 1,
  "1 1 65536 1 1 1 0": 1,
  "1 1 1 1025 1 1 0": 1,
  "1 1 1 1 1025 1 0": 1,
  "1 1 1 1 1 65 0": 1,
  "1 1 1 32 33 1 0": 1,
  "1 1 1 1 1 1 49153": 1,
  "0 1 1 1 1 1 0": 1,
  "1 0 1 1 1 1 0": 1,
  "1 1 1 0 1 1 0": 1,
  "1 1 1 1 1 0 0": 1,
} as const;

const launches = Object.entries(SHAPES)
  .map(([shape, status]) => `  cuLaunchKernel nothing0 ${shape} s null null = ${status}`);

/** Two pieces of work on the same bytes, on two streams without order, and then a wait. */
const WORK = {
  kernel: (stream: string) =>
    `  cuLaunchKernel fill0 1 1 1 1 1 1 0 ${stream} (u64:a,u32:7,u32:64) null`,
  fill: (stream: string) => `  cuMemsetD8Async a 9 64 ${stream}`,
} as const;

const races = (["kernel", "fill"] as const).flatMap((first) =>
  (["kernel", "fill"] as const).flatMap((second) =>
    ["cuStreamSynchronize s", "cuStreamSynchronize t", "settle"].map((wait) => `
# a ${first} and a ${second} at once, and then ${wait}
  cuStreamCreateWithPriority &s 1 0
  cuStreamCreateWithPriority &t 1 0
  cuMemAlloc_v2 &a 64
  cuMemsetD8Async a 0 64 0
  settle
${WORK[first]("s")} = ?
${WORK[second]("t")} = ?
  ${wait} = ?
  settle = ?
`)
  )
);

const OTHERS = `
# a module and its functions
  cuModuleLoadData &m <kernels>
  cuModuleGetFunction &f m "fill" = 0 new
  cuModuleGetFunction &g m "missing" = 500
  cuModuleGetFunction &g m "" = 1
  cuModuleGetFunction null m "fill" = 1
  cuModuleGetFunction &g 0 "fill" = 400
  cuModuleGetGlobal_v2 & & m "missing" = 500
  cuModuleUnload 0 = 400
  cuModuleLoadData &n null = 1
  cuModuleLoadData null <kernels> = 1
  cuModuleLoadData &b <bare> = 0 new
  settle
  cuModuleUnload m
  cuCtxSetCurrent 0
  cuModuleLoadData &n <kernels> = 201

# a module with options, of which there are none
  cuModuleLoadDataEx &m <kernels> 0 null null
  cuModuleGetFunction &f m "fill" = 0 new
  cuModuleLoadDataEx &n <versionless> 0 null null = 200
  settle
  cuModuleUnload m

# a link of one piece
  cuLinkCreate_v2 0 null null &l
  cuLinkAddData_v2 l 1 <kernels> ${IMAGES["kernels"]?.byteLength} null 0 null null
  cuLinkComplete l & &
  cuLinkDestroy l

# a library and its kernels
  cuLibraryLoadData &l <kernels> null null 0 null null 0
  cuLibraryGetKernel &k l "fill" = 0 new
  cuLibraryGetKernel &n l "missing" = 500
  cuKernelGetFunction &f k = 0 new
  cuLibraryGetGlobal & & l "missing" = 500
  cuFuncGetAttribute & 0 f
  cuFuncGetAttribute & 8 f
  cuFuncSetAttribute f 8 65536
  cuFuncSetAttribute f 8 -1 = 1
  cuFuncGetParamInfo f 0 & & = 0 0 8
  cuFuncGetParamInfo f 1 & & = 0 8 4
  cuFuncGetParamInfo f 2 & & = 0 12 4
  cuFuncGetParamInfo f 3 & & = 1
  cuOccupancyMaxActiveBlocksPerMultiprocessor & f 64 0
  cuOccupancyMaxPotentialBlockSize & & f null 0 0
  cuLibraryUnload l
  cuLibraryUnload 0 = 400

# libraries whose images nobody has looked into yet
  cuLibraryLoadData &l1 <words> null null 0 null null 0 = 0 new
  cuLibraryLoadData &l2 <empty> null null 0 null null 0 = 0 new
  cuLibraryLoadData &l3 <elf> null null 0 null null 0 = 0 new
  cuLibraryLoadData &l4 <future> null null 0 null null 0 = 0 new
  cuLibraryGetKernel &k l1 "fill" = 200
  cuLibraryGetKernel &k l4 "fill" = 222
  cuLibraryUnload l1
  cuLibraryLoadData &l5 <kernels> null null 0 null null 0
  cuLibraryGetKernel &k l5 "" = 500

# a launch by a description
  cuStreamCreateWithPriority &s 1 0
  cuLibraryLoadData &l <kernels> null null 0 null null 0
  cuLibraryGetKernel &k l "nothing"
  cuKernelGetFunction &f k
  cuLaunchKernelEx {gridDimX:1,gridDimY:1,gridDimZ:1,blockDimX:1,blockDimY:1,blockDimZ:1,hStream:s} f null null
  cuLaunchKernelEx {gridDimX:0,gridDimY:1,gridDimZ:1,blockDimX:1,blockDimY:1,blockDimZ:1,hStream:s} f null null = 1
  cuStreamSynchronize s
  cuLibraryUnload l

# an image with a mistake
  cuModuleLoadData &m <stranger> = ?

# launches of every shape
  cuStreamCreateWithPriority &s 1 0
${launches.join("\n")}
  cuLaunchKernel 0 1 1 1 1 1 1 0 s null null = 400
  settle

# a kernel's work
  cuStreamCreateWithPriority &s 1 0
  cuMemAlloc_v2 &a 64
  cuMemAlloc_v2 &b 64
  array h 64
  cuLaunchKernel fill0 1 1 1 1 1 1 0 s (u64:a,u32:7,u32:32) null
  cuLaunchKernel fill0 2 1 1 64 1 1 0 s (u64:a+32,u32:8,u32:32) null
  cuLaunchKernel move0 1 1 1 32 1 1 0 s (u64:b,u64:a+16,u32:32) null
  cuMemcpyDtoHAsync_v2 @h b 32 s
  settle
  look h 32 = 0 07*16,08*16

# a kernel in a graph
  cuStreamCreateWithPriority &s 1 0
  cuMemAlloc_v2 &a 64
  array h 64
  cuStreamBeginCapture_v2 s 2
  cuLaunchKernel fill0 1 1 1 1 1 1 0 s (u64:a,u32:7,u32:64) null
  cuStreamEndCapture s &g = 0 new
  cuGraphGetNodes g null & = 0 1
  cuGraphInstantiateWithFlags &x g 0
  cuGraphLaunch x s
  cuMemcpyDtoHAsync_v2 @h a 64 s
  settle
  look h 64 = 0 07*64

# kernels in the order that events give
  cuStreamCreateWithPriority &s 1 0
  cuStreamCreateWithPriority &t 1 0
  cuEventCreate &e 2
  cuMemAlloc_v2 &a 64
  array h 64
  cuLaunchKernel fill0 1 1 1 1 1 1 0 s (u64:a,u32:7,u32:64) null
  cuEventRecord e s
  cuStreamWaitEvent t e 0
  cuLaunchKernel fill0 1 1 1 1 1 1 0 t (u64:a,u32:8,u32:64) null
  cuMemcpyDtoHAsync_v2 @h a 64 t
  settle
  look h 64 = 0 08*64
`;

/** The scripts. */
export const KERNEL_SCRIPTS: readonly Script[] = readScripts(
  [...images, ...races, OTHERS].join("\n"),
);
