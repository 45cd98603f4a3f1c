// The documentation's site as a reader meets it: every name and member is there, links lead somewhere.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { firstSentence } from "../../site/doc_comment.ts";
import { headingAnchor, relativeAddress, textOf } from "../../site/html.ts";
import { renderMarkdown } from "../../site/markdown.ts";
import { Names } from "../../site/names.ts";
import { staticHtml } from "../../site/notebook_page.ts";
import { type PublicSymbol, Reference } from "../../site/reference.ts";
import { buildSite, type Site } from "../../site/site.ts";
import { problemsOf } from "../../site/site_check.ts";

const site = await buildSite();

for (const { name, problems } of problemsOf(site)) {
  Deno.test(`site: ${name}`, () => assertEquals(problems, []));
}

Deno.test("site has what a buffer inherits on the buffer's own page", () => {
  const page = pageOf(site, "DeviceBuffer");
  const inherited = ["upload", "download", "copyFrom", "view", "fill", "dispose", "ptr", "shape"];
  const missing = inherited.filter((name) =>
    !page.includes(`<section class="member" id="${name}"`)
  );
  assertEquals(missing, []);
});

Deno.test("site writes this and a base's type parameters as the class itself has them", () => {
  const page = pageOf(site, "DeviceBuffer");
  assertStringIncludes(textBetween(page, 'id="reshape"', "</section>"), "): DeviceBuffer<D>");
});

Deno.test("site shows a type without what only the compiler needs", () => {
  const page = pageOf(site, "CudaDevice");
  assertStringIncludes(
    textBetween(page, 'id="uploadFile"', "</pre>"),
    "): Promise<DeviceBuffer<D>>",
  );
  assert(!page.includes("NoInfer"));
});

Deno.test("site does not link a parameter to a member of the same name", () => {
  assertStringIncludes(pageOf(site, "CudaDevice"), "<li><p><code>ordinal</code> The device");
});

Deno.test("site finds the calls of other systems in the lines that translate them", () => {
  const found = site.found.find(({ name }) => name === "x.reshape(2, -1)");
  assertEquals([found?.where, found?.text], ["From CuPy", "using x = a.reshape([2, -1])"]);
  const [path = "", anchor] = found?.address.split("#") ?? [];
  const row = `<tr id="${anchor}"><td><code>x.<wbr>reshape(<wbr>2, -1)</code></td>`;
  assertStringIncludes(String(site.files.get(path)), row);
});

Deno.test("site leaves out what is protected or internal", () => {
  const page = pageOf(site, "DeviceBuffer");
  const shown = ["derive", "create", "showElements", "streamFor"]
    .filter((name) => page.includes(`id="${name}"`));
  assertEquals(shown, []);
});

Deno.test("Names has the members of a base that is not public, and links to them", () => {
  const [base, derived] = ["Hidden", "Shown"].map((name) => ({
    location: { filename: "a.ts", line: 1, col: 0 },
    kind: "class",
    def: {
      methods: [{ name: `of${name}`, kind: "method", functionDef: { hasBody: true } }],
      ...(name === "Shown" ? { extends: "Hidden" } : {}),
    },
  }));
  assert(base !== undefined && derived !== undefined);
  const symbol: PublicSymbol = {
    name: "Shown",
    page: "Shown.html",
    specifier: "kit",
    group: "Classes",
    declarations: [derived],
  };
  const entry = { specifier: "kit", folder: "", comment: {}, symbols: [symbol] };
  const names = new Names(new Reference([entry], new Map([["Hidden", base]])));
  assertEquals(names.members(symbol).map(({ name, from }) => [name, from]), [
    ["ofHidden", "Hidden"],
    ["ofShown", "Shown"],
  ]);
  assertEquals(names.linked("Hidden.ofHidden", symbol), "Shown.html#ofHidden");
  assertEquals(names.linked("Hidden.missing", symbol), undefined);
});

Deno.test("problemsOf() finds a page that is gone, an anchor that is not there, and foreign files", () => {
  const planted = withPage(
    site,
    "planted.html",
    [
      '<a href="nowhere.html">1</a><a href="reference/DeviceBuffer.html#nothing">2</a>',
      '<i id="twice"></i><i id="twice"></i><img src="https://example.com/a.png">',
    ].join(""),
  );
  const broken = problemsOf(planted).flatMap(({ problems }) => problems);
  assertEquals(broken, [
    "planted.html: nowhere.html",
    "planted.html: reference/DeviceBuffer.html#nothing",
    "planted.html: twice",
    "planted.html: https://example.com/a.png",
  ]);
});

Deno.test("problemsOf() finds a name without a page", () => {
  const files = new Map(site.files);
  files.delete("reference/DeviceBuffer.html");
  const names = problemsOf({ ...site, files })
    .find(({ name }) => name === "every public name has a page")?.problems;
  assertEquals(names, ["vramkit: DeviceBuffer"]);
});

Deno.test("relativeAddress() goes up, down and to a place on the same page", () => {
  assertEquals(relativeAddress("a/b.html", "a/c.html#x"), "c.html#x");
  assertEquals(relativeAddress("a/b.html", "index.html"), "../index.html");
  assertEquals(relativeAddress("index.html", "a/b/c.html"), "a/b/c.html");
  assertEquals(relativeAddress("a/b.html", "a/b.html#x"), "#x");
});

Deno.test("headingAnchor() is what GitHub makes of a heading", () => {
  assertEquals(headingAnchor("A file is the old one, or `new`"), "a-file-is-the-old-one-or-new");
});

Deno.test("textOf() is what a reader sees", () => {
  assertEquals(textOf("<b>a&#39;s</b> &amp;lt; &lt;b&gt;"), "a's &lt; <b>");
});

Deno.test("renderMarkdown() numbers equal headings and keeps code in links as it is", () => {
  const links = { address: (href: string) => href, name: () => "name.html" };
  const { html, headings } = renderMarkdown("## A\n\n## A\n\n[`x`](y.md) `x`", links);
  assertEquals(headings.map(({ anchor }) => anchor), ["a", "a-1"]);
  assertStringIncludes(html, '<a href="y.md"><code>x</code></a>');
  assertStringIncludes(html, '<a href="name.html"><code>x</code></a>');
});

Deno.test("staticHtml() keeps what is shown and drops what runs", () => {
  const html = '<b onclick="a()">1</b><script>a()</script><a href="javascript:a()">2</a>';
  assertEquals(staticHtml(html), "<b>1</b><a >2</a>");
});

Deno.test("firstSentence() ends where the sentence does", () => {
  assertEquals(firstSentence("One, such as `a.b`. Two."), "One, such as `a.b`.");
  assertEquals(firstSentence("One\nline.\n\nTwo."), "One line.");
});

function pageOf({ files }: Site, name: string): string {
  const page = files.get(`reference/${name}.html`);
  assert(typeof page === "string");
  return page;
}

function withPage(site: Site, path: string, html: string): Site {
  return { ...site, files: new Map([...site.files, [path, html]]) };
}

/** The text, without marks of HTML, from one place to the next other one. */
function textBetween(html: string, from: string, to: string): string {
  const start = html.indexOf(from);
  return html.slice(start, html.indexOf(to, start)).replaceAll(/<[^>]*>/g, "")
    .replaceAll("&lt;", "<").replaceAll("&gt;", ">");
}
