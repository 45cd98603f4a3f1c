// Writes a buffer's elements as a .npy file: a header, and the elements straight from the GPU.

import type { MemorySpan } from "../copies/copy.ts";
import type { FilePath } from "../disk/file_path.ts";
import type { DType } from "../dtype.ts";
import type { CudaStream } from "../order/stream.ts";
import { checkDownload } from "../transfer/file_transfer.ts";
import { gatherInto, writeInto } from "../transfer/gathered_transfer.ts";
import type { TransferOptions } from "../transfer/pending_transfer.ts";
import { produceFile, type WritingOptions } from "../transfer/produce_file.ts";
import { encodeNpyHeader } from "./npy_header.ts";

/** An array to save, and its file. */
interface NpyRequest extends TransferOptions, WritingOptions {
  readonly path: FilePath;
  readonly span: MemorySpan;
  readonly dtype: DType;
  readonly shape: readonly number[];
  /** The stream whose earlier work comes first. */
  readonly stream: CudaStream;
}

/**
 * Saves an array. The new file replaces the old one once it is complete.
 *
 * @throws TypeError for an element type that numpy lacks.
 */
export async function saveNpyFile(request: NpyRequest): Promise<void> {
  const { path, span, dtype, shape, stream, inPlace, sync, signal, onProgress } = request;
  const header = encodeNpyHeader(dtype, shape);
  checkDownload(span, stream);
  const uses = [{ ...span, access: "read", stream }] as const;
  const byteLength = header.byteLength + span.byteLength;
  await produceFile({ path, byteLength, uses, inPlace, sync, signal }, function* (file) {
    // Until its header is written, every reader rejects a file that is written in place.
    if (inPlace === true) yield* writeInto(file, new Uint8Array(header.byteLength), 0);
    const parts = [{ span, fileOffset: header.byteLength }];
    yield* gatherInto({ parts, stream, file, onProgress, signal });
    yield* writeInto(file, header, 0);
  });
}
