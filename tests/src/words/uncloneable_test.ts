// Objects of a GPU are no messages: copies of their fields would be of no use elsewhere.

import { assertThrows } from "@std/assert";
import { CudaDevice } from "../../../src/device/device.ts";
import { loadNpz, saveNpz } from "../../../src/entries/numpy.ts";
import { simulateDriver } from "../../../src/entries/simulated.ts";
import { testDriver } from "../../support/driver.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";
import { testOnDevice } from "../../support/with_device.ts";

const REFUSED = "buffer.handOver() gives memory to another) could not be cloned";

testOnDevice("structuredClone(), postMessage() refuse buffers, views, streams, devices", (gpu) => {
  using x = gpu.zeros("float32", [2, 2]);
  using staged = gpu.staged("float32", 2);
  using event = gpu.stream.record();
  using graph = gpu.capture(() => {
    x.fill(1);
  });
  const things: object[] = [
    gpu,
    x,
    x.view(1),
    x.transpose(),
    staged,
    { weights: [x] },
    gpu.stream,
    event,
  ];
  using tensor = x.toDLPack();
  things.push(graph, gpu.context, gpu.memoryResource, tensor);
  const { port1, port2 } = new MessageChannel();
  for (const thing of things) {
    assertThrows(() => structuredClone(thing), DOMException, REFUSED);
    assertThrows(() => port1.postMessage(thing), DOMException, REFUSED);
  }
  port1.close();
  port2.close();
});

testOnDevice("structuredClone() refuses what holds several buffers or devices", async (gpu) => {
  using folder = new TemporaryFolder();
  const [model, archive] = [folder.pathOf("x.safetensors"), folder.pathOf("x.npz")];
  using x = gpu.zeros("float32", 4);
  await gpu.saveSafetensors(model, { x });
  await saveNpz(archive, { x });
  using gpus = CudaDevice.openMany([0], { driver: testDriver() });
  using tensors = await gpu.loadSafetensors(model);
  using sharded = await gpus.loadSafetensors(model);
  using arrays = await loadNpz(archive, gpu);
  using packed = await gpu.uploadAll([new Float32Array(2)]);
  using parts = await gpus.upload(new Float32Array(2));
  using simulated = CudaDevice.all({ driver: simulateDriver() });
  using group = await simulated.group();
  for (const thing of [gpus, tensors, sharded, arrays, packed, parts, group]) {
    assertThrows(() => structuredClone(thing), DOMException, REFUSED);
  }
});
