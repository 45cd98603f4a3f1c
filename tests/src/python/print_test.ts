// The output of Python, given to a callback of the program's; with no interpreter behind it.

import { assertEquals } from "@std/assert";
import { Python } from "../../../src/entries/python.ts";
import { Parts } from "../../../src/words/parts.ts";
import { CaughtWarnings } from "../../support/warnings.ts";

Deno.test("An async onPrint() that fails is a warning, and does not end the program", async () => {
  using warnings = new CaughtWarnings();
  const printing = { printed: "hello\n", complained: "", released: [] };
  const exchange = () => ({ ...printing, value: ["3", ""] });
  const seen: string[] = [];
  const onPrint = async (text: string) => {
    seen.push(text);
    await undefined;
    throw new Error("nobody waits for this");
  };
  new Python(new Parts({ interpreter: { libraryPath: "", exchange } as never, onPrint }));
  for (let turn = 0; turn < 4; turn++) await undefined;
  assertEquals(seen, ["hello\n"]);
  assertEquals(warnings.texts, ["vramkit: onPrint() failed: nobody waits for this"]);
});
