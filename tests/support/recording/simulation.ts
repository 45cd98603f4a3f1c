// A simulated machine like one that was recorded, and what it makes of the steps of a sequence.

import { driverOf } from "../../../ffi/simulated/driver.ts";
import { Machine } from "../../../ffi/simulated/model/machine.ts";
import { settingsOf, type SimulationOptions } from "../../../ffi/simulated/options.ts";
import { Base } from "./base.ts";
import { SIMULATED_KERNELS } from "./images.ts";
import { Player } from "./player.ts";

/** The properties of a machine that decide how calls go. */
export type MachineFacts = Required<
  Pick<
    SimulationOptions,
    "devices" | "driverVersion" | "poolsSupported" | "concurrentManagedAccess" | "peerAccess"
  >
>;

/** Two devices that have all that the simulated driver knows. */
export const TWO_DEVICES: MachineFacts = {
  devices: 2,
  driverVersion: 13000,
  poolsSupported: true,
  concurrentManagedAccess: true,
  peerAccess: true,
};

/** Starts a sequence on a new simulated machine; a fresh one has no context. */
export function simulate(facts: MachineFacts, { isFresh }: { isFresh: boolean }): Player {
  const machine = new Machine(settingsOf({ ...facts, kernels: { ...SIMULATED_KERNELS } }));
  const api = driverOf(machine);
  const player = new Player(api, () => machine.site.refusedBy);
  if (!isFresh) new Base(api, facts.devices).addTo(player.world);
  return player;
}
