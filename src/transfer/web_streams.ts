// Device memory as the ends of web streams: bytes come and go in chunks, as fast as both sides can.

import { MEMORY, type MemorySpan, partOf } from "../copies/copy.ts";
import type { Allocation } from "../memory/allocation.ts";
import type { HostMemory } from "../memory/host_memory.ts";
import { type Owner, unwatch, watch } from "../order/safety_net.ts";
import type { CudaStream } from "../order/stream.ts";
import { nextTurn } from "../order/waiting.ts";
import { DisposedError } from "../words/errors.ts";
import { within } from "../words/timer.ts";
import { transfer } from "./host_transfer.ts";
import { StagedWriter, type StreamTarget } from "./staged_writer.ts";
import { CHUNK_BYTES, MAX_CANCEL_MILLISECONDS } from "./ways.ts";

/** The hold of a web stream on the block that it reads: see {@link Allocation.addReader}. */
class Reading implements Owner {
  readonly #end: () => void;
  /** It is over. */
  released = false;

  constructor(allocation: Allocation) {
    this.#end = allocation.addReader();
  }

  /** Lets go of the block; a second call does nothing. */
  end(): void {
    if (this.released) return;
    unwatch(this);
    this.release();
  }

  /** The same for a stream that nobody read to its end, when it is collected. */
  release(): void {
    this.released = true;
    this.#end();
  }
}

/** Memory that a web stream reads or fills: a buffer. */
export interface StreamedMemory {
  /** Returns the memory; checked on every use. */
  [MEMORY](): MemorySpan;
  /** It was disposed. */
  readonly disposed: boolean;
  /** Bytes from the start of its block to its own. */
  readonly byteOffset: number;
  /** Its size in bytes. */
  readonly byteLength: number;
  /** Names it, for messages. */
  toString(): string;
}

/**
 * Reads memory from its first byte to its last; each chunk is copied when it is asked for. A block that
 * is released meanwhile is kept until the stream ends, is cancelled or is collected.
 */
export function readableFrom(
  memory: StreamedMemory,
  allocation: Allocation,
  stream: CudaStream,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reading = new Reading(allocation);
  let offset = 0;
  let copying: Promise<Uint8Array<ArrayBuffer>> | undefined;
  async function copyNext(): Promise<Uint8Array<ArrayBuffer>> {
    await nextTurn(); // a reader that only awaits chunks would starve timers
    const span = memory.disposed ? keptSpan(memory, allocation) : memory[MEMORY]();
    const bytes = new Uint8Array(Math.min(CHUNK_BYTES, Math.max(0, span.byteLength - offset)));
    const part = partOf(span, { offset, byteLength: bytes.byteLength });
    await transfer({ direction: "download", stream, span: part, host: { memory: bytes } });
    return bytes;
  }
  const readable = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      try {
        copying = copyNext();
        const bytes = await copying;
        offset += bytes.byteLength;
        if (bytes.byteLength > 0) controller.enqueue(bytes);
        if (offset < memory.byteLength) return;
        controller.close();
        reading.end();
      } catch (error) {
        reading.end();
        throw error;
      }
    },
    async cancel() {
      await Promise.allSettled([copying]); // nothing is under way any more
      reading.end();
    },
  });
  watch(readable, reading);
  return readable;
}

/**
 * The memory of a buffer that was disposed, while its streams keep it.
 *
 * @throws DisposedError for memory that was never taken.
 */
function keptSpan(memory: StreamedMemory, allocation: Allocation): MemorySpan {
  const { byteLength, byteOffset } = memory;
  if (byteLength === 0) return { allocation, address: 0n, byteLength };
  if (allocation.address === 0n) throw new DisposedError(`${memory}`);
  return { allocation, address: allocation.address + BigInt(byteOffset), byteLength };
}

/** Options for reading a stream to its end. */
export interface DrainOptions {
  /** Told how many bytes are in place. */
  readonly report: (doneBytes: number) => void;
  /** Ends it early; its reason is thrown. */
  readonly signal: AbortSignal | undefined;
}

/**
 * Writes all bytes of a stream to `target`, and checks the length at its end. Unlike pipeTo() it throws
 * what went wrong here, also when the source fails to end, or never does.
 */
export async function drainInto(
  target: StreamTarget,
  readable: ReadableStream<HostMemory>,
  { report, signal }: DrainOptions,
): Promise<void> {
  signal?.throwIfAborted();
  const writer = new StagedWriter(target, report);
  const reader = readable.getReader();
  const endReading = () => void reader.cancel(signal?.reason).catch(() => {});
  signal?.addEventListener("abort", endReading);
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      await writer.write(read.value);
    }
    signal?.throwIfAborted();
    await writer.finish();
  } catch (error) {
    writer.abandon();
    await letGo(reader, error);
    throw error;
  } finally {
    signal?.removeEventListener("abort", endReading);
    reader.releaseLock();
  }
}

/** Tells a source that nothing more is read; gives it a second for that, and does not ask what came of it. */
export async function letGo(
  source: { cancel(reason: unknown): Promise<void> },
  reason: unknown,
): Promise<void> {
  await within(MAX_CANCEL_MILLISECONDS, source.cancel(reason).catch(() => {}));
}

/** Writes the piped bytes to `target`, and checks the length when it is closed. */
export function writableInto(target: StreamTarget): WritableStream<HostMemory> {
  const writer = new StagedWriter(target);
  return new WritableStream({
    write: (chunk) => writer.write(chunk),
    close: () => writer.finish(),
    abort: () => writer.abandon(),
  });
}

/** Memory of fixed size as a target: exactly as many bytes must come as it has. */
export function wholeOf(memory: StreamedMemory, stream: CudaStream): StreamTarget {
  const { byteLength } = memory;
  return {
    stream,
    expectedBytes: byteLength,
    spanFor(endBytes) {
      if (endBytes <= byteLength) return memory[MEMORY]();
      throw new RangeError(
        `Cannot write a stream to ${memory}: it goes on after ${byteLength} bytes, which is all ` +
          `that the buffer has`,
      );
    },
    finish(doneBytes) {
      if (doneBytes === byteLength) return;
      throw new RangeError(
        `Cannot write a stream to ${memory}: it ended after ${doneBytes} of ${byteLength} bytes`,
      );
    },
    abandon() {},
    toString: () => `${memory}`,
  };
}
