// The result of a bandwidth sweep, as plain data for JSON files, tables and plots.

import { ANYTHING, FLAG, oneOf, type OptionKind, OptionSet, TEXT } from "../words/options.ts";
import { AMOUNT, AMOUNT_OR_NULL, type FieldKinds, maybe, PlainDataCheck } from "./plain_data.ts";

/** Direction of copies. */
export type CopyDirection = "host-to-device" | "device-to-host" | "device-to-device";

/** Kind of memory on the host's side; `"device"` for copies inside one device. */
export type HostKind = "pageable" | "pinned" | "device";

/** The measurement of one size, direction and kind of memory. */
export interface BandwidthPoint {
  /** Direction of the copies. */
  readonly direction: CopyDirection;
  /** Kind of memory on the host's side. */
  readonly kind: HostKind;
  /** Bytes of one copy. */
  readonly byteLength: number;
  /** Seconds of GPU time for one copy, the median over samples. */
  readonly secondsPerCopy: number;
  /** Median speed in GB/s: 1 GB = 10^9 bytes, each byte counted once. */
  readonly gigabytesPerSecond: number;
  /** Speed of the slowest sample. */
  readonly minGigabytesPerSecond: number;
  /** Speed of the fastest sample. */
  readonly maxGigabytesPerSecond: number;
  /** Number of samples. */
  readonly sampleCount: number;
  /** Number of copies between the two events of a sample. */
  readonly copiesPerSample: number;
  /** Every byte was correct afterwards. */
  readonly verified: boolean;
}

/** A line fitted through the points of one direction and kind: seconds = latency + bytes / speed. */
export interface BandwidthFit {
  /** Direction of the copies. */
  readonly direction: CopyDirection;
  /** Kind of memory on the host's side. */
  readonly kind: HostKind;
  /** Seconds that a copy of no bytes would take. */
  readonly latencySeconds: number;
  /** Speed that large copies approach, in GB/s. */
  readonly gigabytesPerSecond: number;
  /** The size that reaches half of that speed, in bytes. */
  readonly halfBandwidthBytes: number;
}

/**
 * A case of nvbandwidth that copies, for one GPU, by its name: by the copy engines, or by a kernel in
 * those that end in `_sm`. The last one is the kit's own, named in nvbandwidth's style.
 */
export type CopyCase =
  | "host_to_device_memcpy_ce"
  | "device_to_host_memcpy_ce"
  | "host_to_device_bidirectional_memcpy_ce"
  | "device_to_host_bidirectional_memcpy_ce"
  | "device_local_copy"
  | "host_to_device_memcpy_sm"
  | "device_to_host_memcpy_sm"
  | "device_local_copy_sm";

/** A case of nvbandwidth that measures a latency, by its name. */
export type LatencyCase = "host_device_latency_sm";

/** The measurement of one case of nvbandwidth; copies that load the other direction do not count. */
export interface CaseSpeed extends Omit<BandwidthPoint, "direction" | "kind" | "secondsPerCopy"> {
  /** The case's name. */
  readonly name: CopyCase;
}

/** The measurement of a latency: a thread of the GPU goes from address to address. */
export interface CaseLatency {
  /** The case's name. */
  readonly name: LatencyCase;
  /** Bytes that the addresses are spread over. */
  readonly byteLength: number;
  /** Median seconds of one access, which begins when the one before is over. */
  readonly secondsPerAccess: number;
  /** Seconds of an access in the fastest sample. */
  readonly minSecondsPerAccess: number;
  /** Seconds of an access in the slowest sample. */
  readonly maxSecondsPerAccess: number;
  /** Number of samples. */
  readonly sampleCount: number;
  /** Number of accesses in a sample. */
  readonly accessCount: number;
  /** The thread came to the right address in the end. */
  readonly verified: boolean;
}

/** The device, driver and versions that a result was measured with. */
export interface Provenance {
  /** The device's name; `"Simulated"` for the simulated one. */
  readonly device: string;
  /** The device's number; older files have none. */
  readonly ordinal?: number;
  /** The CUDA version the driver supports. */
  readonly driver: string;
  /** Deno's version. */
  readonly deno: string;
  /** The kit's version. */
  readonly vramkit: string;
  /** Date and time in ISO 8601. */
  readonly date: string;
  /** The simulated driver models the speeds; left out for measured ones. */
  readonly isModelled?: boolean;
}

/** A result as plain data; older files have no cases and latencies. */
export type BandwidthData =
  & Omit<BandwidthResult, "cases" | "latencies">
  & Partial<Pick<BandwidthResult, "cases" | "latencies">>;

const RESULT = new OptionSet<BandwidthData>({
  provenance: ANYTHING,
  busName: ANYTHING,
  theoreticalGigabytesPerSecond: ANYTHING,
  points: ANYTHING,
  fits: ANYTHING,
  cases: ANYTHING,
  latencies: ANYTHING,
});

/** The directions of a sweep. */
export const DIRECTIONS: OptionKind = oneOf("host-to-device", "device-to-host", "device-to-device");
const KINDS = oneOf("pageable", "pinned", "device");

const SPEED = {
  byteLength: AMOUNT,
  gigabytesPerSecond: AMOUNT,
  minGigabytesPerSecond: AMOUNT,
  maxGigabytesPerSecond: AMOUNT,
  sampleCount: AMOUNT,
  copiesPerSample: AMOUNT,
  verified: FLAG,
};

const POINT: FieldKinds<BandwidthPoint> = {
  direction: DIRECTIONS,
  kind: KINDS,
  secondsPerCopy: AMOUNT,
  ...SPEED,
};

const FIT: FieldKinds<BandwidthFit> = {
  direction: DIRECTIONS,
  kind: KINDS,
  latencySeconds: AMOUNT,
  gigabytesPerSecond: AMOUNT,
  halfBandwidthBytes: AMOUNT,
};

/** The fields of a case; later versions may know more names. */
export const CASE: FieldKinds<CaseSpeed> = { name: TEXT, ...SPEED };

const LATENCY: FieldKinds<CaseLatency> = {
  name: TEXT,
  byteLength: AMOUNT,
  secondsPerAccess: AMOUNT,
  minSecondsPerAccess: AMOUNT,
  maxSecondsPerAccess: AMOUNT,
  sampleCount: AMOUNT,
  accessCount: AMOUNT,
  verified: FLAG,
};

export const PROVENANCE: FieldKinds<Provenance> = {
  device: TEXT,
  ordinal: maybe(AMOUNT),
  driver: TEXT,
  deno: TEXT,
  vramkit: TEXT,
  date: TEXT,
  isModelled: maybe(FLAG),
};

/**
 * The result of a bandwidth sweep, as {@link CudaDevice.bandwidth} returns it. It prints as a
 * table, and `JSON.stringify()` stores it.
 */
export class BandwidthResult {
  /** The device, driver and versions that it was measured with. */
  readonly provenance: Provenance;
  /** The bus's name, such as `"PCIe 5.0 x16"`, or `"unknown"`. */
  readonly busName: string;
  /** GB/s in one direction that the bus's signalling allows; null when unknown. */
  readonly theoreticalGigabytesPerSecond: number | null;
  /** One point for each direction, kind and size. */
  readonly points: readonly BandwidthPoint[];
  /** One line for each direction and kind whose points lie on one. */
  readonly fits: readonly BandwidthFit[];
  /** The cases of nvbandwidth that copy, if they were requested. */
  readonly cases: readonly CaseSpeed[];
  /** The cases of nvbandwidth that measure a latency, if they were requested. */
  readonly latencies: readonly CaseLatency[];

  /**
   * Creates a result from plain data, such as parsed JSON.
   *
   * @throws TypeError when the data is of another form.
   */
  constructor(found: BandwidthData) {
    found = RESULT.read(found, "new BandwidthResult");
    const { cases = [], latencies = [] } = found;
    const check = new PlainDataCheck("new BandwidthResult");
    check.record("provenance", found.provenance, PROVENANCE);
    check.value("busName", found.busName, TEXT);
    const roof = found.theoreticalGigabytesPerSecond;
    check.value("theoreticalGigabytesPerSecond", roof, AMOUNT_OR_NULL);
    check.list("points", found.points, POINT);
    check.list("fits", found.fits, FIT);
    check.list("cases", cases, CASE);
    check.list("latencies", latencies, LATENCY);
    this.provenance = found.provenance;
    this.busName = found.busName;
    this.theoreticalGigabytesPerSecond = roof;
    this.points = found.points;
    this.fits = found.fits;
    this.cases = cases;
    this.latencies = latencies;
  }
}

/**
 * Fits seconds = latency + bytes / speed through points of one direction and kind. Each point counts
 * by its relative error, so that small copies decide the latency and large ones the speed.
 */
export function fitLine(points: readonly BandwidthPoint[]): BandwidthFit | undefined {
  const first = points[0];
  if (first === undefined || points.length < 2) return undefined;
  let [w, wx, wy, wxx, wxy] = [0, 0, 0, 0, 0];
  for (const { byteLength: x, secondsPerCopy: y } of points) {
    const weight = 1 / (y * y);
    w += weight;
    wx += weight * x;
    wy += weight * y;
    wxx += weight * x * x;
    wxy += weight * x * y;
  }
  const determinant = w * wxx - wx * wx;
  if (determinant === 0) return undefined;
  const secondsPerByte = (w * wxy - wx * wy) / determinant;
  const latencySeconds = Math.max((wxx * wy - wx * wxy) / determinant, 0);
  if (secondsPerByte <= 0) return undefined;
  return {
    direction: first.direction,
    kind: first.kind,
    latencySeconds,
    gigabytesPerSecond: 1 / secondsPerByte / 1e9,
    halfBandwidthBytes: latencySeconds / secondsPerByte,
  };
}

/** The largest deviation of a point's time from the line, as a fraction of it. */
const MAX_MISFIT = 0.3;

/** Fits a line for each direction and kind whose `points` lie on one. */
export function fitLines(points: readonly BandwidthPoint[]): BandwidthFit[] {
  const groups = Map.groupBy(points, (point) => `${point.direction} ${point.kind}`);
  return [...groups.values()].flatMap((group) => {
    const fit = fitLine(group);
    return fit !== undefined && group.every((point) => isOnLine(point, fit)) ? [fit] : [];
  });
}

function isOnLine({ byteLength, secondsPerCopy }: BandwidthPoint, fit: BandwidthFit): boolean {
  const seconds = fit.latencySeconds + byteLength / fit.gigabytesPerSecond / 1e9;
  return Math.abs(seconds / secondsPerCopy - 1) <= MAX_MISFIT;
}
