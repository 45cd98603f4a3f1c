// A random sequence of collective operations, fills and copies on the streams of several devices, and the
// same on plain lists of whole numbers.

import { assertEquals } from "@std/assert";
import type { GpuBuffer } from "../../src/buffers/gpu_buffer.ts";
import type { CudaDevice } from "../../src/device/device.ts";
import type { DeviceGroup } from "../../src/group/device_group.ts";
import type { GroupWork } from "../../src/group/group_work.ts";
import type { CudaStream } from "../../src/order/stream.ts";
import type { Random } from "../support/random.ts";

/** Element types of whole numbers, and how a value wraps around in them. */
const TYPES = {
  int8: (value: bigint) => BigInt.asIntN(8, value),
  uint8: (value: bigint) => BigInt.asUintN(8, value),
  int32: (value: bigint) => BigInt.asIntN(32, value),
  uint32: (value: bigint) => BigInt.asUintN(32, value),
  int64: (value: bigint) => BigInt.asIntN(64, value),
  uint64: (value: bigint) => BigInt.asUintN(64, value),
} as const;

const OPERATIONS = {
  sum: (one: bigint, other: bigint) => one + other,
  prod: (one: bigint, other: bigint) => one * other,
  max: (one: bigint, other: bigint) => one > other ? one : other,
  min: (one: bigint, other: bigint) => one < other ? one : other,
} as const;

type TypeName = keyof typeof TYPES;
type Operation = keyof typeof OPERATIONS;

/** A buffer on each device, and what it should hold. */
interface Vector {
  readonly buffers: GpuBuffer<TypeName>[];
  readonly values: bigint[][];
}

/** The devices, their group and some streams of each. */
export interface Machine {
  readonly gpus: readonly CudaDevice[];
  readonly group: DeviceGroup;
  /** Lists with a stream of each device. */
  readonly streams: readonly (readonly CudaStream[])[];
}

/** Draws operations and does them on both sides. */
export class CollectiveSequence {
  readonly #random: Random;
  readonly #machine: Machine;
  readonly #stack = new DisposableStack();
  readonly #type: TypeName;
  /** Elements of a part. */
  readonly #part: number;
  /** Vectors of one part, and of a part for each rank. */
  readonly #parts: Vector[];
  readonly #wholes: Vector[];
  /** Vectors that calls of the batch that is being made use. */
  #taken: Set<Vector> | undefined;

  /** Allocates and fills the vectors. */
  constructor(random: Random, machine: Machine) {
    this.#random = random;
    this.#machine = machine;
    this.#type = random.pick(Object.keys(TYPES) as TypeName[]) ?? "int32";
    this.#part = 1 + random.below(300);
    this.#parts = Array.from({ length: 4 }, () => this.#make(this.#part));
    this.#wholes = Array.from({ length: 4 }, () => this.#make(this.#part * this.#size));
  }

  /** Does some steps, and compares all that is there. */
  async run(stepCount: number): Promise<void> {
    using _stack = this.#stack;
    for (let step = 0; step < stepCount; step++) {
      if (this.#random.below(5) === 0) this.#batch();
      else if (this.#random.below(3) === 0) this.#write();
      else {
        const work = this.#collective();
        if (this.#random.below(6) === 0) await work;
      }
    }
    for (const { buffers, values } of [...this.#parts, ...this.#wholes]) {
      for (const [rank, buffer] of buffers.entries()) {
        assertEquals(Array.from(await buffer.download(), BigInt), values[rank], `rank ${rank}`);
      }
    }
  }

  get #size(): number {
    return this.#machine.group.size;
  }

  #make(length: number): Vector {
    const vector: Vector = { buffers: [], values: [] };
    for (const gpu of this.#machine.gpus) {
      // Some begin behind other elements, so that they lie at odd addresses.
      const before = this.#random.below(3);
      const whole = this.#stack.use(gpu.alloc(this.#type, before + length));
      vector.buffers.push(this.#stack.use(whole.subarray(before)));
      vector.values.push(Array(length).fill(0n));
    }
    for (const rank of vector.buffers.keys()) this.#fill(vector, rank);
    return vector;
  }

  /** Fills a buffer, or copies it from another of the same device, on any stream. */
  #write(): void {
    const list = this.#random.below(2) === 0 ? this.#parts : this.#wholes;
    const vector = this.#pick(list);
    const rank = this.#random.below(this.#size);
    const source = this.#pick(list);
    if (source === vector || this.#random.below(2) === 0) return this.#fill(vector, rank);
    const [to, from] = [vector.buffers[rank], source.buffers[rank]];
    if (from !== undefined) to?.copyFrom(from, { stream: this.#stream(rank) });
    vector.values[rank] = [...source.values[rank] ?? []];
  }

  #fill({ buffers, values }: Vector, rank: number): void {
    const value = TYPES[this.#type](BigInt(this.#random.below(256)) - 128n);
    const is64 = this.#type.endsWith("64");
    buffers[rank]?.fill((is64 ? value : Number(value)) as never, { stream: this.#stream(rank) });
    values[rank]?.fill(value);
  }

  #batch(): void {
    this.#taken = new Set();
    try {
      const streams = this.#random.pick(this.#machine.streams);
      this.#machine.group.batch(() => {
        for (let call = 0; call < 3; call++) this.#collective();
      }, { streams });
    } finally {
      this.#taken = undefined;
    }
  }

  /** Makes one collective call; in a batch, on vectors that its other calls do not use. */
  #collective(): GroupWork | undefined {
    const { group } = this.#machine;
    const isBatch = this.#taken !== undefined;
    const streams = isBatch ? undefined : this.#random.pick(this.#machine.streams);
    const isWhole = this.#random.below(2) === 0;
    const [one, other] = this.#take(isWhole ? this.#wholes : this.#parts, 2);
    const [part] = this.#take(this.#parts, 1, [one, other]);
    const [whole] = this.#take(this.#wholes, 1, [one, other]);
    if (one === undefined || other === undefined || part === undefined || whole === undefined) {
      return undefined;
    }
    for (const vector of [one, other, part, whole]) this.#taken?.add(vector);
    const root = this.#random.below(this.#size);
    const op = this.#random.pick(Object.keys(OPERATIONS) as Operation[]) ?? "sum";
    const target = this.#random.below(2) === 0 ? undefined : other;
    const into = target?.buffers;
    switch (this.#random.below(9)) {
      case 0: {
        const work = group.allReduce(one.buffers, { op, into, streams });
        this.#set(target ?? one, () => this.#reduced(one, op));
        return work;
      }
      case 1: {
        const work = into === undefined
          ? group.reduce(one.buffers, { op, root, streams })
          : group.reduce(one.buffers, { op, into: into[root], streams });
        (target ?? one).values[root] = this.#reduced(one, op);
        return work;
      }
      case 2: {
        const source = one.buffers[root];
        const work = into === undefined || source === undefined
          ? group.broadcast(one.buffers, { root, streams })
          : group.broadcast(source, { into, streams });
        const values = [...one.values[root] ?? []];
        this.#set(target ?? one, () => [...values]);
        return work;
      }
      case 3: {
        const work = group.allGather(part.buffers, { into: whole.buffers, streams });
        const values = part.values.flat();
        this.#set(whole, () => [...values]);
        return work;
      }
      case 4: {
        const work = group.allGather(whole.buffers, { streams });
        const values = whole.values.flatMap((list, rank) => this.#cut(list, rank));
        this.#set(whole, () => [...values]);
        return work;
      }
      case 5: {
        const work = group.reduceScatter(whole.buffers, { op, into: part.buffers, streams });
        const values = this.#reduced(whole, op);
        this.#set(part, (rank) => this.#cut(values, rank));
        return work;
      }
      case 6: {
        const [to] = isWhole ? [one] : this.#take(this.#wholes, 1, [whole]);
        if (to === undefined || to === whole) return undefined;
        this.#taken?.add(to);
        const work = group.allToAll(whole.buffers, { into: to.buffers, streams });
        const { values } = whole;
        this.#set(to, (rank) => values.flatMap((list) => this.#cut(list, rank)));
        return work;
      }
      case 7: {
        const to = whole.buffers[root];
        const work = to && group.gather(part.buffers, { into: to, streams });
        whole.values[root] = part.values.flat();
        return work;
      }
      default: {
        const from = whole.buffers[root];
        const work = from && group.scatter(from, { into: part.buffers, streams });
        const values = whole.values[root] ?? [];
        this.#set(part, (rank) => this.#cut(values, rank));
        return work;
      }
    }
  }

  /** Draws vectors that are not used by the batch, nor among `others`. */
  #take(list: readonly Vector[], count: number, others: (Vector | undefined)[] = []): Vector[] {
    const free = list.filter((vector) => !this.#taken?.has(vector) && !others.includes(vector));
    const found: Vector[] = [];
    while (found.length < count && free.length > 0) {
      found.push(...free.splice(this.#random.below(free.length), 1));
    }
    return found;
  }

  #pick(list: readonly Vector[]): Vector {
    const vector = this.#random.pick(list);
    if (vector === undefined) throw new Error("Cannot draw from no vectors");
    return vector;
  }

  #stream(rank: number): CudaStream | undefined {
    return this.#random.pick(this.#machine.streams)?.[rank];
  }

  #set({ values }: Vector, valueOf: (rank: number) => bigint[]): void {
    for (const [rank, list] of values.map((_, rank) => valueOf(rank)).entries()) {
      values[rank] = list;
    }
  }

  #reduced({ values }: Vector, op: Operation): bigint[] {
    const [first = []] = values;
    const wrap = TYPES[this.#type];
    return first.map((_, at) =>
      values.map((list) => list[at] ?? 0n).reduce((one, other) => wrap(OPERATIONS[op](one, other)))
    );
  }

  #cut(values: readonly bigint[], rank: number): bigint[] {
    return values.slice(rank * this.#part, (rank + 1) * this.#part);
  }
}
