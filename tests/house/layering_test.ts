// The architecture, executable: a file may import from its own row and the rows above it.
// A new file needs a place in the list, so that where it belongs is decided and not found out.

import { assertEquals } from "@std/assert";
import { type ImportEdge, readImportGraph, shippedPaths } from "../support/import_graph.ts";

/** From the vendor's facts down to the command line; a path ending in "/" stands for a folder. */
const LAYERS: readonly (readonly string[])[] = [
  ["ffi/"],
  ["ffi/simulated/stricter.ts", "ffi/simulated/errors.ts", "ffi/simulated/options.ts"],
  ["ffi/simulated/model/"],
  ["ffi/simulated/work/"],
  ["ffi/simulated/calls/"],
  ["ffi/simulated/"],
  ["src/words/"],
  ["src/dtype.ts"],
  ["src/ticket.ts"],
  ["src/accounting/"],
  ["src/driver/"],
  ["src/order/"],
  ["src/memory/"],
  ["src/graph/"],
  ["src/copies/"],
  ["src/resources/"],
  ["src/transfer/ways.ts"],
  ["src/lanes/"],
  ["src/disk/"],
  ["src/transfer/"],
  ["src/launch/"],
  ["src/numpy/", "src/dlpack/"],
  ["src/sharing/"],
  ["src/buffers/"],
  ["src/interop/"],
  ["src/persist/"],
  ["src/kernels/"],
  ["src/python/"],
  ["src/measure/"],
  ["src/spread/"],
  ["src/group/"],
  ["src/device/"],
  ["src/cards/"],
  ["mod.ts"],
  ["src/entries/"],
  ["src/notebook/"],
  ["src/snapshots/"],
  ["src/machine/"],
  ["src/notebook/mod.ts"],
  ["src/bench/"],
  ["src/cli.ts", "src/cli/"],
];

/** The rows from here on are entries of their own, which may load packages from npm. */
const FIRST_ENTRY_LAYER = layerOf("src/notebook/");

/** The files that know the simulated driver: one opens the driver that was asked for, one is its entry. */
const KNOW_SIMULATION = ["src/driver/driver.ts", "src/entries/simulated.ts"];

/**
 * A buffer makes its views, which know buffers by their types, and one list has the types of all kinds of
 * buffers; nothing else goes in a circle.
 */
const KNOWN_CIRCLE = [
  "src/buffers/device_buffer.ts",
  "src/buffers/gpu_buffer.ts",
  "src/buffers/growable_buffer.ts",
  "src/buffers/host_buffer.ts",
  "src/buffers/lazy_buffer.ts",
  "src/buffers/managed_buffer.ts",
  "src/buffers/mapped_buffer.ts",
  "src/buffers/pinned_buffer.ts",
  "src/buffers/registered_buffer.ts",
  "src/buffers/remote_buffer.ts",
  "src/buffers/retyped.ts",
  "src/buffers/staged_buffer.ts",
  "src/buffers/strided_view.ts",
];

const graph = await readImportGraph();

Deno.test("layers name every file of ffi/ and src/", () => {
  assertEquals(shippedPaths().filter((path) => layerOf(path) === -1), []);
});

Deno.test("imports go up the list of layers only", () => {
  assertEquals(wrongWay(graph), []);
});

Deno.test("imports are relative, built in, or carry npm: and a version", () => {
  assertEquals(unportable(graph), []);
});

Deno.test("imports of the core have no outside package", () => {
  assertEquals(outside(graph), []);
});

Deno.test("imports of the simulated driver are in its entry and in the file that chooses a driver", () => {
  const choosers = graph
    .filter(({ to }) => to.startsWith("ffi/simulated/"))
    .map(({ from }) => from)
    .filter((from) => !from.startsWith("ffi/simulated/") && !KNOW_SIMULATION.includes(from));
  assertEquals(choosers, []);
});

Deno.test("imports make no circle of files that load each other", () => {
  assertEquals(circles(graph.filter(({ typeOnly }) => !typeOnly)), []);
});

Deno.test("imports make no circle with those of types either, but for the one that is known", () => {
  assertEquals(circles(graph), [KNOWN_CIRCLE]);
});

Deno.test("the rules of the layers find a planted breach", async (t) => {
  await t.step("an import down the list", () => {
    const planted = edge("src/order/stream.ts", "src/buffers/device_buffer.ts");
    assertEquals(wrongWay([planted]), ["src/order/stream.ts imports src/buffers/device_buffer.ts"]);
    assertEquals(wrongWay([edge("src/buffers/device_buffer.ts", "src/order/stream.ts")]), []);
    assertEquals(wrongWay([edge("ffi/cuda.ts", "ffi/simulated/driver.ts")]).length, 1);
  });
  await t.step("a specifier that a URL import cannot resolve", () => {
    const planted = ["@std/assert", "npm:plotly.js", "https://example.com/mod.ts", "jsr:@a/b@1"];
    assertEquals(unportable(planted.map((specifier) => edge("src/cli.ts", specifier))).length, 4);
    assertEquals(unportable([edge("src/cli.ts", "npm:@types/plotly.js@3.0.14")]), []);
  });
  await t.step("a package in the core", () => {
    assertEquals(outside([edge("src/device/device.ts", "npm:a@1.0.0")]).length, 1);
    assertEquals(outside([edge("src/cli.ts", "npm:a@1.0.0")]), []);
  });
  await t.step("a circle", () => {
    const ring = [edge("a.ts", "b.ts"), edge("b.ts", "c.ts"), edge("c.ts", "a.ts")];
    const tail = [edge("d.ts", "a.ts"), edge("c.ts", "e.ts")];
    assertEquals(circles([...tail, ...ring]), [["a.ts", "b.ts", "c.ts"]]);
    assertEquals(circles([...tail, ...ring.slice(1)]), []);
  });
});

/** Returns the row of a path, by the longest name in the list that fits, or -1. */
function layerOf(path: string): number {
  let best = { layer: -1, length: 0 };
  for (const [layer, names] of LAYERS.entries()) {
    for (const name of names) {
      const fits = name.endsWith("/") ? path.startsWith(name) : path === name;
      if (fits && name.length > best.length) best = { layer, length: name.length };
    }
  }
  return best.layer;
}

function wrongWay(edges: readonly ImportEdge[]): string[] {
  return edges
    .filter(({ from, to }) => layerOf(to) > layerOf(from))
    .map(({ from, to }) => `${from} imports ${to}`);
}

function unportable(edges: readonly ImportEdge[]): string[] {
  return edges
    .filter(({ specifier }) =>
      !/^(\.{1,2}\/.+\.(ts|py)$|node:|npm:(@[^/]+\/)?[^@]+@\d)/.test(specifier)
    )
    .map(({ from, specifier }) => `${from} imports ${specifier}`);
}

function outside(edges: readonly ImportEdge[]): string[] {
  return edges
    .filter(({ from, specifier }) =>
      layerOf(from) < FIRST_ENTRY_LAYER && !/^(\.{1,2}\/|node:)/.test(specifier)
    )
    .map(({ from, specifier }) => `${from} imports ${specifier}`);
}

/** Returns the circles of files that import each other, each with its files in order of name. */
function circles(edges: readonly ImportEdge[]): string[][] {
  const imports = Map.groupBy(edges, ({ from }) => from);
  const reached = new Map([...imports.keys()].map((path) => [path, reachedFrom(path, imports)]));
  const found = [...reached].map(([path, others]) =>
    [...others].filter((other) => reached.get(other)?.has(path)).sort()
  );
  return [...new Map(found.map((files) => [files.join(), files])).values()]
    .filter((files) => files.length > 0);
}

/** Lists the files that a file imports, and that those import; itself where it is in a circle. */
function reachedFrom(
  path: string,
  imports: ReadonlyMap<string, readonly ImportEdge[]>,
): ReadonlySet<string> {
  const reached = new Set<string>();
  const waiting = [path];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const { to } of imports.get(next) ?? []) {
      if (reached.has(to)) continue;
      reached.add(to);
      waiting.push(to);
    }
  }
  return reached;
}

function edge(from: string, to: string): ImportEdge {
  const isPath = /^[a-z]+[/.].*ts$/.test(to);
  return { from, specifier: isPath ? `./${to}` : to, to, typeOnly: false };
}
