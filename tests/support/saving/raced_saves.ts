// Programs that save one file at the same time, and a reader that looks at it all the while.

import { setTimeout as delay } from "node:timers/promises";
import { namesIn } from "../files.ts";
import { TemporaryFolder } from "../temporary_folder.ts";
import { ChildSaver } from "./child_saver.ts";
import { judgeFile } from "./whole_model.ts";

/** The number of programs and of the models they save. */
export interface RaceOptions {
  /** The number of programs; 2 by default. */
  readonly writerCount?: number;
  readonly rounds: number;
  /** Bytes of a model; 1 MiB by default. The smaller, the more often they meet. */
  readonly byteLength?: number;
}

/** The findings of the reader. */
export interface RacedSaves {
  /** The number of times it read a whole model. */
  readonly wholeCount: number;
  /** The models that it read, by the program that wrote them. */
  readonly writers: ReadonlySet<number>;
  /** The problems of the others. */
  readonly problems: readonly string[];
  /** The names of the files that the programs left. */
  readonly names: readonly string[];
  readonly codes: readonly number[];
}

/** Lets programs save at the same time; what their values leave tells them apart. */
export async function raceSaves(options: RaceOptions): Promise<RacedSaves> {
  const { writerCount = 2, rounds, byteLength = 2 ** 20 } = options;
  using folder = new TemporaryFolder();
  const path = folder.pathOf("model.safetensors");
  Deno.mkdirSync(folder.pathOf("folder"));
  Deno.symlinkSync("../model.safetensors", folder.pathOf("folder/link"));
  const paths = [path, folder.pathOf("folder/link")];
  const children = Array.from({ length: writerCount }, (_, first) => {
    const spelling = paths[first % paths.length] ?? path;
    return new ChildSaver({ path: spelling, byteLength, first, step: writerCount, rounds });
  });
  let isOver = false;
  const ended = Promise.all(children.map((child) => child.ended())).finally(() => isOver = true);
  let wholeCount = 0;
  const writers = new Set<number>();
  const problems: string[] = [];
  while (!isOver) {
    await delay(1);
    try {
      const verdict = judgeFile(path);
      if ("problem" in verdict) problems.push(verdict.problem);
      else writers.add(verdict.value % writerCount);
      wholeCount++;
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound) || wholeCount > 0) throw error;
    }
  }
  return { wholeCount, writers, problems, names: namesIn(folder), codes: await ended };
}
