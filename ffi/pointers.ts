// Memory for a call's out-parameters, and C strings both ways.
// An address is a bigint here; Deno's pointer objects are made only where Deno asks for one.

type CellArray = BigUint64Array<ArrayBuffer> | Int32Array<ArrayBuffer> | Float32Array<ArrayBuffer>;

/** Holds the one value that a call writes to an out-parameter; it can be used for many calls. */
export interface OutCell<Memory extends CellArray> {
  /** What to pass where the function takes a pointer to the value. */
  readonly memory: Memory;
  /** What the last call wrote; zero before the first. */
  readonly value: Memory[number];
}

/** Makes a cell for a `size_t`, a device address, a handle or a pointer. */
export function outU64(): OutCell<BigUint64Array<ArrayBuffer>> {
  return new Cell(new BigUint64Array(1), 0n);
}

/** Makes a cell for an `int` or an enum. */
export function outI32(): OutCell<Int32Array<ArrayBuffer>> {
  return new Cell(new Int32Array(1), 0);
}

/** Makes a cell for a `float`. */
export function outF32(): OutCell<Float32Array<ArrayBuffer>> {
  return new Cell(new Float32Array(1), 0);
}

/**
 * Encodes a text for a `const char *` parameter: UTF-8 with a NUL at its end.
 *
 * @throws TypeError when the text has a NUL inside, where C would see its end.
 */
export function cString(text: string): Uint8Array<ArrayBuffer> {
  const nul = text.indexOf("\0");
  if (nul >= 0) {
    throw new TypeError(`Cannot pass ${JSON.stringify(text)} to C: it has a NUL at index ${nul}`);
  }
  return new TextEncoder().encode(`${text}\0`);
}

/**
 * Reads a text that C wrote: from bytes up to the first NUL, or to their end when there is none,
 * or from an address that the caller knows to hold a NUL-terminated string.
 *
 * @throws TypeError when the address is null.
 */
export function readCString(source: Uint8Array | bigint): string {
  if (typeof source === "bigint") {
    const pointer = Deno.UnsafePointer.create(source);
    if (pointer === null) throw new TypeError("Cannot read a C string: its address is null");
    return Deno.UnsafePointerView.getCString(pointer);
  }
  const nul = source.indexOf(0);
  return new TextDecoder().decode(nul < 0 ? source : source.subarray(0, nul));
}

/** Shows an address or a handle: a bigint itself reaches neither a notebook nor JSON. */
export function hex(address: bigint): string {
  return `0x${address.toString(16)}`;
}

class Cell<Memory extends CellArray> implements OutCell<Memory> {
  readonly memory: Memory;
  readonly #initial: Memory[number];

  constructor(memory: Memory, initial: Memory[number]) {
    this.memory = memory;
    this.#initial = initial;
  }

  get value(): Memory[number] {
    return this.memory[0] ?? this.#initial;
  }
}
