// An array on several devices: one typed buffer for each of them, filled and read together.

import { refuseIndicesOf } from "../buffers/array_habits.ts";
import type { DeviceBuffer } from "../buffers/device_buffer.ts";
import type { Uploadable } from "../buffers/gpu_buffer.ts";
import { hostDestination, hostSource } from "../buffers/host_elements.ts";
import { byteLengthOf, countOf, formatShape, type Shape } from "../buffers/shape.ts";
import { allocateBits, type ArrayOf, type DType, elementBytes, fromBfloat16 } from "../dtype.ts";
import { bytesOf, type HostMemory, Moving } from "../memory/host_memory.ts";
import type { TransferOptions } from "../transfer/pending_transfer.ts";
import { TRANSFER_OPTIONS } from "../transfer/transfer_choice.ts";
import { DisposedError } from "../words/errors.ts";
import { formatBytes, formatCount } from "../words/format.ts";
import { Owned } from "../words/owned.ts";
import { comesFrom, type Parts, partsOf } from "../words/parts.ts";
import { refuseCloning } from "../words/uncloneable.ts";
import { areLinked, handingOn, settled } from "./hand_on.ts";
import { moveParts, type PartMove } from "./move_parts.ts";
import { evenStarts, type Split, type SplitLayout } from "./split.ts";

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

  /** Whether it was disposed, or its memory was. */
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
   * Copies the parts into a new typed array of the whole (bfloat16 as Float32Array), over the links of
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
    const { convert } = hostDestination({ dtype, length }, host, new Moving("download from", this));
    const memory = bytesOf(host, "download");
    const isWide = convert !== undefined;
    const moves = this.split === "replicate" ? this.#shares : this.#moves;
    await moveParts({ ...options, direction: "download", dtype, memory, isWide, moves });
    if (destination !== undefined) return destination;
    return host instanceof Uint16Array && dtype === "bfloat16" ? fromBfloat16(host) : host;
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
    const whole = hostSource({ dtype, length }, source, new Moving("upload to", this));
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
    const starts = evenStarts(length, this.length);
    return this.#buffers.map((whole, part) => {
      const [offset = 0, end = length] = [starts[part], starts[part + 1]];
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

  /** Whether each device can give its share to the others over direct links. */
  get #canShare(): boolean {
    if (this.length < 2 || byteLengthOf(this.dtype, this.shape) < MIN_SHARED_BYTES) {
      return false;
    }
    return areLinked(this.#buffers);
  }

  /** Whether the whole is in this process. */
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
