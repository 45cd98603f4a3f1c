// Plans of strided copies: the calls cover each element once, and are as few as they can be.

import { assertEquals } from "@std/assert";
import {
  type CopyAxis,
  hullOf,
  offsetsOf,
  planCopy,
  reachOf,
} from "../../../src/copies/copy_plan.ts";
import { testRandom } from "../../support/random.ts";

/** The pairs of bytes that a plan moves. */
function movedBytes(elementBytes: number, axes: readonly CopyAxis[]): string[] {
  const { widthBytes, rows, slices, loops } = planCopy(elementBytes, axes);
  const all = [...loops, slices, rows].filter((axis) => axis !== undefined);
  return [...offsetsOf(all)].flatMap(({ destination, source }) =>
    Array.from({ length: widthBytes }, (_, byte) => `${source + byte}>${destination + byte}`)
  );
}

Deno.test("planCopy() moves each byte of random layouts once", () => {
  const random = testRandom();
  for (let round = 0; round < 2000; round++) {
    const elementBytes = 2 ** random.below(4);
    let stride = elementBytes;
    const axes: CopyAxis[] = Array.from({ length: random.below(5) }, () => {
      const size = 1 + random.below(4);
      const destinationStride = stride;
      stride *= size + random.below(2);
      return { size, destinationStride, sourceStride: elementBytes * (random.below(20) - 5) };
    });
    const plain = [...offsetsOf(axes)].flatMap(({ destination, source }) =>
      Array.from({ length: elementBytes }, (_, byte) => `${source + byte}>${destination + byte}`)
    );
    assertEquals(movedBytes(elementBytes, axes).sort(), plain.sort());
  }
});

Deno.test("planCopy() makes one row of elements that follow each other on both sides", () => {
  const axes = [
    { size: 3, destinationStride: 32, sourceStride: 32 },
    { size: 8, destinationStride: 4, sourceStride: 4 },
  ];
  for (const order of [axes, axes.toReversed()]) {
    const plan = planCopy(4, order);
    assertEquals(plan, { widthBytes: 96, rows: undefined, slices: undefined, loops: [] });
  }
});

Deno.test("planCopy() makes one rectangle of padded rows and one box of padded planes", () => {
  const row = { size: 8, destinationStride: 4, sourceStride: 4 };
  const rows = { size: 5, destinationStride: 32, sourceStride: 64 };
  const planes = { size: 3, destinationStride: 160, sourceStride: 640 };
  assertEquals(planCopy(4, [rows, row]), { widthBytes: 32, rows, slices: undefined, loops: [] });
  assertEquals(planCopy(4, [planes, rows, row]), {
    widthBytes: 32,
    rows,
    slices: planes,
    loops: [],
  });
});

Deno.test("planCopy() makes one rectangle for each row of a transposed matrix", () => {
  const rows = { size: 100, destinationStride: 4, sourceStride: 40 };
  const columns = { size: 10, destinationStride: 400, sourceStride: 4 };
  const plan = planCopy(4, [columns, rows]);
  assertEquals(plan, { widthBytes: 4, rows, slices: undefined, loops: [columns] });
});

Deno.test("planCopy() leaves pitches that the driver cannot take to the loops", () => {
  const row = { size: 8, destinationStride: 4, sourceStride: 4 };
  const far = { size: 2, destinationStride: 2 ** 31, sourceStride: 32 };
  const back = { size: 2, destinationStride: 64, sourceStride: -64 };
  assertEquals(planCopy(4, [far, row]).loops, [far]);
  assertEquals(planCopy(4, [back, row]).loops, [back]);
});

Deno.test("hullOf() goes from the lowest to the highest byte, also where axes run backwards", () => {
  const strides = [-24, -8, 8, 32];
  for (const first of strides) {
    for (const second of strides) {
      const axes = [{ size: 3, stride: first }, { size: 2, stride: second }];
      const offsets = [0, 1, 2].flatMap((i) => [0, 1].map((j) => i * first + j * second));
      const [lowest, highest] = [Math.min(...offsets), Math.max(...offsets)];
      assertEquals(hullOf(0x1000n, reachOf(axes, 8)), {
        address: 0x1000n + BigInt(lowest),
        byteLength: highest - lowest + 8,
      });
    }
  }
  assertEquals(hullOf(64n, reachOf([], 4)), { address: 64n, byteLength: 4 });
});
