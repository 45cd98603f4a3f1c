// Gives addresses with a wider alignment than 256: for huge pages, RDMA, or wide vector loads.

import { requireBytes } from "../memory/base_memory_resource.ts";
import type { MemoryResource } from "../memory/memory_resource.ts";
import { PassingAdaptor } from "../memory/resource_adaptor.ts";
import type { CudaStream } from "../order/stream.ts";
import { type ByteSize, parseBytes } from "../words/format.ts";
import { OptionSet, SIZE } from "../words/options.ts";

const GIVEN_BYTES = 256;

/** The alignment, and the requests that get it. */
export interface AlignmentOptions {
  /** The alignment: bytes or `"2 MiB"`, a power of two from 256 on. */
  readonly alignmentSize: ByteSize;
  /** Smaller requests are passed on as they are; 0 by default. */
  readonly thresholdSize?: ByteSize | undefined;
}

const ALIGNMENT_OPTIONS = new OptionSet<AlignmentOptions>({
  alignmentSize: SIZE,
  thresholdSize: SIZE,
});

/** Takes more memory than requested from the upstream, and hands out the aligned part. */
export class AlignedResourceAdaptor extends PassingAdaptor {
  /** The alignment in bytes. */
  readonly alignmentBytes: number;
  /** The smallest request that is aligned, in bytes. */
  readonly thresholdBytes: number;
  /** The starts of the upstream's blocks, by the address handed out. */
  readonly #starts = new Map<bigint, bigint>();

  /**
   * Aligns the addresses that a resource gives.
   *
   * @throws RangeError when the alignment is missing, not a power of two, or below 256.
   */
  constructor(upstream: MemoryResource, options: AlignmentOptions) {
    super(upstream);
    options = ALIGNMENT_OPTIONS.read(options, "new AlignedResourceAdaptor");
    this.alignmentBytes = parseBytes(options.alignmentSize, "alignmentSize");
    this.thresholdBytes = parseBytes(options.thresholdSize ?? 0, "thresholdSize");
    if (this.alignmentBytes < GIVEN_BYTES || !Number.isInteger(Math.log2(this.alignmentBytes))) {
      throw new RangeError(
        `Cannot align to ${this.alignmentBytes} bytes: expected a power of two from 256 on`,
      );
    }
  }

  /** Allocates at a multiple of the alignment. */
  override allocate(byteLength: number, stream: CudaStream): bigint {
    requireBytes(byteLength);
    const start = super.allocate(this.#padded(byteLength), stream);
    if (!this.#aligns(byteLength)) return start;
    const alignment = BigInt(this.alignmentBytes);
    const address = (start + alignment - 1n) / alignment * alignment;
    this.#starts.set(address, start);
    return address;
  }

  /** Gives back all of the memory that was taken for an aligned block. */
  override deallocate(address: bigint, byteLength: number, stream: CudaStream): void {
    const start = this.#starts.get(address) ?? address;
    super.deallocate(start, this.#padded(byteLength), stream);
    this.#starts.delete(address);
  }

  #aligns(byteLength: number): boolean {
    return this.alignmentBytes > GIVEN_BYTES && byteLength >= this.thresholdBytes;
  }

  #padded(byteLength: number): number {
    return this.#aligns(byteLength) ? byteLength + this.alignmentBytes - GIVEN_BYTES : byteLength;
  }
}
