// Device memory behind reserved addresses: blocks in chunks that can leave the device and come back, and
// ranges that grow in place.

import type { CudaStream } from "../order/stream.ts";
import { CudaUnavailableError } from "../words/errors.ts";
import { checkSize } from "../words/format.ts";
import { NUMBER, OptionSet, TEXT } from "../words/options.ts";
import { Parts } from "../words/parts.ts";
import { BaseMemoryResource, requireBytes } from "./base_memory_resource.ts";
import { ChunkArena } from "./chunk_arena.ts";
import type { ContextOwner } from "./memory_resource.ts";
import { hasVirtualMemory, takeRange } from "./virtual_memory.ts";
import { VirtualRange, type VirtualRangeRequest } from "./virtual_range.ts";
import { freeWhenPassed } from "./when_passed.ts";

/** Options for {@link VirtualMemoryResource}. */
export interface VirtualMemoryOptions {
  /** Name by which all its memory is put to sleep: `gpu.sleep({ tag: "weights" })`. */
  readonly tag?: string | undefined;
}

const VIRTUAL_MEMORY_OPTIONS = new OptionSet<VirtualMemoryOptions>({ tag: TEXT });

const VIRTUAL_RANGE = new OptionSet<VirtualRangeRequest>({
  reservedBytes: NUMBER,
  stepBytes: NUMBER,
});

/**
 * Virtual memory of a device (cuMemAddressReserve, cuMemCreate, cuMemMap). Blocks share chunks of 64
 * MiB; one of 32 MiB or more has a chunk of its own. Its memory can leave the device and come back to the
 * same addresses: see {@link CudaDevice.sleep}.
 */
export class VirtualMemoryResource extends BaseMemoryResource {
  /** Name by which all its memory is put to sleep. */
  readonly tag: string | undefined;
  readonly #ranges = new Map<bigint, VirtualRange>();
  readonly #arena: ChunkArena;
  /** The addresses of blocks that were handed out and not given back. */
  readonly #blocks = new Set<bigint>();

  /**
   * Takes memory from a device.
   *
   * @throws CudaUnavailableError when the device or its driver has no virtual memory calls.
   */
  constructor(owner: ContextOwner, options: VirtualMemoryOptions | Parts<ChunkArena> = {}) {
    super(owner);
    const { context } = this;
    if (!hasVirtualMemory(context)) {
      throw new CudaUnavailableError(
        "not-supported",
        `Cannot use virtual memory on device ${context.ordinal}: the device or its driver does ` +
          `not support it; use a device buffer`,
      );
    }
    const isOver = options instanceof Parts; // an arena of the kit's own
    this.tag = isOver
      ? undefined
      : VIRTUAL_MEMORY_OPTIONS.read(options, "new VirtualMemoryResource").tag;
    this.#arena = isOver ? options.value : new ChunkArena(context);
  }

  /** @ignore Its chunks and their blocks. */
  get arena(): ChunkArena {
    return this.#arena;
  }

  /** @ignore Returns the range that was reserved at an address; undefined for a block. */
  rangeAt(address: bigint): VirtualRange | undefined {
    return this.#ranges.get(address);
  }

  /** Takes a block of a chunk, and maps another chunk when none has room, without waiting for the stream. */
  allocate(byteLength: number): bigint {
    requireBytes(byteLength);
    return this.adopt(this.#arena.take(byteLength));
  }

  /** @ignore Counts a block of its arena as handed out, and returns the address. */
  adopt(address: bigint): bigint {
    this.#blocks.add(address);
    return address;
  }

  /**
   * @ignore Reserves addresses that get memory later; {@link VirtualMemoryResource.deallocate}
   * frees them.
   */
  reserve(request: VirtualRangeRequest): VirtualRange {
    request = VIRTUAL_RANGE.read(request, "reserve");
    checkSize(request.reservedBytes, "reserved bytes");
    if (request.stepBytes !== undefined) checkSize(request.stepBytes, "step");
    const range = new VirtualRange(this.context, request);
    this.#ranges.set(range.address, range);
    return range;
  }

  /** Gives memory and addresses back once the work queued on `stream` is done. */
  deallocate(address: bigint, byteLength: number, stream: CudaStream): void {
    if (this.#blocks.delete(address)) {
      const block = { kind: "virtual", byteLength } as const;
      return freeWhenPassed(stream, block, () => this.#arena.give(address));
    }
    const range = takeRange(this.#ranges, address);
    const block = { kind: "virtual", byteLength: range.mappedBytes } as const;
    freeWhenPassed(stream, block, () => range.free());
  }
}
