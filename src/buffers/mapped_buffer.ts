// Page-locked host memory that the GPU uses in place: small results and flags, without a copy.

import { CU_MEMHOSTALLOC } from "../../ffi/constants.ts";
import { take32 } from "../driver/driver.ts";
import type { BitsOf, DType, HostValue, ScalarOf } from "../dtype.ts";
import { Allocation } from "../memory/allocation.ts";
import { showToHost } from "../memory/host_bytes.ts";
import { addressOf } from "../memory/host_memory.ts";
import type { MappedHostMemoryResource } from "../memory/mapped_host_memory_resource.ts";
import { comesFrom, Parts } from "../words/parts.ts";
import { warn } from "../words/warning.ts";
import type { BufferRequest } from "./buffer_request.ts";
import { ALLOCATE_LIKE, type AsTypeOptions, type Uploadable } from "./gpu_buffer.ts";
import { HostBuffer, type HostBufferFields, hostBytesOf } from "./host_buffer.ts";
import type { HostValues } from "./host_values.ts";
import { writeElements } from "./set_elements.ts";
import { byteLengthOf, requestedShape } from "./shape.ts";

interface OfMappedMemory {
  readonly resource: MappedHostMemoryResource;
}

/** Blocks for which a warning about slow reads was given. */
const warned = new WeakSet<object>();

/**
 * Page-locked host memory that the GPU uses in place: `array` on the host and `ptr` on the device
 * are the same bytes. Use it for small results and flags; every access by the GPU crosses the bus.
 * {@link CudaDevice.mapped} creates one.
 */
export class MappedBuffer<D extends DType = DType> extends HostBuffer<D> {
  readonly #resource: MappedHostMemoryResource;

  /** @ignore Adopts mapped memory. */
  constructor(parts: Parts<HostBufferFields<D> & OfMappedMemory>) {
    super(parts);
    this.#resource = parts.value.resource;
  }

  /** Resource that allocated the memory; it maps device addresses to host addresses. */
  override get memoryResource(): MappedHostMemoryResource {
    return this.#resource;
  }

  /** Whether it is write-combined: the CPU writes it fast and reads it many times slower. */
  get isWriteCombined(): boolean {
    return this.#resource.isWriteCombined;
  }

  /**
   * The elements as a typed array over the memory itself (bfloat16: its bits); see
   * {@link HostBuffer.array}. Warns once when the memory is write-combined, because the CPU reads it
   * slowly: write with {@link MappedBuffer.set} and read with `download()`, which lets the GPU read
   * it.
   */
  override get array(): BitsOf<D> {
    const array = super.array;
    if (this.isWriteCombined) this.#warn();
    return array;
  }

  /** Copies host values into the elements, without a warning; see {@link HostBuffer.set}. */
  override set(source: Uploadable<D> | HostValues<ScalarOf<D> | HostValue<D>>, offset = 0): this {
    writeElements(this, { source, offset, array: super.array });
    return this;
  }

  /** The flags of the allocation (cuMemHostGetFlags). */
  get flags(): { portable: boolean; mapped: boolean; writeCombined: boolean } {
    const { span, context } = this;
    const flags = span.byteLength === 0
      ? 0
      : take32(context, "cuMemHostGetFlags", addressOf(hostBytesOf(this)));
    const { PORTABLE, DEVICEMAP, WRITECOMBINED } = CU_MEMHOSTALLOC;
    const has = (flag: number) => (flags & flag) !== 0;
    return { portable: has(PORTABLE), mapped: has(DEVICEMAP), writeCombined: has(WRITECOMBINED) };
  }

  /** Returns a view of the same bytes as another element type; see {@link GpuBuffer.as}. */
  override as<E extends DType>(dtype: E): MappedBuffer<E> {
    return super.as(dtype) as MappedBuffer<E>;
  }

  /** Queues converting the elements, into a buffer of the same kind; see {@link GpuBuffer.astype}. */
  override astype<E extends DType, B = undefined>(
    dtype: E,
    options?: AsTypeOptions<NoInfer<E>, B>,
  ): B extends object ? B : MappedBuffer<E> {
    return super.astype(dtype, options) as B extends object ? B : MappedBuffer<E>;
  }

  /** @ignore Allocates a buffer of the same kind. */
  protected [ALLOCATE_LIKE](request: BufferRequest<D>): MappedBuffer<D> {
    return allocateMappedBuffer({ ...request, resource: this.#resource });
  }

  #warn(): void {
    const bytes = hostBytesOf(this);
    if (warned.has(bytes)) return;
    warned.add(bytes);
    warn(
      `${this} is write-combined memory: reading its array on the CPU is many times slower ` +
        `than writing it; write with set(), read with download()`,
      { owner: this.context, about: this },
    );
  }
}

comesFrom(MappedBuffer, "gpu.mapped()");

/** Allocates mapped memory. The elements keep whatever was there before. */
export function allocateMappedBuffer<D extends DType>(
  request: BufferRequest<D> & OfMappedMemory,
): MappedBuffer<D> {
  const { dtype, resource, stream, label } = request;
  const shape = requestedShape(request);
  const byteLength = byteLengthOf(dtype, shape);
  const allocation = Allocation.create({ kind: "mapped", byteLength, resource, stream, label });
  const bytes = showToHost(allocation, resource.hostAddress(allocation.address));
  return new MappedBuffer(new Parts({ allocation, dtype, shape, bytes, resource }));
}
