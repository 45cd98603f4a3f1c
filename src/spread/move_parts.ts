// Moves an array between the host and its parts on several devices, over all links at once.

import type { GpuBuffer } from "../buffers/gpu_buffer.ts";
import { floatsIn, hostDestination, hostSource } from "../buffers/host_elements.ts";
import { MEMORY, partOf, peerRoute, queueCopyNow } from "../copies/copy.ts";
import { type DType, elementBytes } from "../dtype.ts";
import type { HostBytes } from "../memory/host_memory.ts";
import type { PendingWork } from "../order/pending_work.ts";
import { defaultStreamOf } from "../order/stream.ts";
import { type FollowingWork, type HostSide, transfer } from "../transfer/host_transfer.ts";
import { CommonEnd, ProgressTotal } from "../transfer/in_parallel.ts";
import type { TransferOptions } from "../transfer/pending_transfer.ts";
import { bytesOfRows, isOneRun, type Rows } from "../transfer/pieces.ts";
import { packRows, transferRows, unpackRows } from "../transfer/row_transfer.ts";
import type { ElementRows } from "./split.ts";

/** Memory of one device, and the rows of the whole array that belong there. */
export interface PartMove {
  /** The memory; it has as many elements as the rows. */
  readonly buffer: GpuBuffer;
  /** The rows; one run of elements where work follows. */
  readonly rows: ElementRows;
  /** Work that follows right after the upload. */
  readonly andThen?: FollowingWork;
}

/** An array on the host, and its parts on devices. */
export interface PartsTransfer extends TransferOptions {
  readonly direction: "upload" | "download";
  readonly dtype: DType;
  /** The whole array, bit for bit or as float32. */
  readonly memory: HostBytes;
  /** The array holds float32 for 16-bit floats. */
  readonly isWide: boolean;
  readonly moves: readonly PartMove[];
  /** The memory is new, and the array already has its place in the order of calls. */
  readonly isPlaced?: boolean | undefined;
}

/**
 * Moves all parts, in the order of the call on each device; resolves when all have arrived. After the
 * first failure the others end early, and nothing is under way when it is thrown.
 */
export async function moveParts(task: PartsTransfer): Promise<void> {
  const { moves, onProgress, signal } = task;
  signal?.throwIfAborted();
  const totalBytes = moves.reduce((sum, { buffer }) => sum + buffer.byteLength, 0);
  const progress = new ProgressTotal(totalBytes, onProgress);
  const end = new CommonEnd(signal);
  const ended = moves.length === 1 ? signal : end.signal();
  const besides = new Set<PendingWork>();
  const pending: Promise<void>[] = [];
  for (const move of moves) {
    const listener = onProgress && progress.part();
    try {
      const moving = movePart(task, move, { onProgress: listener, signal: ended, besides });
      if (moving !== undefined) pending.push(moving.catch((error) => end.fail(error)));
    } catch (error) {
      end.fail(error);
      break;
    }
  }
  await Promise.all(pending);
  end.check();
}

function movePart(
  { direction, dtype, memory: whole, isWide, isPlaced }: PartsTransfer,
  { buffer, rows: elements, andThen }: PartMove,
  { besides, ...options }: TransferOptions & { readonly besides: Set<PendingWork> },
): Promise<void> | undefined {
  const span = buffer[MEMORY]();
  if (span.byteLength === 0) return undefined;
  const stream = defaultStreamOf(buffer.context);
  const hostBytes = isWide ? 4 : elementBytes(dtype);
  const rows = inBytes(elements, hostBytes);
  const hullBytes = (rows.rowCount - 1) * rows.pitch + rows.rowBytes;
  const memory = whole.subarray(rows.offset, rows.offset + hullBytes);
  const task = { ...options, direction, stream, span, isPlaced, besides };
  const own = { ...rows, offset: 0 };
  if (isOneRun(rows)) {
    return transfer({ ...task, andThen, host: oneRun(buffer, memory, { direction, isWide }) });
  }
  if (!isWide) return transferRows({ ...task, memory, rows: own });
  return transfer({ ...task, host: wideRows(buffer, memory, { direction, rows: own }) });
}

/** Returns the host's side of a part whose elements are contiguous. */
function oneRun(
  { dtype, length }: GpuBuffer,
  memory: HostBytes,
  { direction, isWide }: Pick<PartsTransfer, "direction" | "isWide">,
): HostSide {
  if (!isWide) return { memory };
  const part = { dtype, length };
  return direction === "upload"
    ? hostSource(part, floatsIn(memory), direction)
    : hostDestination(part, floatsIn(memory), direction);
}

/** Returns the host's side of rows of float32 that become 16-bit floats. */
function wideRows(
  { dtype, length }: GpuBuffer,
  memory: HostBytes,
  { direction, rows }: Pick<PartsTransfer, "direction"> & { readonly rows: Rows },
): HostSide {
  const part = { dtype, length };
  if (direction === "upload") {
    const convert = () => {
      const side = hostSource(part, floatsIn(packRows(memory, rows)), direction);
      return side.convert?.() ?? side.memory;
    };
    return { memory, convert };
  }
  const packed = floatsIn(new Uint8Array(bytesOfRows(rows)));
  const side = hostDestination(part, packed, direction);
  return {
    memory,
    convert: side.convert,
    complete: (bits) => {
      side.complete?.(bits);
      unpackRows(new Uint8Array(packed.buffer), memory, rows);
    },
  };
}

function inBytes({ offset, length, pitch, rowCount }: ElementRows, bytes: number): Rows {
  return { offset: offset * bytes, rowBytes: length * bytes, pitch: pitch * bytes, rowCount };
}

/** One device's share of the whole. */
export interface Share {
  /** Place of the device in the list. */
  readonly rank: number;
  /** Bytes before it in the whole. */
  readonly offset: number;
  readonly byteLength: number;
}

/**
 * Returns the work by which a device gives its share to all others, once the share has arrived.
 *
 * @param buffers Room for the whole on each device.
 */
export function handingOn(buffers: readonly GpuBuffer[], share: Share): FollowingWork {
  const spans = buffers.map((buffer) => partOf(buffer[MEMORY](), share));
  const [source] = spans.splice(share.rank, 1);
  if (source === undefined) return { uses: [], queue: () => {} };
  // Each device begins with a different one, so that not all of them write to the same device.
  const targets = [...spans.slice(share.rank), ...spans.slice(0, share.rank)];
  const stream = defaultStreamOf(source.allocation.context);
  return {
    uses: targets.map((target) => ({ ...target, access: "write" })),
    queue: () => {
      for (const target of targets) queueCopyNow(target, source, stream);
    },
  };
}

/** Resolves when the work queued on the devices' default streams is done. */
export async function settled(buffers: readonly GpuBuffer[]): Promise<void> {
  const streams = buffers.map(({ context }) => defaultStreamOf(context));
  await Promise.all(streams.map((stream) => stream.synchronize()));
}

/** Returns whether the devices of buffers can access each other's memory without the host. */
export function areLinked(buffers: readonly GpuBuffer[]): boolean {
  return buffers.every(({ context: from }, index) =>
    buffers.slice(index + 1).every(({ context: to }) => peerRoute(from, to) === "peer")
  );
}
