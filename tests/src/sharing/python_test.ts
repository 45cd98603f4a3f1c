// CuPy and PyTorch in another process, by the code on the page about other processes: each opens our
// memory and we open theirs, and nothing is left after many rounds.

import { assert, assertEquals, assertRejects } from "@std/assert";
import { type MemoryTicket, TicketError } from "../../../src/entries/sharing.ts";
import { ON_GPU, openTestDevice } from "../../support/driver.ts";
import { PYTHON, runPython, whyWithout } from "../../support/python.ts";
import { Peer } from "../../support/sharing/peer.ts";
import { allocateBy } from "../../support/sharing/peer_words.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";
import { testUnless } from "../../support/test_unless.ts";
import { checkSteady, freeBytes } from "../../support/with_device.ts";

const PAGE = new URL("../../../docs/another_process.md", import.meta.url);
const PEER = new URL("../../support/sharing/peer.py", import.meta.url).pathname;

const ROUNDS = 1000;

/** More than the libraries keep of what is freed, and odd. */
const BYTES = 24 * 2 ** 20 + 4;

for (const [library, module] of [["CuPy", "cupy"], ["PyTorch", "torch"]] as const) {
  const reason = ON_GPU ? await whyWithout([module]) : "needs a GPU";

  const testWithPython = (name: string, body: (peer: Peer) => Promise<void>) => {
    testUnless(name, reason, async () => {
      using folder = new TemporaryFolder();
      const snippet = folder.write("snippet.py", await pythonOf(PAGE));
      await using peer = Peer.program(PYTHON, [PEER, module, snippet]);
      await body(peer);
    });
  };

  testWithPython(`${library} opens our ticket, reads our bytes, writes its own`, async (peer) => {
    using gpu = openTestDevice();
    for (const way of ["shareable", "plain"] as const) {
      using x = allocateBy(gpu, { way, byteLength: 1007, value: 3 });
      using part = x.subarray(4, 1004).as("float32").reshape([10, 25]).fill(1.5);
      const shape = await peer.tell({ do: "open", ticket: await part.share() });
      assertEquals(shape, ["float32", 10, 25]);
      assertEquals(await peer.tell({ do: "read" }), [...new Uint8Array(await bytesOf(part))]);
      await peer.tell({ do: "fill", value: 7 });
      const expected = new Uint8Array(1007).fill(3);
      expected.fill(7, 4, 1004);
      assertEquals(await x.download(), expected);
      assertEquals(await peer.tell({ do: "dispose" }), 0);
    }
  });

  testWithPython(`gpu.open() shows memory of ${library}, reads and writes it`, async (peer) => {
    using gpu = openTestDevice();
    await peer.tell({ do: "alloc", way: "plain", name: "before", byteLength: 700, value: 1 });
    await peer.tell({ do: "alloc", way: "plain", byteLength: 1001, value: 9 });
    const ticket = await peer.tell<MemoryTicket<"uint8">>({ do: "share" });
    using y = await gpu.open(ticket);
    assertEquals([y.dtype, y.shape], ["uint8", [1001]]);
    assertEquals(await y.download(), new Uint8Array(1001).fill(9));
    y.subarray(1).fill(4);
    await gpu.synchronize();
    assertEquals(await peer.tell({ do: "read" }), [9, ...Array(1000).fill(4)]);
    assertEquals((await peer.tell<number[]>({ do: "read", name: "before" })).at(-1), 1);
  });

  testWithPython(
    `${library} opens and closes our tickets ${ROUNDS} times, and nothing is left`,
    async (peer) => {
      using gpu = openTestDevice();
      let freeBefore = 0;
      for (let round = 0; round < ROUNDS; round++) {
        using x = allocateBy(gpu, { way: "shareable", byteLength: BYTES, value: round % 251 });
        await peer.tell({ do: "open", ticket: await x.share() });
        assertEquals(await peer.tell({ do: "last" }), round % 251);
        await peer.tell({ do: "fill", value: 252 });
        await peer.tell({ do: "dispose" });
        assertEquals([await x.at(0), await x.at(-1)], [252, 252]);
        x.dispose();
        if (round === 2) freeBefore = freeBytes(gpu);
      }
      checkSteady(gpu, freeBefore);
    },
  );

  testWithPython(
    `gpu.open() opens and closes memory of ${library} ${ROUNDS} times, and nothing is left`,
    async (peer) => {
      using gpu = openTestDevice();
      let freeBefore = 0;
      for (let round = 0; round < ROUNDS; round++) {
        await peer.tell({ do: "alloc", way: "plain", byteLength: BYTES, value: round % 251 });
        using y = await gpu.open(await peer.tell<MemoryTicket<"uint8">>({ do: "share" }));
        assertEquals(await y.at(-1), round % 251);
        y.fill(253);
        await gpu.synchronize();
        assertEquals(await peer.tell({ do: "last" }), 253);
        y.dispose();
        await gpu.synchronize();
        await peer.tell({ do: "dispose" });
        if (round === 2) freeBefore = freeBytes(gpu);
      }
      checkSteady(gpu, freeBefore);
    },
  );

  testWithPython(`gpu.open() says when ${library} has ended; open memory stays`, async (peer) => {
    using gpu = openTestDevice();
    await peer.tell({ do: "alloc", way: "plain", byteLength: BYTES, value: 6 });
    const ticket = await peer.tell<MemoryTicket<"uint8">>({ do: "share" });
    using y = await gpu.open(ticket);
    await peer.kill();
    assertEquals(await y.at(-1), 6);
    y.dispose();
    await gpu.synchronize();
    const error = await assertRejects(() => gpu.open(ticket), TicketError);
    assertEquals(error.reason, "gone");
  });
}

Deno.test("The page about other processes has Python that compiles, in lines that fit", async () => {
  const source = await pythonOf(PAGE);
  assert(source.includes("class Opened") && source.includes("def share"));
  assertEquals(source.split("\n").filter((line) => line.length > 90), []);
  if (await whyWithout(["ast"]) !== undefined) return;
  await runPython(["-c", `import ast; ast.parse(${JSON.stringify(source)})`]);
});

/** The Python code of a page. */
async function pythonOf(page: URL): Promise<string> {
  const [, code] = /```python\n([\s\S]*?)```/.exec(await Deno.readTextFile(page)) ?? [];
  if (code === undefined) throw new Error(`${page} has no Python`);
  return code;
}

async function bytesOf(
  buffer: { download(): Promise<ArrayBufferView<ArrayBuffer>> },
): Promise<ArrayBuffer> {
  return (await buffer.download()).buffer;
}
