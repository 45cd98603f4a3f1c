// Driver calls for modules, kernels and host callbacks, simulated.
// Every module holds the kernels that were registered with the driver.

import { bytesOf, type Cell, get64, getText, put64 } from "../cells.ts";
import { hostBytes } from "../address_space.ts";
import { LAUNCH_SECONDS } from "../engine.ts";
import { refuse, requireValue } from "../errors.ts";
import { type SimulatedKernel, SimulatedLaunch } from "../kernel.ts";
import type { Machine } from "../machine.ts";
import { submit } from "../submission.ts";
import type { CallGroup } from "./calls.ts";
import type { Context } from "../context.ts";

/** Compiled images start with one of these; all else is PTX text. */
const IMAGE_MAGICS = [0x464c457f, 0xba55ed50];
const MAX_BLOCK_THREADS = 1024;

/** A loaded image. */
class Module {
  readonly context: Context;

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
      requireImage(machine, image);
      machine.register((registered) => {
        put64(handle, registered);
        return new Module(context);
      });
    },
    cuModuleUnload(handle) {
      contexts.requireCurrent();
      unloaded.add(machine.find(Module, handle));
      machine.forget(handle);
    },
    cuModuleGetFunction(handle, module, name) {
      contexts.requireCurrent();
      const found = machine.find(Module, module);
      const text = getText(name);
      const kernel = Object.hasOwn(machine.settings.kernels, text)
        ? machine.settings.kernels[text]
        : undefined;
      if (kernel === undefined) return refuse("CUDA_ERROR_NOT_FOUND");
      machine.register((registered) => {
        put64(handle, registered);
        return new KernelFunction(found, kernel);
      });
    },
    // Registered kernels are JavaScript: a simulated module has no variables to point at.
    cuModuleGetGlobal_v2(_address, _size, module, _name) {
      contexts.requireCurrent();
      machine.find(Module, module);
      refuse("CUDA_ERROR_NOT_FOUND");
    },
    cuLaunchKernel(handle, gx, gy, gz, bx, by, bz, sharedBytes, stream, parameters, extra) {
      const queue = machine.stream(stream);
      const { module, kernel } = machine.find(KernelFunction, handle);
      if (unloaded.has(module) || module.context !== queue.context) {
        refuse("CUDA_ERROR_INVALID_HANDLE");
      }
      requireValue(Math.min(gx, gy, gz, bx, by, bz) > 0 && bx * by * bz <= MAX_BLOCK_THREADS);
      requireValue(extra === null);
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
          const launch = new SimulatedLaunch(machine, target, {
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
      const queue = machine.stream(stream);
      requireValue(callback !== null);
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

function requireImage(machine: Machine, image: Cell): void {
  const bytes = bytesOf(image);
  if (bytes.byteLength < 4) refuse("CUDA_ERROR_INVALID_IMAGE");
  const magic = new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0, true);
  if (IMAGE_MAGICS.includes(magic) || bytes.includes(0)) return;
  machine.site.fail(
    "unterminated",
    `the ${bytes.byteLength} bytes of PTX text do not end with a zero byte`,
  );
}

/** Copies the parameters' values at the launch, as the driver does: callers may reuse their cells. */
function copyParameters(parameters: Cell, sizes: readonly number[]): DataView[] {
  if (sizes.length === 0) return [];
  return sizes.map((byteLength, index) => {
    const address = Number(get64(parameters, index));
    return new DataView(hostBytes(address, byteLength).slice().buffer);
  });
}
