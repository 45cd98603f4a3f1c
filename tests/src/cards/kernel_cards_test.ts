// The cards of kernels, modules and arrays for other libraries, before and after their end.

import { assertEquals, assertStringIncludes } from "@std/assert";
import { simulateDriver } from "../../../src/entries/simulated.ts";
import { cardOf } from "../../support/display.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

const PTX = `.version 7.0
.target sm_70
.address_size 64
.visible .entry scale(.param .u64 x, .param .f32 factor, .param .u32 count) { ret; }
.visible .entry nothing() { ret; }
`;

const KERNELS = {
  scale: { parameterBytes: [8, 4, 4], run: () => {} },
  nothing: { parameterBytes: [], run: () => {} },
};

Deno.test("a kernel and its module show what they have, and that they were disposed", () =>
  withDevice(async (gpu) => {
    const module = await gpu.loadModule(PTX, { label: "two" });
    const kernel = module.kernel("scale");
    const card = await cardOf(kernel);
    assertStringIncludes(card.text, "CudaKernel scale: device 0, 3 parameters");
    assertStringIncludes(card.text, "bytes of parameters: 8, 4, 4");
    assertStringIncludes(card.html, "threads of a block");
    assertStringIncludes(
      (await cardOf(module)).text,
      "CudaModule two: device 0, 2 kernels by name",
    );
    assertStringIncludes((await cardOf(module)).text, "kernels: scale, nothing");
    assertEquals((await cardOf(module.kernel("nothing"))).text.includes("bytes of"), false);
    module.dispose();
    assertStringIncludes((await cardOf(kernel)).text, "[disposed]");
    assertStringIncludes((await cardOf(module)).text, "[disposed]");
  }, { driver: simulateDriver({ kernels: KERNELS }) }));

testOnDevice("an array for a library shows its struct until it is given away", async (gpu) => {
  using x = gpu.zeros("float32", 4);
  using tensor = x.toDLPack({ versioned: false });
  assertStringIncludes((await cardOf(tensor)).text, "DLPack without a version");
  assertStringIncludes((await cardOf(tensor)).text, "struct: 0x");
  tensor.dispose();
  assertStringIncludes((await cardOf(tensor)).text, "given away or disposed");
});
