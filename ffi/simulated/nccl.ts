// The NCCL of a simulated machine: communicators on its devices, and the group that their calls belong
// to. It is stricter than the library: what ranks call must fit together. Blocking ranks are all in this
// process; each non-blocking one has a process of its own, with a connection to the others.

import { cString } from "../c_strings.ts";
import { NCCL, type NcclApi, type NcclFunction } from "../nccl.ts";
import {
  NCCL_CONFIG_MAGIC,
  NCCL_UNIQUE_ID_BYTES,
  ncclConfig_t,
  ncclDataType,
  ncclRedOp,
  ncclResult,
} from "../nccl_constants.ts";
import { type NcclWire, type NcclWithWire, OWN_WIRE } from "../nccl_library.ts";
import { bytesOf, type Cell, put32, put64 } from "./calls/cells.ts";
import { Refusal } from "./errors.ts";
import { hostAddress } from "./model/address_space.ts";
import { Clique, Communicator } from "./model/communicator.ts";
import type { Context } from "./model/context.ts";
import type { Machine } from "./model/machine.ts";
import { RemoteRanks } from "./model/remote_ranks.ts";
import { queueCollectives, type RankCall } from "./work/collectives.ts";
import { queueRemoteCollectives } from "./work/remote_collectives.ts";

/** Handles start here, far from those of the driver. */
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

/** A rank that joins a clique when the group ends. */
interface Joining {
  readonly clique: Clique;
  readonly communicator: Communicator;
}

/** The arguments of a call that uses memory. */
interface GivenCall extends Pick<RankCall, "datatype" | "operation" | "root" | "peer"> {
  readonly source?: number | bigint;
  readonly destination?: number | bigint;
  readonly count: number | bigint;
  readonly comm: number | bigint;
  readonly stream: number | bigint;
}

/** The state of a simulated NCCL, and what its calls have in common. */
class SimulatedNccl {
  readonly #machine: Machine;
  readonly #cliques = new Map<string, Clique>();
  readonly #wires = new Map<string, RemoteRanks>();
  readonly #communicators = new Map<bigint, Communicator>();
  readonly #texts = new Map<string, Uint8Array<ArrayBuffer>>();
  #nextHandle = FIRST_HANDLE;
  #nextName = 1;
  #lastWords = "";
  #depth = 0;
  #groupStatus: number = SUCCESS;
  #calls: RankCall[] = [];
  #joinings: Joining[] = [];

  constructor(machine: Machine) {
    this.#machine = machine;
  }

  /** Runs a call: with a status for its result, which also fails the group that it belongs to. */
  serve(name: NcclFunction, body: () => number | void): number {
    const status = this.statusOf(name, body);
    if (this.#depth > 0 && status !== SUCCESS) this.#groupStatus = status;
    return status;
  }

  statusOf(name: NcclFunction, body: () => number | void): number {
    try {
      return this.#machine.site.during(name, body) ?? SUCCESS;
    } catch (error) {
      if (error instanceof NcclRefusal) {
        this.#lastWords = `${name}: ${error.words}`;
        return error.status;
      }
      if (!(error instanceof Refusal)) throw error;
      this.#lastWords = `${name}: the driver refused it with ${error.status}`;
      return ncclResult.ncclUnhandledCudaError;
    }
  }

  /** Ends the outermost group: its ranks find each other, or its calls are queued. */
  #endGroup(): number {
    const [made, queued, status] = [this.#joinings, this.#calls, this.#groupStatus];
    [this.#joinings, this.#calls, this.#groupStatus] = [[], [], SUCCESS];
    if (status !== SUCCESS) {
      throw new NcclRefusal(status, `a call of the group failed: ${this.#lastWords}`);
    }
    if (made.length > 0 && queued.length > 0) {
      throw new NcclRefusal(MISUSED, "ranks are started and used in one group");
    }
    const [remote] = made;
    if (remote?.communicator.isBlocking === false) return this.#greet(remote, made.length);
    for (const { clique } of made) this.#requireWhole(clique);
    const [first] = queued;
    if (first?.communicator.isBlocking === false) {
      return this.#queueLater(first.communicator, queued);
    }
    queueCollectives(this.#machine, queued);
    return SUCCESS;
  }

  /** Starts the one rank that this process has, which waits for those of other processes. */
  #greet({ clique, communicator }: Joining, count: number): number {
    const { size, remote } = clique;
    if (count > 1) throw new NcclRefusal(MISUSED, "one rank of a process does not block");
    const others = Array.from({ length: size }, (_, rank) => rank)
      .filter((rank) => rank !== communicator.rank);
    if (remote === undefined && others.length > 0) {
      throw new NcclRefusal(ncclResult.ncclSystemError, "there is no way to the other ranks");
    }
    const bytes = new Uint8Array();
    for (const rank of others) remote?.send(rank, GREETING, { words: `${size}`, bytes });
    communicator.inProgress = () => {
      if (others.some((rank) => remote?.has(rank, GREETING) !== true)) return false;
      const isOther = (rank: number) => remote?.take(rank, GREETING)?.words !== `${size}`;
      if (others.filter(isOther).length === 0) return true;
      throw new NcclRefusal(MISUSED, "the ranks were told different sizes");
    };
    return IN_PROGRESS;
  }

  /** Queues calls that have returned already; the streams must not be used until then. */
  #queueLater(communicator: Communicator, queued: readonly RankCall[]): number {
    if (queued.some((call) => call.communicator !== communicator)) {
      throw new NcclRefusal(MISUSED, "one rank of a process does not block");
    }
    const { clique: { remote = new RemoteRanks({ send() {} }) }, callCounts } = communicator;
    const isFirst = callCounts.size === 0;
    const readyAt = performance.now() + (isFirst ? CONNECT_MILLISECONDS : 0);
    const places = queued.map(({ stream: { timeline } }) => ({
      timeline,
      workCount: timeline.workCount,
    }));
    communicator.inProgress = () => {
      if (performance.now() < readyAt) return false;
      const used = places.find(({ timeline, workCount }) => timeline.workCount !== workCount);
      if (used === undefined) queueRemoteCollectives(this.#machine, remote, queued);
      else {
        this.#machine.site.fail(
          "communicatorInUse",
          `${used.timeline.label} was given work before a call of rank ${communicator.rank} was done`,
        );
      }
      return true;
    };
    return IN_PROGRESS;
  }

  /** Returns a communicator's state, and lets its calls continue. */
  ask(communicator: Communicator): number {
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
    const missing = Array.from({ length: size }, (_, rank) => rank)
      .find((rank) => !members.some((member) => member.rank === rank));
    if (missing !== undefined) {
      this.#machine.site.fail(
        "collective",
        `rank ${missing} of ${size} is not started in the group`,
      );
    }
    const devices = new Set(members.map(({ context }) => context.device));
    if (devices.size === size) return;
    throw new NcclRefusal(MISUSED, "Duplicate GPU detected: two ranks are on one device");
  }

  find(handle: number | bigint): Communicator {
    const found = this.#communicators.get(BigInt(handle));
    if (found?.isOpen === true) return found;
    throw new NcclRefusal(INVALID, "there is no such communicator");
  }

  /** Finds a communicator for a call, which must come after all that is in progress. */
  findIdle(handle: number | bigint): Communicator {
    const found = this.find(handle);
    found.throwFault();
    if (found.inProgress === undefined) return found;
    throw new NcclRefusal(INVALID, "a call of the communicator is in progress");
  }

  start(
    cell: Cell,
    rank: {
      readonly size: number;
      readonly rank: number;
      readonly id: Cell;
      readonly config: Cell;
    },
  ): number {
    const { size } = rank;
    if (size < 1 || rank.rank < 0 || rank.rank >= size) {
      throw new NcclRefusal(INVALID, `rank ${rank.rank} of ${size} cannot be`);
    }
    const isBlocking = rank.config === null || readBlocking(bytesOf(rank.config));
    const name = bytesOf(rank.id).subarray(0, NCCL_UNIQUE_ID_BYTES).toHex();
    const clique = this.#cliques.getOrInsertComputed(
      name,
      () => new Clique(size, this.#wires.get(name)),
    );
    this.#wires.delete(name);
    if (clique.size !== size || clique.members.some((member) => member.rank === rank.rank)) {
      throw new NcclRefusal(MISUSED, `rank ${rank.rank} is there already, or of another size`);
    }
    const { current } = this.#machine.contexts;
    const communicator = this.#join(clique, { rank: rank.rank, context: current, isBlocking });
    put64(cell, communicator.handle);
    this.#joinings.push({ clique, communicator });
    return this.#depth === 0 ? this.#endGroup() : SUCCESS;
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
  startAll(cells: Cell, count: number, list: Cell): void {
    const ordinals = new Int32Array(bytesOf(list).slice().buffer).subarray(0, count);
    if (count < 1) throw new NcclRefusal(INVALID, `${count} devices cannot be`);
    const clique = new Clique(count);
    for (const [rank, ordinal] of ordinals.entries()) {
      const context = this.#machine.retain(this.#machine.device(ordinal));
      const communicator = this.#join(clique, { rank, context, isBlocking: true });
      this.#machine.release(this.#machine.device(ordinal)); // the library would keep it
      bytesOf(cells).set(new Uint8Array(BigUint64Array.of(communicator.handle).buffer), rank * 8);
    }
    this.#requireWhole(clique);
  }

  /** Adds a call that uses memory to the group, or queues it at once where there is none. */
  add(name: NcclFunction, given: GivenCall): number {
    return this.serve(name, () => {
      const { comm, stream, source = 0n, destination = 0n, count, ...call } = given;
      const communicator = this.findIdle(comm);
      const { clique: { size } } = communicator;
      const { datatype, operation = 0, root = 0, peer = 0 } = call;
      const isKnown = Object.values(ncclDataType).some((known) => known === datatype) &&
        Object.values(ncclRedOp).some((known) => known === operation);
      if (!isKnown) throw new NcclRefusal(INVALID, `type ${datatype}, operation ${operation}`);
      if ([root, peer].some((rank) => rank < 0 || rank >= size)) {
        throw new NcclRefusal(INVALID, `there is no rank ${root === 0 ? peer : root}`);
      }
      const queue = this.#machine.stream(BigInt(stream));
      if (queue.context !== communicator.context) {
        throw new NcclRefusal(INVALID, "the stream is another device's");
      }
      if (this.#machine.captures.of(queue) !== undefined) {
        throw new NcclRefusal(MISUSED, "the stream is being captured");
      }
      const ranges = {
        source: BigInt(source),
        destination: BigInt(destination),
        count: Number(count),
      };
      this.#calls.push({ ...call, ...ranges, name, communicator, stream: queue });
      return this.#depth === 0 ? this.#endGroup() : SUCCESS;
    });
  }

  /** Finalizes a communicator; one of several processes reports later that it is done. */
  finalize(communicator: Communicator): number {
    communicator.isFinal = true;
    if (!communicator.isBlocking) {
      communicator.inProgress = () => !communicator.isBusy;
      return IN_PROGRESS;
    }
    if (!communicator.isBusy) return SUCCESS;
    return this.#machine.site.fail("communicatorInUse", "its work is still queued");
  }

  end(handle: number | bigint, how: "destroy" | "abort"): void {
    const communicator = this.find(handle);
    if (how === "abort") communicator.clique.isAborted = true;
    else if (communicator.isBusy) {
      this.#machine.site.fail(
        "communicatorInUse",
        `work of rank ${communicator.rank} is still queued`,
      );
    } else if (!communicator.isBlocking && (!communicator.isFinal || communicator.inProgress)) {
      this.#machine.site.fail("communicatorInUse", `rank ${communicator.rank} is not finalized`);
    }
    this.#communicators.delete(communicator.handle);
    communicator.close();
    for (const [name, { isOver }] of this.#cliques) if (isOver) this.#cliques.delete(name);
  }

  #textAt(words: string): bigint {
    return BigInt(hostAddress(this.#texts.getOrInsertComputed(words, cString)));
  }

  /** Takes the connection by which ranks of other processes are reached. */
  connect(id: Uint8Array, wire: NcclWire): RemoteRanks {
    const remote = new RemoteRanks(wire);
    this.#wires.set(id.subarray(0, NCCL_UNIQUE_ID_BYTES).toHex(), remote);
    return remote;
  }

  /** Writes a name that no other clique has. */
  writeName(id: Cell): void {
    const bytes = bytesOf(id).subarray(0, NCCL_UNIQUE_ID_BYTES).fill(0);
    bytes.set(new TextEncoder().encode(`simulated ${this.#nextName++} ${crypto.randomUUID()}`));
  }

  /** The words of the last refusal. */
  lastError(): bigint {
    return this.#textAt(this.#lastWords);
  }

  openGroup(): number {
    this.#depth++;
    return SUCCESS;
  }

  closeGroup(): number {
    if (this.#depth === 0) throw new NcclRefusal(MISUSED, "not in a group call");
    return --this.#depth === 0 ? this.#endGroup() : SUCCESS;
  }
}

/** Makes the functions for a machine. */
export function simulateNccl(machine: Machine): NcclApi {
  const { ncclVersion } = machine.settings;
  const functions = callsOf(new SimulatedNccl(machine), ncclVersion);
  const names = Object.keys(NCCL) as NcclFunction[];
  const missing = names.filter((name) => (SINCE[name] ?? 0) > ncclVersion);
  return { ...functions, ...Object.fromEntries(missing.map((name) => [name, null])) };
}

/** The table of calls, in the order of the header. */
function callsOf(nccl: SimulatedNccl, ncclVersion: number): NcclWithWire {
  return {
    [OWN_WIRE](id, wire) {
      const remote = nccl.connect(id, wire);
      return (rank, bytes) => remote.receive(rank, bytes);
    },
    ncclGetVersion: (version) => nccl.serve("ncclGetVersion", () => put32(version, ncclVersion)),
    ncclGetUniqueId: (id) => nccl.serve("ncclGetUniqueId", () => nccl.writeName(id)),
    ncclCommInitRankConfig: (cell, size, id, rank, config) =>
      nccl.serve("ncclCommInitRankConfig", () => nccl.start(cell, { size, rank, id, config })),
    ncclCommInitRankScalable: (cell, size, rank, _count, id, config) =>
      nccl.serve("ncclCommInitRankScalable", () => nccl.start(cell, { size, rank, id, config })),
    ncclCommInitAll: (cells, count, list) =>
      nccl.serve("ncclCommInitAll", () => nccl.startAll(cells, count, list)),
    ncclCommFinalize: (comm) =>
      nccl.serve("ncclCommFinalize", () => nccl.finalize(nccl.findIdle(comm))),
    ncclCommDestroy: (comm) => nccl.serve("ncclCommDestroy", () => nccl.end(comm, "destroy")),
    ncclCommDestroyNonblocking: (comm) =>
      Promise.resolve(nccl.statusOf("ncclCommDestroyNonblocking", () => nccl.end(comm, "destroy"))),
    ncclCommAbortNonblocking: (comm) =>
      Promise.resolve(nccl.statusOf("ncclCommAbortNonblocking", () => nccl.end(comm, "abort"))),
    ncclGetLastError: () => nccl.lastError(),
    ncclCommGetAsyncError: (comm, cell) =>
      nccl.serve("ncclCommGetAsyncError", () => put32(cell, nccl.ask(nccl.find(comm)))),
    ncclReduce: (source, destination, count, datatype, operation, root, comm, stream) =>
      nccl.add("ncclReduce", {
        source,
        destination,
        count,
        datatype,
        operation,
        root,
        comm,
        stream,
      }),
    ncclBroadcast: (source, destination, count, datatype, root, comm, stream) =>
      nccl.add("ncclBroadcast", { source, destination, count, datatype, root, comm, stream }),
    ncclAllReduce: (source, destination, count, datatype, operation, comm, stream) =>
      nccl.add("ncclAllReduce", { source, destination, count, datatype, operation, comm, stream }),
    ncclReduceScatter: (source, destination, count, datatype, operation, comm, stream) =>
      nccl.add("ncclReduceScatter", {
        source,
        destination,
        count,
        datatype,
        operation,
        comm,
        stream,
      }),
    ncclAllGather: (source, destination, count, datatype, comm, stream) =>
      nccl.add("ncclAllGather", { source, destination, count, datatype, comm, stream }),
    ncclAlltoAll: (source, destination, count, datatype, comm, stream) =>
      nccl.add("ncclAlltoAll", { source, destination, count, datatype, comm, stream }),
    ncclGather: (source, destination, count, datatype, root, comm, stream) =>
      nccl.add("ncclGather", { source, destination, count, datatype, root, comm, stream }),
    ncclScatter: (source, destination, count, datatype, root, comm, stream) =>
      nccl.add("ncclScatter", { source, destination, count, datatype, root, comm, stream }),
    ncclSend: (source, count, datatype, peer, comm, stream) =>
      nccl.add("ncclSend", { source, count, datatype, peer, comm, stream }),
    ncclRecv: (destination, count, datatype, peer, comm, stream) =>
      nccl.add("ncclRecv", { destination, count, datatype, peer, comm, stream }),
    ncclGroupStart: () => nccl.openGroup(),
    ncclGroupEnd: () => nccl.statusOf("ncclGroupEnd", () => nccl.closeGroup()),
  };
}

/** Reads from a configuration whether the calls of a communicator return when they are done. */
function readBlocking(bytes: Uint8Array): boolean {
  const { offsets, byteLength } = ncclConfig_t;
  const whole = new Uint8Array(byteLength); // the library reads no more than the size says
  whole.set(bytes.subarray(0, Math.min(bytes.byteLength, byteLength)));
  const { size, magic, blocking } = ncclConfig_t.decode(whole);
  if (magic !== NCCL_CONFIG_MAGIC) throw new NcclRefusal(INVALID, "the configuration has no magic");
  if (size < BigInt(offsets.blocking + 4)) return true;
  if (blocking === 0 || blocking === 1) return blocking === 1;
  throw new NcclRefusal(INVALID, `blocking cannot be ${blocking}`);
}
