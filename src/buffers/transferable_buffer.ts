// Uploads to a buffer and downloads from it, whatever kind of memory it is: the GPU moves the bytes,
// in the order of a stream.

import type { ArrayOf, DType } from "../dtype.ts";
import type { FilePath } from "../transfer/file_path.ts";
import { writeFileFrom } from "../transfer/file_transfer.ts";
import { WRITING_KINDS, type WritingOptions } from "../transfer/produce_file.ts";
import { DisposedError } from "../errors.ts";
import { NUMBER, OptionSet } from "../options.ts";
import type { HostMemory } from "../transfer/host_memory.ts";
import {
  type HostSide,
  type HostTransfer,
  transfer,
  transferSync,
} from "../transfer/host_transfer.ts";
import {
  TRANSFER_CHOICE,
  TRANSFER_KINDS,
  type TransferChoice,
} from "../transfer/transfer_choice.ts";
import { readableFrom, wholeOf, writableInto } from "../transfer/web_streams.ts";
import { GpuBuffer } from "./gpu_buffer.ts";
import { hostDestination, hostSource } from "./host_elements.ts";
import { STREAM_CHOICE, type StreamChoice } from "../stream_choice.ts";
import { type BufferSummary, summarise } from "./summary.ts";

/**
 * Host memory that a buffer of `D` accepts, over ordinary or shared memory: its typed array, one
 * that holds its bits, or raw bytes. Float32Array narrows to both 16-bit floats and widens from them.
 */
export type Uploadable<D extends DType> =
  | {
    float16:
      | Float16Array<ArrayBufferLike>
      | Float32Array<ArrayBufferLike>
      | Uint16Array<ArrayBufferLike>;
    bfloat16: Float32Array<ArrayBufferLike> | Uint16Array<ArrayBufferLike>;
    float32: Float32Array<ArrayBufferLike>;
    float64: Float64Array<ArrayBufferLike>;
    int8: Int8Array<ArrayBufferLike>;
    int16: Int16Array<ArrayBufferLike>;
    int32: Int32Array<ArrayBufferLike>;
    int64: BigInt64Array<ArrayBufferLike>;
    uint8: Uint8Array<ArrayBufferLike> | Uint8ClampedArray<ArrayBufferLike>;
    uint16: Uint16Array<ArrayBufferLike>;
    uint32: Uint32Array<ArrayBufferLike>;
    uint64: BigUint64Array<ArrayBufferLike>;
    bool: Uint8Array<ArrayBufferLike> | Uint8ClampedArray<ArrayBufferLike>;
  }[D]
  | DataView
  | ArrayBuffer
  | SharedArrayBuffer;

/** How to write a buffer's bytes into a file. */
export interface WriteFileOptions extends TransferChoice, WritingOptions {
  /** Where in the file the bytes go. Without an offset they replace what the file held. */
  readonly offset?: number | undefined;
}

const WRITE_FILE_OPTIONS = new OptionSet<WriteFileOptions>({
  ...TRANSFER_KINDS,
  ...WRITING_KINDS,
  offset: NUMBER,
});

/** A buffer whose elements move to and from ordinary arrays. */
export abstract class TransferableBuffer<D extends DType = DType> extends GpuBuffer<D> {
  /**
   * Copies host memory into the buffer; resolves when it is there. Whatever is called later and uses
   * the same memory comes after it, awaited or not. Leave the array alone until it resolves: when it
   * is moved away (transferred to a worker, say) meanwhile, this rejects with a TypeError.
   */
  async upload(source: Uploadable<D>, options: TransferChoice = {}): Promise<this> {
    TRANSFER_CHOICE.read(options, "upload");
    const host = hostSource(this, source, new Moving("upload to", this));
    const pending = transfer(this.#task("upload", host, options));
    if (pending !== undefined) await pending;
    return this;
  }

  /** Copies host memory into the buffer and blocks until it is there, and what comes before it. */
  uploadSync(source: Uploadable<D>, options: StreamChoice = {}): this {
    STREAM_CHOICE.read(options, "uploadSync");
    const host = hostSource(this, source, new Moving("upload to", this));
    transferSync(this.#task("upload", host, options));
    return this;
  }

  /**
   * Copies the elements into a fresh typed array (bfloat16 as Float32Array), as they are when all that
   * was called before is done, and nothing that is called later.
   */
  download(destination?: undefined, options?: TransferChoice): Promise<ArrayOf<D>>;
  /** Copies the elements into memory of yours, and resolves with it. */
  download<T extends Uploadable<D>>(destination: T, options?: TransferChoice): Promise<T>;
  async download(destination?: HostMemory, options: TransferChoice = {}): Promise<HostMemory> {
    TRANSFER_CHOICE.read(options, "download");
    const host = hostDestination(this, destination, new Moving("download from", this));
    const isFresh = destination === undefined;
    const pending = transfer(this.#task("download", host, { ...options, isFresh }));
    if (pending !== undefined) await pending;
    return host.result();
  }

  /** Copies the elements into a fresh typed array and blocks until they are there. */
  downloadSync(destination?: undefined, options?: StreamChoice): ArrayOf<D>;
  /** Copies the elements into memory of yours and blocks until they are there. */
  downloadSync<T extends Uploadable<D>>(destination: T, options?: StreamChoice): T;
  downloadSync(destination?: HostMemory, options: StreamChoice = {}): HostMemory {
    STREAM_CHOICE.read(options, "downloadSync");
    const host = hostDestination(this, destination, new Moving("download from", this));
    const isFresh = destination === undefined;
    transferSync(this.#task("download", host, { ...options, isFresh }));
    return host.result();
  }

  /**
   * Writes the bytes into a file, straight from page-locked memory; resolves when they are there.
   * Needs `--allow-write`. Without an offset a new file takes the place of the old one when all of
   * it is written: until then, and when anything fails, the old file is there, untouched.
   *
   * @throws TypeError when it is a folder or a pipe, or a device without `inPlace`.
   */
  async writeFile(path: FilePath, options: WriteFileOptions = {}): Promise<void> {
    WRITE_FILE_OPTIONS.read(options, "writeFile");
    await writeFileFrom({ ...options, path, span: this.span, stream: this.streamFor(options) });
  }

  /**
   * A new stream of the buffer's bytes, for files, responses and compressors. Each chunk of 1 MiB is
   * copied when it is asked for, and not before: it has what was written by then.
   */
  get readable(): ReadableStream<Uint8Array<ArrayBuffer>> {
    if (this.disposed) throw new DisposedError(this.toString());
    return readableFrom(this, this.streamFor({}));
  }

  /**
   * A new stream whose bytes fill the buffer from its start, in constant host memory. Closing it
   * waits until they are there, and fails with a RangeError when they are fewer or more than the
   * buffer has.
   */
  get writable(): WritableStream<HostMemory> {
    if (this.disposed) throw new DisposedError(this.toString());
    return writableInto(wholeOf(this, this.streamFor({})));
  }

  /**
   * Describes the values: lowest, highest, mean and a histogram. Of more than 65,536 elements a
   * sample is copied to the host, in pieces spread evenly over the buffer.
   */
  async describe(options: TransferChoice = {}): Promise<BufferSummary> {
    return await summarise(this, TRANSFER_CHOICE.read(options, "describe"));
  }

  #task(
    direction: "upload" | "download",
    host: HostSide,
    options: TransferChoice & { readonly isFresh?: boolean },
  ): HostTransfer {
    const { onProgress, signal, isFresh = false } = options;
    const stream = this.streamFor(options);
    return { direction, stream, span: this.span, host, isFresh, onProgress, signal };
  }
}

/** Words for a message about a transfer, put together only when something is wrong. */
class Moving {
  readonly #verb: string;
  readonly #buffer: GpuBuffer;

  constructor(verb: string, buffer: GpuBuffer) {
    this.#verb = verb;
    this.#buffer = buffer;
  }

  toString(): string {
    return `${this.#verb} ${this.#buffer}`;
  }
}
