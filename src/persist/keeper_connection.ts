// One connection to the keeper: a request, its answer, and the descriptors beside either. It lasts as long
// as this program has what it asked for, so that the keeper learns of the program's end, too.

import { POLLFD, POLLIN } from "../../ffi/host.ts";
import { openSystem } from "../disk/system_error.ts";
import { LocalSocket, type MessageRoom } from "../sharing/local_socket.ts";
import { sleep } from "../words/timer.ts";
import { VERSION } from "../words/version.ts";
import { keeperFolder, socketIn } from "./keeper_folder.ts";
import {
  KEEPER_PROTOCOL,
  type KeeperAnswer,
  type KeeperRequest,
  MAX_DESCRIPTORS,
  MAX_MESSAGE_BYTES,
} from "./keeper_words.ts";
import { PersistError, type PersistProblem } from "./persist_error.ts";

const ROOM: MessageRoom = { byteLength: MAX_MESSAGE_BYTES, descriptorCount: MAX_DESCRIPTORS };

/** The longest wait for a keeper that was just started, and for an answer that takes no time. */
const MAX_ANSWER_MILLISECONDS = 15_000;

/** Time between two looks for a keeper that starts. */
const LOOK_MILLISECONDS = 5;

/** A wait of the system's own, on a thread of the runtime: the event loop goes on, and it ends at once. */
const POLL_MILLISECONDS = 100;

/** Time between two looks of a long wait: a look holds no thread. */
const PATIENT_MILLISECONDS = 20;

/** An answer, and the descriptors that came with it, for the caller to close. */
export interface Answered extends KeeperAnswer {
  readonly descriptors: readonly number[];
}

export interface KeeperWaiting {
  readonly signal?: AbortSignal | undefined;
  /** The longest wait in milliseconds. */
  readonly patience?: number;
  /** The error for a wait that was too long. */
  readonly late?: Error | undefined;
}

/** A connection to the keeper of this user. */
export class KeeperConnection implements Disposable {
  readonly #socket: LocalSocket;
  /** The keeper's process. */
  readonly pid: number;
  /** The kit's version there. */
  readonly kit: string;
  readonly protocol: number;
  /** The last answer that is waited for. */
  #last: Promise<unknown> = Promise.resolve();

  private constructor(socket: LocalSocket, hello: KeeperAnswer) {
    this.#socket = socket;
    this.pid = hello.pid ?? 0;
    this.kit = hello.kit ?? "unknown";
    this.protocol = hello.vramkit ?? 0;
  }

  /**
   * Connects to the keeper, and starts one unless there is one.
   *
   * @throws PersistError when none can be started, or it belongs to another user or version.
   */
  static async open(signal?: AbortSignal): Promise<KeeperConnection> {
    const connection = await KeeperConnection.#connect({ starts: true, signal });
    if (connection === undefined) throw silent();
    return connection.#checked();
  }

  /** Connects to the keeper if there is one; undefined when there is none. */
  static async find(): Promise<KeeperConnection | undefined> {
    const connection = await KeeperConnection.findAny();
    return connection === undefined ? undefined : connection.#checked();
  }

  /** Connects to the keeper if there is one, of whatever version; undefined when there is none. */
  static async findAny(): Promise<KeeperConnection | undefined> {
    return await KeeperConnection.#connect({ starts: false });
  }

  static async #connect(
    { starts, signal }: { readonly starts: boolean; readonly signal?: AbortSignal | undefined },
  ): Promise<KeeperConnection | undefined> {
    const folder = keeperFolder();
    let isStarted = false;
    for (const end = performance.now() + MAX_ANSWER_MILLISECONDS; performance.now() < end;) {
      signal?.throwIfAborted();
      const socket = LocalSocket.connect(socketIn(folder));
      if (socket instanceof LocalSocket) {
        const greeted = await greet(socket);
        if (greeted !== undefined) return new KeeperConnection(socket, greeted);
        socket.dispose(); // it has just ended
      } else if (socket === undefined) {
        if (!starts) return undefined;
        // Loaded when it is needed: who finds a keeper opens its memory sooner.
        if (!isStarted) await (await import("./keeper_start.ts")).startKeeper(folder);
        isStarted = true;
      }
      await sleep(LOOK_MILLISECONDS);
    }
    return undefined;
  }

  /** Sends a request and waits for its answer, which comes after those of earlier requests. */
  async ask(request: KeeperRequest, descriptors: readonly number[] = []): Promise<Answered> {
    this.tell(request, descriptors);
    const answer = this.#last.then(() => this.hear());
    this.#last = answer.catch(() => {});
    return await answer;
  }

  /**
   * Sends a request.
   *
   * @throws PersistError when the keeper is gone.
   */
  tell(request: KeeperRequest, descriptors: readonly number[] = []): void {
    const bytes = new TextEncoder().encode(JSON.stringify(request));
    if (bytes.byteLength > MAX_MESSAGE_BYTES) {
      throw new RangeError("Cannot tell the keeper so much");
    }
    if (!this.#socket.send(bytes, descriptors)) throw gone();
  }

  /** Waits for the next answer. */
  async hear(waiting: KeeperWaiting = {}): Promise<Answered> {
    const received = await hear(this.#socket, waiting);
    if (received === undefined) throw gone();
    return received;
  }

  /** Says that this program is done with what it has open, and closes the connection. */
  [Symbol.dispose](): void {
    try {
      this.tell({ op: "close" });
    } catch {
      // it is gone, which is what was to be said
    }
    this.#socket.dispose();
  }

  #checked(): this {
    if (this.protocol === KEEPER_PROTOCOL) return this;
    this.#socket.dispose();
    const words =
      `it is of version ${this.kit}, this kit is ${VERSION}; forget what it holds by that ` +
      "version, or stop it by `persisted stop` of the kit's command line";
    throw cannotSpeak("version", words, `, process ${this.pid}`);
  }
}

/** Exchanges versions; undefined when the keeper ends just now. */
async function greet(socket: LocalSocket): Promise<KeeperAnswer | undefined> {
  if (!socket.isOfSameUser) {
    socket.dispose();
    throw cannotSpeak("no-keeper", "its process belongs to another user");
  }
  const hello = { op: "hello", vramkit: KEEPER_PROTOCOL, kit: VERSION };
  if (!socket.send(new TextEncoder().encode(JSON.stringify(hello)))) return undefined;
  return await hear(socket, {});
}

/** Waits for a message; undefined at the end of the connection. */
async function hear(
  socket: LocalSocket,
  { signal, patience = MAX_ANSWER_MILLISECONDS, late }: KeeperWaiting,
): Promise<Answered | undefined> {
  const start = performance.now();
  for (;;) {
    const received = socket.receive(ROOM);
    if (received !== undefined) {
      if (received.isEnd) return undefined;
      const answer: KeeperAnswer = JSON.parse(new TextDecoder().decode(received.bytes));
      return { ...answer, descriptors: received.descriptors };
    }
    signal?.throwIfAborted();
    const waited = performance.now() - start;
    if (waited > patience) throw late ?? silent();
    const polled = POLLFD.encode({ fd: socket.descriptor, events: POLLIN });
    if (waited > POLL_MILLISECONDS) await sleep(PATIENT_MILLISECONDS);
    else await openSystem().pollNonblocking(polled, 1n, POLL_MILLISECONDS);
  }
}

function gone(): PersistError {
  const words = "it has ended, and what it held is freed when the last program lets go";
  return cannotSpeak("gone", words);
}

function silent(): PersistError {
  return cannotSpeak("no-keeper", `it has not answered in ${MAX_ANSWER_MILLISECONDS / 1000} s`);
}

function cannotSpeak(reason: PersistProblem, words: string, process = ""): PersistError {
  const action = `Cannot speak to the keeper of persisted memory${process}`;
  return new PersistError(reason, `${action}: ${words}`);
}
