// The common part of the transfer benches: flags, the ceiling of the bus, samples, peers beside it.

import { type CudaDevice, formatBytes, parseBytes } from "../../mod.ts";
import { findMismatch } from "../../src/measure/pattern.ts";
import type { CopyDirection } from "../../src/notebook/mod.ts";
import { readOptions } from "../arguments.ts";
import { findPeerResult, type PeerReport } from "../peers/report.ts";
import { type BenchRow, median } from "../result_file.ts";

/** Decides the pattern that all bytes of these benches have. */
export const SEED = 7;

/** The largest copy that the ceiling is measured with. */
const CEILING_BYTES = 2 ** 28;

/** The flags of a transfer bench. */
export interface BenchFlags {
  /** The most bytes that one transfer moves. */
  readonly largestBytes: number;
  /** The results of other libraries on this machine. */
  readonly peers: PeerReport | undefined;
  /** Path of the results file. */
  readonly out: string | undefined;
  /** The parts of the bench that are wanted; all of them when left out. */
  readonly only: readonly string[] | undefined;
}

/** Reads `--largest BYTES`, `--peers peers.json`, `--out result.json` and `--only PART,PART`. */
export async function readFlags(defaults: { largestBytes: number }): Promise<BenchFlags> {
  const text = { type: "string" } as const;
  const options = { largest: text, peers: text, out: text, only: text };
  const { largest, peers, out, only } = readOptions(options);
  return {
    largestBytes: largest === undefined ? defaults.largestBytes : readBytes(largest),
    peers: peers === undefined ? undefined : JSON.parse(await Deno.readTextFile(peers)),
    out,
    only: only?.split(","),
  };
}

/** Measures page-locked memory in one direction, by events: the speed of the bus today, in GB/s. */
export async function pinnedCeiling(
  gpu: CudaDevice,
  options: { readonly largestBytes: number; readonly direction?: CopyDirection },
): Promise<number> {
  const { largestBytes, direction = "host-to-device" } = options;
  const { points } = await gpu.bandwidth({
    sizes: [Math.min(largestBytes, CEILING_BYTES)],
    kinds: ["pinned"],
    directions: [direction],
    sampleCount: 5,
  });
  return points[0]?.gigabytesPerSecond ?? NaN;
}

/** Runs something `count` times and returns the median seconds; `afterEach` is not timed. */
export async function medianSeconds(
  count: number,
  run: () => unknown,
  options: { readonly afterEach?: () => unknown } = {},
): Promise<number> {
  const samples: number[] = [];
  for (let i = 0; i < count; i++) {
    const start = performance.now();
    await run();
    samples.push((performance.now() - start) / 1000);
    await options.afterEach?.();
  }
  return median(samples);
}

/** Checks bytes against the pattern of {@link SEED} before anything about them is reported. */
export function verify(bytes: Uint8Array<ArrayBufferLike>, what: string): void {
  const mismatch = findMismatch(bytes, SEED);
  if (mismatch !== -1) throw new Error(`Cannot report ${what}: byte ${mismatch} is wrong`);
}

/** A speed beside the ceiling, and the share of it that the project promises. */
export function ceilingRow(
  name: string,
  speed: {
    readonly byteLength: number;
    readonly seconds: number;
    readonly ceiling: number;
    readonly share?: number;
  },
): BenchRow {
  const { byteLength, seconds, ceiling, share } = speed;
  const value = byteLength / seconds / 1e9;
  const row: BenchRow = {
    name: `${name}, ${formatBytes(byteLength)}`,
    value,
    unit: "GB/s",
    reference: { name: "pinned ceiling", value: ceiling },
  };
  if (share === undefined) return row;
  const text = `at least ${share} of the ceiling`;
  return { ...row, promise: { text, holds: value >= share * ceiling } };
}

/** Returns the peers' results of a case as speeds; `byteLength` picks the size. */
export function peerRows(
  peers: PeerReport | undefined,
  query: { readonly name: string; readonly byteLength?: number; readonly ceiling: number },
): BenchRow[] {
  const { name, byteLength, ceiling } = query;
  return (peers?.documents ?? []).flatMap(({ peer }) => {
    const size = byteLength === undefined ? {} : { byteLength };
    const found = peers && findPeerResult(peers, { peer, name, ...size });
    if (found === undefined) return [];
    const value = found.unit === "s" ? (found.byteLength ?? NaN) / found.value / 1e9 : found.value;
    const reference = { name: "pinned ceiling", value: ceiling };
    return [{ name: `  ${peer}: ${found.method}`, value, unit: "GB/s", reference } as const];
  });
}

function readBytes(text: string): number {
  return parseBytes(/^\d+$/.test(text) ? Number(text) : text, "--largest");
}
