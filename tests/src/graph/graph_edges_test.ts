// Graphs beside all the rest: borrowed memory, caches, limits, accounts, and what goes wrong.

import {
  assert,
  assertEquals,
  assertGreaterOrEqual,
  assertLess,
  assertRejects,
  assertStrictEquals,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { simulateDriver } from "../../../ffi/simulated/driver.ts";
import type { DeviceBuffer } from "../../../src/buffers/device_buffer.ts";
import "../../../src/cards/shown.ts";
import { CudaDevice } from "../../../src/device/device.ts";
import { GraphMemoryResource } from "../../../src/graph/graph_memory_resource.ts";
import { CudaMemoryResource } from "../../../src/memory/cuda_memory_resource.ts";
import { CachingResourceAdaptor } from "../../../src/resources/caching_resource_adaptor.ts";
import { CudaError, DisposedError, OutOfMemoryError } from "../../../src/words/errors.ts";
import { assertHoldsOnly, readBytes } from "../../support/contents.ts";
import { testOnTwoDevices } from "../../support/driver.ts";
import { faultyDriver } from "../../support/faulty_driver.ts";
import { HeldStream, testHolding } from "../../support/held_stream.ts";
import { CaughtWarnings } from "../../support/warnings.ts";
import { freeBytes, testOnDevice, withDevice } from "../../support/with_device.ts";

testHolding("CudaGraph.launch() waits for who still reads what it allocates anew", async (gpu) => {
  using other = gpu.createStream();
  using result = gpu.zeros("uint8", 4096);
  const made: DeviceBuffer<"uint8">[] = [];
  using graph = gpu.capture(() => made.push(gpu.alloc("uint8", 4096)));
  graph.launch();
  const [output] = made;
  output?.fill(3);
  await gpu.synchronize();
  using held = new HeldStream(gpu, other);
  if (output !== undefined) result.copyFrom(output, { stream: other });
  graph.launch();
  held.release();
  assertHoldsOnly(await result.download(), 3);
  output?.dispose();
});

testOnDevice("CudaGraph keeps memory that it uses through a borrowed address", (gpu) => {
  const resource = new CudaMemoryResource(gpu);
  const owner = gpu.alloc("uint8", 4096, { resource }).fill(1);
  const alias = gpu.fromHandle(owner.ptr, 4096, { owner });
  using target = gpu.zeros("uint8", 4096);
  const graph = gpu.capture(() => target.copyFrom(alias));
  owner.dispose();
  alias.dispose();
  using other = gpu.alloc("uint8", 4096, { resource }).fill(9);
  graph.launch();
  assertEquals([readBytes(target)[0], readBytes(other)[0]], [1, 9]);
  graph.dispose();
});

for (const known of ["destination", "source"] as const) {
  testOnDevice(`CudaGraph keeps both ends of a copy whose stream joins by its ${known}`, (gpu) => {
    const resource = new CudaMemoryResource(gpu);
    using other = gpu.createStream();
    const ends = {
      destination: gpu.alloc("uint8", 4096, { resource }).fill(1),
      source: gpu.alloc("uint8", 4096, { resource }).fill(2),
    };
    const { destination, source } = ends;
    using result = gpu.zeros("uint8", 4096);
    gpu.synchronizeSync();
    const graph = gpu.capture(() => {
      ends[known].fill(3);
      destination.copyFrom(source, { stream: other });
      result.copyFrom(destination);
    });
    destination.dispose();
    source.dispose();
    using taken = gpu.alloc("uint8", [2, 4096], { resource }).fill(9);
    graph.launch();
    const expected = known === "source" ? 3 : 2;
    assertEquals([readBytes(result)[0], ...new Set(readBytes(taken))], [expected, 9]);
    graph.dispose();
  });
}

testOnDevice("CudaDevice.capture() refuses borrowed memory whose owner was disposed", (gpu) => {
  using pinned = gpu.pinned("uint8", 4096);
  const capture = (prepare: (owner: Disposable) => void, body: (owner: Disposable) => void) => {
    const owner = gpu.alloc("uint8", 4096);
    using borrowed = gpu.fromHandle(owner.ptr, 4096);
    prepare(owner);
    using _graph = gpu.capture(() => {
      body(owner);
      borrowed.copyFrom(pinned);
    });
  };
  const dispose = (owner: Disposable) => owner[Symbol.dispose]();
  const nothing = () => {};
  assertThrows(() => capture(dispose, nothing), DisposedError);
  // Disposed inside, the memory goes at the end of the capture: before the graph is made ready.
  assertThrows(() => capture(nothing, dispose), DisposedError);
  gpu.synchronizeSync();
});

testOnDevice("CudaDevice.capture() refuses a graph over memory that others have freed", (gpu) => {
  using pinned = gpu.pinned("uint8", 4096);
  const resource = new CudaMemoryResource(gpu);
  for (const record of ["copy", "fill"]) {
    const address = resource.allocate(4096);
    using foreign = gpu.fromHandle(address, 4096, { label: "theirs" });
    const error = assertThrows(() =>
      gpu.capture(() => {
        if (record === "copy") foreign.copyFrom(pinned);
        else foreign.fill(1);
        resource.deallocate(address);
      }), TypeError);
    assertEquals(
      error.message,
      "Cannot make a graph: the memory of theirs that it uses was freed; keep it until the " +
        "graph is disposed",
    );
  }
  gpu.synchronizeSync();
});

testOnDevice("CudaGraph.launch() refuses freed foreign memory, and launches no part", (gpu) => {
  using pinned = gpu.pinned("uint8", 4096);
  using own = gpu.zeros("uint8", 4096);
  pinned.array.fill(5);
  const resource = new CudaMemoryResource(gpu);
  const address = resource.allocate(4096);
  using foreign = gpu.fromHandle(address, 4096, { label: "theirs" });
  using graph = gpu.capture(() => {
    own.copyFrom(pinned);
    foreign.copyFrom(pinned);
  }, { label: "step" });
  graph.launch();
  gpu.synchronizeSync();
  own.fill(0);
  gpu.synchronizeSync();
  resource.deallocate(address);
  const error = assertThrows(() => graph.launch(), TypeError);
  assertEquals(
    error.message,
    "Cannot launch CudaGraph(step): the memory of theirs that it uses was freed; keep it until " +
      "the graph is disposed",
  );
  assertHoldsOnly(own.downloadSync(), 0);
});

Deno.test("GrowableBuffer shrinks while a graph knows it, and the graph waits for its size", () =>
  withDevice((gpu) => {
    const step = 2 << 20;
    using pinned = gpu.pinned("uint8", step);
    using grown = gpu.growable("uint8", { reserveSize: 8 * step, shape: 4 * step });
    using end = grown.subarray(3 * step, 4 * step);
    pinned.array.fill(9);
    gpu.synchronizeSync();
    const full = freeBytes(gpu);
    using graph = gpu.capture(() => {
      grown.resize(step).shrinkToFit().resize(4 * step);
      end.copyFrom(pinned);
    }, { label: "step" });
    graph.launch();
    grown.resize(step).shrinkToFit();
    gpu.synchronizeSync();
    assertEquals([freeBytes(gpu), grown.capacityBytes], [full + 3 * step, step]);
    const error = assertThrows(() => graph.launch(), RangeError);
    assertEquals(
      error.message,
      `Cannot launch CudaGraph(step): virtual#${grown.storageId} has shrunk to 2 MiB, and had 8 MiB ` +
        "when it was recorded; resize() or reserve() it first",
    );
    grown.resize(4 * step).fill(1);
    graph.launch();
    assertEquals(new Set(end.downloadSync()), new Set([9]));
    graph.update(() => grown.subarray(0, step).copyFrom(pinned));
    grown.resize(step);
    const half = freeBytes(gpu);
    grown.shrinkToFit().reserve(4 * step); // before the GPU was asked to free anything
    graph.launch();
    assertEquals([new Set(grown.downloadSync()), freeBytes(gpu)], [new Set([9]), half]);
  }));

testOnDevice(
  "GrowableBuffer does not shrink under a launch that waits for a transfer",
  async (gpu) => {
    const step = 2 << 20;
    using other = gpu.alloc("uint8", 64 << 20);
    using grown = gpu.growable("uint8", { reserveSize: 8 * step, shape: 4 * step });
    using graph = gpu.capture(() => {
      grown.fill(3);
      other.subarray(0, 10).fill(4);
    });
    const upload = other.upload(new Uint8Array(64 << 20).fill(1));
    graph.launch(); // behind the upload
    grown.resize(0);
    assertThrows(() => grown.shrinkToFit(), TypeError, "await the transfer");
    await upload;
    await gpu.synchronize();
    grown.resize(4 * step);
    assertEquals([await grown.at(-1), await other.at(9), await other.at(10)], [3, 4, 1]);
  },
);

testOnDevice("CudaGraph leaves memory that it alone keeps visible", (gpu) => {
  const resource = new CudaMemoryResource(gpu);
  const block = gpu.alloc("uint8", 2 ** 26, { resource });
  const graph = gpu.capture(() => block.fill(1));
  const { cachedBytes } = gpu.memory;
  block.dispose();
  assertEquals(gpu.memory.cachedBytes, cachedBytes + 2 ** 26);
  gpu.limit(gpu.memory.cachedBytes + 2 ** 20);
  assertThrows(() => gpu.alloc("uint8", 2 ** 21, { resource }), OutOfMemoryError, "limit");
  gpu.limit(undefined);
  graph.dispose();
  assertEquals(gpu.memory.cachedBytes, cachedBytes);
});

testOnDevice("CachingResourceAdaptor.trim() during a capture gives back at its end", (gpu) => {
  using cache = new CachingResourceAdaptor(gpu.memoryResource);
  using stream = gpu.createStream();
  using buffer = gpu.zeros("uint8", 64);
  gpu.alloc("uint8", 2 ** 21, { resource: cache, stream }).dispose();
  using graph = gpu.capture(() => {
    buffer.fill(1, { stream });
    cache.trim();
    assertGreaterOrEqual(cache.reservedBytes, 2 ** 21);
  }, { stream });
  assertEquals(cache.reservedBytes, 0);
  graph.launch();
});

Deno.test("CudaDevice.capture() asks a program that orders streams itself to let them wait", () => {
  using gpu = CudaDevice.open(0, { driver: simulateDriver(), order: "manual" });
  using other = gpu.createStream();
  using target = gpu.alloc("uint8", 64);
  const fillElsewhere = () => {
    using scratch = gpu.alloc("uint8", 64);
    scratch.fill(1, { stream: other });
  };
  assertThrows(() => gpu.capture(fillElsewhere), TypeError, "let the stream wait");
  using graph = gpu.capture((stream) => {
    using scratch = gpu.alloc("uint8", 64);
    other.wait(stream);
    scratch.fill(4, { stream: other });
    stream.wait(other);
    target.copyFrom(scratch);
  });
  graph.launch();
  assertEquals(readBytes(target)[63], 4);
});

testOnDevice("A buffer's card during a capture reads nothing and records nothing", (gpu) => {
  using stream = gpu.createStream();
  using buffer = gpu.zeros("uint8", 64);
  using other = gpu.zeros("uint8", 64);
  using beside = gpu.createStream();
  using graph = gpu.capture(() => {
    buffer.fill(1, { stream });
    const show = (buffer as unknown as Record<symbol, () => Record<string, string>>)[
      Symbol.for("Jupyter.display")
    ];
    assert(show?.call(buffer)["text/plain"]?.includes("capture"));
    other.fill(7, { stream: beside }); // takes no part
  }, { stream });
  assertEquals(graph.nodeCount, 1);
  assertEquals(readBytes(other)[0], 7);
});

testHolding("Graph memory goes back when its stream was disposed while it ran", (gpu) => {
  const before = new GraphMemoryResource(gpu).reservedBytes;
  const stream = gpu.createStream();
  using gate = gpu.createStream();
  const graph = gpu.capture(() => gpu.alloc("uint8", 2 ** 20, { stream }).dispose(), { stream });
  using held = new HeldStream(gpu, gate);
  stream.wait(gate);
  graph.launch();
  stream.dispose();
  graph.dispose();
  held.release();
  gpu.synchronizeSync();
  gpu.context.sweep();
  assertEquals(new GraphMemoryResource(gpu).reservedBytes, before);
});

Deno.test("GpuBuffer.release() gives the memory of a graph away, and takes it once it is there", () =>
  withDevice((gpu) => {
    const resource = new GraphMemoryResource(gpu);
    const before = resource.reservedBytes;
    const made: DeviceBuffer<"uint8">[] = [];
    const graph = gpu.capture(() => made.push(gpu.alloc("uint8", 4096).fill(5)));
    const [output] = made;
    assertThrows(() => output?.release(), TypeError, "launch the graph first");
    graph.launch();
    graph.dispose();
    const address = output?.release() ?? 0n;
    const adopted = gpu.fromHandle(address, 4096, { resource });
    assertEquals(readBytes(adopted)[4095], 5);
    adopted.dispose();
    gpu.synchronizeSync();
    gpu.context.sweep();
    assertEquals(resource.reservedBytes, before);
  }));

testOnTwoDevices("Graph memory of both devices goes back with the graph", (first, second) => {
  const [before, after] = [freeBytes(second), new GraphMemoryResource(second).reservedBytes];
  const graph = first.capture((stream) => {
    second.stream.wait(stream);
    second.alloc("uint8", 2 ** 20).fill(1).dispose();
  });
  graph.launch();
  first.synchronizeSync();
  graph.dispose();
  first.context.sweep();
  assertEquals(new GraphMemoryResource(second).reservedBytes, after);
  assertGreaterOrEqual(freeBytes(second), before - 2 ** 28);
});

Deno.test("CudaGraph launches again under a limit below what is live, as it takes nothing new", () =>
  withDevice((gpu) => {
    const made: DeviceBuffer<"uint8">[] = [];
    const graph = gpu.capture(() => made.push(gpu.alloc("uint8", 2 ** 21).fill(1)));
    graph.launch();
    gpu.limit("1 MiB");
    graph.launch();
    gpu.limit(undefined);
    for (const buffer of made) buffer.dispose();
    graph.dispose();
    gpu.synchronizeSync();
  }));

testOnDevice("CudaDevice.capture() goes on after a question or a wait that was refused", (gpu) => {
  using other = gpu.createStream();
  using buffer = gpu.zeros("uint8", 64);
  using graph = gpu.capture((stream) => {
    const gone = stream.record();
    gone.dispose();
    assertThrows(() => other.wait(gone), DisposedError);
    assertThrows(() => stream.isIdle, TypeError, "in a capture");
    buffer.fill(3);
  });
  graph.launch();
  assertEquals(readBytes(buffer)[0], 3);
});

Deno.test("CudaDevice.capture() lets everything go when the driver fails at any step", () => {
  const steps = [
    "cuStreamBeginCapture_v2",
    "cuStreamEndCapture",
    "cuGraphGetNodes",
    "cuGraphInstantiateWithFlags",
    "cuGraphLaunch",
  ] as const;
  for (const step of steps) {
    using warnings = new CaughtWarnings();
    const driver = simulateDriver();
    using gpu = CudaDevice.open(0, { driver: { ...driver, [step]: () => 700 } });
    const buffer = gpu.alloc("uint8", 64).fill(1);
    const run = () => {
      using graph = gpu.capture(() => {
        using scratch = gpu.alloc("uint8", 64);
        scratch.copyFrom(buffer);
      });
      graph.launch();
    };
    assertThrows(run, Error, step);
    buffer.release(); // no graph keeps it
    assertEquals(gpu.live().count, 0, step);
    // A stream that stays captured is said, all else is given back.
    assertEquals(warnings.texts.length, step === "cuStreamEndCapture" ? 1 : 0, step);
  }
});

Deno.test("CudaDevice.capture() waits for the GPU when a question after its end fails", () => {
  const driver = simulateDriver();
  let status = 0;
  const cuStreamQuery = (handle: bigint) => status === 0 ? driver.cuStreamQuery(handle) : status;
  using gpu = CudaDevice.open(0, { driver: { ...driver, cuStreamQuery } });
  using buffer = gpu.zeros("uint8", 64);
  using growable = gpu.growable("uint8", { shape: 2 ** 22, reserveSize: "8 MiB" });
  using warnings = new CaughtWarnings();
  const graph = gpu.capture(() => {
    buffer.fill(1);
    growable.shrink("2 MiB");
    status = 700;
  });
  status = 0;
  graph.dispose();
  assertEquals([warnings.texts, growable.capacityBytes], [[], 2 ** 21]);
});

Deno.test("CudaDevice.capture() fails when a free in it cannot be recorded, and leaves nothing", () => {
  for (const name of ["cuMemFreeAsync", "cuStreamWaitEvent"] as const) {
    const { driver, setFault } = faultyDriver(simulateDriver());
    using gpu = CudaDevice.open(0, { driver });
    using stream = gpu.createStream();
    using output = gpu.zeros("uint8", 64);
    const freeBefore = freeBytes(gpu);
    const record = () =>
      gpu.capture(() => {
        using scratch = gpu.zeros("uint8", 64);
        stream.wait(gpu.stream);
        output.copyFrom(scratch, { stream });
        setFault({ name });
      });
    assertThrows(record, CudaError, name);
    setFault(undefined);
    assertEquals(freeBytes(gpu), freeBefore);
    using graph = gpu.capture(() => void output.fill(4));
    graph.launch();
    assertEquals(readBytes(output)[0], 4);
  }
});

Deno.test("CudaDevice.capture() ends the capture of its stream also when the driver fails to twice", () => {
  for (const failures of [1, 2]) {
    using warnings = new CaughtWarnings();
    const api = simulateDriver();
    let left = failures;
    const cuStreamEndCapture: typeof api.cuStreamEndCapture = (stream, graph) =>
      left-- > 0 ? 999 : api.cuStreamEndCapture(stream, graph);
    using gpu = CudaDevice.open(0, { driver: { ...api, cuStreamEndCapture } });
    using output = gpu.zeros("uint8", 64);
    assertThrows(() => gpu.capture(() => void output.fill(3)), CudaError, "cuStreamEndCapture");
    output.fill(4);
    assertEquals([readBytes(output)[0], warnings.texts], [4, []]);
  }
});

Deno.test("CudaDevice.capture() that the driver does not end is ended before its streams are used", () => {
  for (const use of ["origin", "joined", "default capture"] as const) {
    using warnings = new CaughtWarnings();
    const api = simulateDriver();
    let left = 4;
    const cuStreamEndCapture: typeof api.cuStreamEndCapture = (stream, graph) =>
      left-- > 0 ? 999 : api.cuStreamEndCapture(stream, graph);
    using gpu = CudaDevice.open(0, { driver: { ...api, cuStreamEndCapture } });
    using joined = gpu.createStream({ label: "joined" });
    using other = gpu.createStream();
    using output = gpu.zeros("uint8", 64);
    gpu.synchronizeSync();
    const record = () =>
      gpu.capture((stream) => {
        output.fill(3);
        joined.wait(stream);
        throw new TypeError("of the program");
      });
    assertThrows(record, TypeError, "of the program");
    assertEquals(warnings.texts.length, 1);
    assertStringIncludes(
      warnings.texts[0] ?? "",
      "CudaStream(default), which is still being captured",
    );
    other.synchronizeSync();
    const stream = use === "joined" ? joined : gpu.stream;
    const again = () => {
      if (use !== "default capture") return void output.fill(4, { stream });
      using graph = gpu.capture(() => void output.fill(4));
      graph.launch();
    };
    const error = assertThrows(again, CudaError);
    assertStringIncludes(error.message, `Cannot use ${stream}: its capture, which failed, could`);
    left = 0;
    again();
    stream.synchronizeSync();
    assertEquals([readBytes(output)[0], warnings.texts.length], [4, 1]);
  }
});

Deno.test("CudaDevice.capture() that broke before the driver ended it fails no later use of its stream", () => {
  using warnings = new CaughtWarnings();
  const api = simulateDriver();
  let left = 2;
  const cuStreamEndCapture: typeof api.cuStreamEndCapture = (stream, graph) =>
    left-- > 0 ? 999 : api.cuStreamEndCapture(stream, graph);
  using gpu = CudaDevice.open(0, { driver: { ...api, cuStreamEndCapture } });
  using output = gpu.zeros("uint8", 64);
  const record = () =>
    gpu.capture((stream) => {
      api.cuStreamQuery(stream.handle); // which breaks it
      throw new TypeError("of the program");
    });
  assertThrows(record, TypeError, "of the program");
  output.fill(4);
  assertEquals([readBytes(output)[0], warnings.texts.length], [4, 1]);
});

Deno.test("CudaDevice.capture() that the driver did not end is left alone when its stream is gone", () => {
  using warnings = new CaughtWarnings();
  const api = simulateDriver();
  let endCount = 0;
  const cuStreamEndCapture = () => (endCount++, 999);
  using gpu = CudaDevice.open(0, { driver: { ...api, cuStreamEndCapture } });
  using joined = gpu.createStream();
  using output = gpu.zeros("uint8", 64);
  {
    using stream = gpu.createStream();
    const record = () =>
      gpu.capture(() => {
        joined.wait(stream);
        throw new TypeError("of the program");
      }, { stream });
    assertThrows(record, TypeError, "of the program");
  }
  const before = endCount;
  assertThrows(() => output.fill(4, { stream: joined }), CudaError, "CAPTURE"); // nothing is lost unseen
  assertEquals([endCount, warnings.texts.length], [before, 2]); // the capture, and the stream's disposal
});

Deno.test("CudaDevice.capture() that a call of another library broke says so, and the stream goes on", () =>
  withDevice((gpu) => {
    using output = gpu.zeros("uint8", 64);
    using stream = gpu.createStream();
    const { handle } = stream;
    const record = () =>
      gpu.capture(() => {
        output.fill(3, { stream });
        gpu.context.driver.api.cuStreamSynchronize(handle);
      }, { stream });
    const error = assertThrows(record, CudaError);
    assertEquals(error.codeName, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED");
    output.fill(4, { stream });
    assertEquals(readBytes(output)[0], 4);
  }));

Deno.test("CudaDevice.capture() throws the program's own error also where the context cannot be current", () => {
  const { driver, setFault } = faultyDriver(simulateDriver());
  using gpu = CudaDevice.open(0, { driver });
  using other = CudaDevice.open(1, { driver });
  using output = gpu.zeros("uint8", 64);
  const own = new Error("of the program");
  const record = () =>
    gpu.capture(() => {
      output.fill(3);
      driver.cuCtxPushCurrent_v2(other.context.handle);
      setFault({ name: "cuCtxPushCurrent_v2" });
      throw own;
    });
  using warnings = new CaughtWarnings();
  assertStrictEquals(assertThrows(record), own);
  setFault(undefined);
  driver.cuCtxPopCurrent_v2(new BigUint64Array(1));
  output.fill(4);
  assertEquals([readBytes(output)[0], warnings.texts], [4, []]);
});

Deno.test("CudaGraph.dispose() in a loop gives back what graphs took, beside one that lives, too", () =>
  withDevice((gpu) => {
    const megabyte = 2 ** 20;
    using output = gpu.zeros("uint8", 64);
    const make = () =>
      gpu.capture(() => {
        using scratch = gpu.zeros("uint8", 32 * megabyte);
        output.copyFrom(scratch.subarray(0, 64));
      });
    const memory = new GraphMemoryResource(gpu);
    for (const hasOther of [false, true]) {
      using _other = hasOther ? make() : undefined;
      for (let i = 0; i < 50; i++) {
        using graph = make();
        graph.launch();
      }
      assertLess(memory.reservedBytes, 800 * megabyte);
      gpu.synchronizeSync();
      assertLess(memory.reservedBytes, 200 * megabyte);
    }
  }));

Deno.test("CudaGraph tells what the driver fails with from memory that is gone", () => {
  const { driver, setFault } = faultyDriver();
  return withDevice((gpu) => {
    using output = gpu.zeros("uint8", 64);
    setFault({ name: "cuPointerGetAttribute" });
    const record = () => gpu.capture(() => void output.fill(3));
    assertThrows(record, CudaError, "cuPointerGetAttribute");
    setFault(undefined);
    record().dispose();
  }, { driver });
});

testOnDevice("CudaDevice.capture() says that time() cannot be recorded", async (gpu) => {
  using x = gpu.zeros("uint8", 64);
  let timing: Promise<unknown> | undefined;
  const body = () => {
    timing = gpu.time(() => x.fill(1));
    timing.catch(() => {});
  };
  assertThrows(
    () => gpu.capture(body),
    TypeError,
    "Cannot time work on CudaStream(default) in a",
  );
  await assertRejects(() => timing ?? Promise.resolve(), TypeError, "Cannot time work");
  assertEquals(await x.at(0), 0);
});

Deno.test("CudaDevice.capture() names a lazy buffer that has no memory yet, and goes on with one that has", () =>
  withDevice(async (gpu) => {
    using late = gpu.lazy("uint8", 64, { label: "late" });
    const body = () => void late.fill(5);
    const words =
      "Cannot use late during a capture: it takes its memory at its first use; call its ensure";
    assertThrows(() => gpu.capture(body), TypeError, words);
    late.fill(1);
    using graph = gpu.capture(body);
    graph.launch();
    assertEquals(await late.at(63), 5);
  }));
