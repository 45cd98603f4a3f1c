// Checks that a held stream is always let go.

import { assert, assertFalse, assertThrows } from "@std/assert";
import { Latch } from "../../../src/measure/latch.ts";
import { testOnDevice } from "../../support/with_device.ts";

testOnDevice("Latch.hold() holds a stream while work is queued, then lets it go", (gpu) => {
  using stream = gpu.createStream();
  using word = gpu.pinned("uint32", 1, { stream });
  let wasIdle = true;
  new Latch(word).hold(stream, () => wasIdle = stream.isIdle);
  stream.synchronizeSync();
  assertFalse(wasIdle);
  assert(stream.isIdle);
});

testOnDevice("Latch.hold() lets the stream go when queueing throws", (gpu) => {
  using stream = gpu.createStream();
  using word = gpu.pinned("uint32", 1, { stream });
  const queue = () => {
    throw new RangeError("inside");
  };
  assertThrows(() => new Latch(word).hold(stream, queue), RangeError, "inside");
  stream.synchronizeSync();
  assert(stream.isIdle);
});
