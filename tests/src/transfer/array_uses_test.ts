// Which transfers a use of an array comes after, and how many of them are looked at for that.

import { assertEquals } from "@std/assert";
import { PendingWork } from "../../../src/order/pending_work.ts";
import { arraysBefore, arraysInUse, noteArrayUses } from "../../../src/transfer/array_uses.ts";

/** Work that the test ends. */
class Work extends PendingWork {
  protected override begin(): void {}

  end(): void {
    this.finish();
  }
}

Deno.test("arraysBefore() returns what uses the same bytes, each once, until it is over", () => {
  const memory = new Uint8Array(16);
  const [reader, writer, other] = [new Work(), new Work(), new Work()];
  noteArrayUses(reader, [{ memory, access: "read" }, { memory, access: "read" }]);
  noteArrayUses(writer, [{ memory: memory.subarray(8), access: "write" }]);
  noteArrayUses(other, [{ memory: new Uint8Array(16), access: "write" }]);
  assertEquals(arraysBefore([{ memory, access: "read" }]), [writer]);
  assertEquals(arraysBefore([{ memory: memory.subarray(0, 8), access: "read" }]), []);
  assertEquals(arraysBefore([{ memory: memory.subarray(0, 8), access: "write" }]), [reader]);
  assertEquals(new Set(arraysBefore([{ memory, access: "write" }])), new Set([reader, writer]));
  for (const work of [reader, writer, other]) work.end();
  assertEquals(arraysBefore([{ memory, access: "write" }]), []);
  assertEquals(arraysInUse.size === 0, true);
});

Deno.test("arraysBefore() knows shared memory again after WebAssembly has grown it", () => {
  const shared = new WebAssembly.Memory({ initial: 1, maximum: 2, shared: true });
  const work = new Work();
  noteArrayUses(work, [{ memory: new Uint8Array(shared.buffer, 8, 8), access: "read" }]);
  shared.grow(1);
  const before = (byteOffset: number) =>
    arraysBefore([{ memory: new Uint8Array(shared.buffer, byteOffset, 8), access: "write" }]);
  assertEquals([before(0), before(15), before(16)], [[], [work], []]);
  work.end();
});

Deno.test("arraysBefore() looks neither at other arrays nor at those that are only read as well", () => {
  let looks = 0;
  const watched = (memory: Uint8Array<ArrayBuffer>) =>
    new Proxy(memory, {
      get(array, name) {
        looks++;
        return Reflect.get(array, name, array);
      },
    });
  const [shared, mine] = [new Uint8Array(8), new Uint8Array(8)];
  const works = Array.from({ length: 100 }, (_, i) => {
    const work = new Work();
    const memory = watched(i % 2 === 0 ? shared : new Uint8Array(8));
    noteArrayUses(work, [{ memory, access: i % 2 === 0 ? "read" : "write" }]);
    return work;
  });
  looks = 0;
  assertEquals(arraysBefore([{ memory: mine, access: "write" }]), []);
  assertEquals(arraysBefore([{ memory: shared, access: "read" }]), []);
  assertEquals(looks, 0);
  for (const work of works) work.end();
});
