// Times a newcomer's first minute, from nothing to the first card: from a clone, by URL, and from the
// files of a release. Each sample begins with an empty cache, and a server on this machine stands in for
// the one on the net. `deno task bench newcomer [result.json]`.

import { fileURLToPath } from "node:url";
import { CudaDevice } from "../mod.ts";
import { bundlePrograms } from "../release/bundle.ts";
import { readWords } from "./arguments.ts";
import { type BenchRow, median, report } from "./result_file.ts";

const ROOT = new URL("../", import.meta.url);

/** Samples of each way. */
const SAMPLE_COUNT = 5;

/** Time that a request takes to a server that is far away. */
const DELAY_MILLISECONDS = 30;

/** The rest of the first program, behind its import: a buffer's card, as a notebook shows it. */
const PROGRAM = `
using gpu = CudaDevice.open(0, { driver: "auto" });
using x = await gpu.upload(new Float32Array([1, 2, 3, 4, 5, 6]), { shape: [2, 3] });
console.log(x[Symbol.for("Jupyter.display")]()["text/plain"]);
`;

/** One way to the first card: a name, and the address of the kit, after what it takes to have it. */
interface Way {
  readonly name: string;
  /** Returns the address, in a new folder. */
  readonly getKit: (folder: string) => Promise<string>;
}

/** Seconds to the first card and, with everything at hand, to the second. */
async function timeWay({ getKit }: Way): Promise<{ first: number; second: number }> {
  const folder = await Deno.makeTempDir({ prefix: "vramkit-" });
  try {
    const start = performance.now();
    const kit = await getKit(folder);
    await Deno.writeTextFile(
      `${folder}/first.ts`,
      `import { CudaDevice } from "${kit}";${PROGRAM}`,
    );
    await run("deno", ["run", "--no-lock", "--allow-ffi", "--allow-import", "first.ts"], folder);
    const middle = performance.now();
    await run("deno", ["run", "--no-lock", "--allow-ffi", "--allow-import", "first.ts"], folder);
    return { first: (middle - start) / 1000, second: (performance.now() - middle) / 1000 };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function run(name: string, args: readonly string[], cwd: string): Promise<void> {
  const { success, stderr, stdout } = await new Deno.Command(
    name === "deno" ? Deno.execPath() : name,
    { args: [...args], cwd, env: { DENO_DIR: `${cwd}/cache`, NO_PROXY: "127.0.0.1" } },
  ).output();
  const printed = new TextDecoder().decode(name === "deno" ? stdout : stderr);
  if (success && (name !== "deno" || printed.includes("DeviceBuffer"))) return;
  throw new Error(`Cannot run ${name} ${args[0]}: ${new TextDecoder().decode(stderr)}`);
}

/** Serves the sources and the files of a release, each request after a delay. */
function serve(bundle: ReadonlyMap<string, string>, delay: number): Deno.HttpServer<Deno.NetAddr> {
  const options = { hostname: "127.0.0.1", port: 0, onListen: () => {} };
  return Deno.serve(options, async (request) => {
    const { pathname } = new URL(request.url);
    if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay));
    const built = bundle.get(pathname.slice(1));
    const body = built ?? await Deno.readFile(new URL(`.${pathname}`, ROOT));
    const type = built === undefined ? "application/typescript" : "text/javascript";
    return new Response(body, { headers: { "content-type": type } });
  });
}

if (import.meta.main) {
  const [resultPath] = readWords({ most: 1 });
  const bundle = await bundlePrograms();
  const [near, far] = [serve(bundle, 0), serve(bundle, DELAY_MILLISECONDS)];
  const clone = ["clone", "--quiet", "--depth", "1", `file://${fileURLToPath(ROOT)}`, "vramkit"];
  const atUrl = (server: typeof near, path: string) => () =>
    Promise.resolve(`http://127.0.0.1:${server.addr.port}/${path}`);
  const ways: readonly Way[] = [
    {
      name: "git clone",
      getKit: async (folder) => {
        await run("git", clone, folder);
        return `${folder}/vramkit/mod.ts`;
      },
    },
    { name: "URL of mod.ts", getKit: atUrl(near, "mod.ts") },
    { name: `URL of mod.ts, ${DELAY_MILLISECONDS} ms a request`, getKit: atUrl(far, "mod.ts") },
    {
      name: `URL of vramkit.js, ${DELAY_MILLISECONDS} ms a request`,
      getKit: atUrl(far, "vramkit.js"),
    },
  ];
  const rows: BenchRow[] = [];
  for (const way of ways) {
    const samples = [];
    for (let i = 0; i < SAMPLE_COUNT; i++) samples.push(await timeWay(way));
    for (const when of ["first", "second"] as const) {
      const times = samples.map((sample) => sample[when]);
      const name = `${way.name}: ${when === "first" ? "to the first card" : "the next start"}`;
      rows.push({ name, value: median(times), unit: "s", samples: times });
    }
  }
  await Promise.all([near.shutdown(), far.shutdown()]);
  using gpu = CudaDevice.open(0, { driver: "auto" });
  await report(gpu, rows, resultPath);
}
