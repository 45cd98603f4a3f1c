// Collective operations of a simulated NCCL. The calls of one group are compared across ranks and then
// queued: each rank reads its bytes on its own stream, and writes when all others have read theirs.

import type { NcclFunction } from "../../nccl.ts";
import { hex } from "../errors.ts";
import type { Communicator } from "../model/communicator.ts";
import type { Machine } from "../model/machine.ts";
import type { Region } from "../model/region.ts";
import type { Operation, Stream, Work } from "../model/stream.ts";
import { requireAccess } from "./copies.ts";
import { queueMemoryWork, type Use, wholeUse } from "./memory_work.ts";
import { ELEMENT_BYTES, reduce } from "./reduction.ts";

/** Bytes that a link between two devices carries in a second. */
const LINK_BYTES_PER_SECOND = 200e9;
const LAUNCH_SECONDS = 10e-6;

export interface RankCall {
  readonly name: NcclFunction;
  readonly communicator: Communicator;
  readonly stream: Stream;
  /** Elements, as the function counts them. */
  readonly count: number;
  readonly datatype: number;
  /** Number of the operation; undefined for calls that compute nothing. */
  readonly operation?: number | undefined;
  /** The rank that sends to all, or gets from all. */
  readonly root?: number | undefined;
  /** The other rank of a send or a receive. */
  readonly peer?: number | undefined;
  readonly source: bigint;
  readonly destination: bigint;
}

/** Parts that a call reads and writes, in units of its count. */
interface Extents {
  readonly read: number;
  readonly written: number;
}

/** Calls that belong together, in the order of their ranks, or a send and its receive. */
interface Exchange {
  readonly calls: readonly RankCall[];
  /** Makes what each of the calls writes of what each of them reads. */
  readonly move: (inputs: readonly Uint8Array<ArrayBuffer>[]) => readonly Uint8Array[];
}

/** Compares the calls of a group and queues them; throws when ranks do not fit together. */
export function queueCollectives(machine: Machine, calls: readonly RankCall[]): void {
  const cliques = Map.groupBy(calls, ({ communicator }) => communicator.clique);
  for (const [{ size }, ofClique] of cliques) {
    const ranks: RankCall[][] = Array.from({ length: size }, () => []);
    for (const call of ofClique) ranks[call.communicator.rank]?.push(call);
    for (const ofRank of ranks) requireApart(machine, ofRank);
    queueExchanges(machine, [...collectivesOf(machine, ranks), ...pairsOf(machine, ofClique)]);
  }
}

/** Compares the n-th collective call of each rank with those of the others. */
function collectivesOf(machine: Machine, ranks: readonly (readonly RankCall[])[]): Exchange[] {
  const lists = ranks.map((calls) => calls.filter(({ peer }) => peer === undefined));
  const longest = Math.max(...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, at) => {
    const calls = lists.map((list, rank) => {
      const call = list[at];
      if (call !== undefined) return call;
      const other = lists.find(({ length }) => length > at)?.[at];
      return fail(
        machine,
        `rank ${rank} makes no call ${at + 1}, rank ${other?.communicator.rank} calls ` +
          `${describe(other)}`,
      );
    });
    const [first] = calls;
    for (const call of calls) {
      if (first === undefined || describe(call) === describe(first)) continue;
      const { communicator: { rank } } = call;
      fail(machine, `rank ${rank} calls ${describe(call)}, rank 0 calls ${describe(first)}`);
    }
    return { calls, move: (inputs) => first === undefined ? [] : moved(first, inputs) };
  });
}

function pairsOf(machine: Machine, calls: readonly RankCall[]): Exchange[] {
  const sends = calls.filter(({ name }) => name === "ncclSend");
  const receives = calls.filter(({ name }) => name === "ncclRecv");
  const pairs = sends.map((send): Exchange => {
    const at = receives.findIndex(({ communicator, peer }) =>
      communicator.rank === send.peer && peer === send.communicator.rank
    );
    const [receive] = at < 0 ? [] : receives.splice(at, 1);
    const { communicator: { rank }, peer } = send;
    if (receive === undefined) {
      return fail(machine, `rank ${rank} sends to rank ${peer}, which receives nothing from it`);
    }
    const [sent, received] = [sizeOf(send), sizeOf(receive)];
    if (sent !== received) {
      fail(machine, `rank ${rank} sends ${sent} to rank ${peer}, which receives ${received}`);
    }
    return { calls: [send, receive], move: ([bytes = NOTHING]) => [NOTHING, bytes] };
  });
  const [left] = receives;
  if (left === undefined) return pairs;
  const { communicator: { rank }, peer } = left;
  return fail(machine, `rank ${rank} receives from rank ${peer}, which sends nothing to it`);
}

const NOTHING = new Uint8Array();

/** Queues what all ranks read, and behind it what they write. */
function queueExchanges(machine: Machine, exchanges: readonly Exchange[]): void {
  const started = exchanges.map((exchange) => {
    const inputs = exchange.calls.map(() => NOTHING);
    const arrivals = exchange.calls.map((call, at) =>
      queueArrival(machine, call, (bytes) => inputs[at] = bytes)
    );
    return { exchange, inputs, arrivals };
  });
  for (const { exchange, inputs, arrivals } of started) {
    const { calls, move } = exchange;
    let outputs: readonly Uint8Array[] | undefined;
    for (const [at, call] of calls.entries()) {
      queueEnd(machine, call, {
        after: arrivals,
        output: () => (outputs ??= move(inputs))[at] ?? NOTHING,
      });
    }
  }
}

/** Queues the reading of a rank's bytes, which waits while the rank sleeps. */
export function queueArrival(
  machine: Machine,
  call: RankCall,
  take: (bytes: Uint8Array<ArrayBuffer>) => void,
): Operation {
  const { communicator, name, stream } = call;
  const { clique, rank } = communicator;
  const fault = machine.settings.ranks(rank, name);
  const isDead = fault === "dead";
  if (isDead) { for (const each of clique.members) each.asyncStatus = each.rank === rank ? 2 : 6; }
  const region = regionOf(machine, call, "read");
  return queueOn(machine, call, {
    seconds: typeof fault === "object" ? fault.lateSeconds : 0,
    uses: region === undefined ? [] : [wholeUse(region, false)],
    mayWake: fault === "asleep" || isDead,
    blocked: fault !== "asleep" && !isDead ? undefined : () => {
      if (clique.isAborted) return undefined;
      const isUp = !isDead && machine.settings.ranks(rank, name) !== "asleep";
      return isUp ? undefined : `rank ${rank} of ${stream.timeline.label} does not come to ${name}`;
    },
    run: () => take(region?.read() ?? NOTHING),
  });
}

export function queueEnd(
  machine: Machine,
  call: RankCall,
  { output, ...waits }: { output: () => Uint8Array } & Pick<Work, "after" | "blocked" | "outside">,
): void {
  const region = regionOf(machine, call, "written");
  queueOn(machine, call, {
    ...waits,
    seconds: LAUNCH_SECONDS + byteLengthOf(call) / LINK_BYTES_PER_SECOND,
    uses: region === undefined ? [] : [wholeUse(region, true)],
    run() {
      if (call.communicator.clique.isAborted) return;
      const bytes = output();
      region?.write(bytes);
    },
  });
}

function queueOn(
  machine: Machine,
  call: RankCall,
  work: Parameters<typeof queueMemoryWork>[2] & { readonly uses: readonly Use[] },
): Operation {
  const { communicator, name, stream } = call;
  const context = [communicator.context];
  return machine.site.during(name, () => {
    for (const use of work.uses) requireAccess(machine, context, { ...use, kernel: true });
    const queued = queueMemoryWork(machine, stream, work);
    if (queued === undefined) return fail(machine, "it would be recorded in a graph");
    communicator.note(queued);
    return queued;
  });
}

function regionOf(machine: Machine, call: RankCall, side: keyof Extents): Region | undefined {
  const byteLength = byteLengthOf(call) * extentsOf(call)[side];
  if (byteLength === 0) return undefined;
  const address = Number(side === "read" ? call.source : call.destination);
  const resolve = () => machine.memory.resolve(address, byteLength, "kernel");
  return machine.site.during(call.name, resolve);
}

/** Says what a call reads and writes, in units of its count. */
function extentsOf(call: RankCall): Extents {
  const { name, communicator: { rank, clique: { size } }, root } = call;
  const atRoot = (units: number) => rank === root ? units : 0;
  const extents: Partial<Record<NcclFunction, readonly [read: number, written: number]>> = {
    ncclAllReduce: [1, 1],
    ncclReduce: [1, atRoot(1)],
    ncclBroadcast: [atRoot(1), 1],
    ncclAllGather: [1, size],
    ncclReduceScatter: [size, 1],
    ncclAlltoAll: [size, size],
    ncclGather: [1, atRoot(size)],
    ncclScatter: [atRoot(size), 1],
    ncclSend: [1, 0],
  };
  const [read, written] = extents[name] ?? [0, 1];
  return { read, written };
}

/** Makes what each rank writes of what all ranks read; all make the same call. */
export function moved(
  call: RankCall,
  inputs: readonly Uint8Array<ArrayBuffer>[],
): readonly Uint8Array[] {
  const { name, datatype, operation = 0, root = 0 } = call;
  const unit = byteLengthOf(call);
  const part = (bytes: Uint8Array, at: number) => bytes.subarray(at * unit, (at + 1) * unit);
  const toAll = (result: Uint8Array) => inputs.map(() => result);
  const parts = (bytes: Uint8Array) => inputs.map((_, rank) => part(bytes, rank));
  const reduced = () => reduce(inputs, { datatype, operation });
  switch (name) {
    case "ncclAllReduce":
    case "ncclReduce":
      return toAll(reduced());
    case "ncclReduceScatter":
      return parts(reduced());
    case "ncclBroadcast":
      return toAll(inputs[root] ?? NOTHING);
    case "ncclScatter":
      return parts(inputs[root] ?? NOTHING);
    case "ncclAlltoAll":
      return inputs.map((_, rank) => joined(inputs.map((input) => part(input, rank))));
    default:
      return toAll(joined(inputs));
  }
}

/** Throws when calls of one rank share bytes, one of them writing, or one is not in place as NCCL says. */
export function requireApart(machine: Machine, calls: readonly RankCall[]): void {
  const ranges = calls.flatMap((call) => {
    const { read, written } = extentsOf(call);
    const unit = byteLengthOf(call);
    return [
      { call, start: Number(call.source), byteLength: read * unit, write: false },
      { call, start: Number(call.destination), byteLength: written * unit, write: true },
    ].filter(({ byteLength }) => byteLength > 0);
  });
  for (const [at, one] of ranges.entries()) {
    for (const other of ranges.slice(at + 1)) {
      const isApart = one.start + one.byteLength <= other.start ||
        other.start + other.byteLength <= one.start;
      if (isApart || !(one.write || other.write)) continue;
      if (one.call === other.call && isInPlace(one.call)) continue;
      fail(
        machine,
        `${describe(one.call)} and ${describe(other.call)} of rank ` +
          `${one.call.communicator.rank} share bytes at ${hex(Math.max(one.start, other.start))}`,
      );
    }
  }
}

/** Returns whether a call reads and writes the same place in the one way that it can. */
function isInPlace(call: RankCall): boolean {
  const { name, source, destination, communicator: { rank } } = call;
  const ownPart = BigInt(rank * byteLengthOf(call));
  if (name === "ncclAllGather" || name === "ncclGather") return source === destination + ownPart;
  if (name === "ncclReduceScatter" || name === "ncclScatter") {
    return destination === source + ownPart;
  }
  return name !== "ncclAlltoAll" && source === destination;
}

function byteLengthOf({ count, datatype }: RankCall): number {
  return count * (ELEMENT_BYTES.get(datatype) ?? 0);
}

export function sizeOf({ count, datatype }: RankCall): string {
  return `${count} elements of type ${datatype}`;
}

/** Says what a call is, so that ranks can compare theirs. */
export function describe(call: RankCall | undefined): string {
  if (call === undefined) return "nothing";
  const { name, operation, root } = call;
  const words = [sizeOf(call)];
  if (operation !== undefined) words.push(`operation ${operation}`);
  if (root !== undefined) words.push(`root ${root}`);
  return `${name}(${words.join(", ")})`;
}

/** Puts parts of one length behind each other. */
function joined(parts: readonly Uint8Array[]): Uint8Array {
  const byteLength = parts[0]?.byteLength ?? 0;
  const result = new Uint8Array(parts.length * byteLength);
  for (const [at, part] of parts.entries()) result.set(part, at * byteLength);
  return result;
}

function fail(machine: Machine, words: string): never {
  return machine.site.fail("collective", words);
}
