// Files that are read: what is there when earlier calls are over, and words for what cannot be read.

import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { setTimeout as delay } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { FileReading } from "../../../src/disk/file_reading.ts";
import { FileTurn } from "../../../src/disk/file_turns.ts";
import { writeInto } from "../../../src/transfer/gathered_transfer.ts";
import { produceFile } from "../../../src/transfer/produce_file.ts";
import type { Step } from "../../../src/transfer/stepped_work.ts";
import { makePipe, openPathsIn } from "../../support/files.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";

const BYTES = Uint8Array.of(1, 2, 3);

function aWhile(): Step {
  const promise = delay(5);
  return { promise, finishNow: () => false };
}

Deno.test("FileReading.open() opens a file behind links, and closes it when it is disposed", () => {
  using folder = new TemporaryFolder();
  folder.write("file", BYTES);
  Deno.symlinkSync("file", folder.pathOf("link"));
  {
    using reading = new FileReading(folder.pathOf("link"));
    const { file, byteLength } = reading.open();
    const bytes = new Uint8Array(byteLength);
    file.readSync(bytes, 0);
    assertEquals(bytes, BYTES);
  }
  assertEquals(openPathsIn(folder), []);
});

Deno.test("FileReading of a worker that is terminated is closed with it", async () => {
  using folder = new TemporaryFolder();
  folder.write("file", BYTES);
  const program = new URL("../../support/reading_worker.ts", import.meta.url);
  const worker = new Worker(program, { workerData: { path: folder.pathOf("file") } });
  assertEquals(await new Promise((resolve) => worker.once("message", resolve)), BYTES.length);
  assertEquals(openPathsIn(folder).length, 1);
  await worker.terminate();
  for (let look = 0; look < 1000 && openPathsIn(folder).length > 0; look++) await delay(5);
  assertEquals(openPathsIn(folder), []);
});

Deno.test("FileReading.open() says what is wrong, with the path", async () => {
  using folder = new TemporaryFolder();
  folder.write("a b", BYTES);
  Deno.symlinkSync("none", folder.pathOf("dangling"));
  const pipe = await makePipe(folder, "pipe");
  const opens = (path: string) => () => {
    using reading = new FileReading(path);
    reading.open();
  };
  const { NotFound } = Deno.errors;
  const [none, dangling] = [folder.pathOf("none"), folder.pathOf("dangling")];
  assertThrows(opens(none), NotFound, `Cannot open ${none}: it does not exist`);
  assertThrows(opens(dangling), NotFound, `Cannot open ${dangling}: it is a link to none, which`);
  const escaped = folder.pathOf("a%20b");
  const advice = `Cannot open ${escaped}: it does not exist, but ${folder.pathOf("a b")} is; ` +
    `pass a URL`;
  assertThrows(opens(escaped), NotFound, advice);
  assertThrows(opens(folder.pathOf("a%00b")), NotFound, "it does not exist");
  assertThrows(opens(folder.path), TypeError, "it is a folder, expected a regular file");
  assertThrows(opens(pipe), TypeError, "it is a pipe, expected a regular file");
  assertThrows(opens("/dev/zero"), TypeError, "it is a device, expected a regular file");
  assertEquals(openPathsIn(folder), []);
});

Deno.test("FileReading comes after what earlier calls write, and before what later ones do", async () => {
  using folder = new TemporaryFolder();
  Deno.symlinkSync(folder.path, folder.pathOf("link"));
  const write = (value: number) =>
    produceFile({ path: folder.pathOf("file"), byteLength: 1, uses: [] }, function* (file) {
      yield aWhile();
      yield* writeInto(file, Uint8Array.of(value), 0);
    });
  const read = async () => {
    using reading = new FileReading(folder.pathOf("link/file"));
    const { file } = await reading.opened();
    const bytes = new Uint8Array(1);
    await file.read(bytes, 0);
    return bytes[0];
  };
  const [, first, , second] = await Promise.all([write(1), read(), write(2), read()]);
  assertEquals([first, second], [1, 2]);
});

Deno.test("FileReading.opened() resolves when the writers before it are over, also those that fail", async () => {
  using folder = new TemporaryFolder();
  const path = folder.write("file", BYTES);
  let isOver = false;
  const failing = produceFile({ path, byteLength: 1, uses: [] }, function* () {
    yield aWhile();
    isOver = true;
    throw new Error("enough");
  });
  using reading = new FileReading(path);
  const due = reading.opened().then(() => isOver);
  await assertRejects(() => failing, Error, "enough");
  assertEquals(await due, true);
});

Deno.test("FileReading.opened() rejects with the reason of its signal", async () => {
  using folder = new TemporaryFolder();
  const path = folder.write("file", BYTES);
  using _writer = new FileTurn(Deno.realPathSync(path), "replace");
  using reading = new FileReading(path);
  assertEquals(reading.isDue, false);
  const signal = AbortSignal.abort(new Error("enough"));
  await assertRejects(() => reading.opened(signal), Error, "enough");
});

Deno.test("FileReading reads on from the old file when another one takes its place", async () => {
  using folder = new TemporaryFolder();
  const path = folder.write("file", BYTES);
  using reading = new FileReading(path);
  await produceFile(
    { path, byteLength: 1, uses: [] },
    (file) => writeInto(file, BYTES.slice(1), 0),
  );
  assertEquals(Deno.readFileSync(path), BYTES.slice(1));
  const bytes = new Uint8Array(3);
  reading.open().file.readSync(bytes, 0);
  assertEquals(bytes, BYTES);
});
