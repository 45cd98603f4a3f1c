// Turns: reading goes on beside reading, writing waits for all before it, other files are no matter.

import { assertEquals, assertRejects } from "@std/assert";
import { setTimeout as delay } from "node:timers/promises";
import { FileTurn } from "../../../src/disk/file_turns.ts";

Deno.test("FileTurn.isDue follows the order in which turns were taken", () => {
  const order = ["read", "read", "replace", "read", "change"] as const;
  const turns = order.map((access) => new FileTurn("/file", access));
  using other = new FileTurn("/other", "replace");
  const due = () => turns.map((turn) => turn.isDue);
  assertEquals(due(), [true, true, false, false, false]);
  turns[1]?.[Symbol.dispose]();
  assertEquals(due()[2], false);
  turns[0]?.[Symbol.dispose]();
  assertEquals(due().slice(2), [true, false, false]);
  turns[2]?.[Symbol.dispose]();
  turns[2]?.[Symbol.dispose]();
  assertEquals(due().slice(3), [true, false]);
  turns[3]?.[Symbol.dispose]();
  assertEquals(due()[4], true);
  turns[4]?.[Symbol.dispose]();
  assertEquals(other.isDue, true);
});

Deno.test("FileTurn.due() resolves in the order of the turns", async () => {
  const seen: number[] = [];
  async function use(index: number): Promise<void> {
    using turn = new FileTurn("/file", index % 2 === 0 ? "replace" : "read");
    await turn.due();
    seen.push(index);
    await delay(1);
    seen.push(index);
  }
  await Promise.all(Array.from({ length: 5 }, (_, index) => use(index)));
  assertEquals(seen, [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]);
});

Deno.test("FileTurn.due() rejects when its signal comes first, and lets others have their turn", async () => {
  using first = new FileTurn("/file", "replace");
  const controller = new AbortController();
  async function waitUntilAborted(): Promise<void> {
    using turn = new FileTurn("/file", "replace");
    await turn.due(controller.signal);
  }
  const aborted = assertRejects(waitUntilAborted, Error, "enough");
  using last = new FileTurn("/file", "replace");
  controller.abort(new Error("enough"));
  await aborted;
  first[Symbol.dispose]();
  assertEquals(last.isDue, true);
  await assertRejects(() => last.due(controller.signal), Error, "enough");
});

Deno.test("FileTurn.linger() of a file that was replaced lets all go on but changes of the file", () => {
  using replacing = new FileTurn("/file", "replace");
  using reading = new FileTurn("/file", "read");
  replacing.linger();
  assertEquals([reading.isDue, replacing.isDue], [true, true]);
  reading[Symbol.dispose]();
  using again = new FileTurn("/file", "replace");
  assertEquals(again.isDue, true);
  again[Symbol.dispose]();
  using changing = new FileTurn("/file", "change");
  assertEquals(changing.isDue, false);
  changing.linger();
  using behind = new FileTurn("/file", "replace");
  assertEquals(behind.isDue, false);
  replacing[Symbol.dispose]();
  assertEquals([changing.isDue, behind.isDue], [true, false]);
});

Deno.test("FileTurn.whenDue() calls thousands of turns that end at once, and reads beside each other", () => {
  const first = new FileTurn("/file", "change");
  let count = 0;
  const readings: FileTurn[] = [];
  for (let i = 0; i < 12_000; i++) {
    const turn = new FileTurn("/file", i < 10_000 ? "replace" : "read");
    turn.whenDue(() => {
      count++;
      if (i < 10_000) return turn[Symbol.dispose]();
      readings.push(turn);
      turn.linger();
    });
  }
  using last = new FileTurn("/file", "change");
  first[Symbol.dispose]();
  assertEquals([count, last.isDue], [12_000, false]);
  for (const turn of readings) turn[Symbol.dispose]();
  assertEquals(last.isDue, true);
});

Deno.test("FileTurn.whenDue() calls nothing of a turn that has ended", () => {
  const first = new FileTurn("/file", "replace");
  const turn = new FileTurn("/file", "replace");
  turn.whenDue(() => {
    throw new Error("it has ended");
  });
  turn[Symbol.dispose]();
  first[Symbol.dispose]();
  using next = new FileTurn("/file", "replace");
  assertEquals(next.isDue, true);
});
