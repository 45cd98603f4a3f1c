// The order of what one program does with one file: calls have their effects in the order in which
// they were made. Reading goes on beside reading; writing comes after all before it.

import type { FileAccess } from "./file_path.ts";

/** Turns of each file, in the order in which they were taken; over ones are left out. */
const lines = new Map<string, FileTurn[]>();

/** One use of a file, from the call to its end. */
export class FileTurn implements Disposable {
  readonly #path: string;
  readonly #access: FileAccess;
  #isOver = false;
  readonly #due = Promise.withResolvers<void>();

  /** Takes the next turn; the path is {@link realPathOf} the file. */
  constructor(path: string, access: FileAccess) {
    this.#path = path;
    this.#access = access;
    const line = lines.get(path);
    if (line === undefined) lines.set(path, [this]);
    else line.push(this);
  }

  /** Whether all that it has to come after is over. */
  get isDue(): boolean {
    for (const turn of lines.get(this.#path) ?? []) {
      if (turn === this) return true;
      if (this.#access === "write" || turn.#access === "write") return false;
    }
    return true;
  }

  /** Resolves when it is due; rejects with the signal's reason when that comes first. */
  async due(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (this.isDue) return;
    const { promise, reject } = Promise.withResolvers<void>();
    const abort = () => reject(signal?.reason);
    signal?.addEventListener("abort", abort, { once: true });
    try {
      await Promise.race([this.#due.promise, promise]);
    } finally {
      signal?.removeEventListener("abort", abort);
    }
  }

  /** Ends it: who came after may be due. A second time does nothing. */
  [Symbol.dispose](): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const line = lines.get(this.#path)?.filter((turn) => turn !== this) ?? [];
    if (line.length === 0) lines.delete(this.#path);
    else lines.set(this.#path, line);
    for (const turn of line) if (turn.isDue) turn.#due.resolve();
  }
}
