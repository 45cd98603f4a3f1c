// Driver calls for page-locked and registered memory, simulated with real host memory.
// The host can touch all of it at any time, through an ArrayBuffer over its address.

import { CU_MEMHOSTALLOC, CU_MEMHOSTREGISTER } from "../../constants.ts";
import { refuse, requireValue } from "../errors.ts";
import { HOST_END, hostBytes } from "../model/address_space.ts";
import { Allocation, type AllocationKind } from "../model/allocation.ts";
import { HostStorage } from "../model/host_storage.ts";
import type { Machine } from "../model/machine.ts";
import { Mapping, Reservation } from "../model/reservation.ts";
import { allocateHost } from "../work/host_allocation.ts";
import type { CallGroup } from "./calls.ts";
import { put32, put64, requireCell, sizeOf } from "./cells.ts";
import { requireIdle } from "./memory_calls.ts";

const HOST_ALLOC_FLAGS = 7;
const KNOWN_REGISTER_FLAGS = CU_MEMHOSTREGISTER.PORTABLE | CU_MEMHOSTREGISTER.DEVICEMAP |
  CU_MEMHOSTREGISTER.IOMEMORY | CU_MEMHOSTREGISTER.READ_ONLY;

/** Memory that the host can touch. */
const HOST_KINDS: ReadonlySet<AllocationKind> = new Set(["pinned", "registered", "managed"]);

type HostMemoryCalls = CallGroup<`cuMemHost${string}` | "cuMemFreeHost">;

/** Makes the calls for a machine. */
export function hostMemoryCalls(machine: Machine): HostMemoryCalls {
  const { contexts, memory } = machine;

  /** Finds page-locked or managed memory, or mapped memory that the current context may read. */
  function findMemory(address: bigint): Allocation | Mapping {
    const entry = memory.at(Number(address));
    const found = entry instanceof Reservation ? entry.mappings.at(Number(address)) : entry;
    requireValue(found !== undefined);
    const isOpen = found instanceof Mapping
      ? found.permits(contexts.current, false)
      : HOST_KINDS.has(found.kind);
    requireValue(isOpen);
    return found;
  }

  return {
    cuMemHostAlloc(address, size, flags) {
      const byteLength = sizeOf(size);
      contexts.requireCurrent();
      machine.requireRelaxed();
      requireCell(address);
      requireValue((flags & ~HOST_ALLOC_FLAGS) === 0);
      if (byteLength === 0) return put64(address, 0n);
      put64(
        address,
        allocateHost(machine, { byteLength, kind: "pinned", flags }),
      );
    },
    cuMemFreeHost(address) {
      if (address === 0n) return;
      const allocation = memory.allocationFrom(Number(address));
      requireValue(allocation !== undefined && allocation.kind === "pinned");
      requireIdle(machine, allocation);
      machine.synchronizeBefore(allocation.context, () => machine.free(allocation));
    },
    cuMemHostGetDevicePointer_v2(pointer, address, flags) {
      contexts.requireCurrent();
      requireValue(flags === 0);
      const found = findMemory(address);
      // Of mapped memory the driver tells where the mapping starts.
      if (found instanceof Mapping) return put64(pointer, found.address);
      requireValue(found.kind !== "managed");
      put64(pointer, address);
    },
    cuMemHostGetFlags(flags, address) {
      contexts.requireCurrent();
      // All page-locked memory is mapped, whether that was asked for or not.
      const found = findMemory(address);
      const given = found instanceof Mapping ? CU_MEMHOSTALLOC.PORTABLE : flagsOf(found);
      put32(flags, given | CU_MEMHOSTALLOC.DEVICEMAP);
    },
    cuMemHostRegister_v2(address, byteLength, flags) {
      const context = contexts.current;
      machine.requireRelaxed();
      const place = { address: Number(address), byteLength: Number(byteLength) };
      requireValue(address !== 0n && byteLength > 0n && (flags & ~KNOWN_REGISTER_FLAGS) === 0);
      requireValue(place.address < HOST_END);
      const known = memory.hostAllocations(place.address, place.byteLength);
      requireValue(known.every(({ kind }) => kind === "registered"));
      if (known.length > 0) refuse("CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED");
      // Memory of other devices does not exist here.
      requireValue((flags & CU_MEMHOSTREGISTER.IOMEMORY) === 0);
      const storage = new HostStorage(hostBytes(place.address, place.byteLength));
      const id = machine.nextId();
      memory.add(new Allocation(place, { kind: "registered", context, id, storage, flags }));
    },
    cuMemHostUnregister(address) {
      const start = Number(address);
      const allocation = memory.at(start);
      requireValue(address !== 0n && start < HOST_END);
      if (allocation === undefined) return refuse("CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED");
      requireValue(allocation instanceof Allocation && allocation.kind === "registered");
      requireValue(allocation.address === start);
      requireIdle(machine, allocation);
      machine.free(allocation);
    },
  };
}

/** Returns the flags that page-locked memory was made with; those of managed memory are others. */
function flagsOf({ kind, flags }: Allocation): number {
  return kind === "managed" ? 0 : flags;
}
