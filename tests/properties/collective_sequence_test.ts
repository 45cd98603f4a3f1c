// Random sequences of collective operations with 1 to 8 ranks, against plain lists. The simulated NCCL
// also throws when ranks do not fit together, and the driver when streams meet in no order.

import { CudaDevice } from "../../src/device/device.ts";
import { IN_SANITIZER, ON_GPU } from "../support/driver.ts";
import {
  checkNothingLeftOn,
  driverFor,
  GROUP_SIZES,
  testWithNccl,
} from "../support/group_scene.ts";
import { Random, testSeed } from "../support/random.ts";
import { CollectiveSequence } from "./collective_sequence.ts";

const SIZES = ON_GPU ? GROUP_SIZES : [1, 2, 3, 4, 5, 6, 7, 8];
const SEQUENCE_COUNT = IN_SANITIZER ? 5 : 40;
const STEP_COUNT = 30;

for (const size of SIZES) {
  testWithNccl(
    `DeviceGroup does on ${size} ranks what plain lists do, in any sequence`,
    async () => {
      const seed = testSeed();
      console.log(`seed ${seed}; run it again with VRAMKIT_TEST_SEED=${seed}`);
      const ordinals = Array.from({ length: size }, (_, rank) => rank);
      using gpus = CudaDevice.openMany(ordinals, { driver: driverFor(size) });
      await checkNothingLeftOn(gpus, async () => {
        using stack = new DisposableStack();
        const others = [0, 1].map(() => gpus.map((gpu) => stack.use(gpu.createStream())));
        const streams = [gpus.map((gpu) => gpu.stream), ...others];
        await using group = await gpus.group();
        for (let index = 0; index < SEQUENCE_COUNT; index++) {
          const machine = { gpus: [...gpus], group, streams };
          try {
            await new CollectiveSequence(new Random(seed + index), machine).run(STEP_COUNT);
          } catch (cause) {
            throw new Error(`sequence ${index} of seed ${seed} went wrong`, { cause });
          }
        }
      });
    },
  );
}
