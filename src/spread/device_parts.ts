// An array on several devices: one typed buffer for each of them, filled and read together.

import { refuseIndicesOf } from "../buffers/array_habits.ts";
import type { DeviceAllocator, DeviceBuffer } from "../buffers/device_buffer.ts";
import type { Uploadable } from "../buffers/gpu_buffer.ts";
import { hostDestination, hostSource } from "../buffers/host_elements.ts";
import type { HostValues } from "../buffers/host_values.ts";
import { byteLengthOf, countOf, formatShape, type Shape } from "../buffers/shape.ts";
import { uploadSource } from "../buffers/upload_source.ts";
import {
  allocateBits,
  type ArrayOf,
  DTYPE,
  type DType,
  elementBytes,
  packLength,
  valuesIn,
} from "../dtype.ts";
import { bytesOf, type HostMemory, moving } from "../memory/host_memory.ts";
import { takeAfterCollection } from "../memory/out_of_memory.ts";
import { defaultStreamOf } from "../order/stream.ts";
import { ArrayPlace } from "../transfer/array_uses.ts";
import type { TransferOptions } from "../transfer/pending_transfer.ts";
import { PROGRESS_KINDS, TRANSFER_OPTIONS } from "../transfer/transfer_choice.ts";
import { DisposedError } from "../words/errors.ts";
import { formatBytes, formatCount } from "../words/format.ts";
import { OptionSet, SHAPE, TEXT } from "../words/options.ts";
import { Owned } from "../words/owned.ts";
import { comesFrom, Parts, partsOf } from "../words/parts.ts";
import { refuseCloning } from "../words/uncloneable.ts";
import { areLinked, handingOn, moveParts, type PartMove, settled } from "./move_parts.ts";
import {
  evenStarts,
  type PartsOptions,
  type Split,
  SPLIT_KINDS,
  splitArray,
  type SplitLayout,
} from "./split.ts";

/**
 * Way in which an array got to all devices: the host gave each of them all bytes (`"uploads"`), or
 * a share, which it then gave to the others (`"peers"`).
 */
export type ReplicateWay = "uploads" | "peers";

/** Handing on fewer bytes takes longer than uploading them again, as measured on two H200s. */
export const MIN_SHARED_BYTES = 4 * 2 ** 20;

/** The parts of {@link DeviceParts}. */
export interface DevicePartsFields<D extends DType> {
  readonly dtype: D;
  readonly shape: Shape;
  readonly layout: SplitLayout;
  readonly buffers: readonly DeviceBuffer<D>[];
  readonly label?: string | undefined;
  /** Number of the first buffer's part, if other processes have other parts; 0 by default. */
  readonly firstPart?: number;
}

/** Uploads into new parts, once the array's turn has come. */
export let fillParts: <D extends DType>(
  parts: DeviceParts<D>,
  source: Uploadable<D>,
  options: TransferOptions,
) => Promise<void>;

/**
 * An array over several devices, as {@link DeviceList.upload} returns it: a buffer on each device,
 * with a part of the array or all of it. Disposing it frees all of them.
 *
 * @example
 * ```ts
 * import { CudaDevice } from "vramkit";
 *
 * using gpus = CudaDevice.openMany([0, 1], { driver: "simulated" });
 * const matrix = new Float32Array([1, 2, 3, 4, 5, 6]);
 * using columns = await gpus.upload(matrix, { shape: [2, 3], split: 1 });
 * console.log(await columns.buffers[1]?.download()); // Float32Array(2) [3, 6]
 * console.log(await columns.download()); // Float32Array(6) [1, 2, 3, 4, 5, 6]
 * ```
 */
export class DeviceParts<D extends DType = DType> extends Owned
  implements Iterable<DeviceBuffer<D>> {
  /** Element type. */
  readonly dtype: D;
  /** Shape of the whole array. */
  readonly shape: Shape;
  /** The name it was made with; a tensor's is that of the file. */
  readonly label: string | undefined;
  /** Axis along which the array is split, or `"replicate"`. */
  readonly split: Split;
  /** Beginnings of the parts along the axis, including those of other processes. */
  readonly offsets: readonly number[];
  /** Number of the first buffer's part: 0 unless other processes have earlier parts. */
  readonly firstPart: number;
  readonly #layout: SplitLayout;
  readonly #buffers: readonly DeviceBuffer<D>[];
  #way: ReplicateWay | undefined;

  static {
    refuseIndicesOf(DeviceParts.prototype, "buffers");
    fillParts = (parts, source, options) => parts.#upload(source, options, { isPlaced: true });
  }

  /** @ignore Adopts buffers. */
  constructor(parts: Parts<DevicePartsFields<D>>) {
    super();
    const { dtype, shape, layout, buffers, label, firstPart = 0 } = partsOf(parts, new.target);
    refuseCloning(this);
    this.dtype = dtype;
    this.shape = shape;
    this.label = label;
    this.split = layout.split;
    this.offsets = layout.offsets;
    this.#layout = layout;
    this.#buffers = buffers;
    this.firstPart = firstPart;
  }

  /** The buffers, in the order of the devices, as the calls of a group take them. */
  get buffers(): readonly DeviceBuffer<D>[] {
    this.#requireUsable();
    return this.#buffers;
  }

  /** Number of buffers. */
  get length(): number {
    return this.#buffers.length;
  }

  /** Bytes of all buffers together. */
  get byteLength(): number {
    return this.#buffers.reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  /** The number of each buffer's device. */
  get ordinals(): readonly number[] {
    return this.#buffers.map(({ deviceOrdinal }) => deviceOrdinal);
  }

  /** The way by which the last upload gave each device the whole array; undefined for a split one. */
  get replicatedBy(): ReplicateWay | undefined {
    return this.#way;
  }

  /** Tells whether it was disposed, or its memory was. */
  get disposed(): boolean {
    return this.#buffers.every((buffer) => buffer.disposed);
  }

  /** Iterates over the buffers, in the order of the devices. */
  [Symbol.iterator](): ArrayIterator<DeviceBuffer<D>> {
    return this.buffers[Symbol.iterator]();
  }

  /**
   * Copies an array into the parts, over the links of all devices at once; resolves when the copy is
   * done. Pass the whole array, even if this process has only some of the parts. Later calls that use
   * the same memory come after it, awaited or not. After a failure the contents of the parts are
   * undefined.
   *
   * @throws TypeError when the array holds another element type, or is moved away meanwhile.
   * @throws RangeError when it is shorter or longer than the whole.
   */
  async upload(source: Uploadable<D>, options: TransferOptions = {}): Promise<this> {
    options = TRANSFER_OPTIONS.read(options, "upload");
    await this.#upload(source, options);
    return this;
  }

  /**
   * Copies the parts into a new typed array of the whole (small floats as Float32Array), over the links of
   * all devices at once; it shows the effects of all earlier calls. If each device has the whole
   * array, each gives a share of it.
   *
   * @throws TypeError when other processes have the other parts.
   */
  download(destination?: undefined, options?: TransferOptions): Promise<ArrayOf<D>>;
  /** Copies the parts into `destination`, which has room for the whole, and resolves with it. */
  download<T extends Uploadable<D>>(destination: T, options?: TransferOptions): Promise<T>;
  /** Copies the parts into `destination`, or into a new typed array, and resolves with it. */
  download<T extends Uploadable<D>>(
    destination: T | undefined,
    options?: TransferOptions,
  ): Promise<T | ArrayOf<D>>;
  async download(destination?: HostMemory, options: TransferOptions = {}): Promise<HostMemory> {
    options = TRANSFER_OPTIONS.read(options, "download");
    this.#requireUsable();
    this.#requireAll();
    const { dtype } = this;
    const length = countOf(this.shape);
    const host = destination ?? allocateBits<DType>(dtype, length);
    const { convert } = hostDestination({ dtype, length }, host, moving("download from", this));
    const memory = bytesOf(host, "download");
    const isWide = convert !== undefined;
    const moves = this.split === "replicate" ? this.#shares : this.#moves;
    await moveParts({ ...options, direction: "download", dtype, memory, isWide, moves });
    if (destination !== undefined) return destination;
    return valuesIn<DType>(dtype, host as never);
  }

  /** Frees all buffers, once the devices are done with them. A second call does nothing. */
  dispose(): void {
    for (const buffer of this.#buffers) buffer.dispose();
  }

  /** Returns its name for messages: `DeviceParts(weights, float32[8, 4] along axis 0, 2 devices)`. */
  override toString(): string {
    const { dtype, shape, split, length, label } = this;
    const name = label === undefined ? "" : `${label}, `;
    const how = split === "replicate" ? "on each of" : `along axis ${split},`;
    const where = this.#hasAll ? formatCount(length, "device") : this.#ownPart;
    return `DeviceParts(${name}${formatShape(dtype, shape)} ${how} ${where})`;
  }

  /** Returns the text that the console shows. */
  [Symbol.for("Deno.customInspect")](): string {
    return `${this}${this.disposed ? " disposed" : ` ${formatBytes(this.byteLength)}`}`;
  }

  async #upload(
    source: Uploadable<D>,
    options: TransferOptions,
    { isPlaced }: { readonly isPlaced?: boolean } = {},
  ): Promise<void> {
    this.#requireUsable();
    const { dtype } = this;
    const length = countOf(this.shape);
    const whole = hostSource({ dtype, length }, source, moving("upload to", this));
    const { memory } = whole;
    const isWide = whole.convert !== undefined;
    const task = { ...options, direction: "upload", dtype, memory, isWide, isPlaced } as const;
    if (this.split !== "replicate") return await moveParts({ ...task, moves: this.#moves });
    const canShare = this.#canShare;
    this.#way = canShare ? "peers" : "uploads";
    await moveParts({ ...task, moves: canShare ? this.#sharing : this.#moves });
    if (canShare) await settled(this.#buffers);
  }

  get #moves(): readonly PartMove[] {
    return this.#buffers.flatMap((buffer, part) => {
      const rows = this.#layout.parts[this.firstPart + part]?.rows;
      return rows === undefined ? [] : [{ buffer, rows }];
    });
  }

  /** The moves of a share of the whole for each device. */
  get #shares(): readonly PartMove[] {
    const length = countOf(this.shape);
    const packed = packLength(this.dtype);
    const starts = evenStarts(length / packed, this.length);
    return this.#buffers.map((whole, part) => {
      const [offset = 0, end = length] = [starts[part], starts[part + 1]]
        .map((start) => start === undefined ? undefined : start * packed);
      const rows = { offset, length: end - offset, pitch: end - offset, rowCount: 1 };
      return { buffer: whole.subarray(offset, end), rows };
    });
  }

  /** The same moves, each of which hands its share on to the other devices when it has arrived. */
  get #sharing(): readonly PartMove[] {
    const bytes = elementBytes(this.dtype);
    return this.#shares.map((move, rank) => {
      const { buffer: { byteLength }, rows } = move;
      const share = { rank, offset: rows.offset * bytes, byteLength };
      return { ...move, andThen: handingOn(this.#buffers, share) };
    });
  }

  /** Tells whether each device can give its share to the other ones over direct links. */
  get #canShare(): boolean {
    if (this.length < 2 || byteLengthOf(this.dtype, this.shape) < MIN_SHARED_BYTES) {
      return false;
    }
    return areLinked(this.#buffers);
  }

  /** Tells whether the whole is in this process. */
  get #hasAll(): boolean {
    return this.split === "replicate" || this.length === this.offsets.length;
  }

  get #ownPart(): string {
    return `part ${this.firstPart} of ${this.offsets.length}`;
  }

  #requireAll(): void {
    if (this.#hasAll) return;
    throw new TypeError(
      `Cannot download from ${this}: other processes have the other parts; download this one with ` +
        `buffers[0].download(), or gather them on the devices with the group`,
    );
  }

  #requireUsable(): void {
    if (this.disposed) throw new DisposedError(this.toString());
  }
}

comesFrom(DeviceParts, "gpus.upload() and gpus.loadSafetensors()");

/** Options for {@link DeviceList.upload}. */
export interface UploadPartsOptions<D extends DType> extends PartsOptions, TransferOptions {
  /** Element type; that of the array by default. */
  readonly dtype?: D | undefined;
  /** Size of each axis of the whole; one axis by default. */
  readonly shape?: number | Shape | undefined;
  /** Name of the buffers, shown in tables, errors and plots. */
  readonly label?: string | undefined;
}

const UPLOAD_PARTS: OptionSet<UploadPartsOptions<DType>> = new OptionSet({
  ...SPLIT_KINDS,
  ...PROGRESS_KINDS,
  dtype: DTYPE,
  shape: SHAPE,
  label: TEXT,
});

/** Uploads an array to several devices; see {@link DeviceList.upload}. */
export async function uploadParts<D extends DType>(
  gpus: readonly DeviceAllocator[],
  source: HostMemory | HostValues,
  options: UploadPartsOptions<D> = {},
): Promise<DeviceParts<D>> {
  options = UPLOAD_PARTS.read(options, "upload");
  const { label, onProgress, signal } = options;
  const { array, dtype, shape } = uploadSource(source, options);
  const layout = splitArray({ dtype, shape, count: gpus.length }, options);
  signal?.throwIfAborted();
  using memory = new DisposableStack();
  using places = new DisposableStack();
  const buffers: DeviceBuffer<D>[] = [];
  let place: ArrayPlace | undefined;
  for (const [index, gpu] of gpus.entries()) {
    const part = layout.parts[index]?.shape ?? shape;
    let taken = takeAfterCollection(gpu.context, () => gpu.alloc(dtype, part, { label }));
    if (taken instanceof Promise) {
      // Calls that use the array meanwhile come after this upload, although it waits for memory.
      const bytes = bytesOf(array, "upload");
      place ??= places.use(
        new ArrayPlace([{ memory: bytes, access: "read" }], defaultStreamOf(gpu.context)),
      );
      taken = await taken;
    }
    buffers.push(memory.use(taken));
  }
  const parts = new DeviceParts(new Parts({ dtype, shape, layout, buffers, label }));
  if (place === undefined) await parts.upload(array, { onProgress, signal });
  else {
    await place.isFirst;
    await fillParts(parts, array, { onProgress, signal });
  }
  memory.move();
  return parts;
}
