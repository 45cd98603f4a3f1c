// Physical memory at addresses of its own: it can go to other processes, and leave its addresses and come
// back to them.

import type { Context } from "../driver/context.ts";
import {
  exportMemory,
  freeAddresses,
  giveAccess,
  importMemory,
  mapMemory,
  type NamedRange,
  reserveAddresses,
  unmapMemory,
} from "./virtual_memory.ts";

/** One physical allocation of a device, mapped as a whole. */
export class VirtualChunk implements NamedRange {
  readonly what = "virtual memory";
  readonly context: Context;
  /** The address, which never changes. */
  readonly address: bigint;
  readonly byteLength: number;
  /** A descriptor of it can be made. */
  readonly isShareable: boolean;
  /** The number of sleepers that no new block may join: their copies are in no block's order. */
  closedCount = 0;
  #isMapped = false;
  #isFreed = false;

  /** Reserves addresses (cuMemAddressReserve) and maps memory there, a foreign one by its descriptor. */
  constructor(
    context: Context,
    byteLength: number,
    { isShareable = false, descriptor }: {
      readonly isShareable?: boolean;
      readonly descriptor?: number;
    } = {},
  ) {
    this.context = context;
    this.byteLength = byteLength;
    this.isShareable = isShareable;
    this.address = reserveAddresses(context, byteLength);
    try {
      this.map(descriptor);
    } catch (error) {
      freeAddresses(context, this);
      throw error;
    }
  }

  get isFreed(): boolean {
    return this.#isFreed;
  }

  /** Maps new memory, or that of a descriptor, where there is none. A failure changes nothing. */
  map(descriptor?: number): void {
    if (this.#isMapped) return;
    const { context } = this;
    if (descriptor === undefined) mapMemory(context, this, this.isShareable);
    else importMemory(context, this, descriptor);
    try {
      giveAccess(context, this, [[context, "readwrite"]]);
      this.#isMapped = true;
    } catch (error) {
      unmapMemory(context, this);
      throw error;
    }
  }

  /** Gives the memory back and keeps the addresses; reports a failure and returns whether it did. */
  unmap(): boolean {
    if (this.#isMapped) this.#isMapped = !unmapMemory(this.context, this);
    return !this.#isMapped;
  }

  /** Returns a descriptor that keeps the memory, for the caller to close. */
  export(): number {
    return exportMemory(this.context, this);
  }

  /** Gives memory and addresses back. A failure is reported, and what it names stays. */
  free(): void {
    this.#isFreed = true;
    if (this.unmap()) freeAddresses(this.context, this);
  }
}
