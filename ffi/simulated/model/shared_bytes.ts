// Bytes that several processes map, as device memory, pools and events that one of them hands out.
// They lie in a file without a name, which is gone with the process that made it.

import { cString } from "../../c_strings.ts";
import { findHost, type HostApi, MAP, MAP_FAILED } from "../../host.ts";
import { MFD_CLOEXEC, O, PATH_MAX, PROT } from "../../host.ts";
import { bytes, i32, struct, u64 } from "../../struct.ts";
import { refuse } from "../errors.ts";

export type SharedKind = "memory" | "event" | "pool" | "pooled" | "physical";

const KINDS: readonly SharedKind[] = ["memory", "event", "pool", "pooled", "physical"];

/** First bytes of every handle and of every file behind one. */
const MAGIC = new TextEncoder().encode("simulate");

/** Name of the files, as the system shows it; that of physical memory goes on with its facts. */
export const FILE_NAME = "vramkit-simulated";

/** The file's first bytes: the handle, then words for both sides. */
const HEAD_BYTES = 4096;
const WORDS_AT = 1024;

/** The 64 bytes that stand for something in another process. */
const HANDLE = struct({
  magic: bytes(8),
  kind: i32,
  pid: i32,
  descriptor: i32,
  ordinal: i32,
  byteLength: u64,
  id: bytes(8),
  pool: bytes(8),
  machine: bytes(16),
});

/** Number of a word that both sides read. */
export const WORD = { isThere: 0, recorded: 1, done: 2 } as const;

export interface SharedHandle {
  readonly kind: SharedKind;
  /** Number that no other thing has. */
  readonly id: string;
  /** Number of the machine that handed it out. */
  readonly machine: string;
  /** Number of the pool that memory comes from; zeros for all else. */
  readonly pool: string;
  readonly byteLength: number;
  /** Device of physical memory; 0 for all else. */
  readonly ordinal: number;
  /** Process that handed it out. */
  readonly pid: number;
}

/** Bytes that this machine and others map. */
export class SharedBytes {
  readonly facts: SharedHandle;
  readonly handle: Uint8Array<ArrayBuffer>;
  readonly bytes: Uint8Array;
  /** Words for both sides. */
  readonly words: Int32Array;
  readonly #host: HostApi;
  readonly #address: bigint;
  readonly #mapped: ArrayBuffer;
  readonly #descriptor: number;
  #isClosed = false;

  private constructor(host: HostApi, handle: Uint8Array<ArrayBuffer>, descriptor: number) {
    this.#host = host;
    this.handle = handle;
    this.facts = read(handle) ?? refuse("CUDA_ERROR_INVALID_VALUE");
    this.#descriptor = descriptor;
    const byteLength = HEAD_BYTES + this.facts.byteLength;
    const rights = PROT.READ | PROT.WRITE;
    this.#address = host.mmap(0n, BigInt(byteLength), rights, MAP.SHARED, descriptor, 0n);
    const pointer = Deno.UnsafePointer.create(this.#address);
    if (this.#address === MAP_FAILED || pointer === null) {
      host.close(descriptor);
      refuse("CUDA_ERROR_OUT_OF_MEMORY");
    }
    this.#mapped = Deno.UnsafePointerView.getArrayBuffer(pointer, byteLength);
    this.bytes = new Uint8Array(this.#mapped, HEAD_BYTES);
    this.words = new Int32Array(this.#mapped, WORDS_AT, Object.keys(WORD).length);
  }

  /** Makes bytes that other processes can open. */
  static create(
    kind: SharedKind,
    options: {
      machine: string;
      byteLength?: number;
      pool?: string | undefined;
      ordinal?: number;
      /** Words about it in the name of its file, made from its number. */
      describe?: ((id: string) => string) | undefined;
    },
  ): SharedBytes {
    const { machine, byteLength = 0, pool = "", ordinal = 0, describe = () => "" } = options;
    const host = findHost() ?? refuse("CUDA_ERROR_NOT_SUPPORTED");
    const id = crypto.getRandomValues(new Uint8Array(8));
    const name = cString(`${FILE_NAME}${describe(id.toHex())}`);
    const descriptor = host.memfd_create(name, MFD_CLOEXEC);
    if (descriptor < 0) refuse("CUDA_ERROR_OPERATING_SYSTEM");
    host.ftruncate(descriptor, BigInt(HEAD_BYTES + byteLength));
    const handle = HANDLE.encode({
      magic: MAGIC,
      kind: KINDS.indexOf(kind),
      pid: Deno.pid,
      descriptor,
      ordinal,
      byteLength: BigInt(byteLength),
      id,
      pool: Uint8Array.fromHex(pool),
      machine: Uint8Array.fromHex(machine),
    });
    const shared = new SharedBytes(host, handle, descriptor);
    new Uint8Array(shared.#mapped).set(handle);
    shared.words[WORD.isThere] = 1;
    return shared;
  }

  /** Opens what another machine has handed out; undefined when that is gone. */
  static open(handle: Uint8Array<ArrayBuffer>): SharedBytes | undefined {
    const { pid, descriptor, byteLength } = HANDLE.decode(handle);
    const host = findHost() ?? refuse("CUDA_ERROR_NOT_SUPPORTED");
    const path = cString(`/proc/${pid}/fd/${descriptor}`);
    if (!isOurs(host, path) || byteLength > BigInt(Number.MAX_SAFE_INTEGER - HEAD_BYTES)) return;
    const own = openFile(host, path);
    if (own < 0) return;
    // A file of the same number can have come since: its first bytes say what it is.
    const head = new Uint8Array(HANDLE.byteLength);
    if (!readAt(host, own, head) || head.toHex() !== handle.toHex()) {
      host.close(own);
      return;
    }
    const shared = new SharedBytes(host, handle, own);
    if (shared.isThere) return shared;
    shared.close();
    return;
  }

  /** Opens the file behind a descriptor that was passed on, which then stays the caller's. */
  static adopt(descriptor: number): SharedBytes | undefined {
    const host = findHost() ?? refuse("CUDA_ERROR_NOT_SUPPORTED");
    if (this.handleIn(descriptor) === undefined) return undefined;
    const own = openFile(host, cString(`/proc/self/fd/${descriptor}`));
    const handle = new Uint8Array(HANDLE.byteLength);
    if (own >= 0 && readAt(host, own, handle)) return new SharedBytes(host, handle, own);
    if (own >= 0) host.close(own);
    return undefined;
  }

  /** Reads the handle in a file that was passed on; undefined when it is none of these files. */
  static handleIn(descriptor: number): SharedHandle | undefined {
    const host = findHost() ?? refuse("CUDA_ERROR_NOT_SUPPORTED");
    if (!isOurs(host, cString(`/proc/self/fd/${descriptor}`))) return undefined;
    const handle = new Uint8Array(HANDLE.byteLength);
    return readAt(host, descriptor, handle) ? read(handle) : undefined;
  }

  /** Returns whether the process that handed it out still has it. */
  get isThere(): boolean {
    return !this.#isClosed && this.words[WORD.isThere] === 1;
  }

  get isAlive(): boolean {
    const { pid, descriptor } = HANDLE.decode(this.handle);
    return isOurs(this.#host, cString(`/proc/${pid}/fd/${descriptor}`));
  }

  /** Returns one more descriptor of the file, for the caller to close. */
  duplicate(): number {
    return openFile(this.#host, cString(`/proc/self/fd/${this.#descriptor}`));
  }

  /** Tells all sides that it is gone. */
  revoke(): void {
    if (!this.#isClosed) this.words[WORD.isThere] = 0;
    this.close();
  }

  /** Releases the bytes on this side. */
  close(): void {
    if (this.#isClosed) return;
    this.closeFile();
    const byteLength = BigInt(this.#mapped.byteLength);
    this.#mapped.transfer(0);
    this.#host.munmap(this.#address, byteLength);
  }

  /** Closes the file but keeps the words, which queued work still reads. */
  closeFile(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#host.close(this.#descriptor);
  }
}

/** Reads what a handle tells; undefined for anything else. */
export function read(handle: Uint8Array): SharedHandle | undefined {
  const { magic, kind: number, pid, ordinal, byteLength, id, pool, machine } = HANDLE.decode(
    handle,
  );
  const kind = KINDS[number];
  if (magic.toHex() !== MAGIC.toHex() || kind === undefined) return undefined;
  const names = { id: id.toHex(), pool: pool.toHex(), machine: machine.toHex() };
  return { kind, pid, ordinal, ...names, byteLength: Number(byteLength) };
}

export function isProcess(pid: number): boolean {
  const host = findHost() ?? refuse("CUDA_ERROR_NOT_SUPPORTED");
  return host.readlink(cString(`/proc/${pid}/exe`), new Uint8Array(1), 1n) >= 0n;
}

/** Tells whether a path leads to one of these files, before anything is opened. */
function isOurs(host: HostApi, path: Uint8Array<ArrayBuffer>): boolean {
  const target = new Uint8Array(PATH_MAX);
  const byteLength = Number(host.readlink(path, target, BigInt(target.byteLength)));
  const text = new TextDecoder().decode(target.subarray(0, Math.max(0, byteLength)));
  return text.startsWith(`/memfd:${FILE_NAME}`);
}

function openFile(host: HostApi, path: Uint8Array<ArrayBuffer>): number {
  return host.open(path, O.RDWR | O.CLOEXEC, 0);
}

function readAt(host: HostApi, descriptor: number, into: Uint8Array<ArrayBuffer>): boolean {
  const address = host.addressOf(into, into, 0n);
  const count = host.pread(descriptor, address, BigInt(into.byteLength), 0n);
  return Number(count) === into.byteLength;
}

export interface DescribedMemory {
  /** Number that no other memory has. */
  readonly id: string;
  readonly byteLength: number;
}

/** Returns the words about physical memory that the name of its file ends with. */
export function describeMemory(
  machine: string,
  { ordinal, byteLength, id }: DescribedMemory & { readonly ordinal: number },
): string {
  return ` ${ordinal} ${byteLength} ${id} ${encodeURIComponent(machine)}.`;
}

/**
 * Finds the physical memory of a named machine's device that processes of this user hold by descriptors:
 * also one without a driver may, and after a kill nothing else tells of it. So the system is asked.
 */
export function describedMemory(machine: string, ordinal: number): DescribedMemory[] {
  const found = new Map<string, DescribedMemory>();
  const [end, start] = [`${encodeURIComponent(machine)}.`, `/memfd:${FILE_NAME} `];
  for (const target of openFiles()) {
    if (!target.startsWith(start)) continue;
    const [at, bytes, id = "", name] = target.slice(start.length).split(" ");
    if (Number(at) === ordinal && name === end) found.set(id, { id, byteLength: Number(bytes) });
  }
  return [...found.values()];
}

/** Lists what the descriptors of this user's processes stand for; nothing where that is hidden. */
function* openFiles(): Generator<string> {
  if (Deno.permissions.querySync({ name: "read", path: "/proc" }).state !== "granted") return;
  for (const pid of namesIn("/proc")) {
    if (!/^\d+$/.test(pid)) continue;
    const folder = `/proc/${pid}/fd`;
    for (const descriptor of namesIn(folder)) {
      try {
        yield Deno.readLinkSync(`${folder}/${descriptor}`);
      } catch {
        // closed meanwhile
      }
    }
  }
}

function namesIn(folder: string): string[] {
  try {
    return Array.from(Deno.readDirSync(folder), ({ name }) => name);
  } catch {
    return []; // of another user, or over
  }
}
