/**
 * Checks for tests of programs that use GPU memory: a test that leaves objects behind fails by
 * itself, with a list of them.
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

import "../words/runtime.ts";
import type { Ledger } from "../accounting/ledger.ts";
import type { CudaDevice } from "../device/device.ts";
import { contextOf } from "../memory/memory_resource.ts";
import { transfersSettled } from "../transfer/pending_transfer.ts";
import { formatBytes, formatCount } from "../words/format.ts";
import { CALLBACK, isPromiseLike, requireKind } from "../words/options.ts";
import { comesFrom, Parts, partsOf } from "../words/parts.ts";
import { formatTable } from "../words/text_table.ts";
import { sleep } from "../words/timer.ts";

/** An object that was not disposed. */
export interface Leak {
  /** Its label, or its kind and number. */
  readonly name: string;
  /** Kind of object, such as `"device"` memory or a `"stream"`. */
  readonly kind: string;
  /** Bytes it holds; 0 for streams, events and graphs. */
  readonly byteLength: number;
  /** The line where it was made. */
  readonly origin: string | undefined;
}

/** Reports that a function left memory, streams, events or graphs behind. */
export class LeakError extends Error {
  /** The class's name, to recognise the error in logs and across realms. */
  override readonly name = "LeakError";
  /** Objects that are left, largest first. */
  readonly leaks: readonly Leak[];

  /** @ignore Lists the objects that are left. */
  constructor(parts: Parts<readonly Leak[]>) {
    const leaks = partsOf(parts, new.target);
    const bytes = leaks.reduce((sum, { byteLength }) => sum + byteLength, 0);
    const rows = leaks.map(({ name, kind, byteLength, origin = "" }) => [
      name,
      kind,
      formatBytes(byteLength),
      origin,
    ]);
    super(
      `Cannot pass withoutLeaks(): ${formatCount(leaks.length, "object")} left, ` +
        `${formatBytes(bytes)} in all; dispose what the function makes\n` +
        formatTable([["name", "kind", "size", "made at"], ...rows], ["left", "left", "right"]),
    );
    this.leaks = leaks;
  }
}

comesFrom(LeakError, "withoutLeaks()");

/**
 * Runs a function and checks that everything it made on a device was disposed when it ended.
 * Returns the function's result. First waits for work under way, including transfers that nobody
 * awaited. While the function runs, every object records the line where it was made. Earlier
 * objects, and those of other devices, do not count. Calls nest.
 *
 * @throws LeakError with the list of objects that are left; an error of the function itself comes
 *   first, and nothing is checked then.
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
 *   if (error instanceof LeakError) console.log(error.leaks[0]?.name); // forgotten
 *   gpu.disposeAll();
 * }
 * ```
 */
export function withoutLeaks<T>(gpu: CudaDevice, body: () => T): T {
  requireKind(body, CALLBACK, "withoutLeaks");
  const watch = new LeakWatch(gpu);
  let result: T;
  try {
    result = body();
    if (!isPromiseLike(result)) {
      gpu.synchronizeSync();
      watch.check();
    }
  } catch (error) {
    watch.end();
    throw error;
  }
  if (!isPromiseLike(result)) {
    watch.end();
    return result;
  }
  return Promise.resolve(result).then(async (value) => {
    await finishAll(gpu);
    watch.check();
    return value;
  }).finally(() => watch.end()) as T;
}

/** Watches the objects made on a device from now on, also those collected meanwhile. */
class LeakWatch {
  readonly #gpu: CudaDevice;
  /** Kept here, because the function may dispose the device. */
  readonly #ledger: Ledger;
  readonly #firstId: number;
  readonly #formerDetail;
  readonly #collected: Leak[] = [];

  constructor(gpu: CudaDevice) {
    this.#gpu = gpu;
    this.#ledger = contextOf(gpu, "look for leaks on").ledger;
    const { origins, undisposed } = this.#ledger;
    this.#formerDetail = origins.detail;
    if (origins.detail !== "stack") origins.detail = "line";
    this.#firstId = gpu.mark().id;
    undisposed.listeners.add(this.#note);
  }

  /** Throws when anything made since the beginning was not disposed. */
  check(): void {
    const left = this.#gpu.live().objects.filter(({ id }) => id > this.#firstId);
    const leaks = [...left, ...this.#collected];
    leaks.sort((a, b) => b.byteLength - a.byteLength);
    if (leaks.length > 0) throw new LeakError(new Parts(leaks));
  }

  end(): void {
    const { origins, undisposed } = this.#ledger;
    origins.detail = this.#formerDetail;
    undisposed.listeners.delete(this.#note);
  }

  readonly #note = ({ id, ...block }: Leak & { readonly id: number }) => {
    if (id > this.#firstId) this.#collected.push(block);
  };
}

/** Resolves when the work of all streams is done, and the JavaScript that waited for it has run. */
async function finishAll(gpu: CudaDevice): Promise<void> {
  await gpu.synchronize();
  gpu.synchronizeSync(); // streams of other libraries, too
  await transfersSettled(gpu.context);
  await sleep(0);
}
