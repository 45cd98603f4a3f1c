// Moves the bytes of one transfer: a list of steps, one after another. A step is a copy of memory that the
// GPU reaches, or an array that goes through the ring or by calls of the driver, or what always goes
// through the ring: files, rows, and many small arrays packed together.

import type { MemorySpan } from "../copies/copy.ts";
import type { CopyStream } from "../copies/copy_many.ts";
import { type TransferStream, TransferStreams } from "../copies/transfer_streams.ts";
import type { Context } from "../driver/context.ts";
import { isUntouched, makePages } from "../lanes/fresh_pages.ts";
import type { HostBytes } from "../memory/host_memory.ts";
import { Fence } from "../order/fence.ts";
import { engineFor, engineLimits, engineOf, noteDemand } from "./context_engine.ts";
import type { TransferEngine } from "./engine.ts";
import { type Direction, inMemory, oneRow } from "./pieces.ts";
import {
  bytesOfSections,
  movedAway,
  type RingRequest,
  type RingTransfer,
} from "./ring_transfer.ts";

/** Tells a step whether its caller leaves turns to the event loop, in which lent threads report. */
export interface Lending {
  readonly canLend: boolean;
}

/** An array, and the device memory on its other side. */
export interface ArrayMove {
  readonly direction: Direction;
  /** The device's side. */
  readonly span: MemorySpan;
  /** The host's side, of the same size. */
  readonly bytes: HostBytes;
  /** The GPU reaches the host's memory, so that it copies by itself. */
  readonly isPageLocked?: boolean | undefined;
  /** The program cannot reach the array yet, because the call makes it. */
  readonly isOwn?: boolean | undefined;
}

/** One step of a transfer. */
export interface MoveStep {
  /** The host reads or writes memory here that the GPU may still use: it waits for the GPU first. */
  readonly isLate?: boolean;
  /** Returns what is to move, when all steps before are done. */
  begin(): ArrayMove | RingRequest;
  /** Finishes the step once its bytes are there. */
  complete?(): void;
}

/** Moves all remaining bytes, blocking; throws the transfer's error. */
export function finishMover(mover: Mover): void {
  try {
    while (!mover.isOver) mover.step({ canLend: false });
  } finally {
    mover.beforeProgram(); // others may be under way
  }
  mover.end();
}

/** The move of one transfer, a little at each step. The first failure ends all of it. */
export class Mover {
  readonly #context: Context;
  readonly #steps: Iterator<MoveStep>;
  readonly #entry: Fence | undefined;
  /** The step that is under way. */
  #step: MoveStep | undefined;
  /** The array that it moves by calls. */
  #array: ArrayMove | undefined;
  /** The transfer through the ring that it makes. */
  #ring: RingTransfer | undefined;
  /** The copy of page-locked memory. */
  #copy: { readonly stream: TransferStream; readonly fence: Fence } | undefined;
  /** Bytes of steps that are done, and of this one that calls have moved. */
  #doneBytes = 0;
  #movedBytes = 0;
  #failure: { readonly error: unknown } | undefined;

  /** Starts with nothing moved; the first byte moves when the GPU has passed `entry`. */
  constructor(context: Context, steps: Iterable<MoveStep>, entry?: Fence) {
    this.#context = context;
    this.#steps = steps[Symbol.iterator]();
    this.#entry = entry;
    this.#next();
  }

  /** Bytes that have arrived. */
  get doneBytes(): number {
    return this.#doneBytes + this.#movedBytes + (this.#ring?.doneBytes ?? 0);
  }

  /** Tells whether all was moved and nothing is in flight. */
  get isOver(): boolean {
    return this.#step === undefined;
  }

  /** The GPU's work to wait for: driver calls would block until it is done. */
  get waitsFor(): Fence | undefined {
    if (this.#copy !== undefined) return this.#copy.fence;
    if (this.#ring !== undefined || this.isOver) return undefined;
    return this.#entry?.isPassed === false ? this.#entry : undefined;
  }

  /** Tells whether it waits for the GPU, the ring or lent threads, and so for a turn of the event loop. */
  get needsTurn(): boolean {
    if (this.#ring === undefined) return this.waitsFor !== undefined;
    return this.#engine.lentCount > 0 || !this.#engine.isRunning(this.#ring);
  }

  /** Joins the transfers of the ring, when that is the way, so that those of one turn start together. */
  join(how: Lending): void {
    const isLate = this.#step?.isLate === true && this.#entry?.isPassed === false;
    if (!isLate) this.#begin(how);
  }

  /** Moves a part; returns false when nothing can move right now. */
  step(how: Lending): boolean {
    if (this.isOver) return false;
    try {
      return this.#move(how);
    } catch (error) {
      this.fail(error);
      return true;
    }
  }

  /** Keeps arrays, or lets the threads that use them come to rest. */
  beforeProgram(): void {
    engineFor(this.#context)?.beforeProgram();
  }

  /** Ends the move early; further steps complete what is in flight. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    if (this.#ring !== undefined) this.#engine.fail(this.#ring, error);
    else if (this.#copy === undefined) this.#stop();
  }

  /** Throws the error of a failed move. */
  end(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  get #engine(): TransferEngine {
    return engineOf(this.#context);
  }

  #move(how: Lending): boolean {
    if (this.#step?.isLate === true && this.#entry?.isSurelyPassed === false) return false;
    this.#begin(how);
    if (this.#ring !== undefined) return this.#advanceRing(this.#ring, how);
    const array = this.#array;
    if (array === undefined) return true;
    if (array.isPageLocked === true) return this.#copyInPlace(array);
    if (this.#entry?.isSurelyPassed === false) return false;
    this.#moveByDriver(array);
    if (this.#movedBytes === array.span.byteLength) this.#complete();
    return true;
  }

  /** Hands what the step moves to the ring, when that is the way for it. */
  #begin(how: Lending): void {
    if (this.#array === undefined && this.#ring === undefined) this.#prepare();
    if (this.#ring !== undefined || this.#array === undefined) return;
    if (this.#array.isPageLocked !== true) this.#ring = this.#startRing(this.#array, how);
  }

  /** Finds out what the step moves. */
  #prepare(): void {
    const move = this.#step?.begin();
    if (move === undefined) return;
    if ("sections" in move) {
      noteDemand(this.#context, bytesOfSections(move.sections), move);
      this.#ring = this.#engine.start(move, this.#entry);
      return;
    }
    this.#array = move;
    const { span: { byteLength }, isPageLocked } = move;
    if (isPageLocked === true || byteLength < engineLimits(this.#context).minRingBytes) return;
    noteDemand(this.#context, byteLength, { canLend: isSafeToLend(move) });
  }

  /** Hands the rest of an array to the ring, when that is the way for it. */
  #startRing(array: ArrayMove, { canLend }: Lending): RingTransfer | undefined {
    const { direction, span, bytes } = array;
    const offset = this.#movedBytes;
    const byteLength = span.byteLength - offset;
    const isSafe = isSafeToLend(array);
    const engine = engineFor(this.#context);
    if (engine?.hasRingFor(byteLength, { canLend: canLend && isSafe }) !== true) return undefined;
    this.#requireThere(array);
    const section = {
      span: { ...span, address: span.address + BigInt(offset), byteLength },
      host: inMemory(bytes.subarray(offset)),
      rows: oneRow(byteLength),
    };
    return engine.start({ direction, sections: [section], canLend: isSafe }, this.#entry);
  }

  #advanceRing(ring: RingTransfer, how: Lending): boolean {
    const engine = this.#engine;
    // While it waits for others, these drive the engine.
    const moved = how.canLend && !engine.isRunning(ring) && !ring.isOver
      ? false
      : engine.advance(how);
    if (!ring.isOver || engine.isRunning(ring)) return moved;
    try {
      ring.check();
    } catch (error) {
      this.#failure ??= { error };
    }
    this.#complete();
    return true;
  }

  /** Queues one copy behind the GPU's earlier work, and looks whether it is done. */
  #copyInPlace({ direction, span, bytes }: ArrayMove): boolean {
    const streams = TransferStreams.of(this.#context);
    const stream = this.#copy?.stream ?? streams.take();
    try {
      if (this.#copy === undefined) {
        this.#entry?.hold(stream.handle);
        queueByDriver(stream, { direction, device: span.address, bytes });
        this.#copy = { stream, fence: Fence.behind(stream.context, stream.handle) };
        return true;
      }
      if (!this.#copy.fence.poll()) return false;
    } catch (error) {
      this.#forgetCopy();
      streams.putAfterFailure(stream);
      throw error;
    }
    this.#forgetCopy();
    streams.put(stream);
    this.#movedBytes = span.byteLength;
    this.#complete();
    return true;
  }

  #forgetCopy(): void {
    this.#copy?.fence.dispose();
    this.#copy = undefined;
  }

  /** Moves a part in one driver call, which stages it, and waits for it. */
  #moveByDriver(array: ArrayMove): void {
    const { direction, span, bytes } = array;
    this.#requireThere(array);
    const { maxCallBytes, maxFreshCallBytes } = engineLimits(this.#context);
    const offset = this.#movedBytes;
    let part = bytes.subarray(offset, offset + maxCallBytes);
    if (direction === "download" && isUntouched(part)) {
      part = part.subarray(0, maxFreshCallBytes);
      makePages(part);
    }
    const device = span.address + BigInt(offset);
    const streams = TransferStreams.of(this.#context);
    const stream = streams.take();
    try {
      queueByDriver(stream, { direction, device, bytes: part });
      stream.synchronizeSync();
    } catch (error) {
      streams.putAfterFailure(stream);
      throw error;
    }
    streams.put(stream);
    this.#movedBytes += part.byteLength;
  }

  #requireThere({ bytes, span }: ArrayMove): void {
    if (bytes.byteLength !== span.byteLength) throw movedAway([bytes]);
  }

  /** Ends a step, of which nothing is in flight, and goes on with the next one. */
  #complete(): void {
    try {
      if (this.#failure === undefined) {
        if (this.#array !== undefined) this.#requireThere(this.#array);
        this.#step?.complete?.();
      }
    } catch (error) {
      this.#failure ??= { error };
    }
    this.#stop();
    if (this.#failure === undefined) this.#next();
  }

  #next(): void {
    const { value, done } = this.#steps.next();
    if (done === true) return;
    this.#step = value;
    if (value.isLate !== true || this.#entry?.isPassed !== false) this.#prepare();
  }

  /** Ends the step, and all of the move unless another one follows. */
  #stop(): void {
    this.#doneBytes = this.doneBytes;
    this.#step = this.#array = this.#ring = undefined;
    this.#movedBytes = 0;
  }
}

/** Returns whether a thread that may begin late can move an array: it never writes what the program can reach. */
function isSafeToLend({ direction, isOwn }: ArrayMove): boolean {
  return direction === "upload" || isOwn === true;
}

/** Queues one driver call, which stages pageable memory itself. */
export function queueByDriver(
  { context, handle }: CopyStream,
  { direction, device, bytes }: {
    readonly direction: Direction;
    readonly device: bigint;
    readonly bytes: HostBytes;
  },
): void {
  const size = BigInt(bytes.byteLength);
  const { api } = context.driver;
  const host = bytes as BufferSource;
  if (direction === "upload") {
    const status = api.cuMemcpyHtoDAsync_v2(device, host, size, handle);
    context.settle(status, "cuMemcpyHtoDAsync_v2", device, host, size, handle);
  } else {
    const status = api.cuMemcpyDtoHAsync_v2(host, device, size, handle);
    context.settle(status, "cuMemcpyDtoHAsync_v2", host, device, size, handle);
  }
}
