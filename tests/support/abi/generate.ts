// Writes cuda_abi.json anew: `deno task abi <include folder of a CUDA toolkit>`; needs g++.
// Run it for a new row in ffi/ or a newer cuda.h; the PyPI wheel nvidia-cuda-runtime holds one.

import type { AbiManifest } from "./manifest.ts";
import { probeSource } from "./probe.ts";
import { CUDA_SUBJECTS } from "./subjects.ts";

const MANIFEST = new URL("./cuda_abi.json", import.meta.url);

/** Compiles and runs the probe against the header in a folder. */
async function askCompiler(includeFolder: string): Promise<AbiManifest> {
  const folder = await Deno.makeTempDir({ prefix: "abi-" });
  try {
    const source = `${folder}/probe.cpp`;
    const program = `${folder}/probe`;
    await Deno.writeTextFile(source, probeSource(CUDA_SUBJECTS));
    await run("g++", ["-std=c++17", "-w", "-isystem", includeFolder, source, "-o", program]);
    return JSON.parse(await run(program, []));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function run(command: string, args: string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(command, { args }).output();
  if (!success) throw new Error(`Cannot run ${command}: ${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout);
}

if (import.meta.main) {
  const [includeFolder] = Deno.args;
  if (includeFolder === undefined) {
    console.error("Usage: deno task abi <include folder of a CUDA toolkit>");
    Deno.exit(2);
  }
  const manifest = await askCompiler(includeFolder);
  await Deno.writeTextFile(MANIFEST, `${JSON.stringify(manifest, null, 2)}\n`);
  const { functions, structs, constants } = manifest;
  console.log(
    `Wrote cuda_abi.json of CUDA ${manifest.headerVersion}: ${Object.keys(functions).length} ` +
      `functions, ${Object.keys(structs).length} structs, ${
        Object.keys(constants).length
      } constants`,
  );
}
