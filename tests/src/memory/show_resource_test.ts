// Memory resources on a console: a line each, with the counters.

import { assertEquals, assertStringIncludes } from "@std/assert";
import { CudaAsyncMemoryResource } from "../../../src/memory/cuda_async_memory_resource.ts";
import { MappedHostMemoryResource } from "../../../src/memory/mapped_host_memory_resource.ts";
import { PinnedHostMemoryResource } from "../../../src/memory/pinned_host_memory_resource.ts";
import { CachingResourceAdaptor } from "../../../src/resources/caching_resource_adaptor.ts";
import { LimitingResourceAdaptor } from "../../../src/resources/limiting_resource_adaptor.ts";
import { StatisticsResourceAdaptor } from "../../../src/resources/statistics_resource_adaptor.ts";
import { TrackingResourceAdaptor } from "../../../src/resources/tracking_resource_adaptor.ts";
import { LedgerResource } from "../../support/ledger_resource.ts";
import { testOnDevice } from "../../support/with_device.ts";

testOnDevice("Resources show a line each on a console, with their counters", (gpu) => {
  using cache = new CachingResourceAdaptor(new CudaAsyncMemoryResource(gpu));
  const stats = new StatisticsResourceAdaptor(cache);
  using _buffer = gpu.alloc("uint8", 1000, { resource: stats });
  const [first = "", second = "", third = "", ...more] = Deno.inspect(stats).split("\n");
  assertStringIncludes(first, "StatisticsResourceAdaptor: current 1000 B, peak 1000 B, ");
  assertStringIncludes(first, "(memory for the GPU of device 0)");
  assertStringIncludes(second, "  over CachingResourceAdaptor: used 1 KiB, cached 2 MiB, ");
  assertStringIncludes(third, "  over CudaAsyncMemoryResource: used ");
  assertEquals(more, []);
});

testOnDevice("Resources without counters show where their memory can be used", (gpu) => {
  assertEquals(
    Deno.inspect(new PinnedHostMemoryResource(gpu)),
    "PinnedHostMemoryResource (memory for host and GPU of device 0)",
  );
  assertStringIncludes(Deno.inspect(new MappedHostMemoryResource(gpu)), "MappedHostMemoryRes");
});

testOnDevice("Resources show their counters when an upstream's cannot be read", (gpu) => {
  const pool = new CudaAsyncMemoryResource(gpu, {});
  const limited = new LimitingResourceAdaptor(pool, { limitSize: "1 MiB" });
  pool.dispose();
  assertEquals(Deno.inspect(limited).split("\n"), [
    "LimitingResourceAdaptor: limit 1 MiB, used 0 B (memory for the GPU of device 0)",
    "  over CudaAsyncMemoryResource: not readable: Cannot use CudaAsyncMemoryResource: it was disposed",
  ]);
});

testOnDevice("TrackingResourceAdaptor shows its counters, and the list below", (gpu) => {
  const tracked = new TrackingResourceAdaptor(new LedgerResource(gpu));
  const block = tracked.allocate(4096, gpu.stream);
  const lines = Deno.inspect(tracked).split("\n");
  assertStringIncludes(lines[0] ?? "", "TrackingResourceAdaptor: allocated 4 KiB");
  assertEquals(lines.at(-1), "1 outstanding, 4 KiB");
  tracked.deallocate(block, 4096, gpu.stream);
});
