// Moves with streams, events, captures, graphs and kernels.

import { type Draft, LATCH_PREFIX } from "../draft.ts";
import { IMAGES } from "../images.ts";
import { RECORDABLE_MOVES } from "./copies.ts";
import type { Chain, Move, WeightedMoves } from "./move.ts";

const createStream: Move = (draft) => {
  const flags = draft.chance(0.04) ? 2 : draft.oneOf(1, 1, 1, 0);
  return `cuStreamCreateWithPriority &${draft.name("s")} ${flags} ${draft.oneOf(0, 0, -1)}`;
};

const destroyStream: Move = (draft) => `cuStreamDestroy_v2 ${draft.handle("stream")}`;

const waitForStream: Move = (draft) => {
  const call = draft.oneOf(
    "cuStreamQuery",
    "cuStreamSynchronize",
    "cuStreamSynchronize",
    "cuStreamSynchronizeNonblocking",
  );
  return `${call} ${draft.stream()}`;
};

const createEvent: Move = (draft) =>
  `cuEventCreate &${draft.name("e")} ${draft.oneOf(0, 1, 2, 2, 3, 6, 4, 8)}`;

const destroyEvent: Move = (draft) => `cuEventDestroy_v2 ${draft.handle("event")}`;

const recordEvent: Move = (draft) => `cuEventRecord ${draft.handle("event")} ${draft.stream()}`;

const waitForEvent: Move = (draft) => {
  const flags = draft.chance(0.03) ? draft.oneOf(1, 2) : 0;
  return `cuStreamWaitEvent ${draft.stream()} ${draft.handle("event")} ${flags}`;
};

/** One stream after another, as programs do it. */
const follow: Move = (draft) => {
  const event = draft.name("e");
  return [
    `cuEventCreate &${event} 2`,
    `cuEventRecord ${event} ${draft.stream()}`,
    `cuStreamWaitEvent ${draft.stream()} ${event} 0`,
  ];
};

const askEvent: Move = (draft) => {
  const call = draft.oneOf("cuEventQuery", "cuEventSynchronize", "cuEventSynchronizeNonblocking");
  return `${call} ${draft.handle("event")}`;
};

const elapsed: Move = (draft) =>
  `cuEventElapsedTime & ${draft.handle("event")} ${draft.handle("event")}`;

/** The time of a fill, as programs take it. */
const timed: Move = (draft) => {
  const [start, end, stream] = [draft.name("e"), draft.name("e"), draft.stream()];
  return [
    `cuEventCreate &${start} 0`,
    `cuEventCreate &${end} ${draft.oneOf(0, 0, 0, 2)}`,
    `cuEventRecord ${start} ${stream}`,
    `cuEventRecord ${end} ${stream}`,
    `cuEventSynchronize ${end}`,
    `cuEventElapsedTime & ${start} ${end}`,
  ];
};

/** A word that fits the condition already, in memory that nothing else uses: a wait must end. */
const waitForValue: Move = (draft) => {
  const [name, stream] = [draft.name(LATCH_PREFIX), draft.stream()];
  const flags = draft.chance(0.15) ? draft.oneOf(4, 1 << 30) : draft.oneOf(0, 1, 2);
  const offset = draft.chance(0.05) ? 2 : 0;
  return [
    `cuMemHostAlloc &${name} 4096 0`,
    "settle",
    `poke ${name} 64 5`,
    `cuStreamWaitValue32_v2 ${stream} ${name}+${offset} 84215045 ${flags}`,
  ];
};

const beginCapture: Move = (draft) => {
  const mode = draft.chance(0.03) ? 3 : draft.oneOf(0, 1, 2, 2, 2);
  return `cuStreamBeginCapture_v2 ${draft.stream()} ${mode}`;
};

const endCapture: Move = (draft) => {
  const [open] = draft.world.captures;
  if (open === undefined && draft.chance(0.9)) return undefined;
  const stream = open === undefined || draft.chance(0.1) ? draft.stream() : open.origin;
  const graph = draft.name("g");
  const calls = [`cuStreamEndCapture ${stream} &${graph}`, `cuGraphGetNodes ${graph} null &`];
  return draft.chance(0.6) ? [...calls, ...instantiated(draft, graph)] : calls;
};

function instantiated(draft: Draft, graph: string): string[] {
  const exec = draft.name("x");
  const flags = draft.chance(0.1) ? draft.oneOf(2, 16, 5, 9) : draft.oneOf(0, 0, 1, 8);
  return [
    `cuGraphInstantiateWithFlags &${exec} ${graph} ${flags}`,
    `cuGraphLaunch ${exec} ${draft.stream()}`,
  ];
}

/** A graph from the begin of its capture to its launches, as programs make it. */
const wholeGraph: Move = (draft) => {
  const [stream, graph] = [draft.stream(), draft.name("g")];
  const works = Array.from({ length: 1 + draft.random.below(3) }, (): Chain[] => {
    const move = draft.chance(0.3) ? kernel : draft.oneOf(...RECORDABLE_MOVES);
    const made = move(draft);
    return typeof made === "string" ? [[made]] : [];
  });
  const memory = draft.chance(0.3) ? [graphMemoryWork(draft, stream)] : [];
  return [
    [`cuStreamBeginCapture_v2 ${stream} ${draft.oneOf(2, 2, 0, 1)}`],
    ...works.flat(),
    ...memory,
    [
      `cuStreamEndCapture ${stream} &${graph}`,
      `cuGraphGetNodes ${graph} null &`,
      ...instantiated(draft, graph),
    ],
  ];
};

/** Memory that a graph allocates, and mostly frees. */
function graphMemoryWork(draft: Draft, stream: string): string[] {
  const name = draft.name("b");
  const free = draft.chance(0.7) ? [`cuMemFreeAsync ${name} ${stream}`] : [];
  return [
    `cuMemAllocAsync &${name} 4096 ${stream}`,
    `cuMemsetD8Async ${name} 7 4096 ${stream}`,
    ...free,
  ];
}

const instantiate: Move = (draft) => instantiated(draft, draft.handle("graph"));

const launch: Move = (draft) => `cuGraphLaunch ${draft.handle("exec")} ${draft.stream()}`;

/** Gives a graph the work of another: of one that is there, or of one that does nearly the same. */
const updateGraph: Move = (draft) => {
  if (draft.chance(0.3)) {
    return [
      `cuGraphExecUpdate_v2 ${draft.handle("exec")} ${draft.handle("graph")} &`,
      `cuGraphLaunch ${draft.handle("exec")} ${draft.stream()}`,
    ];
  }
  const [stream, exec] = [draft.stream(), draft.name("x")];
  const [former, latter] = [draft.name("g"), draft.name("g")];
  const work = draft.chance(0.4) ? kernel : draft.oneOf(...RECORDABLE_MOVES);
  const recorded = (graph: string): Chain => {
    const made = work(draft);
    return [
      `cuStreamBeginCapture_v2 ${stream} 2`,
      ...typeof made === "string" ? [made] : [],
      `cuStreamEndCapture ${stream} &${graph}`,
    ];
  };
  return [
    recorded(former),
    recorded(latter),
    lookAtNode(draft, latter),
    [`cuGraphInstantiateWithFlags &${exec} ${former} 0`],
    [`cuGraphExecUpdate_v2 ${exec} ${latter} &`, `cuGraphLaunch ${exec} ${stream}`],
  ];
};

const destroyGraph: Move = (draft) =>
  draft.chance(0.5)
    ? `cuGraphDestroy ${draft.handle("graph")}`
    : `cuGraphExecDestroy ${draft.handle("exec")}`;

const getNodes: Move = (draft) => {
  const graph = draft.handle("graph");
  if (draft.chance(0.4)) return `cuGraphGetNodes ${graph} & u64:${draft.oneOf(0, 1, 4, 32)}`;
  return lookAtNode(draft, graph);
};

function lookAtNode(draft: Draft, graph: string): Chain {
  const node = draft.name("n");
  return [
    `cuGraphGetNodes ${graph} &${node} u64:1`,
    `cuGraphNodeGetType ${node} &`,
    `cuGraphKernelNodeGetParams_v2 ${node} &`,
  ];
}

const graphMemory: Move = (draft) => {
  const device = draft.device();
  return draft.oneOf(
    `cuDeviceGetGraphMemAttribute ${device} ${draft.random.below(5)} &`,
    `cuDeviceSetGraphMemAttribute ${device} ${draft.random.below(5)} u64:${draft.oneOf(0, 0, 5)}`,
    `cuDeviceGraphMemTrim ${device}`,
  );
};

const kernel: Move = (draft) => {
  const place = draft.place();
  if (place === undefined) return undefined;
  const { word, byteLength } = draft.part(place, 256);
  const ordinal = draft.random.below(draft.deviceCount);
  const shape = draft.chance(0.08)
    ? draft.oneOf("0 1 1 1 1 1 0", "1 65536 1 1 1 1 0", "1 1 1 32 33 1 0", "1 1 1 1 1 1 49153")
    : draft.oneOf("1 1 1 1 1 1 0", "1 1 1 32 1 1 0", "2 2 1 8 2 1 1024");
  const other = draft.place();
  const source = other === undefined ? undefined : draft.part(other, byteLength);
  // A kernel whose threads read what others write has no certain result.
  const isApart = source !== undefined && source.word.split("+")[0] !== word.split("+")[0];
  if (isApart && draft.chance(0.5)) {
    return `cuLaunchKernel move${ordinal} ${shape} ${draft.stream()} ` +
      `(u64:${word},u64:${source.word},u32:${source.byteLength}) null`;
  }
  return `cuLaunchKernel fill${ordinal} ${shape} ${draft.stream()} ` +
    `(u64:${word},u32:${draft.random.below(200)},u32:${byteLength}) null`;
};

const hostFunction: Move = (draft) =>
  `cuLaunchHostFunc ${draft.stream()} ${draft.chance(0.2) ? "null" : "getpid"} 7`;

const loadModule: Move = (draft) => {
  const [module, name] = [draft.name("k"), draft.name("f")];
  const image = draft.chance(0.2) ? draft.oneOf("empty", "words", "future", "elf") : "bare";
  return [
    `cuModuleLoadData &${module} <${draft.chance(0.2) ? "kernels" : image}>`,
    `cuModuleGetFunction &${name} ${module} "${draft.oneOf("missing", "missing", "")}"`,
  ];
};

/** A module that is there for a moment. */
const briefModule: Move = (draft) => {
  const [module, name] = [draft.name("k"), draft.name("f")];
  return [
    [`cuModuleLoadData &${module} <kernels>`, `cuModuleGetFunction &${name} ${module} "fill"`],
    [`cuModuleGetGlobal_v2 & & ${module} "missing"`],
    ["settle", `cuModuleUnload ${module}`],
  ];
};

/** A library that is there for a moment, and questions about a kernel of it. */
const briefLibrary: Move = (draft) => {
  const [library, kernel, name] = [draft.name("l"), draft.name("k"), draft.name("f")];
  const stream = draft.stream();
  const grid = draft.oneOf(1, 1, 2, 0);
  const shape = `gridDimX:${grid},gridDimY:1,gridDimZ:1,blockDimX:1,blockDimY:1,blockDimZ:1`;
  const load = draft.chance(0.9) ? "kernels" : draft.oneOf("empty", "words", "future", "elf");
  const found = draft.chance(0.9) ? "nothing" : draft.oneOf("missing", "");
  return [
    [
      `cuLibraryLoadData &${library} <${load}> null null 0 null null 0`,
      `cuLibraryGetKernel &${kernel} ${library} "${found}"`,
      `cuKernelGetFunction &${name} ${kernel}`,
    ],
    [`cuLibraryGetGlobal & & ${library} "missing"`],
    draft.oneOf(
      [`cuFuncGetAttribute & ${draft.oneOf(0, 1, 3, 4, 8, 99)} ${name}`],
      [`cuFuncSetAttribute ${name} 8 ${draft.oneOf(0, 1024, 65536, -1)}`],
      [`cuFuncGetParamInfo ${name} 0 & &`],
      [`cuFuncGetParamInfo fill0 ${draft.oneOf(0, 1, 2, 3)} & &`],
      [`cuOccupancyMaxActiveBlocksPerMultiprocessor & ${name} ${draft.oneOf(64, 256, 0)} 0`],
      [`cuOccupancyMaxPotentialBlockSize & & ${name} null 0 0`],
      [`cuLaunchKernelEx {${shape},hStream:${stream}} ${name} null null`],
    ),
    ["settle", `cuLibraryUnload ${library}`],
  ];
};

/** A module whose compiler is given no options. */
const moduleWithOptions: Move = (draft) => {
  const module = draft.name("k");
  const image = draft.oneOf("kernels", "bare", "empty");
  return [
    [`cuModuleLoadDataEx &${module} <${image}> 0 null null`],
    ["settle", `cuModuleUnload ${module}`],
  ];
};

/** PTX that the linker makes a cubin of. */
const link: Move = (draft) => {
  const name = draft.name("k");
  return [
    [
      `cuLinkCreate_v2 0 null null &${name}`,
      `cuLinkAddData_v2 ${name} 1 <kernels> ${IMAGES["kernels"]?.byteLength} null 0 null null`,
      `cuLinkComplete ${name} & &`,
    ],
    [`cuLinkDestroy ${name}`],
  ];
};

const getFunction: Move = (draft) =>
  `cuModuleGetFunction &${draft.name("f")} module0 "${draft.oneOf("fill", "move", "missing")}"`;

const unloadModule: Move = (draft) => {
  const own = draft.world.alive("module").filter(({ name }) => !/^module\d$/.test(name));
  if (own.length === 0 && draft.chance(0.95)) return undefined;
  const module = draft.random.pick(own)?.name ?? "0";
  return ["settle", `cuModuleUnload ${module}`];
};

/** The moves. */
export const QUEUE_MOVES: WeightedMoves = [
  [5, createStream],
  [1, destroyStream],
  [4, waitForStream],
  [3, createEvent],
  [1, destroyEvent],
  [4, recordEvent],
  [4, waitForEvent],
  [4, follow],
  [3, askEvent],
  [1, elapsed],
  [2, timed],
  [2, waitForValue],
  [4, beginCapture],
  [4, endCapture],
  [2, instantiate],
  [5, wholeGraph],
  [4, launch],
  [3, updateGraph],
  [3, destroyGraph],
  [2, getNodes],
  [1, graphMemory],
  [8, kernel],
  [1, hostFunction],
  [1, loadModule],
  [1, briefModule],
  [2, briefLibrary],
  [1, moduleWithOptions],
  [1, link],
  [1, getFunction],
  [1, unloadModule],
];
