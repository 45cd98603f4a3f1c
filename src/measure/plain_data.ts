// Checks of results that come out of a file: one that was cut off or damaged is told by the place
// that is wrong. Records may have more fields than this version knows.

import { describeValue } from "../words/format.ts";
import { LIST, type OptionKind, RECORD } from "../words/options.ts";

/** The kind of each field of a record. */
export type FieldKinds<T> = { readonly [K in keyof Required<T>]: OptionKind };

/** A number that was measured or counted. */
export const AMOUNT: OptionKind = {
  expected: "a number from 0 on",
  accepts: (value) => typeof value === "number" && value >= 0,
};

/** A number that was measured or counted, or null. */
export const AMOUNT_OR_NULL: OptionKind = {
  expected: "a number from 0 on, or null",
  accepts: (value) => value === null || AMOUNT.accepts(value),
};

/** A kind of values that may be missing. */
export function maybe(kind: OptionKind): OptionKind {
  const { expected } = kind;
  return { expected, accepts: (value) => value === undefined || kind.accepts(value) };
}

/** The checks of one constructor. */
export class PlainDataCheck {
  readonly #call: string;

  /** Names the call for errors. */
  constructor(call: string) {
    this.#call = call;
  }

  /**
   * Checks one value.
   *
   * @throws TypeError that names its place.
   */
  value(place: string, value: unknown, kind: OptionKind): void {
    if (kind.accepts(value)) return;
    throw new TypeError(
      `Cannot call ${this.#call}(): ${place} is ${describeValue(value)}, expected ${kind.expected}`,
    );
  }

  /** Checks a record's fields. */
  record<T>(place: string, record: T, kinds: FieldKinds<T>): void {
    this.value(place, record, RECORD);
    for (const [name, kind] of Object.entries<OptionKind>(kinds)) {
      this.value(`${place}.${name}`, record[name as keyof T], kind);
    }
  }

  list<T>(place: string, records: readonly T[], kinds: FieldKinds<T>): void {
    this.value(place, records, LIST);
    for (const [at, record] of records.entries()) this.record(`${place}[${at}]`, record, kinds);
  }
}
