// Programs that ask for garbage collections: child processes, because the switch for that is Deno's own.

import { assertEquals } from "@std/assert";
import { evaluate } from "./child_deno.ts";
import { ON_GPU } from "./driver.ts";

/** The driver of a program, of the entries alone where that can be: their built files start sooner. */
const DRIVER = ON_GPU
  ? `import { openTestDevice, testDriver } from "./tests/support/driver.ts";`
  : `import { simulateDriver } from "./src/entries/simulated.ts";
     const cudaVersion = Deno.env.get("VRAMKIT_TEST_CUDA");
     const testDriver = () => simulateDriver({ cudaVersion });
     const openTestDevice = () => root.CudaDevice.open(0, { driver: testDriver() });`;

/** The result of a body. */
export interface Collected {
  readonly result: unknown;
  /** The warnings, in their order. */
  readonly warnings: readonly string[];
}

/** The same, or what a body threw. */
type Outcome = Collected & { readonly error?: string };

/**
 * A program that runs bodies of functions, one after the other; on a GPU a program each, because its ledger
 * warns of a place or kind once in a process. Each has `kit`, a `gpu` of its own,
 * `resource` (plain device memory), `testDriver()`, `collect()`, `lost()`, the bytes that are missing on the
 * device since its start, and `growthOf(count, step)`, the bytes by which the heap grows with each of so many
 * steps: the least of several rounds, because what is left of a step is left in all of them.
 */
class CollectorProgram {
  readonly #bodies: string[] = [];
  #outcomes: Promise<readonly Outcome[]> | undefined;

  /** Adds a body before the program runs, and returns its place. */
  add(body: string): number {
    return this.#bodies.push(body) - 1;
  }

  /** Resolves to what came of the body at a place; the first call runs the program. */
  async outcomeOf(place: number): Promise<Collected> {
    const outcome = (await (this.#outcomes ??= this.#run()))[place];
    assertEquals(outcome?.error, undefined);
    return outcome ?? { result: undefined, warnings: [] };
  }

  async #run(): Promise<Outcome[]> {
    const groups = ON_GPU ? this.#bodies.map((body) => [body]) : [this.#bodies];
    return (await Array.fromAsync(groups, (bodies) => outcomesOf(bodies))).flat();
  }
}

/** Runs bodies in one process. */
async function outcomesOf(bodies: readonly string[]): Promise<Outcome[]> {
  const functions = bodies.map((body) =>
    `async ({ gpu, resource, collect, lost, growthOf }) => {
      { ${body} }
    }`
  );
  const { code, stdout, stderr } = await evaluate(
    `${START}
       for (const body of [${
      functions.join(",\n")
    }]) console.log(JSON.stringify(await outcomeOf(body)));`,
    { flags: ["--v8-flags=--expose-gc"] },
  );
  assertEquals([code, stderr], [0, ""]);
  return stdout.trim().split("\n").map((line) => JSON.parse(line));
}

/** The beginning of a program. */
const START = `
  import * as root from "./mod.ts";
  import * as memory from "./src/entries/memory.ts";
  ${DRIVER}
  const kit = { ...root, ...memory };
  const { now } = Date;

  async function outcomeOf(body) {
    const warnings = [];
    console.warn = (text) => warnings.push(text);
    const outcome = { warnings };
    const gpu = openTestDevice();
    try {
      outcome.result = await body(toolsOf(gpu));
    } catch (error) {
      outcome.error = String(error.stack);
    }
    Date.now = now;
    console.warn = () => {}; // what this body has left is not the next one's
    gpu.disposeAll();
    await toolsOf(gpu).collect();
    return { ...outcome, warnings: [...warnings] };
  }

  function toolsOf(gpu) {
    async function collect() { // again and again, as a finalizer lets go of more
      for (let turn = 0; turn < 3; turn++) {
        globalThis.gc();
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      gpu.synchronizeSync();
      gpu.context.sweep();
    }
    async function growthOf(count, step) {
      const heaps = [];
      for (let round = 0; round < 6; round++) {
        for (let i = 0; i < count; i++) await step(round + " " + i);
        await collect();
        heaps.push(Deno.memoryUsage().heapUsed);
      }
      const growths = heaps.slice(1).map((heap, round) => heap - heaps[round]);
      return Math.round(Math.min(...growths) / count);
    }
    const before = gpu.context.freeBytes();
    const lost = () => before - gpu.context.freeBytes();
    return { gpu, resource: new kit.CudaMemoryResource(gpu), collect, growthOf, lost };
  }`;

/** Runs one body in a program of its own. */
export function runWithCollector(body: string): Promise<Collected> {
  const program = new CollectorProgram();
  return program.outcomeOf(program.add(body));
}

/** The bodies of all tests that are loaded together. */
const together = new CollectorProgram();

/** Registers a test of what comes of a body; one program runs all such bodies. */
export function testWithCollector(
  name: string,
  body: string,
  check: (collected: Collected) => void,
): void {
  const place = together.add(body);
  Deno.test(name, async () => check(await together.outcomeOf(place)));
}
