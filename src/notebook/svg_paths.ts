// Lengths along the paths of a picture, where no layout engine exists: through the ends of their curves.

interface Point {
  readonly x: number;
  readonly y: number;
}

/** Numbers of each command behind which the next point follows; its last two are that point. */
const NUMBERS: Readonly<Record<string, number>> = { M: 2, L: 2, T: 2, Q: 4, S: 4, C: 6, A: 7 };

/** Estimates the length of a path, as getTotalLength() gives it. */
export function pathLength(path: string): number {
  return pointsOf(path).reduce(
    (sum, point, index, points) => sum + distance(points[index - 1], point),
    0,
  );
}

/** Estimates the point at a length from a path's start, as getPointAtLength() gives it. */
export function pointOnPath(path: string, length: number): Point {
  const points = pointsOf(path);
  let left = length;
  for (const [index, point] of points.entries()) {
    const before = points[index - 1];
    const step = distance(before, point);
    if (before !== undefined && step > 0 && left <= step) {
      const share = Math.max(0, left / step);
      return {
        x: before.x + share * (point.x - before.x),
        y: before.y + share * (point.y - before.y),
      };
    }
    left -= step;
  }
  return points.at(-1) ?? { x: 0, y: 0 };
}

function distance(from: Point | undefined, to: Point): number {
  return from === undefined ? 0 : Math.hypot(to.x - from.x, to.y - from.y);
}

/** Reads the points of a path with absolute commands, which are all that plotly.js writes. */
function pointsOf(path: string): Point[] {
  const points: Point[] = [];
  for (const [, command = "", text = ""] of path.matchAll(/([A-Z])([^A-Za-z]*)/g)) {
    const numbers = (text.match(/-?[\d.]+(?:e-?\d+)?/g) ?? []).map(Number);
    const last = points.at(-1) ?? { x: 0, y: 0 };
    if (command === "Z") points.push(points[0] ?? last);
    else if (command === "H") points.push(...numbers.map((x) => ({ x, y: last.y })));
    else if (command === "V") points.push(...numbers.map((y) => ({ x: last.x, y })));
    const count = NUMBERS[command] ?? 0;
    for (let at = count; count > 0 && at <= numbers.length; at += count) {
      points.push({ x: numbers[at - 2] ?? 0, y: numbers[at - 1] ?? 0 });
    }
  }
  return points;
}
