// The lanes of all devices of a driver are one set: threads belong to the host. What each device has of
// its own are slots, and what it moves is right while others move.

import { assertEquals, assertNotStrictEquals, assertStrictEquals } from "@std/assert";
import { simulateDriver } from "../../../ffi/simulated/driver.ts";
import { Driver } from "../../../src/driver/driver.ts";
import { LaneShare } from "../../../src/lanes/lane_share.ts";
import { engineOf } from "../../../src/transfer/context_engine.ts";
import { assertSameBytes, patternBytes } from "../../support/contents.ts";
import { GROUP_SIZES, MAX_RANKS } from "../../support/group_scene.ts";
import { deviceAt, SMALL_SLOTS, withDevices } from "../../support/parts_scene.ts";
import { takingTurns, testOnLinux } from "../../support/test_unless.ts";

const NEEDS = { slotCount: 4, laneCount: 2, sharedLaneCount: 3 };

/** Takes the shares of so many engines of one driver. */
function sharesOf(count: number, needs = NEEDS) {
  const driver = Driver.open(simulateDriver({ devices: 4 }));
  return Array.from({ length: count }, (_, number) => new LaneShare(driver, { number }, needs));
}

Deno.test("LaneShare gives all devices of a driver the same lanes, and each its own slots", () => {
  const shares = sharesOf(4);
  for (const { lanes } of shares) assertStrictEquals(lanes, shares[0]?.lanes);
  assertEquals(shares.map(({ firstSlot }) => firstSlot), [0, 4, 8, 12]);
  for (const share of shares) share.release();
});

Deno.test("LaneShare gives slots again that were given back, and new lanes after the last", () => {
  const driver = Driver.open(simulateDriver({ devices: 2 }));
  const [first, second] = [{}, {}].map((user) => new LaneShare(driver, user, NEEDS));
  first?.release();
  first?.release();
  const third = new LaneShare(driver, {}, NEEDS);
  assertEquals([third.firstSlot, third.lanes === second?.lanes], [0, true]);
  second?.release();
  third.release();
  const fourth = new LaneShare(driver, {}, NEEDS);
  assertNotStrictEquals(fourth.lanes, third.lanes);
  fourth.release();
});

Deno.test("LaneShare makes other lanes for other needs, drivers, and more engines than devices", () => {
  const shares = [...sharesOf(5), ...sharesOf(1), ...sharesOf(1, { ...NEEDS, laneCount: 3 })];
  assertEquals(new Set(shares.map(({ lanes }) => lanes)).size, 4);
  for (const share of shares) share.release();
});

Deno.test("LaneShare shares what lanes have among devices that have transfers", () => {
  const shares = sharesOf(3);
  const [first, second] = shares;
  assertEquals(first?.partOf(6), 6);
  for (const share of shares) share.begin();
  assertEquals([first?.partOf(6), [...second?.active ?? []].length], [2, 3]);
  for (const share of shares) share.end();
  assertEquals([first?.partOf(6), first?.active.size], [6, 0]);
  for (const share of shares) share.release();
});

for (const count of GROUP_SIZES) {
  takingTurns(testOnLinux)(
    `large transfers of ${count} devices start no more threads than those of one`,
    () =>
      withDevices(count, async (gpus) => {
        const before = threadCount();
        const engines = gpus.map(({ context }) => engineOf(context));
        await Promise.all(engines.map((engine) => engine.runLanes()));
        assertEquals(threadCount() - before <= 2 * SMALL_SLOTS.sharedLaneCount, true);
        const arrays = gpus.map((_, rank) => patternBytes(200_001, rank));
        const buffers = gpus.map((gpu) => gpu.alloc("uint8", 200_001));
        for (let round = 0; round < 5; round++) {
          const uploads = buffers.map((buffer, rank) => buffer.upload(arrays[rank] as Uint8Array));
          const downloads = buffers.map((buffer) => buffer.download());
          await Promise.all(uploads);
          for (const [rank, found] of (await Promise.all(downloads)).entries()) {
            assertSameBytes(found, arrays[rank] as Uint8Array);
          }
        }
        for (const buffer of buffers) buffer.dispose();
      }, { limits: SMALL_SLOTS }),
  );
}

takingTurns(testOnLinux)(
  "a device that is closed leaves the lanes to the others",
  () =>
    withDevices(MAX_RANKS, async (gpus) => {
      const buffers = gpus.map((gpu) => gpu.alloc("uint8", 100_000));
      await engineOf(deviceAt(gpus, -1).context).runLanes();
      for (const [rank, buffer] of buffers.entries()) {
        const bytes = patternBytes(100_000, rank);
        await buffer.upload(bytes);
        assertSameBytes(await buffer.download(), bytes);
        buffer.dispose();
        if (rank < MAX_RANKS - 1) engineOf(deviceAt(gpus, rank).context).dispose();
      }
    }, { limits: SMALL_SLOTS }),
);

/** Number of threads of this process. */
function threadCount(): number {
  return [...Deno.readDirSync("/proc/self/task")].length;
}
