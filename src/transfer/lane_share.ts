// The lanes of a host serve all devices of a driver: the cores and the memory that they use are the
// host's, so eight devices start no more threads than one. Each engine has slots of its own among them.

import type { Driver } from "../driver/driver.ts";
import { CopyLanes, type LaneCounts } from "./copy_lanes.ts";

/** The needs of an engine for its lanes. */
export interface LaneNeeds extends LaneCounts {
  /** Most slots that it uses at a time. */
  readonly slotCount: number;
  /** Lanes that there are where a driver has several devices. */
  readonly sharedLaneCount: number;
}

/** Lanes, and the engines that use them. */
interface LaneSet<U> {
  readonly needs: LaneNeeds;
  readonly lanes: CopyLanes;
  /** The users, by the place of their slots. */
  readonly places: (U | undefined)[];
  /** Those that have transfers under way. */
  readonly active: Set<U>;
  /** Lets the lanes for fresh memory work, while several devices have transfers under way. */
  extra: Disposable | undefined;
}

const sets = new WeakMap<Driver, LaneSet<unknown>[]>();

/** One engine's part in the lanes of its driver. */
export class LaneShare<U extends object> {
  readonly #driver: Driver;
  readonly #user: U;
  readonly #set: LaneSet<U>;
  /** Number of its first slot among those of all engines. */
  readonly firstSlot: number;

  /** Takes a part in lanes that are there; makes lanes, which do not run yet, where there is none. */
  constructor(driver: Driver, user: U, needs: LaneNeeds) {
    const known = (sets.get(driver) ?? []) as LaneSet<U>[];
    sets.set(driver, known);
    let set = known.find((set) => isEqual(set.needs, needs) && set.places.includes(undefined));
    if (set === undefined) known.push(set = makeSet<U>(needs, driver.deviceCount));
    const place = set.places.indexOf(undefined);
    set.places[place] = user;
    this.#driver = driver;
    this.#user = user;
    this.#set = set;
    this.firstSlot = place * needs.slotCount;
  }

  /** The lanes. */
  get lanes(): CopyLanes {
    return this.#set.lanes;
  }

  /** The engines with transfers under way. */
  get active(): ReadonlySet<U> {
    return this.#set.active;
  }

  /** Number of lent threads that have not come back to this engine's slots. */
  get lentCount(): number {
    const end = this.firstSlot + this.#set.needs.slotCount;
    return this.#set.lanes.lentCountIn(this.firstSlot, end);
  }

  /** Number of tasks of this engine that threads can work on at a time. */
  get handCount(): number {
    const { lanes, active } = this.#set;
    return Math.ceil(lanes.handCount / Math.max(1, active.size));
  }

  /** Notes that the engine has transfers under way. */
  begin(): void {
    const { active, lanes } = this.#set;
    active.add(this.#user);
    if (active.size > 1) this.#set.extra ??= lanes.callExtra();
  }

  /** Notes that it has none. */
  end(): void {
    const { active, extra } = this.#set;
    active.delete(this.#user);
    if (active.size > 1) return;
    this.#set.extra = undefined;
    extra?.[Symbol.dispose]();
  }

  /** Gives the slots back; the lanes end with the last engine that used them. */
  release(): void {
    this.end();
    const { places, lanes } = this.#set;
    const place = places.indexOf(this.#user);
    if (place < 0) return;
    places[place] = undefined;
    if (places.some((user) => user !== undefined)) return;
    const known = sets.get(this.#driver) ?? [];
    sets.set(this.#driver, known.filter((set) => set !== this.#set));
    lanes.dispose();
  }
}

function makeSet<U>(needs: LaneNeeds, placeCount: number): LaneSet<U> {
  return {
    needs,
    lanes: new CopyLanes(placeCount * needs.slotCount, {
      laneCount: needs.laneCount,
      freshLaneCount: placeCount > 1 ? needs.sharedLaneCount : needs.freshLaneCount,
    }),
    places: Array.from({ length: placeCount }, () => undefined),
    active: new Set(),
    extra: undefined,
  };
}

function isEqual(one: LaneNeeds, other: LaneNeeds): boolean {
  return one.slotCount === other.slotCount && one.laneCount === other.laneCount &&
    one.freshLaneCount === other.freshLaneCount && one.sharedLaneCount === other.sharedLaneCount;
}
