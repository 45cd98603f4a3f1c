// The rows of a report: each value beside its expectation, with a verdict in words and the command that
// checks it.

import type { BandwidthPoint, CaseSpeed } from "../measure/bandwidth_result.ts";
import { BandwidthResult } from "../measure/bandwidth_result.ts";
import { pcieBus } from "../measure/bus.ts";
import type { LinkBandwidthResult, LinkSpeed } from "../measure/link_bandwidth_result.ts";
import type { Spread } from "../measure/samples.ts";
import { formatBytes, formatCount, formatSpeed } from "../words/format.ts";
import type { CallTimes } from "./call_speed.ts";
import {
  busiestLink,
  coreCause,
  type Evidence,
  governorCause,
  linkCause,
  MIN_TRAFFIC,
  MIN_UTILIZATION,
  nameOthers,
  nodeCause,
  powerCause,
  sharingCause,
  throttleCause,
  throttles,
  virtualCause,
  WANTED_CORES,
} from "./causes.ts";
import {
  type Expectation,
  expectOfBus,
  expectOfMemory,
  expectOfNvlink,
  judge,
} from "./expectations.ts";
import type { FileSpeed } from "./file_speed.ts";
import type { HostSpeed } from "./host_speed.ts";
import type { GpuFacts, HostFacts, LoadSample, MachineRow, Verdict } from "./machine_report.ts";

/** All that was found about one GPU. */
export interface GpuFindings {
  facts: GpuFacts;
  bandwidth: BandwidthResult | undefined;
  calls: CallTimes | undefined;
  file: FileSpeed | undefined;
}

/** All that was found. */
export interface Findings {
  readonly isModelled: boolean;
  readonly host: HostFacts;
  readonly gpus: readonly GpuFindings[];
  readonly load: readonly LoadSample[];
  links: LinkBandwidthResult | undefined;
  oneCore: HostSpeed | undefined;
  allCores: HostSpeed | undefined;
  /** The steps that failed, and the reasons. */
  readonly failures: readonly { readonly step: string; readonly reason: string }[];
}

/** A row before it is judged. */
type Draft =
  & Pick<MachineRow, "id" | "group" | "name" | "check">
  & Partial<MachineRow>;

const SMI = "nvidia-smi -q -d";

/** Makes all rows. */
export function rowsOf(found: Findings): MachineRow[] {
  const ofGpus = found.gpus.flatMap((gpu) => {
    const { ordinal } = gpu.facts;
    const load = found.load.filter((sample) => sample.gpu === ordinal);
    const evidence: Evidence = { host: found.host, gpu: gpu.facts, load };
    return [
      ...factRows(evidence),
      ...copyRows(gpu, evidence),
      ...arrayRows(gpu, evidence),
      ...callRows(gpu, evidence),
      ...fileRows(gpu, evidence),
    ];
  });
  const links = linkRows(found);
  const modelled = [...ofGpus, ...links].map((row) => found.isModelled ? asModelled(row) : row);
  return [...modelled, ...hostRows(found), ...failureRows(found)];
}

/** Nothing that the simulated driver says is a result. */
function asModelled(row: MachineRow): MachineRow {
  const { expected: _, expectedFrom: __, ...rest } = row;
  return {
    ...rest,
    verdict: "unrated",
    words: "Simulated: no hardware was measured",
    isModelled: true,
  };
}

function fact(draft: Draft): MachineRow {
  return { value: null, unit: "", verdict: "unrated", words: "", ...draft };
}

/** Judges a measured value against an expectation; the causes are for values that fall short. */
function measured(
  draft: Draft,
  { spread, expectation, better = "more", causes, remark = "" }: {
    readonly spread: Spread;
    readonly expectation: Expectation | undefined;
    readonly better?: "more" | "less";
    readonly causes: readonly (string | undefined)[];
    readonly remark?: string;
  },
): MachineRow {
  const { middle: value, least, most } = spread;
  const row = { unit: "GB/s", ...draft, value, least, most, better };
  if (expectation === undefined) return { ...row, verdict: "unrated", words: remark };
  const verdict = judge(value, expectation, better);
  const found = causes.filter((cause) => cause !== undefined);
  const short = better === "more" ? "less than it should be" : "longer than it should take";
  const cause = found.length === 0 ? "no cause is in sight" : found.join("; ");
  const words = verdict === "good" ? "as it should be" : `${short}: ${cause}`;
  return {
    ...row,
    expected: expectation.value,
    expectedFrom: expectation.from,
    verdict,
    words: remark === "" ? words : `${words}; ${remark}`,
  };
}

function factRows(evidence: Evidence): MachineRow[] {
  const { gpu, load } = evidence;
  const group = `GPU ${gpu.ordinal}`;
  const at = `-i ${gpu.ordinal}`;
  const row = (name: string, draft: Omit<Draft, "id" | "group">): MachineRow =>
    fact({ id: `gpu${gpu.ordinal}.${name}`, group, ...draft });
  const most = (of: (sample: LoadSample) => number | null) => {
    const values = load.map(of).filter((value) => value !== null);
    return values.length === 0 ? null : Math.max(...values);
  };
  const clock = (name: string, words: string, value: number | null, best: number | null) => {
    const isShort = value !== null && best !== null && value < 0.9 * best;
    const cause = throttleCause(evidence) ?? powerCause(evidence);
    return row(name, {
      name: words,
      value,
      unit: "MHz",
      expected: best ?? undefined,
      expectedFrom: "the board's highest clock",
      check: `${SMI} CLOCK,PERFORMANCE ${at}`,
      verdict: value === null || best === null ? "unrated" : isShort ? "look" : "good",
      words: isShort ? cause ?? "it did not rise under copies" : "",
    });
  };
  const power = powerCause(evidence);
  const throttled = throttles(evidence);
  const isHard = throttled.some((reason) => /hardware/.test(reason));
  const sharing = sharingCause(evidence);
  return [
    linkRow(evidence, row),
    ...gpu.ownGeneration === null || gpu.linkMax === null ||
        gpu.ownGeneration <= gpu.linkMax.generation
      ? []
      : [row("own_generation", {
        name: "PCIe generation of the GPU alone",
        value: `PCIe ${gpu.ownGeneration}.0`,
        check: `${SMI} PCI ${at}`,
        verdict: "look",
        words: `the host or the slot gives generation ${gpu.linkMax.generation} only`,
      })],
    row("numa", {
      name: "NUMA node",
      value: gpu.numaNode ?? (evidence.host.numaNodeCount === 1 ? "the only one" : null),
      check: "nvidia-smi topo -m",
      verdict: nodeCause(evidence) === undefined ? "good" : "look",
      words: nodeCause(evidence) ?? "",
    }),
    row("power_limit", {
      name: "power limit",
      value: gpu.powerLimitWatts,
      unit: "W",
      expected: gpu.defaultPowerLimitWatts ?? undefined,
      expectedFrom: "the board's default",
      check: `${SMI} POWER ${at}`,
      verdict: gpu.powerLimitWatts === null ? "unrated" : power === undefined ? "good" : "look",
      words: power ?? "",
    }),
    row("power", {
      name: "power, the most under copies",
      value: most(({ powerWatts }) => powerWatts),
      unit: "W",
      check: `${SMI} POWER ${at}`,
    }),
    row("temperature", {
      name: "temperature, the most under copies",
      value: most(({ temperatureCelsius }) => temperatureCelsius),
      unit: "°C",
      check: `${SMI} TEMPERATURE ${at}`,
    }),
    clock(
      "sm_clock",
      "multiprocessors' clock, the most",
      most(({ smClockMegahertz }) => smClockMegahertz),
      gpu.smClockMaxMegahertz,
    ),
    clock(
      "memory_clock",
      "memory's clock, the most",
      most(({ memoryClockMegahertz }) => memoryClockMegahertz),
      gpu.memoryClockMaxMegahertz,
    ),
    row("throttle", {
      name: "reasons for lower clocks",
      value: load.length === 0 ? null : throttled.join(", ") || "none",
      check: `${SMI} PERFORMANCE ${at}`,
      verdict: load.length === 0
        ? "unrated"
        : isHard
        ? "bad"
        : throttled.length > 0
        ? "look"
        : "good",
      words: isHard ? "the board protects itself: look at cooling and power supply" : "",
    }),
    row("ecc", {
      name: "ECC",
      value: gpu.isEccEnabled === null ? null : gpu.isEccEnabled ? "on" : "off",
      check: `${SMI} ECC ${at}`,
      verdict: (gpu.uncorrectedErrorCount ?? 0) > 0 ? "bad" : "unrated",
      words: gpu.uncorrectedErrorCount === null
        ? ""
        : `${formatCount(gpu.uncorrectedErrorCount, "error")} that could not be corrected`,
    }),
    row("mig", {
      name: "MIG",
      value: gpu.isMigEnabled === null ? null : gpu.isMigEnabled ? "on" : "off",
      check: `nvidia-smi mig -lgi ${at}`,
      words: gpu.isMigEnabled ? "the speeds are those of a part of the GPU" : "",
    }),
    row("memory", {
      name: "free memory",
      value: gpu.freeBytes / 2 ** 30,
      unit: "GiB",
      expected: gpu.totalBytes / 2 ** 30,
      expectedFrom: gpu.isIntegrated ? "the system's memory, which the GPU shares" : "all of it",
      check: gpu.isIntegrated ? "free -h" : `${SMI} MEMORY ${at}`,
      words: gpu.isIntegrated ? "as the system counts it: the page cache is free, swap is not" : "",
    }),
    row("others", {
      name: "other programs",
      value: gpu.otherPrograms.length > 0
        ? nameOthers(gpu.otherPrograms)
        : sharing === undefined
        ? "none"
        : "not shown",
      check: "nvidia-smi",
      verdict: sharing === undefined ? "good" : "look",
      words: sharing ?? "",
    }),
    row("rest_traffic", {
      name: "traffic on the bus before",
      value: gpu.restTrafficGigabytesPerSecond,
      unit: "GB/s",
      better: "less",
      check: "nvidia-smi dmon -s t",
      verdict: gpu.restTrafficGigabytesPerSecond === null
        ? "unrated"
        : gpu.restTrafficGigabytesPerSecond < MIN_TRAFFIC
        ? "good"
        : "look",
    }),
    row("rest_utilization", {
      name: "load before",
      value: gpu.restUtilizationPercent,
      unit: "%",
      better: "less",
      check: `${SMI} UTILIZATION ${at}`,
      verdict: gpu.restUtilizationPercent === null
        ? "unrated"
        : gpu.restUtilizationPercent < MIN_UTILIZATION
        ? "good"
        : "look",
    }),
    ...gpu.nvlinkCount === null ? [] : [row("nvlinks", {
      name: "NVLinks that are up",
      value: gpu.nvlinkCount,
      better: "more",
      check: `nvidia-smi nvlink -s ${at}`,
    })],
  ];
}

function linkRow(
  evidence: Evidence,
  row: (name: string, draft: Omit<Draft, "id" | "group">) => MachineRow,
): MachineRow {
  const { gpu } = evidence;
  const { linkMax, slot, pcieReplayCount } = gpu;
  const value = busiestLink(evidence) ?? null;
  const cause = linkCause(evidence);
  const verdict: Verdict = value === null || linkMax === null ? "unrated" : cause ? "bad" : "good";
  return row("link", {
    name: "PCIe link under load",
    value,
    expected: linkMax === null ? undefined : pcieBus(linkMax.generation, linkMax.laneCount).name,
    expectedFrom: slot === null ? "the best of GPU and host" : `the slot: ${slot}`,
    check:
      `nvidia-smi -i ${gpu.ordinal} --query-gpu=pcie.link.gen.current,pcie.link.width.current,` +
      "pcie.link.gen.max,pcie.link.width.max --format=csv",
    verdict,
    words: [
      cause ?? (gpu.isIntegrated ? "an integrated GPU has no bus of its own" : ""),
      (pcieReplayCount ?? 0) === 0
        ? ""
        : `${formatCount(pcieReplayCount ?? 0, "packet")} sent again since the driver was loaded`,
    ].filter((words) => words !== "").join("; "),
  });
}

/** Names of cases in words. */
const CASE_WORDS: Readonly<Record<string, string>> = {
  host_to_device_memcpy_ce: "host to device, page-locked",
  device_to_host_memcpy_ce: "device to host, page-locked",
  host_to_device_bidirectional_memcpy_ce: "host to device, the other way loaded",
  device_to_host_bidirectional_memcpy_ce: "device to host, the other way loaded",
  device_local_copy: "within the device",
  host_to_device_memcpy_sm: "host to device, by a kernel",
  device_to_host_memcpy_sm: "device to host, by a kernel",
  device_local_copy_sm: "within the device, by a kernel",
  device_to_device_memcpy_read_ce: "a GPU reads from another",
  device_to_device_memcpy_write_ce: "a GPU writes to another",
  device_to_device_bidirectional_memcpy_read_ce: "two GPUs read from each other, sum",
  device_to_device_bidirectional_memcpy_write_ce: "two GPUs write to each other, sum",
  all_to_host_memcpy_ce: "a GPU to the host, all others loaded",
  host_to_all_memcpy_ce: "the host to a GPU, all others loaded",
  all_to_one_write_ce: "all write to one GPU",
  all_to_one_read_ce: "one GPU reads from all",
  one_to_all_write_ce: "one GPU writes to all",
  one_to_all_read_ce: "all read from one GPU",
};

function caseSpread(found: CaseSpeed): Spread {
  const { gigabytesPerSecond, minGigabytesPerSecond, maxGigabytesPerSecond } = found;
  return { middle: gigabytesPerSecond, least: minGigabytesPerSecond, most: maxGigabytesPerSecond };
}

function copyRows({ facts, bandwidth }: GpuFindings, evidence: Evidence): MachineRow[] {
  if (bandwidth === undefined) return [];
  const group = `GPU ${facts.ordinal}`;
  const bus = [
    linkCause(evidence),
    sharingCause(evidence),
    nodeCause(evidence),
    throttleCause(evidence),
  ];
  const memory = [sharingCause(evidence), throttleCause(evidence), powerCause(evidence)];
  const cases = bandwidth.cases.map((found) => {
    const isLocal = found.name.startsWith("device_local");
    const row = measured({
      id: `gpu${facts.ordinal}.${found.name}`,
      group,
      name: `${CASE_WORDS[found.name] ?? found.name}, ${formatBytes(found.byteLength)}`,
      check: `nvbandwidth -t ${found.name}`,
    }, {
      spread: caseSpread(found),
      expectation: isLocal ? expectOfMemory(facts) : expectOfBus(facts, found.name),
      causes: isLocal ? memory : bus,
    });
    return found.verified ? row : wrong(row);
  });
  const latencies = bandwidth.latencies.map((found) =>
    measured({
      id: `gpu${facts.ordinal}.${found.name}`,
      group,
      name: "an access to host memory",
      unit: "µs",
      check: `nvbandwidth -t ${found.name}`,
    }, {
      spread: {
        middle: 1e6 * found.secondsPerAccess,
        least: 1e6 * found.minSecondsPerAccess,
        most: 1e6 * found.maxSecondsPerAccess,
      },
      expectation: { value: 1.5, from: "a rule of thumb for PCIe", isThumb: true },
      better: "less",
      causes: [...bus, virtualCause(evidence)],
    })
  );
  return [...cases, ...latencies];
}

function wrong(row: MachineRow): MachineRow {
  return { ...row, verdict: "bad", words: "WRONG BYTES: the copy changed them" };
}

/** Size from which ordinary arrays should come near the speed of the bus. */
const LARGE_BYTES = 64 * 2 ** 20;
/** Share of the bus that threads reach with an ordinary array, which passes through memory once more. */
const ARRAY_SHARE = 0.6;

function arrayRows({ facts, bandwidth }: GpuFindings, evidence: Evidence): MachineRow[] {
  const points = bandwidth?.points.filter(({ kind }) => kind === "pageable") ?? [];
  return points.map((point: BandwidthPoint) => {
    const isUp = point.direction === "host-to-device";
    const name = isUp ? "host_to_device_memcpy_ce" : "device_to_host_memcpy_ce";
    const row = measured({
      id: `gpu${facts.ordinal}.array_${isUp ? "up" : "down"}_${point.byteLength}`,
      group: `GPU ${facts.ordinal}`,
      name: `an ordinary array ${isUp ? "up" : "down"}, ${formatBytes(point.byteLength)}`,
      check: "deno run -A src/cli.ts bandwidth",
    }, {
      spread: {
        middle: point.gigabytesPerSecond,
        least: point.minGigabytesPerSecond,
        most: point.maxGigabytesPerSecond,
      },
      expectation: point.byteLength < LARGE_BYTES
        ? undefined
        : expectOfBus(facts, name, ARRAY_SHARE),
      causes: [
        coreCause(evidence),
        linkCause(evidence),
        sharingCause(evidence),
        nodeCause(evidence),
        governorCause(evidence),
        virtualCause(evidence),
      ],
    });
    return point.verified ? row : wrong(row);
  });
}

function callRows({ facts, calls }: GpuFindings, evidence: Evidence): MachineRow[] {
  if (calls === undefined) return [];
  const row = (id: string, name: string, spread: Spread, value: number) =>
    measured({
      id: `gpu${facts.ordinal}.${id}`,
      group: `GPU ${facts.ordinal}`,
      name,
      unit: "µs",
      check: "nsys profile, or a second run on an idle machine",
    }, {
      spread,
      expectation: { value, from: "a rule of thumb", isThumb: true },
      better: "less",
      causes: [
        sharingCause(evidence),
        coreCause(evidence),
        governorCause(evidence),
        virtualCause(evidence),
      ],
    });
  return [
    row("launch", "to queue a kernel", calls.launch, 5),
    row("launch_and_wait", "to queue a kernel and wait", calls.launchAndWait, 25),
    row("step", "GPU time from kernel to kernel", calls.step, 4),
  ];
}

function fileRows({ facts, file }: GpuFindings, evidence: Evidence): MachineRow[] {
  if (file === undefined) return [];
  const group = "Files";
  const bus = expectOfBus(facts, "host_to_device_memcpy_ce");
  const size = formatBytes(file.byteLength);
  const place = file.system === undefined ? "" : ` (${file.system})`;
  const isMemory = file.system === "tmpfs" || file.system === "ramfs";
  return [
    measured({
      id: `gpu${facts.ordinal}.file_cached`,
      group,
      name: `a file to GPU ${facts.ordinal} from the page cache, ${size}${place}`,
      check: "dd if=FILE of=/dev/null bs=4M",
    }, {
      spread: file.cached,
      expectation: bus && {
        value: 0.25 * bus.value,
        from: `a rule of thumb: a quarter of ${formatSpeed(bus.value)}, the bus's`,
        isThumb: true,
      },
      causes: [
        coreCause(evidence),
        linkCause(evidence),
        sharingCause(evidence),
        virtualCause(evidence),
      ],
    }),
    ...file.disk === undefined || isMemory ? [] : [measured({
      id: `gpu${facts.ordinal}.file_disk`,
      group,
      name: `a file to GPU ${facts.ordinal} from the disk, ${size}${place}`,
      check: "dd if=FILE of=/dev/null bs=4M iflag=direct",
    }, {
      spread: file.disk,
      expectation: undefined,
      causes: [],
      remark: file.disk.middle > 0.8 * file.cached.middle
        ? "as fast as the page cache: a cache below the system may have answered"
        : "an NVMe disk reads 3 to 7 GB/s, a disk over a network 0.1 to 2",
    })],
  ];
}

function linkRows({ links, gpus, host, load }: Findings): MachineRow[] {
  if (links === undefined) return [];
  return links.cases.map((found) => {
    const fields = found.matrix.flatMap((line, i) =>
      line.flatMap((speed, j) => speed === null ? [] : [{ speed, i, j }])
    );
    const base = {
      id: `links.${found.name}`,
      group: "Links",
      name: `${CASE_WORDS[found.name] ?? found.name}, ${formatBytes(found.byteLength)}`,
      unit: "GB/s",
      check: `nvbandwidth -t ${found.name}`,
    };
    const slowest = fields.toSorted((a, b) => a.speed - b.speed)[0];
    if (slowest === undefined) {
      return fact({
        ...base,
        words: "no GPU can reach another's memory; see nvidia-smi topo -p2p r",
      });
    }
    const { gigabytesPerSecond, minGigabytesPerSecond, maxGigabytesPerSecond } = found;
    const [middle, least, most] = [
      gigabytesPerSecond,
      minGigabytesPerSecond,
      maxGigabytesPerSecond,
    ].map((sum) => sum / fields.length) as [number, number, number];
    const at = found.matrix.length > 1 ? slowest.i : slowest.j;
    const gpu = gpus[at]?.facts;
    const fastest = Math.max(...fields.map(({ speed }) => speed));
    const isUneven = slowest.speed < 0.8 * fastest;
    const uneven = isUneven
      ? `${nameField(found, slowest, links)} is the slowest with ${
        formatSpeed(slowest.speed)
      }, the ` +
        `fastest has ${formatSpeed(fastest)}`
      : undefined;
    const evidence = gpu &&
      { host, gpu, load: load.filter((sample) => sample.gpu === gpu.ordinal) };
    const row = measured(base, {
      spread: { middle, least, most },
      expectation: gpu && expectOfLink(found, gpu),
      causes: evidence === undefined ? [uneven] : [
        uneven,
        linkCause(evidence),
        sharingCause(evidence),
        found.name.includes("host")
          ? "the GPUs share a switch of the bus, or the host's memory"
          : undefined,
      ],
    });
    const judged = isUneven ? { ...row, verdict: "bad" as const, words: `uneven: ${uneven}` } : row;
    return found.verified ? judged : wrong(judged);
  });
}

function nameField(
  { matrix }: LinkSpeed,
  { i, j }: { readonly i: number; readonly j: number },
  { devices }: LinkBandwidthResult,
): string {
  const name = (place: number) => `GPU ${devices[place]?.ordinal ?? place}`;
  return matrix.length > 1 ? `${name(i)} with ${name(j)}` : name(j);
}

function expectOfLink({ name }: LinkSpeed, gpu: GpuFacts): Expectation | undefined {
  if (name.includes("host")) return expectOfBus(gpu, name);
  const one = expectOfNvlink(gpu) ?? expectOfBus(gpu, "host_to_device_memcpy_ce");
  if (one === undefined || !name.includes("bidirectional")) return one;
  return { ...one, value: 2 * one.value, from: `both ways: twice ${one.from}` };
}

function hostRows({ host, oneCore, allCores, gpus }: Findings): MachineRow[] {
  const group = "Host";
  const row = (name: string, draft: Omit<Draft, "id" | "group">): MachineRow =>
    fact({ id: `host.${name}`, group, ...draft });
  const cores = coreCause({ host });
  const governor = governorCause({ host });
  const gibibytes = (bytes: number | null) => bytes === null ? null : bytes / 2 ** 30;
  const bus = gpus.flatMap(({ facts }) => expectOfBus(facts, "host_to_device_memcpy_ce") ?? [])[0];
  const speed = (
    id: string,
    name: string,
    found: HostSpeed | undefined,
    expectation?: Expectation,
  ) =>
    found === undefined
      ? []
      : [measured({ id: `host.${id}`, group, name, check: "mbw 256, or STREAM" }, {
        spread: found,
        expectation,
        causes: [
          id === "copy_all" ? cores : undefined,
          governor,
          virtualCause({ host } as Evidence),
        ],
      })];
  return [
    row("cores", {
      name: "cores that the program may use",
      value: host.coreQuota ?? host.allowedCoreCount,
      expected: host.coreCount ?? undefined,
      expectedFrom: "the machine's",
      better: "more",
      check: "taskset -p $$; cat /sys/fs/cgroup/cpu.max",
      verdict: cores === undefined ? "good" : "look",
      words: cores === undefined ? "" : `${cores}; ordinary arrays need about ${WANTED_CORES}`,
    }),
    row("processor", { name: "processor", value: host.processor, check: "lscpu" }),
    row("system", { name: "system", value: host.system, check: "uname -a" }),
    row("virtual", {
      name: "virtual machine",
      value: host.isVirtual === null ? null : host.isVirtual ? "yes" : "no",
      check: "systemd-detect-virt",
    }),
    row("container", {
      name: "container",
      value: host.container ?? "none",
      check: "cat /proc/1/cgroup",
    }),
    row("numa_nodes", {
      name: "NUMA nodes",
      value: host.numaNodeCount,
      check: "numactl --hardware",
    }),
    row("governor", {
      name: "clock governor",
      value: host.governor ?? "not shown",
      check: "cpupower frequency-info",
      verdict: host.governor === null ? "unrated" : governor === undefined ? "good" : "look",
      words: governor ?? "",
    }),
    row("memory", {
      name: "memory that programs can get",
      value: gibibytes(host.availableBytes),
      unit: "GiB",
      expected: gibibytes(host.totalBytes) ?? undefined,
      expectedFrom: "the machine's",
      check: "free -h",
    }),
    row("memory_limit", {
      name: "container's limit on memory",
      value: gibibytes(host.limitBytes) ?? "none",
      unit: host.limitBytes === null ? "" : "GiB",
      check: "cat /sys/fs/cgroup/memory.max",
    }),
    row("locked_limit", {
      name: "limit on locked memory",
      value: host.lockedLimitBytes === null ? "none" : formatBytes(host.lockedLimitBytes),
      check: "ulimit -l",
      words: "page-locked memory of the driver does not count",
    }),
    row("huge_pages", {
      name: "huge pages",
      value: host.transparentHugePages ?? "not shown",
      check: "cat /sys/kernel/mm/transparent_hugepage/enabled",
      verdict: host.transparentHugePages === "never" ? "look" : "unrated",
      words: host.transparentHugePages === "never"
        ? "new arrays take several times as long to touch"
        : `${host.reservedHugePageCount ?? 0} reserved`,
    }),
    row("shared_memory", {
      name: "/dev/shm",
      value: gibibytes(host.sharedMemoryBytes),
      unit: "GiB",
      check: "df -h /dev/shm",
      verdict: (host.sharedMemoryBytes ?? Infinity) < 2 ** 30 ? "look" : "unrated",
      words: (host.sharedMemoryBytes ?? Infinity) < 2 ** 30
        ? "programs of several processes need more: docker run --shm-size, or --ipc=host"
        : "",
    }),
    ...speed("copy_one", "a copy in memory, one core", oneCore, {
      value: 8,
      from: "a rule of thumb for servers",
      isThumb: true,
    }),
    ...speed(
      "copy_all",
      `a copy in memory, ${formatCount(allCores?.threadCount ?? 0, "core")} at once`,
      allCores,
      bus &&
        {
          value: bus.value,
          from: "the speed of one GPU's bus, which arrays pass in memory as well",
        },
    ),
  ];
}

function failureRows({ failures }: Findings): MachineRow[] {
  return failures.map(({ step, reason }) =>
    fact({
      id: `failed.${step}`,
      group: "Failed",
      name: step,
      verdict: "bad",
      words: reason,
      check: "deno run -A src/cli.ts doctor",
    })
  );
}
