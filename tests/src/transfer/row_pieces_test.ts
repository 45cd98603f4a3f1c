// The pieces of rows: what lanes and copies make of them is what packing them on one thread makes.

import { assert, assertEquals } from "@std/assert";
import { openHost } from "../../../ffi/host.ts";
import { LaneTasks } from "../../../src/lanes/lane_tasks.ts";
import { addressOf } from "../../../src/memory/host_memory.ts";
import { bytesOfRows, cutRows, isOneRun, type Rows } from "../../../src/transfer/row_pieces.ts";
import { packRows, unpackRows } from "../../../src/transfer/row_transfer.ts";
import { Random } from "../../support/random.ts";

const SLOT = 0x5000_0000_0000n;
const isLinux = Deno.build.os === "linux";

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

/** Moves rows as a lane and a copy engine do, one piece after another. */
function move(
  direction: "upload" | "download",
  { rows, memory, device, pieceBytes }: {
    readonly rows: Rows;
    readonly memory: Uint8Array<ArrayBuffer>;
    readonly device: Uint8Array<ArrayBuffer>;
    readonly pieceBytes: number;
  },
): void {
  const slot = new Uint8Array(pieceBytes);
  const tasks = new LaneTasks(1);
  const host = { address: addressOf(memory), bytes: memory };
  const pieces = cutRows({ direction, deviceAddress: addressOf(device), host, rows })(pieceBytes);
  for (let next = pieces.next(); next.done !== true; next = pieces.next()) {
    const piece = next.value;
    assert(piece.byteLength > 0 && piece.byteLength <= pieceBytes, `${piece.byteLength} bytes`);
    const fill = () => {
      tasks.write(0, piece.laneTask(addressOf(slot)));
      assert(tasks.run(0));
    };
    if (direction === "upload") fill();
    for (const { destination, source, byteLength } of piece.copies(addressOf(slot))) {
      openHost().memcpy(destination, source, BigInt(byteLength));
    }
    if (direction === "download") fill();
  }
}

Deno.test("cutRows() uploads and downloads rows of any size through slots of any size", {
  ignore: !isLinux,
}, () => {
  const random = new Random(5);
  for (let round = 0; round < 300; round++) {
    const { rows, memory } = randomRows(random);
    const pieceBytes = 1 + random.below(500);
    const packed = packRows(memory, rows);
    const device = new Uint8Array(bytesOfRows(rows));
    move("upload", { rows, memory, device, pieceBytes });
    assertEquals(device, packed);
    const filled = new Uint8Array(memory.byteLength);
    const expected = new Uint8Array(memory.byteLength);
    move("download", { rows, memory: filled, device, pieceBytes });
    unpackRows(packed, expected, rows);
    assertEquals(filled, expected);
  }
});

Deno.test("cutRows() reads a row that is longer than a slot in parts, and says which one failed", () => {
  const rows = { offset: 5, rowBytes: 3000, pitch: 10_000, rowCount: 2 };
  const host = { file: { descriptor: 7, path: "weights" } };
  const cut = cutRows({ direction: "upload", deviceAddress: 0n, host, rows });
  const pieces = [...cut(2048)];
  const tasks = pieces.map((piece) => {
    const task = piece.laneTask(SLOT);
    assert(task.operation === "read");
    return [task.fileOffset, task.byteLength];
  });
  assertEquals(tasks, [[5, 2048], [2053, 952], [10_005, 2048], [12_053, 952]]);
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
