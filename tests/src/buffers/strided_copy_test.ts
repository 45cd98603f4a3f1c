// Copies between strided layouts for which the driver would need many calls: a kernel makes them.

import { assert, assertEquals, assertFalse, assertRejects, assertThrows } from "@std/assert";
import { CUresult } from "../../../ffi/constants.ts";
import { SimulationError } from "../../../ffi/simulated/driver.ts";
import type { DeviceBuffer } from "../../../src/buffers/device_buffer.ts";
import type { StridedView } from "../../../src/buffers/strided_view.ts";
import type { StridedLayout } from "../../../src/buffers/strides.ts";
import type { CudaDevice } from "../../../src/device/device.ts";
import { type Fault, faultyDriver, watchedDriver } from "../../support/faulty_driver.ts";
import { elementsOf } from "../../support/strided_elements.ts";
import { inTurn } from "../../support/test_unless.ts";
import { LATE_BYTES, requireUnderWay } from "../../support/under_way.ts";
import { withDevice } from "../../support/with_device.ts";

const COUNT = 120_000;

/** Rows of 256 floats, of which a transfer takes long enough to be under way. */
const LATE_ROWS = LATE_BYTES / 1024;

type View = StridedView<"float32">;

/** A device whose kernels are loaded, and a function that tells the calls that copy. */
interface LoadedScene {
  readonly gpu: CudaDevice;
  readonly copiesOf: (body: () => unknown) => string[];
}

/** Runs a test on a device whose kernels are loaded. */
function withKernels(body: (scene: LoadedScene) => unknown): Promise<void> {
  const { driver, calls } = watchedDriver();
  return withDevice(async (gpu) => {
    using x = gpu.iota("float32", 10_000);
    x.strided().range(0, { step: -1 }).contiguous().dispose();
    const copiesOf = (copy: () => unknown) => {
      calls.length = 0;
      copy();
      return calls.filter((call) => /^cu(Memcpy|Launch)/.test(call));
    };
    await body({ gpu, copiesOf });
  }, { driver });
}

const VIEWS: Readonly<Record<string, (x: DeviceBuffer<"float32">) => View>> = {
  "a transposed matrix": (x) => x.reshape([300, 400]).transpose(),
  "a transposed matrix of few rows": (x) => x.reshape([16, 7500]).transpose(),
  "transposed matrices": (x) => x.reshape([25, 50, 96]).transpose([0, 2, 1]),
  "an image's channels": (x) => x.reshape([200, 200, 3]).transpose([2, 0, 1]),
  "an image's pixels": (x) => x.reshape([3, 200, 200]).transpose([1, 2, 0]),
  "pairs from two planes": (x) => x.reshape([2, 60_000]).transpose(),
  "quadruples from four reversed planes": (x) =>
    x.reshape([4, 30_000]).strided().range(1, { step: -1 }).transpose(),
  "blocks": (x) => x.reshape([10, 10, 12, 100]).transpose([3, 1, 2, 0]),
  "a reversed vector": (x) => x.strided().range(0, { step: -1 }),
  "a reversed matrix, from its middle": (x) =>
    x.reshape([300, 400]).strided().range(0, { step: -1 }).range(1, { start: 250, step: -2 }),
  "runs of several elements, from the last": (x) =>
    x.reshape([300, 10, 40]).strided().range(0, { step: -1 }).range(2, { start: 3, end: 8 }),
  "eight axes": (x) => x.reshape([2, 3, 2, 4, 2, 5, 2, 125]).transpose([6, 4, 2, 0, 7, 5, 3, 1]),
};

for (const [name, viewOf] of Object.entries(VIEWS)) {
  Deno.test(`StridedView.contiguous() copies ${name} by one kernel`, () =>
    withKernels(async ({ gpu, copiesOf }) => {
      using numbers = gpu.iota("float32", COUNT + 2);
      const view = viewOf(numbers.subarray(1, COUNT + 1));
      using copy = gpu.alloc("float32", view.shape);
      assertEquals(copiesOf(() => view.copyTo(copy)), ["cuLaunchKernel"]);
      const expected = Float32Array.from(elementsOf(view), (element) => element + 1);
      assertEquals(await copy.download(), expected);
      assertEquals(await view.download(), expected);
    }));

  Deno.test(`StridedView.copyFrom() copies into ${name} by one kernel, and nowhere else`, () =>
    withKernels(async ({ gpu, copiesOf }) => {
      using x = gpu.alloc("float32", COUNT).fill(-1);
      const view = viewOf(x);
      using numbers = gpu.iota("float32", view.shape);
      assertEquals(copiesOf(() => view.copyFrom(numbers)), ["cuLaunchKernel"]);
      const expected = new Float32Array(COUNT).fill(-1);
      for (const [number, element] of elementsOf(view).entries()) expected[element] = number;
      assertEquals(await x.download(), expected);
    }));
}

Deno.test("StridedView.copyFrom() by a kernel neither reads nor writes elements between", () =>
  withKernels(async ({ gpu, copiesOf }) => {
    using x = gpu.alloc("float32", [100, 200]);
    using numbers = gpu.iota("float32", [100, 100]);
    const odd = x.strided().range(1, { start: 1, step: 2 }).range(0, { step: -1 });
    assertEquals(copiesOf(() => odd.copyFrom(numbers)), ["cuLaunchKernel"]);
    assertEquals(await odd.download(), await numbers.download());
    using wholes = odd.astype("int32");
    assertEquals(await wholes.download(), Int32Array.from(await numbers.download()));
    if (!gpu.isSimulated) return;
    const words = "nobody has written the byte at offset 0";
    await assertRejects(() => x.download(), SimulationError, words);
    using unwritten = x.strided().range(1, { step: 2 }).astype("int32");
    await assertRejects(() => unwritten.download(), SimulationError, words);
  }));

Deno.test("StridedView.copyFrom() copies from one layout into another by one kernel", () =>
  withKernels(async ({ gpu, copiesOf }) => {
    using x = gpu.iota("float32", [300, 400]);
    using y = gpu.zeros("float32", [300, 401]);
    const target = y.strided().range(1, { end: 400 }).transpose().range(0, { step: -1 });
    assertEquals(copiesOf(() => target.copyFrom(x.transpose())), ["cuLaunchKernel"]);
    const rows = await y.download();
    for (const row of [0, 7, 299]) {
      const expected = Float32Array.from({ length: 400 }, (_, at) => row * 400 + 399 - at);
      assertEquals(rows.subarray(row * 401, row * 401 + 400), expected);
      assertEquals(rows[row * 401 + 400], 0);
    }
  }));

Deno.test("StridedView.copyFrom() copies by the layouts of both sides when views take turns", () =>
  withKernels(async ({ gpu }) => {
    using x = gpu.iota("float32", 7200);
    using y = gpu.alloc("float32", 7200);
    const viewsOf = (buffer: DeviceBuffer<"float32">) => [
      buffer.reshape([60, 40, 3]).transpose([2, 0, 1]),
      buffer.reshape([3, 40, 60]).transpose([0, 2, 1]),
      buffer.reshape([3, 60, 40]).strided(),
      buffer.reshape([3, 60, 40]).strided().range(2, { step: -1 }),
    ];
    const [from, to] = [viewsOf(x), viewsOf(y)];
    for (let turn = 0; turn < 40; turn++) {
      const [source, target] = [from[turn * 7 % 4], to[(turn >> 2) % 3]];
      if (source === undefined || target === undefined) continue;
      target.copyFrom(source);
      assertEquals(await target.download(), Float32Array.from(elementsOf(source)));
    }
  }));

Deno.test("StridedView.copyFrom() rejects another shape also after a copy of the same strides", () =>
  withDevice((gpu) => {
    using x = gpu.iota("float32", [10, 20]);
    using y = gpu.zeros("float32", [10, 20]);
    const [from, to] = [x.strided(), y.strided()];
    to.copyFrom(from);
    assertThrows(() => to.range(0, { end: 5 }).copyFrom(from), RangeError, "shapes differ");
    assertThrows(() => to.copyFrom(from.range(0, { end: 5 })), RangeError, "shapes differ");
  }));

Deno.test("StridedView.copyFrom() copies within one buffer by one kernel", () =>
  withKernels(async ({ gpu, copiesOf }) => {
    using x = gpu.iota("float32", [2, 100, 100]);
    const copy = () => x.view(1).strided().copyFrom(x.view(0).transpose());
    assertEquals(copiesOf(copy), ["cuLaunchKernel"]);
    const [numbers, turned] = [await x.view(0).download(), await x.view(1).download()];
    assertEquals([numbers[1], numbers[100], turned[1], turned[100]], [1, 100, 100, 1]);
  }));

for (const dtype of ["uint8", "bfloat16", "int32", "float64"] as const) {
  Deno.test(`StridedView.contiguous() moves ${dtype} at any address, in words as large as fit`, () =>
    withKernels(async ({ gpu, copiesOf }) => {
      using words = gpu.iota("uint32", [40, 50, 4]);
      using numbers = words.astype(dtype);
      for (const start of [0, 1, 2, 4]) {
        using x = gpu.zeros(dtype, 8000 + start);
        const box = x.subarray(start).reshape([40, 50, 4]);
        box.copyFrom(numbers);
        using pixels = gpu.alloc(dtype, [50, 40, 4]);
        using planes = gpu.alloc(dtype, [4, 50, 40]);
        const copies = copiesOf(() => {
          box.transpose([1, 0, 2]).copyTo(pixels);
          box.transpose([2, 1, 0]).copyTo(planes);
        });
        assertEquals(copies, ["cuLaunchKernel", "cuLaunchKernel"]);
        const [given, byPixel, byPlane] = [
          await numbers.download(),
          await pixels.download(),
          await planes.download(),
        ];
        for (const [i, j, k] of [[0, 1, 3], [39, 49, 2], [17, 5, 1]] as const) {
          const value = given[(i * 50 + j) * 4 + k];
          assertEquals(byPixel[(j * 40 + i) * 4 + k], value);
          assertEquals(byPlane[(k * 50 + j) * 40 + i], value);
        }
      }
    }));
}

Deno.test("StridedView.copyFrom() reads a row again and again by one kernel", () =>
  withKernels(async ({ gpu, copiesOf }) => {
    using row = gpu.iota("float32", 500);
    using x = gpu.zeros("float32", [500, 30]);
    const repeated: StridedLayout = { shape: [30, 500], strides: [0, 1], offset: 0 };
    const copies = copiesOf(() => x.transpose().copyFrom(row.strided(repeated)));
    assertEquals(copies, ["cuLaunchKernel"]);
    assertEquals(await x.download(), Float32Array.from({ length: 15_000 }, (_, at) => at / 30 | 0));
  }));

Deno.test("StridedView.upload() and uploadSync() put elements into their places by one kernel", () => {
  const { driver, calls } = watchedDriver();
  return withDevice(async (gpu) => {
    using x = gpu.zeros("float32", [200, 300]);
    const values = Float32Array.from({ length: 60_000 }, (_, at) => at);
    x.reshape([60_000]).strided().range(0, { step: -1 }).downloadSync(); // loads the kernels
    const uploads = [() => x.transpose().upload(values), () => x.transpose().uploadSync(values)];
    for (const upload of uploads) {
      x.clear();
      calls.length = 0;
      await upload();
      assertEquals(calls.filter((call) => /^cu(Memcpy2D|Launch)/.test(call)), ["cuLaunchKernel"]);
      assertEquals(await x.transpose().download(), values);
    }
  }, { driver });
});

Deno.test(
  inTurn("copies by a kernel come after transfers that are under way, and before later ones"),
  () =>
    withKernels(async ({ gpu }) => {
      const length = LATE_ROWS * 256;
      using x = gpu.zeros("float32", [LATE_ROWS, 256]);
      using y = gpu.zeros("float32", [256, LATE_ROWS]);
      const uploads = [x.upload(new Float32Array(length).fill(1))];
      requireUnderWay(gpu.stream);
      y.strided().copyFrom(x.transpose());
      uploads.push(x.upload(new Float32Array(length).fill(2)));
      const late = x.transpose().upload(new Float32Array(length).fill(3));
      assertEquals(await y.at(255 * LATE_ROWS + 9), 1);
      await Promise.all([...uploads, late]);
      assertEquals(await x.at(9 * 256 + 255), 3);
    }),
);

Deno.test("a graph of a copy between layouts has one node, whether kernels are loaded or not", () => {
  const { driver, calls } = watchedDriver();
  return withDevice(async (gpu) => {
    using x = gpu.iota("float32", [100, 100]);
    using y = gpu.zeros("float32", [100, 100]);
    using graph = gpu.capture(() => y.strided().copyFrom(x.transpose()));
    assertFalse(calls.some((call) => call.startsWith("cuMemcpy2D")));
    graph.launch();
    assertEquals(await y.at(1), 100);
    x.fill(5);
    graph.launch();
    assertEquals(await y.at(9998), 5);
    using again = gpu.capture(() => y.strided().copyFrom(x.transpose()));
    assertEquals(again.nodeCount, graph.nodeCount);
  }, { driver });
});

Deno.test("StridedView.contiguous() leaves rows and a few elements to the driver", () =>
  withKernels(({ gpu, copiesOf }) => {
    using x = gpu.iota("float32", COUNT);
    const views = [
      x.reshape([300, 400]).strided().range(1, { start: 100, end: 200 }),
      x.subarray(0, 9).reshape([3, 3]).transpose(),
    ];
    const firsts: number[] = [];
    const copies = copiesOf(() => {
      for (const view of views) firsts.push(view.downloadSync()[1] ?? NaN);
    });
    assertFalse(copies.includes("cuLaunchKernel"));
    assertEquals(firsts, [101, 3]);
  }));

Deno.test("StridedView.contiguous() copies more than eight axes by one launch", () =>
  withKernels(async ({ gpu, copiesOf }) => {
    const shape = [2, 3, 2, 5, 3, 7, 5, 6, 9];
    using numbers = gpu.iota("float32", shape);
    const reversed = numbers.transpose();
    const turned = reversed.range(3, { step: -1 }).range(8, { step: -1 });
    for (const view of [reversed, turned]) {
      using copy = gpu.alloc("float32", view.shape);
      assertEquals(copiesOf(() => view.copyTo(copy)), ["cuLaunchKernel"]);
      assertEquals(await copy.download(), Float32Array.from(elementsOf(view)));
      assertEquals(await view.download(), Float32Array.from(elementsOf(view)));
    }
    using target = gpu.zeros("float32", shape);
    target.transpose().copyFrom(numbers.reshape(shape.toReversed()));
    const expected = new Float32Array(target.length);
    for (const [number, element] of elementsOf(target.transpose()).entries()) {
      expected[element] = number;
    }
    assertEquals(await target.download(), expected);
  }));

Deno.test("StridedView.contiguous() copies words of all sizes along fifteen axes", () =>
  withKernels(async ({ gpu, copiesOf }) => {
    for (const dtype of ["uint8", "float32", "float64"] as const) {
      using numbers = gpu.iota(dtype, Array(15).fill(2));
      const view = numbers.transpose().range(3, { step: -1 });
      using copy = gpu.alloc(dtype, view.shape);
      assertEquals(copiesOf(() => view.copyTo(copy)), ["cuLaunchKernel"]);
      const places = elementsOf(view).map((place) => dtype === "uint8" ? place % 256 : place);
      assertEquals([...await copy.download()], places);
    }
  }));

Deno.test("StridedView.copyFrom() of no elements writes none, whichever axis is empty", () =>
  withKernels(async ({ gpu, copiesOf }) => {
    using x = gpu.iota("float32", 64);
    using y = gpu.zeros("float32", 64);
    for (let empty = 0; empty < 4; empty++) {
      const shape = [4, 2, 3, 2].with(empty, 0);
      const from = x.strided({ shape, strides: [-8, -4, 1, -2], offset: 40 });
      const to = y.strided({ shape, strides: [8, 2, 1, 4], offset: 8 });
      assertEquals(copiesOf(() => to.copyFrom(from)), []);
    }
    assertEquals(await y.download(), new Float32Array(64));
  }));

Deno.test("StridedView.contiguous() loads kernels once copies have taken as long", () => {
  const { driver, calls } = watchedDriver();
  return withDevice((gpu) => {
    using x = gpu.iota("float32", 500);
    using matrix = x.reshape([1, 500]);
    calls.length = 0;
    let copyCount = 0;
    while (!calls.includes("cuLaunchKernel")) {
      using copy = x.strided().range(0, { step: -1 }).contiguous();
      assertEquals([...copy.downloadSync().subarray(0, 2)], [499, 498]);
      using _row = matrix.transpose().contiguous(); // one call is no reason
      copyCount++;
    }
    assertEquals(copyCount, 4);
  }, { driver });
});

Deno.test("StridedView.copyFrom() copies a large reversed vector by a kernel at once", () => {
  const { driver, calls } = watchedDriver();
  return withDevice((gpu) => {
    using x = gpu.iota("float32", 10_000);
    using y = gpu.alloc("float32", 10_000);
    y.copyFrom(x.strided().range(0, { step: -1 }));
    assertFalse(calls.includes("cuMemcpyAsync"));
    assertEquals(y.downloadSync(), Float32Array.from({ length: 10_000 }, (_, at) => 9999 - at));
  }, { driver });
});

Deno.test("CudaDevice.time() counts the bytes of copies by a kernel", () =>
  withKernels(async ({ gpu }) => {
    using x = gpu.iota("float32", [100, 100]);
    const timing = await gpu.time(() => x.transpose().contiguous().dispose());
    assertEquals(timing.copiedBytes, 40_000);
    using y = gpu.zeros("float32", [100, 100]);
    using graph = gpu.capture(() => y.strided().copyFrom(x.transpose()));
    assertEquals((await gpu.time(() => graph.launch())).copiedBytes, 40_000);
  }));

for (
  const [what, fault] of Object.entries<Fault>({
    "the kernels": { name: "cuLibraryLoadData" },
    "one of the kernels": { name: "cuLibraryGetKernel", after: 1 },
  })
) {
  Deno.test(`StridedView.contiguous() loads kernels later when there was no memory for ${what}`, () => {
    const { driver, setFault } = faultyDriver();
    const { driver: watched, calls } = watchedDriver(driver);
    return withDevice((gpu) => {
      using x = gpu.iota("float32", [50, 50]);
      setFault({ ...fault, status: CUresult.CUDA_ERROR_OUT_OF_MEMORY });
      const copy = () => {
        calls.length = 0;
        using copy = x.reshape([2500]).strided().range(0, { step: -1 }).contiguous();
        using turned = x.transpose().contiguous();
        assertEquals([copy.downloadSync()[1], turned.downloadSync()[1]], [2498, 50]);
        return calls.includes("cuLaunchKernel");
      };
      assertFalse(copy());
      setFault(undefined);
      assert(copy());
    }, { driver: watched });
  });
}

const NOT_LOADING: Readonly<Record<string, Fault>> = {
  "does not load kernels": { name: "cuLibraryLoadData" },
  "finds none of the kernels": { name: "cuLibraryGetKernel" },
  "finds one of the kernels": { name: "cuLibraryGetKernel", after: 1 },
};

for (const [name, fault] of Object.entries(NOT_LOADING)) {
  Deno.test(inTurn(`StridedView.contiguous() leaves all to a driver that ${name}`), () => {
    const { driver, setFault } = faultyDriver();
    return withDevice(async (gpu) => {
      using x = gpu.zeros("float32", 10_000);
      await x.upload(Float32Array.from({ length: 10_000 }, (_, at) => at));
      setFault(fault);
      for (let time = 0; time < 2; time++) {
        using copy = x.strided().range(0, { step: -1 }).contiguous();
        assertEquals(await copy.at(0), 9999);
      }
      using y = gpu.zeros("float32", [100, 100]);
      const transpose = () => void y.strided().copyFrom(x.reshape([100, 100]).transpose());
      using graph = gpu.capture(transpose);
      for (const copy of [() => graph.launch(), transpose]) {
        y.clear();
        copy();
        assertEquals(await y.at(1), 100);
      }
      setFault(undefined);
    }, { driver });
  });
}
