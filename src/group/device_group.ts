// A group of devices whose buffers are used together over NCCL: one rank for each device, all in one
// process or each in its own. Calls are queued on the ranks' streams, in the order of the memory that they
// use.

import type { DeviceAllocator } from "../buffers/device_buffer.ts";
import { allocateDeviceBuffer } from "../buffers/device_buffer.ts";
import type { GpuBuffer } from "../buffers/gpu_buffer.ts";
import type { Context } from "../driver/context.ts";
import type { DType } from "../dtype.ts";
import type { SafetensorsSource } from "../interop/safetensors/shards.ts";
import {
  keepFor,
  type MemoryUse,
  noteFailure,
  pendingBefore,
  postponeFor,
} from "../memory/in_order.ts";
import { defaultDeviceResource } from "../memory/resource_choice.ts";
import { requireNoCapture } from "../order/capture.ts";
import { HandleRecord } from "../order/handle_record.ts";
import type { PendingWork } from "../order/pending_work.ts";
import { type CudaStream, defaultStreamOf, queueOf } from "../order/stream.ts";
import { streamOn } from "../order/stream_choice.ts";
import { loadSharded, type LoadShardedOptions } from "../spread/load_sharded.ts";
import type { ShardedModel } from "../spread/sharded_model.ts";
import { DisposedError } from "../words/errors.ts";
import { formatCount, messageOf, visibleText } from "../words/format.ts";
import { CALLBACK, type OptionSet, refusePromise, requireKind } from "../words/options.ts";
import { Owned } from "../words/owned.ts";
import { comesFrom, Parts, partsOf } from "../words/parts.ts";
import { refuseCloning } from "../words/uncloneable.ts";
import { warn } from "../words/warning.ts";
import type { RankCall, Ranks } from "./collectives.ts";
import * as plans from "./collectives.ts";
import { Communicators, isFailure, type RankCommunicators } from "./communicators.ts";
import {
  type BroadcastOptions,
  CALL_OPTIONS,
  type CollectiveOptions,
  type GatherAllOptions,
  type GatherOptions,
  GROUP_OPTIONS,
  type GroupOptions,
  type IntoAllOptions,
  type RankBuffers,
  type ReceiveOptions,
  type ReduceAllOptions,
  type ReduceOptions,
  type ScatterOptions,
  type SendOptions,
  type ShrinkOptions,
  type SplitOptions,
} from "./group_options.ts";
import { endedError, GroupWork } from "./group_work.ts";
import { Nccl } from "./nccl.ts";
import { type CallInProgress, QueuedCall } from "./queued_call.ts";

/** Longest time for a start and for an awaited call. */
export const DEFAULT_TIMEOUT_SECONDS = 600;

/** The processes of a group, from which smaller groups can be made. */
export interface Relatives {
  /** Makes the parts of a group for the ranks of one color; undefined where this rank has none. */
  split(options: Timed<SplitOptions>): Promise<GroupFields | undefined>;
  /** Makes the parts of a group without some ranks. */
  shrink(options: Timed<ShrinkOptions>): Promise<GroupFields>;
}

/** Options with a time, that of the call or else of the group. */
export type Timed<O extends GroupOptions> = O & { readonly timeoutSeconds: number };

export interface GroupFields {
  readonly communicators: RankCommunicators;
  readonly options: GroupOptions;
  /** The ranks' devices, which allocate memory; undefined when the group was made from contexts. */
  readonly gpus?: readonly DeviceAllocator[];
  /** Bytes by which the free memory of each device shrank when NCCL started. */
  readonly startBytes?: readonly number[];
  /** The processes; undefined when all ranks are in this one. */
  readonly relatives?: Relatives | undefined;
}

/** A call as the program makes it. */
interface PlannedCall<B, O> {
  readonly call: keyof typeof CALL_OPTIONS;
  readonly buffers: B;
  readonly options: O;
}

/** A batch that is being collected. */
interface Batch {
  readonly calls: RankCall[];
  readonly work: GroupWork;
  /** Keeps the memory of its calls until they are made, even when `body` disposes it. */
  readonly kept: DisposableStack;
}

/**
 * Devices whose buffers are used together: each device is a rank, by its place in the list that the
 * group was made from. Calls take one buffer for each rank, are queued on the ranks' streams after all
 * earlier work on that memory, and return at once; `await` waits until they are done.
 *
 * In a group made by `joinGroup()`, each rank has a process of its own: calls take that rank's buffer,
 * and all processes must make the same calls in the same order.
 *
 * @example Sum up gradients on all devices
 * ```ts
 * import { CudaDevice } from "vramkit";
 *
 * using gpus = CudaDevice.all({ driver: "simulated" });
 * await using group = await gpus.group();
 * const gradients = await Promise.all(
 *   gpus.map((gpu) => gpu.upload(new Float32Array([gpu.ordinal, 1]))),
 * );
 * await group.allReduce(gradients, { op: "sum" });
 * console.log(await gradients[0]?.download()); // Float32Array(2) [1, 2]
 * for (const gradient of gradients) gradient.dispose();
 * ```
 */
export class DeviceGroup extends Owned {
  readonly #communicators: RankCommunicators;
  readonly #gpus: readonly DeviceAllocator[];
  readonly #relatives: Relatives | undefined;
  readonly #record: HandleRecord;
  readonly #timeoutSeconds: number;
  /** The batch that is being collected. */
  #batch: Batch | undefined;
  /** The last call that NCCL may still be queueing; the next one comes after it. */
  #lastQueued: QueuedCall | undefined;

  /** @ignore Adopts communicators. */
  constructor(parts: Parts<GroupFields>) {
    super();
    const { gpus = [], startBytes = [], ...fields } = partsOf(parts, new.target);
    refuseCloning(this);
    const { communicators, options, relatives } = fields;
    const { label, timeoutSeconds = DEFAULT_TIMEOUT_SECONDS } = options;
    this.#communicators = communicators;
    this.#gpus = gpus;
    this.#relatives = relatives;
    this.#timeoutSeconds = timeoutSeconds;
    const [context] = communicators.contexts;
    if (context === undefined) throw new RangeError("Cannot make a group of no devices");
    const forget = noteLibraryMemory(communicators, { label, startBytes });
    const destroy = () => {
      communicators.end();
      forget();
    };
    this.#record = new HandleRecord(this, { context, kind: "group", handle: 0n, label, destroy });
  }

  /** Number of ranks, those of other processes included. */
  get size(): number {
    return this.#communicators.size;
  }

  /** This process's rank; 0 when all ranks are in this process. */
  get rank(): number {
    return this.#communicators.firstRank;
  }

  /** The ranks of this process. */
  get ranks(): readonly number[] {
    return this.#communicators.contexts.map((_, at) => this.rank + at);
  }

  /** The number of the device of each rank of this process. */
  get ordinals(): readonly number[] {
    return this.#communicators.contexts.map(({ ordinal }) => ordinal);
  }

  /** NCCL's version, such as `"2.28.9"`. */
  get ncclVersion(): string {
    return this.#communicators.nccl.version;
  }

  /** The label, or the number. */
  get name(): string {
    return this.#record.name;
  }

  /** Tells whether it was disposed. */
  get disposed(): boolean {
    return this.#record.released;
  }

  /** The failure that has ended the group; undefined without one. */
  get failure(): Error | undefined {
    return this.#communicators.failure;
  }

  /**
   * Reduces the ranks' buffers element by element, and gives each rank the result (ncclAllReduce).
   *
   * @throws TypeError when element types or devices do not fit.
   * @throws RangeError when lengths or shapes do not fit.
   */
  allReduce<D extends DType>(
    buffers: RankBuffers<D>,
    options: ReduceAllOptions<D> = {},
  ): GroupWork {
    return this.#queue(plans.allReduce, { call: "allReduce", buffers, options });
  }

  /** Reduces the ranks' buffers element by element into the buffer of one rank (ncclReduce). */
  reduce<D extends DType>(buffers: RankBuffers<D>, options: ReduceOptions<D> = {}): GroupWork {
    return this.#queue(plans.reduce, { call: "reduce", buffers, options });
  }

  /** Copies one rank's elements into the buffers of all others (ncclBroadcast). */
  broadcast<D extends DType>(buffers: RankBuffers<D>, options?: BroadcastOptions): GroupWork;
  /** Copies a buffer of one of the ranks into a buffer of each. */
  broadcast<D extends DType>(source: GpuBuffer<D>, options: IntoAllOptions<D>): GroupWork;
  broadcast<D extends DType>(
    source: RankBuffers<D>,
    options: BroadcastOptions & Partial<IntoAllOptions<D>> = {},
  ): GroupWork {
    return this.#queue(plans.broadcast, { call: "broadcast", buffers: source, options });
  }

  /**
   * Concatenates the elements of all ranks, and gives each rank all of them (ncclAllGather). In
   * place, each buffer has room for all elements, and its rank's part holds that rank's own.
   */
  allGather<D extends DType>(
    buffers: RankBuffers<D>,
    options: GatherAllOptions<D> = {},
  ): GroupWork {
    return this.#queue(plans.allGather, { call: "allGather", buffers, options });
  }

  /**
   * Reduces the ranks' buffers element by element, and gives each rank its part of the result
   * (ncclReduceScatter). In place, the result is in the rank's part of its buffer, and the rest of the
   * buffer is undefined.
   */
  reduceScatter<D extends DType>(
    buffers: RankBuffers<D>,
    options: ReduceAllOptions<D> = {},
  ): GroupWork {
    return this.#queue(plans.reduceScatter, { call: "reduceScatter", buffers, options });
  }

  /**
   * Cuts each rank's elements into one part for each rank, and gives each rank its parts, in the order
   * of the senders (ncclAlltoAll).
   */
  allToAll<D extends DType>(buffers: RankBuffers<D>, options: IntoAllOptions<D>): GroupWork {
    return this.#queue(plans.allToAll, { call: "allToAll", buffers, options });
  }

  /** Concatenates the elements of all ranks in one buffer, of any rank (ncclGather). */
  gather<D extends DType>(buffers: RankBuffers<D>, options: GatherOptions<D> = {}): GroupWork {
    return this.#queue(plans.gather, { call: "gather", buffers, options });
  }

  /**
   * Gives each rank its part of one buffer, of any rank (ncclScatter). When that buffer is in another
   * process, the source is undefined, and `{ root }` names its rank.
   */
  scatter<D extends DType>(
    source: GpuBuffer<D> | undefined,
    options: ScatterOptions<D>,
  ): GroupWork {
    return this.#queue(plans.scatter, { call: "scatter", buffers: source, options });
  }

  /**
   * Sends a buffer's elements from its rank to another (ncclSend), in a {@link DeviceGroup.batch} that
   * also has the receive. It waits for that: when the other rank is in another process, no batch is
   * needed unless both send first.
   */
  send(buffer: GpuBuffer, options: SendOptions): GroupWork {
    const { to } = CALL_OPTIONS.send.read(options, "send");
    if (to === undefined) throw new TypeError("Cannot call send(): pass { to }, the rank");
    return this.#exchange("send", buffer, to);
  }

  /**
   * Receives elements of another rank into a buffer (ncclRecv), in a {@link DeviceGroup.batch} that also
   * has the send. When the other rank is in another process, no batch is needed.
   */
  recv(buffer: GpuBuffer, options: ReceiveOptions): GroupWork {
    const { from } = CALL_OPTIONS.recv.read(options, "recv");
    if (from === undefined) throw new TypeError("Cannot call recv(): pass { from }, the rank");
    return this.#exchange("recv", buffer, from);
  }

  /**
   * Queues all calls that `body` makes as one: small ones share their cost, and sends meet their
   * receives. The calls have no order among themselves, and are made when `body` returns, after
   * anything else that it queues.
   *
   * @throws TypeError when `body` returns a promise: other code would run meanwhile.
   * @throws RangeError when a call writes what another uses, or a send has no receive.
   *
   * @example
   * ```ts
   * import { CudaDevice } from "vramkit";
   *
   * using gpus = CudaDevice.openMany([0, 1], { driver: "simulated" });
   * await using group = await gpus.group();
   * const [first, second] = [...gpus] as [CudaDevice, CudaDevice];
   * using here = await first.upload(new Float32Array([1, 2]));
   * using there = second.zeros("float32", 2);
   * await group.batch(() => {
   *   group.send(here, { to: 1 });
   *   group.recv(there, { from: 0 });
   * });
   * console.log(await there.download()); // Float32Array(2) [1, 2]
   * ```
   */
  batch(body: () => unknown, options: CollectiveOptions = {}): GroupWork {
    options = CALL_OPTIONS.batch.read(options, "batch");
    requireKind(body, CALLBACK, "batch");
    this.#requireUsable("batch");
    if (this.#batch !== undefined) {
      throw new TypeError("Cannot call batch() in a batch: make the calls in the one that runs");
    }
    const streams = this.#streamsOf(options, "batch");
    using kept = new DisposableStack();
    const batch: Batch = { calls: [], work: this.#workOn(streams, "batch", options), kept };
    this.#batch = batch;
    let returned: unknown;
    try {
      returned = body();
    } finally {
      this.#batch = undefined;
    }
    if (returned !== batch.work) {
      refusePromise(
        returned,
        "Cannot call batch() with a function that returns a promise: make all calls before it returns",
      );
    }
    this.#requireUsable("batch");
    plans.requireApart(batch.calls);
    // The other side of a call with another process is made there.
    requirePaired(batch.calls.filter(({ peer }) => !this.#isElsewhere(peer)));
    this.#start(batch.calls, streams);
    return batch.work;
  }

  /**
   * Makes later work on every rank's stream wait for all earlier work on the streams of all ranks;
   * `await` waits for that work, too. Where a rank is a process, an error after `timeoutSeconds` names
   * the ranks that have not come.
   */
  barrier(options: CollectiveOptions = {}): GroupWork {
    options = CALL_OPTIONS.barrier.read(options, "barrier");
    this.#requireUsable("barrier");
    if (this.#batch !== undefined) {
      throw new TypeError("Cannot call barrier() in a batch: call it before or after");
    }
    requireNoCapture("call barrier()");
    const streams = this.#streamsOf(options, "barrier");
    if (this.#communicators.isSpread) return this.#meet(streams, options);
    for (const stream of streams) for (const other of streams) stream.wait(other);
    return this.#workOn(streams, "barrier", options);
  }

  /**
   * Loads a model onto the ranks' devices; see {@link DeviceList.loadSafetensors}. The buffers of its
   * tensors are in the order of the ranks.
   *
   * In a group made by `joinGroup()`, this process reads the parts of its own rank, and each tensor has
   * one buffer. The processes do not wait for each other: each reads from its own machine, by the same
   * rules, and a failure is thrown only in its own process.
   */
  async loadSafetensors(
    source: SafetensorsSource,
    options: LoadShardedOptions = {},
  ): Promise<ShardedModel> {
    this.#requireUsable("loadSafetensors");
    const { rank: firstPart, size: count } = this;
    return await loadSharded(source, this.#gpus, options, { firstPart, count });
  }

  /**
   * Splits a group of several processes: all ranks call it, and ranks of the same color become a group.
   * Resolves to undefined on a rank without a color. The new groups stay usable when this one is
   * disposed.
   *
   * @throws GroupError when a rank does not call it in time, has ended or left, or fails, and when the
   *   group fails meanwhile.
   */
  async split(options: SplitOptions = {}): Promise<DeviceGroup | undefined> {
    options = CALL_OPTIONS.split.read(options, "split");
    this.#requireUsable("split");
    const fields = await this.#relativesFor("split", options).split(this.#timed(options));
    return fields && new DeviceGroup(new Parts(fields));
  }

  /**
   * Makes a group of the remaining ranks of a group of several processes: all of them call it, with the
   * same `{ exclude }`. This group may have failed; dispose it in any case.
   *
   * @throws GroupError when a remaining rank does not call it in time, or when the process of rank 0,
   *   through which all are connected, has ended.
   */
  async shrink(options: ShrinkOptions = {}): Promise<DeviceGroup> {
    options = CALL_OPTIONS.shrink.read(options, "shrink");
    if (this.disposed) throw new DisposedError(this.toString());
    const fields = await this.#relativesFor("shrink", options).shrink(this.#timed(options));
    return new DeviceGroup(new Parts(fields));
  }

  /**
   * Ends the group once the GPUs are done with the work queued on it; does not wait. A second call does
   * nothing.
   */
  dispose(): void {
    if (this.disposed) return;
    requireNoCapture("dispose a group");
    this.#record.release();
  }

  /**
   * Waits until the work queued on the group is done and ends it, for `await using`. Work that fails, or
   * takes longer than the group's time, is reported on the console.
   */
  override async [Symbol.asyncDispose](): Promise<void> {
    if (this.disposed) return await this.#communicators.over?.();
    const streams = this.#communicators.streams.filter(({ disposed }) => !disposed);
    if (this.failure === undefined) {
      const work = this.#workOn(streams, "dispose", {});
      await work.catch((error) => warn(messageOf(error)));
    }
    this.dispose();
    await this.#communicators.over?.();
  }

  /** Returns the group's name for messages: `DeviceGroup(#7, 2 devices)`. */
  override toString(): string {
    if (this.#communicators.isSpread) {
      return `DeviceGroup(${this.name}, rank ${this.rank} of ${this.size})`;
    }
    return `DeviceGroup(${this.name}, ${formatCount(this.size, "device")})`;
  }

  /** Returns the text that the console shows. */
  [Symbol.for("Deno.customInspect")](): string {
    if (this.disposed) return `${this} disposed`;
    return `${this} ` +
      `${this.failure === undefined ? `NCCL ${this.ncclVersion}` : "ended by a failure"}`;
  }

  #timed<O extends GroupOptions>(options: O): Timed<O> {
    return { ...options, timeoutSeconds: options.timeoutSeconds ?? this.#timeoutSeconds };
  }

  #relativesFor(call: string, { timeoutSeconds }: GroupOptions): Relatives {
    if (timeoutSeconds !== undefined) checkTimeout(timeoutSeconds, call);
    requireNoCapture(`call ${call}()`);
    if (this.#relatives !== undefined) return this.#relatives;
    throw new TypeError(
      `Cannot call ${call}() on ${this}: all its ranks are in this process; make another group, as ` +
        `CudaDevice.openMany([...]) and group() do`,
    );
  }

  /** Waits for the other processes by a reduction of one element, which all of them must call. */
  #meet(streams: readonly CudaStream[], options: CollectiveOptions): GroupWork {
    const [context] = this.#communicators.contexts;
    const [stream] = streams;
    if (context === undefined || stream === undefined) return this.#workOn([], "barrier", options);
    const resource = defaultDeviceResource({ context });
    const label = "barrier";
    using word = allocateDeviceBuffer({ dtype: "uint8", shape: 1, resource, stream, label });
    word.clear({ stream });
    this.#communicators.arrive?.();
    const plan = (ranks: Ranks, buffers: RankBuffers) => plans.allReduce(ranks, buffers, {});
    return this.#queue(plan, { call: "barrier", buffers: word, options });
  }

  /** Queues a send or a receive, which needs a batch with its other side, unless that is elsewhere. */
  #exchange(call: "send" | "recv", buffer: GpuBuffer, peer: number): GroupWork {
    if (this.#batch === undefined && !this.disposed && !this.#isElsewhere(peer)) {
      throw new TypeError(
        `Cannot call ${call}() outside a batch: it waits for its other side; use group.batch(() => { ` +
          `group.send(...); group.recv(...) })`,
      );
    }
    const plan = (ranks: Ranks) => plans.exchange(ranks, buffer, { call, peer });
    return this.#queue(plan, { call, buffers: buffer, options: {} });
  }

  /** Checks a call and queues it, or adds it to the batch that is being collected. */
  #queue<B, O extends CollectiveOptions>(
    plan: (ranks: Ranks, buffers: B, options: O) => RankCall[],
    { call, buffers, options: given }: PlannedCall<B, O>,
  ): GroupWork {
    const kinds: OptionSet<object> = CALL_OPTIONS[call];
    const options = kinds.read(given, call);
    this.#requireUsable(call);
    requireNoCapture(`call ${call}()`);
    const batch = this.#batch;
    if (batch === undefined) {
      const streams = this.#streamsOf(options, call);
      const work = this.#workOn(streams, call, options);
      this.#start(plan(this.#communicators, buffers, options), streams);
      return work;
    }
    const { streams, timeoutSeconds, signal } = options;
    if (streams !== undefined || timeoutSeconds !== undefined || signal !== undefined) {
      throw new TypeError(
        `Cannot call ${call}() in a batch with streams, a time or a signal: pass them to batch()`,
      );
    }
    for (const call of plan(this.#communicators, buffers, options)) {
      for (const { allocation } of call.uses) batch.kept.use(allocation.hold());
      batch.calls.push(call);
    }
    return batch.work;
  }

  /** Queues calls at once, or when what they must come after is over. */
  #start(calls: readonly RankCall[], streams: readonly CudaStream[]): void {
    if (calls.length === 0) return;
    const { isSpread, firstRank } = this.#communicators;
    const uses = streams.map((_, at) =>
      calls.flatMap((call): readonly MemoryUse[] => call.rank === firstRank + at ? call.uses : [])
    );
    const earlier: PendingWork[] = streams.flatMap((stream, rank) =>
      pendingBefore(stream, uses[rank] ?? [])
    );
    if (this.#lastQueued?.isOver === false) earlier.push(this.#lastQueued);
    if (isSpread) return this.#startBeside(calls, { streams, uses: uses.flat(), earlier });
    if (earlier.length === 0) return void this.#launch(calls, streams);
    for (const { allocation, access } of uses.flat()) allocation.checkUse(access);
    const hold = this.#record.hold();
    const launch = () => void this.#launch(calls, streams);
    let work: PendingWork | undefined;
    for (const [rank, stream] of streams.entries()) {
      // The first rank makes the calls of all ranks; later work of the others comes after that.
      const queue = queueOf(stream);
      if (work !== undefined) queue.postpone(() => {}, [work]);
      else work = queue.postpone(launch, earlier, (failure) => noteFailure(failure, uses.flat()));
      if (!work.isOver) keepFor(work, stream, uses[rank] ?? []);
    }
    work?.whenOver(() => hold[Symbol.dispose]());
  }

  /** Queues calls of this process's only rank: NCCL may go on queueing after its call returns. */
  #startBeside(
    calls: readonly RankCall[],
    { streams: [stream], uses, earlier }: {
      readonly streams: readonly CudaStream[];
      readonly uses: readonly MemoryUse[];
      readonly earlier: readonly PendingWork[];
    },
  ): void {
    if (stream === undefined) return;
    let progress: CallInProgress | undefined;
    if (earlier.length === 0) {
      progress = this.#launchBeside(calls, stream);
      if (progress === undefined) return;
    } else for (const { allocation, access } of uses) allocation.checkUse(access);
    const call = () => progress ?? this.#launchBeside(calls, stream);
    const queued = new QueuedCall(call, earlier);
    const hold = this.#record.hold();
    this.#lastQueued = queued;
    const queue = () => queued.throwFailure();
    const work = postponeFor(stream, uses, { queue, earlier: [queued] });
    work.whenOver(() => hold[Symbol.dispose]());
  }

  /** Makes calls whose stream belongs to NCCL until it has queued them. */
  #launchBeside(calls: readonly RankCall[], stream: CudaStream): CallInProgress | undefined {
    using stack = new DisposableStack();
    stack.use(queueOf(stream).lend());
    const progress = this.#launch(calls, [stream]);
    if (progress === undefined) return undefined;
    const loan = stack.move();
    return {
      isOver: () => {
        const isOver = progress.isOver();
        if (isOver) loan.dispose();
        return isOver;
      },
    };
  }

  #launch(calls: readonly RankCall[], streams: readonly CudaStream[]): CallInProgress | undefined {
    const { failure, firstRank, nccl: { api } } = this.#communicators;
    if (failure !== undefined) throw endedError(calls[0]?.call ?? "batch", `${this}`, failure);
    const handles = streams.map((stream, at) => {
      for (const { rank: user, uses } of calls) {
        if (user !== firstRank + at) continue;
        for (const { allocation, access } of uses) allocation.order(stream, access);
      }
      return queueOf(stream).handle;
    });
    return this.#communicators.call(streams, (communicators) => {
      for (const { rank, call, make } of calls) {
        const communicator = communicators[rank - firstRank] ?? 0n;
        const status = make(api, communicator, handles[rank - firstRank] ?? 0n);
        if (isFailure(status)) return { status, call, communicator };
      }
      return undefined;
    });
  }

  #workOn(streams: readonly CudaStream[], call: string, options: CollectiveOptions): GroupWork {
    const { timeoutSeconds = this.#timeoutSeconds, signal } = options;
    checkTimeout(timeoutSeconds, call);
    signal?.throwIfAborted();
    const communicators = this.#communicators;
    const fields = { call, group: `${this}`, communicators, streams, timeoutSeconds, signal };
    return new GroupWork(new Parts(fields));
  }

  #streamsOf({ streams }: CollectiveOptions, call: string): readonly CudaStream[] {
    const { contexts } = this.#communicators;
    if (streams === undefined) return contexts.map(defaultStreamOf);
    if (streams.length !== contexts.length) {
      throw new RangeError(
        `Cannot call ${call}() with ${formatCount(streams.length, "stream")}: pass one for each ` +
          `of ${formatCount(contexts.length, "device")}, in their order`,
      );
    }
    return contexts.map((context, rank) => {
      const stream = streams[rank];
      return streamOn(context, { stream }, `rank ${this.rank + rank}`);
    });
  }

  #requireUsable(call: string): void {
    if (this.disposed) throw new DisposedError(this.toString());
    const { failure } = this.#communicators;
    if (failure !== undefined) throw endedError(call, `${this}`, failure);
  }

  #isElsewhere(rank: number | undefined): boolean {
    return this.#communicators.isSpread && rank !== this.rank;
  }
}

comesFrom(DeviceGroup, "gpus.group() and joinGroup()");

/** Makes reports show the memory that NCCL holds, until the returned function is called. */
function noteLibraryMemory(
  communicators: RankCommunicators,
  { label, startBytes }: {
    readonly label: string | undefined;
    readonly startBytes: readonly number[];
  },
): () => void {
  const name = label === undefined ? "NCCL" : `NCCL for ${visibleText(label)}`;
  const entries = communicators.contexts.map(({ ledger }, rank) => {
    const bytes = Math.max(0, startBytes[rank] ?? 0);
    const entry = {
      name,
      get byteLength() {
        return communicators.failure === undefined ? bytes : 0;
      },
    };
    ledger.libraries.add(entry);
    return { ledger, entry };
  });
  return () => {
    for (const { ledger, entry } of entries) ledger.libraries.delete(entry);
  };
}

/** Starts a group with a rank on each device; blocks until all ranks have found each other. */
export function startGroup(
  contexts: readonly Context[],
  options: GroupOptions = {},
  gpus: readonly DeviceAllocator[] = [],
): DeviceGroup {
  options = GROUP_OPTIONS.read(options, "group");
  const { timeoutSeconds } = options;
  if (timeoutSeconds !== undefined) checkTimeout(timeoutSeconds, "group");
  requireNoCapture("start a group");
  const [context] = contexts;
  if (context === undefined) throw new RangeError("Cannot make a group of no devices");
  const nccl = Nccl.open(context.driver);
  const before = contexts.map((each) => each.freeBytes());
  const communicators = Communicators.start(nccl, contexts);
  try {
    const startBytes = contexts.map((each, rank) => (before[rank] ?? 0) - each.freeBytes());
    return new DeviceGroup(new Parts({ communicators, options, gpus, startBytes }));
  } catch (error) {
    communicators.end();
    throw error;
  }
}

/** Checks that each send of a batch has its receive: without it NCCL would wait for ever. */
function requirePaired(calls: readonly RankCall[]): void {
  const receives = calls.filter(({ call }) => call === "ncclRecv");
  for (const { call, rank, peer, elements } of calls) {
    if (call !== "ncclSend") continue;
    const at = receives.findIndex((other) => other.rank === peer && other.peer === rank);
    const [receive] = at < 0 ? [] : receives.splice(at, 1);
    if (receive === undefined) {
      throw new RangeError(
        `Cannot batch a send from rank ${rank} to rank ${peer}: rank ${peer} has no recv() from it`,
      );
    }
    if (receive.elements === elements) continue;
    throw new RangeError(
      `Cannot batch a send of ${elements} from rank ${rank} to rank ${peer}: rank ${peer} receives ` +
        `${receive.elements}`,
    );
  }
  const [left] = receives;
  if (left === undefined) return;
  throw new RangeError(
    `Cannot batch a receive on rank ${left.rank} from rank ${left.peer}: rank ${left.peer} has ` +
      `no send() to it`,
  );
}

/** Checks the value of a time limit. */
export function checkTimeout(timeoutSeconds: number, call: string): void {
  if (timeoutSeconds > 0) return;
  throw new RangeError(
    `Cannot call ${call}() with a timeout of ${timeoutSeconds} seconds: expected more than 0`,
  );
}
