// Several devices, opened and disposed together.

import { refuseIndices } from "../buffers/array_habits.ts";
import type { DeviceAllocator } from "../buffers/device_buffer.ts";
import { allocateDeviceBuffer, type DeviceBuffer } from "../buffers/device_buffer.ts";
import type { Uploadable } from "../buffers/gpu_buffer.ts";
import type { HostValues, UntypedSource } from "../buffers/host_values.ts";
import type { Context } from "../driver/context.ts";
import { releaseAll } from "../driver/release.ts";
import { DTYPE, type DType, type DTypeOf, elementBytes, type HostArray } from "../dtype.ts";
import { type DeviceGroup, startGroup } from "../group/device_group.ts";
import type { GroupOptions } from "../group/group_options.ts";
import type { SafetensorsSource } from "../interop/safetensors/shards.ts";
import type { Provenance } from "../measure/bandwidth_result.ts";
import { LinkBandwidthResult } from "../measure/link_bandwidth_result.ts";
import {
  LINK_BANDWIDTH_OPTIONS,
  type LinkBandwidthOptions,
  measureLinks,
} from "../measure/link_cases.ts";
import type { HostMemory } from "../memory/host_memory.ts";
import type { MemoryResource } from "../memory/memory_resource.ts";
import { StripedMemoryResource, type StripeOptions } from "../memory/striped_memory_resource.ts";
import { defaultStreamOf } from "../order/stream.ts";
import { type DeviceParts, uploadParts, type UploadPartsOptions } from "../spread/device_parts.ts";
import { loadSharded, type LoadShardedOptions } from "../spread/load_sharded.ts";
import type { ShardedModel } from "../spread/sharded_model.ts";
import { DisposedError } from "../words/errors.ts";
import { type ByteSize, formatCount, parseBytes } from "../words/format.ts";
import { CALLBACK, NUMBER, OptionSet, requireKind, SIZE, TEXT } from "../words/options.ts";
import { comesFrom, Parts, partsOf } from "../words/parts.ts";
import { refuseCloning } from "../words/uncloneable.ts";
import { Topology } from "./topology.ts";

/** A device in a {@link DeviceList}. */
export interface ListedDevice extends DeviceAllocator, Disposable {
  /** The context of the device. */
  readonly context: Context;
  /** The device's number, counted from 0. */
  readonly ordinal: number;
  /** The device's name. */
  readonly name: string;
  /** The device was disposed. */
  readonly disposed: boolean;
  /** The resource that its memory comes from by default. */
  readonly memoryResource: MemoryResource;
  /** The resource that its page-locked memory comes from by default. */
  readonly pinnedMemoryResource: MemoryResource;
  /** Returns the device, driver and versions that a measurement made now belongs to. */
  provenance(): Provenance;
}

/** Options for {@link DeviceList.stripe}. */
export interface StripeBufferOptions<D extends DType> extends StripeOptions {
  /** Element type; bytes by default. */
  readonly dtype?: D | undefined;
  /** Name shown in tables, errors and plots. */
  readonly label?: string | undefined;
}

const STRIPE_BUFFER_OPTIONS: OptionSet<StripeBufferOptions<DType>> = new OptionSet({
  stripeSize: SIZE,
  dtype: DTYPE,
  label: TEXT,
});

/**
 * Several open devices. `CudaDevice.all()` and `CudaDevice.openMany()` make one; disposing it disposes
 * its devices.
 *
 * @example
 * ```ts
 * import { CudaDevice } from "vramkit";
 *
 * using gpus = CudaDevice.all({ driver: "auto" });
 * for (const gpu of gpus) console.log(gpu.ordinal, gpu.name);
 * ```
 */
export class DeviceList<G extends ListedDevice = ListedDevice> implements Iterable<G>, Disposable {
  readonly #devices: readonly G[];
  #disposed = false;

  static {
    refuseIndices(DeviceList.prototype, {
      read: "use gpus.at(i), or iterate over the list",
      write: "a list of devices stays as it is; open other ones with CudaDevice.openMany()",
    });
  }

  /** @ignore Adopts devices. */
  constructor(parts: Parts<readonly G[]>) {
    this.#devices = partsOf(parts, new.target);
    refuseCloning(this);
  }

  /** Number of devices. */
  get length(): number {
    return this.#devices.length;
  }

  /** Tells whether the list was disposed. */
  get disposed(): boolean {
    return this.#disposed;
  }

  /** Returns the device at a place, counted from the end when it is negative; undefined beyond both. */
  at(index: number): G | undefined {
    requireKind(index, NUMBER, "at");
    return this.#devices.at(index);
  }

  /** Returns the results of `body` for all devices, in their order. */
  map<T>(body: (gpu: G, index: number) => T): T[] {
    requireKind(body, CALLBACK, "map");
    return this.#devices.map((gpu, index) => body(gpu, index));
  }

  /** Returns the devices for JSON. */
  toJSON(): readonly G[] {
    return this.#devices;
  }

  /** Iterates over the devices, in the order in which they were named. */
  [Symbol.iterator](): Iterator<G, undefined, unknown> & Iterable<G> {
    return this.#devices[Symbol.iterator]();
  }

  /**
   * Reads the links between all devices from the driver (cuDeviceGetP2PAttribute) and from NVIDIA's
   * management library.
   */
  topology(): Topology {
    if (this.#disposed) throw new DisposedError(this.toString());
    return new Topology(new Parts(this.#devices));
  }

  /**
   * Starts a group of the devices over NVIDIA's NCCL, whose calls work on buffers of all of them. NCCL is
   * found as `docs/several_gpus.md` says. Starting takes about a second and blocks meanwhile.
   *
   * @throws CudaUnavailableError when there is no NCCL; the message says how to get it.
   * @throws GroupError when NCCL cannot start.
   */
  group(options: GroupOptions = {}): Promise<DeviceGroup> {
    return Promise.try(() => {
      if (this.#disposed) throw new DisposedError(this.toString());
      return startGroup(this.#devices.map(({ context }) => context), options, this.#devices);
    });
  }

  /**
   * Allocates memory on all devices and copies an array into it, over all their links at once: a part
   * on each device, or with `{ split: "replicate" }` the whole array on each. Resolves when the
   * copies are done; do not change the array before. When it fails on one device, nothing stays on
   * the others.
   *
   * @throws RangeError when there is no such axis, or the offsets do not fit.
   */
  upload<A extends HostArray, D extends DType = DTypeOf<A>>(
    source: A & Uploadable<D>,
    options?: UploadPartsOptions<D>,
  ): Promise<DeviceParts<NoInfer<D>>>;
  /** Allocates memory on all devices and copies an array of a type parameter's class into it. */
  upload<A extends HostArray>(
    source: A,
    options?: UploadPartsOptions<DTypeOf<A>> & { readonly dtype?: undefined },
  ): Promise<DeviceParts<DTypeOf<A>>>;
  /** Allocates memory on all devices and copies numbers into it as `"float32"`. */
  upload(
    source: HostValues<number>,
    options?: UploadPartsOptions<"float32">,
  ): Promise<DeviceParts<"float32">>;
  /** Allocates memory on all devices and copies numbers or bytes into it. */
  upload<D extends DType>(
    source: UntypedSource<D> | Uploadable<D>,
    options: UploadPartsOptions<D> & { readonly dtype: D },
  ): Promise<DeviceParts<D>>;
  async upload<D extends DType>(
    source: HostMemory | HostValues,
    options: UploadPartsOptions<D> = {},
  ): Promise<DeviceParts<D>> {
    if (this.#disposed) throw new DisposedError(this.toString());
    return await uploadParts(this.#devices, source, options);
  }

  /**
   * Loads a model onto all devices: from a safetensors file, several of them, their index, or a folder
   * of these. By the names of the tensors, rules say along which axis each is split, or that each device
   * gets all of it; without rules each device gets the whole model. Each byte is read once. When
   * anything fails, nothing stays on the devices. Needs `--allow-read`.
   *
   * @throws SafetensorsError when a file breaks the format; the message names the file and the reason.
   * @throws RangeError when no rule matches a tensor's name, or the tensor lacks the rule's axis.
   *
   * @example
   * ```ts
   * import { CudaDevice } from "vramkit";
   *
   * using gpus = CudaDevice.openMany([0, 1], { driver: "simulated" });
   * const path = await Deno.makeTempFile({ suffix: ".safetensors" });
   * using up = await gpus.at(0)!.upload(new Float32Array(8), { shape: [4, 2] });
   * using norm = await gpus.at(0)!.upload(new Float32Array([1, 2]));
   * await gpus.at(0)!.saveSafetensors(path, { up, norm });
   * using model = await gpus.loadSafetensors(path, {
   *   place: [[/up|q_proj/, { split: 0 }], [/norm/, "replicate"]],
   * });
   * console.log(model.tensor("up").buffers.map(({ shape }) => shape)); // [ [ 2, 2 ], [ 2, 2 ] ]
   * console.log(await model.tensor("norm").download()); // Float32Array(2) [1, 2]
   * await Deno.remove(path);
   * ```
   */
  async loadSafetensors(
    source: SafetensorsSource,
    options: LoadShardedOptions = {},
  ): Promise<ShardedModel> {
    if (this.#disposed) throw new DisposedError(this.toString());
    return await loadSharded(source, this.#devices, options);
  }

  /**
   * Allocates memory in one range of addresses over all devices: stripe 0 lies on the first one, stripe
   * 1 on the second, and so on in turn. Copies, fills and kernels of all devices reach all of it. It
   * counts as memory of the first device. Its resource, a {@link StripedMemoryResource}, says where the
   * stripes are.
   *
   * @param size Bytes of the whole, a whole number of elements.
   *
   * @throws CudaUnavailableError when two devices cannot reach each other's memory; the message
   *   names them.
   * @throws OutOfMemoryError when one of the devices has too little memory; then nothing stays on
   *   the others.
   *
   * @example
   * ```ts
   * import { CudaDevice } from "vramkit";
   *
   * using gpus = CudaDevice.openMany([0, 1], { driver: "simulated" });
   * using wide = gpus.stripe("8 MiB", { dtype: "float32", stripeSize: "2 MiB" });
   * wide.fill(1);
   * console.log(wide.length, await wide.at(-1)); // 2097152 1
   * ```
   */
  stripe<D extends DType = "uint8">(
    size: ByteSize,
    options: StripeBufferOptions<D> = {},
  ): DeviceBuffer<NoInfer<D>> {
    const { dtype = "uint8" as D, label, stripeSize } = STRIPE_BUFFER_OPTIONS.read(
      options,
      "stripe",
    );
    if (this.#disposed) throw new DisposedError(this.toString());
    const byteLength = parseBytes(size, "size of striped memory");
    const length = byteLength / elementBytes(dtype);
    if (!Number.isInteger(length)) {
      throw new RangeError(
        `Cannot stripe ${byteLength} bytes as ${dtype}: they do not divide into elements of ` +
          `${elementBytes(dtype)} bytes`,
      );
    }
    const resource = new StripedMemoryResource(this.#devices, { stripeSize });
    const stream = defaultStreamOf(resource.context);
    return allocateDeviceBuffer({ dtype, shape: length, resource, stream, label });
  }

  /**
   * Measures the links of all devices with the host and with each other: nvbandwidth's copy-engine cases
   * for several GPUs, by its method. Speeds are in GB/s (1 GB = 10^9 bytes), each byte counted once; all
   * bytes are checked. Two devices take half a minute.
   */
  async bandwidth(options: LinkBandwidthOptions = {}): Promise<LinkBandwidthResult> {
    options = LINK_BANDWIDTH_OPTIONS.read(options, "bandwidth");
    if (this.#disposed) throw new DisposedError(this.toString());
    const memories = this.#devices.map(({ memoryResource, pinnedMemoryResource }) => {
      return { device: memoryResource, pinned: pinnedMemoryResource };
    });
    const cases = await measureLinks(memories, options);
    const devices = this.#devices.map(({ ordinal, name }) => ({ ordinal, name }));
    const [first] = this.#devices;
    if (first === undefined) throw new RangeError("Cannot measure the links of no devices");
    return new LinkBandwidthResult({ provenance: first.provenance(), devices, cases });
  }

  /** Disposes all devices, last in first out. A second call does nothing. */
  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    const open = this.#devices.filter(({ disposed }) => !disposed);
    const [first] = open;
    if (first === undefined) return;
    releaseAll(
      first.context.driver,
      `${this}`,
      open.toReversed().map((gpu) => () => gpu[Symbol.dispose]()),
    );
  }

  /** Same as {@link DeviceList.dispose}, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  /** Returns the list's name for messages: `DeviceList(2 devices)`. */
  toString(): string {
    return `DeviceList(${formatCount(this.length, "device")})`;
  }

  /** Returns the text that the console shows. */
  [Symbol.for("Deno.customInspect")](): string {
    return `${this}${this.#disposed ? " disposed" : ""}: ${this.#devices.join(", ")}`;
  }
}

comesFrom(DeviceList, "CudaDevice.all() and CudaDevice.openMany()");

/** Opens devices one after another; when one cannot be opened, disposes those before it. */
export function openDevices<G extends ListedDevice>(
  ordinals: readonly number[],
  open: (ordinal: number) => G,
): DeviceList<G> {
  using opened = new DisposableStack();
  const devices = ordinals.map((ordinal) => opened.use(open(ordinal)));
  opened.move();
  return new DeviceList(new Parts(devices));
}
