// One block of memory and the uses that it must outlive: the owner record behind buffers and views.
// Dispose, scopes, the ledger and garbage collection all release through it, so it is freed once.

import { originOf } from "../accounting/cell_runs.ts";
import { nextId, timeOfMaking } from "../accounting/clock.ts";
import { madeAt } from "../accounting/undisposed.ts";
import { keptMemory, lostMemory } from "../accounting/kept_memory.ts";
import { type LedgerEntry, type LiveKind, nameOf, placeOf } from "../accounting/ledger.ts";
import type { Context } from "../driver/context.ts";
import { reportLost, tryRelease } from "../driver/release.ts";
import { refuseInCapture } from "../order/capture.ts";
import { type Owner, unwatch } from "../order/safety_net.ts";
import { type CudaStream, defaultStreamOf } from "../order/stream.ts";
import { DisposedError } from "../words/errors.ts";
import { checkSize, formatAddress, formatBytes } from "../words/format.ts";
import { warn } from "../words/warning.ts";
import { type CapturedMemory, capturedMemory, isPostponed } from "./captured_memory.ts";
import {
  allocateFrom,
  deallocateTo,
  type MemoryResource,
  requireResource,
} from "./memory_resource.ts";
import { takeWithinLimits } from "./out_of_memory.ts";
import { isReadyForHost } from "./resource_kind.ts";
import { type Access, StreamUsage } from "./stream_usage.ts";
import { isStripedOver } from "./striped_memory_resource.ts";
import { freeWhenPassed, whenPassed } from "./when_passed.ts";

/** Another record of the same memory. */
export interface Lender {
  /** The streams whose queued work may still use the memory. */
  readonly usage: StreamUsage;
  /** The GPU may only read it. */
  readonly isReadOnly: boolean;
  readonly released: boolean;
  /** Keeps the memory; each call needs one {@link Lender.letGo}. */
  keep(): void;
  letGo(): void;
  /**
   * Checks that memory which was lent is still there: it is not when it was given back and nothing
   * keeps it.
   *
   * @throws DisposedError when it is not.
   * @throws RangeError when the block has become too small for it.
   */
  requireThere(lent: { readonly address: bigint; readonly byteLength: number }): void;
}

export interface AllocationRequest {
  readonly kind: LiveKind;
  /** The size in bytes; 0 makes no driver call. */
  readonly byteLength: number;
  readonly resource: MemoryResource;
  /** The stream that may use the memory first, and on which it is freed. */
  readonly stream: CudaStream;
  readonly label?: string | undefined;
  readonly isReadOnly?: boolean | undefined;
  /** The record that owns the memory: uses of both are ordered together, and both keep it. */
  readonly lender?: Lender | undefined;
  /** The streams that use it, where more than their order is to be kept. */
  readonly usage?: StreamUsage | undefined;
}

let placeCount = 0;

/** Returns how often memory was placed or moved: a program's resource may have run any code. */
export function countPlaces(): number {
  return placeCount;
}

/** One block of memory, owned. */
export class Allocation implements LedgerEntry, Owner {
  readonly id: number = nextId();
  readonly kind: LiveKind;
  readonly label: string | undefined;
  /** When it was made, in milliseconds since 1970. */
  readonly createdAt: number;
  readonly context: Context;
  readonly resource: MemoryResource;
  /** The streams whose queued work may still use it. */
  readonly usage: StreamUsage;
  readonly scope: string | undefined;
  /** The places in the code that made it, nearest first; one unless whole stacks are kept. */
  readonly stack: readonly string[] | undefined;
  /** Its place in the ledger; -1 while it is in none. */
  slot: number = -1;
  readonly isReadOnly: boolean;
  readonly #stream: CudaStream;
  readonly #lender: Lender | undefined;
  /** The address, which {@link Allocation.place} sets; 0n while it holds no bytes. */
  address: bigint;
  byteLength: number;
  #companion: Allocation | undefined;
  /** The array buffer that shows it to the CPU. */
  #hostMemory: ArrayBuffer | undefined;
  /** The program moved its array away, so that it may still be seen elsewhere. */
  #isMovedAway = false;
  /** It was given back or away; only the record itself sets it. */
  released = false;
  /** It was released to be freed, and not given away. */
  #isGivenBack = false;
  #holders = 0;
  /** Bytes that it held when it was released, and that its holders keep. */
  #keptBytes = 0;
  /** Number of its holders that also keep the lender's memory. */
  #lentHolders = 0;
  /** Number of its holders that are graphs. */
  #graphHolders = 0;
  #freeWith: CudaStream | undefined;
  /** Number of streams that read the block, and keep it once it is released. */
  #readerCount = 0;
  /** It was given back and streams that read it keep its memory. */
  #isKeptByReaders = false;
  /**
   * It was released but its array is still page-locked: the GPU may still use it, so uses
   * of the array still count as uses of this block.
   */
  #isLeaving = false;
  /** Its memory is freed as soon as the GPU is done with it. */
  #isFreed = false;

  /** @ignore Adopts memory that `request.resource` gave; {@link Allocation.create} allocates it. */
  constructor(request: AllocationRequest, address: bigint) {
    const { kind, byteLength, resource, stream, label, isReadOnly = false } = request;
    this.createdAt = timeOfMaking(byteLength);
    this.kind = kind;
    this.resource = resource;
    this.label = label;
    this.isReadOnly = isReadOnly;
    this.address = address;
    this.byteLength = byteLength;
    this.#stream = stream;
    this.#lender = request.lender;
    this.usage = request.lender?.usage ?? request.usage ??
      new StreamUsage(resource.isHostAccessible && isReadyForHost(resource) ? undefined : stream);
    this.context = stream.context.retain();
    const { ledger } = this.context;
    this.stack = ledger.origins.find(byteLength, this.createdAt);
    this.scope = ledger.add(this);
  }

  /**
   * Allocates.
   *
   * @throws OutOfMemoryError with all amounts when the device cannot give that much.
   * @ignore
   */
  static create(request: AllocationRequest): Allocation {
    return new Allocation(request, takeMemory(request));
  }

  /** Releases another block whenever this one is released: its mirror in host memory. */
  releaseWith(companion: Allocation): void {
    this.#companion = companion;
  }

  /**
   * Empties `memory`, and with it every typed array over it, when the block is released. Memory that
   * the program has moved away by then can still be seen elsewhere, so it is never freed.
   */
  emptyOnRelease(memory: ArrayBuffer): void {
    this.#hostMemory = memory;
  }

  /** The record that owns the memory: this one, or the one that it borrows from. */
  get memoryOwner(): Lender {
    return this.#lender ?? this;
  }

  /** Sets the block's address and size, for memory that is allocated late, grows or shrinks. */
  place(memory: { readonly address: bigint; readonly byteLength: number }): void {
    const formerBytes = this.byteLength;
    placeCount++;
    this.address = memory.address;
    this.byteLength = memory.byteLength;
    if (!this.released) this.context.ledger.recount(this, formerBytes);
  }

  /** Where its contents are while its memory has left the device; undefined while it is there. */
  get asleep(): string | undefined {
    return this.usage.gate?.words;
  }

  /** Tells whether it was given away, by `release()` or `handOver()`, instead of given back. */
  get isGivenAway(): boolean {
    return this.released && !this.#isGivenBack;
  }

  /** Tells whether {@link Allocation.keep} can: it lives, readers keep it, or its array is still page-locked. */
  get canBeKept(): boolean {
    return !this.released || this.#isKeptByReaders || this.#isLeaving;
  }

  get origin(): string | undefined {
    return originOf(this);
  }

  /** The handle of the stream it was made on; 0n when that stream is gone. */
  get streamHandle(): bigint {
    return this.#stream.key;
  }

  /** Releases the block because nothing can reach it any more, with a warning. */
  lose(): void {
    const { kind, byteLength, origin } = this;
    const { context } = this;
    const block = { id: this.id, name: nameOf(this), kind, byteLength, origin };
    context.ledger.undisposed.note(block, context);
    this.release();
  }

  /**
   * Checks that a call may use the block, also when it will do so later.
   *
   * @throws TypeError for a write to memory that the GPU may only read.
   * @throws DisposedError when the block was given back, or that which it belongs to.
   */
  checkUse(access: Access): void {
    this.#checkMemory(access);
  }

  /**
   * Checks that the block was not given back.
   *
   * @throws DisposedError when it was.
   */
  checkThere(): void {
    if (this.released) throw new DisposedError(nameOf(this));
  }

  /**
   * Returns whether a use by a stream needs neither {@link Allocation.order} nor a check, as in nearly
   * all launches; asking here costs less than calling it.
   */
  isInOrder(stream: CudaStream, access: Access): boolean {
    return !this.released && this.#lender === undefined &&
      (access === "read" || !this.isReadOnly) && this.usage.isInOrder(stream, access);
  }

  /**
   * Makes `stream` wait for what other streams do with the block, before it uses it.
   *
   * @throws TypeError for a write to memory that the GPU may only read.
   * @throws DisposedError when the block was given back, or that which it belongs to.
   */
  order(stream: CudaStream, access: Access): void {
    this.#checkMemory(access);
    const usage = capturedMemory()?.use(this, stream, access) ?? this.usage;
    if (usage !== this.usage) this.usage.gate?.pass(stream, access);
    usage.order(stream, access);
  }

  /**
   * Keeps the memory while a transfer or a graph uses it, even when it is released meanwhile; each
   * call needs one {@link Allocation.letGo}.
   *
   * @throws DisposedError when it was released before, and nothing keeps it.
   */
  keep(): void {
    if (!this.canBeKept && this.#holders === 0) throw new DisposedError(nameOf(this));
    if (this.#isFreed && this.#holders === 0) this.context.retain();
    this.#holders++;
    if (this.#lender?.released !== false) return;
    this.#lender.keep();
    this.#lentHolders++;
  }

  letGo(): void {
    if (this.#lentHolders > 0) {
      this.#lentHolders--;
      this.#lender?.letGo();
    }
    this.#holders--;
    if (this.#holders > 0 || !this.released) return;
    keptMemory(this.context.ledger, this.kind).byteLength -= this.#keptBytes;
    this.#free();
  }

  /**
   * Keeps the memory until the result is disposed; see {@link Allocation.keep}. A graph asks again before
   * each launch.
   */
  hold({ isForGraph = false } = {}): Disposable {
    this.keep();
    this.#graphHolders += Number(isForGraph);
    return {
      [Symbol.dispose]: () => {
        this.#graphHolders -= Number(isForGraph);
        this.letGo();
      },
    };
  }

  /**
   * Registers a reader that reads repeatedly until the returned function is called. It blocks
   * nobody while the block lives, and keeps the memory when the block is released meanwhile.
   */
  addReader(): () => void {
    this.#readerCount++;
    return () => {
      this.#readerCount--;
      if (this.#readerCount > 0 || !this.#isKeptByReaders) return;
      this.#isKeptByReaders = false;
      this.letGo();
    };
  }

  /** Checks, for borrowers, that the memory is there: not given back, or kept meanwhile. */
  requireThere({ address, byteLength }: Allocation): void {
    if (this.#isGivenBack && this.#holders === 0) throw new DisposedError(nameOf(this));
    if (address + BigInt(byteLength) <= this.address + BigInt(this.byteLength)) return;
    throw new RangeError(
      `Cannot use ${byteLength} bytes at ${formatAddress(address)}: ${nameOf(this)}, to which ` +
        `they belong, has ${formatBytes(this.byteLength)} now`,
    );
  }

  /**
   * Checks that nothing keeps the memory.
   *
   * @throws TypeError while a transfer in pieces, a graph or another library does.
   */
  requireUnheld(action: string): void {
    this.#requireHolders(0, action);
  }

  /**
   * Checks that nothing but graphs keeps the memory, and that no call that is under way will use it.
   *
   * @throws TypeError while a transfer in pieces, another library or another process does.
   */
  requireNotLent(action: string): void {
    this.#requireHolders(this.usage.hasPending ? -1 : this.#graphHolders, action);
  }

  #requireHolders(allowed: number, action: string): void {
    if (this.#holders === allowed) return;
    throw new TypeError(
      `Cannot ${action} ${nameOf(this)}: a transfer, a graph, another library or another ` +
        `process uses it; await the transfer, dispose the graph, or have the other one let go ` +
        `first`,
    );
  }

  /**
   * Runs `work`, which never throws and gives `byteLength` bytes back, once the GPU is done: now, at an
   * allocation, a release or a synchronisation, or after a pause.
   */
  whenUnused(byteLength: number, work: () => void): void {
    if (isPostponed(() => this.whenUnused(byteLength, work))) return;
    const memory = { place: placeOf(this.kind), byteLength };
    whenPassed(this.#afterUses(this.#stream), work, memory);
  }

  /**
   * Gives the block back after the work queued on it so far, without waiting for that work.
   * A second call does nothing. A failure is reported on the console and never thrown.
   */
  release(stream: CudaStream = this.#stream): void {
    if (this.released) return;
    this.#isGivenBack = true;
    this.#isLeaving = this.kind === "registered";
    if (this.#readerCount > 0) {
      this.keep();
      this.#isKeptByReaders = true;
    }
    this.#leave();
    this.#companion?.release(stream);
    this.#freeWith = stream;
    if (this.#holders === 0) return this.#free();
    this.#keptBytes = this.byteLength;
    keptMemory(this.context.ledger, this.kind).byteLength += this.#keptBytes;
  }

  /**
   * Gives the address away without freeing it; the block counts as released from here on.
   *
   * @throws TypeError while a transfer in pieces or a graph uses it, and for memory that is more than
   *   an address.
   */
  giveAway(): bigint {
    this.requireUnheld("release");
    const isMore = this.kind === "virtual" || this.kind === "registered" ||
      this.usage.gate !== undefined;
    if (this.#companion !== undefined || isMore) {
      throw new TypeError(
        `Cannot release ${nameOf(this)}: giving back ${this.kind} memory like this takes more ` +
          `than its address`,
      );
    }
    this.#leave();
    this.context.release();
    return this.address;
  }

  /** Cuts the block off from what could reach it: its buffers, the ledger and typed arrays. */
  #leave(): void {
    this.released = true;
    if (this.#lender === undefined) this.usage.gate?.leave?.(this.byteLength);
    unwatch(this);
    this.context.ledger.remove(this);
    this.#isMovedAway = this.#hostMemory?.detached === true;
    if (!this.#isMovedAway) this.#hostMemory?.transfer(0);
    this.#hostMemory = undefined;
  }

  #checkMemory(access: Access): void {
    // A program's resource may dispose one side of a copy while it allocates the other.
    if (this.released && this.#holders === 0 && !this.#isLeaving) {
      throw new DisposedError(nameOf(this));
    }
    this.#lender?.requireThere(this);
    if (access === "read" || !this.isReadOnly) return;
    throw new TypeError(`Cannot write to ${nameOf(this)} on the GPU: it is read-only memory`);
  }

  /**
   * Device memory is freed in stream order, after the streams that used it. The driver frees host
   * memory at once, so that waits until the GPU has passed all uses, and counts as kept meanwhile.
   * During a capture only what the graph allocates is freed, as a step of it.
   */
  #free(): void {
    if (this.#isMovedAway) return this.#keepForEver();
    this.#isFreed = true;
    const captured = capturedMemory();
    if (captured !== undefined && captured.usageWithin(this) === undefined) {
      return captured.postpone(() => this.#free());
    }
    if (this.#lender === undefined) this.usage.gate?.end?.();
    const { context } = this;
    try {
      const isThere = this.address !== 0n || this.kind === "imported";
      if (isThere && captured !== undefined) this.#freeInGraph(captured);
      else if (isThere) {
        const stream = this.#afterUses(this.#freeWith ?? this.#stream);
        if (!this.resource.isHostAccessible) this.#giveBack(stream);
        else freeWhenPassed(stream, this, () => this.#giveBack(stream));
      }
    } catch (error) {
      reportLost(context.driver, nameOf(this) + madeAt(this), error);
    }
    context.sweepSome();
    context.release();
  }

  /** Frees the block as a step of the graph being captured, without which the capture fails. */
  #freeInGraph(captured: CapturedMemory): void {
    try {
      this.deallocate(this.#afterUses(this.#freeWith ?? this.#stream));
    } catch (error) {
      captured.refuse(error);
    }
  }

  /** Keeps memory that may still be visible elsewhere, and the context that would free it. */
  #keepForEver(): void {
    lostMemory(this.context.ledger, this.kind).byteLength += this.byteLength;
    const block = `${nameOf(this)} (${formatBytes(this.byteLength)} of ${this.kind} memory)`;
    warn(
      `${block}${madeAt(this)} is lost: its array was moved away (transferred, or posted to a ` +
        `worker) and may still be used there; copy it with slice() instead`,
      { owner: this.context, about: nameOf(this) },
    );
  }

  /** Returns the stream, or the default one when it is gone, after it waits for all uses. */
  #afterUses(chosen: CudaStream): CudaStream {
    const stream = chosen.disposed ? defaultStreamOf(this.context) : chosen;
    const within = capturedMemory()?.usageWithin(this);
    if (within !== undefined) {
      within.finishOn(stream);
      return stream;
    }
    try {
      this.usage.finishOn(stream);
    } catch {
      // Without an order by the driver the host waits; a failure is reported to whoever waits for
      // the work.
      tryRelease(this.context.driver, nameOf(this), () => this.context.waitForAll());
    }
    return stream;
  }

  protected deallocate(stream: CudaStream): void {
    const { address, byteLength } = this;
    deallocateTo(this.resource, { address, byteLength, stream });
  }

  /** Gives the memory back; if that fails, the memory counts as lost. */
  #giveBack(stream: CudaStream): void {
    if (this.kind === "registered") {
      if (!this.#isLeaving || this.#holders > 0) return; // whoever lets go comes here again
      this.#isLeaving = false;
    }
    try {
      this.deallocate(stream);
    } catch (error) {
      const { context, kind, byteLength } = this;
      reportLost(context.driver, nameOf(this) + madeAt(this), error);
      if (kind !== "imported") lostMemory(context.ledger, kind).byteLength += byteLength;
    }
  }
}

/**
 * Takes the memory of a request from its resource; 0n for 0 bytes.
 *
 * @throws OutOfMemoryError with all amounts when the device cannot give that much.
 * @throws TypeError while a stream is being captured: launches would not repeat the call.
 */
export function takeMemory(request: AllocationRequest): bigint {
  const { resource, byteLength, stream, kind } = request;
  const { context } = stream;
  if (stream.disposed) throw new DisposedError(stream.toString());
  if (resource?.context !== context) throw otherDevice(resource, context);
  if (capturedMemory() !== undefined) throw refuseInCapture(() => capturing(request));
  if (checkSize(byteLength, "byteLength") === 0) return 0n;
  context.sweepMore();
  const isImpossible = byteLength > context.totalBytes && !resource.isHostAccessible &&
    !isStripedOver(resource, context);
  const need = { context, kind, byteLength, isImpossible };
  // A registered array already has its memory, so no room is made for it.
  const take = kind === "registered"
    ? () => resource.allocate(byteLength, stream)
    : () => allocateFrom(resource, byteLength, stream);
  const giveBack = (address: bigint) => returnMemory(request, address);
  return takeWithinLimits(need, take, { giveBack });
}

/** Gives memory that nobody needs after all back to its resource; if that fails, it counts as lost. */
export function returnMemory(request: AllocationRequest, address: bigint): void {
  const { resource, byteLength, stream, kind } = request;
  try {
    deallocateTo(resource, { address, byteLength, stream });
  } catch (error) {
    const { driver, ledger } = stream.context;
    reportLost(driver, `${formatBytes(byteLength)} of ${kind} memory`, error);
    lostMemory(ledger, kind).byteLength += byteLength;
  }
}

function otherDevice(resource: MemoryResource, context: Context): TypeError {
  requireResource(resource, "allocate from");
  return new TypeError(
    `Cannot allocate for a stream of device ${context.ordinal} from a resource of device ` +
      `${resource.context.ordinal}: use a stream and a resource of one device`,
  );
}

function capturing({ kind, stream }: AllocationRequest): TypeError {
  return new TypeError(
    `Cannot allocate ${kind} memory on ${stream} during a capture: allocate before it, or use ` +
      `gpu.alloc() or gpu.zeros() with the stream that is being captured`,
  );
}
