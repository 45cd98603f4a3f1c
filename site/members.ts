// All members of a class or an interface: its own and those of everything that it extends.
// Types are those of the class at hand: a base's type parameters and `this` are filled in.

import type { DocComment, DocDeclaration, DocMember, DocType } from "./doc_json.ts";
import type { PublicSymbol, Reference } from "./reference.ts";
import { parameterKey, substitute, type Substitution } from "./types.ts";

/** A member as a page shows it. */
export interface Member {
  readonly name: string;
  /** The place on its page, without the `#`. */
  readonly anchor: string;
  readonly group: MemberGroup;
  /** Its overloads, or what it is. */
  readonly forms: readonly DocMember[];
  readonly comment: DocComment;
  /** The class or interface that declares it. */
  readonly from: string;
}

/** The groups in the order in which pages show them. */
const MEMBER_GROUPS = [
  "Constructor",
  "Static methods",
  "Properties",
  "Methods",
  "Symbols",
] as const;

/** Under which heading a member stands. */
export type MemberGroup = (typeof MEMBER_GROUPS)[number];

/** Lists the members of a name, by group and then by name; nothing for what has none. */
export function membersOf(symbol: PublicSymbol, reference: Reference): Member[] {
  const members = new Map<string, Member>();
  for (const declaration of symbol.declarations) {
    if (declaration.kind !== "class" && declaration.kind !== "interface") continue;
    const { typeParams = [] } = declaration.def ?? {};
    const self: DocType = {
      kind: "typeRef",
      repr: symbol.name,
      value: { typeName: symbol.name, typeParams: typeParams.map(({ name }) => plainName(name)) },
    };
    collect(symbol.name, declaration, new Map([["this", self]]));
  }
  return [...members.values()].sort((one, other) =>
    MEMBER_GROUPS.indexOf(one.group) - MEMBER_GROUPS.indexOf(other.group) ||
    compareNames(one.name, other.name)
  );

  function collect(name: string, declaration: DocDeclaration, substitution: Substitution): void {
    for (const own of ownMembers(name, declaration)) {
      const member = { ...own, forms: own.forms.map((form) => substitute(form, substitution)) };
      const nearer = members.get(member.anchor);
      if (nearer === undefined) members.set(member.anchor, member);
      // An override without words of its own keeps those of what it overrides.
      else if (!nearer.comment.doc) {
        members.set(member.anchor, { ...nearer, comment: member.comment });
      }
    }
    for (const { name: baseName, given } of basesOf(declaration)) {
      const base = reference.declarationOf(baseName, symbol);
      if (base === undefined) continue;
      const types = (base.def?.typeParams ?? []).flatMap(({ name, default: standard }, index) => {
        const type = substitute(given[index], substitution) ?? standard;
        return type === undefined ? [] : [[parameterKey(name, baseName), type] as const];
      });
      const self = substitution.get("this");
      const inherited = new Map([
        ...types,
        ...(self === undefined ? [] : [["this", self] as const]),
      ]);
      collect(baseName, base, inherited);
    }
  }
}

/** The names that a class or an interface extends, with the types that it gives them. */
function basesOf(
  { def = {} }: DocDeclaration,
): { readonly name: string; readonly given: readonly DocType[] }[] {
  const { extends: bases, superTypeParams = [] } = def;
  if (bases === undefined) return [];
  if (typeof bases === "string") return [{ name: bases, given: superTypeParams }];
  return bases.filter(({ kind }) => kind === "typeRef").map(({ value }) => ({
    name: value.typeName,
    given: value.typeParams ?? [],
  }));
}

/** Returns the public members that a class or an interface declares itself. */
function ownMembers(from: string, { def = {} }: DocDeclaration): Member[] {
  const { constructors = [], properties = [], methods = [] } = def;
  const { callSignatures = [], indexSignatures = [] } = def;
  const constructorName = { name: "constructor", kind: "constructor" };
  const all = [
    // A class that only its own code makes has a constructor that nobody calls.
    ...(def.isAbstract === true ? [] : constructors).map((each) => ({
      ...each,
      ...constructorName,
    })),
    ...callSignatures.map((each) => ({ ...each, name: "()", kind: "call" })),
    ...indexSignatures.map((each) => ({ ...each, name: "[index]", kind: "index" })),
    ...properties,
    ...methods,
  ].filter(isPublic);
  const byAnchor = Map.groupBy(all, (each) => anchorOf(each));
  return [...byAnchor].map(([anchor, forms]): Member => ({
    name: forms[0]?.name ?? "",
    anchor,
    group: groupOf(forms[0] ?? {}),
    forms: withoutImplementation(forms),
    comment: forms.find(({ jsDoc }) => jsDoc?.doc)?.jsDoc ?? {},
    from,
  }));
}

function isPublic({ name = "", accessibility, jsDoc }: DocMember): boolean {
  const isInternal = jsDoc?.tags?.some(({ kind }) => kind === "internal") ?? false;
  return !isInternal && !name.startsWith("#") &&
    (accessibility === undefined || accessibility === "public");
}

/** Of overloads, the one with a body is not callable. */
function withoutImplementation(forms: readonly DocMember[]): readonly DocMember[] {
  const overloads = forms.filter(({ kind, functionDef }) =>
    kind === "method" && functionDef?.hasBody !== true
  );
  return overloads.length > 0 && overloads.length < forms.length ? overloads : forms;
}

function groupOf({ name = "", kind, isStatic }: DocMember): MemberGroup {
  if (kind === "constructor") return "Constructor";
  if (isStatic === true) return "Static methods";
  if (kind === "index") return "Properties";
  if (name.startsWith("[")) return "Symbols";
  return kind === "method" || kind === "call" ? "Methods" : "Properties";
}

/** The anchor of a member: its name, and for a static one that it is static. */
function anchorOf({ name = "", isStatic }: DocMember): string {
  const word = name.replaceAll(/[^\w$.]+/g, "_").replaceAll(/^_|_$/g, "") || "call";
  return isStatic === true ? `static_${word}` : word;
}

function plainName(name: string): DocType {
  return {
    kind: "typeRef",
    repr: name,
    value: { typeName: name, resolution: { kind: "typeParam" } },
  };
}

/** Letters first and without regard to case, so that `[Symbol.dispose]` is after `write`. */
function compareNames(one: string, other: string): number {
  return one.localeCompare(other, "en", { sensitivity: "base" }) || (one < other ? -1 : 1);
}
