// The cards of several devices and of groups, open, failed and disposed.

import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { CudaDevice } from "../../../mod.ts";
import { GroupError } from "../../../src/entries/group.ts";
import { simulateDriver } from "../../../src/entries/simulated.ts";
import { cardOf } from "../../support/display.ts";
import { join, openRank } from "../../support/group/joined_ranks.ts";
import { freeAddress } from "../../support/group/rank_process.ts";

Deno.test("DeviceList shows each device with its free memory, also disposed", async () => {
  const gpus = CudaDevice.openMany([1, 0], { driver: simulateDriver() });
  const { text, html } = await cardOf(gpus);
  assertStringIncludes(text, "2 devices: device 1, device 0");
  assertStringIncludes(text, "8 GiB of 8 GiB");
  assertEquals(html.includes("Simulated"), true);
  gpus.dispose();
  assertStringIncludes((await cardOf(gpus)).text, "disposed");
});

Deno.test("DeviceGroup shows its ranks, and the failure that has ended it", async () => {
  let isDead = false;
  const driver = simulateDriver({ ranks: () => isDead ? "dead" : undefined });
  using gpus = CudaDevice.openMany([1, 0], { driver });
  using group = await gpus.group({ label: "pair" });
  const { text } = await cardOf(group);
  assertStringIncludes(
    text,
    "pair: 2 ranks over NCCL 2.28.9; rank 0 is device 1, rank 1 is device 0",
  );
  isDead = true;
  using stack = new DisposableStack();
  const parts = gpus.map((gpu) => stack.use(gpu.zeros("float32", 4)));
  await group.allReduce(parts).catch(() => {});
  assertThrows(() => group.allReduce(parts), GroupError);
  assertStringIncludes((await cardOf(group)).text, "rank 0 reports ncclRemoteError");
  group.dispose();
  assertStringIncludes((await cardOf(group)).text, "[disposed]");
});

Deno.test("DeviceGroup of several processes shows its own rank, and the number of all", async () => {
  const rendezvous = freeAddress();
  await Promise.all([0, 1].map(async (rank) => {
    using gpu = openRank(rank);
    await using group = await join({ rendezvous, rank, size: 2, device: gpu, label: "all" });
    const { text } = await cardOf(group);
    assertStringIncludes(text, `all: 2 ranks over NCCL 2.28.9; rank ${rank} is device ${rank}`);
    await group.barrier();
  }));
});
