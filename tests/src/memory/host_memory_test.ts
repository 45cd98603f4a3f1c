// Checks which JavaScript memory a transfer accepts, before any address is taken.

import { assertEquals, assertRejects, assertStrictEquals, assertThrows } from "@std/assert";
import { dtypeOf } from "../../../src/dtype.ts";
import { bytesOf, type HostMemory } from "../../../src/memory/host_memory.ts";
import { testOnDevice } from "../../support/with_device.ts";

Deno.test("bytesOf() shows a typed array's own bytes, offset included", () => {
  const buffer = new ArrayBuffer(64);
  const bytes = bytesOf(new Float32Array(buffer, 8, 4), "upload");
  assertStrictEquals(bytes.buffer, buffer);
  assertEquals([bytes.byteOffset, bytes.byteLength], [8, 16]);
});

const ACCEPTED: Record<string, HostMemory> = {
  "an ArrayBuffer": new ArrayBuffer(8),
  "a SharedArrayBuffer": new SharedArrayBuffer(8),
  "a view of shared memory": new Int16Array(new SharedArrayBuffer(8)),
  "a DataView": new DataView(new ArrayBuffer(16), 4, 8),
  "clamped bytes": new Uint8ClampedArray(8),
  "64-bit integers": new BigInt64Array(1),
};

/** An array that says that it is longer than it is, or of another kind. */
class Liar extends Float32Array<ArrayBuffer> {
  /** Shows two elements. */
  static of2(first: number, second: number): Liar {
    return new Liar(Float32Array.of(first, second).buffer);
  }
  override get byteLength(): never {
    return 1e6 as never;
  }
  override get byteOffset(): never {
    return 64 as never;
  }
  override get buffer(): never {
    return new ArrayBuffer(1) as never;
  }
  override get [Symbol.toStringTag](): never {
    return "Uint8Array" as never;
  }
}

Deno.test("bytesOf() believes no subclass, and no property of an array", () => {
  const liar = new Liar(new ArrayBuffer(32), 8, 2);
  const bytes = bytesOf(liar, "upload");
  assertEquals([bytes.byteOffset, bytes.byteLength, bytes.buffer.byteLength], [8, 8, 32]);
  assertEquals(dtypeOf(liar), "float32");
  const plain = new Uint8Array(8);
  Object.defineProperty(plain, "byteLength", { value: 4096 });
  Object.defineProperty(plain, "length", { value: 4096 });
  assertEquals(bytesOf(plain, "upload").byteLength, 8);
  const buffer = new ArrayBuffer(8);
  Object.defineProperty(buffer, "byteLength", { value: 4096 });
  assertEquals(bytesOf(buffer, "upload").byteLength, 8);
});

Deno.test("bytesOf() tells ordinary memory from shared memory, whatever its class seems to be", () => {
  const growable = new SharedArrayBuffer(8, { maxByteLength: 16 });
  const resizable = new ArrayBuffer(8, { maxByteLength: 16 });
  const detached = new ArrayBuffer(8);
  detached.transfer();
  for (const prototype of [ArrayBuffer.prototype, SharedArrayBuffer.prototype, null]) {
    for (const buffer of [new ArrayBuffer(8), new SharedArrayBuffer(8)]) {
      const view = new Uint8Array(buffer, 4);
      Object.setPrototypeOf(buffer, prototype);
      assertEquals(bytesOf(buffer, "upload").length, 8);
      assertEquals(bytesOf(view, "upload").length, 4);
    }
    for (const [buffer, why] of [[growable, "growable"], [resizable, "resizable"]] as const) {
      Object.setPrototypeOf(buffer, prototype);
      assertThrows(() => bytesOf(buffer, "upload"), TypeError, why);
      assertThrows(() => bytesOf(new Uint8Array(buffer), "upload"), TypeError, why);
    }
    Object.setPrototypeOf(detached, prototype);
    assertThrows(() => bytesOf(detached, "upload"), TypeError, "detached");
    const fake = Object.create(prototype) as ArrayBuffer;
    assertThrows(() => bytesOf(fake, "upload"), TypeError, "expected a typed array");
  }
});

testOnDevice("upload() and download() move what an array really has", async (gpu) => {
  using two = gpu.zeros("float32", 2);
  await two.upload(Liar.of2(1, 2));
  assertEquals([...await two.download()], [1, 2]);
  const target = Liar.of2(0, 0);
  await two.download(target);
  assertEquals([target[0], target[1]], [1, 2]);
  using large = gpu.zeros("float32", 250_000);
  await assertRejects(() => large.upload(Liar.of2(1, 2)), RangeError, "the array has 8 bytes");
  assertThrows(() => large.downloadSync(Liar.of2(1, 2)), RangeError, "the array has 8 bytes");
  using made = await gpu.upload(Liar.of2(3, 4));
  assertEquals([made.dtype, ...await made.download()], ["float32", 3, 4]);
});

for (const [name, memory] of Object.entries(ACCEPTED)) {
  Deno.test(`bytesOf() takes ${name}`, () => {
    assertEquals(bytesOf(memory, "upload").byteLength, 8);
  });
}

function detached(): Uint8Array<ArrayBuffer> {
  const array = new Uint8Array(8);
  array.buffer.transfer();
  return array;
}

const REFUSED: Record<string, [memory: () => unknown, message: string]> = {
  "a detached array": [detached, "Cannot upload: the array is detached: it was moved away"],
  "a detached buffer": [() => detached().buffer, "is detached"],
  "a resizable buffer": [
    () => new ArrayBuffer(8, { maxByteLength: 16 }),
    "copy it by slice() first",
  ],
  "a view of a resizable buffer": [
    () => new Uint8Array(new ArrayBuffer(8, { maxByteLength: 16 }), 0, 4),
    "copy it by slice() first",
  ],
  "growable shared memory": [
    () => new Uint8Array(new SharedArrayBuffer(8, { maxByteLength: 16 })),
    "copy it by slice() first",
  ],
  "an ordinary array": [() => [1, 2, 3], "expected a typed array or an ArrayBuffer"],
  "a string": [() => "bytes", "expected a typed array or an ArrayBuffer"],
  "null": [() => null, "expected a typed array or an ArrayBuffer"],
  "undefined": [() => undefined, "expected a typed array or an ArrayBuffer"],
};

for (const [name, [memory, message]] of Object.entries(REFUSED)) {
  Deno.test(`bytesOf() refuses ${name}`, () => {
    assertThrows(() => bytesOf(memory() as HostMemory, "upload"), TypeError, message);
  });
}

Deno.test("bytesOf() says what to make of a list of numbers", () => {
  const words =
    "it was given a list, expected a typed array or an ArrayBuffer, such as new Float32Array";
  assertThrows(() => bytesOf([1, 2] as never, "upload"), TypeError, words);
});

Deno.test("bytesOf() says where options go, when it is given some", () => {
  const words =
    "given an object, expected a typed array or an ArrayBuffer; options come second, as";
  for (const options of [{ stream: 1 }, { signal: undefined }, { onProgress: () => {} }]) {
    assertThrows(() => bytesOf(options as never, "download"), TypeError, words);
  }
  const error = assertThrows(() => bytesOf({} as never, "download"), TypeError);
  assertEquals(error.message.includes("options"), false);
});

testOnDevice("bytesOf() says how buffers are copied, when it is given one", (gpu) => {
  using x = gpu.zeros("float32", 2, { label: "x" });
  const words =
    "given DeviceBuffer(x, float32[2]), expected a typed array or an ArrayBuffer; copyFrom()";
  assertThrows(() => bytesOf(x as never, "upload"), TypeError, words);
});
