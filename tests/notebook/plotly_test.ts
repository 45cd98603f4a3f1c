// The plotly.js runtime: that it stands whole in a script element and can be shown in a cell again.

import { assert, assertEquals, assertRejects } from "@std/assert";
import { loadPackage } from "../../src/notebook/package_loading.ts";
import { PlotlyRuntime, plotlyScript } from "../../src/notebook/plotly.ts";
import { runDeno } from "../support/child_deno.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { inTurn } from "../support/test_unless.ts";

async function shownHtml(runtime: PlotlyRuntime): Promise<string> {
  const show = Reflect.get(runtime, Symbol.for("Jupyter.display")) as () => Promise<
    Record<string, string>
  >;
  return (await show.call(runtime))["text/html"] ?? "";
}

Deno.test("plotlyScript() is one script element that is valid JavaScript", async () => {
  const html = await plotlyScript("cartesian");
  assertEquals(html.match(/<\/script/g)?.length, 1);
  const source = /^<script>([\s\S]*)<\/script>$/.exec(html)?.[1] ?? "";
  assert(source.length > 1_000_000);
  new Function(source); // throws where it is no JavaScript
});

Deno.test("PlotlyRuntime carries plotly.js each time it is shown", async () => {
  const runtime = new PlotlyRuntime();
  assertEquals(await shownHtml(runtime), await plotlyScript("cartesian"));
  assertEquals(await shownHtml(runtime), await plotlyScript("cartesian"));
});

Deno.test("PlotlyRuntime carries all of plotly.js where that is asked for", async () => {
  const html = await shownHtml(new PlotlyRuntime({ full: true }));
  assert(html.length > 4_000_000);
  assert(html.startsWith("<script>if(!(window.Plotly&&"), html.slice(0, 40));
});

Deno.test("loadPackage() names a package that does not come, or cannot be loaded", async () => {
  const never = new Promise<never>(() => {});
  const late = "Cannot load x from npm: no answer within 0.01 s";
  await assertRejects(() => loadPackage("x", never, 0.01), Error, late);
  const broken = Promise.reject(new TypeError("no such host\nand more"));
  await assertRejects(
    () => loadPackage("x", broken),
    Error,
    "Cannot load x from npm: no such host",
  );
  const refused = Promise.reject(new Deno.errors.NotCapable("Requires env access"));
  await assertRejects(() => loadPackage("x", refused), Deno.errors.NotCapable, "Requires env");
  assertEquals(await loadPackage("x", Promise.resolve(7)), 7);
});

Deno.test(inTurn("./notebook needs no npm package until a figure is shown"), async () => {
  const entry = new URL("../../src/notebook/mod.ts", import.meta.url);
  using emptyCache = new TemporaryFolder();
  const args = ["eval", "--cached-only", `await import(${JSON.stringify(entry.href)})`];
  const { code, stderr } = await runDeno(args, { env: { DENO_DIR: emptyCache.path } });
  assertEquals(code, 0, stderr);
});
