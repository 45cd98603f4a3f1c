// Device memory in rows that start where the hardware reads them best.

import type { Context } from "../context.ts";
import { contextOf, type ContextOwner, type MemoryResource } from "./memory_resource.ts";
import { describeResource } from "./describe_resource.ts";

/** Rows to allocate. */
export interface PitchedRequest {
  /** Bytes of a row that are used. */
  readonly widthBytes: number;
  /** How many rows. */
  readonly rowCount: number;
  /** Bytes that one thread of a kernel reads at once. */
  readonly elementBytes: number;
}

/** Device memory whose rows the driver pads (cuMemAllocPitch). */
export class PitchedMemoryResource implements MemoryResource {
  readonly context: Context;
  readonly isDeviceAccessible = true;
  readonly isHostAccessible = false;
  readonly #cell = new BigUint64Array(1);

  /** Takes memory from a device. */
  constructor(owner: ContextOwner) {
    this.context = contextOf(owner, "make a PitchedMemoryResource of");
  }

  /** Allocates rows now, whatever the streams have queued. */
  allocateRows(request: PitchedRequest): { address: bigint; pitchBytes: number } {
    const { widthBytes, rowCount, elementBytes } = request;
    const pitch = new BigUint64Array(1);
    // The driver takes 4, 8 or 16 bytes; smaller elements are read several at once.
    const readBytes = Math.max(4, elementBytes);
    const [width, height] = [BigInt(widthBytes), BigInt(rowCount)];
    this.context.call("cuMemAllocPitch_v2", this.#cell, pitch, width, height, readBytes);
    return { address: this.#cell[0] ?? 0n, pitchBytes: Number(pitch[0]) };
  }

  /** Allocates one row. */
  allocate(byteLength: number): bigint {
    const row = { widthBytes: byteLength, rowCount: 1, elementBytes: 1 };
    return this.allocateRows(row).address;
  }

  /** Frees once all work of the device that may use the memory is done (cuMemFree waits for it). */
  deallocate(address: bigint): void {
    this.context.giveBack("cuMemFree_v2", address);
  }

  /** Shows the resource on a console. */
  [Symbol.for("Deno.customInspect")](): string {
    return describeResource(this);
  }
}
