// The page of persisted memory: a few words of each process that has it open, which all of them and the
// keeper see. It outlives them, so that the next one knows whether the last writes were finished.

import { MAP, MAP_FAILED, PROT } from "../../ffi/host.ts";
import { lastErrno, openSystem, systemError } from "../disk/system_error.ts";
import { type Opener, PAGE_BYTES, SLOT_BYTES, SLOT_STATE, type Wholeness } from "./keeper_words.ts";

const WORDS: Readonly<Record<number, Wholeness>> = {
  [SLOT_STATE.clean]: "clean",
  [SLOT_STATE.dirty]: "dirty",
  [SLOT_STATE.unknown]: "unknown",
};

/** The page of one name, mapped, and this process's place in it. */
export class StatePage {
  readonly #slot: number;
  readonly #address: bigint;
  readonly #memory: ArrayBuffer;
  #words: Int32Array;

  /** Maps the page behind a descriptor, which stays the caller's. */
  constructor(descriptor: number, slot: number) {
    const { mmap } = openSystem();
    const rights = PROT.READ | PROT.WRITE;
    this.#address = mmap(0n, BigInt(PAGE_BYTES), rights, MAP.SHARED, descriptor, 0n);
    const pointer = Deno.UnsafePointer.create(this.#address);
    if (this.#address === MAP_FAILED || pointer === null) {
      throw systemError("map the page of persisted memory", lastErrno());
    }
    this.#memory = Deno.UnsafePointerView.getArrayBuffer(pointer, PAGE_BYTES);
    this.#words = new Int32Array(this.#memory);
    this.#slot = slot;
  }

  /** The state of this process's writes. */
  get own(): Wholeness {
    return WORDS[this.#words[this.#at(this.#slot) + 1] ?? 0] ?? "clean";
  }

  set own(state: Wholeness) {
    if (this.#words.length > 0) this.#words[this.#at(this.#slot) + 1] = SLOT_STATE[state];
  }

  /** The processes that have the memory open, this one included, or had it and are not quite over. */
  get openers(): Opener[] {
    return Array.from({ length: PAGE_BYTES / SLOT_BYTES }, (_, slot) => {
      const [pid = 0, state = 0] = this.#words.subarray(this.#at(slot), this.#at(slot) + 2);
      return { pid, state: WORDS[state] ?? "clean" };
    }).filter(({ pid }) => pid !== 0);
  }

  /** Unmaps the page. A second time does nothing. */
  close(): void {
    if (this.#words.length === 0) return;
    this.#memory.transfer(0);
    this.#words = new Int32Array(0);
    openSystem().munmap(this.#address, BigInt(PAGE_BYTES));
  }

  #at(slot: number): number {
    return slot * SLOT_BYTES / Int32Array.BYTES_PER_ELEMENT;
  }
}
