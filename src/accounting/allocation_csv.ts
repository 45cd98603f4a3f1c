// The allocation log that RMM writes and replays: one row for each allocation and each free.

import { formatAddress } from "../words/format.ts";

/** The columns of the log. */
export const ALLOCATION_CSV_HEADER = "Thread,Time,Action,Pointer,Size,Stream";

/** The event that a row records. */
export type AllocationAction = "allocate" | "allocate failure" | "free";

interface AllocationRow {
  readonly action: AllocationAction;
  /** Time in milliseconds since 1970. */
  readonly time: number;
  /** The block's address; 0n when the allocation failed. */
  readonly address: bigint;
  /** The block's size in bytes. */
  readonly byteLength: number;
  /** The driver's handle of the stream. */
  readonly stream: bigint;
}

/** Formats a row: `4711,12:05:04.123456,allocate,0x7f0000000000,1024,0x0`. */
export function formatAllocationRow(row: AllocationRow): string {
  const { action, time, address, byteLength, stream } = row;
  const date = new Date(time).toISOString().slice(11, 19);
  const microseconds = Math.floor((time % 1000) * 1000).toString().padStart(6, "0");
  return `${Deno.pid},${date}.${microseconds},${action},${formatAddress(address)},` +
    `${byteLength},${formatAddress(stream)}`;
}
