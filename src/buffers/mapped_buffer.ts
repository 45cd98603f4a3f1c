// Page-locked host memory that the GPU uses in place: small results and flags, without a copy.

import { ALLOCATE_LIKE } from "./gpu_buffer.ts";
import { CU_MEMHOSTALLOC } from "../../ffi/constants.ts";
import type { BitsOf, DType } from "../dtype.ts";
import { describeNumber, describeValue } from "../format.ts";
import { Allocation } from "../memory/allocation.ts";
import { showToHost } from "../memory/host_bytes.ts";
import type { MappedHostMemoryResource } from "../memory/mapped_host_memory_resource.ts";
import { addressOf } from "../transfer/host_memory.ts";
import type { DeviceBufferRequest } from "./device_buffer.ts";
import { HostBuffer, type HostBufferFields } from "./host_buffer.ts";
import { byteLengthOf, toShape } from "./shape.ts";

/** What to allocate on the host for the device to use in place. */
export interface MappedBufferRequest<D extends DType> extends DeviceBufferRequest<D> {
  /** Where the memory comes from. */
  readonly resource: MappedHostMemoryResource;
}

/** What a mapped buffer is made of. */
export interface MappedBufferFields<D extends DType> extends HostBufferFields<D> {
  /** Where the memory came from. */
  readonly resource: MappedHostMemoryResource;
}

function lengthOf(source: ArrayLike<unknown>): number {
  const { length }: { length?: unknown } = Object(source);
  if (typeof length === "number" && typeof source === "object") return length;
  throw new TypeError(`Cannot set elements from ${describeValue(source)}: expected a list`);
}

/** Blocks about whose slow reads somebody was told. */
const warned = new WeakSet<object>();

/** The same bytes as a typed array on the host (`array`) and at a device address (`ptr`). */
export class MappedBuffer<D extends DType = DType> extends HostBuffer<D> {
  readonly #resource: MappedHostMemoryResource;

  /** Adopts mapped memory; {@link MappedBuffer.allocate} allocates it. */
  constructor(fields: MappedBufferFields<D>) {
    super(fields);
    this.#resource = fields.resource;
  }

  /** Allocates mapped memory; the elements are whatever was there before. */
  static allocate<D extends DType>(request: MappedBufferRequest<D>): MappedBuffer<D> {
    const { dtype, resource, stream, label } = request;
    const shape = toShape(request.shape);
    const byteLength = byteLengthOf(dtype, shape);
    const allocation = Allocation.create({ kind: "mapped", byteLength, resource, stream, label });
    const bytes = showToHost(allocation, resource.hostAddress(allocation.address));
    const token = { allocation };
    allocation.guard(token);
    const fields = { allocation, token, dtype, shape, byteOffset: 0, isView: false };
    return new MappedBuffer({ ...fields, bytes, resource });
  }

  /** Where its memory came from; it knows the host's address of a device's. */
  override get memoryResource(): MappedHostMemoryResource {
    return this.#resource;
  }

  /** Whether the CPU bypasses its caches: writes are fast, reads are many times slower. */
  get isWriteCombined(): boolean {
    return this.#resource.isWriteCombined;
  }

  /**
   * The elements as a typed array over the memory itself (bfloat16: its bits); see
   * {@link HostBuffer.array}. Warns once when the memory is write-combined, because reading it is slow:
   * write with {@link MappedBuffer.set} and read with `download()`, which has the GPU read it.
   */
  override get array(): BitsOf<D> {
    const array = super.array;
    if (this.isWriteCombined) this.#warn();
    return array;
  }

  /** Writes elements from `offset` on, and reads none: the way to fill write-combined memory. */
  set(source: BitsOf<D> | ArrayLike<BitsOf<D>[number]>, offset = 0): this {
    const array = super.array as { set(source: ArrayLike<unknown>, offset: number): void };
    const length = lengthOf(source);
    if (!Number.isInteger(offset) || offset < 0 || offset + length > this.length) {
      throw new RangeError(
        `Cannot set ${length} elements of ${this} from ${describeNumber(offset)} on: it has ` +
          `${this.length}`,
      );
    }
    array.set(source, offset);
    return this;
  }

  /** What the driver was asked for (cuMemHostGetFlags). */
  get flags(): { portable: boolean; mapped: boolean; writeCombined: boolean } {
    const { span, bytes, context } = this;
    const cell = new Uint32Array(1);
    if (span.byteLength > 0) {
      context.call("cuMemHostGetFlags", cell, addressOf(bytes));
    }
    const { PORTABLE, DEVICEMAP, WRITECOMBINED } = CU_MEMHOSTALLOC;
    const has = (flag: number) => ((cell[0] ?? 0) & flag) !== 0;
    return { portable: has(PORTABLE), mapped: has(DEVICEMAP), writeCombined: has(WRITECOMBINED) };
  }

  /** Shows the same bytes as another element type; see {@link HostBuffer.as}. */
  override as<E extends DType>(dtype: E): MappedBuffer<E> {
    return super.as(dtype) as MappedBuffer<E>;
  }

  /**
   * Allocates a buffer of the same kind.
   *
   * @internal
   */
  protected [ALLOCATE_LIKE](request: DeviceBufferRequest<D>): MappedBuffer<D> {
    return MappedBuffer.allocate({ ...request, resource: this.#resource });
  }

  #warn(): void {
    if (warned.has(this.bytes)) return;
    warned.add(this.bytes);
    console.warn(
      `vramkit: ${this} is write-combined memory: reading its array on the CPU is many times slower ` +
        `than writing it; write with set(), read with download()`,
    );
  }
}
