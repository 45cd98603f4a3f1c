// Groups apart from what their operations compute: order with other work, failures by name, refusals, and
// what is left when they end.

import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import type { DriverApi } from "../../../ffi/cuda.ts";
import type { NcclFunction } from "../../../ffi/nccl.ts";
import { OWN, ownParts } from "../../../ffi/own_parts.ts";
import { simulateDriver, type SimulationOptions } from "../../../ffi/simulated/driver.ts";
import type { RankFaults } from "../../../ffi/simulated/options.ts";
import type { GpuBuffer } from "../../../src/buffers/gpu_buffer.ts";
import { CudaDevice } from "../../../src/device/device.ts";
import { GroupError } from "../../../src/group/group_error.ts";
import { CachingResourceAdaptor } from "../../../src/resources/caching_resource_adaptor.ts";
import { CudaError, CudaUnavailableError, DisposedError } from "../../../src/words/errors.ts";
import { assertHoldsOnly } from "../../support/contents.ts";
import { ON_GPU } from "../../support/driver.ts";
import { faultyDriver } from "../../support/faulty_driver.ts";
import {
  checkNothingLeftOn,
  downloadAll,
  driverFor,
  type GroupBody,
  type GroupScene,
  MAX_RANKS,
  testOnGroup,
  testWithNccl,
  uploadAll,
  withGroup,
} from "../../support/group_scene.ts";
import { share } from "../../support/random.ts";
import { takingTurns } from "../../support/test_unless.ts";
import { LATE_BYTES, requireUnderWay } from "../../support/under_way.ts";
import { CaughtWarnings } from "../../support/warnings.ts";

const LENGTH = 1000;

/** Makes a float32 buffer of ones on each device. */
function ones(
  { gpus }: GroupScene,
  stack: DisposableStack,
  length = LENGTH,
): GpuBuffer<"float32">[] {
  return gpus.map((gpu) => stack.use(gpu.alloc("float32", length)).fill(1));
}

/** Makes a simulated driver with one function of NCCL that `decide` stands before. */
function driverWhose(
  name: NcclFunction,
  decide: (call: () => number) => number,
  options: SimulationOptions = {},
): DriverApi {
  const driver = simulateDriver({ devices: 2, ...options });
  const own = ownParts(driver);
  const call = own.nccl?.[name] as (...args: unknown[]) => number;
  const replaced = (...args: unknown[]) => decide(() => call(...args));
  return { ...driver, [OWN]: { ...own, nccl: { ...own.nccl, [name]: replaced } } } as DriverApi;
}

testOnGroup("GroupWork shows its call and its group", async (scene, stack) => {
  const work = scene.group.allReduce(ones(scene, stack));
  assertEquals(Deno.inspect(work), `GroupWork(allReduce on ${scene.group})`);
  await work;
}, 2);

testOnGroup(
  "DeviceGroup.batch() keeps buffers that its body disposes until its calls are made",
  async (scene, stack) => {
    const [gpu] = [...scene.gpus] as [CudaDevice];
    const cache = stack.use(new CachingResourceAdaptor(gpu.memoryResource));
    const [, other] = ones(scene, stack) as [never, GpuBuffer<"float32">];
    let next: GpuBuffer<"float32"> | undefined;
    await scene.group.batch(() => {
      using buffer = gpu.alloc("float32", LENGTH, { resource: cache }).fill(2);
      scene.group.allReduce([buffer, other]);
      buffer.dispose();
      next = stack.use(gpu.alloc("float32", LENGTH, { resource: cache })).fill(5);
    });
    assertEquals(await next?.download(), new Float32Array(LENGTH).fill(5));
    assertEquals(await other.download(), new Float32Array(LENGTH).fill(3));
  },
  2,
);

testOnGroup(
  "DeviceGroup.batch() makes no calls of a group that its body disposed",
  (scene, stack) => {
    const buffers = ones(scene, stack);
    const body = () => {
      scene.group.allReduce(buffers);
      scene.group.dispose();
    };
    assertThrows(() => scene.group.batch(body), DisposedError);
  },
  2,
);

/** Runs a test on a group of two simulated devices whose ranks misbehave. */
function withFaults(
  ranks: RankFaults,
  body: GroupBody,
): Promise<void> {
  return withGroup(2, body, simulateDriver({ devices: 2, ranks }));
}

/** Ranks of groups with large arrays. */
const FEW = Math.min(MAX_RANKS, 3);

takingTurns(testOnGroup)(
  "DeviceGroup comes after uploads that are not awaited, and before later downloads",
  async (scene, stack) => {
    const length = LATE_BYTES / 4;
    const buffers = ones(scene, stack, length);
    const sources = buffers.map(() => new Float32Array(length).fill(2));
    const uploads = buffers.map((buffer, rank) => buffer.upload(sources[rank] as Float32Array));
    for (const { stream } of scene.gpus) requireUnderWay(stream);
    const work = scene.group.allReduce(buffers);
    const downloads = buffers.map((buffer) => buffer.download());
    for (const array of await Promise.all(downloads)) {
      assertHoldsOnly(array, 2 * FEW);
    }
    await Promise.all(uploads);
    await work;
  },
  FEW,
);

takingTurns(testOnGroup)(
  "DeviceGroup comes before what is called later on the streams of all ranks",
  async (scene, stack) => {
    const length = LATE_BYTES / 4;
    const buffers = ones(scene, stack, length);
    const upload = buffers[0]?.upload(new Float32Array(length));
    scene.group.allReduce(buffers); // waits for the upload on rank 0
    const events = scene.gpus.map((gpu) => stack.use(gpu.stream.record()));
    assertEquals(events.map(({ isComplete }) => isComplete), events.map(() => false));
    await events.at(-1)?.synchronize();
    assertEquals(await buffers.at(-1)?.at(0), FEW - 1);
    await upload;
  },
  FEW,
);

testOnGroup("DeviceGroup orders streams that use the same buffers", async (scene, stack) => {
  const buffers = ones(scene, stack);
  const [first, second] = [0, 1].map(() => scene.gpus.map((gpu) => stack.use(gpu.createStream())));
  for (let round = 0; round < 4; round++) {
    scene.group.allReduce(buffers, { streams: first, op: "sum" });
    for (const [rank, buffer] of buffers.entries()) {
      buffer.fill(round + 1, { stream: second?.[rank] });
    }
    scene.group.allReduce(buffers, { op: "max" });
  }
  assertEquals(await downloadAll(buffers), buffers.map(() => Array(LENGTH).fill(4)));
});

testOnGroup(
  "DeviceGroup keeps buffers that are disposed while work on them is queued",
  async (scene, stack) => {
    const into = ones(scene, stack);
    const sources = scene.gpus.map((gpu) => gpu.alloc("float32", LENGTH).fill(3));
    scene.group.allReduce(sources, { into });
    for (const source of sources) source.dispose();
    scene.gpus.map((gpu) => stack.use(gpu.alloc("float32", LENGTH)).fill(99));
    const expected = Array(LENGTH).fill(3 * MAX_RANKS);
    assertEquals(await downloadAll(into), into.map(() => expected));
  },
);

testOnGroup("DeviceGroup.barrier() comes after the work of all ranks", async (scene, stack) => {
  const buffers = ones(scene, stack);
  scene.group.allReduce(buffers);
  await scene.group.barrier();
  assert(scene.gpus.map((gpu) => gpu.stream.isIdle).every(Boolean));
});

testOnGroup("DeviceGroup does the calls of a batch as one", async (scene, stack) => {
  const { group } = scene;
  const lists = Array.from({ length: 5 }, (_, at) => ones(scene, stack, 10 + at));
  await group.batch(() => {
    for (const list of lists) group.allReduce(list);
  });
  for (const list of lists) {
    for (const values of await downloadAll(list)) {
      assert(values.every((value) => value === MAX_RANKS));
    }
  }
});

testOnGroup("DeviceGroup goes on after each refusal", async (scene, stack) => {
  const { gpus, group } = scene;
  const buffers = ones(scene, stack, 24);
  const halves = ones(scene, stack, 12);
  const integers = gpus.map((gpu) => stack.use(gpu.zeros("int32", 24)));
  const flags = gpus.map((gpu) => stack.use(gpu.zeros("bool", 24)));
  const gone = gpus.map((gpu) => gpu.zeros("float32", 24));
  const [first] = buffers;
  const last = buffers.at(-1);
  if (first === undefined || last === undefined) throw new Error("Cannot test no devices");
  for (const buffer of gone) buffer.dispose();
  const many = [...buffers, first];
  const folded = buffers.map((buffer) => stack.use(buffer.reshape([3, 8])));
  const odd = buffers.map((buffer) => stack.use(buffer.subarray(0, 23)));
  const stream = stack.use(gpus.at(0)?.createStream({ label: "gone" }));
  stream?.dispose();
  const refusals: [() => unknown, typeof TypeError | typeof RangeError, string][] = [
    [() => group.allReduce(many), RangeError, `pass one for each of ${MAX_RANKS} device`],
    [() => group.allReduce(first as never), TypeError, "expected a list with a buffer"],
    [() => group.allReduce(buffers.map(() => 5) as never), TypeError, "expected a buffer"],
    [() => group.allReduce(flags), TypeError, "with bool: NCCL computes with int8"],
    [() => group.allReduce(buffers, { into: integers as never }), TypeError, "types differ"],
    [() => group.allReduce(buffers, { into: halves }), RangeError, "must have 24 elements"],
    [() => group.reduce(buffers, { root: MAX_RANKS }), RangeError, "the group has ranks 0 to"],
    [() => group.reduce(buffers, { root: -1 }), RangeError, "rank -1"],
    [() => group.broadcast(buffers, { root: 0.5 }), RangeError, "rank 0.5"],
    [() => group.broadcast(first as never), TypeError, "one buffer and { into }"],
    [() => group.allToAll(buffers, { into: buffers }), RangeError, "share bytes"],
    [() => group.allToAll(buffers, {} as never), TypeError, "pass { into }"],
    [() => group.send(first, { to: 0 }), TypeError, "outside a batch"],
    [() => group.recv(first, { from: 0 }), TypeError, "outside a batch"],
    [
      () => group.batch(() => group.send(first, { to: 0 })),
      RangeError,
      "rank 0 has no recv() from it",
    ],
    [
      () => group.batch(() => group.recv(first, { from: 0 })),
      RangeError,
      "rank 0 has no send() to it",
    ],
    [() => group.batch(() => Promise.resolve()), TypeError, "returns a promise"],
    [async () => await group.batch(async () => await 1), TypeError, "returns a promise"],
    [() => group.batch(() => group.batch(() => {})), TypeError, "in a batch"],
    [() => group.batch(() => group.barrier()), TypeError, "in a batch"],
    [
      () => group.batch(() => group.allReduce(buffers, { timeoutSeconds: 1 })),
      TypeError,
      "batch()",
    ],
    [
      () =>
        group.batch(() => {
          group.allReduce(buffers);
          group.broadcast(buffers);
        }),
      RangeError,
      "a batch has no order",
    ],
    [
      () =>
        group.batch(() => {
          group.send(first, { to: 0 });
          group.recv(stack.use(first.allocateLike(3)), { from: 0 });
        }),
      RangeError,
      "rank 0 receives float32[3]",
    ],
    [() => group.allReduce(buffers, { timeoutSeconds: 0 }), RangeError, "more than 0"],
    [() => group.allReduce(buffers, { timeoutSeconds: NaN }), RangeError, "more than 0"],
    [() => group.allReduce(buffers, { streams: [] }), RangeError, "with 0 streams"],
    [() => group.allReduce(buffers, { op: "mean" as never }), TypeError, '"avg"'],
    [
      () => group.allReduce(buffers.map((buffer) => buffer.transpose()) as never),
      TypeError,
      "contiguous()",
    ],
    [() => gpus.at(0)?.capture(() => group.allReduce(buffers) as never), TypeError, "captured"],
  ];
  if (MAX_RANKS > 1) {
    refusals.push(
      [() => group.allGather(buffers, { into: buffers }), RangeError, "must have"],
      [() => group.allReduce(buffers.toReversed()), TypeError, "for rank 0: it is on device"],
      [
        () => group.allReduce([first, ...integers.slice(1)] as never),
        TypeError,
        "types differ",
      ],
      [() => group.allReduce([first, ...folded.slice(1)]), RangeError, "shapes differ"],
      [() => group.allReduce([first, ...halves.slice(1)]), RangeError, "shapes differ"],
      [() => group.reduceScatter(odd), RangeError, "cannot be divided among"],
      [() => group.reduce(buffers, { root: 0, into: last }), RangeError, "that is on rank"],
      [
        () => group.allReduce(buffers, { into: odd.map((part) => part.subarray(0)) }),
        RangeError,
        "must have 24 elements",
      ],
      [
        () => group.allReduce(odd, { into: buffers.map((buffer) => buffer.subarray(1)) }),
        RangeError,
        "share bytes",
      ],
    );
  }
  for (const [call, kind, words] of refusals) {
    const error = await errorOf(call);
    assertInstanceOf(error, kind, `${words}: ${error}`);
    assertStringIncludes(error.message, words);
  }
  assertInstanceOf(await errorOf(() => group.allReduce(gone)), DisposedError);
  if (stream !== undefined) {
    const streams = gpus.map(() => stream);
    assertInstanceOf(await errorOf(() => group.allReduce(buffers, { streams })), DisposedError);
  }
  assertEquals(await downloadAll(buffers), buffers.map(() => Array(24).fill(1)));
  await group.allReduce(buffers);
  assertEquals(await downloadAll(buffers), buffers.map(() => Array(24).fill(MAX_RANKS)));
});

testWithNccl("DeviceGroup.dispose() ends a group once, after the work queued on it", async () => {
  const driver = driverFor(MAX_RANKS);
  using gpus = CudaDevice.openMany(range(MAX_RANKS), { driver });
  await checkNothingLeftOn(gpus, async () => {
    using stack = new DisposableStack();
    const group = await gpus.group({ label: "mine" });
    assertEquals(`${group}`, `DeviceGroup(mine, ${MAX_RANKS} device${MAX_RANKS > 1 ? "s" : ""})`);
    const buffers = ones({ gpus, group }, stack);
    group.allReduce(buffers);
    group.dispose();
    group.dispose();
    assert(group.disposed);
    assertThrows(() => group.allReduce(buffers), DisposedError, "mine");
    assertEquals(await downloadAll(buffers), buffers.map(() => Array(LENGTH).fill(MAX_RANKS)));
  });
});

testWithNccl("DeviceGroup outlives its devices until it is disposed", async () => {
  const driver = driverFor(MAX_RANKS);
  const gpus = CudaDevice.openMany(range(MAX_RANKS), { driver });
  using stack = new DisposableStack();
  const group = await gpus.group();
  const buffers = ones({ gpus, group }, stack);
  gpus.dispose();
  await group.allReduce(buffers);
  const values = await downloadAll(buffers);
  assertEquals(values, buffers.map(() => Array(LENGTH).fill(MAX_RANKS)));
  group.dispose();
  await assertRejects(() => gpus.group(), DisposedError, "DeviceList");
});

Deno.test("DeviceGroup takes no memory over many groups that come and go", async () => {
  const driver = simulateDriver({ devices: 3 });
  using gpus = CudaDevice.all({ driver });
  await checkNothingLeftOn(gpus, async () => {
    using stack = new DisposableStack();
    for (let round = 0; round < share(1000); round++) {
      const group = await gpus.group();
      const buffers = gpus.map((gpu) => stack.use(gpu.zeros("float32", 8)));
      const work = group.allReduce(buffers);
      if (round % 3 === 0) await work;
      if (round % 3 === 1) await group[Symbol.asyncDispose]();
      group.dispose();
      for (const buffer of buffers) buffer.dispose();
    }
  });
});

if (ON_GPU) {
  testWithNccl("DeviceGroup takes no memory over 100 groups that come and go on GPUs", async () => {
    using gpus = CudaDevice.all();
    {
      await using group = await gpus.group(); // what NCCL loads once stays
      await group.barrier();
    }
    const before = gpus.map((gpu) => gpu.context.freeBytes());
    const findLost = () => gpus.map((gpu, rank) => (before[rank] ?? 0) - gpu.context.freeBytes());
    const start = performance.now();
    for (let count = 1; count <= 100; count++) {
      {
        await using group = await gpus.group();
        using stack = new DisposableStack();
        await group.allReduce(ones({ gpus, group }, stack));
      }
      if (count % 10 > 0) continue;
      const seconds = (performance.now() - start) / 1000;
      console.log(`${count} groups, ${seconds.toFixed(1)} s, ${findLost()} bytes are gone`);
    }
    const lost = findLost();
    assert(lost.every((bytes) => bytes < 64 << 20), `${lost} bytes are gone`);
  });
}

Deno.test("DeviceGroup names a rank that does not come, after its time, and the next group works", () =>
  withFaults((rank, call) => rank === 1 && call === "ncclAllReduce" ? "asleep" : undefined, async (
    scene,
    stack,
  ) => {
    const buffers = ones(scene, stack);
    const work = scene.group.allReduce(buffers, { timeoutSeconds: 0.05 });
    const error = await assertRejects(async () => await work, GroupError, "allReduce");
    assertEquals([error.reason, error.call], ["timeout", "allReduce"]);
    assertStringIncludes(error.message, "not done after 0.05 seconds on rank 0 and rank 1");
    const next = assertThrows(() => scene.group.broadcast(buffers), GroupError, "has ended");
    assertEquals([next.reason, next.cause], ["ended", error]);
    await using other = await scene.gpus.group();
    await other.broadcast(buffers);
  }));

Deno.test("DeviceGroup waits for a rank that sleeps for a while", () => {
  let looks = 0;
  return withFaults((rank) => rank === 1 && looks++ < 50 ? "asleep" : undefined, async (
    scene,
    stack,
  ) => {
    const buffers = ones(scene, stack);
    await scene.group.allReduce(buffers);
    assertEquals(await downloadAll(buffers), buffers.map(() => Array(LENGTH).fill(2)));
    assert(looks >= 50);
  });
});

Deno.test("DeviceGroup tells of a rank that is dead", () =>
  withFaults((rank) => rank === 1 ? "dead" : undefined, async (scene, stack) => {
    const work = scene.group.allReduce(ones(scene, stack));
    const error = await assertRejects(async () => await work, GroupError);
    const { reason, call, rank, codeName } = error;
    assertEquals([reason, call, rank, codeName], ["nccl", "allReduce", 0, "ncclRemoteError"]);
    assertInstanceOf(scene.group.failure, GroupError);
  }));

Deno.test("DeviceGroup ends with the error that a question for its state throws", async () => {
  let isBroken = false;
  const decide = (call: () => number) => {
    if (isBroken) throw new Error("as the test wants it");
    return call();
  };
  const driver = driverWhose("ncclCommGetAsyncError", decide, { ranks: () => "asleep" });
  await withGroup(2, async (scene, stack) => {
    const work = scene.group.allReduce(ones(scene, stack));
    isBroken = true;
    const error = await assertRejects(async () => await work, GroupError, "as the test wants it");
    assertEquals([error.reason, error.call], ["nccl", "allReduce"]);
    assertEquals(scene.group.failure, error);
  }, driver);
});

Deno.test("DeviceGroup ends when the signal of an awaited call is aborted", () =>
  withFaults(() => "asleep", async (scene, stack) => {
    const controller = new AbortController();
    const work = scene.group.allReduce(ones(scene, stack), { signal: controller.signal });
    const failed = assertRejects(async () => await work, GroupError, "its signal was aborted");
    controller.abort("enough");
    const error = await failed;
    assertEquals([error.reason, error.cause], ["signal", "enough"]);
  }));

testOnGroup("DeviceGroup queues nothing with an aborted signal", async (scene, stack) => {
  const buffers = ones(scene, stack);
  const signal = AbortSignal.abort(new Error("too late"));
  assertThrows(() => scene.group.allReduce(buffers, { signal }), Error, "too late");
  assertEquals(await downloadAll(buffers), buffers.map(() => Array(LENGTH).fill(1)));
});

Deno.test("DeviceGroup reports at its end work that never came to one", async () => {
  const driver = simulateDriver({ devices: 2, ranks: () => "asleep" });
  using gpus = CudaDevice.all({ driver });
  using stack = new DisposableStack();
  using warnings = new CaughtWarnings();
  {
    await using group = await gpus.group({ timeoutSeconds: 0.05 });
    group.allReduce(ones({ gpus, group }, stack));
  }
  assertEquals(warnings.texts.length, 1);
  assertStringIncludes(warnings.texts[0] ?? "", "not done after 0.05 seconds on rank 0 and rank 1");
  assertEquals(gpus.map((gpu) => gpu.live({ kind: "group" }).objects.length), [0, 0]);
});

for (const name of ["ncclAllReduce", "ncclGroupEnd", "ncclGroupStart"] as const) {
  Deno.test(`DeviceGroup ends with the error of a failed ${name}, and leaves nothing`, async () => {
    let isBroken = false;
    const driver = driverWhose(name, (call) => {
      const status = name === "ncclGroupEnd" || !isBroken ? call() : 0;
      return isBroken ? 3 : status;
    });
    using gpus = CudaDevice.all({ driver });
    await checkNothingLeftOn(gpus, async () => {
      using stack = new DisposableStack();
      using group = await gpus.group();
      const buffers = ones({ gpus, group }, stack);
      isBroken = true;
      const error = assertThrows(() => group.allReduce(buffers), GroupError, name);
      assertEquals([error.codeName, error.code, error.call], ["ncclInternalError", 3, name]);
      isBroken = false;
      assertThrows(() => group.allReduce(buffers), GroupError, "has ended the group");
    });
  });
}

for (const name of ["ncclCommInitAll", "ncclCommGetAsyncError"] as const) {
  Deno.test(`gpus.group() leaves nothing when ${name} fails`, async () => {
    let isBroken = true;
    const driver = driverWhose(name, (call) => {
      const status = call(); // done, and said to have failed
      return isBroken ? 2 : status;
    });
    using gpus = CudaDevice.all({ driver });
    await checkNothingLeftOn(gpus, async () => {
      const error = await assertRejects(() => gpus.group(), GroupError);
      assertEquals([error.codeName, error.reason], ["ncclSystemError", "nccl"]);
      isBroken = false;
      await using group = await gpus.group();
      await group.barrier();
    });
  });
}

Deno.test("gpus.group() works with versions that lack functions", async () => {
  for (const ncclVersion of [21400, 22200, 22802]) {
    const driver = simulateDriver({ devices: 3, ncclVersion });
    await withGroup(3, async (scene, stack) => {
      assertEquals(scene.group.ncclVersion.startsWith("2."), true);
      const values = [0, 1, 2].map((rank) => range(9).map((at) => rank * 10 + at));
      const buffers = await uploadAll(scene, stack, { dtype: "int16", values });
      const into = scene.gpus.map((gpu) => stack.use(gpu.zeros("int16", 9)));
      await scene.group.allToAll(buffers, { into });
      const turned = [0, 1, 2].map((rank) =>
        values.flatMap((list) => list.slice(3 * rank, 3 * rank + 3))
      );
      assertEquals(await downloadAll(into), turned);
      const whole = stack.use(scene.gpus.at(1)?.zeros("int16", 27));
      if (whole === undefined) return;
      await scene.group.gather(buffers, { into: whole });
      assertEquals(await downloadAll([whole]), [values.flat()]);
      using own = whole.subarray(9, 18);
      await scene.group.scatter(whole, { into: into.with(1, own as never) });
      assertEquals(await downloadAll(into.with(1, own as never)), values);
      await scene.group.gather(buffers.with(1, own), { into: whole });
      assertEquals(await downloadAll([whole]), [values.flat()]);
    }, driver);
  }
});

Deno.test("gpus.group() refuses an NCCL that is too old", async () => {
  using gpus = CudaDevice.all({ driver: simulateDriver({ ncclVersion: 21212 }) });
  const error = await assertRejects(() => gpus.group(), CudaUnavailableError, "NCCL 2.12.12");
  assertEquals(error.reason, "driver-too-old");
});

Deno.test("gpus.group() leaves nothing when a device has no memory for it", async () => {
  const driver = simulateDriver({ devices: 2, memoryBytes: 16 << 20 });
  using gpus = CudaDevice.all({ driver });
  await checkNothingLeftOn(gpus, async () => {
    {
      using _large = gpus.at(1)?.alloc("uint8", 12 << 20);
      const error = await assertRejects(() => gpus.group(), GroupError, "ncclUnhandledCudaError");
      assertEquals(error.code, 1);
    }
    gpus.at(1)?.synchronizeSync(); // the pool gives memory back when the host has waited
    await using group = await gpus.group();
    await group.barrier();
  });
});

Deno.test("DeviceGroup calls NCCL no more once the GPU has failed for good", async () => {
  let isBroken = false;
  const real = simulateDriver();
  const driver = {
    ...real,
    cuMemsetD32Async:
      ((...args) =>
        isBroken ? 700 : real.cuMemsetD32Async(...args)) satisfies typeof real.cuMemsetD32Async,
  };
  using gpus = CudaDevice.openMany([0, 1], { driver });
  using group = await gpus.group();
  using stack = new DisposableStack();
  const buffers = ones({ gpus, group }, stack);
  isBroken = true;
  assertThrows(() => buffers[0]?.fill(3), CudaError, "700");
  isBroken = false; // only this call says so: NCCL itself would go on
  assertThrows(() => group.allReduce(buffers), CudaError, "700");
  assertEquals(await downloadAll(buffers), buffers.map(() => Array(LENGTH).fill(1)));
});

Deno.test("DeviceGroup leaves its order right when a driver call fails", async () => {
  const api = simulateDriver({ devices: 2 });
  let isBroken = false;
  const driver = {
    ...api,
    cuStreamWaitEvent: (...args: Parameters<DriverApi["cuStreamWaitEvent"]>) =>
      isBroken ? 999 : api.cuStreamWaitEvent(...args),
  } as DriverApi;
  await withGroup(2, async (scene, stack) => {
    const buffers = ones(scene, stack);
    const streams = scene.gpus.map((gpu) => stack.use(gpu.createStream()));
    isBroken = true;
    assertThrows(() => scene.group.allReduce(buffers, { streams }), CudaError, "cuStreamWaitEvent");
    isBroken = false;
    await scene.group.allReduce(buffers, { streams });
    assertEquals(await downloadAll(buffers), buffers.map(() => Array(LENGTH).fill(2)));
  }, driver);
});

Deno.test("CudaDevice.openMany() closes the devices before one that cannot be opened", () => {
  const api = simulateDriver({ devices: 3 });
  let held = 0;
  const driver = {
    ...api,
    cuDevicePrimaryCtxRetain(cell: never, device: number) {
      if (device === 2) return 2;
      held++;
      return api.cuDevicePrimaryCtxRetain(cell, device);
    },
    cuDevicePrimaryCtxRelease_v2(device: number) {
      held--;
      return api.cuDevicePrimaryCtxRelease_v2(device);
    },
  } as DriverApi;
  assertThrows(() => CudaDevice.openMany([0, 1, 2], { driver }), CudaError, "PrimaryCtxRetain");
  assertEquals(held, 0);
});

Deno.test("CudaDevice.openMany() refuses lists that name no devices, or one twice", () => {
  const driver = simulateDriver({ devices: 3 });
  assertThrows(() => CudaDevice.openMany([], { driver }), RangeError, "no devices");
  assertThrows(() => CudaDevice.openMany([0, 2, 0], { driver }), RangeError, "device 0 twice");
  assertThrows(() => CudaDevice.openMany([0, 3], { driver }), RangeError, "device 3");
  assertThrows(() => CudaDevice.openMany(0 as never, { driver }), TypeError, "device numbers");
});

Deno.test("CudaDevice.all() opens every device, and disposes them as one", () => {
  const driver = simulateDriver({ devices: 3 });
  const gpus = CudaDevice.all({ driver });
  assertEquals([gpus.length, `${gpus}`], [3, "DeviceList(3 devices)"]);
  assertEquals([...gpus].map(({ ordinal }) => ordinal), [0, 1, 2]);
  assertEquals([gpus.at(-1)?.ordinal, gpus.at(3)], [2, undefined]);
  const [first] = gpus;
  gpus.dispose();
  gpus.dispose();
  assertEquals([gpus.disposed, first?.disposed], [true, true]);
});

function range(length: number): number[] {
  return Array.from({ length }, (_, at) => at);
}

async function errorOf(call: () => unknown): Promise<unknown> {
  try {
    await call();
    return undefined;
  } catch (error) {
    return error;
  }
}

testWithNccl("gpu.report() tells what NCCL took for a group, until the group ends", async () => {
  using gpus = CudaDevice.all({ driver: driverFor(MAX_RANKS) });
  const libraries = () => gpus.map((gpu) => gpu.report().data.libraries);
  assertEquals(libraries(), gpus.map(() => []));
  const before = gpus.map(({ memory: { freeBytes } }) => freeBytes);
  const group = await gpus.group({ label: "world" });
  const taken = gpus.map(({ memory: { freeBytes } }, rank) => (before[rank] ?? 0) - freeBytes);
  assert(taken.every((bytes) => bytes > 0), `${taken}`);
  assertEquals(libraries(), taken.map((byteLength) => [{ name: "NCCL for world", byteLength }]));
  for (const gpu of gpus) assertStringIncludes(`${gpu.report()}`, "held by NCCL for world");
  group.dispose();
  assertEquals(libraries(), gpus.map(() => []));
});

testWithNccl(
  "a call of a group that fails behind a transfer is told by downloads of every rank",
  () => {
    const { driver, setFault } = faultyDriver(driverFor(2));
    return withGroup(2, async ({ gpus, group }) => {
      const [first, second] = [...gpus] as [CudaDevice, CudaDevice];
      using x = first.alloc("uint8", LATE_BYTES);
      using y = second.zeros("uint8", LATE_BYTES);
      using stream = second.createStream();
      const upload = x.upload(new Uint8Array(LATE_BYTES).fill(7));
      requireUnderWay(first.stream);
      group.broadcast([x, y], { streams: [first.stream, stream] });
      setFault({ name: "cuStreamWaitEvent", times: 1 });
      await assertRejects(() => y.download(), CudaError, "cuStreamWaitEvent");
      setFault(undefined);
      await upload;
      for (const gpu of gpus) await gpu.synchronize();
      await group.broadcast([x, y]);
      assertEquals((await y.download()).at(-1), 7);
    }, driver);
  },
  2,
);
