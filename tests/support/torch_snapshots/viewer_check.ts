// Compares our figures with those that PyTorch's own viewer shows, which is no part of the project: deno run
// -A viewer_check.ts FOLDER, which has MemoryViz.js and what it imports (d3-axis@1 as d3-axis.js).

import { assertEquals, assertThrows } from "@std/assert";
import type { Page, Route } from "npm:playwright-core@1.65.1";
import { CudaDevice, OutOfMemoryError } from "../../../mod.ts";
import { simulateDriver } from "../../../src/entries/simulated.ts";
import { readMemorySnapshot } from "../../../src/notebook/mod.ts";
import { stackHistory } from "../../../src/snapshots/stack_history.ts";
import { checkInBrowser, faultless, takePicture, watch } from "../browser_checks.ts";
import { TORCH_FIGURES, torchSnapshot } from "../torch_snapshots.ts";

/** Runs in the page: points at all that is drawn, reads the highest area and the amounts by step. */
const READ = `(() => {
  const send = (each, type) => each.dispatchEvent(new MouseEvent(type, { bubbles: true }));
  const shown = (kind) => [...document.querySelectorAll(kind)].filter((e) => e.getClientRects()[0]);
  for (const each of shown("polygon, rect")) send(each, "mouseover"), send(each, "mouseleave");
  const areas = shown("polygon").map((each) => each.__data__).filter((each) => each?.elem >= 0);
  const [words, ...steps] = shown("pre").sort((a) => a.__data__ === undefined ? -1 : 0);
  return [Math.max(...areas.flatMap(({ offsets, size }) => offsets.map((each) => each + size))),
    steps.map((each) => send(each, "mousedown") && words.textContent
      .match(/(\\d+) bytes\\) allocated .*?(\\d+) bytes\\) reserved/).slice(1).map(Number))];
})()`;

/** Leaves out steps that change nothing: the viewer joins most frees. */
const changes = (steps: readonly unknown[]) =>
  steps.filter((each, at) => String(each) !== String(steps[at - 1]));

async function check(page: Page, name: string, bytes: Uint8Array) {
  const { faults } = watch(page, () => true);
  await page.goto("http://viewer/");
  await page.evaluate(`import("./MemoryViz.js").then(({ add_local_files }) => add_local_files(
    [{ name: "file", base64: "${bytes.toBase64()}" }], "Active Memory Timeline"))`);
  const { devices, events: traces, segments: all } = await readMemorySnapshot(bytes);
  for (const { device } of devices) {
    const [events, segments] = [traces[device] ?? [], all.filter((each) => each.device === device)];
    const { areas, reservedBytes, peakBytes } = stackHistory({ events, segments }, Infinity);
    const held = (at: number) => areas.reduce((sum, { bytes }) => sum + (bytes[at] ?? 0), 0);
    const totals = reservedBytes.map((reserved, at) => [held(at), reserved]);
    await page.locator("select").nth(2).selectOption(String(device));
    for (const view of await page.locator("select").nth(1).locator("option").allTextContents()) {
      await page.locator("select").nth(1).selectOption(view);
      await page.evaluate("new Promise(requestAnimationFrame)"); // draws the state history
      const [peak, steps] = await page.evaluate(READ) as [number, unknown[]];
      await takePicture(page, { path: `${folder}/${name} ${device} ${view}.png` });
      if (view === "Active Memory Timeline") assertEquals(peak, peakBytes);
      if (steps.length === 0 || events.length >= totals.length) continue; // only chosen moments
      assertEquals(changes([totals[0], ...steps]), changes(totals));
    }
  }
  return [faultless(faults)];
}

async function answer(route: Route): Promise<void> {
  const [, name] = /.*\/([^/@]+)(?:\.js|@.*)$/.exec(route.request().url()) ?? [];
  const contentType = name === undefined ? "text/html" : "text/javascript";
  const body = name === undefined ? "" : await Deno.readTextFile(`${folder}/${name}.js`);
  await route.fulfill({ body, headers: { "access-control-allow-origin": "*" }, contentType });
}

const [folder] = Deno.args;
if (folder === undefined) {
  console.log("skipped: no folder with PyTorch's viewer was named");
  Deno.exit();
}
const files = new Map(TORCH_FIGURES.map(([name]) => [`${name}`, torchSnapshot(`${name}.pickle`)]));
const driver = simulateDriver({ deviceCount: 2, memorySize: "64 MiB" });
for (const index of [0, 1]) { // memory that is used again, views, tracks, out of memory, a lost beginning
  using gpu = CudaDevice.open(index, { driver, origins: "stack" });
  using held = new DisposableStack();
  gpu.timeline.start({ eventCount: 90 });
  for (let step = 0; step < 20; step++) {
    using _track = gpu.track(`step ${step}`);
    held.use(gpu.alloc("uint8", 999 * (1 + step % 4), { label: `layer ${step % 5}` }));
    using pinned = gpu.pinned("uint8", 2 ** 16);
    using _view = pinned.subarray(0, 10);
    assertThrows(() => gpu.alloc("uint8", 2 ** 30), OutOfMemoryError);
  }
  files.set(`device ${index}`, gpu.timeline.toMemoryViz());
}
await checkInBrowser(async (browser, report) => {
  const page = await browser.newPage();
  await page.route("**", answer);
  for (const [name, bytes] of files) await report(name, () => check(page, name, bytes));
});
