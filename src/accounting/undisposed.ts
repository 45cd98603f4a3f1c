// What the garbage collector had to give back because nobody disposed it: counted, and said once for
// each place, since one forgotten line in a loop would otherwise fill the console.

import { formatBytes } from "../format.ts";

/** A block that was collected. */
export interface LostBlock {
  /** Its number in this process. */
  readonly id: number;
  /** Its label, or its kind and number. */
  readonly name: string;
  /** What kind of memory it was. */
  readonly kind: string;
  /** Its size in bytes. */
  readonly byteLength: number;
  /** Where it was made, when that is known. */
  readonly origin: string | undefined;
}

/** Counts and reports blocks that died undisposed. */
export class Undisposed {
  /** Called with each block that was collected. */
  readonly listeners: Set<(block: LostBlock) => void> = new Set();
  readonly #reported = new Set<string>();
  #count = 0;
  #byteLength = 0;

  /** How many blocks so far. */
  get count(): number {
    return this.#count;
  }

  /** Bytes they held together. */
  get byteLength(): number {
    return this.#byteLength;
  }

  /** Counts a block, and warns when it is the first of its origin, or of its kind without one. */
  note(block: LostBlock): void {
    const { name, kind, byteLength, origin } = block;
    for (const listener of this.listeners) listener(block);
    this.#count++;
    this.#byteLength += byteLength;
    const source = origin ?? kind;
    if (this.#reported.has(source)) return;
    this.#reported.add(source);
    const made = origin === undefined ? "" : ` made at ${origin}`;
    const hint = origin === undefined
      ? `; open the device with { origins: "line" } to see where`
      : "";
    console.warn(
      `vramkit: ${name} (${formatBytes(byteLength)} of ${kind} memory)${made} was ` +
        `garbage-collected, not disposed; use "using", dispose() or gpu.scope()${hint}`,
    );
  }
}
