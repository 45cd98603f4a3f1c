// Driver calls for modules, kernels and host callbacks, simulated.
// Every module holds the kernels that were registered with the driver.

import { type Cell, get64, getText, put64, requireCell } from "./cells.ts";
import { hostBytes } from "../model/address_space.ts";
import { LAUNCH_SECONDS } from "../model/engine.ts";
import { refuse, requireValue } from "../errors.ts";
import { LAUNCH_LIMITS } from "../model/device.ts";
import { requireImage } from "./image.ts";
import type { Dimensions, SimulatedKernel } from "../options.ts";
import { Launch } from "../work/kernel.ts";
import type { Machine } from "../model/machine.ts";
import { submit } from "../work/submission.ts";
import type { CallGroup } from "./calls.ts";
import type { Context } from "../model/context.ts";

/** A loaded image. */
class Module {
  readonly context: Context;
  /** Handles of kernels that were asked for, by name. */
  readonly kernels: Map<string, bigint> = new Map();

  constructor(context: Context) {
    this.context = context;
  }
}

/** A kernel of a loaded image. */
class KernelFunction {
  readonly module: Module;
  readonly kernel: SimulatedKernel;

  constructor(module: Module, kernel: SimulatedKernel) {
    this.module = module;
    this.kernel = kernel;
  }
}

type KernelCalls = CallGroup<`cuModule${string}` | `cuLaunch${string}`>;

/** Makes the calls for a machine. */
export function kernelCalls(machine: Machine): KernelCalls {
  const { contexts, scheduler } = machine;
  const unloaded = new WeakSet<Module>();

  return {
    cuModuleLoadData(handle, image) {
      const context = contexts.current;
      requireCell(handle);
      requireImage(machine, image);
      machine.register((registered) => {
        put64(handle, registered);
        return new Module(context);
      });
    },
    cuModuleUnload(handle) {
      const module = machine.find(Module, handle);
      machine.requireRelaxed();
      unloaded.add(module);
      machine.forget(handle);
    },
    cuModuleGetFunction(handle, module, name) {
      requireCell(handle);
      const found = machine.find(Module, module);
      const text = getText(name);
      requireValue(text !== "");
      const kernel = Object.hasOwn(machine.settings.kernels, text)
        ? machine.settings.kernels[text]
        : undefined;
      if (kernel === undefined) return refuse("CUDA_ERROR_NOT_FOUND");
      const known = found.kernels.get(text);
      if (known !== undefined) return put64(handle, known);
      machine.register((registered) => {
        put64(handle, registered);
        found.kernels.set(text, registered);
        return new KernelFunction(found, kernel);
      });
    },
    // Registered kernels are JavaScript: a simulated module has no variables to point at.
    cuModuleGetGlobal_v2(_address, _size, module, _name) {
      machine.find(Module, module);
      refuse("CUDA_ERROR_NOT_FOUND");
    },
    cuLaunchKernel(handle, gx, gy, gz, bx, by, bz, sharedBytes, stream, parameters, extra) {
      const queue = machine.workStream(stream);
      const { module, kernel } = machine.find(KernelFunction, handle);
      if (unloaded.has(module) || module.context !== queue.context) {
        refuse("CUDA_ERROR_INVALID_HANDLE");
      }
      const isPossible = fits({ grid: [gx, gy, gz], block: [bx, by, bz], sharedBytes });
      // Alone among calls with a wrong value, this one ends a capture.
      if (!isPossible) machine.captures.of(queue)?.spoil();
      requireValue(isPossible && extra === null);
      const values = copyParameters(parameters, kernel.parameterBytes);
      submit(machine, queue, {
        regions: [],
        queue(target) {
          if (unloaded.has(module)) {
            machine.site.fail("unloaded", "the module of its kernel was unloaded");
          }
          const moment = scheduler.nextMoment(target);
          const { waitCount } = moment;
          machine.waits.expect(waitCount);
          const launch = new Launch(machine, target, {
            grid: [gx, gy, gz],
            block: [bx, by, bz],
            sharedBytes,
            parameters: values,
            moment,
          });
          return scheduler.enqueue(target, moment, {
            seconds: LAUNCH_SECONDS,
            engine: target.context.device.compute,
            run() {
              try {
                kernel.run(launch);
              } finally {
                machine.waits.settle(waitCount);
              }
            },
          });
        },
      });
    },
    cuLaunchHostFunc(stream, callback, userData) {
      requireValue(callback !== null);
      const queue = machine.workStream(stream);
      const definition = { parameters: ["u64"], result: "void" } as const;
      const pointer = callback as Deno.PointerObject<typeof definition>;
      const hostFunction = new Deno.UnsafeFnPointer(pointer, definition);
      submit(machine, queue, {
        regions: [],
        queue: (target) =>
          scheduler.enqueue(target, scheduler.nextMoment(target), {
            run: () => hostFunction.call(userData),
          }),
      });
    },
  };
}

/** Tells whether the device can run a launch. */
function fits(
  { grid, block, sharedBytes }: { grid: Dimensions; block: Dimensions; sharedBytes: number },
): boolean {
  const sides = [...grid, ...block];
  const most = [...LAUNCH_LIMITS.grid, ...LAUNCH_LIMITS.block];
  return sides.every((side, index) => side > 0 && side <= (most[index] ?? 0)) &&
    block[0] * block[1] * block[2] <= LAUNCH_LIMITS.blockThreads &&
    sharedBytes <= LAUNCH_LIMITS.sharedBytes;
}

/** Copies the parameters' values at the launch, as the driver does: callers may reuse their cells. */
function copyParameters(parameters: Cell, sizes: readonly number[]): DataView[] {
  if (sizes.length === 0) return [];
  return sizes.map((byteLength, index) => {
    const address = Number(get64(parameters, index));
    return new DataView(hostBytes(address, byteLength).slice().buffer);
  });
}
