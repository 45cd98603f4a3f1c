// What programs log: JSON of the kit's objects has their figures or their name, and a copy for a
// Worker that would lose them is refused.

import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { StatisticsResourceAdaptor } from "../../src/entries/memory.ts";
import { loadNpz, saveNpz } from "../../src/entries/numpy.ts";
import { simulateDriver } from "../../src/entries/simulated.ts";
import { CudaDevice } from "../../mod.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { testOnDevice } from "../support/with_device.ts";

function parsed(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

testOnDevice("JSON.stringify() names what lives on a device", async (gpu) => {
  using folder = new TemporaryFolder();
  using x = gpu.zeros("float32", 4, { label: "x" });
  using stream = gpu.createStream({ label: "loader" });
  using event = stream.record({ label: "loaded" });
  using graph = gpu.capture(() => void x.fill(1), { label: "step" });
  using packed = await gpu.uploadAll([new Float32Array(4)]);
  using module = await gpu.loadModule(".version 7.0\n.target sm_70\n.address_size 64\n");
  await saveNpz(folder.pathOf("x.npz"), { x });
  using arrays = await loadNpz(folder.pathOf("x.npz"), gpu);
  assertEquals(
    parsed([x, stream, event, graph, packed, module, arrays]),
    [
      "DeviceBuffer(x, float32[4])",
      "CudaStream(loader)",
      "CudaEvent(loaded)",
      "CudaGraph(step)",
      "PackedBuffers(1 buffer, 16 B)",
      `${module}`,
      "NpzArrays(1 array, 16 B)",
    ],
  );
});

Deno.test("JSON.stringify() names a group and its work", async () => {
  using gpus = CudaDevice.openMany([0, 1], { driver: simulateDriver({ deviceCount: 2 }) });
  await using group = await gpus.group({ label: "world" });
  const work = group.barrier();
  assertEquals(parsed({ group, work }), {
    group: "DeviceGroup(world, 2 devices)",
    work: "GroupWork(barrier on DeviceGroup(world, 2 devices))",
  });
  await work;
  assertEquals(parsed(gpus), [...gpus].map(parsed));
});

testOnDevice("JSON.stringify() has the figures of a device, its memory, its resources", (gpu) => {
  gpu.timeline.start();
  using resource = new DisposableStack();
  const statistics = new StatisticsResourceAdaptor(gpu.memoryResource);
  resource.use(gpu.alloc("float32", 256, { resource: statistics }));
  using track = gpu.track("epoch");
  assertEquals(parsed(gpu.info), { ...gpu.info, bus: gpu.info.bus } as unknown);
  assertEquals(parsed(gpu.timeline), gpu.timeline.events().map(parsed));
  const { upstream, ...own } = parsed(statistics) as Record<string, unknown>;
  assertEquals(own, {
    name: "StatisticsResourceAdaptor",
    device: 0,
    currentBytes: 1024,
    peakBytes: 1024,
    totalBytes: 1024,
    currentCount: 1,
    peakCount: 1,
    totalCount: 1,
  });
  assertEquals((upstream as { name: string }).name, gpu.memoryResource.constructor.name);
  assertEquals(parsed(track), {
    label: "epoch",
    currentBytes: 0,
    peakBytes: 0,
    totalBytes: 0,
    currentCount: 0,
    peakCount: 0,
    totalCount: 0,
  });
});

testOnDevice("JSON.stringify() of a picture has the PNG file in base64", async (gpu) => {
  using x = gpu.iota("float32", 4);
  const image = await x.reshape([2, 2]).showImage();
  const { png } = parsed(image) as { png: string };
  assertEquals(Uint8Array.fromBase64(png), image.png);
});

testOnDevice("structuredClone() refuses tables, tracks, timelines, which it would empty", (gpu) => {
  using track = gpu.track("epoch");
  for (
    const [object, words] of [
      [gpu.live(), /pass on its objects/],
      [track, /pass on its toJSON\(\)/],
      [gpu.timeline, /pass on its events\(\)/],
    ] as const
  ) {
    const error = assertThrows(() => structuredClone(object));
    assert(error instanceof DOMException);
    assertMatch(error.message, words);
  }
  assertEquals(structuredClone(gpu.live().objects), gpu.live().objects);
});
