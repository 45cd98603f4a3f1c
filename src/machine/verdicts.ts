// The values that a GPU, its bus and its host should reach, the judgement of measured ones, and the likely
// causes of those that fall short. Shares of a theoretical speed were measured on machines that are all right.

import { numbersOf } from "../lanes/near_cores.ts";
import { formatBytes, formatSpeed } from "../words/format.ts";
import type { GpuFacts, OtherProgram } from "./gpu_facts.ts";
import type { HostFacts } from "./host_facts.ts";
import type { LoadSample, Verdict } from "./machine_report.ts";

/** A value that should be reached, and its origin in words. */
export interface Expectation {
  readonly value: number;
  readonly from: string;
  /** Whether it is a rule of thumb: a value far from it is worth a look, and not wrong. */
  readonly isThumb?: boolean;
}

/** The facts that causes are looked for in. */
export interface Evidence {
  readonly host: HostFacts;
  readonly gpu: GpuFacts;
  /** The moments under load of this GPU. */
  readonly load: readonly LoadSample[];
}

/** Shares of the bus's signalling that copies reach: packets have headers, and answers go back. */
export const BUS_SHARES: Readonly<Record<string, number>> = {
  host_to_device_memcpy_ce: 0.87,
  device_to_host_memcpy_ce: 0.87,
  host_to_device_bidirectional_memcpy_ce: 0.62,
  device_to_host_bidirectional_memcpy_ce: 0.78,
  host_to_device_memcpy_sm: 0.75,
  device_to_host_memcpy_sm: 0.75,
  all_to_host_memcpy_ce: 0.8,
  host_to_all_memcpy_ce: 0.8,
};
/** Share of the memory's speed: a copy reads and writes each byte, and memory rests for refreshes. */
const MEMORY_SHARE = 0.85;
const NVLINK_SHARE = 0.87;
/** GB/s of one NVLink in one direction, by generation. */
const NVLINK_SPEEDS: Readonly<Record<number, number>> = { 1: 20, 2: 25, 3: 25, 4: 25, 5: 50 };

/** Shares of an expectation from which on a value is as it should be, or worth a look. */
const GOOD_SHARE = 0.9;
const LOOK_SHARE = 0.7;

/** GB/s and percent at rest from which on they are somebody else's. */
const MIN_TRAFFIC = 0.5;
const MIN_UTILIZATION = 5;
/** Cores that threads need to bring an ordinary array to the speed of the bus. */
export const WANTED_CORES = 8;

/** Judges a value. */
export function judge(
  value: number,
  { value: expected, isThumb = false }: Expectation,
  better: "more" | "less" = "more",
): Verdict {
  const share = better === "more" ? value / expected : expected / value;
  if (share >= GOOD_SHARE) return "good";
  return share >= LOOK_SHARE || isThumb ? "look" : "bad";
}

/** Returns the expectation for copies over the bus, at a share of what its signalling allows. */
export function expectOfBus({ bus }: GpuFacts, share: number | undefined): Expectation | undefined {
  const roof = bus?.theoreticalGigabytesPerSecond ?? 0;
  if (bus === null || roof === 0 || share === undefined) return undefined;
  return { value: share * roof, from: `${percent(share)} of ${bus.name}, ${formatSpeed(roof)}` };
}

/** Returns the expectation for copies within a device: its memory's clock and width decide. */
export function expectOfMemory(gpu: GpuFacts): Expectation | undefined {
  const { memoryClockMax: clock, memoryBusBits: bits } = gpu;
  if (clock === null || bits === 0) return undefined;
  const roof = 2 * clock * bits / 8 / 1000; // two transfers in a clock
  return {
    value: MEMORY_SHARE * roof / 2,
    from: `${percent(MEMORY_SHARE)} of half of ${formatSpeed(roof)}, ${bits} bits at ${clock} MHz`,
  };
}

/** Returns the expectation for copies between GPUs over NVLink. */
export function expectOfNvlink(
  { nvlinkCount, nvlinkGeneration }: GpuFacts,
): Expectation | undefined {
  const one = NVLINK_SPEEDS[nvlinkGeneration];
  if (nvlinkCount === 0 || one === undefined) return undefined;
  return {
    value: NVLINK_SHARE * nvlinkCount * one,
    from: `${percent(NVLINK_SHARE)} of ${nvlinkCount} NVLinks with ${one} GB/s each`,
    isThumb: true, // without a switch, the links of a GPU are divided among its neighbours
  };
}

function percent(share: number): string {
  return `${Math.round(100 * share)} %`;
}

/** Returns the best link that was seen under load: at rest, devices lower theirs. */
export function busiestLink({ load }: Evidence): string | null {
  return load.flatMap(({ link }) => link ?? []).toSorted().at(-1) ?? null;
}

/** Returns the reasons that lowered the clocks under load, without harmless ones. */
export function throttles({ load }: Evidence): string[] {
  const all = load.flatMap(({ throttleReasons }) => throttleReasons);
  return [...new Set(all)].filter((reason) => !/^idle$|clocks? setting$/.test(reason));
}

/** Says how the link falls short of the best that GPU and host have together. */
export function linkCause(evidence: Evidence): string | undefined {
  const best = evidence.gpu.bus?.name;
  const link = busiestLink(evidence);
  if (best === undefined || link === null || link === best) return undefined;
  const [lanes, bestLanes] = [link, best].map((name) => name.split(" x")[1]);
  return lanes === bestLanes
    ? `${link} instead of ${best}: a setting of the BIOS, a riser, or power saving`
    : `x${lanes} instead of x${bestLanes}: seat the card again, look at slot, riser and BIOS`;
}

/** Names other programs on a GPU. */
export function nameOthers(others: readonly OtherProgram[]): string {
  const names = others.slice(0, 3).map(({ pid, name, memoryBytes }) =>
    `${name} (pid ${pid}${memoryBytes === undefined ? "" : `, ${formatBytes(memoryBytes)}`})`
  );
  return names.join(", ") + (others.length > 3 ? ` and ${others.length - 3} more` : "");
}

/** Says that somebody else uses the GPU or its bus. */
export function sharingCause({ gpu }: Evidence): string | undefined {
  const { otherPrograms, restTraffic, restUtilization } = gpu;
  const traces = [
    ...(restTraffic ?? 0) < MIN_TRAFFIC ? [] : [`${formatSpeed(restTraffic ?? 0)} over its bus`],
    ...(restUtilization ?? 0) < MIN_UTILIZATION ? [] : [`${restUtilization} % of load`],
  ];
  const before = traces.length === 0
    ? ""
    : `: ${traces.join(" and ")} before this program did anything`;
  if (otherPrograms.length > 0) return `${nameOthers(otherPrograms)} uses the GPU as well${before}`;
  return before === "" ? undefined : `another program, which the system does not show${before}`;
}

/** Says that the program's cores are on other nodes than the GPU. */
export function nodeCause({ gpu, host }: Evidence): string | undefined {
  const { numaNode, numaCores } = gpu;
  if (numaNode === null || numaCores === null || host.allowedCores === null) return undefined;
  const near = new Set(numbersOf(numaCores));
  if (numbersOf(host.allowedCores).every((core) => near.has(core))) return undefined;
  return `the driver's copies may run on another NUMA node than ${numaNode}, the GPU's: try numactl ` +
    `--cpunodebind=${numaNode} --membind=${numaNode}`;
}

/** Says that the program has few cores. */
export function coreCause(
  { allowedCoreCount, coreCount, coreQuota }: HostFacts,
): string | undefined {
  if (Math.min(allowedCoreCount, coreQuota ?? Infinity) >= WANTED_CORES) return undefined;
  if (coreQuota !== null && coreQuota < allowedCoreCount) {
    return `few cores: the container may use the time of ${+coreQuota.toPrecision(2)}`;
  }
  return coreCount !== null && coreCount > allowedCoreCount
    ? `few cores: ${allowedCoreCount} of ${coreCount} (taskset, or the container's cpuset)`
    : `few cores: the machine has ${allowedCoreCount}`;
}

/** Says that the processor saves power, or that the host of a virtual machine may be busy. */
export function hostCause({ governor, isVirtual }: HostFacts): string | undefined {
  if (governor === "powersave" || governor === "ondemand" || governor === "conservative") {
    return `the processor's clock follows "${governor}"`;
  }
  return isVirtual === true ? "a virtual machine, whose host may be busy" : undefined;
}

/** Says that the board may draw less than it is made for. */
export function powerCause(
  { gpu: { powerLimit, defaultPowerLimit } }: Evidence,
): string | undefined {
  if (powerLimit === null || defaultPowerLimit === null || powerLimit >= defaultPowerLimit) {
    return undefined;
  }
  return `power cap ${Math.round(powerLimit)} W of ${Math.round(defaultPowerLimit)} W`;
}

/** Says that the clocks were lowered. */
export function throttleCause(evidence: Evidence): string | undefined {
  const reasons = throttles(evidence).join(", ");
  return reasons === "" ? undefined : `clocks lowered by ${reasons}`;
}
