// The messages between the processes of a group once they have met: failures, their end, and the choices
// for groups made from it.

import { type NcclReceiver, ownParts } from "../../ffi/own_parts.ts";
import type { DeviceAllocator } from "../buffers/device_buffer.ts";
import { formatCount, messageOf, visibleText } from "../words/format.ts";
import { within } from "../words/timer.ts";
import type { GroupFields, Relatives, Timed } from "./device_group.ts";
import type { Frame } from "./frames.ts";
import { GroupError, type GroupErrorFields } from "./group_error.ts";
import type { GroupLink, LinkedGroup } from "./group_link.ts";
import type { GroupOptions, ShrinkOptions, SplitOptions } from "./group_options.ts";
import { nameOf, readId } from "./handshake.ts";
import { JoinedCommunicator, type Peers } from "./joined_communicator.ts";
import type { Nccl } from "./nccl.ts";

/** The most characters of another process's text in a message. */
const MAX_WORDS = 2000;

/** The parts of a {@link ProcessGroup}. */
export interface ProcessGroupFields {
  readonly link: GroupLink;
  /** Name of the group on the link. */
  readonly id: string;
  /** Ranks on the link, in the order of the group's ranks. */
  readonly ranks: readonly number[];
  /** This process's rank in the group. */
  readonly rank: number;
  readonly nccl: Nccl;
  /** This rank's device, which allocates memory for models. */
  readonly device: DeviceAllocator;
}

export interface StartFields {
  readonly options: Timed<GroupOptions> & { readonly signal?: AbortSignal | undefined };
  /** Time that is left for the start. */
  readonly leftSeconds: number;
}

/** A call in which ranks exchange values. */
interface ExchangeFields {
  readonly call: "split" | "shrink";
  readonly options: Timed<SplitOptions | ShrinkOptions>;
}

/** The processes of one group: their messages to each other, and the groups made from it. */
export class ProcessGroup implements LinkedGroup, Peers, Relatives {
  readonly #fields: ProcessGroupFields;
  #communicator: JoinedCommunicator | undefined;
  #receive: NcclReceiver | undefined;
  /** Bytes for NCCL that arrived before it was started. */
  readonly #early: { readonly from: number; readonly bytes: Uint8Array<ArrayBuffer> }[] = [];
  /** The messages of the others, by subject and rank. */
  readonly #said = new Map<string, Map<number, unknown>>();
  readonly #waiting = new Set<() => void>();
  /** Number of barriers that each rank has come to, this one among them. */
  readonly #arrivals = new Map<number, number>();
  /** Ranks that have left in peace. */
  readonly #left = new Set<number>();
  /** The failure that was reported before there was a communicator. */
  #failure: GroupError | undefined;
  /** Number of calls that make other groups, by their name. */
  readonly #madeCount = { split: 0, shrink: 0 };
  /** Those that are under way. */
  readonly #making = new Set<string>();

  constructor(fields: ProcessGroupFields) {
    this.#fields = fields;
    fields.link.open(fields.id, this);
  }

  /** Starts NCCL with all others. */
  async start(
    id: Uint8Array<ArrayBuffer>,
    { options, leftSeconds }: StartFields,
  ): Promise<GroupFields> {
    const { nccl, device, rank, ranks: { length: size } } = this.#fields;
    const { context } = device;
    const { label, signal, timeoutSeconds } = options;
    let communicator: JoinedCommunicator | undefined;
    try {
      this.#receive = ownParts(context.driver.api).wire?.(id, {
        send: (to, bytes) => this.#send({ kind: "wire" }, to, bytes),
      });
      for (const { from, bytes } of this.#early.splice(0)) this.#receive?.(from, bytes);
      const before = context.freeBytes();
      const fields = { nccl, context, id, rank, size, peers: this, timeoutSeconds };
      communicator = JoinedCommunicator.start(fields);
      this.#communicator = communicator;
      if (this.#failure !== undefined) communicator.failWith(this.#failure);
      await communicator.started(`the group of ${size} ranks`, { signal, leftSeconds });
      const startBytes = [before - context.freeBytes()];
      const own = { label, timeoutSeconds };
      return {
        communicators: communicator,
        options: own,
        gpus: [device],
        relatives: this,
        startBytes,
      };
    } catch (error) {
      communicator?.end();
      await (communicator?.over() ?? this.close());
      throw error;
    }
  }

  // Called by the connections.

  onLost(linkRank: number): void {
    const rank = this.#fields.ranks.indexOf(linkRank);
    if (rank >= 0 && !this.#left.has(rank)) {
      this.#fail(`${this.nameOf(rank)} has ended`, { reason: "lost", rank });
    }
  }

  onCutOff(): void {
    this.#wake();
  }

  onMessage(linkRank: number, { head, bytes }: Frame): void {
    const rank = this.#fields.ranks.indexOf(linkRank);
    if (rank < 0) return;
    const { kind, words, subject, value } = head;
    if (kind === "left") {
      this.#left.add(rank);
      this.#communicator?.noteLeft(rank);
      this.#wake();
    } else if (kind === "arrived") {
      this.#arrivals.set(rank, (this.#arrivals.get(rank) ?? 0) + 1);
    } else if (kind === "failed") {
      const told = visibleText(String(words).slice(0, MAX_WORDS));
      this.#fail(`${this.nameOf(rank)} has ended the group: ${told}`, { reason: "ended", rank });
    } else if (kind === "wire") {
      if (this.#receive === undefined) this.#early.push({ from: rank, bytes });
      else this.#receive(rank, bytes);
    } else if (kind === "say" && typeof subject === "string") this.#hear(subject, rank, value);
  }

  mayOpen(made: string): boolean {
    const [call, number] = made.split(" ");
    if (call !== "split" && call !== "shrink") return false;
    return Number(number) >= this.#madeCount[call] || this.#making.has(`${call} ${number}`);
  }

  get isMaking(): boolean {
    return this.#making.size > 0;
  }

  hasLeft(linkRank: number): boolean {
    const rank = this.#fields.ranks.indexOf(linkRank);
    const isWorking = this.#communicator !== undefined && this.#communicator.failure === undefined;
    return !isWorking || rank < 0 || this.#left.has(rank);
  }

  #fail(words: string, fields: { readonly reason: "lost" | "ended"; readonly rank: number }): void {
    const failure = new GroupError(words, { ...fields, call: "joinGroup" });
    this.#failure ??= failure;
    this.#communicator?.failWith(failure);
    this.#wake();
  }

  // Called by the communicator, to tell the other ranks.

  nameOf(rank: number): string {
    const member = this.#fields.link.members[this.#fields.ranks[rank] ?? 0];
    return member === undefined ? `rank ${rank}` : nameOf({ ...member, rank });
  }

  describeSilent(): string {
    const { link, ranks } = this.#fields;
    const silent = link.silent.flatMap(({ rank, seconds }) => {
      const own = ranks.indexOf(rank);
      return own < 0
        ? []
        : [`${this.nameOf(own)} has been silent for ${Math.round(seconds)} seconds`];
    });
    return silent.length === 0 ? "" : `; ${silent.join(", ")}`;
  }

  tellArrival(): void {
    const { rank } = this.#fields;
    this.#arrivals.set(rank, (this.#arrivals.get(rank) ?? 0) + 1);
    this.#send({ kind: "arrived" });
  }

  get absent(): readonly number[] {
    const { rank: own, ranks } = this.#fields;
    const count = this.#arrivals.get(own) ?? 0;
    return ranks.flatMap((_, rank) => (this.#arrivals.get(rank) ?? 0) < count ? [rank] : []);
  }

  tellFailure({ message }: GroupError): void {
    this.#send({ kind: "failed", words: message.slice(0, MAX_WORDS) });
    this.#wake();
  }

  get link(): GroupLink {
    return this.#fields.link;
  }

  tellEnd(): void {
    this.#send({ kind: "left" });
  }

  async close(): Promise<void> {
    await this.#fields.link.close(this.#fields.id);
  }

  // Groups made from this one.

  async split(options: Timed<SplitOptions>): Promise<GroupFields | undefined> {
    const { color, key = 0 } = options;
    const { ranks, rank } = this.#fields;
    requireWhole("color", color ?? 0);
    requireWhole("key", key);
    using making = this.#make("split");
    const { subject } = making;
    const all = ranks.map((_, each) => each);
    const choice = { color: color ?? null, key };
    let answers: ReadonlyMap<number, unknown>;
    try {
      answers = await this.#exchange(subject, choice, { call: "split", from: all, options });
    } catch (error) {
      // Ranks that already have this rank's answer would wait for it in the new group.
      const words = messageOf(error).slice(0, MAX_WORDS);
      const news = { kind: "failed", words };
      if (color !== undefined) this.#fields.link.send(this.#idOf(subject, color), news);
      throw error;
    }
    if (color === undefined) return undefined;
    const chosen = all
      .map((each) => ({ each, ...readChoice(answers.get(each)) }))
      .filter((choice) => choice.color === color)
      .sort((one, other) => one.key - other.key || one.each - other.each)
      .map(({ each }) => each);
    const newId = this.#idOf(subject, color);
    return await this.#startFrom(newId, chosen, { call: "split", rank, options });
  }

  async shrink(options: Timed<ShrinkOptions>): Promise<GroupFields> {
    const { ranks, rank, link } = this.#fields;
    const lost = ranks.flatMap((each, at) => link.lost.has(each) ? [at] : []);
    const exclude = [...new Set(options.exclude ?? lost)].sort((one, other) => one - other);
    const wrong = exclude.find((each) => !Number.isInteger(each) || ranks[each] === undefined);
    if (wrong !== undefined) {
      throw new RangeError(
        `Cannot call shrink() without rank ${wrong}: the group has ranks 0 to ${ranks.length - 1}`,
      );
    }
    if (exclude.includes(rank)) {
      throw new RangeError(`Cannot call shrink() without rank ${rank}: that is this process`);
    }
    if (!link.isWatched || link.lost.has(0)) throw this.#cutOff("shrink");
    using making = this.#make("shrink");
    const { subject } = making;
    const left = ranks.map((_, each) => each).filter((each) => !exclude.includes(each));
    const answers = await this.#exchange(subject, exclude, { call: "shrink", from: left, options });
    for (const [each, answer] of answers) {
      if (String(answer) === String(exclude)) continue;
      throw new GroupError(
        `Cannot call shrink() without ${ranksIn(exclude)}: ${this.nameOf(each)} calls it without ` +
          ranksIn(answer),
        { reason: "refused", call: "shrink", rank: each },
      );
    }
    return await this.#startFrom(this.#idOf(subject), left, { call: "shrink", rank, options });
  }

  /** Begins a call that makes a group from this one. */
  #make(call: ExchangeFields["call"]): Disposable & { readonly subject: string } {
    const { link, id } = this.#fields;
    const subject = `${call} ${this.#madeCount[call]++}`;
    this.#making.add(subject);
    return {
      subject,
      [Symbol.dispose]: () => {
        this.#making.delete(subject);
        link.settle(id);
      },
    };
  }

  /** Returns the name on the link of a group made from this one. */
  #idOf(subject: string, color?: number): string {
    const { id } = this.#fields;
    return color === undefined ? `${id}/${subject}` : `${id}/${subject} ${color}`;
  }

  /** Starts a group of some of the ranks, all of which call this. */
  async #startFrom(
    id: string,
    chosen: readonly number[],
    { call, rank, options }: ExchangeFields & { readonly rank: number },
  ): Promise<GroupFields> {
    const { link, ranks, nccl, device } = this.#fields;
    const own = chosen.indexOf(rank);
    const processes = new ProcessGroup({
      link,
      id,
      ranks: chosen.map((each) => ranks[each] ?? 0),
      rank: own,
      nccl,
      device,
    });
    const { timeoutSeconds } = options;
    try {
      const name = own === 0 ? nccl.createId().toHex() : null;
      const heard = await processes.#exchange("id", name, { call, from: [0], options });
      const ncclId = readId(heard.get(0));
      if (ncclId === undefined) throw new TypeError("Cannot start a group: NCCL gave it no name");
      return await processes.start(ncclId, { options, leftSeconds: timeoutSeconds });
    } catch (error) {
      await processes.close();
      throw error;
    }
  }

  /** Sends a value to all others, and resolves to the values of the ranks in `from`. */
  async #exchange(
    subject: string,
    value: unknown,
    { call, from, options }: ExchangeFields & { readonly from: readonly number[] },
  ): Promise<ReadonlyMap<number, unknown>> {
    const { timeoutSeconds, signal } = options;
    this.#send({ kind: "say", subject, value });
    this.#hear(subject, this.#fields.rank, value);
    const endsAt = performance.now() + timeoutSeconds * 1000;
    for (;;) {
      const said = this.#said.get(subject);
      const missing = from.filter((each) => said?.has(each) !== true);
      if (missing.length === 0) {
        this.#said.delete(subject);
        return said ?? new Map();
      }
      const left = endsAt - performance.now();
      this.#requireHope(call, missing, { timeoutSeconds, signal, isLate: left <= 0 });
      await this.#change(left, signal);
    }
  }

  /** Checks that the missing ranks may still answer, and that the call may go on waiting. */
  #requireHope(
    call: string,
    missing: readonly number[],
    { timeoutSeconds, signal, isLate }: {
      readonly timeoutSeconds: number;
      readonly signal: AbortSignal | undefined;
      readonly isLate: boolean;
    },
  ): void {
    const { link, ranks } = this.#fields;
    const refuse = (why: string, fields: Omit<GroupErrorFields, "call">) =>
      new GroupError(`Cannot call ${call}(): ${why}`, { ...fields, call });
    const gone = missing.find((each) => link.lost.has(ranks[each] ?? -1));
    if (gone !== undefined) {
      throw refuse(`${this.nameOf(gone)} has ended`, { reason: "lost", rank: gone });
    }
    const left = missing.find((each) => this.#left.has(each));
    if (left !== undefined) {
      throw refuse(`${this.nameOf(left)} has left the group`, { reason: "lost", rank: left });
    }
    if (link.isCutOff) throw this.#cutOff(call);
    const failure = this.#communicator === undefined ? this.#failure : this.#communicator.failure;
    const isLeft = call === "shrink" && this.#communicator !== undefined; // what shrink() is for
    if (failure !== undefined && !isLeft) {
      const { reason, rank, message } = failure;
      throw refuse(`the group has failed; ${message}`, { reason, rank, cause: failure });
    }
    if (signal?.aborted === true) {
      throw refuse("its signal was aborted", { reason: "signal", cause: signal.reason });
    }
    if (!isLate) return;
    const limit = formatCount(timeoutSeconds, "second");
    const why = `${ranksIn(missing)} did not call it in ${limit}${this.describeSilent()}`;
    throw refuse(why, { reason: "timeout", rank: missing[0] });
  }

  #cutOff(call: string): GroupError {
    const first = this.#fields.ranks.indexOf(0);
    return new GroupError(
      `Cannot call ${call}(): the process of the first rank, through which all others are connected, ` +
        "has ended or left; join a new group",
      { reason: "lost", call, rank: first < 0 ? undefined : first },
    );
  }

  /** Resolves when another rank has answered, the time is over, or the signal is aborted. */
  async #change(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = () => resolve();
    this.#waiting.add(wake);
    signal?.addEventListener("abort", wake);
    await within(milliseconds, promise);
    signal?.removeEventListener("abort", wake);
    this.#waiting.delete(wake);
  }

  #hear(subject: string, rank: number, value: unknown): void {
    this.#said.getOrInsertComputed(subject, () => new Map()).set(rank, value);
    this.#wake();
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve();
  }

  #send(
    message: Readonly<Record<string, unknown>>,
    rank?: number,
    bytes?: Uint8Array<ArrayBuffer>,
  ): void {
    const { link, id, ranks } = this.#fields;
    if (rank === undefined) return link.send(id, message, bytes);
    link.send(id, { ...message, to: ranks[rank] ?? 0 }, bytes);
  }
}

function readChoice(value: unknown): { readonly color: unknown; readonly key: number } {
  const { color, key } = (value ?? {}) as { readonly color?: unknown; readonly key?: unknown };
  return { color, key: typeof key === "number" ? key : 0 };
}

function requireWhole(name: string, value: number): void {
  if (Number.isSafeInteger(value)) return;
  throw new RangeError(`Cannot call split() with { ${name}: ${value} }: expected a whole number`);
}

function ranksIn(value: unknown): string {
  const ranks = Array.isArray(value) ? value : [];
  return ranks.length === 0 ? "no rank" : ranks.map((rank) => `rank ${rank}`).join(", ");
}
