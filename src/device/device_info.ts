// Properties of a device, read once when it is opened; its bus is read on first use.

import { visibleText } from "../words/format.ts";
import { readCString } from "../../ffi/c_strings.ts";
import type { DriverApi } from "../../ffi/cuda.ts";
import type { Context } from "../driver/context.ts";
import { deviceUuid } from "../driver/device_uuid.ts";
import { type Bus, readBus } from "../measure/bus.ts";
import { isRefusal } from "../words/errors.ts";
import { comesFrom, type Parts, partsOf } from "../words/parts.ts";

/** A device's name, size and abilities. */
export class DeviceInfo {
  /** The device's name, such as `"NVIDIA H200"`. */
  readonly name: string;
  /** The device's identity, stable across reboots, as `GPU-…`. */
  readonly uuid: string;
  /** Compute capability, such as `"9.0"`. */
  readonly computeCapability: string;
  /** Address on the PCI bus, such as `"0000:61:00.0"`. */
  readonly pciBusId: string;
  /** The device's memory in bytes. */
  readonly totalBytes: number;
  /** Number of copy engines: with two or more, copies in both directions overlap. */
  readonly copyEngineCount: number;
  readonly #driver: DriverApi;
  readonly #whySimulated: string | undefined;
  #bus: Bus | undefined;

  /** @ignore Reads the properties from the driver. */
  constructor(
    parts: Parts<{ readonly context: Context; readonly whySimulated?: string | undefined }>,
  ) {
    const { context, whySimulated } = partsOf(parts, new.target);
    this.#whySimulated = whySimulated;
    const { driver, deviceHandle } = context;
    const text = new Uint8Array(256);
    driver.call("cuDeviceGetName", text, text.length, deviceHandle);
    this.name = visibleText(readCString(text));
    const status = driver.status("cuDeviceGetPCIBusId", text, text.length, deviceHandle);
    if (!isRefusal(status)) driver.check(status, "cuDeviceGetPCIBusId");
    this.pciBusId = isRefusal(status) ? "" : readCString(text);
    this.uuid = deviceUuid(context);
    const major = context.attribute("CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR");
    const minor = context.attribute("CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR");
    this.computeCapability = `${major}.${minor}`;
    this.copyEngineCount = context.attribute("CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT");
    this.totalBytes = context.totalBytes;
    this.#driver = driver.api;
  }

  /**
   * The reason why `{ driver: "auto" }` took the simulated driver; undefined for a GPU, and where the
   * program asked for the simulated one. There is a warning as well where a GPU seems to be there and
   * cannot be used.
   */
  get whySimulated(): string | undefined {
    return this.#whySimulated;
  }

  /** Link to the host; read from NVIDIA's management library (NVML) on first use. */
  get bus(): Bus {
    return this.#bus ??= readBus(this.#driver, this);
  }

  /** Returns the properties as plain data, with the bus. */
  toJSON(): Omit<DeviceInfo, "toJSON"> {
    return { ...this, bus: this.bus, whySimulated: this.whySimulated };
  }
}

comesFrom(DeviceInfo, "gpu.info");
