// Driver calls for virtual memory, simulated: reserve addresses, make physical memory, map, give access.
// Nothing here waits, so unmapping memory that queued work uses is an error.

import { CUmemAccessDesc, CUmemAllocationProp } from "../../structs.ts";
import { bytesOf, type Cell, put64 } from "../cells.ts";
import { type Device, GRANULARITY_BYTES } from "../device.ts";
import { hex, requireValue } from "../errors.ts";
import type { Machine } from "../machine.ts";
import { Mapping, PhysicalMemory, Reservation } from "../reservation.ts";
import type { CallGroup } from "./calls.ts";

type VirtualMemoryCalls = CallGroup<
  | `cuMemAddress${string}`
  | "cuMemGetAllocationGranularity"
  | "cuMemCreate"
  | "cuMemRelease"
  | "cuMemMap"
  | "cuMemUnmap"
  | "cuMemSetAccess"
>;

/** Makes the calls for a machine. */
export function virtualMemoryCalls(machine: Machine): VirtualMemoryCalls {
  const { memory } = machine;

  function deviceOf(properties: Cell): Device {
    const { type, location } = CUmemAllocationProp.decode(bytesOf(properties));
    requireValue(type === 1 && location.type === 1);
    return machine.device(location.id);
  }

  function reservationOf(address: bigint, byteLength: bigint): Reservation {
    const found = memory.at(Number(address));
    requireValue(found instanceof Reservation && isGranular(address) && isGranular(byteLength));
    requireValue(Number(address + byteLength) <= found.address + found.byteLength);
    return found;
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

  return {
    cuMemGetAllocationGranularity(granularity, properties) {
      deviceOf(properties);
      put64(granularity, GRANULARITY_BYTES);
    },
    cuMemAddressReserve(address, byteLength, alignment, _wanted, flags) {
      const alignmentBytes = Math.max(Number(alignment), GRANULARITY_BYTES);
      requireValue(byteLength > 0n && isGranular(byteLength) && flags === 0n);
      requireValue(Number.isInteger(Math.log2(alignmentBytes)));
      const device = machine.contexts.top?.device ?? machine.device(0);
      const place = memory.place(device, Number(byteLength), alignmentBytes);
      memory.add(new Reservation(place));
      put64(address, place.address);
    },
    cuMemAddressFree(address, byteLength) {
      const reservation = reservationOf(address, byteLength);
      requireValue(reservation.address === Number(address));
      requireValue(
        reservation.byteLength === Number(byteLength) && reservation.mappings.size === 0,
      );
      memory.remove(reservation);
    },
    cuMemCreate(handle, byteLength, properties, flags) {
      const device = deviceOf(properties);
      requireValue(byteLength > 0n && isGranular(byteLength) && flags === 0n);
      const physical = new PhysicalMemory(device, Number(byteLength));
      machine.register((registered) => {
        put64(handle, registered);
        return physical;
      });
    },
    cuMemRelease(handle) {
      const physical = machine.find(PhysicalMemory, handle, "CUDA_ERROR_INVALID_VALUE");
      machine.forget(handle);
      physical.release();
    },
    cuMemMap(address, byteLength, offset, handle, flags) {
      const physical = machine.find(PhysicalMemory, handle, "CUDA_ERROR_INVALID_VALUE");
      const place = { address: Number(address), byteLength: Number(byteLength) };
      const { mappings } = reservationOf(address, byteLength);
      requireValue(byteLength > 0n && offset === 0n && flags === 0n);
      requireValue(place.byteLength <= physical.byteLength);
      requireValue(!mappings.overlaps(place.address, place.byteLength));
      mappings.add(new Mapping(place, physical));
    },
    cuMemUnmap(address, byteLength) {
      const { mappings } = reservationOf(address, byteLength);
      for (const mapping of mappingsOf(address, byteLength)) {
        requireUnused(machine, mapping);
        mappings.delete(mapping);
        mapping.physical.release();
      }
    },
    cuMemSetAccess(address, byteLength, descriptors, count) {
      const mappings = mappingsOf(address, byteLength);
      const bytes = bytesOf(descriptors);
      for (let i = 0; i < Number(count); i++) {
        const { location, flags } = CUmemAccessDesc.decode(
          bytes.subarray(i * CUmemAccessDesc.byteLength),
        );
        requireValue(location.type === 1);
        machine.device(location.id);
        for (const mapping of mappings) mapping.access.set(location.id, flags);
      }
    },
  };
}

function isGranular(value: bigint): boolean {
  return value % BigInt(GRANULARITY_BYTES) === 0n;
}

function requireUnused(machine: Machine, mapping: Mapping): void {
  const access = mapping.physical.storage.history.unobserved();
  if (access === undefined) return;
  machine.site.fail(
    "inUse",
    `${access.call} on ${access.moment.timeline.label} still needs the memory at ${
      hex(mapping.address)
    }; wait for it first`,
  );
}
