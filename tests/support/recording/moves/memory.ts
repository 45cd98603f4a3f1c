// Moves that allocate, free and describe memory of devices and of the host.

import type { Draft } from "../draft.ts";
import type { ThingKind } from "../functions.ts";
import type { Move, WeightedMoves } from "./move.ts";

/** Sizes of blocks; a few are refused. */
function size(draft: Draft): number {
  if (draft.chance(0.03)) return draft.oneOf(0, 2 ** 45);
  return draft.oneOf(64, 256, 1024, 4096, 65536);
}

/** A fill of a whole new block, which most blocks get. */
function filled(draft: Draft, name: string, byteLength: number): string[] {
  if (byteLength === 0 || byteLength > 2 ** 30 || draft.chance(0.12)) return [];
  return [`cuMemsetD8Async ${name} ${draft.random.below(256)} ${byteLength} ${draft.stream()}`];
}

const alloc: Move = (draft) => {
  const [name, byteLength] = [draft.name("d"), size(draft)];
  return [`cuMemAlloc_v2 &${name} ${byteLength}`, ...filled(draft, name, byteLength)];
};

const allocPitch: Move = (draft) => {
  const [width, height] = [draft.oneOf(0, 16, 100, 512), draft.oneOf(0, 1, 4)];
  return `cuMemAllocPitch_v2 &${draft.name("d")} & ${width} ${height} ${draft.oneOf(4, 8, 16, 3)}`;
};

const allocHost: Move = (draft) => {
  const byteLength = draft.chance(0.05) ? 0 : draft.oneOf(64, 4096, 16384);
  return `cuMemHostAlloc &${draft.name("p")} ${byteLength} ${draft.oneOf(0, 0, 0, 1, 2, 4, 7, 8)}`;
};

const allocManaged: Move = (draft) => {
  const [name, byteLength] = [draft.name("m"), draft.oneOf(65536, 2 << 20, 4 << 20)];
  return [
    `cuMemAllocManaged &${name} ${byteLength} ${draft.oneOf(1, 1, 1, 2, 0, 4)}`,
    ...filled(draft, name, byteLength),
  ];
};

const allocAsync: Move = (draft) => {
  const [name, byteLength, stream] = [draft.name("b"), size(draft), draft.stream()];
  const call = draft.chance(0.6)
    ? `cuMemAllocAsync &${name} ${byteLength} ${stream}`
    : `cuMemAllocFromPoolAsync &${name} ${byteLength} ${draft.handle("memoryPool")} ${stream}`;
  const isEmpty = byteLength === 0 || byteLength > 2 ** 30 || draft.chance(0.12);
  return isEmpty ? call : [call, `cuMemsetD8Async ${name} 3 ${byteLength} ${stream}`];
};

/** An address to free: mostly right, else inside a block, of another kind, gone, or null. */
function freed(draft: Draft, ...kinds: readonly ThingKind[]): string | undefined {
  if (draft.chance(0.04)) return "0";
  if (draft.chance(0.06)) {
    const gone = [...draft.world.things.values()].filter(({ isAlive, kind }) =>
      !isAlive && kinds.includes(kind)
    );
    return gone.length === 0 ? undefined : `~${draft.random.pick(gone)?.name}`;
  }
  const isOther = draft.chance(0.06);
  const thing = isOther ? draft.thing("device", "pinned", "managed") : draft.thing(...kinds);
  if (thing === undefined) return undefined;
  return draft.chance(0.05) ? `${thing.name}+16` : thing.name;
}

const free: Move = (draft) => {
  const word = freed(draft, "device", "managed", "pooled");
  return word === undefined ? undefined : [...settled(draft), `cuMemFree_v2 ${word}`];
};

const freeHost: Move = (draft) => {
  const word = freed(draft, "pinned");
  return word === undefined ? undefined : ["settle", `cuMemFreeHost ${word}`];
};

const freeAsync: Move = (draft) => {
  const word = freed(draft, "pooled", "device");
  return word === undefined ? undefined : `cuMemFreeAsync ${word} ${draft.stream()}`;
};

function settled(draft: Draft): string[] {
  return draft.chance(0.5) ? ["settle"] : [];
}

const array: Move = (draft) => `array ${draft.name("h")} ${draft.oneOf(64, 4096, 16384)}`;

const register: Move = (draft) => {
  const thing = draft.chance(0.92) ? draft.thing("array") : draft.thing("device", "pinned");
  if (thing === undefined) return undefined;
  const byteLength = draft.oneOf(4096, 8192);
  const start = draft.oneOf(0, 0, 4096);
  if (start + byteLength > thing.byteLength) return undefined;
  return `cuMemHostRegister_v2 ${thing.name}+${start} ${byteLength} ` +
    `${draft.oneOf(0, 1, 2, 3, 4, 16)}`;
};

/** An array with registered pages, as programs make it. */
const registeredArray: Move = (draft) => {
  const name = draft.name("h");
  const isBrief = draft.chance(0.3);
  return [
    `array ${name} 16384`,
    `cuMemHostRegister_v2 ${name} ${draft.oneOf(4096, 16384)} 0`,
    ...(isBrief ? ["settle", `cuMemHostUnregister ${name}`] : []),
  ];
};

const unregister: Move = (draft) => {
  const [address] = draft.random.pick([...draft.world.registered]) ?? [];
  const holder = address === undefined ? undefined : draft.world.at(address);
  if (holder === undefined && draft.chance(0.9)) return undefined;
  if (holder === undefined || draft.chance(0.2)) {
    const other = draft.thing("array", "pinned", "device");
    return other === undefined ? undefined : ["settle", `cuMemHostUnregister ${other.name}`];
  }
  return ["settle", `cuMemHostUnregister ${holder.name}+${(address ?? 0n) - holder.value}`];
};

/** A name for questions about addresses: of any memory, or gone, or no memory at all. */
function asked(draft: Draft): string {
  if (draft.chance(0.05)) return "0";
  const thing = draft.thing("device", "pooled", "pinned", "managed", "array", "reservation");
  if (thing === undefined) return "0";
  return draft.chance(0.3) ? `${thing.name}+${draft.oneOf(1, 16, 32)}` : thing.name;
}

const pointerAttribute: Move = (draft) => {
  const attribute = draft.oneOf(1, 2, 3, 4, 7, 8, 9, 10, 11, 12, 13, 17);
  return `cuPointerGetAttribute & ${attribute} ${asked(draft)}`;
};

const addressRange: Move = (draft) => `cuMemGetAddressRange_v2 & & ${asked(draft)}`;

const hostFlags: Move = (draft) => `cuMemHostGetFlags & ${asked(draft)}`;

const devicePointer: Move = (draft) =>
  `cuMemHostGetDevicePointer_v2 & ${asked(draft)} ${draft.chance(0.1) ? 1 : 0}`;

const look: Move = (draft) => {
  const thing = draft.thing("pinned", "managed", "array");
  if (thing === undefined) return undefined;
  const part = draft.part({ word: thing.name, byteLength: thing.byteLength }, 128);
  return ["settle", `look ${part.word} ${part.byteLength}`];
};

const poke: Move = (draft) => {
  const thing = draft.thing("pinned", "managed", "array");
  if (thing === undefined) return undefined;
  const part = draft.part({ word: thing.name, byteLength: thing.byteLength }, 128);
  return ["settle", `poke ${part.word} ${part.byteLength} ${draft.random.below(256)}`];
};

/** The moves. */
export const MEMORY_MOVES: WeightedMoves = [
  [8, alloc],
  [2, allocPitch],
  [4, allocHost],
  [3, allocManaged],
  [6, allocAsync],
  [3, free],
  [2, freeHost],
  [4, freeAsync],
  [4, array],
  [2, register],
  [2, registeredArray],
  [1, unregister],
  [3, pointerAttribute],
  [2, addressRange],
  [1, hostFlags],
  [1, devicePointer],
  [4, look],
  [3, poke],
];
