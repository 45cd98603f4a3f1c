/**
 * For tests of programs that use GPU memory: a test that leaves something behind fails by itself,
 * and says what is left.
 *
 * ```ts
 * import { CudaDevice } from "vramkit";
 * import { withoutLeaks } from "vramkit/testing";
 *
 * Deno.test("scale() gives back what it takes", async () => {
 *   using gpu = CudaDevice.open(0, { driver: "auto" });
 *   await withoutLeaks(gpu, async () => {
 *     using x = await gpu.upload(new Float32Array([1, 2, 3]));
 *     console.log(await x.download());
 *   });
 * });
 * ```
 *
 * @module
 */

import type { CudaDevice } from "./device.ts";
import type { LiveTable } from "./device/live.ts";
import type { LiveObject } from "./device/live_query.ts";
import { formatBytes, formatCount } from "./format.ts";
import { CALLBACK, requireKind } from "./options.ts";

/** Reports that a function left memory, streams, events or graphs behind. */
export class LeakError extends Error {
  /** The class, for `catch` across realms and logs. */
  override readonly name = "LeakError";
  /** What is left, largest first: name, kind, bytes, and the place where it was made. */
  readonly objects: readonly LiveObject[];

  /** Lists what is left. */
  constructor(left: LiveTable) {
    super(
      `Cannot pass withoutLeaks(): ${formatCount(left.count, "object")} of ` +
        `${formatBytes(left.byteLength)} were made in it and are left\n${left}`,
    );
    this.objects = left.objects;
  }
}

/**
 * Runs a function and checks that all it made on a device was disposed when it ended; returns or
 * resolves to what the function does. Waits for work under way first, transfers that nobody awaited
 * included. While it runs, every object knows the line where it was made. What was there before, and
 * what is made on other devices, does not count. Calls nest.
 *
 * @throws LeakError with the list of what is left; what the function itself throws comes first, and
 *   nothing is checked then.
 *
 * @example
 * ```ts
 * import { CudaDevice } from "vramkit";
 * import { LeakError, withoutLeaks } from "vramkit/testing";
 *
 * using gpu = CudaDevice.open(0, { driver: "auto" });
 * try {
 *   withoutLeaks(gpu, () => {
 *     gpu.zeros("float32", 1024, { label: "forgotten" });
 *   });
 * } catch (error) {
 *   if (error instanceof LeakError) console.log(error.objects[0]?.name); // forgotten
 *   gpu.disposeAll();
 * }
 * ```
 */
export function withoutLeaks<T>(gpu: CudaDevice, body: () => T): T {
  requireKind(body, CALLBACK, "withoutLeaks");
  const before = new Set(gpu.live().objects.map(({ id }) => id));
  const { origins } = gpu.context.ledger;
  const { detail } = origins;
  if (detail !== "stack") origins.choose("line");
  const check = () => {
    const left = gpu.live().filter(({ id }) => !before.has(id));
    if (left.count > 0) throw new LeakError(left);
  };
  let result: T;
  try {
    result = body();
  } catch (error) {
    origins.choose(detail);
    throw error;
  }
  if (!isPromiseLike(result)) {
    origins.choose(detail);
    gpu.synchronizeSync();
    check();
    return result;
  }
  return Promise.resolve(result).then(async (value) => {
    await finishAll(gpu);
    check();
    return value;
  }).finally(() => origins.choose(detail)) as T;
}

/** Resolves when the work of all streams is done, and what waited for it in JavaScript has run. */
async function finishAll(gpu: CudaDevice): Promise<void> {
  await gpu.synchronize();
  gpu.synchronizeSync(); // the other streams
  await new Promise((resolve) => setTimeout(resolve, 0));
}

function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value &&
    typeof value.then === "function";
}
