// How far is the kit from the driver itself? Copies, calls and start-up beside the same program in
// C++, in one run: `deno task bench driver [peers.json [result.json]]`.

import { CudaDevice } from "../mod.ts";
import { readWords } from "./arguments.ts";
import { findPeerResult, type PeerReport } from "./peers/report.ts";
import { type BenchRow, median, report } from "./result_file.ts";

const PEER = "C++ driver API";
const CALL_COUNT = 10_000;

const [peersPath, resultPath] = readWords({ most: 2 });
const peers: PeerReport | undefined = peersPath === undefined
  ? undefined
  : JSON.parse(await Deno.readTextFile(peersPath));

const startup = await startupRows();
using gpu = CudaDevice.open(0, { driver: "auto" });
const rows = [...startup, ...await copyRows(gpu), ...callRows(gpu), ...await leakRows(gpu)];
await report(gpu, rows, resultPath);

/** Compares with the C++ program where its report is at hand. */
function beside(
  row: BenchRow,
  query: { name: string; method?: string; byteLength?: number },
  promise?: { text: string; holds: (ours: number, theirs: number) => boolean },
): BenchRow {
  const found = peers === undefined ? undefined : findPeerResult(peers, { peer: PEER, ...query });
  if (found === undefined) return row;
  const reference = { name: "C++", value: found.value };
  if (promise === undefined) return { ...row, reference };
  const holds = promise.holds(row.value, found.value);
  return { ...row, reference, promise: { text: promise.text, holds } };
}

/** Large copies, by events behind a latch. */
async function copyRows(gpu: CudaDevice): Promise<BenchRow[]> {
  const { points } = await gpu.bandwidth({ sizes: ["256 MiB", "1 GiB"], kinds: ["pinned"] });
  const names = {
    "host-to-device": "pinnedUpload",
    "device-to-host": "pinnedDownload",
    "device-to-device": "deviceCopy",
  } as const;
  return points.map(({ direction, byteLength, gigabytesPerSecond, verified }) => {
    if (!verified) throw new Error(`Cannot report ${direction}: bytes were wrong`);
    const name = names[direction];
    const share = name === "deviceCopy" ? 0.98 : 0.99;
    const row = { name: `${name} ${byteLength} bytes`, value: gigabytesPerSecond, unit: "GB/s" };
    return beside(row as BenchRow, { name, byteLength }, {
      text: `at least ${share} of C++`,
      holds: (ours, theirs) => ours >= share * theirs,
    });
  });
}

/** The cost of small calls for the host. */
function callRows(gpu: CudaDevice): BenchRow[] {
  using word = gpu.pinned("uint32", 1);
  using target = gpu.zeros("uint32", 1);
  const host = new Uint32Array(1);
  const options = { stream: gpu.stream };
  word.array[0] = 1;
  const queue = secondsPerCall(gpu, () => target.copyFrom(word, options));
  const wait = secondsPerCall(gpu, () => {
    target.copyFrom(word, options);
    gpu.stream.synchronizeSync();
  });
  const upload = secondsPerCall(gpu, () => target.uploadSync(host));
  const resource = gpu.memoryResource;
  const allocate = secondsPerCall(gpu, () => {
    const address = resource.allocate(2 ** 20, gpu.stream);
    resource.deallocate(address, 2 ** 20, gpu.stream);
  });
  const slower = (text: string, extra: number) => ({
    text,
    holds: (ours: number, theirs: number) => ours <= theirs + extra,
  });
  return [
    beside({ name: "queue a 4-byte pinned copy", value: queue, unit: "s" }, {
      name: "queueUpload",
    }, { text: "at most 5 % over C++", holds: (ours, theirs) => ours <= 1.05 * theirs }),
    beside({ name: "4-byte pinned copy and wait", value: wait, unit: "s" }, {
      name: "uploadAndWait",
    }, slower("at most 1 us over C++", 1e-6)),
    beside({ name: "uploadSync of 4 bytes", value: upload, unit: "s" }, {
      name: "uploadAndWait",
    }, slower("at most 1 us over C++", 1e-6)),
    beside({ name: "allocate and free 1 MiB, default resource", value: allocate, unit: "s" }, {
      name: "allocateFree",
      method: "cuMemAllocAsync, cuMemFreeAsync, threshold 0",
    }, slower("at most 300 ns over C++", 3e-7)),
    {
      name: "allocate and dispose a 1 KiB buffer",
      value: secondsPerCall(gpu, () => gpu.alloc("uint8", 1024).dispose()),
      unit: "s",
    },
  ];
}

/** Median over batches; the queues are emptied between two batches. */
function secondsPerCall(gpu: CudaDevice, call: () => unknown): number {
  const samples = Array.from({ length: 11 }, () => {
    gpu.synchronizeSync();
    const start = performance.now();
    for (let i = 0; i < CALL_COUNT; i++) call();
    return (performance.now() - start) / 1000 / CALL_COUNT;
  });
  return median(samples);
}

/** Whether 10,000 rounds leave memory where it was. */
async function leakRows(gpu: CudaDevice): Promise<BenchRow[]> {
  const values = new Float32Array(1024);
  const round = async () => {
    using buffer = await gpu.upload(values);
    await buffer.download(values);
  };
  for (let i = 0; i < 2_000; i++) await round();
  gpu.synchronizeSync();
  const before = { free: gpu.memory.freeBytes, resident: Deno.memoryUsage().rss };
  for (let i = 0; i < 10_000; i++) await round();
  gpu.synchronizeSync();
  const lost = before.free - gpu.memory.freeBytes;
  const grown = Deno.memoryUsage().rss - before.resident;
  const promise = (bytes: number) => ({ text: "at most 4 MiB", holds: bytes <= 4 * 2 ** 20 });
  const what = "10,000 times allocate, upload, download, dispose";
  return [
    { name: `${what}: device memory lost`, value: lost, unit: "bytes", promise: promise(lost) },
    { name: `${what}: process grown`, value: grown, unit: "bytes", promise: promise(grown) },
  ];
}

/** Import and open, each in fresh processes, because the driver starts once in a process. */
async function startupRows(): Promise<BenchRow[]> {
  await measureStartup(); // the first run of a version compiles it, and Deno keeps the result
  const samples = [];
  for (let i = 0; i < 5; i++) samples.push(await measureStartup());
  const importSeconds = median(samples.map((sample) => sample.importSeconds));
  const openSeconds = median(samples.map((sample) => sample.openSeconds));
  const cpp = ["initialize", "retainContext"].map((name) =>
    peers === undefined ? undefined : findPeerResult(peers, { peer: PEER, name })?.value
  );
  const row: BenchRow = { name: "CudaDevice.open(), fresh process", value: openSeconds, unit: "s" };
  const importRow: BenchRow = {
    name: "import mod.ts, fresh process",
    value: importSeconds,
    unit: "s",
    promise: { text: "under 50 ms", holds: importSeconds < 0.05 },
  };
  const [initialize, retain] = cpp;
  if (initialize === undefined || retain === undefined) return [importRow, row];
  const value = initialize + retain;
  const promise = { text: "at most 20 ms over C++", holds: openSeconds < value + 0.02 };
  return [importRow, { ...row, reference: { name: "C++", value }, promise }];
}

async function measureStartup(): Promise<{ importSeconds: number; openSeconds: number }> {
  const kit = new URL("../mod.ts", import.meta.url).href;
  const program = `const start = performance.now();
    const { CudaDevice } = await import("${kit}");
    const imported = performance.now();
    const gpu = CudaDevice.open(0, { driver: "auto" });
    const opened = performance.now();
    console.log(JSON.stringify({
      importSeconds: (imported - start) / 1000,
      openSeconds: (opened - imported) / 1000,
    }));
    gpu.dispose();`;
  const path = await Deno.makeTempFile({ suffix: ".ts" });
  try {
    await Deno.writeTextFile(path, program);
    const command = new Deno.Command(Deno.execPath(), {
      args: ["run", "--allow-all", path],
      stdout: "piped",
    });
    const { success, stdout } = await command.output();
    if (!success) throw new Error("Cannot measure start-up: the program failed");
    return JSON.parse(new TextDecoder().decode(stdout));
  } finally {
    await Deno.remove(path);
  }
}
