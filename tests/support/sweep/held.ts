// What a program holds of a driver, told from its calls alone: what was made and not given back.
// Works on both drivers, and names a thing as the failed call that was to give it back does.

import type { DriverFunction } from "../../../ffi/cuda.ts";

/** Arguments of a driver call. */
export type CallArguments = readonly unknown[];

/** A thing that a call makes or gives back: a kind, and the value that the driver knows it by. */
interface Effect {
  readonly kind: string;
  readonly value: (args: CallArguments) => bigint;
}

const cell = (index: number) => (args: CallArguments): bigint =>
  (args[index] as BigUint64Array)[0] ?? 0n;
const given = (index: number) => (args: CallArguments): bigint => BigInt(args[index] as bigint);

const MADE: Partial<Record<DriverFunction, Effect>> = {
  cuMemAlloc_v2: { kind: "memory", value: cell(0) },
  cuMemAllocPitch_v2: { kind: "memory", value: cell(0) },
  cuMemAllocManaged: { kind: "memory", value: cell(0) },
  cuMemAllocAsync: { kind: "memory", value: cell(0) },
  cuMemAllocFromPoolAsync: { kind: "memory", value: cell(0) },
  cuMemHostAlloc: { kind: "pinned", value: cell(0) },
  cuMemHostRegister_v2: { kind: "registered", value: given(0) },
  cuStreamCreateWithPriority: { kind: "stream", value: cell(0) },
  cuEventCreate: { kind: "event", value: cell(0) },
  cuStreamBeginCapture_v2: { kind: "capture", value: given(0) },
  cuStreamEndCapture: { kind: "graph", value: cell(1) },
  cuGraphInstantiateWithFlags: { kind: "exec", value: cell(0) },
  cuMemPoolCreate: { kind: "pool", value: cell(0) },
  cuMemAddressReserve: { kind: "addresses", value: cell(0) },
  cuMemCreate: { kind: "physical", value: cell(0) },
  cuMemMap: { kind: "mapping", value: given(0) },
  cuModuleLoadDataEx: { kind: "module", value: cell(0) },
  cuLinkCreate_v2: { kind: "link", value: cell(3) },
  cuLibraryLoadData: { kind: "library", value: cell(0) },
  cuIpcOpenMemHandle_v2: { kind: "opened", value: cell(0) },
  cuIpcOpenEventHandle: { kind: "event", value: cell(0) },
  cuMemPoolImportFromShareableHandle: { kind: "pool", value: cell(0) },
  cuMemPoolImportPointer: { kind: "memory", value: cell(0) },
  cuDevicePrimaryCtxRetain: { kind: "context", value: given(1) },
};

const GIVEN_BACK: Partial<Record<DriverFunction, Effect>> = {
  cuMemFree_v2: { kind: "memory", value: given(0) },
  cuMemFreeAsync: { kind: "memory", value: given(0) },
  cuMemFreeHost: { kind: "pinned", value: given(0) },
  cuMemHostUnregister: { kind: "registered", value: given(0) },
  cuStreamDestroy_v2: { kind: "stream", value: given(0) },
  cuIpcCloseMemHandle: { kind: "opened", value: given(0) },
  cuEventDestroy_v2: { kind: "event", value: given(0) },
  cuStreamEndCapture: { kind: "capture", value: given(0) },
  cuGraphDestroy: { kind: "graph", value: given(0) },
  cuGraphExecDestroy: { kind: "exec", value: given(0) },
  cuMemPoolDestroy: { kind: "pool", value: given(0) },
  cuMemAddressFree: { kind: "addresses", value: given(0) },
  cuMemRelease: { kind: "physical", value: given(0) },
  cuMemUnmap: { kind: "mapping", value: given(0) },
  cuModuleUnload: { kind: "module", value: given(0) },
  cuLinkDestroy: { kind: "link", value: given(0) },
  cuLibraryUnload: { kind: "library", value: given(0) },
  cuDevicePrimaryCtxRelease_v2: { kind: "context", value: given(0) },
};

/** The pool that memory is taken from. */
const POOLS: Partial<Record<DriverFunction, Effect>> = {
  cuMemAllocFromPoolAsync: { kind: "pool", value: given(2) },
  cuMemPoolImportPointer: { kind: "pool", value: given(1) },
};

/** Functions that give something back without naming one thing: what they leave is memory. */
const TRIMS: ReadonlySet<DriverFunction> = new Set(["cuMemPoolTrimTo", "cuDeviceGraphMemTrim"]);

/** Whether a function gives something back, so that its failure leaves something held. */
export function givesBack(name: DriverFunction): boolean {
  return name in GIVEN_BACK || TRIMS.has(name);
}

/** The things that were made and not given back. */
export class Held {
  readonly #counts = new Map<string, number>();
  readonly #pools = new Map<string, string>();
  #captureCount = 0;

  /** Notes a call that succeeded. */
  note(name: DriverFunction, args: CallArguments): void {
    if (name === "cuStreamBeginCapture_v2") this.#captureCount++;
    if (name === "cuStreamEndCapture") this.#captureCount--;
    // What is recorded is no memory yet: it comes and goes with launches.
    const isRecorded = this.#captureCount > 0 && /^cuMem(AllocAsync|FreeAsync)$/.test(name);
    if (isRecorded) return;
    const gone = GIVEN_BACK[name];
    if (gone !== undefined) this.#add(nameOf(gone, args), -1);
    const made = MADE[name];
    if (made === undefined) return;
    const hasNoGraph = made.kind === "graph" && made.value(args) === 0n;
    if (hasNoGraph) return;
    this.#add(nameOf(made, args), 1);
    const pool = POOLS[name];
    if (pool !== undefined) this.#pools.set(nameOf(made, args), nameOf(pool, args));
  }

  has(name: string): boolean {
    return this.#counts.has(name);
  }

  /** Names all of it, except one thing and what hangs on it. */
  namesWithout(excused: ReadonlySet<string>): string[] {
    const names = [...this.#counts.keys()];
    // Addresses stay reserved while something is mapped in them.
    const isMapped = [...excused].some((name) => name.startsWith("mapping"));
    // A pool stays while a block of it does.
    const pools = new Set([...excused].map((name) => this.#pools.get(name)));
    return names.filter((name) =>
      !excused.has(name) && !pools.has(name) && !(isMapped && name.startsWith("addresses"))
    );
  }

  /** A free of what graphs have left is of memory that nothing here has seen. */
  #add(name: string, change: number): void {
    const count = (this.#counts.get(name) ?? 0) + change;
    if (count > 0) this.#counts.set(name, count);
    else this.#counts.delete(name);
  }
}

/** Names what a call that failed was to give back. */
export function nameOfGivenBack(name: DriverFunction, args: CallArguments): string | undefined {
  const effect = GIVEN_BACK[name];
  return effect === undefined ? undefined : nameOf(effect, args);
}

function nameOf({ kind, value }: Effect, args: CallArguments): string {
  return `${kind} 0x${value(args).toString(16)}`;
}
