// Damaged and lying archives beside numpy: what the kit loads is what numpy reads, to the byte, and what it
// refuses ends in words. Nothing is left on the device, and the host's memory stays as it is.

import { assert, assertEquals, assertGreater, assertLess } from "@std/assert";
import { crc32 } from "node:zlib";
import type { CudaDevice } from "../../mod.ts";
import { loadNpz, NumpyError, saveNpz } from "../../src/entries/numpy.ts";
import { RECORD_BYTES, SIGNATURES, viewOf } from "../../src/numpy/zip_format.ts";
import { fuzzCount } from "../support/fuzz_count.ts";
import { HostPeak } from "../support/host_peak.ts";
import { PROJECT_ROOT } from "../support/project_files.ts";
import { runPython, whyWithout } from "../support/python.ts";
import { type Random, testRandom } from "../support/random.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { takingTurns, testUnless } from "../support/test_unless.ts";
import { withDevice } from "../support/with_device.ts";

const PEER = new URL("tests/support/numpy_peer.py", PROJECT_ROOT).pathname;

const FULL_COUNT = 20_000;

/** Far more than a load of small arrays takes, less than what a claim that is believed would. */
const FEW_BYTES = 128 * 2 ** 20;

/** A type, a shape and a checksum; null for an array that is not read. */
type Verdict = readonly [descr: string, shape: readonly number[], crc: number] | null;

/** The arrays of a file; null for a file that is not read. */
type Verdicts = Readonly<Record<string, Verdict>> | null;

const DESCRS: Readonly<Record<string, string>> = {
  int32: "<i4",
  float32: "<f4",
  float64: "<f8",
  uint8: "|u1",
  int16: "<i2",
  uint16: "<u2",
  int8: "|i1",
  float16: "<f2",
  bool: "|b1",
  int64: "<i8",
  uint32: "<u4",
  uint64: "<u8",
};

takingTurns(testUnless)(
  "loadNpz() reads damaged archives as numpy does, or refuses them",
  await whyWithout(["numpy"]),
  () =>
    withDevice(async (gpu) => {
      using folder = new TemporaryFolder();
      const originals = await originalsIn(folder, gpu);
      const random = testRandom();
      const count = fuzzCount(FULL_COUNT);
      const mutants = folder.pathOf("mutants");
      Deno.mkdirSync(mutants);
      for (let i = 0; i < count; i++) {
        const original = random.pick(originals) ?? new Uint8Array();
        Deno.writeFileSync(`${mutants}/${i}.npz`, mutant(original, random));
      }
      const theirs: Record<string, Verdicts> = JSON.parse(await runPython([PEER, mutants]));
      gpu.limit("64 MiB");
      const peak = HostPeak.start();
      let loadedCount = 0;
      let refusedCount = 0;
      for (const [name, their] of Object.entries(theirs)) {
        const ours = await verdictsOn(`${mutants}/${name}`, gpu);
        if (ours === null) {
          refusedCount++;
          continue;
        }
        loadedCount++;
        requireSame(ours, their, name);
      }
      assertEquals(gpu.live().count, 0);
      if (peak !== undefined) assertLess(peak.growthBytes, FEW_BYTES);
      assertGreater(loadedCount, count / 100);
      assertGreater(refusedCount, count / 10);
    }),
);

/** Compares the arrays that the kit loads: numpy has each name, and reads the same. */
function requireSame(ours: NonNullable<Verdicts>, theirs: Verdicts, file: string): void {
  assert(theirs !== null, `${file} is no archive for numpy`);
  assertEquals(Object.keys(ours).sort(), Object.keys(theirs).sort(), file);
  for (const [name, verdict] of Object.entries(ours)) {
    if (verdict !== null) assertEquals(theirs[name], verdict, `${file}: ${name}`);
  }
}

async function verdictsOn(path: string, gpu: CudaDevice): Promise<Verdicts> {
  try {
    using arrays = await loadNpz(path, gpu);
    const found: Record<string, Verdict> = {};
    for (const name of arrays.unreadable) found[name] = null;
    for (const [name, array] of arrays) {
      using bytes = array.as("uint8");
      const crc = crc32(await bytes.download());
      found[name] = [DESCRS[array.dtype] ?? array.dtype, array.shape, crc];
    }
    return found;
  } catch (error) {
    const isKnown = error instanceof NumpyError || Object(error).name === "OutOfMemoryError";
    assert(isKnown, `${path} ended in ${error}`);
    return null;
  }
}

/** Archives of the kit's and of numpy's, stored and deflated, with arrays of several kinds. */
async function originalsIn(folder: TemporaryFolder, gpu: CudaDevice): Promise<Uint8Array[]> {
  using x = gpu.iota("int32", [5, 7]);
  using y = gpu.iota("float32", 300);
  for (const compress of [false, true]) {
    await saveNpz(folder.pathOf(`ours${compress}.npz`), { x, y, "ü": x }, { compress });
  }
  await runPython([
    "-c",
    `
import numpy, sys
arrays = dict(
    a=numpy.arange(12.0).reshape(3, 4), b=numpy.asfortranarray(numpy.arange(6).reshape(2, 3)),
    c=numpy.arange(9).astype(">i2"), d=numpy.array(["text"]), e=numpy.array(True), f=numpy.zeros((0, 3)),
)
numpy.savez(sys.argv[1] + "/theirs.npz", **arrays)
numpy.savez_compressed(sys.argv[1] + "/packed.npz", **arrays)
`,
    folder.path,
  ]);
  const names = ["oursfalse", "ourstrue", "theirs", "packed"];
  return names.map((name) => Deno.readFileSync(folder.pathOf(`${name}.npz`)));
}

/** Changes one to three places of an archive, half of them numbers of its records. */
function mutant(original: Uint8Array, random: Random): Uint8Array {
  let bytes: Uint8Array = original.slice();
  for (let change = random.below(3); change >= 0; change--) {
    bytes = random.below(2) === 0 ? withLie(bytes, random) : withDamage(bytes, random);
  }
  return bytes;
}

/** Offsets and sizes of the numbers in each record. */
const FIELDS: Readonly<Record<number, readonly (readonly [number, number])[]>> = {
  [SIGNATURES.local]: [
    ...[[4, 2], [6, 2], [8, 2], [14, 4], [18, 4], [22, 4], [26, 2], [28, 2], [30, 1]] as const,
  ],
  [SIGNATURES.central]: [
    ...[[6, 2], [8, 2], [10, 2], [16, 4], [20, 4], [24, 4], [28, 2], [30, 2], [32, 2]] as const,
    ...[[34, 2], [42, 4], [RECORD_BYTES.central, 1]] as const,
  ],
  [SIGNATURES.end]: [[4, 2], [6, 2], [8, 2], [10, 2], [12, 4], [16, 4], [20, 2]],
};

/** Gives a number of a record another value: one near it, a huge one, or that of another record. */
function withLie(bytes: Uint8Array, random: Random): Uint8Array {
  if (bytes.byteLength < RECORD_BYTES.end) return bytes;
  const view = viewOf(bytes);
  const records: number[] = [];
  for (let at = 0; at + RECORD_BYTES.end <= bytes.byteLength; at++) {
    if (FIELDS[view.getUint32(at, true)] !== undefined) records.push(at);
  }
  const record = random.pick(records);
  if (record === undefined) return bytes;
  const signature = view.getUint32(record, true);
  const [offset = 0, size = 1] = random.pick(FIELDS[signature] ?? []) ?? [];
  const at = record + offset;
  if (at + size > bytes.byteLength) return bytes;
  const peer = random.pick(records.filter((other) => view.getUint32(other, true) === signature));
  const from = (peer ?? record) + offset;
  const value = numberAt(view, at, size);
  const lies = [
    value + 1,
    value - 1,
    value * 2,
    2 ** (8 * size) - 1,
    0,
    random.below(2 ** (8 * size)),
    from + size <= bytes.byteLength ? numberAt(view, from, size) : 0,
  ];
  const lie = random.pick(lies) ?? 0;
  for (let i = 0; i < size; i++) bytes[at + i] = Math.floor(lie / 2 ** (8 * i)) & 255;
  return bytes;
}

function numberAt(view: DataView, at: number, size: number): number {
  if (size === 1) return view.getUint8(at);
  return size === 2 ? view.getUint16(at, true) : view.getUint32(at, true);
}

/** Flips a bit, sets a byte, cuts bytes off or out, or puts some in. */
function withDamage(bytes: Uint8Array, random: Random): Uint8Array {
  const at = random.below(bytes.byteLength);
  switch (random.below(5)) {
    case 0:
      bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
      return bytes;
    case 1:
      bytes[at] = random.below(256);
      return bytes;
    case 2:
      return random.below(4) === 0 ? bytes.slice(0, at) : bytes;
    case 3:
      return Uint8Array.from([...bytes.slice(0, at), ...bytes.slice(at + 1 + random.below(20))]);
    default: {
      const more = Array.from({ length: 1 + random.below(9) }, () => random.below(256));
      return Uint8Array.from([...bytes.slice(0, at), ...more, ...bytes.slice(at)]);
    }
  }
}
