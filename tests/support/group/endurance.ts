// The long run of what tests/src/group/ does briefly: processes that join a group, reduce and leave it, many
// times, with the memory of the devices and of the processes watched: `deno run -A endurance.ts [COUNT
// [SECONDS]]`. Two H200s take 0.84 seconds for each: 0.05 to start, 0.15 to connect with the first call, and
// half a second in which NCCL waits for a thread of its own at the end.

import { CudaDevice, formatBytes } from "../../../mod.ts";
import { ON_GPU } from "../driver.ts";
import { freeAddress, RankProcess } from "./rank_process.ts";

/** Groups before the first look: NCCL and the driver keep what they took once. */
const WARM_COUNT = 10;

/** The memory that all groups may keep after that: a leak of a group is at least a page of each of them. */
const MAX_DEVICE_BYTES = 32 * 2 ** 20;
const MAX_HOST_BYTES = 64 * 2 ** 20;

/** The free device memory and the resident host memory after so many groups, by rank. */
interface Look {
  readonly count: number;
  readonly free: number[];
  readonly resident: number[];
}

const count = Number(Deno.args[0] ?? 100);
const size = ON_GPU ? Math.min(CudaDevice.count(), 4) : 3;
await using stack = new AsyncDisposableStack();
const ranks = Array.from({ length: size }, () => stack.use(new RankProcess()));
const rendezvous = freeAddress();
const looks: Look[] = [];
/** The time after which no further group is made. */
const SECONDS = Number(Deno.args[1] ?? 600);
const start = performance.now();
for (let made = 0; made <= count; made++) {
  const isLast = made === count || performance.now() - start > 1000 * SECONDS;
  if (made >= WARM_COUNT && (made % 10 === 0 || isLast)) looks.push(await look(made));
  if (isLast) break;
  await Promise.all(
    ranks.map((process, rank) => process.tell({ do: "join", rendezvous, rank, size })),
  );
  const sums = await Promise.all(
    ranks.map((process, rank) => process.tell({ do: "reduce", length: 1000, value: rank + 1 })),
  );
  if (!sums.every((sum) => sum === size * (size + 1) / 2)) {
    throw new Error(`group ${made}: ${sums}`);
  }
  await Promise.all(ranks.map((process) => process.tell({ do: "end" })));
  await Promise.all(ranks.map((process) => process.tell({ do: "awaitEnds" })));
}
const seconds = (performance.now() - start) / 1000;
const [first, last] = [looks[0], looks.at(-1)];
const device = mostOf(last?.free, first?.free);
const host = mostOf(first?.resident, last?.resident);
console.log(
  `${last?.count} groups of ${size} processes in ${seconds.toFixed(1)} s; since the first look ` +
    `at most ${device} bytes of a device and ${host} of a process`,
);
if (device > MAX_DEVICE_BYTES || host > MAX_HOST_BYTES) Deno.exit(1);

async function look(made: number): Promise<Look> {
  const free = await Promise.all(ranks.map((process) => process.tell<number>({ do: "free" })));
  const resident = ranks.map(({ pid }) => {
    const [, pages = "0"] = Deno.readTextFileSync(`/proc/${pid}/statm`).split(" ");
    return Number(pages) * 4096;
  });
  console.log(
    `${made} groups: free on the devices ${free.map((bytes) => formatBytes(bytes)).join(", ")}; ` +
      `in the processes ${resident.map((bytes) => formatBytes(bytes)).join(", ")}`,
  );
  return { count: made, free, resident };
}

function mostOf(before: number[] = [], after: number[] = []): number {
  return Math.max(...before.map((bytes, rank) => (after[rank] ?? 0) - bytes));
}
