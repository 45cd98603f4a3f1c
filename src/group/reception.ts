// Rank 0's side of a handshake: it listens until all ranks have connected, whoever else connects
// meanwhile, and then tells all of them to start.

import { formatCount } from "../words/format.ts";
import { FrameConnection, STRANGER } from "./frames.ts";
import { GroupError } from "./group_error.ts";
import { GroupLink, Seat } from "./group_link.ts";
import {
  type Introduction,
  type Member,
  nameOf,
  nonce,
  PROTOCOL,
  readIntroduction,
  readNonce,
  type Refused,
  type Secret,
} from "./handshake.ts";
import {
  absent,
  CALL,
  type Limit,
  MAX_SILENCE_MILLISECONDS,
  type MeetingFields,
  type Met,
  stopped,
} from "./meeting_limit.ts";
import { formatPlace } from "./rendezvous_address.ts";
import { listenAt } from "./rendezvous_sockets.ts";

/** The most strangers that are heard at the same time; others are sent away. */
const MAX_STRANGERS = 64;

/** The most refusals that the error about a missing rank mentions. */
const MAX_REFUSALS = 8;

/** Time between two messages to the waiting ranks. */
const TELL_MILLISECONDS = 1000;

/** Rank 0's side. */
export class Reception {
  readonly #fields: MeetingFields;
  readonly #secret: Secret;
  readonly #limit: Limit;
  readonly #seats = new Map<number, Seat>();
  /** Nonces of the ranks that are there, for the proof that they get. */
  readonly #nonces = new Map<Seat, readonly string[]>();
  /** Ranks that were there and are gone again, as those whose time ended first. */
  readonly #left = new Set<number>();
  readonly #strangers = new Set<FrameConnection>();
  /** Reasons of refusals; a process that tries again says nothing new. */
  readonly #refusals = new Set<string>();
  #whole = Promise.withResolvers<void>();

  constructor(fields: MeetingFields, secret: Secret, limit: Limit) {
    this.#fields = fields;
    this.#secret = secret;
    this.#limit = limit;
  }

  /** Waits for all ranks, and tells them to start. */
  async gather(): Promise<Met> {
    try {
      if (this.#fields.appointment.size > 1) await this.#untilWhole();
      return await this.#welcome();
    } catch (error) {
      this.#dismiss(error);
      throw error;
    }
  }

  /** Listens until all ranks are there. */
  async #untilWhole(): Promise<void> {
    const { appointment: { place }, signal } = this.#fields;
    using socket = await listenAt(place, this.#limit, signal);
    const { promise: isMoved, resolve: moved } = Promise.withResolvers<"moved">();
    const timer = setInterval(() => {
      this.#tell();
      if (!socket.isInPlace) moved("moved");
    }, TELL_MILLISECONDS);
    try {
      void this.#receive(socket.listener);
      while (this.#missing.length > 0) {
        const reason = await Promise.race([this.#whole.promise, this.#limit.over, isMoved]);
        if (reason !== undefined) throw this.#failed(reason);
        this.#whole = Promise.withResolvers(); // somebody may have gone meanwhile
      }
    } finally {
      clearInterval(timer);
      for (const stranger of this.#strangers) stranger.close();
    }
  }

  /** Tells all ranks at once to start. */
  async #welcome(): Promise<Met> {
    const { introduction, createId } = this.#fields;
    const seats = [...this.#seats.values()];
    const id = createId();
    const others = seats.map(({ member }) => member).sort((one, other) => one.rank - other.rank);
    const members = [introduction, ...others].map(memberOf);
    const text = JSON.stringify({ members, id: id.toHex() });
    const proofs = await Promise.all(seats.map((seat) => {
      const nonces = this.#nonces.get(seat) ?? [];
      return this.#secret.prove({ side: "welcome", nonces, text });
    }));
    // At once, so that a message from one rank to another is passed on after the other's welcome.
    const link = new GroupLink(0, members, seats);
    for (const [at, { connection }] of seats.entries()) {
      connection.send({ welcome: text, proof: proofs[at] });
    }
    return { link, id };
  }

  get #missing(): number[] {
    const { size } = this.#fields.appointment;
    return Array.from({ length: size }, (_, rank) => rank)
      .filter((rank) => rank > 0 && !this.#seats.has(rank));
  }

  /** The missing ranks that never came. */
  get #unseen(): number[] {
    return this.#missing.filter((rank) => !this.#left.has(rank));
  }

  /** The missing ranks that the others are told: those that never came, if there are any. */
  get #awaited(): number[] {
    const unseen = this.#unseen;
    return unseen.length > 0 ? unseen : this.#missing;
  }

  async #receive(listener: Deno.Listener): Promise<void> {
    for (;;) {
      try {
        const connection = new FrameConnection(await listener.accept(), STRANGER);
        if (this.#strangers.size < MAX_STRANGERS) void this.#hear(connection);
        else connection.close();
      } catch (error) {
        if (error instanceof Deno.errors.BadResource || error instanceof Deno.errors.Interrupted) {
          return; // closed
        }
        // Other failures, such as too many open files, may be temporary.
        if (this.#limit.reason !== undefined) return;
        await this.#limit.pause();
      }
    }
  }

  /** Reads the messages of one process, and accepts it or sends a refusal. */
  async #hear(connection: FrameConnection): Promise<void> {
    this.#strangers.add(connection);
    const timer = setTimeout(() => connection.close(), MAX_SILENCE_MILLISECONDS);
    try {
      const own = nonce();
      connection.send({ vramkit: PROTOCOL, nonce: own });
      const frame = await connection.next();
      const judged = frame === undefined ? undefined : await this.#judge(frame.head, own);
      if (judged === undefined || connection.isClosed) return connection.close();
      if ("refused" in judged) await this.#refuse(connection, judged);
      else this.#seat(connection, judged);
    } finally {
      clearTimeout(timer);
      this.#strangers.delete(connection);
    }
  }

  /** Checks the messages of a process; undefined when they do not belong to this handshake. */
  async #judge(
    head: Readonly<Record<string, unknown>>,
    own: string,
  ): Promise<Refused | { readonly met: Introduction; readonly nonces: string[] } | undefined> {
    const { vramkit: protocol, nonce: theirs, introduction: text, proof } = head;
    if (typeof protocol !== "number" || typeof text !== "string") return undefined;
    if (protocol !== PROTOCOL) {
      const words = `it speaks version ${protocol} of the handshake, rank 0 version ${PROTOCOL}`;
      return { refused: "protocol", words };
    }
    const word = readNonce(theirs);
    if (word === undefined) return undefined;
    const nonces = [own, word];
    if (!await this.#secret.accepts({ side: "rank", nonces, text }, proof)) {
      return { refused: "token", words: "its token is another one than that of rank 0" };
    }
    const met = readIntroduction(text);
    if (met === undefined) return undefined;
    return this.#compare(met) ?? { met, nonces };
  }

  /** Compares a process that knows the token with the planned group. */
  #compare(met: Introduction): Refused | undefined {
    const { introduction: own, appointment: { size } } = this.#fields;
    if (met.kit !== own.kit) return differs("version", "vramkit", met.kit, own.kit);
    if (met.isSimulated !== own.isSimulated) {
      const kind = (is: boolean) => is ? "a simulated device" : "a GPU";
      return differs("device", "", kind(met.isSimulated), kind(own.isSimulated));
    }
    if (met.nccl !== own.nccl) return differs("version", "NCCL", met.nccl, own.nccl);
    if (met.size !== size) return differs("size", "a size of", `${met.size}`, `${size}`);
    if (met.rank >= size) {
      const words = `it has rank ${met.rank}, the group of ${size} has ranks 0 to ${size - 1}`;
      return { refused: "rank", words };
    }
    const there = [own, ...[...this.#seats.values()].map(({ member }) => member)];
    const same = there.find(({ rank }) => rank === met.rank);
    if (same !== undefined) return { refused: "rank", words: `${nameOf(same)} is there already` };
    const user = there.find(({ device }) => device === met.device);
    if (user === undefined) return undefined;
    const words = `its GPU, ${met.device}, is that of ${nameOf(user)}; each rank needs one of ` +
      `its own`;
    return { refused: "device", words };
  }

  #seat(
    connection: FrameConnection,
    { met, nonces }: { readonly met: Introduction; readonly nonces: readonly string[] },
  ): void {
    // Another process may have come meanwhile, because proofs are checked concurrently.
    const refused = this.#compare(met);
    if (refused !== undefined) return void this.#refuse(connection, refused);
    const seat = new Seat(connection, memberOf({ ...met, address: connection.address }));
    this.#seats.set(met.rank, seat);
    this.#left.delete(met.rank);
    this.#nonces.set(seat, nonces);
    seat.attach(() => {}, () => {
      if (this.#seats.get(met.rank) !== seat) return;
      this.#seats.delete(met.rank);
      this.#left.add(met.rank);
    });
    connection.send({ waits: this.#awaited });
    if (this.#missing.length === 0) this.#whole.resolve();
  }

  async #refuse(connection: FrameConnection, refused: Refused): Promise<void> {
    const { address } = connection;
    const who = address === undefined ? "a process" : `a process at ${address}`;
    if (this.#refusals.size < MAX_REFUSALS) this.#refusals.add(`${who}: ${refused.words}`);
    connection.send({ ...refused });
    await connection.sent();
    connection.close();
  }

  #tell(): void {
    for (const { connection } of this.#seats.values()) {
      if (!connection.isBehind) connection.send({ waits: this.#awaited });
    }
  }

  #failed(reason: "timeout" | "signal" | "moved"): GroupError {
    const { appointment: { place, size }, timeoutSeconds, signal } = this.#fields;
    if (reason === "signal") return stopped(place, signal);
    if (reason === "moved") {
      return new GroupError(
        `Cannot join the group at ${formatPlace(place)} as rank 0: its socket is not there any ` +
          "more; it was removed, or another process is rank 0 there",
        { reason: "address", call: CALL },
      );
    }
    const unseen = this.#unseen;
    const gone = this.#missing.filter((rank) => this.#left.has(rank));
    const words = [
      unseen.length === 0 ? "" : `${absent(unseen, size)} not come`,
      gone.length === 0 ? "" : `${absent(gone, size)} come and left again`,
    ].filter((each) => each !== "").join(" and ");
    const refused = this.#refusals.size === 0
      ? ""
      : `; refused meanwhile: ${[...this.#refusals].join(", ")}`;
    return new GroupError(
      `Cannot join the group at ${formatPlace(place)}: ${words} in ` +
        `${formatCount(timeoutSeconds, "second")}${refused}`,
      { reason: "timeout", call: CALL, rank: this.#awaited[0] },
    );
  }

  /** Tells the connected ranks that there will be no group. */
  #dismiss(error: unknown): void {
    const words = error instanceof GroupError && error.reason === "timeout"
      ? error.message
      : "rank 0 has given up";
    const rank = error instanceof GroupError ? error.rank : undefined;
    for (const { connection } of this.#seats.values()) {
      connection.send({ over: words, rank });
      void connection.sent().then(() => connection.close());
    }
  }
}

function memberOf({ rank, pid, address, device }: Member): Member {
  return { rank, pid, address, device };
}

function differs(refused: Refused["refused"], what: string, theirs: string, own: string): Refused {
  const named = (value: string) => `${what} ${value}`.trim();
  return { refused, words: `it has ${named(theirs)}, rank 0 has ${named(own)}` };
}
