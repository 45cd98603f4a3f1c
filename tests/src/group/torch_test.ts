// Collective operations byte for byte beside torch.distributed, on the same GPUs: every call, operation
// and element type that both know, on random bits.

import { assertEquals } from "@std/assert";
import type { GpuBuffer } from "../../../src/buffers/gpu_buffer.ts";
import { CudaDevice } from "../../../src/device/device.ts";
import { type DType, elementBytes } from "../../../src/dtype.ts";
import type { Reduction } from "../../../src/group/element_types.ts";
import { ON_GPU } from "../../support/driver.ts";
import { freeAddress, RankProcess } from "../../support/group/rank_process.ts";
import { bitsOf, type GroupScene, withGroup } from "../../support/group_scene.ts";
import { PROJECT_ROOT } from "../../support/project_files.ts";
import { runPython, whyWithout } from "../../support/python.ts";
import { Random } from "../../support/random.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";
import { testUnless } from "../../support/test_unless.ts";

/** The types that torch.distributed sends to NCCL. */
const TYPES = [
  "int8",
  "uint8",
  "int32",
  "int64",
  "float16",
  "bfloat16",
  "float32",
  "float64",
] as const satisfies readonly DType[];

const OPERATIONS: Readonly<Record<Reduction, string>> = {
  sum: "sum",
  prod: "product",
  max: "max",
  min: "min",
  avg: "avg",
};

const REDUCTIONS = ["allReduce", "reduce", "reduceScatter"] as const;
const MOVES = ["broadcast", "allGather", "allToAll", "gather", "scatter", "sendRecv"] as const;

/** Elements of a part: odd, so that parts lie at odd places. */
const PART = 1001;

interface TorchCase {
  readonly id: string;
  readonly call: (typeof REDUCTIONS)[number] | (typeof MOVES)[number];
  readonly dtype: (typeof TYPES)[number];
  /** The operation as torch names it. */
  readonly op: string;
  readonly operation: Reduction;
  readonly root: number;
}

const reason = await whySkipped();

testUnless("DeviceGroup leaves the bytes that torch.distributed leaves", reason, async () => {
  const size = CudaDevice.count();
  const cases = casesFor(size);
  using folder = new TemporaryFolder();
  const inputs = new Map(cases.map((each) => [each.id, inputOf(each, size)]));
  for (const [id, ranks] of inputs) {
    for (const [rank, bytes] of ranks.entries()) {
      Deno.writeFileSync(`${folder.path}/${id}_${rank}.in`, bytes);
    }
  }
  folder.write("cases.json", JSON.stringify(cases));
  const program = new URL("tests/support/torch/collectives.py", PROJECT_ROOT).pathname;
  await runPython([program, folder.path]);
  await withGroup(size, async (scene) => {
    for (const each of cases) {
      using stack = new DisposableStack();
      const buffers = await perform(scene, stack, { ...each, inputs: inputs.get(each.id) ?? [] });
      for (const [rank, buffer] of buffers.entries()) {
        if (buffer === undefined) continue;
        const theirs = Deno.readFileSync(`${folder.path}/${each.id}_${rank}.out`);
        const ours = new Uint8Array(theirs.byteLength);
        await buffer.download(ours.buffer);
        assertEquals(ours.toHex() === theirs.toHex(), true, `${each.id} differs on rank ${rank}`);
      }
    }
  });
  await compareProcesses(folder.path, cases, size);
});

/** Does all cases with a process for each rank. */
async function compareProcesses(
  folder: string,
  cases: readonly TorchCase[],
  size: number,
): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const ranks = Array.from({ length: size }, () => stack.use(new RankProcess()));
  const rendezvous = freeAddress();
  await Promise.all(
    ranks.map((process, rank) => process.tell({ do: "join", rendezvous, rank, size })),
  );
  for (const each of cases) {
    const has = await Promise.all(
      ranks.map((process) => process.tell({ do: "case", folder, ...each })),
    );
    for (const rank of ranks.keys()) {
      if (!has[rank]) continue;
      const theirs = Deno.readFileSync(`${folder}/${each.id}_${rank}.out`);
      const ours = Deno.readFileSync(`${folder}/${each.id}_${rank}.mine`);
      const isSame = ours.toHex() === theirs.toHex();
      assertEquals(isSame, true, `${each.id} differs on rank ${rank}, a process of its own`);
    }
  }
  await Promise.all(ranks.map((process) => process.tell({ do: "dispose" })));
}

async function whySkipped(): Promise<string | undefined> {
  if (!ON_GPU) return "needs GPUs";
  if (CudaDevice.count() < 2) return "needs two GPUs";
  return await whyWithout(["torch"]);
}

function casesFor(size: number): TorchCase[] {
  return TYPES.flatMap((dtype, index) => {
    const root = index % size;
    const reductions = REDUCTIONS.flatMap((call) =>
      Object.entries(OPERATIONS).map(([operation, op]) => ({
        id: `${call}_${operation}_${dtype}`,
        ...{ call, dtype, op, operation: operation as Reduction, root },
      }))
    );
    const moves = MOVES.map((call) => ({
      id: `${call}_${dtype}`,
      ...{ call, dtype, op: "sum", operation: "sum" as const, root },
    }));
    return [...reductions, ...moves];
  });
}

/** Draws the elements of each rank: floats of many sizes, so that sums are rounded. */
function inputOf({ id, call, dtype }: TorchCase, size: number): Uint8Array<ArrayBuffer>[] {
  const random = new Random([...id].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), 7));
  const length = ["reduceScatter", "allToAll", "scatter"].includes(call) ? PART * size : PART;
  return Array.from({ length: size }, () => {
    const numbers = Array.from({ length }, () => {
      if (!dtype.includes("float")) return random.below(200) - (dtype === "uint8" ? 0 : 100);
      return (random.below(2000) - 1000) / 997 * 2 ** (random.below(9) - 4);
    });
    const bits = bitsOf(dtype, numbers);
    return new Uint8Array(bits.buffer as ArrayBuffer, 0, length * elementBytes(dtype));
  });
}

/** Does a case on the group; returns the buffers that hold its result, by rank. */
async function perform(
  { gpus, group }: GroupScene,
  stack: DisposableStack,
  given: TorchCase & { readonly inputs: readonly Uint8Array<ArrayBuffer>[] },
): Promise<readonly (GpuBuffer | undefined)[]> {
  const { call, dtype, operation: op, root } = given;
  const { size } = group;
  const buffers = await Promise.all(gpus.map(async (gpu, rank) => {
    const bytes = given.inputs[rank] ?? new Uint8Array();
    const buffer = stack.use(gpu.alloc(dtype, bytes.byteLength / elementBytes(dtype)));
    return await buffer.upload(bytes.slice().buffer);
  }));
  const make = (length: number) => gpus.map((gpu) => stack.use(gpu.zeros(dtype, length)));
  const onRoot = <T>(list: readonly T[]) =>
    list.map((each, rank) => rank === root ? each : undefined);
  const [first] = buffers;
  const target = buffers[root] ?? first;
  if (target === undefined) return [];
  if (call === "allReduce") await group.allReduce(buffers, { op });
  else if (call === "reduce") {
    await group.reduce(buffers, { op, root });
    return onRoot(buffers);
  } else if (call === "broadcast") await group.broadcast(buffers, { root });
  else if (call === "gather") {
    const wholes = make(PART * size);
    await group.gather(buffers, { into: wholes[root] ?? target });
    return onRoot(wholes);
  } else {
    const into = make(call === "allGather" || call === "allToAll" ? PART * size : PART);
    if (call === "allGather") await group.allGather(buffers, { into });
    else if (call === "reduceScatter") await group.reduceScatter(buffers, { op, into });
    else if (call === "allToAll") await group.allToAll(buffers, { into });
    else if (call === "scatter") await group.scatter(target, { into });
    else {
      await group.batch(() => {
        for (const [rank, buffer] of buffers.entries()) {
          group.send(buffer, { to: (rank + 1) % size });
        }
        for (const [rank, buffer] of into.entries()) {
          group.recv(buffer, { from: (rank + size - 1) % size });
        }
      });
    }
    return into;
  }
  return buffers;
}
