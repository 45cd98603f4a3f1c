// Attributes of a figure that plotly.js does not have or cannot take, which it would silently ignore:
// found by its own `validate()`, and put into words with the name that was meant.

import { describeValue } from "../words/format.ts";
import { isRecord, nearestOf } from "../words/options.ts";
import type { FigureParts } from "./figure_html.ts";

/** The part of plotly.js that is used here. */
export interface PlotlyValidator {
  validate(data: unknown, layout: unknown): readonly PlotlyFault[] | undefined;
  readonly PlotSchema: { get(): PlotlySchema };
}

interface PlotlyFault {
  /** `"schema"` for an unknown attribute, `"value"`, `"object"` and `"array"` for a wrong value. */
  readonly code: string;
  readonly container: "data" | "layout";
  readonly trace: number | null;
  readonly path: readonly (string | number)[];
}

type SchemaNode = Readonly<Record<string, unknown> & { values?: unknown; items?: unknown }>;

interface PlotlySchema {
  readonly traces: Readonly<
    Record<string, { attributes: SchemaNode; layoutAttributes?: SchemaNode }>
  >;
  readonly layout: { readonly layoutAttributes: SchemaNode };
}

/** Mistakes that are told; the others are of containers that the figure happens not to use. */
const TOLD = ["schema", "value", "object", "array"];
const MAX_TOLD = 3;

/** Names in plotly.js's schema that are about an attribute, and are not inside it. */
const ABOUT = /^_|^(valType|description|editType|role|dflt|impliedEdits|items|arrayOk|min|max)$/;

/** Containers for which `validate()` of plotly.js 4 throws. */
const LEGEND = /^legend\d*$/;

/**
 * Rejects a figure with attributes that plotly.js would ignore.
 *
 * @throws TypeError that names the first of them.
 */
export function requireAttributes(
  plotly: PlotlyValidator,
  { data, layout }: Pick<FigureParts, "data" | "layout">,
): void {
  const schema = plotly.PlotSchema.get();
  const rest = Object.entries(layout).filter(([name]) => !LEGEND.test(name));
  const found = plotly.validate(data, Object.fromEntries(rest)) ?? [];
  const faults = [
    ...found.filter((fault) => TOLD.includes(fault.code) && !isOfOtherTraces(fault, schema)),
    ...faultsOfLegends(layout, schema),
  ];
  if (faults.length === 0) return;
  const words = faults.slice(0, MAX_TOLD).map((fault) =>
    faultWords(fault, schema, { data, layout })
  );
  const more = faults.length > MAX_TOLD ? ` and ${faults.length - MAX_TOLD} more` : "";
  throw new TypeError(`Cannot draw a figure: ${words.join("; ")}${more}`);
}

function faultWords(
  { code, container, trace, path }: PlotlyFault,
  schema: PlotlySchema,
  figure: Pick<FigureParts, "data" | "layout">,
): string {
  const part = container === "data" ? figure.data[trace ?? 0] : figure.layout;
  const type = container === "data" ? String(part?.type ?? "scatter") : undefined;
  const place = container === "data" ? `data[${trace}]` : "layout";
  const name = String(path.at(-1));
  if (code === "schema") {
    const owner = [place, ...path.slice(0, -1)].join(".");
    const kind = type !== undefined && path.length === 1 ? ` of type ${JSON.stringify(type)}` : "";
    const near = nearestOf(namesAt(schema, type, path.slice(0, -1)), name);
    return `${owner}${kind} has no ${name}${near === undefined ? "" : ` (did you mean ${near}?)`}`;
  }
  const value = path.reduce<unknown>((inside, key) => Object(inside)[key], part);
  const node = nodeAt(schema, type, path);
  const shown = `${[place, ...path].join(".")} is ${describeValue(value)}`;
  if (code === "object") return `${shown}, expected an object, such as { text }`;
  if (code === "array") return `${shown}, expected a list`;
  const words = Array.isArray(node?.values)
    ? node.values.filter((each) => typeof each === "string")
    : [];
  const near = typeof value === "string" ? nearestOf(words, value) : undefined;
  const wanted = words.length > 0 ? `, expected one of ${words.join(", ")}` : "";
  return near === undefined ? `${shown}${wanted}` : `${shown} (did you mean ${near}?)`;
}

/** Tells a layout's attribute for trace types that the figure does not have: it does no harm. */
function isOfOtherTraces({ code, container, path }: PlotlyFault, schema: PlotlySchema): boolean {
  const [name] = path;
  return code === "schema" && container === "layout" && path.length === 1 &&
    namesAt(schema, undefined, []).includes(String(name));
}

/** Unknown attributes and wrong values of legends. */
function faultsOfLegends(layout: FigureParts["layout"], schema: PlotlySchema): PlotlyFault[] {
  const legends = Object.entries(layout).filter(([name]) => LEGEND.test(name));
  const known = Object(schema.layout.layoutAttributes["legend"]);
  return legends.flatMap(([name, legend]) => faultsIn(known, legend, [name]));
}

/** Compares a part of a layout with its schema, as `validate()` does. */
function faultsIn(known: SchemaNode, part: unknown, path: PlotlyFault["path"]): PlotlyFault[] {
  const fault = (code: string, path: PlotlyFault["path"]): PlotlyFault[] => [
    { code, container: "layout", trace: null, path },
  ];
  if (!isRecord(part)) return fault("object", path);
  return Object.entries(part).flatMap(([name, value]) => {
    const [inside, place] = [Object(known[name]), [...path, name]];
    if (!(name in known) || ABOUT.test(name)) return fault("schema", place);
    if (inside.valType === undefined) return faultsIn(inside, value, place);
    return isValueOf(inside, value) ? [] : fault("value", place);
  });
}

/** Returns whether an attribute of few or bounded values can have one; any other can have any. */
function isValueOf(
  { valType, values, min = -Infinity, max = Infinity }: SchemaNode,
  value: unknown,
) {
  if (valType === "enumerated" && Array.isArray(values)) return values.includes(value);
  if (valType === "boolean") return typeof value === "boolean";
  if (valType !== "number") return true;
  return Number(value) >= Number(min) && Number(value) <= Number(max);
}

/** The names of attributes at a place. */
function namesAt(
  schema: PlotlySchema,
  type: string | undefined,
  path: PlotlyFault["path"],
): string[] {
  const inTraces = type === undefined && path.length === 0
    ? Object.values(schema.traces).flatMap(({ layoutAttributes = {} }) =>
      Object.keys(layoutAttributes)
    )
    : [];
  return [...Object.keys(nodeAt(schema, type, path) ?? {}), ...inTraces].filter((name) =>
    !ABOUT.test(name)
  );
}

/** Follows a path in the schema: a number is one of a list, and `xaxis2` is like `xaxis`. */
function nodeAt(
  schema: PlotlySchema,
  type: string | undefined,
  path: PlotlyFault["path"],
): SchemaNode | undefined {
  let node: unknown = type === undefined
    ? schema.layout.layoutAttributes
    : schema.traces[type]?.attributes;
  for (const key of path) {
    const inside: SchemaNode = Object(node);
    node = typeof key === "number" || /^\d+$/.test(key)
      ? Object.values(Object(inside.items))[0]
      : inside[key] ?? inside[key.replace(/\d+$/, "")];
  }
  return node === undefined ? undefined : Object(node);
}
