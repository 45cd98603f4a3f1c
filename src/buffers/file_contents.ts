// A part of a file that fills new memory when it is first used: read at that moment, and not before.

import type { Allocation } from "../memory/allocation.ts";
import { requireNoCapture } from "../order/capture.ts";
import type { CudaStream } from "../order/stream.ts";
import type { MemorySpan } from "../transfer/copy.ts";
import { type FilePath, pathOf } from "../transfer/file_path.ts";
import { FileReading, type OpenedFile } from "../transfer/file_reading.ts";
import { uploadFrom } from "../transfer/file_transfer.ts";
import { transferSync } from "../transfer/host_transfer.ts";
import type { TransferOptions } from "../transfer/pending_transfer.ts";
import { checkSize, messageOf } from "../words/format.ts";

/** Bytes that a blocking load reads at a time. */
const PIECE_BYTES = 16 * 2 ** 20;

/** A part of a file. */
export class FileContents {
  /** Absolute path of the file. */
  readonly path: string;
  /** Offset of the first byte. */
  readonly fileOffset: number;

  /**
   * Names a part of a file, which may not be there yet.
   *
   * @throws TypeError for what is no path.
   */
  constructor(file: FilePath, fileOffset = 0) {
    this.path = pathOf(file);
    this.fileOffset = checkSize(fileOffset, "file offset");
  }

  /** Fills new memory, which only the caller knows, and blocks until it is full. */
  loadSync(block: Allocation, stream: CudaStream): void {
    requireNoCapture("load a file");
    const span = spanOf(block);
    using reading = new FileReading(this.path);
    if (!reading.isDue) {
      throw new TypeError(
        `Cannot load ${this.path} in a call that does not wait: an earlier call is writing it; ` +
          `await that call, or load()`,
      );
    }
    const { file } = this.#checked(reading.open(), span);
    const bytes = new Uint8Array(Math.min(PIECE_BYTES, span.byteLength));
    for (let done = 0; done < span.byteLength;) {
      const memory = bytes.subarray(0, span.byteLength - done);
      const count = file.readSomeSync(memory, this.fileOffset + done);
      if (count < memory.byteLength) throw this.#tooShort(this.fileOffset + done + count, span);
      const part = { ...span, address: span.address + BigInt(done), byteLength: count };
      transferSync({ direction: "upload", stream, span: part, host: { memory }, isPlaced: true });
      done += count;
    }
  }

  /** Fills new memory, which only the caller knows. */
  async load(block: Allocation, stream: CudaStream, options: TransferOptions): Promise<void> {
    const span = spanOf(block);
    const { onProgress, signal } = options;
    using reading = new FileReading(this.path);
    const { file } = this.#checked(await reading.opened(signal), span);
    await uploadFrom({ span, stream, file, fileOffset: this.fileOffset, onProgress, signal });
  }

  #checked(opened: OpenedFile, span: MemorySpan): OpenedFile {
    if (this.fileOffset + span.byteLength <= opened.byteLength) return opened;
    throw this.#tooShort(opened.byteLength, span);
  }

  #tooShort(fileBytes: number, { byteLength }: MemorySpan): RangeError {
    return new RangeError(
      `Cannot read ${byteLength} bytes at ${this.fileOffset} of ${this.path}: it has ${fileBytes}`,
    );
  }
}

/** Names the buffer in an error of loading it, and keeps the error's class. */
export function loadingError(name: { toString(): string }, error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  try {
    const Kind = error.constructor as ErrorConstructor;
    return new Kind(`Cannot load ${name}: ${messageOf(error)}`, { cause: error });
  } catch {
    return error;
  }
}

function spanOf(allocation: Allocation): MemorySpan {
  const { address, byteLength } = allocation;
  return { allocation, address, byteLength };
}
