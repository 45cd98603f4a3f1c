// Driver calls for page-locked and registered memory, simulated with real host memory.
// The host can touch all of it at any time, through an ArrayBuffer over its address.

import { hostBytes } from "../address_space.ts";
import { Allocation } from "../allocation.ts";
import { put32, put64 } from "../cells.ts";
import { refuse, requireValue } from "../errors.ts";
import { allocateHost } from "../host_allocation.ts";
import { HostStorage } from "../host_storage.ts";
import type { Machine } from "../machine.ts";
import type { CallGroup } from "./calls.ts";
import { requireIdle } from "./memory_calls.ts";

const HOST_ALLOC_FLAGS = 7;
const REGISTER_FLAGS = 15;

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
      requireValue((flags & ~HOST_ALLOC_FLAGS) === 0);
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
      put32(flags, hostAllocation(address).flags);
    },
    cuMemHostRegister_v2(address, byteLength, flags) {
      const context = contexts.current;
      const place = { address: Number(address), byteLength: Number(byteLength) };
      requireValue(address !== 0n && byteLength > 0n && (flags & ~REGISTER_FLAGS) === 0);
      if (memory.hostOverlaps(place.address, place.byteLength)) {
        refuse("CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED");
      }
      const storage = new HostStorage(hostBytes(place.address, place.byteLength));
      const id = machine.nextId();
      memory.add(new Allocation(place, { kind: "registered", context, id, storage, flags }));
    },
    cuMemHostUnregister(address) {
      contexts.requireCurrent();
      const allocation = memory.allocationFrom(Number(address));
      if (allocation?.kind !== "registered") return refuse("CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED");
      requireIdle(machine, allocation);
      machine.free(allocation);
    },
  };
}
