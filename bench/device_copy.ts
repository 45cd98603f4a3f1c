// What does queueing a copy on the device cost the host, beside the same calls from C++, and what
// does a second stream add? `deno task bench copy [result.json]`; the C++ part needs nvcc.

import { CudaDevice, type CudaStream, formatBytes } from "../mod.ts";
import { CudaMemoryResource } from "../src/entries/memory.ts";
import { readWords } from "./arguments.ts";
import { secondsInTurn, type TurnOptions } from "./in_turn.ts";
import { DriverProgram } from "./peers/driver_program.ts";
import { findResult, type PeerDocument } from "./peers/report.ts";
import { type BenchRow, median, report } from "./result_file.ts";

/** Turns of the C++ program and of this one. */
const ROUND_COUNT = 9;
// As in the C++ program: bench/peers/driver/device_copy.hpp.
const BATCH_COUNT = 101;
const CALL_COUNT = 200;
const BYTE_LENGTHS = [4096, 2 ** 20];
/** The two kinds of device memory, by the call that gives them. */
const MEMORIES = ["cuMemAllocAsync", "cuMemAlloc"] as const;
/** The two calls that copy on the device; the kit is held against the faster one. */
const CPP_CALLS = ["cuMemcpyDtoDAsync", "cuMemcpyAsync"] as const;

const PAGE_BYTES = 4096;
/** Copies of one batch call; fewer such calls then queue as many copies. */
const PAIR_COUNT = 64;
const ONE_STREAM = "one stream";
const APART = "two streams that share only what they read";
const TOGETHER = "two streams that take turns to write the same bytes";
const BATCH = `a copy of a batch of ${PAIR_COUNT}`;

/** The result of one round: seconds a call, by name. */
type Round = Readonly<Record<string, number>>;

const [resultPath] = readWords({ most: 1 });
using gpu = CudaDevice.open(0, { driver: "auto" });
const folder = await Deno.makeTempDir({ prefix: "vramkit_copy_" });
try {
  const program = await DriverProgram.buildIfPossible(folder);
  const [rounds, documents]: [Round[], PeerDocument[]] = [[], []];
  for (let round = 0; round < ROUND_COUNT; round++) {
    if (program !== undefined) documents.push(await program.run("device-copy"));
    const found: Round[] = [];
    for (const byteLength of BYTE_LENGTHS) found.push(await measureCopies(byteLength));
    rounds.push(Object.assign({}, ...found, await measureStreams()));
  }
  await report(gpu, [...copyRows(rounds, documents), ...streamRows(rounds)], resultPath);
} finally {
  await Deno.remove(folder, { recursive: true });
}

/** The kit's copy, and the driver's call by itself, in both kinds of memory. */
async function measureCopies(byteLength: number): Promise<Round> {
  using buffers = new DisposableStack();
  using stream = gpu.createStream();
  const { api } = gpu.context.driver;
  const resources = {
    cuMemAllocAsync: gpu.memoryResource,
    cuMemAlloc: new CudaMemoryResource(gpu),
  };
  const calls: Record<string, () => unknown> = {};
  for (const memory of MEMORIES) {
    const resource = resources[memory];
    const source = buffers.use(gpu.zeros("uint8", byteLength, { resource, stream }));
    const target = buffers.use(gpu.zeros("uint8", byteLength, { resource, stream }));
    const [to, from, size, { handle }] = [target.ptr, source.ptr, BigInt(byteLength), stream];
    calls[kitName(byteLength, memory)] = () => target.copyFrom(source, { stream });
    calls[callName(byteLength, memory)] = () => api.cuMemcpyAsync(to, from, size, handle);
  }
  return await secondsInTurn(calls, turnsOn(stream));
}

/** One stream, two that write apart, two that write the same bytes, and many copies in one call. */
async function measureStreams(): Promise<Round> {
  using source = gpu.zeros("uint8", [PAIR_COUNT, PAGE_BYTES]);
  using targets = gpu.zeros("uint8", [PAIR_COUNT, PAGE_BYTES]);
  using first = gpu.createStream();
  using second = gpu.createStream();
  const pairs = Array.from({ length: PAIR_COUNT }, (_, row) => ({
    source: source.view(row),
    destination: targets.view(row),
  }));
  const [page, target] = [source.view(0), targets.view(0)];
  using otherTarget = gpu.zeros("uint8", PAGE_BYTES);
  let turn = 0;
  const isFirstTurn = () => turn++ % 2 === 0;
  const seconds = await secondsInTurn({
    [ONE_STREAM]: () => target.copyFrom(page, { stream: first }),
    [APART]: () => {
      if (isFirstTurn()) target.copyFrom(page, { stream: first });
      else otherTarget.copyFrom(page, { stream: second });
    },
    [TOGETHER]: () => target.copyFrom(page, { stream: isFirstTurn() ? first : second }),
  }, turnsOn(first, second));
  const batch = await secondsInTurn(
    { [BATCH]: () => gpu.copyBatch(pairs, { stream: first }) },
    { ...turnsOn(first), callCount: Math.ceil(CALL_COUNT / PAIR_COUNT) },
  );
  return { ...seconds, [BATCH]: (batch[BATCH] ?? NaN) / PAIR_COUNT };
}

function turnsOn(...streams: readonly CudaStream[]): TurnOptions {
  const settle = () => {
    for (const stream of streams) stream.synchronizeSync();
  };
  return { batchCount: BATCH_COUNT, callCount: CALL_COUNT, settle };
}

function copyRows(rounds: readonly Round[], documents: readonly PeerDocument[]): BenchRow[] {
  return BYTE_LENGTHS.flatMap((byteLength) =>
    MEMORIES.flatMap((memory) => {
      const [fastest, same] = [CPP_CALLS, ["cuMemcpyAsync"]].map((calls) =>
        fastestOf(documents, calls.map((call) => ({ call, memory, byteLength })))
      );
      const kit = rowOf(rounds, kitName(byteLength, memory));
      const call = rowOf(rounds, callName(byteLength, memory));
      if (fastest === undefined) return [kit, call];
      const holds = kit.value <= 1.1 * fastest.value;
      const promise = { text: "at most 10 % over C++", holds };
      return [{ ...kit, reference: fastest, promise }, { ...call, reference: same }];
    })
  );
}

/** The fastest of some calls from C++; undefined where the program could not run. */
function fastestOf(
  documents: readonly PeerDocument[],
  cases: readonly { call: string; memory: string; byteLength: number }[],
): BenchRow["reference"] {
  const found = cases.flatMap(({ call, memory, byteLength }) => {
    const query = { name: "queueDeviceCopy", method: `${call}, ${memory}`, byteLength };
    const samples = documents.flatMap((document) => findResult(document, query)?.value ?? []);
    return samples.length === 0 ? [] : { name: `C++ ${call}`, value: median(samples), samples };
  });
  return found.toSorted((a, b) => a.value - b.value)[0];
}

function streamRows(rounds: readonly Round[]): BenchRow[] {
  return [APART, TOGETHER, BATCH].map((name) => {
    const samples = rounds.map((round) => (round[name] ?? NaN) / (round[ONE_STREAM] ?? NaN));
    const value = median(samples);
    return { name: `${name}, to one stream's copy`, value, unit: "ratio", samples };
  });
}

function rowOf(rounds: readonly Round[], name: string): BenchRow {
  const samples = rounds.map((round) => round[name] ?? NaN);
  return { name, value: median(samples), unit: "s", samples };
}

function kitName(byteLength: number, memory: string): string {
  return `queue ${formatBytes(byteLength)} with copyFrom(), ${memory}`;
}

function callName(byteLength: number, memory: string): string {
  return `queue ${formatBytes(byteLength)} with cuMemcpyAsync over FFI, ${memory}`;
}
