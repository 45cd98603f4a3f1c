// Refusals of share() and open() inside one process, each with words that help.

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { CudaDevice } from "../../../src/device/device.ts";
import {
  CachingResourceAdaptor,
  CudaAsyncMemoryResource,
  CudaMemoryResource,
  StatisticsResourceAdaptor,
} from "../../../src/entries/memory.ts";
import {
  type MemoryTicket,
  ShareableMemoryResource,
  TicketError,
} from "../../../src/entries/sharing.ts";
import { type DriverApi, simulateDriver } from "../../../src/entries/simulated.ts";
import { withoutLeaks } from "../../../src/entries/testing.ts";
import { LocalSocket } from "../../../src/sharing/local_socket.ts";
import { refusedHandle } from "../../../src/sharing/refusals.ts";
import { CudaError, CudaUnavailableError, DisposedError } from "../../../src/words/errors.ts";
import { testOnTwoDevices } from "../../support/driver.ts";
import { faultyDriver, watchedDriver } from "../../support/faulty_driver.ts";
import { HeldStream } from "../../support/held_stream.ts";
import { untilNothingIsOffered } from "../../support/pool_offers.ts";
import { allocateBy, endPoolOf, WAYS } from "../../support/sharing/peer_words.ts";
import { takingTurns, testOnLinux, testUnless } from "../../support/test_unless.ts";
import { LATE_BYTES, requireUnderWay } from "../../support/under_way.ts";
import { liveNames, testOnDevice, withDevice } from "../../support/with_device.ts";

const WAYS_OUT = "allocate with { shareable: true }, from new CudaMemoryResource(gpu), or from a " +
  'pool made with { handleType: "fileDescriptor" }';

Deno.test("share() of the default pool's memory names the ways that other processes can open", () =>
  withDevice(async (gpu) => {
    using x = gpu.zeros("float32", 4, { label: "x" });
    const error = await assertRejects(() => x.share(), TypeError);
    assertEquals(
      error.message,
      `Cannot share DeviceBuffer(x, float32[4]): it comes from a pool without file descriptors; ` +
        WAYS_OUT,
    );
  }));

testOnDevice("share() refuses every other kind of memory with the same ways", async (gpu) => {
  using pinned = gpu.pinned("uint8", 64);
  using mapped = gpu.mapped("uint8", 64);
  using managed = gpu.managed("uint8", 64);
  using growable = gpu.growable("uint8", { shape: 64, reserveSize: "4 MiB" });
  using staged = gpu.staged("uint8", 64);
  for (const buffer of [pinned, mapped, managed, growable, staged]) {
    await assertRejects(() => buffer.share(), TypeError, WAYS_OUT);
  }
  using empty = gpu.alloc("uint8", 0, { shareable: true });
  await assertRejects(() => empty.share(), TypeError, "it has no bytes");
  using deep = gpu.alloc("uint8", Array(65).fill(1), { shareable: true });
  await assertRejects(() => deep.share(), RangeError, "it has 65 axes, a ticket at most 64");
});

testOnLinux(
  "open() refuses a ticket of another element type than is expected",
  () =>
    withDevice(async (gpu) => {
      using x = gpu.zeros("float32", 4, { shareable: true });
      const ticket = JSON.stringify(await x.share());
      const words = "Cannot open the ticket as int8: its memory is float32";
      await assertRejects(() => gpu.open(ticket, { dtype: "int8" }), TypeError, words);
      await assertRejects(() => gpu.open(ticket, { dtype: "float32" }), TicketError);
    }),
);

testOnLinux(
  "share() refuses a buffer that was disposed, also while it waits",
  () =>
    withDevice(async (gpu) => {
      const x = gpu.zeros("uint8", 64, { shareable: true });
      const sharing = x.share();
      x.dispose();
      await assertRejects(() => sharing, DisposedError);
      await assertRejects(() => x.share(), DisposedError);
    }),
);

testOnLinux("share() waits for what was called before", () =>
  withDevice(async (gpu) => {
    using stream = gpu.createStream();
    using x = gpu.alloc("uint8", LATE_BYTES, { shareable: true, stream });
    x.fill(1, { stream });
    const moving = x.upload(new Uint8Array(LATE_BYTES).fill(2), { stream });
    requireUnderWay(stream);
    await x.share();
    assert(stream.isIdle);
    await moving;
  }));

testOnLinux(
  "share() gives the same handle for a block and its views, with their places",
  () =>
    withDevice(async (gpu) => {
      for (const way of WAYS) {
        using x = allocateBy(gpu, { way, byteLength: 4096, value: 0 });
        const whole = await x.share();
        const part = await x.as("float32").reshape([32, 32]).view(3).share();
        assertEquals(part.handle, whole.handle);
        assertEquals([whole.offset, part.offset], [0, 384]);
        assertEquals([part.dtype, part.shape, part.byteLength], ["float32", [32], 128]);
        assertEquals([part.device, part.pid], [gpu.info.uuid, Deno.pid]);
        assertEquals(JSON.parse(JSON.stringify(part)), part);
        assert(JSON.stringify(part).length < 600);
      }
      endPoolOf(gpu);
      await untilNothingIsOffered();
    }),
);

testOnLinux(
  "share() finds the place of a buffer in a block that an adaptor has cut",
  () =>
    withDevice(async (gpu) => {
      using cache = new CachingResourceAdaptor(new CudaMemoryResource(gpu));
      const resource = new StatisticsResourceAdaptor(cache);
      using first = gpu.alloc("uint8", 512, { resource });
      using second = gpu.alloc("uint8", 512, { resource });
      const [one, two] = [await first.share(), await second.share()];
      assertEquals(two.handle, one.handle);
      assertEquals(two.offset - one.offset, Number(second.ptr - first.ptr));
    }),
);

testOnLinux(
  "open() refuses a ticket of this process, and says what to do instead",
  () =>
    withDevice(async (gpu) => {
      for (const way of WAYS) {
        using x = allocateBy(gpu, { way, byteLength: 64, value: 0 });
        const ticket = await x.share();
        const error = await assertRejects(() => gpu.open(ticket), TicketError);
        assertEquals([error.reason, error.message], [
          "own-process",
          "Cannot open the ticket: this process has made it; use the buffer itself, or handOver() it " +
          "to another Worker; after a restart by --watch, share it again",
        ]);
      }
      using event = gpu.createEvent({ shareable: true });
      const error = assertThrows(() => gpu.openEvent(event.share()), TicketError);
      assertEquals(error.reason, "own-process");
      endPoolOf(gpu);
      await untilNothingIsOffered();
    }),
);

testOnLinux(
  "open() refuses a ticket of another device by its UUID",
  () =>
    withDevice(async (gpu) => {
      using x = gpu.zeros("uint8", 64, { shareable: true });
      const device = "GPU-00000000-0000-0000-0000-000000000000";
      const error = await assertRejects(
        async () => gpu.open({ ...await x.share(), device }),
        TicketError,
      );
      assertEquals(error.reason, "device");
      assert(error.message.includes(device) && error.message.includes(gpu.info.uuid));
    }),
);

testOnTwoDevices("open() refuses a ticket of the machine's other device", async (first, second) => {
  using x = first.zeros("uint8", 64, { shareable: true });
  const ticket = await x.share();
  const error = await assertRejects(() => second.open(ticket), TicketError);
  assertEquals(error.reason, "device");
});

testOnTwoDevices(
  "CudaStream.wait() refuses an event for other processes of another device",
  (first, second) => {
    using event = first.createEvent({ shareable: true });
    assertThrows(() => second.stream.wait(event), TypeError, "streams of their own device");
    first.stream.record(event);
    assertThrows(() => second.stream.wait(event), TypeError, "streams of their own device");
  },
);

testOnTwoDevices(
  "CudaEvent.share() asks in the context of its own device, whichever is current",
  (first, second) => {
    using event = first.createEvent({ shareable: true });
    const { driver, handle } = second.context;
    driver.call("cuCtxPushCurrent_v2", handle);
    try {
      assertEquals(event.share().device, first.info.uuid);
    } finally {
      driver.call("cuCtxPopCurrent_v2", new BigUint64Array(1));
    }
  },
);

Deno.test("open() says that memory is gone, whichever status the driver has for that", async () => {
  const { driver, setFault } = faultyDriver();
  using gpu = CudaDevice.open(0, { driver });
  // Freed, freed with other memory in its place, its process ended, and nonsense.
  for (const status of [1, 800, 400, 205]) {
    setFault({ name: "cuIpcOpenMemHandle_v2", status });
    const error = await assertRejects(() => gpu.open(ticketOf(gpu)), TicketError);
    assertEquals(error.reason, "gone");
    assert(error.cause instanceof CudaError && error.cause.code === status);
  }
  setFault({ name: "cuIpcOpenMemHandle_v2", status: 719 });
  await assertRejects(() => gpu.open(ticketOf(gpu)), CudaError);
});

takingTurns(testOnLinux)(
  "open() of hundreds of tickets at once waits for its turn with each",
  async () => {
    using sharer = CudaDevice.open(0, { driver: simulateDriver() });
    using opener = CudaDevice.open(0, { driver: simulateDriver() });
    using pool = new CudaAsyncMemoryResource(sharer, { handleType: "fileDescriptor" });
    using stack = new DisposableStack();
    const tickets: MemoryTicket[] = [];
    for (let i = 0; i < 200; i++) {
      const x = stack.use(sharer.zeros("uint8", 4, { resource: pool }).fill(i));
      tickets.push(await x.share());
    }
    const opened = await Promise.all(
      tickets.map((ticket) => opener.open(ticket, { dtype: "uint8" })),
    );
    for (const [i, x] of opened.entries()) {
      assertEquals(await x.at(3), i);
      x.dispose();
    }
    stack.dispose();
    await untilNothingIsOffered();
  },
);

testOnLinux(
  "open() waits for a socket with a full queue no longer than for an answer",
  () =>
    withDevice(async (gpu) => {
      const socket = `vramkit-${"5".repeat(32)}`;
      using stack = new DisposableStack();
      stack.use(LocalSocket.listen(socket));
      for (let next; (next = LocalSocket.connect(socket)) !== "busy";) {
        if (next !== undefined) stack.use(next);
      }
      const pool = { kind: "pool", socket, key: "a".repeat(32) } as const;
      const ticket = { ...ticketOf(gpu), ...pool };
      const error = await assertRejects(() => gpu.open(ticket, { timeoutSeconds: 0 }), TicketError);
      assertEquals(error.reason, "unanswered");
      const stop = new AbortController();
      setTimeout(() => stop.abort(new Error("enough")), 5);
      await assertRejects(() => gpu.open(ticket, { signal: stop.signal }), Error, "enough");
    }),
);

testOnDevice("open() refuses a wait that is no time", async (gpu) => {
  for (const timeoutSeconds of [NaN, -1]) {
    await assertRejects(() => gpu.open("{}", { timeoutSeconds }), RangeError, "0 or more");
  }
});

testOnDevice("CudaDevice.alloc() with shareable takes memory that no other shares", (gpu) => {
  using one = gpu.alloc("uint8", 1, { shareable: true });
  using two = gpu.alloc("uint8", 1, { shareable: true });
  assert(one.memoryResource instanceof ShareableMemoryResource);
  const distance = two.ptr > one.ptr ? two.ptr - one.ptr : one.ptr - two.ptr;
  assert(distance >= 2n ** 21n, `${distance}`);
  assertEquals([one.kind, one.totalByteLength], ["device", 1]);
});

Deno.test("CudaDevice.alloc() refuses a resource and shareable at once, and both in a capture", () =>
  withDevice((gpu) => {
    const resource = new CudaMemoryResource(gpu);
    assertThrows(
      () => gpu.alloc("uint8", 1, { shareable: true, resource }),
      TypeError,
      "pass one",
    );
    assertThrows(
      () => {
        gpu.capture(() => void gpu.alloc("uint8", 1, { shareable: true }));
      },
      TypeError,
      "capture",
    );
    using plain = gpu.alloc("uint8", 1, { shareable: false, resource });
    assertEquals(plain.memoryResource, resource);
  }));

testOnDevice("createEvent() refuses times and captures of a shareable event", (gpu) => {
  assertThrows(
    () => gpu.createEvent({ shareable: true, timing: true }),
    TypeError,
    "one of the two",
  );
  using event = gpu.createEvent({ shareable: true });
  assertEquals([event.timing, event.shareable], [false, true]);
  assertThrows(
    () => {
      gpu.capture((stream) => void stream.record(event));
    },
    TypeError,
    "it is for other processes",
  );
  using plain = gpu.createEvent();
  assertThrows(() => plain.share(), TypeError, "gpu.createEvent({ shareable: true })");
  event.dispose();
  assertThrows(() => event.share(), DisposedError);
});

testOnLinux("share() gives a pool's descriptor back when its driver call fails", async () => {
  const { driver, setFault } = faultyDriver();
  using gpu = CudaDevice.open(0, { driver });
  using pool = new CudaAsyncMemoryResource(gpu, { handleType: "fileDescriptor" });
  using x = gpu.zeros("uint8", 64, { resource: pool });
  for (const name of ["cuMemPoolExportToShareableHandle", "cuMemPoolExportPointer"] as const) {
    setFault({ name });
    await assertRejects(() => x.share(), CudaError, name);
  }
  setFault(undefined);
  await x.share();
  x.dispose();
  await untilNothingIsOffered();
});

Deno.test("ShareableMemoryResource takes a pool where the device has no other handles", async () => {
  const driver = driverWithout(125);
  using gpu = CudaDevice.open(0, { driver });
  {
    using x = gpu.zeros("uint8", 64, { shareable: true });
    assertEquals((await x.share()).kind, "pool");
  }
  await untilNothingIsOffered();
});

Deno.test("CudaDevice.alloc({ shareable: true }) works on after disposeAll()", async () => {
  using gpu = CudaDevice.open(0, { driver: driverWithout(125) });
  for (let round = 0; round < 2; round++) {
    const x = gpu.zeros("uint8", 8, { shareable: true });
    assertEquals((await x.share()).kind, "pool");
    gpu.disposeAll();
    assertEquals(gpu.live().count, 0);
  }
  await untilNothingIsOffered();
});

Deno.test("CudaDevice.alloc({ shareable: true }) keeps its pool out of what is live", async () => {
  const plain = driverWithout(125);
  let poolCount = 0;
  const driver: DriverApi = {
    ...plain,
    cuMemPoolCreate: (...given) => (poolCount++, plain.cuMemPoolCreate?.(...given) ?? 801),
    cuMemPoolDestroy: (pool) => (poolCount--, plain.cuMemPoolDestroy?.(pool) ?? 801),
  };
  {
    using gpu = CudaDevice.open(0, { driver });
    await withoutLeaks(gpu, async () => {
      using x = gpu.zeros("uint8", 8, { shareable: true, label: "x" });
      await x.share();
      assertEquals(liveNames(gpu), ["x"]);
    });
    assertEquals(liveNames(gpu), []);
    assertEquals(poolCount, 1);
    await untilNothingIsOffered();
  }
  assertEquals(poolCount, 0); // the device has ended it
});

testOnLinux(
  "CudaDevice.open() has a pool of another process once, and ends it with its memory",
  async () => {
    using one = CudaDevice.open(0, { driver: driverWithout(125) });
    const { driver, calls } = watchedDriver(driverWithout(125));
    using two = CudaDevice.open(0, { driver });
    const x = one.zeros("uint8", 64, { shareable: true });
    const ticket = await x.share();
    for (let round = 1; round <= 2; round++) {
      using stream = two.createStream();
      const other = two.alloc("uint8", 64, { stream });
      const opened = await two.open(ticket);
      using _held = new HeldStream(two, stream);
      other.dispose(); // its free is nothing to the pool
      opened.dispose();
      assertEquals(calls.filter((call) => call === "cuMemPoolDestroy").length, round);
    }
    x.dispose();
    await untilNothingIsOffered();
  },
);

Deno.test("ShareableMemoryResource says when the device has no handles at all", () => {
  const driver = driverWithout(125, 119);
  using gpu = CudaDevice.open(0, { driver });
  assertThrows(
    () => gpu.alloc("uint8", 64, { shareable: true }),
    CudaUnavailableError,
    "has no handles for them",
  );
});

/** A ticket of memory that nobody has. */
function ticketOf(gpu: CudaDevice): MemoryTicket {
  return {
    vramkit: 1,
    kind: "allocation",
    device: gpu.info.uuid,
    handle: "07".repeat(64),
    offset: 0,
    byteLength: 4,
    dtype: "uint8",
    shape: [4],
  };
}

/** A driver whose device has some attributes of 0. */
function driverWithout(...numbers: readonly number[]): DriverApi {
  const driver = simulateDriver();
  return {
    ...driver,
    cuDeviceGetAttribute(cell, number, device) {
      const status = driver.cuDeviceGetAttribute(cell, number, device);
      if (numbers.includes(number) && cell instanceof Int32Array) cell[0] = 0;
      return status;
    },
  };
}

const whyNotRoot = Deno.build.os !== "linux" || Deno.uid() !== 0
  ? "only root starts a process of another user"
  : undefined;

testUnless(
  "a refused handle of another user's process says that it is theirs",
  whyNotRoot,
  async () => {
    const refusal = new CudaError("refused", { code: 1, call: "cuIpcOpenMemHandle_v2" });
    const reasonFor = (pid: number | undefined) => {
      const error = refusedHandle(refusal, { pid, what: "memory" });
      return error instanceof TicketError ? [error.reason, error.message] : [];
    };
    const command = new Deno.Command("sleep", { args: ["60"], uid: 65534, gid: 65534 });
    const child = command.spawn();
    try {
      assertEquals(reasonFor(child.pid), [
        "other-user",
        "Cannot open the ticket: its memory belongs to another user: process " +
        `${child.pid} is of user 65534`,
      ]);
      for (const pid of [Deno.pid, undefined, 2 ** 22 + 1]) assertEquals(reasonFor(pid)[0], "gone");
    } finally {
      child.kill();
      await child.status;
    }
  },
);
