// The kit beside the format's own Python library: each reads what the other writes, and the kit takes
// no file that the other refuses.

import { assertEquals } from "@std/assert";
import { SafetensorsError } from "../../../../src/interop/safetensors/header.ts";
import {
  LENGTH_BYTES,
  parseHeader,
  readHeaderLength,
} from "../../../../src/interop/safetensors/header.ts";
import { saveSafetensors } from "../../../../src/interop/safetensors/save.ts";
import { fuzzCount } from "../../../support/fuzz_count.ts";
import { runPython, testsWith } from "../../../support/python.ts";
import { Random } from "../../../support/random.ts";
import { damage } from "../../../support/safetensors/damage.ts";
import { fileOf, TYPES_FIXTURE } from "../../../support/safetensors/files.ts";
import { PEER, PEER_MODULES } from "../../../support/safetensors/peer.ts";
import { TemporaryFolder } from "../../../support/temporary_folder.ts";
import { takingTurns } from "../../../support/test_unless.ts";
import { withDevice } from "../../../support/with_device.ts";

const testWithPeer = await testsWith(...PEER_MODULES);

const FILE_COUNT = fuzzCount(500);
const MUTANT_COUNT = fuzzCount(20_000);
const SEED = 0x5afe2;

/** Files that Python takes and the kit refuses: something would be lost, or read two ways. */
const STRICTER = [
  / twice$/, // the second one would win
  /is not described by an object$/, // a list of the three fields
  /unknown type \{\}$/, // a type as an object
  /not a list of sizes$|not two sizes$/, // sizes beyond 2^53
];

takingTurns(testWithPeer)(
  "saveSafetensors() writes what Python reads, of files of Python's",
  async () => {
    using folder = new TemporaryFolder();
    const [theirs, ours] = [folder.pathOf("theirs"), folder.pathOf("ours")];
    Deno.mkdirSync(theirs);
    Deno.mkdirSync(ours);
    await runPython([PEER, "random", theirs, String(FILE_COUNT)]);
    await withDevice(async (gpu) => {
      for (const { name } of Deno.readDirSync(theirs)) {
        using model = await gpu.loadSafetensors(`${theirs}/${name}`);
        await saveSafetensors(`${ours}/${name}`, model);
      }
    });
    assertEquals(Number(await runPython([PEER, "compare", theirs, ours])), FILE_COUNT);
  },
);

takingTurns(testWithPeer)(
  "parseHeader() takes none of the damaged files that Python refuses",
  async () => {
    using folder = new TemporaryFolder();
    const original = Deno.readFileSync(TYPES_FIXTURE);
    const random = new Random(SEED);
    const mutants = Array.from({ length: MUTANT_COUNT }, () => damage(original, random));
    await compareWithPeer(folder, mutants);
  },
);

testWithPeer("parseHeader() takes and refuses the same as Python at every limit", async () => {
  using folder = new TemporaryFolder();
  const tensor = `"dtype":"U8","shape":[2],"data_offsets":[0,2]`;
  const nested = (depth: number) =>
    `{"a":{${tensor},"z":${"[".repeat(depth)}${"]".repeat(depth)}}}`;
  const headers = [
    `{"a":{${tensor}}}`,
    `{"__metadata__":null,"a":{${tensor}}}`,
    ...["2.0", "2e0", "20e-1", "-0", "-2", "02", "+2", "2.", ".2", "0x2", "NaN"].map((size) =>
      `{"a":{"dtype":"U8","shape":[${size}],"data_offsets":[0,2]}}`
    ),
    ...[124, 125, 126, 127].map(nested),
    ...["1e999", "-1e400", "1e-999", "9".repeat(400), "1.5", "-0", "-", "1e"].map((number) =>
      `{"a":{${tensor},"z":${number}}}`
    ),
    ...["\\ud800", "\\udc00\\ud800", "\\ud83d\\ude00", "\\u00E9", "\\x", "\\/", "\u0001"].flatMap(
      (text) => [
        `{"${text}":{${tensor}}}`,
        `{"__metadata__":{"k":"${text}"},"a":{${tensor}}}`,
        `{"a":{${tensor},"z":"${text}"}}`,
      ],
    ),
    `{"a":{"\\u0064type":"\\u0055\\u0038","shape":[2],"data_offsets":[0,2]}}`,
    `{ "a" :\n{\t${tensor}\r} } \n`,
    ` \t\r\n{"a":{${tensor}}}`,
    ` `,
    `{"a":{${tensor}}}\f`,
    `{"a":{${tensor},}}`,
    `{"a":{${tensor}},}`,
    `{"a":{${tensor}}}x`,
    `{"a":{"z":{"z":[true,false,null]},${tensor}}}`,
    `{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2,2]}}`,
  ];
  const data = new Uint8Array(2);
  const files = headers.map((header) => Uint8Array.from(fileOf({ header, data })));
  const differing = await compareWithPeer(folder, files);
  assertEquals(differing, []);
});

/** Fails when the kit takes what Python refuses; returns the kit's reasons for what it alone refuses. */
async function compareWithPeer(
  folder: TemporaryFolder,
  files: readonly Uint8Array<ArrayBuffer>[],
): Promise<string[]> {
  const path = folder.write("all", joined(files));
  const verdicts: string[] = JSON.parse(await runPython([PEER, "judge", path]));
  assertEquals(verdicts.length, files.length);
  const refused: string[] = [];
  for (const [index, verdict] of verdicts.entries()) {
    const file = files[index] ?? new Uint8Array();
    const reason = await reasonAgainst(file);
    if (reason === undefined) assertEquals(verdict, "", new TextDecoder().decode(file));
    else if (verdict === "") refused.push(reason);
  }
  assertEquals(refused.filter((reason) => !STRICTER.some((known) => known.test(reason))), []);
  return refused;
}

/** Why the kit refuses a file; undefined when it takes it. */
async function reasonAgainst(file: Uint8Array<ArrayBuffer>): Promise<string | undefined> {
  const [path, byteLength] = ["file", file.byteLength];
  try {
    const length = readHeaderLength(file.subarray(0, LENGTH_BYTES), { path, byteLength });
    const json = file.subarray(LENGTH_BYTES, LENGTH_BYTES + length);
    await parseHeader(json, { path, dataByteLength: byteLength - LENGTH_BYTES - length });
    return undefined;
  } catch (error) {
    if (error instanceof SafetensorsError) return error.message;
    throw error;
  }
}

/** All files in one, each behind its length. */
function joined(files: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(files.reduce((sum, file) => sum + 8 + file.byteLength, 0));
  const view = new DataView(bytes.buffer);
  let end = 0;
  for (const file of files) {
    view.setBigUint64(end, BigInt(file.byteLength), true);
    bytes.set(file, end + 8);
    end += 8 + file.byteLength;
  }
  return bytes;
}
