// Kills a program that saves, at random moments, and looks at what is there each time.

import { setTimeout as delay } from "node:timers/promises";
import { CudaDevice } from "../../../mod.ts";
import { saveSafetensors } from "../../../src/interop/safetensors/save.ts";
import { testDriver } from "../driver.ts";
import { namesIn } from "../files.ts";
import type { Random } from "../random.ts";
import { TemporaryFolder } from "../temporary_folder.ts";
import { ChildSaver } from "./child_saver.ts";
import { judgeFile } from "./whole_model.ts";

/** The ways to end a program from outside. */
export const SIGNALS: readonly Deno.Signal[] = ["SIGKILL", "SIGTERM", "SIGINT"];

/** Saves of this size take some 10 to 50 milliseconds. */
const MODEL_BYTES = 16 * 2 ** 20;

/** Longer than two saves take. */
const LATEST_MILLISECONDS = 80;

const MODEL = "model.safetensors";
const TEMPORARY = `.${MODEL}.vramkit-saving`;

/** The result of saves whose program was killed. */
export interface KilledSaves {
  readonly killCount: number;
  /** The number of them that left a temporary file. */
  readonly leftCount: number;
  /** The problem of the model, for each kill that broke it. */
  readonly problems: readonly string[];
  /** Files that nobody clears. */
  readonly strays: readonly string[];
}

/** Kills `count` programs, by each signal in turn. */
export async function killSaves(count: number, random: Random): Promise<KilledSaves> {
  using folder = new TemporaryFolder();
  const path = folder.pathOf(MODEL);
  await saveModel(path);
  const problems: string[] = [];
  let leftCount = 0;
  for (let kill = 0; kill < count; kill++) {
    const child = new ChildSaver({ path, byteLength: MODEL_BYTES, first: 1 + random.below(250) });
    await child.saving();
    await delay(random.below(LATEST_MILLISECONDS));
    const signal = SIGNALS[kill % SIGNALS.length] ?? "SIGKILL";
    await child.kill(signal);
    const verdict = judgeFile(path);
    if ("problem" in verdict) problems.push(`${signal}: ${verdict.problem}`);
    if (namesIn(folder).includes(TEMPORARY)) leftCount++;
  }
  await saveModel(path);
  return {
    killCount: count,
    leftCount,
    problems,
    strays: namesIn(folder).filter((name) => name !== MODEL),
  };
}

async function saveModel(path: string): Promise<void> {
  using gpu = CudaDevice.open(0, { driver: testDriver() });
  using t0 = gpu.zeros("uint8", 1000);
  await saveSafetensors(path, { t0 }, { metadata: { value: "0" } });
}
