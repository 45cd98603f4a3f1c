// Code that the driver has loaded: as a library if the driver supports that, else as a module. It
// stays loaded while graphs and pending launches need it.

import { cString } from "../../ffi/c_strings.ts";
import { nextId } from "../accounting/clock.ts";
import type { AddressRange, LiveKind } from "../accounting/ledger.ts";
import type { Context } from "../driver/context.ts";
import { take64, takePair } from "../driver/driver.ts";
import { tryRelease } from "../driver/release.ts";
import { isPostponed } from "../memory/captured_memory.ts";
import { type Access, StreamUsage } from "../memory/stream_usage.ts";
import { whenPassed } from "../memory/when_passed.ts";
import { type CudaStream, defaultStreamOf, queueOf } from "../order/stream.ts";
import { failedWith } from "../words/errors.ts";
import { visibleText } from "../words/format.ts";
import type { ModuleImage } from "./image.ts";
import { type KernelCode, KernelFunction } from "./kernel_function.ts";
import { withLog } from "./link_images.ts";

/** From this many streams on, streams that are gone are removed first. */
const MANY = 8;

/** The streams whose queued work may still run code. */
export class CodeUsage extends StreamUsage {
  #streams: CudaStream[] = [];
  #last: CudaStream | undefined;

  constructor(context: Context) {
    super(defaultStreamOf(context));
  }

  override order(stream: CudaStream, _access: Access): void {
    if (this.#last === stream) return;
    this.#last = stream;
    if (this.#streams.includes(stream)) return;
    if (this.#streams.length >= MANY) {
      this.#streams = this.#streams.filter((other) => !queueOf(other).isOver);
    }
    this.#streams.push(stream);
  }

  override finishOn(stream: CudaStream): void {
    for (const other of this.#streams) this.follow(stream, other);
  }

  override streams(): CudaStream[] {
    return this.#streams;
  }
}

/** Kernels and variables that are loaded into a context. */
export class LoadedCode implements KernelCode {
  readonly id: number = nextId();
  readonly kind: LiveKind = "module";
  /** Always 0n: code is not memory that a graph could refer to. */
  readonly address = 0n;
  readonly byteLength = 0;
  readonly label: string | undefined;
  readonly context: Context;
  /** Streams that run it. */
  readonly usage: CodeUsage;
  readonly image: ModuleImage;
  readonly isLibrary: boolean;
  readonly #handle: bigint;
  readonly #functions = new Map<string, KernelFunction>();
  #holderCount = 0;
  #released = false;

  /**
   * Loads an image (cuLibraryLoadData, cuModuleLoadDataEx).
   *
   * @throws TypeError with the messages of the driver's compiler for PTX with a mistake.
   * @throws CudaError when the image is not for this device, or for a newer driver.
   * @throws DisposedError when the device was disposed while the code was read or compiled.
   */
  constructor(context: Context, image: ModuleImage, label?: string) {
    context.requireLive();
    this.context = context;
    this.image = image;
    this.label = label;
    this.usage = new CodeUsage(context);
    this.isLibrary = context.driver.has("cuLibraryLoadData");
    this.#handle = load(context, image, { isLibrary: this.isLibrary, name: label ?? "a module" });
  }

  /** The label, or the number. */
  get name(): string {
    return this.label === undefined ? `#${this.id}` : visibleText(this.label);
  }

  get released(): boolean {
    return this.#released;
  }

  /**
   * Finds a kernel by its name in the image, or by its name in C++ when only one has it.
   *
   * @throws TypeError when there is no such kernel.
   */
  kernel(name: string): KernelFunction {
    const symbol = this.#symbolOf(name);
    return this.#functions.getOrInsertComputed(symbol, () => {
      const handle = this.#find(symbol, name);
      return new KernelFunction(this, { handle, name, types: this.image.entries?.get(symbol) });
    });
  }

  /**
   * Finds a variable (cuLibraryGetGlobal, cuModuleGetGlobal).
   *
   * @throws TypeError when there is no such variable.
   */
  global(name: string): AddressRange {
    const { context } = this;
    const text = cString(name);
    try {
      const [address, byteLength] = this.isLibrary
        ? takePair(context, "cuLibraryGetGlobal", this.#handle, text)
        : takePair(context, "cuModuleGetGlobal_v2", this.#handle, text);
      return { address, byteLength: Number(byteLength) };
    } catch (error) {
      if (!failedWith(error, "CUDA_ERROR_NOT_FOUND")) throw error;
      throw new TypeError(
        `Cannot find the variable ${JSON.stringify(name)} in the module ${this.name}: declare it ` +
          `extern "C" __device__, and use it, or the compiler drops it`,
        { cause: error },
      );
    }
  }

  /** Keeps the code loaded until the result is disposed. */
  hold(): Disposable {
    this.#holderCount++;
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (!isHeld) return;
        isHeld = false;
        if (--this.#holderCount === 0 && this.#released) this.#unload();
      },
    };
  }

  /** Unloads the code once the GPU is done with it and nothing holds it; a second call does nothing. */
  release(): void {
    if (this.#released) return;
    this.#released = true;
    if (this.#holderCount === 0) this.#unload();
  }

  #unload(): void {
    if (isPostponed(() => this.#unload())) return;
    const { context } = this;
    const call = this.isLibrary ? "cuLibraryUnload" : "cuModuleUnload";
    const unload = () =>
      void tryRelease(
        context.driver,
        `module ${this.name}`,
        () => context.giveBack(call, this.#handle),
      );
    if (this.usage.streams().length === 0) return unload();
    const stream = defaultStreamOf(context);
    try {
      this.usage.finishOn(stream);
    } catch {
      tryRelease(context.driver, `module ${this.name}`, () => context.waitForAll());
    }
    whenPassed(stream, unload);
  }

  /** Returns the name in the image: in PTX, those of C++ contain their parameters' types. */
  #symbolOf(name: string): string {
    const { entries } = this.image;
    if (entries === undefined || entries.has(name)) return name;
    const mangled = new RegExp(`^_Z${name.length}${name.replace(/\W/g, "\\$&")}`);
    const matching = [...entries.keys()].filter((symbol) => mangled.test(symbol));
    if (matching.length === 1 && matching[0] !== undefined) return matching[0];
    const why = matching.length > 1
      ? `${matching.join(" and ")} are both called so; pass one of these`
      : `it has ${[...entries.keys()].join(", ") || "none"}`;
    throw new TypeError(
      `Cannot find kernel ${JSON.stringify(name)} in module ${this.name}: ${why}`,
    );
  }

  /**
   * Loads the image as a module, which the driver compiles at once.
   *
   * @throws TypeError with the compiler's messages.
   */
  #explain(): void {
    const { context, image } = this;
    const handle = load(context, image, { isLibrary: false, name: `module ${this.name}` });
    tryRelease(context.driver, "a module", () => context.giveBack("cuModuleUnload", handle));
  }

  #find(symbol: string, name: string): bigint {
    const { context } = this;
    const text = cString(symbol);
    try {
      if (!this.isLibrary) return take64(context, "cuModuleGetFunction", this.#handle, text);
      const kernel = take64(context, "cuLibraryGetKernel", this.#handle, text);
      return take64(context, "cuKernelGetFunction", kernel);
    } catch (error) {
      // Libraries are compiled when a kernel is first requested, and do not report the compiler's
      // messages.
      if (failedWith(error, "CUDA_ERROR_INVALID_PTX")) this.#explain();
      if (!failedWith(error, "CUDA_ERROR_NOT_FOUND")) throw error;
      const why = context.driver.isSimulated
        ? "the simulated driver runs no code for GPUs; register a function of that name in " +
          "simulateDriver({ kernels }), or open a GPU"
        : 'it has no kernel of that name; kernels in C++ keep theirs when they are extern "C"';
      throw new TypeError(
        `Cannot find kernel ${JSON.stringify(name)} in module ${this.name}: ${why}`,
        { cause: error },
      );
    }
  }
}

/** Loads an image, with room for the compiler's messages. */
function load(
  context: Context,
  { bytes, entries }: ModuleImage,
  { isLibrary, name }: { isLibrary: boolean; name: string },
): bigint {
  const refused = `Cannot load ${name}: the driver's compiler refuses its PTX`;
  return withLog(entries === undefined ? undefined : refused, (options, values) => {
    return isLibrary
      ? take64(context, "cuLibraryLoadData", bytes, options, values, 2, null, null, 0)
      : take64(context, "cuModuleLoadDataEx", bytes, 2, options, values);
  });
}
