// The kinds of memory beside plain device memory that a device hands out, one method a kind.

import type { Context } from "../context.ts";
import { DTYPE, type DType, type DTypeOf, type HostArray } from "../dtype.ts";
import { ManagedMemoryResource } from "../memory/managed_memory_resource.ts";
import {
  MappedHostMemoryResource,
  type MappedMemoryOptions,
} from "../memory/mapped_host_memory_resource.ts";
import { type MemoryResource, RESOURCE } from "../memory/memory_resource.ts";
import { VirtualMemoryResource } from "../memory/virtual_memory_resource.ts";
import { FLAG, OptionSet, SHAPE, SIZE, TEXT } from "../options.ts";
import type { CudaStream } from "../stream.ts";
import { STREAM, streamOn } from "../stream_choice.ts";
import type { HostMemory } from "../transfer/host_memory.ts";
import { ALLOCATE_KINDS, ALLOCATE_OPTIONS, type AllocateOptions } from "./device_allocator.ts";
import { downloadPinned } from "./download_pinned.ts";
import type { GpuBuffer } from "./gpu_buffer.ts";
import { GrowableBuffer, type GrowableOptions } from "./growable_buffer.ts";
import { LazyBuffer } from "./lazy_buffer.ts";
import { ManagedBuffer } from "./managed_buffer.ts";
import { MappedBuffer } from "./mapped_buffer.ts";
import type { PinnedBuffer } from "./pinned_buffer.ts";
import { PitchedBuffer } from "./pitched_buffer.ts";
import { RegisteredBuffer, type RegisterOptions } from "./registered_buffer.ts";
import type { Shape } from "./shape.ts";
import { StagedBuffer } from "./staged_buffer.ts";
import type { StridedView } from "./strided_view.ts";

/** Options for allocating memory that only one resource can provide. */
export interface PlaceOptions {
  /**
   * Stream that uses the memory first and on which it is freed; the device's default stream by
   * default.
   */
  readonly stream?: CudaStream | undefined;
  /** Name shown in tables, errors and plots. */
  readonly label?: string | undefined;
}

const PLACE_KINDS = { stream: STREAM, label: TEXT } as const;
const PLACE_OPTIONS = new OptionSet<PlaceOptions>(PLACE_KINDS);

/** Options for allocating a staged buffer. */
export interface StagedOptions extends AllocateOptions {
  /** Resource that allocates the page-locked half; the device's default one when left out. */
  readonly pinnedResource?: MemoryResource | undefined;
}

const STAGED_OPTIONS = new OptionSet<StagedOptions>({
  ...ALLOCATE_KINDS,
  pinnedResource: RESOURCE,
});

/** Options for allocating a mapped buffer. */
export interface MappedOptions extends PlaceOptions, MappedMemoryOptions {}

const MAPPED_OPTIONS = new OptionSet<MappedOptions>({
  ...PLACE_KINDS,
  portable: FLAG,
  writeCombined: FLAG,
});

const GROWABLE_OPTIONS = new OptionSet<GrowableOptions>({
  ...PLACE_KINDS,
  reserveSize: SIZE,
  stepSize: SIZE,
  shape: SHAPE,
});

const REGISTER_OPTIONS = new OptionSet<RegisterOptions<DType>>({
  ...PLACE_KINDS,
  dtype: DTYPE,
  shape: SHAPE,
  portable: FLAG,
  readOnly: FLAG,
});

/**
 * The part of {@link CudaDevice} that allocates every kind of buffer except plain device memory.
 */
export abstract class BufferKinds {
  /** The context of the device. */
  abstract readonly context: Context;
  /** The device's number, counted from 0. */
  abstract readonly ordinal: number;
  /** The default stream, used by every call that names no other. */
  abstract readonly stream: CudaStream;
  /** Resource that allocates device memory when a call names none. */
  abstract readonly memoryResource: MemoryResource;
  /** Resource that allocates page-locked memory when a call names none. */
  abstract readonly pinnedMemoryResource: MemoryResource;

  /**
   * Allocates device memory with a page-locked mirror on the host. Write to `contents`, `push()`,
   * let the GPU work, `await pull()`, and read `contents`.
   *
   * @example
   * ```ts
   * import { CudaDevice } from "vramkit";
   *
   * using gpu = CudaDevice.open(0, { driver: "auto" });
   * using staged = gpu.staged("float32", 4);
   * staged.contents.set([1, 2, 3, 4]);
   * staged.push(); // queued; await it to wait as well
   * staged.subarray(0, 2).fill(0);
   * await staged.pull();
   * console.log(staged.contents); // Float32Array(4) [0, 0, 3, 4]
   * ```
   */
  staged<D extends DType>(
    dtype: D,
    shape: number | Shape,
    options: StagedOptions = {},
  ): StagedBuffer<D> {
    STAGED_OPTIONS.read(options, "staged");
    const { resource = this.memoryResource, pinnedResource = this.pinnedMemoryResource } = options;
    const place = this.place(options);
    return StagedBuffer.allocate({ dtype, shape, resource, pinnedResource, ...place });
  }

  /**
   * Allocates page-locked host memory that the GPU uses in place: `array` and `ptr` are the same bytes.
   *
   * @example
   * ```ts
   * import { CudaDevice } from "vramkit";
   *
   * using gpu = CudaDevice.open(0, { driver: "auto" });
   * using flags = gpu.mapped("uint32", 256);
   * flags.fill(7); // the GPU writes where the host reads
   * await gpu.synchronize();
   * console.log(flags.array[255]); // 7
   * ```
   */
  mapped<D extends DType>(
    dtype: D,
    shape: number | Shape,
    options: MappedOptions = {},
  ): MappedBuffer<D> {
    const { portable, writeCombined } = MAPPED_OPTIONS.read(options, "mapped");
    const resource = new MappedHostMemoryResource(this, { portable, writeCombined });
    return MappedBuffer.allocate({ dtype, shape, resource, ...this.place(options) });
  }

  /**
   * Allocates managed memory, whose pages migrate to where they are used.
   *
   * @example
   * ```ts
   * import { CudaDevice } from "vramkit";
   *
   * using gpu = CudaDevice.open(0, { driver: "auto" });
   * using values = gpu.managed("float64", 1000);
   * values.array.fill(1);
   * values.advise("readMostly").prefetch(gpu);
   * values.subarray(0, 10).prefetch("host");
   * console.log(values.advice.readMostly); // true
   * ```
   */
  managed<D extends DType>(
    dtype: D,
    shape: number | Shape,
    options: AllocateOptions = {},
  ): ManagedBuffer<D> {
    const { resource = new ManagedMemoryResource(this) } = ALLOCATE_OPTIONS.read(
      options,
      "managed",
    );
    return ManagedBuffer.allocate({ dtype, shape, resource, ...this.place(options) });
  }

  /**
   * Copies elements into page-locked memory from a pool that the device keeps, at the full speed of
   * the bus. Resolves when the result's `array` holds them. Dispose the result to return its memory
   * to the pool.
   *
   * @example
   * ```ts
   * import { CudaDevice } from "vramkit";
   *
   * using gpu = CudaDevice.open(0, { driver: "auto" });
   * using x = await gpu.upload(new Float32Array([1, 2, 3]));
   * using host = await gpu.downloadPinned(x);
   * console.log(host.array); // Float32Array(3) [1, 2, 3]
   * ```
   */
  async downloadPinned<D extends DType>(
    source: GpuBuffer<D> | StridedView<D>,
    options: AllocateOptions = {},
  ): Promise<PinnedBuffer<D>> {
    return await downloadPinned(source, ALLOCATE_OPTIONS.read(options, "downloadPinned"));
  }

  /**
   * Reserves addresses for device memory that grows and shrinks without moving.
   *
   * @example
   * ```ts
   * import { CudaDevice } from "vramkit";
   *
   * using gpu = CudaDevice.open(0, { driver: "auto" });
   * using cache = gpu.growable("uint8", { reserveSize: "1 GiB" });
   * cache.grow("4 MiB").fill(0);
   * const { address } = cache;
   * cache.grow("4 MiB"); // the first 4 MiB are where they were
   * console.log(cache.address === address, cache.capacityBytes); // true 8388608
   * cache.shrink("6 MiB");
   * ```
   */
  growable<D extends DType>(dtype: D, options: GrowableOptions = {}): GrowableBuffer<D> {
    GROWABLE_OPTIONS.read(options, "growable");
    const resource = new VirtualMemoryResource(this);
    return GrowableBuffer.allocate({ ...options, dtype, resource, ...this.place(options) });
  }

  /**
   * Creates a buffer whose device memory is allocated by its first use, or by `ensureAllocated()`.
   *
   * @example
   * ```ts
   * import { CudaDevice } from "vramkit";
   *
   * using gpu = CudaDevice.open(0, { driver: "auto" });
   * using plan = gpu.lazy("float32", [1024, 1024]);
   * console.log(plan.isAllocated); // false
   * plan.fill(1);
   * console.log(plan.isAllocated); // true
   * ```
   */
  lazy<D extends DType>(
    dtype: D,
    shape: number | Shape,
    options: AllocateOptions = {},
  ): LazyBuffer<D> {
    const { resource = this.memoryResource } = ALLOCATE_OPTIONS.read(options, "lazy");
    return LazyBuffer.plan({ dtype, shape, resource, ...this.place(options) });
  }

  /**
   * Page-locks an existing array until the result is disposed, so that the GPU copies it in place.
   * This pays off for memory that is copied many times: locking takes about as long as one copy.
   *
   * @example
   * ```ts
   * import { CudaDevice } from "vramkit";
   *
   * using gpu = CudaDevice.open(0, { driver: "auto" });
   * const samples = new Float32Array(65536).fill(2);
   * using registered = gpu.register(samples);
   * using device = gpu.alloc("float32", 65536);
   * device.copyFrom(registered); // queued, no staging
   * await gpu.synchronize();
   * ```
   */
  register<A extends HostArray, D extends DType = DTypeOf<A>>(
    source: A,
    options?: RegisterOptions<D>,
  ): RegisteredBuffer<D>;
  /** Page-locks existing memory, as bytes or as elements of `dtype`. */
  register<D extends DType = "uint8">(
    source: HostMemory,
    options?: RegisterOptions<D>,
  ): RegisteredBuffer<D>;
  register<D extends DType>(
    source: HostMemory,
    options: RegisterOptions<D> = {},
  ): RegisteredBuffer<D> {
    REGISTER_OPTIONS.read(options, "register");
    return RegisteredBuffer.register({ ...options, source, ...this.place(options) });
  }

  /**
   * Allocates rows that the driver pads, for kernels and 2D copies. The shape has at least two
   * axes, `[rows, columns]`.
   *
   * @example
   * ```ts
   * import { CudaDevice } from "vramkit";
   *
   * using gpu = CudaDevice.open(0, { driver: "auto" });
   * using image = gpu.pitched("float32", [480, 640]);
   * image.fill(0); // the padding between the rows is left alone
   * console.log(image.pitchBytes >= 640 * 4); // true
   * ```
   */
  pitched<D extends DType>(
    dtype: D,
    shape: Shape,
    options: PlaceOptions = {},
  ): PitchedBuffer<D> {
    const place = this.place(PLACE_OPTIONS.read(options, "pitched"));
    return PitchedBuffer.allocate({ dtype, shape, ...place });
  }

  /** Returns the stream to allocate on, checked, and the label. */
  protected place(options: PlaceOptions): { stream: CudaStream; label: string | undefined } {
    return { stream: streamOn(this.context, options, "memory"), label: options.label };
  }
}
