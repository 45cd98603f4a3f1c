// The rows of a report: each value beside its expectation, with a verdict, the likely cause and the command
// that checks it.

import type { BandwidthResult, CaseSpeed } from "../measure/bandwidth_result.ts";
import type { LinkBandwidthResult, LinkSpeed } from "../measure/link_bandwidth_result.ts";
import type { Spread } from "../measure/samples.ts";
import { formatBytes, formatCount, formatSpeed } from "../words/format.ts";
import type { CallTimes } from "./call_speed.ts";
import type { FileSpeed } from "./file_speed.ts";
import type { GpuFacts } from "./gpu_facts.ts";
import type { HostFacts } from "./host_facts.ts";
import type { HostSpeed } from "./host_speed.ts";
import type { LoadSample, MachineRow } from "./machine_report.ts";
import * as verdicts from "./verdicts.ts";
import { type Evidence, type Expectation, linkCause, sharingCause } from "./verdicts.ts";

/** All that was found about one GPU. */
export interface GpuFindings {
  facts: GpuFacts;
  bandwidth?: BandwidthResult;
  calls?: CallTimes;
  file?: FileSpeed;
}

export interface Findings {
  readonly isModelled: boolean;
  readonly host: HostFacts;
  readonly gpus: readonly GpuFindings[];
  readonly load: LoadSample[];
  /** The steps that failed, and the reasons. */
  readonly failures: { readonly step: string; readonly reason: string }[];
  links?: LinkBandwidthResult;
  oneCore?: HostSpeed;
  allCores?: HostSpeed;
}

/** The value of a fact, and all parts of its row that are not the usual ones. */
type Fact = Pick<MachineRow, "value"> & Partial<MachineRow>;

/** The name of each fact in words, and the command that checks it. */
const FACTS: Readonly<Record<string, readonly [name: string, check: string]>> = {
  link: [
    "bus under load",
    "nvidia-smi --query-gpu=pcie.link.gen.current,pcie.link.width.current --format=csv",
  ],
  numa: ["NUMA node", "nvidia-smi topo -m"],
  power_limit: ["power limit", "nvidia-smi -q -d POWER"],
  power: ["power, the most under copies", "nvidia-smi -q -d POWER"],
  temperature: ["temperature, the most under copies", "nvidia-smi -q -d TEMPERATURE"],
  sm_clock: ["multiprocessors' clock, the most", "nvidia-smi -q -d CLOCK,PERFORMANCE"],
  memory_clock: ["memory's clock, the most", "nvidia-smi -q -d CLOCK,PERFORMANCE"],
  throttle: ["reasons for lower clocks", "nvidia-smi -q -d PERFORMANCE"],
  ecc: ["ECC", "nvidia-smi -q -d ECC"],
  mig: ["MIG", "nvidia-smi mig -lgi"],
  free_memory: ["free memory", "nvidia-smi -q -d MEMORY"],
  others: ["other programs", "nvidia-smi; nvidia-smi dmon -s t"],
  nvlinks: ["NVLinks that are up", "nvidia-smi nvlink -s"],
  cores: ["cores that the program may use", "taskset -p $$; cat /sys/fs/cgroup/cpu.max"],
  processor: ["processor", "lscpu"],
  system: ["system", "uname -a"],
  virtual: ["virtual machine", "systemd-detect-virt"],
  container: ["container", "cat /proc/1/cgroup"],
  numa_nodes: ["NUMA nodes", "numactl --hardware"],
  governor: ["clock governor", "cpupower frequency-info"],
  memory: ["memory that programs can get", "free -h"],
  memory_limit: ["container's limit on memory", "cat /sys/fs/cgroup/memory.max"],
  locked_limit: ["limit on locked memory", "ulimit -l"],
  huge_pages: ["huge pages", "cat /sys/kernel/mm/transparent_hugepage/enabled"],
  shared_memory: ["/dev/shm", "df -h /dev/shm"],
};

export function rowsOf(found: Findings): MachineRow[] {
  const ofGpus = found.gpus.flatMap((gpu) => {
    const { ordinal } = gpu.facts;
    const load = found.load.filter((sample) => sample.gpu === ordinal);
    const evidence: Evidence = { host: found.host, gpu: gpu.facts, load };
    return [
      ...factRows(`GPU ${ordinal}`, gpuFacts(evidence)),
      ...measuredRows(gpu, evidence),
    ];
  });
  const rows = [...ofGpus, ...linkRows(found)];
  const failed = found.failures.map(({ step, reason }): MachineRow => {
    const parts = { id: `failed.${step}`, group: "Failed", name: step, value: null, unit: "" };
    return { ...parts, verdict: "bad", words: reason, check: "deno run -A src/cli.ts doctor" };
  });
  return [
    ...found.isModelled ? rows.map(asModelled) : rows,
    ...factRows("Host", hostFacts(found.host)),
    ...hostSpeeds(found),
    ...failed,
  ];
}

/** Nothing that the simulated driver says is a result. */
function asModelled({ expected: _, expectedFrom: __, ...row }: MachineRow): MachineRow {
  return { ...row, verdict: "unrated", words: "no hardware was measured", isModelled: true };
}

function factRows(group: string, facts: Readonly<Record<string, Fact>>): MachineRow[] {
  const place = group.toLowerCase().replace(" ", "");
  return Object.entries(facts).map(([key, fact]) => {
    const [name = key, check = ""] = FACTS[key] ?? [];
    const parts = { id: `${place}.${key}`, group, name, check, unit: "", words: "" };
    return { ...parts, verdict: "unrated", ...fact };
  });
}

/** A value that is good, or worth a look for a reason. */
function unless(reason: string | undefined, isKnown = true): Partial<MachineRow> {
  if (reason !== undefined) return { verdict: "look", words: reason };
  return { verdict: isKnown ? "good" : "unrated" };
}

function gpuFacts(evidence: Evidence): Record<string, Fact> {
  const { gpu, load, host } = evidence;
  const most = (of: (sample: LoadSample) => number | null) => {
    const values = load.map(of).filter((value) => value !== null);
    return values.length === 0 ? null : Math.max(...values);
  };
  const cause = verdicts.throttleCause(evidence) ?? verdicts.powerCause(evidence);
  const clock = (value: number | null, best: number | null): Fact => {
    const isLow = value !== null && value < 0.9 * (best ?? 0);
    const words = isLow ? cause ?? "it did not rise under copies" : undefined;
    return { value, unit: "MHz", expected: best ?? undefined, ...unless(words, value !== null) };
  };
  const throttled = verdicts.throttles(evidence);
  const isHard = throttled.some((reason) => reason.includes("hardware"));
  const sharing = sharingCause(evidence);
  const onOff = (is: boolean | null) => is === null ? null : is ? "on" : "off";
  const part = gpu.isMigEnabled === true ? "the speeds are those of a part of the GPU" : "";
  const errors = `${formatCount(gpu.errorCount ?? 0, "error")} that could not be corrected`;
  return {
    link: linkFact(evidence),
    numa: {
      value: gpu.numaNode ?? (host.numaNodeCount === 1 ? "the only one" : null),
      ...unless(verdicts.nodeCause(evidence)),
    },
    power_limit: {
      value: gpu.powerLimit,
      unit: "W",
      expected: gpu.defaultPowerLimit ?? undefined,
      ...unless(verdicts.powerCause(evidence), gpu.powerLimit !== null),
    },
    power: { value: most((each) => each.powerWatts), unit: "W" },
    temperature: { value: most((each) => each.temperatureCelsius), unit: "°C" },
    sm_clock: clock(most((each) => each.smClockMegahertz), gpu.smClockMax),
    memory_clock: clock(most((each) => each.memoryClockMegahertz), gpu.memoryClockMax),
    throttle: {
      value: load.length === 0 ? null : throttled.join(", ") || "none",
      ...unless(throttled.length === 0 ? undefined : "the board protects itself", load.length > 0),
      ...isHard ? { verdict: "bad", words: "look at cooling and power supply" } : {},
    },
    ecc: {
      value: onOff(gpu.isEccEnabled),
      verdict: (gpu.errorCount ?? 0) > 0 ? "bad" : "unrated",
      words: gpu.errorCount === null ? "" : errors,
    },
    mig: { value: onOff(gpu.isMigEnabled), words: part },
    free_memory: {
      value: gpu.freeBytes / 2 ** 30,
      unit: "GiB",
      expected: gpu.totalBytes / 2 ** 30,
      words: gpu.isIntegrated ? "the system's: its page cache counts as free, swap does not" : "",
    },
    others: {
      value: verdicts.nameOthers(gpu.otherPrograms) ||
        (sharing === undefined ? "none" : "not shown"),
      ...unless(sharing),
    },
    ...gpu.nvlinkCount === 0 ? {} : { nvlinks: { value: gpu.nvlinkCount } },
  };
}

function linkFact(evidence: Evidence): Fact {
  const { isIntegrated, bus, generation, ownGeneration, replayCount } = evidence.gpu;
  if (isIntegrated) return { value: "none, it is integrated" };
  const value = verdicts.busiestLink(evidence);
  const short = linkCause(evidence);
  const isOlder = generation > 0 && ownGeneration > generation;
  const words = [
    ...short === undefined ? [] : [short],
    ...isOlder ? [`the GPU could have generation ${ownGeneration} with another host`] : [],
    ...replayCount < 100 ? [] : [`${replayCount} packets were sent again: a bad contact`],
  ];
  return {
    value,
    expected: bus?.name,
    expectedFrom: "the best of GPU and host together",
    ...unless(words.length === 0 ? undefined : words.join("; "), value !== null && bus !== null),
    ...short === undefined ? {} : { verdict: "bad" },
  };
}

function hostFacts(host: HostFacts): Record<string, Fact> {
  const cores = verdicts.coreCause(host);
  const isSmall = (host.sharedMemoryBytes ?? Infinity) < 2 ** 30;
  const gibibytes = (bytes: number | null) => bytes === null ? null : bytes / 2 ** 30;
  return {
    cores: {
      value: Math.min(host.allowedCoreCount, host.coreQuota ?? Infinity),
      expected: host.coreCount ?? undefined,
      ...unless(cores && `${cores}; ordinary arrays need ${verdicts.WANTED_CORES}`),
    },
    processor: { value: host.processor },
    system: { value: host.system },
    virtual: { value: host.isVirtual === null ? null : host.isVirtual ? "yes" : "no" },
    container: { value: host.container ?? "none" },
    numa_nodes: { value: host.numaNodeCount },
    governor: { value: host.governor ?? "not shown" },
    memory: {
      value: gibibytes(host.availableBytes),
      unit: "GiB",
      expected: gibibytes(host.totalBytes) ?? undefined,
    },
    memory_limit: { value: host.limitBytes === null ? "none" : formatBytes(host.limitBytes) },
    locked_limit: {
      value: host.lockedLimitBytes === null ? "none" : formatBytes(host.lockedLimitBytes),
      words: "the driver's page-locked memory does not count",
    },
    huge_pages: {
      value: host.hugePages,
      words: `${host.reservedHugePages ?? 0} reserved`,
      ...host.hugePages === "never" ? unless("new arrays take several times as long to touch") : {},
    },
    shared_memory: {
      value: gibibytes(host.sharedMemoryBytes),
      unit: "GiB",
      ...unless(
        isSmall ? "several processes need more: docker run --shm-size, --ipc=host" : undefined,
      ),
    },
  };
}

/** A measured row, whose value is the middle of its spread. */
interface Measured
  extends Pick<MachineRow, "id" | "group" | "name" | "check">, Partial<Pick<MachineRow, "better">> {
  readonly spread: Spread;
  readonly expectation?: Expectation | undefined;
  readonly causes?: readonly (string | undefined)[];
  /** The cause to name where no other is in sight. */
  readonly fallback?: string | undefined;
  readonly unit?: string;
  readonly remark?: string;
  /** All bytes were right afterwards, as they are by default. */
  readonly verified?: boolean;
}

/** Judges a measured value; its causes are for one that falls short. */
function measured(
  { spread, expectation, causes = [], fallback, remark = "", verified = true, ...parts }: Measured,
): MachineRow {
  const { middle: value, least, most } = spread;
  const row = { unit: "GB/s", better: "more", ...parts, value, least, most } as const;
  if (!verified) return { ...row, verdict: "bad", words: "WRONG BYTES: the copy changed them" };
  if (expectation === undefined) return { ...row, verdict: "unrated", words: remark };
  const verdict = verdicts.judge(value, expectation, row.better);
  const found = causes.filter((cause) => cause !== undefined).join("; ");
  const words = verdict === "good" ? remark : found || (fallback ?? "no cause is in sight");
  return { ...row, expected: expectation.value, expectedFrom: expectation.from, verdict, words };
}

function thumb(value: number, from = ""): Expectation {
  return { value, from: `a rule of thumb${from}`, isThumb: true };
}

function caseSpread(found: Omit<CaseSpeed, "name">): Spread {
  const { gigabytesPerSecond, minGigabytesPerSecond, maxGigabytesPerSecond } = found;
  return { middle: gigabytesPerSecond, least: minGigabytesPerSecond, most: maxGigabytesPerSecond };
}

/** Size from which ordinary arrays should come near the speed of the bus, and how near. */
const MIN_FAST_BYTES = 64 * 2 ** 20;
const ARRAY_SHARE = 0.6;

function measuredRows(
  { facts, bandwidth, calls, file }: GpuFindings,
  evidence: Evidence,
): MachineRow[] {
  const sharing = sharingCause(evidence);
  const bus = [linkCause(evidence), sharing, verdicts.nodeCause(evidence)];
  const clocks = [verdicts.throttleCause(evidence), verdicts.powerCause(evidence)];
  const core = verdicts.coreCause(evidence.host);
  const copies = bandwidth?.cases.map((found) => {
    const isLocal = found.name.startsWith("device_local");
    return {
      id: found.name,
      name: wordsOf(found),
      check: `nvbandwidth -t ${found.name}`,
      spread: caseSpread(found),
      expectation: isLocal
        ? verdicts.expectOfMemory(facts)
        : verdicts.expectOfBus(facts, verdicts.BUS_SHARES[found.name]),
      causes: isLocal ? [sharing, ...clocks] : [...bus, ...clocks],
      fallback: undefined,
      verified: found.verified,
    };
  });
  const latencies = bandwidth?.latencies.map((found) => ({
    id: found.name,
    name: "an access to host memory",
    check: `nvbandwidth -t ${found.name}`,
    spread: {
      middle: 1e6 * found.secondsPerAccess,
      least: 1e6 * found.minSecondsPerAccess,
      most: 1e6 * found.maxSecondsPerAccess,
    },
    expectation: thumb(1.5),
    causes: bus,
    unit: "µs",
    better: "less" as const,
    verified: found.verified,
  }));
  const arrays = bandwidth?.points.filter(({ kind }) => kind === "pageable").map((point) => {
    const way = point.direction === "host-to-device" ? "up" : "down";
    const isLarge = point.byteLength >= MIN_FAST_BYTES;
    return {
      id: `array_${way}_${point.byteLength}`,
      name: `an ordinary array ${way}, ${formatBytes(point.byteLength)}`,
      check: "deno run -A src/cli.ts bandwidth",
      spread: caseSpread(point),
      expectation: isLarge ? verdicts.expectOfBus(facts, ARRAY_SHARE) : undefined,
      causes: [core, ...bus],
      verified: point.verified,
    };
  });
  const queued = calls && Object.entries(calls).map(([id, spread]) => ({
    id,
    name: id === "launch" ? "to queue a kernel" : "to queue a kernel and wait",
    check: "a second run on an idle machine; nsys profile",
    spread,
    expectation: thumb(id === "launch" ? 10 : 25),
    causes: [sharing, core],
    unit: "µs",
    better: "less" as const,
  }));
  const roof = verdicts.expectOfBus(facts, 0.25 * 0.87);
  const about = `a file of ${formatBytes(file?.byteLength ?? 0)} on ${file?.system ?? "the disk"}`;
  const cached = file && [{
    id: "file_cached",
    name: `${about}, from the page cache`,
    check: "dd if=FILE of=/dev/null bs=4M",
    spread: file.cached,
    expectation: roof && thumb(roof.value, ": a quarter of the bus"),
    causes: [core, ...bus],
  }];
  const disk = file && [{
    id: "file_disk",
    name: `${about}, from the disk`,
    check: "dd if=FILE of=/dev/null bs=4M iflag=direct",
    spread: file.disk,
    remark: file.disk.middle > 0.8 * file.cached.middle
      ? "as fast as the page cache: a cache below the system answers, or the folder is in memory"
      : "an NVMe disk reads 3 to 7 GB/s, a disk over a network 0.1 to 2",
  }];
  const all = [copies, latencies, arrays, queued, cached, disk];
  const group = `GPU ${facts.ordinal}`;
  const fallback = verdicts.hostCause(evidence.host);
  return all.flatMap((parts): Omit<Measured, "group">[] => parts ?? [])
    .map((parts) => measured({ fallback, ...parts, id: `gpu${facts.ordinal}.${parts.id}`, group }));
}

function linkRows({ links, gpus, host, load }: Findings): MachineRow[] {
  return links?.cases.map((found) => {
    const { name, matrix, verified } = found;
    const check = `nvbandwidth -t ${name}`;
    const parts = { id: `links.${name}`, group: "Links", name: wordsOf(found), check };
    const fields = matrix.flatMap((line, row) =>
      line.flatMap((speed, column) => speed === null ? [] : [{ speed, row, column }])
    ).toSorted((a, b) => a.speed - b.speed);
    const [slowest] = fields;
    const isOfPairs = matrix.length > 1;
    const gpu = slowest && gpus[isOfPairs ? slowest.row : slowest.column]?.facts;
    if (slowest === undefined || gpu === undefined) {
      const words = "no GPU reaches another's memory: see nvidia-smi topo -p2p r";
      return { ...parts, value: null, unit: "", verdict: "unrated", words };
    }
    const evidence = { host, gpu, load: load.filter((each) => each.gpu === gpu.ordinal) };
    const { middle, least, most } = caseSpread(found);
    const { length } = fields;
    const switched = name.includes("host") ? "the GPUs share a switch of the bus" : undefined;
    const row = measured({
      ...parts,
      spread: { middle: middle / length, least: least / length, most: most / length },
      expectation: expectOfLink(found, gpu),
      causes: [linkCause(evidence), sharingCause(evidence), switched],
      verified,
    });
    const fastest = fields.at(-1)?.speed ?? 0;
    if (slowest.speed >= 0.8 * fastest || !verified) return row;
    const [one, other] = [slowest.row, slowest.column].map((at) =>
      `GPU ${gpus[at]?.facts.ordinal}`
    );
    const place = isOfPairs ? `${one} with ${other}` : other;
    const speeds = `${formatSpeed(slowest.speed)}, another ${formatSpeed(fastest)}`;
    return { ...row, verdict: "bad", words: `uneven: ${place} has ${speeds}` };
  }) ?? [];
}

function expectOfLink({ name }: LinkSpeed, gpu: GpuFacts): Expectation | undefined {
  if (name.includes("host")) return verdicts.expectOfBus(gpu, verdicts.BUS_SHARES[name]);
  const one = verdicts.expectOfNvlink(gpu) ?? verdicts.expectOfBus(gpu, 0.8);
  if (one === undefined || !name.includes("bidirectional")) return one;
  return { ...one, value: 2 * one.value, from: `twice ${one.from}` };
}

function hostSpeeds({ host, oneCore, allCores, gpus }: Findings): MachineRow[] {
  const bus = gpus.flatMap(({ facts }) => verdicts.expectOfBus(facts, 0.87) ?? [])[0];
  const shared = bus && { ...bus, from: "a GPU's bus, which arrays pass here, too" };
  const causes = [verdicts.coreCause(host)];
  const found = [
    oneCore && { id: "host.copy_one", spread: oneCore, expectation: thumb(8) },
    allCores && { id: "host.copy_all", spread: allCores, expectation: shared, causes },
  ];
  return found.filter((parts) => parts !== undefined).map((parts) =>
    measured({
      ...parts,
      group: "Host",
      name: `a copy in memory, ${formatCount(parts.spread.threadCount, "core")}`,
      check: "mbw 256",
      fallback: verdicts.hostCause(host),
    })
  );
}

/** Names a case in words, with its size. */
function wordsOf({ name, byteLength }: Pick<CaseSpeed | LinkSpeed, "name" | "byteLength">): string {
  const words = name.replace("_memcpy", "").replace("_ce", "").replace("_sm", " by a kernel");
  return `${words.replaceAll("_", " ")}, ${formatBytes(byteLength)}`;
}
