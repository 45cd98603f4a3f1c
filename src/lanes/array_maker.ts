// New arrays for downloads, which lanes make ahead while there is nothing to copy: V8
// clears an array on the thread that makes it, which takes longer than the transfer. A finished one comes
// over in a message, in some microseconds, and is an ordinary array that V8 frees like any other.

import type { MessagePort } from "node:worker_threads";
import type { MemoryCache } from "../accounting/ledger.ts";
import {
  ARRAY_LANES,
  isMade,
  MAX_AHEAD_BYTES,
  MAX_ARRAY_SIZES,
  MAX_ARRAYS_AHEAD,
  MAX_ARRAYS_ASKED,
  MIN_AWAITED_BYTES,
  waitForArray,
} from "../transfer/ways.ts";
import { builtin } from "../words/builtin.ts";
import { CONTROL } from "./lane_program.ts";

/** Arrays of one size. */
interface Stock {
  readonly byteLength: number;
  readonly ready: ArrayBuffer[];
}

/** New arrays of sizes that a program asks for again and again: a cache, which all devices of a driver share. */
export class ArrayMaker implements MemoryCache {
  readonly name = "new arrays";
  readonly kind = "array";
  readonly #words: Int32Array<SharedArrayBuffer>;
  /** The arrays of each size, the size that was asked for last first. */
  #stocks: Stock[] = [];
  #ports: readonly MessagePort[] = [];
  #askedCount = 0;
  #receivedCount = 0;

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
    if (!isMade(byteLength)) return false;
    const known = this.#find(byteLength);
    if (known === undefined) {
      this.#keep([{ byteLength, ready: [] }, ...this.#stocks].slice(0, MAX_ARRAY_SIZES));
      return false;
    }
    if (this.#stocks[0] !== known) this.#stocks.reverse();
    if (known.ready.length === 0) this.#renew(known);
    return known.ready.length > 0 ||
      byteLength >= MIN_AWAITED_BYTES && this.#comingCount(byteLength) > 0;
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
    this.#renew(stock);
    return array;
  }

  /** Bytes of the arrays that are ready or asked for. */
  get byteLength(): number {
    return this.#stocks.reduce(
      (sum, { byteLength, ready }) =>
        sum + byteLength * (ready.length + this.#comingCount(byteLength)),
      0,
    );
  }

  /** Forgets the arrays that are ready, and those that are to come. */
  trim(): void {
    this.#keep([]);
    this.#receive();
  }

  /** Closes the ways. */
  dispose(): void {
    this.trim();
    for (const port of this.#ports) port.close();
    this.#ports = [];
  }

  #find(byteLength: number): Stock | undefined {
    return this.#stocks.find((stock) => stock.byteLength === byteLength);
  }

  /** Forgets all other sizes: a lane that has not begun an array of such a size makes an empty one. */
  #keep(stocks: Stock[]): void {
    this.#stocks = stocks;
    for (let at = 0; at < MAX_ARRAYS_ASKED; at++) {
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
    const end = performance.now() + waitForArray(stock.byteLength);
    while (
      stock.ready.length === 0 && this.#comingCount(stock.byteLength) > 0 &&
      performance.now() < end
    ) this.#receive();
  }

  /** Takes over what has come, and asks for as many arrays of a size as are missing. */
  #renew(stock: Stock): void {
    this.#receive();
    if (this.#ports.length === 0) return;
    const { byteLength, ready } = stock;
    const most = Math.min(MAX_ARRAYS_AHEAD, MAX_AHEAD_BYTES / MAX_ARRAY_SIZES / byteLength);
    const wanted = Math.floor(most) - ready.length - this.#comingCount(byteLength);
    const room = MAX_ARRAYS_ASKED - (this.#askedCount - this.#receivedCount);
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
    if (typeof sent !== "number") this.#find(sent.byteLength)?.ready.push(sent);
  }
}

/** Returns the word with the size of an array, by its number among those that were asked for. */
function placeOf(number: number): number {
  return CONTROL.arraySizes + (number & (MAX_ARRAYS_ASKED - 1));
}
