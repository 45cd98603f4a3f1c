// Copies a response, a stream or a blob into new device memory, chunk by chunk.

import type { DeviceAllocator, DeviceBuffer } from "../buffers/device_buffer.ts";
import { ALLOCATE_KINDS, type AllocateOptions, allocationOf } from "../buffers/place_options.ts";
import { byteLengthOf, elementsIn, formatShape, type Shape, toShape } from "../buffers/shape.ts";
import type { MemorySpan } from "../copies/copy.ts";
import { DTYPE, type DType } from "../dtype.ts";
import { takeAfterCollection } from "../memory/out_of_memory.ts";
import type { CudaStream } from "../order/stream.ts";
import { streamOn } from "../order/stream_choice.ts";
import type { TransferOptions } from "../transfer/pending_transfer.ts";
import type { StreamTarget } from "../transfer/staged_writer.ts";
import { TRANSFER_KINDS } from "../transfer/transfer_choice.ts";
import { drainInto, letGo, wholeOf } from "../transfer/web_streams.ts";
import { OutOfMemoryError } from "../words/errors.ts";
import { finished, finishedLater } from "../words/finished.ts";
import { OptionSet, SHAPE } from "../words/options.ts";
import { reportProgress } from "../words/progress.ts";
import { type ByteSource, type OpenedSource, openSource } from "./byte_source.ts";

/** Options for {@link CudaDevice.from}. */
export interface FromOptions<D extends DType> extends AllocateOptions, TransferOptions {
  /** Element type; `"uint8"` by default. */
  readonly dtype?: D | undefined;
  /** Size of each axis; by default one axis with all elements that arrive. */
  readonly shape?: number | Shape | undefined;
  /** Called as bytes arrive; the total is Infinity while unknown. What it throws fails the call. */
  readonly onProgress?: ((doneBytes: number, totalBytes: number) => void) | undefined;
}

/** Checks the options above. */
export const FROM_OPTIONS: OptionSet<FromOptions<DType>> = new OptionSet({
  ...ALLOCATE_KINDS,
  ...TRANSFER_KINDS,
  dtype: DTYPE,
  shape: SHAPE,
});

/** The options, and everything that can be decided before the stream is read. */
interface Reading<D extends DType> extends FromOptions<D> {
  readonly gpu: DeviceAllocator;
  readonly dtype: D;
  readonly stream: CudaStream;
}

/** Allocates device memory on `gpu` and fills it from a stream of bytes. */
export async function bufferFromSource<D extends DType = "uint8">(
  source: ByteSource,
  options: FromOptions<D> & { readonly gpu: DeviceAllocator },
): Promise<DeviceBuffer<D>> {
  const { gpu, signal, dtype = "uint8" as D } = options;
  const stream = streamOn(gpu.context, options, "memory");
  const reading = { ...options, dtype, stream };
  const opened = await openSource(source);
  try {
    signal?.throwIfAborted();
    const shape = expectedShape(opened, reading);
    if (shape === undefined) return await readGrowing(opened, reading);
    return await readKnown(opened, { ...reading, shape });
  } catch (error) {
    // Cancels a source that was not read at all; one that was read has ended already. A server's request
    // ends with its answer, so after a lack of memory the call can be repeated with it.
    const mayComeAgain = source instanceof Request && error instanceof OutOfMemoryError;
    if (!opened.readable.locked && !mayComeAgain) await letGo(opened.readable, error);
    throw error;
  }
}

async function readKnown<D extends DType>(
  { readable }: OpenedSource,
  reading: Reading<D> & { readonly shape: Shape },
): Promise<DeviceBuffer<D>> {
  const { shape, stream, signal, onProgress } = reading;
  return await finishedLater(allocate(reading, shape), async (buffer) => {
    const { byteLength } = buffer;
    const report = (doneBytes: number) => reportProgress(onProgress, doneBytes, byteLength);
    await drainInto(wholeOf(buffer, stream), readable, { report, signal });
  });
}

function allocate<D extends DType>(reading: Reading<D>, shape: Shape) {
  const { gpu, dtype } = reading;
  return takeAfterCollection(gpu.context, () => gpu.alloc(dtype, shape, allocationOf(reading)));
}

async function readGrowing<D extends DType>(
  { readable }: OpenedSource,
  reading: Reading<D>,
): Promise<DeviceBuffer<D>> {
  const { gpu, dtype, stream, signal, onProgress } = reading;
  using bytes = new GrowingBytes(gpu, { ...allocationOf(reading), stream });
  const report = (doneBytes: number) => reportProgress(onProgress, doneBytes, Infinity);
  await drainInto(bytes, readable, { report, signal });
  const { byteLength, contents } = bytes;
  const coming = await allocate(reading, wholeElements(byteLength, dtype));
  return finished(coming, (buffer) => {
    if (contents !== undefined) buffer.as("uint8").copyFrom(contents, { stream });
    reportProgress(onProgress, byteLength, byteLength);
  });
}

/** Returns the shape to allocate before the stream is read; undefined for an unknown length. */
function expectedShape(
  { byteLength }: OpenedSource,
  { dtype, shape: given }: Reading<DType>,
): Shape | undefined {
  if (given === undefined) {
    return byteLength === undefined ? undefined : wholeElements(byteLength, dtype);
  }
  const shape = toShape(given);
  const neededBytes = byteLengthOf(dtype, shape);
  if (byteLength === undefined || byteLength === neededBytes) return shape;
  throw new RangeError(
    `Cannot stream ${byteLength} bytes into ${formatShape(dtype, shape)}: it takes ${neededBytes}`,
  );
}

function wholeElements(byteLength: number, dtype: DType): Shape {
  return toShape(elementsIn(byteLength, dtype, `stream ${byteLength} bytes as ${dtype}`));
}

/** Size of the first block: a server has hundreds of short streams at a time. */
const FIRST_BYTES = 64 * 2 ** 10;

/** Up to this size a new block is four times as large, to move seldom, and beyond it twice. */
const FAST_BYTES = 4 * 2 ** 20;

/** Device memory for a stream of unknown length: it grows by copies on the device as bytes arrive. */
class GrowingBytes implements StreamTarget, Disposable {
  readonly stream: CudaStream;
  readonly expectedBytes = undefined;
  readonly #gpu: DeviceAllocator;
  readonly #options: AllocateOptions;
  #buffer: DeviceBuffer<"uint8"> | undefined;
  #byteLength = 0;

  /** Starts empty; memory is allocated with the first byte. */
  constructor(gpu: DeviceAllocator, options: AllocateOptions & { readonly stream: CudaStream }) {
    this.#gpu = gpu;
    this.#options = options;
    this.stream = options.stream;
  }

  /** A view of the bytes so far; the next change makes it stale. */
  get contents(): DeviceBuffer<"uint8"> | undefined {
    return this.#buffer?.subarray(0, this.#byteLength);
  }

  /** Number of bytes in all, once the stream has ended. */
  get byteLength(): number {
    return this.#byteLength;
  }

  /** Makes room for `endBytes` bytes, and moves the first `queuedBytes`, which are there. */
  spanFor(endBytes: number, queuedBytes: number): MemorySpan {
    const former = this.#buffer;
    if (former !== undefined && endBytes <= former.byteLength) return former.span;
    const formerBytes = former?.byteLength ?? 0;
    const growth = formerBytes < FAST_BYTES ? 4 : 2;
    const byteLength = Math.max(endBytes, FIRST_BYTES, growth * formerBytes);
    const grown = this.#gpu.alloc("uint8", byteLength, this.#options);
    this.#buffer = grown; // first, so that it is given back whatever fails next
    using _former = former;
    former?.subarray(0, queuedBytes).copyTo(grown.subarray(0, queuedBytes), {
      stream: this.stream,
    });
    return grown.span;
  }

  /** Notes the final length. */
  finish(byteLength: number): void {
    this.#byteLength = byteLength;
  }

  abandon(): void {
    this.#buffer?.dispose();
  }

  [Symbol.dispose](): void {
    this.abandon();
  }

  /** Returns the name of the buffer for messages. */
  toString(): string {
    return "device memory that grows";
  }
}
