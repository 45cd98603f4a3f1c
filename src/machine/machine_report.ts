// The report of a machine as plain data: the schema of its JSON, version 1.

import type { BandwidthData } from "../measure/bandwidth_result.ts";
import type { LinkBandwidthData } from "../measure/link_bandwidth_result.ts";

/** The name and version of the form; later versions keep the fields of this one. */
export const MACHINE_FORMAT = "vramkit-machine/1";

/** The judgement of a row: as expected, worth a look, wrong, or without anything to hold it against. */
export type Verdict = "good" | "look" | "bad" | "unrated";

/** One thing that was read or measured. */
export interface MachineRow {
  /** Name that is the same on every machine, such as `"gpu0.host_to_device_memcpy_ce"`. */
  readonly id: string;
  /** The part of the page, such as `"GPU 0"` or `"Host"`. */
  readonly group: string;
  /** The row in words. */
  readonly name: string;
  /** A number in `unit`, or words; null where it could not be had. */
  readonly value: number | string | null;
  /** Unit of the numbers; empty for words and counts. */
  readonly unit: string;
  /** The least of the samples of a measured value. */
  readonly least?: number | undefined;
  /** The most of the samples of a measured value. */
  readonly most?: number | undefined;
  /** Direction in which a measured value gets better; left out for facts. */
  readonly better?: "more" | "less" | undefined;
  /** The value that this GPU, bus or host should reach. */
  readonly expected?: number | string | undefined;
  /** The origin of the expectation. */
  readonly expectedFrom?: string | undefined;
  /** The judgement. */
  readonly verdict: Verdict;
  /** The likely cause where the verdict is not good, and remarks. */
  readonly words: string;
  /** Command that checks it. */
  readonly check: string;
  /** The simulated driver made up the value, which is never a result. */
  readonly isModelled?: boolean | undefined;
}

/** The clocks and the power of a GPU at one moment while copies ran; null where NVML does not say. */
export interface LoadSample {
  /** The device's number. */
  readonly gpu: number;
  /** Seconds since the measurement began. */
  readonly atSeconds: number;
  /** The multiprocessors' clock. */
  readonly smClockMegahertz: number | null;
  /** The memory's clock. */
  readonly memoryClockMegahertz: number | null;
  /** The power that the board draws. */
  readonly powerWatts: number | null;
  /** The temperature of the GPU's die. */
  readonly temperatureCelsius: number | null;
  /** The bus at this moment, such as `"PCIe 5.0 x16"`. */
  readonly link: string | null;
  /** Reasons why the clocks are lower than they could be. */
  readonly throttleReasons: readonly string[];
}

/** The report of a machine, which its JSON has under `"machine"`. */
export interface MachineReport {
  /** The name and version of the form. */
  readonly format: "vramkit-machine/1";
  /** Date and time in ISO 8601. */
  readonly date: string;
  /** The kit's version. */
  readonly vramkit: string;
  /** Deno's version. */
  readonly deno: string;
  /** Seconds that it took. */
  readonly seconds: number;
  /** The GPUs were simulated: no number of theirs is a result. */
  readonly isModelled: boolean;
  /** The reason for an early end; null for a whole report. */
  readonly unfinished: string | null;
  /** Versions of CUDA and of the driver; null without a GPU. */
  readonly driver: { readonly cuda: string; readonly version: string | null } | null;
  /** The reason for which there is no GPU; null where there is one. */
  readonly whyNoGpu: string | null;
  /** The GPUs: their numbers, names and places on the bus. */
  readonly gpus: readonly {
    readonly ordinal: number;
    readonly name: string;
    readonly pciBusId: string;
  }[];
  /** All rows. */
  readonly rows: readonly MachineRow[];
  /** The moments under load. */
  readonly load: readonly LoadSample[];
  /** For each GPU, arrays by size and nvbandwidth's cases. */
  readonly bandwidth: readonly BandwidthData[];
  /** The links of several GPUs. */
  readonly links: LinkBandwidthData | null;
}
