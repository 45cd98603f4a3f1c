// Facts and findings of a machine that is all right, for tests that change one of them.

import { BandwidthResult, type CaseSpeed } from "../../src/measure/bandwidth_result.ts";
import { pcieBus } from "../../src/measure/bus.ts";
import type { GpuFacts } from "../../src/machine/gpu_facts.ts";
import type { HostFacts } from "../../src/machine/host_facts.ts";
import type { LoadSample, MachineRow } from "../../src/machine/machine_report.ts";
import { type Findings, rowsOf } from "../../src/machine/rows.ts";

const HOST: HostFacts = {
  system: "linux 6.1 x86_64",
  processor: "a processor",
  isVirtual: false,
  container: null,
  coreCount: 16,
  allowedCores: "0-15",
  allowedCoreCount: 16,
  coreQuota: null,
  governor: "performance",
  numaNodeCount: 1,
  totalBytes: 2 ** 37,
  availableBytes: 2 ** 36,
  limitBytes: null,
  lockedLimitBytes: null,
  hugePages: "madvise",
  reservedHugePages: 0,
  sharedMemoryBytes: 2 ** 36,
};

const GPU: GpuFacts = {
  ordinal: 0,
  name: "NVIDIA H100 80GB HBM3",
  pciBusId: "0000:06:00.0",
  totalBytes: 80 * 2 ** 30,
  freeBytes: 79 * 2 ** 30,
  isIntegrated: false,
  memoryBusBits: 5120,
  memoryClockMax: 2619,
  smClockMax: 1980,
  bus: pcieBus(5, 16),
  generation: 5,
  ownGeneration: 5,
  replayCount: 0,
  numaNode: 0,
  numaCores: "0-15",
  powerLimit: 700,
  defaultPowerLimit: 700,
  isEccEnabled: true,
  errorCount: 0,
  isMigEnabled: false,
  nvlinkCount: 18,
  nvlinkGeneration: 4,
  restUtilization: 0,
  restTraffic: 0.001,
  otherPrograms: [],
};

const LOAD: LoadSample = {
  gpu: 0,
  atSeconds: 1,
  smClockMegahertz: 1980,
  memoryClockMegahertz: 2619,
  powerWatts: 300,
  temperatureCelsius: 50,
  link: "PCIe 5.0 x16",
  throttleReasons: [],
};

/** The parts of a machine that differ from one that is all right. */
export interface MachineChanges {
  readonly host?: Partial<HostFacts>;
  readonly gpu?: Partial<GpuFacts>;
  readonly load?: Partial<LoadSample>;
  /** GB/s of the case `host_to_device_memcpy_ce`. */
  readonly speed?: number;
  readonly verified?: boolean;
  readonly found?: Partial<Findings>;
}

/** Makes the rows of a machine. */
export function machineRows(changes: MachineChanges = {}): MachineRow[] {
  const { host, gpu, load, speed = 55, verified = true, found } = changes;
  const provenance = { device: "GPU", driver: "13.0", deno: "2", vramkit: "0", date: "2026-11-27" };
  const measured: CaseSpeed = {
    name: "host_to_device_memcpy_ce",
    byteLength: 2 ** 29,
    gigabytesPerSecond: speed,
    minGigabytesPerSecond: 0.99 * speed,
    maxGigabytesPerSecond: 1.01 * speed,
    sampleCount: 3,
    copiesPerSample: 16,
    verified,
  };
  const bandwidth = new BandwidthResult({
    provenance,
    busName: "PCIe 5.0 x16",
    theoreticalGigabytesPerSecond: 63,
    points: [],
    fits: [],
    cases: [measured],
  });
  return rowsOf({
    isModelled: false,
    host: { ...HOST, ...host },
    gpus: [{ facts: { ...GPU, ...gpu }, bandwidth }],
    load: [{ ...LOAD, ...load }],
    failures: [],
    ...found,
  });
}

/** The facts of the GPU that is all right. */
export const GOOD_GPU = GPU;

/** Returns the row of an id. */
export function rowOf(rows: readonly MachineRow[], id: string): MachineRow {
  const row = rows.find((each) => each.id === id);
  if (row === undefined) throw new Error(`There is no row ${id}`);
  return row;
}
