// Copies that the GPU makes by itself: queued on a stream, without waiting.

import { CUresult } from "../../ffi/constants.ts";
import type { Context } from "../driver/context.ts";
import type { Allocation } from "../memory/allocation.ts";
import { capturedMemory, requireUnrecorded } from "../memory/captured_memory.ts";
import { canReach } from "../memory/device_access.ts";
import { comesAfterNothing, queueInOrder } from "../memory/in_order.ts";
import { openToPeer } from "../memory/resource_kind.ts";
import { isStripedOver } from "../memory/striped_memory_resource.ts";
import { type CudaStream, queueOf } from "../order/stream.ts";
import { currentStreamOf } from "../order/stream_choice.ts";
import { DisposedError, isRefusal } from "../words/errors.ts";

/** A range of memory that the GPU can reach. */
export interface MemorySpan {
  /** @ignore The block it lies in. */
  readonly allocation: Allocation;
  /** Address of its first byte. */
  readonly address: bigint;
  /** Its size in bytes. */
  readonly byteLength: number;
}

/** The method by which calls get a buffer's memory: a lazy one allocates it there, and may read a file. */
export const MEMORY: unique symbol = Symbol("memory");

/** Returns the part of a range that begins at an offset, its start by default. */
export function partOf(
  { allocation, address }: MemorySpan,
  { offset = 0, byteLength }: { readonly offset?: number; readonly byteLength: number },
): MemorySpan {
  return { allocation, address: address + BigInt(offset), byteLength };
}

type SizedMemory = Pick<MemorySpan, "byteLength">;

/** The two ends of a copy, and its stream. */
export interface CopyRoute {
  readonly destination: Allocation;
  readonly source: Allocation;
  readonly stream: CudaStream;
}

/**
 * Queues a copy and does not wait (cuMemcpyAsync, cuMemcpyPeerAsync between devices). Both blocks
 * are kept until it is done, even when they are disposed meanwhile. The copy comes after earlier
 * transfers of the same bytes.
 *
 * @throws RangeError when the sizes differ, or the ranges overlap.
 */
export function queueCopy(destination: MemorySpan, source: MemorySpan, stream: CudaStream): void {
  const route = checkCopy(destination, source, stream);
  if (source.byteLength === 0) return;
  if (comesAfterNothing(stream, route.destination, route.source)) {
    return queueCheckedCopy(route, destination, source);
  }
  const uses = [
    { ...destination, access: "write" },
    { ...source, access: "read" },
  ] as const;
  queueInOrder(stream, uses, () => queueCheckedCopy(route, destination, source));
}

/** Queues a copy whose turn has come; see {@link queueCopy}. */
export function queueCopyNow(
  destination: MemorySpan,
  source: MemorySpan,
  stream: CudaStream,
): void {
  queueCheckedCopy(checkCopy(destination, source, stream), destination, source);
}

function queueCheckedCopy(route: CopyRoute, destination: MemorySpan, source: MemorySpan): void {
  const { byteLength } = source;
  orderCopy(route);
  copyBytes(route, {
    destination: destination.address,
    source: source.address,
    byteLength: BigInt(byteLength),
  });
  noteCopy(route, byteLength);
}

/**
 * Counts a queued copy and records it in the timeline; for a copy in a graph, each launch does so.
 */
export function noteCopy({ destination, source, stream }: CopyRoute, byteLength: number): void {
  const ends = { destination, source, streamHandle: stream.key };
  const captured = capturedMemory();
  if (captured?.includes(stream)) return captured.noteCopy({ byteLength, ends });
  const { context } = stream;
  context.copiedBytes += byteLength;
  if (context.ledger.timeline.isOn) context.ledger.noteCopy(byteLength, ends);
}

/**
 * Checks a copy before anything is queued.
 *
 * @throws RangeError when the sizes differ, or the ranges overlap.
 * @throws TypeError when the stream's device has none of the memory.
 */
export function checkCopy(
  destination: MemorySpan,
  source: MemorySpan,
  stream: CudaStream,
): CopyRoute {
  checkLengths(destination, source);
  const route = { destination: destination.allocation, source: source.allocation, stream };
  checkRoute(route);
  checkApart(destination, source);
  return route;
}

/**
 * Returns the stream of a copy: the given one, or the current stream of the device that has the
 * memory; with two devices, that of the destination.
 */
export function streamForCopy(
  destination: MemorySpan,
  source: MemorySpan,
  stream: CudaStream | undefined,
): CudaStream {
  if (stream !== undefined) return stream;
  const [to, from] = [destination.allocation, source.allocation];
  if (isStripedOver(to.resource, from.context)) return currentStreamOf(from.context);
  return currentStreamOf(isOnHost(to) && !isOnHost(from) ? from.context : to.context);
}

/**
 * Checks that a copy's stream is alive and belongs to a device that has some of the memory.
 *
 * @throws DisposedError when the stream was disposed.
 * @throws TypeError when it belongs to another device, or the memory to two drivers.
 */
export function checkRoute(route: CopyRoute): void {
  const { destination, source, stream } = route;
  if (stream.disposed) throw new DisposedError(stream.toString());
  if (stream.context === destination.context && stream.context === source.context) return;
  if (destination.context.driver !== source.context.driver) {
    throw new TypeError(
      `Cannot copy between memory of two drivers: addresses of one mean nothing to the other; open ` +
        `both devices with one { driver }, or copy through an array`,
    );
  }
  const ends = [destination, source];
  const onDevices = ends.every(isOnHost) ? ends : ends.filter((end) => !isOnHost(end));
  if (onDevices.some((end) => homeOf(end, stream) === stream.context)) return;
  const ordinals = [...new Set(onDevices.map(({ context }) => context.ordinal))].join(" or ");
  throw new TypeError(
    `Cannot copy memory of device ${ordinals} on ${stream} of device ${stream.context.ordinal}: ` +
      `use a stream of the device that has the memory`,
  );
}

/**
 * Returns the context in which a stream uses a block; a block over several devices belongs to each of
 * them.
 */
function homeOf({ context, resource }: Allocation, stream: CudaStream): Context {
  return isStripedOver(resource, stream.context) ? stream.context : context;
}

/** Returns whether every device can access a block, so that the other one decides about the stream. */
function isOnHost({ resource }: Allocation): boolean {
  return resource.isHostAccessible;
}

/**
 * Makes the stream wait for the work of other streams on the two blocks.
 *
 * @throws TypeError for a copy between devices under capture, which the driver rejects.
 */
export function orderCopy({ destination, source, stream }: CopyRoute): void {
  if (crossesDevices({ destination, source, stream })) {
    for (const end of [destination, source]) requireUnrecorded(end, stream, "copy between devices");
  }
  // A stream joins a capture through a block that the capture uses, and from then on its other blocks
  // are part of it too.
  const isJoining = capturedMemory()?.uses(destination) === true;
  if (isJoining) destination.order(stream, "write");
  source.order(stream, "read");
  if (!isJoining) destination.order(stream, "write");
}

/** Returns whether the bytes go from one device's own memory to another's. */
export function crossesDevices({ destination, source, stream }: CopyRoute): boolean {
  if (destination.context === stream.context && source.context === stream.context) return false;
  if (isOnHost(destination) || isOnHost(source)) return false;
  return homeOf(destination, stream) !== homeOf(source, stream);
}

/** Queues the copy of contiguous bytes; everything else was checked. */
export function copyBytes(
  route: CopyRoute,
  bytes: { destination: bigint; source: bigint; byteLength: bigint },
): void {
  const { destination, source, byteLength } = bytes;
  const { context, handle } = queueOf(route.stream);
  if (!crossesDevices(route)) {
    const { api } = context.driver;
    const status = api.cuMemcpyAsync(destination, source, byteLength, handle);
    return context.settle(status, "cuMemcpyAsync", destination, source, byteLength, handle);
  }
  const to = homeOf(route.destination, route.stream);
  const from = homeOf(route.source, route.stream);
  // Without peer access the driver stages the bytes itself.
  if (peerRoute(from, to) === "peer") {
    openToPeer(route.destination.resource, from);
    openToPeer(route.source.resource, to);
  }
  context.call(
    "cuMemcpyPeerAsync",
    destination,
    to.handle,
    source,
    from.handle,
    byteLength,
    handle,
  );
}

/**
 * Checks that both sides of a copy have the same size.
 *
 * @throws RangeError with both sizes when they differ.
 */
export function checkLengths(destination: SizedMemory, source: SizedMemory): void {
  if (destination.byteLength === source.byteLength) return;
  const problem = destination.byteLength < source.byteLength ? "too small" : "too large";
  throw new RangeError(
    `Cannot copy ${source.byteLength} bytes into ${destination.byteLength}: destination is ` +
      problem,
  );
}

/**
 * Checks that two ranges do not overlap: the GPU copies in no particular order, so a copy onto a
 * part of itself has no defined result.
 *
 * @throws RangeError when they overlap.
 */
export function checkApart(destination: MemorySpan, source: MemorySpan): void {
  // Records of the same memory, such as one of a borrowed address, share their usage.
  if (destination.allocation.usage !== source.allocation.usage) return;
  const distance = destination.address - source.address;
  if (distance >= source.byteLength || -distance >= destination.byteLength) return;
  throw new RangeError(
    `Cannot copy ${source.byteLength} bytes onto themselves, ` +
      `${distance < 0n ? -distance : distance} bytes apart: copy a slice() instead`,
  );
}

/** Route of copies between two devices: directly, or through the host's memory. */
export type PeerRoute = "peer" | "staged";

const routes = new WeakMap<Context, WeakMap<Context, PeerRoute>>();

/**
 * Finds the route between two devices and enables it, once for a pair (cuDeviceCanAccessPeer,
 * cuCtxEnablePeerAccess). A failure is thrown and not remembered: the next call tries again.
 */
export function peerRoute(from: Context, to: Context): PeerRoute {
  const known = routes.get(from)?.get(to);
  if (known !== undefined) return known;
  const route = opens(from, to) && opens(to, from) ? "peer" : "staged";
  for (const [one, other] of [[from, to], [to, from]] as const) {
    routes.getOrInsertComputed(one, () => new WeakMap()).set(other, route);
  }
  return route;
}

function opens(from: Context, to: Context): boolean {
  if (!canReach(from, to)) return false;
  const status = from.status("cuCtxEnablePeerAccess", to.handle, 0);
  if (status === CUresult.CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED) return true;
  if (isRefusal(status)) return false;
  from.driver.check(status, "cuCtxEnablePeerAccess");
  return true;
}
