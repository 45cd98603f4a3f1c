// What a sequence has made so far: every name with its address or handle, whether it is still there,
// and what is known of captures, so that nothing is asked of a driver that is undefined there.

import type { ThingKind } from "./functions.ts";

/** Something with a name. */
export interface Thing {
  /** Its name in the sequence. */
  readonly name: string;
  readonly kind: ThingKind;
  readonly value: bigint;
  /** Bytes from its address on; 0 for handles. */
  readonly byteLength: number;
  /** Name of the context that was current when it was made, or of its stream's. */
  readonly home?: string | undefined;
  /** Whether it was not freed, destroyed or unloaded. */
  isAlive: boolean;
  /** Bytes that the host can touch, and those of a handle for other processes. */
  readonly bytes?: Uint8Array<ArrayBuffer>;
  /** The capture that records its allocation, or that it is the graph of. */
  readonly capture?: CaptureNotes;
  /** The origin of the thing: the graph of an executable one, the module or the kernel of a function. */
  readonly source?: Thing;
}

/** The state of one capture. */
export interface CaptureNotes {
  /** Name of the stream on which it began. */
  readonly origin: string;
  /** Names of the streams that take part. */
  readonly streams: Set<string>;
  /** Names of all that its work may use. */
  readonly uses: Set<string>;
  isOpen: boolean;
  /** Whether its graph was launched. */
  isLaunched: boolean;
}

/** Bytes between the starts of parts of an array that differ in value. */
const SHADE_BYTES = 16;
/** Bytes that are shaded; those behind are all the same. */
const MAX_SHADED_BYTES = 64 << 10;
const PAGE_BYTES = 4096;

/** Holds what a sequence has made. */
export class World {
  /** Everything by name. */
  readonly things: Map<string, Thing> = new Map();
  /** Captures that have not ended. */
  readonly captures: Set<CaptureNotes> = new Set();
  /** Events by name that were last recorded in a capture. */
  readonly capturedEvents: Map<string, CaptureNotes> = new Map();
  /** Ranges of arrays that are registered, by address. */
  readonly registered: Map<bigint, number> = new Map();
  /** Ranges that have memory mapped, by address. */
  readonly mapped: Map<bigint, number> = new Map();
  /** Names of arrays that were unregistered, and of reservations that were unmapped in part. */
  readonly disturbed: Set<string> = new Set();
  /** Names of memory that streams have freed, or will. */
  readonly freedByStreams: Set<string> = new Set();
  /** Devices of contexts by name. */
  readonly contexts: Map<string, number> = new Map();
  /** The number of times the sequence has retained the primary context of a device. */
  readonly retained: Map<number, number> = new Map();
  /** Whether no work can be running: then the host may look at memory. */
  isQuiet = true;
  /** Whether frees were queued, and nobody has waited for all work since. */
  isFreeing = false;
  /** Keeps what calls were given, as a driver may use it later. */
  readonly kept: unknown[] = [];

  add(thing: Thing): void {
    this.things.set(thing.name, thing);
  }

  /** Finds something that is there. */
  find(name: string): Thing | undefined {
    const thing = this.things.get(name);
    return thing?.isAlive ? thing : undefined;
  }

  /** Lists what is there, of one of these kinds. */
  alive(...kinds: readonly ThingKind[]): Thing[] {
    return [...this.things.values()].filter(({ isAlive, kind }) => isAlive && kinds.includes(kind));
  }

  /** Finds what is there and holds an address. */
  at(address: bigint): Thing | undefined {
    for (const thing of this.things.values()) {
      const { isAlive, kind, value, byteLength } = thing;
      // Physical memory has bytes, but its handle is no address.
      if (
        kind !== "physical" && isAlive && value <= address && address < value + BigInt(byteLength)
      ) return thing;
    }
    return undefined;
  }

  /** Finds the capture that a stream takes part in. */
  captureOf(stream: string): CaptureNotes | undefined {
    return [...this.captures].find(({ streams }) => streams.has(stream));
  }

  /** Ends something and what comes from it. */
  end(thing: Thing): void {
    thing.isAlive = false;
    for (const other of this.things.values()) {
      const isPart = /^(module|library|kernel)$/.test(thing.kind) || other.kind === "node";
      if (other.source === thing && isPart) {
        this.end(other);
      }
    }
  }

  /** Makes an ordinary array that starts at a page. */
  addArray(name: string, byteLength: number): void {
    const whole = new Uint8Array(byteLength + PAGE_BYTES);
    const start = Number(addressOf(whole));
    const bytes = whole.subarray((PAGE_BYTES - start % PAGE_BYTES) % PAGE_BYTES).subarray(
      0,
      byteLength,
    );
    shade(bytes, name);
    this.add({ name, kind: "array", value: addressOf(bytes), byteLength, isAlive: true, bytes });
  }
}

/** Fills bytes with shades that follow from a name, so that bytes in a wrong place show. */
export function shade(bytes: Uint8Array, name: string): void {
  let first = 1;
  for (const letter of name) first = (first * 31 + letter.charCodeAt(0)) & 0xff;
  const shadedBytes = Math.min(bytes.byteLength, MAX_SHADED_BYTES);
  for (let start = 0; start < shadedBytes; start += SHADE_BYTES) {
    bytes.fill((first + start / SHADE_BYTES) & 0xff, start, start + SHADE_BYTES);
  }
  bytes.fill(first, shadedBytes);
}

/** Returns the address of an array's first byte. */
export function addressOf(bytes: ArrayBufferView<ArrayBuffer>): bigint {
  return Deno.UnsafePointer.value(Deno.UnsafePointer.of(bytes));
}

/** Returns the bytes at an address. */
export function bytesAt(address: bigint, byteLength: number): Uint8Array<ArrayBuffer> {
  const pointer = Deno.UnsafePointer.create(address);
  if (pointer === null) return new Uint8Array(0);
  return new Uint8Array(Deno.UnsafePointerView.getArrayBuffer(pointer, byteLength));
}
