// What every memory resource must do, as one suite: `testResource({ name, make })` runs it.
// It goes through buffers, as programs do, so it holds for resources that wrap others too.

import { assert, assertEquals, assertThrows } from "@std/assert";
import type { DeviceBuffer } from "../../src/buffers/device_buffer.ts";
import type { CudaDevice } from "../../src/device/device.ts";
import type { MemoryResource } from "../../src/memory/memory_resource.ts";
import { OutOfMemoryError } from "../../src/words/errors.ts";
import { assertSameBytes, patternBytes, readBytes, writeBytes } from "./contents.ts";
import { testOnTwoDevices } from "./driver.ts";
import { watchedDriver } from "./faulty_driver.ts";
import { inTurn } from "./test_unless.ts";
import { withDevice } from "./with_device.ts";

/** A resource under test. */
export interface ResourceSubject {
  /** Its class, for the names of the tests. */
  readonly name: string;
  /** Makes one; it is disposed at the end of each test when it can be. */
  readonly make: (gpu: CudaDevice) => MemoryResource & Partial<Disposable>;
  /** Largest block that it must be able to give; 4 MiB by default. */
  readonly largestBytes?: number;
  /** Whether a program wrote it, which need not check sizes: buffers do. */
  readonly isForeign?: boolean;
}

/** No machine has a PiB. */
const TOO_MANY_BYTES = 2 ** 50;

/** Sizes around the borders at which resources round. */
const SIZES = [1, 255, 256, 257, 511, 512, 4095, 4096, 65537, 2 ** 20 - 1, 2 ** 20, 2 ** 21 + 1];

/** Registers the suite for one resource. */
export function testResource(subject: ResourceSubject): void {
  const { name, make, largestBytes = 4 * 2 ** 20, isForeign = false } = subject;
  const sizes = SIZES.filter((size) => size <= largestBytes);

  type Body = (resource: MemoryResource, gpu: CudaDevice) => void;

  /** Runs a body with a resource, and disposes the resource before the device is checked. */
  function runWith(body: Body): Promise<void> {
    return withDevice((gpu) => {
      const resource = make(gpu);
      try {
        body(resource, gpu);
      } finally {
        gpu.synchronizeSync();
        resource[Symbol.dispose]?.();
      }
    });
  }

  function testWith(criterion: string, body: Body): void {
    Deno.test(`${name} ${criterion}`, () => runWith(body));
  }

  testWith("belongs to the context it was made for", (resource, gpu) => {
    assertEquals(resource.context, gpu.context);
    assert(resource.isDeviceAccessible || resource.isHostAccessible);
  });

  testWith("allocate() gives blocks, aligned to 256, that do not overlap", (resource, gpu) => {
    using blocks = new DisposableStack();
    const made = sizes.map((size) => blocks.use(gpu.alloc("uint8", size, { resource })));
    for (const { ptr } of made) assertEquals(ptr % 256n, 0n);
    const sorted = made.toSorted((a, b) => Number(a.ptr - b.ptr));
    for (const [index, block] of sorted.entries()) {
      const next = sorted[index + 1];
      if (next !== undefined) assert(block.ptr + BigInt(block.byteLength) <= next.ptr);
    }
  });

  if (!isForeign) {
    testWith("allocate() rejects wrong sizes, and counts nothing", (resource, gpu) => {
      const before = Deno.inspect(resource);
      for (const size of ["5", 5n, 1.5, -1, NaN, Infinity, 2 ** 53, null, undefined, {}, [4]]) {
        const allocate = () => resource.allocate(size as never, gpu.stream);
        assertThrows(allocate, RangeError, "Cannot use byteLength ");
      }
      assertThrows(() => resource.allocate(0, gpu.stream), RangeError, "Cannot allocate 0 bytes");
      assertEquals(Deno.inspect(resource), before);
    });
  }

  testWith("allocate() gives memory that holds every byte of every block", (resource, gpu) => {
    using blocks = new DisposableStack();
    const made = sizes.map((size) => blocks.use(gpu.alloc("uint8", size, { resource })));
    for (const [seed, block] of made.entries()) {
      writeBytes(block, patternBytes(block.byteLength, seed));
    }
    for (const [seed, block] of made.entries()) {
      assertSameBytes(readBytes(block), patternBytes(block.byteLength, seed));
    }
  });

  testWith("deallocate() disturbs no other block, in any order", (resource, gpu) => {
    const live = new Map<number, DeviceBuffer<"uint8">>();
    for (let step = 0; step < 120; step++) {
      const key = (step * 7) % 17;
      const former = live.get(key);
      if (former !== undefined) {
        assertSameBytes(readBytes(former), patternBytes(former.byteLength, key));
        former.dispose();
      }
      const block = gpu.alloc("uint8", sizes[step % (sizes.length - 2)] ?? 1, { resource });
      writeBytes(block, patternBytes(block.byteLength, key));
      live.set(key, block);
    }
    for (const [key, block] of live) {
      assertSameBytes(readBytes(block), patternBytes(block.byteLength, key));
      block.dispose();
    }
  });

  testWith("deallocate() comes after what is queued on the block", (resource, gpu) => {
    using target = gpu.zeros("uint8", 4096);
    const source = gpu.alloc("uint8", 4096, { resource });
    writeBytes(source, patternBytes(4096));
    target.copyFrom(source);
    source.dispose();
    using next = gpu.alloc("uint8", 4096, { resource });
    next.fill(0xff);
    assertSameBytes(target.downloadSync(), patternBytes(4096));
  });

  testWith("gives a block to another stream only behind the first one's work", (resource, gpu) => {
    using other = gpu.createStream();
    for (let round = 0; round < 10; round++) {
      const stream = round % 2 === 0 ? gpu.stream : other;
      using block = gpu.alloc("uint32", 1024, { resource, stream });
      block.fill(round, { stream });
      assertEquals(block.downloadSync(undefined, { stream })[1023], round);
    }
  });

  Deno.test(
    inTurn(`${name} allocate() throws for what no machine has; the next call works`),
    () =>
      runWith((resource, gpu) => {
        const before = gpu.live().count;
        assertThrows(() => gpu.alloc("uint8", TOO_MANY_BYTES, { resource }), OutOfMemoryError);
        assertEquals(gpu.live().count, before);
        using block = gpu.zeros("uint8", 256, { resource });
        assertSameBytes(readBytes(block), new Uint8Array(256));
      }),
  );

  Deno.test(`${name} is not asked for 0 bytes`, () => {
    const { driver, calls } = watchedDriver();
    return withDevice((gpu) => {
      const resource = make(gpu);
      using _stream = gpu.createStream(); // whatever is lazy about contexts and streams is over
      calls.length = 0;
      gpu.alloc("float32", 0, { resource }).dispose();
      gpu.alloc("float32", [3, 0], { resource }).dispose();
      assertEquals(calls.filter((call) => call !== "cuCtxGetCurrent"), []);
      resource[Symbol.dispose]?.();
    }, { driver });
  });

  testOnTwoDevices(`${name} refuses a stream of another device`, (first, second) => {
    const resource = make(first);
    assertThrows(
      () => second.alloc("uint8", 16, { resource }),
      TypeError,
      "use a stream and a resource of one device",
    );
    resource[Symbol.dispose]?.(); // a pool is a live object itself
    assertEquals([first.live().count, second.live().count], [0, 0]);
  });
}
