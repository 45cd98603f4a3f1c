// Groups of several processes: what one reduces all have, and what happens when one is killed, sleeps, is
// told something else, or leaves. On GPUs there are as many ranks as GPUs.

import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { setTimeout as delay } from "node:timers/promises";
import { CudaDevice } from "../../../src/device/device.ts";
import { ON_GPU } from "../../support/driver.ts";
import { namesIn } from "../../support/files.ts";
import { freeAddress, RankProcess } from "../../support/group/rank_process.ts";
import { until } from "../../support/in_time.ts";
import { ToldError } from "../../support/obedient_process.ts";
import { share } from "../../support/random.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";
import { takingTurns } from "../../support/test_unless.ts";

/** Ranks of a group. */
const SIZE = ON_GPU ? Math.min(CudaDevice.count(), 4) : 3;

/** Elements of a long operation: it is under way for a while. */
const LONG = ON_GPU ? 256 << 20 : 1 << 18;

/** Groups that are made at one address, one after the other. */
const GROUPS = share(20);

const options = { ignore: Deno.build.os !== "linux" || SIZE < 2 };

/** The processes of the ranks, which go on from test to test; one that was killed has a successor. */
const processes = Array.from({ length: options.ignore ? 0 : SIZE }, () => new RankProcess());
Deno.test.afterAll(async () => {
  for (const process of processes) await process[Symbol.asyncDispose]();
});

/** Runs a test with processes that joined a group, and which have nothing left behind it. */
function testWithGroup(
  name: string,
  body: (ranks: RankProcess[], rendezvous: string) => Promise<void>,
  { fewest = 2 } = {},
): void {
  const ignore = options.ignore || SIZE < fewest;
  Deno.test(name, { ignore, sanitizeOps: false, sanitizeResources: false }, async () => {
    for (const [rank, { hasEnded }] of processes.entries()) {
      if (hasEnded) processes[rank] = new RankProcess();
    }
    const rendezvous = freeAddress();
    await joinAll(processes, rendezvous);
    await body([...processes], rendezvous);
    for (const process of processes) {
      if (!process.hasEnded) assertEquals(await process.tell({ do: "disposeAll" }), []);
    }
  });
}

async function joinAll(ranks: readonly RankProcess[], rendezvous: string): Promise<void> {
  const { length: size } = ranks;
  const joined = await Promise.all(
    ranks.map((process, rank) => process.tell({ do: "join", rendezvous, rank, size })),
  );
  assertEquals(joined, ranks.map((_, rank) => [rank, size]));
}

/** Reduces on all ranks and checks the sum. */
async function checkReduces(ranks: readonly RankProcess[], group = "world"): Promise<void> {
  const sums = await Promise.all(
    ranks.map((process, rank) =>
      process.tell({ do: "reduce", group, length: 1000, value: rank + 1 })
    ),
  );
  const { length: size } = ranks;
  assertEquals(sums, ranks.map(() => size * (size + 1) / 2));
}

/** The error of a command that must fail. */
async function errorOf(answer: Promise<unknown>): Promise<ToldError> {
  const error = await answer.then(
    (value) => new Error(`it succeeded with ${value}`),
    (error) => error,
  );
  assert(error instanceof ToldError, String(error));
  return error;
}

async function endAll(ranks: readonly RankProcess[]): Promise<void> {
  await Promise.all(ranks.map((process) => process.tell({ do: "dispose" })));
  for (const process of ranks) assertEquals(await process.tell({ do: "left" }), []);
}

testWithGroup(
  "joinGroup() joins processes whose calls meet, one group after another",
  async (ranks, at) => {
    for (let round = 0; round < GROUPS; round++) {
      await checkReduces(ranks);
      await Promise.all(ranks.map((process) => process.tell({ do: "barrier" })));
      await Promise.all(ranks.map((process) => process.tell({ do: "dispose" })));
      await joinAll(ranks, at); // the same address each time
    }
    await checkReduces(ranks);
    await endAll(ranks);
  },
);

testWithGroup("joinGroup() joins the next group while those before end", async (ranks, at) => {
  for (let round = 0; round < 3; round++) {
    await checkReduces(ranks);
    await Promise.all(ranks.map((process) => process.tell({ do: "end" })));
    await joinAll(ranks, at);
  }
  await checkReduces(ranks);
  await Promise.all(ranks.map((process) => process.tell({ do: "awaitEnds" })));
  await checkReduces(ranks);
  await endAll(ranks);
});

takingTurns(testWithGroup)(
  "joinGroup() names a rank that is killed in an all-reduce",
  async (ranks, at) => {
    const victim = ranks.at(-1);
    const others = ranks.slice(0, -1);
    using folder = new TemporaryFolder();
    const mark = folder.pathOf("some are over");
    const often = { do: "reduceOften", length: LONG, count: 1e6, mark } as const;
    const works = others.map((process) => errorOf(process.tell(often)));
    const last = victim?.tell(often).catch(() => {});
    await until(() => namesIn(folder).length > 0, "ranks reduce");
    await victim?.kill();
    await last;
    const rank = SIZE - 1;
    for (const error of await Promise.all(works)) {
      assertEquals([error.kind, error.reason, error.rank], ["GroupError", "lost", rank]);
      assertStringIncludes(error.message, `rank ${rank} (process ${victim?.pid}`);
      assertStringIncludes(error.message, "has ended");
    }
    for (const process of others) {
      const error = await errorOf(process.tell({ do: "reduce", length: 8, value: 1 }));
      assertEquals([error.reason, error.rank], ["ended", rank]);
    }
    await endAll(others);
    await using newcomer = new RankProcess();
    const next = [...others, newcomer];
    await joinAll(next, at);
    await checkReduces(next);
    await endAll(next);
  },
);

takingTurns(testWithGroup)(
  "joinGroup() names rank 0 when it is killed, to idle ranks",
  async (ranks) => {
    const [first, ...others] = ranks;
    await first?.kill();
    for (const process of others) {
      let failure: string | null = null;
      await until(async () => failure = await process.tell({ do: "failure" }), "it is told");
      assertStringIncludes(failure ?? "", "rank 0 (process");
      const error = await errorOf(process.tell({ do: "shrink", as: "left" }));
      assertEquals([error.reason, error.rank], ["lost", 0]);
    }
    await endAll(others);
  },
);

takingTurns(testWithGroup)(
  "joinGroup() names a rank that sleeps when the time is up",
  async (ranks, at) => {
    const sleeper = ranks.at(-1);
    const others = ranks.slice(0, -1);
    await checkReduces(ranks);
    sleeper?.signal("SIGSTOP");
    const errors = await Promise.all(
      others.map((process) =>
        errorOf(process.tell({ do: "reduce", length: 1000, value: 1, timeoutSeconds: 5 }))
      ),
    );
    const rank = SIZE - 1;
    const late = errors.find(({ reason }) => reason === "timeout");
    assertStringIncludes(late?.message ?? "", "it is not done after 5 seconds");
    assertStringIncludes(late?.message ?? "", `rank ${rank} (process ${sleeper?.pid}`);
    assertStringIncludes(late?.message ?? "", "has been silent for");
    // Who is told of it by another rank says so.
    for (const { reason } of errors) {
      assert(
        ["timeout", "ended"].includes(`${reason}`),
        `${reason}`,
      );
    }
    sleeper?.signal("SIGCONT");
    const error = await errorOf(
      sleeper?.tell({ do: "reduce", length: 1000, value: 1 }) ?? Promise.resolve(),
    );
    assertEquals([error.kind, error.reason], ["GroupError", "ended"]);
    await endAll(ranks);
    await joinAll(ranks, at);
    await checkReduces(ranks);
    await endAll(ranks);
  },
);

takingTurns(testWithGroup)(
  "joinGroup() waits for a rank that is busy, however silent it is",
  async (ranks) => {
    const [first, ...others] = ranks;
    const busy = first?.tell({ do: "block", milliseconds: 4500 });
    const works = others.map((process) => process.tell({ do: "reduce", length: 10, value: 1 }));
    await busy;
    assertEquals(await first?.tell({ do: "reduce", length: 10, value: 1 }), SIZE);
    assertEquals(await Promise.all(works), others.map(() => SIZE));
    await endAll(ranks);
  },
);

testWithGroup("joinGroup() ends all ranks when a signal is aborted on one", async (ranks) => {
  const [first, ...others] = ranks;
  const rest = others.slice(1); // rank 1 does not come
  const works = rest.map((process) => errorOf(process.tell({ do: "reduce", length: 8, value: 1 })));
  const error = await errorOf(
    first?.tell({ do: "reduce", length: 8, value: 1, abortAfter: 300 }) ?? Promise.resolve(),
  );
  assertEquals(error.reason, "signal");
  for (const other of await Promise.all(works)) {
    assertEquals([other.reason, other.rank], ["ended", 0]);
    assertStringIncludes(other.message, "rank 0 (process");
    assertStringIncludes(other.message, "its signal was aborted");
  }
  await endAll(ranks);
});

takingTurns(testWithGroup)(
  "joinGroup() fails work that waits for a rank that has left",
  async (ranks) => {
    const [first, ...others] = ranks;
    const works = others.map((process) =>
      errorOf(process.tell({ do: "reduce", length: 8, value: 1 }))
    );
    const gone = first?.tell({ do: "dispose" });
    for (const error of await Promise.all(works)) {
      assert(["lost", "ended"].includes(`${error.reason}`), error.message);
      assertStringIncludes(error.message, "has left the group");
    }
    await gone;
    await endAll(others);
  },
);

testWithGroup("DeviceGroup of processes is disposed while calls are queued", async (ranks, at) => {
  await Promise.all(
    ranks.map((process) => process.tell({ do: "disposeBusy", length: ON_GPU ? 1 << 20 : 1 << 14 })),
  );
  for (const process of ranks) assertEquals(await process.tell({ do: "left" }), []);
  await joinAll(ranks, at);
  await checkReduces(ranks);
  await endAll(ranks);
});

testWithGroup("DeviceGroup.split() makes groups of processes that live on alone", async (ranks) => {
  const split = await Promise.all(
    ranks.map((process, rank) =>
      process.tell({ do: "split", color: rank % 2, key: -rank, as: "part" })
    ),
  );
  const even = Math.ceil(SIZE / 2);
  const odd = SIZE - even;
  assertEquals(
    split,
    ranks.map((_, rank) =>
      rank % 2 === 0 ? [even - 1 - rank / 2, even] : [odd - 1 - (rank - 1) / 2, odd]
    ),
  );
  const inOrder = (parity: number) => ranks.filter((_, rank) => rank % 2 === parity).reverse();
  await Promise.all(ranks.map((process) => process.tell({ do: "dispose" })));
  await checkReduces(inOrder(0), "part");
  await checkReduces(inOrder(1), "part");
  await Promise.all(ranks.map((process) => process.tell({ do: "dispose", group: "part" })));
  for (const process of ranks) assertEquals(await process.tell({ do: "left" }), []);
});

takingTurns(testWithGroup)("a group lives on when a rank ends that had left it", async (ranks) => {
  const leaver = ranks.at(-1);
  const others = ranks.slice(0, -1);
  const split = { do: "split", color: 0, as: "part" } as const;
  await Promise.all(ranks.map((process) => process.tell(split)));
  await leaver?.tell({ do: "dispose" });
  await leaver?.kill();
  for (const process of others) {
    const work = { do: "reduce", group: "part", length: 8, value: 1 } as const;
    assertStringIncludes((await errorOf(process.tell(work))).message, "has ended");
    assertEquals(await process.tell({ do: "failure" }) ?? "none", "none");
  }
  await Promise.all(others.map((process) => process.tell({ do: "dispose", group: "part" })));
  await endAll(others);
});

takingTurns(testWithGroup)(
  "DeviceGroup.split() of a part fails when rank 0, through which its ranks are connected, is killed",
  async (ranks) => {
    const [first, ...others] = ranks;
    const split = (rank: number) =>
      ({ do: "split", as: "part", color: Math.min(rank, 1) }) as const;
    await Promise.all(ranks.map((process, rank) => process.tell(split(rank))));
    const waiting = others[0]?.tell({ ...split(1), group: "part", as: "again" });
    const error = waiting && errorOf(waiting);
    await delay(200);
    await first?.kill();
    const words = "through which all others are connected, has ended or left; join a new group";
    assertStringIncludes((await error)?.message ?? "", words);
  },
  { fewest: 3 },
);

testWithGroup("DeviceGroup.shrink() goes on without a rank that was killed", async (ranks) => {
  const victim = ranks.at(-1);
  const others = ranks.slice(0, -1);
  const works = others.map((process) =>
    errorOf(process.tell({ do: "reduce", length: 8, value: 1 }))
  );
  await victim?.kill();
  await Promise.all(works);
  const left = await Promise.all(
    others.map((process) => process.tell({ do: "shrink", as: "left" })),
  );
  assertEquals(left, others.map((_, rank) => [rank, SIZE - 1]));
  await checkReduces(others, "left");
  await Promise.all(others.map((process) => process.tell({ do: "dispose" })));
  await checkReduces(others, "left");
  await Promise.all(others.map((process) => process.tell({ do: "dispose", group: "left" })));
  for (const process of others) assertEquals(await process.tell({ do: "left" }), []);
});

Deno.test("joinGroup() reads what torchrun puts into the environment", options, async () => {
  await using stack = new AsyncDisposableStack();
  const port = new URL(freeAddress().replace("tcp:", "http:")).port;
  const ranks = Array.from({ length: 2 }, (_, rank) =>
    stack.use(
      new RankProcess({
        RANK: `${rank}`,
        WORLD_SIZE: "2",
        MASTER_ADDR: "localhost",
        MASTER_PORT: port,
        VRAMKIT_TOKEN: "a token of the environment",
      }),
    ));
  const words = { do: "join", rendezvous: "env:", isFromEnvironment: true } as const;
  const joined = await Promise.all(
    ranks.map((process, ordinal) => process.tell({ ...words, rank: ordinal, size: 0, ordinal })),
  );
  assertEquals(joined, [[0, 2], [1, 2]]);
  await checkReduces(ranks);
  await endAll(ranks);
});

Deno.test(
  "joinGroup() starts after a process of the same group was killed in the handshake",
  options,
  async () => {
    await using stack = new AsyncDisposableStack();
    const rendezvous = freeAddress();
    const ranks = Array.from({ length: 2 }, () => stack.use(new RankProcess()));
    const [first, second] = ranks as [RankProcess, RankProcess];
    for (const victim of [0, 1]) {
      // Each waits for a rank that comes later, if it is not killed before.
      const process = new RankProcess();
      await errorOf(process.tell({ do: "left" })); // it runs, and has no device yet
      const waiting = process.tell({ do: "join", rendezvous, rank: victim, size: 2 });
      await delay(200);
      await Promise.all([process.kill(), assertRejects(() => waiting, Error, "has ended")]);
    }
    await joinAll([first, second], rendezvous);
    await checkReduces([first, second]);
    await endAll([first, second]);
  },
);
