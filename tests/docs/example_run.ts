// Runs one example with fresh names, which docs/README.md explains.

import { CudaDevice, type CudaStream, type DeviceBuffer } from "../../mod.ts";
import { exampleRunner, type RunExample } from "../support/example_runner.ts";

/** The names that an example can use without saying where they come from. */
interface ExampleNames {
  readonly gpu: CudaDevice;
  readonly other: CudaDevice;
  readonly stream: CudaStream;
  readonly a: DeviceBuffer<"float32">;
  readonly b: DeviceBuffer<"float32">;
  readonly values: Float32Array<ArrayBuffer>;
  readonly ptr: bigint;
}

const driver = Deno.env.get("VRAMKIT_TEST_DRIVER") === "cuda" ? "cuda" : "simulated";
const gpu = CudaDevice.open(0, { driver });
const other = CudaDevice.count({ driver }) > 1 ? CudaDevice.open(1, { driver }) : gpu;

/** Runs the example of one row. */
export const runExample: RunExample<ExampleNames> = exampleRunner([gpu, other], (stack) => {
  const stream = stack.use(gpu.createStream());
  const [a, b] = [stack.use(gpu.zeros("float32", 8)), stack.use(gpu.zeros("float32", 8))];
  const { ptr } = stack.use(gpu.zeros("uint8", 32));
  return { gpu, other, stream, a, b, values: new Float32Array([1, 2, 3, 4, 5, 6, 7, 8]), ptr };
});
