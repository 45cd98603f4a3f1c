// What the driver says to calls during a capture, and whether the capture survives them: the same
// table for the simulated driver and for a real one, so that the simulated one cannot drift.

import { assertEquals } from "@std/assert";
import { CUmemcpyAttributes } from "../../ffi/structs.ts";
import { CAPTURE_MODE, CaptureScene, nameOf, OK } from "../support/capture_scene.ts";
import { testOnDevice } from "../support/with_device.ts";

/** Calls during a capture, what they give, and how the capture ends. */
interface Rule {
  readonly calls: (scene: CaptureScene) => readonly number[];
  readonly gives: readonly string[];
  /** How many nodes the graph has, or the status with which the capture comes to nothing. */
  readonly ends: number | string;
}

const UNSUPPORTED = "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED";
const INVALIDATED = "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED";
const CAPTURED_EVENT = "CUDA_ERROR_CAPTURED_EVENT";
const INVALID_VALUE = "CUDA_ERROR_INVALID_VALUE";

const RULES: Readonly<Record<string, Rule>> = {
  "a second begin": {
    calls: (scene) => [scene.begin()],
    gives: ["CUDA_ERROR_ILLEGAL_STATE"],
    ends: 0,
  },
  "an end on a stream that joined": {
    calls: (scene) => {
      scene.fork();
      return [scene.api.cuStreamEndCapture(scene.other.handle, new BigUint64Array(1))];
    },
    gives: ["CUDA_ERROR_STREAM_CAPTURE_UNMATCHED"],
    ends: INVALIDATED,
  },
  "a query of the stream, and a fill after it": {
    calls: (scene) => [scene.api.cuStreamQuery(scene.stream), scene.fill()],
    gives: [UNSUPPORTED, INVALIDATED],
    ends: INVALIDATED,
  },
  "two queries of the stream": {
    calls: ({ api, stream }) => [api.cuStreamQuery(stream), api.cuStreamQuery(stream)],
    gives: [UNSUPPORTED, UNSUPPORTED],
    ends: INVALIDATED,
  },
  "a wait for the stream": {
    calls: ({ api, stream }) => [api.cuStreamSynchronize(stream)],
    gives: [UNSUPPORTED],
    ends: INVALIDATED,
  },
  "a wait for the context": {
    calls: ({ api }) => [api.cuCtxSynchronize()],
    gives: [UNSUPPORTED],
    ends: INVALIDATED,
  },
  "a query of another stream": {
    calls: ({ api, other }) => [api.cuStreamQuery(other.handle)],
    gives: [OK],
    ends: 0,
  },
  "work on another stream": {
    calls: (scene) => [
      scene.fill(scene.other.handle),
      scene.api.cuStreamSynchronize(scene.other.handle),
    ],
    gives: [OK, OK],
    ends: 0,
  },
  "fills and copies": {
    calls: (scene) => [
      scene.fill(),
      scene.api.cuMemsetD2D32Async(scene.block.ptr, 64n, 2, 4n, 4n, scene.stream),
      scene.api.cuMemcpyAsync(scene.block.ptr, scene.host.ptr, 256n, scene.stream),
      scene.api.cuMemcpyAsync(scene.block.ptr, scene.host.ptr, 0n, scene.stream),
    ],
    gives: [OK, OK, OK, OK],
    ends: 3,
  },
  "a batch of copies": {
    calls: ({ api, block, host, stream }) => {
      const one = (value: bigint) => new BigUint64Array([value]);
      const [to, from, size, index] = [one(block.ptr), one(host.ptr), one(256n), one(0n)];
      const order = CUmemcpyAttributes.encode({ srcAccessOrder: 1 });
      return [api.cuMemcpyBatchAsync(to, from, size, 1n, order, index, 1n, null, stream)];
    },
    gives: [UNSUPPORTED],
    ends: 0,
  },
  "a copy between contexts": {
    calls: ({ api, block, host, stream, gpu: { context: { handle } } }) => [
      api.cuMemcpyPeerAsync(block.ptr, handle, host.ptr, handle, 256n, stream),
    ],
    gives: [UNSUPPORTED],
    ends: INVALIDATED,
  },
  "plain memory allocated and freed": {
    calls: (scene) => {
      const address = scene.out((cell) => scene.api.cuMemAlloc_v2(cell, 4096n));
      return [scene.api.cuMemFree_v2(address)];
    },
    gives: [OK],
    ends: 0,
  },
  "memory allocated and freed in the order of the stream": {
    calls: (scene) => {
      const address = scene.out((cell) => scene.api.cuMemAllocAsync(cell, 4096n, scene.stream));
      return [scene.api.cuMemFreeAsync(address, scene.stream)];
    },
    gives: [OK],
    ends: 2,
  },
  "more memory than the device has": {
    calls: ({ api, stream }) => [api.cuMemAllocAsync(new BigUint64Array(1), 2n ** 45n, stream)],
    gives: ["CUDA_ERROR_OUT_OF_MEMORY"],
    ends: 0,
  },
  "a free of pool memory from before": {
    calls: ({ api, block, stream }) => [api.cuMemFreeAsync(block.ptr, stream)],
    gives: [INVALID_VALUE],
    ends: 0,
  },
  "a wait for an event from outside": {
    calls: (scene) => {
      const event = scene.recorded(scene.other);
      return [scene.api.cuStreamWaitEvent(scene.stream, event, 0)];
    },
    gives: ["CUDA_ERROR_STREAM_CAPTURE_ISOLATION"],
    ends: INVALIDATED,
  },
  "a wait for an event that was never recorded": {
    calls: (scene) => [scene.api.cuStreamWaitEvent(scene.stream, scene.event(), 0)],
    gives: [OK],
    ends: 0,
  },
  "a query of a captured event": {
    calls: (scene) => [scene.api.cuEventQuery(scene.recorded(scene.captured))],
    gives: [CAPTURED_EVENT],
    ends: INVALIDATED,
  },
  "a wait for a captured event": {
    calls: (scene) => [scene.api.cuEventSynchronize(scene.recorded(scene.captured))],
    gives: [CAPTURED_EVENT],
    ends: INVALIDATED,
  },
  "a stream that joins and leaves no work": {
    calls: (scene) => {
      scene.fork();
      return [];
    },
    gives: [],
    ends: 0,
  },
  "a stream that joins and is not joined back": {
    calls: (scene) => {
      scene.fork();
      return [scene.fill(scene.other.handle)];
    },
    gives: [OK],
    ends: "CUDA_ERROR_STREAM_CAPTURE_UNJOINED",
  },
  "a wait across two captures": {
    calls: (scene) => {
      const { api, other } = scene;
      assertEquals(api.cuStreamBeginCapture_v2(other.handle, CAPTURE_MODE), 0);
      const status = api.cuStreamWaitEvent(other.handle, scene.recorded(scene.captured), 0);
      return [status, api.cuStreamEndCapture(other.handle, new BigUint64Array(1))];
    },
    gives: ["CUDA_ERROR_STREAM_CAPTURE_MERGE", INVALIDATED],
    ends: INVALIDATED,
  },
};

for (const [name, { calls, gives, ends }] of Object.entries(RULES)) {
  testOnDevice(`The driver answers ${name} in a capture`, (gpu) => {
    using scene = new CaptureScene(gpu);
    assertEquals(scene.begin(), 0);
    const statuses = calls(scene).map(nameOf);
    const end = scene.end();
    assertEquals(statuses, gives);
    assertEquals(end, typeof ends === "number" ? [OK, ends] : [ends, undefined]);
    assertEquals(scene.api.cuStreamSynchronize(scene.stream), 0);
  });
}

testOnDevice("The driver answers calls about an event whose capture is over", (gpu) => {
  using scene = new CaptureScene(gpu);
  const { api } = scene;
  scene.begin();
  const event = scene.recorded(scene.captured);
  assertEquals(scene.end(), [OK, 0]);
  const statuses = [
    api.cuEventQuery(event),
    api.cuEventSynchronize(event),
    api.cuStreamWaitEvent(scene.other.handle, event, 0),
    api.cuEventRecord(event, scene.stream),
    api.cuEventSynchronize(event),
  ];
  assertEquals(statuses.map(nameOf), [INVALID_VALUE, INVALID_VALUE, INVALID_VALUE, OK, OK]);
});

testOnDevice("The driver refuses to begin on the legacy stream and to end nothing", (gpu) => {
  using scene = new CaptureScene(gpu);
  const { api } = scene;
  assertEquals(nameOf(api.cuStreamBeginCapture_v2(0n, CAPTURE_MODE)), UNSUPPORTED);
  assertEquals(scene.end(), ["CUDA_ERROR_ILLEGAL_STATE", undefined]);
});
