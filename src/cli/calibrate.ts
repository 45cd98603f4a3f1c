// `calibrate`: finds the options of transfers that fit this machine, and how fast the disk of a folder is.

import type { DeviceBuffer } from "../buffers/device_buffer.ts";
import { CudaDevice } from "../device/device.ts";
import { type FileSpeed, measureFileSpeed } from "../machine/file_speed.ts";
import {
  calibrate,
  type Calibration,
  CALIBRATION_BYTES,
  type CalibrationPoint,
  medianSeconds,
} from "../measure/calibrate.ts";
import { speedOf } from "../measure/samples.ts";
import { formatBytes, formatSeconds } from "../words/format.ts";
import { formatTable } from "../words/text_table.ts";
import type { CliOptions } from "./arguments.ts";
import { canWriteInto } from "./demo.ts";

/** Runs the command; it prints its result and stores nothing. */
export async function runCalibrate(options: CliOptions): Promise<number> {
  const { folder } = options;
  using gpu = CudaDevice.open(options.ordinal, { driver: options.driver });
  using buffer = gpu.zeros("uint8", CALIBRATION_BYTES, { label: "calibration" });
  if (folder !== undefined && !await canWriteInto(folder)) return 1;
  const calibration = await calibrate(buffer);
  const { points, coreSpeed, pageSpeed } = calibration;
  const canRegister = gpu.context.attribute("CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED") === 1;
  const inPlace = canRegister ? measureInPlace(gpu, buffer) : undefined;
  const file = folder && await measureFileSpeed(gpu, { dir: folder });
  if (options.json) {
    const provenance = gpu.provenance();
    console.log(JSON.stringify({ provenance, ...calibration, inPlace, file }, null, 2));
    return 0;
  }
  console.log(`${gpu.name}: there and back, GB/s (1 GB = 10^9 bytes)`);
  const rows = [["size", "driver", "ring"], ...points.map(speeds)];
  console.log(formatTable(rows, ["right", "right", "right"]));
  const [copies, makes] = [coreSpeed, pageSpeed].map((speed) => speed.toFixed(1));
  console.log(
    `one core copies ${copies} GB/s for the driver, and makes pages of new arrays at ${makes}`,
  );
  if (inPlace) console.log(inPlaceWords(inPlace));
  if (file) console.log(`${folder}: ${wordsOf(file)}`);
  console.log(advice(gpu, calibration));
  return 0;
}

/** Seconds of two ways for the GPU to read an array: from a copy of its own, and where it is. */
interface InPlace {
  readonly byteLength: number;
  readonly uploadSeconds: number;
  readonly readSeconds: number;
  readonly registerSeconds: number;
  readonly readInPlaceSeconds: number;
}

/** Times both ways; a read is a copy on the device, into the buffer. */
function measureInPlace(gpu: CudaDevice, target: DeviceBuffer<"uint8">): InPlace {
  const host = new Uint8Array(target.byteLength).fill(1);
  using copy = gpu.zeros("uint8", target.byteLength);
  const registerSeconds = medianSeconds(() => gpu.register(host).dispose());
  using array = gpu.register(host);
  const read = (source: typeof copy | typeof array) =>
    medianSeconds(() => {
      target.copyFrom(source);
      gpu.synchronizeSync();
    });
  return {
    byteLength: target.byteLength,
    uploadSeconds: medianSeconds(() => copy.uploadSync(host)),
    readSeconds: read(copy),
    registerSeconds,
    readInPlaceSeconds: read(array),
  };
}

/** Says how often the GPU may read an array before a copy of it is faster. */
function inPlaceWords(times: InPlace): string {
  const { byteLength, uploadSeconds, readSeconds, registerSeconds, readInPlaceSeconds } = times;
  const reads = (uploadSeconds - registerSeconds) / Math.max(0, readInPlaceSeconds - readSeconds);
  const count = reads < 1000 ? `at most ${Math.floor(reads)} times` : "any number of times";
  const choice = reads < 1 ? "copy arrays" : `leave arrays in place that the GPU reads ${count}`;
  return `${formatBytes(byteLength)}: upload() takes ${formatSeconds(uploadSeconds)} and a read ` +
    `${formatSeconds(readSeconds)}, register() ${formatSeconds(registerSeconds)} and a read in ` +
    `place ${formatSeconds(readInPlaceSeconds)}: ${choice}`;
}

function advice(gpu: CudaDevice, calibration: Calibration): string {
  if (gpu.isSimulated) return "The device is simulated: no number means a speed";
  const { ringFromBytes, coreSpeed, pageSpeed } = calibration;
  const speeds = `coreSpeed: ${coreSpeed.toFixed(1)}, pageSpeed: ${pageSpeed.toFixed(1)}`;
  const open = (options: string) =>
    `CudaDevice.open(${gpu.ordinal}, { transfers: { ${options} } })`;
  return ringFromBytes === null
    ? `The driver won at the largest size: leave ringFromSize out\n${open(speeds)}`
    : open(`ringFromSize: "${formatBytes(ringFromBytes)}", ${speeds}`);
}

/** A disk's figures decide nothing: they say how fast a model can come from there. */
function wordsOf({ byteLength, cached, disk, system = "a file system" }: FileSpeed): string {
  const [fast, slow] = [cached, disk].map(({ middle }) => middle.toFixed(2));
  return `a file of ${formatBytes(byteLength)} reaches the GPU with ${fast} GB/s from the page ` +
    `cache, and with ${slow} from this disk (${system})`;
}

function speeds({ byteLength, driverSeconds, ringSeconds }: CalibrationPoint): string[] {
  const speed = (seconds: number) => speedOf(2 * byteLength, seconds).toFixed(1);
  return [formatBytes(byteLength), speed(driverSeconds), speed(ringSeconds)];
}
