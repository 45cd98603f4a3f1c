// Fills of memory with a pattern of 1, 2 or 4 bytes, in one run or in rows. Zeros over unwritten
// device memory cost nothing, whatever its size.

import { requireValue } from "../errors.ts";
import { costOf } from "../model/device.ts";
import type { Machine } from "../model/machine.ts";
import type { Region } from "../model/region.ts";
import type { Stream } from "../model/stream.ts";
import { requireAccess } from "./copies.ts";
import { queueMemoryWork } from "./memory_work.ts";

export interface Fill {
  readonly address: bigint;
  readonly value: number;
  readonly elementBytes: number;
  readonly elementCount: number;
  readonly rowCount?: number;
  /** Distance between the starts of two rows. */
  readonly pitchBytes?: number;
}

export function queueFill(machine: Machine, stream: Stream, fill: Fill): void {
  const { elementBytes, elementCount, rowCount = 1 } = fill;
  const address = Number(fill.address);
  const widthBytes = elementBytes * elementCount;
  const pitchBytes = rowCount > 1 ? fill.pitchBytes ?? widthBytes : widthBytes;
  if (widthBytes === 0 || rowCount === 0) return;
  requireValue(address % elementBytes === 0 && pitchBytes % elementBytes === 0);
  requireValue(pitchBytes >= widthBytes);
  const region = machine.memory.resolve(address, pitchBytes * (rowCount - 1) + widthBytes);
  // A capture records the fill of an ordinary array, which no stream runs.
  requireValue(region.kind !== "pageable" || machine.captures.of(stream) !== undefined);
  requireAccess(machine, [stream.context], { region, write: true, kernel: true });
  const extent = { start: 0, widthBytes, pitchBytes, rowCount };
  queueMemoryWork(machine, stream, {
    uses: [{ region, extent, write: true }],
    seconds: costOf("fill", widthBytes * rowCount),
    engine: stream.context.device.compute,
    run() {
      for (let row = 0; row < rowCount; row++) {
        fillRow(region, { start: row * pitchBytes, byteLength: widthBytes, fill });
      }
    },
  });
}

function fillRow(region: Region, row: { start: number; byteLength: number; fill: Fill }): void {
  const { start, byteLength, fill } = row;
  if (fill.value === 0) {
    for (const part of region.parts(start, start + byteLength)) {
      part.segment.storage.zero(part.start, part.end - part.start);
    }
    return;
  }
  for (let done = 0; done < byteLength;) {
    const bytes = region.span(start + done, byteLength - done, "write");
    elementsOf(bytes, fill.elementBytes).fill(fill.value);
    done += bytes.byteLength;
  }
}

function elementsOf(bytes: Uint8Array, elementBytes: number) {
  const { buffer, byteOffset, byteLength } = bytes;
  if (elementBytes === 1) return bytes;
  if (elementBytes === 2) return new Uint16Array(buffer, byteOffset, byteLength / 2);
  return new Uint32Array(buffer, byteOffset, byteLength / 4);
}
