// Blocks that the garbage collector released because the program did not dispose them: counted, and
// reported once for each place, since a forgotten line in a loop would otherwise fill the console.

import { formatBytes } from "../words/format.ts";
import { warn } from "../words/warning.ts";

/** A block that was collected. */
export interface LostBlock {
  /** Its number in this process. */
  readonly id: number;
  /** Its label, or its kind and number. */
  readonly name: string;
  readonly kind: string;
  readonly byteLength: number;
  /** Place where it was created; undefined when unknown. */
  readonly origin: string | undefined;
}

/** The words of warnings about where a block was made, behind its name; none when that is unknown. */
export function madeAt({ origin }: Pick<LostBlock, "origin">): string {
  return origin === undefined ? "" : ` made at ${origin}`;
}

/** Counts and reports blocks that were collected without being disposed. */
export class Undisposed {
  /** Called with each block that was collected. */
  readonly listeners: Set<(block: LostBlock) => void> = new Set();
  readonly #reported = new Set<string>();
  #count = 0;
  #byteLength = 0;

  /** Number of blocks so far. */
  get count(): number {
    return this.#count;
  }

  /** Bytes that they held together. */
  get byteLength(): number {
    return this.#byteLength;
  }

  /**
   * Counts a block of a context, `owner`, and warns when it is the first one of its place, or of its kind when the place
   * is unknown. One without bytes, such as a lazy buffer that was never used, has lost nothing: it must
   * not take another's warning.
   */
  note(block: LostBlock, owner?: object): void {
    const { name, kind, byteLength, origin } = block;
    for (const listener of this.listeners) listener(block);
    this.#count++;
    this.#byteLength += byteLength;
    const source = origin ?? kind;
    if (byteLength === 0 || this.#reported.has(source)) return;
    this.#reported.add(source);
    const hint = origin === undefined
      ? `; open the device with { origins: "line" } to see where`
      : "";
    warn(
      `${name} (${formatBytes(byteLength)} of ${kind} memory)${madeAt(block)} was ` +
        `garbage-collected, not disposed; use "using", dispose() or gpu.scope()${hint}`,
      { owner, about: block },
    );
  }
}
