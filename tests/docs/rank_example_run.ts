// Runs one example of a group of several processes with fresh names, in each process at the same time, and
// fails when it leaves anything allocated. The environment says which rank this process has.

import { CudaDevice, type CudaStream, type DeviceBuffer } from "../../mod.ts";
import { type DeviceGroup, joinGroup } from "../../src/entries/group.ts";

/** What an example can use without saying where it comes from; the page explains it. */
export interface RankExampleNames {
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
export async function runRankExample(
  row: string,
  body: (names: RankExampleNames) => unknown,
): Promise<void> {
  const rendezvous = `file:${folder}/${rowCount++}`;
  await group.barrier(); // all processes are at the same row
  const before = leftovers();
  try {
    using stack = new DisposableStack();
    const make = (length: number) => stack.use(gpu.zeros("float32", length));
    const [x, y, whole, spare] = [LENGTH, LENGTH, LENGTH * size, LENGTH * size].map(make);
    const stream = stack.use(gpu.createStream());
    if (!x || !y || !whole || !spare) throw new Error("an example has no buffers");
    const names = { gpu, rank, size, group, rendezvous, token, x, y, whole, spare, stream };
    await body(names);
  } catch (cause) {
    throw new Error(`The example of ${row} failed on rank ${rank}`, { cause });
  }
  await gpu.synchronize();
  const left = leftovers().filter((name) => !before.includes(name));
  if (left.length > 0) throw new Error(`The example of ${row} leaves ${left.join(", ")}`);
}

function leftovers(): string[] {
  return [...gpu.live()].map(({ name }) => name);
}
