// The struct of another library, checked before any of it is used, because it may be wrong.

import {
  DLDeviceType,
  DLManagedTensor,
  DLManagedTensorVersioned,
  DLPACK_FLAG_BITMASK,
  DLPACK_VERSION,
  type DLTensor,
} from "../../ffi/dlpack.ts";
import { alignmentOf, type DType, elementBytes, insideByte, packLength } from "../dtype.ts";
import { formatAddress } from "../words/format.ts";
import { type DLDataTypeFields, fromDLDataType, wordsOf } from "./element_types.ts";
import { isReadable, readForeign } from "./foreign_bytes.ts";

/** The most axes: no library has more. */
export const MAX_AXES = 64;

/** The largest sizes and strides that memory can have. */
const MAX_ELEMENTS = BigInt(Number.MAX_SAFE_INTEGER);

const END = 1n << 64n;

/** The kinds of devices whose memory the CUDA driver can know. */
const WITHIN_REACH: readonly number[] = [
  DLDeviceType.kDLCPU,
  DLDeviceType.kDLCUDA,
  DLDeviceType.kDLCUDAHost,
  DLDeviceType.kDLCUDAManaged,
];

const DEVICE_NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(DLDeviceType).map(([name, type]) => [type, name]),
);

/** An array of another library, as its struct describes it. */
export interface ForeignTensor {
  readonly struct: bigint;
  /** The function that ends its use; 0n when there is none. */
  readonly deleter: bigint;
  readonly isReadOnly: boolean;
  /** The kind of device, as a number and by name. */
  readonly deviceType: number;
  readonly deviceName: string;
  readonly deviceId: number;
  readonly dtype: DType;
  readonly shape: readonly number[];
  /** Elements from one step to the next along each axis. */
  readonly strides: readonly number[];
  /** The lowest address of an element; 0n without elements. */
  readonly address: bigint;
  /** The index of the first element, counted from that address. */
  readonly offset: number;
  /** Elements from the lowest to the highest address. */
  readonly length: number;
}

/**
 * Reads a struct without taking ownership of it.
 *
 * @throws TypeError when it is not such a struct, or has an unsupported version, device or element
 *   type.
 * @throws RangeError for an array that no memory can hold.
 */
export function readTensor(address: bigint, { versioned }: { versioned: boolean }): ForeignTensor {
  const { tensor, deleter, flags } = readManaged(address, versioned);
  const refuse: Refuse = (state, Kind) => refusal(address, state, Kind);
  const { device_type: deviceType, device_id: deviceId } = tensor.device;
  const deviceName = DEVICE_NAMES.get(deviceType) ?? `device type ${deviceType}`;
  if (!WITHIN_REACH.includes(deviceType)) {
    throw refuse(`its memory is of ${deviceName}, expected CUDA's or the host's`);
  }
  const dtype = typeOf(tensor.dtype, refuse);
  const layout = singled(tensor.dtype.lanes, layoutOf(tensor, refuse), refuse);
  const { data, byte_offset } = tensor;
  const isEmpty = layout.length === 0;
  const [bytes, byteLength] = [BigInt(alignmentOf(dtype)), layout.length * elementBytes(dtype)];
  if (packLength(dtype) > 1) {
    if (byteLength % 1 !== 0) {
      throw insideByte(dtype, `use the DLPack struct at ${formatAddress(address)}`);
    }
    const isPadded = (flags & BigInt(DLPACK_FLAG_BITMASK.IS_SUBBYTE_TYPE_PADDED)) !== 0n;
    if (isPadded || layout.offset !== 0) {
      throw refuse(`its elements of ${dtype} are not packed from the first on`);
    }
  }
  const first = data + byte_offset;
  const start = first - BigInt(layout.offset) * bytes;
  const end = start + BigInt(byteLength);
  if (!isEmpty && data === 0n) throw refuse("its data is null, and it has elements");
  if (!isEmpty && (start <= 0n || end > END || first >= END)) {
    throw refuse("its elements leave the addresses that there are", RangeError);
  }
  if (first % bytes !== 0n && !isEmpty) {
    throw refuse(
      `its elements are at ${formatAddress(first)}, expected a multiple of ${bytes}`,
      RangeError,
    );
  }
  if (deleter !== 0n && !isReadable(deleter)) {
    throw refuse(`its deleter is at ${formatAddress(deleter)}, where there is no memory`);
  }
  const isReadOnly = (flags & BigInt(DLPACK_FLAG_BITMASK.READ_ONLY)) !== 0n;
  const facts = { struct: address, deleter, isReadOnly, deviceType, deviceName, deviceId, dtype };
  return { ...facts, ...layout, address: isEmpty ? 0n : start };
}

/** Creates an error about a struct. */
type Refuse = (state: string, Kind?: new (message: string) => Error) => Error;

/** Creates the error for a struct that cannot be used. */
export function refusal(
  address: bigint,
  state: string,
  Kind: new (message: string) => Error = TypeError,
): Error {
  return new Kind(`Cannot use the DLPack struct at ${formatAddress(address)}: ${state}`);
}

function readManaged(address: bigint, versioned: boolean) {
  const what = "a DLPack struct";
  if (!versioned) {
    const bytes = readForeign(address, DLManagedTensor.byteLength, what);
    const { dl_tensor: tensor, deleter } = DLManagedTensor.decode(bytes);
    return { tensor, deleter, flags: 0n };
  }
  const { byteLength } = DLManagedTensorVersioned;
  const fields = DLManagedTensorVersioned.decode(readForeign(address, byteLength, what));
  const { major, minor } = fields.version;
  if (major !== DLPACK_VERSION.major) {
    throw refusal(
      address,
      `its version is ${major}.${minor}, expected ${DLPACK_VERSION.major}.x; pass { versioned: ` +
        `false } for a DLManagedTensor, which has none`,
    );
  }
  return { tensor: fields.dl_tensor, deleter: fields.deleter, flags: fields.flags };
}

function typeOf(type: DLDataTypeFields, refuse: Refuse): DType {
  const dtype = fromDLDataType(type);
  if (dtype !== undefined) return dtype;
  throw refuse(`its elements are ${wordsOf(type)}, a type that buffers lack`);
}

function layoutOf(
  { ndim, shape: shapeAddress, strides: stridesAddress }: ReturnType<typeof DLTensor.decode>,
  refuse: Refuse,
) {
  if (ndim < 0 || ndim > MAX_AXES) {
    throw refuse(`it has ${ndim} axes, expected 0 to ${MAX_AXES}`, RangeError);
  }
  const shape = ndim === 0 ? [] : readSizes(shapeAddress, ndim, "the shape of an array");
  if (shape.some((size) => size < 0n || size > MAX_ELEMENTS)) {
    throw refuse(`its shape is [${shape.join(", ")}], expected sizes from 0 on`, RangeError);
  }
  const isEmpty = shape.includes(0n);
  const hasStrides = ndim > 0 && stridesAddress !== 0n;
  const strides = hasStrides
    ? readSizes(stridesAddress, ndim, "the strides of an array")
    : compact(shape);
  let lowest = 0n;
  let highest = 0n;
  for (const [axis, size] of shape.entries()) {
    const distance = isEmpty ? 0n : (size - 1n) * (strides[axis] ?? 0n);
    if (distance < 0n) lowest += distance;
    else highest += distance;
  }
  const length = isEmpty ? 0n : highest - lowest + 1n;
  const count = isEmpty ? 0n : shape.reduce((product, size) => product * size, 1n);
  if (length > MAX_ELEMENTS || count > MAX_ELEMENTS) {
    throw refuse(
      `its shape is [${shape.join(", ")}] by strides [${strides.join(", ")}], which no memory ` +
        `holds`,
      RangeError,
    );
  }
  return {
    shape: shape.map(Number),
    // Strides mean nothing for arrays without elements, and are never used for axes of size 1.
    strides: isEmpty ? shape.map(() => 0) : usedStrides(shape, strides),
    offset: Number(-lowest),
    length: Number(length),
  };
}

/** Counts vectors of `lanes` elements as elements along the last axis. */
function singled(
  lanes: number,
  layout: ReturnType<typeof layoutOf>,
  refuse: Refuse,
): ReturnType<typeof layoutOf> {
  const { shape, strides, length } = layout;
  if (lanes === 1) return layout;
  if (shape.length === 0 || strides.at(-1) !== 1 && length > 0) {
    throw refuse("its pairs of elements do not lie side by side along a last axis");
  }
  return {
    shape: shape.with(-1, lanes * (shape.at(-1) ?? 0)),
    strides: strides.map((stride, axis) => axis === strides.length - 1 ? stride : lanes * stride),
    offset: lanes * layout.offset,
    length: lanes * length,
  };
}

function readSizes(address: bigint, count: number, what: string): bigint[] {
  const bytes = readForeign(address, 8 * count, what);
  return [...new BigInt64Array(bytes.buffer)];
}

/** Returns the strides of contiguous elements, the last axis fastest. */
function compact(shape: readonly bigint[]): bigint[] {
  const strides: bigint[] = [];
  let stride = 1n;
  for (const size of shape.toReversed()) {
    strides.unshift(stride);
    stride *= size;
  }
  return strides;
}

function usedStrides(shape: readonly bigint[], strides: readonly bigint[]): number[] {
  const side = compact(shape);
  return shape.map((size, axis) => Number((size === 1n ? side[axis] : strides[axis]) ?? 0n));
}
