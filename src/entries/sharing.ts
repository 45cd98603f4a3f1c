/**
 * Memory and events in several processes, and in several Workers of one: tickets, the errors about
 * them, and the resource for memory that others can open. {@linkcode TicketError} says why a ticket
 * cannot be used.
 *
 * ```ts
 * import { CudaDevice } from "vramkit";
 * import { TicketError } from "vramkit/sharing";
 *
 * using gpu = CudaDevice.open(0, { driver: "auto" });
 * using weights = gpu.zeros("float32", [512, 512], { shareable: true });
 * const text = JSON.stringify(await weights.share()); // for another process
 * try {
 *   await gpu.open(text); // this one has it already
 * } catch (error) {
 *   if (error instanceof TicketError) console.log(error.reason); // own-process
 * }
 * ```
 *
 * @module
 */

import "../words/runtime.ts";

export type { DeviceAllocateOptions } from "../buffers/place_options.ts";
export type { OpenTicketOptions, TakeOverOptions } from "../interop/open_ticket.ts";
export { ShareableMemoryResource } from "../memory/shareable_memory_resource.ts";
export type { HandedOver } from "../sharing/hand_over.ts";
export type { OpenEventOptions } from "../sharing/open_memory.ts";
export { type EventTicket, type MemoryTicket, TicketError, type TicketProblem } from "../ticket.ts";
