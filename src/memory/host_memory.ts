// Checks of the JavaScript memory of a transfer, before any address is taken. Sizes come from the
// built-in getters, because a subclass or a property of an array can lie.

import { findHost } from "../../ffi/host.ts";
import type { HostArray } from "../dtype.ts";
import { describeValue } from "../words/format.ts";
import { isIterable } from "../words/options.ts";

/** JavaScript memory that a transfer can read or write. */
export type HostMemory = HostArray | DataView | ArrayBuffer | SharedArrayBuffer;

/** An action, for messages; objects become text only when something is wrong. */
export interface Action {
  /** The words after "Cannot". */
  toString(): string;
}

/** Returns an action on an object, such as "upload to x". */
export function moving(verb: string, place: object): Action {
  return { toString: () => `${verb} ${place}` };
}

/** The bytes of host memory: an address and a size, 0 once the array is transferred away. */
export type HostBytes = Uint8Array<ArrayBufferLike>;

/** The words of errors about an array that has lost its memory: the likely causes. */
export const MOVED_AWAY =
  "was moved away (transferred, posted to a worker, or memory of WebAssembly that has grown)";

/** A built-in getter. */
type Getter<T> = (this: unknown) => T;

const TYPED_ARRAY = Object.getPrototypeOf(Uint8Array.prototype);
const TYPED = gettersOf(TYPED_ARRAY);
const UNTYPED = gettersOf(DataView.prototype);
const typeName = getterOf<string | undefined>(TYPED_ARRAY, Symbol.toStringTag);
const isDetached = getterOf<boolean>(ArrayBuffer.prototype, "detached");
const isResizable = getterOf<boolean>(ArrayBuffer.prototype, "resizable");
const isGrowable = getterOf<boolean>(SharedArrayBuffer.prototype, "growable");

/** Returns whether a value given as host memory is one of the kit's buffers, for a hint in errors. */
export function looksLikeBuffer(value: unknown): boolean {
  return typeof Object(value).copyFrom === "function";
}

/** Returns whether a value is memory of the host, of this realm or another, and not plain numbers. */
export function isHostMemory(value: unknown): value is HostMemory {
  return ArrayBuffer.isView(value) || (!isIterable(value) && kindOf(value) !== undefined);
}

/** Returns whether a value may be the options of a transfer, given in place of an array. */
function looksLikeOptions(value: object): boolean {
  return ["stream", "signal", "onProgress"].some((name) => Object.hasOwn(Object(value), name));
}

/**
 * Checks host memory and returns it as bytes, without a copy.
 *
 * @throws TypeError when it is not memory, was detached, or could be resized under a running copy.
 */
export function bytesOf(memory: HostMemory, action: Action): HostBytes {
  if (ArrayBuffer.isView(memory)) {
    const view = typeName.call(memory) === undefined ? UNTYPED : TYPED;
    const buffer = view.buffer.call(memory);
    checkSteady(buffer, action);
    return new Uint8Array(buffer, view.byteOffset.call(memory), view.byteLength.call(memory));
  }
  if (kindOf(memory) === undefined) {
    const hint = Array.isArray(memory)
      ? ", such as new Float32Array(list)"
      : looksLikeBuffer(memory)
      ? "; copyFrom() and copyTo() copy between buffers"
      : looksLikeOptions(memory)
      ? "; options come second, as in download(undefined, { stream })"
      : "";
    throw new TypeError(
      `Cannot ${action}: it was given ${describeValue(memory)}, expected a typed array or an ` +
        `ArrayBuffer${hint}`,
    );
  }
  checkSteady(memory, action);
  return new Uint8Array(memory);
}

/** Returns whether memory is shared between threads, of this realm or another; it never moves. */
export function isShared(buffer: ArrayBufferLike): boolean {
  return kindOf(buffer) === "shared";
}

/** The position of an array's bytes in memory. */
export interface BytePosition {
  /** The memory: the same for all arrays over it. */
  readonly memory: object;
  /** Its first byte, counted alike in all of them. */
  readonly start: number;
}

/**
 * Returns the position of bytes. Several objects can stand for the same shared memory, even with
 * different sizes when it belongs to WebAssembly and has grown; it never moves, so its address
 * identifies it.
 */
export function positionOf(bytes: HostBytes): BytePosition {
  const { buffer, byteOffset } = bytes;
  return isShared(buffer)
    ? { memory: SharedArrayBuffer, start: Number(addressOf(bytes)) }
    : { memory: buffer, start: byteOffset };
}

const NOTHING = new Uint8Array(1);

/**
 * Returns the address of the first byte; the caller must keep a reference to the bytes. The C
 * library, where there is one, takes half the time of Deno.UnsafePointer.
 */
export function addressOf(bytes: ArrayBufferView<ArrayBufferLike>): bigint {
  const host = findHost();
  if (host !== undefined) return host.addressOf(bytes as BufferSource, NOTHING, 0n);
  return Deno.UnsafePointer.value(Deno.UnsafePointer.of(bytes as BufferSource));
}

function checkSteady(buffer: ArrayBufferLike, action: Action): void {
  if (kindOf(buffer) === "shared") {
    if (isGrowable.call(buffer)) {
      throw new TypeError(
        `Cannot ${action}: growable memory can change during the copy; copy it by slice() first`,
      );
    }
    return;
  }
  if (isDetached.call(buffer)) {
    throw new TypeError(
      `Cannot ${action}: the array is detached: it ${MOVED_AWAY}, or shows a buffer that was ` +
        `disposed`,
    );
  }
  if (isResizable.call(buffer)) {
    throw new TypeError(
      `Cannot ${action}: resizable memory can change during the copy; copy it by slice() first`,
    );
  }
}

/**
 * Returns the kind of an array buffer; undefined for other values. Its class only decides which
 * getter to try first, because a getter that throws takes microseconds.
 */
function kindOf(memory: unknown): "ordinary" | "shared" | undefined {
  if (memory instanceof SharedArrayBuffer && isOfClass(isGrowable, memory)) return "shared";
  if (isOfClass(isDetached, memory)) return "ordinary";
  return isOfClass(isGrowable, memory) ? "shared" : undefined;
}

/** Returns whether a built-in getter accepts a value, whatever class the value claims to have. */
function isOfClass(getter: Getter<unknown>, value: unknown): boolean {
  try {
    getter.call(value);
    return true;
  } catch {
    return false;
  }
}

function gettersOf(view: object) {
  return {
    buffer: getterOf<ArrayBufferLike>(view, "buffer"),
    byteOffset: getterOf<number>(view, "byteOffset"),
    byteLength: getterOf<number>(view, "byteLength"),
  };
}

function getterOf<T>(prototype: object, name: string | symbol): Getter<T> {
  const getter = Object.getOwnPropertyDescriptor(prototype, name)?.get;
  if (getter === undefined) throw new TypeError(`Cannot find the getter of ${String(name)}`);
  return getter;
}
