// Locks of files: held until the file is closed, or the program ends while its process goes on.

import { assert, assertEquals } from "@std/assert";
import { LockedFile } from "../../../src/disk/locked_file.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";

Deno.test("LockedFile lets its lock go with the program, which --watch starts anew in its process", () => {
  using folder = new TemporaryFolder();
  const open = () => LockedFile.tryOpen(folder.pathOf("file"), { check: () => {} });
  using first = open();
  assert(first !== undefined);
  assertEquals(open(), undefined);
  dispatchEvent(new Event("unload"));
  {
    using second = open();
    assert(second !== undefined);
    assertEquals(open(), undefined);
  }
  using third = open();
  first[Symbol.dispose]();
  third?.[Symbol.dispose]();
  using fourth = open();
  assert(third !== undefined && fourth !== undefined);
});
