// The NCCL of a simulated machine: communicators on its devices, and the group that their calls belong
// to. It is stricter than the library: what ranks call must fit together. Blocking ranks are all in this
// process; each non-blocking one has a process of its own, with a connection to the others.

import { cString } from "../c_strings.ts";
import type { NcclApi, NcclFunction } from "../nccl.ts";
import {
  NCCL_CONFIG_MAGIC,
  NCCL_UNIQUE_ID_BYTES,
  ncclConfig_t,
  ncclDataType,
  ncclRedOp,
  ncclResult,
} from "../nccl_constants.ts";
import type { NcclReceiver, NcclWire, OwnParts } from "../own_parts.ts";
import { bytesOf, type Cell, put32, put64 } from "./calls/cells.ts";
import { Refusal } from "./errors.ts";
import { hostAddress } from "./model/address_space.ts";
import { Clique, Communicator, RemoteRanks } from "./model/communicator.ts";
import type { Context } from "./model/context.ts";
import type { Machine } from "./model/machine.ts";
import { queueCollectives, type RankCall } from "./work/collectives.ts";
import { queueRemoteCollectives } from "./work/remote_collectives.ts";

const FIRST_HANDLE = 0x7200_0000n;
const HANDLE_STEP = 0x10n;

/** Versions that brought functions. */
const SINCE: Partial<Record<NcclFunction, number>> = {
  ncclCommInitRankScalable: 22300,
  ncclAlltoAll: 22803,
  ncclGather: 22803,
  ncclScatter: 22803,
};

const {
  ncclSuccess: SUCCESS,
  ncclInvalidArgument: INVALID,
  ncclInvalidUsage: MISUSED,
  ncclInProgress: IN_PROGRESS,
} = ncclResult;

/** Time that the first call of a rank takes until it is queued: the library connects the ranks then. */
const CONNECT_MILLISECONDS = 3;

/** The call by which ranks of several processes find each other. */
const GREETING = "start";

/** Carries a status, and the words for it, from any depth to the call that returns it. */
class NcclRefusal {
  readonly status: number;
  readonly words: string;

  constructor(status: number, words: string) {
    this.status = status;
    this.words = words;
  }
}

type Served = number | bigint | void;

/** Ends the call being served with a status. */
function refuse(status: number, words: string): never {
  throw new NcclRefusal(status, words);
}

/** The arguments of a call that uses memory. */
type GivenCall =
  & Pick<RankCall, "datatype" | "operation" | "root" | "peer">
  & { readonly [Name in "source" | "destination"]?: number | bigint }
  & { readonly [Name in "count" | "comm" | "stream"]: number | bigint };

/** Arguments of calls that use memory, in the order of the header. */
const MOVED = ["source", "destination", "count", "datatype"] as const;
const PLACE = ["comm", "stream"] as const;

/** Calls of NCCL as they are written here: nothing returned means success. */
type ServedCalls = {
  [Name in NcclFunction]: (...given: Parameters<NonNullable<NcclApi[Name]>>) => Served;
};

/** The library of a simulated process: its ranks, and the group that their calls belong to. */
class NcclProcess {
  readonly #machine: Machine;
  readonly #cliques = new Map<string, Clique>();
  readonly #communicators = new Map<bigint, Communicator>();
  readonly #texts = new Map<string, Uint8Array<ArrayBuffer>>();
  /** Ways to the ranks of other processes, by the name of the clique that is to come. */
  readonly #wires = new Map<string, RemoteRanks>();
  #nextHandle = FIRST_HANDLE;
  #nextName = 1;
  #lastWords = "";
  #depth = 0;
  #groupStatus: number = SUCCESS;
  #groupCalls: RankCall[] = [];
  #joining: Communicator[] = [];

  /** The calls, in the order of the header. */
  readonly #calls: ServedCalls = {
    ncclGetVersion: (version) => put32(version, this.#machine.settings.ncclVersion),
    ncclGetUniqueId: (id) => {
      const bytes = bytesOf(id).subarray(0, NCCL_UNIQUE_ID_BYTES).fill(0);
      bytes.set(new TextEncoder().encode(`simulated ${this.#nextName++} ${crypto.randomUUID()}`));
    },
    ncclCommInitRankConfig: (cell, size, id, rank, config) =>
      this.#start(cell, { size, rank, id, config }),
    ncclCommInitRankScalable: (cell, size, rank, _count, id, config) =>
      this.#start(cell, { size, rank, id, config }),
    ncclCommInitAll: (cells, count, list) => this.#startAll(cells, count, list),
    ncclCommFinalize: (comm) => this.#finalize(this.#findIdle(comm)),
    ncclCommDestroy: (comm) => this.#end(comm, "destroy"),
    ncclCommDestroyNonblocking: (comm) => this.#end(comm, "destroy"),
    ncclCommAbortNonblocking: (comm) => this.#end(comm, "abort"),
    ncclGetLastError: () =>
      BigInt(hostAddress(this.#texts.getOrInsertComputed(this.#lastWords, cString))),
    ncclCommGetAsyncError: (comm, cell) => put32(cell, this.#ask(this.#find(comm))),
    ncclReduce: this.#adding("ncclReduce", [...MOVED, "operation", "root", ...PLACE]),
    ncclBroadcast: this.#adding("ncclBroadcast", [...MOVED, "root", ...PLACE]),
    ncclAllReduce: this.#adding("ncclAllReduce", [...MOVED, "operation", ...PLACE]),
    ncclReduceScatter: this.#adding("ncclReduceScatter", [...MOVED, "operation", ...PLACE]),
    ncclAllGather: this.#adding("ncclAllGather", [...MOVED, ...PLACE]),
    ncclAlltoAll: this.#adding("ncclAlltoAll", [...MOVED, ...PLACE]),
    ncclGather: this.#adding("ncclGather", [...MOVED, "root", ...PLACE]),
    ncclScatter: this.#adding("ncclScatter", [...MOVED, "root", ...PLACE]),
    ncclSend: this.#adding("ncclSend", ["source", "count", "datatype", "peer", ...PLACE]),
    ncclRecv: this.#adding("ncclRecv", ["destination", "count", "datatype", "peer", ...PLACE]),
    ncclGroupStart: () => void this.#depth++,
    ncclGroupEnd: () => {
      if (this.#depth === 0) refuse(MISUSED, "not in a group call");
      this.#depth--;
      return this.#whenOutside();
    },
  };

  constructor(machine: Machine) {
    this.#machine = machine;
  }

  /** Returns the functions of the library, of which an older one has fewer. */
  functions(): NcclApi {
    const { ncclVersion } = this.#machine.settings;
    const functions = Object.entries(this.#calls).map(
      ([key, call]: [string, (...given: never[]) => Served]) => {
        const name = key as NcclFunction;
        if ((SINCE[name] ?? 0) > ncclVersion) return [name, null];
        const served = (...values: never[]) => this.#serve(name, () => call(...values));
        if (!name.endsWith("Nonblocking")) return [name, served];
        return [name, (...values: never[]) => Promise.resolve(served(...values))];
      },
    );
    return Object.fromEntries(functions) as NcclApi;
  }

  /** Takes the connection by which ranks of other processes are reached. */
  attach(id: Uint8Array, wire: NcclWire): NcclReceiver {
    const remote = new RemoteRanks(wire);
    this.#wires.set(id.subarray(0, NCCL_UNIQUE_ID_BYTES).toHex(), remote);
    return (rank, bytes) => remote.receive(rank, bytes);
  }

  /** Runs the group's calls now, unless a group is open. */
  #whenOutside(): number {
    return this.#depth === 0 ? this.#endGroup() : SUCCESS;
  }

  /** Ends the outermost group: its ranks find each other, or its calls are queued. */
  #endGroup(): number {
    const [made, queued, status] = [this.#joining, this.#groupCalls, this.#groupStatus];
    [this.#joining, this.#groupCalls, this.#groupStatus] = [[], [], SUCCESS];
    if (status !== SUCCESS) refuse(status, `a call of the group failed: ${this.#lastWords}`);
    if (made.length > 0 && queued.length > 0) {
      refuse(MISUSED, "ranks are started and used in one group");
    }
    const ranks = new Set([...made, ...queued.map(({ communicator }) => communicator)]);
    const [first] = ranks;
    if (first?.isBlocking === false) {
      if (ranks.size > 1) refuse(MISUSED, "one rank of a process does not block");
      first.inProgress = made.length > 0 ? greet(first) : this.#queueLater(first, queued);
      return IN_PROGRESS;
    }
    for (const { clique } of made) this.#requireWhole(clique);
    queueCollectives(this.#machine, queued);
    return SUCCESS;
  }

  /** Queues calls that have returned already; the streams must not be used until then. */
  #queueLater({ clique, callCounts, rank }: Communicator, queued: readonly RankCall[]) {
    const { remote = new RemoteRanks({ send() {} }) } = clique;
    const readyAt = performance.now() + (callCounts.size === 0 ? CONNECT_MILLISECONDS : 0);
    const places = queued.map(({ stream: { timeline } }) => {
      const { workCount } = timeline;
      return { timeline, workCount };
    });
    return () => {
      if (performance.now() < readyAt) return false;
      const used = places.find(({ timeline, workCount }) => timeline.workCount !== workCount);
      if (used !== undefined) {
        const { label } = used.timeline;
        this.#failInUse(`${label} was given work before a call of rank ${rank} was done`);
      }
      queueRemoteCollectives(this.#machine, remote, queued);
      return true;
    };
  }

  /** Returns a communicator's state, and lets its calls continue. */
  #ask(communicator: Communicator): number {
    communicator.throwFault();
    const { inProgress } = communicator;
    if (inProgress === undefined) return communicator.asyncStatus;
    communicator.inProgress = undefined;
    try {
      if (inProgress()) return communicator.asyncStatus;
    } catch (error) {
      if (!(error instanceof NcclRefusal)) throw error;
      this.#lastWords = error.words;
      return communicator.asyncStatus = error.status;
    }
    communicator.inProgress = inProgress;
    return IN_PROGRESS;
  }

  /** Throws unless all ranks are there, each on a device of its own: the library would wait for ever. */
  #requireWhole({ size, members }: Clique): void {
    const missing = ranksOf(size).find((rank) => !members.some((member) => member.rank === rank));
    if (missing !== undefined) {
      const words = `rank ${missing} of ${size} is not started in the group`;
      this.#machine.site.fail("collective", words);
    }
    const devices = new Set(members.map(({ context }) => context.device));
    if (devices.size === size) return;
    refuse(MISUSED, "Duplicate GPU detected: two ranks are on one device");
  }

  #find(handle: number | bigint): Communicator {
    const found = this.#communicators.get(BigInt(handle));
    if (found?.isOpen === true) return found;
    refuse(INVALID, "there is no such communicator");
  }

  /** Finds a communicator for a call, which must come after all that is in progress. */
  #findIdle(handle: number | bigint): Communicator {
    const found = this.#find(handle);
    found.throwFault();
    if (found.inProgress === undefined) return found;
    refuse(INVALID, "a call of the communicator is in progress");
  }

  #start(
    cell: Cell,
    { size, rank, id, config }: { size: number; rank: number; id: Cell; config: Cell },
  ): number {
    if (size < 1 || rank < 0 || rank >= size) refuse(INVALID, `rank ${rank} of ${size} cannot be`);
    const isBlocking = config === null || readBlocking(bytesOf(config));
    const name = bytesOf(id).subarray(0, NCCL_UNIQUE_ID_BYTES).toHex();
    const make = () => new Clique(size, this.#wires.get(name));
    const clique = this.#cliques.getOrInsertComputed(name, make);
    this.#wires.delete(name);
    if (clique.size !== size || clique.members.some((member) => member.rank === rank)) {
      refuse(MISUSED, `rank ${rank} is there already, or of another size`);
    }
    const { current: context } = this.#machine.contexts;
    const communicator = this.#join(clique, { rank, context, isBlocking });
    put64(cell, communicator.handle);
    this.#joining.push(communicator);
    return this.#whenOutside();
  }

  #join(
    clique: Clique,
    fields: { readonly rank: number; readonly context: Context; readonly isBlocking: boolean },
  ): Communicator {
    const communicator = new Communicator(clique, { handle: this.#nextHandle, ...fields });
    this.#nextHandle += HANDLE_STEP;
    this.#communicators.set(communicator.handle, communicator);
    return communicator;
  }

  /** Starts a rank on each device of a list, in the device's primary context. */
  #startAll(cells: Cell, count: number, list: Cell): void {
    const ordinals = new Int32Array(bytesOf(list).slice().buffer).subarray(0, count);
    if (count < 1) refuse(INVALID, `${count} devices cannot be`);
    const clique = new Clique(count);
    for (const [rank, ordinal] of ordinals.entries()) {
      const device = this.#machine.device(ordinal);
      const context = this.#machine.retain(device);
      const communicator = this.#join(clique, { rank, context, isBlocking: true });
      this.#machine.release(device); // the library would keep it
      bytesOf(cells).set(new Uint8Array(BigUint64Array.of(communicator.handle).buffer), rank * 8);
    }
    this.#requireWhole(clique);
  }

  /** Makes the function of a call that uses memory, from the names of its arguments. */
  #adding(name: NcclFunction, names: readonly (keyof GivenCall)[]) {
    return (...values: readonly (number | bigint)[]): number =>
      this.#add(name, Object.fromEntries(names.map((key, at) => [key, values[at]])) as GivenCall);
  }

  /** Adds a call that uses memory to the group, or queues it at once where there is none. */
  #add(name: NcclFunction, given: GivenCall): number {
    const { comm, stream, source = 0n, destination = 0n, count, ...call } = given;
    const communicator = this.#findIdle(comm);
    const { clique: { size } } = communicator;
    const { datatype, operation = 0, root = 0, peer = 0 } = call;
    const isKnown = Object.values(ncclDataType).some((known) => known === datatype) &&
      Object.values(ncclRedOp).some((known) => known === operation);
    if (!isKnown) refuse(INVALID, `type ${datatype}, operation ${operation}`);
    const missing = [root, peer].find((rank) => rank < 0 || rank >= size);
    if (missing !== undefined) refuse(INVALID, `there is no rank ${missing}`);
    const queue = this.#machine.stream(BigInt(stream));
    if (queue.context !== communicator.context) refuse(INVALID, "the stream is another device's");
    if (this.#machine.captures.of(queue)) refuse(MISUSED, "the stream is being captured");
    const addresses = { source: BigInt(source), destination: BigInt(destination) };
    const place = { name, communicator, stream: queue };
    this.#groupCalls.push({ ...call, ...addresses, ...place, count: Number(count) });
    return this.#whenOutside();
  }

  /** Finalizes a communicator; one of several processes reports later that it is done. */
  #finalize(communicator: Communicator): number {
    communicator.isFinal = true;
    const { isBlocking, isBusy } = communicator;
    if (isBlocking && isBusy) this.#failInUse("its work is still queued");
    if (isBlocking) return SUCCESS;
    communicator.inProgress = () => !communicator.isBusy;
    return IN_PROGRESS;
  }

  #failInUse(words: string): never {
    return this.#machine.site.fail("communicatorInUse", words);
  }

  #end(handle: number | bigint, how: "destroy" | "abort"): void {
    const communicator = this.#find(handle);
    const { clique, inProgress, isBlocking, isBusy, isFinal, rank } = communicator;
    const isOver = isBlocking || isFinal && inProgress === undefined;
    if (how === "abort") clique.isAborted = true;
    else if (isBusy) this.#failInUse(`work of rank ${rank} is still queued`);
    else if (!isOver) this.#failInUse(`rank ${rank} is not finalized`);
    this.#communicators.delete(communicator.handle);
    communicator.close();
    for (const [name, { isOver }] of this.#cliques) if (isOver) this.#cliques.delete(name);
  }

  /** Runs a call; the status of a refusal also fails the group that the call belongs to. */
  #serve(name: NcclFunction, body: () => Served): number | bigint {
    try {
      return this.#machine.site.during(name, body) ?? SUCCESS;
    } catch (error) {
      if (!(error instanceof NcclRefusal || error instanceof Refusal)) throw error;
      const isOwn = error instanceof NcclRefusal;
      const words = isOwn ? error.words : `the driver refused it with ${error.status}`;
      this.#lastWords = `${name}: ${words}`;
      const status = isOwn ? error.status : ncclResult.ncclUnhandledCudaError;
      if (this.#depth > 0) this.#groupStatus = status;
      return status;
    }
  }
}

export function simulateNccl(machine: Machine): Pick<OwnParts, "nccl" | "wire"> {
  const library = new NcclProcess(machine);
  return { nccl: library.functions(), wire: (id, wire) => library.attach(id, wire) };
}

/** Greets the ranks of other processes; the result tells whether all of them have answered. */
function greet({ clique: { size, remote }, rank: own }: Communicator): () => boolean {
  const others = ranksOf(size).filter((rank) => rank !== own);
  if (remote === undefined && others.length > 0) {
    refuse(ncclResult.ncclSystemError, "there is no way to the other ranks");
  }
  const bytes = new Uint8Array();
  for (const rank of others) remote?.send(rank, GREETING, { words: `${size}`, bytes });
  return () => {
    if (others.some((rank) => remote?.has(rank, GREETING) !== true)) return false;
    const isOther = (rank: number) => remote?.take(rank, GREETING)?.words !== `${size}`;
    if (others.filter(isOther).length === 0) return true;
    refuse(MISUSED, "the ranks were told different sizes");
  };
}

function ranksOf(size: number): number[] {
  return Array.from({ length: size }, (_, rank) => rank);
}

/** Reads from a configuration whether the calls of a communicator return when they are done. */
function readBlocking(bytes: Uint8Array): boolean {
  const { size, magic, blocking } = ncclConfig_t.decode(bytes);
  if (magic !== NCCL_CONFIG_MAGIC) refuse(INVALID, "the configuration has no magic");
  if (size < ncclConfig_t.byteLength) refuse(INVALID, `a configuration has no ${size} bytes`);
  if (blocking === 0 || blocking === 1) return blocking === 1;
  refuse(INVALID, `blocking cannot be ${blocking}`);
}
