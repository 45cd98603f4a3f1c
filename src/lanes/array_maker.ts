// New arrays for downloads of middle size, which lanes make ahead while there is nothing to copy: V8
// clears an array on the thread that makes it, which takes longer than the transfer. A finished one comes
// over in a message, in some microseconds, and is an ordinary array that V8 frees like any other.

import type { MessagePort } from "node:worker_threads";
import { findHost, MALLOPT } from "../../ffi/host.ts";
import { builtin } from "../words/builtin.ts";
import { ARRAY_LANES, CONTROL, MOST_ARRAYS_ASKED } from "./lane_program.ts";

/** The heap never maps smaller blocks by themselves. */
const FEWEST_KEPT_BYTES = 2 ** 16;

/** Smaller arrays are made as copies of page-locked memory, into memory that is warm by then. */
const FEWEST_BYTES = 2 ** 19;

/** Smaller arrays are not waited for: the program makes them nearly as fast. */
const FEWEST_AWAITED_BYTES = 2 ** 21;

/** The largest array that is made ahead. */
export const MOST_MADE_BYTES: number = 8 * 2 ** 20;

/** Sizes that arrays are made ahead of: those that the program asked for last. */
const MOST_SIZES = 2;

/** Most arrays of one size that are ahead of the program, ready or asked for; and most bytes of them. */
const MOST_AHEAD = MOST_ARRAYS_ASKED / MOST_SIZES;
const MOST_AHEAD_BYTES = 24 * 2 ** 20;

/** Bytes that a thread clears in a millisecond. */
const CLEARED_BYTES = 8 * 2 ** 20;

/** Arrays of one size. */
interface Stock {
  readonly byteLength: number;
  readonly ready: ArrayBuffer[];
}

/** New arrays of sizes that a program asks for again and again. */
export class ArrayMaker {
  readonly #words: Int32Array<SharedArrayBuffer>;
  /** The arrays of each size, the size that was asked for last first. */
  #stocks: Stock[] = [];
  #ports: readonly MessagePort[] = [];
  #askedCount = 0;
  #receivedCount = 0;
  /** Whether arrays came in time lately: not before the first one. */
  #isOnTime = false;

  /** Asks lanes by their control block. */
  constructor(words: Int32Array<SharedArrayBuffer>) {
    this.#words = words;
  }

  /** Opens the ways by which arrays come from so many lanes at most, and returns the lanes' ends. */
  openPorts(laneCount: number): MessagePort[] {
    const { MessageChannel } = builtin("node:worker_threads");
    const count = Math.min(Math.ceil(laneCount / 2), ARRAY_LANES);
    const channels = Array.from({ length: count }, () => new MessageChannel());
    this.#ports = channels.map(({ port1 }) => port1);
    for (const port of this.#ports) port.unref();
    return channels.map(({ port2 }) => port2);
  }

  /**
   * Notes that the program makes an array of a size, and has more of them made if it made one before.
   * Returns whether {@link ArrayMaker.take} can give one soon.
   */
  expect(byteLength: number): boolean {
    if (byteLength < FEWEST_BYTES || byteLength > MOST_MADE_BYTES) return false;
    const known = this.#find(byteLength);
    if (known === undefined) {
      this.#keep([{ byteLength, ready: [] }, ...this.#stocks].slice(0, MOST_SIZES));
      return false;
    }
    if (this.#stocks[0] !== known) this.#stocks.reverse();
    if (known.ready.length > 0) return true;
    this.#receive();
    this.#ask(known);
    if (known.ready.length > 0) return true;
    return byteLength >= FEWEST_AWAITED_BYTES && this.#isOnTime &&
      this.#comingCount(byteLength) > 0;
  }

  /**
   * Returns a new array that was expected, cleared and with its pages; undefined if none comes soon. Called
   * while the copy engine works, it takes over later arrays as well, each in some 20 microseconds.
   */
  take(byteLength: number): ArrayBuffer | undefined {
    const stock = this.#find(byteLength);
    if (stock === undefined) return undefined;
    if (stock.ready.length === 0) this.#waitFor(stock);
    const array = stock.ready.shift();
    this.#receive();
    this.#ask(stock);
    return array;
  }

  /** Bytes of the arrays that are ready or asked for. */
  get aheadBytes(): number {
    return this.#stocks.reduce(
      (sum, { byteLength, ready }) =>
        sum + byteLength * (ready.length + this.#comingCount(byteLength)),
      0,
    );
  }

  /** Forgets the arrays that are ready, and those that are to come. */
  drop(): void {
    this.#keep([]);
    this.#receive();
  }

  /** Closes the ways. */
  dispose(): void {
    this.drop();
    for (const port of this.#ports) port.close();
    this.#ports = [];
  }

  #find(byteLength: number): Stock | undefined {
    return this.#stocks.find((stock) => stock.byteLength === byteLength);
  }

  /** Forgets all other sizes: a lane that has not begun an array of such a size makes an empty one. */
  #keep(stocks: Stock[]): void {
    this.#stocks = stocks;
    for (let at = 0; at < MOST_ARRAYS_ASKED; at++) {
      const place = CONTROL.arraySizes + at;
      const byteLength = Atomics.load(this.#words, place);
      if (this.#find(byteLength) === undefined) Atomics.store(this.#words, place, 0);
    }
  }

  /** Number of arrays of a size that are asked for and have not come, as if they came in order. */
  #comingCount(byteLength: number): number {
    let count = 0;
    for (let at = this.#receivedCount; at < this.#askedCount; at++) {
      if (Atomics.load(this.#words, placeOf(at)) === byteLength) count++;
    }
    return count;
  }

  /** Waits for an array that is on its way, about as long as this thread would need to make one. */
  #waitFor(stock: Stock): void {
    const end = performance.now() + stock.byteLength / CLEARED_BYTES;
    while (
      stock.ready.length === 0 && this.#comingCount(stock.byteLength) > 0 &&
      performance.now() < end
    ) this.#receive();
    this.#isOnTime = stock.ready.length > 0;
  }

  #ask(stock: Stock): void {
    if (this.#ports.length === 0) return;
    const { byteLength, ready } = stock;
    const most = Math.min(MOST_AHEAD, Math.floor(MOST_AHEAD_BYTES / byteLength));
    const wanted = most - ready.length - this.#comingCount(byteLength);
    const room = MOST_ARRAYS_ASKED - (this.#askedCount - this.#receivedCount);
    for (let left = Math.min(wanted, room); left > 0; left--) {
      Atomics.store(this.#words, placeOf(this.#askedCount), byteLength);
      Atomics.add(this.#words, CONTROL.arraysAsked, 1);
      this.#askedCount++;
    }
  }

  /** Takes over what lanes have sent. */
  #receive(): void {
    if ((this.#receivedCount | 0) === Atomics.load(this.#words, CONTROL.arraysSent)) return;
    const { receiveMessageOnPort } = builtin("node:worker_threads");
    for (const port of this.#ports) {
      for (let got = receiveMessageOnPort(port); got; got = receiveMessageOnPort(port)) {
        this.#receivedCount++;
        this.#put(got.message);
      }
    }
  }

  /** Keeps an array of a size that is still wanted; the collector frees others. */
  #put(sent: ArrayBuffer | number): void {
    if (typeof sent === "number") return;
    const stock = this.#find(sent.byteLength);
    if (stock === undefined) return;
    stock.ready.push(sent);
    this.#isOnTime = true;
  }
}

/** Returns the word with the size of an array, by its number among those that were asked for. */
function placeOf(number: number): number {
  return CONTROL.arraySizes + (number & (MOST_ARRAYS_ASKED - 1));
}

/** The largest block that the heap takes from its own memory, at the most that the C library allows. */
const MOST_HEAP_BYTES = 32 * 2 ** 20;

/** Freed bytes that the heap keeps at its end: twice the other threshold, as it sets by itself. */
const KEPT_BYTES = 2 * MOST_HEAP_BYTES;

/** Set once the heap was told to keep memory. */
let keepsMemory = false;

/**
 * Sets, when the first array of this size is made, what the C library's heap sets by itself once a program
 * has freed a block of 32 MiB: it maps smaller ones no more, each with new pages, and does not give the
 * pages of freed ones back at once (mallopt).
 */
export function keepFreedMemory(byteLength: number): void {
  if (keepsMemory || byteLength < FEWEST_KEPT_BYTES) return;
  keepsMemory = true;
  const host = findHost();
  host?.mallopt(MALLOPT.MMAP_THRESHOLD, MOST_HEAP_BYTES);
  host?.mallopt(MALLOPT.TRIM_THRESHOLD, KEPT_BYTES);
}
