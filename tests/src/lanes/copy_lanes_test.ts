// Lanes, lent threads and the calling thread do the same work: single copies, lists of copies, files, and
// refuse nothing that the engine may ask of them.

import { assert, assertEquals } from "@std/assert";
import { setTimeout as delay } from "node:timers/promises";
import { CopyLanes } from "../../../src/lanes/copy_lanes.ts";
import {
  CONTROL,
  doTask,
  LANE_CODES,
  LANE_SYMBOLS,
  type LaneJob,
  type LaneSystem,
  runLane,
  STATUS,
} from "../../../src/lanes/lane_program.ts";
import {
  type Executor,
  type LaneRun,
  type LaneTask,
  LaneTasks,
} from "../../../src/lanes/lane_tasks.ts";
import { LentThreads } from "../../../src/lanes/lent_threads.ts";
import { MAX_RUNS } from "../../../src/transfer/ways.ts";
import { addressOf } from "../../../src/memory/host_memory.ts";
import { BusyThreads } from "../../support/busy_threads.ts";
import { assertSameBytes, patternBytes } from "../../support/contents.ts";
import { takingTurns, testOnLinux } from "../../support/test_unless.ts";

const SLOT_COUNT = 3;
const COUNTS = { laneCount: 1, sharedLaneCount: 1 };

/** Returns a task of one run of bytes. */
function singleTask(
  operation: LaneTask["operation"],
  { outside, inside, byteLength, ...rest }:
    & { readonly byteLength: number }
    & Pick<LaneRun, "outside" | "inside">
    & Pick<LaneTask, "file" | "bytes">,
): LaneTask {
  const run = { outside, inside, rowBytes: byteLength, rowCount: 1, pitch: byteLength };
  return { operation, runs: [run], ...rest };
}

const WORKERS = ["lane", "calling thread", "lent thread"] as const;

/** Threads that do the tasks of slots. */
class TestThreads implements Disposable {
  readonly lanes: CopyLanes;
  readonly lent: LentThreads;
  readonly executor: Executor;
  readonly #worker: typeof WORKERS[number];

  constructor(worker: typeof WORKERS[number], options: { firstTask?: number } = {}) {
    this.#worker = worker;
    this.lanes = new CopyLanes(SLOT_COUNT, { ...COUNTS, ...options });
    this.lent = new LentThreads(this.lanes.tasks, SLOT_COUNT);
    this.executor = worker === "lent thread" ? this.lent : this.lanes;
    if (worker === "lane") this.lanes.start();
  }

  /** Has tasks done, one for each slot. */
  async work(tasks: readonly LaneTask[]): Promise<void> {
    for (const [slot, task] of tasks.entries()) this.executor.submit(slot, task);
    for (const slot of tasks.keys()) {
      if (this.#worker === "calling thread") this.executor.rest(slot);
      while (this.executor.poll(slot) === "pending") await delay(1);
      assertEquals(this.executor.poll(slot), "done");
      await new Promise<void>((resolve) => this.lent.forget(slot, resolve));
    }
  }

  [Symbol.dispose](): void {
    this.lanes.dispose();
  }
}

/** Copies of 64 bytes that turn the order of their places around. */
function reversed(source: Uint8Array<ArrayBuffer>, destination: Uint8Array<ArrayBuffer>) {
  const count = source.byteLength / 64;
  return Array.from({ length: count }, (_, index) => {
    const from = source.subarray(index * 64, index * 64 + 64);
    const to = destination.subarray((count - 1 - index) * 64, (count - index) * 64);
    return { from, to, outside: addressOf(from), inside: addressOf(to) };
  });
}

for (const worker of WORKERS) {
  for (const operation of ["load", "store"] as const) {
    testOnLinux(`a ${worker} copies memory, ${operation}`, async () => {
      using threads = new TestThreads(worker);
      const source = patternBytes(SLOT_COUNT * 64);
      const destination = new Uint8Array(source.byteLength);
      const tasks = reversed(source, destination).map(({ from, to, outside, inside }) =>
        operation === "load"
          ? singleTask("load", { outside, inside, byteLength: 64, bytes: from })
          : singleTask("store", { outside: inside, inside: outside, byteLength: 64, bytes: to })
      );
      await threads.work(tasks);
      for (const { from, to } of reversed(source, destination)) assertEquals(to, from);
    });
  }

  for (const firstTask of worker === "lent thread" ? [] : [2 ** 31 - 4, -4]) {
    testOnLinux(`a ${worker} goes on after task ${firstTask} of 32 bits`, async () => {
      using threads = new TestThreads(worker, { firstTask });
      const source = patternBytes(SLOT_COUNT * 64);
      for (let round = 0; round < 4; round++) {
        const destination = new Uint8Array(source.byteLength);
        const copies = reversed(source, destination);
        await threads.work(
          copies.map(({ outside, inside }) =>
            singleTask("load", { outside, inside, byteLength: 64 })
          ),
        );
        for (const { from, to } of copies) assertEquals(to, from);
      }
    });
  }

  if (worker === "lent thread") continue;

  testOnLinux(`a ${worker} copies as many places as a slot may list`, async () => {
    using threads = new TestThreads(worker);
    const sources = Array.from(
      { length: SLOT_COUNT },
      (_, slot) => patternBytes(MAX_RUNS * 64, slot),
    );
    const all = sources.map((source) => reversed(source, new Uint8Array(source.byteLength)));
    await threads.work(all.map((copies): LaneTask => ({
      operation: "load",
      runs: copies.map(({ outside, inside }) => {
        return { outside, inside, rowBytes: 64, rowCount: 1, pitch: 64 };
      }),
    })));
    for (const { from, to } of all.flat()) assertEquals(to, from);
  });
}

testOnLinux(
  "LentThreads.rest() does a task that no thread has begun, and keeps its slot until one is back",
  async () => {
    using threads = new TestThreads("lent thread");
    const { lent } = threads;
    const source = patternBytes(64);
    const destination = new Uint8Array(64);
    let isBack = false;
    {
      await using _busy = new BusyThreads();
      const [outside, inside] = [addressOf(source), addressOf(destination)];
      lent.submit(0, singleTask("load", { outside, inside, byteLength: 64, bytes: source }));
      await delay(5);
      assertEquals(lent.poll(0), "pending");
      lent.rest(0);
      assertEquals([lent.poll(0), lent.awayCount], ["done", 1]);
      assertSameBytes(destination, source);
      lent.forget(0, () => isBack = true);
      await delay(5);
      assert(!isBack);
    }
    while (lent.awayCount > 0) await delay(1);
    assert(isBack);
  },
);

takingTurns(testOnLinux)("CopyLanes.rouse() leaves lanes that go back to sleep", async () => {
  const lanes = new CopyLanes(SLOT_COUNT, { laneCount: 8, sharedLaneCount: 8 });
  lanes.start();
  while (lanes.runningCount < 8) await delay(5);
  for (let round = 0; round < 3; round++) {
    lanes.rouse();
    await delay(50);
    // Lanes that stay awake leave the test without an end.
    while (!lanes.areAsleep) await delay(5);
  }
  lanes.dispose();
});

/** Runs a lane on this thread until it would sleep, with a C library of the test's. */
async function runHere(
  job: Partial<LaneJob> & Pick<LaneJob, "fields">,
  host: Partial<LaneSystem["host"]>,
  port?: LaneSystem["port"],
): Promise<{ words: Int32Array; started: number[] }> {
  const words = job.words ?? new Int32Array(new SharedArrayBuffer(4 * (CONTROL.queue + 8)));
  const started: number[] = [];
  await runLane(
    {
      words,
      address: 0n,
      slotCount: 4,
      codes: LANE_CODES,
      library: "",
      symbols: LANE_SYMBOLS,
      pageBytes: 4096,
      lane: 0,
      laneCount: 3,
      totalCount: 3,
      ...job,
    },
    {
      codes: LANE_CODES,
      port,
      doTask,
      startLane: (lane) => started.push(lane),
      turn: () => Promise.resolve(),
      host: {
        memcpy: () => 0n,
        pread: () => -1n,
        pwrite: () => -1n,
        madvise: () => -1,
        addressOf: () => 0n,
        sched_setaffinity: () => {
          throw new Error("nobody asked for that");
        },
        futex: () => {
          Atomics.store(words, CONTROL.stop, 1);
          return -1n;
        },
        ...host,
      },
    },
  );
  return { words, started };
}

Deno.test("runLane() takes the tasks in their order, says how they ended, and leaves", async () => {
  const tasks = new LaneTasks(4);
  const words = new Int32Array(new SharedArrayBuffer(4 * (CONTROL.queue + 8)));
  const block = { inside: 1n, byteLength: 10 };
  tasks.write(0, singleTask("write", { ...block, outside: 5n, file: 9 }));
  tasks.write(2, singleTask("read", { ...block, outside: 7n, file: 2 }));
  tasks.write(3, singleTask("load", { ...block, outside: 2n }));
  words.set([2, 0, 3], CONTROL.queue);
  words[CONTROL.head] = 3;
  const calls: unknown[][] = [];
  const { started } = await runHere({ ...tasks, words }, {
    memcpy: () => {
      throw new Error("no such memory");
    },
    pread: (...parameters) => {
      calls.push(["pread", ...parameters]);
      return 4n; // less than was asked for, and at last more than is left
    },
    pwrite: (...parameters) => {
      calls.push(["pwrite", ...parameters]);
      return 0n;
    },
  });
  const statusOf = (slot: number) => words[CONTROL.queue + 4 + slot];
  assertEquals([statusOf(2), statusOf(0), statusOf(3)], [
    STATUS.done,
    STATUS.failed,
    STATUS.failed,
  ]);
  assertEquals(calls, [
    ["pread", 2, 1n, 10n, 7n],
    ["pread", 2, 5n, 6n, 11n],
    ["pread", 2, 9n, 2n, 15n],
    ["pwrite", 9, 1n, 10n, 5n],
  ]);
  assertEquals([words[CONTROL.done], words[CONTROL.alive], words[CONTROL.sleepers]], [3, 0, 0]);
  assertEquals(started, [1, 2]);
});

for (const status of [0, -1]) {
  Deno.test(`runLane() asks once for its cores, and works where the answer is ${status}`, async () => {
    const tasks = new LaneTasks(4);
    tasks.write(0, singleTask("load", { outside: 1n, inside: 2n, byteLength: 8 }));
    const words = new Int32Array(new SharedArrayBuffer(4 * (CONTROL.queue + 8)));
    words[CONTROL.head] = 1;
    const cores = Uint8Array.of(6, 0, 1);
    const asked: unknown[][] = [];
    await runHere({ ...tasks, words, cores }, {
      sched_setaffinity(...parameters) {
        asked.push(parameters);
        return status;
      },
    });
    assertEquals(asked, [[0, 3n, cores]]);
    assertEquals(words[CONTROL.queue + 4], STATUS.done);
  });
}

Deno.test("runLane() makes the pages of an array that was asked for, and sends it", async () => {
  const words = new Int32Array(new SharedArrayBuffer(4 * (CONTROL.queue + 8)));
  words[CONTROL.arraySizes] = 5 * 2 ** 20;
  words[CONTROL.arraysAsked] = 1;
  const calls: unknown[][] = [];
  const sent: unknown[] = [];
  const { HUGEPAGE, POPULATE_WRITE } = LANE_CODES;
  await runHere({ ...new LaneTasks(4), words }, {
    addressOf: () => 3n * 4096n + 16n,
    madvise: (...parameters) => calls.push(parameters),
  }, { postMessage: (array) => sent.push(array) });
  const pages = [3n * 4096n, 5n * 2n ** 20n + 16n];
  assertEquals(calls, [[...pages, HUGEPAGE], [...pages, POPULATE_WRITE]]);
  assertEquals(sent, [new ArrayBuffer(5 * 2 ** 20)]);
  assertEquals(words[CONTROL.arraysSent], 1);
});

Deno.test("runLane() leaves ordinary work to others in a lane for fresh memory", async () => {
  const tasks = new LaneTasks(4);
  tasks.write(0, singleTask("load", { outside: 1n, inside: 2n, byteLength: 8 }));
  const words = new Int32Array(new SharedArrayBuffer(4 * (CONTROL.queue + 8)));
  words[CONTROL.head] = 1;
  const sleptOn: bigint[] = [];
  const { started } = await runHere({ ...tasks, words, lane: 3, totalCount: 5 }, {
    futex: (_number, address) => {
      sleptOn.push(BigInt(address));
      Atomics.store(words, CONTROL.stop, 1);
      return -1n;
    },
  });
  assertEquals(sleptOn, [BigInt(4 * CONTROL.extra)]);
  assertEquals([words[CONTROL.tail], started.length], [0, 0]);
});
