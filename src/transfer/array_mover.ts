// Moves one array to the device or back: small and page-locked ones by one driver call, large ones
// through the ring when threads are available, else by calls that move a part each.

import { findHost, MADV } from "../../ffi/host.ts";
import { Fence } from "../order/fence.ts";
import { cutBlock } from "./block_pieces.ts";
import type { MemorySpan } from "./copy.ts";
import type { Lending } from "./copy_lanes.ts";
import type { CopyStream } from "./copy_many.ts";
import { TransferEngine } from "./engine.ts";
import { addressOf, type HostBytes } from "./host_memory.ts";
import type { Mover } from "./pending_transfer.ts";
import { movedAway, type RingRequest, type RingTransfer } from "./ring_transfer.ts";
import { type TransferStream, TransferStreams } from "./transfer_streams.ts";
import type { EngineLimits } from "./tuning.ts";

/** An array, and the device memory on its other side. */
export interface ArrayMove {
  /** Direction of the transfer. */
  readonly direction: "upload" | "download";
  /** The device's side. */
  readonly span: MemorySpan;
  /** The host's side, of the same size. */
  readonly bytes: HostBytes;
  /** Whether the host's memory is fresh: nothing has touched it yet, so its pages are not there. */
  readonly isFresh?: boolean | undefined;
  /** Whether the GPU reaches the host's memory, so that it copies by itself. */
  readonly isPageLocked?: boolean | undefined;
}

/** The move of one array. */
export class ArrayMover implements Mover {
  readonly #move: ArrayMove;
  readonly #entry: Fence | undefined;
  /** Bytes that driver calls have moved. */
  #movedBytes = 0;
  #isAnticipated = false;
  /** Moves the rest. */
  #ring: RingTransfer | undefined;
  /** The copy of page-locked memory. */
  #copy: { readonly stream: TransferStream; readonly fence: Fence } | undefined;
  #failure: { readonly error: unknown } | undefined;

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

  /** The GPU is waited for between turns, and so is the ring; threads that move an array need none. */
  get needsTurn(): boolean {
    if (this.#ring !== undefined) return !this.#engine.isRunning(this.#ring);
    return this.waitsFor !== undefined;
  }

  /** Moves a part. */
  step(how: Lending): boolean {
    if (this.isOver) return false;
    if (this.#move.isPageLocked === true) return this.#copyInPlace();
    this.#ring ??= this.#startRing(how);
    if (this.#ring !== undefined) {
      if (how.canLend && !this.#engine.isRunning(this.#ring)) return false; // others drive the engine
      return this.#engine.advance(how);
    }
    if (this.#entry?.isPassed === false) return false;
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
    if (this.#move.bytes.byteLength !== this.#move.span.byteLength) throw movedAway();
  }

  /** Resolves when the threads that it used are back, and those of arrays before it in a sequence. */
  atRest(): Promise<void> {
    return TransferEngine.atRest(this.#move.span.allocation.context);
  }

  /** Queues one copy behind the GPU's earlier work, and looks whether it is done. */
  #copyInPlace(): boolean {
    const { direction, span, bytes } = this.#move;
    const streams = TransferStreams.of(span.allocation.context);
    if (this.#copy === undefined) {
      const stream = streams.take();
      try {
        this.#entry?.hold(stream.queueHandle);
        queueByDriver(stream, { direction, device: span.address, bytes });
        this.#copy = { stream, fence: Fence.behind(stream.context, stream.queueHandle) };
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
    const { span: { byteLength } } = this.#move;
    const rest = byteLength - this.#movedBytes;
    if (rest < this.#limits.briefBytes) return undefined;
    if (!this.#isAnticipated) this.#engine.anticipate(rest, how);
    this.#isAnticipated = true;
    if (this.#engine.wayFor(rest, how) !== "ring") return undefined;
    return this.#engine.start(this.#request());
  }

  get #engine(): TransferEngine {
    return TransferEngine.of(this.#move.span.allocation.context);
  }

  get #limits(): EngineLimits {
    return TransferEngine.limitsOf(this.#move.span.allocation.context);
  }

  #request(): RingRequest {
    const { direction, span, bytes, isFresh = false } = this.#move;
    if (bytes.byteLength !== span.byteLength) throw movedAway();
    const offset = this.#movedBytes;
    const byteLength = span.byteLength - offset;
    const address = addressOf(bytes) + BigInt(offset);
    const deviceAddress = span.address + BigInt(offset);
    if (isFresh) askForHugePages(address, byteLength);
    const entry = this.#entry;
    return {
      direction,
      byteLength,
      arrays: [bytes],
      follow: entry && ((stream) => entry.hold(stream.queueHandle)),
      cut: cutBlock({ direction, deviceAddress, host: { address }, byteLength, isFresh }),
      isFresh,
    };
  }

  /** Moves a part in one driver call, which stages it, and waits for it. */
  #moveByDriver(): void {
    const { direction, span, bytes } = this.#move;
    const offset = this.#movedBytes;
    const byteLength = Math.min(span.byteLength - offset, this.#limits.driverPieceBytes);
    if (bytes.byteLength !== span.byteLength) throw movedAway();
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
  { context, queueHandle }: CopyStream,
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
    const status = api.cuMemcpyHtoDAsync_v2(device, host, size, queueHandle);
    context.settle(status, "cuMemcpyHtoDAsync_v2", device, host, size, queueHandle);
  } else {
    const status = api.cuMemcpyDtoHAsync_v2(host, device, size, queueHandle);
    context.settle(status, "cuMemcpyDtoHAsync_v2", host, device, size, queueHandle);
  }
}

const HUGE_PAGE_BYTES = 2n ** 21n;

/** Pages of 2 MiB more than double the speed of filling fresh memory (madvise). */
function askForHugePages(address: bigint, byteLength: number): void {
  const start = (address + HUGE_PAGE_BYTES - 1n) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
  const end = (address + BigInt(byteLength)) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
  if (end > start) findHost()?.madvise(start, end - start, MADV.HUGEPAGE);
}
