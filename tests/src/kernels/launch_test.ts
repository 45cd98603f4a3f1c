// Launches: arguments, shapes, order with transfers and streams, graphs, and what outlives a module.

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { CudaDevice, type CudaStream, DisposedError, type GpuBuffer } from "../../../mod.ts";
import { type CudaKernel, f32, i32, i64, readOnly, u32, u8 } from "../../../src/entries/kernels.ts";
import { CudaAsyncMemoryResource } from "../../../src/entries/memory.ts";
import { simulateDriver } from "../../../src/entries/simulated.ts";
import { withoutLeaks } from "../../../src/entries/testing.ts";
import { assertSameBytes } from "../../support/contents.ts";
import { ON_GPU } from "../../support/driver.ts";
import { IOTA_PTX, kernelDriver, loadKernels } from "../../support/kernels/kernel_driver.ts";
import { Random, share } from "../../support/random.ts";
import { takingTurns } from "../../support/test_unless.ts";
import { LATE_BYTES, requireUnderWay } from "../../support/under_way.ts";
import { CaughtWarnings } from "../../support/warnings.ts";
import { withDevice } from "../../support/with_device.ts";

/** CUDA versions with libraries and parameter sizes, with libraries alone, and with neither. */
const VERSIONS = ON_GPU ? [13000] : [13000, 12000, 11040];

const ONE = { grid: 1, block: 32 } as const;

/** Runs a test with the kernels on a device of each age. */
function testKernels(
  name: string,
  body: (
    gpu: CudaDevice,
    kernels: { fill: CudaKernel; move: CudaKernel; nothing: CudaKernel },
  ) => unknown,
): void {
  for (const version of VERSIONS) {
    Deno.test(`${name} (CUDA ${version / 1000})`, () =>
      withDevice(async (gpu) => {
        using module = await loadKernels(gpu);
        const [fill, move, nothing] = ["fill", "move", "nothing"].map((each) =>
          module.kernel(each)
        );
        assert(fill && move && nothing);
        await body(gpu, { fill, move, nothing });
      }, { driver: kernelDriver(version) }));
  }
}

testKernels("CudaKernel.launch() takes numbers by the types in its PTX", async (gpu, { fill }) => {
  using x = gpu.zeros("uint8", 40);
  fill.launch({ ...ONE, args: [x, 7, 40] });
  fill.launch({ ...ONE, args: [x.subarray(8, 16), u32(255), i32(8)] });
  fill.launch({ ...ONE, args: [x.ptr + 39n, 1n, 1] });
  const expected = new Uint8Array(40).fill(7).fill(255, 8, 16);
  expected[39] = 1;
  assertEquals(await x.download(), expected);
});

testKernels("CudaKernel.launch() refuses arguments that do not fit", (gpu, { fill, move }) => {
  using x = gpu.zeros("uint8", 8);
  using matrix = gpu.zeros("float32", [4, 4]);
  const wrong: readonly [unknown[], string][] = [
    [[x, 1], "with 2 arguments: it has 3 parameters"],
    [[x, 1, 1, 1], "with 4 arguments: it has 3 parameters"],
    [[x, 1.5, 1], "the number 1.5 as argument 2: expected a whole number"],
    [[x, f32(1), 1], "f32(1) as argument 2: expected a whole number of 32 bits"],
    [[x, i64(1), 1], "i64(1) as argument 2: expected a whole number of 32 bits"],
    [[x, u8(1), 1], "u8(1) as argument 2"],
    [[x, 2 ** 32, 1], "has more than 32 bits"],
    [[x, -(2n ** 31n) - 1n, 1], "has more than 32 bits"],
    [[x, NaN, 1], "as argument 2"],
    [[x, x, 1], "as argument 2: expected a whole number of 32 bits, not memory"],
    [[x, "7", 1], "as argument 2: expected a buffer, a number"],
    [[x, null, 1], "as argument 2"],
    [[x, new Uint8Array(3), 1], "expected a whole number of 32 bits, not 3 bytes"],
    [[matrix.transpose(), 1, 1], "its elements do not lie side by side"],
    [[new Uint8Array(4), 1, 1], "as argument 1"],
    [[{}, 1, 1], "as argument 1"],
    [[Promise.resolve(x), 1, 1], "a promise that was not awaited as argument 1: expected a buffer"],
  ];
  for (const [args, words] of wrong) {
    const error = assertThrows(() => fill.launch({ ...ONE, args: args as never }));
    assert(error instanceof TypeError || error instanceof RangeError, `${error}`);
    assert(error.message.startsWith("Cannot launch fill"), error.message);
    assert(error.message.includes(words), `${error.message} lacks ${words}`);
  }
  assertThrows(() => move.launch(ONE), TypeError, "with 0 arguments");
  const gone = gpu.zeros("uint8", 8);
  gone.dispose();
  assertThrows(() => fill.launch({ ...ONE, args: [gone, 1, 8] }), DisposedError);
  assertEquals(x.downloadSync(), new Uint8Array(8));
});

testKernels("CudaKernel.launch() refuses shapes that no kernel has", (_gpu, { nothing }) => {
  const wrong: readonly [object, string][] = [
    [{ grid: 0, block: 1 }, '"grid"'],
    [{ grid: 1.5, block: 1 }, '"grid"'],
    [{ grid: [1, 2, 3, 4], block: 1 }, '"grid"'],
    [{ grid: [1, 65536], block: 1 }, '"grid"'],
    [{ grid: [], block: 1 }, '"grid"'],
    [{ grid: [Object.create(null)], block: 1 }, '"grid" is [an object]'],
    [{ block: 1 }, '"grid"'],
    [{ grid: 1 }, '"block"'],
    [{ grid: 1, block: 1025 }, '"block"'],
    [{ grid: 1, block: [1, 1, 65] }, '"block"'],
    [{ grid: 1, block: [33, 32] }, "at most"],
    [{ grid: 1, block: 1, sharedBytes: -1 }, '"sharedBytes"'],
    [{ grid: 1, block: 1, sharedBytes: 0.5 }, '"sharedBytes"'],
    [{ grid: 1, block: 1, sharedBytes: 2 ** 30 }, "of shared memory: it can have"],
    [{ grid: 3, block: 1, cluster: 2 }, "no multiple of clusters"],
  ];
  for (const [shape, words] of wrong) {
    assertThrows(() => nothing.launch(shape as never), RangeError, words);
  }
});

testKernels("CudaKernel.launch() gives over 48 KiB of shared memory", async (gpu, { nothing }) => {
  const { maxSharedBytes } = nothing.limits;
  nothing.launch({ ...ONE, sharedBytes: 49153 });
  nothing.launch({ ...ONE, sharedBytes: maxSharedBytes });
  nothing.launch({ ...ONE, sharedBytes: 1 });
  await gpu.synchronize();
  assert(maxSharedBytes > 48 << 10);
});

testKernels("CudaKernel.launch() launches cooperatively and in clusters", async (gpu, { fill }) => {
  using x = gpu.zeros("uint8", 8);
  const { driver } = gpu.context;
  const launches = [
    () => fill.launch({ ...ONE, cooperative: true, args: [x, 3, 4] }),
    () => fill.launch({ grid: 2, block: 1, cluster: 2, args: [x.subarray(4), 5, 4] }),
  ];
  if (!driver.has("cuLaunchKernelEx")) {
    for (const launch of launches) assertThrows(launch, Error, "needs a driver for CUDA 11.8");
    return;
  }
  for (const launch of launches) launch();
  assertEquals(await x.download(), Uint8Array.of(3, 3, 3, 3, 5, 5, 5, 5));
  const tooMany = { grid: 2 ** 20, block: 1024, cooperative: true, args: [x, 3, 4] } as const;
  assertThrows(() => fill.launch(tooMany), Error, "COOPERATIVE_LAUNCH_TOO_LARGE");
});

takingTurns(testKernels)(
  "CudaKernel.launch() comes after transfers that nobody awaited, and before later ones",
  async (gpu, { fill, move }) => {
    using x = gpu.alloc("uint8", LATE_BYTES);
    using y = gpu.zeros("uint8", LATE_BYTES);
    const values = new Uint8Array(LATE_BYTES).map((_, index) => index % 251);
    const upload = x.upload(values);
    requireUnderWay(gpu.stream);
    fill.launch({ ...ONE, args: [x, 9, 16] });
    const middle = x.download();
    move.launch({ ...ONE, args: [y, readOnly(x), 64] });
    const again = x.upload(new Uint8Array(LATE_BYTES));
    const moved = y.subarray(0, 64).download();
    await upload;
    assertEquals(
      (await middle).subarray(0, 32),
      Uint8Array.from([
        ...new Uint8Array(16).fill(9),
        ...values.subarray(16, 32),
      ]),
    );
    assertEquals((await moved).subarray(0, 32), (await middle).subarray(0, 32));
    await again;
    assertEquals((await x.download())[3], 0);
  },
);

testKernels("CudaKernel.launch() orders streams by its arguments", async (gpu, { fill, move }) => {
  using other = gpu.createStream();
  using x = gpu.zeros("uint8", 64);
  using y = gpu.zeros("uint8", 64, { stream: other });
  fill.launch({ ...ONE, args: [x, 5, 64] });
  move.launch({ ...ONE, stream: other, args: [y, readOnly(x), 64] });
  fill.launch({ ...ONE, args: [x, 6, 64] });
  move.launch({ ...ONE, stream: other, args: [y.subarray(32), x, 32] });
  assertEquals(await y.download(), new Uint8Array(64).fill(5, 0, 32).fill(6, 32));
});

testKernels("CudaKernel.launch() takes every kind of buffer", async (gpu, { fill }) => {
  using kinds = new DisposableStack();
  const host = new Uint8Array(4096);
  const buffers: GpuBuffer<"uint8">[] = [
    gpu.alloc("uint8", 64),
    gpu.pinned("uint8", 64),
    gpu.mapped("uint8", 64),
    gpu.managed("uint8", 64),
    gpu.staged("uint8", 64),
    gpu.growable("uint8", { shape: 64, reserveSize: "4 MiB" }),
    gpu.lazy("uint8", 64),
    gpu.register(host),
  ].map((buffer) => kinds.use(buffer));
  for (const buffer of buffers) {
    buffer.fill(1);
    fill.launch({ ...ONE, args: [buffer, 8, 64] });
    assertEquals(
      (await buffer.download()).subarray(0, 64),
      new Uint8Array(64).fill(8),
      `${buffer}`,
    );
  }
  using rows = gpu.pitched("uint8", [2, 5]);
  rows.fill(1);
  fill.launch({ ...ONE, args: [rows, 4, rows.pitchBytes + 2] });
  assertEquals(await rows.download(), Uint8Array.of(4, 4, 4, 4, 4, 4, 4, 1, 1, 1));
  using grid = gpu.zeros("uint8", [4, 8]);
  fill.launch({ ...ONE, args: [grid.strided().view(2), 3, 8] });
  assertEquals((await grid.download()).indexOf(3), 16);
  using empty = gpu.alloc("uint8", 0);
  fill.launch({ ...ONE, args: [empty, 3, 0] });
});

testKernels(
  "CudaKernel.launch() sets its arguments again when making one of them launches the same kernel",
  async (gpu, { fill }) => {
    using x = gpu.zeros("uint8", 8);
    using y = gpu.zeros("uint8", 8);
    using late = gpu.lazy("uint8", 8, {
      resource: new LaunchingResource(gpu, () => fill.launch({ ...ONE, args: [y, 9, 8] })),
    });
    fill.launch({ ...ONE, args: [x, 1, 8] });
    fill.launch({ ...ONE, args: [late, 2, 8] });
    assertEquals(await late.download(), new Uint8Array(8).fill(2));
    assertEquals(await x.download(), new Uint8Array(8).fill(1));
    assertEquals(await y.download(), new Uint8Array(8).fill(9));
  },
);

testKernels(
  "CudaKernel.launch() refuses memory that was disposed while other memory was made",
  async (gpu, { move }) => {
    const x = gpu.zeros("uint8", 8);
    using late = gpu.lazy("uint8", 8, {
      resource: new LaunchingResource(gpu, () => x.dispose()),
    });
    assertThrows(() => move.launch({ ...ONE, args: [x, late, 8] }), DisposedError);
    await gpu.synchronize();
  },
);

testKernels("CudaKernel.launch() writes whole numbers of all sizes as they are", async (gpu, {
  fill,
}) => {
  for (const value of [0, -0, 1, -1, 255, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, -(2 ** 31)]) {
    using x = gpu.zeros("uint8", 4);
    fill.launch({ ...ONE, args: [x, value, 4] });
    assertEquals(await x.download(), new Uint8Array(4).fill(value & 255), `${value}`);
  }
  using x = gpu.zeros("uint8", 4);
  for (const value of [2 ** 32, -(2 ** 31) - 1, 0.5, NaN, Infinity, 2 ** 53]) {
    assertThrows(() => fill.launch({ ...ONE, args: [x, value, 4] }), RangeError, "argument 2");
  }
});

testKernels("CudaKernel.launch() with random arguments launches or throws", async (gpu, {
  fill,
  move,
}) => {
  const random = new Random(7);
  const gone = gpu.zeros("uint8", 8);
  gone.dispose();
  using x = gpu.zeros("uint8", 64);
  const view = x.subarray(8, 16);
  using parent = gpu.zeros("uint8", 64);
  const orphan = parent.subarray(4, 8);
  parent.dispose();
  const values: unknown[] = [
    ...[x, view, gone, orphan, readOnly(x), 0, 1, -1, 0.5, NaN, 2 ** 40, 1n, -1n, 2n ** 64n],
    ...[
      i32(3),
      f32(1),
      u8(1),
      i64(1),
      "x",
      null,
      undefined,
      {},
      [],
      () => {},
      true,
      Symbol.iterator,
    ],
    ...[new Uint8Array(8), new DataView(new ArrayBuffer(4)), new Proxy({}, {}), gpu, gpu.stream],
  ];
  const own = new Set([TypeError, RangeError, DisposedError] as unknown[]);
  for (let round = 0; round < 2000; round++) {
    const kernel = random.below(2) === 0 ? fill : move;
    const args = Array.from({ length: random.below(5) }, () => values[random.below(values.length)]);
    // Bytes and numbers are addresses too, of memory that no kernel may touch.
    const memory = new Set<unknown>([x, view, gone, orphan]);
    for (const at of kernel === move ? [0, 1] : [0]) {
      if (!memory.has(args[at]) && args.length === 3) args[at] = at === 0 ? x : view;
    }
    if (args.length === 3 && typeof args[2] !== "string") args[2] = 8;
    try {
      kernel.launch({ ...ONE, args: args as never });
    } catch (error) {
      assert(own.has((error as Error).constructor), `${error}`);
    }
  }
  await gpu.synchronize();
});

testKernels(
  "CudaKernel.launch() is recorded in a graph, which keeps module and memory",
  async (gpu, { fill }) => {
    const module = await loadKernels(gpu);
    const move = module.kernel("move");
    const scratch = gpu.zeros("uint8", 32);
    using output = gpu.zeros("uint8", 32);
    using graph = gpu.capture(() => {
      fill.launch({ ...ONE, args: [scratch, 4, 32] });
      move.launch({ ...ONE, args: [output, readOnly(scratch), 32] });
    });
    assertEquals(graph.nodeCount, 2);
    assertEquals(await output.download(), new Uint8Array(32));
    module.dispose();
    scratch.dispose();
    graph.launch();
    output.clear();
    graph.launch();
    assertEquals(await output.download(), new Uint8Array(32).fill(4));
    assertThrows(() => move.launch({ ...ONE, args: [output, output, 1] }), DisposedError);
  },
);

testKernels(
  "CudaKernel.launch() joins another stream to a capture by its memory",
  async (gpu, { fill, move, nothing }) => {
    using side = gpu.createStream();
    using x = gpu.zeros("uint8", 8);
    using y = gpu.zeros("uint8", 8, { stream: side });
    await gpu.synchronize();
    await side.synchronize();
    using graph = gpu.capture(() => {
      fill.launch({ ...ONE, args: [x, 4, 8] });
      move.launch({ ...ONE, stream: side, args: [y, readOnly(x), 8] });
      nothing.launch(ONE);
    });
    assertEquals([graph.nodeCount, (await y.download())[0]], [3, 0]);
    graph.launch();
    assertEquals(await y.download(), new Uint8Array(8).fill(4));
  },
);

testKernels("CudaModule.dispose() lets launches that are still to come run", async (gpu) => {
  using x = gpu.alloc("uint8", LATE_BYTES);
  const module = await loadKernels(gpu);
  const fill = module.kernel("fill");
  const upload = x.upload(new Uint8Array(LATE_BYTES).fill(1));
  requireUnderWay(gpu.stream);
  fill.launch({ ...ONE, args: [x, 2, 100] });
  module.dispose();
  module.dispose();
  assertThrows(() => fill.launch({ ...ONE, args: [x, 3, 100] }), DisposedError);
  assertThrows(() => module.kernel("fill"), DisposedError);
  assertEquals(await x.subarray(98, 102).download(), Uint8Array.of(2, 2, 1, 1));
  await upload;
});

testKernels("CudaDevice.loadModule() makes a module that leaks are told of", async (gpu) => {
  await withoutLeaks(gpu, async () => {
    using _module = await loadKernels(gpu);
    assertEquals(gpu.live({ kind: "module" }).count, 2);
  });
  const error = await assertRejects(() => withoutLeaks(gpu, () => loadKernels(gpu)));
  assert(`${error}`.includes("module"), `${error}`);
  gpu.live({ kind: "module", label: "kernels" });
  gpu.disposeAll();
});

testKernels("CudaDevice.occupancy() tells how a kernel fills the device", (gpu, { nothing }) => {
  const proposed = gpu.occupancy(nothing);
  assert(proposed.block >= 32 && proposed.block <= 1024);
  assertEquals(proposed.fraction, 1);
  assertEquals(
    proposed.gridToFill % proposed.blocksPerMultiprocessor,
    0,
  );
  const small = gpu.occupancy(nothing, { block: 32, sharedBytes: 40 << 10 });
  assert(small.fraction < 0.2 && small.fraction > 0);
  assertThrows(() => gpu.occupancy(nothing, { block: 0 }), RangeError, '"block"');
  assertThrows(() => gpu.occupancy({} as never), TypeError, "expected a kernel");
});

testKernels(
  "random launches on random streams do what the same calls do one after another",
  async (gpu, { fill, move }) => {
    for (let seed = 1; seed <= share(12, { parts: 3 }); seed++) {
      await runProgram(gpu, { fill, move }, seed);
    }
  },
);

/** Device memory, before each of whose allocations something else is done. */
class LaunchingResource extends CudaAsyncMemoryResource {
  readonly #before: () => void;

  constructor(gpu: CudaDevice, before: () => void) {
    super(gpu);
    this.#before = before;
  }

  override allocate(byteLength: number, stream: CudaStream): bigint {
    this.#before();
    return super.allocate(byteLength, stream);
  }
}

/** Runs a random program on the device, and the same on arrays. */
async function runProgram(
  gpu: CudaDevice,
  { fill, move }: { fill: CudaKernel; move: CudaKernel },
  seed: number,
): Promise<void> {
  const random = new Random(seed);
  const size = 200_003;
  using made = new DisposableStack();
  const streams: CudaStream[] = [
    gpu.stream,
    made.use(gpu.createStream()),
    made.use(gpu.createStream()),
  ];
  const model = Array.from({ length: 3 }, () => new Uint8Array(size));
  const buffers = model.map(() => made.use(gpu.zeros("uint8", size)));
  const coming: Promise<unknown>[] = [];
  const seen: Promise<Uint8Array>[] = [];
  const expected: Uint8Array[] = [];
  for (let step = 0; step < 30; step++) {
    const [to, from] = [random.below(3), random.below(3)];
    const start = random.below(size - 64);
    const length = 1 + random.below(64);
    const stream = streams[random.below(3)];
    const [target, source] = [buffers[to], buffers[from]];
    const [targetModel, sourceModel] = [model[to], model[from]];
    assert(target && source && targetModel && sourceModel && stream);
    const part = target.subarray(start, start + length);
    switch (random.below(5)) {
      case 0: {
        fill.launch({ ...ONE, stream, args: [part, step, length] });
        targetModel.fill(step, start, start + length);
        break;
      }
      case 1: {
        if (to === from) break;
        const other = random.below(size - 64);
        const read = source.subarray(other, other + length);
        move.launch({ ...ONE, stream, args: [part, readOnly(read), length] });
        targetModel.set(sourceModel.slice(other, other + length), start);
        break;
      }
      case 2: {
        const values = new Uint8Array(size).fill(100 + step);
        coming.push(target.upload(values, { stream }));
        targetModel.set(values);
        break;
      }
      case 3: {
        part.fill(step, { stream });
        targetModel.fill(step, start, start + length);
        break;
      }
      default: {
        seen.push(source.download(undefined, { stream }));
        expected.push(sourceModel.slice());
      }
    }
  }
  await Promise.all(coming);
  assertEquals((await Promise.all(seen)).map(String).length, expected.length);
  for (const [index, bytes] of (await Promise.all(seen)).entries()) {
    assertSameBytes(bytes, expected[index] ?? new Uint8Array(0));
  }
  for (const [index, buffer] of buffers.entries()) {
    assertSameBytes(await buffer.download(), model[index] ?? new Uint8Array(0));
  }
}

Deno.test("CudaDevice.loadModule() lets the context go once when the device is disposed meanwhile", async () => {
  const api = kernelDriver();
  for (const source of [IOTA_PTX, [IOTA_PTX]]) {
    using warnings = new CaughtWarnings();
    let releaseCount = 0;
    const cuDevicePrimaryCtxRelease_v2 = (device: number) => {
      releaseCount++;
      return api.cuDevicePrimaryCtxRelease_v2(device);
    };
    const gpu = CudaDevice.open(0, { driver: { ...api, cuDevicePrimaryCtxRelease_v2 } });
    const loading = gpu.loadModule(source);
    gpu.dispose();
    await assertRejects(() => loading, DisposedError, "Cannot use device 0: it was disposed");
    assertEquals([releaseCount, warnings.texts], [1, []]);
  }
});

testKernels("CudaKernel.launch() refuses memory of another driver", (_gpu, { fill }) => {
  using other = CudaDevice.open(0, { driver: simulateDriver() });
  for (const memory of [other.zeros("uint8", 8), other.pinned("uint8", 8)]) {
    using x = memory;
    const launch = () => fill.launch({ ...ONE, args: [x, 1, 8] });
    assertThrows(launch, TypeError, "it is memory of another driver");
  }
});
