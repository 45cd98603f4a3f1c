// Walks through JSON from its start to its end, and takes what the format's own library takes: sizes
// are written as digits, names can be written as UTF-8, nothing is nested deeper than it follows.

/** What is wrong with a text that is not JSON, and where. */
export class JsonError extends Error {
  /** Tells the class from others. */
  override readonly name = "JsonError";
}

/** Arrays and objects around a value; the format's own library counts up to 128 and stops there. */
const MOST_NESTED = 127;

/** So many digits are exact, whatever they are. */
const EXACT_DIGITS = 15;

/** The characters that the scanner looks for. */
export const CODE = {
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

/** A place in a JSON text that moves on as values are taken. */
export class JsonScanner {
  readonly #text: string;
  #at = 0;
  #depth = 0;

  /** Starts at the first character. */
  constructor(text: string) {
    this.#text = text;
  }

  /** Takes a character if it is the next one behind white space. */
  tryTake(code: number): boolean {
    if (this.#next() !== code) return false;
    this.#at++;
    return true;
  }

  /** Takes a character, which has to be the next one behind white space. */
  take(code: number): void {
    if (!this.tryTake(code)) throw this.#wrong(`expected "${String.fromCharCode(code)}"`);
  }

  /** Whether the next value is an object. */
  get isAtObject(): boolean {
    return this.#next() === CODE.openObject;
  }

  /** Makes sure that only white space is left. */
  end(): void {
    if (!Number.isNaN(this.#next())) throw this.#wrong("something follows the value");
  }

  /**
   * Takes `{` and the first name of an object with its colon; undefined for an empty object, which
   * it takes whole. The caller takes the value, and then asks for the {@link JsonScanner.nextName}.
   */
  firstName(): string | undefined {
    this.take(CODE.openObject);
    this.#enter();
    if (!this.tryTake(CODE.closeObject)) return this.#name();
    this.#depth--;
    return undefined;
  }

  /** Takes a comma and the next name with its colon; undefined at the end, with the `}`. */
  nextName(): string | undefined {
    if (this.tryTake(CODE.comma)) return this.#name();
    this.take(CODE.closeObject);
    this.#depth--;
    return undefined;
  }

  /** Takes a string. */
  string(): string {
    this.take(CODE.quote);
    const text = this.#text;
    const start = this.#at;
    for (let at = start;; at++) {
      const code = text.charCodeAt(at);
      if (code === CODE.quote) {
        this.#at = at + 1;
        return text.slice(start, at);
      }
      // Not a number at the end of the text.
      if (code === CODE.backslash || !(code >= 0x20)) return this.#escapedString(start, at);
    }
  }

  /**
   * Takes any value. Numbers that are not written as whole ones are NaN, and lists are arrays;
   * objects are empty, because nobody asks for what is in them.
   */
  value(): unknown {
    const code = this.#next();
    if (code >= DIGITS.first && code <= DIGITS.last || code === MINUS) return this.#number();
    if (code === CODE.quote) return this.string();
    if (code === CODE.openList) return this.#list();
    if (code === CODE.openObject) return this.#skipObject();
    for (const [word, value] of WORDS) {
      if (!this.#text.startsWith(word, this.#at)) continue;
      this.#at += word.length;
      return value;
    }
    throw this.#wrong("expected a value");
  }

  #name(): string {
    const name = this.string();
    this.take(CODE.colon);
    return name;
  }

  #skipObject(): Record<string, never> {
    for (let name = this.firstName(); name !== undefined; name = this.nextName()) this.value();
    return {};
  }

  #list(): unknown[] {
    const values: unknown[] = [];
    this.take(CODE.openList);
    this.#enter();
    if (!this.tryTake(CODE.closeList)) {
      do values.push(this.value()); while (this.tryTake(CODE.comma));
      this.take(CODE.closeList);
    }
    this.#depth--;
    return values;
  }

  /** Short whole numbers, which nearly all are, digit by digit. */
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

  /** A string with a backslash or a control character at `first`. */
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

  /** The next character behind white space; NaN at the end. */
  #next(): number {
    for (;; this.#at++) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return code;
    }
  }

  #enter(): void {
    if (++this.#depth > MOST_NESTED) throw this.#wrong(`nested deeper than ${MOST_NESTED}`);
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
