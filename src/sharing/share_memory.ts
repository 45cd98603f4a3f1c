// Makes tickets for memory, by its own handle or by that of its pool.

import { CU_IPC_HANDLE_SIZE, CUpointer_attribute } from "../../ffi/constants.ts";
import type { MemorySpan } from "../copies/copy.ts";
import type { Context } from "../driver/context.ts";
import { deviceUuid } from "../driver/device_uuid.ts";
import { takePair } from "../driver/driver.ts";
import type { DType } from "../dtype.ts";
import type { Allocation } from "../memory/allocation.ts";
import { CudaAsyncMemoryResource } from "../memory/cuda_async_memory_resource.ts";
import type { DriverPool } from "../memory/driver_pool.ts";
import { pendingBefore } from "../memory/in_order.ts";
import { sourceOf } from "../memory/resource_kind.ts";
import { requireNoCapture } from "../order/capture.ts";
import { defaultStreamOf } from "../order/stream.ts";
import { MAX_TICKET_AXES, type MemoryTicket, TICKET_VERSION } from "../ticket.ts";
import { DisposedError, isRefusal } from "../words/errors.ts";
import { OpenedMemory } from "./opened_memory.ts";
import { offerBlock } from "./pool_server.ts";

export interface SharedElements<D extends DType> {
  readonly span: MemorySpan;
  readonly dtype: D;
  readonly shape: readonly number[];
  readonly name: string;
}

/**
 * Makes a ticket once all earlier calls on the memory are done.
 *
 * @throws TypeError for memory that other processes cannot open, with the ways to get such memory.
 * @throws RangeError for more axes than a ticket has.
 */
export async function shareMemory<D extends DType>(
  { span, dtype, shape, name }: SharedElements<D>,
): Promise<MemoryTicket<D>> {
  requireNoCapture(`share ${name}`);
  const { allocation, address, byteLength } = span;
  if (byteLength === 0) throw new TypeError(`Cannot share ${name}: it has no bytes`);
  if (shape.length > MAX_TICKET_AXES) {
    throw new RangeError(
      `Cannot share ${name}: it has ${shape.length} axes, a ticket at most ${MAX_TICKET_AXES}; ` +
        "reshape() it first",
    );
  }
  const way = wayOf(allocation, name);
  await whenDone(span);
  if (allocation.released) throw new DisposedError(name);
  const { context } = allocation;
  // The handle names the driver's allocation, which a caching adaptor may have cut into blocks.
  const [base] = takePair(context, "cuMemGetAddressRange_v2", address);
  const common = {
    vramkit: TICKET_VERSION,
    device: deviceUuid(context),
    offset: Number(address - base),
    byteLength,
    dtype,
    shape: [...shape],
    pid: Deno.pid,
  } as const;
  if (way !== "allocation") {
    return { ...common, kind: "pool", ...offerBlock({ allocation, base, pool: way }) };
  }
  const handle = new Uint8Array(CU_IPC_HANDLE_SIZE);
  context.call("cuIpcGetMemHandle", handle, base);
  return { ...common, kind: "allocation", handle: handle.toHex() };
}

/** Resolves when all earlier calls on the memory are done. */
export async function whenDone({ allocation, address, byteLength }: MemorySpan): Promise<void> {
  const stream = defaultStreamOf(allocation.context);
  using _kept = allocation.hold();
  const earlier = pendingBefore(stream, [{ allocation, address, byteLength, access: "write" }]);
  await Promise.all(earlier.map((work) => work.over()));
  allocation.order(stream, "write");
  await stream.synchronize();
}

/** Returns how other processes can open memory: by its own handle, or by its pool. */
function wayOf(allocation: Allocation, name: string): "allocation" | DriverPool {
  const source = sourceOf(allocation.resource);
  if (source instanceof CudaAsyncMemoryResource) {
    const pool = source.shareablePool;
    if (pool !== undefined) return pool;
    throw refusal(name, "it comes from a pool without file descriptors");
  }
  if (allocation.memoryOwner instanceof OpenedMemory) {
    throw new TypeError(
      `Cannot share ${name}: it is memory of another process; pass on its ticket`,
    );
  }
  if (hasHandle(allocation.context, allocation.address)) return "allocation";
  throw refusal(name, `${allocation.kind} memory has no handle for other processes`);
}

function hasHandle(context: Context, address: bigint): boolean {
  const cell = new Int32Array(2);
  const { CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE: attribute } = CUpointer_attribute;
  const status = context.status("cuPointerGetAttribute", cell, attribute, address);
  if (isRefusal(status)) return false;
  context.driver.check(status, "cuPointerGetAttribute");
  return cell[0] === 1;
}

function refusal(name: string, state: string): TypeError {
  return new TypeError(
    `Cannot share ${name}: ${state}; allocate with { shareable: true }, from new ` +
      `CudaMemoryResource(gpu), or from a pool made with { handleType: "fileDescriptor" }`,
  );
}
