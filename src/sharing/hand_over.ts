// Hands memory from one Worker of a process to another. The posted record contains a word that all
// Workers share: the one that changes it first gets the memory.

import type { Context } from "../driver/context.ts";
import { deviceUuid } from "../driver/device_uuid.ts";
import { take64 } from "../driver/driver.ts";
import { tryRelease } from "../driver/release.ts";
import { DTYPE, type DType, elementBytes } from "../dtype.ts";
import { Allocation } from "../memory/allocation.ts";
import { CudaAsyncMemoryResource } from "../memory/cuda_async_memory_resource.ts";
import { CudaMemoryResource } from "../memory/cuda_memory_resource.ts";
import type { MemoryResource } from "../memory/memory_resource.ts";
import { requireNoCapture } from "../order/capture.ts";
import { type CudaStream, defaultStreamOf } from "../order/stream.ts";
import { malformed, TicketError } from "../ticket.ts";
import { DisposedError } from "../words/errors.ts";
import { classNameOf, describeValue } from "../words/format.ts";
import { isRecord } from "../words/options.ts";
import { requireDevice } from "./refusals.ts";
import { type SharedElements, whenDone } from "./share_memory.ts";

/** Memory on its way between Workers, as `buffer.handOver()` returns it, to be posted. */
export interface HandedOver<D extends DType = DType> {
  /** Kind of ticket. */
  readonly kind: "handover";
  /** The device, as in `gpu.info.uuid`. */
  readonly device: string;
  /** The address, which all Workers of a process share. */
  readonly address: bigint;
  /** Bytes of the memory. */
  readonly byteLength: number;
  /** Element type. */
  readonly dtype: D;
  /** Size of each axis, outermost first. */
  readonly shape: readonly number[];
  /** The buffer's label. */
  readonly label?: string | undefined;
  /** It comes from a memory pool of the driver. */
  readonly isPooled: boolean;
  /** Shared by all copies of this record: whether it was taken over, and whose memory it is. */
  readonly claim: SharedArrayBuffer;
}

/** States of a claim. */
const FREE = 0;
const TAKEN = 1;

/** The bytes of a claim: a word with its state, then the machine that has the memory. */
const CLAIM_BYTES = 4 + 16;

/** The machine of NVIDIA's driver, which all Workers share; each simulated driver has its own. */
const SHARED_MACHINE = "0".repeat(2 * (CLAIM_BYTES - 4));

/**
 * Gives up memory, once all earlier calls on it are done.
 *
 * @throws TypeError for a view, and for memory that another Worker could not free.
 */
export async function handOverMemory<D extends DType>(
  { span, dtype, shape, isView, name }: SharedElements<D> & { readonly isView: boolean },
): Promise<HandedOver<D>> {
  requireNoCapture(`hand over ${name}`);
  if (isView) throw new TypeError(`Cannot hand over ${name}: it is a view; hand over its buffer`);
  const { allocation, byteLength } = span;
  if (byteLength === 0) throw new TypeError(`Cannot hand over ${name}: it has no bytes`);
  const isPooled = isFromPool(allocation, name);
  await whenDone(span);
  if (allocation.released) throw new DisposedError(name);
  const { context, label } = allocation;
  const last = defaultStreamOf(context);
  allocation.order(last, "write"); // what was called meanwhile comes before as well
  last.synchronizeSync();
  // Retained, so that the memory outlives the device here and is not destroyed with its context.
  take64(context.driver, "cuDevicePrimaryCtxRetain", context.deviceHandle);
  try {
    const device = deviceUuid(context);
    const claim = new SharedArrayBuffer(CLAIM_BYTES);
    new Uint8Array(claim, 4).setFromHex(machineOf(context));
    const address = allocation.giveAway();
    const fields = { kind: "handover", device, address, byteLength, dtype, isPooled } as const;
    return { ...fields, shape: [...shape], label, claim };
  } catch (error) {
    releasePrimary(context);
    throw error;
  }
}

/**
 * Takes memory over.
 *
 * @throws TicketError when another Worker has it already, or it belongs to another device.
 * @throws TypeError when it belongs to another simulated driver.
 */
export function takeOverMemory(
  context: Context,
  given: unknown,
  { stream, ...options }: { readonly stream: CudaStream; readonly label: string | undefined },
): { readonly allocation: Allocation; readonly handed: HandedOver } {
  const handed = readHandedOver(given);
  requireDevice(context, handed, "take over");
  const { address, byteLength, isPooled, claim } = handed;
  const { label = handed.label } = options;
  if (new Uint8Array(claim, 4).toHex() !== machineOf(context)) {
    throw new TypeError(
      "Cannot take over memory of another simulated driver: each Worker has one of its own, and " +
        "memory stays with the driver that made it; this needs a GPU",
    );
  }
  const state = new Int32Array(claim, 0, 1);
  if (Atomics.compareExchange(state, 0, FREE, TAKEN) !== FREE) {
    throw new TicketError("taken", "Cannot take over the memory: somebody has taken it already");
  }
  try {
    const resource = isPooled ? pooled(context) : new CudaMemoryResource({ context });
    const request = { kind: "device", byteLength, resource, stream, label } as const;
    const allocation = new Allocation(request, address);
    releasePrimary(context); // the allocation keeps the context from here on
    return { allocation, handed };
  } catch (error) {
    Atomics.store(state, 0, FREE);
    throw error;
  }
}

function machineOf({ driver }: Context): string {
  return driver.machine ?? SHARED_MACHINE;
}

function pooled(context: Context): MemoryResource {
  const resource = new CudaAsyncMemoryResource({ context });
  resource.noteAdopted();
  return resource;
}

function isFromPool({ resource }: Allocation, name: string): boolean {
  if (resource instanceof CudaAsyncMemoryResource) return true;
  if (resource instanceof CudaMemoryResource) return false;
  throw new TypeError(
    `Cannot hand over ${name}: its memory goes back to a ${classNameOf(resource)} of this ` +
      `Worker; allocate from gpu.memoryResource as it is by default, or from a CudaMemoryResource`,
  );
}

function releasePrimary({ driver, deviceHandle }: Context): void {
  const release = () => driver.call("cuDevicePrimaryCtxRelease_v2", deviceHandle);
  tryRelease(driver, "the context of memory that was handed over", release);
}

/** Checks a posted value, which may be anything. */
function readHandedOver(given: unknown): HandedOver {
  const fields: Partial<Record<keyof HandedOver, unknown>> = isRecord(given) ? { ...given } : {};
  const { kind, device, address, byteLength, dtype, label, isPooled, claim } = fields;
  const shape: readonly number[] = Array.isArray(fields.shape) ? Array.from(fields.shape) : [-1];
  const isWhole = kind === "handover" && typeof device === "string" &&
    typeof address === "bigint" && address > 0n && typeof isPooled === "boolean" &&
    typeof byteLength === "number" && DTYPE.accepts(dtype) &&
    shape.every((size) => Number.isSafeInteger(size) && size >= 0) &&
    (label === undefined || typeof label === "string") &&
    claim instanceof SharedArrayBuffer && claim.byteLength === CLAIM_BYTES;
  const count = isWhole ? shape.reduce((product, size) => product * size, 1) : 0;
  if (isWhole && byteLength > 0 && count * elementBytes(dtype as DType) === byteLength) {
    return { ...fields, shape } as HandedOver;
  }
  throw malformed(`it is ${describeValue(given)}, expected what buffer.handOver() gave`);
}
