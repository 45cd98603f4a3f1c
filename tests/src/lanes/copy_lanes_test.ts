// Lanes and the calling thread do the same work: single copies, lists of copies, and refuse nothing
// that the engine may ask of them.

import { assertEquals } from "@std/assert";
import { setTimeout as delay } from "node:timers/promises";
import type { ByteCopy } from "../../../src/copies/copy_many.ts";
import { CopyLanes } from "../../../src/lanes/copy_lanes.ts";
import {
  CONTROL,
  doTask,
  fileSteps,
  LANE_CODES,
  LANE_SYMBOLS,
  type LaneJob,
  type LaneSystem,
  MOST_COPIES,
  OPERATION,
  runLane,
  STATUS,
} from "../../../src/lanes/lane_program.ts";
import { LaneTasks } from "../../../src/lanes/lane_tasks.ts";
import { addressOf } from "../../../src/memory/host_memory.ts";
import { assertSameBytes, patternBytes } from "../../support/contents.ts";

const SLOT_COUNT = 3;
const COUNTS = { laneCount: 1, freshLaneCount: 1 };

const WORKERS = ["lane", "calling thread", "lent thread"] as const;

/** Does the tasks of all slots on a lane, on this thread, or on a lent one: with turns, or without. */
async function work(lanes: CopyLanes, worker: typeof WORKERS[number]): Promise<void> {
  if (worker === "lane") lanes.start();
  for (let slot = 0; slot < SLOT_COUNT; slot++) {
    while (lanes.status(slot) === "pending") {
      if (worker === "calling thread") lanes.help({ canLend: false });
      else if (worker === "lent thread" && !lanes.lend()) lanes.help({ canLend: true });
      if (worker === "lane" || worker === "lent thread") await delay(1);
    }
    assertEquals(lanes.status(slot), "done");
  }
}

/** Does them, and ends the lanes. */
async function finish(lanes: CopyLanes, worker: typeof WORKERS[number]): Promise<void> {
  await work(lanes, worker);
  lanes.dispose();
}

/** Copies of 64 bytes that turn the order of their places around. */
function reversed(source: Uint8Array<ArrayBuffer>, destination: Uint8Array<ArrayBuffer>) {
  const count = source.byteLength / 64;
  return Array.from({ length: count }, (_, index): ByteCopy => ({
    source: addressOf(source.subarray(index * 64)),
    destination: addressOf(destination.subarray((count - 1 - index) * 64)),
    byteLength: 64,
  }));
}

Deno.test("CopyLanes.lend() leaves half of each engine's slots to callers that give no turn", async () => {
  const slots = [0, 1, 2, 3, 4, 5, 6, 7];
  const lanes = new CopyLanes(slots.length, { laneCount: 8, freshLaneCount: 8, slotsEach: 4 });
  const array = patternBytes(64);
  const target = new Uint8Array(slots.length * 64);
  for (const slot of slots) {
    lanes.submit(slot, {
      operation: "copy",
      direction: "upload",
      bytes: array,
      source: addressOf(array),
      destination: addressOf(target.subarray(slot * 64)),
      byteLength: 64,
    });
    while (lanes.lend());
  }
  assertEquals([lanes.lentCountIn(0, 4), lanes.lentCountIn(4, 8)], [2, 0]); // in the order of the tasks
  while (lanes.help({ canLend: false }) || lanes.lentCountIn(0, 8) > 0) await delay(1);
  for (const slot of slots) assertSameBytes(target.subarray(slot * 64, slot * 64 + 64), array);
  lanes.dispose();
});

for (const worker of WORKERS) {
  Deno.test(`CopyLanes copy memory on a ${worker}`, async () => {
    const lanes = new CopyLanes(SLOT_COUNT, COUNTS);
    const source = patternBytes(SLOT_COUNT * 1000);
    const destination = new Uint8Array(source.byteLength);
    for (let slot = 0; slot < SLOT_COUNT; slot++) {
      const direction = slot % 2 === 0 ? "upload" : "download";
      const from = source.subarray(slot * 1000, (slot + 1) * 1000);
      const to = destination.subarray(slot * 1000, (slot + 1) * 1000);
      lanes.submit(slot, {
        operation: "copy",
        direction,
        bytes: direction === "upload" ? from : to,
        source: addressOf(from),
        destination: addressOf(to),
        byteLength: 1000,
      });
    }
    await finish(lanes, worker);
    assertSameBytes(destination, source);
  });

  for (const firstTask of [2 ** 31 - 4, -4]) {
    Deno.test(`CopyLanes go on after task ${firstTask} of 32 bits on a ${worker}`, async () => {
      const lanes = new CopyLanes(SLOT_COUNT, { ...COUNTS, firstTask });
      const source = patternBytes(SLOT_COUNT * 64);
      for (let round = 0; round < 4; round++) {
        const destination = new Uint8Array(source.byteLength);
        for (const [slot, copy] of reversed(source, destination).entries()) {
          const bytes = destination.subarray(64 * (SLOT_COUNT - 1 - slot)).subarray(0, 64);
          lanes.submit(slot, { operation: "copy", direction: "download", bytes, ...copy });
        }
        await work(lanes, worker);
        assertEquals(destination.subarray(-64), source.subarray(0, 64));
        assertEquals(destination.subarray(0, 64), source.subarray(-64));
      }
      lanes.dispose();
    });
  }

  Deno.test(`CopyLanes copy as many places as a slot may list on a ${worker}`, async () => {
    const lanes = new CopyLanes(SLOT_COUNT, COUNTS);
    const sources = Array.from({ length: SLOT_COUNT }, (_, slot) => {
      return patternBytes(MOST_COPIES * 64, slot);
    });
    const destinations = sources.map(({ byteLength }) => new Uint8Array(byteLength));
    for (const [slot, source] of sources.entries()) {
      const destination = destinations[slot] ?? new Uint8Array(0);
      lanes.submit(slot, { operation: "copyEach", copies: reversed(source, destination) });
    }
    await finish(lanes, worker);
    for (const [slot, source] of sources.entries()) {
      const destination = destinations[slot] ?? new Uint8Array(0);
      const back = new Uint8Array(destination.byteLength);
      for (let start = 0; start < back.byteLength; start += 64) {
        back.set(destination.subarray(start, start + 64), back.byteLength - 64 - start);
      }
      assertSameBytes(back, source);
    }
  });
}

Deno.test("CopyLanes.help() leaves blocks to threads that can be lent, and does lists", () => {
  const lanes = new CopyLanes(SLOT_COUNT, COUNTS);
  const source = patternBytes(64);
  const destination = new Uint8Array(128);
  const block = { source: addressOf(source), destination: addressOf(destination), byteLength: 64 };
  lanes.submit(0, { operation: "copy", direction: "upload", bytes: source, ...block });
  assertEquals(lanes.help({ canLend: true }), false);
  assertEquals(lanes.help({ canLend: false }), true);
  lanes.submit(0, { operation: "copyEach", copies: [block] });
  assertEquals(lanes.lend(), false);
  assertEquals(lanes.help({ canLend: true }), true);
  assertEquals(lanes.status(0), "done");
  assertSameBytes(destination.subarray(0, 64), source);
  lanes.dispose();
});

Deno.test("CopyLanes.rouse() leaves lanes that go back to sleep", {
  ignore: Deno.build.os !== "linux",
}, async () => {
  const lanes = new CopyLanes(SLOT_COUNT, { laneCount: 8, freshLaneCount: 8 });
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
  job: Partial<LaneJob> & Pick<LaneJob, "fields" | "lists">,
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
      patience: 0,
      lane: 0,
      laneCount: 3,
      totalCount: 3,
      ...job,
    },
    {
      codes: LANE_CODES,
      port,
      doTask,
      fileSteps,
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
  const block = { destination: 1n, source: 2n, byteLength: 10 };
  tasks.write(0, { operation: "write", fileOffset: 5, ...block });
  tasks.write(2, { operation: "read", fileOffset: 7, ...block });
  tasks.write(3, { operation: "copy", direction: "upload", bytes: new Uint8Array(0), ...block });
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
    ["pwrite", 1, 2n, 10n, 5n],
  ]);
  assertEquals([words[CONTROL.done], words[CONTROL.alive], words[CONTROL.sleepers]], [3, 0, 0]);
  assertEquals(started, [1, 2]);
});

for (const status of [0, -1]) {
  Deno.test(`runLane() asks once for its cores, and works where the answer is ${status}`, async () => {
    const tasks = new LaneTasks(4);
    tasks.fields[0] = OPERATION.copy;
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
  words[CONTROL.arraySizes] = 5000;
  words[CONTROL.arraysAsked] = 1;
  const calls: unknown[][] = [];
  const sent: unknown[] = [];
  const { PAGE_BYTES, HUGEPAGE, POPULATE_WRITE } = LANE_CODES;
  await runHere({ ...new LaneTasks(4), words }, {
    addressOf: () => 3n * PAGE_BYTES + 16n,
    madvise: (...parameters) => calls.push(parameters),
  }, { postMessage: (array) => sent.push(array) });
  const pages = [3n * PAGE_BYTES, 5016n];
  assertEquals(calls, [[...pages, HUGEPAGE], [...pages, POPULATE_WRITE]]);
  assertEquals(sent, [new ArrayBuffer(5000)]);
  assertEquals(words[CONTROL.arraysSent], 1);
});

Deno.test("runLane() leaves ordinary work to others in a lane for fresh memory", async () => {
  const tasks = new LaneTasks(4);
  tasks.fields[0] = OPERATION.copy;
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
  assertEquals(sleptOn, [BigInt(4 * CONTROL.fresh)]);
  assertEquals([words[CONTROL.tail], started.length], [0, 0]);
});
