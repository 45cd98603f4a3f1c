// Runs one example of a group of several processes with fresh names, in each process at the same time.
// The environment says which rank this process has.

import { CudaDevice, type CudaStream, type DeviceBuffer } from "../../mod.ts";
import { type DeviceGroup, joinGroup } from "../../src/entries/group.ts";
import { exampleRunner, type RunExample } from "../support/example_runner.ts";

/** The names that an example can use without saying where they come from; the page explains them. */
interface RankExampleNames {
  readonly gpu: CudaDevice;
  readonly rank: number;
  readonly size: number;
  readonly group: DeviceGroup;
  readonly rendezvous: string;
  readonly token: string;
  readonly x: DeviceBuffer<"float32">;
  readonly y: DeviceBuffer<"float32">;
  readonly whole: DeviceBuffer<"float32">;
  readonly spare: DeviceBuffer<"float32">;
  readonly stream: CudaStream;
}

const LENGTH = 8;

const rank = Number(Deno.env.get("RANK"));
const size = Number(Deno.env.get("WORLD_SIZE"));
const folder = Deno.env.get("EXAMPLE_FOLDER") ?? "";
const token = "the secret of these examples";
const isReal = Deno.env.get("VRAMKIT_TEST_DRIVER") === "cuda" && CudaDevice.count() >= size;
const gpu = CudaDevice.open(rank, { driver: isReal ? "cuda" : "simulated" });
const group = await joinGroup({ rendezvous: `file:${folder}/all`, rank, size, device: gpu });
let rowCount = 0;

/** Runs the example of one row. */
export const runExample: RunExample<RankExampleNames> = exampleRunner([gpu], async (stack) => {
  const rendezvous = `file:${folder}/${rowCount++}`;
  await group.barrier(); // all processes are at the same row
  const make = (length: number) => stack.use(gpu.zeros("float32", length));
  const [x, y] = [make(LENGTH), make(LENGTH)];
  const [whole, spare] = [make(LENGTH * size), make(LENGTH * size)];
  const stream = stack.use(gpu.createStream());
  return { gpu, rank, size, group, rendezvous, token, x, y, whole, spare, stream };
});
