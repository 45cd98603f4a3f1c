// Single elements: at(), setAt() and item() for every element type.

import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { type DType, DTYPE_NAMES, elementBytes, type ScalarOf } from "../../../src/dtype.ts";
import { DisposedError } from "../../../src/words/errors.ts";
import { withDevice } from "../../support/with_device.ts";

/** A value that every element type can hold without loss. */
function valueOf(dtype: DType): ScalarOf<DType> {
  return dtype === "int64" || dtype === "uint64" ? 1n : 1;
}

for (const dtype of DTYPE_NAMES) {
  Deno.test(`GpuBuffer.setAt() writes one ${dtype} that at() reads`, () =>
    withDevice(async (gpu) => {
      using buffer = gpu.zeros<DType>(dtype, 3);
      await buffer.setAt(-2, valueOf(dtype));
      const expected = [0, 1, 0].map((value) => elementBytes(dtype) === 8 ? Number(value) : value);
      const found = [await buffer.at(0), await buffer.at(1), await buffer.at(2)];
      assertEquals(found.map(Number), expected);
      assertEquals(typeof found[1], typeof valueOf(dtype));
    }));
}

Deno.test("GpuBuffer.at() reads values beyond small integers", () =>
  withDevice(async (gpu) => {
    using wide = await gpu.upload(new BigInt64Array([-(2n ** 63n)]));
    using narrow = await gpu.upload([-2.5], { dtype: "bfloat16" });
    assertEquals(await wide.item(), -(2n ** 63n));
    assertEquals(await narrow.item(), -2.5);
  }));

Deno.test("GpuBuffer.at() reads page-locked memory after queued work", () =>
  withDevice(async (gpu) => {
    using source = gpu.zeros("uint32", 4).fill(9);
    using pinned = gpu.pinned("uint32", 4);
    pinned.copyFrom(source);
    assertEquals(await pinned.at(3), 9);
  }));

Deno.test("GpuBuffer.at() and setAt() refuse an element that is not there", () =>
  withDevice(async (gpu) => {
    using buffer = gpu.zeros("uint8", 3);
    for (const index of [3, -4, 0.5, NaN]) {
      await assertRejects(() => buffer.at(index), RangeError, `Cannot reach element ${index}`);
      await assertRejects(() => buffer.setAt(index, 1), RangeError, "below 3");
    }
    await assertRejects(() => buffer.setAt(0, 256), RangeError, "as uint8");
  }));

Deno.test("GpuBuffer.item() refuses more than one element", () =>
  withDevice(async (gpu) => {
    using buffer = gpu.zeros("uint8", 3);
    await assertRejects(() => buffer.item(), RangeError, "it has 3 elements");
  }));

Deno.test("GpuBuffer.at() refuses a disposed buffer", () =>
  withDevice(async (gpu) => {
    const buffer = gpu.zeros("uint8", 1);
    buffer.dispose();
    await assertRejects(() => buffer.item(), DisposedError);
  }));

Deno.test("GpuBuffer refuses iteration with the call that reads elements", () =>
  withDevice((gpu) => {
    using x = gpu.zeros("float32", 3);
    const values = x as unknown as Iterable<number>;
    for (
      const use of [() => [...values], () => Array.from(values), () => new Float32Array(values)]
    ) {
      assertThrows(use, TypeError, "iterate over await x.download()");
    }
    using host = gpu.pinned("float32", 2);
    host.array.fill(1);
    assertEquals([...host.array], [1, 1]);
  }));
