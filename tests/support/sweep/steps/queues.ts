// Steps of the failure sweep: streams, events, graphs, batches, and copies between devices.

import { assert, assertEquals } from "@std/assert";
import { GraphMemoryResource } from "../../../../src/entries/memory.ts";
import { IOTA_PTX } from "../../kernels/kernel_driver.ts";
import type { Step } from "../scene.ts";

const NUMBERS = Float32Array.from({ length: 64 }, (_, i) => i);

/** Work on streams. */
export const QUEUE_STEPS: readonly Step[] = [
  {
    name: "streams: priorities, waits for streams and events",
    async run({ gpu }) {
      using urgent = gpu.createStream({ priority: "high" });
      using idle = gpu.createStream({ priority: "low" });
      using a = gpu.zeros("float32", 64, { stream: urgent });
      using event = urgent.record();
      idle.wait(event);
      a.fill(2, { stream: idle });
      urgent.wait(idle);
      a.fill(3, { stream: urgent });
      await idle.synchronize();
      urgent.synchronizeSync();
      assertEquals([urgent.isIdle, idle.isIdle], [true, true]);
      assertEquals((await a.download())[5], 3);
    },
  },
  {
    name: "streams: disposed while they are busy",
    run({ gpu }) {
      using a = gpu.alloc("uint8", 64);
      for (let i = 0; i < 4; i++) {
        using stream = gpu.createStream();
        a.fill(i, { stream });
      }
      assertEquals(a.downloadSync()[0], 3);
    },
  },
  {
    name: "streams: disposed while they are busy, and waited for with the device",
    async run({ gpu }) {
      using stream = gpu.createStream();
      using host = gpu.pinned("uint8", 64, { stream });
      for (let i = 0; i < 8; i++) host.fill(i, { stream });
      host.dispose();
      stream.dispose();
      await gpu.synchronize();
      assertEquals(gpu.context.deferred.works.size, 0);
    },
  },
  {
    name: "streams with more work than a few looks see",
    async run({ gpu }) {
      using a = gpu.alloc("uint8", 64);
      const queue = () => {
        for (let i = 0; i < 300; i++) a.fill(i % 7);
      };
      queue();
      gpu.stream.synchronizeSync();
      queue();
      await gpu.synchronize();
      queue();
      using event = gpu.stream.record();
      await event.synchronize();
      queue();
      const late = a.download();
      const [values] = await Promise.all([late, gpu.synchronize()]);
      assertEquals(values[5], 299 % 7);
    },
  },
  {
    name: "events: times, waits, queries",
    async run({ gpu }) {
      using a = gpu.alloc("uint8", 64);
      using start = gpu.stream.record();
      a.fill(1);
      using end = gpu.stream.record();
      await end.synchronize();
      assert(end.secondsSince(start) >= 0);
      using quiet = gpu.createEvent({ timing: false });
      gpu.stream.record(quiet);
      quiet.synchronizeSync();
      assertEquals(quiet.isComplete, true);
    },
  },
  {
    name: "time, overlap, bandwidth",
    async run({ gpu }) {
      using a = gpu.alloc("uint8", 4096);
      const timing = await gpu.time(() => void a.fill(1));
      assert(timing.gpuSeconds >= 0);
      using stream = gpu.createStream();
      const overlap = await gpu.traceOverlap((trace) => {
        trace.run("one", stream, () => void a.fill(2, { stream }));
        trace.run("two", gpu.stream, () => void a.fill(3));
      });
      assertEquals(overlap.spans.length, 2);
      const { points } = await gpu.bandwidth({ sizes: [4096], sampleCount: 1 });
      assert(points.every(({ verified }) => verified));
    },
  },
  {
    name: "graphs: recorded, launched, with memory of their own",
    async run({ gpu }) {
      using input = gpu.pinned("float32", 64);
      using output = gpu.pinned("float32", 64);
      using stream = gpu.createStream();
      input.array.set(NUMBERS);
      using graph = gpu.capture(() => {
        using scratch = gpu.alloc("float32", 64);
        scratch.copyFrom(input);
        stream.wait(gpu.stream);
        output.copyFrom(scratch, { stream });
      });
      graph.launch();
      await gpu.synchronize();
      assertEquals(output.array[9], 9);
      graph.launch({ stream });
      stream.synchronizeSync();
    },
  },
  {
    name: "graphs: memory that stays after a launch",
    run({ gpu }) {
      using device = gpu.alloc("float32", 64);
      using made = new DisposableStack();
      let output: typeof device | undefined;
      using graph = gpu.capture(() => {
        output = made.use(gpu.zeros("float32", 64));
        device.copyFrom(output);
      });
      graph.launch();
      assertEquals(output?.downloadSync()[3], 0);
      assertEquals(device.downloadSync()[3], 0);
    },
  },
  {
    name: "graphs: launched and disposed at once",
    run({ gpu }) {
      using device = gpu.alloc("float32", 64);
      for (let i = 0; i < 3; i++) {
        using graph = gpu.capture(() => {
          using scratch = gpu.zeros("float32", 64);
          device.copyFrom(scratch);
        });
        graph.launch();
      }
      using kept = gpu.zeros("float32", 64);
      using graph = gpu.capture(() => void device.copyFrom(kept));
      kept.dispose();
      graph.launch();
      assertEquals(device.downloadSync()[3], 0);
    },
  },
  {
    name: "graphs: updated, and refused what does not fit",
    async run({ gpu }) {
      using module = await gpu.loadModule(IOTA_PTX);
      const run = module.kernel("vramkit_iota_u32");
      using device = gpu.alloc("uint32", 64);
      using graph = gpu.capture(() => {
        device.fill(1);
        run.launch({ grid: 1, block: 8, args: [device, 8, 1, 1] });
      });
      using late = gpu.zeros("uint32", 64);
      graph.launch();
      graph.update(() => {
        late.fill(2);
        run.launch({ grid: 2, block: 4, args: [late, 4, 7, 1] });
      });
      late.dispose();
      graph.launch();
      const cooperative = { grid: 1, block: 8, cooperative: true } as const;
      try {
        graph.update(() => {
          device.fill(3);
          run.launch({ ...cooperative, args: [device, 8, 1, 1] });
        });
      } catch (error) {
        if (!(error instanceof TypeError)) throw error;
      }
      graph.launch();
      assertEquals(device.downloadSync()[9], 1);
    },
  },
  {
    name: "graphs: how much memory they hold",
    run({ gpu }) {
      using device = gpu.alloc("float32", 64);
      using graph = gpu.capture(() => {
        using scratch = gpu.zeros("float32", 64);
        device.copyFrom(scratch);
      });
      graph.launch();
      gpu.synchronizeSync();
      const memory = new GraphMemoryResource(gpu);
      assert(memory.reservedBytes > 0 && memory.peakUsedBytes >= memory.usedBytes);
      memory.resetPeaks();
      memory.trim();
    },
  },
  {
    name: "graphs: a body that fails",
    run({ gpu }) {
      using device = gpu.alloc("float32", 64);
      const wanted = new RangeError("the program's own");
      let told: unknown;
      try {
        gpu.capture(() => {
          using _scratch = gpu.zeros("float32", 64);
          device.fill(1);
          throw wanted;
        }).dispose();
      } catch (error) {
        if (error !== wanted) throw error;
        told = error;
      }
      assertEquals(told, wanted);
      device.fill(2);
      assertEquals(device.downloadSync()[0], 2);
    },
  },
  {
    name: "batches of copies",
    run({ gpu }) {
      using a = gpu.uploadSync(NUMBERS);
      using b = gpu.alloc("float32", 64);
      using c = gpu.alloc("float32", 64);
      gpu.copyBatch([{ destination: b, source: a }, { destination: c, source: a }]);
      assertEquals([b.downloadSync()[9], c.downloadSync()[9]], [9, 9]);
    },
  },
  {
    name: "copies between two devices",
    run({ gpu, other }) {
      using a = gpu.uploadSync(NUMBERS);
      using b = other.alloc("float32", 64);
      b.copyFrom(a);
      assertEquals(b.downloadSync()[9], 9);
      assert(["peer", "staged"].includes(gpu.routeTo(other)));
      using c = gpu.alloc("float32", 64);
      c.copyFrom(b);
      assertEquals(c.downloadSync()[63], 63);
    },
  },
  {
    name: "shaped copies between two devices",
    run({ gpu, other }) {
      using a = gpu.uploadSync(NUMBERS, { shape: [8, 8] });
      using b = other.alloc("float32", [8, 4]);
      b.copyFrom(a.strided().range(1, { start: 0, end: 4 }));
      assertEquals(b.downloadSync()[4], 8);
    },
  },
];
