// What can go wrong, as few classes with typed fields; bad arguments are RangeError and TypeError.
// Messages read "action: state", amounts carry units, and no message ends in a period.

import { CUresult } from "../ffi/constants.ts";
import type { DriverFunction } from "../ffi/cuda.ts";
import { formatBytes } from "./format.ts";
import {
  formatHolders,
  formatNeed,
  hintFor,
  type LiveBlock,
  type MemoryAmounts,
  otherBytesOf,
} from "./shortage.ts";

const NAMES = new Map<number, string>(Object.entries(CUresult).map(([name, code]) => [code, name]));

/** Names a driver status code as cuda.h spells it: `"CUDA_ERROR_OUT_OF_MEMORY"`. */
export function statusName(code: number): string {
  return NAMES.get(code) ?? "CUDA_ERROR_UNLISTED";
}

/** Statuses by which a driver says that it does not know something, or cannot do it, and never will. */
const REFUSALS: ReadonlySet<number> = new Set([
  CUresult.CUDA_ERROR_INVALID_VALUE,
  CUresult.CUDA_ERROR_INVALID_DEVICE,
  CUresult.CUDA_ERROR_PEER_ACCESS_UNSUPPORTED,
  CUresult.CUDA_ERROR_TOO_MANY_PEERS,
  CUresult.CUDA_ERROR_NOT_SUPPORTED,
]);

/** Whether a status is an answer, "no" for good, and not a failure that may pass. */
export function isRefusal(status: number): boolean {
  return REFUSALS.has(status);
}

/** A driver call failed. */
export class CudaError extends Error {
  /** The class, for `catch` across realms and logs. */
  override readonly name: string = "CudaError";
  /** The status code, as in cuda.h. */
  readonly code: number;
  /** The status code's name, such as `"CUDA_ERROR_INVALID_VALUE"`. */
  readonly codeName: string;
  /** The driver function that failed. */
  readonly call: DriverFunction;

  /** Describes a failed call; `cause` is the first error that broke the context, when there was one. */
  constructor(message: string, fields: { code: number; call: DriverFunction; cause?: unknown }) {
    super(message, fields.cause === undefined ? undefined : { cause: fields.cause });
    this.code = fields.code;
    this.codeName = statusName(fields.code);
    this.call = fields.call;
  }
}

/**
 * There is no memory for an allocation, on the device, on the host, or within a limit; nothing was
 * allocated and nothing else changed. `cause` is the {@link CudaError} of the driver or the
 * {@link MemoryLimitError} of the limit; a request larger than the device has none.
 */
export class OutOfMemoryError extends Error {
  /** The class, for `catch` across realms and logs. */
  override readonly name = "OutOfMemoryError";
  /** What was asked for, in bytes. */
  readonly requestedBytes: number;
  /** What the device had free, in bytes. */
  readonly freeBytes: number;
  /** What the device has in all, in bytes. */
  readonly totalBytes: number;
  /** What `gpu.limit()`, or the resource that refused, allowed, in bytes; undefined without a limit. */
  readonly limitBytes: number | undefined;
  /** What this program's live buffers hold, in bytes. */
  readonly liveBytes: number;
  /** How many live buffers that is. */
  readonly liveCount: number;
  /** What caches kept for reuse and could not give back, in bytes. */
  readonly cachedBytes: number;
  /** What the context and other programs hold, in bytes. */
  readonly otherBytes: number;
  /** The five largest live buffers, largest first. */
  readonly largest: readonly LiveBlock[];
  /** What would help. */
  readonly hint: string;

  /** Describes a failed allocation with the amounts that explain it. */
  constructor(amounts: MemoryAmounts, cause?: CudaError | MemoryLimitError) {
    const hint = hintFor(amounts);
    const status = cause instanceof CudaError
      ? `${cause.codeName} (${cause.code})`
      : "out of memory";
    super(
      `Cannot allocate ${formatNeed(amounts)}: ${status}, ${formatHolders(amounts)}; ${hint}`,
      cause === undefined ? undefined : { cause },
    );
    this.requestedBytes = amounts.requestedBytes;
    this.freeBytes = amounts.freeBytes;
    this.totalBytes = amounts.totalBytes;
    this.limitBytes = amounts.limitBytes;
    this.liveBytes = amounts.liveBytes;
    this.liveCount = amounts.liveCount;
    this.cachedBytes = amounts.cachedBytes ?? 0;
    this.otherBytes = otherBytesOf(amounts);
    this.largest = amounts.largest;
    this.hint = hint;
  }

  /** The largest live buffer, the first place to look for memory. */
  get largestLive(): LiveBlock | undefined {
    return this.largest[0];
  }
}

/** The amounts by which a request passes a limit, in bytes. */
export interface LimitAmounts {
  /** What was asked for. */
  readonly requestedBytes: number;
  /** What is held already. */
  readonly heldBytes: number;
  /** What may be held. */
  readonly limitBytes: number;
}

/** What a {@link MemoryLimitError} says. */
export interface LimitRefusal extends LimitAmounts {
  /** How the limit can be raised, as a hint says it; by default the limit of what refused. */
  readonly remedy?: string;
}

/**
 * A limit of the program's own does not allow an allocation: that of `gpu.limit()`, of a resource, or
 * of an adaptor; the driver was not asked. A resource of your own throws it too when it has no more.
 * A buffer that cannot be made because of it throws an {@link OutOfMemoryError} with this as its cause.
 */
export class MemoryLimitError extends Error implements LimitAmounts {
  /** The class, for `catch` across realms and logs. */
  override readonly name = "MemoryLimitError";
  /** What has the limit: `"gpu.limit()"`, or the name of a resource's class. */
  readonly holder: string;
  readonly requestedBytes: number;
  readonly heldBytes: number;
  readonly limitBytes: number;
  /** How the limit can be raised. */
  readonly remedy: string;

  /** Describes a refusal by `holder`. */
  constructor(holder: string, refusal: LimitRefusal) {
    const { requestedBytes, heldBytes, limitBytes } = refusal;
    super(
      `Cannot allocate ${formatBytes(requestedBytes)}: ${formatBytes(heldBytes)} of the ` +
        `${formatBytes(limitBytes)} that ${holder} allows are held`,
    );
    this.holder = holder;
    this.requestedBytes = requestedBytes;
    this.heldBytes = heldBytes;
    this.limitBytes = limitBytes;
    this.remedy = refusal.remedy ?? `raise the limit of the ${holder}`;
  }
}

/** An error by which a driver or a resource says that it has no memory. */
export type MemoryShortage = CudaError | MemoryLimitError | OutOfMemoryError;

/** Whether an error says that memory ran out, on the device or within a limit. */
export function isOutOfMemory(error: unknown): error is MemoryShortage {
  if (error instanceof OutOfMemoryError || error instanceof MemoryLimitError) return true;
  return error instanceof CudaError && error.code === CUresult.CUDA_ERROR_OUT_OF_MEMORY;
}

/** Something was used after it was disposed; no driver call was made. */
export class DisposedError extends Error {
  /** The class, for `catch` across realms and logs. */
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
  | "driver-too-old"
  | "not-supported";

/** The driver, a device, or a function of the driver is not there; the message names the fix. */
export class CudaUnavailableError extends Error {
  /** The class, for `catch` across realms and logs. */
  override readonly name = "CudaUnavailableError";
  /** What is missing. */
  readonly reason: UnavailableReason;

  /** Describes what is missing and how to get it. */
  constructor(reason: UnavailableReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
