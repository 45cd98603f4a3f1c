// Checks what the safety net says and counts, and that it frees each block once.

import { assertEquals, assertStringIncludes } from "@std/assert";
import { Undisposed } from "../../../src/accounting/undisposed.ts";
import { runWithCollector } from "../../support/collector_program.ts";
import { inTurn } from "../../support/test_unless.ts";
import { captureWarnings } from "../../support/warnings.ts";

const BLOCK = {
  id: 1,
  name: "weights",
  kind: "device",
  byteLength: 32 * 2 ** 20,
  origin: "main.ts:3:9",
};

Deno.test("Undisposed.note() warns with the name, size and origin", () => {
  const warnings = captureWarnings(() => new Undisposed().note(BLOCK));
  assertEquals(warnings, [
    "vramkit: weights (32 MiB of device memory) made at main.ts:3:9 was garbage-collected, not " +
    'disposed; use "using", dispose() or gpu.scope()',
  ]);
});

Deno.test("Undisposed.note() warns once for each origin, and counts all", () => {
  const undisposed = new Undisposed();
  const warnings = captureWarnings(() => {
    for (let i = 0; i < 3; i++) undisposed.note(BLOCK);
    undisposed.note({ ...BLOCK, origin: "main.ts:4:9" });
    for (const kind of ["device", "device", "pinned"]) {
      undisposed.note({ ...BLOCK, kind, origin: undefined });
    }
  });
  assertEquals([warnings.length, undisposed.count], [4, 7]);
  assertEquals(undisposed.byteLength, 7 * BLOCK.byteLength);
});

Deno.test("Undisposed.note() of a block without bytes leaves the warning to the next one", () => {
  const undisposed = new Undisposed();
  const warnings = captureWarnings(() => {
    for (const byteLength of [0, 8]) undisposed.note({ ...BLOCK, byteLength, origin: undefined });
  });
  assertEquals([warnings.length, undisposed.count], [1, 2]);
  assertStringIncludes(warnings[0] ?? "", "8 B of device memory");
});

Deno.test(
  inTurn("safety net frees what nothing reaches, and nothing that a view still shows"),
  async () => {
    const { result, warnings } = await runWithCollector(`
    gpu.context.ledger.origins.detail = "line";
    function drop() {
      const root = gpu.alloc("uint8", 1024, { label: "dropped" });
      return root.view.bind(root);
    }
    function dispose() {
      for (let i = 0; i < 3000; i++) gpu.alloc("uint8", 8).dispose();
      const order = [gpu.alloc("uint8", 8), gpu.alloc("uint8", 8)];
      order[0].dispose();
      order[1].dispose();
    }
    let view = gpu.alloc("uint8", [2, 8], { label: "viewed" }).view(0);
    drop();
    dispose();
    await collect();
    const kept = [gpu.live().objects.map(({ name }) => name).join(), view.disposed];
    view = undefined;
    await collect();
    const { count, byteLength } = gpu.report().data.undisposed;
    return [...kept, gpu.live().count, count, byteLength, gpu.memory.liveBytes];
  `);
    assertEquals(result, ["viewed", false, 0, 2, 1040, 0]);
    assertStringIncludes(warnings[0] ?? "", "vramkit: dropped (1 KiB of device memory) made at ");
    assertEquals(warnings.filter((warning) => warning.includes("garbage-collected")).length, 2);
  },
);
