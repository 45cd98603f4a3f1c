// Measures a machine step by step. What was found before an interruption, or beside a step that failed,
// makes a report all the same.

import { CudaDevice } from "../device/device.ts";
import type { DeviceList } from "../device/device_list.ts";
import { type FilePath, pathOf } from "../disk/file_path.ts";
import type { DriverChoice } from "../driver/driver.ts";
import { BandwidthResult, fitLines } from "../measure/bandwidth_result.ts";
import { COPY_CASES } from "../measure/copy_cases.ts";
import { LATENCY_CASES } from "../measure/latency_cases.ts";
import { LinkBandwidthResult, type LinkSpeed } from "../measure/link_bandwidth_result.ts";
import { LINK_CASES } from "../measure/link_cases.ts";
import { CudaUnavailableError } from "../words/errors.ts";
import { type ByteSize, messageOf, parseBytes } from "../words/format.ts";
import { ANYTHING, CALLBACK, listOf, NUMBER, OptionSet, SIGNAL, SIZE } from "../words/options.ts";
import { reportProgress } from "../words/progress.ts";
import { sleep } from "../words/timer.ts";
import { VERSION } from "../words/version.ts";
import { measureCalls } from "./call_speed.ts";
import { measureFileSpeed } from "./file_speed.ts";
import { readGpuFacts, sampleLoad, withLaterPrograms } from "./gpu_facts.ts";
import { readHostFacts } from "./host_facts.ts";
import { measureHostSpeed } from "./host_speed.ts";
import { type LoadSample, MACHINE_FORMAT, type MachineReport } from "./machine_report.ts";
import { type Findings, type GpuFindings, rowsOf } from "./rows.ts";

/** Options for {@link machineCard}. */
export interface MachineOptions {
  /** The devices' numbers; all of them by default. */
  readonly devices?: readonly number[] | undefined;
  /** Driver to use; NVIDIA's by default. Without a GPU, the report is about the host. */
  readonly driver?: DriverChoice | undefined;
  /** Folder for a temporary file, whose disk is measured; the system's for such files by default. */
  readonly folder?: FilePath | undefined;
  /** The most device memory to use; 2 GiB by default, and never more than half of what is free. */
  readonly memory?: ByteSize | undefined;
  /** Called before each step. */
  readonly onProgress?:
    | ((doneCount: number, totalCount: number, step: string) => void)
    | undefined;
  /** Ends the measurement after the current copy; the report has what there is until then. */
  readonly signal?: AbortSignal | undefined;
}

/** Checks the options above. */
export const MACHINE_OPTIONS: OptionSet<MachineOptions> = new OptionSet({
  devices: listOf(NUMBER),
  driver: ANYTHING,
  folder: ANYTHING,
  memory: SIZE,
  onProgress: CALLBACK,
  signal: SIGNAL,
});

/** The most device memory, and the size of a copy, as in nvbandwidth; smaller for more than two GPUs. */
const MAX_BYTES = 2 * 2 ** 30;
const CASE_BYTES = 512 * 2 ** 20;
const MANY_CASE_BYTES = 128 * 2 ** 20;
/** Sizes of ordinary arrays, and of the file. */
const ARRAY_SIZES = [2 ** 12, 2 ** 16, 2 ** 20, 2 ** 24, 2 ** 26, 2 ** 28] as const;
const FILE_BYTES = 512 * 2 ** 20;
/** Copies on the simulated driver run on the CPU, and are no result. */
const SIMULATED_BYTES = 2 ** 20;
/** Time under load in which clocks are read, and the pause between two looks. */
const LOAD_SECONDS = 1.5;
const LOOK_MILLISECONDS = 50;
const LOAD_BYTES = 64 * 2 ** 20;

/** A step of the measurement. */
interface Step {
  readonly name: string;
  run(): Promise<void>;
}

/** Measures a machine and returns its report. */
export async function measureMachine(options: MachineOptions): Promise<MachineReport> {
  const { signal, onProgress, memory = MAX_BYTES } = options;
  const isOver = () => signal?.aborted === true;
  const date = new Date().toISOString();
  const start = performance.now();
  using opened = openAll(options);
  const { gpus, whyNoGpu } = opened;
  const [first] = gpus ?? [];
  const isModelled = first?.isSimulated ?? false;
  const load: LoadSample[] = [];
  const failures: { step: string; reason: string }[] = [];
  const found: Findings = {
    isModelled,
    host: readHostFacts(),
    gpus: gpus?.map((gpu) => ({
      facts: readGpuFacts(gpu),
      bandwidth: undefined,
      calls: undefined,
      file: undefined,
    })) ?? [],
    load,
    failures,
    links: undefined,
    oneCore: undefined,
    allCores: undefined,
  };
  const plan = new Plan(found, { options, mostBytes: parseBytes(memory, "memory"), load, start });
  const steps = plan.steps(gpus);
  for (const [done, { name, run }] of steps.entries()) {
    if (isOver()) break;
    reportProgress(onProgress, done, steps.length, name);
    await sleep(0); // a signal of the system is heard between two turns
    try {
      await run();
    } catch (error) {
      if (!isOver()) failures.push({ step: name, reason: messageOf(error) });
    }
  }
  for (const [place, each] of found.gpus.entries()) {
    const gpu = gpus?.at(place);
    if (gpu !== undefined) each.facts = withLaterPrograms(each.facts, gpu);
  }
  const driver = first === undefined ? null : {
    cuda: first.context.driver.version,
    version: first.system().driverVersion ?? null,
  };
  return {
    format: MACHINE_FORMAT,
    date,
    vramkit: VERSION,
    deno: Deno.version.deno,
    seconds: (performance.now() - start) / 1000,
    isModelled,
    unfinished: isOver() ? `interrupted: ${messageOf(signal?.reason)}` : null,
    driver,
    whyNoGpu,
    host: found.host,
    gpus: found.gpus.map(({ facts }) => facts),
    rows: rowsOf(found),
    load,
    bandwidth: found.gpus.flatMap(({ bandwidth }) => bandwidth ?? []),
    links: found.links ?? null,
  };
}

/** Opens the devices; a machine without a GPU has a report, too. */
function openAll(
  { devices, driver }: MachineOptions,
): Disposable & { gpus?: DeviceList<CudaDevice>; whyNoGpu: string | null } {
  try {
    const gpus = devices === undefined
      ? CudaDevice.all({ driver })
      : CudaDevice.openMany(devices, { driver });
    return { gpus, whyNoGpu: null, [Symbol.dispose]: () => gpus.dispose() };
  } catch (error) {
    if (!(error instanceof CudaUnavailableError)) throw error;
    return { whyNoGpu: error.message, [Symbol.dispose]: () => {} };
  }
}

/** The steps, and the sizes that fit. */
class Plan {
  readonly #found: Findings;
  readonly #options: MachineOptions;
  readonly #load: LoadSample[];
  readonly #start: number;
  readonly #caseBytes: number;
  readonly #hostBytes: number;

  constructor(found: Findings, { options, mostBytes, load, start }: {
    readonly options: MachineOptions;
    readonly mostBytes: number;
    readonly load: LoadSample[];
    readonly start: number;
  }) {
    this.#found = found;
    this.#options = options;
    this.#load = load;
    this.#start = start;
    const { host, gpus, isModelled } = found;
    const count = gpus.length;
    this.#hostBytes = Math.min(host.availableBytes ?? 2 ** 33, host.limitBytes ?? Infinity) / 4;
    const deviceBytes = Math.min(mostBytes, ...gpus.map(({ facts }) => facts.freeBytes / 2));
    // A copy that loads the other direction is twice as large; all copies to one take a block for each.
    const fitting = Math.min(deviceBytes, this.#hostBytes) / Math.max(3, count);
    const wanted = isModelled ? SIMULATED_BYTES : count > 2 ? MANY_CASE_BYTES : CASE_BYTES;
    this.#caseBytes = Math.min(wanted, 2 ** Math.floor(Math.log2(Math.max(4096, fitting))));
  }

  /** Returns the steps: what only this command finds first, then the sweeps. */
  steps(gpus: DeviceList<CudaDevice> | undefined): Step[] {
    const steps: Step[] = [];
    const each = (name: string, run: (gpu: CudaDevice, found: GpuFindings) => Promise<void>) => {
      for (const [place, found] of this.#found.gpus.entries()) {
        const gpu = gpus?.at(place);
        if (gpu === undefined) continue;
        steps.push({ name: `${name}, GPU ${gpu.ordinal}`, run: () => run(gpu, found) });
      }
    };
    each("copies", (gpu, found) => this.#copies(gpu, found));
    each("clocks under load", (gpu) => this.#underLoad(gpu));
    each("calls", async (gpu, found) => {
      found.calls = measureCalls(gpu);
      await Promise.resolve();
    });
    if (gpus !== undefined && gpus.length > 1) {
      steps.push({ name: "links", run: () => this.#links(gpus) });
    }
    each("ordinary arrays", (gpu, found) => this.#arrays(gpu, found));
    steps.push({ name: "host memory", run: () => this.#hostMemory() });
    each("files", (gpu, found) => this.#files(gpu, found));
    return steps;
  }

  async #copies(gpu: CudaDevice, found: GpuFindings): Promise<void> {
    for (const name of [...COPY_CASES, ...LATENCY_CASES]) {
      const isCopy = name !== "host_device_latency_sm";
      const result = await gpu.bandwidth({
        cases: [name],
        ...(isCopy ? { caseSize: this.#caseBytes } : {}),
        signal: this.#options.signal,
      });
      found.bandwidth = merged(found.bandwidth, result);
      this.#look(gpu);
    }
  }

  /** Keeps both directions of the bus and the memory busy, and reads the clocks meanwhile. */
  async #underLoad(gpu: CudaDevice): Promise<void> {
    const byteLength = Math.min(LOAD_BYTES, this.#caseBytes);
    using resources = new DisposableStack();
    const device = () => resources.use(gpu.zeros("uint8", byteLength));
    const pinned = () => resources.use(gpu.pinned("uint8", byteLength));
    const copies = [[pinned(), device()], [device(), pinned()], [device(), device()]] as const;
    const streams = copies.map(() => resources.use(gpu.createStream()));
    const end = performance.now() + 1000 * (gpu.isSimulated ? 0 : LOAD_SECONDS);
    do {
      this.#options.signal?.throwIfAborted();
      for (const [at, [from, to]] of copies.entries()) {
        const count = gpu.isSimulated ? 1 : at === 2 ? 1000 : 50; // about 60 ms each
        for (let i = 0; i < count; i++) to.copyFrom(from, { stream: streams[at] });
      }
      await sleep(gpu.isSimulated ? 0 : LOOK_MILLISECONDS / 2);
      this.#look(gpu);
      await gpu.synchronize();
    } while (performance.now() < end);
  }

  #look(gpu: CudaDevice): void {
    const sample = sampleLoad(gpu, (performance.now() - this.#start) / 1000);
    if (sample !== undefined) this.#load.push(sample);
  }

  async #links(gpus: DeviceList<CudaDevice>): Promise<void> {
    const cases: LinkSpeed[] = [];
    for (const name of LINK_CASES) {
      if (name === "host_to_device_memcpy_ce" || name === "device_to_host_memcpy_ce") continue;
      const result = await gpus.bandwidth({
        cases: [name],
        caseSize: this.#caseBytes,
        signal: this.#options.signal,
      });
      cases.push(...result.cases);
      const { provenance, devices } = result;
      this.#found.links = new LinkBandwidthResult({ provenance, devices, cases: [...cases] });
    }
  }

  async #arrays(gpu: CudaDevice, found: GpuFindings): Promise<void> {
    const largest = gpu.isSimulated ? SIMULATED_BYTES : this.#caseBytes / 2;
    for (const size of ARRAY_SIZES.filter((size) => size <= largest)) {
      const result = await gpu.bandwidth({
        sizes: [size],
        directions: ["host-to-device", "device-to-host"],
        signal: this.#options.signal,
      });
      found.bandwidth = merged(found.bandwidth, result);
      this.#look(gpu);
    }
  }

  async #hostMemory(): Promise<void> {
    const { host } = this.#found;
    const all = Math.floor(Math.min(host.allowedCoreCount, host.coreQuota ?? Infinity));
    const plan = { roomBytes: this.#hostBytes, signal: this.#options.signal };
    this.#found.oneCore = await measureHostSpeed(1, plan);
    this.#found.allCores = await measureHostSpeed(all, plan);
  }

  async #files(gpu: CudaDevice, found: GpuFindings): Promise<void> {
    const { folder, signal } = this.#options;
    const wanted = gpu.isSimulated ? SIMULATED_BYTES : FILE_BYTES;
    found.file = await measureFileSpeed(gpu, {
      folder: folder === undefined ? undefined : pathOf(folder),
      byteLength: Math.min(wanted, this.#hostBytes, 2 * this.#caseBytes),
      signal,
    });
  }
}

/** Adds the points and cases of a later result to those of an earlier one. */
function merged(before: BandwidthResult | undefined, after: BandwidthResult): BandwidthResult {
  if (before === undefined) return after;
  const points = [...before.points, ...after.points];
  return new BandwidthResult({
    ...before,
    points,
    fits: fitLines(points),
    cases: [...before.cases, ...after.cases],
    latencies: [...before.latencies, ...after.latencies],
  });
}
