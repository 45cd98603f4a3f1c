// Objects of a GPU are no messages: copies of their fields would be of no use elsewhere.

import { assertThrows } from "@std/assert";
import { withDevice } from "../../support/with_device.ts";

const REFUSED = "buffer.handOver() gives memory to another) could not be cloned";

Deno.test("structuredClone() and postMessage() refuse buffers, views and devices", () =>
  withDevice((gpu) => {
    using x = gpu.zeros("float32", [2, 2]);
    using staged = gpu.staged("float32", 2);
    const things = [gpu, x, x.view(1), x.transpose(), staged, { weights: [x] }];
    const { port1, port2 } = new MessageChannel();
    for (const thing of things) {
      assertThrows(() => structuredClone(thing), DOMException, REFUSED);
      assertThrows(() => port1.postMessage(thing), DOMException, REFUSED);
    }
    port1.close();
    port2.close();
  }));
