// Sizes in the form that people write and read: binary units (KiB, MiB, GiB, TiB) for bytes. Speeds
// are decimal everywhere: 1 GB/s = 10^9 bytes per second.

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"] as const;

/** A number of bytes, or a text with a unit such as "64 MiB" or "1.5 GB". */
export type ByteSize = number | string;

const BYTES_OF_UNIT: Readonly<Record<string, number>> = {
  B: 1,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
};

/** Formats a byte count with the largest binary unit that keeps it at or above one: `"1.5 GiB"`. */
export function formatBytes(byteLength: number): string {
  if (typeof byteLength !== "number") {
    throw new TypeError(`Cannot format ${describeValue(byteLength)} as a size: expected a number`);
  }
  const sign = byteLength < 0 ? "-" : "";
  let amount = Math.abs(byteLength);
  let unit = 0;
  // The rounded number decides, because 1023.99 KiB would show as 1024.
  while (shown(amount) >= 1024 && unit < UNITS.length - 1) {
    amount /= 1024;
    unit++;
  }
  return `${sign}${shown(amount)} ${UNITS[unit]}`;
}

/**
 * Formats a part of an amount of bytes in the unit of the whole, so that it is compared at a glance:
 * `"0.25 of 1 GiB"`.
 */
export function formatPart(byteLength: number, wholeBytes: number): string {
  const whole = formatBytes(wholeBytes);
  const unit = UNITS.findIndex((name) => whole.endsWith(` ${name}`));
  return `${shown(byteLength / 1024 ** unit)} of ${whole}`;
}

/** Rounds to two digits below ten and to one above. */
function shown(amount: number): number {
  return Number(amount.toFixed(amount < 10 ? 2 : 1));
}

/**
 * Reads a size: a whole number of bytes, or a text such as `"64 MiB"`, `"2GB"` or `"512 B"`. Binary
 * and decimal units differ, and a bare `"64k"` is rejected because it could be either.
 *
 * @throws RangeError when it is not a size, is negative, or passes 2^53 - 1 bytes.
 */
export function parseBytes(size: ByteSize, what = "size"): number {
  if (typeof size === "number") return checkSize(size, what);
  const match = typeof size === "string"
    ? /^\s*(\d+(?:\.\d+)?)\s*([A-Za-z]+)\s*$/.exec(size)
    : null;
  const unit = match?.[2] ?? "";
  const factor = Object.hasOwn(BYTES_OF_UNIT, unit) ? BYTES_OF_UNIT[unit] : undefined;
  if (match === null || factor === undefined) {
    throw new RangeError(
      `Cannot read ${what} ${describeValue(size)}: expected a number with a unit such as ` +
        `"64 MiB" or "2 GB"`,
    );
  }
  return checkSize(Math.round(Number(match[1]) * factor), what);
}

/** Returns `value` when it is a whole number from 0 to 2^53 - 1, and throws a RangeError otherwise. */
export function checkSize(value: number, what: string): number {
  if (!Number.isSafeInteger(value) || value < 0) {
    throw new RangeError(
      `Cannot use ${what} ${describeNumber(value)}: expected a whole number from 0 to 2^53 - 1`,
    );
  }
  return value;
}

/** Formats an address or a handle as text, because notebooks and JSON cannot hold a BigInt. */
export function formatAddress(address: bigint): string {
  return `0x${address.toString(16)}`;
}

const SECOND_UNITS = [["ns", 1e-9], ["µs", 1e-6], ["ms", 1e-3], ["s", 1]] as const;

/** Formats a length of time: `"5.1 µs"`, `"320 ms"`, `"4 min 5 s"`, `"2 h 10 min"`. */
export function formatSeconds(seconds: number): string {
  if (seconds >= 3600) return twoUnits(seconds / 60, "h", "min");
  if (seconds >= 60) return twoUnits(seconds, "min", "s");
  const fitting = SECOND_UNITS.findLast(([, size]) => seconds >= size);
  const [unit, size] = seconds === 0 ? SECOND_UNITS[3] : fitting ?? SECOND_UNITS[0];
  return `${digits(seconds / size)} ${unit}`;
}

/** Units of speed in GB/s, and from where each is used: two digits after the point are read at once. */
const SPEED_UNITS = [
  { unit: "B/s", size: 1e-9, from: 0 },
  { unit: "kB/s", size: 1e-6, from: 1e-6 },
  { unit: "MB/s", size: 1e-3, from: 1e-3 },
  { unit: "GB/s", size: 1, from: 0.01 },
] as const;

/**
 * Formats a speed of 10^9 bytes per second: `"0.79 GB/s"`, `"55.6 GB/s"`, `"2100 GB/s"`. What comes over
 * a network can be slow: `"1.8 MB/s"`, `"45.0 kB/s"`.
 */
export function formatSpeed(gigabytesPerSecond: number): string {
  const fitting = SPEED_UNITS.findLast(({ from }) => gigabytesPerSecond >= from);
  const { unit, size } = gigabytesPerSecond === 0 || fitting === undefined
    ? SPEED_UNITS[3]
    : fitting;
  return `${digits(gigabytesPerSecond / size)} ${unit}`;
}

/** Formats a number of things whose plural ends in s: `"1 block"`, `"2 blocks"`. */
export function formatCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Returns a text that fits into so many letters: a longer one ends in an ellipsis. */
export function cut(text: string, room: number): string {
  return text.length <= room ? text : `${text.slice(0, room - 1)}…`;
}

/** Returns the message of a thrown value, even when it is not an Error. */
export function messageOf(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error);
  } catch {
    return describeValue(error);
  }
}

/** Length at which messages cut a text. */
const MAX_SHOWN = 60;

/** Describes a value for messages: `"fast"`, `the number 5`, `a Float32Array`, `CudaStream(loader)`. */
export function describeValue(value: unknown): string {
  switch (typeof value) {
    case "string":
      return visibleText(JSON.stringify(value.slice(0, MAX_SHOWN)));
    case "number":
    case "bigint":
      return `the ${typeof value} ${value}`;
    case "function":
      return describeFunction(value);
    case "symbol":
      return "a symbol";
    case "object":
      return value === null ? "null" : describeObject(value);
  }
  return String(value);
}

/** Describes a value in the place of a number: `-1`, `NaN`, `"5"`. */
export function describeNumber(value: unknown): string {
  return typeof value === "number" ? String(value) : describeValue(value);
}

/** Describes a list in the place of numbers: `[2, -1]`, `[2, "3"]`. */
export function describeNumbers(values: readonly unknown[]): string {
  return `[${values.map(describeNumber).join(", ")}]`;
}

function describeFunction(value: { readonly name: unknown }): string {
  const isClass = /^class\b/.test(Function.prototype.toString.call(value));
  const kind = isClass ? "class" : isGenerator(value) ? "generator function" : "function";
  return `${kind} ${value.name || "without a name"}`;
}

/** Returns whether a value is a generator function, async or not. */
export function isGenerator(value: unknown): boolean {
  return /^\[object (Async)?GeneratorFunction\]$/.test(Object.prototype.toString.call(value));
}

/** The name by which a context says which copy of the kit made it: a program may import two versions. */
export const COPY: unique symbol = Symbol.for("vramkit.copy");

/** This copy of the kit. */
export const THIS_COPY: object = {};

/** Describes an object: the kit's own name themselves, and a proxy may throw at any access. */
function describeObject(value: object): string {
  try {
    if (Array.isArray(value)) return "a list";
    if (value instanceof Promise) return "a promise, which has to be awaited";
    return nameOf(value) + foreignWords(value);
  } catch {
    return "an object";
  }
}

function nameOf(value: object): string {
  const isNamed = Symbol.for("Deno.customInspect") in value &&
    value.toString !== Object.prototype.toString;
  const name = isNamed ? String(value) : "";
  if (name !== "" && !name.includes("\n")) return name; // a table is no name
  const className = classNameOf(value);
  if (className === "Object") return "an object";
  return `${/^[AEIO]/.test(className) ? "an" : "a"} ${className}`;
}

/** Returns the name of an object's class; an object without a prototype has none. */
export function classNameOf(value: object): string {
  const name: unknown = value.constructor?.name;
  return typeof name === "string" && name !== "" ? name : "Object";
}

/** Says of an object that looks like one of the kit's when another copy of the kit made it. */
function foreignWords(value: { readonly context?: { readonly [COPY]?: object } }): string {
  let copy: object | undefined;
  try {
    copy = value.context?.[COPY];
  } catch { // as of a device that was disposed
  }
  return copy === undefined || copy === THIS_COPY ? "" : ", which another copy of vramkit has made";
}

/** Characters that a terminal does not show but obeys or hides, and halves of surrogate pairs. */
const UNSEEN = /[\p{Cc}\p{Cs}\u2028-\u202e\u2066-\u2069]/gu;

/** Returns a foreign text on one line, with control characters written as `\u001b`. */
export function visibleText(text: string): string {
  return text.replace(
    UNSEEN,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Returns a foreign text of several lines, as a compiler's, with all other control characters written. */
export function visibleLines(text: string): string {
  return text.split(/\r?\n/)
    .map((line) => line.split("\t").map(visibleText).join("\t"))
    .join("\n");
}

/** Two digits below one, one digit after the point below a hundred, whole numbers above. */
function digits(amount: number): string {
  if (Math.abs(amount) < 1) return String(Number(amount.toPrecision(2)));
  return amount.toFixed(Math.abs(amount) < 99.95 ? 1 : 0);
}

function twoUnits(amount: number, large: string, small: string): string {
  const whole = Math.floor(amount);
  return `${Math.floor(whole / 60)} ${large} ${whole % 60} ${small}`;
}
