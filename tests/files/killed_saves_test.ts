// Programs that are killed while they save: the model is the old one or a new one, never half of one.
// `deno task test:long` kills 200 of them.

import { assertEquals } from "@std/assert";
import { runDeno } from "../support/child_deno.ts";
import { PROJECT_ROOT } from "../support/project_files.ts";
import { IS_WHOLE, share, testRandom } from "../support/random.ts";
import { killSaves, SIGNALS } from "../support/saving/killed_saves.ts";
import { raceSaves } from "../support/saving/raced_saves.ts";
import { takingTurns, testOnLinux } from "../support/test_unless.ts";

/** Kills by each signal. */
const KILLS = IS_WHOLE ? 2 : 1;

takingTurns(testOnLinux)(
  "saveSafetensors() leaves a whole model whenever it is killed",
  async () => {
    const { problems, strays } = await killSaves(KILLS * SIGNALS.length, testRandom());
    assertEquals({ problems, strays }, { problems: [], strays: [] });
  },
);

takingTurns(testOnLinux)(
  "saveSafetensors() of two programs to one file leaves a whole model at all times",
  async () => {
    const { problems, names, codes } = await raceSaves({ rounds: share(40) });
    const expected = { problems: [], names: ["folder", "model.safetensors"], codes: [0, 0] };
    assertEquals({ problems, names, codes }, expected);
  },
);

takingTurns(testOnLinux)(
  "saveSafetensors() of a terminated worker keeps nobody waiting",
  async () => {
    const program = new URL("tests/support/saving/terminated_saver.ts", PROJECT_ROOT).pathname;
    const { code, stdout, stderr } = await runDeno(["run", "-A", "--quiet", program]);
    assertEquals([code, stderr], [0, ""]);
    assertEquals(JSON.parse(stdout), { files: ["model.safetensors"], tensors: ["small"] });
  },
);
