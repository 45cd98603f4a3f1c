// One rank of the collectives bench, in a process of its own: `deno run -A collectives_rank.ts PLAN`. Rank 0
// prints seconds for each call and size, as the bench itself measures them.

import { CudaDevice } from "../mod.ts";
import { joinGroup } from "../src/entries/group.ts";
import { measureCalls, type RankPlan } from "./collective_calls.ts";

const { rendezvous, rank, size, isSimulated, ...plan }: RankPlan = JSON.parse(Deno.args[0] ?? "{}");
using gpu = CudaDevice.open(rank, { driver: isSimulated ? "simulated" : "cuda" });
const token = "the token of this bench";
await using group = await joinGroup({ rendezvous, rank, size, token, device: gpu });
const found = await measureCalls(group, [gpu], plan);
if (rank === 0) console.log(JSON.stringify(found));
