// A group of devices whose buffers are used together: one rank for each device, in one process, over
// NCCL. Calls are queued on the ranks' streams, in the order of the memory that they use.

import type { DeviceAllocator } from "../buffers/device_allocator.ts";
import type { GpuBuffer } from "../buffers/gpu_buffer.ts";
import type { Context } from "../driver/context.ts";
import type { DType } from "../dtype.ts";
import type { SafetensorsSource } from "../interop/safetensors/shards.ts";
import { keepFor, type MemoryUse, pendingBefore } from "../memory/in_order.ts";
import { requireNoCapture } from "../order/capture.ts";
import { HandleRecord } from "../order/handle_record.ts";
import type { PendingWork } from "../order/pending_work.ts";
import { type CudaStream, defaultStreamOf, queueOf } from "../order/stream.ts";
import { streamOn } from "../order/stream_choice.ts";
import { loadSharded, type LoadShardedOptions } from "../spread/load_sharded.ts";
import type { ShardedModel } from "../spread/sharded_model.ts";
import { DisposedError } from "../words/errors.ts";
import { formatCount, messageOf, visibleText } from "../words/format.ts";
import { CALLBACK, requireKind } from "../words/options.ts";
import { Parts, partsOf } from "../words/parts.ts";
import {
  allGather,
  allReduce,
  allToAll,
  broadcast,
  exchange,
  gather,
  type RankCall,
  reduce,
  reduceScatter,
  requireApart,
  scatter,
} from "./collectives.ts";
import { Communicators, isFailure } from "./communicators.ts";
import {
  BROADCAST_OPTIONS,
  type BroadcastOptions,
  COLLECTIVE_OPTIONS,
  type CollectiveOptions,
  GATHER_OPTIONS,
  type GatherAllOptions,
  type GatherOptions,
  GROUP_OPTIONS,
  type GroupOptions,
  INTO_ALL_OPTIONS,
  type IntoAllOptions,
  RECEIVE_OPTIONS,
  type ReceiveOptions,
  REDUCE_ALL_OPTIONS,
  REDUCE_OPTIONS,
  type ReduceAllOptions,
  type ReduceOptions,
  SEND_OPTIONS,
  type SendOptions,
} from "./group_options.ts";
import { endedError, GroupWork } from "./group_work.ts";
import { Nccl } from "./nccl.ts";

const DEFAULT_TIMEOUT_SECONDS = 600;

/** The parts of a group. */
interface GroupFields {
  readonly communicators: Communicators;
  readonly options: GroupOptions;
  /** The ranks' devices, which allocate memory; none where the group was made of contexts. */
  readonly gpus?: readonly DeviceAllocator[];
  /** Bytes by which the free memory of each device shrank when NCCL started. */
  readonly startBytes?: readonly number[];
}

/**
 * Devices whose buffers are used together: each device is a rank, by its place in the list that the
 * group was made from. Calls take one buffer for each rank, are queued on the ranks' streams after the
 * work on that memory that was called before, and return at once; `await` waits until they are done.
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
export class DeviceGroup implements Disposable, AsyncDisposable {
  readonly #communicators: Communicators;
  readonly #gpus: readonly DeviceAllocator[];
  readonly #record: HandleRecord;
  readonly #timeoutSeconds: number;
  /** The batch that is being collected, and what its calls return. */
  #batch: { readonly calls: RankCall[]; readonly work: GroupWork } | undefined;

  /**
   * Adopts communicators.
   *
   * @ignore
   */
  constructor(parts: Parts<GroupFields>) {
    const { communicators, options, gpus = [], startBytes = [] } = partsOf(parts, new.target);
    const { label, timeoutSeconds = DEFAULT_TIMEOUT_SECONDS } = options;
    this.#communicators = communicators;
    this.#gpus = gpus;
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

  /** Number of ranks. */
  get size(): number {
    return this.#communicators.contexts.length;
  }

  /** The number of each rank's device. */
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

  /** Whether it was disposed. */
  get disposed(): boolean {
    return this.#record.released;
  }

  /** The failure that has ended the group; undefined while it works. */
  get failure(): Error | undefined {
    return this.#communicators.failure;
  }

  /**
   * Joins the elements of all ranks, one by one, and gives each rank the result (ncclAllReduce).
   *
   * @throws TypeError when element types or devices do not fit.
   * @throws RangeError when lengths or shapes do not fit.
   */
  allReduce<D extends DType>(
    buffers: readonly GpuBuffer<D>[],
    options: ReduceAllOptions<D> = {},
  ): GroupWork {
    const { op, into } = REDUCE_ALL_OPTIONS.read(options, "allReduce");
    return this.#queue("allReduce", options, () => allReduce(this.#ranks, buffers, { op, into }));
  }

  /** Joins the elements of all ranks, one by one, into the buffer of one of them (ncclReduce). */
  reduce<D extends DType>(
    buffers: readonly GpuBuffer<D>[],
    options: ReduceOptions<D> = {},
  ): GroupWork {
    const { op, root, into } = REDUCE_OPTIONS.read(options, "reduce");
    return this.#queue("reduce", options, () => reduce(this.#ranks, buffers, { op, root, into }));
  }

  /** Copies one rank's elements into the buffers of all others (ncclBroadcast). */
  broadcast<D extends DType>(
    buffers: readonly GpuBuffer<D>[],
    options?: BroadcastOptions,
  ): GroupWork;
  /** Copies a buffer of one of the ranks into a buffer of each. */
  broadcast<D extends DType>(source: GpuBuffer<D>, options: IntoAllOptions<D>): GroupWork;
  broadcast<D extends DType>(
    source: GpuBuffer<D> | readonly GpuBuffer<D>[],
    options: BroadcastOptions & Partial<IntoAllOptions<D>> = {},
  ): GroupWork {
    const { root, into } = BROADCAST_OPTIONS.read(options, "broadcast");
    return this.#queue("broadcast", options, () => broadcast(this.#ranks, source, { root, into }));
  }

  /**
   * Puts the elements of all ranks side by side and gives each rank all of them (ncclAllGather). In
   * place, each buffer has room for all, and its rank's part holds that rank's elements.
   */
  allGather<D extends DType>(
    buffers: readonly GpuBuffer<D>[],
    options: GatherAllOptions<D> = {},
  ): GroupWork {
    const { into } = INTO_ALL_OPTIONS.read(options, "allGather");
    return this.#queue("allGather", options, () => allGather(this.#ranks, buffers, { into }));
  }

  /**
   * Joins the elements of all ranks, one by one, and gives each rank its part of the result
   * (ncclReduceScatter). In place, the result is in the rank's part of its buffer, and the rest of the
   * buffer holds nothing that is of use.
   */
  reduceScatter<D extends DType>(
    buffers: readonly GpuBuffer<D>[],
    options: ReduceAllOptions<D> = {},
  ): GroupWork {
    const { op, into } = REDUCE_ALL_OPTIONS.read(options, "reduceScatter");
    return this.#queue(
      "reduceScatter",
      options,
      () => reduceScatter(this.#ranks, buffers, { op, into }),
    );
  }

  /**
   * Cuts each rank's elements into a part for each rank, and gives each rank the parts that are for it,
   * in the order of the senders (ncclAlltoAll).
   */
  allToAll<D extends DType>(
    buffers: readonly GpuBuffer<D>[],
    options: IntoAllOptions<D>,
  ): GroupWork {
    const { into } = INTO_ALL_OPTIONS.read(options, "allToAll");
    if (into === undefined) throw needsInto("allToAll", "a list with a buffer for each rank");
    return this.#queue("allToAll", options, () => allToAll(this.#ranks, buffers, { into }));
  }

  /** Puts the elements of all ranks side by side into one buffer, on any of them (ncclGather). */
  gather<D extends DType>(
    buffers: readonly GpuBuffer<D>[],
    options: GatherOptions<D>,
  ): GroupWork {
    const { into } = GATHER_OPTIONS.read(options, "gather");
    if (into === undefined) throw needsInto("gather", "a buffer with room for all");
    return this.#queue("gather", options, () => gather(this.#ranks, buffers, { into }));
  }

  /** Gives each rank its part of one buffer, on any of them (ncclScatter). */
  scatter<D extends DType>(source: GpuBuffer<D>, options: IntoAllOptions<D>): GroupWork {
    const { into } = INTO_ALL_OPTIONS.read(options, "scatter");
    if (into === undefined) throw needsInto("scatter", "a list with a buffer for each rank");
    return this.#queue("scatter", options, () => scatter(this.#ranks, source, { into }));
  }

  /**
   * Sends a buffer's elements from its rank to another, in a {@link DeviceGroup.batch} that has the
   * receive as well (ncclSend).
   */
  send(buffer: GpuBuffer, options: SendOptions): GroupWork {
    const { to } = SEND_OPTIONS.read(options, "send");
    if (to === undefined) throw new TypeError("Cannot call send(): pass { to }, the rank");
    this.#requireBatch("send");
    return this.#queue("send", {}, () => exchange(this.#ranks, buffer, { call: "send", peer: to }));
  }

  /**
   * Receives elements of another rank into a buffer, in a {@link DeviceGroup.batch} that has the send as
   * well (ncclRecv).
   */
  recv(buffer: GpuBuffer, options: ReceiveOptions): GroupWork {
    const { from } = RECEIVE_OPTIONS.read(options, "recv");
    if (from === undefined) throw new TypeError("Cannot call recv(): pass { from }, the rank");
    this.#requireBatch("recv");
    return this.#queue(
      "recv",
      {},
      () => exchange(this.#ranks, buffer, { call: "recv", peer: from }),
    );
  }

  /**
   * Queues all calls that `body` makes as one: small ones share their cost, and sends meet their
   * receives. They have no order among themselves.
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
    COLLECTIVE_OPTIONS.read(options, "batch");
    requireKind(body, CALLBACK, "batch");
    this.#requireUsable("batch");
    if (this.#batch !== undefined) {
      throw new TypeError("Cannot call batch() in a batch: make the calls in the one that runs");
    }
    const streams = this.#streamsOf(options, "batch");
    const batch = { calls: [] as RankCall[], work: this.#workOn(streams, "batch", options) };
    this.#batch = batch;
    let returned: unknown;
    try {
      returned = body();
    } finally {
      this.#batch = undefined;
    }
    if (returned !== batch.work && isPromiseLike(returned)) {
      returned.then(undefined, () => {}); // its failure is told by the error below
      throw new TypeError(
        "Cannot call batch() with a function that returns a promise: make all calls before it returns",
      );
    }
    requireApart(batch.calls);
    requirePaired(batch.calls);
    this.#start(batch.calls, streams);
    return batch.work;
  }

  /**
   * Makes the later work of every rank's stream wait for all that was called before on the streams of
   * all ranks; `await` waits for that as well.
   */
  barrier(options: CollectiveOptions = {}): GroupWork {
    COLLECTIVE_OPTIONS.read(options, "barrier");
    this.#requireUsable("barrier");
    if (this.#batch !== undefined) {
      throw new TypeError("Cannot call barrier() in a batch: call it before or after");
    }
    requireNoCapture("call barrier()");
    const streams = this.#streamsOf(options, "barrier");
    for (const stream of streams) for (const other of streams) stream.wait(other);
    return this.#workOn(streams, "barrier", options);
  }

  /**
   * Loads a model onto the ranks' devices; see {@link DeviceList.loadSafetensors}. The buffers of its
   * tensors are in the order of the ranks.
   */
  async loadSafetensors(
    source: SafetensorsSource,
    options: LoadShardedOptions = {},
  ): Promise<ShardedModel> {
    this.#requireUsable("loadSafetensors");
    if (this.#gpus.length === 0) {
      throw new TypeError(
        "Cannot load a model onto a group that has no devices of its own: load it onto each device",
      );
    }
    return await loadSharded(source, this.#gpus, options);
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

  /** Same as {@link DeviceGroup.dispose}, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  /**
   * Waits until the work queued on the group is done and ends it, for `await using`. Work that fails, or
   * takes longer than the group's time, is reported on the console.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.disposed) return;
    const streams = this.#communicators.streams.filter(({ disposed }) => !disposed);
    if (this.failure === undefined) {
      const work = this.#workOn(streams, "dispose", {});
      await work.catch((error) => console.warn(`vramkit: ${messageOf(error)}`));
    }
    this.dispose();
  }

  /** Returns the group's name for messages: `DeviceGroup(#7, 2 devices)`. */
  toString(): string {
    return `DeviceGroup(${this.name}, ${formatCount(this.size, "device")})`;
  }

  /** Returns the text that the console shows. */
  [Symbol.for("Deno.customInspect")](): string {
    if (this.disposed) return `${this} disposed`;
    return `${this} ${
      this.failure === undefined ? `NCCL ${this.ncclVersion}` : "ended by a failure"
    }`;
  }

  get #ranks(): Communicators {
    return this.#communicators;
  }

  /** Checks a call and queues it, or adds it to the batch that is being collected. */
  #queue(call: string, options: CollectiveOptions, plan: () => RankCall[]): GroupWork {
    this.#requireUsable(call);
    requireNoCapture(`call ${call}()`);
    const batch = this.#batch;
    if (batch === undefined) {
      const streams = this.#streamsOf(options, call);
      const work = this.#workOn(streams, call, options);
      this.#start(plan(), streams);
      return work;
    }
    const { streams, timeoutSeconds, signal } = options;
    if (streams !== undefined || timeoutSeconds !== undefined || signal !== undefined) {
      throw new TypeError(
        `Cannot call ${call}() in a batch with streams, a time or a signal: pass them to batch()`,
      );
    }
    batch.calls.push(...plan());
    return batch.work;
  }

  /** Queues calls at once where nothing that they come after is under way, else when that is over. */
  #start(calls: readonly RankCall[], streams: readonly CudaStream[]): void {
    if (calls.length === 0) return;
    const uses = streams.map((_, rank) =>
      calls.flatMap((call): readonly MemoryUse[] => call.rank === rank ? call.uses : [])
    );
    const earlier = streams.flatMap((stream, rank) => pendingBefore(stream, uses[rank] ?? []));
    if (earlier.length === 0) return this.#launch(calls, streams);
    for (const { allocation, access } of uses.flat()) allocation.checkUse(access);
    const hold = this.#record.hold();
    let work: PendingWork | undefined;
    for (const [rank, stream] of streams.entries()) {
      // The first rank makes the calls of all; the others' later work comes after that.
      work = work === undefined
        ? queueOf(stream).postpone(() => this.#launch(calls, streams), earlier)
        : (queueOf(stream).postpone(() => {}, [work]), work);
      if (!work.isOver) keepFor(work, stream, uses[rank] ?? []);
    }
    work?.whenOver(() => hold[Symbol.dispose]());
  }

  #launch(calls: readonly RankCall[], streams: readonly CudaStream[]): void {
    const { failure, nccl: { api } } = this.#communicators;
    if (failure !== undefined) throw endedError(calls[0]?.call ?? "batch", `${this}`, failure);
    const handles = streams.map((stream, rank) => {
      for (const { rank: user, uses } of calls) {
        if (user !== rank) continue;
        for (const { allocation, access } of uses) allocation.order(stream, access);
      }
      return queueOf(stream).handle;
    });
    this.#communicators.call(streams, (communicators) => {
      for (const { rank, call, make } of calls) {
        const communicator = communicators[rank] ?? 0n;
        const status = make(api, communicator, handles[rank] ?? 0n);
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
        `Cannot call ${call}() with ${
          formatCount(streams.length, "stream")
        }: pass one for each of ` +
          `${formatCount(contexts.length, "device")}, in their order`,
      );
    }
    return contexts.map((context, rank) => {
      const stream = streams[rank];
      return streamOn(context, { stream }, `rank ${rank}`);
    });
  }

  #requireUsable(call: string): void {
    if (this.disposed) throw new DisposedError(this.toString());
    const { failure } = this.#communicators;
    if (failure !== undefined) throw endedError(call, `${this}`, failure);
  }

  #requireBatch(call: string): void {
    if (this.#batch !== undefined || this.disposed) return;
    throw new TypeError(
      `Cannot call ${call}() outside a batch: it waits for its other side; use group.batch(() => { ` +
        `group.send(...); group.recv(...) })`,
    );
  }
}

/** Lets the reports of all devices tell what NCCL holds there, until the returned function is called. */
function noteLibraryMemory(
  communicators: Communicators,
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
  GROUP_OPTIONS.read(options, "group");
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

/** Checks that each send of a batch has its receive: NCCL would wait for ever. */
function requirePaired(calls: readonly RankCall[]): void {
  const receives = calls.filter(({ call }) => call === "ncclRecv");
  for (const { call, rank, peer, elements } of calls) {
    if (call !== "ncclSend") continue;
    const at = receives.findIndex((other) => other.rank === peer && other.peer === rank);
    const [receive] = at < 0 ? [] : receives.splice(at, 1);
    if (receive === undefined) {
      throw new RangeError(
        `Cannot batch a send from rank ${rank} to rank ${peer}: that receives nothing from it`,
      );
    }
    if (receive.elements === elements) continue;
    throw new RangeError(
      `Cannot batch a send of ${elements} from rank ${rank} to rank ${peer}: that receives ` +
        `${receive.elements}`,
    );
  }
  const [left] = receives;
  if (left === undefined) return;
  throw new RangeError(
    `Cannot batch a receive on rank ${left.rank} from rank ${left.peer}: that sends nothing to it`,
  );
}

function checkTimeout(timeoutSeconds: number, call: string): void {
  if (timeoutSeconds > 0) return;
  throw new RangeError(
    `Cannot call ${call}() with a timeout of ${timeoutSeconds} seconds: expected more than 0`,
  );
}

function needsInto(call: string, expected: string): TypeError {
  return new TypeError(`Cannot call ${call}(): pass { into }, ${expected}`);
}

function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === "function";
}
