// Figures as HTML, as a page, in a notebook's display and as static SVG.
// What only a browser can tell, that a page is drawn, is checked by tests/support/browser_check.ts.

import {
  assert,
  assertEquals,
  assertMatch,
  assertNotMatch,
  assertObjectMatch,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { Figure } from "../../src/notebook/figure.ts";
import { runDeno } from "../support/child_deno.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { inTurn } from "../support/test_unless.ts";

const DISPLAY = Symbol.for("Jupyter.display");

function twoLines(name = "first"): Figure {
  return new Figure({
    data: [
      { type: "scatter", name, x: [1, 2, 3], y: [1, 4, 9] },
      { type: "scatter", name: "second", x: [1, 2, 3], y: [2, 3, 4] },
    ],
    layout: { xaxis: { title: { text: "size" } }, font: { size: 14 } },
    description: `two rising lines, ${name} and second`,
  });
}

async function bundleOf(figure: Figure): Promise<Record<string, unknown>> {
  return await (figure as unknown as { [DISPLAY](): Promise<Record<string, unknown>> })[DISPLAY]();
}

/** Takes the element with plotly.js out of a page, leaving what this kit wrote. */
function withoutRuntime(html: string): string {
  return html.replace(/<script>if\(!\(window\.Plotly&&[\s\S]*?<\/script>/, "");
}

Deno.test("Figure keeps the layout it was given and completes it for light and dark pages", () => {
  const { layout } = twoLines();
  assertEquals(layout.xaxis, { title: { text: "size" } });
  assertObjectMatch(layout.font ?? {}, { size: 14, color: "#757b84" });
  assertEquals(layout.paper_bgcolor, "rgba(0,0,0,0)");
  assertEquals(layout.plot_bgcolor, "rgba(0,0,0,0)");
});

Deno.test(
  inTurn("Figure.toSVG() draws a grid that reads on light and dark pages, unless told otherwise"),
  async () => {
    const gridOf = (svg: string) => /class="xgrid[^>]*stroke: ([^;]+);/.exec(svg)?.[1];
    assertEquals(gridOf(await twoLines().toSVG()), "rgb(128, 128, 128)");
    const figure = twoLines();
    figure.layout.xaxis = { gridcolor: "#123456" };
    assertEquals(gridOf(await figure.toSVG()), "rgb(18, 52, 86)");
  },
);

Deno.test("Figure names the data that are missing", () => {
  const words = 'Cannot call new Figure(): option "data" is undefined, expected a list';
  assertThrows(() => new Figure({} as never), TypeError, words);
});

Deno.test(
  inTurn("Figure draws typed arrays and BigInts as numbers, wherever it is drawn"),
  async () => {
    const y = Float32Array.of(1, 4, NaN);
    const customdata = [BigInt64Array.of(5n, -6n)];
    const data = [{ type: "scatter", x: [1n, 2n, 3n], y, customdata }];
    const figure = new Figure({ data, description: "three points" });
    const drawn = [{ type: "scatter", x: [1, 2, 3], y: [1, 4, NaN], customdata: [[5, -6]] }];
    assertEquals((await bundleOf(figure))["application/vnd.plotly.v1+json"], {
      data: drawn,
      layout: figure.layout,
      config: figure.config,
    });
    assertStringIncludes(figure.toHTML(), `"data":${JSON.stringify(drawn)}`);
    assertMatch(await figure.toSVG(), /class="js-line"/);
    assert(figure.data === data && figure.data[0]?.y === y, "the figure's own data was changed");
  },
);

Deno.test("Figure says what it cannot draw", async () => {
  const self: Record<string, unknown> = {};
  self.self = self;
  const wrong: readonly [y: unknown, words: string][] = [
    [
      Promise.resolve([1]),
      "Cannot draw a figure with a promise, which has to be awaited: expected",
    ],
    [{ [Symbol.dispose]: () => {} }, "Cannot draw a figure with an object: expected numbers"],
    [self, "Cannot draw a figure: a part contains itself"],
  ];
  for (const [y, words] of wrong) {
    const figure = new Figure({ data: [{ type: "scatter", y }], description: "" });
    assertThrows(() => figure.toHTML(), TypeError, words);
    await assertRejects(() => figure.toSVG(), TypeError, words);
  }
});

Deno.test("Figure.toSVG() says which sizes there are", async () => {
  for (const width of [0, -5, NaN, Infinity, 1e9]) {
    const words = `Cannot draw a picture with a side of ${width}: expected 1 to 65535 pixels`;
    await assertRejects(() => twoLines().toSVG({ width }), RangeError, words);
  }
});

Deno.test("Figure.describe() says what it was told to", () => {
  assertEquals(twoLines().describe(), "two rising lines, first and second");
});

Deno.test("Figure without a description is described by its title, or by its traces", async () => {
  const data = [{ type: "bar" as const, x: [1, 2], y: [3, 4] }, { name: "fit", x: [1], y: [2] }];
  assertEquals(new Figure({ data, layout: { title: { text: "mine" } } }).describe(), "mine");
  const untitled = new Figure({ data });
  assertEquals(untitled.describe(), "a plot of 2 traces: bar, fit");
  assertStringIncludes(String((await bundleOf(untitled))["text/html"]), "a plot of 2 traces");
});

Deno.test("Figure shows its description on a console and as a string", () => {
  const figure = twoLines();
  assertEquals([String(figure), Deno.inspect(figure)], Array(2).fill(figure.describe()));
});

Deno.test("Figure.toHTML() shows data that was changed after construction", () => {
  const figure = twoLines();
  figure.data = [{ type: "scatter", name: "replaced", x: [1], y: [1] }];
  assertStringIncludes(figure.toHTML(), `"name":"replaced"`);
  assert(!figure.toHTML().includes(`"name":"second"`));
});

Deno.test("Figure.toHTML() cannot be left by a text that closes a script element", () => {
  const html = twoLines("</script><script>alert(1)</script>\u2028<b>").toHTML();
  assertEquals(html.match(/<script>/g)?.length, 1);
  assertEquals(html.match(/<\/script>/g)?.length, 1);
  assert(!html.includes("<b>"));
  const script = /<script>([\s\S]*)<\/script>/.exec(html)?.[1] ?? "";
  assert(!script.includes("\u2028"));
  new Function(script); // throws where it is no JavaScript
});

Deno.test("Figure.toHTML() carries the same data after escaping", () => {
  const name = `</script> "quoted" \\ \u2028 \u2029 <!-- & ü`;
  const json = /var figure = (.*), triesLeft/.exec(twoLines(name).toHTML())?.[1] ?? "";
  assertEquals(JSON.parse(json).data[0].name, name);
});

Deno.test("Figure.toHTML() gives each fragment an id of its own", () => {
  const figure = twoLines();
  const ids = [figure.toHTML(), figure.toHTML()].map((html) => /<div id="([^"]+)"/.exec(html)?.[1]);
  assert(ids[0] !== undefined && ids[0] !== ids[1]);
});

Deno.test("Figure.toHTML() shows the description where scripts do not run", () => {
  const withoutScripts = twoLines().toHTML().replace(/<script>[\s\S]*<\/script>/, "");
  assertStringIncludes(withoutScripts, "two rising lines, first and second</p>");
});

Deno.test("Figure.toPage() refers to nothing outside itself", async () => {
  const page = withoutRuntime(await twoLines().toPage("Two lines"));
  assertNotMatch(page, /https?:|\ssrc=|\shref=|@import|url\(/);
  assertStringIncludes(page, "default-src 'none'");
});

Deno.test("Figure.toPage() carries plotly.js once and follows the reader's theme", async () => {
  const page = await twoLines().toPage("Two lines");
  assertEquals(page.match(/<script>if\(!\(window\.Plotly&&/g)?.length, 1);
  assertStringIncludes(page, "color-scheme: light dark");
  assertStringIncludes(page, "fill:currentColor");
});

Deno.test("Figure.toPage() escapes its title", async () => {
  const page = withoutRuntime(await twoLines().toPage("a < b & c"));
  assertStringIncludes(page, "<title>a &lt; b &amp; c</title>");
});

Deno.test("Figure shows itself in a notebook as HTML, as plotly data and in words", async () => {
  const figure = twoLines();
  const bundle = await bundleOf(figure);
  assertEquals(bundle["text/plain"], figure.describe());
  assertEquals(bundle["application/vnd.plotly.v1+json"], {
    data: figure.data,
    layout: figure.layout,
    config: figure.config,
  });
  assertStringIncludes(String(bundle["text/html"]), `<div id="figure-`);
});

Deno.test("Figure shows itself as a picture inside its HTML, where no script runs", async () => {
  const html = String((await bundleOf(twoLines()))["text/html"]);
  const still = html.replaceAll(/<(script|style)>[\s\S]*?<\/\1>/g, "");
  const [, base64 = ""] = /<img [^>]*src="data:image\/svg\+xml;base64,([^"]+)"/.exec(still) ?? [];
  const svg = new TextDecoder().decode(Uint8Array.fromBase64(base64));
  assertEquals(svg.match(/class="trace scatter/g)?.length, 2);
});

Deno.test(inTurn("Figure keeps plotly.js out of the outputs that a notebook saves"), async () => {
  const html = String((await bundleOf(twoLines()))["text/html"]);
  assert(html.length < 40_000, `${html.length} characters`);
});

Deno.test(inTurn("Figure says in words that its packages could not be loaded"), async () => {
  const entry = new URL("../../src/notebook/mod.ts", import.meta.url);
  using cache = new TemporaryFolder();
  const program = `const { Figure } = await import(${JSON.stringify(entry.href)});
    const figure = new Figure({ data: [], description: "two <lines>" });
    console.log(JSON.stringify(await figure[Symbol.for("Jupyter.display")]()));`;
  const env = { DENO_DIR: cache.path };
  const { stdout } = await runDeno(["eval", "--cached-only", program], { env });
  const bundle = JSON.parse(stdout);
  assertStringIncludes(bundle["text/html"], "two &lt;lines&gt;</p>");
  assertStringIncludes(bundle["text/html"], "The plot cannot be drawn: Cannot load ");
  assertEquals(bundle["text/plain"], "two <lines>");
});

Deno.test("Figure.toSVG() draws every trace at the size asked for", async () => {
  const svg = await twoLines().toSVG({ width: 500, height: 300 });
  assertMatch(svg, /^<svg[^>]*width="500" height="300"/);
  assertEquals(svg.match(/class="trace scatter/g)?.length, 2);
  assertStringIncludes(svg, "<title>two rising lines, first and second</title>");
});

Deno.test(inTurn("Figure.toSVG() leaves the figure as its owner wrote it"), async () => {
  const figure = twoLines();
  const before = structuredClone({ data: figure.data, layout: figure.layout });
  await figure.toSVG();
  assertEquals({ data: figure.data, layout: figure.layout }, before);
});

Deno.test(inTurn("Figure.toSVG() puts an axis title just clear of the tick labels"), async () => {
  const figure = new Figure({
    data: [{ type: "scatter", x: [1, 2], y: [1_000_000, 2_000_000] }],
    layout: { yaxis: { title: { text: "count of all things seen" }, tickformat: "d" } },
    description: "a line",
  });
  const svg = await figure.toSVG();
  const [, shift] = /class="g-ytitle" transform="translate\(([-\d.]+)/.exec(svg) ?? [];
  const [, baseline] = /class="ytitle"[^>]*? x="([-\d.]+)"/.exec(svg) ?? [];
  const [, tickEnd] = /class="ytick"><text[^>]*? x="([-\d.]+)"/.exec(svg) ?? [];
  const tickStart = Number(tickEnd) - "2000000".length * 12 * 0.56;
  const gap = tickStart - (Number(baseline) + Number(shift));
  assert(gap > 2 && gap < 12, `${gap} pixels between title and tick labels`);
});
