// The simulated NCCL by its own functions: what the library answers, and what it would not notice.

import { assertEquals, assertThrows } from "@std/assert";
import { readCString } from "../../../ffi/c_strings.ts";
import type { DriverApi } from "../../../ffi/cuda.ts";
import { NCCL, type NcclApi } from "../../../ffi/nccl.ts";
import {
  NCCL_CONFIG_MAGIC,
  NCCL_UNIQUE_ID_BYTES,
  ncclConfig_t,
  ncclDataType,
  ncclRedOp,
  ncclResult,
} from "../../../ffi/nccl_constants.ts";
import { ownParts } from "../../../ffi/own_parts.ts";
import { simulateDriver, type SimulationOptions } from "../../../ffi/simulated/driver.ts";
import { SimulationError } from "../../../ffi/simulated/errors.ts";
import { out } from "../../support/simulated_gpu.ts";

const { ncclInvalidArgument: INVALID, ncclInvalidUsage: MISUSED } = ncclResult;
const { ncclFloat32: FLOAT, ncclInt32: INT } = ncclDataType;
const { ncclSum: SUM, ncclMax: MAX } = ncclRedOp;

/** A machine with a communicator, a stream and 64 written bytes at two places on each device. */
interface Ranks {
  readonly driver: DriverApi;
  readonly nccl: NcclApi;
  readonly comms: bigint[];
  readonly streams: bigint[];
  readonly contexts: bigint[];
  readonly sources: bigint[];
  readonly targets: bigint[];
}

/** Starts ranks as a program with one thread does. */
function startRanks(size: number, options: SimulationOptions = {}): Ranks {
  const driver = simulateDriver({ devices: size, ...options });
  const nccl = ownParts(driver).nccl as NcclApi;
  driver.cuInit(0);
  const ordinals = Array.from({ length: size }, (_, rank) => rank);
  const contexts = ordinals.map((rank) =>
    out((cell) => driver.cuDevicePrimaryCtxRetain(cell, rank))
  );
  const each = <T>(body: (rank: number) => T): T[] =>
    ordinals.map((rank) => {
      driver.cuCtxSetCurrent(contexts[rank] ?? 0n);
      return body(rank);
    });
  const streams = each(() => out((cell) => driver.cuStreamCreateWithPriority(cell, 1, 0)));
  const allocate = () =>
    each(() => {
      const address = out((cell) => driver.cuMemAlloc_v2(cell, 64n));
      driver.cuMemsetD8Async(address, 1, 64n, 1n);
      driver.cuCtxSynchronize();
      return address;
    });
  const [sources, targets] = [allocate(), allocate()];
  const id = newId(nccl);
  const cells = ordinals.map(() => new BigUint64Array(1));
  assertEquals(nccl.ncclGroupStart(), 0);
  each((rank) => assertEquals(start(nccl, cells[rank], { size, rank, id }), 0));
  assertEquals(nccl.ncclGroupEnd(), 0);
  const comms = cells.map(([handle = 0n]) => handle);
  return { driver, nccl, comms, streams, contexts, sources, targets };
}

function newId(nccl: NcclApi): Uint8Array<ArrayBuffer> {
  const id = new Uint8Array(NCCL_UNIQUE_ID_BYTES);
  assertEquals(nccl.ncclGetUniqueId(id), 0);
  return id;
}

function start(
  nccl: NcclApi,
  cell: BigUint64Array<ArrayBuffer> | undefined,
  { size, rank, id, magic = NCCL_CONFIG_MAGIC, blocking = 1 }: {
    size: number;
    rank: number;
    id: Uint8Array<ArrayBuffer>;
    magic?: number;
    blocking?: number;
  },
): number | undefined {
  const byteLength = BigInt(ncclConfig_t.byteLength);
  const config = ncclConfig_t.encode({ size: byteLength, magic, version: 21400, blocking });
  return nccl.ncclCommInitRankScalable?.(cell ?? null, size, rank, 1, id, config);
}

/** Calls ncclAllReduce on each rank in one group, each with arguments of its own. */
function reduceOnAll(
  { nccl, comms, streams, sources, targets }: Ranks,
  given: readonly { count?: bigint; type?: number; op?: number; target?: bigint }[],
): number {
  nccl.ncclGroupStart();
  for (const [rank, { count = 4n, type = FLOAT, op = SUM, target }] of given.entries()) {
    nccl.ncclAllReduce(
      sources[rank] ?? 0n,
      target ?? targets[rank] ?? 0n,
      count,
      type,
      op,
      comms[rank] ?? 0n,
      streams[rank] ?? 0n,
    );
  }
  return nccl.ncclGroupEnd();
}

Deno.test("simulateDriver() has an NCCL with every function of the table", () => {
  const { nccl } = startRanks(1);
  assertEquals(Object.keys(nccl).sort(), Object.keys(NCCL).sort());
  assertEquals(Object.values(nccl).includes(null as never), false);
});

Deno.test("simulated NCCL tells its version, the state of a rank, and words", () => {
  const { nccl, comms } = startRanks(3);
  const cell = new Int32Array(1);
  const [, second = 0n] = comms;
  assertEquals([nccl.ncclGetVersion(cell), cell[0]], [0, 22809]);
  assertEquals([nccl.ncclCommGetAsyncError(second, cell), cell[0]], [0, 0]);
  assertEquals(nccl.ncclCommGetAsyncError(1n, cell), INVALID);
  assertEquals(
    readCString(nccl.ncclGetLastError(0n)),
    "ncclCommGetAsyncError: there is no such communicator",
  );
});

Deno.test("simulated NCCL refuses what the library refuses, and fails the whole group", () => {
  const ranks = startRanks(2);
  const { nccl, comms: [comm = 0n], streams: [stream = 0n, other = 0n], sources: [from = 0n] } =
    ranks;
  const refused: [() => number, number][] = [
    [() => nccl.ncclAllReduce(from, from, 4n, 99, SUM, comm, stream), INVALID],
    [() => nccl.ncclAllReduce(from, from, 4n, FLOAT, 9, comm, stream), INVALID],
    [() => nccl.ncclReduce(from, from, 4n, FLOAT, SUM, 2, comm, stream), INVALID],
    [() => nccl.ncclSend(from, 4n, FLOAT, -1, comm, stream), INVALID],
    [() => nccl.ncclAllReduce(from, from, 4n, FLOAT, SUM, 5n, stream), INVALID],
    [() => nccl.ncclAllReduce(from, from, 4n, FLOAT, SUM, comm, other), INVALID],
  ];
  for (const [call, status] of refused) {
    nccl.ncclGroupStart();
    assertEquals(call(), status);
    assertEquals(nccl.ncclGroupEnd(), status);
  }
  assertEquals(nccl.ncclGroupEnd(), MISUSED);
  assertEquals(reduceOnAll(ranks, [{}, {}]), 0);
});

Deno.test("simulated NCCL refuses to start ranks that do not fit", async () => {
  const { nccl, driver, contexts: [context = 0n] } = startRanks(2);
  driver.cuCtxSetCurrent(context);
  const cells = [new BigUint64Array(1), new BigUint64Array(1)] as const;
  const id = newId(nccl);
  const startGroup = (body: () => void) => {
    nccl.ncclGroupStart();
    body();
    return nccl.ncclGroupEnd();
  };
  assertEquals(start(nccl, cells[0], { size: 2, rank: 2, id }), INVALID);
  assertEquals(start(nccl, cells[0], { size: 1, rank: 0, id, magic: 1 }), INVALID);
  assertEquals(start(nccl, cells[0], { size: 1, rank: 0, id, blocking: 2 }), INVALID);
  const twice = startGroup(() => {
    start(nccl, cells[0], { size: 2, rank: 0, id });
    assertEquals(start(nccl, cells[1], { size: 2, rank: 0, id }), MISUSED);
  });
  assertEquals(twice, MISUSED);
  await nccl.ncclCommAbortNonblocking(cells[0][0] ?? 0n);
  const sameDevice = startGroup(() => {
    const id = newId(nccl);
    start(nccl, cells[0], { size: 2, rank: 0, id });
    start(nccl, cells[1], { size: 2, rank: 1, id });
  });
  assertEquals(sameDevice, MISUSED);
  assertThrows(
    () => startGroup(() => start(nccl, cells[0], { size: 2, rank: 0, id: newId(nccl) })),
    SimulationError,
    "rank 1 of 2 is not started",
  );
});

const MISFITS: Readonly<Record<string, [Parameters<typeof reduceOnAll>[1], string]>> = {
  count: [[{}, { count: 5n }], "ncclAllReduce(5 elements"],
  "element type": [[{}, { type: INT }], "4 elements of type 2"],
  operation: [[{}, { op: MAX }], "operation 2"],
  "missing rank": [[{}], "rank 1 makes no call 1"],
};

for (const [what, [given, words]] of Object.entries(MISFITS)) {
  Deno.test(`simulated NCCL throws for ranks that differ by their ${what}`, () => {
    const ranks = startRanks(2);
    const error = assertThrows(() => reduceOnAll(ranks, given), SimulationError, words);
    assertEquals(error.rule, "collective");
    assertEquals(reduceOnAll(ranks, [{}, {}]), 0); // and the next group works
  });
}

Deno.test("simulated NCCL throws for ranks that call in another order", () => {
  const { nccl, comms, streams, sources, targets } = startRanks(2);
  nccl.ncclGroupStart();
  for (const rank of [0, 1]) {
    const [comm = 0n, stream = 0n] = [comms[rank], streams[rank]];
    const [from = 0n, to = 0n] = [sources[rank], targets[rank]];
    const calls = [
      () => nccl.ncclAllReduce(from, from, 4n, FLOAT, SUM, comm, stream),
      () => nccl.ncclBroadcast(to, to, 4n, FLOAT, 0, comm, stream),
    ];
    for (const call of rank === 0 ? calls : calls.toReversed()) call();
  }
  assertThrows(() => nccl.ncclGroupEnd(), SimulationError, "rank 1 calls ncclBroadcast");
});

Deno.test("simulated NCCL throws for sends without a receive, of another size, and the reverse", () => {
  const { nccl, comms, streams, sources, targets } = startRanks(2);
  const send = (count: bigint) => {
    nccl.ncclSend(sources[0] ?? 0n, count, FLOAT, 1, comms[0] ?? 0n, streams[0] ?? 0n);
  };
  const receive = (count: bigint) => {
    nccl.ncclRecv(targets[1] ?? 0n, count, FLOAT, 0, comms[1] ?? 0n, streams[1] ?? 0n);
  };
  const misfits: [() => void, string][] = [
    [() => send(4n), "which receives nothing"],
    [() => receive(4n), "which sends nothing"],
    [() => (send(4n), receive(3n)), "which receives 3 elements"],
  ];
  for (const [body, words] of misfits) {
    nccl.ncclGroupStart();
    body();
    assertThrows(() => nccl.ncclGroupEnd(), SimulationError, words);
  }
  nccl.ncclGroupStart();
  receive(4n);
  send(4n);
  assertEquals(nccl.ncclGroupEnd(), 0);
});

Deno.test("simulated NCCL throws for calls that share bytes, unless they are in place", () => {
  const ranks = startRanks(2);
  const { sources: [first = 0n, second = 0n] } = ranks;
  const shifted = [{ target: first + 4n }, { target: second + 4n }];
  assertThrows(() => reduceOnAll(ranks, shifted), SimulationError, "share bytes");
  assertEquals(reduceOnAll(ranks, [{ target: first }, { target: second }]), 0);
});

Deno.test("simulated NCCL throws for bytes that nobody wrote, and for a race with another stream", () => {
  const { driver, ...ranks } = startRanks(2);
  driver.cuCtxSetCurrent(ranks.contexts[0] ?? 0n);
  const fresh = out((cell) => driver.cuMemAlloc_v2(cell, 64n));
  reduceOnAll({ ...ranks, driver, sources: [fresh, ranks.sources[1] ?? 0n] }, [{}, {}]);
  assertThrows(() => driver.cuStreamSynchronize(ranks.streams[0] ?? 0n), SimulationError, "nobody");
  const stream = out((cell) => driver.cuStreamCreateWithPriority(cell, 1, 0));
  const write = () => driver.cuMemsetD8Async(ranks.targets[0] ?? 0n, 1, 64n, stream);
  assertThrows(write, SimulationError, "while ncclAllReduce writes them");
});

Deno.test("simulated NCCL throws when a communicator is destroyed before its work is done", () => {
  const { driver, ...ranks } = startRanks(2);
  const { nccl, comms: [comm = 0n] } = ranks;
  reduceOnAll({ ...ranks, driver }, [{}, {}]);
  const error = assertThrows(() => nccl.ncclCommDestroy(comm), SimulationError);
  assertEquals(error.rule, "communicatorInUse");
  for (const stream of ranks.streams) driver.cuStreamSynchronize(stream);
  for (const each of ranks.comms) assertEquals(nccl.ncclCommDestroy(each), 0);
  assertEquals(nccl.ncclCommDestroy(comm), INVALID);
});

Deno.test("simulated NCCL makes the host wait for ever for a rank that sleeps, until it is aborted", async () => {
  const { driver, ...ranks } = startRanks(2, {
    ranks: (rank) => rank === 1 ? "asleep" : undefined,
  });
  const { nccl, streams: [stream = 0n] } = ranks;
  reduceOnAll({ ...ranks, driver }, [{}, {}]);
  assertEquals(driver.cuStreamQuery(stream), 600);
  const error = assertThrows(
    () => driver.cuStreamSynchronize(stream),
    SimulationError,
    "rank 1 of",
  );
  assertEquals(error.rule, "deadlock");
  for (const comm of ranks.comms) assertEquals(await nccl.ncclCommAbortNonblocking(comm), 0);
  assertEquals(driver.cuStreamSynchronize(stream), 0);
});

Deno.test("simulated NCCL adds the time by which a rank is late", () => {
  const seconds = [0, 2].map((lateSeconds) => {
    const { driver, ...ranks } = startRanks(2, {
      ranks: (rank) => rank === 1 ? { lateSeconds } : undefined,
    });
    const { streams: [stream = 0n] } = ranks;
    driver.cuCtxSetCurrent(ranks.contexts[0] ?? 0n);
    const events = [0, 1].map(() => out((cell) => driver.cuEventCreate(cell, 0)));
    driver.cuEventRecord(events[0] ?? 0n, stream);
    reduceOnAll({ ...ranks, driver }, [{}, {}]);
    driver.cuEventRecord(events[1] ?? 0n, stream);
    driver.cuStreamSynchronize(stream);
    const milliseconds = new Float32Array(1);
    assertEquals(driver.cuEventElapsedTime(milliseconds, events[0] ?? 0n, events[1] ?? 0n), 0);
    return Math.round((milliseconds[0] ?? 0) / 1000);
  });
  assertEquals(seconds, [0, 2]);
});

Deno.test("simulated NCCL tells the others of a rank that is dead", () => {
  const { driver, ...ranks } = startRanks(3, { ranks: (rank) => rank === 2 ? "dead" : undefined });
  const { nccl, comms } = ranks;
  reduceOnAll({ ...ranks, driver }, [{}, {}, {}]);
  const cell = new Int32Array(1);
  const statuses = comms.map((comm) => (nccl.ncclCommGetAsyncError(comm, cell), cell[0]));
  const { ncclRemoteError: REMOTE, ncclSystemError: SYSTEM } = ncclResult;
  assertEquals(statuses, [REMOTE, REMOTE, SYSTEM]);
});
