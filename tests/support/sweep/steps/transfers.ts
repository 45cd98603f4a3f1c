// Steps of the failure sweep: ordinary arrays, many at once, files, web streams, models.

import { assertEquals } from "@std/assert";
import { saveSafetensors } from "../../../../src/interop/safetensors/save.ts";
import type { Step } from "../scene.ts";

const NUMBERS = Float32Array.from({ length: 64 }, (_, i) => i);
/** Goes through the ring, in pieces. */
const LARGE = new Uint8Array(5 * 2 ** 20).fill(7);
const MIDDLE = LARGE.subarray(0, 3 * 2 ** 19);
/** A transfer that can be stopped moves between turns, however the threads are at the time. */
const { signal: STOPPABLE } = new AbortController();

function streamOf(bytes: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new Blob([bytes]).stream() as ReadableStream<Uint8Array<ArrayBuffer>>;
}

/** Bytes that come and go. */
export const TRANSFER_STEPS: readonly Step[] = [
  {
    name: "small arrays: awaited, blocking",
    async run({ gpu }) {
      using a = await gpu.upload(NUMBERS);
      assertEquals((await a.download())[9], 9);
      using b = gpu.uploadSync(NUMBERS);
      assertEquals(b.downloadSync()[9], 9);
      using stream = gpu.createStream();
      await b.upload(NUMBERS, { stream });
      using half = await gpu.upload([1, 2, 3], { dtype: "bfloat16" });
      assertEquals([...await half.download()], [1, 2, 3]);
    },
  },
  {
    name: "small arrays: queued and not awaited, disposed meanwhile",
    async run({ gpu }) {
      using stream = gpu.createStream();
      const late: Promise<unknown>[] = [];
      let values: Float32Array | undefined;
      try {
        using a = gpu.zeros("float32", 64, { stream });
        late.push(a.upload(NUMBERS));
        late.push(a.download().then((array) => void (values = array)));
        a.fill(2);
      } finally {
        await Promise.allSettled(late);
      }
      await Promise.all(late);
      assertEquals(values?.[9], 9);
    },
  },
  {
    name: "small arrays: disposed before they arrive",
    async run({ gpu }) {
      const a = gpu.zeros("float32", 64);
      const [first, second] = await Promise.allSettled([
        a.upload(NUMBERS),
        a.download(),
        a.dispose(),
      ]);
      if (first.status === "rejected") throw first.reason;
      if (second.status === "rejected") throw second.reason;
      assertEquals(second.value[9], 9);
    },
  },
  {
    name: "large arrays: awaited, through threads that are lent",
    async run({ gpu }) {
      using a = await gpu.upload(LARGE, { signal: STOPPABLE });
      const back = await a.download(undefined, { signal: STOPPABLE });
      assertEquals([back[0], back.at(-1)], [7, 7]);
    },
  },
  {
    name: "large arrays: blocking",
    run({ gpu }) {
      using a = gpu.uploadSync(LARGE);
      assertEquals(a.downloadSync().at(-1), 7);
    },
  },
  {
    name: "large arrays: queued behind a busy stream, followed by calls",
    async run({ gpu }) {
      using a = gpu.zeros("uint8", LARGE.length);
      using b = gpu.alloc("uint8", LARGE.length);
      const late: Promise<unknown>[] = [a.upload(LARGE, { signal: STOPPABLE })];
      let values: Uint8Array | undefined;
      try {
        b.copyFrom(a);
        using event = gpu.stream.record();
        const coming = b.download(undefined, { signal: STOPPABLE });
        late.push(event.synchronize(), coming.then((array) => void (values = array)));
        await Promise.all(late);
        await gpu.synchronize();
      } finally {
        await Promise.allSettled(late);
      }
      assertEquals(values?.at(-1), 7);
    },
  },
  {
    name: "page-locked downloads",
    async run({ gpu }) {
      using a = await gpu.upload(NUMBERS);
      using host = await gpu.downloadPinned(a);
      assertEquals(host.array[9], 9);
    },
  },
  {
    name: "many arrays in one call",
    async run({ gpu }) {
      const arrays = [NUMBERS, Uint8Array.of(1, 2, 3), NUMBERS.slice(0, 3)] as const;
      using packed = await gpu.uploadAll(arrays);
      const [first, second] = await gpu.downloadAll([...packed]);
      assertEquals([first?.[9], second?.[2]], [9, 3]);
      const buffers = [...packed];
      await gpu.uploadAll([...arrays], { into: buffers });
    },
  },
  {
    name: "files: written, read, at an offset",
    async run({ gpu, folder }) {
      const path = `${folder}/bytes.bin`;
      using a = await gpu.upload(NUMBERS);
      await a.writeFile(path);
      using b = await gpu.uploadFile(path, { dtype: "float32" });
      assertEquals((await b.download())[9], 9);
      await a.subarray(0, 4).writeFile(path, { fileOffset: 16 });
      assertEquals((await Deno.stat(path)).size, 256);
    },
  },
  {
    name: "files: in place, with a wait for the disk, many at once",
    async run({ gpu, folder }) {
      const path = `${folder}/place.bin`;
      using a = await gpu.upload(NUMBERS);
      await a.writeFile(path);
      await a.writeFile(path, { inPlace: true, sync: true });
      const late = [a.writeFile(path), a.subarray(0, 8).writeFile(path, { fileOffset: 8 })];
      await Promise.allSettled(late);
      await Promise.all(late);
      using b = await gpu.uploadFile(path, { dtype: "float32" });
      assertEquals((await b.download())[3], 1);
    },
  },
  {
    name: "files that go through the ring",
    async run({ gpu, folder }) {
      const path = `${folder}/large.bin`;
      using a = gpu.zeros("uint8", MIDDLE.length);
      a.fill(7);
      await a.writeFile(path);
      using b = await gpu.uploadFile(path);
      assertEquals((await b.download()).at(-1), 7);
    },
  },
  {
    name: "a model of safetensors, saved and loaded",
    async run({ gpu, folder }) {
      const path = `${folder}/model.safetensors`;
      using a = await gpu.upload(NUMBERS, { shape: [8, 8] });
      using b = gpu.zeros("uint8", 3);
      await saveSafetensors(path, { a, b });
      using model = await gpu.loadSafetensors(path);
      assertEquals((await model.tensor("a").download())[9], 9);
    },
  },
  {
    name: "a model on two devices, with a tensor of many pieces",
    async run({ gpu, other, folder }) {
      const path = `${folder}/two.safetensors`;
      using a = await gpu.upload(NUMBERS);
      using b = other.zeros("uint8", MIDDLE.length);
      using c = gpu.zeros("float32", 8);
      c.fill(2);
      await saveSafetensors(path, { a, b, c });
      using model = await other.loadSafetensors(path);
      assertEquals((await model.tensor("c").download())[7], 2);
    },
  },
  {
    name: "web streams: into new memory of known and unknown length",
    async run({ gpu }) {
      const bytes = new Uint8Array(NUMBERS.buffer.slice(0));
      using known = await gpu.from(new Blob([bytes]), { dtype: "float32" });
      assertEquals((await known.download())[9], 9);
      using unknown = await gpu.from(streamOf(bytes), { dtype: "float32" });
      assertEquals((await unknown.download())[9], 9);
    },
  },
  {
    name: "web streams: readable and writable, and one that grows",
    async run({ gpu }) {
      using a = await gpu.upload(NUMBERS);
      const response = new Response(a.readable);
      assertEquals(new Float32Array(await response.arrayBuffer())[9], 9);
      using b = gpu.alloc("float32", 64);
      await streamOf(new Uint8Array(NUMBERS.buffer.slice(0))).pipeTo(b.writable);
      assertEquals((await b.download())[9], 9);
      using c = gpu.growable("float32", { reserveSize: "4 MiB" });
      await streamOf(new Uint8Array(NUMBERS.buffer.slice(0))).pipeTo(c.writable);
      assertEquals(c.length, 64);
    },
  },
];
