// A file that takes the place of another: at no step is there half of one, and what is left of a
// failure, of a killed program, of links and of permissions.

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { basename } from "node:path";
import { factsAt } from "../../../src/disk/file_facts.ts";
import { FileReplacement, temporaryBeside } from "../../../src/disk/file_replacement.ts";
import { makePipe, namesIn, openPathsIn } from "../../support/files.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";

const OLD = Uint8Array.of(1, 2, 3, 4);
const NEW = Uint8Array.of(9, 8);

/** Prepares to write {@link NEW} over a file. */
function replace(path: string, options: { sync?: boolean } = {}): FileReplacement {
  const place = { path, realPath: path };
  return new FileReplacement(place, { byteLength: NEW.byteLength, sync: options.sync ?? false });
}

function begun(path: string, options: { sync?: boolean } = {}): FileReplacement {
  const write = replace(path, options);
  assert(write.tryBegin());
  return write;
}

function modeOf(path: string): number {
  return (Deno.statSync(path).mode ?? 0) & 0o7777;
}

for (const sync of [false, true]) {
  const how = sync ? " that waits for the disk" : "";

  Deno.test(`FileReplacement.commit()${how} puts the new file into the place of the old one`, async () => {
    using folder = new TemporaryFolder();
    const path = folder.write("file", OLD);
    const write = begun(path, { sync });
    await write.file.write(NEW, 0);
    assertEquals(Deno.readFileSync(path), OLD);
    await write.commit();
    assertEquals(Deno.readFileSync(path), NEW);
    assertEquals(namesIn(folder), ["file"]);
  });

  Deno.test(`FileReplacement.commitSync()${how} does the same without a turn of the event loop`, () => {
    using folder = new TemporaryFolder();
    const path = folder.pathOf("file");
    const write = begun(path, { sync });
    write.file.writeSync(NEW, 0);
    assertEquals(namesIn(folder), [".file.vramkit-saving"]);
    write.commitSync();
    assertEquals(Deno.readFileSync(path), NEW);
    assertEquals(namesIn(folder), ["file"]);
  });

  Deno.test(`FileReplacement.commitSync()${how} may come while commit() is under way, and again`, async () => {
    using folder = new TemporaryFolder();
    const path = folder.write("file", OLD);
    const write = begun(path, { sync });
    write.file.writeSync(NEW, 0);
    const pending = write.commit();
    write.commitSync();
    assertEquals(Deno.readFileSync(path), NEW);
    Deno.writeFileSync(path, OLD); // somebody else's since then
    await pending;
    write.commitSync();
    write.abandon();
    assertEquals(Deno.readFileSync(path), OLD);
    assertEquals(openPathsIn(folder), []);
  });
}

Deno.test("FileReplacement.abandon() leaves the old file and nothing else", () => {
  using folder = new TemporaryFolder();
  const path = folder.write("file", OLD);
  const write = begun(path);
  write.file.writeSync(NEW, 0);
  write.abandon();
  write.abandon();
  assertEquals(Deno.readFileSync(path), OLD);
  assertEquals(namesIn(folder), ["file"]);
  assertEquals(openPathsIn(folder), []);
});

Deno.test("FileReplacement.tryBegin() finds room for the bytes, and none for other users", () => {
  using folder = new TemporaryFolder();
  const path = folder.write("file", OLD);
  const write = begun(path);
  const temporary = factsAt(temporaryBeside(path));
  assertEquals([temporary?.byteLength, temporary?.mode], [NEW.byteLength, 0o600]);
  write.abandon();
});

Deno.test("FileReplacement.tryBegin() clears what a killed program left", () => {
  using folder = new TemporaryFolder();
  const path = folder.write("file", OLD);
  folder.write(".file.vramkit-saving", new Uint8Array(1000));
  Deno.chmodSync(temporaryBeside(path), 0o400);
  const write = begun(path);
  assertEquals(factsAt(temporaryBeside(path))?.byteLength, NEW.byteLength);
  write.file.writeSync(NEW, 0);
  write.commitSync();
  assertEquals(Deno.readFileSync(path), NEW);
  assertEquals(namesIn(folder), ["file"]);
});

Deno.test("FileReplacement.tryBegin() waits for whoever has the lock, and does not touch his file", () => {
  using folder = new TemporaryFolder();
  const path = folder.write("file", OLD);
  const temporary = folder.write(".file.vramkit-saving", new Uint8Array(1000));
  {
    using other = Deno.openSync(temporary, { write: true });
    other.lockSync(true);
    assertEquals([replace(path).tryBegin(), begunBy(path)], [false, 1000]);
  }
  begun(path).abandon();
  assertEquals(openPathsIn(folder), []);

  function begunBy(path: string): number | undefined {
    return factsAt(temporaryBeside(path))?.byteLength;
  }
});

Deno.test("FileReplacement.tryBegin() refuses a link, a folder and a pipe in its way", async () => {
  using folder = new TemporaryFolder();
  const path = folder.write("file", OLD);
  const temporary = temporaryBeside(path);
  const precious = folder.write("precious", OLD);
  const ways: readonly [kind: string, make: () => unknown][] = [
    ["link", () => Deno.symlinkSync(precious, temporary)],
    ["folder", () => Deno.mkdirSync(temporary)],
    ["pipe", () => makePipe(folder, basename(temporary))],
  ];
  for (const [kind, make] of ways) {
    await make();
    const message = `.file.vramkit-saving: it is a ${kind}, expected a regular file`;
    assertThrows(() => replace(path).tryBegin(), TypeError, message);
    assertEquals(Deno.readFileSync(precious), OLD);
    Deno.removeSync(temporary);
  }
});

Deno.test("FileReplacement.tryBegin() refuses what no file can take the place of", async () => {
  using folder = new TemporaryFolder();
  const pipe = await makePipe(folder, "pipe");
  assertThrows(() => replace(pipe).tryBegin(), TypeError, "it is a pipe, expected a regular file");
  assertThrows(() => replace(folder.path).tryBegin(), TypeError, "it is a folder");
  const remedy = "no other file can take its place; pass { inPlace: true }";
  assertThrows(() => replace("/dev/null").tryBegin(), TypeError, remedy);
  assertEquals(namesIn(folder), ["pipe"]);
});

Deno.test("FileReplacement.commit() keeps the permissions of the old file", () => {
  using folder = new TemporaryFolder();
  for (const mode of [0o600, 0o644, 0o640, 0o777, 0o2755, 0o4711]) {
    const path = folder.write("file", OLD);
    Deno.chmodSync(path, mode);
    const write = begun(path);
    write.commitSync();
    assertEquals(modeOf(path), mode);
    assertEquals(factsAt(path)?.byteLength, NEW.byteLength);
  }
});

Deno.test("FileReplacement.commit() gives a new file the permissions of any new file", () => {
  using folder = new TemporaryFolder();
  const usual = modeOf(folder.write("usual", OLD));
  begun(folder.pathOf("file")).commitSync();
  assertEquals(modeOf(folder.pathOf("file")), usual);
});

Deno.test("FileReplacement.commit() leaves other names of the old file, and who reads it, alone", async () => {
  using folder = new TemporaryFolder();
  const path = folder.write("file", OLD);
  Deno.linkSync(path, folder.pathOf("name"));
  using reader = Deno.openSync(path);
  const write = begun(path);
  await write.file.write(NEW, 0);
  await write.commit();
  assertEquals(Deno.readFileSync(folder.pathOf("name")), OLD);
  const bytes = new Uint8Array(8);
  assertEquals([reader.readSync(bytes), bytes.slice(0, 4)], [4, OLD]);
});

Deno.test("FileReplacement.commit() fails when its file was taken away, and touches no other", async () => {
  using folder = new TemporaryFolder();
  const path = folder.write("file", OLD);
  const write = begun(path);
  Deno.removeSync(temporaryBeside(path));
  const other = folder.write(".file.vramkit-saving", Uint8Array.of(5));
  await assertRejects(() => write.commit(), Error, "was removed meanwhile");
  write.abandon();
  assertEquals([Deno.readFileSync(path), Deno.readFileSync(other)], [OLD, Uint8Array.of(5)]);
  assertEquals(openPathsIn(folder), []);
});

Deno.test("FileReplacement.commit() replaces no folder that came meanwhile", async () => {
  using folder = new TemporaryFolder();
  const path = folder.pathOf("file");
  const write = begun(path);
  Deno.mkdirSync(path);
  await assertRejects(() => write.commit(), TypeError, "it is a folder");
  write.abandon();
  assertEquals(namesIn(folder), ["file"]);
});

Deno.test("temporaryBeside() names one short file for one path", () => {
  assertEquals(temporaryBeside("/a/model.bin"), "/a/.model.bin.vramkit-saving");
  const long = `/a/${"ü".repeat(125)}`;
  const name = temporaryBeside(long).slice(3);
  assert(/^\.[0-9a-f]{16}\.vramkit-saving$/.test(name));
  assertEquals(temporaryBeside(long).slice(3), name);
  assert(temporaryBeside(`/a/${"ü".repeat(124)}n`).slice(3) !== name);
});
