// Adaptors refuse wrong arguments when they are made: notebooks have no compiler that would.

import { assertThrows } from "@std/assert";
import type { CudaDevice } from "../../../src/device/device.ts";
import { AlignedResourceAdaptor } from "../../../src/resources/aligned_resource_adaptor.ts";
import { CachingResourceAdaptor } from "../../../src/resources/caching_resource_adaptor.ts";
import { FailureCallbackResourceAdaptor } from "../../../src/resources/failure_callback_resource_adaptor.ts";
import { LimitingResourceAdaptor } from "../../../src/resources/limiting_resource_adaptor.ts";
import { LoggingResourceAdaptor } from "../../../src/resources/logging_resource_adaptor.ts";
import { StatisticsResourceAdaptor } from "../../../src/resources/statistics_resource_adaptor.ts";
import { TrackingResourceAdaptor } from "../../../src/resources/tracking_resource_adaptor.ts";
import { LedgerResource } from "../../support/ledger_resource.ts";
import { testOnDevice } from "../../support/with_device.ts";

type Make = (upstream: never) => unknown;

const ADAPTORS: Record<string, Make> = {
  AlignedResourceAdaptor: (upstream) =>
    new AlignedResourceAdaptor(upstream, { alignmentSize: 4096 }),
  CachingResourceAdaptor: (upstream) => new CachingResourceAdaptor(upstream),
  FailureCallbackResourceAdaptor: (upstream) =>
    new FailureCallbackResourceAdaptor(upstream, { onFailure: () => false }),
  LimitingResourceAdaptor: (upstream) =>
    new LimitingResourceAdaptor(upstream, { limitSize: "1 MiB" }),
  LoggingResourceAdaptor: (upstream) => new LoggingResourceAdaptor(upstream, { write: () => {} }),
  StatisticsResourceAdaptor: (upstream) => new StatisticsResourceAdaptor(upstream),
  TrackingResourceAdaptor: (upstream) => new TrackingResourceAdaptor(upstream),
};

for (const [name, make] of Object.entries(ADAPTORS)) {
  testOnDevice(`${name} refuses an upstream that is no resource`, (gpu) => {
    const headless = { allocate: () => 0n, deallocate: () => {}, context: null };
    for (const wrong of [gpu, undefined, null, "pool", {}, headless]) {
      assertThrows(() => make(wrong as never), TypeError, `Cannot make a ${name} over `);
    }
    assertThrows(() => make(gpu as never), TypeError, "over CudaDevice(0, ");
  });
}

const LIMITED: Record<string, (gpu: CudaDevice, limit: never) => unknown> = {
  LimitingResourceAdaptor: (gpu, limit) =>
    new LimitingResourceAdaptor(new LedgerResource(gpu), { limitSize: limit }),
  CachingResourceAdaptor: (gpu, limit) =>
    new CachingResourceAdaptor(new LedgerResource(gpu), { limitSize: limit }),
  "CudaDevice.limit()": (gpu, limit) => gpu.limit(limit),
};

for (const [name, limitTo] of Object.entries(LIMITED)) {
  testOnDevice(`${name} refuses a limit that is neither number nor text`, (gpu) => {
    for (const limit of [null, 1n, {}, Symbol("half")]) {
      assertThrows(() => limitTo(gpu, limit as never), TypeError, "expected bytes, ");
    }
  });
}

testOnDevice("LimitingResourceAdaptor says what it expects when the limit is left out", (gpu) => {
  assertThrows(
    () => new LimitingResourceAdaptor(new LedgerResource(gpu), undefined as never),
    TypeError,
    "its options are undefined, expected an object such as { limitSize }",
  );
});

testOnDevice("Adaptors with options refuse what they cannot call or read", (gpu) => {
  const upstream = new LedgerResource(gpu);
  for (const options of [{}, undefined, { write: "log.csv" }]) {
    assertThrows(
      () => new LoggingResourceAdaptor(upstream, options as never),
      TypeError,
      "write",
    );
  }
  assertThrows(
    () => new FailureCallbackResourceAdaptor(upstream, undefined as never),
    TypeError,
    "its options are undefined, expected an object such as { onFailure }",
  );
  assertThrows(
    () => new FailureCallbackResourceAdaptor(upstream, {} as never),
    TypeError,
    "Cannot use undefined as { onFailure }: expected a function",
  );
  assertThrows(
    () => new LimitingResourceAdaptor(upstream, {} as never),
    TypeError,
    'Cannot read limit undefined: expected bytes, a size such as "2 GiB" or a share',
  );
  assertThrows(
    () => new AlignedResourceAdaptor(upstream, undefined as never),
    TypeError,
    "its options are undefined, expected an object such as { alignmentSize, thresholdSize }",
  );
});
