// The records of a trace of overlap, and the overlap of known spans.

import { assert, assertEquals, assertThrows } from "@std/assert";
import { timesWith } from "../../../src/measure/overlap.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

Deno.test("timesWith() finds where two spans overlap", () => {
  const spans = [{ startSeconds: 0, endSeconds: 2 }, { startSeconds: 1, endSeconds: 3 }];
  assertEquals(timesWith(1, spans), [{ startSeconds: 0, endSeconds: 3 }]);
  assertEquals(timesWith(2, spans), [{ startSeconds: 1, endSeconds: 2 }]);
});

Deno.test("timesWith() joins spans that follow each other, and counts them as no overlap", () => {
  const spans = [{ startSeconds: 0, endSeconds: 1 }, { startSeconds: 1, endSeconds: 2 }];
  assertEquals(timesWith(1, spans), [{ startSeconds: 0, endSeconds: 2 }]);
  assertEquals(timesWith(2, spans), []);
});

Deno.test("CudaDevice.traceOverlap() records the name, stream and bytes of each", () =>
  withDevice(async (gpu) => {
    using source = gpu.zeros("uint8", 4096);
    using target = gpu.alloc("uint8", 4096);
    using stream = gpu.createStream({ label: "copies" });
    const trace = await gpu.traceOverlap((recorder) => {
      recorder.run("first", stream, () => target.copyFrom(source, { stream }));
      recorder.run("second", stream, () => target.copyFrom(source, { stream }));
    });
    assertEquals(trace.spans.map(({ name }) => name), ["first", "second"]);
    assertEquals(trace.spans.map(({ lane }) => lane), ["copies", "copies"]);
    assertEquals(trace.spans.map(({ copiedBytes }) => copiedBytes), [4096, 4096]);
    assertEquals(trace.overlappedSeconds, 0);
    assert(trace.spans.every(({ startSeconds, endSeconds }) => endSeconds >= startSeconds));
  }));

testOnDevice("OverlapRecorder.run() may be taken out of the recorder", async (gpu) => {
  using target = gpu.alloc("uint8", 4096);
  const { spans } = await gpu.traceOverlap(({ run }) => {
    run("fill", gpu.stream, () => target.fill(1));
  });
  assertEquals(spans.map(({ name }) => name), ["fill"]);
});

testOnDevice("CudaDevice.traceOverlap() of nothing is empty", async (gpu) => {
  const { spans, activeSeconds, parallelism } = await gpu.traceOverlap(() => {});
  assertEquals([spans, activeSeconds, parallelism], [[], 0, 0]);
});

testOnDevice("OverlapRecorder.run() leaves out a piece that throws", async (gpu) => {
  const { spans } = await gpu.traceOverlap((recorder) => {
    const fail = (): never => {
      throw new Error("no copy");
    };
    assertThrows(() => recorder.run("bad", gpu.stream, fail), Error, "no copy");
  });
  assertEquals(spans, []);
});
