// 100 programs with arrays that are spread over one to five devices, large ones through slots of 4 KiB.

import { GROUP_SIZES } from "../support/group_scene.ts";
import { SMALL_SLOTS, withDevices } from "../support/parts_scene.ts";
import { runSeeds, share } from "../support/random.ts";
import { SpreadProgram } from "./spread_program.ts";

const PROGRAM_COUNT = share(100);
const STEP_COUNT = 20;

Deno.test(`${PROGRAM_COUNT} programs with spread arrays do what plain arrays do, and leave nothing`, () =>
  runSeeds(PROGRAM_COUNT, (run) => {
    const count = run.random.pick(GROUP_SIZES) ?? 1;
    const body = (gpus: Parameters<Parameters<typeof withDevices>[1]>[0]) =>
      new SpreadProgram(gpus, run).run(STEP_COUNT);
    return withDevices(count, body, { limits: SMALL_SLOTS });
  }));
