// A random program of calls, awaited or not, beside the same program on plain arrays that runs one
// call after another: whatever the kit does at once or later, the effects must come out the same.

import { assert, assertEquals } from "@std/assert";
import { setTimeout as delay } from "node:timers/promises";
import { DeviceBuffer } from "../../src/buffers/device_buffer.ts";
import type { GpuBuffer } from "../../src/buffers/gpu_buffer.ts";
import { MappedBuffer } from "../../src/buffers/mapped_buffer.ts";
import { PinnedBuffer } from "../../src/buffers/pinned_buffer.ts";
import type { CudaGraph } from "../../src/graph/graph.ts";
import { loadNpz } from "../../src/interop/numpy/load_npz.ts";
import { saveNpz } from "../../src/interop/numpy/save_npz.ts";
import { saveSafetensors } from "../../src/interop/safetensors/save.ts";
import type { CudaEvent } from "../../src/order/event.ts";
import type { CudaStream } from "../../src/order/stream.ts";
import { namesIn } from "../support/files.ts";
import { LateCalls } from "../support/late_calls.ts";
import type { Random, RandomRun } from "../support/random.ts";
import type { TemporaryFolder } from "../support/temporary_folder.ts";
import type { MakeBuffer, Place } from "./places.ts";

/** A buffer, and the bytes that a program that waits for everything would have in it. */
interface Block {
  readonly buffer: GpuBuffer<"uint8">;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly place: Place;
  /** Streams that have used it: another one waits for them where the program orders its streams. */
  readonly users: Set<CudaStream>;
}

/** An array that transfers read and write, and the bytes that must be in it at the end. */
interface HostArray {
  readonly array: Uint8Array<ArrayBufferLike>;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The block that it shows. */
  readonly owner?: Block;
}

/** A part of a block or an array. */
interface Part {
  readonly start: number;
  readonly length: number;
}

const KINDS: readonly MakeBuffer[] = [
  (gpu, length, stream) => gpu.alloc("uint8", length, { stream }),
  (gpu, length, stream) => gpu.alloc("uint8", length, { stream }),
  (gpu, length, stream) => gpu.alloc("uint8", length, { stream }),
  (gpu, length, stream) => gpu.lazy("uint8", length, { stream }),
  (gpu, length, stream) => gpu.pinned("uint8", length, { stream }),
  (gpu, length, stream) => gpu.mapped("uint8", length, { stream }),
  (gpu, length, stream) => gpu.staged("uint8", length, { stream }),
  (gpu, length, stream) => gpu.growable("uint8", { shape: length, reserveSize: "2 MiB", stream }),
];

/** Blocks and arrays are this long, so that some transfers take many pieces and some a part of one. */
const BLOCK_BYTES = 3000;
const BLOCK_COUNT = 3;
const ARRAY_COUNT = 3;
const FILE_NAMES = ["a", "b"];

/** So many tensors of a file go through the ring, however small they are. */
const TENSOR_COUNT = 40;
const TENSOR_BYTES = 50;

/** One program. */
export class Program {
  readonly #random: Random;
  readonly #places: readonly Place[];
  readonly #blocks: Block[] = [];
  readonly #arrays: HostArray[] = [];
  readonly #calls: LateCalls;
  readonly #events: CudaEvent[] = [];
  readonly #log: string[];
  readonly #folder: TemporaryFolder;
  /** What each file holds by the order of the calls. */
  readonly #files = new Map<string, Uint8Array<ArrayBuffer>>();
  /** The tensors of the model that was saved last, one after the other. */
  #model: Uint8Array<ArrayBuffer> | undefined;
  /** The tensors of the model that was saved last in several files. */
  #shards: Uint8Array<ArrayBuffer> | undefined;
  /** The arrays of the archive that was saved last. */
  #archive: readonly { readonly name: string; readonly bytes: Uint8Array }[] | undefined;
  /** Files that are read and not awaited. */
  readonly #readFiles = new Set<string>();
  /** Whether one of them is changed in place, which waits for that in the event loop. */
  #isHeldUp = false;
  readonly #ordersStreams: boolean;

  /** Prepares a program on some devices; it orders its streams itself where the kit does not. */
  constructor(run: RandomRun, places: readonly Place[], folder: TemporaryFolder) {
    this.#random = run.random;
    this.#log = run.log;
    this.#calls = new LateCalls(run);
    this.#places = places;
    this.#folder = folder;
    this.#ordersStreams = places.some(({ gpu }) => !gpu.context.ordersStreams);
  }

  /** Makes `callCount` calls, waits for all of them, and compares everything. */
  async run(callCount: number): Promise<void> {
    for (let i = 0; i < BLOCK_COUNT * this.#places.length; i++) this.#allocate();
    for (let i = 0; i < ARRAY_COUNT; i++) this.#makeArray();
    const calls = [
      () => this.#upload(),
      () => this.#upload(),
      () => this.#download(),
      () => this.#download(),
      () => this.#downloadFresh(),
      () => this.#fill(),
      () => this.#copy(),
      () => this.#copy(),
      () => this.#copyColumns(),
      () => this.#uploadColumns(),
      () => this.#setOne(),
      () => this.#blocking(() => this.#setOnHost()),
      () => this.#copyRegistered(),
      () => this.#readOne(),
      () => this.#uploadMany(),
      () => this.#downloadMany(),
      () => this.#writeFile(),
      () => this.#uploadFile(),
      () => this.#saveModel(),
      () => this.#loadModel(),
      () => this.#saveShards(),
      () => this.#saveArchive(),
      () => this.#loadArchive(),
      () => this.#pause(),
      () => this.#pause(),
      () => this.#trim(),
      () => this.#blocking(() => this.#uploadSync()),
      () => this.#blocking(() => this.#downloadSync()),
      () => this.#launch(),
      () => this.#orderStreams(),
      () => this.#mark(),
      () => this.#blocking(() => this.#downloadMarked()),
      () => this.#slice(),
      () => this.#replace(),
      () => this.#batch(),
      () => this.#blocking(() => this.#wait()),
    ];
    for (let call = 0; call < callCount; call++) await this.#random.pick(calls)?.();
    await this.#calls.settle();
    for (const block of this.#blocks) {
      const [stream] = block.place.streams;
      if (stream !== undefined) this.#use(block, stream);
      assertEquals(await block.buffer.download(), block.bytes);
    }
    for (const { array, bytes } of this.#arrays) assertEquals(Uint8Array.from(array), bytes);
    for (const [name, bytes] of this.#files) {
      const path = this.#folder.pathOf(name);
      if (bytes.length > 0) assertEquals(Deno.readFileSync(path), bytes);
      Deno.removeSync(path);
    }
    await this.#checkShards();
    for (const { buffer } of this.#blocks) buffer.dispose();
    for (const event of this.#events) event.dispose();
  }

  /** Compares the files of the model that was saved last in several. */
  async #checkShards(): Promise<void> {
    const expected = this.#shards;
    if (expected === undefined) return;
    const index = this.#folder.pathOf("shards.safetensors.index.json");
    using model = await this.#pick(this.#places).gpu.loadSafetensors(index);
    for (let at = 0; at < TENSOR_COUNT; at++) {
      const tensor = await model.tensor(`${at}`, "uint8").download();
      assertEquals(tensor, expected.slice(at * TENSOR_BYTES, (at + 1) * TENSOR_BYTES));
    }
    const files = namesIn(this.#folder).filter((name) => name.startsWith("shards-"));
    const { weight_map } = JSON.parse(Deno.readTextFileSync(index));
    assertEquals(files, [...new Set(Object.values<string>(weight_map))].sort());
  }

  #allocate(): void {
    const place = this.#pick(this.#places);
    const make = this.#pick(KINDS);
    const stream = this.#pick(place.streams);
    const buffer = make(place.gpu, BLOCK_BYTES, stream);
    buffer.fill(0, { stream });
    const users = new Set([stream]);
    this.#blocks.push({ buffer, bytes: new Uint8Array(BLOCK_BYTES), place, users });
  }

  #makeArray(): void {
    const isShared = this.#random.below(4) === 0;
    const memory = isShared ? new SharedArrayBuffer(BLOCK_BYTES) : new ArrayBuffer(BLOCK_BYTES);
    const array = new Uint8Array(memory);
    for (let i = 0; i < array.length; i++) array[i] = this.#random.below(256);
    this.#arrays.push({ array, bytes: Uint8Array.from(array) });
  }

  async #upload(): Promise<void> {
    const block = this.#pick(this.#blocks);
    const { part, from, stream } = this.#ends(block);
    const host = this.#pickArray([block], stream);
    this.#note("upload", block, part, stream, `${this.#nameOf(host)} from ${from}`);
    block.bytes.set(host.bytes.subarray(from, from + part.length), part.start);
    await this.#calls.maybe(
      this.#part(block, part).upload(host.array.subarray(from, from + part.length), { stream }),
    );
  }

  async #download(): Promise<void> {
    const block = this.#pick(this.#blocks);
    const { part, from, stream } = this.#ends(block);
    const host = this.#pickArray([block], stream);
    this.#note("download", block, part, stream, `${this.#nameOf(host)} from ${from}`);
    host.bytes.set(this.#expected(block, part), from);
    await this.#calls.maybe(
      this.#part(block, part).download(host.array.subarray(from, from + part.length), { stream }),
    );
  }

  async #downloadFresh(): Promise<void> {
    const block = this.#pick(this.#blocks);
    const { part, stream } = this.#ends(block);
    this.#note("download fresh", block, part, stream);
    const expected = this.#expected(block, part);
    const result = this.#part(block, part).download(undefined, { stream });
    await this.#calls.maybe(result.then((array) => assertEquals(array, expected)));
  }

  #fill(): void {
    const block = this.#pick(this.#blocks);
    const { part, stream } = this.#ends(block);
    const value = this.#random.below(256);
    this.#note(`fill ${value}`, block, part, stream);
    block.bytes.fill(value, part.start, part.start + part.length);
    this.#part(block, part).fill(value, { stream });
  }

  #copy(): void {
    const [to, from] = [this.#pick(this.#blocks), this.#pick(this.#blocks)];
    const { part, from: start } = this.#ends(to);
    const isOverlapping = to === from && Math.abs(start - part.start) < part.length;
    if (isOverlapping) return;
    const stream = this.#streamBetween(to, from);
    this.#note("copy", to, part, stream, `block ${this.#blocks.indexOf(from)} from ${start}`);
    this.#use(from, stream);
    to.bytes.set(this.#expected(from, { start, length: part.length }), part.start);
    const source = this.#part(from, { start, length: part.length });
    this.#part(to, part).copyFrom(source, { stream });
  }

  /** Copies every second element. */
  #copyColumns(): void {
    const [to, from] = [this.#pick(this.#blocks), this.#pick(this.#blocks)];
    if (to === from) return;
    const stream = this.#streamBetween(to, from);
    const count = 1 + this.#random.below(40);
    this.#note(`copy ${count} columns`, to, { start: 0, length: 2 * count }, stream);
    this.#use(from, stream);
    for (let i = 0; i < count; i++) to.bytes[2 * i] = from.bytes[2 * i + 1] ?? 0;
    const [shape, strides] = [[count], [2]];
    to.buffer.strided({ shape, strides, offset: 0 })
      .copyFrom(from.buffer.strided({ shape, strides, offset: 1 }), { stream });
  }

  async #uploadColumns(): Promise<void> {
    const block = this.#pick(this.#blocks);
    const stream = this.#pick(block.place.streams);
    const host = this.#pickArray([block], stream);
    const count = 1 + this.#random.below(400);
    this.#note(`upload ${count} columns`, block, { start: 0, length: 3 * count }, stream);
    for (let i = 0; i < count; i++) block.bytes[3 * i] = host.bytes[i] ?? 0;
    const view = block.buffer.strided({ shape: [count], strides: [3], offset: 0 });
    await this.#calls.maybe(view.upload(host.array.subarray(0, count), { stream }));
  }

  async #setOne(): Promise<void> {
    const block = this.#pick(this.#blocks);
    const [index, value] = [this.#random.below(BLOCK_BYTES), this.#random.below(256)];
    const stream = this.#pick(block.place.streams);
    this.#note(`setAt ${index} ${value}`, block, { start: index, length: 1 }, stream);
    block.bytes[index] = value;
    await this.#calls.maybe(block.buffer.setAt(index, value, { stream }));
  }

  /** Writes a block that the host reaches, with bytes of an array that transfers may be filling. */
  #setOnHost(): void {
    const block = this.#pick(this.#blocks);
    if (!isOnHost(block.buffer)) return;
    const { part, from, stream } = this.#ends(block);
    const host = this.#pickArray([block], stream);
    this.#note("set", block, part, stream, `${this.#nameOf(host)} from ${from}`);
    if (this.#ordersStreams) { for (const user of block.users) user.synchronizeSync(); }
    block.bytes.set(host.bytes.subarray(from, from + part.length), part.start);
    block.buffer.set(host.array.subarray(from, from + part.length), part.start);
  }

  /** Copies from or to an array that is registered, and moved away while the copy may be under way. */
  #copyRegistered(): void {
    const block = this.#pick(this.#blocks);
    const { part, stream } = this.#ends(block);
    const isRead = this.#random.below(2) === 0;
    this.#note(`copy ${isRead ? "from" : "to"} an array that leaves`, block, part, stream);
    const value = this.#random.below(256);
    const array = new Uint8Array(part.length).fill(value);
    using registered = block.place.gpu.register(array, { stream });
    if (isRead) {
      block.bytes.fill(value, part.start, part.start + part.length);
      this.#part(block, part).copyFrom(registered, { stream });
    } else {
      this.#part(block, part).copyTo(registered, { stream });
    }
    const ways = [
      () => {},
      () => void array.buffer.transfer(0),
      () => void structuredClone(array, { transfer: [array.buffer] }),
    ];
    this.#pick(ways)();
  }

  async #readOne(): Promise<void> {
    const block = this.#pick(this.#blocks);
    const index = this.#random.below(BLOCK_BYTES);
    const stream = this.#pick(block.place.streams);
    this.#note(`at ${index}`, block, { start: index, length: 1 }, stream);
    const expected = block.bytes[index];
    const value = block.buffer.at(index, { stream });
    await this.#calls.maybe(value.then((value) => assertEquals(value, expected)));
  }

  /** Picks blocks of one device, each with an array for a part of it; none when it has no blocks. */
  #pickMany(name: string) {
    const { gpu, streams } = this.#pick(this.#places);
    const blocks = this.#blocks.filter(({ place }) => place.gpu === gpu);
    const stream = this.#pick(streams);
    const count = blocks.length === 0 ? 0 : 1 + this.#random.below(6);
    const moves = Array.from({ length: count }, () => {
      const block = this.#pick(blocks);
      const host = this.#pickArray(blocks, stream);
      return { block, host, ...this.#ends(block, 300) };
    });
    for (const { block, host, part, from } of moves) {
      const array = `${this.#nameOf(host)} from ${from}`;
      this.#note(name, block, part, stream, array);
    }
    return { gpu, stream, moves };
  }

  async #uploadMany(): Promise<void> {
    const { gpu, stream, moves } = this.#pickMany("uploadAll");
    for (const { block, host, part, from } of moves) {
      block.bytes.set(host.bytes.subarray(from, from + part.length), part.start);
    }
    const arrays = moves.map(({ host, part, from }) =>
      host.array.subarray(from, from + part.length)
    );
    const into = moves.map(({ block, part }) => this.#part(block, part));
    await this.#calls.maybe(gpu.uploadAll(arrays, { into, stream }));
  }

  async #downloadMany(): Promise<void> {
    const { gpu, stream, moves } = this.#pickMany("downloadAll");
    for (const { block, host, part, from } of moves) {
      host.bytes.set(this.#expected(block, part), from);
    }
    const into = moves.map(({ host, part, from }) => host.array.subarray(from, from + part.length));
    const sources = moves.map(({ block, part }) => this.#part(block, part));
    await this.#calls.maybe(gpu.downloadAll(sources, { into, stream }));
  }

  #uploadSync(): void {
    const block = this.#pick(this.#blocks);
    const { part, from, stream } = this.#ends(block);
    const host = this.#pickArray([block], stream);
    this.#note(
      "uploadSync",
      block,
      part,
      stream,
      `${this.#nameOf(host)} from ${from}`,
    );
    block.bytes.set(host.bytes.subarray(from, from + part.length), part.start);
    this.#part(block, part).uploadSync(host.array.subarray(from, from + part.length), { stream });
  }

  #downloadSync(): void {
    const block = this.#pick(this.#blocks);
    const { part, from, stream } = this.#ends(block);
    const host = this.#pickArray([block], stream);
    this.#note("downloadSync", block, part, stream, this.#nameOf(host));
    const expected = this.#expected(block, part);
    host.bytes.set(expected, from);
    const target = host.array.subarray(from, from + part.length);
    assertEquals(
      Uint8Array.from(this.#part(block, part).downloadSync(target, { stream })),
      expected,
    );
  }

  /** Writes a part of a block into a file: as all of it, or in the middle of what it holds. */
  async #writeFile(): Promise<void> {
    const block = this.#pick(this.#blocks);
    const { part, from, stream } = this.#ends(block);
    const name = this.#pick(FILE_NAMES);
    const isWhole = this.#random.below(2) === 0;
    const [sync, inPlace] = [this.#random.below(3) === 0, this.#random.below(3) === 0];
    const offset = isWhole ? undefined : from;
    const way = `${sync ? "sync" : ""} ${inPlace ? "in place" : ""}`;
    this.#note("write file", block, part, stream, `${name} at ${offset} ${way}`);
    if ((!isWhole || inPlace) && this.#readFiles.has(name)) this.#isHeldUp = true;
    const old = isWhole ? new Uint8Array() : this.#files.get(name) ?? new Uint8Array();
    const bytes = new Uint8Array(Math.max(old.length, (offset ?? 0) + part.length));
    bytes.set(old);
    bytes.set(this.#expected(block, part), offset);
    this.#files.set(name, bytes);
    const path = this.#folder.pathOf(name);
    await this.#calls.maybe(
      this.#part(block, part).writeFile(path, { fileOffset: offset, stream, sync, inPlace }),
    );
  }

  async #uploadFile(): Promise<void> {
    const name = this.#pick(FILE_NAMES);
    const { gpu, streams } = this.#pick(this.#places);
    const expected = this.#files.get(name);
    if (expected === undefined) return;
    const stream = this.#pick(streams);
    this.#log.push(`upload file ${name} on ${stream}`);
    this.#readFiles.add(name);
    const check = async () => {
      using buffer = await gpu.uploadFile(this.#folder.pathOf(name), { stream });
      assertEquals(await buffer.download(undefined, { stream }), expected);
    };
    await this.#calls.maybe(check());
  }

  /** Saves many small parts of a block as a model. */
  async #saveModel(): Promise<void> {
    const block = this.#pick(this.#blocks);
    if (!(block.buffer instanceof DeviceBuffer)) return;
    const stream = this.#pick(block.place.streams);
    const part = { start: 0, length: TENSOR_COUNT * TENSOR_BYTES };
    this.#note("save model", block, part, stream);
    this.#model = this.#expected(block, part);
    const path = this.#folder.pathOf("model");
    await this.#calls.maybe(saveSafetensors(path, tensorsOf(block.buffer), { stream }));
  }

  /** Saves parts of a block as a model in several files. */
  async #saveShards(): Promise<void> {
    const block = this.#pick(this.#blocks);
    const stream = this.#pick(block.place.streams);
    const part = { start: 0, length: TENSOR_COUNT * TENSOR_BYTES };
    this.#note("save shards", block, part, stream);
    this.#shards = this.#expected(block, part);
    const shardSize = 1 + this.#random.below(1500);
    const sync = this.#random.below(4) === 0;
    const path = this.#folder.pathOf("shards.safetensors");
    const options = { stream, shardSize, sync };
    await this.#calls.maybe(saveSafetensors(path, tensorsOf(block.buffer), options));
  }

  /** Saves parts of several blocks as an archive. */
  async #saveArchive(): Promise<void> {
    const { streams, gpu } = this.#pick(this.#places);
    const blocks = this.#blocks.filter(({ place }) => place.gpu === gpu);
    const stream = this.#pick(streams);
    const compress = this.#random.below(2) === 0;
    const arrays = blocks.map((block, at) => {
      const part = this.#range(BLOCK_BYTES);
      this.#note("save archive", block, part, stream, `${compress}`);
      return { name: `${at}`, array: this.#part(block, part), bytes: this.#expected(block, part) };
    });
    if (arrays.length === 0) return;
    this.#archive = arrays.map(({ name, bytes }) => ({ name, bytes }));
    const named = arrays.map(({ name, array }) => [name, array] as const);
    const path = this.#folder.pathOf("archive.npz");
    await this.#calls.maybe(saveNpz(path, named, { stream, compress }));
  }

  async #loadArchive(): Promise<void> {
    const expected = this.#archive;
    if (expected === undefined) return;
    const { gpu, streams } = this.#pick(this.#places);
    const stream = this.#pick(streams);
    this.#log.push(`load archive on ${stream}`);
    const check = async () => {
      using arrays = await loadNpz(this.#folder.pathOf("archive.npz"), gpu, { stream });
      for (const { name, bytes } of expected) {
        assertEquals(await arrays.array(name, "uint8").download(undefined, { stream }), bytes);
      }
    };
    await this.#calls.maybe(check());
  }

  /** Lets what is under way go on: by some microtasks, or turns of the event loop. */
  async #pause(): Promise<void> {
    const moments = this.#random.below(60);
    const turns = this.#random.below(4) === 0 ? this.#random.below(4) : 0;
    this.#log.push(`pause for ${moments} moments, ${turns} turns`);
    for (let moment = 0; moment < moments; moment++) await undefined;
    for (let turn = 0; turn < turns; turn++) await delay(0);
  }

  #trim(): void {
    this.#log.push("trim");
    this.#pick(this.#places).gpu.trim();
  }

  async #loadModel(): Promise<void> {
    const expected = this.#model;
    if (expected === undefined) return;
    const { gpu, streams } = this.#pick(this.#places);
    const stream = this.#pick(streams);
    this.#log.push(`load model on ${stream}`);
    const check = async () => {
      using model = await gpu.loadSafetensors(this.#folder.pathOf("model"), { stream });
      for (let at = 0; at < TENSOR_COUNT; at++) {
        const tensor = await model.tensor(`${at}`, "uint8").download(undefined, { stream });
        assertEquals(tensor, expected.slice(at * TENSOR_BYTES, (at + 1) * TENSOR_BYTES));
      }
    };
    await this.#calls.maybe(check());
  }

  /** A call that blocks cannot wait for a file that is read: then the program awaits that first. */
  async #blocking(call: () => unknown): Promise<void> {
    if (this.#isHeldUp) {
      await this.#calls.settle();
      this.#readFiles.clear();
      this.#isHeldUp = false;
    }
    await call();
  }

  /** Records a fill and a copy, and launches them, once or twice; disposes the graph at once. */
  #launch(): void {
    const place = this.#pick(this.#places);
    const blocks = this.#blocks.filter((block) => block.place === place);
    const [to, from] = [this.#pick(blocks), this.#pick(blocks)];
    if (to === undefined || from === undefined || to === from) return;
    const value = this.#random.below(256);
    const part = this.#range(BLOCK_BYTES);
    const stream = this.#pick(place.streams);
    this.#note(`launch fill ${value}, copy to ${this.#blocks.indexOf(to)}`, from, part, stream);
    this.#use(to, stream);
    const record = (stream: CudaStream) => {
      this.#part(from, part).fill(value, { stream });
      this.#part(to, part).copyFrom(this.#part(from, part), { stream });
    };
    using graph = graphOf(() => place.gpu.capture(record, { stream }));
    if (graph === undefined) return;
    for (let launch = 0; launch <= this.#random.below(2); launch++) graph.launch();
    from.bytes.fill(value, part.start, part.start + part.length);
    to.bytes.fill(value, part.start, part.start + part.length);
  }

  #orderStreams(): void {
    const { streams } = this.#pick(this.#places);
    this.#log.push("wait for a stream");
    this.#pick(streams).wait(this.#pick(streams));
  }

  async #mark(): Promise<void> {
    const { streams } = this.#pick(this.#places);
    const event = this.#pick(streams).record({ timing: false });
    this.#log.push("record an event, wait for it on a stream");
    this.#pick(streams).wait(event);
    this.#events.push(event);
    if (this.#random.below(4) === 0) event.dispose();
    else await this.#calls.maybe(event.synchronize());
  }

  /** Waits for a download by a mark behind it, on its stream or on another one. */
  async #downloadMarked(): Promise<void> {
    const block = this.#pick(this.#blocks);
    const { part, stream } = this.#ends(block);
    this.#note("download and mark", block, part, stream);
    const expected = this.#expected(block, part);
    const array = new Uint8Array(part.length);
    this.#calls.add(this.#part(block, part).download(array, { stream }));
    using event = stream.record();
    const other = this.#pick(block.place.streams);
    other.wait(event);
    const ways = [
      () => event.synchronize(),
      () => event.synchronizeSync(),
      () => other.synchronize(),
      () => other.synchronizeSync(),
      async () => {
        while (!event.isComplete) await delay(0);
      },
    ];
    await this.#pick(ways)();
    assertEquals(array, expected);
  }

  async #slice(): Promise<void> {
    const block = this.#pick(this.#blocks);
    const { part, stream } = this.#ends(block);
    this.#note("slice", block, part, stream);
    const expected = this.#expected(block, part);
    using copy = block.buffer.slice(part.start, part.start + part.length, { stream });
    const result = copy.download(undefined, { stream });
    await this.#calls.maybe(result.then((array) => assertEquals(array, expected)));
  }

  /** Disposes a block, whatever is under way but transfers of its array, and makes another one. */
  async #replace(): Promise<void> {
    const at = this.#random.below(this.#blocks.length);
    this.#log.push(`dispose block ${at}`);
    if (this.#pageLocked.some(({ owner }) => owner === this.#blocks[at])) {
      await this.#calls.settle();
    }
    const [block] = this.#blocks.splice(at, 1);
    if (this.#random.below(2) === 0) block?.buffer.dispose();
    else block?.buffer.close(this.#pick(block.place.streams));
    this.#allocate();
  }

  #batch(): void {
    const place = this.#pick(this.#places);
    const blocks = this.#blocks.filter((block) => block.place === place);
    const [to, from] = [this.#pick(blocks), this.#pick(blocks)];
    if (to === undefined || from === undefined || to === from) return;
    const stream = this.#pick(place.streams);
    const parts = [this.#range(BLOCK_BYTES), this.#range(BLOCK_BYTES)];
    for (const part of parts) {
      this.#note(`batch from ${this.#blocks.indexOf(from)}`, to, part, stream);
      this.#use(from, stream);
      to.bytes.set(this.#expected(from, part), part.start);
    }
    place.gpu.copyBatch(
      parts.map((part) => ({ destination: this.#part(to, part), source: this.#part(from, part) })),
      { stream },
    );
  }

  async #wait(): Promise<void> {
    const { gpu, streams } = this.#pick(this.#places);
    const stream = this.#pick(streams);
    const ways = [
      () => this.#calls.maybe(stream.synchronize()),
      () => {
        stream.synchronizeSync();
        assert(stream.isIdle);
      },
      () => gpu.synchronizeSync(),
      () => this.#calls.maybe(gpu.synchronize()),
      () => void stream.isIdle,
    ];
    const way = this.#random.below(ways.length);
    this.#log.push(`wait in way ${way}`);
    await ways[way]?.();
  }

  /** The arrays of page-locked blocks. */
  get #pageLocked(): HostArray[] {
    return this.#blocks.flatMap((owner) => {
      const { buffer, bytes } = owner;
      return isOnHost(buffer) ? [{ array: buffer.array, bytes, owner }] : [];
    });
  }

  /** Picks an array that shows none of these blocks, for a stream. */
  #pickArray(besides: readonly Block[], stream: CudaStream): HostArray {
    const others = this.#pageLocked.filter(({ owner }) => !besides.includes(owner as Block));
    const isLocked = others.length > 0 && this.#random.below(3) === 0;
    const host = this.#pick(isLocked ? others : this.#arrays);
    if (host.owner !== undefined) this.#use(host.owner, stream);
    return host;
  }

  #nameOf(host: HostArray): string {
    const { owner } = host;
    return owner === undefined
      ? `array ${this.#arrays.indexOf(host)}`
      : `the array of block ${this.#blocks.indexOf(owner)}`;
  }

  #ends(block: Block, mostBytes = BLOCK_BYTES): { part: Part; from: number; stream: CudaStream } {
    const part = this.#range(mostBytes);
    const from = this.#random.below(BLOCK_BYTES - part.length + 1);
    return { part, from, stream: this.#pick(block.place.streams) };
  }

  #range(mostBytes: number): Part {
    const length = 1 + this.#random.below(mostBytes);
    return { start: this.#random.below(BLOCK_BYTES - length + 1), length };
  }

  #part({ buffer }: Block, { start, length }: Part): GpuBuffer<"uint8"> {
    return buffer.subarray(start, start + length);
  }

  #expected({ bytes }: Block, { start, length }: Part): Uint8Array<ArrayBuffer> {
    return bytes.slice(start, start + length);
  }

  /** A stream that may do a copy: one of a device that has the memory, for host memory of any. */
  #streamBetween(to: Block, from: Block): CudaStream {
    const onDevices = [to, from].filter(({ buffer }) => !buffer.isHostAccessible);
    const { place } = this.#pick(onDevices.length > 0 ? onDevices : [to, from]);
    return this.#pick(place.streams);
  }

  /** Lets a stream wait for those that used a block before, where nobody else does. */
  #use(block: Block, stream: CudaStream): void {
    if (this.#ordersStreams) {
      for (const user of block.users) {
        if (user === stream) continue;
        if (this.#random.below(2) === 0) stream.wait(user);
        else {
          using event = user.record();
          stream.wait(event);
        }
      }
    }
    block.users.add(stream);
  }

  #note(what: string, block: Block, part: Part, stream: CudaStream, other = ""): void {
    this.#use(block, stream);
    const at = this.#blocks.indexOf(block);
    const where = `${part.start} to ${part.start + part.length}`;
    this.#log.push(`${what}: block ${at} ${block.buffer} ${where} on ${stream} ${other}`);
  }

  #pick<T>(choices: readonly T[]): T {
    return this.#random.pick(choices) as T;
  }
}

/** Returns whether a buffer has an array over its memory. */
function isOnHost(
  buffer: GpuBuffer<"uint8">,
): buffer is PinnedBuffer<"uint8"> | MappedBuffer<"uint8"> {
  return buffer instanceof PinnedBuffer || buffer instanceof MappedBuffer;
}

/** Records a graph; undefined while a thread waits for the stream, as on a GPU that is slow. */
function graphOf(capture: () => CudaGraph): CudaGraph | undefined {
  try {
    return capture();
  } catch (error) {
    if (error instanceof TypeError && error.message.includes("a promise waits")) return undefined;
    throw error;
  }
}

/** The tensors of a model: parts of a buffer, one after the other. */
function tensorsOf(buffer: GpuBuffer<"uint8">) {
  return Array.from({ length: TENSOR_COUNT }, (_, at) => {
    const start = at * TENSOR_BYTES;
    return [`${at}`, buffer.subarray(start, start + TENSOR_BYTES)] as const;
  });
}
