// A random sequence while it is written: it is played on the simulated driver meanwhile, so that each
// step can name what is there, and a step that breaks a rule of that driver's own stays out mostly.

import type { Rule } from "../../../ffi/simulated/stricter.ts";
import type { Random } from "../random.ts";
import type { ThingKind } from "./functions.ts";
import { type Player, SKIPPED } from "./player.ts";
import type { Thing, World } from "./world.ts";

/** One step in so many that break a rule stays, as the end of its sequence. */
const BROKEN_SHARE = 40;

/** Rules whose breach a real driver survives: at most, bytes are not certain. */
const HARMLESS: ReadonlySet<Rule> = new Set(
  ["race", "unwritten", "overlap", "hostChanged", "arrayInGraph"] as const,
);

/** Names of memory that streams wait for begin with this. */
export const LATCH_PREFIX = "w";

/** Names of pools and memory in places that other moves leave alone begin with this. */
export const APART_PREFIX = "o";

/** Says that a move needs something that is not there. */
export class NothingFits extends Error {
  override name = "NothingFits";
}

/** Memory with an address that a step can use. */
export interface Place {
  /** Name with a distance, such as `d1+64`. */
  readonly word: string;
  /** Bytes from there on. */
  readonly byteLength: number;
}

/** A sequence that is being written. */
export class Draft {
  /** Chooses. */
  readonly random: Random;
  readonly deviceCount: number;
  readonly lines: string[] = [];
  /** Whether no step can follow. */
  isOver = false;
  /** Whether the last step met the end of work that broke a rule before. */
  isBroken = false;
  /** Whether work that broke a rule, or is still queued, is such as a real driver could fault on. */
  isSpoiled = false;
  readonly #player: Player;
  /** Whether nearly all work goes to one stream, so that few steps race. */
  readonly #hasOneStream: boolean;
  #nameCount = 0;

  constructor(player: Player, options: { random: Random; deviceCount: number }) {
    this.#player = player;
    this.random = options.random;
    this.deviceCount = options.deviceCount;
    this.#hasOneStream = this.chance(0.6);
  }

  /** The things that the sequence has made. */
  get world(): World {
    return this.#player.world;
  }

  /** Plays a step and adds it; tells whether the simulated driver did it. */
  async add(line: string): Promise<boolean> {
    if (this.isOver) return false;
    const { outcome, rule, isLate = false } = await this.#player.play(line);
    if (outcome === SKIPPED) return false;
    if (outcome.startsWith("throws")) {
      // What breaks off late has left work undone, so nothing can follow.
      const isHarmless = rule !== undefined && HARMLESS.has(rule);
      this.isBroken = isLate;
      this.isOver = isLate || (isHarmless && this.random.below(BROKEN_SHARE) === 0);
      if (!this.isOver) return false;
      this.isSpoiled = !isHarmless || await this.#leavesHarm();
    }
    this.lines.push(line);
    return outcome.startsWith("0");
  }

  /** Runs what is still queued behind the last step; tells whether a real driver could fault there. */
  async #leavesHarm(): Promise<boolean> {
    const ends = [...this.world.captures].map(({ origin }) => `cuStreamEndCapture ${origin} &`);
    for (const line of [...ends, "settle"]) {
      const { rule } = await this.#player.play(line);
      if (rule !== undefined && !HARMLESS.has(rule)) return true;
    }
    return false;
  }

  /** Makes up a name. */
  name(prefix: string): string {
    return `${prefix}${++this.#nameCount}`;
  }

  /** Tells whether something with this probability happens. */
  chance(probability: number): boolean {
    return this.random.below(1000) < probability * 1000;
  }

  /** Takes one of the choices. */
  oneOf<T>(...choices: readonly [T, ...T[]]): T {
    return this.random.pick(choices) ?? choices[0];
  }

  /** Takes a thing of one of these kinds that is there. */
  thing(...kinds: readonly ThingKind[]): Thing | undefined {
    return this.random.pick(this.#free(...kinds));
  }

  /**
   * Names a thing that is there, or rarely null.
   *
   * @throws NothingFits when there is none.
   */
  handle(...kinds: readonly ThingKind[]): string {
    if (this.chance(0.02)) return "0";
    const thing = this.thing(...kinds);
    if (thing === undefined) throw new NothingFits();
    return thing.name;
  }

  /** Names a stream: mostly one that was made, the first of them most of all. */
  stream(): string {
    const [first, ...others] = this.world.alive("stream");
    if (first === undefined) return this.oneOf("0", "1", "2");
    if (this.chance(this.#hasOneStream ? 0.96 : 0.5)) return first.name;
    return this.chance(0.2) ? this.oneOf("0", "1", "2") : this.random.pick(others)?.name ?? "0";
  }

  /** Names a device; rarely one that does not exist. */
  device(): number {
    if (this.chance(0.04)) return this.oneOf(64, -1);
    return this.random.below(this.deviceCount);
  }

  /** Takes memory that a device can use. */
  place(): Place | undefined {
    const things = this.#free("device", "pooled", "pinned", "managed");
    const places = things.map(({ name, byteLength }): Place => ({ word: name, byteLength }));
    for (const [address, byteLength] of [...this.world.mapped, ...this.world.registered]) {
      const holder = this.world.at(address);
      if (holder === undefined) continue;
      places.push({ word: `${holder.name}+${address - holder.value}`, byteLength });
    }
    return this.random.pick(places);
  }

  /** Lists what is there for every move; a word that a stream waits for is not. */
  #free(...kinds: readonly ThingKind[]): Thing[] {
    return this.world.alive(...kinds).filter(({ name }) =>
      !name.startsWith(LATCH_PREFIX) && !name.startsWith(APART_PREFIX)
    );
  }

  /** Takes an ordinary array. */
  array(): Place | undefined {
    const thing = this.thing("array");
    return thing === undefined ? undefined : { word: thing.name, byteLength: thing.byteLength };
  }

  /** Takes a part of memory, at a multiple of 16 bytes and as long as one. */
  part({ word, byteLength }: Place, mostBytes = 256): Place {
    const length = 16 * (1 + this.random.below(Math.max(1, Math.min(mostBytes, byteLength) / 16)));
    const start = 16 * this.random.below(Math.max(1, Math.floor((byteLength - length) / 16) + 1));
    const [name = "", offset = "0"] = word.split("+");
    return { word: `${name}+${Number(offset) + start}`, byteLength: length };
  }
}
