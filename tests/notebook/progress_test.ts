// Progress of transfers: how often it is drawn, and what it says.

import { assert, assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { setTimeout as delay } from "node:timers/promises";
import { progress, ProgressBar } from "../../src/notebook/progress_bar.ts";
import {
  LogSurface,
  type ProgressState,
  type ProgressSurface,
  TerminalSurface,
} from "../../src/notebook/progress_surfaces.ts";
import { CaughtWarnings } from "../support/warnings.ts";
import { testOnDevice, withDevice } from "../support/with_device.ts";

/** Keeps what it is told to draw. */
class RecordingSurface implements ProgressSurface {
  readonly drawn: ProgressState[] = [];
  readonly finished: ProgressState[] = [];

  constructor(readonly pauseMilliseconds: number) {}

  draw(state: ProgressState): void {
    this.drawn.push(state);
  }

  finish(state: ProgressState): void {
    this.finished.push(state);
  }
}

function captureLog(body: () => void): string[] {
  const lines: string[] = [];
  const { error } = console;
  console.error = (...words: unknown[]) => void lines.push(words.join(" "));
  try {
    body();
  } finally {
    console.error = error;
  }
  return lines;
}

/** Returns what is written to a terminal of a width. */
function captureTerminal(
  columns: number,
  body: (bar: ProgressBar) => void,
  surface = new TerminalSurface(),
): string[] {
  const written: string[] = [];
  const { writeSync } = Deno.stderr;
  const { consoleSize } = Deno;
  Deno.stderr.writeSync = (bytes) => written.push(new TextDecoder().decode(bytes));
  Deno.consoleSize = () => ({ columns, rows: 24 });
  try {
    body(new ProgressBar("files", surface));
  } finally {
    Deno.stderr.writeSync = writeSync;
    Deno.consoleSize = consoleSize;
  }
  return written;
}

Deno.test("ProgressBar.update() prints a line for each tenth where nothing can be redrawn", () => {
  const lines = captureLog(() => {
    const bar = new ProgressBar("Measuring", new LogSurface());
    for (let done = 1; done <= 100; done++) bar.update(done, 100);
    bar.finish();
  });
  assertEquals(lines.length, 11);
  assertEquals([lines[0], lines.at(-1)], ["Measuring: 0 %", "Measuring: 100 %"]);
});

Deno.test("ProgressBar.update() fills a terminal's bar when more is done than there was to do", () => {
  const written = captureTerminal(80, (bar) => bar.update(12, 10));
  assertEquals(written, [`\r\x1b[Kfiles ${"█".repeat(30)} 12/10`]);
});

Deno.test("ProgressBar.update() keeps to one line of a narrow terminal", () => {
  for (const columns of [5, 20, 24, 33, 60]) {
    const [line = ""] = captureTerminal(columns, (bar) => bar.update(5, 10, "5 of 10 in 3 s"));
    assertEquals(line.slice(4).length < columns, true, `${columns}: ${line}`);
    if (columns > 30) assertMatch(line.slice(4), /^files █+░+ 5 of 10 in 3 s$/);
  }
});

Deno.test("ProgressBar.finish() leaves its last line in a terminal, unless told otherwise", () => {
  const finish = (bar: ProgressBar) => {
    bar.update(10, 10, "10 of 10 MiB in 3 s");
    bar.finish();
  };
  assertMatch(captureTerminal(80, finish).join(""), /files █+ 10 of 10 MiB in 3 s\n$/);
  const cleared = captureTerminal(80, finish, new TerminalSurface({ keepsLine: false }));
  assertEquals(cleared.at(-1), "\r\x1b[K");
});

Deno.test("progress() counts bytes in one unit from start to end", () => {
  const surface = new RecordingSurface(0);
  const report = progress("weights", { surface });
  for (const done of [2 ** 10, 2 ** 28, 2 ** 30]) report(done, 2 ** 30);
  const amounts = surface.drawn.map(({ words }) => words.split(/,| in /)[0]);
  assertEquals(amounts, ["0 of 1 GiB", "0.25 of 1 GiB", "1 of 1 GiB"]);
});

Deno.test("ProgressBar.stop() leaves its words on a line of their own", () => {
  const written = captureTerminal(80, (bar) => bar.stop("stopped at 1 MiB"));
  assertMatch(written.join(""), / stopped at 1 MiB\n$/);
  const lines = captureLog(() =>
    new ProgressBar("files", new LogSurface()).stop("stopped at 1 MiB")
  );
  assertEquals(lines, ["files: stopped at 1 MiB"]);
});

Deno.test("ProgressBar.update() draws no more often than its surface wants", () => {
  const surface = new RecordingSurface(60_000);
  const bar = new ProgressBar("weights", surface);
  for (let done = 1; done <= 100; done++) bar.update(done, 100);
  bar.finish();
  assertEquals(surface.drawn.map(({ done }) => done), [1]);
  assertEquals(surface.finished.map(({ done }) => done), [100]);
});

Deno.test("progress() says amount, speed and time left, and finishes with the last byte", () => {
  const surface = new RecordingSurface(0);
  const report = progress("weights", { surface });
  report(2 ** 20, 2 ** 22);
  report(2 ** 22, 2 ** 22);
  assertMatch(surface.drawn[0]?.words ?? "", /^1 of 4 MiB, .* GB\/s, .* left$/);
  assertMatch(surface.finished[0]?.words ?? "", /^4 of 4 MiB in .*, .* GB\/s$/);
  assertEquals(surface.finished.length, 1);
});

Deno.test("progress() names no total while a stream's length is unknown", () => {
  const surface = new RecordingSurface(0);
  const report = progress("download", { surface });
  report(2 ** 20, Infinity);
  report(2 ** 20, 2 ** 20);
  assertMatch(surface.drawn[0]?.words ?? "", /^1\.0 MiB, [^,]* GB\/s$/);
  assertMatch(surface.finished[0]?.words ?? "", /^1 of 1 MiB in /);
});

Deno.test("progress() counts what it is told to count", () => {
  const surface = new RecordingSurface(0);
  const report = progress("sweep", { unit: "points", surface });
  report(3, 4);
  report(4, 4);
  assertMatch(surface.drawn[0]?.words ?? "", /^3 of 4 points, .* left$/);
  assertMatch(surface.finished[0]?.words ?? "", /^4 of 4 points in /);
});

Deno.test("progress() counts the measurements of a sweep, not bytes", async () => {
  const surface = new RecordingSurface(0);
  await withDevice(async (gpu) => {
    const onProgress = progress("sweep", { surface });
    await gpu.bandwidth({ sizes: ["4 KiB"], kinds: ["pinned"], onProgress });
  });
  assertMatch(surface.drawn[0]?.words ?? "", /^1 of 3 measurements, .* left$/);
  assertMatch(surface.finished[0]?.words ?? "", /^3 of 3 measurements in /);
});

Deno.test("progress() begins its clock again for the job after one that is done", () => {
  const surface = new RecordingSurface(0);
  let milliseconds = 0;
  Object.defineProperty(performance, "now", { value: () => milliseconds, configurable: true });
  try {
    const report = progress("batch", { unit: "steps", surface });
    for (milliseconds of [3000, 5000]) report(4, 4);
  } finally {
    Reflect.deleteProperty(performance, "now"); // the class's own is seen again
  }
  assertEquals(surface.finished.map(({ words }) => words), [
    "4 of 4 steps in 3.0 s",
    "4 of 4 steps in 2.0 s",
  ]);
});

testOnDevice("progress() follows an upload to its end", async (gpu) => {
  const surface = new RecordingSurface(0);
  const onProgress = progress("weights", { surface });
  using _x = await gpu.upload(new Uint8Array(2 ** 20), { onProgress });
  const [last] = surface.finished;
  assert(last !== undefined);
  assertEquals([last.done, last.total], [2 ** 20, 2 ** 20]);
});

testOnDevice("progress() says that its job was stopped, and nothing after it", async (gpu) => {
  const surface = new RecordingSurface(0);
  const abort = new AbortController();
  const bar = progress("weights", { surface, signal: abort.signal });
  const onProgress = (done: number, total: number): void => {
    bar(done, total);
    if (done < total) abort.abort();
  };
  using x = gpu.alloc("uint8", 2 ** 26);
  const uploading = x.upload(new Uint8Array(2 ** 26), { onProgress, signal: abort.signal });
  await assertRejects(() => uploading, DOMException);
  assertMatch(surface.drawn.at(-1)?.words ?? "", /^stopped at .* of 64 MiB$/);
  bar(2 ** 26, 2 ** 26);
  assertEquals(surface.finished, []);
});

Deno.test("progress() says that nothing comes any more, and goes on when something does", async () => {
  const surface = new RecordingSurface(0);
  const report = progress("weights", { surface, stallSeconds: 0.01 });
  report(2 ** 20, 2 ** 21);
  while (surface.drawn.length < 2) await delay(5);
  assertEquals(surface.drawn[1]?.words, "1 of 2 MiB, nothing came for 10.0 ms");
  report(2 ** 21, 2 ** 21);
  assertEquals(surface.finished.length, 1);
  const patient = new RecordingSurface(0);
  const slow = progress("weights", { surface: patient, stallSeconds: 1e9 });
  slow(1, 2);
  await delay(30);
  assertEquals(patient.drawn.length, 1);
  slow(2, 2);
  assertThrows(() => progress("weights", { stallSeconds: 0 }), RangeError, "above 0");
});

Deno.test("progress() tells of a surface that fails where nobody calls it, and of one that fails later", async () => {
  using warnings = new CaughtWarnings();
  const controller = new AbortController();
  const late = async () => {
    await undefined;
    throw new Error("late");
  };
  const surface = {
    pauseMilliseconds: 0,
    draw: late,
    finish: late,
    stop: () => {
      throw new Error("at once");
    },
  };
  const report = progress("weights", { surface, signal: controller.signal, stallSeconds: 0.001 });
  report(1, 10);
  await delay(30);
  report(10, 10);
  progress("weights", { surface, signal: controller.signal })(1, 10);
  controller.abort();
  await delay(0);
  const count = (why: string) =>
    warnings.texts.filter((text) => text === `vramkit: a progress bar could not be drawn: ${why}`)
      .length;
  assertEquals([count("late"), count("at once"), warnings.texts.length], [4, 2, 6]);
});
