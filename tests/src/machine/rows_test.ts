// The rows of a report: each cause is named by the verdict of the row that it makes slow.

import { assertEquals, assertStringIncludes } from "@std/assert";
import { LinkBandwidthResult } from "../../../src/measure/link_bandwidth_result.ts";
import { GOOD_GPU, type MachineChanges, machineRows, rowOf } from "../../support/machine_scene.ts";

const COPY = "gpu0.host_to_device_memcpy_ce";

Deno.test("rowsOf() finds nothing wrong with a machine that is all right", () => {
  const wrong = machineRows().filter(({ verdict }) => verdict === "bad" || verdict === "look");
  assertEquals(wrong, []);
});

Deno.test("rowsOf() has ids that are all different, and a command for each row", () => {
  const rows = machineRows();
  assertEquals(new Set(rows.map(({ id }) => id)).size, rows.length);
  assertEquals(rows.filter(({ check }) => check === ""), []);
});

/** Machines with one thing wrong, and the words with which the slow copy names it. */
const CAUSES: Readonly<Record<string, MachineChanges & { readonly words: string }>> = {
  "fewer lanes": { load: { link: "PCIe 5.0 x8" }, words: "x8 instead of x16" },
  "an older generation": {
    load: { link: "PCIe 3.0 x16" },
    words: "PCIe 3.0 x16 instead of PCIe 5.0 x16",
  },
  "another program": {
    gpu: { otherPrograms: [{ pid: 4711, name: "python3", memoryBytes: 2 ** 30 }], restTraffic: 26 },
    words: "python3 (pid 4711, 1 GiB) uses the GPU as well: 26.0 GB/s over its bus before",
  },
  "a program that is not shown": {
    gpu: { restUtilization: 97 },
    words: "another program, which the system does not show: 97 % of load",
  },
  "cores of the other node": {
    host: { allowedCores: "16-31", numaNodeCount: 2 },
    words: "another NUMA node than 0",
  },
  "hot clocks": {
    load: { throttleReasons: ["idle", "hardware thermal slowdown"] },
    words: "clocks lowered by hardware thermal slowdown",
  },
  "less power": { gpu: { powerLimit: 300 }, words: "power cap 300 W of 700 W" },
  "nothing in sight": { words: "no cause is in sight" },
};

for (const [name, { words, ...changes }] of Object.entries(CAUSES)) {
  Deno.test(`rowsOf() names the cause of a slow copy: ${name}`, () => {
    const row = rowOf(machineRows({ ...changes, speed: 20 }), COPY);
    assertEquals(row.verdict, "bad");
    assertStringIncludes(row.words, words);
  });
}

Deno.test("rowsOf() says which fact is wrong even where the copies are fast", () => {
  const verdictOf = (id: string, changes: MachineChanges) =>
    rowOf(machineRows(changes), id).verdict;
  assertEquals(verdictOf("gpu0.link", { load: { link: "PCIe 5.0 x8" } }), "bad");
  assertEquals(verdictOf("gpu0.link", { gpu: { ownGeneration: 6 } }), "look");
  assertEquals(verdictOf("gpu0.power_limit", { gpu: { powerLimit: 300 } }), "look");
  assertEquals(verdictOf("gpu0.ecc", { gpu: { errorCount: 1 } }), "bad");
  assertEquals(verdictOf("gpu0.memory_clock", { load: { memoryClockMegahertz: 1500 } }), "look");
  assertEquals(
    verdictOf("gpu0.throttle", { load: { throttleReasons: ["hardware slowdown"] } }),
    "bad",
  );
  assertEquals(verdictOf("host.shared_memory", { host: { sharedMemoryBytes: 2 ** 26 } }), "look");
  assertEquals(verdictOf("host.huge_pages", { host: { hugePages: "never" } }), "look");
});

Deno.test("rowsOf() names few cores by the reason for them", () => {
  const wordsOf = (host: MachineChanges["host"]) => {
    const changes: MachineChanges = host === undefined ? {} : { host };
    return rowOf(machineRows(changes), "host.cores").words;
  };
  assertStringIncludes(wordsOf({ allowedCoreCount: 2, allowedCores: "0-1" }), "2 of 16 (taskset");
  assertStringIncludes(wordsOf({ coreQuota: 1.5 }), "the container may use the time of 1.5");
  assertStringIncludes(wordsOf({ allowedCoreCount: 4, coreCount: 4 }), "the machine has 4");
});

Deno.test("rowsOf() tells wrong bytes, whatever the speed", () => {
  const row = rowOf(machineRows({ verified: false }), COPY);
  assertEquals(row.verdict, "bad");
  assertStringIncludes(row.words, "WRONG BYTES");
});

Deno.test("rowsOf() rates nothing that was simulated, and expects nothing of it", () => {
  const rows = machineRows({ found: { isModelled: true }, speed: 1 });
  for (const row of rows.filter(({ group }) => group === "GPU 0")) {
    assertEquals([row.verdict, row.expected, row.isModelled], ["unrated", undefined, true]);
  }
});

Deno.test("rowsOf() asks nothing of a bus that is not known, and an integrated GPU has none", () => {
  const rows = machineRows({
    gpu: { bus: null, isIntegrated: true },
    load: { link: null },
    speed: 1,
  });
  assertEquals(rowOf(rows, COPY).verdict, "unrated");
  assertEquals(rowOf(rows, "gpu0.link").value, "none, it is integrated");
});

Deno.test("rowsOf() keeps the reason of a step that failed", () => {
  const failures = [{ step: "files, GPU 0", reason: "Cannot write" }];
  assertEquals(
    rowOf(machineRows({ found: { failures } }), "failed.files, GPU 0").words,
    "Cannot write",
  );
});

Deno.test("rowsOf() names the pair of GPUs that is slower than the others", () => {
  const byteLength = 2 ** 29;
  const provenance = { device: "GPU", driver: "13.0", deno: "2", vramkit: "0", date: "2026-11-27" };
  const links = (matrix: (number | null)[][]) =>
    new LinkBandwidthResult({
      provenance,
      devices: matrix.map((_, ordinal) => ({ ordinal, name: "GPU" })),
      cases: [{
        name: "device_to_device_memcpy_read_ce",
        byteLength,
        matrix,
        gigabytesPerSecond: 1200,
        minGigabytesPerSecond: 1190,
        maxGigabytesPerSecond: 1210,
        sampleCount: 3,
        copiesPerSample: 16,
        verified: true,
      }],
    });
  const gpus = [0, 1, 2].map((ordinal) => ({ facts: { ...GOOD_GPU, ordinal } }));
  const verdict = (matrix: (number | null)[][]) =>
    rowOf(
      machineRows({ found: { gpus, links: links(matrix) } }),
      "links.device_to_device_memcpy_read_ce",
    );
  const uneven = verdict([[null, 394, 394], [14, null, 394], [394, 394, null]]);
  assertEquals(uneven.verdict, "bad");
  assertStringIncludes(uneven.words, "GPU 1 with GPU 0 has 14.0 GB/s, another 394 GB/s");
  assertEquals(verdict([[null, null, null], [null, null, null], [null, null, null]]).value, null);
});
