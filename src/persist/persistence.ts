// The facts about persisted memory: its time and its origin, who has it open, and whether all writes to it
// were finished.

import type { LoadedFile } from "../disk/loaded_files.ts";
import { formatBytes, visibleText } from "../words/format.ts";
import { comesFrom, type Parts, partsOf } from "../words/parts.ts";
import { refuseCloning } from "../words/uncloneable.ts";
import type { KeptFacts, Opener, Taint, Wholeness } from "./keeper_words.ts";
import { originWords, type PersistOrigin, timeWords } from "./origin.ts";

/** The parts of a {@link Persistence}. */
export interface PersistenceFields {
  readonly facts: KeptFacts;
  /** It was there before the call. */
  readonly wasThere: boolean;
  /** Reads who has it open now; undefined for memory that this program has not open. */
  readonly readOpeners?: (() => readonly Opener[]) | undefined;
  /** Reads where its contents are while this program has put it to sleep. */
  readonly readAsleep?: (() => string | undefined) | undefined;
}

/**
 * The facts about persisted memory, as `model.persistence` and the rows of `gpu.persisted()` have
 * it. While a program has the memory open, its properties tell of this moment.
 */
export class Persistence {
  /** The name. */
  readonly name: string;
  /** The device, as in `gpu.info.uuid`. */
  readonly device: string;
  /** Bytes of device memory. */
  readonly byteLength: number;
  /** Its kind, in words: `"model of 300 tensors"`. */
  readonly what: string;
  /** When it was made, in milliseconds since 1970. */
  readonly madeAt: number;
  /** Number of the process that made it. */
  readonly madeBy: number;
  /** The files that the kit loaded while it was made. */
  readonly files: readonly LoadedFile[];
  /** The program's own key. */
  readonly key: string | undefined;
  /** Number of file descriptors by which the keeper holds it. */
  readonly descriptorCount: number;
  /** It was there before the call that returned it. */
  readonly wasThere: boolean;
  readonly #taint: Taint | null;
  readonly #readAsleep: () => string | undefined;
  readonly #readOpeners: () => readonly Opener[];

  /** @ignore Adopts the keeper's facts. */
  constructor(parts: Parts<PersistenceFields>) {
    const { facts, wasThere, readOpeners, readAsleep } = partsOf(parts, new.target);
    const { name, device, byteLength, what, madeAt, madeBy, descriptorCount } = facts;
    const { files, key }: PersistOrigin = JSON.parse(facts.origin);
    this.name = name;
    this.device = device;
    this.byteLength = byteLength;
    this.what = what;
    this.madeAt = madeAt;
    this.madeBy = madeBy;
    this.files = files;
    this.key = key;
    this.descriptorCount = descriptorCount;
    this.wasThere = wasThere;
    this.#taint = facts.taint;
    this.#readAsleep = readAsleep ?? (() => facts.asleep?.where);
    this.#readOpeners = readOpeners ?? (() => facts.openers);
    refuseCloning(this);
  }

  /** The processes that have it open, this one included. */
  get openedBy(): readonly number[] {
    return [...new Set(this.#readOpeners().map(({ pid }) => pid))];
  }

  /**
   * State of the writes to it: `"clean"` when all were finished; `"dirty"` while a program writes, and
   * after one ended in the middle of it; `"unknown"` once its address was handed out (a pointer, DLPack) or
   * a stream of another library wrote it.
   */
  get state(): Wholeness {
    const states = [this.#taint?.state, ...this.#readOpeners().map(({ state }) => state)];
    if (states.includes("dirty")) return "dirty";
    return states.includes("unknown") ? "unknown" : "clean";
  }

  /** The process that ended, or let go, while its writes were not known to be finished; if there is one. */
  get unfinishedBy(): number | undefined {
    return this.#taint?.pid;
  }

  /** Where its contents are while it is asleep: `"host memory"`, or a file; undefined while it is not. */
  get asleepIn(): string | undefined {
    return this.#readAsleep();
  }

  /** Returns it as plain data. */
  toJSON(): Readonly<Record<string, unknown>> {
    const { state, openedBy, unfinishedBy, asleepIn, ...rest } = this;
    return { ...rest, state, openedBy, unfinishedBy, asleepIn };
  }

  /** Returns it in words: `"llama" made 2026-11-27 14:00:00 UTC of model.safetensors, clean`. */
  toString(): string {
    const { name, madeAt, files, key, state } = this;
    const origin = originWords({ files, key });
    return `"${visibleText(name)}" made ${timeWords(madeAt)} of ${origin}, ${state}`;
  }

  /** Returns the text that the console shows. */
  [Symbol.for("Deno.customInspect")](): string {
    const { what, byteLength, openedBy } = this;
    const open = openedBy.length === 0 ? "open nowhere" : `open in process ${openedBy.join(", ")}`;
    return `Persistence ${this}, ${what}, ${formatBytes(byteLength)}, ${open}`;
  }
}

comesFrom(Persistence, "gpu.persist() and gpu.persisted()");
