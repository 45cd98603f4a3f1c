// Measures the figures of this machine on which transfers of ordinary memory depend: what one core does, and
// the size from which the transfer ring beats the driver's own staging.

import { findHost, pageBytes } from "../../ffi/host.ts";
import type { DeviceBuffer } from "../buffers/device_buffer.ts";
import { engineOf } from "../transfer/context_engine.ts";
import { finishMover, Mover } from "../transfer/mover.ts";
import { inMemory, oneRow } from "../transfer/pieces.ts";
import { CudaUnavailableError } from "../words/errors.ts";
import { speedOf, spreadOf } from "./samples.ts";

/** Times of one size, for both ways of moving it. */
export interface CalibrationPoint {
  /** Bytes of one transfer. */
  readonly byteLength: number;
  /** Seconds up and back by the driver's own calls, the median. */
  readonly driverSeconds: number;
  /** Seconds up and back through the ring, the median. */
  readonly ringSeconds: number;
}

/** The result of a calibration. */
export interface Calibration {
  /** Measurements by size, smallest first. */
  readonly points: readonly CalibrationPoint[];
  /** Size in bytes from which the ring is faster; null when it never is. */
  readonly ringFromBytes: number | null;
  /** Speed at which one core copies an array for the driver, in GB/s. */
  readonly coreSpeed: number;
  /** Speed at which one core makes the pages of a new array, in GB/s. */
  readonly pageSpeed: number;
}

const SIZES = [4, 8, 16, 32, 64, 128].map((mebibytes) => mebibytes * 2 ** 20);
const SAMPLE_COUNT = 9;
/** The array by which one core is measured; of this size, new memory always comes from the system. */
const SAMPLE_BYTES = 64 * 2 ** 20;

/** Size of the buffer that {@link calibrate} needs, in bytes. */
export const CALIBRATION_BYTES = Math.max(...SIZES);

/**
 * Times both ways for a few sizes, after the lanes have started; blocks meanwhile.
 *
 * @throws CudaUnavailableError without the C library, which the threads copy with.
 */
export async function calibrate(buffer: DeviceBuffer<"uint8">): Promise<Calibration> {
  if (findHost() === undefined) {
    throw new CudaUnavailableError(
      "not-supported",
      "Cannot calibrate transfers: threads that copy need Linux and --allow-ffi without a path; " +
        "the driver moves everything here",
    );
  }
  const engine = engineOf(buffer.context);
  const host = new Uint8Array(CALIBRATION_BYTES).fill(1);
  await engine.runLanes();
  const points = SIZES.map((byteLength) => {
    const part = buffer.subarray(0, byteLength);
    const bytes = host.subarray(0, byteLength);
    return {
      byteLength,
      driverSeconds: medianSeconds(() => moveByDriver(part, bytes)),
      ringSeconds: medianSeconds(() => moveByRing(part, bytes)),
    };
  });
  const lastLoss = points.findLastIndex((point) => point.ringSeconds > point.driverSeconds);
  const { driverSeconds = 0 } = points.find(({ byteLength }) => byteLength === SAMPLE_BYTES) ?? {};
  return {
    points,
    ringFromBytes: points[lastLoss + 1]?.byteLength ?? null,
    coreSpeed: speedOf(2 * SAMPLE_BYTES, driverSeconds), // there and back
    pageSpeed: speedOf(SAMPLE_BYTES, medianSeconds(makeArray)),
  };
}

/** Makes a new array with all its pages. */
function makeArray(): void {
  const bytes = new Uint8Array(SAMPLE_BYTES);
  const step = pageBytes();
  for (let at = 0; at < SAMPLE_BYTES; at += step) bytes[at] = 1;
}

function moveByDriver(buffer: DeviceBuffer<"uint8">, bytes: Uint8Array<ArrayBuffer>): void {
  const stream = buffer.context.defaultStreamHandle;
  const { driver } = buffer.context;
  const size = BigInt(bytes.byteLength);
  driver.call("cuMemcpyHtoDAsync_v2", buffer.ptr, bytes, size, stream);
  driver.call("cuMemcpyDtoHAsync_v2", bytes, buffer.ptr, size, stream);
  driver.call("cuStreamSynchronize", stream);
}

function moveByRing(buffer: DeviceBuffer<"uint8">, bytes: Uint8Array<ArrayBuffer>): void {
  const rows = oneRow(bytes.byteLength);
  const sections = [{ span: buffer.span, host: inMemory(bytes), rows }];
  for (const direction of ["upload", "download"] as const) {
    const request = { direction, sections, canLend: false };
    finishMover(new Mover(buffer.context, [{ begin: () => request }]));
  }
}

/** Returns the median time of some runs, in seconds. */
export function medianSeconds(run: () => void): number {
  const samples = Array.from({ length: SAMPLE_COUNT }, () => {
    const start = performance.now();
    run();
    return (performance.now() - start) / 1000;
  });
  return spreadOf(samples).middle;
}
