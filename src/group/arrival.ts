// The side of every rank but 0 in a handshake: it tries until it reaches rank 0, introduces itself,
// and waits for the others.

import { formatCount } from "../words/format.ts";
import { type FrameConnection, STRANGER } from "./frames.ts";
import { GroupError } from "./group_error.ts";
import { GroupLink, Seat } from "./group_link.ts";
import { nonce, PROTOCOL, readNonce, readWelcome, type Secret } from "./handshake.ts";
import {
  absent,
  CALL,
  type Limit,
  MAX_SILENCE_MILLISECONDS,
  type MeetingFields,
  type Met,
  shortened,
  stopped,
} from "./meeting_limit.ts";
import { type Appointment, formatPlace } from "./rendezvous_address.ts";
import { connectTo } from "./rendezvous_sockets.ts";

/** Meets the other ranks; tries until rank 0 can be reached. */
export async function arrive(fields: MeetingFields, secret: Secret, limit: Limit): Promise<Met> {
  const { appointment: { place, rank }, timeoutSeconds, signal } = fields;
  const state: State = { words: "rank 0 does not listen there" };
  for (;;) {
    const { reason } = limit;
    if (reason === "signal") throw stopped(place, signal);
    if (reason === "timeout") {
      throw new GroupError(
        `Cannot join the group at ${formatPlace(place)} as rank ${rank}: ${state.words}, after ` +
          formatCount(timeoutSeconds, "second"),
        { reason: "timeout", call: CALL, rank: state.missing },
      );
    }
    const connection = await connectTo(place, limit, state);
    const met = connection && await introduce(connection, { fields, secret, limit, state });
    if (met !== undefined) return met;
    await limit.pause();
  }
}

/** The reason why it got no further, for the error when the time is over. */
interface State {
  words: string;
  /** The first rank that is known to be missing. */
  missing?: number | undefined;
}

/** An attempt over one connection. */
interface Attempt {
  readonly connection: FrameConnection;
  readonly fields: MeetingFields;
  readonly secret: Secret;
  readonly limit: Limit;
  readonly state: State;
}

/** Introduces this process, and waits for all others; undefined when the connection breaks. */
async function introduce(
  connection: FrameConnection,
  parts: Omit<Attempt, "connection">,
): Promise<Met | undefined> {
  const attempt = { ...parts, connection };
  const { limit } = parts;
  let isOver = false;
  void limit.over.then(() => isOver || connection.close());
  using patience = new Patience(connection, Math.min(MAX_SILENCE_MILLISECONDS, limit.left));
  try {
    const nonces = await greet(attempt);
    const met = nonces && await untilWelcome(attempt, { nonces, patience });
    isOver = met !== undefined;
    return met;
  } finally {
    if (!isOver) connection.close();
    isOver = true;
  }
}

/** Introduces this process. Returns both sides' nonces; undefined without rank 0's answer. */
async function greet(
  { connection, fields, secret, state }: Attempt,
): Promise<string[] | undefined> {
  const { introduction, appointment: { size } } = fields;
  const greeting = await connection.next();
  const theirs = readNonce(greeting?.head["nonce"]);
  const protocol = greeting?.head["vramkit"];
  if (theirs === undefined || typeof protocol !== "number") {
    state.words = "the process that listens there hangs up, or speaks something else";
    return undefined;
  }
  const own = nonce();
  const nonces = [theirs, own];
  const text = JSON.stringify(introduction);
  const proof = await secret.prove({ side: "rank", nonces, text });
  connection.send({ vramkit: PROTOCOL, nonce: own, introduction: text, proof });
  connection.limits = { ...STRANGER, headBytes: STRANGER.headBytes + size * 256 };
  return nonces;
}

/** Waits until rank 0 has all ranks; undefined when it hangs up or does not know the token. */
async function untilWelcome(
  attempt: Attempt,
  { nonces, patience }: { readonly nonces: readonly string[]; readonly patience: Patience },
): Promise<Met | undefined> {
  const { connection, fields: { appointment }, limit, state } = attempt;
  for (;;) {
    const frame = await connection.next();
    if (frame === undefined) {
      if (limit.reason !== undefined) return undefined; // this side has hung up
      state.words = "rank 0 has hung up";
      state.missing = undefined;
      return undefined;
    }
    patience.renew(); // from here on rank 0 says something every second
    const { waits, welcome, proof } = frame.head;
    const refusal = refusalIn(frame.head, appointment);
    if (Array.isArray(waits)) {
      const missing = waits.filter((each): each is number => Number.isSafeInteger(each));
      [state.missing] = missing;
      state.words = missing.length === 0
        ? "rank 0 does not go on"
        : `${absent(missing, appointment.size)} not come`;
    } else if (refusal !== undefined) {
      throw refusal;
    } else if (typeof welcome === "string") {
      return await enter(attempt, { nonces, text: welcome, proof });
    }
  }
}

/** Returns the error for a process that was refused, or whose group will not start. */
function refusalIn(
  { refused, words, over, rank: missing }: Readonly<Record<string, unknown>>,
  { place, rank }: Appointment,
): GroupError | undefined {
  const action = `Cannot join the group at ${formatPlace(place)} as rank ${rank}`;
  if (typeof refused === "string") {
    return new GroupError(`${action}: rank 0 refuses this process: ${shortened(words)}`, {
      reason: "refused",
      call: CALL,
    });
  }
  if (typeof over !== "string") return undefined;
  const isLate = typeof missing === "number";
  return new GroupError(`${action}: rank 0 has given up; ${shortened(over)}`, {
    reason: isLate ? "timeout" : "ended",
    call: CALL,
    rank: isLate ? missing : undefined,
  });
}

/** Takes the place in the group, if the proof shows that the welcome is rank 0's. */
async function enter(
  { connection, fields, secret, state }: Attempt,
  { nonces, text, proof }: {
    readonly nonces: readonly string[];
    readonly text: string;
    readonly proof: unknown;
  },
): Promise<Met | undefined> {
  const { introduction, appointment: { rank } } = fields;
  const met = readWelcome(text);
  const isProved = await secret.accepts({ side: "welcome", nonces, text }, proof);
  if (!isProved || met?.members[rank]?.pid !== introduction.pid) {
    state.words = "the process that listens there does not know the token";
    return undefined;
  }
  const [first] = met.members;
  if (first === undefined) return undefined;
  return { link: new GroupLink(rank, met.members, [new Seat(connection, first)]), id: met.id };
}

/** Closes a connection on which nothing arrives for some time. */
class Patience implements Disposable {
  readonly #connection: FrameConnection;
  #timer: ReturnType<typeof setTimeout>;

  /** Starts the time for the first message. */
  constructor(connection: FrameConnection, milliseconds: number) {
    this.#connection = connection;
    this.#timer = setTimeout(() => connection.close(), milliseconds);
  }

  /** Starts the time for the next message. */
  renew(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#connection.close(), 2 * MAX_SILENCE_MILLISECONDS);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}
