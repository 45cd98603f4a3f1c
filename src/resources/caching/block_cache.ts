// Memory kept for reuse, by stream: blocks cut from segments, and merged again when they are free.
// The common case makes no driver call; streams meet only when one of them runs out of blocks.

import { MemoryCounters } from "../../accounting/counters.ts";
import type { LiveKind, MemoryCache } from "../../accounting/ledger.ts";
import type { Context } from "../../driver/context.ts";
import { tryRelease } from "../../driver/release.ts";
import { requireBytes } from "../../memory/base_memory_resource.ts";
import { isPostponed } from "../../memory/captured_memory.ts";
import { allocateFrom, deallocateTo, type MemoryResource } from "../../memory/memory_resource.ts";
import type { Owner } from "../../order/safety_net.ts";
import { type CudaStream, defaultStreamOf, queueOf } from "../../order/stream.ts";
import { DisposedError, isOutOfMemory, MemoryLimitError } from "../../words/errors.ts";
import { checkSize, formatAddress } from "../../words/format.ts";
import { AddressTable } from "./address_table.ts";
import {
  Block,
  isSmallRequest,
  MAX_REQUEST_BYTES,
  type Segment,
  segmentBytesFor,
  UNIT_BYTES,
  unitsOf,
} from "./block.ts";
import { FreeBlocks } from "./free_blocks.ts";

/** The blocks that a stream can use again without waiting for anything. */
interface StreamBlocks {
  readonly small: FreeBlocks;
  readonly large: FreeBlocks;
}

interface FreePlace {
  readonly block: Block;
  readonly home: FreeBlocks;
}

/** The state of a caching resource; blocks in use at its release go back when they are freed. */
export class BlockCache implements MemoryCache, Owner {
  readonly name = "caching resource";
  readonly kind: LiveKind;
  readonly #upstream: MemoryResource;
  readonly #context: Context;
  readonly #limitBytes: number;
  readonly #largestBytes: number;
  readonly #used = new AddressTable();
  readonly #streams = new Map<CudaStream, StreamBlocks>();
  /** The stream of the last call, and its blocks: most programs have one stream. */
  #lastStream: CudaStream | undefined;
  #lastBlocks: StreamBlocks | undefined;
  #usedUnits = 0;
  /** The memory that the upstream gave. */
  readonly segments: MemoryCounters = new MemoryCounters();
  #released = false;

  /** Starts without memory, listed as a cache of its context; its segments have `limitBytes` at most. */
  constructor(upstream: MemoryResource, limitBytes: number) {
    this.#upstream = upstream;
    this.#limitBytes = limitBytes;
    this.#largestBytes = Math.min(limitBytes, MAX_REQUEST_BYTES);
    this.kind = upstream.isHostAccessible ? "pinned" : "device";
    this.#context = upstream.context.retain();
    this.#context.ledger.caches.add(this);
  }

  get usedBytes(): number {
    return this.#usedUnits * UNIT_BYTES;
  }

  get usedCount(): number {
    return this.#used.count;
  }

  /** Bytes of the free blocks. */
  get byteLength(): number {
    let bytes = 0;
    for (const { small, large } of this.#streams.values()) {
      bytes += small.byteLength + large.byteLength;
    }
    return bytes;
  }

  get largestBytes(): number {
    let units = 0;
    for (const { small, large } of this.#streams.values()) {
      for (const { unitCount } of [...small.blocks(), ...large.blocks()]) {
        units = Math.max(units, unitCount);
      }
    }
    return units * UNIT_BYTES;
  }

  /** Tells whether it keeps nothing from now on. */
  get released(): boolean {
    return this.#released;
  }

  /** Hands out a block for work that is queued on `stream` afterwards. */
  allocate(byteLength: number, stream: CudaStream): bigint {
    requireBytes(byteLength);
    if (this.#released) throw new DisposedError("CachingResourceAdaptor");
    if (byteLength > this.#largestBytes) throw this.#limitError(byteLength);
    const unitCount = unitsOf(byteLength);
    const { small, large } = this.#blocksOf(stream);
    const home = isSmallRequest(unitCount) ? small : large;
    const block = home.find(unitCount) ?? this.#obtain(unitCount, home);
    block.home?.remove(block);
    if (block.unitCount > unitCount) home.add(block.split(unitCount));
    this.#used.add(block);
    this.#usedUnits += unitCount;
    return block.address;
  }

  /** Takes a block back that only work queued on `stream` by now still uses. */
  deallocate(address: bigint, _byteLength: number, stream: CudaStream): void {
    const { small, large } = this.#blocksOf(stream); // first, because it can throw
    const block = this.#used.take(Number(address));
    if (block === undefined) {
      throw new TypeError(`Cannot give ${formatAddress(address)} back: it is not in use here`);
    }
    this.#usedUnits -= block.unitCount;
    const home = block.segment.isSmall ? small : large;
    home.merge(block);
    if (this.#released) this.#finishRelease();
  }

  /** Gives back segments that nothing uses, until at most `keepBytes` are kept; never throws. */
  trim(keepBytes = 0): void {
    checkSize(keepBytes, "bytes to keep");
    if (isPostponed(() => this.trim(keepBytes))) return;
    this.#giveBackFree(this.byteLength - keepBytes, [...this.#streams.values()]);
    for (const [stream, { small, large }] of this.#streams) {
      if (stream.disposed && small.byteLength + large.byteLength === 0) this.#forget(stream);
    }
  }

  /** Gives back all free memory now, and the rest as soon as it is freed. */
  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#finishRelease();
  }

  #finishRelease(): void {
    if (isPostponed(() => this.#finishRelease())) return;
    this.trim();
    if (this.#used.count > 0) return;
    // Once, although the upstream may dispose the cache in the middle of a call.
    if (this.#context.ledger.caches.delete(this)) this.#context.release();
  }

  #blocksOf(stream: CudaStream): StreamBlocks {
    if (stream === this.#lastStream && this.#lastBlocks !== undefined) return this.#lastBlocks;
    let blocks = this.#streams.get(stream);
    if (blocks === undefined) {
      queueOf(stream); // throws for anything but a stream, before it is noted
      blocks = {
        small: new FreeBlocks(stream, { isSmall: true }),
        large: new FreeBlocks(stream, { isSmall: false }),
      };
      this.#adoptDisposed(blocks);
      this.#streams.set(stream, blocks);
    }
    this.#lastStream = stream;
    this.#lastBlocks = blocks;
    return blocks;
  }

  /** Finds memory elsewhere: of idle streams, then of the upstream, then of busy streams. */
  #obtain(unitCount: number, home: FreeBlocks): Block {
    this.#adoptDisposed(this.#blocksOf(home.stream));
    const idle = home.find(unitCount) ??
      this.#findElsewhere(unitCount, home, (stream) => queueOf(stream).isIdle);
    if (idle !== undefined) return idle;
    try {
      return this.#reserve(segmentBytesFor(unitCount), home);
    } catch (error) {
      if (!isOutOfMemory(error)) throw error;
      const busy = this.#findElsewhere(unitCount, home, (stream) => {
        queueOf(home.stream).follow(queueOf(stream));
        return true;
      });
      if (busy !== undefined) return busy;
      this.#giveBackFree(Infinity, [...this.#streams.values()]);
      return this.#reserve(unitCount * UNIT_BYTES, home);
    }
  }

  /** Finds a block that another stream used last, if `isOrdered` says that it may change hands. */
  #findElsewhere(
    unitCount: number,
    home: FreeBlocks,
    isOrdered: (stream: CudaStream) => boolean,
  ): Block | undefined {
    for (const [stream, { small, large }] of this.#streams) {
      if (stream === home.stream || stream.disposed) continue;
      const block = (home.isSmall ? small : large).find(unitCount);
      if (block !== undefined && isOrdered(stream)) return block;
    }
    return undefined;
  }

  /** Gets a segment; first gives back free ones of the stream if the peak would rise. */
  #reserve(byteLength: number, home: FreeBlocks): Block {
    const { segments } = this;
    const risingBytes = segments.currentBytes + byteLength - segments.peakBytes;
    this.#giveBackFree(risingBytes, [this.#blocksOf(home.stream)]);
    if (segments.currentBytes + byteLength > this.#limitBytes) throw this.#limitError(byteLength);
    const address = allocateFrom(this.#upstream, byteLength, home.stream);
    segments.add(byteLength);
    const segment = { address, byteLength, isSmall: home.isSmall };
    return new Block(segment, { address, unitCount: byteLength / UNIT_BYTES });
  }

  #limitError(requestedBytes: number): MemoryLimitError {
    const limitBytes = requestedBytes > MAX_REQUEST_BYTES ? this.#largestBytes : this.#limitBytes;
    const amounts = { requestedBytes, heldBytes: this.segments.currentBytes, limitBytes };
    return new MemoryLimitError("CachingResourceAdaptor", amounts);
  }

  /**
   * Gives back whole segments that are free on some streams, `byteLength` bytes in all. Their blocks are
   * taken out first: a program's upstream may allocate, trim or dispose here.
   */
  #giveBackFree(byteLength: number, streams: readonly StreamBlocks[]): void {
    let left = byteLength;
    if (left <= 0) return;
    const free = streams.flatMap(({ small, large }) => [...placesIn(small), ...placesIn(large)]);
    const leaving: [Segment, FreePlace[]][] = [];
    for (const [segment, places] of Map.groupBy(free, ({ block }) => block.segment)) {
      const freeBytes = places.reduce((sum, { block }) => sum + block.byteLength, 0);
      if (freeBytes < segment.byteLength) continue;
      for (const { block, home } of places) home.remove(block);
      leaving.push([segment, places]);
      left -= segment.byteLength;
      if (left <= 0) break;
    }
    for (const [segment, places] of leaving) this.#giveBack(segment, places);
  }

  /** Gives one segment back after all work that used it; when that fails, it stays here. */
  #giveBack({ address, byteLength }: Segment, places: readonly FreePlace[]): void {
    const free = () => {
      deallocateTo(this.#upstream, { address, byteLength, stream: this.#orderAfter(places) });
    };
    if (!tryRelease(this.#context.driver, `memory of the ${this.name}`, free)) {
      for (const { block, home } of places) home.add(block);
      return;
    }
    this.segments.remove(byteLength);
  }

  /** Picks a stream, and makes it wait for all others that used the blocks. */
  #orderAfter(places: readonly FreePlace[]): CudaStream {
    const users = new Set(places.map(({ home }) => home.stream));
    const alive = [...users].find((stream) => !stream.disposed);
    const stream = alive ?? defaultStreamOf(this.#context);
    try {
      for (const user of users) queueOf(stream).follow(queueOf(user));
      // The driver frees host memory at once, whatever is queued.
      if (this.#upstream.isHostAccessible && !queueOf(stream).isIdle) {
        queueOf(stream).synchronizeSync();
      }
    } catch {
      this.#context.waitForAll();
    }
    return stream;
  }

  #forget(stream: CudaStream): void {
    this.#streams.delete(stream);
    if (stream === this.#lastStream) this.#lastStream = undefined;
  }

  /** Takes over the blocks of streams that are gone, ordered after the work left on them. */
  #adoptDisposed(heirs: StreamBlocks): void {
    for (const [stream, blocks] of this.#streams) {
      if (!stream.disposed) continue;
      queueOf(heirs.small.stream).follow(queueOf(stream));
      this.#forget(stream);
      adopt(heirs.small, blocks.small);
      adopt(heirs.large, blocks.large);
    }
  }
}

function placesIn(home: FreeBlocks): FreePlace[] {
  return home.blocks().map((block) => ({ block, home }));
}

function adopt(heir: FreeBlocks, former: FreeBlocks): void {
  for (const block of former.blocks()) {
    former.remove(block);
    heir.merge(block);
  }
}
