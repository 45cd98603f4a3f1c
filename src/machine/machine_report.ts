// The report of a machine as plain data: the schema of its JSON, version 1.

import type { BandwidthData } from "../measure/bandwidth_result.ts";
import type { LinkBandwidthData } from "../measure/link_bandwidth_result.ts";

/** The name and version of the form; a reader of version 1 finds every field of it in later ones. */
export const MACHINE_FORMAT = "vramkit-machine/1";

/** The judgement of a row: as expected, worth a look, wrong, or without anything to hold it against. */
export type Verdict = "good" | "look" | "bad" | "unrated";

/** One thing that was read or measured. */
export interface MachineRow {
  /** Name that is the same on every machine, such as `"gpu0.host_to_device_memcpy_ce"`. */
  readonly id: string;
  /** The part of the page: `"GPU 0"`, `"Links"`, `"Host"` or `"Files"`. */
  readonly group: string;
  /** The row in words. */
  readonly name: string;
  /** A number in `unit`, or words; null where it could not be had. */
  readonly value: number | string | null;
  /** Unit of the numbers; empty for words and counts. */
  readonly unit: string;
  /** The least of the samples. */
  readonly least?: number | undefined;
  /** The most of the samples. */
  readonly most?: number | undefined;
  /** Direction in which numbers get better; left out for facts. */
  readonly better?: "more" | "less" | undefined;
  /** The value that this GPU, bus or host should reach. */
  readonly expected?: number | string | undefined;
  /** The origin of the expectation. */
  readonly expectedFrom?: string | undefined;
  readonly verdict: Verdict;
  /** The verdict in words, with the likely cause where it is not good. */
  readonly words: string;
  /** Command that checks it. */
  readonly check: string;
  /** Whether the simulated driver made up the value; it is never a result. */
  readonly isModelled?: boolean | undefined;
}

/** The clocks and the power of a GPU at one moment while copies ran. */
export interface LoadSample {
  readonly gpu: number;
  /** Seconds since the measurement began. */
  readonly atSeconds: number;
  readonly smClockMegahertz: number | null;
  readonly memoryClockMegahertz: number | null;
  readonly powerWatts: number | null;
  readonly temperatureCelsius: number | null;
  /** The bus at this moment, such as `"PCIe 5.0 x16"`. */
  readonly link: string | null;
  /** Reasons why the clocks are lower than they could be. */
  readonly throttleReasons: readonly string[];
}

/** A program that uses a GPU beside this one. */
export interface OtherProgram {
  readonly pid: number;
  readonly name: string | null;
  readonly memoryBytes: number | null;
}

/** The facts about one GPU, read before anything is measured. */
export interface GpuFacts {
  readonly ordinal: number;
  readonly name: string;
  readonly pciBusId: string;
  readonly computeCapability: string;
  readonly multiprocessorCount: number;
  readonly totalBytes: number;
  readonly freeBytes: number;
  readonly isIntegrated: boolean;
  /** Bits that the memory's bus moves at a time. */
  readonly memoryBusBits: number;
  readonly memoryClockMaxMegahertz: number | null;
  readonly smClockMaxMegahertz: number | null;
  /** The best link with this host, and the generation that the GPU could have with another. */
  readonly linkMax: { readonly generation: number; readonly laneCount: number } | null;
  readonly ownGeneration: number | null;
  /** The slot's own words, such as `"32.0 GT/s PCIe x16"`; null where the system hides it. */
  readonly slot: string | null;
  readonly pcieReplayCount: number | null;
  readonly numaNode: number | null;
  /** Processors of that node. */
  readonly numaCores: string | null;
  readonly powerLimitWatts: number | null;
  readonly defaultPowerLimitWatts: number | null;
  readonly isEccEnabled: boolean | null;
  readonly uncorrectedErrorCount: number | null;
  readonly isMigEnabled: boolean | null;
  readonly nvlinkCount: number | null;
  readonly nvlinkGeneration: number | null;
  /** Percent of the time before, and GB/s over the bus, when this program moved nothing. */
  readonly restUtilizationPercent: number | null;
  readonly restTrafficGigabytesPerSecond: number | null;
  readonly otherPrograms: readonly OtherProgram[];
  /** Why NVML has no values. */
  readonly nvmlAbsence: string | null;
}

/** The facts about the host; null where the system does not say. */
export interface HostFacts {
  readonly system: string;
  readonly processor: string | null;
  readonly isVirtual: boolean | null;
  readonly container: string | null;
  readonly coreCount: number | null;
  /** Processors that the program may use, as the system writes them: `"0-15"`. */
  readonly allowedCores: string | null;
  readonly allowedCoreCount: number;
  /** Processors' worth of time that the container may use; null without a limit. */
  readonly coreQuota: number | null;
  readonly governor: string | null;
  readonly numaNodeCount: number | null;
  readonly totalBytes: number | null;
  readonly availableBytes: number | null;
  /** Bytes that the container may use; null without a limit. */
  readonly limitBytes: number | null;
  /** Bytes that the program may lock by itself; null without a limit. */
  readonly lockedLimitBytes: number | null;
  readonly transparentHugePages: string | null;
  readonly reservedHugePageCount: number | null;
  readonly sharedMemoryBytes: number | null;
}

/** The report of a machine, as `--json` and `machine.json` have it under `"machine"`. */
export interface MachineReport {
  readonly format: typeof MACHINE_FORMAT;
  /** Date and time in ISO 8601. */
  readonly date: string;
  readonly vramkit: string;
  readonly deno: string;
  /** Seconds that it took. */
  readonly seconds: number;
  /** Whether the GPUs were simulated: no number of theirs is a result. */
  readonly isModelled: boolean;
  /** Why it ended early; null for a whole report. */
  readonly unfinished: string | null;
  /** Versions of CUDA and of the driver; null without a GPU. */
  readonly driver: { readonly cuda: string; readonly version: string | null } | null;
  /** Why there is no GPU; null where there is one. */
  readonly whyNoGpu: string | null;
  readonly host: HostFacts;
  readonly gpus: readonly GpuFacts[];
  readonly rows: readonly MachineRow[];
  readonly load: readonly LoadSample[];
  /** For each GPU, arrays by size and nvbandwidth's cases. */
  readonly bandwidth: readonly BandwidthData[];
  /** The links of several GPUs. */
  readonly links: LinkBandwidthData | null;
}
