// Models saved in several files with an index: the former model is whole until the new one is.

import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { setTimeout as delay } from "node:timers/promises";
import { flagsOfBuiltKit } from "../support/built_kit.ts";
import { faultyDriver } from "../support/faulty_driver.ts";
import { namesIn, openPathsIn } from "../support/files.ts";
import { PROJECT_ROOT } from "../support/project_files.ts";
import { runPython, testsWith } from "../support/python.ts";
import { fuzzCount } from "../support/fuzz_count.ts";
import { type Random, testRandom } from "../support/random.ts";
import { judgeFile } from "../support/saving/whole_model.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { takingTurns, testOnLinux } from "../support/test_unless.ts";
import { CaughtWarnings } from "../support/warnings.ts";
import { testOnDevice, withDevice } from "../support/with_device.ts";
import type { CudaDevice } from "../../mod.ts";

const INDEX = "model.safetensors.index.json";
const SHARD = /^model-[0-9a-f]{8}-0000\d-of-0000\d\.safetensors$/;

const testWithPython = await testsWith("numpy", "safetensors");

/** Saves three tensors of a value in two files. */
async function save(gpu: CudaDevice, path: string, value: number, options = {}): Promise<void> {
  using stack = new DisposableStack();
  const tensors = Object.fromEntries(["a", "b", "c"].map((name) => {
    const tensor = stack.use(gpu.alloc("uint8", 100));
    tensor.fill(value);
    return [name, tensor];
  }));
  await gpu.saveSafetensors(path, tensors, { shardSize: 200, ...options });
}

async function valueOf(gpu: CudaDevice, folder: string): Promise<number | undefined> {
  using model = await gpu.loadSafetensors(folder);
  const values = new Set<number>();
  for (const [, tensor] of model) {
    for (const byte of await tensor.as("uint8").download()) values.add(byte);
  }
  assertEquals([model.names.toSorted(), values.size], [["a", "b", "c"], 1]);
  return [...values][0];
}

testOnDevice("saveSafetensors() with shardSize writes files, and an index of them", async (gpu) => {
  using folder = new TemporaryFolder();
  const path = folder.pathOf("model.safetensors");
  const steps: number[] = [];
  const onProgress = (done: number, total: number) => steps.push(done, total);
  await save(gpu, path, 1, { metadata: { format: "pt" }, onProgress });
  const names = namesIn(folder).toSorted();
  assertEquals(names.length, 3);
  for (const name of names.slice(0, 2)) assertMatch(name, SHARD);
  assertEquals(names[2], INDEX);
  const index = JSON.parse(Deno.readTextFileSync(folder.pathOf(INDEX)));
  assertEquals(index, {
    metadata: { total_size: 300 },
    weight_map: { a: names[0], b: names[0], c: names[1] },
  });
  assertEquals(steps.slice(-2), [300, 300]);
  using model = await gpu.loadSafetensors(folder.path);
  assertEquals({ ...model.metadata }, { format: "pt" });
  assertEquals(await valueOf(gpu, folder.pathOf(INDEX)), 1);
});

testOnDevice(
  "saveSafetensors() with shardSize replaces the former model, and what others left",
  async (gpu) => {
    using folder = new TemporaryFolder();
    const path = folder.pathOf("model.safetensors");
    using x = gpu.zeros("uint8", 4);
    await gpu.saveSafetensors(path, { x });
    const other = folder.write("model-00001-of-00002.safetensors", "of somebody else");
    const others = folder.write("model-0123abcd-00001-of-00001.txt", "");
    const left = folder.write("model-0123abcd-00001-of-00009.safetensors", "of a killed program");
    for (const value of [3, 4]) {
      await save(gpu, path, value);
      assertEquals(await valueOf(gpu, folder.pathOf(INDEX)), value);
      assertEquals(namesIn(folder).filter((name) => SHARD.test(name)).length, 2);
    }
    const there = [path, other, others, left].map((file) =>
      namesIn(folder).includes(file.split("/").at(-1) ?? "")
    );
    assertEquals(there, [false, true, true, false]);
    assertEquals(namesIn(folder).length, 5);
  },
);

testOnDevice(
  "saveSafetensors() with shardSize cuts where the size ends, and not within a tensor",
  async (gpu) => {
    using folder = new TemporaryFolder();
    const path = folder.pathOf("model.safetensors");
    using stack = new DisposableStack();
    const sizes = [10, 0, 90, 1, 250, 50, 50, 1, 0];
    const tensors = sizes.map((size, i) => [`t${i}`, stack.use(gpu.zeros("uint8", size))] as const);
    await gpu.saveSafetensors(path, tensors, { shardSize: "100 B" });
    const { weight_map: map } = JSON.parse(Deno.readTextFileSync(folder.pathOf(INDEX)));
    const files = Object.values<string>(map);
    const numbers = files.map((file) => Number(/-(\d{5})-of-00005/.exec(file)?.[1]));
    assertEquals(numbers, [1, 1, 1, 2, 3, 4, 4, 5, 5]);
    using model = await gpu.loadSafetensors(folder.path);
    assertEquals(model.size, sizes.length);
  },
);

testOnDevice(
  "saveSafetensors() with shardSize refuses what makes no sense, and touches nothing",
  async (gpu) => {
    using folder = new TemporaryFolder();
    const path = folder.pathOf("model.safetensors");
    await assertRejects(() => save(gpu, path, 1, { shardSize: 0 }), RangeError, "0 bytes");
    await assertRejects(() => save(gpu, path, 1, { shardSize: "many" }), RangeError);
    await assertRejects(() => save(gpu, path, 1, { inPlace: true }), TypeError, "not inPlace");
    await assertRejects(
      () => save(gpu, folder.pathOf("model"), 1),
      TypeError,
      "expected a name in",
    );
    await assertRejects(
      () => gpu.saveSafetensors(path, {}, { shardSize: 9 }),
      RangeError,
      "without tensors",
    );
    await assertRejects(
      () => save(gpu, `${folder.path}/none/m.safetensors`, 1),
      Deno.errors.NotFound,
    );
    assertEquals(namesIn(folder), []);
  },
);

testOnDevice(
  "saveSafetensors() with shardSize leaves the former model when it fails",
  async (gpu) => {
    using folder = new TemporaryFolder();
    const path = folder.pathOf("model.safetensors");
    await save(gpu, path, 1);
    const before = namesIn(folder).toSorted();
    const reason = new Error("enough");
    const failing = new AbortController();
    const onProgress = () => failing.abort(reason);
    const signals = [AbortSignal.abort(reason), failing.signal];
    for (const signal of signals) {
      const error = await save(gpu, path, 2, { signal, onProgress }).catch((error) => error);
      assertEquals([error, namesIn(folder).toSorted()], [reason, before]);
    }
    assertEquals(await valueOf(gpu, folder.path), 1);
    assertEquals(openPathsIn(folder), []);
  },
);

Deno.test("saveSafetensors() with shardSize leaves the former model when a copy fails in any file", async () => {
  using folder = new TemporaryFolder();
  const path = folder.pathOf("model.safetensors");
  const { driver, setFault } = faultyDriver();
  await withDevice(async (gpu) => {
    await save(gpu, path, 1);
    const before = namesIn(folder).toSorted();
    let failed = 0;
    for (let after = 0;; after++) {
      setFault({ name: "cuMemcpyDtoHAsync_v2", after });
      const error = await save(gpu, path, 2).then(() => undefined, (error) => error);
      setFault(undefined);
      if (error === undefined) break;
      failed++;
      assertEquals(namesIn(folder).toSorted(), before);
      assertEquals(await valueOf(gpu, folder.path), 1);
    }
    assert(failed >= 2, `${failed} copies failed`);
    assertEquals(await valueOf(gpu, folder.path), 2);
  }, { driver });
});

testOnDevice(
  "saveSafetensors() with shardSize has its place in the order of calls",
  async (gpu) => {
    using folder = new TemporaryFolder();
    const path = folder.pathOf("model.safetensors");
    await save(gpu, path, 1);
    const before = valueOf(gpu, folder.path);
    const saved = save(gpu, path, 2);
    const after = valueOf(gpu, folder.path);
    const again = save(gpu, path, 3);
    const last = valueOf(gpu, folder.path);
    await Promise.all([saved, again]);
    assertEquals(await Promise.all([before, after, last]), [1, 2, 3]);
    using x = gpu.zeros("uint8", 4);
    const sharded = save(gpu, path, 4);
    const single = gpu.saveSafetensors(path, { x });
    await Promise.all([sharded, single]);
    using model = await gpu.loadSafetensors(path);
    assertEquals(model.names, ["x"]);
  },
);

takingTurns(testOnLinux)(
  "saveSafetensors() with shardSize leaves a whole model whenever it is killed",
  async () => {
    using folder = new TemporaryFolder();
    const path = folder.pathOf("model.safetensors");
    await withDevice((gpu) => save(gpu, path, 250));
    const random = testRandom();
    for (let kill = 0; kill < 6; kill++) {
      await killSaver(path, 1 + random.below(200), random);
      const index = JSON.parse(Deno.readTextFileSync(folder.pathOf(INDEX)));
      const files = [...new Set(Object.values<string>(index.weight_map))];
      const values = new Set(files.map((file) => JSON.stringify(valueIn(folder.pathOf(file)))));
      assertEquals(values.size, 1, [...values].join(", "));
    }
    await withDevice(async (gpu) => {
      await save(gpu, path, 9);
      assertEquals(await valueOf(gpu, folder.path), 9);
    });
    assertEquals(namesIn(folder).filter((name) => !SHARD.test(name)), [INDEX]);
    assertEquals(namesIn(folder).length, 3);
  },
);

/** The value of one file; those of the first save have no metadata. */
function valueIn(path: string): unknown {
  try {
    return judgeFile(path);
  } catch {
    return "first";
  }
}

async function killSaver(path: string, first: number, random: Random): Promise<void> {
  const program = new URL("tests/support/saving/shard_saver.ts", PROJECT_ROOT).pathname;
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--quiet",
      ...await flagsOfBuiltKit(),
      program,
      path,
      String(12 * 2 ** 20),
      String(first),
    ],
    env: { NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" },
    stdin: "null",
    stdout: "piped",
  }).spawn();
  const reader = child.stdout.getReader();
  await reader.read();
  await delay(random.below(120));
  child.kill("SIGKILL");
  await reader.cancel();
  reader.releaseLock();
  await child.status;
}

testOnLinux("saveSafetensors() with shardSize warns of a file that it cannot remove", async () => {
  using folder = new TemporaryFolder();
  const path = folder.pathOf("model.safetensors");
  const left = folder.pathOf("model-0123abcd-00001-of-00001.safetensors");
  Deno.mkdirSync(`${left}/full`, { recursive: true });
  await withDevice(async (gpu) => {
    const warnings = new CaughtWarnings();
    await save(gpu, path, 1);
    assertEquals(warnings.texts.length, 1);
    assertMatch(warnings.texts[0] ?? "", /is left/);
    warnings[Symbol.dispose]();
    assertEquals(await valueOf(gpu, folder.pathOf(INDEX)), 1);
  });
});

takingTurns(testWithPython)(
  "saveSafetensors() with shardSize writes models that Python reads",
  async () => {
    using folder = new TemporaryFolder();
    const path = folder.pathOf("model.safetensors");
    await withDevice(async (gpu) => {
      const random = testRandom();
      for (let round = 0; round < fuzzCount(50); round++) {
        using stack = new DisposableStack();
        const tensors = Array.from({ length: 1 + random.below(9) }, (_, i) => {
          const values = Float32Array.from({ length: random.below(40) }, (_, at) => i + at);
          return [`t${i}`, values] as const;
        });
        const buffers = new Map();
        for (const [name, values] of tensors) {
          buffers.set(name, stack.use(await gpu.upload(values)));
        }
        await gpu.saveSafetensors(path, buffers, { shardSize: 1 + random.below(300) });
        const program = `import json, sys
from safetensors.numpy import load_file
index = json.load(open(sys.argv[1]))["weight_map"]
files = {f: load_file(sys.argv[2] + "/" + f) for f in set(index.values())}
print(json.dumps({n: files[f][n].tolist() for n, f in index.items()}))`;
        const read = JSON.parse(
          await runPython(["-c", program, folder.pathOf(INDEX), folder.path]),
        );
        assertEquals(
          read,
          Object.fromEntries(tensors.map(([name, values]) => [name, [...values]])),
        );
      }
    });
  },
);
