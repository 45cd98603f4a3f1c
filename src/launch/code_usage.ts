// The streams that run kernels of a module: its code is not unloaded before they are done. Streams
// need no order among each other for that, so a launch only notes its stream.

import type { Context } from "../driver/context.ts";
import { type Access, StreamUsage } from "../memory/stream_usage.ts";
import { type CudaStream, defaultStreamOf, queueOf } from "../order/stream.ts";

/** From this many streams on, streams that are gone are removed first. */
const MANY = 8;

/** The streams whose queued work may still run code. */
export class CodeUsage extends StreamUsage {
  #streams: CudaStream[] = [];
  #last: CudaStream | undefined;

  constructor(context: Context) {
    super(defaultStreamOf(context));
  }

  override order(stream: CudaStream, _access: Access): void {
    if (this.#last === stream) return;
    this.#last = stream;
    if (this.#streams.includes(stream)) return;
    if (this.#streams.length >= MANY) {
      this.#streams = this.#streams.filter((other) => !queueOf(other).isOver);
    }
    this.#streams.push(stream);
  }

  override finishOn(stream: CudaStream): void {
    for (const other of this.#streams) this.follow(stream, other);
  }

  override streams(): CudaStream[] {
    return this.#streams;
  }
}
