// The owner record of a stream, an event or a graph: dispose and garbage collection both go through it.
// It holds the driver's handle and never the object, so that the object can be collected.

import { originOf } from "../accounting/cell_runs.ts";
import { nextId, timeOfMaking } from "../accounting/clock.ts";
import type { LedgerEntry, LiveKind } from "../accounting/ledger.ts";
import type { Context } from "../driver/context.ts";
import { releaseAll } from "../driver/release.ts";
import { visibleText } from "../words/format.ts";
import { type Owner, unwatch, watch } from "./safety_net.ts";

/** The parts of a {@link HandleRecord}. */
interface HandleFields {
  /** The context that is kept alive until the handle is destroyed. */
  readonly context: Context;
  readonly kind: LiveKind;
  readonly handle: bigint;
  readonly label?: string | undefined;
  /** Destroys the handle; throws on failure. */
  readonly destroy: (handle: bigint) => void;
  /** Does what comes before the handle is destroyed; `isLost` says that the object was collected. */
  readonly beforeEnd?: ((isLost: boolean) => void) | undefined;
}

/** A handle of the driver's, which is released exactly once. */
export class HandleRecord implements LedgerEntry, Owner {
  readonly id: number = nextId();
  readonly kind: LiveKind;
  readonly byteLength = 0;
  readonly label: string | undefined;
  readonly stack: readonly string[] | undefined;
  readonly address = 0n;
  readonly streamHandle = 0n;
  readonly scope: string | undefined;
  slot = -1;
  readonly createdAt: number = timeOfMaking(this.byteLength);
  readonly handle: bigint;
  readonly #fields: HandleFields;
  #released = false;
  #isLost = false;
  #isDestroyed = false;
  #holderCount = 0;

  /** Records a handle of `owner`; when `owner` is garbage-collected, the handle is released. */
  constructor(owner: object, fields: HandleFields) {
    this.#fields = fields;
    this.kind = fields.kind;
    this.handle = fields.handle;
    this.label = fields.label;
    const { ledger } = fields.context.retain();
    this.stack = ledger.origins.find(this.byteLength, this.createdAt);
    this.scope = ledger.add(this);
    watch(owner, this);
  }

  get released(): boolean {
    return this.#released;
  }

  get origin(): string | undefined {
    return originOf(this);
  }

  /** The label, or the number. */
  get name(): string {
    return this.label === undefined ? `#${this.id}` : visibleText(this.label);
  }

  /** Takes the handle out of the ledger's live objects, because the kit made it for itself. */
  unlist(): void {
    this.#fields.context.ledger.remove(this);
  }

  /** Leaves the handle to somebody else, who destroys it. */
  giveAway(): void {
    if (this.#released) return;
    this.#released = true;
    unwatch(this);
    const { context } = this.#fields;
    context.ledger.remove(this);
    context.release();
  }

  /** Destroys the handle because its object was collected. */
  lose(): void {
    this.#isLost = true;
    this.release();
  }

  /** Tells whether the driver's object is destroyed: postponed calls keep it for a while. */
  get isDestroyed(): boolean {
    return this.#isDestroyed;
  }

  /** Keeps the handle for a postponed call, until the result is disposed. */
  hold(): Disposable {
    this.#holderCount++;
    return {
      [Symbol.dispose]: () => {
        if (--this.#holderCount === 0 && this.#released) this.#end();
      },
    };
  }

  /** Destroys the handle once no postponed call needs it; reports a failure and never throws. */
  release(): void {
    if (this.#released) return;
    this.#released = true;
    unwatch(this);
    this.#fields.context.ledger.remove(this);
    if (this.#holderCount === 0) this.#end();
  }

  #end(): void {
    const { context, beforeEnd, destroy } = this.#fields;
    releaseAll(context.driver, `${this.kind} ${this.name}`, [
      () => beforeEnd?.(this.#isLost),
      () => {
        this.#isDestroyed = true;
        destroy(this.handle);
      },
      () => context.sweepSome(),
      () => context.release(),
    ]);
  }
}
