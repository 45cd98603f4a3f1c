// Steps of the failure sweep: opening devices, and all that tells what they hold.

import { assert, assertEquals, assertGreaterOrEqual } from "@std/assert";
import { CudaDevice } from "../../../../src/device/device.ts";
import { CachingResourceAdaptor, CudaAsyncMemoryResource } from "../../../../src/entries/memory.ts";
import type { Step } from "../scene.ts";
import { show } from "../show.ts";

/** Devices and accounts. */
export const DEVICE_STEPS: readonly Step[] = [
  {
    name: "a device is opened and disposed",
    opens: true,
    run(scene) {
      using gpu = scene.open();
      using again = scene.open();
      assertEquals(gpu.context, again.context);
      assertEquals(gpu.name, "Simulated");
      assertEquals(CudaDevice.count({ driver: scene.driver }), 2);
    },
  },
  {
    name: "a device is opened with resources of its own",
    opens: true,
    run({ driver }) {
      using gpu = CudaDevice.open(0, {
        driver,
        resource: (owner) => new CachingResourceAdaptor(new CudaAsyncMemoryResource(owner, {})),
      });
      using a = gpu.zeros("uint8", 64);
      assertEquals(a.downloadSync()[0], 0);
    },
  },
  {
    name: "what a device keeps is given back",
    opens: true,
    run({ driver }) {
      using gpu = CudaDevice.open(0, {
        driver,
        resource: (owner) => new CachingResourceAdaptor(new CudaAsyncMemoryResource(owner, {})),
      });
      gpu.zeros("uint8", 64).dispose();
      gpu.synchronizeSync();
      assertGreaterOrEqual(gpu.trim(), 0);
    },
  },
  {
    name: "two devices are opened and disposed in turn",
    opens: true,
    run(scene) {
      const gpu = scene.open(0);
      try {
        using other = scene.open(1);
        using a = other.zeros("uint8", 64);
        using b = gpu.zeros("uint8", 64);
        using _event = other.createEvent();
        using _stream = other.createStream();
        assertEquals([a.downloadSync()[0], b.downloadSync()[0]], [0, 0]);
      } finally {
        gpu.dispose();
      }
    },
  },
  {
    name: "a program that orders its streams itself",
    opens: true,
    async run({ driver }) {
      using gpu = CudaDevice.open(0, { driver, order: "manual" });
      using stream = gpu.createStream();
      using a = gpu.zeros("uint8", 64);
      stream.wait(gpu.stream);
      a.fill(3, { stream });
      using event = stream.record();
      gpu.stream.wait(event);
      assertEquals((await a.download())[5], 3);
    },
  },
  {
    name: "objects outlive their device",
    opens: true,
    run(scene) {
      using gpu = scene.open();
      using a = gpu.zeros("uint8", 64);
      using stream = gpu.createStream();
      using event = stream.record();
      gpu.dispose();
      assertEquals(a.downloadSync()[0], 0);
      assertEquals(event.isComplete, true);
    },
  },
  {
    name: "a device is disposed while its streams are busy",
    opens: true,
    run(scene) {
      using gpu = scene.open();
      using stream = gpu.createStream();
      using host = gpu.pinned("uint8", 64);
      using device = gpu.alloc("uint8", 64);
      for (let i = 0; i < 20; i++) device.fill(i, { stream });
      device.copyTo(host, { stream });
      using graph = gpu.capture(() => void device.fill(7));
      graph.launch({ stream });
      gpu.dispose();
    },
  },
  {
    name: "accounts: memory, live, marks, tracks, reports, timeline",
    run({ gpu }) {
      const mark = gpu.mark();
      using _all = { [Symbol.dispose]: () => gpu.disposeAll() };
      gpu.timeline.start();
      using track = gpu.track("part");
      gpu.zeros("uint8", 4096, { label: "left" });
      gpu.scope((scope) => void scope.use(gpu.alloc("uint8", 64)), { label: "inner" });
      assertEquals(gpu.live({ label: "left" }).count, 1);
      assert(gpu.memory.liveBytes >= 4096);
      assert(gpu.report().toString().includes("left"));
      gpu.disposeSince(mark);
      assertEquals(track.currentBytes, 0);
      gpu.timeline.stop();
      assert(gpu.timeline.length > 0);
      gpu.slot("a", () => gpu.alloc("uint8", 64));
      gpu.slot("a", () => undefined);
      using _left = gpu.alloc("uint8", 64);
      gpu.createStream();
      gpu.createEvent();
    },
  },
  {
    name: "cards and consoles",
    async run({ gpu }) {
      using a = await gpu.upload(Float32Array.of(1, 2, 3));
      using stream = gpu.createStream();
      using event = stream.record();
      using graph = gpu.capture(() => void a.fill(1));
      using host = gpu.pinned("uint8", 64);
      const summary = await a.describe();
      assert(summary.toString().length > 0);
      const shown = [gpu, gpu.live(), gpu.report(), gpu.memoryResource, gpu.context];
      const made = [a, a.transpose(), stream, event, graph, host, summary];
      for (const value of [...shown, ...made]) show(value);
    },
  },
  {
    name: "addresses that the driver knows, and one that it does not",
    run({ gpu }) {
      using a = gpu.alloc("uint8", 64);
      using host = gpu.pinned("uint8", 64);
      const attributes = gpu.pointerAttributes(a.ptr);
      assertEquals([attributes.memoryType, attributes.deviceOrdinal], ["device", 0]);
      assert(attributes.isMapped);
      assertEquals(gpu.pointerAttributes(host.ptr).memoryType, "host");
      try {
        gpu.pointerAttributes(64n);
      } catch (error) {
        if (!(error instanceof TypeError)) throw error;
      }
    },
  },
];
