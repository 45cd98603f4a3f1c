// What counts as a race: rows that meet, and the order that streams, events and waits give.
// Overlap of rows is compared with sets of bytes over many random shapes.

import { assertEquals } from "@std/assert";
import {
  AccessHistory,
  type Extent,
  overlap,
} from "../../../../ffi/simulated/model/access_history.ts";
import {
  HostWaits,
  type Moment,
  observe,
  Timeline,
} from "../../../../ffi/simulated/model/happens_before.ts";
import { Random } from "../../../support/random.ts";

/** Makes timelines of one host. */
function timelines<const Labels extends readonly string[]>(
  ...labels: Labels
): { [Index in keyof Labels]: Timeline } {
  const waits = new HostWaits();
  return labels.map((label) => new Timeline(label, waits)) as { [Index in keyof Labels]: Timeline };
}

function access(moment: Moment, options: { start?: number; write?: boolean } = {}) {
  const { start = 0, write = true } = options;
  const extent = { start, widthBytes: 10, pitchBytes: 10, rowCount: 1 };
  return { extent, write, moment, call: "test" };
}

Deno.test("overlap() agrees with sets of bytes", () => {
  const random = new Random(3);
  const pick = (): Extent => {
    const widthBytes = 1 + random.below(6);
    const pitchBytes = widthBytes + random.below(10);
    return { start: random.below(60), widthBytes, pitchBytes, rowCount: 1 + random.below(6) };
  };
  const bytesOf = ({ start, widthBytes, pitchBytes, rowCount }: Extent) =>
    new Set(
      Array.from({ length: rowCount }, (_, row) =>
        Array.from({ length: widthBytes }, (_, byte) => start + row * pitchBytes + byte)).flat(),
    );
  for (let round = 0; round < 20_000; round++) {
    const [a, b] = [pick(), pick()];
    assertEquals(overlap(a, b), !bytesOf(a).isDisjointFrom(bytesOf(b)));
  }
});

Deno.test("AccessHistory.conflict() allows reads on several streams", () => {
  const [a, b] = timelines("a", "b");
  const history = new AccessHistory();
  history.add(access(a.advance(), { write: false }));
  const other = b.advance();
  assertEquals(history.conflict(access(other, { write: false })), undefined);
  assertEquals(history.conflict(access(other))?.moment.timeline.label, "a");
});

Deno.test("AccessHistory.conflict() follows order through a third stream", () => {
  const [a, b, c] = timelines("a", "b", "c");
  const history = new AccessHistory();
  history.add(access(a.advance()));
  b.join(a.latest);
  b.advance();
  c.join(b.latest);
  assertEquals(history.conflict(access(c.advance())), undefined);
});

Deno.test("AccessHistory.conflict() sees what was queued after the event", () => {
  const [a, b] = timelines("a", "b");
  const history = new AccessHistory();
  b.join(a.advance());
  history.add(access(a.advance()));
  assertEquals(history.conflict(access(b.advance()))?.moment.epoch, 2);
});

Deno.test("AccessHistory.conflict() forgets what the host has waited for", () => {
  const [a, b] = timelines("a", "b");
  const history = new AccessHistory();
  history.add(access(a.advance()));
  observe(a.latest);
  assertEquals(history.conflict(access(b.advance())), undefined);
});

Deno.test("AccessHistory.conflict() keeps an unordered use through ten thousand later ones", () => {
  const [a, b] = timelines("a", "b");
  const history = new AccessHistory();
  history.add(access(a.advance(), { start: 1000 }));
  for (let i = 0; i < 10_000; i++) history.add(access(b.advance()));
  assertEquals(history.conflict(access(b.advance(), { start: 1000 }))?.moment.timeline, a);
});

Deno.test("AccessHistory.conflict() goes by what the host had waited for when work was queued", () => {
  const [a, b] = timelines("a", "b");
  const history = new AccessHistory();
  const kernel = b.advance();
  b.waits.expect(kernel.waitCount);
  history.add(access(a.advance()));
  observe(a.latest);
  history.add(access(a.advance(), { start: 1000 }));
  assertEquals(history.conflict(access(kernel))?.moment.epoch, 1);
  assertEquals(history.conflict(access(b.advance())), undefined);
});

Deno.test("AccessHistory.conflict() keeps for a kernel what the host waited for since its launch", () => {
  const [a, b, c] = timelines("a", "b", "c");
  const history = new AccessHistory();
  const kernel = b.advance();
  b.waits.expect(kernel.waitCount);
  history.add(access(a.advance(), { start: 1000 }));
  observe(a.latest);
  for (let i = 0; i < 1000; i++) {
    history.add(access(c.advance()));
    observe(c.latest);
  }
  assertEquals(history.conflict(access(kernel, { start: 1000 }))?.moment.timeline, a);
  b.waits.settle(kernel.waitCount);
  assertEquals(b.waits.oldestUnnamed, Infinity);
});
