// Bundles the kit into one program and one file of its types, for those whose server or proxy is slow:
// they load two files instead of hundreds.

import { fileURLToPath } from "node:url";
import config from "../deno.json" with { type: "json" };

type Entry = keyof typeof config.exports;

/** The entries in a bundle. Plots, benches and the command line stay with the sources. */
export const BUNDLED_ENTRIES: readonly Entry[] = [
  ".",
  "./group",
  "./kernels",
  "./memory",
  "./numpy",
  "./persist",
  "./python",
  "./safetensors",
  "./sharing",
  "./simulated",
  "./testing",
];

/** For releases alone: constants, as Deno would fetch literals in import() with this module. */
const TYPESCRIPT: string = "npm:typescript@5.9.3";
const ROLLUP: string = "npm:rollup@4.67.4";
const DECLARATIONS: string = "npm:rollup-plugin-dts@6.5.1";

/** The part of rollup that is used here. */
interface Rollup {
  rollup(options: object): Promise<{
    generate(options: { format: "es" }): Promise<{ output: readonly { code: string }[] }>;
  }>;
}

/** Returns the text of `vramkit.js`. */
export async function bundleProgram(): Promise<string> {
  using source = new EntrySource();
  const output = `${source.folder}/vramkit.js`;
  const options = ["--no-config", "--platform", "deno", "--keep-names", "--output", output];
  await runDeno("bundle", ...options, source.path);
  return `// vramkit ${config.version}, ${config.license} license\n` +
    `// @ts-self-types="./vramkit.d.ts"\n` + Deno.readTextFileSync(output);
}

/** Returns the text of `vramkit.d.ts`. The first time it needs the network. */
async function bundleTypes(): Promise<string> {
  using source = new EntrySource();
  await import(TYPESCRIPT); // the others take the version that is there
  const { rollup } = await import(ROLLUP) as Rollup;
  const { dts } = await import(DECLARATIONS) as { dts(options: object): object };
  const bundle = await rollup({
    input: source.path,
    external: (id: string) => id.startsWith("node:"),
    plugins: [dts({ tsconfig: await writeTsconfig(source) })],
    onwarn: ({ message }: { message: string }) => {
      throw new Error(`Cannot join the types: ${message}`);
    },
  });
  const { output: [only] } = await bundle.generate({ format: "es" });
  if (only === undefined) throw new Error("Cannot join the types: there are none");
  return only.code;
}

/** A module of all entries in a folder of its own, which is removed when it is disposed. */
class EntrySource implements Disposable {
  readonly folder: string = Deno.makeTempDirSync({ prefix: "vramkit-" });
  readonly path: string = `${this.folder}/vramkit.ts`;

  constructor() {
    const lines = BUNDLED_ENTRIES.map((name) => {
      const path = fileURLToPath(new URL(`../${config.exports[name]}`, import.meta.url));
      return `export * from ${JSON.stringify(path)};\n`;
    });
    Deno.writeTextFileSync(this.path, `/// <reference path="./deno.d.ts" />\n${lines.join("")}`);
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.folder, { recursive: true });
  }
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

/** A program that uses both files: the second line must not pass the type check. */
const TRIAL = `import { CudaDevice, f32, simulateDriver } from "./vramkit.js";
// @ts-expect-error there is no such element type
const wrong = () => gpu.alloc("float31", 1);
using gpu = CudaDevice.open(0, { driver: simulateDriver() });
using x = await gpu.upload(new Float32Array([1, 2, 3]));
const values: Float32Array = await x.download();
console.log(values.join(), String(f32(1)), typeof wrong);
`;

if (import.meta.main) {
  const folder = fileURLToPath(new URL("../_release", import.meta.url));
  Deno.mkdirSync(folder, { recursive: true });
  const texts = { "vramkit.js": await bundleProgram(), "vramkit.d.ts": await bundleTypes() };
  for (const [name, text] of Object.entries(texts)) {
    Deno.writeTextFileSync(`${folder}/${name}`, text);
    console.log(`_release/${name}: ${Math.round(text.length / 1000)} kB`);
  }
  const trial = `${folder}/trial.ts`;
  Deno.writeTextFileSync(trial, TRIAL);
  const printed = await runDeno("run", "--check", "--no-config", "--allow-ffi", trial);
  Deno.removeSync(trial);
  if (printed !== "1,2,3 f32(1) function\n") throw new Error(`The bundle printed ${printed}`);
  console.log("ok: a program with both files passes the type check and runs");
}
