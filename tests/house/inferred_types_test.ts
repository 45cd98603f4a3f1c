// What an editor infers from calls, and that the objects are what it says: for one kind of buffer, for
// unions of kinds, and in functions over element types. The compiler checks this file with the rest.

import { assertEquals, assertInstanceOf } from "@std/assert";
import {
  type ArrayOf,
  type CudaDevice,
  DeviceBuffer,
  type DType,
  type GpuBuffer,
  type GrowableBuffer,
  type LazyBuffer,
  type ManagedBuffer,
  type MappedBuffer,
  type PinnedBuffer,
  type RegisteredBuffer,
  type ScalarOf,
  type StagedBuffer,
  type StridedView,
} from "../../mod.ts";
import { testOnDevice, withDevice } from "../support/with_device.ts";

/** Any kind of buffer, as programs write it that tell kinds apart. */
type AnyKind<D extends DType = DType> =
  | DeviceBuffer<D>
  | GrowableBuffer<D>
  | LazyBuffer<D>
  | ManagedBuffer<D>
  | MappedBuffer<D>
  | PinnedBuffer<D>
  | RegisteredBuffer<D>
  | StagedBuffer<D>;

/** Takes a value whose type is exactly `T`, neither wider nor narrower. */
function infer<T>() {
  return <V>(value: V & (Same<V, T> extends true ? unknown : never)): V => value;
}

type Same<A, B> = (<X>() => X extends A ? 1 : 2) extends (<X>() => X extends B ? 1 : 2) ? true
  : false;

/** Programs that the compiler has to refuse: each line fails the check once it compiles. */
export function refused(gpu: CudaDevice, x: DeviceBuffer<"float32">, y: AnyKind<"int8">): void {
  // @ts-expect-error the test's own check tells narrower and wider types apart
  infer<GpuBuffer<"float32">>()(x);
  // @ts-expect-error the element types of the name and the buffer differ
  x.astype("int16", { into: y });
  // @ts-expect-error an array is no buffer
  x.astype("int8", { into: new Int8Array(3) });
  // @ts-expect-error no option has this name
  y.astype("int16", { label: "x", lable: "x" });
  // @ts-expect-error no element type has this name
  y.as("int9");
  // @ts-expect-error 64-bit integers are bigints
  y.as("int64").fill(3);
  // @ts-expect-error arrays of other elements
  void y.upload(new Float32Array(3));
  // @ts-expect-error elements of another type
  y.copyFrom(x);
  // @ts-expect-error many arguments are no shape
  x.reshape(2, 3);
  // @ts-expect-error an element is awaited
  const _number: number = x.at(0);
  // @ts-expect-error elements are on the GPU
  x[0] = 1;
  // @ts-expect-error the name lacks its last letters
  y.as("float8_e4m3");
  // @ts-expect-error the bits of 8-bit floats are bytes
  void y.as("float8_e5m2").upload(new Uint16Array(3));
  // @ts-expect-error a complex number has two parts
  y.as("complex64").fill({ re: 1 });
  // @ts-expect-error the elements of a complex64 are no doubles
  void y.as("complex64").upload(new Float64Array(2));
  // @ts-expect-error a shape has numbers
  gpu.zeros("float32", ["2"]);
}

/** What a name is declared as does not decide what a call makes. */
export async function refusedNames(gpu: CudaDevice, path: string): Promise<unknown[]> {
  // @ts-expect-error a Float32Array without dtype is float32
  const a: DeviceBuffer<"bfloat16"> = await gpu.upload(new Float32Array(3));
  // @ts-expect-error as above
  const b: DeviceBuffer<"float16"> = gpu.uploadSync(new Float32Array(3));
  // @ts-expect-error a Uint16Array without dtype is uint16
  const c: RegisteredBuffer<"bfloat16"> = gpu.register(new Uint16Array(3));
  // @ts-expect-error a file without dtype is bytes
  const d: DeviceBuffer<"float32"> = await gpu.uploadFile(path);
  // @ts-expect-error a stream without dtype is bytes
  const e: DeviceBuffer<"float32"> = await gpu.from(new Blob());
  // @ts-expect-error an array of numpy without dtype is of any type
  const f: DeviceBuffer<"float32"> = await gpu.loadNpy(path);
  // @ts-expect-error as a ticket in JSON is
  const g: DeviceBuffer<"float32"> = await gpu.open(path);
  // @ts-expect-error an address without dtype is bytes
  const h: DeviceBuffer<"float32"> = gpu.fromHandle(0n, 4);
  // @ts-expect-error a struct without dtype is of any type
  const i: DeviceBuffer<"float32"> = gpu.fromDLPack(0n);
  return [a, b, c, d, e, f, g, h, i];
}

testOnDevice("GpuBuffer.astype() has the type of its result, for any kinds", (gpu) => {
  using x = gpu.zeros("float32", 4);
  using bytes = gpu.zeros("int8", 4);
  using half = infer<DeviceBuffer<"float16">>()(x.astype("float16"));
  using named = infer<DeviceBuffer<"int8">>()(x.astype("int8", { label: "named" }));
  const same = infer<DeviceBuffer<"int8">>()(x.astype("int8", { into: bytes }));
  const maybe = bytes.length > 0 ? bytes : undefined;
  infer<DeviceBuffer<"int8">>()(x.astype("int8", { into: maybe }));
  assertEquals([half.dtype, named.label, same === bytes], ["float16", "named", true]);

  using mapped = gpu.mapped("float32", 4);
  for (const one of [x, mapped] as (DeviceBuffer<"float32"> | MappedBuffer<"float32">)[]) {
    one.fill(1);
    using made = infer<DeviceBuffer<"int8"> | MappedBuffer<"int8">>()(one.astype("int8"));
    assertEquals(made.constructor, one.constructor);
    infer<DeviceBuffer<"int8">>()(one.astype("int8", { into: bytes }));
    infer<DeviceBuffer<"uint8"> | MappedBuffer<"uint8">>()(one.as("uint8"));
  }
  using managed = gpu.managed("int32", 3).fill(1);
  using _floats = infer<AnyKind<"float64">>()(converted(managed));
  using turned = infer<DeviceBuffer<"int8">>()(x.reshape([2, 2]).transpose().astype("int8"));
  assertInstanceOf(turned, DeviceBuffer);
});

testOnDevice("GpuBuffer.astype() takes buffers whose type is a parameter", (gpu) => {
  using x = gpu.zeros("float32", 4);
  using bytes = gpu.pinned("int8", 4);
  infer<PinnedBuffer<"int8">>()(filledFrom(x, bytes));
  assertEquals(likeFirst(x, bytes) === x, true);
});

function filledFrom<B extends GpuBuffer<"int8">>(source: GpuBuffer, into: B): B {
  source.astype("int8", { into });
  return into;
}

function likeFirst<D extends DType>(into: DeviceBuffer<D>, source: AnyKind): DeviceBuffer<D> {
  return source.astype(into.dtype, { into });
}

function converted(x: AnyKind): AnyKind<"float64"> {
  const made = x.astype("float64");
  assertEquals(made.constructor, x.constructor);
  return made;
}

Deno.test("Views and transfers of several kinds of buffers have the types of their results", () =>
  withDevice(async (gpu) => {
    using x = gpu.iota("float32", [2, 2]);
    using pinned = gpu.pinned("float32", [2, 2]).fill(2);
    for (const one of [x, pinned] as (DeviceBuffer<"float32"> | PinnedBuffer<"float32">)[]) {
      using row = infer<typeof one>()(one.view(1));
      infer<
        | StridedView<"float32", DeviceBuffer<"float32">>
        | StridedView<"float32", PinnedBuffer<"float32">>
      >()(
        one.transpose(),
      );
      infer<Float32Array<ArrayBuffer>>()(await row.download());
      infer<number>()(await one.at(3));
      assertEquals(await one.equals(pinned), one === pinned);
    }
    using wide = gpu.iota("int64", 3);
    infer<bigint>()(await wide.at(-1));
    assertEquals(await firstOf(wide), 0n);
    assertEquals(await last(wide), 2n);
  }));

testOnDevice("download() takes an array that may be left out", async (gpu) => {
  using x = gpu.iota("float32", 3);
  const used = new Float32Array(3);
  for (const into of [used, undefined]) {
    const array = infer<Float32Array<ArrayBuffer>>()(await x.download(into));
    assertEquals([...array, array === used], [0, 1, 2, into === used]);
    assertEquals(x.downloadSync(into), array);
    assertEquals(await x.strided().download(into), array);
    assertEquals(x.strided().downloadSync(into), array);
  }
  infer<Float32Array<ArrayBuffer>>()(await x.download());
  infer<Uint8Array<ArrayBuffer>>()(await x.as("uint8").download(new Uint8Array(12)));
});

async function last<D extends DType>(x: AnyKind<D>): Promise<ScalarOf<D>> {
  return await x.at(-1);
}

async function firstOf<D extends DType>(x: GpuBuffer<D>): Promise<ArrayOf<D>[number] | undefined> {
  const values: ArrayOf<D> = await x.download();
  return values[0];
}

testOnDevice("Calls that make buffers have the element type of their source", async (gpu) => {
  using stack = new DisposableStack();
  const numbers = infer<DeviceBuffer<"float32">>()(stack.use(await gpu.upload([[1, 2], [3, 4]])));
  const longs = infer<DeviceBuffer<"int64">>()(
    stack.use(await gpu.upload([1n], { dtype: "int64" })),
  );
  const half = infer<DeviceBuffer<"float16">>()(stack.use(gpu.uploadSync(new Float16Array(2))));
  const bits = infer<DeviceBuffer<"bfloat16">>()(
    stack.use(await gpu.upload(new Float32Array(2), { dtype: "bfloat16" })),
  );
  const bytes = infer<DeviceBuffer<"uint8">>()(stack.use(await gpu.from(new Blob(["abc"]))));
  const either: DeviceBuffer<"float32"> | DeviceBuffer<"int32"> = await gpu.upload([1, 2]);
  assertEquals(stack.use(either).dtype, "float32");
  const typed: DeviceBuffer<"float32"> | DeviceBuffer<"int32"> = await gpu.upload(
    new Int32Array(2),
  );
  assertEquals(stack.use(typed).dtype, "int32");
  const types = [numbers, longs, half, bits, bytes].map(({ dtype }) => dtype);
  assertEquals(types, ["float32", "int64", "float16", "bfloat16", "uint8"]);
  infer<Float32Array<ArrayBuffer>>()(await bits.download());
  infer<Uint16Array<ArrayBuffer>>()(stack.use(gpu.pinned("bfloat16", 2)).array);
  const eight = infer<DeviceBuffer<"float8_e4m3fn">>()(
    stack.use(await gpu.upload(new Uint8Array(2), { dtype: "float8_e4m3fn" })),
  );
  infer<Float32Array<ArrayBuffer>>()(await eight.download());
  infer<Uint8Array<ArrayBuffer>>()(await eight.download(new Uint8Array(2)));
  infer<Uint8Array<ArrayBuffer>>()(stack.use(gpu.pinned("float4_e2m1fn", 2)).array);
  const wave = infer<DeviceBuffer<"complex64">>()(stack.use(eight.astype("complex64")));
  infer<Float32Array<ArrayBuffer>>()(await wave.download());
  infer<{ readonly re: number; readonly im: number }>()(await wave.at(0));

  const packed = stack.use(await gpu.uploadAll([new Int8Array(2), new Float64Array(1)]));
  const [small, large] = packed.buffers;
  infer<DeviceBuffer<"int8">>()(small);
  infer<DeviceBuffer<"float64">>()(large);
  const [first, second] = await gpu.downloadAll([small, large]);
  assertEquals([infer<Int8Array<ArrayBuffer>>()(first).length, second.length], [2, 1]);

  const path = await Deno.makeTempFile();
  await numbers.saveNpy(path);
  infer<DeviceBuffer<DType>>()(stack.use(await gpu.loadNpy(path)));
  infer<DeviceBuffer<"float32">>()(stack.use(await gpu.loadNpy(path, { dtype: "float32" })));
  await Deno.remove(path);
});
