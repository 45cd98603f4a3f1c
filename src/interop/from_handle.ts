// Foreign pointers as buffers: adopted, borrowed from an owner, or used without any ownership.

import { type AddressRange, nameOf } from "../accounting/ledger.ts";
import { DeviceBuffer } from "../buffers/device_buffer.ts";
import { PLACE_KINDS, type PlaceOptions } from "../buffers/place_options.ts";
import { countOf, elementsIn, type Shape, toShape } from "../buffers/shape.ts";
import { Context } from "../driver/context.ts";
import { alignmentOf, DTYPE, type DType, elementBytes } from "../dtype.ts";
import { Allocation, type Lender } from "../memory/allocation.ts";
import { ForeignMemoryResource } from "../memory/foreign_memory_resource.ts";
import { type MemoryResource, RESOURCE } from "../memory/memory_resource.ts";
import {
  DEVICE_ONLY,
  type PointerAttributes,
  pointerAttributes,
} from "../memory/pointer_attributes.ts";
import type { CudaStream } from "../order/stream.ts";
import { streamOn } from "../order/stream_choice.ts";
import { checkSize, describeValue, formatAddress } from "../words/format.ts";
import { ANYTHING, CALLBACK, OptionSet, SHAPE } from "../words/options.ts";
import { Parts } from "../words/parts.ts";

/**
 * Options for {@link CudaDevice.fromHandle}: type and shape of the memory, and its owner. Without
 * `resource`, `owner` and `deallocate`, disposing the buffer does nothing to the memory, whose
 * owner must keep it until the GPU is done. Uses of memory of a live buffer of this process are
 * ordered together with that buffer's.
 */
export interface HandleOptions<D extends DType = "uint8"> extends PlaceOptions {
  /** Element type; `"uint8"` by default. */
  readonly dtype?: D | undefined;
  /** Size of each axis; one axis by default. */
  readonly shape?: number | Shape | undefined;
  /** Adopts the memory: this resource frees it. */
  readonly resource?: MemoryResource | undefined;
  /** Borrows the memory: this object is kept alive until the GPU is done with it. */
  readonly owner?: unknown;
  /** Adopts the memory: called once the GPU is done with it. */
  readonly deallocate?: ((address: bigint, byteLength: number) => void) | undefined;
}

/** Checks the options above. */
export const HANDLE_OPTIONS: OptionSet<HandleOptions<DType>> = new OptionSet({
  dtype: DTYPE,
  shape: SHAPE,
  resource: RESOURCE,
  owner: ANYTHING,
  deallocate: CALLBACK,
  ...PLACE_KINDS,
});

/**
 * Creates a buffer over foreign memory, on the device that the address belongs to.
 *
 * @throws TypeError for contradictory options, or an address that the driver does not know.
 * @throws RangeError when the bytes exceed their allocation, or do not fit type and shape.
 */
export function bufferFromHandle<D extends DType = "uint8">(
  context: Context,
  handle: AddressRange,
  options: HandleOptions<D> = {},
): DeviceBuffer<D> {
  checkIntent(options);
  return adoptMemory(context, handle, { ...options, ...layoutOf(handle, options) });
}

/** Foreign memory, with its layout. */
interface ForeignMemory<D extends DType> extends HandleOptions<D> {
  readonly dtype: D;
  readonly shape: Shape;
  readonly isReadOnly?: boolean;
  /** The driver's facts about the address, if they are known already. */
  readonly attributes?: PointerAttributes | undefined;
  /** The stream for memory of a device, unless one is given. */
  readonly usualStream?: (home: Context) => CudaStream;
  /** The release itself waits for the GPU. */
  readonly isOrdered?: boolean;
}

/**
 * Creates a buffer over memory whose options and layout were checked.
 *
 * @throws TypeError for an address that the driver does not know.
 * @throws RangeError when the bytes exceed their allocation.
 */
export function adoptMemory<D extends DType>(
  context: Context,
  handle: AddressRange,
  options: ForeignMemory<D>,
): DeviceBuffer<D> {
  const { address, byteLength } = handle;
  if (byteLength === 0) return adopt(context, handle, options);
  const attributes = options.attributes ??
    pointerAttributes(context, address, byteLength);
  const { remainingBytes = byteLength, deviceOrdinal } = attributes;
  if (remainingBytes < byteLength) {
    throw new RangeError(
      `Cannot use ${byteLength} bytes at ${formatAddress(address)}: their allocation ends after ` +
        `${remainingBytes}`,
    );
  }
  const home = Context.retain(context.driver, deviceOrdinal);
  try {
    return adopt(home, handle, { ...options, attributes });
  } finally {
    home.release(); // the buffer keeps it from here on
  }
}

function adopt<D extends DType>(
  context: Context,
  handle: AddressRange,
  options: ForeignMemory<D>,
): DeviceBuffer<D> {
  const { address, byteLength } = handle;
  const { dtype, shape, owner, deallocate, isOrdered, attributes = DEVICE_ONLY, label } = options;
  const release = { attributes, owner, deallocate, isOrdered };
  const foreign = () => new ForeignMemoryResource(context, release);
  const { resource: given } = options;
  const resource = given === undefined || byteLength === 0 ? foreign() : given; // 0 bytes are nobody's
  const { stream: chosen = options.usualStream?.(context) } = options;
  const stream = streamOn(context, { stream: chosen }, "memory");
  requireHome(context, given ?? resource);
  // Uses of the same memory are ordered through the record of the buffer that owns it.
  const lender = byteLength === 0 ? undefined : ownerOf(context, handle);
  if (options.resource !== undefined && byteLength > 0) requireUnowned(context, handle);
  const block = { kind: "imported", byteLength, resource, stream, label } as const;
  const start = byteLength === 0 ? 0n : address;
  const isReadOnly = options.isReadOnly === true || lender?.isReadOnly === true;
  const allocation = new Allocation({ ...block, lender, isReadOnly }, start);
  return new DeviceBuffer(new Parts({ allocation, dtype, shape }));
}

/** Returns the record of the live buffer that the bytes belong to. */
function ownerOf(context: Context, handle: AddressRange): Lender | undefined {
  const holder = context.ledger.holderOf(handle);
  return holder instanceof Allocation ? holder.memoryOwner : undefined;
}

/** Rejects adopting memory that a live buffer owns: it would be freed twice. */
function requireUnowned(context: Context, { address, byteLength }: AddressRange): void {
  const end = address + BigInt(byteLength);
  for (const entry of context.ledger) {
    const isApart = entry.address >= end || entry.address + BigInt(entry.byteLength) <= address;
    if (isApart || !(entry instanceof Allocation) || !givesBack(entry)) continue;
    throw new TypeError(
      `Cannot adopt the memory of ${nameOf(entry)}: that buffer is live and gives it back ` +
        `itself; release() it first, or pass { owner } instead of a resource`,
    );
  }
}

function givesBack({ resource }: Allocation): boolean {
  return !(resource instanceof ForeignMemoryResource) || resource.givesBack;
}

function checkIntent(options: HandleOptions<DType>): void {
  const given = (["resource", "owner", "deallocate"] as const)
    .filter((name) => options[name] !== undefined);
  if (given.length < 2) return;
  throw new TypeError(
    `Cannot make a buffer of a handle with ${given.join(" and ")}: they say different things ` +
      `about who frees the memory, pass one`,
  );
}

function layoutOf<D extends DType>(
  { address, byteLength }: AddressRange,
  options: HandleOptions<D>,
): { dtype: D; shape: Shape } {
  const dtype = options.dtype ?? "uint8" as D;
  const bytes = elementBytes(dtype);
  checkSize(byteLength, "byte length");
  if (typeof address !== "bigint") {
    throw new TypeError(`Cannot use ${describeValue(address)} as an address: expected a bigint`);
  }
  const alignment = alignmentOf(dtype);
  if (address % BigInt(alignment) !== 0n) {
    throw new RangeError(
      `Cannot use ${formatAddress(address)} as an address of ${dtype}: it is no multiple of ` +
        `${alignment}`,
    );
  }
  const action = `use ${byteLength} bytes at ${formatAddress(address)} as ${dtype}`;
  const count = elementsIn(byteLength, dtype, action);
  const shape = toShape(options.shape ?? count);
  if (countOf(shape) * bytes === byteLength) return { dtype, shape };
  throw new RangeError(
    `Cannot use ${byteLength} bytes as ${dtype}[${shape.join(", ")}]: the shape has ` +
      `${countOf(shape) * bytes}`,
  );
}

function requireHome(context: Context, resource: MemoryResource): void {
  if (resource.context === context) return;
  throw new TypeError(
    `Cannot make a buffer of memory of device ${context.ordinal}: the resource belongs to device ` +
      `${resource.context.ordinal}`,
  );
}
