// Models of groups of several processes: each rank has its own parts and reads no other bytes, also where
// the others do something else.

import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { simulateDriver } from "../../../ffi/simulated/driver.ts";
import { CudaDevice } from "../../../src/device/device.ts";
import type { PlacementRule } from "../../../src/spread/placement.ts";
import { DisposedError } from "../../../src/words/errors.ts";
import { cardOf } from "../../support/display.ts";
import { countReadBytes, openPathsIn } from "../../support/files.ts";
import { join, withRanks } from "../../support/group/joined_ranks.ts";
import { freeAddress } from "../../support/group/rank_process.ts";
import { countingBits, elementsOf } from "../../support/parts_scene.ts";
import { Random, testRandom } from "../../support/random.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";
import { testOnLinux } from "../../support/test_unless.ts";

const PLACE: readonly PlacementRule[] = [
  [/rows/, { split: 0 }],
  [/columns/, { split: -1 }],
  [/./, "replicate"],
];

interface Tensor {
  readonly shape: readonly number[];
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The same with all bits turned. */
  readonly turned: Uint8Array<ArrayBuffer>;
}

/** Writes a model of random shapes, some of which have fewer rows than there are ranks. */
async function saveModel(path: string, random: Random): Promise<Map<string, Tensor>> {
  using gpu = CudaDevice.open(0, { driver: simulateDriver() });
  using stack = new DisposableStack();
  const model = new Map<string, Tensor>();
  const tensors: Record<string, ReturnType<CudaDevice["alloc"]>> = {};
  for (let at = 0; at < 12; at++) {
    const name = `${at}.${["rows", "columns", "norm"][at % 3]}`;
    const isLarge = at === 6 || at === 7;
    const shape = isLarge ? [1031, 2053] : [random.below(9), 1 + random.below(9), random.below(40)];
    const bytes = countingBits("uint8", shape.reduce((a, b) => a * b, 1)) as Uint8Array<
      ArrayBuffer
    >;
    const buffer = stack.use(gpu.alloc("uint8", shape));
    await buffer.upload(bytes);
    tensors[name] = buffer;
    model.set(name, { shape, bytes, turned: bytes.map((byte) => byte ^ 255) });
  }
  await gpu.saveSafetensors(path, tensors as never);
  return model;
}

function axisOf(name: string, { shape }: Tensor): number | undefined {
  return name.includes("rows") ? 0 : name.includes("columns") ? shape.length - 1 : undefined;
}

function partOf(
  name: string,
  tensor: Tensor,
  offsets: readonly number[],
  rank: number,
): Uint8Array {
  const { shape, bytes } = tensor;
  const axis = axisOf(name, tensor);
  if (axis === undefined) return bytes;
  const [start = 0, end = shape[axis] ?? 0] = [offsets[rank], offsets[rank + 1]];
  return elementsOf(bytes, { shape, axis, start, end }) as Uint8Array;
}

for (const size of [1, 2, 3, 5]) {
  Deno.test(`group.loadSafetensors() gives each of ${size} joined ranks its own parts`, async () => {
    using folder = new TemporaryFolder();
    const path = folder.pathOf("model.safetensors");
    const model = await saveModel(path, testRandom());
    await withRanks(size, async ({ rank, group }) => {
      using loaded = await group.loadSafetensors(path, { place: PLACE });
      assertEquals(new Set(loaded.names), new Set(model.keys()));
      for (const [name, tensor] of model) {
        const parts = loaded.tensor(name, "uint8");
        const expected = partOf(name, tensor, parts.offsets, rank);
        assertEquals([parts.length, parts.firstPart, parts.offsets.length], [1, rank, size]);
        assertEquals(await parts.buffers[0]?.download(), expected, name);
        assertEquals([...parts.shape], tensor.shape);
        // The whole goes up, and this rank takes its own part of it.
        await parts.upload(tensor.turned);
        const turned = partOf(name, { ...tensor, bytes: tensor.turned }, parts.offsets, rank);
        assertEquals(await parts.buffers[0]?.download(), turned, name);
        if (size === 1 || axisOf(name, tensor) === undefined) {
          assertEquals(await parts.download(), tensor.turned);
        } else {
          const words = `other processes have the other parts`;
          const error = await assertRejects(() => parts.download(), TypeError, words);
          assertStringIncludes(error.message, `part ${rank} of ${size}`);
          assertStringIncludes((await cardOf(parts)).text, `part ${rank} of ${size}`);
        }
      }
      const own = [...model].reduce((sum, [name, tensor]) => {
        return sum + partOf(name, tensor, loaded.tensor(name).offsets, rank).byteLength;
      }, 0);
      assertEquals(loaded.deviceBytes.length, 1);
      const [bytes = 0] = loaded.deviceBytes;
      assertEquals(bytes >= own && bytes < own + 256 * model.size, true, `${bytes} for ${own}`);
    });
    assertEquals(openPathsIn(folder), []);
  });
}

Deno.test("group.loadSafetensors() of joined ranks waits for no other rank", async () => {
  using folder = new TemporaryFolder();
  const path = folder.pathOf("model.safetensors");
  await saveModel(path, new Random(1));
  await withRanks(3, async ({ rank, group, gpu }) => {
    // One loads, one finds no file, one breaks its rules; then all go on together.
    if (rank === 0) {
      using loaded = await group.loadSafetensors(path, { place: PLACE });
      assertEquals(loaded.size, 12);
    } else if (rank === 1) {
      await assertRejects(() => group.loadSafetensors(folder.pathOf("none")), Deno.errors.NotFound);
    } else {
      const place = [[/rows/, "replicate"]] as const;
      await assertRejects(() => group.loadSafetensors(path, { place }), RangeError, "no rule");
    }
    using sum = gpu.alloc("float32", 4).fill(1);
    await group.allReduce(sum);
    assertEquals([...await sum.download()], [3, 3, 3, 3]);
  });
});

Deno.test("group.loadSafetensors() works on groups that came from a joined one", async () => {
  using folder = new TemporaryFolder();
  const path = folder.pathOf("model.safetensors");
  const model = await saveModel(path, new Random(2));
  await withRanks(4, async ({ rank, group }) => {
    const half = await group.split({ color: rank % 2, key: -rank });
    await using own = half;
    if (own === undefined) throw new Error("there is no group");
    using loaded = await own.loadSafetensors(path, { place: PLACE });
    for (const [name, tensor] of model) {
      const parts = loaded.tensor(name, "uint8");
      assertEquals(parts.offsets.length, 2);
      const expected = partOf(name, tensor, parts.offsets, own.rank);
      assertEquals(await parts.buffers[0]?.download(), expected, name);
    }
  });
});

Deno.test("group.loadSafetensors() of a joined rank says that its device is gone", async () => {
  using folder = new TemporaryFolder();
  const path = folder.pathOf("model.safetensors");
  await saveModel(path, new Random(3));
  const gpu = CudaDevice.open(0, { driver: simulateDriver() });
  await using group = await join({ rendezvous: freeAddress(), rank: 0, size: 1, device: gpu });
  gpu.dispose();
  await assertRejects(() => group.loadSafetensors(path), DisposedError);
  assertEquals(openPathsIn(folder), []);
});

testOnLinux("group.loadSafetensors() of joined ranks reads no byte of another's part", async () => {
  using folder = new TemporaryFolder();
  const path = folder.pathOf("model.safetensors");
  const model = await saveModel(path, new Random(4));
  const place: PlacementRule[] = [[/rows/, { split: 0 }], [/./, { split: -1 }]];
  const dataBytes = [...model.values()].reduce((sum, { bytes }) => sum + bytes.byteLength, 0);
  const gpus = [0, 1, 2].map((at) =>
    CudaDevice.open(at, { driver: simulateDriver({ devices: 8 }) })
  );
  const rendezvous = freeAddress();
  const groups = await Promise.all(
    gpus.map((device, rank) => join({ rendezvous, rank, size: 3, device })),
  );
  const before = countReadBytes();
  const models = await Promise.all(groups.map((group) => group.loadSafetensors(path, { place })));
  const excess = countReadBytes() - before - dataBytes;
  for (const model of models) model.dispose();
  await Promise.all(groups.map((group) => group[Symbol.asyncDispose]()));
  for (const gpu of gpus) gpu.dispose();
  assertEquals(excess < 64 * 1024, true, `${excess} bytes were read more than once`);
});
