// The one cutter: arrays, rows of arrays and parts of files, with the device memory on their other sides,
// become pieces, each of which one slot carries. A piece is a list of runs for a lane, between the host's
// side and the slot, and a list of copies between the slot and the device.

import { roundUp } from "../../ffi/alignment.ts";
import type { MemorySpan } from "../copies/copy.ts";
import type { ByteCopy } from "../copies/copy_many.ts";
import type { DiskFile } from "../disk/disk_file.ts";
import type { LaneTask } from "../lanes/lane_tasks.ts";
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

/** The load of one slot. */
export interface Piece {
  /** Number of the program's bytes that it moves. */
  readonly byteLength: number;
  /** Returns the task of a thread between the host's side and the slot. */
  laneTask(slotAddress: bigint): LaneTask;
  /** The copies between the slot and the device; they depend on no other copy. */
  copies(slotAddress: bigint): readonly ByteCopy[];
  /** Returns the error of a failed thread; only files fail. */
  laneError(): Error;
  /** Keeps its file open for a thread that is at it after the end; the result lets it go. */
  hold(): (() => void) | undefined;
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
export function bytesOfRows({ rowBytes, rowCount }: Rows): number {
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
export function inMemory(bytes: HostBytes): SectionHost & { readonly address: bigint } {
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
  let load: Load | undefined;
  for (const section of sections) {
    for (let taken = 0; taken < section.span.byteLength;) {
      if (load !== undefined && !load.takes(section, taken)) {
        yield load;
        load = undefined;
      }
      load ??= new Load(options, taken === 0 ? firstBytes(section, options) : options.pieceBytes);
      taken += load.add(section, taken);
    }
  }
  if (load !== undefined) yield load;
}

/** Fresh memory is cut where large pages begin, so that no two lanes clear the same one. */
function firstBytes({ host, rows }: Section, { isFresh, pieceBytes }: CutOptions): number {
  if (isFresh !== true || !("address" in host) || !isOneRun(rows)) return pieceBytes;
  return pieceBytes - Number(host.address % BigInt(pieceBytes));
}

/** A run between the host's side and a slot. */
interface HostRun extends Rows {
  readonly slotOffset: number;
}

/** A run between a slot and the device. */
interface DeviceRun {
  readonly address: bigint;
  readonly slotOffset: number;
  readonly byteLength: number;
}

/** The load of one slot, which sections are added to. */
class Load implements Piece {
  readonly #options: CutOptions;
  readonly #mostBytes: number;
  readonly #hostRuns: HostRun[] = [];
  readonly #deviceRuns: DeviceRun[] = [];
  #host: SectionHost | undefined;
  /** Addresses of memory, and offsets in files, count from here. */
  #base = 0n;
  /** The device's side of what was added last. */
  #last: MemorySpan | undefined;
  /** Offset in the slot at which the last run ends. */
  #end = 0;
  byteLength = 0;

  constructor(options: CutOptions, mostBytes: number) {
    this.#options = options;
    this.#mostBytes = mostBytes;
  }

  /** Returns whether a section can go on here from its byte `taken`. */
  takes(section: Section, taken: number): boolean {
    const { host, rows, span } = section;
    const known = this.#host;
    if (known === undefined) return true;
    if (this.#hostRuns.length === MAX_RUNS || this.#deviceRuns.length === MAX_COPIES) return false;
    if ("address" in host) {
      if (!("address" in known) || taken > 0) return false;
      return this.#placeOf(span) + span.byteLength <= this.#mostBytes;
    }
    if (!("file" in known) || known.file.descriptor !== host.file.descriptor) return false;
    const last = this.#hostRuns.at(-1);
    return this.#end < this.#mostBytes && isOneRun(rows) && last?.rowCount === 1 &&
      last.offset + last.rowBytes === rows.offset + taken;
  }

  /** Adds as much of a section from its byte `from` on as there is room for, and returns the number of bytes. */
  add(section: Section, from: number): number {
    const { host, rows, span } = section;
    this.#host ??= host;
    const slotOffset = "address" in host ? this.#placeOf(span) : this.#end;
    const run = part(rows, from, Math.max(1, this.#mostBytes - slotOffset));
    const byteLength = bytesOfRows(run);
    const base = "address" in host ? host.address : 0n;
    if (this.#hostRuns.length === 0) this.#base = base;
    this.#addHostRun({ ...run, offset: run.offset + Number(base - this.#base), slotOffset });
    this.#addDeviceRun({ ...span, address: span.address + BigInt(from), byteLength }, slotOffset);
    this.#end = slotOffset + byteLength;
    this.byteLength += byteLength;
    return byteLength;
  }

  laneTask(slot: bigint): LaneTask {
    const { direction } = this.#options;
    const host = this.#host as SectionHost;
    const isUpload = direction === "upload";
    const runs = this.#hostRuns.map(({ offset, slotOffset, ...rows }) => ({
      ...rows,
      outside: this.#base + BigInt(offset),
      inside: slot + BigInt(slotOffset),
    }));
    if ("file" in host) {
      return { operation: isUpload ? "read" : "write", file: host.file.descriptor, runs };
    }
    const [run] = this.#hostRuns;
    const isSingle = this.#hostRuns.length === 1 && run !== undefined && run.rowCount === 1;
    const bytes = isSingle ? host.bytes.subarray(run.offset, run.offset + run.rowBytes) : undefined;
    return { operation: isUpload ? "load" : "store", runs, bytes };
  }

  copies(slot: bigint): readonly ByteCopy[] {
    const isUpload = this.#options.direction === "upload";
    return this.#deviceRuns.map(({ address, slotOffset, byteLength }) => {
      const place = slot + BigInt(slotOffset);
      return isUpload
        ? { destination: address, source: place, byteLength }
        : { destination: place, source: address, byteLength };
    });
  }

  laneError(): Error {
    const host = this.#host as SectionHost;
    const [run] = this.#hostRuns;
    if (!("file" in host) || run === undefined) {
      return new Error(`Cannot copy ${this.byteLength} bytes: the lane failed`);
    }
    const path = visibleText(host.file.path);
    if (this.#options.direction === "download") {
      return new Error(
        `Cannot write ${this.byteLength} bytes at ${run.offset} of ${path}: the disk is full or failed`,
      );
    }
    return new Error(
      run.rowCount === 1
        ? `Cannot read ${this.byteLength} bytes at ${run.offset} of ${path}: it ended early or failed`
        : `Cannot read ${run.rowCount} rows of ${run.rowBytes} bytes from ${run.offset} of ${path} ` +
          `on: it ended early or failed`,
    );
  }

  hold(): (() => void) | undefined {
    const host = this.#host as SectionHost;
    return "file" in host ? host.file.hold() : undefined;
  }

  /** Offset in the slot for an array: neighbours on the device keep their distance. */
  #placeOf(span: MemorySpan): number {
    const padding = paddingBetween(this.#last, span);
    return padding === undefined ? alignPacked(this.#end) : this.#end + padding;
  }

  /** Bytes of a file that follow each other are one run. */
  #addHostRun(run: HostRun): void {
    const last = this.#hostRuns.at(-1);
    const host = this.#host as SectionHost;
    if (
      last === undefined || "address" in host || last.rowCount > 1 || run.rowCount > 1 ||
      last.offset + last.rowBytes !== run.offset
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
