// One rank of the collectives bench, in a process of its own: `deno run -A collectives_rank.ts PLAN`. Rank 0
// prints seconds for each call and size, as the bench itself measures them.

import { CudaDevice } from "../mod.ts";
import { joinGroup } from "../src/entries/group.ts";
import { type Call, callOn, type RankPlan } from "./collective_calls.ts";

const { rendezvous, rank, size, isSimulated, calls, sizes, samples: sampleCount, waits }: RankPlan =
  JSON
    .parse(Deno.args[0] ?? "{}");
using gpu = CudaDevice.open(rank, { driver: isSimulated ? "simulated" : "cuda" });
const token = "the token of this bench";
await using group = await joinGroup({ rendezvous, rank, size, token, device: gpu });
const found = [];
for (const call of calls) {
  for (const [bytes, repeats] of sizes) found.push(await measure(call, bytes, repeats));
}
if (rank === 0) console.log(JSON.stringify(found));

async function measure(call: Call, bytes: number, repeats: number) {
  using stack = new DisposableStack();
  const make = (length: number) => [stack.use(gpu.zeros("float32", length))];
  const wholes = make(bytes / 4);
  const others = call === "allToAll" ? make(bytes / 4) : wholes;
  const parts = make(bytes / 4 / size);
  const perform = () => callOn(group, call, { wholes, others, parts });
  for (let warm = 0; warm < 5; warm++) await perform();
  const samples: number[] = [];
  const waited: number[] = [];
  for (let sample = 0; sample < sampleCount; sample++) {
    await group.barrier();
    void perform(); // those that are timed begin when all ranks are there
    using start = gpu.stream.record();
    for (let repeat = 0; repeat < repeats; repeat++) perform();
    using end = gpu.stream.record();
    await group.barrier();
    samples.push(end.secondsSince(start) / repeats);
    const began = performance.now();
    for (let wait = 0; wait < waits; wait++) await perform();
    waited.push((performance.now() - began) / 1000 / waits);
  }
  return { call, size: bytes, samples, waited };
}
