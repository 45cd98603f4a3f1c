// Arrays between libraries of one process: what our structs say, what of other structs is believed, and
// who keeps the memory until when.

import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import {
  DLDataTypeCode,
  DLDeviceType,
  DLPACK_FLAG_BITMASK,
  DLPACK_VERSION,
} from "../../../ffi/dlpack.ts";
import {
  CudaDevice,
  CudaStream,
  type DeviceBuffer,
  DisposedError,
  type DType,
  DTYPE_NAMES,
  type GpuBuffer,
} from "../../../mod.ts";
import { elementBytes } from "../../../src/dtype.ts";
import { simulateDriver } from "../../../src/entries/simulated.ts";
import { assertSameBytes, patternBytes, readBytes, writeBytes } from "../../support/contents.ts";
import { callDeleter, ForeignStruct, readStruct, type StructFacts } from "../../support/dlpack.ts";
import { testOnTwoDevices } from "../../support/driver.ts";
import { testRandom } from "../../support/random.ts";
import { takingTurns } from "../../support/test_unless.ts";
import { freeBytes, liveNames, testOnDevice, withDevice } from "../../support/with_device.ts";

const SIX = new Float32Array([1, 2, 3, 4, 5, 6]);

/** Six numbers in each kind of memory, and the device that DLPack calls it. */
const KINDS: Readonly<Record<string, [number, (gpu: CudaDevice) => GpuBuffer<"float32">]>> = {
  device: [DLDeviceType.kDLCUDA, (gpu) => gpu.alloc("float32", 6)],
  staged: [DLDeviceType.kDLCUDA, (gpu) => gpu.staged("float32", 6)],
  lazy: [DLDeviceType.kDLCUDA, (gpu) => gpu.lazy("float32", 6)],
  growable: [
    DLDeviceType.kDLCUDA,
    (gpu) => gpu.growable("float32", { reserveSize: "4 MiB", shape: 6 }),
  ],
  pinned: [DLDeviceType.kDLCUDAHost, (gpu) => gpu.pinned("float32", 6)],
  mapped: [DLDeviceType.kDLCUDAHost, (gpu) => gpu.mapped("float32", 6)],
  registered: [DLDeviceType.kDLCUDAHost, (gpu) => gpu.register(new Float32Array(6))],
  managed: [DLDeviceType.kDLCUDAManaged, (gpu) => gpu.managed("float32", 6)],
};

/** Makes six numbers that another library owns. */
function withStruct(
  facts: StructFacts | ((source: DeviceBuffer<"float32">) => StructFacts),
  body: (gpu: CudaDevice, struct: ForeignStruct) => unknown,
): Promise<void> {
  return withDevice(async (gpu) => {
    using source = gpu.uploadSync(SIX, { shape: [2, 3] });
    using struct = new ForeignStruct(source, typeof facts === "function" ? facts(source) : facts);
    await body(gpu, struct);
    gpu.synchronizeSync();
    gpu.context.sweep();
  });
}

for (const [kind, [deviceType, make]] of Object.entries(KINDS)) {
  Deno.test(`toDLPack() tells where ${kind} memory lies, and fromDLPack() uses it there`, () =>
    withDevice(async (gpu) => {
      using buffer = make(gpu);
      await buffer.upload(SIX);
      const tensor = buffer.reshape([3, 2]).toDLPack();
      const struct = readStruct(tensor.address);
      assertEquals([struct.device.device_type, struct.data !== 0n], [deviceType, true]);
      assertEquals([struct.shape, struct.strides], [[3, 2], [2, 1]]);
      using other = gpu.fromDLPack(tensor, { dtype: "float32" });
      assertEquals([other.shape, other.kind], [[3, 2], "imported"]);
      assertEquals(await other.download(), SIX);
      other.fill(7);
      assertEquals([...await buffer.download()], [7, 7, 7, 7, 7, 7]);
    }));

  testOnDevice(`${kind} memory stays until the library is done with it`, async (gpu) => {
    const buffer = make(gpu);
    await buffer.upload(SIX);
    const struct = buffer.toDLPack().release();
    buffer.dispose();
    gpu.alloc("float32", 6).fill(0).dispose(); // would take its place
    const other = gpu.fromDLPack(struct, { dtype: "float32" });
    assertEquals(await other.download(), SIX);
    other.dispose();
  });
}

for (const versioned of [true, false]) {
  const form = versioned ? "with" : "without";
  for (const dtype of DTYPE_NAMES) {
    testOnDevice(`${dtype} comes back from a struct ${form} a version`, (gpu) => {
      using buffer = gpu.alloc(dtype as DType, [3, 4]);
      const bytes = patternBytes(12 * elementBytes(dtype));
      writeBytes(buffer, bytes);
      const struct = buffer.toDLPack({ versioned }).release();
      using other = gpu.fromDLPack(struct, { versioned });
      assertEquals([other.dtype, other.shape], [dtype, [3, 4]]);
      assertSameBytes(readBytes(other), bytes);
    });
  }
}

testOnDevice("toDLPack() never leaves out the strides, and tells version and flags", (gpu) => {
  using buffer = gpu.zeros("int16", [2, 0, 3]);
  using single = gpu.zeros("int16", []);
  using tensor = buffer.toDLPack();
  const empty = readStruct(tensor.address);
  assertEquals([empty.data, empty.ndim, empty.shape], [0n, 3, [2, 0, 3]]);
  assert(empty.dl_tensor.strides !== 0n);
  assertEquals(empty.version, DLPACK_VERSION);
  assertEquals([empty.flags, empty.byte_offset], [0n, 0n]);
  using zeroAxes = single.toDLPack();
  const { ndim, strides, data } = readStruct(zeroAxes.address);
  assertEquals([ndim, strides, data], [0, [], single.ptr]);
  using own = gpu.alloc("int16", 4);
  using copy = own.fill(3).toDLPack({ copy: true });
  const { flags, data: place } = readStruct(copy.address);
  assertEquals(flags, BigInt(DLPACK_FLAG_BITMASK.IS_COPIED));
  assert(place !== own.ptr);
});

testOnDevice("toDLPack() takes 64 axes, and refuses more, which no library could read", (gpu) => {
  using x = gpu.zeros("float32", 4);
  using most = gpu.fromDLPack(x.reshape([...Array(63).fill(1), 4]).toDLPack());
  assertEquals(most.shape.length, 64);
  using deep = x.reshape([...Array(64).fill(1), 4]);
  for (const array of [deep, deep.transpose()]) {
    for (const copy of [false, true]) {
      assertThrows(() => array.toDLPack({ copy }), RangeError, "65 axes, which no library takes");
    }
  }
  assertEquals(gpu.live().count, 2);
});

testOnDevice("fromDLPack() takes arrays without axes and without elements", async (gpu) => {
  using single = gpu.zeros("float64", []);
  single.fill(2.5);
  using again = gpu.fromDLPack(single.toDLPack(), { dtype: "float64" });
  assertEquals([again.shape, await again.item()], [[], 2.5]);
  using none = gpu.zeros("float64", [4, 0]);
  using struct = new ForeignStruct(none, { data: 0n, deviceId: 0 });
  using empty = gpu.fromDLPack(struct.address);
  assertEquals([empty.shape, empty.length, struct.deletedCount], [[4, 0], 0, 0]);
  assertThrows(() => gpu.fromDLPack(struct.address), TypeError, "a buffer has it already");
  empty.dispose();
  gpu.synchronizeSync();
  gpu.context.sweep();
  assertEquals(struct.deletedCount, 1);
});

testOnDevice("a struct that no library has taken is a live object", (gpu) => {
  using x = gpu.zeros("uint8", 1000);
  const before = gpu.live().count;
  const tensor = x.toDLPack({ copy: true });
  const [row] = gpu.live({ kind: "dlpack" }).objects;
  assertEquals([gpu.live().count, row?.kind], [before + 1, "dlpack"]);
  tensor.dispose();
  assertEquals(gpu.live().count, before);
  const given = x.toDLPack();
  const address = given.release();
  assertEquals(gpu.live().count, before); // a library has it now
  using again = gpu.fromDLPack(address);
  assertEquals(again.length, 1000);
  x.toDLPack();
  gpu.disposeAll();
  assertEquals(gpu.live().count, 0);
});

testOnDevice("toDLPack() of no elements has the kind of memory that there would be", (gpu) => {
  const kinds = [
    [gpu.pinned("float32", [0, 3]), DLDeviceType.kDLCUDAHost],
    [gpu.mapped("float32", 0), DLDeviceType.kDLCUDAHost],
    [gpu.managed("float32", 0), DLDeviceType.kDLCUDAManaged],
    [gpu.zeros("float32", 0), DLDeviceType.kDLCUDA],
  ] as const;
  for (const [x, type] of kinds) {
    using tensor = x.toDLPack();
    assertEquals([x.kind, readStruct(tensor.address).dl_tensor.device.device_type], [x.kind, type]);
    using back = gpu.fromDLPack(tensor);
    assertEquals(back.shape, x.shape);
    x.dispose();
  }
});

testOnDevice("strides go both ways: transposed, reversed, stepped and repeated", (gpu) => {
  using buffer = gpu.uploadSync(SIX, { shape: [2, 3] });
  const layouts = [
    { shape: [3, 2], strides: [1, 3], offset: 0 },
    { shape: [2, 3], strides: [-3, -1], offset: 5 },
    { shape: [2, 2], strides: [3, 2], offset: 0 },
    { shape: [3, 4], strides: [1, 0], offset: 2 },
  ];
  for (const layout of layouts) {
    const view = buffer.strided(layout);
    const tensor = view.toDLPack();
    assertEquals(readStruct(tensor.address).strides, layout.strides);
    assertThrows(() => gpu.fromDLPack(tensor), RangeError, "pass { strided: true }");
    const other = gpu.fromDLPack(tensor, { strided: true, dtype: "float32" });
    using _memory = other.buffer;
    using expected = view.contiguous();
    using seen = gpu.alloc("float32", layout.shape);
    other.copyTo(seen);
    assertEquals(seen.downloadSync(), expected.downloadSync());
  }
});

Deno.test("fromDLPack() counts byte_offset, and null strides as contiguous", () =>
  withStruct(
    { byteOffset: 8n, shape: [4n], strides: null },
    (gpu, struct) => {
      using other = gpu.fromDLPack(struct.address, { dtype: "float32" });
      assertEquals(other.downloadSync(), SIX.subarray(2));
    },
  ));

Deno.test("fromDLPack() calls the deleter once, when the GPU is done", () =>
  withStruct({}, async (gpu, struct) => {
    using other = gpu.fromDLPack(struct.address, { dtype: "float32" });
    const error = assertThrows(() => gpu.fromDLPack(struct.address), TypeError);
    assertStringIncludes(`${error}`, "a buffer has it already");
    using copy = gpu.alloc("float32", [2, 3]);
    copy.copyFrom(other);
    other.dispose();
    other.dispose();
    await gpu.synchronize();
    gpu.context.sweep();
    assertEquals(struct.deletedCount, 1);
    assertEquals(copy.downloadSync(), SIX);
    using again = gpu.fromDLPack(struct.address); // it is the library's to give it again
    assertEquals(again.length, 6);
  }));

Deno.test("fromDLPack() takes a struct that nobody needs to be told about", () =>
  withStruct({ deleter: 0n }, (gpu, struct) => {
    using other = gpu.fromDLPack(struct.address, { dtype: "float32" });
    assertEquals(other.downloadSync(), SIX);
  }));

/** Structs that are refused: by which error, and with which words. */
const WRONG: readonly [
  Parameters<typeof withStruct>[0],
  typeof TypeError | typeof RangeError,
  string,
][] = [
  [{ major: 2 }, TypeError, "its version is 2.2, expected 1.x"],
  [{ major: 0 }, TypeError, "its version is 0.2"],
  [{ deviceType: DLDeviceType.kDLROCM }, TypeError, "its memory is of kDLROCM"],
  [{ deviceType: DLDeviceType.kDLWebGPU }, TypeError, "its memory is of kDLWebGPU"],
  [{ deviceType: 99 }, TypeError, "its memory is of device type 99"],
  [{ deviceType: DLDeviceType.kDLCUDAHost }, TypeError, "it says kDLCUDAHost"],
  [{ deviceId: 7 }, TypeError, "it says device 7"],
  [{ ndim: -1 }, RangeError, "it has -1 axes"],
  [{ ndim: 2 ** 31 - 1 }, RangeError, "it has 2147483647 axes"],
  [{ shape: null, ndim: 2 }, TypeError, "Cannot read the shape of an array: its address is null"],
  [{ shape: [-2n, 3n] }, RangeError, "its shape is [-2, 3]"],
  [{ shape: [2n ** 62n, 2n ** 62n] }, RangeError, "its shape is [46116"],
  [{ shape: [2n, 3n], strides: [2n ** 62n, 1n] }, RangeError, "which no memory holds"],
  // The second row begins at the address 4096.
  [
    ({ ptr }) => ({ shape: [2n, 3n], strides: [(4096n - ptr) / 4n, 1n] }),
    TypeError,
    "the driver does not know it",
  ],
  [{ shape: [2n ** 40n], strides: [1n] }, RangeError, "their allocation ends after"],
  [{ data: 0n }, TypeError, "its data is null"],
  [{ data: 2n ** 64n - 8n }, RangeError, "leave the addresses"],
  [{ data: 4096n }, TypeError, "the driver does not know it"],
  [{ byteOffset: 2n ** 63n }, TypeError, "the driver does not know it"],
  [{ byteOffset: 2n }, RangeError, "expected a multiple of 4"],
  [{ deleter: 64n }, TypeError, "its deleter is at 0x40"],
];

for (const [facts, Kind, words] of WRONG) {
  Deno.test(`fromDLPack() refuses a struct, and leaves it to its owner: ${words}`, () =>
    withStruct(facts, (gpu, struct) => {
      const before = liveNames(gpu);
      const call = () => gpu.fromDLPack(struct.address, { strided: true });
      assertThrows(call, Kind, words);
      assertEquals([struct.deletedCount, liveNames(gpu)], [0, before]);
    }));
}

/** Types of elements that buffers lack, by DLPack's names. */
const OTHER_TYPES: readonly [code: number, bits: number, lanes: number, words: string][] = [
  [DLDataTypeCode.kDLFloat8_e3m4, 8, 1, "kDLFloat8_e3m4"],
  [DLDataTypeCode.kDLFloat8_e4m3, 8, 1, "kDLFloat8_e4m3"],
  [DLDataTypeCode.kDLFloat8_e4m3b11fnuz, 8, 1, "kDLFloat8_e4m3b11fnuz"],
  [DLDataTypeCode.kDLFloat8_e5m2, 8, 4, "kDLFloat8_e5m2 in vectors of 4 lanes"],
  [DLDataTypeCode.kDLFloat4_e2m1fn, 4, 4, "kDLFloat4_e2m1fn in vectors of 4 lanes"],
  [DLDataTypeCode.kDLFloat6_e2m3fn, 6, 2, "kDLFloat6_e2m3fn in vectors of 2 lanes"],
  [DLDataTypeCode.kDLFloat6_e3m2fn, 8, 1, "kDLFloat6_e3m2fn"],
  [DLDataTypeCode.kDLComplex, 128, 1, "kDLComplex of 128 bits"],
  [DLDataTypeCode.kDLOpaqueHandle, 64, 1, "kDLOpaqueHandle"],
  [DLDataTypeCode.kDLInt, 4, 1, "kDLInt of 4 bits"],
  [DLDataTypeCode.kDLUInt, 1, 1, "kDLUInt of 1 bits"],
  [DLDataTypeCode.kDLFloat, 128, 1, "kDLFloat of 128 bits"],
  [DLDataTypeCode.kDLFloat, 32, 4, "in vectors of 4 lanes"],
  [DLDataTypeCode.kDLFloat, 32, 0, "in vectors of 0 lanes"],
  [200, 8, 1, "type code 200"],
];

for (const [code, bits, lanes, words] of OTHER_TYPES) {
  Deno.test(`fromDLPack() refuses elements by their name: ${words}`, () =>
    withStruct({ type: { code, bits, lanes } }, (gpu, struct) => {
      const error = assertThrows(() => gpu.fromDLPack(struct.address), TypeError);
      assertStringIncludes(`${error}`, words);
    }));
}

testOnDevice("fromDLPack() refuses a value that is not the address of a struct", (gpu) => {
  const wrong: readonly [unknown, string][] = [
    [0n, "its address is null"],
    [12n, "expected a multiple of 8"],
    [4096n, "there is no memory"],
    [2n ** 64n - 8n, "there is no memory"],
    [2n ** 63n, "there is no memory"],
    [null, "its address is null"],
    [5, "expected its address"],
    ["5", "expected its address"],
    [{}, "expected its address"],
  ];
  for (const [pointer, words] of wrong) {
    const error = assertThrows(() => gpu.fromDLPack(pointer as never));
    assertStringIncludes(`${error}`, words);
  }
});

testOnDevice("fromDLPack() finds no array at a struct that was let go", async (gpu) => {
  for (const versioned of [true, false]) {
    using buffer = gpu.uploadSync(SIX);
    const tensor = buffer.toDLPack({ versioned });
    const { address } = tensor;
    tensor.dispose();
    tensor.dispose();
    assertThrows(
      () => gpu.fromDLPack(address, { versioned }),
      TypeError,
      "Cannot use the DLPack",
    );
    assertThrows(() => gpu.fromDLPack(tensor), DisposedError);
    const other = gpu.fromDLPack(buffer.toDLPack({ versioned }).release(), { versioned });
    other.dispose();
    await gpu.synchronize();
  }
});

Deno.test("fromDLPack() expects the type that is asked for", () =>
  withStruct({}, (gpu, struct) => {
    const call = () => gpu.fromDLPack(struct.address, { dtype: "int32" });
    assertThrows(call, TypeError, "as int32: its elements are float32");
  }));

Deno.test("memory that may only be read stays so on both sides", async () => {
  await withStruct({ flags: BigInt(DLPACK_FLAG_BITMASK.READ_ONLY) }, (gpu, struct) => {
    using other = gpu.fromDLPack(struct.address, { dtype: "float32" });
    assertEquals(other.downloadSync(), SIX);
    assertThrows(() => other.fill(1), TypeError, "read-only memory");
    assertThrows(() => other.toDLPack({ versioned: false }), TypeError, "it may only be read");
    using again = gpu.fromDLPack(other.toDLPack(), { dtype: "float32" });
    assertThrows(() => again.fill(1), TypeError, "read-only memory");
  });
});

Deno.test("a library lets go on any thread, and more than once, before the device looks", () =>
  withDevice(async (gpu) => {
    const buffer = gpu.uploadSync(SIX);
    const structs = Array.from({ length: 40 }, () => buffer.toDLPack().release());
    buffer.dispose();
    const { deleter } = readStruct(structs[0] ?? 0n);
    for (const [index, struct] of structs.entries()) {
      await callDeleter(struct, { isElsewhere: index % 2 === 0 });
      if (index % 3 === 0) await callDeleter(struct, { deleter });
    }
    assert(gpu.memory.cachedBytes > 0);
    gpu.synchronizeSync();
    for (let looks = 0; looks < 4; looks++) gpu.alloc("uint8", 1).dispose();
    assertEquals([gpu.context.deferred.works.size, liveNames(gpu)], [0, []]);
  }));

testOnDevice("a thread that lets go does not wait for JavaScript", async (gpu) => {
  using buffer = gpu.uploadSync(SIX);
  const struct = buffer.toDLPack().release();
  const library = callDeleter(struct, { isElsewhere: true });
  const limit = performance.now() + 60_000;
  while (readStruct(struct).version.major !== 0 && performance.now() < limit); // no turn of the loop
  assertEquals(readStruct(struct).version.major, 0);
  await library;
  gpu.synchronizeSync();
});

takingTurns(testOnDevice)(
  "1,000 rounds with either side first leave the device's memory as it was",
  (gpu) => {
    const round = (index: number) => {
      const buffer = gpu.alloc("float32", 1000 + index % 7).fill(index % 100);
      const other = gpu.fromDLPack(buffer.toDLPack({ versioned: index % 2 === 0 }));
      if (index % 3 === 0) buffer.dispose();
      const value = other.subarray(-1).downloadSync()[0];
      other.dispose();
      buffer.dispose();
      assertEquals(value, index % 100);
    };
    round(1);
    const before = freeBytes(gpu);
    for (let index = 0; index < 1000; index++) round(index);
    assertEquals([freeBytes(gpu), liveNames(gpu)], [before, []]);
  },
);

testOnDevice("streams of both sides wait for each other", async (gpu) => {
  using theirs = gpu.createStream({ label: "theirs" });
  using buffer = gpu.alloc("uint8", 1 << 20);
  buffer.fill(1);
  // The simulated driver reports a race where nothing orders two streams.
  const tensor = buffer.toDLPack({ stream: theirs });
  gpu.context.call("cuMemsetD8Async", buffer.ptr, 2, 1n << 19n, theirs.handle);
  assertEquals([await buffer.at(0), await buffer.at(-1)], [2, 1]);
  using other = gpu.fromDLPack(tensor, { stream: theirs });
  other.fill(3);
  assertEquals([...await buffer.subarray(0, 2).download()], [3, 3]);
  using legacy = CudaStream.fromHandle(1n, { gpu });
  using second = buffer.toDLPack();
  gpu.context.call("cuMemsetD8Async", buffer.ptr, 4, 8n, legacy.handle);
  assertEquals(await buffer.at(0), 4);
  second.dispose();
});

testOnDevice("toDLPack() comes after a transfer that is under way", async (gpu) => {
  using buffer = gpu.alloc("uint8", 40 << 20);
  const bytes = new Uint8Array(buffer.length).fill(9);
  const transfer = buffer.upload(bytes);
  using other = gpu.fromDLPack(buffer.toDLPack(), { dtype: "uint8" });
  assertEquals([await other.at(0), await other.at(-1)], [9, 9]);
  await transfer;
});

Deno.test("toDLPack() and fromDLPack() refuse what cannot be recorded, and disposed memory", () =>
  withDevice(async (gpu) => {
    using buffer = gpu.uploadSync(SIX);
    using tensor = buffer.toDLPack();
    using stream = gpu.createStream();
    const calls: (() => unknown)[] = [() => buffer.toDLPack(), () => gpu.fromDLPack(tensor)];
    for (const call of calls) {
      const capture = async () => await gpu.capture(() => void call(), { stream });
      await assertRejects(capture, TypeError, "is being captured");
    }
    const gone = gpu.alloc("float32", 4);
    gone.dispose();
    assertThrows(() => gone.toDLPack(), DisposedError);
    assertThrows(() => gone.toDLPack({ copy: true }), DisposedError);
  }));

Deno.test("fromDLPack() refuses memory of another simulated driver, also where it has that address", async () => {
  using one = CudaDevice.open(0, { driver: simulateDriver() });
  using other = CudaDevice.open(0, { driver: simulateDriver() });
  using x = one.uploadSync(SIX);
  using y = other.uploadSync(SIX.map((value) => -value));
  assertEquals(x.ptr, y.ptr);
  using tensor = x.toDLPack();
  assertThrows(() => other.fromDLPack(tensor), TypeError, "of another simulated driver");
  assertEquals([tensor.disposed, other.live().count], [false, 1]);
  using same = one.fromDLPack(tensor, { dtype: "float32" });
  assertEquals(await same.download(), SIX);
});

testOnDevice("release() waits for the library that has the memory", (gpu) => {
  using buffer = gpu.uploadSync(SIX);
  using tensor = buffer.toDLPack();
  assertThrows(() => buffer.release(), TypeError, "Cannot release");
  tensor.dispose();
});

testOnTwoDevices("fromDLPack() makes a buffer on the device that the memory is of", (one, two) => {
  using there = two.uploadSync(SIX);
  using other = one.fromDLPack(there.toDLPack(), { dtype: "float32" });
  assertEquals([other.deviceOrdinal, other.downloadSync()], [1, SIX]);
  other.dispose();
  two.synchronizeSync();
});

testOnDevice("structs with random members are refused, or give the right elements", (gpu) => {
  const random = testRandom();
  using source = gpu.uploadSync(SIX, { shape: [2, 3] });
  const odd = [0n, 1n, 2n, 3n, 4n, 6n, 7n, 8n, 24n, 255n, 2n ** 31n, 2n ** 32n - 1n, 2n ** 63n];
  const pick = () => {
    const value = odd[random.below(odd.length)] ?? 0n;
    return random.below(4) === 0 ? 2n ** 64n - value : value;
  };
  let takenCount = 0;
  for (let turn = 0; turn < 2000; turn++) {
    using struct = new ForeignStruct(source, {
      strides: random.below(2) === 0 ? null : [3n, 1n],
    });
    const view = new DataView(struct.bytes.buffer);
    // Everything but the deleter, which would be called: version, flags, and the array.
    const words = [0, 3, 4, 5, 6, 7, 8, 9];
    const word = words[random.below(words.length)] ?? 0;
    if (random.below(2) === 0) view.setBigUint64(8 * word, BigInt.asUintN(64, pick()), true);
    else view.setUint8(8 * word + random.below(8), random.below(256));
    try {
      using other = gpu.fromDLPack(struct.address, { strided: true });
      const [start, end] = [other.buffer.ptr, other.buffer.ptr + BigInt(other.buffer.byteLength)];
      assert(other.length === 0 || (start >= source.ptr && end <= source.ptr + 32n * 2n ** 20n));
      takenCount++;
      other.buffer.dispose();
    } catch (error) {
      assert(error instanceof TypeError || error instanceof RangeError, `${error}`);
      assertEquals(struct.deletedCount, 0);
      continue;
    }
    gpu.synchronizeSync();
    gpu.context.sweep();
    assertEquals(struct.deletedCount, 1);
  }
  assert(takenCount > 20, `${takenCount} were taken`);
});
