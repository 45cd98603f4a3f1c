// Driver calls for the memory that a device keeps for graphs, simulated.
// Memory that a launch has taken stays until it is idle and trimmed.

import { CUgraphMem_attribute as A } from "../../constants.ts";
import { refuse, requireValue } from "../errors.ts";
import type { GraphMemory } from "../model/graph_memory.ts";
import type { Machine } from "../model/machine.ts";
import type { CallGroup } from "./calls.ts";
import { get64, put64 } from "./cells.ts";

type GraphMemoryCalls = CallGroup<`cuDevice${string}GraphMem${string}`>;

/** Makes the calls for a machine. */
export function graphMemoryCalls(machine: Machine): GraphMemoryCalls {
  function memoryOf(ordinal: number): GraphMemory {
    return machine.graphMemory(machine.device(ordinal));
  }

  return {
    cuDeviceGetGraphMemAttribute(ordinal, attribute, value) {
      const { heldBytes, highBytes } = memoryOf(ordinal);
      switch (attribute) {
        case A.CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT:
        case A.CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT:
          return put64(value, heldBytes);
        case A.CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
          return put64(value, highBytes.used);
        case A.CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
          return put64(value, highBytes.reserved);
        default:
          return refuse("CUDA_ERROR_INVALID_VALUE");
      }
    },
    cuDeviceSetGraphMemAttribute(ordinal, attribute, value) {
      const { heldBytes, highBytes } = memoryOf(ordinal);
      requireValue(get64(value) === 0n);
      switch (attribute) {
        case A.CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
          highBytes.used = heldBytes;
          return;
        case A.CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
          highBytes.reserved = heldBytes;
          return;
        default:
          return refuse("CUDA_ERROR_INVALID_VALUE");
      }
    },
    cuDeviceGraphMemTrim(ordinal) {
      memoryOf(ordinal).trim();
    },
  };
}
