// Collective operations of a simulated NCCL whose ranks are in several processes. A rank sends its bytes
// when its stream comes to the call, and goes on when it has those of the others; a receive sends none, but
// its send waits for it. The stream comes there by itself: the others may wait for nothing else.

import type { Machine } from "../model/machine.ts";
import type { RemoteRanks } from "../model/communicator.ts";
import type { Operation } from "../model/stream.ts";
import {
  describe,
  moved,
  queueArrival,
  queueEnd,
  type RankCall,
  requireApart,
  sizeOf,
} from "./collectives.ts";

const NOTHING = new Uint8Array();

type Timer = ReturnType<typeof setInterval>;

/** Time between two looks at a stream that has not come to a call yet. */
const LOOK_MILLISECONDS = 1;

/** Queues the calls that one rank makes as a group. */
export function queueRemoteCollectives(
  machine: Machine,
  remote: RemoteRanks,
  calls: readonly RankCall[],
): void {
  requireApart(machine, calls);
  const named = calls.map((call) => ({ call, name: nameOf(call) }));
  const started = named.map(({ call, name }) => {
    const exchange: { own: Uint8Array<ArrayBuffer>; timer?: Timer } = { own: NOTHING };
    const arrival = queueArrival(machine, call, (bytes) => {
      exchange.own = bytes;
      clearInterval(exchange.timer);
      const words = call.peer === undefined ? describe(call) : sizeOf(call);
      const told = partOf(name, call.name === "ncclRecv");
      for (const rank of peersOf(call)) {
        if (rank === call.communicator.rank) remote.keep(rank, told, { words, bytes });
        else remote.send(rank, told, { words, bytes });
      }
    });
    return { call, name, exchange, arrival };
  });
  for (const { call, arrival, exchange } of started) exchange.timer = goOn(machine, call, arrival);
  for (const { call, name, exchange, arrival } of started) {
    const { clique, rank: own } = call.communicator;
    const peers = peersOf(call);
    const heard = partOf(name, call.name === "ncclSend");
    const findMissing = () =>
      clique.isAborted ? undefined : peers.find((rank) => !remote.has(rank, heard));
    queueEnd(machine, call, {
      after: [arrival],
      blocked() {
        const rank = findMissing();
        return rank === undefined ? undefined : `rank ${rank} has not come to ${call.name}`;
      },
      outside: {
        get isPassed() {
          return findMissing() === undefined;
        },
        isComing: true,
        needsEventLoop: true,
      },
      output() {
        const inputs = Array.from({ length: clique.size }, () => exchange.own);
        for (const rank of peers) {
          const { words = "", bytes = NOTHING } = remote.take(rank, heard) ?? {};
          const expected = call.peer === undefined ? describe(call) : sizeOf(call);
          inputs[rank] = bytes;
          if (words === expected) continue;
          machine.site.fail(
            "collective",
            `rank ${rank} calls ${words}, rank ${own} calls ${expected}`,
          );
        }
        if (call.peer !== undefined) return inputs[call.peer] ?? NOTHING;
        return moved(call, inputs)[own] ?? NOTHING;
      },
    });
  }
}

/** Lets a stream come to a call; what goes wrong is told by the next call, or question for errors. */
function goOn(machine: Machine, { communicator }: RankCall, arrival: Operation): Timer {
  const timer = setInterval(() => {
    try {
      machine.scheduler.proceed(arrival);
    } catch (error) {
      communicator.fault = { error };
      clearInterval(timer);
    }
    if (arrival.isDone || !communicator.isOpen) clearInterval(timer);
  }, LOOK_MILLISECONDS);
  Deno.unrefTimer(timer);
  return timer;
}

/** The number of a call among those that it is compared with. */
function nameOf(call: RankCall): string {
  const { communicator: { rank, callCounts }, name, peer } = call;
  const [from, to] = name === "ncclSend" ? [rank, peer] : [peer, rank];
  const kind = peer === undefined ? "all" : `${from} to ${to}`;
  // A send to the rank itself is not its receive.
  const counter = peer === undefined ? kind : `${name} ${kind}`;
  const number = callCounts.get(counter) ?? 0;
  callCounts.set(counter, number + 1);
  return `${kind} ${number}`;
}

/** Names the part of a call that a receive sends, or another rank's call. */
function partOf(name: string, isReceive: boolean): string {
  return isReceive ? `${name} received` : name;
}

/** The ranks that a call sends to and hears of. */
function peersOf({ peer, communicator: { rank, clique: { size } } }: RankCall): number[] {
  if (peer !== undefined) return [peer];
  return Array.from({ length: size }, (_, other) => other).filter((other) => other !== rank);
}
