// The output of `deno bench --json` as speeds: names there and back, ceilings, slowdowns, and what is no
// such output.

import { assertEquals, assertThrows } from "@std/assert";
import { formatBenchName, parseBenchName } from "../../../src/bench/bench_name.ts";
import { compareRuns, isSlower, parseBenchRun } from "../../../src/bench/bench_results.ts";

const GIB = 2 ** 30;
const FACTS = {
  name: "upload",
  byteLength: 37 * 2 ** 20 + 3,
  callCount: 1,
  direction: undefined,
  device: "NVIDIA H200",
} as const;

for (
  const facts of [
    FACTS,
    { ...FACTS, callCount: 64, direction: "up" },
    { ...FACTS, name: "a [1 x 2 bytes, x] in\ntwo lines", direction: "device" },
    { ...FACTS, device: "NVIDIA GeForce RTX 4090, [Max-Q]" },
    { ...FACTS, name: "", byteLength: 2 ** 40, direction: "down" },
  ] as const
) {
  Deno.test(`parseBenchName() reads what formatBenchName() wrote: ${formatBenchName(facts)}`, () => {
    assertEquals(parseBenchName(formatBenchName(facts)), facts);
  });
}

Deno.test("parseBenchName() knows no facts in other names", () => {
  for (
    const name of ["parse", "x [5 bytes]", "x [0 bytes, a]", "x [0 x 5 bytes, a]", "[5 bytes, a] x"]
  ) {
    assertEquals(parseBenchName(name), undefined, name);
  }
});

Deno.test("parseBenchRun() counts the bytes of all calls that were timed together", () => {
  const { speeds } = parseBenchRun(
    output({ name: name("upload", 4096, { callCount: 10 }), avg: 4096 }),
  );
  assertEquals(speeds.map(({ gigabytesPerSecond }) => gigabytesPerSecond), [10]);
});

Deno.test("parseBenchRun() gives shares of the fastest page-locked copy of the same direction and device", () => {
  const { speeds } = parseBenchRun(output(
    { name: name("pinned upload", GIB), avg: GIB / 50 },
    { name: name("pinned upload", 4096), avg: 4096 },
    { name: name("upload", GIB), avg: GIB / 40 },
    { name: name("download", GIB, { direction: "down" }), avg: GIB / 40 },
    { name: name("upload", GIB, { device: "other" }), avg: GIB / 40 },
  ));
  assertEquals(speeds.map(({ ceilingShare }) => ceilingShare?.toFixed(2)), [
    "1.00",
    "0.02",
    "0.80",
    undefined,
    undefined,
  ]);
});

Deno.test("parseBenchRun() keeps failures apart, counts other benches, and skips what is printed before", () => {
  const failed = { name: name("upload", 1), results: [{ failed: { message: "out of memory" } }] };
  const text = `opening\n{not json\n${
    JSON.stringify(
      { runtime: "Deno", cpu: "x", benches: [failed, bench({ name: "sort", avg: 1 })] },
      null,
      2,
    )
  }`;
  const { speeds, failures, otherCount } = parseBenchRun(text);
  assertEquals([speeds.length, otherCount], [0, 1]);
  assertEquals(failures, [{ name: failed.name, error: "out of memory" }]);
});

Deno.test("parseBenchRun() refuses a text that deno bench did not print", () => {
  const wrong = [
    "",
    "[]",
    "null",
    "{}",
    '{"benches": 5}',
    '{"benches": [5]}',
    '{"benches": [{"name": "x"}]}',
  ];
  const withoutTime = JSON.stringify({ benches: [{ name: name("x", 1), results: [{ ok: {} }] }] });
  for (const text of [...wrong, withoutTime]) {
    assertThrows(
      () => parseBenchRun(text),
      TypeError,
      "it is no output of deno bench --json",
      text,
    );
  }
});

Deno.test("compareRuns() pairs like with like, and isSlower() tells what got slower than the spread", () => {
  const before = parseBenchRun(output(
    { name: name("a", GIB), avg: 100, min: 90, p75: 110 },
    { name: name("b", GIB), avg: 100, min: 90, p75: 110 },
    { name: name("c", GIB), avg: 100, min: 90, p75: 110 },
  ));
  const now = parseBenchRun(output(
    { name: name("a", GIB), avg: 150, min: 109, p75: 160 }, // within the spread
    { name: name("b", GIB), avg: 150, min: 111, p75: 160 },
    { name: name("c", GIB, { device: "other" }), avg: 900 },
    { name: name("d", GIB), avg: 900 },
  ));
  assertEquals(compareRuns(before, now).filter(isSlower).map(({ now }) => now.name), ["b"]);
  assertEquals(compareRuns(now, before).filter(isSlower), []);
  assertEquals(compareRuns(before, now).length, 2);
});

function name(
  text: string,
  byteLength: number,
  more: { callCount?: number; direction?: "up" | "down"; device?: string } = {},
): string {
  const facts = { callCount: 1, direction: "up", device: "NVIDIA H200", ...more } as const;
  return formatBenchName({ name: text, byteLength, ...facts });
}

/** One bench as deno prints it; the times are nanoseconds. */
function bench({ name, avg, min = avg, p75 = avg }: {
  name: string;
  avg: number;
  min?: number;
  p75?: number;
}) {
  return { name, results: [{ ok: { avg, min, p75 } }] };
}

function output(...benches: Parameters<typeof bench>[0][]): string {
  return JSON.stringify({ runtime: "Deno", cpu: "x", benches: benches.map(bench) });
}
