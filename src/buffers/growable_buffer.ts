// Device memory that grows and shrinks where it is: the address, kernels' pointers and views stay.

import {
  ALLOCATE_LIKE,
  type BufferFields,
  GpuBuffer,
  showElements,
  streamFor,
} from "./gpu_buffer.ts";
import { type DType, elementBytes } from "../dtype.ts";
import { CudaUnavailableError, DisposedError } from "../errors.ts";
import { type ByteSize, formatBytes, parseBytes } from "../format.ts";
import { Allocation } from "../memory/allocation.ts";
import type { DeviceAccess } from "../memory/device_access.ts";
import { contextOf, type ContextOwner } from "../memory/memory_resource.ts";
import { takeWithinLimits } from "../memory/out_of_memory.ts";
import type { VirtualMemoryResource } from "../memory/virtual_memory_resource.ts";
import type { VirtualRange } from "../memory/virtual_range.ts";
import type { CudaStream } from "../stream.ts";
import type { MemorySpan } from "../transfer/copy.ts";
import type { HostMemory } from "../transfer/host_memory.ts";
import { writableInto } from "../transfer/web_streams.ts";
import { appendTo } from "./append_target.ts";
import type { DeviceBufferRequest } from "./device_buffer.ts";
import { byteLengthOf, type Shape, toShape } from "./shape.ts";

/** How to make a buffer that grows. */
export interface GrowableOptions {
  /** The most it can grow to; as much as the device has by default. Addresses cost no memory. */
  readonly reserveSize?: ByteSize | undefined;
  /** How much memory comes and goes at a time; as little as the device can map by default (2 MiB). */
  readonly stepSize?: ByteSize | undefined;
  /** The elements to start with; none by default. */
  readonly shape?: number | Shape | undefined;
  /** The stream that may use it first, and on which it is freed; the default stream otherwise. */
  readonly stream?: CudaStream | undefined;
  /** A name for tables, errors and plots. */
  readonly label?: string | undefined;
}

/** What to reserve on a device. */
export interface GrowableBufferRequest<D extends DType> extends GrowableOptions {
  /** The element type. */
  readonly dtype: D;
  /** Where addresses and memory come from. */
  readonly resource: VirtualMemoryResource;
  /** The stream that may use it first. */
  readonly stream: CudaStream;
}

/** What a growable buffer is made of. */
export interface GrowableBufferFields<D extends DType> extends BufferFields<D> {
  /** The reserved addresses. */
  readonly range: VirtualRange;
  /** Where they come from. */
  readonly resource: VirtualMemoryResource;
}

/**
 * Device memory whose addresses are reserved once and whose memory comes and goes. Its length is what
 * is in use, its capacity what has memory behind it: `resize()` and `reserve()` take memory when they
 * need it and never give any back, `shrinkToFit()` does.
 */
export class GrowableBuffer<D extends DType = DType> extends GpuBuffer<D> {
  readonly #allocation: Allocation;
  readonly #range: VirtualRange;
  readonly #resource: VirtualMemoryResource;
  /** How often it shrank: only the last shrink may unmap memory later. */
  #shrinkCount = 0;

  /** Adopts reserved addresses; {@link GrowableBuffer.allocate} reserves them. */
  constructor(fields: GrowableBufferFields<D>) {
    super(fields);
    this.#allocation = fields.allocation;
    this.#range = fields.range;
    this.#resource = fields.resource;
  }

  /** Reserves addresses, and takes memory for the elements to start with. */
  static allocate<D extends DType>(request: GrowableBufferRequest<D>): GrowableBuffer<D> {
    const { dtype, resource, stream, label } = request;
    const { context } = stream;
    const shape = toShape(request.shape ?? 0);
    byteLengthOf(dtype, shape); // refuses a wrong type or size while there is nothing to undo
    const range = resource.reserve({
      reservedBytes: parseBytes(request.reserveSize ?? context.totalBytes, "reserveSize"),
      stepBytes: request.stepSize === undefined ? undefined : parseBytes(request.stepSize, "step"),
    });
    const block = { kind: "virtual", byteLength: 0, resource, stream, label } as const;
    const allocation = new Allocation(block, range.address);
    const token = { allocation };
    allocation.guard(token);
    const fields = { allocation, token, dtype, shape: [0], byteOffset: 0, isView: false };
    const buffer = new GrowableBuffer({ ...fields, range, resource });
    try {
      return buffer.#resizeTo(shape);
    } catch (error) {
      buffer.dispose();
      throw error;
    }
  }

  /** Bytes that have memory behind them. */
  get capacityBytes(): number {
    return this.#allocation.byteLength;
  }

  /** Bytes of addresses: the most it can grow to. */
  get reservedBytes(): number {
    return this.#range.reservedBytes;
  }

  /** Where the addresses start, also while it is empty; the same for as long as it lives. */
  get address(): bigint {
    if (this.disposed) throw new DisposedError(this.toString());
    return this.#range.address;
  }

  /**
   * The memory, for copies and kernels; checked.
   *
   * @throws RangeError for a view of elements that are gone since the buffer shrank.
   */
  override get span(): MemorySpan {
    const span = super.span;
    if (this.byteOffset + span.byteLength <= this.capacityBytes) return span;
    throw new RangeError(
      `Cannot use ${this}: its buffer has shrunk to ${formatBytes(this.capacityBytes)}`,
    );
  }

  /**
   * Sets how many elements are in use. Those that stay keep their values; new ones are whatever was
   * there before. Takes memory when the capacity is too small, and gives none back.
   *
   * @throws RangeError when that is more than was reserved.
   * @throws OutOfMemoryError when the device has too little; nothing has changed then.
   */
  resize(length: number): this {
    return this.#resizeTo([length]);
  }

  /** Takes memory for at least `length` elements in all, without using them yet. */
  reserve(length: number): this {
    this.#ensureCapacity([length], "reserve");
    return this;
  }

  /**
   * Gives back the memory behind all whole steps after the last element: at once when the GPU is done
   * with the buffer, else once it is.
   *
   * @throws TypeError while a transfer in pieces or a graph uses it.
   */
  shrinkToFit(): this {
    const allocation = this.#owned("shrink");
    const range = this.#range;
    const capacityBytes = range.stepsFor(this.byteLength);
    if (capacityBytes >= this.capacityBytes) return this;
    allocation.requireUnheld("shrink");
    allocation.place({ address: range.address, byteLength: capacityBytes });
    const shrink = ++this.#shrinkCount;
    allocation.whenUnused(() => {
      if (shrink === this.#shrinkCount && !allocation.released) range.unmapTo(this.capacityBytes);
    });
    return this;
  }

  /** Adds `amount` bytes of elements at the end; see {@link GrowableBuffer.resize}. */
  grow(amount: ByteSize): this {
    return this.resize(this.length + this.#elementsIn(amount, "grow"));
  }

  /** Removes `amount` bytes of elements from the end, and gives their memory back. */
  shrink(amount: ByteSize): this {
    const count = this.#elementsIn(amount, "shrink");
    if (count > this.length) {
      throw new RangeError(
        `Cannot shrink ${this} by ${formatBytes(parseBytes(amount))}: it has ` +
          formatBytes(this.byteLength),
      );
    }
    return this.resize(this.length - count).shrinkToFit();
  }

  /**
   * A stream whose bytes go after the elements there are, so that the buffer grows; when it fails,
   * the buffer has its former elements. A view is filled from its first byte instead.
   */
  override get writable(): WritableStream<HostMemory> {
    if (this.disposed || this.isView) return super.writable;
    return writableInto(appendTo(this, streamFor(this, {})));
  }

  /**
   * Lets another device use the same memory at the same address, also what it grows to, or no longer:
   * `"none"` once nothing queued there uses it (cuMemSetAccess).
   *
   * @throws CudaUnavailableError when the other device cannot reach this one's memory.
   */
  setAccess(peer: ContextOwner, access: DeviceAccess): this {
    this.#owned("share");
    const { context } = this;
    const other = contextOf(peer, "set the access of");
    const cell = new Int32Array(1);
    const { deviceHandle, ordinal } = other;
    context.driver.call("cuDeviceCanAccessPeer", cell, deviceHandle, context.deviceHandle);
    if (other !== context && cell[0] !== 1) {
      throw new CudaUnavailableError(
        "not-supported",
        `Cannot give device ${ordinal} access to ${this}: it cannot reach the memory of device ` +
          `${context.ordinal}`,
      );
    }
    this.#range.setAccess(other, access);
    return this;
  }

  /** Shows the same bytes as another element type; see {@link GpuBuffer.as}. */
  override as<E extends DType>(dtype: E): GrowableBuffer<E> {
    return super.as(dtype) as GrowableBuffer<E>;
  }

  /**
   * Reserves as many addresses as this buffer has, and takes memory for the elements.
   *
   * @internal
   */
  protected [ALLOCATE_LIKE](request: DeviceBufferRequest<D>): GrowableBuffer<D> {
    const { dtype, shape, stream, label } = request;
    return GrowableBuffer.allocate<D>({
      dtype,
      shape,
      resource: this.#resource,
      stream,
      reserveSize: this.reservedBytes,
      stepSize: this.#range.stepBytes,
      label,
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
    const { context, kind } = this;
    const byteLength = range.stepsFor(neededBytes) - this.capacityBytes;
    context.sweepMore();
    takeWithinLimits({ context, kind, byteLength }, () => range.mapTo(neededBytes));
    allocation.place({ address: range.address, byteLength: range.stepsFor(neededBytes) });
  }

  /** The block, when it can be used and this is not a view. */
  #owned(action: string): Allocation {
    if (this.disposed) throw new DisposedError(this.toString());
    if (!this.isView) return this.#allocation;
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
