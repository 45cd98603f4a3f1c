// Memory that leaves the device and comes back to the same addresses: its contents are in host memory or a
// file meanwhile, and whoever uses it wakes it first, or is told.

import { queueCopyNow } from "../copies/copy.ts";
import type { Context } from "../driver/context.ts";
import { tryRelease } from "../driver/release.ts";
import type { LoadedFile } from "../disk/loaded_files.ts";
import type { Allocation } from "../memory/allocation.ts";
import { takeOrReclaim } from "../memory/out_of_memory.ts";
import { PinnedPool } from "../memory/pinned_pool.ts";
import type { Access, StreamUsage, UseGate } from "../memory/stream_usage.ts";
import { whenPassed } from "../memory/when_passed.ts";
import { activeCapture } from "../order/capture.ts";
import { finishNow, type PendingWork } from "../order/pending_work.ts";
import { type CudaStream, defaultStreamOf, queueOf } from "../order/stream.ts";
import { formatBytes } from "../words/format.ts";
import { PersistError } from "./persist_error.ts";
import { alias, readParts, type SleepPart, writeParts } from "./sleep_file.ts";

/** Memory that sleeps, the place of its contents, and the effect of its uses. */
interface SleeperFields {
  readonly context: Context;
  readonly name: string;
  readonly parts: readonly SleepPart[];
  readonly allocations: readonly Allocation[];
  readonly to: "host" | "file" | "nothing";
  /** The file, for "file". */
  readonly path: string;
  readonly onUse: "wake" | "throw";
  /** Called when the memory has left, with the file that has its contents, if one has. */
  readonly whenAway: (file: LoadedFile | null) => void;
  /** Called when the memory is back. */
  readonly whenAwake: () => Promise<void>;
}

const hostPools = new WeakMap<Context, PinnedPool>();

/**
 * The host memory of a context's sleepers: kept after a wake for the next sleep, because pinning it anew
 * takes ten times as long as the copies. `gpu.trim()` gives it back.
 */
function hostPoolOf(context: Context): PinnedPool {
  return hostPools.getOrInsertComputed(context, () => PinnedPool.endingWith(context, Infinity));
}

const sleepers = new WeakMap<StreamUsage, Sleeper>();

/** Returns what a block sleeps with; undefined while it is awake. */
export function sleeperOf({ usage }: Allocation): Sleeper | undefined {
  return sleepers.get(usage);
}

/** Memory that sleeps together. */
export class Sleeper {
  readonly #fields: SleeperFields;
  readonly #gates: SleepGate[] = [];
  #state: "going" | "asleep" | "waking" | "awake" = "going";
  /** The file that has the contents. */
  #file: LoadedFile | undefined;
  /** Where those of each part are in host memory. */
  readonly #addresses: bigint[] = [];
  /** The uses of the blocks that are not freed: calls and graphs keep some that were given back. */
  readonly #usages: Set<StreamUsage>;
  /** Ends a save for which a use does not wait. */
  readonly #stop = new AbortController();
  /** The copies of a save that has begun: the default stream comes after all uses since. */
  #saving: Iterable<PendingWork> | undefined;
  /** A wake that is under way. */
  #waking: Promise<void> | undefined;
  /** Work after a wake, for which a use does not wait. */
  #after: Promise<void> | undefined;

  /** Begins: from here on every use is looked at. */
  constructor(fields: SleeperFields) {
    this.#fields = fields;
    this.#usages = new Set(fields.allocations.map(({ usage }) => usage));
    for (const usage of this.#usages) {
      this.#gates.push(new SleepGate(this, usage));
      sleepers.set(usage, this);
    }
    for (const { range } of fields.parts) range.sleeperCount++;
  }

  /** The parts that were not freed meanwhile. */
  get #parts(): readonly SleepPart[] {
    return this.#fields.parts.filter((part) => !part.range.isFreed);
  }

  /** The place of the contents in words. */
  get where(): string {
    const { to, path } = this.#fields;
    return to === "file" ? path : to === "host" ? "host memory" : to;
  }

  /** Where its contents are, in words; undefined while they are on the device. */
  get words(): string | undefined {
    if (this.#state !== "asleep" && this.#state !== "waking") return undefined;
    return `asleep, ${formatBytes(bytesOf(this.#parts))} in ${this.where}`;
  }

  /**
   * Saves the contents behind all that was queued, and gives the memory back. Returns false when a use
   * came first, which leaves everything as it was.
   */
  async fallAsleep(): Promise<boolean> {
    const { context, allocations, whenAway } = this.#fields;
    const stream = defaultStreamOf(context);
    using _kept = this.#hold();
    using undo = new DisposableStack();
    undo.defer(() => this.#open());
    undo.defer(() => this.#giveBack());
    for (const { usage } of allocations) usage.finishOn(stream);
    const { pending } = queueOf(stream);
    const before = new Set(pending);
    const save = this.#save(stream);
    this.#saving = pending.difference(before);
    await save.catch((error) => {
      if (this.#state === "going") throw error; // else a use has ended it
    });
    using mark = stream.record();
    await mark.synchronize();
    if (this.#state !== "going") return false;
    undo.move();
    this.#state = "asleep";
    context.ledger.asleepBytes += this.#liveBytes;
    for (const part of this.#parts) part.range.suspend(); // a failure is reported: that part takes its room, no more
    whenAway(this.#file ?? null);
    return true;
  }

  /** Brings the memory back, and queues what brings the contents back, before the use that needs it. */
  wakeNow(): void {
    if (this.#file !== undefined) {
      throw this.#refusal("its contents are in a file; await gpu.wake() it first");
    }
    if (this.#state === "waking") throw this.#refusal("it is waking up; await gpu.wake() it first");
    const { context, parts } = this.#fields;
    const stream = defaultStreamOf(context);
    this.#map();
    try {
      for (const [i, address] of this.#addresses.entries()) {
        const { range, byteLength = 0 } = parts[i] ?? {};
        if (range === undefined || range.isFreed) continue;
        using there = alias(context, { address: range.address, byteLength }, stream);
        using here = alias(context, { address, byteLength }, stream);
        queueCopyNow(there.span, here.span, stream); // the use behind it may be what the stream waits for
      }
    } catch (error) {
      // Copies into the first of them may be under way.
      tryRelease(context.driver, "what was to wake", () => queueOf(stream).synchronizeSync());
      for (const part of this.#parts) part.range.suspend();
      throw error;
    }
    this.#wakeUp();
    this.#giveBack(); // once the copies are done
  }

  /** Brings memory and contents back, and resolves when they are there. */
  async wake(): Promise<void> {
    if (this.#state === "going") return this.#stay();
    this.#waking ??= this.#wakeLate().finally(() => void (this.#waking = undefined));
    await this.#waking;
    await this.#after;
  }

  /** Lets a use pass, or refuses it. */
  use(): void {
    if (this.#state === "awake") return;
    const { onUse } = this.#fields;
    if (onUse === "throw") {
      const words = this.#state === "going" ? "it goes to sleep" : "it is asleep";
      throw this.#refusal(`${words}; await gpu.wake() it first`);
    }
    if (this.#state === "going") return this.#stay(); // as if it had slept and been woken
    if (activeCapture !== undefined) {
      throw this.#refusal("it is asleep during a capture; await gpu.wake() it first");
    }
    this.wakeNow();
  }

  /** Refuses to give an address away whose memory is not there. */
  refuseHandOut(): void {
    if (this.#state === "going") return this.#stay();
    if (this.#state !== "awake") throw this.#refusal("it is asleep; await gpu.wake() it first");
  }

  /** Notes that a block was given back. */
  leave(byteLength: number): void {
    if (this.words !== undefined) this.#fields.context.ledger.asleepBytes -= byteLength;
  }

  /** Notes that a block is freed: with the last, the contents go as well. */
  end(usage: StreamUsage): void {
    this.#usages.delete(usage);
    if (this.#usages.size > 0) return;
    if (this.#state === "asleep") this.#giveBack();
    this.#state = "awake";
  }

  async #wakeLate(): Promise<void> {
    const file = this.#file;
    if (this.#state !== "asleep") return;
    if (file === undefined) this.wakeNow();
    else {
      const { context, parts, name } = this.#fields;
      const stream = defaultStreamOf(context);
      using _kept = this.#hold();
      this.#map();
      this.#state = "waking";
      try {
        await readParts(context, parts, { file, stream, doing: `wake ${name}` });
      } catch (error) {
        for (const part of this.#parts) part.range.suspend();
        this.#state = "asleep";
        throw error;
      }
      this.#wakeUp();
    }
    await defaultStreamOf(this.#fields.context).synchronize();
  }

  async #save(stream: CudaStream): Promise<void> {
    const { context, parts, name, to, path } = this.#fields;
    const { signal } = this.#stop;
    if (to === "file") {
      this.#file = await writeParts(context, parts, { path, name, stream, signal });
    }
    if (to !== "host") return;
    for (const { range, byteLength } of parts) {
      const need = { context, kind: "pinned", byteLength } as const;
      const address = takeOrReclaim(need, () => hostPoolOf(context).allocate(byteLength, stream));
      this.#addresses.push(address);
      context.ledger.host.add(byteLength);
      using here = alias(context, { address: range.address, byteLength }, stream);
      using there = alias(context, { address, byteLength }, stream);
      queueCopyNow(there.span, here.span, stream);
    }
  }

  /** Gives host memory back, once the copies are done: it is a part of the blocks, and in no list itself. */
  #giveBack(): void {
    const { context, parts } = this.#fields;
    for (const [i, address] of this.#addresses.splice(0).entries()) {
      const { byteLength = 0 } = parts[i] ?? {};
      context.ledger.host.remove(byteLength);
      hostPoolOf(context).deallocate(address, byteLength, defaultStreamOf(context));
    }
  }

  /** Keeps the memory while copies use it in no block's order, also of blocks that are given back meanwhile. */
  #hold(): Disposable {
    const kept = new DisposableStack();
    const { allocations } = this.#fields;
    for (const block of allocations) if (this.#usages.has(block.usage)) kept.use(block.hold());
    return kept;
  }

  /** Takes memory for all parts, or for none; asleep it counts within `gpu.limit()` already. */
  #map(): void {
    const { context } = this.#fields;
    const parts = this.#parts;
    takeOrReclaim({ context, kind: "device", byteLength: bytesOf(parts) }, () => {
      using undo = new DisposableStack();
      for (const part of parts) {
        part.range.resume();
        undo.defer(() => part.range.suspend());
      }
      undo.move();
    });
  }

  /** Stays awake, with later uses behind the copies of a save. */
  #stay(): void {
    this.#stop.abort();
    finishNow(this.#saving ?? [], `use ${this.#fields.name}`);
    this.#open();
  }

  #wakeUp(): void {
    const { context, whenAwake } = this.#fields;
    context.ledger.asleepBytes -= this.#liveBytes;
    this.#open();
    this.#after = whenAwake();
  }

  /** Opens the gates, and makes later uses come after what the default stream does now. */
  #open(): void {
    if (this.#state === "awake") return;
    this.#state = "awake";
    const { context, parts } = this.#fields;
    const stream = defaultStreamOf(context);
    whenPassed(stream, () => {
      for (const { range } of parts) range.sleeperCount--;
    });
    for (const gate of this.#gates) gate.remove();
    for (const usage of this.#usages) {
      if (this.#saving !== undefined) usage.restart(stream);
      if (sleepers.get(usage) === this) sleepers.delete(usage);
    }
  }

  get #liveBytes(): number {
    return bytesOf(this.#fields.allocations.filter(({ released }) => !released));
  }

  #refusal(state: string): PersistError {
    return new PersistError("asleep", `Cannot use ${this.#fields.name}: ${state}`);
  }
}

/** The gate of one block: what looked at its uses before still does, behind this one. */
class SleepGate implements UseGate {
  readonly #sleeper: Sleeper;
  readonly #usage: StreamUsage;
  readonly #former: UseGate | undefined;

  constructor(sleeper: Sleeper, usage: StreamUsage) {
    this.#sleeper = sleeper;
    this.#usage = usage;
    this.#former = usage.gate;
    usage.gate = this;
  }

  get words(): string | undefined {
    return this.#sleeper.words;
  }

  isOpen(): boolean {
    return false;
  }

  pass(stream: CudaStream, access: Access): void {
    this.#sleeper.use();
    if (this.#former?.isOpen(access) === false) this.#former.pass(stream, access);
  }

  handOut(): void {
    this.#sleeper.refuseHandOut();
    this.#former?.handOut();
  }

  leave(byteLength: number): void {
    this.#sleeper.leave(byteLength);
  }

  end(): void {
    this.#sleeper.end(this.#usage);
  }

  remove(): void {
    if (this.#usage.gate === this) this.#usage.gate = this.#former;
  }
}

function bytesOf(parts: readonly { readonly byteLength: number }[]): number {
  return parts.reduce((sum, { byteLength }) => sum + byteLength, 0);
}
