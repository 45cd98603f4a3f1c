// CuPy and PyTorch in this process, on the same arrays as TypeScript: by DLPack and by
// __cuda_array_interface__, both ways, on any thread, and with memory that stays steady.

import { assertEquals, assertThrows } from "@std/assert";
import { type DType, DTYPE_NAMES } from "../../../mod.ts";
import { type Python, PythonError } from "../../../src/entries/python.ts";
import { gpuPythonTestsWith } from "../../support/python_in_process.ts";
import { checkSteady, freeBytes, withDevice } from "../../support/with_device.ts";

/** The same few steps in each library. */
interface Library {
  readonly name: string;
  /** Takes `x` without a copy, as `a`; each by one of the protocols. */
  readonly takes: Readonly<Record<string, string>>;
  /** Makes 1,000 floats as `b`, each 1 more than the one before, and queues them. */
  readonly make: string;
  /** Waits for the library's own work. */
  readonly wait: string;
  /** Gives back what the library keeps for later. */
  readonly trim: string;
  /** Makes a stream `s` of the library's, and runs `body` on it. */
  readonly onStream: (body: string) => string;
}

const LIBRARIES: readonly Library[] = [
  {
    name: "cupy",
    takes: { DLPack: "a = cupy.from_dlpack(x)", interface: "a = cupy.asarray(x)" },
    make: "b = cupy.arange(1000, dtype='float32')",
    wait: "cupy.cuda.Device().synchronize()",
    trim: "cupy.get_default_memory_pool().free_all_blocks()",
    onStream: (body) => `s = cupy.cuda.Stream(non_blocking=True)\nwith s:\n  ${body}`,
  },
  {
    name: "torch",
    takes: {
      DLPack: "a = torch.from_dlpack(x)",
      interface: "a = torch.as_tensor(x, device='cuda')",
    },
    make: "b = torch.arange(1000, dtype=torch.float32, device='cuda')",
    wait: "torch.cuda.synchronize()",
    trim: "torch.cuda.empty_cache()",
    onStream: (body) => `s = torch.cuda.Stream()\nwith torch.cuda.stream(s):\n  ${body}`,
  },
];

const ROUNDS = 1000;

function forget(python: Python): void {
  python.run("for name in ['x', 'a', 'b', 's', 'box', 'thread']: globals().pop(name, None)");
}

for (const { name, takes, make, wait, trim, onStream } of LIBRARIES) {
  const test = gpuPythonTestsWith(name);

  for (const [protocol, take] of Object.entries(takes)) {
    test(`${name} and TypeScript work on one array by ${protocol}`, (python) =>
      withDevice(async (gpu) => {
        using x = gpu.alloc("float32", [1 << 10, 1 << 10]);
        x.fill(1);
        python.set("x", x);
        python.run(`${take}\na += 2\nassert list(a.shape) == [1024, 1024]`);
        assertEquals([await x.at(0), await x.at(-1)], [3, 3]);
        // Many turns, so that missing order between the streams of both sides would show.
        for (let turn = 0; turn < 50; turn++) {
          x.fill(turn);
          python.run("a += 1");
          x.subarray(0, 10).fill(0);
          python.run("a *= 2");
        }
        assertEquals([await x.at(5), await x.at(-1)], [0, 100]);
        assertEquals(python.evaluate("float(a.reshape(-1)[100])"), 100);
        forget(python);
        assertEquals(python.arrayCount, 0);
      }));

    test(`${name} keeps memory by ${protocol} that TypeScript disposed`, (python) =>
      withDevice(async (gpu) => {
        const x = gpu.alloc("float32", 1 << 20);
        x.fill(5);
        python.set("x", x);
        python.run(`${take}\ndel x`);
        x.dispose();
        for (let turn = 0; turn < 4; turn++) gpu.alloc("float32", 1 << 20).fill(9).dispose();
        await gpu.synchronize();
        assertEquals(python.evaluate("[float(a.min()), float(a.max())]"), [5, 5]);
        forget(python);
        assertEquals(python.arrayCount, 0);
      }));

    test(`${ROUNDS} rounds with ${name} by ${protocol} leave the free memory as it was`, (python) =>
      withDevice(async (gpu) => {
        const round = async (index: number) => {
          const x = gpu.alloc("float32", 8000 + index % 7);
          x.fill(index);
          python.set("x", x);
          python.run(`${take}\na += 1\n${make}`);
          const y = python.buffer("a", { gpu, dtype: "float32" });
          const b = python.buffer("b", { gpu, dtype: "float32" });
          if (index % 2 === 0) x.dispose();
          if (index % 3 === 0) forget(python);
          y.fill(index + 2);
          assertEquals([await y.at(-1), await b.at(-1)], [index + 2, 999]);
          y.dispose();
          b.dispose();
          forget(python);
          x.dispose();
        };
        const free = async () => {
          await gpu.synchronize();
          gpu.context.sweep();
          python.run(`import gc; gc.collect()\n${wait}\n${trim}`);
          return freeBytes(gpu);
        };
        for (let index = 0; index < 20; index++) await round(index);
        const freeBefore = await free();
        for (let index = 0; index < ROUNDS; index++) await round(index);
        await free();
        checkSteady(gpu, freeBefore);
        assertEquals(python.arrayCount, 0);
      }));
  }

  test(`arrays of ${name}'s are used where they lie, also strided, and go when they are disposed`, (python) =>
    withDevice(async (gpu) => {
      python.run(make);
      const b = python.buffer("b", { gpu, dtype: "float32" });
      python.run("b[0] = 7"); // after b was handed over
      assertEquals([await b.at(0), await b.at(999)], [7, 999]);
      b.subarray(1, 2).fill(8);
      assertEquals(python.evaluate("float(b[1])"), 8);
      const view = python.buffer("b.reshape(10, 100).T", { gpu, dtype: "float32", strided: true });
      assertEquals([view.shape, view.strides], [[100, 10], [1, 100]]);
      using turned = gpu.alloc("float32", [100, 10]);
      view.copyTo(turned);
      assertEquals([await turned.at(1), await turned.at(10)], [100, 8]);
      forget(python);
      assertEquals([await b.at(0), await b.at(999)], [7, 999]); // Python let go first
      view.buffer.dispose();
      b.dispose();
      await gpu.synchronize();
      gpu.context.sweep();
    }));

  test(`work on a stream of ${name}'s comes after TypeScript's, and before it where it is named`, (python) =>
    withDevice(async (gpu) => {
      using x = gpu.alloc("float32", 1 << 22);
      python.run(onStream("pass"));
      using theirs = python.stream("s", { gpu });
      const attribute = name === "cupy" ? "s.ptr" : "s.cuda_stream";
      assertEquals(theirs.handle, BigInt(python.evaluate(attribute) as number));
      for (let turn = 0; turn < 20; turn++) {
        x.fill(turn);
        python.set("x", x);
        python.run(onStream(`${takes["DLPack"]}; a += 1`).replace(/^s = .*\n/, ""));
        gpu.stream.wait(theirs);
        assertEquals([await x.at(0), await x.at(-1)], [turn + 1, turn + 1]);
      }
      using taken = python.buffer("a", { gpu, dtype: "float32", stream: theirs });
      assertEquals(await taken.at(-1), 20);
      forget(python); // the stream stays until `theirs` is disposed
      x.fill(1, { stream: theirs });
      taken.fill(2, { stream: theirs });
      taken.dispose();
      await gpu.synchronize();
      gpu.context.sweep();
      assertEquals([await x.at(-1), python.arrayCount], [2, 0]);
    }));

  test(`a thread of Python's lets go of arrays that ${name} has, while TypeScript works`, (python) =>
    withDevice(async (gpu) => {
      for (let turn = 0; turn < 50; turn++) {
        const x = gpu.alloc("float32", 1 << 16);
        x.fill(turn);
        python.set("x", x);
        python.run(`
          import threading, time
          ${takes["DLPack"]}
          box = [a, x]
          del a, x
          def drop():
              time.sleep(0.001)
              box.clear()
          thread = threading.Thread(target=drop)
          thread.start()
        `);
        x.dispose();
        using other = gpu.zeros("float32", 1 << 16);
        assertEquals(await other.at(-1), 0);
        python.run("thread.join()");
        forget(python);
        assertEquals(python.arrayCount, 0);
      }
    }));

  test(`bfloat16, 8-bit floats and complex numbers of ${name}'s: taken or refused by name`, (python) =>
    withDevice(async (gpu) => {
      python.run(`import ${name}`);
      const [dtype, words] = name === "torch"
        ? ["torch.bfloat16", "torch.complex128"]
        : ["'float16'", "'complex128'"];
      const zeros = name === "torch"
        ? "torch.zeros(4, device='cuda', dtype="
        : "cupy.zeros(4, dtype=";
      using half = python.buffer(`${zeros}${dtype})`, { gpu });
      half.fill(1);
      assertEquals([...await half.download()].map(Number), [1, 1, 1, 1]);
      let refused = "";
      try {
        python.buffer(`${zeros}${words})`, { gpu });
      } catch (error) {
        refused = `${error}`;
      }
      assertEquals(refused.includes("kDLComplex of 128 bits"), true, refused);
      half.dispose();
      await gpu.synchronize();
      gpu.context.sweep();
    }));
}

gpuPythonTestsWith("cupy", "torch")(
  "CuPy, PyTorch and TypeScript work on one array",
  (python) =>
    withDevice(async (gpu) => {
      using x = gpu.zeros("float32", 1000);
      python.set("x", x);
      python.run("c = cupy.from_dlpack(x); t = torch.from_dlpack(x)");
      for (let turn = 0; turn < 10; turn++) {
        python.run("c += 1\nt += 10");
        x.subarray(0, 1).fill(0);
      }
      assertEquals([await x.at(0), await x.at(1)], [0, 110]);
      python.run("for name in ['x', 'c', 't']: globals().pop(name)");
      assertEquals(python.arrayCount, 0);
    }),
);

gpuPythonTestsWith("torch")(
  "PyTorch has small floats and complex numbers as its own types, both ways",
  (python) =>
    withDevice(async (gpu) => {
      python.run("import torch");
      const types: readonly DType[] = DTYPE_NAMES.filter((name) => /_|complex/.test(name));
      for (const dtype of types) {
        using x = gpu.alloc<DType>(dtype, [2, 8]);
        await x.as("uint8").upload(Uint8Array.from({ length: x.byteLength }, (_, at) => at * 5));
        python.set("x", x);
        if (dtype.startsWith("float6")) {
          assertThrows(() => python.run("torch.from_dlpack(x)"), PythonError, "nsupported");
        } else {
          python.run("a = torch.from_dlpack(x)");
          const isPair = dtype.startsWith("float4");
          const shape = [`torch.${dtype}${isPair ? "_x2" : ""}`, [2, isPair ? 4 : 8]];
          assertEquals(python.evaluate("[str(a.dtype), list(a.shape)]"), shape);
          using back = python.buffer("a", { gpu });
          assertEquals([back.dtype, back.shape, await back.equals(x)], [dtype, [2, 8], true]);
        }
        forget(python);
      }
      await gpu.synchronize();
      gpu.context.sweep();
      assertEquals(python.arrayCount, 0);
    }),
);
