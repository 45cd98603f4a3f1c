// The output of `deno doc --json`, as far as the reference reads it, and how to get it.
// Fields that only one kind of type has are optional here, so that a newer Deno may add kinds.

import { PROJECT } from "./project.ts";

/** One documented module. */
export interface DocModule {
  readonly module_doc?: DocComment;
  readonly symbols: readonly DocSymbol[];
}

/** A comment with its tags. */
export interface DocComment {
  readonly doc?: string;
  readonly tags?: readonly DocTag[];
}

/** One tag of a comment, such as `@throws`. */
export interface DocTag {
  readonly kind: string;
  readonly doc?: string;
  /** The parameter that `@param` names. */
  readonly name?: string;
}

/** An exported name with what it stands for. */
export interface DocSymbol {
  readonly name: string;
  readonly declarations: readonly DocDeclaration[];
}

/** A place in a source file. */
export interface DocLocation {
  readonly filename: string;
  readonly line: number;
  readonly col: number;
}

/** One declaration of a name. */
export interface DocDeclaration {
  readonly location: DocLocation;
  readonly kind: string;
  readonly jsDoc?: DocComment;
  readonly def?: DocDefinition;
}

/** A declaration: the fields of all kinds of declarations together. */
export interface DocDefinition extends DocFunction {
  readonly isAbstract?: boolean;
  /** A class has the name of one base, an interface the types of several. */
  readonly extends?: string | readonly DocType[];
  readonly implements?: readonly DocType[];
  readonly superTypeParams?: readonly DocType[];
  readonly constructors?: readonly DocMember[];
  readonly properties?: readonly DocMember[];
  readonly methods?: readonly DocMember[];
  readonly callSignatures?: readonly DocMember[];
  readonly indexSignatures?: readonly DocMember[];
  readonly tsType?: DocType;
  readonly target?: DocLocation;
}

/** A function: its parameters and its result. */
export interface DocFunction {
  readonly params?: readonly DocParameter[];
  readonly returnType?: DocType;
  readonly typeParams?: readonly DocTypeParameter[];
  readonly hasBody?: boolean;
}

/** A member of a class or an interface. */
export interface DocMember extends DocFunction {
  readonly name?: string;
  readonly kind?: string;
  readonly jsDoc?: DocComment;
  readonly tsType?: DocType;
  readonly readonly?: boolean;
  readonly optional?: boolean;
  readonly isStatic?: boolean;
  readonly accessibility?: "public" | "protected" | "private";
  readonly functionDef?: DocFunction;
}

/** One parameter; `assign` has its name in `left`, `rest` in `arg`. */
export interface DocParameter {
  readonly kind: string;
  readonly name?: string;
  readonly optional?: boolean;
  readonly tsType?: DocType;
  readonly left?: DocParameter;
  readonly arg?: DocParameter;
}

/** A type parameter with its bound and its default. */
export interface DocTypeParameter {
  readonly name: string;
  readonly constraint?: DocType;
  readonly default?: DocType;
}

/** A type; what `value` holds depends on the kind. */
export interface DocType {
  readonly kind: string;
  readonly repr?: string;
  // deno-lint-ignore no-explicit-any -- a value of any kind of type, told apart by `kind`
  readonly value?: any;
}

/** Documents modules, given by their paths in the project; the result is by path. */
export async function documentModules(
  paths: readonly string[],
): Promise<ReadonlyMap<string, DocModule>> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["doc", "--json", "--no-lock", ...paths],
    cwd: PROJECT,
    env: { NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" },
    stdin: "null",
  }).output();
  if (code !== 0) {
    const words = new TextDecoder().decode(stderr);
    throw new Error(`Cannot run deno doc: exit code ${code}\n${words}`);
  }
  const { nodes } = JSON.parse(new TextDecoder().decode(stdout)) as {
    nodes: Record<string, DocModule>;
  };
  return new Map(Object.entries(nodes).map(([url, module]) => [projectPath(url), module]));
}

/** The path in the project that a file's URL stands for. */
export function projectPath(url: string): string {
  return url.startsWith(PROJECT.href) ? url.slice(PROJECT.href.length) : url;
}
