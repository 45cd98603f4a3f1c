// Tickets as texts: what is read comes back as it was, and all else is refused by one kind of error that
// names the field, never by the language's own.

import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  type EventTicket,
  type MemoryTicket,
  readEventTicket,
  readMemoryTicket,
  TicketError,
} from "../../src/ticket.ts";
import { Random } from "../support/random.ts";
import { inTurn } from "../support/test_unless.ts";

const MEMORY: MemoryTicket = {
  vramkit: 1,
  kind: "allocation",
  device: "GPU-01234567-89ab-cdef-0123-456789abcdef",
  handle: "0a".repeat(64),
  offset: 512,
  byteLength: 24,
  dtype: "float32",
  shape: [2, 3],
  pid: 17,
};

const POOL: MemoryTicket = {
  ...MEMORY,
  kind: "pool",
  socket: `vramkit-${"1f".repeat(16)}`,
  key: "2e".repeat(16),
};

const EVENT: EventTicket = {
  vramkit: 1,
  kind: "event",
  device: MEMORY.device,
  handle: MEMORY.handle,
  pid: undefined,
};

Deno.test("readMemoryTicket() gives what JSON has kept", () => {
  for (const ticket of [MEMORY, POOL]) {
    assertEquals(readMemoryTicket(JSON.stringify(ticket)), ticket);
    assertEquals(readMemoryTicket(structuredClone(ticket)), ticket);
    assertEquals(readMemoryTicket({ ...ticket, comment: "for the other side" }), ticket);
  }
  assertEquals(readEventTicket(JSON.stringify(EVENT)), EVENT);
});

Deno.test("readMemoryTicket() refuses a ticket of a later version, and says what helps", () => {
  const error = assertThrows(() => readMemoryTicket({ ...MEMORY, vramkit: 2 }), TicketError);
  assertEquals(error.reason, "newer");
  assertEquals(
    error.message,
    "Cannot read the ticket: it has version 2, this kit knows 1; update the kit here",
  );
});

Deno.test("readMemoryTicket() names the field that is wrong", () => {
  const wrong: [keyof MemoryTicket, unknown][] = [
    ["vramkit", "1"],
    ["kind", "event"],
    ["device", "GPU-0"],
    ["handle", "0a".repeat(63)],
    ["handle", "0A".repeat(64)],
    ["offset", -4],
    ["offset", 2],
    ["offset", 2 ** 53 - 4],
    ["offset", "0"],
    ["byteLength", 23],
    ["byteLength", 2 ** 53],
    ["dtype", "float31"],
    ["dtype", "constructor"],
    ["shape", [2, -3]],
    ["shape", { length: 2 }],
    ["shape", Array(65).fill(1)],
    ["pid", "1"],
    ["socket", "/run/docker.sock"],
    ["socket", `vramkit-${"1f".repeat(16)}\n`],
    ["key", ""],
  ];
  for (const [name, value] of wrong) {
    const error = assertThrows(() => readMemoryTicket({ ...POOL, [name]: value }), TicketError);
    assertEquals(error.reason, "malformed");
    assert(error.message.includes(name), `${name}: ${error.message}`);
  }
  assertThrows(() => readEventTicket(MEMORY), TicketError, "its kind is");
  assertThrows(() => readMemoryTicket(EVENT), TicketError, "openEvent() opens events");
});

Deno.test("readMemoryTicket() refuses shapes whose product runs over", () => {
  for (const shape of [[2 ** 27, 2 ** 26, 2], [2 ** 53 - 1, 2 ** 53 - 1], [0], [2 ** 52, 0]]) {
    assertThrows(() => readMemoryTicket({ ...MEMORY, shape }), TicketError, "byteLength");
  }
  const empty = { ...MEMORY, shape: [0], byteLength: 0 };
  assertThrows(() => readMemoryTicket(empty), TicketError);
});

Deno.test("readMemoryTicket() runs a getter once, and passes on what it throws", () => {
  let count = 0;
  const ticket = {
    ...MEMORY,
    get byteLength() {
      return ++count === 1 ? 24 : 2 ** 50;
    },
  };
  assertEquals(readMemoryTicket(ticket).byteLength, 24);
});

Deno.test(
  inTurn("Tickets that were changed at random are read, or refused by a TicketError"),
  () => {
    const random = new Random(20260118);
    let refusedCount = 0;
    for (let i = 0; i < 20_000; i++) {
      const ticket = [MEMORY, POOL, EVENT][random.below(3)] ?? MEMORY;
      const text = damaged(JSON.stringify(ticket), random);
      for (const read of [readMemoryTicket, readEventTicket]) {
        try {
          const result = read(text);
          assert(result.handle.length === 128);
        } catch (error) {
          if (!(error instanceof TicketError)) throw error;
          assert(error.message.startsWith("Cannot read the ticket: "), error.message);
          refusedCount++;
        }
      }
    }
    assert(refusedCount > 20_000);
  },
);

Deno.test("Objects of anything are refused by a TicketError", () => {
  const random = new Random(7);
  const values: readonly unknown[] = [
    ...[null, undefined, 1, 1n, NaN, "", "{", "[]", "null", true, Symbol("x"), []],
    ...[{}, new Map(), new Date(), () => 1, new Float32Array(2), Promise.resolve(1)],
    ...["x".repeat(20_000), "[".repeat(10_000), '{"vramkit":1}'],
  ];
  for (const value of values) assertThrows(() => readMemoryTicket(value), TicketError);
  const names = Object.keys(POOL);
  for (let i = 0; i < 5000; i++) {
    const name = names[random.below(names.length)] ?? "kind";
    const value = values[random.below(values.length)];
    try {
      readMemoryTicket({ ...POOL, [name]: value });
    } catch (error) {
      assert(error instanceof TicketError, String(error));
    }
  }
});

/** Changes a text in one to three places: a character, a piece taken out, put twice or put elsewhere. */
function damaged(text: string, random: Random): string {
  let result = text;
  for (let change = random.below(3); change >= 0; change--) {
    const at = random.below(result.length + 1);
    const length = random.below(12);
    const piece = result.slice(at, at + length);
    const other = random.below(result.length + 1);
    switch (random.below(4)) {
      case 0:
        result = result.slice(0, at) + String.fromCharCode(random.below(256)) +
          result.slice(at + 1);
        break;
      case 1:
        result = result.slice(0, at) + result.slice(at + length);
        break;
      case 2:
        result = result.slice(0, other) + piece + result.slice(other);
        break;
      default:
        result = result.slice(0, at) + "9".repeat(length) + result.slice(at + length);
    }
  }
  return result;
}
