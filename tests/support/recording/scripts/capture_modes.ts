// Captures that are not relaxed: 26 functions are refused in them, whatever they are asked, and the
// capture does not survive that. A relaxed capture allows them all.

import { readScripts, type Script } from "./script.ts";

/** The steps before the capture begins. */
export const SCENE = `
  cuStreamCreateWithPriority &s 1 0
  cuStreamCreateWithPriority &t 1 0
  cuEventCreate &e 2
  cuEventRecord e t
  cuMemAlloc_v2 &a 4096
  cuMemHostAlloc &p 4096 0
  cuMemAllocManaged &m 65536 1
  cuMemAllocAsync &b 4096 t
  array h 8192
  array r 8192
  cuMemHostRegister_v2 r 4096 0
  cuMemPoolCreate &q {allocType:1,location.type:1}
  cuModuleLoadData &k <kernels>
  cuStreamCreateWithPriority &v 1 0
  cuStreamBeginCapture_v2 v 2
  cuMemsetD8Async a 1 16 v
  cuStreamEndCapture v &g
  cuGraphInstantiateWithFlags &x g 0
  settle`;

/** A call of each function, which a capture that is not relaxed forbids. */
export const FORBIDDEN: readonly string[] = [
  "cuMemAlloc_v2 &n 256",
  "cuMemAllocPitch_v2 &n & 100 4 4",
  "cuMemFree_v2 a",
  "cuMemFree_v2 0",
  "cuMemHostAlloc &n 4096 0",
  "cuMemFreeHost p",
  "cuMemHostRegister_v2 h 4096 0",
  "cuMemHostUnregister r",
  "cuMemAllocManaged &n 4096 1",
  "cuMemAdvise m 65536 1 0",
  "cuMemPoolTrimTo pool0 0",
  "cuMemPoolSetAttribute pool0 4 u64:0",
  "cuMemPoolGetAttribute pool0 4 &",
  "cuMemPoolSetAccess q {location.type:1,flags:3} 1",
  "cuMemPoolGetAccess & q {type:1}",
  "cuMemPoolCreate &n {allocType:1,location.type:1}",
  "cuMemPoolDestroy q",
  "cuMemAllocAsync &n 256 t",
  "cuMemAllocFromPoolAsync &n 256 pool0 t",
  "cuMemFreeAsync b t",
  "cuStreamQuery t",
  "cuStreamSynchronize t",
  "cuEventQuery e",
  "cuEventSynchronize e",
  "cuModuleUnload k",
  "cuGraphInstantiateWithFlags &n g 0",
  "cuGraphExecDestroy x",
];

/** Calls that every capture allows. */
const ALLOWED = [
  "cuMemAllocAsync &n 256 s",
  "cuMemGetInfo_v2 & &",
  "cuPointerGetAttribute & 2 a",
  "cuMemGetAddressRange_v2 & & a",
  "cuEventRecord e t",
  "cuMemsetD8Async a 1 16 t",
  "cuMemPrefetchAsync m 65536 0 t",
  "cuGraphLaunch x t",
  "cuStreamCreateWithPriority &n 1 0",
  "cuEventCreate &n 0",
  "cuGraphDestroy g",
  "cuMemHostGetFlags & p",
  "cuDeviceGraphMemTrim 0",
];

function scriptOf(call: string, mode: number, outcome: { gives: string; ends: string }): string {
  const title = `${call.replaceAll(/[&{}]/g, "")} in a capture of mode ${mode}`;
  return `# ${title}${SCENE}
  cuStreamBeginCapture_v2 s ${mode}
  ${call} = ${outcome.gives}
  cuStreamEndCapture s &c = ${outcome.ends}`;
}

const forbidden = [0, 1].flatMap((mode) =>
  FORBIDDEN.map((call) => scriptOf(call, mode, { gives: "900", ends: "901 null" }))
);
const allowed = [0, 1, 2].flatMap((mode) =>
  ALLOWED.map((call) => scriptOf(call, mode, { gives: "0", ends: "0 new" }))
);
const relaxed = FORBIDDEN.map((call) => scriptOf(call, 2, { gives: "0", ends: "0 new" }));

const OTHERS = `
# a capture that was disturbed stays so
  cuStreamCreateWithPriority &s 1 0
  cuStreamCreateWithPriority &t 1 0
  cuMemAlloc_v2 &a 256
  cuStreamBeginCapture_v2 s 0
  cuStreamQuery t = 900
  cuStreamQuery t = 900
  cuMemsetD8Async a 1 16 s = 901
  cuStreamBeginCapture_v2 s 0 = 401
  cuStreamEndCapture s &c = 901 null
  cuStreamQuery t

# a wait of another thread in a capture of mode 0
  cuStreamCreateWithPriority &s 1 0
  cuStreamCreateWithPriority &t 1 0
  cuStreamBeginCapture_v2 s 0
  cuStreamSynchronizeNonblocking t = 900
  cuStreamEndCapture s &c = 901 null

# a wait of another thread for one of two captures
  cuStreamCreateWithPriority &s 1 0
  cuStreamCreateWithPriority &t 1 0
  cuStreamBeginCapture_v2 s 0
  cuStreamBeginCapture_v2 t 2
  cuStreamSynchronizeNonblocking t = 900
  cuStreamEndCapture s &c = 0 new
  cuStreamEndCapture t &d = 901 null

# a wait of another thread in a capture of mode 1
  cuStreamCreateWithPriority &s 1 0
  cuStreamCreateWithPriority &t 1 0
  cuStreamBeginCapture_v2 s 1
  cuStreamSynchronizeNonblocking t
  cuStreamEndCapture s &c = 0 new

# a wait for all in a strict capture of another context (two devices)
  cuCtxSetCurrent ctx1
  cuStreamCreateWithPriority &s 1 0
  cuCtxSetCurrent ctx0
  cuStreamBeginCapture_v2 s 0
  cuCtxSynchronize
  cuStreamEndCapture s &c = 0 new

# handles for other processes in a strict capture
  cuStreamCreateWithPriority &s 1 0
  cuMemAlloc_v2 &a 256
  cuEventCreate &e 6
  cuStreamBeginCapture_v2 s 0
  cuIpcGetMemHandle &i a = 0 new
  cuIpcGetEventHandle &j e = 0 new
  cuIpcOpenMemHandle_v2 & zeros 1 = 1
  cuIpcOpenEventHandle & zeros = 205
  cuIpcCloseMemHandle a = 1
  cuDeviceGetGraphMemAttribute 0 0 & = 0 0
  cuDeviceSetGraphMemAttribute 0 1 u64:0
  cuStreamEndCapture s &c = 0 new

# a strict capture beside a relaxed one
  cuStreamCreateWithPriority &s 1 0
  cuStreamCreateWithPriority &t 1 0
  cuStreamBeginCapture_v2 s 2
  cuStreamBeginCapture_v2 t 1
  cuMemAlloc_v2 &a 256 = 900
  cuStreamEndCapture t &d = 901 null
  cuMemAlloc_v2 &a 256
  cuStreamEndCapture s &c = 0 new
`;

/** The scripts. */
export const CAPTURE_MODE_SCRIPTS: readonly Script[] = readScripts(
  [...forbidden, ...allowed, ...relaxed, OTHERS].join("\n"),
);
