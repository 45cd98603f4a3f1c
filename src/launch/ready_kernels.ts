// The kit's own kernels on a device: loaded with the first use, unloaded with the device.

import { nameOf } from "../accounting/ledger.ts";
import type { MemorySpan } from "../copies/copy.ts";
import type { Context } from "../driver/context.ts";
import type { CudaStream } from "../order/stream.ts";
import { PACKED_PTX } from "./generated/ptx.ts";
import { readImage } from "./image.ts";
import { KERNEL_MEMORY, type KernelMemory, readOnly } from "./kernel_memory.ts";
import type { KernelNumber } from "./kernel_number.ts";
import type { KernelFunction } from "./kernel_function.ts";
import type { LaunchShape } from "./launch_shape.ts";
import { LoadedCode } from "./loaded_code.ts";
import { unpackText } from "./packed_text.ts";

const BLOCK_THREADS = 256;

/** Blocks for each multiprocessor; more would only run one after another. */
const BLOCKS_EACH = 8;

/** A launch: the number of elements to divide among the threads, and the arguments. */
export interface ReadyLaunch {
  readonly name: string;
  readonly count: number;
  /** One value for each parameter. */
  readonly args: readonly (KernelMemory | KernelNumber | Uint8Array)[];
}

/** The texts, each of which a device loads whole with its first kernel. */
export type ReadyText = keyof typeof PACKED_PTX;

/** The code of a context, by its text. */
const loaded = new WeakMap<Context, Map<ReadyText, LoadedCode>>();

/** Queues one of the kernels and does not wait. */
export function launchReady(stream: CudaStream, { name, count, args }: ReadyLaunch): void {
  const { context } = stream;
  kernelOf(context, name).launch({ shape: shapeFor(context, count), stream, args });
}

/** Queues one of the kernels whose turn has come, behind other streams' work on its memory. */
export function launchReadyNow(stream: CudaStream, { name, count, args }: ReadyLaunch): void {
  const { context } = stream;
  kernelOf(context, name).launchNow({ shape: shapeFor(context, count), stream, args });
}

/** Returns enough threads for a number of elements, but not more than run at a time. */
function shapeFor(context: Context, count: number): LaunchShape {
  const most = BLOCKS_EACH *
    Math.max(1, context.attribute("CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT"));
  const blocks = Math.min(most, Math.max(1, Math.ceil(count / BLOCK_THREADS)));
  return {
    grid: [blocks, 1, 1],
    block: [BLOCK_THREADS, 1, 1],
    threadCount: BLOCK_THREADS,
    sharedBytes: 0,
    isCooperative: false,
    cluster: undefined,
  };
}

export function writing(span: MemorySpan): KernelMemory {
  return new SpanMemory(span);
}

export function reading(span: MemorySpan): KernelMemory {
  return readOnly(new SpanMemory(span));
}

/** A part of a block, for a kernel. */
class SpanMemory implements KernelMemory {
  readonly #span: MemorySpan;

  constructor(span: MemorySpan) {
    this.#span = span;
  }

  [KERNEL_MEMORY](): MemorySpan {
    return this.#span;
  }

  toString(): string {
    return nameOf(this.#span.allocation);
  }
}

/** Returns PTX of the kit's own kernels. */
export function readyText(name: ReadyText): string {
  return unpackText(PACKED_PTX[name]);
}

function textWith(kernel: string): ReadyText {
  if (kernel.startsWith("vramkit_convert")) return "conversion";
  return kernel.startsWith("vramkit_strided") ? "strided" : "ready";
}

/** Finds a kernel, and loads it where it is not: compiling it for the device may take a third of a second. */
export function kernelOf(context: Context, name: string): KernelFunction {
  return codeOf(context, textWith(name)).kernel(name);
}

function codeOf(context: Context, name: ReadyText): LoadedCode {
  return loaded.getOrInsertComputed(context, () => new Map()).getOrInsertComputed(name, () => {
    const code = new LoadedCode(context, readImage(readyText(name)), "of vramkit");
    context.atRelease(() => code.release());
    return code;
  });
}
