// What does a graph save: copies on the device launched as one and queued one by one, for the host
// and until they are done? `deno task bench graphs [result.json]`; the C++ part needs nvcc.

import { CudaDevice } from "../mod.ts";
import { readWords } from "./arguments.ts";
import { secondsInTurn } from "./in_turn.ts";
import { DriverProgram } from "./peers/driver_program.ts";
import { findResult, type PeerDocument } from "./peers/report.ts";
import { type BenchRow, median, report } from "./result_file.ts";

// As in the C++ program: bench/peers/driver/graphs.hpp.
const BATCH_COUNT = 101;
/** Copies that a batch queues at most, so that the queue never fills up. */
const BATCH_COPIES = 200;
const BYTE_LENGTH = 4096;
const COPY_COUNTS = [1, 10, 100];
/** Turns of the C++ program and of this one. */
const ROUND_COUNT = 5;

/** The questions, by the name that the C++ program knows them by. */
const QUESTIONS = {
  queueCopies: { words: "queue", call: "cuMemcpyAsync" },
  launchGraph: { words: "launch a graph of", call: "cuGraphLaunch" },
  finishCopies: { words: "queue and finish", call: "cuMemcpyAsync and cuStreamSynchronize" },
  finishGraph: {
    words: "launch and finish a graph of",
    call: "cuGraphLaunch and cuStreamSynchronize",
  },
} as const;

type Question = keyof typeof QUESTIONS;

/** The result of one round: seconds a call. */
type Round = Readonly<Record<Question, number>>;

const [resultPath] = readWords({ most: 1 });
using gpu = CudaDevice.open(0, { driver: "auto" });
const folder = await Deno.makeTempDir({ prefix: "vramkit_graphs_" });
try {
  const program = await DriverProgram.buildIfPossible(folder);
  const documents: PeerDocument[] = [];
  const rounds = new Map<number, Round[]>(COPY_COUNTS.map((count) => [count, []]));
  for (let round = 0; round < ROUND_COUNT; round++) {
    if (program !== undefined) documents.push(await program.run("graphs"));
    for (const [copyCount, found] of rounds) found.push(await measure(copyCount));
  }
  const rows = [...rounds].flatMap(([copyCount, found]) => rowsOf({ copyCount, documents }, found));
  await report(gpu, rows, resultPath);
} finally {
  await Deno.remove(folder, { recursive: true });
}

/** Times one number of copies in all four ways, which take turns. */
async function measure(copyCount: number): Promise<Round> {
  using stream = gpu.createStream();
  using first = gpu.zeros("uint8", BYTE_LENGTH, { stream });
  using second = gpu.zeros("uint8", BYTE_LENGTH, { stream });
  const queueCopies = () => {
    for (let i = 0; i < copyCount; i++) {
      const [to, from] = i % 2 === 0 ? [second, first] : [first, second];
      to.copyFrom(from, { stream });
    }
  };
  using graph = gpu.capture(queueCopies, { stream });
  const launchGraph = () => graph.launch();
  const finish = (work: () => void) => () => {
    work();
    stream.synchronizeSync();
  };
  return await secondsInTurn<Question>({
    queueCopies,
    launchGraph,
    finishCopies: finish(queueCopies),
    finishGraph: finish(launchGraph),
  }, {
    batchCount: BATCH_COUNT,
    callCount: BATCH_COPIES / copyCount,
    settle: () => stream.synchronizeSync(),
  });
}

function rowsOf(
  { copyCount, documents }: { copyCount: number; documents: readonly PeerDocument[] },
  rounds: readonly Round[],
): BenchRow[] {
  const copies = copyCount === 1 ? "1 copy" : `${copyCount} copies`;
  return (Object.keys(QUESTIONS) as Question[]).map((name) => {
    const { words, call } = QUESTIONS[name];
    const samples = rounds.map((round) => round[name]);
    const query = { name, method: `${call}, ${copyCount} copies` };
    const beside = documents.flatMap((document) => findResult(document, query)?.value ?? []);
    const reference = beside.length === 0
      ? undefined
      : { name: "C++", value: median(beside), samples: beside };
    return { name: `${words} ${copies}`, value: median(samples), unit: "s", samples, reference };
  });
}
