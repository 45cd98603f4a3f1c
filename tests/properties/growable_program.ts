// Random work on a growable buffer beside the same work on a plain array: it grows and shrinks while views
// of views exist, while streams and graphs use it, and while the device has no memory.

import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import type { CudaDevice, CudaGraph, CudaStream, GrowableBuffer } from "../../mod.ts";
import type { RandomRun } from "../support/random.ts";

/** Bytes that are mapped at a time. */
const STEP_BYTES = 2 * 2 ** 20;

const MAX_STEPS = 4;

/** A view, and where it begins in its buffer. */
interface View {
  readonly buffer: GrowableBuffer<"uint8">;
  readonly start: number;
}

/** A graph that fills bytes, and the size of the buffer's memory when it was recorded. */
interface Recorded {
  readonly graph: CudaGraph;
  readonly start: number;
  /** The end at the time of the recording: the buffer itself may be longer or shorter later. */
  readonly end: number;
  readonly capacityBytes: number;
}

/** One program. */
export class GrowableProgram {
  readonly #gpu: CudaDevice;
  readonly #run: RandomRun;
  readonly #whole: GrowableBuffer<"uint8">;
  readonly #streams: CudaStream[];
  readonly #views: View[] = [];
  readonly #graphs: Recorded[] = [];
  /** The bytes that must be there. */
  readonly #bytes = new Uint8Array(MAX_STEPS * STEP_BYTES);

  constructor(gpu: CudaDevice, run: RandomRun) {
    this.#gpu = gpu;
    this.#run = run;
    this.#whole = gpu.growable("uint8", { reserveSize: MAX_STEPS * STEP_BYTES });
    this.#streams = [gpu.stream, gpu.createStream()];
  }

  /** Does some steps, compares everything, and disposes it in any order. */
  async run(stepCount: number): Promise<void> {
    const steps = [
      () => this.#resize(),
      () => this.#resize(),
      () => this.#resizeInVain(),
      () => this.#shrinkToFit(),
      () => this.#reserve(),
      () => this.#view(),
      () => this.#view(),
      () => this.#fill(),
      () => this.#fill(),
      () => this.#copy(),
      () => this.#record(),
      () => this.#launch(),
      () => this.#launchAgain(),
      () => this.#disposeOne(),
      () => this.#compareView(),
    ];
    for (let step = 0; step < stepCount; step++) await this.#random.pick(steps)?.();
    await this.#compare({ buffer: this.#whole, start: 0 });
    const graphs = this.#graphs.map(({ graph }) => graph);
    const all = [this.#whole, ...this.#views.map(({ buffer }) => buffer), ...graphs];
    while (all.length > 0) all.splice(this.#random.below(all.length), 1)[0]?.dispose();
    this.#streams[1]?.dispose();
  }

  get #random() {
    return this.#run.random;
  }

  get #length(): number {
    return this.#whole.length;
  }

  /** Changes the length, and writes what is new. */
  #resize(): void {
    const former = this.#length;
    const length = this.#newLength();
    this.#note(`resize to ${length}`);
    this.#whole.resize(length);
    this.#write({ buffer: this.#whole.subarray(former), start: former });
  }

  /** Asks for more than there is, which changes nothing. */
  #resizeInVain(): void {
    const { length, capacityBytes } = this.#whole;
    this.#note("resize in vain");
    this.#gpu.limit("1 MiB");
    try {
      this.#whole.resize(Math.min(capacityBytes + 1, this.#bytes.length));
      this.#whole.resize(length);
    } catch (error) {
      assertMatch(String(error), /OutOfMemoryError/);
    }
    this.#gpu.limit(undefined);
    assertEquals([this.#whole.length, this.#whole.capacityBytes], [length, capacityBytes]);
  }

  /** Gives memory back, whatever graphs know the buffer. */
  #shrinkToFit(): void {
    this.#note("shrink to fit");
    this.#whole.shrinkToFit();
    assertEquals(this.#whole.capacityBytes, Math.ceil(this.#length / STEP_BYTES) * STEP_BYTES);
  }

  #reserve(): void {
    const length = this.#newLength();
    this.#note(`reserve ${length}`);
    this.#whole.reserve(length);
    assertEquals(this.#whole.capacityBytes >= length, true);
  }

  /** Shows a part of the buffer, or of a view. */
  #view(): void {
    const { buffer, start: first } = this.#pick();
    const { start, end } = this.#random.range(buffer.length);
    this.#note(`view ${first + start} to ${first + end}`);
    this.#views.push({ buffer: buffer.subarray(start, end), start: first + start });
  }

  #fill(): void {
    this.#write(this.#pick());
  }

  /** Copies one view over another that does not overlap it. */
  #copy(): void {
    const [to, from] = [this.#pick(), this.#pick()];
    const length = Math.min(to.buffer.length, from.buffer.length);
    if (length === 0 || Math.abs(to.start - from.start) < length) return;
    if (!this.#isThere(to) || !this.#isThere(from)) return;
    this.#note(`copy ${length} bytes from ${from.start} to ${to.start}`);
    const stream = this.#stream();
    to.buffer.subarray(0, length).copyFrom(from.buffer.subarray(0, length), { stream });
    this.#bytes.copyWithin(to.start, from.start, from.start + length);
  }

  /** Records a fill, which is launched at once. */
  #record(): void {
    const view = this.#pick();
    if (!this.#isThere(view)) return;
    this.#note(`record a fill from ${view.start}`);
    const graph = this.#gpu.capture((stream) => void view.buffer.fill(9, { stream }));
    graph.launch();
    const { start } = view;
    const end = start + view.buffer.length;
    this.#bytes.fill(9, start, end);
    this.#graphs.push({ graph, start, end, capacityBytes: this.#whole.capacityBytes });
  }

  /** Launches a graph of before, or has it refused while the buffer is smaller. */
  #launchAgain(): void {
    const recorded = this.#random.pick(this.#graphs);
    if (recorded === undefined) return;
    const { graph, start, end, capacityBytes } = recorded;
    this.#note(`launch the recorded fill from ${start}`);
    // A fill of nothing records nothing, and its graph does not know the buffer.
    if (end > start && this.#whole.capacityBytes < capacityBytes) {
      const words = "has shrunk to";
      return void assertThrows(() => graph.launch(), RangeError, words);
    }
    graph.launch({ stream: this.#stream() });
    this.#bytes.fill(9, start, end);
  }

  /** Launches graphs again, on another stream; what they write is what was written then. */
  #launch(): void {
    const view = this.#pick();
    if (!this.#isThere(view)) return;
    using graph = this.#gpu.capture((stream) => void view.buffer.fill(3, { stream }));
    this.#note(`launch a fill from ${view.start} twice`);
    graph.launch({ stream: this.#stream() });
    graph.launch({ stream: this.#stream() });
    this.#bytes.fill(3, view.start, view.start + view.buffer.length);
  }

  #disposeOne(): void {
    this.#note("dispose a view and a graph");
    this.#views.splice(this.#random.below(this.#views.length), 1)[0]?.buffer.dispose();
    this.#graphs.splice(this.#random.below(this.#graphs.length), 1)[0]?.graph.dispose();
  }

  /** Compares a view, or has it refused where its elements are gone. */
  async #compareView(): Promise<void> {
    const view = this.#pick();
    const end = view.start + view.buffer.length;
    if (end > this.#whole.capacityBytes) {
      const error = await view.buffer.download().then(() => undefined, (error) => error);
      assertMatch(String(error), /RangeError: Cannot use .* its buffer has shrunk to/);
    } else if (this.#isThere(view)) await this.#compare(view);
  }

  async #compare({ buffer, start }: View): Promise<void> {
    const found = await buffer.download();
    const expected = this.#bytes.subarray(start, start + buffer.length);
    const at = found.findIndex((value, index) => value !== expected[index]);
    assertEquals([at, found[at]], [-1, undefined], `byte ${start + at} of ${this.#whole}`);
  }

  #write(view: View): void {
    if (!this.#isThere(view)) return;
    const value = this.#random.below(256);
    this.#note(`fill from ${view.start} with ${value}`);
    view.buffer.fill(value, { stream: this.#stream() });
    this.#bytes.fill(value, view.start, view.start + view.buffer.length);
  }

  /** Whether all elements of a view are in use. */
  #isThere({ buffer, start }: View): boolean {
    return start + buffer.length <= this.#length;
  }

  /** A length that is often at a border of steps. */
  #newLength(): number {
    const border = this.#random.below(MAX_STEPS + 1) * STEP_BYTES;
    const beside = border + this.#random.below(2001) - 1000;
    return Math.min(Math.max(0, beside), this.#bytes.length);
  }

  #pick(): View {
    return this.#random.pick(this.#views) ?? { buffer: this.#whole, start: 0 };
  }

  #stream(): CudaStream {
    return this.#random.pick(this.#streams) ?? this.#gpu.stream;
  }

  #note(call: string): void {
    this.#run.log.push(call);
  }
}
