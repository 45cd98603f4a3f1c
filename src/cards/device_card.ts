// The card of a device: what it is, what its memory is used for, and how fast its bus can be.

import { formatBytes, formatCount, formatSpeed } from "../format.ts";
import type { Card, CardPart } from "./card.ts";
import { type MemoryAmounts, memoryBar } from "./memory_bar.ts";

/** What a device's memory is used for, and was, in bytes. */
export interface DeviceAmounts extends MemoryAmounts {
  /** All there is. */
  readonly totalBytes: number;
  /** The most that live buffers held at once. */
  readonly peakBytes: number;
  /** The most that they may hold; undefined without a limit. */
  readonly limitBytes: number | undefined;
  /** Page-locked, mapped and registered host memory. */
  readonly hostBytes: number;
}

/** What the card of a device shows. */
export interface DeviceFacts {
  /** Its name. */
  readonly name: string;
  /** Its number, counted from 0. */
  readonly ordinal: number;
  /** Its architecture, such as `"9.0"`. */
  readonly computeCapability: string;
  /** Its address on the PCI bus; empty when there is none. */
  readonly pciBusId: string;
  /** How many copy engines it has. */
  readonly copyEngineCount: number;
  /** Its bus, and the GB/s that the bus allows one way; null when unknown. */
  readonly bus: { readonly name: string; readonly theoreticalGigabytesPerSecond: number | null };
  /** The CUDA version that the driver supports. */
  readonly driverVersion: string;
  /** How many objects are alive on it. */
  readonly liveCount: number;
  /** What its memory is used for; undefined once it was disposed. */
  readonly memory: DeviceAmounts | undefined;
}

/** Makes the card of a device. */
export function deviceCard(facts: DeviceFacts): Card {
  const { name, ordinal, computeCapability, memory } = facts;
  const what = `device ${ordinal}, compute capability ${computeCapability}`;
  return {
    title: name,
    kind: "CudaDevice",
    state: memory === undefined ? "disposed" : undefined,
    summary: memory === undefined
      ? what
      : `${what}, ${formatBytes(memory.freeBytes)} of ${formatBytes(memory.totalBytes)} free`,
    parts: memory === undefined ? [] : [memoryBar(memory), deviceFacts(facts, memory)],
  };
}

function deviceFacts(facts: DeviceFacts, memory: DeviceAmounts): CardPart {
  const { bus, pciBusId, copyEngineCount, driverVersion, liveCount } = facts;
  const { peakBytes, limitBytes, hostBytes } = memory;
  const roof = bus.theoreticalGigabytesPerSecond;
  return {
    type: "facts",
    facts: [
      ["bus", roof === null ? bus.name : `${bus.name}, at most ${formatSpeed(roof)} one way`],
      ["driver", `CUDA ${driverVersion}`],
      ["live", formatCount(liveCount, "object")],
      ["peak", formatBytes(peakBytes)],
      ...(limitBytes === undefined ? [] : [["limit", formatBytes(limitBytes)] as const]),
      ["host memory", formatBytes(hostBytes)],
      ["copy engines", String(copyEngineCount)],
      ...(pciBusId === "" ? [] : [["PCI", pciBusId] as const]),
    ],
  };
}
