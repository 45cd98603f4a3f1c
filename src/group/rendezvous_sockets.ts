// The sockets by which the processes of a group meet: rank 0 listens, the others connect.

import { messageOf } from "../words/format.ts";
import { within } from "../words/timer.ts";
import { type Frame, FrameConnection, STRANGER } from "./frames.ts";
import { GroupError } from "./group_error.ts";
import { readNonce } from "./handshake.ts";
import { CALL, type Limit, MAX_SILENCE_MILLISECONDS, stopped } from "./meeting_limit.ts";
import { formatPlace, type MeetingPlace } from "./rendezvous_address.ts";

/** Time to wait for a taken address to become free: another group may just have ended there. */
const TAKEN_MILLISECONDS = 5000;

/** The socket on which rank 0 listens at a place. */
export class MeetingSocket implements Disposable {
  /** Accepts connections. */
  readonly listener: Deno.Listener;
  readonly #place: MeetingPlace;
  readonly #identity: string | undefined;

  private constructor(place: MeetingPlace, listener: Deno.Listener) {
    this.#place = place;
    this.listener = listener;
    if (place.transport === "unix") this.#identity = identityAt(place.path);
  }

  static listen(place: MeetingPlace): MeetingSocket {
    if (place.transport === "tcp") return new MeetingSocket(place, Deno.listen(place));
    const listener = Deno.listen(place) as unknown as Deno.Listener;
    const socket = new MeetingSocket(place, listener);
    Deno.chmodSync(place.path, 0o600); // for this user only
    return socket;
  }

  /** Tells whether it is reached at its place: its file was not removed, nor is there another one. */
  get isInPlace(): boolean {
    return this.#place.transport === "tcp" || identityAt(this.#place.path) === this.#identity;
  }

  /** Stops listening, and removes the file. */
  [Symbol.dispose](): void {
    if (this.#place.transport === "unix" && this.isInPlace) remove(this.#place.path);
    this.listener.close();
  }
}

/** Listens at a place; waits a little while it is taken by others than rank 0 of a group. */
export async function listenAt(
  place: MeetingPlace,
  limit: Limit,
  signal: AbortSignal | undefined,
): Promise<MeetingSocket> {
  const patience = performance.now() + TAKEN_MILLISECONDS;
  for (;;) {
    if (limit.reason === "signal") throw stopped(place, signal);
    try {
      return MeetingSocket.listen(place);
    } catch (error) {
      const isTaken = error instanceof Deno.errors.AddrInUse;
      const isRefused = error instanceof Deno.errors.NotCapable || error instanceof TypeError;
      if (isRefused) throw error;
      if (isTaken && place.transport === "unix" && await removeLeftover(place.path)) continue;
      const isMeeting = isTaken && await isGroupAt(place, limit);
      if (!isTaken || isMeeting || performance.now() >= patience || limit.reason !== undefined) {
        throw new GroupError(
          `Cannot join the group at ${formatPlace(place)} as rank 0: cannot listen there; ` +
            (isTaken ? holderOf(place, isMeeting) : reasonOf(error)),
          { reason: "address", call: CALL, cause: error },
        );
      }
    }
    await limit.pause();
  }
}

function reasonOf(error: unknown): string {
  const isNowhere = error instanceof Deno.errors.NotFound;
  return isNowhere ? "its folder does not exist" : messageOf(error);
}

function holderOf(place: MeetingPlace, isMeeting: boolean): string {
  if (isMeeting) return "another process is rank 0 there, and waits for its group";
  return place.transport === "tcp" || isSocket(place.path)
    ? "another process does"
    : "something else than a socket is there; name a path where nothing is";
}

/** Asks the process at a taken address whether it is rank 0 of a group that has not met yet. */
async function isGroupAt(place: MeetingPlace, limit: Limit): Promise<boolean> {
  try {
    const connection = await connectTo(place, limit, { words: "" });
    if (connection === undefined) return false;
    let greeting: Frame | undefined;
    const heard = connection.next().then((frame) => greeting = frame);
    await within(MAX_SILENCE_MILLISECONDS, Promise.race([heard, limit.over]));
    connection.close();
    return readNonce(greeting?.head["nonce"]) !== undefined;
  } catch {
    return false; // another user's
  }
}

function isSocket(path: string): boolean {
  try {
    return Deno.lstatSync(path).isSocket === true;
  } catch {
    return true; // it was one, and is gone
  }
}

/** Returns the identity of the file at a path; undefined when there is none. */
function identityAt(path: string): string | undefined {
  try {
    const { dev, ino } = Deno.lstatSync(path);
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}

/** Removes the socket file of a process that was killed; returns whether it did. */
async function removeLeftover(path: string): Promise<boolean> {
  const left = identityAt(path);
  try {
    if (!isSocket(path)) return false;
    (await Deno.connect({ transport: "unix", path })).close();
    return false; // somebody listens
  } catch (error) {
    if (!(error instanceof Deno.errors.ConnectionRefused)) return false;
    if (identityAt(path) === left) remove(path); // else somebody else did, and listens
    return true;
  }
}

function remove(path: string): void {
  try {
    Deno.removeSync(path);
  } catch {
    // somebody has removed it
  }
}

/** Connects to rank 0; undefined when nobody listens yet. */
export async function connectTo(
  place: MeetingPlace,
  limit: Limit,
  state: { words: string },
): Promise<FrameConnection | undefined> {
  const controller = new AbortController();
  const { signal } = controller;
  const milliseconds = Math.min(MAX_SILENCE_MILLISECONDS, limit.left);
  const timer = setTimeout(() => controller.abort(), milliseconds);
  let isConnected = false;
  void limit.over.then(() => isConnected || controller.abort());
  try {
    const connection = place.transport === "tcp"
      ? await Deno.connect({ ...place, signal })
      : await Deno.connect(place);
    isConnected = true; // the signal would close it
    return new FrameConnection(connection, STRANGER);
  } catch (error) {
    const isFinal = error instanceof Deno.errors.NotCapable || error instanceof TypeError ||
      error instanceof Deno.errors.PermissionDenied;
    if (isFinal) throw error;
    if (limit.reason !== undefined) return undefined;
    state.words = signal.aborted
      ? "rank 0 does not answer there"
      : `rank 0 cannot be reached (${messageOf(error)})`;
    return undefined;
  } finally {
    isConnected = true;
    clearTimeout(timer);
  }
}
