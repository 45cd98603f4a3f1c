// Streams of bytes for tests: in chunks of any size, counted, failing when they are told to.

/** Hands bytes out chunk by chunk, as they are asked for; a failure comes after the last one. */
export function streamOf(
  bytes: Uint8Array<ArrayBuffer>,
  { chunkBytes = 65536, failure, onPull }: {
    readonly chunkBytes?: number;
    readonly failure?: Error;
    readonly onPull?: (doneBytes: number) => void;
  } = {},
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
