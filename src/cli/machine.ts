// `machine`: measures the machine, prints what it found and writes it as JSON and as a page; or writes a page
// with several reports side by side.

import { join } from "node:path";
import { readText } from "../disk/whole_file.ts";
import { compareMachines, MachineCard, machineCard } from "../machine/machine_card.ts";
import { ProgressBar } from "../notebook/progress_bar.ts";
import { progressSurface } from "../notebook/progress_surfaces.ts";
import { messageOf } from "../words/format.ts";
import { type CliOptions, UsageError } from "./arguments.ts";
import { canWriteInto, writePage } from "./demo.ts";

/** Runs the command; the exit code is 0 for a whole report, whatever it says about the machine. */
export async function runMachine(options: CliOptions): Promise<number> {
  const { json, out, compare, words, folder } = options;
  if (!json && !await canWriteInto(out)) return 1;
  if (compare !== undefined) return await comparePage(out, [compare, ...words]);
  if (folder !== undefined && !await canWriteInto(folder)) return 1;
  const card = await measure(options);
  if (json) console.log(JSON.stringify(card, null, 2));
  else {
    console.log(`${card}`);
    const file = join(out, "machine.json");
    await Deno.writeTextFile(file, `${JSON.stringify(card, null, 2)}\n`);
    await writePage(join(out, "machine.html"), () => card.toPage(), file);
  }
  return card.report.unfinished === null ? 0 : 130; // as a shell reports an interruption
}

/** Measures with a progress bar; Ctrl+C ends it early, a second one at once. */
async function measure(
  { json, driver, ordinal, isOfOne, folder }: CliOptions,
): Promise<MachineCard> {
  const bar = json
    ? undefined
    : new ProgressBar("Measuring", progressSurface({ keepsLine: false }));
  const controller = new AbortController();
  const interrupt = () => {
    Deno.removeSignalListener("SIGINT", interrupt);
    controller.abort(new Error("Ctrl+C"));
  };
  Deno.addSignalListener("SIGINT", interrupt);
  try {
    return await machineCard({
      driver: driver === "auto" ? "cuda" : driver,
      devices: isOfOne ? [ordinal] : undefined,
      folder,
      signal: controller.signal,
      onProgress: (done, total, step) => bar?.update(done, total, step),
    });
  } finally {
    bar?.finish();
    if (!controller.signal.aborted) Deno.removeSignalListener("SIGINT", interrupt);
  }
}

async function comparePage(out: string, paths: readonly string[]): Promise<number> {
  const cards = await Array.fromAsync(paths, (path) => readCard(path));
  if (cards.length < 2) throw new UsageError("Cannot compare one report: name two files or more");
  await writePage(join(out, "machines.html"), () => compareMachines(cards));
  return 0;
}

async function readCard(path: string): Promise<MachineCard> {
  try {
    return new MachineCard(JSON.parse(await readText(path)));
  } catch (error) {
    throw new UsageError(`Cannot compare ${path}: ${messageOf(error)}`);
  }
}
