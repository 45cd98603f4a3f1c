// Writes src/launch/generated/ anew: `deno task kernels`. Needs NVRTC of the version below, which
// `pip install nvidia-cuda-nvrtc-cu12==12.9.86` brings; it works without a GPU.

import { findLibrary } from "../../../ffi/installed_libraries.ts";
import type { NvrtcApi } from "../../../ffi/nvrtc.ts";
import { sourceOf } from "../../../ffi/nvrtc_library.ts";
import { compileText } from "../../../src/kernels/compiler.ts";
import type { ReadyText } from "../../../src/launch/ready_kernels.ts";
import { PROJECT_ROOT } from "../project_files.ts";
import { packText } from "./pack_text.ts";

/** The compiler whose PTX is shipped: the last that knows GPUs as old as drivers of CUDA 11.4 do. */
export const READY_COMPILER = "12.9";

/** The oldest GPUs that run the kernels: of all that drivers from CUDA 11.4 on support but one. */
const ARCHITECTURE = "compute_52";

/** The PTX version that is declared: the driver of CUDA 11.0 has it, and the kernels need no newer. */
const PTX_VERSION = "7.0";

/** The sources, by the names of their PTX. */
export const SOURCES: Readonly<Record<ReadyText, string>> = {
  ready: sourceNamed("ready"),
  conversion: sourceNamed("conversion"),
  strided: sourceNamed("strided"),
};

/** The names of the sources. */
export const SOURCE_NAMES = Object.keys(SOURCES) as ReadyText[];

function sourceNamed(name: ReadyText): string {
  return Deno.readTextFileSync(new URL(`src/launch/kernels/${name}.cu`, PROJECT_ROOT));
}

/** The file that keeps the PTX of the sources, packed. */
const TARGET = "src/launch/generated/ptx.ts";

/** Compiles kernels of the kit to PTX without comments, blank lines and the build of the compiler. */
export async function makeReadyPtx(api: NvrtcApi, source: string): Promise<string> {
  const { image } = await compileText(api, {
    source,
    file: "ready.cu",
    expression: undefined,
    architecture: ARCHITECTURE,
    options: [],
  });
  return new TextDecoder().decode(image)
    .replace(/\0.*$/s, "")
    .replace(/^[ \t]*(\/\/.*)?\n/gm, "")
    .replace(/^\.version .*$/m, `.version ${PTX_VERSION}`)
    .trim();
}

/** Tells the version of a compiler, such as "12.9". */
export function versionOf(api: NvrtcApi): string {
  const [major, minor] = [new Int32Array(1), new Int32Array(1)];
  api.nvrtcVersion(major, minor);
  return `${major[0]}.${minor[0]}`;
}

if (import.meta.main) {
  const { api } = sourceOf(findLibrary("nvrtc"));
  const version = versionOf(api);
  if (version !== READY_COMPILER) {
    console.error(
      `Cannot write the PTX: this is NVRTC ${version}, it is made by ${READY_COMPILER}`,
    );
    Deno.exit(1);
  }
  const texts: Record<string, string> = {};
  for (const [name, source] of Object.entries(SOURCES)) {
    texts[name] = packText(await makeReadyPtx(api, source));
  }
  const lines = Object.entries(texts).map(([name, text]) =>
    `  ${name}:\n    ${JSON.stringify(text)},\n`
  );
  const module =
    `// The PTX of the sources in ../kernels/, packed by \`deno task kernels\`; a test compares them.\n\n` +
    `/** The texts, for packed_text.ts. */\nexport const PACKED_PTX = {\n${lines.join("")}};\n`;
  await Deno.writeTextFile(new URL(`../../../${TARGET}`, import.meta.url), module);
  console.log(`Wrote ${TARGET} with NVRTC ${version}`);
}
