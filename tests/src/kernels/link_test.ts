// Modules of several pieces, joined by the driver's linker: on a GPU really, on the simulated driver
// with a kernel of the same name in JavaScript.

import { assert, assertEquals, assertRejects } from "@std/assert";
import { findLibrary } from "../../../ffi/installed_libraries.ts";
import { sourceOf } from "../../../ffi/nvrtc_library.ts";
import { simulateDriver } from "../../../ffi/simulated/driver.ts";
import type { CudaDevice } from "../../../mod.ts";
import { i32 } from "../../../src/entries/kernels.ts";
import { architectureFor, compileText } from "../../../src/kernels/compiler.ts";
import { ON_GPU, testDriver } from "../../support/driver.ts";
import { APPLY_KERNEL, CALLER_PTX, changePtx } from "../../support/kernels/linked_ptx.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";
import { testUnless } from "../../support/test_unless.ts";
import { freeBytes, withDevice } from "../../support/with_device.ts";

const TWICE_PTX = changePtx(2);

function driverWithKernel() {
  return ON_GPU ? testDriver() : simulateDriver({ kernels: { apply: APPLY_KERNEL } });
}

function testLinking(name: string, body: (gpu: CudaDevice) => unknown): void {
  Deno.test(name, () => withDevice(body, { driver: driverWithKernel() }));
}

async function applied(
  gpu: CudaDevice,
  ...pieces: readonly (string | URL | Uint8Array)[]
): Promise<number> {
  using module = await gpu.loadModule(pieces);
  using x = gpu.zeros("uint32", 1);
  module.kernel("apply").launch({ grid: 1, block: 1, args: [x, i32(21)] });
  return await x.at(0);
}

testLinking(
  "CudaDevice.loadModule() fails with what its list throws, and with nothing more",
  async (gpu) => {
    const pieces = ["/no/such/file", TWICE_PTX];
    Object.defineProperty(pieces, 1, {
      get: () => {
        throw new RangeError("the list's own");
      },
    });
    await assertRejects(() => gpu.loadModule(pieces), RangeError, "the list's own");
    await assertRejects(() => gpu.loadModule([]), TypeError, "name one piece at least");
  },
);

testLinking("CudaDevice.loadModule() links pieces of PTX, in any order", async (gpu) => {
  assertEquals(await applied(gpu, CALLER_PTX, TWICE_PTX), 42);
  assertEquals(await applied(gpu, TWICE_PTX, CALLER_PTX), 42);
});

testLinking("CudaDevice.loadModule() links texts, bytes and files", async (gpu) => {
  using folder = new TemporaryFolder();
  const path = `${folder.path}/change.ptx`;
  await Deno.writeTextFile(path, TWICE_PTX);
  assertEquals(await applied(gpu, new TextEncoder().encode(CALLER_PTX), path), 42);
  assertEquals(await applied(gpu, CALLER_PTX, new URL(`file://${path}`)), 42);
  using module = await gpu.loadModule([CALLER_PTX, path]);
  assertEquals([module.name, module.kernelNames], ["change.ptx", ["apply"]]);
  using named = await gpu.loadModule([CALLER_PTX, path], { label: "both" });
  assertEquals([named.name, named.kernel("apply").parameterBytes], ["both", [8, 4]]);
});

testLinking("CudaDevice.loadModule() rejects lists of anything but code", async (gpu) => {
  const check = (
    sources: readonly unknown[],
    Kind: new (...args: never[]) => Error,
    text: string,
  ) => assertRejects(() => gpu.loadModule(sources as never), Kind, text);
  await check([], TypeError, "name one piece");
  await check([CALLER_PTX, 5], TypeError, "expected PTX");
  await check(Array(2), TypeError, "Cannot load undefined as a module");
  await check([CALLER_PTX, "\n__global__ void f() {}"], TypeError, "pass CUDA C++");
  await check([CALLER_PTX, new Uint8Array(8)], TypeError, "no PTX, cubin or fat binary");
  await check([CALLER_PTX, "/nowhere/change.ptx"], Deno.errors.NotFound, "/nowhere/change.ptx");
  assertEquals(gpu.live().count, 0);
});

testLinking("CudaDevice.loadModule() is refused in a capture", async (gpu) => {
  let refused: Promise<unknown> | undefined;
  using _graph = gpu.capture(() => {
    refused = gpu.loadModule([CALLER_PTX, TWICE_PTX]).then((module) => module.dispose(), () => {});
  });
  await refused;
});

const reason = ON_GPU ? undefined : "needs a GPU";

testUnless(
  "CudaDevice.loadModule() says what is missing, and what is there twice",
  reason,
  () =>
    withDevice(async (gpu) => {
      const missing = await assertRejects(() => gpu.loadModule([CALLER_PTX]), TypeError);
      assert(missing.message.includes("change"), missing.message);
      const twice = await assertRejects(
        () => gpu.loadModule([CALLER_PTX, TWICE_PTX, changePtx(3)], { label: "three" }),
        TypeError,
        "Cannot link three",
      );
      assert(twice.message.includes("change"), twice.message);
      const wrong = await assertRejects(
        () => gpu.loadModule([CALLER_PTX, TWICE_PTX.replace("mul.lo.s32", "mul.lo.q32")]),
        TypeError,
      );
      assert(wrong.message.includes("line"), wrong.message);
    }),
);

testUnless(
  "CudaDevice.loadModule() links what NVRTC compiles in parts, cubins and PTX",
  reason ?? (findLibrary("nvrtc").path === undefined ? "needs NVRTC" : undefined),
  () =>
    withDevice(async (gpu) => {
      const { api } = sourceOf(findLibrary("nvrtc"));
      const capability = Number(gpu.info.computeCapability.replace(".", ""));
      const caller = `extern "C" __device__ int change(int);
extern "C" __global__ void apply(int *to, int value) { *to = change(value); }`;
      const change = `extern "C" __device__ int change(int value) { return 2 * value; }`;
      const compiled = async (source: string, architecture: string) => {
        const options = ["--relocatable-device-code=true"];
        const request = { source, file: "part.cu", expression: undefined, architecture, options };
        return (await compileText(api, request)).image;
      };
      const cubin = architectureFor(api, capability);
      const ptx = cubin.replace(/^sm_/, "compute_");
      for (const [first, second] of [[cubin, cubin], [cubin, ptx], [ptx, cubin], [ptx, ptx]]) {
        const pieces = [
          await compiled(caller, first ?? cubin),
          await compiled(change, second ?? cubin),
        ];
        assertEquals(await applied(gpu, ...pieces), 42, `${first} and ${second}`);
      }
    }),
);

testLinking("CudaDevice.loadModule() leaves no memory, 200 times", async (gpu) => {
  for (let round = 0; round < 5; round++) await applied(gpu, CALLER_PTX, TWICE_PTX);
  const before = freeBytes(gpu);
  for (let round = 0; round < 200; round++) await applied(gpu, CALLER_PTX, TWICE_PTX);
  assert(freeBytes(gpu) >= before - (ON_GPU ? 8 << 20 : 0), "device memory is missing");
});
