// The socket of shared pools among strangers: who answers nonsense is refused, who asks for nonsense is
// sent away, nobody waits for ever, and no descriptor is left open.

import { assert, assertEquals, assertRejects } from "@std/assert";
import { setTimeout as delay } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import type { CudaDevice } from "../../../src/device/device.ts";
import { type MemoryTicket, TicketError } from "../../../src/entries/sharing.ts";
import { LocalSocket } from "../../../src/sharing/local_socket.ts";
import {
  decodeAnswer,
  decodeRequest,
  encodeAnswer,
  encodeRequest,
} from "../../../src/sharing/pool_words.ts";
import { openTestDevice } from "../../support/driver.ts";
import { untilNothingIsOffered } from "../../support/pool_offers.ts";
import { Random } from "../../support/random.ts";
import type { Habit } from "../../support/sharing/hostile_program.ts";
import { Peer } from "../../support/sharing/peer.ts";
import { allocateBy, endPoolOf } from "../../support/sharing/peer_words.ts";
import { takingTurns, testOnLinux } from "../../support/test_unless.ts";
import { TextLineStream } from "../../support/text_lines.ts";

const HOSTILE = new URL("../../support/sharing/hostile_program.ts", import.meta.url).pathname;

/** The reason that each habit leads to. */
const HABITS: Readonly<Record<Habit, string>> = {
  "silence": "unanswered",
  "hanging up": "gone",
  "garbage": "unanswered",
  "a long message": "unanswered",
  "no pool": "unanswered",
  "a file": "unanswered",
  "three files": "unanswered",
  "a lie about the memory": "gone",
};

let nameCount = 0;

function freshName(): string {
  return `vramkit-${(++nameCount).toString(16).padStart(8, "0")}${
    crypto.randomUUID().slice(0, 8)
  }` +
    "0".repeat(16);
}

function openDescriptors(): number {
  return [...Deno.readDirSync("/proc/self/fd")].length;
}

/** Runs a test with a process that opens tickets; what it shares by a pool ends with it. */
async function withPeer(body: (gpu: CudaDevice, peer: Peer) => Promise<void>): Promise<void> {
  using gpu = openTestDevice();
  await using peer = Peer.deno();
  await body(gpu, peer);
  endPoolOf(gpu);
  await untilNothingIsOffered();
}

for (const [habit, reason] of Object.entries(HABITS)) {
  testOnLinux(`gpu.open() refuses a process that answers by ${habit}`, async () => {
    using gpu = openTestDevice();
    const socket = freshName();
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-check", HOSTILE, socket, habit],
      stdout: "piped",
    }).spawn();
    const lines = child.stdout.pipeThrough(new TextLineStream()).getReader();
    assertEquals((await lines.read()).value, "ready");
    const ticket: MemoryTicket = {
      vramkit: 1,
      kind: "pool",
      device: gpu.info.uuid,
      handle: "00".repeat(64),
      offset: 0,
      byteLength: 4,
      dtype: "uint8",
      shape: [4],
      pid: child.pid,
      socket,
      key: "ab".repeat(16),
    };
    const before = openDescriptors();
    for (let i = 0; i < 5; i++) {
      const timeoutSeconds = habit === "silence" ? 0.05 : 5;
      const error = await assertRejects(
        () => gpu.open(ticket, { timeoutSeconds }),
        TicketError,
      );
      assertEquals(error.reason, reason, error.message);
    }
    assertEquals(openDescriptors(), before);
    assertEquals(gpu.live().count, 0);
    const stop = new AbortController();
    if (habit === "silence") setTimeout(() => stop.abort(new Error("enough")), 5);
    else stop.abort(new Error("enough"));
    await assertRejects(() => gpu.open(ticket, { signal: stop.signal }), Error, "enough");
    child.kill("SIGKILL");
    while (!(await lines.read()).done);
    await child.status;
    const error = await assertRejects(() => gpu.open(ticket), TicketError);
    assertEquals(error.reason, "gone");
  });
}

testOnLinux(
  "gpu.open() says that memory is gone when the program that shared it was started anew",
  () =>
    withPeer(async (gpu, peer) => {
      using x = allocateBy(gpu, { way: "pool", byteLength: 64, value: 5 });
      const ticket = await x.share();
      const { socket: name = "" } = ticket;
      const before = openDescriptors();
      using waiting = LocalSocket.connect(name) as LocalSocket;
      while (openDescriptors() < before + 2) await delay(5); // until it is accepted
      dispatchEvent(new Event("unload")); // as --watch does, whose process goes on
      assertEquals(waiting.receive()?.isEnd, true);
      await assertRejects(
        () => peer.tell({ do: "open", ticket }),
        Error,
        "shares nothing any more",
      );
      const again = await x.share();
      await peer.tell({ do: "open", ticket: again });
      assertEquals(await peer.tell({ do: "last" }), 5);
      await peer.tell({ do: "dispose" });
    }),
);

testOnLinux(
  "share() serves a process with a ticket, whatever others send to its socket",
  () =>
    withPeer(async (gpu, peer) => {
      using x = allocateBy(gpu, { way: "pool", byteLength: 64, value: 5 });
      const ticket = await x.share();
      const { socket: name = "", key = "" } = ticket;
      await peer.tell({ do: "open", name: "first", ticket }); // starts it
      const before = openDescriptors();
      const random = new Random(11);
      const strangers: LocalSocket[] = [];
      for (let i = 0; i < 40; i++) {
        const stranger = LocalSocket.connect(name);
        assert(stranger instanceof LocalSocket);
        strangers.push(stranger);
        const bytes = Uint8Array.from({ length: random.below(40) }, () => random.below(256));
        if (random.below(3) > 0) stranger.send(bytes, random.below(2) === 0 ? [1] : undefined);
        if (random.below(4) === 0) stranger.dispose();
      }
      await peer.tell({ do: "open", ticket });
      assertEquals(await peer.tell({ do: "last" }), 5);
      const wrong = { ...ticket, key: key.replace(/^./, (c) => c === "0" ? "1" : "0") };
      await assertRejects(
        () => peer.tell({ do: "open", name: "y", ticket: wrong }),
        Error,
        "disposed",
      );
      for (const stranger of strangers) stranger.dispose();
      await peer.tell({ do: "dispose" });
      await delay(50);
      assertEquals(openDescriptors(), before);
      await peer.tell({ do: "dispose", name: "first" });
      const changed = {
        ...ticket,
        handle: ticket.handle.replace(/.$/, (c) => c === "0" ? "1" : "0"),
      };
      await assertRejects(
        () => peer.tell({ do: "open", name: "y", ticket: changed }),
        Error,
        "the ticket was changed",
      );
    }),
);

takingTurns(testOnLinux)(
  "gpu.open() of handles that were changed at random opens nothing, and nothing breaks",
  () =>
    withPeer(async (gpu, peer) => {
      const random = new Random(3);
      for (const way of ["plain", "pool"] as const) {
        using x = allocateBy(gpu, { way, byteLength: 4096, value: 5 });
        const ticket = await x.share();
        for (let i = 0; i < 150; i++) {
          const bytes = Uint8Array.fromHex(ticket.handle);
          for (let change = random.below(4); change >= 0; change--) {
            bytes[random.below(64)] = random.below(256);
          }
          if (i % 10 === 0) crypto.getRandomValues(bytes);
          const changed = { ...ticket, handle: bytes.toHex() };
          try {
            await peer.tell({ do: "open", ticket: changed });
            await peer.tell({ do: "dispose" }); // a change that means nothing to the driver
          } catch (error) {
            assert(
              /TicketError|CudaError/.test(String((error as { kind?: string }).kind)),
              `${error}`,
            );
          }
        }
        await peer.tell({ do: "open", ticket });
        assertEquals(await peer.tell({ do: "last" }), 5);
        assertEquals(await peer.tell({ do: "dispose" }), 0);
      }
    }),
);

takingTurns(testOnLinux)(
  "gpu.open() says that memory is gone when its Worker was terminated",
  async () => {
    await using peer = Peer.deno();
    const worker = new Worker(new URL("../../support/sharing/sharing_worker.ts", import.meta.url));
    const ticket = await new Promise<MemoryTicket>((resolve) => worker.once("message", resolve));
    await peer.tell({ do: "open", ticket });
    using waiting = LocalSocket.connect(ticket.socket ?? "") as LocalSocket;
    await worker.terminate();
    for (let look = 0; look < 1000; look++) {
      if (waiting.receive()?.isEnd === true) break;
      await delay(5); // the thread ends a little later
    }
    assertEquals(await peer.tell({ do: "last" }), 5);
    assertEquals(await peer.tell({ do: "dispose" }), 0);
    using gpu = openTestDevice();
    const error = await assertRejects(() => gpu.open(ticket), TicketError);
    assertEquals(error.reason, "gone", error.message);
  },
);

Deno.test("decodeAnswer() reads what encodeAnswer() wrote, and nothing else", () => {
  for (const answer of [{ isThere: true, pool: 2 ** 32 - 1 }, { isThere: false, pool: 0 }]) {
    assertEquals(decodeAnswer(encodeAnswer(answer)), answer);
  }
  const random = new Random(5);
  for (let i = 0; i < 1000; i++) {
    const bytes = Uint8Array.from({ length: random.below(12) }, () => random.below(256));
    assertEquals(decodeAnswer(bytes), undefined);
  }
});

Deno.test("decodeRequest() reads what encodeRequest() wrote, and nothing of another length", () => {
  const request = { key: "0f".repeat(16), handle: "a1".repeat(64) };
  const bytes = encodeRequest(request);
  assertEquals(decodeRequest(bytes), request);
  for (const byteLength of [0, 16, 79, 81, 128]) {
    assertEquals(decodeRequest(new Uint8Array(byteLength)), undefined);
  }
});
