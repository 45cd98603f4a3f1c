// Shows a value as a console and a notebook do, which may not throw whatever the driver says.

import { assert } from "@std/assert";

/** Shows a value. */
export function show(value: object): void {
  try {
    assert(Deno.inspect(value).length > 0);
    const display: unknown = Reflect.get(value, Symbol.for("Jupyter.display"));
    if (typeof display === "function") assert(typeof display.call(value) === "object");
  } catch (cause) {
    throw new Error(`Cannot show ${value.constructor.name}: it threw ${cause}`, { cause });
  }
}
