// Memory of another process that is open here: opened once for any number of buffers, and closed
// with the last of them.

import type { Context } from "../driver/context.ts";
import { tryRelease } from "../driver/release.ts";
import type { Lender } from "../memory/allocation.ts";
import { StreamUsage } from "../memory/stream_usage.ts";
import { defaultStreamOf } from "../order/stream.ts";

/** An allocation of another process, and the call that closes it. */
export interface OpenedFields {
  readonly context: Context;
  /** Text that identifies this allocation. */
  readonly key: string;
  readonly address: bigint;
  /** Bytes from there that can be used. */
  readonly byteLength: number;
  /** Closes it, when the GPU is done with it. */
  readonly close: () => void;
}

const opened = new WeakMap<Context, Map<string, OpenedMemory>>();

/** Memory of another process, which all its buffers hold open and order their uses by. */
export class OpenedMemory implements Lender {
  readonly usage: StreamUsage;
  readonly isReadOnly = false;
  readonly fields: OpenedFields;
  #holders = 1;

  /** Starts with one holder, who opened it. */
  constructor(fields: OpenedFields) {
    this.fields = fields;
    this.usage = new StreamUsage(defaultStreamOf(fields.context));
    known(fields.context).set(fields.key, this);
  }

  /** Finds an allocation that is open already, and holds it once more. */
  static find(context: Context, key: string): OpenedMemory | undefined {
    const found = known(context).get(key);
    found?.keep();
    return found;
  }

  get released(): boolean {
    return this.#holders === 0;
  }

  keep(): void {
    this.#holders++;
  }

  letGo(): void {
    if (--this.#holders > 0) return;
    const { context, key, close } = this.fields;
    known(context).delete(key);
    tryRelease(context.driver, "memory of another process", close);
  }

  /** Does nothing: the caller holds it open. */
  requireThere(): void {}
}

function known(context: Context): Map<string, OpenedMemory> {
  return opened.getOrInsertComputed(context, () => new Map());
}
