// A disk that is full: the old file is there, untouched, and the message says so.

import { assert, assertEquals } from "@std/assert";
import { PROJECT_ROOT } from "../support/project_files.ts";
import type { FullDiskReport } from "../support/saving/full_disk_program.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";

/** Mounts a disk of 8 MiB in a namespace of its own, so that it goes with the program. */
const ON_SMALL_DISK = [
  "--map-root-user",
  "--mount",
  "sh",
  "-c",
  'mount -t tmpfs -o size=8m tmpfs "$1" && shift && exec "$@"',
  "sh",
];

const canMount = await mountsSmallDisk();

Deno.test({
  name: "saves to a full disk leave the old file" +
    (canMount ? "" : " (skipped: unshare may not mount a disk here)"),
  ignore: !canMount,
  fn: async () => {
    using folder = new TemporaryFolder();
    const program = new URL("tests/support/saving/full_disk_program.ts", PROJECT_ROOT).pathname;
    const { code, stdout, stderr } = await new Deno.Command("unshare", {
      args: [...ON_SMALL_DISK, folder.path, Deno.execPath(), "run", "-A", program, folder.path],
      env: { NO_COLOR: "1" },
    }).output();
    assertEquals(code, 0, new TextDecoder().decode(stderr));
    const reports: FullDiskReport[] = JSON.parse(new TextDecoder().decode(stdout));
    assertEquals(reports.length, 7);
    for (const { name, message, files, isOld } of reports) {
      assertEquals({ name, files, isOld }, { name, files: { old: 2 ** 20 }, isOld: true });
      const isSmall = name.startsWith("a small file");
      assert(isSmall ? message === undefined : message?.endsWith("the disk is full"), message);
    }
  },
});

async function mountsSmallDisk(): Promise<boolean> {
  try {
    using folder = new TemporaryFolder();
    const args = [...ON_SMALL_DISK, folder.path, "true"];
    return (await new Deno.Command("unshare", { args, stderr: "null" }).output()).success;
  } catch {
    return false;
  }
}
