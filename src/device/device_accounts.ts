// A device's accounts: its memory, its state, its live objects, and calls that release them
// together.

import { requireNoCapture } from "../capture.ts";
import { BufferKinds } from "../buffers/buffer_kinds.ts";
import { type DeviceMemory, readDeviceMemory } from "./device_memory.ts";
import type { DeviceInfo } from "./device_info.ts";
import type { ByteSize } from "../format.ts";
import { nextId } from "../accounting/ids.ts";
import type { MemoryMark } from "../accounting/ledger.ts";
import { LiveTable } from "./live.ts";
import type { LiveQuery } from "./live_query.ts";
import type { Provenance } from "../measure/bandwidth_result.ts";
import { parseLimit } from "../memory/byte_limit.ts";
import { MemoryTrack } from "../accounting/memory_track.ts";
import { MemoryReport } from "./report.ts";
import { watch } from "../safety_net.ts";
import { runScope, type Scope, SCOPE_OPTIONS, type ScopeOptions } from "../scope.ts";
import { CALLBACK, isRecord, type OptionKind, requireKind, TEXT } from "../options.ts";
import { readSystemState, type SystemState } from "./system_state.ts";
import type { Timeline } from "../accounting/timeline.ts";

const MARK: OptionKind = {
  expected: "what gpu.mark() gave",
  accepts: (value) => isRecord(value) && typeof value["id"] === "number",
};

/** The part of {@link CudaDevice} that accounts for memory. */
export abstract class DeviceAccounts extends BufferKinds {
  /** Returns the device, driver and versions that a measurement made now belongs to. */
  abstract provenance(): Provenance;

  /** Properties of the device: name, memory, bus. */
  abstract readonly info: DeviceInfo;

  /** The device's memory by use, in bytes, at this moment (cuMemGetInfo). */
  get memory(): DeviceMemory {
    return readDeviceMemory(this.context);
  }

  /**
   * Calls `body` and then disposes everything that it passed to `scope.use()`, also when it throws.
   * Meant for notebook cells, where a top-level `using` never disposes. A label opens a track of
   * that name.
   */
  scope<T>(body: (scope: Scope) => T, options: ScopeOptions = {}): T {
    const { label } = SCOPE_OPTIONS.read(options, "scope");
    requireKind(body, CALLBACK, "scope");
    if (label === undefined) return runScope(body);
    return runScope((scope) => {
      scope.use(this.track(label));
      return body(scope);
    });
  }

  /**
   * Lists the live objects of this device that match `query`, largest first.
   *
   * @example
   * ```ts
   * import { CudaDevice } from "vramkit";
   *
   * using gpu = CudaDevice.open(0, { driver: "auto" });
   * using weights = gpu.alloc("float32", [512, 512], { label: "weights" });
   * console.log(gpu.live({ minSize: "1 MiB", label: weights.label ?? "" })); // a table with one row
   * ```
   */
  live(query: LiveQuery = {}): LiveTable {
    return LiveTable.of(this.context.ledger, query);
  }

  /** Returns a mark of this moment for {@link DeviceAccounts.disposeSince}. */
  mark(): MemoryMark {
    return { id: nextId() };
  }

  /** Disposes everything that was created on this device since a mark, newest first. */
  disposeSince(mark: MemoryMark): void {
    requireKind(mark, MARK, "disposeSince");
    requireNoCapture("give everything back");
    this.context.ledger.releaseAfter(mark.id);
  }

  /**
   * Disposes everything that is alive on this device. References to it stay and report that they
   * are disposed.
   */
  disposeAll(): void {
    requireNoCapture("give everything back");
    this.context.ledger.releaseAfter(0);
  }

  /**
   * Counts the device memory that is allocated from now until the result is disposed. Tracks nest.
   *
   * @example
   * ```ts
   * import { CudaDevice } from "vramkit";
   *
   * using gpu = CudaDevice.open(0, { driver: "auto" });
   * using epoch = gpu.track("epoch 1");
   * gpu.alloc("float32", 1024).dispose();
   * console.log(epoch.peakBytes, epoch.currentBytes); // 4096 0
   * ```
   */
  track(label: string): MemoryTrack {
    requireKind(label, TEXT, "track");
    const record = this.context.ledger.openTrack(label);
    const track = new MemoryTrack(record);
    watch(track, record);
    return track;
  }

  /**
   * Limits the memory that live buffers and caches may hold on this device: bytes, `"2 GiB"`, or
   * `"40%"` of the device's memory; undefined lifts the limit. Allocations beyond it fail without a
   * driver call.
   */
  limit(size: ByteSize | undefined): void {
    const { ledger, totalBytes } = this.context;
    ledger.limitBytes = size === undefined ? undefined : parseLimit(size, totalBytes);
  }

  /**
   * Recent events of the device's memory. Records by itself in notebooks, and elsewhere from
   * `timeline.start()` on.
   *
   * @example
   * ```ts
   * import { CudaDevice } from "vramkit";
   *
   * using gpu = CudaDevice.open(0, { driver: "auto" });
   * gpu.timeline.start();
   * gpu.alloc("float32", 1024, { label: "x" }).dispose();
   * const trace = gpu.timeline.toChromeTrace(); // open it in ui.perfetto.dev
   * console.log(gpu.timeline.length, trace.length > 0); // 2 true
   * gpu.timeline.stop();
   * ```
   */
  get timeline(): Timeline {
    return this.context.ledger.timeline;
  }

  /**
   * Returns what nvidia-smi shows about the device: load, memory of all programs, temperature,
   * power, clocks, bus (NVML). Needs only `--allow-ffi`; where NVML cannot be used, the result says
   * why. The first call opens NVML; each call blocks for some milliseconds.
   *
   * @example
   * ```ts
   * import { CudaDevice } from "vramkit";
   *
   * using gpu = CudaDevice.open(0, { driver: "auto" });
   * const { temperatureCelsius, powerWatts, processes = [] } = gpu.system();
   * console.log(temperatureCelsius, powerWatts, processes.length);
   * console.log(gpu.system()); // all of it, as a table
   * ```
   */
  system(): SystemState {
    return readSystemState(this.context, this.info);
  }

  /**
   * Returns a full account of the device's memory: which objects hold how much, as text and as
   * JSON.
   */
  report(): MemoryReport {
    return new MemoryReport(this.context, this.provenance());
  }
}
