// How fast are collective operations over all GPUs, in one process and with a process for each rank, beside
// torch.distributed and nccl4py on the same GPUs? `deno task bench collectives [result.json [call [bytes]]]`,
// with "all" for all calls, and sizes from so many bytes on; these need a python3 that has them. Bandwidth is
// that of the bus, as nccl-tests define it, so that calls and numbers of GPUs can be compared.

import { CudaDevice } from "../mod.ts";
import { formatBytes } from "../src/words/format.ts";
import { readWords } from "./arguments.ts";
import {
  type Call,
  CALLS,
  type CallsPlan,
  measureCalls,
  type MeasuredCall,
  type RankPlan,
} from "./collective_calls.ts";
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

const [out, wanted = "all", smallest = "0"] = readWords({ most: 3 });
const calls = CALLS.filter((call) => wanted === "all" || wanted === call);
using gpus = CudaDevice.all({ driver: "auto" });
const { length: size } = gpus;
const isSimulated = [...gpus].some((gpu) => gpu.isSimulated);
const sizes = (isSimulated ? SIZES.slice(0, 2) : SIZES)
  .filter(([bytes]) => bytes >= Number(smallest));
const plan: CallsPlan = { calls, sizes, samples: SAMPLE_COUNT, waits: WAIT_COUNT };
const theirs = await measurePeer("torch", "collectives.py");
const ours = await measureKit();
const apart = await measureProcesses();
let wrapped: MeasuredCall[] = [];
await tell(); // what is found is kept, whatever comes of the rest
wrapped = await measurePeer("nccl4py", "nccl4py_collectives.py");
if (wrapped.length > 0) await tell();

async function tell(): Promise<void> {
  const [first] = gpus;
  if (first !== undefined) await report(first, rowsOf(), out);
}

async function measureKit(): Promise<MeasuredCall[]> {
  await using group = await gpus.group();
  return await measureCalls(group, [...gpus], plan);
}

/** Measures the same with a process for each rank; rank 0 tells what it found. */
async function measureProcesses(): Promise<MeasuredCall[]> {
  const program = decodeURIComponent(new URL("collectives_rank.ts", import.meta.url).pathname);
  using probe = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = probe.addr as Deno.NetAddr;
  probe.close();
  const texts = await Promise.all(gpus.map((_, rank) => {
    const rendezvous = `tcp://127.0.0.1:${port}`;
    const part: RankPlan = { ...plan, rendezvous, rank, size, isSimulated };
    const args = ["run", "-A", "--no-check", program, JSON.stringify(part)];
    return outputOf(Deno.execPath(), args);
  }));
  return JSON.parse(texts[0]?.trim().split("\n").at(-1) ?? "[]");
}

/** Measures the same in Python with a process for each rank; nothing where the library is not there. */
async function measurePeer(name: string, program: string): Promise<MeasuredCall[]> {
  if (isSimulated) return [];
  const path = decodeURIComponent(new URL(`peers/python/${program}`, import.meta.url).pathname);
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
  return ours.flatMap((found) => {
    const { call, size: bytes } = found;
    const same = (other: MeasuredCall) => other.call === call && other.size === bytes;
    const name = `${call} ${formatBytes(bytes)}`;
    const peer = theirs.find(same);
    return [
      ...callRows(name, found, peer),
      ...callRows(`${name}, a process a rank`, apart.find(same), peer),
      // NCCL's own binding, beside torch as well: the kit promises nothing for it.
      ...callRows(`${name}, nccl4py`, wrapped.find(same), peer)
        .map(({ promise: _, ...row }) => row),
    ];
  });
}

/** A call as a bandwidth, and the time of one that is waited for. */
function callRows(
  name: string,
  found: MeasuredCall | undefined,
  peer: MeasuredCall | undefined,
): BenchRow[] {
  if (found === undefined) return [];
  const { call, size: bytes, samples, waited } = found;
  return [
    bandwidthRow(name, { call, bytes, samples, peer: peer?.samples }),
    {
      name: `${name}, awaited`,
      value: median(waited),
      unit: "s",
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
