// The kit type-checks in programs with other compiler settings than its own: Deno checks what a file
// imports by the settings of the program, so each of them meets every line of the kit.

import { assertEquals } from "@std/assert";
import config from "../../deno.json" with { type: "json" };
import { runDeno } from "../support/child_deno.ts";
import { ON_GPU } from "../support/driver.ts";
import { PROJECT_ROOT } from "../support/project_files.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { testOfAll } from "../support/test_unless.ts";

/** A name that each entry exports, by the entry's path. */
const ENTRIES = {
  "mod.ts": "CudaDevice",
  "src/entries/group.ts": "DeviceGroup",
  "src/entries/kernels.ts": "readOnly",
  "src/entries/memory.ts": "CachingResourceAdaptor",
  "src/entries/gguf.ts": "loadGguf",
  "src/entries/numpy.ts": "loadNpz",
  "src/entries/persist.ts": "PersistError",
  "src/entries/python.ts": "PythonError",
  "src/entries/safetensors.ts": "readSafetensorsHeader",
  "src/entries/sharing.ts": "TicketError",
  "src/entries/simulated.ts": "simulateDriver",
  "src/entries/testing.ts": "withoutLeaks",
  "src/notebook/mod.ts": "show",
  "src/bench/mod.ts": "transferBench",
};

/** Compiler settings that programs have in their deno.json, and what is imported under them. */
const SETTINGS: Readonly<Record<string, Settings>> = {
  "no settings": { compilerOptions: {} },
  "the libraries of a web page": {
    compilerOptions: { lib: ["dom", "dom.iterable", "dom.asynciterable", "deno.ns"] },
  },
  "the library of a worker": { compilerOptions: { lib: ["deno.worker"] } },
  "returns in every branch": { compilerOptions: { noImplicitReturns: true } },
  "every other strict option": {
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
  readonly compilerOptions: Readonly<Record<string, unknown>>;
}

Deno.test("every entry for programs is checked with other settings", () => {
  const { "./cli": cli, ...entries } = config.exports;
  assertEquals(cli, "./src/cli.ts");
  assertEquals(
    Object.keys(ENTRIES).map((path) => `./${path}`).sort(),
    Object.values(entries).sort(),
  );
});

// The check loads types from npm, which a machine with a GPU may have no way to.
for (const [name, { compilerOptions }] of ON_GPU ? [] : Object.entries(SETTINGS)) {
  testOfAll(`import of every entry passes the check with ${name}`, async () => {
    using folder = new TemporaryFolder();
    folder.write("deno.json", JSON.stringify({ compilerOptions }));
    const lines = Object.entries(ENTRIES).map(([path, value]) =>
      `import { ${value} } from "${new URL(path, PROJECT_ROOT)}"; console.log(${value});\n`
    );
    const args = ["check", "--quiet", "--no-lock", folder.write("program.ts", lines.join(""))];
    const { code, stderr } = await runDeno(args, { cwd: folder.path });
    assertEquals({ code, stderr }, { code: 0, stderr: "" });
  });
}
