// The front door: one GPU, its properties, and the calls that create everything on it.

import { nextId } from "../accounting/clock.ts";
import type { MemoryMark } from "../accounting/ledger.ts";
import { MemoryTrack } from "../accounting/memory_track.ts";
import type { Timeline } from "../accounting/timeline.ts";
import { type BufferCopy, copyBatch } from "../buffers/batch.ts";
import type { DeviceAllocator } from "../buffers/device_buffer.ts";
import { allocateDeviceBuffer, type DeviceBuffer } from "../buffers/device_buffer.ts";
import { type GpuBuffer, type Uploadable, uploadLate } from "../buffers/gpu_buffer.ts";
import {
  allocateGrowableBuffer,
  GROWABLE_OPTIONS,
  type GrowableBuffer,
  type GrowableOptions,
} from "../buffers/growable_buffer.ts";
import type { HostValues, UntypedSource } from "../buffers/host_values.ts";
import {
  LAZY_OPTIONS,
  type LazyBuffer,
  type LazyOptions,
  planLazyBuffer,
} from "../buffers/lazy_buffer.ts";
import { allocateManagedBuffer, type ManagedBuffer } from "../buffers/managed_buffer.ts";
import {
  type ArraysOf,
  DOWNLOAD_ALL_OPTIONS,
  downloadAll,
  type DownloadAllOptions,
  UPLOAD_ALL_OPTIONS,
  UPLOAD_INTO_OPTIONS,
  uploadAll,
  type UploadAllOptions,
  uploadInto,
  type UploadIntoOptions,
} from "../buffers/many_arrays.ts";
import { MAPPED_OPTIONS, MappedBuffer, type MappedOptions } from "../buffers/mapped_buffer.ts";
import { IOTA_OPTIONS, type IotaOptions, numberRun, queueRun } from "../buffers/number_run.ts";
import type { BuffersOf, PackedBuffers } from "../buffers/packed_buffers.ts";
import {
  allocatePinnedBuffer,
  downloadPinned,
  type PinnedBuffer,
} from "../buffers/pinned_buffer.ts";
import { allocatePitchedBuffer, type PitchedBuffer } from "../buffers/pitched_buffer.ts";
import {
  ALLOCATE_OPTIONS,
  type AllocateOptions,
  DEVICE_OPTIONS,
  type DeviceAllocateOptions,
  PLACE_OPTIONS,
  type PlaceOptions,
} from "../buffers/place_options.ts";
import {
  REGISTER_OPTIONS,
  registerBuffer,
  type RegisteredBuffer,
  type RegisterOptions,
} from "../buffers/registered_buffer.ts";
import type { Shape } from "../buffers/shape.ts";
import {
  allocateStagedBuffer,
  STAGED_OPTIONS,
  type StagedBuffer,
  type StagedOptions,
} from "../buffers/staged_buffer.ts";
import type { StridedView } from "../buffers/strided_view.ts";
import { uploadSource } from "../buffers/upload_source.ts";
import { type PeerRoute, peerRoute } from "../copies/copy.ts";
import type { FilePath } from "../disk/file_path.ts";
import { Context } from "../driver/context.ts";
import { deviceUuid } from "../driver/device_uuid.ts";
import { Driver } from "../driver/driver.ts";
import { releaseAll } from "../driver/release.ts";
import { type ArrayOf, DTYPE, type DType, type DTypeOf, type HostArray } from "../dtype.ts";
import {
  CAPTURE_OPTIONS,
  captureGraph,
  type CaptureOptions,
  type CudaGraph,
} from "../graph/graph.ts";
import type { ByteSource } from "../interop/byte_source.ts";
import {
  bufferFromDLPack,
  type DLPackPointer,
  type FromDLPackOptions,
} from "../interop/from_dlpack.ts";
import { bufferFromHandle, HANDLE_OPTIONS, type HandleOptions } from "../interop/from_handle.ts";
import { bufferFromSource, FROM_OPTIONS, type FromOptions } from "../interop/from_source.ts";
import { loadNpy, type LoadNpyOptions } from "../interop/numpy/load_npy.ts";
import {
  openTicket,
  type OpenTicketOptions,
  takeOver,
  type TakeOverOptions,
} from "../interop/open_ticket.ts";
import { loadSafetensors, type LoadSafetensorsOptions } from "../interop/safetensors/load.ts";
import type { SafetensorsModel } from "../interop/safetensors/model.ts";
import {
  type NamedTensors,
  saveSafetensors,
  type SaveSafetensorsOptions,
} from "../interop/safetensors/save.ts";
import type { SafetensorsSource } from "../interop/safetensors/shards.ts";
import { UPLOAD_FILE_OPTIONS, uploadFile, type UploadFileOptions } from "../interop/upload_file.ts";
import { compileKernel, type CompileOptions } from "../kernels/compile.ts";
import type { CudaKernel } from "../kernels/cuda_kernel.ts";
import type { CudaModule } from "../kernels/cuda_module.ts";
import { loadModule, type ModuleOptions, type ModuleSource } from "../kernels/load_module.ts";
import { type Occupancy, occupancyOf, type OccupancyOptions } from "../kernels/occupancy.ts";
import {
  BANDWIDTH_OPTIONS,
  type BandwidthOptions,
  measureBandwidth,
} from "../measure/bandwidth.ts";
import { BandwidthResult, fitLines, type Provenance } from "../measure/bandwidth_result.ts";
import { type OverlapRecorder, type OverlapTrace, traceOverlap } from "../measure/overlap.ts";
import { timeOnStream, type Timing } from "../measure/timing.ts";
import type { HostMemory } from "../memory/host_memory.ts";
import { ManagedMemoryResource } from "../memory/managed_memory_resource.ts";
import { MappedHostMemoryResource } from "../memory/mapped_host_memory_resource.ts";
import type { MemoryResource } from "../memory/memory_resource.ts";
import { parseLimit, takeAfterCollection, trimAll } from "../memory/out_of_memory.ts";
import { type PointerAttributes, pointerAttributes } from "../memory/pointer_attributes.ts";
import {
  defaultDeviceResource,
  defaultPinnedResource,
  ResourceChoice,
} from "../memory/resource_choice.ts";
import { openToPeer } from "../memory/resource_kind.ts";
import { ShareableMemoryResource } from "../memory/shareable_memory_resource.ts";
import { VirtualMemoryResource } from "../memory/virtual_memory_resource.ts";
import { requireNoCapture } from "../order/capture.ts";
import { createEvent, type CudaEvent, type EventOptions } from "../order/event.ts";
import { watch } from "../order/safety_net.ts";
import {
  createStream,
  type CudaStream,
  defaultStreamOf,
  type StreamOptions,
  synchronizeStreams,
  throwFailures,
} from "../order/stream.ts";
import {
  runOnStreamAcrossAwait,
  STREAM,
  STREAM_CHOICE,
  type StreamChoice,
  streamOn,
} from "../order/stream_choice.ts";
import { finishPending } from "../order/stream_queue.ts";
import type { Persistable } from "../persist/contents.ts";
import "../persist/keeper_totals.ts";
import type { Persisted } from "../persist/open_persisted.ts";
import type { PersistOptions } from "../persist/persist.ts";
import type { PersistedTable } from "../persist/persisted_table.ts";
import type { Sleepable, SleepOptions } from "../persist/sleep.ts";
import type { HandedOver } from "../sharing/hand_over.ts";
import { openEvent, type OpenEventOptions } from "../sharing/open_memory.ts";
import type { EventTicket, MemoryTicket } from "../ticket.ts";
import { tuneEngine } from "../transfer/context_engine.ts";
import { DisposedError } from "../words/errors.ts";
import { finished } from "../words/finished.ts";
import { type ByteSize, describeValue, formatBytes, messageOf } from "../words/format.ts";
import {
  BIGINT,
  CALLBACK,
  isRecord,
  listOf,
  NUMBER,
  type OptionKind,
  requireKind,
  TEXT,
} from "../words/options.ts";
import { comesFrom, Parts, partsOf } from "../words/parts.ts";
import { reportProgress } from "../words/progress.ts";
import { refuseCloning } from "../words/uncloneable.ts";
import { VERSION } from "../words/version.ts";
import { listenerOf, listenToWarnings, type WarningListener } from "../words/warning.ts";
import { DeviceInfo } from "./device_info.ts";
import { type DeviceList, openDevices } from "./device_list.ts";
import { type DeviceMemory, readDeviceMemory } from "./device_memory.ts";
import {
  OPEN_OPTIONS,
  type OpenOptions,
  UPLOAD_OPTIONS,
  type UploadOptions,
} from "./device_options.ts";
import { listLive, type LiveTable } from "./live.ts";
import type { LiveQuery } from "./live_query.ts";
import { MemoryReport } from "./report.ts";
import { runScope, type Scope, SCOPE_OPTIONS, type ScopeOptions } from "./scope.ts";
import { fillSlot, type Held } from "./slot.ts";
import { readSystemState, type SystemState } from "./system_state.ts";

const DEVICE: OptionKind = {
  expected: "another device",
  accepts: (value) => value instanceof CudaDevice,
};

const ORDINALS: OptionKind = {
  expected: "a list of device numbers, such as [0, 1]",
  accepts: listOf(NUMBER).accepts,
};

const MARK: OptionKind = {
  expected: "what gpu.mark() gave",
  accepts: (value) => isRecord(value) && typeof value["id"] === "number",
};

/**
 * One GPU, and the calls that create everything on it: buffers, streams, events and graphs. Programs
 * start with {@link CudaDevice.open} and dispose the device last, with `using`.
 *
 * @example Copy an array to the GPU and back
 * ```ts
 * import { CudaDevice } from "vramkit";
 *
 * using gpu = CudaDevice.open(0, { driver: "auto" });
 * using x = await gpu.upload(new Float32Array([1, 2, 3]));
 * using y = gpu.zeros("float32", 3);
 * y.copyFrom(x);
 * console.log(await y.download()); // Float32Array(3) [1, 2, 3]
 * ```
 */
export class CudaDevice implements DeviceAllocator, Disposable {
  /** The device's primary context, which every CudaDevice of the same device shares. */
  readonly #context: Context;
  /** Properties of the device: name, memory, bus. */
  readonly info: DeviceInfo;
  readonly #deviceResources: ResourceChoice;
  readonly #pinnedResources: ResourceChoice;
  /** Made for the first allocation that other processes can open. */
  #shareable: ShareableMemoryResource | undefined;
  #disposed = false;

  /** @ignore Adopts a context. */
  constructor(
    parts: Parts<{
      readonly context: Context;
      readonly options: OpenOptions;
      readonly whySimulated?: string | undefined;
    }>,
  ) {
    const { context, options, whySimulated } = partsOf(parts, new.target);
    this.#context = context;
    this.info = new DeviceInfo(new Parts({ context, whySimulated }));
    const { resource = defaultDeviceResource, pinnedResource = defaultPinnedResource } = options;
    this.#deviceResources = new ResourceChoice(context, resource);
    this.#pinnedResources = new ResourceChoice(context, pinnedResource, { needsHost: true });
    refuseCloning(this);
  }

  /**
   * Opens a device. The device stays open until it is disposed and everything created on it is
   * disposed too.
   *
   * @param ordinal The device's number, counted from 0.
   * @param options The driver to use, and defaults for the memory and transfers of this device.
   *
   * @throws CudaUnavailableError when the driver, a permission or a device is missing; the message
   *   names the fix.
   * @throws RangeError when this machine has no device with that number.
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
  static open(ordinal?: number, options?: OpenOptions): CudaDevice;
  // A signature of its own: beside those of gpu.open(), `deno doc` leaves out a method that has a body.
  static open(ordinal = 0, options: OpenOptions = {}): CudaDevice {
    if (typeof ordinal !== "number") {
      throw new TypeError(
        `Cannot open device ${describeValue(ordinal)}: expected a number, and options ` +
          `after it, as in CudaDevice.open(0, { driver: "auto" })`,
      );
    }
    const { driver, libraryPath, order, origins, transfers } = OPEN_OPTIONS.read(options, "open");
    const opened = Driver.open(driver, { libraryPath });
    const isReplaced = driver === "auto" && opened.isSimulated;
    const whySimulated = isReplaced ? Driver.replaced?.message : undefined;
    const ordersStreams = order === undefined ? undefined : order === "automatic";
    const context = Context.retain(opened, ordinal, { ordersStreams });
    try {
      if (origins !== undefined) context.ledger.origins.detail = origins;
      if (transfers !== undefined) tuneEngine(context, transfers);
      return new CudaDevice(new Parts({ context, options, whySimulated }));
    } catch (error) {
      context.release();
      throw error;
    }
  }

  /**
   * Opens all devices of this machine, which are disposed together. See {@link CudaDevice.open}.
   *
   * @throws CudaUnavailableError when the driver or a permission is missing.
   */
  static all(options: OpenOptions = {}): DeviceList<CudaDevice> {
    options = OPEN_OPTIONS.read(options, "all");
    const ordinals = Array.from({ length: CudaDevice.count(options) }, (_, ordinal) => ordinal);
    return openDevices(ordinals, (ordinal) => CudaDevice.open(ordinal, options));
  }

  /**
   * Opens several devices, which are disposed together. When one cannot be opened, none stays open.
   *
   * @param ordinals The devices' numbers, in the order in which the list has them.
   *
   * @throws RangeError when no device is named, one is named twice, or this machine lacks one of them.
   *
   * @example
   * ```ts
   * import { CudaDevice } from "vramkit";
   *
   * using gpus = CudaDevice.openMany([1, 0], { driver: "simulated" });
   * console.log(gpus.map((gpu) => gpu.ordinal)); // [1, 0]
   * ```
   */
  static openMany(ordinals: readonly number[], options: OpenOptions = {}): DeviceList<CudaDevice> {
    options = OPEN_OPTIONS.read(options, "openMany");
    requireKind(ordinals, ORDINALS, "openMany");
    if (ordinals.length === 0) throw new RangeError("Cannot open no devices: name at least one");
    const twice = ordinals.find((ordinal, at) => ordinals.indexOf(ordinal) !== at);
    if (twice !== undefined) {
      throw new RangeError(`Cannot open device ${twice} twice in one list: name each device once`);
    }
    return openDevices(ordinals, (ordinal) => CudaDevice.open(ordinal, options));
  }

  /**
   * Returns the number of devices in this machine.
   *
   * @throws CudaUnavailableError when the driver or a permission is missing.
   */
  static count(options: OpenOptions = {}): number {
    const { driver, libraryPath } = OPEN_OPTIONS.read(options, "count");
    return Driver.open(driver, { libraryPath }).deviceCount;
  }

  /**
   * The context of the device.
   *
   * @throws DisposedError when the device was disposed.
   */
  get context(): Context {
    if (this.#disposed) throw new DisposedError(this.toString());
    return this.#context;
  }

  /** The device's number, counted from 0. */
  get ordinal(): number {
    return this.#context.ordinal;
  }

  /** The device's name, such as `"NVIDIA H200"`; `"Simulated"` for the simulated one. */
  get name(): string {
    return this.info.name;
  }

  /** Tells whether the device is simulated, with no GPU behind it. */
  get isSimulated(): boolean {
    return this.#context.driver.isSimulated;
  }

  /**
   * Hears warnings in place of the console: failures that cannot be thrown, such as those of a release,
   * and blocks that were not disposed. It gets the text, and the object that it is about or the
   * name of one that is gone. It belongs to the device as long as that is open anywhere, and also
   * hears warnings that belong to no device.
   *
   * @throws TypeError for what is not a function.
   *
   * @example
   * ```ts
   * import { CudaDevice } from "vramkit";
   *
   * using gpu = CudaDevice.open(0, { driver: "auto" });
   * gpu.onWarning = (text) => console.error(new Date().toISOString(), text);
   * ```
   */
  get onWarning(): WarningListener | undefined {
    return listenerOf(this.#context);
  }

  set onWarning(listener: WarningListener | undefined) {
    const context = this.#context;
    if (listener !== undefined) {
      requireKind(listener, CALLBACK, "set onWarning");
      if (listenerOf(context) === undefined) {
        context.atRelease(() => listenToWarnings([context], undefined));
      }
    }
    listenToWarnings([context, context.driver], listener);
  }

  /** Tells whether the device was disposed. */
  get disposed(): boolean {
    return this.#disposed;
  }

  /**
   * Resource that allocates device memory when a call names none; {@link CudaDevice.withResource}
   * changes it for a function.
   */
  get memoryResource(): MemoryResource {
    return this.#deviceResources.current;
  }

  /**
   * Resource that allocates page-locked memory when a call names none;
   * {@link CudaDevice.withPinnedResource} changes it for a function.
   */
  get pinnedMemoryResource(): MemoryResource {
    return this.#pinnedResources.current;
  }

  /**
   * Calls `body` with `resource` as the default for this device's memory. The default also holds
   * after every `await` in `body`. Calls nest; other devices and other functions keep their own
   * default.
   *
   * @returns What `body` returns.
   */
  withResource<T>(resource: MemoryResource, body: () => T): T {
    requireKind(body, CALLBACK, "withResource");
    return this.#deviceResources.run(resource, body);
  }

  /**
   * Calls `body` with `resource` as the default for page-locked memory, as
   * {@link CudaDevice.pinned} allocates it. See {@link CudaDevice.withResource}.
   *
   * @returns What `body` returns.
   */
  withPinnedResource<T>(resource: MemoryResource, body: () => T): T {
    requireKind(body, CALLBACK, "withPinnedResource");
    return this.#pinnedResources.run(resource, body);
  }

  /**
   * Calls `body` with `stream` as the stream of this device's calls that name none, as
   * {@link CudaDevice.capture} and {@link CudaDevice.time} do for theirs. The choice also holds after every
   * `await` in `body`. Calls nest; other devices and other functions keep their own.
   *
   * @returns What `body` returns.
   * @throws TypeError for a stream of another device.
   *
   * @example
   * ```ts
   * import { CudaDevice } from "vramkit";
   *
   * using gpu = CudaDevice.open(0, { driver: "auto" });
   * using stream = gpu.createStream();
   * using x = gpu.zeros("float32", 4);
   * await gpu.withStream(stream, async () => {
   *   x.fill(1); // on the stream
   *   console.log(await x.download()); // Float32Array(4) [1, 1, 1, 1]
   * });
   * ```
   */
  withStream<T>(stream: CudaStream, body: () => T): T {
    requireKind(stream, STREAM, "withStream");
    requireKind(body, CALLBACK, "withStream");
    return runOnStreamAcrossAwait(streamOn(this.context, { stream }, "work"), body);
  }

  /** The default stream, used by calls that name no other outside {@link CudaDevice.withStream}. */
  get stream(): CudaStream {
    return defaultStreamOf(this.context);
  }

  /**
   * Allocates device memory. The elements keep whatever was there before; use
   * {@link CudaDevice.zeros} to clear them.
   *
   * @param dtype The element type, such as `"float32"`.
   * @param shape Number of elements, or the size of each axis.
   * @throws OutOfMemoryError with all amounts when the device has too little memory.
   */
  alloc<D extends DType>(
    dtype: D,
    shape: number | Shape,
    options: DeviceAllocateOptions = {},
  ): DeviceBuffer<D> {
    return this.#alloc(dtype, shape, DEVICE_OPTIONS.read(options, "alloc"));
  }

  /** Allocates with options that were read. */
  #alloc<D extends DType>(
    dtype: D,
    shape: number | Shape,
    options: DeviceAllocateOptions,
  ): DeviceBuffer<D> {
    const { label, shareable = false } = options;
    const stream = streamOn(this.context, options, "memory");
    const named = shareable ? this.#shareableFor(options) : options.resource;
    const resource = named ?? this.#deviceResources.current;
    const isDefault = named === undefined;
    return allocateDeviceBuffer({ dtype, shape, resource, isDefault, stream, label });
  }

  /**
   * Allocates device memory and queues setting every element to zero; does not wait.
   *
   * @throws OutOfMemoryError with all amounts when the device has too little memory.
   */
  zeros<D extends DType>(
    dtype: D,
    shape: number | Shape,
    options: DeviceAllocateOptions = {},
  ): DeviceBuffer<D> {
    options = DEVICE_OPTIONS.read(options, "zeros");
    const { stream } = options;
    return finished(this.alloc(dtype, shape, options), (buffer) => buffer.clear({ stream }));
  }

  /**
   * Allocates device memory and queues writing `start`, `start + step` and so on; does not wait.
   * Whole numbers wrap around; floats are computed in 64 bits.
   *
   * @throws TypeError for 16-bit floats and booleans.
   *
   * @example
   * ```ts
   * import { CudaDevice } from "vramkit";
   *
   * using gpu = CudaDevice.open(0, { driver: "auto" });
   * using x = gpu.iota("int32", [2, 3], { start: 10, step: -2 });
   * console.log(await x.download()); // Int32Array(6) [10, 8, 6, 4, 2, 0]
   * ```
   */
  iota<D extends DType>(
    dtype: D,
    shape: number | Shape,
    options: IotaOptions = {},
  ): DeviceBuffer<D> {
    const { start, step, ...place } = IOTA_OPTIONS.read(options, "iota");
    requireKind(dtype, DTYPE, "iota");
    const run = numberRun(dtype, { start, step });
    return finished(
      this.alloc(dtype, shape, place),
      (buffer) => queueRun(buffer, run, streamOn(this.context, place, buffer)),
    );
  }

  /**
   * Allocates page-locked host memory, which the GPU copies at the full speed of the bus. The
   * result's `array` is a typed array over that memory.
   *
   * @throws OutOfMemoryError when the system lets the program lock no more memory.
   */
  pinned<D extends DType>(
    dtype: D,
    shape: number | Shape,
    options: AllocateOptions = {},
  ): PinnedBuffer<D> {
    options = ALLOCATE_OPTIONS.read(options, "pinned");
    const { resource = this.pinnedMemoryResource } = options;
    return allocatePinnedBuffer({ dtype, shape, resource, ...this.#place(options) });
  }

  /**
   * Allocates device memory and copies an array into it. Resolves when the copy is done; do not
   * change the array before. Plain and nested arrays and iterables of numbers are `"float32"` unless
   * `dtype` says otherwise; ArrayBuffers, bigints, booleans and lists of typed arrays other than Float32Array
   * need one.
   *
   * @throws TypeError when the array does not hold elements of `dtype`, or was moved away meanwhile.
   * @throws RangeError when `shape` has another number of elements, or `"float32"` without a `dtype` would
   *   change a whole number up to 2^53, or make a finite one infinite.
   * @throws OutOfMemoryError with all amounts when the device has too little memory.
   */
  upload(
    source: Float32Array | readonly number[],
    options?: UploadOptions<"float32">,
  ): Promise<DeviceBuffer<"float32">>;
  /** Allocates device memory and copies a typed array into it; resolves when that is done. */
  upload<A extends HostArray, D extends DType = DTypeOf<A>>(
    source: A & Uploadable<D>,
    options?: UploadOptions<D>,
  ): Promise<DeviceBuffer<NoInfer<D>>>;
  /** Allocates device memory and copies an array into it whose class is a type parameter. */
  upload<A extends HostArray>(
    source: A,
    options?: UploadOptions<DTypeOf<A>> & { readonly dtype?: undefined },
  ): Promise<DeviceBuffer<DTypeOf<A>>>;
  /** Allocates device memory and copies numbers or a Float32Array into it as `"float32"`. */
  upload(
    source: HostValues<number> | Float32Array,
    options?: UploadOptions<"float32">,
  ): Promise<DeviceBuffer<"float32">>;
  /** Allocates device memory and copies numbers into it as `"float32"`. */
  upload(
    source: HostValues<number>,
    options?: UploadOptions<"float32">,
  ): Promise<DeviceBuffer<"float32">>;
  /** Allocates device memory and copies numbers or bytes into it; resolves when that is done. */
  upload<D extends DType>(
    source: UntypedSource<D> | Uploadable<D>,
    options: UploadOptions<D> & { readonly dtype: D },
  ): Promise<DeviceBuffer<D>>;
  /** Has the compiler say what it expects where nothing above fits; there is no such call. */
  upload(
    source: Lowercase<
      "expected a typed array or numbers; bigints, booleans and bytes need { dtype }"
    >,
  ): Promise<DeviceBuffer<"float32">>;
  /** Allocates device memory and copies an array of this element type into it. */
  upload<D extends DType>(
    source: ArrayOf<D>,
    options: UploadOptions<D> & { readonly dtype: D },
  ): Promise<DeviceBuffer<D>>;
  async upload<D extends DType>(
    source: HostMemory | HostValues | string, // the words of a signature above; they are refused
    options: UploadOptions<D> = {},
  ): Promise<DeviceBuffer<D>> {
    options = UPLOAD_OPTIONS.read(options, "upload");
    const { array, dtype, shape } = uploadSource(source as HostValues, options);
    const allocate = () => this.#alloc(dtype, shape, options);
    const made = takeAfterCollection(this.context, allocate);
    const { onProgress, signal, stream } = options;
    if (made instanceof Promise) {
      return await uploadLate(made, array, { onProgress, signal, stream: stream ?? this.stream });
    }
    try {
      return await made.upload(array, { onProgress, signal, stream });
    } catch (error) {
      made.dispose();
      throw error;
    }
  }

  /** Allocates device memory and copies an array into it; blocks until the copy is done. */
  uploadSync(
    source: Float32Array | readonly number[],
    options?: UploadOptions<"float32">,
  ): DeviceBuffer<"float32">;
  /** Allocates device memory and copies a typed array into it; blocks until the copy is done. */
  uploadSync<A extends HostArray, D extends DType = DTypeOf<A>>(
    source: A & Uploadable<D>,
    options?: UploadOptions<D>,
  ): DeviceBuffer<NoInfer<D>>;
  /**
   * Allocates device memory and copies an array into it whose class is a type parameter; blocks until
   * the copy is done.
   */
  uploadSync<A extends HostArray>(
    source: A,
    options?: UploadOptions<DTypeOf<A>> & { readonly dtype?: undefined },
  ): DeviceBuffer<DTypeOf<A>>;
  /**
   * Allocates device memory and copies numbers, plain or in a Float32Array, into it as `"float32"`;
   * blocks until the copy is done.
   */
  uploadSync(
    source: HostValues<number> | Float32Array,
    options?: UploadOptions<"float32">,
  ): DeviceBuffer<"float32">;
  /** Allocates device memory and copies numbers into it as `"float32"`; blocks until it is done. */
  uploadSync(
    source: HostValues<number>,
    options?: UploadOptions<"float32">,
  ): DeviceBuffer<"float32">;
  /** Allocates device memory and copies numbers or bytes into it; blocks until the copy is done. */
  uploadSync<D extends DType>(
    source: UntypedSource<D> | Uploadable<D>,
    options: UploadOptions<D> & { readonly dtype: D },
  ): DeviceBuffer<D>;
  /** Has the compiler say what it expects where nothing above fits; there is no such call. */
  uploadSync(
    source: Lowercase<
      "expected a typed array or numbers; bigints, booleans and bytes need { dtype }"
    >,
  ): DeviceBuffer<"float32">;
  /** Allocates device memory and copies an array of this element type into it; blocks. */
  uploadSync<D extends DType>(
    source: ArrayOf<D>,
    options: UploadOptions<D> & { readonly dtype: D },
  ): DeviceBuffer<D>;
  uploadSync<D extends DType>(
    source: HostMemory | HostValues | string, // the words of a signature above; they are refused
    options: UploadOptions<D> = {},
  ): DeviceBuffer<D> {
    options = UPLOAD_OPTIONS.read(options, "uploadSync");
    const { stream, onProgress, signal } = options;
    signal?.throwIfAborted();
    const { array, dtype, shape } = uploadSource(source as HostValues, options);
    return finished(this.#alloc(dtype, shape, options), (buffer) => {
      buffer.uploadSync(array, { stream });
      const { byteLength } = buffer;
      if (byteLength > 0) reportProgress(onProgress, byteLength, byteLength);
    });
  }

  /**
   * Uploads many arrays of any types in few copies: into one new block, whose views are freed
   * together, or into the buffers of `into`. For small arrays this is several times as fast as one
   * call for each. Do not change the arrays before the promise resolves.
   */
  uploadAll<const A extends readonly HostArray[]>(
    arrays: A,
    options?: UploadAllOptions,
  ): Promise<PackedBuffers<BuffersOf<A>>>;
  /** Uploads many arrays into existing buffers, in few copies. */
  uploadAll(arrays: readonly HostMemory[], options: UploadIntoOptions): Promise<void>;
  async uploadAll(
    arrays: readonly HostArray[],
    options: UploadAllOptions | UploadIntoOptions = {},
  ): Promise<unknown> {
    options = UPLOAD_ALL_OPTIONS.read(options, "uploadAll");
    if (options.into === undefined) return await uploadAll(arrays, { ...options, gpu: this });
    options = UPLOAD_INTO_OPTIONS.read(options, "uploadAll");
    return await uploadInto(arrays, { ...options, gpu: this });
  }

  /** Downloads many buffers in few copies, into new typed arrays or into the memory of `into`. */
  async downloadAll<const B extends readonly GpuBuffer[]>(
    buffers: B,
    options: DownloadAllOptions = {},
  ): Promise<ArraysOf<B>> {
    options = DOWNLOAD_ALL_OPTIONS.read(options, "downloadAll");
    return await downloadAll(buffers, { ...options, gpu: this });
  }

  /**
   * Creates a buffer over memory that another library allocated, on the device that the address
   * belongs to. The buffer adopts the memory with `resource` or `deallocate`, borrows it with
   * `owner`, and otherwise never frees it.
   */
  fromHandle<D extends DType = "uint8">(
    address: bigint,
    byteLength: number,
    options: HandleOptions<D> = {},
  ): DeviceBuffer<NoInfer<D>> {
    options = HANDLE_OPTIONS.read(options, "fromHandle");
    requireNoCapture("make a buffer of a handle");
    return bufferFromHandle(this.context, { address, byteLength }, options);
  }

  /**
   * Creates a buffer over an array that another library made, by its DLPack struct, without a copy and
   * on the device that the memory belongs to. The buffer takes ownership of the struct: it calls the
   * deleter once, when the buffer is disposed and the GPU is done with it. When this call throws, the
   * struct keeps its former owner.
   *
   * @param pointer The struct's address, or what `toDLPack()` gave.
   *
   * @throws TypeError for an address without such a struct, for memory that the driver does not
   *   know (such as ordinary host memory) or that belongs to another simulated driver, and for
   *   element types that buffers lack, such as complex128.
   * @throws RangeError when the array leaves its memory, or is not contiguous.
   */
  fromDLPack<D extends DType = DType>(
    pointer: DLPackPointer,
    options: FromDLPackOptions<D> & { readonly strided: true },
  ): StridedView<NoInfer<D>, DeviceBuffer<NoInfer<D>>>;
  /** Creates a buffer over a contiguous array. */
  fromDLPack<D extends DType = DType>(
    pointer: DLPackPointer,
    options?: FromDLPackOptions<D>,
  ): DeviceBuffer<NoInfer<D>>;
  fromDLPack<D extends DType = DType>(
    pointer: DLPackPointer,
    options: FromDLPackOptions<D> = {},
  ): DeviceBuffer<D> | StridedView<D, DeviceBuffer<D>> {
    return bufferFromDLPack(this.context, pointer, options);
  }

  /**
   * Opens memory of another process by the ticket that its `buffer.share()`, or a program in Python,
   * has made. The buffer shows the other process's bytes; disposing it closes the memory here. All
   * work that the other process queued before it shared the memory is done; later work of the two
   * processes has no order, unless shared events make one.
   *
   * @param ticket The ticket, as an object or as JSON; it may come from anywhere.
   * @throws TicketError when it is no ticket, belongs to another device or to this process, or when
   *   the memory is gone; `reason` says which.
   */
  open<D extends DType>(
    ticket: MemoryTicket<D>,
    options?: OpenTicketOptions,
  ): Promise<DeviceBuffer<D>>;
  /**
   * Opens memory of another process by a ticket in JSON. With `dtype` the buffer has that element type.
   *
   * @throws TypeError when the elements are not of `dtype`.
   */
  open<D extends DType = DType>(
    ticket: string | MemoryTicket,
    options?: OpenTicketOptions & { readonly dtype?: D | undefined },
  ): Promise<DeviceBuffer<NoInfer<D>>>;
  async open(
    ticket: string | MemoryTicket,
    options: OpenTicketOptions & { readonly dtype?: DType | undefined } = {},
  ): Promise<DeviceBuffer> {
    return await openTicket(this.context, ticket, options);
  }

  /**
   * Opens an event of another process by the ticket that its `event.share()` has made. Both
   * processes can record it and wait for it, so that work of one comes after work of the other.
   *
   * @throws TicketError when it is no ticket of an event, belongs to another device or to this
   *   process, or when the driver knows no such event.
   */
  openEvent(ticket: string | EventTicket, options: OpenEventOptions = {}): CudaEvent {
    return openEvent(this.context, ticket, options);
  }

  /**
   * Takes over memory that another Worker of this process has handed over by `buffer.handOver()`.
   *
   * @throws TicketError when another Worker has taken it over already, or it belongs to another
   *   device.
   * @throws TypeError when it belongs to another simulated driver, such as that of another Worker.
   */
  takeOver<D extends DType>(
    handed: HandedOver<D>,
    options: TakeOverOptions = {},
  ): DeviceBuffer<D> {
    return takeOver(this.context, handed, options) as DeviceBuffer<D>;
  }

  /**
   * Returns the attributes of an address: its kind of memory, its device, and who can use it
   * (cuPointerGetAttribute).
   */
  pointerAttributes(address: bigint): PointerAttributes {
    requireKind(address, BIGINT, "pointerAttributes");
    return pointerAttributes(this.context, address);
  }

  /**
   * Queues many copies and does not wait. Drivers from CUDA 12.8 on take them in one call
   * (cuMemcpyBatchAsync), older ones in one call each. The result is as if they ran one after
   * another.
   */
  copyBatch(copies: Iterable<BufferCopy>, options: StreamChoice = {}): void {
    options = STREAM_CHOICE.read(options, "copyBatch");
    copyBatch(copies, options.stream ?? this.stream);
  }

  /**
   * Returns how copies between this device and `other` go: directly (`"peer"`, also when both are one
   * device), or staged through the host. Enables peer access for the default memory of both devices (cuCtxEnablePeerAccess,
   * cuMemPoolSetAccess), as the first copy between them does.
   */
  routeTo(other: CudaDevice): PeerRoute {
    requireKind(other, DEVICE, "routeTo");
    if (other.context === this.context) return "peer";
    const isOpen = peerRoute(this.context, other.context) === "peer" &&
      openToPeer(this.memoryResource, other.context) &&
      openToPeer(other.memoryResource, this.context);
    return isOpen ? "peer" : "staged";
  }

  /**
   * Allocates device memory and fills it from a file, straight from the page cache. Resolves when the
   * bytes are on the device. Reads as many elements as `shape` has, from `fileOffset` on; without a
   * shape, all up to the end of the file. Needs `--allow-read`.
   *
   * @throws RangeError when the file is too short, or its bytes are not a whole number of elements.
   */
  async uploadFile<D extends DType = "uint8">(
    path: FilePath,
    options: UploadFileOptions<D> = {},
  ): Promise<DeviceBuffer<NoInfer<D>>> {
    options = UPLOAD_FILE_OPTIONS.read(options, "uploadFile");
    return await uploadFile(path, { ...options, gpu: this });
  }

  /**
   * Allocates device memory and fills it from a response, a server's request, a stream or a blob, in
   * constant host memory. Resolves when the bytes are on the device. Allocates once when `shape` or the
   * source tells the length, and grows the memory otherwise. When the memory for a server's request
   * cannot be allocated, the request is not read, so the call can be repeated with it.
   *
   * @throws RangeError when the source gives fewer or more bytes than expected.
   *
   * @example
   * ```ts
   * import { CudaDevice } from "vramkit";
   *
   * using gpu = CudaDevice.open(0, { driver: "auto" });
   * const response = new Response(new Float32Array([1, 2, 3])); // or await fetch(url)
   * using x = await gpu.from(response, { dtype: "float32" });
   * console.log(await x.download()); // Float32Array(3) [1, 2, 3]
   * ```
   */
  async from<D extends DType = "uint8">(
    source: ByteSource,
    options: FromOptions<D> = {},
  ): Promise<DeviceBuffer<NoInfer<D>>> {
    options = FROM_OPTIONS.read(options, "from");
    return await bufferFromSource(source, { ...options, gpu: this });
  }

  /**
   * Loads a .npy file of Python's numpy into new device memory, straight from the page cache. The GPU
   * puts arrays in Fortran order into C order; the host swaps the bytes of big-endian ones. Needs
   * `--allow-read`; `loadNpz()` of `vramkit/numpy` loads archives.
   *
   * With `dtype` the result has that element type, for the compiler as well.
   *
   * @throws NumpyError when it is not such a file, was cut off, or holds objects, texts and the like.
   * @throws TypeError when its elements are not of `dtype`.
   *
   * @example
   * ```ts
   * import { CudaDevice } from "vramkit";
   *
   * using gpu = CudaDevice.open(0, { driver: "auto" });
   * using x = gpu.iota("float32", [2, 3]);
   * const path = await Deno.makeTempFile({ suffix: ".npy" });
   * await x.saveNpy(path);
   * using y = await gpu.loadNpy(path, { dtype: "float32" });
   * console.log(y.dtype, y.shape, await x.equals(y)); // float32 [ 2, 3 ] true
   * await Deno.remove(path);
   * ```
   */
  loadNpy<D extends DType = DType>(
    source: FilePath | ByteSource | HostMemory,
    options: LoadNpyOptions & { readonly dtype?: D | undefined } = {},
  ): Promise<DeviceBuffer<NoInfer<D>>> {
    return loadNpy(source, this, options);
  }

  /**
   * Loads a safetensors model into one block of device memory for each file. Its tensors are views,
   * found by name. Bytes in memory, a blob, a response, a stream or an address on the web are one
   * file: its tensors go to the device in the order of their bytes, as they arrive.
   *
   * @throws SafetensorsError when a file breaks the format; the message names the file and the
   *   reason.
   * @throws Error when a response reports a failure; the message has its status.
   */
  loadSafetensors(
    source: SafetensorsSource | ByteSource | HostMemory,
    options: LoadSafetensorsOptions = {},
  ): Promise<SafetensorsModel> {
    return loadSafetensors(source, this, options);
  }

  /**
   * Compiles CUDA C++ for this GPU and returns its kernel, which `launch()` runs. NVIDIA's compiler
   * NVRTC is found in CUDA's folder, in conda, among Python's packages or in the system (`pip install
   * nvidia-cuda-nvrtc-cu12` brings it); it works on a thread of its own. Code that was compiled
   * before is reused, also by later programs if they may write to their cache folder.
   *
   * @throws CompileError with the lines that have mistakes.
   * @throws CudaUnavailableError when there is no NVRTC; the message says how to get it.
   *
   * @example
   * ```ts
   * import { CudaDevice } from "vramkit";
   *
   * using gpu = CudaDevice.open(0, { driver: "auto" });
   * if (!gpu.isSimulated) {
   *   using square = await gpu.compile(`__global__ void square(float *x) {
   *     x[threadIdx.x] *= x[threadIdx.x];
   *   }`);
   *   using x = await gpu.upload(new Float32Array([1, 2, 3]));
   *   square.launch({ grid: 1, block: 3, args: [x] });
   *   console.log(await x.download()); // Float32Array(3) [1, 4, 9]
   * }
   * ```
   */
  async compile(source: string, options: CompileOptions = {}): Promise<CudaKernel> {
    return await compileKernel(this.context, source, options);
  }

  /**
   * Loads kernels and variables that were compiled before: a text of PTX, the bytes of PTX, of a cubin
   * or of a fat binary, or the path of such a file, which needs `--allow-read`. A list of these, and of
   * CUDA object files, is linked into one module: one part may define what another declares `extern`.
   *
   * @throws TypeError for a value that is not such code, and code that was cut off or lacks what it
   *   declares.
   * @throws CudaError when the code is for another kind of GPU, or for a newer driver.
   */
  async loadModule(
    source: ModuleSource | readonly ModuleSource[],
    options: ModuleOptions = {},
  ): Promise<CudaModule> {
    return await loadModule(this.context, source, options);
  }

  /**
   * Returns how well a kernel fills the GPU with blocks of a given size, or of the size that the
   * driver proposes (cuOccupancyMaxPotentialBlockSize).
   */
  occupancy(kernel: CudaKernel, options: OccupancyOptions = {}): Occupancy {
    return occupancyOf(this.context, kernel, options);
  }

  /**
   * Saves buffers as a safetensors file: an object, a Map or a loaded model. Resolves when the file is
   * written; until then the buffers' memory is kept, even when they are disposed. The new file replaces
   * the old one once it is complete; until then, and when anything fails, the old file stays as it was.
   * The buffers may belong to several devices. Needs `--allow-write`.
   *
   * @throws RangeError when a name occurs twice or is `"__metadata__"`.
   * @throws TypeError when a value is not a buffer, or metadata is not a string; the message says
   *   which.
   * @throws DisposedError when a buffer or the stream was disposed.
   */
  saveSafetensors(
    path: FilePath,
    tensors: NamedTensors,
    options: SaveSafetensorsOptions = {},
  ): Promise<void> {
    return saveSafetensors(path, tensors, options);
  }

  /** Creates a stream: a queue of GPU work beside the default stream. */
  createStream(options: StreamOptions = {}): CudaStream {
    return createStream(this.context, options);
  }

  /** Creates an event, which streams record and wait for. */
  createEvent(options: EventOptions = {}): CudaEvent {
    return createEvent(this.context, options);
  }

  /**
   * Records the copies, fills, kernels and allocations that `body` queues on one stream, instead of
   * running them. The result is a graph that one call launches, any number of times.
   *
   * Device memory that `body` allocates belongs to the graph. A buffer that `body` disposes exists
   * only while a launch runs; one that it keeps exists after the first launch. Calls in `body` use the
   * captured stream when they name none. A second stream that uses recorded memory is recorded too; work
   * of other streams on other memory runs at once. The graph keeps all memory that it uses until it is
   * disposed.
   *
   * @throws TypeError when `body` waits, uses ordinary arrays or is async: a graph cannot hold
   *   these.
   *
   * @example
   * ```ts
   * import { CudaDevice } from "vramkit";
   *
   * using gpu = CudaDevice.open(0, { driver: "auto" });
   * using input = gpu.pinned("float32", 4);
   * using output = gpu.pinned("float32", 4);
   * using graph = gpu.capture(() => {
   *   using scratch = gpu.alloc("float32", 4);
   *   scratch.copyFrom(input);
   *   output.copyFrom(scratch);
   * });
   * input.array.fill(7);
   * graph.launch();
   * await gpu.synchronize();
   * console.log(output.array); // Float32Array(4) [7, 7, 7, 7]
   * ```
   */
  capture<T>(
    body: (stream: CudaStream) => T extends PromiseLike<unknown> ? never : T,
    options: CaptureOptions = {},
  ): CudaGraph {
    const { stream, label } = this.#place(CAPTURE_OPTIONS.read(options, "capture"));
    return captureGraph(stream, { body, label });
  }

  /**
   * Resolves when all work queued so far is done, transfers included, on the default stream and on all
   * streams from {@link CudaDevice.createStream}, disposed ones too, and the memory that waited for it
   * is freed. The event loop keeps running. Only {@link CudaDevice.synchronizeSync} waits for streams
   * of other libraries as well.
   *
   * @throws CudaError when queued work failed.
   */
  async synchronize(): Promise<void> {
    await synchronizeStreams(this.context);
  }

  /**
   * Blocks until all work on all streams is done, transfers included (cuCtxSynchronize).
   *
   * @throws CudaError when queued work failed.
   */
  synchronizeSync(): void {
    requireNoCapture("wait for the device");
    finishPending(this.context, `wait for ${this}`);
    this.context.waitForAll();
    throwFailures(this.context);
  }

  /**
   * Disposes the value in the slot `name`, then stores what `make` returns or resolves to. In a
   * notebook, running a cell again then frees what its last run created. The slot stays empty when
   * `make` fails.
   *
   * @throws TypeError when `make` is running for the same slot: it would dispose what that returns.
   */
  slot<T extends Held | Promise<Held>>(name: string, make: () => T): T {
    return fillSlot(this.context, { name, make });
  }

  /**
   * Measures work on a stream with events: GPU time, host time, bytes copied. Calls in `work`, which may
   * be async, use that stream when they name none.
   */
  async time(work: () => unknown, options: StreamChoice = {}): Promise<Timing> {
    const choice = STREAM_CHOICE.read(options, "time");
    return await timeOnStream(streamOn(this.context, choice, "work"), work);
  }

  /** Calls `body`, which queues work by `trace.run()`, and returns what ran at the same time. */
  async traceOverlap(body: (trace: OverlapRecorder) => unknown): Promise<OverlapTrace> {
    return await traceOverlap(this.context, { device: this.name, body });
  }

  /**
   * Measures the speed of copies by nvbandwidth's method, and checks every byte: by size, or
   * nvbandwidth's cases for one GPU, by copy engine and by kernel, with the latency of an access to
   * host memory.
   *
   * @throws RangeError when the options leave nothing to measure.
   * @throws TypeError for an option that would have no effect, such as `caseSize` without cases.
   */
  async bandwidth(options: BandwidthOptions = {}): Promise<BandwidthResult> {
    options = BANDWIDTH_OPTIONS.read(options, "bandwidth");
    if (this.#disposed) throw new DisposedError(this.toString());
    const memory = { device: this.memoryResource, pinned: this.pinnedMemoryResource };
    const { points, cases, latencies } = await measureBandwidth(memory, options);
    const { name, theoreticalGigabytesPerSecond } = this.info.bus;
    return new BandwidthResult({
      provenance: this.provenance(),
      busName: name,
      theoreticalGigabytesPerSecond,
      points,
      fits: fitLines(points),
      cases,
      latencies,
    });
  }

  /** Returns the device, driver and versions that a measurement made now belongs to. */
  provenance(): Provenance {
    return {
      device: this.name,
      ordinal: this.ordinal,
      driver: this.context.driver.version,
      deno: Deno.version.deno,
      vramkit: VERSION,
      date: new Date().toISOString(),
      ...(this.isSimulated ? { isModelled: true } : {}),
    };
  }

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
    options = STAGED_OPTIONS.read(options, "staged");
    const { resource = this.memoryResource, pinnedResource = this.pinnedMemoryResource } = options;
    const place = this.#place(options);
    return allocateStagedBuffer({ dtype, shape, resource, pinnedResource, ...place });
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
    options = MAPPED_OPTIONS.read(options, "mapped");
    const { portable, writeCombined } = options;
    const resource = new MappedHostMemoryResource(this, { portable, writeCombined });
    return allocatePinnedBuffer(
      { dtype, shape, resource, ...this.#place(options) },
      MappedBuffer<D>,
    );
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
    options = ALLOCATE_OPTIONS.read(options, "managed");
    const { resource = new ManagedMemoryResource(this) } = options;
    return allocateManagedBuffer({ dtype, shape, resource, ...this.#place(options) });
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
    options = GROWABLE_OPTIONS.read(options, "growable");
    const resource = new VirtualMemoryResource(this);
    return allocateGrowableBuffer({ ...options, dtype, resource, ...this.#place(options) });
  }

  /**
   * Creates a buffer whose device memory is allocated by its first use, or by `ensureAllocated()`. With
   * a file, the first use also reads the elements from it; `await load()` reads them earlier, without
   * blocking.
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
    options: LazyOptions = {},
  ): LazyBuffer<D> {
    options = LAZY_OPTIONS.read(options, "lazy");
    const { resource = this.memoryResource, file, fileOffset } = options;
    return planLazyBuffer({ dtype, shape, resource, file, fileOffset, ...this.#place(options) });
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
  ): RegisteredBuffer<NoInfer<D>>;
  /** Page-locks existing memory, as bytes or as elements of `dtype`. */
  register<D extends DType = "uint8">(
    source: HostMemory,
    options?: RegisterOptions<D>,
  ): RegisteredBuffer<NoInfer<D>>;
  register<D extends DType>(
    source: HostMemory,
    options: RegisterOptions<D> = {},
  ): RegisteredBuffer<D> {
    options = REGISTER_OPTIONS.read(options, "register");
    return registerBuffer({ ...options, source, ...this.#place(options) });
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
    const place = this.#place(PLACE_OPTIONS.read(options, "pitched"));
    return allocatePitchedBuffer({ dtype, shape, ...place });
  }

  /**
   * Opens what is persisted under a name, or makes it: memory that stays on the GPU when this program ends,
   * in whatever way, until `forget()` gives it up. A second call returns what the first one made, also after
   * a restart of a notebook's kernel. Starts the keeper, a small process that holds the memory by file
   * descriptors and needs `--allow-run`; works on Linux.
   *
   * The function returns a device buffer, an object of named device buffers, or a model of
   * {@link CudaDevice.loadSafetensors}. Inside it this device's memory comes from chunks that other processes can
   * open. `dispose()` lets go of the memory here and leaves it on the GPU.
   *
   * @throws PersistError when the name was made with another key, or of files that have changed since; when
   *   the function returned something else; when another process keeps it asleep.
   *
   * @example
   * ```ts
   * import { CudaDevice } from "vramkit";
   *
   * using gpu = CudaDevice.open(0, { driver: "simulated" });
   * using model = await gpu.persist("llama", () => gpu.zeros("float32", [512, 512]));
   * console.log(model.persistence.state, model.persistence.wasThere); // clean false
   * await gpu.forget("llama");
   * ```
   */
  async persist<T extends Persistable>(
    name: string,
    make: () => T | Promise<T>,
    options: PersistOptions = {},
  ): Promise<Persisted<T>> {
    const { persistMemory } = await import("../persist/persist.ts");
    const request = { name, make, resources: this.#deviceResources };
    const value = await persistMemory(this.context, request, options);
    return value as unknown as Persisted<T>;
  }

  /**
   * Lists what is persisted on this device, by whatever program: names, sizes, when it was made and of what,
   * who has it open, and whether it is whole.
   */
  async persisted(): Promise<PersistedTable> {
    const device = deviceUuid(this.context);
    const { persistedTable } = await import("../persist/persist.ts");
    return await persistedTable(device);
  }

  /**
   * Gives up what is persisted under a name: its memory is freed when the last program lets go. Returns
   * whether there was such a name.
   */
  async forget(name: string): Promise<boolean> {
    requireKind(name, TEXT, "forget");
    const device = deviceUuid(this.context);
    const { forgetPersisted } = await import("../persist/persist.ts");
    return await forgetPersisted({ name, device });
  }

  /**
   * Puts memory to sleep, behind all that was queued: its contents go to host memory or a file, its device
   * memory is free, and its addresses stay. Resolves when it is away. It comes back by
   * {@link CudaDevice.wake}, or by its next use; views and recorded graphs stay valid.
   *
   * Takes a buffer, a model, an object of named buffers, or all memory of a tag: `{ tag: "weights" }`. The
   * memory must come from a {@link VirtualMemoryResource}, `growable()` or `persist()`. Addresses that the
   * program has read (`ptr`) must not be used meanwhile: the kit cannot know.
   *
   * @throws PersistError for other memory, by its name; for persisted memory that other programs have open,
   *   with their processes.
   * @throws TypeError while another library or process uses it.
   *
   * @example
   * ```ts
   * import { CudaDevice } from "vramkit";
   * import { VirtualMemoryResource } from "vramkit/memory";
   *
   * using gpu = CudaDevice.open(0, {
   *   driver: "auto",
   *   resource: (gpu) => new VirtualMemoryResource(gpu),
   * });
   * using x = gpu.iota("int32", 4);
   * await gpu.sleep(x); // its memory is free
   * await gpu.wake(x);
   * console.log(await x.download()); // Int32Array(4) [0, 1, 2, 3]
   * ```
   */
  async sleep(target: Sleepable, options: SleepOptions = {}): Promise<void> {
    const { sleepMemory } = await import("../persist/sleep.ts");
    await sleepMemory(this.context, target, options);
  }

  /**
   * Brings memory that sleeps back to its addresses. Resolves when its contents are there. What is awake
   * stays as it is.
   *
   * @throws OutOfMemoryError when the device has too little memory: it is asleep and whole then.
   */
  async wake(target: Sleepable): Promise<void> {
    const { wakeMemory } = await import("../persist/sleep.ts");
    await wakeMemory(this.context, target);
  }

  /** The device's memory by use, in bytes, at this moment (cuMemGetInfo). */
  get memory(): DeviceMemory {
    return readDeviceMemory(this.context);
  }

  /**
   * Gives back the memory that is kept for later calls: free blocks of pools and caches on this
   * device, the page-locked memory that transfers pass through, and arrays made in advance. Memory in
   * use stays, and later calls allocate what they need again. Blocks until all queued work is done.
   * The kit does this by itself before an allocation fails.
   *
   * @returns The number of bytes that were given back, on the device and on the host.
   */
  trim(): number {
    requireNoCapture("give memory back");
    return trimAll(this.context);
  }

  /**
   * Calls `body` and then disposes everything that it passed to `scope.use()`, also when it throws.
   * Meant for notebook cells, where a top-level `using` never disposes. With a label, it also
   * tracks the memory allocated inside under that name.
   */
  scope<T>(body: (scope: Scope) => T, options: ScopeOptions = {}): T {
    const { label } = SCOPE_OPTIONS.read(options, "scope");
    requireKind(body, CALLBACK, "scope");
    if (label === undefined) return runScope(body);
    return runScope((scope) => {
      scope.use(this.track(label));
      return body(scope);
    });
  }

  /**
   * Lists the live objects of this device that match `query`, largest first.
   *
   * @example
   * ```ts
   * import { CudaDevice } from "vramkit";
   *
   * using gpu = CudaDevice.open(0, { driver: "auto" });
   * using weights = gpu.alloc("float32", [512, 512], { label: "weights" });
   * console.log(gpu.live({ minSize: "1 MiB", label: weights.label ?? "" })); // a table with one row
   * ```
   */
  live(query: LiveQuery = {}): LiveTable {
    return listLive(this.context.ledger, query);
  }

  /** Returns a mark of this moment for {@link CudaDevice.disposeSince}. */
  mark(): MemoryMark {
    return { id: nextId() };
  }

  /** Disposes everything that was created on this device since a mark, newest first. */
  disposeSince(mark: MemoryMark): void {
    requireKind(mark, MARK, "disposeSince");
    requireNoCapture("give everything back");
    this.context.ledger.releaseAfter(mark.id);
  }

  /**
   * Disposes everything that is alive on this device. References to those objects remain, and
   * report that they are disposed.
   */
  disposeAll(): void {
    requireNoCapture("give everything back");
    this.context.ledger.releaseAfter(0);
  }

  /**
   * Counts the device memory that is allocated from now until the result is disposed. Tracks nest.
   *
   * @example
   * ```ts
   * import { CudaDevice } from "vramkit";
   *
   * using gpu = CudaDevice.open(0, { driver: "auto" });
   * using epoch = gpu.track("epoch 1");
   * gpu.alloc("float32", 1024).dispose();
   * console.log(epoch.peakBytes, epoch.currentBytes); // 4096 0
   * ```
   */
  track(label: string): MemoryTrack {
    requireKind(label, TEXT, "track");
    const record = this.context.ledger.openTrack(label);
    const track = new MemoryTrack(new Parts(record));
    watch(track, record);
    return track;
  }

  /**
   * Limits the memory that live buffers and caches may hold on this device: bytes, `"2 GiB"`, or
   * `"40%"` of the device's memory; undefined lifts the limit. Allocations beyond it fail by an
   * {@link OutOfMemoryError} whose cause is a {@link MemoryLimitError}, before a resource or the driver is
   * asked.
   */
  limit(size: ByteSize | undefined): void {
    const { ledger, totalBytes } = this.context;
    ledger.limitBytes = size === undefined ? undefined : parseLimit(size, totalBytes);
  }

  /**
   * Recent events of the device's memory. Recording starts by itself in notebooks, and with
   * `timeline.start()` elsewhere.
   *
   * @example
   * ```ts
   * import { CudaDevice } from "vramkit";
   *
   * using gpu = CudaDevice.open(0, { driver: "auto" });
   * gpu.timeline.start();
   * gpu.alloc("float32", 1024, { label: "x" }).dispose();
   * const trace = gpu.timeline.toChromeTrace(); // open it in ui.perfetto.dev
   * console.log(gpu.timeline.length, trace.length > 0); // 2 true
   * gpu.timeline.stop();
   * ```
   */
  get timeline(): Timeline {
    return this.context.ledger.timeline;
  }

  /**
   * Returns what nvidia-smi shows about the device: load, memory of all programs, temperature,
   * power, clocks, bus (NVML). Needs only `--allow-ffi`; where NVML cannot be used, the result says
   * why. The first call opens NVML; each call blocks for some milliseconds.
   *
   * @example
   * ```ts
   * import { CudaDevice } from "vramkit";
   *
   * using gpu = CudaDevice.open(0, { driver: "auto" });
   * const { temperatureCelsius, powerWatts, processes = [] } = gpu.system();
   * console.log(temperatureCelsius, powerWatts, processes.length);
   * console.log(gpu.system()); // all of it, as a table
   * ```
   */
  system(): SystemState {
    return readSystemState(this.context, this.info);
  }

  /** Returns a full account of the memory, which objects hold how much, as text and as JSON. */
  report(): MemoryReport {
    return new MemoryReport(new Parts({ context: this.context, provenance: this.provenance() }));
  }

  /**
   * Releases the device. Buffers and streams created on it stay usable until they are disposed. A
   * second call does nothing.
   */
  dispose(): void {
    if (this.#disposed) return;
    requireNoCapture("dispose a device");
    this.#disposed = true;
    releaseAll(this.#context.driver, `${this}`, [
      () => this.#deviceResources[Symbol.dispose](),
      () => this.#pinnedResources[Symbol.dispose](),
      () => this.#shareable?.dispose(),
      () => this.#context.release(),
    ]);
  }

  /** Same as {@link CudaDevice.dispose}, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  /** Returns the device's name for messages: `CudaDevice(0, NVIDIA H200)`. */
  toString(): string {
    return `CudaDevice(${this.ordinal}, ${this.name})`;
  }

  /** Returns the text that the console shows. */
  [Symbol.for("Deno.customInspect")](): string {
    if (this.#disposed) return `${this} disposed`;
    try {
      const { freeBytes, totalBytes } = this.memory;
      return `${this} ${formatBytes(freeBytes)} of ${formatBytes(totalBytes)} free`;
    } catch (error) {
      return `${this} not readable: ${messageOf(error)}`;
    }
  }

  /** Returns the resource of memory that other processes can open. */
  #shareableFor({ resource }: DeviceAllocateOptions): MemoryResource {
    if (resource !== undefined) {
      throw new TypeError(
        "Cannot allocate with a resource and { shareable: true }: each says where the memory comes " +
          "from, pass one",
      );
    }
    requireNoCapture("allocate memory for other processes");
    return this.#shareable ??= ShareableMemoryResource.unlisted(this);
  }

  /** Returns the stream to allocate on, checked, and the label. */
  #place(options: PlaceOptions): { stream: CudaStream; label: string | undefined } {
    return { stream: streamOn(this.context, options, "memory"), label: options.label };
  }
}

comesFrom(CudaDevice, "CudaDevice.open()");
