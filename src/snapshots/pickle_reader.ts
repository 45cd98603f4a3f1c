// Reads plain data from Python's pickles of protocols 2 to 5. No code of a file is run: opcodes that
// import, call or build are refused by name, and memory is bounded by the file's length.

import { formatBytes, visibleText } from "../words/format.ts";

/** Opcodes by which a file would have Python import, call or build. */
const RUNS_CODE = new Map(
  ("50 PERSID,51 BINPERSID,52 REDUCE,62 BUILD,63 GLOBAL,69 INST,6f OBJ,81 NEWOBJ,82 EXT1,83 EXT2," +
    "84 EXT4,92 NEWOBJ_EX,93 STACK_GLOBAL").split(",").map((row) => row.split(" "))
    .map(([code = "", name = ""]) => [Number.parseInt(code, 16), name]),
);

const [BINGET, LONG_BINGET, APPENDS] = [0x68, 0x6a, 0x65];

/** Python writes lists in batches of so many items: a shorter list is whole after one. */
const BATCH = 1000;
/** Bytes of memory that a file of any length may take, and how often its own length. */
const MIN_MEMORY = 2 ** 26;
const MEMORY_FACTOR = 6;
/** About the bytes that V8 takes for a list, an object or a text, and for an item or a place in the memo. */
const CONTAINER_BYTES = 64;
const ITEM_BYTES = 8;
/** Lists of one hash that are compared: a file may be made so that all have the same. */
const MAX_ALIKE = 8;
/** Texts up to this length are kept once. */
const MAX_SHARED_LENGTH = 256;

/** A list of memo references, which other lists may repeat byte by byte. */
interface SharedList {
  readonly start: number;
  readonly end: number;
  readonly items: readonly unknown[];
}

/**
 * One reading of a pickle, which can pause. Dictionaries are objects, lists and tuples are arrays,
 * and integers beyond 2^53 BigInts. Lists of frames that repeat another are the same array.
 */
export class PickleReader {
  /** The opcodes of plain data. */
  static readonly #OPCODES: Readonly<Record<number, (file: PickleReader) => void>> = {
    0x28: (file) => file.#takeReferences() || file.#marks.push(file.#stack.length), // MARK
    0x29: (file) => file.#push(file.#made([])), // EMPTY_TUPLE
    0x47: (file) => file.#push(file.#view.getFloat64(file.#take(8))), // BINFLOAT
    0x4a: (file) => file.#push(file.#view.getInt32(file.#take(4), true)), // BININT
    0x4b: (file) => file.#push(file.#uint(1)), // BININT1
    0x4d: (file) => file.#push(file.#uint(2)), // BININT2
    0x4e: (file) => file.#push(null), // NONE
    0x58: (file) => file.#push(file.#text(file.#uint(4))), // BINUNICODE
    0x5d: (file) => file.#push(file.#made([])), // EMPTY_LIST
    0x61: (file) => file.#append(file.#pop(1)), // APPEND
    [APPENDS]: (file) => file.#append(file.#sinceMark()),
    [BINGET]: (file) => file.#push(file.#recall(file.#uint(1))),
    [LONG_BINGET]: (file) => file.#push(file.#recall(file.#uint(4))),
    0x71: (file) => file.#remember(file.#uint(1)), // BINPUT
    0x72: (file) => file.#remember(file.#uint(4)), // LONG_BINPUT
    0x73: (file) => file.#setItems(file.#pop(2)), // SETITEM
    0x74: (file) => file.#push(file.#made(file.#sinceMark())), // TUPLE
    0x75: (file) => file.#setItems(file.#sinceMark()), // SETITEMS
    0x7d: (file) => file.#push(file.#made({})), // EMPTY_DICT
    0x80: (file) => file.#checkProtocol(file.#uint(1)), // PROTO
    0x85: (file) => file.#push(file.#made(file.#pop(1))), // TUPLE1
    0x86: (file) => file.#push(file.#made(file.#pop(2))), // TUPLE2
    0x87: (file) => file.#push(file.#made(file.#pop(3))), // TUPLE3
    0x88: (file) => file.#push(true), // NEWTRUE
    0x89: (file) => file.#push(false), // NEWFALSE
    0x8a: (file) => file.#push(file.#integer(file.#uint(1))), // LONG1
    0x8c: (file) => file.#push(file.#text(file.#uint(1))), // SHORT_BINUNICODE
    0x8d: (file) => file.#push(file.#text(file.#uint(8))), // BINUNICODE8
    0x94: (file) => file.#remember(file.#memo.length), // MEMOIZE
    0x95: (file) => file.#checkFrame(file.#uint(8)), // FRAME
  };
  /** Lists, tuples and dictionaries that were made. */
  containerCount = 0;
  /** The contents, once they were read. */
  value: unknown;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #offset = 0;
  readonly #stack: unknown[] = [];
  readonly #marks: number[] = [];
  readonly #memo: unknown[] = [];
  readonly #lists = new Map<number, SharedList[]>();
  /** Lists that may be in several places; frozen ones would be read at half the speed. */
  readonly #shared = new Set<unknown>();
  readonly #texts = new Map<string, string>();
  readonly #roomBytes: number;
  #usedBytes = 0;

  /** Begins at the start of a file. */
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#roomBytes = Math.max(MIN_MEMORY, MEMORY_FACTOR * bytes.byteLength);
  }

  /**
   * Reads so many bytes further, and returns whether that was the end.
   *
   * @throws SyntaxError whose message is the reason alone.
   */
  read(byteCount: number): boolean {
    const until = this.#offset + byteCount;
    while (this.#offset < until) {
      const code = this.#uint(1);
      if (code !== 0x2e) this.#obey(code);
      else {
        if (this.#stack.length !== 1 || this.#marks.length > 0) this.#fail("it stops too early");
        this.value = this.#stack[0];
        return true;
      }
    }
    return false;
  }

  #obey(code: number): void {
    const obey = PickleReader.#OPCODES[code];
    if (obey !== undefined) return obey(this);
    const name = RUNS_CODE.get(code);
    if (name === undefined) this.#fail(`opcode 0x${code.toString(16)} is not one of plain data`);
    const named = name === "GLOBAL"
      ? this.#decoder.decode(this.#bytes.subarray(this.#offset, this.#offset + 80)).split("\n", 2)
      : this.#stack.slice(-2).filter((each) => name === "STACK_GLOBAL" && typeof each === "string");
    const names = named.length === 0 ? "" : ` of ${visibleText(named.join("."))}`;
    this.#fail(`opcode ${name}${names} could run code, and a snapshot is plain data`);
  }

  #fail(reason: string): never {
    throw new SyntaxError(`${reason}, at byte ${this.#offset}`);
  }

  #checkProtocol(protocol: number): void {
    if (protocol >= 2 && protocol <= 5) return;
    this.#fail(`it is a pickle of protocol ${protocol}, expected 2 to 5`);
  }

  #checkFrame(byteLength: number): void {
    if (byteLength > this.#bytes.byteLength - this.#offset) this.#take(Infinity);
  }

  /** Goes past so many bytes, and returns where they begin. */
  #take(byteCount: number): number {
    const start = this.#offset;
    if (byteCount > this.#bytes.byteLength - start) {
      this.#fail(`it was cut off: its ${formatBytes(this.#bytes.byteLength)} are not all`);
    }
    this.#offset = start + byteCount;
    return start;
  }

  #uint(byteCount: 1 | 2 | 4 | 8): number {
    const at = this.#take(byteCount);
    if (byteCount === 1) return this.#view.getUint8(at);
    if (byteCount === 2) return this.#view.getUint16(at, true);
    if (byteCount === 4) return this.#view.getUint32(at, true);
    return Number(this.#view.getBigUint64(at, true));
  }

  /** Reads an integer whose lowest byte comes first, as two's complement. */
  #integer(byteCount: number): number | bigint {
    if (byteCount > 9) this.#fail(`an integer has ${byteCount} bytes`); // C++ has 8, one for the sign
    const start = this.#take(byteCount);
    const last = start + byteCount - 1;
    let value = byteCount === 0 ? 0 : this.#view.getInt8(last);
    for (let at = last - 1; at >= start; at--) value = 256 * value + this.#view.getUint8(at);
    if (Number.isSafeInteger(value)) return value;
    let large = 0n; // because rounding may have changed it
    for (let at = last; at >= start; at--) large = 256n * large + BigInt(this.#view.getUint8(at));
    return BigInt.asIntN(8 * byteCount, large);
  }

  #text(byteLength: number): string {
    const start = this.#take(byteLength);
    const text = this.#decoder.decode(this.#bytes.subarray(start, start + byteLength));
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    this.#spend(CONTAINER_BYTES + 2 * text.length);
    if (text.length <= MAX_SHARED_LENGTH) this.#texts.set(text, text);
    return text;
  }

  #spend(byteCount: number): void {
    this.#usedBytes += byteCount;
    if (this.#usedBytes <= this.#roomBytes) return;
    const room = formatBytes(this.#roomBytes);
    this.#fail(`it would take more than ${room} of memory, as no snapshot of its size does`);
  }

  #made<T extends object>(container: T): T {
    this.containerCount++;
    this.#spend(CONTAINER_BYTES + (Array.isArray(container) ? ITEM_BYTES * container.length : 0));
    return container;
  }

  #push(value: unknown): void {
    this.#spend(ITEM_BYTES);
    this.#stack.push(value);
  }

  /** Takes the topmost values, which no mark may separate. */
  #pop(count = 1): unknown[] {
    this.#requireValues(count);
    this.#usedBytes -= ITEM_BYTES * count;
    return this.#stack.splice(-count);
  }

  #sinceMark(): unknown[] {
    const mark = this.#marks.pop() ?? this.#fail("a mark is missing");
    this.#usedBytes -= ITEM_BYTES * (this.#stack.length - mark);
    return this.#stack.splice(mark);
  }

  #top(): unknown {
    this.#requireValues(1);
    return this.#stack.at(-1);
  }

  #requireValues(count: number): void {
    if (this.#stack.length - (this.#marks.at(-1) ?? 0) < count) this.#fail("a value is missing");
  }

  #append(items: unknown[]): void {
    const list = this.#top();
    if (!Array.isArray(list) || this.#shared.has(list)) {
      this.#fail("an item goes to what is no list");
    }
    this.#spend(ITEM_BYTES * items.length);
    for (const item of items) list.push(item);
  }

  #setItems(items: unknown[]): void {
    const target = this.#top();
    if (typeof target !== "object" || target === null || Array.isArray(target)) {
      this.#fail("a field goes to what is no dictionary");
    }
    if (items.length % 2 === 1) this.#fail("a field has no value");
    this.#spend(ITEM_BYTES * items.length);
    for (let index = 0; index < items.length; index += 2) {
      const key = items[index];
      if (typeof key !== "string" && typeof key !== "number") this.#fail("a key is no text");
      if (key === "__proto__") this.#fail("a key is __proto__");
      (target as Record<string, unknown>)[key] = items[index + 1];
    }
  }

  /** Notes the topmost value under the next number: Python leaves none out, and repeats none. */
  #remember(index: number): void {
    if (index !== this.#memo.length) this.#fail(`memo ${index} is out of turn`);
    this.#spend(ITEM_BYTES);
    this.#memo.push(this.#top());
  }

  #recall(index: number): unknown {
    if (index >= this.#memo.length) this.#fail(`memo ${index} is not known`);
    return this.#memo[index];
  }

  /**
   * Takes the items of a list that was just begun, if all are references to the memo, as the frames
   * of stacks are: the same bytes are the same list. Returns whether it did.
   */
  #takeReferences(): boolean {
    const list = this.#stack.at(-1);
    if (!Array.isArray(list) || list.length > 0 || this.#memo.at(-1) !== list) return false;
    const [bytes, view, start] = [this.#bytes, this.#view, this.#offset];
    const limit = bytes.byteLength - 5;
    let [end, hash, count] = [start, 0, 0];
    for (; count < BATCH && end < limit; count++) {
      const isShort = bytes[end] === BINGET;
      if (!isShort && bytes[end] !== LONG_BINGET) break;
      hash = Math.imul(
        hash ^ (isShort ? view.getUint8(end + 1) : view.getUint32(end + 1)),
        16777619,
      );
      end += isShort ? 2 : 5;
    }
    if (count === 0 || count === BATCH || bytes[end] !== APPENDS) return false;
    const alike = this.#lists.getOrInsertComputed(hash, () => []);
    let items = alike.find((other) => this.#isSame(other, start, end))?.items;
    if (items === undefined) {
      const found: unknown[] = [];
      while (this.#offset < end) {
        found.push(this.#recall(this.#uint(this.#uint(1) === BINGET ? 1 : 4)));
      }
      items = this.#made(found);
      this.#shared.add(items);
      if (alike.length < MAX_ALIKE) alike.push({ start, end, items });
    }
    this.#stack[this.#stack.length - 1] = items;
    this.#memo[this.#memo.length - 1] = items;
    this.#offset = end + 1;
    return true;
  }

  #isSame(other: SharedList, start: number, end: number): boolean {
    if (other.end - other.start !== end - start) return false;
    const [view, apart] = [this.#view, other.start - start];
    let at = start;
    for (; at <= end - 4; at += 4) {
      if (view.getUint32(at) !== view.getUint32(at + apart)) return false;
    }
    for (; at < end; at++) if (view.getUint8(at) !== view.getUint8(at + apart)) return false;
    return true;
  }
}
