// Measures other libraries here: the driver API from C++, PyTorch, CuPy, JAX, cuda.core, and three
// loaders of safetensors files.
// Each runs in a process of its own, one after another; what is missing is an entry that says so.
// `deno task bench peers [FILE [LIBRARY …]]`; the file is written anew after each library.

import { readWords } from "../arguments.ts";
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
  /** Names of the libraries in Python to run, as python_peers.py knows them; all by default. */
  readonly peers?: readonly string[] | undefined;
  /** Called with what is known so far, after each library. */
  readonly onResult?: ((report: PeerReport) => Promise<void>) | undefined;
  /** The safetensors file to load, written when missing; by default one that is removed. */
  readonly modelPath?: string;
}

/** Builds and runs every peer and merges what they print; one that fails leaves its error there. */
export async function runPeers(options: PeerOptions = {}): Promise<PeerReport> {
  const folder = await Deno.makeTempDir({ prefix: "vramkit_peers_" });
  try {
    const modelPath = options.modelPath ?? `${folder}/model.safetensors`;
    const documents: PeerDocument[] = [];
    const add = async (peer: string, run: () => Promise<PeerDocument>) => {
      documents.push(await documentOf(peer, run));
      await options.onResult?.(reportOf(documents));
    };
    if (options.peers === undefined) await add(CPP_PEER, () => runDriver(folder));
    for (const [module, peer] of Object.entries(PYTHON_PEERS)) {
      if (options.peers?.includes(module) === false) continue;
      await add(peer, () => runPython(module, modelPath));
    }
    return reportOf(documents);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function reportOf(documents: readonly PeerDocument[]): PeerReport {
  return {
    date: new Date().toISOString(),
    device: documents.find(({ device }) => device !== "none")?.device ?? "none",
    coreCount: navigator.hardwareConcurrency,
    documents,
  };
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
  const [path, ...peers] = readWords({ most: Infinity });
  const textOf = (report: PeerReport) => `${JSON.stringify(report, null, 2)}\n`;
  const onResult = path === undefined
    ? undefined
    : (report: PeerReport) => Deno.writeTextFile(path, textOf(report));
  const report = await runPeers({ onResult, peers: peers.length === 0 ? undefined : peers });
  if (path === undefined) console.log(textOf(report).trimEnd());
}
