// Garbage collection of the kinds that tie host and device memory together, in a child
// process that can ask for a collection: nothing goes while something can still reach it.

import { assertEquals, assertStringIncludes } from "@std/assert";
import { testWithCollector } from "../../support/collector_program.ts";

testWithCollector(
  "StagedBuffer keeps both halves while its contents can be reached",
  `
    const contents = (() => gpu.staged("uint8", 2 ** 21).contents)();
    contents.fill(7);
    await collect();
    return [gpu.live().count, contents.length, contents[2 ** 21 - 1]];
  `,
  ({ result, warnings }) => {
    assertEquals([result, warnings], [[2, 2 ** 21, 7], []]);
  },
);

testWithCollector(
  "StagedBuffer gives both halves back when it is lost, with one warning",
  `
    (() => { gpu.staged("uint8", 2 ** 21, { label: "lost" }).contents.fill(1); })();
    await collect();
    await collect();
    return gpu.live().count;
  `,
  ({ result, warnings }) => {
    assertEquals([result, warnings.length], [0, 1]);
    assertStringIncludes(warnings[0] ?? "", "lost (2 MiB of device memory)");
  },
);

testWithCollector(
  "RegisteredBuffer keeps its array while it is registered",
  `
    const registered = (() => gpu.register(new Uint8Array(2 ** 21).fill(5)))();
    for (let i = 0; i < 8; i++) new Uint8Array(2 ** 21).fill(9);
    await collect();
    const device = gpu.alloc("uint8", 2 ** 21).copyFrom(registered);
    const bytes = device.downloadSync();
    device.dispose();
    registered.dispose();
    return [bytes.findIndex((byte) => byte !== 5), gpu.live().count];
  `,
  ({ result, warnings }) => {
    assertEquals([result, warnings], [[-1, 0], []]);
  },
);

testWithCollector(
  "RegisteredBuffer that is lost is unregistered, and the array stays usable",
  `
    const array = new Uint8Array(2 ** 21).fill(5);
    (() => { gpu.register(array); })();
    await collect();
    await collect();
    gpu.register(array).dispose();
    return [gpu.live().count, array[2 ** 21 - 1]];
  `,
  ({ result, warnings }) => {
    assertEquals([result, warnings.length], [[0, 5], 1]);
  },
);

testWithCollector(
  "GrowableBuffer that is lost gives its memory back",
  `
    (() => { gpu.growable("uint8", { reserveSize: "64 MiB", shape: 2 ** 24 }); })();
    await collect();
    await collect();
    return [gpu.live().count, lost() < 2 ** 24];
  `,
  ({ result, warnings }) => {
    assertEquals([result, warnings.length], [[0, true], 1]);
  },
);

for (const kind of ["alloc", "lazy", "managed", "mapped", "pinned"]) {
  testWithCollector(
    `a buffer of gpu.${kind}() that is lost gives its memory back`,
    `
      (() => { gpu.${kind}("uint8", 2 ** 21, { label: "lost" }).fill(1); })();
      await collect();
      await collect();
      return gpu.live().count;
    `,
    ({ result, warnings }) => {
      assertEquals([result, warnings.length], [0, 1]);
      assertStringIncludes(warnings[0] ?? "", "lost (2 MiB of");
    },
  );
}
