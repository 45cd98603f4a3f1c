// The collective operations: checks of each rank's buffers, and the NCCL calls that do the work.
// Everything is checked before anything is called.

import type { NcclApi, NcclFunction } from "../../ffi/nccl.ts";
import { GpuBuffer } from "../buffers/gpu_buffer.ts";
import { formatShape } from "../buffers/shape.ts";
import { StridedView } from "../buffers/strided_view.ts";
import { type MemorySpan, partOf } from "../copies/copy.ts";
import type { Context } from "../driver/context.ts";
import { type DType, elementBytes, insideByte } from "../dtype.ts";
import { KERNEL_MEMORY } from "../launch/kernel_memory.ts";
import type { Access } from "../memory/stream_usage.ts";
import { describeValue, formatCount } from "../words/format.ts";
import { requireKind } from "../words/options.ts";
import { REDUCTIONS, typeForMove, typeForReduction } from "./element_types.ts";
import {
  type BroadcastOptions,
  BUFFER,
  type GatherAllOptions,
  type GatherOptions,
  type IntoAllOptions,
  type RankBuffers,
  type ReduceAllOptions,
  type ReduceOptions,
  type ScatterOptions,
} from "./group_options.ts";

/** The ranks that take part. */
export interface Ranks {
  /** The contexts of the devices that this process has, in the order of its ranks. */
  readonly contexts: readonly Context[];
  readonly firstRank: number;
  /** Number of ranks, including those of other processes. */
  readonly size: number;
  /** Each rank has a process of its own. */
  readonly isSpread: boolean;
}

export interface RankUse extends MemorySpan {
  /** The use: a read or a write. */
  readonly access: Access;
}

/** One rank's part in an operation. */
export interface RankCall {
  readonly rank: number;
  /** The operation, for messages. */
  readonly call: NcclFunction;
  readonly uses: readonly RankUse[];
  /** The other rank of a send or a receive. */
  readonly peer?: number;
  /** Its elements as text, for a send or a receive. */
  readonly elements?: string;
  /** Makes the calls of NCCL and returns their status. */
  readonly make: (api: NcclApi, ...on: [communicator: bigint, stream: bigint]) => number;
}

/** A buffer with its rank and memory. */
interface Placed {
  readonly buffer: GpuBuffer;
  readonly span: MemorySpan;
  readonly rank: number;
}

/** Elements of one part, in NCCL's terms. */
interface Elements {
  readonly type: number;
  readonly count: bigint;
  /** Bytes of a part. */
  readonly byteLength: number;
}

/** Reduces the elements of all ranks into each rank's buffer. */
export function allReduce(
  ranks: Ranks,
  buffers: RankBuffers,
  { op = "sum", into }: ReduceAllOptions<DType>,
): RankCall[] {
  const call = "allReduce";
  const plan = { call, buffers, into, partCount: 1, resultParts: 1, typeOf: typeForReduction };
  return toEach(ranks, plan, ({ source, target, rank, count, type }) => ({
    rank,
    call: "ncclAllReduce",
    uses: usesOf(source, target, call),
    make: (api, ...on) =>
      api.ncclAllReduce(source.address, target.address, count, type, REDUCTIONS[op], ...on),
  }));
}

/** Reduces the elements of all ranks into one buffer. */
export function reduce(
  ranks: Ranks,
  buffers: RankBuffers,
  { op = "sum", root, into }: ReduceOptions<DType>,
): RankCall[] {
  const call = "reduce";
  const sources = placesOf(ranks, buffers, call);
  const { type, count } = elementsOf(sources, 1, call, typeForReduction);
  const target = into === undefined
    ? atRank(ranks, sources, root ?? 0, call)
    : targetOf(ranks, into, { sources, call, root });
  const targetRank = target?.rank ?? root ?? 0;
  if (target !== undefined) requireLengths([target], lengthOf(sources), call);
  if (count === 0n) return [];
  return sources.map(({ span, rank }) => {
    const destination = rank === targetRank ? target?.span : undefined;
    const to = destination?.address ?? 0n;
    return {
      rank,
      call: "ncclReduce",
      uses: destination === undefined ? [reading(span)] : usesOf(span, destination, call),
      make: (api, ...on) =>
        api.ncclReduce(span.address, to, count, type, REDUCTIONS[op], targetRank, ...on),
    };
  });
}

/** Copies the elements of one buffer into a buffer of each rank. */
export function broadcast(
  ranks: Ranks,
  source: RankBuffers,
  { root, into }: BroadcastOptions & Partial<IntoAllOptions<DType>>,
): RankCall[] {
  const call = "broadcast";
  const isInPlace = isList(source) || (ranks.isSpread && into === undefined);
  if (isInPlace !== (into === undefined)) {
    throw new TypeError(
      `Cannot call broadcast(): pass a list of buffers, or one buffer and { into }, a list`,
    );
  }
  const targets = placesOf(ranks, into ?? source, call);
  const from = into === undefined
    ? atRank(ranks, targets, root ?? 0, call)
    : targetOf(ranks, source as GpuBuffer, { sources: targets, call, root });
  const fromRank = from?.rank ?? root ?? 0;
  if (from !== undefined) requireLengths(targets, from.buffer.length, call);
  const { type, count } = elementsOf(targets, 1, call);
  if (count === 0n) return [];
  return targets.map(({ span, rank }) => {
    const sent = rank === from?.rank ? from.span : undefined;
    return {
      rank,
      call: "ncclBroadcast",
      uses: sent === undefined ? [writing(span)] : usesOf(sent, span, call),
      make: (api, ...on) =>
        api.ncclBroadcast((sent ?? span).address, span.address, count, type, fromRank, ...on),
    };
  });
}

/** Concatenates the elements of all ranks in each rank's buffer. */
export function allGather(
  ranks: Ranks,
  buffers: RankBuffers,
  { into }: GatherAllOptions<DType>,
): RankCall[] {
  const call = "allGather";
  const { size } = ranks;
  const partCount = into === undefined ? size : 1;
  const plan = { call, buffers, into, partCount, resultParts: size };
  return toEach(ranks, plan, ({ source, target, rank, count, type, byteLength }) => {
    const own = partOf(target, { offset: rank * byteLength, byteLength });
    const from = into === undefined ? own : source;
    return {
      rank,
      call: "ncclAllGather",
      uses: into === undefined ? [writing(target)] : usesOf(from, target, call, own),
      make: (api, ...on) => api.ncclAllGather(from.address, target.address, count, type, ...on),
    };
  });
}

/** Reduces the elements of all ranks, and gives each rank its part of the result. */
export function reduceScatter(
  ranks: Ranks,
  buffers: RankBuffers,
  { op = "sum", into }: ReduceAllOptions<DType>,
): RankCall[] {
  const call = "reduceScatter";
  const partCount = ranks.size;
  const plan = { call, buffers, into, partCount, resultParts: 1, typeOf: typeForReduction };
  return toEach(ranks, plan, ({ source, target, rank, count, type, byteLength }) => {
    const own = partOf(source, { offset: rank * byteLength, byteLength });
    const to = into === undefined ? own : target;
    return {
      rank,
      call: "ncclReduceScatter",
      uses: into === undefined ? [writing(source)] : usesOf(source, to, call, own),
      make: (api, ...on) =>
        api.ncclReduceScatter(source.address, to.address, count, type, REDUCTIONS[op], ...on),
    };
  });
}

/** Gives each rank its part of every rank's elements. */
export function allToAll(
  ranks: Ranks,
  buffers: RankBuffers,
  { into }: IntoAllOptions<DType>,
): RankCall[] {
  const call = "allToAll";
  const { size } = ranks;
  requireInto(into, call);
  const plan = { call, buffers, into, partCount: size, resultParts: size };
  return toEach(ranks, plan, ({ source, target, rank, count, type, byteLength }) => ({
    rank,
    call: "ncclAlltoAll",
    uses: usesOf(source, target, call, null),
    make(api, ...on) {
      const [from, to] = [source.address, target.address];
      if (api.ncclAlltoAll !== null) return api.ncclAlltoAll(from, to, count, type, ...on);
      return firstFailure(size, (peer) => {
        const offset = BigInt(peer * byteLength);
        return api.ncclSend(from + offset, count, type, peer, ...on) ||
          api.ncclRecv(to + offset, count, type, peer, ...on);
      });
    },
  }));
}

/** Concatenates the elements of all ranks in one buffer. */
export function gather(
  ranks: Ranks,
  buffers: RankBuffers,
  { root, into }: GatherOptions<DType>,
): RankCall[] {
  const expected = "{ into }, a buffer with room for all";
  return moveParts(ranks, { call: "gather", parts: buffers, whole: into, root, expected });
}

/** Gives each rank its part of one buffer. */
export function scatter(
  ranks: Ranks,
  source: GpuBuffer | undefined,
  { root, into }: ScatterOptions<DType>,
): RankCall[] {
  requireInto(into, "scatter");
  const expected = "a buffer with the parts of all ranks";
  return moveParts(ranks, { call: "scatter", parts: into, whole: source, root, expected });
}

/** Moves a part of each rank to its place in one rank's buffer, or back. */
function moveParts(
  ranks: Ranks,
  { call, parts, whole, root, expected }: {
    readonly call: "gather" | "scatter";
    readonly parts: RankBuffers;
    readonly whole: GpuBuffer | undefined;
    readonly root: number | undefined;
    readonly expected: string;
  },
): RankCall[] {
  const { size } = ranks;
  const isGather = call === "gather";
  const name = isGather ? "ncclGather" : "ncclScatter";
  const [fromPart, fromRoot] = isGather
    ? ["ncclSend", "ncclRecv"] as const
    : ["ncclRecv", "ncclSend"] as const;
  const places = placesOf(ranks, parts, call);
  const target = whole === undefined
    ? undefined
    : targetOf(ranks, whole, { sources: places, call, root });
  const rootRank = target?.rank ?? otherRank(ranks, root, call, expected);
  if (target !== undefined) requireLengths([target], lengthOf(places) * size, call);
  const { type, count, byteLength } = elementsOf(places, 1, call);
  if (count === 0n) return [];
  return places.map(({ span, rank }) => {
    const all = rank === rootRank ? target?.span : undefined;
    const own = partOf(all ?? span, { offset: rank * byteLength, byteLength });
    const [source, destination] = isGather ? [span, all] : [all, span];
    return {
      rank,
      call: name,
      uses: source !== undefined && destination !== undefined
        ? usesOf(source, destination, call, own)
        : [isGather ? reading(span) : writing(span)],
      make(api, ...on) {
        const [from, to] = [source?.address ?? 0n, destination?.address ?? 0n];
        if (api[name] !== null) return api[name](from, to, count, type, rootRank, ...on);
        // The root also sends to itself, and receives that, unless the bytes are in place.
        const status = all !== undefined && span.address === own.address
          ? 0
          : api[fromPart](span.address, count, type, rootRank, ...on);
        if (all === undefined || status !== 0) return status;
        return firstFailure(size, (peer) => {
          const place = all.address + BigInt(peer * byteLength);
          if (peer === rank && span.address === place) return 0;
          return api[fromRoot](place, count, type, peer, ...on);
        });
      },
    };
  });
}

/** Sends a buffer's elements to another rank, or receives elements from it. */
export function exchange(
  ranks: Ranks,
  buffer: GpuBuffer,
  { call, peer }: { readonly call: "send" | "recv"; readonly peer: number },
): RankCall[] {
  const { span, rank } = placeOf(ranks, buffer, call);
  requireRank(ranks, peer, call);
  const { type, scale } = typeForMove(buffer.dtype, call);
  const count = BigInt(buffer.length * scale);
  if (count === 0n) return [];
  const name = call === "send" ? "ncclSend" : "ncclRecv";
  return [{
    rank,
    call: name,
    uses: [call === "send" ? reading(span) : writing(span)],
    peer,
    elements: formatShape(buffer.dtype, [buffer.length]),
    make: (api, ...on) => api[name](span.address, count, type, peer, ...on),
  }];
}

/**
 * Checks that the calls of a batch use separate memory: NCCL runs them in no certain order.
 *
 * @throws RangeError when one writes what another uses.
 */
export function requireApart(calls: readonly RankCall[]): void {
  const seen: { readonly use: RankUse; readonly call: RankCall }[] = [];
  for (const call of calls) {
    for (const use of call.uses) {
      const other = seen.find((other) =>
        (use.access === "write" || other.use.access === "write") && other.call !== call &&
        meet(use, other.use)
      );
      if (other === undefined) continue;
      throw new RangeError(
        `Cannot batch ${other.call.call} and ${call.call} of rank ${call.rank}: one writes what the ` +
          `other uses, and a batch has no order; call them one after another`,
      );
    }
    for (const use of call.uses) seen.push({ use, call });
  }
}

/** Checks that each rank's device has one buffer, and all the same element type and shape. */
function placesOf(ranks: Ranks, given: RankBuffers, call: string): readonly Placed[] {
  const { contexts: { length: size }, firstRank } = ranks;
  const buffers = ranks.isSpread && given instanceof GpuBuffer ? [given] : given;
  if (!isList(buffers)) {
    throw new TypeError(
      `Cannot call ${call}() with ${describeValue(buffers)}: expected a list with a buffer for ` +
        `each of ${formatCount(size, "device")}`,
    );
  }
  if (buffers.length !== size) {
    throw new RangeError(
      `Cannot call ${call}() with ${formatCount(buffers.length, "buffer")}: pass one for each of ` +
        `${formatCount(size, "device")}, in their order`,
    );
  }
  const places = buffers.map((buffer, at) => {
    const placed = placeOf(ranks, buffer, call);
    const rank = firstRank + at;
    if (placed.rank === rank) return placed;
    throw new TypeError(
      `Cannot call ${call}() with ${buffer} for rank ${rank}: it is on device ` +
        `${placed.buffer.deviceOrdinal}, rank ${rank} is device ${ranks.contexts[at]?.ordinal}`,
    );
  });
  const [first] = places;
  for (const { buffer } of places) {
    if (first === undefined) break;
    requireSameType(first.buffer, buffer, call);
    if (first.buffer.shape.join() === buffer.shape.join()) continue;
    throw new RangeError(
      `Cannot call ${call}() with ${first.buffer} and ${buffer}: their shapes differ`,
    );
  }
  return places;
}

/** Finds the rank of a buffer by its device. */
function placeOf(ranks: Ranks, buffer: GpuBuffer, call: string): Placed {
  const given: unknown = buffer;
  if (given instanceof StridedView) {
    throw new TypeError(
      `Cannot call ${call}() with ${given}: NCCL takes elements side by side; pass contiguous()`,
    );
  }
  requireKind(given, BUFFER, call);
  const at = ranks.contexts.indexOf(buffer.context);
  try {
    const span = buffer[KERNEL_MEMORY]();
    if (at >= 0) return { buffer, span, rank: ranks.firstRank + at };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new TypeError(`Cannot call ${call}() with ${buffer}: ${error.message}`);
  }
  throw new TypeError(
    `Cannot call ${call}() with ${buffer}: it is on device ${buffer.deviceOrdinal}, which is not in ` +
      `the group${ranks.isSpread ? " of this process" : ""}`,
  );
}

/** A call by which each rank gets elements of all ranks. */
interface EachPlan {
  readonly call: string;
  readonly buffers: RankBuffers;
  /** Buffers that take the results; without them the call works in place. */
  readonly into: RankBuffers | undefined;
  /** Number of parts that the elements of a buffer are. */
  readonly partCount: number;
  /** Number of such parts in a result. */
  readonly resultParts: number;
  readonly typeOf?: typeof typeForMove;
}

/** Checks the buffers of a call, and makes it for each rank; makes none when there are no elements. */
function toEach(
  ranks: Ranks,
  { call, buffers, into, partCount, resultParts, typeOf }: EachPlan,
  make: (rank: Elements & { source: MemorySpan; target: MemorySpan; rank: number }) => RankCall,
): RankCall[] {
  const sources = placesOf(ranks, buffers, call);
  const elements = elementsOf(sources, partCount, call, typeOf);
  const targets = into === undefined ? sources : placesOf(ranks, into, call);
  const [source, target] = [sources[0], targets[0]];
  if (source !== undefined && target !== undefined) {
    requireSameType(source.buffer, target.buffer, call);
  }
  if (into !== undefined) {
    requireLengths(targets, lengthOf(sources) / partCount * resultParts, call);
  }
  if (elements.count === 0n) return [];
  return sources.map(({ span, rank }, at) =>
    make({ ...elements, source: span, target: targets[at]?.span ?? span, rank })
  );
}

function requireInto(into: unknown, call: string): void {
  if (into !== undefined) return;
  throw new TypeError(`Cannot call ${call}(): pass { into }, a list with a buffer for each rank`);
}

/** Checks the one buffer that all ranks send to or get from. */
function targetOf(
  ranks: Ranks,
  buffer: GpuBuffer,
  { sources, call, root }: {
    readonly sources: readonly Placed[];
    readonly call: string;
    readonly root?: number | undefined;
  },
): Placed {
  const placed = placeOf(ranks, buffer, call);
  const [source] = sources;
  if (source !== undefined) requireSameType(source.buffer, buffer, call);
  if (root === undefined || root === placed.rank) return placed;
  throw new RangeError(
    `Cannot call ${call}() with root ${root} and ${buffer}: that is on rank ${placed.rank}`,
  );
}

/** Finds the buffer of a rank; undefined for a rank of another process. */
function atRank(
  ranks: Ranks,
  places: readonly Placed[],
  rank: number,
  call: string,
): Placed | undefined {
  requireRank(ranks, rank, call);
  return places.find((placed) => placed.rank === rank);
}

/** Checks the number of the rank whose buffer is in another process. */
function otherRank(ranks: Ranks, root: number | undefined, call: string, expected: string): number {
  const isOwn = root === undefined || !ranks.isSpread || root === ranks.firstRank;
  if (isOwn) {
    const others = ranks.isSpread ? "; the other ranks pass { root }" : "";
    throw new TypeError(`Cannot call ${call}(): pass ${expected}${others}`);
  }
  requireRank(ranks, root, call);
  return root;
}

function isList(buffers: RankBuffers): buffers is readonly GpuBuffer[] {
  return Array.isArray(buffers);
}

function requireRank(ranks: Ranks, rank: number, call: string): void {
  if (Number.isInteger(rank) && rank >= 0 && rank < ranks.size) return;
  throw new RangeError(
    `Cannot call ${call}() with rank ${rank}: the group has ranks 0 to ${ranks.size - 1}`,
  );
}

function requireSameType(one: GpuBuffer, other: GpuBuffer, call: string): void {
  if (one.dtype === other.dtype) return;
  throw new TypeError(`Cannot call ${call}() with ${one} and ${other}: element types differ`);
}

function requireLengths(places: readonly Placed[], length: number, call: string): void {
  for (const { buffer } of places) {
    if (buffer.length === length) continue;
    throw new RangeError(
      `Cannot call ${call}() with ${buffer}: it must have ${formatCount(length, "element")}`,
    );
  }
}

function lengthOf([first]: readonly Placed[]): number {
  return first?.buffer.length ?? 0;
}

/** Returns the elements of one of `partCount` parts of each buffer. */
function elementsOf(
  places: readonly Placed[],
  partCount: number,
  call: string,
  typeOf: typeof typeForMove = typeForMove,
): Elements {
  const [first] = places;
  const length = lengthOf(places);
  if (length % partCount !== 0) {
    throw new RangeError(
      `Cannot call ${call}() with ${first?.buffer}: ${formatCount(length, "element")} cannot be ` +
        `divided among ${formatCount(partCount, "rank")}`,
    );
  }
  const dtype = first?.buffer.dtype ?? "uint8";
  const count = length / partCount;
  const { type, scale } = typeOf(dtype, call);
  if (count * scale % 1 !== 0) throw insideByte(dtype, `call ${call}() with ${count} elements`);
  return { type, count: BigInt(count * scale), byteLength: count * elementBytes(dtype) };
}

/**
 * Returns the uses of a call that reads one range and writes another. They may overlap only in
 * `own`, which is a rank's part of the larger range, or all of it; null when they may not overlap.
 *
 * @throws RangeError when the ranges meet elsewhere.
 */
function usesOf(
  source: MemorySpan,
  destination: MemorySpan,
  call: string,
  own: MemorySpan | null = source,
): RankUse[] {
  const uses = [reading(source), writing(destination)];
  if (!meet(source, destination)) return uses;
  const smaller = source.byteLength < destination.byteLength ? source : destination;
  const isInPlace = own !== null && smaller.address === own.address &&
    smaller.byteLength === own.byteLength;
  if (isInPlace) {
    return source.address === destination.address && own === source ? [writing(destination)] : uses;
  }
  throw new RangeError(
    `Cannot call ${call}() on buffers of device ${source.allocation.context.ordinal} that share bytes: ` +
      `pass buffers that are apart, or work in place`,
  );
}

function reading({ allocation, address, byteLength }: MemorySpan): RankUse {
  return { allocation, address, byteLength, access: "read" };
}

function writing({ allocation, address, byteLength }: MemorySpan): RankUse {
  return { allocation, address, byteLength, access: "write" };
}

/** Returns whether two ranges have bytes in common. */
function meet(one: MemorySpan, other: MemorySpan): boolean {
  return one.address < other.address + BigInt(other.byteLength) &&
    other.address < one.address + BigInt(one.byteLength);
}

/** Makes a call for each rank until one fails; returns its status. */
function firstFailure(size: number, call: (rank: number) => number): number {
  for (let rank = 0; rank < size; rank++) {
    const status = call(rank);
    if (status !== 0) return status;
  }
  return 0;
}
