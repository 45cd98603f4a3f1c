// Runs a notebook's cells without Jupyter, as a program: `deno run -A run_cells.ts NAME`. It prints
// the cells' outputs as JSON. The kernel evaluates by the same means: V8's console mode.

import type { Runtime } from "node:inspector";
import { Session } from "node:inspector/promises";
import { setTimeout as delay } from "node:timers/promises";
import {
  type CellOutput,
  codeCells,
  joined,
  type NotebookCell,
  readNotebook,
} from "./notebook_file.ts";

/** A static import, which the kernel rewrites as well: V8's console has none. */
const IMPORT = /^import (\{[^}]*\}) from "([^"]+)";$/gm;

/** Shows a cell's result, as the kernel does. */
const SHOW_RESULT = `async function (number, result) {
  await Deno[Deno.internal].jupyter.broadcastResult(number, result);
}`;

/** The pause in which timers and late promises of a cell may still show something. */
const SETTLE_MILLISECONDS = 20;

let outputs: CellOutput[] = [];

/** Outputs that may be replaced, by their names. */
const byDisplay = new Map<string | undefined, CellOutput>();

interface DisplayOptions {
  readonly raw?: boolean;
  readonly display_id?: string;
  readonly update?: boolean;
}

/** Stands in for what the kernel offers programs, and keeps what is shown. */
const kernel = {
  async display(value: unknown, options: DisplayOptions = {}): Promise<void> {
    const { raw, update, display_id } = options;
    const data = (raw ? value : await displayOf(value)) as Record<string, unknown>;
    if (update) {
      Object.assign(byDisplay.get(display_id) ?? {}, { data });
      return;
    }
    const output: CellOutput = { output_type: "display_data", data };
    if (display_id !== undefined) byDisplay.set(display_id, output);
    outputs.push(output);
  },
};

/** Stands in for the part of the kernel that is told of each cell that succeeds. */
const resultShower = {
  async broadcastResult(_number: number, result: unknown): Promise<void> {
    if (result === undefined || result === null) return;
    const data = await displayOf(result) as Record<string, unknown>;
    outputs.push({ output_type: "execute_result", data });
  },
};

async function displayOf(value: unknown): Promise<unknown> {
  if (typeof value !== "object" || value === null) return { "text/plain": String(value) };
  const display = (value as Record<symbol, (() => unknown) | undefined>)[
    Symbol.for("Jupyter.display")
  ];
  return await display?.call(value) ?? { "text/plain": Deno.inspect(value) };
}

function captureConsole(): void {
  const writer = (name: string) => (...values: unknown[]) => {
    const words = values.map((value) => typeof value === "string" ? value : Deno.inspect(value));
    outputs.push({ output_type: "stream", name, text: `${words.join(" ")}\n` });
  };
  console.log = console.info = writer("stdout");
  console.warn = console.error = writer("stderr");
}

async function runCell(
  session: Session,
  { source }: NotebookCell,
  number: number,
): Promise<CellOutput[]> {
  outputs = [];
  const expression = joined(source).replaceAll(
    IMPORT,
    (_, names, from) =>
      `const ${names.replaceAll(" as ", ": ")} = await import("${import.meta.resolve(from)}");`,
  );
  const request: Runtime.EvaluateParameterType & { replMode: true } = {
    expression,
    replMode: true, // the types lack it
    awaitPromise: true,
  };
  const { result, exceptionDetails } = await session.post("Runtime.evaluate", request);
  if (exceptionDetails !== undefined) outputs.push(errorOutput(exceptionDetails.exception));
  else await showResult(session, result, number);
  await delay(SETTLE_MILLISECONDS);
  return outputs;
}

async function showResult(
  session: Session,
  result: Runtime.RemoteObject,
  number: number,
): Promise<void> {
  const { objectId, value } = result;
  const shown = await session.post("Runtime.callFunctionOn", {
    functionDeclaration: SHOW_RESULT,
    arguments: [{ value: number }, objectId === undefined ? { value } : { objectId }],
    executionContextId: 1,
    awaitPromise: true,
  });
  if (shown.exceptionDetails !== undefined) {
    outputs.push(errorOutput(shown.exceptionDetails.exception));
  }
}

function errorOutput(exception: Runtime.RemoteObject | undefined): CellOutput {
  const [first = ""] = (exception?.description ?? String(exception?.value)).split("\n");
  const [ename = "Error", ...message] = first.split(": ");
  return { output_type: "error", ename, evalue: message.join(": ") };
}

if (import.meta.main) {
  const [name] = Deno.args;
  if (name === undefined) throw new TypeError("Cannot run cells: no notebook named");
  // Deno's own `jupyter` cannot be redefined, so the whole namespace gets one in front of it.
  const { internal } = Deno as unknown as { readonly internal: symbol };
  const withKernel = Object.create(Deno, {
    jupyter: { value: kernel },
    [internal]: { value: { jupyter: resultShower } },
  });
  Object.defineProperty(globalThis, "Deno", { value: withKernel });
  const print = console.log;
  captureConsole();
  const session = new Session();
  session.connect();
  const all: CellOutput[][] = [];
  for (const [index, cell] of codeCells(readNotebook(name)).entries()) {
    all.push(await runCell(session, cell, index + 1));
  }
  print(JSON.stringify(all));
  Deno.exit(); // a cell may have left a timer running
}
