// When live objects are made. Reading the clock is most of what accounting for a small block costs,
// so a few that are made one after another in the same turn of the event loop share a reading.

/** Blocks from this size on have a reading of their own: they are what people ask about. */
const LARGE_BYTES = 2 ** 20;

/** So many small blocks share a reading at most. */
const SHARED_BY = 4;

let reading = 0;
let usesLeft = 0;

/** Tells the time for an object that is being made, in milliseconds since 1970. */
export function timeOfMaking(byteLength: number): number {
  if (byteLength < LARGE_BYTES && usesLeft > 0) {
    usesLeft--;
    return reading;
  }
  usesLeft = SHARED_BY - 1;
  reading = Date.now();
  return reading;
}

/** Ends the sharing: the next object has a reading of its own. */
export function endTurn(): void {
  usesLeft = 0;
}
