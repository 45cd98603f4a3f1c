// Groups for tests: devices of the suite's driver, arrays of any element type, and the check that nothing
// is left on any of the devices.

import { assertEquals } from "@std/assert";
import type { DriverApi } from "../../ffi/cuda.ts";
import { openNccl } from "../../src/group/nccl.ts";
import { simulateDriver } from "../../ffi/simulated/driver.ts";
import type { GpuBuffer } from "../../src/buffers/gpu_buffer.ts";
import { CudaDevice } from "../../src/device/device.ts";
import type { DeviceList } from "../../src/device/device_list.ts";
import { allocateBits, type DType, type HostArray, toBfloat16 } from "../../src/dtype.ts";
import type { DeviceGroup } from "../../src/group/device_group.ts";
import { ON_GPU, testDriver } from "./driver.ts";
import { testUnless } from "./test_unless.ts";
import { CaughtWarnings } from "./warnings.ts";
import { freeBytes, liveNames } from "./with_device.ts";

/** Ranks of the groups that contracts are held on: all of a machine's GPUs, or simulated ones. */
export const GROUP_SIZES: readonly number[] = ON_GPU
  ? [...new Set([1, CudaDevice.count()])]
  : [1, 2, 3, 8];

/** The largest of these groups. */
export const MAX_RANKS: number = Math.max(...GROUP_SIZES);

/** The group that a test works with. */
export interface GroupScene {
  readonly gpus: DeviceList<CudaDevice>;
  readonly group: DeviceGroup;
}

/** A test on a group; the stack is disposed before the group. */
export type GroupBody = (scene: GroupScene, stack: DisposableStack) => unknown;

/** Memory that NCCL and the driver keep once they were used. */
const OWN_BYTES = ON_GPU ? 1 << 30 : 0;

/** Returns a driver with so many devices. */
export function driverFor(size: number): DriverApi {
  return ON_GPU ? testDriver() : simulateDriver({ devices: size });
}

/** Registers a test that needs NCCL, and so many GPUs; otherwise the name says why it is ignored. */
export function testWithNccl(name: string, fn: () => void | Promise<void>, gpuCount = 1): void {
  const reason = gpuCount > MAX_RANKS ? `needs ${gpuCount} GPUs` : whyWithoutNccl();
  testUnless(name, reason, fn);
}

/** Registers a test on a group, of all ranks that tests have unless a size is given; it needs NCCL. */
export function testOnGroup(name: string, body: GroupBody, size: number = MAX_RANKS): void {
  testWithNccl(name, () => withGroup(size, body), size);
}

/** Makes a group, runs a test on it, and fails when the test leaves anything live on a device. */
export async function withGroup(
  size: number,
  body: GroupBody,
  driver: DriverApi = driverFor(size),
): Promise<void> {
  using gpus = CudaDevice.openMany(Array.from({ length: size }, (_, rank) => rank), { driver });
  await checkNothingLeftOn(gpus, async () => {
    await using group = await gpus.group();
    using stack = new DisposableStack();
    await body({ gpus, group }, stack);
  });
}

/** Fails when `body` leaves anything live on one of the devices, takes memory, or is warned. */
export async function checkNothingLeftOn(
  gpus: DeviceList<CudaDevice>,
  body: () => unknown,
): Promise<void> {
  const before = gpus.map((gpu) => ({ names: liveNames(gpu), bytes: freeBytes(gpu) }));
  using warnings = new CaughtWarnings();
  await body();
  for (const [rank, gpu] of [...gpus].entries()) {
    assertEquals(liveNames(gpu), before[rank]?.names, `something is live on device ${rank}`);
    const lost = (before[rank]?.bytes ?? 0) - freeBytes(gpu);
    assertEquals(lost > OWN_BYTES ? lost : 0, 0, `memory is missing on device ${rank}`);
  }
  assertEquals(warnings.texts, [], "the test was warned");
}

/** Makes the bits of numbers in an element type. */
export function bitsOf(dtype: DType, numbers: readonly number[]): HostArray {
  if (dtype === "bfloat16") return toBfloat16(numbers);
  const array = allocateBits(dtype, numbers.length);
  for (const [at, number] of numbers.entries()) {
    array[at] = array instanceof BigInt64Array || array instanceof BigUint64Array
      ? BigInt(number)
      : number;
  }
  return array;
}

/** Uploads the numbers of each rank to its device; the stack disposes the buffers. */
export async function uploadAll(
  { gpus }: GroupScene,
  stack: DisposableStack,
  { dtype, values }: { readonly dtype: DType; readonly values: readonly (readonly number[])[] },
): Promise<GpuBuffer[]> {
  return await Promise.all(gpus.map(async (gpu, rank) => {
    const buffer = stack.use(gpu.alloc(dtype, values[rank]?.length ?? 0));
    await buffer.upload(bitsOf(dtype, values[rank] ?? []).buffer);
    return buffer;
  }));
}

/** Downloads the numbers of each buffer. */
export async function downloadAll(buffers: readonly GpuBuffer[]): Promise<number[][]> {
  return await Promise.all(
    buffers.map(async (buffer) => Array.from(await buffer.download(), Number)),
  );
}

function whyWithoutNccl(): string | undefined {
  if (!ON_GPU) return undefined;
  try {
    openNccl(testDriver());
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
