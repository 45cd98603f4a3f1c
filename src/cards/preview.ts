// The first values of a buffer for its card: at most 4 KiB, and only when that needs no waiting.

import { scalarOf } from "../buffers/element.ts";
import type { GpuBuffer } from "../buffers/gpu_buffer.ts";
import { elementBytes } from "../dtype.ts";
import type { Allocation } from "../memory/allocation.ts";
import { activeCapture } from "../order/capture.ts";
import { defaultStreamOf } from "../order/stream.ts";
import { transferSync } from "../transfer/host_transfer.ts";
import { messageOf } from "../words/format.ts";

/** The first values of a buffer, or the reason why they are not shown. */
export type Preview =
  | { readonly rows: readonly string[][]; readonly isWhole: boolean }
  | { readonly missing: string };

const MOST_BYTES = 4096;
/** Time to wait for work left by an awaited transfer, such as a free, which takes microseconds. */
const PATIENCE_MILLISECONDS = 20;
const SHOWN_ROWS = 5;
const SHOWN_COLUMNS = 8;

/** Reads the first values of a buffer that was not disposed, or says why that cannot be done now. */
export function previewOf(buffer: GpuBuffer, allocation: Allocation): Preview {
  if (buffer.length === 0) return { missing: "none" };
  if (allocation.byteLength === 0) return { missing: "none before its first use" };
  try {
    return readFirst(buffer, allocation);
  } catch (error) {
    return { missing: `cannot be read: ${messageOf(error)}` };
  }
}

/**
 * Reads the first values without the buffer's span, which counts as a use and makes a lazy buffer
 * allocate.
 */
function readFirst(buffer: GpuBuffer, allocation: Allocation): Preview {
  const { dtype, length, byteOffset } = buffer;
  if (activeCapture() !== undefined) return { missing: "a capture is running" };
  if (!isQuiet(allocation)) return { missing: "work is still queued on it" };
  const elementLength = elementBytes(dtype);
  const count = Math.min(length, Math.floor(MOST_BYTES / elementLength));
  const bytes = new Uint8Array(count * elementLength);
  const stream = defaultStreamOf(buffer.context);
  const address = allocation.address + BigInt(byteOffset);
  const span = { allocation, address, byteLength: bytes.byteLength };
  const host = { memory: bytes };
  transferSync({ direction: "download", stream, span, host, isUncounted: true });
  const textAt = (index: number): string => {
    const start = index * elementLength;
    const value = scalarOf(dtype, bytes.slice(start, start + elementLength));
    return textOf(dtype === "bool" ? value !== 0 : value);
  };
  return layOut(textAt, { count, columnCount: columnsOf(buffer, count), isAll: count === length });
}

/** Whether all work that could change the block or delay a read is done, or will be in a moment. */
function isQuiet({ usage, context }: Allocation): boolean {
  if (usage.hasPending) return false;
  const streams = [defaultStreamOf(context), ...usage.streams()];
  const deadline = performance.now() + PATIENCE_MILLISECONDS;
  do {
    if (streams.every((stream) => stream.disposed || stream.isIdle)) return true;
  } while (performance.now() < deadline);
  return false;
}

/**
 * Returns the length of a row when at least one whole row was read; values are wrapped otherwise.
 */
function columnsOf({ shape }: GpuBuffer, count: number): number {
  const innermost = shape.at(-1) ?? 1;
  return shape.length > 1 && innermost <= count ? innermost : SHOWN_COLUMNS;
}

/** Lays out the first rows and columns of the values, and marks where there are more. */
function layOut(
  textAt: (index: number) => string,
  read: { readonly count: number; readonly columnCount: number; readonly isAll: boolean },
): Preview {
  const { count, columnCount, isAll } = read;
  const rowCount = Math.ceil(count / columnCount);
  const rows = Array.from({ length: Math.min(rowCount, SHOWN_ROWS) }, (_, row) => {
    const start = row * columnCount;
    const width = Math.min(columnCount, SHOWN_COLUMNS, count - start);
    const texts = Array.from({ length: width }, (_, column) => textAt(start + column));
    return columnCount > SHOWN_COLUMNS ? [...texts, "…"] : texts;
  });
  const hasMoreRows = !isAll || rowCount > SHOWN_ROWS;
  const isWhole = !hasMoreRows && columnCount <= SHOWN_COLUMNS;
  return { rows: hasMoreRows ? [...rows, ["…"]] : rows, isWhole };
}

/** Formats a number with six significant digits; integers are written out. */
export function textOf(value: number | bigint | boolean): string {
  return typeof value !== "number" || Number.isInteger(value)
    ? String(value)
    : String(Number(value.toPrecision(6)));
}
