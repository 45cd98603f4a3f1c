// The facts about the host, read from files that a test writes: containers of both kinds of control groups,
// and texts that are none.

import { assertEquals } from "@std/assert";
import { numbersOf } from "../../../src/lanes/near_cores.ts";
import { fileSystemOf } from "../../../src/machine/file_speed.ts";
import { readHostFacts } from "../../../src/machine/host_facts.ts";

const readOf = (files: Readonly<Record<string, string>>) => (path: string) => files[path];

Deno.test("readHostFacts() reads limits of a group of version 2", () => {
  const facts = readHostFacts(readOf({
    "/proc/self/cgroup": "0::/docker/abc",
    "/sys/fs/cgroup/docker/abc/cpu.max": "250000 100000",
    "/sys/fs/cgroup/docker/abc/memory.max": "1073741824",
    "/proc/self/status": "Name:\tdeno\nCpus_allowed_list:\t0-3,8",
    "/proc/meminfo": "MemTotal:  2048 kB\nMemAvailable:  1024 kB\nHugePages_Total:  7",
    "/sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never",
    "/sys/devices/system/cpu/online": "0-15",
    "/proc/self/limits": "Max locked memory   8388608   8388608   bytes",
  }));
  assertEquals([facts.coreQuota, facts.limitBytes], [2.5, 2 ** 30]);
  assertEquals([facts.coreCount, facts.allowedCoreCount, facts.allowedCores], [16, 5, "0-3,8"]);
  assertEquals([facts.totalBytes, facts.availableBytes], [2 ** 21, 2 ** 20]);
  assertEquals([facts.hugePages, facts.reservedHugePages], ["madvise", 7]);
  assertEquals(facts.lockedLimitBytes, 2 ** 23);
});

Deno.test("readHostFacts() reads limits of groups of version 1", () => {
  const facts = readHostFacts(readOf({
    "/proc/self/cgroup": "9:name=systemd:/a\n4:cpu,cpuacct:/job\n3:freezer:/",
    "/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us": "400000",
    "/sys/fs/cgroup/cpu/job/cpu.cfs_period_us": "100000",
    "/sys/fs/cgroup/memory/job/memory.limit_in_bytes": "536870912",
  }));
  assertEquals([facts.coreQuota, facts.limitBytes], [4, 2 ** 29]);
});

Deno.test("readHostFacts() takes the words for no limit as none", () => {
  const facts = readHostFacts(readOf({
    "/proc/self/cgroup": "0::/",
    "/sys/fs/cgroup/cpu.max": "max 100000",
    "/sys/fs/cgroup/memory.max": "max",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712",
    "/proc/self/limits": "Max locked memory   unlimited   unlimited   bytes",
  }));
  assertEquals([facts.coreQuota, facts.limitBytes, facts.lockedLimitBytes], [null, null, null]);
});

Deno.test("readHostFacts() has null for what cannot be read", () => {
  const { system: _, sharedMemoryBytes: __, allowedCoreCount, ...facts } = readHostFacts(() =>
    undefined
  );
  assertEquals(allowedCoreCount, navigator.hardwareConcurrency);
  assertEquals(Object.values(facts).filter((fact) => fact !== null), []);
});

Deno.test("readHostFacts() takes no harm from texts that are something else", () => {
  for (const text of ["", "\0\0", "0-99999999", "MemTotal: x kB", "[".repeat(1000), "-1"]) {
    const facts = readHostFacts(() => text);
    assertEquals(facts.limitBytes, null, text);
    assertEquals(facts.totalBytes, null);
  }
});

Deno.test("numbersOf() reads lists of cores, and nothing out of other texts", () => {
  assertEquals(numbersOf("0-2, 5,7-7"), [0, 1, 2, 5, 7]);
  for (const text of ["", "a", "3-1", "1-999999", "1-2-3"]) assertEquals(numbersOf(text), []);
});

Deno.test("fileSystemOf() takes the mount that is nearest to the file", () => {
  const mounts = "/dev/vda / ext4 rw\ntmpfs /data tmpfs rw\nx /data/a xfs rw";
  const read = readOf({ "/proc/self/mounts": mounts });
  assertEquals(fileSystemOf("/data/b/file", read), "tmpfs");
  assertEquals(fileSystemOf("/data/a/file", read), "xfs");
  assertEquals(fileSystemOf("/database", read), "ext4");
  assertEquals(fileSystemOf("/data/b/file", () => undefined), undefined);
});
