// What an object shows in a notebook: the display protocol, called as the kernel calls it.

import { assert } from "@std/assert";
import "../../src/cards/shown.ts";

const DISPLAY = Symbol.for("Jupyter.display");

/** Asks an object for its card; fails when it has none, or one that a kernel cannot send. */
export async function cardOf(value: unknown): Promise<{ html: string; text: string }> {
  assert(typeof value === "object" && value !== null);
  const display: unknown = Reflect.get(value, DISPLAY);
  assert(typeof display === "function", `${value} has no card`);
  const bundle: unknown = await display.call(value);
  JSON.stringify(bundle); // throws for a BigInt, which the kernel refuses as well
  assert(typeof bundle === "object" && bundle !== null);
  const html: unknown = Reflect.get(bundle, "text/html");
  const text: unknown = Reflect.get(bundle, "text/plain");
  assert(typeof html === "string" && typeof text === "string");
  return { html, text };
}
