// Runs one example about several devices with fresh names, which docs/several_gpus.md explains.

import { CudaDevice, type CudaStream, type DeviceBuffer } from "../../mod.ts";
import type { DeviceGroup, DeviceList } from "../../src/entries/group.ts";
import { exampleRunner, type RunExample } from "../support/example_runner.ts";

/** The names that an example can use without saying where they come from. */
interface GroupExampleNames {
  readonly gpus: DeviceList<CudaDevice>;
  readonly group: DeviceGroup;
  readonly parts: DeviceBuffer<"float32">[];
  readonly others: DeviceBuffer<"float32">[];
  readonly wholes: DeviceBuffer<"float32">[];
  readonly spares: DeviceBuffer<"float32">[];
  readonly streams: CudaStream[];
}

const LENGTH = 8;

// A line may name rank 1, which a machine with one GPU lacks.
const isReal = Deno.env.get("VRAMKIT_TEST_DRIVER") === "cuda" && CudaDevice.count() > 1;
const gpus = CudaDevice.all({ driver: isReal ? "cuda" : "simulated" });
const group = await gpus.group();

/** Runs the example of one row. */
export const runExample: RunExample<GroupExampleNames> = exampleRunner([...gpus], (stack) => {
  const make = (length: number) => gpus.map((gpu) => stack.use(gpu.zeros("float32", length)));
  const [parts, others] = [make(LENGTH), make(LENGTH)];
  const [wholes, spares] = [make(LENGTH * gpus.length), make(LENGTH * gpus.length)];
  const streams = gpus.map((gpu) => stack.use(gpu.createStream()));
  return { gpus, group, parts, others, wholes, spares, streams };
});
