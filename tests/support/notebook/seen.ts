// What a browser shows of a notebook, in whatever front end. What counts it is text: this program is
// not type-checked against a browser's globals.

/** The selectors of a front end's parts. */
export interface NotebookView {
  readonly notebook: string;
  readonly cell: string;
  /** The number beside a code cell, in it. */
  readonly prompt: string;
  /** One output, in a code cell. */
  readonly output: string;
  /** An output that is an error, or that was printed as one. */
  readonly error: string;
}

/** JupyterLab, and Jupyter Notebook since its version 7. */
export const LAB_VIEW: NotebookView = {
  notebook: ".jp-NotebookPanel:not(.lm-mod-hidden)",
  cell: ".jp-CodeCell",
  prompt: ".jp-InputPrompt",
  output: ".jp-OutputArea-child",
  error: '[data-mime-type="application/vnd.jupyter.stderr"], [data-mime-type*="error"]',
};

/** Exported pages. */
export const PAGE_VIEW: NotebookView = { ...LAB_VIEW, notebook: "main" };

/** The notebook before its version 7, which lives on as nbclassic. */
export const CLASSIC_VIEW: NotebookView = {
  notebook: "#notebook",
  cell: ".code_cell",
  prompt: ".input_prompt",
  output: ".output_area",
  error: ".output_error, .output_stderr",
};

/** The things one notebook shows after it ran. */
export interface Seen {
  /** Code cells that ran, and those there are. */
  readonly ranCount: number;
  readonly cellCount: number;
  /** For each code cell: its outputs that show something. */
  readonly outputCounts: readonly number[];
  /** Texts of error outputs. */
  readonly errors: readonly string[];
  readonly cardCount: number;
  /** Cards whose text cannot be told from what is behind it. */
  readonly paleCards: readonly string[];
  /** Cards without a border, whose style was taken away. */
  readonly bareCards: readonly string[];
  /** Texts of table cells that reach into their neighbours. */
  readonly overprinted: readonly string[];
  /** Plots that are pictures; a script may take their place. */
  readonly pictureCount: number;
  /** The brightness of the notebook's background, from 0 to 1. */
  readonly background: number;
  /** For each plot: traces that hold values, and traces with marks that have an extent. */
  readonly plots: readonly { readonly traceCount: number; readonly drawnCount: number }[];
  /** The text below the last code cell. */
  readonly lastText: string;
}

/** WCAG's contrast for text of usual size. */
const MIN_CONTRAST = 4.5;

/** Builds the expression that counts what a page shows. */
export function countIn({ notebook, cell, prompt, output, error }: NotebookView): string {
  return `(() => {
  const panel = document.querySelector("${notebook}");
  const all = (selector, inside = panel) => [...inside.querySelectorAll(selector)];
  const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
  const isClear = (color) => color === "transparent" || rgb(color)[3] === 0;
  const luminance = (color) => {
    const [r, g, b] = rgb(color).slice(0, 3).map((part) => part / 255)
      .map((part) => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    const color = getComputedStyle(element).backgroundColor;
    return isClear(color) && element.parentElement ? behind(element.parentElement) : color;
  };
  const contrast = (card) => {
    const [a, b] = [getComputedStyle(card).color, behind(card)].map(luminance).sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05);
  };
  const hasExtent = (trace) => all("path", trace).some((mark) => {
    const { width, height } = mark.getBoundingClientRect();
    return width > 0 || height > 0;
  });
  const showsSomething = (area) =>
    area.innerText.trim() !== "" || area.querySelector("img, svg") !== null;
  const cells = all("${cell}");
  const cards = all(".vk-card");
  return {
    ranCount: all("${cell} ${prompt}").filter((prompt) => /\\d/.test(prompt.textContent)).length,
    cellCount: cells.length,
    outputCounts: cells.map((cell) => all("${output}", cell).filter(showsSomething).length),
    errors: all('${error}').map((output) => output.textContent),
    cardCount: cards.length,
    paleCards: cards.filter((card) => contrast(card) < ${MIN_CONTRAST})
      .map((card) => card.getAttribute("aria-label")),
    bareCards: cards.filter((card) => getComputedStyle(card).borderTopWidth === "0px")
      .map((card) => card.innerText),
    overprinted: cards.flatMap((card) => all("td, th", card))
      .filter((cell) => cell.scrollWidth > cell.clientWidth + 1).map((cell) => cell.innerText),
    pictureCount: all('img[src^="data:image/svg+xml"]')
      .filter(({ naturalWidth, clientHeight }) => naturalWidth > 0 && clientHeight > 50).length,
    background: luminance(behind(panel)),
    plots: all(".js-plotly-plot").map((plot) => ({
      traceCount: plot.data.filter(({ x }) => (x ?? []).length > 0).length,
      drawnCount: all(".scatterlayer .trace, .barlayer .trace", plot).filter(hasExtent).length,
    })),
    lastText: all("${output}", cells.at(-1)).map((area) => area.innerText).join(" "),
  };
})()`;
}
