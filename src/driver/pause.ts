// A pause that nobody waits for.

const CELL = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

/**
 * Calls a function after a time, in a turn of the event loop. Unlike a timer it does not keep the
 * program running, and a test that ends before is not told of a leak.
 */
export function afterPause(milliseconds: number, run: () => void): void {
  const { value } = Atomics.waitAsync(CELL, 0, 0, milliseconds);
  if (value instanceof Promise) void value.then(run);
}
