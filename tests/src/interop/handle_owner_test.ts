// The owner of borrowed memory lives as long as the buffer, in a child process that can ask for a
// garbage collection.

import { assertEquals } from "@std/assert";
import { runDeno } from "../../support/child_deno.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";

Deno.test("CudaDevice.fromHandle() keeps the owner until the buffer is disposed", async () => {
  using folder = new TemporaryFolder();
  const support = JSON.stringify(import.meta.resolve("../../support/driver.ts"));
  const program = folder.write(
    "owner.ts",
    `import { openTestDevice } from ${support};
     const gpu = openTestDevice();
     const memory = gpu.alloc("uint8", 64);
     async function isAlive(reference: WeakRef<object>): Promise<boolean> {
       for (let turn = 0; turn < 5; turn++) {
         (globalThis as unknown as { gc(): void }).gc();
         await new Promise((resolve) => setTimeout(resolve, 1));
       }
       return reference.deref() !== undefined;
     }
     function borrow() {
       const owner = { name: "someone" };
       return { owner: new WeakRef(owner), buffer: gpu.fromHandle(memory.ptr, 64, { owner }) };
     }
     const { owner, buffer } = borrow();
     const before = await isAlive(owner);
     buffer.dispose();
     gpu.synchronizeSync();
     gpu.context.sweep();
     console.log(JSON.stringify([before, await isAlive(owner)]));`,
  );
  const config = new URL("../../../deno.json", import.meta.url).pathname;
  const flags = ["-A", "--quiet", "--no-check", "--no-lock", "--v8-flags=--expose-gc"];
  const { code, stdout, stderr } = await runDeno(["run", ...flags, "--config", config, program]);
  assertEquals(code, 0, stderr);
  assertEquals(JSON.parse(stdout), [true, false]);
});
