// Lazy buffers: what takes the memory, what must not, and what happens when it cannot be had.

import {
  assert,
  assertEquals,
  assertFalse,
  assertNotEquals,
  assertRejects,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import { CUresult } from "../../../ffi/constants.ts";
import type { DriverApi } from "../../../ffi/cuda.ts";
import type { CudaDevice } from "../../../mod.ts";
import type { LazyBuffer } from "../../../src/buffers/lazy_buffer.ts";
import {
  CudaMemoryResource,
  FailureCallbackResourceAdaptor,
  LimitingResourceAdaptor,
  type MemoryResource,
} from "../../../src/entries/memory.ts";
import { CudaError, DisposedError, OutOfMemoryError } from "../../../src/words/errors.ts";
import { patternBytes } from "../../support/contents.ts";
import { cardOf } from "../../support/display.ts";
import { faultyDriver, watchedDriver } from "../../support/faulty_driver.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";
import { freeBytes, liveNames, testOnDevice, withDevice } from "../../support/with_device.ts";

const REFUSED: Readonly<Record<string, (x: LazyBuffer<"float32">, gpu: CudaDevice) => unknown>> = {
  "copyFrom() of another size": (x, gpu) => x.copyFrom(gpu.alloc("float32", 5)),
  "copyTo() of another size": (x, gpu) => x.copyTo(gpu.alloc("float32", 5)),
  "copyFrom() it of another size": (x, gpu) => gpu.alloc("float32", 5).copyFrom(x),
  "fill() with a text": (x) => x.fill("x" as never),
  "setAt() behind the end": (x) => x.setAt(100, 1),
  "setAt() of a text": (x) => x.setAt(0, "x" as never),
  "at() behind the end": (x) => x.at(100),
  "astype() into another shape": (x, gpu) => x.astype("int8", { into: gpu.alloc("int8", 5) }),
  "upload() of another size": (x) => x.upload(new Float32Array(3)),
  "download() of another size": (x) => x.downloadSync(new Float32Array(3)),
  "writeFile() without a path": (x) => x.writeFile(5 as never),
};

for (const [name, call] of Object.entries(REFUSED)) {
  testOnDevice(`LazyBuffer reads no file and takes no memory for ${name}`, async (gpu) => {
    using folder = new TemporaryFolder();
    const file = folder.write("x.bin", new Uint8Array(400));
    using x = gpu.lazy("float32", 100, { file });
    await assertRejects(async () => await call(x, gpu));
    assertEquals(x.isAllocated, false);
    gpu.disposeAll();
  });
}

Deno.test("LazyBuffer takes no memory when it is planned, looked at or shown", () => {
  const { driver, calls } = watchedDriver();
  return withDevice(async (gpu) => {
    using lazy = gpu.lazy("float32", [8, 8], { label: "x" });
    calls.length = 0;
    assertEquals([lazy.length, lazy.byteLength, lazy.totalByteLength], [64, 256, 256]);
    assertEquals([lazy.kind, lazy.label, lazy.deviceOrdinal], ["device", "x", 0]);
    assertEquals(lazy.view(1).as("uint8").subarray(4).byteLength, 28);
    assertEquals(lazy.strided({ shape: [8], strides: [9] }).length, 8);
    assertEquals(
      Deno.inspect(lazy),
      "LazyBuffer(x, float32[8, 8]) 256 B on device 0, not allocated yet",
    );
    for (const shown of [lazy, lazy.view(0), lazy.transpose()]) await cardOf(shown);
    assertFalse(lazy.isAllocated);
    assertEquals(calls.filter((name) => name.startsWith("cuMem")), []);
    assertEquals(gpu.live().byteLength, 0);
  }, { driver });
});

testOnDevice("LazyBuffer is allocated by its first use, once", (gpu) => {
  const uses: ((lazy: LazyBuffer<"uint8">) => unknown)[] = [
    (lazy) => lazy.fill(1),
    (lazy) => lazy.clear(),
    (lazy) => lazy.uploadSync(new Uint8Array(1000)),
    (lazy) => lazy.subarray(4, 8).fill(1),
    (lazy) => lazy.ensureAllocated(),
  ];
  for (const use of uses) {
    using lazy = gpu.lazy("uint8", 1000);
    use(lazy);
    assert(lazy.isAllocated, String(use));
    assertEquals(gpu.live().byteLength, 1000);
    const { ptr } = lazy;
    assertNotEquals(ptr, 0n);
    assertEquals(lazy.ensureAllocated().ptr, ptr);
  }
});

testOnDevice("LazyBuffer.ptr and span take no memory: they throw before the first use", (gpu) => {
  using lazy = gpu.lazy("uint8", 8, { label: "x" });
  const fields: ((buffer: LazyBuffer<"uint8">) => unknown)[] = [
    ({ ptr }) => ptr,
    ({ span }) => span,
  ];
  for (const field of fields) {
    for (const buffer of [lazy, lazy.subarray(4)]) {
      assertThrows(() => field(buffer), TypeError, "has no memory yet; call ensureAllocated()");
    }
  }
  assertFalse(lazy.isAllocated);
  assertEquals(lazy.ensureAllocated().span.byteLength, 8);
  assertEquals(lazy.subarray(4).ptr, lazy.ptr + 4n);
  lazy.dispose();
  for (const field of fields) assertThrows(() => field(lazy), DisposedError);
});

testOnDevice("LazyBuffer takes the device's memory at first use and gives it back", (gpu) => {
  const before = freeBytes(gpu);
  const lazy = gpu.lazy("uint8", 2 ** 26);
  assertEquals(freeBytes(gpu), before);
  lazy.fill(1);
  assert(freeBytes(gpu) <= before - 2 ** 26);
  lazy.dispose();
  assertEquals(freeBytes(gpu), before);
});

testOnDevice("LazyBuffer that was never used is disposed like any other", (gpu) => {
  const lazy = gpu.lazy("uint8", 1000);
  const view = lazy.subarray(10);
  lazy.dispose();
  assertThrows(() => lazy.ensureAllocated(), DisposedError);
  assertThrows(() => view.fill(1), DisposedError);
  assertEquals([lazy.isAllocated, gpu.live().count], [false, 0]);
});

testOnDevice("LazyBuffer of 0 bytes needs no memory", (gpu) => {
  using lazy = gpu.lazy("uint8", 0);
  assert(lazy.isAllocated);
  lazy.ensureAllocated().fill(1);
  assertEquals(lazy.ptr, 0n);
});

Deno.test("LazyBuffer.ensureAllocated() says all amounts, and a later call tries again", () => {
  const { driver, setFault } = faultyDriver();
  return withDevice((gpu) => {
    using lazy = gpu.lazy("uint8", 1000);
    setFault({ name: "cuMemAllocAsync", status: CUresult.CUDA_ERROR_OUT_OF_MEMORY });
    const error = assertThrows(() => lazy.fill(1), OutOfMemoryError);
    assertEquals([error.requestedBytes, lazy.isAllocated], [1000, false]);
    setFault(undefined);
    assertEquals(lazy.fill(1).downloadSync()[999], 1);
  }, { driver });
});

for (const file of [undefined, new URL(import.meta.url)]) {
  const words = file === undefined ? "" : " with a file";
  Deno.test(`LazyBuffer${words} that its resource's callback uses or disposes takes no memory twice`, () =>
    withDevice(async (gpu) => {
      const ends = [
        (lazy: LazyBuffer) => lazy.dispose(),
        (lazy: LazyBuffer) => lazy.ensureAllocated(),
      ];
      for (const end of ends) {
        const freeBefore = freeBytes(gpu);
        const limited = new LimitingResourceAdaptor(gpu.memoryResource, { limitSize: 512 });
        const other = gpu.alloc("uint8", 512, { resource: limited });
        const resource = new FailureCallbackResourceAdaptor(limited, {
          onFailure() {
            if (other.disposed) return false;
            other.dispose();
            end(lazy);
            return true;
          },
        });
        const lazy = gpu.lazy("uint8", 64, { resource, file });
        if (end === ends[0]) assertThrows(() => lazy.fill(1), DisposedError);
        else assertEquals(await lazy.fill(1).at(0), 1);
        lazy.dispose();
        assertEquals([liveNames(gpu), freeBytes(gpu)], [[], freeBefore]);
      }
    }));
}

testOnDevice("LazyBuffer first used on another stream comes after its own", (gpu) => {
  using other = gpu.createStream();
  for (let round = 0; round < 5; round++) {
    using lazy = gpu.lazy("uint8", 4096);
    lazy.uploadSync(patternBytes(4096, round), { stream: other });
    assertEquals(lazy.downloadSync(), patternBytes(4096, round));
  }
});

testOnDevice("LazyBuffer outlives the stream it was planned on", (gpu) => {
  const stream = gpu.createStream();
  using lazy = gpu.lazy("uint8", 64, { stream });
  stream.dispose();
  using other = gpu.createStream();
  lazy.fill(3, { stream: other });
  assertEquals(lazy.downloadSync()[63], 3);
});

testOnDevice("LazyBuffer.release() gives an address that exists", (gpu) => {
  const { memoryResource, stream } = gpu;
  const lazy = gpu.lazy("uint8", 64, { resource: memoryResource });
  const address = lazy.release();
  assertNotEquals(address, 0n);
  assertEquals(gpu.live().count, 0);
  memoryResource.deallocate(address, 64, stream);
});

Deno.test("LazyBuffer reads its file at first use, the part that it was given", () =>
  withFolder((gpu, folder) => {
    const path = `${folder}/values.bin`;
    const values = Float32Array.from({ length: 100 }, (_, index) => index);
    const uses: ((lazy: LazyBuffer<"float32">) => unknown)[] = [
      (lazy) => lazy.downloadSync(),
      (lazy) => lazy.ensureAllocated(),
      (lazy) => lazy.subarray(1, 2).as("uint8").downloadSync(),
      (lazy) => lazy.astype("int32").dispose(),
      (lazy) => lazy.strided({ shape: [2], strides: [2] }).contiguous().dispose(),
    ];
    for (const use of uses) {
      using lazy = gpu.lazy("float32", [2, 5], { file: path, fileOffset: 40 });
      assertEquals([lazy.file, lazy.label, lazy.isAllocated], [path, "values.bin", false]);
      assertEquals(
        Deno.inspect(lazy),
        "LazyBuffer(values.bin, float32[2, 5]) 40 B on device 0, not loaded yet",
      );
      Deno.writeFileSync(path, new Uint8Array(values.buffer));
      use(lazy);
      assert(lazy.isAllocated, String(use));
      Deno.removeSync(path);
      assertEquals(lazy.downloadSync(), values.slice(10, 20), String(use));
      assertEquals(gpu.live().count, 1);
    }
  }));

Deno.test("LazyBuffer loads without blocking, once for all that ask", () =>
  withFolder(async (gpu, folder) => {
    const path = `${folder}/values.bin`;
    const values = Uint8Array.from({ length: 3 << 20 }, (_, index) => index * index >> 3);
    await Deno.writeFile(path, values);
    using lazy = gpu.lazy("uint8", values.length, { file: new URL(`file://${path}`) });
    const seen: number[] = [];
    const view = lazy.subarray(7);
    const loads = [lazy.load({ onProgress: (done) => void seen.push(done) }), view.load()];
    assertEquals(await Promise.all(loads), [lazy, view]);
    assertEquals(seen.at(-1), values.length);
    assertEquals(await lazy.download(), values);
    assertEquals(await lazy.load(), lazy);
    using early = gpu.lazy("uint8", values.length, { file: path });
    const late = early.load();
    assertEquals(early.subarray(5, 9).downloadSync(), values.slice(5, 9));
    await late;
    assertEquals(await early.download(), values);
    assertEquals(gpu.live().byteLength, 2 * values.length);
    using plain = gpu.lazy("uint8", 4);
    assert((await plain.load()).isAllocated);
  }));

Deno.test("LazyBuffer that cannot read its file says why, takes nothing, and tries again", () =>
  withFolder(async (gpu, folder) => {
    const path = `${folder}/values.bin`;
    using lazy = gpu.lazy("float32", 4, { file: path, fileOffset: 4, label: "weights" });
    const check = async (Kind: new (...args: never[]) => Error, words: string) => {
      assertThrows(() => lazy.fill(1), Kind, words);
      const error = await assertRejects(() => lazy.load(), Kind, words);
      assert(error.message.startsWith("Cannot load LazyBuffer(weights, float32[4]): "), `${error}`);
      assertEquals([lazy.isAllocated, gpu.live().byteLength], [false, 0]);
    };
    await check(Deno.errors.NotFound, "it does not exist");
    Deno.writeFileSync(path, new Uint8Array(19));
    await check(RangeError, `Cannot read 16 bytes at 4 of ${path}: it has 19`);
    Deno.removeSync(path);
    Deno.mkdirSync(path);
    await check(TypeError, "folder");
    Deno.removeSync(path);
    Deno.writeFileSync(path, new Uint8Array(20).fill(0));
    assertEquals(lazy.downloadSync(), new Float32Array(4));
  }));

Deno.test("LazyBuffer passes on an error of the driver, and one of the program's callback", async () => {
  const { driver, setFault } = faultyDriver();
  await withFolder(async (gpu, folder) => {
    const path = `${folder}/values.bin`;
    Deno.writeFileSync(path, new Uint8Array(16));
    using lazy = gpu.lazy("float32", 4, { file: path });
    const call = "cuMemcpyHtoDAsync_v2";
    setFault({ name: call });
    const blocking = assertThrows(() => lazy.ensureAllocated(), CudaError);
    const awaited = await assertRejects(() => lazy.load(), CudaError);
    setFault(undefined);
    for (const error of [blocking, awaited]) {
      assertEquals([error.call, error.code], [call, CUresult.CUDA_ERROR_UNKNOWN]);
    }
    const own = new TypeError("of the program");
    const onProgress = () => {
      throw own;
    };
    assertStrictEquals(await assertRejects(() => lazy.load({ onProgress })), own);
    assertEquals([lazy.isAllocated, gpu.live().byteLength], [false, 0]);
  }, { driver });
});

Deno.test("LazyBuffer whose file is written by a call under way waits for it in load()", () =>
  withFolder(async (gpu, folder) => {
    const path = `${folder}/values.bin`;
    using x = await gpu.upload(new Uint8Array(5 << 20).fill(3));
    using lazy = gpu.lazy("uint8", 5 << 20, { file: path });
    const saved = x.writeFile(path);
    assertThrows(() => lazy.fill(1), TypeError, "await that call, or load()");
    const loaded = lazy.load();
    await Promise.all([saved, loaded]);
    assert(await lazy.equals(x as never));
  }));

Deno.test("LazyBuffer that is disposed, or ended by a signal, while it loads, leaves nothing", () =>
  withFolder(async (gpu, folder) => {
    const path = `${folder}/values.bin`;
    await Deno.writeFile(path, new Uint8Array(64 << 20));
    const lazy = gpu.lazy("uint8", 64 << 20, { file: path });
    const loaded = lazy.load();
    lazy.dispose();
    await assertRejects(() => loaded, DisposedError, "Cannot use LazyBuffer(values.bin, uint8[");
    using other = gpu.lazy("uint8", 64 << 20, { file: path });
    await assertRejects(() => other.load({ signal: AbortSignal.abort("enough") }));
    assertEquals([other.isAllocated, gpu.live().byteLength], [false, 0]);
  }));

Deno.test("LazyBuffer with a file is not loaded in a capture, and is used there when it is", () =>
  withFolder((gpu, folder) => {
    const path = `${folder}/values.bin`;
    Deno.writeFileSync(path, Uint8Array.of(1, 2, 3));
    using lazy = gpu.lazy("uint8", 3, { file: path });
    using x = gpu.zeros("uint8", 3);
    assertThrows(
      () => gpu.capture(() => void x.copyFrom(lazy as never)),
      TypeError,
      "during a capture: it takes its memory at its first use",
    );
    assertFalse(lazy.isAllocated);
    lazy.ensureAllocated();
    using graph = gpu.capture(() => void x.copyFrom(lazy as never));
    graph.launch();
    assertEquals(x.downloadSync(), Uint8Array.of(1, 2, 3));
  }));

testOnDevice("CudaDevice.lazy() checks what it is told of a file", (gpu) => {
  const plan = (options: unknown) => () => gpu.lazy("uint8", 3, options as never);
  assertThrows(plan({ fileOffset: 3 }), TypeError, "needs a file");
  assertThrows(plan({ file: "a", fileOffset: -1 }), RangeError, "file offset");
  assertThrows(plan({ file: 5 }), TypeError, '"file"');
  assertThrows(plan({ file: "" }), TypeError, "path");
  assertEquals(gpu.live().count, 0);
});

/** A device, and a folder that is removed afterwards. */
function withFolder(
  body: (gpu: CudaDevice, folder: string) => unknown,
  options: { readonly driver?: DriverApi } = {},
): Promise<void> {
  return withDevice(async (gpu) => {
    using folder = new TemporaryFolder();
    await body(gpu, folder.path);
  }, options);
}

for (const length of [6, 2 ** 20]) {
  Deno.test(`LazyBuffer refuses ${length} elements that are moved away while it allocates`, () =>
    withDevice(async (gpu) => {
      const array = { now: new Float32Array(length) };
      const base = new CudaMemoryResource(gpu);
      const resource: MemoryResource = {
        context: base.context,
        isDeviceAccessible: true,
        isHostAccessible: false,
        allocate: (byteLength) => {
          structuredClone(array.now.buffer, { transfer: [array.now.buffer] });
          return base.allocate(byteLength);
        },
        deallocate: (address) => base.deallocate(address),
      };
      const calls = [
        (x: LazyBuffer<"float32">) => x.upload(array.now),
        (x: LazyBuffer<"float32">) => x.uploadSync(array.now),
        (x: LazyBuffer<"float32">) => x.set(array.now),
      ];
      for (const call of calls) {
        using x = gpu.lazy("float32", length, { resource });
        array.now = new Float32Array(length);
        await assertRejects(async () => await call(x), TypeError, "its array was moved away");
      }
    }));
}
