// Streams of bytes for tests: in chunks of any size, counted, failing when they are told to.

/** The behaviour of a test's stream. */
export interface ByteStreamOptions {
  /** Bytes of one chunk; 64 KiB by default. */
  readonly chunkBytes?: number;
  /** Fails with this error after all bytes instead of closing. */
  readonly failure?: Error;
  /** Called before each chunk with the bytes handed out so far. */
  readonly onPull?: (doneBytes: number) => void;
}

/** Hands bytes out chunk by chunk, as they are asked for. */
export function streamOf(
  bytes: Uint8Array<ArrayBuffer>,
  { chunkBytes = 65536, failure, onPull }: ByteStreamOptions = {},
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let offset = 0;
  return new ReadableStream({
    pull(controller) {
      onPull?.(offset);
      if (offset < bytes.byteLength) {
        controller.enqueue(bytes.subarray(offset, offset += chunkBytes));
      } else if (failure === undefined) controller.close();
      else controller.error(failure);
    },
  }, { highWaterMark: 0 });
}
