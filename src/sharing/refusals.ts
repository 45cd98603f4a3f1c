// Reasons to refuse a valid ticket: another device, this very process, or memory that is gone.

import { CUresult } from "../../ffi/constants.ts";
import { factsBehind } from "../disk/file_facts.ts";
import { openSystem } from "../disk/system_error.ts";
import type { Context } from "../driver/context.ts";
import { deviceUuid } from "../driver/device_uuid.ts";
import { TicketError, type TicketProblem } from "../ticket.ts";
import { CudaError } from "../words/errors.ts";

/** Statuses by which the driver says that a handle is not valid any more. */
const UNKNOWN_HANDLE: ReadonlySet<number> = new Set([
  CUresult.CUDA_ERROR_INVALID_VALUE,
  CUresult.CUDA_ERROR_INVALID_DEVICE,
  CUresult.CUDA_ERROR_MAP_FAILED,
  CUresult.CUDA_ERROR_OPERATING_SYSTEM,
  CUresult.CUDA_ERROR_INVALID_HANDLE,
  // The memory was freed, and other memory lies there now.
  CUresult.CUDA_ERROR_NOT_PERMITTED,
]);

/**
 * Checks that a ticket is of this device.
 *
 * @throws TicketError when it is not, with the device that it is of when this machine has it.
 */
export function requireDevice(
  context: Context,
  { device }: { readonly device: string },
  verb: string,
): void {
  const own = deviceUuid(context);
  if (device === own) return;
  throw new TicketError(
    "device",
    `Cannot ${verb} the ticket: it is of device ${device}, this one is ${own}; open the device ` +
      `whose info.uuid that is`,
  );
}

/** Creates the error for a ticket that cannot be opened. */
export function cannotOpen(
  problem: TicketProblem,
  reason: string,
  options?: ErrorOptions,
): TicketError {
  return new TicketError(problem, `Cannot open the ticket: ${reason}`, options);
}

/** Names the process that made a ticket, if it is known. */
export function sharerName(pid: number | undefined): string {
  return pid === undefined ? "the process that shared it" : `process ${pid}, which shared it,`;
}

/** Returns the user of a process that is not this one's; undefined where that is not known. */
function otherUserOf(pid: number | undefined): number | undefined {
  if (pid === undefined || Deno.build.os !== "linux") return undefined;
  try {
    const uid = factsBehind(`/proc/${pid}`)?.uid;
    return uid === openSystem().geteuid() ? undefined : uid;
  } catch {
    return undefined;
  }
}

/** Turns the driver's refusal of a handle into an error about the ticket. */
export function refusedHandle(
  error: unknown,
  { pid, what }: { readonly pid: number | undefined; readonly what: string },
): unknown {
  if (!(error instanceof CudaError)) return error;
  if (error.code === CUresult.CUDA_ERROR_INVALID_CONTEXT) return ownProcess(what, { cause: error });
  if (!UNKNOWN_HANDLE.has(error.code)) return error;
  const user = otherUserOf(pid);
  if (user !== undefined) {
    const words = `its ${what} belongs to another user: process ${pid} is of user ${user}`;
    return cannotOpen("other-user", words, { cause: error });
  }
  const reason = `its ${what} is not there; it was disposed, or ${sharerName(pid)} has ended`;
  return cannotOpen("gone", reason, { cause: error });
}

/**
 * Turns the driver's refusal of a pool's descriptor into an error about the process that sent it. Of
 * a file that is no pool the driver says CUDA_ERROR_UNKNOWN.
 */
export function refusedPool(error: unknown): unknown {
  if (!(error instanceof CudaError)) return error;
  const isRefused = error.code === CUresult.CUDA_ERROR_UNKNOWN || UNKNOWN_HANDLE.has(error.code);
  return isRefused ? noPool({ cause: error }) : error;
}

/** Creates the error for an answer that is not a pool. */
export function noPool(options?: ErrorOptions): TicketError {
  return cannotOpen("unanswered", "the process at its socket gives no pool", options);
}

/** Creates the error for a ticket of this very process. */
export function ownProcess(what: string, options?: ErrorOptions): TicketError {
  const advice = what === "memory"
    ? "use the buffer itself, or handOver() it to another Worker"
    : "use the event itself";
  return cannotOpen(
    "own-process",
    `this process has made it; ${advice}; after a restart by --watch, share it again`,
    options,
  );
}
