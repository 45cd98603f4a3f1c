// What JavaScript memory a transfer may touch: the checks that come before any address is taken.

import { openHost } from "../../ffi/host.ts";
import type { HostArray } from "../dtype.ts";

/** JavaScript memory that a transfer can read or write. */
export type HostMemory = HostArray | DataView | ArrayBuffer | SharedArrayBuffer;

/** What is being done, for messages; an object is only turned into words when something is wrong. */
export interface Action {
  /** The words after "Cannot". */
  toString(): string;
}

/** A typed array or DataView, whatever its elements: an address and a size. */
export type HostView = ArrayBufferView<ArrayBufferLike>;

/**
 * Checks host memory and shows it as a view; typed arrays are taken as they are.
 *
 * @throws TypeError when it is not memory, was detached, or could be resized under a running copy.
 */
export function viewOf(memory: HostMemory, action: Action): HostView {
  if (ArrayBuffer.isView(memory)) {
    checkSteady(memory.buffer, action);
    return memory;
  }
  if (!(memory instanceof ArrayBuffer) && !(memory instanceof SharedArrayBuffer)) {
    throw new TypeError(`Cannot ${action}: expected a typed array or an ArrayBuffer`);
  }
  checkSteady(memory, action);
  return new Uint8Array(memory);
}

/**
 * Checks host memory and shows it as bytes, without a copy.
 *
 * @throws TypeError when it is not memory, was detached, or could be resized under a running copy.
 */
export function bytesOf(memory: HostMemory, action: Action): Uint8Array<ArrayBufferLike> {
  const { buffer, byteOffset, byteLength } = viewOf(memory, action);
  return new Uint8Array(buffer, byteOffset, byteLength);
}

const NOTHING = new Uint8Array(1);

/**
 * The address of a view's first byte; whoever uses it keeps the view referenced. The C library tells
 * it in half the time that Deno.UnsafePointer takes.
 */
export function addressOf(view: HostView): bigint {
  return openHost().addressOf(view as BufferSource, NOTHING, 0n);
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
