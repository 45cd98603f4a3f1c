// Random work on arrays that are spread over several devices, beside the same work on plain arrays: parts
// of any size, uploads and downloads of which some are not awaited, work on single parts, and disposal
// at any time.

import { assertEquals, assertMatch } from "@std/assert";
import type { CudaDevice } from "../../src/device/device.ts";
import type { DeviceList } from "../../src/device/device_list.ts";
import type { DeviceParts } from "../../src/spread/device_parts.ts";
import { evenStarts, type Split } from "../../src/spread/split.ts";
import type { RandomRun } from "../support/random.ts";

/** Element types of one to eight bytes that hold small whole numbers. */
const TYPES = ["uint8", "int16", "float32", "float64"] as const;
type TypeName = (typeof TYPES)[number];

/** Lengths of an axis: none, one, fewer than devices, and some that nothing divides. */
const SIZES = [0, 1, 2, 3, 5, 16, 37];

/** More elements than this go through the ring, in the limits of the test. */
const LARGE_LENGTH = 3001;

/** A spread array, and what each of its parts must hold. */
interface Tracked {
  readonly parts: DeviceParts<TypeName>;
  readonly shape: readonly number[];
  readonly split: Split;
  /** Beginnings of the parts along the axis, and its end. */
  readonly bounds: readonly number[];
  /** The elements of each part. */
  values: number[][];
}

/** One program. */
export class SpreadProgram {
  readonly #gpus: DeviceList<CudaDevice>;
  readonly #run: RandomRun;
  readonly #tracked: Tracked[] = [];
  readonly #pending: Promise<unknown>[] = [];
  #next = 1;

  constructor(gpus: DeviceList<CudaDevice>, run: RandomRun) {
    this.#gpus = gpus;
    this.#run = run;
  }

  /** Does some steps, compares everything and disposes it. */
  async run(stepCount: number): Promise<void> {
    const steps = [
      () => this.#make(),
      () => this.#upload(),
      () => this.#upload(),
      () => this.#uploadAborted(),
      () => this.#download(),
      () => this.#download(),
      () => this.#fillPart(),
      () => this.#copyPart(),
      () => this.#dispose(),
    ];
    await this.#make();
    for (let step = 0; step < stepCount; step++) await this.#random.pick(steps)?.();
    for (const tracked of this.#tracked) await this.#compare(tracked);
    await Promise.all(this.#pending);
    for (const { parts } of this.#tracked) parts.dispose();
  }

  get #random() {
    return this.#run.random;
  }

  /** Uploads a new array, of any shape and by any axis, at places of the program's or the kit's. */
  async #make(): Promise<void> {
    const random = this.#random;
    const dtype = random.pick(TYPES) ?? "uint8";
    const shape = random.below(4) === 0
      ? [LARGE_LENGTH, 1 + random.below(3)]
      : Array.from({ length: 1 + random.below(3) }, () => random.pick(SIZES) ?? 0);
    const axis = random.below(shape.length);
    const split: Split = random.below(3) === 0 ? "replicate" : axis;
    const size = shape[axis] ?? 0;
    const isOwn = split !== "replicate" && random.below(2) === 0;
    const offsets = isOwn
      ? Array.from({ length: this.#count - 1 }, () => random.below(size + 1)).sort((a, b) => a - b)
      : undefined;
    const values = this.#numbers(lengthOf(shape));
    const isCounted = random.below(2) === 0 ? axis : axis - shape.length;
    this.#run.log.push(`upload ${dtype}[${shape}] by ${split} at ${offsets}`);
    const parts = await this.#gpus.upload(values, {
      dtype,
      shape,
      split: split === "replicate" ? split : isCounted,
      offsets,
    });
    const starts = offsets === undefined ? evenStarts(size, this.#count) : [0, ...offsets];
    const tracked = { parts, shape, split, bounds: [...starts, size], values: [] };
    this.#tracked.push(tracked);
    spread(tracked, values);
  }

  /** Uploads other values, and now and then waits for them. */
  async #upload(): Promise<void> {
    const tracked = this.#pick();
    if (tracked === undefined) return;
    const values = this.#numbers(lengthOf(tracked.shape));
    this.#run.log.push(`upload into ${tracked.parts}`);
    const uploading = tracked.parts.upload(arrayOf(tracked.parts, values));
    spread(tracked, values);
    await this.#mayWait(uploading);
  }

  /** Aborts an upload while it is under way, and uploads again. */
  async #uploadAborted(): Promise<void> {
    const tracked = this.#pick();
    if (tracked === undefined) return;
    const abort = new AbortController();
    this.#run.log.push(`upload into ${tracked.parts}, aborted`);
    const { parts, shape } = tracked;
    const array = arrayOf(parts, this.#numbers(lengthOf(shape)));
    const uploading = parts.upload(array, { signal: abort.signal });
    if (this.#random.below(2) === 0) await Promise.resolve();
    abort.abort(new Error("as the test wants it"));
    const values = this.#numbers(lengthOf(shape));
    const again = parts.upload(arrayOf(parts, values));
    spread(tracked, values);
    this.#pending.push(uploading.catch((error) => assertMatch(String(error), /as the test wants/)));
    await this.#mayWait(again);
  }

  /** Downloads into a new array or one of the program's, and now and then waits for it. */
  async #download(): Promise<void> {
    const tracked = this.#pick();
    if (tracked === undefined || isMixed(tracked)) return;
    const { parts, shape } = tracked;
    const expected = gathered(tracked);
    this.#run.log.push(`download from ${parts}`);
    const into = arrayOf(parts, new Array(lengthOf(shape)).fill(0));
    const downloading = this.#random.below(2) === 0 ? parts.download() : parts.download(into);
    const words = `${parts}`;
    await this.#mayWait(downloading.then((found) => assertEquals([...found], expected, words)));
  }

  #fillPart(): void {
    const tracked = this.#pick();
    const part = this.#random.below(this.#count);
    const value = this.#random.below(100);
    this.#run.log.push(`fill part ${part} of ${tracked?.parts}`);
    tracked?.parts.buffers[part]?.fill(value as never);
    tracked?.values[part]?.fill(value);
  }

  /** Copies a part of one array over a part of another that is as long, on the same device or not. */
  #copyPart(): void {
    const [to, from] = [this.#pick(), this.#pick()];
    if (to === undefined || from === undefined || to === from) return;
    if (to.parts.dtype !== from.parts.dtype) return;
    const [part, other] = [this.#random.below(this.#count), this.#random.below(this.#count)];
    if (to.values[part]?.length !== from.values[other]?.length) return;
    const [target, source] = [to.parts.buffers[part], from.parts.buffers[other]];
    if (target === undefined || source === undefined) return;
    this.#run.log.push(`copy part ${other} of ${from.parts} to part ${part} of ${to.parts}`);
    target.copyFrom(source);
    to.values[part] = [...from.values[other] ?? []];
  }

  /** Disposes an array, with whatever is under way. */
  #dispose(): void {
    const tracked = this.#pick();
    if (tracked === undefined) return;
    this.#run.log.push(`dispose ${tracked.parts}`);
    tracked.parts.dispose();
    this.#tracked.splice(this.#tracked.indexOf(tracked), 1);
  }

  async #compare({ parts, values }: Tracked): Promise<void> {
    for (const [part, buffer] of parts.buffers.entries()) {
      assertEquals([...await buffer.download()], values[part], `part ${part} of ${parts}`);
    }
  }

  async #mayWait(work: Promise<unknown>): Promise<void> {
    this.#pending.push(work);
    work.catch(() => {}); // told at the end
    if (this.#random.below(3) === 0) await work;
  }

  /** Numbers that no array had before. */
  #numbers(length: number): number[] {
    return Array.from({ length }, () => this.#next++ % 101);
  }

  #pick(): Tracked | undefined {
    return this.#random.pick(this.#tracked);
  }

  get #count(): number {
    return this.#gpus.length;
  }
}

/** Writes the values of the whole into the parts of the model. */
function spread(tracked: Tracked, whole: readonly number[]): void {
  const { shape, split, bounds } = tracked;
  const count = bounds.length - 1;
  if (split === "replicate") {
    tracked.values = Array.from({ length: count }, () => [...whole]);
    return;
  }
  tracked.values = Array.from({ length: count }, () => []);
  for (const [at, value] of whole.entries()) {
    tracked.values[partAt(at, { shape, axis: split, bounds })]?.push(value);
  }
}

/** Reads the whole from the parts of the model. */
function gathered({ shape, split, bounds, values }: Tracked): number[] {
  if (split === "replicate") return [...values[0] ?? []];
  const taken = values.map(() => 0);
  return Array.from({ length: lengthOf(shape) }, (_, at) => {
    const part = partAt(at, { shape, axis: split, bounds });
    return values[part]?.[(taken[part] = (taken[part] ?? 0) + 1) - 1] ?? 0;
  });
}

/** Returns the part that has an element of the whole. */
function partAt(
  at: number,
  { shape, axis, bounds }: {
    readonly shape: readonly number[];
    readonly axis: number;
    readonly bounds: readonly number[];
  },
): number {
  const index = Math.floor(at / lengthOf(shape.slice(axis + 1))) % (shape[axis] ?? 1);
  return bounds.findLastIndex((start, part) => start <= index && part < bounds.length - 1);
}

/** Returns whether the devices have different wholes, of which a download takes shares. */
function isMixed({ split, values: [first, ...others] }: Tracked): boolean {
  return split === "replicate" && others.some((values) => `${values}` !== `${first}`);
}

function lengthOf(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

/** An array of the parts' element type. */
function arrayOf({ dtype }: DeviceParts<TypeName>, values: readonly number[]) {
  const kinds = {
    uint8: Uint8Array,
    int16: Int16Array,
    float32: Float32Array,
    float64: Float64Array,
  };
  return new kinds[dtype](values) as never as Float32Array<ArrayBuffer>;
}
