// `calibrate`: finds the size from which transfers should go through the ring on this machine, and how fast
// the disk of a folder is.

import { CudaDevice } from "../device/device.ts";
import { type FileSpeed, measureFileSpeed } from "../machine/file_speed.ts";
import { calibrate, CALIBRATION_BYTES, type CalibrationPoint } from "../measure/calibrate.ts";
import { formatBytes } from "../words/format.ts";
import { formatTable } from "../words/text_table.ts";
import type { CliOptions } from "./arguments.ts";
import { canWriteInto } from "./demo.ts";

/** Runs the command; it prints its result and stores nothing. */
export async function runCalibrate(options: CliOptions): Promise<number> {
  const { folder } = options;
  using gpu = CudaDevice.open(options.ordinal, { driver: options.driver });
  using buffer = gpu.zeros("uint8", CALIBRATION_BYTES, { label: "calibration" });
  if (folder !== undefined && !await canWriteInto(folder)) return 1;
  const { points, ringFromBytes } = await calibrate(buffer);
  const file = folder && await measureFileSpeed(gpu, { dir: folder });
  if (options.json) {
    const provenance = gpu.provenance();
    console.log(JSON.stringify({ provenance, points, ringFromBytes, file }, null, 2));
    return 0;
  }
  console.log(`${gpu.name}: there and back, GB/s (1 GB = 10^9 bytes)`);
  const rows = [["size", "driver", "ring"], ...points.map(speeds)];
  console.log(formatTable(rows, ["right", "right", "right"]));
  if (file) console.log(`${folder}: ${wordsOf(file)}`);
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

/** A disk's figures decide nothing: they say how fast a model can come from there. */
function wordsOf({ byteLength, cached, disk, system = "a file system" }: FileSpeed): string {
  const [fast, slow] = [cached, disk].map(({ middle }) => middle.toFixed(2));
  return `a file of ${formatBytes(byteLength)} reaches the GPU with ${fast} GB/s from the page ` +
    `cache, and with ${slow} from this disk (${system})`;
}

function speeds({ byteLength, driverSeconds, ringSeconds }: CalibrationPoint): string[] {
  const speed = (seconds: number) => (2 * byteLength / seconds / 1e9).toFixed(1);
  return [formatBytes(byteLength), speed(driverSeconds), speed(ringSeconds)];
}
