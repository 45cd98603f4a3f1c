// Moves where two devices meet: memory and streams of each, copies between them, rights of one on the
// memory of the other.

import type { Draft } from "../draft.ts";
import type { Thing } from "../world.ts";
import type { Move, WeightedMoves } from "./move.ts";

const STEP = 2 << 20;

function context(draft: Draft): string {
  return `ctx${draft.random.below(draft.deviceCount)}`;
}

/** Memory and a stream of another device than the first, as programs make them. */
const otherDevice: Move = (draft) => {
  const ordinal = 1 + draft.random.below(draft.deviceCount - 1);
  const [stream, block, event] = [draft.name("s"), draft.name("d"), draft.name("e")];
  return [
    [
      `cuCtxPushCurrent_v2 ctx${ordinal}`,
      `cuStreamCreateWithPriority &${stream} 1 0`,
      `cuEventCreate &${event} 2`,
      `cuMemAlloc_v2 &${block} 4096`,
      `cuMemsetD8Async ${block} ${draft.random.below(256)} 4096 ${stream}`,
    ],
    ["cuCtxPopCurrent_v2 &"],
  ];
};

const peerAccess: Move = (draft) => {
  const call = draft.chance(0.8) ? "cuCtxEnablePeerAccess" : "cuCtxDisablePeerAccess";
  const flags = call === "cuCtxEnablePeerAccess" ? ` ${draft.chance(0.05) ? 1 : 0}` : "";
  return [
    [`cuCtxPushCurrent_v2 ${context(draft)}`, `${call} ${context(draft)}${flags}`],
    ["cuCtxPopCurrent_v2 &"],
  ];
};

function blockOf(draft: Draft): Thing | undefined {
  return draft.thing("device", "device", "pooled");
}

/** A copy that names the contexts of its blocks, or rarely other ones. */
const peerCopy: Move = (draft) => {
  const [to, from] = [blockOf(draft), blockOf(draft)];
  if (to === undefined || from === undefined) return undefined;
  const part = draft.part({
    word: from.name,
    byteLength: Math.min(from.byteLength, to.byteLength),
  });
  const target = draft.part({ word: to.name, byteLength: to.byteLength }, part.byteLength);
  const byteLength = Math.min(part.byteLength, target.byteLength);
  const home = ({ home = "ctx0" }: Thing) => draft.chance(0.05) ? context(draft) : home;
  return `cuMemcpyPeerAsync ${target.word} ${home(to)} ${part.word} ${home(from)} ${byteLength} ` +
    draft.stream();
};

const plainCopy: Move = (draft) => {
  const [to, from] = [blockOf(draft), blockOf(draft)];
  if (to === undefined || from === undefined || to.home === from.home) return undefined;
  const byteLength = Math.min(to.byteLength, from.byteLength, 256);
  return `cuMemcpyAsync ${to.name} ${from.name} ${byteLength} ${draft.stream()}`;
};

const poolAccess: Move = (draft) => {
  const [pool, id] = [draft.handle("memoryPool"), draft.random.below(draft.deviceCount)];
  const flags = draft.oneOf(3, 3, 3, 0, 1);
  return [
    `cuMemPoolSetAccess ${pool} {location.type:1,location.id:${id},flags:${flags}} 1`,
    `cuMemPoolGetAccess & ${pool} {type:1,id:${id}}`,
  ];
};

/** Addresses with memory of two devices behind them, which both may use, or one. */
const mappedRange: Move = (draft) => {
  const [range, first, second] = [draft.name("r"), draft.name("y"), draft.name("y")];
  const access = (id: number, flags: number) =>
    `{location.type:1,location.id:${id},flags:${flags}}`;
  const rights = draft.oneOf(3, 3, 1, 0);
  return [
    `cuMemAddressReserve &${range} ${2 * STEP} 0 0 0`,
    `cuMemCreate &${first} ${STEP} {type:1,location.type:1,location.id:0} 0`,
    `cuMemCreate &${second} ${STEP} {type:1,location.type:1,location.id:1} 0`,
    `cuMemMap ${range} ${STEP} 0 ${first} 0`,
    `cuMemMap ${range}+${STEP} ${STEP} 0 ${second} 0`,
    `cuMemSetAccess ${range} ${2 * STEP} [${access(0, 3)},${access(1, rights)}] 2`,
    `cuMemsetD8Async ${range} 9 ${2 * STEP} ${draft.stream()}`,
  ];
};

/** A stream of one device behind one of another. */
const follow: Move = (draft) => {
  const [first, second] = [draft.thing("stream"), draft.thing("stream")];
  const events = draft.world.alive("event").filter(({ home }) => home === first?.home);
  const event = draft.random.pick(events);
  if (first === undefined || second === undefined || event === undefined) return undefined;
  return [
    `cuEventRecord ${event.name} ${first.name}`,
    `cuStreamWaitEvent ${second.name} ${event.name} 0`,
  ];
};

/** A kernel of one device on a stream of any, with memory of any. */
const kernel: Move = (draft) => {
  const [block, stream] = [blockOf(draft), draft.thing("stream")];
  if (block === undefined || stream === undefined) return undefined;
  const own = stream.home?.at(-1) ?? "0";
  const ordinal = draft.chance(0.1) ? draft.random.below(draft.deviceCount) : own;
  return `cuLaunchKernel fill${ordinal} 1 1 1 32 1 1 0 ${stream.name} ` +
    `(u64:${block.name},u32:${draft.random.below(200)},u32:64) null`;
};

const managedPlace: Move = (draft) => {
  const thing = draft.thing("managed");
  if (thing === undefined) return undefined;
  const [id, range] = [draft.random.below(draft.deviceCount), `${thing.name} ${thing.byteLength}`];
  return [
    `cuMemAdvise ${range} ${draft.oneOf(3, 5)} ${id}`,
    `cuMemPrefetchAsync ${range} ${id} ${draft.stream()}`,
    `cuMemRangeGetAttribute & 4 ${draft.oneOf(2, 4)} ${range}`,
  ];
};

/** The moves. */
export const PEER_MOVES: WeightedMoves = [
  [20, otherDevice],
  [12, peerAccess],
  [14, peerCopy],
  [8, plainCopy],
  [6, poolAccess],
  [4, mappedRange],
  [10, follow],
  [10, kernel],
  [2, managedPlace],
];
