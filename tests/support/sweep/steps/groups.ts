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
      assertEquals(gpus.topology().links[1]?.[0]?.atomics, true);
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
  {
    name: "groups: after uploads that are under way, and disposed while they are busy",
    async run({ driver }) {
      using gpus = CudaDevice.openMany([0, 1], { driver, origins: "none" });
      using stack = new DisposableStack();
      const parts = gpus.map((gpu) => stack.use(gpu.zeros("float32", 2 << 20)));
      const ones = new Float32Array(2 << 20).fill(1);
      const uploads = Promise.allSettled(parts.map((part) => part.upload(ones)));
      {
        using group = await gpus.group();
        group.allReduce(parts);
      }
      for (const upload of await uploads) if (upload.status === "rejected") throw upload.reason;
      for (const part of parts) assertEquals(await part.at(-1), 2);
    },
  },
];
