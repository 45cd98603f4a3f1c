// A disk that is full, and a limit for files: the old file is there, untouched, and the message says so.

import { assert, assertEquals } from "@std/assert";
import { PROJECT_ROOT } from "../support/project_files.ts";
import type { FullDiskReport } from "../support/saving/full_disk_program.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { testOnLinux, testUnless } from "../support/test_unless.ts";

/** Mounts a disk of 8 MiB in a namespace of its own, so that it goes with the program. */
const ON_SMALL_DISK = [
  "--map-root-user",
  "--mount",
  "sh",
  "-c",
  'mount -t tmpfs -o size=8m tmpfs "$1" && shift && exec "$@"',
  "sh",
];

const PROGRAM = new URL("tests/support/saving/full_disk_program.ts", PROJECT_ROOT).pathname;
const PLAIN = { env: { NO_COLOR: "1" } };

const canMount = await mountsSmallDisk();

testUnless(
  "saves to a full disk leave the old file",
  canMount ? undefined : "unshare may not mount a disk here",
  async () => {
    using folder = new TemporaryFolder();
    const { path } = folder;
    const args = [...ON_SMALL_DISK, path, Deno.execPath(), "run", "-A", PROGRAM, path];
    assertOldIsLeft(
      await new Deno.Command("unshare", { args, ...PLAIN }).output(),
      "the disk is full",
    );
  },
);

testOnLinux("saves of more than a process may write to a file leave the old file", async () => {
  using folder = new TemporaryFolder();
  // Deno's own cache of code may be larger than the limit, and a write to it would end the program.
  const args = ["run", "-A", "--no-code-cache", PROGRAM, folder.path, `${8 * 2 ** 20}`];
  const output = await new Deno.Command(Deno.execPath(), { args, ...PLAIN }).output();
  assertOldIsLeft(output, "8 MiB to a file; raise its limit (ulimit -f)");
});

function assertOldIsLeft({ code, stdout, stderr }: Deno.CommandOutput, reason: string): void {
  assertEquals(code, 0, new TextDecoder().decode(stderr));
  const reports: FullDiskReport[] = JSON.parse(new TextDecoder().decode(stdout));
  assertEquals(reports.length, 7);
  for (const { name, message, files, isOld } of reports) {
    assertEquals({ name, files, isOld }, { name, files: { old: 2 ** 20 }, isOld: true });
    const isSmall = name.startsWith("a small file");
    assert(isSmall ? message === undefined : message?.endsWith(reason), message);
  }
}

async function mountsSmallDisk(): Promise<boolean> {
  try {
    using folder = new TemporaryFolder();
    const args = [...ON_SMALL_DISK, folder.path, "true"];
    return (await new Deno.Command("unshare", { args, stderr: "null" }).output()).success;
  } catch {
    return false;
  }
}
