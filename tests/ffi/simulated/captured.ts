// The few calls that every test of captures and graphs makes, with success asserted.

import { assertEquals } from "@std/assert";
import { CUresult, CUstreamCaptureMode } from "../../../ffi/constants.ts";
import { out, type SimulatedGpu } from "../../support/simulated_gpu.ts";

/** Begins a capture. */
export function beginCapture(gpu: SimulatedGpu, stream: bigint): void {
  const { CU_STREAM_CAPTURE_MODE_RELAXED: mode } = CUstreamCaptureMode;
  assertEquals(gpu.api.cuStreamBeginCapture_v2(stream, mode), 0);
}

/** Ends a capture and returns its graph. */
export function endCapture(gpu: SimulatedGpu, stream: bigint): bigint {
  return out((cell) => gpu.api.cuStreamEndCapture(stream, cell));
}

/** Captures what a function gives to a stream, and returns the graph. */
export function capture(gpu: SimulatedGpu, stream: bigint, record: () => void): bigint {
  beginCapture(gpu, stream);
  record();
  return endCapture(gpu, stream);
}

/** Captures like `capture()` and makes the graph ready. */
export function captureExec(
  gpu: SimulatedGpu,
  stream: bigint,
  record: () => void,
  flags = 0n,
): bigint {
  const graph = capture(gpu, stream, record);
  const exec = instantiate(gpu, graph, flags);
  assertEquals(gpu.api.cuGraphDestroy(graph), 0);
  return exec;
}

/** Makes a graph ready for launches. */
export function instantiate(gpu: SimulatedGpu, graph: bigint, flags = 0n): bigint {
  return out((cell) => gpu.api.cuGraphInstantiateWithFlags(cell, graph, flags));
}

/** Launches a graph and waits for it. */
export function launchAndWait(gpu: SimulatedGpu, exec: bigint, stream: bigint): void {
  assertEquals(gpu.api.cuGraphLaunch(exec, stream), 0);
  assertEquals(gpu.api.cuStreamSynchronize(stream), 0);
}

/** Returns how many nodes a graph has. */
export function nodeCount(gpu: SimulatedGpu, graph: bigint): number {
  return Number(out((cell) => gpu.api.cuGraphGetNodes(graph, null, cell)));
}

/** Makes a stream wait for what another one was given so far. */
export function follow(gpu: SimulatedGpu, stream: bigint, other: bigint): void {
  const event = gpu.event();
  assertEquals(gpu.api.cuEventRecord(event, other), 0);
  assertEquals(gpu.api.cuStreamWaitEvent(stream, event, 0), 0);
  assertEquals(gpu.api.cuEventDestroy_v2(event), 0);
}

/** Ends a capture that something has invalidated, and checks that there is no graph. */
export function assertInvalidated(gpu: SimulatedGpu, stream: bigint): void {
  assertNoGraph(gpu, stream, CUresult.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

/** Ends a capture that comes to nothing, and checks that its stream runs work again. */
export function assertNoGraph(gpu: SimulatedGpu, stream: bigint, status: number): void {
  const graph = new BigUint64Array([1n]);
  assertEquals(gpu.api.cuStreamEndCapture(stream, graph), status);
  assertEquals(graph[0], 0n);
  assertEquals(gpu.api.cuStreamSynchronize(stream), 0);
}
