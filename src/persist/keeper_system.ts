// The keeper's calls of the C library: its lock and its socket, messages with descriptors beside them, and
// what it sees of other processes. A part of its program, which is text and uses only what it is given.

import {
  AF_UNIX,
  ERRNO,
  F,
  FD_CLOEXEC,
  KEEPER_CALLS,
  LOCK,
  MFD_CLOEXEC,
  MSG,
  O,
  POLLIN,
  RLIMIT_NOFILE,
  SCM_RIGHTS,
  SO_PEERCRED,
  SOCK,
  SOL_SOCKET,
  SYS_PIDFD_OPEN,
} from "../../ffi/host.ts";
import type { MessageSystem, SocketMessage } from "../sharing/socket_message.ts";
import { VERSION } from "../words/version.ts";
import {
  KEEPER_PROTOCOL,
  MAX_DESCRIPTORS,
  MAX_MESSAGE_BYTES,
  NAME_PAGE_BYTES,
  OPENER_BYTES,
  SLOT_STATE,
} from "./keeper_words.ts";

/** Numbers of the system, for a program that imports nothing. */
const NUMBERS = {
  AF_UNIX,
  FD_CLOEXEC,
  MFD_CLOEXEC,
  POLLIN,
  RLIMIT_NOFILE,
  SCM_RIGHTS,
  SO_PEERCRED,
  SOL_SOCKET,
  EAGAIN: ERRNO.EAGAIN,
  F_GETFD: F.GETFD,
  LOCK_EX_NB: LOCK.EX | LOCK.NB,
  MSG_FLAGS: MSG.DONTWAIT | MSG.NOSIGNAL,
  MSG_RECEIVE: MSG.DONTWAIT | MSG.CMSG_CLOEXEC,
  OPEN_LOCK: O.RDWR | O.CREAT | O.CLOEXEC,
  SOCKET_KIND: SOCK.SEQPACKET | SOCK.CLOEXEC | SOCK.NONBLOCK,
  SOCKET_FLAGS: SOCK.CLOEXEC | SOCK.NONBLOCK,
  SYS_PIDFD_OPEN: Number(SYS_PIDFD_OPEN),
} as const;

/** Facts that every keeper of this kit is told. */
export const KEEPER_FACTS = {
  /** Seconds of holding nothing, with nobody connected, after which it ends. */
  idleSeconds: 300,
  protocol: KEEPER_PROTOCOL,
  calls: KEEPER_CALLS,
  numbers: NUMBERS,
  kit: VERSION,
  mostDescriptors: MAX_DESCRIPTORS,
  mostMessageBytes: MAX_MESSAGE_BYTES,
  pageBytes: NAME_PAGE_BYTES,
  slotBytes: OPENER_BYTES,
  slotState: SLOT_STATE,
};

/** Facts for the program, as plain data, and where it listens. */
export interface KeeperTask extends Readonly<typeof KEEPER_FACTS> {
  /** Name or path of the C library. */
  readonly library: string;
  /** Folder of the socket and the lock. */
  readonly folder: string;
}

type Calls = Deno.DynamicLibrary<typeof KEEPER_CALLS>["symbols"];

/**
 * The keeper's side of the system. Its functions are methods or have no name: a bundler that keeps names
 * would wrap others in a helper, which its text lacks.
 */
export class KeeperSystem {
  readonly #task: KeeperTask;
  readonly #calls: Calls;
  #lock = -1;
  listener = -1;
  #inode = 0n;
  readonly #Message: typeof SocketMessage;
  /** Kept while the system reads what its head points to. */
  #last: SocketMessage | undefined;

  constructor(task: KeeperTask, Message: typeof SocketMessage) {
    this.#task = task;
    this.#Message = Message;
    this.#calls = Deno.dlopen(task.library, task.calls).symbols as Calls;
    this.#calls.errnoLocation(); // binding it later would change errno
  }

  /** Makes this the only keeper of the folder; returns whether it is. */
  lock(): boolean {
    const { folder, numbers: { LOCK_EX_NB, OPEN_LOCK } } = this.#task;
    const lock = this.#calls.open(this.#text(`${folder}/keeper.lock`), OPEN_LOCK, 0o600);
    if (lock >= 0 && this.#calls.flock(lock, LOCK_EX_NB) === 0) {
      this.#lock = lock;
      return true;
    }
    if (lock >= 0) this.#calls.close(lock);
    return false;
  }

  /** Writes a line into the locked file, for programs that cannot wait for an answer. */
  note(line: string): void {
    const bytes = this.#text(`${line}\n`);
    this.#calls.pwrite(this.#lock, bytes, BigInt(bytes.byteLength), 0n);
  }

  listen(): boolean {
    const { folder, numbers: { AF_UNIX, SOCKET_KIND } } = this.#task;
    const path = `${folder}/keeper.sock`;
    this.#calls.umask(0o077);
    this.#calls.unlink(this.#text(path)); // of a keeper that was killed
    this.listener = this.#calls.socket(AF_UNIX, SOCKET_KIND, 0);
    const name = new TextEncoder().encode(path);
    const address = new Uint8Array(2 + name.byteLength + 1);
    new DataView(address.buffer).setUint16(0, AF_UNIX, true);
    address.set(name, 2);
    if (this.#calls.bind(this.listener, address, address.byteLength) !== 0) return false;
    this.#inode = this.#socketInode();
    return this.#calls.listen(this.listener, 64) === 0;
  }

  /** Tells whether a keeper listens in the folder, or did until it was killed. */
  get hasSocket(): boolean {
    return this.#socketInode() !== 0n;
  }

  /** Tells whether programs still find this one: nobody else could ever give its memory back. */
  get isReachable(): boolean {
    return this.#socketInode() === this.#inode;
  }

  /** Ends the process: the system closes all else. */
  end(): void {
    if (this.isReachable) this.#calls.unlink(this.#text(`${this.#task.folder}/keeper.sock`));
    Deno.exit(0);
  }

  /**
   * Closes what came from the program that started this one: a driver's descriptors would keep its
   * context, and a pipe's reader would wait. Those of the runtime end with exec.
   */
  closeInherited(): void {
    const { F_GETFD, FD_CLOEXEC } = this.#task.numbers;
    for (let descriptor = 3; descriptor < 4096; descriptor++) {
      const flags = this.#calls.fcntl(descriptor, F_GETFD, 0);
      if (flags < 0 || (flags & FD_CLOEXEC) !== 0) continue;
      const target = new Uint8Array(64);
      const path = this.#text(`/proc/self/fd/${descriptor}`);
      const count = Number(this.#calls.readlink(path, target, 64n));
      const name = new TextDecoder().decode(target.subarray(0, Math.max(0, count)));
      if (name !== "/dev/null") this.#calls.close(descriptor);
    }
  }

  /** Waits until a descriptor can be read, and returns those that can. */
  async poll(descriptors: readonly number[], milliseconds: number): Promise<readonly number[]> {
    const polled = new DataView(new ArrayBuffer(descriptors.length * 8));
    for (const [at, descriptor] of descriptors.entries()) {
      polled.setInt32(at * 8, descriptor, true);
      polled.setInt16(at * 8 + 4, this.#task.numbers.POLLIN, true);
    }
    const bytes = new Uint8Array(polled.buffer);
    const count = BigInt(descriptors.length);
    await this.#calls.poll(bytes, count, Math.ceil(milliseconds) + 1);
    return descriptors.filter((_, at) => polled.getInt16(at * 8 + 6, true) !== 0);
  }

  /**
   * Accepts a connection: its socket, the process at the other end, and a descriptor of that, -1 where the
   * system has none. Undefined when there is none, or it is another user's; a negative socket when there
   * are too many files open.
   */
  accept():
    | { readonly socket: number; readonly pid: number; readonly process: number }
    | undefined {
    const { SOCKET_FLAGS, SYS_PIDFD_OPEN, SOL_SOCKET, SO_PEERCRED } = this.#task.numbers;
    const socket = this.#calls.accept4(this.listener, null, null, SOCKET_FLAGS);
    if (socket < 0) return { socket, pid: 0, process: -1 };
    const cell = new Int32Array(3);
    const size = new Uint32Array([12]);
    const status = this.#calls.getsockopt(socket, SOL_SOCKET, SO_PEERCRED, cell, size);
    const [pid = 0, uid = -1] = cell;
    if (status !== 0 || uid >>> 0 !== this.#calls.geteuid()) {
      this.#calls.close(socket);
      return undefined;
    }
    return { socket, pid, process: Number(this.#calls.pidfd_open(BigInt(SYS_PIDFD_OPEN), pid, 0)) };
  }

  /** The most files that this process may have open. */
  get mostFiles(): number {
    const cell = new BigUint64Array(2);
    this.#calls.getrlimit(this.#task.numbers.RLIMIT_NOFILE, cell);
    return Number(cell[0]);
  }

  close(...descriptors: readonly number[]): void {
    for (const descriptor of descriptors) this.#calls.close(descriptor);
  }

  /** Reads two words of a file. */
  read(file: number, offset: number): Int32Array {
    const cell = new Int32Array(2);
    this.#calls.pread(file, cell, 8n, BigInt(offset));
    return cell;
  }

  /** Writes two words into a file. */
  write(file: number, offset: number, words: readonly [number, number]): void {
    this.#calls.pwrite(file, new Int32Array(words), 8n, BigInt(offset));
  }

  /** Sends an answer beside a file that holds a text; returns whether the system accepted it. */
  sendText(socket: number, answer: object, text: string): boolean {
    const bytes = new TextEncoder().encode(text);
    const size = BigInt(bytes.byteLength);
    const name = this.#text("vramkit-persisted");
    const file = this.#calls.memfd_create(name, this.#task.numbers.MFD_CLOEXEC);
    const isWritten = BigInt(this.#calls.pwrite(file, bytes, size, 0n)) === size;
    const isSent = isWritten && this.send(socket, answer, [file]);
    if (file >= 0) this.#calls.close(file);
    return isSent;
  }

  /** Sends an answer, with descriptors if there are any; returns whether the system accepted it. */
  send(socket: number, answer: object, descriptors: readonly number[] = []): boolean {
    const bytes = new TextEncoder().encode(JSON.stringify(answer));
    this.#last = new this.#Message(this.#messages, { bytes, descriptors });
    const { MSG_FLAGS } = this.#task.numbers;
    return Number(this.#calls.sendmsg(socket, this.#last.head, MSG_FLAGS)) === bytes.byteLength;
  }

  /** Receives a message; an empty text at the end of the connection, undefined when there is none yet. */
  receive(
    socket: number,
  ): { readonly text: string; readonly descriptors: readonly number[] } | undefined {
    const { mostDescriptors: room, mostMessageBytes, numbers } = this.#task;
    const bytes = new Uint8Array(mostMessageBytes);
    const message = new this.#Message(this.#messages, { bytes, room });
    const count = Number(this.#calls.recvmsg(socket, message.head, numbers.MSG_RECEIVE));
    if (count < 0) {
      const errno = new Int32Array(1);
      this.#calls.copyOut(errno, this.#calls.errnoLocation(), 4n);
      if (errno[0] === numbers.EAGAIN) return undefined;
    }
    const text = new TextDecoder().decode(bytes.subarray(0, Math.max(0, count)));
    return { text, descriptors: count < 0 ? [] : message.descriptors() };
  }

  get #messages(): MessageSystem {
    return { ...this.#task.numbers, addressOf: this.#calls.addressOf };
  }

  #socketInode(): bigint {
    const facts = new DataView(new ArrayBuffer(256));
    const path = this.#text(`${this.#task.folder}/keeper.sock`);
    const status = this.#calls.statx(-100, path, 0x100, 0x7ff, facts);
    return status === 0 ? facts.getBigUint64(32, true) : 0n;
  }

  #text(text: string): Uint8Array<ArrayBuffer> {
    return new TextEncoder().encode(`${text}\0`);
  }
}
