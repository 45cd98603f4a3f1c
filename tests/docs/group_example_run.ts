// Runs one example about several devices with fresh names, and fails when it leaves anything allocated.

import { CudaDevice, type CudaStream, type DeviceBuffer } from "../../mod.ts";
import type { DeviceGroup, DeviceList } from "../../src/entries/group.ts";

/** What an example can use without saying where it comes from; docs/several_gpus.md explains it. */
export interface GroupExampleNames {
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
export async function runGroupExample(
  row: string,
  body: (names: GroupExampleNames) => unknown,
): Promise<void> {
  const before = leftovers();
  try {
    using stack = new DisposableStack();
    const make = (length: number) => gpus.map((gpu) => stack.use(gpu.zeros("float32", length)));
    const [parts, others] = [make(LENGTH), make(LENGTH)];
    const [wholes, spares] = [make(LENGTH * gpus.length), make(LENGTH * gpus.length)];
    const streams = gpus.map((gpu) => stack.use(gpu.createStream()));
    await body({ gpus, group, parts, others, wholes, spares, streams });
  } catch (cause) {
    throw new Error(`The example of ${row} failed`, { cause });
  }
  const left = leftovers().filter((name) => !before.includes(name));
  if (left.length > 0) throw new Error(`The example of ${row} leaves ${left.join(", ")}`);
}

function leftovers(): string[] {
  return gpus.map((gpu) => [...gpu.live()].map(({ name }) => name)).flat();
}
