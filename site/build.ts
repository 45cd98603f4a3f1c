// Builds the documentation's site into _site/, as a program: `deno task docs`.

import { fileURLToPath } from "node:url";
import { walk } from "./files.ts";
import { buildSite } from "./site.ts";
import { problemsOf } from "./site_check.ts";
import { PROJECT } from "./texts.ts";

const FOLDER = fileURLToPath(new URL("_site", PROJECT));

if (import.meta.main) {
  const site = await buildSite(FOLDER);
  const pageCount = walk(FOLDER).filter((path) => path.endsWith(".html")).length;
  console.log(`${pageCount} pages in _site/: open _site/index.html`);
  const checks = problemsOf(site, FOLDER);
  for (const { name, problems } of checks) {
    console.log(`${problems.length === 0 ? "ok" : "FAILED"}: ${name}`);
    for (const problem of problems) console.log(`  ${problem}`);
  }
  const failedCount = checks.filter(({ problems }) => problems.length > 0).length;
  console.log(`${checks.length - failedCount} passed, ${failedCount} failed`);
  // TypeDoc keeps the compiler's caches open.
  Deno.exit(failedCount > 0 ? 1 : 0);
}
