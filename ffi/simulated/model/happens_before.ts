// Vector clocks: which queued operation is certain to have finished before another one starts.
// Operations that the host has waited for come before everything that is queued later; its waits are
// counted, because a kernel names its memory only when it runs, which may be after another wait.

/** For each other stream, the last of its operations that is ordered before. */
export type Clock = ReadonlyMap<Timeline, number>;

/** The place of one operation in the order. */
export interface Moment {
  /** Timeline of the stream that the operation is queued on. */
  readonly timeline: Timeline;
  /** Number of the operation on its timeline. */
  readonly epoch: number;
  /** Operations on other timelines that are ordered before this one. */
  readonly clock: Clock;
  /** Number of the host's waits when the operation was queued. */
  readonly waitCount: number;
}

/** The waits of one simulated host. */
export class HostWaits {
  #count = 0;
  /** Number of works that were queued at a count and have not named their memory yet. */
  #unnamed = new Map<number, number>();

  get count(): number {
    return this.#count;
  }

  /** Counts one more wait; returns its number. */
  add(): number {
    return ++this.#count;
  }

  /** Returns the count at which the oldest work was queued that has still to name its memory. */
  get oldestUnnamed(): number {
    // Counts only grow, so a map keeps them in ascending order.
    const [oldest = Infinity] = this.#unnamed.keys();
    return oldest;
  }

  /** Notes work that was queued at a count and will name its memory later. */
  expect(count: number): void {
    this.#unnamed.set(count, (this.#unnamed.get(count) ?? 0) + 1);
  }

  /** Notes that such work has named its memory. */
  settle(count: number): void {
    const left = (this.#unnamed.get(count) ?? 1) - 1;
    if (left > 0) this.#unnamed.set(count, left);
    else this.#unnamed.delete(count);
  }
}

/** The order of one stream's operations, seen from the others and from the host. */
export class Timeline {
  /** Text that names the stream in error messages. */
  readonly label: string;
  readonly waits: HostWaits;
  epoch = 0;
  /** Number of the operations that only begin or end the life of memory. */
  lifeCount = 0;
  #clock: Clock = new Map();
  /** Epochs that the host had waited for, ascending; the last, and those that kernels need. */
  #observations = [{ waitCount: 0, epoch: 0 }];

  constructor(label: string, waits: HostWaits) {
    this.label = label;
    this.waits = waits;
  }

  /** Number of the operations that use memory while it lives. */
  get workCount(): number {
    return this.epoch - this.lifeCount;
  }

  /** Returns the place of the operation queued last. */
  get latest(): Moment {
    const { waits: { count: waitCount } } = this;
    return { timeline: this, epoch: this.epoch, clock: this.#clock, waitCount };
  }

  /** Takes the place for the next operation. */
  advance(): Moment {
    this.epoch++;
    return this.latest;
  }

  /** Orders a moment of another timeline before all that follows on this one. */
  join(moment: Moment): void {
    if (moment.timeline === this || isObserved(moment)) return;
    if ((this.#clock.get(moment.timeline) ?? 0) >= moment.epoch) return;
    const joined = new Map<Timeline, number>();
    for (const clock of [this.#clock, moment.clock, [[moment.timeline, moment.epoch]] as const]) {
      for (const [timeline, epoch] of clock) {
        // Operations that the host has waited for are ordered anyway: dropping them keeps clocks
        // small.
        if (timeline === this || epoch <= timeline.observedAt(Infinity)) continue;
        joined.set(timeline, Math.max(epoch, joined.get(timeline) ?? 0));
      }
    }
    this.#clock = joined;
  }

  /** Returns the number of the last operation that the host had waited for by its wait of that count. */
  observedAt(waitCount: number): number {
    for (let index = this.#observations.length - 1; index >= 0; index--) {
      const observation = this.#observations[index];
      if (observation !== undefined && observation.waitCount <= waitCount) return observation.epoch;
    }
    return 0;
  }

  observe(epoch: number): void {
    if (epoch <= this.observedAt(Infinity)) return;
    const oldest = this.waits.oldestUnnamed;
    const kept = this.#observations.findLastIndex(({ waitCount }) => waitCount <= oldest);
    this.#observations.splice(0, Math.max(kept, 0));
    this.#observations.push({ waitCount: this.waits.add(), epoch });
  }

  /** Forgets what the host has waited for, which is ordered anyway: it would keep timelines that are gone. */
  forgetObserved(): void {
    if (this.#clock.size === 0) return;
    const unobserved = [...this.#clock].filter(([timeline, epoch]) =>
      epoch > timeline.observedAt(Infinity)
    );
    if (unobserved.length < this.#clock.size) this.#clock = new Map(unobserved);
  }
}

/** Notes that the host has waited for a moment, and so for all that is ordered before it. */
export function observe(moment: Moment): void {
  const { timeline, epoch, clock } = moment;
  timeline.observe(epoch);
  for (const [other, reached] of clock) other.observe(reached);
  for (const other of [timeline, ...clock.keys()]) other.forgetObserved();
}

/** Tells whether the host has waited for a moment. */
export function isObserved(moment: Moment): boolean {
  return moment.epoch <= moment.timeline.observedAt(Infinity);
}

/** Tells whether a moment is ordered before all that is still to name its memory. */
export function isSettled({ timeline, epoch }: Moment): boolean {
  return epoch <= timeline.observedAt(timeline.waits.oldestUnnamed);
}

/** Tells whether one moment is ordered before another. */
export function happensBefore(first: Moment, second: Moment): boolean {
  if (first.timeline === second.timeline) return first.epoch <= second.epoch;
  return first.epoch <= first.timeline.observedAt(second.waitCount) ||
    (second.clock.get(first.timeline) ?? 0) >= first.epoch;
}

/** Tells whether one moment is ordered before another by the streams themselves, without the host. */
export function precedes(first: Moment, second: Moment): boolean {
  const reached = first.timeline === second.timeline
    ? second.epoch
    : second.clock.get(first.timeline) ?? 0;
  return first.epoch <= reached;
}
