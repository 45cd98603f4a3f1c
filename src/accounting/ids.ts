// The numbers of live objects and views: unique in this process, in the order of creation.

let last = 0;

/** Takes the next number for a live object, a view or a mark. */
export function nextId(): number {
  return ++last;
}

/** Returns the number that was taken last. */
export function lastId(): number {
  return last;
}

/** Calls a function that uses up no numbers: none of what it makes may be left. */
export function withoutNumbers(body: (before: number) => void): void {
  const before = last;
  try {
    body(before);
  } finally {
    last = before;
  }
}
