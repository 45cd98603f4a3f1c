// The pages for contributors name files: each is there, in the project or its src/.

import { assertEquals } from "@std/assert";
import { PROJECT_ROOT, projectFiles } from "../support/project_files.ts";

for (const name of ["ARCHITECTURE.md", "CONTRIBUTING.md"]) {
  Deno.test(`${name} names files that exist`, () => {
    const [page] = projectFiles([name]);
    const named = (page?.text ?? "").matchAll(/`(\w[\w.]*(?:\/[\w.]+)+\/?)`/g);
    const paths = new Set(Array.from(named, ([, path = ""]) => path));
    assertEquals(
      [...paths].filter((path) => !exists(path) && !exists(`src/${path}`)),
      [],
    );
  });
}

function exists(path: string): boolean {
  try {
    Deno.statSync(new URL(path, PROJECT_ROOT));
    return true;
  } catch {
    return false;
  }
}
