// A device's memory by use: free, held by this program, kept for reuse, held by others.

import type { Context } from "../driver/context.ts";
import { comesFrom, Parts, partsOf } from "../words/parts.ts";
import { otherBytesOf } from "../words/shortage.ts";

/** A device's memory by use, in bytes: free + live + cached + other is the total. */
export class DeviceMemory {
  /** Free for all programs; where `isSystemMemory`, the bytes that the system can give without swap. */
  declare readonly freeBytes: number;
  /** All memory of the device. */
  declare readonly totalBytes: number;
  /** Held by this program's live buffers on the device. */
  declare readonly liveBytes: number;
  /** Kept for reuse by caches, pools and graphs, or because queued work still uses it. */
  declare readonly cachedBytes: number;
  /** Held by other programs and by the context itself, and lost to rounding up block sizes. */
  declare readonly otherBytes: number;
  /** Largest amount that live buffers on the device held at once. */
  declare readonly peakBytes: number;
  /** Largest amount that `gpu.limit()` allows; undefined without a limit. */
  declare readonly limitBytes: number | undefined;
  /** Page-locked, mapped and registered host memory, live or kept for transfers. */
  declare readonly hostBytes: number;
  /**
   * The device takes the system's memory, as integrated GPUs do. The driver then counts the page
   * cache as used, so `freeBytes` is the system's own amount (MemAvailable).
   */
  declare readonly isSystemMemory: boolean;

  /** @ignore Takes over values. */
  constructor(parts: Parts<DeviceMemory>) {
    Object.assign(this, partsOf(parts, new.target));
  }
}

comesFrom(DeviceMemory, "gpu.memory");

/** Reads the current amounts (cuMemGetInfo, or the system's MemAvailable). */
export function readDeviceMemory(context: Context): DeviceMemory {
  const { ledger, totalBytes } = context;
  const { currentBytes, peakBytes } = ledger.device;
  const liveBytes = currentBytes - ledger.asleepBytes;
  const { limitBytes } = ledger;
  const freeBytes = context.freeBytes();
  const cachedBytes = ledger.cachedBytes("device");
  const hostBytes = ledger.host.currentBytes + ledger.cachedBytes("host");
  const amounts = { freeBytes, totalBytes, liveBytes, cachedBytes };
  const otherBytes = otherBytesOf(amounts);
  const isSystemMemory = context.sharesSystemMemory;
  return new DeviceMemory(
    new Parts({ ...amounts, otherBytes, peakBytes, limitBytes, hostBytes, isSystemMemory }),
  );
}
