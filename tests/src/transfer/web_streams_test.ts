// Buffers as the ends of web streams: every byte in its place, two blocks of host memory, no leftovers.

import {
  assertEquals,
  assertGreaterOrEqual,
  assertLessOrEqual,
  assertRejects,
  assertThrows,
} from "@std/assert";
import { keptMemory } from "../../../src/accounting/kept_memory.ts";
import type { LiveKind } from "../../../src/accounting/ledger.ts";
import type { GpuBuffer } from "../../../src/buffers/gpu_buffer.ts";
import type { CudaDevice } from "../../../src/device/device.ts";
import { CudaMemoryResource, type MemoryResource } from "../../../src/entries/memory.ts";
import { CudaError, DisposedError, OutOfMemoryError } from "../../../src/words/errors.ts";
import { streamOf } from "../../support/byte_streams.ts";
import { runWithCollector } from "../../support/collector_program.ts";
import { assertSameBytes, patternBytes, readBytes, writeBytes } from "../../support/contents.ts";
import { faultyDriver } from "../../support/faulty_driver.ts";
import { HeldStream, testHolding } from "../../support/held_stream.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

const BLOCK_BYTES = 4 * 2 ** 20;

/** A turn of the event loop that no thread has to give. */
const nextTurn = () => new Promise<void>((resolve) => void setImmediate(resolve));

for (const chunkBytes of [1000, 65_537, 5 * 2 ** 20, 10 * 2 ** 20]) {
  testOnDevice(`writable fills a buffer from chunks of ${chunkBytes} bytes`, async (gpu) => {
    const bytes = patternBytes(9 * 2 ** 20 + 4);
    using buffer = gpu.alloc("float32", bytes.byteLength / 4);
    await streamOf(bytes, { chunkBytes }).pipeTo(buffer.writable);
    assertSameBytes(readBytes(buffer), bytes);
  });
}

testOnDevice("writable takes an array behind the download that fills it", async (gpu) => {
  const bytes = patternBytes(9 * 2 ** 20);
  using source = await gpu.upload(bytes);
  using buffer = gpu.alloc("uint8", bytes.byteLength);
  const chunk = new Uint8Array(bytes.byteLength);
  const downloading = source.download(chunk);
  const writer = buffer.writable.getWriter();
  await writer.write(chunk);
  await writer.close();
  await downloading;
  assertSameBytes(readBytes(buffer), bytes);
});

testOnDevice("writable takes two blocks of host memory for any stream", async (gpu) => {
  const bytes = patternBytes(7 * BLOCK_BYTES);
  using buffer = gpu.alloc("uint8", bytes.byteLength);
  let mostBytes = 0;
  const onPull = () => mostBytes = Math.max(mostBytes, pinnedBytes(gpu));
  await streamOf(bytes, { onPull }).pipeTo(buffer.writable);
  assertEquals(mostBytes, 2 * BLOCK_BYTES);
});

testHolding("writable asks for no more while the GPU is busy", async (gpu) => {
  const bytes = patternBytes(7 * BLOCK_BYTES);
  using buffer = gpu.alloc("uint8", bytes.byteLength);
  let pulledBytes = 0;
  const held = new HeldStream(gpu, gpu.stream);
  const onPull = (doneBytes: number) => pulledBytes = doneBytes;
  const piped = streamOf(bytes, { onPull }).pipeTo(buffer.writable);
  for (let turn = 0; turn < 200; turn++) await nextTurn();
  assertLessOrEqual(pulledBytes, 2 * BLOCK_BYTES + 65536);
  held[Symbol.dispose]();
  await piped;
  assertSameBytes(readBytes(buffer), bytes);
});

testOnDevice("writable fills the part that a view shows", async (gpu) => {
  using buffer = gpu.zeros("uint8", 6);
  await streamOf(Uint8Array.of(1, 2)).pipeTo(buffer.subarray(2, 4).writable);
  assertEquals([...readBytes(buffer)], [0, 0, 1, 2, 0, 0]);
});

testOnDevice("writable refuses a stream that ends early", async (gpu) => {
  using buffer = gpu.alloc("float32", 4, { label: "x" });
  await assertRejects(
    () => streamOf(patternBytes(15)).pipeTo(buffer.writable),
    RangeError,
    "Cannot write a stream to DeviceBuffer(x, float32[4]): it ended after 15 of 16 bytes",
  );
  assertEquals(pinnedBytes(gpu), 0);
});

testOnDevice("writable refuses a stream that goes on", async (gpu) => {
  using buffer = gpu.alloc("float32", 4, { label: "x" });
  await assertRejects(
    () => streamOf(patternBytes(17), { chunkBytes: 8 }).pipeTo(buffer.writable),
    RangeError,
    "it goes on after 16 bytes",
  );
  assertEquals(pinnedBytes(gpu), 0);
});

testOnDevice("writable refuses chunks that are not bytes", async (gpu) => {
  using buffer = gpu.alloc("uint8", 4);
  const writer = buffer.writable.getWriter();
  writer.closed.catch(() => {});
  await assertRejects(
    () => writer.write("text" as unknown as Uint8Array),
    TypeError,
    "expected a typed array",
  );
});

for (const isGrowing of [false, true]) {
  const kind = isGrowing ? "growable" : "device";

  Deno.test(`writable of a ${kind} buffer refuses the rest of a chunk that is moved away`, () =>
    withDevice(async (gpu) => {
      const chunk = new Uint8Array(3 * BLOCK_BYTES);
      using fixed = gpu.zeros("uint8", chunk.byteLength);
      using growing = gpu.growable("uint8", { reserveSize: 2 * chunk.byteLength });
      const writing = (isGrowing ? growing : fixed).writable.getWriter().write(chunk);
      await Promise.resolve();
      chunk.buffer.transfer();
      await assertRejects(() => writing, TypeError, "its array was moved away");
      assertEquals(growing.length, 0);
    }));
}

Deno.test("CudaDevice.from() refuses a chunk that is moved away while its memory is allocated", () =>
  withDevice(async (gpu) => {
    const base = new CudaMemoryResource(gpu);
    let chunk = new Uint8Array(24);
    const resource: MemoryResource = {
      context: base.context,
      isDeviceAccessible: true,
      isHostAccessible: false,
      allocate: (byteLength) => {
        chunk.buffer.transfer();
        return base.allocate(byteLength);
      },
      deallocate: (address) => base.deallocate(address),
    };
    let chunkCount = 0;
    const source = new ReadableStream({
      pull: (controller) => {
        if (++chunkCount > 3) controller.close();
        else controller.enqueue(chunk = new Uint8Array(24));
      },
    }, { highWaterMark: 0 });
    await assertRejects(
      () => gpu.from(source, { resource }),
      TypeError,
      "its array was moved away",
    );
  }));

testOnDevice("writable refuses a chunk that is moved away during its download", async (gpu) => {
  using source = gpu.zeros("uint8", 20 * 2 ** 20);
  using buffer = gpu.growable("uint8", { reserveSize: "64 MiB" });
  const chunk = new Uint8Array(source.byteLength);
  const downloading = source.download(chunk);
  const writing = buffer.writable.getWriter().write(chunk);
  await Promise.resolve();
  chunk.buffer.transfer();
  const [, { status }] = await Promise.allSettled([downloading, writing]); // a GPU may be done
  assertEquals(status, "rejected");
});

testOnDevice("writable gives its host memory back when the source fails", async (gpu) => {
  using buffer = gpu.alloc("uint8", 3 * BLOCK_BYTES);
  const failure = new Error("the line is dead");
  const source = streamOf(patternBytes(2 * BLOCK_BYTES + 5), { failure });
  await assertRejects(() => source.pipeTo(buffer.writable), Error, "the line is dead");
  assertEquals(pinnedBytes(gpu), 0);
});

testOnDevice("writable gives its host memory back when it is aborted", async (gpu) => {
  using buffer = gpu.alloc("uint8", 8);
  const writer = buffer.writable.getWriter();
  writer.closed.catch(() => {});
  await writer.write(Uint8Array.of(1, 2));
  await writer.abort(new Error("enough"));
  assertEquals(pinnedBytes(gpu), 0);
});

testOnDevice("writable fails when the buffer is disposed meanwhile", async (gpu) => {
  const buffer = gpu.alloc("uint8", 8);
  const writer = buffer.writable.getWriter();
  writer.closed.catch(() => {});
  await writer.write(Uint8Array.of(1, 2));
  buffer.dispose();
  await assertRejects(() => writer.write(Uint8Array.of(3)), DisposedError);
  assertEquals(pinnedBytes(gpu), 0);
});

Deno.test("writable passes on what the driver says, and leaves nothing", () => {
  const { driver, setFault } = faultyDriver();
  return withDevice(async (gpu) => {
    using buffer = gpu.alloc("uint8", 8);
    setFault({ name: "cuMemcpyAsync" });
    await assertRejects(() => streamOf(patternBytes(8)).pipeTo(buffer.writable), CudaError);
    setFault(undefined);
    assertEquals(pinnedBytes(gpu), 0);
  }, { driver });
});

testOnDevice("readable gives all bytes in order", async (gpu) => {
  const bytes = patternBytes(2 * 2 ** 20 + 12);
  using buffer = gpu.alloc("float32", bytes.byteLength / 4);
  writeBytes(buffer, bytes);
  assertSameBytes(await new Response(buffer.readable).bytes(), bytes);
});

testOnDevice("readable of an empty buffer is an empty stream", async (gpu) => {
  using buffer = gpu.alloc("float32", 0);
  assertEquals((await Array.fromAsync(buffer.readable)).length, 0);
});

testOnDevice("readable copies no more than one chunk ahead", async (gpu) => {
  using buffer = gpu.zeros("uint8", 8 * 2 ** 20);
  const reader = buffer.readable.getReader();
  const { copiedBytes } = gpu.context;
  await reader.read();
  for (let turn = 0; turn < 50; turn++) await nextTurn();
  assertLessOrEqual(gpu.context.copiedBytes - copiedBytes, 3 * 2 ** 20);
  await reader.cancel();
});

testOnDevice("readable and writable leave other work its turn", async (gpu) => {
  using source = gpu.zeros("uint8", 4 * 2 ** 20);
  using copy = gpu.zeros("uint8", 4 * BLOCK_BYTES);
  for (
    const move of [
      () => Array.fromAsync(source.readable),
      () => streamOf(patternBytes(4 * BLOCK_BYTES)).pipeTo(copy.writable),
    ]
  ) {
    let turns = 0;
    const count = async () => {
      while (turns >= 0) await nextTurn().then(() => turns += turns < 0 ? 0 : 1);
    };
    const counting = count();
    await move();
    const seen = turns;
    turns = -1;
    await counting;
    assertGreaterOrEqual(seen, 3);
  }
});

const READ_BYTES = 4 * 2 ** 20;

/** Buffers of which a handler of a server disposes what it made when it returns the response. */
const DISPOSED: Readonly<Record<string, (gpu: CudaDevice) => { b: GpuBuffer; owner: Disposable }>> =
  {
    "a device buffer": (gpu) => {
      const b = gpu.alloc("uint8", READ_BYTES).fillPattern(Uint8Array.of(1, 2, 3, 4));
      return { b, owner: b };
    },
    "a view": (gpu) => {
      const owner = gpu.alloc("uint8", 2 * READ_BYTES).fillPattern(Uint8Array.of(1, 2, 3, 4));
      return { b: owner.subarray(READ_BYTES), owner };
    },
    "page-locked memory": (gpu) => {
      const b = gpu.pinned("uint8", READ_BYTES);
      b.array.forEach((_, i, array) => array[i] = 1 + i % 4);
      return { b, owner: b };
    },
    "a growable buffer": (gpu) => {
      const b = gpu.growable("uint8", { reserveSize: "64 MiB", shape: READ_BYTES });
      return { b: b.fillPattern(Uint8Array.of(1, 2, 3, 4)), owner: b };
    },
  };

for (const [name, make] of Object.entries(DISPOSED)) {
  Deno.test(`readable of ${name} that is disposed meanwhile has every byte, and gives them back`, () =>
    withDevice(async (gpu) => {
      const { b, owner } = make(gpu);
      const { readable, kind } = b;
      b.dispose();
      owner[Symbol.dispose]();
      assertEquals([gpu.live().count, keptBytes(gpu, kind) > 0], [0, true]);
      using other = gpu.alloc("uint8", 2 * READ_BYTES).fill(9); // not in the same place
      const bytes = await new Response(readable).bytes();
      assertEquals(bytes.byteLength, READ_BYTES);
      assertEquals(bytes.every((byte, i) => byte === 1 + i % 4), true);
      assertEquals(await other.at(-1), 9);
      assertEquals(keptBytes(gpu, kind), 0);
    }));
}

testOnDevice("readable of a disposed buffer follows the transfer that fills it", async (gpu) => {
  const bytes = patternBytes(40 * 2 ** 20);
  const buffer = gpu.alloc("uint8", bytes.byteLength);
  const uploading = buffer.upload(bytes);
  const { readable } = buffer;
  buffer.dispose();
  assertSameBytes(await new Response(readable).bytes(), bytes);
  await uploading;
  assertEquals(keptBytes(gpu), 0);
});

testOnDevice("readable of a disposed buffer is named where memory runs out", async (gpu) => {
  gpu.limit("6 MiB");
  const buffer = gpu.zeros("uint8", READ_BYTES);
  const { readable } = buffer;
  buffer.dispose();
  const words = "no live buffers, 4 MiB disposed, but in use by a transfer, a stream or a graph";
  assertThrows(() => gpu.alloc("uint8", READ_BYTES), OutOfMemoryError, words);
  await readable.cancel();
  using again = gpu.alloc("uint8", READ_BYTES);
  assertEquals(again.length, READ_BYTES);
  gpu.limit(undefined);
});

testOnDevice("readable that is cancelled gives back a buffer that was disposed", async (gpu) => {
  const buffer = gpu.zeros("uint8", READ_BYTES);
  const reader = buffer.readable.getReader();
  await reader.read();
  buffer.dispose();
  assertEquals(keptBytes(gpu), READ_BYTES);
  await reader.cancel();
  assertEquals(keptBytes(gpu), 0);
});

Deno.test("readable that nobody reads gives back a buffer that was disposed, when it is collected", async () => {
  const { result, warnings } = await runWithCollector(`
    const kept = () => gpu.memory.cachedBytes - cachedBefore;
    const cachedBefore = gpu.memory.cachedBytes;
    function forget() {
      const buffer = gpu.zeros("uint8", 4 * 2 ** 20, { resource });
      void buffer.readable;
      buffer.dispose();
      return kept();
    }
    const whileOpen = forget();
    await collect();
    return [whileOpen, kept(), lost()];
  `);
  assertEquals({ result, warnings }, { result: [4 * 2 ** 20, 0, 0], warnings: [] });
});

testOnDevice("readable hinders nobody while its buffer is there", async (gpu) => {
  using buffer = gpu.growable("uint8", { reserveSize: "64 MiB", shape: 3 * READ_BYTES });
  buffer.fill(1);
  const { readable } = buffer;
  buffer.shrink(READ_BYTES);
  assertEquals((await new Response(readable).bytes()).byteLength, 2 * READ_BYTES);
  using given = gpu.zeros("uint8", READ_BYTES);
  const reader = given.readable.getReader();
  await reader.read();
  const { memoryResource } = given;
  const address = given.release();
  await assertRejects(async () => {
    while (!(await reader.read()).done);
  }, DisposedError);
  using _again = gpu.fromHandle(address, READ_BYTES, { resource: memoryResource });
});

testOnDevice("readable of a lazy buffer fails that was disposed before its use", async (gpu) => {
  const buffer = gpu.lazy("uint8", READ_BYTES, { label: "x" });
  const { readable } = buffer;
  buffer.dispose();
  await assertRejects(() => new Response(readable).bytes(), DisposedError, "x");
});

testOnDevice("readable of one buffer fills another through a compressor", async (gpu) => {
  const bytes = patternBytes(100_000);
  using source = await gpu.upload(bytes);
  using copy = gpu.alloc("uint8", bytes.byteLength);
  await source.readable
    .pipeThrough(new CompressionStream("gzip"))
    .pipeThrough(new DecompressionStream("gzip"))
    .pipeTo(copy.writable);
  assertSameBytes(readBytes(copy), bytes);
});

testOnDevice("GrowableBuffer.writable appends, and grows", async (gpu) => {
  using buffer = gpu.growable("uint8", { reserveSize: "64 MiB", shape: 3 });
  buffer.fill(9);
  const bytes = patternBytes(2 * BLOCK_BYTES + 1);
  await streamOf(bytes).pipeTo(buffer.writable);
  assertEquals(buffer.length, 3 + bytes.byteLength);
  assertSameBytes(readBytes(buffer.subarray(3)), bytes);
  assertEquals([...readBytes(buffer.subarray(0, 3))], [9, 9, 9]);
});

testOnDevice("GrowableBuffer.writable of half an element keeps the others", async (gpu) => {
  using buffer = gpu.growable("float32", { reserveSize: "64 MiB", shape: 2 });
  await assertRejects(
    () => streamOf(patternBytes(10)).pipeTo(buffer.writable),
    RangeError,
    "elements of 4 bytes",
  );
  assertEquals(buffer.length, 2);
});

/** Bytes of released blocks that something keeps. */
function keptBytes(gpu: CudaDevice, kind: LiveKind = "device"): number {
  return keptMemory(gpu.context.ledger, kind).byteLength;
}

/** Page-locked bytes that something holds. */
function pinnedBytes(gpu: CudaDevice): number {
  const pinned = gpu.live().objects.filter(({ kind }) => kind === "pinned");
  return pinned.reduce((sum, { byteLength }) => sum + byteLength, 0);
}
