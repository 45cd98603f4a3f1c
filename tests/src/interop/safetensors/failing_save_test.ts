// Saves in which one call of the driver fails, of each kind, early, midway or late: the model is the
// old one, or the new one where the failure does not matter, and nothing else is left.

import { assert, assertEquals, assertGreater } from "@std/assert";
import type { DriverFunction } from "../../../../ffi/cuda.ts";
import { CudaDevice } from "../../../../src/device/device.ts";
import { saveSafetensors } from "../../../../src/interop/safetensors/save.ts";
import { faultyDriver, watchedDriver } from "../../../support/faulty_driver.ts";
import { namesIn, openPathsIn } from "../../../support/files.ts";
import { judgeFile } from "../../../support/saving/whole_model.ts";
import { TemporaryFolder } from "../../../support/temporary_folder.ts";
import { inTurn } from "../../../support/test_unless.ts";

const OLD = 1;
const NEW = 2;

/** Large enough for the ring, and small enough for one array. */
for (const byteLength of [100_000, 2_000_000]) {
  Deno.test(
    inTurn(`saveSafetensors() of ${byteLength} bytes keeps a whole model whichever call fails`),
    async () => {
      const names = await callsOfSave(watchedDriver(), byteLength);
      const counts = Map.groupBy(names, (name) => name);
      assertGreater(counts.size, 0);
      for (const [name, { length }] of counts) {
        const places = new Set([0, 1, length >> 1, length - 1]); // hundreds ask whether a copy is over
        for (const after of places) await failAt({ name, after }, byteLength);
      }
    },
  );
}

/** The calls of a save that works. */
async function callsOfSave(
  { driver, calls }: ReturnType<typeof watchedDriver>,
  byteLength: number,
): Promise<DriverFunction[]> {
  using folder = new TemporaryFolder();
  using gpu = CudaDevice.open(0, { driver });
  const path = folder.pathOf("model.safetensors");
  await save(gpu, { path, byteLength, value: OLD });
  using tensors = makeTensors(gpu, byteLength, NEW);
  calls.length = 0;
  await saveSafetensors(path, tensors.byName, { metadata: { value: String(NEW) } });
  return [...calls];
}

async function failAt(
  fault: { readonly name: DriverFunction; readonly after: number },
  byteLength: number,
): Promise<void> {
  using folder = new TemporaryFolder();
  const { driver, setFault } = faultyDriver();
  using gpu = CudaDevice.open(0, { driver });
  const path = folder.pathOf("model.safetensors");
  await save(gpu, { path, byteLength, value: OLD });
  using tensors = makeTensors(gpu, byteLength, NEW);
  setFault(fault);
  const isSaved = await saveSafetensors(path, tensors.byName, { metadata: { value: String(NEW) } })
    .then(() => true, () => false);
  setFault(undefined);
  assertEquals(judgeFile(path), { value: isSaved ? NEW : OLD });
  assertEquals(namesIn(folder), ["model.safetensors"]);
  assertEquals(openPathsIn(folder), []);
}

async function save(
  gpu: CudaDevice,
  { path, byteLength, value }: { path: string; byteLength: number; value: number },
): Promise<void> {
  using tensors = makeTensors(gpu, byteLength, value);
  await saveSafetensors(path, tensors.byName, { metadata: { value: String(value) } });
  assert("value" in judgeFile(path));
}

/** Ten tensors of one value, in blocks of their own. */
function makeTensors(gpu: CudaDevice, byteLength: number, value: number) {
  const memory = new DisposableStack();
  const byName = Array.from({ length: 10 }, (_, i) => {
    const buffer = memory.use(gpu.alloc("uint8", byteLength / 10)).fill(value);
    return [`t${i}`, buffer] as const;
  });
  gpu.synchronizeSync();
  return { byName, [Symbol.dispose]: () => memory.dispose() };
}
