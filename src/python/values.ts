// Converts values between JavaScript and Python, as JSON: values that both have are written as they
// are, others as a list that begins with their kind.

import { openHost } from "../../ffi/host.ts";
import { type DType, dtypeOf, type HostArray, viewBits } from "../dtype.ts";
import { addressOf, bytesOf } from "../memory/host_memory.ts";
import { describeValue } from "../words/format.ts";
import { isRecord } from "../words/options.ts";

/** A value for Python: `undefined` becomes None, a typed array becomes a numpy array. */
export type PythonInput =
  | undefined
  | null
  | boolean
  | number
  | bigint
  | string
  | HostArray
  | ArrayBuffer
  | readonly PythonInput[]
  | { readonly [name: string]: PythonInput }
  | object;

/** A value from Python: lists and tuples become arrays, a dict with string keys an object. */
export type PythonValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | HostArray
  | readonly PythonValue[]
  | { readonly [name: string]: PythonValue }
  | object;

/** Any JSON value. */
type Wire = unknown;

/** Returns the number of an object that is passed by reference; undefined for all others. */
type Share = (value: object) => Wire | undefined;

/**
 * Converts a value to JSON for Python.
 *
 * @throws TypeError for functions, symbols, instances of classes and lists that contain themselves.
 */
export function toWire(value: unknown, share: Share, around: readonly object[] = []): Wire {
  if (value === undefined || value === null) return null;
  if (typeof value === "boolean" || typeof value === "string") return value;
  if (typeof value === "bigint") return ["int", `${value}`];
  if (typeof value === "number") {
    if (Object.is(value, -0)) return ["float", "-0.0"];
    if (Number.isNaN(value)) return ["float", "nan"];
    if (!Number.isFinite(value)) return ["float", value > 0 ? "inf" : "-inf"];
    // Whole numbers become Python's integers, where they are exact.
    return Number.isInteger(value) && !Number.isSafeInteger(value) ? ["float", `${value}`] : value;
  }
  if (typeof value !== "object") throw notForPython(value);
  const shared = share(value);
  if (shared !== undefined) return shared;
  if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) return memoryToWire(value);
  if (around.includes(value)) {
    throw new TypeError(`Cannot give Python ${describeValue(value)}: it contains itself`);
  }
  const inside = [...around, value];
  if (Array.isArray(value)) return ["list", value.map((item) => toWire(item, share, inside))];
  if (!isRecord(value)) throw notForPython(value);
  const entries = Object.entries(value);
  return ["dict", entries.map(([name, item]) => [name, toWire(item, share, inside)])];
}

/** The memory itself is read by Python before the call returns. */
function memoryToWire(value: ArrayBuffer | ArrayBufferView): Wire {
  const bytes = bytesOf(value as HostArray, "give Python memory");
  const address = bytes.byteLength === 0 ? 0 : Number(addressOf(bytes));
  const dtype = ArrayBuffer.isView(value) ? dtypeOf(value) : undefined;
  if (dtype === undefined) return ["bytes", address, bytes.byteLength];
  return ["typed", dtype, address, (value as HostArray).length];
}

function notForPython(value: unknown): TypeError {
  return new TypeError(
    `Cannot give Python ${describeValue(value)}: expected numbers, texts, booleans, lists, plain ` +
      `objects, typed arrays or buffers`,
  );
}

/** The callbacks that converting Python's values needs. */
export interface Arrival {
  /** Finds an object that was passed to Python by reference. */
  readonly find: (number: number) => unknown;
  /** Notes an address whose bytes were copied, so that Python frees them. */
  readonly copied: (address: number) => void;
}

/** Converts Python's JSON to a value. */
export function fromWire(wire: Wire, arrival: Arrival): PythonValue {
  if (!Array.isArray(wire)) return wire as PythonValue;
  const [kind, ...rest] = wire;
  const [first, second, third, fourth] = rest;
  switch (kind) {
    case "list":
      return (first as Wire[]).map((item) => fromWire(item, arrival));
    case "dict":
      return Object.fromEntries(
        (first as [string, Wire][]).map(([name, item]) => [name, fromWire(item, arrival)]),
      );
    case "int":
      return BigInt(first as string);
    case "float":
      return first === "nan" ? NaN : first === "inf" ? Infinity : -Infinity;
    case "bytes":
      return copyOf(first as number, second as number, arrival);
    case "typed": {
      const bytes = copyOf(second as number, third as number, arrival);
      const array = viewBits(first as DType, { buffer: bytes.buffer });
      // gpu.upload() gives the buffer this shape.
      return Object.defineProperty(array, "shape", { value: Object.freeze(fourth as number[]) });
    }
    default:
      return arrival.find(first as number) as PythonValue;
  }
}

function copyOf(address: number, byteLength: number, arrival: Arrival): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(byteLength);
  if (byteLength > 0) openHost().copyOut(bytes, BigInt(address), BigInt(byteLength));
  arrival.copied(address);
  return bytes;
}
