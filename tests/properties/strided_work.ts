// One random copy or fill between strided layouts, beside the same work done element by element.

import { assertEquals } from "@std/assert";
import type { StridedLayout } from "../../src/buffers/strides.ts";
import type { CudaDevice } from "../../src/device/device.ts";
import type { Random } from "../support/random.ts";
import { elementsOf } from "../support/strided_elements.ts";

/** Element types of each width. */
const DTYPES = ["uint8", "uint16", "uint32", "float64"] as const;

/** What became of a piece of work. */
export type Outcome = "copied" | "filled" | "refused to overlap" | "refused to write twice";

/** Elements of a buffer, and of one with room for a matrix that is turned square by square. */
const LENGTH = 160;
const LONG_LENGTH = 3000;
const MAX_ROWS = 40;
const MAX_AXES = 4;
const MAX_STEPS = 5;
const MAX_STRIDE = 9;

/** Does one piece of work on fresh buffers, and compares all of their elements. */
export async function checkStridedWork(gpu: CudaDevice, random: Random): Promise<Outcome> {
  const dtype = random.pick(DTYPES) ?? "uint8";
  const isLong = random.below(4) === 0;
  const length = isLong ? LONG_LENGTH : LENGTH;
  const numbers = () => Array.from({ length }, () => random.below(256));
  using from = await gpu.upload(numbers(), { dtype });
  using other = await gpu.upload(numbers(), { dtype });
  const to = random.below(2) === 0 ? from : other;
  const shape = isLong
    ? [1 + random.below(MAX_ROWS), 1 + random.below(MAX_ROWS)]
    : Array.from({ length: random.below(MAX_AXES + 1) }, () => random.below(MAX_STEPS));
  const [read, written] = [
    randomLayout(shape, length, random),
    randomLayout(shape, length, random),
  ];
  const [origins, places] = [elementsOf(read), elementsOf(written)];
  const [values, expected] = [await from.download(), await to.download()];
  const target = to.strided(written);
  if (random.below(4) === 0) {
    const value = dtype === "float64" ? Math.PI * random.below(99) : random.below(256);
    for (const place of places) expected[place] = value;
    target.fill(value);
    assertEquals(await to.download(), expected);
    return "filled";
  }
  for (const [index, place] of places.entries()) {
    expected[place] = values[origins[index] ?? 0] ?? 0;
  }
  const isTwice = new Set(places).size < places.length;
  const isShared = from === to && origins.some((place) => places.includes(place));
  try {
    target.copyFrom(from.strided(read));
  } catch (error) {
    // Elements that interleave count as written twice, because nobody can be sure in short time.
    if (error instanceof TypeError) return "refused to write twice";
    if (error instanceof RangeError && isShared) return "refused to overlap";
    throw error;
  }
  assertEquals([isTwice, isShared], [false, false]);
  assertEquals(await to.download(), expected);
  return "copied";
}

/** Chooses strides, and an offset with which the layout fits. */
function randomLayout(shape: readonly number[], length: number, random: Random): StridedLayout {
  for (;;) {
    const strides = random.below(2) === 0 ? anyStrides(shape, random) : apart(shape, random);
    const reach = elementsOf({ shape, strides, offset: 0 });
    const lowest = Math.min(0, ...reach);
    const spare = length - 1 - Math.max(0, ...reach) + lowest;
    if (spare >= 0) return { shape, strides, offset: random.below(spare + 1) - lowest };
  }
}

/** Strides of either sign. */
function anyStrides(shape: readonly number[], random: Random): number[] {
  return shape.map(() => random.below(2 * MAX_STRIDE + 1) - MAX_STRIDE);
}

/** Strides that keep all elements apart, in any order of the axes, now and then with gaps. */
function apart(shape: readonly number[], random: Random): number[] {
  const strides = shape.map(() => 0);
  const axes = [...shape.keys()];
  for (let covered = 1; axes.length > 0;) {
    const [axis = 0] = axes.splice(random.below(axes.length), 1);
    const stride = covered + (random.below(3) === 0 ? 1 : 0);
    strides[axis] = random.below(3) === 0 ? -stride : stride;
    covered = stride * Math.max(1, shape[axis] ?? 0);
  }
  return strides;
}
