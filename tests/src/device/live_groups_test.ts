// Checks gpu.live().by(): groups by origin, kind, label and scope, as data, text and card.

import { assertEquals, assertMatch, assertStringIncludes, assertThrows } from "@std/assert";
import "../../../src/cards/shown.ts";
import type { CudaDevice } from "../../../src/device/device.ts";
import type { LiveGroupKey } from "../../../src/device/live_groups.ts";
import { cardOf } from "../../support/display.ts";
import { testOnDevice } from "../../support/with_device.ts";

testOnDevice("LiveTable.by() groups by the line where objects were made, largest first", (gpu) => {
  gpu.context.ledger.origins.detail = "line";
  using _one = gpu.alloc("uint8", 8);
  using made = new DisposableStack();
  for (let i = 0; i < 3; i++) made.use(gpu.alloc("uint8", 1024));
  const groups = [...gpu.live().by("origin")];
  assertEquals(groups.map(({ count, byteLength }) => [count, byteLength]), [[3, 3072], [1, 8]]);
  for (const { name } of groups) assertMatch(name ?? "", /^live_groups_test\.ts:\d+:\d+$/);
});

testOnDevice("LiveTable.by() groups by kind, label and scope", (gpu) => {
  using _made = makeSome(gpu);
  const rows = (key: LiveGroupKey) =>
    gpu.live().by(key).toJSON().map(({ name, count, byteLength }) => [name, count, byteLength]);
  assertEquals(rows("kind"), [["device", 2, 5120], ["pinned", 1, 100], ["stream", 1, 0]]);
  assertEquals(rows("label"), [["weights", 2, 5120], [undefined, 2, 100]]);
  assertEquals(rows("scope"), [["epoch", 3, 4196], [undefined, 1, 1024]]);
});

testOnDevice("LiveTable.by() rejects an unknown group", (gpu) => {
  assertThrows(
    () => gpu.live().by("colour" as LiveGroupKey),
    TypeError,
    'Cannot group by "colour": expected "origin", "kind", "label" or "scope"',
  );
  assertThrows(() => gpu.live().by(["kind"] as never), TypeError, "Cannot group by a list");
});

testOnDevice("LiveGroups.toString() prints columns, and says how to have all origins", (gpu) => {
  using _small = gpu.alloc("uint8", 8);
  const lines = gpu.live().by("origin").toString().split("\n");
  assertEquals(lines[0]?.split(/\s{2,}/), ["made at", "count", "size"]);
  assertEquals(lines[1]?.split(/\s{2,}/).map((cell) => cell.trim()), ["unknown", "1", "8 B"]);
  assertEquals(
    lines[2],
    '1 place not recorded: open the device with { origins: "line" } to have all',
  );
  assertEquals(gpu.live().by("kind").hint, "");
});

testOnDevice("LiveGroups shows a card with a row for each group", async (gpu) => {
  using _made = makeSome(gpu);
  const { text, html } = await cardOf(gpu.live().by("label"));
  assertStringIncludes(text, "live by label");
  assertStringIncludes(html, "weights");
  assertStringIncludes(html, "5 KiB");
});

function makeSome(gpu: CudaDevice): DisposableStack {
  const stack = new DisposableStack();
  stack.use(gpu.alloc("uint8", 1024, { label: "weights" }));
  using _track = gpu.track("epoch");
  stack.use(gpu.alloc("uint8", 4096, { label: "weights" }));
  stack.use(gpu.pinned("uint8", 100));
  stack.use(gpu.createStream());
  return stack;
}
