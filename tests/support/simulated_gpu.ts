// A simulated driver with a current context, and the few calls that its tests make all the time.
// The tests of the simulator work below src/, on the driver's own functions.

import { assertEquals } from "@std/assert";
import type { DriverApi } from "../../ffi/cuda.ts";
import { driverOf, simulateDriver, type SimulationOptions } from "../../ffi/simulated/driver.ts";
import { Machine } from "../../ffi/simulated/model/machine.ts";

/** Every driver function, with the ones that older drivers lack present. */
export type CompleteApi = { [Name in keyof DriverApi]: NonNullable<DriverApi[Name]> };

/** PTX without any code: the simulated driver finds kernels by their names. */
export const EMPTY_PTX: Uint8Array<ArrayBuffer> = new TextEncoder().encode(
  ".version 8.0\n.target sm_90\n\0",
);

/** Opens a simulated driver and makes the context of a device current. */
export class SimulatedGpu {
  readonly api: CompleteApi;
  readonly context: bigint;

  /** Retains the primary context of device 0. */
  constructor(options: SimulationOptions | Machine = {}) {
    const api = options instanceof Machine ? driverOf(options) : simulateDriver(options);
    // A driver of the newest version has every function.
    this.api = api as CompleteApi;
    assertEquals(this.api.cuInit(0), 0);
    this.context = this.retain(0);
    assertEquals(this.api.cuCtxSetCurrent(this.context), 0);
  }

  retain(ordinal: number): bigint {
    return out((cell) => this.api.cuDevicePrimaryCtxRetain(cell, ordinal));
  }

  alloc(byteLength: number): bigint {
    return out((cell) => this.api.cuMemAlloc_v2(cell, BigInt(byteLength)));
  }

  /** Allocates device memory in the order of a stream. */
  allocAsync(byteLength: number, stream = 0n): bigint {
    return out((cell) => this.api.cuMemAllocAsync(cell, BigInt(byteLength), stream));
  }

  /** Allocates page-locked memory and an array over it. */
  pinned(byteLength: number): { address: bigint; bytes: Uint8Array<ArrayBuffer> } {
    const address = out((cell) => this.api.cuMemHostAlloc(cell, BigInt(byteLength), 0));
    return { address, bytes: bytesAt(address, byteLength) };
  }

  /** Creates a stream that ignores the default stream. */
  stream(flags = 1): bigint {
    return out((cell) => this.api.cuStreamCreateWithPriority(cell, flags, 0));
  }

  event(flags = 0): bigint {
    return out((cell) => this.api.cuEventCreate(cell, flags));
  }

  /** Loads a module, and finds a kernel in it. */
  load(name: string): { module: bigint; kernel: bigint } {
    const module = out((cell) => this.api.cuModuleLoadData(cell, EMPTY_PTX));
    const text = new TextEncoder().encode(`${name}\0`);
    return { module, kernel: out((cell) => this.api.cuModuleGetFunction(cell, module, text)) };
  }

  /** Reads device memory into a new array, waiting for it. */
  read(address: bigint, byteLength: number): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(byteLength);
    assertEquals(this.api.cuMemcpyDtoHAsync_v2(bytes, address, BigInt(byteLength), 0n), 0);
    return bytes;
  }

  /** Writes an array to device memory, waiting for it. */
  write(address: bigint, bytes: Uint8Array): void {
    assertEquals(this.api.cuMemcpyHtoDAsync_v2(address, bytes, BigInt(bytes.byteLength), 0n), 0);
    assertEquals(this.api.cuCtxSynchronize(), 0);
  }

  /** Returns the current device's free memory. */
  freeBytes(): number {
    return Number(out((cell) => this.api.cuMemGetInfo_v2(cell, new BigUint64Array(1))));
  }
}

/** Registers a test on a simulated driver of its own. */
export function testSimulated(name: string, body: (gpu: SimulatedGpu) => unknown): void {
  Deno.test(name, async () => void await body(new SimulatedGpu()));
}

/** Calls a function with a 64-bit out-cell, asserts success, and returns what it wrote. */
export function out(call: (cell: BigUint64Array<ArrayBuffer>) => number): bigint {
  const cell = new BigUint64Array(1);
  assertEquals(call(cell), 0);
  return cell[0] ?? 0n;
}

/** Returns the bytes at a real host address. */
export function bytesAt(address: bigint, byteLength: number): Uint8Array<ArrayBuffer> {
  const pointer = Deno.UnsafePointer.create(address);
  if (pointer === null) throw new RangeError("Cannot look at host memory: the address is 0");
  return new Uint8Array(Deno.UnsafePointerView.getArrayBuffer(pointer, byteLength));
}
