// The walk over all arguments: every public method, function, constructor and static is tried with every wrong
// thing in the place of its first two arguments. Some take it, as an option that is left out or a value that
// fits; what they throw is never the language's own message, which names neither the call nor the remedy.

import { assertEquals, assertNotEquals } from "@std/assert";
import * as kit from "../../mod.ts";
import * as bench from "../../src/bench/mod.ts";
import * as gguf from "../../src/entries/gguf.ts";
import * as group from "../../src/entries/group.ts";
import * as kernels from "../../src/entries/kernels.ts";
import * as memory from "../../src/entries/memory.ts";
import * as numpy from "../../src/entries/numpy.ts";
import * as persist from "../../src/entries/persist.ts";
import * as safetensors from "../../src/entries/safetensors.ts";
import * as sharing from "../../src/entries/sharing.ts";
import * as simulated from "../../src/entries/simulated.ts";
import * as testing from "../../src/entries/testing.ts";
import { startGroup } from "../../src/group/device_group.ts";
import * as notebook from "../../src/notebook/mod.ts";
import { splitArray } from "../../src/spread/split.ts";
import { Parts } from "../../src/words/parts.ts";
import { openTestDevice } from "../support/driver.ts";
import { IS_WHOLE, shareOf } from "../support/random.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { CaughtWarnings } from "../support/warnings.ts";
import { testOnDevice } from "../support/with_device.ts";

/** All that programs import. */
const EXPORTED = {
  ...kit,
  ...gguf,
  ...group,
  ...kernels,
  ...memory,
  ...numpy,
  ...persist,
  ...safetensors,
  ...sharing,
  ...simulated,
  ...testing,
  ...notebook,
  ...bench,
};

type Method = (...args: unknown[]) => unknown;

/** Things to call methods of, each made anew and written, so that the driver lets it be read. */
const THINGS: Readonly<Record<string, (gpu: kit.CudaDevice) => object>> = {
  CudaDevice: (gpu) => gpu,
  DeviceBuffer: (gpu) => gpu.zeros("float32", 4),
  PinnedBuffer: (gpu) => gpu.pinned("float32", 4).fill(0),
  MappedBuffer: (gpu) => gpu.mapped("float32", 4).set([1, 2, 3, 4]),
  ManagedBuffer: (gpu) => gpu.managed("float32", 4).fill(0),
  StagedBuffer: (gpu) => {
    const staged = gpu.staged("float32", 4).fill(0);
    staged.pull();
    return staged;
  },
  GrowableBuffer: (gpu) => gpu.growable("float32", { shape: 4, reserveSize: "4 MiB" }).fill(0),
  LazyBuffer: (gpu) => gpu.lazy("float32", 4).fill(0),
  RegisteredBuffer: (gpu) => gpu.register(new Float32Array(1024)),
  PitchedBuffer: (gpu) => gpu.pitched("float32", [2, 2]).fill(0),
  StridedView: (gpu) => gpu.zeros("float32", [2, 2]).strided(),
  CudaStream: (gpu) => gpu.createStream(),
  CudaEvent: (gpu) => gpu.createEvent(),
  LiveTable: (gpu) => gpu.live(),
  DeviceList: () => kit.CudaDevice.all({ driver: simulated.simulateDriver() }),
  DeviceGroup: () => {
    const { context } = kit.CudaDevice.open(0, { driver: simulated.simulateDriver() });
    return startGroup([context]);
  },
  DeviceParts: (gpu) => {
    const [dtype, shape] = ["float32", [4]] as const;
    const layout = splitArray({ dtype, shape, count: 1 }, {});
    const buffers = [gpu.zeros(dtype, shape)];
    return new group.DeviceParts(new Parts({ dtype, shape, layout, buffers }));
  },
  CudaAsyncMemoryResource: (gpu) => new memory.CudaAsyncMemoryResource(gpu, {}),
  CachingResourceAdaptor: (gpu) => new memory.CachingResourceAdaptor(gpu.memoryResource),
  StripedMemoryResource: (gpu) => new group.StripedMemoryResource([gpu]),
  VirtualMemoryResource: (gpu) => new memory.VirtualMemoryResource(gpu),
};

/** First arguments without which the second is not looked at. */
const FIRST: Readonly<Record<string, unknown>> = {
  alloc: "float32",
  zeros: "float32",
  iota: "float32",
  pinned: "float32",
  staged: "float32",
  mapped: "float32",
  managed: "float32",
  lazy: "float32",
  pitched: "float32",
  growable: "float32",
  fromHandle: 0n,
  upload: new Float32Array(4),
  uploadSync: new Float32Array(4),
  range: 0,
  setAt: 0,
  slot: "slot",
  scope: () => 1,
  time: () => 1,
};

/** What the kit itself calls, or what gives everything back. */
const UNTRIED = [
  ["constructor", "toString", "toJSON", "dispose", "close", "release", "handOver", "disposeAll"],
  ["place", "derive", "create", "showElements", "streamFor", "fields"], // protected
  ["openTo", "follow", "postpone", "notePending", "noteAdopted", "isOf", "prepareCapture"], // internal
  ["allocate", "deallocate", "synchronize", "synchronizeSync", "bandwidth"],
].flat();

/** Messages of the language and of its libraries. */
const OWN = /^Cannot (?!read propert|destructure|convert|mix|access|set propert|use 'in')/;

function wrongThings(gpu: kit.CudaDevice): readonly [string, unknown][] {
  const moved = new Float32Array(4);
  moved.buffer.transfer();
  const buffer = gpu.zeros("float32", 4);
  const stream = gpu.createStream();
  const event = gpu.createEvent();
  for (const gone of [buffer, stream, event]) gone.dispose();
  const numbers = [NaN, -1, 0.5, 2 ** 40, 2 ** 60, Infinity, -Infinity, 5n, "5"];
  const bare: unknown = Object.create(null); // String(bare) throws
  return [
    ...numbers.map((value): [string, unknown] => [`${typeof value} ${value}`, value]),
    ["undefined", undefined],
    ["null", null],
    ["true", true],
    ["a symbol", Symbol("wrong")],
    ["an object", {}],
    ["a frozen object", Object.freeze({ nonsense: 1 })],
    ["an object without a prototype", bare],
    ["an object with a number for an iterator", { [Symbol.iterator]: 1 }],
    ["a list", []],
    ["a list of null", [null]],
    ["a list of bare objects", [bare]],
    ["a list of symbols", [Symbol("wrong")]],
    ["a list of lists", [[]]],
    ["a text", "nonsense"],
    ["a function", () => 1],
    ["a class", class Wrong {}],
    ["a generator function", function* () {}],
    ["a map", new Map()],
    ["a date", new Date()],
    ["an address on the web", new URL("http://a/b")],
    ["a promise", Promise.resolve(1)],
    ["an array that was moved away", moved],
    ["a disposed buffer", buffer],
    ["a disposed stream", stream],
    ["a disposed event", event],
  ];
}

for (const [name, make] of shareOf(Object.entries(THINGS), { least: 2 })) {
  testWords(`${name} rejects wrong arguments`, function* (gpu) {
    using folder = new TemporaryFolder();
    using _inside = workIn(folder.path); // a text is a path, too
    for (const method of methodsOf(make(gpu))) {
      for (const [what, wrong] of wrongThings(gpu)) {
        const first = method === "writeFile" ? `${folder.path}/file` : FIRST[method];
        for (const args of first === undefined ? [[wrong]] : [[wrong], [first, wrong]]) {
          const thing = make(gpu);
          const call = (Reflect.get(thing, method) as Method).bind(thing);
          yield [`${method}(${what})`, () => call(...args)];
        }
      }
      gpu.disposeAll();
    }
  });
}

testWords("Functions reject wrong arguments", function* (gpu) {
  for (const [name, call] of Object.entries(EXPORTED)) {
    if (typeof call !== "function" || name === "show") continue; // which shows anything
    if (/^[A-Z]/.test(name)) continue; // a class
    if (name === "machineCard" && !IS_WHOLE) continue; // measures for seconds where it takes a thing
    for (const [what, wrong] of wrongThings(gpu)) {
      yield [`${name}(${what})`, () => (call as Method)(wrong)];
    }
  }
});

testWords("Classes reject wrong arguments", function* (gpu) {
  for (const [name, Class] of classes()) {
    for (const [what, wrong] of [...wrongThings(gpu), ["a device", gpu] as const]) {
      for (const args of [[], [wrong], [wrong, wrong], [gpu, wrong], ["text", wrong]]) {
        yield [`new ${name}(${what})`, () => Reflect.construct(Class, args)];
      }
    }
  }
});

testWords("Statics reject wrong arguments", function* (gpu) {
  for (const [name, Class] of classes()) {
    for (const [method, { value: call }] of Object.entries(staticsOf(Class))) {
      if (typeof call !== "function") continue;
      for (const [what, wrong] of wrongThings(gpu)) {
        for (const args of [[], [wrong], [gpu, wrong]]) {
          yield [`${name}.${method}(${what})`, () => Reflect.apply(call, Class, args)];
        }
      }
    }
  }
});

/** Registers a test of calls, each of which must fail with words of the kit's. */
function testWords(
  name: string,
  callsOn: (gpu: kit.CudaDevice) => Iterable<readonly [name: string, call: () => unknown]>,
): void {
  Deno.test(`${name} with words of the kit's`, async () => {
    using _warnings = new CaughtWarnings();
    using gpu = openTestDevice();
    const raw: string[] = [];
    for (const [what, call] of callsOn(gpu)) {
      const message = await messageOf(call);
      if (!OWN.test(message)) raw.push(`${what}: ${message}`);
    }
    gpu.disposeAll();
    assertEquals(raw, []);
  });
}

testOnDevice("Classes that programs do not construct name the call that makes one", (gpu) => {
  for (const [name, Class] of classes()) {
    const text = String(errorOf(() => Reflect.construct(Class, [])));
    const makers = /^TypeError: Cannot construct (\w+): it comes from (.*)$/.exec(text);
    if (makers === null) continue;
    assertEquals(makers[1], name);
    assertNotEquals(makers[2], "the kit", `${name} has no call of comesFrom()`);
    for (const [call, method = ""] of (makers[2] ?? "").matchAll(/(?:gpu|CudaDevice)\.(\w+)/g)) {
      assertEquals(method in gpu || method in kit.CudaDevice, true, call);
    }
  }
});

/** All public classes, by their names. */
function classes(): [string, new (...args: unknown[]) => unknown][] {
  return Object.entries<unknown>(EXPORTED).filter(([name, value]) =>
    typeof value === "function" && /^[A-Z]/.test(name)
  ) as [string, new (...args: unknown[]) => unknown][];
}

function staticsOf(Class: object): Record<string, PropertyDescriptor> {
  return Object.getOwnPropertyDescriptors(Class);
}

function errorOf(call: () => unknown): unknown {
  try {
    return void call();
  } catch (error) {
    return error;
  }
}

/** Makes a folder the current one until it is disposed. */
function workIn(folder: string): Disposable {
  const before = Deno.cwd();
  Deno.chdir(folder);
  return { [Symbol.dispose]: () => Deno.chdir(before) };
}

/** The names of all methods, those of the classes above included. */
function methodsOf(thing: object): string[] {
  const names = new Set<string>();
  for (
    let prototype = Object.getPrototypeOf(thing);
    prototype !== Object.prototype;
    prototype = Object.getPrototypeOf(prototype)
  ) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
      if (typeof value === "function" && !UNTRIED.includes(name)) names.add(name);
    }
  }
  return [...names];
}

/** What a call throws; `Cannot ...` for one that takes what it was given. */
async function messageOf(call: () => unknown): Promise<string> {
  try {
    const result = await call();
    if (result instanceof kit.CudaDevice) return "Cannot fail";
    (result as Partial<Disposable> | null | undefined)?.[Symbol.dispose]?.();
    return "Cannot fail";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
