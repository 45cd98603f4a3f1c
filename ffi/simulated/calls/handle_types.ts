// Kinds of handles with which memory is passed to other processes, as far as one Linux machine has
// them.

import { CUmemAllocationHandleType as Type } from "../../constants.ts";
import { refuse, requireValue } from "../errors.ts";

/**
 * Rejects handle types of other systems, and that of a fabric between machines, which is not set
 * up.
 */
export function requireHandleType(type: number): void {
  if (type === Type.CU_MEM_HANDLE_TYPE_FABRIC) refuse("CUDA_ERROR_NOT_PERMITTED");
  requireValue(
    type === Type.CU_MEM_HANDLE_TYPE_NONE || type === Type.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
  );
}
