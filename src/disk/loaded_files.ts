// The files that a program loads while somebody asks for them: whoever keeps the result can tell later
// what it was made of.

import type { AsyncLocalStorage } from "node:async_hooks";
import { builtin } from "../words/builtin.ts";

/** A file, and the facts by which a change of it shows. */
export interface LoadedFile {
  /** Its path, absolute and without links. */
  readonly path: string;
  /** Its size in bytes. */
  readonly byteLength: number;
  /** Time of the last change of its contents, in milliseconds since 1970. */
  readonly modifiedAt: number;
}

/** Takes each file that is opened for reading. */
type NoteLoaded = (file: LoadedFile) => void;

/** Made when somebody first asks; before, loads cost nothing. */
let listeners: AsyncLocalStorage<NoteLoaded> | undefined;

/** Returns who asks for the files that the function loads which runs now. */
export function loadListener(): NoteLoaded | undefined {
  return listeners?.getStore();
}

/** Runs a function and tells of each file that it loads, also after an `await`. */
export function listenToLoads<T>(note: NoteLoaded, body: () => T): T {
  listeners ??= new (builtin("node:async_hooks").AsyncLocalStorage)<NoteLoaded>();
  return listeners.run(note, body);
}
