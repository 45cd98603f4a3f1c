// A device's primary context: counted by its users, destroyed with everything in it by the last.
// The current context is a stack, as the driver keeps one for each thread.

import { refuse } from "../errors.ts";
import type { Device } from "./device.ts";
import type { HostWaits } from "./happens_before.ts";

/** Owns streams, events, modules and memory, which name it. */
export class Context {
  readonly device: Device;
  readonly handle: bigint;
  readonly waits: HostWaits;
  /** Contexts whose memory this one may reach. */
  readonly peers: Set<Context> = new Set();
  /** Number of users; the context works while it has some. */
  userCount = 0;

  constructor(device: Device, handle: bigint, waits: HostWaits) {
    this.device = device;
    this.handle = handle;
    this.waits = waits;
  }

  /** The last user has released the context, and no other has retained it since. */
  get isDestroyed(): boolean {
    return this.userCount === 0;
  }
}

export class ContextStack {
  #contexts: Context[] = [];

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

  push(context: Context): void {
    this.#contexts.push(context);
  }

  pop(): Context {
    return this.#contexts.pop() ?? refuse("CUDA_ERROR_INVALID_CONTEXT");
  }

  /** Puts a context in the place of the top; none takes the top off. */
  replace(context: Context | undefined): void {
    this.#contexts.pop();
    if (context !== undefined) this.#contexts.push(context);
  }
}
