// The contract of memory resources for every adaptor, every pool, and every stack of two adaptors; of the
// stacks, a run that is not whole takes those in which each adaptor is once outside and once inside.

import type { CudaDevice } from "../../../src/device/device.ts";
import { CudaAsyncMemoryResource } from "../../../src/memory/cuda_async_memory_resource.ts";
import { CudaMemoryResource } from "../../../src/memory/cuda_memory_resource.ts";
import type { MemoryResource } from "../../../src/memory/memory_resource.ts";
import { PinnedHostMemoryResource } from "../../../src/memory/pinned_host_memory_resource.ts";
import { AlignedResourceAdaptor } from "../../../src/resources/aligned_resource_adaptor.ts";
import { CachingResourceAdaptor } from "../../../src/resources/caching_resource_adaptor.ts";
import { FailureCallbackResourceAdaptor } from "../../../src/resources/failure_callback_resource_adaptor.ts";
import { LimitingResourceAdaptor } from "../../../src/resources/limiting_resource_adaptor.ts";
import { LoggingResourceAdaptor } from "../../../src/resources/logging_resource_adaptor.ts";
import { PooledPinnedHostMemoryResource } from "../../../src/resources/pooled_pinned_host_memory_resource.ts";
import { StatisticsResourceAdaptor } from "../../../src/resources/statistics_resource_adaptor.ts";
import { TrackingResourceAdaptor } from "../../../src/resources/tracking_resource_adaptor.ts";
import { IS_WHOLE, testRandom } from "../../support/random.ts";
import { testResource } from "../../support/resource_contract.ts";

type Resource = MemoryResource & Partial<Disposable>;

const ADAPTORS: Record<string, (upstream: Resource) => Resource> = {
  Caching: (upstream) => new CachingResourceAdaptor(upstream),
  Limiting: (upstream) => new LimitingResourceAdaptor(upstream, { limitSize: "50%" }),
  Statistics: (upstream) => new StatisticsResourceAdaptor(upstream),
  Tracking: (upstream) => new TrackingResourceAdaptor(upstream, { captureStacks: false }),
  Logging: (upstream) => new LoggingResourceAdaptor(upstream, { write: () => {} }),
  FailureCallback: (upstream) =>
    new FailureCallbackResourceAdaptor(upstream, { onFailure: () => false }),
  Aligned: (upstream) => new AlignedResourceAdaptor(upstream, { alignmentSize: 4096 }),
};

/** Disposes a stack from the outside in, as a program does. */
function stacked(outer: (upstream: Resource) => Resource, inner: Resource): Resource {
  const resource = outer(inner);
  const own = resource[Symbol.dispose]?.bind(resource);
  resource[Symbol.dispose] = () => {
    own?.();
    inner[Symbol.dispose]?.();
  };
  return resource;
}

const BASES: Record<string, (gpu: CudaDevice) => Resource> = {
  "the default pool": (gpu) => new CudaAsyncMemoryResource(gpu),
  cuMemAlloc: (gpu) => new CudaMemoryResource(gpu),
  "page-locked memory": (gpu) => new PinnedHostMemoryResource(gpu),
};

testResource({
  name: "CudaAsyncMemoryResource with a pool of its own",
  make: (gpu) => new CudaAsyncMemoryResource(gpu, { releaseThresholdSize: "16 MiB" }),
});
testResource({
  name: "PooledPinnedHostMemoryResource",
  make: (gpu) => new PooledPinnedHostMemoryResource(gpu),
});
for (const [base, makeBase] of Object.entries(BASES)) {
  testResource({
    name: `CachingResourceAdaptor over ${base}`,
    make: (gpu) => stacked((upstream) => new CachingResourceAdaptor(upstream), makeBase(gpu)),
  });
}

const ROWS = Object.entries(ADAPTORS);
const turned = testRandom().below(ROWS.length);
for (const [row, [outer, wrapOuter]] of ROWS.entries()) {
  testResource({
    name: `${outer}ResourceAdaptor`,
    make: (gpu) => wrapOuter(new CudaAsyncMemoryResource(gpu)),
  });
  for (const [column, [inner, wrapInner]] of ROWS.entries()) {
    if (!IS_WHOLE && column !== (row + turned) % ROWS.length) continue;
    testResource({
      name: `${outer} over ${inner}`,
      make: (gpu) => stacked(wrapOuter, wrapInner(new CudaAsyncMemoryResource(gpu))),
      largestBytes: 2 ** 20,
    });
  }
}
