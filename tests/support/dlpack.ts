// DLPack structs as another library makes them: in memory of its own, with a deleter that counts.

import {
  DLDeviceType,
  DLManagedTensor,
  DLManagedTensorVersioned,
  DLPACK_VERSION,
  type DLTensor,
} from "../../ffi/dlpack.ts";
import type { Fields } from "../../ffi/struct.ts";
import type { GpuBuffer } from "../../src/buffers/gpu_buffer.ts";
import { contiguousStrides } from "../../src/buffers/strides.ts";
import { toDLDataType } from "../../src/dlpack/element_types.ts";

/** The fields of a struct; one that is left out is that of the buffer. */
export interface StructFacts {
  readonly versioned?: boolean;
  readonly major?: number;
  readonly flags?: bigint;
  readonly data?: bigint;
  readonly deviceType?: number;
  readonly deviceId?: number;
  readonly ndim?: number;
  readonly type?: { readonly code: number; readonly bits: number; readonly lanes: number };
  readonly shape?: readonly bigint[] | null;
  readonly strides?: readonly bigint[] | null;
  readonly byteOffset?: bigint;
  readonly deleter?: bigint;
}

const DELETER = { parameters: ["u64"], result: "void" } as const;

/** The struct of another library over a buffer's memory. */
export class ForeignStruct implements Disposable {
  /** The number of times its deleter was called. */
  deletedCount = 0;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly #tables: readonly BigInt64Array[];
  readonly #deleter: Deno.UnsafeCallback<typeof DELETER>;

  constructor(buffer: GpuBuffer, facts: StructFacts = {}) {
    const shape = facts.shape === undefined ? buffer.shape.map(BigInt) : facts.shape;
    const strides = facts.strides === undefined
      ? contiguousStrides(buffer.shape).map(BigInt)
      : facts.strides;
    this.#tables = [shape, strides].map((sizes) => BigInt64Array.from(sizes ?? []));
    const [sizes, steps] = this.#tables.map(addressOf);
    this.#deleter = new Deno.UnsafeCallback(DELETER, (address) => {
      if (BigInt(address) === this.address) this.deletedCount++;
    });
    const { versioned = true, major = DLPACK_VERSION.major, flags = 0n } = facts;
    const { deleter = Deno.UnsafePointer.value(this.#deleter.pointer) } = facts;
    const { code, bits, lanes } = facts.type ?? toDLDataType(buffer.dtype);
    const dl_tensor = {
      data: facts.data ?? buffer.ptr,
      device: {
        device_type: facts.deviceType ?? DLDeviceType.kDLCUDA,
        device_id: facts.deviceId ?? buffer.deviceOrdinal,
      },
      ndim: facts.ndim ?? shape?.length ?? 0,
      dtype: { code, bits, lanes },
      shape: shape === null ? 0n : sizes ?? 0n,
      strides: strides === null ? 0n : steps ?? 0n,
      byte_offset: facts.byteOffset ?? 0n,
    };
    const version = { ...DLPACK_VERSION, major };
    this.bytes = versioned
      ? DLManagedTensorVersioned.encode({ version, deleter, flags, dl_tensor })
      : DLManagedTensor.encode({ dl_tensor, deleter });
  }

  get address(): bigint {
    return addressOf(this.bytes);
  }

  /** Frees the deleter: nothing may call it any more. */
  [Symbol.dispose](): void {
    this.#deleter.close();
  }
}

/** The members of a struct with a version, those of its array among them. */
export type ReadStruct =
  & Omit<Fields<typeof DLManagedTensorVersioned.members>, "shape">
  & Omit<Fields<typeof DLTensor.members>, "shape" | "strides">
  & { readonly shape: readonly number[]; readonly strides: readonly number[] };

/** Reads a struct with a version, and the tables that it points to. */
export function readStruct(address: bigint): ReadStruct {
  const fields = DLManagedTensorVersioned.decode(
    bytesAt(address, DLManagedTensorVersioned.byteLength),
  );
  const { shape, strides, ndim } = fields.dl_tensor;
  const table = (at: bigint) => {
    return ndim === 0 ? [] : [...new BigInt64Array(bytesAt(at, 8 * ndim).buffer)].map(Number);
  };
  return { ...fields, ...fields.dl_tensor, shape: table(shape), strides: table(strides) };
}

/** Calls the deleter of a struct with a version, on this thread or on another one. */
export async function callDeleter(
  address: bigint,
  { isElsewhere = false, deleter = readStruct(address).deleter } = {},
): Promise<void> {
  const pointer = Deno.UnsafePointer.create(deleter);
  if (pointer === null) throw new TypeError("the struct has no deleter");
  if (!isElsewhere) {
    new Deno.UnsafeFnPointer(pointer as Deno.PointerObject<typeof DELETER>, DELETER).call(address);
    return;
  }
  const definition = { ...DELETER, nonblocking: true } as const;
  await new Deno.UnsafeFnPointer(
    pointer as Deno.PointerObject<typeof definition>,
    definition,
  ).call(address);
}

function bytesAt(address: bigint, byteLength: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(byteLength);
  const pointer = Deno.UnsafePointer.create(address);
  if (pointer === null) throw new TypeError("a null pointer");
  new Deno.UnsafePointerView(pointer).copyInto(bytes);
  return bytes;
}

function addressOf(bytes: Uint8Array<ArrayBuffer> | BigInt64Array): bigint {
  return Deno.UnsafePointer.value(Deno.UnsafePointer.of(bytes as BufferSource));
}
