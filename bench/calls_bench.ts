// What does a call cost the host? Allocate, view, queue a copy or a fill, record an event.
// Each measure is a batch that starts with empty queues: divide by the count in its name.

import { CudaDevice } from "../mod.ts";

const CALL_COUNT = 1000;
const MEBIBYTE = 1024 ** 2;

const gpu = CudaDevice.open(0, { driver: "auto" });
const stream = gpu.createStream();
const word = gpu.pinned("uint32", 1);
const target = gpu.alloc("uint32", 1);
const page = gpu.alloc("uint8", 4096);
const otherPage = gpu.alloc("uint8", 4096);
const matrix = gpu.alloc("float32", [1024, 1024]);
// Written once, so that no measure reads bytes that nobody wrote.
word.array[0] = 1;
page.fill(0, { stream });
stream.synchronizeSync();

benchCalls("allocate and dispose 1 MiB", () => {
  using _buffer = gpu.alloc("uint8", MEBIBYTE);
});
benchCalls("make and dispose a view", () => {
  using _row = matrix.view(1);
});
benchCalls("queue a 4-byte pinned upload", () => {
  target.copyFrom(word, { stream });
});
benchCalls("queue a 4 KiB device copy", () => {
  otherPage.copyFrom(page, { stream });
});
benchCalls("queue a 4 KiB fill", () => {
  otherPage.fill(0, { stream });
});
benchCalls("record and dispose an event", () => {
  using _event = stream.record();
});
benchCalls("upload 4 bytes and wait for the stream", () => {
  target.copyFrom(word, { stream });
  stream.synchronizeSync();
});

/** Registers a measure that empties the queues first: a full queue makes the caller wait. */
function benchCalls(name: string, call: () => void): void {
  Deno.bench(`${gpu.name}: ${name}, ${CALL_COUNT} times`, (bench) => {
    stream.synchronizeSync();
    gpu.synchronizeSync();
    bench.start();
    for (let i = 0; i < CALL_COUNT; i++) call();
    bench.end();
  });
}
