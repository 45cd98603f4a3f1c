// What a notebook shows of a device: what it is, and what its memory is used for right now.

import { type DisplayBundle, showCard } from "../cards/card.ts";
import { deviceCard } from "../cards/device_card.ts";
import type { Context } from "../context.ts";
import type { DeviceInfo } from "./device_info.ts";
import { readDeviceMemory } from "./device_memory.ts";

/** Shows a device in a notebook; a disposed one has no memory to show. */
export function showDevice(
  info: DeviceInfo,
  device: { readonly context: Context; readonly disposed: boolean },
): DisplayBundle {
  const { context, disposed } = device;
  return showCard(() =>
    deviceCard({
      name: info.name,
      ordinal: context.ordinal,
      computeCapability: info.computeCapability,
      pciBusId: info.pciBusId,
      copyEngineCount: info.copyEngineCount,
      bus: info.bus,
      driverVersion: context.driver.version,
      liveCount: context.ledger.length,
      memory: disposed ? undefined : readDeviceMemory(context),
    })
  );
}
