// Moves one array to the device or back: small and page-locked ones by one driver call, large ones
// through the ring when threads are available, else by calls that move a part each.

import type { MemorySpan } from "../copies/copy.ts";
import type { CopyStream } from "../copies/copy_many.ts";
import { type TransferStream, TransferStreams } from "../copies/transfer_streams.ts";
import type { Lending } from "../lanes/copy_lanes.ts";
import { askForHugePages, isUntouched, makePages, makePagesSync } from "../lanes/fresh_pages.ts";
import { addressOf, type HostBytes } from "../memory/host_memory.ts";
import { Fence } from "../order/fence.ts";
import { CAN_BE_TERMINATED } from "../order/waiting.ts";
import { engineAtRest, engineLimits, engineOf, isEarly, noteDemand } from "./context_engine.ts";
import type { TransferEngine } from "./engine.ts";
import type { Mover } from "./pending_transfer.ts";
import { movedAway, type RingRequest, type RingTransfer } from "./ring_transfer.ts";
import { cutRun } from "./run_pieces.ts";
import type { EngineLimits } from "./tuning.ts";

/** An array, and the device memory on its other side. */
export interface ArrayMove {
  /** Direction of the transfer. */
  readonly direction: "upload" | "download";
  /** The device's side. */
  readonly span: MemorySpan;
  /** The host's side, of the same size. */
  readonly bytes: HostBytes;
  /** Whether the GPU reaches the host's memory, so that it copies by itself. */
  readonly isPageLocked?: boolean | undefined;
}

/** The move of one array. */
export class ArrayMover implements Mover {
  readonly #move: ArrayMove;
  readonly #entry: Fence | undefined;
  /** Bytes that driver calls have moved. */
  #movedBytes = 0;
  /** Whether it is among a program's first ones; undefined before it has begun. */
  #isEarly: boolean | undefined;
  /** Moves the rest. */
  #ring: RingTransfer | undefined;
  /** The copy of page-locked memory. */
  #copy: { readonly stream: TransferStream; readonly fence: Fence } | undefined;
  #failure: { readonly error: unknown } | undefined;
  /** Whether the pages of fresh memory were seen to. */
  #hasPages = false;
  /** Whether other threads are making them. */
  #isMakingPages = false;
  /** Resolves when these threads are back. */
  #pages: Promise<void> | undefined;

  /** Starts with nothing moved; the first byte moves when the GPU has passed `entry`. */
  constructor(move: ArrayMove, entry?: Fence) {
    this.#move = move;
    this.#entry = entry;
  }

  /** Bytes that have arrived. */
  get doneBytes(): number {
    return this.#movedBytes + (this.#ring?.doneBytes ?? 0);
  }

  /** Whether all pieces were moved and none is in flight. */
  get isOver(): boolean {
    if (this.#ring !== undefined) return this.#ring.isOver && !this.#engine.isRunning(this.#ring);
    if (this.#copy !== undefined) return false;
    return this.#failure !== undefined || this.#movedBytes === this.#move.span.byteLength;
  }

  /** The GPU's work to wait for: driver calls would block until it is done. */
  get waitsFor(): Fence | undefined {
    if (this.#copy !== undefined) return this.#copy.fence;
    return this.#ring === undefined && this.#entry?.isPassed === false ? this.#entry : undefined;
  }

  /** Whether only a turn of the event loop brings it on: it waits for the GPU, the ring or lent threads. */
  get needsTurn(): boolean {
    if (this.#ring !== undefined) {
      return this.#engine.lentCount > 0 || !this.#engine.isRunning(this.#ring);
    }
    return this.#isMakingPages || this.waitsFor !== undefined;
  }

  /** Joins the transfers of the ring, when that is the way for it. */
  join(how: Lending): void {
    if (!this.isOver && this.#move.isPageLocked !== true) this.#ring ??= this.#startRing(how);
  }

  /** Moves a part. */
  step(how: Lending): boolean {
    if (this.isOver) return false;
    if (this.#move.isPageLocked === true) return this.#copyInPlace();
    this.join(how);
    if (this.#ring !== undefined) {
      if (how.canLend && !this.#engine.isRunning(this.#ring)) return false; // others drive the engine
      return this.#engine.advance(how);
    }
    if (this.#entry?.isSurelyPassed === false) return false;
    if (how.canLend && this.#isMakingPages) return false;
    this.#moveByDriver();
    return true;
  }

  /** Keeps the array, or lets the threads that use it come to rest. */
  beforeProgram(): void {
    if (this.#ring !== undefined) this.#engine.beforeProgram();
  }

  /** Ends the move early, after a copy of page-locked memory is over. */
  fail(error: unknown): void {
    if (this.#ring !== undefined) this.#engine.fail(this.#ring, error);
    else this.#failure ??= { error };
  }

  /** Throws the error of a failed move. */
  end(): void {
    this.#ring?.check();
    if (this.#failure !== undefined) throw this.#failure.error;
    const { bytes, span } = this.#move;
    if (bytes.byteLength !== span.byteLength) throw movedAway([bytes]);
  }

  /** Resolves when the threads that it used are back, and those of arrays before it in a sequence. */
  async atRest(): Promise<void> {
    await this.#pages;
    await engineAtRest(this.#move.span.allocation.context);
  }

  /**
   * Has the pages of fresh memory made before the driver fills it: by several threads when the event
   * loop has turns meanwhile, else by this one.
   */
  #makePages({ canLend }: Lending): void {
    const { bytes } = this.#move;
    if (this.#hasPages || !this.#looksFresh()) return;
    this.#hasPages = true;
    if (!canLend || CAN_BE_TERMINATED) return makePagesSync(bytes);
    this.#isMakingPages = true;
    this.#pages = makePages(bytes).then(() => void (this.#isMakingPages = false));
  }

  /** Queues one copy behind the GPU's earlier work, and looks whether it is done. */
  #copyInPlace(): boolean {
    const { direction, span, bytes } = this.#move;
    const streams = TransferStreams.of(span.allocation.context);
    if (this.#copy === undefined) {
      const stream = streams.take();
      try {
        this.#entry?.hold(stream.handle);
        queueByDriver(stream, { direction, device: span.address, bytes });
        this.#copy = { stream, fence: Fence.behind(stream.context, stream.handle) };
      } catch (error) {
        streams.putAfterFailure(stream);
        throw error;
      }
      return true;
    }
    const { stream, fence } = this.#copy;
    try {
      if (!fence.poll()) return false;
    } catch (error) {
      this.#copy = undefined;
      fence.dispose();
      streams.putAfterFailure(stream);
      throw error;
    }
    this.#copy = undefined;
    fence.dispose();
    streams.put(stream);
    this.#movedBytes = span.byteLength;
    return true;
  }

  /** Hands the rest to the ring, when that is the way for it. */
  #startRing(how: Lending): RingTransfer | undefined {
    const { span: { byteLength, allocation: { context } } } = this.#move;
    const rest = byteLength - this.#movedBytes;
    if (rest < this.#limits.briefBytes) return undefined;
    if (this.#isEarly === undefined) {
      this.#isEarly = isEarly(context, rest);
      noteDemand(context, rest, how);
    }
    if (this.#isEarly || this.#engine.wayFor(rest, how) !== "ring") {
      this.#makePages(how);
      return undefined;
    }
    return this.#engine.start(this.#request());
  }

  get #engine(): TransferEngine {
    return engineOf(this.#move.span.allocation.context);
  }

  get #limits(): EngineLimits {
    return engineLimits(this.#move.span.allocation.context);
  }

  /** Asks the system whether a download fills memory that nothing has touched. */
  #looksFresh(): boolean {
    const { direction, bytes, span } = this.#move;
    if (direction === "upload" || bytes.byteLength !== span.byteLength) return false;
    return isUntouched(bytes.subarray(this.#movedBytes));
  }

  #request(): RingRequest {
    const { direction, span, bytes } = this.#move;
    const isFresh = this.#looksFresh();
    if (bytes.byteLength !== span.byteLength) throw movedAway([bytes]);
    const offset = this.#movedBytes;
    const byteLength = span.byteLength - offset;
    const rest = bytes.subarray(offset);
    const host = { address: addressOf(rest), bytes: rest };
    const deviceAddress = span.address + BigInt(offset);
    if (isFresh) askForHugePages(rest);
    const entry = this.#entry;
    return {
      direction,
      byteLength,
      arrays: [bytes],
      follow: entry && ((stream) => entry.hold(stream.handle)),
      cut: cutRun({ direction, deviceAddress, host, byteLength, isFresh }),
      isFresh,
    };
  }

  /** Moves a part in one driver call, which stages it, and waits for it. */
  #moveByDriver(): void {
    const { direction, span, bytes } = this.#move;
    const offset = this.#movedBytes;
    const byteLength = Math.min(span.byteLength - offset, this.#limits.driverPieceBytes);
    if (bytes.byteLength !== span.byteLength) throw movedAway([bytes]);
    const device = span.address + BigInt(offset);
    const streams = TransferStreams.of(span.allocation.context);
    const stream = streams.take();
    try {
      queueByDriver(stream, {
        direction,
        device,
        bytes: bytes.subarray(offset, offset + byteLength),
      });
      stream.synchronizeSync();
    } catch (error) {
      streams.putAfterFailure(stream);
      throw error;
    }
    streams.put(stream);
    this.#movedBytes += byteLength;
  }
}

/** Queues one driver call, which stages pageable memory itself. */
export function queueByDriver(
  { context, handle }: CopyStream,
  { direction, device, bytes }: {
    readonly direction: "upload" | "download";
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
