// The simulated NCCL of ranks that have a process each: what their communicators answer while they are at
// work, and what is compared across ranks. Each rank is a machine of its own here, with wires between them.

import { assert, assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { setTimeout as delay } from "node:timers/promises";
import type { DriverApi } from "../../../ffi/cuda.ts";
import type { NcclApi } from "../../../ffi/nccl.ts";
import {
  NCCL_CONFIG_MAGIC,
  NCCL_UNIQUE_ID_BYTES,
  ncclConfig_t,
  ncclDataType,
  ncclRedOp,
  ncclResult,
} from "../../../ffi/nccl_constants.ts";
import { type NcclReceiver, ownParts } from "../../../ffi/own_parts.ts";
import { simulateDriver } from "../../../ffi/simulated/driver.ts";
import { SimulationError } from "../../../ffi/simulated/errors.ts";

const { ncclSuccess: SUCCESS, ncclInProgress: IN_PROGRESS, ncclInvalidArgument: INVALID } =
  ncclResult;
const { ncclFloat32: FLOAT, ncclUint8: BYTE } = ncclDataType;
const { ncclSum: SUM } = ncclRedOp;

/** A rank with a communicator, a stream and 16 floats at two places, of which the first is written. */
class Rank {
  readonly rank: number;
  readonly driver: DriverApi = simulateDriver({ devices: 8 });
  readonly nccl = ownParts(this.driver).nccl as NcclApi;
  readonly stream: bigint;
  readonly source: bigint;
  readonly target: bigint;
  comm = 0n;

  constructor(rank: number) {
    this.rank = rank;
    const { driver } = this;
    driver.cuInit(0);
    driver.cuCtxSetCurrent(this.make((cell) => driver.cuDevicePrimaryCtxRetain(cell, rank)));
    this.stream = this.make((cell) => driver.cuStreamCreateWithPriority(cell, 1, 0));
    this.source = this.make((cell) => driver.cuMemAlloc_v2(cell, 64n));
    this.target = this.make((cell) => driver.cuMemAlloc_v2(cell, 64n));
    driver.cuMemcpyHtoDAsync_v2(this.source, new Float32Array(16).fill(rank + 1), 64n, 2n);
    driver.cuStreamSynchronize(2n);
  }

  make(call: (cell: BigUint64Array<ArrayBuffer>) => number): bigint {
    const cell = new BigUint64Array(1);
    assertEquals(call(cell), 0);
    return cell[0] ?? 0n;
  }

  start(id: Uint8Array<ArrayBuffer>, size: number): number {
    const cell = new BigUint64Array(1);
    const fields = { size: 24n, magic: NCCL_CONFIG_MAGIC, version: 21400, blocking: 0 };
    const config = ncclConfig_t.encode(fields);
    const status = this.nccl.ncclCommInitRankConfig(cell, size, id, this.rank, config);
    this.comm = cell[0] ?? 0n;
    return status;
  }

  ask(): number {
    const cell = new Int32Array(1);
    assertEquals(this.nccl.ncclCommGetAsyncError(this.comm, cell), SUCCESS);
    return cell[0] ?? 0;
  }

  async settle(): Promise<void> {
    while (this.ask() === IN_PROGRESS) await delay(1);
    assertEquals(this.ask(), SUCCESS);
  }

  reduce({ count = 16n, type = FLOAT }: { count?: bigint; type?: number } = {}): number {
    const { source, target, comm, stream } = this;
    return this.nccl.ncclAllReduce(source, target, count, type, SUM, comm, stream);
  }

  wait(): Promise<number> {
    return this.driver.cuStreamSynchronizeNonblocking(this.stream);
  }

  read(): number[] {
    const floats = new Float32Array(16);
    assertEquals(this.driver.cuMemcpyDtoHAsync_v2(floats, this.target, 64n, this.stream), 0);
    assertEquals(this.driver.cuStreamSynchronize(this.stream), 0);
    return [...floats];
  }

  async end(): Promise<void> {
    assertEquals(this.nccl.ncclCommFinalize(this.comm), IN_PROGRESS);
    await this.settle();
    assertEquals(this.nccl.ncclCommDestroy(this.comm), SUCCESS);
  }
}

/** Makes ranks with wires between them; `delay` turns of the event loop pass before a message is there. */
function connect(size: number): { ranks: Rank[]; id: Uint8Array<ArrayBuffer> } {
  const ranks = Array.from({ length: size }, (_, rank) => new Rank(rank));
  const id = new Uint8Array(NCCL_UNIQUE_ID_BYTES);
  assertEquals(ranks[0]?.nccl.ncclGetUniqueId(id), SUCCESS);
  const receivers: (NcclReceiver | undefined)[] = ranks.map(({ driver, rank }) =>
    ownParts(driver).wire?.(id, {
      send: (to, bytes) => queueMicrotask(() => receivers[to]?.(rank, bytes)),
    })
  );
  return { ranks, id };
}

async function startAll(size: number): Promise<Rank[]> {
  const { ranks, id } = connect(size);
  for (const rank of ranks) assertEquals(rank.start(id, size), IN_PROGRESS);
  for (const rank of ranks) await rank.settle();
  return ranks;
}

Deno.test("simulated NCCL of several processes starts when the last rank is there", async () => {
  const { ranks, id } = connect(3);
  const [first, second, third] = ranks as [Rank, Rank, Rank];
  assertEquals([first.start(id, 3), second.start(id, 3)], [IN_PROGRESS, IN_PROGRESS]);
  await delay(5);
  assertEquals([first.ask(), second.ask()], [IN_PROGRESS, IN_PROGRESS]);
  assertEquals(first.reduce(), INVALID);
  third.start(id, 3);
  for (const rank of ranks) await rank.settle();
  for (const rank of ranks) await rank.end();
});

Deno.test("simulated NCCL of several processes refuses sizes that differ", async () => {
  const { ranks, id } = connect(2);
  for (const rank of ranks) rank.start(id, 2 + rank.rank);
  const [first] = ranks as [Rank];
  while (first.ask() === IN_PROGRESS) await delay(1);
  assertEquals(first.ask(), ncclResult.ncclInvalidUsage);
});

Deno.test("simulated NCCL of several processes moves the bytes of all ranks", async () => {
  for (const size of [1, 2, 5]) {
    const ranks = await startAll(size);
    for (let round = 0; round < 3; round++) {
      for (const rank of ranks) assertEquals(rank.reduce(), IN_PROGRESS);
      for (const rank of ranks) await rank.settle();
    }
    for (const rank of ranks) assertEquals(await rank.wait(), 0);
    const sum = size * (size + 1) / 2;
    for (const rank of ranks) assertEquals(rank.read(), Array(16).fill(sum));
    for (const rank of ranks) await rank.end();
  }
});

Deno.test("simulated NCCL of several processes pairs sends with receives of a group", async () => {
  const ranks = await startAll(3);
  for (const { nccl, rank, source, target, comm, stream } of ranks) {
    nccl.ncclGroupStart();
    assertEquals(nccl.ncclSend(source, 16n, FLOAT, (rank + 1) % 3, comm, stream), SUCCESS);
    assertEquals(nccl.ncclRecv(target, 16n, FLOAT, (rank + 2) % 3, comm, stream), SUCCESS);
    assertEquals(nccl.ncclGroupEnd(), IN_PROGRESS);
  }
  for (const rank of ranks) await rank.settle();
  for (const rank of ranks) assertEquals(await rank.wait(), 0);
  for (const rank of ranks) assertEquals(rank.read(), Array(16).fill((rank.rank + 2) % 3 + 1));
});

Deno.test("simulated NCCL of several processes throws for calls that differ", async () => {
  const [first, second] = await startAll(2) as [Rank, Rank];
  first.reduce();
  second.reduce({ count: 8n, type: BYTE });
  await Promise.all([first.settle(), second.settle()]);
  const ends = await Promise.allSettled([first.wait(), second.wait()]);
  for (const end of ends) {
    assert(end.status === "rejected" && end.reason instanceof SimulationError);
    assertMatch(end.reason.message, /rank [01] calls ncclAllReduce\(.*\), rank [01] calls/);
  }
});

Deno.test("simulated NCCL of several processes tells the next call that calls have differed", async () => {
  const ranks = await startAll(2);
  for (const rank of ranks) rank.reduce();
  for (const rank of ranks) await rank.settle();
  for (const [rank, type] of [FLOAT, BYTE].entries()) {
    for (const each of [type, FLOAT]) {
      ranks[rank]?.reduce({ type: each });
      assertEquals(ranks[rank]?.ask(), SUCCESS);
    }
  }
  for (const rank of ranks) {
    const callOften = async () => {
      for (let turn = 0; turn < 1000; turn++) await delay(1, rank.reduce());
    };
    await assertRejects(callOften, SimulationError, "calls ncclAllReduce");
  }
});

Deno.test("simulated NCCL of several processes throws for a stream used before a call is done", async () => {
  const [first, second] = await startAll(2) as [Rank, Rank];
  for (const rank of [first, second]) assertEquals(rank.reduce(), IN_PROGRESS);
  first.driver.cuMemsetD8Async(first.source, 0, 64n, first.stream);
  await delay(5); // the first call connects the ranks
  assertThrows(() => first.ask(), SimulationError, "was given work before");
  for (const rank of [first, second]) await rank.nccl.ncclCommAbortNonblocking(rank.comm);
});

Deno.test("simulated NCCL of several processes throws for a call that blocks, until the bytes are there", async () => {
  const ranks = await startAll(2);
  for (const rank of ranks) rank.reduce();
  // Messages come in microtasks; a turn of the event loop could bring the bytes, too.
  while (ranks.some((rank) => rank.ask() === IN_PROGRESS)) await Promise.resolve();
  const [first, second] = ranks as [Rank, Rank];
  assertThrows(() => first.driver.cuStreamSynchronize(first.stream), SimulationError, "rank 1");
  assertThrows(() => second.driver.cuStreamSynchronize(second.stream), SimulationError, "await");
  await Promise.resolve();
  assertEquals(first.driver.cuStreamSynchronize(first.stream), 0);
  assertEquals(await second.wait(), 0);
});

Deno.test("simulated NCCL of several processes throws for an end that was not finalized", async () => {
  const [rank] = await startAll(1) as [Rank];
  assertThrows(() => rank.nccl.ncclCommDestroy(rank.comm), SimulationError, "not finalized");
  await rank.end();
});

Deno.test("simulated NCCL of several processes ends waiting work when a rank is aborted", async () => {
  const [first, second] = await startAll(2) as [Rank, Rank];
  first.reduce();
  await first.settle();
  const waiting = first.wait();
  await delay(5);
  assertEquals(await first.nccl.ncclCommAbortNonblocking(first.comm), SUCCESS);
  assertEquals(await waiting, 0);
  assertEquals(await second.nccl.ncclCommAbortNonblocking(second.comm), SUCCESS);
});

Deno.test("simulated NCCL of several processes does not start without a way to the others", () => {
  const rank = new Rank(0);
  const id = new Uint8Array(NCCL_UNIQUE_ID_BYTES);
  rank.nccl.ncclGetUniqueId(id);
  assertEquals(rank.start(id, 2), ncclResult.ncclSystemError);
});
