// Driver calls that allocate and free device memory, and answer what an address is, simulated.
// cuMemFree waits for the device, except for memory of a pool: there the caller has to.

import { roundUp } from "../../alignment.ts";
import { CUmemorytype, CUpointer_attribute as P } from "../../constants.ts";
import { pageBytes } from "../../host.ts";
import { hex, refuse, requireValue } from "../errors.ts";
import type { Ranged } from "../model/address_map.ts";
import { hostAddress } from "../model/address_space.ts";
import { Allocation } from "../model/allocation.ts";
import type { Context } from "../model/context.ts";
import type { Device } from "../model/device.ts";
import { DeviceStorage } from "../model/device_storage.ts";
import { GraphAllocation } from "../model/graph_memory.ts";
import { HostStorage } from "../model/host_storage.ts";
import type { Machine } from "../model/machine.ts";
import type { MemoryPool } from "../model/memory_pool.ts";
import type { Owner } from "../model/region.ts";
import { Mapping, Reservation } from "../model/reservation.ts";
import { callGroup } from "./calls.ts";
import { type Cell, put32, put64, requireCell, sizeOf } from "./cells.ts";

/** Rows of pitched memory start at multiples of this. */
const PITCH_BYTES = 512;

export const memoryCalls = callGroup((machine) => {
  const { contexts, memory } = machine;

  function allocate(byteLength: number): number {
    const context = contexts.current;
    requireValue(byteLength > 0);
    context.device.charge(byteLength);
    const place = memory.place(context.device, byteLength);
    const storage = new DeviceStorage(byteLength);
    memory.add(new Allocation(place, { kind: "device", context, id: machine.nextId(), storage }));
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
      const found = entry instanceof Allocation ? entry : entry.mappings.at(Number(address));
      requireValue(found !== undefined);
      requireReach(attribute, found);
      const answers = found instanceof Allocation
        ? answersOf(data, found, address)
        // The range is the reservation, whatever is mapped in it.
        : mappedAnswersOf(data, {
          address,
          home: found.physical.device,
          range: entry,
          id: found.id,
        });
      (answers[attribute] ?? refuse("CUDA_ERROR_INVALID_VALUE"))();
    },
  };
});

/** Throws when work that the host has not waited for uses a block that goes away. */
export function requireIdle(
  machine: Machine,
  block: Pick<Allocation, "storage" | "label" | "address">,
): void {
  const access = block.storage.history.unobserved();
  if (access === undefined && !block.storage.isNeeded) return;
  const user = access === undefined
    ? "a queued copy"
    : `${access.call} on ${access.moment.timeline.label}`;
  machine.site.fail(
    "inUse",
    `${user} still needs ${block.label} at ${hex(block.address)}; wait for it first`,
  );
}

/** Writers of the answers about memory, by the numbers of the attributes. */
type Answers = Readonly<Record<number, (() => void) | undefined>>;

/** Returns the answers about a block. */
function answersOf(data: Cell, allocation: Allocation, address: bigint): Answers {
  const { context, device, id, isManaged, kind, pool, storage } = allocation;
  const location = pool?.preferredLocation ?? device.ordinal;
  return {
    ...mappedAnswersOf(data, { address, home: device, location, range: allocation, id }),
    // Memory of a pool is the device's, not a context's.
    [P.CU_POINTER_ATTRIBUTE_CONTEXT]: () => put64(data, pool === undefined ? context.handle : 0n),
    [P.CU_POINTER_ATTRIBUTE_MEMORY_TYPE]: () =>
      put32(data, memoryType(storage.onHost && !isManaged)),
    [P.CU_POINTER_ATTRIBUTE_HOST_POINTER]: () => putPointer(data, address, storage.onHost),
    [P.CU_POINTER_ATTRIBUTE_IS_MANAGED]: () => put32(data, Number(isManaged)),
    [P.CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE]: () =>
      put32(data, Number(kind === "device")),
    [P.CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE]: () =>
      put64(data, kind === "graph" ? 0n : pool?.handle ?? 0n),
  };
}

/** Returns the answers about mapped memory, of which many are the same for every kind. */
function mappedAnswersOf(
  data: Cell,
  { address, home, location = home.ordinal, range, id }: {
    readonly address: bigint;
    readonly home: Device;
    readonly location?: number;
    readonly range: Ranged;
    readonly id: number;
  },
): Answers {
  const { isHost } = home;
  return {
    [P.CU_POINTER_ATTRIBUTE_CONTEXT]: () => put64(data, 0),
    [P.CU_POINTER_ATTRIBUTE_BUFFER_ID]: () => put64(data, id),
    [P.CU_POINTER_ATTRIBUTE_MEMORY_TYPE]: () => put32(data, memoryType(isHost)),
    [P.CU_POINTER_ATTRIBUTE_HOST_POINTER]: () => putPointer(data, address, isHost),
    [P.CU_POINTER_ATTRIBUTE_DEVICE_POINTER]: () => put64(data, address),
    [P.CU_POINTER_ATTRIBUTE_IS_MANAGED]: () => put32(data, 0),
    [P.CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE]: () => put32(data, 0),
    // The host's memory counts as that of the first device.
    [P.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL]: () => put32(data, Math.max(location, 0)),
    [P.CU_POINTER_ATTRIBUTE_RANGE_START_ADDR]: () => put64(data, range.address),
    [P.CU_POINTER_ATTRIBUTE_RANGE_SIZE]: () => put64(data, range.byteLength),
    [P.CU_POINTER_ATTRIBUTE_MAPPED]: () => put32(data, 1),
    [P.CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE]: () => put64(data, 0),
  };
}

function putPointer(data: Cell, address: bigint, isOnHost: boolean): void {
  requireValue(isOnHost);
  put64(data, address);
}

function memoryType(isHost: boolean): number {
  return isHost ? CUmemorytype.CU_MEMORYTYPE_HOST : CUmemorytype.CU_MEMORYTYPE_DEVICE;
}

/** Allocates real host memory for a context, the current one unless given, and returns its address. */
export function allocateHost(
  machine: Machine,
  options:
    & Pick<Allocation, "byteLength" | "kind">
    & { readonly flags?: number; readonly context?: Context; readonly pool?: MemoryPool },
): number {
  const { byteLength, context = machine.contexts.current } = options;
  requireValue(byteLength > 0);
  const buffer = hostBuffer(byteLength + pageBytes());
  const before = (pageBytes() - hostAddress(buffer) % pageBytes()) % pageBytes();
  const bytes = new Uint8Array(buffer, before, byteLength);
  const place = { address: hostAddress(bytes), byteLength };
  const fields = { context, id: machine.nextId(), storage: new HostStorage(bytes) };
  machine.memory.add(new Allocation(place, { ...options, ...fields }));
  return place.address;
}

function hostBuffer(byteLength: number): ArrayBuffer {
  try {
    return new ArrayBuffer(byteLength);
  } catch (error) {
    if (error instanceof RangeError) return refuse("CUDA_ERROR_OUT_OF_MEMORY");
    throw error;
  }
}
