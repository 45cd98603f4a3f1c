// What can go wrong, as few classes with typed fields; bad arguments are RangeError and TypeError.
// Messages read "action: state", amounts carry units, and no message ends in a period.

import { CUresult } from "../ffi/constants.ts";
import { formatBytes } from "./format.ts";

const NAMES = new Map<number, string>(Object.entries(CUresult).map(([name, code]) => [code, name]));

/** Names a driver status code as cuda.h spells it: `"CUDA_ERROR_OUT_OF_MEMORY"`. */
export function statusName(code: number): string {
  return NAMES.get(code) ?? "CUDA_ERROR_UNLISTED";
}

/** A driver call failed. */
export class CudaError extends Error {
  override readonly name: string = "CudaError";
  /** The status code, as in cuda.h. */
  readonly code: number;
  /** The status code's name, such as `"CUDA_ERROR_INVALID_VALUE"`. */
  readonly codeName: string;
  /** The driver function that failed. */
  readonly call: string;

  /** Describes a failed call; `cause` is the first error that broke the context, when there was one. */
  constructor(message: string, fields: { code: number; call: string; cause?: unknown }) {
    super(message, fields.cause === undefined ? undefined : { cause: fields.cause });
    this.code = fields.code;
    this.codeName = statusName(fields.code);
    this.call = fields.call;
  }
}

/** A live allocation as an out-of-memory error names it. */
export interface LiveBlock {
  /** The label, or the kind and number of an unlabelled one. */
  readonly name: string;
  /** Its size in bytes. */
  readonly byteLength: number;
}

/** The amounts an {@link OutOfMemoryError} carries, in bytes. */
export interface MemoryAmounts {
  /** Which device. */
  readonly ordinal: number;
  /** What was asked for. */
  readonly requestedBytes: number;
  /** What the device had free. */
  readonly freeBytes: number;
  /** What the device has in all. */
  readonly totalBytes: number;
  /** What this program's live buffers hold. */
  readonly liveBytes: number;
  /** How many buffers that is. */
  readonly liveCount: number;
  /** The largest live buffers, largest first. */
  readonly largest: readonly LiveBlock[];
}

/** The device could not give the memory; nothing was allocated and nothing else changed. */
export class OutOfMemoryError extends CudaError {
  override readonly name = "OutOfMemoryError";
  /** What was asked for, in bytes. */
  readonly requestedBytes: number;
  /** What the device had free, in bytes. */
  readonly freeBytes: number;
  /** What the device has in all, in bytes. */
  readonly totalBytes: number;
  /** What this program's live buffers hold, in bytes. */
  readonly liveBytes: number;
  /** The largest live buffers, largest first. */
  readonly largest: readonly LiveBlock[];

  /** Describes a failed allocation with the amounts that explain it. */
  constructor(amounts: MemoryAmounts, call: string) {
    const code = CUresult.CUDA_ERROR_OUT_OF_MEMORY;
    const top = amounts.largest[0];
    const held = amounts.liveCount === 0
      ? "no live buffers"
      : `${formatBytes(amounts.liveBytes)} in ${amounts.liveCount} live buffers` +
        (top === undefined ? "" : ` (largest: ${top.name} ${formatBytes(top.byteLength)})`);
    super(
      `Cannot allocate ${formatBytes(amounts.requestedBytes)} on device ${amounts.ordinal}: ` +
        `${statusName(code)} (${code}), ${formatBytes(amounts.freeBytes)} of ` +
        `${formatBytes(amounts.totalBytes)} free, ${held}`,
      { code, call },
    );
    this.requestedBytes = amounts.requestedBytes;
    this.freeBytes = amounts.freeBytes;
    this.totalBytes = amounts.totalBytes;
    this.liveBytes = amounts.liveBytes;
    this.largest = amounts.largest;
  }

  /** The largest live buffer, the first place to look for memory. */
  get largestLive(): LiveBlock | undefined {
    return this.largest[0];
  }
}

/** Something was used after it was disposed; no driver call was made. */
export class DisposedError extends Error {
  override readonly name = "DisposedError";

  /** Names the object that was used. */
  constructor(what: string) {
    super(`Cannot use ${what}: it was disposed`);
  }
}

/** Why no GPU can be used. */
export type UnavailableReason =
  | "permission"
  | "no-library"
  | "bad-library"
  | "no-device"
  | "driver-too-old";

/** The driver, a device, or a function of the driver is not there; the message names the fix. */
export class CudaUnavailableError extends Error {
  override readonly name = "CudaUnavailableError";
  /** What is missing. */
  readonly reason: UnavailableReason;

  /** Describes what is missing and how to get it. */
  constructor(reason: UnavailableReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
