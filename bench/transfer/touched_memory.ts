// Does it matter what a core did with page-locked memory before a copy engine uses it? Copies of memory
// that nobody has touched since the copy before, that this thread has just read or written, and that is
// one part of a larger block after the other: `deno task bench touched [result.json]`.

import { CudaDevice, formatBytes, type PinnedBuffer } from "../../mod.ts";
import { readWords } from "../arguments.ts";
import { type BenchRow, median, report } from "../result_file.ts";

const MIB = 2 ** 20;
const SIZES = [MIB / 16, MIB / 4, MIB, 4 * MIB];
const BLOCK_BYTES = 32 * MIB;

/** A way to use memory again and again. */
interface Way {
  readonly name: string;
  readonly direction: "down" | "up";
  /** The thread's use of the memory before each copy: of the bytes that came, or of those that will go. */
  readonly touch?: "read" | "write";
  /** Whether each copy uses another part of the block. */
  readonly isInTurn?: boolean;
}

const WAYS: readonly Way[] = [
  { name: "download, untouched since", direction: "down" },
  { name: "download, read before", direction: "down", touch: "read" },
  { name: "download, read before and in turn", direction: "down", touch: "read", isInTurn: true },
  { name: "upload, untouched since", direction: "up" },
  { name: "upload, written before", direction: "up", touch: "write" },
];

const [resultPath] = readWords({ most: 1 });
using gpu = CudaDevice.open(0, { driver: "auto" });
const sampleCount = gpu.isSimulated ? 3 : 301;
using stream = gpu.createStream();
using block = gpu.pinned("uint8", BLOCK_BYTES);
block.array.fill(1);
const own = new Uint8Array(Math.max(...SIZES)).fill(2);
const rows: BenchRow[] = [];
for (const byteLength of SIZES) {
  const found = WAYS.map((way) => rowOf(way, byteLength));
  for (const [at, row] of found.entries()) {
    const untouched = found[WAYS.findIndex(({ direction }) => direction === WAYS[at]?.direction)];
    if (untouched === row || untouched === undefined) rows.push(row);
    else rows.push({ ...row, reference: { name: "untouched", value: untouched.value } });
  }
}
await report(gpu, rows, resultPath);

function rowOf({ name, direction, touch, isInTurn = false }: Way, byteLength: number): BenchRow {
  using device = gpu.zeros("uint8", byteLength);
  const all: PinnedBuffer<"uint8">[] = [...block.chunks(byteLength)];
  const parts = isInTurn ? all : all.slice(0, 1);
  const samples = Array.from({ length: sampleCount }, (_, sample) => {
    const part = parts[sample % parts.length];
    const before = parts[(sample + parts.length - 1) % parts.length];
    if (part === undefined || before === undefined) throw new Error("Cannot measure: no memory");
    if (touch === "read") own.set(before.array);
    else if (touch === "write") part.array.set(own.subarray(0, byteLength));
    const start = performance.now();
    if (direction === "down") part.copyFrom(device, { stream });
    else part.copyTo(device, { stream });
    stream.synchronizeSync();
    return (performance.now() - start) / 1000;
  });
  for (const part of all) part.dispose();
  return {
    name: `${name}, ${formatBytes(byteLength)}`,
    value: median(samples),
    unit: "s",
    samples,
  };
}
