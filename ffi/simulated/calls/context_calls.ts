// Driver calls for primary contexts and for the stack of current ones, simulated. A context that
// its last user has released refuses every call.

import { refuse, requireValue } from "../errors.ts";
import type { Machine } from "../model/machine.ts";
import type { CallGroup } from "./calls.ts";
import { put32, put64, requireCell } from "./cells.ts";

/** Greatest and least priority of a stream; a smaller number goes first. */
const STREAM_PRIORITIES = { greatest: -5, least: 0 };

type ContextCalls = CallGroup<`cuCtx${string}` | `cuDevicePrimaryCtx${string}`>;

/** Makes the calls for a machine. */
export function contextCalls(machine: Machine): ContextCalls {
  const { contexts } = machine;
  return {
    cuDevicePrimaryCtxRetain(context, ordinal) {
      requireCell(context);
      put64(context, machine.retain(machine.device(ordinal)).handle);
    },
    cuDevicePrimaryCtxRelease_v2(ordinal) {
      machine.release(machine.device(ordinal));
    },
    cuCtxPushCurrent_v2(context) {
      requireValue(context !== 0n);
      contexts.push(machine.anyContext(context));
    },
    cuCtxPopCurrent_v2(context) {
      const popped = contexts.pop();
      if (context !== null) put64(context, popped.handle);
    },
    cuCtxSetCurrent(context) {
      contexts.replace(context === 0n ? undefined : machine.anyContext(context));
    },
    cuCtxGetCurrent(context) {
      put64(context, contexts.top?.handle ?? 0n);
    },
    cuCtxSynchronize() {
      const { current } = contexts;
      for (const stream of machine.streamsOf(current)) machine.captures.requireUncaptured(stream);
      machine.synchronize(current);
    },
    cuCtxGetStreamPriorityRange(least, greatest) {
      contexts.requireCurrent();
      if (least !== null) put32(least, STREAM_PRIORITIES.least);
      if (greatest !== null) put32(greatest, STREAM_PRIORITIES.greatest);
    },
    cuCtxEnablePeerAccess(handle, flags) {
      const { current } = contexts;
      const peer = machine.context(handle);
      requireValue(flags === 0);
      if (peer.device === current.device) refuse("CUDA_ERROR_PEER_ACCESS_UNSUPPORTED");
      machine.requireRelaxed();
      if (!machine.settings.peerAccess) refuse("CUDA_ERROR_PEER_ACCESS_UNSUPPORTED");
      if (current.peers.has(peer)) refuse("CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED");
      // Kernels that were launched before do not get the new access.
      machine.scheduler.runAll();
      current.peers.add(peer);
    },
    cuCtxDisablePeerAccess(handle) {
      const { current } = contexts;
      const peer = machine.context(handle);
      machine.requireRelaxed();
      if (!current.peers.delete(peer)) refuse("CUDA_ERROR_PEER_ACCESS_NOT_ENABLED");
    },
  };
}
