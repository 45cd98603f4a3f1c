// Draws a figure of every type in a browser, in one page after a figure of the small bundle, and in pages of
// their own one of each bundle and those that need WebGL, as a program: `deno run -A figure_check.ts [PICTURE]`; all types go to the picture.

import type { Locator } from "npm:playwright-core@1.65.1";
import { Figure } from "../../../src/notebook/figure.ts";
import { plotlyScript } from "../../../src/notebook/plotly.ts";
import { bundleFor, TRACE_TYPES, webglTypes } from "../../../src/notebook/trace_types.ts";
import { type Check, checkInBrowser, faultless, watch } from "../browser_checks.ts";
import { TemporaryFolder } from "../temporary_folder.ts";
import { sampleFigure } from "./trace_samples.ts";

/** Marks of a drawn plot: something with a colour in its plot area, or a canvas. */
const MARKS = "canvas, image, .plot path, .plot rect, .pielayer path, .trace path, .trace rect, " +
  ".sankey path, .treemaplayer path, .iciclelayer path, .sunburstlayer path, .table rect, " +
  ".funnelarealayer path, .indicatorlayer path, .polarlayer path, .ternarylayer path, " +
  ".smithlayer path, .parcats path, .contour path";

/** The time that a page may take to load and to draw: it has no GPU, and the machine may be busy. */
const PAGE_MILLISECONDS = 120_000;

/** Waits for a mark in an element of a page; false when there is none in time. */
function isDrawn(host: Locator): Promise<boolean> {
  const options = { state: "attached", timeout: 20_000 } as const;
  return host.locator(MARKS).first().waitFor(options).then(() => true, () => false);
}

/** Both bundles in one page, as a notebook's cells bring them: the larger one replaces the other. */
async function wholePage(): Promise<string> {
  const ordered = [...TRACE_TYPES].sort((a, b) =>
    bundleOf(b) === bundleOf(a) ? 0 : bundleOf(a) === "full" ? 1 : -1
  );
  const parts: string[] = [];
  for (const type of ordered) {
    if (parts.length === 0) parts.push(await plotlyScript("cartesian"));
    if (bundleOf(type) === "full" && !parts.includes("full")) {
      parts.push(await plotlyScript("full"), "full");
    }
    const { data, layout } = sampleFigure(type);
    const figure = new Figure({
      data,
      layout: { ...layout, width: 280, height: 220, margin: { l: 30, r: 20, t: 40, b: 30 } },
    });
    parts.push(
      `<div class="one" data-type="${type}" style="display:inline-block;width:284px">${figure.toHTML()}</div>`,
    );
  }
  return `<!doctype html><meta charset="utf-8"><body style="font:12px sans-serif">${
    parts.filter((part) => part !== "full").join("\n")
  }`;
}

function bundleOf(type: string) {
  return bundleFor(sampleFigure(type).data);
}

/** The others draw in a page of their own as one of their bundle does. */
function isAlone(type: string): boolean {
  const first = TRACE_TYPES.find((each) => bundleOf(each) === bundleOf(type));
  return type === first || webglTypes(sampleFigure(type).data).length > 0;
}

if (import.meta.main) {
  const [picture] = Deno.args;
  using folder = new TemporaryFolder();
  await checkInBrowser(async (browser, report) => {
    const page = await browser.newPage({ viewport: { width: 1200, height: 900 }, offline: true });
    const { faults } = watch(page, (url) => url.startsWith("file:"));
    page.setDefaultTimeout(PAGE_MILLISECONDS);
    await page.goto(`file://${folder.write("all.html", await wholePage())}`);
    const checkAlone = async (type: string): Promise<Check[]> => {
      const html = await new Figure(sampleFigure(type)).toPage(type);
      const own = await browser.newPage({ offline: true });
      const { faults } = watch(own, (url) => url.startsWith("file:"));
      own.setDefaultTimeout(PAGE_MILLISECONDS);
      await own.goto(`file://${folder.write("one.html", html)}`);
      const found = await isDrawn(own.locator(".js-plotly-plot"));
      await own.close();
      return [{ name: "is drawn in a page of its own", passed: found, found }, faultless(faults)];
    };
    for (const type of TRACE_TYPES) {
      await report(type, async () => {
        const found = await isDrawn(page.locator(`[data-type="${type}"]`));
        const drawn = { name: "is drawn in a page with others", passed: found, found };
        return isAlone(type) ? [drawn, ...await checkAlone(type)] : [drawn];
      });
    }
    if (picture !== undefined) await page.screenshot({ path: picture, fullPage: true });
    await report("the page with all types", () => Promise.resolve([faultless(faults)]));
  }, ["--enable-unsafe-swiftshader", "--use-angle=swiftshader", "--max-active-webgl-contexts=32"]);
}
