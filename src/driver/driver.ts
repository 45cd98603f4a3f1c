// The result layer: every call to the driver goes through here, and its status becomes an error.
// It neither owns nor retries anything; the context above it makes itself current first.

import { readCString } from "../../ffi/c_strings.ts";
import { CUresult } from "../../ffi/constants.ts";
import { CUDA_SINCE, type DriverApi, type DriverFunction } from "../../ffi/cuda.ts";
import { HOST_NAMES, openHost } from "../../ffi/host.ts";
import { textOf } from "../../ffi/installed_libraries.ts";
import { type DriverLocation, LibraryError, namesFile, openDriver } from "../../ffi/library.ts";
import { ownParts } from "../../ffi/own_parts.ts";
import { simulateDriver } from "../../ffi/simulated/driver.ts";
import { CudaError, CudaUnavailableError, statusName } from "../words/errors.ts";
import { describeValue, formatCount } from "../words/format.ts";
import { warn } from "../words/warning.ts";

/**
 * Driver to use: NVIDIA's (`"cuda"`), the simulated one (`"simulated"`), the first of the two that
 * is available (`"auto"`), or a table of driver functions.
 */
export type DriverChoice = "auto" | "cuda" | "simulated" | DriverApi;

/** Arguments of a driver function. */
export type DriverArguments<K extends DriverFunction> = Parameters<NonNullable<DriverApi[K]>>;

/** The oldest driver that the kit runs on, as `cuDriverGetVersion` reports it: CUDA 11.4. */
const OLDEST_VERSION = 11040;

/** Statuses after which a context refuses all work until the process ends. */
const STICKY: ReadonlySet<number> = new Set([
  CUresult.CUDA_ERROR_ECC_UNCORRECTABLE,
  CUresult.CUDA_ERROR_ILLEGAL_ADDRESS,
  CUresult.CUDA_ERROR_LAUNCH_TIMEOUT,
  CUresult.CUDA_ERROR_ASSERT,
  CUresult.CUDA_ERROR_HARDWARE_STACK_ERROR,
  CUresult.CUDA_ERROR_ILLEGAL_INSTRUCTION,
  CUresult.CUDA_ERROR_MISALIGNED_ADDRESS,
  CUresult.CUDA_ERROR_INVALID_ADDRESS_SPACE,
  CUresult.CUDA_ERROR_INVALID_PC,
  CUresult.CUDA_ERROR_LAUNCH_FAILED,
]);

const drivers = new WeakMap<DriverApi, Driver>();
/** The machine of the simulated driver, whose devices all processes of this user share. */
const SIMULATED_MACHINE = "shared";

let simulated: DriverApi | undefined;

/** A driver whose calls are checked. */
export class Driver {
  /** The functions themselves, for hot paths that check the status themselves. */
  readonly api: DriverApi;
  /** The CUDA version the driver supports, such as `"13.0"`. */
  readonly version: string;
  /** Number of devices that the driver reports. */
  readonly deviceCount: number;
  #firstSticky: CudaError | undefined;

  /**
   * @ignore Initialises the driver; {@link Driver.open} returns the same object for the same
   * functions.
   */
  private constructor(api: DriverApi) {
    this.api = api;
    const status = api.cuInit(0);
    if (status !== CUresult.CUDA_SUCCESS) throw unavailable(status);
    const version = take32(this, "cuDriverGetVersion");
    this.version = `${Math.floor(version / 1000)}.${Math.floor((version % 1000) / 10)}`;
    if (version < OLDEST_VERSION) {
      throw new CudaUnavailableError(
        "driver-too-old",
        `Cannot use the CUDA driver: it supports CUDA ${this.version}, needs 11.4 or newer; ` +
          `update the NVIDIA driver`,
      );
    }
    this.deviceCount = take32(this, "cuDeviceGetCount");
    if (this.deviceCount === 0) throw unavailable(CUresult.CUDA_ERROR_NO_DEVICE);
  }

  /**
   * Opens a driver, once in a process.
   *
   * @throws CudaUnavailableError when it cannot be used. With `"auto"` the simulated driver is used
   *   instead, unless a permission or the library at `libraryPath` is missing.
   * @ignore
   */
  static open(choice: DriverChoice = "cuda", options: DriverLocation = {}): Driver {
    if (isDriverApi(choice)) return Driver.#of(choice);
    if (choice === "simulated") {
      requirePointers();
      return Driver.#of(simulated ??= simulateDriver({ machine: SIMULATED_MACHINE }));
    }
    if (choice !== "cuda" && choice !== "auto") {
      throw new TypeError(
        `Cannot open driver ${describeValue(choice)}: expected "auto", "cuda", "simulated" or ` +
          `driver functions`,
      );
    }
    try {
      return Driver.#openReal(options);
    } catch (error) {
      const known = error instanceof LibraryError ? unusable(error, choice) : error;
      // A missing permission does not mean a missing GPU, and the simulated driver needs the same
      // permission.
      const isUnusable = known instanceof CudaUnavailableError && known.reason !== "permission" &&
        !(options.libraryPath !== undefined && error instanceof LibraryError);
      if (choice !== "auto" || !isUnusable) throw known;
      Driver.#replaced = known;
      if (!ABSENT.has(known.reason)) warnOfBroken(known);
      return Driver.open("simulated");
    }
  }

  /** Opens the first library that is no stub of a toolkit. */
  static #openReal(options: DriverLocation): Driver {
    const stubs: string[] = [];
    let first: unknown;
    for (;;) {
      try {
        const { api, path } = openDriver(options, stubs);
        requireHost([path]);
        stubs.push(path);
        return Driver.#of(api);
      } catch (error) {
        if (error instanceof CudaUnavailableError && error.cause === STUB) {
          first ??= stubError(stubs.at(-1) ?? "the library");
          continue;
        }
        throw first !== undefined && error instanceof LibraryError ? first : error;
      }
    }
  }

  /** The reason why `"auto"` took the simulated driver in place of the real one, if it did. */
  static get replaced(): CudaUnavailableError | undefined {
    return Driver.#replaced;
  }

  static #replaced: CudaUnavailableError | undefined;

  static #of(api: DriverApi): Driver {
    return drivers.getOrInsertComputed(api, () => new Driver(api));
  }

  /** Tells whether its devices are simulated. */
  get isSimulated(): boolean {
    return this.machine !== undefined;
  }

  /** The identity of its machine where that is simulated: addresses of one mean nothing to another. */
  get machine(): string | undefined {
    return ownParts(this.api).machine;
  }

  /** The first error that broke the context: all later work fails because of it. */
  get firstSticky(): CudaError | undefined {
    return this.#firstSticky;
  }

  /** Throws the first error that broke the context, if there was one: for calls of other libraries. */
  requireUnbroken(): void {
    if (this.#firstSticky !== undefined) throw this.#firstSticky;
  }

  /** Calls a function and throws the error of its status. */
  call<K extends DriverFunction>(name: K, ...args: DriverArguments<K>): void {
    this.check(this.status(name, ...args), name);
  }

  /**
   * Throws the error of a status. Hot paths call `driver.api` by name and check the status here,
   * which saves about 0.1 microseconds a call, because V8 then calls the driver without going
   * through its runtime.
   */
  check(status: number, name: DriverFunction): void {
    if (status !== CUresult.CUDA_SUCCESS) throw this.error(status, name);
  }

  /**
   * Calls a function and returns its status.
   *
   * @throws CudaUnavailableError when this driver is too old to have the function.
   */
  status<K extends DriverFunction>(name: K, ...args: DriverArguments<K>): number {
    const call = this.api[name] as ((...args: DriverArguments<K>) => number) | null;
    if (call === null) throw this.#missing(name);
    return call(...args);
  }

  /** Returns whether this driver has an optional function. */
  has(name: DriverFunction): boolean {
    return this.api[name] !== null;
  }

  /** Creates the error for a failed call, and remembers the first one that broke the context. */
  error(status: number, name: DriverFunction): CudaError {
    const first = this.#firstSticky;
    const cause = first === undefined ? "" : `; the GPU failed earlier in ${first.call} with ` +
      `${first.codeName}, restart the process or the notebook kernel`;
    const error = new CudaError(
      `Cannot complete ${name}: ${statusName(status)} (${status}), ${this.#text(status)}${cause}`,
      { code: status, call: name, cause: first },
    );
    if (first === undefined && STICKY.has(status)) this.#firstSticky = error;
    return error;
  }

  /** Returns the driver's name for messages: `Driver(CUDA 13.0, 2 devices)`. */
  toString(): string {
    return `Driver(CUDA ${this.version}, ${formatCount(this.deviceCount, "device")})`;
  }

  /** Returns the text that the console shows, without the functions. */
  [Symbol.for("Deno.customInspect")](): string {
    return this.toString();
  }

  #text(status: number): string {
    const cell = new BigUint64Array(1);
    this.api.cuGetErrorString(status, cell);
    const address = cell[0] ?? 0n;
    if (address === 0n) return "unknown status";
    try {
      return readCString(address).replace(/\.$/, "");
    } catch {
      return "no words for it without --allow-ffi"; // a flag with paths lets nobody read texts
    }
  }

  #missing(name: DriverFunction): CudaUnavailableError {
    const since = CUDA_SINCE[name] ?? "newer";
    return new CudaUnavailableError(
      "driver-too-old",
      `Cannot call ${name}: needs a driver for CUDA ${since} or newer, this one is for ` +
        `${this.version}; update the NVIDIA driver`,
    );
  }
}

/** Makes checked calls: a driver, or a context that makes itself current first. */
interface Caller {
  /** Calls a function and throws what its status says. */
  call<K extends DriverFunction>(name: K, ...args: DriverArguments<K>): void;
}

/** A cell that takes a result. */
type Cell = BigUint64Array<ArrayBuffer>;

/** A function's arguments after the first, which takes its result. */
type Rest<K extends DriverFunction> = DriverArguments<K> extends [infer First, ...infer Others]
  ? Cell extends First ? Others : never
  : never;

/** A function's arguments after the first two, which take its results. */
type RestOfPair<K extends DriverFunction> = DriverArguments<K> extends
  [infer First, infer Second, ...infer Others] ? Cell extends First & Second ? Others : never
  : never;

/** A function's arguments before the last, which takes its result. */
type Start<K extends DriverFunction> = DriverArguments<K> extends [...infer Others, infer Last]
  ? Cell extends Last ? Others : never
  : never;

/** The driver writes results here; they are read before the next call. */
const CELL = new BigUint64Array(1);
const SECOND_CELL = new BigUint64Array(1);
const CELL_32 = new Int32Array(CELL.buffer, 0, 1);

/** Calls a function that writes a handle, an address or a size first; returns that. */
export function take64<K extends DriverFunction>(
  caller: Caller,
  name: K,
  ...rest: Rest<K>
): bigint {
  CELL[0] = 0n;
  caller.call(name, ...[CELL, ...rest] as unknown as DriverArguments<K>);
  return CELL[0];
}

/** Calls a function that writes 32 bits to its first argument; returns them as a signed number. */
export function take32<K extends DriverFunction>(
  caller: Caller,
  name: K,
  ...rest: Rest<K>
): number {
  CELL_32[0] = 0;
  caller.call(name, ...[CELL_32, ...rest] as unknown as DriverArguments<K>);
  return CELL_32[0];
}

/** Calls a function that writes 64 bits to its first and its second argument; returns both. */
export function takePair<K extends DriverFunction>(
  caller: Caller,
  name: K,
  ...rest: RestOfPair<K>
): [bigint, bigint] {
  CELL[0] = 0n;
  SECOND_CELL[0] = 0n;
  caller.call(name, ...[CELL, SECOND_CELL, ...rest] as unknown as DriverArguments<K>);
  return [CELL[0], SECOND_CELL[0]];
}

/** Calls a function that writes 64 bits to its last argument; returns them. */
export function read64<K extends DriverFunction>(
  caller: Caller,
  name: K,
  ...start: Start<K>
): bigint {
  CELL[0] = 0n;
  caller.call(name, ...[...start, CELL] as unknown as DriverArguments<K>);
  return CELL[0];
}

/** Calls a function that writes 32 bits to its last argument; returns them as a signed number. */
export function read32<K extends DriverFunction>(
  caller: Caller,
  name: K,
  ...start: Start<K>
): number {
  CELL_32[0] = 0;
  caller.call(name, ...[...start, CELL_32] as unknown as DriverArguments<K>);
  return CELL_32[0];
}

function isDriverApi(choice: unknown): choice is DriverApi {
  return typeof choice === "object" && choice !== null && "cuInit" in choice;
}

/**
 * Checks that the program may use the C library, which every transfer needs: without it the program
 * would stop half way.
 *
 * @throws CudaUnavailableError that names the paths that `--allow-ffi` must have, including those
 *   of `opened`.
 */
function requireHost(opened: readonly string[]): void {
  try {
    openHost();
  } catch (error) {
    if (!(error instanceof LibraryError)) throw error;
    if (error.reason !== "permission") return; // other systems do without
    throw new CudaUnavailableError(
      "permission",
      `Cannot use the C library, which moves host memory: --allow-ffi lacks it; run again with ` +
        `--allow-ffi, or ${flagWith([opened, HOST_NAMES])}`,
      { cause: error },
    );
  }
}

/**
 * Checks that the program may read memory by its address, as the simulated driver does. Deno can
 * grant that only without paths.
 *
 * @throws CudaUnavailableError when the program lacks the permission.
 */
export function requirePointers(): void {
  const wanted = { name: "ffi" } as const;
  if (Deno.permissions.querySync(wanted).state === "granted") return;
  if (Deno.permissions.requestSync(wanted).state === "granted") return;
  throw new CudaUnavailableError(
    "permission",
    "Cannot use the simulated driver: access to native libraries and memory is not granted; run " +
      "again with --allow-ffi, without paths",
  );
}

/** Returns the flag that grants no more than is needed: one path for each library. */
function flagWith(libraries: readonly (readonly string[])[]): string {
  const paths = libraries.flatMap((names) => names.find(namesFile) ?? []);
  return `with --allow-ffi=${paths.join(",")} (the usual places)`;
}

/** Creates the error for a library that cannot be used, with the way to run without a GPU. */
function unusable(error: LibraryError, choice: "cuda" | "auto"): CudaUnavailableError {
  const { reason, message } = error;
  const isAuto = choice === "auto";
  // The simulated driver needs the same permission, without paths.
  const enough = isAuto ? ", which is enough where there is a GPU" : "";
  const simulated = isAuto
    ? "leave libraryPath out for a simulated GPU where there is none"
    : '{ driver: "auto" } uses a simulated GPU';
  const hint = reason === "permission"
    ? `, or ${flagWith([error.tried, HOST_NAMES])}${enough}`
    : `; ${simulated}, the command doctor says what to fix`;
  return new CudaUnavailableError(reason, `${message}${hint}`, { cause: error });
}

/** Reasons that mean that there is no GPU, and nothing is broken. */
const ABSENT: ReadonlySet<string> = new Set(["no-library", "no-device"]);

/** The cause of an error about a library that is a toolkit's stub. */
const STUB = Symbol("stub");

/** Fixes for statuses with which cuInit fails where a GPU is there. */
const START_FIXES: Readonly<Record<number, string>> = {
  [CUresult.CUDA_ERROR_SYSTEM_NOT_READY]:
    "the GPUs wait for NVIDIA's Fabric Manager where they are joined by NVSwitch: start the service " +
    "nvidia-fabricmanager, of the driver's own version",
  [CUresult.CUDA_ERROR_SYSTEM_DRIVER_MISMATCH]:
    "the kernel's module and libcuda are of different drivers: reboot after an update, and in a " +
    "container use the host's libcuda",
  [CUresult.CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE]:
    "this GPU does not support the package cuda-compat: take its folder out of LD_LIBRARY_PATH",
  [CUresult.CUDA_ERROR_MPS_CONNECTION_FAILED]:
    "the MPS server does not answer: check nvidia-cuda-mps-control, its user and " +
    "CUDA_MPS_PIPE_DIRECTORY, or end it",
  [CUresult.CUDA_ERROR_UNKNOWN]:
    "the driver's modules are loaded in part: try nvidia-modprobe -u -c 0, or after a suspend " +
    "rmmod nvidia_uvm and modprobe nvidia_uvm, and check /dev/nvidia-uvm",
};

const MISMATCHES: ReadonlySet<number> = new Set([
  CUresult.CUDA_ERROR_SYSTEM_DRIVER_MISMATCH,
  CUresult.CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE,
]);

let hasWarnedOfBroken = false;

/** Warns once that a program computes on a simulated GPU although there may be a real one. */
function warnOfBroken({ message }: CudaUnavailableError): void {
  if (hasWarnedOfBroken) return;
  hasWarnedOfBroken = true;
  warn(`{ driver: "auto" } uses the simulated GPU: ${message}`);
}

function stubError(path: string): CudaUnavailableError {
  const lines = textOf("/proc/self/maps").split("\n");
  const file = namesFile(path)
    ? path
    : lines.find((line) => line.endsWith(path))?.split(/\s+/).at(-1);
  const name = file === undefined || file === path ? path : `${path} (${file})`;
  return new CudaUnavailableError(
    "bad-library",
    `Cannot use a GPU: ${name} is a stub of the CUDA toolkit, not the driver: cuInit returned ` +
      "CUDA_ERROR_STUB_LIBRARY (34); take the folder of stubs out of LD_LIBRARY_PATH, or set VRAMKIT_CUDA to " +
      "the driver's libcuda.so.1",
  );
}

function unavailable(status: number): Error {
  if (status === CUresult.CUDA_ERROR_NO_DEVICE) {
    return new CudaUnavailableError(
      "no-device",
      "Cannot use a GPU: the CUDA driver sees no device; check nvidia-smi, CUDA_VISIBLE_DEVICES " +
        "and, in a container, that it was started with GPU access",
    );
  }
  if (status === CUresult.CUDA_ERROR_STUB_LIBRARY) {
    return new CudaUnavailableError("bad-library", stubError("its library").message, {
      cause: STUB,
    });
  }
  const fix = START_FIXES[status] ?? "check nvidia-smi and the kernel's log";
  return new CudaUnavailableError(
    MISMATCHES.has(status) ? "driver-too-old" : "not-ready",
    `Cannot start the CUDA driver: cuInit returned ${statusName(status)} (${status}); ${fix}`,
  );
}
