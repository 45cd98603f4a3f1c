// The sockets by which the processes of a group meet: rank 0 listens, the others connect.

import { messageOf } from "../words/format.ts";
import { FrameConnection, STRANGER } from "./frames.ts";
import { GroupError } from "./group_error.ts";
import { CALL, type Limit, PATIENCE_MILLISECONDS, stopped } from "./meeting_limit.ts";
import { formatPlace, type MeetingPlace } from "./rendezvous_address.ts";

/** Time to wait for a taken address to become free: another group may just have ended there. */
const TAKEN_MILLISECONDS = 5000;

/** Listens at a place; waits a little while it is taken. */
export async function listenAt(
  place: MeetingPlace,
  limit: Limit,
  signal: AbortSignal | undefined,
): Promise<Deno.Listener> {
  const patience = performance.now() + TAKEN_MILLISECONDS;
  for (;;) {
    if (limit.reason === "signal") throw stopped(place, signal);
    try {
      if (place.transport === "tcp") return Deno.listen(place);
      const listener = Deno.listen(place);
      Deno.chmodSync(place.path, 0o600); // for this user only
      return listener as unknown as Deno.Listener;
    } catch (error) {
      const isTaken = error instanceof Deno.errors.AddrInUse;
      const isRefused = error instanceof Deno.errors.NotCapable || error instanceof TypeError;
      if (isRefused) throw error;
      if (isTaken && place.transport === "unix" && await removeLeftover(place.path)) continue;
      if (!isTaken || performance.now() >= patience || limit.reason !== undefined) {
        throw new GroupError(
          `Cannot join the group at ${formatPlace(place)} as rank 0: cannot listen there; ` +
            (isTaken ? holderOf(place) : reasonOf(error)),
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

function holderOf(place: MeetingPlace): string {
  return place.transport === "tcp" || isSocket(place.path)
    ? "another process does"
    : "something else than a socket is there; name a path where nothing is";
}

function isSocket(path: string): boolean {
  try {
    return Deno.lstatSync(path).isSocket === true;
  } catch {
    return true; // it was one, and is gone
  }
}

/** Removes the socket file of a process that was killed; returns whether it did. */
async function removeLeftover(path: string): Promise<boolean> {
  try {
    if (!isSocket(path)) return false;
    (await Deno.connect({ transport: "unix", path })).close();
    return false; // somebody listens
  } catch (error) {
    if (!(error instanceof Deno.errors.ConnectionRefused)) return false;
    Deno.removeSync(path);
    return true;
  }
}

/** Stops listening, and removes the file of a socket. */
export function stopListening(listener: Deno.Listener, place: MeetingPlace): void {
  if (place.transport === "unix") {
    try {
      Deno.removeSync(place.path);
    } catch {
      // somebody has removed it
    }
  }
  listener.close();
}

/** Connects to rank 0; undefined when nobody listens yet. */
export async function connectTo(
  place: MeetingPlace,
  limit: Limit,
  state: { words: string },
): Promise<FrameConnection | undefined> {
  const controller = new AbortController();
  const { signal } = controller;
  const milliseconds = Math.min(PATIENCE_MILLISECONDS, limit.left);
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
