// 2,000 random copies and fills between strided layouts against element-by-element work.

import { assertGreater, assertGreaterOrEqual } from "@std/assert";
import { IN_SANITIZER } from "../support/driver.ts";
import { IS_WHOLE, runSeeds, share } from "../support/random.ts";
import { testOnDevice } from "../support/with_device.ts";
import { checkStridedWork, type Outcome } from "./strided_work.ts";

const WORK_COUNT = share(IN_SANITIZER ? 500 : 2000);

testOnDevice("StridedView copies and fills what work on single elements does", async (gpu) => {
  const outcomes = new Map<Outcome, number>();
  await runSeeds(WORK_COUNT, async ({ random }) => {
    const outcome = await checkStridedWork(gpu, random);
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  });
  // The rarest outcome may be missing in a part.
  assertGreaterOrEqual(outcomes.size, IS_WHOLE ? 4 : 3, "every outcome came up");
  assertGreater(outcomes.get("copied") ?? 0, WORK_COUNT / 4);
});
