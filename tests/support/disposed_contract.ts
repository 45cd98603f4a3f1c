// Use after dispose, for every public member of a class: found by looking at the class itself,
// so that a new method is tested the day it is written.

import { assert, assertEquals, assertFalse } from "@std/assert";
import type { DriverFunction } from "../../ffi/cuda.ts";
import type { GpuBuffer } from "../../src/buffers/gpu_buffer.ts";
import type { CudaDevice } from "../../src/device/device.ts";
import { DisposedError } from "../../src/words/errors.ts";
import { watchedDriver } from "./faulty_driver.ts";
import { withDevice } from "./with_device.ts";

/** Members that say what an object is or was; they work for ever. */
const ALWAYS_WORK = new Set<PropertyKey>([
  ...["constructor", "toString", "toJSON", "disposed", "isView", "isAllocated", "isReadOnly"],
  ...["id", "storageId", "label", "kind", "dtype", "shape", "length", "byteLength", "byteOffset"],
  ...["totalByteLength", "capacity", "capacityBytes", "reservedBytes", "pitchBytes", "rowBytes"],
  ...["context", "deviceOrdinal", "memoryResource", "isDeviceAccessible", "isHostAccessible"],
  ...["dispose", "close", "isWriteCombined", "owner", "file"],
]);

/** Members for derived classes, which TypeScript hides. */
const INTERNAL = new Set<PropertyKey>(["derive", "create", "fields", "streamFor", "showElements"]);

/** Arguments for members that would refuse none before they look at the object. */
const ARGUMENTS: Readonly<Record<string, (buffer: GpuBuffer, gpu: CudaDevice) => unknown[]>> = {
  view: () => [0],
  reshape: () => [[4]],
  as: () => ["uint8"],
  astype: () => ["uint8"],
  split: () => [1],
  chunks: () => [1],
  at: () => [0],
  set: () => [0, 1],
  setAt: () => [0, 1],
  writeFile: () => ["/x"],
  fill: () => [1],
  copyFrom: (buffer) => [buffer],
  copyTo: (buffer) => [buffer],
  upload: () => [new Uint32Array(4)],
  fillPattern: () => [new Uint32Array(1)],
  uploadSync: () => [new Uint32Array(4)],
  resize: () => [4],
  reserve: () => [4],
  grow: () => [4],
  shrink: () => [4],
  to: (_, gpu) => [gpu],
};

/** Registers one test for each public member of what `make` makes. */
export function testDisposedUse(name: string, make: (gpu: CudaDevice) => GpuBuffer): void {
  Deno.test(`${name} names itself in every use after dispose, without a driver call`, () => {
    const { driver, calls } = watchedDriver();
    return withDevice(async (gpu) => {
      const buffer = make(gpu);
      const members = usesOf(buffer);
      assert(members.length > 10);
      const silent: string[] = [];
      buffer.dispose();
      gpu.synchronizeSync();
      for (const member of members) {
        calls.length = 0;
        const outcome = await outcomeOf({ buffer, gpu }, member);
        if (!isRefusal(outcome, `Cannot use ${buffer}: it was disposed`)) {
          silent.push(`${String(member)}: ${outcome}`);
        }
        assertEquals(calls as DriverFunction[], [], `driver calls of ${String(member)}`);
      }
      assertEquals(silent, [], "a member that needs arguments wants a row in ARGUMENTS");
      assertFalse(gpu.live().objects.some(({ name }) => name === "x"));
    }, { driver });
  });
}

function usesOf(object: object): PropertyKey[] {
  const names = new Set<PropertyKey>();
  for (
    let prototype = Object.getPrototypeOf(object);
    prototype !== Object.prototype;
    prototype = Object.getPrototypeOf(prototype)
  ) {
    for (const key of Object.getOwnPropertyNames(prototype)) names.add(key);
  }
  // Indices are refused whether it was disposed or not.
  const isIndex = (key: PropertyKey) => /^-?\d+$/.test(String(key));
  return [...names].filter((key) => !isIndex(key) && !ALWAYS_WORK.has(key) && !INTERNAL.has(key));
}

/** Resolves to the result of a use: an error, or anything else. */
async function outcomeOf(
  { buffer, gpu }: { readonly buffer: GpuBuffer; readonly gpu: CudaDevice },
  member: PropertyKey,
): Promise<unknown> {
  try {
    const value = Reflect.get(buffer, member);
    if (typeof value !== "function") return value;
    const result = value.apply(buffer, ARGUMENTS[String(member)]?.(buffer, gpu) ?? []);
    if (typeof result?.next === "function") return result.next();
    return await result;
  } catch (error) {
    return error;
  }
}

function isRefusal(outcome: unknown, message: string): boolean {
  return outcome instanceof DisposedError && outcome.message === message;
}
