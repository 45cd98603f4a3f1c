// Builds the kit as people import it by URL: all entries in a few files with their types and source
// maps, which load in a third of the time of the hundreds of modules that they are made of.

import { fileURLToPath } from "node:url";
import config from "../deno.json" with { type: "json" };

type Entry = keyof typeof config.exports;

/** The entries that have a file of their own, as they come with more than the kit itself. */
const OWN_FILES: Readonly<Partial<Record<Entry, string>>> = {
  // Plots come with a copy of plotly.js, which Deno fetches with whatever may load it.
  "./notebook": "vramkit_notebook",
  "./bench": "vramkit_bench",
  "./cli": "vramkit_cli",
};

/** The files that programs import, and the entries whose names each has. */
export const RELEASE_FILES: Readonly<Record<string, readonly Entry[]>> = Object.groupBy(
  Object.keys(config.exports) as Entry[],
  (entry) => OWN_FILES[entry] ?? "vramkit",
) as Record<string, Entry[]>;

/** For releases alone: constants, as Deno would fetch literals in import() with this module. */
const TYPESCRIPT: string = "npm:typescript@5.9.3";
const ROLLUP: string = "npm:rollup@4.67.4";
const DECLARATIONS: string = "npm:rollup-plugin-dts@6.5.1";

const ROOT = new URL("../", import.meta.url);

/** The part of rollup that is used here. */
interface Rollup {
  rollup(options: object): Promise<{
    generate(options: object): Promise<
      { output: readonly { fileName: string; code: string }[] }
    >;
  }>;
}

/** The part of a source map that is changed here. */
interface SourceMap {
  sources: string[];
  mappings: string;
}

/** Texts of files, by name. */
type Texts = Map<string, string>;

/** Returns the programs of a release with their source maps; `vramkit.js` is the first. */
export async function bundlePrograms(): Promise<Texts> {
  using source = new EntrySource();
  const built = `${source.folder}/built`;
  const options = ["--quiet", "--no-config", "--platform", "deno", "--keep-names"];
  const output = ["--code-splitting", "--sourcemap", "linked", "--outdir", built];
  await runDeno("bundle", ...options, ...output, ...source.paths);
  const names = [...Deno.readDirSync(built)].map(({ name }) => name).filter((name) =>
    name.endsWith(".js")
  ).sort();
  const chunks = names.filter((name) => !/^(vramkit|plotly)/.test(name));
  const newNames = names.map((name) => [name, releaseName(name, chunks)] as const);
  const texts: Texts = new Map();
  for (const [name, newName] of newNames) {
    let text = Deno.readTextFileSync(`${built}/${name}`);
    for (const [old, renamed] of newNames) text = text.replaceAll(`"./${old}"`, `"./${renamed}"`);
    const head = headOf(newName);
    texts.set(newName, head + text.replace(/^(\/\/# sourceMappingURL=).*$/m, `$1${newName}.map`));
    const map = JSON.parse(Deno.readTextFileSync(`${built}/${name}.map`)) as SourceMap;
    map.sources = map.sources.map((path) => sourceName(new URL(path, `file://${built}/`)));
    map.mappings = `${";".repeat(head.split("\n").length - 1)}${map.mappings}`;
    texts.set(`${newName}.map`, JSON.stringify(map));
  }
  return texts;
}

/** Names a source without the folders of the machine, and so that stacks tell the kit's lines. */
function sourceName({ href }: URL): string {
  const name = href.startsWith(ROOT.href)
    ? href.slice(ROOT.href.length)
    : href.replace(/^.*\//, "");
  return `vramkit/${name}`;
}

/** Returns the types of the programs, by file. The first time it needs the network. */
async function bundleTypes(): Promise<Texts> {
  using source = new EntrySource();
  await import(TYPESCRIPT); // the others take the version that is there
  const { rollup } = await import(ROLLUP) as Rollup;
  const { dts } = await import(DECLARATIONS) as { dts(options: object): object };
  const bundle = await rollup({
    input: source.paths,
    external: (id: string) => /^(node|npm):/.test(id),
    plugins: [dts({ tsconfig: await writeTsconfig(source) })],
    onwarn: ({ message }: { message: string }) => {
      // That the files share types which neither exports matters to those alone who emit declarations.
      if (message.includes("references private shared type exports")) return;
      throw new Error(`Cannot join the types: ${message}`);
    },
  });
  const { output } = await bundle.generate({
    format: "es",
    entryFileNames: "[name].d.ts",
    chunkFileNames: "vramkit_types.d.ts",
  });
  // Deno resolves what the compiler would have resolved to the types.
  return new Map(output.map(({ fileName, code }) => [
    fileName,
    code.replaceAll(/(?<=["']\.\/vramkit\w*)\.js(?=["'])/g, ".d.ts"),
  ]));
}

/** A module for each file of a release in a folder, which is removed when it is disposed. */
class EntrySource implements Disposable {
  readonly folder: string = Deno.makeTempDirSync({ prefix: "vramkit-" });
  readonly paths: readonly string[];

  constructor() {
    this.paths = Object.entries(RELEASE_FILES).map(([file, entries]) => {
      const path = `${this.folder}/${file}.ts`;
      const lines = entries.map((name) => {
        const entry = JSON.stringify(fileURLToPath(new URL(config.exports[name], ROOT)));
        // Only the module that is bundled first may be the program's main one.
        return name === "./cli"
          ? `import { main } from ${entry};\nexport { main };\n` +
            "if (import.meta.main) Deno.exit(await main(Deno.args));\n"
          : `export * from ${entry};\n`;
      });
      Deno.writeTextFileSync(path, `/// <reference path="./deno.d.ts" />\n${lines.join("")}`);
      return path;
    });
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.folder, { recursive: true });
  }
}

/**
 * Names a file of the release, all of which begin alike: so the kit tells its own lines from those
 * of programs.
 */
function releaseName(name: string, chunks: readonly string[]): string {
  if (name.startsWith("vramkit")) return name;
  if (name.startsWith("plotly")) return "vramkit_plotly.js";
  return `vramkit_shared_${1 + chunks.indexOf(name)}.js`;
}

/** Returns the lines on top of a program: what it is, and where its types are. */
function headOf(name: string): string {
  const types = name.replace(/\.js$/, "");
  const head = `// vramkit ${config.version}, ${config.license} license\n`;
  return types in RELEASE_FILES ? `${head}// @ts-self-types="./${types}.d.ts"\n` : head;
}

/** Writes Deno's own types and a configuration that knows them; returns its path. */
async function writeTsconfig({ folder }: EntrySource): Promise<string> {
  Deno.writeTextFileSync(`${folder}/deno.d.ts`, await runDeno("types"));
  const compilerOptions = {
    ...config.compilerOptions,
    lib: ["esnext"],
    module: "esnext",
    moduleResolution: "bundler",
    allowImportingTsExtensions: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
  };
  const path = `${folder}/tsconfig.json`;
  Deno.writeTextFileSync(path, JSON.stringify({ compilerOptions }));
  return path;
}

async function runDeno(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), { args }).output();
  const decoder = new TextDecoder();
  if (code === 0) return decoder.decode(stdout);
  throw new Error(`Cannot run deno ${args[0]}: exit code ${code}\n${decoder.decode(stderr)}`);
}

/** A program that uses the files: the second line must not pass the type check. */
const TRIAL = `import { CudaDevice, f32, simulateDriver } from "./vramkit.js";
import { plotBandwidth } from "./vramkit_notebook.js";
// @ts-expect-error there is no such element type
const wrong = () => gpu.alloc("float31", 1);
// @ts-expect-error there is no such result
const none = () => plotBandwidth("");
using gpu = CudaDevice.open(0, { driver: simulateDriver() });
using x = await gpu.upload(new Float32Array([1, 2, 3]));
const values: Float32Array = await x.download();
console.log(values.join(), String(f32(1)), typeof wrong, typeof none);
`;

if (import.meta.main) {
  const folder = fileURLToPath(new URL("_release", ROOT));
  Deno.mkdirSync(folder, { recursive: true });
  for (const [name, text] of [...await bundlePrograms(), ...await bundleTypes()]) {
    Deno.writeTextFileSync(`${folder}/${name}`, text);
    console.log(`_release/${name}: ${Math.round(text.length / 1000)} kB`);
  }
  const trial = `${folder}/trial.ts`;
  Deno.writeTextFileSync(trial, TRIAL);
  const printed = await runDeno("run", "--check", "--no-config", "--allow-ffi", trial);
  Deno.removeSync(trial);
  if (printed !== "1,2,3 f32(1) function function\n") {
    throw new Error(`The bundle printed ${printed}`);
  }
  console.log("ok: a program with all files passes the type check and runs");
}
