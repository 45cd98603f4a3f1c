// Runs of numbers that the GPU writes by itself: 0, 1, 2 and so on.

import { type DType, elementBytes } from "../dtype.ts";
import { f64, type KernelNumber, u64 } from "../launch/kernel_number.ts";
import { launchReady, writing } from "../launch/ready_kernels.ts";
import type { CudaStream } from "../order/stream.ts";
import { describeValue } from "../words/format.ts";
import { NUMBER, type OptionKind, OptionSet } from "../words/options.ts";
import type { GpuBuffer } from "./gpu_buffer.ts";
import { DEVICE_KINDS, type DeviceAllocateOptions } from "./place_options.ts";

/** Options for {@link CudaDevice.iota}. */
export interface IotaOptions extends DeviceAllocateOptions {
  /** The first number; 0 by default. */
  readonly start?: number | bigint | undefined;
  /** The difference between neighbours; 1 by default. */
  readonly step?: number | bigint | undefined;
}

const ANY_NUMBER: OptionKind = {
  expected: "a number or a bigint",
  accepts: (value) => NUMBER.accepts(value) || typeof value === "bigint",
};

/** Checks the options above. */
export const IOTA_OPTIONS: OptionSet<IotaOptions> = new OptionSet({
  ...DEVICE_KINDS,
  start: ANY_NUMBER,
  step: ANY_NUMBER,
});

/** The kernels by element type; whole numbers with a sign have the same bits as those without. */
const KERNELS: Partial<Record<DType, string>> = {
  int8: "vramkit_iota_u8",
  uint8: "vramkit_iota_u8",
  int16: "vramkit_iota_u16",
  uint16: "vramkit_iota_u16",
  int32: "vramkit_iota_u32",
  uint32: "vramkit_iota_u32",
  int64: "vramkit_iota_u64",
  uint64: "vramkit_iota_u64",
  float32: "vramkit_iota_f32",
  float64: "vramkit_iota_f64",
};

/** The run of numbers to write. */
interface NumberRun {
  /** The kernel that writes it. */
  readonly name: string;
  readonly start: KernelNumber;
  readonly step: KernelNumber;
}

/**
 * Checks a run before anything is allocated.
 *
 * @throws TypeError for element types that have no runs, and for numbers that must be whole and are
 *   not.
 */
export function numberRun(
  dtype: DType,
  { start = 0, step = 1 }: Pick<IotaOptions, "start" | "step">,
): NumberRun {
  const name = KERNELS[dtype];
  if (name === undefined) {
    throw new TypeError(
      `Cannot make a run of ${dtype}: expected whole numbers, float32 or float64`,
    );
  }
  const convert = dtype.startsWith("float")
    ? (value: number | bigint) => f64(Number(value))
    : asWhole;
  return { name, start: convert(start, "start"), step: convert(step, "step") };
}

/** Queues writing a run into a buffer. */
export function queueRun(buffer: GpuBuffer, run: NumberRun, stream: CudaStream): void {
  const { span, length } = buffer;
  if (length === 0) return;
  const { name, start, step } = run;
  launchReady(stream, {
    name,
    count: span.byteLength / elementBytes(buffer.dtype),
    args: [writing(span), u64(length), start, step],
  });
}

/** Whole numbers wrap around, as in JavaScript's typed arrays. */
function asWhole(value: number | bigint, option: string): KernelNumber {
  if (typeof value === "number" && !Number.isSafeInteger(value)) {
    throw new TypeError(
      `Cannot call iota(): option "${option}" is ${describeValue(value)}, expected a whole number`,
    );
  }
  return u64(BigInt.asUintN(64, BigInt(value)));
}
