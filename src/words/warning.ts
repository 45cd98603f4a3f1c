// Warnings, for failures that must not make anything else fail, such as those of a release. They go to
// the program's own functions where it has some, and else to the console.

/** Hears a warning: its text, and the object or the name of what it is about, if there is one. */
export type WarningListener = (text: string, about: unknown) => void;

/** The subject of a warning. */
export interface WarningSource {
  /** The context or the driver that it belongs to; without one, all listeners hear it. */
  readonly owner?: object | undefined;
  /** The object itself, or its name where it is gone. */
  readonly about?: unknown;
}

/** The listeners, each with the context and the driver whose warnings it hears. */
const registered = new Map<
  object,
  { readonly owners: readonly object[]; readonly listener: WarningListener }
>();

/** Has a function hear the warnings of the owners, of which the first one names it; undefined ends that. */
export function listenToWarnings(
  owners: readonly [object, ...object[]],
  listener: WarningListener | undefined,
): void {
  const [key] = owners;
  if (listener === undefined) registered.delete(key);
  else registered.set(key, { owners, listener });
}

/** Returns the function that hears the warnings of an owner. */
export function listenerOf(owner: object): WarningListener | undefined {
  return registered.get(owner)?.listener;
}

/** Tells a warning; on a console that cannot be written, as on a full disk, it is lost. */
export function warn(text: string, { owner, about }: WarningSource = {}): void {
  const listeners = [...registered.values()]
    .filter(({ owners }) => owner === undefined || owners.includes(owner))
    .map(({ listener }) => listener);
  if (listeners.length === 0) return print(text);
  for (const listener of new Set(listeners)) hear(listener, text, about);
}

/** Calls a program's function, whose failure must not fail anything else: it is printed. */
function hear(listener: WarningListener, text: string, about: unknown): void {
  const failed = (error: unknown) => {
    print(text);
    print(`onWarning() failed: ${error}`);
  };
  try {
    Promise.resolve(listener(text, about) as unknown).catch(failed);
  } catch (error) {
    failed(error);
  }
}

function print(text: string): void {
  printOrLose(() => console.warn(`vramkit: ${text}`));
}

/** Prints something, and ignores a failure to print it. */
export function printOrLose(print: () => void): void {
  try {
    print();
  } catch {
    // There is nobody left to tell.
  }
}
