// The communicator of this process's rank in a group of several processes. Its calls return before they
// are done, so that a missing rank delays nothing but the work itself.

import { NCCL_CONFIG_MAGIC, ncclConfig_t, ncclResult } from "../../ffi/nccl_constants.ts";
import type { Context } from "../driver/context.ts";
import { reportLost } from "../driver/release.ts";
import { Fence } from "../order/fence.ts";
import { type CudaStream, queueOf, usableStream } from "../order/stream.ts";
import { messageOf } from "../words/format.ts";
import { sleep } from "../words/timer.ts";
import {
  ASK,
  FIXED_BYTES,
  inGroup,
  isFailure,
  noteStreams,
  type RankCommunicators,
  statusOf,
} from "./communicators.ts";
import { GroupError } from "./group_error.ts";
import type { GroupLink } from "./group_link.ts";
import type { Nccl, NcclFailure } from "./nccl.ts";
import { type CallInProgress, pause } from "./queued_call.ts";

/** The call that starts a rank, for errors. */
const START = "joinGroup";

/** Milliseconds of polling before a call becomes pending: NCCL mostly takes less. */
const BRIEF_MILLISECONDS = 0.5;

/** The longest wait for the other ranks at the end, after which this rank ends without them. */
const PARTING_MILLISECONDS = 5000;

/**
 * Time between the message that a rank has ended the group and its abort: a rank that enters a call
 * later could mistake what the abort leaves for the call's result.
 */
const WARNING_MILLISECONDS = 100;

/** A rank that left so long ago will not do its part of the queued work. */
const LEFT_MILLISECONDS = 5000;

/** The other ranks of a group, as known from their connections. */
export interface Peers {
  /** Tells the others that this rank has come to a barrier. */
  tellArrival(): void;
  /** Ranks that have come to fewer barriers than this one. */
  readonly absent: readonly number[];
  /** Describes the silent ones, for errors; empty when there are none. */
  describeSilent(): string;
  nameOf(rank: number): string;
  /** Tells them that this rank has ended the group. */
  tellFailure(failure: GroupError): void;
  /** Tells them that this rank does nothing more in the group. */
  tellEnd(): void;
  /** The connections to their processes. */
  readonly link: GroupLink;
  /** Releases the connections; resolves when everything is sent. */
  close(): Promise<void>;
}

/** The parts that a rank starts with. */
export interface JoinFields {
  readonly nccl: Nccl;
  readonly context: Context;
  readonly id: Uint8Array<ArrayBuffer>;
  readonly rank: number;
  readonly size: number;
  readonly peers: Peers;
  /** Longest time for the queueing of a call. */
  readonly timeoutSeconds: number;
}

/** A rank of a group of several processes. */
export class JoinedCommunicator implements RankCommunicators {
  readonly contexts: readonly Context[];
  readonly firstRank: number;
  readonly size: number;
  readonly isSpread = true;
  readonly nccl: Nccl;
  readonly #context: Context;
  readonly #peers: Peers;
  readonly #timeoutSeconds: number;
  /** NCCL writes the handle here, once more when the start is done. */
  readonly #cell = new BigUint64Array(new ArrayBuffer(FIXED_BYTES), 0, 1);
  /** NCCL writes the communicator's state here: thousands of looks leave no garbage. */
  readonly #asyncError = new Int32Array(new ArrayBuffer(FIXED_BYTES), 0, 1);
  readonly #streams = new Set<CudaStream>();
  /** Times at which other ranks left. */
  readonly #leftAt = new Map<number, number>();
  readonly #over = Promise.withResolvers<void>();
  #isOpen = true;
  #failure: GroupError | undefined;
  #aborted: Promise<void> = Promise.resolve();

  private constructor({ nccl, context, rank, size, peers, timeoutSeconds }: JoinFields) {
    this.nccl = nccl;
    this.contexts = [context];
    this.firstRank = rank;
    this.size = size;
    this.#context = context;
    this.#peers = peers;
    this.#timeoutSeconds = timeoutSeconds;
  }

  /**
   * Begins to start a rank; {@link JoinedCommunicator.started} waits for the others.
   *
   * @throws GroupError when NCCL refuses it.
   */
  static start(fields: JoinFields): JoinedCommunicator {
    const { nccl, context, id, rank, size } = fields;
    const started = new JoinedCommunicator(fields);
    const config = ncclConfig_t.encode({
      size: BigInt(ncclConfig_t.byteLength),
      magic: NCCL_CONFIG_MAGIC,
      version: 21400,
      blocking: 0,
    });
    const { ncclCommInitRankScalable: scalable, ncclCommInitRankConfig: plain } = nccl.api;
    const status = context.enter(() =>
      scalable === null
        ? plain(started.#cell, size, id, rank, config)
        : scalable(started.#cell, size, rank, 1, id, config)
    );
    if (!isFailure(status)) return started;
    const error = nccl.error({ status, call: "ncclCommInitRankConfig" });
    void started.fail(error);
    throw error;
  }

  /**
   * Resolves when all ranks have found each other.
   *
   * @throws GroupError when that fails, takes too long, or the signal is aborted.
   */
  async started(
    group: string,
    { signal, leftSeconds }: {
      readonly signal: AbortSignal | undefined;
      readonly leftSeconds: number;
    },
  ): Promise<void> {
    const endsAt = performance.now() + leftSeconds * 1000;
    for (let turn = 0;; turn++) {
      if (this.#failure !== undefined) {
        const { reason, rank, message } = this.#failure;
        await this.#aborted;
        const fields = { reason, call: START, rank, cause: this.#failure };
        throw new GroupError(`Cannot start ${group}: ${message}`, fields);
      }
      const state = this.#look();
      if (state === "done") return;
      const error = state === "in progress"
        ? this.#endOfStart(group, { signal, endsAt })
        : this.nccl.error({ ...state, call: START }, `the start of ${group}`);
      if (error !== undefined) {
        await this.fail(error);
        throw error;
      }
      await pause(turn);
    }
  }

  /** Returns the error of a start whose time is over or whose signal was aborted. */
  #endOfStart(
    group: string,
    { signal, endsAt }: { readonly signal: AbortSignal | undefined; readonly endsAt: number },
  ): GroupError | undefined {
    if (signal?.aborted === true) {
      const fields = { reason: "signal", call: START, cause: signal.reason } as const;
      return new GroupError(`Cannot start ${group}: its signal was aborted`, fields);
    }
    if (performance.now() < endsAt) return undefined;
    return new GroupError(
      `Cannot start ${group}: NCCL has not found all ranks in time${this.describeLate()}`,
      { reason: "timeout", call: START },
    );
  }

  get failure(): GroupError | undefined {
    return this.#failure;
  }

  get streams(): readonly CudaStream[] {
    return [...this.#streams];
  }

  call(
    streams: readonly CudaStream[],
    body: (handles: readonly bigint[]) => NcclFailure | undefined,
  ): CallInProgress | undefined {
    this.#context.driver.requireUnbroken();
    noteStreams(this.#streams, streams);
    let state: CallState;
    try {
      const { failure, isInProgress } = this.#context.enter(() =>
        inGroup(this.nccl, () => body([this.#handle]))
      );
      state = failure ?? (isInProgress ? "in progress" : "done");
      const until = performance.now() + BRIEF_MILLISECONDS;
      while (state === "in progress" && performance.now() < until) state = this.#look();
    } catch (error) {
      this.#failBy(error); // nobody knows whether NCCL has the call
      throw error;
    }
    if (state === "done") return undefined;
    if (state !== "in progress") {
      const error = this.nccl.error(state);
      void this.fail(error);
      throw error;
    }
    const endsAt = performance.now() + this.#timeoutSeconds * 1000;
    return { isOver: () => this.#isQueued(endsAt) };
  }

  /** Polls a call in progress, and ends the group when it fails. */
  #isQueued(endsAt: number): boolean {
    if (!this.#isOpen) return true;
    try {
      const state = this.#look();
      if (state === "done") return true;
      if (state !== "in progress") void this.fail(this.nccl.error(state));
      else if (performance.now() >= endsAt) {
        void this.fail(this.#late("NCCL has not queued one"));
      }
      return !this.#isOpen;
    } catch (error) {
      this.#failBy(error);
      return true;
    }
  }

  /** Ends the group because a call of NCCL, or a question for its state, has thrown. */
  #failBy(cause: unknown): void {
    void this.fail(new GroupError(messageOf(cause), { reason: "nccl", call: ASK, cause }));
  }

  findFailure({ isWaiting }: { readonly isWaiting: boolean }): NcclFailure | undefined {
    if (!this.#isOpen) return undefined;
    const state = this.#look();
    if (typeof state === "object") return state;
    if (!isWaiting) return undefined;
    const left = [...this.#leftAt].find(([, at]) => performance.now() - at > LEFT_MILLISECONDS);
    if (left === undefined) return undefined;
    const [rank] = left;
    const words = `${this.#peers.nameOf(rank)} has left the group; the group was ended`;
    void this.fail(new GroupError(words, { reason: "lost", call: "dispose", rank }));
    return undefined;
  }

  arrive(): void {
    this.#peers.tellArrival();
  }

  get absent(): readonly number[] {
    return this.#peers.absent.filter((rank) => !this.#leftAt.has(rank));
  }

  describeLate(): string {
    const absent = this.absent.map((rank) => `; ${this.#peers.nameOf(rank)} has not come`);
    const left = [...this.#leftAt.keys()].map((rank) =>
      `; ${this.#peers.nameOf(rank)} has left the group`
    );
    return `${[...left, ...absent].join("")}${this.#peers.describeSilent()}`;
  }

  /** Notes that a rank has left in peace. */
  noteLeft(rank: number): void {
    if (!this.#leftAt.has(rank)) this.#leftAt.set(rank, performance.now());
  }

  /** Ends the group because another rank is gone, or has ended it. */
  failWith(failure: GroupError): void {
    if (this.#isOpen) void this.#abort(failure);
  }

  fail(failure: GroupError): Promise<void> {
    if (!this.#isOpen) return this.#aborted;
    this.#peers.tellFailure(failure);
    return this.#abort(failure, WARNING_MILLISECONDS);
  }

  get link(): GroupLink {
    return this.#peers.link;
  }

  end(): void {
    void this.#endBehindWork();
  }

  over(): Promise<void> {
    return this.#over.promise;
  }

  get #handle(): bigint {
    return this.#cell[0] ?? 0n;
  }

  /** Asks NCCL for the communicator's state. */
  #look(): CallState {
    const communicator = this.#handle;
    const status = statusOf(this.nccl, communicator, this.#asyncError);
    if (isFailure(status)) return { status, call: ASK, communicator, rank: this.firstRank };
    return status === ncclResult.ncclInProgress ? "in progress" : "done";
  }

  /** Aborts on another thread, because NCCL waits for the streams first. */
  #abort(failure: GroupError, warningMilliseconds = 0): Promise<void> {
    this.#failure = failure;
    return this.#aborted = this.#give(async (handle) => {
      if (warningMilliseconds > 0 && this.size > 1) await sleep(warningMilliseconds);
      const call = "ncclCommAbort";
      const status = handle === 0n ? 0 : await this.nccl.api.ncclCommAbortNonblocking(handle);
      if (!isFailure(status)) return;
      reportLost(this.#context.driver, "a communicator", this.nccl.error({ status, call }));
    });
  }

  /** Ends the communicator when the GPU is done with its work, or the group has failed. */
  async #endBehindWork(): Promise<void> {
    const kept = this.#context.retain();
    try {
      if (this.#isOpen) await this.#workDone();
      if (this.#isOpen) await this.#finalize();
      else await this.#aborted;
    } catch (error) {
      reportLost(kept.driver, "a communicator", error);
    } finally {
      kept.release();
    }
    await this.#peers.close();
    this.#over.resolve();
  }

  /** Waits for the queued work; its failure is reported to whoever waits for it elsewhere. */
  async #workDone(): Promise<void> {
    const endsAt = performance.now() + this.#timeoutSeconds * 1000;
    const fences: Fence[] = [];
    try {
      const looks = [...this.#streams].map((stream) => {
        const queue = queueOf(usableStream(stream));
        if (queue.isLent) return () => queue.isEndPassed; // to a group that was made from this one
        const fence = Fence.behind(queue.context, queue.handle);
        fences.push(fence);
        return () => fence.isPassed;
      });
      for (let turn = 0; this.#isOpen && !looks.every((isPassed) => isPassed()); turn++) {
        if (performance.now() >= endsAt) {
          return void this.fail(this.#late("its last work is not done"));
        }
        const failure = this.findFailure({ isWaiting: true });
        if (failure !== undefined) return void this.fail(this.nccl.error(failure));
        await pause(turn);
      }
    } catch {
      // When the driver sets no mark, NCCL waits by itself, as long as that takes.
    } finally {
      for (const fence of fences) fence.dispose();
    }
  }

  /** Ends in agreement with the other ranks, for which NCCL waits; this one not for ever. */
  async #finalize(): Promise<void> {
    this.#peers.tellEnd();
    await this.#give(async (handle) => {
      const { api } = this.nccl;
      const endsAt = performance.now() + PARTING_MILLISECONDS;
      // Once the GPU has failed, the ranks cannot end in agreement.
      const isBroken = this.#context.driver.firstSticky !== undefined;
      let status: number = isBroken
        ? ncclResult.ncclUnhandledCudaError
        : this.#context.enter(() => api.ncclCommFinalize(handle));
      const cell = new Int32Array(1);
      for (let turn = 0; !isFailure(status); turn++) {
        status = statusOf(this.nccl, handle, cell);
        if (status !== ncclResult.ncclInProgress || performance.now() >= endsAt) break;
        await pause(turn);
      }
      if (status === ncclResult.ncclSuccess) {
        // On another thread: NCCL waits half a second for a thread of its own that looks no sooner.
        const call = "ncclCommDestroy";
        const destroyed = await api.ncclCommDestroyNonblocking(handle);
        if (isFailure(destroyed)) throw this.nccl.error({ status: destroyed, call });
      } else await api.ncclCommAbortNonblocking(handle);
    });
  }

  /** Releases the handle, and keeps the context until that is done. */
  async #give(body: (handle: bigint) => Promise<void>): Promise<void> {
    const kept = this.#context.retain();
    this.#isOpen = false;
    this.#streams.clear();
    try {
      await body(this.#handle);
    } catch (error) {
      reportLost(kept.driver, "a communicator", error);
    } finally {
      kept.release();
    }
  }

  #late(words: string): GroupError {
    return new GroupError(
      `Cannot complete the calls of rank ${this.firstRank}: ${words} after ${this.#timeoutSeconds} ` +
        `seconds${this.describeLate()}; the group was ended`,
      { reason: "timeout", call: "ncclGroupEnd" },
    );
  }
}

/** State of a call that NCCL queues on a thread of its own. */
type CallState = "in progress" | "done" | NcclFailure;
