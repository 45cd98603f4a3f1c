// What an editor shows: the compiler's message for mistakes that people make, which names what was
// meant, and links in comments that a hover can read.

import { assert, assertEquals, assertThrows } from "@std/assert";
import { CudaDevice } from "../../src/device/device.ts";
import { runDeno } from "../support/child_deno.ts";
import { PROJECT_ROOT, projectFiles } from "../support/project_files.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { testOfAll } from "../support/test_unless.ts";

/** Mistakes, one line each, with the words by which the compiler's message helps. */
const MISTAKES: readonly (readonly [line: string, ...words: string[]])[] = [
  ["await x.upload(new Float64Array(4));", "to parameter of type 'Float32Array<ArrayBuffer>'"],
  ["await x.upload([1, 2]);", "to parameter of type 'Float32Array<ArrayBuffer>'"],
  ["x.uploadSync(new Int32Array(4));", "to parameter of type 'Float32Array<ArrayBuffer>'"],
  [
    "await gpu.zeros('int64', 2).upload([1n, 2n]);",
    "to parameter of type 'BigInt64Array<ArrayBuffer>'",
  ],
  [
    "await gpu.upload(new Float64Array(4), { dtype: 'float32' });",
    "to parameter of type 'Float32Array<ArrayBuffer>'",
  ],
  ["await gpu.upload([1n, 2n]);", "bigints, booleans and bytes need { dtype }"],
  ["gpu.uploadSync([true, false]);", "bigints, booleans and bytes need { dtype }"],
  ["await gpu.upload(new Uint8Array(4).buffer);", "bigints, booleans and bytes need { dtype }"],
  ["await gpu.upload('numbers');", "expected a typed array or numbers"],
  ["gpu.upload(new Float32Array(4), { lable: 'x' });", "Did you mean to write 'label'?"],
  ["await x.download(new Float64Array(4));", "to parameter of type 'Uploadable<\"float32\">'"],
  [
    "x.copyFrom(gpu.zeros('int32', 4));",
    "Type '\"int32\"' is not assignable to type '\"float32\"'",
  ],
  ["x.copyFrom(new Float32Array(4));", 'to parameter of type \'GpuBuffer<"float32">'],
  ["gpu.alloc('float', 4);", "to parameter of type 'DType'"],
  ["gpu.zeros('float32');", "An argument for 'shape' was not provided"],
  ["x.fill('1');", "'string' is not assignable to parameter of type 'number'"],
  ["gpu.zeros('int64', 4).fill(1);", "'number' is not assignable to parameter of type 'bigint'"],
  ["x.uplaod(new Float32Array(4));", "Did you mean 'upload'?"],
  ["x.to('cuda:1');", 'to parameter of type \'{ alloc(dtype: "float32"'],
  ["CudaDevice.open(0, { driver: 'cpu' });", "to type 'DriverChoice"],
  ["x.view(1, 2);", "Expected 1 arguments, but got 2"],
  ["x.shape = [2, 2];", "Cannot assign to 'shape' because it is a read-only property"],
  ["x.astype('half');", "to parameter of type 'DType'"],
];

testOfAll("the compiler's message for 23 mistakes says what was expected", async () => {
  using folder = new TemporaryFolder();
  const kit = new URL("mod.ts", PROJECT_ROOT).href;
  const head = [
    `import { CudaDevice } from "${kit}";`,
    'const gpu = CudaDevice.open(0, { driver: "auto" });',
    'const x = gpu.zeros("float32", 4);',
  ];
  const program = folder.write("a.ts", [...head, ...MISTAKES.map(([line]) => line)].join("\n"));
  const { stderr } = await runDeno(["check", "--no-config", program]);
  const messages = new Map(
    stderr.split(/^(?=TS\d+ \[ERROR\]: \S)/m).map((message) =>
      [Number(/a\.ts:(\d+):/.exec(message)?.[1]), message] as const
    ).filter(([line]) => line > 0),
  );
  for (const [index, [line, ...words]] of MISTAKES.entries()) {
    const message = messages.get(index + 1 + head.length) ?? "";
    assertEquals(words.filter((each) => !message.includes(each)), [], `${line}\n${message}`);
  }
});

Deno.test("the signatures of upload() begin with what people pass", () => {
  for (
    const [path, signature] of [
      ["src/device/device.ts", "  upload(\n    source: Float32Array | readonly number[],"],
      ["src/buffers/gpu_buffer.ts", "  upload(source: ArrayOf<D>,"],
    ] as const
  ) {
    const text = Deno.readTextFileSync(new URL(path, PROJECT_ROOT));
    const first = text.search(/^ {2}(async )?upload[(<]/m);
    assert(text.startsWith(signature, first), text.slice(first, first + 80));
  }
});

Deno.test("no {@link} is broken over a line: a hover would show the star of the comment", () => {
  const broken = [...projectFiles([".ts"], "src/"), ...projectFiles(["mod.ts"])].flatMap(
    ({ path, text }) =>
      [...text.matchAll(/\{@link(code)?\b[^}]*\n[^}]*\}/g)].map(([link]) => `${path}: ${link}`),
  );
  assertEquals(broken, []);
});

Deno.test("a kernel that completes names offers none that only the kit uses", () => {
  using gpu = CudaDevice.open(0, { driver: "simulated" });
  using x = gpu.zeros("float32", 4);
  // Deno's kernel leaves out names that begin as symbols do.
  const isOffered = (name: string) => /^[\w$]+$/.test(name);
  for (const shown of [gpu, x, gpu.timeline, gpu.live()]) {
    assertEquals(Object.keys(shown).filter((name) => /clone/.test(name) && isOffered(name)), []);
    assertThrows(() => structuredClone(shown), DOMException);
  }
});
