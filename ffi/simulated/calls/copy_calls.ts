// Driver calls that copy and fill bytes, simulated: runs, rectangles, and boxes, of which each slice is
// a plane of rows. The array of a "buffer" parameter may itself be page-locked: its address decides.

import { CUmemcpyFlags, CUmemorytype } from "../../constants.ts";
import type { DriverApi } from "../../cuda.ts";
import { CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUmemcpyAttributes } from "../../structs.ts";
import { refuse, requireValue } from "../errors.ts";
import { hostAddress, pageableRegion } from "../model/address_space.ts";
import type { Context } from "../model/context.ts";
import type { Region } from "../model/region.ts";
import { Reservation } from "../model/reservation.ts";
import { isPlain, queueCopy, requireDevicePointer, requireRights } from "../work/copies.ts";
import { type Fill, queueFill } from "../work/fills.ts";
import { linearPlane, type Plane, requireCopiesApart, type Side } from "../work/planes.ts";
import { callGroup } from "./calls.ts";
import { bytesOf, type Cell, decodeList, get64, put64 } from "./cells.ts";

type RowFill = Parameters<NonNullable<DriverApi["cuMemsetD2D8Async"]>>;

/** Index of the failed copy that a batch reports when none failed. */
const NO_INDEX = 2n ** 64n - 1n;

/** A copy of bytes that follow each other. */
interface LinearCopy {
  readonly destination: bigint;
  readonly source: bigint;
  readonly byteLength: bigint;
}

/** Sizes of a box to copy. */
interface Shape {
  readonly widthBytes: number;
  readonly height: number;
  readonly depth: number;
}

/** The members of a struct that describe a copy; that of a rectangle lacks some. */
type BoxCopy =
  & ReturnType<typeof CUDA_MEMCPY2D.decode>
  & Partial<ReturnType<typeof CUDA_MEMCPY3D.decode>>;

/** Copies of bytes that follow each other. */
export const linearCopyCalls = callGroup((machine) => {
  const { memory } = machine;

  /** Finds the memory of a JavaScript array: page-locked if its address is, else ordinary. */
  function arrayRegion(array: Cell, byteLength: number): Region {
    const bytes = bytesOf(array);
    if (byteLength > bytes.byteLength) {
      const words = `${byteLength} bytes leave the host array of ${bytes.byteLength}`;
      machine.site.fail("bounds", words);
    }
    const address = hostAddress(bytes);
    if (memory.at(address) !== undefined) return memory.resolve(address, byteLength);
    return pageableRegion(bytes.subarray(0, byteLength), address);
  }

  function planeOf({ destination, source, byteLength }: LinearCopy): Plane {
    const [to, from] = [destination, source]
      .map((address) => memory.resolve(Number(address), Number(byteLength)));
    requireValue(to !== undefined && from !== undefined);
    return linearPlane(to, from);
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
      const [target, origin] = [plane.destination.region, plane.source.region];
      requireValue(target.kind !== "pageable" && origin.kind !== "pageable");
      requireNamed(to, target, true);
      requireNamed(from, origin, false);
      queueCopy(machine, stream, { planes: [plane], contexts: [to, from] });
    },
    cuMemcpyBatchAsync(destinations, sources, sizes, count, ...rest) {
      const [attributes, attributeIndices, attributeCount, failIndex, handle] = rest;
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
});

/** Copies of rectangles and boxes; arrays of textures do not exist here. */
export const shapedCopyCalls = callGroup((machine) => {
  function copyBox(handle: bigint, copy: BoxCopy): void {
    const stream = machine.workStream(handle);
    const [widthBytes, height] = [Number(copy.WidthInBytes), Number(copy.Height)];
    const shape = { widthBytes, height, depth: Number(copy.Depth ?? 1n) };
    // The driver checks nothing else of a copy of no bytes.
    if (widthBytes * height * shape.depth === 0) return;
    const [source, destination] = [sliceOf(shape, copy, "src"), sliceOf(shape, copy, "dst")];
    const planes = Array.from({ length: shape.depth }, (_, slice): Plane => ({
      source: source(slice),
      destination: destination(slice),
      widthBytes,
      rowCount: height,
    }));
    queueCopy(machine, stream, { planes });
  }

  /** Checks a side: rows must lie behind each other, and slices too when there are several. */
  function sliceOf(shape: Shape, copy: BoxCopy, side: "src" | "dst"): (slice: number) => Side {
    const address = addressOf(copy, side);
    const [xBytes, y] = [Number(copy[`${side}XInBytes`]), Number(copy[`${side}Y`])];
    const z = Number(copy[`${side}Z`] ?? 0n);
    const givenPitch = Number(copy[`${side}Pitch`]);
    const givenHeight = Number(copy[`${side}Height`] ?? 0n);
    const [widthBytes, rowCount] = [xBytes + shape.widthBytes, y + shape.height];
    const isOneSlice = z + shape.depth <= 1;
    const isOneRow = isOneSlice && rowCount <= 1;
    requireValue(isOneRow || givenPitch !== 0, "packed");
    requireValue(isOneSlice || givenHeight !== 0, "packed");
    const found = machine.memory.at(address);
    const isMapped = found instanceof Reservation || found?.pool !== undefined;
    // Of mapped memory and that of pools, the driver leaves out the bytes before the first column.
    requireValue(givenPitch === 0 || givenPitch >= (isMapped ? shape.widthBytes : widthBytes));
    requireValue(givenHeight === 0 || givenHeight >= (isOneSlice ? shape.height : rowCount));
    const pitchBytes = givenPitch === 0 ? widthBytes : givenPitch;
    // A caller that names device memory does not let the address decide.
    const isOnDevice = copy[`${side}MemoryType`] === CUmemorytype.CU_MEMORYTYPE_DEVICE;
    return (slice) => {
      const row = (z + slice) * (isOneSlice ? rowCount : givenHeight) + y;
      requireValue(address !== 0);
      const byteLength = (shape.height - 1) * pitchBytes + shape.widthBytes;
      const region = machine.memory.resolve(address + row * pitchBytes + xBytes, byteLength);
      if (isOnDevice) requireDevicePointer(region);
      return { region, pitchBytes };
    };
  }

  return {
    cuMemcpy2DAsync_v2: (description, stream) =>
      copyBox(stream, CUDA_MEMCPY2D.decode(bytesOf(description))),
    cuMemcpy3DAsync_v2(description, stream) {
      const copy = CUDA_MEMCPY3D.decode(bytesOf(description));
      const ignored = [copy.srcLOD, copy.dstLOD, copy.reserved0, copy.reserved1];
      requireValue(ignored.every((member) => member === 0n), "reserved");
      copyBox(stream, copy);
    },
  };
});

/** Fills of memory: an element, a number of elements, and a number of rows. */
export const fillCalls = callGroup((machine) => {
  const run =
    (elementBytes: number) =>
    (address: bigint, value: number, elementCount: bigint, stream: bigint): void =>
      fill(stream, { address, value, elementBytes, elementCount: Number(elementCount) });

  const rows =
    (elementBytes: number) =>
    (...[address, pitch, value, elementCount, rowCount, stream]: RowFill): void =>
      fill(stream, {
        address,
        value,
        elementBytes,
        elementCount: Number(elementCount),
        rowCount: Number(rowCount),
        pitchBytes: Number(pitch),
      });

  function fill(stream: bigint, what: Fill): void {
    queueFill(machine, machine.workStream(stream), what);
  }

  return {
    cuMemsetD8Async: run(1),
    cuMemsetD16Async: run(2),
    cuMemsetD32Async: run(4),
    cuMemsetD2D8Async: rows(1),
    cuMemsetD2D16Async: rows(2),
    cuMemsetD2D32Async: rows(4),
  };
});

function addressOf(copy: BoxCopy, side: "src" | "dst"): number {
  switch (copy[`${side}MemoryType`]) {
    case CUmemorytype.CU_MEMORYTYPE_HOST:
      return Number(copy[`${side}Host`]);
    case CUmemorytype.CU_MEMORYTYPE_DEVICE:
    case CUmemorytype.CU_MEMORYTYPE_UNIFIED:
      return Number(copy[`${side}Device`]);
    default:
      return refuse("CUDA_ERROR_INVALID_VALUE");
  }
}

/** Rejects memory of a pool, or mapped memory, that the call's context may not access. */
function requireNamed(context: Context, { segments }: Region, write: boolean): void {
  for (const { owner } of segments) {
    requireValue(isPlain(owner) || owner.permits(context, write));
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
  let previous = -1n;
  const list = decodeList(CUmemcpyAttributes, attributes, attributeCount);
  for (const [i, { srcAccessOrder, flags }] of list.entries()) {
    const index = get64(attributeIndices, i);
    requireValue(i === 0 ? index === 0n : index > previous && index < count);
    previous = index;
    requireValue(srcAccessOrder >= 1 && srcAccessOrder <= 3);
    requireValue(flags <= CUmemcpyFlags.CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE);
  }
}
