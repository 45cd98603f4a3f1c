// Files that are not in the page cache: the kit's loader beside dd, PyTorch, and direct reads (O_DIRECT) of
// page-locked slots, several under way. Before each read the system forgets the file's pages; a disk that is
// another machine's may still have them, which dd's direct reads beside it tell.

import { join } from "node:path";
import { type CudaDevice, type DeviceBuffer, formatBytes } from "../../mod.ts";
import { cString } from "../../ffi/c_strings.ts";
import { O } from "../../ffi/host.ts";
import { DiskFile } from "../../src/disk/disk_file.ts";
import { openSystem } from "../../src/disk/system_error.ts";
import { fillPattern } from "../../src/measure/pattern.ts";
import type { BenchRow } from "../result_file.ts";
import { SEED } from "./bench_run.ts";

/** Reads past the page cache, into aligned memory: `O_DIRECT` of fcntl.h on Linux. */
const O_DIRECT = Deno.build.arch === "aarch64" ? 0o200000 : 0o40000;

/** Bytes of one direct read. */
const SLOT_BYTES = 4 * 2 ** 20;
/** Ways to read: straight from the disk or not, and the number of reads under way. */
const WAYS = [[true, 8], [true, 32], [false, 8], [true, 1]] as const;
const TENSOR_COUNT = 32;
const PYTHON = Deno.env.get("VRAMKIT_PYTHON") || "python3";

const TORCH = `import os, sys, time
import torch
from safetensors.torch import load_file
torch.zeros(1, device="cuda")
for what in ("cold", "warm"):
    with open(sys.argv[1], "rb") as file:
        if what == "cold":
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    start = time.perf_counter()
    tensors = load_file(sys.argv[1], device="cuda")
    torch.cuda.synchronize()
    print(time.perf_counter() - start)
    del tensors`;

/** Measures one model of that size; a second sample of each tells what the disk's own memory has. */
export async function coldRows(
  gpu: CudaDevice,
  folder: string,
  { largestBytes }: { readonly largestBytes: number },
): Promise<BenchRow[]> {
  const path = join(folder, "cold.safetensors");
  const byteLength = await writeModel(path, largestBytes);
  const rows: BenchRow[] = [];
  const row = (name: string, samples: readonly number[]) => {
    const speeds = samples.map((seconds) => byteLength / seconds / 1e9);
    const [value = NaN] = speeds.toSorted((a, b) => a - b).slice(speeds.length >> 1);
    rows.push({
      name: `${name}, ${formatBytes(byteLength)}`,
      value,
      unit: "GB/s",
      samples: speeds,
    });
    console.log(rows.at(-1)?.name, speeds.map((speed) => speed.toFixed(2)).join(" "));
  };
  drop(path);
  const dd = (...more: string[]) =>
    timed(() => run("dd", [`if=${path}`, "of=/dev/null", "bs=16M", ...more]));
  row("dd, first read", [await dd()]);
  row("dd, second read", [await dd()]);
  drop(path);
  row("dd, direct", [await dd("iflag=direct"), await dd("iflag=direct")]);
  const torch = await run(PYTHON, ["-c", TORCH, path]).catch((error: Error) => error.message);
  const [cold, warm] = torch.split("\n").map(Number);
  if (cold !== undefined && cold > 0) row("PyTorch, load_file(), cold", [cold]);
  if (warm !== undefined && warm > 0) row("PyTorch, load_file(), warm", [warm]);
  using expected = await gpu.uploadFile(path);
  const load = async (options = {}) => {
    using model = await gpu.loadSafetensors(path, options);
    if (model.size !== TENSOR_COUNT) throw new Error("Cannot report a model without its tensors");
  };
  row("loadSafetensors(), warm", [await timed(load), await timed(load), await timed(load)]);
  for (const round of ["cold", "cold, once more"]) {
    drop(path);
    row(`loadSafetensors(), ${round}`, [await timed(load)]);
  }
  await load({ cache: "drop" });
  row('loadSafetensors() behind { cache: "drop" }', [await timed(() => load({ cache: "drop" }))]);
  using target = gpu.alloc("uint8", byteLength);
  for (const [isDirect, depth] of WAYS) {
    drop(path);
    target.fill(0);
    await gpu.synchronize();
    const seconds = await timed(() => readSlots(gpu, { path, target, depth, isDirect }));
    const how = isDirect ? "O_DIRECT" : "through the page cache";
    row(`${depth} reads of ${formatBytes(SLOT_BYTES)} under way, ${how}`, [seconds]);
    if (!await target.equals(expected)) throw new Error(`Cannot report ${how}: bytes differ`);
  }
  return rows;
}

/** Reads a whole file into slots and copies them to the device, each by a worker with a stream of its own. */
async function readSlots(
  gpu: CudaDevice,
  { path, target, depth, isDirect }: {
    readonly path: string;
    readonly target: DeviceBuffer<"uint8">;
    readonly depth: number;
    readonly isDirect: boolean;
  },
): Promise<void> {
  const { open, close, preadNonblocking } = openSystem();
  const descriptor = open(cString(path), O.RDONLY | O.CLOEXEC | (isDirect ? O_DIRECT : 0), 0);
  if (descriptor < 0) throw new Error("Cannot open the file with O_DIRECT");
  using slots = gpu.pinned("uint8", depth * SLOT_BYTES);
  let next = 0;
  const work = async (slot: number) => {
    using stream = gpu.createStream();
    const memory = slots.subarray(slot * SLOT_BYTES, (slot + 1) * SLOT_BYTES);
    for (let at = next; at < target.byteLength; at = next) {
      next += SLOT_BYTES;
      const byteLength = Math.min(SLOT_BYTES, target.byteLength - at);
      const asked = BigInt(Math.ceil(byteLength / 4096) * 4096);
      const count = await preadNonblocking(descriptor, memory.ptr, asked, BigInt(at));
      if (Number(count) !== byteLength) throw new Error(`Cannot report: ${count} bytes were read`);
      target.subarray(at, at + byteLength).copyFrom(memory.subarray(0, byteLength), { stream });
      await stream.synchronize();
    }
  };
  try {
    await Promise.all(Array.from({ length: depth }, (_, slot) => work(slot)));
  } finally {
    close(descriptor);
  }
}

/** Writes a model of equal tensors, all of it on the disk, and returns its size. */
async function writeModel(path: string, largestBytes: number): Promise<number> {
  const bytes = new Uint8Array(Math.floor(largestBytes / TENSOR_COUNT / 2 ** 20) * 2 ** 20);
  fillPattern(bytes, SEED);
  const names = Array.from({ length: TENSOR_COUNT }, (_, i) => `t${i}`);
  const header = Object.fromEntries(names.map((name, i) => {
    const offsets = [i * bytes.byteLength, (i + 1) * bytes.byteLength];
    return [name, { dtype: "U8", shape: [bytes.byteLength], data_offsets: offsets }];
  }));
  const json = new TextEncoder().encode(JSON.stringify(header).padEnd(4096 - 8));
  const start = new Uint8Array(4096);
  new DataView(start.buffer).setBigUint64(0, BigInt(json.byteLength), true);
  start.set(json, 8);
  using file = await Deno.open(path, { write: true, create: true });
  for (const part of [start, ...names.map(() => bytes)]) {
    for (let end = 0; end < part.byteLength;) end += await file.write(part.subarray(end));
  }
  await file.sync(); // pages that are not on the disk stay
  return start.byteLength + TENSOR_COUNT * bytes.byteLength;
}

/** Has the system forget a file's pages. */
function drop(path: string): void {
  using file = new DiskFile(path, "read");
  file.dropCached();
}

async function timed(action: () => unknown): Promise<number> {
  const start = performance.now();
  await action();
  return (performance.now() - start) / 1000;
}

async function run(program: string, args: readonly string[]): Promise<string> {
  const command = new Deno.Command(program, { args: [...args], stdin: "null" });
  const { code, stdout, stderr } = await command.output();
  if (code !== 0) throw new Error(new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}
