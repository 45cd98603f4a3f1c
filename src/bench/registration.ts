// Registers benches of transfers: opens the device once, and puts bytes and device into the name.

import { CudaDevice } from "../device/device.ts";
import { formatBytes } from "../words/format.ts";
import { CALLBACK, NUMBER, oneOf, OptionSet, requireKind, TEXT } from "../words/options.ts";
import { type BenchDirection, formatBenchName } from "./bench_name.ts";

/** Options for {@link transferBench}. */
export interface TransferBenchOptions<T = undefined> {
  /**
   * Opens the device. Called once for all benches that have the same function; the device stays open
   * until the process ends, because benches run after their file has.
   */
  readonly open: () => CudaDevice;
  /** Name of the bench; the same one at several sizes makes a line in the report. */
  readonly name: string;
  /** Bytes that one call of the function moves. */
  readonly bytes: number;
  /** Direction, to compare with page-locked memory of the same direction in the same run. */
  readonly direction?: BenchDirection | undefined;
  /** Group of `deno bench`, whose benches are compared; the size by default. */
  readonly group?: string | undefined;
  /**
   * Calls that are timed together, 1 by default. Small transfers need some hundreds, because `deno
   * bench` reads the clock before and after.
   */
  readonly callCount?: number | undefined;
  /**
   * Prepares values for the function before its first call. The result is the function's third
   * argument, and is disposed when another bench begins; so is each element of a list.
   */
  readonly prepare?: ((gpu: CudaDevice) => T | Promise<T>) | undefined;
}

const TRANSFER_BENCH_OPTIONS: OptionSet<TransferBenchOptions<unknown>> = new OptionSet({
  open: CALLBACK,
  name: TEXT,
  bytes: NUMBER,
  direction: oneOf("up", "down", "device"),
  group: TEXT,
  callCount: NUMBER,
  prepare: CALLBACK,
});

const devices = new Map<() => CudaDevice, CudaDevice>();

/** The bench that runs, and the values that it has prepared. */
let current: { readonly bench: symbol; readonly prepared: unknown } | undefined;

/**
 * Registers a bench that moves bytes. Its name carries how many and between which device and the
 * host, so that `src/bench/report.ts` can turn the output of `deno bench --json` into GB/s.
 *
 * @param body Moves the bytes. Between `b.start()` and `b.end()` only a call that takes more than 10
 *   milliseconds is timed; do other work in `prepare`.
 * @throws TypeError for a device that is not one.
 * @throws RangeError for no bytes, or fewer calls than one.
 */
export function transferBench<T = undefined>(
  options: TransferBenchOptions<T>,
  body: (gpu: CudaDevice, b: Deno.BenchContext, prepared: T) => unknown,
): void {
  const known = TRANSFER_BENCH_OPTIONS;
  const given = known.read(options as TransferBenchOptions<unknown>, "transferBench");
  known.requireThese(["open", "name", "bytes"], given, "transferBench");
  requireKind(body, CALLBACK, "transferBench");
  const { open, name, bytes, direction, group, callCount = 1, prepare } = given;
  if (!isCount(bytes) || !isCount(callCount)) {
    throw new RangeError(
      `Cannot measure ${callCount} calls of ${bytes} bytes: expected at least 1 of each`,
    );
  }
  const gpu = deviceOf(open);
  const bench = Symbol(name);
  Deno.bench({
    name: formatBenchName({ name, byteLength: bytes, callCount, direction, device: gpu.name }),
    group: group ?? formatBytes(bytes),
    fn: async (b) => {
      if (current?.bench !== bench) current = await next(bench, current, () => prepare?.(gpu));
      const prepared = current.prepared as T;
      for (let call = 0; call < callCount; call++) {
        const pending = body(gpu, b, prepared);
        if (pending instanceof Promise) await pending;
      }
    },
  });
}

function isCount(count: number): boolean {
  return Number.isSafeInteger(count) && count >= 1;
}

function deviceOf(open: () => CudaDevice): CudaDevice {
  return devices.getOrInsertComputed(open, () => {
    const gpu: unknown = open();
    if (gpu instanceof CudaDevice) return gpu;
    throw new TypeError("Cannot measure transfers: open() did not return a CudaDevice");
  });
}

/** Disposes what the last bench prepared, and prepares for the next one. */
async function next(
  bench: symbol,
  last: typeof current,
  prepare: () => unknown,
): Promise<{ bench: symbol; prepared: unknown }> {
  for (const prepared of [last?.prepared].flat()) {
    const { [Symbol.asyncDispose]: later, [Symbol.dispose]: now } = Object(prepared);
    await (later ?? now)?.call(prepared);
  }
  return { bench, prepared: await prepare() };
}
