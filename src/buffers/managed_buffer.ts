// Managed memory, which migrates between the host and the devices, and the hints that guide it.

import {
  CU_DEVICE_CPU,
  CUmem_advise as Advise,
  CUmem_range_attribute as Attribute,
  CUmemLocationType,
} from "../../ffi/constants.ts";
import { CUmemLocation } from "../../ffi/structs.ts";
import type { MemorySpan } from "../copies/copy.ts";
import { Context } from "../driver/context.ts";
import type { BitsOf, DType } from "../dtype.ts";
import { requireUnrecorded } from "../memory/captured_memory.ts";
import { queueInOrder } from "../memory/in_order.ts";
import type { ContextOwner } from "../memory/memory_resource.ts";
import { type CudaStream, queueOf } from "../order/stream.ts";
import { STREAM_CHOICE, type StreamChoice } from "../order/stream_choice.ts";
import { CudaUnavailableError } from "../words/errors.ts";
import { describeValue } from "../words/format.ts";
import { oneOf } from "../words/options.ts";
import { comesFrom, Parts } from "../words/parts.ts";
import { ALLOCATE_LIKE, streamFor } from "./gpu_buffer.ts";
import { HostBuffer, hostFields } from "./host_buffer.ts";
import type { BufferRequest } from "./place_options.ts";
import type { BUFFER_KIND } from "./retyped.ts";

/** Place for pages of managed memory: a device, or `"host"` for the host's memory. */
export type ManagedPlace = ContextOwner | "host";

/** Hint about the use of managed memory. */
export type ManagedHint = "readMostly" | "preferredLocation" | "accessedBy";

/** The hints that hold for a range. Devices are given by number. */
export interface ManagedAdvice {
  /** The pages are mostly read, so that copies of them may be kept in several places. */
  readonly readMostly: boolean;
  /** Preferred place of the pages; undefined without a hint, or when pages have different ones. */
  readonly preferredLocation: number | "host" | undefined;
  /** Devices, or `"host"`, that use the pages often and keep them mapped. */
  readonly accessedBy: readonly (number | "host")[];
  /** Place of the last prefetch; undefined without one, or when pages went to different places. */
  readonly lastPrefetchLocation: number | "host" | undefined;
}

/** The driver's names for hints. */
const HINTS = {
  readMostly: "READ_MOSTLY",
  preferredLocation: "PREFERRED_LOCATION",
  accessedBy: "ACCESSED_BY",
} as const satisfies Record<ManagedHint, string>;

/**
 * Managed (unified) memory: `array` on the host and `ptr` on every device are the same bytes, and
 * pages migrate to where they are used. Use it for data larger than the device's memory, or used by
 * host and device in turn. Hints, prefetches and discards of a view affect only its pages:
 * `u.subarray(0, 1000).prefetch(gpu)`. {@link CudaDevice.managed} creates one.
 */
export class ManagedBuffer<D extends DType = DType> extends HostBuffer<D> {
  /** @ignore Its kind, for types. */
  declare readonly [BUFFER_KIND]: "host managed";
  /**
   * The elements as a typed array over the memory itself; see {@link HostBuffer.array}.
   *
   * @throws CudaUnavailableError on systems where the host must not touch managed memory while the
   *   GPU works: a single read could end the process there. `download()` and `upload()` work
   *   everywhere.
   */
  override get array(): BitsOf<D> {
    const array = super.array;
    if (this.isHostAccessible) return array;
    throw new CudaUnavailableError(
      "not-supported",
      `Cannot show ${this} to the host: device ${this.deviceOrdinal} does not let the host touch ` +
        `managed memory while the GPU works; use download() and upload(), or a mapped buffer`,
    );
  }

  /** Queues moving the pages to a device or the host before they are used (cuMemPrefetchAsync). */
  prefetch(place: ManagedPlace, options: StreamChoice = {}): this {
    options = STREAM_CHOICE.read(options, "prefetch");
    const { context, span } = this;
    const stream = streamFor(this, options);
    const device = deviceOf(place, { action: "prefetch", context });
    if (place === "host") deviceOf(stream, { action: "prefetch", context });
    const { address, byteLength } = span;
    return this.#queue(
      span,
      { stream, access: "read", action: "prefetch" },
      ({ context, handle }) => {
        context.call("cuMemPrefetchAsync", address, BigInt(byteLength), device, handle);
      },
    );
  }

  /**
   * Sets a hint, which holds until {@link ManagedBuffer.unadvise}: `"readMostly"` (several places
   * may keep copies of the pages), or `"preferredLocation"` or `"accessedBy"` with a place
   * (cuMemAdvise).
   */
  advise(hint: ManagedHint, place?: ManagedPlace): this {
    return this.#setHint(hint, place, "SET");
  }

  /** Removes a hint; `"accessedBy"` needs the place that it was set for (cuMemAdvise). */
  unadvise(hint: ManagedHint, place?: ManagedPlace): this {
    return this.#setHint(hint, place, "UNSET");
  }

  /** The hints that hold for all of its pages, and the place of the last prefetch. */
  get advice(): ManagedAdvice {
    const { context, span: { address, byteLength } } = this;
    const read = (attribute: number, count = 1): Int32Array<ArrayBuffer> => {
      const values = new Int32Array(count).fill(NOWHERE);
      if (byteLength === 0) return values;
      const size = BigInt(values.byteLength);
      context.call("cuMemRangeGetAttribute", values, size, attribute, address, BigInt(byteLength));
      return values;
    };
    const hostAndDevices = 1 + context.driver.deviceCount;
    const lastPrefetch = read(Attribute.CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION);
    return {
      readMostly: read(Attribute.CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY)[0] === 1,
      preferredLocation: places(read(Attribute.CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION))[0],
      accessedBy: places(read(Attribute.CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, hostAndDevices)),
      lastPrefetchLocation: places(lastPrefetch)[0],
    };
  }

  /**
   * Queues discarding the contents, and moves the pages to the stream's device without copying them
   * (cuMemDiscardAndPrefetchBatchAsync). Write the elements before reading them again.
   *
   * @throws CudaUnavailableError when the driver is older than CUDA 13.0.
   */
  discard(options: StreamChoice = {}): this {
    options = STREAM_CHOICE.read(options, "discard");
    const { span } = this;
    const stream = streamFor(this, options);
    // A discard and a prefetch as two calls can lose a later write.
    return this.#queue(
      span,
      { stream, access: "write", action: "discard" },
      ({ context, handle }) => {
        const addresses = BigUint64Array.of(span.address);
        const sizes = BigUint64Array.of(BigInt(span.byteLength));
        const place = CUmemLocation.encode({
          type: CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE,
          id: deviceOf(stream, { action: "prefetch", context: this.context }),
        });
        context.call(
          "cuMemDiscardAndPrefetchBatchAsync",
          addresses,
          sizes,
          1n,
          place,
          new BigUint64Array(1),
          1n,
          0n,
          handle,
        );
      },
    );
  }

  /** Sets or removes a hint for the pages (cuMemAdvise). */
  #setHint(hint: ManagedHint, place: ManagedPlace | undefined, action: "SET" | "UNSET"): this {
    const { context, span: { address, byteLength } } = this;
    const name = typeof hint === "string" && Object.hasOwn(HINTS, hint) ? HINTS[hint] : undefined;
    if (name === undefined) {
      throw new TypeError(
        `Cannot advise ${describeValue(hint)}: expected ${oneOf(...Object.keys(HINTS)).expected}`,
      );
    }
    const needsPlace = hint === "accessedBy" || (hint === "preferredLocation" && action === "SET");
    if (needsPlace && place === undefined) {
      throw new TypeError(`Cannot advise ${hint}: it needs a place, a device or "host"`);
    }
    const device = place === undefined
      ? context.deviceHandle
      : deviceOf(place, { action: "advise", context });
    if (byteLength === 0) return this;
    const code = Advise[`CU_MEM_ADVISE_${action}_${name}` as const];
    context.call("cuMemAdvise", address, BigInt(byteLength), code, device);
    return this;
  }

  /** Queues a call about the pages, in the order of their uses. */
  #queue(
    span: MemorySpan,
    { stream, access, action }: {
      readonly stream: CudaStream;
      readonly access: "read" | "write";
      readonly action: string;
    },
    call: (queue: ReturnType<typeof queueOf>) => void,
  ): this {
    const { allocation, byteLength } = span;
    if (byteLength === 0) return this;
    requireUnrecorded(allocation, stream, action);
    queueInOrder(stream, [{ ...span, access }], () => {
      allocation.order(stream, access);
      call(queueOf(stream));
    });
    return this;
  }

  /** @ignore Allocates a buffer of the same kind. */
  protected [ALLOCATE_LIKE](request: BufferRequest<D>): ManagedBuffer<D> {
    return allocateManagedBuffer(request);
  }
}

comesFrom(ManagedBuffer, "gpu.managed()");

/** Allocates managed memory. The elements keep whatever was there before. */
export function allocateManagedBuffer<D extends DType>(
  request: BufferRequest<D>,
): ManagedBuffer<D> {
  return new ManagedBuffer(new Parts(hostFields(request, "managed")));
}

/** The driver's value for "no place" (CU_DEVICE_INVALID). */
const NOWHERE = -2;

function places(devices: Int32Array): (number | "host")[] {
  return [...devices]
    .filter((device) => device !== NOWHERE)
    .map((device) => device === CU_DEVICE_CPU ? "host" : device);
}

function deviceOf(
  place: ManagedPlace,
  { action, context: home }: { readonly action: string; readonly context: Context },
): number {
  if (place === "host") return CU_DEVICE_CPU;
  if (!(place?.context instanceof Context)) {
    throw new TypeError(`Cannot ${action} ${describeValue(place)}: expected a device or "host"`);
  }
  const { context } = place;
  if (context.driver !== home.driver) {
    throw new TypeError(
      `Cannot ${action} managed memory: the device is of another driver, which does not know it`,
    );
  }
  checkConcurrent(context, action);
  return context.deviceHandle;
}

function checkConcurrent(context: Context, action: string): void {
  if (context.attribute("CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS") === 1) return;
  throw new CudaUnavailableError(
    "not-supported",
    `Cannot ${action} managed memory on device ${context.ordinal}: the device does not share it ` +
      `with the host while it works, so the driver moves it by itself`,
  );
}
