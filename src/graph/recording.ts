// Recorded work that is not a graph yet: the driver's description of it, and the memory that it uses,
// until a graph takes both.

import { CUpointer_attribute, CUresult } from "../../ffi/constants.ts";
import { nameOf } from "../accounting/ledger.ts";
import { tellAfterAll } from "../accounting/unawaited_calls.ts";
import type { Context } from "../driver/context.ts";
import { read64 } from "../driver/driver.ts";
import { tryRelease } from "../driver/release.ts";
import {
  CapturedMemory,
  type GraphMemoryUse,
  type NamedMemory,
} from "../memory/captured_memory.ts";
import type { CudaStream } from "../order/stream.ts";
import { runOnStream } from "../order/stream_choice.ts";
import { DisposedError } from "../words/errors.ts";
import { refusePromise } from "../words/options.ts";

/** Recorded work; disposing it releases whatever no graph has taken. */
export class Recording implements Disposable {
  readonly handle: bigint;
  readonly memory: GraphMemoryUse;
  /** Names of its kernels by the driver's handles. */
  readonly kernelNames: ReadonlyMap<bigint, string>;
  readonly #context: Context;
  #isTaken = false;

  /**
   * Records the work that `body` queues on a stream, without running it (cuStreamBeginCapture).
   *
   * @throws TypeError when `body` returns a promise or makes a call that cannot be recorded, or
   *   when another capture is running.
   */
  constructor(stream: CudaStream, body: (stream: CudaStream) => unknown) {
    if (stream.disposed) throw new DisposedError(stream.toString());
    this.#context = stream.context;
    using captured = new CapturedMemory(stream);
    requireCaptured(resultOf(body, stream));
    const { graph, memory, kernelNames } = captured.end();
    this.handle = graph;
    this.memory = memory;
    this.kernelNames = kernelNames;
  }

  get nodeCount(): number {
    return Number(read64(this.#context, "cuGraphGetNodes", this.handle, null));
  }

  /** Gives the memory to a graph, which releases it. */
  take(): GraphMemoryUse {
    this.#isTaken = true;
    return this.memory;
  }

  /** Destroys the description, and releases the memory unless a graph has it. */
  [Symbol.dispose](): void {
    const { driver } = this.#context;
    const destroy = () => this.#context.giveBack("cuGraphDestroy", this.handle);
    tryRelease(driver, "a recorded graph", destroy);
    if (this.#isTaken) return;
    for (const output of this.memory.outputs) output.giveUp();
    this.memory.holds.dispose();
  }
}

/**
 * Checks that memory still exists: the driver crashes the process when it instantiates a graph that
 * copies from or to freed memory.
 *
 * @throws TypeError when it was freed.
 */
export function requireMemory(
  context: Context,
  named: readonly NamedMemory[],
  action: string,
): void {
  const { CU_POINTER_ATTRIBUTE_MEMORY_TYPE: attribute } = CUpointer_attribute;
  const cell = new BigUint64Array(1);
  for (const { block, address, byteLength } of named) {
    if (byteLength === 0) continue;
    for (const place of [address, address + BigInt(byteLength) - 1n]) {
      const status = context.status("cuPointerGetAttribute", cell, attribute, place);
      if (status === CUresult.CUDA_SUCCESS) continue;
      if (status !== CUresult.CUDA_ERROR_INVALID_VALUE) {
        throw context.driver.error(status, "cuPointerGetAttribute");
      }
      throw new TypeError(
        `Cannot ${action}: the memory of ${nameOf(block)} that it uses was freed; keep it until ` +
          `the graph is disposed`,
      );
    }
  }
}

/** Calls a program's function; what it throws itself is told, also when nobody catches it. */
function resultOf(body: (stream: CudaStream) => unknown, stream: CudaStream): unknown {
  try {
    return runOnStream(stream, () => body(stream));
  } catch (error) {
    tellAfterAll(error);
    throw error;
  }
}

function requireCaptured(result: unknown): void {
  refusePromise(
    result,
    "Cannot capture a function that returns a promise: waits and transfers of ordinary arrays " +
      "cannot be recorded; use pinned buffers, and write () => { ... } to return nothing",
  );
}
