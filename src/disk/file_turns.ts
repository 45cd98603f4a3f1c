// The order of what one program does with one file: calls have their effects in the order in which
// they were made. Reading goes on beside reading; writing comes after all before it.

/** Use of a file by a call: it is read, a new file replaces it, or its own bytes change. */
export type FileUse = "read" | "replace" | "change";

/** Turns of each file, in the order in which they were taken; over ones are left out. */
const lines = new Map<string, FileTurn[]>();

/** One use of a file, from the call to its end. */
export class FileTurn implements Disposable {
  readonly #path: string;
  readonly #use: FileUse;
  #isOver = false;
  /** Whether another file may replace this one already. */
  #isLingering = false;
  readonly #whenDue: (() => void)[] = [];

  /** Takes the next turn; the path is {@link realPathOf} the file. */
  constructor(path: string, use: FileUse) {
    this.#path = path;
    this.#use = use;
    const line = lines.get(path);
    if (line === undefined) lines.set(path, [this]);
    else line.push(this);
  }

  /** Whether all calls that it must come after are over. */
  get isDue(): boolean {
    for (const turn of lines.get(this.#path) ?? []) {
      if (turn === this) return true;
      if (turn.#holdsUp(this)) return false;
    }
    return true;
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
    this.#callNext();
  }

  /** Ends the turn; later ones may become due. A second call does nothing. */
  [Symbol.dispose](): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const line = lines.get(this.#path)?.filter((turn) => turn !== this) ?? [];
    if (line.length === 0) lines.delete(this.#path);
    else lines.set(this.#path, line);
    this.#callNext();
  }

  #callNext(): void {
    for (const turn of lines.get(this.#path) ?? []) {
      if (turn.isDue) { for (const action of turn.#whenDue.splice(0)) action(); }
    }
  }

  #holdsUp(later: FileTurn): boolean {
    if (this.#isLingering && this.#use !== "change") return later.#use === "change";
    return this.#use !== "read" || later.#use !== "read";
  }
}
