// The public names of every entry, each with the page that describes it.

import config from "../deno.json" with { type: "json" };
import { type DocComment, type DocDeclaration, documentModules } from "./doc_json.ts";
import { sourcesUnder } from "./project.ts";

/** A module that programs import. */
export interface Entry {
  /** Specifier in programs, such as `"vramkit/notebook"`. */
  readonly specifier: string;
  /** The folder of its pages, such as `"reference/notebook/"`. */
  readonly folder: string;
  readonly comment: DocComment;
  readonly symbols: readonly PublicSymbol[];
}

/** A public name. */
export interface PublicSymbol {
  readonly name: string;
  readonly page: string;
  /** Specifier that programs import it from. */
  readonly specifier: string;
  readonly group: SymbolGroup;
  /** One for each overload or merged declaration. */
  readonly declarations: readonly DocDeclaration[];
}

/** The groups of names in the order in which pages show them. */
export const GROUPS = ["Classes", "Errors", "Functions", "Constants", "Types"] as const;

/** Under which heading a name stands. */
export type SymbolGroup = (typeof GROUPS)[number];

/** All entries, and finding a name in them. */
export class Reference {
  /** The entries, in the order of deno.json. */
  readonly entries: readonly Entry[];
  readonly #declared: ReadonlyMap<string, DocDeclaration>;

  /** Keeps what was read: the entries, and every declaration by name, public or not. */
  constructor(entries: readonly Entry[], declared: ReadonlyMap<string, DocDeclaration>) {
    this.entries = entries;
    this.#declared = declared;
  }

  /** Every name that has a page of its own, once. */
  get symbols(): PublicSymbol[] {
    return [...new Set(this.entries.flatMap(({ symbols }) => symbols))];
  }

  /** Finds a public name, first in the entry that `beside` belongs to. */
  find(name: string, beside?: PublicSymbol): PublicSymbol | undefined {
    const near = this.entries.filter(({ specifier }) => specifier === beside?.specifier);
    return [...near, ...this.entries]
      .flatMap(({ symbols }) => symbols).find((symbol) => symbol.name === name);
  }

  /** Finds the declaration of a base, public or not; nothing for what is built in. */
  declarationOf(name: string, beside?: PublicSymbol): DocDeclaration | undefined {
    return this.find(name, beside)?.declarations[0] ?? this.#declared.get(name);
  }
}

/** Documents every entry of deno.json. */
export async function readReference(): Promise<Reference> {
  const exports: Record<string, string> = config.exports;
  const pathOf = (name: string) => (exports[name] ?? "").replace(/^\.\//, "");
  const modules = await documentModules(Object.keys(exports).map(pathOf));
  const known = new Map<string, PublicSymbol>();
  const entries = Object.keys(exports).map((name): Entry => {
    const module = modules.get(pathOf(name));
    if (module === undefined) throw new Error(`Cannot document ${name}: deno doc left it out`);
    const specifier = `vramkit${name.slice(1)}`;
    const folder = name === "." ? "reference/" : `reference/${name.slice(2)}/`;
    const symbols = module.symbols.map(({ name, declarations }): PublicSymbol => {
      const place = placeOf(declarations[0]);
      const page = `${folder}${name}.html`;
      const group = groupOf(name, declarations);
      return known.getOrInsert(place, { name, page, specifier, group, declarations });
    });
    return { specifier, folder, comment: module.module_doc ?? {}, symbols };
  });
  return new Reference(entries, await readDeclared());
}

/** Reads what any source file exports, by name: a public class may have a base that is not public. */
async function readDeclared(): Promise<ReadonlyMap<string, DocDeclaration>> {
  const modules = await documentModules(sourcesUnder("src/"));
  const declared = [...modules.values()].flatMap(({ symbols }) =>
    symbols.flatMap(({ name, declarations }) =>
      declarations.filter(({ kind }) => kind !== "reference").map((each) => [name, each] as const)
    )
  );
  return new Map(declared);
}

/** Returns the place of the declaration of a name; a re-export leads to the original. */
function placeOf(declaration: DocDeclaration | undefined): string {
  const place = declaration?.def?.target ?? declaration?.location;
  return `${place?.filename}:${place?.line}:${place?.col}`;
}

function groupOf(name: string, declarations: readonly DocDeclaration[]): SymbolGroup {
  const kinds = new Set(declarations.map(({ kind }) => kind));
  if (kinds.has("class")) return name.endsWith("Error") ? "Errors" : "Classes";
  if (kinds.has("function")) return "Functions";
  if (kinds.has("variable") || kinds.has("enum")) return "Constants";
  return "Types";
}
