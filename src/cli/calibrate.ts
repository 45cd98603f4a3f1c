// `calibrate`: finds the size from which transfers should go through the ring on this machine.

import { CudaDevice } from "../device/device.ts";
import { calibrate, CALIBRATION_BYTES, type CalibrationPoint } from "../measure/calibrate.ts";
import { formatBytes } from "../words/format.ts";
import { formatTable } from "../words/text_table.ts";
import type { CliOptions } from "./arguments.ts";

/** Runs the command; it prints its result and stores nothing. */
export async function runCalibrate(options: CliOptions): Promise<number> {
  using gpu = CudaDevice.open(options.ordinal, { driver: options.driver });
  using buffer = gpu.zeros("uint8", CALIBRATION_BYTES, { label: "calibration" });
  const { points, ringFromBytes } = await calibrate(buffer);
  if (options.json) {
    const provenance = gpu.provenance();
    console.log(JSON.stringify({ provenance, points, ringFromBytes }, null, 2));
    return 0;
  }
  console.log(`${gpu.name}: there and back, GB/s (1 GB = 10^9 bytes)`);
  const rows = [["size", "driver", "ring"], ...points.map(speeds)];
  console.log(formatTable(rows, ["right", "right", "right"]));
  console.log(advice(gpu, ringFromBytes));
  return 0;
}

function advice(gpu: CudaDevice, ringFromBytes: number | null): string {
  if (gpu.isSimulated) return "The device is simulated: no number means a speed";
  if (ringFromBytes === null) {
    return "The driver won at the largest size: leave transfers as they are";
  }
  return `CudaDevice.open(${gpu.ordinal}, { transfers: { ringFromSize: ` +
    `"${formatBytes(ringFromBytes)}" } })`;
}

function speeds({ byteLength, driverSeconds, ringSeconds }: CalibrationPoint): string[] {
  const speed = (seconds: number) => (2 * byteLength / seconds / 1e9).toFixed(1);
  return [formatBytes(byteLength), speed(driverSeconds), speed(ringSeconds)];
}
