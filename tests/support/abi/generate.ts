// Writes cuda_abi.json and its like anew: `deno run -A tests/support/abi/generate.ts <include folder of a CUDA toolkit>`; needs
// g++. Run it for a new row in ffi/ or a newer header. The PyPI wheels nvidia-cuda-runtime,
// nvidia-cuda-nvrtc and nvidia-nvml-dev hold one header each, apache-tvm-ffi that of DLPack, and
// nvidia-nccl-cu13 that of NCCL, which needs those of nvidia-cuda-nvcc and nvidia-cuda-crt as well; where a
// folder lacks one, its manifest stays.

import { TemporaryFolder } from "../temporary_folder.ts";
import type { AbiManifest } from "./manifest.ts";
import {
  CUDA_HEADER,
  DLPACK_HEADER,
  NCCL_HEADER,
  NVML_HEADER,
  NVRTC_HEADER,
  type ProbedHeader,
  probeSource,
} from "./probe.ts";
import {
  type AbiSubjects,
  CUDA_SUBJECTS,
  DLPACK_SUBJECTS,
  NCCL_SUBJECTS,
  NVML_SUBJECTS,
  NVRTC_SUBJECTS,
} from "./subjects.ts";

/** A manifest to write: of which header, what it covers, and its file. */
interface ManifestRequest {
  readonly header: ProbedHeader;
  readonly subjects: AbiSubjects;
  readonly file: string;
}

const REQUESTS: readonly ManifestRequest[] = [
  { header: CUDA_HEADER, subjects: CUDA_SUBJECTS, file: "cuda_abi.json" },
  { header: NVML_HEADER, subjects: NVML_SUBJECTS, file: "nvml_abi.json" },
  { header: NVRTC_HEADER, subjects: NVRTC_SUBJECTS, file: "nvrtc_abi.json" },
  { header: DLPACK_HEADER, subjects: DLPACK_SUBJECTS, file: "dlpack_abi.json" },
  { header: NCCL_HEADER, subjects: NCCL_SUBJECTS, file: "nccl_abi.json" },
];

/** Compiles and runs the probe against the header in a folder. */
async function askCompiler(
  includeFolder: string,
  { header, subjects }: ManifestRequest,
): Promise<AbiManifest> {
  using folder = new TemporaryFolder();
  const source = folder.write("probe.cpp", probeSource(subjects, header));
  const program = folder.pathOf("probe");
  await run("g++", ["-std=c++17", "-w", "-isystem", includeFolder, source, "-o", program]);
  return JSON.parse(await run(program, []));
}

async function run(command: string, args: string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(command, { args }).output();
  if (!success) throw new Error(`Cannot run ${command}: ${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout);
}

if (import.meta.main) {
  const [includeFolder] = Deno.args;
  if (includeFolder === undefined) {
    console.error(
      "Usage: deno run -A tests/support/abi/generate.ts <include folder of a CUDA toolkit>",
    );
    Deno.exit(2);
  }
  for (const request of REQUESTS) {
    const { header, file } = request;
    if (!await isThere(`${includeFolder}/${header.file}`)) {
      console.log(`Left ${file} as it is: ${includeFolder} has no ${header.file}`);
      continue;
    }
    const manifest = await askCompiler(includeFolder, request);
    const text = `${JSON.stringify(manifest, null, 2)}\n`;
    await Deno.writeTextFile(new URL(file, import.meta.url), text);
    const { functions, structs, constants } = manifest;
    const counts = [functions, structs, constants].map((part) => Object.keys(part).length);
    console.log(
      `Wrote ${file} of ${header.version} ${manifest.headerVersion}: ${counts[0]} functions, ` +
        `${counts[1]} structs, ${counts[2]} constants`,
    );
  }
}

async function isThere(path: string): Promise<boolean> {
  try {
    return (await Deno.stat(path)).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
