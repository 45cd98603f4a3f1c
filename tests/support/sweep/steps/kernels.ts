// Steps of the failure sweep: modules, launches, kernels in graphs, and the kit's own kernels.

import { assert, assertEquals } from "@std/assert";
import { IOTA_PTX } from "../../kernels/kernel_driver.ts";
import { changePtx } from "../../kernels/linked_ptx.ts";
import type { Step } from "../scene.ts";

/** Modules and launches. */
export const KERNEL_STEPS: readonly Step[] = [
  {
    name: "kernels: loaded, launched, asked about",
    async run({ gpu }) {
      using module = await gpu.loadModule(IOTA_PTX);
      const run = module.kernel("vramkit_iota_u32");
      using x = gpu.alloc("uint32", 8);
      using stream = gpu.createStream();
      run.launch({ grid: 1, block: 8, args: [x, 8, 1, 1] });
      run.launch({ grid: 1, block: 8, stream, sharedBytes: 60_000, args: [x, 8, 2, 1] });
      run.launch({ grid: 2, block: 4, cooperative: true, cluster: 2, args: [x, 8, 3, 1] });
      assert(gpu.occupancy(run).block > 0);
      assert(run.limits.registerCount > 0);
      assertEquals((await x.download())[7], 10);
    },
  },
  {
    name: "kernels: linked of two pieces",
    async run({ gpu }) {
      using module = await gpu.loadModule([IOTA_PTX, changePtx(2)], { label: "linked" });
      using x = gpu.alloc("uint32", 8);
      module.kernel("vramkit_iota_u32").launch({ grid: 1, block: 8, args: [x, 8, 1, 1] });
      assertEquals((await x.download())[7], 8);
    },
  },
  {
    name: "kernels: a variable that there is not",
    async run({ gpu }) {
      using module = await gpu.loadModule(IOTA_PTX);
      try {
        module.global("missing");
      } catch (error) {
        if (!(error instanceof TypeError)) throw error;
      }
    },
  },
  {
    name: "kernels: compiled, after an upload that is under way, in a graph",
    async run({ gpu }) {
      using run = await gpu.compile(`extern "C" __global__ void vramkit_iota_u32(
        unsigned *x, size_t count, size_t start, size_t step) {}`);
      using x = gpu.alloc("uint32", 1 << 20);
      const upload = x.upload(new Uint32Array(1 << 20));
      try {
        run.launch({ grid: 1, block: 8, args: [x, 4, 5, 1] });
      } finally {
        await Promise.allSettled([upload]);
      }
      await upload;
      using graph = gpu.capture(() => run.launch({ grid: 1, block: 8, args: [x, 4, 7, 1] }));
      run.dispose();
      graph.launch();
      assertEquals(x.subarray(0, 5).downloadSync(), Uint32Array.of(7, 8, 9, 10, 0));
    },
  },
];
