// Python in this process: values both ways, errors, what is printed, and memory that numpy and
// TypeScript use at the same time.

import {
  assert,
  assertEquals,
  assertRejects,
  assertStrictEquals,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { setTimeout as delay } from "node:timers/promises";
import { type CudaDevice, type DType, DTYPE_NAMES, type GpuBuffer } from "../../../mod.ts";
import { elementBytes, isSmallFloat } from "../../../src/dtype.ts";
import { type Python, PythonError, type PythonInput } from "../../../src/entries/python.ts";
import { assertSameBytes, patternBytes, readBytes, writeBytes } from "../../support/contents.ts";
import { printed, pythonTestsWith } from "../../support/python_in_process.ts";
import { testRandom } from "../../support/random.ts";
import { takingTurns } from "../../support/test_unless.ts";
import { freeBytes, liveNames, withDevice } from "../../support/with_device.ts";

const test = pythonTestsWith();
const testNumpy = pythonTestsWith("numpy");

/** Names of the tests end with them. */
function forget(python: Python, ...names: readonly string[]): void {
  for (const name of names) python.run(`globals().pop(${JSON.stringify(name)}, None)`);
}

function there(python: Python, value: PythonInput): unknown {
  python.set("value", value);
  return python.evaluate("value");
}

test("Python tells its version, and runs source among its own names", (python) => {
  assert(/^3\.\d+\.\d+/.test(python.version), python.version);
  assertEquals(`${python}`, `Python(${python.version})`);
  python.run(`
    def square(x):
        return x * x

    result = [square(i) for i in range(4)]
  `);
  assertEquals(python.evaluate(" result "), [0, 1, 4, 9]);
  assertEquals(python.evaluate("__name__"), "__main__");
});

test("values go to Python and come back", (python) => {
  const values: readonly PythonInput[] = [
    ...[null, true, false, 0, -0, 1, -1, 0.1, 2 ** 53 - 1, -(2 ** 53 - 1), 1e300, NaN],
    ...[Infinity, -Infinity, 2n ** 64n, -(2n ** 53n), "", "ü 🎉 \0 \n \ud800", [], {}],
    [1, [2, [3, null]], { a: { b: [true] } }],
    Object.fromEntries([["__proto__", 1], ["a b", 2], ["", 3]]),
  ];
  for (const value of values) {
    const back = there(python, value);
    if (typeof value === "object") assertEquals(back, value as unknown);
    else assertStrictEquals(back, value);
  }
  assertEquals(there(python, undefined), null);
  assertEquals(there(python, 5n), 5);
  assertEquals(python.evaluate("2 ** 53"), 2n ** 53n);
  assertEquals(python.evaluate("(1, (2,))"), [1, [2]]);
  assertEquals(python.evaluate("type(True).__name__, True"), ["bool", true]);
  forget(python, "value");
});

test("random values go to Python and come back", (python) => {
  const random = testRandom();
  const make = (depth: number): PythonInput => {
    switch (random.below(depth > 3 ? 5 : 7)) {
      case 0:
        return random.below(2) === 0;
      case 1:
        return random.below(2 ** 31) - 2 ** 30;
      case 2:
        return random.below(2 ** 31) / 7 * 10 ** (random.below(40) - 20);
      case 3:
        return String.fromCodePoint(...Array.from({ length: random.below(5) }, () => {
          return random.below(0xd800);
        }));
      case 4:
        return null;
      case 5:
        return Array.from({ length: random.below(5) }, () => make(depth + 1));
      default:
        return Object.fromEntries(
          Array.from({ length: random.below(5) }, (_, i) => [`k${i}`, make(depth + 1)]),
        );
    }
  };
  for (let turn = 0; turn < 200; turn++) {
    const value = make(0);
    assertEquals(there(python, value), value);
  }
  forget(python, "value");
});

test("set() refuses what Python has no form of", (python) => {
  const loop: unknown[] = [];
  loop.push([loop]);
  const wrong: readonly [unknown, string][] = [
    [() => 1, "function without a name"],
    [Symbol("x"), "symbol"],
    [new Map(), "expected numbers, texts"],
    [new Date(0), "expected numbers, texts"],
    [loop, "it contains itself"],
    [[{ a: () => 1 }], "expected numbers, texts"],
  ];
  for (const [value, words] of wrong) {
    const error = assertThrows(() => python.set("value", value as never), TypeError);
    assertStringIncludes(`${error}`, words);
  }
  for (const name of ["class", "None", "True", "lambda", "await", "__debug__", "ｃｌａｓｓ"]) {
    assertThrows(() => python.set(name, 1), TypeError, "a word of Python's own: expected a name");
  }
  for (const name of ["", "a b", "1a", "a.b", "a;b", 5, null]) {
    assertThrows(() => python.set(name as never, 1), TypeError, "expected a name");
  }
  assertThrows(() => python.run(5 as never), TypeError, "expected a string");
  const moved = new Uint8Array(4);
  moved.buffer.transfer();
  assertThrows(() => python.set("value", moved), TypeError, "detached");
});

test("evaluate() refuses what JavaScript has no form of, in words", (python) => {
  for (const source of ["object()", "lambda: 1", "{1: 2}", "{'a': {2}}", "range(3)", "1j"]) {
    const error = assertThrows(() => python.evaluate(source), PythonError);
    assertEquals(error.type, "TypeError", source);
    assertStringIncludes(error.message, "has no form in JavaScript");
  }
  python.run("circle = []; circle.append(circle)");
  assertEquals(assertThrows(() => python.evaluate("circle"), PythonError).type, "RecursionError");
  forget(python, "circle");
});

test("errors of Python are errors of JavaScript, with their traceback", (python) => {
  const error = assertThrows(() =>
    python.run(`
      def inner():
          raise KeyError("lost")

      def outer():
          inner()

      outer()
    `), PythonError);
  assertEquals([error.name, error.type, error.message], [
    "PythonError",
    "KeyError",
    "KeyError: 'lost'",
  ]);
  for (const words of ["Traceback", "in outer", "in inner", 'raise KeyError("lost")']) {
    assertStringIncludes(error.traceback, words);
    assertStringIncludes(error.stack ?? "", words);
  }
  assert(!error.traceback.includes("bridge"), error.traceback);
  const cases: readonly [string, string, string][] = [
    ["def", "SyntaxError", "invalid syntax"],
    ["x = 1\n y = 2", "IndentationError", "unexpected indent"],
    ["import sys; sys.exit(3)", "SystemExit", "3"],
    ["raise KeyboardInterrupt", "KeyboardInterrupt", ""],
    ["import no_such_module_here", "ModuleNotFoundError", "no_such_module_here"],
    ["assert False", "AssertionError", ""],
    [
      "class E(Exception):\n  def __str__(self): raise ValueError\nraise E",
      "E",
      "its text could not be made: ValueError",
    ],
  ];
  for (const [source, type, words] of cases) {
    const raised = assertThrows(() => python.run(source), PythonError);
    assertEquals(raised.type, type, source);
    assertStringIncludes(raised.message, words);
  }
  assertEquals(assertThrows(() => python.evaluate("x ="), PythonError).type, "SyntaxError");
  assertEquals(python.evaluate("1 + 1"), 2);
});

test("what Python prints is given on", (python) => {
  printed.length = 0;
  python.run("print('one'); print('two', end='')");
  assertEquals(printed, ["one\ntwo"]);
  const call = () => python.run("print('before'); raise ValueError('x')");
  assertThrows(call, PythonError);
  assertEquals(printed, ["one\ntwo", "before\n"]);
  printed.length = 0;
});

test("bytes go both ways as bytes", (python) => {
  const bytes = patternBytes(1000);
  assertEquals(there(python, bytes.slice().buffer), bytes);
  assertEquals(python.evaluate("type(value).__name__, len(value)"), ["bytes", 1000]);
  assertEquals(there(python, new DataView(bytes.buffer, 10, 20)), bytes.subarray(10, 30));
  assertEquals(there(python, new ArrayBuffer(0)), new Uint8Array(0));
  assertEquals(python.evaluate("bytearray(b'ab')"), new Uint8Array([97, 98]));
  forget(python, "value");
});

test("a device's memory is told to libraries, and refused to the CPU", (python) =>
  withDevice((gpu) => {
    using x = gpu.zeros("float32", [2, 3]);
    python.set("x", { list: [x, x.transpose()] });
    python.run("a, b = x['list']");
    const [interface1, interface2] = python.evaluate(
      "[a.__cuda_array_interface__, b.__cuda_array_interface__]",
    ) as [unknown, unknown];
    const data = [Number(x.ptr), false];
    const common = { typestr: "<f4", data, version: 3, stream: 1 };
    assertEquals(interface1, { ...common, shape: [2, 3], strides: [12, 4] } as unknown);
    assertEquals(interface2, { ...common, shape: [3, 2], strides: [4, 12] } as unknown);
    assertEquals(python.evaluate("a.__dlpack_device__()"), [2, 0]);
    assertEquals(python.evaluate("repr(a)"), "<vramkit array float32[2, 3] on device 0>");
    assertStrictEquals(python.evaluate("a"), x);
    assertEquals(python.evaluate("hasattr(a, '__array_interface__')"), false);
    const copy = () => python.run("a.__dlpack__(copy=True)");
    assertEquals(assertThrows(copy, PythonError).type, "BufferError");
    const toHost = () => python.run("a.__dlpack__(dl_device=(1, 0))");
    assertEquals(assertThrows(toHost, PythonError).type, "BufferError");
    assertEquals(python.arrayCount, 2);
    forget(python, "x", "a", "b");
    assertEquals(python.arrayCount, 0);
  }));

testNumpy(
  "numpy refuses what it cannot use, and takes it for no single object",
  (python) =>
    withDevice((gpu) => {
      using x = gpu.zeros("float32", 2);
      using y = gpu.pinned("bfloat16", 2).fill(1);
      using z = gpu.pinned("float32", 2).fill(1);
      python.set("arrays", [x, y, z]);
      for (const [at, words] of [[0, "use CuPy or PyTorch"], [1, "it has no bfloat16"]] as const) {
        for (const call of ["asarray", "sqrt"]) {
          const refused = () => python.run(`import numpy; numpy.${call}(arrays[${at}])`);
          const { type, message } = assertThrows(refused, PythonError, words);
          assertEquals(type, "TypeError", message);
        }
      }
      assertEquals(python.evaluate("arrays[2].__array__('int8')"), new Int8Array([1, 1]));
      forget(python, "arrays");
    }),
);

test("a struct that Python made, nobody took, or took is ended once", (python) =>
  withDevice(async (gpu) => {
    const x = gpu.zeros("float32", 4).fill(3);
    python.set("x", x);
    for (const version of ["None", "(0, 8)", "(1, 0)", "(2, 5)"]) {
      python.run(`c = x.__dlpack__(max_version=${version})`);
      python.run("del c");
    }
    x.dispose();
    using y = python.buffer("x", { gpu, dtype: "float32", label: "y" });
    using old = python.buffer(
      "type('Old', (), {'__dlpack__': lambda self, stream: " +
        "x.__dlpack__(stream=stream), '__dlpack_device__': lambda self: (2, 0)})()",
      { gpu },
    );
    forget(python, "x");
    assertEquals([...await y.download(), await old.item().catch(() => 0)], [3, 3, 3, 3, 0]);
    assertEquals(await old.download(), new Float32Array(4).fill(3));
    y.dispose();
    assertEquals(python.arrayCount, 1);
    old.dispose();
    await gpu.synchronize();
    gpu.context.sweep();
    assertEquals(python.arrayCount, 0);
  }));

test("an array by __cuda_array_interface__ alone is used where it lies", (python) =>
  withDevice(async (gpu) => {
    using x = gpu.uploadSync(new Int16Array([1, 2, 3, 4, 5, 6]), { shape: [2, 3] });
    python.set("x", x);
    python.run(`
      class Only:
          def __init__(self, **changes):
              facts = dict(x.__cuda_array_interface__, stream=None, **changes)
              self.__cuda_array_interface__ = facts
    `);
    if (gpu.isSimulated) {
      // Which device an address belongs to is asked of the driver, and there is none.
      assertThrows(() => python.buffer("Only()", { gpu }), PythonError, "libcuda");
    } else {
      using y = python.buffer("Only()", { gpu, dtype: "int16" });
      assertEquals(await y.download(), new Int16Array([1, 2, 3, 4, 5, 6]));
      const view = python.buffer("Only(shape=(3, 2), strides=(2, 6))", { gpu, strided: true });
      using _memory = view.buffer;
      assertEquals(view.strides, [1, 3]);
      y.dispose();
    }
    for (const changes of ["typestr='<c16'", "mask=1"]) {
      const error = assertThrows(() => python.buffer(`Only(${changes})`, { gpu }), PythonError);
      assertEquals(error.type, "TypeError");
    }
    assertThrows(() => python.buffer("5", { gpu }), PythonError, "is no array");
    assertThrows(() => python.buffer("5", {} as never), TypeError, "expected a device");
    await gpu.synchronize();
    gpu.context.sweep();
    forget(python, "x", "Only");
    assertEquals(python.arrayCount, 0);
  }));

test("a stream of Python's stays until it is disposed, and the work on it is ordered", (python) =>
  withDevice(async (gpu) => {
    using queue = gpu.createStream(); // stands for one that a library created
    python.set("handles", [queue.handle, 0n, gpu.stream.handle]);
    python.run(`
      import weakref
      class Stream:
          def __init__(self, handle): self.handle = handle
          def __cuda_stream__(self): return (0, self.handle)
      class CupyStream:
          def __init__(self, handle): self.ptr = handle
      class TorchStream:
          def __init__(self, handle): self.cuda_stream = handle
    `);
    for (const kind of ["Stream", "CupyStream", "TorchStream"]) {
      python.run(`s = ${kind}(handles[0]); gone = weakref.ref(s)`);
      const stream = python.stream(" s ", { gpu, label: kind });
      assertEquals([stream.handle, stream.name], [queue.handle, kind]);
      const x = gpu.zeros("float32", 100, { stream });
      x.fill(3, { stream });
      forget(python, "s");
      assertEquals([await x.at(-1), python.evaluate("gone() is None")], [3, false]);
      stream.dispose();
      assertEquals(python.evaluate("gone() is None"), true);
      x.dispose();
      python.run(`s = ${kind}(handles[1]); gone = weakref.ref(s)`);
      assertThrows(() => python.stream("s", { gpu }), TypeError, "Cannot use 0");
      python.run(`s = ${kind}(handles[2])`); // the device's own, which is nobody's to keep
      assertStrictEquals(python.stream("s", { gpu }), gpu.stream);
      forget(python, "s");
      assertEquals(python.evaluate("gone() is None"), true);
    }
    for (const source of ["5", "None", "Stream", "'s'", "missing"]) {
      assertThrows(() => python.stream(source, { gpu }), PythonError);
    }
    forget(python, "handles", "Stream", "CupyStream", "TorchStream", "gone", "weakref");
  }));

test("arrays are let go when a call fails on the way", (python) =>
  withDevice((gpu) => {
    using x = gpu.zeros("float32", 4);
    assertThrows(() => python.set("x", [x, x, () => 1]), TypeError);
    assertEquals(python.arrayCount, 0);
    let list: PythonInput = [x];
    for (let depth = 0; depth < 600; depth++) list = [list];
    python.run("import sys; limit = sys.getrecursionlimit(); sys.setrecursionlimit(200)");
    assertThrows(() => python.set("x", [x, list]), PythonError, "recursion");
    python.run("sys.setrecursionlimit(limit)");
    assertEquals(python.arrayCount, 0);
  }));

test("threads of Python's run between the calls, and let go of arrays", (python) =>
  withDevice(async (gpu) => {
    const x = gpu.zeros("float32", 1 << 20);
    python.set("x", x);
    python.run(`
      import threading, time
      def hold(array):
          time.sleep(0.02)
      threads = [threading.Thread(target=hold, args=(x,)) for _ in range(4)]
      del x
      for thread in threads:
          thread.start()
    `);
    x.dispose();
    assertEquals(gpu.live().count, 0);
    for (let turn = 0; turn < 500; turn++) {
      await delay(2);
      gpu.alloc("uint8", 1).dispose(); // looks whether Python let go of something
      if (gpu.context.deferred.works.size === 0) break;
    }
    assertEquals(gpu.context.deferred.works.size, 0);
    python.run("for thread in threads: thread.join()");
    forget(python, "threads", "hold");
  }));

testNumpy("typed arrays become arrays of numpy's, and theirs typed arrays, as copies", (python) => {
  for (const dtype of DTYPE_NAMES) {
    if (!/^(u?int\d+|float(32|64))$/.test(dtype)) continue;
    python.run(`a = numpy.arange(6, dtype="${dtype}").reshape(2, 3)`);
    const array = python.evaluate("a.T") as Float32Array;
    assertEquals([...array].map(Number), [0, 3, 1, 4, 2, 5]);
    python.set("b", array);
    assertEquals(python.evaluate("[str(b.dtype), b.flags.writeable]"), [dtype, true]);
    assertEquals(python.evaluate("b + b"), array.map((value) => value + value) as unknown);
  }
  const { shape } = python.evaluate("numpy.zeros((2, 3, 0))") as { shape?: unknown };
  assertEquals(shape, [2, 3, 0]); // what gpu.upload() makes of it
  assertEquals(python.evaluate("numpy.float16([0.5, 2])"), new Float16Array([0.5, 2]) as unknown);
  assertEquals(python.evaluate("numpy.array([True, False])"), new Uint8Array([1, 0]) as unknown);
  assertEquals(python.evaluate("[numpy.float32(1.5), numpy.int64(7), numpy.bool_(True)]"), [
    1.5,
    7,
    true,
  ]);
  assertEquals(python.evaluate("numpy.zeros(0)"), new Float64Array(0) as unknown);
  const big = new Float64Array(1 << 20).map((_, i) => i);
  python.set("b", big);
  assertEquals(python.evaluate("float(b.sum())"), (1 << 20) * ((1 << 20) - 1) / 2);
  assertEquals(python.evaluate("b"), big as unknown);
  for (const dtype of ["<U1", ">f4", "complex64", "datetime64[D]"]) {
    const words = `numpy.ndarray of ${dtype} has no form in JavaScript: use its astype()`;
    assertThrows(() => python.evaluate(`numpy.zeros(2, "${dtype}")`), PythonError, words);
  }
  const masked = "numpy.ma.array([1, 2], mask=[0, 1])";
  assertThrows(() => python.evaluate(masked), PythonError, "use its filled()");
  forget(python, "a", "b");
});

/** Six numbers in each kind of memory that the CPU can use. */
const KINDS: Readonly<Record<string, (gpu: CudaDevice) => GpuBuffer<"float32">>> = {
  pinned: (gpu) => gpu.pinned("float32", [2, 3]),
  mapped: (gpu) => gpu.mapped("float32", [2, 3]),
  managed: (gpu) => gpu.managed("float32", [2, 3]),
  registered: (gpu) => gpu.register(new Float32Array(6), { shape: [2, 3] }),
};

for (const [kind, make] of Object.entries(KINDS)) {
  testNumpy(
    `numpy and TypeScript work on the same ${kind} memory`,
    (python) =>
      withDevice(async (gpu) => {
        using x = make(gpu);
        x.fill(2);
        python.set("x", x);
        python.run(`
        a = numpy.asarray(x)
        b = numpy.from_dlpack(x)
        seen = [a.tolist(), b.tolist()]
        c = numpy.from_dlpack(x, copy=True) if numpy.lib.NumpyVersion(numpy.__version__) >= "2.1.0" else a.copy()
        a[1, 2] = 7
        del c
      `);
        assertEquals(python.evaluate("seen"), [[[2, 2, 2], [2, 2, 2]], [[2, 2, 2], [2, 2, 2]]]);
        using device = gpu.alloc("float32", [2, 3]);
        device.copyFrom(x);
        assertEquals([...await device.download()], [2, 2, 2, 2, 2, 7]);
        x.fill(4);
        assertEquals(python.evaluate("float(b.sum())"), 24);
        using part = python.buffer("b[1]", { gpu, dtype: "float32" });
        part.fill(1);
        assertEquals(python.evaluate("a"), new Float32Array([4, 4, 4, 1, 1, 1]) as unknown);
        const view = python.buffer("a.T[::-1]", { gpu, dtype: "float32", strided: true });
        using whole = view.buffer;
        using turned = gpu.alloc("float32", [3, 2]);
        view.copyTo(turned);
        assertEquals([...await turned.download()], [4, 1, 4, 1, 4, 1]);
        forget(python, "x", "a", "b", "seen");
        part.dispose();
        whole.dispose();
        await gpu.synchronize();
        gpu.context.sweep();
        assertEquals(python.arrayCount, 0);
      }),
  );

  testNumpy(
    `${kind} memory outlives its buffer while numpy has it`,
    (python) =>
      withDevice(async (gpu) => {
        const x = make(gpu);
        x.fill(2);
        python.set("x", x);
        python.run("a = numpy.from_dlpack(x)\ndel x");
        x.dispose();
        make(gpu).fill(9).dispose();
        assertEquals(python.evaluate("a.sum().item()"), 12);
        python.run("a[:] = 3");
        using again = python.buffer("a", { gpu, dtype: "float32" });
        assertEquals(await again.download(), new Float32Array(6).fill(3));
        forget(python, "a");
        again.dispose();
        await gpu.synchronize();
        gpu.context.sweep();
        assertEquals([python.arrayCount, liveNames(gpu)], [0, []]);
      }),
  );
}

testNumpy("numpy sees every element type bit for bit", (python) =>
  withDevice((gpu) => {
    for (const dtype of DTYPE_NAMES) {
      using x = gpu.pinned(dtype as DType, [3, 4]);
      const bytes = patternBytes(12 * elementBytes(dtype));
      writeBytes(x, dtype === "bool" ? bytes.map((byte) => byte & 1) : bytes);
      gpu.synchronizeSync();
      python.set("x", x);
      if (isSmallFloat(dtype)) {
        assertThrows(() => python.run("numpy.from_dlpack(x)"), PythonError);
        assertEquals(python.evaluate("hasattr(x, '__array_interface__')"), false);
      } else {
        for (const way of ["asarray", "from_dlpack"]) {
          assertEquals(python.evaluate(`str(numpy.${way}(x).dtype)`), dtype);
          const seen = python.evaluate(`numpy.${way}(x).tobytes()`) as Uint8Array<ArrayBuffer>;
          assertSameBytes(seen, readBytes(x));
        }
      }
      forget(python, "x");
    }
    assertEquals(python.arrayCount, 0);
  }));

testNumpy("numpy cannot write to memory that may only be read", (python) =>
  withDevice((gpu) => {
    using x = gpu.register(new Float32Array(4), { readOnly: true });
    python.set("x", x);
    for (const way of ["asarray", "from_dlpack"]) {
      assertEquals(python.evaluate(`numpy.${way}(x).flags.writeable`), false);
    }
    assertThrows(() => python.run("x.__dlpack__()"), PythonError, "DLPack 1.0");
    using back = python.buffer("numpy.from_dlpack(x)", { gpu, dtype: "float32" });
    assertThrows(() => back.fill(1), TypeError, "read-only memory");
    forget(python, "x");
  }));

testNumpy(
  "buffer() refuses ordinary memory of numpy's, and leaves the array alone",
  (python) =>
    withDevice((gpu) => {
      python.run("a = numpy.ones(8, 'float32')");
      const references = () => python.evaluate("__import__('sys').getrefcount(a)");
      const before = references();
      for (let turn = 0; turn < 5; turn++) {
        assertThrows(
          () => python.buffer("a", { gpu }),
          TypeError,
          "ordinary host memory, as numpy's are",
        );
      }
      assertEquals(references(), before);
      assertEquals(python.evaluate("float(a.sum())"), 8);
      assertThrows(() => python.buffer("a.astype('c16')", { gpu }), TypeError, "kDLComplex");
      forget(python, "a");
    }),
);

takingTurns(testNumpy)(
  "1,000 rounds with numpy, either side first, leave the memory as it was",
  (python) =>
    withDevice(async (gpu) => {
      const round = (index: number) => {
        const x = gpu.pinned("float32", 100 + index % 7);
        x.array.fill(index);
        python.set("x", x);
        python.run(index % 2 === 0 ? "a = numpy.asarray(x)" : "a = numpy.from_dlpack(x)");
        if (index % 3 === 0) x.dispose();
        const y = python.buffer("a", { gpu, dtype: "float32" });
        if (index % 5 === 0) forget(python, "x", "a");
        assertEquals(y.subarray(-1).downloadSync()[0], index);
        y.dispose();
        python.run("x = a = None");
        x.dispose();
      };
      round(1);
      await gpu.synchronize();
      gpu.context.sweep();
      const before = [freeBytes(gpu), gpu.memory.hostBytes, python.arrayCount];
      for (let index = 0; index < 1000; index++) round(index);
      await gpu.synchronize();
      gpu.context.sweep();
      for (const cache of gpu.context.ledger.caches) cache.trim();
      assertEquals([freeBytes(gpu), gpu.memory.hostBytes, python.arrayCount], before);
      forget(python, "x", "a");
    }),
);

testNumpy(
  "numpy lets go on another thread while JavaScript computes and waits",
  (python) =>
    withDevice(async (gpu) => {
      for (let turn = 0; turn < 20; turn++) {
        const x = gpu.pinned("float32", 1000);
        x.array.fill(turn);
        python.set("x", x);
        python.run(`
        import threading
        box = [numpy.from_dlpack(x)]
        del x
        go, done = threading.Event(), threading.Event()
        def drop():
            go.wait()
            box.clear()
            done.set()
        thread = threading.Thread(target=drop)
        thread.start()
      `);
        x.dispose();
        using y = python.buffer("box[0]", { gpu, dtype: "float32" });
        python.run("go.set()");
        if (turn % 2 === 0) python.run("done.wait()"); // holds JavaScript until it is done
        else await delay(1);
        assertEquals(y.downloadSync()[999], turn);
        y.dispose();
        python.run("thread.join()\ndel box, thread, go, done, drop");
        await gpu.synchronize();
        gpu.context.sweep();
        assertEquals(python.arrayCount, 0);
      }
    }),
);

test("calls to Python are refused during a capture", (python) =>
  withDevice(async (gpu) => {
    using stream = gpu.createStream();
    const capture = async () => await gpu.capture(() => python.run("1"), { stream });
    await assertRejects(capture, TypeError, "is being captured");
  }));
