// The documentation's site. TypeDoc makes it: the reference with all that a class inherits, the guides
// and the notebooks as documents, themes. Ours are the texts, the addresses of pages, and search.

import { join } from "node:path/posix";
import { fileURLToPath } from "node:url";
import {
  Application,
  type ProjectReflection,
  type Reflection,
  ReflectionKind,
  StructureRouter,
} from "npm:typedoc@0.28.20";
import config from "../deno.json" with { type: "json" };
import { searchFiles, type SearchRow, searchRows } from "./search_rows.ts";
import { PROJECT, type Text, TEXT_GROUPS, writeTexts } from "./texts.ts";

/** A built site. */
export interface Site {
  /** Rows of the search index. */
  readonly rows: readonly SearchRow[];
  /** Warnings of TypeDoc. */
  readonly warnings: readonly string[];
}

const ROOT = fileURLToPath(PROJECT);
const ASSETS = fileURLToPath(new URL("assets/", import.meta.url));

/** Settings of the compiler: Deno's own types, and the addresses that only Deno resolves. */
const COMPILER_OPTIONS = {
  target: "esnext",
  module: "esnext",
  moduleResolution: "bundler",
  lib: ["esnext"],
  types: [],
  allowImportingTsExtensions: true,
  noEmit: true,
  strict: true,
  exactOptionalPropertyTypes: true,
};

/** Builds the site into a folder, which is emptied first. */
export async function buildSite(out: string): Promise<Site> {
  const work = Deno.makeTempDirSync({ prefix: "vramkit-site-" });
  try {
    const texts = writeTexts(work);
    const { app, warnings, routers } = await application({ work, out, texts });
    const project = await app.convert();
    if (project === undefined) throw new Error("Cannot build the site: TypeDoc read no module");
    nameModules(project);
    await app.generateOutputs(project);
    const [router] = routers;
    if (router === undefined) throw new Error("Cannot search the site: it has no addresses");
    const rows = searchRows(router, { project, texts, out });
    for (const [name, text] of searchFiles(rows)) {
      Deno.writeTextFileSync(join(out, "assets", name), text);
    }
    return { rows, warnings };
  } finally {
    Deno.removeSync(work, { recursive: true });
  }
}

async function application(
  { work, out, texts }: { work: string; out: string; texts: readonly Text[] },
): Promise<{ app: Application; warnings: string[]; routers: ProjectRouter[] }> {
  const entryPoints = Object.values(config.exports).map((path) => join(ROOT, path));
  const tsconfig = join(work, "tsconfig.json");
  const types = new Deno.Command(Deno.execPath(), { args: ["types"] }).outputSync().stdout;
  Deno.writeFileSync(join(work, "deno.d.ts"), types);
  const files = [join(work, "deno.d.ts"), ...entryPoints];
  Deno.writeTextFileSync(tsconfig, JSON.stringify({ compilerOptions: COMPILER_OPTIONS, files }));
  const app = await Application.bootstrap(
    {
      name: "vramkit",
      entryPoints,
      tsconfig,
      out,
      readme: join(work, "README.md"),
      projectDocuments: texts.map(({ source }) => join(work, source.replace(/\.ipynb$/, ".md"))),
      router: "project",
      basePath: work,
      skipErrorChecking: true, // `deno check` does that; here specifiers of npm have no types
      excludePrivate: true,
      excludeProtected: true,
      excludeInternal: true,
      disableSources: true,
      groupOrder: [...TEXT_GROUPS.slice(0, 3), "Modules", "Classes", "Functions", "*", "Project"],
      sort: ["documents-first", "kind", "alphabetical-ignoring-documents"],
      navigation: { includeGroups: true },
      highlightLanguages: [
        "ts",
        "typescript",
        "javascript",
        "json",
        "bash",
        "sh",
        "python",
        "cpp",
        "rust",
        "zig",
        "mermaid",
        "c",
      ],
      customCss: join(ASSETS, "style.css"),
      customJs: join(ASSETS, "search.js"),
      hideGenerator: true,
    } as Parameters<typeof Application.bootstrap>[0] & object,
  );
  const warnings: string[] = [];
  const routers: ProjectRouter[] = [];
  app.logger.warn = (text: string) => warnings.push(text);
  const sources = new Map(texts.map(({ title, source }) => [title, source]));
  app.renderer.defineRouter(
    "project",
    class extends ProjectRouter {
      protected override readonly sources = sources;

      constructor(app: Application) {
        super(app);
        routers.push(this); // the renderer forgets it when it has written the pages
      }
    },
  );
  return { app, warnings, routers };
}

/** Modules are named as programs import them. */
function nameModules(project: ProjectReflection): void {
  const names = new Map(
    Object.entries(config.exports).map(([entry, path]) => [
      path.replace(/^\.\//, "").replace(/\.ts$/, ""),
      `vramkit${entry.slice(1)}`,
    ]),
  );
  for (const module of project.getChildrenByKind(ReflectionKind.Module)) {
    const path = [...names.keys()].filter((each) => `/${module.name}`.endsWith(`/${each}`))
      .sort((one, other) => other.length - one.length)[0];
    const specifier = names.get(path ?? "");
    if (specifier === undefined) throw new Error(`Cannot name ${module.name}: it is no entry`);
    module.name = specifier;
  }
}

/** Gives pages the addresses of the files that they are made from, and of the entries. */
abstract class ProjectRouter extends StructureRouter {
  protected abstract readonly sources: ReadonlyMap<string, string>;

  protected override getIdealBaseName(reflection: Reflection): string {
    const source = this.sources.get(reflection.name);
    if (reflection.isDocument() && source !== undefined) {
      return source.replace(/README\.md$/, "index.md").replace(/\.(md|ipynb)$/, "").toLowerCase();
    }
    const names: string[] = [];
    for (
      let at: Reflection | undefined = reflection;
      at !== undefined && !at.isProject();
      at = at.parent
    ) {
      names.unshift(
        at.kindOf(ReflectionKind.Module) ? at.name.replace(/^vramkit\/?/, "") : at.name,
      );
    }
    const path = names.filter((name) => name !== "").join("/").replaceAll(/[^\w/.$-]/g, "_");
    return `reference/${path}${reflection.kindOf(ReflectionKind.Module) ? "/index" : ""}`
      .replace("//", "/");
  }
}
