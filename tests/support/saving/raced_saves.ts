// Two programs that save one file at the same time, and a reader that looks at it all the while.

import { FileFolder, namesIn } from "../files.ts";
import { ChildSaver } from "./child_saver.ts";
import { judgeFile } from "./whole_model.ts";

const MODEL_BYTES = 2 ** 20;

/** What the reader saw. */
export interface RacedSaves {
  /** How often it read a whole model. */
  readonly wholeCount: number;
  /** The models that it read, by the program that wrote them. */
  readonly writers: ReadonlySet<number>;
  /** What was wrong with the others. */
  readonly problems: readonly string[];
  /** What both programs left. */
  readonly names: readonly string[];
  /** How they ended. */
  readonly codes: readonly number[];
}

/** Lets two programs save `rounds` models each; one writes odd values, the other even ones. */
export async function raceSaves(rounds: number): Promise<RacedSaves> {
  using folder = new FileFolder();
  const path = folder.pathOf("model.safetensors");
  Deno.mkdirSync(folder.pathOf("folder"));
  Deno.symlinkSync("../model.safetensors", folder.pathOf("folder/link"));
  const paths = [path, folder.pathOf("folder/link")];
  const children = paths.map((path, first) => {
    return new ChildSaver({ path, byteLength: MODEL_BYTES, first, step: 2, rounds });
  });
  let isOver = false;
  const ended = Promise.all(children.map((child) => child.ended())).finally(() => isOver = true);
  let wholeCount = 0;
  const writers = new Set<number>();
  const problems: string[] = [];
  while (!isOver) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    try {
      const verdict = judgeFile(path);
      if ("problem" in verdict) problems.push(verdict.problem);
      else writers.add(verdict.value % 2);
      wholeCount++;
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound) || wholeCount > 0) throw error;
    }
  }
  return { wholeCount, writers, problems, names: namesIn(folder), codes: await ended };
}
