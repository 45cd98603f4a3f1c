// The plots of memory, overlap and latency: what their data and words hold.

import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertMatch,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import type { Layout, PlotData } from "npm:@types/plotly.js@3.0.14";
import type { TimelineEvent } from "../../src/accounting/timeline_event.ts";
import type { OverlapTrace } from "../../src/measure/overlap.ts";
import type { Figure } from "../../src/notebook/figure.ts";
import { plotLatency } from "../../src/notebook/latency_plot.ts";
import { amountsByKind } from "../../src/notebook/memory_history.ts";
import { plotMemoryMap } from "../../src/notebook/memory_map.ts";
import { plotMemoryTimeline } from "../../src/notebook/memory_timeline.ts";
import { plotOverlap } from "../../src/notebook/overlap_plot.ts";
import { cellMarks, cellNames } from "../../src/notebook/timeline_marks.ts";
import { squarify } from "../../src/notebook/treemap.ts";
import { bandwidthResult } from "../support/bandwidth_result.ts";
import { takingTurns, testOfAll } from "../support/test_unless.ts";
import { testOnDevice } from "../support/with_device.ts";

const SPACE = { left: 0, bottom: 0, width: 600, height: 400 };

const TRACE: OverlapTrace = {
  device: "NVIDIA H200",
  spans: [
    { name: "up", lane: "first", startSeconds: 0, endSeconds: 0.002, copiedBytes: 2 ** 20 },
    { name: "down", lane: "second", startSeconds: 0.001, endSeconds: 0.003, copiedBytes: 2 ** 20 },
  ],
  activeSeconds: 0.003,
  overlappedSeconds: 0.001,
  parallelism: 4 / 3,
  gigabytesPerSecond: 0.7,
  isModelled: false,
};

function traces(figure: Figure): Partial<PlotData>[] {
  return figure.data as Partial<PlotData>[];
}

function event(fields: Partial<TimelineEvent>): TimelineEvent {
  return {
    action: "allocate",
    id: 1,
    kind: "device",
    name: "x",
    byteLength: 100,
    deviceBytes: 0,
    timeSeconds: 0,
    address: "0x0",
    stream: "0x0",
    ...fields,
  };
}

Deno.test("squarify() gives each amount its share of the area, inside the space", () => {
  const amounts = [60, 30, 20, 8, 5, 1];
  const tiles = squarify(amounts, SPACE);
  const total = amounts.reduce((sum, amount) => sum + amount, 0);
  for (const [index, { left, bottom, width, height }] of tiles.entries()) {
    assertAlmostEquals(width * height, (amounts[index] ?? 0) / total * 240_000, 1e-3);
    assert(
      left >= -1e-6 && bottom >= -1e-6 && left + width <= 600.001 && bottom + height <= 400.001,
    );
  }
});

Deno.test("squarify() lets no two tiles overlap", () => {
  const tiles = squarify([50, 40, 30, 20, 10, 5, 2, 1], SPACE);
  for (const [index, a] of tiles.entries()) {
    for (const b of tiles.slice(index + 1)) {
      const isApart = a.left + a.width <= b.left + 1e-6 || b.left + b.width <= a.left + 1e-6 ||
        a.bottom + a.height <= b.bottom + 1e-6 || b.bottom + b.height <= a.bottom + 1e-6;
      assert(isApart);
    }
  }
});

Deno.test("squarify() of nothing is nothing", () => {
  assertEquals(squarify([], SPACE), []);
});

testOnDevice("plotMemoryMap() draws a tile for each block, and labels the large ones", (gpu) => {
  using _a = gpu.alloc("uint8", 2 ** 20, { label: "weights" });
  using _b = gpu.pinned("uint8", 2 ** 18, { label: "<ring>" });
  const figure = plotMemoryMap(gpu);
  assertEquals(traces(figure).map(({ name }) => name), ["device", "pinned"]);
  assertStringIncludes(JSON.stringify(figure.layout.annotations), "&lt;ring&gt;");
  assertStringIncludes(figure.describe(), "weights: 1 MiB, device.");
});

testOnDevice("plotMemoryMap() keeps labels inside their tiles on a narrow page", (gpu) => {
  const words = ["weights_of_layer_17_attention_output_projection", "x".repeat(200), "k v"];
  using _a = gpu.alloc("uint8", 2 ** 20, { label: words.join("_") });
  using _b = gpu.alloc("uint8", 2 ** 20, { label: "model.layers.36.self_attn.q_proj.weight" });
  using _c = gpu.alloc("uint8", 2 ** 19, {
    label: "a_name_that_is_longer_than_its_tile_is_wide",
  });
  const { data, layout } = plotMemoryMap(gpu);
  const labels = (layout as Partial<Layout>).annotations?.slice(1) ?? []; // the first is the subtitle
  assertEquals(labels.length, 3);
  for (const [index, { text = "" }] of labels.entries()) {
    const { x = [] } = data[index] as { x?: number[] };
    const lines = text.replaceAll(/<\/?b>/g, "").split("<br>");
    const widest = Math.max(...lines.map(({ length }) => length));
    assert(8 * widest <= (Math.max(...x) - Math.min(...x)) * 560 / 720, text);
  }
  assertStringIncludes(
    labels[1]?.text ?? "",
    "<b>model.layers.36.self_attn.<br>q_proj.weight</b>",
  );
});

testOnDevice("plotMemoryMap() puts the smallest of very many blocks together", (gpu) => {
  const words = Array.from({ length: 80 }, (_, index) => "x".repeat(index + 1));
  for (const label of words) gpu.alloc("uint8", 1024 * label.length, { label });
  const { data } = plotMemoryMap(gpu);
  assertEquals(data.length, 61);
  assertStringIncludes(JSON.stringify(data), "<b>20 × smaller blocks</b>");
  gpu.disposeAll();
});

testOnDevice("plotMemoryMap() shows many blocks whose names differ in numbers as one", (gpu) => {
  for (let layer = 0; layer < 400; layer++) {
    gpu.alloc("uint8", 1000, { label: `layers.${layer}.q_proj.weight` });
  }
  gpu.alloc("uint8", 1000, { label: "embedding" });
  const figure = plotMemoryMap(gpu);
  assertEquals(figure.data.length, 2);
  assertStringIncludes(figure.describe(), "400 × layers.*.q_proj.weight: 390.6 KiB, device.");
  assertStringIncludes(figure.describe(), "401 blocks");
  gpu.disposeAll();
});

testOnDevice("plotMemoryMap() says that nothing is held", (gpu) => {
  const figure = plotMemoryMap(gpu);
  assertEquals(figure.data, []);
  assertStringIncludes(figure.describe(), "nothing is held");
});

Deno.test("amountsByKind() adds up allocations and frees of each kind", () => {
  const { bytes, totals, peakBytes } = amountsByKind([
    event({ kind: "device", byteLength: 100 }),
    event({ kind: "pinned", byteLength: 40 }),
    event({ kind: "device", action: "free", byteLength: 100 }),
  ], [{ kind: "pinned", byteLength: 40 }]);
  assertEquals(bytes.get("device"), [100, 100, 0]);
  assertEquals(bytes.get("pinned"), [0, 40, 40]);
  assertEquals([totals, peakBytes], [[100, 140, 40], 140]);
});

Deno.test("amountsByKind() counts what was held before the first event that is kept", () => {
  const { bytes } = amountsByKind(
    [event({ byteLength: 50 })],
    [{ kind: "device", byteLength: 50 }, { kind: "device", byteLength: 200 }],
  );
  assertEquals(bytes.get("device"), [250]);
});

testOnDevice("plotMemoryTimeline() stacks the kinds and marks tracks", (gpu) => {
  gpu.timeline.start();
  {
    using _track = gpu.track("epoch 1");
    using _x = gpu.alloc("uint8", 2 ** 20, { label: "weights" });
    using _y = gpu.pinned("uint8", 2 ** 20, { label: "ring" });
  }
  const figure = plotMemoryTimeline(gpu);
  gpu.timeline.stop().clear();
  assertEquals(traces(figure).map(({ name }) => name), [
    "device",
    "pinned",
    "allocation or free",
  ]);
  assertEquals(traces(figure)[0]?.y, [1, 1, 1, 0, 0]);
  assertStringIncludes(JSON.stringify(figure.layout.annotations), "epoch 1");
  assertStringIncludes(figure.describe(), "at most 2 MiB held");
});

Deno.test("cellMarks() finds the first event of each cell, and none where no cell is known", () => {
  const events = ["cell 2", "cell 2", "cell 4", undefined].map((cell) => event({ cell }));
  const marks = cellMarks(events, (event) => events.indexOf(event));
  assertEquals(marks, [{ name: "cell 2", x: 0 }, { name: "cell 4", x: 2 }]);
});

Deno.test("cellNames() names every cell: those that would lie on each other share a label", () => {
  const at = (...places: number[]) => places.map((x) => ({ name: `cell ${x}`, x }));
  const texts = (marks: { name: string; x: number }[]) =>
    cellNames(marks, 100).annotations.map(({ text }) => text);
  assertEquals(texts(at(0, 1, 30, 31, 60)), ["cells 0, 1", "cells 30, 31", "cell 60"]);
  assertEquals(texts([{ name: "cell 26-28", x: 0 }, { name: "cell 29", x: 9 }]), [
    "cells 26-28, 29",
  ]);
  assertEquals(texts(at(90, 99)), ["cells 90, 99"]); // at the right edge
  const many = Array.from({ length: 60 }, (_, index) => ({ name: `cell ${index}`, x: index / 60 }));
  const { annotations, lineCount } = cellNames(many, 100);
  assertEquals([annotations.length, lineCount], [1, 3]);
  for (const { name } of many) {
    assertMatch(annotations[0]?.text ?? "", new RegExp(`\\b${name.slice(5)}\\b`));
  }
});

testOnDevice("plots leave room for a legend that wraps on a narrow page", (gpu) => {
  gpu.timeline.start();
  using _a = gpu.alloc("uint8", 8);
  const bottomOf = ({ layout }: Figure) => (layout as Partial<Layout>).margin?.b ?? 0;
  const before = bottomOf(plotMemoryTimeline(gpu));
  using _b = gpu.pinned("uint8", 8);
  using _c = gpu.managed("uint8", 8);
  assert(bottomOf(plotMemoryTimeline(gpu)) > before);
  gpu.timeline.stop();
});

takingTurns(testOnDevice)(
  "plotMemoryTimeline() draws more events than a call takes arguments",
  (gpu) => {
    gpu.timeline.start({ eventCount: 2 ** 18 });
    for (let at = 0; at < 75_000; at++) gpu.alloc("uint8", 2 ** 10).dispose();
    const figure = plotMemoryTimeline(gpu);
    gpu.timeline.stop().clear();
    assertEquals(traces(figure)[0]?.y?.length, 150_001);
    assertStringIncludes(figure.describe(), "device: at most 1 KiB");
  },
);

testOnDevice("plotMemoryTimeline() says how to record when nothing was", (gpu) => {
  assertThrows(() => plotMemoryTimeline(gpu), RangeError, "call gpu.timeline.start() first");
});

Deno.test("plotOverlap() draws a row for each stream and one for the overlap", () => {
  const figure = plotOverlap(TRACE);
  assertEquals(traces(figure).map(({ name }) => name), ["first", "second", "two or more"]);
  const [both] = (traces(figure)[2]?.x ?? []) as number[];
  assertAlmostEquals(both ?? 0, 1, 1e-6);
  assertStringIncludes(figure.describe(), "two or more at once for 33% of 3.0 ms");
  assertStringIncludes(figure.describe(), "second: down from 1.0 ms to 3.0 ms.");
});

testOfAll("plotOverlap() draws more pieces than a call takes arguments", () => {
  const spans = Array.from({ length: 150_000 }, () => TRACE.spans).flat();
  assertEquals(traces(plotOverlap({ ...TRACE, spans }))[0]?.x?.length, 150_000);
});

Deno.test("plotOverlap() refuses an empty trace", () => {
  assertThrows(() => plotOverlap({ ...TRACE, spans: [] }), RangeError, "the trace holds no work");
});

Deno.test("plotLatency() draws microseconds of small copies", () => {
  const figure = plotLatency(bandwidthResult());
  const pinned = traces(figure).find(({ name }) => name?.startsWith("H2D pinned"));
  assertAlmostEquals((pinned?.y as number[])[0] ?? 0, 5.17, 0.01);
  assert((pinned?.x as number[]).every((size) => size <= 2 ** 24));
  assertStringIncludes(figure.describe(), "H2D pinned: 5.2 µs for 4 KiB");
});

Deno.test("plotLatency() refuses a result without small copies", () => {
  const large = bandwidthResult({ smallestBytes: 2 ** 28 });
  assertThrows(() => plotLatency(large), RangeError, "no copies of 16 MiB or less");
});

takingTurns(testOnDevice)("plotMemoryMap().toSVG() draws every tile", async (gpu) => {
  using _a = gpu.alloc("uint8", 2 ** 20);
  using _b = gpu.alloc("uint8", 2 ** 20);
  const svg = await plotMemoryMap(gpu).toSVG();
  assertEquals(svg.match(/class="trace scatter/g)?.length, 2);
});

testOnDevice("plots draw the words below the title exactly below it", async (gpu) => {
  using _a = gpu.alloc("uint8", 2 ** 20);
  const svg = await plotMemoryMap(gpu).toSVG();
  const [, titleX] = /class="gtitle"[^>]* x="([\d.]+)"/.exec(svg) ?? [];
  const [, boxX, anchor, textX] =
    /class="cursor-pointer" transform="translate\(([\d.]+),.*?text-anchor="(\w+)" x="([\d.]+)"/
      .exec(svg) ?? [];
  assertEquals([boxX, anchor, textX], [titleX, "start", "0"]);
});
