// The size of the house: what it takes to load, to read and to know. `deno test -A` prints the counts;
// each may shrink, and whoever lets one grow says why by raising its limit here.

import { assertLessOrEqual } from "@std/assert";
import config from "../../deno.json" with { type: "json" };
import { CudaDevice } from "../../mod.ts";
import { denoJson } from "../support/child_deno.ts";
import { PROJECT_ROOT, projectFiles } from "../support/project_files.ts";

const sources = ["src/", "ffi/"].flatMap((folder) => projectFiles([".ts", ".cu"], folder))
  .filter(({ path }) => !path.includes("/generated/"));

/** The counts, each with the most that it may be. */
const COUNTS: Readonly<
  Record<string, { readonly most: number; count(): number | Promise<number> }>
> = {
  // Reports of machines, snapshots of PyTorch, small floats, GGUF, the hub's folders and models from streams
  // are 6,900 lines in 40 files with 60 names, of which 3,400 lines were taken off elsewhere.
  "lines of src and ffi": {
    most: 79_890,
    count: () => sources.reduce((sum, { text }) => sum + text.split("\n").length - 1, 0),
  },
  "files of src and ffi": { most: 548, count: () => sources.length },
  "modules that an import of mod.ts runs": { most: 394, count: () => modulesRun("mod.ts") },
  "members of CudaDevice": { most: 75, count: memberCount },
  "public names of all entries": { most: 418, count: publicNameCount },
  "words of ARCHITECTURE.md": {
    most: 2200,
    count: () =>
      Deno.readTextFileSync(new URL("ARCHITECTURE.md", PROJECT_ROOT)).split(/\s+/).length - 1,
  },
  "tasks": { most: 20, count: () => Object.keys(config.tasks).length },
};

for (const [name, { most, count }] of Object.entries(COUNTS)) {
  Deno.test(`the house has no more than ${most} ${name}`, async () => {
    const found = await count();
    console.log(`${found} ${name}`);
    assertLessOrEqual(found, most);
  });
}

/** Counts the members that are not deprecated, static ones included. */
function memberCount(): number {
  const [text = ""] = sources.filter(({ path }) => path === "src/device/device.ts")
    .map(({ text }) => text);
  const names = [CudaDevice, CudaDevice.prototype].flatMap((holder) =>
    Object.getOwnPropertyNames(holder)
  ).filter((name) => !/^(constructor|length|name|prototype)$/.test(name));
  const deprecated = [
    ...text.matchAll(/@deprecated(?:(?!\*\/)[^])*\*\/\s+(?:static |async |get )*(\w+)/g),
  ];
  return new Set(names).size - deprecated.length;
}

/** Counts the names that the entries export, types included. */
async function publicNameCount(): Promise<number> {
  const files = Object.values(config.exports);
  const { nodes } = await denoJson<{ nodes: Record<string, { symbols: { name: string }[] }> }>(
    ["doc", "--json", ...files],
  );
  const names = Object.values(nodes).flatMap(({ symbols }) => symbols.map(({ name }) => name));
  return new Set(names).size;
}

async function modulesRun(entry: string): Promise<number> {
  const { roots, modules } = await denoJson<Graph>(["info", "--json", entry]);
  const byAddress = new Map(modules.map((module) => [module.specifier, module]));
  const reached = new Set(roots);
  for (const address of reached) {
    for (const { code, isDynamic } of byAddress.get(address)?.dependencies ?? []) {
      if (code?.specifier !== undefined && isDynamic !== true) reached.add(code.specifier);
    }
  }
  return reached.size;
}

/** The part of `deno info --json` that counts. */
interface Graph {
  readonly roots: readonly string[];
  readonly modules: readonly {
    readonly specifier: string;
    readonly dependencies?: readonly {
      readonly code?: { readonly specifier?: string };
      readonly isDynamic?: boolean;
    }[];
  }[];
}
