// Damaged GGUF files: each is refused with a GgufError, or read rightly.

import { assert, assertEquals, assertInstanceOf } from "@std/assert";
import { GgufError, type GgufHeader, loadGguf } from "../../../../src/entries/gguf.ts";
import { parseGguf } from "../../../../src/interop/gguf/header.ts";
import { DiskFile } from "../../../../src/disk/disk_file.ts";
import { fuzzCount } from "../../../support/fuzz_count.ts";
import {
  arrayField,
  ggufOf,
  joined,
  textBytes,
  textField,
  uint32,
  uint64,
  wholeField,
} from "../../../support/gguf/files.ts";
import { Random } from "../../../support/random.ts";
import { TemporaryFolder } from "../../../support/temporary_folder.ts";
import { inTurn } from "../../../support/test_unless.ts";
import { testOnDevice } from "../../../support/with_device.ts";

const MUTANT_COUNT = fuzzCount(20_000);
const SEED = 0x99f;

const ORIGINAL = ggufOf({
  metadata: {
    "general.alignment": wholeField(32),
    "general.name": textField("small"),
    tokens: arrayField(8, 3, joined(["a", "bc", ""].map(textBytes))),
    scores: arrayField(6, 2, new Uint8Array(Float32Array.of(0.5, -1).buffer)),
    nested: arrayField(9, 1, arrayField(7, 2, Uint8Array.of(0, 1)).bytes),
    seed: { type: 10, bytes: uint64(2n ** 60n) },
  },
  tensors: [
    { name: "embed", type: 0, sizes: [4, 2], data: new Uint8Array(32).fill(1) },
    { name: "blocks", type: 8, sizes: [64, 2], data: new Uint8Array(136).fill(2) },
    { name: "norm", type: 30, sizes: [3], data: new Uint8Array(6).fill(3) },
  ],
});

/** Numbers that a hostile writer likes. */
const LIKED = [0, 1, 7, 8, 9, 12, 13, 31, 32, 33, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1];

/** Changes one to three places of a file. */
function damage(random: Random): Uint8Array<ArrayBuffer> {
  let bytes = ORIGINAL.slice();
  for (let change = random.below(3); change >= 0; change--) {
    const at = random.below(bytes.byteLength);
    const liked = uint32(LIKED[random.below(LIKED.length)] ?? 0);
    switch (random.below(6)) {
      case 0:
        bytes[at] = random.below(256);
        break;
      case 1:
        bytes = bytes.slice(0, at);
        break;
      case 2:
        bytes = joined([bytes.subarray(0, at), bytes.subarray(at + 1 + random.below(9))]);
        break;
      case 3:
        bytes = joined([
          bytes.subarray(0, at),
          liked.subarray(0, 1 + random.below(4)),
          bytes.subarray(at),
        ]);
        break;
      default: // a number in the place of another keeps most of the rest
        bytes.set(liked.subarray(0, bytes.byteLength - at), at);
    }
  }
  return bytes;
}

/** Reads a header as a file's reader does; undefined when it is refused. */
async function readOrRefuse(
  folder: TemporaryFolder,
  bytes: Uint8Array,
): Promise<GgufHeader | undefined> {
  using file = new DiskFile(folder.write("mutant.gguf", bytes), "read");
  try {
    return await parseGguf({ file, byteLength: bytes.byteLength }, { maxBytes: 10_000 });
  } catch (error) {
    assertInstanceOf(error, GgufError);
    return undefined;
  }
}

Deno.test(inTurn("parseGguf() refuses or rightly reads damaged files"), async () => {
  using folder = new TemporaryFolder();
  const random = new Random(SEED);
  let readCount = 0;
  for (let i = 0; i < MUTANT_COUNT; i++) {
    const mutant = damage(random);
    const header = await readOrRefuse(folder, mutant);
    if (header === undefined) continue;
    readCount++;
    let end = 0;
    for (const { shape, blockLength, blockBytes, byteOffset, byteLength } of header.tensors) {
      const count = shape.reduce((product, size) => product * size, 1);
      assertEquals(count / blockLength * blockBytes, byteLength);
      assertEquals(byteOffset % header.alignment, 0);
      assert(byteOffset >= end, "tensors lie over one another");
      end = byteOffset + byteLength;
    }
    assert(header.tensors.length === 0 || header.dataOffset + end <= mutant.byteLength);
  }
  assert(readCount > 0 && readCount < MUTANT_COUNT, `${readCount} were read`);
});

testOnDevice("loadGguf() leaves nothing behind after damaged files", async (gpu) => {
  const random = new Random(SEED + 1);
  using folder = new TemporaryFolder();
  for (let i = 0; i < 200; i++) {
    const path = folder.write("mutant.gguf", damage(random));
    try {
      using model = await loadGguf(path, gpu);
      for (const [name, tensor] of model) {
        assertEquals(tensor.byteLength, model.entry(name).byteLength);
      }
    } catch (error) {
      assertInstanceOf(error, GgufError);
    }
  }
});
