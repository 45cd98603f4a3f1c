// Numbers and creation times of live objects. Reading the clock is most of the cost of accounting for a small
// block, so a few blocks created in the same turn of the event loop share a reading.

/** Blocks from this size on read the clock each, because people ask about large blocks. */
const LARGE_BYTES = 2 ** 20;

/** Number of small blocks that share a reading at most. */
const SHARED_BY = 4;

let reading = 0;
let usesLeft = 0;

/** Returns the creation time for a new object, in milliseconds since 1970. */
export function timeOfMaking(byteLength: number): number {
  if (byteLength < LARGE_BYTES && usesLeft > 0) {
    usesLeft--;
    return reading;
  }
  usesLeft = SHARED_BY - 1;
  reading = Date.now();
  return reading;
}

/** Returns the time of the last reading; 0 before the first. */
export function lastReading(): number {
  return reading;
}

/** Ends the sharing: the next object gets a new reading. */
export function endTurn(): void {
  usesLeft = 0;
}

let lastNumber = 0;

/** Takes the next number for a live object, a view or a mark: unique in this process, in order. */
export function nextId(): number {
  return ++lastNumber;
}

/** Returns the number that was taken last. */
export function lastId(): number {
  return lastNumber;
}
