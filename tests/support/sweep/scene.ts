// What a step of the failure sweep works with: two devices of one driver, and a folder for files.

import type { DriverApi } from "../../../ffi/cuda.ts";
import { CudaDevice } from "../../../src/device/device.ts";

/** A small part of a program, which leaves nothing live. */
export interface Step {
  readonly name: string;
  /** Whether it opens the devices itself. */
  readonly opens?: boolean;
  /** Does it, and throws unless the results are right. */
  readonly run: (scene: Scene) => unknown;
}

/** Small transfers go through threads and page-locked slots from this size on. */
const TRANSFERS = { ringSize: "8 MiB", laneCount: 7, ringFromSize: "4 MiB" } as const;

/** The devices of one run of a step, opened when it asks for them. */
export class Scene {
  readonly driver: DriverApi;
  /** A folder for the step's files. */
  readonly folder: string;
  readonly #devices: CudaDevice[] = [];

  constructor(driver: DriverApi, folder: string) {
    this.driver = driver;
    this.folder = folder;
  }

  /** The first device. */
  get gpu(): CudaDevice {
    return this.#device(0);
  }

  /** The second device. */
  get other(): CudaDevice {
    return this.#device(1);
  }

  /** Opens a device of the scene's driver once more, which the caller disposes. */
  open(ordinal = 0): CudaDevice {
    return CudaDevice.open(ordinal, { driver: this.driver, origins: "none" });
  }

  /** The devices that are open. */
  get devices(): readonly CudaDevice[] {
    return this.#devices.filter((device) => device !== undefined);
  }

  close(): void {
    for (const device of this.devices) device.dispose();
  }

  #device(ordinal: number): CudaDevice {
    const { driver } = this;
    const options = { driver, origins: "none", transfers: TRANSFERS } as const;
    return this.#devices[ordinal] ??= CudaDevice.open(ordinal, options);
  }
}
