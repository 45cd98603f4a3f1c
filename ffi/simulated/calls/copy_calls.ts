// Driver calls that copy bytes that follow each other, simulated.
// The array of a "buffer" parameter may itself be page-locked: what counts is its address.

import { linearPlane, queueCopy } from "../copies.ts";
import { pageableRegion } from "../address_space.ts";
import { bytesOf, type Cell, get32, get64, put64 } from "../cells.ts";
import type { Context } from "../context.ts";
import { CUmemcpyAttributes } from "../../structs.ts";
import { refuse, requireValue } from "../errors.ts";
import type { Machine } from "../machine.ts";
import type { Region } from "../region.ts";
import type { CallGroup } from "./calls.ts";

type CopyCalls = CallGroup<
  | "cuMemcpyHtoDAsync_v2"
  | "cuMemcpyDtoHAsync_v2"
  | "cuMemcpyAsync"
  | "cuMemcpyPeerAsync"
  | "cuMemcpyBatchAsync"
>;

/** Makes the calls for a machine. */
export function copyCalls(machine: Machine): CopyCalls {
  const { memory } = machine;

  /** Finds what a JavaScript array's bytes are: page-locked memory when its address is, else ordinary. */
  function arrayRegion(array: Cell, byteLength: number): Region {
    const bytes = bytesOf(array);
    if (byteLength > bytes.byteLength) {
      machine.site.fail(
        "bounds",
        `${byteLength} bytes leave the host array of ${bytes.byteLength}`,
      );
    }
    const address = Number(Deno.UnsafePointer.value(Deno.UnsafePointer.of(bytes)));
    if (memory.at(address) !== undefined) return memory.resolve(address, byteLength);
    return pageableRegion(bytes.subarray(0, byteLength), address);
  }

  function copyBetween(
    route: { destination: bigint; source: bigint; byteLength: bigint; stream: bigint },
    contexts?: readonly Context[],
  ): void {
    const stream = machine.stream(route.stream);
    if (route.byteLength === 0n) return;
    const byteLength = Number(route.byteLength);
    const destination = memory.resolve(Number(route.destination), byteLength);
    const source = memory.resolve(Number(route.source), byteLength);
    const planes = [linearPlane(destination, source)];
    queueCopy(machine, stream, { planes, contexts: contexts ?? [stream.context] });
  }

  return {
    cuMemcpyHtoDAsync_v2(destination, source, byteLength, handle) {
      const stream = machine.stream(handle);
      if (byteLength === 0n) return;
      const from = arrayRegion(source, Number(byteLength));
      const to = memory.resolve(Number(destination), Number(byteLength));
      requireValue(to.kind !== "pageable");
      queueCopy(machine, stream, { planes: [linearPlane(to, from)] });
    },
    cuMemcpyDtoHAsync_v2(destination, source, byteLength, handle) {
      const stream = machine.stream(handle);
      if (byteLength === 0n) return;
      const from = memory.resolve(Number(source), Number(byteLength));
      requireValue(from.kind !== "pageable");
      const to = arrayRegion(destination, Number(byteLength));
      queueCopy(machine, stream, { planes: [linearPlane(to, from)] });
    },
    cuMemcpyAsync(destination, source, byteLength, stream) {
      copyBetween({ destination, source, byteLength, stream });
    },
    cuMemcpyPeerAsync(destination, toContext, source, fromContext, byteLength, stream) {
      machine.stream(stream).requireUncaptured();
      const contexts = [machine.context(toContext), machine.context(fromContext)];
      copyBetween({ destination, source, byteLength, stream }, contexts);
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
      stream,
    ) {
      // The batch needs a stream of its own: the driver refuses the legacy default stream.
      requireValue(stream > 1n && count > 0n);
      // Unlike other calls that cannot be recorded, this one leaves a capture as it is.
      if (machine.stream(stream).capture !== undefined) {
        refuse("CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED");
      }
      requireAttributes({ attributes, attributeIndices, attributeCount, count });
      for (let i = 0; i < Number(count); i++) {
        const byteLength = get64(sizes, i);
        if (failIndex !== null) put64(failIndex, i);
        requireValue(byteLength > 0n);
        const [destination, source] = [get64(destinations, i), get64(sources, i)];
        copyBetween({ destination, source, byteLength, stream });
      }
      if (failIndex !== null) put64(failIndex, 2n ** 64n - 1n);
    },
  };
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
    const order = get32(bytes.subarray(i * CUmemcpyAttributes.byteLength));
    requireValue(order >= 1 && order <= 3);
  }
}
