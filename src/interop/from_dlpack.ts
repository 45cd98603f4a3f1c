// Arrays of another library of this process, by DLPack: used without a copy, and released when the GPU
// is done.

import { DLDeviceType } from "../../ffi/dlpack.ts";
import type { DeviceBuffer } from "../buffers/device_buffer.ts";
import { PLACE_KINDS, type PlaceOptions } from "../buffers/place_options.ts";
import { toShape } from "../buffers/shape.ts";
import type { StridedView } from "../buffers/strided_view.ts";
import { checkLayout, contiguousStrides, isContiguous } from "../buffers/strides.ts";
import { DLPackTensor } from "../dlpack/dlpack_tensor.ts";
import { handedOutBy } from "../dlpack/handed_out.ts";
import { type ForeignTensor, readTensor, refusal } from "../dlpack/read_tensor.ts";
import type { Context } from "../driver/context.ts";
import { DTYPE, type DType, elementBytes, packLength } from "../dtype.ts";
import { type PointerAttributes, pointerAttributes } from "../memory/pointer_attributes.ts";
import { requireNoCapture } from "../order/capture.ts";
import { type CudaStream, legacyStreamOf } from "../order/stream.ts";
import { describeValue, formatAddress } from "../words/format.ts";
import { FLAG, OptionSet } from "../words/options.ts";
import { adoptMemory } from "./from_handle.ts";

/** Options for {@link CudaDevice.fromDLPack}. */
export interface FromDLPackOptions<D extends DType = DType> extends PlaceOptions {
  /** Expected element type; by default the struct's. */
  readonly dtype?: D | undefined;
  /** Gives the struct a version, as since DLPack 1.0; true by default. */
  readonly versioned?: boolean | undefined;
  /** Stream on which the memory is ready; CUDA's legacy default stream when left out. */
  readonly stream?: CudaStream | undefined;
  /** Returns a view with the array's strides; otherwise the array must be contiguous. */
  readonly strided?: boolean | undefined;
}

const FROM_DLPACK_OPTIONS = new OptionSet<FromDLPackOptions>({
  dtype: DTYPE,
  versioned: FLAG,
  ...PLACE_KINDS,
  strided: FLAG,
});

/** A pointer to a struct, or one of the kit's own structs. */
export type DLPackPointer = bigint | Deno.PointerObject | DLPackTensor;

/** The type of a struct's deleter. */
const DELETER = { parameters: ["u64"], result: "void" } as const;

/** Structs that buffers own, so that none is taken twice. */
const taken = new Set<bigint>();

/**
 * Creates a buffer over another library's array. The buffer takes ownership of the struct: it calls
 * the deleter once, when the buffer is disposed and the GPU is done with it. When this call throws,
 * the struct keeps its former owner.
 */
export function bufferFromDLPack<D extends DType>(
  context: Context,
  pointer: DLPackPointer,
  options: FromDLPackOptions<D>,
): DeviceBuffer<D> | StridedView<D, DeviceBuffer<D>> {
  options = FROM_DLPACK_OPTIONS.read(options, "fromDLPack");
  const { dtype, strided = false } = options;
  requireNoCapture("use another library's memory");
  const struct = structOf(pointer);
  if (taken.has(struct)) throw refusal(struct, "a buffer has it already");
  const giver = handedOutBy(struct);
  if (giver !== undefined && giver.driver.machine !== context.driver.machine) {
    throw refusal(
      struct,
      "its memory is of another simulated driver, whose addresses mean nothing to this one; copy it " +
        "through an array",
    );
  }
  const { versioned = true } = pointer instanceof DLPackTensor ? pointer : options;
  const tensor = readTensor(struct, { versioned });
  if (dtype !== undefined && dtype !== tensor.dtype) {
    throw new TypeError(
      `Cannot use the DLPack struct at ${formatAddress(struct)} as ${dtype}: its elements are ` +
        `${tensor.dtype}`,
    );
  }
  const layout = { ...tensor, shape: toShape(tensor.shape) };
  if (!strided || packLength(tensor.dtype) > 1) requireContiguous(tensor);
  else checkLayout(layout, tensor.length, "an array");
  const buffer = adopt<D>(context, tensor, options);
  if (pointer instanceof DLPackTensor) pointer.release();
  if (!strided || packLength(tensor.dtype) > 1) return buffer; // packed elements have no strides
  const { shape, strides, offset } = layout;
  return buffer.strided({ shape, strides, offset });
}

function adopt<D extends DType>(
  context: Context,
  tensor: ForeignTensor,
  { stream, label, strided = false }: FromDLPackOptions<D>,
): DeviceBuffer<D> {
  const { address, length, isReadOnly, struct } = tensor;
  const dtype = tensor.dtype as D;
  const byteLength = length * elementBytes(dtype);
  const attributes = byteLength === 0 ? undefined : attributesOf(context, tensor, byteLength);
  if (attributes !== undefined) checkDevice(tensor, attributes);
  const buffer = adoptMemory(context, { address, byteLength }, {
    dtype,
    shape: toShape(strided && packLength(dtype) === 1 ? length : tensor.shape),
    isReadOnly,
    label,
    stream,
    usualStream: legacyStreamOf,
    attributes,
    isOrdered: handedOutBy(struct) !== undefined,
    deallocate: () => endUse(tensor),
  });
  taken.add(struct);
  return buffer;
}

/**
 * Asks the driver about an array's memory.
 *
 * @throws TypeError when the driver does not know it.
 */
function attributesOf(
  context: Context,
  { address, deviceType }: ForeignTensor,
  byteLength: number,
): PointerAttributes {
  try {
    return pointerAttributes(context, address, byteLength);
  } catch (error) {
    if (!(error instanceof TypeError) || deviceType !== DLDeviceType.kDLCPU) throw error;
    throw new TypeError(
      "Cannot use an array in ordinary host memory, as numpy's are: the GPU does not reach it; " +
        "upload() a copy of its values",
      { cause: error },
    );
  }
}

/** Calls the deleter, which frees the struct. */
function endUse({ struct, deleter }: ForeignTensor): void {
  taken.delete(struct);
  const pointer = Deno.UnsafePointer.create<typeof DELETER>(deleter);
  if (pointer === null) return;
  new Deno.UnsafeFnPointer(pointer, DELETER).call(struct);
}

function structOf(pointer: DLPackPointer): bigint {
  const given: unknown = pointer;
  if (typeof given === "bigint") return given;
  if (given instanceof DLPackTensor) return given.address;
  try {
    return Deno.UnsafePointer.value(pointer as Deno.PointerObject);
  } catch {
    throw new TypeError(
      `Cannot use ${describeValue(given)} as a DLPack struct: expected its address as a bigint ` +
        `or a pointer, or what toDLPack() gave`,
    );
  }
}

function requireContiguous({ struct, shape, strides }: ForeignTensor): void {
  const layout = { shape: toShape(shape), strides, offset: 0 };
  if (isContiguous(layout)) return;
  throw new RangeError(
    `Cannot use the DLPack struct at ${formatAddress(struct)} as a buffer of ` +
      `[${shape.join(", ")}]: its strides are [${strides.join(", ")}], expected ` +
      `[${contiguousStrides(layout.shape).join(", ")}]; pass { strided: true } for a view`,
  );
}

/** Checks that the memory agrees with the struct. */
function checkDevice(tensor: ForeignTensor, attributes: PointerAttributes): void {
  const { struct, deviceType, deviceId, deviceName } = tensor;
  const { deviceOrdinal, isDeviceAccessible, isHostAccessible, memoryType } = attributes;
  const isCuda = deviceType === DLDeviceType.kDLCUDA;
  if (isCuda && memoryType === "device" && deviceId !== deviceOrdinal) {
    const words = `it says device ${deviceId}, and its memory is of device ${deviceOrdinal}`;
    throw refusal(struct, words);
  }
  if (isCuda ? isDeviceAccessible : isHostAccessible) return;
  throw refusal(struct, `it says ${deviceName}, and its memory is of the kind "${memoryType}"`);
}
