// The order of calls is the order of effects: pending calls, and the calls that each of them comes
// after. A later call that touches the bytes of a transfer begins when the transfer is over,
// whether or not the program has awaited it.

import { activeCapture } from "./capture.ts";

/** Result of advancing work: it moved, waits for the GPU or a thread, or needs the event loop. */
export type Progress = "moved" | "waits" | "needs a turn";

/** A pending call: a transfer, or a call that comes after one. */
export abstract class PendingWork {
  readonly #followers: PendingWork[] = [];
  readonly #endings: (() => void)[] = [];
  /** Number of works that it still waits for. */
  #earlierCount = 0;
  #hasBegun = false;
  #isOver = false;

  /** Tells whether the call is over: its effect has happened, or never will. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Tells whether all work that it comes after is over. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Tells whether it is one postponed call, made after all earlier calls of its stream. */
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

  /** Advances the work without the event loop, for calls that block; never throws. */
  advance(): Progress {
    return "needs a turn";
  }

  /** Prepares for the program to run between two calls of {@link PendingWork.advance}. */
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

  /** Marks this as over, and begins the work that waited only for it. */
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

  /** Begins the work that became ready first; false when there is none, or a capture runs. */
  static beginNext(): boolean {
    if (activeCapture !== undefined) return false;
    const work = ready.shift();
    if (work === undefined) return false;
    work.#hasBegun = true;
    running.add(work);
    work.begin();
    return true;
  }
}

/** A call that is made once all work before it is over. */
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

/** Work that has begun and is not over. */
const running = new Set<PendingWork>();

/** Work that waits for nothing any more and has not begun. */
const ready: PendingWork[] = [];
let isBeginning = false;

/**
 * Begins all ready work; walks a chain of calls in a loop and not on the stack. Waits for the end
 * of a capture, which would record the calls.
 */
function beginReady(): void {
  if (isBeginning || ready.length === 0) return;
  const capture = activeCapture;
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
 * @throws TypeError when work needs the event loop, such as one that waits for a file.
 */
export function finishNow(works: Iterable<PendingWork>, action: string): void {
  try {
    for (const work of [...works]) {
      while (!work.isOver) {
        if (advanceAll() || work.isOver) continue;
        throw new TypeError(`Cannot ${action}: it comes after a call that ${reasonToWait()}`);
      }
    }
  } finally {
    for (const work of running) work.beforeProgram();
  }
}

/** Returns why work can only go on later, and the remedy. */
function reasonToWait(): string {
  const capture = activeCapture;
  return capture === undefined || ready.length === 0
    ? "needs the event loop; await that call first"
    : `was behind a transfer, and is made when the capture of ${capture.origin} has ended; call this ` +
      `before the capture or after it`;
}

/** Advances all work that can move; false when only the event loop can help. */
function advanceAll(): boolean {
  let canMove = false;
  while (PendingWork.beginNext()) canMove = true;
  for (const work of [...running]) canMove = work.advance() !== "needs a turn" || canMove;
  return canMove;
}

/** Resolves when all works are over. */
export async function allOver(works: Iterable<PendingWork>): Promise<void> {
  for (const work of [...works]) if (!work.isOver) await work.over();
}
