// Builds the documentation's site into _site/, as a program: `deno task docs`. It asks no network.

import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { PROJECT } from "./project.ts";
import { buildSite } from "./site.ts";
import { problemsOf } from "./site_check.ts";

const FOLDER = fileURLToPath(new URL("_site/", PROJECT));

if (import.meta.main) {
  const site = await buildSite();
  await Deno.remove(FOLDER, { recursive: true }).catch((error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
  for (const [path, contents] of site.files) {
    Deno.mkdirSync(dirname(FOLDER + path), { recursive: true });
    if (typeof contents === "string") Deno.writeTextFileSync(FOLDER + path, contents);
    else Deno.writeFileSync(FOLDER + path, contents);
  }
  const pageCount = [...site.files.keys()].filter((path) => path.endsWith(".html")).length;
  console.log(`${pageCount} pages in _site/: open _site/index.html`);
  const checks = problemsOf(site);
  for (const { name, problems } of checks) {
    console.log(`${problems.length === 0 ? "ok" : "FAILED"}: ${name}`);
    for (const problem of problems) console.log(`  ${problem}`);
  }
  const failedCount = checks.filter(({ problems }) => problems.length > 0).length;
  console.log(`${checks.length - failedCount} passed, ${failedCount} failed`);
  if (failedCount > 0) Deno.exitCode = 1;
}
