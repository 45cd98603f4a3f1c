// What a browser shows of a notebook, in JupyterLab or in an exported page: both use the same classes.
// What counts it is text: this program is not type-checked against a browser's globals.

/** What one notebook shows after it ran. */
export interface Seen {
  /** Code cells that ran, and those there are. */
  readonly ranCount: number;
  readonly cellCount: number;
  /** Texts of error outputs. */
  readonly errors: readonly string[];
  readonly cardCount: number;
  /** Cards whose text cannot be told from what is behind it. */
  readonly paleCards: readonly string[];
  /** How light the notebook's background is, from 0 to 1. */
  readonly background: number;
  /** For each plot: traces that hold values, and traces with marks that have an extent. */
  readonly plots: readonly { readonly traceCount: number; readonly drawnCount: number }[];
  /** The text below the last code cell. */
  readonly lastText: string;
}

/** WCAG's contrast for text of usual size. */
const LEAST_CONTRAST = 4.5;

/** Builds the expression that counts what an element of a page shows: a notebook's panel, or all of it. */
export function countIn(selector: string): string {
  return `(() => {
  const panel = document.querySelector(${JSON.stringify(selector)});
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
  const cells = all(".jp-CodeCell");
  const cards = all(".vk-card");
  return {
    ranCount: all(".jp-CodeCell .jp-InputPrompt").filter((prompt) => /\\d/.test(prompt.textContent)).length,
    cellCount: cells.length,
    errors: all('[data-mime-type="application/vnd.jupyter.stderr"], [data-mime-type*="error"]')
      .map((output) => output.textContent),
    cardCount: cards.length,
    paleCards: cards.filter((card) => contrast(card) < ${LEAST_CONTRAST})
      .map((card) => card.getAttribute("aria-label")),
    background: luminance(behind(panel)),
    plots: all(".js-plotly-plot").map((plot) => ({
      traceCount: plot.data.filter(({ x }) => (x ?? []).length > 0).length,
      drawnCount: all(".scatterlayer .trace, .barlayer .trace", plot).filter(hasExtent).length,
    })),
    lastText: all(".jp-OutputArea", cells.at(-1)).map((area) => area.innerText).join(" "),
  };
})()`;
}
