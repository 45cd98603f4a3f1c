// Copies on threads that the runtime lends, for a caller that blocks: the promise of such a call is
// settled in a turn of the event loop, which a blocking caller does not give, so the system itself
// writes into shared memory that the bytes are there. One call copies a word that says that it has begun,
// the bytes, and another word.

import { findHost, openHost, SYS_PROCESS_VM_READV } from "../../ffi/host.ts";
import { addressOf, type HostBytes } from "../memory/host_memory.ts";
import { CAN_BE_TERMINATED } from "../order/waiting.ts";
import { STATUS } from "./lane_program.ts";

/** A copy, and the word that tells of its progress. */
export interface ReportingCopy {
  /** Address that the bytes go to, of memory that can be written. */
  readonly destination: bigint;
  /** Address that they come from. */
  readonly source: bigint;
  /** Number of bytes. */
  readonly byteLength: bigint;
  /** Address of an Int32 that becomes {@link STATUS.begun}, and {@link STATUS.done}. */
  readonly word: bigint;
  /** An array whose memory stays until the thread is back, whoever the program gives it to. */
  readonly kept: HostBytes;
}

/**
 * 64-bit fields of a copy, six of `struct iovec`: word, array and word as they are to be, then where they
 * come from.
 */
const FIELDS = 12;
const SOURCE_FIELD = 6;

/** Bytes of a word. */
const WORD_BYTES = 4n;

let isPossible: boolean | undefined;

/**
 * Returns whether threads can report so: where the processor stores in order, as x86 does, the system
 * lets a process ask for its own memory, and nobody ends this thread.
 */
export function canReport(): boolean {
  return isPossible ??= Deno.build.arch === "x86_64" && !CAN_BE_TERMINATED &&
    findHost() !== undefined && new ReportingCopies(1).isAllowed;
}

/** The copies of all slots: the system reads what to do from memory that stays in its place. */
export class ReportingCopies {
  readonly #slotCount: number;
  #memory:
    | { readonly fields: BigInt64Array<SharedArrayBuffer>; readonly address: bigint }
    | undefined;

  /** Prepares for a copy of each slot at a time. */
  constructor(slotCount: number) {
    this.#slotCount = slotCount;
  }

  /** Whether the system lets the process ask for its own memory. */
  get isAllowed(): boolean {
    return this.#isReadable(this.#made.address, 8n);
  }

  /**
   * Starts a copy. Returns a promise that resolves in a turn of the event loop: to false when the
   * system stopped before the end, and the word is unchanged. Returns undefined when the system
   * cannot read the memory, such as another driver's.
   */
  start(slot: number, copy: ReportingCopy): Promise<boolean> | undefined {
    const { destination, source, byteLength, word, kept } = copy;
    if (!this.#isReadable(source, byteLength)) return undefined;
    const { fields, address } = this.#made;
    const start = slot * FIELDS;
    const begun = address + BigInt(8 * this.#begunField);
    const done = begun + 8n;
    fields.set([word, WORD_BYTES, destination, byteLength, word, WORD_BYTES], start);
    fields.set([begun, WORD_BYTES, source, byteLength, done, WORD_BYTES], start + SOURCE_FIELD);
    const to = address + BigInt(8 * start);
    const from = to + BigInt(8 * SOURCE_FIELD);
    const array = kept as BufferSource;
    const copied = openHost()
      .readMemoryKeepingNonblocking(SYS_PROCESS_VM_READV, Deno.pid, to, 3n, from, 3n, 0n, array);
    return copied.then((count) => count === byteLength + 2n * WORD_BYTES);
  }

  /** Ends a copy that has not begun: its thread finds no word to begin with, and copies nothing. */
  revoke(slot: number): void {
    Atomics.store(this.#made.fields, slot * FIELDS + SOURCE_FIELD, 0n);
  }

  /** Returns whether the system can read the first and the last byte of some memory. */
  #isReadable(start: bigint, byteLength: bigint): boolean {
    const { fields, address } = this.#made;
    const at = this.#begunField + 2;
    const scratch = address + BigInt(8 * at);
    fields.set([0n, scratch, 2n, start, 1n, start + byteLength - 1n, 1n], at);
    const to = scratch + 8n;
    return openHost().readMemory(SYS_PROCESS_VM_READV, Deno.pid, to, 1n, to + 16n, 2n, 0n) === 2n;
  }

  /** Index of the first of two values that are copied into words; the fields of a question follow them. */
  get #begunField(): number {
    return this.#slotCount * FIELDS;
  }

  get #made() {
    return this.#memory ??= this.#make();
  }

  #make() {
    // Shared memory: the collector moves small arrays.
    const fields = new BigInt64Array(new SharedArrayBuffer(8 * (this.#begunField + 2 + FIELDS)));
    fields.set([BigInt(STATUS.begun), BigInt(STATUS.done)], this.#begunField);
    return { fields, address: addressOf(fields) };
  }
}
