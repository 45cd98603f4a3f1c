// Device memory in rows that start where the hardware reads them best.

import { takePair } from "../driver/driver.ts";
import { requireBytes } from "./base_memory_resource.ts";
import { CudaMemoryResource } from "./cuda_memory_resource.ts";

/** Device memory whose rows the driver pads (cuMemAllocPitch). */
export class PitchedMemoryResource extends CudaMemoryResource {
  /** @ignore Allocates rows now, whatever the streams have queued; a thread reads one element at once. */
  allocateRows(
    { widthBytes, rowCount, elementBytes }: Record<
      "widthBytes" | "rowCount" | "elementBytes",
      number
    >,
  ): { address: bigint; pitchBytes: number } {
    // The driver takes 4, 8 or 16 bytes; smaller elements are read several at once.
    const readBytes = Math.max(4, elementBytes);
    const [width, height] = [BigInt(widthBytes), BigInt(rowCount)];
    const call = "cuMemAllocPitch_v2";
    const [address, pitch] = takePair(this.context, call, width, height, readBytes);
    return { address, pitchBytes: Number(pitch) };
  }

  /** Allocates one row. */
  override allocate(byteLength: number): bigint {
    requireBytes(byteLength);
    const row = { widthBytes: byteLength, rowCount: 1, elementBytes: 1 };
    return this.allocateRows(row).address;
  }
}
