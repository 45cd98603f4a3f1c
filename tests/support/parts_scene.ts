// Arrays in parts for tests: devices whose transfers cross all borders of the engine, and what each
// part must hold.

import type { DriverApi } from "../../ffi/cuda.ts";
import { CudaDevice } from "../../src/device/device.ts";
import type { DeviceList } from "../../src/device/device_list.ts";
import { allocateBits, type DType, type HostArray } from "../../src/dtype.ts";
import { adoptEngine } from "../../src/transfer/context_engine.ts";
import { TransferEngine } from "../../src/transfer/engine.ts";
import type { EngineLimits } from "../../src/transfer/ways.ts";
import { checkNothingLeftOn, driverFor } from "./group_scene.ts";
import { TINY_LIMITS } from "./tiny_engine.ts";

/** Runs a test on so many devices, and fails when it leaves anything live on one of them. */
export async function withDevices(
  count: number,
  body: (gpus: DeviceList<CudaDevice>, stack: DisposableStack) => unknown,
  { driver = driverFor(count), limits }: {
    readonly driver?: DriverApi;
    readonly limits?: EngineLimits;
  } = {},
): Promise<void> {
  const ordinals = Array.from({ length: count }, (_, ordinal) => ordinal);
  using gpus = CudaDevice.openMany(ordinals, { driver });
  if (limits !== undefined) {
    for (const { context } of gpus) {
      adoptEngine(context, new TransferEngine(context, limits));
    }
  }
  await checkNothingLeftOn(gpus, async () => {
    using stack = new DisposableStack();
    await body(gpus, stack);
  });
}

/** Limits by which everything of more than 4 KiB goes through slots of 4 KiB. */
export const SMALL_SLOTS: EngineLimits = {
  ...TINY_LIMITS,
  laneCount: 3,
  sharedLaneCount: 3,
  ringFromBytes: 4096,
};

/** Makes an array whose elements differ from their neighbours, bit for bit. */
export function countingBits(dtype: DType, length: number): HostArray {
  if (dtype === "bool") return Uint8Array.from({ length }, (_, at) => at % 3 % 2);
  const bits = allocateBits<DType>(dtype, length);
  const bytes = new Uint8Array(bits.buffer);
  for (let at = 0; at < bytes.length; at++) bytes[at] = (at * 7 + (at >> 8)) % 120; // no NaN
  return bits;
}

/** Returns the elements of an array that lie from `start` to `end` along an axis, one by one. */
export function elementsOf(
  array: HostArray,
  { shape, axis, start, end }: {
    readonly shape: readonly number[];
    readonly axis: number;
    readonly start: number;
    readonly end: number;
  },
): HostArray {
  const product = (sizes: readonly number[]) => sizes.reduce((a, b) => a * b, 1);
  const [outer, inner] = [product(shape.slice(0, axis)), product(shape.slice(axis + 1))];
  const rowLength = (shape[axis] ?? 0) * inner;
  const partLength = (end - start) * inner;
  const whole = array as Uint8Array;
  const part = whole.slice(0, outer * partLength);
  for (let row = 0; row < outer; row++) {
    const at = row * rowLength + start * inner;
    part.set(whole.subarray(at, at + partLength), row * partLength);
  }
  return part;
}

/** Returns the bytes of an array. */
export function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** Returns a device of a list; throws when there is none at that place. */
export function deviceAt(gpus: DeviceList<CudaDevice>, index: number): CudaDevice {
  const gpu = gpus.at(index);
  if (gpu === undefined) throw new RangeError(`There is no device ${index}`);
  return gpu;
}
