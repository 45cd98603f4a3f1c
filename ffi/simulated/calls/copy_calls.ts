// Driver calls that copy bytes that follow each other, simulated.
// The array of a "buffer" parameter may itself be page-locked: what counts is its address.

import { CUmemcpyFlags } from "../../constants.ts";
import { CUmemcpyAttributes } from "../../structs.ts";
import { refuse, requireValue } from "../errors.ts";
import { hostAddress, pageableRegion } from "../model/address_space.ts";
import { Allocation } from "../model/allocation.ts";
import type { Context } from "../model/context.ts";
import type { Machine } from "../model/machine.ts";
import type { Region } from "../model/region.ts";
import { queueCopy, requireDevicePointer, requireRights } from "../work/copies.ts";
import { requireCopiesApart } from "../work/overlaps.ts";
import { linearPlane, type Plane } from "../work/planes.ts";
import type { CallGroup } from "./calls.ts";
import { bytesOf, type Cell, get64, put64 } from "./cells.ts";

type CopyCalls = CallGroup<
  | "cuMemcpyHtoDAsync_v2"
  | "cuMemcpyDtoHAsync_v2"
  | "cuMemcpyAsync"
  | "cuMemcpyPeerAsync"
  | "cuMemcpyBatchAsync"
>;

/** Index of the failed copy that a batch reports when none failed. */
const NO_INDEX = 2n ** 64n - 1n;

/** A copy of bytes that follow each other. */
interface LinearCopy {
  readonly destination: bigint;
  readonly source: bigint;
  readonly byteLength: bigint;
}

/** Makes the calls for a machine. */
export function copyCalls(machine: Machine): CopyCalls {
  const { memory } = machine;

  /** Finds the memory of a JavaScript array: page-locked if its address is, else ordinary. */
  function arrayRegion(array: Cell, byteLength: number): Region {
    const bytes = bytesOf(array);
    if (byteLength > bytes.byteLength) {
      machine.site.fail(
        "bounds",
        `${byteLength} bytes leave the host array of ${bytes.byteLength}`,
      );
    }
    const address = hostAddress(bytes);
    if (memory.at(address) !== undefined) return memory.resolve(address, byteLength);
    return pageableRegion(bytes.subarray(0, byteLength), address);
  }

  function planeOf({ destination, source, byteLength }: LinearCopy): Plane {
    return linearPlane(
      memory.resolve(Number(destination), Number(byteLength)),
      memory.resolve(Number(source), Number(byteLength)),
    );
  }

  return {
    cuMemcpyHtoDAsync_v2(destination, source, byteLength, handle) {
      const stream = machine.workStream(handle);
      if (byteLength === 0n) return;
      const from = arrayRegion(source, Number(byteLength));
      const to = memory.resolve(Number(destination), Number(byteLength));
      requireDevicePointer(to);
      queueCopy(machine, stream, { planes: [linearPlane(to, from)] });
    },
    cuMemcpyDtoHAsync_v2(destination, source, byteLength, handle) {
      const stream = machine.workStream(handle);
      if (byteLength === 0n) return;
      const from = memory.resolve(Number(source), Number(byteLength));
      requireDevicePointer(from);
      const to = arrayRegion(destination, Number(byteLength));
      queueCopy(machine, stream, { planes: [linearPlane(to, from)] });
    },
    cuMemcpyAsync(destination, source, byteLength, handle) {
      const stream = machine.workStream(handle);
      if (byteLength === 0n) return;
      queueCopy(machine, stream, { planes: [planeOf({ destination, source, byteLength })] });
    },
    cuMemcpyPeerAsync(destination, toContext, source, fromContext, byteLength, handle) {
      const stream = machine.plainStream(handle);
      const [to, from] = [toContext, fromContext].map((context) => {
        if (context === 0n) refuse("CUDA_ERROR_INVALID_CONTEXT", "noPeerContext");
        return machine.context(context);
      });
      requireValue(to !== undefined && from !== undefined);
      if (byteLength === 0n) return;
      const plane = planeOf({ destination, source, byteLength });
      for (const { region } of [plane.destination, plane.source]) {
        requireValue(region.kind !== "pageable");
      }
      requireNamed(to, { region: plane.destination.region, write: true });
      requireNamed(from, { region: plane.source.region, write: false });
      queueCopy(machine, stream, { planes: [plane], contexts: [to, from] });
    },
    cuMemcpyBatchAsync(
      destinations,
      sources,
      sizes,
      count,
      attributes,
      attributeIndices,
      attributeCount,
      failIndex,
      handle,
    ) {
      // The batch needs a stream of its own: the driver refuses the legacy default stream.
      requireValue(handle !== 0n);
      if (failIndex !== null) put64(failIndex, NO_INDEX);
      requireValue(handle > 1n);
      const stream = machine.workStream(handle);
      requireValue(machine.contexts.top !== undefined && count > 0n);
      requireAttributes({ attributes, attributeIndices, attributeCount, count });
      // Unlike other calls that cannot be recorded, this one leaves a capture as it is.
      if (machine.captures.of(stream) !== undefined) {
        refuse("CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED");
      }
      const copies = Array.from({ length: Number(count) }, (_, i): LinearCopy => ({
        destination: get64(destinations, i),
        source: get64(sources, i),
        byteLength: get64(sizes, i),
      }));
      // Unlike other copies, those of a batch do not depend on the current context.
      const contexts = [stream.context];
      requireCopiesApart(machine, copies);
      // Copies before a refused one are made.
      for (const [i, copy] of copies.entries()) {
        if (failIndex !== null) put64(failIndex, i);
        requireValue(copy.byteLength > 0n);
        const plane = planeOf(copy);
        requireRights(machine, contexts, plane);
        queueCopy(machine, stream, { planes: [plane], contexts });
      }
      if (failIndex !== null) put64(failIndex, NO_INDEX);
    },
  };
}

/** Rejects memory of a pool, or mapped memory, that the call's context may not access. */
function requireNamed(
  context: Context,
  { region, write }: { region: Region; write: boolean },
): void {
  for (const { owner } of region.segments) {
    const isPlain = owner instanceof Allocation && owner.kind === "device";
    requireValue(isPlain || owner.permits(context, write));
  }
}

/** Checks that the attributes of a batch cover its copies from the first on, in order. */
function requireAttributes(batch: {
  attributes: Cell;
  attributeIndices: Cell;
  attributeCount: bigint;
  count: bigint;
}): void {
  const { attributes, attributeIndices, attributeCount, count } = batch;
  requireValue(attributeCount > 0n && attributeCount <= count);
  const bytes = bytesOf(attributes);
  let previous = -1n;
  for (let i = 0; i < Number(attributeCount); i++) {
    const index = get64(attributeIndices, i);
    requireValue(i === 0 ? index === 0n : index > previous && index < count);
    previous = index;
    const { srcAccessOrder, flags } = CUmemcpyAttributes.decode(
      bytes.subarray(i * CUmemcpyAttributes.byteLength),
    );
    requireValue(srcAccessOrder >= 1 && srcAccessOrder <= 3);
    requireValue(flags <= CUmemcpyFlags.CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE);
  }
}
