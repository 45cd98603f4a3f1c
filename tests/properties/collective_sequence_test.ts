// Random sequences of collective operations with 1 to 8 ranks, against plain lists. The simulated NCCL
// also throws when ranks do not fit together, and the driver when streams meet in no order.

import { assertEquals } from "@std/assert";
import { CudaDevice } from "../../src/device/device.ts";
import { IN_SANITIZER, ON_GPU } from "../support/driver.ts";
import { asOneGroup } from "../support/group/as_one_group.ts";
import { join, openRank } from "../support/group/joined_ranks.ts";
import { freeAddress } from "../support/group/rank_process.ts";
import {
  checkNothingLeftOn,
  driverFor,
  GROUP_SIZES,
  testWithNccl,
} from "../support/group_scene.ts";
import { runSeeds, share, shareOf } from "../support/random.ts";
import { liveNames } from "../support/with_device.ts";
import { CollectiveSequence } from "./collective_sequence.ts";

const SIZES = ON_GPU ? GROUP_SIZES : [1, 2, 3, 4, 5, 6, 7, 8];
const SEQUENCE_COUNT = share(IN_SANITIZER ? 5 : 40);
const STEP_COUNT = 30;

for (const size of shareOf(SIZES, { least: 2 })) {
  testWithNccl(`DeviceGroup does on ${size} ranks what lists do, in any sequence`, async () => {
    const ordinals = Array.from({ length: size }, (_, rank) => rank);
    using gpus = CudaDevice.openMany(ordinals, { driver: driverFor(size) });
    await checkNothingLeftOn(gpus, async () => {
      using stack = new DisposableStack();
      const others = [0, 1].map(() => gpus.map((gpu) => stack.use(gpu.createStream())));
      const streams = [gpus.map((gpu) => gpu.stream), ...others];
      await using group = await gpus.group();
      const machine = { gpus: [...gpus], group, streams };
      await runSeeds(
        SEQUENCE_COUNT,
        ({ random }) => new CollectiveSequence(random, machine).run(STEP_COUNT),
      );
    });
  });
}

for (const size of shareOf([1, 2, 3, 5], { least: 1 })) {
  Deno.test(`joinGroup() does on ${size} ranks what lists do, in any sequence`, {
    ignore: ON_GPU,
  }, async () => {
    using stack = new DisposableStack();
    const gpus = Array.from({ length: size }, (_, rank) => stack.use(openRank(rank)));
    const rendezvous = freeAddress();
    const groups = await Promise.all(
      gpus.map((device, rank) => join({ rendezvous, rank, size, device })),
    );
    {
      using others = new DisposableStack();
      const made = [0, 1].map(() => gpus.map((gpu) => others.use(gpu.createStream())));
      const streams = [gpus.map((gpu) => gpu.stream), ...made];
      const machine = { gpus, group: asOneGroup(groups), streams };
      await runSeeds(
        SEQUENCE_COUNT / 8,
        ({ random }) => new CollectiveSequence(random, machine).run(STEP_COUNT),
      );
    }
    await Promise.all(groups.map((group) => group[Symbol.asyncDispose]()));
    for (const gpu of gpus) {
      await gpu.synchronize();
      assertEquals(liveNames(gpu), []);
    }
  });
}
