// Makes the steps of a sequence on a driver, real or simulated, and writes down what comes out: the
// status, what was received, or the rule that the simulated driver broke off with.

import type { DriverApi, DriverFunction } from "../../../ffi/cuda.ts";
import { SimulationError } from "../../../ffi/simulated/driver.ts";
import type { Rule } from "../../../ffi/simulated/stricter.ts";
import {
  type CallArguments,
  Impossible,
  isDriverFunction,
  makeArguments,
  POISON,
} from "./arguments.ts";
import { note } from "./bookkeeping.ts";
import { FUNCTIONS, type Output } from "./functions.ts";
import { formatBytes, parseStep, type Step } from "./notation.ts";
import { dangerOf } from "./safety.ts";
import { addressOf, bytesAt, shade, type Thing, World } from "./world.ts";

/** The outcome of a step that was not made. */
export const SKIPPED = "skip";

/** The outcome of a step. */
export interface Played {
  /** Status and outputs, `skip`, or `throws` with a rule. */
  readonly outcome: string;
  /** The rule of the simulated driver behind a refusal or an error. */
  readonly rule?: Rule | undefined;
  /** Whether the error is about an earlier step, whose work ran only now. */
  readonly isLate?: boolean;
}

/** The number of sequences this process has played, this one included. */
let sequenceCount = 0;

/** Makes steps on one driver. */
export class Player {
  /** The things that the sequence has made. */
  readonly world: World = new World();
  readonly #api: DriverApi;
  readonly #refusedBy: () => Rule | undefined;

  /** Starts with nothing made; `refusedBy` tells the rule behind a refusal of the simulated driver. */
  constructor(api: DriverApi, refusedBy: () => Rule | undefined = () => undefined) {
    this.#api = api;
    this.#refusedBy = refusedBy;
    sequenceCount++;
  }

  /** Makes a step and tells what came of it. */
  async play(line: string): Promise<Played> {
    const step = parseStep(line);
    try {
      if (!step.isForced && dangerOf(step, this.world) !== undefined) return { outcome: SKIPPED };
      if (!isDriverFunction(step.call)) return { outcome: this.#playOwn(step) };
      return await this.#playCall(step, step.call);
    } catch (error) {
      if (error instanceof Impossible) return { outcome: SKIPPED };
      if (!(error instanceof SimulationError)) throw error;
      const { rule, call } = error;
      return { outcome: `throws ${rule}`, rule, isLate: call !== step.call };
    }
  }

  async #playCall(step: Step, call: DriverFunction): Promise<Played> {
    const given = makeArguments(step, call, this.world);
    // The table and the words decide the types, which makeArguments() has checked.
    const run = this.#api[call] as ((...values: unknown[]) => number | Promise<number>) | null;
    if (run === null) return { outcome: "missing" };
    const status = await run(...given.values);
    const outputs = this.#receive(step, call, { given, status });
    note(step, call, this.world, status);
    return { outcome: [status, ...outputs].join(" "), rule: this.#refusedBy() };
  }

  /** Makes a step that is the recorder's own. */
  #playOwn({ call, words }: Step): string {
    const [name = "", byteLength = "0", value = "0"] = words;
    const { world } = this;
    switch (call) {
      case "array":
        world.addArray(name, Number(byteLength));
        return "0";
      case "settle":
        return String(this.#settle());
      case "look":
        return `0 ${formatBytes(this.#hostBytes(name, Number(byteLength)))}`;
      case "poke":
        this.#hostBytes(name, Number(byteLength)).fill(Number(value));
        return "0";
      case "fault":
        // For tests of the recorder: the process ends here, as no memory is at this address. With a
        // number it does so only when it has played that many sequences before.
        if (sequenceCount <= Number(name)) return "0";
        return String(bytesAt(8n, 1)[0]);
      case "stall":
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
        return "0";
      default:
        throw new TypeError(`Cannot play ${call}: it is no driver function`);
    }
  }

  /** Waits for all work of all contexts that the recorder holds; returns the first status that is bad. */
  #settle(): number {
    let worst = 0;
    for (const { name, value } of this.world.alive("context")) {
      if (!/^ctx\d$/.test(name)) continue;
      const statuses = [
        this.#api.cuCtxPushCurrent_v2(value),
        this.#api.cuCtxSynchronize(),
        this.#api.cuCtxPopCurrent_v2(new BigUint64Array(1)),
      ];
      worst ||= statuses.find((status) => status !== 0) ?? 0;
    }
    this.world.isQuiet = worst === 0;
    if (this.world.isQuiet) this.world.isFreeing = false;
    return worst;
  }

  #hostBytes(word: string, byteLength: number): Uint8Array<ArrayBuffer> {
    const [name = "", offset = "0"] = word.split("+");
    const thing = this.world.find(name);
    if (thing === undefined) throw new Impossible(`${name} does not exist`);
    const start = Number(offset);
    if (thing.bytes !== undefined) return thing.bytes.subarray(start, start + byteLength);
    return bytesAt(thing.value + BigInt(start), byteLength);
  }

  /** Reads what the cells of a call have received. */
  #receive(
    { words }: Step,
    call: DriverFunction,
    { given, status }: { given: CallArguments; status: number },
  ): string[] {
    const { outputs = {}, always = [] } = FUNCTIONS[call];
    return Object.entries(outputs).flatMap(([key, output]) => {
      const place = Number(key);
      const cell = given.cells.get(place);
      if (cell === undefined || (status !== 0 && !always.includes(place))) return [];
      const kind = typeof output === "function" ? output(words) : output;
      return kind === undefined ? [] : [this.#read(kind, cell, { words, place })];
    });
  }

  #read(
    kind: Output,
    cell: Uint8Array<ArrayBuffer>,
    { words, place }: { words: readonly string[]; place: number },
  ): string {
    const view = new DataView(cell.buffer, cell.byteOffset, cell.byteLength);
    if (typeof kind === "object") return this.#make(kind, cell, { words, place });
    if (kind === "machine") return cell.every((byte) => byte === POISON) ? "unset" : "set";
    if (cell.subarray(0, 4).every((byte) => byte === POISON)) return "unset";
    switch (kind) {
      case "i32":
        return String(view.getInt32(0, true));
      case "i32s": {
        const count = Math.min(Number(words[place + 1]) / 4, cell.byteLength / 4);
        return Array.from({ length: count }, (_, i) => view.getInt32(i * 4, true)).join(",");
      }
      case "u64":
        return String(view.getBigUint64(0, true));
      case "handle":
        return this.#nameOf(view.getBigUint64(0, true));
      case "address":
        return this.#placeOf(view.getBigUint64(0, true));
    }
  }

  /** Gives a name to something new, or finds that it is known already. */
  #make(
    { makes, bytes }: Extract<Output, { makes: unknown }>,
    cell: Uint8Array<ArrayBuffer>,
    { words, place }: { words: readonly string[]; place: number },
  ): string {
    if (cell.every((byte) => byte === POISON)) return "unset";
    const { world } = this;
    const name = words[place]?.slice(1) ?? "";
    const value = makes === "ipc"
      ? addressOf(cell)
      : new DataView(cell.buffer, cell.byteOffset).getBigUint64(0, true);
    if (value === 0n) return "null";
    const known = world.alive(makes).find((thing) => thing.value === value);
    const byteLength = bytes?.(words) ?? 0;
    if (name !== "") {
      world.add({
        ...{ name, kind: makes, value, byteLength, isAlive: true },
        ...this.#originOf(makes, words),
        home: this.#homeOf(makes, words),
        ...(makes === "ipc" ? { bytes: cell.slice(0, 64) } : {}),
      });
    }
    if (makes === "pinned" || makes === "managed") shade(bytesAt(value, byteLength), name);
    return known === undefined ? "new" : known.name;
  }

  #homeOf(makes: Thing["kind"], words: readonly string[]): string {
    const stream = makes === "pooled" ? this.world.find(words.at(-1) ?? "") : undefined;
    if (stream?.home !== undefined) return stream.home;
    const cell = new BigUint64Array(1);
    return this.#api.cuCtxGetCurrent(cell) === 0 ? this.#nameOf(cell[0] ?? 0n) : "null";
  }

  #originOf(makes: Thing["kind"], words: readonly string[]): Partial<Thing> {
    const { world } = this;
    if (makes === "pooled") {
      const capture = world.captureOf(words.at(-1) ?? "");
      return capture === undefined ? {} : { capture };
    }
    if (makes === "graph") {
      const capture = [...world.captures].find(({ origin }) => origin === words[0]);
      return capture === undefined ? {} : { capture };
    }
    const graph = makes === "node" ? world.find(words[0] ?? "") : undefined;
    if (graph !== undefined) return { source: graph };
    const source = makes === "exec" || makes === "function" || makes === "kernel"
      ? world.find(words[1] ?? "")
      : undefined;
    return source === undefined ? {} : { source };
  }

  #nameOf(value: bigint): string {
    if (value === 0n) return "null";
    const found = [...this.world.things.values()].find((thing) => thing.value === value);
    return found?.name ?? "?";
  }

  #placeOf(address: bigint): string {
    if (address === 0n) return "null";
    const thing = this.world.at(address);
    if (thing === undefined) return "?";
    const offset = address - thing.value;
    return offset === 0n ? thing.name : `${thing.name}+${offset}`;
  }
}
