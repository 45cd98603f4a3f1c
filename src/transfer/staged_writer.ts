// Gathers the chunks of a stream in two page-locked blocks: one fills while the copy engine empties
// the other. However long the stream is, that is all the host memory it takes.

import { pageBytes } from "../../ffi/host.ts";
import { type MemorySpan, partOf, queueCopy } from "../copies/copy.ts";
import { Allocation } from "../memory/allocation.ts";
import { ownedSpan, showToHost } from "../memory/host_bytes.ts";
import { bytesOf, type HostBytes, type HostMemory } from "../memory/host_memory.ts";
import { pendingBeforeHost } from "../memory/in_order.ts";
import { PinnedPool } from "../memory/pinned_pool.ts";
import { allOver } from "../order/pending_work.ts";
import { watch } from "../order/safety_net.ts";
import type { CudaStream } from "../order/stream.ts";
import { nextTurn } from "../order/waiting.ts";
import { arraysBefore, usesOfArray } from "./array_uses.ts";
import { presenceOf } from "./ring_transfer.ts";
import { FIRST_BLOCK_BYTES, GROWTH, STAGING_BYTES } from "./ways.ts";

/** Device memory that a stream of bytes goes into. */
export interface StreamTarget {
  /** On which stream it is written. */
  readonly stream: CudaStream;
  /** Number of bytes that will come; undefined when unknown. */
  readonly expectedBytes: number | undefined;
  /**
   * The memory for the first `endBytes` bytes of the stream, or more. Copies of the first
   * `queuedBytes` of them are queued already, and nothing was written behind those.
   *
   * @throws RangeError when so many do not fit.
   */
  spanFor(endBytes: number, queuedBytes: number): MemorySpan;
  /**
   * Notes that the stream has ended after `byteLength` bytes, all of which were copied.
   *
   * @throws RangeError when that is too early.
   */
  finish(byteLength: number): void;
  /** Undoes changes of size after a failure of the stream; never throws. */
  abandon(): void;
  /** Names the memory, for messages. */
  toString(): string;
}

/** One page-locked block. */
interface PinnedBlock {
  readonly allocation: Allocation;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Writes chunks of any size into device memory, one after another. */
export class StagedWriter {
  readonly #target: StreamTarget;
  readonly #onProgress: ((doneBytes: number) => void) | undefined;
  #filling: PinnedBlock | undefined;
  #emptying: PinnedBlock | undefined;
  #filledBytes = 0;
  #queuedBytes = 0;
  #nextBlockBytes: number;

  /** Starts at the target's first byte; `onProgress` hears how many bytes are in place. */
  constructor(target: StreamTarget, onProgress?: (doneBytes: number) => void) {
    this.#target = target;
    this.#onProgress = onProgress;
    const { expectedBytes = FIRST_BLOCK_BYTES } = target;
    this.#nextBlockBytes = Math.min(STAGING_BYTES, blockSizeFor(expectedBytes));
  }

  /** Takes a chunk; resolves when there is room for more. After a failure nothing is kept. */
  async write(chunk: HostMemory): Promise<void> {
    try {
      const bytes = bytesOf(chunk, `write to ${this.#target}`);
      const requireThere = presenceOf(bytes);
      await whenFilled(bytes, this.#target.stream);
      requireThere();
      await this.#take(bytes, requireThere);
    } catch (error) {
      this.abandon();
      throw error;
    }
  }

  /** Ends the stream; resolves when all bytes are in place. */
  async finish(): Promise<void> {
    try {
      await this.#flush();
      await this.#settle();
      this.#target.finish(this.#queuedBytes);
    } catch (error) {
      this.abandon();
      throw error;
    }
    this.#release();
  }

  /** Ends the stream early: the memory it used goes back once the copies that use it are done. */
  abandon(): void {
    this.#release();
    this.#target.abandon();
  }

  async #take(chunk: Uint8Array<ArrayBufferLike>, requireThere: () => void): Promise<void> {
    const { byteLength } = chunk;
    this.#target.spanFor(this.#queuedBytes + this.#filledBytes + byteLength, this.#queuedBytes);
    for (let offset = 0; offset < byteLength;) {
      const { bytes, allocation } = this.#filling ??= this.#makeBlock(byteLength - offset);
      requireThere(); // a resource of the program may have moved it away
      allocation.checkUse("write"); // the program may have given back all that is live
      const room = bytes.byteLength - this.#filledBytes;
      const part = chunk.subarray(offset, offset + room);
      bytes.set(part, this.#filledBytes);
      this.#filledBytes += part.byteLength;
      offset += part.byteLength;
      if (this.#filledBytes < bytes.byteLength) continue;
      await this.#flush();
      requireThere();
    }
  }

  /** Queues the contents of the block once the other block is empty, and goes on with that one. */
  async #flush(): Promise<void> {
    await this.#settle();
    const block = this.#filling;
    if (block === undefined || this.#filledBytes === 0) return;
    const byteLength = this.#filledBytes;
    const { allocation } = block;
    const end = this.#queuedBytes + byteLength;
    const whole = this.#target.spanFor(end, this.#queuedBytes);
    const destination = partOf(whole, { offset: this.#queuedBytes, byteLength });
    const source = { allocation, address: allocation.address, byteLength };
    queueCopy(destination, source, this.#target.stream);
    this.#queuedBytes = end;
    this.#filledBytes = 0;
    [this.#filling, this.#emptying] = [this.#emptying, block];
    this.#replaceSmall();
    await nextTurn(); // a source that has all its chunks at hand would starve timers
  }

  /** Waits for the copies queued so far. */
  async #settle(): Promise<void> {
    if (this.#queuedBytes === 0) return;
    await this.#target.stream.synchronize();
    this.#onProgress?.(this.#queuedBytes);
  }

  /** Gives back the block to fill next when the stream has grown beyond its size. */
  #replaceSmall(): void {
    const block = this.#filling;
    if (block === undefined || block.bytes.byteLength >= this.#nextBlockBytes) return;
    this.#filling = undefined;
    block.allocation.release();
  }

  #makeBlock(chunkBytes: number): PinnedBlock {
    const { stream, expectedBytes } = this.#target;
    let byteLength = this.#nextBlockBytes;
    if (expectedBytes === undefined) {
      byteLength = Math.min(STAGING_BYTES, Math.max(byteLength, blockSizeFor(chunkBytes)));
      this.#nextBlockBytes = Math.min(STAGING_BYTES, GROWTH * byteLength);
    }
    const resource = PinnedPool.of(stream.context);
    const label = "stream staging";
    const allocation = Allocation.create({ kind: "pinned", byteLength, resource, stream, label });
    const bytes = showToHost(allocation);
    watch(bytes, allocation);
    return { allocation, bytes };
  }

  #release(): void {
    this.#filling?.allocation.release();
    this.#emptying?.allocation.release();
  }
}

/** Resolves when earlier calls, and the GPU, have written what they write into an array. */
export async function whenFilled(memory: HostBytes, stream: CudaStream): Promise<void> {
  const { uses, arrays } = usesOfArray({ memory, access: "read" }, ownedSpan(memory));
  await allOver([...arraysBefore(arrays), ...pendingBeforeHost(stream, uses)]);
  await whenQueuedIsDone(memory, stream);
}

/** Resolves when the GPU has done all that was queued and writes into an array. */
export async function whenQueuedIsDone(memory: HostBytes, stream: CudaStream): Promise<void> {
  const blocks = usesOfArray({ memory, access: "read" }, ownedSpan(memory)).uses;
  for (const { allocation } of blocks) allocation.order(stream, "read");
  if (blocks.length > 0) await stream.synchronize();
}

/**
 * Returns the next power of two: the pool hands out blocks that are little larger than a request, and
 * streams of any lengths, such as a server's requests, are to share fewer than it would keep for them.
 */
function blockSizeFor(byteLength: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(byteLength, pageBytes())));
}
