// Numbers with the type of a kernel's parameter: i32(3), f32(0.5). JavaScript has one type of
// number, and a kernel that gets the wrong type computes nonsense.

import { describeValue } from "../words/format.ts";
import { comesFrom, Parts, partsOf } from "../words/parts.ts";

/** Name of a type that a kernel's parameter can have. */
export type NumberType = `${"i" | "u"}${8 | 16 | 32 | 64}` | `f${16 | 32 | 64}`;

/** A number for a kernel, with its type. {@link i32}, {@link f32} and the others make one. */
export class KernelNumber {
  /** The type. */
  readonly type: NumberType;
  /** The number. */
  readonly value: number | bigint;

  /** @ignore Adopts a number that fits its type. */
  constructor(parts: Parts<{ readonly type: NumberType; readonly value: number | bigint }>) {
    const { type, value } = partsOf(parts, new.target);
    this.type = type;
    this.value = value;
  }

  /** Its size in bytes. */
  get byteLength(): number {
    return Number(this.type.slice(1)) / 8;
  }

  /** Tells whether it is a float, not an integer. */
  get isFloat(): boolean {
    return this.type.startsWith("f");
  }

  /** Writes it into memory. */
  write(view: DataView, offset: number): void {
    const { type, value } = this;
    switch (type) {
      case "i8":
      case "u8":
        return view.setUint8(offset, Number(value));
      case "i16":
      case "u16":
        return view.setUint16(offset, Number(value), true);
      case "i32":
      case "u32":
        return view.setUint32(offset, Number(value), true);
      case "i64":
      case "u64":
        return view.setBigUint64(offset, BigInt(value), true);
      case "f16":
        return view.setFloat16(offset, Number(value), true);
      case "f32":
        return view.setFloat32(offset, Number(value), true);
      case "f64":
        return view.setFloat64(offset, Number(value), true);
    }
  }

  /** Returns the number as source code: `i32(3)`. */
  toString(): string {
    return `${this.type}(${this.value})`;
  }

  /** Returns the text that the console shows. */
  [Symbol.for("Deno.customInspect")](): string {
    return this.toString();
  }
}

comesFrom(KernelNumber, "i32(), f32() and others of vramkit/kernels");

/** A whole number of 8 bits with a sign, for a kernel: `signed char`. */
export function i8(value: number | bigint): KernelNumber {
  return numberOf("i8", value);
}

/** A whole number of 16 bits with a sign, for a kernel: `short`. */
export function i16(value: number | bigint): KernelNumber {
  return numberOf("i16", value);
}

/** A whole number of 32 bits with a sign, for a kernel: `int`. */
export function i32(value: number | bigint): KernelNumber {
  return numberOf("i32", value);
}

/** A whole number of 64 bits with a sign, for a kernel: `long long`. */
export function i64(value: number | bigint): KernelNumber {
  return numberOf("i64", value);
}

/** A whole number of 8 bits without a sign, for a kernel: `unsigned char`. */
export function u8(value: number | bigint): KernelNumber {
  return numberOf("u8", value);
}

/** A whole number of 16 bits without a sign, for a kernel: `unsigned short`. */
export function u16(value: number | bigint): KernelNumber {
  return numberOf("u16", value);
}

/** A whole number of 32 bits without a sign, for a kernel: `unsigned int`. */
export function u32(value: number | bigint): KernelNumber {
  return numberOf("u32", value);
}

/** A whole number of 64 bits without a sign, for a kernel: `size_t`, or an address. */
export function u64(value: number | bigint): KernelNumber {
  return numberOf("u64", value);
}

/** A 16-bit float, for a kernel: `__half`. */
export function f16(value: number): KernelNumber {
  return numberOf("f16", value);
}

/** A 32-bit float, for a kernel: `float`. */
export function f32(value: number): KernelNumber {
  return numberOf("f32", value);
}

/** A 64-bit float, for a kernel: `double`. */
export function f64(value: number): KernelNumber {
  return numberOf("f64", value);
}

/** Makes a number with a type, when it fits. */
function numberOf(type: NumberType, value: number | bigint): KernelNumber {
  const number = new KernelNumber(new Parts({ type, value }));
  if (number.isFloat) {
    if (typeof value === "number") return number;
    throw new TypeError(`Cannot make ${type} of ${describeValue(value)}: expected a number`);
  }
  if (typeof value !== "bigint" && !Number.isInteger(value)) {
    throw new TypeError(`Cannot make ${type} of ${describeValue(value)}: expected a whole number`);
  }
  const bits = Number(type.slice(1));
  const whole = BigInt(value);
  const fitting = type.startsWith("i") ? BigInt.asIntN(bits, whole) : BigInt.asUintN(bits, whole);
  if (fitting === whole) return number;
  throw new RangeError(`Cannot make ${type} of ${whole}: it has ${bits} bits`);
}
