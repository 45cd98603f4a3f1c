// What repeats while other cells run: the meter and the warning about re-run cells.

import { assert, assertEquals, assertMatch, assertStringIncludes, assertThrows } from "@std/assert";
import { setTimeout as delay } from "node:timers/promises";
import { CellRuns } from "../../src/accounting/cell_runs.ts";
import type { DisplayBundle } from "../../src/cards/show_card.ts";
import type { LiveObject } from "../../src/device/live_query.ts";
import { memoryMeter, systemMeter } from "../../src/notebook/device_meters.ts";
import { LiveWatch } from "../../src/notebook/live_watch.ts";
import { heldByEarlierRuns, warnOfReruns } from "../../src/notebook/reruns.ts";
import { openTestDevice } from "../support/driver.ts";
import { captureWarnings, CaughtWarnings } from "../support/warnings.ts";
import { testOnDevice, withDevice } from "../support/with_device.ts";

/** Keeps what it is told to show. */
class RecordingDisplay {
  readonly texts: string[] = [];

  show(bundle: DisplayBundle): void {
    this.texts.push(bundle["text/plain"]);
  }
}

function block(fields: Partial<LiveObject>): LiveObject {
  return {
    id: 1,
    kind: "device",
    label: undefined,
    name: "weights",
    byteLength: 1024,
    ageSeconds: 1,
    origin: undefined,
    scope: undefined,
    stack: ["cell:3:7"],
    ...fields,
  };
}

Deno.test("memoryMeter() refuses a value that is not a device", () => {
  const words = "Cannot start a memory meter: it was given the number 5, expected a device";
  const display = new RecordingDisplay();
  assertThrows(() => memoryMeter(5 as never, { display }), TypeError, words);
});

Deno.test("memoryMeter() shows the device at once and again later, until it is stopped", () =>
  withDevice(async (gpu) => {
    const display = new RecordingDisplay();
    const meter = memoryMeter(gpu, { intervalSeconds: 0.005, display });
    assertEquals(display.texts.length, 1);
    assertStringIncludes(display.texts[0] ?? "", gpu.name);
    while (display.texts.length < 3) await delay(5);
    assertMatch(
      display.texts.at(-1) ?? "",
      /read at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d, and kept up to date/,
    );
    meter.stop();
    const { length } = display.texts;
    assertMatch(display.texts.at(-1) ?? "", /read at [\d: -]+; this memory meter has ended$/);
    await delay(30);
    assertEquals(display.texts.length, length);
  }));

testOnDevice("memoryMeter() looks once in a month when it is told to", async (gpu) => {
  const display = new RecordingDisplay();
  using _meter = memoryMeter(gpu, { intervalSeconds: 30 * 86_400, display });
  await delay(30);
  assertEquals(display.texts.length, 1);
});

testOnDevice("memoryMeter() takes the place of a former one of the same device", (gpu) => {
  const display = new RecordingDisplay();
  const first = memoryMeter(gpu, { display });
  using second = memoryMeter(gpu, { display });
  assertEquals([first.isRunning, second.isRunning], [false, true]);
  assertEquals(first.toString(), "memory meter, stopped");
  assertEquals(second.toString(), "memory meter, until its cell runs again");
});

testOnDevice("memoryMeter() says what to use instead outside notebooks", (gpu) => {
  assertThrows(() => memoryMeter(gpu), TypeError, "not a notebook; print gpu.report()");
});

testOnDevice("systemMeter() shows the system's card beside a memory meter", (gpu) => {
  const [system, memory] = [new RecordingDisplay(), new RecordingDisplay()];
  using meter = systemMeter(gpu, { display: system });
  using other = memoryMeter(gpu, { display: memory });
  assertEquals([meter.isRunning, other.isRunning], [true, true]);
  assertStringIncludes(system.texts[0] ?? "", `SystemState ${gpu.name}`);
  assertThrows(() => systemMeter(gpu), TypeError, "not a notebook; print gpu.system()");
});

Deno.test("LiveWatch ends when its device is disposed", async () => {
  const gpu = openTestDevice();
  const watch = LiveWatch.start(gpu, { name: "test", intervalSeconds: 0.005, look: () => {} });
  gpu.dispose();
  while (watch.isRunning) await delay(5);
});

Deno.test("memoryMeter() says that it has ended when its device is disposed", async () => {
  const gpu = openTestDevice();
  const display = new RecordingDisplay();
  const meter = memoryMeter(gpu, { display, intervalSeconds: 0.005 });
  gpu.dispose();
  while (meter.isRunning) await delay(5);
  const words = "this memory meter has ended: its device was disposed";
  assertMatch(display.texts.at(-1) ?? "", new RegExp(`live 0 B.*read at [\\d: -]+; ${words}`, "s"));
});

Deno.test("memoryMeter() tells of a display that fails later, and goes on", async () => {
  using warnings = new CaughtWarnings();
  using gpu = openTestDevice();
  let count = 0;
  const show = async () => {
    count++;
    await undefined;
    throw new Error("the page is gone");
  };
  using _meter = memoryMeter(gpu, { intervalSeconds: 0.005, display: { show } });
  while (count < 3) await delay(5);
  const told = "vramkit: memory meter: its display failed: the page is gone";
  assertEquals(warnings.texts.slice(0, 2), [told, told]);
});

testOnDevice("LiveWatch ends, and throws nothing, when looking fails", async (gpu) => {
  let count = 0;
  const look = (): void => {
    if (++count > 1) throw new Error("no longer there");
  };
  const { warn } = console;
  console.warn = () => {};
  try {
    const watch = LiveWatch.start(gpu, { name: "test", intervalSeconds: 0.005, look });
    while (watch.isRunning) await delay(5);
  } finally {
    console.warn = warn;
  }
  assertEquals(count, 2);
});

/** A cell made what has the numbers up to 10, ran again, and made what has those up to 20. */
function twoRuns({ secondNumber = 4 }: { readonly secondNumber?: number } = {}): CellRuns {
  const runs = new CellRuns();
  runs.end({ number: 3, lastId: 10, time: 100 });
  runs.end({ number: secondNumber, lastId: 20, time: 101 });
  return runs;
}

Deno.test("heldByEarlierRuns() finds blocks of one place, made by two runs at nearly one time", () => {
  const [earlier, later] = [block({ id: 1 }), block({ id: 11 })];
  assertEquals(heldByEarlierRuns([later, earlier], twoRuns()), [[earlier]]); // not the run that is shown
});

Deno.test("heldByEarlierRuns() takes unlabelled blocks of one place and size for the same", () => {
  const [earlier, later] = [
    block({ id: 1, name: "device#1" }),
    block({ id: 11, name: "device#11" }),
  ];
  assertEquals(heldByEarlierRuns([later, earlier], twoRuns()).length, 1);
  assertEquals(heldByEarlierRuns([{ ...later, byteLength: 8 }, earlier], twoRuns()), []);
});

Deno.test("heldByEarlierRuns() leaves a slow loop of one run alone", () => {
  const blocks = [block({ id: 11, ageSeconds: 60 }), block({ id: 12, ageSeconds: 1 })];
  assertEquals(heldByEarlierRuns(blocks, twoRuns()), []);
});

Deno.test("heldByEarlierRuns() tells runs apart by time where cells failed", () => {
  const runs = twoRuns({ secondNumber: 5 });
  const [failed, again] = [block({ id: 11, ageSeconds: 60 }), block({ id: 12, ageSeconds: 1 })];
  assertEquals(heldByEarlierRuns([again, failed], runs), [[failed]]);
  assertEquals(heldByEarlierRuns([again, block({ id: 13, ageSeconds: 1.1 })], runs), []);
});

Deno.test("heldByEarlierRuns() leaves out cells that ran once", () => {
  const made = block({ id: 1 });
  const others = {
    "made on another line": block({ id: 11, stack: ["cell:4:7"] }),
    "made under another label": block({ id: 11, name: "bias" }),
    "made in a file": block({ id: 11, stack: ["main.ts:3:7"] }),
    "a stream": block({ id: 11, byteLength: 0 }),
  };
  for (const [why, other] of Object.entries(others)) {
    assertEquals(heldByEarlierRuns([made, other], twoRuns()), [], why);
  }
});

testOnDevice("warnOfReruns() shows nothing while nothing is left behind", (gpu) => {
  const display = new RecordingDisplay();
  const warnings = captureWarnings(() => {
    using watch = warnOfReruns(gpu, { display });
    assert(watch.isRunning);
  });
  assertEquals([display.texts, warnings], [[], []]);
});
