// Gives a graph the parameters of newly recorded work; errors name the step that does not fit.

import {
  CUgraphExecUpdateResult as Result,
  CUgraphNodeType as Type,
  CUresult,
} from "../../ffi/constants.ts";
import { CUDA_KERNEL_NODE_PARAMS_v2, CUgraphExecUpdateResultInfo } from "../../ffi/structs.ts";
import type { Context } from "../driver/context.ts";
import { read32 } from "../driver/driver.ts";
import { formatCount } from "../words/format.ts";
import type { Recording } from "./recording.ts";

interface ReadyGraph {
  readonly context: Context;
  readonly handle: bigint;
  readonly nodeCount: number;
  toString(): string;
}

/** Words for the driver's reasons that concern one step. */
const REASONS: Readonly<Record<number, string>> = {
  [Result.CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED]: "it comes after other steps than before",
  [Result.CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED]: "another kind of step was in its place",
  [Result.CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED]:
    "it moves rows, or its memory is of a pool and was not, or the other way round",
  [Result.CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED]: "the driver cannot change such a step",
  [Result.CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE]:
    "it cannot take the place of the kernel before",
  [Result.CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED]:
    "it is cooperative, in clusters, or of a priority, and was not, or the other way round",
};

/** Names of the kinds of steps. */
const KINDS: Readonly<Record<number, string>> = {
  [Type.CU_GRAPH_NODE_TYPE_KERNEL]: "a kernel",
  [Type.CU_GRAPH_NODE_TYPE_MEMCPY]: "a copy",
  [Type.CU_GRAPH_NODE_TYPE_MEMSET]: "a fill",
};

/**
 * Gives a graph the parameters of recorded work (cuGraphExecUpdate). Launches that were queued before
 * are not affected.
 *
 * @throws TypeError that names the step that does not fit; the graph stays as it was.
 * @throws CudaUnavailableError on drivers before CUDA 12.0.
 */
export function updateGraph(ready: ReadyGraph, recorded: Recording): void {
  const { context, handle } = ready;
  const info = new Uint8Array(CUgraphExecUpdateResultInfo.byteLength);
  const status = context.status("cuGraphExecUpdate_v2", handle, recorded.handle, info);
  if (status === CUresult.CUDA_SUCCESS) return;
  if (status !== CUresult.CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE) {
    throw context.driver.error(status, "cuGraphExecUpdate_v2");
  }
  const { result, errorNode } = CUgraphExecUpdateResultInfo.decode(info);
  throw new TypeError(
    `Cannot update ${ready}: ${reasonOf(ready, recorded, { result, node: errorNode })}; record ` +
      `the same steps in the same order, or capture another graph`,
  );
}

function reasonOf(
  { context, nodeCount }: ReadyGraph,
  recorded: Recording,
  { result, node }: { result: number; node: bigint },
): string {
  const count = recorded.nodeCount;
  if (count !== nodeCount) {
    return `it has ${formatCount(nodeCount, "step")}, ${formatCount(count, "step")} ` +
      `${count === 1 ? "was" : "were"} recorded`;
  }
  if (node === 0n) return "the recorded steps come after each other in another way";
  const nodes = new BigUint64Array(count);
  const sizes = BigUint64Array.of(BigInt(count));
  context.call("cuGraphGetNodes", recorded.handle, nodes, sizes);
  const words = kindOf(context, recorded, node);
  const reason = REASONS[result] ?? "the driver gives no reason";
  return `step ${nodes.indexOf(node) + 1}, ${words}, does not fit: ${reason}`;
}

function kindOf(context: Context, { kernelNames }: Recording, node: bigint): string {
  const type = read32(context, "cuGraphNodeGetType", node);
  const kind = KINDS[type] ?? "a step of another kind";
  if (type !== Type.CU_GRAPH_NODE_TYPE_KERNEL) return kind;
  const parameters = new Uint8Array(CUDA_KERNEL_NODE_PARAMS_v2.byteLength);
  context.call("cuGraphKernelNodeGetParams_v2", node, parameters);
  const name = kernelNames.get(CUDA_KERNEL_NODE_PARAMS_v2.decode(parameters).func);
  return name === undefined ? kind : `the kernel ${name}`;
}
