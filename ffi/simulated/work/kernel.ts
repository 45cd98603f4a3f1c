// Kernels of the simulated driver are JavaScript functions: there is no GPU to run PTX.
// Each says how many bytes its parameters have, as the compiled image of a real kernel does.

import { hex } from "../errors.ts";
import { endOf, type Extent } from "../model/access_history.ts";
import { pageableRegion } from "../model/address_space.ts";
import type { Moment } from "../model/happens_before.ts";
import type { Machine } from "../model/machine.ts";
import type { Stream } from "../model/stream.ts";
import type { Dimensions, LaunchShape, SimulatedLaunch } from "../options.ts";
import { move, requireAccess } from "./copies.ts";
import { markWritten, recordUses, requireWritten, type Use } from "./memory_work.ts";
import type { Side } from "./planes.ts";

/** Rows of bytes at regular distances, which the rules take for one use of memory. */
export type Rows = Omit<Extent, "start">;

/** A launch on a stream, whose uses of memory are held to the rules as they come. */
export class Launch implements SimulatedLaunch {
  readonly grid: Dimensions;
  readonly block: Dimensions;
  readonly sharedBytes: number;
  readonly parameters: readonly DataView[];
  #machine: Machine;
  #stream: Stream;
  #moment: Moment;

  constructor(
    machine: Machine,
    stream: Stream,
    fields: LaunchShape & { parameters: readonly DataView[]; moment: Moment },
  ) {
    this.grid = fields.grid;
    this.block = fields.block;
    this.sharedBytes = fields.sharedBytes;
    this.parameters = fields.parameters;
    this.#machine = machine;
    this.#stream = stream;
    this.#moment = fields.moment;
  }

  /** Bound, so that a kernel may take it out of its launch: `run({ parameters, read, write })`. */
  readonly read: SimulatedLaunch["read"] = (address, byteLength) => {
    if (byteLength === 0) return new Uint8Array();
    if (!Number.isSafeInteger(byteLength) || byteLength < 0) {
      throw new RangeError(`Cannot read ${byteLength} bytes in a kernel: expected a whole number`);
    }
    return this.readRows(address, oneRow(byteLength));
  };

  readonly write: SimulatedLaunch["write"] = (address, array) => {
    if (!ArrayBuffer.isView(array)) {
      throw new TypeError("Cannot write in a kernel: expected a typed array or a DataView");
    }
    const { buffer, byteOffset, byteLength } = array;
    if (byteLength === 0) return;
    const bytes = new Uint8Array(buffer, byteOffset, byteLength);
    this.writeRows(address, oneRow(byteLength), bytes);
  };

  /** Reads rows of device memory, side by side in the new array. */
  readRows(address: bigint, rows: Rows): Uint8Array<ArrayBuffer> {
    const use = this.#open(address, rows, false);
    requireWritten(this.#machine, use);
    if (rows.rowCount === 1) return use.region.read();
    const bytes = new Uint8Array(rows.widthBytes * rows.rowCount);
    move({ ...rows, source: { ...rows, region: use.region }, destination: packed(rows, bytes) });
    return bytes;
  }

  /** Writes bytes that lie side by side as rows of device memory. */
  writeRows(address: bigint, rows: Rows, bytes: Uint8Array): void {
    const use = this.#open(address, rows, true);
    const destination = { ...rows, region: use.region };
    if (rows.rowCount === 1) use.region.write(bytes);
    else move({ ...rows, source: packed(rows, bytes), destination });
    markWritten(use);
  }

  #open(address: bigint, rows: Rows, write: boolean): Use {
    const extent = { start: 0, ...rows };
    if (Number(address) === 0) this.#machine.site.fail("rights", "the kernel touches address 0");
    const region = this.#machine.memory.resolve(Number(address), endOf(extent), "kernel");
    if (region.kind === "pageable") {
      this.#machine.site.fail(
        "rights",
        `the kernel touches ordinary host memory at ${hex(address)}`,
      );
    }
    requireAccess(this.#machine, [this.#stream.context], { region, write, kernel: true });
    const use = { region, extent, write };
    recordUses(this.#machine, this.#moment, [use]);
    return use;
  }
}

function oneRow(widthBytes: number): Rows {
  return { widthBytes, pitchBytes: widthBytes, rowCount: 1 };
}

function packed({ widthBytes }: Rows, bytes: Uint8Array): Side {
  return { region: pageableRegion(bytes, 0), pitchBytes: widthBytes };
}
