// Boxes of SVG elements where no layout engine exists: text by an average glyph width, groups by union.
// Translations and rotations are followed, which is what plotly places its labels and legends with.

/** Mean advance of a sans-serif glyph, as a share of the font size. */
const GLYPH_WIDTH = 0.56;
const LINE_HEIGHT = 1.3;
/** Share of a line's height that lies above the baseline. */
const ASCENT = 0.8;
const DEFAULT_FONT_SIZE = 12;

/** Shares of a text's width that lie left of its anchor. */
const SHARE_BEFORE_ANCHOR: Readonly<Record<string, number>> = { start: 0, middle: 0.5, end: 1 };

/** Names the part of a DOM element that measuring reads. */
export interface MeasuredElement {
  readonly tagName: string;
  readonly textContent: string | null;
  readonly parentElement: MeasuredElement | null;
  readonly style?: { readonly fontSize?: string };
  getAttribute(name: string): string | null;
  querySelectorAll(selector: string): Iterable<MeasuredElement>;
}

/** A rectangle, both as browsers describe boxes and as they describe client rectangles. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** Estimates an element's box in its own coordinates, as getBBox() gives it. */
export function localBox(element: MeasuredElement): Box {
  if (element.tagName === "text") return textBox(element);
  const boxes = [...element.querySelectorAll("text")].map((text) =>
    placedWithin(textBox(text), text, element)
  );
  return union(boxes);
}

/** Estimates an element's box in the picture's coordinates, as getBoundingClientRect() gives it. */
export function pictureBox(element: MeasuredElement): Box {
  return placedWithin(localBox(element), element, null);
}

function textBox(text: MeasuredElement): Box {
  const fontSize = inherited(text, fontSizeOf) ?? DEFAULT_FONT_SIZE;
  const anchor = inherited(text, anchorOf) ?? "start";
  const spans = [...text.querySelectorAll("tspan.line")];
  const lines = (spans.length > 0 ? spans : [text]).map((line) => line.textContent ?? "");
  const width = Math.max(...lines.map((line) => line.length)) * fontSize * GLYPH_WIDTH;
  const height = width === 0 ? 0 : lines.length * fontSize * LINE_HEIGHT;
  const left = numberIn(text, "x") - width * (SHARE_BEFORE_ANCHOR[anchor] ?? 0);
  const top = numberIn(text, "y") - fontSize * LINE_HEIGHT * ASCENT;
  return box({ left, top, right: left + width, bottom: top + height });
}

/** Applies the transforms from an element up to, and without, an outer one. */
function placedWithin(from: Box, element: MeasuredElement, outer: MeasuredElement | null): Box {
  let placed = from;
  for (
    let at: MeasuredElement | null = element;
    at !== null && at !== outer;
    at = at.parentElement
  ) placed = transformed(placed, at.getAttribute("transform") ?? "");
  return placed;
}

/** Applies an SVG transform list, whose last step comes first: the upright box around what it gives. */
function transformed(from: Box, transform: string): Box {
  const steps = [...transform.matchAll(/(translate|rotate)\(([^)]*)\)/g)].reverse();
  return steps.reduce((moving, [, kind, numbers = ""]) => {
    const [first = 0, second = 0, third = 0] = numbers.split(/[\s,]+/).map(Number);
    const [cos, sin] = [Math.cos(first * Math.PI / 180), Math.sin(first * Math.PI / 180)];
    return boxAround(
      cornersOf(moving).map(({ x, y }) =>
        kind === "translate" ? { x: x + first, y: y + second } : {
          x: second + (x - second) * cos - (y - third) * sin,
          y: third + (x - second) * sin + (y - third) * cos,
        }
      ),
    );
  }, from);
}

function union(boxes: readonly Box[]): Box {
  const corners = boxes.filter(({ width }) => width > 0).flatMap(cornersOf);
  return boxAround(corners.length === 0 ? [{ x: 0, y: 0 }] : corners);
}

function cornersOf({ left, right, top, bottom }: Box): { x: number; y: number }[] {
  return [left, right].flatMap((x) => [top, bottom].map((y) => ({ x, y })));
}

function boxAround(points: readonly { readonly x: number; readonly y: number }[]): Box {
  const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)];
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  return box({ left, right, top: Math.min(...ys), bottom: Math.max(...ys) });
}

function box(edges: Pick<Box, "left" | "right" | "top" | "bottom">): Box {
  const { left, right, top, bottom } = edges;
  return { ...edges, x: left, y: top, width: right - left, height: bottom - top };
}

/** Finds a style that the element or the nearest ancestor sets. */
function inherited<T>(
  element: MeasuredElement,
  read: (element: MeasuredElement) => T | undefined,
): T | undefined {
  for (let at: MeasuredElement | null = element; at !== null; at = at.parentElement) {
    const value = read(at);
    if (value !== undefined) return value;
  }
  return undefined;
}

function fontSizeOf(element: MeasuredElement): number | undefined {
  const size = Number.parseFloat(element.style?.fontSize ?? "");
  return size > 0 ? size : undefined;
}

/** jsdom may not know the property, so the attribute's text is read as well. */
function anchorOf(element: MeasuredElement): string | undefined {
  const style = element.getAttribute("style") ?? "";
  return element.getAttribute("text-anchor") ?? /text-anchor:\s*(\w+)/.exec(style)?.[1];
}

function numberIn(element: MeasuredElement, attribute: string): number {
  return Number.parseFloat(element.getAttribute(attribute) ?? "0") || 0;
}
