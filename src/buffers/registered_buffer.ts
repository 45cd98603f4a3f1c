// An array of the program, page-locked while it is registered, so that the GPU copies it in place.

import { MEMORY, type MemorySpan } from "../copies/copy.ts";
import { alignmentOf, allocateBits, DTYPE, type DType, dtypeOf, elementBytes } from "../dtype.ts";
import { Allocation } from "../memory/allocation.ts";
import { noteOwner } from "../memory/host_bytes.ts";
import { bytesOf, type HostBytes, type HostMemory, MOVED_AWAY } from "../memory/host_memory.ts";
import { HostRegistration, type RegistrationOptions } from "../memory/host_registration.ts";
import type { CudaStream } from "../order/stream.ts";
import { arraysBefore } from "../transfer/array_uses.ts";
import { DisposedError } from "../words/errors.ts";
import { FLAG, OptionSet, SHAPE } from "../words/options.ts";
import { comesFrom, Parts } from "../words/parts.ts";
import { ALLOCATE_LIKE } from "./gpu_buffer.ts";
import { HostBuffer, type HostBufferFields, hostBytesOf } from "./host_buffer.ts";
import { type BufferRequest, PLACE_KINDS, type PlaceOptions } from "./place_options.ts";
import { RegisteredUsage } from "./registered_usage.ts";
import type { BUFFER_KIND } from "./retyped.ts";
import { countOf, type Shape, toShape } from "./shape.ts";

/** Options for registering an array. */
export interface RegisterOptions<D extends DType> extends RegistrationOptions, PlaceOptions {
  /** The element type; that of the array by default, uint8 for an ArrayBuffer. */
  readonly dtype?: D | undefined;
  /** Size of each axis; one axis by default. */
  readonly shape?: number | Shape | undefined;
}

/** The options, by name and kind. */
export const REGISTER_OPTIONS: OptionSet<RegisterOptions<DType>> = new OptionSet({
  ...PLACE_KINDS,
  dtype: DTYPE,
  shape: SHAPE,
  portable: FLAG,
  readOnly: FLAG,
});

type RegisterRequest<D extends DType> = RegisterOptions<D> & {
  readonly source: HostMemory;
  readonly stream: CudaStream;
};

/**
 * An existing array that is page-locked until this object is disposed, so that the GPU copies it in
 * place. Use it for memory of the program's own that is copied many times. The array stays alive
 * meanwhile; disposing unlocks it and changes neither the array nor its contents.
 * {@link CudaDevice.register} creates one.
 */
export class RegisteredBuffer<D extends DType = DType> extends HostBuffer<D> {
  /** @ignore Its kind, for types. */
  declare readonly [BUFFER_KIND]: "host registered";
  readonly #registration: HostRegistration;

  /** @ignore Adopts registered memory. */
  constructor(parts: Parts<HostBufferFields<D> & { readonly registration: HostRegistration }>) {
    super(parts);
    this.#registration = parts.value.registration;
  }

  /** Tells whether the GPU may only read the memory. */
  get isReadOnly(): boolean {
    return this.#registration.isReadOnly;
  }

  /**
   * The memory, for copies and kernels.
   *
   * @throws DisposedError when it was disposed or the array was transferred to another thread.
   */
  override [MEMORY](): MemorySpan {
    const span = super[MEMORY]();
    if (span.byteLength > 0 && hostBytesOf(this).byteLength === 0) {
      throw new DisposedError(`${this}, whose array ${MOVED_AWAY}`);
    }
    return span;
  }

  /** @ignore Registers new memory of the same kind; the result's array is new. */
  protected [ALLOCATE_LIKE](request: BufferRequest<D>): RegisteredBuffer<D> {
    const { dtype, stream, label } = request;
    const shape = toShape(request.shape);
    const source = allocateBits<DType>(dtype, countOf(shape));
    return registerBuffer<D>({ source, dtype, shape, stream, label });
  }
}

comesFrom(RegisteredBuffer, "gpu.register()");

/**
 * Page-locks an array; takes about as long as copying it (cuMemHostRegister).
 *
 * @throws TypeError when the array was detached or can be resized.
 * @throws RangeError when the shape does not fit its bytes.
 * @throws CudaError when a part of the array is registered already.
 */
export function registerBuffer<D extends DType>(request: RegisterRequest<D>): RegisteredBuffer<D> {
  const { source, stream, label } = request;
  const bytes = bytesOf(source, "register memory");
  const { dtype, shape } = layoutOf(request, bytes);
  const registration = new HostRegistration(stream, bytes, request);
  const { byteLength } = bytes;
  const allocation = Allocation.create({
    kind: "registered",
    byteLength,
    resource: registration,
    stream,
    label,
    isReadOnly: registration.isReadOnly,
    usage: new RegisteredUsage(stream.context, bytes),
  });
  noteOwner(allocation, bytes);
  followTransfers(allocation, stream, bytes);
  return new RegisteredBuffer(
    new Parts({ allocation, dtype, shape, bytes: registration.bytes, registration }),
  );
}

/** Makes calls that use the memory come after transfers of the array that are under way. */
function followTransfers(allocation: Allocation, stream: CudaStream, memory: HostBytes): void {
  const { usage, address, byteLength } = allocation;
  for (const work of arraysBefore([{ memory, access: "write" }])) {
    usage.addPending(work, stream, { address, byteLength, access: "write" });
    work.whenOver(() => usage.endPending(work));
  }
}

function layoutOf<D extends DType>(
  { source, dtype, shape }: RegisterRequest<D>,
  bytes: Uint8Array<ArrayBufferLike>,
): { dtype: D; shape: Shape } {
  const held = ArrayBuffer.isView(source) ? dtypeOf(source) : undefined;
  const type = dtype ?? (held ?? "uint8") as D;
  const each = elementBytes(type);
  const sizes = toShape(shape ?? Math.floor(bytes.byteLength / each));
  if (countOf(sizes) * each === bytes.byteLength && bytes.byteOffset % alignmentOf(type) === 0) {
    return { dtype: type, shape: sizes };
  }
  throw new RangeError(
    `Cannot register ${bytes.byteLength} bytes at offset ${bytes.byteOffset} as ${type}` +
      `[${sizes.join(", ")}]: they do not divide into ${countOf(sizes)} elements of ${each} bytes`,
  );
}
