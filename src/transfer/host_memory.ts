// What JavaScript memory a transfer may touch: the checks that come before any address is taken.

import type { HostArray } from "../dtype.ts";

/** JavaScript memory that a transfer can read or write. */
export type HostMemory = HostArray | DataView | ArrayBuffer | SharedArrayBuffer;

/** What is being done, for messages; an object is only turned into words when something is wrong. */
export interface Action {
  /** The words after "Cannot". */
  toString(): string;
}

/**
 * Shows host memory as bytes, without a copy.
 *
 * @throws TypeError when it is not memory, was detached, or could be resized under a running copy.
 */
export function bytesOf(memory: HostMemory, action: Action): Uint8Array<ArrayBufferLike> {
  if (!ArrayBuffer.isView(memory)) {
    if (!(memory instanceof ArrayBuffer) && !(memory instanceof SharedArrayBuffer)) {
      throw new TypeError(`Cannot ${action}: expected a typed array or an ArrayBuffer`);
    }
    checkSteady(memory, action);
    return new Uint8Array(memory);
  }
  checkSteady(memory.buffer, action);
  return new Uint8Array(memory.buffer, memory.byteOffset, memory.byteLength);
}

function checkSteady(buffer: ArrayBufferLike, action: Action): void {
  if (buffer instanceof SharedArrayBuffer) {
    if (buffer.growable) {
      throw new TypeError(
        `Cannot ${action}: growable memory can change under the copy, slice() it`,
      );
    }
    return;
  }
  if (buffer.detached) throw new TypeError(`Cannot ${action}: the array's memory was detached`);
  if (buffer.resizable) {
    throw new TypeError(`Cannot ${action}: resizable memory can change under the copy, slice() it`);
  }
}
