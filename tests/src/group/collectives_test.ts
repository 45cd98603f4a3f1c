// The contract of every collective operation, by element type and number of ranks, against plain arrays.
// It holds on the simulated NCCL and on NVIDIA's.

import { assertEquals, assertThrows } from "@std/assert";
import type { GpuBuffer } from "../../../src/buffers/gpu_buffer.ts";
import { type DType, DTYPE_NAMES } from "../../../src/dtype.ts";
import type { Reduction } from "../../../src/group/element_types.ts";
import {
  downloadAll,
  GROUP_SIZES,
  type GroupScene,
  testOnGroup,
  uploadAll,
} from "../../support/group_scene.ts";
import { shareOf } from "../../support/random.ts";

/** Types that hold the numbers below, one to an element. */
const MOVED: readonly DType[] = DTYPE_NAMES.filter((dtype) => !/\d_|complex/.test(dtype));

const COMPUTED = MOVED.filter((dtype) => !["int16", "uint16", "bool"].includes(dtype));

const REDUCTIONS: Readonly<Record<Reduction, (values: readonly number[]) => number>> = {
  sum: (values) => values.reduce((one, other) => one + other),
  prod: (values) => values.reduce((one, other) => one * other),
  max: (values) => Math.max(...values),
  min: (values) => Math.min(...values),
  avg: (values) => values.reduce((one, other) => one + other) / values.length,
};

/** Elements of a part: odd, so that no part but the first is aligned to 16 bytes. */
const PART = 37;

/** Numbers that differ from rank to rank, that every type holds, and whose results it holds as well. */
function numbers(size: number, length: number, op?: Reduction): number[][] {
  return Array.from({ length: size }, (_, rank) =>
    Array.from({ length }, (_, at) => {
      if (op === "prod") return (at + rank) % 5 === 0 ? 2 : 1;
      // A mean is exact where all ranks have the same multiple of their number; int8 holds its sum.
      if (op === "avg") return (at % 2) * size;
      return (at * 7 + rank * 3) % 8;
    }));
}

function bits(size: number, length: number): number[][] {
  return numbers(size, length).map((list) => list.map((number) => number % 2));
}

function reducedBy(op: Reduction, values: readonly (readonly number[])[]): number[] {
  const [first = []] = values;
  return first.map((_, at) => REDUCTIONS[op](values.map((list) => list[at] ?? 0)));
}

const part = <T>(values: readonly T[], rank: number) =>
  values.slice(rank * PART, (rank + 1) * PART);

/** A scene with input buffers and a way to make others. */
interface Case extends GroupScene {
  readonly size: number;
  readonly inputs: GpuBuffer[];
  readonly values: number[][];
  /** Makes a buffer of zeros on each device. */
  readonly zeros: (length: number) => GpuBuffer[];
}

/** Runs a case with input buffers of `length(size)` elements. */
async function withInputs(
  scene: GroupScene,
  { dtype, values }: { dtype: DType; values: number[][] },
  body: (scene: Case) => Promise<void>,
): Promise<void> {
  using stack = new DisposableStack();
  const inputs = await uploadAll(scene, stack, { dtype, values });
  const zeros = (length: number) => scene.gpus.map((gpu) => stack.use(gpu.zeros(dtype, length)));
  await body({ ...scene, size: scene.group.size, inputs, values, zeros });
}

for (const size of shareOf(GROUP_SIZES, { least: 2 })) {
  for (const op of Object.keys(REDUCTIONS) as Reduction[]) {
    testOnGroup(
      `DeviceGroup.allReduce() gives ${size} ranks the ${op} of each type`,
      async (scene) => {
        for (const dtype of COMPUTED) {
          const values = numbers(size, PART, op);
          const expected = reducedBy(op, values);
          await withInputs(scene, { dtype, values }, async ({ group, inputs, zeros }) => {
            const into = zeros(PART);
            await group.allReduce(inputs, { op, into });
            assertEquals(await downloadAll(into), values.map(() => expected), dtype);
            assertEquals(await downloadAll(inputs), values, `${dtype} was changed`);
            await group.allReduce(inputs, { op });
            assertEquals(await downloadAll(inputs), values.map(() => expected), dtype);
          });
        }
      },
      size,
    );

    testOnGroup(
      `DeviceGroup.reduce() gives one of ${size} ranks the ${op} of each type`,
      async (scene) => {
        for (const [index, dtype] of COMPUTED.entries()) {
          const root = index % size;
          const values = numbers(size, PART, op);
          const expected = reducedBy(op, values);
          await withInputs(scene, { dtype, values }, async ({ group, inputs, zeros }) => {
            const into = zeros(PART)[root];
            await group.reduce(inputs, { op, into });
            assertEquals(await downloadAll(into === undefined ? [] : [into]), [expected], dtype);
            await group.reduce(inputs, { op, root });
            const left = values.map((list, rank) => rank === root ? expected : list);
            assertEquals(await downloadAll(inputs), left, dtype);
          });
        }
      },
      size,
    );

    testOnGroup(
      `DeviceGroup.reduceScatter() gives ${size} ranks parts of the ${op}`,
      async (scene) => {
        for (const dtype of COMPUTED) {
          const values = numbers(size, PART * size, op);
          const expected = values.map((_, rank) => part(reducedBy(op, values), rank));
          await withInputs(scene, { dtype, values }, async ({ group, inputs, zeros }) => {
            const into = zeros(PART);
            await group.reduceScatter(inputs, { op, into });
            assertEquals(await downloadAll(into), expected, dtype);
            await group.reduceScatter(inputs, { op });
            const own = (await downloadAll(inputs)).map((list, rank) => part(list, rank));
            assertEquals(own, expected, dtype);
          });
        }
      },
      size,
    );
  }

  testOnGroup(`DeviceGroup.broadcast() gives ${size} ranks one rank's elements`, async (scene) => {
    for (const [index, dtype] of MOVED.entries()) {
      const root = index % size;
      const values = bits(size, PART);
      await withInputs(scene, { dtype, values }, async ({ group, inputs, zeros }) => {
        const into = zeros(PART);
        const source = inputs[root];
        if (source !== undefined) await group.broadcast(source, { into });
        const expected = values.map(() => values[root] ?? []);
        assertEquals(await downloadAll(into), expected, dtype);
        assertEquals(await downloadAll(inputs), values, `${dtype} was changed`);
        await group.broadcast(inputs, { root });
        assertEquals(await downloadAll(inputs), expected, dtype);
      });
    }
  }, size);

  testOnGroup(`DeviceGroup.allGather() gives ${size} ranks all elements`, async (scene) => {
    for (const dtype of MOVED) {
      const values = bits(size, PART);
      const expected = values.map(() => values.flat());
      await withInputs(scene, { dtype, values }, async ({ group, inputs, zeros }) => {
        const into = zeros(PART * size);
        await group.allGather(inputs, { into });
        assertEquals(await downloadAll(into), expected, dtype);
        const whole = zeros(PART * size);
        for (const [rank, buffer] of whole.entries()) {
          using own = buffer.subarray(rank * PART, (rank + 1) * PART);
          const input = inputs[rank];
          if (input !== undefined) own.copyFrom(input);
        }
        await group.allGather(whole);
        assertEquals(await downloadAll(whole), expected, dtype);
      });
    }
  }, size);

  testOnGroup(`DeviceGroup.allToAll() gives ${size} ranks what is for them`, async (scene) => {
    for (const dtype of MOVED) {
      const values = bits(size, PART * size);
      await withInputs(scene, { dtype, values }, async ({ group, inputs, zeros }) => {
        const into = zeros(PART * size);
        await group.allToAll(inputs, { into });
        const expected = values.map((_, rank) => values.flatMap((list) => part(list, rank)));
        assertEquals(await downloadAll(into), expected, dtype);
      });
    }
  }, size);

  testOnGroup(
    `DeviceGroup.gather() and scatter() take ${size} ranks there and back`,
    async (scene) => {
      for (const [index, dtype] of MOVED.entries()) {
        const root = index % size;
        const values = bits(size, PART);
        await withInputs(scene, { dtype, values }, async ({ group, inputs, zeros }) => {
          const whole = zeros(PART * size)[root];
          const back = zeros(PART);
          if (whole === undefined) return;
          await group.gather(inputs, { into: whole });
          assertEquals(await downloadAll([whole]), [values.flat()], dtype);
          await group.scatter(whole, { into: back });
          assertEquals(await downloadAll(back), values, dtype);

          // In place, the root's own part stays where it is.
          using own = whole.subarray(root * PART, (root + 1) * PART);
          const others = inputs.map((input, rank) => rank === root ? own : input);
          await group.gather(others, { into: whole });
          assertEquals(await downloadAll([whole]), [values.flat()], dtype);
          const into = back.map((buffer, rank) => rank === root ? own : buffer.clear());
          await group.scatter(whole, { into });
          assertEquals(await downloadAll(into), values, dtype);
        });
      }
    },
    size,
  );

  testOnGroup(`DeviceGroup.batch() sends ${size} ranks' elements around`, async (scene) => {
    for (const dtype of MOVED) {
      const values = bits(size, PART);
      await withInputs(scene, { dtype, values }, async ({ group, inputs, zeros }) => {
        const into = zeros(PART);
        await group.batch(() => {
          for (const [rank, input] of inputs.entries()) {
            group.send(input, { to: (rank + 1) % size });
          }
          for (const [rank, buffer] of into.entries()) {
            group.recv(buffer, { from: (rank + size - 1) % size });
          }
        });
        const expected = values.map((_, rank) => values[(rank + size - 1) % size] ?? []);
        assertEquals(await downloadAll(into), expected, dtype);
      });
    }
  }, size);
}

testOnGroup("DeviceGroup.allReduce() takes parts of buffers that begin anywhere", async (scene) => {
  const size = scene.group.size;
  const values = numbers(size, 101);
  await withInputs(scene, { dtype: "float32", values }, async ({ group, inputs }) => {
    using stack = new DisposableStack();
    const parts = inputs.map((input) => stack.use(input.subarray(3, 98)));
    await group.allReduce(parts);
    const sums = reducedBy("sum", values);
    const expected = values.map((list) => [
      ...list.slice(0, 3),
      ...sums.slice(3, 98),
      ...list.slice(98),
    ]);
    assertEquals(await downloadAll(inputs), expected);
  });
});

testOnGroup("DeviceGroup.allReduce() of nothing does nothing", async ({ gpus, group }, stack) => {
  const none = gpus.map((gpu) => stack.use(gpu.alloc("float32", 0)));
  await group.allReduce(none);
  await group.allGather(none, { into: none.map((buffer) => stack.use(buffer.allocateLike())) });
});

testOnGroup("DeviceGroup.allReduce() cuts off the mean of integers", async (scene) => {
  const size = scene.group.size;
  const values = numbers(size, PART);
  for (const dtype of ["int32", "uint8", "int64"] as const) {
    await withInputs(scene, { dtype, values }, async ({ group, inputs }) => {
      await group.allReduce(inputs, { op: "avg" });
      const expected = reducedBy("avg", values).map(Math.trunc);
      assertEquals(await downloadAll(inputs), values.map(() => expected), dtype);
    });
  }
  const negative = values.map((list) => list.map((number) => -number));
  await withInputs(scene, { dtype: "int32", values: negative }, async ({ group, inputs }) => {
    await group.allReduce(inputs, { op: "avg" });
    const expected = reducedBy("avg", negative).map((mean) => Math.trunc(mean) + 0);
    assertEquals(await downloadAll(inputs), values.map(() => expected));
  });
});

testOnGroup(
  "DeviceGroup moves packed elements as bytes, and refuses parts of them",
  async (scene) => {
    const { group, gpus } = scene;
    const size = gpus.length;
    using stack = new DisposableStack();
    const inputs = gpus.map((gpu, rank) =>
      stack.use(gpu.alloc("float4_e2m1fn", 6).fill(rank % 2 === 0 ? 1.5 : -3))
    );
    const into = gpus.map((gpu) => stack.use(gpu.zeros("float4_e2m1fn", 6 * size)));
    await group.allGather(inputs, { into });
    const expected = inputs.flatMap((_, rank) => Array(6).fill(rank % 2 === 0 ? 1.5 : -3));
    for (const buffer of into) assertEquals([...await buffer.download()], expected);
    assertThrows(
      () => void group.allReduce(inputs, { op: "sum" }),
      TypeError,
      "NCCL computes with",
    );
  },
);
