// Random work on buffers beside the same work on plain arrays, which say what must come out.
// Two devices, three streams each; every block is bytes, its views share the block's bytes.

import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import type { TransferableBuffer } from "../../src/buffers/transferable_buffer.ts";
import type { CudaDevice } from "../../src/device.ts";
import { DisposedError } from "../../src/errors.ts";
import type { CudaStream } from "../../src/stream.ts";
import type { Random } from "../support/random.ts";

/** A device and the streams to use it on. */
export interface Place {
  readonly gpu: CudaDevice;
  readonly streams: readonly CudaStream[];
}

/** A buffer or view, and the bytes that must be in it. */
interface Tracked {
  readonly buffer: TransferableBuffer<"uint8">;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly place: Place;
  /** Number of its block. */
  readonly block: number;
  readonly isOwner: boolean;
}

const MOST_BYTES = 96;

/** One sequence of random work. */
export class BufferSequence {
  readonly #random: Random;
  readonly #places: readonly Place[];
  #tracked: Tracked[] = [];
  #blockCount = 0;

  /** Starts with nothing allocated. */
  constructor(random: Random, places: readonly Place[]) {
    this.#random = random;
    this.#places = places;
  }

  /** Does `stepCount` random things, compares all contents, and disposes everything. */
  async run(stepCount: number): Promise<void> {
    const steps = [
      () => this.#allocate(),
      () => this.#allocate(),
      () => this.#view(),
      () => this.#view(),
      () => this.#fill(),
      () => this.#copy(),
      () => this.#copy(),
      () => this.#copyTransposed(),
      () => this.#fillColumn(),
      () => this.#slice(),
      () => this.#upload(),
      () => this.#setOne(),
      () => this.#readOne(),
      () => this.#dispose(),
      () => this.#compareOne(),
    ];
    for (let step = 0; step < stepCount; step++) await this.#random.pick(steps)?.();
    for (const tracked of this.#tracked) await this.#compare(tracked);
    for (const { buffer } of this.#tracked) buffer.dispose();
  }

  #allocate(): void {
    const place = this.#random.pick(this.#places);
    if (place === undefined) return;
    const length = this.#random.below(MOST_BYTES);
    const stream = this.#streamOf(place);
    const isPinned = this.#random.below(4) === 0;
    const buffer = isPinned
      ? place.gpu.pinned("uint8", length, { stream }).clear({ stream })
      : place.gpu.zeros("uint8", length, { stream });
    this.#own({ buffer, bytes: new Uint8Array(length), place });
  }

  #view(): void {
    const parent = this.#pick();
    if (parent === undefined) return;
    const { start, end } = this.#range(parent.buffer.length);
    const buffer = parent.buffer.subarray(start, end);
    this.#tracked.push({
      ...parent,
      buffer,
      bytes: parent.bytes.subarray(start, end),
      isOwner: false,
    });
  }

  #fill(): void {
    const tracked = this.#pick();
    if (tracked === undefined) return;
    const value = this.#random.below(256);
    tracked.buffer.fill(value, { stream: this.#streamOf(tracked.place) });
    tracked.bytes.fill(value);
  }

  #copy(): void {
    const [from, to] = [this.#pick(), this.#pick()];
    if (from === undefined || to === undefined) return;
    const length = this.#random.below(Math.min(from.bytes.length, to.bytes.length) + 1);
    const [start, target] = [
      this.#random.below(from.bytes.length - length + 1),
      this.#random.below(to.bytes.length - length + 1),
    ];
    const source = from.buffer.subarray(start, start + length);
    const destination = to.buffer.subarray(target, target + length);
    const stream = this.#streamBetween(from, to);
    const distance = Math.abs(destination.byteOffset - source.byteOffset);
    if (from.block === to.block && distance < length) {
      assertThrows(() => destination.copyFrom(source, { stream }), RangeError, "onto themselves");
      return;
    }
    destination.copyFrom(source, { stream });
    to.bytes.set(from.bytes.subarray(start, start + length), target);
  }

  /** Copies a block of rows and columns with its axes exchanged. */
  #copyTransposed(): void {
    const [from, to] = [this.#pick(), this.#pick()];
    if (from === undefined || to === undefined || from.block === to.block) return;
    const [rows, columns] = [1 + this.#random.below(6), 1 + this.#random.below(6)];
    const count = rows * columns;
    if (from.bytes.length < count || to.bytes.length < count) return;
    const stream = this.#streamBetween(from, to);
    const source = from.buffer.subarray(0, count).reshape([rows, columns]).transpose();
    to.buffer.subarray(0, count).reshape([columns, rows]).copyFrom(source, { stream });
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++) {
        to.bytes[column * rows + row] = from.bytes[row * columns + column] ?? 0;
      }
    }
  }

  /** Fills elements at a distance. */
  #fillColumn(): void {
    const tracked = this.#pick();
    if (tracked === undefined) return;
    const [step, value] = [1 + this.#random.below(5), this.#random.below(256)];
    const stream = this.#streamOf(tracked.place);
    const { length } = tracked.bytes;
    const isBackwards = this.#random.below(2) === 0;
    const range = { step: isBackwards ? -step : step };
    tracked.buffer.strided().range(0, range).fill(value, { stream });
    for (let at = 0; at < length; at += step) {
      tracked.bytes[isBackwards ? length - 1 - at : at] = value;
    }
  }

  #slice(): void {
    const tracked = this.#pick();
    if (tracked === undefined) return;
    const { start, end } = this.#range(tracked.bytes.length);
    const stream = this.#streamOf(tracked.place);
    const buffer = tracked.buffer.slice(start, end, { stream });
    this.#own({ buffer, bytes: tracked.bytes.slice(start, end), place: tracked.place });
  }

  async #upload(): Promise<void> {
    const tracked = this.#pick();
    if (tracked === undefined) return;
    const bytes = Uint8Array.from(tracked.bytes, () => this.#random.below(256));
    await tracked.buffer.upload(bytes, { stream: this.#streamOf(tracked.place) });
    tracked.bytes.set(bytes);
  }

  async #setOne(): Promise<void> {
    const tracked = this.#pick();
    if (tracked === undefined || tracked.bytes.length === 0) return;
    const [index, value] = [this.#random.below(tracked.bytes.length), this.#random.below(256)];
    await tracked.buffer.setAt(index, value, { stream: this.#streamOf(tracked.place) });
    tracked.bytes[index] = value;
  }

  async #readOne(): Promise<void> {
    const tracked = this.#pick();
    if (tracked === undefined || tracked.bytes.length === 0) return;
    const index = this.#random.below(tracked.bytes.length);
    const stream = this.#streamOf(tracked.place);
    assertEquals(await tracked.buffer.at(index, { stream }), tracked.bytes[index]);
  }

  /** Disposes a buffer with all its views, or a view alone; what is gone must say so. */
  async #dispose(): Promise<void> {
    const gone = this.#pick();
    if (gone === undefined) return;
    gone.buffer.dispose();
    const isGone = (other: Tracked) =>
      gone.isOwner ? other.block === gone.block : other.buffer === gone.buffer;
    for (const { buffer } of this.#tracked.filter(isGone)) {
      assertThrows(() => buffer.fill(0), DisposedError);
      await assertRejects(() => buffer.download(), DisposedError);
    }
    this.#tracked = this.#tracked.filter((other) => !isGone(other));
  }

  async #compareOne(): Promise<void> {
    const tracked = this.#pick();
    if (tracked !== undefined) await this.#compare(tracked);
  }

  async #compare({ buffer, bytes, place }: Tracked): Promise<void> {
    assertEquals(await buffer.download(undefined, { stream: this.#streamOf(place) }), bytes);
  }

  #own(made: Pick<Tracked, "buffer" | "bytes" | "place">): void {
    this.#tracked.push({ ...made, block: this.#blockCount++, isOwner: true });
  }

  #pick(): Tracked | undefined {
    return this.#random.pick(this.#tracked);
  }

  #streamOf({ streams, gpu }: Place): CudaStream {
    return this.#random.pick(streams) ?? gpu.stream;
  }

  /** A stream that may do a copy: one of a device that has the memory, for host memory of any. */
  #streamBetween(from: Tracked, to: Tracked): CudaStream {
    const ends = [from, to];
    const onDevices = ends.filter(({ buffer }) => !buffer.isHostAccessible);
    const end = this.#random.pick(onDevices.length > 0 ? onDevices : ends) ?? to;
    return this.#streamOf(end.place);
  }

  #range(length: number): { start: number; end: number } {
    const start = this.#random.below(length + 1);
    return { start, end: start + this.#random.below(length - start + 1) };
  }
}
