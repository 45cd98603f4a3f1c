// Archives that lie, overlap, or unpack to more than the host has: refused in words, or loaded as they
// are, with little of the host's memory and with turns for everything else.

import {
  assert,
  assertEquals,
  assertGreater,
  assertInstanceOf,
  assertLess,
  assertRejects,
} from "@std/assert";
import { constants, crc32, deflateRawSync } from "node:zlib";
import { OutOfMemoryError } from "../../../../mod.ts";
import { CudaMemoryResource, StatisticsResourceAdaptor } from "../../../../src/entries/memory.ts";
import { loadNpz, NumpyError, saveNpz } from "../../../../src/entries/numpy.ts";
import { simulateDriver } from "../../../../src/entries/simulated.ts";
import { encodeNpyHeader } from "../../../../src/numpy/npy_header.ts";
import { RECORD_BYTES, SIGNATURES, viewOf } from "../../../../src/numpy/zip_format.ts";
import { nextTurn } from "../../../../src/order/waiting.ts";
import { localHeader, zipDirectory } from "../../../../src/numpy/zip_records.ts";
import { formatBytes } from "../../../../src/words/format.ts";
import { HostPeak } from "../../../support/host_peak.ts";
import { share } from "../../../support/random.ts";
import { TemporaryFolder } from "../../../support/temporary_folder.ts";
import { takingTurns, testOfAll } from "../../../support/test_unless.ts";
import { testOnDevice, withDevice } from "../../../support/with_device.ts";
import { joined, packed } from "../../../support/zip.ts";

const HEADER_BYTES = 128;
const BOMB_BYTES = Math.max(2, share(8)) * 2 ** 27;
const ZEROS = new Uint8Array(2 ** 24);

/** More than the pieces that a load has in memory, far less than what the archives claim. */
const FEW_BYTES = 96 * 2 ** 20;

const utf8 = new TextEncoder();

/** Returns the header of an array in 128 bytes. */
function arrayHeader(descr: string, count: number): Uint8Array<ArrayBuffer> {
  const text = `{'descr': '${descr}', 'fortran_order': False, 'shape': (${count},), }`;
  const start = [0x93, ...utf8.encode("NUMPY"), 1, 0, HEADER_BYTES - 10, 0];
  return Uint8Array.from([...start, ...utf8.encode(`${text.padEnd(HEADER_BYTES - 11)}\n`)]);
}

/** Makes an archive with an array of zeros that unpacks to `BOMB_BYTES`. */
function bomb(descr: string, elementBytes: number): Uint8Array<ArrayBuffer> {
  const header = arrayHeader(descr, BOMB_BYTES / elementBytes);
  const flush = { finishFlush: constants.Z_FULL_FLUSH };
  const zeros = deflateRawSync(ZEROS, flush);
  const count = BOMB_BYTES / ZEROS.byteLength;
  let crc = crc32(header);
  for (let i = 0; i < count; i++) crc = crc32(ZEROS, crc);
  const bytes = joined(
    deflateRawSync(header, flush),
    ...Array.from({ length: count }, () => zeros),
    deflateRawSync(new Uint8Array(0)),
  );
  const byteLength = header.byteLength + BOMB_BYTES;
  const name = "a.npy";
  const packedBytes = bytes.byteLength;
  const file = { name, isDeflated: true, crc, packedBytes, byteLength, offset: 0 };
  const local = localHeader(file);
  return joined(local, bytes, ...zipDirectory("x", [file], local.byteLength + packedBytes));
}

Deno.test("loadNpz() asks for the device's memory before it unpacks anything", () =>
  withDevice(async (gpu) => {
    using folder = new TemporaryFolder();
    const path = folder.write("x.npz", bomb("|u1", 1));
    const peak = HostPeak.start();
    await assertRejects(
      () => loadNpz(path, gpu),
      OutOfMemoryError,
      `Cannot allocate ${formatBytes(BOMB_BYTES)}`,
    );
    if (peak !== undefined) assertLess(peak.growthBytes, FEW_BYTES);
  }, { driver: simulateDriver({ memorySize: BOMB_BYTES / 4 }) }));

testOnDevice("loadNpz() unpacks in few bytes of the host, and hears its signal", async (gpu) => {
  using folder = new TemporaryFolder();
  const path = folder.write("x.npz", bomb("<M8[ns]", 8)); // dates, read only for their checksum
  const abort = new AbortController();
  const enough = new Error("enough");
  let turnCount = 0;
  const timer = setInterval(() => {
    if (++turnCount === 3) abort.abort(enough);
  }, 1);
  const peak = HostPeak.start();
  try {
    await assertRejects(() => loadNpz(path, gpu, { signal: abort.signal }), Error, "enough");
    using arrays = await loadNpz(path, gpu);
    assertEquals(arrays.unreadable, ["a"]);
  } finally {
    clearInterval(timer);
  }
  assertGreater(turnCount, 10);
  if (peak !== undefined) assertLess(peak.growthBytes, FEW_BYTES);
});

for (const compress of [false, true]) {
  takingTurns(testOnDevice)(
    `turns of the event loop come between pieces, compress: ${compress}`,
    async (gpu) => {
      using folder = new TemporaryFolder();
      const path = folder.pathOf("x.npz");
      using x = gpu.iota("uint32", 2 ** 21);
      let turnCount = 0;
      let turn = setImmediate(function countTurn() {
        turnCount++;
        turn = setImmediate(countTurn);
      });
      try {
        await saveNpz(path, { x }, { compress });
        assertGreater(turnCount, 2, "while it was saved");
        turnCount = 0;
        using arrays = await loadNpz(path, gpu);
        assertGreater(turnCount, 2, "while it was loaded");
        assert(await x.equals(arrays.array("x", "uint32")));
      } finally {
        clearImmediate(turn);
      }
    },
  );
}

testOnDevice("loadNpz() reports the bytes of all files of an archive", async (gpu) => {
  using folder = new TemporaryFolder();
  const path = folder.pathOf("x.npz");
  using x = gpu.iota("uint32", 600_000);
  await saveNpz(path, { x, y: x }, { compress: true });
  const heard: (readonly [number, number])[] = [];
  const onProgress = (...progress: [number, number]) => void heard.push(progress);
  using _arrays = await loadNpz(path, gpu, { onProgress });
  const total = 2 * (HEADER_BYTES + 2_400_000);
  assertEquals(heard.at(-1), [total, total]);
  assertEquals(heard.map(([done]) => done), heard.map(([done]) => done).sort((a, b) => a - b));
});

/** A good archive with two arrays of 4 elements, and where its directory and end are. */
function twoArrays(): { bytes: Uint8Array<ArrayBuffer>; directory: number; end: number } {
  const contents = joined(encodeNpyHeader("uint8", [4]), Uint8Array.of(1, 2, 3, 4));
  const bytes = packed([{ name: "x.npy", contents }, { name: "y.npy", contents }]);
  const end = bytes.byteLength - RECORD_BYTES.end;
  return { bytes, end, directory: viewOf(bytes).getUint32(end + 16, true) };
}

testOnDevice("loadNpz() refuses archives that contradict themselves", async (gpu) => {
  using folder = new TemporaryFolder();
  type Lie = (view: DataView, places: { directory: number; end: number }) => void;
  const second = RECORD_BYTES.central + "x.npy".length;
  const lies: readonly (readonly [string, Lie])[] = [
    ["its end announces 1 files, its directory has 2", (view, { end }) => {
      view.setUint16(end + 8, 1, true);
      view.setUint16(end + 10, 1, true);
    }],
    ["one of several parts", (view, { end }) => view.setUint16(end + 10, 1, true)],
    ["one of several parts", (view, { directory }) => view.setUint16(directory + 34, 1, true)],
    ["not where its end says", (view, { end }) => view.setUint32(end + 12, 51, true)],
    ["not where its end says", (view, { end }) => view.setUint32(end + 16, 0, true)],
    ['"x.npy" overlaps', (view, { directory }) => {
      view.setUint32(directory + 20, 1000, true);
      view.setUint32(directory + 24, 1000, true);
    }],
    ["stored with two sizes", (view, { directory }) => view.setUint32(directory + 24, 9, true)],
    ['the header of "x.npy"', (view) => view.setUint8(RECORD_BYTES.local, "y".charCodeAt(0))],
    ['the header of "x.npy"', (view) => view.setUint16(8, 8, true)],
    ['the header of "x.npy"', (view) => view.setUint32(18, 8, true)],
    ['"x.npy" is packed with bzip2', (view, { directory }) => {
      view.setUint16(directory + 10, 12, true);
    }],
    ['"x.npy" is packed with LZMA', (view, { directory }) => {
      view.setUint16(directory + 10, 14, true);
    }],
    ['"x.npy" is encrypted', (view, { directory }) => view.setUint16(directory + 8, 1, true)],
    ["no UTF-8", (view, { directory }) => view.setUint8(directory + RECORD_BYTES.central, 0xff)],
    ["zero byte", (view, { directory }) => view.setUint8(directory + RECORD_BYTES.central, 0)],
    ['"x.npy" twice', (view, { directory }) => {
      view.setUint8(directory + second + RECORD_BYTES.central, "x".charCodeAt(0));
    }],
    ["checksum", (view, { directory }) => view.setUint32(directory + 16, 7, true)],
  ];
  for (const [words, lie] of lies) {
    const { bytes, ...places } = twoArrays();
    lie(viewOf(bytes), places);
    const path = folder.write("x.npz", bytes);
    await assertRejects(() => loadNpz(path, gpu), NumpyError, words);
  }
});

testOnDevice("loadNpz() reads no bytes twice for entries that overlap", async (gpu) => {
  using folder = new TemporaryFolder();
  const contents = joined(arrayHeader("|u1", 2 ** 20), new Uint8Array(2 ** 20));
  const file = {
    isDeflated: false,
    crc: crc32(contents),
    packedBytes: contents.byteLength,
    byteLength: contents.byteLength,
    offset: 0,
  };
  const files = Array.from({ length: 1500 }, (_, i) => ({ ...file, name: `${10000 + i}.npy` }));
  const local = localHeader({ ...file, name: "10000.npy" });
  const offset = local.byteLength + contents.byteLength;
  const path = folder.write("x.npz", joined(local, contents, ...zipDirectory("x", files, offset)));
  const resource = new StatisticsResourceAdaptor(new CudaMemoryResource(gpu));
  await assertRejects(() => loadNpz(path, gpu, { resource }), NumpyError, '"10000.npy" overlaps');
  assertEquals(resource.totalCount, 0);
});

testOnDevice("loadNpz() refuses contents of other sizes than the directory says", async (gpu) => {
  using folder = new TemporaryFolder();
  const contents = joined(encodeNpyHeader("uint8", [4]), Uint8Array.of(1, 2, 3, 4));
  const name = "x.npy";
  for (const byteLength of [contents.byteLength - 1, contents.byteLength + 1]) {
    const bytes = packed([{ name, contents, isDeflated: true, lies: { byteLength } }]);
    viewOf(bytes).setUint32(22, byteLength, true); // its own header lies as well
    const path = folder.write("x.npz", bytes);
    await assertRejects(
      () => loadNpz(path, gpu),
      NumpyError,
      "has another size than its directory",
    );
  }
  const bytes = packed([{ name, contents, isDeflated: true }]);
  viewOf(bytes).setUint8(RECORD_BYTES.local + name.length, 7); // a block of no kind
  const path = folder.write("x.npz", bytes);
  await assertRejects(() => loadNpz(path, gpu), NumpyError, '"x.npy" cannot be unpacked');
});

testOnDevice("loadNpz() reads names that are not UTF-8 in code page 437", async (gpu) => {
  using folder = new TemporaryFolder();
  const { bytes, directory } = twoArrays();
  const view = viewOf(bytes);
  for (const [flags, name] of [[6, RECORD_BYTES.local], [directory + 8, directory + 46]] as const) {
    view.setUint16(flags, 0, true);
    view.setUint8(name, 0x82);
  }
  using arrays = await loadNpz(folder.write("x.npz", bytes), gpu);
  assertEquals(arrays.names, ["é", "y"]);
  assertEquals(viewOf(bytes).getUint32(directory, true), SIGNATURES.central);
});

testOfAll(
  "saveNpz() and loadNpz() have room for more than 65,535 arrays",
  () =>
    withDevice(async (gpu) => {
      using folder = new TemporaryFolder();
      const path = folder.pathOf("x.npz");
      using x = gpu.zeros("uint8", 0);
      await saveNpz(
        path,
        Object.fromEntries(Array.from({ length: 65_536 }, (_, i) => [`a${i}`, x])),
      );
      using arrays = await loadNpz(path, gpu);
      assertEquals([arrays.size, arrays.has("a65535")], [65_536, true]);
    }),
);

for (const compress of [false, true]) {
  takingTurns(testOnDevice)(
    `loadNpz() of a file that is cut meanwhile rejects, compress: ${compress}`,
    async (gpu) => {
      using folder = new TemporaryFolder();
      const path = folder.pathOf("x.npz");
      using x = await gpu.upload(crypto.getRandomValues(new Uint8Array(65_536)));
      using many = gpu.alloc("uint8", 40 * 65_536).fillPattern(x);
      for (const turnCount of [0, 1, 2, 3, 5, 8]) {
        await saveNpz(path, { many }, { compress });
        const load = loadNpz(path, gpu).then((arrays) => arrays.dispose(), (error) => error);
        for (let turn = 0; turn < turnCount; turn++) await nextTurn();
        Deno.truncateSync(path, 200);
        const error: unknown = await load; // it may have read all before
        if (error !== undefined) assertInstanceOf(error, NumpyError);
      }
    },
  );
}
