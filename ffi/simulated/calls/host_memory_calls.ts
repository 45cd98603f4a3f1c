// Driver calls for page-locked and registered memory, simulated with real host memory.
// The host can touch all of it at any time, through an ArrayBuffer over its address.

import { CU_MEMHOSTALLOC, CU_MEMHOSTREGISTER } from "../../constants.ts";
import { HOST_END, hostBytes } from "../address_space.ts";
import { Allocation } from "../allocation.ts";
import { put32, put64, requireCell } from "../cells.ts";
import { refuse, requireValue } from "../errors.ts";
import { allocateHost } from "../host_allocation.ts";
import { HostStorage } from "../host_storage.ts";
import type { Machine } from "../machine.ts";
import type { CallGroup } from "./calls.ts";
import { requireIdle } from "./memory_calls.ts";

const HOST_ALLOC_FLAGS = 7;
/** IOMEMORY is for memory of other devices, which does not exist here. */
const REGISTER_FLAGS = CU_MEMHOSTREGISTER.PORTABLE | CU_MEMHOSTREGISTER.DEVICEMAP |
  CU_MEMHOSTREGISTER.READ_ONLY;

type HostMemoryCalls = CallGroup<`cuMemHost${string}` | "cuMemFreeHost">;

/** Makes the calls for a machine. */
export function hostMemoryCalls(machine: Machine): HostMemoryCalls {
  const { contexts, memory } = machine;

  function hostAllocation(address: bigint): Allocation {
    const entry = memory.at(Number(address));
    requireValue(entry instanceof Allocation);
    requireValue(entry.kind === "pinned" || entry.kind === "registered");
    return entry;
  }

  return {
    cuMemHostAlloc(address, byteLength, flags) {
      contexts.requireCurrent();
      machine.requireRelaxed();
      requireCell(address);
      requireValue((flags & ~HOST_ALLOC_FLAGS) === 0);
      if (byteLength === 0n) return put64(address, 0n);
      put64(
        address,
        allocateHost(machine, { byteLength: Number(byteLength), kind: "pinned", flags }),
      );
    },
    cuMemFreeHost(address) {
      if (address === 0n) return;
      const allocation = memory.allocationFrom(Number(address));
      requireValue(allocation !== undefined && allocation.kind === "pinned");
      requireIdle(machine, allocation);
      machine.synchronize(allocation.context);
      machine.free(allocation);
    },
    cuMemHostGetDevicePointer_v2(pointer, address, flags) {
      contexts.requireCurrent();
      requireValue(flags === 0);
      hostAllocation(address);
      put64(pointer, address);
    },
    cuMemHostGetFlags(flags, address) {
      contexts.requireCurrent();
      // All page-locked memory is mapped, whether that was asked for or not.
      put32(flags, hostAllocation(address).flags | CU_MEMHOSTALLOC.DEVICEMAP);
    },
    cuMemHostRegister_v2(address, byteLength, flags) {
      const context = contexts.current;
      machine.requireRelaxed();
      const place = { address: Number(address), byteLength: Number(byteLength) };
      requireValue(address !== 0n && byteLength > 0n && (flags & ~REGISTER_FLAGS) === 0);
      requireValue(place.address < HOST_END);
      const known = memory.hostAllocations(place.address, place.byteLength);
      requireValue(known.every(({ kind }) => kind === "registered"));
      if (known.length > 0) refuse("CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED");
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
