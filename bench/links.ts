// How fast does an array, or a model, reach several GPUs at once, beside one of them alone, beside what the
// links carry and what the host's memory allows?
// `deno task bench links [--largest BYTES] [--out FILE] [--only host,links,upload,download,model]`.

import { join } from "node:path";
import { CudaDevice } from "../mod.ts";
import type { DeviceParts, LinkCase, PlacementRule } from "../src/entries/group.ts";
import { fillPattern } from "../src/measure/pattern.ts";
import { engineOf } from "../src/transfer/context_engine.ts";
import { hostLimits } from "./peers/host_limits.ts";
import { type BenchRow, median, type Reference, report } from "./result_file.ts";
import { readFlags, SEED, verify } from "./transfer/bench_run.ts";

const SAMPLE_COUNT = 5;
/** Transfers before anything but the first is timed. */
const WARM_COUNT = 20;
const COLUMNS = 4096;
const TENSOR_COUNT = 64;

/** The cases that arrays are compared with. */
const CEILINGS: LinkCase[] = ["host_to_all_memcpy_ce", "all_to_host_memcpy_ce"];

/** The result of nvbandwidth 0.8 between two H200s over 18 NVLinks, one way. */
const NVBANDWIDTH_PEER = 394;

const { largestBytes: byteLength, out, only } = await readFlags({ largestBytes: 4 * 2 ** 30 });
using gpus = CudaDevice.all({ driver: "auto" });
const [first] = gpus;
if (first === undefined) throw new Error("Cannot measure links: there is no device");
console.log(Deno.inspect(gpus.topology()));
const shape = [byteLength / COLUMNS, COLUMNS];
const rows: BenchRow[] = [];
const array = new Uint8Array(byteLength);
fillPattern(array, SEED);

const chains = await hostRows();
const ceilings = await linkRows();
const parts = { upload: uploadRows, download: downloadRows, model: modelRows };
for (const [name, part] of Object.entries(parts)) {
  if (!isWanted(name)) continue;
  await part();
  await report(first, rows, out); // what is found is kept, whatever comes of the rest
}

function isWanted(part: string): boolean {
  return only === undefined || only.includes(part);
}

/** The host itself, and the same chain of copies as the kit's in C++: what the host allows. */
async function hostRows(): Promise<Record<"up" | "down", Reference | undefined>> {
  const limits = await hostLimits({
    byteLength: Math.min(byteLength, 2 ** 31),
    kind: first?.isSimulated === true ? "host" : isWanted("host") ? "all" : "chains",
  });
  for (const { name, threads, value, samples } of limits) {
    rows.push({ name: `C++: ${name}, ${threads} threads`, value, unit: "GB/s", samples });
  }
  const chain = (way: "up" | "down") => {
    const found = limits.find(({ name }) => name === `a chain ${way} in C++`);
    return found && {
      name: `C++ through page-locked slots, ${found.threads} threads`,
      value: found.value,
    };
  };
  return { up: chain("up"), down: chain("down") };
}

/** The links themselves, from page-locked memory and between the devices. */
async function linkRows(): Promise<{ readonly up: number; readonly down: number }> {
  const caseSize = Math.min(byteLength, 512 * 2 ** 20);
  const { cases } = await gpus.bandwidth({
    caseSize,
    ...isWanted("links") ? {} : { cases: CEILINGS },
  });
  const sums = new Map<LinkCase, number>();
  for (const { name, gigabytesPerSecond: value, matrix } of cases) {
    sums.set(name, value);
    const isPeer = /^device_to_device_memcpy/.test(name) && gpus.length > 1;
    const way = matrix.flat().find((speed) => speed !== null) ?? 0;
    rows.push({ name: `${name}, sum`, value, unit: "GB/s" });
    if (!isPeer) continue;
    rows.push({
      name: `${name}, one way`,
      value: way,
      unit: "GB/s",
      reference: { name: "nvbandwidth 0.8 on two H200s", value: NVBANDWIDTH_PEER },
      promise: { text: "at least 0.95 of nvbandwidth", holds: way >= 0.95 * NVBANDWIDTH_PEER },
    });
  }
  return {
    up: sums.get("host_to_all_memcpy_ce") ?? NaN,
    down: sums.get("all_to_host_memcpy_ce") ?? NaN,
  };
}

async function uploadRows(): Promise<void> {
  {
    using parts = await gpus.upload(array.subarray(0, 1024 * gpus.length));
    await speedRow("first scatter upload of the program", async () => {
      using _made = await gpus.upload(array, { shape });
    }, { ceiling: ceilings.up, count: 1 });
    void parts;
  }
  await runLanes();
  using one = first?.alloc("uint8", shape);
  for (let warm = 0; warm < WARM_COUNT; warm++) await one?.upload(array);
  await speedRow("upload to one device", () => one?.upload(array), { ceiling: ceilings.up });
  one?.dispose();
  for (const split of [0, 1] as const) {
    using parts = await gpus.upload(array, { shape, split });
    for (let warm = 0; warm < 3; warm++) await parts.upload(array);
    const what = split === 0 ? "scatter upload of rows" : "scatter upload of columns";
    await speedRow(what, () => parts.upload(array), {
      ceiling: ceilings.up,
      ...(split === 0 ? { share: 0.9, chain: chains.up } : {}),
    });
    await check(parts, what);
  }
  using whole = await gpus.upload(array, { split: "replicate" });
  await speedRow(
    `the whole to each, by ${whole.replicatedBy}`,
    () => whole.upload(array),
    { ceiling: ceilings.up },
  );
  await check(whole, "the whole to each");
  await speedRow(
    "the whole to each, by uploads",
    () => Promise.all(whole.buffers.map((buffer) => buffer.upload(array))),
    { ceiling: ceilings.up },
  );
}

/** Waits until the threads run that a program which goes on has: but for the first, no row is without. */
async function runLanes(): Promise<void> {
  await Promise.all(gpus.map(({ context }) => engineOf(context).runLanes()));
}

async function downloadRows(): Promise<void> {
  await runLanes();
  for (const split of [0, 1] as const) {
    using parts = await gpus.upload(array, { shape, split });
    const what = split === 0 ? "rows" : "columns";
    const used = new Uint8Array(byteLength).fill(1);
    await parts.download(used);
    await speedRow(`download of ${what} into a used array`, () => parts.download(used), {
      ceiling: ceilings.down,
      ...(split === 0 ? { share: 0.9, chain: chains.down } : {}),
    });
    verify(used, "download()");
    await speedRow(`download of ${what} into a new array`, () => parts.download(), {
      ceiling: ceilings.down,
      count: 2,
    });
  }
  using one = await first?.upload(array);
  const used = new Uint8Array(byteLength).fill(1);
  await one?.download(used);
  await speedRow("download from one device into a used array", () => one?.download(used), {
    ceiling: ceilings.down,
  });
}

/** A model of matrices that are split by rows, by columns, or not at all. */
async function modelRows(): Promise<void> {
  await runLanes();
  const folder = await Deno.makeTempDir({ prefix: "vramkit-bench-" });
  try {
    const path = join(folder, "model.safetensors");
    {
      const rowCount = Math.floor(byteLength / TENSOR_COUNT / COLUMNS);
      using stack = new DisposableStack();
      const tensors: Record<string, ReturnType<CudaDevice["alloc"]>> = {};
      for (let at = 0; at < TENSOR_COUNT && first !== undefined; at++) {
        const tensor = stack.use(first.alloc("uint8", [rowCount, COLUMNS]));
        await tensor.upload(array.subarray(0, tensor.byteLength));
        tensors[`${at}.${["up", "down", "up", "norm"][at % 4]}`] = tensor;
      }
      await first?.saveSafetensors(path, tensors as never);
    }
    const bytes = (await Deno.stat(path)).size;
    await speedRow("safetensors to one device", async () => {
      using _model = await first?.loadSafetensors(path);
    }, { ceiling: ceilings.up, bytes });
    const splits: Record<string, PlacementRule[]> = {
      "by rows": [[/./, { split: 0 }]],
      "by columns": [[/./, { split: 1 }]],
      "whole on each": [[/./, "replicate"]],
      "half by rows, a quarter by columns, a quarter whole": [
        [/up/, { split: 0 }],
        [/down/, { split: 1 }],
        [/norm/, "replicate"],
      ],
    };
    for (const [how, place] of Object.entries(splits)) {
      await speedRow(`safetensors to all, ${how}`, async () => {
        using _model = await gpus.loadSafetensors(path, { place });
      }, { ceiling: ceilings.up, bytes });
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function speedRow(
  name: string,
  run: () => unknown,
  { ceiling, share = 0, chain, count = SAMPLE_COUNT, bytes = byteLength }: {
    readonly ceiling: number;
    readonly share?: number;
    /** The limit of the host, where it is less than the links carry. */
    readonly chain?: Reference | undefined;
    readonly count?: number;
    readonly bytes?: number;
  },
): Promise<void> {
  const samples: number[] = [];
  for (let sample = 0; sample < count; sample++) {
    const start = performance.now();
    await run();
    samples.push(bytes / (performance.now() - start) / 1e6);
  }
  const value = median(samples);
  const links = { name: "all links at once, page-locked", value: ceiling };
  const isHostLess = chain !== undefined && chain.value < ceiling;
  const reference = isHostLess ? chain : links;
  const row = { name, value, unit: "GB/s" as const, samples, reference };
  console.log(name, samples.map((speed) => speed.toFixed(1)).join(" "));
  rows.push(
    share === 0 ? row : {
      ...row,
      promise: {
        text: `at least ${share} of all links until the host limits`,
        holds: value >= share * reference.value,
      },
    },
  );
}

async function check(parts: DeviceParts<"uint8">, what: string): Promise<void> {
  verify(await parts.download(new Uint8Array(byteLength)), what);
}
