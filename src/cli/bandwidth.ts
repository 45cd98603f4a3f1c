// `bandwidth`: measures a device's copies and prints a table or JSON.

import { formatBandwidth, shortName } from "../cards/bandwidth_card.ts";
import { CudaDevice } from "../device/device.ts";
import { readText } from "../disk/whole_file.ts";
import { sizesUpTo } from "../measure/bandwidth.ts";
import type { BandwidthResult } from "../measure/bandwidth_result.ts";
import { CASE_BYTES, COPY_CASES } from "../measure/copy_cases.ts";
import { LATENCY_CASES } from "../measure/latency_cases.ts";
import { casesOf, nvbandwidthDocument, parseNvbandwidth } from "../measure/nvbandwidth.ts";
import { ProgressBar } from "../notebook/progress_bar.ts";
import { progressSurface } from "../notebook/progress_surfaces.ts";
import { formatBytes, messageOf } from "../words/format.ts";
import { formatTable } from "../words/text_table.ts";
import { type CliOptions, UsageError } from "./arguments.ts";

/** Copies of the simulated device run on the CPU, where those of nvbandwidth's size take minutes. */
const SIMULATED_CASE_BYTES = 2 ** 24;

/** Runs the command. */
export async function runBandwidth(options: CliOptions): Promise<number> {
  if (options.cases) return await runCases(options);
  using gpu = CudaDevice.open(options.ordinal, { driver: options.driver });
  const result = await measure(gpu, { largestBytes: options.largestBytes, quiet: options.json });
  console.log(options.json ? JSON.stringify(result, null, 2) : formatBandwidth(result));
  return isVerified(result) ? 0 : 1;
}

/** Measures nvbandwidth's cases, and sets them beside its own figures when these are given. */
async function runCases(options: CliOptions): Promise<number> {
  const { ordinal, driver, caseBytes, compare, json } = options;
  const theirs = compare === undefined ? undefined : await readNvbandwidth(compare);
  using gpu = CudaDevice.open(ordinal, { driver });
  const result = await gpu.bandwidth({
    cases: [...COPY_CASES, ...LATENCY_CASES],
    caseSize: caseBytes ?? (gpu.isSimulated ? SIMULATED_CASE_BYTES : CASE_BYTES),
  });
  if (json) {
    console.log(JSON.stringify(nvbandwidthDocument(result, gpu.system().driverVersion), null, 2));
  } else console.log(formatBandwidth(result));
  if (theirs !== undefined && !json) console.log(`\n${compareCases(result, theirs)}`);
  return isVerified(result) ? 0 : 1;
}

async function readNvbandwidth(path: string): Promise<Map<string, number>> {
  try {
    return parseNvbandwidth(await readText(path));
  } catch (error) {
    throw new UsageError(`Cannot compare with ${path}: ${messageOf(error)}`);
  }
}

/** Returns a table of our speeds, nvbandwidth's and their ratio. */
function compareCases(result: BandwidthResult, theirs: Map<string, number>): string {
  const rows = casesOf(result).map(({ name, gigabytesPerSecond: our }) => {
    const their = theirs.get(name);
    const ratio = their === undefined ? "" : (our / their).toFixed(3);
    return [name, our.toPrecision(4), their?.toPrecision(4) ?? "", ratio];
  });
  const header = ["case, GB/s or ns", "vramkit", "nvbandwidth", "ratio"];
  return formatTable([header, ...rows], ["left", "right", "right", "right"]);
}

/** Runs a sweep with a progress bar. */
export async function measure(
  gpu: CudaDevice,
  options: { largestBytes: number; quiet?: boolean },
): Promise<BandwidthResult> {
  const sizes = sizesUpTo(options.largestBytes);
  if (options.quiet === true) return await gpu.bandwidth({ sizes });
  const bar = new ProgressBar("Measuring", progressSurface({ keepsLine: false }));
  try {
    return await gpu.bandwidth({
      sizes,
      onProgress: (done, total, point) =>
        bar.update(done, total, `${shortName(point)} ${formatBytes(point.byteLength)}`),
    });
  } finally {
    bar.finish();
  }
}

/** Returns whether the bytes of all points were correct. */
export function isVerified(result: BandwidthResult): boolean {
  return [...result.points, ...result.cases, ...result.latencies].every(({ verified }) => verified);
}
