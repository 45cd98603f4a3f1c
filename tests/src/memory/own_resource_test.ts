// Memory resources that a program wrote itself, and got wrong: each mistake ends in a sentence.

import {
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import type { GpuBuffer, LazyBuffer, MemoryResource } from "../../../mod.ts";
import type { CudaDevice } from "../../../src/device/device.ts";
import {
  AlignedResourceAdaptor,
  CachingResourceAdaptor,
  CudaMemoryResource,
  FailureCallbackResourceAdaptor,
  LimitingResourceAdaptor,
  LoggingResourceAdaptor,
  ManagedMemoryResource,
  MappedHostMemoryResource,
  PinnedHostMemoryResource,
  StatisticsResourceAdaptor,
  TrackingResourceAdaptor,
} from "../../../src/entries/memory.ts";
import { DisposedError, MemoryLimitError, OutOfMemoryError } from "../../../src/words/errors.ts";
import { cardOf } from "../../support/display.ts";
import { LedgerResource } from "../../support/ledger_resource.ts";
import { captureWarnings } from "../../support/warnings.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

const MEBIBYTE = 2 ** 20;

/** Gives what it is told to, and counts what comes back. */
class MyArena implements MemoryResource {
  readonly context;
  readonly isDeviceAccessible = true;
  readonly isHostAccessible = false;
  readonly given: unknown;
  readonly returned: bigint[] = [];

  constructor({ context }: CudaDevice, given: unknown) {
    this.context = context;
    this.given = given;
  }

  allocate(): bigint {
    if (this.given instanceof Error) throw this.given;
    return this.given as bigint;
  }

  deallocate(address: bigint): void {
    this.returned.push(address);
  }
}

const NO_ADDRESSES: readonly [unknown, string][] = [
  [4096, "the number 4096, expected an address as a bigint"],
  [undefined, "undefined, expected an address as a bigint"],
  [null, "null, expected an address as a bigint"],
  ["0x100", '"0x100", expected an address as a bigint'],
  [0n, "the bigint 0, expected an address as a bigint"],
  [-256n, "the bigint -256, expected an address as a bigint"],
  [2n ** 64n, "the bigint 18446744073709551616, expected an address as a bigint"],
];

testOnDevice("A resource of the program's that returns no address is refused by name", (gpu) => {
  for (const [given, words] of NO_ADDRESSES) {
    const resource = new MyArena(gpu, given);
    assertThrows(
      () => gpu.alloc("uint8", 100, { resource }),
      TypeError,
      `Cannot allocate from MyArena: its allocate() returned ${words}`,
    );
    assertEquals(resource.returned, []);
  }
});

testOnDevice("A resource of the program's may be an object without a prototype", async (gpu) => {
  const upstream = new CudaMemoryResource(gpu);
  let given = 4096 as unknown as bigint;
  const resource: MemoryResource = Object.assign(Object.create(null), {
    context: gpu.context,
    isDeviceAccessible: true,
    isHostAccessible: false,
    allocate: () => given,
    deallocate: upstream.deallocate.bind(upstream),
  });
  assertThrows(
    () => gpu.alloc("uint8", 100, { resource }),
    TypeError,
    "Cannot allocate from Object: its allocate() returned the number 4096",
  );
  given = upstream.allocate(100);
  using buffer = gpu.alloc("uint8", 100, { resource });
  assertStringIncludes((await cardOf(buffer)).text, "from: Object");
  const cached = new CachingResourceAdaptor(resource);
  assertStringIncludes(Deno.inspect(cached), "over Object");
});

Deno.test("A resource of the program's that returns a promise is refused, and the promise too", () =>
  withDevice((gpu) => {
    for (const given of [Promise.resolve(256n), Promise.reject(new Error("mine"))]) {
      const resource = new MyArena(gpu, given);
      const words = "returned a promise, which has to be awaited, expected an address";
      assertThrows(() => gpu.alloc("uint8", 100, { resource }), TypeError, words);
    }
  }));

testOnDevice("A resource of the program's has a misaligned address back", (gpu) => {
  const resource = new MyArena(gpu, 0x1_0000_0040n);
  const words = "returned 0x100000040, expected a multiple of 256";
  assertThrows(() => gpu.alloc("uint8", 100, { resource }), TypeError, words);
  assertEquals(resource.returned, [0x1_0000_0040n]);
});

testOnDevice("Adaptors over a program's resource count nothing that is no address", (gpu) => {
  const upstream = new MyArena(gpu, 4096);
  const statistics = new StatisticsResourceAdaptor(upstream);
  using caching = new CachingResourceAdaptor(upstream);
  const adaptors = [
    statistics,
    caching,
    new AlignedResourceAdaptor(upstream, { alignmentSize: 4096 }),
    new FailureCallbackResourceAdaptor(upstream, { onFailure: () => false }),
    new LimitingResourceAdaptor(upstream, { limitSize: "1 MiB" }),
    new LoggingResourceAdaptor(upstream, { write: () => {} }),
    new TrackingResourceAdaptor(upstream),
  ];
  for (const resource of adaptors) {
    assertThrows(
      () => gpu.alloc("uint8", 100, { resource }),
      TypeError,
      "Cannot allocate from MyArena: its allocate() returned the number 4096",
    );
  }
  assertEquals([statistics.currentCount, caching.usedCount], [0, 0]);
});

Deno.test("A resource of the program's that is out of memory is not explained by the device", () =>
  withDevice((gpu) => {
    const amounts = { requestedBytes: 100, heldBytes: 4096, limitBytes: 4096 };
    const shortage = new MemoryLimitError("MyArena", {
      ...amounts,
      remedy: "have MyArena hold more",
    });
    const resource = new MyArena(gpu, shortage);
    const error = assertThrows(() => gpu.alloc("uint8", 100, { resource }), OutOfMemoryError);
    assertEquals(error.cause, shortage);
    assertStringIncludes(error.hint, "have MyArena hold more, or dispose");
  }));

testOnDevice("CudaDevice.alloc() counts memory as what its resource gives", (gpu) => {
  const resources = {
    device: new CudaMemoryResource(gpu),
    pinned: new PinnedHostMemoryResource(gpu),
    mapped: new MappedHostMemoryResource(gpu),
    managed: new ManagedMemoryResource(gpu),
  };
  for (const [kind, resource] of Object.entries(resources)) {
    for (const source of [resource, new StatisticsResourceAdaptor(resource)]) {
      const before = gpu.live({ kind: kind as "device" }).byteLength;
      using buffer = gpu.alloc("uint8", 4096, { resource: source });
      using planned = gpu.lazy("uint8", 4096, { resource: source });
      planned.ensureAllocated();
      assertEquals([buffer.kind, planned.kind], [kind, kind]);
      assertEquals(gpu.live({ kind: kind as "device" }).byteLength, before + 8192);
    }
  }
});

testOnDevice("CudaDevice.alloc() over host memory passes no limit on device memory", (gpu) => {
  gpu.limit(0);
  using buffer = gpu.alloc("uint8", 4096, { resource: new PinnedHostMemoryResource(gpu) });
  assertEquals(buffer.fill(1).byteLength, 4096);
  gpu.limit(undefined);
});

/** Calls that allocate, one way or another, after they were given a buffer. */
const ALLOCATING: Readonly<
  Record<string, (x: GpuBuffer<"float32">, lazy: LazyBuffer<"float32">) => unknown>
> = {
  "astype()": (x) => x.astype("int32"),
  "astype() of a view": (x) => x.reshape([2, 4]).transpose().astype("int32"),
  "astype() into a lazy buffer": (x, lazy) => x.astype("int32", { into: lazy.as("int32") }),
  "slice()": (x) => x.slice(),
  "contiguous()": (x) => x.reshape([2, 4]).transpose().contiguous(),
  "copyTo() a lazy buffer": (x, lazy) => x.copyTo(lazy),
  "copyFrom() a lazy buffer": (x, lazy) => x.copyFrom(lazy),
  "equals() a lazy buffer": (x, lazy) => x.equals(lazy),
  "fillPattern() of a lazy buffer": (x, lazy) => x.fillPattern(lazy.subarray(0, 3)),
};

for (const [name, call] of Object.entries(ALLOCATING)) {
  Deno.test(`GpuBuffer.${name} uses no memory that the resource made the program dispose`, () =>
    withDevice(async (gpu) => {
      using cache = new CachingResourceAdaptor(gpu.memoryResource);
      let x: GpuBuffer<"float32"> | undefined;
      let next: GpuBuffer<"float32"> | undefined;
      const evicting: MemoryResource = {
        context: gpu.context,
        isDeviceAccessible: true,
        isHostAccessible: false,
        allocate: (byteLength, stream) => {
          if (x?.disposed === false) {
            x.dispose();
            next = gpu.alloc("float32", 8, { resource: cache }).fill(2); // the same memory
          }
          return cache.allocate(byteLength, stream);
        },
        deallocate: (address, byteLength, stream) => cache.deallocate(address, byteLength, stream),
      };
      using lazy = gpu.lazy("float32", 8, { resource: evicting });
      const used = x = gpu.alloc("float32", 8, { resource: evicting }).fill(1);
      await assertRejects(async () => await call(used, lazy), DisposedError);
      assertEquals(await next?.download(), new Float32Array(8).fill(2));
      next?.dispose();
    }));
}

Deno.test("A program is warned of its own resource that keeps memory which a failed call does not need", () =>
  withDevice((gpu) => {
    using cache = new CachingResourceAdaptor(new LedgerResource(gpu));
    gpu.alloc("uint8", 16 * MEBIBYTE, { resource: cache }).dispose();
    gpu.limit("20 MiB");
    const resource = new LedgerResource(gpu);
    resource.fault.deallocate = new Error("planted");
    const ofLimit = captureWarnings(() => {
      using _x = gpu.alloc("uint8", 10 * MEBIBYTE, { resource }); // fits when the cache is trimmed
      resource.fault.deallocate = undefined;
    });
    assertEquals(ofLimit, ["vramkit: 10 MiB of device memory could not be given back: planted"]);
    assertEquals(resource.live.size, 1);
    resource.fault.deallocate = new Error("planted");
    const lazy = gpu.lazy("uint8", 100, { resource });
    const allocate = resource.allocate.bind(resource);
    resource.allocate = (byteLength) => {
      lazy.dispose();
      return allocate(byteLength);
    };
    const ofLazy = captureWarnings(() => assertThrows(() => lazy.fill(1), DisposedError));
    assertEquals(ofLazy, ["vramkit: 100 B of device memory could not be given back: planted"]);
    assertMatch(`${gpu.report()}`, /kept by no one: lost +10 MiB/);
  }));

Deno.test("A resource of the program's that gives back in a promise is warned of, through adaptors too", () =>
  withDevice(async (gpu) => {
    class Late extends MyArena {
      override async deallocate(address: bigint): Promise<void> {
        super.deallocate(address);
        await undefined;
        throw new Error("nobody waits for this");
      }
    }
    for (const adapt of [(resource: MyArena) => resource, overAll]) {
      const resource = new Late(gpu, gpu.memoryResource.allocate(256, gpu.stream));
      const buffer = gpu.alloc("uint8", 256, { resource: adapt(resource) });
      const warnings = captureWarnings(() => buffer.dispose());
      assertStringIncludes(warnings.join(), "Late.deallocate() returned a promise");
      for (const address of resource.returned) {
        gpu.memoryResource.deallocate(address, 256, gpu.stream);
      }
      await undefined;
    }
  }));

/** Every adaptor that hands memory straight on. */
function overAll(upstream: MemoryResource): MemoryResource {
  const failing = new FailureCallbackResourceAdaptor(upstream, { onFailure: () => false });
  const limiting = new LimitingResourceAdaptor(failing, { limitSize: "1 MiB" });
  const aligned = new AlignedResourceAdaptor(new StatisticsResourceAdaptor(limiting), {
    alignmentSize: 256,
  });
  return new TrackingResourceAdaptor(new LoggingResourceAdaptor(aligned, { write: () => {} }));
}
