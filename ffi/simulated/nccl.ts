// The NCCL of a simulated machine, for the ranks of one process: communicators on its devices, and the
// group that their calls belong to. It is stricter than the library: what ranks call must fit together.

import { NCCL, type NcclApi, type NcclFunction } from "../nccl.ts";
import {
  NCCL_CONFIG_MAGIC,
  NCCL_UNIQUE_ID_BYTES,
  ncclConfig_t,
  ncclDataType,
  ncclRedOp,
  ncclResult,
} from "../nccl_constants.ts";
import { cString } from "../pointers.ts";
import { bytesOf, type Cell, put32, put64 } from "./calls/cells.ts";
import { Refusal } from "./errors.ts";
import { Clique, Communicator } from "./model/communicator.ts";
import type { Context } from "./model/context.ts";
import type { Machine } from "./model/machine.ts";
import { queueCollectives, type RankCall } from "./work/collectives.ts";

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

const { ncclSuccess: SUCCESS, ncclInvalidArgument: INVALID, ncclInvalidUsage: MISUSED } =
  ncclResult;

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

/** Makes the functions for a machine. */
export function simulateNccl(machine: Machine): NcclApi {
  const { ncclVersion } = machine.settings;
  const cliques = new Map<string, Clique>();
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
  function serve(name: NcclFunction, body: () => void): number {
    const status = statusOf(name, body);
    if (depth > 0 && status !== SUCCESS) groupStatus = status;
    return status;
  }

  function statusOf(name: NcclFunction, body: () => void): number {
    try {
      machine.site.during(name, body);
      return SUCCESS;
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
  function endGroup(): void {
    const [made, queued, status] = [joinings, calls, groupStatus];
    [joinings, calls, groupStatus] = [[], [], SUCCESS];
    if (status !== SUCCESS) {
      throw new NcclRefusal(status, `a call of the group failed: ${lastWords}`);
    }
    if (made.length > 0 && queued.length > 0) {
      throw new NcclRefusal(MISUSED, "ranks are started and used in one group");
    }
    for (const { clique } of made) requireWhole(clique);
    queueCollectives(machine, queued);
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

  function start(
    cell: Cell,
    rank: {
      readonly size: number;
      readonly rank: number;
      readonly id: Cell;
      readonly config: Cell;
    },
  ): void {
    const { size } = rank;
    if (size < 1 || rank.rank < 0 || rank.rank >= size) {
      throw new NcclRefusal(INVALID, `rank ${rank.rank} of ${size} cannot be`);
    }
    if (rank.config !== null) requireConfig(bytesOf(rank.config));
    const name = bytesOf(rank.id).subarray(0, NCCL_UNIQUE_ID_BYTES).toHex();
    const clique = cliques.get(name) ?? new Clique(size);
    cliques.set(name, clique);
    if (clique.size !== size || clique.members.some((member) => member.rank === rank.rank)) {
      throw new NcclRefusal(MISUSED, `rank ${rank.rank} is there already, or of another size`);
    }
    const communicator = join(clique, rank.rank, machine.contexts.current);
    put64(cell, communicator.handle);
    joinings.push({ clique, communicator });
    if (depth === 0) endGroup();
  }

  function join(clique: Clique, rank: number, context: Context): Communicator {
    const communicator = new Communicator(clique, { handle: nextHandle, rank, context });
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
      const communicator = join(clique, rank, machine.retain(machine.device(ordinal)));
      machine.release(machine.device(ordinal)); // the library would keep it
      bytesOf(cells).set(new Uint8Array(BigUint64Array.of(communicator.handle).buffer), rank * 8);
    }
    requireWhole(clique);
  }

  function add(
    handle: number | bigint,
    stream: number | bigint,
    call: Omit<RankCall, "communicator" | "stream">,
  ): void {
    const communicator = find(handle);
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
    calls.push({ ...call, communicator, stream: queue });
    if (depth === 0) endGroup();
  }

  function end(handle: number | bigint, how: "destroy" | "abort"): void {
    const communicator = find(handle);
    if (how === "abort") communicator.clique.isAborted = true;
    else if (communicator.isBusy) {
      machine.site.fail("communicatorInUse", `work of rank ${communicator.rank} is still queued`);
    }
    communicators.delete(communicator.handle);
    communicator.close();
    for (const [name, { isOver }] of cliques) if (isOver) cliques.delete(name);
  }

  function textAt(words: string): bigint {
    const text = texts.get(words) ?? cString(words);
    texts.set(words, text);
    return BigInt(Deno.UnsafePointer.value(Deno.UnsafePointer.of(text)));
  }

  const none = 0n;
  const functions: NcclApi = {
    ncclGetVersion: (version) => serve("ncclGetVersion", () => put32(version, ncclVersion)),
    ncclGetUniqueId: (id) =>
      serve("ncclGetUniqueId", () => {
        const bytes = bytesOf(id).subarray(0, NCCL_UNIQUE_ID_BYTES).fill(0);
        bytes.set(new TextEncoder().encode(`simulated ${nextName++}`));
      }),
    ncclCommInitRankConfig: (cell, size, id, rank, config) =>
      serve("ncclCommInitRankConfig", () => start(cell, { size, rank, id, config })),
    ncclCommInitRankScalable: (cell, size, rank, _count, id, config) =>
      serve("ncclCommInitRankScalable", () => start(cell, { size, rank, id, config })),
    ncclCommInitAll: (cells, count, list) =>
      serve("ncclCommInitAll", () => startAll(cells, count, list)),
    ncclCommFinalize: (comm) =>
      serve("ncclCommFinalize", () => {
        if (!find(comm).isBusy) return;
        machine.site.fail("communicatorInUse", "its work is still queued");
      }),
    ncclCommDestroy: (comm) => serve("ncclCommDestroy", () => end(comm, "destroy")),
    ncclCommAbortNonblocking: (comm) =>
      Promise.resolve(statusOf("ncclCommAbortNonblocking", () => end(comm, "abort"))),
    ncclGetErrorString(status) {
      const name = Object.entries(ncclResult).find(([, value]) => value === status)?.[0];
      return textAt(name ?? "unknown result code");
    },
    ncclGetLastError: () => textAt(lastWords),
    ncclCommGetAsyncError: (comm, cell) =>
      serve("ncclCommGetAsyncError", () => put32(cell, find(comm).asyncStatus)),
    ncclCommCount: (comm, cell) =>
      serve("ncclCommCount", () => put32(cell, find(comm).clique.size)),
    ncclCommCuDevice: (comm, cell) =>
      serve("ncclCommCuDevice", () => put32(cell, find(comm).context.device.ordinal)),
    ncclCommUserRank: (comm, cell) => serve("ncclCommUserRank", () => put32(cell, find(comm).rank)),
    ncclReduce: (source, destination, count, datatype, operation, root, comm, stream) =>
      serve("ncclReduce", () =>
        add(comm, stream, {
          ...rangesOf(source, destination, count),
          name: "ncclReduce",
          datatype,
          operation,
          root,
        })),
    ncclBroadcast: (source, destination, count, datatype, root, comm, stream) =>
      serve("ncclBroadcast", () =>
        add(comm, stream, {
          ...rangesOf(source, destination, count),
          name: "ncclBroadcast",
          datatype,
          root,
        })),
    ncclAllReduce: (source, destination, count, datatype, operation, comm, stream) =>
      serve("ncclAllReduce", () =>
        add(comm, stream, {
          ...rangesOf(source, destination, count),
          name: "ncclAllReduce",
          datatype,
          operation,
        })),
    ncclReduceScatter: (source, destination, count, datatype, operation, comm, stream) =>
      serve("ncclReduceScatter", () =>
        add(comm, stream, {
          ...rangesOf(source, destination, count),
          name: "ncclReduceScatter",
          datatype,
          operation,
        })),
    ncclAllGather: (source, destination, count, datatype, comm, stream) =>
      serve("ncclAllGather", () =>
        add(comm, stream, {
          ...rangesOf(source, destination, count),
          name: "ncclAllGather",
          datatype,
        })),
    ncclAlltoAll: (source, destination, count, datatype, comm, stream) =>
      serve("ncclAlltoAll", () =>
        add(comm, stream, {
          ...rangesOf(source, destination, count),
          name: "ncclAlltoAll",
          datatype,
        })),
    ncclGather: (source, destination, count, datatype, root, comm, stream) =>
      serve("ncclGather", () =>
        add(comm, stream, {
          ...rangesOf(source, destination, count),
          name: "ncclGather",
          datatype,
          root,
        })),
    ncclScatter: (source, destination, count, datatype, root, comm, stream) =>
      serve("ncclScatter", () =>
        add(comm, stream, {
          ...rangesOf(source, destination, count),
          name: "ncclScatter",
          datatype,
          root,
        })),
    ncclSend: (source, count, datatype, peer, comm, stream) =>
      serve(
        "ncclSend",
        () =>
          add(comm, stream, { ...rangesOf(source, none, count), name: "ncclSend", datatype, peer }),
      ),
    ncclRecv: (destination, count, datatype, peer, comm, stream) =>
      serve("ncclRecv", () =>
        add(comm, stream, {
          ...rangesOf(none, destination, count),
          name: "ncclRecv",
          datatype,
          peer,
        })),
    ncclGroupStart() {
      depth++;
      return SUCCESS;
    },
    ncclGroupEnd: () =>
      statusOf("ncclGroupEnd", () => {
        if (depth === 0) throw new NcclRefusal(MISUSED, "not in a group call");
        if (--depth === 0) endGroup();
      }),
  };
  const names = Object.keys(NCCL) as NcclFunction[];
  const missing = names.filter((name) => (SINCE[name] ?? 0) > ncclVersion);
  return { ...functions, ...Object.fromEntries(missing.map((name) => [name, null])) };
}

/** Reads what a call is given about memory. */
function rangesOf(
  source: number | bigint,
  destination: number | bigint,
  count: number | bigint,
): Pick<RankCall, "source" | "destination" | "count"> {
  return { source: BigInt(source), destination: BigInt(destination), count: Number(count) };
}

function requireConfig(bytes: Uint8Array): void {
  const { size, magic, blocking } = ncclConfig_t.decode(bytes);
  if (magic !== NCCL_CONFIG_MAGIC) throw new NcclRefusal(INVALID, "the configuration has no magic");
  if (size < BigInt(ncclConfig_t.offsets.blocking + 4)) return;
  if (blocking === 1) return;
  throw new NcclRefusal(INVALID, "only communicators that block are simulated");
}
