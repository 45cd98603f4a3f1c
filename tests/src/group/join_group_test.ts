// joinGroup() and its handshake: what calls compute between ranks that know only their own buffers, who is
// let in, and what becomes of everything else that connects.

import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertMatch,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { setTimeout as delay } from "node:timers/promises";
import { CudaDevice } from "../../../src/device/device.ts";
import { simulateDriver } from "../../../src/entries/simulated.ts";
import type { DeviceGroup } from "../../../src/group/device_group.ts";
import { FrameConnection, STRANGER } from "../../../src/group/frames.ts";
import { GroupError } from "../../../src/group/group_error.ts";
import type { JoinOptions } from "../../../src/group/group_options.ts";
import { Secret } from "../../../src/group/handshake.ts";
import { joinGroup } from "../../../src/group/join_group.ts";
import { readAppointment } from "../../../src/group/rendezvous_address.ts";
import { DisposedError } from "../../../src/words/errors.ts";
import { VERSION } from "../../../src/words/version.ts";
import { evaluate } from "../../support/child_deno.ts";
import { assertHoldsOnly } from "../../support/contents.ts";
import { join, openRank, withRanks } from "../../support/group/joined_ranks.ts";
import { namesIn } from "../../support/files.ts";
import { freeAddress } from "../../support/group/rank_process.ts";
import { TOKEN } from "../../support/group/rank_words.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";
import { inTurn, testOnLinux } from "../../support/test_unless.ts";
import { LATE_BYTES, requireUnderWay } from "../../support/under_way.ts";
import { CaughtWarnings } from "../../support/warnings.ts";
import { freeBytes, liveNames } from "../../support/with_device.ts";

const SIZES = [1, 2, 3, 5];

/** Numbers of a rank, which differ from those of the others. */
function numbersOf(rank: number, length: number): number[] {
  return Array.from({ length }, (_, at) => rank * 100 + at);
}

function sumsOf(size: number, length: number): number[] {
  return Array.from(
    { length },
    (_, at) => Array.from({ length: size }, (_, rank) => rank * 100 + at).reduce((a, b) => a + b),
  );
}

async function groupErrorOf(promise: Promise<unknown>): Promise<GroupError> {
  const error = await promise.then((value) => new Error(`it gave ${value}`), (error) => error);
  assertInstanceOf(error, GroupError, String(error));
  return error;
}

/** Ends groups together, once all of them have met. */
async function endAll(groups: readonly Promise<DeviceGroup>[]): Promise<void> {
  const met = await Promise.all(groups);
  await Promise.all(met.map((group) => group[Symbol.asyncDispose]()));
}

/** Starts a rank that cannot join, and returns its error; nothing of it is left. */
async function refusalOf(
  options: Omit<JoinOptions, "device">,
  device = options.rank,
): Promise<GroupError> {
  using gpu = openRank(device ?? 0);
  const error = await groupErrorOf(join({ ...options, device: gpu }));
  assertEquals(liveNames(gpu), []);
  return error;
}

for (const size of SIZES) {
  Deno.test(`joinGroup() makes a group of ${size} whose calls join, move and gather`, () =>
    withRanks(size, async ({ rank, gpu, group }) => {
      assertEquals([group.rank, group.size, group.ranks], [rank, size, [rank]]);
      assertEquals(group.toString(), `DeviceGroup(${group.name}, rank ${rank} of ${size})`);
      using stack = new DisposableStack();
      const made = async (length: number) =>
        stack.use(await gpu.upload(new Float32Array(numbersOf(rank, length))));
      const zeros = (length: number) => stack.use(gpu.zeros("float32", length));
      const read = async (buffer: { download(): Promise<unknown> }) =>
        Array.from(await buffer.download() as Float32Array);
      const root = size - 1;
      const sums = sumsOf(size, 6);
      const all = Array.from({ length: size }, (_, each) => numbersOf(each, 6)).flat();

      const x = await made(6);
      await group.allReduce(x);
      assertEquals(await read(x), sums);
      const into = zeros(6);
      await group.allReduce([await made(6)], { op: "max", into: [into] });
      assertEquals(await read(into), numbersOf(root, 6));

      const y = await made(6);
      await group.reduce(y, { root });
      if (rank === root) assertEquals(await read(y), sums);
      const z = await made(6);
      await group.broadcast(z, { root });
      assertEquals(await read(z), numbersOf(root, 6));
      const far = rank === root ? zeros(6) : await made(6);
      if (rank === root) await group.broadcast(await made(6), { into: far });
      else await group.broadcast(far, { root });
      assertEquals(await read(far), numbersOf(root, 6));

      const whole = zeros(6 * size);
      await group.allGather(await made(6), { into: whole });
      assertEquals(await read(whole), all);
      const part = zeros(6);
      await group.reduceScatter(await made(6 * size), { into: part });
      assertEquals(await read(part), sumsOf(size, 6 * size).slice(rank * 6, rank * 6 + 6));
      const turned = zeros(6 * size);
      await group.allToAll(await made(6 * size), { into: turned });
      assertEquals(
        await read(turned),
        Array.from(
          { length: size },
          (_, each) => numbersOf(each, 6 * size).slice(rank * 6, rank * 6 + 6),
        )
          .flat(),
      );

      const gathered = rank === root ? zeros(6 * size) : undefined;
      await group.gather(await made(6), gathered === undefined ? { root } : { into: gathered });
      if (gathered !== undefined) assertEquals(await read(gathered), all);
      const scattered = zeros(6);
      const source = rank === root ? await made(6 * size) : undefined;
      await group.scatter(source, { into: scattered, root });
      assertEquals(await read(scattered), numbersOf(root, 6 * size).slice(rank * 6, rank * 6 + 6));

      const next = zeros(6);
      const own = await made(6);
      await group.batch(() => {
        group.send(own, { to: (rank + 1) % size });
        group.recv(next, { from: (rank + size - 1) % size });
      });
      assertEquals(await read(next), numbersOf((rank + size - 1) % size, 6));
      await group.barrier();
      assertEquals([...gpu.live()].filter(({ label }) => label === "barrier"), []);
    }));
}

Deno.test("DeviceGroup of several processes sends and receives outside a batch", () =>
  withRanks(2, async ({ rank, gpu, group }) => {
    using x = gpu.alloc("int32", 4).fill(rank + 5);
    if (rank === 0) await group.send(x, { to: 1 });
    else await group.recv(x, { from: 0 });
    assertEquals([...await x.download()], [5, 5, 5, 5]);
  }));

Deno.test("DeviceGroup.send() of a simulated rank waits for its receive, as on a GPU", () =>
  withRanks(2, async ({ rank, gpu, group }) => {
    await using part = await group.split({ color: 0, timeoutSeconds: 1 });
    assert(part !== undefined);
    using x = gpu.alloc("int32", 4).fill(rank);
    using y = gpu.zeros("int32", 4);
    const sent = part.send(x, { to: 1 - rank }); // both ranks send first, outside a batch
    part.recv(y, { from: 1 - rank });
    const { reason } = await groupErrorOf(Promise.resolve(sent));
    assert(["timeout", "ended"].includes(reason), reason);
  }));

Deno.test("DeviceGroup of several processes falls back on sends below NCCL 2.28", () =>
  withRanks(3, async ({ rank, gpu, group }) => {
    assertEquals(group.ncclVersion, "2.20.5");
    using x = gpu.alloc("float32", 3).fill(rank);
    using y = gpu.zeros("float32", 3);
    await group.allToAll(x, { into: y });
    assertEquals([...await y.download()], [0, 1, 2]);
    using whole = gpu.zeros("float32", 9);
    await group.gather(x, rank === 1 ? { into: whole } : { root: 1 });
    if (rank === 1) assertEquals([...await whole.download()], [0, 0, 0, 1, 1, 1, 2, 2, 2]);
    await group.scatter(rank === 1 ? whole : undefined, { into: y, root: 1 });
    assertEquals([...await y.download()], [rank, rank, rank]);
  }, { ncclVersion: "2.20.5" }));

Deno.test(
  inTurn("DeviceGroup of several processes comes after work before it and before work after it"),
  () =>
    withRanks(2, async ({ rank, gpu, group }) => {
      const length = LATE_BYTES / 4;
      using x = gpu.alloc("float32", length);
      using copy = gpu.alloc("float32", length);
      using other = gpu.createStream();
      for (let round = 0; round < 2; round++) {
        const upload = x.upload(new Float32Array(length).fill(rank + 1));
        requireUnderWay(gpu.stream);
        group.allReduce(x); // NCCL connects the ranks: it is not queued when this returns
        copy.copyFrom(x, { stream: other });
        x.fill(9);
        const [copied, filled] = await Promise.all([copy.download(), x.download()]);
        assertHoldsOnly(copied, 3);
        assertHoldsOnly(filled, 9);
        await upload;
      }
    }),
);

Deno.test("DeviceGroup of several processes keeps the order of calls that nobody awaits", () =>
  withRanks(3, async ({ rank, gpu, group }) => {
    using x = gpu.alloc("float64", 100).fill(rank);
    using y = gpu.alloc("float64", 100).fill(1);
    using streams = new DisposableStack();
    const [one, two] = [0, 1].map(() => [streams.use(gpu.createStream())]);
    let [expectedX, expectedY] = [3, 3];
    group.allReduce(x, { streams: one });
    group.allReduce(y, { streams: two });
    for (let round = 0; round < 10; round++) {
      group.allReduce(x, { streams: round % 2 === 0 ? one : two });
      group.allReduce(y);
      expectedX *= 3;
      expectedY *= 3;
    }
    const work = group.barrier();
    assertEquals([await x.at(7), await y.at(99)], [expectedX, expectedY]);
    await work;
  }));

Deno.test("DeviceGroup.barrier() of several processes names the rank that has not come", async () => {
  const errors: GroupError[] = [];
  await withRanks(3, async ({ rank, group }) => {
    await group.barrier();
    if (rank === 2) return void await delay(1500);
    const work = group.barrier({ timeoutSeconds: 0.7 });
    errors.push(await groupErrorOf(Promise.resolve(work)));
  }).catch(() => {});
  const late = errors.filter(({ reason }) => reason === "timeout");
  assert(late.length > 0, `${errors}`);
  for (const error of late) {
    assertEquals([error.call, error.rank], ["barrier", 2]);
    assertStringIncludes(error.message, "; rank 2 (process");
    assertStringIncludes(error.message, "has not come");
  }
});

Deno.test("DeviceGroup of several processes blocks for what NCCL is still queueing", () =>
  withRanks(1, async ({ gpu, group }) => {
    using x = gpu.alloc("float32", 10).fill(4);
    group.allReduce(x); // not queued yet
    assertEquals([...x.downloadSync()], Array(10).fill(4));
    group.allReduce(x, { op: "avg" });
    gpu.synchronizeSync();
    assertEquals(await x.at(3), 4);
  }));

Deno.test("DeviceGroup of several processes lets the program allocate while NCCL is queueing", () =>
  withRanks(2, async ({ gpu, group }) => {
    using x = gpu.alloc("float32", 4).fill(1);
    group.allReduce(x);
    using y = gpu.zeros("float32", 4);
    await group.barrier();
    assertEquals([await x.at(0), await y.at(0)], [2, 0]);
  }));

Deno.test("DeviceGroup of several processes goes on after each refusal", () =>
  withRanks(2, async ({ rank, gpu, group }) => {
    using x = gpu.alloc("float32", 8).fill(1);
    using far = openRank(7).zeros("float32", 8);
    const refusals: [() => unknown, typeof TypeError | typeof RangeError, string][] = [
      [() => group.allReduce([x, x]), RangeError, "pass one for each of 1 device"],
      [() => group.allReduce(far), TypeError, "not in the group of this process"],
      [() => group.reduce(x, { root: 2 }), RangeError, "the group has ranks 0 to 1"],
      [() => group.reduce(x, { root: 1 - rank, into: x }), RangeError, `is on rank ${rank}`],
      [() => group.broadcast(x, { root: -1 }), RangeError, "rank -1"],
      [
        () => group.gather(x),
        TypeError,
        "pass { into }, a buffer with room for all; the other ranks",
      ],
      [() => group.gather(x, { root: rank }), TypeError, "pass { into }"],
      [() => group.gather(x, { root: 9 }), RangeError, "rank 9"],
      [() => group.scatter(undefined, { into: x }), TypeError, "pass a buffer with the parts"],
      [() => group.scatter(x, { into: x, root: 1 - rank }), RangeError, `is on rank ${rank}`],
      [() => group.send(x, { to: 2 }), RangeError, "rank 2"],
      [() => group.send(x, { to: rank }), TypeError, "send() outside a batch: it waits"],
      [() => group.recv(x, { from: rank }), TypeError, "recv() outside a batch: it waits"],
      [
        () => group.batch(() => group.send(x, { to: rank })),
        RangeError,
        `rank ${rank} has no recv() from it`,
      ],
      [() => group.reduceScatter(x.subarray(0, 7)), RangeError, "cannot be divided among 2 ranks"],
      [() => group.split({ color: 0.5 }), RangeError, "expected a whole number"],
      [() => group.shrink({ exclude: [5] }), RangeError, "the group has ranks 0 to 1"],
      [() => group.shrink({ exclude: [rank] }), RangeError, "that is this process"],
      [() => group.split({ timeoutSeconds: 0 }), RangeError, "more than 0"],
    ];
    for (const [call, kind, words] of refusals) {
      const error = await Promise.try(call).then(() => undefined, (error) => error);
      assertInstanceOf(error, kind, `${words}: ${error}`);
      assertStringIncludes(error.message, words);
    }
    await group.allReduce(x);
    assertEquals(await x.at(0), 2);
  }));

Deno.test("DeviceGroup.split() refuses a wrong color on one rank, and works on all of them next", () =>
  withRanks(2, async ({ rank, group }) => {
    if (rank === 1) {
      await assertRejects(() => group.split({ color: 0.5 }), RangeError, "{ color: 0.5 }");
      await assertRejects(() => group.split({ key: NaN }), RangeError, "{ key: NaN }");
    }
    await using part = await group.split({ color: 1, timeoutSeconds: 5 });
    assertEquals(part?.size, 2);
  }));

Deno.test("DeviceGroup.split() leaves out ranks without a color, and orders by key", () =>
  withRanks(4, async ({ rank, gpu, group }) => {
    const part = await group.split(rank === 2 ? {} : { color: 7, key: 10 - rank, label: "part" });
    assertEquals(part === undefined, rank === 2);
    if (part === undefined) return;
    await using own = part;
    assertEquals([own.rank, own.size, own.name], [[2, 1, -1, 0][rank], 3, "part"]);
    using x = gpu.alloc("float32", 2).fill(rank);
    await own.allReduce(x);
    assertEquals(await x.at(1), 4);
    await using again = await own.split({ color: own.rank });
    assertEquals(again?.size, 1);
    await again?.allReduce(x);
  }));

Deno.test("DeviceGroup.split() and shrink() name who does not call them", () =>
  withRanks(3, async ({ rank, group }) => {
    if (rank === 2) return void await group.barrier();
    const error = await groupErrorOf(group.split({ color: 1, timeoutSeconds: 0.3 }));
    assertEquals([error.reason, error.rank], ["timeout", 2]);
    assertStringIncludes(error.message, "rank 2 did not call it in 0.3 seconds");
    const other = await groupErrorOf(
      group.shrink({ exclude: rank === 0 ? [2] : [], timeoutSeconds: rank === 0 ? 5 : 0.3 }),
    );
    assertEquals(other.reason, rank === 0 ? "refused" : "timeout");
    const stopped = await groupErrorOf(group.split({ color: 1, signal: AbortSignal.timeout(50) }));
    assertEquals(stopped.reason, "signal");
    await group.barrier();
  }));

Deno.test("DeviceGroup.split() and shrink() wait as long as the group's calls do", () =>
  withRanks(2, async ({ rank, group }) => {
    await using part = await group.split({ color: 1, timeoutSeconds: 1 });
    if (rank === 1) return void await group.barrier();
    const calls = [part?.split({ color: 1 }), part?.shrink({ exclude: [] })];
    const errors = await Promise.all(calls.map((call) => groupErrorOf(Promise.resolve(call))));
    for (const { message } of errors) assertMatch(message, /rank 1 did not call it in 1 second$/);
    await group.barrier();
  }));

Deno.test("DeviceGroup.split() and shrink() name a rank that has left", () =>
  withRanks(3, async ({ rank, group }) => {
    if (rank === 2) return;
    for (const call of [() => group.split({ color: 1 }), () => group.shrink({ exclude: [] })]) {
      const error = await groupErrorOf(call());
      assertEquals([error.reason, error.rank], ["lost", 2]);
      assertMatch(error.message, /^Cannot call \w+\(\): rank 2 .* has left the group$/);
    }
    await using rest = await group.shrink({ exclude: [2] });
    assertEquals(rest.size, 2);
  }));

Deno.test("GroupWork that takes too long names a rank that has left", () =>
  withRanks(2, async ({ rank, gpu, group }) => {
    if (rank === 1) return;
    await groupErrorOf(group.split()); // rank 1 has left
    using x = gpu.zeros("float32", 4);
    const { message } = await groupErrorOf(
      Promise.resolve(group.allReduce(x, { timeoutSeconds: 0.1 })),
    );
    assertMatch(message, /not done after 0.1 seconds on rank 0; rank 1 .* has left the group; the/);
  }));

Deno.test("GroupWork that is done stays so, and the group ends in peace, when a rank has left long ago", async () => {
  using warnings = new CaughtWarnings();
  await withRanks(2, async ({ rank, gpu, group }) => {
    using x = gpu.zeros("float32", 4);
    const work = group.allReduce(x);
    await work;
    if (rank === 0) return;
    await groupErrorOf(group.split()); // rank 0 has left
    const now = performance.now.bind(performance);
    try {
      performance.now = () => now() + 6000;
      await work;
      await group[Symbol.asyncDispose]();
    } finally {
      performance.now = now;
    }
  });
  assertEquals(warnings.texts, []);
});

Deno.test("DeviceGroup.split() fails on all ranks when one of them gives up", () =>
  withRanks(3, async ({ rank, group }) => {
    if (rank < 2) await new Promise((next) => void setTimeout(next, 50));
    const signal = rank === 2 ? AbortSignal.abort() : undefined;
    const error = await groupErrorOf(group.split({ color: 1, signal, timeoutSeconds: 5 }));
    assertMatch(
      error.message,
      rank === 2 ? /its signal was aborted$/ : /rank 2 .* signal was aborted/,
    );
    assertEquals(error.reason, rank === 2 ? "signal" : "ended");
    await group.barrier();
  }));

Deno.test("DeviceGroup.split() fails with its group", () =>
  withRanks(3, async ({ rank, gpu, group }) => {
    using x = gpu.zeros("float32", 4);
    if (rank === 2) {
      while (group.failure === undefined) await new Promise((next) => void setTimeout(next, 5));
      return;
    }
    const splitting = groupErrorOf(group.split({ color: 1 }));
    await groupErrorOf(group.allReduce(x, { timeoutSeconds: 0.2 }).then());
    assertMatch((await splitting).message, /^Cannot call split\(\): the group has failed; /);
  }));

Deno.test("DeviceGroup of one process cannot be split", async () => {
  using gpus = CudaDevice.all({ driver: simulateDriver() });
  await using group = await gpus.group();
  assertEquals([group.rank, group.ranks, group.size], [0, [0, 1], 2]);
  await assertRejects(() => group.split({ color: 1 }), TypeError, "CudaDevice.openMany");
  await assertRejects(() => group.shrink(), TypeError, "all its ranks are in this process");
});

Deno.test(inTurn("joinGroup() joins 30 groups in turn, and takes no memory"), async () => {
  const rendezvous = freeAddress();
  await Promise.all([0, 1].map(async (rank) => {
    using gpu = openRank(rank);
    const before = freeBytes(gpu);
    for (let round = 0; round < 30; round++) {
      await using group = await join({ rendezvous, rank, size: 2, device: gpu });
      using x = gpu.alloc("float32", 8).fill(1);
      const work = group.allReduce(x);
      if (round % 2 === 0) await work;
    }
    assertEquals(freeBytes(gpu), before);
    assertEquals(liveNames(gpu), []);
  }));
});

Deno.test("DeviceGroup of several processes outlives its devices", () =>
  withRanks(2, async ({ rank, gpu, group }) => {
    using x = gpu.alloc("float32", 8).fill(rank);
    gpu.dispose();
    await group.allReduce(x);
    assertEquals(await x.at(0), 1);
    await group.barrier();
    group.dispose();
    assertThrows(() => group.allReduce(x), DisposedError);
    await assertRejects(() => group.split({ color: 1 }), DisposedError);
    await assertRejects(() => group.shrink(), DisposedError);
  }).catch((error) => {
    // The scene cannot look at a device that is gone.
    assertInstanceOf(error, DisposedError);
  }));

Deno.test("DeviceGroup of several processes ends on GPUs that are slow to pass its last work", async () => {
  const rendezvous = freeAddress();
  await Promise.all([0, 1].map(async (rank) => {
    const driver = simulateDriver({ deviceCount: 2 });
    const readyAt = new Map<bigint, number>();
    const slow = {
      ...driver,
      cuEventQuery(event: bigint): number {
        const at = readyAt.get(event) ?? performance.now() + 30;
        readyAt.set(event, at);
        return performance.now() < at ? 600 : driver.cuEventQuery(event);
      },
    };
    using gpu = CudaDevice.open(rank, { driver: slow });
    for (const isAwaited of [true, false]) {
      const group = await join({ rendezvous, rank, size: 2, device: gpu });
      using x = gpu.alloc("float32", 8);
      x.fill(rank);
      const work = group.allReduce(x);
      if (isAwaited) await group[Symbol.asyncDispose]();
      else group.dispose();
      await work.catch(() => {});
      assertEquals(await x.at(0), 1);
    }
    await delay(300); // the second one ends by itself
    await gpu.synchronize();
    assertEquals(liveNames(gpu), []);
  }));
});

Deno.test("joinGroup() refuses who does not fit, by name, and joins who does", async () => {
  const rendezvous = freeAddress();
  using first = openRank(0);
  const joined = join({ rendezvous, rank: 0, size: 2, device: first });
  const base = { rendezvous, rank: 1, size: 2, token: TOKEN } as const;
  const token = await refusalOf({ ...base, token: `${TOKEN}!` });
  assertEquals(token.reason, "refused");
  assertStringIncludes(
    token.message,
    "as rank 1: rank 0 refuses this process: its token is another one",
  );
  const cases: [Omit<JoinOptions, "device">, number, string][] = [
    [{ ...base, size: 3 }, 1, "it has a size of 3, rank 0 has a size of 2"],
    [base, 0, `its GPU, ${first.info.uuid}, is that of rank 0 (process ${Deno.pid})`],
  ];
  for (const [options, device, words] of cases) {
    const error = await refusalOf(options, device);
    assertEquals(error.reason, "refused");
    assertStringIncludes(error.message, words);
  }
  using old = openRank(1, { ncclVersion: "2.20.5" });
  const error = await groupErrorOf(join({ ...base, device: old }));
  assertStringIncludes(error.message, "it has NCCL 2.20.5, rank 0 has NCCL 2.28.9");
  using second = openRank(1);
  const groups = await Promise.all([joined, join({ ...base, device: second })]);
  await Promise.all(groups.map((group) => group[Symbol.asyncDispose]()));
});

Deno.test("joinGroup() refuses a rank that is there already", async () => {
  const rendezvous = freeAddress();
  using first = openRank(0);
  using second = openRank(1);
  const started = [first, second].map((device, rank) =>
    join({ rendezvous, rank, size: 3, device, timeoutSeconds: 8 })
  );
  await delay(500);
  const error = await refusalOf({ rendezvous, rank: 1, size: 3, token: TOKEN }, 2);
  assertStringIncludes(error.message, `rank 1 (process ${Deno.pid} at 127.0.0.1) is there already`);
  using third = openRank(2);
  started.push(join({ rendezvous, rank: 2, size: 3, device: third }));
  const groups = await Promise.all(started);
  await Promise.all(groups.map((group) => group[Symbol.asyncDispose]()));
});

Deno.test("joinGroup() refuses a rank that the group has not, also with the right token", async () => {
  const rendezvous = freeAddress();
  using first = openRank(0);
  using second = openRank(1);
  const started = join({ rendezvous, rank: 0, size: 2, device: first, timeoutSeconds: 8 });
  await delay(300);
  const { port } = new URL(rendezvous.replace("tcp:", "http:"));
  const connection = new FrameConnection(
    await Deno.connect({ hostname: "127.0.0.1", port: Number(port) }),
    STRANGER,
  );
  const theirs = `${(await connection.next())?.head["nonce"]}`;
  const own = "ab".repeat(16);
  const text = JSON.stringify({
    kit: VERSION,
    nccl: "2.28.9",
    size: 2,
    rank: 7,
    pid: 1,
    device: "GPU-of-nobody",
    isSimulated: true,
  });
  const secret = await Secret.of(TOKEN);
  const proof = await secret.prove({ side: "rank", nonces: [theirs, own], text });
  connection.send({ vramkit: 1, nonce: own, introduction: text, proof });
  const answer = (await connection.next())?.head;
  assertEquals(answer, {
    refused: "rank",
    words: "it has rank 7, the group of 2 has ranks 0 to 1",
  });
  connection.close();
  const groups = await Promise.all([
    started,
    join({ rendezvous, rank: 1, size: 2, device: second }),
  ]);
  await Promise.all(groups.map((group) => group[Symbol.asyncDispose]()));
});

Deno.test("joinGroup() names the ranks that never came, on all others", async () => {
  const rendezvous = freeAddress();
  using first = openRank(0);
  using third = openRank(2);
  const options = { rendezvous, size: 5 } as const;
  const errors = Promise.all([
    groupErrorOf(join({ ...options, rank: 0, device: first, timeoutSeconds: 1.5 })),
    groupErrorOf(join({ ...options, rank: 2, device: third, timeoutSeconds: 30 })),
  ]);
  await delay(300);
  for (const rank of [1, 3]) await refusalOf({ ...options, rank, token: "another long word" });
  for (const { message, reason, rank } of await errors) {
    assertEquals([reason, rank], ["timeout", 1]);
    assertStringIncludes(message, "rank 1, rank 3, rank 4 of 5 have not come in 1.5 seconds");
    assertMatch(message, /refused meanwhile: a process at 127.0.0.1: its token [^:]+$/);
  }
  assertEquals([liveNames(first), liveNames(third)], [[], []]);
});

Deno.test("joinGroup() names the missing ranks on a rank whose time ends before rank 0's", async () => {
  const rendezvous = freeAddress();
  const end = new AbortController();
  using first = openRank(0);
  const waiting = groupErrorOf(
    join({ rendezvous, rank: 0, size: 3, device: first, signal: end.signal }),
  );
  const base = { rendezvous, size: 3, token: TOKEN } as const;
  const { message, reason, rank } = await refusalOf({ ...base, rank: 2, timeoutSeconds: 1.5 });
  assertEquals([reason, rank], ["timeout", 1]);
  assertStringIncludes(message, "as rank 2: rank 1 of 3 has not come, after 1.5 seconds");
  end.abort();
  await waiting;
});

Deno.test("joinGroup() names on rank 0 the ranks that never came, and those that left before", async () => {
  const rendezvous = freeAddress();
  using first = openRank(0);
  const waiting = groupErrorOf(
    join({ rendezvous, rank: 0, size: 3, device: first, timeoutSeconds: 3 }),
  );
  const base = { rendezvous, size: 3, token: TOKEN } as const;
  assertEquals((await refusalOf({ ...base, rank: 2, timeoutSeconds: 1.5 })).rank, 1);
  const { message, rank } = await waiting;
  assertEquals(rank, 1);
  const words = "rank 1 of 3 has not come and rank 2 of 3 has come and left again in 3 seconds";
  assertStringIncludes(message, words);
});

Deno.test("joinGroup() says that rank 0 is not there, or is somebody else", async () => {
  const rendezvous = freeAddress();
  const late = await refusalOf({ rendezvous, rank: 1, size: 2, token: TOKEN, timeoutSeconds: 0.5 });
  assertEquals(late.reason, "timeout");
  assertStringIncludes(late.message, "rank 0 cannot be reached (");
  assertStringIncludes(late.message, "after 0.5 seconds");

  const { port } = new URL(rendezvous.replace("tcp:", "http:"));
  using listener = Deno.listen({ hostname: "127.0.0.1", port: Number(port) });
  const habits: ((connection: Deno.Conn) => unknown)[] = [
    () => {},
    (connection) => connection.close(),
    (connection) => connection.write(new TextEncoder().encode("HTTP/1.1 400 Bad Request\r\n\r\n")),
    (connection) => connection.write(crypto.getRandomValues(new Uint8Array(3000))),
  ];
  for (const habit of habits) {
    const open: Deno.Conn[] = [];
    const answer = (async () => {
      for (;;) {
        const connection = await listener.accept().catch(() => undefined);
        if (connection === undefined) return;
        open.push(connection);
        await Promise.try(() => habit(connection)).catch(() => {});
        if (open.length > 20) return;
      }
    })();
    const error = await refusalOf({
      rendezvous,
      rank: 1,
      size: 2,
      token: TOKEN,
      timeoutSeconds: 0.6,
    });
    assertEquals(error.reason, "timeout");
    assertStringIncludes(error.message, "hangs up, or speaks something else");
    for (const connection of open) {
      try {
        connection.close();
      } catch { /* closed by its habit */ }
    }
    void answer;
  }
});

Deno.test("joinGroup() is not held up by whatever else connects", async () => {
  const rendezvous = freeAddress();
  const { port } = new URL(rendezvous.replace("tcp:", "http:"));
  using first = openRank(0);
  const joined = join({ rendezvous, rank: 0, size: 2, device: first });
  const header = (head: number, bytes: number) => {
    const result = new Uint8Array(12);
    result.set(new TextEncoder().encode("vkG1"));
    new DataView(result.buffer).setUint32(4, head);
    new DataView(result.buffer).setUint32(8, bytes);
    return result;
  };
  const text = (words: string) => {
    const head = new TextEncoder().encode(words);
    return new Uint8Array([...header(head.byteLength, 0), ...head]);
  };
  const attacks: (Uint8Array<ArrayBuffer> | undefined)[] = [
    undefined, // says nothing
    new TextEncoder().encode("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
    new TextEncoder().encode("vkG"),
    header(0xffffffff, 0),
    header(10, 0xffffffff),
    header(16 << 10, 0),
    text("null"),
    text("[1, 2"),
    text("{}"),
    text('{"vramkit": 1, "nonce": "00", "introduction": "{}", "proof": "00"}'),
    text('{"vramkit": 2, "nonce": "00", "introduction": "{}", "proof": "00"}'),
    text(
      `{"vramkit": 1, "nonce": "${"0".repeat(32)}", "introduction": "{}", "proof": ` +
        `"${"0".repeat(64)}"}`,
    ),
    text('{"kind": "lost", "rank": 0}'),
    text('{"welcome": "{}", "proof": ""}'),
    crypto.getRandomValues(new Uint8Array(60_000)),
  ];
  await delay(100);
  const connections = await Promise.all(
    Array.from({ length: 4 }, () => attacks).flat().map(async (bytes) => {
      const connection = await Deno.connect({ hostname: "127.0.0.1", port: Number(port) });
      if (bytes !== undefined) await connection.write(bytes).catch(() => {});
      return connection;
    }),
  );
  using second = openRank(1);
  const group = await join({ rendezvous, rank: 1, size: 2, device: second });
  const groups = [await joined, group];
  for (const connection of connections) connection.close();
  await Promise.all(groups.map((each) => each[Symbol.asyncDispose]()));
  assertEquals([liveNames(first), liveNames(second)], [[], []]);
});

Deno.test("joinGroup() says that the address is taken", async () => {
  const rendezvous = freeAddress();
  const { port } = new URL(rendezvous.replace("tcp:", "http:"));
  using listener = Deno.listen({ hostname: "127.0.0.1", port: Number(port) });
  const error = await refusalOf({
    rendezvous,
    rank: 0,
    size: 2,
    token: TOKEN,
    timeoutSeconds: 0.3,
  });
  assertEquals(error.reason, "address");
  assertStringIncludes(error.message, "cannot listen there; another process does");
  assertEquals((listener.addr as Deno.NetAddr).port, Number(port));
});

testOnLinux("joinGroup() tells a second rank 0, and the first goes on", async () => {
  using folder = new TemporaryFolder();
  for (const rendezvous of [`file:${folder.path}/meeting`, freeAddress()]) {
    const options = { rendezvous, size: 2, token: TOKEN };
    using gpu = openRank(0);
    const first = join({ ...options, rank: 0, device: gpu });
    const error = await refusalOf({ ...options, rank: 0 });
    assertEquals(error.reason, "address");
    assertStringIncludes(error.message, "another process is rank 0 there");
    using other = openRank(1);
    await endAll([first, join({ ...options, rank: 1, device: other })]);
  }
});

testOnLinux("joinGroup() lets one of two take the place of a killed rank 0", async () => {
  using folder = new TemporaryFolder();
  const path = folder.pathOf("meeting");
  await evaluate(
    `Deno.listen({ transport: "unix", path: ${JSON.stringify(path)} }); ` +
      `Deno.kill(Deno.pid, "SIGKILL");`,
  );
  const options = { rendezvous: `file:${path}`, size: 2 };
  using gpu = openRank(0);
  const claims = [0, 0].map((rank) => join({ ...options, rank, device: gpu }));
  const error = await Promise.any(claims.map(groupErrorOf));
  assertEquals(error.reason, "address");
  using other = openRank(1);
  await endAll([Promise.any(claims), join({ ...options, rank: 1, device: other })]);
});

testOnLinux(
  "joinGroup() says that its socket was removed, and leaves the one that is there now",
  async () => {
    using folder = new TemporaryFolder();
    const path = folder.pathOf("meeting");
    const refusal = refusalOf({ rendezvous: `file:${path}`, rank: 0, size: 2 });
    while (namesIn(folder).length === 0) await delay(10);
    Deno.removeSync(path);
    using _other = Deno.listen({ transport: "unix", path });
    const error = await refusal;
    assertEquals(error.reason, "address");
    assertStringIncludes(error.message, "its socket is not there any more");
    assert(Deno.lstatSync(path).isSocket);
  },
);

Deno.test("joinGroup() says that rank 0 cannot listen at an address that is not its own", async () => {
  const options = { rendezvous: "tcp://192.0.2.1:4100", rank: 0, size: 2, token: TOKEN };
  const error = await refusalOf({ ...options, timeoutSeconds: 5 });
  assertEquals(error.reason, "address");
  assertStringIncludes(error.message, "tcp://192.0.2.1:4100");
});

for (const rank of [0, 1]) {
  Deno.test(`joinGroup() ends on rank ${rank} when its signal is aborted`, async () => {
    const rendezvous = freeAddress();
    const options = { rendezvous, rank, size: 2, token: TOKEN };
    const before = await refusalOf({ ...options, signal: AbortSignal.abort("no") });
    assertEquals([before.reason, before.cause], ["signal", "no"]);
    const during = await refusalOf({ ...options, signal: AbortSignal.timeout(100) });
    assertEquals(during.reason, "signal");
  });
}

Deno.test("joinGroup() ignores its signal once it has joined, and a call ends the group by its own", async () => {
  const ended = Promise.withResolvers<void>();
  const rendezvous = freeAddress();
  await Promise.all([0, 1].map(async (rank) => {
    using gpu = openRank(rank);
    const controller = new AbortController();
    const { signal } = controller;
    await using group = await join({ rendezvous, rank, size: 2, device: gpu, signal });
    controller.abort();
    using x = gpu.alloc("float32", 4).fill(1);
    await group.allReduce(x);
    assertEquals(await x.at(0), 2);
    if (rank === 1) {
      await ended.promise;
      const error = await groupErrorOf(Promise.try(() => group.allReduce(x)));
      assertEquals([error.reason, error.rank], ["ended", 0]);
      return;
    }
    const error = await groupErrorOf(
      Promise.resolve(group.allReduce(x, { signal: AbortSignal.timeout(50) })),
    );
    assertEquals(error.reason, "signal");
    await delay(100);
    ended.resolve();
  }));
});

testOnLinux(
  "joinGroup() meets at a socket that is this user's alone, and is gone afterwards",
  async () => {
    using folder = new TemporaryFolder();
    const path = `${folder.path}/meeting`;
    for (const rendezvous of [`file:${path}`, `file://${path}`]) {
      // A killed process leaves nothing behind that is in anybody's way.
      const program = `Deno.listen({ transport: "unix", path: ${JSON.stringify(path)} }); ` +
        `Deno.kill(Deno.pid, "SIGKILL");`;
      await evaluate(program);
      assert(Deno.lstatSync(path).isSocket);
      let mode: number | null = 0;
      await Promise.all([0, 1].map(async (rank) => {
        using gpu = openRank(rank);
        if (rank === 1) {
          await delay(300);
          mode = Deno.lstatSync(path).mode;
        }
        const options = { rendezvous, rank, size: 2, device: gpu, timeoutSeconds: 10 };
        await using group = await joinGroup(options); // a file needs no token
        await group.barrier();
      }));
      assertEquals((mode ?? 0) & 0o777, 0o600);
      assertThrows(() => Deno.lstatSync(path), Deno.errors.NotFound);
    }
    Deno.writeTextFileSync(path, "not a socket");
    const error = await refusalOf({
      rendezvous: `file:${path}`,
      rank: 0,
      size: 2,
      timeoutSeconds: 0.3,
    });
    assertEquals(error.reason, "address");
    assertStringIncludes(
      error.message,
      "cannot listen there; something else than a socket is there",
    );
    assertEquals(Deno.readTextFileSync(path), "not a socket");
    const nowhere = `file:${folder.path}/none/socket`;
    const missing = await refusalOf({ rendezvous: nowhere, rank: 0, size: 2, token: TOKEN });
    assertEquals(missing.reason, "address");
    assertStringIncludes(missing.message, "cannot listen there; its folder does not exist");
  },
);

Deno.test("readAppointment() reads addresses, and refuses other texts", () => {
  const own = { rank: 1, size: 4, token: TOKEN };
  const placeOf = (rendezvous: string) => readAppointment({ ...own, rendezvous }).place;
  assertEquals(placeOf("tcp://10.0.0.1:4100"), {
    transport: "tcp",
    hostname: "10.0.0.1",
    port: 4100,
  });
  assertEquals(placeOf("tcp://[::1]:4100/"), { transport: "tcp", hostname: "::1", port: 4100 });
  assertEquals(placeOf("tcp://node-1:80"), { transport: "tcp", hostname: "node-1", port: 80 });
  assertEquals(placeOf("file:/run/a b"), { transport: "unix", path: "/run/a b" });
  assertEquals(placeOf("file:///run/a%20b"), { transport: "unix", path: "/run/a b" });
  assertEquals(placeOf("file:meeting"), { transport: "unix", path: "meeting" });
  const wrong = [
    ...["", "10.0.0.1:4100", "http://10.0.0.1:4100", "tcp://", "tcp://:4100", "tcp://a:4100/path"],
    ...["tcp://user@a:4100", "tcp://a:4100?x=1", "file:", "file://host/path", "env:x", "ws://a:1"],
    ...["tcp://a", "tcp://a:0", "tcp://a:65535", "tcp://a:99999", `file:/${"a".repeat(200)}`],
  ];
  for (const rendezvous of wrong) {
    const error = assertThrows(() => placeOf(rendezvous), Error, "Cannot join a group at");
    assert(error instanceof TypeError || error instanceof RangeError);
  }
  const refused: [Partial<typeof own> & { token?: undefined | string }, string][] = [
    [{ rank: 4 }, "as rank 4: 4 ranks are 0 to 3"],
    [{ rank: -1 }, "as rank -1"],
    [{ rank: 0.5 }, "as rank 0.5"],
    [{ size: 0 }, "a group of 0 ranks"],
    [{ size: 2 ** 60 }, "ranks"],
    [{ rank: undefined as never }, "pass { rank }"],
    [{ size: undefined as never }, "pass { size }"],
    [{ token: undefined as never }, "without a token: pass { token }"],
    [{ token: "short" }, "a token of 5 characters: expected 16 or more"],
  ];
  for (const [options, words] of refused) {
    const error = assertThrows(() =>
      readAppointment({ rendezvous: "tcp://a:1", ...own, ...options })
    );
    assertStringIncludes((error as Error).message, words);
  }
});

Deno.test("readAppointment() reads the environment of a launcher", () => {
  const names = [
    "RANK",
    "WORLD_SIZE",
    "MASTER_ADDR",
    "MASTER_PORT",
    "VRAMKIT_TOKEN",
    "TORCHELASTIC_USE_AGENT_STORE",
  ];
  const before = names.map((name) => Deno.env.get(name));
  const set = (values: readonly (string | undefined)[]) => {
    for (const [at, name] of names.entries()) {
      const value = values[at];
      if (value === undefined) Deno.env.delete(name);
      else Deno.env.set(name, value);
    }
  };
  try {
    set(["3", "4", "node-1", "29500", TOKEN]);
    const place = { transport: "tcp", hostname: "node-1", port: 29500 } as const;
    assertEquals(readAppointment({ rendezvous: "env:" }), {
      place,
      rank: 3,
      size: 4,
      token: TOKEN,
    });
    set(["3", "4", "node-1", "29500", TOKEN, "True"]); // torchrun listens at that port itself
    assertEquals(readAppointment({ rendezvous: "env://" }).place, { ...place, port: 29501 });
    set(["3", "4", "node-1", "29500"]);
    assertThrows(() => readAppointment({ rendezvous: "env:" }), TypeError, "or set VRAMKIT_TOKEN");
    set([undefined, "4", "node-1", "29500", TOKEN]);
    assertThrows(() => readAppointment({ rendezvous: "env:" }), TypeError, "RANK is not set");
    assertEquals(readAppointment({ rendezvous: "env:", rank: 2 }).rank, 2);
    set(["x", "4", "node-1", "29500", TOKEN]);
    assertThrows(() => readAppointment({ rendezvous: "env:" }), TypeError, 'RANK is "x"');
    set(["3", "4", "node-1", "port", TOKEN]);
    assertThrows(() => readAppointment({ rendezvous: "env:" }), RangeError, "MASTER_PORT");
  } finally {
    set(before);
  }
});
