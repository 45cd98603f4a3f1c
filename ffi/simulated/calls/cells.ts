// Reads and writes the memory that callers pass by address: out-cells, C strings and structs.
// A null where the driver needs memory is an invalid value.

import type { Fields, Members, Struct } from "../../struct.ts";
import { requireValue } from "../errors.ts";
import type { Context } from "../model/context.ts";
import type { Machine } from "../model/machine.ts";

/** Memory that a call reads or writes before it returns. */
export type Cell = AllowSharedBufferSource | null;

export function bytesOf(cell: Cell): Uint8Array {
  requireValue(cell !== null);
  if (!ArrayBuffer.isView(cell)) return new Uint8Array(cell);
  return new Uint8Array(cell.buffer, cell.byteOffset, cell.byteLength);
}

/** Rejects a call without a place for its result, before anything is created. */
export function requireCell(cell: Cell): void {
  requireValue(cell !== null);
}

/**
 * Returns a size as Deno hands it to the driver: the lower 64 bits of a whole number, without what is
 * behind the point.
 *
 * @throws TypeError for what is no number, as Deno does.
 */
export function sizeOf(value: number | bigint): number {
  if (typeof value === "bigint") return Number(BigInt.asUintN(64, value));
  if (typeof value !== "number") {
    throw new TypeError("Invalid FFI usize type, expected unsigned integer");
  }
  return Number(BigInt.asUintN(64, BigInt(Math.trunc(value) || 0)));
}

export function put32(cell: Cell, value: number): void {
  dataOf(cell).setInt32(0, value, true);
}

/** Writes a 64-bit integer, address or handle. */
export function put64(cell: Cell, value: number | bigint): void {
  dataOf(cell).setBigUint64(0, BigInt(value), true);
}

export function putFloat(cell: Cell, value: number): void {
  dataOf(cell).setFloat32(0, value, true);
}

/** Writes a C string of at most `capacity` bytes, cut and terminated as the driver does it. */
export function putText(cell: Cell, capacity: number, text: string): void {
  requireValue(capacity > 0);
  const encoded = new TextEncoder().encode(text).subarray(0, capacity - 1);
  const bytes = bytesOf(cell);
  bytes.set(encoded);
  bytes[encoded.byteLength] = 0;
}

/** Makes an object that a handle names, which goes with its owner, and writes the handle. */
export function giveHandle<T extends object>(
  machine: Machine,
  cell: Cell,
  make: (handle: bigint) => T,
  owner?: Context,
): T {
  return machine.register((handle) => {
    const made = make(handle);
    put64(cell, handle);
    return made;
  }, owner);
}

/** Reads structs that lie side by side. */
export function decodeList<M extends Members>(
  struct: Struct<M>,
  cell: Cell,
  count: number | bigint,
): Fields<M>[] {
  const bytes = bytesOf(cell);
  return Array.from(
    { length: Number(count) },
    (_, at) => struct.decode(bytes.subarray(at * struct.byteLength)),
  );
}

export function get32(cell: Cell): number {
  return dataOf(cell).getInt32(0, true);
}

/** Reads a 64-bit integer, address or handle. */
export function get64(cell: Cell, index = 0): bigint {
  return dataOf(cell).getBigUint64(index * 8, true);
}

export function getText(cell: Cell): string {
  const bytes = bytesOf(cell);
  const end = bytes.indexOf(0);
  return new TextDecoder().decode(bytes.slice(0, end < 0 ? bytes.byteLength : end));
}

function dataOf(cell: Cell): DataView {
  const bytes = bytesOf(cell);
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
