// Objects that no other Worker can have: structuredClone() and postMessage() would copy their fields
// and nothing else, and refuse what has a symbol among them.

/** The value of such a field; the error shows its text. */
const UNCLONEABLE = Symbol(
  "memory and devices of a GPU stay in their Worker; buffer.handOver() gives memory to another",
);

/** Makes structuredClone() and postMessage() refuse an object. */
export function refuseCloning(object: object): void {
  (object as { uncloneable?: symbol }).uncloneable = UNCLONEABLE;
}
