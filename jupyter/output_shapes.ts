// The shape of a cell's outputs: which streams, displays and results, of which MIME types.
// It stays the same from run to run and from device to device, where numbers do not.

import { type CellOutput, joined } from "./notebook_file.ts";

/** Says what a cell shows, one text an output; neighbouring pieces of one stream are one output. */
export function outputShape(outputs: readonly CellOutput[] = []): string[] {
  const shapes = outputs.filter((output) => !isEmptied(output)).map(shapeOf);
  return shapes.filter((shape, index) =>
    !shape.startsWith("stream") || shape !== shapes[index - 1]
  );
}

/** Whether an output showed something for a moment, such as plotly.js, and then gave its place up. */
export function isEmptied({ data }: CellOutput): boolean {
  return data !== undefined &&
    Object.values(data).every((content) => content === "" || isEmptyList(content));
}

function isEmptyList(content: unknown): boolean {
  return Array.isArray(content) && content.length === 0; // as files hold an empty text
}

/** The plain text of a cell's outputs, streams and errors included. */
export function outputText(outputs: readonly CellOutput[] = []): string {
  return outputs.map(({ text, data, ename, evalue }) => {
    if (ename !== undefined) return `${ename}: ${evalue}`;
    const plain = data?.["text/plain"];
    return joined((text ?? plain ?? "") as string | readonly string[]);
  }).join("\n");
}

function shapeOf({ output_type, name, data, ename }: CellOutput): string {
  if (output_type === "stream") return `stream ${name}`;
  if (output_type === "error") return `error ${ename}`;
  return `${output_type} ${Object.keys(data ?? {}).sort().join(", ")}`;
}
