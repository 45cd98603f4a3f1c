// Measures other libraries here: the driver API from C++, PyTorch, CuPy, JAX, cuda.core, and three
// loaders of safetensors files.
// Each runs in a process of its own, one after another; what is missing is an entry that says so.

import { CPP_PEER, DriverProgram } from "./driver_program.ts";
import { outputOf } from "./process.ts";
import { parsePeerDocument, type PeerDocument, type PeerReport } from "./report.ts";

/** Libraries by the name that python_peers.py knows them by. */
const PYTHON_PEERS = {
  torch: "PyTorch",
  cupy: "CuPy",
  jax: "JAX",
  cuda_core: "cuda.core",
  safetensors: "safetensors",
  fastsafetensors: "fastsafetensors",
  runai_model_streamer: "run:ai model streamer",
} as const;

/** Says how {@linkcode runPeers} runs. */
export interface PeerOptions {
  /** The safetensors file to load, written when missing; by default one that is removed. */
  readonly modelPath?: string;
}

/** Builds and runs every peer and merges what they print; one that fails leaves its error there. */
export async function runPeers(options: PeerOptions = {}): Promise<PeerReport> {
  const folder = await Deno.makeTempDir({ prefix: "vramkit_peers_" });
  try {
    const modelPath = options.modelPath ?? `${folder}/model.safetensors`;
    const documents = [await documentOf(CPP_PEER, () => runDriver(folder))];
    for (const [module, peer] of Object.entries(PYTHON_PEERS)) {
      documents.push(await documentOf(peer, () => runPython(module, modelPath)));
    }
    return {
      date: new Date().toISOString(),
      device: documents.find(({ device }) => device !== "none")?.device ?? "none",
      coreCount: navigator.hardwareConcurrency,
      documents,
    };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function documentOf(
  peer: string,
  run: () => Promise<PeerDocument>,
): Promise<PeerDocument> {
  try {
    return await run();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    console.error(`${peer}: ${message}`);
    return { peer, device: "none", versions: {}, results: [{ name: "run", error: message }] };
  }
}

async function runDriver(folder: string): Promise<PeerDocument> {
  const program = await DriverProgram.build(folder);
  return await program.run();
}

async function runPython(module: string, modelPath: string): Promise<PeerDocument> {
  try {
    // -B keeps compiled modules out of the source tree.
    const program = pathOf("python_peers.py");
    const args = ["-B", program, module, "--model", modelPath];
    return parsePeerDocument(await outputOf("python3", args));
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw new Error("Cannot run the Python peers: python3 is not on PATH", { cause: error });
  }
}

function pathOf(name: string): string {
  return decodeURIComponent(new URL(name, import.meta.url).pathname);
}

if (import.meta.main) {
  const text = JSON.stringify(await runPeers(), null, 2);
  const [path] = Deno.args;
  if (path === undefined) console.log(text);
  else await Deno.writeTextFile(path, `${text}\n`);
}
