// Vector clocks: which queued operation is certain to have finished before another one starts.
// What the host has waited for is ordered before everything that is queued later.

/** For each other stream, the last of its operations that is ordered before. */
export type Clock = ReadonlyMap<Timeline, number>;

/** The place of one operation in the order. */
export interface Moment {
  /** Timeline of the stream that the operation is queued on. */
  readonly timeline: Timeline;
  /** Number of the operation on its timeline. */
  readonly epoch: number;
  /** What is ordered before the operation on other timelines. */
  readonly clock: Clock;
}

/** The order of one stream's operations, seen from the others and from the host. */
export class Timeline {
  /** Text that names the stream in error messages. */
  readonly label: string;
  /** Number of the last queued operation. */
  epoch = 0;
  /** Number of the last operation that the host has waited for. */
  observed = 0;
  #clock: Clock = new Map();

  /** Starts a timeline. */
  constructor(label: string) {
    this.label = label;
  }

  /** Returns the place of the operation queued last. */
  get latest(): Moment {
    return { timeline: this, epoch: this.epoch, clock: this.#clock };
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
        // What the host has waited for is ordered anyway: dropping it keeps clocks small.
        if (timeline === this || epoch <= timeline.observed) continue;
        joined.set(timeline, Math.max(epoch, joined.get(timeline) ?? 0));
      }
    }
    this.#clock = joined;
  }
}

/** Notes that the host has waited for a moment, and so for all that is ordered before it. */
export function observe(moment: Moment): void {
  const { timeline, epoch, clock } = moment;
  timeline.observed = Math.max(timeline.observed, epoch);
  for (const [other, reached] of clock) other.observed = Math.max(other.observed, reached);
}

/** Tells whether the host has waited for a moment. */
export function isObserved(moment: Moment): boolean {
  return moment.epoch <= moment.timeline.observed;
}

/** Tells whether one moment is ordered before another. */
export function happensBefore(first: Moment, second: Moment): boolean {
  if (first.timeline === second.timeline) return first.epoch <= second.epoch;
  return isObserved(first) || (second.clock.get(first.timeline) ?? 0) >= first.epoch;
}
