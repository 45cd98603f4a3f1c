// Every type of trace that a figure may have is drawn without a browser, or its picture says why not;
// misspelt types and attributes are refused with the names that are near.

import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { Figure } from "../../src/notebook/figure.ts";
import { bundleFor, TRACE_TYPES, webglTypes } from "../../src/notebook/trace_types.ts";
import { shareOf } from "../support/random.ts";
import { sampleFigure, TRACE_SAMPLES } from "../support/notebook/trace_samples.ts";
import { inTurn } from "../support/test_unless.ts";

const MAPS = ["scattergeo", "choropleth", "scattermap", "choroplethmap", "densitymap"];

Deno.test("the samples have every type that a figure may have, and no other", () => {
  assertEquals(Object.keys(TRACE_SAMPLES).sort(), [...TRACE_TYPES, ...MAPS].sort());
});

for (const type of shareOf(TRACE_TYPES, { parts: 20 })) {
  const figure = () => new Figure(sampleFigure(type));
  if (webglTypes(sampleFigure(type).data).length === 0) {
    Deno.test(`Figure.toSVG() draws ${type}`, async () => {
      const svg = await figure().toSVG({ width: 400, height: 300 });
      // An empty plot has its frame and its axes alone, which are no marks.
      const marks = svg.match(
        /<image |<(path|rect)[^>]*(fill|stroke)(: ?|=")(#|rgb\((?!0, 0, 0\)))/g,
      );
      assert((marks ?? []).length > 0, svg);
    });
  } else {
    Deno.test(`Figure says that a picture of ${type} needs WebGL`, async () => {
      await assertRejects(() => figure().toSVG(), Error, `picture of ${type}: it needs WebGL`);
      const shown = await display(figure());
      assertStringIncludes(shown["text/html"] ?? "", `without scripts: ${type} needs WebGL`);
      assertStringIncludes(shown["text/html"] ?? "", "newPlot");
    });
  }
}

Deno.test(inTurn("Figure.toSVG() paints the cells of a heatmap"), async () => {
  const { data, layout } = sampleFigure("heatmap");
  const [trace] = data;
  const gray = [[0, "rgb(0,0,0)"], [1, "rgb(255,255,255)"]];
  const figure = new Figure({ data: [{ ...trace, colorscale: gray, showscale: false }], layout });
  const svg = await figure.toSVG({ width: 200, height: 200 });
  const [, png = ""] = /data:image\/png;base64,([^"]+)/.exec(svg) ?? [];
  const bytes = Uint8Array.fromBase64(png);
  assertEquals([...bytes.subarray(1, 4)], [0x50, 0x4e, 0x47]);
  const view = new DataView(bytes.buffer);
  assert(view.getUint32(16) >= 3 && view.getUint32(20) >= 3);
});

Deno.test("Figure takes the small bundle as long as it draws all traces", () => {
  assertEquals(bundleFor([{}, { type: "heatmap" }, { type: "violin" }]), "cartesian");
  assertEquals(bundleFor([{ type: "bar" }, { type: "treemap" }]), "full");
});

Deno.test("Figure refuses a type that plotly.js does not have, and one that fetches maps", () => {
  const figure = (type: string) => () => new Figure({ data: [{ type: "bar" }, { type }] });
  assertThrows(figure("heatmpa"), TypeError, 'data[1] of type "heatmpa": plotly.js has no such');
  assertThrows(figure("heatmpa"), TypeError, "(did you mean heatmap?)");
  assertThrows(figure("nonsense"), TypeError, 'type "nonsense": plotly.js has no such type');
  for (const type of MAPS) assertThrows(figure(type), TypeError, "it asks a server for maps");
  const changed = new Figure({ data: [{ x: [1] }] });
  changed.data = [{ type: "lines" }];
  assertThrows(() => changed.toHTML(), TypeError, "no such type");
});

const MISTAKES: Readonly<Record<string, readonly [data: object, layout: object, message: string]>> =
  {
    "an attribute of a trace": [
      { type: "heatmap", z: [[1]], colourscale: "Hot" },
      {},
      'data[0] of type "heatmap" has no colourscale (did you mean colorscale?)',
    ],
    "an attribute inside one": [
      { y: [1], marker: { colour: "red" } },
      {},
      "data[0].marker has no colour (did you mean color?)",
    ],
    "an attribute of another type": [{ type: "pie", xbins: {} }, {}, 'type "pie" has no xbins'],
    "a value": [{ y: [1], mode: "linse" }, {}, 'data[0].mode is "linse"'],
    "an attribute of the layout": [
      { y: [1] },
      { titel: { text: "a" } },
      "layout has no titel (did you mean title?)",
    ],
    "an attribute of an axis": [
      { y: [1], yaxis: "y2" },
      { yaxis2: { rnage: [0, 1] } },
      "layout.yaxis2 has no rnage (did you mean range?)",
    ],
    "a title without { text }": [
      { y: [1] },
      { title: "Speed" },
      'layout.title is "Speed", expected an object, such as { text }',
    ],
    "an attribute of a legend": [
      { y: [1] },
      { legend: { orientatoin: "h" } },
      "layout.legend has no orientatoin (did you mean orientation?)",
    ],
    "a value of a legend": [
      { y: [1] },
      { legend: { orientation: "horizontal" } },
      'layout.legend.orientation is "horizontal", expected one of v, h',
    ],
    "a number of a legend that is out of bounds": [
      { y: [1] },
      { legend: { font: { size: 0 } } },
      "layout.legend.font.size is the number 0",
    ],
    "a legend's title without { text }": [
      { y: [1] },
      { legend2: { title: "Speed" } },
      'layout.legend2.title is "Speed", expected an object, such as { text }',
    ],
    "a shape": [{ y: [1] }, { shapes: [{ colr: 1 }] }, "layout.shapes.0 has no colr"],
  };

for (const [what, [trace, layout, message]] of shareOf(Object.entries(MISTAKES))) {
  Deno.test(`Figure refuses ${what} that plotly.js would ignore`, async () => {
    const figure = new Figure({ data: [{ ...trace }], layout: { ...layout } });
    await assertRejects(() => figure.toSVG(), TypeError, message);
    const shown = await display(figure);
    assertStringIncludes(shown["text/plain"] ?? "", message);
    assertEquals(Object.keys(shown).sort(), ["text/html", "text/plain"]);
  });
}

Deno.test(
  inTurn("Figure draws a legend, and takes the layout of traces that it does not have"),
  async () => {
    const legend = {
      ...{
        orientation: "h",
        x: 1,
        xanchor: "left",
        bgcolor: "rgba(0,0,0,0)",
        traceorder: "reversed",
      },
      ...{ title: { text: "way", font: { size: 9 } }, borderwidth: 1, itemclick: false },
    } as const;
    const layout = { showlegend: true, legend, bargap: 0.1 } as const;
    const figure = new Figure({ data: [{ y: [1, 2], name: "up" }], layout });
    assertStringIncludes(await figure.toSVG(), ">up</text>");
    assertStringIncludes((await display(figure))["text/html"] ?? "", "<img");
  },
);

async function display(figure: Figure): Promise<Record<string, string>> {
  const show = Reflect.get(figure, Symbol.for("Jupyter.display")) as () => Promise<
    Record<string, string>
  >;
  return await show.call(figure);
}
