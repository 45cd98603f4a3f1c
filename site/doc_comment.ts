// A doc comment as HTML: its text, what it throws, its examples; links by name are resolved.

import type { DocComment } from "./doc_json.ts";
import { renderMarkdown } from "./markdown.ts";
import type { Names } from "./names.ts";
import type { PublicSymbol } from "./reference.ts";
import { escapeHtml } from "./html.ts";

/** A `{@link}` of a comment that names nothing public. */
export interface UnknownLink {
  readonly page: string;
  readonly target: string;
}

/** Renders the comments of one page. */
export class CommentWriter {
  /** Links that lead nowhere, found so far. */
  readonly unknown: UnknownLink[] = [];
  readonly #names: Names;
  readonly #symbol: PublicSymbol | undefined;
  readonly #page: string;

  /** Writes for a page; names are first looked for beside its symbol. */
  constructor(names: Names, page: string, symbol?: PublicSymbol) {
    this.#names = names;
    this.#page = page;
    this.#symbol = symbol;
  }

  whole(comment: DocComment): string {
    const { doc = "", tags = [] } = comment;
    const words = (kind: string) => tags.filter((tag) => tag.kind === kind);
    const examples = words("example").map((tag) => this.#text(exampleText(tag.doc ?? "")));
    const notes = [...words("deprecated"), ...words("experimental")].map(({ kind, doc = "" }) =>
      `<div class="note"><b>${kind === "deprecated" ? "Deprecated" : "Experimental"}</b> ${
        this.#text(doc)
      }</div>`
    );
    return [
      ...notes,
      this.#text(doc),
      this.#list(
        "Parameters",
        // As HTML, so that a parameter is no link to a member of the same name.
        words("param").map(({ name = "", doc = "" }) => `<code>${escapeHtml(name)}</code> ${doc}`),
      ),
      this.#list("Returns", words("return").map(({ doc = "" }) => doc)),
      this.#list("Throws", words("throws").map(({ doc = "" }) => throwsText(doc))),
      examples.length === 0
        ? ""
        : `<div class="example"><b class="label">Example</b>${examples.join("")}</div>`,
    ].join("");
  }

  /** The first sentence, for a list. */
  summary(comment: DocComment): string {
    return this.#text(firstSentence(comment.doc ?? "")).replace(/^<p>/, "").replace(
      /<\/p>\s*$/,
      "",
    );
  }

  #list(title: string, texts: readonly string[]): string {
    if (texts.length === 0) return "";
    const items = texts.map((text) => `<li>${this.#text(text)}</li>`).join("");
    return `<div class="tags"><b class="label">${escapeHtml(title)}</b><ul>${items}</ul></div>`;
  }

  #text(text: string): string {
    if (text.trim() === "") return "";
    return renderMarkdown(this.#resolve(text), {
      address: (href) => href,
      name: (code) => this.#names.address(this.#page, this.#names.ofCode(code, this.#symbol)),
    }).html;
  }

  #resolve(text: string): string {
    return text.replaceAll(
      /\{@link(code|plain)?\s+([^}\s|]+)(?:[\s|]+([^}]*))?\}/g,
      (_whole, kind: string | undefined, target: string, words = target) => {
        const shown = kind === "plain" ? words : `\`${words.trim()}\``;
        if (/^https?:/.test(target)) return `[${words.trim()}](${target})`;
        const place = this.#symbol === undefined
          ? this.#names.place(target)
          : this.#names.linked(target, this.#symbol);
        if (place === undefined) this.unknown.push({ page: this.#page, target });
        const address = this.#names.address(this.#page, place);
        return address === undefined ? shown : `[${shown}](${address})`;
      },
    );
  }
}

/** The first sentence of a comment, without the rest of its paragraph. */
export function firstSentence(text: string): string {
  const paragraph = text.trim().split(/\n\s*\n/)[0]?.replaceAll(/\s*\n\s*/g, " ") ?? "";
  const end = /[.:!?](?=\s+[A-Z`\[{(])/.exec(paragraph.replace(/:\s*$/, "."));
  return (end === null ? paragraph : paragraph.slice(0, end.index + 1)).replace(/[:;]$/, ".");
}

/** Shows the class of an error as code, so that it becomes a link where it has a page. */
function throwsText(text: string): string {
  return text.trim().replace(/^\{?([A-Z]\w*Error|DOMException)\}?/, "`$1`");
}

/** An example is Markdown, or bare code. */
function exampleText(text: string): string {
  return text.includes("```") ? text : `\`\`\`ts\n${text}\n\`\`\``;
}
