// The full failure sweep: `deno run -A tests/support/sweep/run.ts [STATUSES] [--only TEXT]`.

import { parseArgs } from "node:util";
import { nameOfPoint, pointsOf, run, takeCensus, unreached } from "./sweep.ts";

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    args: [...Deno.args],
    allowPositionals: true,
    options: { only: { type: "string" } },
  });
  const statuses = positionals.length === 0 ? [999, 2, 700, 12345] : positionals.map(Number);
  const folder = await Deno.makeTempDir();
  const { reaches, findings } = await takeCensus(folder);
  const points = pointsOf(reaches, statuses)
    .filter((point) => nameOfPoint(point).includes(values.only ?? ""));
  const start = performance.now();
  let firedCount = 0;
  const found = [...findings];
  for (const point of points) {
    const { defects, hasFired } = await run(point, folder);
    if (hasFired) firedCount++;
    if (defects.length > 0) found.push({ point, defects });
  }
  for (const { point, defects } of found) {
    console.log(`${nameOfPoint(point)}\n    ${defects.join("\n    ")}`);
  }
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(
    `${points.length} points, ${firedCount} struck, ${found.length} with defects, ${seconds} s`,
  );
  console.log(`no step reaches ${unreached(reaches).join(", ")}`);
  await Deno.remove(folder, { recursive: true });
  Deno.exit(found.length === 0 ? 0 : 1);
}
