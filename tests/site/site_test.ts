// The documentation's site as a reader meets it: links lead somewhere, names and members are there, and
// search finds what guides say.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import config from "../../deno.json" with { type: "json" };
import { staticHtml } from "../../site/notebook_text.ts";
import { textOf } from "../../site/search_rows.ts";
import { buildSite } from "../../site/site.ts";
import { brokenLinks, foreignResources, problemsOf } from "../../site/site_check.ts";
import { QUESTIONS } from "../support/site_questions.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";

using folder = new TemporaryFolder();
const out = folder.pathOf("site");
const site = await buildSite(out);
const problems = problemsOf(site, out);
const read = (path: string) => Deno.readTextFileSync(`${out}/${path}`);
const pages = new Map(
  ["reference/DeviceBuffer.html", "reference/CudaDevice.html", "reference/index.html"].map((
    path,
  ) => [path, read(path)]),
);
const modules = Object.keys(config.exports).map((name) => {
  const path = `reference${name.slice(1)}/index.html`;
  return [path, read(path)] as const;
});
const notebook = read("notebooks/03_bandwidth.html");

/** Search as pages run it. */
const find: (words: string) => { address: string; name: string; where: string; text: string }[] =
  (() => {
    for (const name of ["minisearch.js", "found.js", "finding.js"]) {
      new Function(read(`assets/${name}`))();
    }
    return Reflect.get(globalThis, "vramkitFinding").find;
  })();

for (const { name, problems: found } of problems) {
  Deno.test(`site: ${name}`, () => assertEquals(found, []));
}

for (const [words, right] of Object.entries(QUESTIONS)) {
  Deno.test(`site: search for "${words}" finds the right page first`, () => {
    const [first, ...others] = find(words).map(({ address }) => address);
    const isRight = right.some((address) =>
      address.includes("#") || address.endsWith("/")
        ? first?.startsWith(address)
        : first?.split("#")[0] === address
    );
    assert(isRight, `${first}, then ${others.slice(0, 4).join(", ")}`);
  });
}

Deno.test("site has what a buffer inherits on the buffer's own page", () => {
  const page = pages.get("reference/DeviceBuffer.html") ?? "";
  const inherited = ["upload", "download", "copyFrom", "view", "fill", "dispose", "ptr", "shape"];
  assertEquals(inherited.filter((name) => !page.includes(`id="${name.toLowerCase()}"`)), []);
});

Deno.test("site leaves out what is protected or internal", () => {
  const page = pages.get("reference/DeviceBuffer.html") ?? "";
  const shown = ["derive", "create", "showElements", "streamFor"];
  assertEquals(shown.filter((name) => page.includes(`id="${name.toLowerCase()}"`)), []);
});

Deno.test("site has a page for every entry, named as programs import it", () => {
  for (const [path, html] of modules) {
    const specifier = path.replace(/^reference/, "vramkit").replace("/index.html", "");
    assertStringIncludes(html, `<h1>Module ${specifier}`, path);
  }
});

Deno.test("site shows a notebook with its code, its cards and its plots", () => {
  assertStringIncludes(notebook, "plotBandwidth");
  assertStringIncludes(notebook, 'class="vk-card"');
  assert(/<img src="[^"]*03_bandwidth_1[^"]*\.svg"/.test(notebook));
});

Deno.test("brokenLinks() finds a page that is gone, and an anchor that is not there", () => {
  const html =
    '<a href="nowhere.html">1</a><a href="b.html#nothing">2</a><a href="b.html#here">3</a>';
  const places = ["b.html#here"];
  assertEquals(brokenLinks([["a.html", html]], (place) => places.includes(place)), [
    "a.html: nowhere.html",
    "a.html: b.html#nothing",
  ]);
});

Deno.test("foreignResources() finds pictures and scripts of others, and leaves links alone", () => {
  const html = '<a href="https://example.com">1</a><img src="https://example.com/a.png">';
  assertEquals(foreignResources([["a.html", html]]), ["a.html: https://example.com/a.png"]);
});

Deno.test("textOf() is what a reader sees", () => {
  assertEquals(textOf("<b>a&#39;s</b> &amp;lt; &lt;b&gt;"), "a's &lt; <b>");
});

Deno.test("staticHtml() keeps what is shown and drops what runs", () => {
  const html = '<b onclick="a()">1</b><script>a()</script><a href="javascript:a()">2</a>';
  assertEquals(staticHtml(html), "<b>1</b><a >2</a>");
});
