// Kernels of the simulated driver are JavaScript functions: there is no GPU to run PTX.
// Each says how many bytes its parameters have, as the compiled image of a real kernel does.

import { hex } from "../errors.ts";
import type { Moment } from "../model/happens_before.ts";
import type { Machine } from "../model/machine.ts";
import type { Region } from "../model/region.ts";
import type { Stream } from "../model/stream.ts";
import type { Dimensions, SimulatedLaunch } from "../options.ts";
import { requireAccess } from "./copies.ts";
import { markWritten, recordUses, requireWritten, wholeUse } from "./memory_work.ts";

/** A launch on a stream, whose uses of memory are held to the rules as they come. */
export class Launch implements SimulatedLaunch {
  readonly grid: Dimensions;
  readonly block: Dimensions;
  readonly sharedBytes: number;
  readonly parameters: readonly DataView[];
  /** Bound, so that a kernel may take it out of its launch: `run({ parameters, read, write })`. */
  readonly read: SimulatedLaunch["read"] = (address, byteLength) => this.#read(address, byteLength);
  readonly write: SimulatedLaunch["write"] = (address, array) => this.#write(address, array);
  #machine: Machine;
  #stream: Stream;
  #moment: Moment;

  constructor(machine: Machine, stream: Stream, fields: {
    grid: Dimensions;
    block: Dimensions;
    sharedBytes: number;
    parameters: readonly DataView[];
    moment: Moment;
  }) {
    this.grid = fields.grid;
    this.block = fields.block;
    this.sharedBytes = fields.sharedBytes;
    this.parameters = fields.parameters;
    this.#machine = machine;
    this.#stream = stream;
    this.#moment = fields.moment;
  }

  #read(address: bigint, byteLength: number): Uint8Array<ArrayBuffer> {
    if (byteLength === 0) return new Uint8Array();
    if (!Number.isSafeInteger(byteLength) || byteLength < 0) {
      throw new RangeError(`Cannot read ${byteLength} bytes in a kernel: expected a whole number`);
    }
    const region = this.#open(address, { byteLength, write: false });
    requireWritten(this.#machine, wholeUse(region, false));
    return region.read();
  }

  #write(address: bigint, array: ArrayBufferView): void {
    if (!ArrayBuffer.isView(array)) {
      throw new TypeError("Cannot write in a kernel: expected a typed array or a DataView");
    }
    const { buffer, byteOffset, byteLength } = array;
    if (byteLength === 0) return;
    const region = this.#open(address, { byteLength, write: true });
    region.write(new Uint8Array(buffer, byteOffset, byteLength));
    markWritten(wholeUse(region, true));
  }

  #open(address: bigint, options: { byteLength: number; write: boolean }): Region {
    const { byteLength, write } = options;
    if (Number(address) === 0) this.#machine.site.fail("rights", "the kernel touches address 0");
    const region = this.#machine.memory.resolve(Number(address), byteLength, "kernel");
    if (region.kind === "pageable") {
      this.#machine.site.fail(
        "rights",
        `the kernel touches ordinary host memory at ${hex(address)}`,
      );
    }
    requireAccess(this.#machine, [this.#stream.context], { region, write, kernel: true });
    recordUses(this.#machine, this.#moment, [wholeUse(region, write)]);
    return region;
  }
}
