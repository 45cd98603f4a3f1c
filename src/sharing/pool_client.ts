// The opener's end of shared pools: asks the process that shares a pool, and gets it as a
// descriptor.

import type { Context } from "../driver/context.ts";
import type { PoolTicket, TicketError } from "../ticket.ts";
import { sleep } from "../words/timer.ts";
import { closeDescriptor, LocalSocket } from "./local_socket.ts";
import { isOfferedHere, isOfferedInThread } from "./pool_server.ts";
import { decodeAnswer, encodeRequest, type PoolAnswer } from "./pool_words.ts";
import { cannotOpen, noPool, ownProcess, sharerName } from "./refusals.ts";

/** Time between two looks at the socket. */
const LOOK_MILLISECONDS = 2;

/** The wait for the process that shares a pool. */
export interface OpenWaiting {
  /** Ends the wait. */
  readonly signal: AbortSignal | undefined;
  /** The longest wait. */
  readonly timeoutSeconds: number;
}

/** An open connection to a process that keeps memory for this one until it is closed. */
export interface PoolConnection extends Disposable {
  readonly answer: PoolAnswer;
  /** The pool's descriptor; closed with the connection. */
  readonly descriptor: number;
}

/**
 * Asks for the pool of a ticket. The other process keeps the memory until the result is disposed.
 *
 * @throws TicketError when the process is gone, has freed the memory, does not answer, or is this
 *   process.
 */
export async function askForPool(
  context: Context,
  ticket: PoolTicket,
  { signal, timeoutSeconds }: OpenWaiting,
): Promise<PoolConnection> {
  const { socket: name, key, pid } = ticket;
  signal?.throwIfAborted();
  if (isOfferedHere(key, context.driver)) throw ownProcess("memory");
  using rest = new DisposableStack();
  const limit = { signal, timeoutSeconds, pid, end: performance.now() + timeoutSeconds * 1000 };
  const socket = rest.use(
    await until(limit, () => {
      const connected = LocalSocket.connect(name);
      if (connected === undefined) throw gone(pid);
      return connected === "busy" ? undefined : connected; // until it has room for one more
    }),
  );
  requireTrusted(socket, key);
  if (!socket.send(encodeRequest(ticket))) throw gone(pid);
  const received = await until(limit, () => socket.receive());
  for (const descriptor of received.descriptors) rest.defer(() => closeDescriptor(descriptor));
  const answer = decodeAnswer(received.bytes);
  const [descriptor] = received.descriptors;
  if (answer?.isThere === false) {
    throw cannotOpen("gone", "its memory was disposed, or the ticket was changed");
  }
  if (answer === undefined || descriptor === undefined || received.descriptors.length > 1) {
    throw received.isEnd ? gone(pid) : noPool();
  }
  const held = rest.move();
  return { answer, descriptor, [Symbol.dispose]: () => held.dispose() };
}

/** Checks that the process at the other end is another one, of the same user. */
function requireTrusted(socket: LocalSocket, key: string): void {
  if (socket.peer?.pid === Deno.pid && !isOfferedInThread(key)) throw ownProcess("memory");
  if (socket.isOfSameUser) return;
  throw cannotOpen("other-user", "the process at its socket belongs to another user");
}

interface Limit extends OpenWaiting {
  readonly pid: number | undefined;
  /** Time from which on it has taken too long, by the clock of `performance`. */
  readonly end: number;
}

/**
 * Looks until there is something, without blocking the event loop.
 *
 * @throws TicketError when that has taken too long.
 */
async function until<T>(
  { signal, timeoutSeconds, pid, end }: Limit,
  look: () => T | undefined,
): Promise<T> {
  for (;;) {
    const found = look();
    if (found !== undefined) return found;
    if (performance.now() > end) {
      throw cannotOpen(
        "unanswered",
        `${sharerName(pid)} has not answered in ${timeoutSeconds} s; its event loop must turn, ` +
          `and under --watch its program may have failed`,
      );
    }
    await sleep(LOOK_MILLISECONDS);
    signal?.throwIfAborted();
  }
}

function gone(pid: number | undefined): TicketError {
  return cannotOpen("gone", `${sharerName(pid)} has ended, or shares nothing any more`);
}
