// Checks where objects say they were made, what that may cost, and that it keeps nothing alive.

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { OriginFinder } from "../../../src/accounting/origin.ts";
import { CudaDevice } from "../../../src/device/device.ts";
import { evaluate } from "../../support/child_deno.ts";
import { runWithCollector } from "../../support/collector_program.ts";
import { testDriver } from "../../support/driver.ts";
import { testOnDevice } from "../../support/with_device.ts";

const LARGE_BYTES = 2 ** 24;

Deno.test("OriginFinder.find() gives the caller's line for a large block", () => {
  const [places, here] = [new OriginFinder().find(LARGE_BYTES, 0), new Error()];
  assertEquals(lineOf(places?.[0]), lineOf(here.stack?.split("\n")[1]));
  assertMatch(places?.[0] ?? "", /^origin_test\.ts:\d+:\d+$/);
});

Deno.test("OriginFinder.find() passes over small blocks unless it is asked for all", () => {
  const finder = new OriginFinder();
  assertEquals(finder.find(LARGE_BYTES - 1, 0), undefined);
  finder.detail = "line";
  assertEquals(finder.find(0, 0)?.length, 1);
  finder.detail = "none";
  assertEquals(finder.find(LARGE_BYTES, 0), undefined);
});

Deno.test("OriginFinder.find() gives the whole stack when asked", () => {
  const finder = new OriginFinder();
  finder.detail = "stack";
  const inner = () => finder.find(0, 0);
  const places = inner() ?? [];
  assertEquals(places.length >= 2, true);
  assertEquals(places.slice(0, 2).every((place) => place.startsWith("origin_test.ts:")), true);
});

Deno.test("OriginFinder.find() takes a burst of stacks, then few, then more as time passes", () => {
  const finder = new OriginFinder();
  const found = (count: number, now: number) => {
    let stacks = 0;
    for (let i = 0; i < count; i++) if (finder.find(LARGE_BYTES, now) !== undefined) stacks++;
    return stacks;
  };
  assertEquals(found(1000, 1e6), 256);
  assertEquals(found(1000, 1e6 + 1), 0);
  assertEquals(found(1000, 1e6 + 40), 10);
});

Deno.test("OriginFinder.find() leaves the program's own stack settings alone", () => {
  const before = [Error.stackTraceLimit, Reflect.get(Error, "prepareStackTrace")];
  new OriginFinder().find(LARGE_BYTES, 0);
  assertEquals([Error.stackTraceLimit, Reflect.get(Error, "prepareStackTrace")], before);
});

testOnDevice("CudaDevice.live() says where a large buffer was made", (gpu) => {
  const [buffer, here] = [gpu.alloc("uint8", LARGE_BYTES), new Error()];
  using _large = buffer;
  using _small = gpu.alloc("uint8", 8);
  const [large, small] = gpu.live();
  assertEquals(lineOf(large?.origin), lineOf(here.stack?.split("\n")[1]));
  assertEquals([large?.stack?.length, small?.origin], [1, undefined]);
});

Deno.test("CudaDevice.open() takes { origins } for all objects of the device", () => {
  using gpu = CudaDevice.open(0, { driver: testDriver(), origins: "stack" });
  using _small = gpu.alloc("uint8", 8);
  using _stream = gpu.createStream();
  const origins = gpu.live().objects.map(({ origin }) => origin?.split(":")[0]);
  assertEquals(origins, ["origin_test.ts", "origin_test.ts"]);
  assertEquals((gpu.live().objects[0]?.stack?.length ?? 0) > 0, true);
  gpu.context.ledger.origins.detail = "sampled";
});

Deno.test("OriginFinder keeps no object of the stack alive", async () => {
  const { result } = await runWithCollector(`
    gpu.context.ledger.origins.detail = "stack";
    class Owner {
      buffer = gpu.alloc("uint8", 8);
    }
    function drop() {
      new Owner();
    }
    drop();
    await collect();
    return gpu.live().count;
  `);
  assertEquals(result, 0);
});

Deno.test("VRAMKIT_ORIGINS chooses how much is recorded", async () => {
  const { code, stdout, stderr } = await evaluate(
    `
      import { CudaDevice } from "./mod.ts";
      const gpu = CudaDevice.open(0, { driver: "simulated" });
      const buffer = gpu.alloc("uint8", 8);
      console.log(gpu.live().objects[0].origin !== undefined);
      buffer.dispose();
    `,
    { env: { VRAMKIT_ORIGINS: "line" } },
  );
  assertEquals([code, stdout.trim()], [0, "true"], stderr);
});

Deno.test("VRAMKIT_ORIGINS is refused where it has no known value", async () => {
  const program = `
    import { CudaDevice } from "./mod.ts";
    CudaDevice.open(0, { driver: "simulated" });
  `;
  const { code, stderr } = await evaluate(program, { env: { VRAMKIT_ORIGINS: "full" } });
  assertEquals(code, 1);
  assertStringIncludes(
    stderr,
    'Cannot record origins as "full": expected "none", "sampled", "line" or "stack"',
  );
});

/** The line number in `file:line:column`, with or without brackets. */
function lineOf(place: string | undefined): string | undefined {
  return place?.split(":").at(-2);
}
