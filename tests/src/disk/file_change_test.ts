// Bytes written into a file itself: only those that were asked for, and the size that it had when
// that fails.

import { assert, assertEquals, assertThrows } from "@std/assert";
import { type ChangeOptions, FileChange } from "../../../src/disk/file_change.ts";
import { makePipe, namesIn, openPathsIn } from "../../support/files.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";

const OLD = Uint8Array.of(1, 2, 3, 4);

function change(path: string, options: Partial<ChangeOptions>): FileChange {
  const place = { path, realPath: path };
  const rest = { fileOffset: undefined, byteLength: 2, inPlace: false, sync: false };
  return new FileChange(place, { ...rest, ...options });
}

function begun(path: string, options: Partial<ChangeOptions>): FileChange {
  const write = change(path, options);
  assert(write.tryBegin());
  return write;
}

for (const sync of [false, true]) {
  const how = sync ? " that waits for the disk" : "";

  Deno.test(`FileChange.commit()${how} at an offset changes those bytes alone`, async () => {
    using folder = new TemporaryFolder();
    const path = folder.write("file", OLD);
    const inside = begun(path, { fileOffset: 1, sync });
    await inside.file.write(Uint8Array.of(8, 9), 1);
    await inside.commit();
    assertEquals(Deno.readFileSync(path), Uint8Array.of(1, 8, 9, 4));
    const beyond = begun(path, { fileOffset: 5, sync });
    beyond.file.writeSync(Uint8Array.of(6, 7), 5);
    beyond.commitSync();
    assertEquals(Deno.readFileSync(path), Uint8Array.of(1, 8, 9, 4, 0, 6, 7));
    assertEquals(openPathsIn(folder), []);
  });

  Deno.test(`FileChange.commit()${how} makes a file that does not exist`, async () => {
    using folder = new TemporaryFolder();
    const path = folder.pathOf("file");
    const write = begun(path, { fileOffset: 1, sync });
    write.file.writeSync(Uint8Array.of(8, 9), 1);
    const pending = write.commit();
    write.commitSync();
    await pending;
    assertEquals(Deno.readFileSync(path), Uint8Array.of(0, 8, 9));
  });
}

Deno.test("FileChange.abandon() gives a file its size back, and the bytes around it stay", () => {
  using folder = new TemporaryFolder();
  const path = folder.write("file", OLD);
  const write = begun(path, { fileOffset: 3, byteLength: 100 });
  write.file.writeSync(Uint8Array.of(8, 9), 3);
  assertEquals(Deno.statSync(path).size, 103);
  write.abandon();
  write.abandon();
  assertEquals(Deno.readFileSync(path), Uint8Array.of(1, 2, 3, 8));
  assertEquals(openPathsIn(folder), []);
});

Deno.test("FileChange.abandon() cuts off nothing that somebody else added", () => {
  using folder = new TemporaryFolder();
  const path = folder.write("file", OLD);
  const write = begun(path, { fileOffset: 4 });
  Deno.writeFileSync(path, Uint8Array.of(5), { append: true });
  write.abandon();
  assertEquals(Deno.statSync(path).size, 7);
});

Deno.test("FileChange.abandon() removes a file that it made, and no other", () => {
  using folder = new TemporaryFolder();
  begun(folder.pathOf("made"), { fileOffset: 0 }).abandon();
  assertEquals(namesIn(folder), []);
  const replaced = begun(folder.pathOf("made"), { fileOffset: 0 });
  Deno.removeSync(folder.pathOf("made"));
  folder.write("made", OLD);
  replaced.abandon();
  assertEquals(Deno.readFileSync(folder.pathOf("made")), OLD);
});

Deno.test("FileChange with inPlace writes over all that a file held", async () => {
  using folder = new TemporaryFolder();
  const path = folder.write("file", OLD);
  Deno.linkSync(path, folder.pathOf("name"));
  const write = begun(path, { inPlace: true });
  await write.file.write(Uint8Array.of(8, 9), 0);
  await write.commit();
  assertEquals(Deno.readFileSync(folder.pathOf("name")), Uint8Array.of(8, 9));
});

Deno.test("FileChange with inPlace leaves an empty file when it fails, never half of one", () => {
  using folder = new TemporaryFolder();
  const path = folder.write("file", OLD);
  const write = begun(path, { inPlace: true });
  write.file.writeSync(Uint8Array.of(8), 0);
  write.abandon();
  assertEquals(Deno.readFileSync(path), new Uint8Array());
});

Deno.test("FileChange.tryBegin() waits for whoever has the lock", () => {
  using folder = new TemporaryFolder();
  const path = folder.write("file", OLD);
  {
    using other = Deno.openSync(path, { write: true });
    other.lockSync(true);
    assertEquals(change(path, { fileOffset: 0 }).tryBegin(), false);
  }
  begun(path, { fileOffset: 0 }).commitSync();
  assertEquals(Deno.readFileSync(path), OLD);
});

Deno.test("FileChange.tryBegin() refuses folders and pipes, and devices unless they are wanted", async () => {
  using folder = new TemporaryFolder();
  const pipe = await makePipe(folder, "pipe");
  const begins = (path: string, inPlace: boolean) => () => change(path, { inPlace }).tryBegin();
  assertThrows(begins(pipe, true), TypeError, "it is a pipe, expected a regular file");
  assertThrows(begins(folder.path, true), TypeError, "it is a folder, expected a regular file");
  assertThrows(begins("/dev/null", false), TypeError, "it is a device; pass { inPlace: true }");
  const write = begun("/dev/null", { inPlace: true });
  await write.file.write(OLD, 0);
  await write.commit();
});

Deno.test("FileChange.file says that it is not open before it has begun, and afterwards", async () => {
  using folder = new TemporaryFolder();
  const path = folder.write("file", OLD);
  const write = change(path, { fileOffset: 0 });
  assertThrows(() => write.file, Error, `Cannot write ${path}: it is not open`);
  write.tryBegin();
  await write.commit();
  assertThrows(() => write.file, Error, "it is not open");
});
