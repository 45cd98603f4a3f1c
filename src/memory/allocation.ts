// One block of memory and who must be asked before it goes: the record behind buffers and views.
// Dispose, scopes, the ledger and garbage collection all release through it, so it is freed once.

import type { Context } from "../context.ts";
import { type LedgerEntry, type LiveKind, nameOf, nextId, warnUndisposed } from "../ledger.ts";
import { captureStack, originOf } from "../origin.ts";
import { CudaStream } from "../stream.ts";
import type { MemoryResource } from "./memory_resource.ts";
import { explainShortage, outOfMemory } from "./out_of_memory.ts";
import { type Access, StreamUsage } from "./stream_usage.ts";
import { whenPassed } from "./when_passed.ts";

/** What to allocate, and how. */
export interface AllocationRequest {
  /** What kind of memory the resource gives. */
  readonly kind: LiveKind;
  /** How many bytes; 0 makes no driver call. */
  readonly byteLength: number;
  /** Where the memory comes from. */
  readonly resource: MemoryResource;
  /** The stream that may use the memory first, and on which it is freed. */
  readonly stream: CudaStream;
  /** A name for tables and errors. */
  readonly label?: string | undefined;
  /** Whether the GPU may only read it. */
  readonly isReadOnly?: boolean;
}

const collected = new FinalizationRegistry<Allocation>((allocation) => {
  if (allocation.released) return;
  warnUndisposed(allocation);
  allocation.release();
});

/** One block of memory, owned. */
export class Allocation implements LedgerEntry {
  readonly id = nextId();
  readonly kind: LiveKind;
  readonly label: string | undefined;
  readonly createdAt = Date.now();
  /** The context it is used and freed in. */
  readonly context: Context;
  /** Where it came from. */
  readonly resource: MemoryResource;
  /** The streams whose queued work may still use it. */
  readonly usage = new StreamUsage();
  /** Whether the GPU may only read it. */
  readonly isReadOnly: boolean;
  readonly #stream: CudaStream;
  #address: bigint;
  #byteLength: number;
  #companion: Allocation | undefined;
  #hostMemory: WeakRef<ArrayBuffer> | undefined;
  readonly #stack: Error | undefined;
  #released = false;
  #holders = 0;
  #freeWith: CudaStream | undefined;

  /** Adopts memory that `request.resource` gave; {@link Allocation.create} allocates it. */
  constructor(request: AllocationRequest, address: bigint) {
    const { kind, byteLength, resource, stream, label, isReadOnly = false } = request;
    this.kind = kind;
    this.resource = resource;
    this.label = label;
    this.isReadOnly = isReadOnly;
    this.#address = address;
    this.#byteLength = byteLength;
    this.#stream = stream;
    this.#stack = captureStack(byteLength);
    this.usage.order(stream, "write");
    this.context = stream.context.retain();
    this.context.ledger.add(this);
  }

  /**
   * Allocates.
   *
   * @throws OutOfMemoryError with all amounts when the device cannot give that much.
   */
  static create(request: AllocationRequest): Allocation {
    return new Allocation(request, takeMemory(request));
  }

  /** Releases the block, with a warning, when `token` is garbage-collected first. */
  guard(token: object): void {
    collected.register(token, this, this);
  }

  /** Releases another block whenever this one is released: its mirror in host memory. */
  releaseWith(companion: Allocation): void {
    this.#companion = companion;
  }

  /** Empties `memory`, and with it every typed array over it, when the block is released. */
  emptyOnRelease(memory: ArrayBuffer): void {
    this.#hostMemory = new WeakRef(memory);
  }

  /** The address; 0n while it holds no bytes. */
  get address(): bigint {
    return this.#address;
  }

  /** How many bytes it holds. */
  get byteLength(): number {
    return this.#byteLength;
  }

  /** Notes what the block holds now, for memory that comes late, grows or shrinks. */
  place(memory: { readonly address: bigint; readonly byteLength: number }): void {
    const formerBytes = this.#byteLength;
    this.#address = memory.address;
    this.#byteLength = memory.byteLength;
    if (!this.#released) this.context.ledger.recount(this, formerBytes);
  }

  /** Whether it was given back. */
  get released(): boolean {
    return this.#released;
  }

  /** Where it was made, when that is known. */
  get origin(): string | undefined {
    return originOf(this.#stack);
  }

  /**
   * Makes `stream` wait for what other streams do with the block, before it uses it.
   *
   * @throws TypeError for a write to memory that the GPU may only read.
   */
  order(stream: CudaStream, access: Access): void {
    if (access === "write" && this.isReadOnly) {
      throw new TypeError(`Cannot write to ${nameOf(this)} on the GPU: it is read-only memory`);
    }
    this.usage.order(stream, access);
  }

  /** Keeps the memory itself while a transfer in pieces uses it, also when it is released meanwhile. */
  hold(): Disposable {
    this.#holders++;
    return { [Symbol.dispose]: () => this.#letGo() };
  }

  /**
   * Gives the block back after the work queued on it so far, without waiting for that work.
   * A second call does nothing. A failure is reported on the console and never thrown.
   */
  release(stream: CudaStream = this.#stream): void {
    if (this.#released) return;
    this.#released = true;
    collected.unregister(this);
    this.context.ledger.remove(this);
    this.#companion?.release(stream);
    this.#hostMemory?.deref()?.transfer(0);
    this.#freeWith = stream;
    if (this.#holders === 0) this.#free();
  }

  #letGo(): void {
    this.#holders--;
    if (this.#holders === 0 && this.#released) this.#free();
  }

  /**
   * Device memory is freed in stream order, after the streams that used it. The driver frees host
   * memory at once, so that waits until the GPU has passed all uses.
   */
  #free(): void {
    const chosen = this.#freeWith ?? this.#stream;
    const stream = chosen.disposed ? CudaStream.default(this.context) : chosen;
    try {
      if (this.address === 0n) return;
      for (const user of this.usage.streams()) stream.wait(user);
      if (!this.resource.isHostAccessible) return this.#deallocate(stream);
      whenPassed(stream, () => this.#deallocate(stream));
    } catch (error) {
      reportFailedRelease(this, error);
    } finally {
      this.context.release();
    }
  }

  #deallocate(stream: CudaStream): void {
    try {
      this.resource.deallocate(this.address, this.byteLength, stream);
    } catch (error) {
      reportFailedRelease(this, error);
    }
  }
}

function reportFailedRelease(allocation: Allocation, error: unknown): void {
  const reason = error instanceof Error ? error.message : String(error);
  console.warn(`vramkit: ${nameOf(allocation)} could not be given back: ${reason}`);
}

/**
 * Takes the memory of a request from its resource; 0n for 0 bytes.
 *
 * @throws OutOfMemoryError with all amounts when the device cannot give that much.
 */
export function takeMemory({ resource, byteLength, stream }: AllocationRequest): bigint {
  const { context } = stream;
  checkSameDevice(resource, context);
  if (byteLength === 0) return 0n;
  context.sweep();
  if (!resource.isHostAccessible && byteLength > context.totalBytes) {
    throw outOfMemory(context, byteLength, "none: larger than the device");
  }
  return explainShortage(context, byteLength, () => resource.allocate(byteLength, stream));
}

function checkSameDevice(resource: MemoryResource, context: Context): void {
  if (resource.context === context) return;
  throw new TypeError(
    `Cannot allocate for a stream of device ${context.ordinal} from a resource of device ` +
      `${resource.context.ordinal}: use a stream and a resource of one device`,
  );
}
