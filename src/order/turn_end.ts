// Runs something once at the end of the program's turn, however often it is asked for.

/** Time after which it is scheduled again: V8 drops it when a notebook's cell is interrupted. */
const MAX_TURN_MILLISECONDS = 1000;

/** A function that is called at the end of each turn in which it was asked for. */
export class TurnEnd {
  readonly #end: () => void;
  /** Time at which it was asked for; no time while it is not. */
  #askedAt = -Infinity;

  /** Calls nothing until it is asked for. */
  constructor(atEnd: () => void) {
    this.#end = () => {
      if (this.#askedAt === -Infinity) return; // it was asked for twice
      this.#askedAt = -Infinity;
      atEnd();
    };
  }

  /** Asks for the call; returns whether first in this turn, by `now` in milliseconds of a clock. */
  ask(now: number): boolean {
    if (now < this.#askedAt + MAX_TURN_MILLISECONDS) return false;
    this.#askedAt = now;
    queueMicrotask(this.#end);
    return true;
  }
}
