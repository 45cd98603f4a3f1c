// A launch as a kernel in JavaScript sees it: its parameters by their types, and the elements that
// they point to.

import { type BitsOf, DTYPE, type DType, elementBytes, type ScalarOf, viewBits } from "../dtype.ts";
import { requireKind } from "../words/options.ts";
import { comesFrom, type Parts, partsOf } from "../words/parts.ts";

const ADDRESS_BYTES = 8;

/** A size in three dimensions. */
export type Dimensions = readonly [x: number, y: number, z: number];

/** A launch, as a kernel sees it. */
export class SimulatedLaunch {
  /** Number of blocks. */
  declare readonly grid: Dimensions;
  /** Threads of one block. */
  declare readonly block: Dimensions;
  /** Bytes of shared memory for a block. */
  declare readonly sharedBytes: number;
  /** Values of the parameters, as they were when the launch was queued. */
  declare readonly parameters: readonly DataView[];
  /** Reads device memory into a new array. */
  declare readonly read: (address: bigint, byteLength: number) => Uint8Array<ArrayBuffer>;
  /** Writes an array of any type to device memory, byte for byte. */
  declare readonly write: (address: bigint, array: ArrayBufferView) => void;

  /** @ignore Keeps what the simulated driver hands out. */
  constructor(
    parts: Parts<Omit<SimulatedLaunch, "value" | "pointer" | "elements" | "setElements">>,
  ) {
    Object.assign(this, partsOf(parts, new.target));
  }

  /**
   * Returns the value of a parameter that is a number.
   *
   * @param index The parameter, counted from 0.
   * @throws RangeError when there is no such parameter, or it has another size than the type.
   */
  value<D extends DType>(index: number, dtype: D): ScalarOf<D> {
    requireKind(dtype, DTYPE, "value");
    const [value] = viewBits(dtype, { buffer: this.#bytes(index, elementBytes(dtype)) });
    return (dtype === "bool" ? value !== 0 : value) as ScalarOf<D>;
  }

  /**
   * Returns the address in a parameter that is a pointer.
   *
   * @throws RangeError when there is no such parameter, or it has not 8 bytes.
   */
  pointer(index: number): bigint {
    return new DataView(this.#bytes(index, ADDRESS_BYTES)).getBigUint64(0, true);
  }

  /**
   * Reads the elements that a parameter points to into a new typed array.
   *
   * @param index The parameter, counted from 0.
   * @param count Number of elements.
   * @throws SimulationError for elements beyond the memory, or that nobody wrote.
   */
  elements<D extends DType>(index: number, dtype: D, count: number): BitsOf<D> {
    requireKind(dtype, DTYPE, "elements");
    const bytes = this.read(this.pointer(index), count * elementBytes(dtype));
    return viewBits(dtype, { buffer: bytes.buffer });
  }

  /**
   * Writes the elements of a typed array to where a parameter points.
   *
   * @throws SimulationError for elements beyond the memory.
   */
  setElements(index: number, array: ArrayBufferView): void {
    this.write(this.pointer(index), array);
  }

  /** Copies the bytes of a parameter. */
  #bytes(index: number, byteLength: number): ArrayBuffer {
    const parameter = this.parameters[index];
    if (parameter === undefined) {
      throw new RangeError(
        `Cannot read parameter ${index}: the kernel has ${this.parameters.length}`,
      );
    }
    if (parameter.byteLength !== byteLength) {
      throw new RangeError(
        `Cannot read parameter ${index} as ${byteLength} bytes: it has ${parameter.byteLength}`,
      );
    }
    const start = parameter.byteOffset;
    return parameter.buffer.slice(start, start + byteLength) as ArrayBuffer;
  }
}

/** A kernel that simulated programs can launch by name. */
export interface SimulatedKernel {
  /** Size of each parameter; by default those in its code, where that is PTX. */
  readonly parameterBytes?: readonly number[] | undefined;
  /** Does the work of all threads of a launch. */
  run(launch: SimulatedLaunch): void;
}

comesFrom(SimulatedLaunch, "the run() of a simulated kernel");
