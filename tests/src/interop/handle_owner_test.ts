// The owner of borrowed memory lives as long as the buffer, in a child process that can ask for a
// garbage collection.

import { assertEquals } from "@std/assert";
import { runWithCollector } from "../../support/collector_program.ts";

Deno.test("CudaDevice.fromHandle() keeps the owner until the buffer is disposed", async () => {
  const { result } = await runWithCollector(`
    const memory = gpu.alloc("uint8", 64);
    async function isAlive(reference: WeakRef<object>): Promise<boolean> {
      await collect();
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
    return [before, await isAlive(owner)];
  `);
  assertEquals(result, [true, false]);
});
