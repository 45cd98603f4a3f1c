// Driver calls for modules, libraries, kernels and host callbacks, simulated. Every module and library
// holds the kernels that were registered with the driver, and those of the kit.

import { roundUp } from "../../alignment.ts";
import { CUfunction_attribute as A, CUlaunchAttributeID } from "../../constants.ts";
import { readEntries } from "../../ptx.ts";
import { CUlaunchAttribute, CUlaunchConfig } from "../../structs.ts";
import { refuse, requireValue } from "../errors.ts";
import { hostAddress, hostBytes } from "../model/address_space.ts";
import type { Context } from "../model/context.ts";
import { LAUNCH_LIMITS, MULTIPROCESSORS } from "../model/device.ts";
import { LAUNCH_SECONDS } from "../model/engine.ts";
import type { Machine } from "../model/machine.ts";
import type { Stream } from "../model/stream.ts";
import type { Dimensions, SimulatedKernel } from "../options.ts";
import { Launch } from "../work/kernel.ts";
import { READY_KERNELS, secondsOf } from "../work/ready_kernels.ts";
import { submit } from "../work/submission.ts";
import type { CallGroup } from "./calls.ts";
import { bytesOf, type Cell, get64, getText, put32, put64, requireCell } from "./cells.ts";
import { type ImageFault, imageFault, inputFault, linkedImage, ptxOf } from "./image.ts";

/** A kernel of some code. */
interface FoundKernel {
  readonly name: string;
  readonly work: SimulatedKernel;
  readonly parameterBytes: readonly number[];
}

/** A loaded image: a module of one context, or a library for all of them. */
class Module {
  readonly context: Context | undefined;
  readonly #ptx: string;
  #entries: ReturnType<typeof readEntries> | undefined;
  /** Handles of the kernels that were requested, by name. */
  readonly kernels: Map<string, bigint> = new Map();

  constructor(context: Context | undefined, image: Cell) {
    this.context = context;
    this.#ptx = ptxOf(image);
  }

  /** The parameters of its kernels by name, as far as it is PTX. */
  get entries(): ReturnType<typeof readEntries> {
    return this.#entries ??= readEntries(this.#ptx);
  }
}

/** An image that every context can use; the driver looks into it when it is first asked for a part. */
class Library extends Module {
  /** Mistake of the image. */
  readonly fault: ImageFault | undefined;

  constructor(machine: Machine, image: Cell) {
    super(undefined, image);
    this.fault = imageFault(machine, image);
  }
}

class LibraryKernel {
  readonly library: Library;
  readonly kernel: FoundKernel;
  /** Handles of its functions by context. */
  readonly functions: Map<Context, bigint> = new Map();

  constructor(library: Library, kernel: FoundKernel) {
    this.library = library;
    this.kernel = kernel;
  }
}

/** Code that is being linked. */
class Link {
  pieceCount = 0;
  /** The texts of its pieces of PTX. */
  ptx = "";
  /** The memory that a program reads the result from until the link is destroyed. */
  result: Uint8Array<ArrayBuffer> | undefined;
}

/** A kernel of a loaded image in one context. */
class KernelFunction {
  readonly module: Module;
  readonly context: Context;
  readonly kernel: FoundKernel;
  /** Shared memory that launches may request. */
  sharedBytes: number = LAUNCH_LIMITS.sharedBytes;

  constructor(module: Module, context: Context, kernel: FoundKernel) {
    this.module = module;
    this.context = context;
    this.kernel = kernel;
  }
}

interface LaunchRequest {
  readonly grid: Dimensions;
  readonly block: Dimensions;
  readonly sharedBytes: number;
  readonly parameters: Cell;
  readonly isCooperative?: boolean;
}

type KernelCalls = CallGroup<
  | `cuModule${string}`
  | `cuLibrary${string}`
  | `cuKernel${string}`
  | `cuFunc${string}`
  | `cuLaunch${string}`
  | `cuLink${string}`
  | `cuOccupancy${string}`
>;

/** Threads and shared memory that a multiprocessor has for the blocks that it runs at a time. */
const RESIDENT = { threads: 2048, sharedBytes: LAUNCH_LIMITS.mostSharedBytes } as const;
const WARP_THREADS = 32;

/** The code that is loaded on a machine, by the handles of its modules, libraries and kernels. */
class LoadedCode {
  readonly #machine: Machine;
  readonly #unloaded = new WeakSet<Module>();

  constructor(machine: Machine) {
    this.#machine = machine;
  }

  /** Returns whether a module or library was unloaded, whose kernels may still be known. */
  isUnloaded(module: Module): boolean {
    return this.#unloaded.has(module);
  }

  /** Finds a kernel that is registered, with the sizes of its parameters, which PTX tells, too. */
  findKernel({ entries }: Module, cell: Cell): FoundKernel {
    const name = getText(cell);
    const work = [this.#machine.settings.kernels, READY_KERNELS]
      .find((known) => Object.hasOwn(known, name))?.[name];
    if (work === undefined) return refuse("CUDA_ERROR_NOT_FOUND");
    const told = entries.get(name)?.map(({ byteLength }) => byteLength);
    const { parameterBytes = told } = work;
    if (parameterBytes !== undefined) return { name, work, parameterBytes };
    throw new TypeError(
      `Cannot use kernel "${name}": only PTX tells the sizes of its parameters, and this code is ` +
        "none, lacks it, or has a type that the simulated compiler does not know; name them in " +
        "simulateDriver({ kernels }), such as { parameterBytes: [8, 4] }",
    );
  }

  findLibrary(handle: bigint): Library {
    const library = this.#machine.find(Library, handle);
    return library.fault === undefined ? library : refuse(library.fault);
  }

  loadModule(handle: Cell, image: Cell): void {
    const context = this.#machine.contexts.current;
    requireCell(handle);
    const fault = imageFault(this.#machine, image);
    if (fault !== undefined) refuse(fault);
    this.give(handle, new Module(context, image));
  }

  /** Registers an object, and puts its handle into a cell. */
  give(cell: Cell, item: object): bigint {
    let handle = 0n;
    this.#machine.register((registered) => {
      put64(cell, handle = registered);
      return item;
    });
    return handle;
  }

  /** Puts the handle of an object into a cell; the object is made on first use. */
  giveOnce<K>(cell: Cell, handles: Map<K, bigint>, key: K, make: () => object): void {
    const known = handles.get(key);
    if (known === undefined) handles.set(key, this.give(cell, make()));
    else put64(cell, known);
  }

  /** Makes a module's handle, and those of its kernels, name nothing. */
  unload(module: Module, handle: bigint): void {
    this.#unloaded.add(module);
    for (const kernel of module.kernels.values()) this.#machine.forget(kernel);
    this.#machine.forget(handle);
  }

  launch(handle: bigint, queue: Stream, request: LaunchRequest): void {
    const { scheduler } = this.#machine;
    const { grid, block, sharedBytes, isCooperative = false } = request;
    const found = this.#machine.find(KernelFunction, handle);
    const { module, context, kernel: { work, parameterBytes } } = found;
    if (this.#unloaded.has(module) || context !== queue.context) {
      refuse("CUDA_ERROR_INVALID_HANDLE");
    }
    const isPossible = fits(request) && sharedBytes <= found.sharedBytes;
    // Unlike other calls with an invalid value, this one ends a capture.
    if (!isPossible) this.#machine.captures.of(queue)?.spoil();
    requireValue(isPossible);
    const values = copyParameters(request.parameters, parameterBytes);
    submit(this.#machine, queue, {
      regions: [],
      kernel: { handle, context, isCooperative, grid, block, sharedBytes },
      queue: (target) => {
        if (this.#unloaded.has(module)) {
          this.#machine.site.fail("unloaded", "the module of its kernel was unloaded");
        }
        const moment = scheduler.nextMoment(target);
        const { waitCount } = moment;
        this.#machine.waits.expect(waitCount);
        const launch = new Launch(this.#machine, target, {
          grid,
          block,
          sharedBytes,
          parameters: values,
          moment,
        });
        const isOnHost = (address: bigint) =>
          this.#machine.memory.resolve(Number(address), 1, "kernel").kind === "host";
        return scheduler.enqueue(target, moment, {
          seconds: LAUNCH_SECONDS + secondsOf(work, values, isOnHost),
          engine: target.context.device.compute,
          run: () => {
            try {
              work.run(launch);
            } finally {
              this.#machine.waits.settle(waitCount);
            }
          },
        });
      },
    });
  }
}

/** Makes the calls for a machine. */
export function kernelCalls(machine: Machine): KernelCalls {
  const code = new LoadedCode(machine);
  return {
    ...moduleCalls(machine, code),
    ...linkCalls(machine, code),
    ...libraryCalls(machine, code),
    ...functionCalls(machine),
    ...launchCalls(machine, code),
    ...occupancyCalls(machine),
  };
}

/** Modules, which one context has. */
function moduleCalls(machine: Machine, code: LoadedCode): CallGroup<`cuModule${string}`> {
  return {
    cuModuleLoadData: (handle, image) => code.loadModule(handle, image),
    cuModuleLoadDataEx(handle, image, optionCount, options, values) {
      requireValue(optionCount === 0 || (options !== null && values !== null));
      code.loadModule(handle, image);
    },
    cuModuleUnload(handle) {
      const module = machine.find(Module, handle);
      machine.requireRelaxed();
      code.unload(module, handle);
    },
    cuModuleGetFunction(handle, module, name) {
      requireCell(handle);
      const found = machine.find(Module, module);
      requireValue(getText(name) !== "");
      const kernel = code.findKernel(found, name);
      code.giveOnce(handle, found.kernels, kernel.name, () => {
        const context = found.context ?? refuse("CUDA_ERROR_INVALID_HANDLE");
        return new KernelFunction(found, context, kernel);
      });
    },
    // Registered kernels are JavaScript: a simulated module has no variables to point at.
    cuModuleGetGlobal_v2(_address, _size, module, _name) {
      machine.find(Module, module);
      refuse("CUDA_ERROR_NOT_FOUND");
    },
  };
}

/** Code that is linked from pieces. */
function linkCalls(machine: Machine, code: LoadedCode): CallGroup<`cuLink${string}`> {
  return {
    cuLinkCreate_v2(optionCount, options, values, handle) {
      requireCell(handle);
      machine.contexts.requireCurrent();
      requireValue(optionCount === 0 || (options !== null && values !== null));
      code.give(handle, new Link());
    },
    cuLinkAddData_v2(handle, type, data, size, _name, optionCount, _options, _values) {
      const link = machine.find(Link, handle);
      requireValue(link.result === undefined && optionCount === 0 && size > 0n);
      const piece = bytesOf(data).subarray(0, Number(size));
      const fault = inputFault(machine, type, piece);
      if (fault !== undefined) refuse(fault);
      link.pieceCount++;
      link.ptx += ptxOf(piece);
    },
    cuLinkComplete(handle, address, size) {
      const link = machine.find(Link, handle);
      requireCell(address);
      requireValue(link.pieceCount > 0);
      const result = link.result ??= linkedImage(link.ptx);
      put64(address, hostAddress(result));
      if (size !== null) put64(size, result.byteLength);
    },
    cuLinkDestroy(handle) {
      const link = machine.find(Link, handle);
      // A program that reads the result from now on reads freed memory, for which zeros stand here.
      link.result?.fill(0);
      machine.forget(handle);
    },
  };
}

/** Libraries, which all contexts share. */
function libraryCalls(
  machine: Machine,
  code: LoadedCode,
): CallGroup<`cuLibrary${string}` | `cuKernel${string}`> {
  return {
    cuLibraryLoadData(handle, image, options, values, optionCount, _options, _values, otherCount) {
      requireCell(handle);
      requireValue(optionCount === 0 || (options !== null && values !== null));
      requireValue(otherCount === 0);
      code.give(handle, new Library(machine, image));
    },
    cuLibraryUnload(handle) {
      const library = machine.find(Library, handle);
      for (const kernel of library.kernels.values()) {
        for (const known of machine.find(LibraryKernel, kernel).functions.values()) {
          machine.forget(known);
        }
      }
      code.unload(library, handle);
    },
    cuLibraryGetKernel(handle, library, name) {
      requireCell(handle);
      const found = code.findLibrary(library);
      const kernel = code.findKernel(found, name);
      code.giveOnce(handle, found.kernels, kernel.name, () => new LibraryKernel(found, kernel));
    },
    cuKernelGetFunction(handle, kernel) {
      requireCell(handle);
      const context = machine.contexts.current;
      const found = machine.find(LibraryKernel, kernel);
      if (code.isUnloaded(found.library)) refuse("CUDA_ERROR_INVALID_HANDLE");
      const { library, functions } = found;
      code.giveOnce(
        handle,
        functions,
        context,
        () => new KernelFunction(library, context, found.kernel),
      );
    },
    cuLibraryGetGlobal(_address, _size, library, _name) {
      machine.contexts.requireCurrent();
      code.findLibrary(library);
      refuse("CUDA_ERROR_NOT_FOUND");
    },
  };
}

/** Facts about a kernel's function. */
function functionCalls(machine: Machine): CallGroup<`cuFunc${string}`> {
  return {
    cuFuncGetAttribute(value, attribute, handle) {
      requireCell(value);
      const { sharedBytes } = machine.find(KernelFunction, handle);
      const values = new Map<number, number>([
        [A.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, LAUNCH_LIMITS.blockThreads],
        [A.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 0],
        [A.CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, 0],
        [A.CU_FUNC_ATTRIBUTE_NUM_REGS, 32],
        [A.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, sharedBytes],
      ]);
      put32(value, values.get(attribute) ?? refuse("CUDA_ERROR_INVALID_VALUE"));
    },
    cuFuncSetAttribute(handle, attribute, value) {
      const found = machine.find(KernelFunction, handle);
      requireValue(attribute === A.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
      requireValue(value >= 0 && value <= LAUNCH_LIMITS.mostSharedBytes);
      found.sharedBytes = value;
    },
    cuFuncGetParamInfo(handle, index, offset, size) {
      requireCell(offset);
      const { parameterBytes } = machine.find(KernelFunction, handle).kernel;
      const place = placesOf(parameterBytes)[Number(index)];
      if (place === undefined) return refuse("CUDA_ERROR_INVALID_VALUE");
      put64(offset, place.offset);
      if (size !== null) put64(size, place.byteLength);
    },
  };
}

/** Launches of kernels and of functions on the host. */
function launchCalls(machine: Machine, code: LoadedCode): CallGroup<`cuLaunch${string}`> {
  return {
    cuLaunchKernel(handle, gx, gy, gz, bx, by, bz, sharedBytes, stream, parameters, extra) {
      const queue = machine.workStream(stream);
      requireValue(extra === null);
      code.launch(handle, queue, {
        grid: [gx, gy, gz],
        block: [bx, by, bz],
        sharedBytes,
        parameters,
      });
    },
    cuLaunchKernelEx(config, handle, parameters, extra) {
      const fields = CUlaunchConfig.decode(bytesOf(config));
      const queue = machine.workStream(fields.hStream);
      requireValue(extra === null);
      const { gridDimX: gx, gridDimY: gy, gridDimZ: gz } = fields;
      const { blockDimX: bx, blockDimY: by, blockDimZ: bz, sharedMemBytes: sharedBytes } = fields;
      const grid = [gx, gy, gz] as const;
      const block = [bx, by, bz] as const;
      let isCooperative = false;
      for (const { id, value } of attributesAt(fields.attrs, fields.numAttrs)) {
        const [first = 0, second = 0, third = 0] = new Uint32Array(value.slice().buffer);
        if (id === CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_COOPERATIVE) {
          isCooperative = first !== 0;
          if (isCooperative) requireResident(machine, queue, { grid, block, sharedBytes });
        } else {
          requireValue(id === CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
          requireCluster(grid, [first, second, third]);
        }
      }
      code.launch(handle, queue, { grid, block, sharedBytes, parameters, isCooperative });
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
          machine.scheduler.enqueue(target, machine.scheduler.nextMoment(target), {
            run: () => hostFunction.call(userData),
          }),
      });
    },
  };
}

/** The blocks that a multiprocessor has room for. */
function occupancyCalls(machine: Machine): CallGroup<`cuOccupancy${string}`> {
  return {
    cuOccupancyMaxActiveBlocksPerMultiprocessor(count, handle, blockSize, sharedBytes) {
      requireCell(count);
      machine.find(KernelFunction, handle);
      requireValue(blockSize > 0);
      put32(count, residentBlocks(blockSize, Number(sharedBytes)));
    },
    cuOccupancyMaxPotentialBlockSize(minGridSize, blockSize, handle, _callback, shared, limit) {
      requireCell(minGridSize);
      requireCell(blockSize);
      machine.find(KernelFunction, handle);
      const most = LAUNCH_LIMITS.blockThreads;
      const threads = limit > 0 ? Math.min(limit, most) : most;
      put32(blockSize, threads);
      put32(minGridSize, MULTIPROCESSORS * residentBlocks(threads, Number(shared)));
    },
  };
}

/** Returns where parameters lie: each at a multiple of its own size, up to 8 bytes. */
function placesOf(sizes: readonly number[]): { offset: number; byteLength: number }[] {
  let end = 0;
  return sizes.map((byteLength) => {
    const alignment = [8, 4, 2].find((width) => byteLength % width === 0) ?? 1;
    const offset = roundUp(end, alignment);
    end = offset + byteLength;
    return { offset, byteLength };
  });
}

function attributesAt(address: bigint, count: number) {
  const { byteLength } = CUlaunchAttribute;
  const bytes = count === 0
    ? new Uint8Array()
    : hostBytes(Number(address), count * byteLength).slice();
  return Array.from(
    { length: count },
    (_, at) => CUlaunchAttribute.decode(bytes.subarray(at * byteLength)),
  );
}

/** Blocks of a kernel that one multiprocessor runs at a time. */
function residentBlocks(threads: number, sharedBytes: number): number {
  if (threads > LAUNCH_LIMITS.blockThreads) return 0;
  const byThreads = Math.floor(RESIDENT.threads / roundUp(threads, WARP_THREADS));
  const byShared = sharedBytes === 0 ? byThreads : Math.floor(RESIDENT.sharedBytes / sharedBytes);
  return Math.min(byThreads, byShared, 32);
}

/** Rejects a cooperative launch whose blocks cannot all run at a time. */
function requireResident(
  machine: Machine,
  queue: Stream,
  { grid, block, sharedBytes }: Omit<LaunchRequest, "parameters">,
): void {
  const blocks = grid[0] * grid[1] * grid[2];
  const threads = block[0] * block[1] * block[2];
  if (blocks <= MULTIPROCESSORS * residentBlocks(threads, sharedBytes)) return;
  machine.captures.of(queue)?.spoil();
  refuse("CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE");
}

/** Rejects clusters that the grid is no multiple of, and those of more than 8 blocks. */
function requireCluster(grid: Dimensions, cluster: Dimensions): void {
  const [x, y, z] = cluster;
  requireValue(x > 0 && y > 0 && z > 0);
  const divides = grid.every((side, axis) => side % (cluster[axis] ?? 1) === 0);
  if (!divides || x * y * z > 8) refuse("CUDA_ERROR_INVALID_CLUSTER_SIZE");
}

/** Tells whether the device can run a launch. */
function fits({ grid, block }: { grid: Dimensions; block: Dimensions }): boolean {
  const sides = [...grid, ...block];
  const most = [...LAUNCH_LIMITS.grid, ...LAUNCH_LIMITS.block];
  return sides.every((side, index) => side > 0 && side <= (most[index] ?? 0)) &&
    block[0] * block[1] * block[2] <= LAUNCH_LIMITS.blockThreads;
}

/** Copies the parameters' values at the launch, as the driver does: callers may reuse their cells. */
function copyParameters(parameters: Cell, sizes: readonly number[]): DataView[] {
  if (sizes.length === 0) return [];
  return sizes.map((byteLength, index) => {
    const address = Number(get64(parameters, index));
    return new DataView(hostBytes(address, byteLength).slice().buffer);
  });
}
