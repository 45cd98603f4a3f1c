// Bytes as they arrive from a stream: a few at a time, for those who have to look at them, and the rest in
// the chunks that the source makes.

import { addressOf, isWebAddress } from "../disk/file_path.ts";
import { bytesOf, type HostBytes, type HostMemory, isHostMemory } from "../memory/host_memory.ts";
import type { CudaStream } from "../order/stream.ts";
import { whenFilled } from "../transfer/staged_writer.ts";
import { letGo } from "../transfer/web_streams.ts";
import { messageOf, visibleText } from "../words/format.ts";
import { type ByteSource, type OpenedSource, openSource } from "./byte_source.ts";

/** Bytes in memory, a source of them, or the address of one on the web. */
export type Arriving = HostMemory | ByteSource | URL | string;

/** Options for opening a source. */
interface ArrivalOptions {
  /** Ends the reading. */
  readonly signal?: AbortSignal | undefined;
  /** The stream that waits for work of the GPU in the chunks' memory. */
  readonly stream?: CudaStream | undefined;
}

/** Returns whether a value is bytes or a source of them, and not the path of a file. */
export function isArriving(source: unknown): source is Arriving {
  return isHostMemory(source) || source instanceof Blob || source instanceof ReadableStream ||
    source instanceof Response || source instanceof Request ||
    (typeof source === "string" || source instanceof URL) && isWebAddress(source);
}

/** A source that is read from its first byte on. */
export class ArrivingBytes implements AsyncDisposable {
  /** Names the source, for messages. */
  readonly name: string;
  /** Number of bytes that will come; undefined when the source does not tell. */
  readonly byteLength: number | undefined;
  readonly #reader: ReadableStreamDefaultReader<HostMemory>;
  readonly #options: ArrivalOptions;
  #chunk: HostBytes = new Uint8Array(0);
  #offset = 0;

  private constructor(source: Arriving, opened: OpenedSource, options: ArrivalOptions) {
    this.name = nameOf(source);
    this.byteLength = opened.byteLength;
    this.#reader = opened.readable.getReader();
    this.#options = options;
    options.signal?.addEventListener("abort", this.#endReading);
  }

  /**
   * Opens a source; an address is fetched. Nothing is read yet.
   *
   * @throws TypeError when it is in use or was used.
   * @throws Error when a response reports a failure; the message has its status.
   */
  static async open(source: Arriving, options: ArrivalOptions = {}): Promise<ArrivingBytes> {
    options.signal?.throwIfAborted();
    const opened = await openSource(await sourceOf(source, options.signal));
    return new ArrivingBytes(source, opened, options);
  }

  /** Number of bytes that were taken. */
  get offset(): number {
    return this.#offset;
  }

  /** Returns the next bytes, at most so many; undefined at the end. Their memory is the source's. */
  async next(maxBytes: number): Promise<HostBytes | undefined> {
    while (this.#chunk.byteLength === 0) {
      const { value, done } = await this.#reader.read().catch((error) => this.#fail(error));
      this.#options.signal?.throwIfAborted();
      if (done) return undefined;
      this.#chunk = bytesOf(value, `read a chunk of ${this.name}`);
      if (this.#options.stream !== undefined) await whenFilled(this.#chunk, this.#options.stream);
    }
    const bytes = this.#chunk.subarray(0, maxBytes);
    this.#chunk = this.#chunk.subarray(bytes.byteLength);
    this.#offset += bytes.byteLength;
    return bytes;
  }

  /** Fills an array with the next bytes; returns false when the stream ends before. */
  async fill(bytes: Uint8Array<ArrayBuffer>): Promise<boolean> {
    for (let end = 0; end < bytes.byteLength;) {
      const part = await this.next(bytes.byteLength - end);
      if (part === undefined) return false;
      bytes.set(part, end);
      end += part.byteLength;
    }
    return true;
  }

  /** Returns the next bytes in an array of their own, which is shorter when the stream ends before. */
  async take(byteLength: number): Promise<Uint8Array<ArrayBuffer>> {
    const parts: Uint8Array<ArrayBuffer>[] = []; // what a header claims is believed when it comes
    for (let left = byteLength; left > 0;) {
      const part = await this.next(left);
      if (part === undefined) break;
      parts.push(part.slice());
      left -= part.byteLength;
    }
    return await new Blob(parts).bytes();
  }

  /** Tells the source that nothing more is read. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#options.signal?.removeEventListener("abort", this.#endReading);
    await letGo(this.#reader, this.#options.signal?.reason);
    this.#reader.releaseLock();
  }

  /** Throws the error of a source: that of a connection does not say which it was. */
  #fail(error: unknown): never {
    this.#options.signal?.throwIfAborted();
    if (!isWebAddress(this.name)) throw error;
    const words = `${messageOf(error)}, after ${this.#offset} bytes`;
    throw new TypeError(`Cannot read ${visibleText(this.name)}: ${words}`, { cause: error });
  }

  readonly #endReading = () => {
    this.#reader.cancel(this.#options.signal?.reason).catch(() => {});
  };
}

async function sourceOf(source: Arriving, signal: AbortSignal | undefined): Promise<ByteSource> {
  if (typeof source === "string" || source instanceof URL) {
    try {
      return await fetch(source, signal === undefined ? {} : { signal });
    } catch (error) {
      signal?.throwIfAborted();
      const reason = messageOf((error as Error).cause ?? error).replace(/https?:\S+/g, addressOf);
      const cause = new TypeError(visibleText(reason)); // its own can hold a signed address
      throw new TypeError(`Cannot fetch ${visibleText(nameOf(source))}: ${cause.message}`, {
        cause,
      });
    }
  }
  return isHostMemory(source) ? ReadableStream.from([source]) : source;
}

/** Names a source, for messages. */
function nameOf(source: Arriving): string {
  if (typeof source === "string" || source instanceof URL) return addressOf(source);
  if (source instanceof Response || source instanceof Request) {
    return addressOf(source.url) || "a response";
  }
  if (source instanceof File) return source.name;
  return isHostMemory(source) ? "the bytes" : source instanceof Blob ? "a blob" : "a stream";
}
