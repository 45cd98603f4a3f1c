// Runs one example with fresh names, and fails when the example leaves anything allocated.

import { CudaDevice, type CudaStream, type DeviceBuffer } from "../../mod.ts";

/** What an example can use without saying where it comes from; docs/README.md explains it. */
export interface ExampleNames {
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
export async function runExample(
  row: string,
  body: (names: ExampleNames) => unknown,
): Promise<void> {
  try {
    using stream = gpu.createStream();
    using a = gpu.zeros("float32", 8);
    using b = gpu.zeros("float32", 8);
    using foreign = gpu.zeros("uint8", 32);
    const values = new Float32Array([1, 2, 3, 4, 5, 6, 7, 8]);
    await body({ gpu, other, stream, a, b, values, ptr: foreign.ptr });
  } catch (cause) {
    throw new Error(`The example of ${row} failed`, { cause });
  }
  const left = [...gpu.live(), ...other.live()].map(({ name }) => name);
  if (left.length > 0) throw new Error(`The example of ${row} leaves ${left.join(", ")}`);
}
