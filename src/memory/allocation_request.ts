// What to allocate, and taking it from its resource: after the checks that all kinds share, and within
// all limits.

import type { LiveKind } from "../accounting/ledger.ts";
import type { Context } from "../context.ts";
import { DisposedError } from "../errors.ts";
import { checkSize } from "../format.ts";
import type { CudaStream } from "../stream.ts";
import { capturedMemory } from "./captured_memory.ts";
import { allocateFrom, type MemoryResource, requireResource } from "./memory_resource.ts";
import { takeKept, takeWithinLimits } from "./out_of_memory.ts";
import type { StreamUsage } from "./stream_usage.ts";

/** Another record of the same memory. */
export interface Lender {
  /** The streams whose queued work may still use the memory. */
  readonly usage: StreamUsage;
  /** Whether the GPU may only read it. */
  readonly isReadOnly: boolean;
  /** Whether it was given back, or away. */
  readonly released: boolean;
  /** Keeps the memory until it is let go. */
  keep(): void;
  /** Ends one use that kept the memory. */
  letGo(): void;
  /**
   * Checks that the memory is there: given away it is, or given back while something keeps it.
   *
   * @throws DisposedError when it is not.
   */
  requireThere(): void;
}

/** What to allocate, and how. */
export interface AllocationRequest {
  /** What kind of memory the resource gives. */
  readonly kind: LiveKind;
  /** How many bytes; 0 makes no driver call. */
  readonly byteLength: number;
  /** Where the memory comes from. */
  readonly resource: MemoryResource;
  /** The stream that may use the memory first, and on which it is freed. */
  readonly stream: CudaStream;
  /** A name for tables and errors. */
  readonly label?: string | undefined;
  /** Whether the GPU may only read it. */
  readonly isReadOnly?: boolean | undefined;
  /** The record of the same memory: uses are ordered as one, and it stays as long as this is kept. */
  readonly lender?: Lender | undefined;
}

/**
 * Takes the memory of a request from its resource; 0n for 0 bytes.
 *
 * @throws OutOfMemoryError with all amounts when the device cannot give that much.
 * @throws TypeError while a stream is being captured: what it did then would not be done again.
 */
export function takeMemory(request: AllocationRequest): bigint {
  const { resource, byteLength, stream, kind } = request;
  const { context } = stream;
  if (stream.disposed) throw new DisposedError(stream.toString());
  checkSameDevice(resource, context);
  if (capturedMemory() !== undefined) throw capturing(request);
  if (checkSize(byteLength, "byteLength") === 0) return 0n;
  context.sweepMore();
  const need = { context, kind, byteLength, isDeviceOnly: !resource.isHostAccessible };
  // An array that is registered lies where the program has put it.
  const take = kind === "registered"
    ? () => resource.allocate(byteLength, stream)
    : () => allocateFrom(resource, byteLength, stream);
  const giveBack = (address: bigint) => resource.deallocate(address, byteLength, stream);
  return takeKept(need, { take, giveBack }) ?? takeWithinLimits(need, take);
}

function checkSameDevice(resource: MemoryResource, context: Context): void {
  if (resource?.context === context) return;
  requireResource(resource, "allocate from");
  throw new TypeError(
    `Cannot allocate for a stream of device ${context.ordinal} from a resource of device ` +
      `${resource.context.ordinal}: use a stream and a resource of one device`,
  );
}

function capturing({ kind, stream }: AllocationRequest): TypeError {
  return new TypeError(
    `Cannot allocate ${kind} memory on ${stream} during a capture: allocate before it, or use ` +
      `gpu.alloc() or gpu.zeros() with the stream that is being captured`,
  );
}
