// A notebook as a file: reading it, writing it, and the parts of the format that are used here.

/** The output of a cell; the fields depend on the type. */
export interface CellOutput {
  readonly output_type: "stream" | "display_data" | "execute_result" | "error";
  /** The stream's name: `"stdout"` or `"stderr"`. */
  readonly name?: string;
  /** The stream's text; a list is one text in lines. */
  readonly text?: string | readonly string[];
  /** Representations by MIME type. */
  readonly data?: Readonly<Record<string, unknown>>;
  readonly ename?: string;
  readonly evalue?: string;
}

/** One cell. */
export interface NotebookCell {
  readonly cell_type: "code" | "markdown";
  readonly source: string | readonly string[];
  outputs?: CellOutput[];
  /** The number beside a code cell; null before it ran. */
  readonly execution_count?: number | null;
  metadata: Record<string, unknown>;
}

/** A whole notebook. */
export interface Notebook {
  readonly cells: NotebookCell[];
  readonly metadata: Record<string, unknown>;
}

/** The folder that the notebooks lie in. */
export const NOTEBOOKS = new URL("../notebooks/", import.meta.url);

/** Lists the names of all notebooks in their order, such as `"01_first_buffer"`. */
export function notebookNames(): string[] {
  return [...Deno.readDirSync(NOTEBOOKS)]
    .filter(({ name }) => name.endsWith(".ipynb"))
    .map(({ name }) => name.slice(0, -".ipynb".length))
    .sort();
}

/** Reads one of the project's notebooks, or a file anywhere. */
export function readNotebook(place: string | URL): Notebook {
  const file = typeof place === "string" ? new URL(`${place}.ipynb`, NOTEBOOKS) : place;
  return JSON.parse(Deno.readTextFileSync(file));
}

/** The cells that run, in order. */
export function codeCells(notebook: Notebook): NotebookCell[] {
  return notebook.cells.filter(({ cell_type }) => cell_type === "code");
}

/** Joins a text that the format may hold in lines. */
export function joined(text: string | readonly string[] | undefined): string {
  return typeof text === "string" ? text : (text ?? []).join("");
}
