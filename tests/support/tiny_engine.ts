// A transfer engine with slots of a few KiB, so that small arrays cross all of its borders:
// pieces, slots, slabs, more pieces than slots, more transfers than slots.

import type { DriverApi } from "../../ffi/cuda.ts";
import type { DeviceBuffer } from "../../src/buffers/device_buffer.ts";
import { CudaDevice } from "../../src/device/device.ts";
import { type CudaStream, defaultStreamOf } from "../../src/order/stream.ts";
import { adoptEngine } from "../../src/transfer/context_engine.ts";
import { TransferEngine } from "../../src/transfer/engine.ts";
import { finishMover, Mover } from "../../src/transfer/mover.ts";
import { PendingTransfer, type TransferOptions } from "../../src/transfer/pending_transfer.ts";
import { type Direction, inMemory, oneRow, type Section } from "../../src/transfer/pieces.ts";
import type { RingRequest } from "../../src/transfer/ring_transfer.ts";
import type { EngineLimits } from "../../src/transfer/ways.ts";

/** Four slots of 4 KiB in slabs of two, and two lanes. */
export const TINY_LIMITS: EngineLimits = {
  slotBytes: 4096,
  slotCount: 4,
  laneCount: 2,
  sharedLaneCount: 2,
  minRingBytes: 4096,
  maxCallBytes: 4096,
  maxFreshCallBytes: 4096,
  firstTurnMilliseconds: 0,
};

/** The options that may differ between transfers. */
export type TinyOptions = TransferOptions & {
  /** Bytes to move instead of the whole array's. */
  readonly sections?: (whole: Section) => readonly Section[];
  readonly stream?: CudaStream;
};

/** A context's engine, which is disposed at the end of a test, and short ways to have it move bytes. */
export class TinyEngine implements Disposable {
  readonly #engine: TransferEngine;

  /** Gives the context the engine. It has lanes, or as many threads are lent as many lanes would be. */
  constructor(gpu: CudaDevice, limits: EngineLimits = TINY_LIMITS, { hasLanes = true } = {}) {
    const counted = limitsWith(hasLanes ? 3 : 7, limits);
    this.#engine = adoptEngine(gpu.context, new TransferEngine(gpu.context, counted));
    if (hasLanes) this.#engine.startLanes();
  }

  async upload(
    buffer: DeviceBuffer<"uint8">,
    bytes: Uint8Array<ArrayBuffer>,
    options: TinyOptions = {},
  ): Promise<void> {
    await this.#move("upload", buffer, { bytes, ...options });
  }

  async download(
    buffer: DeviceBuffer<"uint8">,
    options: TinyOptions = {},
  ): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = new Uint8Array(buffer.byteLength);
    await this.#move("download", buffer, { bytes, ...options });
    return bytes;
  }

  uploadSync(
    buffer: DeviceBuffer<"uint8">,
    bytes: Uint8Array<ArrayBuffer>,
    options: TinyOptions = {},
  ): void {
    this.#moveSync("upload", buffer, { bytes, ...options });
  }

  downloadSync(
    buffer: DeviceBuffer<"uint8">,
    options: TinyOptions = {},
  ): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(buffer.byteLength);
    this.#moveSync("download", buffer, { bytes, ...options });
    return bytes;
  }

  /** Ends the lanes and frees the ring. */
  [Symbol.dispose](): void {
    this.#engine.dispose();
  }

  #move(direction: Direction, buffer: DeviceBuffer<"uint8">, options: MoveOptions): Promise<void> {
    const { bytes, stream = defaultStreamOf(buffer.context), onProgress, signal } = options;
    const isUpload = direction === "upload";
    return new PendingTransfer({
      stream,
      uses: [{ ...buffer.span, access: isUpload ? "write" : "read" }],
      arrays: [{ memory: bytes, access: isUpload ? "read" : "write" }],
      byteLength: bytes.byteLength,
      action: direction,
      onProgress,
      signal,
      steps: () => [{ begin: () => request(direction, buffer, options) }],
    }).promise;
  }

  #moveSync(direction: Direction, buffer: DeviceBuffer<"uint8">, options: MoveOptions): void {
    defaultStreamOf(buffer.context).synchronizeSync();
    const step = { begin: () => request(direction, buffer, options) };
    finishMover(new Mover(buffer.context, [step]));
  }
}

/** Returns limits with so many lanes or more. */
function limitsWith(least: number, limits: EngineLimits): EngineLimits {
  const laneCount = Math.max(limits.laneCount, least);
  return { ...limits, laneCount, sharedLaneCount: laneCount };
}

/**
 * Keeps lanes of a driver running, for the tiny engines with these limits: to start a worker takes longer
 * than most tests. They are those of its second device; a driver with one has new ones for each engine.
 */
export function keepLanes(driver: DriverApi, ...limits: readonly EngineLimits[]): void {
  if (CudaDevice.count({ driver }) < 2) return;
  const gpu = CudaDevice.open(1, { driver });
  const engines = limits.map((each) => new TransferEngine(gpu.context, limitsWith(3, each)));
  for (const engine of engines) engine.startLanes();
  kept.push(gpu, ...engines);
}

/** For as long as the process lives. */
const kept: unknown[] = [];

type MoveOptions = TinyOptions & { readonly bytes: Uint8Array<ArrayBuffer> };

function request(
  direction: Direction,
  buffer: DeviceBuffer<"uint8">,
  { bytes, sections = (whole) => [whole] }: MoveOptions,
): RingRequest {
  const whole = { span: buffer.span, host: inMemory(bytes), rows: oneRow(bytes.byteLength) };
  return { direction, sections: sections(whole), canLend: true };
}
