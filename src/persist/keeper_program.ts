// The program of the keeper: a process without CUDA, and without the kit's other modules, that holds the
// descriptors of persisted memory. Its source is one class, given to Deno as text, so it uses nothing but
// what it is given.

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
import { VERSION } from "../words/version.ts";
import {
  type KeeperAnswer,
  type KeeperRequest,
  type KeptFacts,
  MOST_DESCRIPTORS,
  MOST_MESSAGE_BYTES,
  type Opener,
  PAGE_BYTES,
  SLOT_BYTES,
  SLOT_STATE,
  type Taint,
} from "./keeper_words.ts";

/** Numbers of the system, for a program that imports nothing. */
const SYSTEM = {
  AF_UNIX,
  ECONNREFUSED: ERRNO.ECONNREFUSED,
  EAGAIN: ERRNO.EAGAIN,
  F_GETFD: F.GETFD,
  FD_CLOEXEC,
  LOCK_EX_NB: LOCK.EX | LOCK.NB,
  MFD_CLOEXEC,
  MSG_DONTWAIT: MSG.DONTWAIT,
  MSG_NOSIGNAL: MSG.NOSIGNAL,
  MSG_CMSG_CLOEXEC: MSG.CMSG_CLOEXEC,
  OPEN_LOCK: O.RDWR | O.CREAT | O.CLOEXEC,
  POLLIN,
  RLIMIT_NOFILE,
  SCM_RIGHTS,
  SO_PEERCRED,
  SOCKET_KIND: SOCK.SEQPACKET | SOCK.CLOEXEC | SOCK.NONBLOCK,
  SOCKET_FLAGS: SOCK.CLOEXEC | SOCK.NONBLOCK,
  SOL_SOCKET,
  SYS_PIDFD_OPEN: Number(SYS_PIDFD_OPEN),
} as const;

/** What the program is told. */
interface KeeperTask {
  /** Name or path of the C library. */
  readonly library: string;
  readonly calls: Deno.ForeignLibraryInterface;
  readonly system: typeof SYSTEM;
  /** Folder of the socket and the lock. */
  readonly folder: string;
  readonly kit: string;
  /** Seconds of holding nothing, with nobody connected, after which it ends. */
  readonly idleSeconds: number;
  readonly protocol: number;
  readonly mostDescriptors: number;
  readonly mostMessageBytes: number;
  readonly pageBytes: number;
  readonly slotBytes: number;
  readonly slotState: typeof SLOT_STATE;
}

/** Memory that is kept under a name. */
interface Entry {
  readonly key: string;
  facts: Omit<KeptFacts, "openers" | "taint" | "asleep">;
  descriptors: number[];
  /** The description of its contents, and the page of its states. */
  readonly files: readonly [description: number, page: number];
  readonly openers: Map<Client, number>;
  /** Processes that had it open, until they are over: their descriptors, and places in the page. */
  readonly ending: Map<number, number>;
  taint: Taint | null;
  asleep: { readonly client: Client; readonly where: string } | null;
}

/** A connection. */
interface Client {
  readonly socket: number;
  readonly pid: number;
  /** Refers to its process; -1 where the system cannot. */
  readonly process: number;
  isGreeted: boolean;
  /** Whether it has said that it is done with its memory. */
  hasLetGo: boolean;
  /** What it has asked for, and waits for. */
  want: { readonly key: string; readonly anew: boolean; name: string; device: string } | undefined;
  /** What it was told that it waits for. */
  toldOf: KeeperAnswer["state"];
  /** Whether it makes what it wants. */
  isMaking: boolean;
  entry: Entry | undefined;
  /** Memory that is on its way here. */
  coming: {
    readonly descriptorCount: number;
    readonly descriptors: number[];
    /** Files that go with them. */
    readonly files: readonly number[];
    readonly end: (descriptors: number[]) => object;
  } | undefined;
}

type Calls = Deno.DynamicLibrary<typeof KEEPER_CALLS>["symbols"];

/** Holds descriptors, names and descriptions, and answers programs of the same user. */
class Keeper {
  readonly #task: KeeperTask;
  readonly #calls: Calls;
  readonly #entries = new Map<string, Entry>();
  readonly #clients = new Map<number, Client>();
  #listener = -1;
  #inode = 0n;
  #isOver = false;
  /** What the last message points to. */
  kept: readonly object[] = [];

  constructor(task: KeeperTask) {
    this.#task = task;
    this.#calls = Deno.dlopen(task.library, task.calls).symbols as Calls;
  }

  /** Keeps until it is told to end, or there has been nothing to do for long. */
  async run(): Promise<void> {
    this.#calls.errnoLocation(); // binding it later would change errno
    this.#closeInherited();
    if (!this.#listen()) return;
    let idleSince = performance.now();
    while (!this.#isOver) {
      const { idleSeconds } = this.#task;
      const isIdle = this.#entries.size === 0 && this.#clients.size === 0;
      if (!isIdle) idleSince = performance.now();
      const left = idleSeconds * 1000 - (performance.now() - idleSince);
      if (left <= 0 || !this.#isReachable()) break;
      await this.#wait(isIdle ? Math.min(left, 60_000) : 60_000);
    }
    this.#end();
  }

  /** Waits for whoever speaks, connects or ends, and serves it. */
  async #wait(milliseconds: number): Promise<void> {
    const ending = [...this.#allEntries()].flatMap(({ ending }) => [...ending.keys()]);
    const watched = [this.#listener, ...this.#clients.keys(), ...ending];
    const polled = new DataView(new ArrayBuffer(watched.length * 8));
    for (const [at, descriptor] of watched.entries()) {
      polled.setInt32(at * 8, descriptor, true);
      polled.setInt16(at * 8 + 4, this.#task.system.POLLIN, true);
    }
    const timeout = Math.ceil(milliseconds) + 1;
    const bytes = new Uint8Array(polled.buffer);
    await this.#calls.poll(bytes, BigInt(watched.length), timeout);
    const ready = watched.filter((_, at) => polled.getInt16(at * 8 + 6, true) !== 0);
    for (const descriptor of ready) {
      if (descriptor === this.#listener) await this.#accept();
      else if (this.#clients.has(descriptor)) this.#hear(this.#clients.get(descriptor) as Client);
      else this.#noteEnd(descriptor);
    }
    this.#serveWants();
  }

  async #accept(): Promise<void> {
    const { SOCKET_FLAGS, SYS_PIDFD_OPEN } = this.#task.system;
    const socket = this.#calls.accept4(this.#listener, null, null, SOCKET_FLAGS);
    // With too many descriptors open, who waits would be heard of again at once, and nothing could be done.
    if (socket < 0) return await new Promise((resolve) => setTimeout(resolve, 100));
    const { pid, uid } = this.#peerOf(socket);
    if (uid !== this.#calls.geteuid()) return void this.#calls.close(socket);
    const process = Number(this.#calls.pidfd_open(BigInt(SYS_PIDFD_OPEN), pid, 0));
    this.#clients.set(socket, {
      socket,
      pid,
      process,
      isGreeted: false,
      hasLetGo: false,
      want: undefined,
      toldOf: undefined,
      isMaking: false,
      entry: undefined,
      coming: undefined,
    });
  }

  /** Takes the next message of a client, and answers it. */
  #hear(client: Client): void {
    const received = this.#receive(client.socket);
    if (received === undefined) return;
    const { text, descriptors } = received;
    let answer: KeeperAnswer | object | undefined;
    let sent: readonly number[] = [];
    let taken = 0;
    try {
      if (text === "") return this.#leave(client);
      const request: KeeperRequest = JSON.parse(text);
      if (!client.isGreeted && request.op !== "hello") return this.#leave(client);
      switch (request.op) {
        case "hello":
          client.isGreeted = true;
          answer = { vramkit: this.#task.protocol, kit: this.#task.kit, pid: Deno.pid };
          break;
        case "list":
          return this.#sendList(client);
        case "stop":
          this.#isOver = true;
          answer = { found: true };
          break;
        case "check":
          answer = { found: client.entry !== undefined && this.#isListed(client.entry) };
          break;
        case "close":
          client.hasLetGo = true;
          return this.#leave(client);
        case "forget":
          answer = this.#forget(request.device + "\n" + request.name);
          break;
        case "want": {
          const { name, device, anew } = request;
          if (client.entry !== undefined || client.want !== undefined) return this.#leave(client);
          client.want = { key: device + "\n" + name, anew, name, device };
          return; // answered when it can be
        }
        case "more": {
          const { entry } = client;
          sent =
            entry?.descriptors.slice(request.from, request.from + this.#task.mostDescriptors) ??
              [];
          answer = { found: sent.length > 0 };
          break;
        }
        case "publish":
          answer = this.#prepare(client, request, descriptors);
          taken = "refused" in answer ? 0 : descriptors.length;
          break;
        case "part":
          if (client.coming === undefined) return this.#leave(client);
          client.coming.descriptors.push(...descriptors);
          taken = descriptors.length;
          answer = this.#finish(client);
          break;
        case "sleep":
          answer = this.#putAsleep(client, request.where);
          break;
        case "wake":
          answer = this.#awaken(client, request.descriptorCount);
          break;
        default:
          answer = { refused: "words" };
      }
    } catch {
      return this.#leave(client); // no program of the kit sends that
    } finally {
      for (const descriptor of descriptors.slice(taken)) this.#calls.close(descriptor);
    }
    if (!this.#send(client.socket, answer, sent)) this.#leave(client);
  }

  /** Answers those that wait, in the order in which they asked: there is one maker of a name at a time. */
  #serveWants(): void {
    for (const client of [...this.#clients.values()]) {
      const { want, isMaking } = client;
      if (want === undefined || isMaking || client.entry !== undefined) continue;
      const makers = [...this.#clients.values()];
      if (makers.some((other) => other.isMaking && other.want?.key === want.key)) {
        this.#tell(client, "making", []);
        continue;
      }
      const entry = this.#entries.get(want.key);
      if (entry === undefined || want.anew) {
        client.isMaking = true;
        if (!this.#send(client.socket, { state: "make" })) this.#leave(client);
        continue;
      }
      if (entry.asleep !== null) {
        client.want = undefined;
        const answer = { state: "asleep", facts: this.#factsOf(entry) };
        if (!this.#send(client.socket, answer)) this.#leave(client);
        continue;
      }
      if (entry.ending.size > 0) { // what a dead process had queued may still run
        this.#tell(
          client,
          "ending",
          [...entry.ending.values()].map((slot) => {
            return this.#readSlot(entry, slot)[0] ?? 0;
          }),
        );
        continue;
      }
      client.want = undefined;
      this.#open(client, entry);
    }
  }

  /** Tells a client once what it waits for. */
  #tell(client: Client, state: "making" | "ending", pids: readonly number[]): void {
    if (client.toldOf === state) return;
    client.toldOf = state;
    if (!this.#send(client.socket, { state, pids })) this.#leave(client);
  }

  #open(client: Client, entry: Entry): void {
    const facts = this.#factsOf(entry);
    const slot = this.#takeSlot(client, entry);
    if (slot === undefined) {
      const pids = [...entry.openers.keys()].map(({ pid }) => pid);
      if (!this.#send(client.socket, { refused: "openers", pids })) this.#leave(client);
      return;
    }
    if (!this.#send(client.socket, { state: "there", facts, slot }, entry.files)) {
      this.#leave(client);
    }
  }

  /** Gives a client a place in the page of an entry; undefined when all are taken. */
  #takeSlot(client: Client, entry: Entry): number | undefined {
    const { pageBytes, slotBytes, slotState } = this.#task;
    const used = new Set([...entry.openers.values(), ...entry.ending.values()]);
    let slot = 0;
    while (used.has(slot)) slot++;
    if ((slot + 1) * slotBytes > pageBytes) return undefined;
    client.entry = entry;
    entry.openers.set(client, slot);
    this.#writeSlot(entry, slot, [client.pid, slotState.clean]);
    return slot;
  }

  /** Takes the head of new memory: its descriptors follow, and nothing is kept before the last one. */
  #prepare(
    client: Client,
    request: KeeperRequest & { op: "publish" },
    files: readonly number[],
  ): KeeperAnswer {
    const { want, isMaking } = client;
    const [description, page] = files;
    if (!isMaking || want === undefined || description === undefined || page === undefined) {
      return { refused: "words" };
    }
    const { byteLength, what, origin, descriptorCount } = request;
    const refusal = this.#refusalOf(descriptorCount);
    if (refusal !== undefined) return refusal;
    client.coming = {
      descriptorCount,
      descriptors: [],
      files: [description, page],
      end: (descriptors) => {
        const { key, name, device } = want;
        const { pid: madeBy } = client;
        const madeAt = Date.now();
        const facts = { name, device, byteLength, madeAt, madeBy, what, origin, descriptorCount };
        const entry: Entry = {
          key,
          facts,
          descriptors,
          files: [description, page],
          openers: new Map(),
          ending: new Map(),
          taint: null,
          asleep: null,
        };
        this.#forget(key); // what this replaces
        this.#entries.set(key, entry);
        client.want = undefined;
        client.isMaking = false;
        return { slot: this.#takeSlot(client, entry), facts: this.#factsOf(entry) };
      },
    };
    return descriptorCount === 0 ? this.#finish(client) : { found: true };
  }

  /** Ends the coming of memory with its last descriptor. */
  #finish(client: Client): KeeperAnswer {
    const { coming } = client;
    if (coming === undefined || coming.descriptors.length > coming.descriptorCount) {
      throw new Error("more descriptors than were announced");
    }
    if (coming.descriptors.length < coming.descriptorCount) return { found: true };
    client.coming = undefined;
    return coming.end(coming.descriptors);
  }

  #putAsleep(client: Client, where: string): KeeperAnswer {
    const { entry } = client;
    if (entry === undefined || entry.asleep !== null || !this.#isListed(entry)) {
      return { refused: "asleep" };
    }
    const others = [...entry.openers.keys()].filter((other) => other !== client);
    if (others.length > 0) return { refused: "open", pids: others.map(({ pid }) => pid) };
    this.#closeAll(entry.descriptors.splice(0));
    entry.asleep = { client, where };
    return { found: true };
  }

  #awaken(client: Client, descriptorCount: number): KeeperAnswer {
    const { entry } = client;
    if (entry?.asleep?.client !== client) return { refused: "asleep" };
    const refusal = this.#refusalOf(descriptorCount);
    if (refusal !== undefined) return refusal;
    client.coming = {
      descriptorCount,
      descriptors: [],
      files: [],
      end: (descriptors) => {
        entry.descriptors = descriptors;
        entry.asleep = null;
        return { found: true };
      },
    };
    return { found: true };
  }

  /** Refuses more descriptors than the system leaves this process, before one is taken. */
  #refusalOf(descriptorCount: number): KeeperAnswer | undefined {
    const cell = new BigUint64Array(2);
    this.#calls.getrlimit(this.#task.system.RLIMIT_NOFILE, cell);
    const limit = Number(cell[0]);
    let used = 64 + 2 * this.#clients.size; // its own, and those of connections
    for (const { descriptors, ending } of this.#allEntries()) {
      used += descriptors.length + ending.size + 2;
    }
    for (const { coming } of this.#clients.values()) used += coming?.descriptorCount ?? 0;
    return used + descriptorCount > limit ? { refused: "descriptors", limit, used } : undefined;
  }

  /** Takes a name off the list and closes its descriptors: programs that have it open keep it. */
  #forget(key: string): KeeperAnswer {
    const entry = this.#entries.get(key);
    if (entry === undefined) return { found: false, pids: [] };
    this.#entries.delete(key);
    this.#closeAll(entry.descriptors.splice(0));
    this.#closeIfOver(entry);
    return { found: true, pids: [...entry.openers.keys()].map(({ pid }) => pid) };
  }

  /** Ends a connection: whoever had something open has let go, or is dead. */
  #leave(client: Client): void {
    if (!this.#clients.delete(client.socket)) return;
    this.#calls.close(client.socket);
    const { descriptors = [], files = [] } = client.coming ?? {};
    this.#closeAll([...descriptors, ...files]);
    const { entry } = client;
    let isWatched = false;
    if (entry !== undefined) {
      const slot = entry.openers.get(client) ?? 0;
      entry.openers.delete(client);
      this.#noteTaint(entry, slot);
      if (entry.asleep?.client === client) this.#forget(entry.key);
      isWatched = client.process >= 0 && !client.hasLetGo && this.#isListed(entry);
      if (isWatched) entry.ending.set(client.process, slot);
      else this.#writeSlot(entry, slot, [0, 0]);
      this.#closeIfOver(entry);
    }
    if (!isWatched && client.process >= 0) this.#calls.close(client.process);
  }

  /** Notes that a process is over that had something open. */
  #noteEnd(process: number): void {
    for (const entry of this.#allEntries()) {
      const slot = entry.ending.get(process);
      if (slot === undefined) continue;
      entry.ending.delete(process);
      this.#calls.close(process);
      this.#writeSlot(entry, slot, [0, 0]);
    }
  }

  /** Remembers that a process has let go while its writes were not known to be finished. */
  #noteTaint(entry: Entry, slot: number): void {
    const { slotState } = this.#task;
    const [pid = 0, state = 0] = this.#readSlot(entry, slot);
    if (state !== slotState.dirty && state !== slotState.unknown) return;
    if (entry.taint?.state === "dirty") return;
    const isDirty = state === slotState.dirty;
    entry.taint = { state: isDirty ? "dirty" : "unknown", pid, at: Date.now() };
  }

  #closeIfOver(entry: Entry): void {
    if (this.#isListed(entry) || entry.openers.size > 0) return;
    this.#closeAll([...entry.files, ...entry.ending.keys()]);
    entry.ending.clear();
  }

  #isListed(entry: Entry): boolean {
    return this.#entries.get(entry.key) === entry;
  }

  *#allEntries(): Generator<Entry> {
    yield* this.#entries.values();
    const open = new Set([...this.#clients.values()].map(({ entry }) => entry));
    for (const entry of open) if (entry !== undefined && !this.#isListed(entry)) yield entry;
  }

  #factsOf(entry: Entry): KeptFacts {
    const { slotState } = this.#task;
    const words = { [slotState.dirty]: "dirty", [slotState.unknown]: "unknown" } as const;
    const openers = [...entry.openers].map(([{ pid }, slot]): Opener => {
      const [, state = 0] = this.#readSlot(entry, slot);
      return { pid, state: (words as Record<number, Opener["state"]>)[state] ?? "clean" };
    });
    const { asleep: sleeper, taint } = entry;
    const asleep = sleeper === null ? null : { pid: sleeper.client.pid, where: sleeper.where };
    const byteLength = asleep === null ? entry.facts.byteLength : 0;
    return { ...entry.facts, byteLength, openers, taint, asleep };
  }

  #sendList(client: Client): void {
    const text = JSON.stringify([...this.#entries.values()].map((entry) => this.#factsOf(entry)));
    const bytes = new TextEncoder().encode(text);
    const name = new TextEncoder().encode("vramkit-persisted\0");
    const file = this.#calls.memfd_create(name, this.#task.system.MFD_CLOEXEC);
    const isWritten = Number(this.#calls.pwrite(file, bytes, BigInt(bytes.byteLength), 0n)) ===
      bytes.byteLength;
    const isSent = isWritten && this.#send(client.socket, { found: true }, [file]);
    if (file >= 0) this.#calls.close(file);
    if (!isSent) this.#leave(client);
  }

  #readSlot({ files: [, page] }: Entry, slot: number): Int32Array {
    const cell = new Int32Array(2);
    this.#calls.pread(page, cell, 8n, BigInt(slot * this.#task.slotBytes));
    return cell;
  }

  #writeSlot({ files: [, page] }: Entry, slot: number, words: readonly [number, number]): void {
    this.#calls.pwrite(page, new Int32Array(words), 8n, BigInt(slot * this.#task.slotBytes));
  }

  /** Listens, as the only keeper of the folder; returns whether it does. */
  #listen(): boolean {
    const { folder, system } = this.#task;
    const { LOCK_EX_NB, OPEN_LOCK, AF_UNIX, SOCKET_KIND } = system;
    const lock = this.#calls.open(this.#text(`${folder}/keeper.lock`), OPEN_LOCK, 0o600);
    if (lock < 0 || this.#calls.flock(lock, LOCK_EX_NB) !== 0) return false;
    const path = `${folder}/keeper.sock`;
    this.#calls.umask(0o077);
    this.#calls.unlink(this.#text(path)); // of a keeper that was killed
    this.#listener = this.#calls.socket(AF_UNIX, SOCKET_KIND, 0);
    const name = new TextEncoder().encode(path);
    const address = new Uint8Array(2 + name.byteLength + 1);
    new DataView(address.buffer).setUint16(0, AF_UNIX, true);
    address.set(name, 2);
    if (this.#calls.bind(this.#listener, address, address.byteLength) !== 0) return false;
    this.#inode = this.#inodeOf(path);
    return this.#calls.listen(this.#listener, 64) === 0;
  }

  /** Returns whether programs still find it: nobody else could ever give its memory back. */
  #isReachable(): boolean {
    return this.#inodeOf(`${this.#task.folder}/keeper.sock`) === this.#inode;
  }

  #inodeOf(path: string): bigint {
    const facts = new DataView(new ArrayBuffer(256));
    const status = this.#calls.statx(-100, this.#text(path), 0x100, 0x7ff, facts);
    return status === 0 ? facts.getBigUint64(32, true) : 0n;
  }

  #end(): void {
    if (this.#isReachable()) this.#calls.unlink(this.#text(`${this.#task.folder}/keeper.sock`));
    Deno.exit(0); // the system closes all else
  }

  /**
   * Closes what came from the program that started this one: a driver's descriptors would keep its
   * context, and a pipe's reader would wait. Those of the runtime end with exec.
   */
  #closeInherited(): void {
    const { F_GETFD, FD_CLOEXEC } = this.#task.system;
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

  #peerOf(socket: number): { readonly pid: number; readonly uid: number } {
    const { SOL_SOCKET, SO_PEERCRED } = this.#task.system;
    const cell = new Int32Array(3);
    const size = new Uint32Array([12]);
    const status = this.#calls.getsockopt(socket, SOL_SOCKET, SO_PEERCRED, cell, size);
    return { pid: cell[0] ?? 0, uid: status === 0 ? (cell[1] ?? -1) >>> 0 : -1 };
  }

  #closeAll(descriptors: readonly number[]): void {
    for (const descriptor of descriptors) this.#calls.close(descriptor);
  }

  #send(socket: number, answer: object | undefined, descriptors: readonly number[] = []): boolean {
    const { MSG_DONTWAIT, MSG_NOSIGNAL, SCM_RIGHTS, SOL_SOCKET } = this.#task.system;
    const bytes = new TextEncoder().encode(JSON.stringify(answer));
    const used = 16 + 4 * descriptors.length;
    const control = new DataView(new ArrayBuffer((used + 7) & ~7));
    control.setBigUint64(0, BigInt(used), true);
    control.setInt32(8, SOL_SOCKET, true);
    control.setInt32(12, SCM_RIGHTS, true);
    for (const [at, descriptor] of descriptors.entries()) {
      control.setInt32(16 + 4 * at, descriptor, true);
    }
    const controlBytes = descriptors.length === 0 ? 0 : control.byteLength;
    const head = this.#message(bytes, new Uint8Array(control.buffer, 0, controlBytes));
    const flags = MSG_DONTWAIT | MSG_NOSIGNAL;
    return Number(this.#calls.sendmsg(socket, head, flags)) === bytes.byteLength;
  }

  /** Receives a message; an empty text at the end of the connection, undefined when there is none yet. */
  #receive(socket: number): { text: string; descriptors: number[] } | undefined {
    const { mostDescriptors, mostMessageBytes, system } = this.#task;
    const { MSG_DONTWAIT, MSG_CMSG_CLOEXEC, SCM_RIGHTS, SOL_SOCKET, EAGAIN } = system;
    const bytes = new Uint8Array(mostMessageBytes);
    const control = new Uint8Array(16 + 4 * mostDescriptors + 8);
    const head = this.#message(bytes, control);
    const count = Number(this.#calls.recvmsg(socket, head, MSG_DONTWAIT | MSG_CMSG_CLOEXEC));
    if (count < 0) {
      const errno = new Int32Array(1);
      this.#calls.copyOut(errno, this.#calls.errnoLocation(), 4n);
      if (errno[0] === EAGAIN) return undefined;
    }
    const descriptors: number[] = [];
    const view = new DataView(control.buffer);
    const end = count < 0 ? 0 : Number(new DataView(head.buffer).getBigUint64(40, true));
    for (let at = 0; at + 16 <= end;) {
      const length = Number(view.getBigUint64(at, true));
      if (length < 16) break;
      const isRights = view.getInt32(at + 8, true) === SOL_SOCKET &&
        view.getInt32(at + 12, true) === SCM_RIGHTS;
      for (let i = at + 16; isRights && i + 4 <= Math.min(end, at + length); i += 4) {
        descriptors.push(view.getInt32(i, true));
      }
      at += (length + 7) & ~7;
    }
    const text = new TextDecoder().decode(bytes.subarray(0, Math.max(0, count)));
    return { text, descriptors };
  }

  /** Writes a `struct msghdr`, and keeps what it points to until the next one. */
  #message(
    bytes: Uint8Array<ArrayBuffer>,
    control: Uint8Array<ArrayBuffer>,
  ): Uint8Array<ArrayBuffer> {
    const piece = new BigUint64Array([this.#addressOf(bytes), BigInt(bytes.byteLength)]);
    const head = new Uint8Array(56);
    const view = new DataView(head.buffer);
    view.setBigUint64(16, this.#addressOf(piece), true);
    view.setBigUint64(24, 1n, true);
    if (control.byteLength > 0) {
      view.setBigUint64(32, this.#addressOf(control), true);
      view.setBigUint64(40, BigInt(control.byteLength), true);
    }
    this.kept = [piece, bytes, control];
    return head;
  }

  #addressOf(array: Uint8Array<ArrayBuffer> | BigUint64Array<ArrayBuffer>): bigint {
    return this.#calls.addressOf(array, array, 0n);
  }

  #text(text: string): Uint8Array<ArrayBuffer> {
    return new TextEncoder().encode(`${text}\0`);
  }
}

/** Where a keeper listens, and how long it waits for something to keep. */
export interface KeeperOrder {
  /** Name or path of the C library. */
  readonly library: string;
  readonly folder: string;
  readonly idleSeconds: number;
  readonly protocol: number;
}

/** Returns the text of a keeper's program, for the standard input of a Deno. */
export function keeperProgram(order: KeeperOrder): string {
  const task: KeeperTask = {
    ...order,
    calls: KEEPER_CALLS,
    system: SYSTEM,
    kit: VERSION,
    mostDescriptors: MOST_DESCRIPTORS,
    mostMessageBytes: MOST_MESSAGE_BYTES,
    pageBytes: PAGE_BYTES,
    slotBytes: SLOT_BYTES,
    slotState: SLOT_STATE,
  };
  // The call comes last: a text that was cut off does nothing.
  return `const Keeper = ${Keeper};\nawait new Keeper(${JSON.stringify(task)}).run();\n`;
}
