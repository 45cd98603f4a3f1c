// Checks the timeline: what it records, that it stays bounded, and the two formats it writes.

import { assert, assertEquals } from "@std/assert";
import { Timeline } from "../../../src/accounting/timeline.ts";
import type { TimelineRecord } from "../../../src/accounting/timeline_event.ts";
import { cardOf } from "../../support/display.ts";
import { testOnDevice } from "../../support/with_device.ts";

const RECORD: TimelineRecord = {
  action: "allocate",
  id: 7,
  kind: "device",
  name: "weights",
  byteLength: 1024,
  deviceBytes: 4096,
  address: 0x7f0000000000n,
  stream: 0x10n,
};

testOnDevice("Timeline is off outside notebooks and records nothing", (gpu) => {
  using _buffer = gpu.alloc("uint8", 8);
  assertEquals([gpu.timeline.isOn, gpu.timeline.length], [false, 0]);
});

testOnDevice("Timeline records allocations, frees and tracks of a device in order", (gpu) => {
  gpu.timeline.start();
  {
    using _track = gpu.track("step");
    using _buffer = gpu.alloc("uint8", 64, { label: "x" });
  }
  gpu.timeline.stop();
  using _later = gpu.alloc("uint8", 8);
  const events = gpu.timeline.events();
  gpu.timeline.clear();
  assertEquals(events.map(({ action, name, deviceBytes }) => [action, name, deviceBytes]), [
    ["begin", "step", 0],
    ["allocate", "x", 64],
    ["free", "x", 0],
    ["end", "step", 0],
  ]);
  const [, allocated, freed] = events;
  assertEquals([allocated?.id, allocated?.address], [freed?.id, freed?.address]);
  assert((allocated?.timeSeconds ?? 0) <= (freed?.timeSeconds ?? 0));
});

testOnDevice("Timeline records copies between host and device with both names", async (gpu) => {
  using a = gpu.alloc("uint8", 64, { label: "a" });
  using b = gpu.alloc("uint8", 64, { label: "b" });
  gpu.timeline.start();
  await a.upload(new Uint8Array(64));
  b.copyFrom(a);
  b.downloadSync();
  gpu.timeline.stop();
  const copies = gpu.timeline.events().filter(({ action }) => action === "copy");
  gpu.timeline.clear();
  assertEquals(copies.map(({ source, name, byteLength }) => [source, name, byteLength]), [
    ["host", "a", 64],
    ["a", "b", 64],
    ["b", "host", 64],
  ]);
});

Deno.test("Timeline keeps the newest events and counts those it dropped", () => {
  const timeline = new Timeline().start({ eventCount: 3 });
  for (let id = 1; id <= 8; id++) timeline.record({ ...RECORD, id });
  assertEquals([...timeline].map(({ id }) => id), [6, 7, 8]);
  assertEquals([timeline.length, timeline.droppedCount], [3, 5]);
});

Deno.test("Timeline.start() forgets what was recorded before", () => {
  const timeline = new Timeline().start();
  timeline.record(RECORD);
  assertEquals([timeline.start().length, timeline.droppedCount], [0, 0]);
});

Deno.test("Timeline.events() has no BigInt, so that it can be shown and written as JSON", () => {
  const timeline = new Timeline().start();
  timeline.record(RECORD);
  const [event] = JSON.parse(JSON.stringify(timeline.events()));
  assertEquals([event.address, event.stream], ["0x7f0000000000", "0x10"]);
});

Deno.test("Timeline.toCsv() writes allocations and frees as RMM does", () => {
  const timeline = new Timeline().start();
  timeline.record(RECORD);
  timeline.record({ ...RECORD, action: "copy" });
  timeline.record({ ...RECORD, action: "free" });
  const [header, ...rows] = timeline.toCsv().trimEnd().split("\n");
  assertEquals(header, "Thread,Time,Action,Pointer,Size,Stream");
  assertEquals(rows.map((row) => row.split(",").slice(2)), [
    ["allocate", "0x7f0000000000", "1024", "0x10"],
    ["free", "0x7f0000000000", "1024", "0x10"],
  ]);
  assertEquals(rows.every((row) => /^\d+,\d\d:\d\d:\d\d\.\d{6},/.test(row)), true);
});

Deno.test("Timeline.toChromeTrace() pairs lives, counts memory and marks copies", () => {
  const timeline = new Timeline().start();
  timeline.record({ ...RECORD, action: "free", id: 1 }); // its allocation was dropped
  timeline.record(RECORD);
  timeline.record({ ...RECORD, action: "copy", source: "host" });
  timeline.record({ ...RECORD, action: "free" });
  const { traceEvents } = JSON.parse(timeline.toChromeTrace());
  const shapes = traceEvents.map(({ ph, name }: { ph: string; name: string }) => `${ph} ${name}`);
  assertEquals(shapes, [
    "M process_name",
    "C device memory",
    "b weights",
    "C device memory",
    "i copy to weights",
    "e weights",
    "C device memory",
  ]);
  const [begin, end] = ["b", "e"].map((ph) =>
    traceEvents.find((event: { ph: string }) => event.ph === ph)
  );
  assertEquals([begin.id, begin.cat], [end.id, end.cat]);
  assert(begin.ts <= end.ts);
});

Deno.test("Timeline says whether it records and how many events it holds", async () => {
  const timeline = new Timeline();
  assertEquals(Deno.inspect(timeline), "Timeline: not recording, 0 events; start() begins anew");
  timeline.start({ eventCount: 2 });
  for (let i = 0; i < 3; i++) timeline.record(RECORD);
  assertEquals(String(timeline), "Timeline: recording, 2 events, 1 dropped");
  const [first, hint] = (await cardOf(timeline)).text.split("\n");
  assertEquals(first, String(timeline));
  assert(hint?.includes("plotMemoryTimeline(gpu)"));
});
