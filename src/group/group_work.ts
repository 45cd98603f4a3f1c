// Work of a group that is queued already; awaiting it also watches for failures of the group.

import { type CudaStream, queueOf } from "../order/stream.ts";
import { formatCount, messageOf } from "../words/format.ts";
import { comesFrom, type Parts, partsOf } from "../words/parts.ts";
import { within } from "../words/timer.ts";
import type { RankCommunicators } from "./communicators.ts";
import { GroupError, type GroupErrorFields } from "./group_error.ts";
import type { NcclFailure } from "./nccl.ts";

/** Milliseconds between two looks for failures. */
const LOOK_MILLISECONDS = 20;

/** Time for the streams to finish once the group was aborted. */
const MAX_ABORT_MILLISECONDS = 1000;

/** The parts of a {@link GroupWork}. */
export interface WorkFields {
  /** The call, for messages. */
  readonly call: string;
  /** The group, for messages. */
  readonly group: string;
  readonly communicators: RankCommunicators;
  /** Streams that the work is queued on. */
  readonly streams: readonly CudaStream[];
  /** Longest time that waiting may take. */
  readonly timeoutSeconds: number;
  /** Ends the waiting, and the group. */
  readonly signal: AbortSignal | undefined;
}

/**
 * Work that a call of a group has queued. It runs whether or not it is awaited; `await` waits until it
 * is done on all ranks, watches for failures of NCCL, and ends the group when there is one, when the
 * time is up or the signal is aborted.
 */
export class GroupWork implements PromiseLike<void> {
  readonly #fields: WorkFields;

  /** @ignore Wraps queued work. */
  constructor(parts: Parts<WorkFields>) {
    this.#fields = partsOf(parts, new.target);
  }

  /** Waits until the work is done, for `await`; rejects with its error. */
  then<A = void, B = never>(
    onDone?: (() => A | PromiseLike<A>) | null,
    onFailed?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#wait().then(onDone, onFailed);
  }

  /** Waits until the work is done, and calls `onFailed` with its error. */
  catch<B = never>(onFailed?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<void | B> {
    return this.#wait().catch(onFailed);
  }

  /** Waits until the work is done or has failed, and calls `onEnd`. */
  finally(onEnd?: (() => void) | null): Promise<void> {
    return this.#wait().finally(onEnd);
  }

  /** Returns the name of the call and its group. */
  toString(): string {
    const { call, group } = this.#fields;
    return `GroupWork(${call} on ${group})`;
  }

  /** Returns the name for JSON. */
  toJSON(): string {
    return this.toString();
  }

  /** Returns the text that the console shows. */
  [Symbol.for("Deno.customInspect")](): string {
    return this.toString();
  }

  async #wait(): Promise<void> {
    const { communicators, streams, call, group } = this.#fields;
    const { failure: former } = communicators;
    if (former !== undefined) throw endedError(call, group, former);
    const done = Promise.all(streams.map((stream) => stream.synchronize()));
    if (!streams.every((stream) => queueOf(stream).isKnownIdle)) await this.#watch(done);
    await done;
    const failure = communicators.findFailure({ isWaiting: false });
    if (failure !== undefined) await communicators.fail(this.#failed(failure));
    // A rank that slept through the end of the group could mistake leftovers for a result.
    if (communicators.link?.isDoubtful) await communicators.link.confirm();
    const { failure: known } = communicators;
    if (known !== undefined) throw this.#ended(known);
  }

  /** Waits for the streams; ends the group when something is wrong. */
  async #watch(done: Promise<unknown>): Promise<void> {
    const { communicators, signal } = this.#fields;
    const endsAt = performance.now() + this.#fields.timeoutSeconds * 1000;
    const { promise: wrong, resolve } = Promise.withResolvers<GroupError>();
    const look = () => {
      try {
        const failure = communicators.findFailure({ isWaiting: true });
        if (communicators.failure !== undefined) resolve(this.#ended(communicators.failure));
        else if (failure !== undefined) resolve(this.#failed(failure));
        else if (performance.now() >= endsAt) resolve(this.#late());
      } catch (error) {
        const words = `${messageOf(error)}; the group was ended`;
        resolve(this.#error(words, { reason: "nccl", cause: error }));
      }
    };
    const stop = () => {
      const words = "its signal was aborted; the group was ended";
      resolve(this.#error(words, { reason: "signal", cause: signal?.reason }));
    };
    const timer = setInterval(
      look,
      Math.min(LOOK_MILLISECONDS, this.#fields.timeoutSeconds * 1000),
    );
    signal?.addEventListener("abort", stop);
    if (signal?.aborted) stop();
    try {
      const error = await Promise.race([done.then(() => undefined), wrong]);
      if (error === undefined) return;
      // Waits for the end, but not for ever: other work may be on the streams.
      const ended = Promise.all([communicators.fail(error), done]).catch(() => {});
      await within(MAX_ABORT_MILLISECONDS, ended);
      throw error;
    } finally {
      clearInterval(timer);
      signal?.removeEventListener("abort", stop);
    }
  }

  #failed(failure: NcclFailure): GroupError {
    const { call, group, communicators: { nccl } } = this.#fields;
    return nccl.error({ ...failure, call }, `${call} on ${group}`);
  }

  #error(words: string, fields: Omit<GroupErrorFields, "call">): GroupError {
    const { call, group } = this.#fields;
    return new GroupError(`Cannot complete ${call} on ${group}: ${words}`, { ...fields, call });
  }

  #late(): GroupError {
    const { streams, timeoutSeconds, communicators } = this.#fields;
    const late = streams.flatMap((stream, at) =>
      queueOf(stream).isKnownIdle ? [] : [communicators.firstRank + at]
    );
    return this.#error(
      `it is not done after ${formatCount(timeoutSeconds, "second")} on rank ` +
        `${late.join(" and rank ")}${communicators.describeLate?.() ?? ""}; the group was ended`,
      { reason: "timeout", rank: communicators.absent?.[0] },
    );
  }

  /** Creates the error for awaited work that a failure has ended. */
  #ended(failure: GroupError): GroupError {
    const { call, group } = this.#fields;
    const { reason, rank, message } = failure;
    // The message of a failure in another process already says what has happened.
    if (reason !== "lost" && reason !== "ended") return endedError(call, group, failure);
    return this.#error(message, { reason, rank, cause: failure });
  }
}

comesFrom(GroupWork, "the calls of a group, such as group.allReduce()");

/** Creates the error for a call of a group that a failure has ended. */
export function endedError(call: string, group: string, cause: GroupError): GroupError {
  return new GroupError(
    `Cannot complete ${call} on ${group}: a failure has ended the group; ${cause.message}`,
    { reason: "ended", call, cause, rank: cause.rank },
  );
}
