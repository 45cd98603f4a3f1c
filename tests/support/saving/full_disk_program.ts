// Saves more than a small disk has room for, or than the process may write to a file, in every way, and
// prints what is there afterwards: `deno run -A full_disk_program.ts FOLDER [BYTES]`.

import { RLIMIT_FSIZE } from "../../../ffi/host.ts";
import type { WriteFileOptions } from "../../../mod.ts";
import { saveSafetensors } from "../../../src/interop/safetensors/save.ts";
import { openTestDevice } from "../driver.ts";

/** The state of a folder after a save that failed. */
export interface FullDiskReport {
  /** The name of the way that was tried. */
  readonly name: string;
  /** The message; undefined when it worked. */
  readonly message: string | undefined;
  /** The files of the folder, with their sizes. */
  readonly files: Readonly<Record<string, number>>;
  /** Whether the file that was there is as it was. */
  readonly isOld: boolean;
}

const OLD_BYTES = 2 ** 20;
const LARGE_BYTES = 12 * 2 ** 20;

if (import.meta.main) {
  const [folder = "", mostBytes] = Deno.args;
  const path = `${folder}/old`;
  using gpu = openTestDevice();
  using old = gpu.zeros("uint8", OLD_BYTES).fill(7);
  using large = gpu.zeros("uint8", LARGE_BYTES);
  const write = (options: WriteFileOptions) => () => large.writeFile(path, options);
  const ways: Readonly<Record<string, () => Promise<void>>> = {
    "a small file": () => old.writeFile(path),
    "a large one in its place": write({}),
    "a large one that is new": () => large.writeFile(`${folder}/new`),
    "a large one at an offset": write({ fileOffset: 5 }),
    "a large one into it": write({ inPlace: true }),
    "a large model": () => saveSafetensors(path, { large }),
    "a small file again": () => old.writeFile(path),
  };
  if (mostBytes !== undefined) limitFiles(BigInt(mostBytes));
  const reports: FullDiskReport[] = [];
  for (const [name, run] of Object.entries(ways)) {
    const message = await run().then(() => undefined, ({ message }) => message);
    const names = [...Deno.readDirSync(folder)].map(({ name }) => name);
    const files = Object.fromEntries(
      names.map((name) => [name, Deno.statSync(`${folder}/${name}`).size]),
    );
    const bytes = Deno.readFileSync(path);
    const isOld = bytes.byteLength === OLD_BYTES && bytes.every((byte) => byte === 7);
    reports.push({ name, message, files, isOld });
  }
  console.log(JSON.stringify(reports));
}

/** Sets the soft limit, as `ulimit -S -f` does for the programs of a shell. */
function limitFiles(mostBytes: bigint): void {
  const { getrlimit, setrlimit } = Deno.dlopen("libc.so.6", {
    getrlimit: { parameters: ["i32", "buffer"], result: "i32" },
    setrlimit: { parameters: ["i32", "buffer"], result: "i32" },
  }).symbols;
  const limits = new BigUint64Array(2);
  getrlimit(RLIMIT_FSIZE, limits);
  limits[0] = mostBytes;
  if (setrlimit(RLIMIT_FSIZE, limits) !== 0) throw new Error("the limit cannot be set");
}
