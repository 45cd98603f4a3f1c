// Used and kept bytes make up what the upstream gave, at every step of a random walk.
// The walk of millions of steps is bench/allocation_conservation.ts.

import { assert, assertEquals } from "@std/assert";
import { walkAllocations } from "../../../bench/allocation_walk.ts";
import { CachingResourceAdaptor } from "../../../src/resources/caching_resource_adaptor.ts";
import { StatisticsResourceAdaptor } from "../../../src/resources/statistics_resource_adaptor.ts";
import { LedgerResource } from "../../support/ledger_resource.ts";
import { takingTurns } from "../../support/test_unless.ts";
import { captureWarnings } from "../../support/warnings.ts";
import { testOnDevice } from "../../support/with_device.ts";

takingTurns(testOnDevice)(
  "CachingResourceAdaptor conserves bytes over the pool, on three streams",
  (gpu) => {
    using second = gpu.createStream();
    using third = gpu.createStream();
    const upstream = new StatisticsResourceAdaptor(gpu.memoryResource);
    using cache = new CachingResourceAdaptor(upstream, { limitSize: "512 MiB" });
    const warnings = captureWarnings(() => {
      const { refusedCount } = walkAllocations(cache, {
        stepCount: 20_000,
        streams: [gpu.stream, second, third],
        liveCount: 200,
        upstreamBytes: () => upstream.currentBytes,
        onPause: () => gpu.synchronizeSync(),
      });
      assert(refusedCount > 0, "the walk never ran out of memory");
    });
    assertEquals(warnings, []);
  },
);

testOnDevice("CachingResourceAdaptor conserves bytes when its upstream runs out", (gpu) => {
  const upstream = new LedgerResource(gpu);
  upstream.capacityBytes = 300 * 2 ** 20 + 12_345;
  using cache = new CachingResourceAdaptor(upstream);
  const { refusedCount } = walkAllocations(cache, {
    stepCount: 20_000,
    streams: [gpu.stream],
    liveCount: 200,
    upstreamBytes: () => upstream.liveBytes,
  });
  assert(refusedCount > 0, "the walk never ran out of memory");
  assertEquals(upstream.live.size, 0);
});
