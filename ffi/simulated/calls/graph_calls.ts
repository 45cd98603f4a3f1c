// Driver calls for stream capture and graphs, simulated.
// A capture runs nothing; a launch queues what was recorded.

import { Capture } from "../capture.ts";
import { bytesOf, get64, put64 } from "../cells.ts";
import { refuse, requireValue } from "../errors.ts";
import { Graph, GraphExec } from "../graph.ts";
import type { Machine } from "../machine.ts";
import type { CallGroup } from "./calls.ts";

type GraphCalls = CallGroup<
  "cuStreamBeginCapture_v2" | "cuStreamEndCapture" | `cuGraph${string}`
>;

/** Makes the calls for a machine. */
export function graphCalls(machine: Machine): GraphCalls {
  return {
    cuStreamBeginCapture_v2(handle, mode) {
      const stream = machine.stream(handle);
      requireValue(mode >= 0 && mode <= 2);
      if (stream.role === "legacy") refuse("CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED");
      if (stream.capture !== undefined) refuse("CUDA_ERROR_ILLEGAL_STATE");
      // The stream holds on to its capture until that ends.
      void new Capture(stream);
    },
    cuStreamEndCapture(handle, graph) {
      const stream = machine.stream(handle);
      const { capture } = stream;
      put64(graph, 0n);
      if (capture === undefined) return refuse("CUDA_ERROR_ILLEGAL_STATE");
      if (capture.origin !== stream) capture.invalidate("CUDA_ERROR_STREAM_CAPTURE_UNMATCHED");
      capture.end();
      put64(graph, machine.register((registered) => new Graph(registered, capture)).handle);
    },
    cuGraphGetNodes(handle, nodes, count) {
      const graph = machine.find(Graph, handle);
      const { nodeCount } = graph.capture;
      if (nodes === null) return put64(count, nodeCount);
      const bytes = bytesOf(nodes);
      const room = Number(get64(count));
      for (let index = 0; index < room; index++) {
        const id = index < nodeCount ? graph.handle * 0x1_0000n + BigInt(index) : 0n;
        put64(bytes.subarray(index * 8), id);
      }
      put64(count, Math.min(room, nodeCount));
    },
    cuGraphInstantiateWithFlags(handle, graphHandle, flags) {
      const graph = machine.find(Graph, graphHandle);
      requireValue(flags === 0n || flags === 1n);
      if (graph.capture.hasMemory && graph.execCount > 0) refuse("CUDA_ERROR_NOT_SUPPORTED");
      graph.execCount++;
      const freesOnLaunch = flags === 1n;
      const exec = machine.register((handle) =>
        new GraphExec(machine, { handle, graph, freesOnLaunch })
      );
      put64(handle, exec.handle);
    },
    cuGraphLaunch(exec, stream) {
      machine.find(GraphExec, exec).launch(machine.stream(stream));
    },
    cuGraphDestroy(graph) {
      machine.find(Graph, graph);
      machine.forget(graph);
    },
    cuGraphExecDestroy(exec) {
      machine.find(GraphExec, exec).graph.execCount--;
      machine.forget(exec);
    },
  };
}
