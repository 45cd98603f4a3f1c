// A random program on buffers of every element type, with the methods that work on elements: set,
// convert, repeat, compare, look at as another type, walk, save and load. Beside it the same program on
// plain bytes, which change in the order of the calls.

import { assert, assertEquals } from "@std/assert";
import type { GpuBuffer } from "../../src/buffers/gpu_buffer.ts";
import { GrowableBuffer } from "../../src/buffers/growable_buffer.ts";
import { HostBuffer } from "../../src/buffers/host_buffer.ts";
import type { LazyBuffer } from "../../src/buffers/lazy_buffer.ts";
import { ManagedBuffer } from "../../src/buffers/managed_buffer.ts";
import { StagedBuffer } from "../../src/buffers/staged_buffer.ts";
import { type DType, DTYPE_NAMES, elementBytes, viewBits } from "../../src/dtype.ts";
import type { CudaStream } from "../../src/order/stream.ts";
import { DisposedError } from "../../src/words/errors.ts";
import { bitsOf, bytesOf, reference } from "../support/exact_conversion.ts";
import { LateCalls } from "../support/late_calls.ts";
import type { Random, RandomRun } from "../support/random.ts";
import type { TemporaryFolder } from "../support/temporary_folder.ts";
import type { Place } from "./places.ts";

/** A buffer whose elements are set by a call, or by the CPU. */
type Settable = GpuBuffer & {
  set(source: unknown, offset?: number, options?: { stream: CudaStream }): Promise<unknown>;
};

/** A buffer, and its bytes by the order of the calls. */
interface Cell {
  buffer: Settable;
  bytes: Uint8Array<ArrayBuffer>;
  readonly dtype: DType;
}

/** Types whose elements are numbers that share no byte with others: two of 8-bit floats stand for all. */
const TYPES = DTYPE_NAMES.filter((name) => !/[46]_|8_e8|fnuz|complex/.test(name));

const MAX_ELEMENTS = 120;
const CELL_COUNT = 4;

/** Arrays that are packed are smaller than a slot of the ring. */
const MAX_PACKED_BYTES = 400;

/** Types of one width, and such as have plain numbers. */
const BIT_TYPES = { 1: "uint8", 2: "uint16", 4: "uint32", 8: "uint64" } as const;

/** One program. */
export class TypedProgram {
  readonly #random: Random;
  readonly #place: Place;
  readonly #folder: TemporaryFolder;
  readonly #cells: Cell[] = [];
  readonly #calls: LateCalls;
  readonly #log: string[];
  #fileCount = 0;

  constructor(run: RandomRun, place: Place, folder: TemporaryFolder) {
    this.#random = run.random;
    this.#log = run.log;
    this.#calls = new LateCalls(run);
    this.#place = place;
    this.#folder = folder;
  }

  /** Makes `callCount` calls, waits for all of them, and compares everything. */
  async run(callCount: number): Promise<void> {
    for (let i = 0; i < CELL_COUNT; i++) this.#make();
    const calls = [
      () => this.#set(),
      () => this.#set(),
      () => this.#setAt(),
      () => this.#item(),
      () => this.#convert(),
      () => this.#convertInto(),
      () => this.#convertTransposed(),
      () => this.#repeat(),
      () => this.#repeatBuffer(),
      () => this.#compare(),
      () => this.#checksum(),
      () => this.#fillAsOther(),
      () => this.#walk(),
      () => this.#uploadTransposed(),
      () => this.#downloadStepped(),
      () => this.#reshaped(),
      () => this.#clear(),
      () => this.#like(),
      () => this.#resize(),
      () => this.#mirror(),
      () => this.#migrate(),
      () => this.#tensor(),
      () => this.#hand(),
      () => this.#saveNpy(),
      () => this.#lazy(),
      () => this.#lazy(),
      () => this.#through(),
      () => this.#pinned(),
      () => this.#packed(),
      () => this.#describe(),
      () => this.#replace(),
    ];
    for (let call = 0; call < callCount; call++) await this.#pick(calls)();
    await this.#settle();
    for (const cell of this.#cells) await this.#check(cell.buffer, cell.bytes);
    for (const { buffer } of this.#cells) buffer.dispose();
  }

  /** Compares all bits, whatever type they are of. */
  async #check(buffer: GpuBuffer, bytes: Uint8Array, stream = this.#stream()): Promise<void> {
    const expected = bytes.slice();
    const bits = await buffer.as("uint8").download(undefined, { stream });
    assertEquals(bits, expected, `${buffer}`);
  }

  #make(dtype: DType = this.#pick(TYPES)): void {
    const { gpu } = this.#place;
    const stream = this.#stream();
    const shape = this.#random.below(MAX_ELEMENTS + 1);
    const bytes = this.#elements(dtype, shape);
    const kinds: readonly (() => GpuBuffer)[] = [
      () => gpu.alloc(dtype, shape, { stream }),
      () => gpu.zeros(dtype, shape, { stream }),
      () => gpu.pinned(dtype, shape, { stream }),
      () => gpu.mapped(dtype, shape, { stream }),
      () => gpu.managed(dtype, shape, { stream }),
      () => gpu.staged(dtype, shape, { stream }),
      () => gpu.staged(dtype, shape, { stream }),
      () => gpu.lazy(dtype, shape, { stream }),
      () => gpu.growable(dtype, { shape, reserveSize: "8 MiB", stream }),
      () => gpu.growable(dtype, { shape, reserveSize: "8 MiB", stream }),
    ];
    const buffer = this.#pick(kinds)() as Settable;
    this.#note("make", buffer);
    this.#calls.add(buffer.upload(this.#arrayOf(dtype, bytes) as never, { stream }));
    this.#cells.push({ buffer, bytes, dtype });
  }

  /** Elements of which none is NaN or half a truth. */
  #elements(dtype: DType, count: number): Uint8Array<ArrayBuffer> {
    const value = () => {
      if (dtype === "bool") return BigInt(this.#random.below(2));
      const whole = BigInt(this.#random.below(600) - 300);
      return dtype.startsWith("u") && whole < 0n ? -whole : whole;
    };
    const isFloat = dtype.includes("float");
    const bits = Array.from({ length: count }, () => {
      const whole = value();
      if (!isFloat) return BigInt.asUintN(8 * elementBytes(dtype), whole);
      // Eighths of small numbers are exact in all floats.
      const eighths = this.#random.below(2) === 0 ? whole : whole % 256n;
      const divisor = eighths === whole ? 1 : 8;
      return reference("float64", dtype, bitsOfDouble(Number(eighths) / divisor));
    });
    return new Uint8Array(bytesOf(dtype, bits));
  }

  /** A typed array of the element type over bytes of its own, or the bits, or raw bytes. */
  #arrayOf(dtype: DType, bytes: Uint8Array): ArrayBufferView | ArrayBuffer {
    const { buffer } = bytes.slice();
    if (this.#random.below(4) === 0) return buffer;
    return viewBits(dtype, { buffer, length: bytes.length / elementBytes(dtype) });
  }

  async #set(): Promise<void> {
    const cell = this.#cell();
    const { buffer, bytes, dtype } = cell;
    const width = elementBytes(dtype);
    const offset = this.#random.below(buffer.length + 1);
    const values = this.#elements(dtype, this.#random.below(buffer.length - offset + 1));
    bytes.set(values, offset * width);
    let source: unknown = this.#arrayOf(dtype, values);
    if (this.#random.below(2) === 0) {
      const isWide = dtype.endsWith("64") && !dtype.startsWith("float");
      const numbers = bitsOf(dtype, values.buffer).map((bits) => {
        if (dtype.includes("float")) return doubleOf(reference(dtype, "float64", bits));
        const whole = BigInt.asIntN(64, reference(dtype, "int64", bits));
        return isWide ? (dtype === "int64" ? whole : bits) : Number(whole);
      });
      source = this.#random.below(2) === 0 ? numbers : numbers.values();
    }
    this.#note(`set ${values.length / width} from ${offset}`, buffer);
    if (buffer instanceof HostBuffer) return void buffer.set(source as never, offset);
    await this.#calls.maybe(buffer.set(source, offset, { stream: this.#stream() }));
  }

  async #setAt(): Promise<void> {
    const { buffer, bytes, dtype } = this.#cell();
    if (buffer.length === 0) return;
    const index = this.#random.below(buffer.length);
    const value = this.#valueFor(dtype);
    const one = this.#scalar(dtype, value);
    bytes.set(one.bytes, index * elementBytes(dtype));
    this.#note(`setAt ${index} ${value}`, buffer);
    await this.#calls.maybe(buffer.setAt(index - buffer.length, one.value as never));
  }

  async #item(): Promise<void> {
    const { buffer, bytes, dtype } = this.#cell();
    if (buffer.length === 0) return;
    const index = this.#random.below(buffer.length);
    const width = elementBytes(dtype);
    const expected = reference(
      dtype === "bool" ? "uint8" : dtype, // as it is, also where it is no truth
      "int64",
      bitsOf(dtype, bytes.slice(index * width, (index + 1) * width).buffer)[0] ?? 0n,
    );
    this.#note(`item ${index}`, buffer);
    const value = buffer.subarray(index, index + 1).item({ stream: this.#stream() });
    await this.#calls.maybe(value.then((value) => {
      const isWide = typeof value === "bigint";
      const whole = Number.isNaN(Number(value)) || !Number.isFinite(Number(value))
        ? 0n
        : BigInt(isWide ? value : Math.trunc(Number(value)));
      assertEquals(BigInt.asUintN(64, whole), expected);
    }));
  }

  async #convert(): Promise<void> {
    const { buffer, bytes, dtype } = this.#cell();
    const to = this.#pick(TYPES);
    this.#note(`astype ${to}`, buffer);
    const expected = converted(dtype, to, bytes);
    using made = buffer.astype(to, { stream: this.#stream() });
    await this.#calls.maybe(this.#check(made, expected));
  }

  /** Converts a part of one cell into a part of another. */
  #convertInto(): void {
    const [from, to] = [this.#cell(), this.#cell()];
    if (from === to) return;
    const count = this.#random.below(Math.min(from.buffer.length, to.buffer.length) + 1);
    const start = this.#random.below(to.buffer.length - count + 1);
    const source = from.bytes.slice(0, count * elementBytes(from.dtype));
    to.bytes.set(converted(from.dtype, to.dtype, source), start * elementBytes(to.dtype));
    this.#note(`astype ${count} into ${to.buffer} from ${start}`, from.buffer);
    const into = to.buffer.subarray(start, start + count);
    from.buffer.subarray(0, count).astype(to.dtype, { into });
  }

  async #convertTransposed(): Promise<void> {
    const { buffer, bytes, dtype } = this.#cell();
    const { rows, columns } = this.#box(buffer.length);
    const to = this.#pick(TYPES);
    const width = elementBytes(dtype);
    this.#note(`astype ${to} of [${rows}, ${columns}] transposed`, buffer);
    const turned = transposed(bytes, { rows, columns, width });
    const box = buffer.subarray(0, rows * columns).reshape([rows, columns]);
    using made = box.transpose().astype(to, { stream: this.#stream() });
    assertEquals(made.shape, [columns, rows]);
    await this.#calls.maybe(this.#check(made, converted(dtype, to, turned)));
  }

  #repeat(): void {
    const { buffer, bytes, dtype } = this.#cell();
    const pattern = this.#elements(dtype, 1 + this.#random.below(5));
    this.#note(`repeat ${pattern.length} bytes`, buffer);
    for (let at = 0; at < bytes.length; at++) bytes[at] = pattern[at % pattern.length] ?? 0;
    buffer.fillPattern(this.#arrayOf(dtype, pattern) as never, { stream: this.#stream() });
  }

  #repeatBuffer(): void {
    const [to, from] = [this.#cell(), this.#cell()];
    if (to === from || to.dtype !== from.dtype || from.bytes.length === 0) return;
    this.#note(`repeat ${from.buffer}`, to.buffer);
    const pattern = from.bytes.slice();
    for (let at = 0; at < to.bytes.length; at++) to.bytes[at] = pattern[at % pattern.length] ?? 0;
    to.buffer.fillPattern(from.buffer as never);
  }

  async #compare(): Promise<void> {
    const { buffer, bytes, dtype } = this.#cell();
    if (buffer.length === 0) return;
    const width = elementBytes(dtype);
    const index = this.#random.below(buffer.length);
    const isSame = this.#random.below(2) === 0;
    this.#note(`compare, ${isSame ? "same" : index}`, buffer);
    using other = buffer.slice();
    const one = this.#scalar(dtype, this.#random.below(2));
    const before = bytes.slice(index * width, (index + 1) * width);
    const differs = !isSame && before.some((byte, at) => byte !== one.bytes[at]);
    if (!isSame) this.#calls.add(other.setAt(index, one.value as never));
    const [first, same] = [buffer.firstDifference(other as never), buffer.equals(other as never)];
    const check = async () => {
      assertEquals([await first, await same], [differs ? index : undefined, !differs]);
    };
    await this.#calls.maybe(check());
  }

  async #checksum(): Promise<void> {
    const { buffer, bytes } = this.#cell();
    this.#note("checksum", buffer);
    using same = this.#place.gpu.uploadSync(bytes.slice());
    const sums = [buffer.checksum({ stream: this.#stream() }), same.checksum()];
    await this.#calls.maybe(Promise.all(sums).then(([one, other]) => assertEquals(one, other)));
  }

  /** Fills a part by a view of another type. */
  #fillAsOther(): void {
    const { buffer, bytes } = this.#cell();
    const dtype = this.#pick(TYPES);
    const width = elementBytes(dtype);
    if (bytes.length % width !== 0) return;
    const one = this.#scalar(dtype, this.#random.below(2));
    const { start, end } = this.#random.range(bytes.length / width);
    this.#note(`fill ${start} to ${end} as ${dtype}`, buffer);
    for (let at = start; at < end; at++) bytes.set(one.bytes, at * width);
    buffer.as(dtype).subarray(start, end).fill(one.value as never, { stream: this.#stream() });
  }

  /** Fills every chunk, and the two halves, with values of their own. */
  #walk(): void {
    const { buffer, bytes, dtype } = this.#cell();
    const width = elementBytes(dtype);
    const length = 1 + this.#random.below(7);
    this.#note(`walk in ${length}`, buffer);
    let at = 0;
    for (const chunk of buffer.chunks(length)) {
      const one = this.#scalar(dtype, at % 2);
      const end = at + chunk.length;
      for (; at < end; at++) bytes.set(one.bytes, at * width);
      chunk.fill(one.value as never, { stream: this.#stream() });
      chunk.dispose();
    }
    const middle = this.#random.below(buffer.length + 1);
    const [, right] = buffer.split(middle);
    bytes.fill(0, middle * width);
    right.clear();
  }

  async #uploadTransposed(): Promise<void> {
    const { buffer, bytes, dtype } = this.#cell();
    const { rows, columns } = this.#box(buffer.length);
    const values = this.#elements(dtype, rows * columns);
    const width = elementBytes(dtype);
    this.#note(`upload [${columns}, ${rows}] transposed`, buffer);
    bytes.set(transposed(values, { rows: columns, columns: rows, width }));
    const view = buffer.subarray(0, rows * columns).reshape([rows, columns]).transpose();
    await this.#calls.maybe(view.upload(this.#arrayOf(dtype, values) as never));
  }

  async #downloadStepped(): Promise<void> {
    const { buffer, bytes, dtype } = this.#cell();
    const width = elementBytes(dtype);
    const step = 1 + this.#random.below(4);
    const { start, end } = this.#random.range(buffer.length);
    const expected: number[] = [];
    for (let at = start; at < end; at += step) {
      expected.push(...bytes.subarray(at * width, (at + 1) * width));
    }
    this.#note(`every ${step} of ${start} to ${end}`, buffer);
    const view = buffer.strided().range(0, { start, end, step });
    using packed = view.contiguous({ stream: this.#stream() });
    await this.#calls.maybe(this.#check(packed, Uint8Array.from(expected)));
  }

  async #reshaped(): Promise<void> {
    const { buffer, bytes, dtype } = this.#cell();
    const { rows, columns } = this.#box(buffer.length);
    if (rows * columns === 0) return;
    const row = this.#random.below(rows);
    const width = elementBytes(dtype);
    this.#note(`row ${row} of [${rows}, -1]`, buffer);
    const view = buffer.subarray(0, rows * columns).reshape([rows, -1]).view(row - rows);
    const expected = bytes.slice(row * columns * width, (row + 1) * columns * width);
    await this.#calls.maybe(this.#check(view, expected));
  }

  #clear(): void {
    const { buffer, bytes, dtype } = this.#cell();
    const { start, end } = this.#random.range(buffer.length);
    this.#note(`clear ${start} to ${end}`, buffer);
    bytes.fill(0, start * elementBytes(dtype), end * elementBytes(dtype));
    buffer.subarray(start, end).clear({ stream: this.#stream() });
  }

  /** Copies a cell into a new one of its kind, and goes on with that. */
  #like(): void {
    const cell = this.#cell();
    this.#note("copy into one like it", cell.buffer);
    const { buffer } = cell;
    cell.buffer = buffer.allocateLike(undefined, { stream: this.#stream() }).copyFrom(buffer);
    buffer.dispose();
  }

  /** Changes the length of a buffer that grows, and gives what is new a value. */
  #resize(): void {
    const cell = this.#cell();
    const { buffer, dtype } = cell;
    if (!(buffer instanceof GrowableBuffer)) return;
    const length = this.#random.below(MAX_ELEMENTS + 1);
    const before = buffer.length;
    const one = this.#scalar(dtype, 1);
    this.#note(`resize to ${length}`, buffer);
    buffer.reserve(this.#random.below(MAX_ELEMENTS)).resize(length);
    const bytes = new Uint8Array(length * elementBytes(dtype));
    for (let at = 0; at < length; at++) bytes.set(one.bytes, at * elementBytes(dtype));
    bytes.set(cell.bytes.subarray(0, bytes.length));
    cell.bytes = bytes;
    if (length > before) buffer.subarray(before).fill(one.value as never);
  }

  /** Writes the host's half of a staged buffer and pushes it, or pulls and looks at it. */
  async #mirror(): Promise<void> {
    const { buffer, bytes, dtype } = this.#cell();
    if (!(buffer instanceof StagedBuffer)) return;
    const { start, end } = this.#random.range(buffer.length);
    const width = elementBytes(dtype);
    this.#note(`push or pull ${start} to ${end}`, buffer);
    const contents = () => hostBytesOf(buffer.mirror);
    if (this.#random.below(2) === 0) {
      await this.#settle();
      const values = this.#elements(dtype, buffer.length);
      contents().set(values);
      bytes.set(values.subarray(start * width, end * width), start * width);
      buffer.push({ start, end });
    } else {
      await buffer.pull({ start, end });
      const expected = bytes.slice(start * width, end * width);
      assertEquals(contents().slice(start * width, end * width), expected);
    }
  }

  #migrate(): void {
    const { buffer } = this.#cell();
    if (!(buffer instanceof ManagedBuffer)) return;
    this.#note("prefetch", buffer);
    buffer.prefetch(this.#random.below(2) === 0 ? "host" : this.#place.gpu);
  }

  /** Shows a cell to itself through a DLPack struct, and fills it there. */
  async #tensor(): Promise<void> {
    const { buffer, bytes, dtype } = this.#cell();
    if (!buffer.isDeviceAccessible || buffer.length === 0) return;
    const { gpu } = this.#place;
    const one = this.#scalar(dtype, this.#random.below(2));
    this.#note("fill by DLPack", buffer);
    await this.#settle();
    using shown = gpu.fromDLPack(buffer.toDLPack().release());
    assertEquals([shown.dtype, shown.length], [dtype, buffer.length]);
    for (let at = 0; at < buffer.length; at++) bytes.set(one.bytes, at * elementBytes(dtype));
    shown.fill(one.value as never);
    await this.#check(shown, bytes);
  }

  /** Hands the memory over and takes it back, or gives the address away and adopts it. */
  async #hand(): Promise<void> {
    const cell = this.#cell();
    const { buffer, dtype } = cell;
    const { gpu } = this.#place;
    if (buffer.constructor.name !== "DeviceBuffer" || buffer.length === 0) return;
    this.#note("hand over", buffer);
    if (this.#random.below(2) === 0) {
      cell.buffer = gpu.takeOver(await buffer.handOver()) as unknown as Settable;
      return;
    }
    await this.#settle();
    const { byteLength, memoryResource: resource } = buffer;
    const address = buffer.release();
    cell.buffer = gpu.fromHandle(address, byteLength, { dtype, resource }) as unknown as Settable;
  }

  /** Saves elements as numpy does, and loads them again. */
  async #saveNpy(): Promise<void> {
    const { buffer, bytes, dtype } = this.#cell();
    if (dtype === "bfloat16" || dtype.startsWith("float8")) return; // files name them only in part
    const path = this.#newFile();
    const { rows, columns } = this.#box(buffer.length);
    const view = buffer.subarray(0, rows * columns).reshape([rows, columns]);
    const expected = bytes.slice(0, rows * columns * elementBytes(dtype));
    this.#note(`save [${rows}, ${columns}] as .npy`, buffer);
    const check = async () => {
      await view.saveNpy(path, { stream: this.#stream() });
      using loaded = await this.#place.gpu.loadNpy(path);
      assertEquals([loaded.dtype, loaded.shape], [dtype, [rows, columns]]);
      await this.#check(loaded, expected);
      Deno.removeSync(path);
    };
    // Later calls change the buffer: the save has begun and has its turn.
    await this.#calls.maybe(check());
  }

  /** Reads a part of a file at its first use, whichever use that is; sometimes it is loaded before. */
  async #lazy(): Promise<void> {
    const { gpu } = this.#place;
    const dtype = this.#pick(TYPES);
    const width = elementBytes(dtype);
    const length = 1 + this.#random.below(MAX_ELEMENTS);
    const fileOffset = this.#random.below(9);
    const bytes = this.#elements(dtype, length);
    const path = this.#newFile();
    const file = new Uint8Array(fileOffset + bytes.length + this.#random.below(5)).fill(0xee);
    file.set(bytes, fileOffset);
    Deno.writeFileSync(path, file);
    const lazy = gpu.lazy(dtype, length, { file: path, fileOffset, stream: this.#stream() });
    this.#note(`lazy at ${fileOffset}`, lazy);
    const { start, end } = this.#random.range(length);
    const part = lazy.subarray(start, end).as("uint8");
    const one = this.#scalar(dtype, 1);
    const uses: readonly ((buffer: LazyBuffer) => unknown)[] = [
      () => this.#calls.add(unlessDisposed(lazy.load())),
      () => this.#calls.add(unlessDisposed(part.load())),
      () => lazy.ensureAllocated(),
      () => {
        part.fill(7);
        bytes.fill(7, start * width, end * width);
      },
      () => {
        this.#calls.add(lazy.setAt(0, one.value as never));
        bytes.set(one.bytes);
      },
      () => {
        lazy.strided().range(0, { step: -2 }).fill(one.value as never);
        for (let at = length - 1; at >= 0; at -= 2) bytes.set(one.bytes, at * width);
      },
    ];
    assert(!lazy.isAllocated);
    for (let count = this.#random.below(4); count > 0; count--) this.#pick(uses)(lazy);
    await this.#calls.maybe(this.#check(lazy, bytes));
    this.#cells.push({ buffer: lazy, bytes, dtype });
    this.#dispose(0);
  }

  /** Streams the bytes of one cell into another, as a program pipes them. */
  async #through(): Promise<void> {
    const [from, to] = [this.#cell(), this.#cell()];
    const isGrowing = to.buffer instanceof GrowableBuffer;
    if (from === to || (!isGrowing && from.bytes.length !== to.bytes.length)) return;
    if (isGrowing && from.bytes.length % elementBytes(to.dtype) !== 0) return;
    if (isGrowing && to.bytes.length > 8 * MAX_ELEMENTS) return;
    this.#note(`pipe ${from.buffer}`, to.buffer);
    await this.#settle();
    await from.buffer.readable.pipeTo(to.buffer.writable);
    if (!isGrowing) to.bytes.set(from.bytes);
    else to.bytes = Uint8Array.from([...to.bytes, ...from.bytes]);
  }

  async #pinned(): Promise<void> {
    const { buffer, bytes } = this.#cell();
    this.#note("download into page-locked memory", buffer);
    const expected = bytes.slice();
    const check = async () => {
      using pinned = await this.#place.gpu.downloadPinned(buffer, { stream: this.#stream() });
      assertEquals(Uint8Array.from(hostBytesOf(pinned)), expected);
    };
    await this.#calls.maybe(check());
  }

  async #packed(): Promise<void> {
    const sources = [this.#cell(), this.#cell(), this.#cell()].map(({ dtype, bytes }) => {
      const { buffer } = bytes.slice(0, MAX_PACKED_BYTES);
      const length = buffer.byteLength / elementBytes(dtype);
      return viewBits(BIT_TYPES[elementBytes(dtype) as 1], { buffer, length });
    });
    this.#log.push("upload many into new buffers");
    const check = async () => {
      using packed = await this.#place.gpu.uploadAll(sources);
      for (const [at, buffer] of packed.buffers.entries()) {
        await this.#check(buffer, new Uint8Array(sources[at]?.buffer ?? new ArrayBuffer(0)));
      }
    };
    await this.#calls.maybe(check());
  }

  async #describe(): Promise<void> {
    const { buffer, bytes, dtype } = this.#cell();
    if (buffer.length === 0) return;
    this.#note("describe", buffer);
    const values = bitsOf(dtype, bytes.slice().buffer)
      .map((bits) => BigInt.asIntN(64, reference(dtype, "int64", bits)))
      .map(Number);
    // Too large for the above, or NaN; bytes that are no truth are shown as they are.
    if (dtype === "uint64" || dtype === "bool" || dtype.includes("float")) return;
    const check = buffer.describe().then((summary) => {
      assertEquals([summary.lowest, summary.highest].map(Number), [
        Math.min(...values),
        Math.max(...values),
      ]);
    });
    await this.#calls.maybe(check);
  }

  #replace(): void {
    this.#dispose(this.#random.below(this.#cells.length));
    this.#make();
  }

  #dispose(at: number): void {
    this.#log.push(`dispose cell ${at}`);
    for (const { buffer } of this.#cells.splice(at, 1)) buffer.dispose();
  }

  async #settle(): Promise<void> {
    await this.#calls.settle();
    this.#place.gpu.synchronizeSync();
  }

  /** A value that an element type holds: negative and fractional where it does. */
  #valueFor(dtype: DType): number {
    const small = this.#random.below(2);
    if (dtype === "bool" || this.#random.below(2) === 0) return small;
    const size = this.#random.below(100);
    if (dtype.startsWith("u")) return size;
    return dtype.includes("float") ? -size / 8 : -size;
  }

  #scalar(dtype: DType, value: number): { value: unknown; bytes: Uint8Array<ArrayBuffer> } {
    const bits = dtype.includes("float")
      ? reference("float64", dtype, bitsOfDouble(value))
      : reference("int64", dtype, BigInt.asUintN(64, BigInt(value)));
    const isWide = dtype === "int64" || dtype === "uint64";
    return {
      value: isWide ? BigInt(value) : value,
      bytes: new Uint8Array(bytesOf(dtype, [bits])),
    };
  }

  #box(length: number): { rows: number; columns: number } {
    const rows = 1 + this.#random.below(5);
    return { rows, columns: Math.floor(length / rows) };
  }

  #newFile(): string {
    return this.#folder.pathOf(`${this.#fileCount++}`);
  }

  #cell(): Cell {
    return this.#pick(this.#cells);
  }

  #stream(): CudaStream {
    return this.#pick(this.#place.streams);
  }

  #note(what: string, buffer: GpuBuffer): void {
    this.#log.push(`${what}: ${buffer}`);
  }

  #pick<T>(choices: readonly T[]): T {
    return this.#random.pick(choices) as T;
  }
}

/** A load, which ends by an error when its buffer is disposed before. */
async function unlessDisposed(loading: Promise<unknown>): Promise<void> {
  try {
    await loading;
  } catch (error) {
    if (!(error instanceof DisposedError)) throw error;
  }
}

/** The bytes of a buffer as the CPU sees them. */
function hostBytesOf({ array }: HostBuffer): Uint8Array<ArrayBufferLike> {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

/** The bytes of elements as another type. */
function converted(from: DType, to: DType, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const bits = bitsOf(from, bytes.slice().buffer as ArrayBuffer);
  return new Uint8Array(bytesOf(to, bits.map((one) => reference(from, to, one))));
}

/** The elements of rows and columns, column by column. */
function transposed(
  bytes: Uint8Array,
  { rows, columns, width }: { rows: number; columns: number; width: number },
): Uint8Array<ArrayBuffer> {
  const result = new Uint8Array(rows * columns * width);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const at = (row * columns + column) * width;
      result.set(bytes.subarray(at, at + width), (column * rows + row) * width);
    }
  }
  return result;
}

function bitsOfDouble(value: number): bigint {
  return new BigUint64Array(new Float64Array([value]).buffer)[0] ?? 0n;
}

function doubleOf(bits: bigint): number {
  return new Float64Array(new BigUint64Array([bits]).buffer)[0] ?? 0;
}
