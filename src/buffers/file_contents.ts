// A part of a file that fills new memory when it is first used: read at that moment, and not before.

import { type MemorySpan, partOf } from "../copies/copy.ts";
import type { DiskFile } from "../disk/disk_file.ts";
import { type FilePath, pathOf } from "../disk/file_path.ts";
import { FileReading, type OpenedFile } from "../disk/file_reading.ts";
import { reworded } from "../disk/system_error.ts";
import type { Allocation } from "../memory/allocation.ts";
import { requireNoCapture } from "../order/capture.ts";
import type { CudaStream } from "../order/stream.ts";
import { uploadFrom } from "../transfer/file_transfer.ts";
import { transferSync } from "../transfer/host_transfer.ts";
import type { TransferOptions } from "../transfer/pending_transfer.ts";
import { checkSize, messageOf } from "../words/format.ts";

/** Bytes that a blocking load reads at a time. */
const PIECE_BYTES = 16 * 2 ** 20;

/** New memory, which only the caller knows. */
export interface FileTarget {
  readonly block: Allocation;
  readonly stream: CudaStream;
  readonly name: { toString(): string };
}

/** A part of a file. */
export class FileContents {
  readonly path: string;
  readonly fileOffset: number;

  /**
   * Names a part of a file, which may not be there yet.
   *
   * @throws TypeError for a value that is not a path.
   */
  constructor(file: FilePath, fileOffset = 0) {
    this.path = pathOf(file);
    this.fileOffset = checkSize(fileOffset, "file offset");
  }

  loadSync(target: FileTarget): void {
    requireNoCapture("load a file");
    const span = spanOf(target.block);
    try {
      using reading = new FileReading(this.path);
      if (!reading.isDue) {
        throw new TypeError(
          `Cannot load ${this.path} in a call that does not wait: an earlier call is writing it; ` +
            `await that call, or load()`,
        );
      }
      const { file } = this.#checked(reading.open(), span);
      this.#copySync(file, span, target.stream);
    } catch (error) {
      throw loadingError(target, error);
    }
  }

  async load(target: FileTarget, options: TransferOptions): Promise<void> {
    const { block, stream } = target;
    const span = spanOf(block);
    const { onProgress, signal } = options;
    using reading = await this.#opened(target, signal);
    const { file } = reading.open();
    await uploadFrom({ span, stream, file, fileOffset: this.fileOffset, onProgress, signal });
  }

  #copySync(file: DiskFile, span: MemorySpan, stream: CudaStream): void {
    const bytes = new Uint8Array(Math.min(PIECE_BYTES, span.byteLength));
    for (let done = 0; done < span.byteLength;) {
      const memory = bytes.subarray(0, span.byteLength - done);
      const count = file.readSomeSync(memory, this.fileOffset + done);
      if (count < memory.byteLength) throw this.#tooShort(this.fileOffset + done + count, span);
      const part = partOf(span, { offset: done, byteLength: count });
      transferSync({ direction: "upload", stream, span: part, host: { memory }, isPlaced: true });
      done += count;
    }
  }

  /** Opens the file. What fails later names the file itself, or is an error of the program's callback. */
  async #opened(target: FileTarget, signal: AbortSignal | undefined): Promise<FileReading> {
    try {
      using stack = new DisposableStack();
      const reading = stack.use(new FileReading(this.path));
      this.#checked(await reading.opened(signal), spanOf(target.block));
      stack.move();
      return reading;
    } catch (error) {
      throw signal?.aborted ? error : loadingError(target, error);
    }
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

/** Names the buffer in an error about its file; an error of the driver stays as it is. */
function loadingError({ name }: FileTarget, error: unknown): unknown {
  return reworded(error, `Cannot load ${name}: ${messageOf(error)}`);
}

function spanOf(allocation: Allocation): MemorySpan {
  const { address, byteLength } = allocation;
  return { allocation, address, byteLength };
}
