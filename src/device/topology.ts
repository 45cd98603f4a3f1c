// The links between the devices of a list, as the driver and NVIDIA's management library tell them.

import { CUdevice_attribute, CUdevice_P2PAttribute as P2P } from "../../ffi/constants.ts";
import type { Context } from "../driver/context.ts";
import { deviceUuid } from "../driver/device_uuid.ts";
import { take32 } from "../driver/driver.ts";
import { findNvmlDevice, type LinkPath, NvmlDevice } from "../driver/nvml.ts";
import { isRefusal } from "../words/errors.ts";
import { formatCount } from "../words/format.ts";
import { comesFrom, type Parts, partsOf } from "../words/parts.ts";

/** The part of a device that its links are read from. */
interface Linked {
  readonly context: Context;
  readonly ordinal: number;
  readonly name: string;
}

/** A device of a {@link Topology}. */
export interface TopologyDevice {
  /** The device's number, counted from 0. */
  readonly ordinal: number;
  /** The device's name. */
  readonly name: string;
  /** The NUMA node of the host that is next to it; undefined where the driver does not say. */
  readonly numaNode: number | undefined;
  /** Number of its NVLinks that are up, to whatever; undefined where it cannot have any. */
  readonly nvlinkCount: number | undefined;
}

/** The link from one device to another. */
export interface DeviceLink {
  /** The number of the device that reads and writes. */
  readonly from: number;
  /** The number of the device whose memory is read and written. */
  readonly to: number;
  /** Copies and kernels can reach that memory; if not, the driver copies through the host. */
  readonly peerAccess: boolean;
  /** All atomic operations work over the link. */
  readonly atomics: boolean;
  /** The driver's order of links by speed: 0 is the fastest. */
  readonly performanceRank: number;
  /** The way that the link takes; undefined where the system does not say. */
  readonly path: LinkPath | undefined;
}

/**
 * The links between the devices of a {@link DeviceList}, read once.
 *
 * @example
 * ```ts
 * import { CudaDevice } from "vramkit";
 *
 * using gpus = CudaDevice.openMany([0, 1], { driver: "simulated" });
 * const { links } = gpus.topology();
 * console.log(links[0]?.[1]?.peerAccess); // true
 * ```
 */
export class Topology {
  /** The devices, in the order of the list. */
  readonly devices: readonly TopologyDevice[];
  /** The links, by the places of both devices in the list; undefined from a device to itself. */
  readonly links: readonly (readonly (DeviceLink | undefined)[])[];

  /** @ignore Reads the links of devices. */
  constructor(parts: Parts<readonly Linked[]>) {
    const gpus = partsOf(parts, new.target);
    const found = gpus.map(({ context }) => nvmlOf(context));
    this.devices = gpus.map(({ context, ordinal, name }, rank) => ({
      ordinal,
      name,
      numaNode: numaNodeOf(context),
      nvlinkCount: found[rank]?.nvlinkCount,
    }));
    this.links = gpus.map((from, i) =>
      gpus.map((to, j) => {
        if (i === j) return undefined;
        const [here, there] = [found[i], found[j]];
        const path = here === undefined || there === undefined ? undefined : here.pathTo(there);
        return linkOf(from, to, path);
      })
    );
  }

  /** Returns the topology's name for messages: `Topology(2 devices)`. */
  toString(): string {
    return `Topology(${formatCount(this.devices.length, "device")})`;
  }
}

comesFrom(Topology, "gpus.topology()");

function linkOf(from: Linked, to: Linked, path: LinkPath | undefined): DeviceLink {
  const ask = (attribute: keyof typeof P2P) =>
    take32(
      from.context.driver,
      "cuDeviceGetP2PAttribute",
      P2P[attribute],
      from.context.deviceHandle,
      to.context.deviceHandle,
    );
  return {
    from: from.ordinal,
    to: to.ordinal,
    peerAccess: ask("CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED") === 1,
    atomics: ask("CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED") === 1,
    performanceRank: ask("CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK"),
    path,
  };
}

function nvmlOf(context: Context): NvmlDevice | undefined {
  const identity = { uuid: deviceUuid(context), pciBusId: "" };
  const found = findNvmlDevice(context.driver.api, identity);
  return found instanceof NvmlDevice ? found : undefined;
}

/** Older drivers do not know the attribute, and -1 says that the system has no nodes. */
function numaNodeOf({ driver, deviceHandle }: Context): number | undefined {
  const cell = new Int32Array(1);
  const attribute = CUdevice_attribute.CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID;
  const status = driver.status("cuDeviceGetAttribute", cell, attribute, deviceHandle);
  if (isRefusal(status)) return undefined;
  driver.check(status, "cuDeviceGetAttribute");
  return cell[0] === -1 ? undefined : cell[0];
}
