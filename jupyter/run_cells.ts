// Runs a notebook's cells without Jupyter, as a program: `deno run -A run_cells.ts NAME`. It prints
// the cells' outputs as JSON. The kernel evaluates by the same means: V8's console mode.

import { Session } from "node:inspector";
import {
  type CellOutput,
  codeCells,
  joined,
  type NotebookCell,
  NOTEBOOKS,
  readNotebook,
} from "./notebook_file.ts";

/** What V8 says of a value; only objects have an id. */
interface RemoteValue {
  readonly type: string;
  readonly subtype?: string;
  readonly value?: unknown;
  readonly description?: string;
  readonly objectId?: string;
}

interface Evaluation {
  readonly result: RemoteValue;
  readonly exceptionDetails?: { readonly exception?: RemoteValue };
}

/** How notebooks name the kit; here it is this checkout, as for others it is a URL. */
const KIT_LINE = 'const vramkit = "..";';

/** Asks a value for its display, as the kernel does. */
const DISPLAY = `async function () {
  return await this[Symbol.for("Jupyter.display")]?.() ?? { "text/plain": Deno.inspect(this) };
}`;

/** The pause in which timers and late promises of a cell may still show something. */
const SETTLE_MILLISECONDS = 20;

let outputs: CellOutput[] = [];

/** Stands in for what the kernel offers programs, and keeps what is shown. */
const kernel = {
  async display(value: unknown, options: { raw?: boolean; update?: boolean } = {}): Promise<void> {
    const data = options.raw ? value : await displayOf(value);
    if (options.update) return;
    outputs.push({ output_type: "display_data", data: data as Record<string, unknown> });
  },
};

async function displayOf(value: unknown): Promise<unknown> {
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

async function runCell(session: Session, cell: NotebookCell): Promise<CellOutput[]> {
  outputs = [];
  const { result, exceptionDetails } = await post<Evaluation>(session, "Runtime.evaluate", {
    expression: joined(cell.source).replace(KIT_LINE, kitLine()),
    replMode: true,
    awaitPromise: true,
  });
  if (exceptionDetails !== undefined) outputs.push(errorOutput(exceptionDetails.exception));
  else if (result.type !== "undefined" && result.subtype !== "null") {
    outputs.push({ output_type: "execute_result", data: await resultData(session, result) });
  }
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MILLISECONDS));
  return outputs;
}

async function resultData(
  session: Session,
  result: RemoteValue,
): Promise<Record<string, unknown>> {
  if (result.objectId === undefined) return { "text/plain": String(result.value) };
  const shown = await post<Evaluation>(session, "Runtime.callFunctionOn", {
    objectId: result.objectId,
    functionDeclaration: DISPLAY,
    awaitPromise: true,
    returnByValue: true,
  });
  return shown.result.value as Record<string, unknown>;
}

function errorOutput(exception: RemoteValue | undefined): CellOutput {
  const [first = ""] = (exception?.description ?? String(exception?.value)).split("\n");
  const [ename = "Error", ...message] = first.split(": ");
  return { output_type: "error", ename, evalue: message.join(": ") };
}

function kitLine(): string {
  const root = new URL("..", NOTEBOOKS).href.replace(/\/$/, "");
  return `const vramkit = ${JSON.stringify(root)};`;
}

function post<T>(session: Session, method: string, parameters: object): Promise<T> {
  return new Promise((resolve, reject) => {
    session.post(method, parameters, (error: Error | null, reply?: object) => {
      if (error === null || error === undefined) resolve(reply as T);
      else reject(error);
    });
  });
}

if (import.meta.main) {
  const [name] = Deno.args;
  if (name === undefined) throw new TypeError("Cannot run cells: no notebook named");
  // Deno's own `jupyter` cannot be redefined, so the whole namespace gets one in front of it.
  const withKernel = Object.create(Deno, { jupyter: { value: kernel } });
  Object.defineProperty(globalThis, "Deno", { value: withKernel });
  const print = console.log;
  captureConsole();
  const session = new Session();
  session.connect();
  const all: CellOutput[][] = [];
  for (const cell of codeCells(readNotebook(name))) all.push(await runCell(session, cell));
  print(JSON.stringify(all));
  Deno.exit(); // a cell may have left a timer running
}
