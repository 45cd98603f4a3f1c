// Markdown as HTML: headings with anchors, highlighted code, tables that scroll, links of the site.

import hljs from "npm:highlight.js@11.12.0/lib/common";
import { Marked, type Tokens } from "npm:marked@18.2.1";
import { escapeHtml, headingAnchor, headingMark, textOf } from "./html.ts";

/** The addresses of things, seen from the page that is written. */
export interface MarkdownLinks {
  /** The address that a link of the text has in the site; nothing for what has no page. */
  readonly address: (href: string) => string | undefined;
  /** The address of the name that a piece of code consists of, such as `DeviceBuffer.fill()`. */
  readonly name: (code: string) => string | undefined;
}

/** A heading of a page. */
export interface Heading {
  readonly depth: number;
  readonly text: string;
  readonly anchor: string;
}

/** A text as HTML, with its headings. */
export interface Rendered {
  readonly html: string;
  readonly headings: readonly Heading[];
}

/** Renders a text. */
export function renderMarkdown(text: string, links: MarkdownLinks): Rendered {
  const headings: Heading[] = [];
  const anchors = new Set<string>();
  let isInLink = false;
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }: Tokens.Heading): string {
        isInLink = true;
        const html = this.parser.parseInline(tokens);
        isInLink = false;
        const text = textOf(html);
        const anchor = freeAnchor(headingAnchor(text), anchors);
        headings.push({ depth, text, anchor });
        const mark = depth === 1 ? "" : headingMark(anchor);
        return `<h${depth} id="${anchor}">${html}${mark}</h${depth}>\n`;
      },
      code({ text, lang }: Tokens.Code): string {
        return renderCode(text, lang);
      },
      codespan({ text }: Tokens.Codespan): string {
        // A table's column may be narrower than a long name: it breaks after its dots.
        const code = `<code>${escapeHtml(text).replaceAll(/([._(/])(?=\w)/g, "$1<wbr>")}</code>`;
        const address = isInLink ? undefined : links.name(text);
        return address === undefined ? code : `<a href="${escapeHtml(address)}">${code}</a>`;
      },
      link({ href, tokens }: Tokens.Link): string {
        isInLink = true;
        const html = this.parser.parseInline(tokens);
        isInLink = false;
        const address = links.address(href);
        if (address === undefined) {
          return `<span class="file" title="${escapeHtml(href)}">${html}</span>`;
        }
        return `<a href="${escapeHtml(address)}">${html}</a>`;
      },
      image({ href, text }: Tokens.Image): string {
        const address = links.address(href) ?? href;
        return `<img src="${escapeHtml(address)}" alt="${escapeHtml(text)}" loading="lazy">`;
      },
    },
  });
  const html = marked.parse(text, { async: false })
    .replaceAll("<table>", '<div class="scroll"><table>').replaceAll("</table>", "</table></div>");
  return { html, headings };
}

/** A block of code, highlighted where its language is known. */
export function renderCode(text: string, language = ""): string {
  const name = language.split(/[\s,]/)[0] ?? "";
  const known = hljs.getLanguage(name) !== undefined;
  const html = known ? hljs.highlight(text, { language: name }).value : escapeHtml(text);
  return `<pre><code>${html}</code></pre>\n`;
}

function freeAnchor(wanted: string, taken: Set<string>): string {
  let anchor = wanted;
  for (let count = 1; taken.has(anchor); count++) anchor = `${wanted}-${count}`;
  taken.add(anchor);
  return anchor;
}
