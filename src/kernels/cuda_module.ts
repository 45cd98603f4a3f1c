// A module: kernels and variables in code that the driver has loaded, and their owner.

import type { DeviceBuffer } from "../buffers/device_buffer.ts";
import type { Context } from "../driver/context.ts";
import { DTYPE, type DType } from "../dtype.ts";
import { bufferFromHandle } from "../interop/from_handle.ts";
import type { ModuleImage } from "../launch/image.ts";
import { LoadedCode } from "../launch/loaded_code.ts";
import { requireNoCapture } from "../order/capture.ts";
import { HandleRecord } from "../order/handle_record.ts";
import { DisposedError } from "../words/errors.ts";
import { OptionSet, requireKind, SHAPE, TEXT } from "../words/options.ts";
import { Owned } from "../words/owned.ts";
import { comesFrom, Parts, partsOf } from "../words/parts.ts";
import { CudaKernel, type GlobalOptions, type KernelModule } from "./cuda_kernel.ts";

const GLOBAL_OPTIONS = new OptionSet<GlobalOptions<DType>>({ dtype: DTYPE, shape: SHAPE });

/**
 * Code that the driver has loaded: kernels and variables. {@link CudaDevice.loadModule} makes one from
 * PTX, a cubin or a fat binary, {@link CudaDevice.compile} from CUDA C++. `dispose()` or `using`
 * unloads it, after the launches queued so far; graphs with its kernels keep it loaded.
 */
export class CudaModule extends Owned implements KernelModule {
  /** Context that it belongs to. */
  readonly context: Context;
  readonly #code: LoadedCode;
  readonly #record: HandleRecord;

  /** @ignore Adopts loaded code. */
  constructor(parts: Parts<LoadedCode>) {
    super();
    const code = partsOf(parts, new.target);
    this.context = code.context;
    this.#code = code;
    const { context, label } = code;
    const destroy = () => code.release();
    this.#record = new HandleRecord(this, { context, kind: "module", handle: 0n, label, destroy });
  }

  /** The module's label, or its number. */
  get name(): string {
    return this.#record.name;
  }

  /** Tells whether it was disposed. */
  get disposed(): boolean {
    return this.#record.released;
  }

  /** Names of its kernels, if its code tells them; a cubin does not. */
  get kernelNames(): readonly string[] {
    return [...this.#code.image.entries?.keys() ?? []];
  }

  /**
   * Returns a kernel, which can be used as long as the module.
   *
   * @param name Its name in the code; for C++ kernels that are not extern "C", also the name in the
   *   source.
   * @throws TypeError when there is no such kernel.
   */
  kernel(name: string): CudaKernel {
    requireKind(name, TEXT, "kernel");
    this.#requireUsable();
    return new CudaKernel(new Parts({ module: this, kernel: this.#code.kernel(name) }));
  }

  /**
   * Returns a variable of the module as a buffer, which shows the module's own memory and frees
   * nothing. The module stays loaded as long as the buffer is used.
   *
   * @throws TypeError when there is no such variable.
   * @throws RangeError when its bytes do not fit type and shape.
   */
  global<D extends DType = "uint8">(
    name: string,
    options: GlobalOptions<D> = {},
  ): DeviceBuffer<NoInfer<D>> {
    requireKind(name, TEXT, "global");
    options = GLOBAL_OPTIONS.read(options, "global");
    this.#requireUsable();
    const place = this.#code.global(name);
    return bufferFromHandle(this.context, place, { ...options, owner: this, label: name });
  }

  /** Unloads the module after the launches queued so far. A second call does nothing. */
  dispose(): void {
    this.#record.release();
  }

  /** Returns the module's name for messages: `CudaModule(scale)`. */
  override toString(): string {
    return `CudaModule(${this.name})`;
  }

  /** Returns the text that the console shows. */
  [Symbol.for("Deno.customInspect")](): string {
    return `${this}${this.disposed ? " disposed" : ` ${this.kernelNames.join(", ")}`.trimEnd()}`;
  }

  #requireUsable(): void {
    if (this.disposed) throw new DisposedError(this.toString());
  }
}

comesFrom(CudaModule, "gpu.loadModule()");

/**
 * Loads an image (cuLibraryLoadData, or cuModuleLoadDataEx on drivers before CUDA 12.0).
 *
 * @throws TypeError for PTX with a mistake, and while a capture runs.
 */
export function loadImage(context: Context, image: ModuleImage, label?: string): CudaModule {
  requireNoCapture("load a module");
  return new CudaModule(new Parts(new LoadedCode(context, image, label)));
}

/** Loads an image for one of its kernels; disposing the kernel disposes the module. */
export function loadForKernel(
  context: Context,
  image: ModuleImage,
  { symbol, label }: { readonly symbol: string; readonly label: string },
): CudaKernel {
  requireNoCapture("load a module");
  const code = new LoadedCode(context, image, label);
  const module = new CudaModule(new Parts(code));
  try {
    return new CudaKernel(new Parts({ module, kernel: code.kernel(symbol), ownsModule: true }));
  } catch (error) {
    module.dispose();
    throw error;
  }
}
