// Logs every allocation and free in the columns of RMM's log, so that its tools and
// replayAllocations() can read it.

import {
  ALLOCATION_CSV_HEADER,
  type AllocationAction,
  formatAllocationRow,
} from "../accounting/allocation_csv.ts";
import { requireBytes } from "../memory/base_memory_resource.ts";
import type { MemoryResource } from "../memory/memory_resource.ts";
import { PassingAdaptor, requireFunction } from "../memory/resource_adaptor.ts";
import type { CudaStream } from "../order/stream.ts";
import { messageOf } from "../words/format.ts";
import { CALLBACK, OptionSet, warnOfFailure } from "../words/options.ts";
import { warn } from "../words/warning.ts";

const UNLOGGED = "an allocation could not be logged";

/** The target of a log. */
export interface LoggingOptions {
  /** Called with each line, without a line break; the header comes first. */
  readonly write: (line: string) => void;
}

const LOGGING_OPTIONS = new OptionSet<LoggingOptions>({ write: CALLBACK });

/** Logs allocations, including failed ones, and frees. */
export class LoggingResourceAdaptor extends PassingAdaptor {
  readonly #write: (line: string) => void;

  /**
   * Logs what comes from a resource, and writes the header.
   *
   * @throws TypeError when `write` is not a function.
   */
  constructor(upstream: MemoryResource, options: LoggingOptions) {
    super(upstream);
    options = LOGGING_OPTIONS.read(options, "new LoggingResourceAdaptor");
    requireFunction(options.write, "the log's { write }");
    this.#write = options.write;
    this.#writeLine(ALLOCATION_CSV_HEADER);
  }

  /** Allocates and logs, failures included. */
  override allocate(byteLength: number, stream: CudaStream): bigint {
    requireBytes(byteLength);
    let address: bigint;
    try {
      address = super.allocate(byteLength, stream);
    } catch (error) {
      this.#log("allocate failure", { address: 0n, byteLength, stream });
      throw error;
    }
    this.#log("allocate", { address, byteLength, stream });
    return address;
  }

  /** Frees and logs. */
  override deallocate(address: bigint, byteLength: number, stream: CudaStream): void {
    super.deallocate(address, byteLength, stream);
    this.#log("free", { address, byteLength, stream });
  }

  /** A log that cannot be written must not make memory leak: the failure is only reported. */
  #log(
    action: AllocationAction,
    { stream, ...block }: { address: bigint; byteLength: number; stream: CudaStream },
  ): void {
    const time = performance.timeOrigin + performance.now();
    const row = { action, time, ...block, stream: stream.disposed ? 0n : stream.key };
    try {
      this.#writeLine(formatAllocationRow(row));
    } catch (error) {
      warn(`${UNLOGGED}: ${messageOf(error)}`, { owner: this.context, about: this });
    }
  }

  #writeLine(line: string): void {
    warnOfFailure(this.#write(line), UNLOGGED);
  }
}
