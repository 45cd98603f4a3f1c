// Checks what the safety net says and counts, and that it frees each block once.

import { assertEquals, assertStringIncludes } from "@std/assert";
import { Undisposed } from "../../../src/accounting/undisposed.ts";
import { evaluate } from "../../support/child_deno.ts";
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

const DROP_AND_DISPOSE = `
  import { CudaDevice } from "./mod.ts";
  const gpu = CudaDevice.open(0, { driver: "simulated", origins: "line" });
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
  async function collect() {
    await new Promise((resolve) => setTimeout(resolve, 1));
    globalThis.gc();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  let view = gpu.alloc("uint8", [2, 8], { label: "viewed" }).view(0);
  drop();
  dispose();
  await collect();
  console.log(gpu.live().objects.map(({ name }) => name).join(), view.disposed);
  view = undefined;
  await collect();
  gpu.synchronizeSync();
  const { undisposed } = gpu.report().data;
  console.log(gpu.live().count, undisposed.count, undisposed.byteLength, gpu.memory.liveBytes);
`;

Deno.test("safety net frees what nothing reaches, and nothing that a view still shows", async () => {
  const flags = ["--v8-flags=--expose-gc"];
  const { code, stdout, stderr } = await evaluate(DROP_AND_DISPOSE, { flags });
  assertEquals([code, stdout.trim().split("\n")], [0, ["viewed false", "0 2 1040 0"]], stderr);
  assertStringIncludes(stderr, "vramkit: dropped (1 KiB of device memory) made at ");
  assertEquals(stderr.split("garbage-collected").length, 3);
});
