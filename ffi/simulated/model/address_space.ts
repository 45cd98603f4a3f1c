// One address space for the host and all devices. A device address is never used twice, so a
// pointer to freed memory is always recognised.

import { roundUp } from "../../alignment.ts";
import { type CallSite, hex, refuse } from "../errors.ts";
import { AddressMap } from "./address_map.ts";
import { Allocation, type Asker } from "./allocation.ts";
import type { Device } from "./device.ts";
import { HostStorage } from "./host_storage.ts";
import { Region, type Segment } from "./region.ts";
import { type Mapping, Reservation } from "./reservation.ts";

/** Addresses of each device and, before the first one's, of the host. */
const ARENA_BYTES = 2 ** 48;
/** With more devices a number could not hold every address. */
export const MAX_DEVICES: number = 2 ** 53 / ARENA_BYTES - 1;
/** No host address is this high. */
export const HOST_END: number = 2 ** 47;
const ALIGNMENT_BYTES = 256;

export class AddressSpace {
  readonly #site: CallSite;
  /** The host's, and then those of the devices. */
  readonly #arenas: { next: number; readonly entries: AddressMap<Allocation | Reservation> }[];

  constructor(site: CallSite, devices: readonly Device[]) {
    this.#site = site;
    this.#arenas = Array.from(
      { length: devices.length + 1 },
      (_, at) => ({ next: at * ARENA_BYTES, entries: new AddressMap() }),
    );
  }

  /** Picks addresses on a device that were never used. */
  place(
    device: Device,
    byteLength: number,
    alignmentBytes: number = ALIGNMENT_BYTES,
  ): { address: number; byteLength: number } {
    const arena = this.#arenas[device.ordinal + 1] ?? refuse("CUDA_ERROR_INVALID_DEVICE");
    const address = roundUp(arena.next, alignmentBytes);
    if (address + byteLength > (device.ordinal + 2) * ARENA_BYTES) {
      refuse("CUDA_ERROR_OUT_OF_MEMORY");
    }
    arena.next = address + byteLength;
    return { address, byteLength };
  }

  add(entry: Allocation | Reservation): void {
    this.#arenaOf(entry.address)?.entries.add(entry);
  }

  remove(entry: Allocation | Reservation): void {
    if (entry instanceof Allocation) entry.endSharing();
    this.#arenaOf(entry.address)?.entries.delete(entry);
  }

  /** Finds the block that holds an address. */
  at(address: number, asker: Asker = "call"): Allocation | Reservation | undefined {
    const entry = this.#entryAt(address);
    const isAbsent = entry instanceof Allocation && entry.absence(asker) !== undefined;
    return isAbsent ? undefined : entry;
  }

  /** Finds the block that starts at an address. */
  allocationFrom(address: number, asker: Asker = "call"): Allocation | undefined {
    const entry = this.at(address, asker);
    return entry instanceof Allocation && entry.address === address ? entry : undefined;
  }

  /** Finds the block that starts at an address, also one that cannot be used any more. */
  entryFrom(address: number): Allocation | undefined {
    const entry = this.#entryAt(address);
    return entry instanceof Allocation && entry.address === address ? entry : undefined;
  }

  /** Lists what lies in a range: of the host's memory what is page-locked, registered or managed. */
  within(address: number, byteLength: number): (Allocation | Reservation)[] {
    return [...this.#arenaOf(address)?.entries.within(address, byteLength) ?? []];
  }

  *allocations(): Generator<Allocation> {
    for (const { entries } of this.#arenas) {
      for (const entry of entries) if (entry instanceof Allocation) yield entry;
    }
  }

  /** Tells whether a region that was found before is still the same memory. */
  isCurrent({ address, byteLength, segments }: Region): boolean {
    const entry = this.at(address);
    if (!(entry instanceof Reservation)) return segments[0]?.owner === entry;
    const mappings = entry.mappingsOf(address, byteLength);
    return segments.every(({ owner }, index) => mappings?.[index] === owner);
  }

  /** Finds the storage behind a range; throws when the range is not wholly inside live memory. */
  resolve(address: number, byteLength: number, asker: Asker = "call"): Region {
    if (address === 0) refuse("CUDA_ERROR_INVALID_VALUE");
    const entry = this.#entryAt(address);
    if (entry instanceof Reservation) return this.#resolveMapped(entry, address, byteLength);
    if (entry === undefined) return this.#resolveUnknown(address, byteLength);
    const absence = entry.absence(asker);
    if (absence !== undefined) {
      const { rule, words } = absence;
      this.#site.fail(rule, `the memory of ${byteLength} bytes at ${hex(address)} ${words}`);
    }
    const offset = address - entry.address;
    if (offset + byteLength > entry.byteLength) {
      this.#site.fail(
        "bounds",
        `${byteLength} bytes at ${hex(address)} leave ${entry.label} at ${hex(entry.address)} ` +
          `(${entry.byteLength - offset} bytes follow the address)`,
      );
    }
    return new Region(address, {
      kind: entry.storage.onHost ? "host" : "device",
      device: entry.device,
      segments: [{ storage: entry.storage, offset, byteLength, owner: entry }],
    });
  }

  #entryAt(address: number): Allocation | Reservation | undefined {
    return this.#arenaOf(address)?.entries.at(address);
  }

  #resolveMapped(reservation: Reservation, address: number, byteLength: number): Region {
    const mappings = reservation.mappingsOf(address, byteLength);
    if (mappings === undefined) {
      this.#site.fail(
        "unmapped",
        `no memory is mapped at some of the ${byteLength} bytes at ${hex(address)}; call ` +
          `cuMemMap first`,
      );
    }
    let [version, segments] = [reservation.version, segmentsOf(mappings, address, byteLength)];
    const find = () => {
      if (version === reservation.version) return segments;
      const now = reservation.mappingsOf(address, byteLength);
      if (now === undefined) return undefined;
      [version, segments] = [reservation.version, segmentsOf(now, address, byteLength)];
      return segments;
    };
    const device = mappings[0]?.physical.device;
    return new Region(address, { kind: "device", device, segments, find });
  }

  #resolveUnknown(address: number, byteLength: number): Region {
    if (address < HOST_END) return pageableRegion(hostBytes(address, byteLength), address);
    const arena = this.#arenaOf(address);
    const state = arena !== undefined && address < arena.next ? "was freed" : "was never allocated";
    return this.#site.fail(
      "freed",
      `the memory of ${byteLength} bytes at ${hex(address)} ${state}`,
    );
  }

  #arenaOf(address: number) {
    return this.#arenas[Math.floor(address / ARENA_BYTES)];
  }
}

function segmentsOf(mappings: readonly Mapping[], address: number, byteLength: number): Segment[] {
  const end = address + byteLength;
  return mappings.map((mapping): Segment => {
    const start = Math.max(address, mapping.address);
    return {
      storage: mapping.physical.storage,
      offset: start - mapping.address,
      byteLength: Math.min(end, mapping.address + mapping.byteLength) - start,
      owner: mapping,
    };
  });
}

/** Makes a region of ordinary host bytes. */
export function pageableRegion(bytes: Uint8Array, address: number): Region {
  const owner = { label: "host memory", permits: () => true };
  const storage = new HostStorage(bytes);
  const segment = { storage, offset: 0, byteLength: bytes.byteLength, owner };
  return new Region(address, { kind: "pageable", device: undefined, segments: [segment] });
}

export function hostBytes(address: number, byteLength: number): Uint8Array {
  const pointer = Deno.UnsafePointer.create(BigInt(address));
  if (pointer === null) return refuse("CUDA_ERROR_INVALID_VALUE");
  return new Uint8Array(Deno.UnsafePointerView.getArrayBuffer(pointer, byteLength));
}

/** Returns the real address of bytes, which must be kept. */
export function hostAddress(bytes: AllowSharedBufferSource): number {
  return Number(Deno.UnsafePointer.value(Deno.UnsafePointer.of(bytes as BufferSource)));
}
