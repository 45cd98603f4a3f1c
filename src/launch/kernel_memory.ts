// Memory as kernels take it: everything that has an address there says so itself, so that launches need
// not know the kinds of buffers.

import type { MemorySpan } from "../copies/copy.ts";
import type { Context } from "../driver/context.ts";
import type { Allocation } from "../memory/allocation.ts";
import type { Access } from "../memory/stream_usage.ts";
import { isStripedOver } from "../memory/striped_memory_resource.ts";

/**
 * The name of the method by which memory gives itself to a kernel. It is no text, so that editors
 * and notebooks do not list it.
 */
export const KERNEL_MEMORY: unique symbol = Symbol("kernelMemory");

/** Memory that a kernel can be given: a buffer, a view, or either of them as {@link readOnly}. */
export interface KernelMemory {
  /**
   * Returns the memory.
   *
   * @throws TypeError when a kernel cannot use it by its address alone.
   * @ignore
   */
  [KERNEL_MEMORY](): MemorySpan;
  /** Returns its name for messages. */
  toString(): string;
}

/** Memory that a kernel only reads. */
export class ReadOnlyMemory implements KernelMemory {
  readonly #memory: KernelMemory;

  /** Wraps memory; {@link readOnly} is shorter. */
  constructor(memory: KernelMemory) {
    this.#memory = memory;
  }

  /** Returns the memory; see {@link KernelMemory}. */
  [KERNEL_MEMORY](): MemorySpan {
    return this.#memory[KERNEL_MEMORY]();
  }

  /** Returns the memory's name for messages. */
  toString(): string {
    return `${this.#memory}`;
  }
}

/** Returns whether kernels of a device reach a block: its own memory, and what lies on the host. */
export function reaches(kernels: Context, { context, resource }: Allocation): boolean {
  return context === kernels || resource.isHostAccessible || isStripedOver(resource, kernels);
}

/** Returns whether a value is memory for a kernel. */
export function isKernelMemory(value: unknown): value is KernelMemory {
  return typeof value === "object" && value !== null && KERNEL_MEMORY in value;
}

/** Returns how a kernel uses memory: it may write all that is not said to be read only. */
export function accessOf(memory: KernelMemory): Access {
  return memory instanceof ReadOnlyMemory ? "read" : "write";
}

/**
 * Says that a kernel only reads a buffer: launches on two streams that read the same buffer run at
 * the same time.
 *
 * @throws TypeError for a value that is not memory of the GPU.
 */
export function readOnly(memory: KernelMemory): KernelMemory {
  if (isKernelMemory(memory)) return new ReadOnlyMemory(memory);
  throw new TypeError("Cannot call readOnly(): expected a buffer or a view of one");
}
