// What does queueing a copy on the device cost the host, beside C++, and what does a second stream
// add? `deno run -A bench/device_copy_bench.ts [peers.json [result.json]]`.

import { CudaDevice, type CudaStream, type DeviceBuffer } from "../mod.ts";
import { findPeerResult, type PeerReport } from "./peers/report.ts";
import { type BenchRow, median, report } from "./result_file.ts";

const CALL_COUNT = 10_000; // as the C++ program, so that both wait for the queue alike
const SAMPLE_COUNT = 11;
const PAGE_BYTES = 4096;
const BATCH_SIZE = 64;

const [peersPath, resultPath] = Deno.args;
const peers: PeerReport | undefined = peersPath === undefined
  ? undefined
  : JSON.parse(await Deno.readTextFile(peersPath));

using gpu = CudaDevice.open(0, { driver: "auto" });
using source = gpu.zeros("uint8", PAGE_BYTES);
using target = gpu.zeros("uint8", PAGE_BYTES);
using otherTarget = gpu.zeros("uint8", PAGE_BYTES);
using first = gpu.createStream();
using second = gpu.createStream();
const single = secondsPerCall(() => target.copyFrom(source, { stream: first }));
await report(gpu, [besideCpp(), ...streamRows(), ...batchRows()], resultPath);

/** One copy, with the C++ program's number where its report is at hand. */
function besideCpp(): BenchRow {
  const row: BenchRow = { name: "queue a 4 KiB device copy", value: single, unit: "s" };
  const query = { peer: "C++ driver API", name: "queueDeviceCopy" };
  const found = peers === undefined ? undefined : findPeerResult(peers, query);
  if (found === undefined) return row;
  return {
    ...row,
    reference: { name: "C++", value: found.value },
    promise: { text: "at most 10 % over C++", holds: single <= 1.1 * found.value },
  };
}

/** Two streams: each with its own target, and taking turns with one, which makes each wait. */
function streamRows(): BenchRow[] {
  const apart = secondsPerCall(alternate([[target, first], [otherTarget, second]]));
  const together = secondsPerCall(alternate([[target, first], [target, second]]));
  return [
    ratioRow("two streams that share only what they read", apart),
    ratioRow("two streams that take turns to write the same bytes", together),
  ];
}

/** Many copies in one call. */
function batchRows(): BenchRow[] {
  using sources = gpu.zeros("uint8", [BATCH_SIZE, PAGE_BYTES]);
  using targets = gpu.zeros("uint8", [BATCH_SIZE, PAGE_BYTES]);
  const pairs = Array.from({ length: BATCH_SIZE }, (_, row) => ({
    source: sources.view(row),
    destination: targets.view(row),
  }));
  const batch = secondsPerCall(() => gpu.copyBatch(pairs, { stream: first })) / BATCH_SIZE;
  return [ratioRow(`a copy of a batch of ${BATCH_SIZE}`, batch)];
}

function ratioRow(name: string, seconds: number): BenchRow {
  return { name: `${name}, to one stream's copy`, value: seconds / single, unit: "ratio" };
}

function alternate(
  turns: readonly (readonly [DeviceBuffer<"uint8">, CudaStream])[],
): () => void {
  let turn = 0;
  return () => {
    const [destination, stream] = turns[turn++ % turns.length] ?? [target, first];
    destination.copyFrom(source, { stream });
  };
}

/** Median over batches of calls; the queues are emptied between two batches. */
function secondsPerCall(call: () => unknown): number {
  const samples = Array.from({ length: SAMPLE_COUNT }, () => {
    gpu.synchronizeSync();
    const start = performance.now();
    for (let i = 0; i < CALL_COUNT; i++) call();
    return (performance.now() - start) / 1000 / CALL_COUNT;
  });
  return median(samples);
}
