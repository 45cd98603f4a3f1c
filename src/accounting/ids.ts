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
