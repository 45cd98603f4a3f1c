// A range of addresses with the storage behind it: one piece, or several where mappings meet.
// Copies and fills work on regions and do not see what kind of memory it is.

import type { Extent } from "./access_history.ts";
import type { Context } from "./context.ts";
import type { Device } from "./device.ts";
import type { Intent, Storage } from "./storage.ts";

/** Something whose bytes devices may or may not touch. */
export interface Owner {
  /** Words that name the memory in messages. */
  readonly label: string;
  /** Tells whether a kernel or a copy in a context may touch the bytes. */
  permits(context: Context, write: boolean): boolean;
}

/** A part of a region that lies in one storage. */
export interface Segment {
  readonly storage: Storage;
  readonly offset: number;
  readonly byteLength: number;
  readonly owner: Owner;
}

/** Kind of memory, as copies distinguish it. */
export type RegionKind = "device" | "host" | "pageable";

/** Names bytes by address. */
export class Region {
  readonly address: number;
  readonly byteLength: number;
  /** Kind of memory, as copies distinguish it. */
  readonly kind: RegionKind;
  readonly device: Device | undefined;
  readonly #find: (() => readonly Segment[] | undefined) | undefined;
  #segments: readonly Segment[];

  constructor(address: number, options: {
    kind: RegionKind;
    device: Device | undefined;
    segments: readonly Segment[];
    /** Finds what is behind the addresses now, where that can change; undefined when nothing is. */
    find?: () => readonly Segment[] | undefined;
  }) {
    this.address = address;
    this.kind = options.kind;
    this.device = options.device;
    this.#segments = options.segments;
    this.#find = options.find;
    this.byteLength = options.segments.reduce((sum, segment) => sum + segment.byteLength, 0);
  }

  /** Parts in order. A graph goes by addresses: it uses what is mapped there when it is launched. */
  get segments(): readonly Segment[] {
    return this.#segments = this.#find?.() ?? this.#segments;
  }

  /** Returns bytes at an offset: at most `maxBytes`, and at least one. */
  span(offset: number, maxBytes: number, intent: Intent): Uint8Array {
    for (const { storage, offset: base, byteLength } of this.segments) {
      if (offset < byteLength) {
        return storage.span(base + offset, Math.min(maxBytes, byteLength - offset), intent);
      }
      offset -= byteLength;
    }
    throw new RangeError(`Cannot take bytes at ${offset}: the region has ${this.byteLength}`);
  }

  read(): Uint8Array<ArrayBuffer> {
    const result = new Uint8Array(this.byteLength);
    for (let done = 0; done < result.byteLength;) {
      const bytes = this.span(done, result.byteLength - done, "read");
      result.set(bytes, done);
      done += bytes.byteLength;
    }
    return result;
  }

  /** Copies as many bytes as the region has into it. */
  write(bytes: Uint8Array): void {
    for (let done = 0; done < this.byteLength;) {
      const target = this.span(done, this.byteLength - done, "write");
      target.set(bytes.subarray(done, done + target.byteLength));
      done += target.byteLength;
    }
  }

  /** Splits the range from `start` up to `end` into its parts, in the coordinates of their storage. */
  *parts(start: number, end: number): Generator<{ segment: Segment; start: number; end: number }> {
    let base = 0;
    for (const segment of this.segments) {
      const from = Math.max(start - base, 0);
      const to = Math.min(end - base, segment.byteLength);
      if (from < to) yield { segment, start: segment.offset + from, end: segment.offset + to };
      base += segment.byteLength;
    }
  }

  /** Translates an extent of the region into extents of its storages. */
  extents(extent: Extent): { segment: Segment; extent: Extent }[] {
    const [only] = this.segments;
    if (only !== undefined && this.segments.length === 1) {
      return [{ segment: only, extent: { ...extent, start: only.offset + extent.start } }];
    }
    const found: { segment: Segment; extent: Extent }[] = [];
    for (let row = 0; row < extent.rowCount; row++) {
      const rowStart = extent.start + row * extent.pitchBytes;
      for (const { segment, start, end } of this.parts(rowStart, rowStart + extent.widthBytes)) {
        const part = { start, widthBytes: end - start, pitchBytes: 0, rowCount: 1 };
        found.push({ segment, extent: part });
      }
    }
    return found;
  }
}
