// The values of a launch's parameters in memory: a table of addresses, and the values behind it. The
// driver copies them before a launch returns, so one block serves all launches of a kernel.

import { roundUp } from "../../ffi/alignment.ts";
import type { ParameterType } from "../../ffi/ptx.ts";
import { addressOf } from "../memory/host_memory.ts";
import { describeValue } from "../words/format.ts";
import { KernelNumber } from "./kernel_number.ts";

/** Every value starts at a multiple of this: the most that a parameter's alignment is. */
const ALIGNMENT_BYTES = 16;

/** The type of parameters of which only the count is known: it has room for any number. */
const UNKNOWN: ParameterType = { byteLength: 8, kind: undefined };

/** The types of nearly all parameters, whose values are written without further checks. */
const Usual = { none: 0, address: 1, int32: 2, float32: 3, float64: 4 } as const;

/** Memory for the values of one launch. */
export class ParameterBlock {
  /** The table of addresses, as the driver takes it. */
  readonly table: BigUint64Array<ArrayBuffer>;
  readonly #types: readonly ParameterType[];
  readonly #view: DataView<ArrayBuffer>;
  readonly #offsets: readonly number[];
  /** The type of each parameter, if it is a usual one. */
  readonly #usual: Uint8Array;

  /** Makes room for values of these types. */
  constructor(types: readonly ParameterType[]) {
    this.#types = types;
    this.#usual = Uint8Array.from(types, usualOf);
    let end = roundUp(types.length * 8, ALIGNMENT_BYTES);
    this.#offsets = types.map(({ byteLength }) => {
      const offset = end;
      end += roundUp(Math.max(byteLength, 8), ALIGNMENT_BYTES);
      return offset;
    });
    const memory = new ArrayBuffer(Math.max(end, ALIGNMENT_BYTES));
    this.table = new BigUint64Array(memory);
    this.#view = new DataView(memory);
    const start = addressOf(this.table);
    for (const [index, offset] of this.#offsets.entries()) {
      this.table[index] = start + BigInt(offset);
    }
  }

  /** Makes room for values of unknown types, by the sizes of the values. */
  static for(values: readonly unknown[]): ParameterBlock {
    return new ParameterBlock(
      values.map((value) =>
        ArrayBuffer.isView(value) ? { byteLength: value.byteLength, kind: undefined } : UNKNOWN
      ),
    );
  }

  /** Returns a copy for a pending launch. */
  copy(): ParameterBlock {
    const copy = new ParameterBlock(this.#types);
    for (const [index, offset] of this.#offsets.entries()) {
      const byteLength = roundUp(Math.max(this.#types[index]?.byteLength ?? 0, 8), ALIGNMENT_BYTES);
      const values = new Uint8Array(this.#view.buffer, offset, byteLength);
      new Uint8Array(copy.#view.buffer).set(values, offset);
    }
    return copy;
  }

  /** Returns whether it has room for these values of unknown types. */
  fits(values: readonly unknown[]): boolean {
    return values.length === this.#types.length &&
      values.every((value, index) => {
        const { byteLength = 0 } = this.#types[index] ?? {};
        return !ArrayBuffer.isView(value) || value.byteLength <= byteLength;
      });
  }

  /**
   * Writes an address.
   *
   * @throws TypeError when the parameter has no room for one.
   */
  setAddress(index: number, address: bigint): void {
    if (this.#usual[index] !== Usual.address) {
      throw new TypeError(`expected ${wordsFor(this.#types[index] ?? UNKNOWN)}, not memory`);
    }
    this.#view.setBigUint64(this.#offsets[index] ?? 0, address, true);
  }

  /** Writes a number into a parameter of a usual type, when it fits; returns whether it does. */
  setNumber(index: number, value: number): boolean {
    const usual = this.#usual[index];
    const offset = this.#offsets[index] ?? 0;
    if (usual === Usual.int32) {
      if ((value | 0) !== value && value >>> 0 !== value) return false;
      this.#view.setInt32(offset, value, true);
    } else if (usual === Usual.float32) this.#view.setFloat32(offset, value, true);
    else if (usual === Usual.float64) this.#view.setFloat64(offset, value, true);
    else return false;
    return true;
  }

  /**
   * Writes a value; `isChecked` tells whether the sizes are the kernel's own.
   *
   * @throws TypeError when it does not fit the parameter, or needs an explicit type.
   */
  setValue(index: number, value: unknown, isChecked: boolean): void {
    const type = this.#types[index] ?? UNKNOWN;
    const offset = this.#offsets[index] ?? 0;
    if (value instanceof KernelNumber) {
      if (isChecked && !takes(type, value)) throw new TypeError(`expected ${wordsFor(type)}`);
      return value.write(this.#view, offset);
    }
    if (typeof value === "number" || typeof value === "bigint") {
      return this.#setPlain(type, offset, { value, isChecked });
    }
    if (!ArrayBuffer.isView(value)) {
      throw new TypeError(
        "expected a buffer, a number such as i32(3), a bigint, or the bytes of a struct",
      );
    }
    if (isChecked && value.byteLength !== type.byteLength) {
      const isPlace = type.kind === "integer" && type.byteLength === 8;
      const hint = isPlace ? "; the GPU reaches no ordinary array, gpu.upload() it" : "";
      throw new TypeError(`expected ${wordsFor(type)}, not ${value.byteLength} bytes${hint}`);
    }
    const { buffer, byteOffset, byteLength } = value;
    new Uint8Array(this.#view.buffer, offset).set(new Uint8Array(buffer, byteOffset, byteLength));
  }

  /** Writes a plain number as the type that the kernel declares. */
  #setPlain(
    { byteLength, kind }: ParameterType,
    offset: number,
    { value, isChecked }: { value: number | bigint; isChecked: boolean },
  ): void {
    if (typeof value === "bigint" && isChecked && kind !== "float" && byteLength === 8) {
      return this.#setWhole(offset, byteLength, value);
    }
    if (!isChecked || kind === undefined || kind === "bytes") {
      throw new TypeError(
        `its type is not known, write ` +
          `${typeof value === "number" && !Number.isInteger(value) ? "f32" : "i32"}(${value}) ` +
          `or another of vramkit/kernels`,
      );
    }
    if (kind === "integer") return this.#setWhole(offset, byteLength, value);
    if (typeof value === "bigint") throw new TypeError("expected a float, write a number");
    this.#view[`setFloat${8 * byteLength as 16 | 32 | 64}`](offset, value, true);
  }

  #setWhole(offset: number, byteLength: number, value: number | bigint): void {
    const isSmall = typeof value === "number" && Number.isInteger(value) &&
      value >= -(2 ** 31) && value < 2 ** 32;
    if (isSmall && byteLength === 4) return this.#view.setInt32(offset, value, true);
    if (typeof value === "number" && !Number.isSafeInteger(value)) {
      throw new RangeError(`expected a whole number`);
    }
    const whole = BigInt(value);
    const bits = byteLength * 8;
    if (BigInt.asUintN(bits, whole) !== whole && BigInt.asIntN(bits, whole) !== whole) {
      throw new RangeError(`${whole} has more than ${bits} bits`);
    }
    const low = BigInt.asUintN(bits, whole);
    if (bits === 64) return this.#view.setBigUint64(offset, low, true);
    this.#view[`setUint${bits as 8 | 16 | 32}`](offset, Number(low), true);
  }
}

function usualOf({ byteLength, kind }: ParameterType): number {
  if (byteLength === 8) return kind === "float" ? Usual.float64 : Usual.address;
  if (byteLength !== 4) return Usual.none;
  if (kind === "float") return Usual.float32;
  return kind === "integer" ? Usual.int32 : Usual.none;
}

/** Describes an argument for a message. */
export function describeArgument(value: unknown): string {
  if (value instanceof KernelNumber) return value.toString();
  if (ArrayBuffer.isView(value)) return `${value.byteLength} bytes`;
  if (value instanceof Promise) return "a promise that was not awaited";
  return describeValue(value);
}

/** Returns whether a parameter takes a typed number; structs take numbers of their own size. */
function takes({ byteLength, kind }: ParameterType, number: KernelNumber): boolean {
  if (number.byteLength !== byteLength) return false;
  if (kind === "float") return number.isFloat;
  // PTX declares half floats as integers.
  return kind !== "integer" || !number.isFloat || number.type === "f16";
}

function wordsFor({ byteLength, kind }: ParameterType): string {
  if (kind === "float") return `a float of ${byteLength * 8} bits`;
  if (kind === "integer" && byteLength === 8) return "an address or a whole number of 64 bits";
  if (kind === "integer") return `a whole number of ${byteLength * 8} bits`;
  return `${byteLength} bytes`;
}
