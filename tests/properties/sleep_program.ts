// Random work on memory that falls asleep and wakes meanwhile, beside the same work on plain arrays: no
// byte is lost, whatever is awaited, made, disposed or resized on the way.

import { assertEquals } from "@std/assert";
import { setTimeout as delay } from "node:timers/promises";
import type { CudaDevice, CudaGraph, CudaStream, GpuBuffer } from "../../mod.ts";
import { GrowableBuffer } from "../../src/buffers/growable_buffer.ts";
import { VirtualMemoryResource } from "../../src/memory/virtual_memory_resource.ts";
import { PersistError } from "../../src/persist/persist_error.ts";
import { DisposedError } from "../../src/words/errors.ts";
import { LateCalls } from "../support/late_calls.ts";
import type { RandomRun } from "../support/random.ts";
import type { TemporaryFolder } from "../support/temporary_folder.ts";

const BLOCK_BYTES = 3000;
const BLOCK_COUNT = 3;

/** A buffer that can sleep, the byte that it is full of, and a graph that fills it. */
interface Block {
  readonly buffer: GpuBuffer<"uint8">;
  value: number;
  graph?: { readonly graph: CudaGraph; readonly value: number };
}

/** One program. */
export class SleepProgram {
  readonly #gpu: CudaDevice;
  readonly #run: RandomRun;
  readonly #folder: TemporaryFolder;
  readonly #resource: VirtualMemoryResource;
  readonly #streams: CudaStream[];
  readonly #calls: LateCalls;
  readonly #blocks: Block[] = [];

  constructor(gpu: CudaDevice, run: RandomRun, folder: TemporaryFolder) {
    this.#gpu = gpu;
    this.#run = run;
    this.#folder = folder;
    this.#resource = new VirtualMemoryResource(gpu, { tag: "all" });
    this.#streams = [gpu.stream, gpu.createStream()];
    this.#calls = new LateCalls(run);
  }

  /** Makes calls, awaited or not, compares everything, and disposes it. */
  async run(callCount: number): Promise<void> {
    for (let count = 0; count < BLOCK_COUNT; count++) this.#make();
    const calls = [
      () => this.#sleep(),
      () => this.#sleep(),
      () => this.#wake(),
      () => this.#wakeFromFile(),
      () => this.#fill(),
      () => this.#fill(),
      () => this.#upload(),
      () => this.#copy(),
      () => this.#download(),
      () => this.#launch(),
      () => this.#resize(),
      () => this.#replace(),
      () => this.#pause(),
      () => this.#pause(),
    ];
    for (let call = 0; call < callCount; call++) await this.#random.pick(calls)?.();
    await this.#calls.settle();
    for (const { buffer, value } of this.#blocks) check(await buffer.download(), value);
    for (const { buffer, graph } of this.#blocks) {
      graph?.graph.dispose();
      buffer.dispose();
    }
    this.#streams[1]?.dispose();
  }

  get #random() {
    return this.#run.random;
  }

  #make(): void {
    const isGrowable = this.#random.below(3) === 0;
    const buffer = isGrowable
      ? this.#gpu.growable("uint8", { shape: BLOCK_BYTES, reserveSize: "4 MiB" })
      : this.#gpu.alloc("uint8", BLOCK_BYTES, { resource: this.#resource });
    const value = this.#random.below(256);
    buffer.fill(value, { stream: this.#stream() });
    this.#blocks.push({ buffer, value });
  }

  /** Puts blocks to sleep in host memory: their next use wakes them. */
  async #sleep(): Promise<void> {
    const [first, second] = [this.#pick("sleep").buffer, this.#pick("sleep").buffer];
    const target = this.#random.pick([first, { first, second }, { tag: "all" }]) ?? first;
    await this.#calls.maybe(this.#gpu.sleep(target).catch(orRefused));
  }

  async #wake(): Promise<void> {
    await this.#calls.maybe(this.#gpu.wake(this.#pick("wake").buffer).catch(orRefused));
  }

  /** Puts a block to sleep in a file, and disposes it now and then while it comes back. */
  async #wakeFromFile(): Promise<void> {
    const block = this.#pick("wake from a file");
    await this.#calls.settle();
    const path = this.#folder.pathOf("asleep.safetensors");
    await this.#gpu.sleep(block.buffer, { to: "file", path }).catch(orRefused);
    const isAwake = this.#gpu.wake(block.buffer).catch(orRefused);
    await this.#pause();
    if (this.#random.below(2) === 0) this.#replace(block);
    await isAwake;
  }

  #fill(): void {
    const block = this.#pick("fill");
    block.value = this.#random.below(256);
    block.buffer.fill(block.value, { stream: this.#stream() });
  }

  async #upload(): Promise<void> {
    const block = this.#pick("upload");
    block.value = this.#random.below(256);
    const bytes = new Uint8Array(BLOCK_BYTES).fill(block.value);
    await this.#calls.maybe(block.buffer.upload(bytes, { stream: this.#stream() }));
  }

  #copy(): void {
    const [to, from] = [this.#pick("copy to"), this.#pick("copy from")];
    if (to === from) return;
    to.buffer.copyFrom(from.buffer, { stream: this.#stream() });
    to.value = from.value;
  }

  async #download(): Promise<void> {
    const { buffer, value } = this.#pick("download");
    const result = buffer.download(undefined, { stream: this.#stream() });
    await this.#calls.maybe(result.then((bytes) => check(bytes, value)));
  }

  /** Launches the graph of a block, which is recorded while the block is awake. */
  async #launch(): Promise<void> {
    const block = this.#pick("launch");
    if (block.graph === undefined) {
      await this.#calls.settle();
      await this.#gpu.wake(block.buffer);
      const value = this.#random.below(256);
      const graph = this.#gpu.capture((stream) => void block.buffer.fill(value, { stream }));
      block.graph = { graph, value };
    }
    block.graph.graph.launch({ stream: this.#stream() });
    block.value = block.graph.value;
  }

  /** Grows and shrinks a block's memory, or has it refused. */
  #resize(): void {
    const { buffer } = this.#pick("resize");
    if (!(buffer instanceof GrowableBuffer)) return;
    try {
      buffer.reserve(2 ** 20 * (1 + this.#random.below(4))).shrinkToFit();
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // asleep, or used by a transfer or a graph
    }
  }

  /** Disposes a block, and makes another one. */
  #replace(block = this.#pick("dispose")): void {
    this.#blocks.splice(this.#blocks.indexOf(block), 1);
    block.buffer.dispose();
    block.graph?.graph.dispose();
    this.#make();
  }

  async #pause(): Promise<void> {
    const [moments, turns] = [this.#random.below(40), this.#random.below(3)];
    this.#run.log.push(`pause for ${moments} moments, ${turns} turns`);
    for (let moment = 0; moment < moments; moment++) await undefined;
    for (let turn = 0; turn < turns; turn++) await delay(0);
  }

  #pick(action: string): Block {
    const at = this.#random.below(this.#blocks.length);
    this.#run.log.push(`${action} ${at}`);
    return this.#blocks[at] as Block;
  }

  #stream(): CudaStream {
    return this.#random.pick(this.#streams) ?? this.#gpu.stream;
  }
}

/** Memory that others share, is in use or gone does not sleep. */
function orRefused(error: unknown): void {
  const isRefusal = error instanceof PersistError || error instanceof DisposedError ||
    (error instanceof TypeError && error.message.includes("another library"));
  if (!isRefusal) throw error;
}

function check(bytes: Uint8Array, value: number): void {
  assertEquals([bytes.findIndex((byte) => byte !== value), bytes.length], [-1, BLOCK_BYTES]);
}
