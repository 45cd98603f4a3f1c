// Ranks of a group of several processes, all in this one: each has a machine of its own.

import { assertEquals } from "@std/assert";
import { CudaDevice } from "../../../src/device/device.ts";
import { type SimulatedDriverOptions, simulateDriver } from "../../../src/entries/simulated.ts";
import type { DeviceGroup } from "../../../src/group/device_group.ts";
import type { JoinOptions } from "../../../src/group/group_options.ts";
import { joinGroup } from "../../../src/group/join_group.ts";
import { liveNames } from "../with_device.ts";
import { freeAddress } from "./rank_process.ts";
import { TOKEN } from "./rank_words.ts";

/** Opens the device of a rank, on a machine of its own. */
export function openRank(rank: number, options: SimulatedDriverOptions = {}): CudaDevice {
  return CudaDevice.open(rank, { driver: simulateDriver({ deviceCount: 8, ...options }) });
}

/** Joins as one rank. */
export function join(
  options: Partial<JoinOptions> & Pick<JoinOptions, "rendezvous" | "device">,
): Promise<DeviceGroup> {
  return joinGroup({ token: TOKEN, timeoutSeconds: 20, ...options });
}

/** Joins so many ranks, does the same on all of them at once, and checks that nothing is left. */
export async function withRanks(
  size: number,
  body: (one: {
    readonly rank: number;
    readonly size: number;
    readonly gpu: CudaDevice;
    readonly group: DeviceGroup;
  }) => Promise<unknown>,
  options: SimulatedDriverOptions = {},
): Promise<void> {
  const rendezvous = freeAddress();
  const ended = await Promise.allSettled(Array.from({ length: size }, async (_, rank) => {
    using gpu = openRank(rank, options);
    {
      await using group = await join({ rendezvous, rank, size, device: gpu });
      await body({ rank, size, gpu, group });
    }
    await gpu.synchronize();
    assertEquals(liveNames(gpu), [], `something is live on rank ${rank}`);
  }));
  for (const end of ended) if (end.status === "rejected") throw end.reason;
}
