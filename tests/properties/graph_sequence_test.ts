// 300 random pieces of work recorded on three streams against the same work on plain arrays: launched
// several times, on any stream, with other work before and after.

import { assertEquals, assertGreater } from "@std/assert";
import type { DeviceBuffer } from "../../src/buffers/device_buffer.ts";
import type { CudaDevice } from "../../src/device/device.ts";
import type { CudaStream } from "../../src/order/stream.ts";
import { IN_SANITIZER } from "../support/driver.ts";
import { type Random, runSeeds, share } from "../support/random.ts";
import { testOnDevice } from "../support/with_device.ts";

const SEQUENCE_COUNT = share(IN_SANITIZER ? 50 : 300);
const BLOCK_COUNT = 5;
const BLOCK_BYTES = 64;

/** A block, and the bytes that must be in it. */
interface Block {
  readonly buffer: DeviceBuffer<"uint8">;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Random work on the same blocks, recorded and launched. */
class GraphSequence implements Disposable {
  readonly #random: Random;
  readonly #gpu: CudaDevice;
  readonly #streams: readonly CudaStream[];
  readonly #blocks: readonly Block[];
  readonly #held = new DisposableStack();
  /** What each launch does to the plain arrays. */
  #steps: (() => void)[] = [];
  /** Streams and blocks that recorded work uses. */
  readonly #captured = new Set<CudaStream | Block>();

  constructor(random: Random, gpu: CudaDevice) {
    this.#random = random;
    this.#gpu = gpu;
    this.#streams = Array.from({ length: 3 }, () => this.#held.use(gpu.createStream()));
    this.#blocks = Array.from({ length: BLOCK_COUNT }, () => ({
      buffer: this.#held.use(gpu.zeros("uint8", BLOCK_BYTES)),
      bytes: new Uint8Array(BLOCK_BYTES),
    }));
  }

  /** Records work, launches it and compares; returns how many nodes the graph had. */
  async run(): Promise<number> {
    const origin = this.#pick(this.#streams);
    this.#captured.add(origin);
    using graph = this.#gpu.capture(() => {
      for (let step = this.#random.below(20); step >= 0; step--) this.#work(origin);
    }, { stream: origin });
    this.#captured.clear();
    const recorded = this.#steps;
    for (let launch = this.#random.below(4); launch > 0; launch--) {
      this.#steps = [];
      this.#fill(this.#pick(this.#blocks), this.#pick(this.#streams));
      graph.launch({ stream: this.#pick(this.#streams) });
      for (const step of recorded) step();
      this.#copy(this.#pick(this.#streams));
    }
    for (const { buffer, bytes } of this.#blocks) assertEquals(await buffer.download(), bytes);
    return graph.nodeCount;
  }

  [Symbol.dispose](): void {
    this.#held.dispose();
  }

  #work(origin: CudaStream): void {
    const stream = this.#pick(this.#streams);
    const steps = [
      () => this.#fill(this.#pick(this.#blocks), stream),
      () => this.#copy(stream),
      () => this.#copy(stream),
      () => this.#useScratch(this.#captured.has(stream) ? stream : origin),
      () => this.#join(stream),
    ];
    this.#pick(steps)();
  }

  #fill(block: Block, stream: CudaStream): void {
    const value = this.#random.below(256);
    const start = this.#random.below(BLOCK_BYTES);
    block.buffer.subarray(start).fill(value, { stream });
    this.#note(stream, [block], () => block.bytes.fill(value, start));
  }

  #copy(stream: CudaStream): void {
    const [source, target] = [this.#pick(this.#blocks), this.#pick(this.#blocks)];
    if (source === target) return;
    target.buffer.copyFrom(source.buffer, { stream });
    this.#note(stream, [source, target], () => target.bytes.set(source.bytes));
  }

  /** Copies by way of memory that the graph allocates, and frees on any stream that takes part. */
  #useScratch(stream: CudaStream): void {
    const [source, target] = [this.#pick(this.#blocks), this.#pick(this.#blocks)];
    const scratch = this.#gpu.alloc("uint8", BLOCK_BYTES, { stream });
    const other = this.#pick(this.#streams);
    scratch.copyFrom(source.buffer, { stream });
    target.buffer.copyFrom(scratch, { stream: other });
    scratch.dispose();
    this.#note(stream, [source], () => {});
    this.#captured.add(other);
    this.#note(other, [source, target], () => target.bytes.set(source.bytes));
  }

  /** Has a stream take part by a wait. */
  #join(stream: CudaStream): void {
    const others = this.#streams.filter((other) => this.#captured.has(other));
    stream.wait(this.#pick(others));
    this.#captured.add(stream);
  }

  /** Does the same to the plain arrays: with each launch when it was recorded, else at once. */
  #note(stream: CudaStream, blocks: readonly Block[], step: () => void): void {
    const isRecorded = [stream, ...blocks].some((part) => this.#captured.has(part));
    if (!isRecorded) return step();
    this.#steps.push(step);
    for (const part of [stream, ...blocks]) this.#captured.add(part);
  }

  #pick<T>(values: readonly T[]): T {
    const value = this.#random.pick(values);
    if (value === undefined) throw new TypeError("Cannot pick from nothing");
    return value;
  }
}

testOnDevice("CudaGraph does what the same work on plain arrays does", async (gpu) => {
  let nodeCount = 0;
  await runSeeds(SEQUENCE_COUNT, async ({ random }) => {
    using sequence = new GraphSequence(random, gpu);
    nodeCount += await sequence.run();
  });
  assertGreater(nodeCount, SEQUENCE_COUNT * 5);
});
