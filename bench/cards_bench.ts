// What does it cost to look at an object in a notebook? A card may take 5 ms.
// Host time, on the GPU where there is one; the first values are copied from the device each time.

import { CudaDevice } from "vramkit";

const DISPLAY = Symbol.for("Jupyter.display");
const gpu = CudaDevice.open(0, { driver: "auto" });
const group = `cards on ${gpu.name}`;
const buffer = gpu.zeros("float32", [4096, 4096], { label: "weights" });
const view = buffer.view(7);
const stream = gpu.createStream();
await gpu.synchronize();

const shown = { device: gpu, buffer, view, stream, "memory resource": gpu.memoryResource };
for (const [name, object] of Object.entries(shown)) {
  Deno.bench({ name, group, fn: () => void show(object) });
}

Deno.bench({ name: "live() of 1,000 buffers", group }, (bench) => {
  const blocks = Array.from({ length: 1000 }, () => gpu.alloc("uint8", 256));
  bench.start();
  show(gpu.live());
  bench.end();
  for (const block of blocks) block.dispose();
});

function show(object: object): unknown {
  const display: unknown = Reflect.get(object, DISPLAY);
  if (typeof display !== "function") throw new TypeError(`Cannot show ${object}: it has no card`);
  return display.call(object);
}
