// The facts about the host: processors, memory and the limits that a container sets. All are read from
// files that everybody may read; a missing one costs only its own fact, which is null.

import { statfsSync } from "node:fs";
import { numbersOf, readSystemText } from "../lanes/near_cores.ts";

/** Returns the text of a file of the system; undefined where it is not there or must not be read. */
export type ReadText = (path: string) => string | undefined;

export type HostFacts = Readonly<ReturnType<typeof factsOf>>;

export function readHostFacts(read: ReadText = readSystemText): HostFacts {
  return factsOf(read);
}

function factsOf(read: ReadText) {
  const memory = read("/proc/meminfo") ?? "";
  const processors = read("/proc/cpuinfo") ?? "";
  const online = read("/sys/devices/system/cpu/online");
  const nodes = read("/sys/devices/system/node/online");
  const allowedCores = fieldIn(read("/proc/self/status"), "Cpus_allowed_list") ?? null;
  const group = /^(?:0:|\d+:[\w,]*(?:memory|cpu)[\w,]*):(.*)$/m.exec(
    read("/proc/self/cgroup") ?? "",
  );
  const folder = group?.[1] === "/" ? "" : group?.[1] ?? "";
  return {
    system: [Deno.build.os, read("/proc/sys/kernel/osrelease"), Deno.build.arch].join(" "),
    processor: fieldIn(processors, "model name") ?? null,
    isVirtual: processors === "" ? null : /^flags\s*:.*\bhypervisor\b/m.test(processors),
    container: containerOf(read),
    coreCount: online === undefined ? null : numbersOf(online).length,
    allowedCores,
    allowedCoreCount: allowedCores === null
      ? navigator.hardwareConcurrency
      : numbersOf(allowedCores).length,
    coreQuota: quotaIn(read, folder),
    governor: read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor") ?? null,
    numaNodeCount: nodes === undefined ? null : numbersOf(nodes).length,
    totalBytes: bytesIn(fieldIn(memory, "MemTotal")),
    availableBytes: bytesIn(fieldIn(memory, "MemAvailable")),
    limitBytes: limitIn(read, folder),
    lockedLimitBytes: bytesIn(
      /^Max locked memory\s+(\S+)/m.exec(read("/proc/self/limits") ?? "")?.[1],
    ),
    hugePages: /\[(\w+)\]/.exec(read("/sys/kernel/mm/transparent_hugepage/enabled") ?? "")?.[1] ??
      null,
    reservedHugePages: bytesIn(fieldIn(memory, "HugePages_Total")),
    sharedMemoryBytes: sizeOf("/dev/shm"),
  };
}

/** A line such as `MemTotal:   123 kB`, without its name. */
function fieldIn(text: string | undefined, name: string): string | undefined {
  return new RegExp(`^${name}\\s*:\\s*(.*)$`, "m").exec(text ?? "")?.[1]?.trim();
}

/** The bytes of a text such as `"123 kB"` or `"456"`; null for words. */
function bytesIn(text: string | undefined): number | null {
  const number = Number.parseInt(text ?? "", 10);
  return Number.isNaN(number) ? null : text?.endsWith("kB") ? 1024 * number : number;
}

function containerOf(read: ReadText): string | null {
  if (read("/run/.containerenv") !== undefined) return "podman";
  if (read("/.dockerenv") !== undefined) return "docker";
  return /\b(kubepods|docker|lxc)\b/.exec(read("/proc/1/cgroup") ?? "")?.[1] ?? null;
}

const GROUPS = "/sys/fs/cgroup";

/** The least of the limits in a group's folder and in the root, which a container has as its own. */
function leastIn(folder: string, ask: (folder: string) => number | null): number | null {
  const limits = [folder, ""].map(ask).filter((limit) => limit !== null);
  return limits.length === 0 ? null : Math.min(...limits);
}

/** Cores' worth of time: version 2 has both numbers in one file; "max" and -1 stand for no limit. */
function quotaIn(read: ReadText, folder: string): number | null {
  return leastIn(folder, (folder) => {
    const old = ["quota", "period"].map((name) =>
      read(`${GROUPS}/cpu${folder}/cpu.cfs_${name}_us`)
    );
    const [quota = NaN, period = NaN] = (read(`${GROUPS}${folder}/cpu.max`) ?? old.join(" "))
      .split(" ").map(Number);
    return quota > 0 && period > 0 ? quota / period : null;
  });
}

/** Bytes of memory; version 1 writes a number near 2^63 for no limit. */
function limitIn(read: ReadText, folder: string): number | null {
  return leastIn(folder, (folder) => {
    const bytes = bytesIn(
      read(`${GROUPS}${folder}/memory.max`) ??
        read(`${GROUPS}/memory${folder}/memory.limit_in_bytes`),
    );
    return bytes === null || bytes <= 0 || bytes > 2 ** 60 ? null : bytes;
  });
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
