// An NVML whose functions a test writes: those that it leaves out are missing, as in an old library.

import type { DriverApi } from "../../ffi/cuda.ts";
import { NVML, type NvmlApi } from "../../ffi/nvml.ts";
import { OWN, ownParts } from "../../ffi/own_parts.ts";
import { testDriver } from "./driver.ts";

/** The handle of the only device. */
export const GPU_HANDLE = 0x10n;

/** Makes a library of the functions that are given, of one device that has every UUID. */
export function fakeNvml(functions: Partial<NvmlApi> = {}): NvmlApi {
  const missing = Object.fromEntries(Object.keys(NVML).map((name) => [name, null]));
  const least: Partial<NvmlApi> = {
    nvmlInit_v2: () => 0,
    nvmlSystemGetDriverVersion: (version) => putText(version, "580.95.05"),
    nvmlDeviceGetHandleByUUID: (_uuid, handle) => putHandle(handle, GPU_HANDLE),
    nvmlDeviceGetHandleByPciBusId_v2: () => 6,
  };
  return { ...missing, ...least, ...functions } as NvmlApi;
}

/** Makes the suite's driver with an NVML of the functions that are given. */
export function driverWithNvml(functions: Partial<NvmlApi> = {}): DriverApi {
  const driver = testDriver();
  const withNvml = { ...driver, [OWN]: { ...ownParts(driver), nvml: fakeNvml(functions) } };
  return withNvml;
}

type Cell = Parameters<NvmlApi["nvmlDeviceGetHandleByPciBusId_v2"]>[1];

/** Reads the bytes that a call was given. */
export function bytesOf(cell: Cell): Uint8Array {
  if (cell === null || !ArrayBuffer.isView(cell)) throw new TypeError("a call had no typed array");
  return new Uint8Array(cell.buffer, cell.byteOffset, cell.byteLength);
}

/** Writes an `unsigned int` and returns success. */
export function putNumber(cell: Cell, value: number): number {
  viewOf(cell).setUint32(0, value, true);
  return 0;
}

/** Writes an `unsigned long long` or a handle and returns success. */
export function putHandle(cell: Cell, value: bigint): number {
  viewOf(cell).setBigUint64(0, value, true);
  return 0;
}

/** Writes bytes, such as an encoded struct, and returns success. */
export function putBytes(cell: Cell, bytes: Uint8Array): number {
  bytesOf(cell).set(bytes);
  return 0;
}

/** Writes a text with its NUL and returns success. */
export function putText(cell: Cell, text: string): number {
  return putBytes(cell, new TextEncoder().encode(`${text}\0`));
}

/** Reads a text up to its NUL. */
export function textOf(cell: Cell): string {
  return new TextDecoder().decode(bytesOf(cell).slice()).replace(/\0.*$/s, "");
}

/** Reads an `unsigned int`. */
export function numberOf(cell: Cell): number {
  return viewOf(cell).getUint32(0, true);
}

function viewOf(cell: Cell): DataView {
  const bytes = bytesOf(cell);
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
