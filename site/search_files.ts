// What search needs in a browser: the library, and the list of what can be found.
// They are plain scripts that set a global, because a page that is a file may load no module or JSON.

import library from "npm:minisearch@7.2.0" with { type: "text" };
import { VARIABLES } from "./names.ts";
import type { Found } from "./page.ts";

/** The library as a script that sets `MiniSearch`. */
export function searchLibrary(): string {
  const exported = /export \{ MiniSearch as default \};/;
  if (!exported.test(library)) {
    throw new Error("Cannot use minisearch: its export has another form");
  }
  const script = library.replace(exported, "globalThis.MiniSearch = MiniSearch;")
    .replace(/\/\/# sourceMappingURL.*$/m, "");
  return `(() => {\n${script}\n})();\n`;
}

/** The list of what can be found, and whose methods `gpu.` and such mean, as a script. */
export function searchList(found: readonly Found[]): string {
  const rows = found.map((
    { name, where, kind, text, address },
  ) => [name, where, kind, text, address]);
  return [
    `globalThis.VRAMKIT_VARIABLES = ${JSON.stringify(VARIABLES)};`,
    `globalThis.VRAMKIT_FOUND = ${JSON.stringify(rows)};\n`,
  ].join("\n");
}
