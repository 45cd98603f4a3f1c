// What every kind of buffer must do, as one suite: `testBuffer({ name, make })` runs it.
// Contents are checked by queued copies, which all kinds have; what only one kind has is its own test.

import { assert, assertEquals, assertFalse, assertStrictEquals, assertThrows } from "@std/assert";
import type { GpuBuffer } from "../../src/buffers/gpu_buffer.ts";
import type { Shape } from "../../src/buffers/shape.ts";
import type { CudaDevice } from "../../src/device/device.ts";
import {
  type DType,
  DTYPE_NAMES,
  elementBytes,
  packLength,
  type ScalarOf,
} from "../../src/dtype.ts";
import { CudaError, DisposedError } from "../../src/words/errors.ts";
import {
  assertHoldsOnly,
  assertSameBytes,
  patternBytes,
  readBytes,
  writeBytes,
} from "./contents.ts";
import { testDisposedUse } from "./disposed_contract.ts";
import { openTestDevice, testOnTwoDevices } from "./driver.ts";
import { faultyDriver } from "./faulty_driver.ts";
import { liveNames, withDevice } from "./with_device.ts";

/** The options of a buffer that is made. */
export interface MakeOptions<D extends DType> {
  readonly dtype: D;
  readonly shape: number | Shape;
  readonly label?: string;
}

/** A kind of buffer under test. */
export interface BufferSubject {
  readonly name: string;
  /** The name in the tests, where that is not its class. */
  readonly title?: string;
  readonly make: <D extends DType>(gpu: CudaDevice, options: MakeOptions<D>) => GpuBuffer<D>;
}

const SIZES_THAT_ARE_NONE = [-1, 0.5, NaN, Infinity, 2 ** 53, "4"] as number[];

/** Registers the suite for one kind of buffer. */
export function testBuffer(subject: BufferSubject): void {
  const { name, title = name, make } = subject;

  function testWith(criterion: string, body: (gpu: CudaDevice) => unknown): void {
    Deno.test(`${title} ${criterion}`, () => withDevice(body));
  }

  function makeNumbers(gpu: CudaDevice, shape: number | Shape): GpuBuffer<"uint32"> {
    const buffer = make(gpu, { dtype: "uint32", shape, label: "x" });
    writeBytes(
      buffer,
      new Uint8Array(Uint32Array.from({ length: buffer.length }, (_, i) => i).buffer),
    );
    return buffer;
  }

  function numbersOf(buffer: GpuBuffer<"uint32">): number[] {
    return [...new Uint32Array(readBytes(buffer).buffer)];
  }

  for (const dtype of DTYPE_NAMES) {
    testWith(`holds every byte of ${dtype}`, (gpu) => {
      using buffer = make(gpu, { dtype, shape: [3, 4] });
      const bytes = patternBytes(12 * elementBytes(dtype));
      writeBytes(buffer, bytes);
      assertEquals([buffer.length, buffer.byteLength], [12, bytes.byteLength]);
      assertSameBytes(readBytes(buffer), bytes);
    });

    testWith(`fill() sets every element of ${dtype}`, (gpu) => {
      using buffer = make(gpu, { dtype, shape: 1000 });
      const wide = dtype === "int64" || dtype === "uint64";
      buffer.fill((wide ? 0x0102030405060708n : 5) as ScalarOf<typeof dtype>);
      const bytes = readBytes(buffer);
      const size = packLength(dtype) * elementBytes(dtype);
      for (let i = 1; i < bytes.length / size; i++) {
        assertSameBytes(bytes.subarray(i * size, (i + 1) * size), bytes.subarray(0, size));
      }
      if (wide) assertEquals([...bytes.subarray(0, 8)], [8, 7, 6, 5, 4, 3, 2, 1]);
      else assert(bytes.some((byte) => byte !== 0));
      buffer.clear();
      assertHoldsOnly(readBytes(buffer), 0);
    });
  }

  testWith("fill() refuses what does not fit and changes nothing", (gpu) => {
    using bytes = make(gpu, { dtype: "uint8", shape: 4 });
    bytes.fill(9);
    for (const value of [256, -1, 0.5, NaN]) assertThrows(() => bytes.fill(value), RangeError);
    assertThrows(() => bytes.fill(1n as unknown as number), TypeError);
    assertEquals([...readBytes(bytes)], [9, 9, 9, 9]);
    using wide = make(gpu, { dtype: "uint64", shape: 1 });
    assertThrows(() => wide.fill(1 as unknown as bigint), TypeError, "expected a bigint");
    assertThrows(() => wide.fill(-1n), RangeError);
  });

  testWith("describes itself by kind, label, type and shape", (gpu) => {
    using buffer = make(gpu, { dtype: "float32", shape: [2, 3], label: "x" });
    assertEquals(String(buffer), `${name}(x, float32[2, 3])`);
    assert(Deno.inspect(buffer).startsWith(`${name}(x, float32[2, 3])`));
    assertEquals([buffer.label, buffer.dtype, [...buffer.shape]], ["x", "float32", [2, 3]]);
    assertEquals([buffer.deviceOrdinal, buffer.context], [0, gpu.context]);
    buffer.dispose();
    assertEquals(Deno.inspect(buffer), `${name}(x, float32[2, 3]) disposed`);
  });

  testWith("takes 0 bytes everywhere", (gpu) => {
    using empty = make(gpu, { dtype: "float32", shape: [0, 3] });
    using other = make(gpu, { dtype: "float32", shape: 0 });
    assertEquals([empty.length, empty.byteLength, empty.ptr], [0, 0, 0n]);
    empty.fill(1).clear().copyFrom(other).copyTo(other);
    assertEquals(empty.subarray().length, 0);
    assertEquals([...empty.chunks(4)].length, 0);
    assertEquals(empty.as("uint8").length, 0);
    assertEquals(empty.reshape([3, 0]).shape, [3, 0]);
    assertThrows(() => empty.view(0), RangeError);
  });

  for (const size of SIZES_THAT_ARE_NONE) {
    testWith(`refuses a size of ${JSON.stringify(size) ?? size} (${size})`, (gpu) => {
      const error = typeof size === "number" ? RangeError : TypeError;
      assertThrows(() => make(gpu, { dtype: "uint8", shape: size }), error);
      assertThrows(() => make(gpu, { dtype: "uint8", shape: [2, size] }), RangeError);
      assertEquals(gpu.live().count, 0);
    });
  }

  testWith("refuses a shape whose product or bytes pass 2^53", (gpu) => {
    assertThrows(() => make(gpu, { dtype: "uint8", shape: [2 ** 27, 2 ** 27] }), RangeError);
    assertThrows(() => make(gpu, { dtype: "float64", shape: 2 ** 52 }), RangeError);
    assertEquals(gpu.live().count, 0);
  });

  testWith("refuses a type that there is not", (gpu) => {
    assertThrows(
      () => make(gpu, { dtype: "float" as DType, shape: 4 }),
      TypeError,
      'Cannot use "float" (did you mean "float32"?) as an element type',
    );
    assertEquals(gpu.live().count, 0);
  });

  testWith("has a number of its own, and one for its memory that views share", (gpu) => {
    using first = make(gpu, { dtype: "uint8", shape: 16 });
    using second = make(gpu, { dtype: "uint8", shape: 16 });
    const view = first.subarray(4);
    assertEquals(new Set([first.id, second.id, view.id]).size, 3);
    assert(first.storageId !== second.storageId);
    assertEquals(view.storageId, first.storageId);
    assertEquals([view.isView, first.isView], [true, false]);
    assertEquals([view.byteLength, view.totalByteLength], [12, first.totalByteLength]);
  });

  testWith("view() shows one row, counted from either end", (gpu) => {
    using buffer = makeNumbers(gpu, [3, 4]);
    assertEquals(numbersOf(buffer.view(1)), [4, 5, 6, 7]);
    assertEquals(numbersOf(buffer.view(-1)), [8, 9, 10, 11]);
    assertEquals([...buffer.view(1).shape], [4]);
    assertEquals(numbersOf(buffer.view(2).view(1)), [9]);
    for (const row of [3, -4, 0.5, NaN]) assertThrows(() => buffer.view(row), RangeError);
  });

  testWith("rows() shows rows in their shape, by the rules of typed arrays", (gpu) => {
    using buffer = makeNumbers(gpu, [4, 1, 2]);
    const rows = [0, 1, 2, 3].map((row) => [2 * row, 2 * row + 1]);
    for (const [start, end] of [[], [1], [1, 3], [-2], [-3, -1], [3, 1], [0, 9], [4], [1.9, 3.2]]) {
      const part = rows.slice(start, end);
      const shown = buffer.rows(start, end);
      assertEquals(shown.shape, [part.length, 1, 2]);
      assertEquals(numbersOf(shown), part.flat(), `${start}, ${end}`);
    }
    assertEquals(numbersOf(buffer.rows(1).rows(1).view(-1)), [6, 7]);
    assertThrows(() => buffer.view(0).view(0).view(0).rows(), RangeError, "it has no axis");
  });

  testWith("subarray() follows the rules of typed arrays", (gpu) => {
    using buffer = makeNumbers(gpu, 10);
    const reference = Array.from({ length: 10 }, (_, index) => index);
    const ranges = [[], [3], [2, 5], [-3], [-5, -2], [8, 3], [0, 99], [-99, 2], [10], [1.9, 3.2]];
    for (const [start, end] of ranges) {
      const part = Uint32Array.from(reference).subarray(start, end);
      assertEquals(numbersOf(buffer.subarray(start, end)), [...part], `${start}, ${end}`);
    }
  });

  testWith("reshape() shows the same elements in another shape only", (gpu) => {
    using buffer = makeNumbers(gpu, [2, 6]);
    assertEquals(numbersOf(buffer.reshape([4, 3]).view(3)), [9, 10, 11]);
    assertThrows(() => buffer.reshape([5, 2]), RangeError, "12 elements are not 10");
    assertThrows(() => buffer.reshape(-12), RangeError);
    assertEquals(buffer.reshape([-1, 4]).shape, [3, 4]);
    assertEquals(buffer.reshape(-1).shape, [12]);
    assertThrows(() => buffer.reshape([-1, 5]), RangeError, "do not divide by 5");
    assertThrows(() => buffer.reshape([-1, -1, 4]), RangeError);
  });

  testWith("as() shows the same bytes as another type only when they fit", (gpu) => {
    using buffer = makeNumbers(gpu, 4);
    assertEquals(buffer.as("uint8").length, 16);
    assertEquals(buffer.as("float64").length, 2);
    assertSameBytes(readBytes(buffer.as("int16")), readBytes(buffer));
    assertThrows(() => buffer.subarray(0, 3).as("float64"), RangeError);
    assertThrows(() => buffer.subarray(1, 3).as("float64"), RangeError);
  });

  testWith("split() and chunks() cover every element once", (gpu) => {
    using buffer = makeNumbers(gpu, 10);
    const [left, right] = buffer.split(3);
    assertEquals([...numbersOf(left), ...numbersOf(right)], numbersOf(buffer));
    assertEquals([...buffer.chunks(4)].map(numbersOf), [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]);
    for (const at of [-1, 11, 2.5, NaN]) {
      assertThrows(() => buffer.split(at), RangeError, "expected a whole number up to 10");
    }
    for (const size of [0, -1, 2.5, NaN]) {
      assertThrows(() => [...buffer.chunks(size)], RangeError, "expected a whole number from 1 on");
    }
  });

  testWith("shows in the parent what was written through a view", (gpu) => {
    using buffer = makeNumbers(gpu, 8);
    buffer.subarray(2, 6).subarray(1, 3).fill(99);
    assertEquals(numbersOf(buffer), [0, 1, 2, 99, 99, 5, 6, 7]);
  });

  testWith("copyFrom() copies and leaves the source alone", (gpu) => {
    using source = makeNumbers(gpu, 8);
    using target = make(gpu, { dtype: "uint32", shape: [2, 4] });
    assertStrictEquals(target.copyFrom(source), target);
    assertStrictEquals(source.copyTo(target.subarray()), source);
    assertEquals(numbersOf(target), numbersOf(source));
  });

  testWith("copyFrom() refuses other sizes, types and arrays, and changes nothing", (gpu) => {
    using target = makeNumbers(gpu, 4);
    using source = makeNumbers(gpu, 5);
    const larger = /5 elements|20 bytes|too small/;
    const error = assertThrows(() => target.copyFrom(source), RangeError);
    assert(larger.test(error.message), error.message);
    assertThrows(() => source.copyFrom(target), RangeError);
    using floats = make(gpu, { dtype: "float32", shape: 4 });
    assertThrows(
      () => target.copyFrom(floats as unknown as GpuBuffer<"uint32">),
      TypeError,
      "element types differ; astype() converts",
    );
    const array = new Uint32Array(4) as unknown as GpuBuffer<"uint32">;
    assertThrows(() => target.copyFrom(array), TypeError, "await upload()");
    assertThrows(() => target.copyTo(array), TypeError, "await download()");
    assertEquals(numbersOf(target), [0, 1, 2, 3]);
  });

  Deno.test(`${title} keeps working after a copy that failed`, () => {
    const { driver, setFault } = faultyDriver();
    return withDevice((gpu) => {
      using target = makeNumbers(gpu, 4);
      using source = makeNumbers(gpu, 4);
      source.fill(7);
      setFault({ name: "cuMemcpyAsync" });
      assertThrows(() => target.copyFrom(source), CudaError, "cuMemcpyAsync");
      setFault(undefined);
      assertEquals(numbersOf(target), [0, 1, 2, 3]);
      assertEquals(numbersOf(target.copyFrom(source)), [7, 7, 7, 7]);
    }, { driver });
  });

  testOnTwoDevices(`${title} refuses a stream of another device`, (first, second) => {
    using buffer = make(first, { dtype: "uint8", shape: 16 });
    const { stream } = second;
    assertThrows(() => buffer.fill(1, { stream }), TypeError, "device 1");
    assertThrows(() => buffer.clear({ stream }), TypeError, "device 1");
    assertThrows(() => buffer.copyFrom(buffer, { stream }), TypeError, "device 1");
    assertThrows(() => buffer.close(stream), TypeError, "device 1");
    assertFalse(buffer.disposed);
  });

  testWith("dispose() gives the memory back once when called twice", (gpu) => {
    const buffer = make(gpu, { dtype: "uint8", shape: 1000, label: "x" });
    buffer.fill(1);
    assert(liveNames(gpu).includes("x"));
    assert(gpu.live().byteLength >= 1000);
    buffer.dispose();
    buffer.dispose();
    assert(buffer.disposed);
    assertEquals([gpu.live().count, gpu.live().byteLength], [0, 0]);
  });

  testWith("dispose() of a view leaves the memory to its owner", (gpu) => {
    using buffer = makeNumbers(gpu, 4);
    const view = buffer.subarray(1, 3);
    const sibling = buffer.subarray(1, 3);
    view.dispose();
    assertEquals([view.disposed, buffer.disposed, sibling.disposed], [true, false, false]);
    assertThrows(() => view.fill(1), DisposedError);
    assertEquals(numbersOf(sibling), [1, 2]);
  });

  testWith("dispose() of the owner ends every view, also views of views", (gpu) => {
    const buffer = makeNumbers(gpu, 8);
    const view = buffer.subarray(2);
    const inner = view.subarray(1, 3);
    buffer.dispose();
    assertEquals([view.disposed, inner.disposed], [true, true]);
    assertThrows(() => inner.fill(1), DisposedError);
    inner.dispose();
    view.dispose();
    assertEquals(gpu.live().count, 0);
  });

  testWith("dispose() of a view between leaves the views made from it", (gpu) => {
    using buffer = makeNumbers(gpu, 8);
    const outer = buffer.subarray(2);
    const inner = outer.subarray(1, 3);
    outer.dispose();
    assertEquals(numbersOf(inner), [3, 4]);
    assertThrows(() => outer.subarray(0, 1), DisposedError);
  });

  testWith("dispose() in any order leaves nothing", (gpu) => {
    const parts = ["buffer", "view", "inner", "stream"];
    for (const order of permutations(parts)) {
      const stream = gpu.createStream();
      const buffer = makeNumbers(gpu, 8);
      const view = buffer.subarray(2);
      const objects = { stream, buffer, view, inner: view.subarray(1) };
      buffer.fill(1, { stream });
      for (const part of order) objects[part as keyof typeof objects].dispose();
      assertEquals(gpu.live().count, 0, order.join());
    }
  });

  testWith("close() gives the memory back in the order of another stream", (gpu) => {
    using stream = gpu.createStream({ label: "loader" });
    const buffer = makeNumbers(gpu, 1000);
    buffer.fill(1, { stream });
    buffer.close(stream);
    buffer.close(stream);
    assert(buffer.disposed);
    assertEquals(liveNames(gpu), ["loader"]);
  });

  testWith("is disposed by using and by await using", async (gpu) => {
    let kept: GpuBuffer<"uint8"> | undefined;
    {
      using buffer = make(gpu, { dtype: "uint8", shape: 4 });
      kept = buffer;
    }
    assert(kept.disposed);
    {
      await using buffer = make(gpu, { dtype: "uint8", shape: 4 });
      kept = buffer;
    }
    assert(kept.disposed);
  });

  Deno.test(`${title} lives on when its device is disposed first`, async () => {
    const gpu = openTestDevice();
    const buffer = make(gpu, { dtype: "uint8", shape: 16 });
    gpu.dispose();
    buffer.fill(3);
    assertSameBytes(readBytes(buffer), new Uint8Array(16).fill(3));
    buffer.dispose();
    assert(buffer.context.released);
    await buffer.context.returning; // threads that kept a registered array
  });

  testDisposedUse(title, (gpu) => make(gpu, { dtype: "uint32", shape: [2, 2], label: "x" }));
}

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((item, index) =>
    permutations(items.toSpliced(index, 1)).map((rest) => [item, ...rest])
  );
}
