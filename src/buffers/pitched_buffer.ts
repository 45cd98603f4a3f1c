// Rows in device memory, padded so that each row starts at an address that the hardware reads fast.

import type { MemorySpan } from "../copies/copy.ts";
import { type DType, elementBytes, packLength } from "../dtype.ts";
import { KERNEL_MEMORY } from "../launch/kernel_memory.ts";
import { Allocation } from "../memory/allocation.ts";
import { takeWithinLimits } from "../memory/out_of_memory.ts";
import { PitchedMemoryResource } from "../memory/pitched_memory_resource.ts";
import { visibleText } from "../words/format.ts";
import { comesFrom, Parts } from "../words/parts.ts";
import { DeviceBuffer } from "./device_buffer.ts";
import type { BufferRequest } from "./place_options.ts";
import { countOf, requestedShape, toShape } from "./shape.ts";
import { StridedView } from "./strided_view.ts";

/**
 * Device memory in rows that the driver pads, so that each row starts at an address that the
 * hardware reads fast. Use it for images and for kernels that expect a pitch. `buffer` is the whole
 * block with the padding; copies from and to other buffers skip the padding.
 * {@link CudaDevice.pitched} allocates one.
 */
export class PitchedBuffer<D extends DType = DType> extends StridedView<D, DeviceBuffer<D>> {
  /** Bytes from the start of one row to the start of the next. */
  get pitchBytes(): number {
    return (this.buffer.shape.at(-1) ?? 0) * elementBytes(this.dtype);
  }

  /** Address of the first row. */
  get ptr(): bigint {
    return this.buffer.ptr;
  }

  /** @ignore Returns all rows with their padding for a kernel, which needs `pitchBytes` as well. */
  override [KERNEL_MEMORY](): MemorySpan {
    return this.buffer[KERNEL_MEMORY]();
  }

  /** Frees the memory after the work queued on it. A second call does nothing. */
  override dispose(): void {
    super.dispose();
    this.buffer.dispose();
  }

  /** Returns the name for messages: `PitchedBuffer(image, float32[480, 640] by 2560 bytes)`. */
  override toString(): string {
    const { label } = this.buffer;
    const name = label === undefined ? `#${this.id}` : visibleText(label);
    return `PitchedBuffer(${name}, ${this.dtype}[${this.shape.join(", ")}] by ` +
      `${this.pitchBytes} bytes)`;
  }
}

comesFrom(PitchedBuffer, "gpu.pitched()");

/**
 * Allocates rows and columns, preceded by any axes that count as rows too (cuMemAllocPitch). The elements
 * keep whatever was there before.
 *
 * @throws RangeError when the shape has fewer than two axes, or no elements.
 */
export function allocatePitchedBuffer<D extends DType>(
  request: Pick<BufferRequest<D>, "dtype" | "shape" | "stream" | "label">,
): PitchedBuffer<D> {
  const { dtype, stream, label } = request;
  const { context } = stream;
  const shape = requestedShape(request);
  const columns = shape.at(-1) ?? 0;
  if (shape.length < 2 || countOf(shape) === 0) {
    throw new RangeError(
      `Cannot allocate rows of [${shape.join(", ")}]: expected at least one row and one column`,
    );
  }
  if (packLength(dtype) > 1) {
    throw new TypeError(`Cannot allocate rows of ${dtype}: it has several elements in a byte`);
  }
  const each = elementBytes(dtype);
  const rowCount = countOf(shape) / columns;
  const rows = { widthBytes: columns * each, rowCount, elementBytes: each };
  const resource = new PitchedMemoryResource(stream);
  context.sweepMore();
  const need = { context, kind: "device", byteLength: rows.widthBytes * rowCount } as const;
  const { address, pitchBytes } = takeWithinLimits(need, () => resource.allocateRows(rows));
  const byteLength = pitchBytes * rowCount;
  const block = { kind: "device", byteLength, resource, stream, label } as const;
  const allocation = new Allocation(block, address);
  const whole = toShape([...shape.slice(0, -1), pitchBytes / each]);
  const buffer = new DeviceBuffer(new Parts({ allocation, dtype, shape: whole }));
  const strides = shape.map((_, axis) => countOf(whole.slice(axis + 1)));
  return new PitchedBuffer(new Parts({ buffer, layout: { shape, strides, offset: 0 } }));
}
