// The processes that use a device, from the version of the call that the library has. A process
// that computes and draws is in two of NVML's lists and once in this one.

import { readCString } from "../../ffi/c_strings.ts";
import type { NvmlApi } from "../../ffi/nvml.ts";
import { NOT_AVAILABLE_64, nvmlReturn } from "../../ffi/nvml_constants.ts";
import { nvmlProcessInfo_v1_t, nvmlProcessInfo_v2_t } from "../../ffi/nvml_structs.ts";

/** A process that uses a device. */
export interface GpuProcess {
  /** Process id; in a container it can be the host's. */
  readonly pid: number;
  /** Path of its program; undefined when more permissions are needed to read it. */
  readonly name: string | undefined;
  /** Bytes of the device's memory that it uses; undefined where the system does not say. */
  readonly memoryBytes: number | undefined;
}

type ListCall = NvmlApi["nvmlDeviceGetComputeRunningProcesses"];

interface ListedProcess {
  readonly pid: number;
  readonly usedGpuMemory: bigint;
  readonly gpuInstanceId?: number;
  readonly computeInstanceId?: number;
}

const { NVML_SUCCESS: SUCCESS, NVML_ERROR_INSUFFICIENT_SIZE: TOO_FEW } = nvmlReturn;

/** Number of processes to make room for at first, and for those that start between two calls. */
const FIRST_ROOM = 64;
const MORE_ROOM = 16;
const MAX_TRIES = 4;

/** Bytes of a path, its NUL included; NVML cuts a longer one. */
const NAME_BYTES = 512;

/** Lists the processes that use a device, largest first; undefined where the system does not say. */
export function readProcesses(api: NvmlApi, device: bigint): readonly GpuProcess[] | undefined {
  const computing = listProcesses(device, {
    current: api.nvmlDeviceGetComputeRunningProcesses_v3 ??
      api.nvmlDeviceGetComputeRunningProcesses_v2,
    oldest: api.nvmlDeviceGetComputeRunningProcesses,
  });
  const drawing = listProcesses(device, {
    current: api.nvmlDeviceGetGraphicsRunningProcesses_v3 ??
      api.nvmlDeviceGetGraphicsRunningProcesses_v2,
    oldest: api.nvmlDeviceGetGraphicsRunningProcesses,
  });
  if (computing === undefined && drawing === undefined) return undefined;
  const found = new Map<string, ListedProcess>();
  for (const each of [...computing ?? [], ...drawing ?? []]) {
    found.set(`${each.pid} ${each.gpuInstanceId} ${each.computeInstanceId}`, each);
  }
  return [...found.values()]
    .map(({ pid, usedGpuMemory }) => ({
      pid,
      name: processName(api, pid),
      memoryBytes: usedGpuMemory === NOT_AVAILABLE_64 ? undefined : Number(usedGpuMemory),
    }))
    .sort((a, b) => (b.memoryBytes ?? 0) - (a.memoryBytes ?? 0) || a.pid - b.pid);
}

/** The second and the third version of the call fill the same struct, the oldest a shorter one. */
function listProcesses(
  device: bigint,
  { current, oldest }: { readonly current: ListCall; readonly oldest: ListCall },
): ListedProcess[] | undefined {
  if (current !== null) return readList(device, { call: current, row: nvmlProcessInfo_v2_t });
  if (oldest !== null) return readList(device, { call: oldest, row: nvmlProcessInfo_v1_t });
  return undefined;
}

function readList(
  device: bigint,
  { call, row }: {
    readonly call: NonNullable<ListCall>;
    readonly row: typeof nvmlProcessInfo_v1_t | typeof nvmlProcessInfo_v2_t;
  },
): ListedProcess[] | undefined {
  let room = FIRST_ROOM;
  for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
    const count = new Uint32Array([room]);
    const rows = new Uint8Array(room * row.byteLength);
    const status = call(device, count, rows);
    const listed = count[0] ?? 0;
    if (status === SUCCESS) {
      return Array.from(
        { length: Math.min(listed, room) },
        (_, index) => row.decode(rows.subarray(index * row.byteLength)),
      );
    }
    if (status !== TOO_FEW) return undefined;
    room = listed + MORE_ROOM;
  }
  return undefined;
}

function processName(api: NvmlApi, pid: number): string | undefined {
  const text = new Uint8Array(NAME_BYTES);
  if (api.nvmlSystemGetProcessName?.(pid, text, text.length) !== SUCCESS) return undefined;
  return readCString(text) || undefined;
}
