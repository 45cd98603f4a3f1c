// Two processes and one piece of memory: what one writes the other reads, whichever of them made it, and
// nothing is left when either lets go first, or is killed.

import { assert, assertEquals, assertRejects } from "@std/assert";
import { setTimeout as delay } from "node:timers/promises";
import type { CudaDevice } from "../../../src/device/device.ts";
import { type EventTicket, type MemoryTicket, TicketError } from "../../../src/entries/sharing.ts";
import { ON_GPU, openTestDevice } from "../../support/driver.ts";
import { ToldError } from "../../support/obedient_process.ts";
import { untilNothingIsOffered } from "../../support/pool_offers.ts";
import { share } from "../../support/random.ts";
import { Peer } from "../../support/sharing/peer.ts";
import { allocateBy, endPoolOf, poolOf, type Way, WAYS } from "../../support/sharing/peer_words.ts";
import { takingTurns, testOnLinux } from "../../support/test_unless.ts";
import { checkSteady, freeBytes } from "../../support/with_device.ts";

/** Rounds with one of two killed, for each kind of memory and each side: a process starts slowly. */
const KILLS = ON_GPU ? 4 : 2;

/** Rounds in living processes; those of pools wait for the turns of two event loops. */
const ROUNDS: Readonly<Record<Way, number>> = ON_GPU
  ? { shareable: 1000, plain: 1000, pool: 200 }
  : { shareable: share(30), plain: share(30), pool: share(30) };

/** Longest wait for a pool that another process uses. */
const PATIENCE_MILLISECONDS = 60_000;

/** Odd, and larger than the driver's block for small allocations. */
const LARGE_BYTES = 5 * 2 ** 20 + 3;

/** The other process, which starts once: each test leaves nothing in it. */
const peer = Deno.build.os === "linux" ? Peer.deno() : undefined;
Deno.test.afterAll(() => peer?.[Symbol.asyncDispose]());

/** Runs a test of a device and another process, and checks that nothing is left here, and ends all there. */
function testWithPeer(
  name: string,
  body: (gpu: CudaDevice, peer: Peer) => Promise<void>,
): void {
  testOnLinux(name, async () => {
    using gpu = openTestDevice();
    assert(peer !== undefined);
    try {
      await body(gpu, peer);
    } finally {
      endPoolOf(gpu);
      assertEquals(await peer.tell({ do: "disposeAll" }), 0);
    }
    assertEquals(gpu.live().count, 0);
    await untilNothingIsOffered();
  });
}

/** The bytes of one value. */
function bytesOf(count: number, value: number): Uint8Array {
  return new Uint8Array(count).fill(value);
}

for (const way of WAYS) {
  testWithPeer(
    `gpu.open() in another process shows the bytes of ${way} memory, both ways`,
    async (gpu, peer) => {
      using x = allocateBy(gpu, { way, byteLength: 1007, value: 3 });
      const part = x.subarray(4, 1004).as("int32");
      const shape = await peer.tell({ do: "open", ticket: await part.share() });
      assertEquals(shape, ["int32", 250]);
      assertEquals(await peer.tell({ do: "read" }), [...bytesOf(1000, 3)]);
      await peer.tell({ do: "fill", value: 7 });
      const expected = bytesOf(1007, 7);
      expected.fill(3, 0, 4).fill(3, 1004);
      assertEquals(await x.download(), expected);
      assertEquals(await peer.tell({ do: "dispose" }), 0);
    },
  );

  testWithPeer(`gpu.open() shows bytes of ${way} memory of another process`, async (gpu, peer) => {
    await peer.tell({ do: "alloc", way, byteLength: LARGE_BYTES, value: 9 });
    const ticket = await peer.tell<MemoryTicket<"uint8">>({ do: "share" });
    assertEquals(ticket.pid, peer.pid);
    using y = await gpu.open(ticket, { label: "theirs", dtype: "uint8" });
    assertEquals([y.dtype, y.kind, y.label], ["uint8", "imported", "theirs"]);
    assertEquals(await y.checksum(), await peer.tell({ do: "checksum" }));
    y.fill(4);
    await gpu.synchronize();
    assertEquals(await y.checksum(), await peer.tell({ do: "checksum" }));
    assertEquals(await y.at(-1), 4);
  });

  testWithPeer(
    `gpu.open() twice shows ${way} memory twice, until the last buffer goes`,
    async (gpu, peer) => {
      await peer.tell({ do: "alloc", way, byteLength: 64, value: 1 });
      const ticket = await peer.tell<MemoryTicket<"uint8">>({ do: "share" });
      const again = await peer.tell<MemoryTicket<"uint8">>({ do: "share" });
      const [one, two, three] = await Promise.all([ticket, ticket, again].map((t) => gpu.open(t)));
      assert(one !== undefined && two !== undefined && three !== undefined);
      assertEquals([two.ptr, three.ptr], [one.ptr, one.ptr]);
      using stream = gpu.createStream();
      one.fill(5, { stream }); // the buffers are ordered as one
      assertEquals(await two.download(), bytesOf(64, 5));
      one.dispose();
      two.dispose();
      assertEquals(await three.download(), bytesOf(64, 5));
      three.dispose();
      using last = await gpu.open(ticket);
      assertEquals(await last.download(), bytesOf(64, 5));
    },
  );

  if (way === "pool") {
    testWithPeer(
      "gpu.open() shows pool memory that is open here again, also when it was disposed there",
      async (gpu, peer) => {
        await peer.tell({ do: "alloc", way, byteLength: 64, value: 1 });
        const ticket = await peer.tell<MemoryTicket<"uint8">>({ do: "share" });
        const one = await gpu.open(ticket);
        await peer.tell({ do: "dispose" });
        const two = await gpu.open(ticket);
        one.dispose();
        assertEquals(await two.download(), bytesOf(64, 1));
        two.dispose();
        const error = await assertRejects(() => gpu.open(ticket), TicketError);
        assertEquals(error.reason, "gone");
      },
    );
  }

  testWithPeer(
    `gpu.open() of ${way} memory leaves all as it was, ${ROUNDS[way]} times`,
    async (gpu, peer) => {
      let freeBefore = 0;
      for (let round = 0; round < ROUNDS[way]; round++) {
        const value = round % 251;
        using x = allocateBy(gpu, { way, byteLength: LARGE_BYTES, value });
        await peer.tell({ do: "open", ticket: await x.share() });
        await peer.tell({ do: "fill", value: value + 1 });
        assertEquals(await peer.tell({ do: "dispose" }), 0);
        assertEquals([await x.at(0), await x.at(-1)], [value + 1, value + 1]);
        x.dispose();
        if (way === "pool") await untilPoolIsEmpty(gpu);
        if (round === 2) freeBefore = freeBytes(gpu);
      }
      checkSteady(gpu, freeBefore);
    },
  );

  testWithPeer(`gpu.open() of ${way} memory that was disposed says so`, async (gpu, peer) => {
    using x = allocateBy(gpu, { way, byteLength: LARGE_BYTES, value: 1 });
    const ticket = await x.share();
    x.dispose();
    await gpu.synchronize();
    const error = await assertRejects(() => peer.tell({ do: "open", ticket }), ToldError);
    assertEquals([error.kind, error.reason], ["TicketError", "gone"]);
    assert(/disposed|shares nothing/.test(error.message), error.message);
  });

  testWithPeer(`gpu.open() of ${way} memory refuses bytes beyond its end`, async (gpu, peer) => {
    using x = allocateBy(gpu, { way, byteLength: 2 ** 22, value: 1 });
    const ticket = await x.share();
    for (const byteLength of [2 ** 22 + 1, 2 ** 40]) {
      const longer = { ...ticket, byteLength, shape: [byteLength] };
      const error = await assertRejects(
        () => peer.tell({ do: "open", ticket: longer }),
        ToldError,
      );
      assertEquals([error.kind, error.reason], ["TicketError", "length"]);
    }
    const behind = { ...ticket, offset: 2 ** 22 };
    const error = await assertRejects(() => peer.tell({ do: "open", ticket: behind }), ToldError);
    assertEquals(error.reason, "length");
    await peer.tell({ do: "open", ticket }); // the refusals have left nothing open
    assertEquals(await peer.tell({ do: "dispose" }), 0);
  });

  testOnLinux(
    `gpu.open() of ${way} memory lives on when the other process is killed, ${KILLS} times`,
    async () => {
      using gpu = openTestDevice();
      const freeBefore = freeBytes(gpu);
      for (let round = 0; round < KILLS; round++) {
        await using peer = Peer.deno();
        await peer.tell({ do: "alloc", way, byteLength: LARGE_BYTES, value: round });
        const ticket = await peer.tell<MemoryTicket<"uint8">>({ do: "share" });
        const open = round % 2 === 0 ? await gpu.open(ticket) : undefined;
        await peer.kill();
        if (open === undefined) {
          const error = await assertRejects(() => gpu.open(ticket), TicketError);
          assertEquals(error.reason, "gone");
          continue;
        }
        assertEquals(await open.at(-1), round);
        open.dispose();
      }
      assertEquals(gpu.live().count, 0);
      checkSteady(gpu, freeBefore);
    },
  );

  takingTurns(testOnLinux)(
    `share() of ${way} memory outlives a process that is killed with it open, ${KILLS} times`,
    async () => {
      using gpu = openTestDevice();
      try {
        await killOpeners(gpu, way, 1); // the driver keeps something at the first time
        const freeBefore = freeBytes(gpu);
        await killOpeners(gpu, way, KILLS);
        checkSteady(gpu, freeBefore);
      } finally {
        endPoolOf(gpu);
      }
      assertEquals(gpu.live().count, 0);
      await untilNothingIsOffered();
    },
  );
}

testWithPeer(
  "A buffer of a pool that another process has open keeps its memory until that one lets go",
  async (gpu, peer) => {
    const pool = poolOf(gpu);
    using x = allocateBy(gpu, { way: "pool", byteLength: LARGE_BYTES, value: 6 });
    await peer.tell({ do: "open", ticket: await x.share() });
    x.dispose();
    using y = allocateBy(gpu, { way: "pool", byteLength: LARGE_BYTES, value: 8 });
    await gpu.synchronize();
    assert(pool.usedBytes >= 2 * LARGE_BYTES);
    assertEquals(await peer.tell({ do: "last" }), 6);
    await peer.tell({ do: "dispose" });
    await until(gpu, () => pool.usedBytes < 2 * LARGE_BYTES);
    assertEquals(await y.at(0), 8);
  },
);

testWithPeer("gpu.openEvent() makes work of one process follow the other's", async (gpu, peer) => {
  using x = allocateBy(gpu, { way: "shareable", byteLength: LARGE_BYTES, value: 0 });
  await peer.tell({ do: "open", ticket: await x.share() });
  using mine = gpu.createEvent({ shareable: true, label: "mine" });
  await peer.tell({ do: "openEvent", name: "theirs", ticket: mine.share() });
  using back = gpu.openEvent(await peer.tell<EventTicket>({ do: "createEvent", name: "back" }));
  assertEquals([mine.timing, back.timing, back.isComplete], [false, false, true]);
  for (let round = 1; round <= 5; round++) {
    for (let i = 0; i < 20; i++) x.fill(200); // work that takes a moment
    x.fill(round);
    gpu.stream.record(mine);
    await peer.tell({ do: "wait", name: "theirs" });
    // The other one reads after the fill.
    assertEquals(await peer.tell({ do: "last" }), round);
    await peer.tell({ do: "fill", value: round + 100, waits: false });
    await peer.tell({ do: "record", name: "back" });
    gpu.stream.wait(back);
    assertEquals(await x.subarray(0, 8).download(), bytesOf(8, round + 100));
  }
  await back.synchronize();
  back.synchronizeSync();
  await peer.tell({ do: "disposeEvent", name: "theirs" });
  await peer.tell({ do: "dispose" });
});

testWithPeer("gpu.openEvent() of an event that was disposed harms nobody", async (gpu, peer) => {
  const event = gpu.createEvent({ shareable: true });
  const ticket = event.share();
  event.dispose();
  const opening = peer.tell({ do: "openEvent", name: "gone", ticket });
  if (ON_GPU) {
    // The real driver opens it; nothing waits for what is gone.
    assertEquals(await opening, true);
    assertEquals(await peer.tell({ do: "wait", name: "gone" }), true);
    await peer.tell({ do: "disposeEvent", name: "gone" });
  } else {
    const error = await assertRejects(() => opening, ToldError);
    assertEquals([error.kind, error.reason], ["TicketError", "gone"]);
  }
  using mine = gpu.createEvent({ shareable: true });
  await peer.tell({ do: "openEvent", name: "next", ticket: mine.share() });
  gpu.stream.record(mine);
  await gpu.synchronize();
  assertEquals(await peer.tell({ do: "wait", name: "next" }), true);
  await peer.tell({ do: "disposeEvent", name: "next" });
});

testWithPeer("share() of another process's memory says: pass on its ticket", async (gpu, peer) => {
  await peer.tell({ do: "alloc", way: "shareable", byteLength: 64, value: 1 });
  using y = await gpu.open(await peer.tell<MemoryTicket>({ do: "share" }));
  await assertRejects(
    () => y.share(),
    TypeError,
    "memory of another process; pass on its ticket",
  );
  await assertRejects(() => y.handOver(), TypeError, "Cannot hand over");
});

async function killOpeners(gpu: CudaDevice, way: Way, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    await using peer = Peer.deno();
    using x = allocateBy(gpu, { way, byteLength: LARGE_BYTES, value: 1 });
    await peer.tell({ do: "open", ticket: await x.share() });
    await peer.tell({ do: "fill", value: 7 });
    if (round % 2 === 0) x.dispose();
    await peer.kill();
    if (!x.disposed) assertEquals(await x.at(0), 7);
    x.dispose();
    if (way === "pool") await untilPoolIsEmpty(gpu);
    await gpu.synchronize();
  }
}

/** Waits until what other processes had open is freed, and given back to the device. */
async function untilPoolIsEmpty(gpu: CudaDevice): Promise<void> {
  const pool = poolOf(gpu);
  await until(gpu, () => pool.usedBytes === 0);
  pool.trim();
}

async function until(gpu: CudaDevice, condition: () => boolean): Promise<void> {
  const end = performance.now() + PATIENCE_MILLISECONDS;
  while (!condition()) {
    assert(performance.now() < end, "the pool's memory is still in use");
    await delay(2);
    await gpu.synchronize();
  }
}
