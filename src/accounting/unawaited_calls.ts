// The errors of calls that nobody awaited. In notebooks they are printed: Deno's kernel does not show
// them, so a forgotten `await` before an upload would look like success.

import { inNotebook } from "./notebook_kernel.ts";
import { OWN_FILES } from "./origin.ts";

/** Errors of calls whose reason the program is told by another error. */
const toldElsewhere = new WeakSet<Error>();
let isListening = false;

/** Begins to print such errors, in a notebook; a second call does nothing. */
export function tellUnawaited(): void {
  if (inNotebook()) listen();
}

/** Keeps a call's error from ending the program when nobody awaits the call. */
export function tellElsewhere(error: Error): void {
  toldElsewhere.add(error);
  listen();
}

/** Takes {@link tellElsewhere} back for an error that is thrown after all. */
export function tellAfterAll(error: unknown): void {
  toldElsewhere.delete(error as Error);
}

function listen(): void {
  if (!isListening) globalThis.addEventListener("unhandledrejection", hear);
  isListening = true;
}

function hear(event: PromiseRejectionEvent): void {
  const { reason } = event;
  if (toldElsewhere.delete(reason)) return event.preventDefault();
  if (!inNotebook()) return;
  if (!(reason instanceof Error) || reason.stack?.includes(OWN_FILES) !== true) return;
  console.error(`vramkit: a call that was not awaited failed: ${reason.message}`);
}
