// Driver calls for stream-ordered memory, simulated.
// Calls cannot use an address once its free is queued; kernels queued before still can.

import { CUmemPool_attribute as A } from "../../constants.ts";
import { CUmemAccessDesc, CUmemLocation, CUmemPoolProps } from "../../structs.ts";
import { Allocation } from "../allocation.ts";
import { bytesOf, get32, get64, put32, put64 } from "../cells.ts";
import { DeviceStorage } from "../device_storage.ts";
import { refuse, requireValue } from "../errors.ts";
import { GraphAllocation } from "../graph_memory.ts";
import { captureAllocation, freeGraphMemory } from "../graph_memory_work.ts";
import type { Machine } from "../machine.ts";
import { MemoryPool } from "../memory_pool.ts";
import { queueExclusive } from "../memory_work.ts";
import type { Stream } from "../stream.ts";
import type { CallGroup } from "./calls.ts";

type PoolCalls = CallGroup<
  `cuMemPool${string}` | "cuMemAllocAsync" | "cuMemAllocFromPoolAsync" | "cuMemFreeAsync"
>;

/** Makes the calls for a machine. */
export function poolCalls(machine: Machine): PoolCalls {
  const { memory } = machine;

  function requirePools(): void {
    if (!machine.settings.poolsSupported) refuse("CUDA_ERROR_NOT_SUPPORTED");
  }

  function findPool(handle: bigint): MemoryPool {
    requirePools();
    return machine.find(MemoryPool, handle, "CUDA_ERROR_INVALID_VALUE");
  }

  function allocate(pool: MemoryPool, stream: Stream, byteLength: number): number {
    const { capture } = stream;
    requireValue(byteLength > 0);
    if (capture !== undefined) {
      return captureAllocation(machine, stream, { capture, pool, byteLength });
    }
    const after = pool.take(byteLength);
    const storage = new DeviceStorage(byteLength);
    const { context } = stream;
    const place = memory.place(pool.device, byteLength);
    const id = machine.nextId();
    const allocation = new Allocation(place, { kind: "pool", context, id, storage, pool });
    memory.add(allocation);
    const region = memory.resolve(place.address, byteLength);
    queueExclusive(machine, stream, { region, after });
    return place.address;
  }

  return {
    cuMemAllocAsync(address, byteLength, handle) {
      requirePools();
      const stream = machine.stream(handle);
      const pool = machine.defaultPools[stream.context.device.ordinal];
      requireValue(pool !== undefined);
      put64(address, allocate(pool, stream, Number(byteLength)));
    },
    cuMemAllocFromPoolAsync(address, byteLength, pool, handle) {
      put64(address, allocate(findPool(pool), machine.stream(handle), Number(byteLength)));
    },
    cuMemFreeAsync(address, handle) {
      requirePools();
      const stream = machine.stream(handle);
      if (address === 0n) return;
      const allocation = memory.allocationFrom(Number(address));
      requireValue(allocation !== undefined);
      if (allocation instanceof GraphAllocation) {
        return freeGraphMemory(machine, stream, allocation);
      }
      stream.capture?.requireValid();
      // What a graph frees must be what a graph allocates.
      requireValue(stream.capture === undefined);
      requireValue(allocation.kind === "pool" || allocation.kind === "device");
      const { pool, byteLength } = allocation;
      const operation = queueExclusive(machine, stream, {
        region: memory.resolve(allocation.address, byteLength),
        run() {
          memory.remove(allocation);
          if (pending === undefined) allocation.device.discharge(byteLength);
          else pool?.settle(pending);
        },
      });
      allocation.isFreed = true;
      const pending = pool?.expect(byteLength);
      if (pending !== undefined) pending.operation = operation;
    },
    cuMemPoolCreate(handle, properties) {
      requirePools();
      const { location, maxSize } = CUmemPoolProps.decode(bytesOf(properties));
      requireValue(location.type === 1);
      const device = machine.device(location.id);
      const pool = machine.register((handle) => new MemoryPool(device, handle, Number(maxSize)));
      machine.pools.add(pool);
      put64(handle, pool.handle);
    },
    cuMemPoolDestroy(handle) {
      const pool = findPool(handle);
      requireValue(!machine.defaultPools.includes(pool));
      pool.isDestroyed = true;
      pool.trim(0);
      machine.forget(handle);
    },
    cuMemPoolTrimTo(handle, keepBytes) {
      findPool(handle).trim(Number(keepBytes));
    },
    cuMemPoolSetAttribute(handle, attribute, value) {
      const pool = findPool(handle);
      switch (attribute) {
        case A.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
          pool.releaseThresholdBytes = Number(get64(value));
          return;
        case A.CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
          requireValue(get64(value) === 0n);
          pool.reservedHighBytes = pool.reservedBytes;
          return;
        case A.CU_MEMPOOL_ATTR_USED_MEM_HIGH:
          requireValue(get64(value) === 0n);
          pool.usedHighBytes = pool.usedBytes;
          return;
        default:
          requireValue(pool.reuse.has(attribute));
          pool.reuse.set(attribute, get32(value));
      }
    },
    cuMemPoolGetAttribute(handle, attribute, value) {
      const pool = findPool(handle);
      switch (attribute) {
        case A.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
          return put64(value, pool.releaseThresholdBytes);
        case A.CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
          return put64(value, pool.reservedBytes);
        case A.CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
          return put64(value, pool.reservedHighBytes);
        case A.CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
          return put64(value, pool.usedBytes);
        case A.CU_MEMPOOL_ATTR_USED_MEM_HIGH:
          return put64(value, pool.usedHighBytes);
        default:
          return put32(value, pool.reuse.get(attribute) ?? refuse("CUDA_ERROR_INVALID_VALUE"));
      }
    },
    cuMemPoolSetAccess(handle, descriptors, count) {
      const pool = findPool(handle);
      const bytes = bytesOf(descriptors);
      for (let i = 0; i < Number(count); i++) {
        const { location, flags } = CUmemAccessDesc.decode(
          bytes.subarray(i * CUmemAccessDesc.byteLength),
        );
        requireValue(location.type === 1);
        const device = machine.device(location.id);
        // A device cannot lose the right to its own pool.
        requireValue(device !== pool.device || flags === 3);
        if (device !== pool.device && !machine.settings.peerAccess) {
          refuse("CUDA_ERROR_PEER_ACCESS_UNSUPPORTED");
        }
        pool.setAccess(location.id, flags);
      }
    },
    cuMemPoolGetAccess(flags, handle, location) {
      const pool = findPool(handle);
      const { type, id } = CUmemLocation.decode(bytesOf(location));
      requireValue(type === 1);
      put32(flags, pool.accessOf(machine.device(id).ordinal));
    },
  };
}
