// New arrays that are mapped apart and made ahead: ordinary arrays with the right bytes, whatever the
// program does with those before, and nothing is held that nobody can trim.

import { assert, assertEquals } from "@std/assert";
import { findHost } from "../../../ffi/host.ts";
import type { CudaDevice } from "../../../mod.ts";
import { addressOf } from "../../../src/memory/host_memory.ts";
import { collectLost } from "../../../src/order/safety_net.ts";
import { adoptEngine, takeArray } from "../../../src/transfer/context_engine.ts";
import { TransferEngine } from "../../../src/transfer/engine.ts";
import { DEFAULT_LIMITS } from "../../../src/transfer/tuning.ts";
import { patternBytes } from "../../support/contents.ts";
import { testOnLinux } from "../../support/test_unless.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

const MIB = 2 ** 20;

/** Four lanes, also on a machine with few cores. */
const LIMITS = { ...DEFAULT_LIMITS, laneCount: 4, freshLaneCount: 4, sharedLaneCount: 4 };

/** Runs a test with a device whose lanes run. */
function withLanes(body: (gpu: CudaDevice) => unknown): Promise<void> {
  return withDevice(async (gpu) => {
    const engine = adoptEngine(gpu.context, new TransferEngine(gpu.context, LIMITS));
    await engine.runLanes();
    await body(gpu);
  });
}

Deno.test("downloads into new arrays of 8 to 64 MiB bring their bytes, each in memory of its own", () =>
  withLanes(async (gpu) => {
    for (const byteLength of [8 * MIB, 8 * MIB + 8, 11 * MIB + 1000, 33 * MIB]) {
      const values = patternBytes(byteLength, byteLength % 97);
      using x = gpu.uploadSync(new Float64Array(values.buffer));
      const kept: Float64Array[] = [];
      for (let round = 0; round < 5; round++) {
        const array = round % 2 === 0 ? await x.download() : x.downloadSync();
        assertEquals([array.buffer.byteLength, array.byteOffset], [byteLength, 0]);
        assert(array.constructor === Float64Array);
        kept.push(array);
      }
      assertEquals(new Set(kept.map(({ buffer }) => buffer)).size, kept.length);
      for (const array of kept) assertEquals(new Uint8Array(array.buffer), values);
    }
  }));

Deno.test("arrays that the program moves away, drops or changes leave the next ones as they are", () =>
  withLanes(async (gpu) => {
    const byteLength = 8 * MIB;
    const values = patternBytes(byteLength);
    using x = gpu.uploadSync(values);
    for (let round = 0; round < 24; round++) {
      const array = round % 3 === 0 ? await x.download() : x.downloadSync();
      if (round % 4 === 0) structuredClone(array.buffer, { transfer: [array.buffer] });
      else array.fill(255);
      const other = x.downloadSync();
      assertEquals([other[0], other.at(-1)], [values[0], values.at(-1)]);
      if (round % 8 === 0) assertEquals(other, values);
    }
    const together = await Promise.all(Array.from({ length: 6 }, () => x.download()));
    for (const array of together) assertEquals(array, values);
  }));

testOnDevice("sizes that gain nothing, and engines without lanes, map no array", async (gpu) => {
  const { context } = gpu;
  assertEquals(takeArray(context, 8 * MIB), undefined); // there is no engine
  const engine = adoptEngine(context, new TransferEngine(context, LIMITS));
  assertEquals(takeArray(context, 8 * MIB), undefined);
  await engine.runLanes();
  assertEquals(takeArray(context, 8 * MIB - 1), undefined);
  assertEquals(takeArray(context, 64 * MIB + 1), undefined);
  assertEquals(takeArray(context, 8 * MIB)?.byteLength, 8 * MIB);
});

testOnLinux(
  "new arrays are mapped apart from the heap, however much of it is free",
  () =>
    withLanes((gpu) => {
      const host = findHost();
      assert(host !== undefined);
      // The heap has free blocks of many sizes, each behind one that is in use.
      const blocks = Array.from({ length: 40 }, (_, at) => host.malloc(BigInt((1 + at) * 2 ** 19)));
      const small = blocks.map(() => host.malloc(100n));
      for (const block of blocks) host.free(block);
      const areApart = () =>
        Array.from({ length: 6 }, () => takeArray(gpu.context, 9 * MIB)).every((array) => {
          assert(array !== undefined);
          return addressOf(new Uint8Array(array)) % 4096n === 16n;
        });
      // V8 frees arrays that former tests dropped on a thread of its own, also just before it makes one.
      assert(areApart() || areApart() || areApart());
      for (const block of small) host.free(block);
    }),
);

/** Counts the arrays of a size that are made while it is not disposed, and those that are left. */
class ArrayCount implements Disposable {
  readonly #real = globalThis.ArrayBuffer;
  readonly #collected = new FinalizationRegistry<void>(() => this.#leftCount--);
  #leftCount = 0;

  constructor(byteLength: number) {
    const note = (array: ArrayBuffer) => {
      this.#leftCount++;
      this.#collected.register(array);
    };
    globalThis.ArrayBuffer = class extends this.#real {
      constructor(size: number) {
        super(size);
        if (size === byteLength) note(this);
      }
    } as ArrayBufferConstructor;
  }

  /** Returns the number of arrays that the collector leaves. */
  async left(expected: number): Promise<number> {
    for (let round = 0; round < 20 && this.#leftCount > expected; round++) await collectLost();
    await collectLost();
    return this.#leftCount;
  }

  [Symbol.dispose](): void {
    globalThis.ArrayBuffer = this.#real;
  }
}

Deno.test("one array is held, until memory is trimmed or another size is asked for", () =>
  withLanes(async ({ context }) => {
    using arrays = new ArrayCount(8 * MIB);
    const take = (...sizes: number[]) => {
      for (const size of sizes) {
        assertEquals(takeArray(context, size)?.byteLength, size);
      }
    };
    take(8 * MIB, 8 * MIB, 8 * MIB);
    assertEquals(await arrays.left(1), 1);
    [...context.ledger.caches].find(({ name }) => name === "transfer ring")?.trim();
    assertEquals(await arrays.left(0), 0);
    take(8 * MIB, 8 * MIB);
    assertEquals(await arrays.left(1), 1);
    take(9 * MIB);
    assertEquals(await arrays.left(0), 0);
  }));
