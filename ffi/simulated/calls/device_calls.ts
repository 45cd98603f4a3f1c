// Driver calls that start the driver and describe devices, simulated.
// They need no current context.

import { CUdevice_P2PAttribute as P2P, CUresult } from "../../constants.ts";
import { refuse, requireValue } from "../errors.ts";
import { hostAddress } from "../model/address_space.ts";
import { attributesOf, pciBusIdOf, uuidOf } from "../model/device.ts";
import type { Machine } from "../model/machine.ts";
import type { CallGroup } from "./calls.ts";
import { bytesOf, put32, put64, putText } from "./cells.ts";

/** C strings that callers hold pointers to; they live as long as the module. */
const ERROR_TEXTS = new Map(
  Object.entries(CUresult).map(([name, status]) => [
    status as number,
    new TextEncoder().encode(
      `${name.replace(/^CUDA_(ERROR_)?/, "").toLowerCase().replaceAll("_", " ")}\0`,
    ),
  ]),
);

/** The shortest memory for a bus address, such as `0000:01:00.0` with a zero byte. */
const BUS_ID_BYTES = 13;

type DeviceCalls = CallGroup<
  | "cuInit"
  | "cuGetErrorString"
  | "cuDriverGetVersion"
  | "cuDeviceGet"
  | `cuDeviceGet${"Count" | "Name" | "Uuid" | "Attribute" | "PCIBusId" | "DefaultMemPool"}${string}`
  | "cuDeviceTotalMem_v2"
  | "cuDeviceCanAccessPeer"
  | "cuDeviceGetP2PAttribute"
>;

/** Makes the calls for a machine. */
export function deviceCalls(machine: Machine): DeviceCalls {
  const attributes = machine.devices.map(({ ordinal }) => attributesOf(ordinal, machine.settings));
  const isReached = Number(machine.settings.peerAccess);
  const linkAttributes = new Map<number, number>([
    [P2P.CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK, 0],
    [P2P.CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, isReached],
    [P2P.CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED, isReached],
  ]);
  return {
    cuGetErrorString(status, text) {
      const bytes = ERROR_TEXTS.get(status);
      put64(text, bytes === undefined ? 0 : hostAddress(bytes));
      requireValue(bytes !== undefined);
    },
    cuInit(flags) {
      requireValue(flags === 0);
      if (machine.devices.length === 0) refuse("CUDA_ERROR_NO_DEVICE");
      machine.isInitialized = true;
    },
    cuDriverGetVersion(version) {
      put32(version, machine.settings.driverVersion);
    },
    cuDeviceGet(device, ordinal) {
      put32(device, machine.device(ordinal).ordinal);
    },
    cuDeviceGetCount(count) {
      put32(count, machine.devices.length);
    },
    cuDeviceGetName(name, capacity, ordinal) {
      machine.device(ordinal);
      if (capacity < 1) {
        machine.site.fail("endsProcess", `a name needs more than ${capacity} bytes`);
      }
      putText(name, capacity, "Simulated");
    },
    cuDeviceGetUuid_v2(uuid, ordinal) {
      machine.device(ordinal);
      bytesOf(uuid).set(uuidOf(ordinal));
    },
    cuDeviceTotalMem_v2(total, ordinal) {
      put64(total, machine.device(ordinal).memoryBytes);
    },
    cuDeviceGetAttribute(value, attribute, ordinal) {
      machine.device(ordinal);
      put32(value, attributes[ordinal]?.get(attribute) ?? refuse("CUDA_ERROR_INVALID_VALUE"));
    },
    cuDeviceGetPCIBusId(text, capacity, ordinal) {
      const address = pciBusIdOf(machine.device(ordinal).ordinal);
      requireValue(capacity >= BUS_ID_BYTES);
      putText(text, capacity, address);
    },
    cuDeviceCanAccessPeer(canAccess, ordinal, peer) {
      const isOther = machine.device(ordinal) !== machine.device(peer);
      put32(canAccess, Number(isOther && machine.settings.peerAccess));
    },
    cuDeviceGetP2PAttribute(value, attribute, ordinal, peer) {
      if (machine.device(ordinal) === machine.device(peer)) refuse("CUDA_ERROR_INVALID_DEVICE");
      put32(value, linkAttributes.get(attribute) ?? refuse("CUDA_ERROR_INVALID_VALUE"));
    },
    cuDeviceGetDefaultMemPool(pool, ordinal) {
      machine.device(ordinal);
      if (!machine.settings.poolsSupported) refuse("CUDA_ERROR_NOT_SUPPORTED");
      put64(pool, machine.defaultPools[ordinal]?.handle ?? refuse("CUDA_ERROR_INVALID_DEVICE"));
    },
  };
}
