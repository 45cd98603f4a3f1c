// Texts of a program's own, or of a file's, on a terminal: they are shown and never obeyed.

import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { CudaDevice } from "../../mod.ts";
import { readArguments } from "../../src/cli/arguments.ts";
import { loadNpz, saveNpz } from "../../src/entries/numpy.ts";
import { simulateDriver } from "../../src/entries/simulated.ts";
import { loadSafetensors } from "../../src/interop/safetensors/load.ts";
import { saveSafetensors } from "../../src/interop/safetensors/save.ts";
import { ProgressBar, type ProgressState } from "../../src/notebook/mod.ts";
import { visibleText } from "../../src/words/format.ts";
import { cardOf } from "../support/display.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { testOnDevice } from "../support/with_device.ts";

/** Clears the screen, sets a title, goes back to the start of the line, turns the text around. */
const HOSTILE = "a\x1b[2J\x1b]0;mine\x07\r\n\u009b31m\u202eb";
const SHOWN = "a\\u001b[2J";

Deno.test("visibleText() shows what a terminal would obey, and leaves all else", () => {
  assertEquals(
    visibleText(HOSTILE),
    "a\\u001b[2J\\u001b]0;mine\\u0007\\u000d\\u000a\\u009b31m\\u202eb",
  );
  assertEquals(visibleText("weights/0 é 漢 🙂 \\u001b"), "weights/0 é 漢 🙂 \\u001b");
});

testOnDevice("Labels reach a console as text, whatever they hold", async (gpu) => {
  const label = HOSTILE;
  using buffer = gpu.alloc("uint8", 4, { label });
  using view = buffer.strided();
  using lazy = gpu.lazy("uint8", 4, { label });
  using pitched = gpu.pitched("uint8", [2, 2], { label });
  using stream = gpu.createStream({ label });
  using event = gpu.createEvent({ label });
  using graph = gpu.capture(() => void buffer.fill(1), { label });
  using track = gpu.track(label);
  using _scoped = gpu.alloc("uint8", 4);
  const things = [buffer, view, lazy, pitched, stream, event, graph, track];
  const texts = things.flatMap((thing) => [String(thing), Deno.inspect(thing)]);
  texts.push(`${gpu.live()}`, `${gpu.report()}`, Deno.inspect(gpu.live()));
  for (const text of texts) assertSafe(text);
  for (const thing of [buffer, stream, track, gpu.live(), gpu.report()]) {
    assertSafe((await cardOf(thing)).text);
  }
  assertEquals(buffer.label, HOSTILE, "the program's own text is its own");
});

testOnDevice("Errors show labels as text", (gpu) => {
  using buffer = gpu.alloc("uint8", 4, { label: HOSTILE });
  const words = [
    assertThrows(() => buffer.view(9), Error).message,
    assertThrows(() => buffer.fill(1, { stream: HOSTILE as never }), Error).message,
    assertThrows(() => gpu.alloc("uint8", 2 ** 50, { label: HOSTILE }), Error).message,
    assertThrows(() => gpu.alloc(HOSTILE as never, 1), Error).message,
  ];
  for (const text of words) assertSafe(text);
  buffer.dispose();
  assertSafe(assertThrows(() => buffer.ptr, Error).message);
});

testOnDevice("Names in a safetensors file reach a console as text", async (gpu) => {
  using folder = new TemporaryFolder();
  const path = `${folder.path}/model.safetensors`;
  using tensor = gpu.zeros("uint8", 4);
  await saveSafetensors(path, { [HOSTILE]: tensor });
  using model = await loadSafetensors(path, gpu);
  assertSafe(assertThrows(() => model.tensor("weights"), Error).message);
  assertSafe(assertThrows(() => model.tensor(HOSTILE, "int8"), Error).message);
  assertSafe(Deno.inspect(model));
  Deno.writeTextFileSync(path, JSON.stringify({ weight_map: { a: HOSTILE, b: 5 } }));
  Deno.renameSync(path, `${path}.json`);
  const error = await assertRejects(() => gpu.loadSafetensors(`${path}.json`));
  assert(error instanceof Error);
  assertEquals(visibleText(error.message), error.message);
});

Deno.test("ProgressBar shows its title as text", () => {
  const drawn: ProgressState[] = [];
  const surface = {
    pauseMilliseconds: 0,
    draw: (state: ProgressState) => void drawn.push(state),
    finish: () => {},
  };
  new ProgressBar(HOSTILE, surface).update(1, 2);
  assertStringIncludes(drawn[0]?.title ?? "", SHOWN);
});

function assertSafe(text: string): void {
  const lines = text.replaceAll("\n", "");
  assertEquals(visibleText(lines), lines);
}

testOnDevice(
  "Paths of files that cannot be used, saved or found reach a console as text",
  async (gpu) => {
    using folder = new TemporaryFolder();
    using x = gpu.zeros("uint8", 4);
    const at = (name: string) => `${folder.path}/${name}`;
    const missing = at(HOSTILE);
    Deno.mkdirSync(at(`${HOSTILE}.folder`));
    Deno.symlinkSync(at(`${HOSTILE}.nowhere`), at(`${HOSTILE}.link`));
    const calls: readonly (() => unknown)[] = [
      ...[missing, at(`${HOSTILE}.folder`), at(`${HOSTILE}.link`), `${missing}/x`].flatMap((
        path,
      ) => [
        () => gpu.loadNpy(path),
        () => loadNpz(path, gpu),
        () => gpu.uploadFile(path),
        () => gpu.loadSafetensors(path),
        () => gpu.loadModule(path),
      ]),
      ...[`${missing}/x`, at(`${HOSTILE}.folder`)].flatMap((path) => [
        () => x.writeFile(path),
        () => x.saveNpy(path),
        () => saveNpz(path, { x }),
        () => gpu.saveSafetensors(path, { x }),
      ]),
      () => gpu.saveSafetensors(at("a"), { [HOSTILE]: 5 } as never),
      () => gpu.saveSafetensors(at("a"), { x }, { formats: { [HOSTILE]: "U8" } }),
      () => gpu.saveSafetensors(at("a"), { [HOSTILE]: x }, { formats: { [HOSTILE]: "F32" } }),
      () => gpu.compile(`extern "C" __global__ void k() {}`, { name: HOSTILE }),
      () => readArguments([`--${HOSTILE}`]),
      () => readArguments(["bandwidth", "--driver", HOSTILE]),
    ];
    for (const call of calls) {
      const error = await Promise.try(call).then(() => undefined, (error: Error) => error);
      assert(error instanceof Error, `${call} was done`);
      assertSafe(error.message.replaceAll("\n", " "));
    }
  },
);

Deno.test("A device's name reaches a console as text", () => {
  const driver = simulateDriver();
  const name = new TextEncoder().encode(`${HOSTILE}\0`);
  const cuDeviceGetName: typeof driver.cuDeviceGetName = (cell) => {
    if (cell instanceof Uint8Array) cell.set(name);
    return 0;
  };
  const api = { ...driver, cuDeviceGetName };
  using gpu = CudaDevice.open(0, { driver: api });
  for (const text of [`${gpu}`, gpu.name, Deno.inspect(gpu), `${gpu.report()}`]) assertSafe(text);
});
