// Comparing and summing up on the GPU, so that only a result of 8 bytes comes to the host.

import type { MemorySpan } from "../copies/copy.ts";
import { queueFill } from "../copies/fill.ts";
import { u64 } from "../launch/kernel_number.ts";
import { launchReady, reading, writing } from "../launch/ready_kernels.ts";
import { Allocation } from "../memory/allocation.ts";
import { defaultDeviceResource } from "../memory/resource_choice.ts";
import { requireNoCapture } from "../order/capture.ts";
import type { CudaStream } from "../order/stream.ts";
import { transfer } from "../transfer/host_transfer.ts";

/** The index that the kernels leave where nothing differs. */
const NOWHERE = 2n ** 64n - 1n;

const RESULT_BYTES = 8;

/** Multiplied with the number of bytes, so that zeros at the end count. */
const LENGTH_FACTOR = 0x9e3779b97f4a7c15n;

/**
 * Finds the first byte that differs; undefined when there is none.
 *
 * @throws TypeError when the GPU of the stream cannot reach one of the two.
 */
export async function firstDifferentByte(
  one: MemorySpan,
  other: MemorySpan,
  stream: CudaStream,
): Promise<number | undefined> {
  const { byteLength } = one;
  if (byteLength === 0) return undefined;
  const found = await resultOf(stream, 0xff, (result) =>
    launchReady(stream, {
      name: "vramkit_first_difference",
      count: Math.ceil(byteLength / 8),
      args: [reading(one), reading(other), u64(byteLength), writing(result)],
    }));
  return found === NOWHERE ? undefined : Number(found);
}

/** Sums up bytes and their places in 64 bits, as 16 hexadecimal digits. */
export async function checksumOf(span: MemorySpan, stream: CudaStream): Promise<string> {
  const { byteLength } = span;
  const sum = byteLength === 0 ? 0n : await resultOf(stream, 0, (result) =>
    launchReady(stream, {
      name: "vramkit_checksum",
      count: Math.ceil(byteLength / 4),
      args: [reading(span), u64(byteLength), writing(result)],
    }));
  const whole = BigInt.asUintN(64, sum + BigInt(byteLength) * LENGTH_FACTOR);
  return whole.toString(16).padStart(16, "0");
}

/** Runs a kernel that writes a result, and reads the result. */
async function resultOf(
  stream: CudaStream,
  firstByte: number,
  launch: (result: MemorySpan) => void,
): Promise<bigint> {
  requireNoCapture("read a result");
  const resource = defaultDeviceResource(stream);
  const allocation = Allocation.create({
    kind: "device",
    byteLength: RESULT_BYTES,
    resource,
    stream,
    label: "result",
  });
  try {
    const span = { allocation, address: allocation.address, byteLength: RESULT_BYTES };
    queueFill(span, { byteLength: 1, low: firstByte, high: 0 }, stream);
    launch(span);
    const memory = new Uint8Array(RESULT_BYTES);
    await transfer({ direction: "download", stream, span, host: { memory } });
    return new DataView(memory.buffer).getBigUint64(0, true);
  } finally {
    allocation.release(stream);
  }
}
