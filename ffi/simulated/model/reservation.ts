// Virtual memory: reserved addresses, physical memory, and the mappings that join them.
// A device can touch a mapping only when it was given access.

import { CUmemAccess_flags } from "../../constants.ts";
import { AddressMap, type Ranged } from "./address_map.ts";
import type { Context } from "./context.ts";
import type { Device } from "./device.ts";
import { DeviceStorage } from "./device_storage.ts";
import type { Owner } from "./region.ts";
import type { SharedBytes } from "./shared_bytes.ts";

/** Physical memory without an address; it lives until released and unmapped. */
export class PhysicalMemory {
  readonly device: Device;
  readonly byteLength: number;
  readonly storage: DeviceStorage;
  /** It can go to other processes by a descriptor. */
  readonly isExportable: boolean;
  /** The bytes behind its descriptors; undefined until it is exported. */
  shared: SharedBytes | undefined;
  #holderCount = 1;

  /** Takes memory from a device, or adopts what a descriptor stands for. */
  constructor(device: Device, size: number | SharedBytes, { isExportable = true } = {}) {
    this.device = device;
    this.isExportable = isExportable;
    if (typeof size === "number") {
      device.charge(size);
      this.byteLength = size;
      this.storage = new DeviceStorage(size, { isOpenToOthers: isExportable });
      return;
    }
    this.shared = size;
    this.byteLength = size.facts.byteLength;
    this.storage = DeviceStorage.over(size.bytes);
    device.usedBytes += this.byteLength; // it exists already, whatever is free
  }

  /** Adds a holder: a mapping. */
  retain(): void {
    this.#holderCount++;
  }

  /** Removes a holder, a mapping or a handle; returns whether it was the last. */
  release(): boolean {
    this.#holderCount--;
    if (this.#holderCount > 0) return false;
    this.device.discharge(this.byteLength);
    this.shared?.close();
    return true;
  }
}

/** Physical memory at an address. */
export class Mapping implements Ranged, Owner {
  readonly address: number;
  readonly byteLength: number;
  readonly physical: PhysicalMemory;
  readonly access: Map<number, number> = new Map();
  readonly label = "virtual memory";
  /** Number that no other block of the machine has. */
  readonly id: number;

  /** Maps the first bytes of physical memory. */
  constructor(place: Ranged, { physical, id }: { physical: PhysicalMemory; id: number }) {
    this.address = place.address;
    this.byteLength = place.byteLength;
    this.physical = physical;
    this.id = id;
    physical.retain();
  }

  permits(context: Context, write: boolean): boolean {
    const rights = this.access.get(context.device.ordinal) ?? 0;
    const needed = write
      ? CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
      : CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READ;
    return (rights & needed) === needed;
  }
}

/** Addresses that nothing else will get. */
export class Reservation implements Ranged {
  readonly address: number;
  readonly byteLength: number;
  readonly mappings: AddressMap<Mapping> = new AddressMap();
  /** Changes whenever memory is mapped or unmapped. */
  version = 0;

  constructor(place: Ranged) {
    this.address = place.address;
    this.byteLength = place.byteLength;
  }

  /** Lists the mappings that fill a range without a gap; undefined when there is one. */
  mappingsOf(address: number, byteLength: number): Mapping[] | undefined {
    const found: Mapping[] = [];
    for (let at = address; at < address + byteLength;) {
      const mapping = this.mappings.at(at);
      if (mapping === undefined) return undefined;
      found.push(mapping);
      at = mapping.address + mapping.byteLength;
    }
    return found;
  }
}
