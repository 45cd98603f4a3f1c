// Garbage collection of the kinds that tie host and device memory together, in a child
// process that can ask for a collection: nothing goes while something can still reach it.

import { assertEquals, assertStringIncludes } from "@std/assert";
import { runWithCollector } from "../../support/collector_program.ts";

Deno.test("StagedBuffer keeps both halves while its contents can be reached", async () => {
  const { result, warnings } = await runWithCollector(`
    const contents = (() => gpu.staged("uint8", 2 ** 21).contents)();
    contents.fill(7);
    await collect();
    return [gpu.live().count, contents.length, contents[2 ** 21 - 1]];
  `);
  assertEquals([result, warnings], [[2, 2 ** 21, 7], []]);
});

Deno.test("StagedBuffer gives both halves back when it is lost, with one warning", async () => {
  const { result, warnings } = await runWithCollector(`
    (() => { gpu.staged("uint8", 2 ** 21, { label: "lost" }).contents.fill(1); })();
    await collect();
    await collect();
    return gpu.live().count;
  `);
  assertEquals([result, warnings.length], [0, 1]);
  assertStringIncludes(warnings[0] ?? "", "lost (2 MiB of device memory)");
});

Deno.test("RegisteredBuffer keeps its array while it is registered", async () => {
  const { result, warnings } = await runWithCollector(`
    const registered = (() => gpu.register(new Uint8Array(2 ** 21).fill(5)))();
    for (let i = 0; i < 8; i++) new Uint8Array(2 ** 21).fill(9);
    await collect();
    const device = gpu.alloc("uint8", 2 ** 21).copyFrom(registered);
    const bytes = device.downloadSync();
    device.dispose();
    registered.dispose();
    return [bytes.findIndex((byte) => byte !== 5), gpu.live().count];
  `);
  assertEquals([result, warnings], [[-1, 0], []]);
});

Deno.test("RegisteredBuffer that is lost is unregistered, and the array stays usable", async () => {
  const { result, warnings } = await runWithCollector(`
    const array = new Uint8Array(2 ** 21).fill(5);
    (() => { gpu.register(array); })();
    await collect();
    await collect();
    gpu.register(array).dispose();
    return [gpu.live().count, array[2 ** 21 - 1]];
  `);
  assertEquals([result, warnings.length], [[0, 5], 1]);
});

Deno.test("GrowableBuffer that is lost gives its memory back", async () => {
  const { result, warnings } = await runWithCollector(`
    (() => { gpu.growable("uint8", { reserveSize: "64 MiB", shape: 2 ** 24 }); })();
    await collect();
    await collect();
    return [gpu.live().count, lost() < 2 ** 24];
  `);
  assertEquals([result, warnings.length], [[0, true], 1]);
});

for (const kind of ["alloc", "lazy", "managed", "mapped", "pinned"]) {
  Deno.test(`a buffer of gpu.${kind}() that is lost gives its memory back`, async () => {
    const { result, warnings } = await runWithCollector(`
      (() => { gpu.${kind}("uint8", 2 ** 21, { label: "lost" }).fill(1); })();
      await collect();
      await collect();
      return gpu.live().count;
    `);
    assertEquals([result, warnings.length], [0, 1]);
    assertStringIncludes(warnings[0] ?? "", "lost (2 MiB of");
  });
}
