// Page-locked memory in which downloads into new arrays land. An array that is made as a copy of it is
// not cleared first, and its memory is used while it is warm: filling a new array takes twice as long.

import type { MemoryCache } from "../accounting/ledger.ts";
import type { Context } from "../driver/context.ts";
import { tryRelease } from "../driver/release.ts";
import { HugePinnedMemory } from "./huge_pinned_memory.ts";
import { forgetHeap } from "../lanes/heap_pages.ts";
import { memoryAt } from "../memory/host_bytes.ts";
import type { HostBytes } from "../memory/host_memory.ts";

/** Fewer bytes gain nothing: memory for them is there already. */
const FEWEST_BYTES = 2 ** 16;

/** For more bytes several threads that fill the new array are faster. */
const MOST_BYTES = 4 * 2 ** 20;

/** A program that makes few new arrays does not pay for the memory, which takes some milliseconds. */
const DEMAND_COUNT = 16;

/** First size of the memory: a large page. */
const SMALLEST_BYTES = 2 ** 21;

const landings = new WeakMap<Context, Landing>();

/** One context's memory for downloads on their way into new arrays; a cache that can be trimmed. */
export class Landing implements MemoryCache {
  readonly name = "landing of downloads";
  readonly kind = "pinned";
  readonly #context: Context;
  readonly #resource: HugePinnedMemory;
  #memory: { readonly address: bigint; readonly bytes: HostBytes } | undefined;
  #demandCount = 0;
  #isRefused = false;

  /** Starts with no memory. */
  constructor(context: Context) {
    this.#context = context;
    this.#resource = new HugePinnedMemory({ context });
    context.ledger.caches.add(this);
  }

  /** Returns a context's landing, which ends with it; undefined for sizes that gain nothing. */
  static for(context: Context, byteLength: number): Landing | undefined {
    if (byteLength < FEWEST_BYTES || byteLength > MOST_BYTES) return undefined;
    return Landing.of(context);
  }

  /** Returns the landing of a context; it ends with the context. */
  static of(context: Context): Landing {
    const known = landings.get(context);
    if (known !== undefined) return known;
    const landing = new Landing(context);
    landings.set(context, landing);
    context.atRelease(() => {
      landing.trim();
      context.ledger.caches.delete(landing);
    });
    return landing;
  }

  /** Bytes of page-locked memory it holds. */
  get byteLength(): number {
    return this.#memory?.bytes.byteLength ?? 0;
  }

  /** Whether downloads land here: once the program has made some new arrays. */
  get isOpen(): boolean {
    return !this.#isRefused && this.#demandCount >= DEMAND_COUNT;
  }

  /**
   * Returns memory for a download that is over before anything else runs; undefined until a program
   * has made some new arrays.
   */
  take(byteLength: number): HostBytes | undefined {
    if (!this.isOpen) {
      this.#demandCount++;
      return undefined;
    }
    if (this.byteLength < byteLength) this.#grow(byteLength);
    return this.#memory?.bytes.subarray(0, byteLength);
  }

  /** Frees the memory; the next downloads allocate it again. */
  trim(): void {
    const memory = this.#memory;
    if (memory === undefined) return;
    // Emptied first: memory that cannot be freed is reported, and never used or freed again.
    this.#memory = undefined;
    const free = () => this.#resource.deallocate(memory.address);
    tryRelease(this.#context.driver, `memory of the ${this.name}`, free);
  }

  #grow(wanted: number): void {
    this.trim();
    const byteLength = Math.max(SMALLEST_BYTES, 2 ** Math.ceil(Math.log2(wanted)));
    let address: bigint | undefined;
    try {
      address = this.#resource.allocate(byteLength);
      this.#memory = { address, bytes: new Uint8Array(memoryAt(address, byteLength)) };
    } catch {
      // Without page-locked memory downloads fill their arrays as the first ones did.
      this.#isRefused = true;
      if (address !== undefined) this.#resource.deallocate(address);
    }
  }
}

/** Forgets the new arrays that downloads have made before the program's first. */
export function forgetNewArrays(context: Context): void {
  const landing = landings.get(context);
  landing?.trim();
  if (landing !== undefined) context.ledger.caches.delete(landing);
  landings.delete(context);
  forgetHeap();
}
