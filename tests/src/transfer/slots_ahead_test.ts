// Downloads run ahead of the lanes by a few slots: bytes that wait for a lane longer than that have left the
// processor's caches. Uploads and what lies in between are right meanwhile.

import { assert, assertEquals } from "@std/assert";
import type { CudaDevice } from "../../../src/device/device.ts";
import { engineOf } from "../../../src/transfer/context_engine.ts";
import { assertSameBytes, patternBytes } from "../../support/contents.ts";
import { GROUP_SIZES } from "../../support/group_scene.ts";
import { deviceAt, SMALL_SLOTS, withDevices } from "../../support/parts_scene.ts";
import { shareOf, testRandom } from "../../support/random.ts";
import { inTurn } from "../../support/test_unless.ts";

/** Many slots: the ring is as large as the slots that were under way at a time need. */
const MANY_SLOTS = {
  ...SMALL_SLOTS,
  laneCount: 7,
  sharedLaneCount: 7,
  slotCount: 128,
};

/** Room for slots that lanes work on, 7, and 8 that are filled meanwhile: slabs of 2, 8 and 10. */
const MAX_TAKEN_SLOTS = 20;

/** Bytes for about a hundred slots. */
const LENGTH = 400_003;

/** Downloads of which one finds its lanes awake, however busy the machine is. */
const MAX_ROUNDS = 5000;

for (const count of shareOf(GROUP_SIZES, { least: 2 })) {
  for (const hasLanes of [true, false]) {
    const how = hasLanes ? "lanes" : "lent threads";
    Deno.test(
      inTurn(`downloads of ${count} devices by ${how} keep few slots under way`),
      () =>
        withDevices(count, async (gpus, stack) => {
          if (hasLanes) await engineOf(deviceAt(gpus, 0).context).runLanes();
          const arrays = gpus.map((_, rank) => patternBytes(LENGTH, rank));
          const buffers = gpus.map((gpu) => stack.use(gpu.alloc("uint8", LENGTH)));
          await Promise.all(
            buffers.map((buffer, rank) => buffer.upload(arrays[rank] as Uint8Array)),
          );
          for (const { context: { ledger } } of gpus) {
            for (const cache of ledger.caches) cache.trim();
          }
          assertEquals(gpus.map(ringBytes), gpus.map(() => 0));
          // A download meets lanes that sleep on a busy machine: the driver moves it, and they wake up.
          for (let round = 0; round < MAX_ROUNDS && gpus.map(ringBytes).includes(0); round++) {
            const found = await Promise.all(buffers.map((buffer) => buffer.download()));
            for (const [rank, bytes] of found.entries()) {
              assertSameBytes(bytes, arrays[rank] as Uint8Array);
            }
          }
          for (const gpu of gpus) {
            const slotCount = ringBytes(gpu) / MANY_SLOTS.slotBytes;
            assert(slotCount > 0 && slotCount <= MAX_TAKEN_SLOTS, `${slotCount} slots`);
          }
        }, { limits: MANY_SLOTS }),
    );
  }
}

Deno.test(
  inTurn("downloads and uploads of devices at once move what they should, at any size"),
  () => {
    const random = testRandom();
    return withDevices(Math.max(...GROUP_SIZES), async (gpus, stack) => {
      for (let round = 0; round < 3; round++) {
        const moves = gpus.map((gpu, rank) => {
          const bytes = patternBytes(1 + random.below(300_000), rank + round);
          const [full, other] = [bytes, bytes].map((each) => {
            return stack.use(gpu.alloc("uint8", each.length));
          });
          return { bytes, full, other };
        });
        await Promise.all(moves.map(({ bytes, full }) => full?.upload(bytes)));
        const pairs = await Promise.all(moves.map(async ({ bytes, full, other }) => {
          const [, down] = await Promise.all([other?.upload(bytes), full?.download()]);
          return [down, await other?.download()];
        }));
        for (const [at, found] of pairs.entries()) {
          const expected = moves[at]?.bytes ?? new Uint8Array(0);
          for (const each of found) assertSameBytes(each ?? new Uint8Array(0), expected);
        }
      }
    }, { limits: MANY_SLOTS });
  },
);

/** Bytes of page-locked memory that a device's transfers have taken. */
function ringBytes({ context: { ledger } }: CudaDevice): number {
  const ring = [...ledger.caches].find(({ name }) => name === "transfer ring");
  return ring?.byteLength ?? 0;
}
