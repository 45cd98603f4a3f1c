// Steps of the failure sweep: one of every kind of buffer, and what each can do by itself.

import { assert, assertEquals } from "@std/assert";
import type { Step } from "../scene.ts";

const NUMBERS = Float32Array.from({ length: 64 }, (_, i) => i);
const MIB = 2 ** 20;

/** Kinds of buffers. */
export const BUFFER_STEPS: readonly Step[] = [
  {
    name: "device buffers: fills of every width, copies, views",
    run({ gpu }) {
      using bytes = gpu.alloc("uint8", 64);
      using shorts = gpu.alloc("uint16", 64);
      using words = gpu.zeros("uint32", 64);
      using longs = gpu.alloc("uint64", 64);
      using copy = gpu.alloc("uint32", 64);
      bytes.fill(1);
      shorts.fill(2);
      words.fill(3);
      longs.fill(0x0102030405060708n);
      copy.copyFrom(words);
      using part = copy.subarray(8, 16);
      part.fill(9);
      assertEquals(bytes.downloadSync()[63], 1);
      assertEquals(shorts.downloadSync()[63], 2);
      assertEquals(longs.downloadSync()[63], 0x0102030405060708n);
      assertEquals([...copy.downloadSync().subarray(7, 9)], [3, 9]);
    },
  },
  {
    name: "strided views: rectangular fills and copies",
    run({ gpu }) {
      using matrix = gpu.uploadSync(NUMBERS, { shape: [8, 8] });
      matrix.strided().range(1, { start: 2, end: 4 }).fill(7);
      using square = gpu.alloc("float32", [8, 8]);
      square.transpose().copyFrom(matrix);
      using compact = matrix.transpose().contiguous();
      using bytes = gpu.zeros("uint8", [8, 8]);
      bytes.strided().range(1, { start: 0, end: 3 }).fill(5);
      using shorts = gpu.zeros("uint16", [8, 8]);
      shorts.strided().range(1, { start: 0, end: 3 }).fill(6);
      using cube = gpu.zeros("float32", [4, 4, 4]);
      using flat = gpu.zeros("float32", [4, 4, 4]);
      const [corner, place] = [cube.strided(), flat.strided()].map((whole) =>
        [2, 3, 2].reduce((part, end, axis) => part.range(axis, { start: 0, end }), whole)
      );
      assert(corner && place);
      place.copyFrom(corner);
      assertEquals(flat.downloadSync()[5], 0);
      assertEquals([...square.downloadSync().subarray(0, 2)], [0, 8]);
      assertEquals(compact.downloadSync()[1], 8);
      assertEquals([bytes.downloadSync()[2], shorts.downloadSync()[2]], [5, 6]);
    },
  },
  {
    name: "strided views: moved to and from the host, awaited and blocking",
    async run({ gpu }) {
      using matrix = gpu.uploadSync(NUMBERS, { shape: [8, 8] });
      const turned = matrix.transpose();
      const rows = turned.downloadSync();
      assertEquals(rows[1], 8);
      turned.uploadSync(NUMBERS);
      assertEquals(await turned.download(), NUMBERS);
      await turned.upload(rows);
      assertEquals(turned.downloadSync(), rows);
    },
  },
  {
    name: "conversions: into new buffers and others, of views too",
    run({ gpu }) {
      using matrix = gpu.uploadSync(NUMBERS, { shape: [8, 8] });
      using bytes = matrix.astype("uint8", { label: "bytes" });
      using columns = matrix.transpose().astype("float64");
      using many = matrix.reshape([2, 2, 2, 2, 2, 2, 1]).transpose().astype("int64");
      matrix.subarray(0, 4).astype("uint8", { into: bytes.subarray(60) });
      assertEquals([...bytes.downloadSync().subarray(58)], [58, 59, 0, 1, 2, 3]);
      assertEquals(columns.downloadSync()[1], 8);
      assertEquals(many.downloadSync()[1], 32n);
    },
  },
  {
    name: "pinned buffers: copies both ways",
    async run({ gpu }) {
      using host = gpu.pinned("float32", 64);
      host.array.set(NUMBERS);
      using device = gpu.alloc("float32", 64);
      device.copyFrom(host);
      host.clear();
      device.copyTo(host);
      await gpu.synchronize();
      assertEquals(host.array[9], 9);
    },
  },
  {
    name: "staged buffers: push and pull",
    async run({ gpu }) {
      using staged = gpu.staged("float32", 64);
      staged.contents.set(NUMBERS);
      staged.push();
      staged.subarray(0, 8).fill(1);
      await staged.pull();
      assertEquals([staged.contents[0], staged.contents[9]], [1, 9]);
      staged.push().synchronizeSync();
    },
  },
  {
    name: "mapped buffers, write-combined ones too",
    async run({ gpu }) {
      using flags = gpu.mapped("uint32", 64);
      flags.fill(7);
      using fast = gpu.mapped("uint32", 64, { writeCombined: true });
      fast.set(Uint32Array.of(4));
      await gpu.synchronize();
      assertEquals(flags.array[63], 7);
      assertEquals(flags.flags.mapped, true);
      assertEquals((await fast.download())[0], 4);
    },
  },
  {
    name: "managed buffers: prefetch, hints, discard",
    async run({ gpu, other }) {
      using values = gpu.managed("float32", 64);
      values.array.fill(1);
      values.advise("readMostly").advise("accessedBy", other).prefetch(gpu);
      values.prefetch("host");
      assertEquals(values.advice.readMostly, true);
      values.unadvise("readMostly").unadvise("accessedBy", other);
      values.discard();
      values.fill(3);
      assertEquals((await values.download())[5], 3);
    },
  },
  {
    name: "registered arrays, whole pages and read-only ones too",
    async run({ gpu }) {
      const array = NUMBERS.slice();
      using registered = gpu.register(array);
      using device = gpu.alloc("float32", 64);
      device.copyFrom(registered);
      await gpu.synchronize();
      using constant = gpu.register(NUMBERS.slice(), { readOnly: true });
      device.copyFrom(constant);
      assertEquals(device.downloadSync()[63], 63);
    },
  },
  {
    name: "growable buffers: grow, shrink, share, several steps",
    async run({ gpu, other }) {
      using cache = gpu.growable("uint8", { reserveSize: "16 MiB", stepSize: "2 MiB" });
      cache.grow("5 MiB");
      cache.setAccess(other, "readwrite");
      cache.subarray(0, 64).fill(6);
      cache.grow("2 MiB").reserve(9 * MIB);
      assertEquals((await cache.subarray(0, 64).download())[63], 6);
      cache.shrink("6 MiB");
      cache.setAccess(other, "none");
      assertEquals(cache.capacityBytes, 2 * MIB);
      cache.grow("4 MiB");
      using shaped = gpu.growable("uint8", { reserveSize: "4 MiB", shape: 10 });
      shaped.fill(7);
      assertEquals(shaped.downloadSync()[9], 7);
    },
  },
  {
    name: "lazy buffers: planned, used, never used",
    run({ gpu }) {
      using plan = gpu.lazy("float32", 64);
      using unused = gpu.lazy("float32", 64);
      plan.fill(2);
      assertEquals(plan.downloadSync()[63], 2);
      assertEquals(unused.isAllocated, false);
      using stream = gpu.createStream();
      using other = gpu.createStream();
      using elsewhere = gpu.lazy("float32", 64, { stream });
      elsewhere.fill(3, { stream: other });
      stream.dispose();
      using late = gpu.lazy("float32", 64, { stream: other });
      for (let i = 0; i < 20; i++) elsewhere.fill(3, { stream: other });
      other.dispose();
      late.fill(4);
      assertEquals([elsewhere.downloadSync()[63], late.downloadSync()[63]], [3, 4]);
    },
  },
  {
    name: "pitched buffers: padded rows",
    run({ gpu }) {
      using image = gpu.pitched("float32", [8, 8]);
      image.fill(1);
      using flat = gpu.uploadSync(NUMBERS, { shape: [8, 8] });
      image.copyFrom(flat);
      using back = gpu.alloc("float32", [8, 8]);
      back.copyFrom(image);
      assertEquals(back.downloadSync()[63], 63);
    },
  },
  {
    name: "elements: at, setAt, item, slice, to, allocateLike",
    async run({ gpu }) {
      using values = await gpu.upload(NUMBERS);
      assertEquals(await values.at(9), 9);
      using single = values.subarray(5, 6);
      assertEquals(await single.item(), 5);
      using slice = values.slice(4, 8);
      using like = slice.allocateLike();
      like.copyFrom(slice);
      using there = slice.to(gpu);
      there.copyTo(like);
      assertEquals((await like.download())[0], 4);
    },
  },
  {
    name: "handles: release, adopt, borrow, show",
    async run({ gpu }) {
      const source = gpu.uploadSync(NUMBERS);
      const { byteLength, memoryResource: resource } = source;
      const address = source.release();
      const options = { dtype: "float32", resource } as const;
      let adopted;
      try {
        adopted = gpu.fromHandle(address, byteLength, options);
      } catch (error) {
        resource.deallocate(address, byteLength, gpu.stream); // it is ours, and the failure left it
        throw error;
      }
      try {
        using shown = gpu.fromHandle(address, byteLength, { dtype: "float32" });
        assertEquals((await shown.download())[9], 9);
        assert(gpu.pointerAttributes(address).memoryType === "device");
      } finally {
        adopted.dispose();
      }
      let freedCount = 0;
      {
        using owner = gpu.zeros("uint8", 64);
        using borrowed = gpu.fromHandle(owner.ptr, 64, { deallocate: () => freedCount++ });
        borrowed.fill(1);
      }
      await gpu.synchronize();
      gpu.context.sweep();
      assertEquals(freedCount, 1);
    },
  },
  {
    name: "DLPack: handed over, taken, strided, a copy",
    async run({ gpu }) {
      using source = await gpu.upload(NUMBERS, { shape: [8, 8] });
      {
        using tensor = source.toDLPack();
        using shown = gpu.fromDLPack(tensor, { dtype: "float32" });
        assertEquals((await shown.download())[9], 9);
        shown.fill(1);
      }
      using untaken = source.transpose().toDLPack({ versioned: false });
      using view = gpu.fromDLPack(untaken, { strided: true });
      using memory = view.buffer;
      assertEquals(memory.length, 64);
      using copy = source.toDLPack({ copy: true });
      assertEquals(copy.disposed, false);
    },
  },
  {
    name: "closed in the order of another stream, and disposed at the end of a block that awaits",
    async run({ gpu }) {
      using stream = gpu.createStream();
      const buffers = new DisposableStack();
      using _all = buffers;
      const a = buffers.use(gpu.zeros("uint8", 64));
      a.fill(1, { stream });
      a.close(stream);
      await using b = gpu.staged("uint8", 64);
      b.push({ stream });
      await b.pull();
      using half = gpu.zeros("float16", 64);
      const summary = await half.describe();
      assert(summary !== undefined);
    },
  },
  {
    name: "disposes while other streams still use the memory",
    run({ gpu }) {
      using stream = gpu.createStream();
      using third = gpu.createStream();
      {
        using device = gpu.zeros("uint8", 64);
        using host = gpu.pinned("uint8", 64);
        host.array.fill(1);
        device.copyFrom(host, { stream });
        device.copyTo(host, { stream: third });
      }
      using managed = gpu.managed("uint8", 64);
      managed.fill(1, { stream });
      using mapped = gpu.mapped("uint8", 64);
      mapped.fill(1, { stream });
      using pool = gpu.growable("uint8", { reserveSize: "4 MiB" });
      pool.grow("2 MiB").fill(1, { stream });
    },
  },
];
