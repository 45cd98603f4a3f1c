// machineCard() on the simulated driver: nothing is a result, whatever ends it leaves what it had, and its
// JSON is read by nvbandwidth's readers.

import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { simulateDriver } from "../../../ffi/simulated/driver.ts";
import { compareMachines, MachineCard, machineCard } from "../../../src/machine/machine_card.ts";
import type { MachineReport } from "../../../src/machine/machine_report.ts";
import { parseNvbandwidth } from "../../../src/measure/nvbandwidth.ts";
import { machineRows } from "../../support/machine_scene.ts";
import { PROJECT_ROOT } from "../../support/project_files.ts";
import { IS_WHOLE } from "../../support/random.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";
import { inTurn } from "../../support/test_unless.ts";

/** Little memory, so that copies are small: the simulated driver looks at every byte. */
const littleMemory = (devices: number) => simulateDriver({ devices, memoryBytes: 11 * 2 ** 18 });

/** The test of a whole measurement, which takes seconds; without it, the measurement ends before arrays. */
const WHOLE = inTurn(
  "machineCard() of GPUs with little memory marks every number, rates none, and leaves no file",
);

/** One measurement serves the tests that only read it. */
let measured: Promise<{ readonly card: MachineCard; readonly leftFiles: string[] }> | undefined;

async function measure() {
  using folder = new TemporaryFolder();
  const controller = new AbortController();
  const card = await machineCard({
    driver: littleMemory(2),
    folder: folder.path,
    signal: controller.signal,
    onProgress: (_done, _total, step) => {
      if (WHOLE.ignore && step.startsWith("ordinary arrays")) controller.abort(new Error("enough"));
    },
  });
  return { card, leftFiles: [...Deno.readDirSync(folder.path)].map(({ name }) => name) };
}

const card = async () => (await (measured ??= measure())).card;

Deno.test(WHOLE, async () => {
  const { report } = await card();
  assert(report.isModelled);
  assertEquals([report.unfinished, report.whyNoGpu], [null, null]);
  const failed = report.rows.filter(({ group }) => group === "Failed");
  assertEquals(failed, []);
  for (const row of report.rows.filter(({ group }) => group !== "Host")) {
    assertEquals([row.isModelled, row.verdict], [true, "unrated"], row.id);
  }
  for (const row of report.rows.filter(({ group }) => group === "Host")) {
    assertEquals(row.isModelled, undefined, row.id);
  }
  const ids = report.rows.map(({ id }) => id);
  for (
    const id of [
      "gpu1.device_local_copy",
      "gpu0.host_device_latency_sm",
      "gpu0.array_up_1048576",
      "gpu0.launch_and_wait",
      "gpu0.file_cached",
      "gpu1.file_cached",
      "links.all_to_host_memcpy_ce",
      "host.copy_all",
    ]
  ) assert(ids.includes(id), id);
  assertEquals((await measured)?.leftFiles, []);
});

Deno.test("MachineCard.toString() marks every simulated number", async () => {
  const text = `${await card()}`;
  const lines = text.split("\n").filter((line) => /^host to device, /.test(line));
  assertEquals(lines.length, 2);
  for (const line of lines) assertStringIncludes(line, "Simulated ");
});

Deno.test("MachineCard comes back from its JSON, which nvbandwidth's readers read", async () => {
  const text = JSON.stringify(await card());
  const again = new MachineCard(JSON.parse(text));
  assertEquals(JSON.stringify(again), text);
  const speeds = parseNvbandwidth(text);
  assert((speeds.get("host_to_device_memcpy_ce") ?? 0) > 0);
  assert((speeds.get("device_to_device_bidirectional_memcpy_read_ce") ?? 0) > 0);
  const cases: { name: string; bandwidth_matrix: string[][] }[] =
    JSON.parse(text).nvbandwidth.testcases;
  const rowsIn = (part: string) =>
    cases.find(({ name }) => name.includes(part))?.bandwidth_matrix ?? [];
  assertEquals(rowsIn("bidirectional_memcpy_write").length, 6); // two directions, and their sums
  assertEquals(rowsIn("device_local_copy")[0]?.length, 2);
});

Deno.test("MachineCard.toPage() fetches nothing, and shows names as text", async () => {
  const { report } = await card();
  const name = "<img src=x onerror=alert(1)>";
  const rows = report.rows.map((row) => ({ ...row, name, words: name, check: name }));
  const gpus = report.gpus.map((gpu) => ({ ...gpu, name }));
  const page = await new MachineCard({ ...report, rows, gpus, isModelled: false }).toPage();
  assertStringIncludes(page, "default-src 'none'");
  const body = page.slice(page.indexOf("<body>"));
  assert(!/<img src=x/.test(body));
  assertEquals(body.match(/(?:src|href)="(?!data:)[^"]*"/g), null);
});

Deno.test("machineCard() leaves what it had when its signal comes", async () => {
  const controller = new AbortController();
  const { report } = await machineCard({
    driver: littleMemory(1),
    signal: controller.signal,
    onProgress: (_done, _total, step) => {
      if (step.startsWith("clocks")) controller.abort(new Error("enough"));
    },
  });
  assertEquals(report.unfinished, "interrupted: enough");
  const ids = report.rows.map(({ id }) => id);
  assert(ids.includes("gpu0.device_local_copy"));
  assert(!ids.some((id) => id.startsWith("host.copy")));
  assertEquals(report.rows.filter(({ group }) => group === "Failed"), []);
});

Deno.test("machineCard() with a signal that came before has the facts alone", async () => {
  const { report } = await machineCard({ driver: "simulated", signal: AbortSignal.abort() });
  assertEquals(report.bandwidth, []);
  assert(report.rows.length > 10);
});

Deno.test("machineCard() goes on after a step that failed, and says why", async () => {
  const driver = { ...littleMemory(1), cuMemHostAlloc: () => 2 };
  const controller = new AbortController();
  const { report } = await machineCard({
    driver,
    signal: controller.signal,
    onProgress: (_done, _total, step) => {
      if (step.startsWith("ordinary arrays")) controller.abort(new Error("enough"));
    },
  });
  const failed = report.rows.filter(({ group }) => group === "Failed");
  assert(failed.some(({ id, words }) => id === "failed.copies, GPU 0" && words !== ""));
  assert(report.rows.some(({ id }) => id === "gpu0.launch"));
});

Deno.test("machineCard() without a GPU is about the host", async () => {
  // The host's memory, which takes seconds, is measured beside the GPUs as well.
  const signal = IS_WHOLE ? undefined : AbortSignal.abort();
  const { report } = await machineCard({ driver: simulateDriver({ devices: 0 }), signal });
  assert(report.whyNoGpu !== null);
  assertEquals([report.gpus, report.driver, report.links], [[], null, null]);
  assert(report.rows.every(({ group }) => group === "Host"));
  assertStringIncludes(await new MachineCard(report).toPage(), "No GPU");
});

Deno.test("machineCard() of an integrated GPU has no row that failed", async () => {
  const driver = simulateDriver({ devices: 1, integrated: true });
  const { report } = await machineCard({ driver, signal: AbortSignal.abort() });
  const row = report.rows.find(({ id }) => id === "gpu0.free_memory");
  assertEquals(row?.value, 8);
  assertEquals(report.rows.find(({ id }) => id === "gpu0.power_limit")?.value, null);
});

Deno.test("machineCard() says of a device that it does not exist", async () => {
  await assertRejects(() => machineCard({ driver: "simulated", devices: [7] }), RangeError, "7");
});

Deno.test("new MachineCard() refuses what is no report", () => {
  for (const wrong of [{}, { machine: {} }, { nvbandwidth: {} }, { format: "vramkit-machine/2" }]) {
    assertThrows(
      () => new MachineCard(wrong as never),
      TypeError,
      "Cannot read a machine's report",
    );
  }
  const cut = { format: "vramkit-machine/1", rows: [] };
  assertThrows(() => new MachineCard(cut as never), TypeError, "date is undefined");
});

Deno.test("new MachineCard() names the place of a report that is wrong", () => {
  const whole = reportWith(55, "2026-01-01");
  const [row] = whole.rows;
  for (
    const [damage, words] of [
      [{ rows: [row, null] }, "rows[1] is null"],
      [{ rows: [{ ...row, verdict: "constructor" }] }, "rows[0].verdict"],
      [{ rows: [{ ...row, value: {} }] }, "rows[0].value"],
      [{ gpus: [null] }, "gpus[0]"],
      [{ load: 5 }, "load is the number 5"],
      [{ driver: "580" }, "driver"],
      [{ bandwidth: [{}] }, "provenance"],
      [{ links: undefined }, "provenance"],
    ] as const
  ) {
    assertThrows(() => new MachineCard({ ...whole, ...damage } as never), TypeError, words);
  }
});

Deno.test("MachineCard writes the control characters of a report", () => {
  const whole = reportWith(55, "2026-01-01");
  const rows = whole.rows.map((row) => ({
    ...row,
    verdict: "bad" as const,
    name: "n\x1b[31m",
    words: "w\x07",
  }));
  const text = `${new MachineCard({ ...whole, rows, unfinished: "u\x1b]0;" })}`;
  for (const shown of ["n\\u001b[31m", "w\\u0007", "u\\u001b]0;"]) {
    assertStringIncludes(text, shown);
  }
  for (const hidden of ["\x07", "\x1b"]) assert(!text.includes(hidden));
});

function reportWith(speed: number, date: string): MachineReport {
  return {
    format: "vramkit-machine/1",
    date,
    vramkit: "0",
    deno: "2",
    seconds: 1,
    isModelled: false,
    unfinished: null,
    driver: { cuda: "13.0", version: "580" },
    whyNoGpu: null,
    gpus: [],
    rows: machineRows({ speed }),
    load: [],
    bandwidth: [],
    links: null,
  };
}

Deno.test("compareMachines() shows first what differs beyond the spread", async () => {
  const cards = [[55, "2026-01-01"], [27, "2026-02-01"]].map(([speed, date]) =>
    new MachineCard(reportWith(speed as number, date as string))
  );
  const page = await compareMachines(cards);
  const [, different = "", alike = ""] = page.split(/<h2>(?:Different|Alike)/);
  assertStringIncludes(different, "host to device, 512 MiB");
  assertStringIncludes(different, "2.04 times");
  assert(!different.includes("power limit"));
  assertStringIncludes(alike, "power limit");
});

Deno.test("compareMachines() takes samples that overlap for alike, and needs two reports", async () => {
  const cards = [55, 54.6].map((speed) => new MachineCard(reportWith(speed, "2026-01-01")));
  assertStringIncludes(await compareMachines(cards), "<p>Nothing.</p>");
  await assertRejects(() => compareMachines(cards.slice(1)), RangeError, "two reports");
});

/** The reports that the documentation has. */
const EXAMPLES = new URL("docs/machines/", PROJECT_ROOT);

Deno.test("the documentation's reports are whole, were measured, and name the slow machines' causes", () => {
  const read = (name: string) =>
    new MachineCard(JSON.parse(Deno.readTextFileSync(new URL(name, EXAMPLES)))).report;
  const causesIn = (name: string) =>
    read(name).rows.filter(({ verdict }) => verdict === "bad").map(({ words }) => words);
  assertEquals(causesIn("h200.json"), []);
  assert(causesIn("h200_two_cores.json").every((words) => words.startsWith("few cores: 2 of 16")));
  const busy = causesIn("h200_busy_bus.json");
  assert(busy.length > 0 && busy.every((words) => /^python3 .* uses the GPU as well/.test(words)));
  for (const { name } of Deno.readDirSync(EXAMPLES)) {
    const { isModelled, date, rows, whyNoGpu } = read(name);
    assert(!isModelled && date > "2026" && rows.length > (whyNoGpu === null ? 20 : 10), name);
  }
});

Deno.test("compareMachines() draws the documentation's reports side by side", async () => {
  const cards = ["h200.json", "h200_two_cores.json"].map((name) =>
    new MachineCard(JSON.parse(Deno.readTextFileSync(new URL(name, EXAMPLES))))
  );
  const [, different = ""] = (await compareMachines(cards)).split("<h2>");
  assertStringIncludes(different, "an ordinary array up, 256 MiB");
  assertStringIncludes(different, "cores that the program may use");
});

Deno.test("compareMachines() keeps rows of one machine alone apart, and names what each measured", async () => {
  const cards = ["host_without_gpu.json", "h200.json"].map((name) =>
    new MachineCard(JSON.parse(Deno.readTextFileSync(new URL(name, EXAMPLES))))
  );
  const [rest = "", single = ""] = (await compareMachines(cards)).split("<h2>Of one machine alone");
  assertStringIncludes(rest, "a copy in memory, 2 cores / a copy in memory, 16 cores");
  assert(single.includes("bus under load") && !rest.includes("bus under load"));
});
