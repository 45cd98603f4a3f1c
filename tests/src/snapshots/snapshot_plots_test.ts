// The plots of PyTorch's snapshots: their amounts are PyTorch's own, and plotly.js draws them.

import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { type Figure, type MemorySnapshot, readMemorySnapshot } from "../../../src/notebook/mod.ts";
import { parseBytes } from "../../../src/words/format.ts";
import { cardOf } from "../../support/display.ts";
import { testOfAll } from "../../support/test_unless.ts";
import { TORCH_FIGURES, type TorchSnapshot, torchSnapshot } from "../../support/torch_snapshots.ts";

interface DrawnTrace {
  readonly name: string;
  readonly x: number[];
  readonly y: number[];
  readonly base?: number[];
  readonly text: string | string[];
}

function tracesOf(figure: Figure): DrawnTrace[] {
  return figure.data as unknown as DrawnTrace[];
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((a, b) => a + b, 0);
}

/** Returns the bytes of the unit that an axis names. */
function unitOf(figure: Figure, axis: "xaxis" | "yaxis"): number {
  const { text } = (figure.layout[axis] as { title: { text: string } }).title;
  return parseBytes(`1 ${text}`);
}

async function open(name: TorchSnapshot): Promise<MemorySnapshot> {
  return await readMemorySnapshot(torchSnapshot(`${name}.pickle`));
}

function jsonOf(snapshot: unknown): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(JSON.stringify(snapshot));
}

/** The figures of each device of each snapshot. */
const OF_DEVICES = TORCH_FIGURES.flatMap(([name, { devices }]) =>
  devices.map((figures, device) => {
    const title = devices.length === 1 ? name : `${name}, device ${device}`;
    return { name, title, device, figures } as const;
  })
);

for (const { name, title, device, figures } of OF_DEVICES) {
  Deno.test(`plotTimeline() ends with PyTorch's bytes and has its peak for ${title}`, async () => {
    const figure = (await open(name)).plotTimeline({ device });
    const unit = unitOf(figure, "yaxis");
    const traces = tracesOf(figure);
    const areas = traces.slice(0, -1).map(({ y }) => y);
    const totals = (areas[0] ?? []).map((_, at) => unit * sum(areas.map((y) => y[at] ?? 0)));
    assertAlmostEquals(totals.at(-1) ?? 0, figures.requested_bytes, 1);
    assertAlmostEquals(unit * (traces.at(-1)?.y.at(-1) ?? 0), figures.memory_reserved, 1);
    if (figures.events < 2) return; // without a history there is no peak
    assertAlmostEquals(Math.max(...totals), figures.requested_bytes_peak, 1);
    assertAlmostEquals(unit * Math.max(...traces.at(-1)?.y ?? []), figures.reserved_bytes_peak, 1);
  });

  Deno.test(`plotMap() draws every byte of ${title}, and no two bars on each other`, async () => {
    const figure = (await open(name)).plotMap({ device });
    const unit = unitOf(figure, "xaxis");
    const bars = tracesOf(figure).flatMap(({ x, y, base = [] }) =>
      x.map((width, at) => ({ row: y[at] ?? 0, from: base[at] ?? 0, to: (base[at] ?? 0) + width }))
    ).sort((a, b) => a.row - b.row || a.from - b.from);
    const bytes = unit * sum(bars.map(({ from, to }) => to - from));
    assertAlmostEquals(bytes / figures.memory_reserved, 1, 0.01); // what is too narrow is left out
    for (const [at, { row, from }] of bars.entries()) {
      const before = bars[at - 1];
      assert(before === undefined || before.row < row || before.to <= from + 1e-6);
    }
  });
}

for (const [name, { devices }] of TORCH_FIGURES) {
  Deno.test(`plotFragmentation() finds PyTorch's split bytes in ${name}`, async () => {
    const figure = (await open(name)).plotFragmentation();
    const unit = unitOf(figure, "xaxis");
    const bytesOf = (kind: string) =>
      unit * sum(tracesOf(figure).find((trace) => trace.name === kind)?.x ?? []);
    const split = bytesOf("free between blocks");
    // An expandable segment is one, of which PyTorch counts nothing as split.
    const splitBytes = sum(devices.map((figures) => figures.inactive_split_bytes));
    if (name !== "expandable") assertAlmostEquals(split, splitBytes, 1);
    const free = sum(devices.map((figures) => figures.memory_reserved - figures.active_bytes));
    assertAlmostEquals(split + bytesOf("free segments"), free, 1);
  });
}

Deno.test("plotTimeline() shows names of annotations, and where memory ran out", async () => {
  const annotations = JSON.stringify((await open("annotations")).plotTimeline().layout);
  assertStringIncludes(annotations, "## step 1 ##");
  assertStringIncludes(
    JSON.stringify((await open("oom")).plotTimeline().layout),
    "out of memory: 200 MiB",
  );
});

Deno.test("plotTimeline() draws along time where it is told to", async () => {
  const { layout, data } = (await open("mlp_after")).plotTimeline({ axis: "time", stackCount: 2 });
  assertStringIncludes(JSON.stringify(layout["xaxis"]), "s since the first step");
  assertEquals(data.length, 4); // two stacks, the others, and what the driver gave
});

Deno.test("plotTimeline() keeps the peak of a long history in a picture of few points", async () => {
  const steps = Array.from({ length: 20_000 }, (_, index) => ({
    action: index % 2 === 0 ? "alloc" : "free_completed",
    addr: 512 * Math.floor(index / 2),
    size: index === 13_332 ? 7777 : 10,
    frames: [{ filename: `a${index % 20}.py`, line: 1, name: "f" }],
  }));
  const figure = (await readMemorySnapshot(jsonOf({ segments: [], device_traces: [steps] })))
    .plotTimeline();
  const areas = tracesOf(figure).slice(0, -1).map(({ y }) => y);
  assert((areas[0]?.length ?? 0) < 1300);
  const totals = (areas[0] ?? []).map((_, at) => sum(areas.map((y) => y[at] ?? 0)));
  assertAlmostEquals(unitOf(figure, "yaxis") * Math.max(...totals), 7777, 0.01);
});

Deno.test("plotTimeline() counts what is freed and was never allocated from the beginning", async () => {
  const steps = [
    { action: "alloc", addr: 1024, size: 100, frames: [] },
    { action: "free_completed", addr: 512, size: 30, frames: [] },
    { action: "alloc", addr: 1024, size: 50, frames: [] }, // the free before it was not recorded
  ];
  const figure = (await readMemorySnapshot(jsonOf({ segments: [], device_traces: [steps] })))
    .plotTimeline();
  const byName = new Map(tracesOf(figure).map(({ name, y }) => [name, y]));
  assertEquals(byName.get("allocated before the history"), [30, 30, 0, 0]);
  assertEquals(byName.get("no stack recorded"), [0, 100, 100, 50]);
});

Deno.test("compare() shows each place's bytes before and after, the largest difference first", async () => {
  const [before, after] = [await open("mlp_before"), await open("mlp_after")];
  const figure = before.compare(after);
  const [first, second] = tracesOf(figure);
  assertEquals([first?.x[0], second?.x[0]], [0, 9]); // three blocks of 3 MiB
  assertStringIncludes(figure.describe(), "run_mlp make.py:90: 0 B, then 9 MiB, +9 MiB.");
  assertStringIncludes(before.compare(before).describe(), "the same");
  assertThrows(() => before.compare({} as never), TypeError, "await readMemorySnapshot()");
});

Deno.test("MemorySnapshot keeps several devices apart, and names the one that is missing", async () => {
  const raw = JSON.parse(new TextDecoder().decode(torchSnapshot("mlp_before.json")));
  const segments = [...raw.segments, { ...raw.segments[0], device: 2 }];
  const traces = [raw.device_traces[0], [], []];
  const snapshot = await readMemorySnapshot(jsonOf({ segments, device_traces: traces }));
  assertEquals(snapshot.devices.map(({ device }) => device), [0, 2]);
  assertEquals(snapshot.devices[1]?.reservedBytes, raw.segments[0].total_size);
  assertStringIncludes(snapshot.plotMap({ device: 2 }).describe(), "device 2");
  assertStringIncludes(snapshot.plotFragmentation().describe(), "device 2, default pool");
  assertThrows(() => snapshot.plotMap({ device: 1 }), RangeError, "it has 0, 2");
  assert(snapshot.largestStacks({ device: 2 }).length < snapshot.largestStacks().length);
});

Deno.test("MemorySnapshot has a card with its devices and largest stacks", async () => {
  const snapshot = await open("mlp_after");
  const { html, text } = await cardOf(snapshot);
  assertStringIncludes(html, "83 MiB of 122 MiB allocated, 489 steps");
  assertStringIncludes(text, "train make.py:72");
});

testOfAll("plots of a snapshot are drawn by plotly.js, of an empty one too", async () => {
  const empty = await readMemorySnapshot(jsonOf({ segments: [], device_traces: [[]] }));
  const streams = await open("streams");
  for (
    const figure of [
      (await open("annotations")).plotTimeline(),
      streams.plotMap(),
      streams.plotFragmentation(),
      streams.compare(empty),
      empty.plotTimeline({ axis: "time" }),
      empty.plotMap(),
      empty.compare(empty),
    ]
  ) assertStringIncludes(await figure.toSVG(), "</svg>");
});

Deno.test("plots write what a file says as text, and not as HTML", async () => {
  const frames = [{ filename: "<img src=x>.py", line: 1, name: "<i>%{y}" }];
  const block = { size: 8, state: "active_allocated", frames };
  const segments = [{ address: 512, total_size: 8, blocks: [block] }];
  const snapshot = await readMemorySnapshot(jsonOf({ segments }));
  for (const figure of [snapshot.plotTimeline(), snapshot.plotMap(), snapshot.compare(snapshot)]) {
    const text = JSON.stringify([figure.data, figure.layout]);
    assert(!text.includes("<img") && !text.includes("<i>"), text);
    assertStringIncludes(text, "&lt;img");
  }
});
