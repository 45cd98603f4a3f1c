// A named place for one disposable: storing a new value disposes the old one, as re-run cells need.

import type { Context } from "../driver/context.ts";
import { describeValue, visibleText } from "../words/format.ts";
import { CALLBACK, isPromiseLike, requireKind, TEXT } from "../words/options.ts";

/** A value for a slot; null and undefined empty it. */
export type Held = Disposable | null | undefined;

const slotsOf = new WeakMap<Context, Slots>();

/** Fewer slots than this keep the names of values that the program has disposed. */
const MIN_CROWD = 64;

/**
 * Disposes the value in a named slot of a context, then stores what `make` returns or resolves to.
 * The slot stays empty when `make` fails.
 *
 * @throws TypeError when `make` is running for the same slot: it would dispose what that returns.
 */
export function fillSlot<T extends Held | Promise<Held>>(
  context: Context,
  { name, make }: { readonly name: string; readonly make: () => T },
): T {
  requireKind(name, TEXT, "slot");
  requireKind(make, CALLBACK, "slot");
  const slots = slotsOf.getOrInsertComputed(context, () => new Slots());
  for (let former = slots.get(name); former !== undefined; former = slots.get(name)) {
    if (former.isMaking) {
      const shown = visibleText(name);
      throw new TypeError(
        `Cannot call slot("${shown}") in the function that makes its value: give one of the two ` +
          `another name`,
      );
    }
    slots.delete(name); // first: disposing runs code of the program's, which may throw or fill it again
    former.dispose();
  }
  const slot = new Slot();
  slots.set(name, slot);
  const keep = (value: Held) => {
    slot.hold(requireHeld(value, name));
    return value;
  };
  const forgetEmpty = () => {
    if (slot.isEmpty && slots.get(name) === slot) slots.delete(name);
  };
  let isLate = false;
  try {
    const made: unknown = make();
    isLate = isPromiseLike(made); // of any realm
    if (!isLate) return keep(made as Held) as T;
    return Promise.resolve(made as Promise<Held>).then(keep).finally(forgetEmpty) as T;
  } finally {
    slot.isMaking = false;
    if (!isLate) forgetEmpty();
  }
}

/** Rejects a value that cannot be disposed, which would fail only at the next filling. */
function requireHeld(value: unknown, name: string): Held {
  const held = value as Held;
  if (held === null || held === undefined) return held;
  if (typeof held[Symbol.dispose] === "function") return held;
  throw new TypeError(
    `Cannot keep ${describeValue(value)} in slot "${visibleText(name)}": expected something that ` +
      "can be disposed, such as a buffer, or a DisposableStack for several",
  );
}

/** The slots of a context by name. It forgets those whose values were disposed, as they grow in number. */
class Slots extends Map<string, Slot> {
  #crowd = MIN_CROWD;

  override set(name: string, slot: Slot): this {
    if (this.size >= this.#crowd) {
      for (const [other, { isOver }] of this) if (isOver) this.delete(other);
      this.#crowd = Math.max(MIN_CROWD, 2 * this.size);
    }
    return super.set(name, slot);
  }
}

/** The value of one call to fill a slot; it may be disposed before the value is there. */
class Slot {
  #value: Held;
  #disposed = false;
  /** The function that makes its value has not returned yet. */
  isMaking = true;

  /** Tells whether it has no value, or none yet. */
  get isEmpty(): boolean {
    return this.#value === undefined || this.#value === null;
  }

  /** Tells whether it has a value, which was disposed. */
  get isOver(): boolean {
    return !this.isEmpty && Object(this.#value).disposed === true;
  }

  /** Keeps a value, or disposes it at once when the slot was filled again meanwhile. */
  hold(value: Held): void {
    if (this.#disposed) value?.[Symbol.dispose]();
    else this.#value = value;
  }

  dispose(): void {
    const value = this.#value;
    this.#disposed = true;
    this.#value = undefined;
    value?.[Symbol.dispose]();
  }
}
