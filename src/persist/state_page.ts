// Files without names, which go to other processes by their descriptors: texts, and the page of persisted
// memory. All that have the memory open write a few words there, which outlive them.

import { cString } from "../../ffi/c_strings.ts";
import { MAP, MAP_FAILED, MFD_CLOEXEC, PROT } from "../../ffi/host.ts";
import { lastErrno, openSystem, systemError } from "../disk/system_error.ts";
import { closeDescriptor } from "../sharing/local_socket.ts";
import {
  NAME_PAGE_BYTES,
  type Opener,
  OPENER_BYTES,
  SLOT_STATE,
  type Wholeness,
} from "./keeper_words.ts";

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
    this.#address = mmap(0n, BigInt(NAME_PAGE_BYTES), rights, MAP.SHARED, descriptor, 0n);
    const pointer = Deno.UnsafePointer.create(this.#address);
    if (this.#address === MAP_FAILED || pointer === null) {
      throw systemError("map the page of persisted memory", lastErrno());
    }
    this.#memory = Deno.UnsafePointerView.getArrayBuffer(pointer, NAME_PAGE_BYTES);
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
    return Array.from({ length: NAME_PAGE_BYTES / OPENER_BYTES }, (_, slot) => {
      const [pid = 0, state = 0] = this.#words.subarray(this.#at(slot), this.#at(slot) + 2);
      return { pid, state: WORDS[state] ?? "clean" };
    }).filter(({ pid }) => pid !== 0);
  }

  /** Unmaps the page. A second time does nothing. */
  close(): void {
    if (this.#words.length === 0) return;
    this.#memory.transfer(0);
    this.#words = new Int32Array(0);
    openSystem().munmap(this.#address, BigInt(NAME_PAGE_BYTES));
  }

  #at(slot: number): number {
    return slot * OPENER_BYTES / Int32Array.BYTES_PER_ELEMENT;
  }
}

/** Returns a descriptor of a file without a name that holds bytes, for the caller to close. */
export function newFile(bytes: Uint8Array<ArrayBuffer>): number {
  const { memfd_create, pwrite, addressOf } = openSystem();
  const descriptor = memfd_create(cString("vramkit-persisted"), MFD_CLOEXEC);
  if (descriptor < 0) throw systemError("make a file in memory", lastErrno());
  const address = addressOf(bytes, bytes, 0n);
  const size = BigInt(bytes.byteLength);
  if (pwrite(descriptor, address, size, 0n) === size) return descriptor;
  const errno = lastErrno();
  closeDescriptor(descriptor);
  throw systemError("write a file in memory", errno);
}

/** Reads the text of a file without a name. */
export function readText(descriptor: number): string {
  const { pread, addressOf } = openSystem();
  const decoder = new TextDecoder();
  let text = "";
  for (let at = 0;;) {
    const part = new Uint8Array(1 << 16);
    const address = addressOf(part, part, 0n);
    const count = Number(pread(descriptor, address, BigInt(part.length), BigInt(at)));
    if (count <= 0) return text + decoder.decode();
    text += decoder.decode(part.subarray(0, count), { stream: true });
    at += count;
  }
}
