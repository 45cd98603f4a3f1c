// Moves large arrays and files at the speed of the bus: lanes fill or drain page-locked slots while
// the copy engine works on others. All driver calls stay on the JavaScript thread.

import type { Context } from "../context.ts";
import { nextTurn } from "../waiting.ts";
import { CopyLanes } from "./copy_lanes.ts";
import { type LoadedSlot, PinnedRing, type RingLimits, type Slot } from "./pinned_ring.ts";
import { type RingRequest, RingTransfer } from "./ring_transfer.ts";

/** How large an engine may be. */
export interface EngineLimits extends RingLimits {
  /** Most lanes; each is a thread. */
  readonly laneCount: number;
}

/** 32 slots of 4 MiB, and a lane for each core but one, up to 8: more lanes add nothing. */
export const DEFAULT_LIMITS: EngineLimits = {
  slotBytes: 4 * 2 ** 20,
  slotCount: 32,
  slabSlots: 8,
  laneCount: Math.max(1, Math.min(8, navigator.hardwareConcurrency - 1)),
};

/** How long a blocked thread sleeps at most before it looks at the copy engine again. */
const NAP_MILLISECONDS = 0.05;

const engines = new WeakMap<Context, TransferEngine>();

/** The ring and lanes of one context. */
export class TransferEngine {
  readonly #context: Context;
  readonly #ring: PinnedRing;
  readonly #lanes: CopyLanes;
  /** Slots that a lane works on. */
  readonly #withLane = new Set<LoadedSlot>();
  /** Slots that the copy engine works on, oldest first for each transfer. */
  readonly #withGpu = new Map<RingTransfer, LoadedSlot[]>();
  readonly #transfers = new Set<RingTransfer>();

  /** Starts with no memory and no lanes; both come with the first transfer. */
  constructor(context: Context, limits: EngineLimits = DEFAULT_LIMITS) {
    this.#context = context;
    this.#ring = new PinnedRing(context, limits);
    this.#lanes = new CopyLanes(limits);
  }

  /** The engine of a context; it ends with the context. */
  static of(context: Context): TransferEngine {
    const known = engines.get(context);
    if (known !== undefined) return known;
    const made = new TransferEngine(context);
    engines.set(context, made);
    context.atRelease(() => made.dispose());
    return made;
  }

  /** Moves the bytes; resolves when they are there. The event loop goes on meanwhile. */
  async run(request: RingRequest): Promise<void> {
    const transfer = this.#begin(request);
    while (!transfer.isOver) {
      const started = this.#lanes.start();
      if (!this.#pump() || started) await nextTurn();
    }
    this.#end(transfer);
  }

  /** Moves the bytes and blocks until they are there. */
  runSync(request: RingRequest): void {
    const transfer = this.#begin(request);
    while (this.#lanes.start());
    while (!transfer.isOver) {
      if (!this.#pump()) this.#lanes.waitSync(NAP_MILLISECONDS);
    }
    this.#end(transfer);
  }

  /** Ends the lanes and frees the ring. */
  dispose(): void {
    this.#lanes.dispose();
    this.#ring.trim();
  }

  #begin(request: RingRequest): RingTransfer {
    const transfer = new RingTransfer(request);
    this.#transfers.add(transfer);
    return transfer;
  }

  #end(transfer: RingTransfer): void {
    this.#transfers.delete(transfer);
    this.#withGpu.delete(transfer);
    transfer.check();
  }

  /** Moves every slot on that can move; false when nothing could. */
  #pump(): boolean {
    let moved = this.#lanes.help();
    for (const loaded of this.#withLane) moved = this.#afterLane(loaded) || moved;
    for (const queue of this.#withGpu.values()) moved = this.#afterGpu(queue) || moved;
    return this.#load() || moved;
  }

  /** Hands free slots to the transfers that wait, in turn. */
  #load(): boolean {
    let moved = false;
    for (let waiting = true; waiting;) {
      waiting = false;
      for (const transfer of this.#transfers) {
        if (!transfer.isWaiting) continue;
        const slot = this.#takeSlot(transfer);
        if (slot === undefined) return moved;
        const piece = transfer.next();
        if (piece === undefined) {
          this.#ring.put(slot);
          continue;
        }
        const loaded = { ...slot, transfer, piece };
        if (transfer.request.direction === "upload") this.#giveToLane(loaded);
        else this.#giveToGpu(loaded);
        waiting = true;
        moved = true;
      }
    }
    return moved;
  }

  #takeSlot(transfer: RingTransfer): Slot | undefined {
    try {
      return this.#ring.take();
    } catch (error) {
      transfer.fail(error);
      return undefined;
    }
  }

  #giveToLane(loaded: LoadedSlot): void {
    this.#lanes.submit(loaded.index, loaded.transfer.task(loaded.piece, loaded.address));
    this.#withLane.add(loaded);
  }

  /** Queues the copy between a slot and the device; the slot is free again when that fails. */
  #giveToGpu(loaded: LoadedSlot): void {
    const { transfer, piece, address } = loaded;
    const { stream, direction, deviceAddress } = transfer.request;
    const device = deviceAddress + BigInt(piece.offset);
    const [destination, source] = direction === "upload" ? [device, address] : [address, device];
    try {
      const { handle } = stream;
      const size = BigInt(piece.byteLength);
      this.#context.driver.call("cuMemcpyAsync", destination, source, size, handle);
      loaded.fence.set(handle);
    } catch (error) {
      this.#retire(loaded, { error });
      return;
    }
    const queue = this.#withGpu.get(transfer);
    if (queue === undefined) this.#withGpu.set(transfer, [loaded]);
    else queue.push(loaded);
  }

  #afterLane(loaded: LoadedSlot): boolean {
    const status = this.#lanes.status(loaded.index);
    if (status === "pending") return false;
    this.#withLane.delete(loaded);
    if (status === "failed") {
      this.#retire(loaded, { error: fileError(loaded) });
    } else if (loaded.transfer.request.direction === "upload") {
      this.#giveToGpu(loaded);
    } else {
      this.#retire(loaded);
    }
    return true;
  }

  /** Looks at the oldest copy of a transfer: one stream finishes its copies in order. */
  #afterGpu(queue: LoadedSlot[]): boolean {
    const oldest = queue[0];
    if (oldest === undefined) return false;
    try {
      if (!oldest.fence.poll()) return false;
    } catch (error) {
      queue.shift();
      this.#retire(oldest, { error });
      return true;
    }
    queue.shift();
    if (oldest.transfer.request.direction === "upload") this.#retire(oldest);
    else this.#giveToLane(oldest);
    return true;
  }

  /** Frees a slot, and tells its transfer how the piece ended. */
  #retire(loaded: LoadedSlot, failure?: { error: unknown }): void {
    const { index, address, fence, transfer, piece } = loaded;
    this.#ring.put({ index, address, fence });
    if (failure === undefined) transfer.finish(piece);
    else transfer.drop(failure.error);
  }
}

function fileError({ transfer, piece }: LoadedSlot): Error {
  const { host, direction } = transfer.request;
  const offset = "fileOffset" in host ? host.fileOffset + piece.offset : piece.offset;
  const verb = direction === "upload" ? "read" : "write";
  return new Error(
    `Cannot ${verb} ${piece.byteLength} bytes at ${offset} of the file: it ended early, changed ` +
      `meanwhile, or the disk failed`,
  );
}
