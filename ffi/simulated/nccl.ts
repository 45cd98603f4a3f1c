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
import { type NcclWithWire, OWN_WIRE } from "../nccl_library.ts";
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

/** Makes the functions for a machine. */
export function simulateNccl(machine: Machine): NcclApi {
  const { ncclVersion } = machine.settings;
  const cliques = new Map<string, Clique>();
  const wires = new Map<string, RemoteRanks>();
  const communicators = new Map<bigint, Communicator>();
  const texts = new Map<string, Uint8Array<ArrayBuffer>>();
  let nextHandle = FIRST_HANDLE;
  let nextName = 1;
  let lastWords = "";
  let depth = 0;
  let groupStatus: number = SUCCESS;
  let calls: RankCall[] = [];
  let joinings: Joining[] = [];

  /** Runs a call: with a status for its result, which also fails the group that it belongs to. */
  function serve(name: NcclFunction, body: () => number | void): number {
    const status = statusOf(name, body);
    if (depth > 0 && status !== SUCCESS) groupStatus = status;
    return status;
  }

  function statusOf(name: NcclFunction, body: () => number | void): number {
    try {
      return machine.site.during(name, body) ?? SUCCESS;
    } catch (error) {
      if (error instanceof NcclRefusal) {
        lastWords = `${name}: ${error.words}`;
        return error.status;
      }
      if (!(error instanceof Refusal)) throw error;
      lastWords = `${name}: the driver refused it with ${error.status}`;
      return ncclResult.ncclUnhandledCudaError;
    }
  }

  /** Ends the outermost group: its ranks find each other, or its calls are queued. */
  function endGroup(): number {
    const [made, queued, status] = [joinings, calls, groupStatus];
    [joinings, calls, groupStatus] = [[], [], SUCCESS];
    if (status !== SUCCESS) {
      throw new NcclRefusal(status, `a call of the group failed: ${lastWords}`);
    }
    if (made.length > 0 && queued.length > 0) {
      throw new NcclRefusal(MISUSED, "ranks are started and used in one group");
    }
    const [remote] = made;
    if (remote?.communicator.isBlocking === false) return greet(remote, made.length);
    for (const { clique } of made) requireWhole(clique);
    const [first] = queued;
    if (first?.communicator.isBlocking === false) return queueLater(first.communicator, queued);
    queueCollectives(machine, queued);
    return SUCCESS;
  }

  /** Starts the one rank that this process has, which waits for those of other processes. */
  function greet({ clique, communicator }: Joining, count: number): number {
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
  function queueLater(communicator: Communicator, queued: readonly RankCall[]): number {
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
      if (used === undefined) queueRemoteCollectives(machine, remote, queued);
      else {
        machine.site.fail(
          "communicatorInUse",
          `${used.timeline.label} was given work before a call of rank ${communicator.rank} was done`,
        );
      }
      return true;
    };
    return IN_PROGRESS;
  }

  /** Returns a communicator's state, and lets its calls continue. */
  function ask(communicator: Communicator): number {
    communicator.throwFault();
    const { inProgress } = communicator;
    if (inProgress === undefined) return communicator.asyncStatus;
    communicator.inProgress = undefined;
    try {
      if (inProgress()) return communicator.asyncStatus;
    } catch (error) {
      if (!(error instanceof NcclRefusal)) throw error;
      lastWords = error.words;
      return communicator.asyncStatus = error.status;
    }
    communicator.inProgress = inProgress;
    return IN_PROGRESS;
  }

  /** Throws unless all ranks are there, each on a device of its own: the library would wait for ever. */
  function requireWhole({ size, members }: Clique): void {
    const missing = Array.from({ length: size }, (_, rank) => rank)
      .find((rank) => !members.some((member) => member.rank === rank));
    if (missing !== undefined) {
      machine.site.fail("collective", `rank ${missing} of ${size} is not started in the group`);
    }
    const devices = new Set(members.map(({ context }) => context.device));
    if (devices.size === size) return;
    throw new NcclRefusal(MISUSED, "Duplicate GPU detected: two ranks are on one device");
  }

  function find(handle: number | bigint): Communicator {
    const found = communicators.get(BigInt(handle));
    if (found?.isOpen === true) return found;
    throw new NcclRefusal(INVALID, "there is no such communicator");
  }

  /** Finds a communicator for a call, which must come after all that is in progress. */
  function findIdle(handle: number | bigint): Communicator {
    const found = find(handle);
    found.throwFault();
    if (found.inProgress === undefined) return found;
    throw new NcclRefusal(INVALID, "a call of the communicator is in progress");
  }

  function start(
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
    const clique = cliques.getOrInsertComputed(name, () => new Clique(size, wires.get(name)));
    wires.delete(name);
    if (clique.size !== size || clique.members.some((member) => member.rank === rank.rank)) {
      throw new NcclRefusal(MISUSED, `rank ${rank.rank} is there already, or of another size`);
    }
    const { current } = machine.contexts;
    const communicator = join(clique, { rank: rank.rank, context: current, isBlocking });
    put64(cell, communicator.handle);
    joinings.push({ clique, communicator });
    return depth === 0 ? endGroup() : SUCCESS;
  }

  function join(
    clique: Clique,
    fields: { readonly rank: number; readonly context: Context; readonly isBlocking: boolean },
  ): Communicator {
    const communicator = new Communicator(clique, { handle: nextHandle, ...fields });
    nextHandle += HANDLE_STEP;
    communicators.set(communicator.handle, communicator);
    return communicator;
  }

  /** Starts a rank on each device of a list, in the device's primary context. */
  function startAll(cells: Cell, count: number, list: Cell): void {
    const ordinals = new Int32Array(bytesOf(list).slice().buffer).subarray(0, count);
    if (count < 1) throw new NcclRefusal(INVALID, `${count} devices cannot be`);
    const clique = new Clique(count);
    for (const [rank, ordinal] of ordinals.entries()) {
      const context = machine.retain(machine.device(ordinal));
      const communicator = join(clique, { rank, context, isBlocking: true });
      machine.release(machine.device(ordinal)); // the library would keep it
      bytesOf(cells).set(new Uint8Array(BigUint64Array.of(communicator.handle).buffer), rank * 8);
    }
    requireWhole(clique);
  }

  /** Adds a call that uses memory to the group, or queues it at once where there is none. */
  function add(name: NcclFunction, given: GivenCall): number {
    return serve(name, () => {
      const { comm, stream, source = 0n, destination = 0n, count, ...call } = given;
      const communicator = findIdle(comm);
      const { clique: { size } } = communicator;
      const { datatype, operation = 0, root = 0, peer = 0 } = call;
      const isKnown = Object.values(ncclDataType).some((known) => known === datatype) &&
        Object.values(ncclRedOp).some((known) => known === operation);
      if (!isKnown) throw new NcclRefusal(INVALID, `type ${datatype}, operation ${operation}`);
      if ([root, peer].some((rank) => rank < 0 || rank >= size)) {
        throw new NcclRefusal(INVALID, `there is no rank ${root === 0 ? peer : root}`);
      }
      const queue = machine.stream(BigInt(stream));
      if (queue.context !== communicator.context) {
        throw new NcclRefusal(INVALID, "the stream is another device's");
      }
      if (machine.captures.of(queue) !== undefined) {
        throw new NcclRefusal(MISUSED, "the stream is being captured");
      }
      const ranges = {
        source: BigInt(source),
        destination: BigInt(destination),
        count: Number(count),
      };
      calls.push({ ...call, ...ranges, name, communicator, stream: queue });
      return depth === 0 ? endGroup() : SUCCESS;
    });
  }

  /** Finalizes a communicator; one of several processes reports later that it is done. */
  function finalize(communicator: Communicator): number {
    communicator.isFinal = true;
    if (!communicator.isBlocking) {
      communicator.inProgress = () => !communicator.isBusy;
      return IN_PROGRESS;
    }
    if (!communicator.isBusy) return SUCCESS;
    return machine.site.fail("communicatorInUse", "its work is still queued");
  }

  function end(handle: number | bigint, how: "destroy" | "abort"): void {
    const communicator = find(handle);
    if (how === "abort") communicator.clique.isAborted = true;
    else if (communicator.isBusy) {
      machine.site.fail("communicatorInUse", `work of rank ${communicator.rank} is still queued`);
    } else if (!communicator.isBlocking && (!communicator.isFinal || communicator.inProgress)) {
      machine.site.fail("communicatorInUse", `rank ${communicator.rank} is not finalized`);
    }
    communicators.delete(communicator.handle);
    communicator.close();
    for (const [name, { isOver }] of cliques) if (isOver) cliques.delete(name);
  }

  function textAt(words: string): bigint {
    return BigInt(hostAddress(texts.getOrInsertComputed(words, cString)));
  }

  const functions: NcclWithWire = {
    [OWN_WIRE](id, wire) {
      const remote = new RemoteRanks(wire);
      wires.set(id.subarray(0, NCCL_UNIQUE_ID_BYTES).toHex(), remote);
      return (rank, bytes) => remote.receive(rank, bytes);
    },
    ncclGetVersion: (version) => serve("ncclGetVersion", () => put32(version, ncclVersion)),
    ncclGetUniqueId: (id) =>
      serve("ncclGetUniqueId", () => {
        const bytes = bytesOf(id).subarray(0, NCCL_UNIQUE_ID_BYTES).fill(0);
        bytes.set(new TextEncoder().encode(`simulated ${nextName++} ${crypto.randomUUID()}`));
      }),
    ncclCommInitRankConfig: (cell, size, id, rank, config) =>
      serve("ncclCommInitRankConfig", () => start(cell, { size, rank, id, config })),
    ncclCommInitRankScalable: (cell, size, rank, _count, id, config) =>
      serve("ncclCommInitRankScalable", () => start(cell, { size, rank, id, config })),
    ncclCommInitAll: (cells, count, list) =>
      serve("ncclCommInitAll", () => startAll(cells, count, list)),
    ncclCommFinalize: (comm) => serve("ncclCommFinalize", () => finalize(findIdle(comm))),
    ncclCommDestroy: (comm) => serve("ncclCommDestroy", () => end(comm, "destroy")),
    ncclCommDestroyNonblocking: (comm) =>
      Promise.resolve(statusOf("ncclCommDestroyNonblocking", () => end(comm, "destroy"))),
    ncclCommAbortNonblocking: (comm) =>
      Promise.resolve(statusOf("ncclCommAbortNonblocking", () => end(comm, "abort"))),
    ncclGetLastError: () => textAt(lastWords),
    ncclCommGetAsyncError: (comm, cell) =>
      serve("ncclCommGetAsyncError", () => put32(cell, ask(find(comm)))),
    ncclReduce: (source, destination, count, datatype, operation, root, comm, stream) =>
      add("ncclReduce", { source, destination, count, datatype, operation, root, comm, stream }),
    ncclBroadcast: (source, destination, count, datatype, root, comm, stream) =>
      add("ncclBroadcast", { source, destination, count, datatype, root, comm, stream }),
    ncclAllReduce: (source, destination, count, datatype, operation, comm, stream) =>
      add("ncclAllReduce", { source, destination, count, datatype, operation, comm, stream }),
    ncclReduceScatter: (source, destination, count, datatype, operation, comm, stream) =>
      add("ncclReduceScatter", { source, destination, count, datatype, operation, comm, stream }),
    ncclAllGather: (source, destination, count, datatype, comm, stream) =>
      add("ncclAllGather", { source, destination, count, datatype, comm, stream }),
    ncclAlltoAll: (source, destination, count, datatype, comm, stream) =>
      add("ncclAlltoAll", { source, destination, count, datatype, comm, stream }),
    ncclGather: (source, destination, count, datatype, root, comm, stream) =>
      add("ncclGather", { source, destination, count, datatype, root, comm, stream }),
    ncclScatter: (source, destination, count, datatype, root, comm, stream) =>
      add("ncclScatter", { source, destination, count, datatype, root, comm, stream }),
    ncclSend: (source, count, datatype, peer, comm, stream) =>
      add("ncclSend", { source, count, datatype, peer, comm, stream }),
    ncclRecv: (destination, count, datatype, peer, comm, stream) =>
      add("ncclRecv", { destination, count, datatype, peer, comm, stream }),
    ncclGroupStart() {
      depth++;
      return SUCCESS;
    },
    ncclGroupEnd: () =>
      statusOf("ncclGroupEnd", () => {
        if (depth === 0) throw new NcclRefusal(MISUSED, "not in a group call");
        return --depth === 0 ? endGroup() : SUCCESS;
      }),
  };
  const names = Object.keys(NCCL) as NcclFunction[];
  const missing = names.filter((name) => (SINCE[name] ?? 0) > ncclVersion);
  return { ...functions, ...Object.fromEntries(missing.map((name) => [name, null])) };
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
