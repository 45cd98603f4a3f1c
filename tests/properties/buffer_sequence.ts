// Random work on buffers beside the same work on plain arrays, which say what must come out.
// Two devices, three streams each; every block is bytes, its views share the block's bytes.

import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import type { GpuBuffer } from "../../src/buffers/gpu_buffer.ts";
import type { CudaStream } from "../../src/order/stream.ts";
import { DisposedError } from "../../src/words/errors.ts";
import { allocateByGraph } from "../support/graph_buffer.ts";
import type { Random } from "../support/random.ts";
import type { MakeBuffer, Place } from "./places.ts";

/** A buffer or view, and the bytes that must be in it. */
interface Tracked {
  readonly buffer: GpuBuffer<"uint8">;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly place: Place;
  readonly block: number;
  readonly isOwner: boolean;
  /** Whether it knows its block by the address only. */
  readonly isBorrowed?: boolean;
}

/** Every kind of memory, device memory most of all. */
const KINDS: readonly MakeBuffer[] = [
  (gpu, length, stream) => gpu.alloc("uint8", length, { stream }),
  (gpu, length, stream) => gpu.zeros("uint8", length, { stream }),
  (gpu, length, stream) => gpu.alloc("uint8", length, { stream }),
  (gpu, length, stream) => allocateByGraph(gpu, { dtype: "uint8", shape: length, stream }),
  (gpu, length, stream) => gpu.lazy("uint8", length, { stream }),
  (gpu, length, stream) => gpu.pinned("uint8", length, { stream }),
  (gpu, length, stream) => gpu.mapped("uint8", length, { stream }),
  (gpu, length, stream) => gpu.managed("uint8", length, { stream }),
  (gpu, length, stream) => gpu.staged("uint8", length, { stream }),
  (gpu, length, stream) => gpu.growable("uint8", { shape: length, reserveSize: "2 MiB", stream }),
];

const MAX_BYTES = 96;

/** Where a part starts in its block, which all parts share. */
function placeIn({ bytes }: Tracked): number {
  return bytes.byteOffset;
}

/** One sequence of random work. */
export class BufferSequence {
  readonly #random: Random;
  readonly #places: readonly Place[];
  #tracked: Tracked[] = [];
  #blockCount = 0;

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
      () => this.#row(),
      () => this.#borrow(),
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
    for (const { buffer, isOwner } of this.#tracked.toReversed()) {
      if (!isOwner) buffer.dispose();
    }
    for (const { buffer } of this.#tracked) buffer.dispose();
  }

  #allocate(): void {
    const place = this.#random.pick(this.#places);
    if (place === undefined) return;
    const length = this.#random.below(MAX_BYTES);
    const make = this.#random.pick(KINDS);
    const stream = this.#streamOf(place);
    const buffer = make?.(place.gpu, length, stream).clear({ stream });
    if (buffer !== undefined) this.#own({ buffer, bytes: new Uint8Array(length), place });
  }

  #view(): void {
    const parent = this.#pick();
    if (parent === undefined || parent.isBorrowed) return;
    const { start, end } = this.#random.range(parent.buffer.length);
    const buffer = parent.buffer.subarray(start, end);
    this.#tracked.push({
      ...parent,
      buffer,
      bytes: parent.bytes.subarray(start, end),
      isOwner: false,
    });
  }

  /** Shows one row of a part with two axes. */
  #row(): void {
    const parent = this.#pick();
    if (parent === undefined || parent.isBorrowed) return;
    const columns = 1 + this.#random.below(8);
    const rows = Math.floor(parent.bytes.length / columns);
    if (rows === 0) return;
    const row = this.#random.below(rows);
    const whole = parent.buffer.subarray(0, rows * columns).reshape([rows, columns]);
    const buffer = whole.view(this.#random.below(2) === 0 ? row : row - rows);
    const bytes = parent.bytes.subarray(row * columns, (row + 1) * columns);
    this.#tracked.push({ ...parent, buffer, bytes, isOwner: false });
  }

  /** Shows a part by its address, which keeps its order with all else that shows the block. */
  #borrow(): void {
    const parent = this.#pick();
    if (parent === undefined) return;
    const { start, end } = this.#random.range(parent.bytes.length);
    const part = parent.buffer.subarray(start, end);
    const buffer = parent.place.gpu.fromHandle(part.ptr, part.byteLength);
    const bytes = parent.bytes.subarray(start, end);
    this.#tracked.push({ ...parent, buffer, bytes, isOwner: false, isBorrowed: true });
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
    const distance = Math.abs(placeIn(to) + target - placeIn(from) - start);
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
    if (tracked === undefined || tracked.isBorrowed) return;
    const { start, end } = this.#random.range(tracked.bytes.length);
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
    const isGone = (other: Tracked) =>
      gone.isOwner ? other.block === gone.block : other.buffer === gone.buffer;
    for (const other of this.#tracked) {
      if (other.isBorrowed && isGone(other)) other.buffer.dispose(); // the block cannot end it
    }
    gone.buffer.dispose();
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
}
