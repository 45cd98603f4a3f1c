// The likely causes of a slow row, in words: from the facts about GPU and host, the surest first.

import { pcieBus } from "../measure/bus.ts";
import { formatBytes, formatCount } from "../words/format.ts";
import { numbersOf } from "./host_facts.ts";
import type { GpuFacts, HostFacts, LoadSample, OtherProgram } from "./machine_report.ts";

/** The facts that causes are looked for in. */
export interface Evidence {
  readonly host: HostFacts;
  readonly gpu: GpuFacts;
  /** The moments under load of this GPU. */
  readonly load: readonly LoadSample[];
}

/** Traffic and load at rest from which on they are somebody's. */
export const MIN_TRAFFIC = 0.5;
export const MIN_UTILIZATION = 5;
/** Cores that threads need to bring an ordinary array to the speed of the bus. */
export const WANTED_CORES = 8;

/** Reasons of clocks that are none to worry about. */
const HARMLESS = /^(idle|applications clocks setting|display clock setting)$/;

/** Returns the reasons that lowered the clocks under load, without harmless ones. */
export function throttles({ load }: Evidence): string[] {
  const all = load.flatMap(({ throttleReasons }) => throttleReasons);
  return [...new Set(all)].filter((reason) => !HARMLESS.test(reason));
}

/** Returns the best link that was seen under load: at rest, devices lower theirs. */
export function busiestLink({ load }: Evidence): string | undefined {
  const links = load.flatMap(({ link }) => link ?? []);
  return links.toSorted().at(-1);
}

/** Says how the link falls short of the best that GPU and host could have. */
export function linkCause(evidence: Evidence): string | undefined {
  const { linkMax } = evidence.gpu;
  const link = busiestLink(evidence);
  if (linkMax === null || link === undefined) return undefined;
  const best = pcieBus(linkMax.generation, linkMax.laneCount).name;
  if (link === best) return undefined;
  const [lanes, bestLanes] = [link, best].map((name) => name.split(" x")[1]);
  return lanes === bestLanes
    ? `the bus runs as ${link} instead of ${best}: a setting of the BIOS, a riser, or power saving`
    : `x${lanes} instead of x${bestLanes}: seat the card again, look at the slot's wiring, the riser ` +
      "and the BIOS's bifurcation";
}

/** Names other programs on a GPU. */
export function nameOthers(others: readonly OtherProgram[]): string {
  return others.slice(0, 3).map(({ pid, name, memoryBytes }) =>
    `${name ?? "a program"} (pid ${pid}${
      memoryBytes === null ? "" : `, ${formatBytes(memoryBytes)}`
    })`
  ).join(", ") + (others.length > 3 ? ` and ${others.length - 3} more` : "");
}

/** Says that somebody else uses the GPU or its bus. */
export function sharingCause({ gpu }: Evidence): string | undefined {
  const { otherPrograms, restTrafficGigabytesPerSecond: traffic, restUtilizationPercent } = gpu;
  const busy = [
    ...((traffic ?? 0) < MIN_TRAFFIC
      ? []
      : [`${traffic?.toFixed(1)} GB/s went over its bus before this program copied anything`]),
    ...((restUtilizationPercent ?? 0) < MIN_UTILIZATION
      ? []
      : [`it was ${restUtilizationPercent} % busy before`]),
  ].join(", ");
  if (otherPrograms.length > 0) {
    return `${nameOthers(otherPrograms)} uses the GPU as well${busy === "" ? "" : `: ${busy}`}`;
  }
  return busy === "" ? undefined : `another program, which the system does not show: ${busy}`;
}

/** Says that the program's cores are on other nodes than the GPU. */
export function nodeCause({ gpu, host }: Evidence): string | undefined {
  const { numaNode, numaCores } = gpu;
  if (numaNode === null || numaCores === null || host.allowedCores === null) return undefined;
  if ((host.numaNodeCount ?? 1) < 2) return undefined;
  const near = new Set(numbersOf(numaCores));
  const own = numbersOf(host.allowedCores);
  if (own.every((core) => near.has(core))) return undefined;
  return own.some((core) => near.has(core))
    ? `the driver's copies may run on another NUMA node than the GPU's, ${numaNode}: try numactl ` +
      `--cpunodebind=${numaNode} --membind=${numaNode}`
    : `the driver's copies on the other NUMA node: the program may use cores ${host.allowedCores}, and the ` +
      `GPU is at node ${numaNode} with cores ${numaCores}`;
}

/** Says that the program has few cores. */
export function coreCause({ host }: Pick<Evidence, "host">): string | undefined {
  const { allowedCoreCount, coreCount, coreQuota } = host;
  if (coreQuota !== null && coreQuota < Math.min(WANTED_CORES, allowedCoreCount)) {
    return `few cores: the container may use ${coreQuota.toPrecision(2)} of them (cpu.max)`;
  }
  if (allowedCoreCount >= WANTED_CORES) return undefined;
  const cores = formatCount(allowedCoreCount, "core");
  return coreCount !== null && coreCount > allowedCoreCount
    ? `few cores: the program may use ${allowedCoreCount} of ${coreCount} (taskset, or the container's cpuset)`
    : `few cores: the machine has ${cores}`;
}

/** Says that the processor saves power. */
export function governorCause({ host: { governor } }: Pick<Evidence, "host">): string | undefined {
  return governor === null || governor === "performance" || governor === "schedutil"
    ? undefined
    : `the processor's clock follows "${governor}"`;
}

/** Says that the board may draw less than it is made for. */
export function powerCause({ gpu }: Evidence): string | undefined {
  const { powerLimitWatts: limit, defaultPowerLimitWatts: usual } = gpu;
  if (limit === null || usual === null || limit >= usual) return undefined;
  return `power cap ${Math.round(limit)} W of ${Math.round(usual)} W`;
}

/** Says that the clocks were lowered. */
export function throttleCause(evidence: Evidence): string | undefined {
  const reasons = throttles(evidence);
  return reasons.length === 0 ? undefined : `clocks lowered by ${reasons.join(", ")}`;
}

/** Says that the machine is a virtual one. */
export function virtualCause({ host }: Pick<Evidence, "host">): string | undefined {
  return host.isVirtual === true ? "a virtual machine, whose host may be busy" : undefined;
}
