// A file that is read: found when the call is made, opened when earlier calls of the program have
// written it, and not changed by later ones until it is closed.

import { withCallers } from "../words/callers.ts";
import { DiskFile } from "./disk_file.ts";
import { checkRegular, factsAt, factsBehind, factsOf } from "./file_facts.ts";
import { type FilePath, pathOf, readLink, realPathOf, requireAccess } from "./file_path.ts";
import { FileTurn } from "./file_turns.ts";
import { type LoadedFile, loadListener } from "./loaded_files.ts";
import { openByDeno } from "./system_error.ts";
import { visibleText } from "../words/format.ts";

/** A file that is open for reading, and its size at that moment. */
export interface OpenedFile {
  /** The file; it belongs to the reading. */
  readonly file: DiskFile;
  /** Size in bytes that the system reports: 0 for a file that is generated as it is read. */
  readonly byteLength: number;
}

/** One reading of a file, from the call to its end. */
export class FileReading implements Disposable {
  readonly path: string;
  readonly #turn: FileTurn;
  /** Tells whoever asks which files are loaded; nobody, mostly. */
  #note: ((facts: Omit<LoadedFile, "path">) => void) | undefined;
  /** The file, or the error of opening it, once it is due. */
  #outcome: OpenedFile | { readonly error: unknown } | undefined;

  /**
   * Finds the file, takes its turn, and opens it as soon as that has come: from then on another file
   * may take its place.
   *
   * @throws Deno.errors.NotCapable without `--allow-read`.
   * @throws Deno.errors.NotFound when its folder does not exist.
   */
  constructor(path: FilePath) {
    this.path = pathOf(path);
    requireAccess(this.path, "read");
    const realPath = realPathOf(this.path);
    const listener = loadListener();
    if (listener !== undefined) this.#note = (facts) => listener({ path: realPath, ...facts });
    this.#turn = new FileTurn(realPath, "read");
    this.#turn.whenDue(() => this.#open());
  }

  /** Tells whether earlier calls have written all their bytes into the file. */
  get isDue(): boolean {
    return this.#outcome !== undefined;
  }

  /**
   * Opens the file as soon as that is due; rejects with the signal's reason when that comes first.
   *
   * @throws Deno.errors.NotFound when it does not exist.
   * @throws TypeError when it is a folder, a pipe or a device.
   */
  async opened(signal?: AbortSignal): Promise<OpenedFile> {
    if (this.#outcome === undefined) await this.#turn.due(signal);
    return this.open();
  }

  /** Opens the file when it is due. */
  open(): OpenedFile {
    const outcome = this.#outcome;
    if (outcome === undefined) {
      throw new Error(`Cannot open ${visibleText(this.path)}: it is being written`);
    }
    if ("error" in outcome) throw outcome.error;
    return outcome;
  }

  /** Closes the file: later calls may write into it. A second time does nothing. */
  [Symbol.dispose](): void {
    if (this.#outcome !== undefined && "file" in this.#outcome) {
      this.#outcome.file[Symbol.dispose]();
    }
    this.#turn[Symbol.dispose]();
  }

  #open(): void {
    try {
      this.#outcome = withCallers(() => openFile(this.path, this.#note));
    } catch (error) {
      this.#outcome = { error };
    }
    this.#turn.linger();
  }
}

function openFile(
  path: string,
  note: ((facts: Omit<LoadedFile, "path">) => void) | undefined,
): OpenedFile {
  const facts = factsBehind(path);
  if (facts === undefined) {
    throw new Deno.errors.NotFound(`Cannot open ${visibleText(path)}: ${whyNotThere(path)}`);
  }
  checkRegular(path, facts); // opening a pipe would wait
  openByDeno(path, { read: true }); // says the last word, as for /proc
  using undo = new DisposableStack();
  const file = undo.use(new DiskFile(path, "read", { followsLinks: true }));
  const opened = factsOf(file.descriptor, path);
  checkRegular(path, opened);
  const { byteLength, modifiedAt } = opened;
  note?.({ byteLength, modifiedAt });
  undo.move();
  return { file, byteLength };
}

function whyNotThere(path: string): string {
  if (factsAt(path)?.kind === "link") {
    return `it is a link to ${visibleText(readLink(path) ?? "")}, which does not exist`;
  }
  const unescaped = unescapedPath(path);
  if (unescaped === undefined) return "it does not exist";
  const words = "pass a URL, or its path without escapes";
  return `it does not exist, but ${visibleText(unescaped)} is; ${words}`;
}

/** The file that a path means when somebody took it from a URL as it is written there. */
function unescapedPath(path: string): string | undefined {
  try {
    const unescaped = decodeURIComponent(path);
    if (unescaped === path) return undefined;
    const { state } = Deno.permissions.querySync({ name: "read", path: unescaped });
    return state === "granted" && factsAt(unescaped) !== undefined ? unescaped : undefined;
  } catch {
    return undefined;
  }
}
