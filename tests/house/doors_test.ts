// The walk over all doors: every public call that takes options is tried with every wrong thing that a
// notebook, where no compiler reads along, can put in their place. Each must end in words, and in nothing
// else.

import {
  assert,
  assertEquals,
  assertGreater,
  assertInstanceOf,
  assertStringIncludes,
} from "@std/assert";
import { setTimeout as delay } from "node:timers/promises";
import config from "../../deno.json" with { type: "json" };
import { simulateDriver } from "../../ffi/simulated/driver.ts";
import { CudaDevice } from "../../src/device/device.ts";
import { saveNpz } from "../../src/interop/numpy/save_npz.ts";
import { saveSafetensors } from "../../src/interop/safetensors/save.ts";
import { DisposedError } from "../../src/words/errors.ts";
import { denoJson } from "../support/child_deno.ts";
import { type Door, DOORS, type DoorScene, type OptionSort } from "../support/doors.ts";
import { testDriver } from "../support/driver.ts";
import { inTime } from "../support/in_time.ts";
import { IOTA_PTX } from "../support/kernels/kernel_driver.ts";
import { PROJECT_ROOT } from "../support/project_files.ts";
import { ggufOf } from "../support/gguf/files.ts";
import { shareOf } from "../support/random.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { CaughtWarnings } from "../support/warnings.ts";
import { liveNames, withDevice } from "../support/with_device.ts";

/** Messages of the language's own, which tell nobody what to do. */
const RAW =
  /Cannot (read propert|destructure|convert|mix|access|set propert)|is not (a function|iterable|defined)|undefined \(reading/;

/** A call that has not ended by then hangs. */
const PATIENCE_SECONDS = 60;

/** No door takes these for options. */
const NO_RECORDS: Readonly<Record<string, (scene: DoorScene) => unknown>> = {
  "a stream": ({ gpu }) => gpu.stream,
  "a device": ({ gpu }) => gpu,
  "a buffer": ({ source }) => source,
  "a strided view": ({ view }) => view,
  "a text": () => "fast",
  "a number": () => 5,
  "not a number": () => NaN,
  "a bigint": () => 5n,
  "a truth value": () => true,
  "a symbol": () => Symbol("option"),
  "a list": () => [2, 2],
  "an empty list": () => [],
  "an array": () => new Float32Array(2),
  "null": () => null,
  "a map": () => new Map([["stream", 1]]),
  "a promise": () => Promise.resolve({}),
  "a date": () => new Date(),
  "an object of a class": () => new (class Choice {})(),
};

/** Values that an option of each sort never takes. */
const WRONG: Readonly<Record<OptionSort, readonly unknown[]>> = {
  stream: [null, 5, "loader", {}, [], Promise.resolve(), Symbol("stream")],
  text: [null, 5, {}, ["a"], Symbol("text"), 5n],
  flag: [null, 1, "yes", {}],
  number: [null, "5", 5n, {}, [5], true, Symbol("number")],
  size: [null, 5n, {}, [5], true, Symbol("size")],
  shape: [null, "4", 4n, -1, 0.5, NaN, Infinity, 2 ** 53, [-2], ["4"], [1n], {}, Symbol("shape")],
  dtype: [null, "float", "toString", 5, {}, ["float32"], Symbol("dtype")],
  resource: [null, 5, "pool", {}, class {}, Promise.resolve()],
  callback: [null, 5, "log", {}, class {}, Map],
  signal: [null, 5, {}, { aborted: false }, new AbortController()],
  list: [null, 5, "text", {}, [null], ["x"]],
  record: [null, 5, "text", { nonsense: 1 }],
  word: [null, 5, "readWrite", {}, "constructor"],
  anything: [],
};

for (const [door, row] of shareOf(Object.entries(DOORS), { least: 30 })) {
  Deno.test(`${door} refuses what are no options, with words and nothing else`, () =>
    walk(row, function* (scene) {
      for (const [what, make] of Object.entries(NO_RECORDS)) {
        yield { what, options: make(scene), words: row.name };
      }
    }));

  Deno.test(`${door} refuses an option that it does not know, and names the nearest`, () =>
    walk(row, function* () {
      yield { what: "nonsense", options: { nonsense: undefined }, words: '"nonsense"' };
      for (const name of Object.keys(row.takes)) {
        const misspelt = name.slice(0, -1);
        const options = { [misspelt]: undefined };
        yield { what: misspelt, options, words: `"${misspelt}" (did you mean "${name}"?)` };
      }
    }));

  Deno.test(`${door} refuses values that its options never take`, () =>
    walk(row, function* () {
      for (const [name, sort] of Object.entries(row.takes)) {
        for (const wrong of WRONG[sort]) {
          yield { what: `${name}: ${String(wrong)}`, options: { [name]: wrong }, words: "" };
        }
      }
    }));

  Deno.test(`${door} takes undefined for an option that is left out`, async () => {
    const names = Object.keys(row.takes).filter((name) => name !== "gpu"); // has to be there
    const leftOut = { ...Object.fromEntries(names.map((name) => [name, undefined])), ...few(row) };
    const ends: string[] = [];
    for (const options of [few(row), leftOut]) {
      await inScene(async (scene) => {
        using _warnings = new CaughtWarnings(); // of a wrong handle of a stream
        const error = await errorOf(() => row.call(scene, options as never));
        ends.push(String(error).replaceAll(scene.folder, "").replaceAll(/#\d+/g, "#"));
        scene.gpu.disposeAll();
      });
    }
    assertEquals(ends[1], ends[0]);
  });

  Deno.test(`${door} reads each option once, so that what it has checked is what it uses`, () =>
    inScene(async (scene) => {
      using _warnings = new CaughtWarnings(); // of a wrong handle of a stream
      const given: Record<string, unknown> = few(row);
      const reads: Record<string, number> = {};
      const options = {};
      for (const name of Object.keys(row.takes)) {
        if (name === "gpu") continue; // has to be there
        const get = () => (reads[name] = (reads[name] ?? 0) + 1, given[name]);
        Object.defineProperty(options, name, { get, enumerable: true });
      }
      await errorOf(() => row.call(scene, options as never));
      scene.gpu.disposeAll();
      assertEquals(reads, Object.fromEntries(Object.keys(reads).map((name) => [name, 1])));
    }));

  if ("onProgress" in row.takes) {
    Deno.test(`${door} tells of an async onProgress that fails, and goes on`, () =>
      inScene(async (scene) => {
        using warnings = new CaughtWarnings();
        let callCount = 0;
        const onProgress = async () => {
          callCount++;
          await undefined;
          throw new Error("the bar is gone");
        };
        const error = await errorOf(() =>
          row.call(scene, { ...few(row), signal: undefined, onProgress } as never)
        );
        assertEquals(error, undefined);
        await delay(0);
        scene.gpu.disposeAll(); // what is in the lists that some return
        assertGreater(callCount, 0);
        const told = "vramkit: onProgress() failed after it had returned: the bar is gone";
        assertEquals(warnings.texts, Array(callCount).fill(told));
      }));
  }

  if (!("stream" in row.takes)) continue;

  Deno.test(`${door} refuses a disposed stream`, () =>
    walk(row, function* ({ gpu }) {
      const stream = gpu.createStream({ label: "gone" });
      stream.dispose();
      yield { what: "a disposed stream", options: { stream }, words: "CudaStream(gone)" };
    }));

  Deno.test(`${door} refuses a stream of another device`, () =>
    walk(row, function* ({ gpu: { context: { driver } } }) {
      if (driver.deviceCount < 2) return;
      using other = CudaDevice.open(1, { driver: driver.api });
      using stream = other.createStream({ label: "elsewhere" });
      yield { what: "another device's stream", options: { stream }, words: "elsewhere" };
    }));

  Deno.test(`${door} reads options of any plain kind, and passes on what a getter throws`, () =>
    walk(row, function* ({ gpu: { stream: wrong } }) {
      const stream = wrong.key as never; // a bigint, in each of them
      const records = [
        Object.freeze({ stream }),
        Object.create({ stream }),
        Object.assign(Object.create(null), { stream }),
        new Proxy({ stream }, {}),
        {
          get stream() {
            throw new TypeError('Cannot read option "stream": as the test wants it');
          },
        },
      ];
      for (const options of records) yield { what: "a record", options, words: '"stream"' };
    }));
}

/** Calls that take records in a list: how to make each with more in its first record. */
const LISTS: Readonly<Record<string, (scene: DoorScene, more: object) => unknown>> = {
  copyBatch: ({ gpu, buffer, source }, more) =>
    gpu.copyBatch([{ source, destination: buffer, ...more }, { source, destination: buffer }]),
};

for (const [name, call] of Object.entries(LISTS)) {
  Deno.test(`${name}() refuses what the records of its list do not know, and does nothing`, () =>
    walk({ name, takes: {}, call: (scene, more) => call(scene, more) }, function* () {
      yield { what: "nonsense", options: { nonsense: 1 }, words: `${name}(): it has no option` };
      yield { what: "typo", options: { sorce: 1 }, words: '"sorce" (did you mean "source"?)' };
    }));
}

Deno.test("The table of doors has every public call that takes options", async () => {
  const entries = Object.values(config.exports).filter((path) => path !== config.exports["./cli"])
    .map((path) => new URL(path, PROJECT_ROOT));
  const paths = entries.map(({ pathname }) => pathname);
  const { nodes } = await denoJson<DocOutput>(["doc", "--json", "--no-lock", ...paths]);
  const wanted = entries.flatMap(({ href }) => doorsOf(nodes[href]?.symbols ?? []));
  assertEquals(Object.keys(DOORS).sort(), [...new Set(wanted)].sort());
});

/** Options by which a measurement takes a moment. */
function few({ takes }: Door): Record<string, unknown> {
  return {
    ...("caseSize" in takes && {
      cases: ["host_to_device_memcpy_ce"],
      caseSize: 2 ** 16,
      sampleCount: 1,
    }),
    ...("sizes" in takes && { sizes: [4096] }),
    ...("folder" in takes && { signal: AbortSignal.abort() }), // the report has the facts alone
  };
}

/** One wrong thing in the place of options. */
interface Attempt {
  readonly what: string;
  readonly options: unknown;
  /** What the message has to name. */
  readonly words: string;
}

/** Makes a door's call with wrong things, and checks that each ends in words and changes nothing. */
function walk(row: Door, attempts: (scene: DoorScene) => Iterable<Attempt>): Promise<void> {
  return inScene(async (scene) => {
    const { gpu, buffer, graph, folder } = scene;
    const live = liveNames(gpu);
    const files = filesIn(folder);
    for (const attempt of attempts(scene)) {
      const error = await errorOf(() => row.call(scene, attempt.options as never));
      checkWords(error, attempt);
      assertEquals(liveNames(gpu), live, `${attempt.what} left something`);
    }
    gpu.synchronizeSync();
    assertEquals([...buffer.downloadSync()], [1, 2, 3, 4], "the buffer was changed");
    assertEquals(filesIn(folder), files, "a file was written");
    assertEquals([graph.launchCount, gpu.timeline.isOn], [0, false]);
  });
}

/** Makes the objects on which doors are called. */
function inScene(use: (scene: DoorScene) => Promise<void>): Promise<void> {
  return withDevice(async (gpu) => {
    using folder = new TemporaryFolder();
    Deno.writeFileSync(`${folder.path}/there.bin`, new Uint8Array(16));
    using buffer = await gpu.upload(new Float32Array([1, 2, 3, 4]));
    using source = gpu.zeros("float32", 4);
    await source.saveNpy(`${folder.path}/there.npy`);
    await saveNpz(`${folder.path}/there.npz`, { source });
    await saveSafetensors(`${folder.path}/there.safetensors`, { source });
    const tensor = { name: "t", type: 0, sizes: [4], data: new Uint8Array(16) };
    Deno.writeFileSync(`${folder.path}/there.gguf`, ggufOf({ tensors: [tensor] }));
    const snapshot = `${folder.path}/models--org--there/snapshots/main`;
    Deno.mkdirSync(snapshot, { recursive: true });
    Deno.copyFileSync(`${folder.path}/there.safetensors`, `${snapshot}/model.safetensors`);
    using view = buffer.strided();
    using staged = gpu.staged("float32", 4);
    using managed = gpu.managed("float32", 4);
    using graph = gpu.capture(() => void buffer.fill(9));
    using module = await gpu.loadModule(IOTA_PTX);
    const kernel = module.kernel("vramkit_iota_u32");
    using gpus = CudaDevice.all({ driver: simulateDriver() });
    using world = await gpus.group();
    using stack = new DisposableStack();
    const parts = gpus.map((each) => stack.use(each.zeros("float32", 4)));
    const spread = stack.use(await gpus.upload(new Float32Array(4)));
    const group = { gpus, world, parts, spread };
    const things = { gpu, buffer, source, view, staged, managed, graph, module, kernel, group };
    await use({ ...things, folder: folder.path });
  }, { driver: testDriver() });
}

function checkWords(error: unknown, { what, words }: Attempt): void {
  assertInstanceOf(error, Error, `${what} was taken`);
  const isTyped = error instanceof TypeError || error instanceof RangeError ||
    error instanceof DisposedError;
  assert(isTyped, `${what} ended in ${error.constructor.name}: ${error.message}`);
  assert(!RAW.test(error.message.replace("Cannot read option", "")), `${what}: ${error.message}`);
  assert(error.message.startsWith("Cannot "), `${what}: ${error.message}`);
  assertStringIncludes(error.message, words);
}

async function errorOf(call: () => unknown): Promise<unknown> {
  try {
    const result = await inTime(PATIENCE_SECONDS, Promise.try(call));
    (result as Partial<Disposable> | undefined)?.[Symbol.dispose]?.();
    return undefined;
  } catch (error) {
    return error;
  }
}

function filesIn(path: string): string[] {
  return Array.from(Deno.readDirSync(path), ({ name }) => name).sort();
}

interface DocParam {
  readonly kind: string;
  readonly name?: string;
  readonly left?: DocParam;
  readonly tsType?: { readonly repr: string };
}

interface DocMethod {
  readonly name: string;
  readonly isStatic?: boolean;
  readonly accessibility?: string;
  readonly jsDoc?: { readonly tags?: readonly { readonly kind: string }[] };
  readonly functionDef: { readonly params: readonly DocParam[] };
}

interface DocSymbol {
  readonly name: string;
  readonly declarations: readonly {
    readonly kind: string;
    readonly def: {
      readonly params?: readonly DocParam[];
      readonly methods?: readonly DocMethod[];
      readonly constructors?: readonly (DocMethod & { readonly params: readonly DocParam[] })[];
    };
  }[];
}

interface DocOutput {
  readonly nodes: Readonly<Record<string, { readonly symbols: readonly DocSymbol[] }>>;
}

/** The calls of an entry that take options, by their declarations. */
function doorsOf(symbols: readonly DocSymbol[]): string[] {
  return symbols.flatMap(({ name, declarations }) =>
    declarations.flatMap(({ kind, def }) => {
      if (kind === "function") return takesOptions(def.params ?? []) ? [name] : [];
      if (kind !== "class" || name.endsWith("Error")) return [];
      const makers = (def.constructors ?? [])
        .filter((maker) => isPublic(maker) && takesOptions(maker.params))
        .map(() => `new ${name}`);
      const methods = (def.methods ?? [])
        .filter((method) => isPublic(method) && takesOptions(method.functionDef.params))
        .map((method) => `${name}${method.isStatic ? "." : "#"}${method.name}`);
      return [...makers, ...methods];
    })
  );
}

function isPublic({ accessibility, jsDoc }: DocMethod): boolean {
  const isInternal = jsDoc?.tags?.some(({ kind }) => kind === "internal");
  return accessibility !== "private" && accessibility !== "protected" && isInternal !== true;
}

/** Options go by their name, or by their type's. */
function takesOptions(params: readonly DocParam[]): boolean {
  return params.some((param) => {
    const { name = "", tsType } = param.left ?? param;
    return ["options", "query", "range"].includes(name) ||
      /(Options|Choice|Query|AxisRange|Partial)$/.test(tsType?.repr ?? "");
  });
}
