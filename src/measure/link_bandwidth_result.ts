// The result of measuring the links of several devices, as plain data for JSON files and tables.

import { ANYTHING, type OptionKind, OptionSet, TEXT } from "../words/options.ts";
import { CASE, type CaseSpeed, PROVENANCE, type Provenance } from "./bandwidth_result.ts";
import { AMOUNT, AMOUNT_OR_NULL, type FieldKinds, maybe, PlainDataCheck } from "./plain_data.ts";

/** A copy-engine case of nvbandwidth for several GPUs, by its name. */
export type LinkCase =
  | "host_to_device_memcpy_ce"
  | "device_to_host_memcpy_ce"
  | "device_to_device_memcpy_read_ce"
  | "device_to_device_memcpy_write_ce"
  | "device_to_device_bidirectional_memcpy_read_ce"
  | "device_to_device_bidirectional_memcpy_write_ce"
  | "all_to_host_memcpy_ce"
  | "host_to_all_memcpy_ce"
  | "all_to_one_write_ce"
  | "all_to_one_read_ce"
  | "one_to_all_write_ce"
  | "one_to_all_read_ce";

/** GB/s by rows and columns; null where devices have no link. */
export type LinkMatrix = readonly (readonly (number | null)[])[];

/** The measurement of one case: its speeds are the sums over the fields of the matrix. */
export interface LinkSpeed extends Omit<CaseSpeed, "name"> {
  /** The case's name. */
  readonly name: LinkCase;
  /**
   * GB/s of each field. Pairs have a row for the device that copies and a column for the other one,
   * the other cases one row with a column for each device. Null where devices have no link.
   */
  readonly matrix: LinkMatrix;
  /**
   * In bidirectional cases, two matrices with GB/s of each direction, whose sums are in the matrix above:
   * into the device of the row, and out of it.
   */
  readonly directions?: readonly LinkMatrix[];
}

/** A device of a {@link LinkBandwidthResult}. */
export interface MeasuredDevice {
  /** The device's number. */
  readonly ordinal: number;
  /** The device's name. */
  readonly name: string;
}

/** A result as plain data. */
export type LinkBandwidthData = Pick<LinkBandwidthResult, "provenance" | "devices" | "cases">;

const RESULT = new OptionSet<LinkBandwidthData>({
  provenance: ANYTHING,
  devices: ANYTHING,
  cases: ANYTHING,
});

const DEVICE: FieldKinds<MeasuredDevice> = { ordinal: AMOUNT, name: TEXT };

/** The directions of a bidirectional case of so many devices. */
function directionsOf(count: number): OptionKind {
  const { expected, accepts } = matrixOf(count);
  return {
    expected: `two matrices, each ${expected}`,
    accepts: (value) => Array.isArray(value) && value.length === 2 && value.every(accepts),
  };
}

/** A matrix of so many devices. */
function matrixOf(count: number): OptionKind {
  const isLine = (line: unknown) =>
    Array.isArray(line) && line.length === count && line.every(AMOUNT_OR_NULL.accepts);
  return {
    expected: `lists of ${count} numbers or null, one list or ${count}`,
    accepts: (value) =>
      Array.isArray(value) && (value.length === 1 || value.length === count) &&
      value.every(isLine),
  };
}

/**
 * The speeds of the links between the host and several devices, as {@link DeviceList.bandwidth} returns
 * them. It prints as tables, and `JSON.stringify()` stores it.
 */
export class LinkBandwidthResult {
  /** The device, driver and versions that it was measured with. */
  readonly provenance: Provenance;
  /** The devices, in the order of the list. */
  readonly devices: readonly MeasuredDevice[];
  /** The cases of nvbandwidth. */
  readonly cases: readonly LinkSpeed[];

  /**
   * Creates a result from plain data, such as parsed JSON.
   *
   * @throws TypeError when the data is of another form.
   */
  constructor(found: LinkBandwidthData) {
    const { provenance, devices, cases } = RESULT.read(found, "new LinkBandwidthResult");
    const check = new PlainDataCheck("new LinkBandwidthResult");
    check.record("provenance", provenance, PROVENANCE);
    check.list("devices", devices, DEVICE);
    check.list<LinkSpeed>("cases", cases, {
      ...CASE,
      matrix: matrixOf(devices.length),
      directions: maybe(directionsOf(devices.length)),
    });
    this.provenance = provenance;
    this.devices = devices;
    this.cases = cases;
  }
}
