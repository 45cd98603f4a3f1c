// The order of what one program does with one file: calls have their effects in the order in which
// they were made. Reading goes on beside reading; writing comes after all before it.

import { fileNameOf, folderOf } from "./file_path.ts";

/** Use of a file by a call: it is read, a new file replaces it, or its own bytes change. */
type FileUse = "read" | "replace" | "change";

/** The turns of a file, in the order in which they were taken; over ones are left out. */
interface FileLine {
  /** Those that are due; all others come after them. */
  readonly due: Set<FileTurn>;
  /** Those that are not; where one has to wait, so have all after it. */
  readonly waiting: Set<FileTurn>;
  /** Turns become due just now. */
  isMoving: boolean;
}

const lines = new Map<string, FileLine>();

/** One use of a file, from the call to its end. */
export class FileTurn implements Disposable {
  readonly #path: string;
  readonly #use: FileUse;
  readonly #line: FileLine;
  /** Another file may replace this one already. */
  #isLingering = false;
  readonly #whenDue: (() => void)[] = [];

  /** Takes the next turn; the path is {@link realPathOf} the file. */
  constructor(path: string, use: FileUse) {
    this.#path = path;
    this.#use = use;
    this.#line = lines.getOrInsertComputed(
      path,
      () => ({ due: new Set(), waiting: new Set(), isMoving: false }),
    );
    this.#line.waiting.add(this);
    this.#moveOn();
  }

  /** Names the files that turns are to write into a folder, whose path has no links. */
  static namesToCome(folder: string): string[] {
    const paths = [...lines].filter(([path, { due, waiting }]) => {
      return folderOf(path) === folder && [...due, ...waiting].some((turn) => turn.#use !== "read");
    });
    return paths.map(([path]) => fileNameOf(path));
  }

  /** Tells whether all calls that it must come after are over. */
  get isDue(): boolean {
    return !this.#line.waiting.has(this);
  }

  /** Calls `action` when the turn is due, at once if it is; never when it ends before. */
  whenDue(action: () => void): void {
    if (this.isDue) action();
    else this.#whenDue.push(action);
  }

  /** Resolves when it is due; rejects with the signal's reason when that comes first. */
  async due(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (this.isDue) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const abort = () => reject(signal?.reason);
    signal?.addEventListener("abort", abort, { once: true });
    this.whenDue(resolve);
    try {
      await promise;
    } finally {
      signal?.removeEventListener("abort", abort);
    }
  }

  /**
   * Notes that another file may replace this one: it is open for reading, or it is written and only
   * threads are left that write the same bytes once more.
   */
  linger(): void {
    this.#isLingering = true;
    this.#moveOn();
  }

  /** Ends the turn; later ones may become due. A second call does nothing. */
  [Symbol.dispose](): void {
    const { due, waiting } = this.#line;
    if (!due.delete(this) && !waiting.delete(this)) return;
    if (due.size + waiting.size === 0) lines.delete(this.#path);
    this.#moveOn();
  }

  /** Calls the actions of turns that have become due, in a loop: an action may let the next turn go. */
  #moveOn(): void {
    const line = this.#line;
    if (line.isMoving) return;
    line.isMoving = true;
    try {
      for (const turn of line.waiting) {
        if (line.due.values().some((earlier) => earlier.#holdsUp(turn))) return;
        line.waiting.delete(turn);
        line.due.add(turn);
        for (const action of turn.#whenDue.splice(0)) action();
      }
    } finally {
      line.isMoving = false;
    }
  }

  #holdsUp(later: FileTurn): boolean {
    if (this.#isLingering && this.#use !== "change") return later.#use === "change";
    return this.#use !== "read" || later.#use !== "read";
  }
}
