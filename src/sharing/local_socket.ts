// Sockets between processes of one machine, which can carry file descriptors. A name that is no path is
// not a file: it vanishes with its process, so nothing has to be cleaned up.

import {
  AF_UNIX,
  ERRNO,
  MSG,
  SCM_RIGHTS,
  SO_PEERCRED,
  SOCK,
  SOCKADDR_UN,
  SOL_SOCKET,
  UCRED,
} from "../../ffi/host.ts";
import { lastErrno, openSystem, systemError, uninterrupted } from "../disk/system_error.ts";
import { endWithWorker } from "../disk/worker_descriptor.ts";
import { CudaUnavailableError } from "../words/errors.ts";
import { SocketMessage } from "./socket_message.ts";

/** Room of a message whose words are few; longer ones come from something else. */
const SMALL_ROOM: MessageRoom = { byteLength: 128, descriptorCount: 28 };

/** The longest path of a socket: `sun_path` of sys/un.h has one byte more. */
export const MAX_SOCKET_PATH_BYTES = 107;

/** Connections that wait to be accepted. */
const BACKLOG = 64;

const RIGHTS = { SOL_SOCKET, SCM_RIGHTS } as const;

const KIND = SOCK.SEQPACKET | SOCK.CLOEXEC | SOCK.NONBLOCK;

/** The most that a message can hold; the system closes descriptors that do not fit. */
export interface MessageRoom {
  readonly byteLength: number;
  readonly descriptorCount: number;
}

/** A received message, or the end of the connection. */
export interface Received {
  /** The bytes; none at the end of the connection. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Descriptors that came with it, for the caller to close. */
  readonly descriptors: readonly number[];
  /** The other side is gone. */
  readonly isEnd: boolean;
}

/** One end of a connection, or a listening socket. No call here waits. */
export class LocalSocket implements Disposable {
  #descriptor: number | undefined;
  #closeNow: (descriptor: number) => unknown = closeDescriptor;

  private constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  /**
   * Listens under a name, in a worker until that ends.
   *
   * @throws Error when the system refuses it.
   */
  static listen(name: string): LocalSocket {
    const { bind, listen } = openSystem();
    const socket = LocalSocket.#open();
    socket.#endWithWorker();
    const [address, byteLength] = addressOf(name);
    if (bind(socket.descriptor, address, byteLength) === 0) {
      if (listen(socket.descriptor, BACKLOG) === 0) return socket;
    }
    const errno = lastErrno();
    socket.dispose();
    throw systemError("listen for other processes", errno);
  }

  /**
   * Connects to the process that listens under a name; undefined when there is none, "busy" while
   * too many others wait there to be accepted.
   *
   * @throws Error when the system refuses it.
   */
  static connect(name: string): LocalSocket | "busy" | undefined {
    const socket = LocalSocket.#open();
    const [address, byteLength] = addressOf(name);
    const { connect } = openSystem();
    if (uninterrupted(() => connect(socket.descriptor, address, byteLength)) === 0) return socket;
    const errno = lastErrno();
    socket.dispose();
    if (errno === ERRNO.EAGAIN) return "busy";
    if (errno === ERRNO.ECONNREFUSED || errno === ERRNO.ENOENT) return undefined;
    throw systemError("connect to the process that shared it", errno);
  }

  static #open(): LocalSocket {
    if (Deno.build.os !== "linux") {
      throw new CudaUnavailableError(
        "not-supported",
        "Cannot pass a pool to other processes: that needs Linux; share memory of a CudaMemoryResource",
      );
    }
    const descriptor = openSystem().socket(AF_UNIX, KIND, 0);
    if (descriptor >= 0) return new LocalSocket(descriptor);
    throw systemError("open a socket", lastErrno());
  }

  get descriptor(): number {
    if (this.#descriptor === undefined) throw new TypeError("Cannot use a socket: it was closed");
    return this.#descriptor;
  }

  /** Accepts a connection; undefined when none is waiting. */
  accept(): LocalSocket | undefined {
    const flags = SOCK.CLOEXEC | SOCK.NONBLOCK;
    const { accept4 } = openSystem();
    const descriptor = uninterrupted(() => accept4(this.descriptor, null, null, flags));
    if (descriptor < 0) return undefined;
    const socket = new LocalSocket(descriptor);
    socket.#endWithWorker();
    return socket;
  }

  /**
   * Has it closed with its worker, which may be terminated: who connects, or waits, would go on waiting.
   * Connections by which a worker has memory open are left, because the driver keeps that memory, too.
   */
  #endWithWorker(): void {
    const { descriptor, close } = endWithWorker(this.descriptor);
    this.#descriptor = descriptor;
    this.#closeNow = close;
  }

  /** The process at the other end; undefined when the system does not tell. */
  get peer(): { readonly pid: number; readonly uid: number } | undefined {
    const credentials = new Uint8Array(UCRED.byteLength);
    const size = new Uint32Array([credentials.byteLength]);
    const { getsockopt } = openSystem();
    const status = getsockopt(this.descriptor, SOL_SOCKET, SO_PEERCRED, credentials, size);
    return status === 0 ? UCRED.decode(credentials) : undefined;
  }

  /** Tells whether the process at the other end belongs to the same user. */
  get isOfSameUser(): boolean {
    return this.peer?.uid === openSystem().geteuid();
  }

  /** Sends a message, with descriptors if there are any; returns whether the system accepted it. */
  send(bytes: Uint8Array<ArrayBuffer>, descriptors: readonly number[] = []): boolean {
    const { addressOf, sendmsg } = openSystem();
    const message = new SocketMessage({ ...RIGHTS, addressOf }, { bytes, descriptors });
    const flags = MSG.NOSIGNAL | MSG.DONTWAIT;
    return uninterrupted(() => sendmsg(this.descriptor, message.head, flags)) >= 0;
  }

  /** Receives the next message; undefined when none has arrived yet. */
  receive(room: MessageRoom = SMALL_ROOM): Received | undefined {
    const bytes = new Uint8Array(room.byteLength);
    const { addressOf, recvmsg } = openSystem();
    const parts = { bytes, room: room.descriptorCount };
    const message = new SocketMessage({ ...RIGHTS, addressOf }, parts);
    const flags = MSG.DONTWAIT | MSG.CMSG_CLOEXEC;
    const count = Number(uninterrupted(() => recvmsg(this.descriptor, message.head, flags)));
    if (count < 0 && lastErrno() === ERRNO.EAGAIN) return undefined;
    const descriptors = count < 0 ? [] : message.descriptors();
    const isEnd = count <= 0;
    return { bytes: bytes.slice(0, Math.max(0, count)), descriptors, isEnd };
  }

  /** Closes it; a second time does nothing. */
  dispose(): void {
    const descriptor = this.#descriptor;
    this.#descriptor = undefined;
    if (descriptor !== undefined) this.#closeNow(descriptor);
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}

/** Closes a descriptor that came with a message. */
export function closeDescriptor(descriptor: number): void {
  openSystem().close(descriptor);
}

/** A name that is not a file starts with a zero byte, and consists of all given bytes; a path ends with one. */
function addressOf(name: string): [address: Uint8Array<ArrayBuffer>, byteLength: number] {
  const path = new Uint8Array(MAX_SOCKET_PATH_BYTES + 1);
  const start = name.startsWith("/") ? 0 : 1;
  const { written } = new TextEncoder().encodeInto(name, path.subarray(start));
  const address = SOCKADDR_UN.encode({ sun_family: AF_UNIX, sun_path: path });
  return [address, SOCKADDR_UN.offsets.sun_path + 1 + written];
}
