// How a driver call is written down without a machine's addresses and handles: one line of words,
// `cuMemsetD8Async a+16 7 64 s`, where `a` and `s` name what earlier steps have made.

/** A step of a sequence: the function and its arguments, and in a script what is expected of it. */
export interface Step {
  /** The driver function, or something that the recorder itself does. */
  readonly call: string;
  readonly words: readonly string[];
  /** Whether it is made although it looks dangerous, because a script knows better. */
  readonly isForced: boolean;
  /** The status and outputs that a script expects; undefined where nothing is said. */
  readonly expected: string | undefined;
}

/** A sequence of steps with a name. */
export interface Sequence {
  /** Its name in reports. */
  readonly id: string;
  /** Whether it starts in a new process, where no context was made. */
  readonly isFresh: boolean;
  /** The steps, as they are written. */
  readonly lines: readonly string[];
}

/** Reads a step. Words have no spaces; ` = ` comes before what is expected, `!` forces the step. */
export function parseStep(line: string): Step {
  const [head = "", ...rest] = line.split(" ");
  const isForced = head.startsWith("!");
  const call = isForced ? head.slice(1) : head;
  const equals = rest.indexOf("=");
  if (equals < 0) return { call, isForced, words: rest, expected: undefined };
  const expected = rest.slice(equals + 1).join(" ");
  return { call, isForced, words: rest.slice(0, equals), expected };
}

/** Splits a list at its commas, and leaves those inside brackets alone: `a,{b:1,c:2}` has two parts. */
export function splitList(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let index = 0; index < text.length; index++) {
    const letter = text[index] ?? "";
    if ("[{(".includes(letter)) depth++;
    if ("]})".includes(letter)) depth--;
    if (letter !== "," || depth > 0) continue;
    parts.push(text.slice(start, index));
    start = index + 1;
  }
  return text === "" ? [] : [...parts, text.slice(start)];
}

/**
 * Reads a name with a distance, such as `a+16`, where a leading `~` asks for what is gone; undefined for
 * any other word.
 */
export function parseReference(
  word: string,
): { readonly name: string; readonly offset: number; readonly isGone: boolean } | undefined {
  const found = /^(~?)([a-z][A-Za-z0-9]*)(?:([+-])(\d+))?$/.exec(word);
  if (found === null) return undefined;
  const [, gone, name = "", sign, digits = "0"] = found;
  return { name, offset: sign === "-" ? -Number(digits) : Number(digits), isGone: gone === "~" };
}

/** Lists the names in an argument, such as `a` and `h` in `[a,h+8]`. */
export function namesIn(word: string): string[] {
  if (word.startsWith('"') || word.startsWith("<")) return [];
  // The names of a struct's members are followed by a colon.
  const names = word.matchAll(/(?<![A-Za-z0-9.])~?([a-z][A-Za-z0-9]*)(?![A-Za-z0-9.:])/g);
  return [...names].map(([, name = ""]) => name);
}

/** Writes bytes as runs: `07*64,00*16`. */
export function formatBytes(bytes: Uint8Array): string {
  const runs: string[] = [];
  for (let start = 0; start < bytes.byteLength;) {
    let end = start + 1;
    while (end < bytes.byteLength && bytes[end] === bytes[start]) end++;
    runs.push(`${(bytes[start] ?? 0).toString(16).padStart(2, "0")}*${end - start}`);
    start = end;
  }
  return runs.join(",");
}
