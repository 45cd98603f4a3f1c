// The kit type-checks in programs with other compiler settings than its own: Deno checks what a file
// imports by the settings of the program, so each of them meets every line of the kit.

import { assertEquals } from "@std/assert";
import { runDeno, TemporaryFolder } from "../support/child_deno.ts";
import { PROJECT_ROOT } from "../support/project_files.ts";

const BOTH = { "mod.ts": "CudaDevice", "src/notebook/mod.ts": "show" };

/** Compiler settings that programs have in their deno.json, and what is imported under them. */
const SETTINGS: Readonly<Record<string, Settings>> = {
  "no settings": { entries: BOTH, compilerOptions: {} },
  "the libraries of a web page": {
    entries: BOTH,
    compilerOptions: { lib: ["dom", "dom.iterable", "dom.asynciterable", "deno.ns"] },
  },
  "the library of a worker": { entries: BOTH, compilerOptions: { lib: ["deno.worker"] } },
  // Not the notebook's entry: svg_text_boxes.ts still ends a function without a return.
  "noImplicitReturns": {
    entries: { "mod.ts": "CudaDevice" },
    compilerOptions: { noImplicitReturns: true },
  },
  "every other strict option": {
    entries: BOTH,
    compilerOptions: {
      exactOptionalPropertyTypes: true,
      noFallthroughCasesInSwitch: true,
      noImplicitOverride: true,
      noPropertyAccessFromIndexSignature: true,
      noUncheckedIndexedAccess: true,
      noUnusedLocals: true,
      noUnusedParameters: true,
      verbatimModuleSyntax: true,
    },
  },
};

interface Settings {
  /** A name that each entry exports, by the entry's path. */
  readonly entries: Readonly<Record<string, string>>;
  readonly compilerOptions: Readonly<Record<string, unknown>>;
}

for (const [name, { entries, compilerOptions }] of Object.entries(SETTINGS)) {
  Deno.test(`import of ${Object.keys(entries).join(" and ")} passes the check with ${name}`, async () => {
    using folder = new TemporaryFolder();
    folder.write("deno.json", JSON.stringify({ compilerOptions }));
    const lines = Object.entries(entries).map(([path, value]) =>
      `import { ${value} } from "${new URL(path, PROJECT_ROOT)}"; console.log(${value});\n`
    );
    const args = ["check", "--quiet", "--no-lock", folder.write("program.ts", lines.join(""))];
    const { code, stderr } = await runDeno(args, { cwd: folder.path });
    assertEquals({ code, stderr }, { code: 0, stderr: "" });
  });
}
