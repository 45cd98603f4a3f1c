// TypeScript types as code, with links, and with other types in the place of type parameters.

import type {
  DocFunction,
  DocMember,
  DocParameter,
  DocType,
  DocTypeParameter,
} from "./doc_json.ts";
import { escapeHtml, textOf } from "./html.ts";

/** Gives a name in a type its link; returns plain code for what has no page. */
export type LinkName = (name: string) => string;

/** Types in the place of type parameters, and of `this`. */
export type Substitution = ReadonlyMap<string, DocType>;

/** A signature longer than this has each parameter on a line of its own. */
const LINE_LENGTH = 84;

/** Writes code for one page: `link` says where names lead from there. */
export class TypeWriter {
  readonly #link: LinkName;

  constructor(link: LinkName) {
    this.#link = link;
  }

  type(type: DocType | undefined): string {
    if (type === undefined) return keyword("unknown");
    const { kind, value, repr } = type;
    switch (kind) {
      case "keyword":
        return keyword(String(value));
      case "this":
        return keyword("this");
      case "literal":
        return literal(value, repr);
      case "typeRef":
        return this.#reference(type);
      case "array":
        return `${this.#operand(value)}[]`;
      case "tuple":
        return `[${(value as DocType[]).map((each) => this.type(each)).join(", ")}]`;
      case "union":
        return (value as DocType[]).map((each) => this.#operand(each)).join(" | ");
      case "intersection":
        return (value as DocType[]).map((each) => this.#operand(each)).join(" &amp; ");
      case "parenthesized":
        return `(${this.type(value)})`;
      case "rest":
        return `...${this.type(value)}`;
      case "optional":
        return `${this.type(value)}?`;
      case "typeOperator":
        return `${keyword(value.operator)} ${this.type(value.tsType)}`;
      case "typeQuery":
        return `${keyword("typeof")} ${this.#link(String(value))}`;
      case "infer":
        return `${keyword("infer")} ${this.#parameter(value.typeParam)}`;
      case "indexedAccess":
        return `${this.#operand(value.objType)}[${this.type(value.indexType)}]`;
      case "conditional":
        return `${this.type(value.checkType)} ${keyword("extends")} ${
          this.type(value.extendsType)
        } ? ${this.type(value.trueType)} : ${this.type(value.falseType)}`;
      case "mapped":
        return this.#mapped(value);
      case "fnOrConstructor":
        return `${value.constructor === true ? `${keyword("new")} ` : ""}${
          this.typeParameters(value.typeParams)
        }(${this.#parameters(value.params)}) =&gt; ${this.type(value.tsType)}`;
      case "typePredicate":
        return `${value.asserts === true ? `${keyword("asserts")} ` : ""}${
          value.param?.name ?? "this"
        } ${keyword("is")} ${this.type(value.type)}`;
      case "typeLiteral":
        return this.#literalType(value);
      default:
        return escapeHtml(repr ?? "unknown");
    }
  }

  /** A type that stands alone: each part of a long union has its own line. */
  definition(type: DocType | undefined): string {
    const line = this.type(type);
    if (type?.kind !== "union" || textOf(line).length < LINE_LENGTH) return line;
    return (type.value as DocType[]).map((each) => `\n  | ${this.#operand(each)}`).join("");
  }

  /** `<D extends DType = DType>`, or nothing. */
  typeParameters(parameters: readonly DocTypeParameter[] | undefined): string {
    if (parameters === undefined || parameters.length === 0) return "";
    return `&lt;${parameters.map((each) => this.#parameter(each)).join(", ")}&gt;`;
  }

  /** `name<T>(a: A): B`, in several lines when it is long. */
  call(name: string, called: DocFunction, result = true): string {
    const { params = [], returnType, typeParams } = called;
    const head = `${name}${this.typeParameters(typeParams)}`;
    const tail = result ? `: ${this.type(returnType)}` : "";
    const line = `${head}(${this.#parameters(params)})${tail}`;
    if (textOf(line).length <= LINE_LENGTH || params.length === 0) return line;
    const lines = params.map((each, index) => `  ${this.#argument(each, index)},\n`);
    return `${head}(\n${lines.join("")})${tail}`;
  }

  #reference({ value, repr }: DocType): string {
    const name: string = value.typeName ?? repr;
    const isParameter = value.resolution?.kind === "typeParam";
    const shown = isParameter ? escapeHtml(name) : this.#link(name);
    const given: readonly DocType[] = value.typeParams ?? [];
    // It only tells the compiler where not to look for the type.
    if (name === "NoInfer") return this.type(given[0]);
    if (given.length === 0) return shown;
    return `${shown}&lt;${given.map((each) => this.type(each)).join(", ")}&gt;`;
  }

  #operand(type: DocType): string {
    const needsParentheses = ["union", "intersection", "conditional", "fnOrConstructor", "infer"]
      .includes(type.kind) || type.kind === "typeOperator";
    return needsParentheses ? `(${this.type(type)})` : this.type(type);
  }

  #parameter({ name, constraint, default: standard }: DocTypeParameter): string {
    const bound = constraint === undefined ? "" : ` ${keyword("extends")} ${this.type(constraint)}`;
    return `${escapeHtml(name)}${bound}${
      standard === undefined ? "" : ` = ${this.type(standard)}`
    }`;
  }

  #mapped(value: DocType["value"]): string {
    const { typeParam, readonly: access, optional, tsType, nameType } = value;
    const before = access === "-" ? "-readonly " : access ? "readonly " : "";
    const after = optional === "-" ? "-?" : optional ? "?" : "";
    const as = nameType === undefined ? "" : ` ${keyword("as")} ${this.type(nameType)}`;
    const key = `${escapeHtml(typeParam.name)} ${keyword("in")} ${this.type(typeParam.constraint)}`;
    return `{ ${before}[${key}${as}]${after}: ${this.type(tsType)} }`;
  }

  #literalType(value: DocType["value"]): string {
    const { properties = [], methods = [], callSignatures = [], indexSignatures = [] } = value;
    const parts = [
      ...callSignatures.map((each: DocMember) => this.call("", callSignature(each))),
      ...indexSignatures.map((each: DocMember) => this.index(each)),
      ...properties.map((each: DocMember) => this.property(each)),
      ...methods.map((each: DocMember) => this.call(escapeHtml(each.name ?? ""), each)),
    ];
    if (parts.length === 0) return "{}";
    const line = `{ ${parts.join("; ")} }`;
    if (textOf(line).length <= LINE_LENGTH) return line;
    return `{\n${parts.map((part) => `  ${part.replaceAll("\n", "\n  ")};\n`).join("")}}`;
  }

  /** `readonly name?: Type`. */
  property({ name, readonly: isReadonly, optional, tsType }: DocMember): string {
    const access = isReadonly === true ? `${keyword("readonly")} ` : "";
    return `${access}${escapeHtml(name ?? "")}${optional === true ? "?" : ""}: ${
      this.type(tsType)
    }`;
  }

  /** `[name: string]: Type`. */
  index({ params = [], readonly: isReadonly, tsType }: DocMember): string {
    const access = isReadonly === true ? `${keyword("readonly")} ` : "";
    return `${access}[${this.#parameters(params)}]: ${this.type(tsType)}`;
  }

  #parameters(parameters: readonly DocParameter[] = []): string {
    return parameters.map((each, index) => this.#argument(each, index)).join(", ");
  }

  #argument(parameter: DocParameter, index: number): string {
    const { kind, left, arg } = parameter;
    if (kind === "assign") {
      return this.#argument({ ...left, kind: left?.kind ?? "", optional: true }, index);
    }
    const name = parameter.name ?? arg?.name ?? (index === 0 ? "fields" : "options");
    const type = parameter.tsType ?? arg?.tsType;
    const dots = kind === "rest" ? "..." : "";
    const mark = parameter.optional === true ? "?" : "";
    return `${dots}${escapeHtml(name)}${mark}: ${this.type(type)}`;
  }
}

/** A call signature has its result where a property has its type. */
export function callSignature({ tsType, ...called }: DocMember): DocFunction {
  return tsType === undefined ? called : { ...called, returnType: tsType };
}

/** Puts types in the place of type parameters, at any depth. */
export function substitute<T>(value: T, substitution: Substitution): T {
  if (substitution.size === 0 || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    return value.map((each) => substitute(each, substitution)) as T;
  }
  const type = value as unknown as DocType;
  if (type.kind === "typeRef" && type.value?.resolution?.kind === "typeParam") {
    const other = substitution.get(
      parameterKey(type.value.typeName, type.value.resolution.declaringName),
    );
    if (other !== undefined) return other as T;
  }
  if (type.kind === "this") return (substitution.get("this") ?? type) as T;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, substitute(each, substitution)]),
  ) as T;
}

/** The key of a type parameter in a substitution: its name, and what declares it. */
export function parameterKey(name: string, declaringName: string | undefined): string {
  return `${declaringName ?? ""}.${name}`;
}

/** A word of the language. */
export function keyword(word: string): string {
  return `<span class="k">${escapeHtml(word)}</span>`;
}

function literal(value: DocType["value"], repr: string | undefined): string {
  if (value.kind === "string") {
    return `<span class="s">${escapeHtml(JSON.stringify(value.string))}</span>`;
  }
  if (value.kind === "template") return `<span class="s">\`${escapeHtml(repr ?? "")}\`</span>`;
  return `<span class="n">${escapeHtml(repr ?? String(value[value.kind]))}</span>`;
}
