// What stands where a stream, options or a resource belongs, in programs that no compiler has read.

import { assertEquals, assertThrows } from "@std/assert";
import { CudaDevice } from "../../src/device.ts";
import { CudaMemoryResource } from "../../src/memory/cuda_memory_resource.ts";
import { testDriver } from "../support/driver.ts";
import { withDevice } from "../support/with_device.ts";

Deno.test("Options that are a stream, a text or a list are refused and nothing is done", () =>
  withDevice((gpu) => {
    using stream = gpu.createStream({ label: "loader" });
    using a = gpu.zeros("float32", 4);
    using b = gpu.zeros("float32", 4);
    using graph = gpu.capture(() => a.fill(1));
    for (const [options, word] of [[stream, "loader"], ["loader", "loader"], [[2, 2], "2,2"]]) {
      const wrong = options as never;
      const calls = [
        () => a.fill(1, wrong),
        () => a.copyFrom(b, wrong),
        () => a.strided().copyFrom(b, wrong),
        () => a.uploadSync(new Float32Array(4), wrong),
        () => gpu.alloc("float32", 4, wrong),
        () => gpu.growable("float32", wrong),
        () => graph.launch(wrong),
      ];
      for (const call of calls) assertThrows(call, TypeError, String(word));
    }
    assertEquals(graph.launchCount, 0);
  }));

Deno.test("A stream that is none is refused by name", () =>
  withDevice((gpu) => {
    using stream = gpu.createStream();
    using a = gpu.zeros("float32", 4);
    for (const wrong of [5, "s", gpu] as never[]) {
      assertThrows(() => a.fill(1, { stream: wrong }), TypeError, "as a stream");
      assertThrows(() => gpu.alloc("uint8", 4, { stream: wrong }), TypeError, "as a stream");
      assertThrows(() => stream.wait(wrong), TypeError, "expected an event or a stream");
    }
  }));

Deno.test("A resource that is none is refused by name", () =>
  withDevice((gpu) => {
    for (const wrong of [5, CudaMemoryResource, {}] as never[]) {
      const call = () => gpu.alloc("uint8", 4, { resource: wrong });
      assertThrows(call, TypeError, "expected a memory resource");
    }
    using managed = gpu.managed("uint8", 4);
    assertThrows(() => managed.prefetch("gpu" as never), TypeError, 'expected a device or "host"');
  }));

Deno.test("CudaDevice.open() refuses a number that is none before it looks for a driver", () => {
  for (const wrong of ["0", { driver: testDriver() }] as never[]) {
    assertThrows(
      () => CudaDevice.open(wrong),
      TypeError,
      "expected a number, and options after it",
    );
  }
});
