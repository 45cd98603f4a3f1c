// Driver calls that hand memory and events to other processes, simulated.
// A simulated driver has one process, and a process cannot open what it handed out itself.

import { CU_IPC_HANDLE_SIZE, CUevent_flags, type CUresult } from "../../constants.ts";
import { bytesOf, type Cell } from "./cells.ts";
import { refuse, requireValue } from "../errors.ts";
import type { Machine } from "../model/machine.ts";
import { StreamEvent } from "../model/event.ts";
import type { CallGroup } from "./calls.ts";

type SharingCalls = CallGroup<`cuIpc${string}`>;

/** Makes the calls for a machine. */
export function sharingCalls(machine: Machine): SharingCalls {
  const { contexts, memory } = machine;
  const exported = new Set<string>();

  function issue(cell: Cell, kind: string, id: bigint | number): void {
    const handle = new Uint8Array(CU_IPC_HANDLE_SIZE);
    new TextEncoder().encodeInto(`simulated ${kind} ${id}`, handle);
    bytesOf(cell).set(handle);
    exported.add(handle.toHex());
  }

  function refuseOpening(handle: Cell, otherwise: keyof typeof CUresult): never {
    contexts.requireCurrent();
    const isOwn = exported.has(bytesOf(handle).toHex());
    return refuse(isOwn ? "CUDA_ERROR_INVALID_CONTEXT" : otherwise);
  }

  return {
    cuIpcGetMemHandle(handle, address) {
      const allocation = memory.at(Number(address));
      requireValue(allocation !== undefined && "kind" in allocation);
      contexts.requireCurrent();
      requireValue(allocation.kind === "device");
      issue(handle, "memory", allocation.id);
    },
    cuIpcOpenMemHandle_v2(_address, handle, _flags) {
      refuseOpening(handle, "CUDA_ERROR_INVALID_VALUE");
    },
    cuIpcCloseMemHandle(_address) {
      contexts.requireCurrent();
      refuse("CUDA_ERROR_INVALID_VALUE");
    },
    cuIpcGetEventHandle(handle, event) {
      requireValue(event !== 0n);
      const { context, flags } = machine.find(StreamEvent, event);
      contexts.requireCurrent();
      if ((flags & CUevent_flags.CU_EVENT_INTERPROCESS) === 0) {
        refuse("CUDA_ERROR_INVALID_HANDLE");
      }
      if (context !== contexts.current) {
        machine.site.fail("endsProcess", "the event belongs to another context");
      }
      issue(handle, "event", event);
    },
    cuIpcOpenEventHandle(_event, handle) {
      refuseOpening(handle, "CUDA_ERROR_MAP_FAILED");
    },
  };
}
