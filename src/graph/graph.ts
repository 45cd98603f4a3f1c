// A graph: work that is recorded once and launched as a whole, with the memory that it allocates.
// It keeps all memory that it uses, so that no launch touches memory that was freed.

import { CUgraphInstantiate_flags } from "../../ffi/constants.ts";
import { nameOf } from "../accounting/ledger.ts";
import type { Context } from "../driver/context.ts";
import { take64 } from "../driver/driver.ts";
import type { GraphBlock, GraphMemoryUse, NamedMemory } from "../memory/captured_memory.ts";
import { takeWithinLimits } from "../memory/out_of_memory.ts";
import { cannotRecord, isCaptured, requireNoCapture } from "../order/capture.ts";
import { HandleRecord } from "../order/handle_record.ts";
import { finishNow, type PendingWork } from "../order/pending_work.ts";
import { type CudaStream, queueOf } from "../order/stream.ts";
import { STREAM, STREAM_CHOICE, type StreamChoice } from "../order/stream_choice.ts";
import { CudaError, DisposedError } from "../words/errors.ts";
import { formatBytes, formatCount } from "../words/format.ts";
import { CALLBACK, OptionSet, requireKind, TEXT } from "../words/options.ts";
import { Owned } from "../words/owned.ts";
import { comesFrom, Parts, partsOf } from "../words/parts.ts";
import { GraphMemory } from "./graph_memory.ts";
import { Recording, requireMemory } from "./recording.ts";
import { updateGraph } from "./update_graph.ts";

/** Options for {@link CudaDevice.capture}. */
export interface CaptureOptions {
  /** Stream whose work is recorded; the device's default stream by default. */
  readonly stream?: CudaStream | undefined;
  /** Name shown in tables and errors. */
  readonly label?: string | undefined;
}

/** Checks the options above. */
export const CAPTURE_OPTIONS: OptionSet<CaptureOptions> = new OptionSet({
  stream: STREAM,
  label: TEXT,
});

/**
 * Checks that memory is as large as it was at the recording: a graph does not know which parts it uses.
 *
 * @throws RangeError when a growable buffer has shrunk.
 */
function requireSizes(named: readonly NamedMemory[], action: string): void {
  for (const { block, byteLength } of named) {
    if (block.byteLength >= byteLength) continue;
    const [now, then] = [formatBytes(block.byteLength), formatBytes(byteLength)];
    throw new RangeError(
      `Cannot ${action}: ${nameOf(block)} has shrunk to ${now}, and had ${then} when it was ` +
        "recorded; resize() or reserve() it first",
    );
  }
}

/** A graph knows which blocks it uses, but not which parts of them. */
const EVERYWHERE = { address: 0n, byteLength: Number.MAX_SAFE_INTEGER } as const;

/** State by which a graph's owner record releases its memory; it never refers to the graph. */
interface GraphState {
  memory: GraphMemoryUse;
  lastStream: CudaStream;
  /** The number of the last trim of graph memory before the last launch; undefined before the first. */
  trimCount?: number;
  launchCount: number;
}

interface GraphFields {
  readonly stream: CudaStream;
  readonly handle: bigint;
  readonly nodeCount: number;
  readonly memory: GraphMemoryUse;
  readonly label: string | undefined;
}

/**
 * A graph: recorded copies, fills, kernels and allocations that one call queues.
 * {@link CudaDevice.capture} records one. Use it for a sequence of small steps that runs many times,
 * because a launch costs about as much as one call. The graph keeps the memory that it uses until it is
 * disposed.
 *
 * @example Record once, launch twice
 * ```ts
 * import { CudaDevice } from "vramkit";
 *
 * using gpu = CudaDevice.open(0, { driver: "auto" });
 * using total = gpu.zeros("float32", 4);
 * using step = gpu.pinned("float32", 4);
 * using graph = gpu.capture(() => total.copyFrom(step), { label: "step" });
 * for (const value of [1, 2]) {
 *   step.array.fill(value);
 *   graph.launch();
 *   await gpu.synchronize();
 * }
 * console.log(graph.launchCount, await total.download()); // 2 Float32Array(4) [2, 2, 2, 2]
 * ```
 */
export class CudaGraph extends Owned {
  /** Context that it belongs to. */
  readonly context: Context;
  /** Number of steps: copies, fills, kernels, allocations and frees. */
  readonly nodeCount: number;
  readonly #stream: CudaStream;
  readonly #state: GraphState;
  readonly #record: HandleRecord;
  /** Launches that wait for calls under way. */
  readonly #comingLaunches = new Set<PendingWork>();

  /** @ignore Adopts a graph of the driver. */
  constructor(parts: Parts<GraphFields>) {
    super();
    const { stream, handle, nodeCount, memory, label } = partsOf(parts, new.target);
    const { context } = stream;
    this.context = context;
    this.nodeCount = nodeCount;
    this.#stream = stream;
    const state: GraphState = { memory, lastStream: stream, launchCount: 0 };
    this.#state = state;
    const graphMemories = Map.groupBy(memory.made, (block) => GraphMemory.of(block.context));
    for (const graphMemory of graphMemories.keys()) graphMemory.graphCount++;
    const destroy = (handle: bigint) => {
      try {
        context.giveBack("cuGraphExecDestroy", handle);
      } finally {
        for (const output of memory.outputs) output.giveUp();
        state.memory.holds.dispose();
        for (const [graphMemory, blocks] of graphMemories) {
          graphMemory.graphCount--;
          graphMemory.trimAfter(state.lastStream, sizeOf(blocks));
        }
      }
    };
    this.#record = new HandleRecord(this, { context, kind: "graph", handle, label, destroy });
  }

  /** The graph's label, or its number. */
  get name(): string {
    return this.#record.name;
  }

  /** Tells whether the graph was disposed. */
  get disposed(): boolean {
    return this.#record.released;
  }

  /** Number of launches so far. */
  get launchCount(): number {
    return this.#state.launchCount;
  }

  /**
   * Queues all work of the graph and does not wait (cuGraphLaunch): on the captured stream, or on
   * the stream of `options`. The launch comes after the work of other streams on the same memory,
   * and after transfers of that memory called before. Memory that the graph allocates is new at
   * every launch; its former contents are lost.
   *
   * @throws DisposedError when the graph or the stream was disposed.
   * @throws TypeError when the stream belongs to another device, or while a capture runs.
   * @throws RangeError when a growable buffer is smaller now than it was when the work was recorded.
   * @throws OutOfMemoryError with all amounts when the device has too little memory for the graph's
   *   allocations.
   */
  launch(options: StreamChoice = {}): void {
    const { stream = this.#stream } = STREAM_CHOICE.read(options, "launch");
    if (this.disposed) throw new DisposedError(this.toString());
    if (stream.disposed) throw new DisposedError(stream.toString());
    this.#checkContext(stream);
    if (isCaptured(stream)) throw cannotRecord(stream, "launch a graph");
    requireNoCapture("launch a graph");
    const earlier = this.#pendingBefore(stream);
    if (earlier.length === 0) {
      this.#launchNow(stream);
      this.#state.launchCount++;
      return;
    }
    this.#state.launchCount++;
    const hold = this.#record.hold();
    const { uses } = this.#state.memory;
    const work = queueOf(stream).postpone(() => this.#launchNow(stream), earlier, (failure) => {
      for (const { usage, access } of uses) usage.noteFailure(failure, access);
    });
    for (const { usage, access } of uses) usage.addPending(work, stream, { ...EVERYWHERE, access });
    this.#comingLaunches.add(work);
    work.whenOver(() => {
      this.#comingLaunches.delete(work);
      for (const { usage } of uses) usage.endPending(work);
      hold[Symbol.dispose]();
    });
  }

  /**
   * Records work anew and gives the graph its parameters: other buffers, sizes and values, and other
   * arguments, grids and blocks of kernels (cuGraphExecUpdate). That is cheaper than making another
   * graph. Later launches do the new work, earlier ones the former; if an earlier launch still waits
   * for a transfer, this blocks until it is queued. The graph keeps the memory that it uses now, and
   * no longer the memory that it used before.
   *
   * The steps must be the same kinds in the same order, on the same streams as before. Copies and fills
   * must be of contiguous bytes, not of rows; a step that used memory of a pool, as buffers do by
   * default, must use such memory again. None may allocate.
   *
   * @param body Queues the work on the stream passed to it, the one that was captured.
   * @throws TypeError that names the step that does not fit, and as {@link CudaDevice.capture} does;
   *   the graph stays as it was.
   * @throws DisposedError when the graph or its stream was disposed.
   * @throws CudaUnavailableError on drivers before CUDA 12.0.
   *
   * @example
   * ```ts
   * import { CudaDevice } from "vramkit";
   *
   * using gpu = CudaDevice.open(0, { driver: "auto" });
   * using x = gpu.zeros("float32", 4);
   * using graph = gpu.capture(() => x.fill(1));
   * graph.launch();
   * graph.update(() => x.subarray(2).fill(2));
   * graph.launch();
   * console.log(await x.download()); // Float32Array(4) [1, 1, 2, 2]
   * ```
   */
  update<T>(body: (stream: CudaStream) => T extends PromiseLike<unknown> ? never : T): this {
    requireKind(body, CALLBACK, "update");
    if (this.disposed) throw new DisposedError(this.toString());
    requireNoCapture("update a graph");
    finishNow(this.#comingLaunches, `update ${this}`);
    using recorded = new Recording(this.#stream, body);
    if (this.disposed) throw new DisposedError(this.toString());
    const state = this.#state;
    if (state.memory.made.length > 0 || recorded.memory.made.length > 0) {
      throw new TypeError(
        `Cannot update ${this}: ${state.memory.made.length > 0 ? "it" : "the recorded work"} ` +
          `allocates memory; allocate before the capture`,
      );
    }
    const { context, nodeCount } = this;
    requireMemory(context, recorded.memory.named, `update ${this}`);
    const { handle } = this.#record;
    try {
      updateGraph({ context, handle, nodeCount, toString: () => `${this}` }, recorded);
    } catch (error) {
      // Only a refusal means that the driver has changed nothing; otherwise the graph keeps both.
      if (error instanceof CudaError) state.memory.holds.use(recorded.take().holds);
      throw error;
    }
    const former = state.memory.holds;
    state.memory = recorded.take();
    former.dispose();
    return this;
  }

  /**
   * Destroys the graph and releases the memory that only it kept. Launched work still runs. A
   * second call does nothing.
   */
  dispose(): void {
    this.#record.release();
  }

  /** Returns the graph's name for messages: `CudaGraph(step)`. */
  override toString(): string {
    return `CudaGraph(${this.name})`;
  }

  /** Returns the text that the console shows. */
  [Symbol.for("Deno.customInspect")](): string {
    return `${this} ${this.disposed ? "disposed" : formatCount(this.nodeCount, "node")}`;
  }

  /** Returns the pending calls that a launch on a stream must come after. */
  #pendingBefore(stream: CudaStream): PendingWork[] {
    const { lastPostponed } = queueOf(stream);
    const earlier = lastPostponed === undefined ? [] : [lastPostponed];
    for (const { usage, access } of this.#state.memory.uses) {
      if (!usage.hasPending) continue;
      earlier.push(...usage.pendingBefore(stream, { ...EVERYWHERE, access }));
    }
    return earlier;
  }

  #launchNow(stream: CudaStream): void {
    const { context } = this;
    const { uses, made, outputs, named, borrowed } = this.#state.memory;
    requireMemory(context, borrowed, `launch ${this}`);
    requireSizes(named, `launch ${this}`);
    for (const { usage, access } of uses) usage.order(stream, access);
    if (made.length === 0) this.#queue(stream);
    else {
      const coming = made.filter((block) => block.context === context && !block.isThere);
      const need = { context, kind: "device", byteLength: sizeOf(coming) } as const;
      takeWithinLimits(need, () => this.#queueAllocating(stream));
      queueOf(stream).noteFreed(sizeOf(made)); // the launch frees what it allocates, or the next one does
    }
    this.#state.lastStream = stream;
    for (const output of outputs) output.arrive();
    this.#noteCopies(stream);
  }

  /** Launches a graph that allocates, once it is known to have room. */
  #queueAllocating(stream: CudaStream): void {
    const { context } = this;
    const state = this.#state;
    const graphMemory = GraphMemory.of(context);
    const isThere = state.trimCount === graphMemory.trimCount && state.lastStream === stream &&
      graphMemory.graphCount === 1;
    if (!isThere) {
      const own = state.memory.made.filter((block) => block.context === context);
      graphMemory.requireRoom(own.map(({ requestedBytes }) => requestedBytes));
    }
    this.#queue(stream);
    state.trimCount = graphMemory.trimCount;
  }

  #queue(stream: CudaStream): void {
    const { context } = this;
    const { handle } = this.#record;
    const queue = queueOf(stream).handle;
    context.settle(context.driver.api.cuGraphLaunch(handle, queue), "cuGraphLaunch", handle, queue);
  }

  #noteCopies({ key: streamHandle }: CudaStream): void {
    const { ledger } = this.context;
    const { copies, copiedBytes } = this.#state.memory;
    this.context.copiedBytes += copiedBytes;
    if (!ledger.timeline.isOn) return;
    for (const { byteLength, ends } of copies) {
      ledger.noteCopy(byteLength, { ...ends, streamHandle });
    }
  }

  #checkContext({ context, name }: CudaStream): void {
    if (context === this.context) return;
    throw new TypeError(
      `Cannot launch ${this} of device ${this.context.ordinal} on CudaStream(${name}) of device ` +
        `${context.ordinal}: use a stream of the same device`,
    );
  }
}

comesFrom(CudaGraph, "gpu.capture()");

/**
 * Records the work that `body` queues on `stream`, without running it (cuStreamBeginCapture).
 *
 * @throws TypeError when `body` returns a promise or makes a call that cannot be recorded, or
 *   when another capture is running.
 */
export function captureGraph(
  stream: CudaStream,
  { body, label }: Pick<CaptureOptions, "label"> & { body: (stream: CudaStream) => unknown },
): CudaGraph {
  requireKind(body, CALLBACK, "capture");
  const { context } = stream;
  using recorded = new Recording(stream, body);
  requireMemory(context, recorded.memory.named, "make a graph");
  const { nodeCount } = recorded;
  // Each launch frees what the one before left allocated.
  const { CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH: flag } = CUgraphInstantiate_flags;
  const handle = take64(context, "cuGraphInstantiateWithFlags", recorded.handle, BigInt(flag));
  return new CudaGraph(new Parts({ stream, handle, nodeCount, memory: recorded.take(), label }));
}

function sizeOf(blocks: readonly GraphBlock[]): number {
  return blocks.reduce((sum, { requestedBytes }) => sum + requestedBytes, 0);
}
