// The plot of links: a bar for each case, a stretch for each device or pair, and words for it.

import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { LinkBandwidthResult, type LinkSpeed } from "../../src/measure/link_bandwidth_result.ts";
import { plotLinks } from "../../src/notebook/links_plot.ts";
import { bandwidthResult } from "../support/bandwidth_result.ts";

/** Makes a result of two devices with cases. */
function resultOf(...cases: LinkSpeed[]): LinkBandwidthResult {
  const devices = [0, 3].map((ordinal) => ({ ordinal, name: "NVIDIA <H200>" }));
  return new LinkBandwidthResult({ provenance: bandwidthResult().provenance, devices, cases });
}

function speedOf(name: LinkSpeed["name"], matrix: LinkSpeed["matrix"]): LinkSpeed {
  const sum = matrix.flat().reduce((total: number, speed) => total + (speed ?? 0), 0);
  return {
    name,
    matrix,
    byteLength: 2 ** 20,
    gigabytesPerSecond: sum,
    minGigabytesPerSecond: sum,
    maxGigabytesPerSecond: sum,
    sampleCount: 1,
    copiesPerSample: 16,
    verified: true,
  };
}

Deno.test("plotLinks() draws a bar for each case, with a stretch for each device or pair", () => {
  const figure = plotLinks(resultOf(
    speedOf("host_to_all_memcpy_ce", [[54, 55]]),
    speedOf("device_to_device_memcpy_read_ce", [[null, 394], [393, null]]),
    speedOf("one_to_all_read_ce", [[null, null]]),
  ));
  assertEquals(figure.data.map(({ x }) => x), [[54, 394], [55, 393]]);
  assertEquals(
    figure.data.map(({ y }) => y),
    Array(2).fill(["host to all", "device to device read"]),
  );
  const words = figure.describe();
  assertStringIncludes(words, "host to all: 109 GB/s (device 0 54.0 GB/s, device 3 55.0 GB/s).");
  assertStringIncludes(words, "device 0 with device 3 394 GB/s");
  assertStringIncludes(words, "one to all read: 0 GB/s.");
});

Deno.test("plotLinks() refuses a result without cases", () => {
  assertThrows(() => plotLinks(resultOf()), RangeError, "has no case");
});
