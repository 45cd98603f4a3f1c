// The end of a group of several processes: NCCL takes half a second to give a communicator back, in which the
// program goes on; and a failure on the way is one warning, after which nothing is left.

import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { setTimeout as delay } from "node:timers/promises";
import type { DriverApi } from "../../../ffi/cuda.ts";
import type { NcclApi } from "../../../ffi/nccl.ts";
import { OWN, ownParts } from "../../../ffi/own_parts.ts";
import { CudaDevice } from "../../../src/device/device.ts";
import { simulateDriver } from "../../../src/entries/simulated.ts";
import { GroupError } from "../../../src/group/group_error.ts";
import { join, openRank } from "../../support/group/joined_ranks.ts";
import { freeAddress } from "../../support/group/rank_process.ts";
import { CaughtWarnings } from "../../support/warnings.ts";
import { liveNames } from "../../support/with_device.ts";

const SIZE = 3;
const INTERNAL_ERROR = 3;

type Destroy = NcclApi["ncclCommDestroyNonblocking"];

/** A machine whose NCCL has functions of the test's. */
function machineWith(make: (own: NcclApi) => Partial<NcclApi>): DriverApi {
  const driver = simulateDriver({ deviceCount: 8 });
  const own = ownParts(driver);
  const nccl = own.nccl as NcclApi;
  return { ...driver, [OWN]: { ...own, nccl: { ...nccl, ...make(nccl) } } } as DriverApi;
}

/** Joins ranks, ends their groups, and tells what they were warned of; nothing may be left. */
async function endAll(make: (own: Destroy) => Destroy): Promise<readonly string[]> {
  using warnings = new CaughtWarnings();
  const rendezvous = freeAddress();
  await Promise.all(Array.from({ length: SIZE }, async (_, rank) => {
    const driver = machineWith((own) => ({
      ncclCommDestroyNonblocking: make(own.ncclCommDestroyNonblocking),
    }));
    using gpu = CudaDevice.open(rank, { driver });
    {
      await using group = await join({ rendezvous, rank, size: SIZE, device: gpu });
      using x = gpu.alloc("float32", 8).fill(rank + 1);
      await group.allReduce(x);
      assertEquals((await x.download())[0], SIZE * (SIZE + 1) / 2);
    }
    assertEquals(liveNames(gpu), [], `something is live on rank ${rank}`);
  }));
  return warnings.texts;
}

Deno.test("a group of several processes ends while the program goes on", async () => {
  let turnCount = 0;
  const timer = setInterval(() => turnCount++, 5);
  const late: number[] = [];
  const texts = await endAll((own) => async (handle) => {
    const before = turnCount;
    await delay(100);
    late.push(turnCount - before);
    return own(handle);
  });
  clearInterval(timer);
  assertEquals(texts, []);
  assertEquals(late.length, SIZE);
  assert(late.every((count) => count > 0), `${late} turns`);
});

const failures: Record<string, Destroy> = {
  "fails": () => Promise.resolve(INTERNAL_ERROR),
  "is refused": () => Promise.reject(new Error("no thread is left")),
  "throws": () => {
    throw new Error("no thread is left");
  },
};

for (const [what, failing] of Object.entries(failures)) {
  Deno.test(`a group of several processes ends with a warning where NCCL's end ${what}`, async () => {
    const texts = await endAll(() => failing);
    assertEquals(texts.length, SIZE);
    for (const text of texts) {
      assertStringIncludes(text, "a communicator");
      assertStringIncludes(text, what === "fails" ? "ncclInternalError" : "no thread is left");
    }
  });
}

Deno.test("a group of several processes ends with the error that a question for its state throws", async () => {
  let isBroken = false;
  const driver = machineWith((own) => ({
    ncclCommGetAsyncError(...args) {
      if (isBroken) throw new Error("as the test wants it");
      return own.ncclCommGetAsyncError(...args);
    },
  }));
  using gpu = CudaDevice.open(0, { driver });
  {
    await using group = await join({ rendezvous: freeAddress(), rank: 0, size: 1, device: gpu });
    using x = gpu.zeros("float32", 8);
    isBroken = true;
    assertThrows(() => group.allReduce(x), Error, "as the test wants it");
    isBroken = false;
    assertEquals(group.failure?.message, "as the test wants it");
    assertThrows(() => group.allReduce(x), GroupError, "a failure has ended the group");
  }
  assertEquals(liveNames(gpu), []);
});

Deno.test("a group that ends leaves streams alone on which a call of a group made from it is queued", async () => {
  const rendezvous = freeAddress();
  await Promise.all([0, 1].map(async (rank) => {
    using gpu = openRank(rank);
    const group = await join({ rendezvous, rank, size: 2, device: gpu });
    using x = gpu.alloc("float32", 8).fill(rank + 1);
    await group.allReduce(x);
    await using part = await group.split({ color: 0 });
    const end = group[Symbol.asyncDispose]();
    await part?.allReduce(x);
    assertEquals(await x.at(0), 6);
    await end;
  }));
});
