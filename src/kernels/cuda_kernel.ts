// A kernel as users hold it: its launch, its limits, and the module that it belongs to.

import type { DeviceBuffer } from "../buffers/device_buffer.ts";
import type { Shape } from "../buffers/shape.ts";
import type { Context } from "../driver/context.ts";
import type { DType } from "../dtype.ts";
import type { KernelFunction, KernelLimits } from "../launch/kernel_function.ts";
import type { KernelMemory } from "../launch/kernel_memory.ts";
import type { KernelNumber } from "../launch/kernel_number.ts";
import { type LaunchShapeOptions, shapeOf } from "../launch/launch_shape.ts";
import { CudaStream } from "../order/stream.ts";
import { STREAM, streamOn } from "../order/stream_choice.ts";
import { DisposedError } from "../words/errors.ts";
import { ANYTHING, FLAG, LIST, NUMBER, OptionSet } from "../words/options.ts";
import { Owned } from "../words/owned.ts";
import { comesFrom, type Parts, partsOf } from "../words/parts.ts";

/**
 * A value for one parameter: a buffer or a view, a plain number where the kernel's code tells the
 * type, a typed number such as `i32(3)`, or the bytes of a struct.
 */
export type KernelArgument = KernelMemory | KernelNumber | ArrayBufferView | number | bigint;

/** The module of a kernel: the part of {@link CudaModule} that its kernels need. */
export interface KernelModule extends Disposable {
  /** Context that it belongs to. */
  readonly context: Context;
  /** Its label, or its number. */
  readonly name: string;
  /** It was disposed. */
  readonly disposed: boolean;
  /** Names of its kernels, if its code tells them. */
  readonly kernelNames: readonly string[];
  /** Returns another kernel. */
  kernel(name: string): CudaKernel;
  /** Returns a variable as a buffer. */
  global<D extends DType = "uint8">(
    name: string,
    options?: GlobalOptions<D>,
  ): DeviceBuffer<NoInfer<D>>;
  /** Unloads it after the launches queued so far. */
  dispose(): void;
}

/** Options for {@link CudaModule.global}: the type and shape of the variable. */
export interface GlobalOptions<D extends DType = "uint8"> {
  /** Element type; `"uint8"` by default. */
  readonly dtype?: D | undefined;
  /** Size of each axis; one axis by default. */
  readonly shape?: number | Shape | undefined;
}

/** Options for {@link CudaKernel.launch}. */
export interface LaunchOptions extends LaunchShapeOptions {
  /** One value for each parameter of the kernel. */
  readonly args?: readonly KernelArgument[] | undefined;
  /** Stream that runs it; the device's default stream by default. */
  readonly stream?: CudaStream | undefined;
}

const LAUNCH_OPTIONS = new OptionSet<LaunchOptions>({
  grid: ANYTHING,
  block: ANYTHING,
  sharedBytes: NUMBER,
  cooperative: FLAG,
  cluster: ANYTHING,
  args: LIST,
  stream: STREAM,
});

/** Returns the function behind a kernel. */
export let functionOf: (kernel: CudaKernel) => KernelFunction;

/**
 * A kernel: a function that runs on the GPU in many threads. {@link CudaDevice.compile} makes one
 * from CUDA C++, {@link CudaModule.kernel} finds one in loaded code.
 *
 * @example
 * ```ts
 * import { CudaDevice } from "vramkit";
 *
 * using gpu = CudaDevice.open(0, { driver: "auto" });
 * const source = `extern "C" __global__ void scale(float *x, float factor, int count) {
 *   int i = blockIdx.x * blockDim.x + threadIdx.x;
 *   if (i < count) x[i] *= factor;
 * }`;
 * if (!gpu.isSimulated) {
 *   using scale = await gpu.compile(source);
 *   using x = await gpu.upload(new Float32Array([1, 2, 3]));
 *   scale.launch({ grid: 1, block: 256, args: [x, 2, x.length] });
 *   console.log(await x.download()); // Float32Array(3) [2, 4, 6]
 * }
 * ```
 */
export class CudaKernel extends Owned {
  /** Module that it belongs to. */
  readonly module: KernelModule;
  readonly #function: KernelFunction;
  readonly #ownsModule: boolean;

  static {
    functionOf = (kernel) => kernel.#function;
  }

  /** @ignore Wraps a kernel of a module. */
  constructor(
    parts: Parts<{
      readonly module: KernelModule;
      readonly kernel: KernelFunction;
      /** Disposes the module with it. */
      readonly ownsModule?: boolean | undefined;
    }>,
  ) {
    super();
    const { module, kernel, ownsModule = false } = partsOf(parts, new.target);
    this.module = module;
    this.#function = kernel;
    this.#ownsModule = ownsModule;
  }

  /** Its name. */
  get name(): string {
    return this.#function.name;
  }

  /** Context that it belongs to. */
  get context(): Context {
    return this.module.context;
  }

  /** Tells whether its module was disposed. */
  get disposed(): boolean {
    return this.module.disposed;
  }

  /** Size of each parameter in bytes; undefined when neither its code nor the driver tells them. */
  get parameterBytes(): readonly number[] | undefined {
    return this.#function.types?.map(({ byteLength }) => byteLength);
  }

  /** The block size, registers and shared memory that the kernel needs and may use. */
  get limits(): KernelLimits {
    this.#requireUsable();
    return this.#function.limits;
  }

  /**
   * Queues the kernel on a stream and does not wait (cuLaunchKernel; cuLaunchKernelEx for cooperative
   * launches and clusters). It comes after the work of other streams on the buffers in `args`, and
   * after transfers called before; later work on them comes after it. Every buffer counts as written
   * unless it is given as `readOnly(buffer)`. In a capture the launch is recorded.
   *
   * @throws TypeError for arguments that do not fit the kernel's parameters.
   * @throws RangeError for a grid, a block or shared memory that the kernel cannot have.
   * @throws DisposedError when the module, the stream or a buffer was disposed.
   */
  launch(options: LaunchOptions): void {
    options = read(options);
    this.#requireUsable();
    const stream = streamOn(this.module.context, options, this);
    const shape = shapeOf(options, this.#function.name);
    this.#function.launch({ shape, stream, args: options.args ?? [] });
  }

  /**
   * Unloads the module that {@link CudaDevice.compile} made for this kernel, after the launches
   * queued so far; does nothing to a module that was loaded separately.
   */
  dispose(): void {
    if (this.#ownsModule) this.module.dispose();
  }

  /** Returns the kernel's name for messages: `CudaKernel(scale)`. */
  override toString(): string {
    return `CudaKernel(${this.name})`;
  }

  #requireUsable(): void {
    if (this.disposed) throw new DisposedError(this.toString());
  }
}

comesFrom(CudaKernel, "gpu.compile() and module.kernel()");

/**
 * Reads options as {@link LAUNCH_OPTIONS} does, but takes a shortcut for those of nearly all launches:
 * right after a driver call, each step of the full check costs more than a launch can spare.
 */
function read(options: LaunchOptions): LaunchOptions {
  if (!hasUsualNames(options)) return LAUNCH_OPTIONS.read(options, "launch");
  const { grid, block, args, stream } = options;
  const usual = { grid, block, args, stream };
  const isUsual = Array.isArray(args) && (stream === undefined || stream instanceof CudaStream);
  return isUsual ? usual : LAUNCH_OPTIONS.read(usual, "launch");
}

function hasUsualNames(options: LaunchOptions): boolean {
  if (typeof options !== "object" || options === null) return false;
  if (Object.getPrototypeOf(options) !== Object.prototype) return false;
  for (const name in options) {
    if (name !== "grid" && name !== "block" && name !== "args" && name !== "stream") return false;
  }
  return true;
}
