// The page of one public name: what it is, all its members, and where it is met.

import { CommentWriter, type UnknownLink } from "./doc_comment.ts";
import { type DocDeclaration, type DocMember, type DocType, projectPath } from "./doc_json.ts";
import { escapeHtml, headingMark, textOf } from "./html.ts";
import type { Heading } from "./markdown.ts";
import type { Member, MemberGroup } from "./members.ts";
import type { Names } from "./names.ts";
import type { Found, Page } from "./page.ts";
import type { PublicSymbol } from "./reference.ts";
import { callSignature, keyword, TypeWriter } from "./types.ts";
import type { Usage } from "./usage.ts";

/** Number of places that a page names before it folds the others away. */
const PLACE_COUNT = 12;

/** A page of the reference, and what its comments say of names that do not exist. */
export interface SymbolPage extends Page {
  readonly unknown: readonly UnknownLink[];
  /** Names of members without a word of explanation. */
  readonly silent: readonly string[];
}

/** Writes the page of a public name. */
export function symbolPage(
  symbol: PublicSymbol,
  names: Names,
  usage: Usage | undefined,
): SymbolPage {
  const { name, page, specifier } = symbol;
  const comments = new CommentWriter(names, page, symbol);
  const types = new TypeWriter((name) => {
    const address = names.address(page, names.place(name, symbol));
    const text = `<span class="t">${escapeHtml(name)}</span>`;
    return address === undefined ? text : `<a href="${address}">${text}</a>`;
  });
  const members = names.members(symbol);
  const groups = Map.groupBy(members, (member) => member.group); // they come in order
  const [first] = symbol.declarations;
  const comment = symbol.declarations.find(({ jsDoc }) => jsDoc?.doc)?.jsDoc ?? {};
  const kind = kindOf(first);
  const isValue = symbol.group !== "Types";
  const importLine = `import { ${isValue ? "" : "type "}${name} } from "${specifier}";`;
  const body = [
    `<p class="kind">${kind}</p><h1 class="code">${escapeHtml(name)}</h1>`,
    `<div class="lead">${comments.whole(comment)}</div>`,
    `<pre class="signature"><code>${
      symbol.declarations.map((each) => signature(each)).join("\n")
    }</code></pre>`,
    `<p class="origin"><code>${escapeHtml(importLine)}</code><span>${
      escapeHtml(sourceOf(first))
    }</span></p>`,
    overview(),
    ...[...groups].map(([group, inGroup]) => section(group, inGroup)),
    places("How to get one", "given", usage?.givenBy),
    places("Where it is used", "taken", usage?.takenBy),
  ].join("\n");
  const silent = members.filter(({ comment }) => !comment.doc).map((each) =>
    `${name}.${each.name}`
  );
  return {
    path: page,
    title: name,
    section: specifier,
    body,
    contents: contents(),
    found: [found(name, specifier, kind, comment.doc, page), ...members.map(foundMember)],
    unknown: comments.unknown,
    silent: comment.doc ? silent : [name, ...silent],
  };

  function signature({ kind, def = {} }: DocDeclaration): string {
    const parameters = types.typeParameters(def.typeParams);
    const named = `<b>${escapeHtml(name)}</b>`;
    if (kind === "function") return `${keyword("function")} ${types.call(named, def)}`;
    if (kind === "typeAlias") {
      return `${keyword("type")} ${named}${parameters} = ${types.definition(def.tsType)}`;
    }
    if (kind === "variable") return `${keyword("const")} ${named}: ${types.definition(def.tsType)}`;
    if (kind === "class") {
      const abstract = def.isAbstract === true ? `${keyword("abstract")} ` : "";
      const base = typeof def.extends === "string"
        ? ` ${keyword("extends")} ${baseOf(def.extends, def.superTypeParams)}`
        : "";
      const rules = list("implements", def.implements);
      return `${abstract}${keyword("class")} ${named}${parameters}${base}${rules}`;
    }
    const bases = typeof def.extends === "string" ? "" : list("extends", def.extends);
    return `${keyword(kind)} ${named}${parameters}${bases}`;
  }

  function list(word: string, bases: readonly DocType[] = []): string {
    if (bases.length === 0) return "";
    return ` ${keyword(word)} ${bases.map((each) => types.type(each)).join(", ")}`;
  }

  function baseOf(base: string, typeParams: readonly DocType[] = []): string {
    return types.type({ kind: "typeRef", repr: base, value: { typeName: base, typeParams } });
  }

  function overview(): string {
    if (members.length < 8) return "";
    const rows = [...groups].map(([group, inGroup]) => {
      const links = inGroup.map(({ name, anchor, from }) =>
        `<a href="#${anchor}"${from === symbol.name ? "" : ' class="inherited"'}>${
          escapeHtml(shortName(name))
        }</a>`
      );
      return `<dt>${group}</dt><dd>${links.join(" ")}</dd>`;
    });
    return `<dl class="overview">${rows.join("")}</dl>`;
  }

  function section(group: MemberGroup, inGroup: readonly Member[]): string {
    const id = groupAnchor(group);
    return `<h2 id="${id}">${group}${headingMark(id)}</h2>
${inGroup.map((member) => memberHtml(member)).join("\n")}`;
  }

  function memberHtml(member: Member): string {
    const { name: memberName, anchor, forms, from } = member;
    const code = forms.map((form) => memberSignature(member, form)).join("\n");
    const place = names.address(
      page,
      names.place(`${from}.${memberName}`, symbol) ?? names.place(from, symbol),
    );
    const source = place === undefined
      ? escapeHtml(from)
      : `<a href="${place}">${escapeHtml(from)}</a>`;
    const origin = from === name ? "" : `<span class="from">from ${source}</span>`;
    return `<section class="member" id="${anchor}">
<h3>${escapeHtml(shortName(memberName))}${headingMark(anchor)}${origin}</h3>
<pre class="signature"><code>${code}</code></pre>
${comments.whole(member.comment)}</section>`;
  }

  function memberSignature({ group }: Member, form: DocMember): string {
    const memberName = `<b>${escapeHtml(form.name ?? "")}</b>`;
    if (group === "Constructor") {
      return types.call(`${keyword("new")} <b>${escapeHtml(name)}</b>`, form, false);
    }
    if (form.kind === "index") return types.index(form);
    if (form.kind === "call") return types.call("", callSignature(form));
    const statics = form.isStatic === true ? `${keyword("static")} ` : "";
    const called = form.functionDef ?? form;
    if (form.kind === "getter") {
      return `${statics}${keyword("get")} ${memberName}: ${types.type(called.returnType)}`;
    }
    if (form.kind === "setter") {
      return `${statics}${keyword("set")} ${types.call(memberName, called, false)}`;
    }
    if (form.kind === "method") {
      return types.call(`${statics}${memberName}${form.optional === true ? "?" : ""}`, called);
    }
    return `${statics}${types.property({ ...form, name: "\0" }).replace("\0", memberName)}`;
  }

  function places(title: string, id: string, paths: ReadonlySet<string> = new Set()): string {
    const links = [...paths].sort().flatMap((path) => {
      const address = names.address(page, names.place(path, symbol));
      return address === undefined
        ? []
        : [`<li><a href="${address}"><code>${escapeHtml(path)}</code></a></li>`];
    });
    if (links.length === 0) return "";
    const [shown, folded] = [links.slice(0, PLACE_COUNT), links.slice(PLACE_COUNT)];
    const more = folded.length === 0
      ? ""
      : `<details><summary>${folded.length} more</summary><ul class="places">${
        folded.join("")
      }</ul></details>`;
    return `<h2 id="_${id}">${title}</h2><ul class="places">${shown.join("")}</ul>${more}`;
  }

  function contents(): Heading[] {
    return [...groups].flatMap(([group, inGroup]) => [
      { depth: 2, text: group, anchor: groupAnchor(group) },
      ...inGroup.map(({ name, anchor }) => ({ depth: 3, text: shortName(name), anchor })),
    ]);
  }

  function foundMember({ name: memberName, anchor, group, comment }: Member): Found {
    const kind = group === "Properties"
      ? "property"
      : group === "Constructor"
      ? "constructor"
      : "method";
    const shown = group === "Constructor" ? `new ${name}()` : shortName(memberName);
    return found(shown, name, kind, comment.doc, `${page}#${anchor}`);
  }

  function found(
    name: string,
    where: string,
    kind: string,
    text: string | undefined,
    address: string,
  ): Found {
    return { name, where, kind, text: textOf(comments.summary({ doc: text ?? "" })), address };
  }
}

/** Names the kind of a declaration in a word. */
export function kindOf(declaration: DocDeclaration | undefined): string {
  const { kind = "", def } = declaration ?? {};
  if (kind === "class" && def?.isAbstract === true) return "abstract class";
  return { typeAlias: "type", variable: "constant" }[kind] ?? kind;
}

/** A member's name as people say it: `Symbol.dispose`, `Jupyter.display`. */
function shortName(name: string): string {
  return name.replace(/^\[Symbol\.for\("(.+)"\)\]$/, "$1").replace(/^\[(Symbol\..+)\]$/, "$1");
}

/** Anchors of headings have a mark in front that no member's name has. */
function groupAnchor(group: string): string {
  return `_${group.toLowerCase().replaceAll(" ", "-")}`;
}

function sourceOf(declaration: DocDeclaration | undefined): string {
  return declaration === undefined ? "" : projectPath(declaration.location.filename);
}
