// Moves device memory whose bytes lie in rows of an array, such as the columns of a matrix: large ones
// through the ring, whose lanes pack the rows or take them apart.

import { findHost } from "../../ffi/host.ts";
import type { MemorySpan } from "../copies/copy.ts";
import { requireUnrecorded } from "../memory/captured_memory.ts";
import { isMixed, ownedSpan } from "../memory/host_bytes.ts";
import type { HostBytes } from "../memory/host_memory.ts";
import type { PendingWork } from "../order/pending_work.ts";
import type { CudaStream } from "../order/stream.ts";
import { engineLimits } from "./context_engine.ts";
import { noteTransfer, transfer, usesOf } from "./host_transfer.ts";
import { PendingTransfer, type TransferOptions } from "./pending_transfer.ts";
import { bytesOfRows, inMemory, type Rows } from "./pieces.ts";
import { presenceOf, type RingRequest } from "./ring_transfer.ts";

/** Device memory, and the rows of host memory that it is filled from or fills. */
export interface RowTransfer extends TransferOptions {
  /** Direction of the transfer. */
  readonly direction: "upload" | "download";
  /** The stream whose earlier work comes first. */
  readonly stream: CudaStream;
  /** The device's side. */
  readonly span: MemorySpan;
  /** The program's memory, from the first row to the last. */
  readonly memory: HostBytes;
  /** The rows in it. */
  readonly rows: Rows;
  /** Transfers of the same call, which move other rows of the same array. */
  readonly besides?: Set<PendingWork> | undefined;
  /** The device's memory is new, and the array has its place in the order. */
  readonly isPlaced?: boolean | undefined;
}

/**
 * Moves rows of an array after all earlier calls that use the same bytes. Returns a promise that
 * resolves when they have arrived, or undefined when they already have.
 */
export function transferRows(task: RowTransfer): Promise<void> | undefined {
  const { direction, stream, span, memory, rows, signal } = task;
  signal?.throwIfAborted();
  const { byteLength, allocation } = span;
  if (byteLength === 0) return undefined;
  const { minRingBytes } = engineLimits(stream.context);
  const owned = ownedSpan(memory);
  if (byteLength < minRingBytes || isMixed(memory, owned) || findHost() === undefined) {
    return throughOneArray(task);
  }
  const action = `${direction} ordinary memory`;
  requireUnrecorded(allocation, stream, action);
  const requireThere = presenceOf(memory);
  return new PendingTransfer({
    ...task,
    ...usesOf({ direction, span, host: { memory } }, owned),
    action,
    byteLength,
    steps: () => [{ isLate: direction === "upload" && owned !== undefined, begin: () => start() }],
    complete: requireThere,
  }).promise;

  /** Lanes read and write the rows. */
  function start(): RingRequest {
    requireThere();
    noteTransfer({ direction, span, stream });
    const sections = [{ span, host: inMemory(memory), rows }];
    return { direction, sections, canLend: false }; // rows are not lent
  }
}

/** Packs the rows into an array first, or takes them apart afterwards, on this thread. */
function throughOneArray(task: RowTransfer): Promise<void> | undefined {
  const { memory, rows, direction } = task;
  const host = direction === "upload" ? { memory, convert: () => packRows(memory, rows) } : {
    memory,
    convert: () => new Uint8Array(bytesOfRows(rows)),
    complete: (packed: HostBytes) => unpackRows(packed, memory, rows),
  };
  return transfer({ ...task, host });
}

/** Returns a copy of rows, one behind the other. */
export function packRows(memory: HostBytes, rows: Rows): Uint8Array<ArrayBuffer> {
  const packed = new Uint8Array(bytesOfRows(rows));
  eachRow(rows, (row, from) => packed.set(memory.subarray(from, from + rows.rowBytes), row));
  return packed;
}

/** Puts packed rows where they belong. */
export function unpackRows(packed: HostBytes, memory: HostBytes, rows: Rows): void {
  eachRow(rows, (row, to) => memory.set(packed.subarray(row, row + rows.rowBytes), to));
}

function eachRow(
  { offset, rowBytes, pitch, rowCount }: Rows,
  body: (packedOffset: number, offset: number) => void,
): void {
  for (let row = 0; row < rowCount; row++) body(row * rowBytes, offset + row * pitch);
}
