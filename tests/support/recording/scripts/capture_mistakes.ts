// Captures and what goes wrong in them: which mistakes end a capture, what is refused once it came to
// nothing, and what becomes of its events and its memory.

import { FORBIDDEN, SCENE } from "./capture_modes.ts";
import { readScripts, type Script } from "./script.ts";

/** Calls with something wrong about them, of which some forget the capture. */
const WRONG: readonly (readonly [call: string, gives: string, ends: string])[] = [
  ["cuMemAlloc_v2 &n 0", "900", "901 null"],
  ["cuMemAlloc_v2 null 256", "900", "901 null"],
  ["cuMemAllocPitch_v2 &n & 100 4 3", "1", "0 new"],
  ["cuMemAllocManaged &n 65536 4", "1", "0 new"],
  ["cuMemAllocManaged &n 0 1", "1", "0 new"],
  ["cuMemHostAlloc &n 4096 8", "900", "901 null"],
  ["cuMemHostAlloc &n 0 0", "900", "901 null"],
  ["cuMemHostRegister_v2 h 4096 16", "900", "901 null"],
  ["cuMemAdvise m 65536 99 0", "900", "901 null"],
  ["cuMemAdvise m 65536 3 64", "900", "901 null"],
  ["cuEventQuery 0", "400", "0 new"],
  ["cuEventSynchronize 0", "400", "0 new"],
  ["cuEventSynchronizeNonblocking 0", "400", "0 new"],
  ["cuStreamSynchronizeNonblocking 0", "201", "0 new"],
  ["cuGraphInstantiateWithFlags &n g 2", "1", "0 new"],
  ["cuGraphInstantiateWithFlags &n 0 0", "900", "901 null"],
  ["cuGraphExecDestroy 0", "900", "901 null"],
  ["cuCtxEnablePeerAccess ctx0 0", "217", "0 new"],
  ["cuCtxEnablePeerAccess ctx0 1", "1", "0 new"],
  ["cuCtxDisablePeerAccess ctx0", "900", "901 null"],
  ["cuModuleUnload 0", "400", "0 new"],
  ["cuStreamQuery 0", "900", "901 null"],
  ["cuLaunchKernel fill0 0 1 1 1 1 1 0 s (u64:a,u32:1,u32:1) null", "1", "901 null"],
  ["cuLaunchKernel fill0 1 1 1 1 1 1 49153 s (u64:a,u32:1,u32:1) null", "1", "901 null"],
  ["cuLaunchHostFunc s null 0", "1", "0 new"],
  ["cuMemcpyAsync a 0 16 s", "1", "0 new"],
  ["cuMemsetD32Async a+1 1 4 s", "1", "0 new"],
  ["cuMemsetD2D8Async a 3 1 16 2 s", "1", "0 new"],
  ["cuMemFreeAsync a s", "1", "0 new"],
  ["cuMemFreeAsync a+16 s", "1", "0 new"],
  ["cuMemFreeAsync b s", "1", "0 new"],
  ["cuMemFreeAsync m s", "1", "0 new"],
  ["cuMemFreeAsync p s", "1", "0 new"],
  ["cuMemFreeAsync 0 s", "0", "0 new"],
  ["cuMemAllocAsync &n 35184372088832 s", "2", "0 new"],
  ["cuMemAllocFromPoolAsync &n 256 0 s", "1", "0 new"],
  ["cuStreamWaitEvent s 0 0", "400", "901 null"],
  ["cuStreamWaitEvent s e 2", "1", "0 new"],
  ["cuEventRecord 0 s", "400", "0 new"],
  ["cuGraphLaunch 0 s", "900", "901 null"],
  ["cuMemPrefetchAsync p 64 0 s", "900", "901 null"],
  ["cuMemDiscardAndPrefetchBatchAsync [m] [65536] 1 {type:1,id:0} [0] 1 1 s", "1", "0 new"],
  ["cuMemDiscardAndPrefetchBatchAsync [p] [64] 1 {type:1,id:0} [0] 1 0 s", "900", "901 null"],
  ["cuMemcpyPeerAsync a ctx0 p 0 16 s", "900", "901 null"],
  ["cuMemcpyBatchAsync [a] [p] [64] 1 {srcAccessOrder:1} [0] 1 & s", "900", "0 new"],
  ["cuMemcpyBatchAsync [a] [p] [64] 1 {srcAccessOrder:1,flags:2} [0] 1 & s", "1", "0 new"],
  ["cuMemcpyBatchAsync [a] [p] [0] 1 {srcAccessOrder:1} [0] 1 & s", "900", "0 new"],
  ["!cuStreamWaitValue32_v2 s p 0 4", "1", "0 new"],
  ["!cuStreamWaitValue32_v2 s p 0 1073741824", "801", "0 new"],
  ["cuMemAllocPitch_v2 &n & 0 4 4", "1", "0 new"],
  ["cuMemAllocPitch_v2 null & 100 4 4", "1", "0 new"],
  ["cuMemAllocManaged null 4096 1", "1", "0 new"],
  ["cuMemHostAlloc null 4096 0", "900", "901 null"],
  ["cuMemHostRegister_v2 0 4096 0", "900", "901 null"],
  ["cuMemHostUnregister 0", "900", "901 null"],
  ["cuMemFreeHost 0", "900", "901 null"],
  ["cuMemAdvise 0 64 1 0", "900", "901 null"],
  ["cuMemAdvise p 64 1 0", "900", "901 null"],
  ["cuMemPoolCreate &n null", "900", "901 null"],
  ["cuMemPoolTrimTo 0 0", "900", "901 null"],
  ["cuMemPoolGetAttribute pool0 99 &", "900", "901 null"],
  ["cuMemPoolGetAccess & 0 {type:1}", "900", "901 null"],
  ["cuMemAllocAsync &n 0 t", "900", "901 null"],
  ["cuMemAllocAsync null 256 t", "900", "901 null"],
  ["cuMemAllocAsync &n 0 s", "0 null", "0 new"],
  ["cuMemAllocAsync null 256 s", "1", "0 new"],
  ["cuMemAllocFromPoolAsync &n 256 0 t", "900", "901 null"],
  ["cuMemFreeAsync 0 t", "900", "901 null"],
  ["cuMemFreeAsync a+16 t", "900", "901 null"],
  ["cuGraphInstantiateWithFlags null g 0", "900", "901 null"],
  ["cuModuleLoadData &n <words>", "200", "0 new"],
  ['cuModuleGetFunction &n 0 "fill"', "?", "?"],
  ["cuEventRecord e 0", "0", "0 new"],
  ["cuStreamWaitEvent s e 1", "1", "0 new"],
  ["cuEventElapsedTime & e e", "400", "0 new"],
  ["cuLaunchKernel 0 1 1 1 1 1 1 0 s null null", "400", "0 new"],
  ["cuMemcpyAsync a p 0 s", "0", "0 new"],
  ["cuMemsetD8Async a 1 0 s", "0", "0 new"],
  [
    "cuMemcpyBatchAsync [a] [p] [64] 0 {srcAccessOrder:1} [0] 1 & s",
    "1 18446744073709551615",
    "0 new",
  ],
  ["cuMemPrefetchAsync m 65536 64 s", "900", "901 null"],
  ["cuMemPrefetchAsync p 64 0 t", "1", "0 new"],
  ["cuCtxSynchronize", "900", "901 null"],
  ["cuMemUnmap 0 2097152", "1", "0 new"],
  ["cuMemCreate &n 2097152 {type:1,location.type:1} 0", "0 new", "0 new"],
];

/** Calls on a stream whose capture came to nothing. */
const TOO_LATE: readonly (readonly [call: string, gives: string])[] = [
  ["cuMemcpyAsync a 0 16 s", "901"],
  ["cuMemsetD32Async a+1 1 4 s", "901"],
  ["cuLaunchKernel fill0 1 65536 1 1 1 1 0 s (u64:a,u32:1,u32:1) null", "901"],
  ["cuLaunchKernel 0 1 1 1 1 1 1 0 s null null", "901"],
  ["cuLaunchHostFunc s null 0", "1"],
  ["cuLaunchHostFunc s getpid 0", "901"],
  ["cuMemAllocAsync &n 0 s", "901"],
  ["cuMemAllocFromPoolAsync &n 256 0 s", "901"],
  ["cuMemFreeAsync 0 s", "901"],
  ["cuMemFreeAsync a+16 s", "901"],
  ["cuEventRecord 0 s", "901"],
  ["cuEventRecord e s", "901"],
  ["cuStreamWaitEvent s 0 0", "901"],
  ["cuStreamWaitEvent s e 0", "901"],
  ["cuStreamWaitEvent s e 1", "901"],
  ["cuStreamWaitEvent s e 2", "901"],
  ["!cuStreamWaitValue32_v2 s p 0 1073741824", "901"],
  ["cuMemcpyBatchAsync [a] [p] [64] 1 {srcAccessOrder:1,flags:2} [0] 1 & s", "901"],
  ["cuMemcpyPeerAsync a ctx0 p ctx0 16 s", "900"],
  ["cuMemPrefetchAsync m 65536 0 s", "900"],
  ["cuMemDiscardAndPrefetchBatchAsync [m] [65536] 1 {type:1,id:0} [0] 1 0 s", "900"],
  ["cuGraphLaunch x s", "900"],
  ["cuStreamQuery s", "900"],
  ["cuStreamSynchronize s", "900"],
  ["cuStreamBeginCapture_v2 s 2", "401"],
  ["cuMemsetD8Async a 1 0 s", "901"],
  ["cuMemcpyAsync a p 0 s", "901"],
  ["cuMemAllocAsync null 256 s", "901"],
  ["cuMemAllocFromPoolAsync &n 256 q s", "901"],
  ["cuStreamWaitEvent s 0 2", "901"],
  ["cuMemcpyBatchAsync [a] [p] [64] 0 {srcAccessOrder:1} [0] 1 & s", "901 18446744073709551615"],
  ["cuMemDiscardAndPrefetchBatchAsync [m] [65536] 1 {type:1,id:0} [0] 1 1 s", "1"],
  ["cuMemcpyPeerAsync a ctx0 p 0 16 s", "900"],
  ["cuGraphLaunch 0 s", "900"],
  ["cuMemPrefetchAsync p 64 0 s", "900"],
  ["cuMemcpy2DAsync_v2 {srcMemoryType:9,WidthInBytes:4,Height:1} s", "901"],
  ["cuMemcpy2DAsync_v2 {srcMemoryType:9,WidthInBytes:0,Height:1} s", "901"],
  ["cuEventElapsedTime & e e", "400"],
];

/** Calls on the default stream while a stream that waits for it is being captured. */
const IMPLICIT: readonly (readonly [call: string, gives: string])[] = [
  ["cuMemcpyAsync a 0 16 0", "906"],
  ["cuMemcpyAsync a p 0 0", "906"],
  ["cuMemsetD32Async a+1 1 4 0", "906"],
  ["cuMemAllocAsync &n 256 0", "906"],
  ["cuMemAllocFromPoolAsync &n 256 0 0", "906"],
  ["cuMemFreeAsync a+16 0", "906"],
  ["cuMemFreeAsync 0 0", "906"],
  ["cuLaunchKernel fill0 1 65536 1 1 1 1 0 0 (u64:a,u32:1,u32:1) null", "906"],
  ["cuLaunchHostFunc 0 null 0", "1"],
  ["cuEventRecord e 0", "906"],
  ["cuStreamWaitEvent 0 e 0", "906"],
  ["!cuStreamWaitValue32_v2 0 p 0 1073741824", "906"],
  ["cuMemPrefetchAsync p 64 0 0", "906"],
  ["cuMemcpyPeerAsync a ctx0 p ctx0 16 0", "906"],
  ["cuGraphLaunch 0 0", "906"],
  ["cuStreamQuery 0", "906"],
  ["cuStreamSynchronize 0", "906"],
  ["cuStreamBeginCapture_v2 0 2", "906"],
  ["cuStreamBeginCapture_v2 0 3", "1"],
  ["cuStreamEndCapture 0 &n", "906 null"],
  ["cuCtxSynchronize", "900"],
  ["cuEventRecord 0 0", "906"],
  ["cuStreamWaitEvent 0 0 0", "906"],
  ["cuStreamWaitEvent 0 e 1", "906"],
  ["cuStreamWaitEvent 0 e 2", "906"],
  ["cuMemAllocAsync &n 0 0", "906"],
  ["cuMemAllocAsync null 256 0", "906"],
  ["cuMemAllocFromPoolAsync &n 256 q 0", "906"],
  ["cuMemcpyPeerAsync a ctx0 p 0 16 0", "906"],
  ["cuMemPrefetchAsync m 65536 64 0", "906"],
  ["cuMemcpy2DAsync_v2 {srcMemoryType:9,WidthInBytes:4,Height:1} 0", "906"],
  ["cuMemDiscardAndPrefetchBatchAsync [m] [65536] 1 {type:1,id:0} [0] 1 0 0", "1"],
  ["cuMemcpyBatchAsync [a] [p] [64] 1 {srcAccessOrder:1} [0] 1 & 0", "1 unset"],
  ["cuLaunchKernel 0 1 1 1 1 1 1 0 0 null null", "906"],
  ["cuEventElapsedTime & e e", "400"],
];

/** More calls with something wrong about them, which have less to do with captures. */
const MORE_WRONG: readonly string[] = [
  "cuMemAlloc_v2 &n 35184372088832",
  "cuMemHostGetFlags & 0",
  "cuMemHostGetDevicePointer_v2 & 0 1",
  "cuMemRangeGetAttribute & 4 99 m 65536",
  "cuMemRangeGetAttribute & 3 1 m 65536",
  "cuMemRangeGetAttribute & 4 1 0 64",
  "cuMemGetAddressRange_v2 & & 0",
  "cuPointerGetAttribute & 99 0",
  "cuStreamCreateWithPriority &n 2 0",
  "cuStreamCreateWithPriority null 2 0",
  "cuEventCreate &n 8",
  "cuEventCreate null 0",
  "cuModuleLoadData &n <empty>",
  "cuModuleLoadData null <words>",
  'cuModuleGetFunction &n k ""',
  'cuModuleGetGlobal_v2 & & 0 "missing"',
  'cuModuleGetGlobal_v2 & & k "missing"',
  "cuGraphInstantiateWithFlags &n 0 16",
  "cuGraphGetNodes 0 null &",
  "cuGraphGetNodes g & u64:0",
  "cuGraphDestroy 0",
  "cuIpcGetMemHandle &n 0",
  "cuIpcGetEventHandle &n e",
  "cuIpcOpenMemHandle_v2 & zeros 1",
  "cuIpcOpenEventHandle & zeros",
  "cuIpcCloseMemHandle 0",
  "cuMemPoolCreate &n {allocType:9}",
  "cuMemPoolSetAccess q {location.type:1,location.id:64,flags:2} 1",
  "cuMemPoolGetAccess & q {type:0}",
  "cuMemAddressReserve &n 1000 0 0 0",
  "cuMemMap 0 2097152 0 0 0",
  "cuMemSetAccess 0 2097152 {location.type:1,flags:2} 1",
  "cuMemAllocAsync &n 256 0",
  "cuMemAllocAsync &n 0 0",
  "cuMemAllocFromPoolAsync &n 256 0 0",
  "cuMemFreeAsync 0 0",
  "cuMemsetD8Async a 1 0 0",
  "cuMemsetD32Async a+1 1 4 0",
  "cuMemcpyAsync a p 0 0",
  "cuMemcpyAsync a 0 16 0",
  "cuLaunchHostFunc 0 null 0",
  "cuEventRecord 0 0",
  "cuEventRecord e t",
  "cuStreamWaitEvent 0 0 2",
  "cuStreamWaitEvent s 0 2",
  "cuStreamSynchronize 0",
  "cuStreamBeginCapture_v2 0 3",
  "cuStreamBeginCapture_v2 s 3",
  "cuStreamEndCapture 0 &n",
  "cuMemcpyPeerAsync a 0 p 0 16 0",
  "cuMemcpyPeerAsync a ctx0 p ctx0 16 s",
  "cuMemcpy2DAsync_v2 {srcMemoryType:9,WidthInBytes:4,Height:1} 0",
  "cuMemcpy2DAsync_v2 {srcMemoryType:9,WidthInBytes:4,Height:1} s",
  "cuMemcpyBatchAsync [a] [p] [64] 0 {srcAccessOrder:1} [0] 1 & 0",
  "cuMemDiscardAndPrefetchBatchAsync [m] [65536] 1 {type:1,id:0} [0] 1 1 0",
  "cuMemPrefetchAsync m 65536 64 0",
  "cuMemPrefetchAsync p 64 64 s",
  "cuCtxEnablePeerAccess 0 1",
  "cuCtxDisablePeerAccess 0",
  "cuDeviceGetGraphMemAttribute 64 9 &",
  "cuDeviceSetGraphMemAttribute 64 0 u64:5",
  "cuMemAllocManaged &n 0 4",
  "cuMemAllocPitch_v2 &n & 0 4 3",
  "cuMemAdvise p 64 99 64",
  "cuMemHostAlloc &n 0 8",
  "cuMemHostRegister_v2 p 4096 0",
  "cuMemFreeHost a",
  "cuMemHostUnregister p",
  "cuMemUnmap 0 0",
  "cuMemAddressFree 0 0",
  "cuMemCreate &n 1000 {type:0,location.type:1,location.id:64} 1",
];

const wrong = [
  ...WRONG.map(([call, gives, ends]) =>
    wrongScriptOf("wrong in a capture of mode 0", call, { mode: 0, gives, ends })
  ),
  ...TOO_LATE.map(([call, gives]) =>
    wrongScriptOf("in a capture that came to nothing", call, {
      mode: 2,
      before: "cuStreamQuery s = 900",
      gives,
      ends: "901 null",
    })
  ),
  ...IMPLICIT.map(([call, gives]) =>
    wrongScriptOf("beside a capture of the thread's stream", call, { stream: "2", mode: 2, gives })
  ),
  ...IMPLICIT.map(([call]) =>
    wrongScriptOf("beside a strict capture of the thread's stream", call, { stream: "2", mode: 0 })
  ),
  ...TOO_LATE.map(([call]) =>
    wrongScriptOf("in a strict capture that came to nothing", call, {
      mode: 1,
      before: "cuMemAlloc_v2 &n 256 = 900",
    })
  ),
];

/** Calls with something wrong about them, where a capture allows everything or no context is current. */
const WRONG_ELSEWHERE = [...WRONG.map(([call]) => call), ...MORE_WRONG].flatMap((call) => [
  wrongScriptOf("wrong in a capture of mode 2", call, { mode: 2 }),
  `# ${titleOf(call)}, wrong without a context${SCENE}
  cuCtxSetCurrent 0
  ${call} = ?
  cuCtxSetCurrent ctx0
  settle`,
]);

/** Calls that need a current context, or do not, in a capture that forbids them. */
const OUTSIDE = FORBIDDEN.map((call) =>
  wrongScriptOf("in a capture of mode 0 without a context", call, {
    mode: 0,
    before: "cuCtxSetCurrent 0",
    after: "cuCtxSetCurrent ctx0",
  })
);

/** Memory of every kind, to copy rectangles from and to. */
const RECTANGLE_MEMORY = `
  cuStreamCreateWithPriority &s 1 0
  cuMemAlloc_v2 &a 4096
  cuMemAlloc_v2 &b 4096
  cuMemHostAlloc &p 4096 0
  cuMemAllocAsync &c 4096 s
  cuMemAllocManaged &m 65536 1
  cuMemAddressReserve &r 4194304 0 0 0
  cuMemCreate &y 2097152 {type:1,location.type:1} 0
  cuMemMap r 2097152 0 y 0
  cuMemSetAccess r 2097152 {location.type:1,flags:3} 1
  cuMemsetD8Async r 1 2097152 s
  cuMemsetD8Async a 1 4096 s`;

/** Copies of rectangles whose columns lie beyond their pitch: virtual memory and pools allow them. */
const RECTANGLES = `
  cuMemcpy2DAsync_v2 {srcMemoryType:2,srcDevice:a,srcPitch:32,dstMemoryType:2,dstDevice:b,dstPitch:8,dstXInBytes:16,WidthInBytes:4,Height:2} s = 1
  cuMemcpy2DAsync_v2 {srcMemoryType:4,srcDevice:a,srcPitch:32,dstMemoryType:2,dstDevice:b,dstPitch:8,dstXInBytes:16,WidthInBytes:4,Height:2} s = 1
  cuMemcpy2DAsync_v2 {srcMemoryType:2,srcDevice:a,srcPitch:32,dstMemoryType:4,dstDevice:b,dstPitch:8,dstXInBytes:16,WidthInBytes:4,Height:2} s = 1
  cuMemcpy2DAsync_v2 {srcMemoryType:4,srcDevice:a,srcPitch:32,dstMemoryType:4,dstDevice:b,dstPitch:8,dstXInBytes:16,WidthInBytes:4,Height:2} s = 1
  cuMemcpy2DAsync_v2 {srcMemoryType:4,srcDevice:a,srcPitch:32,dstMemoryType:2,dstDevice:b,dstPitch:8,dstXInBytes:16,WidthInBytes:4,Height:2,srcY:1} s = 1
  cuMemcpy2DAsync_v2 {srcMemoryType:4,srcDevice:a+64,srcPitch:32,dstMemoryType:2,dstDevice:a,dstPitch:8,dstXInBytes:16,WidthInBytes:4,Height:2} s = 1
  cuMemcpy2DAsync_v2 {srcMemoryType:4,srcDevice:a,srcPitch:32,dstMemoryType:2,dstDevice:b,dstPitch:8,dstXInBytes:16,WidthInBytes:16,Height:2} s = 1
  cuMemcpy2DAsync_v2 {srcMemoryType:2,srcDevice:r,srcPitch:32,dstMemoryType:2,dstDevice:r+4096,dstPitch:8,dstXInBytes:16,WidthInBytes:4,Height:2} s
  cuMemcpy2DAsync_v2 {srcMemoryType:4,srcDevice:r,srcPitch:32,dstMemoryType:2,dstDevice:r+4096,dstPitch:8,dstXInBytes:16,WidthInBytes:4,Height:2} s
  cuMemcpy2DAsync_v2 {srcMemoryType:4,srcDevice:r,srcPitch:32,dstMemoryType:4,dstDevice:r+4096,dstPitch:8,dstXInBytes:16,WidthInBytes:4,Height:2} s
  cuMemcpy2DAsync_v2 {srcMemoryType:2,srcDevice:a,srcPitch:32,dstMemoryType:2,dstDevice:r,dstPitch:8,dstXInBytes:16,WidthInBytes:4,Height:2} s
  cuMemcpy2DAsync_v2 {srcMemoryType:2,srcDevice:r,srcPitch:32,dstMemoryType:2,dstDevice:b,dstPitch:8,dstXInBytes:16,WidthInBytes:4,Height:2} s = 1
  cuMemcpy2DAsync_v2 {srcMemoryType:4,srcDevice:r,srcPitch:32,dstMemoryType:2,dstDevice:b,dstPitch:8,dstXInBytes:16,WidthInBytes:4,Height:2} s = 1
  cuMemcpy2DAsync_v2 {srcMemoryType:2,srcDevice:r,srcPitch:8,srcXInBytes:16,dstMemoryType:2,dstDevice:a,dstPitch:32,WidthInBytes:4,Height:2} s
  cuMemcpy2DAsync_v2 {srcMemoryType:2,srcDevice:a,srcPitch:8,srcXInBytes:16,dstMemoryType:2,dstDevice:r,dstPitch:32,WidthInBytes:4,Height:2} s = 1
  cuMemcpy2DAsync_v2 {srcMemoryType:2,srcDevice:a,srcPitch:8,srcXInBytes:16,dstMemoryType:4,dstDevice:b,dstPitch:32,WidthInBytes:4,Height:2} s = 1
  cuMemcpy2DAsync_v2 {srcMemoryType:2,srcDevice:r,srcPitch:32,dstMemoryType:2,dstDevice:r+4096,dstPitch:8,dstXInBytes:16,WidthInBytes:16,Height:2} s = 1
  cuMemcpy2DAsync_v2 {srcMemoryType:2,srcDevice:a,srcPitch:32,dstMemoryType:2,dstDevice:p,dstPitch:8,dstXInBytes:16,WidthInBytes:4,Height:2} s = 1
  cuMemcpy2DAsync_v2 {srcMemoryType:4,srcDevice:a,srcPitch:32,dstMemoryType:4,dstDevice:p,dstPitch:8,dstXInBytes:16,WidthInBytes:4,Height:2} s = 1
  cuMemcpy2DAsync_v2 {srcMemoryType:2,srcDevice:a,srcPitch:32,dstMemoryType:2,dstDevice:c,dstPitch:8,dstXInBytes:16,WidthInBytes:4,Height:2} s
  cuMemcpy2DAsync_v2 {srcMemoryType:4,srcDevice:a,srcPitch:32,dstMemoryType:2,dstDevice:c,dstPitch:8,dstXInBytes:16,WidthInBytes:4,Height:2} s
  cuMemcpy2DAsync_v2 {srcMemoryType:2,srcDevice:a,srcPitch:32,dstMemoryType:2,dstDevice:m,dstPitch:8,dstXInBytes:16,WidthInBytes:4,Height:2} s = 1
  cuMemcpy2DAsync_v2 {srcMemoryType:4,srcDevice:a,srcPitch:32,dstMemoryType:4,dstDevice:m,dstPitch:8,dstXInBytes:16,WidthInBytes:4,Height:2} s = 1`;

const OTHERS = `
# an event of a capture of mode 0
  cuStreamCreateWithPriority &s 1 0
  cuEventCreate &e 2
  cuStreamBeginCapture_v2 s 0
  cuEventRecord e s
  cuEventQuery e = 907
  cuEventQuery e = 1
  cuEventSynchronize e = 1
  cuStreamEndCapture s &c = 901 null
  cuEventQuery e = 1
  cuStreamWaitEvent s e 0 = 1

# an event of a capture of mode 0, asked on another thread
  cuStreamCreateWithPriority &s 1 0
  cuEventCreate &e 2
  cuStreamBeginCapture_v2 s 0
  cuEventRecord e s
  cuEventSynchronizeNonblocking e = 907
  cuStreamEndCapture s &c = 901 null

# an event of a relaxed capture beside a strict one
  cuStreamCreateWithPriority &s 1 0
  cuStreamCreateWithPriority &t 1 0
  cuEventCreate &e 2
  cuStreamBeginCapture_v2 s 2
  cuStreamBeginCapture_v2 t 0
  cuEventRecord e s
  cuEventSynchronize e = 907
  cuStreamEndCapture t &d = 0 new
  cuStreamEndCapture s &c = 901 null

# an event of a capture that came to nothing
  cuStreamCreateWithPriority &s 1 0
  cuStreamCreateWithPriority &t 1 0
  cuEventCreate &e 2
  cuStreamBeginCapture_v2 s 2
  cuEventRecord e s
  cuStreamQuery s = 900
  cuStreamWaitEvent t e 0 = 1
  cuStreamWaitEvent s e 0 = 901
  cuEventRecord e t
  cuStreamWaitEvent t e 0
  cuStreamEndCapture s &c = 901 null

# the time between events of a capture
  cuStreamCreateWithPriority &s 1 0
  cuEventCreate &a 0
  cuEventCreate &b 0
  cuStreamBeginCapture_v2 s 2
  cuEventRecord a s
  cuEventRecord b s
  cuEventElapsedTime & a b = 907
  cuStreamEndCapture s &c = 0 new
  cuEventElapsedTime & a b = 1

# memory of a capture that came to nothing
  cuStreamCreateWithPriority &s 1 0
  cuStreamCreateWithPriority &t 1 0
  cuStreamBeginCapture_v2 s 2
  cuMemAllocAsync &a 4096 s
  cuPointerGetAttribute & 12 a = 1
  cuMemGetAddressRange_v2 & & a = 500
  cuMemHostGetFlags & a = 1
  cuStreamQuery s = 900
  cuMemGetAddressRange_v2 & & a = 500
  cuPointerGetAttribute & 12 a = 1
  cuMemFreeAsync a t = 1
  cuStreamEndCapture s &c = 901 null

# a fill of an ordinary array in a capture
  cuStreamCreateWithPriority &s 1 0
  array h 4096
  cuMemsetD8Async h 1 64 s = 1
  cuStreamBeginCapture_v2 s 2
  cuMemsetD8Async h 1 64 s = throws arrayInGraph
  cuMemsetD2D8Async h 64 1 16 2 s = throws arrayInGraph
  cuStreamEndCapture s &c = 0 new

# a rectangle of columns beyond its pitch
  cuStreamCreateWithPriority &s 1 0
  cuMemAlloc_v2 &a 4096
  cuMemAlloc_v2 &b 4096
  cuMemsetD8Async a 1 4096 s
  cuMemcpy2DAsync_v2 {srcMemoryType:2,srcDevice:a,srcPitch:32,dstMemoryType:2,dstDevice:b,dstPitch:8,dstXInBytes:16,WidthInBytes:4,Height:2} s = 1
  cuMemcpy2DAsync_v2 {srcMemoryType:2,srcDevice:a,srcPitch:8,srcXInBytes:16,dstMemoryType:2,dstDevice:b,dstPitch:32,WidthInBytes:4,Height:2} s = 1
  cuStreamBeginCapture_v2 s 2
  cuMemcpy2DAsync_v2 {srcMemoryType:2,srcDevice:a,srcPitch:32,dstMemoryType:2,dstDevice:b,dstPitch:8,dstXInBytes:16,WidthInBytes:4,Height:2} s = 1
  cuMemcpy2DAsync_v2 {srcMemoryType:2,srcDevice:a,srcPitch:8,srcXInBytes:16,dstMemoryType:2,dstDevice:b,dstPitch:32,WidthInBytes:4,Height:2} s = 1
  cuMemcpy2DAsync_v2 {srcMemoryType:2,srcDevice:a,srcPitch:32,dstMemoryType:2,dstDevice:b,dstPitch:2,WidthInBytes:4,Height:2} s = 1
  cuMemcpy3DAsync_v2 {srcMemoryType:2,srcDevice:a,srcPitch:32,srcHeight:2,dstMemoryType:2,dstDevice:b,dstPitch:8,dstHeight:2,dstXInBytes:16,WidthInBytes:4,Height:2,Depth:2} s = 1
  cuMemcpy3DAsync_v2 {srcMemoryType:2,srcDevice:a,srcPitch:32,srcHeight:1,dstMemoryType:2,dstDevice:b,dstPitch:32,dstHeight:2,WidthInBytes:4,Height:2,Depth:1} s = 1
  cuMemcpy3DAsync_v2 {srcMemoryType:2,srcDevice:a,srcPitch:32,srcHeight:2,srcY:1,dstMemoryType:2,dstDevice:b,dstPitch:32,dstHeight:2,WidthInBytes:4,Height:2,Depth:2} s = 1
  cuStreamEndCapture s &c = 0 new
  cuGraphInstantiateWithFlags &x c 0 = 0 new
  cuGraphLaunch x s
  settle

# copies of no bytes that are wrong in all else
  cuStreamCreateWithPriority &s 1 0
  cuMemAlloc_v2 &a 256
  cuMemcpy2DAsync_v2 {srcMemoryType:2,srcDevice:0,srcPitch:8,dstMemoryType:2,dstDevice:a,dstPitch:8,WidthInBytes:16,Height:0} s
  cuMemcpy2DAsync_v2 {srcMemoryType:9,srcDevice:0,dstMemoryType:9,WidthInBytes:0,Height:1} s
  cuMemcpy3DAsync_v2 {srcMemoryType:9,srcDevice:0,dstMemoryType:9,WidthInBytes:0,Height:1,Depth:1} s
  cuMemcpy3DAsync_v2 {srcMemoryType:2,srcDevice:0,dstMemoryType:2,dstDevice:a,dstHeight:1,WidthInBytes:16,Height:2,Depth:0} s

# rectangles of columns beyond their pitch
${RECTANGLE_MEMORY}
${RECTANGLES}
  settle

# rectangles of columns beyond their pitch in a capture
${RECTANGLE_MEMORY}
  settle
  cuStreamBeginCapture_v2 s 2
${RECTANGLES}
  cuMemcpy3DAsync_v2 {srcMemoryType:2,srcDevice:r,srcPitch:32,srcHeight:2,dstMemoryType:2,dstDevice:r+4096,dstPitch:8,dstHeight:2,dstXInBytes:16,WidthInBytes:4,Height:2,Depth:2} s
  cuMemcpy3DAsync_v2 {srcMemoryType:4,srcDevice:r,srcPitch:32,srcHeight:2,dstMemoryType:2,dstDevice:r+4096,dstPitch:8,dstHeight:2,dstXInBytes:16,WidthInBytes:4,Height:2,Depth:1} s
  cuMemcpy3DAsync_v2 {srcMemoryType:2,srcDevice:r,srcPitch:32,srcHeight:1,dstMemoryType:2,dstDevice:r+4096,dstPitch:32,dstHeight:2,WidthInBytes:4,Height:2,Depth:1} s = 1
  cuStreamEndCapture s &g = 0 new

# rectangles of columns beyond their pitch in a strict capture
${RECTANGLE_MEMORY}
  settle
  cuStreamBeginCapture_v2 s 1
  cuMemcpy2DAsync_v2 {srcMemoryType:2,srcDevice:a,srcPitch:32,dstMemoryType:2,dstDevice:b,dstPitch:8,dstXInBytes:16,WidthInBytes:4,Height:2} s = 1
  cuMemcpy2DAsync_v2 {srcMemoryType:4,srcDevice:a,srcPitch:32,dstMemoryType:2,dstDevice:b,dstPitch:8,dstXInBytes:16,WidthInBytes:4,Height:2} s = 1
  cuMemcpy2DAsync_v2 {srcMemoryType:2,srcDevice:r,srcPitch:32,dstMemoryType:2,dstDevice:r+4096,dstPitch:8,dstXInBytes:16,WidthInBytes:4,Height:2} s
  cuMemcpy2DAsync_v2 {srcMemoryType:4,srcDevice:r,srcPitch:32,dstMemoryType:2,dstDevice:r+4096,dstPitch:8,dstXInBytes:16,WidthInBytes:4,Height:2} s
  cuStreamEndCapture s &g = 0 new

# the time between events of which one is in a capture
  cuStreamCreateWithPriority &s 1 0
  cuStreamCreateWithPriority &t 1 0
  cuEventCreate &a 0
  cuEventCreate &b 0
  cuEventCreate &e 2
  cuEventCreate &n 0
  cuEventRecord b t
  settle
  cuStreamBeginCapture_v2 s 2
  cuEventRecord a s
  cuEventElapsedTime & a b = 907
  cuEventElapsedTime & b a = 907
  cuEventElapsedTime & n a = 400
  cuEventElapsedTime & a e = 907
  cuEventElapsedTime & e a = 400
  cuEventElapsedTime null a a = 400
  cuEventElapsedTime & a 0 = 907
  cuEventRecord e s
  cuEventElapsedTime & e b = 907
  cuEventElapsedTime & b e = 907
  cuStreamQuery s = 900
  cuEventElapsedTime & a b = 1
  cuEventElapsedTime & b a = 1
  cuStreamEndCapture s &c = 901 null
  cuEventElapsedTime & a b = 1
  cuEventElapsedTime & b a = 1
  cuEventElapsedTime & e b = 1
  cuEventElapsedTime & n a = 400
  cuEventElapsedTime & a n = 1

# rectangles of columns beyond their pitch in other memory
  cuStreamCreateWithPriority &s 1 0
  cuMemAlloc_v2 &a 4096
  cuMemsetD8Async a 1 4096 s
  array h 8192
  cuMemHostRegister_v2 h 4096 0
  array i 4096
  cuMemPoolCreate &p {allocType:1,location.type:2}
  cuMemPoolSetAccess p {location.type:1,flags:3} 1
  cuMemAllocFromPoolAsync &b 4096 p s
  cuMemPoolCreate &q {allocType:2,location.type:1}
  cuMemPoolSetAccess q {location.type:1,flags:3} 1
  cuMemAllocFromPoolAsync &c 4096 q s
  cuStreamBeginCapture_v2 s 2
  cuMemAllocAsync &d 4096 s
  cuStreamEndCapture s &g = 0 new
  cuGraphInstantiateWithFlags &x g 0
  cuGraphLaunch x s
  settle
  cuMemcpy2DAsync_v2 {srcMemoryType:2,srcDevice:a,srcPitch:32,dstMemoryType:2,dstDevice:h,dstPitch:8,dstXInBytes:16,WidthInBytes:4,Height:2} s = 1
  cuMemcpy2DAsync_v2 {srcMemoryType:2,srcDevice:a,srcPitch:32,dstMemoryType:1,dstHost:h,dstPitch:8,dstXInBytes:16,WidthInBytes:4,Height:2} s = 1
  cuMemcpy2DAsync_v2 {srcMemoryType:2,srcDevice:a,srcPitch:32,dstMemoryType:1,dstHost:i,dstPitch:8,dstXInBytes:16,WidthInBytes:4,Height:2} s = 1
  cuMemcpy2DAsync_v2 {srcMemoryType:2,srcDevice:a,srcPitch:32,dstMemoryType:4,dstDevice:i,dstPitch:8,dstXInBytes:16,WidthInBytes:4,Height:2} s = 1
  cuMemcpy2DAsync_v2 {srcMemoryType:2,srcDevice:a,srcPitch:32,dstMemoryType:2,dstDevice:b,dstPitch:8,dstXInBytes:16,WidthInBytes:4,Height:2} s = 1
  cuMemcpy2DAsync_v2 {srcMemoryType:2,srcDevice:a,srcPitch:32,dstMemoryType:1,dstHost:b,dstPitch:8,dstXInBytes:16,WidthInBytes:4,Height:2} s
  cuMemcpy2DAsync_v2 {srcMemoryType:2,srcDevice:a,srcPitch:32,dstMemoryType:2,dstDevice:c,dstPitch:8,dstXInBytes:16,WidthInBytes:4,Height:2} s
  cuMemcpy2DAsync_v2 {srcMemoryType:2,srcDevice:a,srcPitch:32,dstMemoryType:4,dstDevice:c,dstPitch:8,dstXInBytes:16,WidthInBytes:4,Height:2} s
  cuMemcpy2DAsync_v2 {srcMemoryType:2,srcDevice:a,srcPitch:32,dstMemoryType:2,dstDevice:d,dstPitch:8,dstXInBytes:16,WidthInBytes:4,Height:2} s
  settle

# the default stream in a strict capture without a context
  cuStreamCreateWithPriority &s 1 0
  cuStreamBeginCapture_v2 s 0
  cuCtxSetCurrent 0
  cuStreamQuery 0 = ?
  cuStreamEndCapture s &c = ?
  cuStreamBeginCapture_v2 s 0
  cuStreamSynchronize 0 = ?
  cuStreamEndCapture s &c = ?
  cuStreamBeginCapture_v2 s 0
  cuMemAllocAsync &n 256 0 = ?
  cuStreamEndCapture s &c = ?
  cuStreamBeginCapture_v2 s 0
  cuMemFreeAsync 0 0 = ?
  cuStreamEndCapture s &c = ?

# the time between events that are not there
  cuStreamCreateWithPriority &s 1 0
  cuEventCreate &a 0
  cuEventCreate &b 0
  cuEventRecord a s
  settle
  cuEventElapsedTime & 0 a = 400
  cuEventElapsedTime & a 0 = 400
  cuEventElapsedTime null 0 0 = 400
  cuEventElapsedTime & a b = 400
`;

/** The scripts. */
export const CAPTURE_MISTAKE_SCRIPTS: readonly Script[] = readScripts(
  [...wrong, ...WRONG_ELSEWHERE, ...OUTSIDE, OTHERS].join("\n"),
);

/** A script that makes a call in a capture, between other steps. */
function wrongScriptOf(
  kind: string,
  call: string,
  { stream = "s", mode, before = "", after = "", gives = "?", ends = "?" }: {
    readonly stream?: string;
    readonly mode: number;
    readonly before?: string;
    readonly after?: string;
    readonly gives?: string;
    readonly ends?: string;
  },
): string {
  return `# ${titleOf(call)}, ${kind}${SCENE}
  cuStreamBeginCapture_v2 ${stream} ${mode}
  ${before}
  ${call} = ${gives}
  ${after}
  cuStreamEndCapture ${stream} &c = ${ends}`;
}

function titleOf(call: string): string {
  return call.replaceAll(/[&{}()!]/g, "");
}
