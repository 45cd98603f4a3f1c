// Damaged and made-up pickles: each is read or refused in words, and none takes more of the host's memory
// than its length allows.

import { assert, assertLess } from "@std/assert";
import { PickleReader } from "../../src/snapshots/pickle_reader.ts";
import { readMemorySnapshot } from "../../src/snapshots/read_memory_snapshot.ts";
import { fuzzCount } from "../support/fuzz_count.ts";
import { HostPeak } from "../support/host_peak.ts";
import { type Random, testRandom } from "../support/random.ts";
import { torchSnapshot } from "../support/torch_snapshots.ts";

const FULL_COUNT = 30_000;
/** What reading a small snapshot takes, with room; what the collector has not yet freed is in it. */
const FEW_BYTES = 400 * 2 ** 20;

/** Opcodes of plain data, some of others, and counts that are near an edge. */
const CODES = [
  ..."(.)]}NKMJGXhjqraestu",
].map((letter) => letter.charCodeAt(0)).concat([
  0x80,
  0x85,
  0x86,
  0x87,
  0x88,
  0x89,
  0x8a,
  0x8c,
  0x8d,
  0x94,
  0x95,
  0x63,
  0x52,
  0x81,
  0,
  1,
  2,
  3,
  255,
]);

async function isRefused(bytes: Uint8Array<ArrayBuffer>): Promise<boolean> {
  try {
    const snapshot = await readMemorySnapshot(bytes);
    for (const { device } of snapshot.devices) {
      snapshot.plotTimeline({ device });
      snapshot.plotMap({ device });
    }
    snapshot.plotFragmentation();
    return false;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    assert(
      error.message.startsWith("Cannot read these bytes as a memory snapshot: "),
      error.message,
    );
    return true;
  }
}

Deno.test("readMemorySnapshot() reads or refuses damaged snapshots, within bounds", async () => {
  const random = testRandom();
  const originals = ["streams.pickle", "oom.pickle", "state.pickle", "mlp_before_p2.pickle"]
    .map(torchSnapshot);
  const peak = HostPeak.start();
  let refusedCount = 0;
  const count = fuzzCount(FULL_COUNT) / 10;
  for (let index = 0; index < count; index++) {
    const original = random.pick(originals) ?? new Uint8Array();
    if (await isRefused(mutant(original, random))) refusedCount++;
  }
  assert(refusedCount > count / 4 && refusedCount < count, `${refusedCount} of ${count} refused`);
  assertLess(peak?.growthBytes ?? 0, FEW_BYTES);
});

Deno.test("PickleReader.read() reads or refuses random opcodes, within bounds", () => {
  const random = testRandom();
  const peak = HostPeak.start();
  let readCount = 0;
  for (let index = 0; index < fuzzCount(FULL_COUNT); index++) {
    const body = Array.from({ length: 1 + random.below(60) }, () => random.pick(CODES) ?? 0);
    const reader = new PickleReader(new Uint8Array([0x80, 4, ...body, 0x2e]));
    try {
      while (!reader.read(16));
      readCount++;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  assert(readCount > 0);
  assertLess(peak?.growthBytes ?? 0, FEW_BYTES);
});

Deno.test("readMemorySnapshot() refuses a snapshot that repeats its parts by reference", async () => {
  // A segment's list of 60,000 blocks, which are one, and 60,000 such segments.
  const bytes: number[] = [0x80, 2];
  const text = (words: string) => [0x8c, words.length, ...new TextEncoder().encode(words)];
  const repeated = (index: number) =>
    [..."]("].map((letter) => letter.charCodeAt(0)).concat(
      Array.from({ length: 60_000 }, () => [0x68, index]).flat(),
      0x65,
    );
  bytes.push(0x7d, ...text("block"), 0x7d);
  for (const key of ["size", "address"]) bytes.push(...text(key), 0x4b, 1, 0x73);
  bytes.push(...text("state"), ...text("inactive"), 0x73, 0x71, 0, 0x73);
  bytes.push(...text("segment"), 0x7d);
  for (const key of ["total_size", "address"]) bytes.push(...text(key), 0x4b, 1, 0x73);
  bytes.push(...text("blocks"));
  for (const byte of repeated(0)) bytes.push(byte);
  bytes.push(0x73, 0x71, 1, 0x73);
  bytes.push(...text("segments"));
  for (const byte of repeated(1)) bytes.push(byte);
  bytes.push(0x73, 0x2e);
  assert(await isRefused(new Uint8Array(bytes)));
});

/** Changes bytes, cuts, repeats and inserts. */
function mutant(original: Uint8Array<ArrayBuffer>, random: Random): Uint8Array<ArrayBuffer> {
  let bytes = original.slice();
  for (let changes = 1 + random.below(4); changes > 0; changes--) {
    const at = random.below(bytes.length);
    const kind = random.below(5);
    if (kind === 0) bytes[at] = random.below(256);
    else if (kind === 1) bytes[at] = random.pick(CODES) ?? 0;
    else if (kind === 2) bytes = bytes.slice(0, at);
    else if (kind === 3) bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
    else {
      const { start, end } = random.range(Math.min(bytes.length, 400));
      bytes = new Uint8Array([
        ...bytes.subarray(0, at),
        ...bytes.subarray(start, end),
        ...bytes.subarray(at),
      ]);
    }
    if (bytes.length === 0) return bytes;
  }
  return bytes;
}
