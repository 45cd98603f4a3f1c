// The page about errors quotes messages: each is provoked here, and reads as the page says.

import { assert, assertEquals, assertMatch } from "@std/assert";
import config from "../../deno.json" with { type: "json" };
import { CudaDevice, type DeviceBuffer } from "../../mod.ts";
import { Driver } from "../../src/driver/driver.ts";
import { simulateDriver } from "../../src/entries/simulated.ts";
import { hintFor, type MemoryAmounts } from "../../src/words/shortage.ts";
import { runWith } from "../support/child_deno.ts";
import { projectFiles } from "../support/project_files.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";

/** What a message is provoked with: a simulated machine with two devices. */
interface Scene {
  readonly gpu: CudaDevice;
  /** Six numbers. */
  readonly x: DeviceBuffer<"float32">;
  readonly folder: string;
}

/** Provokes each message of the page, by the start of its row. */
const MESSAGES: Readonly<Record<string, (scene: Scene) => unknown>> = {
  "Cannot open the CUDA driver: access": () => openInChild([]),
  "Cannot open the CUDA driver: tried": () => openInChild(["--allow-ffi", "--allow-env"]),
  "Cannot use the CUDA driver": () => Driver.open(simulateDriver({ cudaVersion: "11.0" })),
  "Cannot open device 9": ({ gpu: { context } }) =>
    CudaDevice.open(9, { driver: context.driver.api }),
  "Cannot allocate": ({ gpu }) => {
    using _most = gpu.alloc("uint8", 7 * 2 ** 30);
    gpu.alloc("uint8", 2 ** 31);
  },
  "Cannot use DeviceBuffer": ({ gpu }) => {
    const x = gpu.zeros("float32", 6, { label: "x" });
    x.dispose();
    x.fill(0);
  },
  "Cannot release": ({ x }) => x.subarray(1).release(),
  "Cannot copy": ({ gpu, x }) => {
    using four = gpu.zeros("float32", 4);
    x.copyFrom(four);
  },
  "Cannot upload to ...: the array": ({ x }) => x.upload(new Float32Array(4)),
  "Cannot upload to ...: Int32Array": ({ x }) => x.upload(new Int32Array(6) as never),
  "Cannot reshape": ({ x }) => x.reshape(8),
  "Cannot finish the transfer: its array shows": async ({ gpu }) => {
    using large = gpu.alloc("float32", 2 ** 23);
    const pinned = gpu.pinned("float32", 2 ** 23, { label: "x" });
    const coming = large.upload(pinned.array.fill(1));
    pinned.dispose();
    await coming;
  },
  "Cannot call scope": ({ gpu }) => gpu.scope(function* body() {}),
  "Cannot finish the transfer: its array was": async ({ gpu }) => {
    const array = new Float32Array(2 ** 23);
    using large = gpu.alloc("float32", array.length);
    const coming = large.upload(array);
    structuredClone(array, { transfer: [array.buffer] });
    await coming;
  },
  "Cannot download ordinary memory": ({ gpu, x }) => gpu.capture(() => x.downloadSync()),
  "Cannot read private member": ({ x }) => new Proxy(x, {}).length,
  "Cannot use address": ({ gpu }) => gpu.fromHandle(0x3039n, 16),
  "Cannot share": ({ x }) => x.share(),
  "Cannot open the ticket": async ({ gpu }) => {
    using other = CudaDevice.open(0, { driver: simulateDriver() });
    const theirs = other.zeros("float32", 4, { shareable: true });
    const ticket = await theirs.share();
    theirs.dispose();
    await gpu.open(ticket);
  },
  "Cannot write": ({ folder }) =>
    runInChild(
      ["--allow-ffi", "--allow-env", `--allow-read=${folder}`],
      `await (await gpu.upload(new Uint8Array(4))).writeFile("${folder}/new.bin")`,
    ),
  "Cannot load ...: it is no safetensors": async ({ gpu, folder }) => {
    await Deno.writeTextFile(`${folder}/no.safetensors`, "version https://git-lfs.github.com/");
    await gpu.loadSafetensors(`${folder}/no.safetensors`);
  },
  "Cannot load ...: its header": async ({ gpu, folder }) => {
    await Deno.writeFile(`${folder}/no.safetensors`, new Uint8Array(16).fill(127));
    await gpu.loadSafetensors(`${folder}/no.safetensors`);
  },
  "Cannot run cuMemcpyDtoHAsync_v2": async ({ gpu }) => {
    using unwritten = gpu.alloc("float32", 4);
    await unwritten.download();
  },
  "...; the GPU failed earlier": () => {
    let isBroken = false;
    const driver = simulateDriver({
      fault: () => isBroken ? "CUDA_ERROR_ILLEGAL_ADDRESS" : undefined,
    });
    const gpu = CudaDevice.open(0, { driver });
    isBroken = true;
    assert(errorOf(() => gpu.alloc("uint8", 1)) !== undefined);
    gpu.alloc("uint8", 1);
  },
};

const AMOUNTS: MemoryAmounts = {
  ordinal: 0,
  place: "device",
  requestedBytes: 100,
  freeBytes: 10,
  totalBytes: 1000,
  liveBytes: 900,
  liveCount: 1,
  largest: [{ name: "weights", byteLength: 900 }],
};

/** Amounts that lead to each hint of the page, by the start of its row. */
const HINTS: Readonly<Record<string, Partial<MemoryAmounts>>> = {
  "dispose what": {},
  "raise gpu.limit()": { limitBytes: 950 },
  "raise the limit of the": { remedy: "raise the limit of the LimitingResourceAdaptor" },
  "it is more": { requestedBytes: 1001 },
  "enough is free": { freeBytes: 100, isHalfThere: true },
  "the driver refuses": { freeBytes: 100 },
  "caches keep": { cachedBytes: 90, liveBytes: 800 },
  "other programs": { liveBytes: 10 },
  "gpu.forget()": { liveBytes: 10, persisted: { byteLength: 900, pid: 7 } },
  "..., or raise": { place: "host" },
};

for (const quoted of quotesUnder("## Messages")) {
  Deno.test(`docs/errors.md quotes what the kit says: ${quoted}`, async () => {
    using folder = new TemporaryFolder();
    using gpu = CudaDevice.open(0, { driver: simulateDriver() });
    using x = gpu.zeros("float32", 6, { label: "x" });
    const provoke = rowOf(MESSAGES, quoted);
    const error = await errorOf(() => provoke({ gpu, x, folder: folder.path }));
    if (error !== undefined) return assertMatch(error, patternOf(quoted));
    assert(quoted.includes("tried"), "nothing was thrown"); // there is a driver here
  });
}

for (const quoted of quotesUnder("## Out of memory")) {
  Deno.test(`docs/errors.md quotes a hint of OutOfMemoryError: ${quoted}`, () => {
    assertMatch(hintFor({ ...AMOUNTS, ...rowOf(HINTS, quoted) }), patternOf(quoted));
  });
}

Deno.test("docs/errors.md quotes no message twice, and none is provoked in vain", () => {
  const used = [
    ...quotesUnder("## Messages").map((quoted) => keyOf(MESSAGES, quoted)),
    ...quotesUnder("## Out of memory").map((quoted) => keyOf(HINTS, quoted)),
  ];
  assertEquals(used.sort(), [...Object.keys(MESSAGES), ...Object.keys(HINTS)].sort());
});

Deno.test("docs/errors.md lists every class of errors that programs can import", async () => {
  const entries = Object.values(config.exports).filter((path) => !path.endsWith("cli.ts"));
  const modules = await Promise.all(entries.map((path) => import(`../../${path}`)));
  const classes = modules.flatMap((module) => Object.entries<{ prototype?: unknown }>(module))
    .filter(([, { prototype }]) => prototype instanceof Error);
  const listed = quotesUnder("## Classes").join(" ");
  const missing = classes.map(([name]) => name).filter((name) => !listed.includes(`\`${name}\``));
  assertEquals([...new Set(missing)], []);
  assert(classes.length >= 14, "the entries export errors");
});

/** The first column of the table under a heading of the page. */
function quotesUnder(heading: string): string[] {
  const [page] = projectFiles(["errors.md"], "docs/");
  const part = page?.text.split(`\n${heading}\n`)[1]?.split("\n## ")[0] ?? "";
  return part.split("\n").filter((line) => line.startsWith("| ")).slice(2)
    .map((line) => line.split("|")[1]?.trim() ?? "");
}

function rowOf<T>(table: Readonly<Record<string, T>>, quoted: string): T {
  return table[keyOf(table, quoted)] as T;
}

function keyOf(table: object, quoted: string): string {
  const keys = Object.keys(table).filter((start) => quoted.startsWith(start));
  assertEquals(keys.length, 1, `one way to provoke "${quoted}"`);
  return keys[0] ?? "";
}

/** Three points stand for any text; a message may say more at its end. */
function patternOf(quoted: string): RegExp {
  return new RegExp("^" + quoted.split("...").map(RegExp.escape).join(".*"), "s");
}

async function errorOf(call: () => unknown): Promise<string | undefined> {
  try {
    return await call() as never;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function openInChild(flags: readonly string[]): Promise<void> {
  return runInChild(flags, "", "cuda");
}

/** Runs a program with few permissions, and throws what it throws. */
async function runInChild(flags: readonly string[], body: string, driver = "simulated") {
  const mod = import.meta.resolve("../../mod.ts");
  const program = `import { CudaDevice } from ${JSON.stringify(mod)};
    try {
      const gpu = CudaDevice.open(0, { driver: ${JSON.stringify(driver)} });
      ${body}
    } catch ({ message }) {
      console.log(message);
    }`;
  const { stdout } = await runWith(flags, program);
  if (stdout !== "") throw new Error(stdout.trim());
}
