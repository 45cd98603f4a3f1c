// Pieces of arrays, rows, many arrays and files: what threads and copies make of them is each byte, once, at
// its place, however small the slots are; and as few copies as there can be.

import { assert, assertEquals, assertLessOrEqual } from "@std/assert";
import { openHost } from "../../../ffi/host.ts";
import type { MemorySpan } from "../../../src/copies/copy.ts";
import { LaneTasks } from "../../../src/lanes/lane_tasks.ts";
import type { Allocation } from "../../../src/memory/allocation.ts";
import { addressOf } from "../../../src/memory/host_memory.ts";
import {
  type CutOptions,
  cutSections,
  type Direction,
  inMemory,
  isOneRun,
  oneRow,
  type Piece,
  type Rows,
  type Section,
} from "../../../src/transfer/pieces.ts";
import { packRows, unpackRows } from "../../../src/transfer/row_transfer.ts";
import { MAX_COPIES, MAX_RUNS } from "../../../src/transfer/ways.ts";
import { patternBytes } from "../../support/contents.ts";
import { Random } from "../../support/random.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";
import { testOnLinux } from "../../support/test_unless.ts";

const DEVICE = 0x7000_0000_0000n;
const SLOT = 0x5000_0000_0000n;

/** Stands for a block of memory; pieces only ask whether two are the same. */
const [first, second] = [{}, {}] as [Allocation, Allocation];

/** Memory in the place of a device's. */
function spanOf(bytes: Uint8Array, allocation: Allocation = first): MemorySpan {
  return { allocation, address: addressOf(bytes), byteLength: bytes.byteLength };
}

/** Moves bytes as a thread and a copy engine do, one piece after another; returns the pieces' sizes. */
function move(
  sections: readonly Section[],
  options: CutOptions,
): number[] {
  const { pieceBytes } = options;
  const slot = new Uint8Array(pieceBytes);
  const tasks = new LaneTasks(1);
  const sizes: number[] = [];
  for (const piece of cutSections(sections, options)) {
    assert(piece.byteLength > 0 && piece.byteLength <= pieceBytes, `${piece.byteLength} bytes`);
    sizes.push(piece.byteLength);
    const work = () => {
      const task = piece.laneTask(addressOf(slot));
      assertLessOrEqual(task.runs.length, MAX_RUNS);
      tasks.write(0, task);
      assert(tasks.run(0));
    };
    if (options.direction === "upload") work();
    for (const { destination, source, byteLength } of piece.copies(addressOf(slot))) {
      openHost().memcpy(destination, source, BigInt(byteLength));
    }
    if (options.direction === "download") work();
  }
  return sizes;
}

/** Rows of any number and distance, and an array that has them. */
function randomRows(random: Random): { rows: Rows; memory: Uint8Array<ArrayBuffer> } {
  const rowBytes = 1 + random.below(300);
  const rows = {
    offset: random.below(50),
    rowBytes,
    pitch: rowBytes + random.below(100),
    rowCount: 1 + random.below(20),
  };
  const byteLength = rows.offset + rows.rowCount * rows.pitch + random.below(10);
  return { rows, memory: Uint8Array.from({ length: byteLength }, () => random.below(256)) };
}

testOnLinux("cutSections() moves rows of any size through slots of any size", () => {
  const random = new Random(5);
  for (let round = 0; round < 300; round++) {
    const { rows, memory } = randomRows(random);
    const pieceBytes = 1 + random.below(500);
    const packed = packRows(memory, rows);
    const device = new Uint8Array(packed.byteLength);
    const span = spanOf(device);
    move([{ span, host: inMemory(memory), rows }], { direction: "upload", pieceBytes });
    assertEquals(device, packed);
    const filled = new Uint8Array(memory.byteLength);
    const expected = new Uint8Array(memory.byteLength);
    move([{ span, host: inMemory(filled), rows }], { direction: "download", pieceBytes });
    unpackRows(packed, expected, rows);
    assertEquals(filled, expected);
  }
});

for (const direction of ["upload", "download"] as const) {
  testOnLinux(`cutSections() packs arrays of an ${direction} into slots of any size`, () => {
    const random = new Random(11);
    for (let round = 0; round < 200; round++) {
      const device = new Uint8Array(20_000);
      const arrays: Uint8Array<ArrayBuffer>[] = [];
      const sections: Section[] = [];
      let at = random.below(100);
      for (let count = 1 + random.below(160); count > 0 && at < 19_000; count--) {
        const byteLength = 1 + random.below(300);
        const [bytes, place] = [new Uint8Array(byteLength), device.subarray(at, at + byteLength)];
        (direction === "upload" ? bytes : place).set(patternBytes(byteLength, count));
        arrays.push(bytes);
        const allocation = at < 9000 ? first : second;
        sections.push({
          span: spanOf(place, allocation),
          host: inMemory(bytes),
          rows: oneRow(byteLength),
        });
        at += byteLength + (random.below(2) === 0 ? 0 : random.below(400));
      }
      const order = random.below(2) === 0 ? sections : sections.toReversed();
      move(order, { direction, pieceBytes: 1 + random.below(4000) });
      for (const [index, { span }] of sections.entries()) {
        const start = Number(span.address - addressOf(device));
        const bytes = arrays[index] ?? new Uint8Array(0);
        assertEquals(device.subarray(start, start + bytes.byteLength), bytes);
      }
    }
  });

  testOnLinux(`cutSections() moves parts of a file that lie anywhere, ${direction}`, () => {
    using folder = new TemporaryFolder();
    const random = new Random(0xf11e);
    const path = folder.pathOf("parts");
    for (let round = 0; round < 60; round++) {
      const device = patternBytes(8000, round);
      const expected = direction === "download" ? new Uint8Array(4000) : device.slice();
      const contents = direction === "upload"
        ? patternBytes(4000, round + 9)
        : new Uint8Array(4000);
      Deno.writeFileSync(path, contents);
      using file = openFile(path);
      const sections: Section[] = [];
      let [at, offset] = [random.below(30), random.below(30)];
      for (let count = 1 + random.below(40); count > 0 && at < 7900 && offset < 3900; count--) {
        const byteLength = 1 + random.below(60);
        const place = device.subarray(at, at + byteLength);
        const rows = oneRow(byteLength, offset);
        sections.push({
          span: spanOf(place, at < 4000 ? first : second),
          host: { file: { descriptor: file.descriptor, path, hold: () => () => {} } },
          rows,
        });
        if (direction === "download") expected.set(place, offset);
        else expected.set(contents.subarray(offset, offset + byteLength), at);
        offset += byteLength + (random.below(4) === 0 ? random.below(9) : 0);
        at += byteLength + (random.below(2) === 0 ? 0 : random.below(90));
      }
      move(sections, { direction, pieceBytes: 1 + random.below(300) });
      assertEquals(direction === "download" ? Deno.readFileSync(path) : device, expected);
    }
  });

  for (const isFresh of [false, true]) {
    const memory = isFresh ? "fresh memory" : "memory";
    Deno.test(`cutSections() cuts an ${direction} of ${memory} of any size and place`, () => {
      const random = new Random(direction.length + (isFresh ? 100 : 0));
      const whole = new Uint8Array(3 * 2 ** 20);
      for (let round = 0; round < 300; round++) {
        const pieceBytes = 2 ** (9 + random.below(13));
        const start = random.below(2 ** 20);
        const byteLength = random.below(2) === 0 ? random.below(9000) : random.below(2 ** 21);
        const host = inMemory(whole.subarray(start, start + byteLength));
        const span = { allocation: first, address: DEVICE, byteLength };
        const sections = [{ span, host, rows: oneRow(byteLength) }];
        const pieces = [...cutSections(sections, { direction, isFresh, pieceBytes })];
        let done = 0;
        for (const [at, piece] of pieces.entries()) {
          const { runs: [run] } = piece.laneTask(SLOT);
          const [copy] = piece.copies(SLOT);
          assertEquals(run?.outside, host.address + BigInt(done));
          const onDevice = direction === "upload" ? copy?.destination : copy?.source;
          assertEquals(onDevice, DEVICE + BigInt(done));
          if (at > 0 && isFresh) assertEquals((run?.outside ?? 1n) % BigInt(pieceBytes), 0n);
          done += piece.byteLength;
        }
        assertEquals(done, byteLength);
        if (!isFresh) assertEquals(pieces.length, Math.ceil(byteLength / pieceBytes));
      }
    });
  }
}

/** Sections of memory at addresses that nothing reads, as [address, byteLength, block]. */
function arraysAt(places: readonly (readonly [number, number, Allocation?])[]): Section[] {
  return places.map(([address, byteLength, allocation = first]) => ({
    span: { allocation, address: BigInt(address), byteLength },
    host: { address: BigInt(address), bytes: new Uint8Array(0) },
    rows: oneRow(byteLength),
  }));
}

/** The number of bytes that each copy of each piece moves. */
function copySizes(pieces: Iterable<Piece>): number[][] {
  return [...pieces].map((piece) => piece.copies(SLOT).map(({ byteLength }) => byteLength));
}

function packed(
  places: Parameters<typeof arraysAt>[0],
  { takesPadding = true, direction = "upload" as Direction } = {},
): number[][] {
  return copySizes(cutSections(arraysAt(places), { direction, takesPadding, pieceBytes: 4096 }));
}

Deno.test("cutSections() joins neighbours and the padding between them to one copy", () => {
  assertEquals(packed([[0, 100], [256, 300], [768, 8]]), [[776]]);
});

Deno.test("cutSections() leaves padding alone that may belong to somebody", () => {
  assertEquals(packed([[0, 100], [100, 28], [256, 300]], { takesPadding: false }), [[128, 300]]);
});

Deno.test("cutSections() keeps in copies of their own what lies apart, in reverse, and in two blocks", () => {
  assertEquals(packed([[0, 100], [1024, 100]]), [[100, 100]]);
  assertEquals(packed([[512, 10], [0, 20]]), [[10, 20]]);
  assertEquals(packed([[0, 16], [16, 16, second]]), [[16, 16]]);
});

Deno.test("cutSections() starts an array that is no neighbour at a multiple of 256 bytes", () => {
  const sections = arraysAt([[0, 100], [4096, 100], [8192, 100]]);
  const [piece] = [...cutSections(sections, { direction: "upload", pieceBytes: 4096 })];
  assertEquals(piece?.laneTask(SLOT).runs.map(({ inside }) => inside - SLOT), [0n, 256n, 512n]);
});

Deno.test("cutSections() begins a piece for an array that does not fit, and after as many as fit a task", () => {
  assertEquals(packed([[0, 2048], [2048, 2048], [4096, 1]]), [[4096], [1]]);
  const many = Array.from({ length: MAX_RUNS + 2 }, (_, at) => [8 * at, 8] as const);
  assertEquals(packed(many), [[8 * MAX_RUNS], [16]]);
  assertEquals(packed([[0, 0], [0, 5], [256, 0]]), [[5]]);
  assertEquals(packed([]), []);
});

Deno.test("cutSections() writes what follows each other in a file at once, after 1,024 copies too", () => {
  const host = { file: { descriptor: 7, path: "/file", hold: () => () => {} } };
  const cut = (places: readonly (readonly [number, number, number])[], pieceBytes: number) => {
    const sections = places.map(([address, byteLength, offset]) => {
      const span = { allocation: first, address: BigInt(address), byteLength };
      return { span, host, rows: oneRow(byteLength, offset) };
    });
    return [...cutSections(sections, { direction: "download", pieceBytes })];
  };
  const [piece] = cut([[100, 3, 8], [50, 2, 11]], 64);
  assertEquals(piece?.laneTask(SLOT), {
    operation: "write",
    file: 7,
    runs: [{ outside: 8n, inside: SLOT, rowBytes: 5, rowCount: 1, pitch: 5 }],
  });
  assertEquals(
    piece?.laneError().message,
    "Cannot write 5 bytes at 8 of /file: the disk is full or failed",
  );
  assertEquals(cut([[0, 2, 0], [0, 2, 5]], 64).map(({ byteLength }) => byteLength), [2, 2]);
  const many = Array.from({ length: MAX_COPIES + 9 }, (_, at) => [2 * at, 1, at] as const);
  assertEquals(cut(many, 1 << 20).map(({ byteLength }) => byteLength), [MAX_COPIES, 9]);
});

Deno.test("cutSections() reads a row that is longer than a slot in parts, and says which one failed", () => {
  const rows = { offset: 5, rowBytes: 3000, pitch: 10_000, rowCount: 2 };
  const host = { file: { descriptor: 7, path: "weights", hold: () => () => {} } };
  const span = { allocation: first, address: DEVICE, byteLength: 6000 };
  const pieces = [
    ...cutSections([{ span, host, rows }], { direction: "upload", pieceBytes: 2048 }),
  ];
  const tasks = pieces.map((piece) => {
    const { operation, runs: [run] } = piece.laneTask(SLOT);
    return [operation, run?.outside, run?.rowBytes];
  });
  assertEquals(tasks, [
    ["read", 5n, 2048],
    ["read", 2053n, 952],
    ["read", 10_005n, 2048],
    ["read", 12_053n, 952],
  ]);
  assertEquals(
    pieces.at(-1)?.laneError().message,
    "Cannot read 952 bytes at 12053 of weights: it ended early or failed",
  );
});

Deno.test("isOneRun() is true for rows without gaps, and for one row", () => {
  const rows = { offset: 3, rowBytes: 4, pitch: 4, rowCount: 2 };
  assertEquals(isOneRun(rows), true);
  assertEquals(isOneRun({ ...rows, pitch: 5 }), false);
  assertEquals(isOneRun({ ...rows, pitch: 5, rowCount: 1 }), true);
});

/** Opens a file for the C library's calls. */
function openFile(path: string): { readonly descriptor: number } & Disposable {
  const name = new TextEncoder().encode(`${path}\0`);
  const descriptor = openHost().open(name, 2, 0);
  assert(descriptor >= 0);
  return { descriptor, [Symbol.dispose]: () => void openHost().close(descriptor) };
}
