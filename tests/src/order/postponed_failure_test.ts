// Calls that come after a transfer are made when it is over: where one of them fails then, nobody has
// awaited it, and whatever waits for its stream next tells the program.

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import type { DeviceBuffer } from "../../../src/buffers/device_buffer.ts";
import type { CudaDevice } from "../../../src/device/device.ts";
import type { CudaGraph } from "../../../src/graph/graph.ts";
import type { CudaEvent } from "../../../src/order/event.ts";
import type { CudaStream } from "../../../src/order/stream.ts";
import { CudaError } from "../../../src/words/errors.ts";
import { type Fault, faultyDriver } from "../../support/faulty_driver.ts";
import { LATE_BYTES, requireUnderWay } from "../../support/under_way.ts";
import { withDevice } from "../../support/with_device.ts";

/** A device, a stream, and a call on that which is to fail behind a transfer. */
interface FailureScene {
  readonly gpu: CudaDevice;
  readonly stream: CudaStream;
  readonly x: DeviceBuffer<"uint8">;
  /** Makes the call wait for the stream of the transfer, in vain. */
  readonly setFault: (fault: Fault | undefined) => void;
}

/** The failing call: the wait for the stream of the transfer. */
const FAULT = { name: "cuStreamWaitEvent" } as const;

/** Runs a test with a transfer under way. */
async function withUpload(body: (scene: FailureScene) => unknown): Promise<void> {
  const { driver, setFault } = faultyDriver();
  await withDevice(async (gpu) => {
    using stream = gpu.createStream();
    using x = gpu.alloc("uint8", LATE_BYTES);
    const upload = x.upload(new Uint8Array(LATE_BYTES).fill(7));
    requireUnderWay(gpu.stream);
    await body({ gpu, stream, x, setFault });
    await upload;
    setFault(undefined);
  }, { driver });
}

/** Has a graph fail that is launched behind an upload, and a download of what it writes tell why. */
async function failToLaunch(
  graph: CudaGraph,
  y: DeviceBuffer<"uint8">,
  { stream, x, setFault }: FailureScene,
): Promise<void> {
  const upload = x.upload(new Uint8Array(LATE_BYTES).fill(8));
  graph.launch({ stream });
  setFault({ name: "cuGraphLaunch" });
  await assertRejects(() => y.download(), CudaError, "cuGraphLaunch");
  setFault(undefined);
  await upload;
}

/** Ways to wait for a stream, each of which has an error to tell. */
const WAITS: Readonly<Record<string, (scene: FailureScene) => unknown>> = {
  "CudaStream.synchronize()": ({ stream }) => stream.synchronize(),
  "CudaStream.synchronizeSync()": ({ stream }) => stream.synchronizeSync(),
  "CudaDevice.synchronize()": ({ gpu }) => gpu.synchronize(),
  "CudaDevice.synchronizeSync()": ({ gpu }) => gpu.synchronizeSync(),
  "CudaEvent.synchronize()": async ({ stream }) => {
    using event = stream.record();
    await event.synchronize();
  },
  "CudaEvent.synchronizeSync()": ({ stream }) => {
    using event = stream.record();
    event.synchronizeSync();
  },
  "CudaEvent.isComplete": async ({ stream, x }) => {
    using event = stream.record();
    await x.at(0); // the upload is over
    return event.isComplete;
  },
};

for (const [name, wait] of Object.entries(WAITS)) {
  Deno.test(`${name} tells of a call behind a transfer that failed, once`, () =>
    withUpload(async (scene) => {
      const { gpu, stream, x, setFault } = scene;
      using y = gpu.zeros("uint8", LATE_BYTES);
      y.copyFrom(x, { stream });
      setFault(FAULT);
      await assertRejects(async () => await wait(scene), CudaError, FAULT.name);
      setFault(undefined);
      await wait(scene);
      await gpu.synchronize();
    }));
}

for (const name of ["CudaDevice.synchronize()", "CudaDevice.synchronizeSync()"]) {
  Deno.test(`${name} tells of a call that failed on a stream disposed since, once`, () =>
    withUpload(async (scene) => {
      const { gpu, stream, x, setFault } = scene;
      {
        using y = gpu.zeros("uint8", LATE_BYTES);
        y.copyFrom(x, { stream });
      }
      stream.dispose();
      setFault(FAULT);
      await x.at(0); // the upload is over
      setFault(undefined);
      await assertRejects(async () => await WAITS[name]?.(scene), CudaError, FAULT.name);
      await WAITS[name]?.(scene);
    }));
}

Deno.test("CudaEvent that could not be recorded behind a transfer says so, and is not complete", () =>
  withUpload(async ({ stream, x, setFault }) => {
    x.subarray(0, 8).fill(1, { stream });
    using event = stream.record();
    setFault({ name: "cuEventRecord" });
    await assertRejects(() => event.synchronize(), CudaError, "cuEventRecord");
    setFault(undefined);
    stream.record(event);
    await event.synchronize();
  }));

/** Runs a test with events before and behind a copy that comes after a transfer, and fails. */
function withFailedCopy(body: (early: CudaEvent, late: CudaEvent) => unknown): Promise<void> {
  return withUpload(async ({ gpu, stream, x, setFault }) => {
    using early = stream.record();
    using y = gpu.zeros("uint8", LATE_BYTES);
    y.copyFrom(x, { stream });
    using late = stream.record();
    setFault(FAULT);
    await x.at(0); // the upload is over
    setFault(undefined);
    await body(early, late);
    await stream.synchronize();
  });
}

Deno.test("CudaEvent tells of what failed before it, and of nothing behind it", () =>
  withFailedCopy((early, late) => {
    assertEquals(early.isComplete, true);
    assertThrows(() => late.isComplete, CudaError, FAULT.name);
  }));

Deno.test("CudaEvent.secondsSince() tells what failed before one of the two events, once", () =>
  withFailedCopy(async (early, late) => {
    const error = assertThrows(() => late.secondsSince(early), CudaError, FAULT.name);
    assertEquals(error.call, FAULT.name);
    await late.synchronize();
    assert(late.secondsSince(early) >= 0);
  }));

Deno.test("CudaDevice.downloadPinned() fails when its copy behind a transfer does, and leaves nothing", () =>
  withUpload(async ({ gpu, stream, x, setFault }) => {
    const download = gpu.downloadPinned(x, { stream });
    setFault(FAULT);
    await assertRejects(() => download, CudaError, FAULT.name);
    setFault(undefined);
    using host = await gpu.downloadPinned(x, { stream });
    assertEquals(host.array[LATE_BYTES - 1], 7);
  }));

/** Ways to read memory that a failed call was to write, on streams that have done nothing wrong. */
const READS: Readonly<Record<string, (gpu: CudaDevice, y: DeviceBuffer<"uint8">) => unknown>> = {
  "GpuBuffer.download()": (_gpu, y) => y.download(),
  "GpuBuffer.download(into)": (_gpu, y) => y.download(new Uint8Array(LATE_BYTES)),
  "GpuBuffer.download() of a part": (_gpu, y) => y.subarray(5, 10).download(),
  "GpuBuffer.download() behind a write of another part": async (_gpu, y) => {
    y.subarray(0, 8).fill(1);
    await y.download();
  },
  "GpuBuffer.downloadSync()": (_gpu, y) => y.downloadSync(),
  "GpuBuffer.at()": (_gpu, y) => y.at(0),
  "StridedView.download()": (_gpu, y) => y.strided({ shape: [4, 4], strides: [64, 1] }).download(),
  "GpuBuffer.readable()": (_gpu, y) => new Response(y.readable).bytes(),
  "GpuBuffer.toDLPack()": (_gpu, y) => y.toDLPack().dispose(),
  "CudaDevice.downloadAll()": (gpu, y) => gpu.downloadAll([y]),
  "CudaDevice.downloadPinned()": async (gpu, y) => (await gpu.downloadPinned(y)).dispose(),
  "GpuBuffer.download() of a copy on a third stream": async (gpu, y) => {
    using third = gpu.createStream();
    using z = gpu.alloc("uint8", LATE_BYTES);
    z.copyFrom(y, { stream: third });
    await z.download();
  },
  "GpuBuffer.download() of a copy of a copy, behind transfers": async (gpu, y) => {
    using third = gpu.createStream();
    using z = gpu.alloc("uint8", LATE_BYTES);
    using w = gpu.alloc("uint8", LATE_BYTES);
    const upload = z.upload(new Uint8Array(LATE_BYTES));
    z.copyFrom(y, { stream: third });
    w.copyFrom(z);
    await upload;
    await w.download();
  },
  "CudaEvent.synchronize() behind a copy": async (gpu, y) => {
    using third = gpu.createStream();
    using z = gpu.alloc("uint8", LATE_BYTES);
    z.copyFrom(y, { stream: third });
    using event = third.record();
    await event.synchronize();
  },
};

for (const [name, read] of Object.entries(READS)) {
  Deno.test(`${name} tells that the call which was to write the memory has failed, once`, () =>
    withUpload(async ({ gpu, stream, x, setFault }) => {
      using y = gpu.zeros("uint8", LATE_BYTES);
      y.copyFrom(x, { stream });
      setFault({ ...FAULT, times: 1 });
      await assertRejects(async () => await read(gpu, y), CudaError, FAULT.name);
      setFault(undefined);
      await read(gpu, y);
      await gpu.synchronize();
      y.copyFrom(x, { stream });
      assertEquals((await y.download()).at(-1), 7);
    }));
}

Deno.test("each download tells that the call which was to write its memory has failed, once", () =>
  withUpload(async ({ gpu, stream, x, setFault }) => {
    using y = gpu.zeros("uint8", LATE_BYTES);
    using z = gpu.zeros("uint8", LATE_BYTES);
    for (const copy of [y, z]) copy.copyFrom(x, { stream });
    setFault({ ...FAULT, times: 2 });
    for (const copy of [y, z]) await assertRejects(() => copy.download(), CudaError, FAULT.name);
    await gpu.synchronize();
    for (const copy of [y, z]) await copy.download();
  }));

Deno.test("a failed CudaGraph.launch() behind a transfer is told by a download on another stream", () =>
  withUpload(async (scene) => {
    const { gpu, stream, x } = scene;
    using y = gpu.zeros("uint8", LATE_BYTES);
    using graph = gpu.capture(() => y.copyFrom(x));
    await failToLaunch(graph, y, scene);
    graph.launch({ stream });
    assertEquals((await y.download()).at(-1), 8);
  }));

Deno.test("a failed kernel behind a transfer is told by a download on another stream", () =>
  withUpload(async ({ stream, x, setFault }) => {
    using y = x.astype("uint16", { stream });
    setFault({ name: "cuLaunchKernel" });
    await assertRejects(() => y.download(), CudaError, "cuLaunchKernel");
    setFault(undefined);
    x.astype("uint16", { into: y });
    assertEquals((await y.download()).at(-1), 7);
  }));

Deno.test("memory of a graph tells why a launch behind a transfer did not allocate it", () =>
  withUpload(async (scene) => {
    const { gpu, stream, x } = scene;
    const made: DeviceBuffer<"uint8">[] = [];
    using graph = gpu.capture(() => {
      const y = gpu.alloc("uint8", LATE_BYTES);
      made.push(y.copyFrom(x));
    });
    const [y] = made as [DeviceBuffer<"uint8">];
    await failToLaunch(graph, y, scene);
    await assertRejects(() => y.download(), TypeError, "launch the graph first");
    graph.launch({ stream });
    assertEquals((await y.download()).at(-1), 8);
    y.dispose();
  }));

Deno.test("memory of a graph tells once why it was not there for calls on several streams", () =>
  withUpload(async ({ gpu, stream, x, setFault }) => {
    using other = gpu.createStream();
    using one = gpu.zeros("uint8", LATE_BYTES);
    using two = gpu.zeros("uint8", LATE_BYTES);
    const made: DeviceBuffer<"uint8">[] = [];
    using graph = gpu.capture(() => {
      const y = gpu.alloc("uint8", LATE_BYTES);
      made.push(y.copyFrom(x));
    });
    const [y] = made as [DeviceBuffer<"uint8">];
    const upload = x.upload(new Uint8Array(LATE_BYTES));
    graph.launch({ stream });
    one.copyFrom(y, { stream });
    two.copyFrom(y, { stream: other });
    setFault({ name: "cuGraphLaunch" });
    await upload;
    setFault(undefined);
    await assertRejects(() => other.synchronize(), CudaError, "cuGraphLaunch");
    await gpu.synchronize();
    await Promise.all([one.download(), two.download()]);
    y.dispose();
  }));
