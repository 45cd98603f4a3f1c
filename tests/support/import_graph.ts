// Who imports whom, as Deno's own parser reads it: static, dynamic and type-only imports alike,
// while examples in comments do not count.

import { denoJson } from "./child_deno.ts";
import { PROJECT_ROOT, projectFiles } from "./project_files.ts";
import { TemporaryFolder } from "./temporary_folder.ts";

/** One import of one file. */
export interface ImportEdge {
  /** Path of the importing file from the project's root. */
  readonly from: string;
  /** The specifier as written. */
  readonly specifier: string;
  /** Path of the imported file from the root, or the whole specifier when it lies outside. */
  readonly to: string;
  /** Whether it only brings types, and so loads nothing. */
  readonly typeOnly: boolean;
}

interface InfoOutput {
  readonly modules: readonly {
    readonly specifier: string;
    readonly dependencies?: readonly {
      readonly specifier: string;
      readonly code?: { readonly specifier?: string };
      readonly type?: { readonly specifier?: string };
    }[];
  }[];
}

/** Reads all imports of mod.ts and of the files under ffi/ and src/. */
export async function readImportGraph(): Promise<ImportEdge[]> {
  const paths = shippedPaths();
  using folder = new TemporaryFolder();
  const entry = folder.write(
    "entry.ts",
    paths.map((path) => `import ${JSON.stringify(new URL(path, PROJECT_ROOT).href)};`).join("\n"),
  );
  const config = new URL("deno.json", PROJECT_ROOT).pathname;
  const flags = ["--json", "--no-lock", "--no-npm", "--config", config];
  const { modules } = await denoJson<InfoOutput>(["info", ...flags, entry]);
  const shipped = new Set(paths);
  return modules.flatMap((module) => {
    const from = fromRoot(module.specifier);
    if (!shipped.has(from)) return [];
    return (module.dependencies ?? []).map(({ specifier, code, type }) => ({
      from,
      specifier,
      to: fromRoot(code?.specifier ?? type?.specifier ?? specifier),
      typeOnly: code === undefined,
    }));
  });
}

/** Lists mod.ts and every source file under ffi/ and src/. */
export function shippedPaths(): string[] {
  return projectFiles([".ts"])
    .map((file) => file.path)
    .filter((path) => path === "mod.ts" || /^(ffi|src)\//.test(path));
}

function fromRoot(specifier: string): string {
  const root = PROJECT_ROOT.href;
  return specifier.startsWith(root) ? specifier.slice(root.length) : specifier;
}
