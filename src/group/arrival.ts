// The side of a rank that is not 0 in a handshake: it tries until rank 0 is there, says who it is, and
// waits for the others.

import { formatCount } from "../words/format.ts";
import { type FrameConnection, STRANGER } from "./frames.ts";
import { GroupError } from "./group_error.ts";
import { GroupLink, Seat } from "./group_link.ts";
import { nonce, PROTOCOL, readNonce, readWelcome, type Secret } from "./handshake.ts";
import {
  absent,
  CALL,
  type Limit,
  type MeetingFields,
  type Met,
  PATIENCE_MILLISECONDS,
  RETRY_MILLISECONDS,
  shortened,
  stopped,
} from "./meeting_limit.ts";
import { formatPlace } from "./rendezvous_address.ts";
import { connectTo } from "./rendezvous_sockets.ts";

/** Meets the others: tries until rank 0 is there. */
export async function arrive(fields: MeetingFields, secret: Secret, limit: Limit): Promise<Met> {
  const { appointment: { place, rank }, timeoutSeconds, signal } = fields;
  const state = { words: "rank 0 does not listen there" };
  for (;;) {
    const { reason } = limit;
    if (reason === "signal") throw stopped(place, signal);
    if (reason === "timeout") {
      throw new GroupError(
        `Cannot join the group at ${formatPlace(place)} as rank ${rank}: ${state.words}, after ` +
          formatCount(timeoutSeconds, "second"),
        { reason: "timeout", call: CALL },
      );
    }
    const connection = await connectTo(place, limit, state);
    const met = connection && await introduce(connection, { fields, secret, limit, state });
    if (met !== undefined) return met;
    await limit.pause(RETRY_MILLISECONDS);
  }
}

/** Says who this process is, and waits for all others; undefined when the connection breaks. */
async function introduce(
  connection: FrameConnection,
  { fields, secret, limit, state }: {
    fields: MeetingFields;
    secret: Secret;
    limit: Limit;
    state: { words: string };
  },
): Promise<Met | undefined> {
  const { introduction, appointment: { place, rank, size } } = fields;
  let isOver = false;
  void limit.over.then(() => isOver || connection.close());
  let patience = setTimeout(() => connection.close(), Math.min(PATIENCE_MILLISECONDS, limit.left));
  try {
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
    for (;;) {
      const frame = await connection.next();
      clearTimeout(patience);
      if (frame === undefined) {
        state.words = "rank 0 has hung up";
        return undefined;
      }
      // From here on rank 0 says something every second.
      patience = setTimeout(() => connection.close(), PATIENCE_MILLISECONDS * 2);
      const { waits, refused, words, over, welcome, proof } = frame.head;
      if (Array.isArray(waits)) {
        const missing = waits.filter((each): each is number => Number.isSafeInteger(each));
        state.words = missing.length === 0
          ? "rank 0 does not go on"
          : `${absent(missing, size)} not come`;
      } else if (typeof refused === "string") {
        throw new GroupError(
          `Cannot join the group at ${formatPlace(place)} as rank ${rank}: rank 0 refuses this ` +
            `process: ${shortened(words)}`,
          { reason: "refused", call: CALL },
        );
      } else if (typeof over === "string") {
        const missing = frame.head["rank"];
        throw new GroupError(
          `Cannot join the group at ${formatPlace(place)} as rank ${rank}: rank 0 has given up; ` +
            shortened(over),
          {
            reason: typeof missing === "number" ? "timeout" : "ended",
            call: CALL,
            rank: typeof missing === "number" ? missing : undefined,
          },
        );
      } else if (typeof welcome === "string") {
        const met = readWelcome(welcome);
        const isProved = await secret.accepts({ side: "welcome", nonces, text: welcome }, proof);
        if (!isProved || met?.members[rank]?.pid !== introduction.pid) {
          state.words = "the process that listens there does not know the token";
          return undefined;
        }
        const [first] = met.members;
        isOver = true;
        if (first === undefined) return undefined;
        return {
          link: new GroupLink(rank, met.members, [new Seat(connection, first)]),
          id: met.id,
        };
      }
    }
  } finally {
    clearTimeout(patience);
    if (!isOver) connection.close();
    isOver = true;
  }
}
