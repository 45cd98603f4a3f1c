// 25 programs with a growable buffer of up to four steps of 2 MiB.

import { runSeeds, share } from "../support/random.ts";
import { withDevice } from "../support/with_device.ts";
import { GrowableProgram } from "./growable_program.ts";

const PROGRAM_COUNT = share(25);
const STEP_COUNT = 25;

Deno.test(`${PROGRAM_COUNT} programs with a growable buffer do what a plain array does`, () =>
  runSeeds(PROGRAM_COUNT, (run) => {
    return withDevice((gpu) => new GrowableProgram(gpu, run).run(STEP_COUNT));
  }));
