// Kernels of the simulated driver are JavaScript functions: there is no GPU to run PTX.
// Each says how many bytes its parameters have, as the compiled image of a real kernel does.

import { markWritten, recordUses, requireKept, requireWritten, wholeUse } from "./memory_work.ts";
import { requireAccess } from "./copies.ts";
import type { Machine } from "./machine.ts";
import type { Moment } from "./happens_before.ts";
import type { Region } from "./region.ts";
import type { Stream } from "./stream.ts";

/** A kernel that simulated programs can launch by name. */
export interface SimulatedKernel {
  /** Size of each parameter. */
  readonly parameterBytes: readonly number[];
  /** Does what all threads of a launch do together. */
  run(launch: SimulatedLaunch): void;
}

/** A size in three dimensions. */
export type Dimensions = readonly [x: number, y: number, z: number];

/** The launch, as a kernel sees it. */
export class SimulatedLaunch {
  /** Number of blocks. */
  readonly grid: Dimensions;
  /** Threads of one block. */
  readonly block: Dimensions;
  /** Bytes of shared memory for a block. */
  readonly sharedBytes: number;
  /** Values of the parameters, as they were when the launch was queued. */
  readonly parameters: readonly DataView[];
  #machine: Machine;
  #stream: Stream;
  #moment: Moment;

  /** Describes a launch on a stream. */
  constructor(machine: Machine, stream: Stream, options: {
    grid: Dimensions;
    block: Dimensions;
    sharedBytes: number;
    parameters: readonly DataView[];
    moment: Moment;
  }) {
    this.grid = options.grid;
    this.block = options.block;
    this.sharedBytes = options.sharedBytes;
    this.parameters = options.parameters;
    this.#machine = machine;
    this.#stream = stream;
    this.#moment = options.moment;
  }

  /** Reads device memory into a new array. */
  read(address: bigint, byteLength: number): Uint8Array<ArrayBuffer> {
    const result = new Uint8Array(byteLength);
    if (byteLength === 0) return result;
    const region = this.#open(address, { byteLength, write: false });
    requireWritten(this.#machine, wholeUse(region, false));
    for (let done = 0; done < byteLength;) {
      const bytes = region.span(done, byteLength - done, "read");
      result.set(bytes, done);
      done += bytes.byteLength;
    }
    return result;
  }

  /** Writes an array to device memory. */
  write(address: bigint, bytes: Uint8Array): void {
    if (bytes.byteLength === 0) return;
    const region = this.#open(address, { byteLength: bytes.byteLength, write: true });
    for (let done = 0; done < bytes.byteLength;) {
      const target = region.span(done, bytes.byteLength - done, "write");
      target.set(bytes.subarray(done, done + target.byteLength));
      done += target.byteLength;
    }
    markWritten(wholeUse(region, true));
  }

  #open(address: bigint, options: { byteLength: number; write: boolean }): Region {
    const { byteLength, write } = options;
    const region = this.#machine.memory.resolve(Number(address), byteLength, "kernel");
    if (region.kind === "pageable") {
      this.#machine.site.fail(
        "rights",
        `the kernel touches ordinary host memory at 0x${address.toString(16)}`,
      );
    }
    requireAccess(this.#machine, [this.#stream.context], { region, write, kernel: true });
    requireKept(this.#machine, wholeUse(region, write));
    recordUses(this.#machine, this.#moment, [wholeUse(region, write)]);
    return region;
  }
}
