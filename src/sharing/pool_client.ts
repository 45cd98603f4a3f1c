// The opener's end of shared pools: asks the process that shares a pool, and gets it as a
// descriptor.

import type { Context } from "../driver/context.ts";
import { type PoolTicket, TicketError } from "../words/ticket.ts";
import { sleep } from "../words/timer.ts";
import { closeDescriptor, LocalSocket, type Received } from "./local_socket.ts";
import { isOfferedHere, isOfferedInThread } from "./pool_server.ts";
import { decodeAnswer, encodeRequest, type PoolAnswer } from "./pool_words.ts";
import { noPool, ownProcess, sharerName } from "./refusals.ts";

/** Time between two looks at the socket. */
const LOOK_MILLISECONDS = 2;

/** An open connection to a process that keeps memory for this one until it is closed. */
export interface PoolConnection extends Disposable {
  /** Its answer. */
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
  waiting: { readonly signal: AbortSignal | undefined; readonly timeoutSeconds: number },
): Promise<PoolConnection> {
  const { socket: name, key, pid } = ticket;
  const { signal, timeoutSeconds } = waiting;
  signal?.throwIfAborted();
  if (isOfferedHere(key, context.driver)) throw ownProcess("memory");
  using rest = new DisposableStack();
  const socket = LocalSocket.connect(name);
  if (socket === undefined) throw gone(pid);
  rest.use(socket);
  requireTrusted(socket, key);
  if (!socket.send(encodeRequest(ticket))) throw gone(pid);
  const received = await receive(socket, { signal, timeoutSeconds, pid });
  for (const descriptor of received.descriptors) rest.defer(() => closeDescriptor(descriptor));
  const answer = decodeAnswer(received.bytes);
  const [descriptor] = received.descriptors;
  if (answer?.isThere === false) {
    throw new TicketError(
      "gone",
      "Cannot open the ticket: its memory was disposed, or the ticket was changed",
    );
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
  throw new TicketError(
    "unanswered",
    "Cannot open the ticket: the process at its socket belongs to another user",
  );
}

/** Waits for the answer without blocking the event loop. */
async function receive(
  socket: LocalSocket,
  { signal, timeoutSeconds, pid }: {
    readonly signal: AbortSignal | undefined;
    readonly timeoutSeconds: number;
    readonly pid: number | undefined;
  },
): Promise<Received> {
  const end = performance.now() + timeoutSeconds * 1000;
  for (;;) {
    signal?.throwIfAborted();
    const received = socket.receive();
    if (received !== undefined) return received;
    if (performance.now() > end) {
      throw new TicketError(
        "unanswered",
        `Cannot open the ticket: ${sharerName(pid)} has not answered in ${timeoutSeconds} s; ` +
          `its event loop must turn`,
      );
    }
    await sleep(LOOK_MILLISECONDS);
  }
}

function gone(pid: number | undefined): TicketError {
  return new TicketError(
    "gone",
    `Cannot open the ticket: ${sharerName(pid)} has ended, or shares nothing any more`,
  );
}
