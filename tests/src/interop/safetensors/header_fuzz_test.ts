// Damaged headers: each is refused with a SafetensorsError, or read rightly.

import { assert, assertEquals, assertInstanceOf } from "@std/assert";
import { SafetensorsError } from "../../../../src/interop/safetensors/header.ts";
import { formatBits } from "../../../../src/interop/safetensors/formats.ts";
import {
  type HeaderContents,
  LENGTH_BYTES,
  parseHeader,
  readHeaderLength,
} from "../../../../src/interop/safetensors/header.ts";
import { fuzzCount } from "../../../support/fuzz_count.ts";
import { Random } from "../../../support/random.ts";
import { damage } from "../../../support/safetensors/damage.ts";
import { TYPES_FIXTURE } from "../../../support/safetensors/files.ts";
import { TemporaryFolder } from "../../../support/temporary_folder.ts";
import { testOnDevice } from "../../../support/with_device.ts";

const MUTANT_COUNT = fuzzCount(20_000);
const SEED = 0x5afe;

Deno.test("parseHeader() refuses or rightly reads damaged headers", async () => {
  const original = Deno.readFileSync(TYPES_FIXTURE);
  const random = new Random(SEED);
  let readCount = 0;
  for (let i = 0; i < MUTANT_COUNT; i++) {
    const mutant = damage(original, random);
    const header = await readOrRefuse(mutant);
    if (header === undefined) continue;
    readCount++;
    checkRight(header, mutant);
  }
  assert(readCount > 0 && readCount < MUTANT_COUNT / 2, `${readCount} were read`);
});

testOnDevice("gpu.loadSafetensors() leaves nothing behind after damaged files", async (gpu) => {
  const original = Deno.readFileSync(TYPES_FIXTURE);
  const random = new Random(SEED + 1);
  using folder = new TemporaryFolder();
  for (let i = 0; i < 200; i++) {
    const path = folder.write("mutant.safetensors", damage(original, random));
    try {
      using _model = await gpu.loadSafetensors(path);
    } catch (error) {
      assertInstanceOf(error, SafetensorsError);
    }
  }
});

/** Reads a header as a file's reader does; undefined when it is refused. */
async function readOrRefuse(
  file: Uint8Array<ArrayBuffer>,
): Promise<HeaderContents | undefined> {
  const [path, byteLength] = ["mutant", file.byteLength];
  try {
    const length = readHeaderLength(file.subarray(0, LENGTH_BYTES), { path, byteLength });
    const json = file.subarray(LENGTH_BYTES, LENGTH_BYTES + length);
    assertEquals(json.byteLength, length, "a header was read past the end of the file");
    return await parseHeader(json, {
      path,
      dataByteLength: byteLength - LENGTH_BYTES - length,
    });
  } catch (error) {
    assertInstanceOf(error, SafetensorsError);
    return undefined;
  }
}

/** Compares with what JSON itself says, and checks that the tensors tile the data exactly. */
function checkRight({ tensors, metadata }: HeaderContents, file: Uint8Array<ArrayBuffer>): void {
  const length = Number(new DataView(file.buffer).getBigUint64(0, true));
  const text = new TextDecoder().decode(file.subarray(LENGTH_BYTES, LENGTH_BYTES + length));
  const { __metadata__ = {}, ...entries } = JSON.parse(text);
  assertEquals(tensors.map(({ name }) => name).sort(), Object.keys(entries).sort());
  assertEquals({ ...metadata }, __metadata__);
  let end = 0;
  for (const { name, format, shape, byteOffset, byteLength } of tensors) {
    assertEquals(entries[name].data_offsets, [byteOffset, byteOffset + byteLength]);
    assertEquals(entries[name].shape, [...shape]);
    assertEquals(shape.reduce((count, size) => count * size, formatBits(format)), 8 * byteLength);
    assertEquals(byteOffset, end);
    end += byteLength;
  }
  assertEquals(end, file.byteLength - LENGTH_BYTES - length);
}
