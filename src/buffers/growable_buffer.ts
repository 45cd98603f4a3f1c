// Device memory that grows and shrinks in place: its address, kernels' pointers and views stay
// valid.

import { MEMORY, type MemorySpan } from "../copies/copy.ts";
import { type DType, elementBytes } from "../dtype.ts";
import { Allocation } from "../memory/allocation.ts";
import { canReach, type DeviceAccess } from "../memory/device_access.ts";
import type { HostMemory } from "../memory/host_memory.ts";
import { contextOf, type ContextOwner } from "../memory/memory_resource.ts";
import { takeWithinLimits } from "../memory/out_of_memory.ts";
import type { VirtualMemoryResource } from "../memory/virtual_memory_resource.ts";
import type { VirtualRange, VirtualRangeRequest } from "../memory/virtual_range.ts";
import type { CudaStream } from "../order/stream.ts";
import type { StreamTarget } from "../transfer/staged_writer.ts";
import { writableInto } from "../transfer/web_streams.ts";
import { CudaError, CudaUnavailableError, DisposedError, isOutOfMemory } from "../words/errors.ts";
import { finished } from "../words/finished.ts";
import { type ByteSize, formatBytes, parseBytes } from "../words/format.ts";
import { OptionSet, SHAPE, SIZE } from "../words/options.ts";
import { comesFrom, Parts } from "../words/parts.ts";
import {
  ALLOCATE_LIKE,
  blockOf,
  type BufferFields,
  showElements,
  streamFor,
} from "./gpu_buffer.ts";
import { type BufferRequest, PLACE_KINDS, type PlaceOptions } from "./place_options.ts";
import { RemoteBuffer } from "./remote_buffer.ts";
import type { BUFFER_KIND } from "./retyped.ts";
import { byteLengthOf, elementsIn, requestedShape, type Shape, toShape } from "./shape.ts";

/** Options for allocating a growable buffer. */
export interface GrowableOptions extends PlaceOptions {
  /** Largest size, all of the device's memory by default; reserved addresses cost none. */
  readonly reserveSize?: ByteSize | undefined;
  /** Size of the steps of mapping; the smallest that the device can map by default (2 MiB). */
  readonly stepSize?: ByteSize | undefined;
  /** Shape to start with; no elements by default. */
  readonly shape?: number | Shape | undefined;
}

/** The options, by name and kind. */
export const GROWABLE_OPTIONS: OptionSet<GrowableOptions> = new OptionSet({
  ...PLACE_KINDS,
  reserveSize: SIZE,
  stepSize: SIZE,
  shape: SHAPE,
});

/** Gives a buffer another shape, and memory for it. */
let resizeTo: (buffer: GrowableBuffer, shape: Shape) => void;

/**
 * Device memory that grows and shrinks without moving: its addresses are reserved once, and memory
 * is mapped behind them as needed. Use it for data whose final size is unknown, such as a cache.
 * `length` counts the elements in use, `capacityBytes` the bytes with memory behind them.
 * `resize()` and `reserve()` map memory when they need it and never unmap any; `shrinkToFit()`
 * does. {@link CudaDevice.growable} creates one.
 */
export class GrowableBuffer<D extends DType = DType> extends RemoteBuffer<D> {
  /** @ignore Its kind, for types. */
  declare readonly [BUFFER_KIND]: "growable";
  readonly #range: VirtualRange;
  readonly #resource: VirtualMemoryResource;
  /** Number of shrinks so far: only the last one may unmap memory later. */
  #shrinkCount = 0;

  static {
    resizeTo = (buffer, shape) => buffer.#resizeTo(shape);
  }

  /** @ignore Adopts reserved addresses. */
  constructor(
    parts: Parts<
      & BufferFields<D>
      & { readonly range: VirtualRange; readonly resource: VirtualMemoryResource }
    >,
  ) {
    super(parts);
    this.#range = parts.value.range;
    this.#resource = parts.value.resource;
  }

  /** Bytes that have memory behind them. */
  get capacityBytes(): number {
    return this.totalByteLength;
  }

  /** Bytes of reserved addresses: the largest size it can grow to. */
  get reservedBytes(): number {
    return this.#range.reservedBytes;
  }

  /** Address of the first byte, also while the buffer is empty; it never changes. */
  get address(): bigint {
    if (this.disposed) throw new DisposedError(this.toString());
    return this.#range.address;
  }

  /**
   * The memory in use, for copies and kernels.
   *
   * @throws RangeError for a view of elements that the buffer has lost by shrinking.
   */
  override [MEMORY](): MemorySpan {
    const span = super[MEMORY]();
    if (this.byteOffset + span.byteLength <= this.capacityBytes) return span;
    throw new RangeError(
      `Cannot use ${this}: its buffer has shrunk to ${formatBytes(this.capacityBytes)}`,
    );
  }

  /**
   * Sets the number of elements in use. Elements that stay keep their values; new ones have any
   * value. Maps memory when the capacity is too small, and never unmaps any.
   *
   * @throws RangeError when the size is larger than the reserved addresses.
   * @throws OutOfMemoryError when the device has too little memory; the buffer is unchanged then.
   */
  resize(length: number): this {
    return this.#resizeTo([length]);
  }

  /** Maps memory for at least `length` elements in all, without changing the length. */
  reserve(length: number): this {
    this.#ensureCapacity([length], "reserve");
    return this;
  }

  /**
   * Unmaps the memory of all whole steps after the last element: at once when the GPU is done with
   * the buffer, otherwise once it is. A graph that knows the buffer can be launched again once the
   * buffer has grown to its former size.
   *
   * @throws TypeError while it is asleep, or a transfer in pieces, another library or process uses it.
   */
  shrinkToFit(): this {
    this.#unmapBehind(this.byteLength);
    return this;
  }

  /** Appends `amount` bytes of elements; see {@link GrowableBuffer.resize}. */
  grow(amount: ByteSize): this {
    return this.resize(this.length + this.#elementsIn(amount, "grow"));
  }

  /** Removes `amount` bytes of elements from the end, and unmaps their memory. */
  shrink(amount: ByteSize): this {
    const count = this.#elementsIn(amount, "shrink");
    if (count > this.length) {
      throw new RangeError(
        `Cannot shrink ${this} by ${formatBytes(parseBytes(amount))}: it has ` +
          formatBytes(this.byteLength),
      );
    }
    this.#unmapBehind(byteLengthOf(this.dtype, [this.length - count])); // which may refuse
    return this.resize(this.length - count);
  }

  /**
   * A stream that appends its bytes to the elements. When the stream fails, the buffer has its
   * former elements; it fails when the buffer is resized meanwhile, also by another such stream. The
   * stream of a view fills the view from its first byte instead.
   */
  override get writable(): WritableStream<HostMemory> {
    if (this.disposed || this.isView) return super.writable;
    return writableInto(appendTo(this, streamFor(this, {})));
  }

  /**
   * Gives another device access to the memory at the same address, including memory that is mapped
   * later (cuMemSetAccess). `"none"` ends the access; use it only when no work queued on that
   * device uses the memory.
   *
   * @throws CudaUnavailableError when the other device cannot reach this one's memory.
   */
  setAccess(peer: ContextOwner, access: DeviceAccess): this {
    this.#owned("share");
    const { context } = this;
    const other = contextOf(peer, "set the access of");
    if (other !== context && !canReach(other, context)) {
      throw new CudaUnavailableError(
        "not-supported",
        `Cannot give device ${other.ordinal} access to ${this}: it cannot reach the memory of device ` +
          `${context.ordinal}`,
      );
    }
    this.#range.setAccess(other, access);
    return this;
  }

  /** @ignore Reserves as many addresses as this buffer has, and maps memory for the elements. */
  protected [ALLOCATE_LIKE](request: BufferRequest<D>): GrowableBuffer<D> {
    const { dtype, shape, stream, label } = request;
    return allocateGrowableBuffer<D>({
      dtype,
      shape,
      resource: this.#resource,
      stream,
      // Elements of another type may need more room than this buffer has reserved.
      reserveSize: Math.max(this.reservedBytes, byteLengthOf(dtype, toShape(shape))),
      stepSize: this.#range.stepBytes,
      label,
    });
  }

  /** Unmaps the whole steps after so many bytes; throws before anything has changed. */
  #unmapBehind(byteLength: number): void {
    const allocation = this.#owned("shrink");
    const range = this.#range;
    const capacityBytes = range.stepsFor(byteLength);
    const leavingBytes = this.capacityBytes - capacityBytes;
    if (leavingBytes <= 0) return;
    requireAwake(allocation, "shrink");
    allocation.requireNotLent("shrink");
    allocation.place({ address: range.address, byteLength: capacityBytes });
    const shrink = ++this.#shrinkCount;
    allocation.whenUnused(leavingBytes, () => {
      if (shrink === this.#shrinkCount && !allocation.released) range.unmapTo(this.capacityBytes);
    });
  }

  #resizeTo(shape: Shape): this {
    this.#ensureCapacity(shape, "resize");
    showElements(this, toShape(shape));
    return this;
  }

  #ensureCapacity(shape: Shape, action: string): void {
    const allocation = this.#owned(action);
    const range = this.#range;
    const neededBytes = byteLengthOf(this.dtype, toShape(shape));
    if (neededBytes <= this.capacityBytes) return;
    requireAwake(allocation, "grow");
    const { context, kind } = this;
    const byteLength = range.stepsFor(neededBytes) - this.capacityBytes;
    context.sweepMore();
    takeWithinLimits({ context, kind, byteLength }, () => range.mapTo(neededBytes));
    allocation.place({ address: range.address, byteLength: range.stepsFor(neededBytes) });
  }

  /** Returns the block; throws for a view and for a buffer that cannot be used. */
  #owned(action: string): Allocation {
    if (this.disposed) throw new DisposedError(this.toString());
    if (!this.isView) return blockOf(this);
    throw new TypeError(
      `Cannot ${action} ${this}: it is a view; ${action} the buffer that owns the memory`,
    );
  }

  #elementsIn(amount: ByteSize, action: string): number {
    const byteLength = parseBytes(amount, "amount");
    const count = byteLength / elementBytes(this.dtype);
    if (Number.isInteger(count)) return count;
    throw new RangeError(
      `Cannot ${action} ${this} by ${byteLength} bytes: not a whole number of ${this.dtype} elements`,
    );
  }
}

function requireAwake({ asleep }: Allocation, action: string): void {
  if (asleep === undefined) return;
  throw new TypeError(`Cannot ${action} a buffer that is asleep: await gpu.wake() it first`);
}

comesFrom(GrowableBuffer, "gpu.growable()");

/** Reserves addresses, and maps memory for the elements to start with. */
export function allocateGrowableBuffer<D extends DType>(
  request: GrowableOptions & {
    readonly dtype: D;
    readonly resource: VirtualMemoryResource;
    readonly stream: CudaStream;
  },
): GrowableBuffer<D> {
  const { dtype, resource, stream, label } = request;
  const { context } = stream;
  const shape = requestedShape({ dtype, shape: request.shape ?? 0 });
  byteLengthOf(dtype, shape); // refuses a wrong size while there is nothing to undo
  const range = reserveFor(resource, {
    reservedBytes: parseBytes(request.reserveSize ?? context.totalBytes, "reserveSize"),
    stepBytes: request.stepSize === undefined ? undefined : parseBytes(request.stepSize, "step"),
  });
  const block = { kind: "virtual", byteLength: 0, resource, stream, label } as const;
  const allocation = new Allocation(block, range.address);
  return finished(
    new GrowableBuffer(new Parts({ allocation, dtype, shape: [0], range, resource })),
    (buffer) => resizeTo(buffer, shape),
  );
}

/**
 * Reserves addresses.
 *
 * @throws RangeError when the driver has too few addresses, which says nothing about memory.
 */
function reserveFor(resource: VirtualMemoryResource, request: VirtualRangeRequest): VirtualRange {
  try {
    return resource.reserve(request);
  } catch (cause) {
    const isReserving = cause instanceof CudaError && cause.call === "cuMemAddressReserve";
    if (!isReserving || !isOutOfMemory(cause)) throw cause;
    throw new RangeError(
      `Cannot reserve ${formatBytes(request.reservedBytes)} of addresses: the driver has not so ` +
        `many in a row; pass a smaller reserveSize`,
      { cause },
    );
  }
}

/** Appends a stream's bytes to `buffer`, which has its former elements when the stream fails. */
function appendTo(buffer: GrowableBuffer, stream: CudaStream): StreamTarget {
  const { length: formerLength, byteLength: formerBytes } = buffer;
  const bytesEach = elementBytes(buffer.dtype);
  let ownLength = formerLength;
  return {
    stream,
    expectedBytes: undefined,
    spanFor(endBytes) {
      if (buffer.length !== ownLength && !buffer.disposed) {
        throw new TypeError(
          `Cannot append a stream to ${buffer}: it was resized, or another stream appends to it; ` +
            `close one stream before the next is made`,
        );
      }
      const length = formerLength + Math.ceil(endBytes / bytesEach);
      if (length > buffer.length) buffer.resize(length);
      ownLength = buffer.length;
      const { allocation, address, byteLength } = buffer.span;
      const start = address + BigInt(formerBytes);
      return { allocation, address: start, byteLength: byteLength - formerBytes };
    },
    finish(doneBytes) {
      const action = `write a stream of ${doneBytes} bytes to ${buffer}`;
      elementsIn(doneBytes, buffer.dtype, action);
    },
    abandon() {
      if (!buffer.disposed && buffer.length === ownLength) buffer.resize(formerLength);
    },
    toString: () => `${buffer}`,
  };
}
