// An array for another library of this process: a DLPack struct that describes its elements, and
// keeps their memory until the library is done.

import {
  DLDeviceType,
  DLManagedTensor,
  DLManagedTensorVersioned,
  DLPACK_FLAG_BITMASK,
  DLPACK_VERSION,
} from "../../ffi/dlpack.ts";
import { placeOf as placeOfKind } from "../accounting/ledger.ts";
import type { Context } from "../driver/context.ts";
import type { DType } from "../dtype.ts";
import type { Allocation } from "../memory/allocation.ts";
import { pendingBefore } from "../memory/in_order.ts";
import {
  hostAddress,
  type PointerAttributes,
  pointerAttributes,
} from "../memory/pointer_attributes.ts";
import { requireNoCapture } from "../order/capture.ts";
import { HandleRecord } from "../order/handle_record.ts";
import { finishNow } from "../order/pending_work.ts";
import { type CudaStream, legacyStreamOf, queueOf } from "../order/stream.ts";
import { STREAM, streamOn } from "../order/stream_choice.ts";
import { DisposedError } from "../words/errors.ts";
import { formatAddress } from "../words/format.ts";
import { FLAG, OptionSet } from "../words/options.ts";
import { Owned } from "../words/owned.ts";
import { comesFrom, Parts, partsOf } from "../words/parts.ts";
import { refuseCloning } from "../words/uncloneable.ts";
import { layoutFor } from "./element_types.ts";
import { addStruct, deleterAddress, endStruct, type StructPlace, takePlace } from "./handed_out.ts";
import { MAX_AXES } from "./read_tensor.ts";

/** Options for {@link GpuBuffer.toDLPack}. */
export interface DLPackOptions {
  /**
   * Stream on which the library uses the memory first: it waits for the work queued here so far,
   * and later uses here wait for it. CUDA's legacy default stream when left out, as in Python.
   */
  readonly stream?: CudaStream | undefined;
  /** The struct has a version, as since DLPack 1.0; true by default. */
  readonly versioned?: boolean | undefined;
  /** The library gets a copy of its own; false by default. */
  readonly copy?: boolean | undefined;
}

/** Checks the options above. */
export const DLPACK_OPTIONS: OptionSet<DLPackOptions> = new OptionSet({
  stream: STREAM,
  versioned: FLAG,
  copy: FLAG,
});

/** Elements to hand over. */
interface TensorSource {
  /** Their name in errors. */
  readonly name: { toString(): string };
  /** The block that they lie in. */
  readonly allocation: Allocation;
  /** The GPU's address of the first element. */
  readonly address: bigint;
  /** Bytes of all elements; 0 when there are none. */
  readonly byteLength: number;
  readonly dtype: DType;
  readonly shape: readonly number[];
  /** Elements from one step to the next along each axis. */
  readonly strides: readonly number[];
}

/** Takes a struct out of the live objects, because a library has its array, by this struct or another. */
export let unlistTensor: (tensor: DLPackTensor) => void;

/**
 * A DLPack struct for another library of this process, from `toDLPack()`. The memory is kept until
 * the library calls the struct's deleter, even when the buffer is disposed before. `release()` gives
 * the struct away; disposing it releases a struct that was not given away, which `gpu.live()` lists.
 */
export class DLPackTensor extends Owned {
  /** The struct has a version: DLManagedTensorVersioned, else DLManagedTensor. */
  readonly versioned: boolean;
  /** Its row among the live objects until a library has it. */
  readonly #untaken: HandleRecord;

  static {
    unlistTensor = (tensor) => tensor.#untaken.unlist();
  }

  /** @ignore Adopts a struct, and has the context and the name of its memory. */
  constructor(
    parts: Parts<{
      readonly address: bigint;
      readonly versioned: boolean;
      readonly context: Context;
      readonly label: string | undefined;
    }>,
  ) {
    super();
    const { address, versioned, context, label } = partsOf(parts, new.target);
    this.versioned = versioned;
    this.#untaken = new HandleRecord(this, {
      context,
      kind: "dlpack",
      handle: address,
      label,
      destroy: endStruct,
    });
    refuseCloning(this);
  }

  /**
   * The struct's address, which this object still owns.
   *
   * @throws DisposedError when it was given away or disposed.
   */
  get address(): bigint {
    if (this.disposed) throw new DisposedError(this.toString());
    return this.#untaken.handle;
  }

  /** Tells whether it was given away or disposed. */
  get disposed(): boolean {
    return this.#untaken.released;
  }

  /** Gives the struct away and returns its address; its new owner must call the deleter once. */
  release(): bigint {
    const { address } = this;
    this.#untaken.giveAway();
    return address;
  }

  /** Releases the memory, unless the struct was given away. A second call does nothing. */
  dispose(): void {
    this.#untaken.release();
  }

  /** Returns its name for messages: `DLPackTensor(0x7f0012345600)`. */
  override toString(): string {
    return `DLPackTensor(${formatAddress(this.#untaken.handle)})`;
  }

  /** Returns the text that the console shows. */
  [Symbol.for("Deno.customInspect")](): string {
    return `${this}${this.disposed ? " given away or disposed" : ""}`;
  }
}

comesFrom(DLPackTensor, "buffer.toDLPack()");

/**
 * Makes a struct for elements, and makes the library's stream wait for all their uses so far.
 *
 * @throws TypeError for read-only memory when the struct has no version, because only a versioned
 *   one can say so.
 * @throws RangeError for more axes than libraries take.
 */
export function makeTensor(
  source: TensorSource,
  { stream, versioned = true, copy = false }: DLPackOptions,
): DLPackTensor {
  const { allocation, name } = source;
  const { context } = allocation;
  requireNoCapture("hand memory to another library");
  if (source.shape.length > MAX_AXES) {
    throw new RangeError(
      `Cannot hand over ${name}: it has ${source.shape.length} axes, which no library takes; ` +
        `reshape() it to ${MAX_AXES} at most`,
    );
  }
  const theirs = libraryStream(context, stream, name);
  if (allocation.isReadOnly && !versioned) {
    throw new TypeError(
      `Cannot hand over ${name} without a version: it may only be read, which such a struct cannot say`,
    );
  }
  allocation.usage.gate?.handOut();
  const { type, id, data } = placeOf(source);
  using undo = new DisposableStack();
  undo.use(allocation.hold());
  if (source.byteLength > 0) orderAfterUses(theirs, allocation, `hand over ${name}`);
  const flags = (allocation.isReadOnly ? DLPACK_FLAG_BITMASK.READ_ONLY : 0) |
    (copy ? DLPACK_FLAG_BITMASK.IS_COPIED : 0);
  const deleter = deleterAddress();
  const place = writeStruct(source, { versioned, type, id, data, flags, deleter });
  const ends = undo.move();
  addStruct({ place, context, letGo: () => ends.dispose() });
  const label = allocation.label;
  return new DLPackTensor(new Parts({ address: place.address, versioned, context, label }));
}

/** Returns the stream of another library: the given one, or CUDA's legacy default stream. */
export function libraryStream(
  context: Context,
  stream: CudaStream | undefined,
  name: { toString(): string },
): CudaStream {
  return stream === undefined ? legacyStreamOf(context) : streamOn(context, { stream }, name);
}

/**
 * Makes another library's stream wait for all uses of a block here, and later uses wait for that
 * stream.
 *
 * @throws TypeError when a call that comes before needs the event loop.
 * @throws CudaError when a call that was to write the block has failed.
 */
export function orderAfterUses(stream: CudaStream, allocation: Allocation, action: string): void {
  const { address, byteLength, isReadOnly } = allocation;
  const access = isReadOnly ? "read" : "write";
  const use = { allocation, address, byteLength, access } as const;
  finishNow(pendingBefore(stream, [use]), action);
  allocation.order(stream, access);
  queueOf(stream).throwFailure();
}

/** A device and an address in DLPack's terms. */
interface DLPlace {
  readonly type: number;
  readonly id: number;
  readonly data: bigint;
}

/** DLPack's numbers for places of memory. */
const TYPES = {
  device: DLDeviceType.kDLCUDA,
  host: DLDeviceType.kDLCUDAHost,
  managed: DLDeviceType.kDLCUDAManaged,
} as const satisfies Record<PointerAttributes["memoryType"], number>;

/**
 * Asks the driver where the memory is: an adaptor may have taken it from elsewhere. An array without
 * elements is where the kind of memory is that it would have.
 */
function placeOf({ allocation: { context, kind }, address, byteLength }: TensorSource): DLPlace {
  const place = kind === "managed" ? kind : placeOfKind(kind) === "host" ? "host" : "device";
  const { memoryType, deviceOrdinal } = byteLength === 0
    ? { memoryType: place, deviceOrdinal: context.ordinal } as const
    : pointerAttributes(context, address);
  const isOnHost = memoryType === "host" && byteLength > 0;
  const data = byteLength === 0 ? 0n : isOnHost ? hostAddress(context, address) : address;
  return { type: TYPES[memoryType], id: memoryType === "device" ? deviceOrdinal : 0, data };
}

/** Writes the struct, followed by the shape and the strides. */
function writeStruct(
  source: TensorSource,
  struct: DLPlace & { versioned: boolean; flags: number; deleter: bigint },
): StructPlace {
  const { versioned, type, id, data, flags, deleter } = struct;
  const { type: dtype, shape, strides } = layoutFor(source);
  const layout = versioned ? DLManagedTensorVersioned : DLManagedTensor;
  const ndim = shape.length;
  const place = takePlace(layout.byteLength + 16 * ndim);
  const sizes = new BigInt64Array(place.bytes.buffer, layout.byteLength, 2 * ndim);
  sizes.set([...shape, ...strides].map(BigInt));
  const shapeAddress = place.address + BigInt(layout.byteLength);
  const dl_tensor = {
    // The struct must not begin with zero, but an unversioned one begins with this address.
    data: versioned || data !== 0n ? data : place.address,
    device: { device_type: type, device_id: id },
    ndim,
    dtype,
    shape: shapeAddress,
    strides: shapeAddress + BigInt(8 * ndim),
  };
  place.bytes.set(
    versioned
      ? DLManagedTensorVersioned.encode({
        version: DLPACK_VERSION,
        deleter,
        flags: BigInt(flags),
        dl_tensor,
      })
      : DLManagedTensor.encode({ dl_tensor, deleter }),
  );
  return place;
}
