// Graphs that get other parameters: launches before do what was recorded before, those behind what was
// recorded last, what does not fit is named and changes nothing, and memory goes when it is of no use.

import { assert, assertEquals, assertThrows, fail } from "@std/assert";
import type { DeviceBuffer } from "../../../src/buffers/device_buffer.ts";
import type { CudaDevice } from "../../../src/device/device.ts";
import { take64 } from "../../../src/driver/driver.ts";
import { type CudaKernel, i32, readOnly } from "../../../src/entries/kernels.ts";
import { CudaMemoryResource } from "../../../src/memory/cuda_memory_resource.ts";
import { CudaError, CudaUnavailableError, DisposedError } from "../../../src/words/errors.ts";
import { ON_GPU, testDriver } from "../../support/driver.ts";
import { HeldStream, testHolding } from "../../support/held_stream.ts";
import { kernelDriver, loadKernels } from "../../support/kernels/kernel_driver.ts";
import { Random } from "../../support/random.ts";
import { withDevice } from "../../support/with_device.ts";

const ONE = { grid: 1, block: 32 } as const;

/** Runs a test on a device that has the kernels. */
function testUpdate(name: string, body: (gpu: CudaDevice) => unknown): void {
  Deno.test(name, () => withDevice((gpu) => body(gpu), { driver: kernelDriver() }));
}

testUpdate("CudaGraph.update() gives other buffers, sizes, values and arguments", async (gpu) => {
  using module = await loadKernels(gpu);
  const [fill, move] = [module.kernel("fill"), module.kernel("move")];
  using a = gpu.zeros("uint8", 64);
  using b = gpu.zeros("uint8", 64);
  using host = gpu.pinned("uint8", 64);
  host.array.fill(3);
  using graph = gpu.capture(() => {
    a.subarray(0, 16).fill(1);
    b.subarray(0, 8).copyFrom(a.subarray(0, 8));
    a.subarray(32, 40).copyFrom(host.subarray(0, 8));
    fill.launch({ ...ONE, args: [a.subarray(60), 9, 4] });
  }, { label: "step" });
  graph.launch();
  const first = await a.download();
  assertEquals(
    graph.update(() => {
      b.subarray(16, 48).fill(2);
      a.subarray(0, 24).copyFrom(b.subarray(16, 40));
      b.subarray(48, 64).copyFrom(host.subarray(8, 24));
      move.launch({ grid: [2, 1], block: 64, args: [a.subarray(48), readOnly(b), i32(8)] });
    }),
    graph,
  );
  assertEquals(await a.download(), first);
  graph.launch();
  graph.launch();
  assertEquals([graph.nodeCount, graph.launchCount], [4, 3]);
  const expected = new Uint8Array(64).fill(1, 0, 16).fill(3, 32, 40).fill(9, 60);
  expected.fill(2, 0, 24).fill(1, 48, 56);
  assertEquals(await a.download(), expected);
  assertEquals(
    (await b.download()).slice(40, 56),
    Uint8Array.of(...Array(8).fill(2), ...Array(8).fill(3)),
  );
});

testHolding("CudaGraph.update() leaves launches alone that were called before", async (gpu) => {
  using x = gpu.zeros("uint8", 16);
  using y = gpu.zeros("uint8", 16);
  using graph = gpu.capture(() => {
    x.fill(1);
    y.copyFrom(x);
  });
  using second = gpu.zeros("uint8", 16);
  await gpu.synchronize();
  using held = new HeldStream(gpu, gpu.stream);
  graph.launch();
  graph.update(() => {
    x.fill(2);
    second.copyFrom(x);
  });
  graph.launch();
  held.release();
  assertEquals([await x.at(0), await y.at(0), await second.at(0)], [2, 1, 2]);
});

testUpdate("CudaGraph.update() names the step that does not fit, changes nothing", async (gpu) => {
  using module = await loadKernels(gpu);
  const [fill, nothing] = [module.kernel("fill"), module.kernel("nothing")];
  using a = gpu.zeros("uint8", 64);
  using b = gpu.zeros("uint8", 64);
  using host = gpu.pinned("uint8", 64);
  using side = gpu.createStream();
  await gpu.synchronize();
  await side.synchronize();
  using graph = gpu.capture(() => {
    a.fill(5);
    b.copyFrom(a);
    fill.launch({ ...ONE, args: [a, 6, 8] });
  }, { label: "step" });
  const wrong: readonly [() => void, string][] = [
    [() => void a.fill(1), "it has 3 steps, 1 step was recorded"],
    [() => {}, "it has 3 steps, 0 steps were recorded"],
    [() => {
      a.fill(1);
      nothing.launch(ONE);
      nothing.launch(ONE);
    }, "step 2, the kernel nothing, does not fit: another kind of step"],
    [() => {
      a.fill(1);
      host.copyFrom(a);
      nothing.launch(ONE);
    }, "step 2, a copy, does not fit: it moves rows, or its memory is of a pool"],
    [() => {
      a.fill(1);
      b.copyFrom(a, { stream: side });
      nothing.launch(ONE);
    }, "does not fit: it comes after other steps"],
    [() => {
      a.fill(1);
      b.copyFrom(a);
      fill.launch({ ...ONE, cooperative: true, args: [a, 6, 8] });
    }, "step 3, the kernel fill, does not fit"],
  ];
  for (const [body, words] of wrong) {
    const error = assertThrows(
      () => graph.update(body),
      TypeError,
      "Cannot update CudaGraph(step): ",
    );
    assert(error.message.includes(words), `${error.message} lacks ${words}`);
  }
  graph.launch();
  const expected = new Uint8Array(64).fill(5);
  assertEquals(await b.download(), expected);
  assertEquals(await a.download(), expected.fill(6, 0, 8));
});

testUpdate("CudaGraph.update() rejects anything but a recording", (gpu) => {
  using a = gpu.zeros("uint8", 64);
  using graph = gpu.capture(() => a.fill(1));
  using other = gpu.capture(() => a.fill(2));
  assertThrows(() => graph.update(undefined as never), TypeError, "expected a function");
  assertThrows(() => graph.update(graph as never), TypeError, "expected a function");
  assertThrows(() => graph.update((async () => {}) as never), TypeError, "returns a promise");
  assertThrows(() => graph.update(() => a.downloadSync()), TypeError, "in a capture");
  assertThrows(() => graph.update(() => other.update(() => a.fill(3))), TypeError, "captured");
  assertThrows(() => gpu.capture(() => graph.update(() => a.fill(3))), TypeError, "update a graph");
  assertThrows(
    () =>
      graph.update(() => {
        throw new RangeError("the body's own");
      }),
    RangeError,
    "the body's own",
  );
  graph.launch();
  assertEquals(a.downloadSync()[0], 1);
});

testUpdate("CudaGraph.update() refuses memory of graphs", (gpu) => {
  using a = gpu.zeros("uint8", 64);
  using plain = gpu.capture(() => a.fill(1));
  using allocating = gpu.capture(() => {
    using scratch = gpu.zeros("uint8", 64);
    a.copyFrom(scratch);
  });
  let left: Disposable | undefined;
  assertThrows(
    () => plain.update(() => void (left = gpu.zeros("uint8", 64))),
    TypeError,
    "the recorded work allocates memory",
  );
  left?.[Symbol.dispose]();
  assertThrows(() => allocating.update(() => a.fill(2)), TypeError, "it allocates memory");
  plain.launch();
  allocating.launch();
  assertEquals(a.downloadSync(), new Uint8Array(64));
});

testUpdate("CudaGraph.update() keeps what it uses now, and nothing it used before", async (gpu) => {
  const former = gpu.zeros("uint8", 1 << 20);
  const latter = gpu.zeros("uint8", 1 << 20);
  using out = gpu.zeros("uint8", 16);
  const module = await loadKernels(gpu);
  const move = module.kernel("move");
  former.fill(4);
  latter.fill(5);
  using graph = gpu.capture(() => out.copyFrom(former.subarray(0, 16)));
  using kernels = gpu.capture(() => move.launch({ ...ONE, args: [out, readOnly(latter), 16] }));
  former.dispose();
  const { cachedBytes } = gpu.memory;
  assert(cachedBytes >= 1 << 20, `${cachedBytes}`);
  graph.launch();
  graph.update(() => out.copyFrom(latter.subarray(0, 16)));
  assertEquals(await out.at(3), 4);
  await gpu.synchronize();
  latter.dispose();
  module.dispose();
  assert(gpu.memory.cachedBytes >= 1 << 20);
  graph.launch();
  assertEquals(await out.at(3), 5);
  out.clear();
  kernels.launch();
  assertEquals(await out.at(3), 5);
  kernels.dispose();
  using other = gpu.zeros("uint8", 16);
  graph.update(() => out.copyFrom(other));
  graph.launch();
  assertEquals(await out.at(3), 0);
  await gpu.synchronize();
  assertEquals(gpu.live({ kind: "module" }).count, 0);
});

testUpdate("CudaGraph.update() is refused for what was disposed", (gpu) => {
  using a = gpu.zeros("uint8", 64);
  const gone = gpu.zeros("uint8", 64);
  const graph = gpu.capture(() => a.fill(1));
  gone.dispose();
  assertThrows(() => graph.update(() => gone.fill(1)), DisposedError);
  assertThrows(() =>
    graph.update(() => {
      graph.dispose();
      a.fill(2);
    }), DisposedError);
  const body = () => fail("a graph that is gone takes no work");
  assertThrows(() => graph.update(body), DisposedError);
  const stream = gpu.createStream();
  using onStream = gpu.capture(() => a.fill(1, { stream }), { stream });
  stream.dispose();
  assertThrows(() => onStream.update(() => a.fill(1)), DisposedError);
});

testUpdate("CudaGraph.update() refuses memory that another owner has freed", (gpu) => {
  using a = gpu.zeros("uint8", 64);
  using graph = gpu.capture(() => a.fill(1));
  const { context } = gpu;
  const address = take64(context, "cuMemAlloc_v2", 64n);
  using imported = gpu.fromHandle(address, 64, { dtype: "uint8" });
  assertThrows(
    () =>
      graph.update(() => {
        imported.fill(2);
        context.call("cuMemFree_v2", address);
      }),
    TypeError,
    "was freed",
  );
  graph.launch();
  assertEquals(a.downloadSync()[0], 1);
});

Deno.test(
  "CudaGraph.update() needs a driver for CUDA 12",
  { ignore: ON_GPU },
  () =>
    withDevice((gpu) => {
      using a = gpu.zeros("uint8", 64);
      using graph = gpu.capture(() => a.fill(1));
      assertThrows(() => graph.update(() => a.fill(2)), CudaUnavailableError, "CUDA 12.0");
      graph.launch();
      assertEquals(a.downloadSync()[0], 1);
    }, { driver: kernelDriver(11040) }),
);

Deno.test("CudaGraph.update() that fails otherwise keeps the memory of both", () => {
  const api = testDriver();
  let status = 0;
  const update = api.cuGraphExecUpdate_v2;
  const driver = {
    ...api,
    cuGraphExecUpdate_v2: (...args: Parameters<NonNullable<typeof update>>) =>
      status === 0 ? update?.(...args) ?? 0 : status,
  };
  return withDevice(async (gpu) => {
    const resource = new CudaMemoryResource(gpu);
    using a = gpu.zeros("uint8", 64);
    const b = gpu.alloc("uint8", 2 ** 20, { resource });
    using graph = gpu.capture(() => a.fill(1));
    status = 2;
    const error = assertThrows(() => graph.update(() => b.fill(2)), CudaError);
    assertEquals(error.code, 2);
    const { cachedBytes } = gpu.memory;
    b.dispose();
    gpu.synchronizeSync();
    assertEquals(gpu.memory.cachedBytes - cachedBytes, b.totalByteLength); // kept by the graph
    status = 910;
    assertThrows(() => graph.update(() => a.fill(2)), TypeError, "come after each other");
    status = 0;
    graph.launch();
    assertEquals(await a.at(0), 1);
    graph.update(() => a.fill(4));
    graph.launch();
    assertEquals(await a.at(0), 4);
  }, { driver });
});

testUpdate("CudaGraph.update() at random does what its calls do without graphs", async (gpu) => {
  using module = await loadKernels(gpu);
  const move = module.kernel("move");
  using side = gpu.createStream();
  for (let seed = 1; seed <= 10; seed++) {
    const random = new Random(seed);
    let work = new RandomWork(gpu, move, random);
    using graph = gpu.capture(() => work.queue());
    for (let step = 0; step < 40; step++) {
      if (random.below(2) === 0) {
        work.run();
        graph.launch(random.below(2) === 0 ? {} : { stream: side });
      } else {
        const former = work;
        work = new RandomWork(gpu, move, random);
        former.dispose();
        graph.update(() => work.queue());
      }
    }
    await work.check();
    work.dispose();
  }
});

/** A fill, a copy and a kernel over random parts of two new buffers, and the same on arrays. */
class RandomWork {
  readonly #x: DeviceBuffer<"uint8">;
  readonly #y: DeviceBuffer<"uint8">;
  readonly #models = [new Uint8Array(256), new Uint8Array(256)] as const;
  readonly #move: CudaKernel;
  readonly #value: number;
  readonly #start: number;
  readonly #length: number;

  constructor(gpu: CudaDevice, move: CudaKernel, random: Random) {
    this.#x = gpu.zeros("uint8", 256);
    this.#y = gpu.zeros("uint8", 256);
    this.#move = move;
    this.#value = random.below(256);
    this.#start = random.below(128);
    this.#length = 1 + random.below(64);
  }

  queue(): void {
    const part = this.#x.subarray(this.#start, this.#start + this.#length);
    part.fill(this.#value);
    this.#y.subarray(0, this.#length).copyFrom(part);
    const args = [this.#y.subarray(128), readOnly(this.#x), i32(this.#length)];
    this.#move.launch({ ...ONE, args });
  }

  run(): void {
    const [x, y] = this.#models;
    x.fill(this.#value, this.#start, this.#start + this.#length);
    y.set(x.slice(this.#start, this.#start + this.#length), 0);
    y.set(x.slice(0, this.#length), 128);
  }

  async check(): Promise<void> {
    assertEquals([await this.#x.download(), await this.#y.download()], [...this.#models]);
  }

  dispose(): void {
    this.#x.dispose();
    this.#y.dispose();
  }
}

testUpdate("CudaGraph.update() of many graphs leaves nothing", async (gpu) => {
  const before = gpu.live().count;
  for (let round = 0; round < 20; round++) {
    using a = gpu.zeros("uint8", 64);
    using graph = gpu.capture(() => a.fill(1));
    for (let value = 0; value < 20; value++) graph.update(() => a.fill(value));
    graph.launch();
  }
  await gpu.synchronize();
  assertEquals(gpu.live().count, before);
});
