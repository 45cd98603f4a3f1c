// Moves with pools, virtual memory, managed memory, devices, contexts and other processes.

import { APART_PREFIX, type Draft } from "../draft.ts";
import type { Chain, Move, WeightedMoves } from "./move.ts";

const STEP = 2 << 20;

/** Names a place in a struct: a device, mostly one that exists, or rarely another kind of place. */
function location(draft: Draft, prefix = "location."): string {
  const type = draft.chance(0.06) ? draft.oneOf(0, 2) : 1;
  return `${prefix}type:${type},${prefix}id:${type === 1 ? draft.device() : 0}`;
}

const createPool: Move = (draft) => {
  const type = draft.chance(0.05) ? draft.oneOf(0, 2, 9) : 1;
  const handles = draft.chance(0.1) ? draft.oneOf(1, 2, 4) : 0;
  const most = draft.oneOf(0, 0, 0, 1, 64 << 20);
  const place = location(draft);
  const isUsual = type !== 2 && place.startsWith("location.type:1");
  const members = `allocType:${type},handleTypes:${handles},${place},maxSize:${most}`;
  return `cuMemPoolCreate &${draft.name(isUsual ? "q" : APART_PREFIX)} {${members}}`;
};

const destroyPool: Move = (draft) => {
  const own = draft.world.alive("memoryPool").filter(({ name }) => !/^pool\d$/.test(name));
  if (own.length === 0 && draft.chance(0.9)) return undefined;
  return `cuMemPoolDestroy ${draft.random.pick(own)?.name ?? "pool0"}`;
};

const trimPool: Move = (draft) =>
  `cuMemPoolTrimTo ${draft.handle("memoryPool")} ${draft.oneOf(0, 0, 1, 64 << 20)}`;

const setPool: Move = (draft) => {
  const pool = draft.handle("memoryPool");
  return draft.chance(0.5)
    ? `cuMemPoolSetAttribute ${pool} ${draft.oneOf(1, 2, 3)} i32:${draft.oneOf(0, 1)}`
    : `cuMemPoolSetAttribute ${pool} ${draft.oneOf(4, 5, 6, 7, 8, 99)} u64:${draft.oneOf(0, 4096)}`;
};

const getPool: Move = (draft) =>
  `cuMemPoolGetAttribute ${draft.handle("memoryPool")} ${draft.oneOf(0, 1, 2, 3, 4, 5, 7, 99)} &`;

const poolAccess: Move = (draft) => {
  const pool = draft.handle("memoryPool");
  if (draft.chance(0.5)) return `cuMemPoolGetAccess & ${pool} {${location(draft, "")}}`;
  const flags = draft.oneOf(3, 3, 0, 1);
  return `cuMemPoolSetAccess ${pool} {${location(draft)},flags:${flags}} 1`;
};

const reserve: Move = (draft) => {
  const byteLength = draft.chance(0.05) ? draft.oneOf(0, 1000) : draft.oneOf(2, 4) * STEP;
  const alignment = draft.chance(0.1) ? draft.oneOf(3, 4 << 20, 1000) : 0;
  return `cuMemAddressReserve &${draft.name("r")} ${byteLength} ${alignment} 0 ` +
    `${draft.chance(0.03) ? 1 : 0}`;
};

const freeAddresses: Move = (draft) => {
  const thing = draft.thing("reservation");
  if (thing === undefined) return undefined;
  const byteLength = draft.chance(0.1) ? STEP : thing.byteLength;
  return `cuMemAddressFree ${thing.name} ${byteLength}`;
};

const createPhysical: Move = (draft) => {
  const handles = draft.chance(0.1) ? draft.oneOf(1, 2, 99) : 0;
  const byteLength = draft.chance(0.05) ? draft.oneOf(0, 1000) : STEP;
  const place = location(draft);
  const name = draft.name(place.startsWith("location.type:1") ? "y" : APART_PREFIX);
  return `cuMemCreate &${name} ${byteLength} ` +
    `{type:${draft.chance(0.03) ? 0 : 1},${place},requestedHandleTypes:${handles}} 0`;
};

const granularity: Move = (draft) =>
  `cuMemGetAllocationGranularity & {type:1,${location(draft)}} ${draft.oneOf(0, 0, 1, 1, 2)}`;

const release: Move = (draft) => `cuMemRelease ${draft.handle("physical")}`;

/** Takes a place in a reservation that is a multiple of the step, with so many steps behind it. */
function slot(draft: Draft, stepCount = 1): string | undefined {
  const thing = draft.thing("reservation");
  if (thing === undefined || thing.byteLength < stepCount * STEP) return undefined;
  const placeCount = thing.byteLength / STEP - stepCount + 1;
  return `${thing.name}+${draft.random.below(placeCount) * STEP}`;
}

const map: Move = (draft) => {
  const [place, handle] = [slot(draft), draft.thing("physical")];
  if (place === undefined || handle === undefined) return undefined;
  const byteLength = draft.chance(0.08) ? draft.oneOf(STEP / 2, 2 * STEP) : STEP;
  const offset = draft.chance(0.04) ? 4096 : 0;
  const access = `cuMemSetAccess ${place} ${STEP} {location.type:1,flags:3} 1`;
  const fill = `cuMemsetD8Async ${place} ${draft.random.below(256)} 4096 ${draft.stream()}`;
  const call = `cuMemMap ${place} ${byteLength} ${offset} ${handle.name} 0`;
  return draft.chance(0.8) ? [call, access, fill] : [call];
};

/** Addresses with memory behind them, as programs make them. */
const mappedRange: Move = (draft) => {
  const [range, first, second] = [draft.name("r"), draft.name("y"), draft.name("y")];
  return [
    `cuMemAddressReserve &${range} ${4 * STEP} 0 0 0`,
    `cuMemCreate &${first} ${STEP} {type:1,location.type:1} 0`,
    `cuMemCreate &${second} ${STEP} {type:1,location.type:1} 0`,
    `cuMemMap ${range} ${STEP} 0 ${first} 0`,
    `cuMemMap ${range}+${STEP} ${STEP} 0 ${second} 0`,
    `cuMemSetAccess ${range} ${2 * STEP} {location.type:1,flags:3} 1`,
    `cuMemsetD8Async ${range} ${draft.random.below(256)} ${2 * STEP} ${draft.stream()}`,
  ];
};

/** Physical memory that goes to other processes, or does not. */
const describe: Move = (draft) => {
  const [range, handle] = [draft.name("r"), draft.name("y")];
  const type = draft.oneOf(1, 1, 0);
  return [
    `cuMemAddressReserve &${range} ${STEP} 0 0 0`,
    `cuMemCreate &${handle} ${STEP} {type:1,location.type:1,requestedHandleTypes:${type}} 0`,
    `cuMemExportToShareableHandle & ${handle} 1 ${draft.chance(0.1) ? 1 : 0}`,
    `cuMemMap ${range} ${STEP} 0 ${handle} 0`,
    `cuMemRetainAllocationHandle &${draft.name("y")} ${draft.chance(0.1) ? 0 : range}`,
  ];
};

const unmap: Move = (draft) => {
  const stepCount = draft.chance(0.1) ? 2 : 1;
  const place = slot(draft, stepCount);
  if (place === undefined) return undefined;
  return ["settle", `cuMemUnmap ${place} ${stepCount * STEP}`];
};

const setAccess: Move = (draft) => {
  const place = slot(draft);
  if (place === undefined) return undefined;
  const flags = draft.oneOf(3, 3, 3, 1, 0, 2);
  const count = draft.chance(0.04) ? 0 : 1;
  return ["settle", `cuMemSetAccess ${place} ${STEP} {${location(draft)},flags:${flags}} ${count}`];
};

/** A range of managed memory, mostly whole; rarely of other memory, or too long. */
function managed(draft: Draft): string | undefined {
  const thing = draft.chance(0.95) ? draft.thing("managed") : draft.thing("device", "pinned");
  if (thing === undefined) return undefined;
  const byteLength = draft.chance(0.03) ? 2 * thing.byteLength : thing.byteLength;
  if (draft.chance(0.7)) return `${thing.name} ${byteLength}`;
  return `${thing.name}+0 ${Math.max(byteLength / 2, 64)}`;
}

function place(draft: Draft): number {
  return draft.chance(0.3) ? -1 : draft.device();
}

const advise: Move = (draft) => {
  const range = managed(draft);
  const advice = draft.chance(0.03) ? 99 : 1 + draft.random.below(6);
  return range && `cuMemAdvise ${range} ${advice} ${place(draft)}`;
};

const prefetch: Move = (draft) => {
  const range = managed(draft);
  return range && `cuMemPrefetchAsync ${range} ${place(draft)} ${draft.stream()}`;
};

const rangeAttribute: Move = (draft) => {
  const range = managed(draft);
  const attribute = draft.oneOf(1, 2, 3, 4);
  const byteLength = attribute === 3 ? draft.oneOf(4, 8, 12) : draft.oneOf(4, 4, 4, 8);
  return range && `cuMemRangeGetAttribute & ${byteLength} ${attribute} ${range}`;
};

/** A discard with a fill that must follow it before the bytes are read. */
const discard: Move = (draft) => {
  const [thing, stream] = [draft.thing("managed"), draft.stream()];
  if (thing === undefined) return undefined;
  const { name, byteLength } = thing;
  const flags = draft.chance(0.04) ? 1 : 0;
  const place = draft.oneOf("{type:1,id:0}", `{type:1,id:${draft.device()}}`, "{type:2}");
  return [
    `cuMemDiscardAndPrefetchBatchAsync [${name}] [${byteLength}] 1 ${place} [0] 1 ${flags} ${stream}`,
    `cuMemsetD8Async ${name} ${draft.random.below(256)} ${byteLength} ${stream}`,
  ];
};

const device: Move = (draft) => {
  const ordinal = draft.device();
  return draft.oneOf(
    `cuDeviceGet & ${ordinal}`,
    "cuDeviceGetCount &",
    `cuDeviceGetName & ${draft.oneOf(1, 8, 64)} ${ordinal}`,
    `cuDeviceGetUuid_v2 & ${ordinal}`,
    `cuDeviceTotalMem_v2 & ${ordinal}`,
    `cuDeviceGetAttribute & ${draft.oneOf(1, 2, 8, 10, 39, 41, 100000)} ${ordinal}`,
    `cuDeviceGetPCIBusId & ${draft.oneOf(12, 13, 64)} ${ordinal}`,
    `cuDeviceGetDefaultMemPool & ${ordinal}`,
    "cuDriverGetVersion &",
    `cuGetErrorString ${draft.oneOf(0, 1, 2, 700, 12345)} &`,
    `cuInit ${draft.oneOf(0, 1)}`,
    "cuMemGetInfo_v2 & &",
  );
};

const context: Move = (draft) => {
  const name = `ctx${draft.random.below(draft.deviceCount)}`;
  return draft.oneOf<string | readonly Chain[]>(
    "cuCtxGetCurrent &",
    "cuCtxGetStreamPriorityRange & &",
    "cuCtxSynchronize",
    `cuCtxPushCurrent_v2 ${draft.chance(0.1) ? 0 : name}`,
    "cuCtxPopCurrent_v2 &",
    `cuCtxSetCurrent ${name}`,
    [["cuCtxSetCurrent 0"], [`cuMemAlloc_v2 &${draft.name("d")} 64`], ["cuCtxSetCurrent ctx0"]],
    `cuDevicePrimaryCtxRetain & ${draft.device()}`,
    [["cuDevicePrimaryCtxRetain & 0", "cuDevicePrimaryCtxRelease_v2 0"]],
    `cuDevicePrimaryCtxRelease_v2 ${draft.device()}`,
  );
};

const peers: Move = (draft) => {
  const name = `ctx${draft.random.below(draft.deviceCount)}`;
  return draft.oneOf(
    `cuDeviceCanAccessPeer & ${draft.device()} ${draft.device()}`,
    `cuDeviceGetP2PAttribute & ${1 + draft.random.below(3)} ${draft.device()} ${draft.device()}`,
    `cuCtxEnablePeerAccess ${name} ${draft.chance(0.1) ? 1 : 0}`,
    `cuCtxDisablePeerAccess ${name}`,
  );
};

const share: Move = (draft) => {
  const handle = draft.name("i");
  const memory = draft.thing("device", "pooled", "pinned");
  return draft.oneOf<string | readonly string[]>(
    [`cuIpcGetMemHandle &${handle} ${memory?.name ?? 0}`, `cuIpcOpenMemHandle_v2 & ${handle} 1`],
    [`cuIpcGetEventHandle &${handle} ${draft.handle("event")}`, `cuIpcOpenEventHandle & ${handle}`],
    [
      `cuEventCreate &${handle}e 6`,
      `cuIpcGetEventHandle &${handle} ${handle}e`,
      `cuIpcOpenEventHandle & ${handle}`,
    ],
    [
      `cuMemPoolCreate &${handle}p {allocType:1,handleTypes:1,location.type:1}`,
      `cuMemAllocFromPoolAsync &${handle}m 4096 ${handle}p 0`,
      `cuMemPoolExportToShareableHandle & ${handle}p ${draft.oneOf(1, 1, 8)} 0`,
      `cuMemPoolExportPointer & ${handle}m`,
      `cuMemPoolDestroy ${handle}p`,
    ],
    `cuMemPoolExportPointer & ${memory?.name ?? 0}`,
    `cuMemPoolExportToShareableHandle & ${draft.handle("memoryPool")} 1 0`,
    `cuMemPoolImportPointer & ${draft.handle("memoryPool")} {reserved:0}`,
    "cuIpcOpenMemHandle_v2 & zeros 1",
    "cuIpcOpenEventHandle & zeros",
    `cuIpcCloseMemHandle ${memory?.name ?? 0}`,
  );
};

/** The moves. */
export const SPACE_MOVES: WeightedMoves = [
  [2, createPool],
  [2, destroyPool],
  [1, trimPool],
  [1, setPool],
  [2, getPool],
  [2, poolAccess],
  [2, reserve],
  [1, freeAddresses],
  [2, createPhysical],
  [1, granularity],
  [1, release],
  [3, mappedRange],
  [3, map],
  [1, describe],
  [2, unmap],
  [2, setAccess],
  [3, advise],
  [3, prefetch],
  [3, rangeAttribute],
  [4, discard],
  [3, device],
  [4, context],
  [1, peers],
  [2, share],
];
