// Reads snapshots that PyTorch made, and compares with PyTorch's own figures.

import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { gzipSync } from "node:zlib";
import { MemorySnapshot, readMemorySnapshot } from "../../../src/notebook/mod.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";
import { TORCH_FIGURES, torchSnapshot } from "../../support/torch_snapshots.ts";

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

async function refusal(bytes: Uint8Array): Promise<string> {
  const error = await assertRejects(() => readMemorySnapshot(bytes), SyntaxError);
  assertStringIncludes(error.message, "Cannot read these bytes as a memory snapshot: ");
  return error.message;
}

for (const [name, figures] of TORCH_FIGURES) {
  Deno.test(`readMemorySnapshot() has PyTorch's own figures for ${name}`, async () => {
    const snapshot = await readMemorySnapshot(torchSnapshot(`${name}.pickle`));
    const expected = figures.devices.map((figures, device) => ({
      device,
      reservedBytes: figures.memory_reserved,
      allocatedBytes: figures.memory_allocated,
      activeBytes: figures.active_bytes,
      requestedBytes: figures.requested_bytes,
    }));
    assertEquals(snapshot.devices, expected);
    assertEquals(snapshot.segments.length, figures.segments);
    assertEquals(snapshot.segments.flatMap(({ blocks }) => blocks).length, figures.blocks);
    const counts = snapshot.events.slice(0, figures.devices.length).map(({ length }) => length);
    assertEquals(counts, figures.devices.map(({ events }) => events));
  });
}

Deno.test("readMemorySnapshot() reads the same from every protocol, and from JSON", async () => {
  const { name: _, ...expected } = await readMemorySnapshot(torchSnapshot("mlp_before.pickle"));
  for (const file of ["p2.pickle", "p3.pickle", "p5.pickle"].map((end) => `mlp_before_${end}`)) {
    const { name: _, ...read } = await readMemorySnapshot(torchSnapshot(file));
    assertEquals(read, expected, file);
  }
  const { name: __, ...json } = await readMemorySnapshot(torchSnapshot("mlp_before.json"));
  assertEquals(json, expected);
});

Deno.test("readMemorySnapshot() keeps a stack once, from a pickle and from JSON", async () => {
  for (const file of ["mlp_before.pickle", "mlp_before.json"]) {
    const { events } = await readMemorySnapshot(torchSnapshot(file));
    const stacks = new Set(events.flat().map(({ stack }) => stack));
    const texts = new Set([...stacks].map((stack) => JSON.stringify(stack.frames)));
    assertEquals(stacks.size, texts.size);
  }
});

Deno.test("readMemorySnapshot() tells pools, streams and expandable segments apart", async () => {
  const { segments } = await readMemorySnapshot(torchSnapshot("streams.pickle"));
  assertEquals(new Set(segments.map(({ pool }) => pool)), new Set(["default", "0.1", "1.0"]));
  assertEquals(new Set(segments.map(({ stream }) => stream)).size, 4);
  const states = segments.flatMap(({ blocks }) => blocks.map(({ state }) => state));
  assertEquals(states.filter((state) => state === "pending").length, 1);
  const expandable = await readMemorySnapshot(torchSnapshot("expandable.pickle"));
  assert(expandable.segments.every(({ isExpandable }) => isExpandable));
  assertEquals(expandable.settings["expandable_segments"], true);
});

Deno.test("readMemorySnapshot() joins annotations, and reads the program's own words", async () => {
  const { annotations, events } = await readMemorySnapshot(torchSnapshot("annotations.pickle"));
  const steps = annotations.filter(({ name }) => name.startsWith("## step"));
  assertEquals(steps.map(({ name }) => name), ["## step 0 ##", "## step 1 ##", "## step 2 ##"]);
  for (const { startSeconds = 0, endSeconds = 0 } of annotations) assert(endSeconds > startSeconds);
  assert(events[0]?.some(({ metadata }) => metadata === "step 2"));
});

Deno.test("readMemorySnapshot() names stacks of Python and C++ by the program's own line", async () => {
  const snapshot = await readMemorySnapshot(torchSnapshot("cpp.pickle"));
  const names = snapshot.largestStacks().map(({ stack }) => stack.name);
  assertEquals(names[0], "train make.py:72");
  assert(names.some((name) => name.startsWith("at::cuda::setWorkspaceForHandle(")));
});

Deno.test("readMemorySnapshot() names stacks in few letters, however long their lines are", async () => {
  const frames = [{ filename: `/a/${"f".repeat(10_000)}.py`, line: 7, name: "g".repeat(10_000) }];
  const blocks = [{ address: 1, size: 512, state: "active_allocated", frames }];
  const segments = [{ address: 1, total_size: 512, blocks }];
  const snapshot = await readMemorySnapshot(bytesOf(JSON.stringify({ segments })));
  assert(snapshot.plotMap().describe().length < 1000);
  assertEquals(snapshot.largestStacks()[0]?.stack.frames, frames);
});

Deno.test("readMemorySnapshot() reads a path and a URL, and a list of segments alone", async () => {
  using folder = new TemporaryFolder();
  const { segments } = JSON.parse(new TextDecoder().decode(torchSnapshot("mlp_before.json")));
  const path = folder.write("a.json", `\ufeff ${JSON.stringify(segments)}`);
  const snapshot = await readMemorySnapshot(new URL(`file://${path}`));
  assertEquals([snapshot.name, snapshot.segments.length], ["a.json", segments.length]);
  assertEquals((await readMemorySnapshot(path)).reservedBytes, snapshot.reservedBytes);
  assertEquals(snapshot.events, []);
});

Deno.test("readMemorySnapshot() says what a file is that is no snapshot", async () => {
  assertStringIncludes(await refusal(gzipSync(bytesOf("x"))), "compressed by gzip");
  assertStringIncludes(await refusal(bytesOf("PK\x03\x04")), "zip archive");
  assertStringIncludes(await refusal(bytesOf("<!DOCTYPE html>")), "web page");
  assertStringIncludes(await refusal(bytesOf("version https://git-lfs.github.com")), "Git LFS");
  assertStringIncludes(await refusal(new Uint8Array()), "neither a pickle");
  assertStringIncludes(await refusal(bytesOf('{"a": 1}')), "it has no segments");
  assertStringIncludes(await refusal(bytesOf('{"segments": [1]}')), "a part of segments is");
  assertStringIncludes(await refusal(bytesOf('{"segments": \u001b')), "\\u001b");
  await assertRejects(() => readMemorySnapshot("/nothing/there.pickle"), Deno.errors.NotFound);
  await assertRejects(() => readMemorySnapshot(5 as never), TypeError, "expected a text");
  await assertRejects(() => readMemorySnapshot("/dev/zero"), TypeError, "it is a device");
});

Deno.test("readMemorySnapshot() names the field that has a wrong value", async () => {
  const block = { size: 1, state: "inactive", address: 5 };
  const segment = { address: 5, total_size: 1, blocks: [block] };
  for (
    const [wrong, words] of [
      [[{ ...segment, total_size: -0.5 }], "total_size is the number -0.5"],
      [[{ ...segment, address: undefined }], "address is undefined"],
      [[{ ...segment, blocks: [{ ...block, state: "lost" }] }], 'state is "lost"'],
      [[{ ...segment, blocks: [{ ...block, size: 2 ** 60 }] }], "size is the number"],
      [[{ ...segment, blocks: 5 }], "blocks is the number 5"],
      [{ segments: [segment], device_traces: [[{ size: 1 }]] }, "action is undefined"],
      [{ segments: [segment], device_traces: {} }, "device_traces is an object"],
      [{ segments: [], external_annotations: [{ name: "a" }] }, "time_us is undefined"],
    ] as const
  ) assertStringIncludes(await refusal(bytesOf(JSON.stringify(wrong))), words);
});

Deno.test("readMemorySnapshot() refuses JSON that nests or repeats empty parts", async () => {
  for (
    const text of ["[".repeat(2 ** 20), `[${"{},".repeat(2 ** 20)}{}]`, `["]${"[".repeat(99)}`]
  ) {
    assertStringIncludes(
      await refusal(bytesOf(text)),
      text.startsWith('["]') ? "JSON" : "nests or",
    );
  }
});

Deno.test("readMemorySnapshot() gives the event loop its turns", async () => {
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  const trace = Array.from({ length: 20_000 }, () => ({ action: "alloc", size: 1, addr: 5 }));
  await readMemorySnapshot(bytesOf(JSON.stringify({ segments: [], device_traces: [trace] })));
  clearInterval(timer);
  assert(turns > 0);
});

Deno.test("MemorySnapshot comes from readMemorySnapshot() alone", async () => {
  const error = await assertRejects(
    // deno-lint-ignore require-await
    async () => new MemorySnapshot({} as never),
    TypeError,
  );
  assertStringIncludes(error.message, "it comes from readMemorySnapshot()");
});

Deno.test("readMemorySnapshot() writes control characters, and refuses texts that are lists", async () => {
  const hostile = "f\x1b[31m";
  const frames = [{ filename: `${hostile}.py`, line: 3, name: hostile }];
  const block = { size: 8, state: "active_allocated", frames };
  const segment = { address: 0, total_size: 8, blocks: [block] };
  const event = { action: "alloc", addr: 0, size: 8, time_us: 1, frames, user_metadata: hostile };
  const mark = { stage: "START", name: hostile, time_us: 1 };
  const whole = {
    segments: [segment],
    device_traces: [[event]],
    external_annotations: [mark],
  };
  const snapshot = await readMemorySnapshot(bytesOf(JSON.stringify(whole)));
  const shown = [
    ...[snapshot.plotTimeline(), snapshot.plotMap(), snapshot.compare(snapshot)].map(String),
    JSON.stringify([snapshot.annotations, snapshot.events, snapshot.largestStacks()]),
  ];
  for (const text of shown) {
    assertStringIncludes(text, "u001b[31m");
    assert(!text.includes("\x1b"));
  }
  const list = [["x"], ["x"]];
  for (
    const damage of [
      { segments: [{ ...segment, segment_pool_id: list }] },
      { segments: [{ ...segment, total_size: -8 }] },
      { segments: [{ ...segment, blocks: [{ ...block, frames: [{ name: list }] }] }] },
      { device_traces: [[{ ...event, frames: [{ filename: list }] }]] },
      { external_annotations: [{ ...mark, name: list }] },
    ]
  ) {
    const words = await refusal(bytesOf(JSON.stringify({ ...whole, ...damage })));
    assertStringIncludes(words, "which no snapshot of PyTorch has");
  }
});
