// The connections between the processes of a group: each rank has one to rank 0, which passes messages
// on. They show when a rank has ended, is silent or has left, and carry messages between ranks.

import { within } from "../words/timer.ts";
import { type Frame, type FrameConnection, MEMBER } from "./frames.ts";
import type { Member } from "./handshake.ts";

/** Time between two signs of life. */
const BEAT_MILLISECONDS = 1000;

/** After such a gap between its signs of life, this process may have missed messages. */
const GAP_MILLISECONDS = 2500;

/** The longest wait for an answer of the others. */
const ANSWER_MILLISECONDS = 5000;

/** A rank that has sent nothing for so long counts as silent. */
const SILENCE_MILLISECONDS = 3000;

/** The longest wait for the last messages to be sent. */
const SENDING_MILLISECONDS = 1000;

/** The longest time that rank 0 stays connected to pass on the others' messages. */
const PARTING_MILLISECONDS = 5000;

/** The addressee that stands for all other ranks. */
const OTHERS = "others";

/** A group that uses the link: the first one, of all ranks, or one that was split from it. */
export interface LinkedGroup {
  /** Called when a rank's process has ended or cannot be reached. */
  onLost(rank: number): void;
  /** Called when the connection to rank 0, which passes on all messages, has ended. */
  onCutOff(): void;
  /** Called with each message of a rank for this group. */
  onMessage(rank: number, frame: Frame): void;
  /** Returns whether this process may still open the group that was made from this one by a call. */
  mayOpen(made: string): boolean;
  /** Such a call is under way. */
  readonly isMaking: boolean;
  /** Returns whether a rank says nothing more in this group. */
  hasLeft(rank: number): boolean;
}

/** A connection to a rank, whose messages are read as they arrive. */
export class Seat {
  readonly connection: FrameConnection;
  readonly member: Member;
  #onFrame: (frame: Frame) => void = () => {};
  #onEnd: () => void = () => {};
  #hasEnded = false;
  readonly #over = Promise.withResolvers<void>();

  constructor(connection: FrameConnection, member: Member) {
    this.connection = connection;
    this.member = member;
    void this.#read();
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Sets the listeners for messages and for the end, which may have come already. */
  attach(onFrame: (frame: Frame) => void, onEnd: () => void): void {
    this.#onFrame = onFrame;
    this.#onEnd = onEnd;
    if (this.#hasEnded) onEnd();
  }

  /** Stops sending; resolves when the other end has hung up as well. */
  async end(): Promise<void> {
    await this.connection.finish();
    await this.#over.promise;
  }

  async #read(): Promise<void> {
    for (;;) {
      const frame = await this.connection.next();
      if (frame === undefined) break;
      this.#onFrame(frame);
    }
    this.#hasEnded = true;
    this.connection.close();
    this.#over.resolve();
    this.#onEnd();
  }
}

/** This process's end of the connections. */
export class GroupLink {
  /** This process's rank. */
  readonly rank: number;
  /** All ranks, in their order. */
  readonly members: readonly Member[];
  /** Rank 0 has one for each other rank, the others have one for rank 0. */
  readonly #seats: ReadonlyMap<number, Seat>;
  readonly #groups = new Map<string, LinkedGroup>();
  /** Groups from which others are made: those that are open, or whose calls are under way. */
  readonly #makers = new Map<string, LinkedGroup>();
  /** Messages for groups that this process has not started yet. */
  readonly #early = new Map<string, { readonly rank: number; readonly frame: Frame }[]>();
  /** Groups that were closed and were not made from others. */
  readonly #closed = new Set<string>();
  /** Times of the last signs of life. */
  readonly #heardAt = new Map<number, number>();
  /** Ranks that rank 0 calls silent, and for how many milliseconds. */
  #silent: readonly (readonly [rank: number, milliseconds: number])[] = [];
  /** Ranks that said goodbye. */
  readonly #parted = new Set<number>();
  readonly #lost = new Set<number>();
  readonly #timer: ReturnType<typeof setInterval>;
  /** Called when a rank has answered, has parted or is lost. */
  readonly #onChange = new Set<() => void>();
  /** Time of this process's last sign of life. */
  #beatAt = performance.now();
  /** The pending question to the others whether something has happened while this process slept. */
  #question: Promise<void> | undefined;
  /** Ranks that have answered it. */
  readonly #answered = new Set<number>();
  #isOpen = true;

  /** Adopts connections whose handshake is done. */
  constructor(rank: number, members: readonly Member[], seats: readonly Seat[]) {
    this.rank = rank;
    this.members = members;
    this.#seats = new Map(seats.map((seat) => [seat.member.rank, seat]));
    const now = performance.now();
    for (const { member, connection } of seats) {
      connection.limits = MEMBER;
      this.#heardAt.set(member.rank, now);
    }
    for (const seat of seats) {
      seat.attach((frame) => this.#take(seat.member.rank, frame), () => this.#end(seat));
    }
    this.#timer = setInterval(() => this.#beat(), BEAT_MILLISECONDS);
    Deno.unrefTimer(this.#timer);
  }

  /** Ranks whose process is known to have ended. */
  get lost(): ReadonlySet<number> {
    return this.#lost;
  }

  /** Tells whether this process still learns about other ranks: rank 0 has not left. */
  get isWatched(): boolean {
    return this.#isOpen && (this.rank === 0 || !this.#parted.has(0));
  }

  /** Tells whether no other rank can be reached any more, because rank 0 has ended or left. */
  get isCutOff(): boolean {
    return this.#seats.get(0)?.hasEnded === true;
  }

  /** Ranks that have sent nothing for a while, and for how many seconds. */
  get silent(): readonly { readonly rank: number; readonly seconds: number }[] {
    const now = performance.now();
    const found = this.rank === 0 ? this.#findSilent() : this.#silent;
    const heardAt = this.#heardAt.get(0);
    // Rank 0 passes on all messages: while it is silent, nothing is known of the others.
    const all = heardAt !== undefined && now - heardAt > SILENCE_MILLISECONDS
      ? [[0, now - heardAt] as const]
      : found;
    return all.map(([rank, milliseconds]) => ({ rank, seconds: milliseconds / 1000 }));
  }

  /** Tells whether this process has slept, or held up the event loop, so that messages may be unread. */
  get isDoubtful(): boolean {
    return this.#question !== undefined || performance.now() - this.#beatAt > GAP_MILLISECONDS;
  }

  /** Resolves when everything is read that the others have sent so far. */
  async confirm(): Promise<void> {
    if (this.isDoubtful && this.#isOpen) await (this.#question ??= this.#ask());
  }

  /**
   * Begins to pass messages to a group; passes on at once what arrived for it before. A group that was
   * made from another one is named `maker/call number`, with more words as needed.
   */
  open(id: string, group: LinkedGroup): void {
    this.#groups.set(id, group);
    this.#makers.set(id, group);
    const early = this.#early.get(id) ?? [];
    this.#early.delete(id);
    for (const { rank, frame } of early) group.onMessage(rank, frame);
  }

  /**
   * Ends a group's messages; resolves when this process's are sent, and on rank 0 when the others have
   * left the group as well: it passes on what they say, and the program may end next. After the last
   * group this process says goodbye.
   */
  async close(id: string): Promise<void> {
    const group = this.#groups.get(id);
    if (group === undefined) return;
    if (makerOf(id) === undefined) this.#closed.add(id);
    if (this.rank === 0 && this.#groups.size > 1) {
      await this.#until(
        ({ member, hasEnded }) => hasEnded || group.hasLeft(member.rank),
        PARTING_MILLISECONDS,
      );
    }
    if (!this.#groups.delete(id)) return;
    this.settle(id);
    const seats = [...this.#seats.values()];
    if (this.#groups.size > 0 || !this.#isOpen) {
      const sent = Promise.all(seats.map(({ connection }) => connection.sent()));
      return await within(SENDING_MILLISECONDS, sent);
    }
    this.#pass({ kind: "bye", to: OTHERS, from: this.rank });
    if (this.rank === 0) {
      await this.#until(
        ({ member, hasEnded }) => hasEnded || this.#parted.has(member.rank),
        PARTING_MILLISECONDS,
      );
    }
    this.#isOpen = false;
    clearInterval(this.#timer);
    await within(SENDING_MILLISECONDS, Promise.all(seats.map((seat) => seat.end())));
    for (const { connection } of seats) connection.close();
  }

  /** Notes that a group was closed, or that a call which makes one from it is over. */
  settle(id: string): void {
    if (!this.#groups.has(id) && this.#makers.get(id)?.isMaking === false) this.#makers.delete(id);
    for (const early of this.#early.keys()) if (this.#isOver(early)) this.#early.delete(early);
  }

  /** Sends a message, with or without bytes, to a rank or to all others. */
  send(
    group: string,
    message: Readonly<Record<string, unknown>> & { readonly to?: number },
    bytes?: Uint8Array<ArrayBuffer>,
  ): void {
    this.#pass({ ...message, to: message.to ?? OTHERS, group, from: this.rank }, bytes);
  }

  /** Sends a message on its way. */
  #pass(head: Readonly<Record<string, unknown>>, bytes?: Uint8Array<ArrayBuffer>): void {
    const { to, from } = head;
    for (const [rank, { connection }] of this.#seats) {
      const isForIt = this.rank !== 0 || to === rank || (to === OTHERS && from !== rank);
      if (isForIt) connection.send(head, bytes);
    }
  }

  #take(seat: number, { head, bytes }: Frame): void {
    this.#heardAt.set(seat, performance.now());
    // Rank 0 knows the sender by the connection; the others learn it from rank 0.
    const from = this.rank === 0 ? seat : head["from"] ?? 0;
    if (typeof from !== "number") return;
    const { kind, to, group } = head;
    if (kind === "beat") {
      this.#silent = readSilent(head["silent"]);
      return;
    }
    const frame = { head: { ...head, from }, bytes };
    if (this.rank === 0 && to !== 0) this.#pass(frame.head, bytes);
    if (to !== this.rank && to !== OTHERS) return;
    if (kind === "bye") {
      this.#parted.add(from);
      this.#change();
    } else if (kind === "ask") this.#pass({ kind: "answer", to: from, from: this.rank });
    else if (kind === "answer") {
      this.#answered.add(from);
      this.#change();
    } else if (kind === "lost" && typeof head["rank"] === "number") this.#lose(head["rank"]);
    else if (typeof group === "string") {
      this.#deliver(group, from, frame);
      this.#change();
    }
  }

  #deliver(id: string, rank: number, frame: Frame): void {
    const group = this.#groups.get(id);
    if (group !== undefined) return group.onMessage(rank, frame);
    if (this.#isOver(id)) return;
    this.#early.getOrInsertComputed(id, () => []).push({ rank, frame });
  }

  /** Returns whether this process will not open a group: it was closed, or is one of other ranks. */
  #isOver(id: string): boolean {
    const maker = makerOf(id);
    if (maker === undefined) return this.#closed.has(id);
    const group = this.#makers.get(maker);
    return group === undefined ? this.#isOver(maker) : !group.mayOpen(id.slice(maker.length + 1));
  }

  #end({ member: { rank } }: Seat): void {
    this.#change();
    if (!this.#isOpen) return;
    if (!this.#parted.has(rank)) {
      if (this.rank === 0) this.#pass({ kind: "lost", rank, to: OTHERS, from: 0 });
      this.#lose(rank);
    }
    if (!this.isCutOff) return;
    for (const group of [...this.#groups.values()]) group.onCutOff();
  }

  #lose(rank: number): void {
    if (this.#lost.has(rank)) return;
    this.#lost.add(rank);
    for (const group of [...this.#groups.values()]) group.onLost(rank);
  }

  /** Asks the ranks that this process is connected to, which answer after all they have sent. */
  async #ask(): Promise<void> {
    this.#answered.clear();
    for (const rank of this.#seats.keys()) this.#pass({ kind: "ask", to: rank, from: this.rank });
    await this.#until(
      ({ member: { rank }, hasEnded }) =>
        hasEnded || this.#answered.has(rank) || this.#parted.has(rank),
      ANSWER_MILLISECONDS,
    );
    this.#beatAt = performance.now();
    this.#question = undefined;
  }

  /** Waits until something holds of all connections, but not for ever. */
  async #until(isSo: (seat: Seat) => boolean, milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = () => {
      if ([...this.#seats.values()].every(isSo)) resolve();
    };
    this.#onChange.add(look);
    look();
    await within(milliseconds, promise);
    this.#onChange.delete(look);
  }

  #change(): void {
    for (const look of this.#onChange) look();
  }

  #beat(): void {
    const now = performance.now();
    if (now - this.#beatAt > GAP_MILLISECONDS) this.#question ??= this.#ask();
    this.#beatAt = now;
    const silent = this.rank === 0 ? this.#findSilent() : [];
    for (const { connection } of this.#seats.values()) {
      if (!connection.isBehind) connection.send({ kind: "beat", from: this.rank, silent });
    }
  }

  #findSilent(): (readonly [rank: number, milliseconds: number])[] {
    const now = performance.now();
    return [...this.#heardAt].flatMap(([rank, at]) => {
      const isSilent = now - at > SILENCE_MILLISECONDS && !this.#parted.has(rank) &&
        !this.#lost.has(rank);
      return isSilent ? [[rank, now - at] as const] : [];
    });
  }
}

/** Returns the name of the group that a group was made from; undefined for the first one. */
function makerOf(id: string): string | undefined {
  const end = id.lastIndexOf("/");
  return end < 0 ? undefined : id.slice(0, end);
}

function readSilent(value: unknown): (readonly [rank: number, milliseconds: number])[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((pair: unknown) => {
    const [rank, milliseconds] = Array.isArray(pair) ? pair as unknown[] : [];
    const isPair = typeof rank === "number" && typeof milliseconds === "number";
    return isPair ? [[rank, milliseconds] as const] : [];
  });
}
