// The one cutter: arrays, rows of arrays and parts of files, with the device memory on their other sides,
// become pieces, each of which one slot carries. A piece is a list of runs for a lane, between the host's
// side and the slot, and a list of copies between the slot and the device.

import { roundUp } from "../../ffi/alignment.ts";
import type { MemorySpan } from "../copies/copy.ts";
import type { ByteCopy } from "../copies/copy_many.ts";
import type { DiskFile } from "../disk/disk_file.ts";
import type { LaneRun, LaneTask } from "../lanes/lane_tasks.ts";
import { addressOf, type HostBytes } from "../memory/host_memory.ts";
import { visibleText } from "../words/format.ts";
import { MAX_COPIES, MAX_RUNS, PACK_ALIGNMENT_BYTES } from "./ways.ts";

/** Direction of a transfer. */
export type Direction = "upload" | "download";

/** Rows of equal size at equal distances; a run of bytes is one row. */
export interface Rows {
  /** Bytes before the first row. */
  readonly offset: number;
  /** Bytes of one row. */
  readonly rowBytes: number;
  /** Bytes from the start of a row to the next. */
  readonly pitch: number;
  /** Number of rows. */
  readonly rowCount: number;
}

/** The host's side of a section: memory that begins at an address, or an open file. */
export type SectionHost =
  | { readonly address: bigint; readonly bytes: HostBytes }
  | { readonly file: Pick<DiskFile, "descriptor" | "path" | "hold"> };

/** Bytes that lie side by side on the device and in rows on the host's side. */
export interface Section {
  /** The device's side. */
  readonly span: MemorySpan;
  /** The host's side; memory must stay referenced until the transfer is over. */
  readonly host: SectionHost;
  /** The rows there. */
  readonly rows: Rows;
}

/** Options for cutting. */
export interface CutOptions {
  readonly direction: Direction;
  /** Most bytes of a piece. */
  readonly pieceBytes: number;
  /** The host's memory is fresh: nothing has touched it yet. */
  readonly isFresh?: boolean | undefined;
  /** Copies may also move the padding between neighbours on the device, which holds no other data. */
  readonly takesPadding?: boolean | undefined;
}

/** Returns the number of bytes of rows. */
export function bytesOfRows({ rowBytes, rowCount }: Omit<Rows, "offset">): number {
  return rowBytes * rowCount;
}

/** Returns whether rows are one run of bytes. */
export function isOneRun({ rowBytes, pitch, rowCount }: Rows): boolean {
  return rowCount <= 1 || rowBytes === pitch;
}

/** Returns the rows for one run of bytes. */
export function oneRow(byteLength: number, offset = 0): Rows {
  return { offset, rowBytes: byteLength, pitch: byteLength, rowCount: 1 };
}

/** Returns the host's side of a section in memory. */
export function inMemory(bytes: HostBytes): Extract<SectionHost, { readonly address: bigint }> {
  return { address: addressOf(bytes), bytes };
}

/** Rounds up to the next place where an array may start. */
export function alignPacked(offset: number): number {
  return roundUp(offset, PACK_ALIGNMENT_BYTES);
}

/**
 * Bytes between neighbours on the device, which keep that distance in a slot, so that one copy can take
 * both; undefined when they are no neighbours.
 */
export function paddingBetween(
  first: MemorySpan | undefined,
  second: MemorySpan,
): number | undefined {
  if (first === undefined || first.allocation !== second.allocation) return undefined;
  const padding = Number(second.address - first.address) - first.byteLength;
  return padding >= 0 && padding < PACK_ALIGNMENT_BYTES ? padding : undefined;
}

/**
 * Cuts sections. Several share a slot: arrays that fit as a whole, and parts of a file that follow each
 * other there.
 */
export function* cutSections(
  sections: readonly Section[],
  options: CutOptions,
): Generator<Piece, void> {
  let piece: Piece | undefined;
  for (const section of sections) {
    for (let taken = 0; taken < section.span.byteLength;) {
      if (piece !== undefined && !piece.takes(section, taken)) {
        yield piece;
        piece = undefined;
      }
      const mostBytes = taken === 0 ? firstBytes(section, options) : options.pieceBytes;
      piece ??= new Piece(section.host, { ...options, pieceBytes: mostBytes });
      taken += piece.add(section, taken);
    }
  }
  if (piece !== undefined) yield piece;
}

/** Fresh memory is cut where large pages begin, so that no two lanes clear the same one. */
function firstBytes({ host, rows }: Section, { isFresh, pieceBytes }: CutOptions): number {
  if (isFresh !== true || !("address" in host) || !isOneRun(rows)) return pieceBytes;
  return pieceBytes - Number(host.address % BigInt(pieceBytes));
}

/** A run between a slot and the device. */
interface DeviceRun {
  readonly address: bigint;
  readonly slotOffset: number;
  readonly byteLength: number;
}

/** The load of one slot, which sections are added to. */
export class Piece {
  /** The host's side, that of the first section. */
  readonly #host: SectionHost;
  readonly #options: CutOptions;
  /** Runs between the host's side and a slot at address 0. */
  readonly #hostRuns: LaneRun[] = [];
  readonly #deviceRuns: DeviceRun[] = [];
  /** The device's side of what was added last. */
  #last: MemorySpan | undefined;
  /** Offset in the slot at which the last run ends. */
  #end = 0;
  /** Number of the program's bytes that it moves. */
  byteLength = 0;

  /** Starts with nothing. */
  constructor(host: SectionHost, options: CutOptions) {
    this.#host = host;
    this.#options = options;
  }

  /** Returns whether a section can go on here from its byte `taken`. */
  takes(section: Section, taken: number): boolean {
    const { host, rows, span } = section;
    const known = this.#host;
    const { pieceBytes } = this.#options;
    if (this.#hostRuns.length === MAX_RUNS || this.#deviceRuns.length === MAX_COPIES) return false;
    if ("address" in host) {
      if (!("address" in known) || taken > 0) return false;
      return this.#placeOf(span) + span.byteLength <= pieceBytes;
    }
    if (!("file" in known) || known.file.descriptor !== host.file.descriptor) return false;
    const last = this.#hostRuns.at(-1);
    return this.#end < pieceBytes && isOneRun(rows) && last?.rowCount === 1 &&
      last.outside + BigInt(last.rowBytes) === BigInt(rows.offset + taken);
  }

  /** Adds as much of a section from its byte `from` on as there is room for, and returns the number of bytes. */
  add(section: Section, from: number): number {
    const { host, rows, span } = section;
    const slotOffset = "address" in host ? this.#placeOf(span) : this.#end;
    const { offset, ...run } = part(rows, from, Math.max(1, this.#options.pieceBytes - slotOffset));
    const byteLength = bytesOfRows(run);
    const outside = ("address" in host ? host.address : 0n) + BigInt(offset);
    this.#addHostRun({ ...run, outside, inside: BigInt(slotOffset) });
    this.#addDeviceRun({ ...span, address: span.address + BigInt(from), byteLength }, slotOffset);
    this.#end = slotOffset + byteLength;
    this.byteLength += byteLength;
    return byteLength;
  }

  /** Returns the task of a thread between the host's side and the slot. */
  laneTask(slot: bigint): LaneTask {
    const host = this.#host;
    const isUpload = this.#options.direction === "upload";
    const runs = this.#hostRuns.map((run) => ({ ...run, inside: slot + run.inside }));
    if ("file" in host) {
      return { operation: isUpload ? "read" : "write", file: host.file.descriptor, runs };
    }
    const [run] = runs;
    const start = Number((run?.outside ?? 0n) - host.address);
    const isSingle = runs.length === 1 && run?.rowCount === 1;
    const bytes = isSingle ? host.bytes.subarray(start, start + run.rowBytes) : undefined;
    return { operation: isUpload ? "load" : "store", runs, bytes };
  }

  /** Returns the copies between the slot and the device; they depend on no other copy. */
  copies(slot: bigint): readonly ByteCopy[] {
    const isUpload = this.#options.direction === "upload";
    return this.#deviceRuns.map(({ address, slotOffset, byteLength }) => {
      const place = slot + BigInt(slotOffset);
      return isUpload
        ? { destination: address, source: place, byteLength }
        : { destination: place, source: address, byteLength };
    });
  }

  /** Returns the error of a failed thread; only files fail. */
  laneError(): Error {
    const host = this.#host;
    const [run] = this.#hostRuns;
    if (!("file" in host) || run === undefined) {
      return new Error(`Cannot copy ${this.byteLength} bytes: the lane failed`);
    }
    const path = visibleText(host.file.path);
    if (this.#options.direction === "download") {
      return new Error(
        `Cannot write ${this.byteLength} bytes at ${run.outside} of ${path}: the disk is full or failed`,
      );
    }
    return new Error(
      run.rowCount === 1
        ? `Cannot read ${this.byteLength} bytes at ${run.outside} of ${path}: it ended early or failed`
        : `Cannot read ${run.rowCount} rows of ${run.rowBytes} bytes from ${run.outside} of ${path} ` +
          `on: it ended early or failed`,
    );
  }

  /** Keeps its file open for a thread that is at it after the end; the result lets it go. */
  hold(): (() => void) | undefined {
    return "file" in this.#host ? this.#host.file.hold() : undefined;
  }

  /** Offset in the slot for an array: neighbours on the device keep their distance. */
  #placeOf(span: MemorySpan): number {
    const padding = paddingBetween(this.#last, span);
    return padding === undefined ? alignPacked(this.#end) : this.#end + padding;
  }

  /** Bytes of a file that follow each other are one run. */
  #addHostRun(run: LaneRun): void {
    const last = this.#hostRuns.at(-1);
    if (
      last === undefined || "address" in this.#host || last.rowCount > 1 || run.rowCount > 1 ||
      last.outside + BigInt(last.rowBytes) !== run.outside
    ) {
      this.#hostRuns.push(run);
      return;
    }
    const rowBytes = last.rowBytes + run.rowBytes;
    this.#hostRuns[this.#hostRuns.length - 1] = { ...last, rowBytes, pitch: rowBytes };
  }

  /** Neighbours on the device are one copy, with the padding between them where that holds nothing. */
  #addDeviceRun(span: MemorySpan, slotOffset: number): void {
    const padding = paddingBetween(this.#last, span);
    const last = this.#deviceRuns.at(-1);
    const isNext = last !== undefined && padding !== undefined &&
      slotOffset === this.#end + padding && (padding === 0 || this.#options.takesPadding === true);
    this.#last = span;
    const { address, byteLength } = span;
    if (!isNext) this.#deviceRuns.push({ address, slotOffset, byteLength });
    else {
      const end = slotOffset + byteLength;
      this.#deviceRuns[this.#deviceRuns.length - 1] = {
        ...last,
        byteLength: end - last.slotOffset,
      };
    }
  }
}

/** Returns the rows from a byte on, whole ones or a part of one, up to a number of bytes. */
function part({ offset, rowBytes, pitch, rowCount }: Rows, from: number, mostBytes: number): Rows {
  const row = Math.floor(from / rowBytes);
  const within = from % rowBytes;
  const count = Math.min(rowCount - row, Math.floor(mostBytes / rowBytes));
  const start = offset + row * pitch + within;
  if (within === 0 && count > 1 && pitch !== rowBytes) {
    return { offset: start, rowBytes, pitch, rowCount: count };
  }
  const left = pitch === rowBytes ? (rowCount - row) * rowBytes - within : rowBytes - within;
  return oneRow(Math.min(left, mostBytes), start);
}
