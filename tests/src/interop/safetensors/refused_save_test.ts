// Saves that are refused: the good file that is there stays, and the message says what is wrong.

import { assertEquals, assertRejects } from "@std/assert";
import type { CudaDevice } from "../../../../src/device/device.ts";
import { readSafetensorsHeader } from "../../../../src/interop/safetensors/read_header.ts";
import {
  type NamedTensors,
  saveSafetensors,
  type SaveSafetensorsOptions,
} from "../../../../src/interop/safetensors/save.ts";
import { DisposedError } from "../../../../src/words/errors.ts";
import { TemporaryFolder } from "../../../support/temporary_folder.ts";
import { withDevice } from "../../../support/with_device.ts";

/** The values that a program without types gives. */
interface UntypedSave {
  readonly tensors: unknown;
  readonly options?: Record<string, unknown>;
}

/** The failure of the save. */
interface Refusal {
  // deno-lint-ignore no-explicit-any -- as assertRejects takes it
  readonly type: new (...args: any[]) => Error;
  readonly message: string;
}

/** Saves over a good file, and checks that it fails and that the file is as it was. */
async function assertRefused(save: UntypedSave, { type, message }: Refusal): Promise<void> {
  using folder = new TemporaryFolder();
  const good = Uint8Array.of(1, 2, 3);
  const path = folder.write("good.safetensors", good);
  const tensors = save.tensors as NamedTensors;
  const options = save.options as SaveSafetensorsOptions | undefined;
  await assertRejects(() => saveSafetensors(path, tensors, options), type, message);
  assertEquals(Deno.readFileSync(path), good);
  await assertRejects(() => saveSafetensors(folder.pathOf("new"), tensors, options), type);
  assertEquals([...Deno.readDirSync(folder.path)].map(({ name }) => name), ["good.safetensors"]);
}

/** Runs a test with a device and a small buffer on it. */
function withBuffer(body: (gpu: CudaDevice, a: Awaited<ReturnType<typeof upload>>) => unknown) {
  return withDevice(async (gpu) => {
    using a = await upload(gpu);
    await body(gpu, a);
  });
}

function upload(gpu: CudaDevice) {
  return gpu.upload(new Float32Array([1, 2, 3, 4, 5, 6]), { label: "a", shape: [2, 3] });
}

Deno.test("saveSafetensors() leaves a good file when a buffer was disposed", () =>
  withBuffer(async (gpu, a) => {
    const gone = gpu.zeros("uint8", 4);
    gone.dispose();
    await assertRefused({ tensors: { a, gone } }, { type: DisposedError, message: "disposed" });
  }));

Deno.test("saveSafetensors() leaves a good file when it was aborted before", () =>
  withBuffer(async (_, a) => {
    const options = { signal: AbortSignal.abort() };
    await assertRefused({ tensors: { a }, options }, { type: DOMException, message: "abort" });
  }));

Deno.test("saveSafetensors() leaves a good file when its stream cannot be used", () =>
  withBuffer(async (gpu, a) => {
    const stream = gpu.createStream();
    stream.dispose();
    const save = { tensors: { a }, options: { stream } };
    await assertRefused(save, { type: DisposedError, message: "disposed" });
  }));

Deno.test("saveSafetensors() leaves a good file when a graph has not brought the memory yet", () =>
  withBuffer(async (gpu, a) => {
    const made: { dispose(): void }[] = [];
    using _graph = gpu.capture(() => {
      made.push(gpu.zeros("uint8", 64));
    });
    const [later] = made;
    await assertRefused({ tensors: { a, later } }, {
      type: TypeError,
      message: "launch the graph",
    });
    later?.dispose();
  }));

Deno.test("saveSafetensors() names a value that is no buffer, and what to do", () =>
  withBuffer(async (_, a) => {
    const values: [unknown, string][] = [
      [a.transpose(), "is StridedView(float32[3, 2] by [1, 3]), expected a buffer: contiguous()"],
      [new Float32Array(2), "is a Float32Array, expected a buffer: await gpu.upload() makes one"],
      [new Int8Array(2), "is an Int8Array, expected"],
      [[1, 2], "is a list, expected a buffer: await gpu.upload()"],
      [Promise.resolve(a), "is a promise, which has to be awaited, expected a buffer"],
      [5, "is the number 5, expected a buffer"],
      [null, "is null, expected a buffer"],
      [undefined, "is undefined, expected a buffer"],
      [{}, "is an object, expected a buffer"],
      [{ buffers: [a] }, "is an object, expected a buffer: save each of its buffers"],
      [Object.create(null), "is an object, expected a buffer"],
    ];
    for (const [value, words] of values) {
      const message = `tensor "b" ${words}`;
      await assertRefused({ tensors: { a, b: value } }, { type: TypeError, message });
      await assertRefused({ tensors: new Map([["b", value]]) }, { type: TypeError, message });
    }
  }));

Deno.test("saveSafetensors() says that buffers need names", () =>
  withBuffer(async (_, a) => {
    const given: [unknown, string][] = [
      [[a], 'entry 0 is DeviceBuffer(a, float32[2, 3]), expected a name and a buffer: ["weights",'],
      [[["a", a], [a, "b"]], "entry 1 has DeviceBuffer(a, float32[2, 3]) for a name"],
      [new Map([[7, a]]), "entry 0 has the number 7 for a name, expected a string"],
      [a, "it was given DeviceBuffer(a, float32[2, 3]), expected buffers by name: { weights:"],
      [a.transpose(), "it was given StridedView(float32[3, 2] by [1, 3]), expected buffers"],
      [new Float32Array(2), "it was given a Float32Array, expected buffers by name"],
      [new ArrayBuffer(8), "it was given an ArrayBuffer, expected buffers by name"],
      [new Date(), "it was given a Date, expected buffers by name"],
      [
        Promise.resolve({ a }),
        "it was given a promise, which has to be awaited, expected buffers by name",
      ],
      ["a", 'it was given "a", expected buffers by name'],
      [undefined, "it was given undefined, expected buffers by name"],
    ];
    for (const [tensors, message] of given) {
      await assertRefused({ tensors }, { type: TypeError, message });
    }
  }));

Deno.test("saveSafetensors() refuses names that no reader of the format takes", () =>
  withBuffer(async (_, a) => {
    const message = 'tensor "w\\ud800" has half of a surrogate pair, which is not a character';
    for (const tensors of [{ "w\ud800": a }, new Map([["w\ud800", a]])]) {
      await assertRefused({ tensors }, { type: TypeError, message });
    }
    using folder = new TemporaryFolder();
    const path = folder.pathOf("pairs.safetensors");
    await saveSafetensors(path, { "w\ud83d\ude42": a });
    assertEquals((await readSafetensorsHeader(path)).tensors[0]?.name, "w🙂");
  }));

Deno.test("saveSafetensors() refuses metadata that the loader would refuse", () =>
  withBuffer(async (_, a) => {
    const given: [unknown, string][] = [
      [{ epoch: 5 }, 'metadata "epoch" is the number 5, expected a string: String(5)'],
      [{ ok: "yes", best: true }, 'metadata "best" is true, expected a string: String(true)'],
      [{ shape: [2] }, 'metadata "shape" is a list, expected a string: JSON.stringify() makes one'],
      [{ note: undefined }, 'metadata "note" is undefined, expected a string'],
      [new Map([["epoch", "5"]]), "metadata is a Map, expected an object of texts"],
      [["5"], "metadata is a list, expected an object of texts"],
      [new Date(), "metadata is a Date, expected an object of texts"],
      [Promise.resolve({}), "metadata is a promise, which has to be awaited, expected"],
      [null, "metadata is null, expected an object of texts"],
      ["5", 'metadata is "5", expected an object of texts'],
      [{ "\ud800": "5" }, 'metadata "\\ud800" has half of a surrogate pair'],
      [{ a: "x\udc00" }, 'metadata "a": "x\\udc00" has half of a surrogate pair'],
    ];
    for (const [metadata, message] of given) {
      await assertRefused({ tensors: { a }, options: { metadata } }, { type: TypeError, message });
    }
  }));

Deno.test("saveSafetensors() names the file that it cannot save", () =>
  withBuffer(async () => {
    using folder = new TemporaryFolder();
    const path = folder.pathOf("named.safetensors");
    const tensors = { w: 5 } as unknown as NamedTensors;
    const message = `Cannot save ${path}: tensor "w" is the number 5`;
    await assertRejects(() => saveSafetensors(path, tensors), TypeError, message);
  }));
