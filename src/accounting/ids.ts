// The numbers of live objects and views: each in this process once, and in the order of their making.

let last = 0;

/** Takes the next number for a live object, a view or a mark. */
export function nextId(): number {
  return ++last;
}

/** Returns the number that was taken last. */
export function lastId(): number {
  return last;
}
