// The result of gpu.system(): NVML's values, words, older libraries, and missing values.

import {
  assert,
  assertEquals,
  assertGreater,
  assertGreaterOrEqual,
  assertLessOrEqual,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import type { NvmlApi } from "../../../ffi/nvml.ts";
import {
  nvmlMemory_t,
  nvmlMemory_v2_t,
  nvmlProcessInfo_v1_t,
  nvmlProcessInfo_v2_t,
  nvmlTemperature_v1_t,
  nvmlUtilization_t,
} from "../../../ffi/nvml_structs.ts";
import { CudaDevice, DisposedError, type SystemState } from "../../../mod.ts";
import { cardOf } from "../../support/display.ts";
import { ON_GPU, openTestDevice } from "../../support/driver.ts";
import {
  bytesOf,
  driverWithNvml,
  GPU_HANDLE,
  numberOf,
  putBytes,
  putHandle,
  putNumber,
  putText,
  textOf,
} from "../../support/fake_nvml.ts";

const GIB = 2 ** 30;
const NONE = 0xffff_ffff;

/** Asks a library of these functions. */
function systemOf(functions: Partial<NvmlApi>): SystemState {
  using gpu = CudaDevice.open(0, { driver: driverWithNvml(functions) });
  return gpu.system();
}

/** Writes rows behind each other and their count, or says that there is too little room. */
function putRows(
  [count, infos]: [Parameters<typeof putNumber>[0], Parameters<typeof putNumber>[0]],
  rows: readonly Uint8Array[],
): number {
  const room = numberOf(count);
  putNumber(count, rows.length);
  if (room < rows.length) return 7;
  rows.forEach((row, index) => bytesOf(infos).set(row, index * row.byteLength));
  return 0;
}

const EVERYTHING: Partial<NvmlApi> = {
  nvmlSystemGetProcessName: (pid, name) => pid === 11 ? putText(name, "/usr/bin/deno") : 4,
  nvmlDeviceGetUtilizationRates: (_, rates) =>
    putBytes(rates, nvmlUtilization_t.encode({ gpu: 37, memory: 12 })),
  nvmlDeviceGetMemoryInfo_v2(_, memory) {
    const { version } = nvmlMemory_v2_t.decode(bytesOf(memory));
    if (version !== 0x02000028) return 25;
    const [total, reserved] = [BigInt(80 * GIB), BigInt(GIB)];
    const [free, used] = [BigInt(50 * GIB), BigInt(29 * GIB)];
    return putBytes(memory, nvmlMemory_v2_t.encode({ version, total, reserved, free, used }));
  },
  nvmlDeviceGetComputeRunningProcesses_v3: (_, count, infos) =>
    putRows([count, infos], [
      nvmlProcessInfo_v2_t.encode({ pid: 10, usedGpuMemory: 5n, gpuInstanceId: NONE }),
      nvmlProcessInfo_v2_t.encode({ pid: 11, usedGpuMemory: 7n, gpuInstanceId: NONE }),
    ]),
  nvmlDeviceGetGraphicsRunningProcesses_v3: (_, count, infos) =>
    putRows([count, infos], [
      nvmlProcessInfo_v2_t.encode({ pid: 11, usedGpuMemory: 7n, gpuInstanceId: NONE }),
    ]),
  nvmlDeviceGetTemperatureV: (_, temperature) =>
    putBytes(temperature, nvmlTemperature_v1_t.encode({ temperature: 41 })),
  nvmlDeviceGetPowerUsage: (_, milliwatts) => putNumber(milliwatts, 123_456),
  nvmlDeviceGetEnforcedPowerLimit: (_, milliwatts) => putNumber(milliwatts, 700_000),
  nvmlDeviceGetClockInfo: (_, clock, megahertz) => putNumber(megahertz, clock === 1 ? 345 : 2619),
  nvmlDeviceGetMaxClockInfo: (_, clock, megahertz) =>
    putNumber(megahertz, clock === 1 ? 1980 : 2619),
  nvmlDeviceGetCurrPcieLinkGeneration: (_, cell) => putNumber(cell, 1),
  nvmlDeviceGetCurrPcieLinkWidth: (_, cell) => putNumber(cell, 16),
  nvmlDeviceGetMaxPcieLinkGeneration: (_, cell) => putNumber(cell, 5),
  nvmlDeviceGetMaxPcieLinkWidth: (_, cell) => putNumber(cell, 16),
  nvmlDeviceGetCurrentClocksEventReasons: (_, cell) => putHandle(cell, 0x1024n),
  nvmlDeviceGetMigMode: (_, current) => putNumber(current, 0),
  nvmlDeviceGetFanSpeed: (_, percent) => putNumber(percent, 30),
};

Deno.test("CudaDevice.system() gives every value that NVML gives, in the units of its names", () => {
  const { device: _, uuid, isModelled: __, ...values } = systemOf(EVERYTHING);
  assert(uuid.startsWith("GPU-"));
  assertEquals(values, {
    unavailable: undefined,
    driverVersion: "580.95.05",
    gpuUtilizationPercent: 37,
    memoryUtilizationPercent: 12,
    memoryTotalBytes: 80 * GIB,
    memoryUsedBytes: 29 * GIB,
    memoryFreeBytes: 50 * GIB,
    memoryReservedBytes: GIB,
    processes: [
      { pid: 11, name: "/usr/bin/deno", memoryBytes: 7 },
      { pid: 10, name: undefined, memoryBytes: 5 },
    ],
    temperatureCelsius: 41,
    powerWatts: 123.456,
    powerLimitWatts: 700,
    smClockMegahertz: 345,
    smClockMaxMegahertz: 1980,
    memoryClockMegahertz: 2619,
    memoryClockMaxMegahertz: 2619,
    pcieGeneration: 1,
    pcieGenerationMax: 5,
    pcieLaneCount: 16,
    pcieLaneCountMax: 16,
    throttleReasons: ["software power cap", "software thermal slowdown", "reason 0x1000"],
    migMode: "disabled",
    fanPercent: 30,
  });
});

Deno.test("CudaDevice.system() has undefined and no 0 for what a library lacks", () => {
  const { device: _, uuid: __, isModelled: ___, driverVersion, ...values } = systemOf({});
  assertEquals(driverVersion, "580.95.05");
  assertEquals(Object.values(values).filter((value) => value !== undefined), []);
});

Deno.test("CudaDevice.system() has undefined and no 0 for what NVML refuses", () => {
  const refusing = Object.fromEntries(Object.keys(EVERYTHING).map((name) => [name, () => 3]));
  const { device: _, uuid: __, isModelled: ___, driverVersion: ____, ...values } = systemOf(
    refusing,
  );
  assertEquals(Object.values(values).filter((value) => value !== undefined), []);
});

Deno.test("CudaDevice.system() takes the older calls where a library lacks the newer", () => {
  const { memoryUsedBytes, memoryReservedBytes, processes, ...state } = systemOf({
    nvmlDeviceGetMemoryInfo: (_, memory) =>
      putBytes(memory, nvmlMemory_t.encode({ total: 8n, free: 5n, used: 3n })),
    nvmlDeviceGetComputeRunningProcesses: (_, count, infos) =>
      putRows([count, infos], [
        nvmlProcessInfo_v1_t.encode({ pid: 1, usedGpuMemory: 5n }),
        nvmlProcessInfo_v1_t.encode({ pid: 2, usedGpuMemory: 0xffff_ffff_ffff_ffffn }),
      ]),
    nvmlDeviceGetTemperature: (_, sensor, cell) => putNumber(cell, 50 + sensor),
    nvmlDeviceGetPowerManagementLimit: (_, milliwatts) => putNumber(milliwatts, 250_000),
    nvmlDeviceGetCurrentClocksThrottleReasons: (_, cell) => putHandle(cell, 0n),
  });
  assertEquals([memoryUsedBytes, memoryReservedBytes], [3, undefined]);
  assertEquals(processes, [
    { pid: 1, name: undefined, memoryBytes: 5 },
    { pid: 2, name: undefined, memoryBytes: undefined },
  ]);
  assertEquals(state.temperatureCelsius, 50);
  assertEquals(state.powerLimitWatts, 250);
  assertEquals(state.throttleReasons, []);
});

Deno.test("CudaDevice.system() asks again with more room when there are many processes", () => {
  const rows = Array.from(
    { length: 100 },
    (_, pid) => nvmlProcessInfo_v2_t.encode({ pid, usedGpuMemory: 1n }),
  );
  const { processes } = systemOf({
    nvmlDeviceGetComputeRunningProcesses_v2: (_, count, infos) => putRows([count, infos], rows),
  });
  assertEquals(processes?.map(({ pid }) => pid), Array.from({ length: 100 }, (_, pid) => pid));
});

Deno.test("CudaDevice.system() finds a MIG device by its UUID, and the GPU around it", () => {
  const MIG_HANDLE = 0x20n;
  const state = systemOf({
    ...EVERYTHING,
    nvmlDeviceGetHandleByUUID: (uuid, handle) =>
      textOf(uuid).startsWith("MIG-") ? putHandle(handle, MIG_HANDLE) : 6,
    nvmlDeviceIsMigDeviceHandle: (device, cell) => putNumber(cell, device === MIG_HANDLE ? 1 : 0),
    nvmlDeviceGetDeviceHandleFromMigDeviceHandle: (_, handle) => putHandle(handle, GPU_HANDLE),
    nvmlDeviceGetMemoryInfo_v2: (device, memory) =>
      putBytes(memory, nvmlMemory_v2_t.encode({ total: BigInt(device) })),
    nvmlDeviceGetPowerUsage: (device, cell) => device === GPU_HANDLE ? putNumber(cell, 1000) : 3,
    nvmlDeviceGetMigMode: (_, current) => putNumber(current, 1),
  });
  assert(state.uuid.startsWith("MIG-"));
  assertEquals(state.memoryTotalBytes, Number(MIG_HANDLE));
  assertEquals([state.powerWatts, state.migMode], [1, "enabled"]);
});

Deno.test("CudaDevice.system() finds a device by its PCI address where NVML knows no UUID", () => {
  let address = "";
  using gpu = CudaDevice.open(0, {
    driver: driverWithNvml({
      ...EVERYTHING,
      nvmlDeviceGetHandleByUUID: () => 6,
      nvmlDeviceGetHandleByPciBusId_v2(pciBusId, handle) {
        address = textOf(pciBusId);
        return putHandle(handle, GPU_HANDLE);
      },
    }),
  });
  assertEquals(gpu.system().temperatureCelsius, 41);
  assertEquals(address, gpu.info.pciBusId);
});

const ABSENT: Record<string, [functions: Partial<NvmlApi>, words: string]> = {
  "does not start": [{ nvmlInit_v2: () => 18 }, "NVML_ERROR_LIB_RM_VERSION_MISMATCH (18); reboot"],
  "does not know the device": [
    { nvmlDeviceGetHandleByUUID: () => 6 },
    "NVML_ERROR_NOT_FOUND (6)",
  ],
};

for (const [name, [functions, words]] of Object.entries(ABSENT)) {
  Deno.test(`CudaDevice.system() says so in words when NVML ${name}`, async () => {
    const state = systemOf(functions);
    assertStringIncludes(state.unavailable ?? "", words);
    const { device: _, uuid: __, isModelled: ___, unavailable: ____, ...values } = state;
    assertEquals(Object.values(values).filter((value) => value !== undefined), []);
    assertStringIncludes((await cardOf(state)).text, words);
  });
}

Deno.test("CudaDevice.system() starts NVML once", () => {
  let count = 0;
  using gpu = CudaDevice.open(0, {
    driver: driverWithNvml({ nvmlInit_v2: () => Number(!++count) }),
  });
  gpu.system();
  gpu.system();
  assertEquals(count, 1);
});

Deno.test("CudaDevice.system() is plain data with a card and a table", async () => {
  const state = systemOf(EVERYTHING);
  assertEquals(JSON.parse(JSON.stringify(state)).powerWatts, 123.456);
  const { html, text } = await cardOf(state);
  for (
    const words of ["busy 37 %", "used 29 GiB", "/usr/bin/deno", "123 of 700 W", "345 of 1980 MHz"]
  ) {
    assertStringIncludes(text, words);
  }
  assertStringIncludes(html, "1.0 x16, at most 5.0 x16");
  assertEquals(Deno.inspect(state), text);
});

Deno.test("CudaDevice.system() escapes the names of programs", async () => {
  const state = systemOf({
    ...EVERYTHING,
    nvmlSystemGetProcessName: (_, name) => putText(name, "<script>"),
  });
  const { html } = await cardOf(state);
  assert(!html.includes("<script>"));
});

Deno.test("CudaDevice.system() refuses a disposed device", () => {
  const gpu = openTestDevice();
  gpu.dispose();
  assertThrows(() => gpu.system(), DisposedError);
});

Deno.test(
  "CudaDevice.system() marks a simulated device's values as modelled",
  { ignore: ON_GPU },
  async () => {
    using gpu = openTestDevice(1);
    using x = gpu.zeros("uint8", 64 * 2 ** 20);
    const state = gpu.system();
    assertEquals([state.isModelled, state.device], [true, "Simulated"]);
    assertGreaterOrEqual(state.memoryUsedBytes ?? 0, x.byteLength);
    assertEquals(state.processes?.map(({ pid }) => pid), [Deno.pid]);
    assertEquals([state.pcieGeneration, state.fanPercent], [undefined, undefined]);
    assertStringIncludes((await cardOf(state)).html, "modelled");
  },
);

Deno.test("CudaDevice.system() tells what this program holds on a GPU", { ignore: !ON_GPU }, () => {
  using gpu = openTestDevice();
  using x = gpu.zeros("uint8", GIB);
  gpu.synchronizeSync();
  const state = gpu.system();
  assertEquals([state.unavailable, state.isModelled], [undefined, false]);
  assertGreaterOrEqual(state.memoryUsedBytes ?? 0, x.byteLength);
  assertGreaterOrEqual(state.memoryTotalBytes ?? 0, gpu.info.totalBytes);
  const own = state.processes?.find(({ pid }) => pid === Deno.pid);
  if (own?.memoryBytes !== undefined) assertGreaterOrEqual(own.memoryBytes, x.byteLength);
  const ranges: Partial<Record<keyof SystemState, [least: number, most: number]>> = {
    gpuUtilizationPercent: [0, 100],
    temperatureCelsius: [5, 110],
    powerWatts: [5, 2000],
    powerLimitWatts: [20, 2000],
    smClockMegahertz: [100, 5000],
    smClockMaxMegahertz: [500, 5000],
    memoryClockMegahertz: [100, 20000],
    pcieGenerationMax: [1, 8],
    pcieLaneCountMax: [1, 32],
  };
  for (const [name, [least, most]] of Object.entries(ranges)) {
    const value: unknown = Reflect.get(state, name);
    assert(typeof value === "number", `${name} is ${value}`);
    assertGreaterOrEqual(value, least, name);
    assertLessOrEqual(value, most, name);
  }
  assertGreater(state.driverVersion?.length ?? 0, 3);
  assert(Array.isArray(state.throttleReasons));
});
