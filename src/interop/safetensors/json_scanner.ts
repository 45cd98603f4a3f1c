// Scans JSON from start to end, and accepts what the format's own library accepts: sizes written as
// digits, names that can be UTF-8, and no deeper nesting than it follows.

/** A text is not JSON; the message says why and where. */
export class JsonError extends Error {
  override readonly name = "JsonError";
}

/** Deepest nesting of arrays and objects around a value; the format's own library stops at 128. */
const MAX_NESTED = 127;

/** Number of digits that are always exact. */
const EXACT_DIGITS = 15;

/** The characters that the scanner looks for. */
const CODE = {
  quote: 0x22,
  comma: 0x2c,
  colon: 0x3a,
  openList: 0x5b,
  backslash: 0x5c,
  closeList: 0x5d,
  openObject: 0x7b,
  closeObject: 0x7d,
} as const;

const DIGITS = { first: 0x30, last: 0x39 };
const MINUS = 0x2d;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WHOLE = /^(?:0|[1-9]\d*)$/;
const WORDS: readonly (readonly [text: string, value: unknown])[] = [
  ["true", true],
  ["false", false],
  ["null", null],
];

/** A position in a JSON text that advances as values are taken. */
export class JsonScanner {
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Tells whether the next value is an object. */
  get isAtObject(): boolean {
    return this.#next() === CODE.openObject;
  }

  /** Checks that only white space is left. */
  end(): void {
    if (!Number.isNaN(this.#next())) throw this.#wrong("something follows the value");
  }

  /**
   * Takes `{` and the first name of an object with its colon; returns undefined for an empty
   * object, which it takes whole. The caller takes the value, and then calls
   * {@link JsonScanner.nextName}.
   */
  firstName(): string | undefined {
    this.#take(CODE.openObject);
    this.#enter();
    if (!this.#tryTake(CODE.closeObject)) return this.#name();
    this.#depth--;
    return undefined;
  }

  /** Takes a comma, the next name and its colon; at the end the `}`, and returns undefined. */
  nextName(): string | undefined {
    if (this.#tryTake(CODE.comma)) return this.#name();
    this.#take(CODE.closeObject);
    this.#depth--;
    return undefined;
  }

  /** Takes any value; numbers that are not whole become NaN, and objects empty ones. */
  value(): unknown {
    const code = this.#next();
    if (code >= DIGITS.first && code <= DIGITS.last || code === MINUS) return this.#number();
    if (code === CODE.quote) return this.#string();
    if (code === CODE.openList) return this.#list();
    if (code === CODE.openObject) return this.#skipObject();
    for (const [word, value] of WORDS) {
      if (!this.#text.startsWith(word, this.#at)) continue;
      this.#at += word.length;
      return value;
    }
    throw this.#wrong("expected a value");
  }

  /** Takes a character if it is the next one after white space. */
  #tryTake(code: number): boolean {
    if (this.#next() !== code) return false;
    this.#at++;
    return true;
  }

  /** Takes a character, which must be the next one after white space. */
  #take(code: number): void {
    if (!this.#tryTake(code)) throw this.#wrong(`expected "${String.fromCharCode(code)}"`);
  }

  #string(): string {
    this.#take(CODE.quote);
    const text = this.#text;
    const start = this.#at;
    for (let at = start;; at++) {
      const code = text.charCodeAt(at);
      if (code === CODE.quote) {
        this.#at = at + 1;
        return text.slice(start, at);
      }
      // The code is NaN at the end of the text.
      if (code === CODE.backslash || !(code >= 0x20)) return this.#escapedString(start, at);
    }
  }

  #name(): string {
    const name = this.#string();
    this.#take(CODE.colon);
    return name;
  }

  #skipObject(): Record<string, never> {
    for (let name = this.firstName(); name !== undefined; name = this.nextName()) this.value();
    return {};
  }

  #list(): unknown[] {
    const values: unknown[] = [];
    this.#take(CODE.openList);
    this.#enter();
    if (!this.#tryTake(CODE.closeList)) {
      do values.push(this.value()); while (this.#tryTake(CODE.comma));
      this.#take(CODE.closeList);
    }
    this.#depth--;
    return values;
  }

  /** Takes a number: short whole ones, which nearly all are, digit by digit. */
  #number(): number {
    const text = this.#text;
    let value = 0;
    let at = this.#at;
    let code = text.charCodeAt(at);
    for (; code >= DIGITS.first && code <= DIGITS.last; code = text.charCodeAt(++at)) {
      value = value * 10 + code - DIGITS.first;
    }
    const count = at - this.#at;
    const isPlain = code === CODE.comma || code === CODE.closeList;
    const hasZero = count > 1 && text.charCodeAt(this.#at) === DIGITS.first;
    if (count === 0 || count > EXACT_DIGITS || hasZero || !isPlain) return this.#otherNumber();
    this.#at = at;
    return value;
  }

  #otherNumber(): number {
    NUMBER.lastIndex = this.#at;
    const [written] = NUMBER.exec(this.#text) ?? [];
    if (written === undefined) throw this.#wrong("expected a number");
    if (!Number.isFinite(Number(written))) throw this.#wrong("the number is out of range");
    this.#at += written.length;
    return WHOLE.test(written) ? Number(written) : NaN;
  }

  /** Takes a string with a backslash or a control character at `first`. */
  #escapedString(start: number, first: number): string {
    const text = this.#text;
    let end = first;
    while (end < text.length && text.charCodeAt(end) !== CODE.quote) {
      end += text.charCodeAt(end) === CODE.backslash ? 2 : 1;
    }
    const value = unquote(text.slice(start - 1, end + 1));
    if (value === undefined) throw this.#wrong("the string is broken");
    if (!value.isWellFormed()) throw this.#wrong("the string has half of a surrogate pair");
    this.#at = end + 1;
    return value;
  }

  /** Returns the next character after white space; NaN at the end. */
  #next(): number {
    for (;; this.#at++) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return code;
    }
  }

  #enter(): void {
    if (++this.#depth > MAX_NESTED) throw this.#wrong(`nested deeper than ${MAX_NESTED}`);
  }

  #wrong(reason: string): JsonError {
    return new JsonError(`${reason} at character ${this.#at}`);
  }
}

function unquote(literal: string): string | undefined {
  try {
    const value: unknown = JSON.parse(literal);
    return typeof value === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}
