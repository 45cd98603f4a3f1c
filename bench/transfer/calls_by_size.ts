// Times the calls that move ordinary arrays, by size, in a program that goes on; prints seconds as JSON. One
// version of the kit a process, so that benches compare versions and variants in turn:
// `deno run -A bench/transfer/calls_by_size.ts MOD [SIZES] [--driver]`. With `--driver` it also times the
// driver's own call into the same kind of array.

import { pathToFileURL } from "node:url";
import { resolve } from "node:path";
import type * as kit from "../../mod.ts";
import { parseBytes } from "../../src/words/format.ts";
import { median } from "../result_file.ts";

/** Seconds of a call, by its name and its number of bytes. */
export type CallTimes = Record<string, Record<number, number>>;

/** Times of one process. */
export interface CallRun {
  readonly device: string;
  readonly openSeconds: number;
  readonly times: CallTimes;
}

/** Sizes of the calls, 4 KiB to 1 GiB. */
export const SIZES: readonly number[] = [
  ...["4 KiB", "64 KiB", "256 KiB", "1 MiB", "4 MiB", "8 MiB", "16 MiB"],
  ...["32 MiB", "64 MiB", "256 MiB", "1 GiB"],
].map((size) => parseBytes(size, "size"));

/** Time for which a call is repeated, and the fewest times. */
const BLOCK_MILLISECONDS = 15;
const MIN_CALLS = 9;
const MIN_LARGE_CALLS = 3;
const MAX_CALLS = 400;
const LARGE_BYTES = 256 * 2 ** 20;

/** Calls that keep the threads awake before each block, as in a program that goes on. */
const WARM_BYTES = 64 * 2 ** 20;

/** Bytes of new arrays of a size before any block. */
const HEAP_BYTES = 96 * 2 ** 20;

if (import.meta.main) await run();

async function run(): Promise<void> {
  const [path = "mod.ts", list = ""] = Deno.args.filter((word) => !word.startsWith("--"));
  const { CudaDevice }: typeof kit = await import(pathToFileURL(resolve(path)).href);
  const start = performance.now();
  using gpu = CudaDevice.open(0, { driver: "auto" });
  const openSeconds = (performance.now() - start) / 1000;
  const sizes = list === "" ? SIZES : list.split(",").map(Number);
  const warm = new Uint8Array(WARM_BYTES).fill(1);
  using warmBuffer = gpu.zeros("uint8", WARM_BYTES);
  for (let call = 0; call < 60; call++) await warmBuffer.upload(warm);
  await new Promise((resolve) => setTimeout(resolve, 1200)); // until threads run
  // V8 frees arrays once there are some 100 MiB of them; until then each new one has new pages.
  for (const size of SIZES.slice(1, 7)) {
    using part = gpu.zeros("uint8", size);
    for (let moved = 0; moved < HEAP_BYTES; moved += 2 * size) {
      part.downloadSync();
      await part.download(new Uint8Array(size));
    }
  }
  const times: CallTimes = {};
  const hasDriver = Deno.args.includes("--driver");
  for (const size of sizes) {
    const source = new Uint8Array(size).fill(7);
    const used = new Uint8Array(size).fill(1);
    using buffer = gpu.zeros("uint8", size);
    await buffer.upload(source);
    const memory = { source, used, buffer };
    const calls = { ...hasDriver ? driverCallsOf(memory) : {}, ...callsOf(gpu, memory) };
    for (const [name, call] of Object.entries(calls)) {
      const isNew = name.endsWith("new buffer");
      if (size < LARGE_BYTES) {
        await secondsOf(call, { isNew, minCalls: MIN_CALLS, blockMilliseconds: 3 });
      }
      await warmBuffer.upload(warm);
      const minCalls = size < LARGE_BYTES ? MIN_CALLS : MIN_LARGE_CALLS;
      const blockMilliseconds = BLOCK_MILLISECONDS;
      (times[name] ??= {})[size] = await secondsOf(call, { isNew, minCalls, blockMilliseconds });
    }
    if (source[size - 1] !== used[size - 1]) throw new Error(`The bytes of ${size} are wrong`);
  }
  const found: CallRun = { device: gpu.name, openSeconds, times };
  console.log(JSON.stringify(found));
}

interface Memory {
  readonly source: Uint8Array<ArrayBuffer>;
  readonly used: Uint8Array<ArrayBuffer>;
  readonly buffer: kit.DeviceBuffer<"uint8">;
}

type Call = () => unknown;

function callsOf(gpu: kit.CudaDevice, { source, used, buffer }: Memory): Record<string, Call> {
  const size = source.byteLength;
  return {
    "upload, new buffer": () => gpu.upload(source),
    "uploadSync, new buffer": () => gpu.uploadSync(source),
    "upload": () => buffer.upload(source),
    "uploadSync": () => buffer.uploadSync(source),
    "download, used array": () => buffer.download(used),
    "downloadSync, used array": () => buffer.downloadSync(used),
    "download, new array": () => buffer.download(new Uint8Array(size)),
    "downloadSync, new array": () => buffer.downloadSync(new Uint8Array(size)),
    "download()": () => buffer.download(),
    "downloadSync()": () => buffer.downloadSync(),
  };
}

/** The driver's own calls, which block. */
function driverCallsOf({ source, used, buffer }: Memory): Record<string, Call> {
  const { context: { driver, defaultStreamHandle: stream }, ptr } = buffer;
  const size = BigInt(source.byteLength);
  const up = () => {
    driver.call("cuMemcpyHtoDAsync_v2", ptr, source, size, stream);
    driver.call("cuStreamSynchronize", stream);
  };
  const down = (array: Uint8Array<ArrayBuffer>) => {
    driver.call("cuMemcpyDtoHAsync_v2", array, ptr, size, stream);
    driver.call("cuStreamSynchronize", stream);
  };
  return {
    "driver up": up,
    "driver down, used array": () => down(used),
    "driver down, new array": () => down(new Uint8Array(source.byteLength)),
  };
}

/** The median of the calls of one block; buffers are disposed outside the time. */
async function secondsOf(
  call: Call,
  { isNew, minCalls, blockMilliseconds }: {
    readonly isNew: boolean;
    readonly minCalls: number;
    readonly blockMilliseconds: number;
  },
): Promise<number> {
  const seconds: number[] = [];
  const end = performance.now() + blockMilliseconds;
  while (seconds.length < minCalls || performance.now() < end && seconds.length < MAX_CALLS) {
    const start = performance.now();
    let result = call();
    if (result instanceof Promise) result = await result;
    seconds.push((performance.now() - start) / 1000);
    if (isNew) (result as Disposable)[Symbol.dispose]();
  }
  return median(seconds);
}
