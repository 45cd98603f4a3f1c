// Driver calls for page-locked, registered and managed memory, simulated with real host memory: the host
// can touch all of it at any time, through an ArrayBuffer over its address, and nothing ever migrates.
// Advice and prefetches are remembered, so that programs can read them back.

import {
  CU_DEVICE_CPU,
  CU_MEMHOSTALLOC,
  CU_MEMHOSTREGISTER,
  CUmem_advise as A,
  CUmem_range_attribute as R,
  CUmemLocationType,
} from "../../constants.ts";
import { CUmemLocation } from "../../structs.ts";
import { refuse, requireValue } from "../errors.ts";
import { HOST_END, hostBytes } from "../model/address_space.ts";
import { Advice, NO_LOCATION, type PageAdvice } from "../model/advice.ts";
import { Allocation, type AllocationKind } from "../model/allocation.ts";
import { costOf } from "../model/device.ts";
import { HostStorage } from "../model/host_storage.ts";
import { Mapping, Reservation } from "../model/reservation.ts";
import { queueMemoryWork, wholeUse } from "../work/memory_work.ts";
import { callGroup } from "./calls.ts";
import { bytesOf, decodeList, get64, put32, put64, requireCell, sizeOf } from "./cells.ts";
import { allocateHost, requireIdle } from "./memory_calls.ts";

const HOST_ALLOC_FLAGS = 7;
const KNOWN_REGISTER_FLAGS = CU_MEMHOSTREGISTER.PORTABLE | CU_MEMHOSTREGISTER.DEVICEMAP |
  CU_MEMHOSTREGISTER.IOMEMORY | CU_MEMHOSTREGISTER.READ_ONLY;

/** Memory that the host can touch. */
const HOST_KINDS: ReadonlySet<AllocationKind> = new Set(["pinned", "registered", "managed"]);

/** Value of discarded bytes, so that a program that still reads them notices. */
const DISCARDED = 0xdd;

/** Advice that names a place. */
const ABOUT_PLACES: ReadonlySet<number> = new Set([
  A.CU_MEM_ADVISE_SET_PREFERRED_LOCATION,
  A.CU_MEM_ADVISE_SET_ACCESSED_BY,
  A.CU_MEM_ADVISE_UNSET_ACCESSED_BY,
]);

/** The changes that advice makes to the hints of a page. */
const ADVICE: Readonly<
  Record<number, (page: PageAdvice, device: number) => Partial<PageAdvice>>
> = {
  [A.CU_MEM_ADVISE_SET_READ_MOSTLY]: () => ({ readMostly: true }),
  [A.CU_MEM_ADVISE_UNSET_READ_MOSTLY]: () => ({ readMostly: false }),
  [A.CU_MEM_ADVISE_SET_PREFERRED_LOCATION]: (_, preferredLocation) => ({ preferredLocation }),
  [A.CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION]: () => ({ preferredLocation: NO_LOCATION }),
  [A.CU_MEM_ADVISE_SET_ACCESSED_BY]: ({ accessedBy }, device) => ({
    accessedBy: accessedBy.union(new Set([device])),
  }),
  [A.CU_MEM_ADVISE_UNSET_ACCESSED_BY]: ({ accessedBy }, device) => ({
    accessedBy: accessedBy.difference(new Set([device])),
  }),
};

/** Hints that all pages of a range must share to be told. */
const PAGE_ATTRIBUTES: Readonly<Record<number, (pages: readonly PageAdvice[]) => number>> = {
  [R.CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY]: (pages) => Number(pages.every((page) => page.readMostly)),
  [R.CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION]: (pages) =>
    agreed(pages.map((page) => page.preferredLocation)),
  [R.CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION]: (pages) =>
    agreed(pages.map((page) => page.lastPrefetchLocation)),
};

/** Page-locked and registered memory. */
export const lockedCalls = callGroup((machine) => {
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
      put64(address, allocateHost(machine, { byteLength, kind: "pinned", flags }));
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
      // The flags of managed memory are others.
      const own = found instanceof Allocation && found.kind !== "managed" ? found.flags : 0;
      const given = found instanceof Mapping ? CU_MEMHOSTALLOC.PORTABLE : own;
      put32(flags, given | CU_MEMHOSTALLOC.DEVICEMAP);
    },
    cuMemHostRegister_v2(address, byteLength, flags) {
      const context = contexts.current;
      machine.requireRelaxed();
      const place = { address: Number(address), byteLength: Number(byteLength) };
      requireValue(address !== 0n && byteLength > 0n && (flags & ~KNOWN_REGISTER_FLAGS) === 0);
      requireValue(place.address < HOST_END);
      const known = memory.within(place.address, place.byteLength);
      requireValue(
        known.every((entry) => entry instanceof Allocation && entry.kind === "registered"),
      );
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
});

export const managedCalls = callGroup((machine) => {
  const { contexts, memory } = machine;

  function managedRange(address: bigint, byteLength: bigint) {
    const allocation = memory.at(Number(address));
    requireValue(allocation instanceof Allocation && allocation.isManaged);
    const start = Number(address) - allocation.address;
    const end = start + Number(byteLength);
    requireValue(byteLength > 0n && end <= allocation.byteLength);
    allocation.advice ??= new Advice(allocation.pool?.preferredLocation);
    return { allocation, advice: allocation.advice, start, end };
  }

  /** Checks a place for managed memory: the host, or a device that shares it with the host. */
  function requireLocation(location: number): void {
    if (location === CU_DEVICE_CPU) return;
    machine.device(location);
    if (!machine.settings.concurrentManagedAccess) refuse("CUDA_ERROR_INVALID_DEVICE");
  }

  return {
    cuMemAllocManaged(address, size, flags) {
      const byteLength = sizeOf(size);
      requireCell(address);
      requireValue((flags === 1 || flags === 2) && byteLength > 0);
      contexts.requireCurrent();
      machine.requireRelaxed();
      put64(address, allocateHost(machine, { byteLength, kind: "managed", flags }));
    },
    cuMemAdvise(address, byteLength, advice, device) {
      contexts.requireCurrent();
      machine.requireRelaxed();
      // The driver ignores the device for what is not about a place.
      if (ABOUT_PLACES.has(advice)) requireLocation(device);
      requireValue(ADVICE[advice] !== undefined);
      const allocation = memory.at(Number(address));
      const isOfPool = allocation instanceof Allocation && allocation.pool?.kind === "managed";
      if (isOfPool) refuse("CUDA_ERROR_NOT_SUPPORTED");
      const range = managedRange(address, byteLength);
      range.advice.update(range.start, range.end, (page) => ADVICE[advice]?.(page, device) ?? {});
    },
    cuMemPrefetchAsync(address, byteLength, device, stream) {
      const queue = machine.plainStream(stream);
      requireLocation(device);
      const range = managedRange(address, byteLength);
      const isDownload = device === CU_DEVICE_CPU;
      const { downloads, uploads } = queue.context.device;
      machine.scheduler.add(queue, {
        seconds: costOf(isDownload ? "downloadPinned" : "uploadPinned", Number(byteLength)),
        engine: isDownload ? downloads : uploads,
      });
      range.advice.update(range.start, range.end, () => ({ lastPrefetchLocation: device }));
    },
    cuMemRangeGetAttribute(data, dataBytes, attribute, address, byteLength) {
      contexts.requireCurrent();
      const { advice, start, end } = managedRange(address, byteLength);
      const pages = advice.read(start, end);
      const count = Number(dataBytes) / 4;
      requireValue(Number.isInteger(count) && count > 0);
      requireValue(count === 1 || attribute === R.CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY);
      if (attribute === R.CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY) {
        const shared = pages.map((page) => page.accessedBy).reduce((a, b) => a.intersection(b));
        const devices = [...shared];
        for (let i = 0; i < count; i++) {
          put32(bytesOf(data).subarray(i * 4, i * 4 + 4), devices[i] ?? NO_LOCATION);
        }
        return;
      }
      const read = PAGE_ATTRIBUTES[attribute] ?? refuse("CUDA_ERROR_INVALID_VALUE");
      put32(data, read(pages));
    },
    cuMemDiscardAndPrefetchBatchAsync(addresses, sizes, count, places, firsts, ...rest) {
      const [placeCount, flags, stream] = rest;
      // Like a batch of copies, it needs a stream of its own.
      requireValue(stream > 1n && count > 0n && flags === 0n);
      requireValue(placeCount > 0n && placeCount <= count);
      const queue = machine.plainStream(stream);
      const devices = decodeList(CUmemLocation, places, placeCount).map((place, index) => {
        const device = deviceOf(place);
        requireValue(device < machine.devices.length);
        requireLocation(device);
        const [first, last] = [get64(firsts, index), index === 0 ? -1n : get64(firsts, index - 1)];
        requireValue(first > last && first < count && (index > 0 || first === 0n));
        return { device, first: Number(first) };
      });
      const ranges = Array.from({ length: Number(count) }, (_, index) => {
        const [address, byteLength] = [get64(addresses, index), get64(sizes, index)];
        const device = devices.findLast(({ first }) => first <= index)?.device ?? NO_LOCATION;
        const range = managedRange(address, byteLength);
        return { ...range, device, region: memory.resolve(Number(address), Number(byteLength)) };
      });
      queueMemoryWork(machine, queue, {
        uses: ranges.map(({ region }) => wholeUse(region, true)),
        run: () =>
          ranges.forEach(({ region }) =>
            region.span(0, region.byteLength, "write").fill(DISCARDED)
          ),
      });
      for (const { advice, device, start, end } of ranges) {
        advice.update(start, end, () => ({ lastPrefetchLocation: device }));
      }
    },
  };
});

/** Returns the number by which other calls know a place. */
function deviceOf({ type, id }: ReturnType<typeof CUmemLocation.decode>): number {
  if (type === CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST) return CU_DEVICE_CPU;
  requireValue(type === CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE && id >= 0);
  return id;
}

function agreed(locations: readonly number[]): number {
  const [first = NO_LOCATION] = locations;
  return locations.every((location) => location === first) ? first : NO_LOCATION;
}
