// Streams, events and virtual time of the simulated driver: what runs when, and in which order.
// Time is virtual, so these tests assert on it without measuring.

import { assertAlmostEquals, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { SimulationError } from "../../../ffi/simulated/driver.ts";
import { Machine } from "../../../ffi/simulated/model/machine.ts";
import { settingsOf } from "../../../ffi/simulated/options.ts";
import { SimulatedGpu, testSimulated } from "../../support/simulated_gpu.ts";

const GIB = 2 ** 30;

function elapsedMilliseconds(gpu: SimulatedGpu, start: bigint, end: bigint): number {
  const cell = new Float32Array(1);
  assertEquals(gpu.api.cuEventElapsedTime(cell, start, end), 0);
  return cell[0] ?? NaN;
}

testSimulated("cuStreamQuery() runs one operation at a time", (gpu) => {
  const [address, stream] = [gpu.alloc(256), gpu.stream()];
  for (let i = 0; i < 3; i++) gpu.api.cuMemsetD8Async(address, i, 256n, stream);
  assertEquals(
    [1, 2, 3, 4].map(() => gpu.api.cuStreamQuery(stream)),
    [600, 600, 0, 0],
  );
});

testSimulated("cuStreamDestroy_v2() lets queued work finish and refuses the handle", (gpu) => {
  const [address, stream] = [gpu.alloc(4), gpu.stream()];
  gpu.api.cuMemsetD8Async(address, 5, 4n, stream);
  assertEquals(gpu.api.cuStreamDestroy_v2(stream), 0);
  assertEquals(gpu.api.cuStreamSynchronize(stream), 400);
  gpu.api.cuCtxSynchronize();
  assertEquals([...gpu.read(address, 4)], [5, 5, 5, 5]);
});

Deno.test("cuStreamDestroy_v2() keeps no stream whose work is done, also where nobody waits", () => {
  const machine = new Machine(settingsOf({}));
  const gpu = new SimulatedGpu(machine);
  const [address, stream, event] = [gpu.alloc(4), gpu.stream(), gpu.event()];
  gpu.api.cuMemsetD8Async(address, 5, 4n, stream);
  gpu.api.cuEventRecord(event, stream);
  assertEquals(gpu.api.cuStreamDestroy_v2(stream), 0);
  while (gpu.api.cuEventQuery(event) !== 0);
  const roles = [...machine.streamsOf(machine.contexts.current)].map(({ role }) => role);
  assertEquals(roles, ["legacy", "blocking"]);
});

testSimulated("cuMemsetD8Async() takes its context from the stream", (gpu) => {
  const [address, stream] = [gpu.alloc(4), gpu.stream()];
  gpu.api.cuCtxSetCurrent(gpu.retain(1));
  assertEquals(gpu.api.cuMemsetD8Async(address, 1, 4n, stream), 0);
  assertEquals(gpu.api.cuStreamSynchronize(stream), 0);
});

testSimulated("cuMemsetD8Async() throws on memory of another device without peer access", (gpu) => {
  const [stream, peer] = [gpu.stream(), gpu.retain(1)];
  gpu.api.cuCtxSetCurrent(peer);
  const address = gpu.alloc(4);
  const fill = () => gpu.api.cuMemsetD8Async(address, 1, 4n, stream);
  assertThrows(fill, SimulationError, "no right");
  gpu.api.cuCtxSetCurrent(gpu.context);
  gpu.api.cuCtxEnablePeerAccess(peer, 0);
  assertEquals(fill(), 0);
});

testSimulated("cuStreamWaitEvent() makes one stream wait for another", (gpu) => {
  const [address, producer, consumer] = [gpu.alloc(4), gpu.stream(), gpu.stream()];
  const [event, target] = [gpu.event(), gpu.pinned(4)];
  gpu.api.cuMemsetD8Async(address, 3, 4n, producer);
  gpu.api.cuEventRecord(event, producer);
  gpu.api.cuStreamWaitEvent(consumer, event, 0);
  gpu.api.cuMemcpyAsync(target.address, address, 4n, consumer);
  gpu.api.cuStreamSynchronize(consumer);
  assertEquals([...target.bytes], [3, 3, 3, 3]);
});

testSimulated("cuMemsetD8Async() on another stream without an event is a race", (gpu) => {
  const address = gpu.alloc(256);
  gpu.api.cuMemsetD8Async(address, 1, 256n, gpu.stream());
  assertThrows(
    () => gpu.api.cuMemsetD8Async(address + 128n, 2, 4n, gpu.stream()),
    SimulationError,
    "race",
  );
});

testSimulated("cuMemsetD8Async() on another part of a block is no race", (gpu) => {
  const address = gpu.alloc(256);
  assertEquals(gpu.api.cuMemsetD8Async(address, 1, 128n, gpu.stream()), 0);
  assertEquals(gpu.api.cuMemsetD8Async(address + 128n, 2, 128n, gpu.stream()), 0);
});

testSimulated("cuMemsetD2D8Async() on other columns of the same rows is no race", (gpu) => {
  const address = gpu.alloc(256);
  assertEquals(gpu.api.cuMemsetD2D8Async(address, 32n, 1, 16n, 8n, gpu.stream()), 0);
  assertEquals(gpu.api.cuMemsetD2D8Async(address + 16n, 32n, 2, 16n, 8n, gpu.stream()), 0);
  assertThrows(
    () => gpu.api.cuMemsetD2D8Async(address + 8n, 32n, 2, 16n, 8n, gpu.stream()),
    SimulationError,
    "race",
  );
});

testSimulated("cuMemsetD8Async() after the host has waited is no race", (gpu) => {
  const [address, stream] = [gpu.alloc(256), gpu.stream()];
  gpu.api.cuMemsetD8Async(address, 1, 256n, stream);
  gpu.api.cuStreamSynchronize(stream);
  assertEquals(gpu.api.cuMemsetD8Async(address, 2, 256n, gpu.stream()), 0);
});

Deno.test("cuMemsetD8Async() on the default stream is ordered with blocking streams only", () => {
  const gpu = new SimulatedGpu();
  const address = gpu.alloc(256);
  gpu.api.cuMemsetD8Async(address, 1, 256n, gpu.stream(0));
  gpu.api.cuMemsetD8Async(address, 2, 256n, 0n);
  gpu.api.cuMemsetD8Async(address, 3, 256n, gpu.stream(0));
  assertThrows(
    () => gpu.api.cuMemsetD8Async(address, 4, 256n, gpu.stream(1)),
    SimulationError,
    "race",
  );
  assertEquals(gpu.read(address, 1)[0], 3);
});

testSimulated("cuEventQuery() answers by what was recorded", (gpu) => {
  const [event, stream] = [gpu.event(), gpu.stream()];
  assertEquals(gpu.api.cuEventQuery(event), 0);
  gpu.api.cuMemsetD8Async(gpu.alloc(4), 1, 4n, stream);
  gpu.api.cuEventRecord(event, stream);
  assertEquals([gpu.api.cuEventQuery(event), gpu.api.cuEventQuery(event)], [600, 0]);
  gpu.api.cuEventDestroy_v2(event);
  assertEquals(gpu.api.cuEventQuery(event), 400);
});

testSimulated("cuEventElapsedTime() refuses events without a time", (gpu) => {
  const [start, end, untimed, stream] = [gpu.event(), gpu.event(), gpu.event(2), gpu.stream()];
  const cell = new Float32Array(1);
  assertEquals(gpu.api.cuEventElapsedTime(cell, start, end), 400);
  for (const event of [start, end, untimed]) gpu.api.cuEventRecord(event, stream);
  assertEquals(gpu.api.cuEventElapsedTime(cell, start, end), 600);
  gpu.api.cuStreamSynchronize(stream);
  assertEquals(gpu.api.cuEventElapsedTime(cell, start, untimed), 400);
  assertEquals(gpu.api.cuEventElapsedTime(cell, start, end), 0);
});

testSimulated("cuEventElapsedTime() measures a fill in virtual time", (gpu) => {
  const [start, end, stream] = [gpu.event(), gpu.event(), gpu.stream()];
  gpu.api.cuEventRecord(start, stream);
  gpu.api.cuMemsetD8Async(gpu.alloc(GIB), 0, BigInt(GIB), stream);
  gpu.api.cuEventRecord(end, stream);
  gpu.api.cuStreamSynchronize(stream);
  const expected = 1000 * (5e-6 + GIB / 1600e9);
  assertAlmostEquals(elapsedMilliseconds(gpu, start, end), expected, 0.01);
});

testSimulated("cuEventElapsedTime() shows that copies in opposite directions overlap", (gpu) => {
  const size = 64 << 20;
  const [up, down] = [gpu.stream(), gpu.stream()];
  const [start, end] = [gpu.event(), gpu.event()];
  const [source, target] = [gpu.pinned(size), gpu.pinned(size)];
  const [filled, written] = [gpu.alloc(size), gpu.alloc(size)];
  gpu.api.cuMemsetD8Async(filled, 0, BigInt(size), 0n);
  gpu.api.cuCtxSynchronize();
  gpu.api.cuEventRecord(start, up);
  gpu.api.cuStreamWaitEvent(down, start, 0);
  gpu.api.cuMemcpyAsync(written, source.address, BigInt(size), up);
  gpu.api.cuMemcpyAsync(target.address, filled, BigInt(size), down);
  gpu.api.cuEventRecord(end, down);
  gpu.api.cuStreamWaitEvent(up, end, 0);
  gpu.api.cuStreamSynchronize(up);
  const slower = 1000 * (size / 24e9);
  assertAlmostEquals(elapsedMilliseconds(gpu, start, end), slower, slower * 0.05);
});

testSimulated("cuStreamWaitValue32_v2() holds a stream until the host opens the latch", (gpu) => {
  const [latch, address, stream] = [gpu.pinned(4), gpu.alloc(4), gpu.stream()];
  gpu.api.cuStreamWaitValue32_v2(stream, latch.address, 1, 1);
  gpu.api.cuMemsetD8Async(address, 1, 4n, stream);
  assertEquals(gpu.api.cuStreamQuery(stream), 600);
  assertThrows(() => gpu.api.cuStreamSynchronize(stream), SimulationError, "deadlock");
  latch.bytes[0] = 1;
  assertEquals(gpu.api.cuStreamSynchronize(stream), 0);
});

testSimulated("cuStreamWaitValue32_v2() lets another stream open the latch", (gpu) => {
  const [latch, waiting, opening] = [gpu.alloc(4), gpu.stream(), gpu.stream()];
  gpu.write(latch, new Uint8Array(4));
  gpu.api.cuStreamWaitValue32_v2(waiting, latch, 7, 0);
  gpu.api.cuMemsetD32Async(latch, 7, 1n, opening);
  assertEquals(gpu.api.cuStreamSynchronize(waiting), 0);
});

Deno.test("cuStreamSynchronizeNonblocking() runs the work after the call has returned", async () => {
  const gpu = new SimulatedGpu();
  const [target, address, stream] = [gpu.pinned(4), gpu.alloc(4), gpu.stream()];
  gpu.api.cuMemsetD8Async(address, 6, 4n, stream);
  gpu.api.cuMemcpyAsync(target.address, address, 4n, stream);
  const waiting = gpu.api.cuStreamSynchronizeNonblocking(stream);
  assertEquals([...target.bytes], [0, 0, 0, 0]);
  assertEquals(await waiting, 0);
  assertEquals([...target.bytes], [6, 6, 6, 6]);
});

Deno.test("cuStreamSynchronizeNonblocking() leaves what is queued later", async () => {
  const gpu = new SimulatedGpu();
  const [target, stream] = [gpu.pinned(4), gpu.stream()];
  gpu.api.cuMemsetD8Async(target.address, 6, 2n, stream);
  const waiting = gpu.api.cuStreamSynchronizeNonblocking(stream);
  gpu.api.cuMemsetD8Async(target.address + 2n, 6, 2n, stream);
  assertEquals(await waiting, 0);
  assertEquals([...target.bytes], [6, 6, 0, 0]);
});

Deno.test("cuStreamDestroy_v2() and cuEventDestroy_v2() throw while a thread waits", async () => {
  const gpu = new SimulatedGpu();
  const [event, stream] = [gpu.event(), gpu.stream()];
  const waiting = [
    gpu.api.cuStreamSynchronizeNonblocking(stream),
    gpu.api.cuEventSynchronizeNonblocking(event),
  ];
  assertThrows(() => gpu.api.cuStreamDestroy_v2(stream), SimulationError, "another thread waits");
  assertThrows(() => gpu.api.cuEventDestroy_v2(event), SimulationError, "another thread waits");
  assertEquals(await Promise.all(waiting), [0, 0]);
  assertEquals(gpu.api.cuStreamDestroy_v2(stream), 0);
  assertEquals(gpu.api.cuEventDestroy_v2(event), 0);
});

Deno.test("cuEventSynchronizeNonblocking() lets JavaScript open a latch meanwhile", async () => {
  const gpu = new SimulatedGpu();
  const [latch, event, stream] = [gpu.pinned(4), gpu.event(), gpu.stream()];
  gpu.api.cuStreamWaitValue32_v2(stream, latch.address, 1, 1);
  gpu.api.cuEventRecord(event, stream);
  const waiting = gpu.api.cuEventSynchronizeNonblocking(event);
  setTimeout(() => latch.bytes[0] = 1, 1);
  assertEquals(await waiting, 0);
});

testSimulated("cuStreamSynchronizeNonblocking() rejects when a latch never opens", async (gpu) => {
  const [latch, stream] = [gpu.pinned(4), gpu.stream()];
  gpu.api.cuStreamWaitValue32_v2(stream, latch.address, 1, 1);
  await assertRejects(
    () => gpu.api.cuStreamSynchronizeNonblocking(stream),
    SimulationError,
    "deadlock",
  );
});
