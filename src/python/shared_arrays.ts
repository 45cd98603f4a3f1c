// The arrays that both sides use without copies: who keeps them, and the order of their uses on the
// GPU.

import { DLDeviceType } from "../../ffi/dlpack.ts";
import { blockOf, type GpuBuffer } from "../buffers/gpu_buffer.ts";
import { StridedView } from "../buffers/strided_view.ts";
import { type DLPackTensor, orderAfterUses, unlistTensor } from "../dlpack/dlpack_tensor.ts";
import { readTensor } from "../dlpack/read_tensor.ts";
import type { Context } from "../driver/context.ts";
import { elementBytes } from "../dtype.ts";
import type { Allocation } from "../memory/allocation.ts";
import { deviceAddress } from "../memory/pointer_attributes.ts";
import { requireNoCapture } from "../order/capture.ts";
import { legacyStreamOf, queueOf } from "../order/stream.ts";

/** Memory of the GPU that Python can use. */
export type Shareable = GpuBuffer | StridedView;

/** The arrays of one interpreter. */
export class SharedArrays {
  /** Python counts its releases here. */
  readonly cell: BigUint64Array<ArrayBuffer> = new BigUint64Array(1);
  readonly #given = new Map<
    number,
    { readonly source: Shareable; readonly block: Allocation; readonly tensor: DLPackTensor }
  >();
  readonly #taken = new Set<Allocation>();
  readonly #watching = new Set<Context>();
  readonly #drain: () => void;
  #lastNumber = 0;
  #seen = 0n;

  /** Starts with no arrays; `drain` asks Python which arrays it has released. */
  constructor(drain: () => void) {
    this.#drain = drain;
  }

  get givenCount(): number {
    return this.#given.size;
  }

  /** Gives an array to Python and returns what its side needs to know. */
  give(source: Shareable): Readonly<Record<string, unknown>> & { readonly number: number } {
    const buffer = source instanceof StridedView ? source.buffer as GpuBuffer : source;
    const tensor = source.toDLPack();
    unlistTensor(tensor);
    const block = blockOf(buffer);
    const number = ++this.#lastNumber;
    this.#given.set(number, { source, block, tensor });
    this.#watch(block.context);
    const facts = factsOf(tensor, block.context);
    return { number, ...facts, read_only: block.isReadOnly, gpu: buffer.isDeviceAccessible };
  }

  find(number: number): Shareable | undefined {
    return this.#given.get(number)?.source;
  }

  /** Releases an array that Python no longer has. */
  letGo(number: number): void {
    const shared = this.#given.get(number);
    this.#given.delete(number);
    shared?.tensor.dispose();
  }

  /** Notes a buffer over Python's memory. */
  take(buffer: GpuBuffer): void {
    if (buffer.byteLength > 0) this.#taken.add(blockOf(buffer));
  }

  /**
   * Makes Python's work come after all earlier calls on the shared arrays: CUDA's legacy default
   * stream waits for them and, for memory that the CPU uses, so does this thread.
   */
  orderForPython(): void {
    requireNoCapture("call Python");
    for (const block of this.#taken) if (block.released) this.#taken.delete(block);
    const blocks = new Set(this.#taken);
    for (const { block } of this.#given.values()) blocks.add(block);
    const waiting = new Set<Context>();
    for (const block of blocks) {
      if (block.byteLength === 0) continue;
      const legacy = legacyStreamOf(block.context);
      orderAfterUses(legacy, block, "call Python");
      if (block.resource.isHostAccessible && !queueOf(legacy).isKnownIdle) {
        waiting.add(block.context);
      }
    }
    for (const context of waiting) legacyStreamOf(context).synchronizeSync();
  }

  /** Notes that Python's list of releases is empty. */
  drained(): void {
    this.#seen = this.cell[0] ?? 0n;
  }

  /** Makes the device check at each allocation and free whether Python has released an array. */
  #watch(context: Context): void {
    if (this.#watching.has(context)) return;
    this.#watching.add(context);
    context.defer({
      isDue: () => this.cell[0] !== this.#seen,
      wait: () => {},
      run: () => {
        this.#watching.delete(context);
        this.#drain();
        const isNeeded = [...this.#given.values()].some(({ block }) => block.context === context);
        if (isNeeded) this.#watch(context);
      },
    });
  }
}

/** Describes an array for Python's side, where addresses are numbers. */
function factsOf(tensor: DLPackTensor, context: Context): Record<string, unknown> {
  const { dtype, shape, strides, address, offset, deviceType, deviceId } = readTensor(
    tensor.address,
    { versioned: tensor.versioned },
  );
  const data = address + BigInt(offset * elementBytes(dtype));
  const isHost = deviceType !== DLDeviceType.kDLCUDA;
  return {
    dtype,
    shape,
    strides,
    data: Number(data),
    address: Number(isHost && data !== 0n ? deviceAddress(context, data) ?? data : data),
    device: [deviceType, deviceId],
    ordinal: context.ordinal,
    host: isHost,
    place: isHost ? "the host" : `device ${context.ordinal}`,
  };
}
