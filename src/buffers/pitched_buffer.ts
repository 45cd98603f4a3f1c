// Rows in device memory, padded so that each starts where the hardware reads it best.

import { type DType, elementBytes } from "../dtype.ts";
import { visibleText } from "../format.ts";
import { Allocation } from "../memory/allocation.ts";
import { takeWithinLimits } from "../memory/out_of_memory.ts";
import { PitchedMemoryResource } from "../memory/pitched_memory_resource.ts";
import type { CudaStream } from "../stream.ts";
import { DeviceBuffer } from "./device_buffer.ts";
import { countOf, type Shape, toShape } from "./shape.ts";
import { StridedView } from "./strided_view.ts";

/** Rows to allocate on a device. */
export interface PitchedBufferRequest<D extends DType> {
  /** Element type. */
  readonly dtype: D;
  /** Rows and columns, and axes before them that are counted as rows too. */
  readonly shape: Shape;
  /** Stream that uses the memory first. */
  readonly stream: CudaStream;
  /** Name shown in tables and errors. */
  readonly label?: string | undefined;
}

/**
 * Rows with padding between them, owned. `buffer` is the whole block, padding included; copies from and
 * to other buffers leave the padding out.
 */
export class PitchedBuffer<D extends DType = DType> extends StridedView<D, DeviceBuffer<D>> {
  /**
   * Allocates rows (cuMemAllocPitch); the elements are whatever was there before.
   *
   * @throws RangeError when the shape has fewer than two axes, or no elements.
   */
  static allocate<D extends DType>(request: PitchedBufferRequest<D>): PitchedBuffer<D> {
    const { dtype, stream, label } = request;
    const { context } = stream;
    const shape = toShape(request.shape);
    const columns = shape.at(-1) ?? 0;
    if (shape.length < 2 || countOf(shape) === 0) {
      throw new RangeError(
        `Cannot allocate rows of [${shape.join(", ")}]: expected at least one row and one column`,
      );
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
    const token = { allocation };
    allocation.guard(token);
    const whole = toShape([...shape.slice(0, -1), pitchBytes / each]);
    const fields = { allocation, token, dtype, shape: whole, byteOffset: 0, isView: false };
    return new PitchedBuffer(new DeviceBuffer(fields), shape);
  }

  private constructor(buffer: DeviceBuffer<D>, shape: Shape) {
    const strides = shape.map((_, axis) => countOf(buffer.shape.slice(axis + 1)));
    super(buffer, { shape, strides, offset: 0 });
  }

  /** Bytes from one row to the next. */
  get pitchBytes(): number {
    return (this.buffer.shape.at(-1) ?? 0) * elementBytes(this.dtype);
  }

  /** The address of the first row. */
  get ptr(): bigint {
    return this.buffer.ptr;
  }

  /** Gives the memory back after the work queued on it. */
  override dispose(): void {
    super.dispose();
    this.buffer.dispose();
  }

  /** Names the buffer: `PitchedBuffer(image, float32[480, 640] by 2560 bytes)`. */
  override toString(): string {
    const { label } = this.buffer;
    const name = label === undefined ? `#${this.id}` : visibleText(label);
    return `PitchedBuffer(${name}, ${this.dtype}[${
      this.shape.join(", ")
    }] by ${this.pitchBytes} bytes)`;
  }
}
