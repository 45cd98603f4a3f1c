// Steps of the failure sweep: several devices as one list, and groups of them.

import { assertEquals } from "@std/assert";
import { CudaDevice } from "../../../../src/device/device.ts";
import type { Step } from "../scene.ts";

/** Groups of two devices. */
export const GROUP_STEPS: readonly Step[] = [
  {
    name: "groups: on several streams, awaited and not",
    async run({ driver }) {
      using gpus = CudaDevice.openMany([0, 1], { driver, origins: "none" });
      using group = await gpus.group();
      using stack = new DisposableStack();
      const streams = gpus.map((gpu) => stack.use(gpu.createStream()));
      const parts = gpus.map((gpu) => stack.use(gpu.alloc("float32", 64)).fill(1));
      group.allReduce(parts, { streams });
      await group.barrier();
      group.broadcast(parts, { root: 1 });
      for (const part of parts) assertEquals((await part.download())[5], 2);
    },
  },
];
