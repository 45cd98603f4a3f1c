// Driver calls that allocate and free device memory, and answer what an address is, simulated.
// cuMemFree waits for the device, except for memory of a pool: there the caller has to.

import { roundUp } from "../../alignment.ts";
import { CUmemorytype, CUpointer_attribute as P } from "../../constants.ts";
import { hex, refuse, requireValue } from "../errors.ts";
import { Allocation } from "../model/allocation.ts";
import type { Device } from "../model/device.ts";
import { DeviceStorage } from "../model/device_storage.ts";
import { GraphAllocation } from "../model/graph_memory.ts";
import type { Machine } from "../model/machine.ts";
import type { Owner } from "../model/region.ts";
import { Mapping, Reservation } from "../model/reservation.ts";
import type { CallGroup } from "./calls.ts";
import { type Cell, put32, put64, requireCell, sizeOf } from "./cells.ts";

/** Rows of pitched memory start at multiples of this. */
const PITCH_BYTES = 512;

type MemoryCalls = CallGroup<
  | "cuMemGetInfo_v2"
  | "cuMemAlloc_v2"
  | "cuMemAllocPitch_v2"
  | "cuMemFree_v2"
  | "cuMemGetAddressRange_v2"
  | "cuPointerGetAttribute"
>;

/** Makes the calls for a machine. */
export function memoryCalls(machine: Machine): MemoryCalls {
  const { contexts, memory } = machine;

  function allocate(byteLength: number): number {
    const context = contexts.current;
    requireValue(byteLength > 0);
    context.device.charge(byteLength);
    const place = memory.place(context.device, byteLength);
    const storage = new DeviceStorage(byteLength);
    memory.add(
      new Allocation(place, { kind: "device", context, id: machine.nextId(), storage }),
    );
    return place.address;
  }

  /** Rejects a query for kernels' address, when the current context's may not read it. */
  function requireReach(attribute: number, owner: Owner): void {
    if (attribute !== P.CU_POINTER_ATTRIBUTE_DEVICE_POINTER) return;
    const { current } = contexts;
    requireValue(owner.permits(current, false));
    // A device that was given access to a graph's memory reaches it in another way.
    requireValue(!(owner instanceof GraphAllocation) || owner.device === current.device);
  }

  return {
    cuMemGetInfo_v2(free, total) {
      const { device } = contexts.current;
      // An integrated GPU's driver counts the system's page cache as used: here, a quarter of all memory.
      const cached = machine.settings.integrated ? device.memoryBytes / 4 : 0;
      if (free !== null) put64(free, Math.max(0, Math.floor(device.freeBytes - cached)));
      if (total !== null) put64(total, device.memoryBytes);
    },
    cuMemAlloc_v2(address, byteLength) {
      contexts.requireCurrent();
      machine.requireRelaxed();
      requireCell(address);
      put64(address, allocate(sizeOf(byteLength)));
    },
    cuMemAllocPitch_v2(address, pitch, width, height, elementBytes) {
      contexts.requireCurrent();
      requireCell(address);
      requireCell(pitch);
      requireValue([4, 8, 16].includes(elementBytes) && width > 0n && height > 0n);
      machine.requireRelaxed();
      const pitchBytes = roundUp(Number(width), PITCH_BYTES);
      put64(address, allocate(pitchBytes * Number(height)));
      put64(pitch, pitchBytes);
    },
    cuMemFree_v2(address) {
      if (address === 0n) return;
      const allocation = memory.allocationFrom(Number(address));
      requireValue(allocation !== undefined);
      requireValue(["device", "pool", "managed", "graph"].includes(allocation.kind));
      requireValue(!(allocation instanceof GraphAllocation) || allocation.isThere);
      const free = () => {
        requireIdle(machine, allocation);
        machine.free(allocation);
      };
      if (allocation.pool !== undefined) return free();
      // The address names its context; work of another one is not waited for, as in the driver.
      machine.synchronizeBefore(allocation.context, free);
    },
    cuMemGetAddressRange_v2(base, size, address) {
      const { current } = contexts;
      const entry = memory.at(Number(address));
      const found = entry instanceof Reservation ? entry.mappings.at(Number(address)) : entry;
      // The driver finds only what the current context may read.
      const isReached = found?.permits(current, false) === true &&
        (!(found instanceof GraphAllocation) || found.isThere);
      if (found === undefined || !isReached) return refuse("CUDA_ERROR_NOT_FOUND");
      // Of the host's physical memory the driver tells the size alone.
      const isHost = found instanceof Mapping && found.physical.device.isHost;
      if (base !== null) put64(base, isHost ? 0 : found.address);
      if (size !== null) put64(size, found.byteLength);
    },
    cuPointerGetAttribute(data, attribute, address) {
      const entry = memory.at(Number(address));
      requireValue(entry !== undefined);
      // In its capture, memory has an address and nothing else yet.
      requireValue(!(entry instanceof GraphAllocation) || entry.isThere);
      if (entry instanceof Allocation) {
        requireReach(attribute, entry);
        return describe(data, attribute, { allocation: entry, address });
      }
      const mapping = entry.mappings.at(Number(address));
      requireValue(mapping !== undefined);
      requireReach(attribute, mapping);
      // The range is the reservation, whatever is mapped in it.
      describeMapped(data, attribute, {
        address,
        home: mapping.physical.device,
        location: mapping.physical.device.ordinal,
        start: entry.address,
        byteLength: entry.byteLength,
        id: mapping.id,
      });
    },
  };
}

/** Throws when work that the host has not waited for uses a block that goes away. */
export function requireIdle(machine: Machine, allocation: Allocation): void {
  const access = allocation.storage.history.unobserved();
  if (access === undefined && !allocation.storage.isNeeded) return;
  const user = access === undefined
    ? "a queued copy"
    : `${access.call} on ${access.moment.timeline.label}`;
  machine.site.fail(
    "inUse",
    `${user} still needs ${allocation.label} at ${hex(allocation.address)}; wait for it first`,
  );
}

function describe(
  data: Cell,
  attribute: number,
  { allocation, address }: { allocation: Allocation; address: bigint },
): void {
  const { kind, storage, pool, isManaged } = allocation;
  switch (attribute) {
    case P.CU_POINTER_ATTRIBUTE_CONTEXT:
      // Memory of a pool is the device's, not a context's.
      return put64(data, pool === undefined ? allocation.context.handle : 0n);
    case P.CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return put32(data, memoryType(storage.onHost && !isManaged));
    case P.CU_POINTER_ATTRIBUTE_HOST_POINTER:
      requireValue(storage.onHost);
      return put64(data, address);
    case P.CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return put32(data, Number(isManaged));
    case P.CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
      return put32(data, Number(kind === "device"));
    case P.CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return put64(data, kind === "graph" ? 0n : pool?.handle ?? 0n);
    default:
      return describeMapped(data, attribute, {
        address,
        home: allocation.device,
        location: pool?.preferredLocation ?? allocation.device.ordinal,
        start: allocation.address,
        byteLength: allocation.byteLength,
        id: allocation.id,
      });
  }
}

/** Answers the attributes that are the same for every kind of memory. */
function describeMapped(
  data: Cell,
  attribute: number,
  range: {
    address: bigint;
    home: Device;
    location: number;
    start: number;
    byteLength: number;
    id: number;
  },
): void {
  switch (attribute) {
    case P.CU_POINTER_ATTRIBUTE_CONTEXT:
      return put64(data, 0);
    case P.CU_POINTER_ATTRIBUTE_BUFFER_ID:
      return put64(data, range.id);
    case P.CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return put32(data, memoryType(range.home.isHost));
    case P.CU_POINTER_ATTRIBUTE_HOST_POINTER:
      requireValue(range.home.isHost);
      return put64(data, range.address);
    case P.CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return put64(data, range.address);
    case P.CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case P.CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
      return put32(data, 0);
    case P.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      // The host's memory counts as that of the first device.
      return put32(data, Math.max(range.location, 0));
    case P.CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      return put64(data, range.start);
    case P.CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      return put64(data, range.byteLength);
    case P.CU_POINTER_ATTRIBUTE_MAPPED:
      return put32(data, 1);
    case P.CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return put64(data, 0);
    default:
      return refuse("CUDA_ERROR_INVALID_VALUE");
  }
}

function memoryType(isHost: boolean): number {
  return isHost ? CUmemorytype.CU_MEMORYTYPE_HOST : CUmemorytype.CU_MEMORYTYPE_DEVICE;
}
