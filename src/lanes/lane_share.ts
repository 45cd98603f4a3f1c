// The lanes of a host serve all devices of a driver: the cores and the memory that they use are the
// host's, so eight devices start no more threads than one. Each engine has slots of its own among them.
// Where the host has several NUMA nodes each of them counts as a host: its lanes serve its devices.

import type { Driver } from "../driver/driver.ts";
import type { EngineLimits } from "../transfer/ways.ts";
import { CopyLanes } from "./copy_lanes.ts";
import type { NearCores } from "./near_cores.ts";

/** The needs of an engine for its lanes. */
export interface LaneNeeds
  extends Pick<EngineLimits, "slotCount" | "laneCount" | "sharedLaneCount"> {
  /** The cores near the device; undefined where it makes no difference, or nobody knows. */
  readonly nearCores?: NearCores | undefined;
}

/** Lanes, and the engines that use them. */
interface LaneSet<U> {
  readonly needs: LaneNeeds;
  readonly lanes: CopyLanes;
  /** The users, by the place of their slots. */
  readonly places: (U | undefined)[];
  /** Number of those that have transfers under way: the extra lanes work while there are several. */
  activeCount: number;
}

/** The lanes of one driver. */
interface DriverLanes<U> {
  readonly sets: Set<LaneSet<U>>;
  /** Users of any of them that have transfers under way. */
  readonly active: Set<U>;
}

const known = new WeakMap<Driver, DriverLanes<unknown>>();

/** One engine's part in the lanes of its driver. */
export class LaneShare<U extends object> {
  readonly #all: DriverLanes<U>;
  readonly #user: U;
  readonly #set: LaneSet<U>;
  /** Number of its first slot among those of all engines. */
  readonly firstSlot: number;

  /** Takes a place at lanes that are there; where none is free, makes lanes, which do not run yet. */
  constructor(driver: Driver, user: U, needs: LaneNeeds) {
    const all = known.getOrInsertComputed(driver, noLanes) as DriverLanes<U>;
    let set = all.sets.values().find((set) =>
      isEqual(set.needs, needs) && set.places.includes(undefined)
    );
    if (set === undefined) all.sets.add(set = makeSet<U>(needs, driver.deviceCount));
    const place = set.places.indexOf(undefined);
    set.places[place] = user;
    this.#all = all;
    this.#user = user;
    this.#set = set;
    this.firstSlot = place * needs.slotCount;
  }

  /** The lanes. */
  get lanes(): CopyLanes {
    return this.#set.lanes;
  }

  /** The engines of the driver with transfers under way, on whatever lanes. */
  get active(): ReadonlySet<U> {
    return this.#all.active;
  }

  /** This engine's part of what the engines that use these lanes have together. */
  partOf(count: number): number {
    return Math.ceil(count / Math.max(1, this.#set.activeCount));
  }

  /** Notes that the engine has transfers under way. */
  begin(): void {
    const { active } = this.#all;
    if (active.has(this.#user)) return;
    active.add(this.#user);
    if (++this.#set.activeCount === 2) this.lanes.callExtra(true);
  }

  /** Notes that it has none. */
  end(): void {
    if (!this.#all.active.delete(this.#user)) return;
    if (--this.#set.activeCount === 1) this.lanes.callExtra(false);
  }

  /** Gives the slots back; the lanes end with the last engine that used them. */
  release(): void {
    this.end();
    const { places, lanes } = this.#set;
    const place = places.indexOf(this.#user);
    if (place < 0) return;
    places[place] = undefined;
    if (places.some((user) => user !== undefined)) return;
    this.#all.sets.delete(this.#set);
    lanes.dispose();
  }
}

function noLanes(): DriverLanes<unknown> {
  return { sets: new Set(), active: new Set() };
}

function makeSet<U>(needs: LaneNeeds, placeCount: number): LaneSet<U> {
  const { nearCores, slotCount, laneCount, sharedLaneCount } = needs;
  return {
    needs,
    lanes: new CopyLanes(placeCount * slotCount, {
      laneCount,
      sharedLaneCount: placeCount > 1 ? sharedLaneCount : laneCount,
      cores: nearCores?.set,
    }),
    places: Array.from({ length: placeCount }, () => undefined),
    activeCount: 0,
  };
}

function isEqual(one: LaneNeeds, other: LaneNeeds): boolean {
  return one.slotCount === other.slotCount && one.laneCount === other.laneCount &&
    one.sharedLaneCount === other.sharedLaneCount &&
    one.nearCores?.node === other.nearCores?.node;
}
