// Events and several streams in a capture of the simulated driver: who takes part, and in what order.
// The status codes, and whether a capture survives them, are those of an H200 under CUDA 13.0.

import { assertEquals } from "@std/assert";
import { CUresult as R } from "../../../ffi/constants.ts";
import { SimulatedGpu, testSimulated } from "../../support/simulated_gpu.ts";
import {
  assertInvalidated,
  assertNoGraph,
  beginCapture,
  capture,
  follow,
  nodeCount,
} from "./captured.ts";

testSimulated("cuStreamWaitEvent() in a capture refuses an event from outside", (gpu) => {
  const [stream, event] = [gpu.stream(), gpu.event()];
  gpu.api.cuEventRecord(event, gpu.stream());
  beginCapture(gpu, stream);
  assertEquals(
    gpu.api.cuStreamWaitEvent(stream, event, 0),
    R.CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
  );
  assertInvalidated(gpu, stream);
});

testSimulated("cuStreamWaitEvent() across two captures invalidates both", (gpu) => {
  const [first, second, event] = [gpu.stream(), gpu.stream(), gpu.event()];
  beginCapture(gpu, first);
  beginCapture(gpu, second);
  gpu.api.cuEventRecord(event, first);
  assertEquals(gpu.api.cuStreamWaitEvent(second, event, 0), R.CUDA_ERROR_STREAM_CAPTURE_MERGE);
  assertInvalidated(gpu, first);
  assertInvalidated(gpu, second);
});

testSimulated("cuStreamEndCapture() refuses work that the origin is not ordered after", (gpu) => {
  const [origin, joined, address] = [gpu.stream(), gpu.stream(), gpu.alloc(8)];
  beginCapture(gpu, origin);
  follow(gpu, joined, origin);
  follow(gpu, origin, joined);
  gpu.api.cuMemsetD8Async(address, 1, 8n, joined);
  assertNoGraph(gpu, origin, R.CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  assertEquals(gpu.api.cuStreamSynchronize(joined), 0);
});

testSimulated("cuStreamEndCapture() follows the order through streams without work", (gpu) => {
  const [origin, worker, between] = [gpu.stream(), gpu.stream(), gpu.stream()];
  const address = gpu.alloc(8);
  const graph = capture(gpu, origin, () => {
    follow(gpu, worker, origin);
    gpu.api.cuMemsetD8Async(address, 1, 8n, worker);
    follow(gpu, between, worker);
    follow(gpu, origin, between);
  });
  assertEquals(nodeCount(gpu, graph), 1);
  for (const stream of [origin, worker, between]) {
    assertEquals(gpu.api.cuStreamSynchronize(stream), 0);
  }
});

Deno.test("cuMemsetD8Async() on the default stream invalidates the capture of a blocking stream", () => {
  const gpu = new SimulatedGpu();
  const [stream, address] = [gpu.stream(0), gpu.alloc(8)];
  beginCapture(gpu, stream);
  assertEquals(
    gpu.api.cuMemsetD8Async(address, 1, 8n, 0n),
    R.CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
  );
  assertInvalidated(gpu, stream);
});

Deno.test("cuStreamWaitEvent() does not let the default stream take part in a capture", () => {
  const gpu = new SimulatedGpu();
  const [stream, event] = [gpu.stream(), gpu.event()];
  beginCapture(gpu, stream);
  gpu.api.cuEventRecord(event, stream);
  assertEquals(
    gpu.api.cuStreamWaitEvent(0n, event, 0),
    R.CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
  );
  assertInvalidated(gpu, stream);
});
