// The page of what must hold says what the results files say.

import { assertEquals } from "@std/assert";
import { mustsPage } from "../../bench/musts.ts";

Deno.test("bench/README.md is what bench/musts.ts makes of the results", () => {
  const page = Deno.readTextFileSync(new URL("../../bench/README.md", import.meta.url));
  assertEquals(page, mustsPage());
});
