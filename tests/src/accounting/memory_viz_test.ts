// toMemoryViz(): the kit's own history as PyTorch's viewer and PyTorch's own checks read it.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { simulateDriver } from "../../../src/entries/simulated.ts";
import { CudaDevice } from "../../../mod.ts";
import { readMemorySnapshot } from "../../../src/notebook/mod.ts";
import { runPython, testsWith } from "../../support/python.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";
import { testOnDevice } from "../../support/with_device.ts";

/** Allocates and frees before, while and after the timeline records; returns the pickle. */
function history(gpu: CudaDevice): Uint8Array<ArrayBuffer> {
  using _kept = gpu.alloc("uint8", 5000, { label: "kept" });
  const freed = gpu.alloc("uint8", 3000, { label: "freed" });
  gpu.timeline.start();
  using _pinned = gpu.pinned("uint8", 700);
  {
    using _track = gpu.track("forward");
    using _inner = gpu.alloc("float32", 100, { label: "inner" });
    freed.dispose();
  }
  using _last = gpu.alloc("uint8", 9);
  const bytes = gpu.timeline.toMemoryViz();
  assertEquals(gpu.timeline.events().some((event) => "stack" in event), false);
  gpu.timeline.stop().clear();
  return bytes;
}

testOnDevice(
  "Timeline.toMemoryViz() ends with what is live, and begins with what was",
  async (gpu) => {
    const snapshot = await readMemorySnapshot(history(gpu));
    assertEquals(snapshot.devices.map(({ allocatedBytes }) => allocatedBytes), [5009, 700]);
    assertEquals(snapshot.largestStacks({ device: 0 }).map(({ stack }) => stack.frames[0]?.name), [
      "allocated before the timeline",
      "device memory",
    ]);
    const { data, layout } = snapshot.plotTimeline({ device: 0 });
    const areas = data.slice(0, -1) as unknown as { y: number[] }[];
    const unit = JSON.stringify(layout["yaxis"]).includes("KiB") ? 1024 : 1;
    const totals = (areas[0]?.y ?? []).map((_, at) =>
      Math.round(unit * areas.reduce((sum, { y }) => sum + (y[at] ?? 0), 0))
    );
    assertEquals(new Set(totals), new Set([8000, 8400, 5400, 5000, 5009]));
    const [track] = snapshot.annotations;
    assert(
      track?.name === "forward" && (track.endSeconds ?? 0) >= (track.startSeconds ?? Infinity),
    );
  },
);

testOnDevice("Timeline.toMemoryViz() writes the same as JSON", async (gpu) => {
  gpu.timeline.start();
  using _a = gpu.alloc("uint8", 2 ** 10, { label: "a" });
  const { name: _, ...pickled } = await readMemorySnapshot(gpu.timeline.toMemoryViz());
  const json = new TextEncoder().encode(gpu.timeline.toMemoryViz({ format: "json" }));
  const { name: __, ...parsed } = await readMemorySnapshot(json);
  gpu.timeline.stop().clear();
  assertEquals(parsed, pickled);
});

Deno.test("Timeline.toMemoryViz() has the memory of its own device, and of no other", async () => {
  const driver = simulateDriver({ deviceCount: 2 });
  using one = CudaDevice.open(0, { driver });
  using two = CudaDevice.open(1, { driver });
  for (const gpu of [one, two]) gpu.timeline.start();
  using first = one.alloc("uint8", 3000, { label: "first" });
  using second = await first.to(two);
  using _pinned = two.pinned("uint8", 500);
  const [ofOne, ofTwo] = await Promise.all(
    [one, two].map((gpu) => readMemorySnapshot(gpu.timeline.toMemoryViz())),
  );
  assertEquals(ofOne?.devices.map(({ allocatedBytes }) => allocatedBytes), [first.byteLength]);
  assertEquals(ofTwo?.devices.map(({ allocatedBytes }) => allocatedBytes), [
    second.byteLength,
    500,
  ]);
});

testOnDevice("Timeline.toMemoryViz() of nothing is a snapshot without memory", async (gpu) => {
  const snapshot = await readMemorySnapshot(gpu.timeline.toMemoryViz());
  assertEquals([snapshot.devices, snapshot.reservedBytes], [[], 0]);
});

Deno.test("Timeline.toMemoryViz() has lines, labels and callers as frames", async () => {
  using gpu = CudaDevice.open(0, { driver: simulateDriver(), origins: "stack" });
  gpu.timeline.start();
  function layer() {
    return gpu.alloc("uint8", 64, { label: "layer" });
  }
  using _layer = layer();
  const [usage] = (await readMemorySnapshot(gpu.timeline.toMemoryViz())).largestStacks();
  const frames = usage?.stack.frames ?? [];
  assertStringIncludes(usage?.stack.name ?? "", "layer memory_viz_test.ts:");
  assertEquals(frames.map(({ name }) => name).slice(0, 2), ["layer", "caller"]);
  assertEquals(frames.at(-1)?.name, "device memory");
  assert(
    frames.slice(0, 2).every(({ filename, line }) => filename.endsWith("_test.ts") && line > 0),
  );
});

testOnDevice(
  "Timeline.toMemoryViz() has the rest of a history whose beginning was dropped",
  async (gpu) => {
    gpu.timeline.start({ eventCount: 3 });
    const blocks = Array.from({ length: 6 }, (_, index) => gpu.alloc("uint8", 100 * (index + 1)));
    for (const block of blocks.slice(0, 2)) block.dispose();
    const snapshot = await readMemorySnapshot(gpu.timeline.toMemoryViz());
    gpu.timeline.stop().clear();
    assertEquals(snapshot.allocatedBytes, 300 + 400 + 500 + 600);
    for (const block of blocks) block.dispose();
  },
);

testOnDevice(
  "Timeline.toMemoryViz() takes the opcodes that PyTorch's viewer knows, and no other",
  (gpu) => {
    const bytes = history(gpu);
    const view = new DataView(bytes.buffer);
    assertEquals([bytes[0], bytes[1]], [0x80, 2]);
    // PROTO, MARK and so on have no arguments but these: the number of bytes, or where it is written.
    const lengths: Readonly<Record<string, number | "text" | "long">> = {
      "]": 0,
      "}": 0,
      a: 0,
      s: 0,
      "\x88": 0,
      "\x89": 0,
      J: 4,
      r: 4,
      j: 4,
      X: "text",
      "\x8a": "long",
    };
    let at = 2;
    for (; bytes[at] !== 0x2e; at++) {
      const length = lengths[String.fromCharCode(bytes[at] ?? 0)];
      assert(length !== undefined, `opcode ${bytes[at]} at ${at}`);
      if (length === "text") at += 4 + view.getUint32(at + 1, true);
      else if (length === "long") at += 1 + (bytes[at + 1] ?? 0);
      else at += length;
    }
    assertEquals(at, bytes.length - 1);
  },
);

const testWithPython = await testsWith("pickle");

testWithPython(
  "Timeline.toMemoryViz() is read by Python, and adds up as PyTorch's own checks demand",
  async () => {
    using gpu = CudaDevice.open(0, { driver: simulateDriver() });
    using folder = new TemporaryFolder();
    const path = folder.write("kit.pickle", history(gpu));
    const program = folder.write(
      "check.py",
      `
import pickle, sys
data = pickle.load(open(sys.argv[1], "rb"))
live = {}
for segment in data["segments"]:
    assert segment["total_size"] == sum(block["size"] for block in segment["blocks"])
    assert segment["address"] == segment["blocks"][0]["address"]
    live[segment["address"]] = segment["total_size"]
for trace in data["device_traces"]:
    times = [event["time_us"] for event in trace]
    assert times == sorted(times)
    # Backwards from the end, each block lies in a segment, as the viewer's history needs it.
    blocks, segments = dict(live), dict(live)
    for event in reversed(trace):
        action, address, size = event["action"], event["addr"], event["size"]
        if action == "segment_free": assert address not in segments; segments[address] = size
        elif action == "free_completed": assert address in segments; blocks[address] = size
        elif action == "free_requested": assert blocks[address] == size
        elif action == "alloc": assert blocks.pop(address) == size
        elif action == "segment_alloc": assert segments.pop(address) == size and address not in blocks
        else: raise Exception(action)
        assert all({"name", "filename", "line"} == set(frame) for frame in event["frames"])
print(len(data["device_traces"]), sum(live.values()))
`,
    );
    assertEquals((await runPython([program, path])).trim(), "2 5709");
  },
);
