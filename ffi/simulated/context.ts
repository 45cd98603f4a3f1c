// A device's primary context: counted by its users, destroyed with everything in it by the last.
// The current context is a stack, as the driver keeps one for each thread.

import type { Device } from "./device.ts";
import { refuse } from "./errors.ts";
import type { HostWaits } from "./host_waits.ts";
import { Stream } from "./stream.ts";

/** Owns streams, events, modules and memory. */
export class Context {
  /** Device of the context. */
  readonly device: Device;
  /** Value that callers hold. */
  readonly handle: bigint;
  /** The waits of the host. */
  readonly waits: HostWaits;
  /** The default stream, which waits for all blocking streams and they for it. */
  readonly legacyStream: Stream;
  /** The default stream of the thread. */
  readonly threadStream: Stream;
  /** All streams, and destroyed ones until their work is done. */
  readonly streams: Set<Stream> = new Set();
  /** Contexts whose memory this one may reach. */
  readonly peers: Set<Context> = new Set();
  /** Whether the last user has released the context, and no other has retained it since. */
  isDestroyed = false;

  /** Makes a context with its default streams. */
  constructor(device: Device, handle: bigint, waits: HostWaits) {
    this.device = device;
    this.handle = handle;
    this.waits = waits;
    this.legacyStream = new Stream(this, 1n, "legacy");
    this.threadStream = new Stream(this, 2n, "blocking");
    this.streams.add(this.legacyStream).add(this.threadStream);
  }

  /** Lets go of all that the context owned. */
  close(): void {
    this.isDestroyed = true;
    this.peers.clear();
    this.streams.clear();
    this.streams.add(this.legacyStream).add(this.threadStream);
  }
}

/** Keeps the stack of current contexts. */
export class ContextStack {
  #contexts: Context[] = [];

  /** Returns the context on top. */
  get top(): Context | undefined {
    return this.#contexts.at(-1);
  }

  /** Returns the context on top; throws when there is none that works. */
  get current(): Context {
    const { top } = this;
    if (top === undefined) refuse("CUDA_ERROR_INVALID_CONTEXT");
    if (top.isDestroyed) refuse("CUDA_ERROR_CONTEXT_IS_DESTROYED");
    return top;
  }

  /** Throws when no working context is on top. */
  requireCurrent(): void {
    void this.current;
  }

  /** Puts a context on top. */
  push(context: Context): void {
    this.#contexts.push(context);
  }

  /** Takes the top context off. */
  pop(): Context {
    return this.#contexts.pop() ?? refuse("CUDA_ERROR_INVALID_CONTEXT");
  }

  /** Puts a context in the place of the top; none takes the top off. */
  replace(context: Context | undefined): void {
    this.#contexts.pop();
    if (context !== undefined) this.#contexts.push(context);
  }
}
