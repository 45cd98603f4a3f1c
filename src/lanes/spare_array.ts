// New arrays for downloads, mapped apart from the heap: the heap would clear their memory on the
// JavaScript thread, which takes longer than the transfer. Lanes make the pages, those of the next array
// while others fill this one.

import { findHost, type HostApi, MALLOPT } from "../../ffi/host.ts";
import { addressOf } from "../memory/host_memory.ts";
import type { CopyLanes } from "./copy_lanes.ts";
import { askForHugePages, PAGE_BYTES, pageParts } from "./fresh_pages.ts";
import { widenHeap } from "./heap_pages.ts";

/** The heap's memory has its pages, so clearing less than this takes less time than new pages. */
const FEWEST_BYTES = 8 * 2 ** 20;

/** A larger array has its pages made while it is filled, which takes no longer. */
const MOST_BYTES = 64 * 2 ** 20;

/** Free blocks of the heap that are passed by. */
const MOST_BLOCKS = 4096;

/** The new arrays of one engine: the next one is made ahead for a program that asks for the same again. */
export class SpareArray {
  readonly #lanes: CopyLanes;
  /** Bytes of the array that was asked for last. */
  #lastBytes = 0;
  #spare: ArrayBuffer | undefined;

  /** Starts with none. */
  constructor(lanes: CopyLanes) {
    this.#lanes = lanes;
  }

  /** Returns a new array; undefined for sizes that gain nothing, and while no lanes run. */
  take(byteLength: number): ArrayBuffer | undefined {
    if (byteLength < FEWEST_BYTES || byteLength > MOST_BYTES) return undefined;
    const isRepeated = byteLength === this.#lastBytes;
    this.#lastBytes = byteLength;
    const spare = this.#spare?.byteLength === byteLength ? this.#spare : this.#make(byteLength);
    this.#spare = isRepeated ? this.#make(byteLength) : undefined;
    return spare;
  }

  /** Forgets the next array. */
  drop(): void {
    this.#spare = undefined;
    this.#lastBytes = 0;
  }

  #make(byteLength: number): ArrayBuffer | undefined {
    const host = findHost();
    if (host === undefined || this.#lanes.runningCount === 0) return undefined;
    const array = mapArray(host, byteLength);
    if (array === undefined) return undefined;
    const bytes = new Uint8Array(array);
    askForHugePages(bytes);
    this.#lanes.makePages(pageParts(addressOf(bytes), byteLength));
    return array;
  }
}

/** Whether the heap had a free block for the last array, which it takes before it maps one. */
let hadFreeBlock = false;

/** Makes an array whose memory is mapped apart; undefined when memory is short. */
function mapArray(host: HostApi, byteLength: number): ArrayBuffer | undefined {
  host.mallopt(MALLOPT.MMAP_THRESHOLD, FEWEST_BYTES);
  try {
    const array = hadFreeBlock ? undefined : new ArrayBuffer(byteLength);
    if (array !== undefined && isMapped(addressOf(new Uint8Array(array)))) return array;
    using blocks = new FreeBlocks(host, byteLength);
    hadFreeBlock = blocks.count > 0;
    return new ArrayBuffer(byteLength);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  } finally {
    widenHeap(host);
  }
}

/** The heap's free blocks of a size, in use until it is disposed. */
class FreeBlocks implements Disposable {
  readonly #host: HostApi;
  readonly #blocks: bigint[] = [];

  constructor(host: HostApi, byteLength: number) {
    this.#host = host;
    let block = host.malloc(BigInt(byteLength));
    while (block !== 0n && !isMapped(block) && this.count < MOST_BLOCKS) {
      this.#blocks.push(block);
      block = host.malloc(BigInt(byteLength));
    }
    host.free(block);
  }

  /** Number of blocks. */
  get count(): number {
    return this.#blocks.length;
  }

  [Symbol.dispose](): void {
    for (const block of this.#blocks) this.#host.free(block);
  }
}

/** Returns whether a block is mapped apart: it begins 16 bytes behind a page then, else hardly ever. */
function isMapped(address: bigint): boolean {
  return address % BigInt(PAGE_BYTES) === 16n;
}
