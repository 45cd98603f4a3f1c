// One kernel in one context: its parameters and limits, and the launch itself, ordered with other
// uses of its memory.

import { CUfunction_attribute, CUlaunchAttributeID, CUresult } from "../../ffi/constants.ts";
import type { DriverApi } from "../../ffi/cuda.ts";
import type { ParameterType } from "../../ffi/ptx.ts";
import { CUlaunchAttribute, CUlaunchConfig } from "../../ffi/structs.ts";
import type { Context } from "../driver/context.ts";
import { take32 } from "../driver/driver.ts";
import { type Allocation, countPlaces } from "../memory/allocation.ts";
import { type CapturedBlock, capturedMemory } from "../memory/captured_memory.ts";
import { addressOf } from "../memory/host_memory.ts";
import { isRecorded, type MemoryUse, pendingBefore, postponeFor } from "../memory/in_order.ts";
import { activeCapture, isCaptured } from "../order/capture.ts";
import { type CudaStream, queueOf } from "../order/stream.ts";
import { formatBytes, formatCount } from "../words/format.ts";
import { accessOf, isKernelMemory, KERNEL_MEMORY, reaches } from "./kernel_memory.ts";
import type { LaunchShape } from "./launch_shape.ts";
import { describeArgument, ParameterBlock } from "./parameter_block.ts";

/** Shared memory that a block can have without opting in. */
const USUAL_SHARED_BYTES = 48 << 10;

/** More parameters than a kernel can have, in case a driver never reports the end. */
const MAX_PARAMETERS = 4096;

/** A launch: its shape, its stream and its arguments. */
export interface LaunchRequest {
  readonly shape: LaunchShape;
  readonly stream: CudaStream;
  /** One value for each parameter. */
  readonly args: readonly unknown[];
}

/** The needs and limits of a kernel. */
export interface KernelLimits {
  /** Most threads of a block. */
  readonly maxBlockThreads: number;
  /** Registers of a thread. */
  readonly registerCount: number;
  /** Shared memory that the kernel declares itself, in bytes. */
  readonly staticSharedBytes: number;
  /** Local memory of each thread, in bytes. */
  readonly localBytes: number;
  /** Most shared memory that a launch can request, in bytes. */
  readonly maxSharedBytes: number;
}

/** The code that a kernel belongs to: it stays loaded while a graph or a pending launch needs it. */
export interface KernelCode extends CapturedBlock {
  readonly context: Context;
}

/** A kernel of loaded code. */
export class KernelFunction {
  readonly code: KernelCode;
  readonly handle: bigint;
  readonly name: string;
  /** Its parameters; undefined when neither its code nor the driver tells them. */
  readonly types: readonly ParameterType[] | undefined;
  #block: ParameterBlock;
  readonly #launch: DriverApi["cuLaunchKernel"];
  #limits: KernelLimits | undefined;
  /** The most shared memory that a launch can have at present. */
  #allowedSharedBytes = USUAL_SHARED_BYTES;

  /** Reads a kernel's parameters. */
  constructor(
    code: KernelCode,
    { handle, name, types }: Pick<KernelFunction, "handle" | "name" | "types">,
  ) {
    this.code = code;
    this.handle = handle;
    this.name = name;
    this.types = sameSizes(types, sizesOf(code.context, handle));
    this.#block = new ParameterBlock(this.types ?? []);
    // Kept in a field, because right after a driver call a look into the table costs more.
    this.#launch = code.context.driver.api.cuLaunchKernel;
  }

  /** Its needs and limits (cuFuncGetAttribute). */
  get limits(): KernelLimits {
    if (this.#limits !== undefined) return this.#limits;
    const { context } = this.code;
    const read = (name: keyof typeof CUfunction_attribute) =>
      take32(context, "cuFuncGetAttribute", CUfunction_attribute[name], this.handle);
    const staticSharedBytes = read("CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES");
    const blockBytes = context.attribute("CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN") ||
      USUAL_SHARED_BYTES;
    return this.#limits = {
      maxBlockThreads: read("CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK"),
      registerCount: read("CU_FUNC_ATTRIBUTE_NUM_REGS"),
      staticSharedBytes,
      localBytes: read("CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES"),
      maxSharedBytes: blockBytes - staticSharedBytes,
    };
  }

  /**
   * Queues a launch and does not wait (cuLaunchKernel, cuLaunchKernelEx). It comes after the work of
   * other streams on the memory that it uses, and after transfers called before.
   *
   * @throws TypeError for arguments that do not fit the parameters.
   * @throws RangeError for a shape that the kernel or the device cannot have.
   */
  launch({ shape, stream, args }: LaunchRequest): void {
    // Memory that is allocated on first use may run code of the program, which may launch this
    // kernel or dispose a buffer.
    const places = countPlaces();
    const isUsual = this.#setArguments(args, stream);
    this.#checkShape(shape);
    if (countPlaces() !== places) this.#setArguments(args, stream);
    else if (isUsual && activeCapture === undefined) {
      return this.#queue(shape, stream, this.#block);
    }
    this.#launchInOrder(shape, stream, usesOf(args));
  }

  /** Queues a launch whose turn has come; see {@link KernelFunction.launch}. */
  launchNow({ shape, stream, args }: LaunchRequest): void {
    this.#setArguments(args, stream);
    this.#checkShape(shape);
    for (const { allocation, access } of usesOf(args)) allocation.order(stream, access);
    this.#queue(shape, stream, this.#block);
  }

  /** Records a launch, or queues it once the calls that it must come after are over. */
  #launchInOrder(shape: LaunchShape, stream: CudaStream, uses: readonly MemoryUse[]): void {
    if (isCaptured(stream) || isRecorded(stream, uses)) {
      orderAll(uses, stream);
      if (isCaptured(stream)) {
        capturedMemory()?.use(this.code, stream, "read");
        capturedMemory()?.noteKernel(this);
      }
      return this.#queue(shape, stream, this.#block);
    }
    const queue = (block: ParameterBlock) => {
      for (const { allocation, access } of uses) allocation.order(stream, access);
      this.#queue(shape, stream, block);
    };
    const earlier = pendingBefore(stream, uses);
    if (earlier.length === 0) return queue(this.#block);
    const block = this.#block.copy();
    const work = postponeFor(stream, uses, { queue: () => queue(block), earlier });
    const hold = this.code.hold();
    work.whenOver(() => hold[Symbol.dispose]());
  }

  #queue(shape: LaunchShape, stream: CudaStream, { table }: ParameterBlock): void {
    const { grid, block, sharedBytes } = shape;
    const queue = queueOf(stream).handle;
    if (sharedBytes > this.#allowedSharedBytes) this.#allowShared(sharedBytes);
    this.code.usage.order(stream, "read");
    if (shape.isCooperative || shape.cluster !== undefined) {
      return this.#queueWith(shape, stream, table);
    }
    const { handle } = this;
    // Arguments from a list would take V8's slow way into the driver.
    // deno-fmt-ignore
    const status = this.#launch(
      handle, grid[0], grid[1], grid[2], block[0], block[1], block[2], sharedBytes, queue, table, null,
    );
    if (status === CUresult.CUDA_SUCCESS) return;
    // deno-fmt-ignore
    stream.context.settle(
      status, "cuLaunchKernel",
      handle, grid[0], grid[1], grid[2], block[0], block[1], block[2], sharedBytes, queue, table, null,
    );
  }

  /** Queues a launch with attributes. */
  #queueWith(shape: LaunchShape, stream: CudaStream, table: BigUint64Array<ArrayBuffer>): void {
    const { context } = stream;
    const attributes = attributesOf(shape);
    const bytes = new Uint8Array(attributes.length * CUlaunchAttribute.byteLength);
    for (const [index, attribute] of attributes.entries()) {
      bytes.set(attribute, index * CUlaunchAttribute.byteLength);
    }
    const { grid, block, sharedBytes } = shape;
    const config = CUlaunchConfig.encode({
      gridDimX: grid[0],
      gridDimY: grid[1],
      gridDimZ: grid[2],
      blockDimX: block[0],
      blockDimY: block[1],
      blockDimZ: block[2],
      sharedMemBytes: sharedBytes,
      hStream: queueOf(stream).handle,
      attrs: addressOf(bytes),
      numAttrs: attributes.length,
    });
    context.call("cuLaunchKernelEx", config, this.handle, table, null);
    void bytes.byteLength; // the driver has read it by now
  }

  /** Opts the kernel in to more shared memory than kernels can have by default. */
  #allowShared(sharedBytes: number): void {
    const { CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: attribute } = CUfunction_attribute;
    this.code.context.call("cuFuncSetAttribute", this.handle, attribute, sharedBytes);
    this.#allowedSharedBytes = sharedBytes;
  }

  /** Writes all arguments; returns whether the launch already comes after other uses of them. */
  #setArguments(args: readonly unknown[], stream: CudaStream): boolean {
    const { types } = this;
    if (types === undefined) {
      if (!this.#block.fits(args)) this.#block = ParameterBlock.for(args);
    } else if (types.length !== args.length) {
      throw new TypeError(
        `Cannot launch ${this.name} with ${formatCount(args.length, "argument")}: it has ` +
          `${formatCount(types.length, "parameter")}`,
      );
    }
    const block = this.#block;
    let isUsual = queueOf(stream).lastPostponed === undefined;
    for (let index = 0; index < args.length; index++) {
      const value = args[index];
      if (typeof value === "number" && block.setNumber(index, value)) continue;
      try {
        if (typeof value === "number" || !isKernelMemory(value)) {
          block.setValue(index, value, types !== undefined);
          continue;
        }
        const { allocation, address, byteLength } = value[KERNEL_MEMORY]();
        if (allocation.context !== this.code.context) this.#checkReach(allocation);
        block.setAddress(index, address);
        isUsual &&= byteLength === 0 || allocation.isInOrder(stream, accessOf(value));
      } catch (error) {
        throw withPlace(error, { kernel: this.name, index, value });
      }
    }
    return isUsual;
  }

  /** Checks memory of another device's context: kernels can only access the host's. */
  #checkReach(allocation: Allocation): void {
    if (allocation.context.driver !== this.code.context.driver) {
      throw new TypeError("it is memory of another driver; open both devices with one { driver }");
    }
    if (reaches(this.code.context, allocation)) return;
    throw new TypeError(
      `it is memory of device ${allocation.context.ordinal}, the kernel runs on device ` +
        `${this.code.context.ordinal}; copy it there first`,
    );
  }

  /** Checks the kernel's limits; the driver checks the device's own. */
  #checkShape({ block, sharedBytes, threadCount }: LaunchShape): void {
    // In the usual case neither check needs a driver call.
    if (threadCount > 256 && threadCount > this.limits.maxBlockThreads) {
      throw new RangeError(
        `Cannot launch ${this.name} with a block of ${block.join(" × ")} threads: it can have ` +
          `${this.limits.maxBlockThreads} at most`,
      );
    }
    if (sharedBytes > 0 && sharedBytes > this.#allowedSharedBytes) {
      const { maxSharedBytes } = this.limits;
      if (sharedBytes <= maxSharedBytes) return;
      throw new RangeError(
        `Cannot launch ${this.name} with ${formatBytes(sharedBytes)} of shared memory: it can ` +
          `have ${formatBytes(maxSharedBytes)} at most`,
      );
    }
  }
}

/** Returns the memory among arguments that were checked. */
function usesOf(args: readonly unknown[]): MemoryUse[] {
  return args.filter(isKernelMemory).flatMap((value): MemoryUse[] => {
    const { allocation, address, byteLength } = value[KERNEL_MEMORY]();
    return byteLength === 0 ? [] : [{ allocation, address, byteLength, access: accessOf(value) }];
  });
}

/** Orders memory for a launch in a capture, which the stream joins through recorded memory. */
function orderAll(uses: readonly MemoryUse[], stream: CudaStream): void {
  const captured = capturedMemory();
  const isRecorded = ({ allocation }: MemoryUse) => captured?.uses(allocation) === true;
  const joining = uses.filter(isRecorded);
  const others = uses.filter((use) => !isRecorded(use));
  for (const { allocation, access } of [...joining, ...others]) allocation.order(stream, access);
}

function attributesOf({ cluster, isCooperative }: LaunchShape): Uint8Array[] {
  const attributes: Uint8Array[] = [];
  const encode = (id: number, values: readonly number[]) => {
    const value = new Uint8Array(CUlaunchAttribute.members.value.byteLength);
    value.set(new Uint8Array(Uint32Array.from(values).buffer));
    attributes.push(CUlaunchAttribute.encode({ id, value }));
  };
  if (isCooperative) encode(CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_COOPERATIVE, [1]);
  if (cluster !== undefined) {
    encode(CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, cluster);
  }
  return attributes;
}

/** Reads the sizes of all parameters (cuFuncGetParamInfo); undefined on drivers without it. */
function sizesOf(context: Context, handle: bigint): number[] | undefined {
  if (!context.driver.has("cuFuncGetParamInfo")) return undefined;
  const [offset, size] = [new BigUint64Array(1), new BigUint64Array(1)];
  const sizes: number[] = [];
  while (sizes.length < MAX_PARAMETERS) {
    const index = BigInt(sizes.length);
    const status = context.status("cuFuncGetParamInfo", handle, index, offset, size);
    if (status === CUresult.CUDA_ERROR_INVALID_VALUE) return sizes;
    context.driver.check(status, "cuFuncGetParamInfo");
    sizes.push(Number(size[0] ?? 0n));
  }
  return sizes;
}

/** Merges the types that the code declares with the driver's sizes, which take precedence. */
function sameSizes(
  types: readonly ParameterType[] | undefined,
  sizes: readonly number[] | undefined,
): readonly ParameterType[] | undefined {
  if (sizes === undefined) return types;
  return sizes.map((byteLength, index) => {
    const type = types?.[index];
    return type?.byteLength === byteLength ? type : { byteLength, kind: undefined };
  });
}

/** Adds the number of the argument to an error. */
function withPlace(
  error: unknown,
  { kernel, index, value }: { kernel: string; index: number; value: unknown },
): unknown {
  const isOwn = error instanceof TypeError || error instanceof RangeError;
  if (!isOwn) return error;
  const words = isKernelMemory(value) ? `${value}` : describeArgument(value);
  const message = `Cannot launch ${kernel} with ${words} as argument ${index + 1}: ` +
    `${error.message}`;
  return error instanceof RangeError ? new RangeError(message) : new TypeError(message);
}
