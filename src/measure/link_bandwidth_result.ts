// The result of measuring the links of several devices, as plain data for JSON files and tables.

import { LIST, OptionSet, RECORD } from "../words/options.ts";
import type { CaseSpeed, Provenance } from "./bandwidth_result.ts";

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

/** The measurement of one case: its speeds are the sums over the fields of the matrix. */
export interface LinkSpeed extends Omit<CaseSpeed, "name"> {
  /** The case's name. */
  readonly name: LinkCase;
  /**
   * GB/s of each field. Pairs have a row for the device that copies and a column for the other one,
   * the other cases one row with a column for each device. Null where devices have no link.
   */
  readonly matrix: readonly (readonly (number | null)[])[];
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
  provenance: RECORD,
  devices: LIST,
  cases: LIST,
});

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
    this.provenance = provenance;
    this.devices = devices;
    this.cases = cases;
  }
}
