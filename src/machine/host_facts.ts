// The facts about the host: processors, memory and the limits that a container sets. All are read from
// files that everybody may read; a missing one costs only its own fact.

import { statfsSync } from "node:fs";
import type { HostFacts } from "./machine_report.ts";

/** Returns the text of a file of the system; undefined where it is not there or must not be read. */
export type ReadText = (path: string) => string | undefined;

/** Reads a file as Deno's permissions allow it, without a prompt. */
export function readSystemText(path: string): string | undefined {
  try {
    if (Deno.permissions.querySync({ name: "read", path }).state !== "granted") return undefined;
    return Deno.readTextFileSync(path).trim();
  } catch {
    return undefined;
  }
}

/** Folders of control groups, of both versions. */
const GROUPS = "/sys/fs/cgroup";

/** Reads the facts. */
export function readHostFacts(read: ReadText = readSystemText): HostFacts {
  const memory = read("/proc/meminfo") ?? "";
  const kibibytes = (name: string) => scaled(fieldIn(memory, name), 1024);
  const status = read("/proc/self/status") ?? "";
  const processors = read("/proc/cpuinfo") ?? "";
  const online = read("/sys/devices/system/cpu/online");
  const nodes = read("/sys/devices/system/node/online");
  const pages = read("/sys/kernel/mm/transparent_hugepage/enabled");
  const allowedCores = fieldIn(status, "Cpus_allowed_list") ?? null;
  return {
    system: [Deno.build.os, read("/proc/sys/kernel/osrelease"), Deno.build.arch].join(" ").trim(),
    processor: fieldIn(processors, "model name") ?? null,
    isVirtual: processors === "" ? null : /^flags\s*:.*\bhypervisor\b/m.test(processors),
    container: containerOf(read),
    coreCount: online === undefined ? null : countOf(online),
    allowedCores,
    allowedCoreCount: allowedCores === null ? navigator.hardwareConcurrency : countOf(allowedCores),
    coreQuota: quotaOf(read),
    governor: read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor") ?? null,
    numaNodeCount: nodes === undefined ? null : countOf(nodes),
    totalBytes: kibibytes("MemTotal"),
    availableBytes: kibibytes("MemAvailable"),
    limitBytes: limitOf(read),
    lockedLimitBytes: lockedLimitOf(read("/proc/self/limits") ?? ""),
    transparentHugePages: /\[(\w+)\]/.exec(pages ?? "")?.[1] ?? null,
    reservedHugePageCount: scaled(fieldIn(memory, "HugePages_Total"), 1),
    sharedMemoryBytes: sizeOf("/dev/shm"),
  };
}

/** Numbers of a list such as `0-3,8`. */
export function numbersOf(list: string): number[] {
  return list.split(",").flatMap((part) => {
    const [, first, last = first] = /^\s*(\d{1,5})(?:-(\d{1,5}))?\s*$/.exec(part) ?? [];
    if (first === undefined) return [];
    const count = Number(last) - Number(first) + 1;
    return Array.from({ length: Math.max(0, count) }, (_, index) => Number(first) + index);
  });
}

function countOf(list: string): number {
  return numbersOf(list).length;
}

/** A line such as `MemTotal:   123 kB`, without its name. */
function fieldIn(text: string, name: string): string | undefined {
  return new RegExp(`^${name}\\s*:\\s*(.*)$`, "m").exec(text)?.[1]?.trim();
}

function scaled(text: string | undefined, factor: number): number | null {
  const number = Number.parseInt(text ?? "", 10);
  return Number.isNaN(number) ? null : number * factor;
}

function containerOf(read: ReadText): string | null {
  if (read("/run/.containerenv") !== undefined) return "podman";
  if (read("/.dockerenv") !== undefined) return "docker";
  const text = `${read("/proc/1/cgroup") ?? ""}\n${read("/proc/self/mountinfo") ?? ""}`;
  return /\b(kubepods|docker|containerd|lxc)\b/.exec(text)?.[1] ?? null;
}

/** The lowest limit of this group and those around it; in a container only its own is in sight. */
function lowestOf(read: ReadText, controller: string, ask: (folder: string) => number | null) {
  const lines = (read("/proc/self/cgroup") ?? "").split("\n");
  const pathOf = (wanted: (names: string) => boolean) =>
    lines.map((line) => line.split(":")).find(([, names = ""]) => wanted(names))?.[2] ?? "/";
  const places = [
    { root: GROUPS, path: pathOf((names) => names === "") },
    {
      root: `${GROUPS}/${controller}`,
      path: pathOf((names) => names.split(",").includes(controller)),
    },
  ];
  const folders = places.flatMap(({ root, path }) => {
    const parts = path.split("/").filter((part) => part !== "" && part !== "..");
    return Array.from(
      { length: parts.length + 1 },
      (_, depth) => [root, ...parts.slice(0, depth)].join("/"),
    );
  });
  const limits = folders.map(ask).filter((limit) => limit !== null);
  return limits.length === 0 ? null : Math.min(...limits);
}

/** Version 2 has both numbers in one file, version 1 in two; "max" and -1 stand for no limit. */
function quotaOf(read: ReadText): number | null {
  return lowestOf(read, "cpu", (folder) => {
    const [quota, period] = (read(`${folder}/cpu.max`) ??
      `${read(`${folder}/cpu.cfs_quota_us`)} ${read(`${folder}/cpu.cfs_period_us`)}`).split(" ")
      .map(Number);
    const cores = (quota ?? NaN) / (period ?? NaN);
    return cores > 0 && Number.isFinite(cores) ? cores : null;
  });
}

/** Version 1 writes a number near 2^63 for no limit. */
const NO_LIMIT = 2 ** 60;

function limitOf(read: ReadText): number | null {
  return lowestOf(read, "memory", (folder) => {
    const text = read(`${folder}/memory.max`) ?? read(`${folder}/memory.limit_in_bytes`);
    const bytes = scaled(text, 1);
    return bytes === null || bytes >= NO_LIMIT ? null : bytes;
  });
}

function lockedLimitOf(limits: string): number | null {
  return scaled(/^Max locked memory\s+(\S+)/m.exec(limits)?.[1], 1);
}

function sizeOf(path: string): number | null {
  try {
    if (Deno.permissions.querySync({ name: "read", path }).state !== "granted") return null;
    const { blocks, bsize } = statfsSync(path);
    return blocks * bsize;
  } catch {
    return null;
  }
}
