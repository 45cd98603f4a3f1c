// Device memory in rows that start where the hardware reads them best.

import { takePair } from "../driver/driver.ts";
import { requireBytes } from "./base_memory_resource.ts";
import { CudaMemoryResource } from "./cuda_memory_resource.ts";

/** Rows to allocate. */
export interface PitchedRequest {
  readonly widthBytes: number;
  readonly rowCount: number;
  /** Bytes that one thread of a kernel reads at once. */
  readonly elementBytes: number;
}

/** Device memory whose rows the driver pads (cuMemAllocPitch). */
export class PitchedMemoryResource extends CudaMemoryResource {
  /** @ignore Allocates rows now, whatever the streams have queued. */
  allocateRows(request: PitchedRequest): { address: bigint; pitchBytes: number } {
    const { widthBytes, rowCount, elementBytes } = request;
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
