// Models over several devices: every tensor in its parts, whatever the files are, each byte read once,
// and nothing left of a load that fails.

import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { simulateDriver } from "../../../ffi/simulated/driver.ts";
import type { CudaDevice } from "../../../src/device/device.ts";
import type { DeviceList } from "../../../src/device/device_list.ts";
import type { DType, HostArray } from "../../../src/dtype.ts";
import { SafetensorsError } from "../../../src/interop/safetensors/header.ts";
import { readSafetensorsHeader } from "../../../src/interop/safetensors/read_header.ts";
import type { PlacementRule } from "../../../src/spread/placement.ts";
import { DisposedError, OutOfMemoryError } from "../../../src/words/errors.ts";
import { assertSameBytes } from "../../support/contents.ts";
import { cardOf } from "../../support/display.ts";
import { ON_GPU } from "../../support/driver.ts";
import { countReadBytes, openPathsIn } from "../../support/files.ts";
import { GROUP_SIZES, MAX_RANKS, withGroup } from "../../support/group_scene.ts";
import {
  bytesOf,
  countingBits,
  deviceAt,
  elementsOf,
  SMALL_SLOTS,
  withDevices,
} from "../../support/parts_scene.ts";
import { runPython, testsWith } from "../../support/python.ts";
import { shareOf, testRandom } from "../../support/random.ts";
import { fileOf, TYPES_FIXTURE, WIDE_FIXTURE } from "../../support/safetensors/files.ts";
import { PEER, PEER_MODULES } from "../../support/safetensors/peer.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";
import { inTurn, takingTurns, testOnLinux } from "../../support/test_unless.ts";

const MIB = 2 ** 20;

/** The tensors of a language model's layer, in small, and one tensor that is shared over links. */
const LAYER: Readonly<
  Record<string, { readonly dtype: DType; readonly shape: readonly number[] }>
> = {
  "embed.weight": { dtype: "bfloat16", shape: [257, 96] },
  "layers.0.q_proj": { dtype: "bfloat16", shape: [96, 64] },
  "layers.0.o_proj": { dtype: "float32", shape: [96, 65] },
  "layers.0.down": { dtype: "float16", shape: [128, 1024] },
  "layers.0.experts": { dtype: "uint8", shape: [3, 40, 50] },
  "layers.0.norm": { dtype: "float32", shape: [96] },
  "layers.0.table": { dtype: "uint8", shape: [5 * MIB + 7] },
  "layers.0.scale": { dtype: "float64", shape: [] },
  "layers.0.nothing": { dtype: "float32", shape: [0, 8] },
};

const PLACE: readonly PlacementRule[] = [
  [/q_proj|embed/, { split: 0 }],
  [/o_proj|down/g, { split: 1 }],
  [/experts/, { split: -2 }],
  ["layers.0.nothing", { split: 1 }],
  [/norm|table|scale/, "replicate"],
];

/** The axis along which the rules split a tensor. */
const AXES: Readonly<Record<string, number>> = {
  "embed.weight": 0,
  "layers.0.q_proj": 0,
  "layers.0.o_proj": 1,
  "layers.0.down": 1,
  "layers.0.experts": 1,
  "layers.0.nothing": 1,
};

/** Saves tensors into one file. */
async function saveLayer(
  gpu: CudaDevice,
  path: string,
  names: readonly string[] = Object.keys(LAYER),
): Promise<Map<string, HostArray>> {
  using stack = new DisposableStack();
  const arrays = new Map<string, HostArray>();
  const tensors = new Map<string, ReturnType<CudaDevice["alloc"]>>();
  for (const name of names) {
    const { dtype = "uint8", shape = [] } = LAYER[name] ?? {};
    const array = countingBits(dtype, shape.reduce((a, b) => a * b, 1));
    const buffer = stack.use(gpu.alloc(dtype, shape));
    await buffer.upload(array.buffer);
    tensors.set(name, buffer);
    arrays.set(name, array);
  }
  await gpu.saveSafetensors(path, tensors as never, { metadata: { format: "pt" } });
  return arrays;
}

/** Checks what each device holds of each tensor, and what is gathered. */
async function checkLayer(
  gpus: DeviceList<CudaDevice>,
  model: Awaited<ReturnType<DeviceList<CudaDevice>["loadSafetensors"]>>,
  arrays: ReadonlyMap<string, HostArray>,
): Promise<void> {
  assertEquals(new Set(model.names), new Set(arrays.keys()));
  for (const [name, array] of arrays) {
    const parts = model.tensor(name);
    const { shape = [], dtype } = LAYER[name] ?? {};
    assertEquals([parts.dtype, [...parts.shape]], [dtype, [...shape]]);
    const axis = AXES[name];
    for (const [rank, buffer] of [...parts].entries()) {
      assertEquals(buffer.deviceOrdinal, gpus.at(rank)?.ordinal);
      assertEquals(buffer.ptr % 256n, 0n);
      const start = parts.offsets[rank] ?? 0;
      const end = axis === undefined ? 0 : parts.offsets[rank + 1] ?? shape[axis] ?? 0;
      const expected = axis === undefined ? array : elementsOf(array, { shape, axis, start, end });
      const found = new ArrayBuffer(buffer.byteLength);
      await buffer.download(found);
      assertSameBytes(new Uint8Array(found), bytesOf(expected));
    }
    const whole = new ArrayBuffer(array.byteLength);
    await parts.download(whole);
    assertSameBytes(new Uint8Array(whole), bytesOf(array));
  }
}

for (const count of shareOf(GROUP_SIZES, { least: 2 })) {
  for (const limits of [undefined, SMALL_SLOTS]) {
    const by = limits === undefined ? "large slots" : "small slots";
    Deno.test(
      inTurn(`gpus.loadSafetensors() gives ${count} devices their parts, by ${by}`),
      () =>
        withDevices(count, async (gpus) => {
          using folder = new TemporaryFolder();
          const path = folder.pathOf("model.safetensors");
          const arrays = await saveLayer(deviceAt(gpus, 0), path);
          using model = await gpus.loadSafetensors(path, { place: PLACE });
          assertEquals({ ...model.metadata }, { format: "pt" });
          await checkLayer(gpus, model, arrays);
          assertEquals(openPathsIn(folder), []);
        }, limits && { limits }),
    );
  }
}

Deno.test("group.loadSafetensors() takes a folder with an index, or with files alone", () =>
  withGroup(MAX_RANKS, async ({ gpus, group }) => {
    using folder = new TemporaryFolder();
    const names = Object.keys(LAYER);
    const files = [names.slice(0, 4), names.slice(4)];
    const arrays = new Map<string, HostArray>();
    const weightMap: Record<string, string> = {};
    for (const [at, own] of files.entries()) {
      const file = `model-0000${at + 1}-of-00002.safetensors`;
      for (const [name, array] of await saveLayer(deviceAt(gpus, 0), folder.pathOf(file), own)) {
        arrays.set(name, array);
        weightMap[name] = file;
      }
    }
    {
      using model = await group.loadSafetensors(folder.path, { place: PLACE });
      await checkLayer(gpus, model, arrays);
    }
    const text = JSON.stringify({ metadata: {}, weight_map: weightMap });
    folder.write("model.safetensors.index.json", new TextEncoder().encode(text));
    folder.write("optimizer.safetensors", fileOf({ header: "{}" }));
    using model = await group.loadSafetensors(`${folder.path}/`, { place: PLACE });
    await checkLayer(gpus, model, arrays);
    using one = await deviceAt(gpus, 0).loadSafetensors(folder.path);
    assertEquals(new Set(one.names), new Set(model.names));
  }));

Deno.test("gpus.loadSafetensors() without rules gives each device the whole model", () =>
  withDevices(MAX_RANKS, async (gpus) => {
    using model = await gpus.loadSafetensors(TYPES_FIXTURE);
    using one = await deviceAt(gpus, 0).loadSafetensors(TYPES_FIXTURE);
    assertEquals(model.names, one.names);
    for (const [name, tensor] of one) {
      const parts = model.tensor(name);
      assertEquals([parts.split, parts.shape], ["replicate", tensor.shape]);
      for (const buffer of parts) {
        assertEquals(await buffer.download(), await tensor.download(), name);
      }
    }
    using wide = await gpus.loadSafetensors(WIDE_FIXTURE, {
      place: [[/phase|weight/, { split: 0 }], [/./, "replicate"]],
      filter: ({ name }) => name !== "scale",
    });
    assertEquals([wide.format("weight"), wide.has("scale")], ["F8_E4M3", false]);
    assertEquals([...wide.tensor("phase").shape], [2]);
    assertEquals([...await wide.tensor("phase", "complex64").download()], [1, 2, -3.5, 0.25]);
    const packed = await wide.tensor("packed", "float4_e2m1fn").download(new Uint8Array(4));
    assertEquals([...packed], [0x10, 0x32, 0x54, 0x76]);
    const values = await wide.tensor("packed", "float4_e2m1fn").download();
    assertEquals([...values], [0, 0.5, 1, 1.5, 2, 3, 4, 6]);
  }));

Deno.test("gpus.loadSafetensors() refuses rules that do not fit, and keeps nothing", async () => {
  const driver = simulateDriver({ devices: 3 });
  await withDevices(3, async (gpus) => {
    using folder = new TemporaryFolder();
    const path = folder.pathOf("model.safetensors");
    await saveLayer(deviceAt(gpus, 0), path);
    const refused: [readonly unknown[], string][] = [
      [[[/q_proj/, "replicate"]], "no rule has its name"],
      [[], "no rule has its name"],
      [
        [["layers", "replicate"]],
        'its name: "layers" is a part of it, write /layers/; a last one',
      ],
      [
        [["layers.0.up_porj", { split: 0 }], [/./, "replicate"]],
        'by the rule "layers.0.up_porj": none of 9 has such a name',
      ],
      [[[/up_porj/g, { split: 0 }], [/./, "replicate"]], "by the rule /up_porj/g: none of 9"],
      [[[/./, { split: 2 }]], "along axis 2"],
      [[[/scale/, { split: 0 }], [/./, "replicate"]], "it has 0 axes"],
      [[[/./, "everywhere"]], 'option "place"'],
      [[[/./, { split: 0, pad: true }]], 'option "place"'],
      [[[/./]], 'option "place"'],
      [[/./], 'option "place"'],
      [[[5, "replicate"]], 'option "place"'],
    ];
    for (const [place, words] of refused) {
      const error = await assertRejects(() =>
        gpus.loadSafetensors(path, { place: place as never })
      );
      assertStringIncludes(`${error}`, words);
    }
    const place: PlacementRule[] = [[/packed/, { split: 1 }], [/./, "replicate"]];
    const packed = () => gpus.loadSafetensors(WIDE_FIXTURE, { place });
    await assertRejects(packed, RangeError, "ends inside a byte");
    await assertRejects(() => gpus.loadSafetensors(folder.pathOf("nowhere")), Deno.errors.NotFound);
    Deno.mkdirSync(folder.pathOf("empty"));
    const empty = () => gpus.loadSafetensors(folder.pathOf("empty"));
    await assertRejects(empty, SafetensorsError, "without files that end in .safetensors");
    await assertRejects(() => gpus.loadSafetensors("https://a/b"), TypeError, "download it first");
    assertEquals(openPathsIn(folder), []);
  }, { driver });
});

Deno.test("a sharded model finds its tensors, shows them, and is gone when disposed", () =>
  withDevices(MAX_RANKS, async (gpus) => {
    const model = await gpus.loadSafetensors(TYPES_FIXTURE, { label: "types" });
    assertEquals(model.deviceBytes.length, MAX_RANKS);
    assertEquals(
      gpus.map((gpu) => gpu.live().objects.map(({ name }) => name)).flat(),
      gpus.map(() => "types"),
    );
    await assertRejects(
      async () => await model.tensor("float31").download(),
      RangeError,
      "such as",
    );
    await assertRejects(
      async () => await model.tensor("int8", "int16").download(),
      TypeError,
      "it is int8",
    );
    const { text } = await cardOf(model);
    assertStringIncludes(text, "float64");
    const parts = model.tensor("int8");
    model.dispose();
    model.dispose();
    await assertRejects(async () => await model.tensor("int8").download(), DisposedError);
    await assertRejects(() => parts.download(), DisposedError);
    assertStringIncludes((await cardOf(model)).text, "disposed");
    assertStringIncludes(`${model}`, `on ${MAX_RANKS} device`);
  }));

Deno.test("gpus.loadSafetensors() tells its progress, and ends early when it is aborted", () =>
  withDevices(MAX_RANKS, async (gpus) => {
    using folder = new TemporaryFolder();
    const path = folder.pathOf("model.safetensors");
    await saveLayer(deviceAt(gpus, 0), path);
    const { tensors } = await readSafetensorsHeader(path);
    const dataBytes = tensors.reduce((sum, { byteLength }) => sum + byteLength, 0);
    const seen: number[] = [];
    {
      using _model = await gpus.loadSafetensors(path, {
        place: PLACE,
        onProgress: (done, total) => {
          assertEquals(total, dataBytes);
          seen.push(done);
        },
      });
    }
    assertEquals([seen.at(-1), seen.toSorted((a, b) => a - b)], [dataBytes, seen]);
    const abort = new AbortController();
    const onProgress = () => abort.abort(new Error("enough"));
    const load = () =>
      gpus.loadSafetensors(path, { place: PLACE, onProgress, signal: abort.signal });
    await assertRejects(load, Error, "enough");
    assertEquals(openPathsIn(folder), []);
  }));

for (const count of shareOf(GROUP_SIZES, { least: 2 })) {
  testOnLinux(
    `gpus.loadSafetensors() for ${count} devices reads each byte once`,
    () =>
      withDevices(count, async (gpus) => {
        using folder = new TemporaryFolder();
        const path = folder.pathOf("model.safetensors");
        await saveLayer(deviceAt(gpus, 0), path);
        {
          using _first = await gpus.loadSafetensors(path, { place: PLACE });
        }
        const before = countReadBytes();
        {
          using _model = await gpus.loadSafetensors(path, { place: PLACE });
        }
        const excess = countReadBytes() - before - Deno.statSync(path).size;
        assert(excess < 64 * 1024, `${excess} bytes were read more than once`);
      }),
  );
}

if (!ON_GPU) {
  Deno.test("gpus.loadSafetensors() keeps nothing when the last device has no memory", async () => {
    using folder = new TemporaryFolder();
    const path = folder.pathOf("model.safetensors");
    await withDevices(1, (gpus) => saveLayer(deviceAt(gpus, 0), path));
    const driver = simulateDriver({ devices: 3, memoryBytes: 32 * MIB });
    await withDevices(3, async (gpus) => {
      using _full = deviceAt(gpus, 2).alloc("uint8", 30 * MIB);
      await assertRejects(() => gpus.loadSafetensors(path, { place: PLACE }), OutOfMemoryError);
    }, { driver });
  });

  Deno.test("gpus.loadSafetensors() keeps nothing when one device's copies fail", async () => {
    using folder = new TemporaryFolder();
    const path = folder.pathOf("model.safetensors");
    await withDevices(1, (gpus) => saveLayer(deviceAt(gpus, 0), path));
    for (const after of [0, 1, 5, 17]) {
      const simulated = simulateDriver({ devices: 3 });
      let count = 0;
      const isOver = () => ++count > after;
      const driver = {
        ...simulated,
        cuMemcpyAsync: (...args: Parameters<typeof simulated.cuMemcpyAsync>) =>
          isOver() ? 1 : simulated.cuMemcpyAsync(...args),
        cuMemcpyPeerAsync: (...args: Parameters<typeof simulated.cuMemcpyPeerAsync>) =>
          isOver() ? 1 : simulated.cuMemcpyPeerAsync(...args),
      };
      await withDevices(3, async (gpus) => {
        const load = () => gpus.loadSafetensors(path, { place: PLACE });
        assertStringIncludes(`${await assertRejects(load)}`, "CUDA_ERROR_INVALID_VALUE");
        assertEquals(openPathsIn(folder), []);
      }, { driver });
    }
  });
}

Deno.test("gpus.loadSafetensors() says that a file was cut while it was read", () =>
  withDevices(MAX_RANKS, async (gpus) => {
    using folder = new TemporaryFolder();
    const path = folder.pathOf("model.safetensors");
    await saveLayer(deviceAt(gpus, 0), path);
    const load = gpus.loadSafetensors(path, {
      place: PLACE,
      filter: ({ name }) => {
        if (name === "layers.0.table") Deno.truncateSync(path, 4096);
        return true;
      },
    });
    await assertRejects(() => load, Error, "meanwhile");
  }));

const testWithPeer = await testsWith(...PEER_MODULES);

takingTurns(testWithPeer)(
  "gpus.loadSafetensors() gathers what Python wrote, split at random",
  async () => {
    const random = testRandom();
    using folder = new TemporaryFolder();
    await runPython([PEER, "random", folder.path, "60"]);
    await withDevices(MAX_RANKS, async (gpus) => {
      for (const { name: file } of Deno.readDirSync(folder.path)) {
        const path = `${folder.path}/${file}`;
        const { tensors } = await readSafetensorsHeader(path);
        const place = tensors.map(({ name, shape, format }): PlacementRule => {
          const isWhole = shape.length === 0 || /F4|F6/.test(format) || random.below(4) === 0;
          return [name, isWhole ? "replicate" : { split: random.below(shape.length) }];
        });
        using model = await gpus.loadSafetensors(path, { place });
        using one = await deviceAt(gpus, 0).loadSafetensors(path);
        for (const [name, tensor] of one) {
          const [found, expected] = [0, 1].map(() => new ArrayBuffer(tensor.byteLength));
          await model.tensor(name).download(found as ArrayBuffer);
          await tensor.download(expected as ArrayBuffer);
          assertEquals(found, expected, `${name} of ${file}`);
        }
      }
    });
  },
);
