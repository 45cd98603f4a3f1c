// The cards of buffers and views: what they show, and that looking changes nothing.

import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { type CudaDevice, CudaDevice as Device } from "../../../src/device/device.ts";
import { cardOf } from "../../support/display.ts";
import { testDriver } from "../../support/driver.ts";
import { HeldStream, testHolding } from "../../support/held_stream.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

testOnDevice("DeviceBuffer shows label, type, size, place, address and all values", async (gpu) => {
  using x = await gpu.upload(new Int32Array([1, 2, 3, 4, 5, 60]), { shape: [2, 3], label: "x" });
  const { text } = await cardOf(x);
  assertStringIncludes(text, "DeviceBuffer x: int32[2, 3], 24 B in device memory, device 0");
  assertStringIncludes(text, `address: 0x${x.ptr.toString(16)}`);
  assertStringIncludes(text, "values:\n1  2   3\n4  5  60");
});

testOnDevice("DeviceBuffer shows the first of many values, and that more follow", async (gpu) => {
  using x = await gpu.upload(Float32Array.from({ length: 5000 }, (_, index) => index / 2));
  const { text } = await cardOf(x);
  assertMatch(text, /first and last values:\n +0 +0\.5 +1 [^]*\n +…\n[^]* 2499\.5$/);
});

for (
  const [dtype, value, shown] of [
    ["bfloat16", 1.5, "1.5"],
    ["float16", 0.25, "0.25"],
    ["uint64", 2n ** 63n, "9223372036854775808"],
    ["bool", true, "true"],
    ["float32", NaN, "NaN"],
  ] as const
) {
  testOnDevice(`DeviceBuffer shows ${dtype} values`, async (gpu) => {
    using x = gpu.alloc(dtype, 2);
    x.fill(value as never);
    assertStringIncludes((await cardOf(x)).text, `values:\n${shown}  ${shown}`);
  });
}

Deno.test("DeviceBuffer copies no more than 4 KiB to be shown, and the last values too", async () => {
  const copied: number[] = [];
  const api = testDriver();
  const driver: typeof api = {
    ...api,
    cuMemcpyDtoHAsync_v2: (...args) => {
      copied.push(Number(args[2]));
      return api.cuMemcpyDtoHAsync_v2(...args);
    },
  };
  await withDevice(async (gpu) => {
    using x = gpu.zeros("uint8", 1_000_000);
    await gpu.synchronize();
    await cardOf(x);
    const bytes = copied.reduce((sum, count) => sum + count, 0);
    assert(bytes >= 48 && bytes <= 4096, `${bytes} bytes`);
  }, { driver });
});

testHolding("DeviceBuffer does not wait for queued work to be shown", async (gpu) => {
  using x = gpu.zeros("float32", 16, { label: "busy" });
  await gpu.synchronize();
  using stream = gpu.createStream();
  using _held = new HeldStream(gpu, stream);
  x.fill(1, { stream });
  assertStringIncludes((await cardOf(x)).text, "values: work is still queued on it");
});

Deno.test("DeviceBuffer shows itself when its values cannot be read", async () => {
  const driver = { ...testDriver(), cuMemcpyDtoHAsync_v2: () => 700 };
  using gpu = Device.open(0, { driver });
  using x = gpu.zeros("float32", 4, { label: "x" });
  gpu.synchronizeSync();
  assertStringIncludes((await cardOf(x)).text, "values: cannot be read: ");
});

testOnDevice("DeviceBuffer shows that it was disposed", async (gpu) => {
  const x = gpu.alloc("float32", 4, { label: "x" });
  x.dispose();
  const { text } = await cardOf(x);
  assertEquals(text, "DeviceBuffer x [disposed]: float32[4], 16 B in device memory, device 0");
});

testOnDevice("a view shows its place in its block", async (gpu) => {
  using x = gpu.zeros("float32", [4, 256], { label: "x" });
  using row = x.view(1);
  const { text } = await cardOf(row);
  assertStringIncludes(text, "DeviceBuffer, a view x: float32[256]");
  assertStringIncludes(text, "before 1 KiB, █ this view 1 KiB, ░ after 2 KiB");
});

testOnDevice("StridedView shows its place and its steps", async (gpu) => {
  using x = gpu.zeros("float32", [2, 3], { label: "x" });
  const { text } = await cardOf(x.transpose());
  assertStringIncludes(text, "StridedView, a view x: float32[3, 2]");
  assertStringIncludes(text, "in steps of: [1, 3]");
});

Deno.test("PitchedBuffer shows itself, its address and its pitch, and no place in a block", () =>
  withDevice(async (gpu) => {
    using image = gpu.pitched("uint8", [48, 64], { label: "image" });
    const { text } = await cardOf(image);
    assertStringIncludes(text, "PitchedBuffer image: uint8[48, 64]");
    assertStringIncludes(text, `pitch: ${image.pitchBytes} bytes a row`);
    assertEquals(text.includes("this view"), false);
  }));

testOnDevice("a transposed view shows the first and last values of a download", async (gpu) => {
  using x = await gpu.upload(Float32Array.from({ length: 21 * 30 }, (_, index) => index), {
    shape: [21, 30],
  });
  const view = x.transpose();
  const values = await view.download();
  const rows = [0, 1, 2, 3, undefined, 28, 29];
  const columns = [0, 1, 2, 3, 4, undefined, 18, 19, 20];
  const wanted = rows.map((row) =>
    row === undefined
      ? "…"
      : columns.map((column) => column === undefined ? "…" : values[row * 21 + column]).join(" ")
  );
  const { text } = await cardOf(view);
  const shown = text.slice(text.indexOf("first and last values:")).split("\n").slice(1)
    .map((line) => line.trim().replaceAll(/ +/g, " "));
  assertEquals(shown, wanted);
});

testOnDevice("a reversed part of a three-axis view shows its own values", async (gpu) => {
  using x = await gpu.upload(Int32Array.from({ length: 24 }, (_, index) => index), {
    shape: [2, 3, 4],
  });
  const view = x.strided({ shape: [2, 2, 2], strides: [12, -4, 2], offset: 8 });
  const text = (await cardOf(view)).text.replaceAll(/ +/g, " ");
  const values = await view.download();
  const lines = [0, 2, 4, 6].map((at) => `${values[at]} ${values[at + 1]}`);
  for (const line of lines) assertStringIncludes(text, line);
});

testOnDevice("DeviceBuffer shows which values nobody has written", async (gpu) => {
  using x = gpu.alloc("float32", [3, 2], { label: "x" });
  await gpu.synchronize();
  const { text } = await cardOf(x);
  if (gpu.isSimulated) assertStringIncludes(text, "values: not written yet");
  assert(!text.includes("cannot be read"));
});

testOnDevice("values are shown in scientific form where they would be long", async (gpu) => {
  using x = await gpu.upload(new Float32Array([3.4028234663852886e38, -1.5e-12, 16777216]));
  assertStringIncludes((await cardOf(x)).text, "3.40282e+38  -1.5e-12  16777216");
});

testOnDevice("every kind of buffer has a card that names its memory", async (gpu) => {
  for (const [make, place] of KINDS) {
    using buffer = make(gpu);
    const { text, html } = await cardOf(buffer);
    assertStringIncludes(text, place);
    assert(html.includes("vk-card"));
  }
});

const KINDS: readonly (readonly [(gpu: CudaDevice) => Disposable, string])[] = [
  [(gpu) => gpu.pinned("float32", 4), "page-locked host memory"],
  [(gpu) => gpu.staged("float32", 4), "device memory"],
  [(gpu) => gpu.mapped("float32", 4), "host memory that the GPU reads in place"],
  [(gpu) => gpu.managed("float32", 4), "memory that migrates"],
  [(gpu) => gpu.lazy("float32", 4), "none before its first use"],
  [(gpu) => gpu.growable("uint8", { reserveSize: "64 MiB" }), "device memory that grows in place"],
];

testOnDevice("GpuBuffer.describe() finds lowest, highest and mean of few values", async (gpu) => {
  using x = await gpu.upload(new Float32Array([0, 1, 2, 5, NaN]), { label: "x" });
  const summary = await x.describe();
  const { lowest, highest, mean, zeroCount, nonFiniteCount, sampleCount } = summary;
  assertEquals([lowest, highest, mean], [0, 5, 2]);
  assertEquals([zeroCount, nonFiniteCount, sampleCount], [1, 1, 5]);
  assertEquals(summary.histogram.reduce((sum, count) => sum + count, 0), 4);
  assertStringIncludes((await cardOf(summary)).text, "all 5 values");
});

Deno.test("GpuBuffer.describe() samples a large buffer from its first to its last element", () =>
  withDevice(async (gpu) => {
    const values = new Float32Array(1_000_000);
    values[0] = -7;
    values[values.length - 1] = 9;
    using x = await gpu.upload(values);
    const { sampleCount, lowest, highest } = await x.describe();
    assertEquals([sampleCount, lowest, highest], [65_536, -7, 9]);
  }));

Deno.test("GpuBuffer.describe() finds deviation and quartiles, and no error where all was seen", () =>
  withDevice(async (gpu) => {
    using x = await gpu.upload(new Float64Array([1, 2, 3, 4, 10]));
    const { deviation, quartiles, meanError } = await x.describe();
    assertEquals([quartiles, meanError], [[2, 3, 4], 0]);
    assertAlmostEquals(deviation ?? NaN, Math.sqrt(10), 1e-12);
  }));

Deno.test("GpuBuffer.describe() says an error that covers the true mean of a rising buffer", () =>
  withDevice(async (gpu) => {
    const length = 300_000;
    const values = Float64Array.from({ length }, (_, index) => (index / length) ** 2);
    using x = await gpu.upload(values);
    const summary = await x.describe();
    const { mean, meanError } = summary;
    const truth = values.reduce((sum, value) => sum + value / length, 0);
    assert(mean !== null && meanError !== null && meanError > 0);
    assert(Math.abs(mean - truth) < 3 * meanError, `${mean} ± ${meanError}, true ${truth}`);
    assertMatch((await cardOf(summary)).text, /mean: 0\.\d+ ± 0\.\d+/);
  }));

testOnDevice("GpuBuffer.describe() describes a buffer without finite values", async (gpu) => {
  using x = await gpu.upload(new Float32Array([NaN, Infinity]));
  const summary = await x.describe();
  assertEquals([summary.lowest, summary.histogram], [null, []]);
  assertStringIncludes((await cardOf(summary)).text, "2 NaN or infinite");
});
