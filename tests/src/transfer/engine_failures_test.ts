// Breaks transfers at every piece, in every way they can break, and checks that the first error is
// told, that nothing stays in flight, and that the next transfer works.

import { assertEquals, assertGreater, assertLess, assertRejects, assertThrows } from "@std/assert";
import { CUresult } from "../../../ffi/constants.ts";
import type { DriverFunction } from "../../../ffi/cuda.ts";
import { CudaDevice } from "../../../src/device/device.ts";
import { engineOf } from "../../../src/transfer/context_engine.ts";
import { inMemory, oneRow, type Section } from "../../../src/transfer/pieces.ts";
import { CudaError } from "../../../src/words/errors.ts";
import { assertSameBytes, patternBytes } from "../../support/contents.ts";
import { faultyDriver } from "../../support/faulty_driver.ts";
import { IS_WHOLE, shareOf } from "../../support/random.ts";
import { inTurn } from "../../support/test_unless.ts";
import { keepLanes, TINY_LIMITS, TinyEngine } from "../../support/tiny_engine.ts";
import { withDevice } from "../../support/with_device.ts";

const MIB = 2 ** 20;
const PIECE_COUNT = 10;
const TOTAL_BYTES = PIECE_COUNT * 4096 - 100;
const PIECES = Array.from({ length: PIECE_COUNT }, (_, index) => index);
/** Calls that fail; the first two, and some, in a run that is not whole. */
const FAILING = IS_WHOLE ? PIECES : [0, 1, ...shareOf(PIECES.slice(2), { least: 2 })];

/** More slots than a transfer has pieces. */
const MANY_LIMITS = { ...TINY_LIMITS, slotCount: 16 };

/** Enough threads for some to be lent. */
const LENDING_LIMITS = { ...MANY_LIMITS, laneCount: 7, sharedLaneCount: 7 };

/** The whole in parts, the last one first: their copies are several, and queued in one call of the driver's. */
function inParts({ span, host, rows: { rowBytes } }: Section): Section[] {
  const bytes = "bytes" in host ? host.bytes : new Uint8Array(0);
  return Array.from({ length: Math.ceil(rowBytes / 1000) }, (_, part) => {
    const [at, end] = [1000 * part, Math.min(rowBytes, 1000 * (part + 1))];
    return {
      span: { ...span, address: span.address + BigInt(at), byteLength: end - at },
      host: inMemory(bytes.subarray(at, end)),
      rows: oneRow(end - at),
    };
  }).reverse();
}

/** One driver, whose lanes run from test to test. */
const { driver, setFault } = faultyDriver();
keepLanes(driver, TINY_LIMITS, MANY_LIMITS);

function testOnDriver(name: string, body: (gpu: CudaDevice) => unknown): void {
  Deno.test(name, () => withDevice(body, { driver }));
}

/** Calls that fail; slots that are loaded together are copied by one call, the others by one each. */
const FAULTS: readonly (readonly DriverFunction[])[] = [
  ["cuMemcpyAsync", "cuMemcpyBatchAsync"],
  ["cuMemcpyBatchAsync"],
  ["cuEventRecord"],
  ["cuEventQuery"],
];

for (const direction of ["upload", "download"] as const) {
  testOnDriver(`TransferEngine ends an ${direction} that is aborted at any piece`, async (gpu) => {
    using engine = new TinyEngine(gpu);
    using buffer = gpu.alloc("uint8", TOTAL_BYTES);
    for (const piece of PIECES.slice(0, -1)) {
      await engine.upload(buffer, patternBytes(TOTAL_BYTES, piece));
      const abort = new AbortController();
      const onProgress = (doneBytes: number) => {
        const isThere = doneBytes > piece * 4096 && doneBytes < TOTAL_BYTES;
        if (isThere) abort.abort(new RangeError(`stop at ${piece}`));
      };
      const options = { onProgress, signal: abort.signal };
      const moving = direction === "upload"
        ? engine.upload(buffer, patternBytes(TOTAL_BYTES, 99), options)
        : engine.download(buffer, options);
      if (piece < PIECE_COUNT / 2) await assertRejects(() => moving, RangeError, "stop at");
      else await moving.catch(() => {}); // the last pieces may arrive together
      await engine.upload(buffer, patternBytes(TOTAL_BYTES, 7));
      assertSameBytes(await engine.download(buffer), patternBytes(TOTAL_BYTES, 7));
    }
  });

  testOnDriver(`TransferEngine does nothing for an ${direction} aborted before`, async (gpu) => {
    using engine = new TinyEngine(gpu);
    using buffer = gpu.zeros("uint8", TOTAL_BYTES);
    const signal = AbortSignal.abort(new RangeError("too late"));
    const moving = direction === "upload"
      ? engine.upload(buffer, patternBytes(TOTAL_BYTES), { signal })
      : engine.download(buffer, { signal });
    await assertRejects(() => moving, RangeError, "too late");
    assertSameBytes(buffer.downloadSync(), new Uint8Array(TOTAL_BYTES));
  });

  testOnDriver(
    `TransferEngine rejects with what an ${direction}'s onProgress throws`,
    async (gpu) => {
      using engine = new TinyEngine(gpu);
      using buffer = gpu.zeros("uint8", TOTAL_BYTES);
      let calls = 0;
      const onProgress = () => {
        if (++calls === 3) throw new TypeError("the user's own");
      };
      const moving = direction === "upload"
        ? engine.upload(buffer, patternBytes(TOTAL_BYTES), { onProgress })
        : engine.download(buffer, { onProgress });
      await assertRejects(() => moving, TypeError, "the user's own");
      assertEquals(calls, 3);
    },
  );

  for (const names of FAULTS) {
    const options = names[0] === "cuMemcpyBatchAsync" ? { sections: inParts } : {};
    testFault(direction, names, async (engine, buffer, sync) => {
      if (direction === "upload") {
        const bytes = patternBytes(TOTAL_BYTES);
        if (sync) engine.uploadSync(buffer, bytes, options);
        else await engine.upload(buffer, bytes, options);
      } else if (sync) engine.downloadSync(buffer, options);
      else await engine.download(buffer, options);
    });
  }
}

/** Makes driver functions fail at their first, second, ... call during a transfer. */
function testFault(
  direction: "upload" | "download",
  names: readonly DriverFunction[],
  move: (
    engine: TinyEngine,
    buffer: Parameters<TinyEngine["upload"]>[0],
    sync: boolean,
  ) => Promise<void>,
): void {
  for (const hasLanes of [true, false]) {
    const threads = hasLanes ? "lanes" : "lent threads";
    // The promises of lent threads are settled in later turns.
    Deno.test(
      `TransferEngine ends an ${direction} by ${threads} in which ${
        names.join(" or ")
      } fails at any call`,
      {
        sanitizeOps: hasLanes,
      },
      () => {
        return withDevice(async (gpu) => {
          using engine = new TinyEngine(gpu, hasLanes ? MANY_LIMITS : LENDING_LIMITS, {
            hasLanes,
          });
          using buffer = gpu.alloc("uint8", TOTAL_BYTES);
          engine.uploadSync(buffer, patternBytes(TOTAL_BYTES, 1));
          let failures = 0;
          for (const after of FAILING) {
            for (const sync of [true, false]) {
              setFault({ name: names, after });
              const outcome = await move(engine, buffer, sync).catch((error: unknown) => error);
              setFault(undefined);
              if (outcome instanceof CudaError && names.some((name) => name === outcome.call)) {
                failures++;
              } else assertEquals(outcome, undefined);
              gpu.synchronizeSync();
              engine.uploadSync(buffer, patternBytes(TOTAL_BYTES, 2));
              assertSameBytes(engine.downloadSync(buffer), patternBytes(TOTAL_BYTES, 2));
            }
          }
          assertLess(1, failures);
        }, { driver });
      },
    );
  }
}

testOnDriver("TransferEngine rejects when not even the first slots can be had", async (gpu) => {
  using engine = new TinyEngine(gpu);
  using buffer = gpu.alloc("uint8", TOTAL_BYTES);
  setFault({ name: "cuMemHostAlloc" });
  const bytes = patternBytes(TOTAL_BYTES);
  await assertRejects(() => engine.upload(buffer, bytes), CudaError, "cuMemHostAlloc");
  assertThrows(() => engine.uploadSync(buffer, bytes), CudaError, "cuMemHostAlloc");
  setFault(undefined);
  await engine.upload(buffer, bytes);
  assertSameBytes(buffer.downloadSync(), bytes);
});

testOnDriver("TransferEngine of one transfer that fails leaves the others alone", async (gpu) => {
  using engine = new TinyEngine(gpu);
  using first = gpu.alloc("uint8", TOTAL_BYTES);
  using second = gpu.alloc("uint8", TOTAL_BYTES);
  const abort = new AbortController();
  const failing = engine.upload(first, patternBytes(TOTAL_BYTES), {
    signal: abort.signal,
    onProgress: () => abort.abort(new RangeError("stop")),
  });
  const sound = engine.upload(second, patternBytes(TOTAL_BYTES, 5));
  await Promise.all([assertRejects(() => failing, RangeError, "stop"), sound]);
  assertSameBytes(second.downloadSync(), patternBytes(TOTAL_BYTES, 5));
});

Deno.test("TransferEngine of a transfer whose next piece cannot be made ends that one, and loses no slot", () =>
  withDevice(async (gpu) => {
    using engine = new TinyEngine(gpu);
    using first = gpu.alloc("uint8", TOTAL_BYTES);
    using second = gpu.alloc("uint8", TOTAL_BYTES);
    const sections = (whole: Section): Section[] => [{
      ...whole,
      get rows(): never {
        throw new RangeError("no memory for a piece");
      },
    }];
    for (let round = 0; round <= TINY_LIMITS.slotCount; round++) {
      const bytes = patternBytes(TOTAL_BYTES, round);
      const sound = engine.upload(second, bytes);
      const failing = engine.upload(first, bytes, {
        sections,
      });
      await Promise.all([sound, assertRejects(() => failing, RangeError, "no memory")]);
      assertSameBytes(second.downloadSync(), bytes);
    }
  }, { driver }));

Deno.test(
  inTurn("large transfers go by the driver where no memory can be page-locked"),
  async () => {
    const registering = faultyDriver();
    const { driver, setFault } = faultyDriver(registering.driver);
    const transfers = { laneCount: 4, ringFromSize: 4 * MIB };
    using gpu = CudaDevice.open(0, { driver, transfers });
    const engine = engineOf(gpu.context);
    await engine.runLanes();
    const status = CUresult.CUDA_ERROR_OUT_OF_MEMORY;
    registering.setFault({ name: "cuMemHostRegister_v2", status });
    setFault({ name: "cuMemHostAlloc", status });
    using buffer = gpu.alloc("uint8", 20 * MIB);
    for (const size of [4 * MIB, 9 * MIB + 1, 20 * MIB]) {
      using part = buffer.subarray(0, size);
      await part.upload(patternBytes(size, 3));
      assertSameBytes(part.downloadSync(), patternBytes(size, 3));
      part.uploadSync(patternBytes(size, 5));
      assertSameBytes(await part.download(), patternBytes(size, 5));
    }
    assertEquals(engine.byteLength, 0);
    registering.setFault(undefined);
    setFault(undefined);
    await buffer.upload(patternBytes(20 * MIB, 7));
    assertSameBytes(await buffer.download(), patternBytes(20 * MIB, 7));
    assertGreater(engine.byteLength, 0);
  },
);
