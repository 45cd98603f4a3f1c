// Memory as an argument of kernels: everything that a kernel can use implements this itself, so that
// launches need not know the kinds of buffers.

import type { MemorySpan } from "../copies/copy.ts";
import type { Context } from "../driver/context.ts";
import type { Allocation } from "../memory/allocation.ts";
import type { Access } from "../memory/stream_usage.ts";
import { isStripedOver } from "../memory/striped_memory_resource.ts";

/** The method that returns memory for a kernel; editors and notebooks list no symbols. */
export const KERNEL_MEMORY: unique symbol = Symbol("kernelMemory");

/** Memory that a kernel can use: a buffer, a view, or one wrapped by {@link readOnly}. */
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

class ReadOnlyMemory implements KernelMemory {
  readonly #memory: KernelMemory;

  /** Wraps memory; {@link readOnly} is shorter. */
  constructor(memory: KernelMemory) {
    this.#memory = memory;
  }

  [KERNEL_MEMORY](): MemorySpan {
    return this.#memory[KERNEL_MEMORY]();
  }

  toString(): string {
    return `${this.#memory}`;
  }
}

/** Returns whether a device's kernels can access a block: in its own memory, or the host's. */
export function reaches(kernels: Context, { context, resource }: Allocation): boolean {
  return context === kernels || resource.isHostAccessible || isStripedOver(resource, kernels);
}

export function isKernelMemory(value: unknown): value is KernelMemory {
  return typeof value === "object" && value !== null && KERNEL_MEMORY in value;
}

/** Returns how a kernel uses memory: it may write anything that is not marked as read only. */
export function accessOf(memory: KernelMemory): Access {
  return memory instanceof ReadOnlyMemory ? "read" : "write";
}

/**
 * Declares that a kernel only reads a buffer, so that launches on two streams that read the same
 * buffer can run at the same time.
 *
 * @throws TypeError for a value that is not memory of the GPU.
 */
export function readOnly(memory: KernelMemory): KernelMemory {
  if (isKernelMemory(memory)) return new ReadOnlyMemory(memory);
  throw new TypeError("Cannot call readOnly(): expected a buffer or a view of one");
}
