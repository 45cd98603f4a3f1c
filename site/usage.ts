// Where a type is met: which functions and members return it, and which take it.

import type { DocFunction, DocMember, DocType } from "./doc_json.ts";
import type { Names } from "./names.ts";
import type { PublicSymbol } from "./reference.ts";

/** Places that name a type. */
export interface Usage {
  /** Functions, methods and properties that give one, as `Name.member`. */
  readonly givenBy: ReadonlySet<string>;
  /** Functions, methods and fields that take one. */
  readonly takenBy: ReadonlySet<string>;
}

/** Works out where each public name is met in the signatures of the others. */
export function findUsage(names: Names): ReadonlyMap<PublicSymbol, Usage> {
  const usage = new Map<PublicSymbol, { givenBy: Set<string>; takenBy: Set<string> }>();
  for (const symbol of names.reference.symbols) {
    for (const declaration of symbol.declarations) {
      if (declaration.kind === "function") note(symbol, symbol.name, declaration.def ?? {});
      if (declaration.kind === "typeAlias") {
        add(symbol, symbol.name, namesIn(declaration.def?.tsType), "takenBy");
      }
    }
    for (const { name, forms, from } of names.members(symbol)) {
      if (from !== symbol.name || name.startsWith("[")) continue;
      for (const form of forms) note(symbol, `${symbol.name}.${name}`, form);
    }
  }
  return usage;

  function note(symbol: PublicSymbol, path: string, form: DocMember): void {
    const { params = [], returnType } = form.functionDef ?? form as DocFunction;
    const isField = symbol.group === "Types" && form.kind !== "method";
    add(symbol, path, namesIn(returnType), "givenBy");
    add(symbol, path, namesIn(form.tsType), isField ? "takenBy" : "givenBy");
    add(symbol, path, namesIn(params), "takenBy");
  }

  function add(
    from: PublicSymbol,
    path: string,
    met: ReadonlySet<string>,
    side: "givenBy" | "takenBy",
  ): void {
    for (const name of met) {
      const symbol = names.reference.find(name, from);
      if (symbol === undefined || symbol === from) continue;
      const empty = () => ({ givenBy: new Set<string>(), takenBy: new Set<string>() });
      usage.getOrInsertComputed(symbol, empty)[side].add(path);
    }
  }
}

/** The names that types refer to, at any depth. */
function namesIn(value: unknown, found = new Set<string>()): Set<string> {
  if (typeof value !== "object" || value === null) return found;
  const { kind, value: reference } = value as DocType;
  if (kind === "typeRef" && reference.resolution?.kind !== "typeParam") {
    found.add(reference.typeName);
  }
  for (const each of Object.values(value)) namesIn(each, found);
  return found;
}
