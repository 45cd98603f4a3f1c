// Random calls on two files, none of which is awaited before the next: each has its effect in the order
// of the calls, under every spelling of the path.

import { assertEquals } from "@std/assert";
import type { CudaDevice } from "../../src/device/device.ts";
import { namesIn, openPathsIn } from "../support/files.ts";
import { type Random, runSeeds, share } from "../support/random.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { testOnDevice } from "../support/with_device.ts";

const ROUND_COUNT = share(40);
const MAX_CALLS = 12;
const MAX_BYTES = 40;

/** The calls of one round, and what the files hold after those so far. */
class FileSequence {
  readonly #gpu: CudaDevice;
  readonly #folder: TemporaryFolder;
  readonly #random: Random;
  readonly #memory = new DisposableStack();
  /** What each file holds by the order of the calls. */
  readonly #expected = new Map<string, Uint8Array>();
  readonly #calls: Promise<void>[] = [];

  constructor(gpu: CudaDevice, folder: TemporaryFolder, random: Random) {
    this.#gpu = gpu;
    this.#folder = folder;
    this.#random = random;
  }

  /** Makes the calls, awaits them all, and compares what is there. */
  async run(): Promise<void> {
    using _memory = this.#memory;
    for (let count = 1 + this.#random.below(MAX_CALLS); count > 0; count--) this.#call();
    await Promise.all(this.#calls);
    const names = [...this.#expected.keys()].sort();
    assertEquals(namesIn(this.#folder), [...names, "link"].sort());
    for (const name of names) {
      assertEquals(Deno.readFileSync(this.#folder.pathOf(name)), this.#expected.get(name));
    }
  }

  #call(): void {
    const name = this.#random.pick(["a", "b"]) ?? "";
    const before = this.#expected.get(name);
    if (before === undefined || this.#random.below(3) > 0) this.#write(name, before);
    else this.#calls.push(this.#read(name, before));
  }

  #write(name: string, before: Uint8Array = new Uint8Array()): void {
    const bytes = this.#bytes();
    const buffer = this.#memory.use(this.#gpu.alloc("uint8", bytes.byteLength)).uploadSync(bytes);
    const kind = this.#random.below(4);
    const fileOffset = this.#random.below(2 * MAX_BYTES);
    const options = [{}, { inPlace: true }, { sync: true }, { fileOffset }][kind];
    if (kind < 3) {
      this.#expected.set(name, bytes);
    } else {
      this.#expected.set(name, written(before, { bytes, fileOffset }));
    }
    this.#calls.push(buffer.writeFile(this.#spell(name), options));
  }

  async #read(name: string, expected: Uint8Array): Promise<void> {
    using buffer = await this.#gpu.uploadFile(this.#spell(name));
    assertEquals(await buffer.download(), expected);
  }

  #spell(name: string): string | URL {
    const { path } = this.#folder;
    const spellings = [
      `${path}/${name}`,
      `${path}/./link/../${name}`,
      `${path}/link/${name}`,
      new URL(`file://${path}/link/link/${name}`),
    ];
    return this.#random.pick(spellings) ?? "";
  }

  #bytes(): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(this.#random.below(MAX_BYTES));
    return bytes.map(() => this.#random.below(256));
  }
}

/** What a file holds when bytes were written into it; no bytes leave it as it is. */
function written(
  before: Uint8Array,
  { bytes, fileOffset }: { readonly bytes: Uint8Array; readonly fileOffset: number },
): Uint8Array {
  if (bytes.byteLength === 0) return before;
  const after = new Uint8Array(Math.max(before.byteLength, fileOffset + bytes.byteLength));
  after.set(before);
  after.set(bytes, fileOffset);
  return after;
}

testOnDevice(
  "calls on files have their effects in the order in which they were made",
  (gpu) =>
    runSeeds(ROUND_COUNT, async ({ random }) => {
      using folder = new TemporaryFolder();
      Deno.symlinkSync(".", folder.pathOf("link"));
      await new FileSequence(gpu, folder, random).run();
      assertEquals(openPathsIn(folder), []);
    }),
);
