// Steps of the failure sweep: where memory comes from, pools of one's own and adaptors.

import { assert, assertEquals } from "@std/assert";
import { type CudaDevice, type MemoryResource, OutOfMemoryError } from "../../../../mod.ts";
import {
  AlignedResourceAdaptor,
  CachingResourceAdaptor,
  CudaAsyncMemoryResource,
  CudaMemoryResource,
  FailureCallbackResourceAdaptor,
  LimitingResourceAdaptor,
  LoggingResourceAdaptor,
  ManagedMemoryResource,
  MappedHostMemoryResource,
  parseAllocationLog,
  PinnedHostMemoryResource,
  PitchedMemoryResource,
  PooledPinnedHostMemoryResource,
  replayAllocations,
  StatisticsResourceAdaptor,
  TrackingResourceAdaptor,
  VirtualMemoryResource,
} from "../../../../src/entries/memory.ts";
import type { Step } from "../scene.ts";

/** Resources that give device memory, and what stacks on one. */
const SOURCES: Readonly<Record<string, (gpu: CudaDevice) => MemoryResource>> = {
  "cuMemAlloc": (gpu) => new CudaMemoryResource(gpu),
  "the device's pool": (gpu) => new CudaAsyncMemoryResource(gpu),
  "virtual memory": (gpu) => new VirtualMemoryResource(gpu),
  "pitched memory": (gpu) => new PitchedMemoryResource(gpu),
  "managed memory": (gpu) => new ManagedMemoryResource(gpu),
  "mapped memory": (gpu) => new MappedHostMemoryResource(gpu),
  "an aligned adaptor": (gpu) =>
    new AlignedResourceAdaptor(gpu.memoryResource, { alignmentSize: "4 KiB" }),
  "a limiting adaptor": (gpu) =>
    new LimitingResourceAdaptor(gpu.memoryResource, { limitSize: "1 MiB" }),
  "a tracking adaptor": (gpu) => new TrackingResourceAdaptor(gpu.memoryResource),
  "a statistics adaptor": (gpu) => new StatisticsResourceAdaptor(gpu.memoryResource),
  "a logging adaptor": (gpu) => new LoggingResourceAdaptor(gpu.memoryResource, { write() {} }),
  "an adaptor that asks": (gpu) =>
    new FailureCallbackResourceAdaptor(gpu.memoryResource, { onFailure: () => false }),
};

/** Allocates from a resource, on two streams, and gives all back. */
function useResource(gpu: CudaDevice, resource: MemoryResource): void {
  using stream = gpu.createStream();
  using first = gpu.alloc("uint8", 4096, { resource });
  using second = gpu.alloc("uint8", 4096, { resource, stream });
  first.fill(1);
  second.copyFrom(first, { stream });
  assertEquals(second.downloadSync(undefined, { stream })[4095], 1);
}

/** Resources and adaptors. */
export const RESOURCE_STEPS: readonly Step[] = [
  ...Object.entries(SOURCES).map(([name, make]): Step => ({
    name: `memory from ${name}`,
    run: ({ gpu }) => useResource(gpu, make(gpu)),
  })),
  {
    name: "a pool of one's own: attributes, access, trim",
    run({ gpu, other }) {
      using pool = new CudaAsyncMemoryResource(gpu, {
        releaseThresholdSize: "64 MiB",
        maxSize: "64 MiB",
        reuse: { allowOpportunistic: false },
      });
      useResource(gpu, pool);
      pool.setAccess(other, "readwrite");
      assertEquals(pool.accessOf(other), "readwrite");
      pool.setAccess(other, "none");
      gpu.synchronizeSync();
      assert(pool.usedBytes <= pool.reservedBytes);
      assertEquals(pool.reuse.allowOpportunistic, false);
      pool.resetPeaks();
      pool.trim();
    },
  },
  {
    name: "a pool of one's own that is full",
    run({ gpu }) {
      using pool = new CudaAsyncMemoryResource(gpu, { maxSize: "32 MiB" });
      using first = gpu.alloc("uint8", 16 * 2 ** 20, { resource: pool });
      let refusal: unknown;
      try {
        gpu.alloc("uint8", 30 * 2 ** 20, { resource: pool }).dispose();
      } catch (error) {
        if (!(error instanceof OutOfMemoryError)) throw error;
        refusal = error;
      }
      assert(refusal !== undefined && first.byteLength > 0);
    },
  },
  {
    name: "a caching adaptor: two streams, trim, segments",
    run({ gpu }) {
      using cache = new CachingResourceAdaptor(new CudaMemoryResource(gpu));
      useResource(gpu, cache);
      {
        using _large = gpu.alloc("uint8", 3 * 2 ** 20, { resource: cache });
        using _small = gpu.alloc("uint8", 512, { resource: cache });
      }
      cache.trim();
      useResource(gpu, cache);
    },
  },
  {
    name: "a caching adaptor over page-locked memory",
    run({ gpu }) {
      using cache = new CachingResourceAdaptor(new PinnedHostMemoryResource(gpu));
      using stream = gpu.createStream();
      using device = gpu.zeros("uint8", 4096);
      {
        using host = gpu.pinned("uint8", 4096, { resource: cache });
        device.copyTo(host, { stream });
      }
      gpu.synchronizeSync();
      cache.trim();
      assertEquals(cache.usedBytes, 0);
    },
  },
  {
    name: "adaptors stacked on a pool of one's own, for one function",
    run({ gpu }) {
      using pool = new CudaAsyncMemoryResource(gpu, {});
      using cache = new CachingResourceAdaptor(pool, { limitSize: "64 MiB" });
      const statistics = new StatisticsResourceAdaptor(cache);
      gpu.withResource(statistics, () => {
        using a = gpu.zeros("float32", 1024);
        assertEquals(a.downloadSync()[0], 0);
      });
      assertEquals(statistics.currentBytes, 0);
    },
  },
  {
    name: "resources that are disposed before their buffers",
    async run({ gpu }) {
      using rest = new DisposableStack();
      {
        using pool = new CudaAsyncMemoryResource(gpu, { releaseThresholdSize: "64 MiB" });
        rest.use(gpu.zeros("uint8", 4096, { resource: pool }));
        using cache = new CachingResourceAdaptor(new CudaMemoryResource(gpu));
        rest.use(gpu.zeros("uint8", 4096, { resource: cache }));
        using pinned = new PooledPinnedHostMemoryResource(gpu);
        rest.use(gpu.pinned("uint8", 4096, { resource: pinned }));
      }
      await gpu.synchronize();
    },
  },
  {
    name: "pooled page-locked memory, for one function",
    async run({ gpu }) {
      using pool = new PooledPinnedHostMemoryResource(gpu, { keepSize: "1 MiB" });
      await gpu.withPinnedResource(pool, async () => {
        using device = gpu.zeros("uint8", 4096);
        for (let i = 0; i < 3; i++) {
          using host = gpu.pinned("uint8", 4096);
          using other = gpu.pinned("uint8", 4096);
          device.copyTo(host);
          device.copyTo(other);
        }
        await gpu.synchronize();
      });
      gpu.context.sweep();
      pool.trim();
    },
  },
  {
    name: "a log, replayed",
    run({ gpu }) {
      const lines: string[] = [];
      const log = new LoggingResourceAdaptor(gpu.memoryResource, {
        write: (line) => void lines.push(line),
      });
      useResource(gpu, log);
      const replay = replayAllocations(parseAllocationLog(lines.join("\n")), gpu.memoryResource);
      assert(replay !== undefined);
    },
  },
  {
    name: "a limit, and memory that runs out and comes back",
    run({ gpu }) {
      gpu.limit("1 MiB");
      try {
        let refusal: unknown;
        try {
          gpu.alloc("uint8", 2 * 2 ** 20).dispose();
        } catch (error) {
          if (!(error instanceof OutOfMemoryError)) throw error;
          refusal = error;
        }
        assert(refusal instanceof OutOfMemoryError);
        using _kept = gpu.alloc("uint8", 4096);
      } finally {
        gpu.limit(undefined);
      }
      {
        using _most = gpu.alloc("uint8", 6 * 2 ** 30);
      }
      using _again = gpu.alloc("uint8", 6 * 2 ** 30, { resource: new CudaMemoryResource(gpu) });
    },
  },
];
