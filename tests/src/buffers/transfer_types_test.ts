// The compiler's checks of transfers: arrays that would fail at run time are refused before that.

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { runDeno } from "../../support/child_deno.ts";
import { PROJECT_ROOT } from "../../support/project_files.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";
import { testOfAll } from "../../support/test_unless.ts";

const HEAD = `import {
  CudaDevice, type DeviceBuffer, type DType, type DTypeOf, type GpuBuffer, type HostArray, type ScalarOf,
  type StridedView,
} from "MOD";
const gpu = CudaDevice.open(0, { driver: "simulated" });
const floats = gpu.alloc("float32", [2, 3]);
const halves = gpu.alloc("float16", 6);
const brains = gpu.alloc("bfloat16", 6);
const bytes = gpu.alloc("uint8", 6);
const flags = gpu.alloc("bool", 6);
const longs = gpu.alloc("int64", 6);
const buffers: DeviceBuffer[] = [floats, halves, brains, bytes, flags, longs];
const shared = new SharedArrayBuffer(24);
console.log(buffers, shared);
`;

/** Each is accepted by the compiler. */
const FITTING = [
  "floats.uploadSync(new Float32Array(6));",
  "floats.uploadSync(new Float32Array(shared));",
  "floats.uploadSync(new Float32Array(6).buffer);",
  "floats.uploadSync(new DataView(shared));",
  "floats.uploadSync(shared);",
  "floats.transpose().upload(new Float32Array(6));",
  "halves.uploadSync(new Float16Array(6)).uploadSync(new Uint16Array(6));",
  "halves.uploadSync(new Float32Array(6)).downloadSync(new Float32Array(6));",
  "gpu.upload(new Float32Array(6), { dtype: 'float16' });",
  "gpu.upload(new Float32Array(6), { dtype: 'bfloat16' });",
  "gpu.upload(new Uint16Array(6), { dtype: 'bfloat16', shape: [2, 3] });",
  "const plain: DeviceBuffer<'int16'> = gpu.uploadSync(new Int16Array(6)); plain;",
  "gpu.upload(new Uint8ClampedArray(6));",
  "gpu.upload(new DataView(shared), { dtype: 'int32' });",
  "brains.uploadSync(new Float32Array(6)).uploadSync(new Uint16Array(6));",
  "bytes.uploadSync(new Uint8Array(6)).uploadSync(new Uint8ClampedArray(6));",
  "flags.uploadSync(new Uint8Array(6));",
  "longs.uploadSync(new BigInt64Array(6));",
  "for (const buffer of buffers) buffer.uploadSync(new ArrayBuffer(buffer.byteLength));",
  "const fresh: Float32Array<ArrayBuffer> = floats.downloadSync(); fresh;",
  "const same: Float32Array<SharedArrayBuffer> = " +
  "floats.downloadSync(new Float32Array(shared)); same;",
  "const raw: ArrayBuffer = await floats.download(new ArrayBuffer(24)); raw;",
  "gpu.upload([[1, 2], new Set([3, 4]), new Float32Array(2)], { dtype: 'float32' });",
  "const up = async <A extends HostArray>(a: A): Promise<DeviceBuffer<DTypeOf<A>>> => " +
  "await gpu.upload(a, { label: 'a' }); " +
  "const doubles: DeviceBuffer<'float64'> = await up(new Float64Array(2)); doubles;",
  "const upSync = <A extends HostArray>(a: A): DeviceBuffer<DTypeOf<A>> => gpu.uploadSync(a); upSync;",
  "const either: Float32Array | Int32Array = new Float32Array(2); gpu.upload(either);",
  "gpu.upload([[1n], [2n]], { dtype: 'int64' }); gpu.upload([true], { dtype: 'bool' });",
  "const again = async <D extends DType>(b: GpuBuffer<D>) => " +
  "{ const a = await b.download(); await b.upload(a); b.downloadSync(a); " +
  "return await gpu.upload(a, { dtype: b.dtype }); }; again;",
  "const turn = async <D extends DType>(v: StridedView<D>) => v.upload(await v.download()); turn;",
  "const some = [1] as number[] | Float32Array; const at: DeviceBuffer<'float32'> = " +
  "await gpu.upload(some); gpu.upload(some, { dtype: 'float32' }); at;",
  "const raws = new Uint8Array(4) as ArrayBuffer | Uint8Array; gpu.uploadSync(raws, { dtype: 'uint8' });",
  "const set = <D extends 'float32' | 'int8'>(b: DeviceBuffer<D>) => b.fill(1).set([1, 2]); set;",
  "const all = <D extends DType>(b: GpuBuffer<D>, v: ScalarOf<D>) => b.fill(v).setAt(0, v); all;",
  "flags.fill(true).fill(1); gpu.upload([true, 0], { dtype: 'bool' }); flags.set([false]);",
  "const get = async (b: GpuBuffer | StridedView) => [await b.download(), b.downloadSync()]; get;",
  "const turned: DeviceBuffer<'int8'> = floats.transpose().astype('int8'); turned;",
  "gpu.from(ReadableStream.from([new Float32Array(2), new Uint8Array(4).buffer]));",
  "floats.set(new Float32Array(2)); floats.set([new Float32Array(2), [1, 2]]); longs.set(new Set([1n]));",
  "gpu.upload([1, 2] as const); gpu.upload([[1, 2], new Set([3, 4]), new Float32Array(2)]);",
];

/** Each is refused, with this in the message. */
const REFUSED: Readonly<Record<string, string>> = {
  "floats.upload(new Float64Array(6));": `parameter of type 'Uploadable<"float32">'`,
  "floats.uploadSync(new Uint8Array(24));": `parameter of type 'Uploadable<"float32">'`,
  "floats.download(new Float64Array(6));": `parameter of type 'Uploadable<"float32">'`,
  "floats.downloadSync(new Int32Array(6));": `parameter of type 'Uploadable<"float32">'`,
  "floats.transpose().upload([1, 2]);": `parameter of type 'Uploadable<"float32">'`,
  "longs.uploadSync(new BigUint64Array(6));": `parameter of type 'Uploadable<"int64">'`,
  "gpu.upload('12', { dtype: 'float32' });":
    "of type 'string' is not assignable to parameter of type",
  "gpu.upload(floats);": '"expected a typed array or numbers',
  "gpu.uploadSync([floats.transpose()]);": "is not assignable",
  "floats.set(new Float64Array(2));": "is not assignable to parameter of type",
  "gpu.pinned('int8', 2).set(new Uint8Array(2));": "is not assignable to parameter of type",
  "floats.set(floats);": "is not assignable to parameter of type",
  "gpu.upload([1n, 2n]);": "bigints, booleans and bytes need { dtype }",
  "gpu.uploadSync([[true, false]]);": "boolean",
  "const mixed = new Float32Array(2) as Float32Array | Int32Array; gpu.upload(mixed, { dtype: 'int32' });":
    "No overload matches this call",
  "gpu.upload(new Float32Array(6), { dtype: 'int32' });":
    `'Float32Array<ArrayBuffer>' is not assignable to parameter of type`,
  "gpu.uploadSync(new Uint8Array(6), { dtype: 'float32' });":
    `'Uint8Array<ArrayBuffer>' is not assignable to parameter of type`,
  "gpu.upload([1, 2], { dtype: 'int64' });": "Type 'number' is not assignable",
  "longs.set([1, 2]);": "Type 'number' is not assignable",
  "gpu.staged('int64', 2).set([1]);": "Type 'number' is not assignable",
  "gpu.mapped('int64', 2).set([1]);": "Type 'number' is not assignable",
  "gpu.lazy('int64', 2).set([1]);": "Type 'number' is not assignable",
  "gpu.growable('int64', { shape: 2 }).set([1]);": "Type 'number' is not assignable",
  "floats.fill(true);": "'boolean' is not assignable to parameter of type 'number'",
  "floats.setAt(0, 1n);": "'bigint' is not assignable to parameter of type 'number'",
  "gpu.upload(['1', '2'], { dtype: 'float32' });": "Type 'string' is not assignable",
  "gpu.alloc('float23', 6);": `'"float23"' is not assignable to parameter of type 'DType'`,
  "const doubles: DeviceBuffer<'float64'> = buffers[0]; doubles;":
    `Type 'DeviceBuffer<DType>' is not assignable`,
};

testOfAll("transfers accept and refuse arrays and texts by their types", async () => {
  const errors = (await check([...FITTING, ...Object.keys(REFUSED).map((line) => `{ ${line} }`)]))
    .split(/\n(?=TS\d+ \[ERROR\]: )/);
  const firstLine = HEAD.split("\n").length + FITTING.length;
  for (const [index, [statement, message]] of Object.entries(REFUSED).entries()) {
    const place = new RegExp(`program\\.ts:${firstLine + index}:`);
    const error = errors.find((text) => place.test(text)) ?? `nothing about ${statement}`;
    assertStringIncludes(error, message);
    assertMatch(error, /^TS\d+ /);
  }
  const places = errors.map((text) => Number(/program\.ts:(\d+):/.exec(text)?.[1]));
  assertEquals(places.filter((line) => line < firstLine), []);
});

/** Type-checks statements, one a line, in a program elsewhere, and returns the errors. */
async function check(statements: readonly string[]): Promise<string> {
  using folder = new TemporaryFolder();
  const head = HEAD.replace("MOD", new URL("mod.ts", PROJECT_ROOT).href);
  const path = folder.write("program.ts", `${head}${statements.join("\n")}\n`);
  const { stderr } = await runDeno(["check", "--quiet", "--no-lock", path], { cwd: folder.path });
  return stderr;
}
