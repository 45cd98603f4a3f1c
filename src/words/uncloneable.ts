// Keeps objects in their Worker: structuredClone() and postMessage() would copy their public fields and
// nothing else, but they refuse an object with a symbol in a field.

/** The symbol; the error shows its text. */
export const UNCLONEABLE: symbol = Symbol(
  "memory and devices of a GPU stay in their Worker; buffer.handOver() gives memory to another",
);

/** The field: a kernel that completes names leaves out those that begin as symbols do. */
export const UNCLONEABLE_FIELD = "Symbol(uncloneable)";

/** Makes structuredClone() and postMessage() refuse an object; the error shows the reason. */
export function refuseCloning(object: object, reason: symbol = UNCLONEABLE): void {
  (object as { [UNCLONEABLE_FIELD]?: symbol })[UNCLONEABLE_FIELD] = reason;
}
