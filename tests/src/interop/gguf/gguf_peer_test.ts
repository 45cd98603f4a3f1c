// The kit beside Python's own library for GGUF: both read the same from files of either.

import { assertEquals, assertRejects } from "@std/assert";
import type { CudaDevice } from "../../../../mod.ts";
import {
  GgufError,
  type GgufModel,
  type GgufValue,
  loadGguf,
  readGgufHeader,
} from "../../../../src/entries/gguf.ts";
import { GGUF_FORMATS, ggufFormat } from "../../../../src/interop/gguf/formats.ts";
import { fuzzCount } from "../../../support/fuzz_count.ts";
import {
  arrayField,
  type GgufField,
  ggufOf,
  type GgufPart,
  PEER,
  PEER_MODULES,
  textBytes,
  textField,
  uint64,
  wholeField,
} from "../../../support/gguf/files.ts";
import { runPython, testsWith } from "../../../support/python.ts";
import { Random } from "../../../support/random.ts";
import { TemporaryFolder } from "../../../support/temporary_folder.ts";
import { takingTurns } from "../../../support/test_unless.ts";
import { withDevice } from "../../../support/with_device.ts";

const FILE_COUNT = fuzzCount(500);
const SEED = 0x66f;

const testWithPeer = await testsWith(...PEER_MODULES);

/** All that is read from a file, as the program prints it. */
interface Digest {
  readonly metadata: Readonly<Record<string, string | readonly string[]>>;
  readonly tensors: Readonly<Record<string, unknown>>;
}

testWithPeer(
  "GGUF types are those of Python's library and no others, with its numbers and block sizes",
  async () => {
    const types: Record<string, [number, number, number]> = JSON.parse(
      await runPython([PEER, "types"]),
    );
    assertEquals(types["Q8_1"], [9, 32, 40]); // two half floats and 32 bytes: ggml has 36
    const own = Object.entries(GGUF_FORMATS).map(([number, [name, blockLength, blockBytes]]) =>
      [name, [Number(number), blockLength, blockBytes]] as const
    );
    assertEquals(Object.fromEntries<unknown>(own), { ...types, Q8_1: [9, 32, 36] });
  },
);

takingTurns(testWithPeer)(
  "loadGguf() loads what Python wrote, of every type, byte for byte",
  async () => {
    using folder = new TemporaryFolder();
    await runPython([PEER, "random", folder.path, String(FILE_COUNT)]);
    const names = ["all", ...Array.from({ length: FILE_COUNT }, (_, i) => `${i}`)];
    await compare(names.map((name) => folder.pathOf(`${name}.gguf`)));
  },
);

testWithPeer("readGgufHeader() and Python read the same from random files", async () => {
  using folder = new TemporaryFolder();
  const random = new Random(SEED);
  await compare(Array.from({ length: FILE_COUNT }, (_, i) => {
    return folder.write(`${i}.gguf`, randomFile(random));
  }));
});

testWithPeer("loadGguf() loads a model of Python's in several files, by any of them", async () => {
  using folder = new TemporaryFolder();
  await runPython([PEER, "split", folder.path]);
  await withDevice(async (gpu) => {
    for (const number of [1, 3]) {
      using model = await loadGguf(folder.pathOf(`model-0000${number}-of-00003.gguf`), gpu);
      assertEquals(model.names, ["t0", "t1", "t2", "t3", "t4"]);
      assertEquals([...await model.tensor("t4", "float16").download()], Array(64).fill(4));
      assertEquals(model.metadata["split.count"], 3);
    }
  });
});

testWithPeer("readGgufHeader() names the byte order of a big-endian file", async () => {
  using folder = new TemporaryFolder();
  const path = folder.pathOf("big.gguf");
  await runPython([PEER, "big", path]);
  await assertRejects(() => readGgufHeader(path), GgufError, "it is big-endian");
});

async function compare(paths: readonly string[]): Promise<void> {
  const digests: Digest[] = JSON.parse(await runPython([PEER, "digest", ...paths]));
  assertEquals(digests.length, paths.length);
  await withDevice(async (gpu) => {
    for (const [i, path] of paths.entries()) {
      assertEquals(await digestOf(gpu, path), digests[i], path);
    }
  });
}

async function digestOf(gpu: CudaDevice, path: string): Promise<Digest> {
  const { metadata } = await readGgufHeader(path);
  using model = await loadGguf(path, gpu);
  assertEquals(model.metadata, metadata);
  const tensors: Record<string, unknown> = {};
  for (const name of model.names) tensors[name] = await tensorDigest(model, name);
  const values = Object.entries(metadata).map(([name, value]) => [name, textOf(value)]);
  return { metadata: Object.fromEntries(values), tensors };
}

async function tensorDigest(model: GgufModel, name: string): Promise<unknown> {
  const tensor = model.tensor(name);
  const bytes = await tensor.as("uint8").download();
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const { format, shape } = model.entry(name);
  return { format, shape: [...shape], held: [...tensor.shape], sha: digest.toHex() };
}

function textOf(value: GgufValue): string | string[] {
  if (typeof value === "object") return [...value].map((each) => textOf(each) as string);
  if (typeof value !== "number") return `${value}`;
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setFloat64(0, value);
  return bytes.toHex();
}

/** A file of random tensors and metadata, by a writer of our own. */
function randomFile(random: Random): Uint8Array {
  const numbers = [0, 1, 2, 8, 12, 14, 16, 20, 24, 27, 30, 34, 39, 40, 41];
  const tensors = Array.from({ length: random.below(6) }, (_, i): GgufPart => {
    const type = numbers[random.below(numbers.length)] ?? 0;
    const [, blockLength = 1, blockBytes = 1] = ggufFormat(type) ?? [""];
    const rows = Array.from({ length: random.below(3) }, () => 1 + random.below(3));
    const blocks = 1 + random.below(5);
    const byteLength = rows.reduce((product, size) => product * size, blocks * blockBytes);
    const data = Uint8Array.from({ length: byteLength }, () => random.below(256));
    return { name: `t${i}.ä`, type, sizes: [blocks * blockLength, ...rows], data };
  });
  const alignment = 2 ** (3 + random.below(7));
  const fields: GgufField[] = Array.from({ length: random.below(6) }, () => {
    switch (random.below(5)) {
      case 0:
        return textField("x".repeat(random.below(40)));
      case 1:
        return wholeField(random.below(60_000), 2);
      case 2:
        return { type: 10, bytes: uint64(BigInt(random.below(2 ** 30)) * 2n ** 33n) };
      case 3:
        return { type: 7, bytes: Uint8Array.of(random.below(2)) };
      default:
        return arrayField(8, 2, Uint8Array.of(...textBytes("a"), ...textBytes("")));
    }
  });
  const metadata = Object.fromEntries(fields.map((field, i) => [`key.${i}`, field]));
  const named = { ...metadata, "general.alignment": wholeField(alignment) };
  return ggufOf({ tensors, alignment, metadata: named, version: 2 + random.below(2) });
}
