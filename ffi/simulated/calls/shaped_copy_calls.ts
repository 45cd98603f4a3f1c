// Driver calls that copy rectangles and boxes, simulated.
// Each slice of a box is a plane of rows; arrays of textures do not exist here.

import { CUmemorytype } from "../../constants.ts";
import { CUDA_MEMCPY2D, CUDA_MEMCPY3D } from "../../structs.ts";
import { refuse, requireValue } from "../errors.ts";
import type { Machine } from "../model/machine.ts";
import { Reservation } from "../model/reservation.ts";
import { queueCopy, requireDevicePointer } from "../work/copies.ts";
import type { Plane, Side } from "../work/planes.ts";
import type { CallGroup } from "./calls.ts";
import { bytesOf } from "./cells.ts";

/** One side of a box copy, with the header's members made numbers. */
interface Box {
  address: number;
  /** Whether the caller names device memory explicitly, instead of letting the address decide. */
  isOnDevice: boolean;
  xBytes: number;
  y: number;
  z: number;
  pitchBytes: number;
  height: number;
}

/** One side of a copy, as the caller describes it; a rectangle has no slices. */
interface GivenSide {
  memoryType: number;
  host: bigint;
  device: bigint;
  xBytes: bigint;
  y: bigint;
  z?: bigint | undefined;
  pitchBytes: bigint;
  height?: bigint | undefined;
}

interface GivenSides {
  source: GivenSide;
  destination: GivenSide;
}

/** The members of a struct that describe the sides; that of a rectangle lacks some. */
type SideMembers =
  & ReturnType<typeof CUDA_MEMCPY2D.decode>
  & Partial<ReturnType<typeof CUDA_MEMCPY3D.decode>>;

/** Bytes and rows that a box copy moves. */
interface Shape {
  widthBytes: number;
  height: number;
  depth: number;
}

type ShapedCopyCalls = CallGroup<`cuMemcpy2D${string}` | `cuMemcpy3D${string}`>;

/** Makes the calls for a machine. */
export function shapedCopyCalls(machine: Machine): ShapedCopyCalls {
  return {
    cuMemcpy2DAsync_v2(description, stream) {
      const copy = CUDA_MEMCPY2D.decode(bytesOf(description));
      const shape = {
        widthBytes: Number(copy.WidthInBytes),
        height: Number(copy.Height),
        depth: 1,
      };
      copyBox(stream, shape, sidesOf(copy));
    },
    cuMemcpy3DAsync_v2(description, stream) {
      const copy = CUDA_MEMCPY3D.decode(bytesOf(description));
      const ignored = [copy.srcLOD, copy.dstLOD, copy.reserved0, copy.reserved1];
      requireValue(ignored.every((member) => member === 0n), "reserved");
      const shape = {
        widthBytes: Number(copy.WidthInBytes),
        height: Number(copy.Height),
        depth: Number(copy.Depth),
      };
      copyBox(stream, shape, sidesOf(copy));
    },
  };

  function copyBox(
    handle: bigint,
    shape: Shape,
    sides: GivenSides,
  ): void {
    const stream = machine.workStream(handle);
    const { widthBytes, height, depth } = shape;
    // The driver checks nothing else of a copy of no bytes.
    if (widthBytes * height * depth === 0) return;
    const [source, destination] = [boxFor(sides.source), boxFor(sides.destination)];
    const planes = Array.from({ length: depth }, (_, slice): Plane => ({
      source: sideOf(source, { shape, slice }),
      destination: sideOf(destination, { shape, slice }),
      widthBytes,
      rowCount: height,
    }));
    queueCopy(machine, stream, { planes });

    function boxFor(side: GivenSide): Box {
      const address = addressOf(side);
      const memory = machine.memory.at(address);
      const isMapped = memory instanceof Reservation || memory?.pool !== undefined;
      return boxOf(shape, { ...side, address, isMapped });
    }
  }

  function sideOf(box: Box, { shape, slice }: { shape: Shape; slice: number }): Side {
    const row = (box.z + slice) * box.height + box.y;
    const start = box.address + row * box.pitchBytes + box.xBytes;
    const byteLength = (shape.height - 1) * box.pitchBytes + shape.widthBytes;
    requireValue(box.address !== 0);
    const region = machine.memory.resolve(start, byteLength);
    if (box.isOnDevice) requireDevicePointer(region);
    return { region, pitchBytes: box.pitchBytes };
  }
}

function sidesOf(copy: SideMembers): GivenSides {
  return {
    source: {
      memoryType: copy.srcMemoryType,
      host: copy.srcHost,
      device: copy.srcDevice,
      xBytes: copy.srcXInBytes,
      y: copy.srcY,
      z: copy.srcZ,
      pitchBytes: copy.srcPitch,
      height: copy.srcHeight,
    },
    destination: {
      memoryType: copy.dstMemoryType,
      host: copy.dstHost,
      device: copy.dstDevice,
      xBytes: copy.dstXInBytes,
      y: copy.dstY,
      z: copy.dstZ,
      pitchBytes: copy.dstPitch,
      height: copy.dstHeight,
    },
  };
}

function addressOf({ memoryType, host, device }: GivenSide): number {
  switch (memoryType) {
    case CUmemorytype.CU_MEMORYTYPE_HOST:
      return Number(host);
    case CUmemorytype.CU_MEMORYTYPE_DEVICE:
    case CUmemorytype.CU_MEMORYTYPE_UNIFIED:
      return Number(device);
    default:
      return refuse("CUDA_ERROR_INVALID_VALUE");
  }
}

/** Checks a side: rows must lie behind each other, and slices too when there are several. */
function boxOf(shape: Shape, side: GivenSide & { address: number; isMapped: boolean }): Box {
  const xBytes = Number(side.xBytes);
  const [y, z] = [Number(side.y), Number(side.z ?? 0n)];
  const [givenPitch, givenHeight] = [Number(side.pitchBytes), Number(side.height ?? 0n)];
  const [widthBytes, rowCount] = [xBytes + shape.widthBytes, y + shape.height];
  const isOneSlice = z + shape.depth <= 1;
  const isOneRow = isOneSlice && rowCount <= 1;
  requireValue(isOneRow || givenPitch !== 0, "packed");
  requireValue(isOneSlice || givenHeight !== 0, "packed");
  // Of mapped memory and that of pools, the driver leaves out the bytes before the first column.
  requireValue(givenPitch === 0 || givenPitch >= (side.isMapped ? shape.widthBytes : widthBytes));
  requireValue(givenHeight === 0 || givenHeight >= (isOneSlice ? shape.height : rowCount));
  return {
    address: side.address,
    isOnDevice: side.memoryType === CUmemorytype.CU_MEMORYTYPE_DEVICE,
    xBytes,
    y,
    z,
    pitchBytes: givenPitch === 0 ? widthBytes : givenPitch,
    height: isOneSlice ? rowCount : givenHeight,
  };
}
