// Turns the words of a step into what a driver function takes: numbers, addresses, cells, structs.
// What a word names must be there, or gone where the word says so; else the step cannot be made.

import { cString } from "../../../ffi/c_strings.ts";
import { CUDA, type DriverFunction } from "../../../ffi/cuda.ts";
import type { Members, Struct } from "../../../ffi/struct.ts";
import { FUNCTIONS } from "./functions.ts";
import { hostFunction } from "./host_function.ts";
import { IMAGES } from "./images.ts";
import { parseReference, splitList, type Step } from "./notation.ts";
import { addressOf, bytesAt, type World } from "./world.ts";

/** The byte of which cells are full before a call, so that it shows which were written. */
export const POISON = 0xa5;
/** Room in a cell: enough for every text, and for the nodes of a small graph. */
const CELL_BYTES = 256;

/** Says why a step cannot be made. */
export class Impossible extends Error {
  override name = "Impossible";
}

/** The arguments of a driver function. */
export interface CallArguments {
  readonly values: readonly unknown[];
  /** The cells among them, by place. */
  readonly cells: ReadonlyMap<number, Uint8Array<ArrayBuffer>>;
}

/** Tells whether a name is that of a driver function. */
export function isDriverFunction(call: string): call is DriverFunction {
  return Object.hasOwn(CUDA, call);
}

/**
 * Makes the arguments of a step.
 *
 * @throws Impossible when a word names what is not there.
 */
export function makeArguments(step: Step, call: DriverFunction, world: World): CallArguments {
  const cells = new Map<number, Uint8Array<ArrayBuffer>>();
  const types: readonly unknown[] = CUDA[call].parameters;
  if (types.length !== step.words.length) {
    throw new TypeError(
      `Cannot make ${call}: it takes ${types.length} words, not those in ${step.words}`,
    );
  }
  const values = step.words.map((word, place) => {
    const type = types[place];
    if (type === "u64" || type === "usize") return valueOf(word, world);
    if (type === "function") return word === "null" ? null : hostFunction();
    if (typeof type === "object") return handleBytes(word, world);
    if (type !== "buffer") return Number(word);
    if (word === "null") return null;
    const bytes = bytesOf(word, FUNCTIONS[call].structs?.[place], world);
    world.kept.push(bytes);
    if (word.startsWith("&") || word.startsWith("u64:") || word.startsWith("i32:")) {
      cells.set(place, bytes);
    }
    return bytes;
  });
  return { values, cells };
}

/** Returns the number, address or handle that a word stands for. */
export function valueOf(word: string, world: World): bigint {
  if (/^-?\d/.test(word)) return BigInt(word);
  const reference = parseReference(word);
  if (reference === undefined) throw new TypeError(`Cannot read the word ${word}`);
  const { name, offset, isGone } = reference;
  const thing = world.things.get(name);
  if (thing === undefined) throw new Impossible(`${name} was not made`);
  const address = thing.value + BigInt(offset);
  if (!isGone && !thing.isAlive) throw new Impossible(`${name} is gone`);
  // Another block may lie where one was, and would be meant then.
  if (isGone && (thing.isAlive || world.at(address) !== undefined)) {
    throw new Impossible(`${name} is there`);
  }
  return address;
}

function bytesOf(
  word: string,
  struct: Struct<Members> | undefined,
  world: World,
): Uint8Array<ArrayBuffer> {
  const inner = word.slice(1, -1);
  switch (word[0]) {
    case "&":
      return new Uint8Array(CELL_BYTES).fill(POISON);
    case "@":
      return hostBytes(word.slice(1), world);
    case '"':
      return cString(inner);
    case "<":
      return IMAGES[inner] ?? new Uint8Array(0);
    case "(":
      return parameterCells(inner, world);
    case "{":
      return structBytes(word, struct, world);
    case "[":
      return listBytes(splitList(inner), struct, world);
    default:
      return numberBytes(word, world);
  }
}

/** Writes `u64:5` or `i32:5` in as many bytes as it has. */
function numberBytes(word: string, world: World): Uint8Array<ArrayBuffer> {
  const [type = "", value = "0"] = word.split(":");
  const byteLength = type === "u64" ? 8 : 4;
  const cell = new DataView(new ArrayBuffer(8));
  cell.setBigUint64(0, BigInt.asUintN(64, valueOf(value, world)), true);
  return new Uint8Array(cell.buffer, 0, byteLength);
}

function listBytes(
  parts: readonly string[],
  struct: Struct<Members> | undefined,
  world: World,
): Uint8Array<ArrayBuffer> {
  if (parts[0]?.startsWith("{")) {
    return new Uint8Array(parts.flatMap((part) => [...structBytes(part, struct, world)]));
  }
  const values = parts.map((part) => BigInt.asUintN(64, valueOf(part, world)));
  return new Uint8Array(BigUint64Array.from(values).buffer);
}

/** Writes `{Height:2,location.id:1}`: members left out are zero, blocks of bytes get their first. */
function structBytes(
  word: string,
  struct: Struct<Members> | undefined,
  world: World,
): Uint8Array<ArrayBuffer> {
  if (struct === undefined) throw new TypeError(`Cannot write ${word}: there is no struct to it`);
  const bytes = new Uint8Array(struct.byteLength);
  for (const part of splitList(word.slice(1, -1))) {
    const [path = "", value = "0"] = part.split(":");
    const { offset, byteLength } = placeOf(struct, path.split("."));
    const cell = new DataView(new ArrayBuffer(8));
    cell.setBigUint64(0, BigInt.asUintN(64, valueOf(value, world)), true);
    bytes.set(new Uint8Array(cell.buffer, 0, Math.min(byteLength, 8)), offset);
  }
  return bytes;
}

function placeOf(
  struct: Struct<Members>,
  [name = "", ...rest]: readonly string[],
): { offset: number; byteLength: number } {
  const member = struct.members[name];
  const offset = struct.offsets[name];
  if (member === undefined || offset === undefined) {
    throw new TypeError(`No member is called ${name}`);
  }
  if (rest.length === 0) return { offset, byteLength: member.byteLength };
  const nested = placeOf(member as Struct<Members>, rest);
  return { ...nested, offset: offset + nested.offset };
}

/** Writes the parameters of a kernel, `u64:a,u32:4`, and an array of where they are. */
function parameterCells(list: string, world: World): Uint8Array<ArrayBuffer> {
  const cells = splitList(list).map((part) => numberBytes(part, world));
  world.kept.push(cells);
  return new Uint8Array(BigUint64Array.from(cells, addressOf).buffer);
}

/** Returns the bytes that the host sees from a place on. */
function hostBytes(word: string, world: World): Uint8Array<ArrayBuffer> {
  const address = valueOf(word, world);
  const thing = world.at(address);
  if (thing === undefined) throw new Impossible(`nothing is at ${word}`);
  const offset = Number(address - thing.value);
  if (thing.bytes !== undefined) return thing.bytes.subarray(offset);
  return bytesAt(address, thing.byteLength - offset);
}

function handleBytes(word: string, world: World): Uint8Array<ArrayBuffer> {
  if (word === "zeros") return new Uint8Array(64);
  const bytes = world.find(word)?.bytes;
  if (bytes === undefined) throw new Impossible(`${word} does not exist`);
  return bytes;
}
