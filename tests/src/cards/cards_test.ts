// The cards of everything beside buffers: devices, streams, events, tables, resources, errors, results.

import { assert, assertEquals, assertMatch, assertStringIncludes, assertThrows } from "@std/assert";
import * as mod from "../../../mod.ts";
import * as kernels from "../../../src/entries/kernels.ts";
import * as memory from "../../../src/entries/memory.ts";
import * as numpy from "../../../src/entries/numpy.ts";
import { CachingResourceAdaptor } from "../../../src/resources/caching_resource_adaptor.ts";
import { DisposedError, OutOfMemoryError } from "../../../src/words/errors.ts";
import { Parts } from "../../../src/words/parts.ts";
import { bandwidthResult } from "../../support/bandwidth_result.ts";
import { cardOf } from "../../support/display.ts";
import { openTestDevice } from "../../support/driver.ts";
import { HeldStream, testHolding } from "../../support/held_stream.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

Deno.test("every class that shows itself on a console has a card", () => {
  const without = Object.entries({ ...mod, ...kernels, ...memory, ...numpy }).filter(
    ([, value]) => {
      if (typeof value !== "function" || !value.prototype) return false;
      const has = (symbol: string): boolean => Symbol.for(symbol) in value.prototype;
      return has("Deno.customInspect") && !has("Jupyter.display");
    },
  );
  // A number for a launch has nothing but its text.
  assertEquals(without.map(([name]) => name), ["KernelNumber"]);
});

Deno.test("every class that has a card is no [object Object] in a text", () => {
  const without = Object.entries({ ...mod, ...memory }).filter(([, value]) => {
    if (typeof value !== "function" || !value.prototype) return false;
    const hasCard = Symbol.for("Jupyter.display") in value.prototype;
    return hasCard && value.prototype.toString === Object.prototype.toString;
  });
  assertEquals(without.map(([name]) => name), []);
});

testOnDevice("BufferSummary says in a text what its card says", async (gpu) => {
  using x = gpu.zeros("float32", 4, { label: "x" });
  const summary = await x.describe();
  assertStringIncludes(`${summary}`, "BufferSummary x: float32[4]");
  assertEquals(`${summary}`, Deno.inspect(summary));
});

testOnDevice("cards of buffers without elements promise no address and no values", async (gpu) => {
  using empty = gpu.alloc("float32", [0, 5]);
  using planned = gpu.lazy("float32", 4);
  assertMatch((await cardOf(empty)).text, /address: none\n/);
  assertMatch((await cardOf(planned)).text, /address: none yet\n/);
  assertStringIncludes((await cardOf(await empty.describe())).text, "no values");
});

testOnDevice("a buffer's card shows NaN, infinities and the sign of zero", async (gpu) => {
  using x = await gpu.upload([NaN, Infinity, -Infinity, -0, 0], { dtype: "bfloat16" });
  assertMatch((await cardOf(x)).text, /NaN +Infinity +-Infinity +-0 +0$/m);
});

Deno.test("every memory resource has a card", () => {
  const without = Object.entries({ ...mod, ...memory }).filter(([, value]) => {
    if (typeof value !== "function" || !value.prototype) return false;
    const isResource = "allocate" in value.prototype && "deallocate" in value.prototype;
    return isResource && !(Symbol.for("Jupyter.display") in value.prototype);
  });
  assertEquals(without.map(([name]) => name), []);
});

testOnDevice("CudaDevice shows name, memory and bus", async (gpu) => {
  using _x = gpu.alloc("uint8", 2 ** 20);
  const { text, html } = await cardOf(gpu);
  assertStringIncludes(text, `CudaDevice ${gpu.name}: device 0, compute capability`);
  assertStringIncludes(text, "live 1 MiB");
  assertStringIncludes(text, "bus: ");
  assert(html.includes(gpu.name));
});

Deno.test("CudaDevice shows that it was disposed", async () => {
  const gpu = openTestDevice();
  gpu.dispose();
  assertStringIncludes((await cardOf(gpu)).text, "[disposed]");
});

testOnDevice("CudaDevice shows how much of a limit is used", async (gpu) => {
  gpu.limit("64 MiB");
  using _x = gpu.zeros("uint8", 16 * 2 ** 20);
  const { html, text } = await cardOf(gpu);
  gpu.limit(undefined);
  assertStringIncludes(text, "limit 64 MiB\n[██████████······");
  assertStringIncludes(text, "live 16 MiB, · left 48 MiB");
  assertStringIncludes(html, "width:25%");
});

testOnDevice("gpu.memory and gpu.info show themselves", async (gpu) => {
  using _x = gpu.zeros("uint8", 2 ** 20);
  assertStringIncludes((await cardOf(gpu.memory)).text, "live 1 MiB");
  assertStringIncludes((await cardOf(gpu.info)).text, `uuid: ${gpu.info.uuid}`);
});

testOnDevice("OverlapTrace shows its pieces", async (gpu) => {
  using a = gpu.zeros("uint8", 2 ** 20);
  using b = gpu.zeros("uint8", 2 ** 20);
  const trace = await gpu.traceOverlap((trace) => {
    trace.run("first copy", gpu.stream, () => a.copyFrom(b));
  });
  const { text } = await cardOf(trace);
  assertMatch(text, /first copy +default +0 s/);
  assertEquals(text.includes("modelled: "), gpu.isSimulated);
});

testOnDevice("a tensor's card carries the tensor's name and that of its file", async (gpu) => {
  using folder = new TemporaryFolder();
  const path = folder.pathOf("model.safetensors");
  const name = "model.layers.36.self_attn.q_proj.weight";
  using made = gpu.zeros("float32", [2, 2]);
  await gpu.saveSafetensors(path, { [name]: made });
  using model = await gpu.loadSafetensors(path);
  const { text } = await cardOf(model.tensor(name));
  assertStringIncludes(text, `DeviceBuffer, a view of model.safetensors ${name}: float32[2, 2]`);
  assertEquals((await model.tensor(name).describe()).name, name);
});

testHolding("CudaStream shows whether it is working", async (gpu) => {
  using stream = gpu.createStream({ label: "loader", priority: "high" });
  assertStringIncludes((await cardOf(stream)).text, "CudaStream loader: idle; device 0, high");
  {
    using _held = new HeldStream(gpu, stream);
    assertStringIncludes((await cardOf(stream)).text, "working on what was queued");
  }
  stream.dispose();
  assertStringIncludes((await cardOf(stream)).text, "[disposed]");
});

testHolding("CudaEvent shows whether the GPU has passed it", async (gpu) => {
  using stream = gpu.createStream();
  {
    using _held = new HeldStream(gpu, stream);
    using event = stream.record();
    assertStringIncludes((await cardOf(event)).text, "the GPU has not come to it yet");
  }
  const event = stream.record();
  await event.synchronize();
  assertStringIncludes((await cardOf(event)).text, "passed");
  event.dispose();
  assertStringIncludes((await cardOf(event)).text, "[disposed]");
});

testOnDevice("LiveTable shows the largest first, and the sum of all others", async (gpu) => {
  const blocks = Array.from(
    { length: 40 },
    (_, index) => gpu.alloc("uint8", 1024 * (index + 1), { label: `block ${index}` }),
  );
  const { text } = await cardOf(gpu.live());
  assert(text.indexOf("block 39") < text.indexOf("block 38"));
  assert(!text.includes("block 9 "));
  assertStringIncludes(text, "and 10 more with 55 KiB");
  for (const block of blocks) block.dispose();
});

testOnDevice("LiveTable shows that nothing is held", async (gpu) => {
  assertEquals((await cardOf(gpu.live())).text, "LiveTable 0 live: nothing is held");
});

testOnDevice("a resource shows its counters and those of its upstreams", async (gpu) => {
  using caching = new CachingResourceAdaptor(gpu.memoryResource);
  using _x = gpu.alloc("uint8", 1000, { resource: caching });
  const { text } = await cardOf(caching);
  assertStringIncludes(text, "CachingResourceAdaptor");
  assertStringIncludes(text, "used 1 KiB");
  assertStringIncludes(text, `over ${gpu.memoryResource.constructor.name}`);
});

testOnDevice("OutOfMemoryError shows what was asked for and who holds memory", async (gpu) => {
  using _held = gpu.alloc("uint8", 2 ** 20, { label: "held" });
  try {
    gpu.alloc("uint8", 2 ** 50);
  } catch (error) {
    assert(error instanceof OutOfMemoryError);
    const { text } = await cardOf(error);
    assertStringIncludes(text, "asked for: 1 PiB");
    assertStringIncludes(text, "held");
    return;
  }
  throw new Error("expected the allocation to fail");
});

testOnDevice("errors are shown on consoles with their stack, fields and cause", (gpu) => {
  using _held = gpu.alloc("uint8", 2 ** 20, { label: "held" });
  const error = assertThrows(() => gpu.alloc("uint8", 2 ** 50), OutOfMemoryError);
  const text = Deno.inspect(error);
  assertStringIncludes(text, "OutOfMemoryError: Cannot allocate 1 PiB on device 0");
  assertStringIncludes(text, "cards_test.ts:");
  assertStringIncludes(text, "requestedBytes: 1125899906842624");
  const x = gpu.alloc("uint8", 1, { label: "x" });
  x.dispose();
  assertStringIncludes(
    Deno.inspect(assertThrows(() => x.clear(), DisposedError)),
    "cards_test.ts:",
  );
});

testOnDevice("DisposedError shows its message", async (gpu) => {
  const x = gpu.alloc("uint8", 1, { label: "x" });
  x.dispose();
  try {
    x.clear();
  } catch (error) {
    assertStringIncludes((await cardOf(error)).text, "it was disposed");
  }
});

testOnDevice("Timing shows GPU time and speed", async (gpu) => {
  using a = gpu.zeros("uint8", 2 ** 20);
  using b = gpu.alloc("uint8", 2 ** 20);
  const { text } = await cardOf(await gpu.time(() => b.copyFrom(a)));
  const clock = gpu.isSimulated ? "modelled: no hardware was measured" : "on the GPU's clock";
  assertStringIncludes(text, clock);
  assertStringIncludes(text, "copied: 1 MiB");
});

Deno.test("a bandwidth result shows a table of speeds and the fits in words", async () => {
  const { text } = await cardOf(new mod.BandwidthResult(bandwidthResult()));
  assertStringIncludes(text, "NVIDIA H200: bandwidth in GB/s");
  assertStringIncludes(text, "H2D pinned: 5.1 µs + bytes / 55.6 GB/s");
});

Deno.test("results are plain data beside their cards", () => {
  const times = { gpuSeconds: 1, hostSeconds: 2, copiedBytes: 0, gigabytesPerSecond: 0 };
  const fields = { ...times, isModelled: false };
  const timing = new mod.Timing(new Parts(fields));
  assertEquals(JSON.stringify(timing), JSON.stringify(fields));
  assertEquals(structuredClone(timing) as unknown, fields);
  assertEquals(Object.keys(timing), Object.keys(fields));
  assertStringIncludes(Deno.inspect(timing), "Timing 1.0 s: on the GPU's clock");
});

Deno.test("a model shows its tensors, largest first, and how many more there are", async () => {
  using folder = new TemporaryFolder();
  const path = folder.pathOf("model.safetensors");
  await withDevice(async (gpu) => {
    using stack = new DisposableStack();
    const tensors = Array.from({ length: 25 }, (_, index) => {
      return [`layer.${index}.weight`, stack.use(gpu.zeros("float32", 256 * (index + 1)))] as const;
    });
    await gpu.saveSafetensors(path, Object.fromEntries(tensors), { metadata: { format: "pt" } });
    using model = await gpu.loadSafetensors(path);
    const { text } = await cardOf(model);
    assertStringIncludes(text, "SafetensorsModel 25 tensors: 325 KiB of device memory");
    assertStringIncludes(text, "format: pt");
    assertStringIncludes(text, "float32[6400]");
    assert(text.indexOf("layer.24.weight") < text.indexOf("layer.23.weight"));
    assertStringIncludes(text, "and 5 smaller ones");
    model.dispose();
    assertStringIncludes((await cardOf(model)).text, "[disposed]");
  });
});

testOnDevice("an archive shows its arrays, largest first", async (gpu) => {
  using folder = new TemporaryFolder();
  const path = folder.pathOf("arrays.npz");
  using small = gpu.zeros("int8", 3);
  using large = gpu.zeros("float32", [64, 4]);
  await numpy.saveNpz(path, { small, large });
  using arrays = await numpy.loadNpz(path, gpu);
  const { text } = await cardOf(arrays);
  assertStringIncludes(text, "NpzArrays 2 arrays: 1 KiB of device memory");
  assertMatch(text, /large +float32\[64, 4\] +1 KiB\nsmall +int8\[3\] +3 B/);
  arrays.dispose();
  assertStringIncludes((await cardOf(arrays)).text, "[disposed]");
});

testOnDevice("MemoryTrack and MemoryReport show what they counted", async (gpu) => {
  using track = gpu.track("epoch 1");
  using _x = gpu.alloc("uint8", 2048, { label: "x" });
  assertStringIncludes((await cardOf(track)).text, "MemoryTrack epoch 1: 2 KiB held now");
  assertStringIncludes((await cardOf(gpu.report())).text, "live 2 KiB");
});
