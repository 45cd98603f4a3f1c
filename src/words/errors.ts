// The kit's errors: few classes with typed fields. Bad arguments are RangeError and TypeError.
// Messages read "action: state", amounts carry units, and no message ends in a period.

import { CUresult } from "../../ffi/constants.ts";
import type { DriverFunction } from "../../ffi/cuda.ts";
import { formatBytes } from "./format.ts";
import { ANYTHING, NUMBER, OptionSet, requireKind, TEXT } from "./options.ts";
import { comesFrom, type Parts, partsOf } from "./parts.ts";
import {
  formatHolders,
  formatNeed,
  hintFor,
  type LiveBlock,
  type MemoryAmounts,
  otherBytesOf,
} from "./shortage.ts";

const NAMES = new Map<number, string>(Object.entries(CUresult).map(([name, code]) => [code, name]));

/** Returns the name of a driver status code as in cuda.h: `"CUDA_ERROR_OUT_OF_MEMORY"`. */
export function statusName(code: number): string {
  return NAMES.get(code) ?? "CUDA_ERROR_UNLISTED";
}

/** Statuses that mean that a driver does not know or support something, and never will. */
const REFUSALS: ReadonlySet<number> = new Set([
  CUresult.CUDA_ERROR_INVALID_VALUE,
  CUresult.CUDA_ERROR_INVALID_DEVICE,
  CUresult.CUDA_ERROR_PEER_ACCESS_UNSUPPORTED,
  CUresult.CUDA_ERROR_TOO_MANY_PEERS,
  CUresult.CUDA_ERROR_NOT_SUPPORTED,
]);

/** Returns whether a status is a lasting refusal and not a failure that may pass. */
export function isRefusal(status: number): boolean {
  return REFUSALS.has(status);
}

/** A driver call that failed, for a {@link CudaError}. */
export interface FailedCall {
  /** The status code, as in cuda.h. */
  readonly code: number;
  readonly call: DriverFunction;
  /** The first error that broke the context, if any. */
  readonly cause?: unknown;
}

const FAILED_CALL = new OptionSet<FailedCall>({ code: NUMBER, call: TEXT, cause: ANYTHING });

/**
 * A driver call failed. `code`, `codeName` and `call` tell which call and how; the message says
 * what to do about it where that is known.
 */
export class CudaError extends Error {
  /** The class's name, to recognise the error in logs and across realms. */
  override readonly name: string = "CudaError";
  /** The status code, as in cuda.h. */
  readonly code: number;
  /** The status code's name, such as `"CUDA_ERROR_INVALID_VALUE"`. */
  readonly codeName: string;
  /** The driver function that failed. */
  readonly call: DriverFunction;

  /** Creates an error for a failed call. */
  constructor(message: string, fields: FailedCall) {
    requireKind(message, TEXT, "new CudaError");
    fields = FAILED_CALL.read(fields, "new CudaError");
    super(message, fields.cause === undefined ? undefined : { cause: fields.cause });
    this.code = fields.code;
    this.codeName = statusName(fields.code);
    this.call = fields.call;
  }
}

/**
 * The device has too little free memory for an allocation, or a limit forbids it. Nothing was
 * allocated and nothing else changed. The fields tell who holds the memory; `cause` is the
 * {@link CudaError} of the driver or the {@link MemoryLimitError} of the limit. A request larger
 * than the device has no cause.
 */
export class OutOfMemoryError extends Error {
  /** The class's name, to recognise the error in logs and across realms. */
  override readonly name = "OutOfMemoryError";
  /** Bytes that were requested. */
  readonly requestedBytes: number;
  /** Bytes that were free on the device. */
  readonly freeBytes: number;
  /** Bytes of the device's whole memory. */
  readonly totalBytes: number;
  /** Bytes that `gpu.limit()`, or the resource that failed, allows; undefined without a limit. */
  readonly limitBytes: number | undefined;
  /** Bytes that this program's live buffers hold. */
  readonly liveBytes: number;
  /** Number of this program's live buffers. */
  readonly liveCount: number;
  /** Bytes that caches keep for reuse and could not release. */
  readonly cachedBytes: number;
  /** Bytes that the context and other programs hold. */
  readonly otherBytes: number;
  /** The five largest live buffers, largest first. */
  readonly largest: readonly LiveBlock[];
  /** Advice: what to do about it. */
  readonly hint: string;

  /** @ignore Explains a failed allocation by its amounts. */
  constructor(
    parts: Parts<{
      readonly amounts: MemoryAmounts;
      readonly cause?: CudaError | MemoryLimitError | undefined;
    }>,
  ) {
    const { amounts, cause } = partsOf(parts, new.target);
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

  /** The largest live buffer; undefined when there is none. */
  get largestLive(): LiveBlock | undefined {
    return this.largest[0];
  }
}

comesFrom(OutOfMemoryError, "an allocation that fails");

/** The amounts of a request that exceeds a limit, in bytes. */
export interface LimitAmounts {
  /** Bytes that were requested. */
  readonly requestedBytes: number;
  /** Bytes that are held already. */
  readonly heldBytes: number;
  /** Bytes that may be held. */
  readonly limitBytes: number;
}

/** The amounts of a {@link MemoryLimitError}, and what to do about it. */
export interface LimitRefusal extends LimitAmounts {
  /** Words for a hint on raising the limit; by default "raise the limit of" the holder. */
  readonly remedy?: string;
}

const LIMIT_REFUSAL = new OptionSet<LimitRefusal>({
  requestedBytes: NUMBER,
  heldBytes: NUMBER,
  limitBytes: NUMBER,
  remedy: TEXT,
});

/**
 * A limit of the program's own forbids an allocation: that of `gpu.limit()`, of a resource or of an
 * adaptor. The driver was not asked. A resource that a program wrote throws it too when it has no
 * more memory. A buffer that cannot be allocated because of it throws an {@link OutOfMemoryError}
 * with this error as its cause.
 */
export class MemoryLimitError extends Error implements LimitAmounts {
  /** The class's name, to recognise the error in logs and across realms. */
  override readonly name = "MemoryLimitError";
  /** Holder of the limit: `"gpu.limit()"`, or the name of a resource's class. */
  readonly holder: string;
  readonly requestedBytes: number;
  readonly heldBytes: number;
  readonly limitBytes: number;
  /** Words for raising the limit. */
  readonly remedy: string;

  /** Creates an error for a request that `holder` does not allow. */
  constructor(holder: string, refusal: LimitRefusal) {
    requireKind(holder, TEXT, "new MemoryLimitError");
    refusal = LIMIT_REFUSAL.read(refusal, "new MemoryLimitError");
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

/** Returns whether an error is that of a driver call, with this status. */
export function failedWith(error: unknown, status: keyof typeof CUresult): error is CudaError {
  return error instanceof CudaError && error.code === CUresult[status];
}

/** An error by which a driver or a resource reports that it has no memory. */
export type MemoryShortage = CudaError | MemoryLimitError | OutOfMemoryError;

/** Returns whether an error means that memory ran out, on the device or within a limit. */
export function isOutOfMemory(error: unknown): error is MemoryShortage {
  if (error instanceof OutOfMemoryError || error instanceof MemoryLimitError) return true;
  return failedWith(error, "CUDA_ERROR_OUT_OF_MEMORY");
}

/** An object was used after it was disposed. No driver call was made. */
export class DisposedError extends Error {
  /** The class's name, to recognise the error in logs and across realms. */
  override readonly name = "DisposedError";

  /** Creates an error for the object named `what`. */
  constructor(what: string) {
    requireKind(what, TEXT, "new DisposedError");
    super(`Cannot use ${what}: it was disposed`);
  }
}

/** @internal An error with its reason in a word. */
export abstract class ReasonError<R extends string> extends Error {
  /** The reason; for a {@link CudaUnavailableError} the part that is missing. */
  readonly reason: R;

  /** Creates an error from a reason and a message. */
  constructor(reason: R, message: string, options?: ErrorOptions) {
    requireKind(reason, TEXT, `new ${new.target.name}`);
    requireKind(message, TEXT, `new ${new.target.name}`);
    super(message, options);
    this.reason = reason;
  }
}

/** The reason why no GPU can be used. */
export type UnavailableReason =
  | "permission"
  | "no-library"
  | "bad-library"
  | "no-device"
  | "not-ready"
  | "driver-too-old"
  | "not-supported";

/** The driver, a device, a permission or a function is missing; the message names the fix. */
export class CudaUnavailableError extends ReasonError<UnavailableReason> {
  /** The class's name, to recognise the error in logs and across realms. */
  override readonly name = "CudaUnavailableError";
}
