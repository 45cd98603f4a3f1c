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

/** Uses that the GPU may not be done with, and their arrays. */
const current = new Map<RegisteredUsage, HostBytes>();

/** Keeps the memory of these arrays. */
let keeper: MemoryKeeper | undefined;

/** The streams that use a registered array; its memory stays until they are done, wherever the array is. */
export class RegisteredUsage extends StreamUsage {
  readonly #context: Context;
  readonly #bytes: HostBytes;
  readonly #byteLength: number;

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
    if (this.#bytes.byteLength < this.#byteLength) {
      throw new DisposedError(
        `registered memory of ${formatBytes(this.#byteLength)}, whose array ${MOVED_AWAY}`,
      );
    }
    super.order(stream, access);
    if (!current.has(this)) this.#keepArray();
  }

  /**
   * Keeps the memory by a call on a thread of the runtime's, one for all arrays. A worker has none: ending
   * the worker would end the process while a thread has its arrays.
   */
  #keepArray(): void {
    if (CAN_BE_TERMINATED) return;
    current.set(this, this.#bytes);
    const former = keeper;
    keeper = keepMemory([...current.values()], 1);
    former?.letGo();
    this.#context.defer({
      isDue: () => this.isPassed,
      wait: () => this.waitSync("write"),
      run: () => this.#letArrayGo(),
    });
  }

  #letArrayGo(): void {
    current.delete(this);
    if (current.size > 0) return;
    const context = this.#context;
    const back = keeper?.letGo()?.then(() => {
      if (context.returning === back) context.returning = undefined;
    });
    keeper = undefined;
    context.returning = back;
  }
}
