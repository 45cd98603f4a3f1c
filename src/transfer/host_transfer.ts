// Moves ordinary host memory to the device and back, in the order of a stream and of the program.
// Small transfers on idle streams are one driver call, and over when it returns.

import { checkApart, type MemorySpan } from "../copies/copy.ts";
import { isUntouched, keepFreedMemory, makePages } from "../lanes/fresh_pages.ts";
import { requireUnrecorded } from "../memory/captured_memory.ts";
import { mayBeOwned, type OwnedHostSpan, ownedParts, ownedSpan } from "../memory/host_bytes.ts";
import type { Action, HostBytes } from "../memory/host_memory.ts";
import {
  comesAfterNothing,
  type MemoryUse,
  pendingBefore,
  pendingBeforeHost,
} from "../memory/in_order.ts";
import { activeCapture } from "../order/capture.ts";
import { finishNow, type PendingWork } from "../order/pending_work.ts";
import { type CudaStream, queueOf } from "../order/stream.ts";
import { nextTurn } from "../order/waiting.ts";
import { reportProgress } from "../words/progress.ts";
import { arraysBefore, arraysInUse, type ArrayUse, usesOfArray } from "./array_uses.ts";
import { engineFor, engineLimits, isSmall, noteDemand } from "./context_engine.ts";
import { finishMover, Mover, queueByDriver } from "./mover.ts";
import { PendingTransfer, type TransferOptions, type TransferPlan } from "./pending_transfer.ts";
import type { Direction } from "./pieces.ts";
import { movedAway, presenceOf } from "./ring_transfer.ts";
import { moveShared } from "./shared_transfer.ts";
import { StagingMemory } from "./staging_memory.ts";
import {
  CALL_BYTES,
  DEFAULT_LIMITS,
  isShared,
  MAX_IDLE_LOOKS,
  MIN_COPY_BYTES,
  MIN_KEPT_BYTES,
  STAGING_BYTES,
} from "./ways.ts";

/** The host's side of a transfer. */
export interface HostSide {
  /** The program's own memory: transfers that use it as well come before or after. */
  readonly memory: HostBytes;
  /**
   * Makes the bytes that are moved instead of the memory's, when it is the transfer's turn: values in
   * another format, or the place for them.
   */
  readonly convert?: (() => HostBytes) | undefined;
  /** Puts downloaded bytes that were made by `convert` into the program's memory. */
  readonly complete?: ((bytes: HostBytes) => void) | undefined;
  /** The program's array, while it is to be made: `memory` makes it when it is asked for. */
  readonly unmade?: UnmadeArray | undefined;
}

/** A new array that a download makes. */
export interface UnmadeArray {
  /** Makes it as a copy of downloaded bytes. */
  land(bytes: HostBytes): void;
  /** Makes it of memory that has its pages, of the same size. */
  place(buffer: ArrayBuffer): void;
}

/** Work that an upload is followed by at once. */
export interface FollowingWork {
  /** The memory that it uses beside the upload's. */
  readonly uses: readonly MemoryUse[];
  /** Queues it; not called when the upload fails. */
  readonly queue: () => void;
}

/** One transfer between host bytes and device memory. */
export interface HostTransfer extends TransferOptions {
  /** Direction of the transfer. */
  readonly direction: Direction;
  /** The stream whose earlier work comes first. */
  readonly stream: CudaStream;
  /** The device's side. */
  readonly span: MemorySpan;
  /** The host's side. */
  readonly host: HostSide;
  /** Counters and the timeline leave the transfer out. */
  readonly isUncounted?: boolean;
  /** The memory is new and known only to the caller, so that it needs no order. */
  readonly isPlaced?: boolean | undefined;
  /** Transfers of the same call, which move other bytes of the same arrays. */
  readonly besides?: Set<PendingWork> | undefined;
  /** Work that follows an upload at once. */
  readonly andThen?: FollowingWork | undefined;
}

const ACTIONS = {
  upload: "upload ordinary memory",
  download: "download ordinary memory",
} as const satisfies Record<HostTransfer["direction"], string>;

/** The use that a transfer makes of the device's memory, and of the array. */
const DEVICE_ACCESS = { upload: "write", download: "read" } as const;
const ARRAY_ACCESS = { upload: "read", download: "write" } as const;

/**
 * Moves the bytes after all earlier calls that use the same bytes, on the device or in the array.
 * Returns a promise that resolves when they have arrived, or undefined when they already have, as
 * after most small transfers.
 *
 * @throws TypeError when the stream is being captured: ordinary memory may be elsewhere at a
 *   launch.
 */
export function transfer(given: HostTransfer): Promise<void> | undefined {
  const { direction, stream, span, signal } = given;
  signal?.throwIfAborted();
  const { byteLength, allocation } = span;
  if (byteLength === 0) return undefined;
  requireUnrecorded(allocation, stream, ACTIONS[direction]);
  const isOrdinary = given.host.unmade !== undefined || !mayBeOwned(given.host.memory);
  const owned = isOrdinary ? undefined : ownedApartFrom(given);
  const task = isOrdinary || owned !== undefined ? given : besideParts(given);
  const isInOrder = isOrdinary && allocation.isInOrder(stream, DEVICE_ACCESS[direction]) &&
    queueOf(stream).lastPostponed === undefined;
  const comesFirst = task === given && owned?.allocation.released !== true &&
    (task.isPlaced === true || arraysInUse.size === 0 &&
        (isInOrder || comesAfterNothing(stream, allocation, owned?.allocation)));
  const isBrief = comesFirst && task.andThen === undefined &&
    (isSmall(stream.context, byteLength) || isBriefFor(task, owned));
  if (isBrief && (!isInOrder || direction === "download")) order(task, owned);
  const isAtOnce = isBrief && (queueOf(stream).isKnownIdle || isSoonIdle(stream));
  if (!isAtOnce) return new PendingTransfer(planOf(task, owned)).promise;
  move(task, owned);
  budget.spentBytes += byteLength + CALL_BYTES;
  const turn = 2 * budget.spentBytes < DEFAULT_LIMITS.maxCallBytes ? undefined : dueTurn();
  const { returning } = stream.context;
  return returning === undefined ? turn : returning.then(() => turn);
}

/** Moves the bytes as {@link transfer} does, and blocks until they have arrived. */
export function transferSync(given: HostTransfer): void {
  const { direction, stream, span: { byteLength, allocation } } = given;
  if (byteLength === 0) return;
  requireUnrecorded(allocation, stream, ACTIONS[direction]);
  const isOrdinary = given.host.unmade !== undefined || !mayBeOwned(given.host.memory);
  const owned = isOrdinary ? undefined : ownedApartFrom(given);
  const task = isOrdinary || owned !== undefined ? given : besideParts(given);
  using _kept = owned?.allocation.released === true ? owned.allocation.hold() : undefined;
  finishEarlier(task, owned);
  order(task, owned);
  if (isReadByHost(task, owned)) queueOf(stream).synchronizeSync();
  move(task, owned);
  stream.context.endWait();
}

/** Has the bytes beside an array moved where a part of it is registered: the driver takes none such. */
function besideParts(task: HostTransfer): HostTransfer {
  const { host, direction } = task;
  return ownedParts(host.memory).length === 0
    ? task
    : { ...task, host: besideArray(host, direction) };
}

/** The host's side of a transfer that moves other memory instead of an array. */
export function besideArray(host: HostSide, direction: HostTransfer["direction"]): HostSide {
  if (host.convert !== undefined) return host;
  const { memory } = host;
  if (direction === "upload") return { memory, convert: () => memory.slice() };
  const convert = () => new Uint8Array(memory.byteLength);
  return { memory, convert, complete: (bytes) => memory.set(bytes) };
}

/** Moves the bytes and blocks until they have arrived; all earlier work is over or queued. */
function move(task: HostTransfer, owned: OwnedHostSpan | undefined): void {
  const { direction, stream: { context }, host, span: { byteLength }, onProgress } = task;
  const bytes = host.unmade === undefined ? host.convert?.() ?? host.memory : undefined;
  if (bytes !== undefined && bytes.byteLength !== byteLength) throw movedAway([bytes]);
  const isLarge = owned === undefined && !isSmall(context, byteLength);
  if (!isLarge || !hasMovedByThreads(task, bytes)) {
    if (direction === "download" && owned === undefined) downloadByOneCall(task, bytes);
    else moveByDriver(task, bytes ?? host.memory);
  }
  if (bytes !== undefined) host.complete?.(bytes);
  if (onProgress !== undefined) reportProgress(onProgress, byteLength, byteLength);
}

/**
 * Moves the bytes together with lanes that are awake, or through the ring by lanes that run; returns false
 * where neither pays. A new array is one that lanes have made, or is made while the copy engine works.
 */
function hasMovedByThreads(task: HostTransfer, given: HostBytes | undefined): boolean {
  const { direction, stream, host, span } = task;
  const { byteLength } = span;
  const { context } = stream;
  noteDemand(context, byteLength, { canLend: false });
  if (given === undefined) {
    const arrays = engineFor(context)?.arrays;
    const isComing = arrays?.expect(byteLength) === true;
    if (!isComing && byteLength <= STAGING_BYTES) return false; // it becomes a copy of that memory
    const place = () => {
      const buffer = isComing ? arrays.take(byteLength) : undefined;
      if (buffer !== undefined) host.unmade?.place(buffer);
      return host.memory;
    };
    if (hasShared(task, place)) return true;
    place();
  }
  const bytes = given ?? host.memory;
  const isFresh = direction === "download" && isUntouched(bytes);
  if (hasShared(task, () => bytes, { isFresh })) return true;
  if (engineFor(context)?.hasRingFor(byteLength, { canLend: false }) !== true) return false;
  if (!queueOf(stream).isKnownIdle) queueOf(stream).synchronizeSync();
  noteTransfer(task);
  finishMover(new Mover(context, [{ begin: () => ({ direction, span, bytes }) }]));
  return true;
}

/**
 * Downloads by one driver call; few bytes by way of page-locked memory, of which a new array is made as a
 * copy, because V8 clears others first.
 */
function downloadByOneCall(task: HostTransfer, given: HostBytes | undefined): void {
  const { host, stream: { context }, span: { byteLength } } = task;
  const { unmade } = host;
  const isKept = byteLength >= MIN_KEPT_BYTES;
  if (isKept && unmade !== undefined) keepFreedMemory();
  // Into an array that is there, the driver's own way takes less from this size on.
  const isBetter = given === undefined || byteLength < MIN_COPY_BYTES;
  const landed = isBetter ? StagingMemory.of(context).land(byteLength) : undefined;
  if (landed !== undefined) {
    moveByDriver(task, landed);
    if (unmade !== undefined) unmade.land(landed);
    else (given ?? host.memory).set(landed);
    return;
  }
  const bytes = given ?? host.memory;
  if (isKept && isUntouched(bytes)) makePages(bytes);
  moveByDriver(task, bytes);
}

/** Moves bytes by one driver call, and does the accounting while they are on their way. */
function moveByDriver(task: HostTransfer, bytes: HostBytes): void {
  const { direction, stream, span: { address: device } } = task;
  queueByDriver(queueOf(stream), { direction, device, bytes });
  noteTransfer(task);
  queueOf(stream).synchronizeSync();
}

/** Moves bytes together with lanes that are awake; returns false where none are, and for other sizes. */
function hasShared(task: HostTransfer, bytes: () => HostBytes, { isFresh = false } = {}): boolean {
  const { direction, stream, span: { address: device, byteLength } } = task;
  if (!isShared(byteLength, { isFresh })) return false;
  const lanes = engineFor(stream.context)?.awakeLanes;
  const staged = lanes && StagingMemory.of(stream.context).take(direction, byteLength);
  if (lanes === undefined || staged === undefined) return false;
  noteTransfer(task);
  moveShared({ direction, stream: queueOf(stream), device, byteLength, bytes, lanes, staged });
  return true;
}

/**
 * Returns the memory under the array that the GPU reaches; undefined for ordinary memory.
 *
 * @throws RangeError when the bytes would be copied onto a part of themselves.
 */
function ownedApartFrom({ direction, span, host }: HostTransfer): OwnedHostSpan | undefined {
  const owned = ownedSpan(host.memory);
  if (owned === undefined || host.convert !== undefined) return owned;
  if (direction === "upload") checkApart(span, owned);
  else checkApart(owned, span);
  return owned;
}

/**
 * Returns whether a transfer is over in a millisecond or two, and so moves in the call: the event loop has
 * its turn before the next ones when calls have kept it for that long.
 */
function isBriefFor(
  { direction, host, span: { byteLength }, stream: { context }, onProgress, signal }: HostTransfer,
  owned: OwnedHostSpan | undefined,
): boolean {
  const { minRingBytes, maxCallBytes, maxFreshCallBytes } = engineLimits(context);
  if (byteLength > maxCallBytes && byteLength >= minRingBytes || budget.turn !== undefined) {
    return false;
  }
  if (byteLength < minRingBytes) return true;
  if (owned !== undefined || onProgress !== undefined || signal !== undefined) return false;
  if (direction === "upload" || byteLength <= maxFreshCallBytes) return true;
  return engineFor(context)?.arrays !== undefined ||
    host.unmade === undefined && !isUntouched(host.memory);
}

/**
 * The time for which calls that are over when they return keep the event loop, as bytes that one thread
 * moves: awaiting them gives it no turn.
 */
const budget = { spentBytes: 0, turn: undefined as Promise<void> | undefined };

/** Gives the event loop its turn, for the call's promise to wait for. */
function dueTurn(): Promise<void> {
  return budget.turn ??= nextTurn().then(() => {
    budget.spentBytes = 0;
    budget.turn = undefined;
  });
}

/** Blocks until all earlier calls that use the same bytes are over. */
function finishEarlier(task: HostTransfer, owned: OwnedHostSpan | undefined): void {
  const { stream, span, direction, host } = task;
  if (
    arraysInUse.size === 0 && comesAfterNothing(stream, span.allocation, owned?.allocation) &&
    host.convert === undefined
  ) return;
  const { uses, arrays } = usesOf(task, owned);
  finishNow([...pendingBefore(stream, uses), ...arraysBefore(arrays)], `${direction} now`);
}

/**
 * Blocks until earlier calls, and the GPU, have written what they write into an array that is read now.
 * Work that a graph is to record reads it as it is.
 */
export function finishWritesInto(memory: HostBytes, stream: CudaStream, action: Action): void {
  if (activeCapture !== undefined) return;
  const { uses, arrays } = usesOfArray({ memory, access: "read" }, ownedSpan(memory));
  if (uses.length === 0 && arraysInUse.size === 0) return;
  finishNow([...arraysBefore(arrays), ...pendingBeforeHost(stream, uses)], `${action}`);
  if (uses.length === 0) return;
  for (const { allocation } of uses) allocation.order(stream, "read");
  queueOf(stream).synchronizeSync();
}

/** Makes the stream wait for other streams' work on the memory; throws when that work failed. */
function order(
  { direction, span, stream, host }: HostTransfer,
  owned: OwnedHostSpan | undefined,
): void {
  span.allocation.order(stream, DEVICE_ACCESS[direction]);
  if (direction === "download") queueOf(stream).throwFailure();
  owned?.allocation.order(stream, ARRAY_ACCESS[direction]);
  if (owned !== undefined || host.convert === undefined) return;
  for (const { allocation } of ownedParts(host.memory)) {
    allocation.order(stream, ARRAY_ACCESS[direction]);
  }
}

/** Returns whether a stream is idle, or will be within some 15 microseconds. */
function isSoonIdle(stream: CudaStream): boolean {
  for (let look = 0; look < MAX_IDLE_LOOKS; look++) if (queueOf(stream).isIdle) return true;
  return false;
}

/**
 * Returns whether the GPU copies the program's memory by itself: it reaches it, and nothing is
 * converted.
 */
function isCopied({ host }: HostTransfer, owned: OwnedHostSpan | undefined): boolean {
  return owned !== undefined && host.convert === undefined;
}

/** Returns whether the host reads memory that the GPU may still write: the program's, to convert it. */
export function isReadByHost(
  { direction, host }: Pick<HostTransfer, "direction" | "host">,
  owned: OwnedHostSpan | undefined,
): boolean {
  if (direction === "download" || host.convert === undefined) return false;
  return owned !== undefined || ownedParts(host.memory).length > 0;
}

/** Returns the uses that a transfer makes of memory that the GPU reaches, and of arrays. */
export function usesOf(
  { direction, span, host: { memory }, andThen }: Pick<
    HostTransfer,
    "direction" | "span" | "host" | "andThen"
  >,
  owned: OwnedHostSpan | undefined,
): { uses: MemoryUse[]; arrays: ArrayUse[] } {
  const own = usesOfArray({ memory, access: ARRAY_ACCESS[direction] }, owned);
  const deviceUse = { ...span, access: DEVICE_ACCESS[direction] };
  return { uses: [deviceUse, ...andThen?.uses ?? [], ...own.uses], arrays: own.arrays };
}

/** Gives a download that is not over in the call the memory for its new array, where lanes have made some. */
function placeNew(
  { host: { unmade }, span: { byteLength }, stream: { context } }: HostTransfer,
): void {
  if (unmade === undefined) return;
  if (byteLength >= MIN_KEPT_BYTES) keepFreedMemory();
  const arrays = engineFor(context)?.arrays;
  if (arrays?.expect(byteLength) !== true) return;
  const buffer = arrays.take(byteLength);
  if (buffer !== undefined) unmade.place(buffer);
}

function planOf(task: HostTransfer, owned: OwnedHostSpan | undefined): TransferPlan {
  const { direction, stream, span, host, onProgress, signal } = task;
  const isOwn = host.unmade !== undefined || host.convert !== undefined;
  placeNew(task);
  const { memory } = host;
  const requireThere = presenceOf(memory);
  let bytes = memory;
  return {
    ...usesOf(task, owned),
    stream,
    byteLength: span.byteLength,
    action: ACTIONS[direction],
    isPlaced: task.isPlaced,
    besides: task.besides,
    onProgress,
    signal,
    steps: () => [{
      isLate: isReadByHost(task, owned),
      begin: () => {
        requireThere();
        bytes = host.convert?.() ?? memory;
        noteTransfer(task);
        return { direction, span, bytes, isOwn, isPageLocked: isCopied(task, owned) };
      },
    }],
    complete: () => {
      requireThere();
      host.complete?.(bytes);
      task.andThen?.queue();
    },
  };
}

/** The properties of a transfer that decide its order and are counted. */
type TransferFacts = Pick<HostTransfer, "direction" | "span" | "stream" | "isUncounted">;

/** Counts a transfer, and records it in the timeline. */
export function noteTransfer({ direction, span, stream, isUncounted }: TransferFacts): void {
  if (isUncounted === true) return;
  const { allocation, byteLength } = span;
  const { context } = stream;
  context.copiedBytes += byteLength;
  if (!context.ledger.timeline.isOn) return;
  const ends = direction === "upload" ? { destination: allocation } : { source: allocation };
  context.ledger.noteCopy(byteLength, { ...ends, streamHandle: stream.key });
}
