// Checks that each pending call comes after all earlier ones that touch the same bytes, directly or
// because another one in between does: random calls on two blocks, beside a list of all that were made.

import { assert, assertEquals } from "@std/assert";
import { CudaDevice } from "../../src/device/device.ts";
import type { OpenOptions } from "../../src/device/device_options.ts";
import { simulateDriver } from "../../src/entries/simulated.ts";
import { type PartUse, StreamUsage } from "../../src/memory/stream_usage.ts";
import { PendingWork } from "../../src/order/pending_work.ts";
import { type CudaStream, queueOf } from "../../src/order/stream.ts";
import { type Random, type RandomRun, runSeeds, share } from "../support/random.ts";

/** A transfer that is over when the test says so. */
class TestTransfer extends PendingWork {
  constructor(earlier: Iterable<PendingWork>) {
    super();
    this.beginAfter(earlier);
  }

  get isUnderWay(): boolean {
    return this.hasBegun && !this.isOver;
  }

  end(): void {
    this.finish();
  }

  protected override begin(): void {}
}

/** A use of a part of one of the blocks. */
interface BlockUse extends PartUse {
  readonly usage: StreamUsage;
}

/** A call, and all calls that it comes after. */
interface Call {
  readonly stream: CudaStream;
  readonly uses: readonly BlockUse[];
  readonly work: PendingWork;
  readonly after: ReadonlySet<PendingWork>;
}

/** A random program on some streams. */
class Program {
  readonly #random: Random;
  readonly #log: string[];
  readonly #streams: readonly CudaStream[];
  readonly #blocks: readonly StreamUsage[];
  readonly #calls: Call[] = [];
  /** Transfers of one call, which need not come after each other. */
  #group = new Set<PendingWork>();

  constructor({ random, log }: RandomRun, streams: readonly [CudaStream, ...CudaStream[]]) {
    this.#random = random;
    this.#log = log;
    this.#streams = streams;
    this.#blocks = [new StreamUsage(streams[0]), new StreamUsage(streams[0])];
  }

  /** Makes calls and ends others in between; at the end nothing is pending. */
  run(stepCount: number): void {
    for (let step = 0; step < stepCount; step++) {
      if (this.#random.below(5) === 0) this.#random.pick(this.#underWay())?.end();
      else this.#call(this.#random.pick(["transfer", "transfer", "part", "postponed"]));
    }
    for (let left = this.#underWay(); left.length > 0; left = this.#underWay()) left[0]?.end();
    assertEquals(this.#blocks.filter(({ hasPending }) => hasPending), []);
  }

  #underWay(): TestTransfer[] {
    return this.#calls.map(({ work }) => work)
      .filter((work) => work instanceof TestTransfer && work.isUnderWay) as TestTransfer[];
  }

  #call(kind: "transfer" | "part" | "postponed" | undefined): void {
    const stream = this.#random.pick(this.#streams) as CudaStream;
    const uses = Array.from({ length: 1 + this.#random.below(3) }, () => this.#use());
    if (kind !== "part" || this.#random.below(3) === 0) this.#group = new Set();
    const { lastPostponed } = queueOf(stream);
    const before = uses.flatMap((use) => use.usage.pendingBefore(stream, use));
    const earlier = [...lastPostponed === undefined ? [] : [lastPostponed], ...before]
      .filter((work) => !this.#group.has(work));
    const work = kind === "postponed"
      ? queueOf(stream).postpone(() => {}, earlier)
      : new TestTransfer(earlier);
    const direct = this.#calls.filter((call) => earlier.includes(call.work));
    const after = new Set(direct.flatMap((call) => [call.work, ...call.after]));
    const call = { stream, uses, work, after };
    this.#log.push(`${this.#calls.length}: ${kind} ${this.#describe(call)}`);
    this.#check(call);
    this.#calls.push(call);
    if (kind === "part") this.#group.add(work);
    if (work.isOver) return;
    work.whenOver(() => uses.forEach(({ usage }) => usage.endPending(work)));
    for (const use of uses) {
      use.usage.addPending(work, stream, { ...use, isAfterAll: kind === "transfer" });
    }
  }

  #use(): BlockUse {
    return {
      usage: this.#random.pick(this.#blocks) as StreamUsage,
      address: BigInt(this.#random.below(12)),
      byteLength: 1 + this.#random.below(12),
      access: this.#random.below(2) === 0 ? "read" : "write",
    };
  }

  #check({ stream, uses, after }: Call): void {
    for (const [at, other] of this.#calls.entries()) {
      if (other.work.isOver || this.#group.has(other.work)) continue;
      if (other.stream !== stream && !stream.context.ordersStreams) continue;
      const meets = uses.some((use) => other.uses.some((earlier) => isConflict(use, earlier)));
      assert(!meets || after.has(other.work), `the last call does not come after call ${at}`);
    }
  }

  #describe({ stream, uses }: Call): string {
    const parts = uses.map(({ usage, access, address, byteLength }) =>
      `${access} ${byteLength} bytes at ${address} of block ${this.#blocks.indexOf(usage)}`
    );
    return `on stream ${this.#streams.indexOf(stream)}, ${parts.join(", ")}`;
  }
}

function isConflict(one: BlockUse, other: BlockUse): boolean {
  return one.usage === other.usage && (one.access === "write" || other.access === "write") &&
    one.address < other.address + BigInt(other.byteLength) &&
    other.address < one.address + BigInt(one.byteLength);
}

/** Who orders the streams of each device. */
const ORDERS: readonly (readonly [OpenOptions["order"], OpenOptions["order"]])[] = [
  ["automatic", "automatic"],
  ["automatic", "manual"],
  ["manual", "manual"],
];

for (const orders of ORDERS) {
  Deno.test(`Pending calls come after all that they must, with ${orders.join(" and ")} order`, () =>
    runSeeds(share(300), (run) => {
      const driver = simulateDriver();
      using stack = new DisposableStack();
      const [one, other] = orders.map((order, ordinal) =>
        stack.use(CudaDevice.open(ordinal, { driver, order }))
      ) as [CudaDevice, CudaDevice];
      const more = [one, other].map((gpu) => stack.use(gpu.createStream()));
      new Program(run, [one.stream, other.stream, ...more]).run(60);
    }));
}
