// Driver calls for stream-ordered memory, simulated.
// Calls cannot use an address once its free is queued; kernels queued before still can.

import {
  CU_DEVICE_CPU,
  CUmemAccess_flags as Rights,
  CUmemAllocationHandleType as HandleType,
  CUmemAllocationType,
  CUmemLocationType as Place,
  CUmemPool_attribute as A,
} from "../../constants.ts";
import { CUmemAccessDesc, CUmemLocation, CUmemPoolProps } from "../../structs.ts";
import { refuse, requireValue } from "../errors.ts";
import { NO_LOCATION } from "../model/advice.ts";
import { Allocation } from "../model/allocation.ts";
import type { Capture } from "../model/capture.ts";
import type { Context } from "../model/context.ts";
import type { Device } from "../model/device.ts";
import { DeviceStorage } from "../model/device_storage.ts";
import { GraphAllocation } from "../model/graph_memory.ts";
import type { Machine } from "../model/machine.ts";
import { MemoryPool } from "../model/memory_pool.ts";
import type { Stream } from "../model/stream.ts";
import { submit } from "../work/submission.ts";
import { queueExclusive } from "../work/memory_work.ts";
import { callGroup } from "./calls.ts";
import { bytesOf, type Cell, decodeList, get32, get64, giveHandle } from "./cells.ts";
import { put32, put64, requireCell, sizeOf } from "./cells.ts";
import { allocateHost } from "./memory_calls.ts";

type Properties = ReturnType<typeof CUmemPoolProps.decode>;

/** The kind of managed memory, which headers before CUDA 13 do not have. */
const MANAGED = 2;

/** Kinds of memory that pools can hold. */
const POOL_TYPES: ReadonlySet<number> = new Set([
  CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED,
  MANAGED,
]);

/** Handle types of shareable pools; the one for other machines is accepted even without any. */
const POOL_HANDLES = HandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR |
  HandleType.CU_MEM_HANDLE_TYPE_FABRIC;

/** Sizes of a pool, by the number of their attribute. */
const SIZE_ATTRIBUTES: Readonly<Record<number, (pool: MemoryPool) => number>> = {
  [A.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD]: (pool) => pool.releaseThresholdBytes,
  [A.CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT]: (pool) => pool.reservedBytes,
  [A.CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH]: (pool) => pool.reservedHighBytes,
  [A.CU_MEMPOOL_ATTR_USED_MEM_CURRENT]: (pool) => pool.countedBytes,
  [A.CU_MEMPOOL_ATTR_USED_MEM_HIGH]: (pool) => pool.usedHighBytes,
};

export const poolCalls = callGroup((machine) => {
  const { memory } = machine;

  function requirePools(): void {
    if (!machine.settings.poolsSupported) refuse("CUDA_ERROR_NOT_SUPPORTED");
  }

  function findPool(handle: bigint): MemoryPool {
    requirePools();
    return machine.find(MemoryPool, handle, "CUDA_ERROR_INVALID_VALUE");
  }

  /** Finds the stream for an allocation, which other captures than its own may forbid. */
  function allocatingStream(handle: bigint): Stream {
    const stream = machine.workStream(handle);
    if (machine.captures.of(stream) === undefined) machine.requireRelaxed();
    return stream;
  }

  /** Puts the address of new memory into a cell; nothing is at a null address. */
  function allocate(
    cell: Cell,
    { pool, stream, byteLength }: { pool: MemoryPool; stream: Stream; byteLength: number },
  ): void {
    const { context } = stream;
    const capture = machine.captures.of(stream);
    requireCell(cell);
    if (byteLength === 0) return put64(cell, 0n);
    if (capture !== undefined) {
      // A graph allocates memory of a device, for this process alone.
      if (pool.kind === "host" || pool.handleTypes !== 0) refuse("CUDA_ERROR_NOT_SUPPORTED");
      return put64(cell, captureAllocation(machine, stream, { capture, pool, byteLength }));
    }
    const after = pool.take(byteLength, stream);
    const address = pool.device.isHost
      ? allocateHost(machine, { byteLength, kind: "pool", context, pool })
      : allocateDevice(context, pool, byteLength);
    const region = memory.resolve(address, byteLength);
    queueExclusive(machine, stream, { region, after });
    put64(cell, address);
  }

  function allocateDevice(context: Context, pool: MemoryPool, byteLength: number): number {
    const place = memory.place(pool.device, byteLength);
    const storage = new DeviceStorage(byteLength);
    const id = machine.nextId();
    memory.add(new Allocation(place, { kind: "pool", context, id, storage, pool }));
    return place.address;
  }

  /** Finds where a new pool's memory is to be: on a device, on the host, or near one of its nodes. */
  function homeOf({ allocType, location, maxSize, handleTypes }: Properties): Device {
    const isManaged = allocType === MANAGED;
    const isNear = location.type === Place.CU_MEM_LOCATION_TYPE_HOST_NUMA;
    requireValue(!isNear || location.id === 0);
    const isOnHost = isHostPlace(location) ||
      (location.type === Place.CU_MEM_LOCATION_TYPE_INVALID && isManaged);
    // Managed memory has no limit, and neither it nor the host's goes to other processes.
    requireValue(!isManaged || maxSize === 0n);
    requireValue(!(isManaged || isOnHost) || handleTypes === 0);
    const device = isOnHost ? machine.host : deviceAt(location);
    return isManaged ? machine.host : device;
  }

  /** Finds the device that a struct names; the driver looks at no other error than a bad value. */
  function deviceAt({ type, id }: { type: number; id: number }): Device {
    const device = machine.devices[id];
    requireValue(type === Place.CU_MEM_LOCATION_TYPE_DEVICE && device !== undefined);
    return device;
  }

  return {
    cuMemAllocAsync(address, byteLength, handle) {
      requirePools();
      const stream = allocatingStream(handle);
      const pool = machine.defaultPools[stream.context.device.ordinal];
      requireValue(pool !== undefined);
      allocate(address, { pool, stream, byteLength: sizeOf(byteLength) });
    },
    cuMemAllocFromPoolAsync(address, byteLength, handle, stream) {
      const queue = allocatingStream(stream);
      const pool = findPool(handle);
      // Memory of another process comes from there alone.
      requireValue(!pool.isImported);
      allocate(address, { pool, stream: queue, byteLength: sizeOf(byteLength) });
    },
    cuMemFreeAsync(address, handle) {
      requirePools();
      const stream = machine.workStream(handle);
      const capture = machine.captures.of(stream);
      if (capture === undefined) machine.requireRelaxed();
      if (address === 0n) return;
      const asker = capture === undefined ? "call" : "free";
      const allocation = memory.allocationFrom(Number(address), asker);
      requireValue(allocation !== undefined);
      if (allocation instanceof GraphAllocation) {
        return freeGraphMemory(machine, stream, allocation);
      }
      if (capture !== undefined) {
        // A graph can free only memory that a graph allocates; it counts as one with memory all the same.
        capture.hasRefusedFree = true;
        refuse("CUDA_ERROR_INVALID_VALUE");
      }
      if (allocation.kind === "managed") refuse("CUDA_ERROR_NOT_SUPPORTED");
      requireValue(allocation.kind === "pool" || allocation.kind === "device");
      const { pool, byteLength } = allocation;
      const operation = queueExclusive(machine, stream, {
        region: memory.resolve(allocation.address, byteLength),
        run() {
          memory.remove(allocation);
          if (pool === undefined) allocation.device.discharge(byteLength);
        },
      });
      allocation.isFreed = true;
      pool?.expect(byteLength, operation);
    },
    cuMemPoolCreate(handle, properties) {
      requirePools();
      requireCell(handle);
      const wanted = CUmemPoolProps.decode(bytesOf(properties));
      requireValue(POOL_TYPES.has(wanted.allocType) && (wanted.handleTypes & ~POOL_HANDLES) === 0);
      requireValue(wanted.gpuDirectRDMACapable === 0);
      const home = homeOf(wanted);
      const kind = wanted.allocType === MANAGED ? "managed" : home.isHost ? "host" : "device";
      const preferredLocation = preferenceOf(wanted.location);
      const { handleTypes } = wanted;
      const maxBytes = Number(wanted.maxSize);
      const options = { kind, maxBytes, preferredLocation, handleTypes } as const;
      machine.pools.add(giveHandle(machine, handle, (made) => new MemoryPool(home, made, options)));
    },
    cuMemPoolDestroy(handle) {
      const pool = findPool(handle);
      requireValue(!machine.defaultPools.includes(pool));
      const unfreedBytes = pool.usedBytes + pool.expectedBytes;
      if (unfreedBytes > 0) {
        machine.site.fail("endsProcess", `${unfreedBytes} bytes of the pool are not freed`);
      }
      pool.shared?.revoke();
      pool.releaseThresholdBytes = 0;
      pool.notice(() => true);
      machine.pools.delete(pool);
      machine.forget(handle);
    },
    cuMemPoolTrimTo: (handle, keepBytes) => findPool(handle).trim(Number(keepBytes)),
    cuMemPoolSetAttribute(handle, attribute, value) {
      const pool = findPool(handle);
      if (value === null) machine.site.fail("endsProcess", "there is no value to set");
      if (attribute === A.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) {
        pool.releaseThresholdBytes = Number(get64(value));
      } else if (attribute === A.CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH) {
        requireValue(get64(value) === 0n);
        pool.reservedHighBytes = pool.reservedBytes;
      } else if (attribute === A.CU_MEMPOOL_ATTR_USED_MEM_HIGH) {
        requireValue(get64(value) === 0n);
        pool.usedHighBytes = pool.countedBytes;
      } else {
        requireValue(pool.reuse.has(attribute));
        pool.reuse.set(attribute, get32(value));
      }
    },
    cuMemPoolGetAttribute(handle, attribute, value) {
      const pool = findPool(handle);
      const size = SIZE_ATTRIBUTES[attribute]?.(pool);
      if (size !== undefined) return put64(value, size);
      put32(value, pool.reuse.get(attribute) ?? refuse("CUDA_ERROR_INVALID_VALUE"));
    },
    cuMemPoolSetAccess(handle, descriptors, count) {
      const pool = findPool(handle);
      for (const { location, flags } of decodeList(CUmemAccessDesc, descriptors, count)) {
        const isHost = isHostPlace(location);
        const isOnDevice = location.type === Place.CU_MEM_LOCATION_TYPE_DEVICE;
        if (pool.kind === "device" && !isOnDevice) refuse("CUDA_ERROR_NOT_SUPPORTED");
        if (flags === Rights.CU_MEM_ACCESS_FLAGS_PROT_READ) refuse("CUDA_ERROR_NOT_SUPPORTED");
        requireValue(isHost || isOnDevice);
        const device = isHost ? machine.host : machine.device(location.id);
        const isNone = flags === Rights.CU_MEM_ACCESS_FLAGS_PROT_NONE;
        requireValue(isNone || flags === Rights.CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
        // A device cannot lose access to its own pool.
        if (device === pool.device && isNone && pool.kind !== "managed") {
          refuse(isHost ? "CUDA_ERROR_NOT_SUPPORTED" : "CUDA_ERROR_INVALID_DEVICE");
        }
        const isNear = device === pool.device || pool.device.isHost;
        if (!isNear && !machine.settings.peerAccess) refuse("CUDA_ERROR_PEER_ACCESS_UNSUPPORTED");
        // Kernels that were launched before do not get the new access.
        machine.scheduler.runAll();
        pool.access.set(device.ordinal, flags);
      }
    },
    cuMemPoolGetAccess(flags, handle, location) {
      const pool = findPool(handle);
      const place = CUmemLocation.decode(bytesOf(location));
      put32(flags, pool.accessOf((isHostPlace(place) ? machine.host : deviceAt(place)).ordinal));
    },
  };
});

/** Tells whether a struct names the host or a node of it. */
export function isHostPlace({ type }: { type: number }): boolean {
  return type === Place.CU_MEM_LOCATION_TYPE_HOST || type === Place.CU_MEM_LOCATION_TYPE_HOST_NUMA;
}

/** Returns where managed memory should live that a struct places. */
function preferenceOf(location: { type: number; id: number }): number {
  if (isHostPlace(location)) return CU_DEVICE_CPU;
  return location.type === Place.CU_MEM_LOCATION_TYPE_DEVICE ? location.id : NO_LOCATION;
}

/** Records an allocation on a stream that is being captured, and returns its address. */
function captureAllocation(
  machine: Machine,
  stream: Stream,
  options: { capture: Capture; pool: MemoryPool; byteLength: number },
): number {
  const { capture, pool, byteLength } = options;
  const { memory } = machine;
  capture.requireValid();
  const device = pool.device.isHost ? stream.context.device : pool.device;
  if (byteLength > device.memoryBytes) refuse("CUDA_ERROR_OUT_OF_MEMORY");
  const allocation = new GraphAllocation(memory.place(device, byteLength), {
    capture,
    pool,
    context: stream.context,
    id: machine.nextId(),
    reserve: machine.graphMemory(device).reserveFor(capture),
  });
  memory.add(allocation);
  const region = memory.resolve(allocation.address, byteLength);
  submit(machine, stream, {
    regions: [region],
    queue: (target) => queueExclusive(machine, target, { region, run: () => allocation.open() }),
  });
  allocation.reserve.place(allocation, capture.latestOn(stream));
  return allocation.address;
}

/** Frees a block of graph memory in the order of a stream, or records that each launch does so. */
function freeGraphMemory(machine: Machine, stream: Stream, allocation: GraphAllocation): void {
  const capture = machine.captures.of(stream);
  const isOwn = allocation.capture === capture;
  // A graph can free what another is still to bring: only its launch needs that to be there.
  const asker = capture === undefined ? "call" : "free";
  requireValue(isOwn || allocation.isThere || (asker === "free" && allocation.isLeft));
  const region = machine.memory.resolve(allocation.address, allocation.byteLength, asker);
  submit(machine, stream, {
    regions: [region],
    queue(target) {
      const operation = queueExclusive(machine, target, { region, run: () => allocation.close() });
      allocation.isThere = false;
      allocation.reserve.needFor(operation);
      return operation;
    },
  });
  if (isOwn && capture !== undefined) allocation.freeInGraph(capture.latestOn(stream));
}
