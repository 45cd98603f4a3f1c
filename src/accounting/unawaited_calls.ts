// Prints errors of calls that nobody awaited, in notebooks: Deno's kernel does not show them, so a
// forgotten `await` before an upload would look like success.

import { inNotebook } from "./notebook_kernel.ts";
import { OWN_FILES } from "./origin.ts";

let isTelling = false;

/** Begins to print such errors, in a notebook; a second call does nothing. */
export function tellUnawaited(): void {
  if (isTelling || !inNotebook()) return;
  isTelling = true;
  globalThis.addEventListener("unhandledrejection", ({ reason }) => {
    if (!(reason instanceof Error) || reason.stack?.includes(OWN_FILES) !== true) return;
    console.error(`vramkit: a call that was not awaited failed: ${reason.message}`);
  });
}
