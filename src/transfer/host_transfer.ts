// Moves ordinary host memory to the device and back, in the order of a stream and of the program.
// Small transfers on idle streams are one driver call, and over when it returns.

import { checkApart, type MemorySpan } from "../copies/copy.ts";
import type { CopyLanes } from "../lanes/copy_lanes.ts";
import { keepFreedMemory } from "../lanes/array_maker.ts";
import {
  isUntouched,
  makePagesSync,
  type PageHelp,
  threadsAway,
  threadsBack,
} from "../lanes/fresh_pages.ts";
import { requireUnrecorded } from "../memory/captured_memory.ts";
import { type OwnedHostSpan, ownedParts, ownedSpan } from "../memory/host_bytes.ts";
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
import { TurnEnd } from "../order/turn_end.ts";
import { nextTurn } from "../order/waiting.ts";
import { reportProgress } from "../words/progress.ts";
import { ArrayMover, queueByDriver } from "./array_mover.ts";
import { arraysBefore, type ArrayUse, noArrayIsPending, usesOfArray } from "./array_uses.ts";
import {
  arrayMaker,
  awakeLanes,
  engineLimits,
  isDriverCall,
  noteDemand,
} from "./context_engine.ts";
import { LateMover } from "./late_mover.ts";
import {
  finishMover,
  PendingTransfer,
  type TransferOptions,
  type TransferPlan,
} from "./pending_transfer.ts";
import { movedAway, presenceOf } from "./ring_transfer.ts";
import { findHelpers, type Helpers, moveShared } from "./shared_transfer.ts";
import { StagingMemory } from "./staging_memory.ts";
import { isShared, SHARED_BYTES, type SharedKind } from "./ways.ts";

/** Cost of a call by itself, as bytes that would move meanwhile. */
const CALL_BYTES = 64 * 2 ** 10;

/** Brief transfers that may follow each other before the event loop has a turn: some 4 ms. */
const TURN_BYTES = 64 * 2 ** 20;

/** Looks at a stream that is busy before a transfer waits for it between turns of the event loop. */
const LOOKS = 32;

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
  readonly direction: "upload" | "download";
  /** The stream whose earlier work comes first. */
  readonly stream: CudaStream;
  /** The device's side. */
  readonly span: MemorySpan;
  /** The host's side. */
  readonly host: HostSide;
  /** Whether counters and the timeline leave the transfer out. */
  readonly isUncounted?: boolean;
  /** Whether the memory is new and known only to the caller, so that it needs no order. */
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
  const owned = ownedApartFrom(given);
  const task = owned === undefined ? beside(given) : given;
  const comesFirst = task === given && owned?.allocation.isLeaving !== true &&
    (task.isPlaced === true ||
      noArrayIsPending() && comesAfterNothing(stream, allocation, owned?.allocation));
  const isAtOnce = (isSmall(task) || isAlone() && (isLanding(task) || isQuick(task, owned))) &&
    comesFirst && task.andThen === undefined && becomesIdle(task, owned);
  if (!isAtOnce) return new PendingTransfer(planOf(task, owned)).promise;
  const awayCount = threadsAway();
  move(task, owned, { hasHelp: true });
  const turn = turnWhenDue(byteLength);
  return threadsAway() > awayCount ? threadsBack()?.then(() => turn) : turn;
}

/** Moves the bytes as {@link transfer} does, and blocks until they have arrived. */
export function transferSync(given: HostTransfer): void {
  const { direction, stream, span: { byteLength, allocation } } = given;
  if (byteLength === 0) return;
  requireUnrecorded(allocation, stream, ACTIONS[direction]);
  const owned = ownedApartFrom(given);
  const task = owned === undefined ? beside(given) : given;
  if (owned?.allocation.isLeaving !== true) return moveInOrder(task, owned);
  using _kept = owned.allocation.hold();
  moveInOrder(task, owned);
}

/** Finishes earlier work, moves the bytes, and blocks until they have arrived. */
function moveInOrder(task: HostTransfer, owned: OwnedHostSpan | undefined): void {
  finishEarlier(task, owned);
  order(task, owned);
  if (isReadByHost(task, owned)) queueOf(task.stream).synchronizeSync();
  move(task, owned);
}

/** Has the bytes beside an array moved where a part of it is registered: the driver takes none such. */
function beside(task: HostTransfer): HostTransfer {
  const { host, direction } = task;
  if (host.unmade !== undefined || ownedParts(host.memory).length === 0) return task;
  return { ...task, host: besideArray(host, direction) };
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
function move(
  task: HostTransfer,
  owned: OwnedHostSpan | undefined,
  help: PageHelp = {},
): void {
  const { stream, host, span: { byteLength } } = task;
  const isNew = host.unmade !== undefined;
  const lanes = isNew ? lanesFor(task, "download") : undefined;
  if (isNew && hasMovedNew(task, lanes)) return;
  const bytes = host.convert?.() ?? host.memory;
  const isFresh = task.direction === "download" && owned === undefined && isUntouched(bytes);
  const kind = isFresh ? "fresh" : task.direction;
  const helpers = owned === undefined
    ? helpersFor(task, kind, isNew ? lanes : lanesFor(task, kind))
    : undefined;
  if (helpers !== undefined || isDriverCall(stream.context, byteLength)) {
    const isFilled = task.direction === "download" && owned === undefined && !isNew;
    if (isFresh && helpers === undefined) makePagesSync(bytes, help);
    moveBriefly(task, bytes, { isFilled, helpers });
    host.complete?.(bytes);
    return reportProgress(task.onProgress, byteLength, byteLength);
  }
  if (!queueOf(stream).isKnownIdle) queueOf(stream).synchronizeSync();
  noteTransfer(task);
  finishMover(new ArrayMover({ ...task, bytes, isPageLocked: isCopied(task, owned) }));
  host.complete?.(bytes);
}

/** Moves the bytes by one driver call or together with lanes, and blocks until they have arrived. */
function moveBriefly(
  task: HostTransfer,
  bytes: HostBytes,
  { isFilled, helpers }: {
    /** Whether the bytes go into an array of the program's, of ordinary memory. */
    readonly isFilled: boolean;
    readonly helpers: Helpers | undefined;
  },
): void {
  const { stream, span: { byteLength } } = task;
  if (bytes.byteLength !== byteLength) throw movedAway([bytes]);
  noteDemand(stream.context, byteLength, { canLend: false });
  if (helpers !== undefined) return share(task, () => bytes, helpers);
  const isStaged = isFilled && byteLength < SHARED_BYTES.download.smallest;
  const staged = isStaged ? StagingMemory.of(stream.context).land(byteLength) : undefined;
  moveByDriver(task, staged ?? bytes);
  if (staged !== undefined) bytes.set(staged);
}

/** Moves bytes together with lanes. */
function share(task: HostTransfer, bytes: () => HostBytes, helpers: Helpers): void {
  const { direction, stream, span: { address: device, byteLength } } = task;
  noteTransfer(task);
  moveShared({ direction, stream: queueOf(stream), device, byteLength, bytes, ...helpers });
}

/** Moves bytes by one driver call, and does the accounting while they are on their way. */
function moveByDriver(task: HostTransfer, bytes: HostBytes): void {
  const { direction, stream, span: { address: device } } = task;
  queueByDriver(queueOf(stream), { direction, device, bytes });
  noteTransfer(task);
  queueOf(stream).synchronizeSync();
}

/**
 * Returns the lanes for a transfer of middle size, where they are awake. It is asked once for each: two
 * questions that follow each other wake them.
 */
function lanesFor(
  { span: { byteLength }, stream: { context } }: HostTransfer,
  kind: SharedKind,
): CopyLanes | undefined {
  return isShared(byteLength, kind) ? awakeLanes(context) : undefined;
}

/** Returns the lanes that copy a transfer of middle size together with this thread; undefined for others. */
function helpersFor(
  { direction, span: { byteLength }, stream: { context } }: HostTransfer,
  kind: SharedKind,
  lanes: CopyLanes | undefined,
): Helpers | undefined {
  if (lanes === undefined || !isShared(byteLength, kind)) return undefined;
  return findHelpers(context, { lanes, direction, byteLength });
}

/** Returns whether the bytes land in page-locked memory before a new array is made of them. */
function isLanding({ host, span, stream: { context } }: HostTransfer): boolean {
  return host.unmade !== undefined && StagingMemory.of(context).isOpenFor(span.byteLength);
}

/**
 * Downloads into a new array by way of page-locked memory, and blocks; returns false for what goes another
 * way. Lanes copy into an array that is made while the copy engine works; without them the array is made
 * as a copy.
 */
function hasMovedNew(
  task: HostTransfer,
  lanes: CopyLanes | undefined,
): boolean {
  const { stream: { context }, span: { byteLength }, host, onProgress } = task;
  const arrays = lanes && arrayMaker(context);
  const maker = arrays?.expect(byteLength) === true ? arrays : undefined;
  keepFreedMemory(byteLength);
  const helpers = helpersFor(task, maker === undefined ? "cleared" : "made", lanes);
  if (helpers !== undefined) {
    noteDemand(context, byteLength, { canLend: false });
    share(task, () => newBytes(host, maker?.take(byteLength)), helpers);
  } else {
    const bytes = StagingMemory.of(context).land(byteLength);
    if (bytes === undefined) return false;
    noteDemand(context, byteLength, { canLend: false });
    moveByDriver(task, bytes);
    host.unmade?.land(bytes);
  }
  reportProgress(onProgress, byteLength, byteLength);
  return true;
}

/** Returns the bytes of a new array, which is made of `buffer` if there is one. */
function newBytes(host: HostSide, buffer: ArrayBuffer | undefined): HostBytes {
  if (buffer !== undefined) host.unmade?.place(buffer);
  return host.memory;
}

/**
 * Returns the memory under the array that the GPU reaches; undefined for ordinary memory.
 *
 * @throws RangeError when the bytes would be copied onto a part of themselves.
 */
function ownedApartFrom({ direction, span, host }: HostTransfer): OwnedHostSpan | undefined {
  if (host.unmade !== undefined) return undefined;
  const owned = ownedSpan(host.memory);
  if (owned === undefined || host.convert !== undefined) return owned;
  if (direction === "upload") checkApart(span, owned);
  else checkApart(owned, span);
  return owned;
}

/** Returns whether one driver call moves it in a quarter of a millisecond. */
function isSmall({ stream: { context }, span: { byteLength } }: HostTransfer): boolean {
  return byteLength < engineLimits(context).briefBytes;
}

/**
 * Returns whether lanes or the driver move it in a millisecond or two, which is faster in the call than
 * between turns.
 */
function isQuick(
  { span: { byteLength }, stream: { context }, onProgress, signal }: HostTransfer,
  owned: OwnedHostSpan | undefined,
): boolean {
  return byteLength <= engineLimits(context).atOnceBytes && owned === undefined &&
    onProgress === undefined && signal === undefined;
}

/** Number of transfers of some size that were called in this turn, and in the one before. */
let calledCount = 0;
let calledBefore = 1;
const turnEnd = new TurnEnd(() => [calledBefore, calledCount] = [calledCount, 0]);

/**
 * Returns whether the program probably awaits this transfer before it calls another, as it did the
 * last time. Transfers called in one turn run side by side.
 */
function isAlone(): boolean {
  if (turnEnd.ask(performance.now())) calledCount = 0;
  return ++calledCount === 1 && calledBefore === 1;
}

/** Blocks until all earlier calls that use the same bytes are over. */
function finishEarlier(task: HostTransfer, owned: OwnedHostSpan | undefined): void {
  const { stream, span, direction, host } = task;
  if (
    comesAfterNothing(stream, span.allocation, owned?.allocation) && noArrayIsPending() &&
    host.convert === undefined
  ) return;
  const { uses, arrays } = usesOf(task, owned);
  finishNow([...pendingBefore(stream, uses), ...arraysBefore(arrays)], `${direction} now`);
}

/**
 * Blocks until earlier calls, and the GPU, have written what they write into an array that is read now.
 * What a graph is to record reads it as it is.
 */
export function finishWritesInto(memory: HostBytes, stream: CudaStream, action: Action): void {
  if (activeCapture() !== undefined) return;
  const { uses, arrays } = usesOfArray({ memory, access: "read" }, ownedSpan(memory));
  if (uses.length === 0 && noArrayIsPending()) return;
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
  span.allocation.order(stream, accessOf(direction));
  if (direction === "download") queueOf(stream).throwFailure();
  owned?.allocation.order(stream, arrayAccessOf(direction));
  if (owned !== undefined || host.convert === undefined) return;
  for (const { allocation } of ownedParts(host.memory)) {
    allocation.order(stream, arrayAccessOf(direction));
  }
}

/** Orders the stream, and returns whether it is idle then, or within some 15 microseconds. */
function becomesIdle(task: HostTransfer, owned: OwnedHostSpan | undefined): boolean {
  const { stream } = task;
  order(task, owned);
  if (queueOf(stream).isKnownIdle) return true;
  for (let look = 0; look < LOOKS; look++) if (queueOf(stream).isIdle) return true;
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
  const own = usesOfArray({ memory, access: arrayAccessOf(direction) }, owned);
  const deviceUse = { ...span, access: accessOf(direction) };
  return { uses: [deviceUse, ...andThen?.uses ?? [], ...own.uses], arrays: own.arrays };
}

let unbrokenBytes = 0;

/**
 * Gives the event loop a turn after some milliseconds, because awaiting finished transfers gives it
 * none.
 */
function turnWhenDue(byteLength: number): Promise<void> | undefined {
  unbrokenBytes += byteLength + CALL_BYTES;
  if (unbrokenBytes < TURN_BYTES) return undefined;
  unbrokenBytes = 0;
  return nextTurn();
}

function planOf(task: HostTransfer, owned: OwnedHostSpan | undefined): TransferPlan {
  const { direction, stream, span, host, onProgress, signal } = task;
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
    start: (entry) => {
      const start = () => {
        requireThere();
        bytes = host.convert?.() ?? memory;
        noteTransfer(task);
        return new ArrayMover({ ...task, bytes, isPageLocked: isCopied(task, owned) }, entry);
      };
      const isLate = entry !== undefined && isReadByHost(task, owned);
      return isLate ? new LateMover(entry, start) : start();
    },
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
  const ends = direction === "upload"
    ? { destination: allocation, streamHandle: stream.key }
    : { source: allocation, streamHandle: stream.key };
  stream.context.noteCopy(byteLength, ends);
}

function accessOf(direction: HostTransfer["direction"]): "read" | "write" {
  return direction === "upload" ? "write" : "read";
}

function arrayAccessOf(direction: HostTransfer["direction"]): "read" | "write" {
  return direction === "upload" ? "read" : "write";
}
