// The line through a sweep's points, on lines that are known, and results read from damaged files.

import { assert, assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import "../../../mod.ts"; // with the cards
import {
  type BandwidthData,
  type BandwidthPoint,
  BandwidthResult,
  fitLine,
  fitLines,
} from "../../../src/measure/bandwidth_result.ts";
import {
  type LinkBandwidthData,
  LinkBandwidthResult,
} from "../../../src/measure/link_bandwidth_result.ts";
import { nvbandwidthDocument } from "../../../src/measure/nvbandwidth.ts";
import { bandwidthResult } from "../../support/bandwidth_result.ts";
import { inTurn } from "../../support/test_unless.ts";

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

/** A result with everything that a file can have. */
function wholeData(): BandwidthData {
  const speeds = { byteLength: 2 ** 29, sampleCount: 3, copiesPerSample: 16, verified: true };
  return {
    ...bandwidthResult({ provenance: { ordinal: 0, isModelled: true } }),
    cases: [{
      name: "device_local_copy",
      gigabytesPerSecond: 2,
      minGigabytesPerSecond: 1,
      maxGigabytesPerSecond: 3,
      ...speeds,
    }],
    latencies: [{
      name: "host_device_latency_sm",
      byteLength: 2 ** 20,
      secondsPerAccess: 1e-6,
      minSecondsPerAccess: 1e-6,
      maxSecondsPerAccess: 2e-6,
      sampleCount: 3,
      accessCount: 1000,
      verified: true,
    }],
  };
}

function wholeLinks(): LinkBandwidthData {
  const { provenance, cases = [] } = wholeData();
  const devices = [0, 1].map((ordinal) => ({ ordinal, name: "NVIDIA H200" }));
  const matrix = [[null, 3], [4, null]];
  const [found] = cases;
  if (found === undefined) throw new Error("The data has no case");
  return {
    provenance,
    devices,
    cases: [{ ...found, name: "device_to_device_memcpy_read_ce", matrix }],
  };
}

/** Values that take the place of each part of a result. */
const DAMAGE: readonly unknown[] = [undefined, null, -1, 1e999, "text", true, [], {}, [null], [[
  1,
]]];

/** Damages each part of plain data in turn. */
function* damaged(data: object): Generator<[path: string, changed: object]> {
  for (const key of Object.keys(data)) {
    const part = Reflect.get(data, key);
    const replaced = (value: unknown) =>
      Array.isArray(data) ? data.with(Number(key), value) : { ...data, [key]: value };
    for (const value of DAMAGE) yield [`${key} = ${JSON.stringify(value)}`, replaced(value)];
    if (typeof part !== "object" || part === null) continue;
    for (const [path, changed] of damaged(part)) yield [`${key}.${path}`, replaced(changed)];
  }
}

for (
  const [name, make, data] of [
    ["BandwidthResult", (data) => new BandwidthResult(data as BandwidthData), wholeData()],
    [
      "LinkBandwidthResult",
      (data) => new LinkBandwidthResult(data as LinkBandwidthData),
      wholeLinks(),
    ],
  ] as [string, (data: object) => BandwidthResult | LinkBandwidthResult, object][]
) {
  Deno.test(inTurn(`new ${name}() refuses damaged data, or gives what can be shown`), () => {
    for (const [path, changed] of damaged(data)) {
      try {
        const made = make(changed);
        Deno.inspect(made);
        JSON.stringify(nvbandwidthDocument(made));
      } catch (error) {
        const words = `Cannot call new ${name}(): `;
        assert(error instanceof TypeError && error.message.startsWith(words), `${path}: ${error}`);
      }
    }
  });
}

Deno.test("new BandwidthResult() says which part of its data is none", () => {
  const data = JSON.parse(JSON.stringify(bandwidthResult()));
  const wrong: readonly [part: "points" | "fits", change: object | null, words: string][] = [
    ["points", null, "Cannot call new BandwidthResult(): points[0] is null, expected an object"],
    ["points", { direction: "up" }, 'points[0].direction is "up", expected "host-to-device"'],
    ["points", { kind: undefined }, 'points[0].kind is undefined, expected "pageable"'],
    ["points", { gigabytesPerSecond: null }, "points[0].gigabytesPerSecond is null, expected a n"],
    ["points", { byteLength: "4 KiB" }, 'byteLength is "4 KiB", expected a number'],
    ["fits", { latencySeconds: null }, "fits[0].latencySeconds is null, expected a number"],
  ];
  assertThrows(() => new BandwidthResult({} as never), TypeError, "provenance is undefined");
  for (const [part, change, words] of wrong) {
    const [first, ...rest] = data[part];
    const changed = { ...data, [part]: [change && { ...first, ...change }, ...rest] };
    assertThrows(() => new BandwidthResult(changed), TypeError, words);
  }
  const more = new BandwidthResult({ ...data, points: [{ ...data.points[0], more: 5 }] });
  assertEquals(more.points.length, 1);
});
