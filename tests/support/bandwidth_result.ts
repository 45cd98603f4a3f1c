// A bandwidth result like the one an H200 on PCIe 5.0 gives, for plots and tables to be tested on.
// Built from a latency and a speed for each line, so that what a fit must find is known.

import type {
  BandwidthFit,
  BandwidthPoint,
  BandwidthResult,
  CopyDirection,
  HostKind,
  Provenance,
} from "../../src/measure/bandwidth_result.ts";

/** Says how one line of the result behaves. */
export interface LineModel {
  readonly direction: CopyDirection;
  readonly kind: HostKind;
  readonly latencySeconds: number;
  readonly gigabytesPerSecond: number;
  /** Share by which the fastest and slowest samples differ from the median. */
  readonly spread?: number;
}

/** The five lines of a full sweep. */
export const H200_LINES: readonly LineModel[] = [
  model("host-to-device", "pageable", {
    latencySeconds: 4.6e-6,
    gigabytesPerSecond: 17.8,
    spread: 0.2,
  }),
  model("host-to-device", "pinned", { latencySeconds: 5.1e-6, gigabytesPerSecond: 55.6 }),
  model("device-to-host", "pageable", {
    latencySeconds: 6.3e-6,
    gigabytesPerSecond: 19,
    spread: 0.08,
  }),
  model("device-to-host", "pinned", { latencySeconds: 4.9e-6, gigabytesPerSecond: 55.4 }),
  model("device-to-device", "device", { latencySeconds: 2.1e-6, gigabytesPerSecond: 2100 }),
];

/** Says what differs from the usual result. */
export interface ResultOptions {
  readonly lines?: readonly LineModel[];
  readonly provenance?: Partial<Provenance>;
  readonly busName?: string;
  readonly theoreticalGigabytesPerSecond?: number | null;
  readonly smallestBytes?: number;
  readonly largestBytes?: number;
  readonly verified?: boolean;
}

/** Builds a result whose points lie on the lines' models, at every second power of two. */
export function bandwidthResult(options: ResultOptions = {}): BandwidthResult {
  const { lines = H200_LINES, smallestBytes = 4096, largestBytes = 2 ** 30, verified = true } =
    options;
  const sizes: number[] = [];
  for (let size = smallestBytes; size <= largestBytes; size *= 4) sizes.push(size);
  return {
    provenance: {
      device: "NVIDIA H200",
      driver: "580.159.04",
      deno: "2.9.6",
      vramkit: "0.1.0",
      date: "2026-11-20",
      ...options.provenance,
    },
    busName: options.busName ?? "PCIe 5.0 x16",
    theoreticalGigabytesPerSecond: options.theoreticalGigabytesPerSecond === undefined
      ? 63
      : options.theoreticalGigabytesPerSecond,
    points: lines.flatMap((line) => sizes.map((size) => point(line, size, verified))),
    fits: lines.map(fit),
    cases: [],
    latencies: [],
  };
}

function model(
  direction: CopyDirection,
  kind: HostKind,
  rest: Omit<LineModel, "direction" | "kind">,
): LineModel {
  return { direction, kind, ...rest };
}

function point(line: LineModel, byteLength: number, verified: boolean): BandwidthPoint {
  const secondsPerCopy = line.latencySeconds + byteLength / (line.gigabytesPerSecond * 1e9);
  const gigabytesPerSecond = byteLength / secondsPerCopy / 1e9;
  const spread = line.spread ?? 0.004;
  return {
    direction: line.direction,
    kind: line.kind,
    byteLength,
    secondsPerCopy,
    gigabytesPerSecond,
    minGigabytesPerSecond: gigabytesPerSecond * (1 - spread),
    maxGigabytesPerSecond: gigabytesPerSecond * (1 + spread / 2),
    sampleCount: 7,
    copiesPerSample: 16,
    verified,
  };
}

function fit(line: LineModel): BandwidthFit {
  const { direction, kind, latencySeconds, gigabytesPerSecond } = line;
  const halfBandwidthBytes = Math.round(latencySeconds * gigabytesPerSecond * 1e9);
  return { direction, kind, latencySeconds, gigabytesPerSecond, halfBandwidthBytes };
}
