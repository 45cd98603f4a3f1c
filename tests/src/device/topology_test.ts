// The links between devices: as the driver tells them, and with what the management library adds.

import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import type { NvmlApi } from "../../../ffi/nvml.ts";
import { nvmlGpuTopologyLevel, nvmlReturn } from "../../../ffi/nvml_constants.ts";
import { OWN, ownParts } from "../../../ffi/own_parts.ts";
import { simulateDriver } from "../../../ffi/simulated/driver.ts";
import { CudaDevice, DisposedError } from "../../../mod.ts";
import type { LinkPath } from "../../../src/entries/group.ts";
import { cardOf } from "../../support/display.ts";
import { testDriver } from "../../support/driver.ts";
import { bytesOf, fakeNvml, putHandle, putNumber } from "../../support/fake_nvml.ts";

const { NVML_ERROR_NOT_SUPPORTED: NOT_SUPPORTED } = nvmlReturn;

Deno.test("DeviceList tells how to get a device where a program tries an index", () => {
  using gpus = CudaDevice.all({ driver: simulateDriver() });
  const list = gpus as unknown as Record<number, unknown>;
  assertThrows(
    () => list[0],
    TypeError,
    "Cannot read element 0 of DeviceList(2 devices): use gpus.at",
  );
  assertThrows(() => void (list[1] = 5), TypeError, "stays as it is");
});

Deno.test("Lists of buffers and of live objects tell how to get one where a program tries an index", async () => {
  using gpus = CudaDevice.all({ driver: simulateDriver() });
  using gpu = CudaDevice.open(0, { driver: simulateDriver() });
  using all = await gpu.uploadAll([new Float32Array(2)]);
  using parts = await gpus.upload(new Float32Array(2));
  const tried: readonly [list: object, words: string][] = [
    [all, "element 0 of PackedBuffers(1 buffer, 8 B): use x.buffers[i]"],
    [parts, "element 0 of DeviceParts(float32[2] along axis 0, 2 devices): use x.buffers[i]"],
    [gpu.live(), "element 0 of a LiveTable: use x.objects[i]"],
    [gpu.live().by("kind"), "element 0 of a LiveGroups: use x.groups[i]"],
  ];
  for (const [list, words] of tried) {
    assertThrows(() => (list as unknown[])[0], TypeError, `Cannot read ${words}`);
  }
});

Deno.test("gpus.topology() has a link for every pair, as copies between them go", () => {
  using gpus = CudaDevice.all({ driver: testDriver() });
  const { devices, links } = gpus.topology();
  assertEquals(devices.map(({ ordinal }) => ordinal), gpus.map(({ ordinal }) => ordinal));
  assertEquals(links.length, gpus.length);
  for (const [i, from] of [...gpus].entries()) {
    for (const [j, to] of [...gpus].entries()) {
      const link = links[i]?.[j];
      if (i === j) assertEquals(link, undefined);
      else {
        assertEquals([link?.from, link?.to], [from.ordinal, to.ordinal]);
        assertEquals(link?.peerAccess, from.routeTo(to) === "peer");
      }
    }
  }
});

Deno.test("gpus.topology() says that devices without peer access are staged", async () => {
  using gpus = CudaDevice.openMany([1, 0], { driver: simulateDriver({ peerAccess: false }) });
  const topology = gpus.topology();
  const [link] = topology.links[1] ?? [];
  assertEquals([link?.from, link?.to, link?.peerAccess, link?.atomics], [0, 1, false, false]);
  assertStringIncludes((await cardOf(topology)).text, "staged");
});

const LEVELS: Readonly<Record<keyof typeof nvmlGpuTopologyLevel, LinkPath>> = {
  NVML_TOPOLOGY_INTERNAL: "board",
  NVML_TOPOLOGY_SINGLE: "switch",
  NVML_TOPOLOGY_MULTIPLE: "switches",
  NVML_TOPOLOGY_HOSTBRIDGE: "bridge",
  NVML_TOPOLOGY_NODE: "node",
  NVML_TOPOLOGY_SYSTEM: "system",
};

for (const [name, path] of Object.entries(LEVELS)) {
  Deno.test(`gpus.topology() calls ${name} "${path}"`, () => {
    const level = nvmlGpuTopologyLevel[name as keyof typeof nvmlGpuTopologyLevel];
    using gpus = twoWith({
      nvmlDeviceGetTopologyCommonAncestor: (_one, _other, cell) => putNumber(cell, level),
    });
    assertEquals(pathsOf(gpus), [[undefined, path], [path, undefined]]);
    assertEquals(gpus.topology().devices.map(({ nvlinkCount }) => nvlinkCount), [
      undefined,
      undefined,
    ]);
  });
}

Deno.test("gpus.topology() prefers NVLink one way, and counts the links that are up", async () => {
  using gpus = twoWith({
    nvmlDeviceGetP2PStatus: (one, _other, index, cell) =>
      putNumber(cell, Number(one) === 0x20 && index === 2 ? 0 : 5),
    nvmlDeviceGetTopologyCommonAncestor: (_one, _other, cell) => putNumber(cell, 50),
    nvmlDeviceGetNvLinkState: (device, link, cell) =>
      link < 6 ? putNumber(cell, Number(Number(device) === 0x20 || link % 2 === 0)) : NOT_SUPPORTED,
  });
  assertEquals(pathsOf(gpus), [[undefined, "nvlink"], ["system", undefined]]);
  const topology = gpus.topology();
  assertEquals(topology.devices.map(({ nvlinkCount }) => nvlinkCount), [6, 3]);
  assertStringIncludes((await cardOf(topology)).text, "nvlink");
});

Deno.test("gpus.topology() leaves out what the management library does not know", () => {
  using unknown = twoWith({
    nvmlDeviceGetTopologyCommonAncestor: (_one, _other, cell) => putNumber(cell, 60),
  });
  using failing = twoWith({
    nvmlDeviceGetP2PStatus: () => NOT_SUPPORTED,
    nvmlDeviceGetTopologyCommonAncestor: () => NOT_SUPPORTED,
    nvmlDeviceGetNvLinkState: () => NOT_SUPPORTED,
  });
  for (const gpus of [unknown, failing]) {
    assertEquals(pathsOf(gpus).flat().filter((path) => path !== undefined), []);
  }
});

for (const [value, expected] of [[-1, undefined], [3, 3], [undefined, undefined]] as const) {
  Deno.test(`gpus.topology() reads the NUMA node ${expected} from ${value ?? "a refusal"}`, () => {
    const real = simulateDriver();
    const driver = {
      ...real,
      cuDeviceGetAttribute: ((cell, attribute, device) => {
        if (attribute !== 134) return real.cuDeviceGetAttribute(cell, attribute, device);
        return value === undefined ? 1 : putNumber(cell, value);
      }) satisfies typeof real.cuDeviceGetAttribute,
    };
    using gpus = CudaDevice.openMany([0], { driver });
    assertEquals(gpus.topology().devices.map(({ numaNode }) => numaNode), [expected]);
  });
}

Deno.test("gpus.topology() refuses a list that was disposed", () => {
  const gpus = CudaDevice.all({ driver: simulateDriver() });
  gpus.dispose();
  assertThrows(() => gpus.topology(), DisposedError, "DeviceList");
});

/** Two simulated devices with an NVML of the functions that are given; their handles are 0x20, 0x21. */
function twoWith(functions: Partial<NvmlApi>) {
  const real = simulateDriver();
  const nvml = fakeNvml({
    nvmlDeviceGetHandleByUUID: (uuid, handle) => putHandle(handle, handleFor(bytesOf(uuid))),
    ...functions,
  });
  const driver = { ...real, [OWN]: { ...ownParts(real), nvml } };
  return CudaDevice.openMany([0, 1], { driver });
}

/** The simulated devices' UUIDs differ in their last byte. */
function handleFor(uuid: Uint8Array): bigint {
  const text = new TextDecoder().decode(uuid).replace(/\0.*$/, "");
  return 0x20n + BigInt(parseInt(text.slice(-1), 16) % 2);
}

function pathsOf(gpus: ReturnType<typeof twoWith>): (LinkPath | undefined)[][] {
  return gpus.topology().links.map((row) => row.map((link) => link?.path));
}
