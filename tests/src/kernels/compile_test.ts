// Compiling CUDA C++: on the simulated driver with its own compiler, and with NVIDIA's where it is
// found, which needs no GPU. What was compiled is kept.

import {
  assert,
  assertEquals,
  assertNotEquals,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { findLibrary } from "../../../ffi/installed_libraries.ts";
import type { NvrtcApi } from "../../../ffi/nvrtc.ts";
import { sourceOf } from "../../../ffi/nvrtc_library.ts";
import type { ParameterType } from "../../../ffi/ptx.ts";
import { simulateDriver } from "../../../ffi/simulated/driver.ts";
import { CudaDevice } from "../../../mod.ts";
import { CompileError, f32, u64 } from "../../../src/entries/kernels.ts";
import { cacheFolder, cacheKey, findCode, keepCode } from "../../../src/kernels/compile_cache.ts";
import { architectureFor, compileText } from "../../../src/kernels/compiler.ts";
import { runDeno } from "../../support/child_deno.ts";
import { makePipe } from "../../support/files.ts";
import { ON_GPU, openTestDevice } from "../../support/driver.ts";
import { PROJECT_ROOT } from "../../support/project_files.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";
import { inTurn, testUnless } from "../../support/test_unless.ts";
import { CaughtWarnings } from "../../support/warnings.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

const SCALE = `extern "C" __global__ void scale(float *x, float factor, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) x[i] *= factor;
}`;

/** The same in JavaScript. */
const scale = {
  run(launch: {
    parameters: readonly DataView[];
    read(address: bigint, byteLength: number): Uint8Array<ArrayBuffer>;
    write(address: bigint, bytes: Uint8Array): void;
  }): void {
    const [address, factor, count] = launch.parameters;
    const start = address?.getBigUint64(0, true) ?? 0n;
    const byteLength = 4 * (count?.getInt32(0, true) ?? 0);
    const values = new Float32Array(launch.read(start, byteLength).buffer);
    const scaled = values.map((value) => value * (factor?.getFloat32(0, true) ?? 0));
    launch.write(start, new Uint8Array(scaled.buffer));
  },
};

const nvrtcPath = findLibrary("nvrtc").path;

/** Registers a test with NVIDIA's compiler; where there is none, its name says so. */
function testNvrtc(name: string, body: (api: NvrtcApi) => unknown): void {
  const hint = "no libnvrtc here, pip install nvidia-cuda-nvrtc-cu12";
  const reason = nvrtcPath === undefined ? hint : undefined;
  testUnless(name, reason, async () => void await body(sourceOf(findLibrary("nvrtc")).api));
}

/** Opens a device that can compile: a GPU's with NVRTC, or a simulated one with the kernel above. */
function openCompiling(): CudaDevice {
  if (ON_GPU) return openTestDevice();
  return CudaDevice.open(0, { driver: simulateDriver({ kernels: { scale } }) });
}

Deno.test("CudaDevice.compile() makes a kernel that runs, by the types in its source", {
  ignore: ON_GPU && nvrtcPath === undefined,
}, async () => {
  using gpu = openCompiling();
  using run = await gpu.compile(SCALE, { name: "scale" });
  using x = await gpu.upload(Float32Array.of(1, 2, 3, 4, 5));
  run.launch({ grid: 1, block: 64, args: [x, 1.5, 4] });
  run.launch({ grid: 1, block: 64, args: [x, f32(2), 1] });
  assertEquals(await x.download(), Float32Array.of(3, 3, 4.5, 6, 5));
  assertEquals([run.name, run.parameterBytes, `${run.module}`], [
    "scale",
    [8, 4, 4],
    "CudaModule(scale)",
  ]);
  run.dispose();
  assertEquals([run.disposed, gpu.live({ kind: "module" }).count], [true, 0]);
});

Deno.test(
  "CudaDevice.compile() chooses the only kernel, and asks where there are several or none",
  { ignore: ON_GPU && nvrtcPath === undefined },
  async () => {
    using gpu = openCompiling();
    using only = await gpu.compile(SCALE);
    assertEquals(only.name, "scale");
    const both = `${SCALE}\nextern "C" __global__ void other() {}`;
    await assertRejects(() => gpu.compile(both), TypeError, "pass { name }");
    await assertRejects(() => gpu.compile("__device__ int x;"), TypeError, "mark one __global__");
    await assertRejects(() => gpu.compile(SCALE, { name: "skale" }), TypeError, '"skale"');
    using second = await gpu.compile(both, { name: "scale" });
    assertEquals(second.module.kernelNames, ["scale", "other"]);
    assertEquals(gpu.live({ kind: "module" }).count, 2);
  },
);

Deno.test("CudaDevice.compile() says why a kernel of one's own does not run without a GPU", async () => {
  const driver = simulateDriver();
  await withDevice(async (gpu) => {
    const error = await assertRejects(() => gpu.compile(SCALE), TypeError);
    assert(error.message.includes("the simulated driver runs no code for GPUs"), error.message);
    await assertRejects(() => gpu.compile(5 as never), TypeError, "expected a string");
  }, { driver });
});

testOnDevice("CudaDevice.compile() refuses PTX, and the path of a source", async (gpu) => {
  const ptx = ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry f() { ret; }";
  await assertRejects(() => gpu.compile(ptx), TypeError, "gpu.loadModule() loads it");
  for (const path of ["scale.cu", "/kernels/scale.cuh"]) {
    await assertRejects(() => gpu.compile(path), TypeError, `"${path}": it is a path, pass await`);
  }
});

Deno.test("CudaDevice.compile() says that a simulated machine makes no templates", async () => {
  await withDevice(async (gpu) => {
    const source = "template <class T> __global__ void set(T *x, T value) { *x = value; }";
    const error = await assertRejects(
      () => gpu.compile(source, { name: "set<float>" }),
      CompileError,
    );
    assertEquals(
      error.message,
      `Cannot compile set.cu:\nno kernel is called "set<float>"; the compiler of simulated machines ` +
        "finds kernels by plain names, and makes no templates",
    );
    assertEquals(gpu.live({ kind: "module" }).count, 0);
  }, { driver: simulateDriver({ kernels: { set: { run() {} } } }) });
});

/** Names the folder of compiled code by another path: code in memory is of the former one. */
function forgetCode(): void {
  Deno.env.set("VRAMKIT_CACHE", `${cacheFolder()}/..`);
}

Deno.test(
  inTurn("compiled code is found again by this process, and by others through the folder"),
  async () => {
    using folder = new TemporaryFolder();
    using _cache = setVariable("VRAMKIT_CACHE", folder.path);
    const key = await cacheKey(["source", "options"]);
    assertNotEquals(key, await cacheKey(["source", "other options"]));
    assertEquals(await findCode(key), undefined);
    const types = [
      { byteLength: 8, kind: "integer" },
      { byteLength: 4, kind: "float" },
      { byteLength: 20, kind: "bytes" },
      { byteLength: 2, kind: undefined },
    ] as const;
    const code = {
      image: Uint8Array.of(1, 2, 3),
      entries: new Map<string, readonly ParameterType[]>([["f", types], ["g", []]]),
      symbol: "f",
      log: "a warning",
    };
    await keepCode(key, code);
    assertEquals(await findCode(key), code);
    forgetCode();
    assertEquals(await findCode(key), code);
    const [file, ...others] = [...Deno.readDirSync(`${folder.path}/kernels`)];
    assert(file !== undefined && others.length === 0, "unfinished files are left");
    const bytes = Deno.readFileSync(`${folder.path}/kernels/${file.name}`);
    const write = (name: string, contents: Uint8Array) =>
      Deno.writeFileSync(`${folder.path}/kernels/${name}.kernel`, contents);
    write("same", bytes);
    assertEquals(await findCode("same"), code);
    for (const at of bytes.keys()) {
      write(`short${at}`, bytes.subarray(0, at));
      assertEquals(await findCode(`short${at}`), undefined, `${at} bytes of the file were taken`);
      write(`changed${at}`, bytes.with(at, (bytes[at] ?? 0) ^ 0x55));
      assertEquals(await findCode(`changed${at}`), undefined, `a change at ${at} was taken`);
    }
  },
);

Deno.test("compiled code that somebody else may have written is not used, with one warning", async () => {
  using folder = new TemporaryFolder();
  const home = `${folder.path}/made/for/it`;
  using _cache = setVariable("VRAMKIT_CACHE", home);
  const key = "k";
  const code = { image: Uint8Array.of(1), entries: new Map(), symbol: "f", log: "" };
  const kernels = `${home}/kernels`;
  const file = `${kernels}/${key}.kernel`;
  const isRoot = Deno.uid() === 0;
  const changes: readonly (readonly [string, () => unknown])[] = [
    ["may be written by others (mode 666)", () => Deno.chmodSync(file, 0o666)],
    ["may be written by others (mode 620)", () => Deno.chmodSync(file, 0o620)],
    ["may be written by others (mode 777)", () => Deno.chmodSync(kernels, 0o777)],
    ["may be written by others (mode 1777)", () => Deno.chmodSync(kernels, 0o1777)],
    [`${home} above it may be`, () => Deno.chmodSync(home, 0o777)],
    ["it is a pipe", async () => {
      Deno.removeSync(file);
      await makePipe(folder, "made/for/it/kernels/k.kernel");
    }],
    ["it is a link", () => {
      Deno.renameSync(file, `${home}/elsewhere`);
      Deno.symlinkSync(`${home}/elsewhere`, file);
    }],
    ...(isRoot
      ? [
        ["belongs to user 65534", () => Deno.chownSync(file, 65534, 65534)] as const,
        ["belongs to user 65534", () => Deno.chownSync(kernels, 65534, 65534)] as const,
      ]
      : []),
  ];
  for (const [words, change] of changes) {
    await keepCode(key, code);
    forgetCode();
    assertEquals(await findCode(key), code, "before");
    await change();
    forgetCode();
    using warnings = new CaughtWarnings();
    assertEquals([await findCode(key), await findCode(key)], [undefined, undefined], words);
    assertEquals(warnings.texts.length, 1, words);
    assertStringIncludes(warnings.texts[0] ?? "", words);
    Deno.removeSync(`${folder.path}/made`, { recursive: true });
  }
});

Deno.test("the simulated compiler knows CUDA's types, structs and what the source names", async () => {
  const kernels = { k: { run() {} } };
  const declared = `
    struct S { int a; double b; }; // 16 bytes
    typedef struct { float x, y; char c[3]; } T;
    using Q = S;
    typedef unsigned long long u64;
    enum class E : unsigned char { A };
    struct __align__(16) V { float v[3]; };
    struct W { S s; T t[2]; float *p, q; };
    struct M { void f(); int a; };`;
  const sizes: Readonly<Record<string, number | undefined>> = {
    "S v": 16,
    "const struct S s": 16,
    "float p[]": 8,
    "const float *__restrict__ p": 8,
    "float4 v": 16,
    "double3 v": 24,
    "__half h": 2,
    "nv_bfloat16 h": 2,
    "half2 h": 4,
    "T t": 12,
    "Q q": 16,
    "u64 n": 8,
    "E e": 1,
    "V v": 16,
    "W w": 56,
    "dim3 d": 12,
    "std::size_t n": 8,
    "unsigned char": 1,
    "long int n": 8,
    "const unsigned n": 4,
    "M m": undefined,
    "Foo f": undefined,
    "long double x": undefined,
  };
  for (const [parameter, size] of Object.entries(sizes)) {
    const source = `${declared} extern "C" __global__ void k(${parameter}, int n) {}`;
    using gpu = CudaDevice.open(0, { driver: simulateDriver({ kernels }) });
    const compile = () => gpu.compile(source, { cache: false });
    if (size === undefined) {
      await assertRejects(compile, TypeError, "such as { parameterBytes: [8, 4] }");
      const named = simulateDriver({ kernels: { k: { run() {}, parameterBytes: [24, 4] } } });
      using other = CudaDevice.open(0, { driver: named });
      using kernel = await other.compile(source, { cache: false });
      assertEquals(kernel.parameterBytes, [24, 4]);
      continue;
    }
    using kernel = await compile();
    assertEquals([parameter, ...kernel.parameterBytes ?? []], [parameter, size, 4]);
    kernel.launch({ grid: 1, block: 1, args: [new Uint8Array(size), 1] as never });
    await gpu.synchronize();
  }
});

Deno.test("keepCode() removes files that killed processes left an hour ago, and no younger ones", async () => {
  using folder = new TemporaryFolder();
  using _cache = setVariable("VRAMKIT_CACHE", folder.path);
  const kernels = `${folder.path}/kernels`;
  Deno.mkdirSync(kernels);
  const minutesAgo = { "left.part": 61, "written now.part": 59, "mine.txt": 999 };
  for (const [name, minutes] of Object.entries(minutesAgo)) {
    Deno.writeTextFileSync(`${kernels}/${name}`, "");
    const then = new Date(Date.now() - minutes * 60_000);
    Deno.utimeSync(`${kernels}/${name}`, then, then);
  }
  await keepCode("key", { image: new Uint8Array(1), entries: new Map(), symbol: "f", log: "" });
  const names = [...Deno.readDirSync(kernels)].map(({ name }) => name).sort();
  assertEquals(names, ["key.kernel", "mine.txt", "written now.part"]);
});

Deno.test("compiled code is kept in memory alone where the program may not write", async () => {
  using folder = new TemporaryFolder();
  const program = `
    import { cacheFolder, findCode, keepCode } from "${new URL(
    "src/kernels/compile_cache.ts",
    PROJECT_ROOT,
  )}";
    const code = { image: Uint8Array.of(1), entries: new Map(), symbol: undefined, log: "" };
    await keepCode("k", code);
    console.log(cacheFolder() === undefined, await findCode("k") === code);
  `;
  const file = folder.write("program.ts", program);
  for (
    const flags of [["--allow-env", "--allow-read"], ["--allow-env", "--allow-write"], [
      "--allow-read",
    ]]
  ) {
    const { stdout, stderr } = await runDeno(
      ["run", "--quiet", "--no-check", "--no-prompt", ...flags, file],
      { env: { VRAMKIT_CACHE: folder.path } },
    );
    assertEquals(stdout.trim(), "true true", stderr);
  }
  assertEquals([...Deno.readDirSync(folder.path)].map(({ name }) => name), ["program.ts"]);
});

testNvrtc("compileText() makes a cubin for sm_90, with types of all parameters", async (api) => {
  const source = `struct Five { float values[5]; };
    __global__ void mixed(float *x, const int *y, float f, int n, Five s, double d, char c, short h) {
      x[threadIdx.x] = f * y[n] + s.values[n] + d + c + h;
    }`;
  const request = { source, file: "mixed.cu", expression: undefined, options: [] };
  const { image, entries } = await compileText(api, { ...request, architecture: "sm_90" });
  assertEquals([...image.subarray(0, 4)], [0x7f, 0x45, 0x4c, 0x46]);
  const [types] = entries.values();
  assertEquals(types?.map(({ byteLength, kind }) => [byteLength, kind]), [
    [8, "integer"],
    [8, "integer"],
    [4, "float"],
    [4, "integer"],
    [20, "bytes"],
    [8, "float"],
    [1, "integer"],
    [2, "integer"],
  ]);
  const text = await compileText(api, { ...request, architecture: "compute_90" });
  assert(new TextDecoder().decode(text.image).includes(".target sm_90"));
});

testNvrtc("compileText() finds an instance of a template", async (api) => {
  const source =
    `namespace kit { template <class T> __global__ void set(T *x, T value) { *x = value; } }`;
  const request = { source, file: "set.cu", options: [], architecture: "sm_90" };
  const { symbol = "", entries } = await compileText(api, {
    ...request,
    expression: "kit::set<double>",
  });
  assertEquals(entries.get(symbol)?.map(({ kind }) => kind), ["integer", "float"]);
  await assertRejects(
    () => compileText(api, { ...request, expression: "kit::sat<int>" }),
    CompileError,
  );
});

testNvrtc("compileText() marks the lines with mistakes", async (api) => {
  const source = `extern "C" __global__ void bad(float *x) {
  int i = threadIdx.x;
  x[i] = z * x[i];
}`;
  const request = { source, file: "bad.cu", expression: undefined, options: [] };
  const error = await assertRejects(
    () => compileText(api, { ...request, architecture: "sm_90" }),
    CompileError,
  );
  assertEquals(error.problems, [{ line: 3, message: 'identifier "z" is undefined' }]);
  assertEquals(
    error.message,
    `Cannot compile bad.cu: 1 error
bad.cu:3: identifier "z" is undefined
  2 |   int i = threadIdx.x;
> 3 |   x[i] = z * x[i];
  4 | }`,
  );
  assert(error.log.includes("detected in the compilation"));
  await assertRejects(
    () => compileText(api, { ...request, options: ["--nonsense"], architecture: "sm_90" }),
    TypeError,
    "--nonsense",
  );
});

testNvrtc("architectureFor() goes on from the newest that the compiler knows", (api) => {
  assertEquals(architectureFor(api, 90), "sm_90");
  const newest = architectureFor(api, 999);
  assert(/^compute_\d+$/.test(newest) && newest !== "compute_999", newest);
});

testNvrtc("CudaModule.kernel() finds kernels of C++ by the name in their source", async (api) => {
  const source = `__global__ void f(int *x, float y) { *x = y; }
    __global__ void g(int *x) { *x = 1; }
    __global__ void g(float *x) { *x = 1; }`;
  const request = { source, file: "f.cu", expression: undefined, options: [] };
  const { image } = await compileText(api, { ...request, architecture: "compute_75" });
  const ptx = new TextDecoder().decode(image).replace(/\0/g, "").replace(
    /^\.version.*/m,
    ".version 7.0",
  );
  const kernels = { _Z1fPif: { run() {} } };
  const driver = ON_GPU ? undefined : simulateDriver({ kernels });
  using gpu = driver === undefined ? openTestDevice() : CudaDevice.open(0, { driver });
  using module = await gpu.loadModule(ptx);
  assertEquals(module.kernel("f").parameterBytes, [8, 4]);
  assertEquals(module.kernel("_Z1fPif").parameterBytes, [8, 4]);
  await assertRejects(() => Promise.try(() => module.kernel("g")), TypeError, "are both called so");
  await assertRejects(() => Promise.try(() => module.kernel("h")), TypeError, '"h"');
});

testOnDevice("CudaDevice.loadModule() takes whole images only", async (gpu) => {
  const random = new Uint8Array(200).map((_, index) => index * 37 % 256);
  const elf = new Uint8Array(300);
  elf.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
  new DataView(elf.buffer).setBigUint64(40, 200n, true); // sections at 200
  new DataView(elf.buffer).setUint16(58, 64, true);
  new DataView(elf.buffer).setUint16(60, 3, true);
  const fatbin = new Uint8Array(40);
  new DataView(fatbin.buffer).setUint32(0, 0xba55ed50, true);
  new DataView(fatbin.buffer).setUint16(6, 16, true);
  new DataView(fatbin.buffer).setBigUint64(8, 1000n, true);
  for (
    const [bytes, words] of [
      [random, "no PTX, cubin or fat binary"],
      [new Uint8Array(), "no PTX, cubin or fat binary"],
      [elf, "cubin of 300 bytes: it was cut off"],
      [elf.subarray(0, 20), "it was cut off"],
      [fatbin, "fat binary of 40 bytes: it was cut off"],
      [fatbin.subarray(0, 8), "it was cut off"],
    ] as const
  ) {
    await assertRejects(() => gpu.loadModule(bytes), TypeError, words);
  }
  const oneLine = SCALE.replaceAll("\n", " ");
  for (const source of ["int x;\n", SCALE, oneLine, new TextEncoder().encode(SCALE)]) {
    const words = "pass CUDA C++ to gpu.compile()";
    await assertRejects(() => gpu.loadModule(source), TypeError, words);
  }
  const words = "Cannot load /nowhere.cubin as a module: it does not exist";
  await assertRejects(() => gpu.loadModule("/nowhere.cubin"), Deno.errors.NotFound, words);
  await assertRejects(() => gpu.loadModule("https://a/b.ptx"), TypeError, "an address of the web");
  if (Deno.build.os === "linux") {
    await assertRejects(() => gpu.loadModule("/dev/null"), TypeError, "module: it is a device");
  }
  assertEquals(gpu.live({ kind: "module" }).count, 0);
});

Deno.test("CudaDevice.loadModule() refuses a pipe, for which it would wait", {
  ignore: Deno.build.os === "windows",
}, async () => {
  using folder = new TemporaryFolder();
  const pipe = await makePipe(folder, "pipe.ptx");
  await withDevice(async (gpu) => {
    for (const source of [pipe, [pipe], new URL(`file://${pipe}`)]) {
      await assertRejects(() => gpu.loadModule(source), TypeError, "module: it is a pipe");
    }
    await assertRejects(() => gpu.loadModule(folder.path), Deno.errors.IsADirectory, "a folder");
  });
});

testOnDevice("CudaDevice.loadModule() reads a file, by path and by URL", async (gpu) => {
  using folder = new TemporaryFolder();
  const path = folder.write("kernels.ptx", ".version 7.0\n.target sm_70\n.address_size 64\n");
  using first = await gpu.loadModule(path);
  using second = await gpu.loadModule(new URL(`file://${path}`), { label: "second" });
  assertEquals([first.name, second.name], ["kernels.ptx", "second"]);
});

Deno.test("numbers with types refuse what does not fit them", () => {
  assertEquals([`${f32(0.5)}`, `${u64(2n ** 64n - 1n)}`], [
    "f32(0.5)",
    "u64(18446744073709551615)",
  ]);
});

function setVariable(name: string, value: string): Disposable {
  const before = Deno.env.get(name);
  Deno.env.set(name, value);
  return {
    [Symbol.dispose]: () =>
      before === undefined ? Deno.env.delete(name) : Deno.env.set(name, before),
  };
}
