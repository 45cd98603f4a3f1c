// What every sequence finds there: the context of each device with its default pool and the kernels.
// Making a context takes a tenth of a second on a GPU, so a process makes them once.

import type { DriverApi } from "../../../ffi/cuda.ts";
import { IMAGES } from "./images.ts";
import type { Thing, World } from "./world.ts";

/** Names of the kernels, which every device has with its number behind them. */
const KERNELS = ["fill", "move", "nothing"] as const;

/** More contexts than a sequence pushes. */
const MAX_PUSHED = 1000;

/** Things that outlive sequences. */
export class Base {
  readonly deviceCount: number;
  readonly #api: DriverApi;
  readonly #things: Omit<Thing, "isAlive">[] = [];

  /** Initialises a driver and makes the context of each device, at most `mostDevices`. */
  constructor(api: DriverApi, mostDevices: number) {
    this.#api = api;
    check("cuInit", api.cuInit(0));
    const count = new Int32Array(1);
    check("cuDeviceGetCount", api.cuDeviceGetCount(count));
    this.deviceCount = Math.min(count[0] ?? 0, mostDevices);
    for (let ordinal = 0; ordinal < this.deviceCount; ordinal++) this.#addDevice(ordinal);
    this.reset();
  }

  /** Puts the things into the world of a new sequence. */
  addTo(world: World): void {
    for (const thing of this.#things) world.add({ ...thing, isAlive: true });
  }

  /** Makes the context of the first device the only current one. */
  reset(): void {
    const popped = new BigUint64Array(1);
    for (let depth = 0; depth < MAX_PUSHED; depth++) {
      if (this.#api.cuCtxPopCurrent_v2(popped) !== 0) break;
    }
    const [first] = this.#things;
    check("cuCtxSetCurrent", this.#api.cuCtxSetCurrent(first?.value ?? 0n));
  }

  #addDevice(ordinal: number): void {
    const api = this.#api;
    const context = out(
      "cuDevicePrimaryCtxRetain",
      (cell) => api.cuDevicePrimaryCtxRetain(cell, ordinal),
    );
    this.#add("context", `ctx${ordinal}`, context);
    check("cuCtxSetCurrent", api.cuCtxSetCurrent(context));
    // Older drivers and some devices have no pools: steps that name one are left out then.
    const pool = new BigUint64Array(1);
    if (api.cuDeviceGetDefaultMemPool?.(pool, ordinal) === 0) {
      this.#add("memoryPool", `pool${ordinal}`, pool[0] ?? 0n);
    }
    const image = IMAGES.kernels ?? null;
    const module = out("cuModuleLoadData", (cell) => api.cuModuleLoadData(cell, image));
    this.#add("module", `module${ordinal}`, module);
    for (const name of KERNELS) {
      const text = new TextEncoder().encode(`${name}\0`);
      const kernel = out(
        "cuModuleGetFunction",
        (cell) => api.cuModuleGetFunction(cell, module, text),
      );
      this.#add("function", `${name}${ordinal}`, kernel);
    }
  }

  #add(kind: Thing["kind"], name: string, value: bigint): void {
    this.#things.push({ kind, name, value, byteLength: 0 });
  }
}

function out(call: string, run: (cell: BigUint64Array<ArrayBuffer>) => number): bigint {
  const cell = new BigUint64Array(1);
  check(call, run(cell));
  return cell[0] ?? 0n;
}

function check(call: string, status: number): void {
  if (status !== 0) throw new Error(`Cannot prepare a recording: ${call} returned ${status}`);
}
