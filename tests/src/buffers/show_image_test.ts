// Buffers as pictures: that each pixel has the colour of its element, and which shapes are refused.

import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { inflateSync } from "node:zlib";
import type { BufferImage } from "../../../mod.ts";
import { cardOf } from "../../support/display.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

/** Reads a PNG of four channels back; every chunk is looked at. */
function pixelsOf({ png, width, height }: BufferImage): (x: number, y: number) => number[] {
  const view = new DataView(png.buffer);
  const chunks = new Map<string, Uint8Array<ArrayBuffer>>();
  for (let at = 8; at < png.length;) {
    const length = view.getUint32(at);
    const type = new TextDecoder().decode(png.subarray(at + 4, at + 8));
    chunks.set(type, png.subarray(at + 8, at + 8 + length));
    at += 12 + length;
  }
  const header = chunks.get("IHDR") ?? new Uint8Array();
  const headerView = new DataView(header.buffer, header.byteOffset);
  assertEquals([headerView.getUint32(0), headerView.getUint32(4)], [width, height]);
  const lines = inflateSync(chunks.get("IDAT") ?? new Uint8Array());
  assertEquals(lines.length, height * (1 + 4 * width));
  return (x, y) => {
    const line = lines.subarray(y * (1 + 4 * width)).subarray(0, 1 + 4 * width);
    assertEquals(line[0], 1); // each byte is the difference to the pixel on the left
    return [1, 2, 3, 4].map((channel) =>
      line.filter((_, at) => at <= 4 * x + 4 && at % 4 === channel % 4 && at > 0)
        .reduce((sum, byte) => (sum + byte) % 256, 0)
    );
  };
}

testOnDevice("GpuBuffer.showImage() gives the range's ends the colours' ends", async (gpu) => {
  using x = await gpu.upload(new Float32Array([5, 7, NaN, 9]), { shape: [2, 2], label: "x" });
  const image = await x.showImage({ colors: "gray" });
  const at = pixelsOf(image);
  const [right, bottom] = [image.width - 1, image.height - 1];
  assertEquals(image.range, [5, 9]);
  assertEquals(at(0, 0), [0, 0, 0, 255]);
  assertEquals(at(right, 0), [128, 128, 128, 255]);
  assertEquals(at(0, bottom), [0, 0, 0, 0]);
  assertEquals(at(right, bottom), [255, 255, 255, 255]);
  const { html, text } = await cardOf(image);
  assertStringIncludes(html, '<img src="data:image/png;base64,');
  assertEquals(text.match(/colours from 5 to 9/g)?.length, 1);
});

testOnDevice(
  "StridedView.showImage() draws CHW as HWC, and other axes in their order",
  async (gpu) => {
    const pixels = Uint8Array.from({ length: 2 * 3 * 3 }, (_, at) => 10 * at);
    using image = await gpu.upload(pixels, { shape: [2, 3, 3] });
    using planes = gpu.alloc("uint8", [3, 2, 3]);
    image.transpose([2, 0, 1]).copyTo(planes);
    const [expected, shown] = [
      await image.showImage(),
      await planes.transpose([1, 2, 0]).showImage(),
    ];
    assertEquals(shown.png, expected.png);
    const turned = await image.transpose([1, 0, 2]).showImage();
    assertEquals([turned.width, turned.height], [shown.height, shown.width]);
    await assertRejects(
      () => planes.transpose().range(0, { end: 1 }).view(0).view(0).showImage(),
      RangeError,
    );
  },
);

testOnDevice("GpuBuffer.showImage() tells the largest numbers from the smallest", async (gpu) => {
  for (const unit of [Number.MAX_VALUE, Number.MIN_VALUE]) {
    using x = await gpu.upload(new Float64Array([-unit, 0, 0, unit]), { shape: [2, 2] });
    const image = await x.showImage({ colors: "gray" });
    const at = pixelsOf(image);
    const corners = [at(0, 0), at(image.width - 1, 0), at(image.width - 1, image.height - 1)];
    assertEquals(corners.map(([red]) => red), [0, 128, 255]);
  }
});

testOnDevice("GpuBuffer.showImage() draws channels as they are", async (gpu) => {
  using x = await gpu.upload(new Uint8Array([255, 0, 10, 1, 2, 3]), { shape: [1, 2, 3] });
  const image = await x.showImage();
  const at = pixelsOf(image);
  assertEquals(at(0, 0), [255, 0, 10, 255]);
  assertEquals(at(image.width - 1, image.height - 1), [1, 2, 3, 255]);
  assertEquals(image.colors, null);
});

Deno.test("GpuBuffer.showImage() shows each n-th row and column of a large buffer", () =>
  withDevice(async (gpu) => {
    const [rows, columns] = [1030, 515];
    const values = Int32Array.from({ length: rows * columns }, (_, index) => index);
    using x = await gpu.upload(values, { shape: [rows, columns] });
    const image = await x.showImage({ colors: "gray", range: [0, rows * columns] });
    assertEquals([image.width, image.height, image.step], [172, 344, [3, 3]]);
    const at = pixelsOf(image);
    for (const [x, y] of [[0, 0], [171, 343], [100, 200], [7, 343]] as const) {
      const shade = Math.round(255 * (3 * y * columns + 3 * x) / (rows * columns));
      assertEquals(at(x, y), [shade, shade, shade, 255]);
    }
  }));

testOnDevice("GpuBuffer.showImage() keeps the few rows of a wide buffer", async (gpu) => {
  using x = gpu.zeros("uint8", [5, 4000]);
  const { width, height, step } = await x.showImage();
  assertEquals([width, height, step], [500, 5, [1, 8]]);
});

Deno.test("GpuBuffer.showImage() takes colours away from zero for values on both sides of it", () =>
  withDevice(async (gpu) => {
    using x = await gpu.upload(new Float32Array([-1, 0, 4]), { shape: [1, 3] });
    const { colors, range } = await x.showImage();
    assertEquals([colors, range], ["balance", [-4, 4]]);
    using same = await gpu.upload(new Float32Array([2, 2]), { shape: [1, 2] });
    assert((await same.showImage()).png.length > 0);
  }));

Deno.test("GpuBuffer.showImage() rejects shapes of no picture, and wrong ranges", () =>
  withDevice(async (gpu) => {
    using flat = gpu.zeros("float32", 12);
    using deep = gpu.zeros("float32", [2, 3, 2]);
    using empty = gpu.zeros("float32", [0, 3]);
    await assertRejects(() => flat.showImage(), RangeError, "expected rows and columns");
    await assertRejects(() => deep.showImage(), RangeError, "1, 3 or 4 channels");
    await assertRejects(() => empty.showImage(), RangeError, "it is empty");
    const square = flat.reshape([3, 4]);
    for (const range of [[1, 1], [2, 1], [NaN, 1], [1], [-Infinity, 1], [0, Infinity]]) {
      await assertRejects(() => square.showImage({ range: range as never }), RangeError, "lower");
    }
  }));
