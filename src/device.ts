// The front door: one GPU, what it is, and everything that can be made on it.

import type { AllocateOptions, DeviceAllocator } from "./buffers/device_allocator.ts";
import { DeviceBuffer } from "./buffers/device_buffer.ts";
import { PinnedBuffer } from "./buffers/pinned_buffer.ts";
import { countOf, type Shape, toShape } from "./buffers/shape.ts";
import type { Uploadable } from "./buffers/transferable_buffer.ts";
import { Context } from "./context.ts";
import { DeviceInfo } from "./device_info.ts";
import { Driver, type DriverChoice } from "./driver.ts";
import { type DType, type DTypeOf, dtypeOf, type HostArray } from "./dtype.ts";
import { DisposedError } from "./errors.ts";
import { CudaEvent, type EventOptions } from "./event.ts";
import { formatBytes } from "./format.ts";
import { loadSafetensors, type LoadSafetensorsOptions } from "./interop/safetensors/load.ts";
import type { SafetensorsModel } from "./interop/safetensors/model.ts";
import type { SafetensorsSource } from "./interop/safetensors/shards.ts";
import { uploadFile, type UploadFileOptions } from "./interop/upload_file.ts";
import { LiveTable } from "./live.ts";
import { type BandwidthOptions, measurePoints } from "./measure/bandwidth.ts";
import { type BandwidthResult, fitLines, type Provenance } from "./measure/bandwidth_result.ts";
import { timeOnStream, type Timing } from "./measure/timing.ts";
import { CudaAsyncMemoryResource } from "./memory/cuda_async_memory_resource.ts";
import { CudaMemoryResource } from "./memory/cuda_memory_resource.ts";
import type { MemoryResource } from "./memory/memory_resource.ts";
import { PinnedHostMemoryResource } from "./memory/pinned_host_memory_resource.ts";
import { runScope, type Scope } from "./scope.ts";
import { CudaStream, type StreamOptions } from "./stream.ts";
import type { FilePath } from "./transfer/disk_file.ts";
import type { TransferOptions } from "./transfer/host_transfer.ts";
import { VERSION } from "./version.ts";

/** How to open a device. */
export interface OpenOptions {
  /** Which driver; NVIDIA's by default. `"auto"` uses the simulated one when there is no GPU. */
  readonly driver?: DriverChoice;
  /** The driver library's file, when it lies in an unusual place. */
  readonly libraryPath?: string;
}

/** How to upload into new memory. */
export interface UploadOptions<D extends DType> extends AllocateOptions, TransferOptions {
  /** The element type; that of the array by default. */
  readonly dtype?: D;
  /** Sizes along each axis; one axis by default. */
  readonly shape?: number | Shape;
}

/** What a device's memory is used for, in bytes. */
export interface DeviceMemory {
  /** Free for all programs. */
  readonly freeBytes: number;
  /** All there is. */
  readonly totalBytes: number;
  /** Held by this program's live buffers, on the device and on the host. */
  readonly liveBytes: number;
  /** The most that was held at once. */
  readonly peakBytes: number;
  /** Kept for reuse: the ring that transfers pass through, and caching resources. */
  readonly cachedBytes: number;
}

/** One GPU. */
export class CudaDevice implements DeviceAllocator, Disposable {
  /** The primary context, shared by all that open the same device. */
  readonly #context: Context;
  /** What the device is: name, memory, bus. */
  readonly info: DeviceInfo;
  /** Where device memory comes from unless a call says otherwise. */
  readonly memoryResource: MemoryResource;
  /** Where page-locked memory comes from unless a call says otherwise. */
  readonly pinnedMemoryResource: MemoryResource;
  #disposed = false;

  private constructor(context: Context) {
    this.#context = context;
    this.info = new DeviceInfo(context);
    this.memoryResource = CudaAsyncMemoryResource.isSupported(context)
      ? new CudaAsyncMemoryResource({ context })
      : new CudaMemoryResource({ context });
    this.pinnedMemoryResource = new PinnedHostMemoryResource({ context });
  }

  /**
   * Opens a device. It stays open until it is disposed and everything made on it is gone.
   *
   * @throws CudaUnavailableError with the fix when there is no driver, permission or device.
   * @throws RangeError when this machine has no device of that number.
   *
   * @example
   * ```ts
   * import { CudaDevice } from "vramkit";
   *
   * using gpu = CudaDevice.open(0, { driver: "auto" });
   * using x = await gpu.upload(new Float32Array([1, 2, 3]));
   * console.log(await x.download());
   * ```
   */
  static open(ordinal = 0, options: OpenOptions = {}): CudaDevice {
    const { driver, libraryPath } = options;
    const opened = Driver.open(driver, libraryPath === undefined ? {} : { libraryPath });
    const context = Context.retain(opened, ordinal);
    try {
      return new CudaDevice(context);
    } catch (error) {
      context.release();
      throw error;
    }
  }

  /** How many devices this machine has. */
  static count(options: OpenOptions = {}): number {
    const { driver, libraryPath } = options;
    return Driver.open(driver, libraryPath === undefined ? {} : { libraryPath }).deviceCount;
  }

  /** The context, checked. */
  get context(): Context {
    if (this.#disposed) throw new DisposedError(this.toString());
    return this.#context;
  }

  /** Its number, counted from 0. */
  get ordinal(): number {
    return this.#context.ordinal;
  }

  /** Its name, such as `"NVIDIA H200"`; `"Simulated"` for the simulated one. */
  get name(): string {
    return this.info.name;
  }

  /** Whether it was disposed. */
  get disposed(): boolean {
    return this.#disposed;
  }

  /** The stream that everything uses unless told otherwise. */
  get stream(): CudaStream {
    return CudaStream.default(this.context);
  }

  /** What its memory is used for right now, in bytes (cuMemGetInfo). */
  get memory(): DeviceMemory {
    const { context } = this;
    const { liveBytes, peakBytes, cachedBytes } = context.ledger;
    const { totalBytes } = context;
    return { freeBytes: context.freeBytes(), totalBytes, liveBytes, peakBytes, cachedBytes };
  }

  /** Allocates device memory without setting a value. */
  alloc<D extends DType>(
    dtype: D,
    shape: number | Shape,
    options: AllocateOptions = {},
  ): DeviceBuffer<D> {
    const { resource = this.memoryResource, stream = this.stream, label } = options;
    this.#checkStream(stream);
    return DeviceBuffer.allocate({ dtype, shape, resource, stream, label });
  }

  /** Allocates device memory and queues setting every element to zero. */
  zeros<D extends DType>(
    dtype: D,
    shape: number | Shape,
    options: AllocateOptions = {},
  ): DeviceBuffer<D> {
    const buffer = this.alloc(dtype, shape, options);
    try {
      buffer.clear(options);
      return buffer;
    } catch (error) {
      buffer.dispose();
      throw error;
    }
  }

  /**
   * Allocates page-locked host memory, which the GPU copies at the speed of the bus; `array` of the
   * result is a typed array over it.
   */
  pinned<D extends DType>(
    dtype: D,
    shape: number | Shape,
    options: AllocateOptions = {},
  ): PinnedBuffer<D> {
    const { resource = this.pinnedMemoryResource, stream = this.stream, label } = options;
    this.#checkStream(stream);
    return PinnedBuffer.allocate({ dtype, shape, resource, stream, label });
  }

  /** Allocates device memory and copies an array into it; resolves when it is there. */
  async upload<A extends HostArray, D extends DType = DTypeOf<A>>(
    source: A,
    options: UploadOptions<D> = {},
  ): Promise<DeviceBuffer<D>> {
    const buffer = this.#allocateFor(source, options);
    try {
      return await buffer.upload(source as Uploadable<D>, options);
    } catch (error) {
      buffer.dispose();
      throw error;
    }
  }

  /** Allocates device memory and copies an array into it, blocking until it is there. */
  uploadSync<A extends HostArray, D extends DType = DTypeOf<A>>(
    source: A,
    options: UploadOptions<D> = {},
  ): DeviceBuffer<D> {
    const buffer = this.#allocateFor(source, options);
    try {
      return buffer.uploadSync(source as Uploadable<D>, options);
    } catch (error) {
      buffer.dispose();
      throw error;
    }
  }

  /**
   * Allocates device memory and fills it from a file, straight from the page cache; resolves when
   * the bytes are there. Needs `--allow-read`.
   *
   * @throws RangeError when the file ends earlier, or its bytes are not whole elements.
   */
  uploadFile<D extends DType = "uint8">(
    path: FilePath,
    options: UploadFileOptions<D> = {},
  ): Promise<DeviceBuffer<D>> {
    return uploadFile(path, { ...options, gpu: this });
  }

  /**
   * Loads a safetensors model, one block of device memory a file; its tensors are views by name.
   *
   * @throws SafetensorsError when a file breaks the format, with the file and the reason.
   */
  loadSafetensors(
    source: SafetensorsSource,
    options: LoadSafetensorsOptions = {},
  ): Promise<SafetensorsModel> {
    return loadSafetensors(source, this, options);
  }

  /** Creates a queue of GPU work beside the default stream. */
  createStream(options: StreamOptions = {}): CudaStream {
    return CudaStream.create(this.context, options);
  }

  /** Creates an event to record on streams. */
  createEvent(options: EventOptions = {}): CudaEvent {
    return CudaEvent.create(this.context, options);
  }

  /** Resolves when all work queued on the default stream is done. */
  synchronize(): Promise<void> {
    return this.stream.synchronize();
  }

  /** Blocks until all work of all streams is done (cuCtxSynchronize). */
  synchronizeSync(): void {
    this.context.call("cuCtxSynchronize");
  }

  /**
   * Runs a function and disposes what it gave to `scope.use()`, also when it throws. Use it in
   * notebook cells, where a top-level `using` never disposes.
   */
  scope<T>(body: (scope: Scope) => T): T {
    return runScope(body);
  }

  /** Lists what is alive on this device, largest first. */
  live(): LiveTable {
    return new LiveTable(this.context.ledger.entries());
  }

  /** Gives back everything that is alive on this device, whoever holds it. */
  releaseAll(): void {
    for (const entry of this.context.ledger.entries().reverse()) entry.release();
  }

  /** Measures work on a stream by events: GPU time, host time, bytes copied. */
  time(work: () => unknown, options: { stream?: CudaStream } = {}): Promise<Timing> {
    return timeOnStream(options.stream ?? this.stream, work);
  }

  /** Measures how fast memory moves, by nvbandwidth's method, and checks every byte. */
  async bandwidth(options: BandwidthOptions = {}): Promise<BandwidthResult> {
    const memory = { device: this.memoryResource, pinned: this.pinnedMemoryResource };
    const points = await measurePoints(memory, options);
    const { name, theoreticalGigabytesPerSecond } = this.info.bus;
    return {
      provenance: this.provenance(),
      busName: name,
      theoreticalGigabytesPerSecond,
      points,
      fits: fitLines(points),
    };
  }

  /** What results measured now on this device were measured with. */
  provenance(): Provenance {
    return {
      device: this.name,
      driver: this.context.driver.version,
      deno: Deno.version.deno,
      vramkit: VERSION,
      date: new Date().toISOString(),
    };
  }

  /** Lets go of the device; buffers and streams made on it stay usable until they are disposed. */
  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#context.release();
  }

  /** Same as {@link CudaDevice.dispose}, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  /** Names the device: `CudaDevice(0, NVIDIA H200)`. */
  toString(): string {
    return `CudaDevice(${this.ordinal}, ${this.name})`;
  }

  /** Shows the device on a console. */
  [Symbol.for("Deno.customInspect")](): string {
    if (this.#disposed) return `${this} disposed`;
    const { freeBytes, totalBytes } = this.memory;
    return `${this} ${formatBytes(freeBytes)} of ${formatBytes(totalBytes)} free`;
  }

  #allocateFor<D extends DType>(
    source: HostArray,
    options: UploadOptions<D>,
  ): DeviceBuffer<D> {
    const dtype = options.dtype ?? dtypeOf(source) as D | undefined;
    if (dtype === undefined) {
      throw new TypeError("Cannot upload: expected a typed array, or pass { dtype }");
    }
    const shape = toShape(options.shape ?? source.length);
    if (countOf(shape) !== source.length) {
      throw new RangeError(
        `Cannot upload ${source.length} elements as [${shape.join(", ")}]: the shape has ` +
          `${countOf(shape)}`,
      );
    }
    return this.alloc(dtype, shape, options);
  }

  #checkStream(stream: CudaStream): void {
    if (stream.context === this.context) return;
    throw new TypeError(
      `Cannot allocate on device ${this.ordinal} for ${stream} of device ` +
        `${stream.context.ordinal}: use a stream of the same device`,
    );
  }
}
