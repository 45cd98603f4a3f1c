// Times whole programs, from nothing to their end: a process starts, imports its library, moves an
// array to the GPU and back, and ends. `deno task bench programs [--out result.json] [--picture picture.svg]
// [--before ../before/mod.ts] [--rounds N] [--sizes LIST]`; libraries that are not installed are left out. They
// run in turn, so that a busy machine is busy for all.

import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { CudaDevice, formatBytes, parseBytes } from "../mod.ts";
import { readOptions } from "./arguments.ts";
import { type BenchRow, median, report } from "./result_file.ts";

/** The program of a library: it moves `count` float32 there and back, and ends with code 0. */
interface Program {
  readonly name: string;
  readonly command: (count: number) => readonly [program: string, ...args: string[]];
}

/** The program of this kit, or of another version of it, by the address of its mod.ts. */
const kitProgram = (name: string, mod: string): Program => ({
  name,
  command: (count) => [
    Deno.execPath(),
    "eval",
    "--ext=ts",
    "--no-lock",
    `import { CudaDevice } from ${JSON.stringify(mod)};
using gpu = CudaDevice.open(0, { driver: "auto" });
const a = new Float32Array(${count}).fill(1);
using x = await gpu.upload(a);
if ((await x.download()).at(-1) !== 1) Deno.exit(1);`,
  ],
});

/** A program of Python's. Its array is written before: nobody moves memory that was never touched. */
const python = (name: string, body: string): Program => ({
  name,
  command: (count) => [
    Deno.env.get("VRAMKIT_PYTHON") || "python3",
    "-c",
    `import numpy\na = numpy.ones(${count}, numpy.float32)\n${body}\nassert b[-1] == 1`,
  ],
});

const PROGRAMS: readonly Program[] = [
  kitProgram("vramkit", new URL("../mod.ts", import.meta.url).href),
  python("CuPy", "import cupy\nb = cupy.asnumpy(cupy.asarray(a))"),
  python(
    "cuda.core",
    `try: from cuda.core import Device
except ImportError: from cuda.core.experimental import Device
from cuda.bindings import driver
device = Device(); device.set_current()
x = device.allocate(a.nbytes, stream=device.default_stream); device.sync()
b = numpy.empty_like(a)
assert driver.cuMemcpyHtoD(int(x.handle), a.ctypes.data, a.nbytes)[0] == 0
assert driver.cuMemcpyDtoH(b.ctypes.data, int(x.handle), a.nbytes)[0] == 0`,
  ),
  python("JAX", "import jax\nb = numpy.asarray(jax.device_put(a, jax.devices('cuda')[0]))"),
  python("PyTorch", "import torch\nb = torch.from_numpy(a).cuda().cpu().numpy()"),
];

/** Seconds of a program; undefined when it fails. */
async function timeOf({ name, command }: Program, count: number): Promise<number | undefined> {
  const [program, ...args] = command(count);
  const start = performance.now();
  try {
    const { success, stderr } = await new Deno.Command(program, {
      args,
      env: { NO_COLOR: "1" },
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).output();
    const seconds = (performance.now() - start) / 1000;
    if (success) return seconds;
    const [reason] = new TextDecoder().decode(stderr).trim().split("\n").slice(-1);
    console.error(`${name} is left out: ${reason}`);
  } catch (error) {
    console.error(`${name} is left out: ${error}`);
  }
  return undefined;
}

/** Leaves out the programs that do not run here; what the rest reads from the disk is in memory then. */
async function thatRun(programs: readonly Program[]): Promise<Program[]> {
  const here: Program[] = [];
  for (const program of programs) {
    if (await timeOf(program, 1024) !== undefined) here.push(program);
  }
  return here;
}

/** Runs programs in turn. */
async function measure(
  programs: readonly Program[],
  { byteLength, roundCount }: { readonly byteLength: number; readonly roundCount: number },
): Promise<BenchRow[]> {
  const count = byteLength / Float32Array.BYTES_PER_ELEMENT;
  const times = new Map(programs.map((program): [Program, number[]] => [program, []]));
  for (let round = 0; round < roundCount; round++) {
    for (const [program, samples] of times) {
      const seconds = await timeOf(program, count);
      if (seconds !== undefined) samples.push(seconds);
    }
  }
  return [...times].map(([{ name }, samples]) => ({
    name: `${name}, ${formatBytes(byteLength)} up and back`,
    value: median(samples),
    unit: "s",
    samples,
  }));
}

/** Draws bars for the largest array, readable on light and dark pages. */
export function picture(rows: readonly BenchRow[], device: string): string {
  const [title = ""] = rows.map(({ name }) => name.replace(/^[^,]*, /, ""));
  const longest = Math.max(...rows.map(({ value }) => value));
  const bars = rows.map(({ name, value }, index) => {
    const y = 34 + 24 * index;
    const width = 420 * value / longest;
    const [label = ""] = name.split(",");
    const fill = index === 0 ? "#2f81c7" : "#8b949e";
    return `<text x="82" y="${y + 13}" text-anchor="end">${label}</text>` +
      `<rect x="90" y="${y}" width="${width.toFixed(1)}" height="17" rx="2" fill="${fill}"/>` +
      `<text x="${(96 + width).toFixed(1)}" y="${y + 13}">${value.toFixed(1)} s</text>`;
  });
  const height = 42 + 24 * rows.length;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 570 ${height}" width="570" ` +
    `height="${height}" font-family="system-ui, sans-serif" font-size="13" fill="#757b84">
<title>Seconds of whole programs: ${title}, ${device}</title>
<text x="0" y="16" font-weight="600">A whole program: ${title}, ${device}</text>
${bars.join("\n")}
</svg>
`;
}

if (import.meta.main) {
  const flags = readOptions({
    out: { type: "string" },
    picture: { type: "string" },
    before: { type: "string" },
    rounds: { type: "string", default: "5" },
    sizes: { type: "string", default: "4 KiB,256 MiB" },
  });
  const sizes = flags.sizes.split(",").map((size) => parseBytes(size, "--sizes"));
  const programs = [...PROGRAMS];
  if (flags.before !== undefined) {
    programs.push(kitProgram("vramkit before", pathToFileURL(resolve(flags.before)).href));
  }
  const rows: BenchRow[] = [];
  const here = await thatRun(programs);
  for (const byteLength of sizes) {
    rows.push(...await measure(here, { byteLength, roundCount: Number(flags.rounds) }));
  }
  using gpu = CudaDevice.open(0, { driver: "auto" });
  await report(gpu, rows, flags.out);
  const picturePath = flags.picture;
  if (picturePath !== undefined) {
    const largest = rows.slice(-rows.length / sizes.length);
    await Deno.writeTextFile(picturePath, picture(largest, gpu.name));
    console.log(`Wrote ${fileURLToPath(new URL(picturePath, `file://${Deno.cwd()}/`))}`);
  }
}
