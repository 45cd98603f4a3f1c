// The pieces of one array: each byte is in one of them, in order, on both sides; and where there are many, or
// the memory is fresh, all but the first begin where pages of the host's memory do.

import { assert, assertEquals } from "@std/assert";
import { PAGE_BYTES } from "../../../src/lanes/fresh_pages.ts";
import { addressOf } from "../../../src/memory/host_memory.ts";
import { cutRun, type Run } from "../../../src/transfer/run_pieces.ts";
import { Random } from "../../support/random.ts";

const DEVICE = 0x7000_0000_0000n;
const SLOT = 0x5000_0000_0000n;

/** The copies of a run's pieces, as the copy engine and as lanes see them. */
function piecesOf(run: Run, pieceBytes: number) {
  return [...cutRun(run)(pieceBytes)].map((piece) => {
    const task = piece.laneTask(SLOT);
    const [copy, ...others] = piece.copies(SLOT);
    assert(task.operation === "copy" && copy !== undefined && others.length === 0);
    assertEquals([copy.byteLength, task.byteLength], [piece.byteLength, piece.byteLength]);
    const isUpload = run.direction === "upload";
    const [onDevice, slot] = isUpload
      ? [copy.destination, copy.source]
      : [copy.source, copy.destination];
    const [onHost, slotOfLane] = isUpload
      ? [task.source, task.destination]
      : [task.destination, task.source];
    assertEquals([slot, slotOfLane], [SLOT, SLOT]);
    return { onDevice, onHost, byteLength: piece.byteLength };
  });
}

for (const direction of ["upload", "download"] as const) {
  for (const isFresh of [false, true]) {
    const memory = isFresh ? "fresh memory" : "memory";
    Deno.test(`cutRun() cuts an ${direction} of ${memory} of any size and place at pages`, () => {
      const random = new Random(direction.length + (isFresh ? 100 : 0));
      const whole = new Uint8Array(3 * 2 ** 20);
      for (let round = 0; round < 300; round++) {
        const pieceBytes = 2 ** (9 + random.below(13));
        const start = random.below(2 ** 20);
        const byteLength = random.below(2) === 0 ? random.below(9000) : random.below(2 ** 21);
        const bytes = whole.subarray(start, start + byteLength);
        const address = addressOf(whole) + BigInt(start);
        const host = { address, bytes };
        const run = { direction, deviceAddress: DEVICE, host, byteLength, isFresh };
        const step = BigInt(isFresh ? pieceBytes : Math.min(pieceBytes, PAGE_BYTES));
        const isCutAtPages = isFresh || byteLength >= 16 * pieceBytes;
        let done = 0;
        const pieces = piecesOf(run, pieceBytes);
        for (const [at, piece] of pieces.entries()) {
          assertEquals(piece.onHost, address + BigInt(done));
          assertEquals(piece.onDevice, DEVICE + BigInt(done));
          assert(
            piece.byteLength > 0 && piece.byteLength <= pieceBytes,
            `${piece.byteLength} bytes`,
          );
          if (at > 0 && isCutAtPages) {
            assertEquals(piece.onHost % step, 0n, `piece ${at} of round ${round}`);
          }
          done += piece.byteLength;
        }
        assertEquals(done, byteLength);
        if (!isCutAtPages) assertEquals(pieces.length, Math.ceil(byteLength / pieceBytes));
      }
    });
  }
}

Deno.test("cutRun() cuts a file where it is told", () => {
  const host = { file: { descriptor: 7, path: "weights" } };
  const run = { deviceAddress: DEVICE, host, hostOffset: 5, byteLength: 10_000 };
  const cut = cutRun({ direction: "upload", ...run });
  const pieces = [...cut(4096)];
  assertEquals(pieces.map(({ byteLength }) => byteLength), [4096, 4096, 1808]);
  assertEquals(pieces.map((piece) => piece.laneTask(SLOT)).at(-1), {
    operation: "read",
    destination: SLOT,
    source: 7n,
    byteLength: 1808,
    fileOffset: 5 + 8192,
  });
});
