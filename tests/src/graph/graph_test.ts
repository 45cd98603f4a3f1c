// Recorded work: nothing runs before a launch, each launch does all of it, in the right order beside
// other streams, and memory is there for as long as a graph may use it.

import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import type { CudaDevice } from "../../../src/device/device.ts";
import { CudaMemoryResource } from "../../../src/memory/cuda_memory_resource.ts";
import { DisposedError, OutOfMemoryError } from "../../../src/words/errors.ts";
import { evaluate } from "../../support/child_deno.ts";
import { runWithCollector } from "../../support/collector_program.ts";
import { assertHoldsOnly, patternBytes, readBytes, writeBytes } from "../../support/contents.ts";
import { testOnTwoDevices } from "../../support/driver.ts";
import { HeldStream, testHolding } from "../../support/held_stream.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

/** Checks after a capture that failed that the stream works as before. */
async function assertStreamWorks(gpu: CudaDevice, stream = gpu.stream): Promise<void> {
  using probe = gpu.alloc("uint32", 4, { stream });
  probe.fill(3, { stream });
  assertEquals(await probe.download(), Uint32Array.of(3, 3, 3, 3));
}

testOnDevice("CudaGraph does nothing before a launch, and all of its work at each", async (gpu) => {
  using input = gpu.pinned("uint32", 64);
  using middle = gpu.zeros("uint32", 64);
  using output = gpu.pinned("uint32", 64);
  using graph = gpu.capture(() => {
    middle.copyFrom(input);
    middle.subarray(0, 8).fill(9);
    output.copyFrom(middle);
  });
  output.array.fill(0);
  await gpu.synchronize();
  assertEquals([graph.nodeCount, graph.launchCount, output.array[0]], [3, 0, 0]);
  for (const value of [5, 6]) {
    input.array.fill(value);
    graph.launch();
    await gpu.synchronize();
    assertEquals([...output.array.subarray(6, 10)], [9, 9, value, value]);
  }
  assertEquals(graph.launchCount, 2);
});

testOnDevice("CudaGraph gives its body the stream and can be launched on another", async (gpu) => {
  using recorded = gpu.createStream({ label: "recorded" });
  using other = gpu.createStream({ label: "other" });
  using buffer = gpu.zeros("uint8", 4096);
  using graph = gpu.capture((stream) => {
    assertEquals(stream, recorded);
    buffer.fill(4, { stream });
  }, { stream: recorded, label: "step" });
  graph.launch({ stream: other });
  buffer.subarray(0, 1).fill(1); // the default stream waits for the launch
  assertEquals([...(await buffer.download()).subarray(0, 3)], [1, 4, 4]);
  assertEquals(Deno.inspect(graph), "CudaGraph(step) 1 node");
});

testOnDevice("CudaGraph records copies of every shape and a batch", (gpu) => {
  const bytes = patternBytes(256);
  using source = gpu.alloc("uint8", [16, 16]);
  using turned = gpu.zeros("uint8", [16, 16]);
  using halves = gpu.zeros("uint8", 256);
  using grid = gpu.pitched("uint8", [16, 16]);
  using staged = gpu.staged("uint8", 256);
  writeBytes(source, bytes);
  staged.contents.set(bytes);
  using graph = gpu.capture(() => {
    turned.strided().copyFrom(source.strided().transpose());
    const flat = source.reshape(256);
    gpu.copyBatch([
      { destination: halves.subarray(0, 128), source: flat.subarray(128, 256) },
      { destination: halves.subarray(128, 256), source: flat.subarray(0, 128) },
    ]);
    grid.fill(7);
    staged.push();
  });
  graph.launch();
  assertEquals(readBytes(turned)[1], bytes[16]);
  assertEquals(
    readBytes(halves),
    Uint8Array.of(...bytes.subarray(128), ...bytes.subarray(0, 128)),
  );
  assertEquals(readBytes(staged), bytes);
  using row = gpu.zeros("uint8", [16, 16]);
  row.strided().copyFrom(grid);
  assertHoldsOnly(readBytes(row), 7);
});

testOnDevice("CudaGraph counts its copies at each launch, none while recorded", async (gpu) => {
  using a = gpu.zeros("uint8", 4096);
  using b = gpu.zeros("uint8", 4096);
  const { copiedBytes } = gpu.context;
  using graph = gpu.capture(() => b.copyFrom(a));
  assertEquals(gpu.context.copiedBytes, copiedBytes);
  const timing = await gpu.time(() => {
    graph.launch();
    graph.launch();
  });
  assertEquals(timing.copiedBytes, 8192);
  gpu.timeline.start();
  graph.launch();
  gpu.timeline.stop();
  graph.launch();
  const noted = gpu.timeline.events().map(({ action, byteLength }) => [action, byteLength]);
  gpu.timeline.clear();
  assertEquals(noted, [["copy", 4096]]);
});

testOnDevice("CudaGraph records a second stream that uses the same memory", async (gpu) => {
  using second = gpu.createStream();
  using a = gpu.zeros("uint32", 1024);
  using b = gpu.zeros("uint32", 1024);
  await gpu.synchronize();
  using graph = gpu.capture(() => {
    a.fill(8);
    b.copyFrom(a, { stream: second });
    a.fill(9);
  });
  await gpu.synchronize();
  assertEquals([await a.at(0), await b.at(0)], [0, 0]);
  graph.launch();
  assertEquals([await a.at(1023), await b.at(1023)], [9, 8]);
  await assertStreamWorks(gpu, second);
});

testOnDevice("CudaGraph records streams that wait for a captured event or stream", async (gpu) => {
  using second = gpu.createStream();
  using third = gpu.createStream();
  using parts = gpu.zeros("uint32", [3, 64]);
  using graph = gpu.capture((stream) => {
    using mark = stream.record();
    second.wait(mark);
    third.wait(stream);
    parts.view(0).fill(1);
  });
  assertEquals(graph.nodeCount, 1);
  using fork = gpu.capture((stream) => {
    second.wait(stream);
    third.wait(stream);
    using first = gpu.alloc("uint32", 64, { stream: second });
    first.fill(2, { stream: second });
    parts.reshape(192).subarray(64, 128).copyFrom(first, { stream: second });
  });
  fork.launch();
  graph.launch();
  const values = await parts.download();
  assertEquals([values[0], values[64], values[128]], [1, 2, 0]);
});

testHolding("CudaGraph.launch() comes after what other streams do", async (gpu) => {
  using writer = gpu.createStream();
  using source = gpu.zeros("uint8", 4096);
  using target = gpu.zeros("uint8", 4096);
  using graph = gpu.capture(() => target.copyFrom(source));
  using held = new HeldStream(gpu, writer);
  source.fill(7, { stream: writer });
  graph.launch();
  held.release();
  assertHoldsOnly(await target.download(), 7);
});

testHolding("CudaGraph.launch() comes before what other streams do later", async (gpu) => {
  using other = gpu.createStream();
  using source = gpu.zeros("uint8", 4096).fill(3);
  using target = gpu.zeros("uint8", 4096);
  using graph = gpu.capture(() => target.copyFrom(source));
  using held = new HeldStream(gpu, gpu.stream);
  graph.launch();
  source.fill(4, { stream: other });
  held.release();
  assertHoldsOnly(await target.download(), 3);
});

testHolding("CudaGraph.dispose() leaves launched work and its memory alone", (gpu) => {
  using output = gpu.pinned("uint8", 4096);
  const source = gpu.zeros("uint8", 4096).fill(6);
  const graph = gpu.capture(() => {
    using scratch = gpu.alloc("uint8", 4096);
    scratch.copyFrom(source);
    output.copyFrom(scratch);
  });
  using held = new HeldStream(gpu, gpu.stream);
  graph.launch();
  graph.dispose();
  source.dispose();
  graph.dispose();
  held.release();
  gpu.synchronizeSync();
  assertHoldsOnly(output.array, 6);
  assertThrows(() => graph.launch(), DisposedError, "CudaGraph");
});

testOnDevice("CudaGraph keeps the memory that it uses until it is disposed", (gpu) => {
  const resource = new CudaMemoryResource(gpu);
  const source = gpu.alloc("uint8", 2 ** 20, { resource }).fill(2);
  const input = gpu.pinned("uint8", 16);
  using target = gpu.zeros("uint8", 2 ** 20);
  const graph = gpu.capture(() => {
    target.copyFrom(source);
    target.subarray(0, 16).copyFrom(input);
  });
  input.array.fill(8);
  source.dispose();
  input.dispose();
  using other = gpu.alloc("uint8", 2 ** 20, { resource }).fill(1);
  graph.launch();
  assertEquals([readBytes(target)[0], readBytes(target)[16]], [8, 2]);
  assertEquals(readBytes(other)[0], 1);
  graph.dispose();
});

testOnDevice("CudaGraph keeps the order of a buffer and one that borrows it", async (gpu) => {
  using second = gpu.createStream();
  using owner = gpu.zeros("uint32", 64);
  using alias = gpu.fromHandle(owner.ptr, 256, { dtype: "uint32", owner });
  using target = gpu.zeros("uint32", 64);
  await gpu.synchronize();
  using graph = gpu.capture(() => {
    owner.fill(4);
    target.copyFrom(alias, { stream: second });
    owner.fill(5);
  });
  graph.launch();
  assertEquals([await target.at(0), await alias.at(0)], [4, 5]);
});

Deno.test("CudaGraph keeps buffers that nobody else holds, and goes when nobody holds it", async () => {
  const { result, warnings } = await runWithCollector(`
    const target = gpu.zeros("uint32", 64, { resource });
    await (async () => {
      const graph = (() => {
        const lost = gpu.zeros("uint32", 64, { resource, label: "lost" }).fill(3);
        return gpu.capture(() => target.copyFrom(lost));
      })();
      await collect();
      graph.launch();
    })();
    await collect();
    return [target.downloadSync()[0], gpu.live({ kind: "graph" }).count];
  `);
  assertEquals(result, [3, 0]);
  assertStringIncludes(warnings.join(), "lost");
});

testOnDevice("GpuBuffer.release() refuses memory that a graph uses", (gpu) => {
  using buffer = gpu.zeros("uint8", 64);
  using _graph = gpu.capture(() => buffer.fill(1));
  assertThrows(() => buffer.release(), TypeError, "dispose the graph");
});

testOnDevice("GpuBuffer.dispose() in a capture frees what was there before at its end", (gpu) => {
  const unused = gpu.zeros("uint8", 64);
  const used = gpu.zeros("uint8", 64);
  const pinned = gpu.pinned("uint8", 64);
  using graph = gpu.capture(() => {
    used.fill(1);
    unused.dispose();
    used.dispose();
    pinned.dispose();
  });
  assertEquals(gpu.live({ kind: ["device", "pinned"] }).count, 0);
  graph.launch();
});

Deno.test("CudaDevice.capture() refuses what cannot be recorded, and the stream goes on", () =>
  withDevice(async (gpu) => {
    using buffer = gpu.zeros("uint32", 4);
    using managed = gpu.managed("uint32", 4);
    using outside = gpu.createStream({ label: "outside" });
    using mark = outside.record();
    using graph = gpu.capture(() => buffer.fill(0));
    using stream = gpu.createStream({ label: "captured" });
    const refused: Record<string, () => unknown> = {
      "synchronizeSync()": () => stream.synchronizeSync(),
      "isIdle": () => stream.isIdle,
      "gpu.synchronizeSync()": () => gpu.synchronizeSync(),
      "uploadSync()": () => buffer.uploadSync(new Uint32Array(4), { stream }),
      "downloadSync()": () => buffer.downloadSync(undefined, { stream }),
      "downloadSync() on a stream that joins": () => {
        buffer.fill(1, { stream });
        buffer.downloadSync();
      },
      "prefetch()": () => managed.prefetch(gpu, { stream }),
      "pinned()": () => gpu.pinned("uint32", 4),
      "resource": () => gpu.alloc("uint32", 4, { stream, resource: new CudaMemoryResource(gpu) }),
      "stream.wait(stream)": () => stream.wait(outside),
      "stream.wait(event)": () => stream.wait(mark),
      "stream.dispose()": () => stream.dispose(),
      "capture()": () => gpu.capture(() => {}, { stream: outside }),
      "a promise": (): unknown => Promise.reject(new Error("later")),
      "launch()": () => graph.launch({ stream: outside }),
      "fromHandle()": () => gpu.fromHandle(buffer.ptr, 16),
      "disposeAll()": () => gpu.disposeAll(),
      "dispose()": () => gpu.dispose(),
      "release()": () => {
        using scratch = gpu.alloc("uint32", 4, { stream });
        scratch.release();
      },
      "other resource": () =>
        gpu.alloc("uint32", 4, { stream, resource: new CudaMemoryResource(gpu) }),
    };
    for (const [name, body] of Object.entries(refused)) {
      assertThrows(() => gpu.capture(body, { stream }), TypeError, undefined, name);
      await assertStreamWorks(gpu, stream);
    }
    assertEquals(gpu.live({ kind: "graph" }).count, 1);
  }));

testOnDevice("CudaDevice.capture() throws what its body throws", async (gpu) => {
  using buffer = gpu.zeros("uint32", 4);
  const failing = () => {
    using _scratch = gpu.alloc("uint32", 64).fill(1);
    buffer.fill(7);
    throw new RangeError("mine");
  };
  assertThrows(() => gpu.capture(failing), RangeError, "mine");
  assertEquals(await buffer.at(0), 0);
  await assertStreamWorks(gpu);
});

Deno.test("CudaDevice.capture() fails with what was refused, also when somebody caught it", () =>
  withDevice(async (gpu) => {
    using buffer = gpu.zeros("uint32", 4);
    let refused: unknown;
    const body = () => {
      buffer.fill(1);
      buffer.upload(new Uint32Array(4).fill(5)).catch((error) => refused = error);
    };
    const error = assertThrows(() => gpu.capture(body), TypeError, "upload ordinary memory");
    assertEquals(await buffer.at(0), 0);
    assertEquals(String(refused), String(error));
  }));

const DROPPED_CALLS = `
  const { CudaDevice } = await import("./mod.ts");
  using gpu = CudaDevice.open(0, { driver: "simulated" });
  using buffer = gpu.zeros("uint32", 4);
  using mark = gpu.createEvent({ label: "mark" });
  const told: string[] = [];
  const capture = async (body) => { gpu.capture(body).dispose(); };
  const drop = () => { buffer.upload(new Uint32Array(4)); };
  const bodies = [
    drop,
    () => { drop(); throw new Error("mine"); },
    (stream) => { stream.synchronize(); },
    () => { gpu.synchronize(); },
    (stream) => { stream.record(mark).synchronize(); },
  ];
  for (const body of bodies) {
    await capture(body).catch(({ message }) => told.push(message.split(" on ")[0]));
    await new Promise((resolve) => setTimeout(resolve)); // a turn, in which dropped errors are told
  }
  console.log(told.join("\\n"));
  capture(() => buffer.uploadSync(new Uint32Array(4)));
`;

Deno.test("CudaDevice.capture() tells once of calls that nobody awaited", async () => {
  const { code, stdout, stderr } = await evaluate(DROPPED_CALLS);
  assertEquals([code, ...stdout.trim().split("\n")], [
    1,
    "Cannot upload ordinary memory",
    "mine",
    "Cannot wait for the end of the work",
    "Cannot wait for the end of the work",
    "Cannot wait for CudaEvent(mark)",
  ]);
  assertStringIncludes(stderr, "Cannot upload ordinary memory"); // thrown by the body, caught nowhere
});

testOnDevice("CudaDevice.capture() refuses a stream that a promise waits for", async (gpu) => {
  using gate = gpu.createStream();
  const graphs: unknown[] = [];
  using buffer = gpu.zeros("uint8", 2 ** 20);
  for (let i = 0; i < 200; i++) buffer.fill(i % 2, { stream: gate });
  const waiting = gate.synchronize();
  try {
    using graph = gpu.capture(() => {}, { stream: gate });
    graphs.push(graph);
  } catch (error) {
    assert(error instanceof TypeError);
    assertStringIncludes(error.message, "await that first");
  }
  await waiting;
  using graph = gpu.capture(() => {}, { stream: gate });
  assertEquals(graph.nodeCount, 0);
});

testOnDevice("CudaEvent of a capture is in the graph until it is recorded again", async (gpu) => {
  using mark = gpu.createEvent();
  using other = gpu.createStream();
  using _graph = gpu.capture((stream) => stream.record(mark));
  assertThrows(() => mark.isComplete, TypeError, "recorded in a capture");
  assertThrows(() => mark.synchronizeSync(), TypeError, "recorded in a capture");
  assertThrows(() => other.wait(mark), TypeError, "recorded in a capture");
  using before = gpu.stream.record();
  assertThrows(() => mark.secondsSince(before), TypeError, "recorded in a capture");
  assertThrows(() => before.secondsSince(mark), TypeError, "recorded in a capture");
  gpu.stream.record(mark);
  other.wait(mark);
  await mark.synchronize();
  assert(mark.isComplete);
});

Deno.test("CudaGraph.launch() refuses a disposed stream and a stream that is being captured", () =>
  withDevice((gpu) => {
    using buffer = gpu.zeros("uint32", 4);
    using graph = gpu.capture(() => buffer.fill(1));
    const stream = gpu.createStream();
    stream.dispose();
    assertThrows(() => graph.launch({ stream }), DisposedError, "CudaStream");
    assertThrows(() => gpu.capture(() => graph.launch()), TypeError, "launch a graph");
    const caught = () => gpu.capture(() => void assertThrows(() => graph.launch(), TypeError));
    assertThrows(caught, TypeError, "launch a graph"); // it would lack the launch
    assertThrows(() => gpu.capture(() => {}, { stream }), DisposedError, "CudaStream");
  }));

testOnDevice("CudaGraph counts as live and goes with its device's other objects", (gpu) => {
  const graph = gpu.capture(() => {}, { label: "empty" });
  assertEquals(gpu.live({ kind: "graph" }).objects.map(({ name }) => name), ["empty"]);
  gpu.context.ledger.releaseAfter(0);
  assert(graph.disposed);
});

testOnDevice("CudaDevice.capture() keeps to the limits of memory", (gpu) => {
  const record = (byteLength: number) =>
    gpu.capture(() => gpu.alloc("uint8", byteLength).dispose());
  assertThrows(() => record(2 ** 50), OutOfMemoryError, "more than the device has");
  using graph = record(2 ** 21);
  gpu.limit("1 MiB");
  assertThrows(() => graph.launch(), OutOfMemoryError, "limit");
  gpu.limit("2 MiB");
  graph.launch();
  graph.launch();
  gpu.limit("1 MiB");
  assertThrows(() => graph.launch(), OutOfMemoryError, "limit"); // takes it anew each time
  gpu.limit(undefined);
  gpu.synchronizeSync();
});

testOnTwoDevices("CudaDevice.capture() refuses copies between devices", async (first, second) => {
  using source = first.zeros("uint8", 4096);
  using target = second.zeros("uint8", 4096);
  const body = () => target.copyFrom(source);
  assertThrows(() => second.capture(body), TypeError, "copy between devices");
  target.copyFrom(source);
  assertHoldsOnly(await target.download(), 0);
});
