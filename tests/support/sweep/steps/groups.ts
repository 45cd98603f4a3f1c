// Steps of the failure sweep: several devices as one list, and groups of them.

import { assertEquals } from "@std/assert";
import { CudaDevice } from "../../../../src/device/device.ts";
import { joinGroup } from "../../../../src/group/join_group.ts";
import { fileOf } from "../../safetensors/files.ts";
import type { Step } from "../scene.ts";

/** Goes through the ring, in rows. */
const LARGE = new Uint8Array(9 * 2 ** 20).fill(7);

/** Groups of two devices. */
export const GROUP_STEPS: readonly Step[] = [
  {
    name: "groups: on several streams, awaited and not",
    async run({ driver }) {
      using gpus = CudaDevice.openMany([0, 1], { driver, origins: "none" });
      assertEquals(gpus.topology().links[1]?.[0]?.atomics, true);
      using group = await gpus.group();
      using stack = new DisposableStack();
      const streams = gpus.map((gpu) => stack.use(gpu.createStream()));
      const parts = gpus.map((gpu) => stack.use(gpu.alloc("float32", 64)).fill(1));
      group.allReduce(parts, { streams });
      await group.barrier();
      group.broadcast(parts, { root: 1 });
      for (const part of parts) assertEquals((await part.download())[5], 2);
    },
  },
  {
    name: "groups: after uploads that are under way, and disposed while they are busy",
    async run({ driver }) {
      using gpus = CudaDevice.openMany([0, 1], { driver, origins: "none" });
      using stack = new DisposableStack();
      const parts = gpus.map((gpu) => stack.use(gpu.zeros("float32", 2 << 20)));
      const ones = new Float32Array(2 << 20).fill(1);
      const uploads = Promise.allSettled(parts.map((part) => part.upload(ones)));
      {
        using group = await gpus.group();
        group.allReduce(parts);
      }
      for (const upload of await uploads) if (upload.status === "rejected") throw upload.reason;
      for (const part of parts) assertEquals(await part.at(-1), 2);
    },
  },
  {
    name: "parts: rows, columns and the whole, small and large, and disposed while they are busy",
    async run({ driver }) {
      using gpus = CudaDevice.openMany([0, 1], { driver, origins: "none" });
      const [small, large] = [6, 5 * 2 ** 20].map((length) => new Uint8Array(length).fill(7));
      for (const array of [small, large] as Uint8Array[]) {
        for (const split of [0, 1, "replicate"] as const) {
          using parts = await gpus.upload(array, { shape: [2, array.length / 2], split });
          await parts.upload(array);
          assertEquals((await parts.download())[5], 7);
        }
      }
      using parts = await gpus.upload(LARGE, { shape: [8, LARGE.length / 8], split: 1 });
      const late = [parts.upload(LARGE), parts.download()];
      parts.dispose();
      for (const each of await Promise.allSettled(late)) {
        if (each.status === "rejected") throw each.reason;
      }
    },
  },
  {
    name: "parts: a model by rows, by columns, and whole",
    async run({ driver, folder }) {
      using gpus = CudaDevice.openMany([0, 1], { driver, origins: "none" });
      const path = `${folder}/parts.safetensors`;
      await writeModel(path);
      using model = await gpus.loadSafetensors(path, {
        place: [[/up/, { split: 0 }], [/down/, { split: 1 }], [/norm|table/, "replicate"]],
      });
      for (const [, parts] of model) assertEquals((await parts.download())[9], 9);
    },
  },
  {
    name: "parts: a range over both devices, and what their links carry",
    async run({ driver }) {
      using gpus = CudaDevice.openMany([0, 1], { driver, origins: "none" });
      {
        using wide = gpus.stripe("5 MiB", { stripeSize: "2 MiB" });
        wide.fill(3, { stream: gpus.at(1)?.stream });
        assertEquals(await wide.at(-1), 3);
      }
      const cases = [
        "device_to_device_bidirectional_memcpy_read_ce",
        "host_to_all_memcpy_ce",
      ] as const;
      const found = await gpus.bandwidth({ caseSize: 4096, sampleCount: 1, cases });
      assertEquals(found.cases.map(({ verified }) => verified), [true, true]);
    },
  },
  {
    name: "groups: joined, with calls that NCCL goes on queueing",
    async run({ driver }) {
      using gpu = CudaDevice.open(1, { driver, origins: "none" });
      const token = "a token of the sweep";
      const options = { rendezvous: "tcp://127.0.0.1:1", rank: 0, size: 1, token, device: gpu };
      await using group = await joinGroup(options); // alone, so that nobody listens
      using x = gpu.alloc("float32", 64);
      x.fill(1);
      using stream = gpu.createStream();
      group.allReduce(x, { streams: [stream] });
      const work = group.barrier();
      await using part = await group.split({ color: 1 });
      await part?.allReduce(x);
      assertEquals(await x.at(-1), 1);
      await work;
    },
  },
];

/** Writes a file of four tensors, one of which is shared over links, without a driver. */
async function writeModel(path: string): Promise<void> {
  const tensors = { up: [8, 8], down: [8, 8], norm: [16], table: [5 * 2 ** 20 + 3] };
  let end = 0;
  const entries = Object.entries(tensors).map(([name, shape]) => {
    const start = end;
    end += shape.reduce((product, size) => product * size, 1);
    return [name, { dtype: "U8", shape, data_offsets: [start, end] }];
  });
  const header = Object.fromEntries(entries);
  const data = new Uint8Array(end);
  for (
    const [, { data_offsets: [start = 0] }] of entries as [string, { data_offsets: number[] }][]
  ) {
    data[start + 9] = 9;
  }
  await Deno.writeFile(path, fileOf({ header, data }));
}
