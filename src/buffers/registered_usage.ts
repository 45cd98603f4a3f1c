// The uses of a registered array. Its memory belongs to JavaScript, which frees it when the program moves
// the array away; work that is queued on the GPU still reads and writes it.

import type { Context } from "../driver/context.ts";
import { keepMemory, type MemoryKeeper } from "../lanes/memory_keeper.ts";
import { type HostBytes, MOVED_AWAY } from "../memory/host_memory.ts";
import { type Access, StreamUsage } from "../memory/stream_usage.ts";
import type { CudaStream } from "../order/stream.ts";
import { CAN_BE_TERMINATED } from "../order/waiting.ts";
import { DisposedError } from "../words/errors.ts";
import { formatBytes } from "../words/format.ts";

/** Arrays whose memory one sleeping call keeps. */
interface KeptArrays {
  readonly keeper: MemoryKeeper;
  /** The uses that the GPU may not be done with. */
  readonly uses: Map<RegisteredUsage, HostBytes>;
}

/** The call that keeps the arrays of each use that the GPU may not be done with. */
const current = new Map<RegisteredUsage, KeptArrays>();

/** The newest call: it is replaced by one for more arrays, unless some were moved away meanwhile. */
let newest: KeptArrays | undefined;

/** The streams that use a registered array; its memory stays until they are done, wherever the array is. */
export class RegisteredUsage extends StreamUsage {
  readonly #context: Context;
  readonly #bytes: HostBytes;
  readonly #byteLength: number;
  /** A use was ordered in this turn: its work may not be queued yet. */
  #isOrdering = false;

  /** Starts without a use: the memory is there for the host and all streams. */
  constructor(context: Context, bytes: HostBytes) {
    super();
    this.#context = context;
    this.#bytes = bytes;
    this.#byteLength = bytes.byteLength;
  }

  /** Returns whether a use needs nothing noted, and the memory is kept already. */
  override isInOrder(stream: CudaStream, access: Access): boolean {
    return current.has(this) && super.isInOrder(stream, access);
  }

  /**
   * Orders a use as {@link StreamUsage.order} does, and keeps the memory until the GPU is done.
   *
   * @throws DisposedError when the array was moved away before.
   */
  override order(stream: CudaStream, access: Access): void {
    this.#keepArray();
    if (!this.#isOrdering) queueMicrotask(() => this.#isOrdering = false);
    this.#isOrdering = true;
    super.order(stream, access);
  }

  /** Notes a use by a pending call, and keeps the memory until that is over and the GPU is done. */
  override addPending(...use: Parameters<StreamUsage["addPending"]>): void {
    this.#keepArray();
    super.addPending(...use);
  }

  /**
   * Keeps the memory by a call on a thread of the runtime's, one for all arrays that are still here. A
   * worker has none: ending the worker would end the process while a thread has its arrays.
   */
  #keepArray(): void {
    if (current.has(this)) return; // wherever the array is now
    if (!this.isHere) {
      throw new DisposedError(
        `registered memory of ${formatBytes(this.#byteLength)}, whose array ${MOVED_AWAY}`,
      );
    }
    if (CAN_BE_TERMINATED) return;
    const former = newest?.uses.keys().every((use) => use.isHere) === true ? newest : undefined;
    const uses = new Map(former?.uses).set(this, this.#bytes);
    const keep = () => keepMemory([...uses.values()], 1);
    let keeper = keep();
    if (keeper === undefined) {
      this.#context.waitForAll(); // lets go of what others keep
      keeper = keep();
    }
    if (keeper === undefined) return;
    newest = { keeper, uses };
    for (const use of uses.keys()) current.set(use, newest);
    this.#context.noteReturning(former?.keeper.letGo());
    this.#watch();
  }

  /** Lets the array go once no call is pending and the GPU is done. */
  #watch(): void {
    this.#context.defer({
      isDue: () => !this.#isOrdering && !this.hasPending && this.isPassed,
      wait: () => this.waitSync("write"),
      run: () => this.hasPending ? this.#watch() : this.#letArrayGo(),
    });
  }

  #letArrayGo(): void {
    const kept = current.get(this);
    current.delete(this);
    kept?.uses.delete(this);
    if (kept === undefined || kept.uses.size > 0) return;
    if (newest === kept) newest = undefined;
    this.#context.noteReturning(kept.keeper.letGo());
  }

  /** Tells an array that has its memory from one that was moved away. */
  get isHere(): boolean {
    return this.#bytes.byteLength === this.#byteLength;
  }
}
