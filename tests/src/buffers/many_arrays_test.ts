// Tests for many arrays at once: what arrives, where it lies, and what failures leave.

import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { CudaError, DisposedError } from "../../../src/words/errors.ts";
import { cardOf } from "../../support/display.ts";
import { openTestDevice } from "../../support/driver.ts";
import { faultyDriver } from "../../support/faulty_driver.ts";
import { type Random, testRandom } from "../../support/random.ts";
import { inTurn } from "../../support/test_unless.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

const LARGE_BYTES = 3 * 2 ** 20;

function bytesFrom(random: Random, byteLength: number): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length: byteLength }, () => random.below(256));
}

testOnDevice("CudaDevice.uploadAll() keeps order, element types and values", async (gpu) => {
  const arrays = [new Float32Array([1.5, 2]), new BigInt64Array([-3n]), new Uint8Array([4, 5, 6])];
  using packed = await gpu.uploadAll(arrays);
  assertEquals(packed.buffers.map(({ dtype }) => dtype), ["float32", "int64", "uint8"]);
  assertEquals(await Promise.all(packed.buffers.map((buffer) => buffer.download())), arrays);
});

testOnDevice("CudaDevice.uploadAll() types each buffer by its array", async (gpu) => {
  using packed = await gpu.uploadAll([new Float32Array([1]), new Int16Array([2])]);
  const [floats, words] = packed.buffers;
  const first: Float32Array = await floats.download();
  const second: Int16Array = await words.download();
  assertEquals([first[0], second[0]], [1, 2]);
});

Deno.test("CudaDevice.uploadAll() starts each buffer at a multiple of 256 bytes", async () => {
  using gpu = openTestDevice();
  using packed = await gpu.uploadAll([1, 255, 256, 257, 1].map((size) => new Uint8Array(size)));
  assertEquals(packed.buffers.map(({ byteOffset }) => byteOffset), [0, 256, 512, 768, 1280]);
});

testOnDevice("CudaDevice.uploadAll() makes one allocation, disposed as a whole", async (gpu) => {
  const packed = await gpu.uploadAll([new Uint8Array(300), new Uint8Array(300)], { label: "p" });
  assertEquals(gpu.live({ kind: "device" }).count, 1);
  const [first] = packed.buffers;
  packed.dispose();
  assertEquals(gpu.live({ kind: "device" }).count, 0);
  assert(first.disposed);
  assertThrows(() => packed.buffers, DisposedError);
});

Deno.test(
  inTurn("CudaDevice.uploadAll() and downloadAll() move any mix of sizes, large ones too"),
  async () => {
    using gpu = openTestDevice();
    const random = testRandom();
    const sizes = Array.from({ length: 200 }, () => random.below(40_000));
    const arrays = [...sizes, 0, LARGE_BYTES, 1, 2 ** 19, 2 ** 19 - 1].map((size) =>
      bytesFrom(random, size)
    );
    using packed = await gpu.uploadAll(arrays);
    assertEquals(await gpu.downloadAll(packed.buffers), arrays);
  },
);

Deno.test("CudaDevice.uploadAll() into buffers writes them and nothing beside them", async () => {
  using gpu = openTestDevice();
  using block = await gpu.upload(new Uint8Array(600).fill(9));
  using other = gpu.zeros("float32", 2);
  const into = [block.subarray(0, 100), other, block.subarray(150, 250), block.subarray(250, 251)];
  const arrays = [
    new Uint8Array(100).fill(1),
    new Float32Array([2, 3]),
    new Uint8Array(100).fill(4),
    new Uint8Array([5]),
  ];
  await gpu.uploadAll(arrays, { into });
  const expected = new Uint8Array(600).fill(9).fill(1, 0, 100).fill(4, 150, 250).fill(5, 250, 251);
  assertEquals(await block.download(), expected);
  assertEquals(await other.download(), new Float32Array([2, 3]));
});

testOnDevice("CudaDevice.uploadAll() into one buffer twice leaves the later array", async (gpu) => {
  using buffer = gpu.zeros("uint8", 4);
  await gpu.uploadAll([new Uint8Array(4).fill(1), new Uint8Array(4).fill(2)], {
    into: [buffer, buffer],
  });
  assertEquals(await buffer.download(), new Uint8Array(4).fill(2));
});

testOnDevice("CudaDevice.uploadAll() narrows Float32Array to bfloat16 buffers", async (gpu) => {
  using buffer = gpu.zeros("bfloat16", 2);
  await gpu.uploadAll([new Float32Array([0.5, -3])], { into: [buffer] });
  assertEquals(await gpu.downloadAll([buffer]), [new Float32Array([0.5, -3])]);
});

Deno.test("CudaDevice.uploadAll() refuses what it cannot pair, before anything is written", async () => {
  using gpu = openTestDevice();
  using buffer = gpu.zeros("uint8", 2);
  const two = new Uint8Array([1, 2]);
  await assertRejects(
    () => gpu.uploadAll([two, two], { into: [buffer] }),
    RangeError,
    "Cannot upload 2 arrays with 1 buffer: expected as many",
  );
  const into = [buffer, buffer];
  await assertRejects(() => gpu.uploadAll([two, new Uint8Array(3)], { into }), RangeError);
  await assertRejects(() => gpu.uploadAll([two, new Float32Array(1)], { into }), TypeError);
  assertEquals(await buffer.download(), new Uint8Array(2));
});

testOnDevice("CudaDevice.uploadAll() of nothing makes an empty pack", async (gpu) => {
  using packed = await gpu.uploadAll([]);
  assertEquals([packed.length, packed.byteLength], [0, 0]);
});

testOnDevice("CudaDevice.uploadAll() tells progress in bytes of the arrays", async (gpu) => {
  const seen: [number, number][] = [];
  using _packed = await gpu.uploadAll([new Uint8Array(10), new Uint8Array(LARGE_BYTES)], {
    onProgress: (done, total) => seen.push([done, total]),
  });
  const total = LARGE_BYTES + 10;
  assertEquals(seen[0], [10, total]);
  assertEquals(seen.at(-1), [total, total]);
});

testOnDevice("CudaDevice.uploadAll() leaves no memory when it is aborted", async (gpu) => {
  const abort = new AbortController();
  const arrays = Array.from({ length: 40 }, () => new Uint8Array(2 ** 18));
  await assertRejects(
    () => gpu.uploadAll(arrays, { signal: abort.signal, onProgress: () => abort.abort() }),
    DOMException,
    "abort",
  );
  assertEquals(gpu.live().count, 0);
});

Deno.test("CudaDevice.uploadAll() into a buffer disposed meanwhile leaves other memory alone", () =>
  withDevice(async (gpu) => {
    const arrays = Array.from({ length: 300 }, (_, index) => new Uint8Array(4096).fill(index + 1));
    const buffers = arrays.map(() => gpu.zeros("uint8", 4096));
    const moving = gpu.uploadAll(arrays, { into: buffers });
    for (const buffer of buffers) buffer.dispose();
    using later = gpu.zeros("uint8", 300 * 4096);
    await moving;
    assertEquals((await later.download()).every((value) => value === 0), true);
  }));

for (const name of ["cuMemcpyAsync", "cuMemcpyBatchAsync", "cuEventRecord"] as const) {
  Deno.test(`CudaDevice.uploadAll() and downloadAll() in which ${name} fails can be tried again`, () => {
    const { driver, setFault } = faultyDriver();
    return withDevice(async (gpu) => {
      const arrays = Array.from({ length: 5 }, (_, index) => new Uint8Array(1000).fill(index + 1));
      using stack = new DisposableStack();
      const count = name === "cuMemcpyAsync" ? 1 : 5; // one copy alone is no batch
      const buffers = arrays.slice(0, count).map((array) => {
        return stack.use(gpu.alloc("uint8", array.length));
      });
      const sources = arrays.slice(0, count);
      setFault({ name });
      await assertRejects(() => gpu.uploadAll(sources, { into: buffers }), CudaError, name);
      await assertRejects(() => gpu.downloadAll(buffers), CudaError, name);
      setFault(undefined);
      await gpu.uploadAll(sources, { into: buffers });
      assertEquals(await gpu.downloadAll(buffers), sources);
    }, { driver });
  });
}

Deno.test("CudaDevice.downloadAll() into one array twice leaves the later buffer's values", async () => {
  using gpu = openTestDevice();
  using first = await gpu.upload(Float32Array.of(1, 2));
  using second = await gpu.upload(Float32Array.of(3, 4));
  const target = new Float32Array(2);
  await gpu.downloadAll([first, second], { into: [target, target] });
  assertEquals(target, Float32Array.of(3, 4));
});

Deno.test("CudaDevice.uploadAll() keeps its page-locked memory for the next call", async () => {
  using gpu = openTestDevice();
  using _first = await gpu.uploadAll([new Uint8Array(10)]);
  const cachedBytes = gpu.context.ledger.cachedBytes("host");
  using _second = await gpu.uploadAll([new Uint8Array(10)]);
  assertEquals(gpu.context.ledger.cachedBytes("host"), cachedBytes);
});

Deno.test("CudaDevice.uploadAll() waits for what another stream does with the buffers", async () => {
  using gpu = openTestDevice();
  using stream = gpu.createStream();
  using buffer = gpu.zeros("uint8", 1000);
  buffer.fill(7, { stream });
  await gpu.uploadAll([new Uint8Array(1000).fill(1)], { into: [buffer] });
  assertEquals(await buffer.download(), new Uint8Array(1000).fill(1));
});

testOnDevice("CudaDevice.downloadAll() fills memory of yours and resolves with it", async (gpu) => {
  using a = await gpu.upload(new Int32Array([1, 2]));
  using b = await gpu.upload(new Float64Array([3]));
  const into = [new Int32Array(2), new Float64Array(1)];
  const found = await gpu.downloadAll([a, b], { into });
  assertEquals(into, [new Int32Array([1, 2]), new Float64Array([3])]);
  assert(found[0] === into[0] && found[1] === into[1]);
});

testOnDevice("CudaDevice.downloadAll() refuses a buffer that was disposed", async (gpu) => {
  const buffer = gpu.zeros("uint8", 4);
  buffer.dispose();
  await assertRejects(() => gpu.downloadAll([buffer]), DisposedError);
});

Deno.test("PackedBuffers shows what it holds and where, and that it was disposed", async () => {
  using gpu = openTestDevice();
  const packed = await gpu.uploadAll([new Uint8Array(3), new Float32Array(30)]);
  const { text } = await cardOf(packed);
  assertStringIncludes(text, "2 buffers");
  assertStringIncludes(text, "float32[30]");
  assertStringIncludes(text, "256");
  packed.dispose();
  assertStringIncludes((await cardOf(packed)).text, "[disposed]");
});

testOnDevice("CudaDevice.downloadAll() reads nothing between parts of a buffer", async (gpu) => {
  using buffer = gpu.alloc("uint8", 1024);
  const parts = [buffer.subarray(0, 10).fill(1), buffer.subarray(100, 120).fill(2)];
  const arrays = await gpu.downloadAll(parts);
  assertEquals(arrays, [new Uint8Array(10).fill(1), new Uint8Array(20).fill(2)]);
});

testOnDevice("CudaDevice.uploadAll() refuses one array in place of a list", async (gpu) => {
  const words = "Cannot upload a Float32Array: expected a list of typed arrays, as [array]";
  await assertRejects(() => gpu.uploadAll(new Float32Array(2) as never), TypeError, words);
});
