// The same bytes again and again, over memory of any size: a short pattern goes to the GPU with the
// call, a longer one lies there already and is copied, twice as much each time.

import { checkApart, type MemorySpan, partOf, queueCopy } from "../copies/copy.ts";
import { u64 } from "../launch/kernel_number.ts";
import { launchReady, writing } from "../launch/ready_kernels.ts";
import type { Action } from "../memory/host_memory.ts";
import type { CudaStream } from "../order/stream.ts";

/** The most bytes that go with the call. */
const MAX_PATTERN_BYTES = 1024;

/** Bytes that one thread writes. */
const THREAD_BYTES = 16;

/**
 * Queues writing bytes again and again and does not wait.
 *
 * @throws TypeError when the GPU cannot reach the memory.
 * @throws RangeError for no bytes, or more than go with the call.
 */
export function queuePattern(
  span: MemorySpan,
  { bytes, action }: { readonly bytes: Uint8Array<ArrayBufferLike>; readonly action: Action },
  stream: CudaStream,
): void {
  const { byteLength } = bytes;
  requireBytes(byteLength, action);
  if (byteLength > MAX_PATTERN_BYTES) {
    throw new RangeError(
      `Cannot ${action}: the array has ${byteLength} bytes, at most ${MAX_PATTERN_BYTES} go with the ` +
        `call; upload it, and pass the buffer`,
    );
  }
  if (span.byteLength === 0) return;
  const pattern = new Uint8Array(MAX_PATTERN_BYTES);
  pattern.set(bytes);
  launchReady(stream, {
    name: "vramkit_repeat",
    count: Math.ceil(span.byteLength / THREAD_BYTES),
    args: [writing(span), u64(span.byteLength), u64(byteLength), pattern],
  });
}

/**
 * Queues copying memory again and again over other memory and does not wait.
 *
 * @throws RangeError for no bytes, and when the two overlap.
 */
export function queueRepeats(
  span: MemorySpan,
  { pattern, action }: { readonly pattern: MemorySpan; readonly action: Action },
  stream: CudaStream,
): void {
  requireBytes(pattern.byteLength, action);
  checkApart(span, pattern);
  let source = pattern;
  let offset = 0;
  do {
    const byteLength = Math.min(source.byteLength, span.byteLength - offset);
    queueCopy(partOf(span, { offset, byteLength }), partOf(source, { byteLength }), stream);
    offset += byteLength;
    source = partOf(span, { byteLength: offset }); // twice as much each time
  } while (offset < span.byteLength);
}

function requireBytes(byteLength: number, action: Action): void {
  if (byteLength === 0) throw new RangeError(`Cannot ${action}: the pattern has no bytes`);
}
