// How fast are collective operations over all GPUs, in one process and with a process for each rank, beside
// torch.distributed and nccl4py on the same GPUs? `deno task bench:collectives [result.json [call [bytes]]]`,
// with "all" for all calls, and sizes from so many bytes on; these need a python3 that has them. Bandwidth is
// that of the bus, as nccl-tests define it, so that calls and numbers of GPUs can be compared.

import { CudaDevice } from "../mod.ts";
import type { DeviceGroup } from "../src/entries/group.ts";
import { formatBytes } from "../src/words/format.ts";
import { readWords } from "./arguments.ts";
import { type Call, callOn, CALLS, type RankPlan } from "./collective_calls.ts";
import { outputOf } from "./peers/process.ts";
import { type BenchRow, median, report } from "./result_file.ts";

const SAMPLE_COUNT = 7;
const WAIT_COUNT = 20;

/** Sizes, and how often a sample repeats the call. */
const SIZES: readonly (readonly [bytes: number, repeats: number])[] = [
  [1024, 200],
  [64 << 10, 200],
  [1 << 20, 100],
  [64 << 20, 20],
  [1 << 30, 5],
];

/** From here on the project promises a share of what torch.distributed reaches. */
const PROMISED_BYTES = 64 << 20;
const PROMISED_SHARE = 0.97;

/** One call at one size. */
interface Found {
  readonly call: Call;
  readonly size: number;
  /** Seconds of a call among others in a row, on the GPU's clock. */
  readonly samples: readonly number[];
  /** Seconds of a call that is waited for. */
  readonly waited: readonly number[];
}

const [out, wanted = "all", smallest = "0"] = readWords({ most: 3 });
const calls = CALLS.filter((call) => wanted === "all" || wanted === call);
const isSimulated = !hasGpus();
const sizes = (isSimulated ? SIZES.slice(0, 2) : SIZES)
  .filter(([bytes]) => bytes >= Number(smallest));
using gpus = CudaDevice.all({ driver: isSimulated ? "simulated" : "cuda" });
const { length: size } = gpus;
const theirs = await measurePeer("torch", "collectives.py");
const ours = await measureKit();
const apart = await measureProcesses();
let wrapped: Found[] = [];
await tell(); // what is found is kept, whatever comes of the rest
wrapped = await measurePeer("nccl4py", "nccl4py_collectives.py");
if (wrapped.length > 0) await tell();

async function tell(): Promise<void> {
  const [first] = gpus;
  if (first !== undefined) await report(first, rowsOf(), out);
}

function hasGpus(): boolean {
  try {
    return CudaDevice.count() > 0;
  } catch {
    return false;
  }
}

async function measureKit(): Promise<Found[]> {
  await using group = await gpus.group();
  const found: Found[] = [];
  for (const call of calls) {
    for (const [bytes, repeats] of sizes) {
      found.push(await measure(group, { call, bytes, repeats }));
    }
  }
  return found;
}

async function measure(
  group: DeviceGroup,
  { call, bytes, repeats }: { call: Call; bytes: number; repeats: number },
): Promise<Found> {
  using stack = new DisposableStack();
  const make = (length: number) => gpus.map((gpu) => stack.use(gpu.zeros("float32", length)));
  const wholes = make(bytes / 4);
  const others = call === "allToAll" ? make(bytes / 4) : wholes;
  const parts = make(bytes / 4 / size);
  const perform = () => callOn(group, call, { wholes, others, parts });
  for (let warm = 0; warm < 5; warm++) perform();
  const samples: number[] = [];
  const waited: number[] = [];
  const [stream] = gpus.map((gpu) => gpu.stream);
  for (let sample = 0; sample < SAMPLE_COUNT && stream !== undefined; sample++) {
    await group.barrier();
    void perform(); // those that are timed begin when all ranks are there
    using start = stream.record();
    for (let repeat = 0; repeat < repeats; repeat++) perform();
    using end = stream.record();
    await group.barrier();
    samples.push(end.secondsSince(start) / repeats);
    const began = performance.now();
    for (let wait = 0; wait < WAIT_COUNT; wait++) await perform();
    waited.push((performance.now() - began) / 1000 / WAIT_COUNT);
  }
  return { call, size: bytes, samples, waited };
}

/** Measures the same with a process for each rank; rank 0 tells what it found. */
async function measureProcesses(): Promise<Found[]> {
  const program = decodeURIComponent(new URL("collectives_rank.ts", import.meta.url).pathname);
  using probe = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = probe.addr as Deno.NetAddr;
  probe.close();
  const texts = await Promise.all(gpus.map((_, rank) => {
    const plan: RankPlan = {
      rendezvous: `tcp://127.0.0.1:${port}`,
      rank,
      size,
      isSimulated,
      calls,
      sizes,
      samples: SAMPLE_COUNT,
      waits: WAIT_COUNT,
    };
    const args = ["run", "-A", "--no-check", program, JSON.stringify(plan)];
    return outputOf(Deno.execPath(), args);
  }));
  return JSON.parse(texts[0]?.trim().split("\n").at(-1) ?? "[]");
}

/** Measures the same in Python with a process for each rank; nothing where the library is not there. */
async function measurePeer(name: string, program: string): Promise<Found[]> {
  if (isSimulated) return [];
  const path = decodeURIComponent(new URL(`peers/python/${program}`, import.meta.url).pathname);
  const plan = { calls, sizes, samples: SAMPLE_COUNT, waits: WAIT_COUNT };
  try {
    // NCCL may print its version before the document, which is the last line.
    const lines = (await outputOf("python3", [path, JSON.stringify(plan)])).trim().split("\n");
    const { version, nccl, found } = JSON.parse(lines.at(-1) ?? "");
    console.log(`${name} ${version} with NCCL ${nccl.join(".")}`);
    return found;
  } catch (error) {
    console.error(`${name}: ${error instanceof Error ? error.message : error}`);
    return [];
  }
}

function rowsOf(): BenchRow[] {
  return ours.flatMap(({ call, size: bytes, samples, waited }) => {
    const name = `${call} ${formatBytes(bytes)}`;
    const peer = theirs.find((other) => other.call === call && other.size === bytes);
    return [
      bandwidthRow(name, { call, bytes, samples, peer: peer?.samples }),
      {
        name: `${name}, awaited`,
        value: median(waited),
        unit: "s" as const,
        samples: waited,
        reference: peer && { name: "torch", value: median(peer.waited), samples: peer.waited },
      },
      ...processRows(name, { call, bytes, peer }),
      ...wrappedRows(name, { call, bytes, peer }),
    ];
  });
}

function processRows(
  name: string,
  { call, bytes, peer }: { call: Call; bytes: number; peer: Found | undefined },
): BenchRow[] {
  const found = apart.find((other) => other.call === call && other.size === bytes);
  if (found === undefined) return [];
  const { samples, waited } = found;
  const title = `${name}, a process a rank`;
  return [
    bandwidthRow(title, { call, bytes, samples, peer: peer?.samples }),
    {
      name: `${title}, awaited`,
      value: median(waited),
      unit: "s" as const,
      samples: waited,
      reference: peer && { name: "torch", value: median(peer.waited), samples: peer.waited },
    },
  ];
}

/** What nccl4py reaches: NCCL's own binding, beside torch as well. */
function wrappedRows(
  name: string,
  { call, bytes, peer }: { call: Call; bytes: number; peer: Found | undefined },
): BenchRow[] {
  const found = wrapped.find((other) => other.call === call && other.size === bytes);
  if (found === undefined) return [];
  const { samples, waited } = found;
  const { promise: _, ...row } = bandwidthRow(`${name}, nccl4py`, {
    call,
    bytes,
    samples,
    peer: peer?.samples,
  });
  return [
    row,
    {
      name: `${name}, nccl4py, awaited`,
      value: median(waited),
      unit: "s" as const,
      samples: waited,
      reference: peer && { name: "torch", value: median(peer.waited), samples: peer.waited },
    },
  ];
}

function bandwidthRow(
  name: string,
  { call, bytes, samples, peer }: {
    call: Call;
    bytes: number;
    samples: readonly number[];
    peer: readonly number[] | undefined;
  },
): BenchRow {
  // As nccl-tests: bytes that each link must carry at least, by the bytes of the whole.
  const share = call === "allReduce" ? 2 * (size - 1) / size : (size - 1) / size;
  const factor = call === "broadcast" ? 1 : size === 1 ? 1 : share;
  const speed = (seconds: number) => bytes * factor / seconds / 1e9;
  const speeds = samples.map(speed);
  const row = { name, value: median(speeds), unit: "GB/s" as const, samples: speeds };
  if (peer === undefined) return row;
  const theirSpeeds = peer.map(speed);
  const reference = { name: "torch", value: median(theirSpeeds), samples: theirSpeeds };
  if (bytes < PROMISED_BYTES) return { ...row, reference };
  const holds = row.value >= PROMISED_SHARE * reference.value;
  return { ...row, reference, promise: { text: `at least ${PROMISED_SHARE} of torch`, holds } };
}
