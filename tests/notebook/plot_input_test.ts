// What plots refuse: notebooks have no compiler, so a forgotten await gets to the plot itself.

import { assertThrows } from "@std/assert";
import { plotBandwidth } from "../../src/notebook/bandwidth_plot.ts";
import { plotLatency } from "../../src/notebook/latency_plot.ts";
import { plotLinks } from "../../src/notebook/links_plot.ts";
import { plotOverlap } from "../../src/notebook/overlap_plot.ts";
import { bandwidthResult } from "../support/bandwidth_result.ts";

const PLOTS: Record<string, [plot: (input: never) => unknown, source: string]> = {
  plotBandwidth: [plotBandwidth, "gpu.bandwidth()"],
  plotLatency: [plotLatency, "gpu.bandwidth()"],
  plotLinks: [plotLinks, "gpus.bandwidth()"],
  plotOverlap: [plotOverlap, "gpu.traceOverlap()"],
};

for (const [name, [plot, source]] of Object.entries(PLOTS)) {
  Deno.test(`${name}() says that a promise has to be awaited`, () => {
    const promise = Promise.resolve(bandwidthResult());
    assertThrows(() => plot(promise as never), TypeError, `gave a promise, write await ${source}`);
  });

  Deno.test(`${name}() says what it takes`, () => {
    for (const wrong of [undefined, null, 3, "points", {}, [undefined]]) {
      assertThrows(() => plot(wrong as never), TypeError, `expected what await ${source} gives`);
    }
  });
}

for (
  const [name, data, words] of [
    ["plotBandwidth", { ...bandwidthResult(), points: [null] }, "points[0] is null"],
    ["plotLatency", { ...bandwidthResult(), provenance: {} }, "provenance.device is undefined"],
    ["plotLinks", { devices: [], cases: {} }, "provenance is undefined"],
  ] as const
) {
  Deno.test(`${name}() names the part of parsed JSON that is damaged`, () => {
    assertThrows(() => PLOTS[name]?.[0](data as never), TypeError, words);
  });
}

Deno.test("plotBandwidth() of no result says what it takes", () => {
  assertThrows(
    () => plotBandwidth([] as never),
    TypeError,
    "expected what await gpu.bandwidth() gives",
  );
});

Deno.test("plotBandwidth() says that the second of two results is a promise", () => {
  const pair = [bandwidthResult(), Promise.resolve(bandwidthResult())];
  assertThrows(() => plotBandwidth(pair as never), TypeError, "gave a promise");
});
