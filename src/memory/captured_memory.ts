// The memory that a capture uses, so that launches of its graph come after other work on that memory,
// and the memory is kept as long as the graph.

import type { AddressRange, CopyEnds, LedgerEntry } from "../accounting/ledger.ts";
import type { Context } from "../driver/context.ts";
import { activeCapture, cannotRecord, Capture } from "../order/capture.ts";
import { type CudaStream, queueOf } from "../order/stream.ts";
import { type Access, StreamUsage } from "./stream_usage.ts";

/** The parts of a block of memory that a capture needs. */
export interface CapturedBlock extends Pick<LedgerEntry, "label" | "kind" | "id"> {
  /** The address; 0n while it holds no bytes. */
  readonly address: bigint;
  readonly byteLength: number;
  /** The streams whose queued work may still use it. */
  readonly usage: StreamUsage;
  readonly released: boolean;
  /** Keeps it until the result is disposed. */
  hold(options?: { readonly isForGraph: boolean }): Disposable;
}

/** A block whose memory each launch of a graph allocates. */
export interface GraphBlock extends CapturedBlock {
  readonly context: Context;
  /** Its size once it is there. */
  readonly requestedBytes: number;
  readonly isFreedInGraph: boolean;
  readonly isThere: boolean;
  /** It lives, or was given back and streams that read it keep its memory. */
  readonly canBeKept: boolean;
  /** Notes that a launch has allocated its memory. */
  arrive(): void;
  /** Notes that its memory will not be allocated any more, unless it already is. */
  giveUp(): void;
}

/** A copy that each launch makes, and the blocks that it copies between. */
interface GraphCopy {
  readonly byteLength: number;
  readonly ends: CopyEnds;
}

/** Memory that recorded work refers to, as it was at the recording. */
export interface NamedMemory extends AddressRange {
  readonly block: CapturedBlock;
}

export interface GraphMemoryUse {
  /** Uses of blocks that the program can reach, which each launch comes after. */
  readonly uses: readonly { readonly usage: StreamUsage; readonly access: Access }[];
  readonly made: readonly GraphBlock[];
  /** Those of them that it does not free. */
  readonly outputs: readonly GraphBlock[];
  readonly copies: readonly GraphCopy[];
  readonly copiedBytes: number;
  readonly holds: DisposableStack;
  /** The memory that it does not allocate. */
  readonly named: readonly NamedMemory[];
  /** Those of them that other owners lend, which the graph cannot keep. */
  readonly borrowed: readonly NamedMemory[];
}

/** The capture that runs right now, with the memory that it uses. */
export function capturedMemory(): CapturedMemory | undefined {
  return activeCapture as CapturedMemory | undefined; // there is no other kind
}

/** Postpones work while a capture runs, which would record it; returns whether one runs. */
export function isPostponed(work: () => void): boolean {
  const captured = capturedMemory();
  captured?.postpone(work);
  return captured !== undefined;
}

/**
 * Checks, before anything is done, that a use of a block would not be recorded.
 *
 * @throws TypeError with the remedy when it would.
 */
export function requireUnrecorded(block: CapturedBlock, stream: CudaStream, action: string): void {
  if (capturedMemory()?.records(block, stream)) throw cannotRecord(stream, action);
}

/** The order of a block's uses inside a capture; another stream that uses it is captured too. */
class CapturedUsage extends StreamUsage {
  isWritten = false;

  protected override follow(stream: CudaStream, other: CudaStream): void {
    stream.wait(other);
  }
}

/** A capture and the memory that it uses so far; disposing it early drops the recording. */
export class CapturedMemory extends Capture implements Disposable {
  /** Uses inside by the uses outside, which all records of the same memory share. */
  readonly #usages = new Map<StreamUsage, CapturedUsage>();
  readonly #used = new Map<CapturedBlock, NamedMemory>();
  readonly #made = new Map<CapturedBlock, GraphBlock>();
  readonly #copies: GraphCopy[] = [];
  /** Names of recorded kernels by the driver's handles. */
  readonly #kernelNames = new Map<bigint, string>();
  readonly #holds = new DisposableStack();

  /**
   * Begins a capture.
   *
   * @throws TypeError while another one runs.
   */
  constructor(origin: CudaStream) {
    const queue = queueOf(origin);
    queue.prepareCapture();
    super(queue);
  }

  /** Returns whether recorded work uses a block. */
  uses({ usage }: CapturedBlock): boolean {
    return this.#usages.has(usage);
  }

  /**
   * Returns whether work of `stream` on a block is recorded: when the stream is captured, or when the
   * capture has used the block before and the kit orders the streams.
   */
  records(block: CapturedBlock, stream: CudaStream): boolean {
    return this.includes(stream) || (stream.context.ordersStreams && this.uses(block));
  }

  /** Notes that `stream` will use a block in the capture, and returns its uses there. */
  use(block: CapturedBlock, stream: CudaStream, access: Access): StreamUsage | undefined {
    if (!this.records(block, stream)) return undefined;
    const usage = this.#usages.get(block.usage) ?? this.#begin(block, stream);
    if (access === "write") usage.isWritten = true;
    if (!this.#made.has(block)) this.#keep(block);
    return usage;
  }

  /** Keeps a block, and remembers the largest size that it had, because it can grow meanwhile. */
  #keep(block: CapturedBlock): void {
    const { address, byteLength } = block;
    const known = this.#used.get(block);
    if (known === undefined) this.#holds.use(block.hold({ isForGraph: true }));
    else if (known.byteLength >= byteLength) return;
    this.#used.set(block, { block, address, byteLength });
  }

  /** Adds a block that each launch of the graph allocates, for `stream` first. */
  addMade(block: GraphBlock, stream: CudaStream): void {
    this.#made.set(block, block);
    this.#begin(block, stream).isWritten = true;
  }

  /** The uses so far of a block that the graph allocates; undefined for any other. */
  usageWithin(block: CapturedBlock): StreamUsage | undefined {
    return this.#made.has(block) ? this.#usages.get(block.usage) : undefined;
  }

  noteCopy(copy: GraphCopy): void {
    this.#copies.push(copy);
  }

  noteKernel({ handle, name }: { readonly handle: bigint; readonly name: string }): void {
    this.#kernelNames.set(handle, name);
  }

  /** Ends the capture; returns the graph, for the caller to destroy, its memory and kernels. */
  end(): { graph: bigint; memory: GraphMemoryUse; kernelNames: ReadonlyMap<bigint, string> } {
    const graph = this.endCapture();
    const made = [...this.#made.values()];
    const outputs = made.filter(({ isFreedInGraph }) => !isFreedInGraph);
    for (const { isFreedInGraph, usage } of made) if (isFreedInGraph) this.#usages.delete(usage);
    for (const output of outputs) {
      if (output.canBeKept) this.#holds.use(output.hold());
    }
    const uses = [...this.#usages].map(([usage, { isWritten }]) => {
      return { usage, access: isWritten ? "write" : "read" } as const;
    });
    const copies = this.#copies;
    const copiedBytes = copies.reduce((sum, { byteLength }) => sum + byteLength, 0);
    const holds = this.#holds.move();
    this.runPostponed();
    const named = [...this.#used.values()];
    const borrowed = named.filter(({ block }) => block.kind === "imported");
    this.#forget();
    const memory = { uses, made, outputs, copies, copiedBytes, holds, named, borrowed };
    return { graph, memory, kernelNames: this.#kernelNames };
  }

  /** Ends the capture unless that was done, and drops the recording. */
  [Symbol.dispose](): void {
    this.abandon();
    this.runPostponed();
    if (this.#holds.disposed) return;
    this.#holds.dispose();
    for (const block of this.#made.values()) block.giveUp();
    this.#forget();
  }

  /** Forgets the blocks, because an event may keep the capture alive. */
  #forget(): void {
    this.#usages.clear();
    this.#used.clear();
    this.#made.clear();
  }

  #begin({ usage: outside }: CapturedBlock, first: CudaStream): CapturedUsage {
    const usage = new CapturedUsage(first);
    this.#usages.set(outside, usage);
    return usage;
  }
}
