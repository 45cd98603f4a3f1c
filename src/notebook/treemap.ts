// Rectangles whose areas are amounts, as square as they can be, filling one rectangle.
// Bruls, Huizing and van Wijk's squarified treemap: rows are closed when a further item would make
// the worst rectangle of the row longer.

/** A rectangle; y grows upwards. */
export interface Rectangle {
  readonly left: number;
  readonly bottom: number;
  readonly width: number;
  readonly height: number;
}

/** Divides `space` among amounts, which come largest first and are positive. */
export function squarify(amounts: readonly number[], space: Rectangle): Rectangle[] {
  const total = amounts.reduce((sum, amount) => sum + amount, 0);
  const scale = total > 0 ? space.width * space.height / total : 0;
  const areas = amounts.map((amount) => amount * scale);
  const rectangles: Rectangle[] = [];
  let free = space;
  for (let start = 0; start < areas.length;) {
    const row = nextRow(areas.slice(start), Math.min(free.width, free.height));
    const placed = placeRow(row, free);
    rectangles.push(...placed.rectangles);
    free = placed.rest;
    start += row.length;
  }
  return rectangles;
}

function nextRow(areas: readonly number[], side: number): number[] {
  let row: number[] = [];
  let worst = Infinity;
  for (const area of areas) {
    const longer = [...row, area];
    const worstOfLonger = worstRatio(longer, side);
    if (worstOfLonger > worst) break;
    row = longer;
    worst = worstOfLonger;
  }
  return row;
}

/** The most elongated rectangle when `areas` stand side by side along `side`. */
function worstRatio(areas: readonly number[], side: number): number {
  const sum = areas.reduce((total, area) => total + area, 0);
  const largest = Math.max(...areas);
  const smallest = Math.min(...areas);
  return Math.max(side ** 2 * largest / sum ** 2, sum ** 2 / (side ** 2 * smallest));
}

/** Puts a row along the shorter side: at the left of a wide space, on top of a high one. */
function placeRow(
  areas: readonly number[],
  space: Rectangle,
): { rectangles: Rectangle[]; rest: Rectangle } {
  const { left, bottom, width, height } = space;
  const isWide = width >= height;
  const depth = areas.reduce((total, area) => total + area, 0) / (isWide ? height : width);
  let at = 0;
  const rectangles = areas.map((area) => {
    const length = area / depth;
    at += length;
    return isWide
      ? { left, bottom: bottom + height - at, width: depth, height: length }
      : { left: left + at - length, bottom: bottom + height - depth, width: length, height: depth };
  });
  const rest = isWide
    ? { ...space, left: left + depth, width: width - depth }
    : { ...space, height: height - depth };
  return { rectangles, rest };
}
