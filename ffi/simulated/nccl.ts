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
import { type NcclWire, OWN_WIRE } from "../nccl_library.ts";
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

/** A rank that joins a clique when the group ends. */
interface Joining {
  readonly clique: Clique;
  readonly communicator: Communicator;
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
  let groupCalls: RankCall[] = [];
  let joinings: Joining[] = [];

  /** Ends the outermost group: its ranks find each other, or its calls are queued. */
  function endGroup(): number {
    const [made, queued, status] = [joinings, groupCalls, groupStatus];
    [joinings, groupCalls, groupStatus] = [[], [], SUCCESS];
    if (status !== SUCCESS) refuse(status, `a call of the group failed: ${lastWords}`);
    if (made.length > 0 && queued.length > 0) {
      refuse(MISUSED, "ranks are started and used in one group");
    }
    const [remote] = made;
    if (remote?.communicator.isBlocking === false) return greet(remote, made.length);
    for (const { clique } of made) requireWhole(clique);
    const [first] = queued;
    if (first?.communicator.isBlocking === false) {
      return queueLater(first.communicator, queued);
    }
    queueCollectives(machine, queued);
    return SUCCESS;
  }

  /** Starts the one rank that this process has, which waits for those of other processes. */
  function greet({ clique, communicator }: Joining, count: number): number {
    const { size, remote } = clique;
    if (count > 1) refuse(MISUSED, "one rank of a process does not block");
    const others = ranksOf(size).filter((rank) => rank !== communicator.rank);
    if (remote === undefined && others.length > 0) {
      refuse(ncclResult.ncclSystemError, "there is no way to the other ranks");
    }
    const bytes = new Uint8Array();
    for (const rank of others) remote?.send(rank, GREETING, { words: `${size}`, bytes });
    communicator.inProgress = () => {
      if (others.some((rank) => remote?.has(rank, GREETING) !== true)) return false;
      const isOther = (rank: number) => remote?.take(rank, GREETING)?.words !== `${size}`;
      if (others.filter(isOther).length === 0) return true;
      refuse(MISUSED, "the ranks were told different sizes");
    };
    return IN_PROGRESS;
  }

  /** Queues calls that have returned already; the streams must not be used until then. */
  function queueLater(communicator: Communicator, queued: readonly RankCall[]): number {
    if (queued.some((call) => call.communicator !== communicator)) {
      refuse(MISUSED, "one rank of a process does not block");
    }
    const { clique: { remote = new RemoteRanks({ send() {} }) }, callCounts } = communicator;
    const isFirst = callCounts.size === 0;
    const readyAt = performance.now() + (isFirst ? CONNECT_MILLISECONDS : 0);
    const places = queued.map(({ stream: { timeline } }) => {
      const { workCount } = timeline;
      return { timeline, workCount };
    });
    communicator.inProgress = () => {
      if (performance.now() < readyAt) return false;
      const used = places.find(({ timeline, workCount }) => timeline.workCount !== workCount);
      if (used === undefined) queueRemoteCollectives(machine, remote, queued);
      else {
        const { timeline: { label } } = used;
        failInUse(
          `${label} was given work before a call of rank ${communicator.rank} was done`,
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
    const missing = ranksOf(size).find((rank) => !members.some((member) => member.rank === rank));
    if (missing !== undefined) {
      const words = `rank ${missing} of ${size} is not started in the group`;
      machine.site.fail("collective", words);
    }
    const devices = new Set(members.map(({ context }) => context.device));
    if (devices.size === size) return;
    refuse(MISUSED, "Duplicate GPU detected: two ranks are on one device");
  }

  function find(handle: number | bigint): Communicator {
    const found = communicators.get(BigInt(handle));
    if (found?.isOpen === true) return found;
    refuse(INVALID, "there is no such communicator");
  }

  /** Finds a communicator for a call, which must come after all that is in progress. */
  function findIdle(handle: number | bigint): Communicator {
    const found = find(handle);
    found.throwFault();
    if (found.inProgress === undefined) return found;
    refuse(INVALID, "a call of the communicator is in progress");
  }

  function start(
    cell: Cell,
    { size, rank, id, config }: { size: number; rank: number; id: Cell; config: Cell },
  ): number {
    if (size < 1 || rank < 0 || rank >= size) refuse(INVALID, `rank ${rank} of ${size} cannot be`);
    const isBlocking = config === null || readBlocking(bytesOf(config));
    const name = bytesOf(id).subarray(0, NCCL_UNIQUE_ID_BYTES).toHex();
    const make = () => new Clique(size, wires.get(name));
    const clique = cliques.getOrInsertComputed(name, make);
    wires.delete(name);
    if (clique.size !== size || clique.members.some((member) => member.rank === rank)) {
      refuse(MISUSED, `rank ${rank} is there already, or of another size`);
    }
    const { current: context } = machine.contexts;
    const communicator = join(clique, { rank, context, isBlocking });
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
    if (count < 1) refuse(INVALID, `${count} devices cannot be`);
    const clique = new Clique(count);
    for (const [rank, ordinal] of ordinals.entries()) {
      const context = machine.retain(machine.device(ordinal));
      const communicator = join(clique, { rank, context, isBlocking: true });
      machine.release(machine.device(ordinal)); // the library would keep it
      bytesOf(cells).set(new Uint8Array(BigUint64Array.of(communicator.handle).buffer), rank * 8);
    }
    requireWhole(clique);
  }

  /** Makes the function of a call that uses memory, from the names of its arguments. */
  function adding(name: NcclFunction, names: readonly (keyof GivenCall)[]) {
    return (...values: readonly (number | bigint)[]): number =>
      add(name, Object.fromEntries(names.map((key, at) => [key, values[at]])) as GivenCall);
  }

  /** Adds a call that uses memory to the group, or queues it at once where there is none. */
  function add(name: NcclFunction, given: GivenCall): number {
    const { comm, stream, source = 0n, destination = 0n, count, ...call } = given;
    const communicator = findIdle(comm);
    const { clique: { size } } = communicator;
    const { datatype, operation = 0, root = 0, peer = 0 } = call;
    const isKnown = Object.values(ncclDataType).some((known) => known === datatype) &&
      Object.values(ncclRedOp).some((known) => known === operation);
    if (!isKnown) refuse(INVALID, `type ${datatype}, operation ${operation}`);
    if ([root, peer].some((rank) => rank < 0 || rank >= size)) {
      refuse(INVALID, `there is no rank ${root === 0 ? peer : root}`);
    }
    const queue = machine.stream(BigInt(stream));
    if (queue.context !== communicator.context) refuse(INVALID, "the stream is another device's");
    if (machine.captures.of(queue) !== undefined) {
      refuse(MISUSED, "the stream is being captured");
    }
    const addresses = { source: BigInt(source), destination: BigInt(destination) };
    const place = { name, communicator, stream: queue };
    groupCalls.push({ ...call, ...addresses, ...place, count: Number(count) });
    return depth === 0 ? endGroup() : SUCCESS;
  }

  /** Finalizes a communicator; one of several processes reports later that it is done. */
  function finalize(communicator: Communicator): number {
    communicator.isFinal = true;
    if (!communicator.isBlocking) {
      communicator.inProgress = () => !communicator.isBusy;
      return IN_PROGRESS;
    }
    if (!communicator.isBusy) return SUCCESS;
    return failInUse("its work is still queued");
  }

  function failInUse(words: string): never {
    return machine.site.fail("communicatorInUse", words);
  }

  function end(handle: number | bigint, how: "destroy" | "abort"): void {
    const communicator = find(handle);
    const { clique, inProgress, isBlocking, isBusy, isFinal, rank } = communicator;
    if (how === "abort") clique.isAborted = true;
    else if (isBusy) failInUse(`work of rank ${rank} is still queued`);
    else if (!isBlocking && (!isFinal || inProgress)) {
      failInUse(`rank ${rank} is not finalized`);
    }
    communicators.delete(communicator.handle);
    communicator.close();
    for (const [name, { isOver }] of cliques) if (isOver) cliques.delete(name);
  }

  /** Runs a call: with a status for its result, which also fails the group that it belongs to. */
  function serve(name: NcclFunction, body: () => Served): number | bigint {
    let status: number | bigint;
    try {
      status = machine.site.during(name, body) ?? SUCCESS;
    } catch (error) {
      if (!(error instanceof NcclRefusal || error instanceof Refusal)) throw error;
      const isOwn = error instanceof NcclRefusal;
      lastWords = `${name}: ${isOwn ? error.words : `the driver refused it with ${error.status}`}`;
      status = isOwn ? error.status : ncclResult.ncclUnhandledCudaError;
    }
    if (depth > 0 && typeof status === "number" && status !== SUCCESS) groupStatus = status;
    return status;
  }

  /** The table of calls, in the order of the header. */
  const calls: ServedCalls = {
    ncclGetVersion: (version) => put32(version, ncclVersion),
    ncclGetUniqueId(id) {
      const bytes = bytesOf(id).subarray(0, NCCL_UNIQUE_ID_BYTES).fill(0);
      bytes.set(new TextEncoder().encode(`simulated ${nextName++} ${crypto.randomUUID()}`));
    },
    ncclCommInitRankConfig: (cell, size, id, rank, config) =>
      start(cell, { size, rank, id, config }),
    ncclCommInitRankScalable: (cell, size, rank, _count, id, config) =>
      start(cell, { size, rank, id, config }),
    ncclCommInitAll: startAll,
    ncclCommFinalize: (comm) => finalize(findIdle(comm)),
    ncclCommDestroy: (comm) => end(comm, "destroy"),
    ncclCommDestroyNonblocking: (comm) => end(comm, "destroy"),
    ncclCommAbortNonblocking: (comm) => end(comm, "abort"),
    ncclGetLastError: () => BigInt(hostAddress(texts.getOrInsertComputed(lastWords, cString))),
    ncclCommGetAsyncError: (comm, cell) => put32(cell, ask(find(comm))),
    ncclReduce: adding("ncclReduce", [...MOVED, "operation", "root", ...PLACE]),
    ncclBroadcast: adding("ncclBroadcast", [...MOVED, "root", ...PLACE]),
    ncclAllReduce: adding("ncclAllReduce", [...MOVED, "operation", ...PLACE]),
    ncclReduceScatter: adding("ncclReduceScatter", [...MOVED, "operation", ...PLACE]),
    ncclAllGather: adding("ncclAllGather", [...MOVED, ...PLACE]),
    ncclAlltoAll: adding("ncclAlltoAll", [...MOVED, ...PLACE]),
    ncclGather: adding("ncclGather", [...MOVED, "root", ...PLACE]),
    ncclScatter: adding("ncclScatter", [...MOVED, "root", ...PLACE]),
    ncclSend: adding("ncclSend", ["source", "count", "datatype", "peer", ...PLACE]),
    ncclRecv: adding("ncclRecv", ["destination", "count", "datatype", "peer", ...PLACE]),
    ncclGroupStart: () => void depth++,
    ncclGroupEnd() {
      if (depth === 0) refuse(MISUSED, "not in a group call");
      return --depth === 0 ? endGroup() : SUCCESS;
    },
  };
  const functions = Object.entries(calls).map(
    ([key, call]: [string, (...given: never[]) => Served]) => {
      const name = key as NcclFunction;
      if ((SINCE[name] ?? 0) > ncclVersion) return [name, null];
      const served = (...values: never[]) => serve(name, () => call(...values));
      if (!name.endsWith("Nonblocking")) return [name, served];
      return [name, (...values: never[]) => Promise.resolve(served(...values))];
    },
  );
  return Object.assign(Object.fromEntries(functions) as NcclApi, {
    /** Takes the connection by which ranks of other processes are reached. */
    [OWN_WIRE](id: Uint8Array, wire: NcclWire) {
      const remote = new RemoteRanks(wire);
      wires.set(id.subarray(0, NCCL_UNIQUE_ID_BYTES).toHex(), remote);
      return (rank: number, bytes: Uint8Array<ArrayBuffer>) => remote.receive(rank, bytes);
    },
  });
}

function ranksOf(size: number): number[] {
  return Array.from({ length: size }, (_, rank) => rank);
}

/** Reads from a configuration whether the calls of a communicator return when they are done. */
function readBlocking(bytes: Uint8Array): boolean {
  const { offsets, byteLength } = ncclConfig_t;
  const whole = new Uint8Array(byteLength); // the library reads no more than the size says
  whole.set(bytes.subarray(0, Math.min(bytes.byteLength, byteLength)));
  const { size, magic, blocking } = ncclConfig_t.decode(whole);
  if (magic !== NCCL_CONFIG_MAGIC) refuse(INVALID, "the configuration has no magic");
  if (size < BigInt(offsets.blocking + 4)) return true;
  if (blocking === 0 || blocking === 1) return blocking === 1;
  refuse(INVALID, `blocking cannot be ${blocking}`);
}
