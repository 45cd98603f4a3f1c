// The C++ program that uses the driver API: built with the CUDA toolkit's compiler, run as a child.
// With the name of a part it measures that part alone, so that a bench can take turns with it.

import { outputOf } from "./process.ts";
import { parsePeerDocument, type PeerDocument } from "./report.ts";

/** What the program calls itself in its document. */
export const CPP_PEER = "C++ driver API";

/** NVIDIA's compiler on PATH, then where its packages put it. */
const COMPILERS = ["nvcc", "/usr/local/cuda/bin/nvcc"] as const;

/** The program, built into a folder. */
export class DriverProgram {
  readonly #path: string;

  private constructor(path: string) {
    this.#path = path;
  }

  /** Builds the program; throws where there is no CUDA toolkit. */
  static async build(folder: string): Promise<DriverProgram> {
    const path = `${folder}/driver`;
    const source = decodeURIComponent(new URL("driver.cpp", import.meta.url).pathname);
    const args = ["-O3", "-std=c++17", "-o", path, source, "-lcuda"];
    for (const compiler of COMPILERS) {
      try {
        await outputOf(compiler, args);
        return new DriverProgram(path);
      } catch (error) {
        if (!(error instanceof Deno.errors.NotFound)) throw error;
      }
    }
    throw new Error(
      `Cannot build the ${CPP_PEER} peer: tried ${COMPILERS.join(", ")}; install the CUDA toolkit`,
    );
  }

  /** Builds the program; undefined, with the reason on the console, where it cannot be built. */
  static async buildIfPossible(folder: string): Promise<DriverProgram | undefined> {
    try {
      return await DriverProgram.build(folder);
    } catch (error) {
      console.error(error instanceof Error ? error.message : error);
      return undefined;
    }
  }

  /** Measures everything, or one part, in a fresh process. */
  async run(part?: "device-copy" | "graphs" | "launches"): Promise<PeerDocument> {
    return parsePeerDocument(await outputOf(this.#path, part === undefined ? [] : [part]));
  }
}
