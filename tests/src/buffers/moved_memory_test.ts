// Arrays over the kit's own memory that a program moves away: they can still be used elsewhere, so the
// memory is never freed, and nothing else suffers.

import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import type { HostBuffer } from "../../../src/buffers/host_buffer.ts";
import { CudaDevice } from "../../../src/device/device.ts";
import { CudaMemoryResource } from "../../../src/memory/cuda_memory_resource.ts";
import { DisposedError } from "../../../src/words/errors.ts";
import { testWithCollector } from "../../support/collector_program.ts";
import { openTestDevice, testDriver } from "../../support/driver.ts";
import { CaughtWarnings } from "../../support/warnings.ts";

const LENGTH = 4096;

type Make = (gpu: CudaDevice) => HostBuffer<"uint8"> | Promise<HostBuffer<"uint8">>;

const KINDS: readonly [name: string, make: Make][] = [
  ["pinned()", (gpu) => gpu.pinned("uint8", LENGTH)],
  ["mapped()", (gpu) => gpu.mapped("uint8", LENGTH)],
  ["managed()", (gpu) => gpu.managed("uint8", LENGTH)],
  ["downloadPinned()", async (gpu) => {
    using source = gpu.zeros("uint8", LENGTH);
    return await gpu.downloadPinned(source);
  }],
];

/** Memory that is lost for good, which on a GPU is kept for the whole process. */
function lostBytes({ context }: CudaDevice): number {
  const lost = [...context.ledger.caches].filter(({ name }) => name === "no one: lost");
  return lost.reduce((sum, { byteLength }) => sum + byteLength, 0);
}

for (const [name, make] of KINDS) {
  Deno.test(`the memory of gpu.${name} stays when its array was moved away`, async () => {
    using warnings = new CaughtWarnings();
    const gpu = openTestDevice();
    const lostBefore = lostBytes(gpu);
    const buffer = await make(gpu);
    const { array } = buffer;
    array.fill(7);
    const moved = new Uint8Array(structuredClone(array.buffer, { transfer: [array.buffer] }));
    assertEquals([array.length, moved.length], [0, LENGTH]);
    assertThrows(() => buffer.subarray(1).array, DisposedError, "whose array was moved away");
    buffer.dispose();
    buffer.dispose();
    for (const cache of gpu.context.ledger.caches) cache.trim();
    const later = gpu.pinned("uint8", LENGTH);
    later.array.fill(1);
    assertEquals(moved.every((byte) => byte === 7), true);
    later.dispose();
    assertEquals(warnings.texts.length, 1);
    assertStringIncludes(warnings.texts[0] ?? "", "is lost: its array was moved away");
    assertEquals(lostBytes(gpu) - lostBefore, LENGTH);
    gpu.dispose();
    assertEquals(moved[LENGTH - 1], 7);
  });
}

Deno.test("gpu.staged() gives its device half back when its contents were moved away", () => {
  using warnings = new CaughtWarnings();
  using gpu = openTestDevice();
  const staged = gpu.staged("uint8", LENGTH);
  const { contents } = staged;
  const moved = new Uint8Array(contents.buffer.transfer());
  moved.fill(3);
  staged.dispose();
  assertEquals([gpu.live().count, gpu.memory.liveBytes, moved[LENGTH - 1]], [0, 0, 3]);
  assertEquals(warnings.texts.length, 1);
});

Deno.test("gpu.disposeAll() goes on behind memory whose array was moved away", () => {
  using warnings = new CaughtWarnings();
  using gpu = openTestDevice();
  gpu.alloc("uint8", LENGTH);
  const pinned = gpu.pinned("uint8", LENGTH);
  gpu.alloc("uint8", LENGTH);
  structuredClone(pinned.array.buffer, { transfer: [pinned.array.buffer] });
  gpu.disposeAll();
  assertEquals([gpu.live().count, warnings.texts.length], [0, 1]);
});

Deno.test("gpu.register() ends well when its array was moved away", () => {
  using warnings = new CaughtWarnings();
  using gpu = openTestDevice();
  const array = new Uint8Array(LENGTH).fill(5);
  const registered = gpu.register(array);
  const moved = new Uint8Array(array.buffer.transfer());
  assertThrows(() => registered.fill(1), DisposedError, "whose array was moved away");
  registered.dispose();
  assertEquals([moved[LENGTH - 1], gpu.live().count, warnings.texts], [5, 0, []]);
});

for (const kind of ["pinned", "mapped", "managed", "staged"]) {
  const array = kind === "staged" ? "contents" : "array";

  testWithCollector(
    `the collector leaves memory of gpu.${kind}() that was moved away`,
    `
      const moved = (() => {
        const { ${array}: array } = gpu.${kind}("uint8", 2 ** 21, { label: "gone" });
        array.fill(7);
        return new Uint8Array(structuredClone(array.buffer, { transfer: [array.buffer] }));
      })();
      await collect();
      await collect();
      const others = Array.from({ length: 4 }, () => gpu.${kind}("uint8", 2 ** 21));
      for (const { ${array}: array } of others) array.fill(1);
      for (const other of others) other.dispose();
      return [gpu.live().count, moved.every((byte) => byte === 7)];
    `,
    ({ result, warnings }) => {
      assertEquals(result, [0, true]);
      assert(warnings.some((text) => text.includes("gone (2 MiB of") && text.includes("is lost")));
    },
  );

  testWithCollector(
    `a part of an array of gpu.${kind}() is empty once the array is collected`,
    `
      const part = (() => {
        const { ${array}: array } = gpu.${kind}("uint8", 2 ** 21);
        array.fill(7);
        return array.subarray(10, 20);
      })();
      const before = part.length;
      await collect();
      await collect();
      return [before, part.length, gpu.live().count];
    `,
    ({ result }) => {
      assertEquals(result, [10, 0, 0]);
    },
  );
}

Deno.test("page-locked memory is refused from resources that the CPU cannot reach", () => {
  const driver = testDriver();
  using gpu = CudaDevice.open(0, { driver });
  const resource = new CudaMemoryResource(gpu);
  const words = "the CPU cannot use its memory";
  assertThrows(() => gpu.pinned("uint8", 8, { resource }), TypeError, words);
  assertThrows(() => gpu.staged("uint8", 8, { pinnedResource: resource }), TypeError, words);
  assertThrows(() => gpu.withPinnedResource(resource, () => {}), TypeError, words);
  assertThrows(
    () => CudaDevice.open(0, { driver, pinnedResource: (owner) => new CudaMemoryResource(owner) }),
    TypeError,
    words,
  );
  assertEquals(gpu.live().count, 0);
});
