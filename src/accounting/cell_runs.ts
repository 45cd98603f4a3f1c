// Finds the run of a notebook cell that created an object. Stacks do not name cells, so order
// tells: an object created between the ends of cells 6 and 7 belongs to cell 7.

import { lastId } from "./clock.ts";
import { inNotebook, onCellEnd } from "./notebook_kernel.ts";

/**
 * One run of a cell, by the numbers shown beside cells. The kernel does not report cells that fail,
 * so after failures the run is known only to be one of several in a row.
 */
export interface CellRun {
  /** Lowest number that the run can have. */
  readonly first: number;
  /** Highest number that the run can have: its own, unless a later cell failed. */
  readonly last: number;
}

/** The end of a cell that succeeded. */
interface CellEnd {
  readonly number: number;
  /** The last object made until then. */
  readonly lastId: number;
  /** Milliseconds since the program's start. */
  readonly time: number;
}

/** Start of a cell's place on a stack, where cells have no names. */
const CELL = "cell";

/** Records the ends of cells, and finds the run that an object belongs to. */
export class CellRuns {
  readonly #ends: CellEnd[] = [];

  /** Notes the end of a cell that succeeded. */
  end(end: CellEnd): void {
    this.#ends.push(end);
  }

  /** Returns the run that created an object; undefined when it is unknown. */
  ofObject(id: number): CellRun | undefined {
    return this.#runBehind((end) => end.lastId < id);
  }

  /** Returns the run at a time, in milliseconds since the program's start. */
  at(time: number): CellRun | undefined {
    return this.#runBehind((end) => end.time < time);
  }

  /** Returns the run behind the last of the earlier ends. */
  #runBehind(isEarlier: (end: CellEnd) => boolean): CellRun | undefined {
    const at = this.#ends.findLastIndex(isEarlier);
    const before = this.#ends[at]?.number;
    const own = this.#ends[at + 1]?.number ?? (before === undefined ? undefined : before + 1);
    if (own === undefined) return undefined;
    return { first: Math.min(own, before === undefined ? own : before + 1), last: own };
  }
}

/** The cells of the notebook that this program runs in. */
export const cellRuns: CellRuns = new CellRuns();

let isFollowing = false;

/** Begins to note the ends of cells, in a notebook; a second call does nothing. */
export function followCells(): void {
  if (isFollowing || !inNotebook()) return;
  isFollowing = true;
  onCellEnd((number) => cellRuns.end({ number, lastId: lastId(), time: performance.now() }));
}

/** Names a run as `"cell 7"`, or `"cell 5-7"` when cells failed before it. */
export function nameOfRun({ first, last }: CellRun): string {
  return first === last ? `${CELL} ${last}` : `${CELL} ${first}-${last}`;
}

/** Returns whether a place on a stack is in a cell. */
export function isInCell(place: string | undefined): boolean {
  return place?.startsWith(`${CELL}:`) === true;
}

/** The place where an object was made, with the run of its cell: `"cell 7:3:12"`, `"main.ts:3:12"`. */
export function originOf(object: {
  readonly id: number;
  readonly stack: readonly string[] | undefined;
}): string | undefined {
  const place = object.stack?.[0];
  if (place === undefined || !isInCell(place)) return place;
  const run = cellRuns.ofObject(object.id);
  return run === undefined ? place : `${nameOfRun(run)}${place.slice(CELL.length)}`;
}
