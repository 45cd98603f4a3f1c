// Races of kernels, which name their memory only when they run: noticed in whatever order the host
// waits, as those of copies and fills are, and not where events, streams or waits give an order.

import { assertEquals, assertThrows } from "@std/assert";
import { type SimulatedKernel, SimulationError } from "../../../ffi/simulated/driver.ts";
import { SimulatedGpu } from "../../support/simulated_gpu.ts";

/** Fills 4 bytes at the address that is its only parameter. */
const fillFour: SimulatedKernel = {
  parameterBytes: [8],
  run(launch) {
    launch.write(launch.parameters[0]?.getBigUint64(0, true) ?? 0n, new Uint8Array(4).fill(7));
  },
};

/** Two streams over one block, and work for them. */
class Scene {
  readonly gpu = new SimulatedGpu({ kernels: { fillFour } });
  readonly block = this.gpu.alloc(4);
  readonly streams = [this.gpu.stream(), this.gpu.stream()] as const;
  readonly #kernel = this.gpu.load("fillFour").kernel;

  constructor() {
    this.gpu.write(this.block, new Uint8Array(4));
  }

  give(work: "kernel" | "fill", stream: bigint): void {
    const { api } = this.gpu;
    if (work === "fill") return assertEquals(api.cuMemsetD8Async(this.block, 1, 4n, stream), 0);
    const value = new BigUint64Array([this.block]);
    const parameters = BigUint64Array.of(Deno.UnsafePointer.value(Deno.UnsafePointer.of(value)));
    const shape = [1, 1, 1, 1, 1, 1, 0] as const;
    assertEquals(api.cuLaunchKernel(this.#kernel, ...shape, stream, parameters, null), 0);
  }

  wait(stream: bigint): void {
    assertEquals(this.gpu.api.cuStreamSynchronize(stream), 0);
  }

  follow(stream: bigint, other: bigint): void {
    const event = this.gpu.event();
    assertEquals(this.gpu.api.cuEventRecord(event, other), 0);
    assertEquals(this.gpu.api.cuStreamWaitEvent(stream, event, 0), 0);
  }
}

const PAIRS = [["kernel", "kernel"], ["kernel", "fill"], ["fill", "kernel"]] as const;

for (const [earlier, later] of PAIRS) {
  for (const order of ["the first stream", "the second stream", "the context"]) {
    Deno.test(`cuLaunchKernel() is noticed when a ${earlier} and a ${later} race and the host waits for ${order} first`, () => {
      const scene = new Scene();
      const [first, second] = scene.streams;
      assertThrows(
        () => {
          scene.give(earlier, first);
          scene.give(later, second);
          if (order === "the first stream") scene.wait(first);
          if (order === "the second stream") scene.wait(second);
          scene.gpu.api.cuCtxSynchronize();
        },
        SimulationError,
        "race",
      );
    });
  }

  Deno.test(`cuLaunchKernel() lets a ${earlier} and a ${later} pass behind an event`, () => {
    const scene = new Scene();
    const [first, second] = scene.streams;
    scene.give(earlier, first);
    scene.follow(second, first);
    scene.give(later, second);
    scene.wait(second);
    scene.wait(first);
  });

  Deno.test(`cuLaunchKernel() lets a ${earlier} and a ${later} pass behind a wait of the host`, () => {
    const scene = new Scene();
    const [first, second] = scene.streams;
    scene.give(earlier, first);
    scene.wait(first);
    scene.give(later, second);
    scene.wait(second);
  });
}
