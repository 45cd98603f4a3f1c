// Checks withoutLeaks(): what it lets pass, what it reports, and whose error comes first.

import {
  assertEquals,
  assertMatch,
  assertRejects,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import { CudaDevice } from "../../../src/device/device.ts";
import { simulateDriver } from "../../../src/entries/simulated.ts";
import { LeakError, withoutLeaks } from "../../../src/entries/testing.ts";
import { OutOfMemoryError } from "../../../src/words/errors.ts";
import { evaluate } from "../../support/child_deno.ts";
import { testDriver } from "../../support/driver.ts";
import { StandingClock } from "../../support/standing_clock.ts";
import { CaughtWarnings } from "../../support/warnings.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

/** Uploads an array that it does not await, while all threads of the runtime sleep. */
const THREADLESS_PROGRAM = `
  import { CudaDevice } from "./mod.ts";
  import { withoutLeaks } from "./src/entries/testing.ts";
  const library = Deno.build.os === "darwin" ? "libSystem.dylib" : "libc.so.6";
  const { symbols } = Deno.dlopen(library, {
    usleep: { parameters: ["u32"], result: "i32", nonblocking: true },
  });
  using gpu = CudaDevice.open(0, { driver: "simulated" });
  const naps = [];
  await withoutLeaks(gpu, async () => {
    void gpu.upload(new Uint8Array(32 * 2 ** 20)).then((x) => x.dispose());
    for (let i = 0; i < 64; i++) naps.push(symbols.usleep(50_000));
    await Promise.resolve();
  });
  console.log(gpu.live().count);
  await Promise.all(naps);
`;

testOnDevice("withoutLeaks() returns and resolves to what the function does", async (gpu) => {
  assertEquals(
    withoutLeaks(gpu, () => {
      using x = gpu.alloc("uint8", 8);
      return x.length;
    }),
    8,
  );
  const values = await withoutLeaks(gpu, async () => {
    using x = await gpu.upload(new Float32Array([1, 2]));
    return await x.download();
  });
  assertEquals([...values], [1, 2]);
});

Deno.test("withoutLeaks() and a wait for memory end while the program's own clock stands still", async () => {
  using gpu = CudaDevice.open(0, { driver: simulateDriver({ memorySize: "64 MiB" }) });
  using _clock = new StandingClock();
  await withoutLeaks(gpu, async () => {
    using _held = gpu.alloc("uint8", 32 * 2 ** 20);
    await assertRejects(() => gpu.upload(new Uint8Array(48 * 2 ** 20)), OutOfMemoryError);
  });
});

testOnDevice("withoutLeaks() reports name, kind, bytes and origin of what is left", (gpu) => {
  const error = assertThrows(
    () =>
      withoutLeaks(gpu, () => {
        gpu.alloc("uint8", 1024, { label: "forgotten" });
        gpu.createStream({ label: "queue" });
      }),
    LeakError,
    "Cannot pass withoutLeaks(): 2 objects left, 1 KiB in all; dispose what the function makes",
  );
  assertEquals(
    error.leaks.map(({ name, kind, byteLength }) => [name, kind, byteLength]),
    [["forgotten", "device", 1024], ["queue", "stream", 0]],
  );
  assertMatch(error.leaks[0]?.origin ?? "", /^testing_test\.ts:\d+:\d+$/);
  assertMatch(error.message, /forgotten .*testing_test\.ts/);
  gpu.live().dispose();
});

testOnDevice("withoutLeaks() rejects when an async function leaves something", async (gpu) => {
  const leak = async () => void (await gpu.upload(new Uint8Array(8), { label: "forgotten" }));
  const error = await assertRejects(() => withoutLeaks(gpu, leak), LeakError);
  assertEquals(error.leaks.map(({ name }) => name), ["forgotten"]);
  gpu.live().dispose();
});

testOnDevice("withoutLeaks() does not count what was there before", async (gpu) => {
  using _before = gpu.alloc("uint8", 8);
  withoutLeaks(gpu, () => {});
  await withoutLeaks(gpu, () => Promise.resolve());
});

testOnDevice("withoutLeaks() lets the function's own error win, also over a leak", async (gpu) => {
  const own = new Error("own");
  const leak = () => {
    gpu.alloc("uint8", 8);
    throw own;
  };
  assertStrictEquals(assertThrows(() => withoutLeaks(gpu, leak)), own);
  const later = () => Promise.resolve().then(leak);
  assertStrictEquals(await assertRejects(() => withoutLeaks(gpu, later)), own);
  gpu.live().dispose();
});

Deno.test("withoutLeaks() nests: the inner one reports, the outer one passes its error on", () =>
  withDevice(async (gpu) => {
    const error = await assertRejects(
      () =>
        withoutLeaks(gpu, async () => {
          using _outer = gpu.alloc("uint8", 16, { label: "outer" });
          await withoutLeaks(gpu, async () => {
            await Promise.resolve();
            gpu.alloc("uint8", 8, { label: "inner" });
          });
        }),
      LeakError,
    );
    assertEquals(error.leaks.map(({ name }) => name), ["inner"]);
    gpu.live().dispose();
  }));

testOnDevice("withoutLeaks() waits for transfers that nobody awaited", async (gpu) => {
  await withoutLeaks(gpu, async () => {
    using stream = gpu.createStream();
    const values = new Uint8Array(32 * 2 ** 20);
    void gpu.upload(values).then((x) => x.dispose());
    void gpu.upload(values, { stream }).then((x) => x.dispose());
    await Promise.resolve();
  });
  assertEquals(gpu.live().count, 0);
});

Deno.test("withoutLeaks() waits for their promises, also while no thread is free to settle them", async () => {
  const { code, stdout, stderr } = await evaluate(THREADLESS_PROGRAM);
  assertEquals([code, stdout, stderr], [0, "0\n", ""]);
});

testOnDevice("withoutLeaks() records lines only while it runs", async (gpu) => {
  gpu.context.ledger.origins.detail = "none";
  const { origins } = gpu.context.ledger;
  await withoutLeaks(gpu, () => Promise.resolve(assertEquals(origins.detail, "line")));
  assertEquals(origins.detail, "none");
  assertThrows(() => withoutLeaks(gpu, () => assertEquals(1, 2)));
  assertEquals(origins.detail, "none");
});

testOnDevice("withoutLeaks() reports what was collected before it ended", async (gpu) => {
  const { undisposed } = gpu.context.ledger;
  const lost = { name: "lost", kind: "device", byteLength: 8, origin: "main.ts:1:1" };
  using _warnings = new CaughtWarnings();
  const error = await assertRejects(
    () =>
      withoutLeaks(gpu, async () => {
        await Promise.resolve();
        undisposed.note({ ...lost, id: gpu.mark().id });
        undisposed.note({ ...lost, id: 0 }); // of an earlier test
      }),
    LeakError,
  );
  assertEquals(error.leaks, [lost]);
  undisposed.note({ ...lost, id: gpu.mark().id });
  assertEquals(undisposed.listeners.size, 0);
});

testOnDevice("withoutLeaks() refuses values that are not functions or devices", (gpu) => {
  assertThrows(() => withoutLeaks(gpu, 5 as never), TypeError, "expected a function");
  assertThrows(() => withoutLeaks({} as never, () => {}), TypeError, "expected a device");
});

Deno.test("withoutLeaks() lets the function's own error win when it disposes the device", async () => {
  const own = new Error("own");
  const endIt = (gpu: CudaDevice) => () => {
    gpu.dispose();
    throw own;
  };
  const first = CudaDevice.open(0, { driver: testDriver() });
  assertStrictEquals(assertThrows(() => withoutLeaks(first, endIt(first))), own);
  const second = CudaDevice.open(0, { driver: testDriver() });
  const later = () => Promise.resolve().then(endIt(second));
  assertStrictEquals(await assertRejects(() => withoutLeaks(second, later)), own);
});
