// The request that every kind of buffer is made from: element type, shape, and the source of its
// memory.

import type { DType } from "../dtype.ts";
import type { MemoryResource } from "../memory/memory_resource.ts";
import type { CudaStream } from "../order/stream.ts";
import type { Shape } from "./shape.ts";

/** Request for a new buffer. */
export interface BufferRequest<D extends DType> {
  readonly dtype: D;
  /** Size of each axis, or one length. */
  readonly shape: number | Shape;
  /** Stream that uses the memory first. */
  readonly stream: CudaStream;
  readonly resource: MemoryResource;
  /** Name shown in tables and errors. */
  readonly label?: string | undefined;
}
