// Measures a machine step by step. What was found before an interruption, or beside a step that failed,
// makes a report all the same.

import { CudaDevice } from "../device/device.ts";
import type { DeviceList } from "../device/device_list.ts";
import { type FilePath, PATH, pathOf } from "../disk/file_path.ts";
import type { DriverChoice } from "../driver/driver.ts";
import { BandwidthResult, fitLines } from "../measure/bandwidth_result.ts";
import { COPY_CASES, isCopyCase } from "../measure/copy_cases.ts";
import { LATENCY_CASES } from "../measure/latency_cases.ts";
import { LinkBandwidthResult } from "../measure/link_bandwidth_result.ts";
import { LINK_CASES } from "../measure/link_cases.ts";
import { CudaUnavailableError } from "../words/errors.ts";
import { messageOf } from "../words/format.ts";
import { ANYTHING, CALLBACK, listOf, NUMBER, OptionSet, SIGNAL } from "../words/options.ts";
import { reportProgress } from "../words/progress.ts";
import { sleep } from "../words/timer.ts";
import { VERSION } from "../words/version.ts";
import { measureCalls } from "./call_speed.ts";
import { measureFileSpeed } from "./file_speed.ts";
import { otherProgramsOn, readGpuFacts, sampleLoad } from "./gpu_facts.ts";
import { readHostFacts } from "./host_facts.ts";
import { measureHostSpeed } from "./host_speed.ts";
import { MACHINE_FORMAT, type MachineReport } from "./machine_report.ts";
import { type Findings, type GpuFindings, rowsOf } from "./rows.ts";

/** Options for {@link machineCard}. */
export interface MachineOptions {
  /** The devices' numbers; all of them by default. */
  readonly devices?: readonly number[] | undefined;
  /** Driver to use; NVIDIA's by default. Without a GPU, the report is about the host. */
  readonly driver?: DriverChoice | undefined;
  /** Folder for a temporary file, whose disk is measured; the system's for such files by default. */
  readonly folder?: FilePath | undefined;
  /** Called before each step. */
  readonly onProgress?:
    | ((doneCount: number, totalCount: number, step: string) => void)
    | undefined;
  /** Ends the measurement after the current copy; the report has the rows until then. */
  readonly signal?: AbortSignal | undefined;
}

/** Checks the options above. */
export const MACHINE_OPTIONS: OptionSet<MachineOptions> = new OptionSet({
  devices: listOf(NUMBER),
  driver: ANYTHING,
  folder: PATH,
  onProgress: CALLBACK,
  signal: SIGNAL,
});

const MEBIBYTE = 2 ** 20;
/** The most memory of a device, and the size of a copy, as in nvbandwidth; smaller for many GPUs. */
const MAX_DEVICE_BYTES = 2048 * MEBIBYTE;
const CASE_BYTES = 512 * MEBIBYTE;
const MANY_CASE_BYTES = 128 * MEBIBYTE;
const ARRAY_SIZES = [2 ** 12, 2 ** 16, 2 ** 20, 2 ** 24, 2 ** 26, 2 ** 28] as const;
/** Arrays, and each copy of a case, on the simulated driver: the CPU moves them, and they are no result. */
const SIMULATED_BYTES = MEBIBYTE;
const SIMULATED_CASE_BYTES = MEBIBYTE / 16;
/** Time under load in which clocks are read, and until a look after copies are queued. */
const LOAD_SECONDS = 1.5;
const LOOK_MILLISECONDS = 25;
const LOAD_BYTES = 64 * MEBIBYTE;

export async function measureMachine(options: MachineOptions): Promise<MachineReport> {
  const { signal, onProgress } = options;
  const date = new Date().toISOString();
  const start = performance.now();
  using opened = openAll(options);
  const { gpus = [], whyNoGpu } = opened;
  const found: Findings = {
    isModelled: [...gpus].some(({ isSimulated }) => isSimulated),
    host: readHostFacts(),
    gpus: gpus.map((gpu) => ({ facts: readGpuFacts(gpu) })),
    load: [],
    failures: [],
  };
  const steps = new Plan(found, options).steps(opened.gpus);
  for (const [done, [name, run]] of steps.entries()) {
    await sleep(0); // a signal of the system is heard between two turns
    if (isAborted(signal)) break;
    reportProgress(onProgress, done, steps.length, name);
    try {
      await run();
    } catch (error) {
      if (!isAborted(signal)) found.failures.push({ step: name, reason: messageOf(error) });
    }
  }
  for (const [place, gpu] of [...gpus].entries()) noteLaterPrograms(gpu, found.gpus[place]);
  const [first] = gpus;
  return {
    format: MACHINE_FORMAT,
    date,
    vramkit: VERSION,
    deno: Deno.version.deno,
    seconds: (performance.now() - start) / 1000,
    isModelled: found.isModelled,
    unfinished: isAborted(signal) ? `interrupted: ${messageOf(signal?.reason)}` : null,
    driver: first === undefined ? null : {
      cuda: first.context.driver.version,
      version: first.system().driverVersion ?? null,
    },
    whyNoGpu,
    gpus: found.gpus.map(({ facts: { ordinal, name, pciBusId } }) => ({ ordinal, name, pciBusId })),
    rows: rowsOf(found),
    load: found.load,
    bandwidth: found.gpus.flatMap(({ bandwidth }) => bandwidth ?? []),
    links: found.links ?? null,
  };
}

/** Asks anew each time, which the compiler does not expect of a field. */
function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

/** Opens the devices; a machine without a GPU has a report, too. */
function openAll(
  { devices, driver }: MachineOptions,
): Disposable & { readonly gpus?: DeviceList<CudaDevice>; readonly whyNoGpu: string | null } {
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

/** Adds the programs that began to use a GPU while it was measured. */
function noteLaterPrograms(gpu: CudaDevice, found: GpuFindings | undefined): void {
  if (found === undefined) return;
  const { otherPrograms } = found.facts;
  const later = otherProgramsOn(gpu).filter(({ pid }) =>
    otherPrograms.every((each) => each.pid !== pid)
  );
  found.facts = { ...found.facts, otherPrograms: [...otherPrograms, ...later] };
}

type Step = [name: string, run: () => unknown];

/** The steps, and the sizes that fit. */
class Plan {
  readonly #found: Findings;
  readonly #options: MachineOptions;
  readonly #start = performance.now();
  readonly #caseBytes: number;
  readonly #hostBytes: number;

  constructor(found: Findings, options: MachineOptions) {
    this.#found = found;
    this.#options = options;
    const { host, gpus, isModelled } = found;
    const { length } = gpus;
    this.#hostBytes = Math.min(host.availableBytes ?? 2 ** 33, host.limitBytes ?? Infinity) / 4;
    const deviceBytes = Math.min(MAX_DEVICE_BYTES, ...gpus.map(({ facts }) => facts.freeBytes / 2));
    // A copy that loads the other direction is twice as large; all copies to one take a block for each.
    const fitting = Math.min(deviceBytes, this.#hostBytes) / Math.max(3, length);
    const wanted = isModelled ? SIMULATED_CASE_BYTES : length > 2 ? MANY_CASE_BYTES : CASE_BYTES;
    this.#caseBytes = Math.min(wanted, 2 ** Math.floor(Math.log2(Math.max(4096, fitting))));
  }

  steps(gpus: DeviceList<CudaDevice> | undefined): Step[] {
    const each = (name: string, run: (gpu: CudaDevice, found: GpuFindings) => unknown) =>
      this.#found.gpus.flatMap((found, place): Step[] => {
        const gpu = gpus?.at(place);
        return gpu === undefined ? [] : [[`${name}, GPU ${gpu.ordinal}`, () => run(gpu, found)]];
      });
    const links: Step[] = gpus === undefined || gpus.length < 2
      ? []
      : [["links", () => this.#links(gpus)]];
    return [
      ...each("copies", (gpu, found) => this.#copies(gpu, found)),
      ...each("clocks under load", (gpu) => this.#underLoad(gpu)),
      ...each("calls", (gpu, found) => found.calls = measureCalls(gpu)),
      ...links,
      ...each("ordinary arrays", (gpu, found) => this.#arrays(gpu, found)),
      ["host memory", () => this.#hostMemory()],
      ...each("files", (gpu, found) => this.#files(gpu, found)),
    ];
  }

  async #copies(gpu: CudaDevice, found: GpuFindings): Promise<void> {
    const { signal } = this.#options;
    for (const name of [...COPY_CASES, ...LATENCY_CASES]) {
      const size = isCopyCase(name) ? { caseSize: this.#caseBytes } : {};
      const result = await gpu.bandwidth({ cases: [name], ...size, signal });
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
    const ways = [[pinned(), device()], [device(), pinned()], [device(), device()]] as const;
    const copies = ways.map(([from, to], at) => {
      const count = gpu.isSimulated ? 1 : at === 2 ? 1000 : 50; // about 60 ms each
      return { from, to, count, stream: resources.use(gpu.createStream()) };
    });
    const end = performance.now() + (gpu.isSimulated ? 0 : 1000 * LOAD_SECONDS);
    do {
      this.#options.signal?.throwIfAborted();
      for (const { from, to, count, stream } of copies) {
        for (let i = 0; i < count; i++) to.copyFrom(from, { stream });
      }
      await sleep(LOOK_MILLISECONDS);
      this.#look(gpu);
      await gpu.synchronize();
    } while (performance.now() < end);
  }

  #look(gpu: CudaDevice): void {
    const sample = sampleLoad(gpu, (performance.now() - this.#start) / 1000);
    if (sample !== undefined) this.#found.load.push(sample);
  }

  /** The cases of one GPU are measured above. */
  async #links(gpus: DeviceList<CudaDevice>): Promise<void> {
    const { signal } = this.#options;
    for (const name of LINK_CASES.filter((name) => !isCopyCase(name))) {
      const result = await gpus.bandwidth({ cases: [name], caseSize: this.#caseBytes, signal });
      const cases = [...this.#found.links?.cases ?? [], ...result.cases];
      this.#found.links = new LinkBandwidthResult({ ...result, cases });
    }
  }

  async #arrays(gpu: CudaDevice, found: GpuFindings): Promise<void> {
    const { signal } = this.#options;
    const largest = gpu.isSimulated ? SIMULATED_BYTES : this.#caseBytes / 2;
    for (const size of ARRAY_SIZES.filter((size) => size <= largest)) {
      const directions = ["host-to-device", "device-to-host"] as const;
      const result = await gpu.bandwidth({ sizes: [size], directions, signal });
      found.bandwidth = merged(found.bandwidth, result);
      this.#look(gpu);
    }
  }

  async #hostMemory(): Promise<void> {
    const { allowedCoreCount, coreQuota } = this.#found.host;
    const plan = { roomBytes: this.#hostBytes, signal: this.#options.signal };
    this.#found.oneCore = await measureHostSpeed(1, plan);
    const all = Math.floor(Math.min(allowedCoreCount, coreQuota ?? Infinity));
    this.#found.allCores = await measureHostSpeed(all, plan);
  }

  async #files(gpu: CudaDevice, found: GpuFindings): Promise<void> {
    const { folder, signal } = this.#options;
    const dir = folder === undefined ? undefined : pathOf(folder);
    const mostBytes = Math.min(this.#hostBytes, 2 * this.#caseBytes);
    found.file = await measureFileSpeed(gpu, { dir, mostBytes, signal });
  }
}

/** Adds the points and cases of a later result to those of an earlier one. */
function merged(before: BandwidthResult | undefined, after: BandwidthResult): BandwidthResult {
  if (before === undefined) return after;
  const points = [...before.points, ...after.points];
  const cases = [...before.cases, ...after.cases];
  const latencies = [...before.latencies, ...after.latencies];
  return new BandwidthResult({ ...before, points, fits: fitLines(points), cases, latencies });
}
