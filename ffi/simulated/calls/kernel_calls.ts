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
import { LAUNCH_SECONDS } from "../model/device.ts";
import type { Machine } from "../model/machine.ts";
import type { Stream } from "../model/stream.ts";
import type { Dimensions, LaunchShape, SimulatedKernel } from "../options.ts";
import { Launch } from "../work/kernel.ts";
import { READY_KERNELS, secondsOf } from "../work/ready_kernels.ts";
import { submit } from "../work/submission.ts";
import { callGroup } from "./calls.ts";
import { bytesOf, type Cell, decodeList, get64, getText, giveHandle } from "./cells.ts";
import { put32, put64, requireCell } from "./cells.ts";
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
  /** It was unloaded; its kernels may still be known. */
  isUnloaded = false;

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

interface LaunchRequest extends LaunchShape {
  readonly handle: bigint;
  readonly parameters: Cell;
  readonly isCooperative?: boolean;
}

/** Threads and shared memory that a multiprocessor has for the blocks that it runs at a time. */
const RESIDENT = { threads: 2048, sharedBytes: LAUNCH_LIMITS.mostSharedBytes } as const;
const WARP_THREADS = 32;

/** Modules, which one context has. */
export const moduleCalls = callGroup((machine) => ({
  cuModuleLoadData: (handle, image) => loadModule(machine, handle, image),
  cuModuleLoadDataEx(handle, image, optionCount, options, values) {
    requireOptions(optionCount, options, values);
    loadModule(machine, handle, image);
  },
  cuModuleUnload(handle) {
    const module = machine.find(Module, handle);
    machine.requireRelaxed();
    unload(machine, module, handle);
  },
  cuModuleGetFunction(handle, module, name) {
    requireCell(handle);
    const found = machine.find(Module, module);
    requireValue(getText(name) !== "");
    const kernel = findKernel(machine, found, name);
    giveOnce(machine, handle, found.kernels, kernel.name, () => {
      const context = found.context ?? refuse("CUDA_ERROR_INVALID_HANDLE");
      return new KernelFunction(found, context, kernel);
    });
  },
  // Registered kernels are JavaScript: a simulated module has no variables to point at.
  cuModuleGetGlobal_v2(_address, _size, module, _name) {
    machine.find(Module, module);
    refuse("CUDA_ERROR_NOT_FOUND");
  },
}));

/** Code that is linked from pieces. */
export const linkCalls = callGroup((machine) => ({
  cuLinkCreate_v2(optionCount, options, values, handle) {
    requireCell(handle);
    machine.contexts.requireCurrent();
    requireOptions(optionCount, options, values);
    giveHandle(machine, handle, () => new Link());
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
    // A program that reads the result from now on reads freed memory, for which zeros stand here.
    machine.find(Link, handle).result?.fill(0);
    machine.forget(handle);
  },
}));

/** Libraries, which all contexts share. */
export const libraryCalls = callGroup((machine) => ({
  cuLibraryLoadData(handle, image, options, values, optionCount, _options, _values, otherCount) {
    requireCell(handle);
    requireOptions(optionCount, options, values);
    requireValue(otherCount === 0);
    giveHandle(machine, handle, () => new Library(machine, image));
  },
  cuLibraryUnload(handle) {
    const library = machine.find(Library, handle);
    for (const kernel of library.kernels.values()) {
      for (const known of machine.find(LibraryKernel, kernel).functions.values()) {
        machine.forget(known);
      }
    }
    unload(machine, library, handle);
  },
  cuLibraryGetKernel(handle, library, name) {
    requireCell(handle);
    const found = findLibrary(machine, library);
    const kernel = findKernel(machine, found, name);
    const make = () => new LibraryKernel(found, kernel);
    giveOnce(machine, handle, found.kernels, kernel.name, make);
  },
  cuKernelGetFunction(handle, kernel) {
    requireCell(handle);
    const context = machine.contexts.current;
    const { library, kernel: found, functions } = machine.find(LibraryKernel, kernel);
    if (library.isUnloaded) refuse("CUDA_ERROR_INVALID_HANDLE");
    const make = () => new KernelFunction(library, context, found);
    giveOnce(machine, handle, functions, context, make);
  },
  cuLibraryGetGlobal(_address, _size, library, _name) {
    machine.contexts.requireCurrent();
    findLibrary(machine, library);
    refuse("CUDA_ERROR_NOT_FOUND");
  },
}));

/** Facts about a kernel's function, and the blocks that a multiprocessor has room for. */
export const functionCalls = callGroup((machine) => ({
  cuFuncGetAttribute(value, attribute, handle) {
    requireCell(value);
    const values: Readonly<Record<number, number>> = {
      [A.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK]: LAUNCH_LIMITS.blockThreads,
      [A.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES]: 0,
      [A.CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES]: 0,
      [A.CU_FUNC_ATTRIBUTE_NUM_REGS]: 32,
      [A.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES]:
        machine.find(KernelFunction, handle).sharedBytes,
    };
    put32(value, values[attribute] ?? refuse("CUDA_ERROR_INVALID_VALUE"));
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
    const place = placesOf(parameterBytes)[Number(index)] ?? refuse("CUDA_ERROR_INVALID_VALUE");
    put64(offset, place.offset);
    if (size !== null) put64(size, place.byteLength);
  },
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
}));

/** Launches of kernels and of functions on the host. */
export const launchCalls = callGroup((machine) => ({
  cuLaunchKernel(handle, gx, gy, gz, bx, by, bz, sharedBytes, stream, parameters, extra) {
    const queue = machine.workStream(stream);
    requireValue(extra === null);
    const shape = { grid: [gx, gy, gz], block: [bx, by, bz], sharedBytes } as const;
    launch(machine, queue, { handle, ...shape, parameters });
  },
  cuLaunchKernelEx(config, handle, parameters, extra) {
    const fields = CUlaunchConfig.decode(bytesOf(config));
    const queue = machine.workStream(fields.hStream);
    requireValue(extra === null);
    const { gridDimX: gx, gridDimY: gy, gridDimZ: gz } = fields;
    const { blockDimX: bx, blockDimY: by, blockDimZ: bz, sharedMemBytes: sharedBytes } = fields;
    const shape = { grid: [gx, gy, gz], block: [bx, by, bz], sharedBytes } as const;
    let isCooperative = false;
    for (const { id, value } of attributesAt(fields.attrs, fields.numAttrs)) {
      const [first = 0, second = 0, third = 0] = new Uint32Array(value.slice().buffer);
      if (id === CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_COOPERATIVE) {
        isCooperative = first !== 0;
        if (isCooperative) requireResident(machine, queue, shape);
      } else {
        requireValue(id === CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
        requireCluster(shape.grid, [first, second, third]);
      }
    }
    launch(machine, queue, { handle, ...shape, parameters, isCooperative });
  },
  cuLaunchHostFunc(stream, callback, userData) {
    requireValue(callback !== null);
    const queue = machine.workStream(stream);
    const definition = { parameters: ["u64"], result: "void" } as const;
    const pointer = callback as Deno.PointerObject<typeof definition>;
    const hostFunction = new Deno.UnsafeFnPointer(pointer, definition);
    const run = () => hostFunction.call(userData);
    submit(machine, queue, {
      regions: [],
      queue: (target) => machine.scheduler.add(target, { run }),
    });
  },
}));

/** Finds a kernel that is registered, with the sizes of its parameters, which PTX tells, too. */
function findKernel(machine: Machine, { entries }: Module, cell: Cell): FoundKernel {
  const name = getText(cell);
  const work = [machine.settings.kernels, READY_KERNELS]
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

function findLibrary(machine: Machine, handle: bigint): Library {
  const library = machine.find(Library, handle);
  return library.fault === undefined ? library : refuse(library.fault);
}

function requireOptions(count: number, options: Cell, values: Cell): void {
  requireValue(count === 0 || (options !== null && values !== null));
}

function loadModule(machine: Machine, handle: Cell, image: Cell): void {
  const context = machine.contexts.current;
  requireCell(handle);
  const fault = imageFault(machine, image);
  if (fault !== undefined) refuse(fault);
  giveHandle(machine, handle, () => new Module(context, image));
}

/** Puts the handle of an object into a cell; the object is made on first use. */
function giveOnce<K>(
  machine: Machine,
  cell: Cell,
  handles: Map<K, bigint>,
  key: K,
  make: () => object,
): void {
  const known = handles.get(key);
  if (known !== undefined) return put64(cell, known);
  giveHandle(machine, cell, (handle) => {
    const made = make();
    handles.set(key, handle);
    return made;
  });
}

/** Makes a module's handle, and those of its kernels, name nothing. */
function unload(machine: Machine, module: Module, handle: bigint): void {
  module.isUnloaded = true;
  for (const kernel of module.kernels.values()) machine.forget(kernel);
  machine.forget(handle);
}

function launch(machine: Machine, queue: Stream, request: LaunchRequest): void {
  const { scheduler, waits } = machine;
  const { handle, parameters: cells, isCooperative = false, ...shape } = request;
  const found = machine.find(KernelFunction, handle);
  const { module, context, kernel: { work, parameterBytes } } = found;
  if (module.isUnloaded || context !== queue.context) refuse("CUDA_ERROR_INVALID_HANDLE");
  const isPossible = fits(shape) && shape.sharedBytes <= found.sharedBytes;
  // Unlike other calls with an invalid value, this one ends a capture.
  if (!isPossible) machine.captures.of(queue)?.spoil();
  requireValue(isPossible);
  const parameters = copyParameters(cells, parameterBytes);
  submit(machine, queue, {
    regions: [],
    kernel: { handle, context, isCooperative, ...shape },
    queue(target) {
      if (module.isUnloaded) machine.site.fail("unloaded", "the module of its kernel was unloaded");
      const moment = scheduler.nextMoment(target);
      const { waitCount } = moment;
      waits.expect(waitCount);
      const launched = new Launch(machine, target, { ...shape, parameters, moment });
      const isOnHost = (address: bigint) =>
        machine.memory.resolve(Number(address), 1, "kernel").kind === "host";
      return scheduler.enqueue(target, moment, {
        seconds: LAUNCH_SECONDS + secondsOf(work, parameters, isOnHost),
        engine: target.context.device.compute,
        run() {
          try {
            work.run(launched);
          } finally {
            waits.settle(waitCount);
          }
        },
      });
    },
  });
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
  if (count === 0) return [];
  const bytes = hostBytes(Number(address), count * CUlaunchAttribute.byteLength);
  return decodeList(CUlaunchAttribute, bytes.slice(), count);
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
  { grid, block, sharedBytes }: LaunchShape,
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
function fits({ grid, block }: LaunchShape): boolean {
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
