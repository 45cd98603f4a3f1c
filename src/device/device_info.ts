// What a device is. Read once when it is opened, except its bus, which is asked for when wanted.

import type { DriverApi } from "../../ffi/cuda.ts";
import { readCString } from "../../ffi/pointers.ts";
import type { Context } from "../context.ts";
import { isRefusal } from "../errors.ts";
import { type Bus, readBus } from "../measure/bus.ts";

/** A device's name, size and abilities. */
export class DeviceInfo {
  /** Its name, such as `"NVIDIA H200"`. */
  readonly name: string;
  /** Its identity across reboots, as `GPU-…`. */
  readonly uuid: string;
  /** Its architecture, such as `"9.0"`. */
  readonly computeCapability: string;
  /** Its address on the PCI bus, such as `"0000:61:00.0"`. */
  readonly pciBusId: string;
  /** Its memory in bytes. */
  readonly totalBytes: number;
  /** How many copy engines it has: with two or more, copies both ways overlap. */
  readonly copyEngineCount: number;
  readonly #driver: DriverApi;
  #bus: Bus | undefined;

  /** Reads what the driver says about a device. */
  constructor(context: Context) {
    const { driver, deviceHandle } = context;
    const text = new Uint8Array(256);
    driver.call("cuDeviceGetName", text, text.length, deviceHandle);
    this.name = readCString(text);
    const status = driver.status("cuDeviceGetPCIBusId", text, text.length, deviceHandle);
    if (!isRefusal(status)) driver.check(status, "cuDeviceGetPCIBusId");
    this.pciBusId = isRefusal(status) ? "" : readCString(text);
    const uuid = new Uint8Array(16);
    driver.call("cuDeviceGetUuid_v2", uuid, deviceHandle);
    this.uuid = formatUuid(uuid);
    const major = context.attribute("CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR");
    const minor = context.attribute("CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR");
    this.computeCapability = `${major}.${minor}`;
    this.copyEngineCount = context.attribute("CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT");
    this.totalBytes = context.totalBytes;
    this.#driver = driver.api;
  }

  /** Its link to the host; asked of NVIDIA's management library the first time. */
  get bus(): Bus {
    return this.#bus ??= readBus(this.#driver, this);
  }
}

function formatUuid(bytes: Uint8Array): string {
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const parts = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20)];
  return `GPU-${parts.join("-")}-${hex.slice(20)}`;
}
