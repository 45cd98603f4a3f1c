// Driver calls for stream capture and graphs, simulated.
// A capture runs nothing; a launch queues what was recorded.

import {
  CUgraphExecUpdateResult as Result,
  CUgraphInstantiate_flags as Flag,
  CUgraphMem_attribute as A,
} from "../../constants.ts";
import { CUDA_KERNEL_NODE_PARAMS_v2, CUgraphExecUpdateResultInfo } from "../../structs.ts";
import { refuse, requireValue } from "../errors.ts";
import { Capture } from "../model/capture.ts";
import type { GraphAllocation } from "../model/graph_memory.ts";
import type { Machine } from "../model/machine.ts";
import { Graph, GraphExec } from "../work/graph.ts";
import { type GraphNode, type Misfit, misfitOf, nodesOf } from "../work/graph_nodes.ts";
import { isFillOfFreed, requireInstantiable } from "../work/submission.ts";
import { callGroup } from "./calls.ts";
import { bytesOf, get64, giveHandle, put32, put64, requireCell } from "./cells.ts";

const FREE_ON_LAUNCH = BigInt(Flag.CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
const DEVICE_LAUNCH = BigInt(Flag.CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH);
const NODE_PRIORITY = BigInt(Flag.CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY);

/** Flags that this call accepts. */
const INSTANTIATE_FLAGS = FREE_ON_LAUNCH | DEVICE_LAUNCH | NODE_PRIORITY;

/** Flags that exclude each other: a graph that the device launches cannot free by itself. */
const EXCLUSIVE_FLAGS = FREE_ON_LAUNCH | DEVICE_LAUNCH;

/** Ids of nodes that a graph has room for. */
const NODES = 0x1_0000n;

/** Tells that a fill of the graph is of freed memory; a copy of it throws, as when it is made ready. */
function goneFrom(machine: Machine, { capture }: Graph): Misfit | undefined {
  const isGone = capture.works().some((work) => isFillOfFreed(machine, capture, work));
  if (isGone) return { result: Result.CU_GRAPH_EXEC_UPDATE_ERROR };
  for (const work of capture.works()) requireInstantiable(machine, capture, work);
  return undefined;
}

function nodeId({ handle }: Graph, place: number): bigint {
  return handle * NODES + BigInt(place);
}

/** Captures, graphs and their launches. */
export const graphCalls = callGroup((machine) => {
  const destroyed = new WeakSet<Graph>();
  /** Memory of graphs that nobody can launch any more. */
  const left = new Set<GraphAllocation>();

  /** Forgets the memory of graphs that nobody can launch any more, once it is freed and unused. */
  function forgetMemory(graph: Graph): void {
    if (graph.execCount === 0 && destroyed.has(graph)) {
      for (const allocation of graph.allocations) left.add(allocation);
    }
    for (const allocation of left) {
      if (!allocation.isPast) continue;
      left.delete(allocation);
      machine.memory.remove(allocation);
    }
  }

  /** Finds the object of a handle; null is an invalid value here, not an invalid handle. */
  function find<T extends object>(type: abstract new (...values: never[]) => T, handle: bigint): T {
    requireValue(handle !== 0n);
    return machine.find(type, handle);
  }

  function findNode(id: bigint): GraphNode {
    const graph = find(Graph, id / NODES);
    return nodesOf(graph.capture)[Number(id % NODES)] ?? refuse("CUDA_ERROR_INVALID_VALUE");
  }

  return {
    cuStreamBeginCapture_v2(handle, mode) {
      requireValue(mode >= 0 && mode <= 2);
      const stream = machine.stream(handle);
      machine.captures.requireNoneBefore(stream);
      if (stream.role === "legacy") refuse("CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED");
      if (machine.captures.of(stream) !== undefined) refuse("CUDA_ERROR_ILLEGAL_STATE");
      machine.captures.add(new Capture(stream, mode));
    },
    cuStreamEndCapture(handle, graph) {
      // Without a cell the capture ends as well, and its graph is lost.
      const cell = graph ?? new BigUint64Array(1);
      put64(cell, 0n);
      const stream = machine.stream(handle);
      const capture = machine.captures.of(stream);
      machine.captures.requireNoneBefore(stream);
      if (capture === undefined) return refuse("CUDA_ERROR_ILLEGAL_STATE");
      if (capture.origin !== stream) capture.invalidate("CUDA_ERROR_STREAM_CAPTURE_UNMATCHED");
      machine.captures.delete(capture);
      capture.end();
      giveHandle(machine, cell, (made) => new Graph(made, capture), capture.origin.context);
    },
    cuGraphKernelNodeGetParams_v2(node, parameters) {
      requireCell(parameters);
      const { kernel } = findNode(node).work;
      requireValue(kernel !== undefined);
      const { handle: func, context, grid, block, sharedBytes: sharedMemBytes } = kernel;
      const [gridDimX, gridDimY, gridDimZ] = grid;
      const [blockDimX, blockDimY, blockDimZ] = block;
      const shape = { gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ };
      const fields = { func, ...shape, sharedMemBytes, ctx: context.handle };
      bytesOf(parameters).set(CUDA_KERNEL_NODE_PARAMS_v2.encode(fields));
    },
    cuGraphNodeGetType(node, type) {
      requireCell(type);
      put32(type, findNode(node).type);
    },
    cuGraphGetNodes(handle, nodes, count) {
      const graph = find(Graph, handle);
      const { nodeCount } = graph.capture;
      if (nodes === null) return put64(count, nodeCount);
      const bytes = bytesOf(nodes);
      const room = Number(get64(count));
      requireValue(room > 0);
      for (let at = 0; at < room; at++) {
        put64(bytes.subarray(at * 8), at < nodeCount ? nodeId(graph, at) : 0n);
      }
      put64(count, Math.min(room, nodeCount));
    },
    cuGraphInstantiateWithFlags(handle, graphHandle, flags) {
      requireValue((flags & ~INSTANTIATE_FLAGS) === 0n);
      machine.contexts.requireCurrent();
      machine.requireRelaxed();
      requireCell(handle);
      const graph = find(Graph, graphHandle);
      requireValue((flags & EXCLUSIVE_FLAGS) !== EXCLUSIVE_FLAGS);
      for (const work of graph.capture.works()) requireInstantiable(machine, graph.capture, work);
      if (graph.hasMemory && graph.execCount > 0) refuse("CUDA_ERROR_NOT_SUPPORTED");
      graph.execCount++;
      const freesOnLaunch = (flags & FREE_ON_LAUNCH) !== 0n;
      const make = () => new GraphExec(machine, graph, { freesOnLaunch });
      giveHandle(machine, handle, make, graph.context);
    },
    cuGraphExecUpdate_v2(handle, graphHandle, info) {
      const tell = (result: number, errorNode = 0n) =>
        info === null
          ? undefined
          : bytesOf(info).set(CUgraphExecUpdateResultInfo.encode({ result, errorNode }));
      tell(Result.CU_GRAPH_EXEC_UPDATE_SUCCESS);
      const exec = find(GraphExec, handle);
      const graph = find(Graph, graphHandle);
      if (exec.graph === graph) return;
      const misfit = misfitOf(nodesOf(exec.graph.capture), nodesOf(graph.capture)) ??
        goneFrom(machine, graph);
      if (misfit !== undefined) {
        const { result, place } = misfit;
        tell(result, place === undefined ? 0n : nodeId(graph, place));
        refuse("CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE", "graphUpdate");
      }
      exec.update(graph);
    },
    cuGraphLaunch(exec, stream) {
      const queue = machine.plainStream(stream);
      find(GraphExec, exec).launch(queue);
    },
    cuGraphDestroy(handle) {
      const graph = find(Graph, handle);
      machine.forget(handle);
      destroyed.add(graph);
      forgetMemory(graph);
    },
    cuGraphExecDestroy(handle) {
      const { graph } = find(GraphExec, handle);
      graph.execCount--;
      machine.forget(handle);
      forgetMemory(graph);
    },
  };
});

/** The memory that a device keeps for graphs: what a launch has taken stays until it is idle and trimmed. */
export const graphMemoryCalls = callGroup((machine) => ({
  cuDeviceGetGraphMemAttribute(ordinal, attribute, value) {
    const { heldBytes, highBytes } = machine.graphMemory(machine.device(ordinal));
    const values: Readonly<Record<number, number>> = {
      [A.CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT]: heldBytes,
      [A.CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT]: heldBytes,
      [A.CU_GRAPH_MEM_ATTR_USED_MEM_HIGH]: highBytes.used,
      [A.CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH]: highBytes.reserved,
    };
    put64(value, values[attribute] ?? refuse("CUDA_ERROR_INVALID_VALUE"));
  },
  cuDeviceSetGraphMemAttribute(ordinal, attribute, value) {
    const { heldBytes, highBytes } = machine.graphMemory(machine.device(ordinal));
    requireValue(get64(value) === 0n);
    if (attribute === A.CU_GRAPH_MEM_ATTR_USED_MEM_HIGH) highBytes.used = heldBytes;
    else if (attribute === A.CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH) highBytes.reserved = heldBytes;
    else refuse("CUDA_ERROR_INVALID_VALUE");
  },
  cuDeviceGraphMemTrim: (ordinal) => machine.graphMemory(machine.device(ordinal)).trim(),
}));
