// Work that was recorded once and is launched as a whole, with the memory that it allocates.
// A graph keeps all memory that it uses, so that a launch never meets memory that is gone.

import { CUgraphInstantiate_flags, CUpointer_attribute, CUresult } from "../ffi/constants.ts";
import { nameOf } from "./accounting/ledger.ts";
import { cannotRecord, isCaptured, requireNoCapture } from "./capture.ts";
import type { Context } from "./context.ts";
import { read64, take64 } from "./driver.ts";
import { DisposedError } from "./errors.ts";
import { formatCount } from "./format.ts";
import { HandleRecord } from "./handle_record.ts";
import {
  CapturedMemory,
  type GraphBlock,
  type GraphMemoryUse,
  type GraphUse,
  type NamedMemory,
} from "./memory/captured_memory.ts";
import { GraphMemory } from "./memory/graph_memory.ts";
import { type MemoryNeed, takeWithinLimits } from "./memory/out_of_memory.ts";
import type { PendingWork } from "./pending_work.ts";
import { tryRelease } from "./release.ts";
import type { CudaStream } from "./stream.ts";
import { CALLBACK, OptionSet, requireKind, TEXT } from "./options.ts";
import { STREAM, STREAM_CHOICE, type StreamChoice } from "./stream_choice.ts";

/** How to record a graph. */
export interface CaptureOptions {
  /** The stream whose work is recorded; the default stream otherwise. */
  readonly stream?: CudaStream | undefined;
  /** A name for tables and errors. */
  readonly label?: string | undefined;
}

/** What they may be. */
export const CAPTURE_OPTIONS: OptionSet<CaptureOptions> = new OptionSet({
  stream: STREAM,
  label: TEXT,
});

/** What to record. */
export interface CaptureRequest {
  /** Queues the work on the stream that it is given. */
  readonly body: (stream: CudaStream) => unknown;
  /** A name for tables and errors. */
  readonly label?: string | undefined;
}

const CAPTURE_REQUEST = new OptionSet<CaptureRequest>({ body: CALLBACK, label: TEXT });

/** A graph says which blocks it uses, not which parts of them. */
const EVERYWHERE = { address: 0n, byteLength: Number.MAX_SAFE_INTEGER } as const;

/** What the record of a graph needs to let go of its memory; it never refers to the graph. */
interface GraphState {
  readonly memory: GraphMemoryUse;
  lastStream: CudaStream;
  launchCount: number;
}

/** What a {@link CudaGraph} is made of. */
interface GraphFields {
  readonly handle: bigint;
  readonly nodeCount: number;
  readonly memory: GraphMemoryUse;
  readonly label: string | undefined;
}

/**
 * Copies, fills and allocations that one call queues. It keeps the memory that they use until it is
 * disposed.
 */
export class CudaGraph implements Disposable {
  /** The context it belongs to. */
  readonly context: Context;
  /** How many steps it has: copies, fills, allocations and frees. */
  readonly nodeCount: number;
  readonly #stream: CudaStream;
  readonly #state: GraphState;
  /** Memory of others, which nothing here can keep. */
  readonly #borrowed: readonly NamedMemory[];
  readonly #record: HandleRecord;

  private constructor(stream: CudaStream, { handle, nodeCount, memory, label }: GraphFields) {
    const { context } = stream;
    this.context = context;
    this.nodeCount = nodeCount;
    this.#stream = stream;
    const state: GraphState = { memory, lastStream: stream, launchCount: 0 };
    this.#state = state;
    this.#borrowed = memory.named.filter(({ block }) => block.kind === "imported");
    const graphMemories = Map.groupBy(memory.made, (block) => GraphMemory.of(block.context));
    for (const graphMemory of graphMemories.keys()) graphMemory.addGraph();
    const destroy = (handle: bigint) => {
      try {
        context.giveBack("cuGraphExecDestroy", handle);
      } finally {
        for (const output of memory.outputs) output.giveUp();
        memory.holds.dispose();
        for (const [graphMemory, blocks] of graphMemories) {
          graphMemory.removeGraph(state.lastStream, sizeOf(blocks));
        }
      }
    };
    this.#record = new HandleRecord(this, { context, kind: "graph", handle, label, destroy });
  }

  /**
   * Records what `body` queues on `stream`, without running it (cuStreamBeginCapture).
   *
   * @throws TypeError when `body` returns a promise or asks for what cannot be recorded, and while
   *   another capture runs.
   */
  static capture(stream: CudaStream, request: CaptureRequest): CudaGraph {
    const { body, label } = CAPTURE_REQUEST.read(request, "capture");
    requireKind(body, CALLBACK, "capture");
    if (stream.disposed) throw new DisposedError(stream.toString());
    const { context } = stream;
    using captured = new CapturedMemory(stream);
    refusePromise(body(stream));
    const { graph, memory } = captured.end();
    using template = new DisposableStack();
    const destroy = () => context.giveBack("cuGraphDestroy", graph);
    template.defer(() => void tryRelease(context.driver, "a recorded graph", destroy));
    using undo = new DisposableStack();
    undo.use(memory.holds);
    requireMemory(context, memory.named, "make a graph");
    const nodeCount = countNodes(context, graph);
    const handle = instantiate(context, graph);
    undo.move();
    return new CudaGraph(stream, { handle, nodeCount, memory, label });
  }

  /** Its label, or its number. */
  get name(): string {
    return this.#record.name;
  }

  /** Whether it was disposed. */
  get disposed(): boolean {
    return this.#record.released;
  }

  /** How often it was launched. */
  get launchCount(): number {
    return this.#state.launchCount;
  }

  /**
   * Queues all of its work and does not wait (cuGraphLaunch): on the stream that was captured, or on
   * another one. It comes after what other streams do with the same memory, and after transfers of it
   * that were called before. What the graph allocates is new memory each time: what was written to it
   * since the last launch is gone.
   *
   * @throws DisposedError when it or the stream was disposed.
   * @throws TypeError when the stream belongs to another device, and while a capture runs.
   * @throws OutOfMemoryError with all amounts when the device has too little for what it allocates.
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
    const work = stream.postpone(() => this.#launchNow(stream), earlier);
    if (work.isOver) return hold[Symbol.dispose]();
    const uses = this.#usesWithOutputs;
    for (const { usage, access } of uses) usage.addPending(work, stream, { ...EVERYWHERE, access });
    work.whenOver(() => {
      for (const { usage } of uses) usage.endPending(work);
      hold[Symbol.dispose]();
    });
  }

  /** Gives the graph back, and the memory that only it kept; launched work still runs. */
  dispose(): void {
    this.#record.release();
  }

  /** Same as {@link CudaGraph.dispose}, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  /** Names the graph: `CudaGraph(step)`. */
  toString(): string {
    return `CudaGraph(${this.name})`;
  }

  /** Shows the graph on a console. */
  [Symbol.for("Deno.customInspect")](): string {
    return `${this} ${this.disposed ? "disposed" : formatCount(this.nodeCount, "node")}`;
  }

  /** The calls under way that a launch on a stream comes after. */
  #pendingBefore(stream: CudaStream): PendingWork[] {
    const earlier = stream.lastPostponed === undefined ? [] : [stream.lastPostponed];
    for (const { usage, access } of this.#usesWithOutputs) {
      if (!usage.hasPending) continue;
      earlier.push(...usage.pendingBefore(stream, { ...EVERYWHERE, access }));
    }
    return earlier;
  }

  /** All memory that a launch touches and that others can reach. */
  get #usesWithOutputs(): readonly GraphUse[] {
    const { uses, outputs } = this.#state.memory;
    if (outputs.length === 0) return uses;
    return [...uses, ...outputs.map(({ usage }) => ({ usage, access: "write" } as const))];
  }

  #launchNow(stream: CudaStream): void {
    const { uses, made, outputs } = this.#state.memory;
    requireMemory(this.context, this.#borrowed, `launch ${this}`);
    for (const { usage, access } of uses) usage.order(stream, access);
    if (made.length === 0) this.#queue(stream);
    else takeWithinLimits(this.#need(), () => this.#queue(stream));
    this.#state.lastStream = stream;
    for (const output of outputs) output.arrive();
    this.#noteCopies(stream);
  }

  /** What a launch allocates beside what the last one has left there. */
  #need(): MemoryNeed {
    const { context } = this;
    const coming = this.#state.memory.made
      .filter((block) => block.context === context && !block.isThere);
    return { context, kind: "device", byteLength: sizeOf(coming) };
  }

  #queue(stream: CudaStream): void {
    const { context } = this;
    const { handle } = this.#record;
    const queue = stream.queueHandle;
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

/** Makes a graph ready for launches; memory that it leaves allocated is freed by its next launch. */
function instantiate(context: Context, graph: bigint): bigint {
  const { CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH: flag } = CUgraphInstantiate_flags;
  return take64(context, "cuGraphInstantiateWithFlags", graph, BigInt(flag));
}

/**
 * Checks that memory is there, whoever may have freed it: the driver's process ends when a graph is
 * made ready that copies from or to memory that is gone.
 *
 * @throws TypeError when it is not.
 */
function requireMemory(context: Context, named: readonly NamedMemory[], action: string): void {
  const { CU_POINTER_ATTRIBUTE_MEMORY_TYPE: attribute } = CUpointer_attribute;
  const cell = new BigUint64Array(1);
  for (const { block, address, byteLength } of named) {
    if (byteLength === 0) continue;
    for (const place of [address, address + BigInt(byteLength) - 1n]) {
      const status = context.status("cuPointerGetAttribute", cell, attribute, place);
      if (status === CUresult.CUDA_SUCCESS) continue;
      if (status !== CUresult.CUDA_ERROR_INVALID_VALUE) {
        throw context.driver.error(status, "cuPointerGetAttribute");
      }
      throw new TypeError(
        `Cannot ${action}: the memory of ${nameOf(block)} that it uses was freed; keep it until ` +
          `the graph is disposed`,
      );
    }
  }
}

function sizeOf(blocks: readonly GraphBlock[]): number {
  return blocks.reduce((sum, { requestedBytes }) => sum + requestedBytes, 0);
}

function countNodes(context: Context, graph: bigint): number {
  return Number(read64(context, "cuGraphGetNodes", graph, null));
}

function refusePromise(result: unknown): void {
  if (!(result instanceof Promise)) return;
  result.catch(() => {}); // what it fails with is not the reason to tell
  throw new TypeError(
    "Cannot capture a function that returns a promise: what waits, and transfers of ordinary " +
      "arrays, cannot be recorded; use pinned buffers, and braces when nothing is to be returned",
  );
}
