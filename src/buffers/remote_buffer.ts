// Buffers whose elements the CPU reaches only by transfers.

import type { DType, HostValue, ScalarOf } from "../dtype.ts";
import type { TransferChoice } from "../transfer/transfer_choice.ts";
import { GpuBuffer, type Uploadable } from "./gpu_buffer.ts";
import type { HostValues } from "./host_values.ts";
import { setElements } from "./set_elements.ts";

/** Typed memory on the GPU: the base class of device, growable, staged and lazy memory. */
export abstract class RemoteBuffer<D extends DType = DType> extends GpuBuffer<D> {
  /**
   * Copies host values into the elements from `offset` on, by TypedArray.set's rules: a typed array of
   * the element type, or plain numbers. Resolves when they are there.
   *
   * @throws RangeError when they do not fit in, also a number that the element type does not hold.
   * @throws TypeError for an array of another type.
   *
   * @example
   * ```ts
   * import { CudaDevice } from "vramkit";
   *
   * using gpu = CudaDevice.open(0, { driver: "auto" });
   * using x = gpu.zeros("int32", 5);
   * await x.set([7, 8], 2);
   * console.log(await x.download()); // Int32Array(5) [0, 0, 7, 8, 0]
   * ```
   */
  async set(
    source: Uploadable<D> | HostValues<ScalarOf<D> | HostValue<D>>,
    offset: number = 0,
    options: TransferChoice = {},
  ): Promise<this> {
    await setElements(this, { source, offset }, options);
    return this;
  }
}
