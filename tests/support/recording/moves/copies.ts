// Moves that copy and fill: lines, rows, boxes and batches, inside blocks whose size is known.

import type { Draft, Place } from "../draft.ts";
import type { Move, WeightedMoves } from "./move.ts";

const fill: Move = (draft) => {
  const place = draft.chance(0.97) ? draft.place() : draft.array();
  if (place === undefined) return undefined;
  const { word, byteLength } = draft.part(place, 4096);
  const [bits, bytes] = draft.oneOf<readonly [number, number]>([8, 1], [16, 2], [32, 4]);
  const count = draft.chance(0.03) ? 0 : byteLength / bytes;
  const target = draft.chance(0.02) ? odd(word) : word;
  return `cuMemsetD${bits}Async ${target} ${draft.random.below(200)} ${count} ${draft.stream()}`;
};

/** An address that is no multiple of 2; its last bytes stay inside, as fills are at least 16 long. */
function odd(word: string): string {
  const [name = "", offset = "0"] = word.split("+");
  return Number(offset) > 0 ? `${name}+${Number(offset) - 1}` : word;
}

const fillRows: Move = (draft) => {
  const place = draft.place();
  if (place === undefined || place.byteLength < 64) return undefined;
  const [bits, bytes] = draft.oneOf<readonly [number, number]>([8, 1], [16, 2], [32, 4]);
  const [pitch, width] = [draft.oneOf(32, 64), draft.oneOf(0, 4, 8, 16)];
  const most = Math.floor(place.byteLength / pitch);
  const height = draft.random.below(Math.min(most, 8) + 1);
  const given = draft.chance(0.05) ? 3 : pitch;
  const value = draft.random.below(200);
  return `cuMemsetD2D${bits}Async ${place.word} ${given} ${value} ${width / bytes} ${height} ` +
    draft.stream();
};

/** Takes any memory, ordinary arrays among it. */
function anywhere(draft: Draft): Place | undefined {
  return draft.chance(0.25) ? draft.array() ?? draft.place() : draft.place() ?? draft.array();
}

const copy: Move = (draft) => {
  const [to, from] = [anywhere(draft), anywhere(draft)];
  if (to === undefined || from === undefined) return undefined;
  const source = draft.part(from, Math.min(to.byteLength, 1024));
  const target = draft.part(to, source.byteLength);
  const byteLength = draft.chance(0.03) ? 0 : Math.min(source.byteLength, target.byteLength);
  const word = draft.chance(0.02) ? "0" : source.word;
  return `cuMemcpyAsync ${target.word} ${word} ${byteLength} ${draft.stream()}`;
};

const upload: Move = (draft) => {
  const [to, from] = [draft.place(), draft.array() ?? undefined];
  if (to === undefined || from === undefined) return undefined;
  const source = draft.part(from, Math.min(to.byteLength, 1024));
  const target = draft.part(to, source.byteLength);
  const byteLength = Math.min(source.byteLength, target.byteLength);
  return `cuMemcpyHtoDAsync_v2 ${target.word} @${source.word} ${byteLength} ${draft.stream()}`;
};

const download: Move = (draft) => {
  const [to, from] = [draft.array() ?? undefined, draft.place()];
  if (to === undefined || from === undefined) return undefined;
  const source = draft.part(from, Math.min(to.byteLength, 256));
  const target = draft.part(to, source.byteLength);
  const byteLength = Math.min(source.byteLength, target.byteLength);
  return [
    `cuMemcpyDtoHAsync_v2 @${target.word} ${source.word} ${byteLength} ${draft.stream()}`,
    "settle",
    `look ${target.word} ${byteLength}`,
  ];
};

/** Members of one side of a rectangle or a box. */
function side(draft: Draft, place: Place, prefix: "src" | "dst"): Record<string, string | number> {
  const isArray = draft.world.things.get(place.word.split("+")[0] ?? "")?.kind === "array";
  const type = isArray ? draft.oneOf(1, 1, 1, 4, 2) : draft.oneOf(2, 2, 2, 4);
  const address = draft.chance(0.02) ? "0" : place.word;
  const name = type === 1 ? `${prefix}Host` : `${prefix}Device`;
  return { [`${prefix}MemoryType`]: type, [name]: address };
}

function struct(members: Record<string, string | number>): string {
  return `{${Object.entries(members).map(([name, value]) => `${name}:${value}`).join(",")}}`;
}

const rectangle: Move = (draft) => {
  const [to, from] = [anywhere(draft), anywhere(draft)];
  if (to === undefined || from === undefined) return undefined;
  const [width, height] = [draft.oneOf(0, 4, 16), draft.oneOf(0, 1, 2)];
  const pitch = draft.oneOf(16, 32);
  if (Math.min(to.byteLength, from.byteLength) < 128) return undefined;
  const shift = draft.oneOf(0, 0, 0, 1);
  return `cuMemcpy2DAsync_v2 ${
    struct({
      ...side(draft, from, "src"),
      srcPitch: draft.chance(0.05) ? draft.oneOf(0, 8) : pitch,
      srcY: shift,
      ...side(draft, to, "dst"),
      dstPitch: draft.chance(0.05) ? draft.oneOf(0, 8) : 32,
      dstXInBytes: draft.oneOf(0, 0, 16),
      WidthInBytes: width,
      Height: height,
    })
  } ${draft.stream()}`;
};

const box: Move = (draft) => {
  const [to, from] = [anywhere(draft), anywhere(draft)];
  if (to === undefined || from === undefined) return undefined;
  if (Math.min(to.byteLength, from.byteLength) < 256) return undefined;
  const height = () => draft.chance(0.1) ? draft.oneOf(0, 1) : 2;
  return `cuMemcpy3DAsync_v2 ${
    struct({
      ...side(draft, from, "src"),
      srcPitch: 16,
      srcHeight: height(),
      srcZ: draft.oneOf(0, 0, 1),
      ...side(draft, to, "dst"),
      dstPitch: draft.oneOf(16, 32),
      dstHeight: height(),
      WidthInBytes: draft.oneOf(4, 16, 16),
      Height: draft.oneOf(1, 2, 2),
      Depth: draft.oneOf(0, 1, 2),
    })
  } ${draft.stream()}`;
};

const batch: Move = (draft) => {
  const [to, from] = [draft.place(), draft.place()];
  if (to === undefined || from === undefined) return undefined;
  const most = Math.floor(Math.min(to.byteLength, from.byteLength) / 64);
  const count = Math.min(most, draft.oneOf(1, 2, 3));
  if (count === 0) return undefined;
  const words = (place: Place) => {
    const [name = "", offset = "0"] = place.word.split("+");
    return Array.from({ length: count }, (_, i) => `${name}+${Number(offset) + i * 64}`).join(",");
  };
  const sizes = Array.from({ length: count }, () => draft.chance(0.03) ? 0 : draft.oneOf(16, 64));
  const order = draft.chance(0.05) ? draft.oneOf(0, 4) : draft.oneOf(1, 2, 3);
  const flags = draft.oneOf(0, 0, 0, 1, 2);
  const attributes = `{srcAccessOrder:${order},flags:${flags}}`;
  const given = draft.chance(0.03) ? 0 : count;
  return `cuMemcpyBatchAsync [${words(to)}] [${words(from)}] [${sizes}] ${given} ${attributes} ` +
    `[${draft.chance(0.03) ? 1 : 0}] ${draft.chance(0.03) ? 0 : 1} & ${draft.stream()}`;
};

const peer: Move = (draft) => {
  const [to, from] = [anywhere(draft), anywhere(draft)];
  if (to === undefined || from === undefined) return undefined;
  const source = draft.part(from, Math.min(to.byteLength, 256));
  const target = draft.part(to, source.byteLength);
  const byteLength = Math.min(source.byteLength, target.byteLength);
  const context = () => `ctx${draft.random.below(draft.deviceCount)}`;
  return `cuMemcpyPeerAsync ${target.word} ${context()} ${source.word} ${context()} ` +
    `${byteLength} ${draft.stream()}`;
};

/** Moves that a capture can record. */
export const RECORDABLE_MOVES: readonly [Move, ...Move[]] = [fill, fill, fillRows, copy, rectangle];

/** The moves. */
export const COPY_MOVES: WeightedMoves = [
  [8, fill],
  [2, fillRows],
  [8, copy],
  [4, upload],
  [5, download],
  [3, rectangle],
  [2, box],
  [3, batch],
  [1, peer],
];
