// Checks of options, because notebooks have no compiler. Every method that takes options reads them
// here, so that a wrong option gives the same message everywhere.

import { describeValue, isGenerator, messageOf } from "./format.ts";
import { warn } from "./warning.ts";

/** The kind of values that an option accepts. */
export interface OptionKind {
  /** The words after "expected". */
  readonly expected: string;
  /** Returns whether the option accepts a value; never called with undefined. */
  accepts(value: unknown): boolean;
  /** Describes a value that it does not accept, where the usual words would not show why. */
  describe?(value: unknown): string;
}

/** A string. */
export const TEXT: OptionKind = like("", "a string");

/** A boolean. */
export const FLAG: OptionKind = like(true, "true or false");

/** A number; its range is for the method to check. */
export const NUMBER: OptionKind = like(0, "a number");

/** A size in bytes; whether it can be read is for the method to check. */
export const SIZE: OptionKind = {
  expected: 'bytes, or a size such as "64 MiB"',
  accepts: (value) => TEXT.accepts(value) || NUMBER.accepts(value),
};

/** A shape, whose sizes are checked where they are read. */
export const SHAPE: OptionKind = {
  expected: "a length, or a list of sizes",
  accepts: (value) => value !== null,
};

export const BIGINT: OptionKind = like(0n, "a bigint");

/** A plain object with any contents. */
export const RECORD: OptionKind = { expected: "an object", accepts: isRecord };

export const LIST: OptionKind = { expected: "a list", accepts: Array.isArray };

/** A value of the type of a sample. */
function like(sample: unknown, expected: string): OptionKind {
  return { expected, accepts: (value) => typeof value === typeof sample };
}

/**
 * A function to call. A class does not count, because it can only be constructed, and neither does a
 * generator function, because calling it runs nothing.
 */
export const CALLBACK: OptionKind = {
  expected: "a function",
  accepts: (value) => typeof value === "function" && !isClass(value) && !isGenerator(value),
  describe: (value) => {
    const words = describeValue(value);
    return isGenerator(value) ? `${words}, whose call runs nothing` : words;
  },
};

/** Returns whether a function is a class: only classes have a prototype that cannot be replaced. */
function isClass(value: object): boolean {
  return Object.getOwnPropertyDescriptor(value, "prototype")?.writable === false;
}

/** An AbortSignal. */
export const SIGNAL: OptionKind = {
  expected: "an AbortSignal",
  accepts: (value) => value instanceof AbortSignal,
};

/** Any value; the method checks it itself. */
export const ANYTHING: OptionKind = { expected: "anything", accepts: () => true };

/** One of several strings. */
export function oneOf(...texts: readonly string[]): OptionKind {
  const expected = listWords(texts.map((text) => JSON.stringify(text)), "or");
  return { expected, accepts: (value) => typeof value === "string" && texts.includes(value) };
}

/** A list of values of one kind. */
export function listOf(kind: OptionKind): OptionKind {
  // Spread, because every() passes over the holes of a list.
  const accepts = (value: unknown) => Array.isArray(value) && [...value].every(kind.accepts);
  const describe = (value: unknown) => {
    if (!Array.isArray(value)) return describeValue(value);
    return `a list with ${describeValue(value.find((each) => !kind.accepts(each)))}`;
  };
  return { expected: `a list, each ${kind.expected}`, accepts, describe };
}

/** A value of one kind or of another. */
export function eitherOf(first: OptionKind, second: OptionKind): OptionKind {
  return {
    expected: `${first.expected}, or ${second.expected}`,
    accepts: (value) => first.accepts(value) || second.accepts(value),
  };
}

/**
 * Checks an argument that is not an option.
 *
 * @throws TypeError when the value is of another kind.
 */
export function requireKind(value: unknown, kind: OptionKind, call: string): void {
  if (kind.accepts(value)) return;
  throw new TypeError(
    `Cannot call ${call}() with ${describeFor(kind, value)}: expected ${kind.expected}`,
  );
}

function describeFor(kind: OptionKind, value: unknown): string {
  return kind.describe?.(value) ?? describeValue(value);
}

/** The options of a method: their names and the kind of each. */
export class OptionSet<T extends object> implements OptionKind {
  readonly #kinds: ReadonlyMap<string, OptionKind>;

  /** Creates a set from the kind of every option; the compiler reports missing ones. */
  constructor(kinds: { readonly [K in keyof Required<T>]: OptionKind }) {
    this.#kinds = new Map(Object.entries<OptionKind>(kinds));
  }

  /** The words after "expected", for a set as the kind of an option: a record inside a record. */
  get expected(): string {
    return `an object such as { ${this.#names.join(", ")} }`;
  }

  /** Returns whether a value is a record with these options. */
  accepts(value: unknown): boolean {
    return isRecord(value) && this.#wrongIn(value) === undefined;
  }

  /**
   * Checks the options of a call before it does anything, and returns a copy of them: a getter may
   * give another value each time.
   *
   * @throws TypeError when they are not a record, a name is unknown, or a value is of the wrong
   *   kind.
   */
  read<O extends Partial<T>>(options: O, call: string): O {
    const given: unknown = options;
    if (!isRecord(given)) {
      throw new TypeError(
        `Cannot call ${call}(): its options are ${describeValue(given)}, expected ${this.expected}`,
      );
    }
    const read: Record<string, unknown> = {};
    for (const name in given) {
      if (this.#isEverywhere(name)) continue;
      const value = given[name];
      if (!this.#takes(name, value)) throw this.#refusal(name, value, call);
      read[name] = value;
    }
    return read as O;
  }

  /**
   * Checks that the options which a call requires are there.
   *
   * @throws TypeError that names the first that is missing.
   */
  requireThese(names: readonly (keyof T & string)[], options: Partial<T>, call: string): void {
    const missing = names.find((name) => options[name] === undefined);
    if (missing !== undefined) throw this.#refusal(missing, undefined, call);
  }

  /** Creates the error for a value of the wrong kind, or an unknown name; `within` names a record. */
  #refusal(name: string, value: unknown, call: string, within = ""): TypeError {
    const kind = this.#kinds.get(name);
    const path = `${within}${name}`;
    if (kind instanceof OptionSet && isRecord(value)) {
      const wrong = kind.#wrongIn(value) ?? "";
      return kind.#refusal(wrong, value[wrong], call, `${path}.`);
    }
    if (kind !== undefined) {
      return new TypeError(
        `Cannot call ${call}(): option "${path}" is ${describeFor(kind, value)}, expected ` +
          kind.expected,
      );
    }
    const nearest = nearestOf(this.#names, name);
    const hint = nearest === undefined ? "" : ` (did you mean "${nearest}"?)`;
    const all = listWords(this.#names, "and");
    return new TypeError(
      `Cannot call ${call}(): it has no option ${JSON.stringify(path)}${hint}, only ${all}`,
    );
  }

  /** Returns whether a library has given all objects of the program a property of this name. */
  #isEverywhere(name: string): boolean {
    return !this.#kinds.has(name) &&
      Object.prototype.propertyIsEnumerable.call(Object.prototype, name);
  }

  /** Finds the first option that is unknown or of the wrong kind. */
  #wrongIn(given: Readonly<Record<string, unknown>>): string | undefined {
    for (const name in given) {
      if (!this.#takes(name, given[name]) && !this.#isEverywhere(name)) return name;
    }
    return undefined;
  }

  #takes(name: string, value: unknown): boolean {
    const kind = this.#kinds.get(name);
    return kind !== undefined && (value === undefined || kind.accepts(value));
  }

  get #names(): string[] {
    return [...this.#kinds.keys()];
  }
}

/**
 * Returns whether a value is a plain record, or one whose prototype is one. Instances of classes
 * are not, because a buffer, a stream or a promise would pass as options that are all left out.
 */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: object | null = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return true;
  if (Object.getPrototypeOf(prototype) === null) return !Array.isArray(value);
  return !Object.hasOwn(prototype, "constructor") && isRecord(prototype);
}

/** Returns whether an object can be iterated over; a text does not count. */
export function isIterable(value: unknown): value is Iterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.iterator in value &&
    typeof value[Symbol.iterator] === "function";
}

/** Returns whether `await` would wait for a value. */
export function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === "function";
}

/**
 * Rejects a promise that a program's function returned where nothing waits for it. The promise's own
 * failure is not the reason to tell, and does not end the program.
 *
 * @throws TypeError with `message` when it is one.
 */
export function refusePromise(returned: unknown, message: string, options?: ErrorOptions): void {
  if (!isPromiseLike(returned)) return;
  Promise.resolve(returned).catch(() => {});
  throw new TypeError(message, options);
}

/** Prints the failure of a promise that a program's function returned where nothing waits for it. */
export function warnOfFailure(returned: unknown, failed: string): void {
  if (!isPromiseLike(returned)) return;
  Promise.resolve(returned).catch((error) => warn(`${failed}: ${messageOf(error)}`));
}

/**
 * Asks a program's predicate about a value.
 *
 * @throws TypeError when it returns a promise, which would be true whatever it resolves to.
 */
export function isAccepted<T>(predicate: (value: T) => boolean, value: T): boolean {
  const answer: unknown = predicate(value);
  refusePromise(answer, "Cannot filter by a function that returns a promise: return true or false");
  return Boolean(answer);
}

/** Returns the name that was probably meant: one that differs in a few letters. */
export function nearestOf(names: readonly string[], given: string): string | undefined {
  const wanted = given.toLowerCase();
  let best: { readonly name: string; readonly distance: number } | undefined;
  for (const name of names) {
    const distance = distanceBetween(name.toLowerCase(), wanted);
    const isNear = distance <= Math.ceil(name.length / 3);
    if (isNear && distance < (best?.distance ?? Infinity)) best = { name, distance };
  }
  return best?.name;
}

/** Returns the number of letters to insert, remove or change. */
function distanceBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const changed = (row[j] ?? 0) + (a[i] === b[j] ? 0 : 1);
      next.push(Math.min(changed, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

function listWords(words: readonly string[], last: "and" | "or"): string {
  if (words.length < 2) return words.join();
  return `${words.slice(0, -1).join(", ")} ${last} ${words.at(-1)}`;
}
