// plotBandwidth(): what its data, layout and words hold for whole, partial and compared results.
// The results come from known latencies and speeds, so every expected number follows from them.

import { assert, assertEquals, assertMatch, assertStringIncludes, assertThrows } from "@std/assert";
import type { Layout, PlotData } from "npm:@types/plotly.js@3.0.14";
import { plotBandwidth } from "../../src/notebook/bandwidth_plot.ts";
import type { Figure } from "../../src/notebook/figure.ts";
import { bandwidthResult, H200_LINES } from "../support/bandwidth_result.ts";

function lines(figure: Figure): Partial<PlotData>[] {
  return traces(figure).filter((trace) => trace.mode === "lines+markers");
}

function rings(figure: Figure): Partial<PlotData>[] {
  return traces(figure).filter((trace) => trace.mode === "markers");
}

function traces(figure: Figure): Partial<PlotData>[] {
  return figure.data as Partial<PlotData>[];
}

function layoutOf(figure: Figure): Partial<Layout> {
  return figure.layout as Partial<Layout>;
}

function annotationTexts(figure: Figure): string[] {
  return (layoutOf(figure).annotations ?? []).map((annotation) => annotation.text ?? "");
}

Deno.test("plotBandwidth() draws one line for each direction and kind", () => {
  const names = lines(plotBandwidth(bandwidthResult())).map((line) => line.name?.split(":")[0]);
  assertEquals(names, ["H2D pageable", "H2D pinned", "D2H pageable", "D2H pinned", "D2D"]);
});

Deno.test("plotBandwidth() draws the points by size, whatever their order in the result", () => {
  const result = bandwidthResult();
  const shuffled = { ...result, points: result.points.toReversed() };
  const pinned = lines(plotBandwidth(shuffled)).find((line) => line.name?.startsWith("H2D pinned"));
  const sizes = pinned?.x as number[];
  assertEquals(sizes, sizes.toSorted((a, b) => a - b));
  assertEquals(sizes.length, 10);
});

Deno.test("plotBandwidth() can be read without colour", () => {
  const symbols = lines(plotBandwidth(bandwidthResult())).map((line) => line.marker?.symbol);
  assertEquals(new Set(symbols).size, symbols.length);
});

Deno.test("plotBandwidth() labels sizes with powers of two on a logarithmic axis", () => {
  const { xaxis } = layoutOf(plotBandwidth(bandwidthResult()));
  assertEquals(xaxis?.type, "log");
  assertEquals(xaxis?.ticktext?.slice(0, 5), ["4 KiB", "16 KiB", "64 KiB", "256 KiB", "1 MiB"]);
  assertEquals(xaxis?.tickvals?.[4], 2 ** 20);
});

Deno.test("plotBandwidth() keeps the labels of a wide range apart", () => {
  const { xaxis } = layoutOf(plotBandwidth(bandwidthResult({ smallestBytes: 4 })));
  assert((xaxis?.tickvals?.length ?? 0) <= 11);
});

Deno.test("plotBandwidth() draws a result of one size", () => {
  const { xaxis } = layoutOf(plotBandwidth(bandwidthResult({ smallestBytes: 2 ** 30 })));
  assertEquals(xaxis?.ticktext, ["1 GiB"]);
});

Deno.test("plotBandwidth() gives copies within the device an axis of their own", () => {
  const figure = plotBandwidth(bandwidthResult());
  assertEquals(lines(figure).map((line) => line.yaxis), ["y", "y", "y", "y", "y2"]);
  assert((layoutOf(figure).yaxis2?.range?.[1] as number) > 2000);
  assert((layoutOf(figure).yaxis?.range?.[1] as number) < 100);
});

Deno.test("plotBandwidth() gives the whole height to one panel when there is only one", () => {
  const figure = plotBandwidth(bandwidthResult({ lines: H200_LINES.slice(0, 2) }));
  assertEquals(layoutOf(figure).yaxis?.domain, [0, 1]);
  assertEquals(layoutOf(figure).yaxis2, undefined);
});

Deno.test("plotBandwidth() rules off the bus's theoretical speed and names it", () => {
  const [roof, ...rest] = layoutOf(plotBandwidth(bandwidthResult())).shapes ?? [];
  assertEquals([roof?.y0, roof?.y1, rest.length], [63, 63, 0]);
  assertMatch(roof?.label?.text ?? "", /PCIe 5\.0 x16.*63\.0 GB\/s one way/);
});

Deno.test("plotBandwidth() rules off nothing when the bus is unknown", () => {
  const result = bandwidthResult({ busName: "unknown", theoreticalGigabytesPerSecond: null });
  const { shapes, annotations } = layoutOf(plotBandwidth(result));
  assertEquals(shapes, []);
  assert(!JSON.stringify(annotations).includes("unknown"));
});

Deno.test("plotBandwidth() rings half of the fitted speed at latency times speed", () => {
  const [bus, device] = rings(plotBandwidth(bandwidthResult()));
  assertEquals(bus?.y, [17.8 / 2, 55.6 / 2, 19 / 2, 55.4 / 2]);
  assertEquals((bus?.x as number[])[1], Math.round(5.1e-6 * 55.6e9));
  assertEquals(device?.y, [1050]);
});

Deno.test("plotBandwidth() says the latency of the leftmost fast fit beside its ring", () => {
  const texts = annotationTexts(plotBandwidth(bandwidthResult()));
  assertEquals(texts.filter((text) => text.startsWith("half speed")), [
    "half speed at 265.1 KiB =<br>4.9 µs latency × 55.4 GB/s",
    "half speed at 4.21 MiB =<br>2.1 µs latency × 2100 GB/s",
  ]);
});

Deno.test("plotBandwidth() draws no ring outside the measured sizes", () => {
  const figure = plotBandwidth(bandwidthResult({ smallestBytes: 2 ** 26 }));
  assertEquals(rings(figure), []);
  assertEquals(annotationTexts(figure).filter((text) => text.startsWith("half")), []);
});

Deno.test("plotBandwidth() draws a result that has no fits", () => {
  const figure = plotBandwidth({ ...bandwidthResult(), fits: [] });
  assertEquals(lines(figure).map((line) => line.name), [
    "H2D pageable",
    "H2D pinned",
    "D2H pageable",
    "D2H pinned",
    "D2D",
  ]);
});

Deno.test("plotBandwidth() shows the spread only where it can be seen", () => {
  const shown = lines(plotBandwidth(bandwidthResult())).map((line) => line.error_y?.visible);
  assertEquals(shown, [true, false, true, false, false]);
});

Deno.test("plotBandwidth() names the device in its title", () => {
  const result = bandwidthResult({ provenance: { device: "Simulated" } });
  assertEquals(layoutOf(plotBandwidth(result)).title?.text, "<b>Copy bandwidth: Simulated</b>");
});

Deno.test("plotBandwidth() tells two devices of one name apart by their numbers", () => {
  const of = (provenance: { ordinal?: number; date: string }) => bandwidthResult({ provenance });
  const named = (first: ReturnType<typeof of>, second: ReturnType<typeof of>) => {
    const drawn = lines(plotBandwidth([first, second]));
    return [...new Set(drawn.map(({ name }) => name?.split(": ")[0]))];
  };
  const [older, newer] = ["2026-12-01", "2026-12-02"] as const;
  assertEquals(named(of({ ordinal: 0, date: older }), of({ ordinal: 1, date: newer })), [
    "device 0",
    "device 1",
  ]);
  assertEquals(named(of({ date: older }), of({ ordinal: 1, date: newer })), [older, newer]);
});

Deno.test("plotBandwidth() tells the results of several devices apart by their dashes", () => {
  const dates = ["2026-12-01", "2026-12-02", "2026-12-03", "2026-12-04"];
  const results = dates.map((date, ordinal) => bandwidthResult({ provenance: { ordinal, date } }));
  const drawn = lines(plotBandwidth(results));
  const dashes = new Map(drawn.map(({ name, line }) => [name?.split(": ")[0], line?.dash]));
  assertEquals(Object.fromEntries(dashes), {
    "device 0": "solid",
    "device 1": "dash",
    "device 2": "dot",
    "device 3": "dashdot",
  });
});

Deno.test("plotBandwidth() lays a second result over the first, dashed and named", () => {
  const second = bandwidthResult({ provenance: { vramkit: "0.2.0", date: "2026-12-01" } });
  const drawn = lines(plotBandwidth([bandwidthResult(), second]));
  const solid = drawn.filter((line) => line.line?.dash === "solid");
  const dashed = drawn.filter((line) => line.line?.dash === "dash");
  assertEquals([solid.length, dashed.length], [5, 5]);
  assert(solid.every((line) => line.name?.startsWith("vramkit 0.1.0: ")));
  assert(dashed.every((line) => line.name?.startsWith("vramkit 0.2.0: ")));
});

Deno.test("plotBandwidth() tells apart two results that say the same of themselves", () => {
  const drawn = lines(plotBandwidth([bandwidthResult(), bandwidthResult()]));
  assertEquals(new Set(drawn.map((line) => line.name)).size, 10);
});

Deno.test("plotBandwidth() shows a device's name as it is, markup included", () => {
  const { title } = layoutOf(
    plotBandwidth(bandwidthResult({ provenance: { device: "<i>GPU</i>" } })),
  );
  assertStringIncludes(title?.text ?? "", "&lt;i&gt;GPU&lt;/i&gt;");
});

Deno.test("plotBandwidth() says where bytes were wrong", () => {
  const figure = plotBandwidth(bandwidthResult({ verified: false }));
  assertStringIncludes(annotationTexts(figure)[0] ?? "", "WRONG BYTES in 50 of 50 points");
  assertStringIncludes(figure.describe(), "WRONG BYTES in 50 of 50 points");
});

Deno.test("plotBandwidth() refuses a result without points", () => {
  const empty = { ...bandwidthResult(), points: [] };
  assertThrows(
    () => plotBandwidth(empty),
    RangeError,
    "Cannot plot bandwidth: a result holds no points",
  );
  assertThrows(() => plotBandwidth([bandwidthResult(), empty]), RangeError);
});

Deno.test("plotBandwidth().describe() says speeds, the bus's share and the fit", () => {
  const words = plotBandwidth(bandwidthResult()).describe();
  assertStringIncludes(words, "Copy bandwidth: NVIDIA H200.");
  assertStringIncludes(
    words,
    "H2D pinned: 0.7917 GB/s at 4 KiB, at most 55.59 GB/s at 1 GiB, " +
      "88% of the bus's theoretical 63.0 GB/s. " +
      "Fit of H2D pinned: 5.1 µs + bytes / 55.6 GB/s, half of that speed from 276.9 KiB.",
  );
  assertStringIncludes(words, "D2D: 1.949 GB/s at 4 KiB, at most 2091 GB/s at 1 GiB. Fit");
});

Deno.test("plotBandwidth().toSVG() draws every trace", async () => {
  const figure = plotBandwidth(bandwidthResult());
  const svg = await figure.toSVG();
  assertEquals(svg.match(/class="trace scatter/g)?.length, figure.data.length);
  assertStringIncludes(svg, "64 KiB");
});

Deno.test("plotBandwidth() draws no ring where the line is far from its fit", () => {
  const result = bandwidthResult();
  const slower = result.points.map((point) => {
    const isSlow = point.kind === "pageable" && point.byteLength <= 2 ** 20;
    return isSlow ? { ...point, gigabytesPerSecond: point.gigabytesPerSecond / 2 } : point;
  });
  const [bus] = rings(plotBandwidth({ ...result, points: slower }));
  assertEquals(bus?.y, [55.6 / 2, 55.4 / 2]);
});
