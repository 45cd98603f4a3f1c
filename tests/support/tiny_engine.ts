// A transfer engine with slots of a few KiB, so that small arrays cross all of its borders:
// pieces, slots, slabs, more pieces than slots, more transfers than slots.

import type { DeviceBuffer } from "../../src/buffers/device_buffer.ts";
import type { CudaDevice } from "../../src/device/device.ts";
import { addressOf } from "../../src/memory/host_memory.ts";
import { type CudaStream, defaultStreamOf } from "../../src/order/stream.ts";
import { TransferEngine } from "../../src/transfer/engine.ts";
import {
  finishMover,
  PendingTransfer,
  type TransferOptions,
} from "../../src/transfer/pending_transfer.ts";
import { RingMover } from "../../src/transfer/ring_mover.ts";
import type { RingRequest } from "../../src/transfer/ring_transfer.ts";
import { cutRun } from "../../src/transfer/run_pieces.ts";
import type { EngineLimits } from "../../src/transfer/tuning.ts";

/** Four slots of 4 KiB in slabs of two, and two lanes. */
export const TINY_LIMITS: EngineLimits = {
  slotBytes: 4096,
  slotCount: 4,
  slabSlots: 2,
  laneCount: 2,
  freshLaneCount: 2,
  sharedLaneCount: 2,
  briefBytes: 4096,
  atOnceBytes: 0,
  driverPieceBytes: 4096,
  firstTurnMilliseconds: 0,
  demandBytes: 2 ** 27,
};

/** The options that may differ between transfers. */
export type TinyOptions = TransferOptions & Partial<Pick<RingRequest, "pieceBytes" | "cut">> & {
  readonly stream?: CudaStream;
};

/** An engine that is disposed at the end of a test, and short ways to ask it for a transfer. */
export class TinyEngine implements Disposable {
  readonly #engine: TransferEngine;

  /** Makes an engine of its own beside the context's; without lanes, threads are lent. */
  constructor(gpu: CudaDevice, limits: EngineLimits = TINY_LIMITS, { hasLanes = true } = {}) {
    this.#engine = new TransferEngine(gpu.context, limits);
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
      start: (entry) => new RingMover(this.#engine, request(direction, buffer, options), entry),
    }).promise;
  }

  #moveSync(direction: Direction, buffer: DeviceBuffer<"uint8">, options: MoveOptions): void {
    defaultStreamOf(buffer.context).synchronizeSync();
    finishMover(new RingMover(this.#engine, request(direction, buffer, options)));
  }
}

type Direction = "upload" | "download";
type MoveOptions = TinyOptions & { readonly bytes: Uint8Array<ArrayBuffer> };

function request(
  direction: Direction,
  buffer: DeviceBuffer<"uint8">,
  { bytes, pieceBytes, cut }: MoveOptions,
): RingRequest {
  const { byteLength } = bytes;
  const host = { address: addressOf(bytes), bytes };
  return {
    direction,
    byteLength,
    arrays: [bytes],
    cut: cut ?? cutRun({ direction, deviceAddress: buffer.ptr, host, byteLength }),
    ...(pieceBytes === undefined ? {} : { pieceBytes }),
  };
}
