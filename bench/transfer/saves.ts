// How fast are files saved, new ones and in the place of others, beside Python's save_file in the same
// folder? And many small tensors: `deno task bench saves [--largest BYTES] [--out result.json]`.
// TMPDIR chooses the disk; VRAMKIT_PYTHON a Python with safetensors and numpy.

import { join } from "node:path";
import { CudaDevice, type DeviceBuffer, type WriteFileOptions } from "../../mod.ts";
import { saveSafetensors } from "../../src/interop/safetensors/save.ts";
import { fillPattern } from "../../src/measure/pattern.ts";
import { runPython, whyWithout } from "../../tests/support/python.ts";
import { PEER, PEER_MODULES } from "../../tests/support/safetensors/peer.ts";
import { type BenchRow, median, report } from "../result_file.ts";
import { medianSeconds, pinnedCeiling, readFlags, SEED, verify } from "./bench_run.ts";

const SAMPLE_COUNT = 7;
/** Transfers before anything is timed, so that lanes run. */
const WARM_COUNT = 32;
const TENSOR_COUNT = 300;
const SMALL_COUNT = 2000;
const SMALL_BYTES = [4096, 8192, 12_288];

const { largestBytes, out } = await readFlags({ largestBytes: 2 ** 30 });
const folder = await Deno.makeTempDir({ prefix: "vramkit-bench-" });
try {
  using gpu = CudaDevice.open(0, { driver: "auto" });
  const ceiling = await pinnedCeiling(gpu, { largestBytes, direction: "device-to-host" });
  const rows: BenchRow[] = [{ name: "pinned ceiling, down", value: ceiling, unit: "GB/s" }];
  rows.push(...await fileRows(gpu), ...await modelRows(gpu), ...await smallRows(gpu));
  await report(gpu, rows, out);
} finally {
  await Deno.remove(folder, { recursive: true });
}

/** One large buffer as a file, in every way. */
async function fileRows(gpu: CudaDevice): Promise<BenchRow[]> {
  const path = join(folder, "file.bin");
  const bytes = new Uint8Array(largestBytes);
  fillPattern(bytes, SEED);
  using buffer = await gpu.upload(bytes);
  for (let i = 0; i < WARM_COUNT; i++) await buffer.upload(bytes);
  const write = (options?: WriteFileOptions) => () => buffer.writeFile(path, options);
  const ways: [name: string, run: () => Promise<void>][] = [
    ["writeFile() over a file", write()],
    ["writeFile() over a file, to the disk", write({ sync: true })],
    ["writeFile() into a file", write({ inPlace: true })],
    ["writeFile() into a file, at an offset", write({ fileOffset: 0 })],
  ];
  await buffer.writeFile(path);
  const rows = [await newFileRow("writeFile() of a new file", { path, run: write() })];
  await buffer.writeFile(path);
  for (const [name, run] of ways) {
    rows.push(await speedRow(name, { byteLength: largestBytes, run }));
  }
  verify(await Deno.readFile(path), "writeFile()");
  await Deno.remove(path);
  return rows;
}

/** A model of 300 tensors, and what Python needs for one of the same size. */
async function modelRows(gpu: CudaDevice): Promise<BenchRow[]> {
  const path = join(folder, "model.safetensors");
  const tensorBytes = Math.ceil(largestBytes / TENSOR_COUNT / 4096) * 4096;
  const byteLength = tensorBytes * TENSOR_COUNT;
  const bytes = new Uint8Array(tensorBytes);
  fillPattern(bytes, SEED);
  using memory = new DisposableStack();
  const tensors: [string, DeviceBuffer][] = [];
  for (let i = 0; i < TENSOR_COUNT; i++) {
    tensors.push([`layers.${i}.weight`, memory.use(await gpu.upload(bytes))]);
  }
  const run = () => saveSafetensors(path, tensors);
  await run();
  const rows = [
    await newFileRow(`saveSafetensors() of ${TENSOR_COUNT} tensors`, { path, byteLength, run }),
  ];
  await run();
  rows.push(await speedRow("saveSafetensors() over a file", { byteLength, run }));
  verify((await Deno.readFile(path)).subarray(-tensorBytes), "saveSafetensors()");
  await Deno.remove(path);
  const reason = await whyWithout(PEER_MODULES);
  if (reason !== undefined) {
    console.error(`No row for Python's save_file: ${reason}`);
    return rows;
  }
  const printed = await runPython([
    ...[PEER, "save", path, String(byteLength), String(SAMPLE_COUNT + 1)],
  ]);
  const [first = NaN, ...seconds]: number[] = JSON.parse(printed);
  const value = byteLength / median(seconds) / 1e9;
  rows.push(
    { name: "  Python's save_file of a new file", value: byteLength / first / 1e9, unit: "GB/s" },
    { name: "  Python's save_file over a file", value, unit: "GB/s" },
  );
  return rows;
}

/** Many small tensors, there and back. */
async function smallRows(gpu: CudaDevice): Promise<BenchRow[]> {
  const path = join(folder, "small.safetensors");
  using memory = new DisposableStack();
  const tensors: [string, DeviceBuffer][] = [];
  for (let i = 0; i < SMALL_COUNT; i++) {
    const bytes = new Uint8Array(SMALL_BYTES[i % SMALL_BYTES.length] ?? 0);
    fillPattern(bytes, SEED);
    tensors.push([`t${i}`, memory.use(await gpu.upload(bytes))]);
  }
  const save = () => saveSafetensors(path, tensors);
  await save();
  const saved = await medianSeconds(SAMPLE_COUNT, save);
  const loaded = await medianSeconds(SAMPLE_COUNT, async () => {
    using _model = await gpu.loadSafetensors(path);
  });
  using model = await gpu.loadSafetensors(path);
  for (const [name, tensor] of model) {
    verify(await tensor.as("uint8").download(), `tensor ${name}`);
  }
  const what = `${SMALL_COUNT} tensors of 4 to 12 KiB`;
  return [
    { name: `saveSafetensors() of ${what}`, value: saved, unit: "s" },
    { name: `loadSafetensors() of ${what}`, value: loaded, unit: "s" },
  ];
}

async function speedRow(
  name: string,
  { byteLength, run }: { readonly byteLength: number; readonly run: () => Promise<void> },
): Promise<BenchRow> {
  const seconds = await medianSeconds(SAMPLE_COUNT, run);
  return { name, value: byteLength / seconds / 1e9, unit: "GB/s" };
}

/** The speed of a file that is not there before. */
async function newFileRow(
  name: string,
  { path, byteLength = largestBytes, run }: {
    readonly path: string;
    readonly byteLength?: number;
    readonly run: () => Promise<void>;
  },
): Promise<BenchRow> {
  const afterEach = () => Deno.remove(path);
  await afterEach();
  const seconds = await medianSeconds(SAMPLE_COUNT, run, { afterEach });
  return { name, value: byteLength / seconds / 1e9, unit: "GB/s" };
}
