// Driver calls for virtual memory, simulated: reserve addresses, make physical memory, map, give access.
// Nothing here waits, so unmapping memory that queued work uses is an error.

import {
  CUmemAccess_flags,
  CUmemAllocationHandleType as HandleType,
  CUmemAllocationType,
  CUmemLocationType,
} from "../../constants.ts";
import { CUmemAccessDesc, CUmemAllocationProp } from "../../structs.ts";
import { refuse, requireValue } from "../errors.ts";
import { type Device, GRANULARITY_BYTES } from "../model/device.ts";
import { DeviceStorage } from "../model/device_storage.ts";
import { Mapping, PhysicalMemory, Reservation } from "../model/reservation.ts";
import { describeMemory, SharedBytes } from "../model/shared_bytes.ts";
import type { Rule } from "../stricter.ts";
import { callGroup } from "./calls.ts";
import { bytesOf, decodeList, giveHandle, put32, put64, requireCell } from "./cells.ts";
import { requireIdle } from "./memory_calls.ts";
import { isHostPlace } from "./pool_calls.ts";

/** Properties of new physical memory. */
type Properties = ReturnType<typeof CUmemAllocationProp.decode>;

const POSIX = HandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

/** The highest kind of compression that physical memory can have. */
const COMPRESSED = 1;

/** Kinds of places where physical memory can be. */
const PHYSICAL_PLACES: ReadonlySet<number> = new Set([
  CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE,
  CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST,
  CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST_NUMA,
]);

export const virtualMemoryCalls = callGroup((machine) => {
  const { memory } = machine;

  /** Finds where physical memory is to be: on a device, on the host, or near one of its nodes. */
  function homeOf({ type, location, requestedHandleTypes, allocFlags }: Properties): Device {
    const isOnDevice = location.type === CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE;
    const home = isOnDevice ? machine.device(location.id) : machine.host;
    requireValue(type === CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED);
    const isNear = location.type === CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST_NUMA;
    requireValue(!isNear || location.id === 0);
    if (isOnDevice || isNear) requireHandleType(requestedHandleTypes);
    else requireValue(requestedHandleTypes === 0);
    requireValue(allocFlags.compressionType <= (isOnDevice ? COMPRESSED : 0));
    return home;
  }

  function reservationOf(address: bigint, byteLength: bigint, beyond?: Rule): Reservation {
    const found = memory.at(Number(address));
    requireValue(found instanceof Reservation);
    requireValue(Number(address + byteLength) <= found.address + found.byteLength, beyond);
    return found;
  }

  /** Finds the mappings that lie in a range and do not reach beyond it. */
  function mappingsWithin(address: bigint, byteLength: bigint): Mapping[] {
    requireValue(byteLength > 0n);
    const [start, end] = [Number(address), Number(address + byteLength)];
    const reservation = reservationOf(address, byteLength, "beyond");
    const mappings = [...reservation.mappings.within(start, Number(byteLength))];
    const isWhole = mappings.every((mapping) =>
      mapping.address >= start && mapping.address + mapping.byteLength <= end
    );
    requireValue(isWhole);
    return mappings;
  }

  /** Finds the mappings that make up a range exactly. */
  function mappingsOf(address: bigint, byteLength: bigint): Mapping[] {
    const start = Number(address);
    const mappings = reservationOf(address, byteLength).mappingsOf(start, Number(byteLength));
    const last = mappings?.at(-1);
    requireValue(mappings !== undefined && last !== undefined && mappings[0]?.address === start);
    requireValue(last.address + last.byteLength === start + Number(byteLength));
    return mappings;
  }

  function letGo(physical: PhysicalMemory): void {
    if (physical.release() && physical.shared !== undefined) {
      machine.described.delete(physical.shared.facts.id);
    }
  }

  function findPhysical(handle: bigint): PhysicalMemory {
    return machine.find(PhysicalMemory, handle, "CUDA_ERROR_INVALID_VALUE");
  }

  /** Moves the bytes of physical memory into a file that lives by its descriptors. */
  function share(physical: PhysicalMemory): SharedBytes {
    if (physical.shared !== undefined) return physical.shared;
    const { storage, byteLength, device: { ordinal } } = physical;
    requireValue(storage instanceof DeviceStorage);
    const describe = (id: string) =>
      describeMemory(machine.settings.machine, { ordinal, byteLength, id });
    const facts = { machine: machine.id, byteLength, ordinal, describe };
    const shared = SharedBytes.create("physical", facts);
    storage.shareOver(shared.bytes);
    machine.described.set(shared.facts.id, physical);
    return physical.shared = shared;
  }

  return {
    cuMemExportToShareableHandle(descriptor, handle, type, flags) {
      const physical = findPhysical(handle);
      requireCell(descriptor);
      requireValue(type === POSIX && flags === 0n && physical.isExportable);
      const duplicate = share(physical).duplicate();
      if (duplicate < 0) refuse("CUDA_ERROR_OPERATING_SYSTEM");
      put32(descriptor, duplicate);
    },
    cuMemImportFromShareableHandle(handle, descriptor, type) {
      requireCell(handle);
      requireValue(type === POSIX && descriptor !== 0n);
      const facts = SharedBytes.handleIn(Number(descriptor));
      if (facts?.kind !== "physical") return refuse("CUDA_ERROR_UNKNOWN");
      const known = machine.described.get(facts.id);
      known?.retain();
      if (known !== undefined) return void giveHandle(machine, handle, () => known);
      const shared = SharedBytes.adopt(Number(descriptor));
      if (shared === undefined) return refuse("CUDA_ERROR_OPERATING_SYSTEM");
      const physical = new PhysicalMemory(machine.device(shared.facts.ordinal), shared);
      machine.described.set(facts.id, physical);
      giveHandle(machine, handle, () => physical);
    },
    cuMemRetainAllocationHandle(handle, address) {
      requireCell(handle);
      const entry = memory.at(Number(address));
      requireValue(entry instanceof Reservation);
      const mapping = entry.mappings.at(Number(address));
      requireValue(mapping !== undefined);
      mapping.physical.retain();
      giveHandle(machine, handle, () => mapping.physical);
    },
    cuMemGetAllocationGranularity(granularity, properties, option) {
      // The driver looks at no member of the properties.
      requireCell(properties);
      requireValue(option === 0 || option === 1);
      put64(granularity, GRANULARITY_BYTES);
    },
    cuMemAddressReserve(address, byteLength, alignment, _wanted, flags) {
      requireCell(address);
      requireValue(byteLength > 0n && isGranular(byteLength) && flags === 0n);
      requireValue((alignment & (alignment - 1n)) === 0n);
      const alignmentBytes = Math.max(Number(alignment), GRANULARITY_BYTES);
      const device = machine.contexts.top?.device ?? machine.device(0);
      const place = memory.place(device, Number(byteLength), alignmentBytes);
      memory.add(new Reservation(place));
      put64(address, place.address);
    },
    cuMemAddressFree(address, byteLength) {
      const reservation = reservationOf(address, byteLength);
      requireValue(reservation.address === Number(address));
      requireValue(reservation.byteLength === Number(byteLength));
      requireValue(reservation.mappings.size === 0);
      memory.remove(reservation);
    },
    cuMemCreate(handle, byteLength, properties, flags) {
      requireCell(handle);
      const wanted = CUmemAllocationProp.decode(bytesOf(properties));
      requireValue(PHYSICAL_PLACES.has(wanted.location.type));
      requireValue(byteLength > 0n && isGranular(byteLength) && flags === 0n);
      const isExportable = wanted.requestedHandleTypes === POSIX;
      const physical = new PhysicalMemory(homeOf(wanted), Number(byteLength), { isExportable });
      giveHandle(machine, handle, () => physical);
    },
    cuMemRelease(handle) {
      const physical = findPhysical(handle);
      machine.forget(handle);
      letGo(physical);
    },
    cuMemMap(address, byteLength, offset, handle, flags) {
      const physical = findPhysical(handle);
      const place = { address: Number(address), byteLength: Number(byteLength) };
      requireValue(byteLength > 0n && flags === 0n);
      // Physical memory is mapped as a whole.
      const isWhole = offset === 0n && place.byteLength === physical.byteLength;
      if (!isWhole) refuse("CUDA_ERROR_NOT_SUPPORTED");
      requireValue(isGranular(address));
      const reservation = reservationOf(address, byteLength, "beyond");
      const { mappings } = reservation;
      requireValue(!mappings.overlaps(place.address, place.byteLength));
      reservation.version++;
      mappings.add(new Mapping(place, { physical, id: machine.nextId() }));
    },
    cuMemUnmap(address, byteLength) {
      for (const mapping of mappingsWithin(address, byteLength)) {
        const { address: start, physical: { storage } } = mapping;
        requireIdle(machine, { label: "the memory", address: start, storage });
        const reservation = reservationOf(address, byteLength);
        reservation.mappings.delete(mapping);
        reservation.version++;
        letGo(mapping.physical);
      }
    },
    cuMemSetAccess(address, byteLength, descriptors, count) {
      const mappings = mappingsOf(address, byteLength);
      requireCell(descriptors);
      requireValue(count > 0n);
      for (const { location, flags } of decodeList(CUmemAccessDesc, descriptors, count)) {
        const isHost = isHostPlace(location);
        requireValue(Object.values<number>(CUmemAccess_flags).includes(flags));
        const isOnHost = mappings.every(({ physical }) => physical.device.isHost);
        const isNone = flags === CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_NONE;
        if (isHost && !isOnHost && !isNone) refuse("CUDA_ERROR_NOT_SUPPORTED");
        requireValue(isHost || location.type === CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE);
        const { ordinal } = isHost
          ? machine.host
          : machine.devices[location.id] ?? refuse("CUDA_ERROR_INVALID_VALUE");
        // Kernels that were launched before do not get the new access.
        machine.scheduler.runAll();
        for (const mapping of mappings) mapping.access.set(ordinal, flags);
      }
    },
  };
});

function isGranular(value: bigint): boolean {
  return value % BigInt(GRANULARITY_BYTES) === 0n;
}

/** Rejects handle types of other systems, and that of a fabric, which is not set up. */
function requireHandleType(type: number): void {
  if (type === HandleType.CU_MEM_HANDLE_TYPE_FABRIC) refuse("CUDA_ERROR_NOT_PERMITTED");
  requireValue(type === HandleType.CU_MEM_HANDLE_TYPE_NONE || type === POSIX);
}
