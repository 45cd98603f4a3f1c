// One block of memory and who must be asked before it goes: the record behind buffers and views.
// Dispose, scopes, the ledger and garbage collection all release through it, so it is freed once.

import { CUresult } from "../../ffi/constants.ts";
import type { Context } from "../context.ts";
import { CudaError, OutOfMemoryError } from "../errors.ts";
import { Fence } from "../fence.ts";
import { type LedgerEntry, type LiveKind, nameOf, nextId, warnUndisposed } from "../ledger.ts";
import { captureStack, originOf } from "../origin.ts";
import { CudaStream } from "../stream.ts";
import type { MemoryResource } from "./memory_resource.ts";
import { type Access, StreamUsage } from "./stream_usage.ts";

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
}

const collected = new FinalizationRegistry<Allocation>((allocation) => {
  if (allocation.released) return;
  warnUndisposed(allocation);
  allocation.release();
});

/** The five largest live buffers are named when memory runs out. */
const NAMED_BLOCKS = 5;

/** One block of memory, owned. */
export class Allocation implements LedgerEntry {
  readonly id = nextId();
  readonly kind: LiveKind;
  readonly byteLength: number;
  readonly label: string | undefined;
  readonly createdAt = Date.now();
  /** The context it is used and freed in. */
  readonly context: Context;
  /** Where it came from. */
  readonly resource: MemoryResource;
  /** The streams whose queued work may still use it. */
  readonly usage = new StreamUsage();
  /** The address; 0n for 0 bytes. */
  readonly address: bigint;
  readonly #stream: CudaStream;
  #hostMemory: WeakRef<ArrayBuffer> | undefined;
  readonly #stack: Error | undefined;
  #released = false;
  #holders = 0;
  #freeWith: CudaStream | undefined;

  /** Adopts memory that `request.resource` gave; {@link Allocation.create} allocates it. */
  constructor(request: AllocationRequest, address: bigint) {
    const { kind, byteLength, resource, stream, label } = request;
    this.kind = kind;
    this.byteLength = byteLength;
    this.resource = resource;
    this.label = label;
    this.address = address;
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
    const { resource, byteLength, stream } = request;
    const { context } = stream;
    checkSameDevice(resource, context);
    if (byteLength === 0) return new Allocation(request, 0n);
    context.sweep();
    if (!resource.isHostAccessible && byteLength > context.totalBytes) {
      throw outOfMemory(context, byteLength, "none: larger than the device");
    }
    try {
      return new Allocation(request, resource.allocate(byteLength, stream));
    } catch (error) {
      const isOutOfMemory = error instanceof CudaError && !(error instanceof OutOfMemoryError) &&
        error.code === CUresult.CUDA_ERROR_OUT_OF_MEMORY;
      throw isOutOfMemory ? outOfMemory(context, byteLength, error.call) : error;
    }
  }

  /** Releases the block, with a warning, when `token` is garbage-collected first. */
  guard(token: object): void {
    collected.register(token, this, this);
  }

  /** Empties `memory`, and with it every typed array over it, when the block is released. */
  emptyOnRelease(memory: ArrayBuffer): void {
    this.#hostMemory = new WeakRef(memory);
  }

  /** Whether it was given back. */
  get released(): boolean {
    return this.#released;
  }

  /** Where it was made, when that is known. */
  get origin(): string | undefined {
    return originOf(this.#stack);
  }

  /** Makes `stream` wait for what other streams do with the block, before it uses it. */
  order(stream: CudaStream, access: Access): void {
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
      if (!this.resource.isHostAccessible || stream.isIdle) return this.#deallocate(stream);
      const fence = new Fence(this.context);
      fence.set(stream.handle);
      const run = () => {
        fence.dispose();
        this.#deallocate(stream);
      };
      this.context.defer({ isDue: () => fence.isPassed, run });
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

function checkSameDevice(resource: MemoryResource, context: Context): void {
  if (resource.context === context) return;
  throw new TypeError(
    `Cannot allocate for a stream of device ${context.ordinal} from a resource of device ` +
      `${resource.context.ordinal}: use a stream and a resource of one device`,
  );
}

function outOfMemory(context: Context, requestedBytes: number, call: string): OutOfMemoryError {
  const { ledger, ordinal, totalBytes } = context;
  return new OutOfMemoryError({
    ordinal,
    requestedBytes,
    freeBytes: context.freeBytes(),
    totalBytes,
    liveBytes: ledger.liveBytes,
    liveCount: ledger.liveCount,
    largest: ledger.largest(NAMED_BLOCKS).map((entry) => ({
      name: nameOf(entry),
      byteLength: entry.byteLength,
    })),
  }, call);
}
