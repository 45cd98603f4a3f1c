// Driver calls for managed memory, simulated with real host memory: nothing ever migrates.
// Advice and prefetches are remembered, so that programs can read them back.

import {
  CU_DEVICE_CPU,
  CUmem_advise as A,
  CUmem_range_attribute as R,
  CUmemLocationType,
} from "../../constants.ts";
import { CUmemLocation } from "../../structs.ts";
import { refuse, requireValue } from "../errors.ts";
import { Advice, NO_LOCATION } from "../model/advice.ts";
import { Allocation } from "../model/allocation.ts";
import { costOf } from "../model/engine.ts";
import type { Machine } from "../model/machine.ts";
import { allocateHost } from "../work/host_allocation.ts";
import { queueMemoryWork, wholeUse } from "../work/memory_work.ts";
import type { CallGroup } from "./calls.ts";
import { bytesOf, get64, put32, put64, requireCell, sizeOf } from "./cells.ts";

/** Value of discarded bytes, so that a program that still reads them notices. */
const DISCARDED = 0xdd;

/** Advice that names a place. */
const ABOUT_PLACES: ReadonlySet<number> = new Set([
  A.CU_MEM_ADVISE_SET_PREFERRED_LOCATION,
  A.CU_MEM_ADVISE_SET_ACCESSED_BY,
  A.CU_MEM_ADVISE_UNSET_ACCESSED_BY,
]);

type ManagedMemoryCalls = CallGroup<
  | "cuMemAllocManaged"
  | "cuMemAdvise"
  | "cuMemPrefetchAsync"
  | "cuMemRangeGetAttribute"
  | "cuMemDiscardAndPrefetchBatchAsync"
>;

/** Makes the calls for a machine. */
export function managedMemoryCalls(machine: Machine): ManagedMemoryCalls {
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
      put64(
        address,
        allocateHost(machine, { byteLength, kind: "managed", flags }),
      );
    },
    cuMemAdvise(address, byteLength, advice, device) {
      contexts.requireCurrent();
      machine.requireRelaxed();
      // The driver ignores the device for what is not about a place.
      if (ABOUT_PLACES.has(advice)) requireLocation(device);
      requireValue(Object.values<number>(A).includes(advice));
      const allocation = memory.at(Number(address));
      const isOfPool = allocation instanceof Allocation && allocation.pool?.kind === "managed";
      if (isOfPool) refuse("CUDA_ERROR_NOT_SUPPORTED");
      const range = managedRange(address, byteLength);
      range.advice.update(range.start, range.end, ({ accessedBy }) => {
        switch (advice) {
          case A.CU_MEM_ADVISE_SET_READ_MOSTLY:
            return { readMostly: true };
          case A.CU_MEM_ADVISE_UNSET_READ_MOSTLY:
            return { readMostly: false };
          case A.CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
            return { preferredLocation: device };
          case A.CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
            return { preferredLocation: NO_LOCATION };
          case A.CU_MEM_ADVISE_SET_ACCESSED_BY:
            return { accessedBy: accessedBy.union(new Set([device])) };
          case A.CU_MEM_ADVISE_UNSET_ACCESSED_BY:
            return { accessedBy: accessedBy.difference(new Set([device])) };
          default:
            return refuse("CUDA_ERROR_INVALID_VALUE");
        }
      });
    },
    cuMemPrefetchAsync(address, byteLength, device, stream) {
      const queue = machine.plainStream(stream);
      requireLocation(device);
      const range = managedRange(address, byteLength);
      const isDownload = device === CU_DEVICE_CPU;
      machine.scheduler.enqueue(queue, machine.scheduler.nextMoment(queue), {
        seconds: costOf(isDownload ? "downloadPinned" : "uploadPinned", Number(byteLength)),
        engine: isDownload ? queue.context.device.downloads : queue.context.device.uploads,
        run() {},
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
      switch (attribute) {
        case R.CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
          return put32(data, Number(pages.every((page) => page.readMostly)));
        case R.CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
          return put32(data, agreed(pages.map((page) => page.preferredLocation)));
        case R.CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
          return put32(data, agreed(pages.map((page) => page.lastPrefetchLocation)));
        case R.CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY: {
          const shared = pages.map((page) => page.accessedBy).reduce((a, b) => a.intersection(b));
          const devices = [...shared];
          for (let i = 0; i < count; i++) {
            put32(bytesOf(data).subarray(i * 4, i * 4 + 4), devices[i] ?? NO_LOCATION);
          }
          return;
        }
        default:
          return refuse("CUDA_ERROR_INVALID_VALUE");
      }
    },
    cuMemDiscardAndPrefetchBatchAsync(
      addresses,
      sizes,
      count,
      places,
      firsts,
      placeCount,
      flags,
      stream,
    ) {
      // Like a batch of copies, it needs a stream of its own.
      requireValue(stream > 1n && count > 0n && flags === 0n);
      requireValue(placeCount > 0n && placeCount <= count);
      const queue = machine.plainStream(stream);
      const devices = Array.from({ length: Number(placeCount) }, (_, index) => {
        const at = index * CUmemLocation.byteLength;
        const device = deviceOf(CUmemLocation.decode(bytesOf(places).subarray(at)));
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
        run() {
          for (const { region } of ranges) {
            region.span(0, region.byteLength, "write").fill(DISCARDED);
          }
        },
      });
      for (const { advice, device, start, end } of ranges) {
        advice.update(start, end, () => ({ lastPrefetchLocation: device }));
      }
    },
  };
}

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
