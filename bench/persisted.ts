// Persisted memory and sleep, timed: how long a kernel's successor waits for its weights, beside loading them
// again, and how fast memory sleeps and wakes, beside page-locked copies. Kills a process of its own on the
// way. `deno task bench persisted [GiB [result.json]]`; the file with the weights lies in VRAMKIT_BENCH_FOLDER,
// or else in memory. On the simulated driver it shows that it works, and no speed.

import type { DeviceBuffer } from "../src/buffers/device_buffer.ts";
import { CudaDevice } from "../src/device/device.ts";
import { saveSafetensors } from "../src/interop/safetensors/save.ts";
import type { SafetensorsModel } from "../src/interop/safetensors/model.ts";
import { VirtualMemoryResource } from "../src/memory/virtual_memory_resource.ts";
import { KeeperConnection } from "../src/persist/keeper_connection.ts";
import { formatBytes } from "../src/words/format.ts";
import { readWords } from "./arguments.ts";
import { type BenchRow, median, report } from "./result_file.ts";

const NAME = "bench of persisted memory";

/** Tensors of the model. */
const COUNT = 8;

/** A kernel for a graph. */
const ADD = `extern "C" __global__ void add8(unsigned char *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += 8;
}`;

/** New processes that open the memory. */
const OPENINGS = 5;

const [first = "8", resultPath, part, path = "", ...rest] = readWords({ most: 5 });
const bytesEach = Math.floor(Number(first) * 2 ** 30 / COUNT);
const size = formatBytes(bytesEach * COUNT);
const smallEach = Math.ceil(bytesEach / 8); // what goes into files, which takes time
const small = formatBytes(smallEach * COUNT);
const rows: BenchRow[] = [];

function add(row: BenchRow): void {
  rows.push(row);
  console.error(`${row.name}: ${row.value} ${row.unit}`);
}

function secondsSince(start: number): number {
  return (performance.now() - start) / 1000;
}

/** Makes buffers of one value each. */
function make(gpu: CudaDevice, byteLength: number): Record<string, DeviceBuffer<"uint8">> {
  const names = Array.from({ length: COUNT }, (_, i) => `w${i}`);
  return Object.fromEntries(
    names.map((name, i) => [name, gpu.alloc("uint8", byteLength).fill(i + 1)]),
  );
}

/** Checks both ends and some bytes between of every tensor. */
async function check(tensors: Iterable<readonly [string, DeviceBuffer]>): Promise<void> {
  for (const [name, tensor] of tensors) {
    const places = Array.from({ length: 6 }, () => Math.floor(Math.random() * tensor.length));
    for (const at of [0, tensor.length - 1, ...places]) {
      const value = await tensor.at(at);
      if (value !== Number(name.slice(1)) + 1) throw new Error(`${name}[${at}] is ${value}`);
    }
  }
}

/** The times that a part tells its parent, in seconds. */
interface Times {
  /** From the start of the process to the first value. */
  readonly toUse: number;
  /** Time of the call, after `CudaDevice.open`. */
  readonly call: number;
  /** The same call again in one process. */
  readonly again?: number;
}

/** Runs a part in another process, and kills that when it says so. */
async function runPart(...words: string[]): Promise<Times> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", import.meta.filename ?? "", first, "-", ...words],
    stdout: "piped",
    stderr: "inherit",
    env: { STARTED: `${performance.timeOrigin + performance.now()}` },
  }).spawn();
  let text = "";
  for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.includes("KILL ME")) child.kill("SIGKILL");
  }
  await child.status;
  return JSON.parse(text.split("\n")[0] ?? "");
}

function sinceStart(): number {
  const started = Number(Deno.env.get("STARTED"));
  return (performance.timeOrigin + performance.now() - started) / 1000;
}

const PARTS: Readonly<Record<string, (gpu: CudaDevice) => Promise<void>>> = {
  async load(gpu) {
    const start = performance.now();
    using model = await gpu.loadSafetensors(path);
    const call = secondsSince(start);
    await model.tensor("w3").at(-1);
    console.log(JSON.stringify({ toUse: sinceStart(), call }));
    await check(model as Iterable<readonly [string, DeviceBuffer]>);
  },
  async persist(gpu) {
    const persist = () => gpu.persist(NAME, () => gpu.loadSafetensors(path));
    const start = performance.now();
    const model = await persist();
    const call = secondsSince(start);
    await model.tensor("w3").at(-1);
    const toUse = sinceStart();
    if (rest[0] === "killed") {
      console.log(JSON.stringify({ toUse, call }));
      console.log("KILL ME");
      await new Promise((resolve) => setTimeout(resolve, 60_000));
    }
    if (!model.persistence.wasThere) throw new Error("it was not there");
    model.dispose();
    await gpu.synchronize();
    const second = performance.now();
    using opened = await persist();
    console.log(JSON.stringify({ toUse, call, again: secondsSince(second) }));
    await check(opened as unknown as SafetensorsModel as Iterable<readonly [string, DeviceBuffer]>);
  },
  async sleep(gpu) { // into a file, and ends
    const kept = await gpu.persist(NAME, () => make(gpu, smallEach));
    const start = performance.now();
    await gpu.sleep(kept, { to: "file", path });
    console.log(JSON.stringify({ toUse: 0, call: secondsSince(start) }));
  },
  async wake(gpu) {
    const start = performance.now();
    using kept = await gpu.persist(NAME, () => make(gpu, smallEach));
    const call = secondsSince(start);
    console.log(JSON.stringify({ toUse: 0, call }));
    if (!kept.persistence.wasThere) throw new Error("it was not there");
    await check(Object.entries(kept).filter((entry) => /^w\d$/.test(entry[0])));
  },
};

/** Resolves when the driver and the keeper have noticed the end of a process. */
function noticed(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 300));
}

/** Loads weights again, persists them, kills their maker, and opens them in new processes. */
async function keepAndOpen(gpu: CudaDevice, file: string): Promise<void> {
  {
    const tensors = make(gpu, bytesEach);
    await saveSafetensors(file, tensors);
    for (const tensor of Object.values(tensors)) tensor.dispose();
    await gpu.synchronize();
    gpu.trim();
  }
  const loads: Times[] = [];
  for (let i = 0; i < 2; i++) loads.push(await runPart("load", file));
  const before = gpu.memory.freeBytes;
  const made = await runPart("persist", file, "killed");
  add({ name: `persist() of a model of ${size}, loaded on the way`, value: made.call, unit: "s" });
  await noticed();
  const kept = before - gpu.memory.freeBytes;
  add({ name: "bytes in use when its maker was killed", value: kept, unit: "bytes" });
  using keeper = await KeeperConnection.find();
  if (keeper !== undefined) {
    const status = Deno.readTextFileSync(`/proc/${keeper.pid}/status`);
    const resident = 1024 * Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]);
    add({ name: "the keeper's resident memory", value: resident, unit: "bytes" });
  }
  if (!gpu.isSimulated) {
    const words = ["--query-compute-apps=pid,used_memory", "--format=csv,noheader"];
    const { stdout } = await new Deno.Command("nvidia-smi", { args: words }).output();
    const named = new TextDecoder().decode(stdout).trim().replaceAll("\n", "; ");
    console.log(`nvidia-smi names these processes: ${named}; the keeper is ${keeper?.pid}`);
  }
  const opened: Times[] = [];
  for (let i = 0; i < OPENINGS; i++) opened.push(await runPart("persist", file));
  const samplesOf = (times: readonly Times[], key: keyof Times) =>
    times.map((time) => time[key] ?? NaN);
  const loaded = samplesOf(loads, "toUse");
  const uses = samplesOf(opened, "toUse");
  add({
    name: `start of a process to its first use of ${size}`,
    value: median(uses),
    unit: "s",
    samples: uses,
    reference: { name: "by loading again", value: median(loaded), samples: loaded },
  });
  const calls = samplesOf(opened, "call");
  add({
    name: `open of ${size}, after CudaDevice.open`,
    value: median(calls),
    unit: "s",
    samples: calls,
    promise: { text: "under 20 ms", holds: median(calls) < 0.02 },
  });
  const again = samplesOf(opened, "again");
  add({ name: "the same, again in one process", value: median(again), unit: "s", samples: again });
  await gpu.forget(NAME);
  await gpu.synchronize();
  add({ name: "bytes left after forget()", value: before - gpu.memory.freeBytes, unit: "bytes" });
}

/** Puts persisted memory to sleep in a file, and opens it in another process. */
async function outliveInFile(gpu: CudaDevice, file: string): Promise<void> {
  const before = gpu.memory.freeBytes;
  const { call } = await runPart("sleep", file);
  await noticed();
  add({ name: `sleep of ${small} into a file in memory`, value: call, unit: "s" });
  add({ name: "bytes in use meanwhile", value: before - gpu.memory.freeBytes, unit: "bytes" });
  const woken = await runPart("wake", file);
  add({ name: "open of the file by another process", value: woken.call, unit: "s" });
  await gpu.forget(NAME);
}

/** Adds the speed of moving bytes beside that of page-locked copies. */
function addSpeed(
  name: string,
  { bytes, seconds, ceiling, promised }: {
    readonly bytes: number;
    readonly seconds: number;
    readonly ceiling: number;
    readonly promised: boolean;
  },
): void {
  const value = bytes / seconds / 1e9;
  const reference = { name: "page-locked copies", value: ceiling };
  const promise = { text: "at least 0.9 of page-locked", holds: value >= 0.9 * ceiling };
  add({ name, value, unit: "GB/s", reference, ...(promised ? { promise } : {}) });
}

async function sleepAndWake(): Promise<void> {
  const resource = (gpu: ConstructorParameters<typeof VirtualMemoryResource>[0]) => {
    return new VirtualMemoryResource(gpu);
  };
  using gpu = CudaDevice.open(0, { driver: "auto", resource });
  const quarter = Math.floor(bytesEach / 4);
  const buffers = make(gpu, quarter);
  const { w0: source, w1: target } = buffers;
  if (source === undefined || target === undefined) return;
  using add8 = gpu.isSimulated ? undefined : await gpu.compile(ADD);
  using graph = gpu.capture(() => {
    target.copyFrom(source);
    source.subarray(0, 1024).fill(99);
    add8?.launch({ grid: 4, block: 256, args: [source, 1024] });
  });
  using pinned = gpu.pinned("uint8", Math.min(quarter, 2 ** 30));
  const part = source.subarray(0, pinned.length);
  await gpu.time(() => pinned.copyFrom(part));
  const down = (await gpu.time(() => pinned.copyFrom(part))).gigabytesPerSecond;
  const up = (await gpu.time(() => part.copyFrom(pinned))).gigabytesPerSecond;
  const bytes = quarter * COUNT;
  for (const round of ["first", "second", "third"]) {
    const start = performance.now();
    await gpu.sleep(buffers);
    const promised = round !== "first"; // which page-locks fresh memory
    const asleep = { bytes, seconds: secondsSince(start), ceiling: down, promised };
    addSpeed(`${round} sleep of ${formatBytes(bytes)}`, asleep);
    const waking = performance.now();
    await gpu.wake(buffers);
    addSpeed(`${round} wake`, {
      bytes,
      seconds: secondsSince(waking),
      ceiling: up,
      promised: true,
    });
    await check(Object.entries(buffers).slice(2));
  }
  await gpu.sleep(buffers);
  const start = performance.now();
  graph.launch(); // wakes what it uses
  await gpu.synchronize();
  const name = "a graph of a copy, a fill and a kernel, launched while its memory sleeps";
  add({ name, value: secondsSince(start), unit: "s" });
  const values = [await target.at(5000), await target.at(-1), await source.at(3)];
  if (`${values}` !== `1,1,${add8 === undefined ? 99 : 107}`) throw new Error(`it gave ${values}`);
  for (const buffer of Object.values(buffers)) buffer.dispose();
}

if (part !== undefined) {
  using gpu = CudaDevice.open(0, { driver: "auto" });
  await PARTS[part]?.(gpu);
} else {
  using gpu = CudaDevice.open(0, { driver: "auto" });
  const folder = Deno.env.get("VRAMKIT_BENCH_FOLDER") || "/dev/shm";
  const file = Deno.makeTempFileSync({ dir: folder, suffix: ".safetensors" });
  try {
    for (
      const step of [() => keepAndOpen(gpu, file), () => outliveInFile(gpu, file), sleepAndWake]
    ) {
      await step().catch((error) => console.error(error));
      Deno.truncateSync(file);
    }
  } finally {
    Deno.removeSync(file);
  }
  await report(gpu, rows, resultPath === "-" ? undefined : resultPath);
}
