// The order of calls is the order of effects: calls whose effects are still to come, and what each of
// them comes after. A transfer moves bytes for a while; a later call that touches the same bytes
// begins when it is over, whether or not the program has awaited it.

import { activeCapture } from "./capture.ts";

/**
 * What became of a look at work that has begun: it went on, it waits for the GPU or for a thread, or
 * only the event loop can tell it more.
 */
export type Progress = "moved" | "waits" | "needs a turn";

/** One call whose effect is still to come: a transfer, or a call that comes after one. */
export abstract class PendingWork {
  /** What waits for this. */
  readonly #followers: PendingWork[] = [];
  readonly #endings: (() => void)[] = [];
  /** How much of what it waits for is not over. */
  #earlierCount = 0;
  #hasBegun = false;
  #isOver = false;

  /** Whether its effect is there, or will never come. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether all that it comes after is over. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Whether it is a single call, made in the order of a stream, behind all earlier ones of it. */
  get isPostponed(): boolean {
    return false;
  }

  /** Calls `ending` when this is over, at once when it is; endings run in reverse order. */
  whenOver(ending: () => void): void {
    if (this.#isOver) ending();
    else this.#endings.push(ending);
  }

  /** Resolves when this is over, whether or not it failed. */
  over(): Promise<void> {
    return new Promise((resolve) => this.whenOver(resolve));
  }

  /** Goes on without the event loop, for calls that block; never throws. */
  advance(): Progress {
    return "needs a turn";
  }

  /** Makes sure that the program may run, after {@link PendingWork.advance} and before it is over. */
  beforeProgram(): void {}

  /** Begins once all of `earlier` is over; at once when it is. Call it once. */
  protected beginAfter(earlier: Iterable<PendingWork>): void {
    for (const work of earlier) {
      if (work.#isOver) continue;
      work.#followers.push(this);
      this.#earlierCount++;
    }
    if (this.#earlierCount > 0) return;
    ready.push(this);
    beginReady();
  }

  /** Does the work, or starts it; calls {@link PendingWork.finish} at its end. Never throws. */
  protected abstract begin(): void;

  /** Notes that this is over, and begins what only waited for it. */
  protected finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    running.delete(this);
    for (let ending = this.#endings.pop(); ending; ending = this.#endings.pop()) ending();
    for (const follower of this.#followers.splice(0)) {
      if (--follower.#earlierCount === 0) ready.push(follower);
    }
    beginReady();
  }

  /** Begins what became ready first; false when there is none. While a capture runs, none is begun. */
  static beginNext(): boolean {
    if (activeCapture() !== undefined) return false;
    const work = ready.shift();
    if (work === undefined) return false;
    work.#hasBegun = true;
    running.add(work);
    work.begin();
    return true;
  }
}

/** A call that is made once all that it comes after is over. */
export class PostponedCall extends PendingWork {
  readonly #call: () => void;

  /** Makes the call after `earlier`. It reports its own failures and never throws. */
  constructor(call: () => void, earlier: Iterable<PendingWork>) {
    super();
    this.#call = call;
    this.beginAfter(earlier);
  }

  override get isPostponed(): boolean {
    return true;
  }

  protected override begin(): void {
    this.#call();
    this.finish();
  }
}

/** What has begun and is not over. */
const running = new Set<PendingWork>();

/** What waits for nothing any more and has not begun. */
const ready: PendingWork[] = [];
let isBeginning = false;

/**
 * Begins all that is ready; a chain of calls is walked here, not on the stack. A capture would record
 * what is called now, so that waits for its end.
 */
function beginReady(): void {
  if (isBeginning || ready.length === 0) return;
  const capture = activeCapture();
  if (capture !== undefined) return capture.postpone(beginReady);
  isBeginning = true;
  try {
    while (PendingWork.beginNext());
  } finally {
    isBeginning = false;
  }
}

/**
 * Finishes work without the event loop: blocks until all of it is over.
 *
 * @throws TypeError for work that needs the event loop, such as one that waits for a file.
 */
export function finishNow(works: Iterable<PendingWork>, action: string): void {
  for (const work of [...works]) {
    while (!work.isOver) {
      if (advanceAll() || work.isOver) continue;
      throw new TypeError(
        `Cannot ${action}: it comes after a call that needs the event loop; await that call first`,
      );
    }
  }
  for (const work of running) work.beforeProgram();
}

/** Moves all that can move without the event loop; false when only that can help. */
function advanceAll(): boolean {
  let canMove = false;
  while (PendingWork.beginNext()) canMove = true;
  for (const work of [...running]) canMove = work.advance() !== "needs a turn" || canMove;
  return canMove;
}

/** Resolves when all of it is over. */
export async function allOver(works: Iterable<PendingWork>): Promise<void> {
  for (const work of [...works]) if (!work.isOver) await work.over();
}
