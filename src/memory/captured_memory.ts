// Which memory a capture uses, so that launches of its graph come after other work with it, and so
// that it stays as long as the graph does.

import type { CopyEnds } from "../accounting/ledger.ts";
import { Capture } from "../capture.ts";
import type { CudaStream } from "../stream.ts";
import { type Access, StreamUsage } from "./stream_usage.ts";

/** A block of memory, as far as a capture must know it. */
export interface CapturedBlock {
  /** The streams whose queued work may still use it. */
  readonly usage: StreamUsage;
  /** Whether it was given back. */
  readonly released: boolean;
  /** Keeps its memory until the result is disposed. */
  hold(): Disposable;
}

/** A block whose memory comes with each launch of a graph. */
export interface GraphBlock extends CapturedBlock {
  /** Its size. */
  readonly byteLength: number;
  /** Notes that its memory is there. */
  arrive(): void;
}

/** How a graph uses a block that was there before. */
export interface GraphUse {
  /** The uses by streams, which each launch comes after. */
  readonly usage: StreamUsage;
  /** Whether the graph writes the block. */
  readonly access: Access;
}

/** A copy that each launch makes. */
export interface GraphCopy {
  /** How many bytes. */
  readonly byteLength: number;
  /** Between which blocks. */
  readonly ends: CopyEnds;
}

/** The memory of a graph. */
export interface GraphMemoryUse {
  /** Blocks that a launch must wait for. */
  readonly uses: readonly GraphUse[];
  /** Blocks that it allocates and does not free. */
  readonly outputs: readonly GraphBlock[];
  /** Bytes that a launch allocates. */
  readonly allocatedBytes: number;
  /** Copies that it makes. */
  readonly copies: readonly GraphCopy[];
  /** Bytes of all its copies. */
  readonly copiedBytes: number;
  /** What keeps all of its memory. */
  readonly holds: DisposableStack;
}

let active: CapturedMemory | undefined;

/** The memory of the capture that runs right now. */
export function capturedMemory(): CapturedMemory | undefined {
  return active;
}

/** The order of a block's uses inside a capture; another stream that uses it is captured too. */
class CapturedUsage extends StreamUsage {
  isWritten = false;

  protected override follow(stream: CudaStream, other: CudaStream): void {
    stream.wait(other);
  }
}

/** A capture and the memory that it uses so far. */
export class CapturedMemory {
  readonly #capture: Capture;
  /** By the uses outside, which records of the same memory share. */
  readonly #usages = new Map<StreamUsage, CapturedUsage>();
  readonly #used = new Set<CapturedBlock>();
  readonly #made = new Set<GraphBlock>();
  readonly #copies: GraphCopy[] = [];
  readonly #holds = new DisposableStack();
  readonly #postponed: (() => void)[] = [];

  /**
   * Begins a capture.
   *
   * @throws TypeError while another one runs.
   */
  constructor(origin: CudaStream) {
    origin.prepareCapture();
    this.#capture = new Capture(origin);
    active = this;
  }

  /** Whether a stream is being captured. */
  includes(stream: CudaStream): boolean {
    return this.#capture.includes(stream);
  }

  /** Whether recorded work uses a block. */
  uses({ usage }: CapturedBlock): boolean {
    return this.#usages.has(usage);
  }

  /**
   * The uses of a block inside the capture, when `stream` is about to use it there: a captured stream
   * does, and one that uses what the capture has used before. Undefined for a use outside.
   */
  usageFor(block: CapturedBlock, stream: CudaStream, access: Access): StreamUsage | undefined {
    const known = this.#usages.get(block.usage);
    const isJoining = known !== undefined && stream.context.ordersStreams;
    if (!isJoining && !this.includes(stream)) return undefined;
    const usage = known ?? this.#begin(block.usage, stream);
    this.#keep(block);
    if (access === "write") usage.isWritten = true;
    return usage;
  }

  /** Notes a block that the graph allocates, with the stream that may use it first. */
  add(block: GraphBlock, stream: CudaStream): void {
    this.#made.add(block);
    this.#begin(block.usage, stream);
  }

  /** The uses so far of a block that the graph allocates; undefined for any other. */
  usageOfMade(block: CapturedBlock): StreamUsage | undefined {
    return this.#made.has(block as GraphBlock) ? this.#usages.get(block.usage) : undefined;
  }

  /** Notes a copy that was recorded. */
  noteCopy(copy: GraphCopy): void {
    this.#copies.push(copy);
  }

  /** Runs `work`, which never throws, once the capture is over. */
  postpone(work: () => void): void {
    this.#postponed.push(work);
  }

  /** Ends the capture: its graph, which the caller destroys, and the memory of that. */
  end(): { graph: bigint; memory: GraphMemoryUse } {
    const graph = this.#capture.end();
    const outputs: GraphBlock[] = [];
    let allocatedBytes = 0;
    for (const block of this.#made) {
      allocatedBytes += block.byteLength;
      if (block.released) this.#usages.delete(block.usage);
      else outputs.push(block);
    }
    for (const output of outputs) this.#holds.use(output.hold());
    const uses = [...this.#usages].map(([usage, { isWritten }]): GraphUse => ({
      usage,
      access: isWritten ? "write" : "read",
    }));
    const copies = this.#copies;
    const copiedBytes = copies.reduce((sum, { byteLength }) => sum + byteLength, 0);
    this.#leave();
    const memory = { uses, outputs, allocatedBytes, copies, copiedBytes, holds: this.#holds };
    return { graph, memory };
  }

  /** Ends the capture and throws away what was recorded; does nothing after {@link CapturedMemory.end}. */
  abandon(): void {
    if (active !== this) return;
    this.#capture.abandon();
    this.#leave();
    this.#holds.dispose();
  }

  #begin(outside: StreamUsage, first: CudaStream): CapturedUsage {
    const usage = new CapturedUsage(first);
    this.#usages.set(outside, usage);
    return usage;
  }

  /** What the graph allocates is kept from the end on: before, it may be freed as a step. */
  #keep(block: CapturedBlock): void {
    if (this.#used.has(block) || this.#made.has(block as GraphBlock)) return;
    this.#used.add(block);
    this.#holds.use(block.hold());
  }

  #leave(): void {
    active = undefined;
    for (const work of this.#postponed) work();
  }
}
