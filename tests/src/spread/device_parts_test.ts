// Arrays in parts on 1, 2, 3 and 8 devices (on GPUs: on those there are): what each device holds, what
// comes back, the order of calls, and what is left after failures.

import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { DriverApi } from "../../../ffi/cuda.ts";
import { simulateDriver } from "../../../ffi/simulated/driver.ts";
import type { DType } from "../../../src/dtype.ts";
import type { UploadPartsOptions } from "../../../src/spread/device_parts.ts";
import { DisposedError, OutOfMemoryError } from "../../../src/words/errors.ts";
import { assertHoldsOnly, assertSameBytes } from "../../support/contents.ts";
import { cardOf } from "../../support/display.ts";
import { ON_GPU } from "../../support/driver.ts";
import { GROUP_SIZES, MAX_RANKS, withGroup } from "../../support/group_scene.ts";
import {
  bytesOf,
  countingBits,
  deviceAt,
  elementsOf,
  SMALL_SLOTS,
  withDevices,
} from "../../support/parts_scene.ts";
import { share, shareOf, testRandom } from "../../support/random.ts";
import { inTurn } from "../../support/test_unless.ts";

const DTYPES = ["float32", "bfloat16", "float16", "int64", "uint8", "bool"] as const;
const MIB = 2 ** 20;

/** Elements of a part of 5 MiB, whose upload is under way when the call returns. */
const LENGTH = 5 * MIB / 4;

for (const count of shareOf(GROUP_SIZES, { least: 2 })) {
  for (const limits of [undefined, SMALL_SLOTS]) {
    const by = limits === undefined ? "driver calls" : "lanes";
    Deno.test(`gpus.upload() gives ${count} devices their parts, by ${by}`, () => {
      const random = testRandom();
      return withDevices(count, async (gpus, stack) => {
        for (let round = 0; round < Math.max(4, share(12)); round++) {
          const dtype: DType = DTYPES[random.below(DTYPES.length)] ?? "uint8";
          const shape = Array.from({ length: 1 + random.below(3) }, () => random.below(40));
          const axis = random.below(shape.length);
          const size = shape[axis] ?? 0;
          const isGiven = random.below(2) === 0;
          const cuts = gpus.map(() => random.below(size + 1)).slice(1).sort((a, b) => a - b);
          const array = countingBits(dtype, shape.reduce((a, b) => a * b, 1));
          const offsets = isGiven ? { offsets: cuts } : {};
          const split = random.below(2) === 0 ? axis : axis - shape.length;
          const what = `round ${round}: ${dtype}[${shape}] ${axis} ${cuts}`;
          const parts = stack.use(
            await gpus.upload(array.buffer, { dtype, shape, split, ...offsets }),
          );
          assertEquals(parts.length, count, what);
          const starts = isGiven ? [0, ...cuts] : evenly(size, count);
          assertEquals(parts.offsets, starts, what);
          for (const [rank, buffer] of [...parts].entries()) {
            const [start = 0, end = size] = [starts[rank], starts[rank + 1]];
            assertEquals(buffer.shape, shape.with(axis, end - start), what);
            assertEquals(buffer.deviceOrdinal, gpus.at(rank)?.ordinal, what);
            const expected = elementsOf(array, { shape, axis, start, end });
            const found = new ArrayBuffer(expected.byteLength);
            await buffer.download(found);
            assertEquals(new Uint8Array(found), bytesOf(expected), `${what}, rank ${rank}`);
          }
          const back = new ArrayBuffer(array.byteLength);
          assertEquals(await parts.download(back), back);
          assertEquals(new Uint8Array(back), bytesOf(array), what);
        }
      }, limits && { limits });
    });
  }

  Deno.test(`gpus.upload() gives ${count} devices the whole, small and large`, () =>
    withDevices(count, async (gpus, stack) => {
      for (const length of [0, 1, 7, 5 * MIB + 5]) {
        const array = new Uint8Array(length).map((_, at) => at % 251);
        const parts = stack.use(await gpus.upload(array, { split: "replicate" }));
        assertEquals(parts.replicatedBy, length < 4 * MIB || count === 1 ? "uploads" : "peers");
        assertEquals(parts.byteLength, count * length);
        for (const buffer of parts) assertEquals(await buffer.download(), array);
        assertEquals(await parts.download(), array);
      }
    }));

  Deno.test(
    inTurn(`parts.upload() and download() of ${count} devices keep the order of calls`),
    () =>
      withDevices(count, async (gpus, stack) => {
        const shape = [64, 3 * 2 ** 15 + 1]; // 24 MiB: under way when the calls return
        const array = new Float32Array(64 * (3 * 2 ** 15 + 1)).fill(1);
        for (const split of [0, 1, "replicate"] as const) {
          const parts = stack.use(await gpus.upload(array, { shape, split }));
          const [twos, threes] = [2, 3].map((value) => new Float32Array(array.length).fill(value));
          const first = parts.upload(twos as Float32Array);
          const before = parts.download();
          const second = parts.upload(threes as Float32Array);
          for (const buffer of parts) buffer.subarray(0, 1).fill(9);
          const after = parts.download();
          assertHoldsOnly(await before, 2);
          const found = await after;
          assertEquals(found[0], 9);
          const others: number[] = []; // what the fills have written
          for (const value of found) if (value !== 3) others.push(value);
          assertEquals(others, Array(split === "replicate" ? 1 : count).fill(9));
          await Promise.all([first, second]);
          const target = new Float32Array(array.length);
          const filling = parts.download(target);
          const refilled = parts.upload(target); // reads the array when the download has filled it
          await Promise.all([filling, refilled]);
          assertEquals((await parts.download())[1], 3);
        }
      }),
  );
}

/** Where parts of nearly equal size begin, counted one by one. */
function evenly(size: number, count: number): number[] {
  const lengths = Array<number>(count).fill(0);
  for (let given = 0; given < size; given++) {
    lengths[given % count] = (lengths[given % count] ?? 0) + 1;
  }
  let start = 0;
  return lengths.map((length) => {
    const here = start;
    start += length;
    return here;
  });
}

Deno.test("gpus.upload() narrows float32 to 16 bits, rows and columns, and widens them", () =>
  withDevices(MAX_RANKS, async (gpus, stack) => {
    const array = Float32Array.from({ length: 40 * 33 }, (_, at) => at / 4 - 100);
    for (const dtype of ["bfloat16", "float16"] as const) {
      for (const split of [0, 1, "replicate"] as const) {
        const options = { dtype, shape: [40, 33], split };
        const parts = stack.use(await gpus.upload(array, options));
        using whole = await deviceAt(gpus, 0).upload(array, { dtype });
        const expected = await whole.download(new Float32Array(array.length));
        assertEquals(await parts.download(new Float32Array(array.length)), expected);
        const bits = new Uint16Array(array.length);
        assertEquals(
          await parts.download(bits),
          await whole.download(new Uint16Array(array.length)),
        );
        const fresh = await parts.download();
        assertEquals(Float32Array.from(fresh), expected);
      }
    }
  }));

Deno.test("gpus.upload() takes plain numbers, page-locked and shared memory", () =>
  withDevices(MAX_RANKS, async (gpus, stack) => {
    const length = 8 * 300;
    const numbers = Array.from(
      { length: 8 },
      (_, row) => Array.from({ length: 300 }, (_, at) => row * at),
    );
    const flat = Float64Array.from(numbers.flat());
    const rows = stack.use(await gpus.upload(numbers, { dtype: "float64", split: 1 }));
    assertEquals(rows.shape, [8, 300]);
    assertEquals(await rows.download(), flat);
    using pinned = deviceAt(gpus, 0).pinned("float64", length);
    pinned.array.set(flat);
    const columns = stack.use(await gpus.upload(pinned.array, { shape: [8, 300], split: 1 }));
    pinned.array.fill(0);
    await columns.download(pinned.array);
    assertEquals(pinned.array, flat);
    const shared = new Float64Array(new SharedArrayBuffer(8 * length));
    await columns.download(shared);
    assertEquals(Float64Array.from(shared), flat);
  }));

Deno.test(
  inTurn("parts.buffers of one upload are what the calls of a group take"),
  () =>
    withGroup(MAX_RANKS, async ({ gpus, group }) => {
      const array = new Float32Array(MAX_RANKS * LENGTH);
      for (let at = 0; at < array.length; at++) array[at] = at % 7;
      using parts = await gpus.upload(array, { split: 0 });
      using sums = await gpus.upload(new Float32Array(LENGTH), { split: "replicate" });
      const turned = new Float32Array(array.length);
      for (let at = 0; at < array.length; at++) turned[at] = 6 - at % 7;
      const again = parts.upload(turned);
      const summed = group.allReduce(parts.buffers, { into: sums.buffers, op: "sum" });
      await Promise.all([again, summed]);
      const expected = new Float32Array(LENGTH);
      for (let at = 0; at < LENGTH; at++) {
        let sum = 0;
        for (let rank = 0; rank < MAX_RANKS; rank++) sum += 6 - (rank * LENGTH + at) % 7;
        expected[at] = sum;
      }
      assertSameBytes(bytesOf(await sums.download()), bytesOf(expected));
    }),
);

Deno.test("gpus.upload() refuses what does not fit before it allocates", () =>
  withDevices(MAX_RANKS, async (gpus) => {
    const array = new Float32Array(24);
    const refused: [UploadPartsOptions<"float32">, string][] = [
      [{ shape: [4, 6], split: 2 }, "along axis 2: it has 2 axes"],
      [{ shape: [4, 6], split: -3 }, "along axis -3"],
      [{ split: 1 }, "it has 1 axis"],
      [{ split: 0.5 }, "along axis 0.5"],
      [{ shape: [4, 7] }, "as [4, 7]"],
      [{ split: 0, offsets: Array(MAX_RANKS).fill(1) }, "where each part but the first begins"],
      [{ split: "replicate", offsets: [] }, "Cannot replicate an array by offsets"],
      [{ split: "columns" as never }, 'option "split"'],
      [{ spilt: 0 } as never, 'did you mean "split"'],
    ];
    if (MAX_RANKS > 1) {
      const rest = Array<number>(MAX_RANKS - 2).fill(24);
      refused.push(
        [{ offsets: [25, ...rest] }, "at 25"],
        [{ offsets: [-1, ...rest] }, "at -1"],
        [{ offsets: [1.5, ...rest] }, "at 1.5"],
      );
    }
    for (const [options, words] of refused) {
      const error = await assertRejects(() => gpus.upload(array, options));
      assertStringIncludes(`${error}`, words);
    }
    await assertRejects(() => gpus.upload(new ArrayBuffer(8) as never), TypeError, "{ dtype }");
    await assertRejects(
      () => gpus.upload(array, { split: "rows" as never }),
      TypeError,
      'expected the number of an axis, such as 0 for rows, or "replicate"',
    );
    array.buffer.transfer();
    await assertRejects(() => gpus.upload(array), TypeError, "detached");
  }));

Deno.test("parts refuse arrays of another size or type, and say their name", () =>
  withDevices(MAX_RANKS, async (gpus, stack) => {
    const parts = stack.use(await gpus.upload(new Float32Array(24), { shape: [4, 6] }));
    const name = `DeviceParts(float32[4, 6] along axis 0, ${MAX_RANKS} ` +
      `device${MAX_RANKS === 1 ? "" : "s"})`;
    assertEquals(`${parts}`, name);
    for (const source of [new Float32Array(23), new Float64Array(24)]) {
      assertStringIncludes(
        `${await assertRejects(() => parts.upload(source as never))}`,
        `upload to ${name}`,
      );
      assertStringIncludes(
        `${await assertRejects(() => parts.download(source as never))}`,
        `download from ${name}`,
      );
    }
    const { text } = await cardOf(parts);
    assertStringIncludes(text, "float32[4, 6]");
    const named = stack.use(await gpus.upload(new Float32Array(24), { label: "weights" }));
    assertStringIncludes(`${named}`, "DeviceParts(weights, float32[24] along axis 0, ");
    assertStringIncludes(
      (await cardOf(named)).text,
      "DeviceParts weights: float32[24], split along",
    );
    parts.dispose();
    parts.dispose();
    await assertRejects(() => parts.download(), DisposedError, name);
    await assertRejects(() => parts.upload(new Float32Array(24)), DisposedError, name);
    assertStringIncludes((await cardOf(parts)).text, "disposed");
  }));

for (const split of [0, 1, "replicate"] as const) {
  Deno.test(`gpus.upload() by ${split} says that its array was moved away, and frees all parts`, () =>
    withDevices(MAX_RANKS, async (gpus) => {
      const array = new Float32Array(64 * MIB / 4);
      const upload = gpus.upload(array, { shape: [64, 2 ** 18], split });
      array.buffer.transfer();
      await assertRejects(() => upload, TypeError, "moved away");
    }));

  Deno.test(`gpus.upload() by ${split} ends early when its signal is aborted`, () =>
    withDevices(MAX_RANKS, async (gpus) => {
      const abort = new AbortController();
      const array = new Float32Array(64 * MIB / 4);
      const seen: number[] = [];
      const upload = gpus.upload(array, {
        shape: [64, 2 ** 18],
        split,
        signal: abort.signal,
        onProgress: (done, total) => {
          seen.push(done / total);
          abort.abort(new Error("enough"));
        },
      });
      await assertRejects(() => upload, Error, "enough");
      assert(seen.every((share) => share > 0 && share <= 1));
      const late = gpus.upload(array, { signal: abort.signal });
      await assertRejects(() => late, Error, "enough");
    }));

  Deno.test(`gpus.upload() by ${split} tells its progress of all devices together`, () =>
    withDevices(MAX_RANKS, async (gpus, stack) => {
      const totals = new Set<number>();
      let last = 0;
      const array = new Float32Array(16 * MIB / 4);
      const parts = stack.use(
        await gpus.upload(array, {
          shape: [64, 2 ** 16],
          split,
          onProgress: (done, total) => {
            assert(done >= last, "it went back");
            last = done;
            totals.add(total);
          },
        }),
      );
      const moved = parts.replicatedBy === "uploads" ? parts.byteLength : array.byteLength;
      assertEquals([last, [...totals]], [moved, [moved]]);
    }));
}

for (const direction of ["upload", "download"] as const) {
  Deno.test(
    inTurn(`${direction}() of columns rejects when its array is moved away while lanes use it`),
    () => {
      const limits = { ...SMALL_SLOTS, slotBytes: 2 ** 16 };
      return withDevices(MAX_RANKS, async (gpus, stack) => {
        const shape = [48, MIB / 4];
        const parts = stack.use(await gpus.upload(new Float32Array(12 * MIB), { shape, split: 1 }));
        for (const turns of [0, 1, 2, 5]) {
          const array = new Float32Array(12 * MIB).fill(1);
          const moving = direction === "upload" ? parts.upload(array) : parts.download(array);
          const outcome = moving.then(() => "resolved", (error: Error) => error.message);
          for (let turn = 0; turn < turns; turn++) {
            await new Promise((resolve) => setImmediate(resolve));
          }
          array.buffer.transfer(0);
          const other = new Float32Array(12 * MIB).fill(255);
          const text = await outcome;
          assert(other[0] === 255 && other.at(-1) === 255, "other memory was changed");
          const isOver = text === "resolved" && turns > 0; // all bytes were there before
          assert(isOver || text.includes("moved away"), `${turns} turns: ${text}`);
        }
      }, { limits });
    },
  );
}

if (!ON_GPU) {
  Deno.test("gpus.upload() frees the parts of others when the third device has no memory", () => {
    const driver = simulateDriver({ devices: 3, memoryBytes: 64 * MIB });
    return withDevices(3, async (gpus) => {
      using _full = deviceAt(gpus, 2).alloc("uint8", 60 * MIB);
      const free = gpus.map((gpu) => gpu.memory.liveBytes);
      for (const split of [0, "replicate"] as const) {
        const upload = () => gpus.upload(new Uint8Array(30 * MIB), { split });
        await assertRejects(upload, OutOfMemoryError, "on device 2");
      }
      assertEquals(gpus.map((gpu) => gpu.memory.liveBytes), free);
    }, { driver });
  });

  Deno.test("gpus.upload() ends the others when one device's copy fails", async () => {
    for (const shape of [[64, 2 ** 18], [2 ** 18, 64]]) {
      for (const split of [0, 1, "replicate"] as const) {
        const driver = failingCopies(simulateDriver({ devices: 3 }), 4);
        await withDevices(3, async (gpus) => {
          const error = await assertRejects(() =>
            gpus.upload(new Float32Array(16 * MIB), { shape, split })
          );
          assertStringIncludes(`${error}`, "CUDA_ERROR_INVALID_VALUE");
        }, { driver, limits: { ...SMALL_SLOTS, slotBytes: 2 ** 18 } });
      }
    }
  });

  Deno.test("gpus.upload() to devices that cannot reach each other uploads to each of them", () => {
    const driver = simulateDriver({ devices: 3, peerAccess: false });
    return withDevices(3, async (gpus, stack) => {
      const array = new Uint8Array(5 * MIB).fill(5);
      const parts = stack.use(await gpus.upload(array, { split: "replicate" }));
      assertEquals(parts.replicatedBy, "uploads");
      for (const buffer of parts) assertEquals(await buffer.download(), array);
    }, { driver });
  });
}

/** Makes a driver whose copies fail after some. */
function failingCopies(driver: DriverApi, after: number): DriverApi {
  let count = 0;
  const isOver = () => ++count > after;
  return {
    ...driver,
    cuMemcpyHtoDAsync_v2: (...args) => isOver() ? 1 : driver.cuMemcpyHtoDAsync_v2(...args),
    cuMemcpyAsync: (...args) => isOver() ? 1 : driver.cuMemcpyAsync(...args),
    cuMemcpyBatchAsync: (...args) => isOver() ? 1 : driver.cuMemcpyBatchAsync?.(...args) ?? 1,
  };
}
