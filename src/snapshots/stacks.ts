// The stacks of a snapshot, each kept once, and a short name for each: the innermost line that is the
// program's own and not a library's.

import { cut, describeValue, visibleText } from "../words/format.ts";
import { isRecord } from "../words/options.ts";

/** One line of a stack. */
export interface SnapshotFrame {
  /** Path of the source, as the snapshot has it. */
  readonly filename: string;
  /** Line in the source; 0 where it is not known. */
  readonly line: number;
  /** Function. */
  readonly name: string;
}

/** The place where memory was allocated. */
export interface SnapshotStack {
  /** Name for legends: the innermost line of the program's own, such as `"forward model.py:42"`. */
  readonly name: string;
  /** The lines, innermost first; none where nothing was recorded. */
  readonly frames: readonly SnapshotFrame[];
}

/** The stack of memory for which none was recorded. */
export const NO_STACK: SnapshotStack = { name: "no stack recorded", frames: [] };

/** The stack of memory that the history frees and never allocates. */
export const BEFORE: SnapshotStack = { name: "allocated before the history", frames: [] };

const LIBRARY = /\b(site|dist)-packages\b|\/lib\/python\d|\/torch\/|<frozen|<eval_with_key>/;
const SCRIPT = /\.(py|pyx|ts|tsx|js|mjs)$|ipykernel|<(stdin|string|ipython)|^cell\b/;
/** Functions of allocators and of Python's interpreter. */
const NOISE = /unwind|[Aa]lloc|gather|^\?\?$|^(_?Py[A-Z_]|_start|__libc_start)/;
const MAX_NAME_LENGTH = 44;
const SHOWN_FRAMES = 14;
/** Two names of this length fit beside each other below a narrow plot. */
const MAX_LEGEND_LENGTH = 34;

/** A frame that is kept, and two letters that stand for it. */
interface KeptFrame {
  readonly frame: SnapshotFrame;
  readonly letters: string;
}

/** A frame of the file bears its equal that is kept: a field is found sooner than in a map. */
const KEPT = Symbol("kept");

/** Keeps each stack once, whether or not the file repeats it. */
export class StackIndex {
  readonly #frames = new Map<string, KeptFrame>();
  readonly #stacks = new Map<unknown, SnapshotStack>();

  /** Returns the stack of a list of frames. */
  of(list: unknown): SnapshotStack {
    if (!Array.isArray(list) || list.length === 0) return NO_STACK;
    return this.#stacks.getOrInsertComputed(list, () => {
      const frames: SnapshotFrame[] = [];
      let text = "";
      for (const raw of list) {
        const { frame, letters }: KeptFrame = raw?.[KEPT] ?? this.#add(raw);
        frames.push(frame);
        text += letters;
      }
      return this.#stacks.getOrInsertComputed(text, () => ({ name: nameOf(frames), frames }));
    });
  }

  /** Returns the equal of a frame that was not seen before, or keeps it. */
  #add(raw: unknown): KeptFrame {
    const { filename = "", line = 0, name = "" } = isRecord(raw) ? raw : {};
    const frame = {
      filename: textOf("filename", filename),
      line: Number.isSafeInteger(line) ? line as number : 0,
      name: textOf("name", name),
    };
    const count = this.#frames.size;
    const kept = this.#frames.getOrInsertComputed(
      `${frame.line} ${frame.name}\n${frame.filename}`,
      () => ({ frame, letters: String.fromCharCode(count, count >>> 16) }),
    );
    if (isRecord(raw)) Object.assign(raw, { [KEPT]: kept });
    return kept;
  }
}

/**
 * Returns a text of a file, with its control characters written.
 *
 * @throws SyntaxError when it is none; the message is the reason alone.
 */
export function textOf(key: string, value: unknown): string {
  return typeof value === "string" ? visibleText(value) : refuse(key, value);
}

/** Throws the error for a field of another form. */
export function refuse(key: string, value: unknown): never {
  throw new SyntaxError(`${key} is ${describeValue(value)}, which no snapshot of PyTorch has`);
}

/** Writes a stack as lines, innermost first. */
export function linesOf({ name, frames }: SnapshotStack): string[] {
  const told = frames.filter((frame) => SCRIPT.test(frame.filename) || !NOISE.test(frame.name));
  const lines = told.length === 0 ? [name] : told.slice(0, SHOWN_FRAMES).map(frameText);
  return told.length > SHOWN_FRAMES ? [...lines, `and ${told.length - SHOWN_FRAMES} more`] : lines;
}

function nameOf(frames: readonly SnapshotFrame[]): string {
  const isScript = ({ filename }: SnapshotFrame) => SCRIPT.test(filename);
  const own = frames.find((frame) => isScript(frame) && !LIBRARY.test(frame.filename)) ??
    frames.find(isScript) ?? frames.find(({ name }) => !NOISE.test(name)) ?? frames[0];
  return own === undefined ? NO_STACK.name : frameText(own);
}

function frameText({ filename, line, name }: SnapshotFrame): string {
  const file = cut(filename.slice(filename.lastIndexOf("/") + 1), MAX_NAME_LENGTH);
  const place = line > 0 ? `${file}:${line}` : SCRIPT.test(filename) ? file : "";
  return `${cut(name, MAX_NAME_LENGTH)} ${place}`.trim();
}

/** Names stacks for a legend, the second of one name with a number. */
export function namesOf(stacks: readonly SnapshotStack[]): ReadonlyMap<SnapshotStack, string> {
  const counts = new Map<string, number>();
  return new Map(stacks.map((stack) => {
    const count = (counts.get(stack.name) ?? 0) + 1;
    counts.set(stack.name, count);
    const name = cut(stack.name, MAX_LEGEND_LENGTH);
    return [stack, count === 1 ? name : `${name} (${count})`];
  }));
}
