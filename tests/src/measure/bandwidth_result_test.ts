// Checks the line through a sweep's points on lines that are known.

import { assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import {
  type BandwidthPoint,
  BandwidthResult,
  fitLine,
  fitLines,
} from "../../../src/measure/bandwidth_result.ts";
import { bandwidthResult } from "../../support/bandwidth_result.ts";

function points(
  latencySeconds: number,
  gigabytesPerSecond: number,
  direction: BandwidthPoint["direction"] = "host-to-device",
): BandwidthPoint[] {
  return [4096, 65536, 2 ** 20, 2 ** 24, 2 ** 28].map((byteLength) => {
    const secondsPerCopy = latencySeconds + byteLength / (gigabytesPerSecond * 1e9);
    const speed = byteLength / secondsPerCopy / 1e9;
    return {
      direction,
      kind: "pinned",
      byteLength,
      secondsPerCopy,
      gigabytesPerSecond: speed,
      minGigabytesPerSecond: speed,
      maxGigabytesPerSecond: speed,
      sampleCount: 3,
      copiesPerSample: 16,
      verified: true,
    };
  });
}

for (const [latency, speed] of [[5e-6, 55.5], [1e-6, 2000], [2e-5, 12]] as const) {
  Deno.test(`fitLine() finds ${latency} s and ${speed} GB/s again`, () => {
    const fit = fitLine(points(latency, speed));
    assertAlmostEquals((fit?.latencySeconds ?? 0) / latency, 1, 1e-6);
    assertAlmostEquals((fit?.gigabytesPerSecond ?? 0) / speed, 1, 1e-6);
    assertAlmostEquals((fit?.halfBandwidthBytes ?? 0) / (latency * speed * 1e9), 1, 1e-6);
  });
}

Deno.test("fitLine() finds a latency of 0 and never a negative one", () => {
  assertAlmostEquals(fitLine(points(0, 10))?.latencySeconds ?? 1, 0, 1e-12);
  const bent = points(0, 10).map((point, index) => ({
    ...point,
    secondsPerCopy: point.secondsPerCopy * (index === 4 ? 1.5 : 1),
  }));
  assertEquals((fitLine(bent)?.latencySeconds ?? -1) >= 0, true);
});

Deno.test("fitLine() needs two different sizes", () => {
  const [first] = points(1e-6, 10);
  assertEquals(fitLine([]), undefined);
  assertEquals(first && fitLine([first]), undefined);
  assertEquals(first && fitLine([first, first]), undefined);
});

Deno.test("fitLines() fits one line for each direction and kind", () => {
  const both = [...points(1e-6, 10), ...points(2e-6, 20, "device-to-host")];
  assertEquals(fitLines(both).map(({ direction, kind }) => `${direction} ${kind}`), [
    "host-to-device pinned",
    "device-to-host pinned",
  ]);
});

Deno.test("new BandwidthResult() says which part of its data is none", () => {
  const data = JSON.parse(JSON.stringify(bandwidthResult()));
  const wrong: readonly [part: "points" | "fits", change: object | null, words: string][] = [
    ["points", null, "Cannot call new BandwidthResult() with null: expected an object"],
    ["points", { direction: "up" }, 'with "up": expected "host-to-device"'],
    ["points", { kind: undefined }, 'with undefined: expected "pageable"'],
    ["points", { gigabytesPerSecond: null }, "with null as gigabytesPerSecond: expected a number"],
    ["points", { byteLength: "4 KiB" }, 'with "4 KiB" as byteLength: expected a number'],
    ["fits", { latencySeconds: null }, "with null as latencySeconds: expected a number"],
  ];
  assertThrows(() => new BandwidthResult({} as never), TypeError, "expected a list");
  for (const provenance of [undefined, {}, { ...data.provenance, device: null }]) {
    const words = "as the name of a device: expected a string";
    assertThrows(() => new BandwidthResult({ ...data, provenance }), TypeError, words);
  }
  for (const [part, change, words] of wrong) {
    const [first, ...rest] = data[part];
    const changed = { ...data, [part]: [change && { ...first, ...change }, ...rest] };
    assertThrows(() => new BandwidthResult(changed), TypeError, words);
  }
  assertEquals(
    new BandwidthResult({ ...data, points: [{ ...data.points[0], more: 5 }] }).points.length,
    1,
  );
});
