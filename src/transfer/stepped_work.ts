// Work of several steps that is awaited by the event loop or, when a later call blocks for it, finished
// without it: a file that is written, for one. Its body is a generator that yields what it waits for.

import { keepFor, type MemoryUse, pendingBefore } from "../memory/in_order.ts";
import { PendingWork, type Progress } from "../order/pending_work.ts";
import { type CudaStream, queueOf } from "../order/stream.ts";

/** A step that work waits for. */
export interface Step {
  /** Resolves when it is over; rejects with what went wrong. */
  readonly promise: Promise<unknown>;
  /** Does the rest without the event loop, and throws what went wrong; returns false where it needs a turn. */
  finishNow(): boolean;
}

/** A use of memory in the order of a stream. */
export interface StreamUse extends MemoryUse {
  /** The stream. */
  readonly stream: CudaStream;
}

/** The steps to take, and the resources they use. */
export interface SteppedPlan {
  /** The memory that it uses, each part in the order of its stream. */
  readonly uses: readonly StreamUse[];
  /** The steps, begun when the work's turn has come. */
  readonly steps: Iterator<Step, void>;
  /** Rejects it before its turn has come; its steps look after the signal themselves. */
  readonly signal?: AbortSignal | undefined;
}

/** Steps with their place in the order of calls. */
export class SteppedWork extends PendingWork {
  readonly #end = Promise.withResolvers<void>();
  /** Steps that were finished without the event loop; some still wait for a thread that closes a file. */
  readonly #finished: Promise<unknown>[] = [];
  /** Resolves and rejects as the steps do, once no thread works for them any more. */
  readonly promise: Promise<void> = this.#end.promise.finally(() =>
    Promise.allSettled(this.#finished)
  );
  readonly #steps: SteppedPlan["steps"];
  /** The step that it waits for; undefined before it begins, and while a step is taken. */
  #step: Step | undefined;

  /** Orders the work after earlier calls, and begins it when its turn has come. */
  constructor({ uses, steps, signal }: SteppedPlan) {
    super();
    this.#steps = steps;
    const onAbort = () => {
      if (!this.hasBegun) this.#end.reject(signal?.reason);
    };
    signal?.addEventListener("abort", onAbort);
    this.whenOver(() => signal?.removeEventListener("abort", onAbort));
    const earlier = uses.flatMap((use) => pendingBefore(use.stream, [use]));
    for (const stream of new Set(uses.map(({ stream }) => stream))) {
      queueOf(stream).notePending(this);
    }
    for (const use of uses) keepFor(this, use.stream, [use]);
    this.beginAfter(earlier);
  }

  override advance(): Progress {
    const step = this.#step;
    if (step === undefined) return "needs a turn";
    this.#step = undefined;
    let failure: { readonly error: unknown } | undefined;
    try {
      if (!step.finishNow()) {
        this.#step = step;
        return "needs a turn";
      }
    } catch (error) {
      failure = { error };
    }
    this.#finished.push(step.promise);
    this.#goOn(failure);
    return "moved";
  }

  protected override begin(): void {
    this.#goOn();
  }

  /** Takes the next step, with the failure of the last one. */
  #goOn(failure?: { readonly error: unknown }): void {
    try {
      const { value, done } = failure === undefined
        ? this.#steps.next()
        : this.#steps.throw?.(failure.error) ?? { value: undefined, done: true };
      if (done === true) this.#end.resolve();
      else return this.#await(value);
    } catch (error) {
      this.#end.reject(error);
    }
    this.finish();
  }

  /** Goes on behind a step, unless a call that blocked has done so before. */
  #await(step: Step): void {
    this.#step = step;
    const goOn = (failure?: { readonly error: unknown }) => {
      if (this.#step !== step) return;
      this.#step = undefined;
      this.#goOn(failure);
    };
    step.promise.then(() => goOn(), (error) => goOn({ error }));
  }
}
