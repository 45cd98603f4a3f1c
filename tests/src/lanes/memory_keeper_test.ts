// The memory of arrays stays while threads use it: of all arrays that a program could move away.

import { assert, assertEquals } from "@std/assert";
import { runInNewContext } from "node:vm";
import { keepMemory } from "../../../src/lanes/memory_keeper.ts";

const MOVABLE: Readonly<Record<string, () => ArrayBuffer>> = {
  "this realm": () => new ArrayBuffer(64),
  "another realm": () => runInNewContext("new ArrayBuffer(64)"),
  "no class": () => Object.setPrototypeOf(new ArrayBuffer(64), null),
};

for (const [name, make] of Object.entries(MOVABLE)) {
  Deno.test(`keepMemory() keeps an array buffer of ${name} by a thread`, async () => {
    const keeper = keepMemory([new Uint8Array(make())], 1);
    const returned = keeper?.letGo();
    assert(returned instanceof Promise);
    await returned;
  });
}

Deno.test("keepMemory() needs no thread for memory that is shared", () => {
  const foreign: SharedArrayBuffer = runInNewContext("new SharedArrayBuffer(64)");
  for (const buffer of [new SharedArrayBuffer(64), foreign]) {
    assertEquals(keepMemory([new Uint8Array(buffer)], 1)?.letGo(), undefined);
  }
});
